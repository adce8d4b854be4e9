#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every command that writes a file of the user's: what cannot be written is told
# on one line, the former file stays, and no result of a run is lost.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	cd "$BATS_TEST_TMPDIR" || return
	echo former >file
}

# A disk that takes so many bytes of a file. What bats reads is no file, else
# the limit would be that of the messages, too.
full() {	# BYTES ARGUMENT...: $status, out, err
	run python3 - "$1" "$upmu" "${@:2}" <<-'P'
		import resource, subprocess, sys
		most = int(sys.argv[1])
		done = subprocess.run(
		    sys.argv[2:], capture_output=True, restore_signals=False,
		    preexec_fn=lambda: resource.setrlimit(
		        resource.RLIMIT_FSIZE, (most, most)))
		open("out", "wb").write(done.stdout)
		open("err", "wb").write(done.stderr)
		sys.exit(done.returncode)
	P
}

former_is_there_alone() {
	[ "$(cat file)" = former ] && [ "$(echo file*)" = file ]
}

@test "a_full_disk_leaves_the_former_file_and_stderr_gets_the_report" {
	for how in '' -j '-x ,' '-r 2' '-r 2 -j' '--format rpistat' --plot \
		'-I 20' '-I 20 -j' '-I 20 --plot'; do
		# shellcheck disable=SC2086 # words
		full 0 stat $how -o file -e page-faults -- sleep 0.05
		[ "$status" -eq 125 ]
		[ "$(head -n 1 err)" = "upmu stat: cannot write the report to 'file': File too large" ]
		[ "$(grep -c cannot err)" -eq 1 ]
		[ "$(wc -l <err)" -gt 1 ]
		former_is_there_alone
	done
}

@test "a_file_that_may_not_be_so_long_is_told_and_none_is_left" {
	(
		ulimit -f 0
		"$upmu" stat -o report -e page-faults -- true 2>&1 ||
			echo "status $?"
	) | cat >told
	output=$(cat told)
	[[ "$output" == *"cannot write the report to 'report': File too large"* ]]
	[[ "$output" == *" page-faults"*"status 125" ]]
	run ! compgen -G 'report*'
}

# Begun with the signal as a shell has it: what is too long is told, too.
limited() {	# BYTES COMMAND...: $status; out, err, log
	run python3 - "$@" <<-'P'
		import resource, signal, subprocess, sys
		most = int(sys.argv[1])
		def begin():
		    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
		    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
		with open("out", "wb") as out, open("err", "wb") as err:
		    done = subprocess.run(sys.argv[2:], stdout=out, stderr=err,
		                          preexec_fn=begin)
		sys.exit(done.returncode % 256)
	P
}

@test "a_report_that_may_not_be_so_long_ends_nothing_wherever_it_goes" {
	for how in 'stat -e page-faults' 'stat -j -e page-faults' \
		'stat --log-fd 1 -e page-faults' 'stat -I 5 -e page-faults' \
		'compare -r 2 -e page-faults true --'; do
		# shellcheck disable=SC2086 # words
		limited 0 "$upmu" $how sh -c ': >ran; sleep 0.02'
		[ "$status" -eq 125 ]
		[ -e ran ]
		rm ran
	done
	limited 0 "$upmu" list --core cortex-a7
	[ "$status" -eq 1 ]
}

@test "a_program_has_its_own_signal_of_a_file_that_is_too_long" {
	limited 3000 "$upmu" stat -e page-faults -- \
		sh -c 'head -c 4000 /dev/zero >long'
	grep -q ' page-faults' err
	limited 3000 "$upmu" stat -e page-faults -- head -c 4000 /dev/zero
	[ "$status" -eq $((256 - 25)) ] # by SIGXFSZ, as subprocess tells it
}

@test "a_file_that_may_not_grow_keeps_what_it_had_and_stderr_the_rest" {
	printf '%1000s\n' former >file
	cp file former
	for how in --append '-I 20 -j'; do
		(
			ulimit -f 1
			# shellcheck disable=SC2086 # words
			"$upmu" stat $how -o file -e page-faults -- sleep 0.3 \
				2>&1 || echo "status $?"
		) | cat >told
		output=$(cat told)
		[[ "$output" == *"cannot write the report to 'file': File too large"* ]]
		[[ "$output" == *page-faults*"status 125" ]]
		[ "$how" != --append ] || cmp file former
	done
}

@test "a_full_disk_leaves_no_part_of_a_report_that_is_appended" {
	printf '%1000s\n' former >file
	cp file former
	full 1100 stat --append -o file -e page-faults -- true
	[ "$status" -eq 125 ]
	grep -q "cannot write the report to 'file'" err
	grep -q page-faults err
	cmp file former
}

# Each is one line of some 300 bytes.
@test "a_disk_that_fills_up_has_whole_intervals_and_stderr_the_rest" {
	full 1500 stat -I 20 -j -o file -e page-faults -- \
		"$BATS_TEST_DIRNAME/intervals" 12 sleep 0.02
	[ "$status" -eq 125 ]
	[ "$(grep -c cannot err)" -eq 1 ]
	grep -v cannot err >rest
	[ -s rest ]
	python3 - <<-'P'
		import json
		parts = [[json.loads(line)["interval_s"] for line in open(name)]
		         for name in ("file", "rest")]
		assert parts[0] and parts[0] + parts[1] == sorted(sum(parts, []))
		assert len(sum(parts, [])) >= 10, parts
	P
}

@test "a_program_that_cannot_be_run_leaves_the_former_report" {
	run -127 "$upmu" stat -o file -- ./none
	former_is_there_alone
}

@test "no_report_is_no_file_and_leaves_the_former_one" {
	for how in '' -j '-x ,' '-I 20' --append --plot '--format rpistat'; do
		# shellcheck disable=SC2086 # words
		run "$upmu" stat -q $how -o file -e page-faults -- true
		[ "$status" -eq 0 ]
		[ -z "$output" ]
		former_is_there_alone
		# shellcheck disable=SC2086 # words
		"$upmu" stat -q $how -o none -e page-faults -- true
		[ ! -e none ]
	done
	"$upmu" stat -q -o file --openmetrics m.prom -e page-faults -- true
	grep -q '^upmu_page_faults' m.prom
	former_is_there_alone
}

@test "a_full_disk_leaves_the_former_comparison_and_stdout_gets_the_new_one" {
	full 0 compare -r 2 -j -o file -e page-faults true -- true
	[ "$status" -eq 125 ]
	[ "$(cat err)" = "upmu compare: cannot write the report to 'file': File too large" ]
	python3 -c 'import json; json.load(open("out"))'
	former_is_there_alone
}

@test "a_file_that_cannot_be_is_told_before_anything_runs" {
	for name in none/file '' .; do
		for what in 'stat -j' 'stat -I 20' 'stat --append' compare; do
			# shellcheck disable=SC2086 # words
			run "$upmu" $what -o "$name" -- touch ran
			[ "$what" != compare ] ||
				run "$upmu" compare -o "$name" touch ran -- true
			[ "$status" -eq 125 ]
			[ "${#lines[@]}" -eq 1 ]
			[ ! -e ran ]
		done
	done
}

# All that write files, each into "file".
write_each() {	# COMMAND...: runs them
	"$upmu" stat -j -o sample -e page-faults -- true
	for what in 'stat -o file -- true' 'stat -j -o file -- true' \
		'stat -I 20 -o file -- true' 'stat --append -o file -- true' \
		'stat --openmetrics file -- true' \
		'compare -r 2 -o file true -- true' \
		'merge -o file sample' 'report -o file sample'; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr "$@" "$upmu" $what
		check_each
	done
}

as_nobody() {
	[ "$(id -u)" -ne 0 ] || {
		chown -R 65534 .
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		"${as[@]}" test -x "$upmu" -a -w . ||
			skip "nobody may not come here"
	}
}

@test "a_file_that_may_not_be_written_stays" {
	check_each() {
		[ "$status" -eq 125 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ "$stderr" == *"'file': Permission denied" ]]
		former_is_there_alone
	}
	chmod 444 file
	as_nobody
	write_each "${as[@]}"
}

@test "a_file_that_root_writes_stays_its_owners" {
	check_each() {
		[ "$status" -eq 0 ]
		[ "$(wc -c <file)" -gt 8 ]
		[ "$(stat -c '%u %g %a' file)" = '65534 65533 640' ]
	}
	[ "$(id -u)" -eq 0 ] || skip "only root can give files away"
	chown 65534:65533 file || skip "no file can be given away here"
	chmod 640 file
	write_each env
}

@test "a_file_that_a_group_shares_stays_the_groups" {
	check_each() {
		[ "$status" -eq 0 ]
		[ "$(stat -c '%g %a' file)" = '65533 664' ]
	}
	[ "$(id -u)" -eq 0 ] || skip "only root can be somebody else"
	chown 65534:65533 . file || skip "no file can be given away here"
	chmod 775 .
	chmod 664 file
	as=(setpriv --reuid=65532 --regid=65532 --groups=65533)
	"${as[@]}" test -x "$upmu" -a -w . || skip "nobody may not come here"
	write_each "${as[@]}"
}

@test "a_file_in_a_folder_that_may_not_be_written_is_written" {
	check_each() {
		[ "$status" -eq 0 ]
		[ "$(wc -c <../file)" -gt 8 ]
		[ "$(stat -c %i ../file)" = "$inode" ]
	}
	mkdir -p closed/here
	mv file closed
	cd closed/here
	inode=$(stat -c %i ../file)
	ln -s ../file file
	cd ../..
	as_nobody
	cd closed/here
	chmod 555 ..
	write_each "${as[@]}"
	chmod 755 ..
}

@test "a_link_stays_one_and_its_file_is_replaced_or_stays" {
	mkdir there
	mv file there/file
	ln -s there/file file
	full 0 stat -o file -e page-faults -- true
	[ "$status" -eq 125 ]
	[ -L file ]
	[ "$(cat there/file)" = former ]
	[ "$(ls there)" = file ]
	"$upmu" stat -o file -e page-faults -- true
	[ -L file ]
	grep -q page-faults there/file
	rm there/file
	"$upmu" stat -o file -e page-faults -- true
	[ -L file ] && grep -q page-faults there/file
}

@test "standard_output_by_its_name_is_not_replaced" {
	echo before >log
	"$upmu" stat -o /dev/stdout --append -e page-faults -- echo printed >>log
	[ "$(head -n 2 log | tr '\n' ' ')" = "before printed " ]
	grep -q page-faults log
}

@test "standard_output_by_any_name_is_added_to" {
	"$upmu" stat -j -o one.json -e page-faults -- true
	for name in /dev/stdout log; do
		for command in "stat -e page-faults -- echo printed" \
			"compare -r 4 -e page-faults true -- true" \
			"merge one.json" "report one.json"; do
			words=($command)
			(echo before && "$upmu" "$words" -o $name "${words[@]:1}") \
				>log 2>errors
			[ "$(head -n 1 log)" = before ]
			[[ "$command" != stat* ]] || [ "$(sed -n 2p log)" = printed ]
			grep -q page-faults log
		done
	done
}

@test "what_the_shell_has_open_by_a_number_is_added_to" {
	exec 7>log
	echo before >&7
	for name in /dev/fd/7 log; do
		"$upmu" stat -o $name -e page-faults -- true
	done
	"$upmu" compare -r 4 -e page-faults -o log true -- true
	echo behind >&7
	exec 7>&-
	[ "$(sed -n '1p;$p' log | tr '\n' ' ')" = "before behind " ]
	[ "$(grep -c page-faults log)" -ge 3 ]
}

@test "a_dash_is_no_file" {
	"$upmu" stat -j -e page-faults -o - -- true 2>a.json >said
	[ ! -s said ]
	"$upmu" stat -e page-faults --format rpistat -o - -- true 2>&1 |
		grep -qx 'rpistat: true'
	"$upmu" compare -r 2 -e page-faults -o - true -- true |
		grep -q '^upmu compare: 2 runs'
	"$upmu" merge -o - a.json | grep -q page-faults
	[ ! -e - ]
	[ ! -e rpistat.txt ]
}

@test "what_standard_input_is_read_from_is_there_until_it_is_replaced" {
	printf '%s\n' b a >words
	"$upmu" stat -o words -e page-faults -- sort <words >sorted
	[ "$(cat sorted)" = "$(printf '%s\n' a b)" ]
	grep -q page-faults words
}

@test "the_longest_name_that_a_file_can_have_is_written" {
	name=$(printf '%0255d' 0)
	for turn in 1 2; do
		"$upmu" stat -o "$name" -e page-faults -- true
		"$upmu" merge -o "$name" <("$upmu" stat -j -o /dev/stdout true)
	done
	grep -q '1 rank' "$name"
	[ "$turn" = 2 ]
}
