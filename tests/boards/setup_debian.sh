#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# On the board: Debian's own userland below /debian, its systemd as PID 1 of a
# namespace, so that it can be started and ended again and again beside the
# board's /init. setup_debian.test judges; setup_debian_step.sh is what runs
# in there, once in each start.
# shellcheck shell=dash
root=/debian
mkdir $root
mount -t tmpfs -o size=90%,mode=755 debian $root
tar -xf /system.tar -C $root
rm /system.tar
cp /upmu/bin/upmu $root/usr/bin/
cp /setup_debian_step.sh $root/step
modules=$root/lib/modules/$(uname -r)
mkdir -p "$modules/extra"
cp /upmu/upmu.ko "$modules/extra/"

cat >$root/etc/systemd/system/step.service <<'S'
[Unit]
After=sysinit.target systemd-udev-trigger.service
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
ExecStart=/bin/sh /step
StandardOutput=append:/said
StandardError=append:/said
TimeoutStartSec=infinity
S
cat >$root/etc/systemd/system/step.target <<'S'
[Unit]
Requires=sysinit.target step.service
S
ln -s step.target $root/etc/systemd/system/default.target
mount --rbind /dev $root/dev
mount --rbind /sys $root/sys
mkdir -p $root/proc
mount -t proc proc $root/proc
chroot $root /sbin/depmod "$(uname -r)"

defaults() {	# what a new kernel would have
	rmmod upmu 2>/dev/null
	rm -f /dev/upmu
	echo 3 >/proc/sys/kernel/perf_event_paranoid
}

start() {	# NAME: what the step is to do
	defaults
	echo "$1" >$root/what
	: >$root/said
	echo "@ $1"
	chroot $root /usr/bin/unshare --pid --mount --fork --mount-proc \
		/lib/systemd/systemd >$root/console 2>&1
	cat $root/said
	# what it printed is of use only where a step did not come to its end
	grep -q '^end$' $root/said || tail -n 40 $root/console
}

for step in before setup booted undo undone; do
	start "$step"
done
echo "@ over"
