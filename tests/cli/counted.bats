#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The command on machines that count, whatever this one can: made-up kernels
# below the machines of tests/fixtures (tests/unit/fake_upmu.c). Each reading
# adds 500 to an event; with by_code=1, its code more.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	fake=${UPMU_BUILD:-$BATS_TEST_DIRNAME/../../build}/tests/unit/fake_upmu
	cd "$BATS_TEST_TMPDIR" || exit
	[ "$(uname -m)" = x86_64 ] || skip "fake_upmu is made for x86-64 only"
	export TMPDIR=$BATS_TEST_TMPDIR
}

on() {	# MACHINE WORDS...: with these settings of the made-up kernel
	UPMU_FAKE=$1 run --separate-stderr "$fake" "${@:2}"
}

said() {	# LINE: one of standard error, or of output, is just so
	local line
	for line in "${stderr_lines[@]}" "${lines[@]}"; do
		[ "$line" != "$1" ] || return 0
	done
	printf 'no line is: %s\n' "$1"
	printf '%s\n' "${stderr_lines[@]}" "${lines[@]}"
	false
}

of_json() {	# EXPRESSION: of the report, as d
	python3 -c 'import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1" <<<"$output"
}

# ---- compare ----

@test "compare_says_what_the_event_of_a_condition_is_called" {
	for event in cycles:hk armv7_cortex_a7/cycles/; do
		on "pi2 by_code=1" compare -r 2 -e "$event" \
			--fail-if "$event > 1%" true -- true
		[ "$status" -eq 2 ]
		[[ "$stderr" == *"as the report calls it: elapsed, user, sys, max_rss, cycles"* ]]
	done
}

# ---- list ----

@test "list_counts_what_this_machine_can_count_now" {
	on pi2 list
	[ "$status" -eq 0 ]
	said "  41 of 41 can be counted now"
	said "  0x08 inst_retired              instruction executed"
	on pi2 list --json
	[ "$(of_json '{(e["now"], e["countable"]) for e in d["events"]}')" = "{('yes', True)}" ]
}

@test "list_asks_the_machine_how_many_counters_it_has" {
	on "pi2 ordinary=3" list
	said "  3 event counters and the cycle counter"
	on "pi2 ordinary=3" list --json
	[ "$(of_json 'd["counters"], d["counters_asked"]')" = "(3, True)" ]
	on "pi2 ordinary=2 has_no_filter=1" list
	said "  2 event counters and the cycle counter"
}

@test "list_does_not_take_a_refusal_for_a_number_of_counters" {
	on "pi2 perf_error=-16" list
	said "  4 event counters and the cycle counter (by the manual)"
	on "pi2 ordinary=40" list
	said "  4 event counters and the cycle counter (by the manual)"
}

# Instructions, which estimates are made from, have a counter of four.
@test "list_fit_tells_the_sets_that_stat_takes" {
	local list=r1,r2,r3,r4,r5,r6,r7
	on "pi2 ordinary=4" stat -e $list -- true
	[[ "$stderr" == *$'\n3 sets of events took turns'* ]]
	on "pi2 ordinary=4" list --fit $list
	said "  set 1: r1, r2, r3"
	said "  3 sets take turns: each counts about 33 % of a run, or run \`upmu stat --passes\`"
	# Of three it has none.
	on "pi2 ordinary=3" stat -e $list,r9,ra -- true
	[[ "$stderr" == *$'\n3 sets of events took turns'* ]]
	on "pi2 ordinary=3" list --fit $list,r9,ra
	said "  set 3: r7, r9, ra"
	# Of two of them only the first may keep one.
	on "pi2 ordinary=4" stat -e 'r8,{r1,r2,r3},{instructions:u,r4,r5,r6}' -- true
	[[ "$stderr" == *$'\n2 sets of events took turns'* ]]
	on "pi2 ordinary=4" list --fit 'r8,{r1,r2,r3},{instructions:u,r4,r5,r6}'
	said "  set 2: instructions:u, r4, r5, r6"
}

@test "list_marks_what_counts_in_user_mode_only" {
	on "pi2 only_user=1" list
	[ "$status" -eq 0 ]
	said "  41 of 41 can be counted now"
	said "  u 41 in user mode only, as :u"
	said "u 0x08 inst_retired              instruction executed"
	[[ "$output" == *"perf_event_paranoid is 0: a security policy"* ]]
	on "pi2 only_user=1" list --json
	[ "$(of_json '{(e["now"], e["countable"]) for e in d["events"]}')" = "{('as :u', True)}" ]
}

@test "list_marks_what_cannot_be_counted_and_says_why" {
	on "pi2 perf_error=-16" list
	[ "$status" -eq 0 ]
	said "  0 of 41 can be counted now"
	said "  - 41 cannot be counted now"
	said "    another user holds the PMU: 'sw_incr' cannot be had"
	said "- 0x08 inst_retired              instruction executed"
	on "pi2 perf_error=-16" list --json
	[ "$(of_json '{(e["now"], e["countable"]) for e in d["events"]}')" = "{('no', False)}" ]
	[ "$(of_json '"another user" in d["reason"]')" = True ]
}

@test "list_sees_that_an_emulator_counts_no_instructions" {
	on "qemu-virt-32 stands_still=1" list
	said "  2 of 41 can be counted now"
	said "e 0x08 inst_retired              instruction executed"
	said "  0x11 cpu_cycles                cycle of this core"
	on qemu-virt-32 list
	said "  3 of 41 can be counted now"
	said "  0x08 inst_retired              instruction executed"
}

# ---- check ----

@test "check_says_of_a_core_that_no_table_has_what_it_gets" {
	on unknown-v8 check
	said "note  cores      CPU 0-1: MIDR 0x410ffff0 is not known by itself; it gets the architecture's common events"
	on pi2 check
	said "ok    cores      CPU 0-3: Arm Cortex-A7, 4 event counters"
}

@test "check_knows_an_emulated_board" {
	on qemu-virt-32 check
	said "note  board      emulated: of a core's events it counts cycles, software increments and perhaps instructions"
	on pi2 check
	[[ "$output" != *emulated* ]]
}

# ---- stat ----

@test "stat_counts_each_event_by_its_own_code" {
	on "pi2 by_code=1" stat --passes -- true
	[ "$status" -eq 0 ]
	said "                 755  cpu_cycles                  # 1.510 GHz"
	said "                 508  inst_retired                # 1.486 CPI, 0.673 IPC"
	said "                 501  l1i_cache_refill            # 986.220 PTI"
	said "                 504  l1d_cache                   # 992.126 PTI"
	said "                 503  l1d_cache_refill            # 99.802 % of accesses, 990.157 PTI"
	said "                 505  l1d_tlb_refill              # 994.094 PTI"
	said "                 502  l1i_tlb_refill              # 988.189 PTI"
	said "                 512  pc_write_retired            # 1007.874 PTI"
	said "                 516  br_mis_pred                 # 100.781 % of branches"
	said "3 sets of events, a run for each"
}

@test "stat_gives_each_set_a_run_that_ends_well" {
	on pi2 stat --passes -- sh -c 'echo run >>runs'
	[ "$(wc -l <runs)" -eq 3 ]
	on pi2 stat --passes -j -- true
	[ "$output" = "" ]
	output=$stderr
	[ "$(of_json 'd["multiplexing"]["sets"], d["multiplexing"]["passes"]')" = "(3, True)" ]
}

@test "stat_runs_pre_and_post_around_the_run_of_each_set" {
	for form in --passes --regions; do
		on pi2 stat $form --pre 'echo pre >>log' --post 'echo post >>log' \
			-- sh -c 'echo run >>log'
		[ "$status" -eq 0 ]
		[ "$(xargs <log)" = "pre run post pre run post pre run post" ]
		rm log
	done
}

@test "stat_lets_what_does_not_fit_take_turns" {
	on "pi2 ordinary=3" stat -e '{inst_retired,l1d_cache},{l1d_cache_refill,br_mis_pred}' -- sleep 0.2
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"            estimate  event  "*"95 %    running            counted"* ]]
	[[ "$stderr" =~ "2 sets of events took turns: "[0-9]+" slices of "[0-9.]+" ms, switching took "[0-9.]+" %" ]]
	on "pi2 ordinary=3" stat -e '{inst_retired,l1d_cache}' -- true
	[[ "$stderr" != *"took turns"* && "$stderr" != *"running"* ]]
}

@test "stat_advises_a_program_of_few_slices_to_use_passes" {
	on pi2 stat -- true
	said "hint: that is few slices for sure estimates; --passes runs the program once for each set"
	sleep 60 3>&- &
	# three turns of 20 slices are enough, whose length is the machine's
	on pi2 stat -p $! --timeout 5
	said "hint: that is few slices for sure estimates; count for longer, or fewer events"
	# What is counted is not the command that says for how long.
	on pi2 stat -p $! -- true
	said "hint: that is few slices for sure estimates; count for longer, or fewer events"
	kill $!
}

@test "stat_says_who_holds_what_cannot_be_counted" {
	on "pi2 perf_error=-16" stat -e cycles,instructions -- true
	[ "$status" -eq 0 ]
	said "     <not supported>  cycles"
	said "     <not supported>  instructions"
	said "upmu stat: another user holds the PMU: 'cycles' cannot be had"
}

@test "stat_says_that_it_counted_user_mode_only" {
	on "pi2 only_user=1" stat -e cycles -- true
	said "                 500  cycles                    "
	said "user mode only: kernel.perf_event_paranoid allows this user no more"
	on "pi2 only_user=1" stat -j -e cycles -- true
	output=$stderr
	[ "$(of_json 'd["user_only"]')" = True ]
}

@test "stat_prints_no_count_of_a_counter_that_stands_still" {
	on "qemu-virt-32 stands_still=1" stat -- true
	said "      <not emulated>  cpu_cycles"
	said "      <not emulated>  inst_retired"
	said "      <not emulated>  br_mis_pred"
}

@test "stat_names_the_core_of_each_count_and_ratio_where_they_differ" {
	on "odroid-xu4 by_code=1" stat --passes -M branch,cache -- true
	[ "$status" -eq 0 ]
	said "                 755  cortex-a7/cpu_cycles/         # 1.510 GHz"
	said "                 755  cortex-a15/cpu_cycles/        # 1.510 GHz"
	said "                 618  cortex-a15/pc_write_spec/     # 1216.535 PTI"
	said "                 516  cortex-a7/br_mis_pred/        # 100.781 % of branches"
	said "                 516  cortex-a15/br_mis_pred/       # 83.495 % of branches"
	for core in cortex-a7 cortex-a15; do
		said "              99.614  branch_miss_percent        %    # $core  # branches that were mispredicted, wrong paths included; low is good: else see branches on data: sort, or compute without"
		said "            1019.685  branch_pti                 PTI  # $core  # branches that could be predicted, wrong paths included"
		said "             100.192  l2_refill_percent          %    # $core  # L2 cache refills of its accesses; low is good: else see working set against the L2 cache"
	done
	said "4 sets of events, a run for each"
}

@test "stat_gives_ratios_and_cores_to_programs_too" {
	on "odroid-xu4 by_code=1" stat --passes -M branch -j -- true
	output=$stderr
	[ "$(of_json '[(m["metric"], round(m["value"], 3)) for m in d["metrics"] if m["metric"] == "branch_miss_percent"]')" = "[('branch_miss_percent', 99.614), ('branch_miss_percent', 99.614)]" ]
	[ "$(of_json 'sorted({e["core"] for e in d["events"] if "core" in e})')" = "['cortex-a15', 'cortex-a7']" ]
	on "odroid-xu4 by_code=1" stat --passes -M branch -x, -- true
	[[ "$stderr" == *"516,,cortex-a15/br_mis_pred/,500,100.00,83.4951,mispredict_percent,516"* ]]
}

@test "stat_prints_ratios_alone" {
	on "pi2 by_code=1" stat --passes -M branch --metric-only -- true
	said "              99.614  branch_miss_percent %"
	said "               1.486  cpi"
	said "               1.510  ghz GHz"
	[[ "$stderr" != *inst_retired* && "$stderr" != *sets* ]]
	# Of two with one name it says which is which.
	said "            1007.874  branch_pti PTI, of pc_write_retired"
	said "            1019.685  branch_pti PTI, of br_pred"
	LC_ALL=C on "odroid-xu4 by_code=1" stat --passes --plot -- true
	grep -qE '^branch_pti .* 1007.874 PTI  # cortex-a7$' <<<"$stderr"
	grep -qE '^branch_pti .* 1216.535 PTI  # cortex-a15$' <<<"$stderr"
	# As the report above the plot does.
	LC_ALL=C on "pi2 takes_turns=1" stat --plot -- true
	grep -q '_pti .* PTI (unsure)$' <<<"$stderr"
}

@test "stat_makes_ratios_of_perfs_generic_events_too" {
	on "pc by_code=1" stat -e cycles,instructions,branches,branch-misses,stalled-cycles-frontend -- true
	said "                 500  cycles                      # 1.000 GHz"
	said "                 501  instructions                # 0.998 CPI, 1.002 IPC"
	said "                 504  branches                    # 1005.988 PTI"
	said "                 505  branch-misses               # 100.198 % of branches"
	said "                 507  stalled-cycles-frontend     # 101.400 % of cycles stalled"
}

@test "stat_makes_cpi_and_ipc_of_each_mode_by_itself" {
	for mode in u k; do
		on "pc by_code=1" stat -e cycles:$mode,instructions:$mode -- true
		said "                 501  instructions:$mode              # 0.998 CPI, 1.002 IPC"
	done
	on "pc by_code=1" stat -e cycles:u,instructions:k -- true
	[[ "$output$stderr" != *IPC* ]]
}

@test "stat_sends_who_asks_for_ratios_that_a_core_lacks_to_those_that_it_has" {
	on pi2 stat -M topdown -- touch ran
	[ "$status" -eq 2 ]
	[ ! -e ran ]
	said "upmu stat: -M, -d: this machine's core has no event of theirs"
	said "hint: upmu list --metrics"
	on pi2 list --metrics
	[ "$status" -eq 0 ]
	[[ "$output" == *"l1d_refill_percent"* ]]
}

@test "no_scale_has_no_interval_of_an_estimate_in_json_nor_in_merge" {
	on "pi2 by_code=1" stat --no-scale -j -o counts.json -- sleep 0.3
	[ "$status" -eq 0 ]
	on pi2 merge counts.json
	[ "$status" -eq 0 ]
	[[ "$output" != *"sum +- "[0-9]* ]]
	output=$(<counts.json)
	[ "$(of_json 'any(e.get("estimated") for e in d["events"])')" = True ]
	[ "$(of_json '[e for e in d["events"] if "low_95" in e or "estimate" in e]')" = "[]" ]
}

@test "compare_tells_estimates_from_counts_of_a_part_of_the_time" {
	for form in "" --no-scale; do
		# shellcheck disable=SC2086	# no word, or one
		on "pi2 takes_turns=1" stat $form -r 5 -e cycles -j \
			-o "1$form.json" -- true
		cp "1$form.json" "2$form.json"
	done
	on pi2 compare 1.json 2.json
	[[ "$output" == *"others had the counters in"* ]]
	[[ "$output" != *"sets of events took turns"* ]]
	on pi2 compare 1--no-scale.json 2--no-scale.json
	[[ "$output" == *"of --no-scale: some counts are of a part of the time"* ]]
	on pi2 compare -j -o raw.json 1--no-scale.json 2--no-scale.json
	python3 "$BATS_TEST_DIRNAME/check_stat_output.py" compare raw.json
	python3 "$BATS_TEST_DIRNAME/check_stat_output.py" json 1--no-scale.json
	for other in 1--no-scale.json raw.json; do
		on pi2 compare 1.json "$other"
		[ "$status" -eq 125 ]
		said "hint: count anew without --no-scale"
	done
	# Others were gone before the last of its runs.
	on "pi2 takes_turns=1 turns_until=4" stat --no-scale -r 3 -e cycles -j \
		-o gone.json -- true
	on pi2 compare 1.json gone.json
	[ "$status" -eq 125 ]
	on pi2 compare -x, raw.json 1--no-scale.json
	[[ "$output" == *"no_scale,,,,1,"* ]]
}

@test "stat_says_how_long_others_had_the_counters" {
	on "pi2 takes_turns=1" stat -e cycles,instructions -- true
	said "               1,000  cycles                             unknown     50.0 %                500  # 2.000 GHz"
	said "others had the counters in 50.0 % of the time"
	on "pi2 never_runs=1" stat -e cycles -- true
	said "       <not counted>  cycles"
	said "others had the counters in 100.0 % of the time"
	on "pi2 takes_turns=1" stat -e cycles -j -- true
	output=$stderr
	[ "$(of_json 'd["others"]')" = "{'time_lost_percent': 50.0}" ]
	on "pi2 takes_turns=1" stat -e cycles -x, -- true
	[[ "$stderr" == *"50.000,%,time_lost,"* ]]
}

@test "stat_I_says_in_each_interval_how_long_others_had_the_counters" {
	on "pi2 takes_turns=1" stat -e cycles -I 100 --summary -- sleep 0.25
	[ "$(grep -c "^others had the counters in 50.0 % of the time$" <<<"$stderr")" -ge 2 ]
	[ "$(grep -c "^hint: end the other user" <<<"$stderr")" = 2 ]
	said "others had the counters in up to 50.0 % of an interval's time"
	on "pi2 takes_turns=1" stat -e cycles -I 100 -x, -- sleep 0.25
	[ "$(grep -c "^[0-9.]*,50.000,%,time_lost," <<<"$stderr")" -ge 2 ]
	# They go on while the first interval lasts.
	on "pi2 takes_turns=1 turns_until=3" stat -e cycles -I 100 --summary \
		-x, -- sleep 0.25
	[[ "$stderr" == *"50.000,%,time_lost,"* ]]
}

@test "stat_tells_of_turns_that_some_cores_take_alone" {
	local codes=01,03,04,10,12,13,14,16 few many
	for few in 7 15; do
		many=$(printf "cortex-a$((22 - few))/r%s/," ${codes//,/ })
		on odroid-xu4 stat -C 0,4 -A -e "${many}cortex-a$few/r01/" \
			--timeout 50
		[[ "$stderr" =~ [1-9]" sets of events took turns: " ]]
		on odroid-xu4 stat -C 0,4 -A -e "${many}cortex-a$few/r01/" \
			--timeout 50 -j -o report.json
		output=$(cat report.json)
		[ "$(of_json 'd["multiplexing"]["sets"] > 1')" = True ]
	done
}

@test "stat_A_says_which_cpu_the_list_has_no_event_for" {
	on odroid-xu4 stat -C 0,4 -A -e cortex-a15/r01/ -- true
	said "CPU0                  <not supported>  cortex-a15/r01/"
	[[ "$stderr" == *"CPU4                              500  cortex-a15/r01/"* ]]
	said "upmu stat: CPU 0 is no cortex-a15"
	# Of what each kind has by a name of its own only that is shown.
	on odroid-xu4 stat -C 0,4 -A -e cycles -x, -- true
	[ "$(grep -c "^CPU" <<<"$stderr")" = 2 ]
	[[ "$stderr" != *"not supported"* ]]
}

# Late, each allocation fails once: what then goes on uncounted has an end.
@test "stat_D_that_cannot_start_counting_obeys_timeout" {
	local module=${fake%/*}/fail_memory.so n start=$SECONDS
	[ -e "$module" ] || skip "this build has no fail_memory.so"
	for n in $(seq 15 60); do
		UPMU_FAKE="pi2 ordinary=1" LD_PRELOAD=$module FAIL_AT=$n \
			FAIL_OVER=over "$fake" stat -D 10 --timeout 40 \
			-e r01,r03,r04,r10 -- sleep 100 2>said || :
		grep -q "cannot count: Cannot allocate" said && : >late
		[ ! -e over ] || break
	done
	[ -e over ]
	[ -e late ]
	[ "$((SECONDS - start))" -lt 100 ]
}

@test "stat_r_and_compare_tell_of_others_in_any_run" {
	on "pi2 takes_turns=1 turns_until=3" stat -e cycles -- true
	said "others had the counters in 50.0 % of the time"
	on "pi2 takes_turns=1 turns_until=3" stat -r 3 -e cycles -- true
	said "others had the counters in up to 50.0 % of a run's time"
	on "pi2 takes_turns=1 turns_until=3" compare -r 4 -w 0 -e cycles \
		true -- true
	said "others had the counters in up to 50.0 % of a run's time: what came in it is estimated"
	on "pi2 takes_turns=1" compare -r 4 -j -e cycles true
	echo "$output" >saved.json
	[ "$(of_json 'd["time_lost_percent"]')" = 50.0 ]
	on pi2 compare saved.json
	said "others had the counters in up to 50.0 % of a run's time: what came in it is estimated"
	on "pi2 takes_turns=1" stat -r 2 -e cycles -j -o saved.json -- true
	on pi2 compare saved.json saved.json
	said "others had the counters in up to 50.0 % of a run's time: what came in it is estimated"
}

@test "compare_names_the_events_of_unlike_cores_to_one_that_asks" {
	on odroid-xu4 compare -r 4 -e cycles --fail-if 'cycles > 1%' true -- true
	[ "$status" -eq 2 ]
	said "hint: each kind of core has its own: cortex-a7/cycles/, cortex-a15/cycles/"
	on odroid-xu4 compare -r 4 -e cycles --fail-if 'instructions > 1%' true -- true
	said "hint: -e instructions, or as the report calls it: elapsed, user, sys, max_rss, cortex-a7/cycles/, cortex-a15/cycles/"
}

# ---- stat --regions ----

# A program of two processes whose regions counted the same in each event.
marks_regions() {
	cat >program <<-'E'
		#!/bin/sh
		echo "$UPMU_EVENTS" >>asked
		one() {	# RUNNING CALLS TOTAL MIN MAX
			echo "{ \"running\": $1, \"regions\": [ { \"region\": \"sort\", \"calls\": $2, \"events\": ["
			comma=
			for event in $(echo "$UPMU_EVENTS" | tr , ' '); do
				echo "$comma { \"event\": \"$event\", \"unit\": \"\", \"total\": $3, \"min\": $4, \"max\": $5, \"overhead\": 3 }"
				comma=,
			done
			echo '] } ] }'
		}
		one 1.0 2 100 40 60 >"${UPMU_REPORT%/*}/7.json"
		one 0.5 1 70 30 90 >"${UPMU_REPORT%/*}/8.json"
	E
	chmod +x program
}

@test "regions_have_as_many_passes_as_their_events_take" {
	marks_regions
	on odroid-xu4 stat --regions -- ./program
	[ "$status" -eq 0 ]
	[ "$(cat asked)" = "$(printf '%s\n' \
		cpu_cycles,inst_retired,l1i_cache_refill,l1d_cache,l1d_cache_refill \
		l1d_tlb_refill,l1i_tlb_refill,pc_write_retired br_mis_pred)" ]
	[ "$(grep -c "  170            56.7  " <<<"$stderr")" -eq 9 ]
}

@test "regions_have_each_pass_ended_by_timeout_and_none_after_a_signal" {
	marks_regions
	export UPMU_FAKE=pi2
	# A pass that is not ended would be waited for.
	run -124 timeout -s KILL 60 "$fake" stat --regions --timeout 50 -- sleep 300
	# Between two of them.
	on pi2 stat --regions --post 'kill -INT $$' -- ./program
	[ "$status" -eq 130 ]
	[ "$(wc -l <asked)" -eq 1 ]
	rm asked
	echo 'kill -TERM $$' >>program
	on pi2 stat --regions -- ./program
	[ "$status" -eq 143 ]
	[ "$(wc -l <asked)" -eq 1 ]
	said "1 of 3 sets of events had a run, the last one perhaps not to its end"
	on pi2 stat --regions -j -- ./program
	output=$stderr
	[ "$(of_json 'd["regions"]["passes"]')" = 1 ]
}

@test "sets_of_events_with_a_run_each_tell_of_a_time_out_of_any" {
	printf '#!/bin/sh\n[ -e ran ] || { touch ran; exec sleep 300; }\n' >first
	chmod +x first
	UPMU_FAKE=pi2 run -124 timeout -s KILL 60 "$fake" stat --passes \
		--timeout 50 -- ./first
	[[ "$output" == *"sets of events, a run for each"* ]]
	rm ran
	on pi2 stat --passes -r 2 --timeout 50 -- ./first
	[ "$status" -eq 0 ]
	said "upmu stat: ./first, mean of 2 runs; 1 ended by --timeout"
}

@test "regions_ask_for_an_event_of_unlike_cores_once_and_keep_its_mode" {
	marks_regions
	on odroid-xu4 stat --regions -e cycles,l1d_cache:u -- ./program
	[ "$(cat asked)" = cycles,l1d_cache:u ]
}

@test "regions_of_processes_are_added_up_by_their_least_and_most" {
	marks_regions
	on pi2 stat --regions -e cycles -j -- ./program
	output=$stderr
	[ "$(of_json 'd["regions"]["running_percent"], d["regions"]["passes"]')" = "(50.0, 1)" ]
	[ "$(of_json '[d["regions"]["regions"][0]["events"][0][k] for k in ("calls", "total", "min", "max", "overhead")]')" = "[3, 170, 30, 90, 3]" ]
	on pi2 stat --regions -e cycles -- ./program
	said "the events were counted in 50.0 % of the time only: others use the counters too,"
}

# ---- compare ----

@test "compare_calls_equal_counts_of_an_emulated_board_exactly_the_same" {
	on qemu-virt-32 compare -r 4 -e cycles true -- true
	[ "$status" -eq 0 ]
	said "  B                500        each run  ████████████████████████  exactly the same"
	said "on an emulated board: counts are its emulator's, no times of silicon"
	on pi2 compare -r 4 -e cycles true -- true
	[[ "$output" != *exactly* && "$output" != *emulat* ]]
	said "  B                500        each run  ████████████████████████  +0.00 % (+0.00 to +0.00)  no difference seen"
}

@test "compare_calls_nothing_exact_from_the_loss_on_that_it_tells_of" {
	local lost
	on qemu-virt-32 compare -r 4 -e cycles -j true -- true
	echo "$output" >saved.json
	for lost in 0.3 0.6; do
		python3 -c 'import json, sys
root = json.load(open("saved.json"))
root["time_lost_percent"] = float(sys.argv[1])
json.dump(root, open(sys.argv[1] + ".json", "w"))' $lost
	done
	on qemu-virt-32 compare 0.3.json
	[[ "$output" == *"exactly the same"* ]]
	[[ "$output" != *"others had the counters"* ]]
	on qemu-virt-32 compare 0.6.json
	[[ "$output" != *"exactly the same"* ]]
	[[ "$output" == *"others had the counters"* ]]
}

@test "compare_says_of_an_event_why_it_has_no_number" {
	on "pi2 perf_error=-16" compare -r 4 -e cycles true -- true
	[ "$status" -eq 0 ]
	said "<not supported>: cycles"
	said "another user holds the PMU: 'cycles' cannot be had"
	on "pi2 perf_error=-16" compare -r 4 -e cycles --format markdown true -- true
	said "| cycles | true | &lt;not supported> | | | |"
	said "|  | true | &lt;not supported> | | | |"
	said "- another user holds the PMU: 'cycles' cannot be had"
}

# ---- exec ----

@test "exec_runs_the_program_under_a_lease_and_returns_its_status" {
	on pi2 exec -- sh -c 'echo it; exit 3'
	[ "$status" -eq 3 ]
	[ "$output" = it ]
	[ -z "$stderr" ]
	UPMU_FAKE=pi2 run -127 --separate-stderr "$fake" exec -- /nonexistent
	said "upmu exec: cannot execute '/nonexistent': No such file or directory"
}

# As in a container, or in a debugger that follows it.
@test "exec_waits_for_a_program_that_it_may_not_trace" {
	nm "$fake" | grep -q __asan_init && skip "ASan wants to be loaded first"
	echo 'long ptrace(void) { return -1; }' >none.c
	cc -shared -fPIC -o none.so none.c
	LD_PRELOAD=$PWD/none.so on pi2 exec -- sh -c 'sleep 0.2; exit 3'
	[ "$status" -eq 3 ]
	LD_PRELOAD=$PWD/none.so on pi2 exec -- sh -c 'kill -TERM $$'
	[ "$status" -eq 143 ]
}

@test "exec_leases_cycles_or_all_for_the_program_and_its_children" {
	on "pi2 tell_lease=lease" exec -- true
	[ "$(cat lease)" = "mode 2 flags 3" ]
	on "pi2 tell_lease=lease" exec --raw -- true
	[ "$(cat lease)" = "mode 3 flags 3" ]
}

@test "exec_dies_of_the_programs_signal" {
	UPMU_FAKE=pi2 run sh -c '"$0" exec -- sh -c "kill -TERM \$\$"; echo "said $?"' "$fake"
	[[ "$output" == *"said 143"* ]]
}

@test "exec_says_who_has_the_registers" {
	on "pi2 lease_error=-16" exec -- touch ran
	[ "$status" -eq 125 ]
	said "upmu exec: cannot lease the registers: the mode CYCLES cannot be had: a perf event holds a counter"
	[ ! -e ran ]
}

@test "exec_needs_no_lease_where_the_registers_are_open_to_all" {
	on "pi2 lease_error=-16 info.open=2" exec -- touch ran
	[ "$status" -eq 0 ]
	[ -e ran ]
	on "pi2 lease_error=-16 info.open=1" exec -- true
	[ "$status" -eq 125 ]
}

@test "exec_warns_of_a_lease_that_was_broken" {
	on "pi2 info.lease_state=2" exec -- true
	[ "$status" -eq 0 ]
	said "upmu exec: do not trust the program's counts: the lease was broken: something took the registers away, counts since then are wrong"
}

@test "exec_tells_what_the_program_wrote" {
	on "pi2 info.lease_written=15" exec -- true
	said "upmu exec: the program stopped, divided or exported counters, switched counters on or off, changed what counters count, set counters that are not its own and were put right; its counts, and those of others, may lack a part"
	said "hint: upmu exec --raw"
	on "pi2 info.lease_written=4" exec -- true
	said "upmu exec: the program changed what counters count that are not its own and were put right; its counts, and those of others, may lack a part"
}

refused=(/usr/bin/python3 -c 'import ctypes, mmap, signal
code = mmap.mmap(-1, 4096, prot=7)
code.write(b"\x0f\x0b") # ud2
signal.signal(signal.SIGILL, signal.SIG_DFL)
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()')

@test "exec_says_that_an_instruction_was_refused" {
	on pi2 exec -- "${refused[@]}"
	[ "$status" -eq 132 ]
	said "upmu exec: the program executed an instruction that it may not; one that sets counters up itself wants all of them"
	said "hint: upmu exec --raw"
	on pi2 exec --raw -- "${refused[@]}"
	[ "$status" -eq 132 ]
	said "upmu exec: the program executed an instruction that it may not"
	[[ "$stderr" != *hint* ]]
}

@test "exec_blames_no_instruction_for_a_sigill_that_was_sent" {
	on pi2 exec -- sh -c 'kill -ILL $$'
	[ "$status" -eq 132 ]
	[ -z "$stderr" ]
}

opened="/proc/sys/kernel/perf_user_access=1"

@test "exec_opens_the_cycle_counter_by_perf_where_the_kernel_can" {
	on "pi5 device_error=-2 $opened" exec -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	[ -z "$stderr" ]
	on "pi5 $opened only_user=1" exec -- true
	[ "$status" -eq 0 ]
	said "upmu exec: the counter runs in user mode only: kernel.perf_event_paranoid is 2"
}

@test "exec_ends_a_program_that_perf_opens_nothing_to" {
	on "pi5 $opened perf_error=-16" exec -- touch ran
	[ "$status" -eq 125 ]
	said "upmu exec: cannot open the cycle counter to the program: another user holds the PMU: 'cycles' cannot be had"
	on "pi3-32-bare $opened" exec -- touch ran
	[ "$status" -eq 125 ]
	said "upmu exec: perf has no PMU on this machine"
	[ ! -e ran ]
}

# ---- the registers themselves ----

raw="pi3-32-bare registers=1"

@test "stat_counts_by_registers_where_perf_has_no_pmu" {
	UPMU_FAKE=$raw run --separate-stderr taskset -c 0 "$fake" stat \
		-e cycles,inst_retired -- sh -c 'grep Cpus_allowed_list /proc/$$/status'
	[ "$status" -eq 0 ]
	[ "$(cut -f2 <<<"$output")" = 0 ]
	said "                 508  inst_retired                # 1.018 CPI, 0.983 IPC"
	said "ran on 1 CPU meanwhile is in the numbers: the kernel, other processes, upmu."
	said "perf has no PMU here: counted by the registers themselves. Everything that"
	said "The program was kept on that CPU."
}

@test "each_report_says_that_it_is_by_registers" {
	on "$raw" stat -e cycles -x, -- true
	said "1,,by_registers,,,,,,,,,"
	on "$raw" stat -r 4 -e cycles -j -o stat.json -- true
	on "$raw" stat -I 10 -e cycles -j -o over.json -- sleep 0.03
	on "$raw" compare -r 4 -e cycles true -- true
	said "counted by the registers themselves: everything that ran on these CPUs is in the numbers"
	on "$raw" compare -r 4 -e cycles -j -o compare.json true -- true
	on "$raw" compare -x, stat.json compare.json
	grep -q '^by_registers,,,,1,' <<<"$output"
	for form in stat over compare; do
		"$fake" report -o page.html $form.json
		grep -q '"by_registers":true' page.html
	done
	on pi2 compare -r 4 -e cycles true -- true
	[[ "$output" != *registers* ]]
}

@test "stat_by_registers_says_of_no_pmu_that_it_is_not_there_nor_of_no_program" {
	on "pi2 registers=1 UPMU_SOURCE=raw" stat -C 0 -e cycles --timeout 20
	said "UPMU_SOURCE=raw: counted by the registers themselves. Everything that"
	[[ "$stderr" != *"The program"* ]]
}

@test "stat_adds_up_what_the_registers_of_several_cpus_counted" {
	[ "$(nproc)" -ge 2 ] || skip "this machine has one CPU"
	# Where it takes 50 ms they are read once more meanwhile.
	for _ in 1 2 3 4 5 6 7 8; do
		on "pi2 registers=1 UPMU_SOURCE=raw" stat -e cycles,inst_retired -C 0,1 -- true
		[[ "$stderr" != *" 1,034 "* ]] || break
	done
	said "               1,034  cycles                      # 0.001 GHz" ||
		said "               1,034  cycles                      # 0.000 GHz"
	said "               1,016  inst_retired                # 1.018 CPI, 0.983 IPC"
	said "ran on these 2 CPUs meanwhile is in the numbers: the kernel, other processes, upmu."
}

@test "stat_has_the_registers_take_turns_and_counts_some_all_the_time" {
	on "pi2 registers=1 UPMU_SOURCE=raw" stat -C 0 \
		-e inst_retired,l1d_cache,l1d_cache_refill,br_mis_pred,br_pred,mem_access -j -- sleep 0.3
	output=$stderr
	[ "$(of_json 'd["multiplexing"]["sets"]')" = 2 ]
	[ "$(of_json '[e["running_percent"] for e in d["events"] if e["event"] == "inst_retired"]')" = "[100.0]" ]
	# each reading is 500 and the code: inst_retired 508, the others' rates alike
	[ "$(of_json 'all(abs(e["value"] / d["events"][0]["value"] * 508 / (500 + code) - 1) < 0.1 for e, code in zip(d["events"], (0x08, 0x04, 0x03, 0x10, 0x12, 0x13)))')" = True ]
	[ "$(of_json 'all(30 < e["running_percent"] < 70 for e in d["events"][1:])')" = True ]
}

@test "stat_I_counts_by_registers_what_each_interval_had" {
	# a busy machine may keep upmu away for longer than an interval
	for length in 0.25 1 4; do
		on "pi2 registers=1 UPMU_SOURCE=raw" stat -C 0 -e inst_retired -I 100 -x, -- sleep $length
		[ "${#stderr_lines[@]}" -lt 3 ] || break
	done
	[ "${#stderr_lines[@]}" -ge 3 ]
	for line in "${stderr_lines[@]}"; do
		count=$(cut -d, -f2 <<<"$line")
		[ "$count" -gt 0 ]
		[ "$((count % 508))" -eq 0 ]
	done
}

@test "stat_counts_no_running_process_by_registers" {
	on "pi2 registers=1 UPMU_SOURCE=raw" stat -p $$ -e cycles --timeout 20
	said "     <not supported>  cycles"
	said "upmu stat: without perf only a command or whole CPUs can be counted, not a running process"
}

@test "stat_says_which_cpu_it_cannot_go_to" {
	on "pi2 registers=1 UPMU_SOURCE=raw" stat -C 0,1023 -e cycles -- true
	said "     <not supported>  cycles"
	said "upmu stat: without perf upmu itself goes to each CPU, and CPU 1023 does not let it in: Invalid argument"
}

@test "stat_says_who_may_not_have_the_registers" {
	on "pi2 registers=1 UPMU_SOURCE=raw lease_error=-13" stat -e cycles -- true
	said "     <not supported>  cycles"
	said "upmu stat: the mode RAW is for root: the module's parameter raw is 'root'"
	on "$raw info.lease_state=2" stat -e cycles -- true
	said "       <not counted>  cycles"
	on "pi2 UPMU_SOURCE=raw" stat -e cycles -- true
	said "upmu stat: counters are read by register on ARM processors only"
}

# ---- cost ----

# All events are ns of the clock there: what is taken off must come out alike.
@test "cost_takes_its_own_loop_off_counts_as_off_times" {
	on "pi2 by_time=1" cost -j
	[ "$status" -eq 0 ]
	[ "$(of_json 'sum("ns" in s for s in d["sources"])')" = 4 ]
	[ "$(of_json '[s["source"] for s in d["sources"] + [dict(d["region"], source="region")] if "ns" in s and not all(abs(s[e] / s["ns"] - 1) < 0.2 for e in ("cycles", "instructions"))]')" = "[]" ]
	[ "$(of_json 'd["emulated"], d["user_only"]')" = "(False, False)" ]
}

# Each reading counts 500 there and the loop 0, as disturbances can have it.
@test "cost_has_a_figure_where_the_loop_around_was_not_seen" {
	on pi2 cost -j
	[ "$(of_json '[s["instructions"] for s in d["sources"] if s["source"] == "read"]')" = "[500.0]" ]
	on "pi2 stands_still=1" cost -j
	[ "$(of_json '[s.get("instructions") for s in d["sources"] if s["source"] == "clock"]')" = "[None]" ]
}

@test "cost_says_what_its_counts_are_of" {
	on "pi2 by_time=1 only_user=1" cost -j
	[ "$(of_json 'd["emulated"], d["user_only"]')" = "(False, True)" ]
	on "qemu-virt-32 by_time=1" cost -j
	[ "$(of_json 'd["emulated"], d["user_only"]')" = "(True, False)" ]
}

# ---- regs ----

@test "regs_says_that_this_processor_has_none" {
	on pi2 regs
	[ "$status" -eq 1 ]
	said "upmu regs: this processor has no such registers"
}

@test "regs_shows_the_registers_now" {
	on "pi2 registers=1" regs
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "CPU "*", names of v7; PMUSERENR is as the lease of this command has it" ]]
	said "PMUSERENR = 0x00000001  permission  (p15, 0, <Rt>, c9, c14, 0)"
	said "PMCR = 0x41072011  control  (p15, 0, <Rt>, c9, c12, 0)"
	said "  15:11  N            4  event counters"
	said "PMCNTENSET = 0x80000002  which counters run; write 1: start  (p15, 0, <Rt>, c9, c12, 1)"
	said "  event counter 1  cycle counter"
	said "PMOVSR = 0x00000001  which overflowed; write 1: clear the flag  (p15, 0, <Rt>, c9, c12, 3)"
	said "PMSELR = 0x00000001  selection  (p15, 0, <Rt>, c9, c12, 5)"
	said "PMXEVTYPER of counter 0 = 0x00000008  what is counted  (p15, 0, <Rt>, c9, c13, 1)"
	said "PMXEVTYPER of counter 1 = 0x00000011  what is counted  (p15, 0, <Rt>, c9, c13, 1)"
	said "cycle counter                     12345678901"
	said "event counter 0                    4294967295"
	said "event counter 1                             7"
	said "PMINTENSET, PMINTENCLR: user mode may never read them"
	[[ "$output" != *"counter 2"* ]]
}

@test "regs_shows_of_an_arm1176_what_it_has" {
	on "pi2 registers=6" regs
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == "CPU "*", names of v6; "* ]]
	[ "${lines[1]}" = "PMUSERENR: user mode may never read it" ]
	said "PMCR = 0x00700001  control and events  (p15, 0, <Rt>, c15, c12, 0)"
	said "event counter 0                          1176"
	for name in PMCNTEN PMOVS PMSELR PMXEVTYPER PMINTEN "counter 2"; do
		[[ "$output" != *"$name"* ]]
	done
}

@test "regs_says_why_it_cannot_read_them" {
	on "pi2 registers=1 lease_error=-13" regs
	[ "$status" -eq 1 ]
	[[ "$stderr" == "upmu regs: cannot read the registers: the mode COUNT is refused"* ]]
	[ -z "$output" ]
	on "pi2 registers=1 closed=1" regs
	[ "$status" -eq 1 ]
	said "upmu regs: cannot read the registers: this kernel lets user mode read counters only"
	[ -z "$output" ]
	on "pi2 registers=1 lease_error=-13 /proc/sys/kernel/perf_user_access=1" regs
	[ "$status" -eq 1 ]
	said "upmu regs: cannot read the registers: this kernel lets user mode read counters only"
	said "hint: upmu regs PMCR=0x41072011 decodes a value"
	[ -z "$output" ]
}

@test "regs_stays_on_the_cpu_that_it_names" {
	UPMU_FAKE="pi2 registers=1" run taskset -c 0 "$fake" regs
	[[ "${lines[0]}" == "CPU 0, "* ]]
}
