# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Runs on a board without a PMU in perf: kmod_adopt.sh adopted NAME EVENT...
# where the module should register one as NAME, kmod_adopt.sh refused else. And
# on one whose CPU 0 alone has one, kmod_adopt.sh some, whose cores are unlike,
# kmod_adopt.sh unlike, or of a kind that nobody knows, kmod_adopt.sh unknown
module=/upmu/upmu.ko
device=/sys/devices/platform/upmu-pmu
number=0
failed=0

ok() {	# CLAIM STATUS
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		failed=1
		echo "not ok $number - $1"
		dmesg | grep -i upmu | tail -n 5 | sed 's/^/# /'
	fi
}

end() {
	echo "1..$number"
	exit $failed
}

load() {	# PARAMETER...: its words for the log are in $said
	dmesg -c >/dev/null
	insmod $module "$@" 2>/dev/null
	loaded=$?
	said=$(dmesg | grep upmu)
	return $loaded
}

says() {	# TEXT
	case $said in
	*"$1"*) return 0 ;;
	esac
	return 1
}

cpu_pmus() {
	cat /sys/bus/event_source/devices/*/cpus \
		/sys/bus/event_source/devices/armv*/type 2>/dev/null | wc -l
}

nothing_registered() {
	[ ! -e $device ] && [ "$(cpu_pmus)" = 0 ]
}

refuses() {	# CLAIM VALUE TEXT
	! load "adopt=$2" && says "$3" && nothing_registered
	ok "$1" $?
}

if [ "$1" = some ]; then
	! load adopt=auto && says 'perf has a PMU for 1 of 2 CPUs' &&
		[ ! -e $device ]
	ok nothing_is_adopted_beside_a_pmu_of_some_cpus $?
	load && rmmod upmu
	ok the_module_loads_there_all_the_same $?
	end
fi
nothing_registered
ok perf_has_no_pmu_before $?
load && nothing_registered
ok without_the_parameter_nothing_is_adopted $?
rmmod upmu
refuses a_word_that_is_no_name_is_refused Auto "adopt='Auto' is neither"
refuses an_empty_name_is_refused '' "adopt='' is neither"
if [ "$1" = unlike ]; then
	refuses unlike_cores_are_not_adopted_as_one auto \
		'is of another kind (MIDR 410fd034 and 410fd083)'
	end
fi
if [ "$1" = unknown ]; then
	refuses auto_is_refused_for_a_core_that_nobody_knows auto \
		'no PMU driver is known for this core (MIDR 410fd990)'
	load adopt=arm,cortex-a15-pmu && [ -e $device/driver ]
	ok the_name_of_the_core_that_it_is_most_like_is_taken $?
	end
fi
if [ "$1" = refused ]; then
	refuses auto_is_refused_where_there_is_no_pmu auto 'has no PMU'
	refuses a_name_is_refused_where_there_is_no_pmu arm,cortex-a15-pmu \
		'has no PMU'
	load
	ok the_module_loads_there_all_the_same $?
	end
fi
refuses a_name_that_no_pmu_driver_knows_is_refused arm,pl011 \
	"no PMU driver in this kernel knows 'arm,pl011'"
refuses a_very_long_name_is_refused \
	"arm,$(head -c 700 /dev/zero | tr '\0' a)" 'no PMU driver'

name=$2
shift 2

# EVENT: its count by perf's CSV, or by upmu's
counted_by_perf() {
	count=$(/perf/perf stat -x, -e "$1" true 2>&1 |
		awk -F, -v event="$1" '$3 == event { print $1 }')
	echo "# perf stat -e $1 true: $count"
	[ "${count:-0}" -gt 1000 ]
}

counted_by_upmu() {
	count=$(upmu stat -x, -e "$1" -- true 2>&1 |
		awk -F, -v event="$1" '$3 == event { print $1 }')
	echo "# upmu stat -e $1 -- true: $count"
	[ "${count:-0}" -gt 1000 ]
}

counts() {	# WHEN EVENT...
	when=$1
	shift
	for event; do
		if [ -d /perf ]; then
			counted_by_perf "$event"
			ok "debians_perf_counts_${event}_$when" $?
		fi
		counted_by_upmu "$event"
		ok "upmu_stat_counts_${event}_$when" $?
	done
}

load adopt=auto && [ -e $device/driver ] && [ "$(cpu_pmus)" != 0 ]
ok auto_registers_a_pmu_with_perf $?
says "adopting it as '$name'"
ok "under_the_name_$name" $?
says 'stays until reboot'
ok the_log_says_what_cannot_be_undone $?
dmesg | grep -q 'Error -2 creating of_node link'
[ $? = 1 ]
ok the_kernel_does_not_complain $?
counts after_adopting "$@"

rmmod upmu
ok it_unloads $?
# What the module's memory was is somebody else's by now.
for again in 1 2 3; do
	load && rmmod upmu
	cat $device/modalias $device/uevent >/tmp/files || break
	echo change >$device/uevent || break
done
[ "$again" = 3 ] && grep -q "OF_COMPATIBLE_.*=$name" /tmp/files &&
	grep -q "^of:.*C$name" /tmp/files
ok modalias_and_uevent_are_right_after_unloading $?
counts after_unloading "$@"

load adopt=auto && says 'adopted since boot'
ok it_is_found_again_by_the_next_load $?
counts after_loading_again "$@"
rmmod upmu
load "adopt=$name"
ok the_name_it_was_adopted_by_is_accepted $?
rmmod upmu
! load adopt=arm,cortex-a7-pmu && says 'under another name'
ok another_name_is_refused $?
end
