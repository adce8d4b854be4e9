#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu check on fixture trees: each situation gets its finding and its cure.

load crashes

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	export UPMU_ROOT=$BATS_TEST_TMPDIR/root
	release=6.1.0-50-armmp
	board pi2
}

# A copy of a board's fixture tree, on kernel $release of 32-bit ARM.
board() {
	rm -rf "$UPMU_ROOT"
	"$BATS_TEST_DIRNAME/../fixtures/unpack" "$BATS_TEST_TMPDIR" "$1"
	mv "$BATS_TEST_TMPDIR/$1" "$UPMU_ROOT"
	mkdir -p "$UPMU_ROOT/proc/sys/kernel" "$UPMU_ROOT/lib/modules"
	sys osrelease "$release"
	sys arch armv7l
	sys perf_event_paranoid 2
}

sys() {
	echo "$2" >"$UPMU_ROOT/proc/sys/kernel/$1"
}

modules() {
	mkdir -p "$UPMU_ROOT/lib/modules/$1"
	: >"$UPMU_ROOT/lib/modules/$1/modules.dep"
}

next() {
	sed -n 's/^next: //p' <<<"$output"
}

# An ELF header of machine $2 (40 ARM, 62 x86-64) in file $1.
elf() {
	mkdir -p "$(dirname "$1")"
	printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\%o\0' "$2" >"$1"
}

@test "check_names_the_cores_and_perfs_pmu" {
	run "$upmu" check
	[[ "$output" == *"CPU 0-3: Arm Cortex-A7, 4 event counters"* ]]
	[[ "$output" == *"armv7_cortex_a7 for CPU 0-3"* ]]
	[[ "$output" == *"6.1.0-50-armmp on armv7l"* ]]
}

@test "check_names_both_kinds_of_core_of_a_big_LITTLE" {
	board odroid-xu4
	run "$upmu" check
	[[ "$output" == *"CPU 0-3: Arm Cortex-A7"* ]]
	[[ "$output" == *"CPU 4-7: Arm Cortex-A15"* ]]
}

@test "check_calls_no_program_of_64_bits_one_of_32" {
	[ "$(getconf LONG_BIT)" = 64 ] || skip "this machine's are of 32"
	for arch in armv7l aarch64 arm64; do
		sys arch $arch
		run "$upmu" check
		[[ "$output" == *" on $arch"* ]]
		[[ "$output" != *"32-bit program"* ]]
	done
}

@test "check_passes_over_a_pmu_whose_name_has_no_room" {
	"$upmu" check >"$BATS_TEST_TMPDIR/before" || true
	for length in 48 200; do
		pmu=$UPMU_ROOT/sys/bus/event_source/devices/$(printf "%${length}s" | tr ' ' a)
		mkdir "$pmu"
		echo 0-3 >"$pmu/cpus"
		echo 7 >"$pmu/type"
	done
	"$upmu" check >"$BATS_TEST_TMPDIR/after" || true
	grep 'armv7_cortex_a7 for CPU 0-3' "$BATS_TEST_TMPDIR/before"
	cmp "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after"
}

@test "check_takes_its_own_folder_of_modules_for_no_upgrade" {
	for folder in '' "$release"; do
		mkdir -p "$UPMU_ROOT/lib/modules/$folder"
		run "$upmu" check
		[[ "$output" == *" module "* ]]
		[[ "$output" != *'the kernel was upgraded'* ]]
	done
}

@test "check_asks_for_the_headers_package_of_the_flavour" {
	modules "$release"
	run "$upmu" check
	[ "$status" -eq 1 ]
	[ "$(next)" = "sudo apt install linux-headers-armmp" ]
	release=6.6.51+rpt-rpi-v7
	board pi2
	modules "$release"
	run "$upmu" check
	[ "$(next)" = "sudo apt install linux-headers-rpi-v7" ]
	release=4.9.140-tegra
	board pi2
	modules "$release"
	run "$upmu" check
	[ "$(next)" = "sudo apt install linux-headers-4.9.140-tegra" ]
}

@test "check_sees_a_build_link_that_leads_nowhere" {
	modules "$release"
	ln -s /nonexistent "$UPMU_ROOT/lib/modules/$release/build"
	run "$upmu" check
	[[ "$output" == *"is missing or leads nowhere"* ]]
}

@test "check_sees_build_programs_of_another_architecture" {
	modules "$release"
	build=$UPMU_ROOT/lib/modules/$release/build
	elf "$build/scripts/basic/fixdep" 62
	elf "$UPMU_ROOT/proc/self/exe" 40
	run "$upmu" check
	[[ "$output" == *"are of another architecture"* ]]
	[ "$(next)" = "sudo apt install --reinstall linux-headers-armmp" ]
	elf "$build/scripts/basic/fixdep" 40
	run "$upmu" check
	[[ "$output" != *"are of another architecture"* ]]
}

@test "check_leads_to_an_installed_module_step_by_step" {
	modules "$release"
	mkdir "$UPMU_ROOT/lib/modules/$release/build"
	run "$upmu" check
	into=$(next)
	[[ "$into" == "sudo packaging/dkms-source /usr/src/upmu-"* ]]
	[ -x "$BATS_TEST_DIRNAME/../../packaging/dkms-source" ]
	mkdir -p "$UPMU_ROOT${into##* }" "$UPMU_ROOT/usr/sbin"
	run "$upmu" check
	[ "$(next)" = "sudo apt install dkms" ]
	: >"$UPMU_ROOT/usr/sbin/dkms"
	run "$upmu" check
	[ "$(next)" = "sudo dkms install upmu/${into##*upmu-}" ]
}

@test "check_sees_a_kernel_that_was_upgraded_and_not_rebooted" {
	modules 6.1.0-51-armmp
	run "$upmu" check
	[ "$status" -eq 1 ]
	[ "$(next)" = "sudo reboot" ]
}

@test "check_proposes_no_reboot_where_no_kernel_has_modules" {
	run "$upmu" check
	[ "$status" -eq 1 ]
	[[ "$output" == *"hint: sudo apt install linux-headers-armmp"* ]]
	[[ "$output" != *reboot* ]]
}

@test "check_says_modprobe_where_the_module_is_installed" {
	modules "$release"
	mkdir -p "$UPMU_ROOT/lib/modules/$release/updates/dkms"
	: >"$UPMU_ROOT/lib/modules/$release/updates/dkms/upmu.ko.xz"
	run "$upmu" check
	[ "$(next)" = "sudo modprobe upmu" ]
}

@test "check_sees_a_module_that_speaks_another_ABI" {
	mkdir -p "$UPMU_ROOT/sys/module/upmu" "$UPMU_ROOT/dev"
	: >"$UPMU_ROOT/dev/upmu"
	run "$upmu" check
	[ "$status" -eq 1 ]
	[[ "$output" == *"speaks another ABI"* ]]
}

@test "check_tells_paranoid_with_its_value_and_cure" {
	sys perf_event_paranoid 3
	run "$upmu" check
	[[ "$output" == *"kernel.perf_event_paranoid is 3"* ]]
	[[ "$output" == *"hint: sudo sysctl kernel.perf_event_paranoid=2"* ]]
}

@test "check_wants_paranoid_1_of_a_core_without_privilege_filters" {
	board pi1
	run "$upmu" check
	[[ "$output" == *"kernel.perf_event_paranoid is 2: only root may count"* ]]
	[[ "$output" == *"hint: sudo sysctl kernel.perf_event_paranoid=1"* ]]
	sys perf_event_paranoid 1
	run "$upmu" check
	[[ "$output" != *"only root may count"* ]]
}

# upmu check as an ordinary user, on a tree that he may read.
as_nobody() {
	local top

	if [ "$(id -u)" -ne 0 ]; then
		run "$upmu" check
		return
	fi
	top=$(mktemp -d)
	chmod 755 "$top"
	cp -a "$UPMU_ROOT" "$top/root"
	cp "$upmu" "$top/upmu"
	run env USER=nobody UPMU_ROOT="$top/root" setpriv --reuid=65534 \
		--regid=65534 --clear-groups "$top/upmu" check
	rm -rf "$top"
}

# The same where /dev/upmu is another's.
check_as_nobody() {	# MODE GROUP
	[ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"
	mkdir -p "$UPMU_ROOT"/{sys/module/upmu,dev,etc}
	printf 'root:x:0:\nupmu:x:4321:%s\n' "${members:-}" \
		>"$UPMU_ROOT/etc/group"
	: >"$UPMU_ROOT/dev/upmu"
	chown "0:$2" "$UPMU_ROOT/dev/upmu"
	chmod "$1" "$UPMU_ROOT/dev/upmu"
	as_nobody
}

@test "check_names_the_group_of_the_device_and_the_command" {
	check_as_nobody 660 0
	[ "$status" -eq 1 ]
	[[ "$output" == *"belongs to the group root (mode 0660) and not to upmu"* ]]
	[[ "$output" == *"hint: sudo upmu setup"* ]]
	check_as_nobody 660 777
	[[ "$output" == *"belongs to the group 777 (mode 0660)"* ]]
}

@test "check_says_usermod_to_a_user_outside_the_group" {
	check_as_nobody 660 4321
	[ "$status" -eq 1 ]
	[[ "$output" == *"this user is not in the group upmu"* ]]
	[[ "$output" == *'hint: sudo usermod -aG upmu "$USER"'* ]]
}

@test "check_says_log_in_again_to_a_user_listed_since_this_login" {
	members=daemon,nobody check_as_nobody 660 4321
	[[ "$output" == *"this login is older than the user's place"* ]]
	[[ "$output" == *"newgrp upmu"* ]]
	members=nobodyelse check_as_nobody 660 4321
	[[ "$output" == *"this user is not in the group upmu"* ]]
}

@test "check_never_proposes_itself" {
	run "$upmu" check
	[[ "$output" != *"hint: upmu check"* ]]
	[ "$(next)" != "upmu check" ]
}

@test "check_without_proc_and_sys_says_so_and_ends" {
	rm -rf "$UPMU_ROOT/proc" "$UPMU_ROOT/sys"
	run "$upmu" check
	[ "$status" -eq 1 ]
	[[ "$output" == *"/sys is not mounted"* ]]
	[ "$(next)" = "sudo mount -t proc proc /proc" ]
	mkdir -p "$UPMU_ROOT/proc/sys/kernel" "$UPMU_ROOT/sys/bus"
	run "$upmu" check
	[[ "$output" == *"no kernel.perf_event_paranoid"* ]]
	[[ "$output" != *"not mounted"* ]]
}

@test "check_sends_no_user_to_a_sysctl_where_there_is_no_pmu" {
	board pi3-32-bare
	modules "$release"
	sys perf_event_paranoid 3
	as_nobody
	[ "$status" -eq 1 ]
	[[ "$output" == *"perf has none on this machine"* ]]
	[[ "$output" == *"paranoid is 3: without a PMU"* ]]
	[[ "$output" != *"sudo sysctl"* ]]
	board pc
	rm -rf "$UPMU_ROOT/sys/bus/event_source/devices/cpu"
	sys arch x86_64
	sys perf_event_paranoid 3
	as_nobody
	[[ "$output" == *"a virtual machine may hide it"* ]]
	[[ "$output" != *"sudo sysctl"* ]]
	board pc
	sys arch x86_64
	sys perf_event_paranoid 3
	as_nobody
	[[ "$output" == *"hint: sudo sysctl kernel.perf_event_paranoid="* ]]
}

@test "check_proposes_adopt_where_perf_has_no_pmu" {
	board pi3-32-bare
	mkdir -p "$UPMU_ROOT/sys/module/upmu" \
		"$UPMU_ROOT/sys/firmware/devicetree"
	run "$upmu" check
	[ "$status" -eq 1 ]
	[[ "$output" == *"perf has none on this machine"* ]]
	[[ "$output" == *"modprobe upmu adopt=auto"* ]]
}

@test "check_needs_no_module_where_the_kernel_opens_the_registers" {
	board pi3-64
	sys arch aarch64
	sys perf_user_access 0
	run "$upmu" check
	[[ "$output" == *"not needed"* ]]
	[ "$(next)" = "sudo sysctl kernel.perf_user_access=1" ]
}

@test "check_prints_every_source_with_its_verdict" {
	run "$upmu" check
	for source in page read raw timer clock; do
		grep -Eq "source +$source +(yes|no) " <<<"$output"
	done
}

@test "check_json_has_what_the_text_has" {
	sys perf_event_paranoid 3
	run "$upmu" check --json
	python3 - <<-E
	import json
	all = json.loads('''$output''')
	subjects = [f["subject"] for f in all["findings"]]
	assert "cores" in subjects and "paranoid" in subjects, subjects
	assert subjects.count("source") >= 5
	assert all["next"], all
	E
}

@test "check_refuses_what_it_does_not_know" {
	run "$upmu" check cycles
	[ "$status" -eq 2 ]
	[[ "$output" == *"unexpected 'cycles'"* ]]
	run "$upmu" check --nosuch
	[ "$status" -eq 2 ]
	[[ "$output" == *"hint: upmu check --help"* ]]
}
