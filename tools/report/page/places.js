/* SPDX-License-Identifier: MIT */
/* Side by side: ranks, and reports of several CPUs, clusters, hosts. */
"use strict";

const upmuPlaces = (() => {
	const { ROWS_SHOWN, figure, tip, rowNames } = upmuFigure;
	const { show, percent, axisOf } = upmuData;

	const LONG = 28;

	/* How many letters at their beginning all have. */
	function sameLetters(names) {
		let n = 0;
		while (names.length > 1 && n < names[0].length &&
			names.every(name => name[n] === names[0][n]))
			n++;
		return n;
	}

	/* Long names keep their beginning, and what tells them apart. */
	function shortener(places) {
		const long = places.filter(p => p.length > LONG);
		const HEAD = 9, TAIL = LONG - HEAD - 2, LEAD = 7;
		const same = sameLetters(long) - LEAD;
		return place => {
			const from = Math.min(same, place.length - TAIL);
			if (place.length <= LONG)
				return place;
			if (from <= HEAD)
				return `${place.slice(0, LONG - 1)}…`;
			return `${place.slice(0, HEAD)}…` +
				place.slice(from, from + TAIL) +
				(from + TAIL < place.length ? "…" : "");
		};
	}

	const LETTER = 6.5, RANKS_NAMED = 12;

	/* Ranks that are files have long names: aslant where they have no room. */
	function rankAxis(names) {
		const each = Math.ceil(names.length / RANKS_NAMED);
		const ticks = names.map((_, at) => at).filter(at => at % each === 0);
		const short = shortener(names);
		const long = LETTER * Math.max(...ticks.map(at =>
			short(names[at]).length));
		const room = long < 850 / ticks.length ? 0 : 0.75 * long;
		return { marginLeft: Math.max(70, room || 8 + long / 2),
			marginRight: Math.max(20, room ? 0 : long / 2),
			marginBottom: 42 + room,
			x: { label: "rank", ticks, tickRotate: room ? -45 : 0,
				tickFormat: at => short(names[at] ?? "") } };
	}

	function rankPlot(row, names) {
		const axis = rankAxis(names);
		const list = row.values.map((value, at) =>
			({ at, value, name: names[at] })).filter(r => r.value !== null);
		return {
			height: 144 + axis.marginBottom, ...axis,
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

	/* Names of columns: in lines where they are few, else aslant. */
	function placeAxis(places, width) {
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
			textAnchor: "start", tickFormat: shortener(places),
			ticks: places.filter((_, i) =>
				i % Math.ceil(16 / each) === 0) } };
	}

	/* @section makes a place for it, where there is anything to show. */
	function heat(files, section) {
		const reports = files.filter(f => f.kind === "stat");
		const list = upmuData.cells(reports);
		const places = [...new Set(list.map(c => c.place))];
		const events = [...new Set(list.map(c => c.event))];
		if (places.length < 2)
			return;
		const to = section("Side by side");
		const rows = rowNames(events, 200);
		const width = 880 - rows.margin;
		const names = placeAxis(places, width);
		const room = width / places.length > 40;
		figure(to, "Counts by place",
			{ plotted: "Each event's largest count is 100 %: rows " +
				"compare CPUs, clusters, ranks or hosts." },
			() => ({
				height: names.marginTop + 20 + 30 * events.length,
				marginLeft: rows.margin, marginRight: 60, marginBottom: 10,
				marginTop: names.marginTop,
				x: { label: null, domain: places, axis: null },
				y: { label: null, domain: events,
					tickFormat: rows.tickFormat },
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

	return { merge, heat };
})();
