#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu merge: the files of all ranks together.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	check=$BATS_TEST_DIRNAME/check_stat_output.py
	cd "$BATS_TEST_TMPDIR" || return
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" ranks 4
}

# An expression of what upmu merge -j wrote: row["cycles"], r (the whole).
value() {	# FILE EXPRESSION
	python3 - "$1" "$2" <<-'E'
		import json, sys
		r = json.load(open(sys.argv[1]))
		row = {one["name"]: one for one in r["rows"]}
		print(eval(sys.argv[2]))
	E
}

change() {	# FILE STATEMENTS: r is the report
	python3 - "$1" "$2" <<-'E'
		import json, sys
		r = json.load(open(sys.argv[1]))
		exec(sys.argv[2])
		json.dump(r, open(sys.argv[1], "w"), indent=2)
	E
}

@test "merge_sums_means_and_imbalance_are_those_of_the_ranks" {
	"$upmu" merge -j -o all.json ranks/*
	"$check" merge all.json
	[ "$(value all.json 'row["instructions"]["sum"]')" = 4006.0 ]
	[ "$(value all.json 'row["instructions"]["mean"]')" = 1001.5 ]
	[ "$(value all.json 'row["instructions"]["largest_at"]')" = 3 ]
	[ "$(value all.json 'row["instructions"]["smallest"]')" = 1000.0 ]
	[ "$(value all.json 'round(row["instructions"]["imbalance_percent"], 6)')" = 0.149775 ]
	[ "$(value all.json 'row["instructions"]["values"]')" = \
		"[1000.0, 1001.0, 1002.0, 1003.0]" ]
	[ "$(value all.json 'row["cycles"]["imbalance_percent"]')" = 0.0 ]
	# Four independent errors of +- 10.
	[ "$(value all.json 'row["l1d_cache"]["sum_reach_95"]')" = 20.0 ]
	[ "$(value all.json '"sum" in row["ipc"] or "sum" in row["elapsed"]')" = False ]
	[ "$(value all.json 'row["user"]["sum"]')" = 4.0 ]
}

@test "merge_of_equal_values_has_no_imbalance_and_none_below_0" {
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" equal 500
	sed -i 's/"user_s": 1.0/"user_s": 0.108521/' equal/*
	"$upmu" merge -j -o all.json equal/*
	[ "$(value all.json 'row["user"]["mean"]')" = 0.108521 ]
	[ "$(value all.json 'row["user"]["imbalance_percent"]')" = 0.0 ]
	run "$upmu" merge equal/*
	[[ "$output" != *" -0.0 %"* ]]
}

@test "merge_tells_times_below_a_millisecond" {
	"$upmu" stat -j -o rank.json -e task-clock -- true
	python3 - <<-'P'
		import json
		report = json.load(open("rank.json"))
		report["elapsed_s"] = 0.000412
		report["events"][0]["value"] = 583210
		json.dump(report, open("rank.json", "w"))
	P
	"$upmu" merge rank.json | grep -q '^elapsed .* 0\.000412 s'
	"$upmu" merge rank.json | grep -q '^task-clock *0\.000583 s'
}

@test "merge_shows_the_same_as_text" {
	run --separate-stderr "$upmu" merge --per-rank ranks/*
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${lines[0]}" = "4 ranks" ]
	grep -qE '^instructions +4,006 +1,002 +1,000 @0 +1,003 @3 +0\.1 %$' <<<"$output"
	grep -qE '^l1d_cache +1,600 .*  sum \+- 1\.25 %$' <<<"$output"
	grep -qE '^r7ff +<not counted>$' <<<"$output"
	grep -qE '^elapsed +- +1\.500000 s' <<<"$output"
	grep -qE '^2 .* 1,002 ' <<<"$output"
	[ "$(grep -cE '^[0-3] ' <<<"$output")" -eq 4 ]
}

# One rank ran on the big cores, the other on the little ones; of neither kind
# is the work even. r7ff nobody counted.
@test "merge_takes_a_rank_in_which_nothing_ran_for_0_not_for_unknown" {
	for rank in 0 1; do
		python3 - "$rank" <<-'E' >"r$rank.json"
			import json, sys
			rank = int(sys.argv[1])
			def one(name, ran, idle=True):
			    event = {'event': name, 'unit': 'events'}
			    event.update({'state': 'counted', 'value': 600.0} if ran
			        else {'state': 'not counted'})
			    return {**event, **({'idle': True} if idle and not ran else {})}
			print(json.dumps({'upmu_stat': 1, 'rank': rank, 'ranks': 2,
			    'metrics': [], 'events': [one('big/cycles/', rank == 0),
			    one('little/cycles/', rank == 1), one('mid/cycles/', False),
			    one('l1d', rank == 0, False)]}))
		E
	done
	"$upmu" merge -j -o all.json r0.json r1.json
	"$check" merge all.json
	for kind in big little; do
		[ "$(value all.json "row['$kind/cycles/']['mean']")" = 300.0 ]
		[ "$(value all.json "row['$kind/cycles/']['imbalance_percent']")" = 100.0 ]
	done
	[ "$(value all.json 'row["big/cycles/"]["values"]')" = "[600.0, 0.0]" ]
	[ "$(value all.json 'row["mid/cycles/"]["values"]')" = "[None, None]" ]
	[ "$(value all.json 'row["mid/cycles/"]["counted"]')" = 0 ]
	[ "$(value all.json 'row["l1d"]["counted"]')" = 1 ]
	"$upmu" merge r0.json r1.json >text
	grep -qE '^mid/cycles/ +<not counted>$' text
}

@test "merge_keeps_columns_in_line_below_long_names" {
	mkdir -p "a folder of the files that the ranks wrote"
	python3 - <<-'E'
		import json
		for rank, value in enumerate((0.0, 1.0)):
		    json.dump({'upmu_stat': 1, 'metrics': [], 'elapsed_s': 1.5,
		        'events': [{'event': 'cortex-a72/stall_frontend_cache/',
		            'unit': 'events', 'state': 'counted', 'value': value}]},
		        open('a folder of the files that the ranks wrote/'
		             f'größe-{rank}.json', 'w'))
	E
	LC_ALL=C.UTF-8 "$upmu" merge --per-rank a*/*.json >text
	# "sum" ends where sums do, "mean" where means do, and so on.
	python3 - <<-'E'
		lines = open('text', encoding='utf-8').read().splitlines()
		head, time, row = lines[2:5]
		for word in 'sum', 'mean', 'smallest', 'largest':
		    end = head.index(word) + len(word)
		    assert row[end - 1] != ' ' and row[end] == ' ', (word, row)
		    assert time[end] == ' ', (word, time)
		assert [head.find('@'), head.rfind('@')] == \
		    [row.find('@'), row.rfind('@')], row
		# The mean of 0 and 1 is not 1, and a file's name is whole.
		assert row.split()[1:3] == ['1', '0.5'], row
		assert 'größe-0.json ' in row and 'größe-1.json ' in row, row
		rank, first, second = lines[6:9]
		assert len({rank.index('elapsed') + len('elapsed'),
		            first.index(' s ') + 2, second.index(' s ') + 2}) == 1
	E
}

@test "merge_leaves_out_a_rank_that_no_launcher_gave" {
	for wrong in '"rank": 4294967296' '"rank": -1' '"rank": "0"' \
		'"ranks": 4000000000000000000'; do
		sed "s/${wrong%%:*}: [0-9]*/$wrong/" ranks/rank-0.json >wrong.json
		grep -qF "$wrong" wrong.json
		run timeout 20 "$upmu" merge wrong.json ranks/*
		[ "$status" -eq 1 ]
		grep -q "'wrong.json': its rank is none" <<<"$output"
		grep -qE '^instructions +4,006 ' <<<"$output"
	done
}

@test "merge_shows_a_count_that_nobody_can_have_counted" {
	sed 's/"value": 1000,/"value": 1e308,/' ranks/rank-0.json >vast.json
	run "$upmu" merge vast.json
	grep -qE '^instructions +1e\+308 ' <<<"$output"
}

@test "merge_of_an_estimate_whose_interval_is_unknown_says_so_of_the_sum" {
	python3 - <<-'E'
		import json
		for rank, high in enumerate((1100.0, None)):
		    json.dump({'upmu_stat': 1, 'rank': rank, 'ranks': 2,
		        'metrics': [], 'events': [{'event': 'l1d', 'unit': 'events',
		            'state': 'counted', 'value': 1000.0, 'estimated': True,
		            'low_95': 900.0, 'high_95': high}]},
		        open(f'r{rank}.json', 'w'))
	E
	"$upmu" merge r0.json r1.json >report
	grep -q '^l1d .*sum +- unknown$' report
	"$upmu" merge -j r0.json r1.json | grep -q '"sum_reach_95": null'
}

@test "merge_orders_ranks_by_number_not_by_name" {
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" many 12
	"$upmu" merge -j -o all.json many/*
	[ "$(value all.json '[k["rank"] for k in r["ranks"]] == list(range(12))')" = True ]
	[ "$(value all.json 'row["instructions"]["values"][10]')" = 1010.0 ]
	[ "$(value all.json 'r["ranks"][10]["host"]')" = n10 ]
}

@test "merge_of_a_thousand_ranks_counts_each_once" {
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" many 1000
	"$upmu" merge -j -o all.json many/*
	[ "$(value all.json 'row["instructions"]["sum"]')" = 1499500.0 ]
	[ "$(value all.json 'row["cycles"]["counted"], len(r["ranks"])')" = "(1000, 1000)" ]
}

@test "merge_names_the_ranks_that_have_no_output" {
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" many 12
	rm many/rank-{0,3,7,8,9,11}.json
	run "$upmu" merge -j -o all.json many/*
	[ "$status" -eq 1 ]
	[ "$output" = "upmu merge: no report of rank 0, 3, 7-9, 11 of 12" ]
	[ "$(value all.json 'row["cycles"]["sum"]')" = 12000.0 ]
	[ "$(value all.json 'r["problems"]')" = "['no report of rank 0, 3, 7-9, 11 of 12']" ]
	"$check" merge all.json
}

@test "merge_gives_each_bad_file_one_line_and_sums_the_good_ones" {
	: >empty.json
	echo '{"upmu_stat": 2, "events": [], "metrics": []}' >newer.json
	echo '{"upmu_stat": 1' >cut.json
	echo '{"upmu_stat": 1, "events": [{}], "metrics": []}' >shape.json
	echo '{"upmu_stat": 1, "interval_s": 1, "events": [], "metrics": []}' >intervals.json
	echo '[]' >foreign.json
	cp ranks/rank-1.json again.json
	run "$upmu" merge -j -o all.json empty.json newer.json cut.json \
		shape.json intervals.json foreign.json none.json ranks/* again.json
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 8 ]
	[ "${lines[0]}" = "upmu merge: 'empty.json': empty" ]
	[[ "${lines[1]}" == *"'newer.json': of another version"* ]]
	[[ "${lines[4]}" == *"'intervals.json': intervals"* ]]
	[[ "${lines[6]}" == *"'none.json': No such file"* ]]
	[ "${lines[7]}" = "upmu merge: 'again.json': rank 1 a second time: left out" ]
	[ "$(value all.json 'row["instructions"]["sum"]')" = 4006.0 ]
	[ "$(value all.json 'len(r["problems"])')" = 8 ]
}

@test "merge_leaves_out_what_a_run_of_more_ranks_left_behind" {
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" former 6
	cp former/rank-[45].json ranks/
	run "$upmu" merge -j -o all.json ranks/*
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[1]}" = "upmu merge: 'ranks/rank-5.json': of a run of 6 ranks, not of 4: left out" ]
	[ "$(value all.json 'row["instructions"]["sum"]')" = 4006.0 ]
	[ "$(value all.json '(r["ranks_wanted"], len(r["ranks"]))')" = '(4, 4)' ]
	# Not told by the launcher: nothing to go by.
	sed -i '/"ranks"/d' ranks/rank-[45].json
	"$upmu" merge -j -o all.json ranks/*
	[ "$(value all.json 'len(r["ranks"])')" = 6 ]
}

# What Open MPI and Slurm tell, and the clock.
of_run() {	# FOLDER JOB BEGAN: all reports of it
	for file in "$1"/*; do
		change "$file" "r['job'] = '$2'; r['began_unix_s'] = $3"
	done
}

@test "merge_leaves_out_what_an_earlier_run_wrote_in_the_place_of_a_rank" {
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" former 6
	of_run former 7.0 1700000000
	of_run ranks 8.0 1700086400
	# Rank 0 came to nothing this time: its former file is still there.
	cp former/rank-[045].json ranks/
	run "$upmu" merge -j -o all.json ranks/*
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 4 ]
	[ "${lines[0]}" = "upmu merge: 'ranks/rank-0.json': of a run of 6 ranks, not of 4: left out" ]
	[ "${lines[3]}" = "upmu merge: no report of rank 0 of 4" ]
	[ "$(value all.json 'row["instructions"]["sum"]')" = 3006.0 ]
	"$check" merge all.json
	# As many ranks as before: the launcher's name for the run tells.
	rm ranks/*
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" former 4
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" ranks 4
	of_run former 7.0 1700000000
	of_run ranks 8.0 1700086400
	cp former/rank-2.json ranks/
	run "$upmu" merge -j -o all.json ranks/*
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "upmu merge: 'ranks/rank-2.json': of another run (job 7.0, not 8.0): left out" ]
	[ "${lines[1]}" = "upmu merge: no report of rank 2 of 4" ]
	[ "$(value all.json 'len(r["ranks"])')" = 3 ]
}

@test "merge_tells_when_ranks_did_not_run_at_the_same_time" {
	of_run ranks '' 1700000000
	run env TZ=UTC "$upmu" merge ranks/*
	[ "${lines[0]}" = "4 ranks" ]
	change ranks/rank-3.json 'r["began_unix_s"] += 61'
	run env TZ=UTC "$upmu" merge ranks/*
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "4 ranks" ]
	change ranks/rank-3.json 'r["began_unix_s"] += 1'
	run env TZ=UTC "$upmu" merge ranks/*
	[ "${lines[0]}" = "4 ranks, begun from 2023-11-14 22:13:20 to 2023-11-14 22:14:22" ]
	# Whichever of those that were first still runs.
	for rank in 0 1; do
		change ranks/rank-$rank.json 'r["elapsed_s"] = 100'
		run env TZ=UTC "$upmu" merge ranks/*
		[ "${lines[0]}" = "4 ranks" ]
		change ranks/rank-$rank.json 'r["elapsed_s"] = 1.5'
	done
	change ranks/rank-2.json 'r["elapsed_s"] = 0'
	run env TZ=UTC "$upmu" merge ranks/*
	[[ "${lines[0]}" == "4 ranks, begun from "* ]]
}

@test "merge_names_the_ranks_whose_program_failed" {
	change ranks/rank-1.json 'r["failed"] = 1; r["ended_by"] = "SIGKILL"'
	change ranks/rank-2.json 'r["failed"] = 1'
	run "$upmu" merge -j -o all.json ranks/*
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 2 ]
	[ "${lines[0]}" = "upmu merge: 'ranks/rank-1.json': ended by SIGKILL: counted until then" ]
	[ "${lines[1]}" = "upmu merge: 'ranks/rank-2.json': its program failed" ]
	[ "$(value all.json 'row["instructions"]["sum"]')" = 4006.0 ]
	[ "$(value all.json 'len(r["problems"])')" = 2 ]
}

@test "merge_says_once_of_a_file_that_it_has_intervals" {
	"$upmu" stat -I 10 -j -o long.json -e page-faults -- sleep 0.2
	[ "$(wc -l <long.json)" -ge 2 ]
	run "$upmu" merge long.json ranks/*
	[ "$status" -eq 1 ]
	[ "$(grep -c "'long.json': intervals of -I; whole runs" <<<"$output")" -eq 1 ]
	grep -qE '^instructions +4,006 ' <<<"$output"
}

# stat -A: each CPU of each rank.
@test "merge_keeps_places_apart" {
	for rank in 0 1 2 3; do
		change ranks/rank-$rank.json "
for at, event in enumerate(r['events'][:2]):
    event.update(event='cycles', place=f'CPU{at}')
r['metrics'] = [dict(r['metrics'][0], place=f'CPU{at}', value=at) for at in (0, 1)]"
	done
	run "$upmu" merge --per-rank ranks/*
	[ "$status" -eq 0 ]
	grep -qE '^cycles CPU0 +4,006 ' <<<"$output"
	grep -qE '^cycles CPU1 +8,000 ' <<<"$output"
	grep -qE '^ipc CPU1 +- +1\.000 ' <<<"$output"
	"$upmu" merge -j -o all.json ranks/*
	"$check" merge all.json
	[ "$(value all.json '[one["place"] for one in r["rows"] if one["name"] == "cycles"]')" = "['CPU0', 'CPU1']" ]
}

@test "merge_keeps_the_ratios_of_unlike_cores_apart" {
	for rank in 0 1 2 3; do
		change ranks/rank-$rank.json '
r["metrics"] = [dict(r["metrics"][0], event=f"{core}/inst_retired/", value=at)
                for at, core in enumerate(("a7", "a15"))]'
	done
	run "$upmu" merge ranks/*
	grep -qE '^ipc a7/inst_retired/ +- +0\.000 ' <<<"$output"
	grep -qE '^ipc a15/inst_retired/ +- +1\.000 ' <<<"$output"
	"$upmu" merge -j ranks/* >all.json
	"$check" merge all.json
}

@test "merge_of_an_event_that_one_rank_lacks_says_so" {
	sed -i 's/"value": 2000/"value": null/' ranks/rank-2.json
	run "$upmu" merge ranks/*
	[ "$status" -eq 0 ]
	grep -qE '^cycles +6,000 +2,000 .*  of 3 ranks$' <<<"$output"
}

@test "merge_writes_nothing_that_a_terminal_obeys" {
	sed -i 's/"cycles"/"cy\\u001b[31mcles"/' ranks/*.json
	printf '{ \033' >ranks/broken.json
	run -1 "$upmu" merge --per-rank ranks/*
	[[ "$output" == *'cy?[31mcles'* ]]
	[[ "$output" == *"expected near '?'"* ]]
	[[ "$output" != *$'\x1b'* ]]
}

@test "merge_of_files_without_ranks_names_the_files" {
	for host in b a; do
		"$upmu" stat -j -o $host.json -e page-faults -- true
	done
	run "$upmu" merge --per-rank b.json a.json
	[ "$status" -eq 0 ]
	[ "$(grep -cE '^(a|b)\.json ' <<<"$output")" -eq 2 ]
}

@test "merge_calls_modelled_what_a_model_counted" {
	sed -i 's/"event": "cycles",/&"modelled": true,/' ranks/rank-2.json
	run "$upmu" merge ranks/*
	grep -qE '^cycles .*  modelled$' <<<"$output"
	run ! grep -qE '^instr.*modelled' <<<"$output"
}

@test "merge_that_cannot_be_written_leaves_the_former_file" {
	echo former >all.json
	run sh -c 'trap "" XFSZ; ulimit -f 1; exec "$0" merge -j -o all.json ranks/*' "$upmu"
	[ "$status" -eq 125 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == *"cannot write 'all.json'"* ]]
	[ "$(cat all.json)" = former ]
	[ "$(echo all.json*)" = all.json ]
	run "$upmu" merge -o all.json none.json
	[ "$status" -eq 125 ]
	[ "$(cat all.json)" = former ]
	for form in '' -j; do
		run -125 sh -c '"$0" merge $1 ranks/* >/dev/full' "$upmu" "$form"
		[[ "$output" == *"cannot write to standard output"* ]]
	done
}

@test "merge_refuses_wrong_use" {
	run "$upmu" merge
	[ "$status" -eq 2 ]
	[[ "$output" == *"hint: mpirun"* ]]
	run "$upmu" merge --nonsense ranks/rank-0.json
	[ "$status" -eq 2 ]
}

@test "report_draws_what_merge_wrote" {
	"$upmu" merge -j -o all.json ranks/*
	"$upmu" report -o page.html all.json
	grep -q '"kind":"merge"' page.html
	echo '{"upmu_merge": 1, "rows": [{}], "ranks": []}' >bad.json
	run "$upmu" report -o page.html bad.json
	[ "$status" -eq 125 ]
}
