#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the manual and the completion promise of upmu stat.

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
	local line count=0

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
	[ "$count" -ge 3 ]
}

@test "man_upmu_stat_examples_run" {
	run_examples "$page"
}

@test "man_upmu_examples_run" {
	run_examples "$source/man/upmu.1"
}

@test "man_pages_format_without_a_warning" {
	command -v groff >/dev/null || skip "no groff"
	for file in "$source"/man/*.1; do
		run groff -man -ww -z -Tutf8 "$file"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
}

@test "man_upmu_stat_has_every_option_and_no_other" {
	"$upmu" stat --help | grep -oE -- ' --[a-z-]+' | tr -d ' ' | sort -u >has
	sed -n '/^\.SH OPTIONS/,/^\.SH THE/p' "$page" | sed 's/\\-/-/g' |
		grep -E '^\.BR? ' | grep -oE -- '--[a-z-]+' | sort -u >told
	# Text of one option names others: those are options too.
	diff has told
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

@test "completion_offers_formats_events_and_then_commands" {
	complete_words stat --format r | grep -qx rpistat
	complete_words stat -e task-clock,page | grep -qx task-clock,page-faults
	complete_words stat -- ls | grep -qx ls
}
