#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu cost on this machine; exact figures are tested on boards
# (tests/boards/cost.test).

load crashes

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
}

# A value of the JSON in $output.
json() {
	python3 -c 'import json, sys
value = json.load(sys.stdin)
print(eval(sys.argv[1], {"v": value}))' "$1" <<<"$output"
}

@test "cost_has_a_row_for_each_source_that_check_has" {
	sources=$("$upmu" check | awk '$2 == "source" { print $3 }')
	[ "$(wc -w <<<"$sources")" -ge 5 ]
	run "$upmu" cost
	[ "$status" -eq 0 ]
	for source in $sources region; do
		grep -Eq "^$source " <<<"$output"
	done
}

@test "cost_gives_a_figure_or_the_reason_why_not" {
	run "$upmu" cost
	rows=$(sed -n '/^source /,/^region/p' <<<"$output" | tail -n +2)
	[ -n "$rows" ]
	! grep -Ev '^[a-z]+ +(no: .+|.*[0-9]\.[0-9] .*)$' <<<"$rows"
}

# Its JSON, and where it may run when it has written it: nobody reads that, so
# it cannot end.
@test "cost_stays_on_the_cpu_that_it_names" {
	[ "$(nproc)" -gt 1 ] || skip "there is one CPU here"
	python3 - "$upmu" <<-'E'
		import json, os, select, subprocess, sys, time
		reader, writer = os.pipe()
		os.set_blocking(writer, False)
		full = 0
		while select.select([], [writer], [], 0)[1]:
		    full += os.write(writer, b" " * 65536)
		os.set_blocking(writer, True)
		cost = subprocess.Popen([sys.argv[1], "cost", "-j"], stdout=writer)
		os.close(writer)
		for _ in range(600):
		    time.sleep(0.1)
		    with open(f"/proc/{cost.pid}/wchan") as file:
		        if "pipe" in file.read():
		            break
		cpus = os.sched_getaffinity(cost.pid)
		with os.fdopen(reader) as file:
		    said = json.load(file)
		assert cost.wait() == 0
		assert cpus == {said["cpu"]}, (cpus, said["cpu"])
	E
}

@test "cost_of_a_clock_is_more_than_nothing" {
	run "$upmu" cost -j
	[ "$status" -eq 0 ]
	[ "$(json '[s["ns"] > 0 for s in v["sources"] if s["source"] == "clock"]')" = "[True]" ]
}

@test "cost_json_has_the_keys_of_the_manual" {
	run "$upmu" cost --json
	[ "$status" -eq 0 ]
	[ "$(json 'sorted(v)')" = "['cpu', 'emulated', 'readings', 'region', 'runs', 'sources', 'user_only', 'version']" ]
	[ "$(json '[sorted(s) for s in v["sources"] if s["source"] == "clock"]')" = "[['cycles', 'instructions', 'ns', 'source', 'unit']]" ]
	[ "$(json 'all(("reason" in s) != ("ns" in s) for s in v["sources"] + [v["region"]])')" = True ]
}

@test "cost_says_null_and_not_0_for_what_was_not_counted" {
	run "$upmu" cost -j
	[ "$(json 'all(s.get(k) != 0 for s in v["sources"] for k in ("cycles", "instructions"))')" = True ]
}

@test "cost_tells_the_cpu_that_it_was_bound_to" {
	run taskset -c 0 "$upmu" cost
	[[ "$output" == "What one reading costs on CPU 0"* ]]
}

@test "cost_leaves_no_region_report_behind" {
	cd "$BATS_TEST_TMPDIR"
	UPMU_REPORT=report.json "$upmu" cost >out 2>err
	[ ! -s err ]
	[ ! -e report.json ]
}

@test "cost_refuses_what_it_does_not_know" {
	run "$upmu" cost --nosuch
	[ "$status" -eq 2 ]
	run "$upmu" cost cycles
	[ "$status" -eq 2 ]
	[[ "$output" == *"unexpected 'cycles'"* ]]
}
