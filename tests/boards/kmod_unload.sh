#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs on the board: ROUNDS unloads, with writers to every parameter, readers of
# the state and openers of the device beside them.
rounds=$1
parameters=/sys/module/upmu/parameters

writer() {	# PARAMETER WORDS...
	parameter=$1
	shift
	while :; do
		for word in "$@"; do
			echo "$word" >"$parameters/$parameter"
		done
	done
}

insmod /upmu/upmu.ko || exit 1
writer open none cycles none all 2>/dev/null &
jobs=$!
writer raw root group 2>/dev/null &
jobs="$jobs $!"
while :; do kmod_lease take; done >/dev/null 2>&1 &
jobs="$jobs $!"
while :; do cat /proc/upmu; done >/dev/null 2>&1 &
jobs="$jobs $!"
n=0
while [ "$n" -lt "$rounds" ]; do
	if rmmod upmu 2>/dev/null; then
		insmod /upmu/upmu.ko || exit 1
		n=$((n + 1))
	fi
done
# shellcheck disable=SC2086 # several
kill $jobs
echo "ok 1 - unloading_with_everybody_at_work_survives"
echo "# $n times"
echo none >$parameters/open
no=
kmod_lease take || no='not '
echo "${no}ok 2 - and_the_module_works_afterwards"
no=
rmmod upmu || no='not '
echo "${no}ok 3 - and_unloads"
no=
insmod /upmu/upmu.ko && kmod_handover unload || no='not '
echo "${no}ok 4 - perf_counts_cycles_on_a_cpu_that_was_off_when_all_ended"
echo 1..4
