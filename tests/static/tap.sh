# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# claim NAME STATUS [OUTPUT]: one TAP line, and what was said where it failed.
number=0
claim() {
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		[ -z "${3:-}" ] || echo "$3" | head -n 60 | sed 's/^/# /'
		echo "not ok $number - $1"
	fi
}

plan() {
	echo "1..$number"
}
