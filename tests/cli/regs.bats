#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu regs takes values apart on any machine.

load crashes

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
}

field() {
	awk -v name="$1" '$2 == name { print $3 }' <<<"$output"
}

@test "regs_takes_the_tutorials_PMCR_apart" {
	run "$upmu" regs --arch v7 PMCR=0x41072011
	[ "$status" -eq 0 ]
	[ "$(field IMP)" = 0x41 ]
	[ "$(field IDCODE)" = 0x07 ]
	[ "$(field N)" = 4 ]
	[ "$(field X)" = 1 ]
	[ "$(field D)" = 0 ]
	[ "$(field E)" = 1 ]
}

@test "regs_names_the_counters_of_a_mask" {
	run "$upmu" regs --arch v7 PMOVSR=0x80000005
	[ "$status" -eq 0 ]
	[[ "$output" == *"event counter 0  event counter 2  cycle counter"* ]]
	run "$upmu" regs --arch v7 PMCNTENSET=0
	[[ "$output" == *"no counter"* ]]
}

@test "regs_knows_the_arm1176_by_its_own_fields" {
	run "$upmu" regs --arch v6 PMCR=0x00700101
	[ "$status" -eq 0 ]
	[ "$(field EvtCount0)" = 0x07 ]
	[ "$(field CR0)" = 1 ]
	[ "$(field CR1)" = 0 ]
}

@test "regs_gives_filters_of_an_event_type" {
	run "$upmu" regs --arch v7 PMXEVTYPER=0x80000008
	[ "$(field P)" = 1 ]
	[ "$(field U)" = 0 ]
	[ "$(field evtCount)" = 0x08 ]
}

@test "regs_knows_the_names_of_other_manuals" {
	run "$upmu" regs --arch v6 PMNC=1
	[ "$status" -eq 0 ]
	[ "$(field E)" = 1 ]
	run "$upmu" regs --arch v8-64 pmcr_el0=0x41033001 PMOVSCLR_EL0=1
	[ "$status" -eq 0 ]
	[[ "$output" == *"event counter 0"* ]]
	run "$upmu" regs --arch v8-32 PMOVSCLR=1
	[ "$status" -eq 0 ]
	run "$upmu" regs --arch v7 PMCR_EL0=1
	[ "$status" -eq 2 ]
}

@test "regs_refuses_an_unknown_register_and_lists_the_known" {
	run "$upmu" regs --arch v7 PMXYZ=1
	[ "$status" -eq 2 ]
	[[ "$output" == *"no register 'PMXYZ'"*"PMCR"* ]]
}

@test "regs_refuses_what_is_no_32_bit_number" {
	for value in '' x 0x100000000 1z; do
		run "$upmu" regs --arch v7 "PMCR=$value"
		[ "$status" -eq 2 ]
		[[ "$output" == *"is not a 32-bit number"* ]]
	done
	run "$upmu" regs PMCR
	[ "$status" -eq 2 ]
	[[ "$output" == *"is not NAME=VALUE"* ]]
}

@test "regs_refuses_an_unknown_architecture" {
	run "$upmu" regs --arch v9 PMCR=1
	[ "$status" -eq 2 ]
	[[ "$output" == *"v6 v7 v8-32 v8-64"* ]]
}

# Each bit by itself: one field has it, or none, and says so by its numbers.
@test "regs_has_no_bit_in_two_fields" {
	for arch in v6 v7 v8-32 v8-64; do
		run "$upmu" regs --arch "$arch" NOSUCH=1
		for name in ${output##*there are }; do
			values=()
			for bit in $(seq 0 31); do
				values+=("$name=$(printf 0x%x $((1 << bit)))")
			done
			wrong=$("$upmu" regs --arch "$arch" "${values[@]}" |
				awk '
				/^[A-Z]/ { bit = at++; seen = 0; next }
				$1 ~ /^[0-9]+(:[0-9]+)?$/ {
					split($1, ends, ":")
					low = ends[2] == "" ? ends[1] : ends[2]
					has = $3 != "0" && $3 != "0x00"
					if (has != (bit <= ends[1] && bit >= low) ||
					    (seen += has) > 1)
						print "bit", bit, $0
				}
				END { if (at != 32) print at, "of 32" }')
			[ -z "$wrong" ] || { echo "$arch $name: $wrong"; false; }
		done
	done
}
