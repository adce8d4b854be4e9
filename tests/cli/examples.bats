#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each example builds on its own with the line that it names, from what
# `ninja install` puts on a machine.

load crashes

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	export top
	export here=$BATS_FILE_TMPDIR/here arm=$BATS_FILE_TMPDIR/arm
	meson install -C "${UPMU_BUILD:-$top/build}" --no-rebuild \
		--destdir "$here" >/dev/null
	"$top/boards/build" armhf
	meson install -C "$top/build/armhf" --no-rebuild --destdir "$arm" \
		>/dev/null
	sysroot=$(sed -n "s/^pkg_config_libdir = '\(.*\)'/\1/p" \
		"$top/build/armhf.sysroot.ini")
	export sysroot
}

# FOLDER: where pkg-config files of an installation are
pc() {
	dirname "$(find "$1" -name libupmu.pc)"
}

one_line_here() {	# EXAMPLE
	flags=$(PKG_CONFIG_PATH=$(pc "$here") PKG_CONFIG_SYSROOT_DIR=$here \
		pkg-config --cflags --libs libupmu)
	# shellcheck disable=SC2086 # words
	cc -o "$BATS_TEST_TMPDIR/$1" "$top/examples/$1.c" $flags
}

with_library() {	# PROGRAM ARGUMENT...
	LD_LIBRARY_PATH=$(dirname "$(find "$here" -name 'libupmu.so')") "$@"
}

one_line_arm() {	# EXAMPLE FLAG...
	name=$1
	shift
	flags=$(PKG_CONFIG_LIBDIR=$(pc "$arm"):$sysroot \
		pkg-config --static --cflags --libs libupmu |
		sed "s# -\([IL]\)/usr# -\1$arm/usr#g; s#^-\([IL]\)/usr#-\1$arm/usr#")
	# shellcheck disable=SC2086 # words
	arm-linux-gnueabihf-gcc "$@" -static -o "$BATS_TEST_TMPDIR/$name" \
		"$top/examples/$name.c" $flags
}

@test "dkms_finds_the_source_where_it_looks_whatever_the_prefix" {
	[ -f "$arm/usr/src/upmu-$("$top/packaging/dkms-source" --version)/dkms.conf" ]
	[ -f "$arm"/usr/src/upmu-*/kmod/Kbuild ]
	[ -f "$arm"/usr/local/bin/upmu ]
	grep -q "dkms-source /usr/src/upmu-$("$top/packaging/dkms-source" \
		--version)" "$top/docs/hardware.md"
}

@test "every_example_that_needs_no_registers_builds_with_one_line_here" {
	for name in chase constructor interchange measure naive regions \
		two_ways; do
		one_line_here "$name"
		[ -x "$BATS_TEST_TMPDIR/$name" ]
	done
}

@test "every_example_builds_with_one_line_on_armv7" {
	cd "$top/examples"
	for source in *.c; do
		name=${source%.c}
		flag=-Wall
		grep -q 'cc -marm' "$source" && flag=-marm
		one_line_arm "$name" "$flag"
		[ -x "$BATS_TEST_TMPDIR/$name" ]
	done
}

@test "an_example_that_cannot_count_says_why_and_fails" {
	one_line_arm constructor
	run qemu-arm "$BATS_TEST_TMPDIR/constructor"
	[ "$status" -eq 1 ]
	[[ "$output" == *"constructor: "* ]]
	[[ "$output" != *"cycles, read by"* ]]
}

@test "the_three_workloads_compute_the_same_with_and_without_libupmu" {
	one_line_here naive
	one_line_here interchange
	run with_library "$BATS_TEST_TMPDIR/naive" 60
	[ "$status" -eq 0 ]
	expected=$output
	run with_library "$BATS_TEST_TMPDIR/interchange" 60
	[ "$output" = "$expected" ]
}

@test "naive_refuses_a_size_that_is_none" {
	one_line_here naive
	for size in 0 -1 x 10001 ''; do
		run with_library "$BATS_TEST_TMPDIR/naive" "$size"
		[ "$status" -eq 2 ]
	done
}

@test "the_trace_finds_no_window_where_no_counter_is_started" {
	one_line_arm constructor
	run "$top/examples/trace_stores" "$BATS_TEST_TMPDIR/constructor"
	[ "$status" -ne 0 ]
	[[ "$output" == *"starts no counter"* ]]
}

@test "trace_stores_names_the_package_that_it_lacks" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	PATH=$BATS_TEST_TMPDIR/bin run /bin/sh "$top/examples/trace_stores" any
	[ "$status" -eq 1 ]
	[[ "$output" == *"hint: sudo apt install qemu-user" ]]
}
