#!/bin/sh
# SPDX-License-Identifier: MIT
# instructions.sh ALLOWED PROGRAM [ARGUMENT...] : run an ARM program on an
# emulated board, and fail where it took more than ALLOWED instructions.
set -eu
upmu=${UPMU_TREE:-$(dirname "$0")/..}
allowed=$1 program=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
"$upmu/boards/run" a7 --file "$program:/program" --get "/counts:$work/" -- \
	upmu stat -x , -o /counts -e instructions:u -- /program "$@"
counted=$(awk -F, '$3 == "instructions:u" { print $1 }' "$work/counts")
echo "$counted instructions, $allowed allowed"
[ "$counted" -le "$allowed" ]
