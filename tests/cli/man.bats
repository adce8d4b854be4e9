#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the manual and the completion promise.

load crashes

setup() {
	build=$BATS_TEST_DIRNAME/../../build
	build=${UPMU_BUILD:-$build}
	upmu=${UPMU:-$build/tools/upmu}
	source=$BATS_TEST_DIRNAME/../..
	page=$source/man/upmu-stat.1
	cd "$BATS_TEST_TMPDIR"
}

# The commands of a page's examples; those for root start with a #.
examples() {
	awk '/^\.EX/ { on = 1 } /^\.EE/ { on = 0 } on && /^[$#] /' "$1" |
		sed 's/\\-/-/g'
}

run_examples() {
	run_examples_at_least 3 "$1"
}

run_examples_at_least() {	# N PAGE
	local line count=0 least=$1

	shift

	mkdir bin
	ln -s "$upmu" bin/upmu
	for name in naive interchange chase; do
		ln -s "$build/examples/$name" bin/$name
	done
	while IFS= read -r line; do
		[ "${line:0:1}" = '$' ] || [ "$(id -u)" -eq 0 ] || continue
		PATH=$PWD/bin:$PATH timeout 120 sh -c "${line:2}" >said 2>&1 ||
			{ echo "$line"; cat said; return 1; }
		count=$((count + 1))
	done < <(examples "$1")
	[ "$count" -ge "$least" ]
}

@test "man_upmu_stat_examples_run" {
	run_examples "$page"
}

@test "man_upmu_examples_run" {
	run_examples "$source/man/upmu.1"
}

@test "man_pages_format_without_a_warning" {
	command -v groff >/dev/null || skip "no groff"
	for file in "$source"/man/*.[14]; do
		run groff -man -ww -z -Tutf8 "$file"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
}

# A region that cannot be counted is left, a set that went round is stopped.
@test "a_page_of_a_call_promises_what_the_call_keeps" {
	run grep -l "nothing else is changed" -r "$build/man/man3"
	[ "$status" -eq 1 ]
	grep -q "tells the reason" "$build/man/man3/upmu_read.3"
	! grep -q "tells the reason" "$build/man/man3/upmu_watch_next.3"
}

@test "man_upmu_stat_has_every_option_and_no_other" {
	"$upmu" stat --help | grep -oE -- ' --[a-z-]+' | tr -d ' ' | sort -u >has
	sed -n '/^\.SH OPTIONS/,/^\.SH THE/p' "$page" | sed 's/\\-/-/g' |
		grep -E '^\.BR? ' | grep -oE -- '--[a-z-]+' | sort -u >told
	# Text of one option names others: those are options too.
	diff has told
}

# The left column of --help: "-j, --json".
options_of() {	# COMMAND
	"$upmu" "$1" --help | grep -E '^ +-' |
		grep -oE -- '^ +(-[a-zA-Z]\b|--[a-z-]+)(, --[a-z-]+)?' |
		grep -oE -- '--[a-z-]+|-[a-zA-Z]\b' | sort -u
}

# The headings of the entries under OPTIONS.
options_in() {	# PAGE
	awk '/^\.SH / { on = $2 == "OPTIONS" } on && last == ".TP"
		{ last = $1 }' "$1" | grep -E '^\.B[IR]? ' | sed 's/\\-/-/g' |
		grep -oE -- '--[a-z-]+|-[a-zA-Z]\b' | sort -u
}

@test "every_command_has_a_page_with_its_options_and_no_other" {
	for command in $("$upmu" --help | awk '/^  [a-z]+ +[^A-Z]/ { print $1 }')
	do
		page=$source/man/upmu-$command.1
		[ -f "$page" ]
		options_of "$command" >has
		options_in "$page" >told
		[ -s has ]
		diff has told || { echo "$command"; return 1; }
	done
}

@test "every_page_is_installed" {
	for page in "$source"/man/*.[1-9]; do
		grep -q "'${page##*/}'" "$source/man/meson.build"
	done
}

@test "every_page_that_is_referred_to_is_there" {
	cat "$source"/man/*.[14] | sed 's/\\-/-/g' |
		grep -oE '^\.BR upmu[a-z_-]* \([1-9]\)' | sort -u >refs
	[ -s refs ]
	while read -r _ name section; do
		section=${section//[()]/}
		[ -f "$source/man/$name.$section" ] ||
			[ -f "$build/man/man3/$name.$section" ] ||
			{ echo "$name($section)"; return 1; }
	done <refs
}

@test "man_examples_of_all_commands_run" {
	for command in cost regs setup; do
		rm -rf bin
		run_examples_at_least 1 "$source/man/upmu-$command.1"
	done
}

@test "man_upmu_check_and_cost_name_every_json_key" {
	for command in check cost; do
		"$upmu" "$command" --json | python3 -c '
import json, sys
def keys(v):
    if isinstance(v, dict):
        for k, w in v.items():
            print(k)
            keys(w)
    if isinstance(v, list):
        for w in v:
            keys(w)
keys(json.load(sys.stdin))' | sort -u >keys
		while read -r key; do
			grep -qw "$key" "$source/man/upmu-$command.1" ||
				{ echo "$command: $key"; return 1; }
		done <keys
	done
}

@test "man_upmu_names_every_command" {
	"$upmu" --help | awk '/^  [a-z]+ +[^A-Z]/ { print $1 }' | sort >has
	awk '/^\.SH COMMANDS/ { on = 1 } /^\.SH ENV/ { on = 0 }
		on && /^\.B [a-z]+$/ { print $2 }' "$source/man/upmu.1" | sort >told
	diff has told
}

complete_words() {	# WORD...: the completion of the last one
	bash -c '
		. "$1"; shift
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		compopt() { :; }
		_upmu; printf "%s\n" "${COMPREPLY[@]}"' \
		- "$source/packaging/upmu.bash" "$upmu" "$@"
}

@test "upmu_4_says_that_a_page_of_32_bits_tells_no_permission_and_no_width" {
	# kmod_page on the boards: it is so
	page=$(tr '\n' ' ' <"$BATS_TEST_DIRNAME/../../man/upmu.4")
	[[ $page == *"32-bit kernel .I cap_user_rdpmc and .I pmc_width of perf's page stay 0"* ]]
}

@test "upmu_exec_says_that_the_loss_of_a_child_is_told" {
	# exec_kernel on the boards: it is so
	page=$(tr '\n' ' ' <"$BATS_TEST_DIRNAME/../../man/upmu-exec.1")
	[[ $page == *"only a child of .I COMMAND lost it, that is told too"* ]]
}

@test "completion_knows_every_command" {
	complete_words '' | grep -v '^-' | sort >offered
	"$upmu" --help | awk '/^  [a-z]+ +[^A-Z]/ { print $1 }' | sort >has
	diff has offered
}

@test "completion_knows_every_option_of_stat" {
	complete_words stat -- | grep '^--' | sort >offered
	"$upmu" stat --help | grep -oE -- ' --[a-z-]+' | tr -d ' ' | sort -u >has
	diff has offered
}

@test "completion_knows_every_option_of_every_command" {
	for command in exec list cost regs check setup; do
		complete_words "$command" - | sort -u >offered
		options_of "$command" >has
		diff has offered
	done
}

@test "completion_knows_cores_and_architectures" {
	complete_words list --core cortex-a5 | grep -qx cortex-a53
	complete_words list --fit cycles,instr | grep -qx cycles,instructions
	[ "$(complete_words regs --arch v8 | xargs)" = "v8-32 v8-64" ]
}

@test "completion_offers_commands_only_where_one_is_run" {
	complete_words exec ls | grep -qx ls
	[ -z "$(complete_words check ls)" ]
	[ -z "$(complete_words setup ls)" ]
}

@test "completion_offers_formats_events_and_then_commands" {
	complete_words stat --format r | grep -qx rpistat
	complete_words stat -e task-clock,page | grep -qx task-clock,page-faults
	complete_words stat -- ls | grep -qx ls
}
