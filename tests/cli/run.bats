#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ./run on an ARM board, with every command that touches the machine replaced
# by one that writes down how it was called.

load crashes

setup() {
	unset UPMU_YES # of ./check --yes
	top=$BATS_TEST_DIRNAME/../..
	bin=$BATS_TEST_TMPDIR/bin
	calls=$BATS_TEST_TMPDIR/calls
	mkdir -p "$bin" "$BATS_TEST_TMPDIR/tree"
	: >"$calls"
	# a tree of our own, so that no build directory is touched
	cp -r "$top/run" "$top/scripts" "$BATS_TEST_TMPDIR/tree/"
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/boards"
	cp "$top"/boards/*.py "$top/boards/table.ini" "$tree/boards/"
	ln -s "$top/include" "$top/regs" "$tree/"
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

# "! grep" in the midst of a test would never fail it
never() {	# PATTERN FILE
	[ "$(grep -cE -- "$1" "$2")" = 0 ]
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
	never 'qemu|gcc-arm|gcc-aarch64|-cross' "$calls"
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
	never '^rmmod' "$calls"
}

@test "on_arm_the_command_and_its_words_are_counted" {
	here --yes echo 'a  b' c
	[ "$status" -eq 0 ]
	grep -qx 'upmu stat -- echo a  b c' "$calls"
	[[ "$output" == *'a  b c'* ]]
}

prog() {	# a program that says what it was given
	cat >"$BATS_TEST_TMPDIR/prog.c" <<-'E'
	#include <stdio.h>
	int main(int argc, char **argv)
	{
	#ifdef GREETING
		puts(GREETING);
	#endif
		printf("%d words, last '%s'\n", argc - 1, argv[argc - 1]);
		return 4;
	}
	E
	cd "$BATS_TEST_TMPDIR"
}

library() {	# what building upmu here would leave behind
	fake ninja "mkdir -p build/lib && ar rc build/lib/libupmu.a"
}

@test "on_arm_a_source_is_compiled_and_counted" {
	prog
	library
	here --yes prog.c 'a  b'
	[ "$status" -eq 4 ]
	[[ "$output" == *"1 words, last 'a  b'"* ]]
	grep -q '^upmu stat -- /.*/prog a  b$' "$calls"
	! ls -d "$(sed -n 's,^upmu stat -- \(.*\)/prog.*,\1,p' "$calls")"
}

@test "on_arm_the_flags_are_for_the_program_only" {
	prog
	library
	fake meson 'echo "flags ${CFLAGS-none}" >>'"'$calls'"
	CFLAGS='-DGREETING="hello"' here --yes prog.c
	[[ "$output" == *hello* ]]
	grep -qx 'flags none' "$calls"
}

# meson has noted its options by then, and calls the tree set up.
@test "on_arm_a_set_up_that_was_interrupted_is_begun_anew" {
	echo "project('tree')" >"$tree/meson.build"
	meson setup "$tree/build" "$tree"
	rm "$tree/build/build.ninja"
	fake meson "PATH='$PATH' exec meson \"\$@\""
	here --yes true
	[ "$status" -eq 0 ]
	[ -f "$tree/build/build.ninja" ]
}

@test "on_arm_two_do_not_build_at_once" {
	for name in meson ninja; do
		fake "$name" '! flock -n build/build.lock true'
	done
	here --yes true
	[ "$status" -eq 0 ]
	grep -q '^ninja ' "$calls"
	grep -q '^meson ' "$calls"
}

@test "on_arm_a_program_that_counts_itself_runs_alone" {
	UPMU_EVENTS=cycles,r03 here --yes --alone sh -c 'echo "got $UPMU_EVENTS"'
	[ "$status" -eq 0 ]
	[[ "$output" == *"got cycles,r03"* ]]
	never '^upmu ' "$calls"
}

@test "on_arm_a_mistake_in_a_source_stops_before_anything_is_built" {
	prog
	echo 'int main(void) { return x; }' >bad.c
	here --yes bad.c
	[ "$status" -eq 1 ]
	[[ "$output" == *"bad.c:1:"*"error:"*"x"* ]]
	never '^(ninja|insmod|upmu) ' "$calls"
}

@test "on_arm_a_program_for_a_pc_is_refused_on_one_line" {
	prog
	gcc prog.c -o a.out
	here --yes ./a.out
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "run: './a.out' is a program for x86-64, which this \
machine (armv7l) does not run: compile it here, or ./run its source" ]
	never '^insmod' "$calls"
}

@test "on_arm_options_for_emulated_boards_are_refused" {
	here --board a7 true
	[ "$status" -eq 2 ]
	[[ "$output" == *"nothing is emulated here"* ]]
}

@test "boards_build_takes_one_architecture_and_says_so" {
	for words in 'armhf arm64' 'armhf --set-up more'; do
		run "$BATS_TEST_DIRNAME/../../boards/build" $words
		[ "$status" -eq 2 ]
		[[ "$output" == *"one architecture at a time"* ]]
	done
}

on_pc() {	# ARGUMENT... : ./run on a PC whose boards are pretended
	fake uname 'echo x86_64'
	fake dpkg-query 'printf "installed "'
	printf '#!/bin/sh\n' >"$tree/boards/build"
	cat >"$tree/boards/run" <<-E
	#!/bin/sh
	echo "board \$*" | head -n 1 >>"$calls"
	echo "words \$*" | tail -n 1 >>"$calls"
	cp /dev/fd/8 "$BATS_TEST_TMPDIR/got" 2>/dev/null
	exit 6
	E
	chmod +x "$tree/boards/build" "$tree/boards/run"
	for arch in armhf arm64; do
		mkdir -p "$tree/build/$arch/lib"
		ar rc "$tree/build/$arch/lib/libupmu.a"
	done
	PATH=$bin:$PATH run "$tree/run" "$@" </dev/null
}

machine() {	# FILE
	od -An -tu2 -j18 -N2 "$1" | tr -d ' '
}

@test "on_a_pc_a_source_goes_to_the_board_as_an_arm_program" {
	prog
	TMPDIR=$BATS_TEST_TMPDIR/tmp && mkdir "$TMPDIR" && export TMPDIR
	on_pc prog.c 1 2
	[ "$status" -eq 6 ]
	[ "$(machine got)" = 40 ]
	grep -q '^board a7 .*--file /dev/fd/8:/tmp/prog .*-- ' "$calls"
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "on_a_pc_board_a53_gets_a_64_bit_program" {
	prog
	on_pc --board a53 --memory 1G prog.c
	[ "$(machine got)" = 183 ]
	grep -q '^board a53 .*--memory 1G ' "$calls"
}

@test "on_a_pc_a_program_that_counts_itself_runs_alone" {
	prog
	UPMU_EVENTS=cycles,r03 on_pc --alone prog.c 1
	grep -q 'exec $0 "$@" env UPMU_EVENTS=cycles,r03 /tmp/prog 1$' "$calls"
	on_pc prog.c 1
	grep -q 'exec $0 "$@" upmu stat -- /tmp/prog 1$' "$calls"
}

@test "on_a_pc_several_sources_are_one_program" {
	echo 'int seven(void); int main(void) { return seven(); }' \
		>"$BATS_TEST_TMPDIR/one.c"
	echo 'extern "C" int seven(void) { return 7; }' \
		>"$BATS_TEST_TMPDIR/two.cc"
	cd "$BATS_TEST_TMPDIR"
	on_pc one.c two.cc -- one.c
	[ "$status" -eq 6 ]
	grep -q '^board a7 .*/tmp/one ' "$calls"
}

@test "on_a_pc_a_mistake_leaves_nothing_in_the_temporary_folder" {
	prog
	echo 'int main(void) { return nosuch(); }' >bad.c
	TMPDIR=$BATS_TEST_TMPDIR/tmp && mkdir "$TMPDIR" && export TMPDIR
	on_pc bad.c
	[ "$status" -eq 1 ]
	[[ "$output" == *nosuch* ]]
	[ -z "$(ls -A "$TMPDIR")" ]
	never '^board' "$calls"
}

@test "on_a_pc_flags_that_the_linker_needs_reach_it" {
	cd "$BATS_TEST_TMPDIR"
	cat >omp.c <<-E
	#include <omp.h>
	int main(void) { return omp_get_max_threads() < 1; }
	E
	cp omp.c omp.cpp
	for source in omp.c omp.cpp; do
		CFLAGS=-fopenmp on_pc $source
		[ "$status" -eq 6 ]
	done
}

@test "on_a_pc_the_cxx_compiler_is_wanted_only_for_cxx" {
	prog
	on_pc prog.c
	never 'dpkg-query.*g\+\+' "$calls"
	echo 'int main() { return 0; }' >x.cpp
	on_pc x.cpp
	grep -q 'dpkg-query.*g++-arm-linux-gnueabihf' "$calls"
}

@test "on_a_pc_its_own_programs_are_refused_on_one_line" {
	prog
	gcc prog.c -o a.out
	on_pc ./a.out
	[ "$status" -eq 1 ]
	[ "$output" = "run: './a.out' is a program for x86-64; boards are ARM \
machines: compile it with arm-linux-gnueabihf-gcc, or ./run its source" ]
	never '^board' "$calls"
}

@test "on_a_pc_a_64_bit_program_goes_to_a53_and_not_to_a7" {
	prog
	aarch64-linux-gnu-gcc -static prog.c -o a.out
	on_pc ./a.out
	grep -q '^board a53 .*--file ./a.out:/tmp/a.out ' "$calls"
	on_pc --board a7 ./a.out
	[ "$status" -eq 1 ]
	[[ "$output" == *"64-bit ARM, which board a7 does not run"* ]]
}

@test "on_a_pc_what_is_no_program_is_said" {
	prog
	on_pc ./nosuch
	[[ "$output" == "run: no such file: './nosuch'" ]]
	echo text >text
	on_pc ./text
	[[ "$output" == *"'./text' is neither an ELF program nor a script"* ]]
	gcc -c prog.c
	on_pc ./prog.o
	[[ "$output" == *"object file for x86-64, not linked"* ]]
	gcc -shared prog.c -o prog.so
	on_pc ./prog.so
	[ "$status" -eq 1 ]
	[[ "$output" == *"a shared library for x86-64, no program" ]]
	for bytes in 4 6 20 40; do
		head -c $bytes prog.o >short
		on_pc ./short
		[ "$status" -eq 1 ]
		[[ "$output" == "run: './short' is neither an ELF program"* ]]
	done
	printf '#!/bin/sh\n' >script
	on_pc ./script
	[[ "$output" == *"'./script' may not be executed: chmod +x it" ]]
	on_pc nosuch.c
	[ "$status" -eq 2 ]
	[[ "$output" == "run: no such file: 'nosuch.c'" ]]
}

odd() {	# COMPILER OPTION... : a program without a C library
	local compiler=$1
	shift
	echo 'void _start(void) { for (;;); }' >odd.c
	"$compiler" "$@" -nostdlib -static odd.c -o odd
	on_pc ./odd
}

@test "on_a_pc_arm_programs_of_other_kinds_are_refused_on_one_line" {
	cd "$BATS_TEST_TMPDIR"
	odd arm-linux-gnueabihf-gcc -mbig-endian
	[[ "$output" == *"for big-endian 32-bit ARM; no board runs that: "* ]]
	odd aarch64-linux-gnu-gcc -mbig-endian
	[[ "$output" == *"for big-endian 64-bit ARM; no board runs that: "* ]]
	odd aarch64-linux-gnu-gcc -mabi=ilp32
	[[ "$output" == *"for ILP32 64-bit ARM; no board runs that: "* ]]
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 1 ]
	never '^board' "$calls"
	odd arm-linux-gnueabihf-gcc
	[ "$status" -eq 6 ]
}

needing() {	# ARGUMENT... : need of a package that is missing
	fake dpkg-query 'exit 1'
	PATH=$bin:$PATH run "$@"
}

@test "with_nobody_to_ask_a_board_installs_nothing" {
	needing setsid "$tree/scripts/need" --ask gcc-nosuch </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"missing: gcc-nosuch"*"UPMU_YES=1"* ]]
	never '^apt-get install' "$calls"
	UPMU_YES=1 needing setsid "$tree/scripts/need" --ask gcc-nosuch </dev/null
	[ "$status" -eq 0 ]
	grep -q '^apt-get install.*gcc-nosuch' "$calls"
}

@test "on_a_terminal_nothing_is_installed_unasked" {
	needing sh -c "echo n | script -qec \
		'$tree/scripts/need gcc-nosuch </dev/null >/dev/null' /dev/null"
	[[ "$output" == *"apt is to install: gcc-nosuch"*"Go on?"* ]]
	never '^apt-get install' "$calls"
	needing sh -c "echo y | script -qec \
		'$tree/scripts/need --ask gcc-nosuch </dev/null' /dev/null"
	grep -q '^apt-get install.*gcc-nosuch' "$calls"
}

@test "what_installs_leaves_no_log_when_it_is_interrupted" {
	fake dpkg-query 'exit 1'
	fake apt-get 'kill -INT 0' # as ctrl-C: to all of the group
	mkdir "$BATS_TEST_TMPDIR/logs"
	TMPDIR=$BATS_TEST_TMPDIR/logs PATH=$bin:$PATH UPMU_YES=1 \
		run setsid --wait env --default-signal \
		"$tree/scripts/need" gcc-nosuch </dev/null
	[ "$status" -eq 130 ]
	grep -q '^apt-get install.*gcc-nosuch' "$calls"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/logs")" ]
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
	never . "$calls"
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

# meson's own choice where dpkg-dev is not installed, on a PC.
@test "a_library_that_is_put_where_debian_does_not_look_is_told" {
	[ -e /etc/debian_version ] || skip "this is no Debian"
	run meson setup -Dlibdir=lib64 "$BATS_TEST_TMPDIR/build" "$top"
	[ "$status" -eq 0 ]
	[[ "$output" == *"WARNING: "*lib64*dpkg-dev* ]]
	run meson setup -Dlibdir=lib "$BATS_TEST_TMPDIR/other" "$top"
	[ "$status" -eq 0 ]
	[[ "$output" != *dpkg-dev* ]]
}
