#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every command whose output is lost says so and fails.

load crashes

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

# Each allocation of some fails, of the first ones if not said otherwise, then
# one here and there.
first=1 each=20
fail_memory() {	# WORD...: told, or nothing is missing
	local module=${UPMU_BUILD:-$BATS_TEST_DIRNAME/../../build} n wanted on
	local usual=0 status

	module+=/tests/unit/fail_memory.so
	[ -e "$module" ] || skip "this build has no fail_memory.so"
	nm "$upmu" | grep -q __asan_init && skip "ASan has memory of its own"
	wanted=$("$upmu" "$@" 2>/dev/null) || usual=$?
	rm -f over
	for ((n = first; n < 100000; n = n < each ? n + 1 : n * 5 / 4)); do
		for on in '' 1; do
			status=0
			LD_PRELOAD=$module FAIL_AT=$n FAIL_ON=$on \
				FAIL_OVER=over "$upmu" "$@" >out 2>err ||
				status=$?
			echo "$* $n $on: $status $(cat err)" | tee -a told
			[ "$status" -lt 126 ]
			[ -s err ] ||
				[ "$status $(cat out)" = "$usual $wanted" ]
		done
		[ ! -e over ] || return 0
	done
	false
}

@test "what_is_left_out_for_want_of_memory_is_told" {
	cd "$BATS_TEST_TMPDIR"
	for n in 1 2; do
		"$upmu" stat -j -e page-faults -o $n.json -- true
	done
	fail_memory list -j --core cortex-a5
	fail_memory list -j --core cortex-a53 --explain l1d_cache
	fail_memory list --core cortex-a53 --fit cycles,l1d_cache
	fail_memory compare -j 1.json 2.json
	fail_memory merge -j 1.json 2.json
	fail_memory stat -e page-faults -o report -- true
}

# What comes behind the reading of JSON, which says what it can.
@test "no_lack_of_memory_is_taken_for_a_fault_of_the_file" {
	cd "$BATS_TEST_TMPDIR"
	"$upmu" stat -j -r 2 -e page-faults -o 1.json -- true
	"$upmu" compare -j -r 2 -e page-faults -o 2.json true
	each=100000
	for name in 1 2; do
		first=$(($(grep -o '[0-9"]\+' $name.json | wc -l)))
		fail_memory compare --no-bars $name.json
		grep "'$name.json': out of memory" told
		! grep -E 'too many|no report' told || false
	done
}

@test "no_command_of_compare_loses_a_word_for_want_of_memory" {
	cd "$BATS_TEST_TMPDIR"
	printf '#!/bin/sh\necho $# >>words\n' >program
	chmod +x program
	fail_memory compare -r 2 -o report -e page-faults ./program a -- \
		./program b
	[ "$(sort -u words)" = 1 ]
}
