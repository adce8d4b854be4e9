#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu setup in a chroot with Debian's own /etc, groupadd, groupdel and
# sysctl; made up are the module, which this kernel could not load, and udev,
# which must not hear of it.

load crashes

setup() {
	upmu=$(realpath "${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}")
	root=$BATS_TEST_TMPDIR/root
	[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"
	unshare -m true || skip "no mount namespace of its own can be had here"
	make_machine
	make_module
	machine >"$BATS_TEST_TMPDIR/before"
}

make_machine() {
	local pmu=$root/sys/bus/event_source/devices/armv7_cortex_a7

	mkdir -p "$root"/{usr,dev,tmp,test,proc/sys/kernel,sys/module} "$pmu"
	cp -a /etc "$root/etc"
	mkdir -p "$root"/etc/{udev/rules.d,modules-load.d,modprobe.d,sysctl.d}
	cp -a /bin /sbin /lib* "$root/" # links into /usr
	cp "$upmu" "$root/test/upmu"
	echo 8 >"$pmu/type"
	echo 0-3 >"$pmu/cpus"
	echo armv7l >"$root/proc/sys/kernel/arch"
	echo 3 >"$root/proc/sys/kernel/perf_event_paranoid"
}

make_module() {
	cat >"$root/test/modprobe" <<-'S'
	#!/bin/sh
	[ "$1" != -r ] || exec rmdir /sys/module/upmu
	exec mkdir -p /sys/module/upmu
	S
	chmod +x "$root/test/modprobe"
	ln -s /usr/bin/true "$root/test/udevadm"
}

in_chroot() {
	unshare -m sh -c '
		mount --bind /usr "$0/usr" && mount -o bind,ro,remount "$0/usr" &&
		mount --bind /dev "$0/dev" &&
		exec chroot "$0" env PATH=/test:/usr/sbin:/usr/bin "$@"' "$root" "$@"
}

# Names, modes, owners and contents. groupadd keeps a lock's file and the
# former group file, whoever calls it: they are shadow's, not setup's.
machine() {
	(cd "$root" && find etc proc sys ! -name .pwd.lock \
		! -name 'group-' ! -name 'gshadow-' -printf '%p %M %u %g\n' |
		sort && find etc proc sys -type f ! -name .pwd.lock ! -name 'group-' \
		! -name 'gshadow-' -exec sha256sum {} + | sort)
}

@test "setup_and_undo_leave_a_real_etc_as_it_was" {
	in_chroot upmu setup --yes
	grep -q '^upmu:' "$root/etc/group"
	[ "$(cat "$root/proc/sys/kernel/perf_event_paranoid")" -eq 2 ]
	[ -d "$root/sys/module/upmu" ]
	in_chroot upmu setup --yes --undo
	diff "$BATS_TEST_TMPDIR/before" <(machine)
}

@test "a_locked_group_file_stops_setup_and_undo_takes_the_rest_back" {
	touch "$root/etc/group.lock" "$root/etc/gshadow.lock"
	echo $$ >"$root/etc/group.lock"
	run in_chroot upmu setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *groupadd* ]]
	rm "$root/etc/group.lock" "$root/etc/gshadow.lock"
	in_chroot upmu setup --yes --undo
	diff "$BATS_TEST_TMPDIR/before" <(machine)
}

@test "a_folder_that_is_missing_is_named_with_the_command_that_makes_it" {
	rm -r "$root/etc/udev"
	machine >"$BATS_TEST_TMPDIR/before"
	run in_chroot upmu setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *'hint: sudo mkdir -p /etc/udev/rules.d'*'all was taken back' ]]
	diff "$BATS_TEST_TMPDIR/before" <(machine)
}
