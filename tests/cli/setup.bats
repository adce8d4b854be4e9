#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu setup on a root directory of the test's own, with commands that only
# record how they were called.

load crashes

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	export UPMU_ROOT=$BATS_TEST_TMPDIR/root
	calls=$BATS_TEST_TMPDIR/calls
	mkdir -p "$UPMU_ROOT"/etc/{udev/rules.d,modules-load.d,modprobe.d,sysctl.d} \
		"$UPMU_ROOT/proc/sys/kernel" "$BATS_TEST_TMPDIR/bin" \
		"$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7"
	echo 8 >"$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7/type"
	echo 0-3 >"$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7/cpus"
	echo armv7l >"$UPMU_ROOT/proc/sys/kernel/arch"
	echo 3 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	echo 'root:x:0:' >"$UPMU_ROOT/etc/group"
	for name in groupadd groupdel modprobe udevadm sysctl; do
		printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$name" "$calls" \
			>"$BATS_TEST_TMPDIR/bin/$name"
		chmod +x "$BATS_TEST_TMPDIR/bin/$name"
	done
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	: >"$calls"
}

files_written() {
	find "$UPMU_ROOT/etc" -type f ! -name group ! -name '*.journal' | wc -l
}

@test "setup_without_a_terminal_or_yes_does_nothing" {
	run "$upmu" setup </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"upmu setup --yes"* ]]
	[ "$(files_written)" -eq 0 ]
	[ ! -s "$calls" ]
}

@test "setup_on_a_terminal_asks_and_does_what_y_allows" {
	script -qec true /dev/null >/dev/null 2>&1 </dev/null ||
		skip "no pseudo-terminal is to be had here"
	for answer in n '' no x; do
		run script -qec "'$upmu' setup" /dev/null <<<"$answer"
		[ "$status" -eq 1 ]
		[[ "$output" == *"Do this? [y/N] "* ]]
		[ "$(files_written)" -eq 0 ]
		[ ! -s "$calls" ]
	done
	run script -qec "'$upmu' setup" /dev/null <<<y
	[ "$status" -eq 0 ]
	[ "$(files_written)" -eq 3 ]
	run script -qec "'$upmu' setup --undo" /dev/null <<<Y
	[ "$status" -eq 0 ]
	[ "$(files_written)" -eq 0 ]
}

@test "setup_dry_run_shows_each_file_and_does_nothing" {
	run "$upmu" setup --dry-run
	[ "$status" -eq 0 ]
	[[ "$output" == *"write /etc/udev/rules.d/60-upmu.rules"* ]]
	[[ "$output" == *'| KERNEL=="upmu", GROUP="upmu", MODE="0660"'* ]]
	[[ "$output" == *"run   modprobe upmu"* ]]
	[ "$(files_written)" -eq 0 ]
	[ ! -s "$calls" ]
}

@test "setup_names_what_says_otherwise_at_the_next_boot" {
	folder=$UPMU_ROOT/etc/sysctl.d
	echo 'kernel/perf_event_paranoid=3' >"$folder/99-z.conf"
	echo 'kernel.perf_event_paranoid = 3' >"$folder/99-z.conf.dpkg-old"
	echo '# kernel.perf_event_paranoid = 3' >"$folder/98-comment.conf"
	echo 'kernel.perf_event_paranoid = 3' >"$folder/10-before.conf"
	printf '%s\n' kernel.perf_event_paranoid '-kernel.perf_event_paranoid 3' \
		>"$folder/99-no-value.conf"
	echo 'blacklist upmu' >"$UPMU_ROOT/etc/modprobe.d/.hidden.conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 1 ]
	[[ "$output" == *"99-z.conf says 'kernel/perf_event_paranoid=3'"* ]]
	# systemd reads this where a link in sysctl.d leads there, others always.
	echo 'kernel.perf_event_paranoid = 5' >"$UPMU_ROOT/etc/sysctl.conf"
	run "$upmu" setup --dry-run
	[[ "$output" == *"/etc/sysctl.conf says"* ]]
	mkdir -p "$UPMU_ROOT/run/systemd/system"
	run "$upmu" setup --dry-run
	[[ "$output" != *"/etc/sysctl.conf says"* ]]
	ln -s ../sysctl.conf "$folder/99-sysctl.conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note.*paranoid = 5' <<<"$output")" -eq 1 ]
	# No line of such a file goes on, and no comment among udev's.
	printf '# it \\\nkernel.perf_event_paranoid = 4\n' >"$folder/97-z.conf"
	printf '# it \\\nKERNEL=="upmu", MODE="0600"\n' \
		>"$UPMU_ROOT/etc/udev/rules.d/99-z.rules"
	run "$upmu" setup --dry-run
	[[ "$output" == *"97-z.conf says 'kernel.perf_event_paranoid = 4'"* ]]
	[[ "$output" == *"99-z.rules says 'KERNEL==\"upmu\", MODE=\"0600\"'"* ]]
	echo '#SUBSYSTEM=="misc", KERNEL=="upmu"' \
		>"$UPMU_ROOT/etc/udev/rules.d/99-z.rules"
	echo 'SUBSYSTEM=="misc", KERNEL=="upmu", MODE="0600"' \
		>>"$UPMU_ROOT/etc/udev/rules.d/99-z.rules"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note.*99-z.rules' <<<"$output")" -eq 1 ]
	[[ "$output" == *"99-z.rules says 'SUBSYSTEM"* ]]
}

@test "setup_reads_other_files_to_their_end" {
	local line='kernel.perf_event_paranoid = 3'

	{
		yes '# a line of a long file' | head -n 1000
		printf '# a null character: \0\n%s\n' "$line"
	} >"$UPMU_ROOT/etc/sysctl.d/99-long.conf"
	run "$upmu" setup --dry-run
	[[ "$output" == *"/99-long.conf says '$line'"* ]]
}

@test "setup_takes_of_other_files_of_one_name_the_one_that_is_read" {
	local libs=$UPMU_ROOT/usr/lib/sysctl.d line='kernel.perf_event_paranoid = 3'

	mkdir -p "$libs" "$UPMU_ROOT/lib/sysctl.d"
	for name in 97-null 98-nowhere 99-other; do
		echo "$line" >"$libs/$name.conf"
	done
	ln -s /dev/null "$UPMU_ROOT/etc/sysctl.d/97-null.conf"
	ln -s nowhere "$UPMU_ROOT/etc/sysctl.d/98-nowhere.conf"
	echo '# nothing' >"$UPMU_ROOT/etc/sysctl.d/99-other.conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 0 ]
	# Some systems have a /lib of its own.
	echo "$line" >"$UPMU_ROOT/lib/sysctl.d/99-z.conf"
	run "$upmu" setup --dry-run
	[[ "$output" == *"note  /lib/sysctl.d/99-z.conf says '$line'"* ]]
	mv "$UPMU_ROOT/lib/sysctl.d/99-z.conf" "$libs"
	rm -r "$UPMU_ROOT/lib"
	ln -s usr/lib "$UPMU_ROOT/lib"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 1 ]
}

@test "setup_names_nothing_where_it_sets_nothing_to_win_over" {
	local paranoid=$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid

	echo 1 >"$paranoid"
	printf 'kernel.%s = 1\n' perf_event_paranoid perf_user_access \
		| tee "$UPMU_ROOT/etc/sysctl.conf" >"$UPMU_ROOT/etc/sysctl.d/99.conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 0 ]
	echo 3 >"$paranoid"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note.*paranoid' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^note' <<<"$output")" -eq 2 ]
	# This kernel needs no module.
	echo aarch64 >"$UPMU_ROOT/proc/sys/kernel/arch"
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	echo 1 >"$paranoid"
	echo 'KERNEL=="upmu", MODE="0600"' >"$UPMU_ROOT/etc/udev/rules.d/99.rules"
	printf '%s upmu x\n' blacklist install options \
		>"$UPMU_ROOT/etc/modprobe.d/x.conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note.*user_access' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^note' <<<"$output")" -eq 2 ]
}

@test "setup_names_what_keeps_its_sysctl_from_being_set" {
	local folder=$UPMU_ROOT/etc/sysctl.d

	echo ' -kernel.perf_event_paranoid ' >"$folder/99-x.conf"
	echo '-kernel/perf_event_paranoid' >"$folder/98-x.conf"
	cp "$folder/99-x.conf" "$folder/10-before.conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 2 ]
	[[ "$output" == *"99-x.conf says '-kernel.perf_event_paranoid '"* ]]
	[[ "$output" == *"98-x.conf says '-kernel/perf_event_paranoid'"* ]]
}

@test "setup_names_what_a_file_of_its_own_name_keeps_from_loading" {
	local conf=$UPMU_ROOT/etc/modprobe.d/upmu.conf

	printf '%s\n' 'install upmu /bin/false' 'blacklist upmu' \
		'options upmu open=cycles' >"$conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 2 ]
	[[ "$output" == *"note  /etc/modprobe.d/upmu.conf says 'install"* ]]
	# Setup's own that the user has put it into hides but others.
	rm -r "$conf" "$UPMU_ROOT"/sys/bus/event_source/devices/*
	"$upmu" setup --yes
	printf '%s\n' 'install upmu /bin/false' 'blacklist upmu' >>"$conf"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 2 ]
	[[ "$output" == *"note  /etc/modprobe.d/upmu.conf says 'install"* ]]
	[[ "$output" == *"note  /etc/modprobe.d/upmu.conf says 'blacklist"* ]]
}

# As installed from upmu's own package.
@test "setup_tells_nothing_of_a_hidden_file_that_says_what_its_own_does" {
	local rules=$UPMU_ROOT/usr/lib/udev/rules.d

	mkdir -p "$rules"
	cp "$BATS_TEST_DIRNAME/../../packaging/60-upmu.rules" "$rules"
	for word in --dry-run --yes --yes; do
		run "$upmu" setup "$word"
		[[ "$output" != *"note "* ]]
	done
	echo 'KERNEL=="upmu", MODE="0600"' >>"$rules/60-upmu.rules"
	run "$upmu" setup --dry-run
	[[ "$output" == *"/usr/lib/udev/rules.d/60-upmu.rules"*hidden* ]]
	# One that hides it already says the same.
	mkdir -p "$UPMU_ROOT/run/udev/rules.d"
	cp "$BATS_TEST_DIRNAME/../../packaging/60-upmu.rules" \
		"$UPMU_ROOT/run/udev/rules.d"
	run "$upmu" setup --dry-run
	[[ "$output" != *"note "* ]]
	mkdir -p "$UPMU_ROOT/usr/lib/sysctl.d"
	printf '; it\n# it\n\nkernel.perf_event_paranoid = 2\n' \
		>"$UPMU_ROOT/usr/lib/sysctl.d/60-upmu.conf"
	run "$upmu" setup --dry-run
	[[ "$output" != *"note "* ]]
}

@test "setup_names_a_file_that_its_own_of_that_name_hides" {
	local lib=$UPMU_ROOT/usr/lib/modprobe.d/upmu.conf
	local hides="(is hidden by setup's file of its name: not read)"

	mkdir -p "${lib%/*}"
	echo 'options upmu open=cycles' >"$lib"
	echo 'blacklist upmu' >>"$lib"
	# It is read where setup writes none.
	run "$upmu" setup --dry-run
	[[ "$output" == *"upmu.conf says 'options upmu open=cycles'"* ]]
	[[ "$output" == *"upmu.conf says 'blacklist upmu'"* ]]
	[[ "$output" != *"$hides"* ]]
	rm -r "$UPMU_ROOT"/sys/bus/event_source/devices/*
	ln -s usr/lib "$UPMU_ROOT/lib"
	for word in --dry-run --yes --yes; do
		run "$upmu" setup "$word"
		[ "$(grep -A 1 ^note <<<"$output")" = \
			"note  /usr/lib/modprobe.d/upmu.conf"$'\n'"      $hides" ]
	done
	# Setup's stays, though it would write none now.
	echo 'options upmu adopt=no' >"$UPMU_ROOT/etc/modprobe.d/a.conf"
	run "$upmu" setup --yes
	[[ "$output" == *"note  /usr/lib/modprobe.d/upmu.conf"$'\n'"      $hides"* ]]
}

@test "setup_names_udev_rules_that_change_who_may_open_its_device" {
	local rules=$UPMU_ROOT/etc/udev/rules.d/99.rules line

	while read -r line; do
		echo "$line" >"$rules"
		run "$upmu" setup --dry-run
		[[ "$output" == *"note  /etc/udev/rules.d/99.rules says '$line'"* ]]
	done <<-'LINES'
	KERNEL=="upmu*", MODE="0600"
	KERNEL == "upmu", MODE = "0600"
	SUBSYSTEM=="misc",KERNEL=="x|upm[tu]",GROUP:="mine"
	ENV{KERNEL}=="x", KERNEL=="*", SUBSYSTEM=="*", OWNER+="me"
	LINES
	cat >"$rules" <<-'LINES'
	KERNEL=="upmu", SYMLINK+="pmu", TAG+="systemd"
	KERNEL=="upmu", TEST=="x", ENV{MODE}="0600", MODE=="0600", OWNER
	KERNEL=="x|upm|upmu1", MODE="0600"
	KERNEL!="upmu", MODE="0600"
	SUBSYSTEM=="misc", KERNELS=="upmu", MODE="0600"
	SUBSYSTEM=="tty", KERNEL=="*", MODE="0600"
	# KERNEL=="upmu", MODE="0600"
	LINES
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 0 ]
	# A rule may go on, over a comment too, which does not.
	printf '%s\n' 'KERNEL=="upmu", \' ' # it, \' 'MODE="0600"' >"$rules"
	run "$upmu" setup --dry-run
	[[ "$output" == *"says 'KERNEL==\"upmu\", MODE=\"0600\"'"* ]]
}

@test "setup_names_a_rule_before_its_own_that_allows_no_change" {
	local folder=$UPMU_ROOT/etc/udev/rules.d

	echo 'KERNEL=="upmu", MODE:="0600"' >"$folder/50-x.rules"
	printf 'KERNEL=="upmu", %s, MODE="0600"\n' OPTIONS:=\"x\" 'X=":="' \
		>"$folder/51-y.rules"
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 1 ]
	[[ "$output" == *"50-x.rules says 'KERNEL==\"upmu\", MODE:="*"allows no change"* ]]
	mv "$folder/"{5,9}0-x.rules
	run "$upmu" setup --dry-run
	[ "$(grep -c '^note' <<<"$output")" -eq 1 ]
	[[ "$output" == *"90-x.rules says"*"read after setup's file"* ]]
}

@test "setup_reads_no_other_file_that_is_no_plain_one" {
	mkfifo "$UPMU_ROOT/etc/sysctl.d/99-fifo.conf"
	ln -s /dev/zero "$UPMU_ROOT/etc/modprobe.d/endless.conf"
	run timeout 20 "$upmu" setup --dry-run
	[ "$status" -eq 0 ]
	# Also in place of its own, or of one that its own hides.
	mkdir -p "$UPMU_ROOT/usr/lib/modules-load.d"
	mkfifo "$UPMU_ROOT/usr/lib/modules-load.d/upmu.conf"
	run timeout 20 "$upmu" setup --dry-run
	[ "$status" -eq 0 ]
	mkfifo "$UPMU_ROOT/etc/modules-load.d/upmu.conf"
	run timeout 20 "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write over '/etc/modules-load.d/upmu.conf'"* ]]
}

@test "setup_writes_what_it_showed_and_runs_what_it_showed" {
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	grep -q '^KERNEL=="upmu", GROUP="upmu", MODE="0660"$' \
		"$UPMU_ROOT/etc/udev/rules.d/60-upmu.rules"
	grep -qx upmu "$UPMU_ROOT/etc/modules-load.d/upmu.conf"
	grep -qx 'kernel.perf_event_paranoid = 2' \
		"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	[ "$(files_written)" -eq 3 ]
	[ "$(cut -d' ' -f1 "$calls" | xargs)" = "groupadd udevadm modprobe udevadm sysctl" ]
}

@test "setup_asks_for_paranoid_1_on_a_core_without_filters" {
	local a9=$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a9

	mkdir -p "$a9"
	echo 9 >"$a9/type"
	echo 4 >"$a9/cpus"
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	grep -qx 'kernel.perf_event_paranoid = 1' \
		"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
}

@test "setup_asks_for_paranoid_1_where_such_a_core_has_its_pmu_from_the_module" {
	rm -r "$UPMU_ROOT"/sys/bus/event_source/devices/*
	printf '%s\n' 'processor : 0' 'CPU implementer : 0x41' \
		'CPU architecture: 7' 'CPU variant : 0x3' 'CPU part : 0xc09' \
		'CPU revision : 0' >"$UPMU_ROOT/proc/cpuinfo"
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	grep -qx 'options upmu adopt=auto' "$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	grep -qx 'kernel.perf_event_paranoid = 1' \
		"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
}

@test "setup_leaves_it_to_the_user_whose_own_file_says_what_to_adopt" {
	local conf=$UPMU_ROOT/etc/modprobe.d/mine.conf

	rm -r "$UPMU_ROOT"/sys/bus/event_source/devices/*
	for options in adopt=arm,cortex-a7-pmu 'open=cycles adopt=no'; do
		echo "options upmu $options" >"$conf"
		run "$upmu" setup --yes
		[ "$status" -eq 0 ]
		[[ "$output" == *"mine.conf says 'options upmu $options'"* ]]
		[[ "$output" == *"setup's file says, where there is one"* ]]
		[ ! -e "$UPMU_ROOT/etc/modprobe.d/upmu.conf" ]
	done
	printf 'options\t upmu open=cycles \\\n\tadopt=no\n' >"$conf"
	run "$upmu" setup --yes
	[ ! -e "$UPMU_ROOT/etc/modprobe.d/upmu.conf" ]
	printf '# it \\\noptions upmu adopt=no\noptions upmu_peek adopt=no\n' \
		>"$conf"
	echo 'options upmu-peek adopt=no' >>"$conf" # its name, too
	echo 'options upmu open=cycles' >>"$conf"
	# Mine is read in its place.
	mkdir -p "$UPMU_ROOT/usr/lib/modprobe.d"
	echo 'options upmu adopt=no' >"$UPMU_ROOT/usr/lib/modprobe.d/mine.conf"
	"$upmu" setup --yes
	grep -qx 'options upmu adopt=auto' "$UPMU_ROOT/etc/modprobe.d/upmu.conf"
}

@test "setup_goes_on_beside_a_users_own_upmu_conf_that_says_what_to_adopt" {
	local conf=$UPMU_ROOT/etc/modprobe.d/upmu.conf

	rm -r "$UPMU_ROOT"/sys/bus/event_source/devices/*
	printf '# mine\noptions upmu adopt=auto\n' >"$conf"
	cp "$conf" "$BATS_TEST_TMPDIR/users"
	for word in '' '' --undo; do
		"$upmu" setup --yes $word
		cmp "$conf" "$BATS_TEST_TMPDIR/users"
	done
}

@test "setup_puts_no_upmu_conf_in_place_of_one_that_says_what_to_adopt" {
	rm -r "$UPMU_ROOT"/sys/bus/event_source/devices/*
	mkdir -p "$UPMU_ROOT/usr/lib/modprobe.d"
	echo 'options upmu adopt=arm,cortex-a7-pmu' \
		>"$UPMU_ROOT/usr/lib/modprobe.d/upmu.conf"
	"$upmu" setup --yes
	[ ! -e "$UPMU_ROOT/etc/modprobe.d/upmu.conf" ]
	# But this one is read in its place.
	echo '# Written by `upmu setup`; `upmu setup --undo` removes it.' \
		>"$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	"$upmu" setup --yes
	grep -qx 'options upmu adopt=auto' "$UPMU_ROOT/etc/modprobe.d/upmu.conf"
}

@test "setup_leaves_what_the_user_wrote_into_its_own_files" {
	local paranoid=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf
	local options=$UPMU_ROOT/etc/modprobe.d/upmu.conf

	rm -r "$UPMU_ROOT"/sys/bus/event_source/devices/*
	"$upmu" setup --yes
	run "$upmu" setup --dry-run
	[[ "$output" == *"write /etc/modprobe.d/upmu.conf"* ]]
	sed -i 's/adopt=auto/open=cycles adopt=arm,cortex-a7-pmu/' "$options"
	echo 1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	for line in 'kernel.perf_event_paranoid\t= 1' \
		'\t-kernel.perf_event_paranoid=1' \
		' -kernel.perf_event_paranoid=1'; do
		sed -i "\$ s/.*/$line/" "$paranoid"
		"$upmu" setup --yes
		[ "$(wc -l <"$paranoid")" -eq 2 ]
		[ "$(wc -l <"$options")" -eq 2 ]
	done
}

@test "setup_leaves_to_the_user_who_may_open_the_device_by_its_own_file" {
	local rules=$UPMU_ROOT/etc/udev/rules.d/60-upmu.rules rule

	for rule in 'KERNEL=="upmu", GROUP="video", MODE="0660"' \
		$'KERNEL=="upmu", \\\n# all\n\tMODE="0666"' \
		'ENV{DEVNAME}=="/dev/upmu", MODE="0666"' \
		'KERNELS=="upmu", MODE="0666"' \
		'SUBSYSTEMS=="misc", MODE="0666"' \
		'KERNEL==e"upmu", GROUP="upmu", MODE="0640"' \
		$'KERNEL!="upmu", GOTO="end"\nMODE="0666"\nLABEL="end"'; do
		"$upmu" setup --yes
		{
			head -n 1 "$rules"
			echo "$rule"
		} >"$BATS_TEST_TMPDIR/users"
		cp "$BATS_TEST_TMPDIR/users" "$rules"
		echo 'KERNEL=="upmu", MODE="0600"' >"${rules%/*}/99-x.rules"
		for word in '' ''; do
			run "$upmu" setup --yes
			cmp "$rules" "$BATS_TEST_TMPDIR/users"
			[[ "$output" == *"99-x.rules says 'KERNEL"* ]]
			[[ "$output" == *"60-upmu.rules says "*"yours: setup leaves"* ]]
		done
		"$upmu" setup --undo --yes
		[ "$(cat "$rules")" = "$rule" ]
		rm "$rules"
	done
	# Nobody asks for a rule where the kernel opens the registers.
	echo aarch64 >"$UPMU_ROOT/proc/sys/kernel/arch"
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	cp "$BATS_TEST_TMPDIR/users" "$rules"
	rm "${rules%/*}/99-x.rules"
	run "$upmu" setup --dry-run
	[[ "$output" != *"note "* ]]
	rm "$rules" "$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	echo armv7l >"$UPMU_ROOT/proc/sys/kernel/arch"
	# A rule that leaves it to setup's, and one that is a comment now.
	"$upmu" setup --yes
	sed -i 's/^KERNEL/#&/' "$rules"
	echo 'KERNEL=="upmu", SYMLINK+="pmu"' >>"$rules"
	cat >>"$rules" <<-'LINES'
	KERNEL=="gpio", MODE="0666"
	SUBSYSTEM=="tty", MODE="0666"
	SUBSYSTEMS=="usb", ATTRS{idVendor}=="2341", GROUP="plugdev"
	KERNELS=="1-1", MODE="0666"
	ENV{DEVNAME}=="/dev/gpiochip0", MODE="0666"
	LINES
	run "$upmu" setup --yes
	[[ "$output" != *"60-upmu.rules says "* ]]
	[[ "$output" == *usermod* ]]
	[ "$(wc -l <"$rules")" -eq 9 ]
	grep -qx 'KERNEL=="upmu", GROUP="upmu", MODE="0660"' "$rules"
}

@test "setup_tells_users_to_join_its_group_where_that_has_the_device" {
	local rules=$UPMU_ROOT/etc/udev/rules.d/60-upmu.rules
	local ours='KERNEL=="upmu", GROUP="upmu", MODE="0660"'

	tells() {	# 0 or 1, RULES
		"$upmu" setup --yes >/dev/null
		sed -i '2,$d' "$rules"
		printf '%b\n' "$2" >>"$rules"
		run "$upmu" setup --yes
		[ "$(grep -c usermod <<<"$output")" -eq "$1" ]
	}
	tells 1 "$ours"
	tells 1 'KERNEL=="upmu", GROUP="upmu", MODE="0640"'
	tells 1 'KERNEL=="upmu", \\\n# it\n\tGROUP := "upmu"'
	tells 1 "$ours\nKERNEL==\"gpio\", GROUP=\"gpio\""
	tells 1 "$ours\nSUBSYSTEMS==\"usb\", GROUP=\"plugdev\""
	tells 1 "KERNEL==\"upmu\", GROUP=\"video\"\n$ours"
	tells 0 "$ours\nKERNEL==\"upmu\", GROUP=\"video\""
	tells 0 "#$ours\nKERNEL==\"upmu\", MODE=\"0666\""
	tells 0 'KERNEL=="upmu", GROUP="upmux"'
	tells 0 'KERNEL=="upmu", MODE="0666"\nKERNEL=="gpio", GROUP="upmu"'
	tells 0 'KERNEL=="upmu", MODE="0666"\nKERNEL=="gpio", \\\n\tGROUP="upmu"'
	tells 1 "$ours\nKERNEL==\"gpio\", \\\\\n\tGROUP=\"gpio\""
	# Nobody needs it where the kernel opens the registers.
	echo aarch64 >"$UPMU_ROOT/proc/sys/kernel/arch"
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	tells 0 "$ours"
}

@test "setup_knows_what_the_user_wrote_into_its_file_with_slashes" {
	local conf=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf

	echo aarch64 >"$UPMU_ROOT/proc/sys/kernel/arch"
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	echo 2 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes
	sed -i 's,^kernel.perf_user_access.*,kernel/perf_user_access=0,' "$conf"
	cp "$conf" "$BATS_TEST_TMPDIR/users"
	"$upmu" setup --yes
	cmp "$conf" "$BATS_TEST_TMPDIR/users"
	"$upmu" setup --undo --yes
	[ "$(cat "$conf")" = kernel/perf_user_access=0 ]
}

@test "setup_takes_a_name_alone_in_its_file_for_no_setting" {
	local conf=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf

	"$upmu" setup --yes
	sed -i 's/^kernel.*/kernel.perf_event_paranoid/' "$conf"
	"$upmu" setup --yes
	grep -qx 'kernel.perf_event_paranoid = 2' "$conf"
	grep -qx kernel.perf_event_paranoid "$conf"
	# This keeps it from being set.
	sed -i 's/^kernel.*/-kernel.perf_event_paranoid/' "$conf"
	cp "$conf" "$BATS_TEST_TMPDIR/users"
	"$upmu" setup --yes
	cmp "$conf" "$BATS_TEST_TMPDIR/users"
}

@test "setup_writes_a_line_of_its_file_that_is_a_comment_now_once_more" {
	local paranoid=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf

	"$upmu" setup --yes
	sed -i 's/^kernel/#&/' "$paranoid"
	# Low enough but for the next boot.
	echo 1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes
	grep -qx 'kernel.perf_event_paranoid = 2' "$paranoid"
}

@test "setup_leaves_a_paranoid_that_is_low_enough" {
	echo 1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	[ ! -e "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf" ]
	run grep -c sysctl "$calls"
	[ "$output" -eq 0 ]
}

@test "setup_needs_no_module_where_the_kernel_opens_the_registers" {
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	grep -qx 'kernel.perf_user_access = 1' \
		"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	[ "$(files_written)" -eq 1 ]
	[ "$(xargs <"$calls")" = "sysctl -q -w kernel.perf_event_paranoid=2 sysctl -q -w kernel.perf_user_access=1" ]
}

@test "setup_writes_over_no_file_of_somebody_else" {
	echo 'mine' >"$UPMU_ROOT/etc/modules-load.d/upmu.conf"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write over '/etc/modules-load.d/upmu.conf'"* ]]
	[[ "$output" == *$'\n'"hint: see what it says, give it another name"* ]]
	[ "$(files_written)" -eq 1 ]
	[ ! -s "$calls" ]
	rm -r "$UPMU_ROOT/etc/modules-load.d/upmu.conf" \
		"$UPMU_ROOT"/sys/bus/event_source/devices/*
	echo 'options upmu open=cycles' >"$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write over '/etc/modprobe.d/upmu.conf'"* ]]
	rm "$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	echo 'KERNEL=="upmu", MODE="0666"' \
		>"$UPMU_ROOT/etc/udev/rules.d/60-upmu.rules"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write over '/etc/udev/rules.d/60-upmu.rules'"* ]]
}

@test "undo_removes_what_setup_wrote_and_the_group_it_created" {
	"$upmu" setup --yes
	echo 'upmu:x:999:' >>"$UPMU_ROOT/etc/group"
	: >"$calls"
	run "$upmu" setup --undo --yes
	[ "$status" -eq 0 ]
	[ "$(files_written)" -eq 0 ]
	grep -qx 'groupdel upmu' "$calls"
}

@test "undo_keeps_a_group_that_was_there_before" {
	echo 'upmu:x:999:' >>"$UPMU_ROOT/etc/group"
	"$upmu" setup --yes
	: >"$calls"
	run "$upmu" setup --undo --yes
	[ "$status" -eq 0 ]
	[ "$(files_written)" -eq 0 ]
	run grep -c groupdel "$calls"
	[ "$output" -eq 0 ]
}

@test "undo_keeps_a_group_it_created_known_over_a_second_setup" {
	"$upmu" setup --yes
	echo 'upmu:x:999:' >>"$UPMU_ROOT/etc/group"
	"$upmu" setup --yes
	: >"$calls"
	run "$upmu" setup --undo --yes
	[ "$status" -eq 0 ]
	grep -qx 'groupdel upmu' "$calls"
}

@test "undo_keeps_a_file_that_was_changed_into_somebody_elses" {
	"$upmu" setup --yes
	echo 'mine' >"$UPMU_ROOT/etc/modules-load.d/upmu.conf"
	run "$upmu" setup --undo --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"keep  /etc/modules-load.d/upmu.conf"* ]]
	[ "$(files_written)" -eq 1 ]
}

@test "undo_unloads_the_module_only_where_it_is_loaded" {
	"$upmu" setup --yes
	: >"$calls"
	run "$upmu" setup --undo --yes
	run grep -c modprobe "$calls"
	[ "$output" -eq 0 ]
	"$upmu" setup --yes
	mkdir -p "$UPMU_ROOT/sys/module/upmu"
	: >"$calls"
	run "$upmu" setup --undo --yes
	grep -qx 'modprobe -r upmu' "$calls"
}

@test "setup_adopts_where_perf_has_no_pmu_and_undo_takes_that_back" {
	rm -r "$UPMU_ROOT/sys/bus"
	mkdir -p "$UPMU_ROOT/sys/bus/event_source/devices"
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	grep -qx 'options upmu adopt=auto' "$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	run "$upmu" setup --undo --yes
	[ "$(files_written)" -eq 0 ]
}

# As the module leaves it: a PMU that stays until reboot.
adopt() {
	mkdir -p "$UPMU_ROOT/sys/devices/platform/upmu-pmu"
	mv "$BATS_TEST_TMPDIR/pmu" \
		"$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7"
}

@test "setup_after_an_undo_adopts_again_a_pmu_that_stays_until_reboot" {
	mv "$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7" \
		"$BATS_TEST_TMPDIR/pmu"
	"$upmu" setup --yes
	adopt
	"$upmu" setup --undo --yes
	[ "$(files_written)" -eq 0 ]
	"$upmu" setup --yes
	grep -qx 'options upmu adopt=auto' "$UPMU_ROOT/etc/modprobe.d/upmu.conf"
}

@test "setup_leaves_to_the_user_a_pmu_that_he_has_adopted" {
	mv "$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7" \
		"$BATS_TEST_TMPDIR/pmu"
	adopt
	mkdir -p "$UPMU_ROOT/sys/module/upmu/parameters"
	echo arm,cortex-a7-pmu >"$UPMU_ROOT/sys/module/upmu/parameters/adopt"
	"$upmu" setup --yes
	[ ! -e "$UPMU_ROOT/etc/modprobe.d/upmu.conf" ]
	rm -r "$UPMU_ROOT/sys/module/upmu"
	echo 'options upmu adopt=auto' >"$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	"$upmu" setup --yes
	[ "$(cat "$UPMU_ROOT/etc/modprobe.d/upmu.conf")" = \
		'options upmu adopt=auto' ]
}

@test "a_second_setup_keeps_the_paranoid_that_the_first_one_set" {
	"$upmu" setup --yes
	echo 2 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes
	grep -qx 'kernel.perf_event_paranoid = 2' \
		"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
}

@test "setup_proposes_no_module_where_the_processor_is_no_ARM" {
	echo x86_64 >"$UPMU_ROOT/proc/sys/kernel/arch"
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	[ "$(files_written)" -eq 1 ]
	"$upmu" setup --yes --undo
	echo 2 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	run "$upmu" setup --yes
	[ "$status" -eq 0 ]
	[[ "$output" == "Nothing has to be set up"* ]]
}

@test "undo_where_nothing_was_set_up_says_so" {
	run "$upmu" setup --undo --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"nothing of setup's to undo"* ]]
	[ ! -s "$calls" ]
}

@test "setup_touches_nothing_but_what_it_showed" {
	mkdir -p "$UPMU_ROOT/home" "$UPMU_ROOT/usr/lib/udev/rules.d"
	echo 'options other x=1' >"$UPMU_ROOT/etc/modprobe.d/other.conf"
	echo 'kernel.x = 1' >"$UPMU_ROOT/etc/sysctl.d/10-other.conf"
	(cd "$UPMU_ROOT" && find . | sort && find . -type f ! -path './etc/*' \
		-exec cat {} + && cat etc/*/*other*) >"$BATS_TEST_TMPDIR/before"
	"$upmu" setup --yes
	(cd "$UPMU_ROOT" && find . ! -name '*upmu*' | sort && find . -type f \
		! -path './etc/*' -exec cat {} + && cat etc/*/*other*) \
		>"$BATS_TEST_TMPDIR/after"
	diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
	"$upmu" setup --undo --yes
	(cd "$UPMU_ROOT" && find . | sort && find . -type f ! -path './etc/*' \
		-exec cat {} + && cat etc/*/*other*) >"$BATS_TEST_TMPDIR/undone"
	diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/undone"
}

user_runs() {	# SUBFOLDER-OF-ETC-FOR-ROOT-ALONE|"" OPTION...: upmu setup
	local top

	[ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
	top=$(mktemp -d) # bats lets nobody else into its own
	chmod 755 "$top"
	cp -a "$UPMU_ROOT" "$upmu" "$BATS_TEST_TMPDIR/bin" "$top"
	chmod -R go+rX-w "$top"/*
	[ -z "$1" ] || (cd "$top/root" && chmod 700 "etc/$1")
	: >"$top/calls"
	chmod 666 "$top/calls"
	sed -i "s|$calls|$top/calls|" "$top"/bin/*
	UPMU_ROOT=$top/root PATH=$top/bin:$PATH run setpriv --reuid=65534 \
		--regid=65534 --clear-groups "$top/upmu" setup "${@:2}"
	cp "$top/calls" "$calls"
	rm -r "$UPMU_ROOT"
	mv "$top/root" "$UPMU_ROOT"
	rm -r "$top"
}

@test "setup_of_an_ordinary_user_points_to_sudo_and_does_nothing" {
	user_runs "" --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"Permission denied"*"hint: sudo upmu setup"* ]]
	[ "$(files_written)" -eq 0 ]
	[ ! -s "$calls" ]
}

@test "a_folder_that_a_user_may_not_enter_is_told" {
	local file said

	rm -r "$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7"
	for file in udev/rules.d/60-upmu.rules modules-load.d/upmu.conf \
		modprobe.d/upmu.conf sysctl.d/60-upmu.conf; do
		said="upmu setup: cannot read '/etc/$file': Permission denied"
		user_runs "${file%/*}" --dry-run
		[ "$status" -eq 1 ]
		[[ "$output" == *"$said"$'\n'"hint: sudo upmu setup"$'\n'* ]]
		"$upmu" setup --yes
		# Also where nothing is to be changed.
		echo 2 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
		user_runs "${file%/*}" --dry-run
		[ "$status" -eq 1 ]
		[[ "$output" == *"$said"* ]]
		user_runs "${file%/*}" --undo --dry-run
		[ "$status" -eq 1 ]
		[[ "$output"$'\n' == *"$said"$'\n'"hint: sudo upmu setup --undo"$'\n'* ]]
		"$upmu" setup --undo --yes
		echo 3 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	done
}

@test "a_folder_that_is_none_and_a_file_that_is_too_long_are_told" {
	local rules=$UPMU_ROOT/etc/udev/rules.d/60-upmu.rules

	rm -r "$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7"
	"$upmu" setup --yes
	{ head -n 1 "$rules"; head -c 40000 /dev/zero | tr '\0' '#'; } |
		head -c 32760 >"$BATS_TEST_TMPDIR/long"
	cp "$BATS_TEST_TMPDIR/long" "$rules"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot read '/etc/udev/rules.d/60-upmu.rules': File too large"* ]]
	rm -r "$UPMU_ROOT/etc/modprobe.d" "$rules"
	: >"$UPMU_ROOT/etc/modprobe.d"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot read '/etc/modprobe.d/upmu.conf': Not a directory"* ]]
}

@test "hints_of_an_undo_are_for_an_undo" {
	"$upmu" setup --yes
	run "$upmu" setup --undo </dev/null
	[ "$status" -eq 1 ]
	[[ "$output" == *"hint: upmu setup --undo --yes"* ]]
}

@test "setup_says_why_it_cannot_write" {
	rmdir "$UPMU_ROOT/etc/modules-load.d"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write '/etc/modules-load.d/upmu.conf': No such"* ]]
}

@test "setup_stops_at_a_command_that_fails_and_hints" {
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/modprobe"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"'modprobe' failed"* ]]
	[[ "$output" == *"hint: upmu check"* ]]
}

@test "a_command_that_is_not_in_PATH_is_named_with_how_to_have_it_there" {
	rm "$BATS_TEST_TMPDIR/bin/groupadd"
	PATH=$BATS_TEST_TMPDIR/bin run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot run 'groupadd': No such file"*"hint: PATH "* ]]
}

@test "setup_refuses_an_unknown_option_and_an_argument" {
	run "$upmu" setup --nosuch
	[ "$status" -eq 2 ]
	run "$upmu" setup extra
	[ "$status" -eq 2 ]
	[[ "$output" == *"unexpected 'extra'"* ]]
}
