#!/bin/sh
# SPDX-License-Identifier: MIT
# On the board, for stat_names.test: counts NAMES by perf's name and by the code
# that upmu list has for it, with Debian's perf and with upmu stat.
#
# usage: stat_names.sh NAME...
#
# Prints "@ CPU CORE NAME CODE MARK" of each name, and lines "CORE NAME WHO
# VALUE": alone, perf's word on the name by itself; perf and perf_code in one
# group of perf's, on that CPU; by_perf and by_upmu of one program, which both
# count at the same time; upmu and upmu_code of one run. What perf has nothing
# for has alone and upmu only.
# shellcheck disable=SC2010,SC2012,SC2046,SC2086 # links; words are lists
cd /upmu/bin || exit 1
perf=/perf/perf
[ -p /tmp/go ] || mkfifo /tmp/go

# One list for each kind of core, and in /tmp/kinds: CPU, core, counters.
upmu list | awk '
	/^[^ ].*, CPU [0-9].*, PMU / {
		n++
		core = cpu = $0
		sub(/\), CPU.*/, "", core); sub(/.*\(/, "", core)
		sub(/.*, CPU /, "", cpu); sub(/[^0-9].*/, "", cpu)
	}
	/ event counters and the cycle/ && core {
		print cpu, core, $1 >"/tmp/kinds"; core = "" }
	n { print >("/tmp/list." n) }'
[ -s /tmp/kinds ] || { echo "@@ no PMU"; exit 1; }

waits() {	# PID
	grep -q '^State:.S' /proc/$1/status
}

opened() {	# PID...: have they opened their events, and do they wait?
	for pid; do
		ls -l /proc/$pid/fd 2>/dev/null | grep -q perf_event &&
			waits $pid || return 1
	done
}

until_calm() {	# COMMAND...: true five times, or hopeless
	tries=0 calm=0
	while [ $calm -lt 5 ] && [ $tries -lt 400 ]; do
		sleep 0.05
		tries=$((tries + 1))
		"$@" && calm=$((calm + 1))
	done
}

# A program that waits until both who count it have opened their events: of
# what is not emulated upmu stat opens none, but page-faults it does.
beside() {	# EVENTS-OF-PERF EVENTS-OF-UPMU
	taskset $on sh -c 'read -r x </tmp/go; exec ./stat_work naive 24' &
	work=$!
	until_calm waits $work
	$perf stat -x, -o /tmp/p -e "$1" -p $work & one=$!
	upmu stat -x, -o /tmp/u -e "$2,page-faults" -p $work &
	other=$!
	until_calm opened $one $other
	echo >/tmp/go
	wait $work $one $other
}

# The counts in a file of CSV, in the order of who was asked for.
values() {	# FILE NAME:WHO...
	file=$1
	shift
	grep -s '^[0-9<]' $file | grep -v 'duration_time\|user_time\|system_time' |
		awk -F, -v core="$core/" '$3 !~ "/" || index($3, core) {
			sub(" ", "_", $1); print $1 }' |
		while read -r value; do
			[ $# -gt 0 ] || break
			echo "$core ${1%:*} ${1#*:} $value"
			shift
		done
	rm -f $file
}

batch() {	# NAME CODE...
	groups='' names='' pairs='' want_pairs='' want_upmu='' want_names=''
	want_both=''
	while [ $# -gt 0 ]; do
		groups="$groups,{$1$u,r$2$u}" pairs="$pairs,$1$u,r$2$u"
		names="$names,$1$u"
		want_pairs="$want_pairs $1:perf $1:perf_code"
		want_upmu="$want_upmu $1:upmu $1:upmu_code"
		want_names="$want_names $1:by_perf"
		want_both="$want_both $1:by_upmu"
		shift 2
	done
	$perf stat -C $cpu -x, -o /tmp/p -e "${groups#,}" -- \
		taskset $on ./stat_work naive 24
	values /tmp/p $want_pairs
	beside "${names#,}" "${names#,}"
	values /tmp/p $want_names
	values /tmp/u $want_both
	upmu stat -x, -o /tmp/u -e "${pairs#,}" -- \
		taskset $on ./stat_work naive 24
	values /tmp/u $want_upmu
}

# What perf has nothing for stops perf where it leads a group: each name is
# tried alone first.
alone() {	# NAME...
	list=$(for name; do printf '%s' ",$name$u"; done)
	$perf stat -C $cpu -x, -o /tmp/p -e "${list#,}" -- true
	values /tmp/p $(for name; do echo "$name:alone"; done) | tee /tmp/alone
}

without() {	# NAME...: what the list has no code for, or perf nothing
	[ $# -gt 0 ] || return
	list=$(for name; do printf '%s' ",$name$u"; done)
	upmu stat -x, -o /tmp/u -e "${list#,}" -- true
	values /tmp/u $(for name; do echo "$name:upmu"; done)
}

# The counted ones in batches, as many as the counters hold at a time.
kind_of_core() {	# KIND NAME...
	kind=$1 u=:u todo='' none='' on=$((1 << cpu))
	shift
	grep -q 'cannot tell user' /tmp/list.$kind && u=
	alone "$@"
	for name; do
		code=$(awk -v name="$name" '$1 == name && $2 ~ /^0x/ {
			print substr($2, 3); exit }
			$1 == name && $2 == "nothing:" { print "lacks"; exit }
			' /tmp/list.$kind)
		mark=$(awk -v code="0x$code" '$1 ~ /^[xe-]$/ && $2 == code {
			print $1; exit }' /tmp/list.$kind)
		echo "@ $cpu $core $name ${code:-none} ${mark:-.}"
		case $code in
		'' | lacks) none="$none $name"; continue ;;
		esac
		if grep -q " $name alone <not_supported>" /tmp/alone; then
			none="$none $name"
		else
			todo="$todo $name $code"
		fi
	done
	without $none
	set -- $todo
	while [ $# -gt 0 ]; do
		now='' n=0
		while [ $# -gt 0 ] && [ $((2 * (n + 1))) -le $counters ]; do
			now="$now $1 $2" n=$((n + 1))
			shift 2
		done
		batch $now
	done
}

kind=0
while read -r cpu core counters; do
	kind=$((kind + 1))
	kind_of_core $kind "$@" 2>/tmp/err </dev/null
done </tmp/kinds
