#!/bin/sh
# SPDX-License-Identifier: MIT
# What setup_debian.sh runs as a unit of Debian's systemd, as /step; /what
# tells which part of it.
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
what=$(cat /what)

# What setup may change: all of /etc but groupadd's backups and locks; what
# it sets now.
machine() {
	find /etc -type f ! -name '*-' ! -name '.pwd.lock' | sort |
		xargs md5sum
	echo "paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
	grep -o '^upmu ' /proc/modules
	stat -c '%A %U %G' /dev/upmu 2>/dev/null
}

said() {	# COMMAND...
	"$@"
	echo "status $?"
}

as() {	# NAME: the machine is as it was when NAME was written down
	machine >/now
	diff "/$1" /now && echo "as $1"
}

setup() {
	upmu setup --yes "$@"
}

case $what in
before)
	machine >/before
	grep ^upmu: /etc/group
	systemctl is-active systemd-udevd systemd-modules-load \
		systemd-sysctl
	;;
setup)
	said setup
	udevadm settle
	machine >/complete
	machine | grep -v /etc
	getent group upmu | cut -d: -f1
	said setup
	as complete
	;;
booted)		# nothing but systemd has done anything since
	udevadm settle
	as complete
	;;
undo)
	said setup --undo
	as before
	;;
undone)
	as before
	said upmu setup --undo --yes
	;;
esac
echo end
