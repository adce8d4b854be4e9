# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Runs on the Pi Zero.
number=0
failed=0

claim() {	# NAME STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		failed=1
		echo "not ok $number - $1"
		{ cat /proc/upmu; dmesg | grep upmu | tail -n 4; } |
			sed 's/^/# /'
	fi
}

says() {	# LINE: of the state
	grep -q "^$1" /proc/upmu
}

insmod /upmu/upmu.ko
claim it_loads $?
says 'cpu 0 pmu armv6_1176 version 1 counters 2 access 0x0$' &&
	says 'published yes$'
claim it_knows_the_pmu_and_its_two_counters $?
dmesg | grep -q 'armv6_1176 has no interrupt: while in use it is folded'
claim the_pmu_without_interrupt_is_folded $?
for _ in 1 2 3; do kmod_lease take || break; done
claim leases_are_taken $?
says 'leases 0$'
claim and_end $?
kmod_lease probe
[ $? = 11 ]
claim who_holds_none_gets_sigill $?
kmod_raw mess && says 'leases 0$' && says 'taken 0x0*$'
claim a_holder_of_raw_that_ends_in_a_mess_leaves_nothing_taken $?
for word in cycles all none; do
	echo $word >/sys/module/upmu/parameters/open || break
done
says 'open none$' && says 'taken 0x0*$' &&
	[ "$(dmesg | grep -c 'upmu: open=')" = 3 ]
claim open_can_be_set_and_ended $?
kmod_fuzz 1000 >/tmp/fuzz
claim random_calls_are_answered_as_documented $?
rmmod upmu
claim it_unloads $?
! grep -q upmu /proc/timer_list
claim and_leaves_no_timer $?
insmod /upmu/upmu.ko adopt=auto && dmesg | grep -q 'nothing to adopt' &&
	rmmod upmu
claim it_loads_again_and_finds_nothing_to_adopt $?
echo "1..$number"
exit $failed
