/* SPDX-License-Identifier: MIT */
/* One report: counts, how sure estimates are, the machine. */
"use strict";

const upmuCounts = (() => {
	const { make, table, figure, tip, titleOf, rowNames, ofRuns,
		byRegisters, uncounted, command } = upmuFigure;
	const { grouped, show } = upmuData;

	function estimates(to, report) {
		const rows = report.events.filter(e => e.estimated &&
			e.estimate > 0).map(e => ({ ...e, name: titleOf(e),
			x1: e.low_95 == null ? 0 : 100 * e.low_95 / e.estimate,
			x2: e.high_95 == null ? null : 100 * e.high_95 / e.estimate }));
		if (!rows.length)
			return;
		const names = rowNames(rows.map(r => r.name), 200);
		const far = 10 + Math.max(120, ...rows.map(r => r.x2 ?? 0));
		const sets = report.multiplexing?.sets;
		figure(to, "How sure the estimates are",
			{ about: sets ? `${sets} sets of events took turns.` : "",
				plotted: "The dot is the estimate, the line its " +
				"95 % interval in percent of it; a dotted line: no " +
				"upper bound is known." },
			() => ({
				height: 66 + 26 * rows.length, marginLeft: names.margin,
				marginRight: 120,
				x: { label: "% of the estimate", grid: true },
				y: { label: null, domain: rows.map(r => r.name),
					tickFormat: names.tickFormat },
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

	function how(event, raw) {
		const words = [event.modelled ? "modelled" : "",
			!event.estimated ? "" : !raw ? "estimated" : "counted in " +
				`${event.running_percent.toFixed(1)} % of the time`]
			.filter(Boolean);
		return words.join(", ") ||
			(event.state === "counted" ? "counted" : "");
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
				how(e, report.no_scale),
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
		add("CPUs that came on meanwhile, uncounted",
			report.cpus_missed);
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
		for (const text of [byRegisters(report),
			uncounted(report, "the program's"),
			report.reason, report.notes])
			if (text)
				to.append(make("p", { class: "warn" }, text));
	}

	function stat(to, file) {
		command(to, file);
		counts(to, file.report);
		estimates(to, file.report);
		if (file.report.regions)
			upmuRegions.regionsOfStat(to, file.report.regions);
		machine(to, file.report);
	}

	return { stat };
})();
