#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# upmu report: the page's contents and what goes wrong; report_pages.bats draws
# it in a browser.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	upmu=${UPMU:-$BATS_TEST_DIRNAME/../../build/tools/upmu}
	cd "$BATS_TEST_TMPDIR" || return
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 50
}

# The JSON of a page, as a browser reads it.
payload() {	# PAGE EXPRESSION
	python3 - "$1" "$2" <<-'E'
		import html.parser, json, sys
		class Page(html.parser.HTMLParser):
		    data, on, scripts = "", False, 0
		    def handle_starttag(self, tag, attrs):
		        self.on = dict(attrs).get("id") == "data"
		        self.scripts += tag == "script"
		    def handle_endtag(self, tag):
		        self.on = False
		    def handle_data(self, text):
		        self.data += text if self.on else ""
		page = Page()
		page.feed(open(sys.argv[1]).read())
		print(eval(sys.argv[2], {"r": json.loads(page.data), "page": page}))
	E
}

@test "report_makes_a_page_of_what_stat_compare_and_regions_write" {
	"$upmu" stat -j -o stat.json -e page-faults -- true
	"$upmu" stat -I 20 -j -o intervals.json -e page-faults -- \
		"$BATS_TEST_DIRNAME/intervals" 5 sleep 0.02
	"$upmu" compare -r 2 -w 0 -e page-faults -j -o compare.json true -- ls
	"$upmu" report -o page.html stat.json intervals.json compare.json
	[ "$(payload page.html '[f["kind"] for f in r["files"]]')" = \
		"['stat', 'intervals', 'compare']" ]
	[ "$(payload page.html 'len(r["files"][1]["times"]) >= 3')" = True ]
	[ "$(payload page.html 'r["files"][0]["report"]["machine"]["host"]')" = \
		"$(uname -n)" ]
}

@test "report_has_a_0_where_nothing_ran_and_a_gap_where_nobody_knows" {
	"$upmu" stat -I 50 -j -o asleep.json -e page-faults -- sleep 0.6
	"$upmu" report -o page.html asleep.json
	payload page.html 'r["files"][0]["events"][0]["values"]'
	[ "$(payload page.html 'set(r["files"][0]["events"][0]["values"][2:-1])')" = "{0}" ]
	# Without --control's word nothing is on.
	"$upmu" stat -I 50 -j -D -1 --control fd:0 -o off.json -e page-faults -- \
		sleep 0.3 < <(sleep 1)
	"$upmu" report -o page.html off.json
	[ "$(payload page.html 'set(r["files"][0]["events"][0]["values"])')" = "{None}" ]
}

@test "report_writes_no_page_over_counts" {
	cp samples/intervals.json a.json
	for words in "-o a.json a.json" "a.json -o a.json" "-o a.json"; do
		# shellcheck disable=SC2086	# words
		run "$upmu" report $words
		[ "$status" -eq 2 ]
		[[ "$output" == "upmu report: -o 'a.json': a page is no JSON"* ]]
	done
	cmp a.json samples/intervals.json
}

@test "report_and_compare_take_no_format_of_a_later_upmu" {
	"$upmu" stat -j -o now.json -e page-faults -- true
	sed 's/"upmu_stat": 1/"upmu_stat": 2/' now.json >stat.json
	echo '{"upmu_compare": 2, "commands": [], "events": []}' >compare.json
	for file in stat.json compare.json; do
		run -125 "$upmu" report -o page.html $file
		[ "${lines[0]}" = "upmu report: '$file': of another version of upmu: its format is not 1" ]
		run -125 "$upmu" compare now.json $file
		[ "${lines[0]}" = "upmu compare: '$file': of another version of upmu: its format is not 1" ]
	done
	[ ! -e page.html ]
}

@test "report_of_regions_comes_from_a_program" {
	UPMU_REPORT=regions.json UPMU_SOURCE=clock UPMU_EVENTS=cycles \
		"${UPMU_BUILD:-$BATS_TEST_DIRNAME/../../build}/examples/regions" \
		>said 2>&1
	"$upmu" report -o page.html regions.json
	[ "$(payload page.html 'r["files"][0]["kind"]')" = regions ]
}

@test "report_keeps_each_interval_and_its_bounds" {
	"$upmu" report -o page.html samples/intervals.json
	[ "$(payload page.html 'len(r["files"][0]["times"])')" = 50 ]
	[ "$(payload page.html '[len(e["values"]) for e in r["files"][0]["events"]]')" = \
		"[50, 50, 50, 50]" ]
	[ "$(payload page.html 'len(r["files"][0]["events"][2]["lows"])')" = 50 ]
	[ "$(payload page.html '["lows" in e for e in r["files"][0]["events"]]')" = \
		"[False, False, True, False]" ]
	[ "$(payload page.html 'set(r["files"][0]["events"][3]["values"])')" = "{None}" ]
	# A second run in the file is a section of its own.
	cat samples/intervals.json samples/intervals.json >two.json
	"$upmu" report -o page.html two.json
	[ "$(payload page.html '[len(f["times"]) for f in r["files"]]')" = "[50, 50]" ]
}

@test "report_knows_bounds_and_events_from_the_interval_on_that_has_them" {
	python3 - >late.json <<-'E'
		import json
		def event(name, **more):
		    return {"event": name, "state": "counted", "unit": "events",
		            "value": 7, **more}
		for at, events in enumerate((
		        [event("a")],
		        [event("a", low_95=5, high_95=9)],
		        [event("a"), event("b")])):
		    print(json.dumps({"upmu_stat": 1, "command": ["x"],
		                      "interval_s": at + 1, "events": events,
		                      "metrics": []}))
	E
	"$upmu" report -o page.html late.json
	[ "$(payload page.html '[(e["event"], e["values"], e.get("lows"), e.get("highs")) for e in r["files"][0]["events"]]')" = \
		"[('a', [7, 7, 7], [None, 5, None], [None, 9, None]), ('b', [None, None, 7], None, None)]" ]
}

@test "report_parts_runs_whose_first_interval_ends_after_the_last_ones" {
	"$upmu" stat -I 50 -j -o two.json -e task-clock -- sleep 0.12
	sleep 1
	# The second begins after more than all of the first.
	"$upmu" stat -I 400 --append -j -o two.json -e task-clock -- sleep 0.6
	"$upmu" report -o page.html two.json
	[ "$(payload page.html 'len(r["files"])')" = 2 ]
	# Of the same second, but of another program; behind a summary.
	sed 's/"began_unix_s": *[0-9]*/"began_unix_s": 1/' two.json |
		sed 's/"sleep", *"0.6"/"other"/' >other.json
	"$upmu" report -o page.html other.json
	[ "$(payload page.html 'len(r["files"])')" = 2 ]
	"$upmu" stat -I 50 --summary -j -o sums.json -e task-clock -- sleep 0.12
	sed -i 's/"began_unix_s": *[0-9]*/"began_unix_s": 1/' sums.json
	sed 's/"interval_s": *[0-9.]*/"interval_s": 9/' sums.json | head -n 1 >>sums.json
	"$upmu" report -o page.html sums.json
	[ "$(payload page.html '[f["kind"] for f in r["files"]]')" = \
		"['intervals', 'stat', 'intervals']" ]
}

@test "report_keeps_what_intervals_say_of_the_machine" {
	python3 - <<-'E'
		import json
		with open('samples/intervals.json') as file:
		    lines = [json.loads(line) for line in file]
		for line in lines[30:]:
		    line['cpus_lost'] = '1,3'
		lines[3]['others'] = {'time_lost_percent': 12.5}
		lines[4]['others'] = {'time_lost_percent': 2.5}
		for line in lines:
		    line['model'] = {'cores': []}
		    line['events'][0]['modelled'] = True
		with open('lost.json', 'w') as file:
		    for line in lines:
		        line.update(user_only=True, reason='some reason')
		        print(json.dumps(line), file=file)
	E
	"$upmu" report -o page.html lost.json
	[ "$(payload page.html '[r["files"][0][k] for k in ("cpus_lost", "user_only", "reason")]')" = \
		"['1,3', True, 'some reason']" ]
	[ "$(payload page.html '[r["files"][0].get(k) for k in ("others", "model")]')" = \
		"[{'time_lost_percent': 12.5}, {'cores': []}]" ]
	[ "$(payload page.html '[e.get("modelled") for e in r["files"][0]["events"]][:2]')" = "[True, None]" ]
}

@test "report_takes_no_last_word_on_intervals_for_one" {
	"$upmu" stat -I 50 -j -o two.json -e task-clock -- sleep 0.12
	tail -n 1 two.json | python3 -c '
import json, sys
last = json.load(sys.stdin)
last.update(events=[], metrics=[], uncounted_s=0.5)
print(json.dumps(last))' >word.json
	n=$(wc -l <two.json)
	cat word.json >>two.json
	"$upmu" report -o page.html two.json
	[ "$(payload page.html '[len(f["times"]) for f in r["files"]]')" = "[$n]" ]
	[ "$(payload page.html 'r["files"][0]["uncounted_s"]')" = 0.5 ]
}

@test "report_tells_reports_of_one_files_name_apart" {
	mkdir one two
	for file in one/s.json one/s.json two/s.json three.json; do
		"$upmu" stat -j -o "$file" --append -e page-faults -- true
	done
	"$upmu" report -o page.html one/s.json two/s.json three.json
	[ "$(payload page.html '[f["name"] for f in r["files"]]')" = \
		"['one/s.json', 'one/s.json (2)', 'two/s.json', 'three.json']" ]
	# Each kind has numbers of its own.
	cat samples/estimates.json samples/estimates.json \
		samples/intervals.json samples/estimates.json >all.json
	"$upmu" report -o page.html all.json
	[ "$(payload page.html '[f["name"] for f in r["files"]]')" = \
		"['all.json', 'all.json (2)', 'all.json', 'all.json (3)']" ]
}

@test "report_lets_no_name_become_markup" {
	"$upmu" report -o page.html samples/*.json
	# The script elements are the page's own: data, charts, page.
	[ "$(payload page.html 'page.scripts')" = 3 ]
	run ! grep -q '<script>alert' page.html
	run ! grep -q '<img' page.html
	[[ "$(payload page.html 'r["files"][1]["report"]["commands"][1]["name"]')" == *"<script>alert"* ]]
}

@test "report_fetches_nothing" {
	"$upmu" report -o page.html samples/estimates.json
	grep -q "default-src 'none'" page.html
	run ! grep -qE '<(script|link|img|iframe)[^>]+(src|href)="?https?:' page.html
}

@test "report_gives_each_bad_file_one_line_and_shows_the_good_ones" {
	echo '{"upmu_stat": 1' >cut.json
	echo '{"upmu_stat": 1, "events": 3}' >shape.json
	echo '{"upmu_compare": 1, "commands": [], "events": [{}]}' >shape2.json
	echo '{"some": "thing"}' >foreign.json
	echo '[[[]]]' >array.json
	head -c 1000 /dev/urandom >noise.json
	: >empty.json
	mkdir folder.json
	bad="cut shape shape2 foreign array noise empty folder none"
	# shellcheck disable=SC2086,SC2046	# words
	run "$upmu" report -o page.html $(printf '%s.json ' $bad) \
		samples/estimates.json
	[ "$status" -eq 1 ]
	[ "${#lines[@]}" -eq 10 ]
	for name in $bad; do
		[[ "$output" == *"'$name.json': "* ]]
	done
	[ "$(payload page.html 'len(r["files"])')" = 1 ]
	[ "$(payload page.html 'len(r["problems"])')" = 9 ]
}

@test "report_without_a_good_file_leaves_the_former_page" {
	echo former >page.html
	echo '{}' >bad.json
	run "$upmu" report -o page.html bad.json
	[ "$status" -eq 125 ]
	[ "$(cat page.html)" = former ]
}

@test "report_that_cannot_be_written_leaves_the_former_page" {
	echo former >page.html
	# A disk that is full after some kilobytes.
	run sh -c 'trap "" XFSZ; ulimit -f 8; exec "$0" report -o page.html samples/intervals.json' "$upmu"
	[ "$status" -eq 125 ]
	[[ "$output" == *"cannot write 'page.html'"* ]]
	[ "$(cat page.html)" = former ]
	[ "$(echo page.html*)" = page.html ]
	run "$upmu" report -o /nonexistent/page.html samples/estimates.json
	[ "$status" -eq 125 ]
}

# All but its last byte, which is still in a buffer when all is printed.
@test "report_whose_last_byte_is_lost_on_standard_output_fails" {
	"$upmu" report -o - samples/estimates.json >page.html
	size=$(stat -c %s page.html)
	run -125 prlimit --fsize=$((size - 1)) sh -c \
		'"$0" report -o - samples/estimates.json >page.html' "$upmu"
	[[ "$output" == *"cannot write '-': File too large"* ]]
}

@test "a_new_page_keeps_to_the_umask_an_old_one_keeps_its_mode" {
	(umask 027; "$upmu" report -o page.html samples/estimates.json)
	[ "$(stat -c %a page.html)" = 640 ]
	echo former >page.html
	chmod 604 page.html
	"$upmu" report -o page.html samples/estimates.json
	[ "$(stat -c %a page.html)" = 604 ]
	"$upmu" report -o - samples/estimates.json >out.html
	cmp page.html out.html
	"$upmu" report - <samples/estimates.json
	[ -f upmu-report.html ]
}

@test "report_refuses_wrong_use" {
	run "$upmu" report
	[ "$status" -eq 2 ]
	[[ "$output" == *"hint:"* ]]
	run "$upmu" report --nonsense samples/estimates.json
	[ "$status" -eq 2 ]
}

@test "colours_of_a_page_are_told_apart_by_the_colour_blind" {
	"$upmu" report -o page.html samples/compare.json
	python3 "$BATS_TEST_DIRNAME/colours.py" page.html
}
