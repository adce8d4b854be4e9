#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Threads that are cancelled, or end, in a call of the shared library unwind
# their callers, on 32-bit ARM too.

load crashes

setup_file() {
	top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	export top
}

destroyed() {	# LIBRARY COMPILER WRAPPER...
	folder=$(dirname "$1")
	program=$BATS_TEST_TMPDIR/unwinding
	"$2" -std=c++17 -I"$top/include" -I"$top" -o "$program" \
		"$top/tests/cli/unwinding.cpp" "$1" -pthread
	shift 2
	LD_LIBRARY_PATH=$folder "$@" "$program" 2>/dev/null
}

@test "a_thread_that_ends_in_the_library_runs_the_destructors_above_it" {
	[ "$(destroyed "${UPMU_BUILD:-$top/build}/lib/libupmu.so.0" c++)" = 2 ]
}

@test "so_it_does_on_32_bit_arm_where_the_library_needs_libc_alone_too" {
	"$top/boards/build" armhf
	build=$BATS_TEST_TMPDIR/armhf
	export QEMU_LD_PREFIX=/usr/arm-linux-gnueabihf
	meson setup --cross-file "$top/cross/armhf.ini" \
		--cross-file "$top/build/armhf.sysroot.ini" \
		-Ddefault_library=both -Dtests=disabled -Dc_link_args= \
		"$build" "$top" >/dev/null
	ninja -C "$build" lib/libupmu.so.0.1.0 >/dev/null
	ln -sf libupmu.so.0.1.0 "$build/lib/libupmu.so.0"
	[ "$(destroyed "$build/lib/libupmu.so.0" arm-linux-gnueabihf-g++ \
		qemu-arm)" = 2 ]
	needs=$(arm-linux-gnueabihf-readelf -d "$build/lib/libupmu.so.0" |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	[ "$needs" = "libc.so.6
ld-linux-armhf.so.3" ]
}
