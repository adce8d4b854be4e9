#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The machine-readable reports keep docs/schema, whatever was counted.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	check=$BATS_TEST_DIRNAME/check_stat_output.py
	intervals=$BATS_TEST_DIRNAME/intervals
	events=page-faults,task-clock,cycles,instructions
	cd "$BATS_TEST_TMPDIR"
}

@test "stat_json_of_repeated_runs_has_means_of_the_kernels_counts" {
	# The second run has some hundred page faults more than the first.
	"$upmu" stat -r 2 -j -o r.json -e page-faults -- sh -c \
		'[ -e ran ] && exec python3 -c ""; : >ran'
	python3 -c 'import json
r = json.load(open("r.json"))
values = r["events"][0]["values"]
assert values[1] > values[0] + 100, values
mean = sum(values) / 2
assert abs(r["page_faults"] - mean) < 0.2 * (values[1] - values[0]), r'
}

@test "stat_json_keeps_its_schema" {
	"$upmu" stat -j -e "$events" -o report -- true
	"$check" json report
}

@test "stat_json_of_defaults_keeps_its_schema" {
	"$upmu" stat -j -o report -- true
	"$check" json report
}

@test "stat_json_of_repeated_runs_keeps_its_schema" {
	"$upmu" stat -j -r 3 -e "$events" -o report -- true
	"$check" json report
	grep -q '"deviation"' report
	grep -q '"runs": 3' report
}

@test "stat_json_of_intervals_is_one_object_a_line" {
	"$upmu" stat -j -I 50 -e "$events" -o report -- "$intervals" 3 sleep 0.1
	"$check" json report
	[ "$(wc -l <report)" -ge 2 ]
	grep -q '^{.*"interval_s".*}$' report
}

# A rate and the CPUs used are of one length, and both of the same readings.
@test "an_interval_is_as_long_as_its_cpus_used_say" {
	"$upmu" stat -j -I 20 -e task-clock -o report -- \
		python3 -c 'sum(range(10 ** 7))'
	python3 - <<-'E'
		import json
		looked = began = 0
		for line in open("report"):
		    r = json.loads(line)
		    value = r["events"][0].get("value")
		    used = [m["value"] for m in r["metrics"]
		            if m["metric"] == "cpus_used"]
		    if began and used and used[0] > 0:
		        long = value / 1e9 / used[0]
		        assert abs(r["interval_s"] - began - long) < 1e-8, line
		        looked += 1
		    began = r["interval_s"]
		assert looked >= 3, looked
	E
}

@test "stat_json_survives_words_that_are_no_utf8" {
	"$upmu" stat -j -e "$events" -o report -- \
		printf '' "$(printf 'a\377b')" '"quoted"'
	"$check" json report
	grep -q null report
}

@test "stat_csv_keeps_its_columns" {
	"$upmu" stat --format csv -e "$events" -o report -- true
	"$check" csv report
	head -1 report | grep -q '^value,unit,event,'
	[ "$(grep -c '^value,' report)" -eq 1 ]
}

@test "stat_csv_of_repeated_runs_and_intervals_keeps_its_columns" {
	"$upmu" stat --format csv -r 3 -e "$events" -o report -- true
	"$check" csv report
	"$upmu" stat --format csv -I 50 -e "$events" -o report -- \
		"$intervals" 3 sleep 0.1
	"$check" csv report
	[ "$(grep -c interval_s report)" -eq 1 ]
}

@test "stat_x_has_perfs_columns_and_no_header" {
	"$upmu" stat -x ';' -e task-clock -o report -- true
	[[ "$(head -1 report)" =~ ^[0-9]+\;ns\;task-clock\;[0-9]+\;100.00\; ]]
	tr ';' ',' <report >commas
	"$check" csv commas
}

@test "stat_csv_check_notices_a_broken_row" {
	"$upmu" stat --format csv -e "$events" -o report -- true
	sed -i '2s/,/,,/' report
	run "$check" csv report
	[ "$status" -eq 1 ]
}

@test "stat_json_check_notices_a_missing_key_and_an_unknown_one" {
	"$upmu" stat -j -e "$events" -o report -- true
	sed 's/"elapsed_s"/"elapsed_ms"/' report >unknown
	run "$check" json unknown
	[ "$status" -eq 1 ]
	sed '/"version"/d' report >missing
	run "$check" json missing
	[ "$status" -eq 1 ]
}

@test "stat_rpistat_writes_the_articles_file_name" {
	"$upmu" stat --format rpistat -- true
	grep -q '^rpistat: true$' rpistat.txt
	for line in 'Number of processors' 'Total periods' Cycles Instructions \
		'IBUF stall cycles' 'Instr periods' CPI 'IBUF stall percent' \
		'DC cached accesses' 'DC misses' 'DC periods' 'DC miss ratio' \
		'MicroTLB misses' 'Main TLB misses' 'TLB periods' \
		'Micro miss rate' 'Main miss rate' Branches 'Mispredicted BR' \
		'BR periods' 'Branch rate' 'Mispredict ratio'; do
		grep -q "^  $line:" rpistat.txt
	done
}

@test "stat_rpistat_of_repeated_runs_is_refused" {
	# It has no mean: it showed the last run as if it were all.
	run -2 "$upmu" stat --format rpistat -r 3 -e task-clock -- touch ran
	[[ "$output" == *"rpistat's report is of one run"*"hint: "* ]]
	[ ! -e ran ]
}

@test "stat_rpistat_to_another_file_leaves_none_behind" {
	"$upmu" stat --format rpistat -o elsewhere -- true
	[ -s elsewhere ]
	[ ! -e rpistat.txt ]
}

@test "stat_append_keeps_what_the_file_holds" {
	echo before >report
	"$upmu" stat --append -o report -e task-clock -- true
	"$upmu" stat --append -o report -e task-clock -- true
	[ "$(head -1 report)" = before ]
	[ "$(grep -c task-clock report)" -eq 2 ]
}

@test "stat_quiet_prints_no_report_but_keeps_the_status" {
	run "$upmu" stat -q -- sh -c 'echo mine; exit 4'
	[ "$status" -eq 4 ]
	[ "$output" = mine ]
}

@test "stat_metric_only_prints_no_counts" {
	run "$upmu" stat --metric-only -e "$events" -- true
	[ "$status" -eq 0 ]
	[[ "$output" != *page-faults* ]]
}

@test "stat_unknown_format_names_the_known_ones" {
	run "$upmu" stat --format xml -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"text, rpistat, csv or json"* ]]
}

@test "stat_tells_a_terminal_nothing_that_its_command_has" {
	run --separate-stderr "$upmu" stat -e page-faults -- true \
		$'a\e[31mb\nc\xc2\x9b' ä
	[ "$status" -eq 0 ]
	[[ "$stderr" == $'upmu stat: true a?[31mb?c? ä\n'* ]]
}
