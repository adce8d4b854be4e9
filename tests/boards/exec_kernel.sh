#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# On the board: upmu exec over a perf event that user mode may read;
# exec_kernel.test judges. $1: how long "busy" counts.
# shellcheck shell=dash
access=/proc/sys/kernel/perf_user_access
paranoid=/proc/sys/kernel/perf_event_paranoid

echo @ told
echo 0 >$access
upmu exec -- touch /tmp/ran
echo "status $?"
ls /tmp/ran
echo 1 >$access
# First: once an event has opened the registers on a CPU, arm64 leaves them so
# until another event is started there.
for program in exec_reads exec_reads32; do
	echo "@ without-$program"
	$program
	echo "status $?"
done
for program in exec_reads exec_reads32; do
	echo "@ with-$program"
	upmu exec -- $program
	echo "status $?"
	echo "@ child-$program"
	upmu exec -- $program child
	echo "status $?"
	echo "@ shell-$program"
	upmu exec -- sh -c "sh -c '$program; $program'"
	echo "status $?"
	echo "@ user-$program"
	upmu exec -- $program as 1000 $program
	echo "status $?"
	echo "@ busy-$program"
	upmu exec -- $program busy "$1"
	echo "status $?"
done
echo @ module
insmod /upmu/upmu.ko
echo 0 >$access
upmu exec -- exec_reads
echo "status $?"
echo 1 >$access
echo @ open
echo cycles >/sys/module/upmu/parameters/open
upmu exec -- exec_reads
echo "status $?"
echo @ unasked
was=$(cat $paranoid)
echo 1 >$paranoid
chmod 0600 /dev/upmu
su user -c 'upmu exec -- exec_reads' 2>&1
echo "status $?"
chmod 0660 /dev/upmu
echo "$was" >$paranoid
echo none >/sys/module/upmu/parameters/open
echo @ beside
echo 0 >$access
upmu exec -- sleep 1000 &
until grep -q '^lease ' /proc/upmu; do sleep 0.1; done
echo 1 >$access
upmu exec -- exec_reads
echo "status $?"
kill $!
wait $!
while grep -q '^lease ' /proc/upmu; do sleep 0.1; done
echo @ ending
failed=0
stood=0
for _ in $(seq 24); do
	echo 0 >$access
	upmu exec -- sleep 0.2 &
	until grep -q '^lease ' /proc/upmu || ! kill -0 $! 2>/dev/null; do
		sleep 0.02
	done
	echo 1 >$access
	while kill -0 $! 2>/dev/null; do
		upmu exec -- exec_reads past 0 >/tmp/seen || failed=$((failed + 1))
		if grep -qx 'total 0' /tmp/seen; then stood=$((stood + 1)); fi
	done
	wait $!
done
echo "failed $failed"
echo "stood $stood"
rmmod upmu
echo @ raw
upmu exec --raw -- true
echo "status $?"
echo @ refused-exec_reads
upmu exec -- exec_reads counts 2>&1
echo "status $?"
upmu exec -- exec_reads thread 2>&1
echo "status $?"
echo @ refused-exec_reads32
upmu exec -- exec_reads32 counts 2>&1
echo "status $?"
upmu exec -- exec_reads32 thread 2>&1
echo "status $?"
echo @ status
upmu exec -- sh -c 'exit 7'
echo "status $?"
upmu exec -- /nonexistent
echo "status $?"
upmu exec -- /proc/cpuinfo
echo "status $?"
upmu exec -- sh -c 'kill -TERM $$'
echo "status $?"
echo @ paranoid3
echo 3 >$paranoid
exec_reads as 1000 upmu exec -- exec_reads
echo "status $?"
echo @ paranoid2
echo 2 >$paranoid
exec_reads as 1000 upmu exec -- exec_reads
echo "status $?"
echo @ paranoid1
echo 1 >$paranoid
exec_reads as 1000 upmu exec -- exec_reads
echo "status $?"
echo @ taken
hold_counters cycles upmu exec -- touch /tmp/taken 2>&1
echo "status $?"
ls /tmp/taken 2>&1
# The loss is not to come before the program has begun.
loses() {	# COMMAND...: under upmu exec, which says the rest on stderr
	rm -f /tmp/go
	upmu exec -- "$@" >/dev/null 2>/tmp/said &
	sleep 1
	hold_counters cycles sleep 1 2>/dev/null
	touch /tmp/go
	wait $!
	echo "status $?"
	cat /tmp/said
}
echo @ lost
loses sh -c 'until [ -e /tmp/go ]; do :; done'
echo @ child-lost
loses sh -c '(until [ -e /tmp/go ]; do :; done); true'
echo @ child-dies
loses sh -c 'exec_reads past 1000; exit $?'
echo @ dies
loses exec_reads past 1000
