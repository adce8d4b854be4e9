#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu stat --regions: a program's own regions in the report. Without a PMU the
# program counts by the source clock.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-upmu}
	regions=${UPMU_BUILD:-$BATS_TEST_DIRNAME/../../build}/examples/regions
	export UPMU_SOURCE=clock TMPDIR=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR"
}

@test "regions_of_a_program_are_in_the_report" {
	run "$upmu" stat --regions -e cycles -o report -- "$regions"
	[ "$status" -eq 0 ]
	[ "$output" = "sorted, the first is 1" ]
	# A clock's, which are no cycles.
	grep -qE '^round +cycles \(ns\) +10 +[0-9]+ ' report
	grep -qE '^sort +cycles \(ns\) +10 +[0-9]+ ' report
}

@test "regions_of_two_processes_are_added_up" {
	run "$upmu" stat --regions -e cycles -x, -o report -- \
		sh -c "'$regions' & '$regions'; wait"
	[ "$status" -eq 0 ]
	grep -q '^20,,round/calls,' report
	grep -qE '^[0-9]+,ns,round/cycles,' report
}

@test "regions_of_two_processes_of_one_number_are_added_up" {
	# As of two containers: the second one has the number of the first.
	cat >twice <<-'E'
		#!/bin/sh
		"$1"
		mv "${UPMU_REPORT%/*}"/*.json "${UPMU_REPORT%/*}/$$.json"
		exec "$1"
	E
	chmod +x twice
	run "$upmu" stat --regions -e cycles -x, -o report -- ./twice "$regions"
	[ "$status" -eq 0 ]
	grep -q '^20,,round/calls,' report
}

# As a server whose workers load what uses the library.
@test "workers_that_load_the_library_themselves_report_each" {
	library=$(realpath "${UPMU_BUILD:-$BATS_TEST_DIRNAME/../../build}/lib/libupmu.so.0")
	UPMU_EVENTS=cycles UPMU_REPORT=report.json python3 - "$library" <<-'END'
		import ctypes, os, sys
		for worker in b'one', b'two':
		    if os.fork() == 0:
		        library = ctypes.CDLL(sys.argv[1])
		        region = ctypes.c_void_p()
		        library.upmu_region_open(ctypes.byref(region), worker)
		        library.upmu_region_begin(region)
		        library.upmu_region_end(region)
		        sys.exit()
		    os.wait()
	END
	run grep -lE '"region": "(one|two)"' report.*.json
	[ "${#lines[@]}" -eq 2 ]
}

# As jemalloc: it locks around a fork, from the program's first call on.
@test "a_child_has_regions_beside_an_allocator_that_locks_around_forks" {
	nm "$upmu" | grep -q __asan_init && skip "ASan wants to be loaded first"
	cat >allocator.c <<-'C'
		#include <pthread.h>
		#include <stddef.h>

		void *__libc_malloc(size_t size);
		void __libc_free(void *memory);
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static pthread_once_t once = PTHREAD_ONCE_INIT;

		static void take(void) { pthread_mutex_lock(&lock); }
		static void give(void) { pthread_mutex_unlock(&lock); }
		static void watch(void) { pthread_atfork(take, give, give); }
		void *malloc(size_t size)
		{
			pthread_once(&once, watch);
			take();
			void *memory = __libc_malloc(size);
			give();
			return memory;
		}
		void free(void *memory)
		{
			take();
			__libc_free(memory);
			give();
		}
	C
	cat >forks.c <<-'C'
		#include <sys/wait.h>
		#include <unistd.h>
		#include <upmu/regions.h>

		int main(void)
		{
			struct upmu_region *region;
			int status = upmu_region_open(&region, "here");

			if (status || upmu_region_begin(region) ||
			    upmu_region_end(region))
				return 2;
			if (!fork())
				_exit(upmu_region_begin(region) != 0);
			wait(&status);
			return status != 0;
		}
	C
	library=$(realpath "${UPMU_BUILD:-$BATS_TEST_DIRNAME/../../build}/lib/libupmu.so.0")
	cc -O1 -shared -fPIC -o allocator.so allocator.c
	cc -O1 -I"$BATS_TEST_DIRNAME/../../include" -o forks forks.c "$library" \
		-Wl,-rpath,"$(dirname "$library")"
	run env UPMU_EVENTS=cycles LD_PRELOAD="$PWD/allocator.so" timeout 20 ./forks
	[ "$status" -eq 0 ]
}

@test "regions_are_in_json" {
	"$upmu" stat --regions -e cycles -j -o report.json -- "$regions"
	python3 - <<-'END'
		import json
		regions = json.load(open('report.json'))['regions']
		assert regions['passes'] == 1
		first = regions['regions'][0]
		assert first['region'] == 'round', first
		event = first['events'][0]
		assert event['calls'] == 10 and event['unit'] == 'ns', event
		assert event['min'] <= event['mean'] <= event['max'], event
	END
}

@test "regions_say_which_events_none_of_the_runs_counted" {
	"$upmu" stat --regions -e cycles,node-prefetches -o text -- "$regions"
	grep -qE '^ +node-prefetches +<not supported>$' text
	"$upmu" stat --regions -e cycles,node-prefetches -x, -o csv -- "$regions"
	grep -q '^<not supported>,,node-prefetches,0,0.00,,,,,,,$' csv
	"$upmu" stat --regions -e cycles,node-prefetches -j -o json -- "$regions"
	grep -A 1 '"not_counted"' json | grep -q '"node-prefetches"'
	"$BATS_TEST_DIRNAME/check_stat_output.py" json json
}

@test "regions_of_a_program_without_any_are_told_and_its_status_kept" {
	run "$upmu" stat --regions -e cycles -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	[[ "$output" == *"marked no region"*"hint: "* ]]
}

@test "regions_of_a_process_whose_report_is_not_whole_are_told_missing" {
	cat >both <<-'E'
		#!/bin/sh
		"$1"
		printf '{ "source": "clo' >"${UPMU_REPORT%/*}/7.json.7-1.tmp"
	E
	chmod +x both
	for form in '' -j '-x ,'; do
		# shellcheck disable=SC2086	# words
		run -125 "$upmu" stat --regions -e cycles $form -o report -- \
			./both "$regions"
		[[ "$output" != *"cannot execute"* ]]
		[[ -z "$form" || "$output" == *"upmu stat: what 1 process"* ]]
		case $form in
		'') grep -qE '^round +cycles \(ns\) +10 ' report
		    grep -q 'what 1 process wrote of regions is not' report;;
		-j) grep -q '"unread": 1' report
		    python3 "$BATS_TEST_DIRNAME/check_stat_output.py" json report;;
		*) grep -q '^10,,round/calls' report;;
		esac
	done
	# The program's own status comes first.
	echo 'exit 3' >>both
	run -3 "$upmu" stat --regions -e cycles -- ./both "$regions"
}

@test "regions_whose_calls_could_not_be_counted_are_told_missing" {
	for form in '' -j '-x ,'; do
		# shellcheck disable=SC2086	# words
		UPMU_SOURCE=nosuch run "$upmu" stat --regions -e cycles $form \
			-o report -- "$regions"
		[[ -z "$form" || "$output" == *"missing: 1;"*"source 'nosuch'"* ]]
		case $form in
		'') grep -q 'could not be counted, and are missing: 1;' report
		    grep -q "the first: .*'nosuch'" report
		    run ! grep -q 'marked no region' report;;
		-j) grep -q '"missed_calls": 1' report
		    python3 "$BATS_TEST_DIRNAME/check_stat_output.py" json report;;
		esac
	done
}

@test "regions_on_standard_output_stand_beside_what_the_program_prints" {
	for run in first second; do
		echo "$run"
		UPMU_EVENTS=cycles UPMU_REPORT=/dev/stdout "$regions"
	done >printed
	for line in first second; do grep -qx "$line" printed; done
	[ "$(grep -cE '^round +cycles \(ns\) +10 ' printed)" -eq 2 ]
	grep -qE '^taken off each call: [0-9]+ cycles \(ns\)$' printed
	[ "$(grep -cx 'sorted, the first is 1' printed)" -eq 2 ]
}

@test "regions_leave_nothing_in_the_temporary_folder" {
	"$upmu" stat --regions -e cycles -o report -- "$regions"
	[ -z "$(find . -name 'upmu-regions-*')" ]
	TMPDIR=/nowhere run "$upmu" stat --regions -e cycles -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"No such file"*"hint: TMPDIR="* ]]
}

@test "regions_of_commands_around_a_run_are_their_own" {
	cat >around <<-'E'
		#!/bin/sh
		echo "$UPMU_REPORT" >>told
		UPMU_EVENTS=cycles exec "$1"
	E
	chmod +x around
	"$upmu" stat --regions -e cycles -x, -o report --pre "./around '$regions'" \
		--post "./around '$regions'" -- "$regions"
	grep -q '^10,,round/calls,' report
	[ "$(cat told; wc -l <told)" = $'\n\n2' ]
	[ -z "$(find . -name 'upmu-regions-*')" ]
	UPMU_REPORT=own.json "$upmu" stat --regions -e cycles -o report \
		--post "./around '$regions'" -- true
	grep -q '"region": "round"' own.json
}

@test "regions_leave_no_folder_where_a_signal_ends_upmu_between_runs" {
	run -143 "$upmu" stat --regions -e cycles --pre 'kill -TERM $PPID' -- true
	run -143 "$upmu" stat --regions -e cycles --post 'kill -TERM $PPID' -- true
	[ -z "$(find . -name 'upmu-regions-*')" ]
}

# A name is the program's: what it would do to a terminal, letters of two bytes.
@test "regions_have_a_line_each_and_columns_whatever_they_are_called" {
	cat >names.py <<-'E'
		import json, os
		event = dict(event="cycles", unit="", total=7, min=7, max=7, overhead=1)
		names = "two\nlines", "red\x1b[31m", "r\u00e9gion", "plain"
		with open(os.path.dirname(os.environ["UPMU_REPORT"]) + "/1.json", "w") as out:
		    json.dump(dict(running=1.0, regions=[dict(region=name, calls=1,
		        events=[event]) for name in names]), out)
	E
	"$upmu" stat --regions -e cycles -o report -- python3 names.py
	python3 - <<-'E'
		rows = [line for line in open("report", encoding="utf-8") if " cycles " in line]
		assert [row.index(" cycles ") for row in rows] == [20] * 4, rows
		assert rows[0].startswith("two?lines ") and rows[1].startswith("red?[31m "), rows
	E
}

# A report that is a pipe: upmu reads it until its writer has sent the signal.
@test "regions_leave_no_folder_where_a_signal_ends_upmu_as_it_reads_reports" {
	cat >pipe <<-'E'
		#!/bin/sh
		mkfifo "${UPMU_REPORT%/*}/1.json"
		(exec 4>"${UPMU_REPORT%/*}/1.json" && kill -TERM $PPID && sleep 0.2) &
	E
	chmod +x pipe
	run -143 timeout -s KILL 60 "$upmu" stat --regions -e cycles -- ./pipe
	[ -z "$(find . -name 'upmu-regions-*')" ]
}

@test "regions_of_a_program_that_leaves_its_folder_are_in_the_report" {
	mkdir here
	TMPDIR=here run --separate-stderr "$upmu" stat --regions -e cycles -- \
		sh -c "cd / && exec '$(realpath "$regions")'"
	[ "$status" -eq 0 ]
	[[ "$stderr" == *"round"* ]]
	[ -z "$(ls here)" ]
}

@test "regions_are_of_one_run_of_a_command" {
	run "$upmu" stat --regions -r 3 -- true
	[ "$status" -eq 2 ]
	run "$upmu" stat --regions -a -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"--regions is of one run"* ]]
}
