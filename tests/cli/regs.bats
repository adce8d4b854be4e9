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

# "31:24 IMP 23:16 IDCODE ...": the manual's fields of a register, all of it set.
fields_are() {	# ARCH REGISTER FIELDS
	run "$upmu" regs --arch "$1" "$2=0xffffffff"
	[ "$status" -eq 0 ]
	[ "$(awk 'NR > 1 { printf "%s%s %s", sep, $1, $2; sep = " " }' \
		<<<"$output")" = "$3" ]
}

@test "regs_knows_where_each_field_begins_and_ends" {
	local pmcr='31:24 IMP 23:16 IDCODE 15:11 N 7 LP 6 LC 5 DP 4 X 3 D 2 C 1 P 0 E'
	local filters='31 P 30 U 29 NSK 28 NSU 27 NSH'
	local user='3 ER 2 CR 1 SW 0 EN'

	# DDI 0301H, 3.2.51
	fields_are v6 PMCR '27:20 EvtCount0 19:12 EvtCount1 11 X 10 CCR 9 CR1 8 CR0 6 ECC 5 EC1 4 EC0 3 D 2 C 1 P 0 E'
	for arch in v7 v8-32; do # DDI 0406C, B4.1.112 to B4.1.129; DDI 0487
		fields_are $arch PMCR "$pmcr"
		fields_are $arch PMSELR '4:0 SEL'
		fields_are $arch PMUSERENR "$user"
	done
	fields_are v7 PMXEVTYPER "$filters 7:0 evtCount"
	fields_are v8-32 PMXEVTYPER "$filters 15:0 evtCount"
	fields_are v8-64 PMCR_EL0 "$pmcr"
	fields_are v8-64 PMXEVTYPER_EL0 "$filters 15:0 evtCount"
	fields_are v8-64 PMUSERENR_EL0 "$user"
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
