#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu compare as a user meets it. Whatever this machine's PMU can do: page
# faults and statuses are the same everywhere.

load crashes
load kernel

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	cd "$BATS_TEST_TMPDIR"
	export LC_ALL=C.UTF-8
	# Touch so much memory. dd, as its start is a hundred page faults and no
	# more: an interpreter's has thousands on some machines, and other numbers
	# of them from run to run. Where pages are huge hundreds remain of many.
	little=(dd if=/dev/zero of=/dev/null count=1 status=none bs=100K)
	much=(dd if=/dev/zero of=/dev/null count=1 status=none bs=8000K)
}

field() {	# FILE EXPRESSION
	python3 -c 'import json, sys
root = json.load(open(sys.argv[1]))
print(eval(sys.argv[2], {"r": root, "e": {e["event"]: e for e in root["events"]}}))' "$1" "$2"
}

wait_until() {	# COMMAND...
	for _ in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	false
}

has_lines() {	# COUNT FILE: at least
	[ -e "$2" ] && [ "$(wc -l <"$2")" -ge "$1" ]
}

few() {	# OPTION...
	"$upmu" compare -r 4 -w 0 -e page-faults "$@"
}

@test "compare_tells_more_page_faults_from_fewer" {
	counts_the_kernel
	"$upmu" compare -r 6 -e page-faults -j -o out.json \
		"${little[@]}" -- "${much[@]}"
	[ "$(field out.json 'e["page-faults"]["commands"][1]["change"]["verdict"]')" = more ]
	[ "$(field out.json 'e["page-faults"]["commands"][1]["change"]["percent_low_95"] > 20')" = True ]
	[ "$(field out.json 'e["max_rss"]["commands"][1]["change"]["verdict"]')" = more ]
}

@test "compare_runs_in_rounds_of_an_order_drawn_anew" {
	"$upmu" compare -r 100 -w 1 -e page-faults -x, -o out --shell \
		'echo a >>log' 'echo b >>log' 'echo c >>log'
	paste -sd'  \n' log | tail -n +2 >rounds
	[ "$(wc -l <rounds)" -eq 100 ]
	run ! grep -vE '^(a b c|a c b|b a c|b c a|c a b|c b a)$' rounds
	# Each is drawn 16.7 times of 100; 2 or less once in 60,000.
	[ "$(sort rounds | uniq -c | awk '$1 > 2' | wc -l)" -eq 6 ]
	# Nor does one of two runs always have its turn behind the same.
	awk '{ n[last $0]++; last = $0 } END { exit !(length(n) > 25) }' rounds
}

@test "compare_of_three_commands_has_verdicts_from_five_runs_on" {
	counts_the_kernel
	for runs in 5 6; do
		"$upmu" compare -r $runs -e page-faults -j -o out.json \
			"${little[@]}" -- "${much[@]}" -- true
		[ "$(field out.json '[c["change"]["verdict"] for c in
			e["page-faults"]["commands"][1:]]')" = "['more', 'less']" ]
	done
	run "$upmu" compare -r 4 -e page-faults true -- python3 -c '' -- true
	[[ "$output" == *"-r 5 is the least"* ]]
}

@test "compare_of_equal_programs_in_two_files_and_in_turns_agree_on_form" {
	few -j -o a.json true
	few -j -o b.json true
	run "$upmu" compare a.json b.json
	[ "$status" -eq 0 ]
	[[ "$output" == *"not in turns"* ]]
	[[ "$output" == *"A  a.json: true, 4 runs"* ]]
	[[ "$output" == *"B  b.json: true, 4 runs"* ]]
}

@test "compare_of_one_file_says_what_the_run_said" {
	few -j -o both.json true -- ls
	"$upmu" compare -j -o again.json both.json
	for what in 'e["page-faults"]["commands"][1]["change"]' 'r["paired"]'
	do
		[ "$(field both.json "$what")" = "$(field again.json "$what")" ]
	done
}

@test "compare_prints_the_limits_that_it_saves_and_no_others" {
	few -j -o out.json "${little[@]}" -- "${much[@]}"
	"$upmu" compare out.json >text
	python3 - <<-'E'
		import json, re
		text, limits = open("text").read(), 0
		for event in json.load(open("out.json"))["events"]:
		    change = event["commands"][1]["change"]
		    if change["exact"] or change["percent"] is None:
		        continue
		    block = re.search(rf"^{event['event']}$.*?\n\n",
		                      text + "\n\n", re.M | re.S).group(0)
		    said = "{percent:+.2f} %".format(**change)
		    low, high = change["percent_low_95"], change["percent_high_95"]
		    if low is not None:
		        said += f" ({low:+.2f} to {high:+.2f})"
		        limits += 1
		    assert f"{said}  " in block, (said, block)
		assert limits
	E
}

@test "compare_reads_what_stat_wrote" {
	"$upmu" stat -r 5 -e page-faults -j -o a.json -- true
	"$upmu" stat -r 5 -e page-faults -j -o b.json -- python3 -c ''
	"$upmu" compare -j -o out.json a.json b.json
	[ "$(field out.json 'e["page-faults"]["commands"][1]["change"]["verdict"]')" = more ]
	[ "$(field out.json 'r["commands"][0]["runs"]')" = 5 ]
	# What is the same cannot be told apart, of however many events.
	"$upmu" stat -r 5 -e page-faults,minor-faults -j -o c.json -- true
	"$upmu" compare -j -o out.json c.json c.json
	for event in page-faults minor-faults; do
		[ "$(field out.json "e['$event']['commands'][1]['change']['p_of_all']")" = 1.0 ]
	done
}

@test "compare_refuses_a_report_of_stat_without_a_list_of_events" {
	"$upmu" stat -r 4 -e page-faults -j -o stat.json -- true
	changed_stat none 'del r["events"]'
	changed_stat other 'r["events"] = 5'
	for file in none other; do
		run -125 "$upmu" compare $file.json stat.json
		[ "$output" = "upmu compare: '$file.json': no report of upmu stat" ]
	done
}

@test "compare_of_files_takes_no_option_of_commands" {
	"$upmu" stat -r 4 -e page-faults -j -o a.json -- true
	for option in "--event page-faults" "--prepare true" "--stdin x" \
		"--stdout x" "--repeat 5" "--warmup 1" --ignore-failure --shell; do
		run -2 "$upmu" compare $option a.json a.json
		[[ "$output" == "upmu compare: ${option%% *} is for commands to run: "* ]]
	done
	run -2 "$upmu" compare -r 5 a.json a.json
	[[ "$output" == "upmu compare: --repeat is for commands to run: "* ]]
	run -0 "$upmu" compare a.json a.json
}

@test "compare_of_stats_files_sees_what_each_single_run_shows" {
	# Constants have no deviation to judge chance by; their runs do.
	"$upmu" stat -r 4 -e page-faults -j -o stat.json -- true
	for n in 100 120; do
		changed_stat $n 'e.update(values=['$n'] * 4, value='$n', mean='$n',
deviation=0.0)'
	done
	"$upmu" compare -j -o out.json 100.json 120.json
	[ "$(field out.json 'e["page-faults"]["commands"][1]["change"]["verdict"]')" = more ]
	"$upmu" compare -j -o out.json 100.json 100.json
	[ "$(field out.json 'e["page-faults"]["commands"][1]["change"]["verdict"]')" = \
		"no difference seen" ]
}

# With mean and deviation alone of the times 5 runs of each do not do for six:
# 2 of 252 exchanges are more than three quarters of 1 in 100.
@test "compare_of_stats_files_says_how_many_runs_six_commands_need" {
	local runs
	for runs in 5 6; do
		"$upmu" stat -r $runs -e page-faults -j -o stat.json -- true
		for n in 100 900; do
			changed_stat $n 'v = [float('$n' + i) for i in range('$runs')]
e.update(values=v, value=v[2], mean=v[2], deviation=1.6)'
		done
		run -0 "$upmu" compare --no-bars {100,900,900,900,900,900}.json
		[ $runs = 5 ] || break
		[[ "$output" == *"too few runs for a verdict: -r 6 is the least"* ]]
		[[ "$output" != *" page-faults"*"no difference"* ]]
	done
	[[ "$output" != *"too few runs"* ]]
	[ "$(grep -c '  900 .* more$\|  90[0-9] .* more$' <<<"$output")" = 5 ]
}

changed_stat() {	# NAME PYTHON: stat.json with it done to r, into NAME.json
	python3 - "$1" "$2" <<-'E'
		import json, sys
		r = json.load(open("stat.json"))
		e = r["events"][0]
		exec(sys.argv[2])
		json.dump(r, open(sys.argv[1] + ".json", "w"))
	E
}

@test "compare_keeps_the_places_of_stat_apart" {
	"$upmu" stat -e page-faults -j -o stat.json -- true
	for n in 10 20; do
		changed_stat $n 'r["events"] = [dict(e, place=p, value=v * '$n')
for p, v in (("CPU0", 100), ("CPU1", 1))]'
	done
	run -0 "$upmu" compare --no-bars 10.json 20.json
	[[ "$output" == *"page-faults CPU0"$'\n'"  A "*" 1,000 "* ]]
	[[ "$output" == *"page-faults CPU1"$'\n'"  A "*" 10 "* ]]
	run -125 "$upmu" compare --fail-if 'page-faults CPU0 > 1%' 10.json 20.json
	[[ "$output" == *"'page-faults CPU0 > 1%' cannot be told: too few runs"* ]]
}

@test "compare_calls_more_cycles_of_any_place_slower" {
	counts_the_kernel
	"$upmu" stat -r 6 -e page-faults -j -o stat.json -- true
	for n in 1 2; do
		changed_stat $n 'v = [x * '$n' for x in (98, 99, 100, 100, 101, 102)]
r["events"] = [dict(e, event=name, place=p, value=100 * '$n', deviation=1,
values=v) for name in ("cycles", "cortex-a7/cycles/", "instructions")
for p in ("CPU0", "user.slice/a")]'
	done
	"$upmu" compare --no-bars 1.json 2.json >out
	[ "$(grep -c 'slower$' out)" -eq 4 ]
	[ "$(grep -c 'more$' out)" -eq 2 ]
}

@test "compare_has_the_times_of_stat" {
	"$upmu" stat -r 5 -e page-faults -j -o stat.json -- true
	changed_stat slow 'r["user_s"] = 2.0; r["sys_s"] = 3.0
r["user_deviation_s"] = r["sys_deviation_s"] = 0.01'
	"$upmu" compare -j -o out.json stat.json slow.json
	for time in user sys; do
		[ "$(field out.json 'e["'$time'"]["commands"][1]["change"]["verdict"]')" = more ]
	done
	run -3 "$upmu" compare --fail-if 'sys > 1' stat.json slow.json
}

@test "compare_says_of_stats_files_what_stat_said" {
	counts_the_kernel
	"$upmu" stat -r 4 -e page-faults -j -o stat.json -- true
	changed_stat told 'e["estimated"] = r["user_only"] = True
r["multiplexing"] = dict(sets=2, passes=False)
r["events"].append(dict(event="bus_cycles", unit="events", state="not emulated"))'
	run -0 "$upmu" compare stat.json stat.json
	[[ "$output" != *estimated* && "$output" != *"user mode only"* ]]
	run -0 "$upmu" compare told.json told.json
	[[ "$output" == *"what they counted is estimated"* ]]
	[[ "$output" == *"user mode only"* ]]
	[[ "$output" == *"<not emulated>: bus_cycles"* ]]
	"$upmu" compare -j -o again.json told.json
	run -0 "$upmu" compare again.json
	[[ "$output" == *"<not emulated>: bus_cycles"* ]]
}

@test "compare_says_of_how_many_runs_a_mean_is" {
	"$upmu" stat -r 4 -e page-faults -j -o stat.json -- true
	changed_stat some 'e["values"][2] = None'
	run -0 "$upmu" compare stat.json some.json
	[ "$(grep -c 'a number in ' <<<"$output")" -eq 1 ]
	[[ "$output" == *"a number in 3 of 4 runs"* ]]
}

@test "compare_prints_no_infinite_number" {
	"$upmu" stat -r 4 -e task-clock -j -o stat.json -- true
	changed_stat deviation 'r["elapsed_s"] = 1; r["elapsed_deviation_s"] = 1e308'
	changed_stat sum 'e["values"] = [1e308, 1, 1.7e308, 1.7e308]'
	changed_stat same 'e["values"] = [1.7e308] * 4'
	changed_stat tiny 'e["values"] = [5e-324, 1e-323, 5e-324, 1e-323]'
	for extreme in deviation sum same tiny; do
		for format in text markdown csv json; do
			"$upmu" compare --format $format $extreme.json stat.json
			"$upmu" compare --format $format stat.json $extreme.json
		done >out
		run ! grep -iwE '[-+]?(inf|nan)' out
		[ "$(wc -L <out)" -lt 200 ]
		"$upmu" compare -j -o out.json $extreme.json stat.json
		python3 "$BATS_TEST_DIRNAME/check_stat_output.py" compare out.json
	done
}

@test "compare_says_of_two_files_that_they_are_of_unlike_cores" {
	"$upmu" stat -r 5 -e page-faults -j -o a.json -- true
	python3 - <<-'E'
		import json
		report = json.load(open("a.json"))
		for name, cores in (("a7", ["cortex-a7"]), ("same", ["cortex-a7"]),
		                    ("tc2", ["cortex-a15", "cortex-a7"])):
		    report["machine"] = {"cores": cores}
		    json.dump(report, open(name + ".json", "w"))
		del report["machine"]
		json.dump(report, open("older.json", "w"))
	E
	run -0 "$upmu" compare a7.json tc2.json
	[[ "$output" == *"A was counted on cortex-a7, B on cortex-a15 cortex-a7: "* ]]
	for like in same older; do
		run -0 "$upmu" compare a7.json $like.json
		[[ "$output" != *"was counted on"* ]]
	done
}

@test "compare_says_which_files_lack_the_kernels_part" {
	counts_the_kernel
	few -j -o report.json true -- true
	changed 'for c in r["commands"] + [r]: c["user_only"] = True
for c in r["commands"]: c["cores"] = "cortex-a7"'
	run -0 "$upmu" compare changed.json report.json
	[[ "$output" == *"had it: A, B; what differs may be the kernel's part"* ]]
	run -0 "$upmu" compare changed.json
	[[ "$output" == *"user mode only: kernel.perf_event_paranoid"* ]]
	"$upmu" compare -j changed.json report.json >both.json
	[ "$(field both.json 'r["user_only"], [c["user_only"]
		for c in r["commands"]]')" = "(True, [True, True, False, False])" ]
	# And so do those of unlike boards.
	sed s/cortex-a7/cortex-a15/ changed.json >a15.json
	run -0 "$upmu" compare changed.json a15.json
	[[ "$output" == *"A was counted on cortex-a7, C on cortex-a15: "* ]]
}

@test "compare_refuses_other_files_with_one_line_each" {
	echo '{' >broken.json
	echo '[1, 2]' >array.json
	echo '{"hello": 1}' >other.json
	: >empty.json
	few -j -o good.json true
	cat good.json good.json >twice.json
	(cat good.json && echo rest) >rest.json
	for file in broken array other empty none twice rest; do
		run "$upmu" compare good.json $file.json
		[ "$status" -eq 125 ]
		[ "${#lines[@]}" -eq 1 ]
		[[ "$output" == *"'$file.json'"* ]]
	done
}

@test "compare_says_which_word_beside_a_report_is_none" {
	few -j -o good.json true
	for other in /etc/passwd good.jsn true; do
		run "$upmu" compare good.json "$other"
		[ "$status" -eq 2 ]
		[[ "$output" == *"'$other': no file of earlier runs"*"hint: "* ]]
	done
	run "$upmu" compare good.json -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot be compared at once"*"hint: "* ]]
	run -2 "$upmu" compare good.json -j
	[[ "$output" == *"hint: options come before the files" ]]
	run -127 "$upmu" compare good.jsn good.json
	[[ "$output" == *"hint: of earlier runs all names end in .json"* ]]
	# A program may be called so.
	printf '#!/bin/sh\n' >run.json
	chmod +x run.json
	few ./run.json argument
	few -- ./run.json -- true
}

changed() {	# PYTHON: report.json with it done to r, into changed.json
	python3 - "$1" <<-'E'
		import json, sys
		r = json.load(open("report.json"))
		exec(sys.argv[1])
		json.dump(r, open("changed.json", "w"))
	E
}

@test "compare_takes_numbers_of_any_size" {
	few -j -o report.json true -- true
	changed 'for e in r["events"]:
	    for c in e["commands"]: c.update(mean=1e308, values=[1e308] * 4)'
	for format in text markdown csv json; do
		"$upmu" compare --format $format changed.json >out
	done
	"$upmu" compare --no-bars changed.json >out
	grep -q '1e+308' out
}

@test "compare_writes_nothing_that_a_terminal_obeys" {
	few -j -o report.json true -- true
	changed 'r["commands"][0]["name"] = "a\x1b[31mb\nc\u00e9\u009b31m"
r["events"][0]["event"] = "\x1b]0;title\x07"'
	"$upmu" compare changed.json >out
	grep -qF 'a?[31mb?cé?31m' out
	grep -qxF '?]0;title?' out
	run ! grep -q $'[\x1b\x07]' out
	"$upmu" compare --format markdown changed.json >out
	run ! grep -q $'[\x1b\x07]' out
	grep -qF 'cé?31m' out
	"$upmu" stat -r 3 -e page-faults -j -o report.json -- true
	for cores in red plain; do
		changed 'r["machine"] = {"cores": ["'$cores'\x1b[31m"]}'
		mv changed.json $cores.json
	done
	"$upmu" compare red.json plain.json >out
	grep -qF 'A was counted on red?[31m, B on plain?[31m: ' out
	run ! grep -q $'\x1b' out
	changed 'r["command"] = ["a\x1b[31m"]'
	run -3 "$upmu" compare --fail-if 'page-faults < 1000000' report.json changed.json
	[[ "$output" == *"holds: changed.json: a?[31m: "* ]]
	[[ "$output" != *$'\x1b'* ]]
	printf '{ \x1b' >changed.json
	run -125 "$upmu" compare changed.json
	[[ "$output" != *$'\x1b'* ]]
}

@test "compare_of_a_report_without_runs_says_so" {
	few -j -o report.json true
	for change in 'r["commands"] = []' 'r["commands"][0]["runs"] = -3'; do
		changed "$change"
		run "$upmu" compare changed.json
		[ "$status" -eq 125 ]
		[[ "$output" == "upmu compare: "*"has no runs" ]]
	done
}

@test "compare_of_a_folder_says_that_it_is_one" {
	mkdir folder.json
	run -125 "$upmu" compare folder.json
	[ "$output" = "upmu compare: 'folder.json': Is a directory" ]
}

@test "compare_says_which_runs_of_stat_failed" {
	"$upmu" stat -r 3 -e page-faults -j -o failed.json -- false || true
	"$upmu" stat -e page-faults -j -o one.json -- true
	"$upmu" compare failed.json one.json >out
	grep -q 'false, 3 runs  (3 of 3 runs failed)' out
	grep -q 'true, 1 run$' out
}

@test "compare_says_which_runs_of_stat_were_cut_off" {
	"$upmu" stat -r 4 -e page-faults -j -o cut.json --post \
		'echo >>log; [ "$(grep -c "" log)" -lt 3 ] || kill -INT $$' \
		-- true || true
	"$upmu" stat -r 3 -e page-faults -j -o whole.json -- true
	"$upmu" compare cut.json whole.json >out
	grep -q 'true, 3 of 4 runs$' out
	grep -q 'true, 3 runs$' out
	"$upmu" compare -j -o both.json cut.json whole.json
	python3 "$BATS_TEST_DIRNAME/check_stat_output.py" compare both.json
	"$upmu" compare both.json >again
	grep -q 'true, 3 of 4 runs$' again
	"$upmu" compare -n A -n B -x, both.json >out.csv
	grep -q '^runs_wanted,,A,,4,' out.csv
	[ "$(grep -c '^runs_wanted' out.csv)" = 1 ]
}

@test "compare_fail_if_has_a_status_of_its_own" {
	run "$upmu" compare -r 5 -e page-faults --fail-if 'page-faults > +1%' \
		true -- python3 -c ''
	[ "$status" -eq 3 ]
	[[ "$output" == *"--fail-if 'page-faults > +1%' holds"* ]]
	run "$upmu" compare -r 5 -e page-faults --fail-if 'page-faults < -1%' \
		true -- python3 -c ''
	[ "$status" -eq 0 ]
	run "$upmu" compare -r 5 -e page-faults \
		--fail-if 'page-faults>100000' true -- python3 -c ''
	[ "$status" -eq 0 ]
	run "$upmu" compare -r 5 -e page-faults --fail-if 'page-faults < -10' \
		python3 -c '' -- true
	[ "$status" -eq 3 ]
}

@test "compare_fail_if_that_cannot_be_decided_fails_nothing" {
	# One run has no interval: what can be said is that nothing can.
	run "$upmu" compare -r 1 -w 0 -e page-faults \
		--fail-if 'page-faults > +1%' true -- python3 -c ''
	[ "$status" -eq 125 ]
	[[ "$output" == *"too few runs, -r 3 is the least"* ]]
	[[ "$output" == *"too few runs for a verdict"* ]]
}

@test "compare_fail_if_is_not_past_a_limit_that_is_just_reached" {
	for b in 101 103 107; do
		rounds 100,100,100,100,100,100 $b,$b,$b,$b,$b,$b >a.json
		run -0 "$upmu" compare --fail-if "x > +$((b - 100))%" a.json
		[[ "$output" != *"not decided"* ]]
		run -3 "$upmu" compare --fail-if "x > $((b - 101)).999%" a.json
	done
}

@test "compare_refuses_events_by_its_own_name" {
	run -2 "$upmu" compare -e nosuchevent true -- true
	[[ "$output" == "upmu compare: event 1 of the list"* ]]
}

@test "compare_refuses_conditions_before_anything_runs" {
	for bad in 'nothing' 'elapsed' 'elapsed = 3' 'elapsed => 3' 'elapsed > x' \
		'elapsed > 1%%' '> 3' 'elapsed > 1 second'
	do
		run "$upmu" compare --fail-if "$bad" touch ran -- touch ran
		[ "$status" -eq 2 ]
		[[ "$output" == *"is not as 'instructions > +1%'"* ]]
	done
	run "$upmu" compare -e page-faults --fail-if 'cycels > 1%' \
		touch ran -- touch ran
	[ "$status" -eq 2 ]
	[[ "$output" == *"no such event was counted"* ]]
	[ ! -e ran ]
}

@test "compare_proposes_no_e_for_an_event_that_files_lack" {
	"$upmu" compare -r 1 -w 0 -e page-faults -j -o a.json true
	run "$upmu" compare --fail-if 'cycles > 1%' a.json a.json
	[ "$status" -eq 2 ]
	[[ "$output" == *"hint: as the report calls it: elapsed, user, sys, max_rss, page-faults" ]]
}

@test "compare_takes_blanks_around_a_condition" {
	run few -e page-faults --fail-if ' page-faults  >  +900 % ' true -- true
	[ "$status" -eq 0 ]
}

@test "compare_tells_what_of_a_set_uid_program_was_not_counted" {
	[ "$(id -u)" -eq 0 ] || skip "only root can make one"
	cc -O1 -include time.h -x c -o busy - <<-'C'
		int main(void)
		{
			while (clock() < CLOCKS_PER_SEC / 5)
				for (volatile int i = 0; i < 10000; i++)
					;
		}
	C
	chown nobody busy
	chmod u+s busy
	few -w 1 -j -o out.json true -- ./busy
	[ "$(field out.json '"uncounted_s" in r["commands"][0]')" = False ]
	[ "$(field out.json 'r["commands"][1]["uncounted_s"] > 0.1')" = True ]
	"$upmu" stat -r 2 -e page-faults -j -o stat.json -- ./busy
	run "$upmu" compare out.json stat.json
	grep -q "of B's processor time in a run were not counted: " <<<"$output"
	grep -q "of C's processor time in a run were not counted: " <<<"$output"
	run ! grep -q "of A's processor time" <<<"$output"
	"$upmu" compare -j out.json stat.json >again.json
	[ "$(field again.json 'r["commands"][2]["uncounted_s"] > 0.1')" = True ]
}

@test "compare_takes_a_condition_s_event_in_any_case_as_e_does" {
	run few -e Page-Faults --fail-if 'Page-Faults > 900%' true -- true
	[ "$status" -eq 0 ]
	run -3 few -e PAGE-FAULTS --fail-if 'page-FAULTS < 900%' true -- true
}

@test "compare_stops_where_a_command_fails_and_says_which" {
	run few true -- sh -c 'exit 7'
	[ "$status" -eq 1 ]
	[[ "$output" == *"'sh -c exit 7' ended with status 7"* ]]
	[[ "$output" == *"hint: -i"* ]]
	run few true -- sh -c 'kill -ABRT $$'
	[ "$status" -eq 1 ]
	[[ "$output" == *"was ended by signal 6"* ]]
}

@test "compare_ignores_failures_where_asked_and_counts_them" {
	few -i -j -o out.json true -- false
	[ "$(field out.json '[c["failed"] for c in r["commands"]]')" = "[0, 4]" ]
	[ "$(field out.json 'r["commands"][1]["status"]')" = "[1, 1, 1, 1]" ]
	run few -i true -- false
	[ "$status" -eq 0 ]
	[[ "$output" == *"B  false  (4 of 4 runs failed)"* ]]
}

@test "compare_says_126_and_127_as_stat_does" {
	run -127 "$upmu" compare true -- /nonexistent/program
	[[ "$output" == *"cannot execute '/nonexistent/program'"* ]]
	[[ "$output" != *"hint: "* ]]
	echo text >file
	run "$upmu" compare ./file -- true
	[ "$status" -eq 126 ]
}

@test "compare_gives_each_run_its_input_anew_and_drops_its_output" {
	printf 'line\n' >input
	few --stdin input --stdout result --shell 'cat; echo end' >said
	[ "$(cat result)" = "$(printf 'line\nend')" ]
	run ! grep -q '^line' said
	few --stdout inherit --shell 'echo heard' 'echo heard' | grep -q '^heard'
	# Without --stdin a run that reads meets an end of file, not our input.
	echo stolen | few cat -- cat
}

@test "compare_prepares_each_run" {
	few --prepare 'echo p >>log' --shell 'echo a >>log' 'echo b >>log'
	tr -d '\n' <log | grep -qE '^(papb|pbpa){4}$'
	run few --prepare false true -- true
	[ "$status" -eq 1 ]
	[[ "$output" == *"--prepare 'false' failed"* ]]
}

@test "compare_interrupted_keeps_what_was_measured_and_dies_of_the_signal" {
	"$upmu" compare -r 1000 -w 0 -e page-faults -j -o out.json --shell \
		'sleep 0.02' 'echo >>rounds; sleep 0.01' &
	local pid=$! status=0
	wait_until has_lines 2 rounds
	kill -TERM $pid
	wait $pid || status=$?
	[ "$status" -eq 143 ]
	[ "$(field out.json 'r["interrupted"]')" = True ]
	[ "$(field out.json 'r["commands"][0]["runs"] == r["commands"][1]["runs"]')" = True ]
	[ "$(field out.json '0 < r["commands"][0]["runs"] < 1000')" = True ]
	# Whoever reads it later hears of it, too.
	"$upmu" compare out.json | grep -q '^upmu compare: .*, in turns; interrupted$'
	"$upmu" compare -j -o again.json out.json
	[ "$(field again.json 'r["interrupted"]')" = True ]
}

@test "compare_interrupted_while_nothing_runs_long_ends_too" {
	local pid status signal
	# Commands so short that the signal mostly comes between two of them.
	for signal in INT HUP; do
		rm -f rounds
		env --default-signal=INT,HUP "$upmu" compare -r 100000 -w 0 \
			-e page-faults --shell 'echo >>rounds' true >said &
		pid=$! status=0
		wait_until has_lines 3 rounds
		kill -s $signal $pid
		wait $pid || status=$?
		[ "$status" -eq $((128 + $(kill -l $signal))) ]
		grep -q interrupted said
	done
}

@test "compare_and_stat_under_nohup_outlive_their_terminal" {
	local pid
	for command in compare stat; do
		rm -f rounds
		(trap '' HUP && exec "$upmu" $command -r 3 -e page-faults -o out \
			-- sh -c 'echo >>rounds; sleep 0.2') &
		pid=$!
		wait_until has_lines 1 rounds
		kill -s HUP $pid
		wait $pid
		has_lines 3 rounds
		run ! grep -q interrupted out
	done
}

@test "compare_json_follows_its_schema" {
	few -j -o two.json true -- ls -l
	few -j -o one.json true
	few -i -j -o failed.json true -- false -- ls
	few -j --fail-if 'page-faults > 1000000%' -o asked.json true -- ls
	for file in two one failed asked; do
		python3 "$BATS_TEST_DIRNAME/check_stat_output.py" compare \
			$file.json
	done
}

@test "compare_csv_has_a_row_for_each_command_of_each_event" {
	few --format csv -o out.csv -n 'a,"b"' true -- ls
	python3 - <<-'E'
		import csv
		rows = list(csv.DictReader(open("out.csv")))
		assert {len(r) for r in rows} == {18}, rows
		rows = [r for r in rows if r["runs"]] # the rest are notes
		assert len(rows) == 10, rows
		assert rows[0]["command"] == 'a,"b"', rows[0]
		assert rows[0]["change_percent"] == "", rows[0]
		assert float(rows[1]["change_percent"]) > -100
	E
	few -x ';' -o out.csv true -- ls
	[ "$(head -n 1 out.csv | tr -cd ';' | wc -c)" -eq 17 ]
}

@test "compare_csv_has_the_notes_of_text_and_json" {
	counts_the_kernel
	few -j -o out.json -n A -n B true -- true
	python3 - <<-'E'
		import json
		r = json.load(open("out.json"))
		r.update(time_lost_percent=12.5, estimated=True)
		[c.pop("max_rss_at_most", None) for c in r["commands"]]
		r["commands"][1].update(uncounted_s=0.5, user_only=True, failed=2)
		json.dump(r, open("out.json", "w"))
	E
	run -0 "$upmu" compare -n A -n B -x, out.json
	for row in failed_runs,,B,,2 uncounted_time,s,B,,0.5 user_only,,B,,1 \
		time_lost,%,,,12.5 estimated,,,,1; do
		grep -qx "$row,,,,,,,,,,,,," <<<"$output" || {
			printf 'no row %s\n%s\n' "$row" "$output"
			false
		}
	done
	[ "$(grep -c '^user_only' <<<"$output")" = 1 ]
}

# Both start from upmu's memory, which Linux counts as theirs.
@test "compare_says_where_max_rss_is_its_own" {
	few -n A -n B -j -o out.json true -- "${much[@]}"
	[ "$(field out.json '[c.get("max_rss_at_most") for c in r["commands"]]')" = "[True, None]" ]
	[ "$(field out.json 'e["max_rss"]["commands"][1]["change"]["verdict"]')" = more ]
	few -i -j -o out.json true -- false
	[ "$(field out.json 'e["max_rss"]["commands"][1]["change"]["verdict"]')" = unknown ]
	run -0 "$upmu" compare out.json
	[[ "$output" == *"max_rss of A, B is what upmu itself had when it started it: "* ]]
	[[ "$output" != *"too few runs"* ]]
}

@test "compare_markdown_escapes_what_would_break_a_table" {
	few --format markdown -n 'a|b_<script>' true -- ls >out.md
	grep -q 'a\\|b\\_&lt;script>' out.md
	[ "$(grep -c '^|' out.md)" -eq 12 ]
}

@test "compare_prints_a_unit_out_of_a_file_as_what_it_is" {
	few -j -o report.json true -- ls
	changed 'r["events"][0]["event"] = "a"
r["events"][0]["unit"] = "\x1b[31m|b_"'
	"$upmu" compare --no-bars changed.json >out
	[ "$(grep -c '^  [AB] .* ?\[31m|b_ ' out)" -eq 2 ]
	"$upmu" compare --format markdown changed.json >out.md
	[ "$(grep -cF ' ?\[31m\|b\_ |' out.md)" -eq 2 ]
	run ! grep -q $'\x1b' out out.md
}

@test "compare_markdown_says_of_whose_runs_it_is" {
	few -i --format markdown true -- false >out.md
	grep -q '^4 runs of each, in turns\.$' out.md
	grep -q '^- false  (4 of 4 runs failed)$' out.md
	run ! grep -q '^- true' out.md
	"$upmu" compare -r 2 -e page-faults -j -o two.json true
	few -j -o four.json true
	"$upmu" compare --format markdown -n A -n B two.json four.json >out.md
	grep -q '^runs of different times, not in turns\.$' out.md
	grep -q '^- A, 2 runs$' out.md
	grep -q '^- B, 4 runs$' out.md
}

@test "compare_bars_are_ascii_where_the_locale_has_no_blocks" {
	few true -- ls >utf8
	LC_ALL=C few true -- ls >ascii
	few --no-bars true -- ls >plain
	grep -q '█' utf8
	run ! env LC_ALL=C grep -q '[^ -~]' ascii
	grep -q '####' ascii
	run ! grep -q '█' plain
	run ! grep -q "$(printf '\033')" utf8
}

@test "compare_names_outliers_and_leaves_them_in" {
	cat >a.py <<-'E'
		import json, sys
		values = [10, 11, 9, 10.5, 30, 9.5, 10]
		if sys.argv[1:]:
		    values += 3 * [10, 11, 9, 9.5] + [*map(int, sys.argv[1:])]
		runs = len(values)
		cell = {"counted": runs, "mean": sum(values) / runs,
		        "values": values}
		print(json.dumps({"upmu_compare": 1, "paired": True,
		    "commands": [{"name": "a", "runs": runs}],
		    "events": [{"event": "x", "unit": "events",
		                "commands": [cell]}]}))
	E
	python3 a.py >a.json
	run "$upmu" compare a.json
	[[ "$output" == *"outliers: run 5: 30"* ]]
	[[ "$output" == *"A                 13 "* ]]
	# Three are shown, of more the number.
	python3 a.py 31 32 >a.json
	run "$upmu" compare a.json
	[[ "$output" == *"outliers: run 5: 30, run 20: 31, run 21: 32" ]]
	python3 a.py 31 32 33 34 >a.json
	run "$upmu" compare a.json
	[[ "$output" == *", run 21: 32 and 2 more" ]]
}

@test "compare_takes_a_report_that_tells_no_runs_for_one_of_one_run" {
	echo '{"upmu_stat": 1, "command": ["x"], "events": [
		{"event": "x", "unit": "events", "value": 7}]}' >a.json
	run "$upmu" compare a.json a.json
	[ "$status" -eq 0 ]
	[[ "$output" == *"A  a.json: x, 1 run"$'\n'"  B  a.json: x, 1 run"* ]]
	[[ "$output" == *"A                  7 "* ]]
}

@test "compare_of_twenty_thousand_runs_ends_soon" {
	python3 - >a.json <<-'E'
		import json
		values = [i * i % 1009 for i in range(20000)]
		print(json.dumps({"upmu_stat": 1, "command": ["a"],
		    "runs": len(values), "elapsed_s": 1,
		    "events": [{"event": "x", "unit": "events",
		                "value": 1, "values": values}]}))
	E
	timeout 60 "$upmu" compare --no-bars a.json a.json >out
	grep 'no difference seen' out
}

# A and B of 10 rounds, each list with null where a run gave no number.
rounds() {	# VALUES-OF-A VALUES-OF-B
	python3 - "$@" <<-'E'
		import json, sys
		cells = [{"mean": 1, "values": json.loads(f"[{word}]")}
		         for word in sys.argv[1:]]
		print(json.dumps({"upmu_compare": 1, "paired": True,
		    "commands": [{"name": "x", "runs": len(c["values"])}
		                 for c in cells],
		    "events": [{"event": "x", "unit": "events",
		                "commands": cells}]}))
	E
}

@test "compare_asks_for_no_more_runs_than_there_are" {
	rounds 49,null,48,47 69,68,67,66 >a.json
	run -0 "$upmu" compare a.json
	[[ "$output" == *"too few runs have a number for a verdict"* ]]
	rounds 49,null,48 69,68,67 >a.json
	run -0 "$upmu" compare a.json
	[[ "$output" == *"too few runs for a verdict: -r 4 is the least"* ]]
	rounds 49,48,48,47 69,68,67,66 >a.json
	run -0 "$upmu" compare a.json
	[[ "$output" != *"too few"* ]]
}

# Of equal programs that count one of two numbers 1 in 16 twice differ so.
@test "compare_fail_if_of_two_rounds_fails_no_build" {
	rounds 49,49 50,50 >a.json
	run -125 "$upmu" compare --fail-if 'x > +1%' a.json
	[[ "$output" == *"'x > +1%' cannot be told: too few runs, -r 3 is"* ]]
	"$upmu" stat -j -r 2 -e page-faults -o one.json -- true
	"$upmu" stat -j -r 9 -e page-faults -o two.json -- ls /
	run -125 "$upmu" compare --fail-if 'page-faults > 1%' two.json one.json
	rounds 49,49,49 50,50,50 >a.json
	run -3 "$upmu" compare --fail-if 'x > +1%' a.json
	run -125 "$upmu" compare --fail-if 'x > +1%' --fail-if 'x > 2%' a.json
	[[ "$output" == *"-r 4 is the least"* ]]
	# Of a board that counts exactly no chance is in it.
	rounds 49,49 50,50 | sed 's/"units*": "events"/"unit": ""/
		s/"paired"/"emulated": true, "paired"/' >a.json
	run -3 "$upmu" compare --fail-if 'x > +1%' a.json
}

@test "compare_of_rounds_in_which_one_alone_has_a_number_gives_no_verdict" {
	rounds 1,2,3,2,1,null,null,null,null,null \
		null,null,null,null,null,21,20,22,20,21 >a.json
	run "$upmu" compare a.json
	[[ "$output" == *"too few runs have a number"* ]]
	[[ "$output" != *"no difference seen"* ]]
	rounds 1,2,3,2,1,2,null,null,null,null \
		21,22,23,24,22,21,20,22,20,21 >a.json
	run "$upmu" compare a.json
	[[ "$output" == *" more"* ]]
}

@test "compare_of_unequal_numbers_of_runs_pairs_none" {
	rounds "$(seq -s, 300)" 1001,1002,1003,1004 >a.json
	run "$upmu" compare a.json
	[[ "$status" -eq 0 && "$output" == *"not in turns"*" more"* ]]
}

@test "compare_refuses_wrong_options_with_status_2" {
	for bad in '-r 0' '-r x' '-w -1' '--format html' '-e nosuchevent' '-Q'
	do
		# shellcheck disable=SC2086	# words
		run "$upmu" compare $bad true -- true
		[ "$status" -eq 2 ]
	done
	run "$upmu" compare
	[ "$status" -eq 2 ]
	[[ "$output" == *"hint:"* ]]
	for empty in 'true --' '-- -- true' 'true -- -- true'; do
		# shellcheck disable=SC2086	# words
		run "$upmu" compare $empty
		[ "$status" -eq 2 ]
	done
}

# A forgotten "--" left one command, "--" between those of --shell was a third.
@test "compare_refuses_names_and_dashes_that_belong_to_no_command" {
	"$upmu" stat -j -o a.json -e page-faults -- true
	for words in '-n a -n b touch ran' '-n a -n b -n c touch ran -- true' \
		'-n a -n b a.json'; do
		# shellcheck disable=SC2086	# words
		run "$upmu" compare $words
		[ "$status" -eq 2 ]
		[[ "$output" == *" names for "*" command"*hint:* ]]
	done
	run "$upmu" compare -r 1 -w 0 --shell 'touch ran' -- 'touch ran'
	[ "$status" -eq 2 ]
	[[ "$output" == *"with --shell '--' is a command"*hint:* ]]
	run -2 "$upmu" compare --shell 'touch ran' 'touch ran' -r 5
	[[ "$output" == *"'-r' stands where a command"*hint:* ]]
	[ ! -e ran ]
	few -n a touch ran -- true | grep -q '^  A  a$'
	[ -e ran ]
}

@test "compare_that_cannot_write_says_so" {
	run few -o /nonexistent/file true -- true
	[ "$status" -eq 125 ]
	run few -o /dev/full true -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot write the report"* ]]
}

# --help behind an option: it is read, and nothing runs.
@test "compare_takes_numbers_up_to_their_bounds_and_none_beyond" {
	for good in '-r 1' '-r 9' '-r 1000000' '-w 0' '-w 9' '-w 1000000'; do
		# shellcheck disable=SC2086	# words
		"$upmu" compare $good --help >said 2>&1 ||
			{ echo "$good is refused: $(cat said)"; false; }
	done
	for bad in 0 1000001 99999999999999999999 -1 +1 ' 1' 1x '' :; do
		run "$upmu" compare -r "$bad" --help
		[ "$status" -eq 2 ] || { echo "-r $bad is taken"; false; }
		[[ "$output" == *"'$bad' is not a number from 1 to 1000000"* ]]
	done
	run "$upmu" compare -w 1000001 --help
	[ "$status" -eq 2 ]
}

@test "compare_takes_sixteen_conditions_and_names_and_no_more" {
	words=()
	for n in $(seq 16); do
		words+=(--fail-if "page-faults > $n%" --name "n$n")
	done
	"$upmu" compare "${words[@]}" --help >said
	for more in '--fail-if x>1' '--name x'; do
		# shellcheck disable=SC2086	# words
		run "$upmu" compare "${words[@]}" $more --help
		[ "$status" -eq 2 ]
		[[ "$output" == *"is not one of at most 16"* ]]
	done
}

@test "compare_takes_sixteen_files_and_says_of_one_more_that_it_is_one" {
	"$upmu" stat -j -o one.json -e page-faults -- true
	files=()
	for n in $(seq 16); do
		cp one.json "$n.json"
		files+=("$n.json")
	done
	"$upmu" compare "${files[@]}" >said
	grep -q '^  P  16.json: true, 1 run$' said
	run "$upmu" compare "${files[@]}" one.json
	[ "$status" -eq 125 ]
	[[ "$output" == *"one.json"*"too many commands"* ]]
}
