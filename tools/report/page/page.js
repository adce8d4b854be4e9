/* SPDX-License-Identifier: MIT */
/*
 * The page of upmu report: a section for each file, a figure for each thing
 * worth seeing, and below each figure its numbers as a table.
 */
"use strict";

(() => {
	const { hasPlot, make, figures } = upmuFigure;
	const data = JSON.parse(document.getElementById("data").textContent);
	const main = document.querySelector("main");

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

	const writers = { intervals: upmuIntervals.intervals,
		stat: upmuCounts.stat, compare: upmuCompare.compare,
		regions: upmuRegions.regions, merge: upmuPlaces.merge };

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
	wholeOrTold(main, () => upmuPlaces.heat(data.files, section));
	for (const file of data.files) {
		const to = section(file.name);
		wholeOrTold(to, () => writers[file.kind](to, file));
	}
	addEventListener("beforeprint", () => {
		for (const node of document.querySelectorAll("details"))
			if (node.querySelectorAll("tr").length <= 60)
				node.open = true;
	});
	document.documentElement.dataset.figures = String(figures());
	document.documentElement.dataset.ms =
		String(Math.round(performance.now()));
})();
