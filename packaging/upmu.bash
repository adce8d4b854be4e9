# SPDX-License-Identifier: MIT
# bash completion for upmu: commands and options come from its own --help, so
# that they are never out of date.

_upmu_words() {	# [COMMAND]: what stands in the left column of --help
	"${COMP_WORDS[0]}" "$@" --help 2>/dev/null |
		grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+|^ +-[a-zA-Z]' |
		grep -oE -- '--?[a-zA-Z-]+'
}

_upmu_commands() {
	"${COMP_WORDS[0]}" --help 2>/dev/null | awk '/^  [a-z]+ +[^A-Z]/ { print $1 }'
}

# The last of a list parted by commas; what stands before it is kept.
_upmu_events() {
	local last=${cur##*,} before=
	[[ $cur == *,* ]] && before=${cur%,*},
	mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" list 2>/dev/null |
		grep -oE '\b[a-z][a-z0-9_]+_[a-z0-9_]+\b' |
		compgen -P "$before" -W "$(cat) cycles instructions branches \
			branch-misses task-clock page-faults" -- "$last")
	compopt -o nospace
}

_upmu_stat_argument() {
	case $prev in
	-e | --event) _upmu_events ;;
	-o | --output | --openmetrics) mapfile -t COMPREPLY < <(
		compgen -f -- "$cur") ;;
	--format) mapfile -t COMPREPLY < <(
		compgen -W 'text rpistat csv json' -- "$cur") ;;
	-p | --pid) mapfile -t COMPREPLY < <(
		compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur") ;;
	-M | --metrics) mapfile -t COMPREPLY < <(compgen -W \
		'cache branch tlb frontend memory topdown all' -- "$cur") ;;
	-[rICDtx] | --control | --for-each-cgroup | --interval-count | \
		--log-fd | --pre | --post | --repeat | --interval-print | --cpu | --delay | --tid | \
		--timeout | --slice | --field-separator) ;;
	*) return 1 ;;
	esac
}

_upmu_compare_argument() {
	case $prev in
	-e | --event) _upmu_events ;;
	-o | --output | --stdin | --stdout) mapfile -t COMPREPLY < <(
		compgen -f -- "$cur") ;;
	--format) mapfile -t COMPREPLY < <(
		compgen -W 'text markdown csv json' -- "$cur") ;;
	-[rwnx] | --repeat | --warmup | --name | --fail-if | --prepare | \
		--field-separator) ;;
	*) return 1 ;;
	esac
}

_upmu_list_argument() {
	case $prev in
	--core) mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" list \
		--core '?' 2>&1 | sed -n 's/^hint: known: *//p')" -- "$cur") ;;
	--fit | --explain) _upmu_events ;;
	--search) ;;
	*) return 1 ;;
	esac
}

_upmu_regs_argument() {
	[ "$prev" = --arch ] || return 1
	mapfile -t COMPREPLY < <(compgen -W 'v6 v7 v8-32 v8-64' -- "$cur")
}

_upmu() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} i

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_upmu_commands) --help --version" -- "$cur")
		return
	fi
	# Behind "--" stands the user's command.
	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] || continue
		mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
		return
	done
	case $command in
	stat) _upmu_stat_argument && return ;;
	compare) _upmu_compare_argument && return ;;
	list) _upmu_list_argument && return ;;
	regs) _upmu_regs_argument && return ;;
	esac
	if [[ $command == @(report|merge) && $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_upmu_words "$command")" -- "$cur")
		return
	fi
	case $command in
	stat | exec | compare) mapfile -t COMPREPLY < <(compgen -c -f -- "$cur") ;;
	esac
}

complete -F _upmu upmu
