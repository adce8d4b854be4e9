#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu stat as a user meets it. Whatever this machine's PMU can do, the
# software numbers, the statuses and the streams must be right.

load crashes
load kernel

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	cd "$BATS_TEST_TMPDIR" || exit
}

needs_terminal() {
	script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
		skip "no pseudo-terminal is to be had here"
}

# Once WORDs have printed something DEED is done: stat reports, and ends by SIGNAL.
stat_leads_a_terminal() {	# DEED SIGNAL WORD...
	timeout 60 python3 - "$upmu" "$@" <<-'E'
		import os, pty, signal, sys
		upmu, deed, name, *words = sys.argv[1:]
		pid, terminal = pty.fork()
		if not pid:
		    os.execv(upmu, ["upmu", "stat", "-e", "task-clock", "-o",
		        "report", "--", *words])
		os.read(terminal, 1)
		exec(deed)
		assert os.waitpid(pid, 0)[1] == getattr(signal, name)
	E
	grep -q task-clock report
}

wait_until() {	# COMMAND...
	for _ in $(seq 300); do
		"$@" && return
		sleep 0.1
	done
	false
}

has_lines() {	# COUNT FILE: at least
	[ -e "$2" ] && [ "$(wc -l <"$2")" -ge "$1" ]
}

counting() {	# PID
	readlink "/proc/$1/fd/"* 2>/dev/null | grep -q perf_event
}

@test "stat_hands_all_words_to_a_script_without_an_interpreter_line" {
	# execvp(3) copies them to the stack of the new process
	echo 'echo $#' >script
	chmod +x script
	run -0 --separate-stderr "$upmu" stat -o /dev/null -- ./script $(seq 30000)
	[ "$output" = 30000 ]
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
	run -127 "$upmu" stat -- /nonexistent/program
	[[ "$output" == *"cannot execute '/nonexistent/program'"* ]]
	[[ "$output" != *"s elapsed"* ]]
}

@test "stat_says_126_for_a_command_that_cannot_be_executed" {
	echo text >file
	run "$upmu" stat -- ./file
	[ "$status" -eq 126 ]
	[[ "$output" == *"Permission denied"* ]]
}

# A user of whom no more than one process may run; tests of root's alone.
alone() {
	[ "$(id -u)" -eq 0 ] || skip "only root can be somebody else"
	setpriv --reuid=54321 --clear-groups test -x "$upmu" ||
		skip "nobody may not come here"
	run prlimit --nproc=1 setpriv --reuid=54321 --clear-groups "$@"
}

@test "stat_and_compare_say_125_where_no_process_can_be_made" {
	alone "$upmu" stat -e page-faults true
	[ "$status" -eq 125 ]
	[[ "$output" == "upmu stat: cannot count: Resource temporarily"* ]]
	alone "$upmu" compare -e page-faults true -- true
	[ "$status" -eq 125 ]
	[[ "$output" == "upmu compare: cannot count 'true': Resource"* ]]
}

with_descriptors() {	# NUMBER COMMAND...: bats has some of its own
	run sh -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
		exec prlimit --nofile="$@"' sh "$@"
}

@test "stat_and_compare_say_125_where_descriptors_are_few" {
	for command in stat compare; do
		with_descriptors 6 "$upmu" $command -e page-faults true
		[ "$status" -eq 125 ]
		[[ "$output" == "upmu $command: cannot count"*": Too many open files" ]]
	done
	# Enough for all that it needs, and none has a number above.
	with_descriptors 10 "$upmu" compare -r 2 -e page-faults true -- ls
	[ "$status" -eq 0 ]
	[[ "$output" == *"2 runs of each"* ]]
}

@test "a_user_is_told_what_of_a_set_uid_program_was_not_counted" {
	[ "$(id -u)" -eq 0 ] || skip "only root can make one"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] ||
		skip "users may count nothing here"
	# As much processor time on each machine.
	cat >busy.c <<-'C'
		#include <time.h>

		int main(void)
		{
			while (clock() < CLOCKS_PER_SEC / 5)
				for (volatile int i = 0; i < 10000; i++)
					;
			return 0;
		}
	C
	cc -O1 -o busy busy.c
	cp busy usual
	cp busy unread
	chmod 711 unread
	echo './busy; true' >run
	cp busy able
	setcap cap_net_raw+ep able 2>/dev/null && able=./able || able=
	chmod 4755 busy
	chmod 755 .
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${as[@]}" test -x "$upmu" -a -x busy || skip "nobody may not come here"
	for program in ./busy ./unread $able 'sh run'; do
		run "${as[@]}" "$upmu" stat -e task-clock $program # words
		[ "$status" -eq 0 ]
		[[ "$output" == *"processor time were not counted"*"set-uid or has file capabilities"*"hint: sudo"* ]]
	done
	"${as[@]}" "$upmu" stat -e task-clock -j ./busy 2>&1 | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["uncounted_s"] > 0.8 * (r["user_s"] + r["sys_s"]), r'
	for how in '-e task-clock' '-i -e task-clock'; do
		run "${as[@]}" "$upmu" stat $how ./usual
		[[ "$output" != *"not counted"* ]]
	done
	run "$upmu" stat -e task-clock ./busy
	[[ "$output" != *"not counted"* ]]
	chown nobody busy
	chmod u+s busy
	run "$upmu" stat -e task-clock ./busy
	[[ "$output" == *"were not counted"*"hint: upmu stat -a ..."* ]]
	for form in '' --summary --plot; do
		run "$upmu" stat -I 40 $form -e task-clock ./busy
		[ "$(grep -c 'were not counted' <<<"$output")" -eq 1 ]
		run "$upmu" stat -I 40 $form -e task-clock ./usual
		[[ "$output" != *"were not counted"* ]]
		run "$upmu" stat -I 40 $form -e r7fff ./usual
		[[ "$output" != *"were not counted"* ]]
	done
	# What came behind the last interval is in none, and was not looked at.
	run "$upmu" stat -I 20 --interval-count 2 -e task-clock ./usual
	[[ "$output" != *"were not counted"* ]]
	"$upmu" stat -I 40 -j -e task-clock ./busy 2>&1 | tail -n 1 |
		python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["uncounted_s"] > 0.1 and r["events"] == [], r'
	"$upmu" stat -I 40 -x, -e task-clock ./busy 2>&1 |
		grep -E '^[0-9.]+,[0-9]+,ns,uncounted_time,'
}

@test "stat_does_not_take_the_ends_of_processes_for_a_set_uid_program" {
	cat >forks.c <<-'C'
		#include <sys/mman.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(void)
		{
			size_t size = 128 << 20;
			char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			madvise(p, size, MADV_NOHUGEPAGE);
			for (size_t i = 0; i < size; i += 4096)
				p[i] = 1;
			for (int n = 0; n < 200; n++) {
				if (!fork())
					_exit(0);
				wait(NULL);
			}
		}
	C
	cc -O1 -o forks forks.c
	"$upmu" stat -e task-clock -o report -- ./forks
	# Older kernels count them, and there is nothing to say.
	! grep -q 'were not counted' report ||
		grep -q 'take its memory apart at its end' report
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

@test "stat_and_compare_work_where_their_parent_ignores_the_ends_of_processes" {
	local ignoring=(env --ignore-signal=CHLD) look=(grep SigIgn /proc/self/status)
	"${ignoring[@]}" "${look[@]}" >given
	"${ignoring[@]}" "$upmu" stat -r 2 --pre true --post true -q \
		-e task-clock -- "${look[@]}" >each
	[ "$(cat given given)" = "$(cat each)" ]
	"${ignoring[@]}" "$upmu" compare -r 2 -w 1 --prepare true -o report \
		--stdout inherit -e task-clock -- "${look[@]}" >each
	[ "$(cat given given given)" = "$(cat each)" ]
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
	# shellcheck disable=SC2016 # the inner shell expands it
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
	# perf knows no such type, on no machine.
	pmu=$BATS_TEST_TMPDIR/machine/sys/bus/event_source/devices/armv7_cortex_a7
	mkdir -p "$pmu"
	echo 4000000000 >"$pmu/type"
	echo 0-3 >"$pmu/cpus"
	UPMU_ROOT=$BATS_TEST_TMPDIR/machine \
		"$upmu" stat -e r08,page-faults -o report -- true
	grep -qxE ' +<not (supported|counted)>  r08' report
	faults=$(awk '$2 == "page-faults" { gsub(",", ""); print $1 }' report)
	[ "$faults" -gt 0 ]
}

@test "stat_tells_when_the_report_cannot_be_written" {
	run "$upmu" stat -o /dev/full -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"/dev/full"* ]]
	run "$upmu" stat -o /nonexistent/report -- true
	[ "$status" -eq 125 ]
	[[ "$output" == *"/nonexistent/report"* ]]
}

@test "stat_tells_when_an_interval_cannot_be_written_and_lets_the_program_end" {
	run "$upmu" stat -I 20 -o /dev/full -e task-clock -- \
		sh -c 'sleep 0.2; echo >finished'
	[ "$status" -eq 125 ]
	[ "$(grep -c /dev/full <<<"$output")" -eq 1 ]
	[ -e finished ]
}

@test "stat_without_a_stderr_fails_and_runs_nothing" {
	run sh -c '"$0" stat -- touch ran 2>&-' "$upmu"
	[ "$status" -eq 125 ]
	[ ! -e ran ]
}

@test "stat_passes_a_signal_sent_to_it_on_to_the_program" {
	"$upmu" stat -o report -- sh -c \
		'trap "echo got >got; exit 7" TERM; echo >ready; while :; do sleep 0.1; done' &
	pid=$!
	wait_until [ -e ready ]
	kill -TERM "$pid"
	wait "$pid" && status=0 || status=$?
	[ "$status" -eq 7 ]
	[ "$(cat got)" = got ]
	grep -q 's elapsed' report
}

@test "stat_reports_after_the_terminals_interrupt" {
	needs_terminal
	# A terminal's Ctrl-C goes to the whole foreground job: a shell between
	# would die of it and hide the status.
	run timeout 60 script -qec "exec '$upmu' stat -o report -- sh -c \
		'trap \"exit 9\" INT; echo >ready; while :; do sleep 0.1; done'" \
		/dev/null < <(wait_until [ -e ready ]; printf '\003'; wait_until [ -s report ])
	[ "$status" -eq 9 ]
	grep -q 's elapsed' report
}

@test "stat_killed_leaves_the_program_running" {
	"$upmu" stat -o report -- sh -c \
		'echo >ready; while [ ! -e go ]; do sleep 0.1; done; echo >finished' &
	pid=$!
	wait_until [ -e ready ]
	kill -KILL "$pid"
	wait "$pid" || true
	echo >go
	wait_until [ -e finished ]
}

@test "stat_ends_with_the_program_though_a_daemon_it_started_lives" {
	"$upmu" stat -e task-clock -o report -- sh -c 'sleep 20 >/dev/null 2>&1 & echo $! >daemon'
	grep -q 's elapsed' report
	kill -0 "$(cat daemon)"
	kill "$(cat daemon)"
}

@test "stat_timeout_ends_a_program_that_is_stopped" {
	status=0
	# shellcheck disable=SC2016	# the program's own
	timeout -s KILL 20 "$upmu" stat --timeout 100 -e task-clock -o report -- \
		sh -c 'echo $$ >pid; kill -STOP $$' 3>&- || status=$?
	kill -KILL "$(cat pid)" || true
	[ "$status" -eq 124 ]
}

@test "stat_timeout_says_of_a_program_that_goes_on_how_to_end_it" {
	timeout -s KILL 60 "$upmu" stat --timeout 100 -e task-clock -o report \
		-- sh -c 'trap "" TERM; while [ ! -e end ]; do sleep 0.1; done' \
		2>said 3>&- &
	pid=$!
	for _ in $(seq 300); do
		! grep -q '^hint: kill -KILL [0-9]*$' said || break
		sleep 0.1
	done
	grep '^upmu stat: the program goes on after --timeout'"'"'s SIGTERM' said
	$(sed -n 's/^hint: //p' said)
	wait $pid || status=$?
	[ "$status" -eq 124 ]
	grep task-clock report
	# one that ends soon is told nothing of
	run ! grep -q . <("$upmu" stat --timeout 100 -e task-clock -o report \
		-- sh -c 'trap exit TERM; sleep 30 & wait' 2>&1)
}

@test "stat_timeout_ends_the_program_with_status_124" {
	run "$upmu" stat --timeout 200 -e task-clock -- sleep 30
	[ "$status" -eq 124 ]
	[[ "$output" == *"task-clock"* ]]
	# not only its own waiting: the program is told
	# A busy machine may let it start late.
	for ms in 1000 4000 16000; do
		run "$upmu" stat --timeout $ms -e task-clock -- sh -c \
			'trap "echo >told; exit" TERM; sleep 30 & wait'
		[ "$status" -eq 124 ]
		[ ! -e told ] || break
	done
	[ -e told ]
}

@test "stat_counts_a_running_process_until_it_ends" {
	sh -c 'while [ ! -e stop ]; do :; done' &
	"$upmu" stat -e task-clock -o report -p $! &
	wait_until counting $!
	sleep 0.5
	echo >stop
	wait
	clock=$(awk '/task-clock/ {gsub(",", ""); print $1}' report)
	[ "$clock" -gt 100000 ]
}

@test "stat_of_no_such_process_says_so" {
	run "$upmu" stat -p 999999 -e task-clock
	[ "$status" -eq 125 ]
	[[ "$output" == *"no process '999999'"* ]]
	run "$upmu" stat -p one -e task-clock
	[ "$status" -eq 125 ]
}

@test "stat_that_leads_its_terminal_ends_the_program_when_that_goes" {
	needs_terminal
	stat_leads_a_terminal 'os.close(terminal)' SIGHUP \
		sh -c 'echo; exec sleep 90'
}

@test "stat_hands_ctrl_c_on_to_a_program_that_has_left_its_job" {
	needs_terminal
	stat_leads_a_terminal 'os.write(terminal, b"\x03")' SIGINT \
		setsid sh -c 'echo; exec sleep 90'
}

@test "stat_of_a_process_that_has_ended_says_so" {
	# Nobody asks how it ended while its parent sleeps.
	python3 -c 'import os, time
pid = os.fork() or os._exit(0)
print(pid, flush=True)
time.sleep(60)' >ended 3>&- &
	parent=$!
	for ((i = 0; i < 600; i++)); do
		if [ -s ended ] && grep -qs '^State:.Z' "/proc/$(cat ended)/status"; then
			break
		fi
		sleep 0.1
	done
	run "$upmu" stat -p "$(cat ended)" -e task-clock
	process=$status$output
	run "$upmu" stat -t "$(cat ended)" -e task-clock
	kill "$parent"
	[[ "$process" == "125upmu stat: no process '"* ]]
	[[ "$status$output" == "125upmu stat: no thread '"* ]]
}

@test "stat_of_a_first_thread_that_has_ended_says_so_and_counts_the_others" {
	# exit(2) ends a thread; the process has another.
	python3 -c 'import ctypes, os, threading, time
end = time.monotonic() + 60
def work():
    while time.monotonic() < end:
        time.sleep(0.001)
threading.Thread(target=work).start()
exit_2 = {"x86_64": 60, "aarch64": 93}.get(os.uname().machine, 1)
ctypes.CDLL(None).syscall(exit_2, 0)' 3>&- &
	process=$!
	for ((i = 0; i < 600; i++)); do
		if grep -qs '^State:.Z' "/proc/$process/status"; then
			break
		fi
		sleep 0.1
	done
	run "$upmu" stat -t $process -e task-clock
	thread=$status$output
	run "$upmu" stat -p $process -e task-clock --timeout 100
	kill $process
	[[ "$thread" == "125upmu stat: no thread '$process'"* ]]
	[ "$status" -eq 0 ]
	[[ "$output" == *task-clock* && "$output" != *"not counted"* ]]
}

@test "stat_counts_every_process_of_a_cpu" {
	[ "$(id -u)" -eq 0 ] || skip "counting CPUs needs root"
	"$upmu" stat -C 0 -e cpu-clock --timeout 300 -o report
	clock=$(awk '/cpu-clock/ {gsub(",", ""); print $1}' report)
	[ "$clock" -gt 200000000 ]
}

@test "stat_of_a_cpu_list_that_is_none_is_refused" {
	for list in 0-x 0- '0- 0' 0-+0 0--1; do
		run "$upmu" stat -C "$list" -e cpu-clock --timeout 100
		[ "$status" -eq 125 ]
		[[ "$output" == *"'$list' is no list of CPUs"* ]]
	done
}

@test "stat_of_a_cpu_that_is_not_there_runs_nothing" {
	for list in 4095 0,4095; do
		run "$upmu" stat -C $list -e cpu-clock -- touch ran
		[ "$status" -eq 125 ]
		[[ "$output" == *"CPU 4095 is not online"*"hint: -C 0"* ]] ||
			[[ "$output" == *"no list of CPUs"* ]]
	done
	[ ! -e ran ]
	UPMU_ROOT=$PWD/root
	mkdir -p root/sys/devices/system/cpu
	echo 0,2-3 >root/sys/devices/system/cpu/online
	run env UPMU_ROOT="$UPMU_ROOT" "$upmu" stat -C 0-1 -e cpu-clock -- \
		touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"CPU 1 is not online"*"hint: -C 0,2-3"* ]]
	echo 1-3 >root/sys/devices/system/cpu/online
	run env UPMU_ROOT="$UPMU_ROOT" "$upmu" stat -C 0-1 -e cpu-clock -- \
		touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"CPU 0 is not online"*"hint: -C 1-3"* ]]
	# Each second one of a large machine is off.
	seq -s, 0 2 1022 >root/sys/devices/system/cpu/online
	run env UPMU_ROOT="$UPMU_ROOT" "$upmu" stat -C 0-1 -e cpu-clock -- \
		touch ran
	[ "$status" -eq 125 ]
	[[ "$output" == *"CPU 1 is not online"* ]]
	[ ! -e ran ]
}

@test "stat_of_an_empty_list_is_refused_and_runs_nothing" {
	for option in -p -t -C -e; do
		for list in '' ,; do
			run "$upmu" stat "$option" "$list" -- touch ran
			[ "$status" -ne 0 ]
			[[ "$output" == *"upmu stat: "* ]]
		done
	done
	[ ! -e ran ]
}

@test "stat_refuses_a_tracepoint_as_what_it_is" {
	run "$upmu" stat -e sched:sched_switch -- touch ran
	[ "$status" -eq 2 ]
	[[ "$output" == *"tracepoints are not counted"*"hint: perf stat"* ]]
	run "$upmu" stat -e task-clock:x -- touch ran
	[[ "$output" == *"unknown modifier 'x'"* ]]
	run "$upmu" stat -e page-faults,duration_time -- touch ran
	[ "$status" -eq 2 ]
	[[ "$output" == *"'duration_time': "*"hint: leave it out: "* ]]
	# Of what runs already there is no user_time: no report has that.
	run -2 "$upmu" stat -p $$ -e user_time --timeout 10
	[[ "$output" == *"leave it out: upmu stat tells a program's times"* ]]
	# As many letters as perf has modifiers are no name of a tracepoint.
	run "$upmu" stat -e task-clock:xyz -- touch ran
	[[ "$output" == *"unknown modifier 'x'"* ]]
	[ ! -e ran ]
}

@test "help_of_a_command_is_what_its_help_option_prints" {
	for command in stat compare report exec list cost regs check setup; do
		"$upmu" help $command >by_help
		"$upmu" $command --help >by_option
		"$upmu" $command -h >by_letter
		cmp by_help by_option
		cmp by_letter by_option
		grep -q '^usage: upmu ' by_help
	done
	run "$upmu" help nothing
	[ "$status" -eq 2 ]
}

@test "stat_delay_leaves_the_beginning_out" {
	# shellcheck disable=SC2016 # the inner shell expands it
	one='i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'
	"$upmu" stat -e task-clock -o all -- sh -c "$one"
	"$upmu" stat -e task-clock -D 2000 -o late -- sh -c "$one; sleep 3"
	all=$(awk '/task-clock/ {gsub(",", ""); print $1}' all)
	late=$(awk '/task-clock/ {gsub(",", ""); print $1}' late)
	# Not counted at all is "<not": its number is 0 here.
	[ "$all" -gt $((10 * ${late//[!0-9]/})) ]
}

@test "stat_says_for_how_much_of_an_interval_it_counted" {
	"$upmu" stat -e task-clock -D 150 -I 100 -j -o late.json -- sleep 0.4
	"$upmu" stat -e task-clock -I 100 -j -o all.json -- sleep 0.2
	python3 "$BATS_TEST_DIRNAME/check_stat_output.py" json late.json
	run ! grep counted_s all.json
	python3 - <<-'E'
		import json
		ends, on = [0], []
		for line in open("late.json"):
		    one = json.loads(line)
		    ends.append(one["interval_s"])
		    on.append(one["counted_s"])
		assert on[0] == 0 and 0 < sum(on) <= ends[-1] - 0.15, (ends, on)
	E
}

@test "stat_of_another_process_shows_no_faults_of_the_command" {
	# perf knows no such type, on no machine.
	pmu=$BATS_TEST_TMPDIR/machine/sys/bus/event_source/devices/armv7_cortex_a7
	mkdir -p "$pmu"
	echo 4000000000 >"$pmu/type"
	echo 0-3 >"$pmu/cpus"
	export UPMU_ROOT=$BATS_TEST_TMPDIR/machine
	run "$upmu" stat -p $$ -e r08 -- true
	[ "$status" -eq 0 ]
	[[ "$output" == *"<not supported>  r08"* ]]
	[[ "$output" != *"page faults"* ]]
	# Where it is the command that is counted, they are told.
	run "$upmu" stat -e r08 -- true
	[[ "$output" == *"<not supported>  r08"* ]]
	[[ "$output" == *" page faults"* ]]
}

@test "stat_takes_several_event_options" {
	counts_the_kernel
	"$upmu" stat -e page-faults -e task-clock,cs -o report -- true
	[ "$(grep -cE 'page-faults|task-clock|cs' report)" -eq 3 ]
}

@test "stat_tells_a_terminal_which_run_it_is" {
	needs_terminal
	run script -qec "'$upmu' stat -r 4 -o report -- sleep 1" /dev/null
	[[ "$output" == *"run 4 of 4"* ]]
	# Not where nobody looks.
	run "$upmu" stat -r 2 -o report -- true
	[ -z "$output" ]
}

@test "stat_repeats_say_how_many_runs_failed" {
	run "$upmu" stat -r 3 -e page-faults -- sh -c 'exit 4'
	[ "$status" -eq 4 ]
	[[ "$output" == *"mean of 3 runs; 3 ended with a status"* ]]
	"$upmu" stat -r 3 -e page-faults -j -o report -- sh -c 'exit 4' || true
	grep -q '"failed": 3' report
}

@test "stat_repeats_that_a_signal_ended_claim_no_more_runs" {
	run sh -c '"$0" stat -r 3 -e page-faults -- sh -c "kill -ABRT \$\$"; :' \
		"$upmu"
	[[ "$output" == *", 1 of 3 runs; 1 ended by SIGABRT"* ]]
	sh -c '"$0" stat -r 3 -e page-faults -j -o report -- \
		sh -c "kill -ABRT \$\$"; :' "$upmu"
	grep -q '"runs": 1,' report
	grep -q '"runs_wanted": 3' report
	grep -q '"ended_by": "SIGABRT"' report
}

@test "stat_repeats_tell_failed_runs_beside_the_one_that_a_signal_ended" {
	cat >third <<-'E'
		#!/bin/sh
		echo x >>runs
		[ "$(wc -l <runs)" -lt 3 ] || kill -ABRT $$
		exit 4
	E
	chmod +x third
	sh -c '"$@"; :' - "$upmu" stat -r 4 -e page-faults -o report ./third
	grep -q '2 of 4 runs; 1 ended by SIGABRT; 2 ended with a status' report
	# Of one run alone nobody says both.
	rm runs
	echo >>runs
	sh -c '"$@"; :' - "$upmu" stat -r 4 -e page-faults -o report ./third
	grep -q ', 1 of 4 runs; 1 ended by SIGABRT; 1 ended with a' report
	sh -c '"$@"; :' - "$upmu" stat -r 4 -e page-faults -o report ./third
	grep -q ', 1 of 4 runs; 1 ended by SIGABRT$' report
}

@test "stat_repeats_say_in_how_many_runs_an_event_was_counted" {
	# Of the four the first and the last end before counting begins.
	cat >some <<-'E'
		#!/bin/sh
		echo >>ran
		case $(wc -l <ran) in
		2 | 3) sleep 1.3; : | : ;;
		esac
	E
	chmod +x some
	for form in '' -j; do
		rm -f ran
		"$upmu" stat -r 4 -D 1s -e task-clock $form -o report ./some
		case $form in
		'') grep -q ', mean of 4 runs' report
		    grep -qE '^ +[1-9][0-9,]*  task-clock .* in 2 runs' report;;
		*) python3 - <<-'E'
			import json
			event = json.load(open("report"))["events"][0]
			values = event["values"]
			assert event["state"] == "counted", event
			assert [v is None for v in values] == [True, False,
			                                       False, True]
			assert abs(event["mean"] - sum(values[1:3]) / 2) < 1
			E
		esac
	done
}

@test "stat_repeats_leave_the_run_that_a_signal_ended_out_of_the_means" {
	cat >third <<-'E'
		#!/bin/sh
		echo x >>runs
		[ "$(wc -l <runs)" -lt 3 ] || kill -ABRT $$
	E
	chmod +x third
	for form in '' '-j' '-x ,'; do
		rm -f runs
		# shellcheck disable=SC2086	# words
		sh -c '"$@"; :' - "$upmu" stat -r 4 -e page-faults -o report \
			$form -- ./third
		case $form in
		'') grep -q ', mean of 2 of 4 runs; 1 ended by SIGABRT' report;;
		-j) grep -q '"ended_by": "SIGABRT"' report
		    grep -q '"runs": 2,' report
		    grep -q '"runs_wanted": 4' report;;
		*) grep -q '^2\?4,,runs_wanted' report
		   grep -q '^6,,ended_by_signal' report
		   grep -qE '^[0-9]+,ns,user_time,.*,2$' report;;
		esac
	done
}

@test "stat_repeats_that_are_interrupted_leave_out_the_run_that_was_cut_off" {
	"$upmu" stat -r 1000 -e page-faults -j -o report -- \
		sh -c 'echo >>began; sleep 0.05' &
	local pid=$!
	# two of them have ended
	wait_until has_lines 3 began
	kill -TERM $pid
	wait $pid || true
	python3 - <<-'E'
		import json
		report = json.load(open("report"))
		values = report["events"][0]["values"]
		assert 1 < report["runs"] == len(values) < 1000, report
		assert report["runs_wanted"] == 1000
		assert report["elapsed_s"] >= 0.05
		assert "user_deviation_s" in report and "sys_deviation_s" in report
	E
}

@test "stat_repeats_that_timeout_ended_are_called_so" {
	run -124 "$upmu" stat -r 2 --timeout 100 -e page-faults -- sleep 5
	[[ "$output" == *", mean of 2 runs; 2 ended by --timeout"$'\n'* ]]
}

@test "stat_repeats_that_are_interrupted_die_of_the_signal_however_a_run_ends" {
	local pid status signal
	# One that a run survives, and short ones that it mostly comes between.
	for signal in TERM INT; do
		for program in 'trap : TERM INT; echo >>began; sleep 0.05' \
			'echo >>began'
		do
			rm -f began
			env --default-signal=TERM,INT "$upmu" stat -r 100000 \
				-e page-faults -o report -- sh -c "$program" &
			pid=$! status=0
			wait_until has_lines 3 began
			kill -s $signal $pid
			wait $pid || status=$?
			[ "$status" -eq $((128 + $(kill -l $signal))) ]
			grep -q '; interrupted' report
		done
	done
}

@test "stat_repeats_have_deviations_of_times_in_csv_too" {
	"$upmu" stat -r 3 -e page-faults -x, -o report -- true
	for name in duration_time user_time system_time; do
		grep -qE "^[0-9]+,ns,$name,{8}[0-9]+\\.[0-9]+,3\$" report
	done
}

@test "stat_separator_of_a_backslash_and_t_is_a_tab" {
	"$upmu" stat -x '\t' -e page-faults -o report -- true
	grep -q "$(printf '\t')page-faults$(printf '\t')" report
	run ! grep -qF '\t' report
}

@test "separators_part_fields_and_stand_in_none" {
	local bad
	for bad in . 0 e n '"' - $'\n' ''; do
		run -2 "$upmu" stat -x "$bad" -e page-faults -- touch ran
		[[ "$output" == *"is not a separator: "* ]]
		run -2 "$upmu" compare -x "$bad" -e page-faults touch ran
		[[ "$output" == *"is not a separator: "* ]]
	done
	[ ! -e ran ]
	"$upmu" stat -x ' ' -e page-faults,r7fff -o report -- true
	grep -q '^"<[a-z ]*>"  r7fff ' report
	"$upmu" stat -x '>>' -e r7fff -o report -- true
	grep -q '^"<[a-z ]*>">>>>r7fff>>' report
	"$upmu" stat -x _ -e task-clock -o report -- true
	grep -q '_"cpus_used"_' report
	"$upmu" compare -r 4 -x '\t' -e page-faults true -- true >report
	grep -q "^page-faults$(printf '\t\t')true$(printf '\t')4" report
	"$upmu" compare -r 4 -x ' ' -e page-faults true -- true >report
	grep -q '^page-faults  true 4 .* "no difference seen"$' report
}

@test "stat_metric_only_is_refused_where_it_was_ignored" {
	for form in '-x ,' -j '--format csv'; do
		# shellcheck disable=SC2086	# words
		run "$upmu" stat --metric-only $form -- true
		[ "$status" -eq 2 ]
		[[ "$output" == *"hint:"* ]]
	done
}

@test "stat_repeats_give_mean_and_deviation" {
	"$upmu" stat -r 4 -e page-faults -o report -- sh -c 'echo x >>runs'
	[ "$(wc -l <runs)" -eq 4 ]
	grep -q 'mean of 4 runs' report
	grep -qE 'page-faults +\+- +[0-9.]+ %' report
}

@test "stat_options_that_contradict_each_other_are_refused" {
	for options in '-p 1 -a' '-a --passes' '-I 10 -r 2' \
		'--append' '--slice 0' '--slice x' '-r 0' '-I x' '-x ""'; do
		run sh -c "'$upmu' stat $options -e task-clock -- true"
		[ "$status" -eq 2 ]
	done
}

@test "stat_says_that_the_machine_throttled_itself" {
	fw=root/sys/devices/platform/soc/soc:firmware
	mkdir -p "$fw"
	echo 50005 >"$fw/get_throttled"
	UPMU_ROOT=$PWD/root "$upmu" stat -e page-faults -o report -- true
	grep -q 'supply voltage was too low' report
	grep -q 'CPU was throttled' report
	# Known when it has ended: below the intervals, whatever shows them.
	for form in '' --summary --plot; do
		# shellcheck disable=SC2086	# words
		UPMU_ROOT=$PWD/root "$upmu" stat -I 20 $form -e page-faults \
			-o report -- sleep 0.1
		[ "$(grep -c 'CPU was throttled' report)" -eq 1 ]
	done
	# For programs too, of the whole and behind the last interval.
	for form in '' '-I 20' '-I 20 --summary' '-a -A -I 20'; do
		# shellcheck disable=SC2086	# words
		UPMU_ROOT=$PWD/root "$upmu" stat $form --format csv \
			-e cpu-clock -o report -- sleep 0.1
		python3 "$BATS_TEST_DIRNAME/check_stat_output.py" csv report
		[ "$(grep -cE ',(throttled|under_voltage),' report)" -eq 2 ]
		# shellcheck disable=SC2086	# words
		UPMU_ROOT=$PWD/root "$upmu" stat $form -j -e cpu-clock \
			-o report -- sleep 0.1
		python3 "$BATS_TEST_DIRNAME/check_stat_output.py" json report
		[ "$(grep -c '"notes":.*CPU was throttled' report)" -eq 1 ]
		tail -n 3 report | grep -q '"notes"'
		run -0 "$upmu" report -o page.html report
		grep -q 'CPU was throttled' page.html
	done
	# Of ratios alone there is no line, with intervals or without.
	for form in '' '-I 20'; do
		# shellcheck disable=SC2086	# words
		UPMU_ROOT=$PWD/root "$upmu" stat $form --metric-only \
			-e task-clock -o report -- sleep 0.05
		grep -q cpus_used report
		run ! grep 'CPU was throttled' report
	done
	# Only since boot, not now and not newly: no word about it.
	echo 50000 >"$fw/get_throttled"
	UPMU_ROOT=$PWD/root "$upmu" stat -e page-faults -o report -- true
	run ! grep -qE 'voltage|throttled' report
}

# What is told where a file of the machine says BEFORE, and AFTER at the end:
# v, the voltage was too low; t, throttled.
disturbed() {	# FILE BEFORE AFTER
	local file=root/sys/$1
	mkdir -p "${file%/*}"
	echo "$2" >"$file"
	UPMU_ROOT=$PWD/root "$upmu" stat -e page-faults -o report -- \
		sh -c "echo $3 >'$file'"
	told=$(grep -oE 'supply voltage was too low|CPU was throttled' report |
		tr '\n' ' ' | sed 's/supply.* low /v/;s/CPU.*d /t/')
}

@test "stat_says_what_the_firmware_told_before_or_after_or_meanwhile" {
	fw=devices/platform/soc/soc:firmware/get_throttled
	while read -r before after wanted; do
		disturbed "$fw" "$before" "$after"
		[ "$told" = "$wanted" ]
	done <<-'E'
		50000 50005 vt
		50005 50000 vt
		0 50000 vt
		50000 50000
		10000 50000 t
		1 10000 v
		2 20000 t
		4 40000 t
		8 80000 t
		fff00000 fff00000
		10 20
	E
}

@test "stat_says_that_the_boards_sensor_saw_too_low_a_voltage" {
	mkdir -p root/sys/class/hwmon/hwmon{0,1,2}
	echo cpu_thermal >root/sys/class/hwmon/hwmon0/name
	echo 1 >root/sys/class/hwmon/hwmon0/in0_lcrit_alarm
	echo 1 >root/sys/class/hwmon/hwmon2/in0_lcrit_alarm
	echo rpi_volt | tee root/sys/class/hwmon/hwmon{1,2}/name
	for alarms in '0 0' '0 1 v' '1 0 v' '1 1 v'; do
		read -r before after wanted <<<"$alarms"
		disturbed class/hwmon/hwmon1/in0_lcrit_alarm "$before" "$after"
		[ "$told" = "$wanted" ]
	done
	rm -r root/sys/class/hwmon/hwmon0
	disturbed class/hwmon/hwmon1/in0_lcrit_alarm 1 1
	[ -z "$told" ]
}

@test "stat_says_that_a_cooling_device_held_the_frequency_down" {
	mkdir -p root/sys/class/thermal/cooling_device{0,1}
	echo 3 >root/sys/class/thermal/cooling_device0/cur_state
	for type in pwm-fan cpufreq-cpu0 thermal-cpufreq-0; do
		echo fan >root/sys/class/thermal/cooling_device0/type
		echo $type >root/sys/class/thermal/cooling_device1/type
		for states in '0 0' '0 2 t' '2 0 t' '2 2 t'; do
			read -r before after wanted <<<"$states"
			disturbed class/thermal/cooling_device1/cur_state \
				"$before" "$after"
			[ "$type" != pwm-fan ] || wanted=
			[ "$told" = "$wanted" ]
		done
	done
	# One of two is enough.
	echo cpufreq-cpu4 >root/sys/class/thermal/cooling_device0/type
	disturbed class/thermal/cooling_device1/cur_state 0 0
	[ "$told" = t ]
}

@test "stat_says_that_the_processor_counted_a_throttling_meanwhile" {
	heat=devices/system/cpu/cpu0/thermal_throttle/core_throttle_count
	for counts in '0 0' '7 7' '7 8 t' '0 1 t' '8 7'; do
		read -r before after wanted <<<"$counts"
		disturbed $heat "$before" "$after"
		[ "$told" = "$wanted" ]
	done
}

@test "stat_says_that_the_frequency_governor_changed" {
	policy=root/sys/devices/system/cpu/cpufreq/policy0
	mkdir -p "$policy"
	echo performance >"$policy/scaling_governor"
	UPMU_ROOT=$PWD/root "$upmu" stat -e page-faults -o report -- \
		sh -c "echo powersave >$policy/scaling_governor"
	grep -q 'governor of CPU 0 changed from performance to powersave' report
	UPMU_ROOT=$PWD/root "$upmu" stat -e page-faults -o report -- true
	run ! grep 'frequency governor' report
	# Of unlike cores there is a policy for the first CPU of each kind.
	mkdir "${policy%0}4"
	disturbed devices/system/cpu/cpufreq/policy4/scaling_governor a b
	[ "$(grep -c 'frequency governor' report)" -eq 1 ]
	grep -q 'governor of CPU 4 changed from a to b' report
}
