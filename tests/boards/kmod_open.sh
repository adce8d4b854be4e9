#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs on the board: open=cycles|all for every process, through whatever comes.
number=0
failed=0
cpus=$(grep -c '^processor' /proc/cpuinfo)
param=/sys/module/upmu/parameters/open

claim() {	# NAME STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "# status $2"
		sed 's/^/# /' /proc/upmu
		failed=1
	fi
}

runs() {	# CLAIM: 0 where the cycle counter runs on each CPU
	kmod_cycles runs
	claim "$1" $?
}

closed() {
	kmod_cycles runs
	[ $? = 2 ]
	claim "$1" $?
}

refuses() {	# CLAIM WORD
	! echo "$2" 2>/dev/null >$param
	claim "$1" $?
}

# Named in the log soon, so often in all: by `open`, then under leases.
writers() {	# CLAIM COUNT LEASES
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		open=$(dmesg | grep -c "open=cycles: the process kmod_written")
		leases=$(dmesg | grep -c "under the count lease of kmod_written")
		if [ "$open $leases" = "$2 $3" ]; then break; fi
		usleep 200000
	done
	[ "$open $leases" = "$2 $3" ]
	claim "$1" $?
}

insmod /upmu/upmu.ko || exit 1
[ "$(cat $param)" = none ]
claim loading_opens_nothing $?
closed and_no_process_reads
echo cycles >$param
runs open_cycles_lets_every_process_read
[ "$(dmesg | grep -c 'upmu: open=cycles')" = 1 ]
claim the_log_says_so_once $?
for word in bad CYCLES none,cycles 1; do
	refuses "a_bad_value_is_refused_$number" "$word"
done
[ "$(cat $param)" = cycles ]
claim and_changes_nothing $?

kmod_raw perf >/tmp/perf &
perf=$!
while ! grep -q counting /tmp/perf; do usleep 50000; done
runs it_runs_while_perf_counts_on_every_cpu
kill $perf
wait $perf
claim perf_counted_too $?
runs and_when_perf_has_gone

for cpu in $(seq 0 $((cpus - 1))); do
	switch=/sys/devices/system/cpu/cpu$cpu/online
	if [ ! -e "$switch" ] || [ "$cpus" = 1 ]; then continue; fi
	if echo 0 2>/dev/null >"$switch"; then
		runs "it_runs_while_cpu${cpu}_is_away"
		echo 1 >"$switch"
		runs "it_runs_when_cpu${cpu}_is_back"
	else
		echo "# cpu $cpu cannot be switched off"
	fi
done

if grep -q core /sys/power/pm_test 2>/dev/null &&
	grep -q disk /sys/power/state; then
	# An image of all memory: none has to be freed for it, which is at times
	# refused ("Image allocation is 2931 pages short").
	echo 1000000000 >/sys/power/image_size
	echo core >/sys/power/pm_test
	slept=1
	if echo disk >/sys/power/state; then slept=0; fi
	[ $slept = 0 ] || dmesg | tail -n 20 | sed 's/^/# /'
	claim the_machine_went_through_cpu_pm $slept
	dmesg | tail -n 40 | grep -q 'hibernation debug: Waiting\|PM: '
	claim and_the_log_says_that_it_did $?
	runs it_runs_after_cpu_pm
else
	number=$((number + 1))
	echo "ok $number - it_runs_after_cpu_pm # SKIP no pm_test or no state disk"
fi

echo none >$param
closed open_none_closes_it
echo all >$param
runs open_all_lets_every_process_read
kmod_raw writes
claim and_write $?
kmod_lease take >/dev/null
[ $? = 16 ]
claim a_lease_beside_open_all_is_ebusy $?
echo none >$param
closed and_none_closes_that
echo cycles >$param
kmod_written lease
writers who_writes_under_a_lease_wrote_by_none_of_open 0 1
kmod_written reset
writers who_writes_by_open_alone_is_in_the_log 1 1
echo none >$param
echo cycles >$param
kmod_written reset
writers and_so_after_it_was_opened_anew 2 1
echo none >$param
echo cycles >$param
kmod_writers turns && sleep 1 &&
	dmesg | grep -q "open=cycles: the process by_open"
claim and_not_who_wrote_under_a_lease_right_after $?
echo none >$param
kmod_writers open && dmesg | grep -q "open=cycles: the process at_once"
claim nor_is_one_forgotten_where_it_is_closed_at_once $?
rmmod upmu
insmod /upmu/upmu.ko open=cycles
runs it_can_be_given_when_loading
rmmod upmu
claim the_module_goes_while_open $?
closed and_closes_everything
! insmod /upmu/upmu.ko open=bad 2>/dev/null
claim a_bad_value_when_loading_is_refused $?
echo "1..$number"
exit $failed
