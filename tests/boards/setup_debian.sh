#!/bin/sh
# SPDX-License-Identifier: MIT
# On the board, in Debian: setup_debian.sh new|booted|undone; each is a boot of
# one and the same disk. setup_debian.test judges.
export LC_ALL=C

# What setup may change: all of /etc but groupadd's backups and locks, and
# what a first boot writes; what it sets now.
machine() {
	find /etc -type f ! -name '*-' ! -name '.pwd.lock' \
		! -name machine-id | sort | xargs md5sum
	echo "paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
	grep -o '^upmu ' /proc/modules
	stat -c '%A %U %G' /dev/upmu 2>/dev/null
}

said() {	# COMMAND...
	"$@" 2>&1
	echo "status $?"
}

as() {	# NAME: the machine is as it was when NAME was written down
	udevadm settle
	machine >/now
	diff "/$1" /now && echo "as $1"
}

setup() {
	said upmu setup --yes "$@"
}

# The kernel's other modules are not on this disk.
modules() {
	depmod 2>/dev/null
}

without_its_module() {
	mv /lib/modules/*/extra/upmu.ko /var/
	modules
	setup
	as new
	mv /var/upmu.ko /lib/modules/*/extra/
	modules
}

part() {	# NAME COMMAND...
	echo "@ $1"
	shift
	"$@"
	echo end
}

first() {
	modules
	machine >/new
	grep -v /etc /new
	grep ^upmu: /etc/group
	systemctl is-active systemd-udevd systemd-modules-load systemd-sysctl
}

set_up() {
	setup
	udevadm settle
	machine >/complete
	grep -v /etc /complete
	getent group upmu | cut -d: -f1
	setup
	as complete
}

undo() {
	setup --undo
	as new
}

again() {
	as new
	setup --undo
}

case $1 in
new)
	part new first
	part failed without_its_module
	part setup set_up
	;;
booted)	# nothing but systemd has done anything since
	part booted as complete
	part undo undo
	;;
undone)
	part undone again
	;;
esac
