#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every command whose output is lost says so and fails.

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	commands=("check" "check -j" "list" "list -j" "cost" "regs PMCR=1"
		"setup --dry-run" "stat --help" "exec --help" "--help"
		"--version")
}

@test "a_full_disk_is_told_and_is_a_failure" {
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words of a command
		run sh -c '"$@" 2>&1 >/dev/full' - "$upmu" $command
		[ "$status" -ne 0 ]
		[[ "$output" == *"cannot write to standard output: No space"* ]]
	done
}

@test "a_closed_standard_output_is_told_and_is_a_failure" {
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words of a command
		run sh -c '"$@" 2>&1 >&-' - "$upmu" $command
		[ "$status" -ne 0 ]
		[[ "$output" == *"cannot write to standard output: Bad file"* ]]
	done
}

@test "a_command_without_any_descriptor_ends" {
	run timeout 60 "$upmu" check <&- >&- 2>&-
	[ "$status" -eq 1 ]
}

@test "setup_does_not_print_into_its_files_when_output_is_closed" {
	export UPMU_ROOT=$BATS_TEST_TMPDIR/root PATH=$BATS_TEST_TMPDIR:$PATH
	mkdir -p "$UPMU_ROOT"/etc/{udev/rules.d,modules-load.d,modprobe.d} \
		"$UPMU_ROOT/proc/sys/kernel"
	echo armv7l >"$UPMU_ROOT/proc/sys/kernel/arch"
	for name in groupadd udevadm modprobe sysctl; do
		printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/$name"
		chmod +x "$BATS_TEST_TMPDIR/$name"
	done
	"$upmu" setup --yes >&- 2>/dev/null || true
	[ "$(tail -n 1 "$UPMU_ROOT/etc/modules-load.d/upmu.conf")" = upmu ]
	run cat "$UPMU_ROOT"/etc/*/*upmu*
	[[ "$output" != *write* ]]
}
