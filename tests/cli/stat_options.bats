#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What upmu stat has of perf stat's options, and what it refuses and how.

load crashes
load kernel

bats_require_minimum_version 1.5.0

setup() {
	top=$BATS_TEST_DIRNAME/../..
	upmu=${UPMU:-$top/build/tools/upmu}
	check=$BATS_TEST_DIRNAME/check_stat_output.py
	intervals=$BATS_TEST_DIRNAME/intervals
	cd "$BATS_TEST_TMPDIR" || exit
}

needs_root() {
	[ "$(id -u)" -eq 0 ] || skip "counting CPUs needs root"
}

cpus() {
	getconf _NPROCESSORS_ONLN
}

# ---- the default view -------------------------------------------------------

@test "stat_and_compare_fail_where_the_machine_cannot_be_told" {
	local part cpu=0 folder
	export UPMU_ROOT=$BATS_TEST_TMPDIR/nine
	for part in d03 d04 d05 d07 d08 d09 d0a d0b d41; do
		folder=$UPMU_ROOT/sys/devices/system/cpu/cpu$cpu/regs/identification
		mkdir -p "$folder"
		echo "0x00000000410f${part}0" >"$folder/midr_el1"
		cpu=$((cpu + 1))
	done
	echo 0-8 >"$UPMU_ROOT/sys/devices/system/cpu/online"
	for command in "stat -e r01 -- true" "stat --regions -- true" \
		"compare -e r01 true"; do
		run -125 "$upmu" $command
		[[ "$output" == *"cannot tell this machine's cores: it has more than 8 kinds of core"* ]]
	done
}

@test "default_view_has_task_clock_cpus_used_switches_and_faults" {
	counts_the_kernel
	"$upmu" stat -o report -- timeout 0.1 sh -c 'while :; do :; done' || true
	grep -qE '^ +[0-9,]+  task-clock +ns +# [0-9.]+ CPUs used$' report
	grep -qE '^ +[0-9,]+  context-switches' report
	grep -qE '^ +[1-9][0-9,]*  page-faults' report
	run ! grep -q 'sets of events' report
	"$upmu" stat -j -o report.json -- true
	python3 "$check" json report.json
	"$upmu" stat --format csv -o report.csv -- true
	python3 "$check" csv report.csv
	grep -q ',cpus_used,' report.csv
	# A list of one's own is that list.
	"$upmu" stat -e page-faults -o report -- true
	run ! grep -q task-clock report
}

@test "cpus_used_are_of_the_time_in_which_it_was_counted" {
	# Half a second is left out, the busy half counted.
	"$upmu" stat -D 500 -j -o report -e task-clock -- \
		timeout 1 sh -c 'while :; do :; done' || true
	python3 - <<-'E'
		import json
		report = json.load(open("report"))
		used = report["metrics"][0]
		clock = report["events"][0]["value"] / 1e9
		assert used["metric"] == "cpus_used", used
		# Not the quotient of the whole run, which is less.
		assert used["value"] > 1.3 * clock / report["elapsed_s"]
		assert used["value"] <= 1.1
	E
}

# ---- ratios ----------------------------------------------------------------

@test "metric_groups_that_are_none_are_refused_with_those_that_are" {
	run "$upmu" stat -M cache,nonsense -- touch ran
	[ "$status" -eq 2 ]
	[[ "$output" == *"no group or ratio 'nonsense'"* ]]
	[[ "$output" == *"hint: -M all or some of cache, branch, tlb"* ]]
	run "$upmu" stat -M '' -- touch ran
	[ "$status" -eq 2 ]
	[ ! -e ran ]
}

@test "metrics_on_a_machine_without_a_table_say_so" {
	[[ "$(uname -m)" == x86_64 ]] || skip "this machine has a table"
	for options in '-M all' -d -dd; do
		# shellcheck disable=SC2086	# words
		run "$upmu" stat $options -- touch ran
		[ "$status" -eq 2 ]
		[[ "$output" == *"this machine's core has no event"* ]]
	done
	[ ! -e ran ]
}

@test "list_metrics_shows_formula_direction_and_source_of_a_core" {
	"$upmu" list --metrics --core neoverse-n2 >rows
	grep -A2 '^  frontend_bound  *%' rows >row
	grep -q '= 100 \* (stall_slot_frontend / (cpu_cycles \* slots)' row
	grep -q 'slots = 5$' row
	grep -q -- '-M topdown frontend; low is good: else see ' row
	grep -q 'from Arm telemetry-solution' row
	# A core without the events has no such row; but others.
	"$upmu" list --metrics --core cortex-a7 >rows
	run ! grep -q frontend_bound rows
	grep -q '^  l1d_refill_percent' rows
	"$upmu" list --metrics -j --core cortex-a53 | python3 -c '
import json, sys
core, = json.load(sys.stdin)
assert core["core"] == "cortex-a53"
keys = [row["metric"] for row in core["metrics"]]
assert len(keys) == len(set(keys)) > 8, keys
assert all(row["better"] in ("low", "high", "") for row in core["metrics"])'
	run "$upmu" list --metrics --fit cycles
	[ "$status" -eq 2 ]
}

# ---- rows of their own -------------------------------------------------------

@test "no_aggr_has_a_row_for_each_cpu" {
	needs_root
	"$upmu" stat -a -A -e cpu-clock,page-faults --timeout 300 -o report
	[ "$(grep -c '^CPU[0-9]* .* cpu-clock' report)" -eq "$(cpus)" ]
	[ "$(grep -c '^CPU[0-9]* .* page-faults' report)" -eq "$(cpus)" ]
	# Each CPU's clock went on for about the time, none for the sum.
	"$upmu" stat -A -C 0 -j -e cpu-clock --timeout 300 -o report
	python3 - <<-'E'
		import json
		report = json.load(open("report"))
		clock, = (event["value"] / 1e9 for event in report["events"])
		assert 0.8 * 0.3 < clock < 1.3 * report["elapsed_s"], report
	E
	"$upmu" stat -a -A -j -e cpu-clock --timeout 50 -o report
	python3 "$check" json report
	[ "$(grep -c '"place": "CPU' report)" -eq "$(cpus)" ]
	for form in '--format csv' '-I 20 --format csv'; do
		# shellcheck disable=SC2086	# words
		"$upmu" stat -a -A $form -e cpu-clock --timeout 50 -o report
		python3 "$check" csv report
		head -n 1 report | grep -qE '^(interval_s,)?place,value'
	done
	# Where /sys is not mounted they are the same.
	mkdir none
	UPMU_ROOT=$PWD/none "$upmu" stat -a -A -e cpu-clock --timeout 50 -o report
	[ "$(grep -c '^CPU[0-9]* .* cpu-clock' report)" -eq "$(cpus)" ]
}

@test "cores_and_clusters_are_as_the_kernel_lists_them" {
	needs_root
	[ "$(cpus)" -ge 2 ] || skip "this machine has one CPU"
	local cpu=root/sys/devices/system/cpu
	mkdir -p $cpu/cpu0/topology $cpu/cpu1/topology
	echo 0-1 >$cpu/online
	for n in 0 1; do
		echo $n >$cpu/cpu$n/topology/core_cpus_list
		echo 0-1 >$cpu/cpu$n/topology/cluster_cpus_list
		echo $n >$cpu/cpu$n/topology/die_cpus_list
		echo 0-1 >$cpu/cpu$n/topology/core_siblings_list
	done
	export UPMU_ROOT=$PWD/root
	"$upmu" stat -a --per-core -e cpu-clock --timeout 50 -o report
	[ "$(grep -c '^core [01] ' report)" -eq 2 ]
	"$upmu" stat -a --per-cluster -e cpu-clock --timeout 50 -o report
	[ "$(grep -c '^cluster 0-1 ' report)" -eq 1 ]
	# Both of its CPUs are in it.
	clock=$(awk '/cpu-clock/ { gsub(",", "", $3); print $3 }' report)
	[ "$clock" -gt 90000000 ]
	"$upmu" stat -a --per-die -e cpu-clock --timeout 50 -o report
	[ "$(grep -c '^die [01] ' report)" -eq 2 ]
	# An old kernel has other names.
	"$upmu" stat -a --per-socket -e cpu-clock --timeout 50 -o report
	grep -q '^socket 0-1 ' report
	# Those of a machine that numbers its sockets in turns.
	list=0,1,$(seq -s, 4 2 200)
	for n in 0 1; do
		echo "$list" >$cpu/cpu$n/topology/core_siblings_list
	done
	"$upmu" stat -a --per-socket -e cpu-clock --timeout 50 -o report
	[ "$(grep -c "^socket $list  *[0-9]" report)" -eq 1 ]
	[ "$(grep -c ' cpu-clock' report)" -eq 1 ]
	# One that says nothing has CPUs.
	rm $cpu/cpu1/topology/core_cpus_list
	"$upmu" stat -a --per-core -e cpu-clock --timeout 50 -o report
	grep -q '^core 0 ' report
	grep -q '^CPU1 ' report
}

@test "per_thread_has_a_row_for_each_thread_of_a_process" {
	python3 - <<-'E' &
		import os, threading, time
		def spin():
		    while not os.path.exists("stop"):
		        pass
		threading.Thread(target=spin).start()
		threading.Thread(target=spin).start()
		open("ready", "w").close()
		while not os.path.exists("stop"):
		    time.sleep(0.01)
	E
	local pid=$!
	for _ in $(seq 100); do [ -e ready ] && break; sleep 0.1; done
	"$upmu" stat --per-thread -p $pid -e task-clock --timeout 500 -o report
	"$upmu" stat --per-thread -p $pid -e task-clock -j --timeout 100 \
		-o report.json
	touch stop
	wait $pid
	[ "$(grep -c "^python3-[0-9]* .* task-clock" report)" -eq 3 ]
	grep -q "^python3-$pid " report
	python3 "$check" json report.json
}

@test "threads_that_start_while_a_process_is_looked_at_are_counted" {
	local per pid
	nm "$upmu" | grep -q __asan_init && skip "ASan wants to be loaded first"
	cat >slow.c <<-'E'
		#define _GNU_SOURCE
		#include <dirent.h>
		#include <dlfcn.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>
		static int lists;
		DIR *opendir(const char *path)
		{
			DIR *(*next)(const char *) = dlsym(RTLD_NEXT, "opendir");
			lists += strstr(path, "/task") != NULL;
			return next(path);
		}
		int closedir(DIR *list)
		{
			int (*next)(DIR *) = dlsym(RTLD_NEXT, "closedir");
			if (lists && access("listed", F_OK)) {
				fclose(fopen("listed", "w"));
				sleep(1);
			}
			return next(list);
		}
	E
	cc -shared -fPIC -o slow.so slow.c -ldl
	cat >late.py <<-'E'
		import os, threading, time
		def spin():
		    while True:
		        pass
		open("ready", "w").close()
		while not os.path.exists("listed"):
		    time.sleep(0.02)
		threading.Thread(target=spin, daemon=True).start()
		time.sleep(60)
	E
	for per in '' --per-thread; do
		rm -f listed ready
		python3 late.py &
		pid=$!
		for _ in $(seq 100); do [ -e ready ] && break; sleep 0.1; done
		LD_PRELOAD=$PWD/slow.so "$upmu" stat -p $pid $per -e task-clock \
			--timeout 1000 -x, -o report
		kill $pid
		cat report
		awk -F, '/task-clock/ && ($1 + $2 > 2e7) { found = 1 }
			END { exit !found }' report
	done
}

@test "per_thread_has_its_columns_whatever_letters_a_name_has" {
	local name pid
	export LC_ALL=C.UTF-8
	for name in abc äöü; do
		cp "$(command -v sleep)" $name
		./$name 30 &
		pid=$!
		until grep -qx $name /proc/$pid/comm; do sleep 0.02; done
		"$upmu" stat --per-thread -p $pid -e page-faults --timeout 20 \
			-o report
		kill $pid
		grep -qE '^.{39}page-faults' report
	done
}

@test "per_thread_prints_no_name_that_a_terminal_obeys" {
	cp "$(command -v sleep)" $'a\033[31m\nb'
	$'./a\033[31m\nb' 30 &
	local pid=$!
	until grep -q '^a' /proc/$pid/comm; do sleep 0.02; done
	for form in '' '-I 20 --plot' '-I 20 --summary' '-x ,' -j; do
		# shellcheck disable=SC2086	# words
		"$upmu" stat --per-thread -p $pid $form -e task-clock \
			--timeout 100 -o report
		grep -q "a?\[31m?b-$pid" report
		run ! grep -q "$(printf '\033')" report
	done
	kill $pid
}

@test "rows_of_their_own_refuse_what_they_cannot_be_of" {
	for bad in '-A' '--per-core' '--per-thread' '--per-thread -a' \
		'-a -A --per-core' '-a -A -r 2' '-a -A --format rpistat' \
		'--for-each-cgroup / -C 0' '--for-each-cgroup / -p 1' \
		'--for-each-cgroup / --per-core'; do
		# shellcheck disable=SC2086	# words
		run "$upmu" stat $bad -e page-faults -- touch ran
		[ "$status" -eq 2 ]
		[[ "$output" == *"hint:"* ]]
	done
	[ ! -e ran ]
	run "$upmu" stat --for-each-cgroup no-such-group -e cpu-clock -- \
		touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"no cgroup 'no-such-group'"* ]]
	[ ! -e ran ]
}

# ---- intervals ----------------------------------------------------------------

@test "interval_count_ends_the_intervals_and_not_the_program" {
	# However late the program begins: it looks for what has been written.
	"$upmu" stat -I 50 --interval-count 3 -e task-clock -x, -o report -- \
		sh -c 'for try in $(seq 600); do
			[ "$(wc -l <report)" -lt 3 ] || break
			sleep 0.1
		done
		sleep 0.2
		echo done >ended'
	[ "$(wc -l <report)" -eq 3 ]
	[ -e ended ]
	# Without a program counting ends with them.
	sleep 30 &
	local pid=$!
	timeout 10 "$upmu" stat -I 50 --interval-count 2 -p $pid \
		-e task-clock -x, -o report
	kill $pid
	[ "$(wc -l <report)" -eq 2 ]
}

@test "intervals_that_upmu_slept_through_are_one" {
	local last lines pid
	"$upmu" stat -I 10 -e task-clock -x, -o report -- sleep 1.5 &
	pid=$!
	sleep 0.1
	kill -STOP $pid
	sleep 1
	kill -CONT $pid
	wait $pid
	lines=$(grep -c task-clock report)
	last=$(sed -n '$s/,.*//p' report)
	awk "BEGIN { exit !($lines * 0.01 + 1 <= $last + 0.03) }"
}

@test "summary_is_the_sum_of_the_intervals" {
	"$upmu" stat -I 100 --summary -e task-clock,page-faults --format csv \
		-o report -- "$intervals" 7 :
	python3 "$check" csv report
	python3 - <<-'E'
		import csv
		rows = list(csv.DictReader(open("report")))
		for event in "task-clock", "page-faults":
		    mine = [r for r in rows if r["event"] == event]
		    *parts, whole = mine
		    assert all(r["interval_s"] for r in parts), parts
		    assert whole["interval_s"] == ""
		    assert len(parts) >= 5
		    assert int(whole["counted"]) == sum(int(r["counted"])
		                                        for r in parts if r["counted"])
		    assert int(whole["running_ns"]) == sum(int(r["running_ns"])
		                                           for r in parts if r["counted"])
	E
	"$upmu" stat -I 100 --summary -j -e page-faults -o report -- \
		"$intervals" 2 sleep 0.1
	python3 "$check" json report
	tail -n 1 report | grep -q '"elapsed_s"'
	run ! grep -q '"interval_s".*"elapsed_s"' report
}

@test "summary_of_what_never_ran_is_0_as_its_intervals_are" {
	sleep 60 3>&- & pid=$!
	kill -STOP $pid
	until grep -q '^State:.T' /proc/$pid/status; do sleep 0.1; done
	"$upmu" stat -I 50 --summary --interval-count 2 -j -e page-faults \
		-o report -p $pid
	kill -KILL $pid
	python3 "$check" json report
	[ "$(grep -c '"idle":true' report)" -eq 3 ]
}

@test "summary_and_count_without_intervals_are_refused" {
	for bad in --summary '--interval-count 3' '-I 9 --summary --plot'; do
		# shellcheck disable=SC2086	# words
		run "$upmu" stat $bad -e page-faults -- true
		[ "$status" -eq 2 ]
		[[ "$output" == *"hint:"* ]]
	done
}

# ---- control ------------------------------------------------------------------

@test "control_by_fifos_counts_what_stands_between_enable_and_disable" {
	mkfifo orders answers
	cat >program <<-'E'
		spin() { i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; }
		order() { echo "$1" >orders; read -r answer <answers; echo "$1 $answer"; }
		spin
		spin
		order ping
		order enable
		spin
		order disable
		spin
		order enable
		order disable
	E
	"$upmu" stat -D -1 --control fifo:orders,answers -e task-clock -j \
		-o report -- sh program >said
	[ "$(cat said)" = "$(printf '%s ack\n' ping enable disable enable disable)" ]
	python3 - <<-'E'
		import json
		report = json.load(open("report"))
		clock = report["events"][0]["value"] / 1e9
		# One spin of four.
		assert 0.15 * report["user_s"] < clock, report
		assert clock < 0.4 * report["user_s"], report
	E
}

@test "control_by_descriptors_works_and_so_do_intervals" {
	mkfifo orders answers
	exec 5<>orders 6<>answers
	echo enable >&5
	"$upmu" stat -D -1 -I 50 --control fd:5,6 -e task-clock -x, -o report \
		5<&5 6>&6 -- "$intervals" 5 :
	read -r -t 5 answer <&6
	exec 5>&- 6>&-
	[ "$answer" = ack ]
	[ "$(wc -l <report)" -ge 3 ]
	grep -qE ',[0-9]+,ns,task-clock,' report
}

@test "control_that_never_enables_counts_nothing_and_says_so" {
	mkfifo orders
	"$upmu" stat -D -1 --control fifo:orders -e task-clock -o report -- true
	grep -q '<not counted>  task-clock' report
}

@test "control_starts_nothing_by_another_order_than_enable" {
	mkfifo orders answers
	"$upmu" stat -D -1 --control fifo:orders,answers -e task-clock \
		-o report -- sh -c 'exec 5<>orders 6<>answers
			for order in ping disable ping; do
				echo $order >&5; read -r answer <&6
			done'
	grep -q '<not counted>  task-clock' report
}

@test "control_that_was_stopped_is_not_enabled_again_in_that_run" {
	mkfifo orders answers
	# The second run begins anew.
	"$upmu" stat -r 2 -D -1 --control fifo:orders,answers -e task-clock -j \
		-o report -- sh -c 'exec 5<>orders 6<>answers
			for order in stop enable ping; do
				echo $order >&5; read -r answer <&6
			done; echo "$answer" >>said'
	[ "$(cat said)" = "$(printf 'ack\nack')" ]
	[[ "$(cat report)" == *'"state": "not counted"'* ]]
}

@test "control_names_an_order_that_is_none_and_answers_nothing" {
	mkfifo orders answers
	exec 6<>answers
	# What is told of the last one comes behind the answer to ping.
	"$upmu" stat --control fifo:orders,answers -e task-clock -o report \
		--timeout 60s -- sh -c 'exec 5<>orders
			echo explode >&5; echo ping >&5; read -r answer <&6
			echo burst >&5
			until grep burst said; do sleep 0.1; done' 2>said
	grep "'explode' is not enable, disable, ping or stop" said
	run ! read -r -t 0 -u 6
	exec 6>&-
}

@test "control_takes_orders_without_an_end_of_line_and_empty_lines" {
	mkfifo orders answers
	# ping's own answer tells that what stood before it was read.
	"$upmu" stat -D -1 --control fifo:orders,answers -e task-clock -x, \
		-o report -- sh -c 'exec 5<>orders 6<>answers
			printf enable >&5; read -r word <&6
			printf "\n\n\nping" >&5; read -r other <&6
			echo "$word $other" >words' 2>errors
	[ "$(cat words)" = "ack ack" ]
	[ ! -s errors ]
	grep -qE '^[1-9][0-9]*,ns,task-clock,' report
}

@test "control_however_much_comes_lets_the_program_end_and_time_be_over" {
	yes ping | timeout -k 1 20 "$upmu" stat --control fd:0 -e task-clock \
		-o report -- true
	grep -q 'elapsed' report
	# A line without an end, and what can only fail.
	timeout -k 1 20 "$upmu" stat --control fd:0 -e task-clock -o report \
		-- true </dev/zero
	for odd in /dev/zero .; do
		run -124 timeout -k 1 20 "$upmu" stat --timeout 100 \
			--control fd:3 -e task-clock -o report -- sleep 30 3<$odd
		grep -q 'elapsed' report
	done
}

@test "control_hears_the_programs_end_where_signals_have_no_descriptor" {
	nm "$upmu" | grep -q __asan_init && skip "ASan wants to be loaded first"
	echo 'int signalfd(void) { return -1; }' >none.c
	cc -shared -fPIC -o none.so none.c
	mkfifo orders
	LD_PRELOAD=$PWD/none.so timeout -k 1 20 "$upmu" stat \
		--control fifo:orders -e task-clock -o report -- true
	grep -q 'elapsed' report
}

@test "control_whose_answers_nobody_reads_goes_on" {
	mkfifo ended
	{ sleep 0.3; echo ping; sleep 0.1; } | timeout -k 1 20 "$upmu" stat \
		--control fd:0,6 -e task-clock -o report -- sleep 0.6 6> >(:)
	grep -q 'elapsed' report
	# Full of answers: there is no room for one more.
	exec 6<>ended
	yes ping | timeout -k 1 20 "$upmu" stat --control fd:0,6 -e task-clock \
		-o report -- sleep 0.5
	exec 6>&-
	grep -q 'elapsed' report
}

@test "control_that_cannot_be_opened_runs_nothing" {
	for bad in fifo:nowhere fd:999 fd:x nonsense fd:0,999; do
		run "$upmu" stat --control "$bad" -e task-clock -- touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == *"--control '$bad'"*"hint:"* ]]
	done
	run "$upmu" stat -D -1 -e task-clock -- touch ran
	[ "$status" -eq 2 ]
	[ ! -e ran ]
}

@test "cgroups_of_version_2_have_one_name_wherever_they_are_mounted" {
	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	case $top in
	/sys/fs/cgroup | /sys/fs/cgroup/unified) ;;
	*) skip "version 2 is mounted at '$top'" ;;
	esac
	[ ! -d /sys/fs/cgroup/perf_event ] || skip "perf has one of its own"
	run "$upmu" stat --for-each-cgroup / -j -e cpu-clock -- sleep 0.05
	echo "$output"
	[ "$status" -eq 0 ]
	# Linux 6.18, minutes after its start, opens an event of the root cgroup
	# and never runs it, perf stat's neither: opened is what a name can do.
	[[ "$output" =~ '"place": "/",'.*'"state": "'(not )?'counted"' ]] || {
		[ "$(id -u)" -ne 0 ] # an ordinary user may not
		[[ "$output" == *perf_event_paranoid* ]]
	}
}

@test "a_place_that_could_not_be_counted_has_its_reason_in_text_and_json" {
	# Version 1's other hierarchies have no perf; the first place is well.
	one=$(awk '$3 == "cgroup" && $4 !~ /perf_event/ { print $2; exit }' /proc/mounts)
	[[ "$one" == /sys/fs/cgroup/* ]] || skip "no hierarchy without perf"
	[ "$(id -u)" -eq 0 ] || skip "cgroups are counted by root"
	for places in "/,${one##*/}" "${one##*/},/"; do
		for form in text json; do
			run "$upmu" stat --for-each-cgroup "$places" --format $form \
				-e cpu-clock -- true
			[ "$status" -eq 0 ]
			[[ "$output" == *"hierarchy has no perf_event"* ]]
		done
	done
}

@test "cgroups_are_counted_with_perfs_a_as_without" {
	[ "$(id -u)" -eq 0 ] || skip "cgroups are counted by root"
	for all in "" -a; do
		# shellcheck disable=SC2086	# none or one word
		"$upmu" stat $all --for-each-cgroup / -x, -e cpu-clock \
			--timeout 50 2>&1 | cut -d, -f1,3,4 >said$all
	done
	grep -q '^/,ns,cpu-clock$' said
	diff said said-a
}

@test "cgroups_that_are_none_are_refused" {
	for bad in '' , ../.. no-such-cgroup; do
		run "$upmu" stat --for-each-cgroup "$bad" -e cpu-clock -- \
			touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == *"no cgroup '$bad': "*"hint: "* ]]
	done
	[ ! -e ran ]
}

@test "metric_only_of_events_without_a_ratio_says_so" {
	"$upmu" stat --metric-only -e page-faults -o report -- true
	grep -q 'no ratio  of these events' report
}

# ---- the rest -----------------------------------------------------------------

@test "no_inherit_leaves_children_out" {
	cat >parent <<-'E'
		sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
	E
	"$upmu" stat -x, -e task-clock -o with -- sh parent
	echo exit >>parent	# no exec of the last command
	"$upmu" stat -i -x, -e task-clock -o without -- sh parent
	[ "$(cut -d, -f1 without | head -n 1)" -lt \
		$(($(cut -d, -f1 with | head -n 1) / 4)) ]
}

@test "verbose_tells_encodings_and_readings_on_stderr" {
	"$upmu" stat -v -e page-faults -o report -- true 2>told
	grep -q '^counted all the time: page-faults (type 1, config 0x2)$' told
	grep -qE '^page-faults: [0-9]+ [0-9]+ [0-9]+$' told
	run ! grep -q config report
}

@test "no_big_num_has_no_commas_and_big_num_has_them" {
	"$upmu" stat --no-big-num -e task-clock -o report -- true
	grep -qE '^ +[0-9]{5,}  task-clock' report
	"$upmu" stat -B -e task-clock -o report -- true
	grep -qE '^ +[0-9,]+,[0-9]{3}  task-clock' report
}

@test "log_fd_gets_the_report_and_a_closed_one_is_refused" {
	"$upmu" stat --log-fd 7 -e page-faults -- true 7>report 2>errors
	grep -q page-faults report
	[ ! -s errors ]
	run "$upmu" stat --log-fd 99 -e page-faults -- touch ran
	[ "$status" -eq 2 ]
	run "$upmu" stat --log-fd 1 -o x -e page-faults -- touch ran
	[ "$status" -eq 2 ]
	run "$upmu" stat --log-fd 7 -e page-faults -- touch ran 7</dev/null
	[ "$status" -eq 2 ]
	[[ "$output" == *"'7' is not open for writing"* ]]
	[ ! -e ran ]
}

@test "pre_and_post_run_around_each_run_and_a_failure_ends_it" {
	"$upmu" stat -r 2 --pre 'echo pre >>log' --post 'echo post >>log' \
		-e page-faults -q -- sh -c 'echo run >>log'
	[ "$(xargs <log)" = 'pre run post pre run post' ]
	run "$upmu" stat --pre false -e page-faults -- touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"--pre 'false' failed"* ]]
	[ ! -e ran ]
}

@test "sync_is_called_before_each_run" {
	nm "$upmu" | grep -q __asan_init && skip "ASan wants to be loaded first"
	cat >told.c <<-'E'
		#include <stdio.h>
		void sync(void)
		{
			FILE *log = fopen("log", "a");
			fputs("sync\n", log);
			fclose(log);
		}
	E
	cc -shared -fPIC -o told.so told.c
	for option in -S --sync; do
		LD_PRELOAD=$PWD/told.so "$upmu" stat $option -r 2 -q \
			-e page-faults -- sh -c 'echo run >>log'
	done
	[ "$(xargs <log)" = 'sync run sync run sync run sync run' ]
}

# As a terminal's Ctrl-C, which upmu leaves to the shell that it waits for.
@test "an_interrupt_of_pre_or_post_leaves_the_runs_that_were_counted" {
	run -130 "$upmu" stat -r 5 -e page-faults --post \
		'echo >>log; [ "$(grep -c "" log)" -lt 3 ] || kill -INT $$' -- true
	[[ "$output" == *"mean of 3 of 5 runs; interrupted"* ]]
	rm log
	run -130 "$upmu" stat -r 5 -e page-faults --pre \
		'echo >>log; [ "$(grep -c "" log)" -lt 3 ] || kill -INT $$' -- true
	[[ "$output" == *"mean of 2 of 5 runs; interrupted"* ]]
	[[ "$output" != *failed* ]]
	run -130 "$upmu" stat --pre 'kill -INT $$' -e page-faults -- touch ran
	[ -z "$output" ]
	[ ! -e ran ]
}

@test "all_user_and_all_kernel_do_not_go_together" {
	run "$upmu" stat --all-user --all-kernel -e cycles -- true
	[ "$status" -eq 2 ]
	"$upmu" stat --all-user -e page-faults -o report -- true
}

@test "all_user_and_all_kernel_part_the_page_faults" {
	counts_the_kernel
	local option
	for option in '' --all-user --all-kernel; do
		"$upmu" stat $option -e page-faults,task-clock -x, -o report -- true
		sed -n 's/,,page-faults.*//p' report >>faults
		grep -q '^[1-9][0-9]*,ns,task-clock' report
	done
	xargs <faults | awk '{ exit !(NF == 3 && $2 > 0 && $2 + $3 < 1.5 * $1) }'
	run -2 "$upmu" stat --all-user -e page-faults:k -- true
	[[ "$output" == *"'page-faults:k' and --all-user leave nothing"* ]]
	# The hypervisor's alone is no such contradiction.
	run "$upmu" stat -e page-faults:h -- true
	[[ "$output" == *"<not supported>  page-faults:h"*"would stay 0"* ]]
}

@test "no_delay_is_a_delay_of_0" {
	"$upmu" stat -D 0 -e task-clock -x, -o report -- true
	grep -q '^[1-9][0-9]*,ns,task-clock' report
	"$upmu" stat -D 10min -D 0 -e task-clock -x, -o report -- true
	grep -q '^[1-9][0-9]*,ns,task-clock' report
	run -2 "$upmu" stat -D 0s -- true
}

@test "nor_does_an_event_of_the_other_mode" {
	"$BATS_TEST_DIRNAME/../fixtures/unpack" "$PWD" pi2
	export UPMU_ROOT=$PWD/pi2
	run "$upmu" stat --all-user -e cycles,instructions:k -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"'instructions:k' and --all-user leave nothing"* ]]
	run "$upmu" stat --all-kernel -e cycles:u -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"'cycles:u' and --all-kernel leave nothing"* ]]
}

@test "whom_user_mode_alone_is_allowed_gets_no_0_of_the_kernel" {
	local folder

	[ "$(id -u)" -eq 0 ] || skip "root alone can become nobody"
	folder=$(mktemp -d)
	cp "$upmu" "$folder/upmu"
	chmod 755 "$folder"
	run setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$folder/upmu" stat -e page-faults,page-faults:k -- true
	rm -rf "$folder"
	[[ "$output" == *"<not supported>  page-faults:k"* ]]
}

# ---- against perf stat's own list --------------------------------------------

# perf 6.12's long options, and those of 6.1 that it no longer has.
perfs() {
	awk -F'|' '/^\| `-/ { print $2 }' "$top/docs/perf-stat.md" |
		grep -oE -- '--[a-z-]+' | sort -u
}

@test "a_letter_of_perf_stat_is_refused_by_its_name" {
	run "$upmu" stat -b 5 -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"there is no --bpf-prog"*"hint: "* ]]
}

@test "help_has_an_options_letter_before_its_name_where_it_has_one" {
	"$upmu" stat --help | tail -n +4 >help
	[ "$(wc -l <help)" -gt 40 ]
	! grep -vE '^  (-[A-Za-z], |    )--[a-z]' help || false
	grep -qE '^  -e, --event LIST  ' help
	grep -qE '^  -p, --pid PID,' help
	grep -qE '^      --timeout MS  ' help
}

@test "each_option_of_perf_stat_is_taken_or_refused_by_name" {
	[ "$(perfs | wc -l)" -gt 60 ]
	"$upmu" stat --help >help
	for option in $(perfs); do
		# One that takes an argument takes the first of these.
		run "$upmu" stat "$option" --help --help
		if [[ "$output" == *"unrecognized option"* ]]; then
			echo "$option is unknown"
			return 1
		fi
		# What the page says is so.
		row=$(awk -F'|' -v o="$option\`" 'index($2, o) { print $3 }' \
			"$top/docs/perf-stat.md")
		if [[ "$row" == " no:"* ]]; then
			[ "$status" -eq 2 ]
			[[ "$output" == *"there is no $option"*"hint: "* ]]
		else
			[[ "$output" != *"there is no"* ]]
		fi
	done
}

@test "the_page_has_each_option_that_this_machines_perf_has" {
	command -v perf >/dev/null || skip "no perf is installed"
	perf stat -h 2>&1 | grep -oE -- '--[a-z][a-z-]+' | grep -v no-scale |
		sort -u >theirs
	[ "$(wc -l <theirs)" -gt 40 ]
	perfs >ours
	comm -23 theirs ours >missing
	cat missing
	[ ! -s missing ]
}

@test "the_page_has_each_option_of_perf_6_12" {
	grep '^--' "$top/tests/cli/perf_stat_6.12.txt" >theirs
	[ "$(wc -l <theirs)" -gt 50 ]
	perfs >ours
	grep -vxFf ours theirs >missing || true
	cat missing
	[ ! -s missing ]
}

# --help behind an option: it is read, and nothing is counted.
takes() {	# VALUE of OPTION
	"$upmu" stat "$2" "$1" --help >said 2>&1 ||
		{ echo "$2 $1 is refused: $(cat said)"; false; }
}

refuses() {	# VALUE of OPTION
	run "$upmu" stat "$2" "$1" --help
	[ "$status" -eq 2 ] || { echo "$2 $1 is taken"; false; }
	[[ "$output" == *"' is not a "* ]]
}

@test "stat_takes_numbers_up_to_their_bounds_and_none_beyond" {
	for number in 1 9 10 1000000000; do
		takes "$number" --repeat
	done
	for number in 0 1000000001 99999999999999999999 -1 +1 ' 1' 1x x '' :; do
		refuses "$number" --repeat
	done
}

@test "stat_takes_times_up_to_their_bounds_and_none_beyond" {
	for time in 1 9ms 250ms 1000000000 1000000000ms 1000000s 16666min; do
		takes "$time" --timeout
	done
	for time in 0 0s 1000000001 1000001s 16667min 1h s '' 1.5s -1 \
		0000000000000001; do
		refuses "$time" --timeout
	done
	takes 000000000000001 --timeout
}

@test "stat_takes_slices_up_to_their_bounds_and_none_beyond" {
	for time in 0.1 4 10000 1e4; do
		takes "$time" --slice
	done
	for time in 0.0999 10000.1 0 -1 nan inf 4ms '' x; do
		refuses "$time" --slice
	done
}

@test "processes_threads_and_cpus_may_be_named_one_after_another" {
	run "$upmu" stat -p $$ -p 999999 -e task-clock --timeout 10
	[[ "$output" == *"no process '999999'"* ]]
	run "$upmu" stat -t 999999 -t $$ -e task-clock --timeout 10
	[[ "$output" == *"no thread '999999'"* ]]
	run "$upmu" stat -C 4095 -C 0 -e cpu-clock --timeout 10
	[[ "$output" == *"CPU 4095 is not online"* ]] ||
		[[ "$output" == *"no list of CPUs"* ]]
}
