/* SPDX-License-Identifier: MIT */
/* Of -I: rates over time, phases. */
"use strict";

const upmuIntervals = (() => {
	const { ROWS_SHOWN, make, table, figure, tip, titleOf, noteAll,
		command } = upmuFigure;
	const { grouped, whole, show, axisOf } = upmuData;

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
		// A line or an area of one point is none.
		const alone = rows.filter((r, i) => r.rate !== null &&
			rows[i - 1]?.rate == null && rows[i + 1]?.rate == null);
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
				// All rows: where one has no number the line ends.
				Plot.areaY(rows, { x: "at", y1: "low", y2: "high",
					fill: "var(--c0)", fillOpacity: 0.25 }),
				Plot.ruleX(alone, { x: "at", y1: "low", y2: "high",
					stroke: "var(--c0)", strokeOpacity: 0.25,
					strokeWidth: 3 }),
				Plot.dot(alone, { x: "at", y: "rate", r: 2,
					fill: "var(--c0)" }),
				Plot.lineY(rows, { x: "at", y: "rate",
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

	function drawEvent(to, file, event, parts, lead) {
		const rows = upmuData.bins(file, event);
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
			? rows.filter((_, i) =>
				i % Math.ceil(rows.length / ROWS_SHOWN) === 0) : rows;
		const title = titleOf(event) +
			(event.modelled ? " (modelled)" : "");
		figure(to, `${title} over time`, { about, plotted },
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
		const parts = lead ? upmuData.phases(upmuData.bins(file, lead))
			: [];
		for (const event of file.events)
			drawEvent(to, file, event, parts, lead);
		noteAll(to, file);
	}

	return { intervals };
})();
