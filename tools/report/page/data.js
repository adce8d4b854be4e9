/* SPDX-License-Identifier: MIT */
/*
 * From the reports of upmu to rows that can be drawn, and to numbers that can
 * be read; no drawing here.
 */
"use strict";

const upmuData = (() => {
	const BINS = 1200;	/* more points than pixels say nothing more */
	const PHASES_MAX = 12;

	/*
	 * A long series in at most BINS parts: mean, smallest and largest of
	 * each. Values are null, or end early, where nothing was counted;
	 * lengths are of the parts of intervals in which was counted.
	 */
	function bins({ times, lengths }, { values, lows, highs }) {
		const n = times.length, size = Math.max(1, Math.ceil(n / BINS));
		const rows = [];
		for (let i = 0; i < n; i += size) {
			const row = { from: i ? times[i - 1] : 0, n: 0, sum: 0,
				time: 0, low: Infinity, high: -Infinity };
			for (let j = i; j < Math.min(i + size, n); j++) {
				const long = lengths?.[j] ??
					times[j] - (j ? times[j - 1] : 0);
				row.to = times[j];
				if (values[j] == null || !(long > 0))
					continue;
				row.n++;
				row.sum += values[j];
				row.time += long;
				row.low = Math.min(row.low,
					(lows ? lows[j] ?? values[j] : values[j]) / long);
				row.high = Math.max(row.high,
					(highs ? highs[j] ?? values[j] : values[j]) / long);
			}
			row.at = (row.from + row.to) / 2;
			row.rate = row.n ? row.sum / row.time : null;
			if (!row.n)
				row.low = row.high = null;
			rows.push(row);
		}
		return rows;
	}

	/* Sums up to each row, for the spread of any part in no time. */
	function sums(rows) {
		let s = 0, q = 0, n = 0;
		const out = [{ s, q, n }];
		for (const { rate } of rows) {
			if (rate !== null) {
				s += rate;
				q += rate * rate;
				n++;
			}
			out.push({ s, q, n });
		}
		return out;
	}

	function spread(sum, a, b) {
		const n = sum[b].n - sum[a].n, s = sum[b].s - sum[a].s;
		return n ? Math.max(0, sum[b].q - sum[a].q - s * s / n) : 0;
	}

	/*
	 * Phases: the series is cut where that explains most of its spread,
	 * and the parts again, as long as a cut explains more than noise would
	 * (a penalty that grows with the logarithm of the length), and more
	 * than a change of 2 % for half of the run: a clock that is always on
	 * is no phase faster or slower.
	 */
	function phases(rows) {
		const sum = sums(rows), least = Math.max(3, rows.length >> 6);
		const diffs = rows.slice(1).map((r, i) => r.rate - rows[i].rate);
		diffs.sort((a, b) => Math.abs(a) - Math.abs(b));
		const step = Math.abs(diffs[diffs.length >> 1] || 0) / 0.954;
		const all = spread(sum, 0, rows.length);
		const { s, n } = sum[rows.length], small = n ? 0.01 * s / n : 0;
		const penalty = Math.max(3 * step * step *
			Math.log(rows.length + 1), all * 0.01, n * small * small);
		let cuts = [0, rows.length];
		while (rows.length >= 2 * least && cuts.length <= PHASES_MAX) {
			let best = { gain: penalty };
			for (let k = 1; k < cuts.length; k++) {
				const a = cuts[k - 1], b = cuts[k];
				const whole = spread(sum, a, b);
				for (let c = a + least; c <= b - least; c++) {
					const gain = whole - spread(sum, a, c) -
						spread(sum, c, b);
					if (gain > best.gain)
						best = { gain, c };
				}
			}
			if (best.c === undefined)
				break;
			cuts = [...cuts, best.c].sort((a, b) => a - b);
		}
		return cuts.slice(1).map((end, i) => ({
			phase: i + 1,
			x1: rows[cuts[i]].from,
			x2: rows[end - 1].to,
			first: cuts[i],
			end
		}));
	}

	/* Every report's events in one list for the heat map. */
	function cells(reports) {
		const list = [], taken = new Set();
		const whose = namesOf(reports);
		reports.forEach(({ name, report }, at) => {
			const file = reports.length > 1 ? `${name}, ` : "";
			for (const e of report.events) {
				const place = placeOf(file, whose[at], e);
				const cell = JSON.stringify([place, plainName(e)]);
				// An event that stands there twice: the first counts.
				if (typeof e.value !== "number" || taken.has(cell))
					continue;
				taken.add(cell);
				list.push({ event: plainName(e), value: e.value,
					unit: e.unit, place });
			}
		});
		const most = new Map();
		for (const c of list)
			most.set(c.event, Math.max(most.get(c.event) ?? 0, c.value));
		for (const c of list)
			c.share = most.get(c.event) ? c.value / most.get(c.event) : 0;
		return list;
	}

	/* On unlike cores "cortex-a7/cycles/": one row for all kinds. */
	function plainName(event) {
		const prefix = `${event.core}/`;
		return event.core && event.event.startsWith(prefix)
			? event.event.slice(prefix.length).replace("/", "")
			: event.event;
	}

	/* CPUs have a report each, or each host has a CPU of that number. */
	function namesOf(reports) {
		const cpus = reports.map(({ report }) => report.cpus);
		const one = cpu => cpu !== undefined && cpu !== "all";
		const apart = new Set(cpus.filter(one)).size ===
			cpus.filter(one).length;
		return reports.map(({ name }, at) => !one(cpus[at]) ? name :
			(apart ? "" : `${name}, `) + `CPU ${cpus[at]}`);
	}

	/* A row of -A and its like says its place; of several files, whose. */
	function placeOf(file, name, event) {
		if (event.place !== undefined)
			return file + event.place;
		return event.core ? `${name}, ${event.core}` : name;
	}

	/* A region's parent: said, or the part of its name before the last /. */
	function parentOf(region, names) {
		if (region.parent && names.has(region.parent))
			return region.parent;
		for (let at = region.region.lastIndexOf("/"); at > 0;
			at = region.region.lastIndexOf("/", at - 1))
			if (names.has(region.region.slice(0, at)))
				return region.region.slice(0, at);
		return null;
	}

	/* Boxes of an icicle: what a region counted, its parts below it. */
	function icicle(regions, event) {
		const names = new Set(regions.map(r => r.region));
		const nodes = new Map(regions.map(r => [r.region, {
			name: r.region, calls: r.calls, children: [],
			stats: r.events.find(e => e.event === event) }]));
		const roots = [];
		for (const r of regions) {
			const up = parentOf(r, names);
			(up ? nodes.get(up).children : roots).push(nodes.get(r.region));
		}
		const boxes = [];
		const put = (list, x, depth) => {
			for (const node of list) {
				const total = node.stats ? node.stats.total : 0;
				boxes.push({ ...node.stats, name: node.name, depth,
					calls: node.calls, x1: x, x2: x + total });
				if (depth < 32)
					put(node.children, x, depth + 1);
				x += total;
			}
		};
		put(roots, 0, 0);
		return boxes;
	}

	/* Rows for the bars of a comparison, in percent of the first. */
	function comparison(report) {
		const rows = [];
		for (const e of report.events) {
			const base = e.commands[0]?.mean;
			if (!(base > 0))
				continue;
			e.commands.forEach((cell, k) => {
				if (typeof cell.mean !== "number")
					return;
				rows.push({
					event: e.event, unit: e.unit, k,
					isTime: e.is_time ?? (e.unit === "s" ||
						e.unit === "ns"),
					command: report.commands[k]?.name ?? "?",
					mean: cell.mean, share: 100 * cell.mean / base,
					low: cell.low_95 == null ? null :
						100 * cell.low_95 / base,
					high: cell.high_95 == null ? null :
						100 * cell.high_95 / base,
					runs: cell.counted,
					outliers: cell.outliers ?? [],
					change: cell.change });
			});
		}
		return rows;
	}

	/* ---- numbers as people read them ------------------------------------- */

	const grouped = new Intl.NumberFormat("en",
		{ maximumSignificantDigits: 6 });
	const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

	function show(value, unit) {
		if (typeof value !== "number" || !isFinite(value))
			return "";
		if (unit === "ns")
			return `${grouped.format(value / 1e6)} ms`;
		if (unit === "s")
			return `${grouped.format(value * 1e3)} ms`;
		const text = Number.isInteger(value) ? whole.format(value)
			: grouped.format(value);
		return unit === "kB" ? `${text} kB` : text;
	}

	/*
	 * What an axis is in: a letter of SI behind a number reads as minutes
	 * beside "s" ("30m"), so times and sizes take the unit that fits, and
	 * only large counts have one.
	 */
	const scales = {
		ns: [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]],
		s: [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]],
		kB: [["GB", 1e6], ["MB", 1e3], ["kB", 1]]
	};

	function axisOf(unit, values, label) {
		const most = values.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
		const units = scales[unit];
		if (!units)
			return { label, ...most < 1e3 ? {} : { tickFormat: "~s" } };
		const [name, one] = units.find(([, size]) => most >= size) ??
			units[units.length - 1];
		return { label: name, transform: value => value / one };
	}

	const percent = x => typeof x === "number" ?
		`${x > 0 ? "+" : ""}${x.toFixed(2)}\u00a0%` : "";

	return { bins, phases, cells, icicle, comparison, grouped, whole, show,
		percent, axisOf };
})();
