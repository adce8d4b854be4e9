#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu stat as a user meets it. Whatever this machine's PMU can do, the
# software numbers, the statuses and the streams must be right.

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	cd "$BATS_TEST_TMPDIR"
}

@test "stat_returns_the_programs_exit_status" {
	run "$upmu" stat -- sh -c 'exit 0'
	[ "$status" -eq 0 ]
	run "$upmu" stat -- sh -c 'exit 3'
	[ "$status" -eq 3 ]
	run "$upmu" stat -- sh -c 'exit 255'
	[ "$status" -eq 255 ]
}

@test "stat_dies_of_the_programs_signal" {
	run sh -c '"$0" stat -- sh -c "kill -TERM \$\$"; echo "said $?"' "$upmu"
	[[ "$output" == *"said 143"* ]]
	[[ "$output" == *"s elapsed"* ]]
}

@test "stat_says_127_for_a_command_that_is_not_there" {
	run "$upmu" stat -- /nonexistent/program
	[ "$status" -eq 127 ]
	[[ "$output" == *"cannot execute '/nonexistent/program'"* ]]
	[[ "$output" != *"s elapsed"* ]]
}

@test "stat_says_126_for_a_command_that_cannot_be_executed" {
	echo text >file
	run "$upmu" stat -- ./file
	[ "$status" -eq 126 ]
	[[ "$output" == *"Permission denied"* ]]
}

@test "stat_without_a_command_is_a_usage_error" {
	run "$upmu" stat
	[ "$status" -eq 2 ]
	[[ "$output" == *"hint:"* ]]
}

@test "stat_report_goes_to_stderr_and_leaves_stdout_to_the_program" {
	"$upmu" stat -- echo mine >out 2>err
	[ "$(cat out)" = mine ]
	grep -q 's elapsed' err
}

@test "stat_leaves_stdin_to_the_program" {
	[ "$(echo given | "$upmu" stat -o /dev/null -- cat)" = given ]
}

@test "stat_leaves_the_environment_to_the_program" {
	env | grep -v '^_=' | sort >before
	"$upmu" stat -o report -- env | grep -v '^_=' | sort >after
	diff before after
}

@test "stat_leaves_signal_dispositions_to_the_program" {
	grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >before
	"$upmu" stat -o report -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >after
	diff before after
}

@test "stat_leaks_no_descriptor_into_the_program" {
	ls /proc/self/fd >before
	"$upmu" stat -o report -- ls /proc/self/fd >after
	diff before after
}

@test "stat_counts_software_events" {
	"$upmu" stat -e page-faults,task-clock -o report -- true
	faults=$(awk '/page-faults/ {gsub(",", ""); print $1}' report)
	[ "$faults" -gt 10 ]
	clock=$(awk '/task-clock/ {gsub(",", ""); print $1}' report)
	[ "$clock" -gt 1000 ]
}

@test "stat_counts_the_programs_children" {
	one='i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
	"$upmu" stat -e task-clock -o alone -- sh -c "$one"
	"$upmu" stat -e task-clock -o four -- \
		sh -c "for n in 1 2 3; do sh -c '$one' & done; $one; wait"
	alone=$(awk '/task-clock/ {gsub(",", ""); print $1}' alone)
	four=$(awk '/task-clock/ {gsub(",", ""); print $1}' four)
	[ "$four" -gt $((alone * 2)) ]
}

@test "stat_names_an_unknown_event_and_its_place" {
	run "$upmu" stat -e page-faults,page-fualts -- true
	[ "$status" -eq 2 ]
	[[ "$output" == *"'page-fualts'"* ]]
}

@test "stat_never_prints_0_for_an_event_that_is_not_there" {
	# No core implements this code, and without a PMU none is.
	"$upmu" stat -e r3fe,page-faults -o report -- true
	grep 'r3fe' report | grep -qE '<not (supported|counted|emulated)>' ||
		skip "this PMU accepts every code"
}

@test "stat_tells_when_the_report_cannot_be_written" {
	run "$upmu" stat -o /dev/full -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"/dev/full"* ]]
	run "$upmu" stat -o /nonexistent/report -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"/nonexistent/report"* ]]
}
