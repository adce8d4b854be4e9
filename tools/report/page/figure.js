/* SPDX-License-Identifier: MIT */
/*
 * What all sections are made of: a figure, and below it its numbers as a table.
 * Text comes into the page by textContent alone: a name is never markup.
 */
"use strict";

const upmuFigure = (() => {
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

	function titleOf(event) {
		const where = event.place ?? event.core;
		return where === undefined ? event.event
			: `${event.event} (${where})`;
	}

	const NAMES_MOST = 300;
	const pen = document.createElement("canvas").getContext("2d");

	function widthOf(text) {
		pen.font = "12px system-ui, sans-serif";
		return pen.measureText(text).width;
	}

	/* Too long a name keeps its end, which tells it from others. */
	function cutName(name) {
		const letters = [...name];
		let text = name;
		for (let n = letters.length - 1; n > 8 &&
			widthOf(text) > NAMES_MOST; n--)
			text = letters.slice(0, n >> 1).join("") + "…" +
				letters.slice(letters.length - (n - (n >> 1))).join("");
		return text;
	}

	/* Names of rows left of a plot, and the room that they take. */
	function rowNames(names, least) {
		return { tickFormat: cutName, margin: names.reduce((most, name) =>
			Math.max(most, 16 + widthOf(cutName(name))), least) };
	}

	const letter = k => String.fromCharCode(65 + k);

	/* What not all runs have a number of is a mean of those that have. */
	function ofRuns(known, runs) {
		return known < runs ? ` (${known} of ${runs} runs)` : "";
	}

	function byRegisters(report) {
		return report.by_registers ? "Counted by the registers " +
			"themselves: everything that ran on these CPUs is in the " +
			"numbers." : "";
	}

	function notScaled(report) {
		return report.no_scale ? "Of --no-scale: what was counted in a " +
			"part of the time is that part." : "";
	}

	function uncounted(report, whose) {
		return report.uncounted_s > 0 ?
			`${report.uncounted_s.toFixed(3)} s of ${whose} processor ` +
			"time were not counted: of a program that is set-uid, " +
			"has file capabilities or may not be read by its user, " +
			"or of the ends of its processes." : "";
	}

	const lostIs = raw => raw ? "" : ": what came in it is estimated";

	/* With what has counters of its own: others, and a model of the core. */
	function ofOthers(others, raw) {
		const lost = others?.time_lost_percent;
		return [others?.counters_taken ? `${others.counters_taken} of ` +
			`${others.counters} counters were others'.` : "",
		lost > 0 ? `Others had the counters in up to ${lost.toFixed(1)} % ` +
			`of an interval's time${lostIs(raw)}.` : ""];
	}

	function ofModel(model) {
		return [...(model?.cores ?? []).map(one => "Cache, TLB and branch " +
			`counts are modelled: a ${one.core} (${one.geometry}), ` +
			"not silicon."),
		model?.refused ? `Not emulated: ${model.refused}` : ""];
	}

	function noteAll(to, report) {
		const say = (text, kind) => to.append(make("p",
			{ class: kind }, text));
		for (const text of [byRegisters(report),
			uncounted(report, "the program's"),
			...(report.commands ?? []).map((one, k) =>
				uncounted(one, `${letter(k)}'s`)),
			...(report.commands ?? []).map((one, k) =>
				one.max_rss_at_most ? `max_rss of ${letter(k)} is what ` +
					"upmu itself had when it started it: the " +
					"program has less, or just that." : ""),
			notScaled(report),
			...ofOthers(report.others, report.no_scale),
			...ofModel(report.model)])
			if (text)
				say(text, "warn");
		if (report.time_lost_percent > 0)
			say("Others had the counters in up to " +
				`${report.time_lost_percent.toFixed(1)} % of a ` +
				`run's time${lostIs(report.no_scale)}.`, "warn");
		if (report.cpus_lost)
			say(`CPUs that went off meanwhile: ${report.cpus_lost}; ` +
				"nothing was counted there since.", "warn");
		if (report.cpus_missed)
			say(`CPUs that came on meanwhile: ${report.cpus_missed}; ` +
				"nothing was counted there.", "warn");
		if (report.user_only)
			say("User mode only: the kernel allows this user no more.",
				"note");
		for (const text of [report.reason, report.notes])
			if (text)
				say(text, "warn");
	}

	function command(to, file) {
		const words = file.report?.command ?? file.command ?? [];
		if (words.length)
			to.append(make("p", {}, make("code", {},
				words.map(w => w ?? "?").join(" "))));
	}

	return { hasPlot, colours, ROWS_SHOWN, make, table, figure, tip, titleOf,
		rowNames, ofRuns, byRegisters, uncounted, letter, noteAll, command, figures: () => figures };
})();
