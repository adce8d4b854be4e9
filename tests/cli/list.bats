#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu list, on this machine and on fixture trees of boards.

load crashes
bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	fixtures=$BATS_TEST_DIRNAME/../fixtures
	boards=$BATS_FILE_TMPDIR
}

# Ask as if this were another board.
on() {
	local board=$1

	shift
	[ -d "$boards/$board" ] || "$fixtures/unpack" "$boards" "$board"
	UPMU_ROOT=$boards/$board run "$upmu" list "$@"
}

# A value of the JSON in $output.
json() {
	python3 -c 'import json, sys
value = json.load(sys.stdin)
print(eval(sys.argv[1], {"v": value}))' "$1" <<<"$output"
}

@test "list_works_on_this_machine_whatever_it_is" {
	run "$upmu" list
	[ "$status" -eq 0 ]
	[[ "$output" == *"task-clock"* ]]
	run "$upmu" list -j
	[ "$status" -eq 0 ]
	json v
}

@test "list_shows_code_name_description_and_caveat" {
	on pi1
	[ "$status" -eq 0 ]
	[[ "$output" == "Arm ARM1176 (arm1176), CPU 0, PMU armv6_1176"* ]]
	[[ "$output" == *"0x09 dcache_access_cacheable"* ]]
	[[ "$output" == *"! only nonsequential accesses count"* ]]
	[[ "$output" == *"2 event counters and the cycle counter"* ]]
}

@test "list_groups_events_under_headings" {
	on pi3-64
	stalls=${output%%$'\nBranches'*}
	[[ "$stalls" == *$'\nStalls\n'* ]]
	[[ "$stalls" == *stall_sb_full* ]]
	[[ "$stalls" != *" br_pred "* ]]
	[[ "$output" == *$'\nL1 data cache\n'* ]]
}

@test "list_shows_every_kind_of_core_of_big_little" {
	on odroid-xu4
	[ "$status" -eq 0 ]
	[[ "$output" == *"(cortex-a7), CPU 0-3, PMU armv7_cortex_a7"* ]]
	[[ "$output" == *"(cortex-a15), CPU 4-7, PMU armv7_cortex_a15"* ]]
	on odroid-xu4 -j
	[ "$(json '[c["core"] for c in v]')" = "['cortex-a7', 'cortex-a15']" ]
}

@test "list_marks_what_a_core_leaves_out" {
	on pi3-64
	[[ "$output" == *$'\nx 0x1d bus_cycles'* ]]
	[[ "$output" == *$'\n  0x04 l1d_cache '* ]]
}

@test "list_marks_what_an_emulator_does_not_count" {
	on qemu-virt-32
	[[ "$output" == *$'\ne 0x04 l1d_cache '* ]]
	[[ "$output" == *$'\n  0x11 cpu_cycles '* ]]
	[[ "$output" == *"not counted by this emulator"* ]]
}

@test "list_does_not_believe_a_v7_kernel_that_publishes_all" {
	on pi2
	[[ "$output" != *ld_spec* ]]
}

@test "list_shows_what_the_kernel_publishes_beside_the_table" {
	on unknown-v8
	[[ "$output" == *"upmu has no table for this core"* ]]
	on unknown-v7
	[[ "$output" == *$'Published by the kernel, in no table\n  0x4d vendor_event'* ]]
}

@test "list_says_when_perf_has_no_pmu" {
	on pi3-32-bare
	[ "$status" -eq 0 ]
	[[ "$output" == *"perf has no PMU for this core"* ]]
	[[ "$output" == *"hint: upmu check"* ]]
	[[ "$output" == *"0 of "*" can be counted now"* ]]
}

@test "list_knows_other_cores_by_name_and_by_pmu_name" {
	run "$upmu" list --core cortex-a9
	[ "$status" -eq 0 ]
	[[ "$output" == *"0x68 instr_core_rename"* ]]
	[[ "$output" == *"note: No instructions retired"* ]]
	run "$upmu" list --core armv8_cortex_a53
	[[ "$output" == "Arm Cortex-A53 "* ]]
}

@test "list_names_the_known_cores_for_an_unknown_one" {
	run "$upmu" list --core cortex-b52
	[ "$status" -eq 1 ]
	[[ "$output" == *"no table for the core 'cortex-b52'"* ]]
	[[ "$output" == *"hint: known:"*" cortex-a53 "* ]]
}

@test "list_all_shows_every_core" {
	run "$upmu" list --all -j
	[ "$status" -eq 0 ]
	tables=$(cat "$BATS_TEST_DIRNAME"/../../lib/events/tables/*.events |
		grep -cE '^(core [a-z]|common [a-z])')
	[ "$(json 'len(v)')" = "$tables" ]
	[ "$(json 'all(e["description"] for c in v for e in c["events"])')" = True ]
	[ "$(json 'all(c["counters"] > 0 for c in v)')" = True ]
}

@test "list_search_finds_words_in_name_description_and_caveat" {
	run "$upmu" list --core arm1176 --search NONSEQUENTIAL
	[ "$status" -eq 0 ]
	[[ "$output" == *0x09* ]]
	[[ "$output" == *0x0a* ]]
	[[ "$output" != *0x07* ]]
	run "$upmu" list --core arm1176 --search 0x0b
	[[ "$output" == *dcache_miss* ]]
	[[ "$output" != *dcache_wback* ]]
}

@test "each_search_is_one_more_word_to_have" {
	run "$upmu" list --core cortex-a72 --search l2 --search refill
	[ "$status" -eq 0 ]
	[[ "$output" == *"0x17 l2d_cache_refill"* ]]
	[[ "$output" != *"0x16 l2d_cache "* ]]
	[[ "$output" != *"0x03 l1d_cache_refill"* ]]
	# shellcheck disable=SC2046 # words
	run "$upmu" list --core cortex-a72 $(printf -- '--search a %.0s' {1..64})
	[ "$status" -eq 0 ]
	# shellcheck disable=SC2046 # words
	run "$upmu" list --core cortex-a72 $(printf -- '--search a %.0s' {1..65})
	[ "$status" -eq 2 ]
	[[ "$output" == *"more than 64 words"* ]]
}

@test "json_of_an_event_of_the_kernel_says_whose_it_is" {
	run --separate-stderr "$upmu" list -j page-faults
	[ "$status" -eq 1 ]
	[ "$output" = "[]" ]
	[[ "$stderr" == *"'page-faults' is the kernel's"* ]]
	[[ "$stderr" == *"hint: upmu list without -j"* ]]
	run "$upmu" list page-faults
	[ "$status" -eq 0 ]
	run "$upmu" list -j --core cortex-a72 page-faults
	[[ "$output" == *"no event has 'page-faults'"* ]]
}

@test "list_search_without_a_hit_fails" {
	run "$upmu" list --core arm1176 --search xyzzy
	[ "$status" -eq 1 ]
	[[ "$output" == *"no event has 'xyzzy'"* ]]
	[[ "$output" == *"hint: --all searches every core"* ]]
}

@test "list_json_has_the_promised_keys" {
	run "$upmu" list --core cortex-a7 -j
	[ "$status" -eq 0 ]
	[ "$(json 'v["core"], v["counters"]')" = "('cortex-a7', 4)" ]
	[ "$(json '[e["code"] for e in v["events"] if e["name"] == "l1d_cache"]')" = "[4]" ]
	[ "$(json '[e["countable"] for e in v["events"]][0]')" = None ]
	[ "$(json 'sorted(v["events"][0])')" = "['caveat', 'code', 'countable', 'description', 'group', 'name', 'nearly_alike', 'now', 'source']" ]
}

@test "list_json_says_what_cannot_be_counted" {
	on qemu-virt-64 -j
	[ "$(json '[e["countable"] for e in v["events"] if e["name"] == "l1d_cache"]')" = "[False]" ]
	[ "$(json '[e["now"] for e in v["events"] if e["name"] == "l1d_cache"]')" = "['not emulated']" ]
}

@test "list_tells_what_a_core_can_count_apart" {
	run "$upmu" list --core cortex-a15
	[[ "$output" == *"apart: user (:u) kernel (:k) hypervisor (:h)"* ]]
	run "$upmu" list --core cortex-a5
	[[ "$output" == *"cannot tell user from kernel: no :u, no :k"* ]]
	run "$upmu" list -j --core cortex-a15
	[ "$(json 'v["filters"]')" = "['user', 'kernel', 'hyp']" ]
	run "$upmu" list -j --core apple-firestorm
	[ "$(json 'v["filters"]')" = "['user', 'kernel']" ]
	run "$upmu" list -j --core cortex-a5
	[ "$(json 'v["filters"]')" = "[]" ]
}

@test "fit_says_one_set_where_all_fit" {
	run "$upmu" list --core cortex-a7 --fit cycles,instructions,l1d_cache
	[ "$status" -eq 0 ]
	[[ "$output" == *"all the time: cycles"* ]]
	[[ "$output" == *"set 1: instructions, l1d_cache"* ]]
	[[ "$output" == *"1 set: everything is counted all the time"* ]]
}

@test "fit_has_one_cycle_counter" {
	run "$upmu" list --core cortex-a7 --fit cycles,cycles:u,r1,r3,r4,r5
	[[ "$output" == *"all the time: cycles"$'\n'*"2 sets take turns"* ]]
}

@test "fit_says_which_events_share_a_set" {
	run "$upmu" list --core arm1176 --fit 'cycles,{r9,rb},r4,rf,task-clock'
	[ "$status" -eq 0 ]
	[[ "$output" == *"all the time: cycles, task-clock"* ]]
	[[ "$output" == *"set 1: r9, rb"* ]]
	[[ "$output" == *"set 2: r4, rf"* ]]
	[[ "$output" == *"2 sets take turns"* ]]
}

@test "fit_tells_each_kind_of_core" {
	on odroid-xu4 --fit ld_retired,cycles
	[ "$status" -eq 0 ]
	[[ "$output" == *"set 1: cortex-a7/ld_retired/"* ]]
	[[ "$output" == *"not there: cortex-a15/ld_retired/"* ]]
}

@test "fit_refuses_a_group_that_can_never_run" {
	run "$upmu" list --core arm1176 --fit '{r1,r2,r3}'
	[ "$status" -eq 1 ]
	[[ "$output" == *"arm1176 has 2 event counters"* ]]
}

@test "fit_names_an_unknown_event_and_its_neighbours" {
	run "$upmu" list --core cortex-a53 --fit cycles,l1d_cach
	[ "$status" -eq 1 ]
	[[ "$output" == *"event 2 of the list, 'l1d_cach'"* ]]
	[[ "$output" == *"hint: did you mean l1d_cache"* ]]
}

@test "list_refuses_what_it_does_not_know" {
	run "$upmu" list --nonsense
	[ "$status" -eq 2 ]
	[[ "$output" == "upmu list: unrecognized option '--nonsense'"* ]]
	[[ "$output" == *"hint: upmu list --help"* ]]
}

@test "list_finds_events_that_have_every_word" {
	run "$upmu" list --core cortex-a7 L2 CACHE miss
	[ "$status" -eq 0 ]
	[[ "$output" == *"0x17 l2d_cache_refill"* ]]
	[[ "$output" != *"0x03 l1d_cache_refill"* ]]
	[[ "$output" != *"0x01 l1i_cache_refill"* ]]
	run "$upmu" list --core cortex-a7 cache xyzzy
	[ "$status" -eq 1 ]
	[[ "$output" == *"no event has 'cache' and 'xyzzy'"* ]]
}

@test "list_finds_what_perf_and_papi_and_likwid_call_it" {
	for word in branch-misses PAPI_BR_MSP BR_MIS_PRED:PMC2 r10 0x10; do
		run "$upmu" list --core cortex-a53 $word
		[ "$status" -eq 0 ]
		[[ "$output" == *"0x10 br_mis_pred"* ]]
		[[ "$output" != *"0x12 br_pred"* ]]
	done
	run "$upmu" list --core cortex-a72 L1D_CACHE_LD
	[[ "$output" == *"0x40 l1d_cache_rd"* ]]
	[[ "$output" != *"0x41 "* ]]
	run "$upmu" list --core arm1176 PAPI_L1_DCM
	[[ "$output" == *"0x0b dcache_miss"* ]]
}

@test "list_says_what_perf_counts_and_what_is_nearer" {
	run "$upmu" list --core neoverse-n2
	[[ "$output" == *"branch-misses "*"0x10 br_mis_pred; br_mis_pred_retired is nearer"* ]]
	run "$upmu" list --core cortex-a53
	line=$(grep "^  branch-misses " <<<"$output")
	[ "$line" = "  branch-misses            0x10 br_mis_pred" ]
	run "$upmu" list --core neoverse-n2 -j
	[ "$(json '[(p["code"], p["nearer"]) for p in v["perf_names"] if p["name"] == "branch-misses"]')" = "[(16, 'br_mis_pred_retired')]" ]
}

@test "list_knows_a_core_by_the_name_of_its_variant" {
	for pair in cortex-a76ae:cortex-a76 kryo-2xx-silver:cortex-a53 \
		ampereone:ampere-1 phytium-ftc663:common-armv8; do
		run "$upmu" list --core "${pair%:*}"
		[ "$status" -eq 0 ]
		[[ "$output" == *"(${pair#*:})"* ]]
		[[ "$output" == *"serves too: "*"${pair%:*}"* ]]
	done
	[[ "$output" == *"No list of their own events is public"* ]]
}

@test "explain_tells_all_of_one_event_by_any_name" {
	run "$upmu" list --core neoverse-n1 --explain PAPI_BR_MSP
	[ "$status" -eq 0 ]
	[[ "$output" == "br_mis_pred, 0x10 of Arm Neoverse N1"* ]]
	[[ "$output" == *"beware"*"wrong path"* ]]
	[[ "$output" == *"also called"*"branch-misses"* ]]
	[[ "$output" == *"nearly alike"*"0x22 br_mis_pred_retired"* ]]
	[[ "$output" == *"cores with it"*"neoverse-v3"* ]]
	[[ "$output" == *"source"* ]]
	run "$upmu" list --core neoverse-n1 --explain branch-misses
	[[ "$output" == *"perf "*"branch-misses counts 0x10 br_mis_pred; br_mis_pred_retired"* ]]
	run "$upmu" list --core neoverse-n1 --explain br_mis_pred_retired
	[[ "$output" == *"in formulas"*"mispredict_percent"* ]]
	run "$upmu" list --core cortex-a53 --explain inst_retired
	[[ "$output" == *"Erratum 855827"* ]]
	[[ "$output" == *"boards "*"a53: exactly, one instruction in one cycle"* ]]
	[[ "$output" == *"boards "*"big64: by a model of the core, not by silicon"* ]]
}

@test "explain_tells_each_kind_of_core_of_this_machine" {
	on odroid-xu4 --explain dTLB-load-misses
	[ "$status" -eq 0 ]
	[[ "$output" == *"l1d_tlb_refill, 0x05 of Arm Cortex-A7"* ]]
	[[ "$output" == *"l1d_tlb_refill_rd, 0x4c of Arm Cortex-A15"* ]]
	on pi3-64 --explain bus_cycles
	[[ "$output" == *"counted here"*"not implemented"* ]]
}

@test "explain_of_nothing_known_says_where_to_look" {
	run "$upmu" list --core cortex-a53 --explain xyzzy
	[ "$status" -eq 1 ]
	[[ "$output" == *"no event of this core is called 'xyzzy'"* ]]
	[[ "$output" == *"hint: upmu list --all 'xyzzy'"* ]]
	run "$upmu" list --core cortex-a53 --explain node-prefetches
	[ "$status" -eq 1 ]
	run "$upmu" list --explain cycles --fit cycles
	[ "$status" -eq 2 ]
}

@test "explain_of_another_core_takes_the_names_of_its_pmu" {
	for name in armv8_cortex_a72/br_mis_pred/ cortex-a72/branch-misses/u \
		armv8_cortex_a72/event=0x10/ armv8_cortex_a72/r10/; do
		run "$upmu" list --core cortex-a72 --explain "$name"
		[ "$status" -eq 0 ]
		[[ "$output" == "br_mis_pred, 0x10 of Arm Cortex-A72 "* ]]
	done
	for name in armv8_cortex_a53/br_mis_pred/ armv8_cortex_a72/event=0x/ \
		armv8_cortex_a72/event=0x10000/ armv8_cortex_a72/evnt=0x10/; do
		run "$upmu" list --core cortex-a72 --explain "$name"
		[ "$status" -eq 1 ]
	done
	# Where the core has a PMU, that one's name counts.
	on graviton2 --explain armv8_neoverse_n1/br_mis_pred/
	[ "$status" -eq 1 ]
}

@test "explain_takes_every_way_to_write_an_event" {
	for event in 0x10 r10 BR_MIS_PRED br_mis_pred:u branch-misses PAPI_BR_MSP \
		armv8_cortex_a53/br_mis_pred/ cortex-a53/br_mis_pred/u \
		armv8_cortex_a53/event=0x10/ BR_MIS_PRED:PMC0; do
		on pi3-64 --explain "$event"
		[ "$status" -eq 0 ]
		[[ "$output" == "br_mis_pred, 0x10 of Arm Cortex-A53"* ]]
	done
	on odroid-xu4 --explain cortex-a15/l1d_cache/
	[[ "$output" == "l1d_cache, 0x04 of Arm Cortex-A15"* ]]
	[[ "$output" != *"of Arm Cortex-A7"* ]]
	on pi3-64 --explain rff
	[[ "$output" == "rff"*"as 0xff: a code that no table has"* ]]
	on unknown-v7 --explain vendor_event # published by the kernel alone
	[[ "$output" == "vendor_event"*"as 0x"*": a code that no table has"* ]]
}

@test "explain_refuses_what_is_no_code" {
	for event in r1000000010 "r 10" r-1 r+10 r0x10 r 0x 0x10g 0x1000000010; do
		on pi3-64 --explain "$event"
		[ "$status" -eq 1 ]
		[[ "$output" == *"no event of this machine is called"* ]]
	done
}

@test "explain_knows_the_kernels_own_events" {
	for board in pi3-64 pc apple-m1; do
		on "$board" --explain page-faults
		[ "$status" -eq 0 ]
		[[ "$output" == "page-faults, of the kernel"*"minor or major"* ]]
	done
	on pc --explain cycles
	[ "$status" -eq 0 ]
	[[ "$output" == *"kernel's driver"* ]]
}

@test "explain_sends_to_the_cores_that_have_the_event" {
	on pi3-64 --explain br_retired
	[ "$status" -eq 1 ]
	[[ "$output" == *"it is an event of"*" more: upmu list --core "* ]]
	run bash -c "$upmu ${output##*: upmu }"
	[ "$status" -eq 0 ]
	[[ "$output" == "br_retired, 0x21 of "* ]]
	on pi3-64 --explain br_mis_pre
	[[ "$output" == *"did you mean br_mis_pred?"* ]]
	on pi3-64 --explain ""
	[ "$status" -eq 1 ]
	[ "${lines[1]}" = "hint: upmu list" ]
	on pi3-64 --explain "$(printf '%03000d' 0)"
	[ "$status" -eq 1 ]
	[ ${#output} -lt 300 ]
}

@test "explain_tells_of_a_name_that_perf_counts_nothing_for" {
	on pi4-32-on-64 --explain branches
	[ "$status" -eq 1 ]
	[[ "$output" == *"'branches' on cortex-a72: perf counts nothing;"* ]]
	[[ "$output" == *"br_pred is nearest" ]]
	run "$upmu" list --core cortex-a76 --explain branches
	[[ "$output" == *"0x21 br_retired, before Linux 6.4 nothing"* ]]
	run "$upmu" list --core cortex-a55
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"0x21 br_retired, before Linux 6.12 0x0c pc_write_re"* ]]
	run "$upmu" list --core apple-firestorm --explain branches
	[[ "$output" == *"before Linux 6.15 nothing"* ]]
	run "$upmu" list --core cortex-a53 --explain branches
	[[ "$output" == *"0x0c pc_write_retired"* && "$output" != *before* ]]
}

@test "the_kernel_that_runs_says_what_perfs_names_count" {
	boards=$BATS_TEST_TMPDIR
	"$fixtures/unpack" "$boards" pi5
	mkdir -p "$boards/pi5/proc/sys/kernel"
	kernel=$boards/pi5/proc/sys/kernel/osrelease
	echo 6.1.0-rpi8 >"$kernel"
	on pi5 --explain branches
	[ "$status" -eq 1 ]
	[[ "$output" == *"perf counts nothing; br_retired is nearest" ]]
	on pi5
	[[ "$output" == *" branches  "*" nothing; br_retired is nearest"* ]]
	on pi5 -j
	[[ $(json '[n["code"] for n in v["perf_names"]
		if n["name"] == "branches"]') == "[None]" ]]
	echo 6.6.51+rpt-rpi-2712 >"$kernel"
	on pi5 --explain branches
	[ "$status" -eq 0 ]
	[[ "$output" == *"branches counts 0x21 br_retired"* ]]
	[[ "$output" != *"before Linux"* ]]
}

@test "what_a_named_core_leaves_out_is_explained_as_left_out" {
	on orion-o6 --explain cortex-a520/l2d_cache/
	[[ "$output" == *"nothing: this kind of core"* ]]
	[[ "$output" != *0xffff* ]]
}

# Linux counts 0x10011 there, a code that no table of ours can hold.
@test "what_no_table_has_is_not_said_to_count_nothing" {
	run "$upmu" list --core krait --explain L1-icache-loads
	[ "$status" -eq 1 ]
	[[ "$output" == *"nothing that this core's table lists"* ]]
}

@test "what_the_pmu_leaves_out_perf_counts_nothing_for" {
	on pi3-64 --explain iTLB-load-misses
	[[ "$output" == *"iTLB-load-misses counts 0x02 l1i_tlb_refill"* ]]
	on pi3-64 --explain bus-cycles
	[ "$status" -eq 0 ]
	[[ "$output" == *"bus-cycles counts nothing: 0x1d bus_cycles is not in"* ]]
	on pi3-64 -j
	[[ $(json '[n for n in v["perf_names"] if n["name"] == "bus-cycles"]') == "[]" ]]
}

@test "perfs_names_are_those_of_the_driver_that_counts" {
	on pi3-64
	[[ "$output" != *"L1-dcache-stores "* ]]
	on pi3-32 # a Cortex-A53 under the driver for the Cortex-A7
	[[ "$output" == *"L1-dcache-stores "*"0x04 l1d_cache"* ]]
	on pi3-32 --explain L1-dcache-stores
	[ "$status" -eq 0 ]
	# An A53 by its own driver, and by the one for any PMUv3.
	on pi3-64 --explain node-loads
	[[ "$output" == *"node-loads counts 0x60 bus_access_rd"* ]]
	boards=$BATS_TEST_TMPDIR
	"$fixtures/unpack" "$boards" pi3-64
	mv "$boards/pi3-64/sys/bus/event_source/devices/armv8_cortex_a53" \
		"$boards/pi3-64/sys/bus/event_source/devices/armv8_pmuv3_0"
	on pi3-64 --explain node-loads
	[ "$status" -eq 1 ]
	[[ "$output" == *"'node-loads' on cortex-a53: perf counts nothing"* ]]
}

@test "papis_names_are_those_of_papi_on_that_core" {
	for case in neoverse-n1/PAPI_BR_INS/br_pred cortex-a7/PAPI_BR_INS/pc_write \
		neoverse-v2/PAPI_BR_MSP/br_mis_pred_retired \
		cortex-a9/PAPI_TOT_INS/ cortex-a53/PAPI_HW_INT/exc_taken \
		krait/PAPI_BR_INS/pc_write_retired \
		emag/PAPI_BR_INS/pc_write_spec emag/PAPI_LD_INS/mem_acc; do
		IFS=/ read -r core name event <<<"$case"
		run "$upmu" list --core "$core" --explain "$name"
		[ "$status" -eq 0 ]
		[[ "$output" == "$event"* ]]
		[[ "$output" == *"also called"*"$name"* ]]
	done
	run "$upmu" list --core cortex-a72 --explain PAPI_L1_DCM
	[ "${lines[0]}" = "PAPI_L1_DCM on cortex-a72: l1d_cache_refill_rd +\
 l1d_cache_refill_wr" ]
	run "$upmu" list --core cortex-a72 PAPI_L1_DCM
	[[ "$output" == *"0x42 l1d_cache_refill_rd"*"0x43 l1d_cache_refill_wr"* ]]
	run "$upmu" list --core cortex-a72 --explain PAPI_TLB_XY
	[ "$status" -eq 1 ]
}

@test "likwids_names_are_found_where_they_are_its_own" {
	run "$upmu" list --core neoverse-v1 --explain CACHE_RD_REFILL:PMC1
	[[ "$output" == "l2d_cache_refill_rd, 0x52 of Arm Neoverse V1"* ]]
	run "$upmu" list --core thunderx2 --explain OP_RETIRED
	[[ "$output" == "uops_retired, 0xe8"* ]]
}

@test "what_other_tools_call_events_are_events_of_their_core" {
	python3 - "$BATS_TEST_DIRNAME/../.." <<-'END'
		import re, sys
		root = sys.argv[1]
		sys.path.insert(0, root + "/lib/events")
		import tables
		rows = {t.name: {r.name for r in t.rows.values()}
		        for t in tables.read_all(root + "/lib/events/tables")}
		text = open(root + "/tools/list/others.c").read()
		found = 0
		for cores, names in re.findall(
		        r'\{ "([a-z0-9 -]+)",\s*((?:"[^"]*"\s*)+)\}', text):
		    for pair in "".join(re.findall(r'"([^"]*)"', names)).split():
		        for event in re.split("[+-]", pair.partition("=")[2]):
		            for core in cores.split():
		                assert event in rows[core], (core, pair)
		                found += 1
		assert found > 450, found
	END
}

emulated() {	# NAME: it as a board whose models are told by files of $model
	board=$BATS_TEST_TMPDIR/$1
	model=$board/sys/firmware/devicetree/base/upmu-model
	"$fixtures/unpack" "$BATS_TEST_TMPDIR" "$1"
	mkdir -p "$model"
}

@test "explain_tells_what_the_boards_model_counts" {
	emulated pi2
	printf 'Cortex-A7\0L1D 32 KiB\0003 10\0\0' >"$model/cortex-a7"
	UPMU_ROOT=$board run "$upmu" list --explain l1d_cache_refill
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"model counted by this board's model of the Cortex-A7 (L1D"* ]]
	UPMU_ROOT=$board run "$upmu" list --explain l1i_cache_refill
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"model not counted by this board's model of the Cort"* ]]
	printf 'Cortex-A7\0' >"$model/cortex-a7"
	printf 'no plugins\0' >"$model/refused"
	UPMU_ROOT=$board run "$upmu" list --explain l1d_cache_refill
	[[ "$output" == *"of the Cortex-A7, refused: no plugins"* ]]
	on pi2 --explain l1d_cache_refill
	[[ "$output" == *"this machine has none: its counts are the silicon's"* ]]
}

@test "explain_tells_which_emulated_boards_count_it_and_how" {
	explain() {
		run "$upmu" list --core "$1" --explain "$2"
		[ "$status" -eq 0 ]
	}
	explain cortex-a7 l1d_cache_refill
	[[ "$output" == *"boards        a7: by a model of the core"* ]]
	[[ "$output" == *"boards        big: by a model of the core"* ]]
	explain cortex-a15 cpu_cycles
	[[ "$output" == *"boards        a15 quad rt big: by the emulator's clock"* ]]
	explain cortex-a7 sw_incr
	[[ "$output" == *"boards        a7: by QEMU itself"* ]]
	explain cortex-a53 stall_sb_full
	[[ "$output" == *"boards        a53: not counted"* ]]
	explain arm1176 dcache_miss
	[[ "$output" == *"boards        pi0: by a model of the core"* ]]
	explain arm1176 ddep_stall
	[[ "$output" == *"boards        pi0: not counted"* ]]
	explain cortex-x4 l1d_cache
	[[ "$output" == *"no emulated board has this core"* ]]
	[[ "$output" != *" model "* ]]
}

@test "explain_in_json_has_what_the_text_has" {
	run "$upmu" list --core cortex-a72 --explain PAPI_L1_DCM -j
	[ "$status" -eq 0 ]
	[ "$(json 'v["asked"], [(e["sign"], e["name"]) for e in v["events"]]')" = "('PAPI_L1_DCM', [('+', 'l1d_cache_refill_rd'), ('+', 'l1d_cache_refill_wr')])" ]
	[ "$(json 'v["events"][0]["boards"]')" = "[{'board': 'a72', 'counts': 'modelled'}, {'board': 'big64', 'counts': 'modelled'}]" ]
	[ "$(json '"now" in v["events"][0]')" = False ]
	run "$upmu" list --core cortex-a76 --explain PAPI_L1_DCH --json
	[ "$(json '[e["sign"] for e in v["events"]]')" = "['+', '-']" ]
	on rk3399 -j --explain branch-misses
	[ "$(json '[(e["core"], e["cpus"], e["perf_counts"]) for e in v["events"]]')" = "[('cortex-a53', '0-3', '0x10 br_mis_pred'), ('cortex-a72', '4-5', '0x10 br_mis_pred')]" ]
	[ "$(json 'v["events"][0]["formulas"]')" = "['mispredict_percent']" ]
	[ "$(json '"cortex-a9" in v["events"][0]["cores"]')" = True ]
	[ "$(json 'sorted(v["events"][0])')" = "['also_called', 'boards', 'caveat', 'code', 'core', 'cores', 'cpus', 'description', 'formulas', 'kind', 'manuals', 'model', 'name', 'nearly_alike', 'notes', 'now', 'perf_counts', 'reason', 'sign', 'source', 'title']" ]
	on pi3-64 --explain page-faults -j
	[ "$(json '[(e["kind"], e["name"]) for e in v["events"]]')" = "[('software', 'page-faults')]" ]
	on pi3-64 --explain rff -j
	[ "$(json 'v["events"][0]["kind"]')" = raw ]
}

@test "explain_in_json_of_nothing_known_has_no_events" {
	for name in xyzzy $'\xff' ''; do
		run --separate-stderr "$upmu" list --core cortex-a53 -j --explain "$name"
		[ "$status" -eq 1 ]
		[ "$(json 'v["events"]')" = "[]" ]
		# shellcheck disable=SC2154 # set by run
		[[ "$stderr" == *"no event of this core is called"* ]]
	done
}

@test "a_search_shows_what_is_nearly_the_same" {
	run "$upmu" list --core neoverse-n1 0x10
	[[ "$output" == *"~ nearly the same: 0x22 br_mis_pred_retired"* ]]
	run "$upmu" list --core cortex-a76 branch miss
	[[ "$output" == *br_mis_pred_retired* ]]
	run "$upmu" list --core cortex-a72 cache miss
	[ "$status" -eq 0 ]
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"nearly the same: 0x42 l1d_cache_refill_rd, 0x43 l1d_cache_refill_wr"* ]]
	run "$upmu" list --core cortex-a72
	[[ "$output" != *"nearly the same"* ]]
	run "$upmu" list --core cortex-a72 0x03 -j
	[ "$(json '[e["name"] for e in v["events"][0]["nearly_alike"]]')" = "['l1d_cache_refill_rd', 'l1d_cache_refill_wr']" ]
	# Reads are not nearly writes.
	run "$upmu" list --core cortex-a72 0x42 -j
	[ "$(json '[e["name"] for e in v["events"][0]["nearly_alike"]]')" = "['l1d_cache_refill']" ]
}

@test "each_of_unlike_cores_has_the_events_of_its_own_model" {
	emulated odroid-xu4
	printf 'Cortex-A7\0L1D 4 ways\0003 10\0' >"$model/cortex-a7"
	printf 'Cortex-A15\0L1D 2 ways\0004\0\0' >"$model/cortex-a15"
	UPMU_ROOT=$board run "$upmu" list --explain l1d_cache_refill
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"model counted by this board's model of the Cortex-A7 (L1D 4"* ]]
	[[ "$text" == *"model not counted by this board's model of the Cortex-A15 (L1D 2"* ]]
	UPMU_ROOT=$board run "$upmu" check
	text=$(tr -s ' \n' ' ' <<<"$output")
	[[ "$text" == *"a model of a Cortex-A7 (L1D 4 ways)"* ]]
	[[ "$text" == *"a model of a Cortex-A15 (L1D 2 ways)"* ]]
}

@test "a_model_is_told_with_its_article" {
	emulated pi1
	printf 'ARM1176JZF-S\0L1D 4 ways\0003 10\0' >"$model/arm1176"
	UPMU_ROOT=$board run "$upmu" check
	[[ "$(tr -s ' \n' ' ' <<<"$output")" == *"a model of an ARM1176JZF-S (L1D 4 ways)"* ]]
}

@test "all_finds_the_kernels_own_events_by_word_too" {
	on pi2 --all task-clock
	[ "$status" -eq 0 ]
	[[ "$output" == *task-clock* ]]
}

@test "a_core_is_found_by_its_midr" {
	for pair in 0x410fd034:cortex-a53 0x00000000413fd0c1:neoverse-n1 \
		0x510f8041:cortex-a76 0x610f0230:apple-firestorm; do
		run "$upmu" list --core "${pair%:*}"
		[ "$status" -eq 0 ]
		[[ "$output" == *"(${pair#*:})"* ]]
	done
	for wrong in 0x41 0xd03 0x410ffff0 0x1410fd034 ""; do
		run "$upmu" list --core "$wrong"
		[ "$status" -eq 1 ]
	done
}

@test "list_refuses_options_that_do_not_go_together" {
	run "$upmu" list --all --core arm1176
	[ "$status" -eq 2 ]
	[[ "$output" == *"--all and --core do not go together"* ]]
	for option in --all -j "--search x"; do
		# shellcheck disable=SC2086 # one option and its word
		run "$upmu" list --fit cycles $option
		[ "$status" -eq 2 ]
		[[ "$output" == *"--fit and"*"do not go together"* ]]
	done
}

@test "list_help_names_every_option" {
	run "$upmu" list --help
	[ "$status" -eq 0 ]
	for option in --core --all --search --fit --explain --json; do
		[[ "$output" == *"$option"* ]]
	done
}

@test "a_core_by_a_name_that_is_nearly_right_is_suggested" {
	for name in a72 A72 'Cortex A72' cortexa72 Cortex_A72; do
		run "$upmu" list --core "$name" tlb
		[ "$status" -eq 1 ]
		[[ "$output" == *"hint: did you mean cortex-a72?"* ]]
	done
	run "$upmu" list --core a78c
	[[ "$output" == *"hint: did you mean cortex-a78c?"* ]]
	run "$upmu" list --core apple-m1
	[[ "$output" == *"did you mean apple-firestorm, apple-icestorm?"* ]]
	for name in xyzzy '' -- 0xd08; do
		run "$upmu" list --core "$name"
		[ "$status" -eq 1 ]
		[[ "$output" == *"hint: known: "*" cortex-a72 "* ]]
	done
}

@test "quoted_words_are_words" {
	run "$upmu" list --core cortex-a72 'cache miss'
	[ "$status" -eq 0 ]
	[[ "$output" == *"0x03 l1d_cache_refill"* ]]
	run "$upmu" list --core cortex-a72 --search ' l2 	 cache miss '
	[[ "$output" == *"0x17 l2d_cache_refill"* ]]
	[[ "$output" != *"0x03 l1d_cache_refill"* ]]
	run "$upmu" list --core cortex-a72 "$(printf 'a%.0s ' {1..65})"
	[ "$status" -eq 2 ]
	[[ "$output" == *"more than 64 words"* ]]
	run "$upmu" list --core neoverse-n1 mispredicts
	[[ "$output" == *"0x22 br_mis_pred_retired"* ]]
}

@test "what_nobody_would_type_is_refused_in_one_line" {
	long=$(head -c 10000 /dev/zero | tr '\0' a)
	for word in "$long" '[abc' '.*' '%s%n' 'a\b' $'\xff\xfe' größe; do
		run "$upmu" list --core cortex-a72 "$word"
		[ "$status" -eq 1 ]
		[ "${#output}" -lt 200 ]
		[[ "$output" == "upmu list: no event has '"* ]]
	done
}

@test "explain_without_a_machine_names_a_core_of_a_board" {
	on pc --explain l1d_cache_refill
	[ "$status" -eq 1 ]
	[[ "$output" == *"upmu list --core cortex-a15 --explain l1d_cache_refill"* ]]
}

# Cores whose public lists name the bit; Neoverse N1, V1 and E1 have none.
@test "last_level_reads_say_what_decides_which_cache_is_meant" {
	for core in c1-nano c1-pro c1-premium c1-ultra cortex-a510 cortex-a520 \
		cortex-a710 cortex-a715 cortex-a720 cortex-a725 cortex-x2 \
		cortex-x3 cortex-x4 cortex-x925 neoverse-n2 neoverse-n3 \
		neoverse-v2 neoverse-v3; do
		for code in 0x36 0x37; do
			run "$upmu" list --core "$core" "$code"
			[[ "$output" == *EXTLLC* ]] || {
				echo "$core $code: $output"
				return 1
			}
		done
	done
}

# A machine of 256 CPUs that numbers its two kinds in turns.
@test "list_and_check_name_all_cpus_of_a_kind" {
	local pmu root=$BATS_TEST_TMPDIR/root list
	list=$(seq -s, 0 2 254)
	for pmu in cortex_a7 cortex_a15; do
		mkdir -p "$root/sys/bus/event_source/devices/armv7_$pmu"
		echo 8 >"$root/sys/bus/event_source/devices/armv7_$pmu/type"
	done
	echo "$list" >"$root/sys/bus/event_source/devices/armv7_cortex_a7/cpus"
	seq -s, 1 2 255 >"$root/sys/bus/event_source/devices/armv7_cortex_a15/cpus"
	mkdir -p "$root/proc"
	for cpu in $(seq 0 255); do
		printf 'processor\t: %d\nCPU implementer\t: 0x41\n' "$cpu"
		printf 'CPU architecture: 7\nCPU variant\t: 0x0\n'
		printf 'CPU part\t: %s\nCPU revision\t: 3\n\n' \
			$((cpu % 2 ? 0xc0f : 0xc07))
	done >"$root/proc/cpuinfo"
	export UPMU_ROOT=$root
	run "$upmu" list
	[[ "$output" == *"(cortex-a7), CPU $list, PMU armv7_cortex_a7"* ]]
	run "$upmu" list -j
	[[ "$output" == *"\"cpus\": \"$list\""* ]]
	run "$upmu" list --explain cortex-a7/l1d_cache/ -j
	[[ "$output" == *"\"cpus\": \"$list\""* ]]
	run "$upmu" check
	[[ "$output" == *"CPU $list: Arm Cortex-A7, 4 event counters"* ]]
}
