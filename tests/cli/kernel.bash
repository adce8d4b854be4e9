# SPDX-License-Identifier: MIT
# For tests of what the kernel does on a program's behalf.

counts_the_kernel() {
	[ "$(id -u)" -eq 0 ] ||
		[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ] ||
		skip "not this user's: sudo sysctl kernel.perf_event_paranoid=1"
}
