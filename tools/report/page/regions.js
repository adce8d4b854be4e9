/* SPDX-License-Identifier: MIT */
/* Regions, those inside others below them. */
"use strict";

const upmuRegions = (() => {
	const { colours, make, figure, tip } = upmuFigure;
	const { whole, show, axisOf } = upmuData;

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

	function noteMissed(to, report) {
		if (report.missed_calls)
			to.append(make("p", { class: "warn" }, "Calls that could not " +
				`be counted, and are missing: ${report.missed_calls}; the ` +
				`first: ${report.missed_why}`));
	}

	function regions(to, file) {
		const report = file.report;
		to.append(make("p", {}, `Source ${report.source ?? "none"}; the ` +
			"events were counted in " +
			`${(100 * report.running).toFixed(1)} % of the time.`));
		noteMissed(to, report);
		drawRegions(to, report.regions);
	}

	/* There calls stand beside each event, as each pass has its own. */
	function regionsOfStat(to, report) {
		to.append(make("p", {}, "The events of regions were counted in " +
			`${report.running_percent.toFixed(1)} % of the time` +
			(report.passes > 1 ? `, in ${report.passes} runs.` : ".")));
		if (report.not_counted)
			to.append(make("p", { class: "warn" }, "Not counted: " +
				report.not_counted.join(", ")));
		if (report.unread)
			to.append(make("p", { class: "warn" }, report.unread === 1
				? "A process wrote no whole report: its regions are missing."
				: `${report.unread} processes wrote no whole report: their ` +
					"regions are missing."));
		noteMissed(to, report);
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

	return { regions, regionsOfStat };
})();
