#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs on the board: every register of every CPU is as before RAW and CYCLES.
number=0
failed=0
cpus=$(grep -c '^processor' /proc/cpuinfo)
peek=/proc/upmu_peek

claim() {	# NAME STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		failed=1
		sed 's/^/# was /' /tmp/before
		sed 's/^/# is  /' /tmp/after
	fi
}

poke() {	# WORDS...: on every CPU
	for cpu in $(seq 0 $((cpus - 1))); do
		echo "$cpu $*" >$peek || echo "# poke $cpu $* failed"
	done
}

odd_state() {
	poke control 0x8
	for n in 0 1 2; do
		poke type $((0xf1 + n)) $n	# which no core counts
		poke counter $((0x12340000 + n)) $n
	done
	poke type 0xc0000000 31	# the cycle counter counts nowhere
	poke cycles 0xfedcba98
	poke enabled 0x80000005
	poke overflow 0x80000004
	poke selected 2
}

same() {	# NAME: all of them
	cat $peek >/tmp/after
	cmp -s /tmp/before /tmp/after
	claim "$1" $?
}

hold() {	# MODE-ARGUMENTS...: a holder in the background, $holder
	rm -f /tmp/held
	"$@" >/tmp/held 2>&1 &
	holder=$!
	for _ in $(seq 400); do
		grep -q 'held\|counting' /tmp/held && return
		usleep 50000
	done
	echo "# never held: $(cat /tmp/held)"
}

# What a holder's running counters leave as it is; the permission is of whoever
# runs there.
standing() {
	sed 's/ cycles [0-9a-f]*//; s/ counter0 [0-9a-f]*//
		s/ access [0-9a-f]*//
		s/ overflow 8\([0-9a-f]\{7\}\) / overflow \1 /
		s/ overflow 0*\([0-9a-f]\)/ overflow \1/'
}

end() {	# SIGNAL
	kill "-$1" "$holder"
	wait "$holder" 2>/dev/null
}

settle() {
	for _ in $(seq 400); do
		grep -q '^leases 0' /proc/upmu && grep -q '^taken 0x0*$' \
			/proc/upmu && return
		usleep 50000
	done
	echo "# never settled"
}

insmod /upmu/upmu_peek.ko && insmod /upmu/upmu.ko || exit 1
odd_state
cat $peek >/tmp/before
kmod_raw mess
settle
same registers_are_as_before_after_exit
hold kmod_raw hold
grep -q '^lease .* mode raw ' /proc/upmu
claim a_holder_of_raw_is_told_in_the_state $?
cat $peek >/tmp/after
! cmp -s /tmp/before /tmp/after
claim the_holder_did_change_them $?
end 9
settle
same registers_are_as_before_after_kill_9

if [ "$cpus" -gt 1 ]; then
	last=/sys/devices/system/cpu/cpu$((cpus - 1))/online
	hold kmod_raw hold
	cat $peek >/tmp/held_state
	echo 0 >$last
	echo 1 >$last
	standing </tmp/held_state >/tmp/before.held
	standing <$peek >/tmp/after.held
	diff /tmp/before.held /tmp/after.held >/tmp/differs
	claim the_holders_registers_survive_unplugging $?
	sed 's/^/# /' /tmp/differs
	end 9
	settle
	same registers_are_as_before_after_unplugging_meanwhile
	hold kmod_raw hold
	echo 0 >$last
	end 9
	settle
	echo 1 >$last
	same registers_are_as_before_when_it_ended_while_unplugged
fi

if grep -q core /sys/power/pm_test 2>/dev/null &&
	grep -q disk /sys/power/state; then
	cp /tmp/before /tmp/before.all
	hold kmod_raw still
	sed 's/ access [0-9a-f]*//' $peek >/tmp/before
	echo 1000000000 >/sys/power/image_size	# as in kmod_open.sh
	echo core >/sys/power/pm_test
	slept=1
	if echo disk >/sys/power/state; then slept=0; fi
	claim the_machine_went_through_cpu_pm $slept
	sed 's/ access [0-9a-f]*//' $peek >/tmp/after
	cmp -s /tmp/before /tmp/after
	claim the_holders_registers_survive_cpu_pm $?
	cp /tmp/before.all /tmp/before
	end 9
	settle
	same registers_are_as_before_after_cpu_pm_meanwhile
fi

echo cycles >/sys/module/upmu/parameters/open
echo none >/sys/module/upmu/parameters/open
same registers_are_as_before_after_open_cycles
echo all >/sys/module/upmu/parameters/open
kmod_cycles runs
claim a_cycle_counter_that_counted_nowhere_runs_for_its_holder $?
rmmod upmu
same registers_are_as_before_after_unloading

# perf running: its own counters move, its interrupt clears every flag, and
# the selector is at the event that it placed last (31 or 0, as their turn
# comes); all else is as before.
insmod /upmu/upmu.ko
poke control 0
poke enabled 0
poke overflow 0
odd_state
static='s/ cycles [0-9a-f]*//; s/ counter0 [0-9a-f]*//; s/ filter [0-9a-f]*//; s/ overflow [0-9a-f]*//; s/ selected [0-9a-f]*//'
hold kmod_raw perf
perf=$holder
sed "$static" $peek >/tmp/before
kmod_raw mess
settle
sed "$static" $peek >/tmp/after
cmp -s /tmp/before /tmp/after
claim registers_are_as_before_with_perf_running $?
kill "$perf"
wait "$perf"
claim perfs_events_count_on $?
echo "1..$number"
exit $failed
