#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs on the board: kmod_lockdown.sh unsigned, on a kernel locked down since
# boot; kmod_lockdown.sh raised, on one that is locked down meanwhile.
number=0
failed=0
lockdown=/sys/kernel/security/lockdown
open=/sys/module/upmu/parameters/open
EPERM=1

claim() {	# NAME STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "# $(cat $lockdown); $(dmesg | tail -n 3)"
		failed=1
	fi
}

status_is() {	# STATUS COMMAND...
	wanted=$1
	shift
	"$@" >/dev/null 2>&1
	[ $? = "$wanted" ]
}

refuses() {	# WORD: of open
	! echo "$1" 2>/dev/null >$open && [ "$(cat $open)" = none ]
}

end() {
	echo "1..$number"
	exit $failed
}

mount -t securityfs none /sys/kernel/security || exit 1
if [ ! -e $lockdown ]; then
	echo "ok 1 - lockdown_$1 # SKIP this kernel has no lockdown"
	echo 1..1
	exit
fi
if [ "$1" = unsigned ]; then
	! insmod /upmu/upmu.ko 2>/dev/null && [ ! -e /dev/upmu ]
	claim a_locked_down_kernel_does_not_load_an_unsigned_module $?
	dmesg | grep -q 'unsigned module loading is restricted'
	claim and_its_log_says_why $?
	end
fi

insmod /upmu/upmu.ko || exit 1
echo integrity >$lockdown
status_is 0 kmod_lease take
claim integrity_grants_a_lease_to_count $?
status_is $EPERM kmod_raw mess
claim integrity_refuses_raw_with_eperm $?
refuses all
claim and_open_all $?
echo cycles >$open && [ "$(cat $open)" = cycles ]
claim and_grants_open_cycles $?
echo none >$open
echo confidentiality >$lockdown
status_is $EPERM kmod_lease take
claim confidentiality_refuses_every_lease_with_eperm $?
refuses cycles
claim and_open_cycles $?
end
