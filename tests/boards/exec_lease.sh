#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# On the board: upmu exec over a lease of upmu.ko; exec_lease.test judges.
# shellcheck shell=dash
user() {	# COMMAND... as an ordinary user
	exec_reads as 1000 "$@"
}

await() {	# TEXT FILE
	for _ in $(seq 400); do
		grep -q "$1" "$2" 2>/dev/null && return
		usleep 50000
	done
	echo "no '$1' in $2"
}

echo @ module
upmu exec -- touch /tmp/ran
echo "status $?"
ls /tmp/ran
insmod /upmu/upmu.ko || exit 1
echo @ without
exec_reads
echo "status $?"
echo @ with
upmu exec -- exec_reads
echo "status $?"
echo @ after
exec_reads
echo "status $?"
echo @ child
upmu exec -- exec_reads child
echo "status $?"
echo @ shell
upmu exec -- sh -c 'sh -c "exec_reads; exec_reads"'
echo "status $?"
echo @ user
upmu exec -- exec_reads as 1000 exec_reads
echo "status $?"
cp /upmu/bin/exec_reads /tmp/setuid
chmod 4755 /tmp/setuid
echo @ setuid
upmu exec -- exec_reads as 1000 /tmp/setuid
echo "status $?"
echo @ past
upmu exec -- exec_reads past 10
echo "status $?"
echo @ raw
upmu exec --raw -- exec_reads counts
echo "status $?"
grep -E '^(taken|leases)' /proc/upmu
echo @ refused-exec_reads
upmu exec -- exec_reads counts 2>&1
echo "status $?"
upmu exec -- exec_reads thread 2>&1
echo "status $?"
echo @ started
upmu exec -- sh -c 'exec_reads counts; exit $?'
echo "status $?"
echo @ sent
upmu exec -- sh -c 'kill -ILL $$'
echo "status $?"
echo @ status
upmu exec -- sh -c 'exit 7'
echo "status $?"
upmu exec -- /nonexistent
echo "status $?"
upmu exec -- /proc/cpuinfo
echo "status $?"
echo @ descriptors
(ulimit -n 5; upmu exec -- true) 2>&1
echo "status $?"
echo @ signal
upmu exec -- sh -c 'kill -TERM $$'
echo "status $?"
echo @ passed
upmu exec -- sh -c 'trap "echo got usr1; exit 3" USR1
	echo ready; while :; do usleep 10000; done' >/tmp/trap &
holder=$!
await ready /tmp/trap
kill -USR1 $holder
wait $holder
echo "status $?"
cat /tmp/trap
echo @ killed
upmu exec -- exec_reads hold /tmp/hold &
holder=$!
await reading /tmp/hold
kill -9 $holder
await sigill /tmp/hold
cat /tmp/hold
grep leases /proc/upmu
echo @ busy
upmu exec -- sleep 1000 &
holder=$!
until grep -q 'leases 1' /proc/upmu; do usleep 10000; done
upmu exec --raw -- true
echo "status $?"
upmu exec -- exec_reads
echo "status $?"
kill $holder
wait $holder
echo "ended $?"
echo @ forbidden
user /upmu/bin/upmu exec -- true
echo "status $?"
chmod 666 /dev/upmu
echo @ allowed
user /upmu/bin/upmu exec -- /upmu/bin/exec_reads
echo "status $?"
echo @ rawuser
user /upmu/bin/upmu exec --raw -- true
echo "status $?"
echo @ openall
echo all >/sys/module/upmu/parameters/open
upmu exec -- exec_reads
echo "status $?"
upmu exec --raw -- exec_reads counts
echo "status $?"
echo none >/sys/module/upmu/parameters/open
echo @ unload
rmmod upmu
echo "status $?"
