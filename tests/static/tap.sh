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

# Into $work a temporary folder in which make can work, which splits names at
# spaces; it goes when we end.
plain_folder() {
	work=$(mktemp -d)
	case $work in
	*[!A-Za-z0-9/._+-]*)
		rmdir "$work"
		work=$(TMPDIR=/tmp mktemp -d)
		;;
	esac
	trap 'rm -rf "$work"' EXIT
}

# Into $files what git knows of these patterns, or of all. Without git, or
# with nothing that matches, that is a failure: the test would look at nothing.
sources() {	# [PATTERN...]
	files=$(git ls-files -- "$@" 2>&1) && [ -n "$files" ]
	claim there_are_sources_to_look_at $? "$files"
}
