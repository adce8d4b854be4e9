/* SPDX-License-Identifier: MIT */
/*
 * The page of upmu report: a section for each file, a figure for each thing
 * worth seeing, and below each figure its numbers as a table. Text comes into
 * the page by textContent alone: a name is never markup.
 */
"use strict";

(() => {
	const data = JSON.parse(document.getElementById("data").textContent);
	const main = document.querySelector("main");
	const hasPlot = typeof Plot !== "undefined";
	const colours = [0, 1, 2, 3, 4, 5].map(i => `var(--c${i})`);
	const ROWS_SHOWN = 500;
	let figures = 0;

	function make(tag, attributes, ...children) {
		const node = document.createElement(tag);
		for (const [key, value] of Object.entries(attributes ?? {}))
			node.setAttribute(key, value);
		node.append(...children.filter(c => c !== null));
		return node;
	}

	const { grouped, whole, show, percent, axisOf } = upmuData;

	const isNumber = value => /^[-+]?[\d.,]+(\s|$)/.test(String(value));

	/* @words: columns that are not of numbers, whatever stands in them. */
	function table(head, rows, words) {
		const counts = value => !words && isNumber(value);
		const right = yes => yes ? { class: "n" } : {};
		const cell = (value, tag, attributes) =>
			make(tag, attributes, String(value ?? ""));
		const heading = (text, column) => cell(text, "th", { scope: "col",
			...right(rows.some(r => counts(r[column]))) });
		return make("div", { class: "wide", tabindex: "0", role: "region",
			"aria-label": "numbers" },
		make("table", head.length > 8 ? { class: "many" } : {},
			make("thead", {}, make("tr", {},
				...head.map(heading))),
			make("tbody", {}, ...rows.map(r => make("tr", {},
				...r.map(c => cell(c, "td", right(counts(c)))))))));
	}

	/* Where there are no plots the numbers stand open. */
	function numbers(head, rows, open) {
		const box = make("details", open || !hasPlot ? { open: "" } : {},
			make("summary", {}, "Numbers"), table(head, rows));
		return box;
	}

	/*
	 * @draw returns Plot's options; @head, @rows are the same as a table;
	 * @plotted says what the plot shows, @about what the numbers do.
	 */
	function figure(to, title, { about, plotted }, draw, head, rows, open) {
		const id = `figure-${++figures}`;
		const drawn = hasPlot && draw;
		const words = [drawn ? plotted : "", about].filter(Boolean).join(" ");
		const box = make("figure", { "aria-labelledby": id },
			make("figcaption", { id }, title));
		if (drawn) {
			const options = { marginTop: 20, marginBottom: 42, ...draw() };
			const svg = Plot.plot({
				width: 940, ariaLabel: title, ariaDescription: words,
				style: { background: "transparent", fontSize: "12px",
					color: "var(--text)", overflow: "visible" },
				...options });
			svg.setAttribute("role", "img");
			box.append(svg);
			box.dataset.drawn = "yes";
		}
		if (words)
			box.append(make("p", { class: "note" }, words));
		box.append(numbers(head, rows, open));
		to.append(box);
	}

	const tip = channels => ({ fill: "var(--back)", stroke: "var(--line)",
		...channels });

	/* ---- intervals -------------------------------------------------------- */

	function perSecond(event) {
		return event.unit === "ns" ? "ms per second" : "per second";
	}

	function rate(value, event) {
		return show(event.unit === "ns" && typeof value === "number"
			? value / 1e6 : value);
	}

	function rateAxis(event, rows) {
		const label = perSecond(event);
		return event.unit === "ns"
			? { label, transform: value => value / 1e6 }
			: axisOf("", rows.map(r => r.high), label);
	}

	function timelinePlot(event, rows, parts) {
		const known = rows.filter(r => r.rate !== null);
		return {
			height: 194, marginLeft: 70, marginTop: 32,
			x: { label: "seconds" },
			y: { ...rateAxis(event, known), grid: true, zero: true },
			marks: [
				Plot.rect(parts.filter(p => p.phase % 2), { x1: "x1",
					x2: "x2", fill: "var(--band)" }),
				parts.length > 1 ? Plot.text(parts, {
					x: p => (p.x1 + p.x2) / 2, frameAnchor: "top",
					text: p => `phase ${p.phase}`, dy: -18,
					fill: "var(--weak)" }) : null,
				Plot.areaY(known, { x: "at", y1: "low", y2: "high",
					fill: "var(--c0)", fillOpacity: 0.25 }),
				Plot.lineY(known, { x: "at", y: "rate",
					stroke: "var(--c0)", strokeWidth: 1.5 }),
				Plot.ruleY([0], { stroke: "var(--line)" }),
				Plot.tip(known, Plot.pointerX(tip({ x: "at", y: "rate",
					title: r => [`${r.from.toFixed(4)} to ` +
						`${r.to.toFixed(4)} s`,
					`${event.event}: ${show(r.sum, event.unit)}`,
					`${rate(r.rate, event)} ${perSecond(event)}`,
					`${rate(r.low, event)} to ${rate(r.high, event)}`]
						.join("\n") })))
			]
		};
	}

	function phaseRows(event, parts, rows) {
		return parts.map(p => {
			const known = rows.slice(p.first, p.end)
				.filter(r => r.rate !== null);
			const time = known.reduce((s, r) => s + r.time, 0);
			const sum = known.reduce((s, r) => s + r.sum, 0);
			return [p.phase, p.x1.toFixed(4), p.x2.toFixed(4),
				show(sum, event.unit),
				time ? rate(sum / time, event) : ""];
		});
	}

	function titleOf(event) {
		const where = event.place ?? event.core;
		return where === undefined ? event.event
			: `${event.event} (${where})`;
	}

	function drawEvent(to, file, event, parts, lead) {
		const rows = upmuData.bins(file.times, event.values, event.lows,
			event.highs);
		if (!rows.some(r => r.rate !== null)) {
			to.append(make("p", { class: "note" },
				`${titleOf(event)}: ${event.state === "counted"
					? "counted in no time"
					: `<${event.state || "not counted"}>`}`));
			return;
		}
		const joined = Math.ceil(file.times.length / rows.length);
		const plotted = [joined > 1 ? `Each point joins ${joined} ` +
			"intervals; the band is their smallest and largest." : "",
		event.lows ? "The band holds the 95 % intervals of the " +
			"estimates." : ""].filter(Boolean).join(" ");
		const about = parts.length > 1 ?
			`${parts.length} phases, cut where the rate of ` +
			`${titleOf(lead)} changes.` : "One phase.";
		const shown = rows.length > ROWS_SHOWN
			? upmuData.bins(file.times, event.values, event.lows,
				event.highs).filter((_, i) =>
				i % Math.ceil(rows.length / ROWS_SHOWN) === 0) : rows;
		figure(to, `${titleOf(event)} over time`, { about, plotted },
			() => timelinePlot(event, rows, parts),
			["phase", "from s", "to s", "count", perSecond(event)],
			phaseRows(event, parts, rows));
		to.lastChild.append(make("details", {},
			make("summary", {}, shown.length < rows.length ?
				`Points, 1 of ${Math.ceil(rows.length / shown.length)}`
				: "Points"),
			table(["from s", "to s", perSecond(event), "least", "most"],
				shown.map(r => [r.from.toFixed(4), r.to.toFixed(4),
					rate(r.rate, event), rate(r.low, event),
					rate(r.high, event)]))));
	}

	function intervals(to, file) {
		command(to, file);
		to.append(make("p", {}, `${whole.format(file.times.length)} ` +
			`interval${file.times.length === 1 ? "" : "s"} in ${grouped.format(file.times.at(-1) ?? 0)} s.`));
		const lead = file.events.find(e => e.role === "instructions" &&
			e.values.some(v => v !== null)) ?? file.events.find(e =>
			e.values.some(v => v !== null));
		const parts = lead ? upmuData.phases(upmuData.bins(file.times,
			lead.values)) : [];
		for (const event of file.events)
			drawEvent(to, file, event, parts, lead);
		noteAll(to, file);
	}

	function noteAll(to, report) {
		const say = (text, kind) => to.append(make("p",
			{ class: kind }, text));
		if (report.cpus_lost)
			say(`CPUs that went off meanwhile: ${report.cpus_lost}; ` +
				"nothing was counted there since.", "warn");
		if (report.user_only)
			say("User mode only: the kernel allows this user no more.",
				"note");
		for (const text of [report.reason, report.notes])
			if (text)
				say(text, "warn");
	}

	/* ---- one report --------------------------------------------------------- */

	function command(to, file) {
		const words = file.report?.command ?? file.command ?? [];
		if (words.length)
			to.append(make("p", {}, make("code", {},
				words.map(w => w ?? "?").join(" "))));
	}

	function estimates(to, report) {
		const rows = report.events.filter(e => e.estimated &&
			e.estimate > 0).map(e => ({ ...e, name: titleOf(e),
			x1: e.low_95 == null ? 0 : 100 * e.low_95 / e.estimate,
			x2: e.high_95 == null ? null : 100 * e.high_95 / e.estimate }));
		if (!rows.length)
			return;
		const far = 10 + Math.max(120, ...rows.map(r => r.x2 ?? 0));
		const sets = report.multiplexing?.sets ?? "several";
		figure(to, "How sure the estimates are",
			{ about: `${sets} sets of events took turns.`,
				plotted: "The dot is the estimate, the line its " +
				"95 % interval in percent of it; a dotted line: no " +
				"upper bound is known." },
			() => ({
				height: 66 + 26 * rows.length, marginLeft: 200,
				marginRight: 120,
				x: { label: "% of the estimate", grid: true },
				y: { label: null, domain: rows.map(r => r.name) },
				marks: [
					Plot.ruleX([100], { stroke: "var(--line)" }),
					Plot.ruleY(rows.filter(r => r.x2 !== null), {
						y: "name", x1: "x1", x2: "x2",
						strokeWidth: 3, stroke: "var(--c0)" }),
					Plot.ruleY(rows.filter(r => r.x2 === null), {
						y: "name", x1: "x1", x2: () => far,
						strokeWidth: 3, stroke: "var(--c0)",
						strokeDasharray: "2,6" }),
					Plot.dot(rows, { y: "name", x: () => 100, r: 4,
						fill: "var(--c1)" }),
					Plot.text(rows, { y: "name", frameAnchor: "right",
						dx: 110, textAnchor: "end",
						fill: "var(--weak)", text: r =>
							`${r.running_percent.toFixed(1)} % counted` }),
					Plot.tip(rows, Plot.pointerY(tip({ y: "name",
						x: () => 100, title: r =>
							`${r.name}\n${show(r.estimate, r.unit)}\n` +
							`${show(r.low_95, r.unit)} to ` +
							`${show(r.high_95, r.unit) || "?"}` })))
				] }),
			["event", "estimate", "low", "high", "slices", "running"],
			rows.map(r => [r.name, show(r.estimate, r.unit),
				show(r.low_95, r.unit), show(r.high_95, r.unit),
				r.slices, `${r.running_percent.toFixed(1)} %`]));
	}

	/* What not all runs have a number of is a mean of those that have. */
	function ofRuns(known, runs) {
		return known < runs ? ` (${known} of ${runs} runs)` : "";
	}

	/* Of -r a count is the runs' mean, and has a deviation. */
	function counts(to, report) {
		const several = report.runs > 1;
		const metric = e => report.metrics.filter(m =>
			m.event === e.event && m.place === e.place).map(m =>
			`${m.metric} ${grouped.format(m.value)}` +
			(m.unsure ? " (unsure)" : "")).join(", ");
		const known = e => e.values?.filter(v => v !== null).length;
		if (!report.events.length)
			return;
		to.append(table(["event", ...several
			? [`mean of ${report.runs} runs`, "deviation"] : ["count"],
		"how", "ratios"],
			report.events.map(e => [
				titleOf(e),
				typeof e.value === "number" ? show(e.value, e.unit) +
					ofRuns(known(e), report.runs) : `<${e.state}>`,
				...several ? [show(e.deviation, e.unit)] : [],
				e.state === "modelled" || e.modelled ? "modelled" :
					e.estimated ? "estimated" :
						e.state === "counted" ? "counted" : "",
				metric(e)])));
	}

	function machine(to, report) {
		const lines = [];
		const m = report.machine ?? {};
		const add = (key, value) => value === undefined ||
			value === null || value === "" || lines.push([key, value]);
		add("host", m.host);
		add("kernel", m.kernel);
		add("cores", Array.isArray(m.cores) ? m.cores.join(", ")
			: m.cores);
		add("CPUs that were counted", report.cpus);
		add("CPUs that went off meanwhile", report.cpus_lost);
		add("runs", report.runs);
		add("runs that were wanted", report.runs_wanted);
		add("runs that failed", report.failed);
		add("ended by", report.ended_by);
		for (const time of ["elapsed", "user", "sys"]) {
			const off = show(report[`${time}_deviation_s`], "s");
			add(time, show(report[`${time}_s`], "s") +
				(off && `, deviation ${off}`));
		}
		if (report.multiplexing)
			add("how", `${report.multiplexing.sets} sets of events, ` +
				(report.multiplexing.passes ? "a run for each"
					: `${report.multiplexing.slices} slices`));
		if (report.others?.counters_taken)
			add("counters that others had", `${report.others.
				counters_taken} of ${report.others.counters}`);
		if (report.others?.time_lost_percent > 0)
			add("time in which others had all of them",
				`${report.others.time_lost_percent.toFixed(1)} %`);
		add("user mode only", report.user_only ? "yes: the kernel allows "
			+ "this user no more" : "");
		for (const model of report.model?.cores ?? [])
			add("modelled counts", `${model.core}: ${model.geometry}`);
		add("not emulated", report.model?.refused);
		add("upmu", report.version);
		to.append(make("h3", {}, "The machine, and how it counted"),
			table(["what", ""], lines, true));
		for (const text of [report.reason, report.notes])
			if (text)
				to.append(make("p", { class: "warn" }, text));
	}

	function stat(to, file) {
		command(to, file);
		counts(to, file.report);
		estimates(to, file.report);
		if (file.report.regions)
			regionsOfStat(to, file.report.regions);
		machine(to, file.report);
	}

	/* ---- a comparison --------------------------------------------------------- */

	const letter = k => String.fromCharCode(65 + k);

	function verdict(row) {
		if (!row.change)
			return "";
		return row.change.exact ? "exactly" : row.change.verdict;
	}

	/* The change is of the rounds in which both have a number. */
	function meanOf(row, report) {
		return show(row.mean, row.unit) +
			ofRuns(row.runs, report.commands[row.k]?.runs);
	}

	function compare(to, file) {
		const report = file.report, rows = upmuData.comparison(report);
		const events = [...new Set(rows.map(r => r.event))];
		to.append(make("ol", { type: "A" }, ...report.commands.map(c =>
			make("li", {}, make("code", {}, c.name ?? "?"),
				` ${c.runs} run${c.runs === 1 ? "" : "s"}` +
					(c.failed ? `, ${c.failed} failed` : "")))));
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
					marginLeft: 190, marginRight: 190,
					x: { label: "% of A", grid: true },
					y: { label: null, axis: null },
					fy: { label: null, domain: events, axis: "left" },
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
		noteAll(to, report);
	}

	/* ---- regions ----------------------------------------------------------------- */

	function regionPlot(boxes, unit) {
		const deep = Math.max(...boxes.map(b => b.depth)) + 1;
		const most = Math.max(...boxes.map(b => b.x2));
		return {
			height: 66 + 34 * deep, marginLeft: 10,
			x: axisOf(unit, [most], "count, all calls"),
			y: { axis: null, domain: [deep, 0] },
			marks: [
				Plot.rect(boxes, { x1: "x1", x2: "x2", y1: "depth",
					y2: b => b.depth + 1, inset: 0.5,
					fill: b => colours[b.depth % 6], fillOpacity: 0.6,
					stroke: "var(--back)" }),
				Plot.text(boxes.filter(b => (b.x2 - b.x1) / most > 0.05), {
					x: b => (b.x1 + b.x2) / 2, y: b => b.depth + 0.5,
					fill: "var(--text)", lineWidth: 12,
					textOverflow: "ellipsis", text: "name" }),
				Plot.tip(boxes, Plot.pointer(tip({
					x: b => (b.x1 + b.x2) / 2, y: b => b.depth + 0.5,
					title: b => `${b.name}\n${show(b.total, unit)} in ` +
						`${whole.format(b.calls)} calls\n` +
						`mean ${show(b.mean, unit)}, ${show(b.min, unit)}` +
						` to ${show(b.max, unit)}` })))
			] };
	}

	function regions(to, file) {
		const report = file.report;
		to.append(make("p", {}, `Source ${report.source ?? "none"}; the ` +
			"events were counted in " +
			`${(100 * report.running).toFixed(1)} % of the time.`));
		drawRegions(to, report.regions);
	}

	/* There calls stand beside each event, as each pass has its own. */
	function regionsOfStat(to, report) {
		to.append(make("p", {}, "The events of regions were counted in " +
			`${report.running_percent.toFixed(1)} % of the time` +
			(report.passes > 1 ? `, in ${report.passes} runs.` : ".")));
		if (report.unread)
			to.append(make("p", { class: "warn" }, report.unread === 1
				? "A process wrote no whole report: its regions are missing."
				: `${report.unread} processes wrote no whole report: their ` +
					"regions are missing."));
		drawRegions(to, report.regions.map(r => ({ ...r,
			calls: r.events[0]?.calls ?? 0 })));
	}

	function drawRegions(to, list) {
		// Of several passes not each need have entered each region.
		const events = [...new Map(list.flatMap(r => r.events).map(e =>
			[e.event, e])).values()];
		for (const event of events) {
			const boxes = upmuData.icicle(list, event.event);
			figure(to, `${event.event} by region`,
				{ plotted: "A box is as wide as what all calls of its " +
					"region counted; regions inside it stand below it." },
				() => regionPlot(boxes, event.unit),
				["region", "depth", "calls", "total", "mean", "min",
					"max"],
				boxes.map(b => [b.name, b.depth, b.calls,
					show(b.total, event.unit), show(b.mean, event.unit),
					show(b.min, event.unit), show(b.max, event.unit)]));
		}
		if (!events.length)
			to.append(make("p", {}, "No region was entered."));
	}

	/* ---- ranks --------------------------------------------------------------- */

	function rankPlot(row, names) {
		const list = row.values.map((value, at) =>
			({ at, value, name: names[at] })).filter(r => r.value !== null);
		return {
			height: 186, marginLeft: 70,
			x: { label: "rank", tickFormat: at => names[at] ?? "",
				ticks: Math.min(names.length, 12) },
			y: { ...axisOf(row.unit, list.map(r => r.value), row.unit),
				grid: true, zero: true },
			marks: [
				Plot.ruleY([row.mean], { stroke: "var(--c1)",
					strokeDasharray: "4,3" }),
				Plot.dot(list, { x: "at", y: "value", r: 2.5,
					fill: "var(--c0)" }),
				Plot.tip(list, Plot.pointer(tip({ x: "at", y: "value",
					title: r => `rank ${r.name}: ` +
						show(r.value, row.unit) })))
			] };
	}

	function merge(to, file) {
		const { rows, ranks } = file.report;
		const names = ranks.map(r => String(r.rank ?? r.file));
		const counted = rows.filter(r => r.counted);
		// Of a CPU, a thread, or one of unlike cores.
		const label = r => [r.name, r.place, rows.some(o => o !== r &&
			o.kind === r.kind && o.name === r.name &&
			o.place === r.place) && r.event].filter(Boolean).join(" ");
		figure(to, `${ranks.length} ranks together`,
			{ about: "Imbalance: how far the largest is above the mean." },
			null,
			["", "sum", "mean", "smallest", "of rank", "largest",
				"of rank", "imbalance"],
			counted.map(r => [r.modelled ? `${label(r)} (modelled)` : label(r),
				show(r.sum, r.unit), show(r.mean, r.unit),
				show(r.smallest, r.unit), names[r.smallest_at],
				show(r.largest, r.unit), names[r.largest_at],
				percent(r.imbalance_percent)]), true);
		for (const row of counted)
			figure(to, `${label(row)} by rank`,
				{ plotted: "The dashed line is the mean." },
				() => rankPlot(row, names),
				["rank", label(row)],
				names.slice(0, ROWS_SHOWN).map((name, at) =>
					[name, show(row.values[at], row.unit)]));
	}

	/* ---- several reports --------------------------------------------------------- */

	/* Names of columns: in lines where they are few, else aslant. */
	function placeAxis(places, width) {
		const LETTER = 6.5, LONG = 28;
		const longest = Math.min(LONG,
			Math.max(...places.map(p => p.length)));
		const each = width / places.length;
		const words = places.flatMap(p => p.split(" ").map(w => w.length));

		if (Math.max(...words) * LETTER < each) {
			const lines = Math.ceil(longest * LETTER / (0.6 * each));
			return { marginTop: 24 + 13 * lines, axis: { anchor: "top",
				label: null, lineWidth: each / 12 } };
		}
		return { marginTop: 24 + 0.75 * LETTER * longest, axis: {
			anchor: "top", label: null, tickRotate: -45,
			textAnchor: "start", tickFormat: p => p.length > LONG ?
				`${p.slice(0, LONG - 1)}…` : p,
			ticks: places.filter((_, i) =>
				i % Math.ceil(16 / each) === 0) } };
	}

	function heat() {
		const reports = data.files.filter(f => f.kind === "stat");
		const list = upmuData.cells(reports);
		const places = [...new Set(list.map(c => c.place))];
		const events = [...new Set(list.map(c => c.event))];
		if (places.length < 2)
			return;
		const to = section("Side by side");
		const names = placeAxis(places, 680);
		const room = 680 / places.length > 40;
		figure(to, "Counts by place",
			{ plotted: "Each event's largest count is 100 %: rows " +
				"compare CPUs, clusters, ranks or hosts." },
			() => ({
				height: names.marginTop + 20 + 30 * events.length,
				marginLeft: 200, marginRight: 60, marginBottom: 10,
				marginTop: names.marginTop,
				x: { label: null, domain: places, axis: null },
				y: { label: null, domain: events },
				color: { type: "linear", scheme: "cividis",
					domain: [0, 1], label: "share of the largest",
					legend: false },
				marks: [
					Plot.axisX(names.axis),
					Plot.cell(list, { x: "place", y: "event",
						fill: "share", inset: 1 }),
					Plot.text(room ? list : [], { x: "place", y: "event",
						fill: c => c.share > 0.45 ? "#000" : "#fff",
						text: c => `${Math.round(100 * c.share)} %` }),
					Plot.tip(list, Plot.pointer(tip({ x: "place",
						y: "event", title: c => `${c.place}\n` +
							`${c.event}: ${show(c.value, c.unit)}` })))
				] }),
			["event", ...places],
			events.map(e => [e, ...places.map(p => {
				const c = list.find(x => x.event === e && x.place === p);
				return c ? show(c.value, c.unit) : "";
			})]));
	}

	function section(title) {
		const id = `s${main.children.length}`;
		const node = make("section", { "aria-labelledby": id },
			make("h2", { id }, title));
		main.append(node);
		return node;
	}

	function notes() {
		if (!hasPlot)
			main.append(make("p", { class: "warn" }, "Tables only: this " +
				"upmu was built without the charting library. Build it " +
				"with -Dcharts=enabled (docs/report.md) for the plots."));
		for (const text of data.problems)
			main.append(make("p", { class: "warn" }, text));
	}

	const writers = { intervals, stat, compare, regions, merge };

	/* What one file lacks is no reason to show none of the others. */
	function wholeOrTold(to, draw) {
		try {
			draw();
		} catch (error) {
			to.append(make("p", { class: "warn" }, "Not shown whole, as " +
				`something in it is not as upmu writes it: ${error.message}`));
		}
	}

	notes();
	wholeOrTold(main, heat);
	for (const file of data.files) {
		const to = section(file.name);
		wholeOrTold(to, () => writers[file.kind](to, file));
	}
	addEventListener("beforeprint", () => {
		for (const node of document.querySelectorAll("details"))
			if (node.querySelectorAll("tr").length <= 60)
				node.open = true;
	});
	document.documentElement.dataset.figures = String(figures);
	document.documentElement.dataset.ms =
		String(Math.round(performance.now()));
})();
