# SPDX-License-Identifier: MIT
# A program that crashes within `run` is told where its test fails: the line of
# the test alone says nothing of it, and no repeat may forgive it (tests/tap.py).

eval "bats_own_$(declare -f run)"

run() {
	local failed=0

	bats_own_run "$@" || failed=$?
	# of SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV
	case $status in
	132 | 133 | 134 | 135 | 136 | 139) echo "crashed with status $status: $*" ;;
	esac
	return "$failed"
}
