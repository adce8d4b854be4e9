#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu setup and --undo are all or nothing: killed anywhere, with a full disk,
# a read-only folder, commands that fail. The commands do the least that their
# names say, below a root directory of the test's own.

load crashes

setup() {
	build=${UPMU_BUILD:-$BATS_TEST_DIRNAME/../../build}
	upmu=${UPMU:-$build/tools/upmu}
	kill_at=$build/tests/unit/kill_at
	export UPMU_ROOT=$BATS_TEST_TMPDIR/machine
	make_machine
	make_commands
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	machine >"$BATS_TEST_TMPDIR/before"
}

make_machine() {
	local pmu=$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a7

	rm -rf "$UPMU_ROOT"
	mkdir -p "$UPMU_ROOT"/etc/{udev/rules.d,modules-load.d,modprobe.d,sysctl.d} \
		"$UPMU_ROOT/proc/sys/kernel" "$UPMU_ROOT/sys/module" "$pmu"
	echo 8 >"$pmu/type"
	echo 0-3 >"$pmu/cpus"
	echo armv7l >"$UPMU_ROOT/proc/sys/kernel/arch"
	echo 3 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	echo 'root:x:0:' >"$UPMU_ROOT/etc/group"
}

has_a9() {
	local pmu=$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a9

	mkdir "$pmu"
	echo 9 >"$pmu/type"
	echo 4 >"$pmu/cpus"
}

has_no_a9() {
	rm -r "$UPMU_ROOT/sys/bus/event_source/devices/armv7_cortex_a9"
}

command_of() {	# NAME: its script on standard input
	{ echo '#!/bin/sh'; cat; } >"$BATS_TEST_TMPDIR/bin/$1"
	chmod +x "$BATS_TEST_TMPDIR/bin/$1"
}

make_commands() {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	command_of groupadd <<-'S'
	! grep -q ^upmu: "$UPMU_ROOT/etc/group" || exit 9
	echo upmu:x:999: >>"$UPMU_ROOT/etc/group"
	S
	command_of groupdel <<-'S'
	echo root:x:0: >"$UPMU_ROOT/etc/group"
	S
	command_of modprobe <<-'S'
	[ "$1" != -r ] || exec rmdir "$UPMU_ROOT/sys/module/upmu"
	mkdir -p "$UPMU_ROOT/sys/module/upmu"
	cd "$UPMU_ROOT/sys/bus/event_source/devices"
	grep -qs adopt=auto "$UPMU_ROOT/etc/modprobe.d/upmu.conf" || exit 0
	[ -z "$(ls)" ] || exit 0
	pmu=$(cat "$UPMU_ROOT/../adopts")
	mkdir -p "$pmu" "$UPMU_ROOT/sys/devices/platform/upmu-pmu"
	echo 8 >"$pmu/type"
	echo 0 >"$pmu/cpus"
	S
	command_of udevadm </dev/null
	command_of sysctl <<-'S'
	for word; do :; done
	echo "${word#*=}" >"$UPMU_ROOT/proc/sys/kernel/${word%%=*}.new"
	cd "$UPMU_ROOT/proc/sys/kernel"
	name=${word%%=*}
	mv "$name.new" "${name#kernel.}"
	S
}

# Names and contents of all that is there.
machine() {
	(cd "$UPMU_ROOT" && find . -type d | sort && find . -type f |
		sort | xargs grep -H '')
}

is_as() {	# NAME: as "before" or "complete"
	diff "$BATS_TEST_TMPDIR/$1" <(machine)
}

complete() {
	"$upmu" setup --yes >/dev/null
	machine >"$BATS_TEST_TMPDIR/complete"
	! is_as before >/dev/null
}

needs_tracing() {
	run "$kill_at" 1000000 /bin/true
	[ "$status" -ne 99 ] || skip "programs cannot be traced here: $output"
	[ "$status" -eq 0 ]
}

version_0_1_0() {	# which kept no journal
	local mark='# Written by `upmu setup`; `upmu setup --undo` removes it.'

	cd "$UPMU_ROOT/etc"
	printf '%s\n# The group upmu was created by it too.\n' "$mark" \
		>udev/rules.d/60-upmu.rules
	echo 'KERNEL=="upmu", GROUP="upmu", MODE="0660"' \
		>>udev/rules.d/60-upmu.rules
	printf '%s\nupmu\n' "$mark" >modules-load.d/upmu.conf
	printf '%s\noptions upmu adopt=auto\n' "$mark" >modprobe.d/upmu.conf
	echo upmu:x:999: >>group
}

# After each kill of "upmu setup $1", "upmu setup $2" makes the machine $3.
killed_everywhere() {	# OPTIONS OPTIONS NAME [WHAT SETS UP BEFORE --undo]
	local n=0

	needs_tracing
	while [ $((n += 1)) ]; do
		[ "$1" != --undo ] || "${4:-complete}"
		run "$kill_at" $n "$upmu" setup --yes $1
		[ "$status" -eq 137 ] || break
		"$upmu" setup --yes $2 >/dev/null
		is_as "$3"
		[ "$3" = before ] || "$upmu" setup --yes --undo >/dev/null
		is_as before
	done
	[ "$status" -eq 0 ]
	echo "# killed at $((n - 1)) system calls" >&3
	[ "$n" -gt 40 ]
}

@test "setup_killed_at_each_act_can_be_undone" {
	killed_everywhere '' --undo before
}

@test "setup_killed_at_each_act_is_completed_by_a_second_one" {
	complete
	"$upmu" setup --yes --undo
	killed_everywhere '' '' complete
}

@test "undo_killed_at_each_act_is_completed_by_a_second_one" {
	killed_everywhere --undo --undo before
}

@test "undo_killed_at_each_act_is_taken_back_by_a_setup" {
	killed_everywhere --undo '' complete
}

@test "undo_restores_each_sysctl_that_setup_changed" {
	complete
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid")" -eq 2 ]
	"$upmu" setup --yes --undo
	is_as before
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	machine >"$BATS_TEST_TMPDIR/before"
	"$upmu" setup --yes
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_user_access")" -eq 1 ]
	"$upmu" setup --yes --undo
	is_as before
}

@test "undo_leaves_user_access_open_where_it_was_before" {
	complete
	"$upmu" setup --yes --undo
	echo 1 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	machine >"$BATS_TEST_TMPDIR/before"
	"$upmu" setup --yes
	"$upmu" setup --yes --undo
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_user_access")" -eq 1 ]
	is_as before
}

@test "undo_takes_back_what_only_a_second_setup_added_to_a_file" {
	local sysctls=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf

	complete
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access" # a newer kernel
	"$upmu" setup --yes
	grep -qx 'kernel.perf_user_access = 1' "$sysctls"
	"$upmu" setup --yes --undo
	[ ! -e "$sysctls" ]
	# what the user wrote there himself is not setup's
	rm "$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	"$upmu" setup --yes
	echo 'kernel.perf_user_access = 1' >>"$sysctls"
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_user_access"
	"$upmu" setup --yes
	"$upmu" setup --yes --undo
	[ "$(cat "$sysctls")" = 'kernel.perf_user_access = 1' ]
}

@test "a_second_setup_for_another_core_holds_after_a_boot_too" {
	local sysctls=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf

	complete
	echo 'kernel.mine = 7' >>"$sysctls"
	has_a9
	"$upmu" setup --yes
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid")" -eq 1 ]
	[ "$(grep -v '^#' "$sysctls")" = 'kernel.mine = 7
kernel.perf_event_paranoid = 1' ]
	sed -i '/mine/d' "$sysctls"
	"$upmu" setup --yes --undo
	has_no_a9
	is_as before
}

@test "undo_leaves_a_line_that_a_second_setup_did_not_write" {
	local sysctls=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf
	has_a9
	complete
	has_no_a9
	"$upmu" setup --yes	# 2 would do, but is never written over a 1
	sed -i 's/paranoid = 1/paranoid = 2/' "$sysctls"
	"$upmu" setup --yes --undo
	[ "$(cat "$sysctls")" = 'kernel.perf_event_paranoid = 2' ]
}

@test "undo_restores_a_sysctl_on_another_core_than_setup_was_for" {
	complete
	has_a9
	"$upmu" setup --yes --undo
	has_no_a9
	is_as before
}

@test "undo_leaves_a_sysctl_that_somebody_else_has_set_since" {
	complete
	echo -1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes --undo
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid")" -eq -1 ]
}

@test "undo_by_a_damaged_journal_leaves_the_value_of_another_core" {
	complete
	sed -i '$d' "$UPMU_ROOT/etc/upmu-setup.journal"
	sed -i 's/paranoid = 2/paranoid = 1/' \
		"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	echo 1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes --undo
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid")" -eq 1 ]
}

@test "undo_after_a_second_setup_with_a_damaged_journal_leaves_it_too" {
	complete
	sed -i '$d' "$UPMU_ROOT/etc/upmu-setup.journal"
	"$upmu" setup --yes
	echo 1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	sed -i 's/paranoid = 2/paranoid = 1/' \
		"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	"$upmu" setup --yes --undo
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid")" -eq 1 ]
	[ "$(cat "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf")" = \
		'kernel.perf_event_paranoid = 1' ]
}

@test "a_second_setup_never_raises_a_paranoid_that_is_lower" {
	complete
	echo -1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes
	[ "$(cat "$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid")" -eq -1 ]
}

@test "a_second_setup_writes_no_paranoid_over_one_that_is_lower" {
	complete
	rm "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	echo -1 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes
	[ ! -e "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf" ]
}

@test "a_second_setup_leaves_a_file_that_masks_its_sysctls" {
	complete
	ln -sf /dev/null "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	"$upmu" setup --yes
	[ -L "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf" ]
	"$upmu" setup --yes --undo
	[ -L "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf" ]
}

@test "the_users_own_lines_stay_over_setup_and_undo" {
	complete
	sysctls=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf
	sed -i 's/paranoid = 2/paranoid = 1/' "$sysctls"
	echo 'kernel.mine = 7' >>"$sysctls"
	cp "$sysctls" "$BATS_TEST_TMPDIR/mine"
	"$upmu" setup --yes
	cmp "$sysctls" "$BATS_TEST_TMPDIR/mine"
	"$upmu" setup --yes --undo
	[ "$(cat "$sysctls")" = 'kernel.perf_event_paranoid = 1
kernel.mine = 7' ]
	[ "$(find "$UPMU_ROOT/etc" -name '*upmu*' | wc -l)" -eq 1 ]
}

@test "each_command_that_fails_leaves_nothing_of_setup" {
	for name in groupadd modprobe udevadm sysctl; do
		mv "$BATS_TEST_TMPDIR/bin/$name" "$BATS_TEST_TMPDIR/kept"
		command_of "$name" <<<'exit 1'
		# whatever undoes has to work for it
		[ $name != udevadm ] || command_of udevadm \
			<<<'[ "$1" = control ] && [ ! -e "$UPMU_ROOT/sys/module/upmu" ]'
		[ $name != modprobe ] || command_of modprobe \
			<<<'[ "$1" = -r ]'
		run "$upmu" setup --yes
		[ "$status" -eq 1 ]
		[[ "$output" == *"'$name' failed"* ]]
		[[ "$output" == *"all was taken back"* ]]
		is_as before
		mv "$BATS_TEST_TMPDIR/kept" "$BATS_TEST_TMPDIR/bin/$name"
	done
}

@test "undo_goes_on_where_a_command_fails_and_a_second_one_ends_it" {
	for name in modprobe groupdel udevadm sysctl; do
		complete
		mv "$BATS_TEST_TMPDIR/bin/$name" "$BATS_TEST_TMPDIR/kept"
		command_of "$name" <<<'exit 1'
		run "$upmu" setup --yes --undo
		[ "$status" -eq 1 ]
		[[ "$output" == *"hint: upmu setup --undo"* ]]
		[ ! -e "$UPMU_ROOT/etc/modules-load.d/upmu.conf" ]
		[ -e "$UPMU_ROOT/etc/upmu-setup.journal" ]
		mv "$BATS_TEST_TMPDIR/kept" "$BATS_TEST_TMPDIR/bin/$name"
		"$upmu" setup --yes --undo
		is_as before
	done
}

@test "a_folder_that_cannot_be_written_leaves_nothing_of_setup" {
	for folder in udev/rules.d modules-load.d sysctl.d; do
		make_machine
		rmdir "$UPMU_ROOT/etc/$folder"
		machine >"$BATS_TEST_TMPDIR/before"
		run "$upmu" setup --yes
		[ "$status" -eq 1 ]
		[[ "$output" == *"cannot write '/etc/$folder/"* ]]
		is_as before
	done
}

@test "a_full_disk_or_a_read_only_one_changes_nothing" {
	cat >"$BATS_TEST_TMPDIR/full" <<-'S'
	cp -r "$UPMU_ROOT/etc" "$UPMU_ROOT/etc.was"
	mount -t tmpfs -o size=$1k,nr_inodes=$2 none "$UPMU_ROOT/etc" || exit 99
	cp -r "$UPMU_ROOT/etc.was/." "$UPMU_ROOT/etc/" || exit 98
	[ "$1" -gt 4 ] || dd if=/dev/zero of="$UPMU_ROOT/etc/filler" 2>/dev/null
	[ "$3" != ro ] || mount -o remount,bind,ro "$UPMU_ROOT/etc"
	cd "$UPMU_ROOT/etc"
	before=$(find . -type f | sort | xargs md5sum)
	"$upmu" setup --yes
	status=$?
	[ "$status" -eq 0 ] && exit 0
	[ "$before" = "$(find . -type f | sort | xargs md5sum)" ] || exit 97
	exit $status
	S
	export upmu
	run unshare -rm true
	[ "$status" -eq 0 ] || skip "no file system can be mounted here"
	failed=0
	# inodes for one more file, two, ...: the disk is full ever later
	for inodes in 8 9 10 11 12 13 30; do
		make_machine
		run unshare -rm sh "$BATS_TEST_TMPDIR/full" 400 $inodes rw
		[ "$status" -ne 99 ] || skip "no tmpfs can be mounted here"
		[ "$status" -ne 98 ] || continue
		[ "$status" -le 1 ]
		[ "$status" -eq 0 ] || [[ "$output" == *"No space left"* ]]
		failed=$((failed + status))
	done
	[ "$failed" -ge 3 ]
	[ "$status" -eq 0 ]
	make_machine
	run unshare -rm sh "$BATS_TEST_TMPDIR/full" 400 30 ro
	[ "$status" -eq 1 ]
	[[ "$output" == *"Read-only file system"*"hint: sudo mount -o remount,rw"* ]]
	make_machine
	run unshare -rm sh "$BATS_TEST_TMPDIR/full" 4 30 rw
	[ "$status" -eq 1 ]
	[[ "$output" == *"No space left"* ]]
}

@test "a_machine_without_udev_is_left_as_it_was" {
	local few=$BATS_TEST_TMPDIR/few

	mkdir "$few"
	for name in sh cat grep mkdir mv rmdir; do
		ln -s "$(command -v "$name")" "$few/$name"
	done
	rm "$BATS_TEST_TMPDIR/bin/udevadm"
	run env PATH="$BATS_TEST_TMPDIR/bin:$few" "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot run 'udevadm'"* ]]
	is_as before
}

@test "what_overrides_setups_settings_is_named" {
	echo 'kernel.perf_event_paranoid = 3' \
		>"$UPMU_ROOT/etc/sysctl.d/99-local.conf"
	echo 'kernel.perf_event_paranoid = 0' \
		>"$UPMU_ROOT/etc/sysctl.d/10-early.conf"
	echo 'blacklist upmu' >"$UPMU_ROOT/etc/modprobe.d/no.conf"
	run "$upmu" setup --dry-run
	[[ "$output" == *"99-local.conf says 'kernel.perf_event_paranoid = 3'"* ]]
	[[ "$output" == *"no.conf says 'blacklist upmu'"* ]]
	[[ "$output" != *10-early* ]]
}

@test "an_override_is_named_wherever_it_is_read" {
	mkdir -p "$UPMU_ROOT"/usr/local/lib/sysctl.d "$UPMU_ROOT/run/modprobe.d"
	echo 'kernel.perf_event_paranoid = 3' \
		>"$UPMU_ROOT/usr/local/lib/sysctl.d/99-x.conf"
	echo 'install upmu /bin/false' >"$UPMU_ROOT/run/modprobe.d/a.conf"
	echo 'options upmu adopt=no' >"$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	echo 'KERNEL=="upmu", MODE="0600"' >"$UPMU_ROOT/etc/udev/rules.d/99.rules"
	cp "$UPMU_ROOT/etc/udev/rules.d/"{99.rules,10-early.rules}
	run "$upmu" setup --dry-run
	[ "$(grep -c ^note <<<"$output")" -eq 3 ]
	[[ "$output" == *"note  /usr/local/lib/sysctl.d/99-x.conf says"* ]]
	[[ "$output" == *"note  /run/modprobe.d/a.conf says"* ]]
	[[ "$output" == *"note  /etc/udev/rules.d/99.rules says 'KERNEL=="* ]]
	mv "$UPMU_ROOT/etc/modprobe.d/"{upmu,more}.conf
	run "$upmu" setup --dry-run
	[[ "$output" == *"more.conf says 'options upmu adopt=no'"* ]]
}

# The group and the sysctls may be lost with the journal: it says so.
@test "undo_takes_back_all_files_where_the_journal_is_damaged" {
	complete
	rm "$UPMU_ROOT/etc/upmu-setup.journal"
	"$upmu" setup --yes
	size=$(stat -c %s "$UPMU_ROOT/etc/upmu-setup.journal")
	for left in 0 20 70 $((size - 1)) $((size - 4)) $((size - 12)); do
		make_machine
		"$upmu" setup --yes
		truncate -s "$left" "$UPMU_ROOT/etc/upmu-setup.journal"
		echo 'kernel.mine = 7' >>"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
		run "$upmu" setup --yes --undo
		[ "$status" -eq 0 ]
		[ $left -eq $((size - 1)) ] ||
			[[ "$output" == *"upmu-setup.journal' is damaged"* ]]
		[ "$(cd "$UPMU_ROOT/etc" && grep -r . | grep -v ^group:)" = \
			'sysctl.d/60-upmu.conf:kernel.mine = 7' ]
	done
	is_as_but_for_mine
}

is_as_but_for_mine() {
	[ "$(cat "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf")" = 'kernel.mine = 7' ]
	rm "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	is_as before
}

@test "a_journal_of_noise_can_be_undone" {
	for size in 500 100000; do
		make_machine
		"$upmu" setup --yes
		head -c "$size" /dev/urandom >"$UPMU_ROOT/etc/upmu-setup.journal"
		run "$upmu" setup --yes --undo
		[ "$status" -eq 0 ]
		[ "$(find "$UPMU_ROOT/etc" -name '*upmu*' | wc -l)" -eq 0 ]
	done
}

@test "a_second_setup_at_the_same_time_does_nothing" {
	command_of groupadd <<-'S'
	echo upmu:x:999: >>"$UPMU_ROOT/etc/group"
	: >"$UPMU_ROOT/../at_work"
	while [ ! -e "$UPMU_ROOT/../go_on" ]; do sleep 0.05; done
	S
	"$upmu" setup --yes 3>&- & first=$!
	for _ in $(seq 200); do
		[ ! -e "$BATS_TEST_TMPDIR/at_work" ] || break
		sleep 0.05
	done
	run "$upmu" setup --yes --undo
	[ "$status" -eq 1 ]
	[[ "$output" == *"nothing was done: another upmu setup is at work"* ]]
	run "$upmu" setup --dry-run
	[ "$status" -eq 0 ]
	: >"$BATS_TEST_TMPDIR/go_on"
	wait $first
	"$upmu" setup --yes --undo
	is_as before
}

@test "a_setup_that_is_killed_is_at_work_while_its_command_is" {
	command_of groupadd <<-'S'
	: >"$UPMU_ROOT/../at_work"
	while [ ! -e "$UPMU_ROOT/../go_on" ]; do sleep 0.05; done
	echo upmu:x:999: >>"$UPMU_ROOT/etc/group"
	S
	"$upmu" setup --yes 3>&- & first=$!
	for _ in $(seq 200); do
		[ ! -e "$BATS_TEST_TMPDIR/at_work" ] || break
		sleep 0.05
	done
	kill -9 $first
	run "$upmu" setup --yes --undo
	[ "$status" -eq 1 ]
	: >"$BATS_TEST_TMPDIR/go_on"
	for _ in $(seq 200); do
		"$upmu" setup --yes --undo || { sleep 0.05; continue; }
		break
	done
	is_as before
}

@test "the_users_own_lines_may_be_many" {
	complete
	sysctls=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf
	for n in $(seq 400); do
		echo "# the user's own line $n"
	done >"$BATS_TEST_TMPDIR/mine"
	cat "$BATS_TEST_TMPDIR/mine" >>"$sysctls"
	"$upmu" setup --yes
	"$upmu" setup --yes --undo
	cmp "$sysctls" "$BATS_TEST_TMPDIR/mine"
}

@test "a_link_that_leads_nowhere_is_somebody_elses" {
	ln -s /nonexistent/upmu "$UPMU_ROOT/etc/modules-load.d/upmu.conf"
	run "$upmu" setup --yes
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write over '/etc/modules-load.d/upmu.conf'"* ]]
	[ -L "$UPMU_ROOT/etc/modules-load.d/upmu.conf" ]
	is_as before
}

@test "what_version_0_1_0_set_up_is_undone_too" {
	version_0_1_0
	echo 'options upmu open=cycles' >>"$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	"$upmu" setup --yes --undo
	[ "$(cat "$UPMU_ROOT/etc/modprobe.d/upmu.conf")" = \
		'options upmu open=cycles' ]
	rm "$UPMU_ROOT/etc/modprobe.d/upmu.conf"
	is_as before
}

@test "what_the_sysctls_were_before_it_is_not_known" {
	local says='keep  what the sysctls are set to now'

	version_0_1_0
	run "$upmu" setup --undo --dry-run
	[[ "$output" != *"$says"* ]]
	printf '%s\n%s = 2\n' "$(head -n 1 "$UPMU_ROOT/etc/modules-load.d/upmu.conf")" \
		kernel.perf_event_paranoid >"$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	run "$upmu" setup --undo --dry-run
	[[ "$output" == *"$says"$'\n'"      (until the next boot: "* ]]
	run "$upmu" setup --undo --yes
	[ "$status" -eq 0 ]
	[[ "$output" == *"$says"* ]]
	is_as before
	"$upmu" setup --yes
	run "$upmu" setup --undo --yes
	[[ "$output" != *"$says"* ]]
}

@test "more_of_its_lines_than_the_journal_holds_are_no_other_files" {
	local rules=$UPMU_ROOT/etc/udev/rules.d/60-upmu.rules

	version_0_1_0
	for _ in 1 2 3 4 5 6 7 8; do
		tail -n 1 "$rules" >"$BATS_TEST_TMPDIR/rule"
		cat "$BATS_TEST_TMPDIR/rule" >>"$rules"
	done
	"$upmu" setup --yes
	sed '/^file .*rules$/,/^file/!d' "$UPMU_ROOT/etc/upmu-setup.journal" |
		grep '^+' >"$BATS_TEST_TMPDIR/lines"
	grep -q '^+KERNEL' "$BATS_TEST_TMPDIR/lines"
	run grep -v '^+K' "$BATS_TEST_TMPDIR/lines"
	[ "$output" = "" ]
	"$upmu" setup --undo --yes
	is_as before
}

@test "so_it_is_where_that_undo_is_killed_at_each_act" {
	killed_everywhere --undo --undo before version_0_1_0
}

@test "so_it_is_where_a_command_fails_or_the_disk_is_full" {
	version_0_1_0
	mv "$BATS_TEST_TMPDIR/bin/groupdel" "$BATS_TEST_TMPDIR/groupdel"
	command_of groupdel <<<'exit 10'
	run "$upmu" setup --yes --undo
	[ "$status" -eq 1 ]
	mv "$BATS_TEST_TMPDIR/groupdel" "$BATS_TEST_TMPDIR/bin/groupdel"
	"$upmu" setup --yes --undo
	is_as before
	version_0_1_0
	machine >"$BATS_TEST_TMPDIR/old"
	mkdir -p "$UPMU_ROOT/etc/upmu-setup.journal.upmu-new/x" # not to be written
	run "$upmu" setup --yes --undo
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write '/etc/upmu-setup.journal'"* ]]
	rm -r "$UPMU_ROOT/etc/upmu-setup.journal.upmu-new"
	is_as old
	"$upmu" setup --yes --undo
	is_as before
}

@test "the_journal_is_shown_where_it_is_to_be_written" {
	local written='write /etc/upmu-setup.journal'

	run "$upmu" setup --dry-run
	[ "$(grep -cx "$written" <<<"$output")" -eq 1 ]
	run "$upmu" setup --undo --dry-run
	[[ "$output" != *upmu-setup.journal* ]]
	complete
	run "$upmu" setup --undo --dry-run
	[[ "$output" != *"$written"* ]]
	"$upmu" setup --undo --yes
	version_0_1_0
	run "$upmu" setup --undo --dry-run
	[ "$(grep -cx "$written" <<<"$output")" -eq 1 ]
}

@test "undo_leaves_no_half_written_file_beside_one_of_the_users" {
	local conf=$UPMU_ROOT/etc/modprobe.d/upmu.conf

	complete
	echo 'options upmu' >"$conf.upmu-new" # a setup that was killed
	echo 'options upmu adopt=no' >"$conf"
	"$upmu" setup --yes --undo
	[ "$(cat "$conf")" = 'options upmu adopt=no' ]
	rm "$conf"
	is_as before
}

@test "a_setting_of_the_users_that_is_low_enough_stops_no_setup" {
	local sysctls=$UPMU_ROOT/etc/sysctl.d/60-upmu.conf

	echo 'kernel.perf_event_paranoid = 0' >"$sysctls"
	echo 0 >"$UPMU_ROOT/proc/sys/kernel/perf_event_paranoid"
	"$upmu" setup --yes
	[ -e "$UPMU_ROOT/sys/module/upmu" ]
	"$upmu" setup --yes --undo
	[ "$(cat "$sysctls")" = 'kernel.perf_event_paranoid = 0' ]
}

@test "a_file_of_which_the_user_left_but_the_mark_is_setups_own" {
	complete
	sed -i '2,$d' "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	"$upmu" setup --yes
	is_as complete
	sed -i '2,$d' "$UPMU_ROOT/etc/sysctl.d/60-upmu.conf"
	"$upmu" setup --yes --undo
	is_as before
}

@test "setups_and_undos_in_any_order_keep_what_each_promises" {
	needs_tracing
	run "$BATS_TEST_DIRNAME/setup_random.py" "$upmu" "$kill_at" 1 60
	[ "$status" -eq 0 ]
	echo "# $output" >&3
}

@test "setup_runs_its_commands_where_SIGCHLD_is_ignored" {
	# dash takes it for itself, whatever trap is told
	run env --ignore-signal=CHLD "$upmu" setup --yes
	[ "$status" -eq 0 ]
	grep -q ^upmu: "$UPMU_ROOT/etc/group"
	[ -e "$UPMU_ROOT/sys/module/upmu" ]
}
