#!/bin/sh
# SPDX-License-Identifier: MIT
# hardware.sh PROGRAMS MODULE [SECONDS [NAME...]]: the board tests that need no
# emulator, on this machine, as root. PROGRAMS is the folder of the built tree
# (or /upmu/bin on an emulated board, where a board test tries this
# script), MODULE is upmu.ko. The soak takes SECONDS; with NAMEs only these of
# the programs that judge themselves are run. Prints TAP. Counts of cycles are
# shown, not judged.
set -u
programs=$1
module=$2
seconds=${3:-10}
shift "$(($# < 3 ? $# : 3))"
[ $# -gt 0 ] || set -- kmod_lease kmod_page kmod_cycles kmod_raw lib_truth
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

ok() {	# CLAIM STATUS: what was printed explains a failure
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
	fi
	sed 's/^/# /' "$work/out"
}

skip() {	# CLAIM REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

program() {	# NAME: the path of a built program
	find "$programs" -name "$1" -type f | head -n 1
}

run() {	# NAME ARGUMENT...
	path=$(program "$1")
	shift
	"${path:-/nonexistent}" "$@" >"$work/out" 2>&1
}

upmu() {
	"$(program upmu)" "$@" >"$work/out" 2>&1
}

leases() {
	sed -n 's/^leases //p' /proc/upmu 2>/dev/null
}

user_access=/proc/sys/kernel/perf_user_access
if [ -e "$user_access" ]; then
	before=$(cat "$user_access")
	echo 1 >"$user_access"
fi
was_loaded=no
[ ! -e /sys/module/upmu ] || was_loaded=yes

run one_cycle 1000
[ $? = 132 ]
ok without_permission_a_register_read_dies_of_sigill $?

if [ "$was_loaded" = no ]; then
	insmod "$module" >"$work/out" 2>&1
	ok the_module_loads $?
	run one_cycle 1000
	[ $? = 132 ]
	ok nothing_is_open_after_loading $?
fi

upmu check
[ $? -le 1 ] && grep -q '^upmu [0-9]' "$work/out" &&
	grep -qE '^(ok|bad|note) +kernel ' "$work/out" &&
	grep -qE '^(ok|bad|note) +source +page ' "$work/out"
ok check_judges_the_kernel_and_the_sources $?
upmu regs
status=$?
if [ -e "$user_access" ]; then
	skip regs_shows_the_registers "this kernel opens counters only"
else
	ok regs_shows_the_registers $status
fi

upmu exec -- "$(program one_cycle)" 1000000
status=$?
awk '/^two reads/ { exit !($NF >= 1 && $NF < 10000) }' "$work/out"
ok exec_opens_the_cycle_counter $((status + $?))
upmu exec -- "$(program one_cycle)" sleep
ok a_sleep_is_survived $?
run one_cycle 1000
status=$?
if [ -e "$user_access" ]; then
	# The kernel takes it back when the next event starts, not before.
	skip the_permission_ends_with_the_program \
		"not promised where kernel.perf_user_access is on"
else
	[ $status = 132 ]
	ok the_permission_ends_with_the_program $?
fi

run two_ways
status=$?
awk '/^(the register|read\(2\)) / { d[n++] = $NF }
	END { exit !(n == 2 && d[0] > 0 && d[1] > 0) }' "$work/out"
ok the_loop_is_counted_by_register_and_by_read $((status + $?))
run regions
status=$?
if grep -q 'this board is emulated' "$work/out"; then
	skip regions_are_counted "$(grep 'this board is emulated' "$work/out")"
else
	ok regions_are_counted $status
fi
run measure
status=$?
awk '/^an empty one/ { found = $5 < 100 } END { exit !found }' "$work/out"
ok an_empty_function_costs_next_to_nothing $((status + $?))
upmu cost
ok cost_of_a_read $?

# Programs that judge themselves; each prints TAP, shown as it is.
for name; do
	[ -n "$(program "$name")" ] || continue
	case $name in
	kmod_*) if [ -e "$user_access" ]; then
			skip "$name" "not on a kernel that opens the counters"
			continue
		fi ;;
	esac
	case $name in
	lib_truth) run "$name" "$seconds" ;;
	*) run "$name" ;;
	esac
	ok "${name}_holds_on_this_machine" $?
done

# Instructions of loops in user mode, where the PMU can leave the kernel out.
if upmu exec --raw -- true && [ -n "$(program loops)" ]; then
	upmu exec --raw -- "$(program loops)" 100
	awk '/^(test at the end|test at begin)/ {
			sub(/^test at (the end|begin)/, "")
			if ($4 > $1 * 1.01 || $4 < $1 * 0.99)
				bad++
			lines++
		} END { exit !(lines == 2 && !bad) }' "$work/out"
	ok loops_execute_the_instructions_worked_out_by_hand $?
else
	skip loops_execute_the_instructions_worked_out_by_hand \
		"no raw lease, or no 32-bit program, here"
fi

if [ "$was_loaded" = no ]; then
	if [ -e /proc/upmu ]; then
		cat /proc/upmu >"$work/out"
		[ "$(leases)" = 0 ]
		ok no_lease_is_left $?
	fi
	rmmod upmu >"$work/out" 2>&1
	ok the_module_unloads $?
fi
[ ! -e "$user_access" ] || echo "$before" >"$user_access"
echo "1..$number"
