#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu stat with much of everything: only with ./check --all.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	[ -n "${UPMU_ALL:-}" ] || skip "much of everything is for ./check --all"
	cd "$BATS_TEST_TMPDIR" || exit
}

teardown() {
	touch "$BATS_TEST_TMPDIR/stop"
}

@test "ten_thousand_events_of_a_process_are_counted" {
	[ "$(ulimit -Hn)" -gt 10100 ] || skip "no more than $(ulimit -Hn) files"
	ulimit -n "$(ulimit -Hn)"
	python3 - <<-'E' &
		import os, threading, time
		threading.stack_size(65536)
		def wait():
		    while not os.path.exists("stop"):
		        time.sleep(0.5)
		for _ in range(999):
		    threading.Thread(target=wait, daemon=True).start()
		open("ready", "w").close()
		wait()
	E
	local pid=$!
	for _ in $(seq 300); do [ -e ready ] && break; sleep 0.1; done
	[ "$(find /proc/$pid/task -mindepth 1 -maxdepth 1 | wc -l)" -eq 1000 ]
	"$upmu" stat -p $pid --timeout 2000 -x, -o report -e \
		task-clock,page-faults,cs,migrations,minor-faults,major-faults,alignment-faults,emulation-faults,dummy,cpu-clock
	touch stop
	wait $pid
	run ! grep -q 'not supported' report
	# Each of a thousand threads woke up, more than once in two seconds.
	[ "$(awk -F, '$3 == "cs" { print $1 }' report)" -gt 1000 ]
}

@test "a_thousand_children_are_all_counted" {
	# An empty child has some faults of its own; a thousand have more.
	cat >few <<-'E'
		i=0; while [ $i -lt 10 ]; do i=$((i+1)); (:) & done; wait
	E
	sed 's/10/1010/' few >many
	"$upmu" stat -x, -e page-faults -o few.csv -- sh few
	"$upmu" stat -x, -e page-faults -o many.csv -- sh many
	[ "$(($(cut -d, -f1 <many.csv | head -n 1) - \
		$(cut -d, -f1 <few.csv | head -n 1)))" -gt 10000 ]
}

@test "a_list_of_the_most_events_is_counted_and_a_longer_one_refused" {
	"$upmu" stat -e "$(yes page-faults | head -n 1024 | paste -sd,)" -x, \
		-o report -- true
	[ "$(grep -c ',page-faults,' report)" -eq 1024 ]
	[ "$(grep ',page-faults,' report | cut -d, -f1 | sort -u | wc -l)" -eq 1 ]
	run "$upmu" stat -e "$(yes page-faults | head -n 1025 | paste -sd,)" \
		-- touch ran
	[ "$status" -eq 2 ]
	[[ "$output" == *"event 1025 of the list"*"too long"* ]]
	[ ! -e ran ]
}
