/* SPDX-License-Identifier: MIT */
/**
 * metrics.h - ratios of events with a name: what they are made of, on which
 * cores, which way is better and what a bad one points to
 *
 * The rows are data (table.c, topdown.c). A row holds for a core that has each
 * event of its formula and, where the row names cores, is one of them; of rows
 * with one key the first that holds is taken.
 */
#ifndef UPMU_TOOLS_METRICS_H
#define UPMU_TOOLS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/events/events.h"

enum metric_better { METRIC_NEITHER, METRIC_LOW, METRIC_HIGH };

/**
 * struct metric_row - one ratio
 * @key: stable, in CSV and JSON
 * @groups: of -M, a blank between two
 * @formula: of mnemonics, numbers, + - * / ( ), and `slots`, which @cores has
 * @unit: "%", "PTI" (per thousand instructions) or "" (a plain number)
 * @text: what it is
 * @hint: where to look when it is bad; "" where it is neither
 * @cores: "NAME=SLOTS ...", or "" for every core that has the events
 * @source: where the formula is from
 * @before: of cores whose MIDR says an older revision alone (0x03: r0p3), as
 *          events of theirs count wrongly; 0: of all
 */
struct metric_row {
	const char *key, *groups, *formula, *unit, *text, *hint, *cores;
	const char *source;
	enum metric_better better;
	unsigned int before;
};

/** NULL from the end on. */
const struct metric_row *metric_row_at(size_t n);

/** "cache", ...; NULL from the end on. "all" is every row. */
const char *metric_group_at(size_t n);
/** Is the row of this group, or called so? */
bool metric_is(const struct metric_row *row, const char *word, size_t length);

/** The value of a name; NAN: none. */
typedef double metric_get_fn(void *context, const char *name, size_t length);

/** The formula's value; NAN where a name has none or a divisor is 0. */
double metric_value(const struct metric_row *row, metric_get_fn *get,
		    void *context);

/**
 * Issue slots of a core that @row names; 1 where it names none; 0: the core is
 * not one of them.
 */
unsigned int metric_slots(const struct metric_row *row,
			  const struct upmu_core *core);

/**
 * Does it hold for this kind of core? @kind: NULL: by @core's table alone,
 * else what this very core leaves out counts too.
 */
bool metric_holds(const struct metric_row *row, const struct upmu_core *core,
		  const struct upmu_core_kind *kind);

/** The row of its key that holds here; NULL: none. */
const struct metric_row *metric_for(const char *key,
				    const struct upmu_core *core,
				    const struct upmu_core_kind *kind);

/* The tables of rows, in the order in which they are asked. */

/* Arm's telemetry-solution, tools/topdown_tool: facts of its metric files. */
#define TELEMETRY "Arm telemetry-solution, topdown_tool metrics"

extern const struct metric_row metric_ratios[], metric_topdown[];
extern const size_t metric_ratios_n, metric_topdown_n;

#endif
