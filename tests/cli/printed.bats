#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What commands print of described boards and saved files, word by word.

load crashes

@test "each_command_prints_what_it_printed" {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	run python3 "$BATS_TEST_DIRNAME/printed.py" "$upmu"
	echo "$output"
	[ "$status" -eq 0 ]
}
