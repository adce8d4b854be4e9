#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu stat --plot and --live.

load crashes
load kernel

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	cd "$BATS_TEST_TMPDIR"
	intervals=$BATS_TEST_DIRNAME/intervals
	# Idle, then busy, then idle: a shape that a sparkline has to show. What a
	# program touches shows it however little of a core it gets.
	cat >hump <<-E
		#!/bin/sh
		. "$intervals"
		intervals 5 sleep 1
		for _ in 1 2 3 4 5 6 7 8 9; do
			dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null
			intervals 1 sleep 0.05
		done
		intervals 5 sleep 1
	E
	chmod +x hump
}

@test "plot_shows_when_the_program_was_busy" {
	counts_the_kernel
	LC_ALL=C "$upmu" stat -I 100 --plot -e page-faults -o report ./hump
	grep -q 'intervals in' report
	# Each interval's text is left out.
	run ! grep -q '^after' report
	# Low, high, low: ASCII heights in order (a space: nothing counted).
	line=$(grep '^page-faults' report)
	echo "$line"
	spark=$(echo "$line" | sed -E 's/.*\/s (.*) [0-9.]+( [kMG])? to .*/\1/')
	[[ "$spark" =~ ^[_.\ ]+.*([#*+=].*){3}[_.\ ]+$ ]]
}

@test "plot_gives_a_clock_its_unit_in_the_rate" {
	LC_ALL=C "$upmu" stat -I 5000 --plot -e task-clock,page-faults -o report true
	grep -q '^1 interval in ' report
	grep -qE '^task-clock +[0-9.e-]+ s/s \S+ [0-9.e-]+ to [0-9.e-]+$' report
	grep -qE '^page-faults +[0-9.]+( k)?/s ' report
}

@test "plot_is_ascii_where_the_locale_has_no_blocks" {
	LC_ALL=C "$upmu" stat --plot -e page-faults -o ascii true
	LC_ALL=C.UTF-8 "$upmu" stat -I 100 --plot -e page-faults -o blocks \
		./hump
	run ! env LC_ALL=C grep -q '[^ -~]' ascii
	grep -q '█' blocks
	grep -q 'of elapsed' ascii
	run ! grep -q "$(printf '\033')" blocks
}

@test "plot_of_a_long_run_keeps_few_points" {
	COLUMNS=100 LC_ALL=C "$upmu" stat -I 1 --plot -e page-faults -o report \
		"$intervals" 500 sleep 0.1
	[ "$(grep -c '^page-faults' report)" -eq 1 ]
	[ "$(grep '^page-faults' report | wc -c)" -lt 120 ]
}

@test "plot_of_repeated_runs_has_times_and_elapsed_of_the_same_runs" {
	cat >first <<-'E'
		#!/bin/sh
		i=0
		[ -e ran ] || while [ $i -lt 100000 ]; do i=$((i+1)); done
		: >ran
	E
	chmod +x first
	LC_ALL=C "$upmu" stat -r 3 --plot -e page-faults -o report ./first
	# One thread has no more than all of the time.
	awk '/% of elapsed$/ { n++; sum += $(NF - 3) }
		END { print n, sum; exit !(n == 2 && sum > 0 && sum < 150) }' report
}

in_window() {	# COLUMNS COMMAND...: what a terminal of that width is told
	python3 - "$@" <<-'P'
		import fcntl, os, pty, struct, sys, termios
		pid, fd = pty.fork()
		if not pid:
		    fcntl.ioctl(1, termios.TIOCSWINSZ,
		                struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
		    os.execvp(sys.argv[2], sys.argv[2:])
		told = b""
		try:
		    while more := os.read(fd, 4096):
		        told += more
		except OSError:
		    pass
		sys.stdout.write(told.decode().replace("\r", ""))
	P
}

# Half a millisecond in 3 s has more digits than most.
@test "plot_keeps_its_columns_whatever_the_rate" {
	LC_ALL=C in_window 120 "$upmu" stat -I 9000 --plot \
		-e task-clock,page-faults,context-switches -- sleep 3 >told
	cat told
	grep -qE '^task-clock +0\.00[0-9]+ s/s ' told
	[ "$(awk '/\/s / { print index($0, "/s ") }' told | sort -u | wc -l)" = 1 ]
}

@test "plot_keeps_within_a_narrow_terminal" {
	for columns in 100 76 60 44 27; do
		LC_ALL=C in_window $columns "$upmu" stat -I 20 --plot \
			-e task-clock,page-faults -- ./hump >told
		grep -qE '^task-clo(ck)? .*/s [_.,*#=+-]' told
		[ "$(grep -E '^(task-clo|page-fau)' told | awk '
			length > most { most = length } END { print most + 0 }')" -le $columns ]
	done
	LC_ALL=C in_window 60 "$upmu" stat --plot -e task-clock -- true >told
	[ "$(grep -cE '^(user|sys) .{20,54} % of elapsed$' told)" -eq 2 ]
}

# A serial console says so.
@test "plot_on_a_terminal_of_no_known_width_is_as_in_a_file" {
	LC_ALL=C in_window 0 "$upmu" stat -I 20 --plot -e task-clock \
		-- ./hump >told
	grep -qE '^task-clock .{50,89}$' told
}

# 0.3 s of processor time, then it sleeps.
@test "plot_and_live_end_with_the_mean_over_all_the_time" {
	for how in --plot --live; do
		LC_ALL=C in_window 100 "$upmu" stat -I 50 $how -e task-clock -- \
			python3 -c 'import time
while time.process_time() < 0.3: pass
time.sleep(0.9)' >told
		tr '\033' '\n' <told | tee lines
		seconds=$(awk '/intervals in/ { print $4 }' lines)
		rate=$(sed '1,/intervals in/d' lines | awk '/^task-clock/ { print $2 }')
		awk "BEGIN { exit !($rate * $seconds > 0.28 && $rate * $seconds < 0.4) }"
	done
}

@test "plot_and_live_refuse_what_they_cannot_draw" {
	for bad in '--plot -j' '--plot -x ,' '--live' '--live -I 10 -q' \
		'--plot --format rpistat'
	do
		# shellcheck disable=SC2086	# words
		run "$upmu" stat $bad -- true
		[ "$status" -eq 2 ]
		[[ "$output" == *"hint:"* ]]
	done
	run "$upmu" stat -I 10 --live -e page-faults -- touch ran
	[ "$status" -eq 2 ]
	[[ "$output" == *"wants a terminal"* ]]
	[ ! -e ran ]
}

# What is on the terminal once they are, in `during`; the test says what it wants
# of it, behind the end of the terminal.
see_page_faults() {
	for _ in $(seq 100); do
		tmux -L upmu$$ capture-pane -p >during
		grep -q '^page-faults' during && break
		sleep 0.2
	done
}

@test "live_draws_a_screen_again_and_again" {
	[ -n "${UPMU_ALL:-}" ] || skip "terminals are tried by ./check --all"
	command -v tmux >/dev/null || skip "no tmux is installed"
	tmux -L upmu$$ -f /dev/null new-session -d -x 90 -y 20 \
		"LC_ALL=C $upmu stat -I 50 --live -e task-clock,page-faults ./hump; echo status \$?; sleep 30"
	see_page_faults
	for _ in $(seq 50); do
		tmux -L upmu$$ capture-pane -p >after
		grep -q 'status 0' after && break
		sleep 0.2
	done
	tmux -L upmu$$ kill-server
	# One screen, not one below the other.
	[ "$(grep -c '^task-clock' during)" -eq 1 ]
	[ "$(grep -c '^upmu stat: ./hump' during)" -eq 1 ]
	head -n 1 during | grep -q '^upmu stat: ./hump'
	grep -q 'status 0' after
	grep -q 'intervals in' after
}

@test "live_keeps_its_first_line_on_a_small_screen" {
	[ -n "${UPMU_ALL:-}" ] || skip "terminals are tried by ./check --all"
	command -v tmux >/dev/null || skip "no tmux is installed"
	tmux -L upmu$$ -f /dev/null new-session -d -x 30 -y 5 \
		"LC_ALL=C $upmu stat -I 50 --live -e task-clock,page-faults,context-switches -- sleep 60"
	see_page_faults
	sleep 1
	tmux -L upmu$$ capture-pane -p >during
	tmux -L upmu$$ kill-server
	head -n 1 during | grep -q '^upmu stat: sleep 60'
	[ "$(grep -c '^task-clock' during)" -eq 1 ]
}

@test "live_has_one_line_for_a_command_of_several" {
	[ -n "${UPMU_ALL:-}" ] || skip "terminals are tried by ./check --all"
	command -v tmux >/dev/null || skip "no tmux is installed"
	printf 'sleep 60\ntrue\n' >script
	tmux -L upmu$$ -f /dev/null new-session -d -x 90 -y 20 \
		"LC_ALL=C $upmu stat -I 50 --live -e page-faults -- sh -c \"\$(cat script)\""
	see_page_faults
	tmux -L upmu$$ kill-server
	head -n 1 during | grep -q '^upmu stat: sh -c sleep 60?true  '
}

# CPU 0 an A7, CPU 1 an A15, whose codes are the kernel's own events.
unlike_cores() {
	local cpu pmus=root/sys/bus/event_source/devices
	mkdir -p root/proc root/sys/devices/system/cpu \
		$pmus/armv7_cortex_a{7,15}
	for cpu in 0xc07 0xc0f; do
		printf 'processor\t: %d\n' $((cpu == 0xc0f))
		printf 'CPU implementer\t: 0x41\nCPU architecture: 7\n'
		printf 'CPU variant\t: 0x0\nCPU part\t: %s\nCPU revision\t: 3\n\n' $cpu
	done >root/proc/cpuinfo
	echo 0-1 >root/sys/devices/system/cpu/online
	echo 0 >$pmus/armv7_cortex_a7/cpus
	echo 1 >$pmus/armv7_cortex_a15/cpus
	echo 1 | tee $pmus/armv7_cortex_a{7,15}/type >/dev/null
}

@test "plot_of_unlike_cores_has_lines_of_one_event_each" {
	[ "$(id -u)" -eq 0 ] || skip "counting CPUs needs root"
	[ "$(nproc)" -ge 2 ] || skip "this machine has one CPU"
	unlike_cores
	# Page faults, cpu-clock; of the A15 page faults alone.
	list=cortex-a7/r2/,cortex-a7/r0/,cortex-a15/r2/
	UPMU_ROOT=$PWD/root LC_ALL=C "$upmu" stat -a -A -I 100 --plot -e $list \
		--timeout 450 -o report
	cat report
	grep -qE '^cortex-a7/r0/ .* [0-9.]+ [MG] to [0-9.]+ [MG]$' report
	grep -qE '^cortex-a15/r2/ .*/s .* to [0-9.]+( k)?$' report
	# What tells them apart is the end of their names.
	UPMU_ROOT=$PWD/root LC_ALL=C "$upmu" stat -a -I 100 --plot \
		-e cortex-a15/l1d_cache/,cortex-a15/l1d_cache_refill/ \
		--timeout 450 -o report
	cat report
	grep -qE '^cortex-a15/l1d_cache_refill/ .*/s ' report
	[ "$(awk '/\/s / { print index($0, "/s ") }' report | sort -u | wc -l)" = 1 ]
	# More of them than a line has room for.
	UPMU_ROOT=$PWD/root "$upmu" stat -a -A -I 1 --plot -e $list \
		--timeout 1500 -o report
	[ "$(grep -c '^cortex-' report)" -eq 3 ]
}
