# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What board tests in bash share: TAP, and commands that run on $board.
number=0
out=

ok() {	# CLAIM STATUS: $out explains a failure
	number=$((number + 1))
	if [ "$2" = 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		printf '# %s\n' "${out//$'\n'/$'\n'# }"
	fi
}

skip() {	# CLAIM WHY
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# Debian's own perf into the folder $perf. Where the mirror has none, that is a
# skip; whatever else keeps it away is a failure.
debians_perf() {	# ARCH CLAIM
	local status

	perf=$(python3 boards/perf.py "$1")
	status=$?
	[ $status != 0 ] || return 0
	[ $status = 77 ] || exit 1
	skip "$2" "the mirror has no perf for $1"
	plan
	exit 0
}

has() {	# CLAIM TEXT: that $out has it
	[[ "$out" == *"$2"* ]]
	ok "$1" $?
}

lacks() {	# CLAIM TEXT
	[[ -n "$out" && "$out" != *"$2"* ]]
	ok "$1" $?
}

# Both outputs of a script on the board into $out, its status into $status.
on_board() {	# [OPTION...] SCRIPT
	out=$(boards/run "${board:?}" \
		--timeout 300 "${@:1:$#-1}" -- sh -c "exec 2>&1; ${*: -1}" 2>&1 </dev/null)
	# shellcheck disable=SC2034 # for the test
	status=$?
}

# The lines between "@ NAME" and the next "@" of $whole into $out.
section() {	# NAME
	out=$(awk -v name="$1" '$1 == "@" { on = $2 == name; next } on' \
		<<<"${whole:?}")
}

claim() {	# SECTION CLAIM TEXT...: that it has all of them
	local name=$1 claim=$2 text found=0

	shift 2
	section "$name"
	for text; do
		[[ $'\n'"$out"$'\n' == *"$text"* ]] || found=1
	done
	ok "$claim" $found
}

figure() {	# NAME: of the section in $out
	awk -v name="$1" '$1 == name { print $2; found = 1 }
		END { if (!found) print -1 }' <<<"$out"
}

is() {	# CLAIM EXPRESSION
	awk "BEGIN { exit !($2) }"
	ok "$1" $?
}

plan() {
	echo "1..$number"
}
