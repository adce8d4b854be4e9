// SPDX-License-Identifier: MIT
/* "Did you mean": known names most like a mistyped one. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/events/events.h"
#include "lib/events/generic.h"
#include "lib/events/text.h"

#define LONGEST 48 /* no event's name is longer */

static int least(int a, int b)
{
	return a < b ? a : b;
}

/*
 * Edits (insert, leave out, replace, swap two neighbours) from one name to
 * the other; three rows of the usual matrix.
 */
static int distance(const char *a, size_t a_length, const char *b,
		    size_t b_length)
{
	uint8_t rows[3][LONGEST + 1];
	uint8_t *before = rows[0], *last = rows[1], *now = rows[2], *spare;

	for (size_t j = 0; j <= b_length; j++)
		last[j] = (uint8_t)j;
	for (size_t i = 1; i <= a_length; i++) {
		now[0] = (uint8_t)i;
		for (size_t j = 1; j <= b_length; j++) {
			int differ =
				upmu_lower(a[i - 1]) != upmu_lower(b[j - 1]);
			int best = least(last[j] + 1, now[j - 1] + 1);

			best = least(best, last[j - 1] + differ);
			if (i > 1 && j > 1 &&
			    upmu_lower(a[i - 1]) == upmu_lower(b[j - 2]) &&
			    upmu_lower(a[i - 2]) == upmu_lower(b[j - 1]))
				best = least(best, before[j - 2] + 1);
			now[j] = (uint8_t)best;
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[b_length];
}

/* The best so far, nearest first. */
struct ranking {
	const char *name;
	size_t length;
	const char **out;
	int distances[8];
	size_t n, most;
};

static void consider(struct ranking *r, const char *name)
{
	size_t length = strlen(name);
	size_t at;
	int d;

	if (length > LONGEST)
		return;
	d = distance(r->name, r->length, name, length);
	if (d > (int)(r->length + 2) / 3)
		return;
	for (at = r->n; at && r->distances[at - 1] > d; at--)
		;
	if (at == r->most)
		return;
	if (r->n < r->most)
		r->n++;
	for (size_t i = r->n - 1; i > at; i--) {
		r->out[i] = r->out[i - 1];
		r->distances[i] = r->distances[i - 1];
	}
	r->out[at] = name;
	r->distances[at] = d;
}

size_t upmu_events_nearest(const struct upmu_core *core, const char *name,
			   size_t length, const char **out, size_t n)
{
	struct ranking r = { .name = name,
			     .length = length,
			     .out = out,
			     .most = n < 8 ? n : 8 };
	const struct upmu_event_row *row;
	const char *generic;

	if (!length || length > LONGEST)
		return 0;
	for (size_t i = 0; core && (row = upmu_core_row(core, i)); i++)
		consider(&r, upmu_row_name(row));
	for (size_t i = 0; (generic = upmu_generic_name(i)); i++)
		consider(&r, generic);
	return r.n;
}

/* "it is an event of arm1136, arm1176 and 3 more": another core's. */
static bool hint_cores(char *hint, size_t size, const char *name, size_t length)
{
	const struct upmu_core *cores[3];
	size_t n = upmu_cores_with(name, length, cores, 3);
	size_t used;

	if (!n)
		return false;
	used = (size_t)snprintf(hint, size, "it is an event of %s",
				upmu_core_name(cores[0]));
	for (size_t i = 1; i < n && i < 3; i++)
		used += (size_t)snprintf(hint + used, size - used, ", %s",
					 upmu_core_name(cores[i]));
	if (n > 3)
		snprintf(hint + used, size - used, " and %zu more", n - 3);
	return true;
}

static bool hint_nearest(char *hint, size_t size, const struct upmu_core *core,
			 const char *name, size_t length)
{
	const char *near[3];
	size_t n = upmu_events_nearest(core, name, length, near, 3);
	size_t used;

	if (!n)
		return false;
	used = (size_t)snprintf(hint, size, "did you mean %s", near[0]);
	for (size_t i = 1; i < n; i++)
		used += (size_t)snprintf(hint + used, size - used, "%s%s",
					 i + 1 == n ? " or " : ", ", near[i]);
	snprintf(hint + used, size - used, "?");
	return true;
}

void upmu_hint_event(char *hint, size_t size, const struct upmu_core *core,
		     const char *name, size_t length)
{
	if (!hint_cores(hint, size, name, length) &&
	    !hint_nearest(hint, size, core, name, length))
		snprintf(hint, size,
			 "`upmu list` tells the events of this machine");
}
