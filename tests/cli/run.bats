#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ./run on an ARM board, with every command that touches the machine replaced
# by one that writes down how it was called.

setup() {
	top=$BATS_TEST_DIRNAME/../..
	bin=$BATS_TEST_TMPDIR/bin
	calls=$BATS_TEST_TMPDIR/calls
	mkdir -p "$bin" "$BATS_TEST_TMPDIR/tree"
	: >"$calls"
	# a tree of our own, so that no build directory is touched
	cp -r "$top/run" "$top/scripts" "$BATS_TEST_TMPDIR/tree/"
	mkdir -p "$BATS_TEST_TMPDIR/tree/boards"
	for name in meson ninja insmod rmmod sudo apt-get; do
		fake "$name" ''
	done
	fake uname 'case $1 in -m) echo armv7l;; *) echo 9.9-test;; esac'
	fake id 'echo 0'
	fake dpkg-query 'case $* in *linux-headers*) exit 1;; esac
		echo installed'
	fake upmu 'shift 2; "$@"'
	printf '#!/bin/sh\necho "kmod $*" >>"%s"\n' "$calls" \
		>"$BATS_TEST_TMPDIR/tree/boards/kmod"
	chmod +x "$BATS_TEST_TMPDIR/tree/boards/kmod"
}

fake() {	# NAME SCRIPT
	printf '#!/bin/sh\necho "%s $*" >>"%s"\n%s\n' "$1" "$calls" "$2" \
		>"$bin/$1"
	chmod +x "$bin/$1"
}

here() {	# ARGUMENT... : ./run on the pretended board
	PATH=$bin:$PATH run "$BATS_TEST_TMPDIR/tree/run" "$@" </dev/null
}

@test "on_arm_the_module_is_built_loaded_and_unloaded" {
	here --yes true
	[ "$status" -eq 0 ]
	grep -q '^kmod native$' "$calls"
	grep -q '^insmod .*/build/kmod/native-9.9-test/upmu.ko$' "$calls"
	[ "$(grep -cE '^(insmod|rmmod) ' "$calls")" -eq 2 ]
	[ "$(grep -E '^(insmod|rmmod) ' "$calls" | tail -n 1)" = 'rmmod upmu' ]
}

@test "on_arm_no_emulator_and_no_cross_compiler_is_wanted" {
	here --yes true
	[ "$status" -eq 0 ]
	grep -q 'dpkg-query.*gcc' "$calls"
	! grep -E 'qemu|gcc-arm|gcc-aarch64|-cross' "$calls"
}

@test "on_arm_the_missing_headers_are_installed" {
	here --yes true
	grep -q '^apt-get install .*linux-headers-9.9-test' "$calls"
}

@test "on_arm_the_module_is_unloaded_when_the_command_fails" {
	here --yes sh -c 'exit 5'
	[ "$status" -eq 5 ]
	grep -q '^rmmod upmu$' "$calls"
}

@test "on_arm_nothing_is_unloaded_when_loading_failed" {
	fake insmod 'exit 1'
	here --yes true
	[ "$status" -ne 0 ]
	! grep -q '^rmmod' "$calls"
}

@test "on_arm_the_command_and_its_words_are_counted" {
	here --yes echo 'a  b' c
	[ "$status" -eq 0 ]
	grep -qx 'upmu stat -- echo a  b c' "$calls"
	[[ "$output" == *'a  b c'* ]]
}

@test "an_unknown_option_is_refused" {
	here --nosuch
	[ "$status" -eq 2 ]
	[[ "$output" == *"unknown option '--nosuch'"* ]]
}

@test "help_needs_nothing_installed" {
	here --help
	[ "$status" -eq 0 ]
	[[ "$output" == usage:* ]]
	! grep -q . "$calls"
}

# Libraries are there as far as their packages are among those it installs.
@test "what_run_installs_is_enough_to_configure_the_build" {
	mkdir "$BATS_TEST_TMPDIR/pc"
	for package in $(sed -n '/^need() {/,/^}/p' "$top/scripts/run-here" |
		grep -o 'lib[a-z0-9]*-dev'); do
		dpkg -L "$package" | grep '\.pc$' |
			xargs -r ln -st "$BATS_TEST_TMPDIR/pc"
	done
	run env CMAKE=false PKG_CONFIG_LIBDIR="$BATS_TEST_TMPDIR/pc" \
		meson setup "$BATS_TEST_TMPDIR/build" "$top"
	[ "$status" -eq 0 ]
	[[ "$output" == *"jansson found: YES"* ]]
	[[ "$output" == *"cmocka found: NO"* ]]
}
