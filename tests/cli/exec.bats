#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu exec where nothing can be opened: what it does with open registers is
# tested on the boards (tests/boards/exec_*.test).

load crashes

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	[ ! -e /dev/upmu ] || skip "this machine has the module loaded"
	[ ! -e /proc/sys/kernel/perf_user_access ] ||
		skip "this kernel opens the registers by itself"
	cd "$BATS_TEST_TMPDIR"
}

@test "exec_does_not_run_the_program_when_the_registers_stay_closed" {
	mkdir -p root/proc/sys/kernel
	echo armv7l >root/proc/sys/kernel/arch
	UPMU_ROOT=$PWD/root run "$upmu" exec -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot lease the registers: no /dev/upmu"* ]]
	[[ "$output" == *"hint: sudo modprobe upmu"* ]]
	[ ! -e ran ]
}

@test "exec_names_no_module_to_load_where_it_is_not_for_the_processor" {
	mkdir -p root/proc/sys/kernel
	echo x86_64 >root/proc/sys/kernel/arch
	for raw in '' --raw; do
		UPMU_ROOT=$PWD/root run "$upmu" exec $raw -- touch ran
		[ "$status" -eq 125 ]
		[ "${lines[0]}" = "upmu exec: this processor has no such registers" ]
		[ "${lines[1]}" = "hint: upmu stat -- COMMAND" ]
		[ "${#lines[@]}" -eq 2 ]
		[ ! -e ran ]
	done
}

@test "exec_raw_fails_the_same_way" {
	run "$upmu" exec --raw -- touch ran
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "exec_without_a_command_is_a_usage_error" {
	run "$upmu" exec
	[ "$status" -eq 2 ]
	[[ "$output" == *"no command to run"* ]]
	run "$upmu" exec --nosuch -- true
	[ "$status" -eq 2 ]
}

@test "exec_says_so_where_the_kernel_is_told_not_to_open_the_registers" {
	mkdir -p root/proc/sys/kernel
	echo 0 >root/proc/sys/kernel/perf_user_access
	UPMU_ROOT=$PWD/root run "$upmu" exec -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"sudo sysctl kernel.perf_user_access=1"* ]]
	[ ! -e ran ]
}

@test "exec_help_names_its_statuses" {
	run "$upmu" exec --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"125"* ]]
}
