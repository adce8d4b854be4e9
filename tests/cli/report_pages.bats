#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The page of upmu report in a browser: Debian's chromium, and the charting
# library that scripts/charts fetched. Only with ./check --all.

load crashes

bats_require_minimum_version 1.5.0

setup() {
	top=$BATS_TEST_DIRNAME/../..
	upmu=${UPMU:-$top/build/tools/upmu}
	[ -n "${UPMU_ALL:-}" ] || skip "browsers are tried by ./check --all"
	command -v chromium >/dev/null || skip "no chromium is installed"
	cd "$BATS_TEST_TMPDIR"
}

# A build of its own has the plots, whatever the one under test has.
with_charts() {
	"$upmu" report -o probe.html "$1" 2>/dev/null
	grep -q 'observablehq/plot' probe.html ||
		skip "this upmu was built without plots: scripts/charts"
}

browse() {	# PAGE [OPTION...]: its document after its scripts ran
	local page=$1
	shift
	timeout 120 chromium --headless --no-sandbox --disable-gpu \
		--user-data-dir="$PWD/profile" --enable-logging=stderr \
		--hide-scrollbars "$@" --dump-dom "file://$PWD/$page" \
		2>log >dom
	run ! grep -E 'CONSOLE|Refused' log
}

page_of() {	# FILE...: dom, and all of it on one line
	"$upmu" report -o page.html "$@"
	browse page.html
	tr -d '\n' <dom >line
}

attribute() {	# NAME
	grep -oE "data-$1=\"[0-9]+\"" dom | head -n 1 | grep -oE '[0-9]+'
}

@test "page_draws_every_plot_without_an_error" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 400
	with_charts samples/estimates.json
	"$upmu" report -o page.html samples/*.json
	browse page.html --screenshot=page.png --window-size=1050,4000
	# Heat map, comparison, estimates, 3 events over time, 2 of regions.
	[ "$(attribute figures)" = 8 ]
	[ "$(grep -o 'data-drawn="yes"' dom | wc -l)" = 8 ]
	[ "$(grep -o '<svg' dom | wc -l)" -ge 8 ]
	[ "$(grep -o '<svg[^>]*aria-label=' dom | wc -l)" -ge 8 ]
	[ "$(grep -o '<table' dom | wc -l)" -ge 16 ]
	# Clusters stand side by side: one row of cycles, a column for each.
	grep -q 'clusters.json, cortex-a53' dom
	run ! grep -q '>cortex-a53/cycles/</th>' dom
	# Names stayed text.
	run ! grep -q '<img src=x' dom
	grep -q '&lt;script&gt;alert' dom
}

# Of processor time, which is what it takes where nothing else runs.
@test "page_draws_100000_intervals_in_two_seconds" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 100000
	with_charts samples/estimates.json
	"$upmu" report -o page.html samples/intervals.json
	read -r ms figures < <(timeout 200 python3 \
		"$BATS_TEST_DIRNAME/page_cost.py" page.html profile)
	echo "$figures figures in $ms ms"
	[ "$figures" = 3 ]
	[ "$ms" -gt 0 ]
	[ "$ms" -le 2000 ]
}

@test "page_shows_numbers_to_the_pointer_and_to_the_keyboard" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 400
	with_charts samples/estimates.json
	"$upmu" report -o page.html samples/*.json
	run -0 timeout 200 python3 "$BATS_TEST_DIRNAME/page_hands.py" \
		page.html profile
	[ "$output" = "8 figures, 8 tell numbers to the pointer, 8 to the keys" ]
}

# In each plot, whatever it is of: ticks and the words beside them.
# No two labels of an axis lie on each other, and none beyond the plot's left
# edge, where the page has no room for it.
labels_apart() {	# PAGE
	cat >>"$1" <<-'E'
		<script>
		const over = [];
		for (const svg of document.querySelectorAll("figure svg")) {
			const labels = [...svg.querySelectorAll(
				'g[aria-label*="axis"] text')].filter(t =>
				!/rotate/.test(t.getAttribute("transform") ?? ""));
			const boxes = labels.map(t => t.getBoundingClientRect());
			const left = svg.getBoundingClientRect().left;
			boxes.forEach((box, i) => box.left + 1 < left &&
				over.push(`${labels[i].textContent} on the edge`));
			for (let i = 0; i < boxes.length; i++)
				for (let k = i + 1; k < boxes.length; k++) {
					const [a, b] = [boxes[i], boxes[k]];
					if (a.left + 1 < b.right && b.left + 1 < a.right &&
						a.top + 2 < b.bottom && b.top + 2 < a.bottom)
						over.push(labels[i].textContent + " on " +
							labels[k].textContent);
				}
		}
		document.documentElement.dataset.over = String(over.length);
		document.body.append(...over);
		</script>
	E
	browse "$1"
	grep -o '[^>]* on [^<]*' dom | tail -n 3
	[ "$(attribute over)" = 0 ]
}

@test "page_lays_no_label_on_another" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 400
	with_charts samples/estimates.json
	"$upmu" report -o page.html samples/*.json
	labels_apart page.html
	"$upmu" report -o page.html samples/places/once.json samples/*.json
	labels_apart page.html
	# Of unlike cores, of a tracepoint, in letters of twice the width.
	python3 - <<-'E'
		import json
		names = ['armv8_cortex_a72/l1d_cache_refill_rd/ of one',
		         'raw_syscalls:sys_enter_' + 'very_long_' * 9,
		         '日本語のとても長い名前です' * 4]
		def one(name, **more):
		    return {'event': name, 'unit': 'events', **more}
		stat = {'upmu_stat': 1, 'metrics': [], 'user_only': False,
		    'events': [one(name, state='counted', value=5.0,
		        estimated=True, estimate=5.0, low_95=4.0, high_95=6.0,
		        running_percent=50.0, counted=3, slices=9, place=place)
		        for name in names for place in ('CPU0', 'CPU1')]}
		compare = {'upmu_compare': 1, 'commands': [
		    {'name': name, 'runs': 4} for name in 'AB'],
		    'events': [one(name, commands=[{'mean': 5.0, 'low_95': 4.0,
		        'high_95': 6.0, 'counted': 4}] * 2) for name in names]}
		json.dump(stat, open('stat.json', 'w'))
		json.dump(compare, open('compare.json', 'w'))
	E
	"$upmu" report -o page.html stat.json compare.json
	labels_apart page.html
	[ "$(attribute figures)" = 3 ]
	# Cut, but for what tells them apart; the table has them whole.
	grep -q 'of one</text>' dom
}

# Files of no launcher: their names are the ranks'.
@test "page_lays_no_name_of_a_rank_on_another" {
	"$upmu" stat -e page-faults -j -o one.json -- true
	with_charts one.json
	for n in $(seq 10 21); do
		cp one.json "a-long-name-of-run-$n.example.org.json"
	done
	"$upmu" merge -j -o ranks.json a-long*.json
	"$upmu" report -o page.html ranks.json
	labels_apart page.html
	axis 'page-faults by rank' >words
	for n in $(seq 10 21); do
		grep -q -- "-$n" words
	done
	"$upmu" merge -j -o two.json a-long*-1[01].*
	"$upmu" report -o page.html two.json
	labels_apart page.html
}

axis() {	# TITLE: the words of its axis of numbers
	python3 - "$1" <<-'E'
		import html, re, sys
		dom = html.unescape(open("dom").read())
		plot = re.search(r"aria-label=\"" + sys.argv[1] + r"\".*?</svg>",
		    dom, re.S).group()
		words = re.findall(r">([^<>]+)</text>", plot)
		print(*words, sep="\n")
	E
}

@test "page_has_times_on_an_axis_in_a_unit_that_fits" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 50
	with_charts samples/estimates.json
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" ranks 3
	sed -i 's/"sys_s": 0.25/"sys_s": 0.03/' ranks/*.json
	"$upmu" merge -j ranks/*.json >merged.json
	sed -i 's/"unit": "events"/"unit": "ns"/' samples/regions.json
	page_of merged.json samples/regions.json
	# 0.03 s of each rank, regions of up to 12 ms; no 30m, no 12M.
	axis 'sys by rank' >sys
	axis 'cycles by region' >regions
	axis 'ipc by rank' >ipc
	grep -qx 30 sys
	grep -q ms sys
	grep -qx 12 regions
	grep -q ms regions
	run ! grep -xE '[0-9.]+[kmMGµn]' sys regions ipc
	# A large count keeps its letter.
	axis 'cycles by rank' | grep -qx '2k'
}

@test "page_has_a_name_of_its_own_above_each_column_of_the_heat_map" {
	"$upmu" stat -e page-faults -j -o one.json -- true
	with_charts one.json
	for n in 000 001 010 011; do
		cp one.json "tuesdays-run-on-the-node-$n.example.org.json"
	done
	page_of tuesdays*.json
	axis 'Counts by place' >words
	for n in 000 001 010 011; do
		[ "$(grep -c "^tuesdays-.*$n" words)" = 1 ]
	done
	[ "$(grep tuesdays words | sort -u | wc -l)" = 4 ]
}

# Of a board's model, in turns: one word said nothing of the other.
@test "page_says_of_a_modelled_estimate_that_it_is_both" {
	"$upmu" stat -e page-faults -j -o one.json -- true
	with_charts one.json
	python3 - <<-'E'
		import json
		report = json.load(open('one.json'))
		event = report['events'][0]
		report['events'] = [{**event, 'event': name, **more} for name, more in (
		    ('a', {}), ('b', {'modelled': True}),
		    ('c', {'estimated': True}), ('d', {'modelled': True,
		        'estimated': True}))]
		json.dump(report, open('one.json', 'w'))
	E
	page_of one.json
	tr '\n' ' ' <dom | grep -oE '<td>(counted|modelled|estimated)[^<]*' >words
	printf '<td>%s\n' counted modelled estimated 'modelled, estimated' |
		diff - words
}

# -a, and -C 0 on each; the second one's CPU 0 was drawn upon the first one's,
# and of -a there was no map.
@test "page_has_a_column_for_each_host_whatever_cpus_they_counted" {
	"$upmu" stat -e page-faults,page-faults -j -o one.json -- true
	with_charts one.json
	for cpus in all 0; do
		for host in alpha beta; do
			sed "s/\"user_only\"/\"cpus\": \"$cpus\", &/" one.json \
				>$host-$cpus.json
		done
	done
	sed 's/"user_only"/"cpus": "7", &/' one.json >gamma-7.json
	page_of alpha-*.json beta-*.json gamma-7.json
	axis 'Counts by place' >words
	for name in alpha-all.json beta-all.json 'alpha-0.json, CPU 0' \
		'beta-0.json, CPU 0' 'gamma-7.json, CPU 7'; do
		[ "$(grep -cx "$name" words)" = 1 ]
	done
	# One cell each, though the event stands there twice.
	[ "$(grep -oE '>[0-9]+ %<' dom | wc -l)" = 5 ]
}

@test "page_calls_less_of_a_time_faster_as_the_terminal_does" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	with_charts samples/estimates.json
	changed compare 'r["events"][2]["is_time"] = True'
	page_of changed.json
	# elapsed and, as its file says, instructions; not max_rss
	[ "$(grep -o '20.00&nbsp;% faster</text>' dom | wc -l)" = 2 ]
	[ "$(grep -o '20.00&nbsp;% less</text>' dom | wc -l)" = 1 ]
	[ "$(grep -o '>faster</td>' dom | wc -l)" = 2 ]
}

changed() {	# SAMPLE PYTHON: with it done to r, into changed.json
	python3 - "$@" <<-'E'
		import json, sys
		r = json.load(open(f"samples/{sys.argv[1]}.json"))
		exec(sys.argv[2])
		json.dump(r, open("changed.json", "w"))
	E
}

@test "page_says_which_runs_failed_and_what_ended_them" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	changed estimates 'r.update(runs=2, runs_wanted=3, failed=1,
	    ended_by="SIGABRT")'
	page_of changed.json
	grep -qE 'runs that failed</td><td[^>]*>1<' line
	grep -qE 'runs that were wanted</td><td[^>]*>3<' line
	grep -qE 'ended by</td><td[^>]*>SIGABRT<' line
}

@test "page_says_what_a_mean_is_of" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	"$upmu" stat -r 4 -e task-clock,page-faults -j -o four.json -- true
	"$upmu" stat -e page-faults -j -o one.json -- true
	changed compare 'c = r["commands"][1]; c["runs"] = 9
for e in r["events"]: e["commands"][1]["counted"] = 8'
	page_of four.json
	grep -qE '<th[^>]*>mean of 4 runs</th><th[^>]*>deviation</th>' line
	grep -qE 'task-clock</td><td[^>]*>[0-9.]+.ms</td><td[^>]*>[0-9.]+.ms</td>' line
	grep -qE 'elapsed</td><td[^>]*>[0-9.]+.ms, deviation [0-9.]+.ms</td>' line
	python3 - <<-'E'
		import json
		four = json.load(open('four.json'))
		four['events'][1]['values'][:3] = [None] * 3
		json.dump(four, open('four.json', 'w'))
	E
	page_of four.json
	grep -qE '>[0-9,.]+ \(1 of 4 runs\)</td>' dom
	[ "$(grep -o 'of 4 runs)' dom | wc -l)" -eq 1 ]
	page_of one.json
	run ! grep -E '<th[^>]*>(mean of|deviation)' dom
	page_of changed.json
	grep -q '(8 of 9 runs)</td>' dom
}

@test "page_says_what_the_counts_of_one_command_lack" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	changed compare 'r.update(user_only=True)
for i, c in enumerate(r["commands"]):
    c.update(user_only=i == 0, cores="cortex-a7" if i else "cortex-a53")'
	page_of changed.json
	grep -q '</code> 10 runs, user mode only, on cortex-a53</li>' line
	grep -q '</code> 10 runs, on cortex-a7</li>' line
	run ! grep -q '>User mode only: the kernel' line
	# A file of before says it of all.
	changed compare 'r.update(user_only=True)'
	page_of changed.json
	grep -q '>User mode only: the kernel' dom
}

@test "page_says_of_a_comparison_what_the_terminal_says_of_its_runs" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	changed compare 'r.update(paired=False)
r["commands"][1].update(runs=1, runs_wanted=4)'
	page_of changed.json
	grep -q '</code> 10 runs</li>' line
	grep -q '</code> 1 of 4 runs</li>' line
	grep -q '>Runs of different times, not in turns\.<' line
	page_of samples/compare.json
	run ! grep -q '>Runs of different' dom
}

@test "page_draws_no_line_through_a_time_that_nobody_counted" {
	python3 - <<-'E'
		import json
		with open("gap.json", "w") as out:
		    for i in range(30):
		        known = i < 10 or i == 15 or i > 20
		        print(json.dumps({"upmu_stat": 1, "version": "0.1.0",
		            "command": [], "metrics": [], "user_only": False,
		            "interval_s": (i + 1) / 100, "events": [{
		                "event": "cycles", "unit": "events",
		                **({"state": "counted", "value": 100, "low_95": 90,
		                    "high_95": 110, "estimated": True} if known
		                   else {"state": "not counted"})}]}), file=out)
	E
	with_charts gap.json
	"$upmu" report -o page.html gap.json
	cat >>page.html <<-'E'
		<script>
		const path = of => document.querySelector(
			`g[aria-label="${of}"] path`).getAttribute("d");
		const data = document.documentElement.dataset;
		data.lines = path("line").split("M").length - 1;
		data.areas = path("area").split("M").length - 1;
		data.alone = document.querySelectorAll(
			'g[aria-label="rule"][stroke-opacity] line').length;
		</script>
	E
	browse page.html
	# One of ten intervals, one of a single one, one of nine.
	[ "$(attribute lines)" = 3 ]
	[ "$(attribute areas)" = 3 ]
	[ "$(attribute alone)" = 1 ]
}

# Of -D: half of the second interval.
@test "page_has_rates_over_the_time_in_which_was_counted" {
	python3 - <<-'E'
		import json
		with open("late.json", "w") as out:
		    for i, on in enumerate((0, 0.05, 0.1, 0.1)):
		        print(json.dumps({"upmu_stat": 1, "version": "0.1.0",
		            "command": [], "metrics": [], "user_only": False,
		            "interval_s": (i + 1) / 10, "counted_s": on,
		            "events": [{"event": "cpu-clock", "unit": "ns", **(
		                {"state": "counted", "value": on * 1e9} if on
		                else {"state": "not counted"})}]}), file=out)
	E
	page_of late.json
	[ "$(grep -o '>1,000</td>' line | wc -l)" = 10 ]
	run ! grep '>500</td>' line
}

@test "page_says_what_others_and_no_scale_made_of_counts" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	changed estimates 'del r["multiplexing"]'
	page_of changed.json
	grep -q 'How sure the estimates are' dom
	run ! grep -E '<p class="note">[^<]*took turns' dom
	changed estimates 'r["no_scale"] = True
for e in r["events"]:
    for key in ("estimate", "low_95", "high_95", "slices"): e.pop(key, 0)'
	page_of changed.json
	grep -q '<td>counted in 25.0 % of the time</td>' dom
	run ! grep -E '<td>[^<]*estimated' dom
	changed compare 'r.update(no_scale=True, estimated=False,
	    time_lost_percent=9)'
	page_of changed.json
	grep -q '>Of --no-scale: ' dom
	grep -q "9.0 % of a run's time\." dom
}

@test "page_cuts_no_phases_out_of_what_stays_as_it_is" {
	python3 - <<-'E'
		import json
		for name, clock in (("even", lambda i: 0.9999 if i < 4 else 1),
		                    ("halves", lambda i: 0.9 if i < 20 else 1)):
		    with open(name + ".json", "w") as out:
		        for i in range(40):
		            print(json.dumps({"upmu_stat": 1, "version": "0.1.0",
		                "command": [], "metrics": [], "user_only": False,
		                "interval_s": (i + 1) / 100, "events": [{
		                    "event": "cpu-clock", "state": "counted",
		                    "unit": "ns", "value": 1e7 * clock(i)}]}), file=out)
	E
	page_of even.json
	grep -q '>One phase\.<' dom
	page_of halves.json
	grep -q '>2 phases, cut where the rate of cpu-clock changes' dom
}

@test "page_writes_no_change_upon_the_line_of_an_interval" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	with_charts samples/estimates.json
	changed compare 'for e in r["events"]:
	    for c in e["commands"]:
	        if "mean" in c: c["high_95"] = 1.9 * c["mean"]'
	"$upmu" report -o page.html changed.json
	cat >>page.html <<-'E'
		<script>
		const box = e => e.getBoundingClientRect();
		const lines = [...document.querySelectorAll(
			'figure g[aria-label="rule"] line')].map(box).filter(b =>
			b.width > b.height);
		const words = [...document.querySelectorAll("figure text")].filter(
			t => /%.*(faster|less|more|seen)/.test(t.textContent)).map(box);
		const on = words.filter(w => lines.some(l => l.left < w.right &&
			w.left < l.right && l.top > w.top && l.top < w.bottom));
		const data = document.documentElement.dataset;
		data.lines = lines.length;
		data.words = words.length;
		data.on = on.length;
		</script>
	E
	browse page.html
	[ "$(attribute lines)" -ge 9 ]
	[ "$(attribute words)" = 6 ]
	[ "$(attribute on)" = 0 ]
}

@test "page_turns_no_words_round_beside_a_name_that_does" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	changed compare 'r["commands"][0]["name"] = "a\u202ebc"'
	"$upmu" report -o page.html changed.json
	cat >>page.html <<-'E'
		<script>
		const words = document.querySelector("ol li code").nextSibling;
		const at = n => {
			const range = document.createRange();
			range.setStart(words, n);
			range.setEnd(words, n + 1);
			return range.getBoundingClientRect().left;
		};
		document.documentElement.dataset.forth =
			Number(at(1) < at(words.length - 1));
		</script>
	E
	browse page.html
	[ "$(attribute forth)" = 1 ]
}

# The width of A4 between chromium's margins, in CSS pixels.
@test "page_prints_no_table_beyond_the_paper" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 50
	with_charts samples/estimates.json
	"$upmu" report -o page.html samples/places/once.json samples/*.json
	sed 's/@media print/@media screen/' page.html >paper.html
	cat >>paper.html <<-'E'
		<script>
		const wide = [...document.querySelectorAll("table")].filter(t =>
			t.getBoundingClientRect().right > document.body.clientWidth);
		document.documentElement.dataset.wide = String(wide.length);
		</script>
	E
	browse paper.html --window-size=718,1000
	[ "$(grep -o '<table' dom | wc -l)" -ge 16 ]
	[ "$(attribute wide)" = 0 ]
}

@test "page_without_the_library_has_tables_and_says_what_is_missing" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 50
	python3 "$BATS_TEST_DIRNAME/merge_samples.py" ranks 3
	"$upmu" merge -j ranks/*.json >samples/merged.json
	"$upmu" report -o full.html samples/*.json
	python3 - <<-'E'
		import re
		page = open("full.html").read()
		parts = page.split("<script>")
		# data, charts, page: the middle one is the library
		open("page.html", "w").write(
		    "<script>".join([parts[0], "</script>", parts[2]]))
	E
	browse page.html
	grep -q 'built without the charting library' dom
	run ! grep -q 'data-drawn' dom
	[ "$(grep -o '<table' dom | wc -l)" -ge 16 ]
	[ "$(grep -o '<details open' dom | wc -l)" -ge 8 ]
	# Of no line, dot, box or band: there is none.
	run ! grep -oE '>[^<]*(dashed line|The dot|A box|Lines are|The band)' dom
	grep -q 'sets of events took turns' dom
}

# What a reader sees: no scripts, no marks.
words() {
	python3 -c 'import html, re, sys
text = re.sub(r"(?s)<(script|style).*?</\1>", "", sys.stdin.read())
print(html.unescape(re.sub(r"<[^>]*>", " ", text)))' <dom | tr -s ' \n' ' '
}

@test "page_shows_the_regions_that_stat_counted" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	with_charts samples/estimates.json
	python3 - <<-'E'
		import json
		stat = json.load(open('samples/estimates.json'))
		own = json.load(open('samples/regions.json'))
		for region in own['regions']:
		    calls = region.pop('calls')
		    region.pop('parent', None)
		    for event in region['events']:
		        event['calls'] = calls
		stat.update(events=[], metrics=[], regions={'passes': 2,
		    'running_percent': 87.5, 'unread': 3,
		    'missed_calls': 12, 'missed_why': 'no descriptor',
		    'regions': own['regions']})
		json.dump(stat, open('regions.json', 'w'))
	E
	page_of regions.json
	[ "$(attribute figures)" = 2 ]
	words >said
	grep -q 'cycles by region' said
	grep -q 'solve/assemble 1 10 6,000,000 600,000' said
	grep -q 'in 87.5 % of the time, in 2 runs' said
	grep -q '3 processes wrote no whole report' said
	grep -q 'could not be counted, and are missing: 12; .* no descriptor' said
	run ! grep -qE 'NaN|undefined' said
	# A region that only the second run entered has an event of its own.
	python3 - <<-'E'
		import json
		root = json.load(open('regions.json'))
		event = dict(root['regions']['regions'][0]['events'][0])
		event.update(event='r03', total=77)
		root['regions']['regions'].append(
		    {'region': 'late', 'events': [event]})
		json.dump(root, open('late.json', 'w'))
	E
	page_of late.json
	[ "$(attribute figures)" = 3 ]
	words >said
	grep -q 'r03 by region' said
	grep -q 'late 0 1 77 ' said
	sed -i 's/"unread": 3/"unread": 1/' regions.json
	page_of regions.json
	words >said
	grep -q 'A process wrote no whole report: its regions are missing' said
}

@test "page_says_what_makes_numbers_less_than_sure" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	with_charts samples/estimates.json
	python3 - <<-'E'
		import json
		stat = json.load(open('samples/estimates.json'))
		stat['metrics'] = [{'metric': 'l1d_pti', 'value': 3.5, 'unit': 'PTI',
		    'event': 'l1d_cache_refill', 'unsure': True}]
		stat['others'] = {'time_lost_percent': 12.5, 'counters_taken': 2,
		    'counters': 6}
		stat['uncounted_s'] = 0.25
		json.dump(stat, open('unsure.json', 'w'))
		event = stat['events'][2]
		stat['events'] = [{**event, 'place': f'CPU{cpu}'}
		                  for cpu in range(3)]
		json.dump(stat, open('cpus.json', 'w'))
		compare = json.load(open('samples/compare.json'))
		compare.update(estimated=True, user_only=True,
		    time_lost_percent=7.5)
		compare['commands'][1]['uncounted_s'] = 0.75
		compare['commands'][1]['max_rss_at_most'] = True
		json.dump(compare, open('turns.json', 'w'))
		with open('samples/intervals.json') as file:
		    lines = [json.loads(line) for line in file]
		lines[-1]['cpus_lost'] = '1,3'
		lines[2]['others'] = {'time_lost_percent': 12.5}
		lines[2]['model'] = {'cores': [{'core': 'cortex-a7',
		    'geometry': 'L1I 32 KiB'}]}
		next(e for e in lines[0]['events']
		     if e['event'] == 'l1d_cache_refill')['modelled'] = True
		lines.append({**lines[-1], 'events': [], 'uncounted_s': 0.5})
		with open('lost.json', 'w') as file:
		    for line in lines:
		        print(json.dumps(line), file=file)
	E
	for name in unsure cpus turns lost; do
		"$upmu" report -o page.html $name.json
		browse page.html
		words >$name.said
	done
	grep -q 'l1d_pti 3.5 (unsure)' unsure.said
	grep -q 'counters that others had 2 of 6' unsure.said
	grep -q 'had all of them 12.5 %' unsure.said
	# In the table of counts, at the plot, and in its numbers.
	for cpu in 0 1 2; do
		[ "$(grep -oF "l1d_cache_refill (CPU$cpu)" cpus.said |
			wc -l)" -ge 3 ]
	done
	grep -q 'what they counted is estimated' turns.said
	grep -q 'User mode only' turns.said
	grep -q "0.250 s of the program's processor time were not" unsure.said
	grep -q "0.750 s of B's processor time were not" turns.said
	grep -q 'the counters in up to 7.5 % of a run' turns.said
	grep -q "0.500 s of the program's processor time were not" lost.said
	grep -q 'went off meanwhile: 1,3' lost.said
	grep -q "Others had the counters in up to 12.5 % of an interval's" lost.said
	grep -q 'l1d_cache_refill (modelled) over time' lost.said
	grep -q 'modelled: a cortex-a7 (L1I 32 KiB), not silicon' lost.said
	grep -q 'max_rss of B is what upmu itself had' turns.said
}

@test "page_shows_the_other_files_beside_one_that_lacks_something" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	with_charts samples/estimates.json
	python3 - <<-'E'
		import json
		stat = json.load(open('samples/estimates.json'))
		for event in stat['events']:
		    event.pop('running_percent', None)
		json.dump(stat, open('lacks.json', 'w'))
	E
	page_of lacks.json samples/regions.json
	words >said
	grep -q 'Not shown whole' said
	grep -q 'cycles by region' said
}

@test "page_shows_rows_of_cpus_side_by_side_and_each_over_time" {
	python3 "$BATS_TEST_DIRNAME/report_samples.py" samples 10
	with_charts samples/estimates.json
	"$upmu" report -o page.html samples/places/once.json
	browse page.html --screenshot=page.png --window-size=1050,1400
	[ "$(attribute figures)" = 1 ]
	# One file: its places need no name before them.
	[ "$(grep -oE '<th[^>]*>CPU[0-3]</th>' dom | sort -u | wc -l)" = 4 ]
	# Each ratio stands beside its own CPU's count.
	grep -qE 'instructions \(CPU3\)</t[hd]>.*ipc 8<' <(tr -d '\n' <dom)
	page_of samples/places/over-time.json
	[ "$(attribute figures)" = 8 ]
	[ "$(grep -oE 'cycles \(CPU[0-3]\) over time' dom | sort -u |
		wc -l)" = 4 ]
}
