#!/bin/bash
# SPDX-License-Identifier: MIT
# What the two tests named lib_wrap share; $1 is the board.
case $1 in
a15 | a7 | bare | v8-32) sources='page raw' ;;
*) sources=page ;;
esac
set -o pipefail
# shellcheck disable=SC2016 # the dollars are the board's
boards/run "$1" --timeout 1400 -- sh -c '
	status=0
	insmod /upmu/upmu.ko adopt=auto
	if [ -e /proc/sys/kernel/perf_user_access ]; then
		echo 1 >/proc/sys/kernel/perf_user_access
	fi
	for source in $1; do
		lib_wrap $source || status=1
	done
	exit $status' sh "$sources" | awk -f tests/boards/one_plan.awk
