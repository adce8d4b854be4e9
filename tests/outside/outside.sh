# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the tests with programs of others share. They end what they started.

need() {	# COMMAND PACKAGE: or skip all of the test
	command -v "$1" >/dev/null && return
	echo "1..0 # skip no $1: apt-get install $2"
	exit 0
}

skip() {	# CLAIM WHY
	number=$((number + 1))
	echo "ok $number - $1 # skip $2"
}

started=()
folder() {	# $work: a folder that goes with the test
	work=$(mktemp -d)
	trap 'kill "${started[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
}

start() {	# COMMAND...: in the background, until the test ends
	"$@" >>"$work/log" 2>&1 &
	started+=($!)
}

await() {	# COMMAND...: until it is true, some 60 seconds at most
	local n

	for ((n = 0; n < 300; n++)); do
		"$@" && return
		sleep 0.2
	done
	return 1
}

# A port that nobody has now.
free_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

fetch() {	# PORT PATH TEXT: does the page have it?
	python3 -c 'import sys, urllib.request
page = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/{sys.argv[2]}")
sys.exit(sys.argv[3] not in page.read().decode())' "$@" 2>/dev/null
}
