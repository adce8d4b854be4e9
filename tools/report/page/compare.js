/* SPDX-License-Identifier: MIT */
/* A comparison: means with their intervals, changes, verdicts. */
"use strict";

const upmuCompare = (() => {
	const { colours, make, figure, tip, rowNames, ofRuns, letter,
		noteAll } = upmuFigure;
	const { show, percent } = upmuData;

	const OF_TIMES = { less: "faster", more: "slower" };

	function verdict(row) {
		if (!row.change)
			return "";
		const { exact, verdict } = row.change;
		return exact ? "exactly" :
			row.isTime && OF_TIMES[verdict] || verdict;
	}

	/* The change is of the rounds in which both have a number. */
	function meanOf(row, report) {
		return show(row.mean, row.unit) +
			ofRuns(row.runs, report.commands[row.k]?.runs);
	}

	/* Older files say of all commands at once what the kernel allowed. */
	function allUserOnly(report) {
		return report.user_only &&
			report.commands.every(c => c.user_only ?? true);
	}

	function aboutRuns(c, report) {
		const cores = new Set(report.commands.map(one => one.cores));
		const of = c.runs_wanted ? ` of ${c.runs_wanted}` : "";
		const words = [`${c.runs}${of} run` +
			(c.runs === 1 && !of ? "" : "s")];
		if (c.failed)
			words.push(`${c.failed} failed`);
		if (c.user_only && !allUserOnly(report))
			words.push("user mode only");
		if (c.cores && cores.size > 1)
			words.push(`on ${c.cores}`);
		return " " + words.join(", ");
	}

	function compare(to, file) {
		const report = file.report, rows = upmuData.comparison(report);
		const events = [...new Set(rows.map(r => r.event))];
		const names = rowNames(events, 190);
		to.append(make("ol", { type: "A" }, ...report.commands.map(c =>
			make("li", {}, make("code", {}, c.name ?? "?"),
				aboutRuns(c, report)))));
		if (report.paired === false)
			to.append(make("p", { class: "note" },
				"Runs of different times, not in turns."));
		if (report.interrupted)
			to.append(make("p", { class: "warn" },
				"Interrupted before all rounds were done."));
		if (rows.length)
			figure(to, "Means, in percent of A's",
				{ plotted: "Lines are the 95 % intervals of the means.",
					about: "A verdict is about the change, whose " +
					"interval is in the table." },
				() => ({
					height: 56 + events.length *
						(16 + 20 * report.commands.length),
					marginLeft: names.margin, marginRight: 190,
					x: { label: "% of A", grid: true },
					y: { label: null, axis: null },
					fy: { label: null, domain: events, axis: "left",
						tickFormat: names.tickFormat },
					marks: [
						Plot.barX(rows, { fy: "event", y: "k", x: "share",
							fill: r => colours[r.k % 6],
							fillOpacity: 0.75 }),
						Plot.ruleY(rows.filter(r => r.low !== null), {
							fy: "event", y: "k", x1: "low",
							x2: "high", stroke: "var(--text)",
							strokeWidth: 2 }),
						Plot.text(rows, { fy: "event", y: "k",
							x: r => Math.max(r.share, r.high ?? 0),
							dx: 8, textAnchor: "start",
							fill: "var(--text)",
							stroke: "var(--back)", strokeWidth: 4,
							text: r => r.change ?
								`${percent(r.change.percent)} ` +
								`${verdict(r)}` : "" }),
						Plot.ruleX([0, 100], { stroke: "var(--line)" }),
						Plot.text(rows, { fy: "event", y: "k",
							x: () => 0, dx: 6, textAnchor: "start",
							fill: "var(--back)", fontWeight: "bold",
							text: r => letter(r.k) }),
						Plot.tip(rows, Plot.pointer(tip({ fy: "event",
							y: "k", x: "share", title: r =>
								`${r.command}\n${r.event}: ` +
								`${show(r.mean, r.unit)}\n` +
								`${r.runs} runs ` + (r.change ?
									`${percent(r.change.percent)} (` +
									`${percent(r.change.percent_low_95)}` +
									" to " +
									`${percent(r.change.percent_high_95)}` +
									")" : "") })))
					] }),
				["event", "command", "mean", "change", "from", "to",
					"verdict", "outliers"],
				rows.map(r => [r.event, r.command, meanOf(r, report),
					percent(r.change?.percent),
					percent(r.change?.percent_low_95),
					percent(r.change?.percent_high_95), verdict(r),
					r.outliers.map(o => `run ${o}`).join(", ")]), true);
		const none = report.events.filter(e => !events.includes(e.event));
		if (none.length)
			to.append(make("p", { class: "note" }, "Without a number, or " +
				"0 in A: " + none.map(e => e.event +
				(e.state ? ` ${e.state}` : "")).join(", ")));
		if (report.emulated)
			to.append(make("p", { class: "note" },
				"On an emulated board: counts are its emulator's."));
		if (report.estimated)
			to.append(make("p", { class: "note" }, "Sets of events took " +
				"turns in each run: what they counted is estimated."));
		noteAll(to, { ...report, user_only: allUserOnly(report) });
	}

	return { compare };
})();
