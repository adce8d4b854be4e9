#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu stat --openmetrics, and names of files with %q{RANK}.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	check=$BATS_TEST_DIRNAME/check_openmetrics.py
	unset RANK OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID
	cd "$BATS_TEST_TMPDIR" || return
}

# Until a command is true, some ten seconds at most.
await() {
	for _ in {1..200}; do
		"$@" && return
		sleep 0.05
	done
	return 1
}

@test "openmetrics_file_keeps_the_rules_and_its_counts_are_the_reports" {
	"$upmu" stat --openmetrics m.prom -j -o report.json \
		-e task-clock,page-faults,page-faults:u,page-faults -- true
	"$check" m.prom
	faults=$(python3 -c 'import json, sys
print(json.load(open("report.json"))["events"][1]["value"])')
	grep -qx "upmu_page_faults_total ${faults%.0}" m.prom
	grep -q '^upmu_page_faults_total{mode="user"} [1-9]' m.prom
	grep -q '^upmu_task_clock_seconds_total 0\.' m.prom
	grep -qx 'upmu_event_running_ratio{event="page-faults"} 1' m.prom
}

@test "openmetrics_counters_never_fall_from_interval_to_interval" {
	"$upmu" stat -I 20ms --openmetrics m.prom -e task-clock,page-faults \
		-- timeout 60 sh -c 'while [ ! -e end ]; do :; done' 3>&- &
	await test -s m.prom
	cat m.prom >first.prom
	await sh -c '! cmp -s m.prom first.prom'
	cat m.prom >second.prom
	touch end
	wait $!
	"$check" second.prom first.prom
	"$check" m.prom second.prom
	grep -q '^upmu_counted_seconds_total' m.prom
}

@test "openmetrics_time_is_that_in_which_it_counted" {
	counted() {
		awk '$1 == "upmu_counted_seconds_total" { print $2 }' m.prom
	}
	for interval in '' '-I 100'; do
		# shellcheck disable=SC2086	# words
		"$upmu" stat $interval --openmetrics m.prom -D 400 -j \
			-o report.json -e task-clock -- sleep 0.6
		elapsed=$(tail -n 1 report.json | python3 -c 'import json, sys
report = json.loads(open("report.json").read()) if len(sys.argv) < 2 else \
	json.loads(sys.stdin.read())
print(report.get("interval_s") or report["elapsed_s"])' $interval)
		awk "BEGIN { exit !($(counted) > 0 &&
			$(counted) < $elapsed - 0.39) }"
	done
	mkfifo orders
	# Never switched on.
	"$upmu" stat -D -1 --control fifo:orders --openmetrics m.prom \
		-e task-clock -- sleep 0.2
	[ "$(counted)" = 0.000000000 ]
}

@test "openmetrics_never_says_0_of_what_was_not_counted" {
	"$upmu" stat --openmetrics m.prom -e page-faults,r7ff -- true
	run ! grep -q '^upmu_r7ff_total' m.prom
	grep -qx 'upmu_event_counted{event="r7ff"} 0' m.prom
	grep -qx 'upmu_event_counted{event="page-faults"} 1' m.prom
}

@test "openmetrics_prints_no_report_unless_one_is_asked_for" {
	run "$upmu" stat --openmetrics m.prom -e page-faults -- true
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run "$upmu" stat --openmetrics m.prom -j -e page-faults -- true
	[[ "$output" == *'"upmu_stat"'* ]]
}

@test "openmetrics_file_keeps_the_rules_for_the_longest_list_of_cpus" {
	[ "$(id -u)" -eq 0 ] || skip "counting CPUs needs root"
	cpus=0$(printf ',0%.0s' {1..600})
	"$upmu" stat -C "$cpus" --openmetrics m.prom -e cpu-clock -- true
	"$check" m.prom
	grep -q "cpus=\"$cpus\"} 1$" m.prom
}

@test "openmetrics_and_the_report_in_one_file_are_refused" {
	run "$upmu" stat --openmetrics m.prom -o m.prom -- touch ran
	[ "$status" -eq 2 ]
	[[ "${lines[1]}" == hint:* ]]
	[ ! -e ran ]
	run "$upmu" stat --openmetrics m.prom -o other -e page-faults -- true
	[ "$status" -eq 0 ]
}

@test "openmetrics_that_cannot_be_written_is_told_before_the_program_runs" {
	run "$upmu" stat --openmetrics none/m.prom -e page-faults -- touch ran
	[ "$status" -eq 125 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "upmu stat: cannot write 'none/m.prom': No such file"* ]]
	[ ! -e ran ]
}

@test "openmetrics_on_a_full_disk_leaves_the_former_file" {
	echo former >m.prom
	run sh -c 'trap "" XFSZ; ulimit -f 1; exec "$0" stat --openmetrics m.prom -e page-faults,page-faults:u,page-faults:k,context-switches,cpu-migrations -- true' "$upmu"
	[ "$status" -eq 125 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "upmu stat: cannot write 'm.prom': "* ]]
	[ "$(cat m.prom)" = former ]
	[ "$(echo m.prom*)" = m.prom ]
}

@test "openmetrics_loses_no_count_while_its_folder_is_away" {
	mkdir out
	"$upmu" stat -I 20ms --openmetrics out/m.prom -e page-faults \
		-- timeout 60 sh -c 'while [ ! -e end ]; do :; done' 2>said 3>&- &
	await test -s out/m.prom
	cat out/m.prom >first.prom
	mv out away
	await grep -q 'cannot write' said
	mv away out
	await grep -q 'written again' said
	touch end
	wait $!
	[ "$(wc -l <said)" -eq 2 ]
	"$check" out/m.prom first.prom
}

@test "openmetrics_of_a_service_that_is_ended_has_all_and_succeeds" {
	sleep 60 3>&- &
	watched=$!
	"$upmu" stat -p $watched -I 50ms --openmetrics m.prom -e task-clock \
		2>said 3>&- &
	await test -s m.prom
	rm m.prom
	kill -TERM $!
	wait $!
	kill $watched
	"$check" m.prom
	[ ! -s said ]
}

@test "openmetrics_of_a_repeated_run_is_refused" {
	run "$upmu" stat -r 3 --openmetrics m.prom -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *hint:* ]]
}

@test "interval_takes_a_unit_and_refuses_what_is_none" {
	"$upmu" stat -I 1s -j -o report -e page-faults -- true
	"$upmu" stat -I 1min --timeout 2min -j -o report -e page-faults -- true
	for time in 0s 1h s 1.5s 99999999min 12345678901234567890s ''; do
		run "$upmu" stat -I "$time" -- true
		[ "$status" -eq 2 ]
		[[ "$output" == *": '$time' is not a time"*"10s, 1min"* ]]
	done
}

@test "output_takes_its_name_from_the_rank_of_each_launcher" {
	RANK=1 "$upmu" stat -j -o 'r-%q{RANK}.json' -e page-faults true
	SLURM_PROCID=0 OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=8 \
		"$upmu" stat -j -o 'r-%q{RANK}.json' -e page-faults true
	PMI_RANK=3 "$upmu" stat -j -o 'r-%q{RANK}.json' -e page-faults true
	SLURM_PROCID=4 SLURM_JOB_ID=71 SLURM_STEP_ID=2 \
		"$upmu" stat -j -o 'r-%q{RANK}.json' -e page-faults true
	[ "$(echo r-*.json)" = "r-1.json r-2.json r-3.json r-4.json" ]
	grep -q '"rank": 2' r-2.json
	grep -q '"ranks": 8' r-2.json
	run ! grep -q '"job"' r-1.json r-3.json
	grep -q '"job": "71.2"' r-4.json
	[ "$(sed -n 's/.*"began_unix_s": \([0-9]*\),/\1/p' r-4.json)" -gt 1700000000 ]
	"$BATS_TEST_DIRNAME/check_stat_output.py" json r-2.json
	run ! grep -q '"ranks"' r-4.json
}

@test "output_name_has_the_host_the_process_and_a_percent_sign" {
	"$upmu" stat -o '%h-%p-100%%' -- true
	[[ "$(echo ./*)" =~ ^\./"$(uname -n)"-[0-9]+-100%$ ]]
}

@test "output_name_without_its_variable_runs_nothing" {
	for name in 'a-%q{RANK}' 'a-%q{NONE_OF_THAT}' 'a-%q{}' 'a-%qRANK' 'a-%x' 'a-%'
	do
		run "$upmu" stat -o "$name" -- touch ran
		[ "$status" -eq 2 ]
		[[ "${lines[0]}" == "upmu stat: --output: '$name': "* ]]
	done
	[ -z "$(ls)" ]
}
