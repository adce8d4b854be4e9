// SPDX-License-Identifier: MIT
/* What an event is called, here and by other tools. */
#include <ctype.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "list.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define PAPI   "PAPI_"
#define DIGITS 4 /* of a code */

static const struct upmu_event_row *by_name(const struct upmu_core *core,
					    const char *name)
{
	return upmu_core_find(core, name, strlen(name));
}

static size_t is_row(struct list_meaning *out, const struct upmu_event_row *row)
{
	out->n = row ? 1 : 0;
	out->rows[0] = row;
	out->sign[0] = '+';
	return out->n;
}

/* Fills @out with the events of "a+b-c", or the first there is of "a|b". */
static size_t take_events(const struct upmu_core *core,
			  const struct others_name *other,
			  struct list_meaning *out)
{
	const char *at = other->events, *end = at + other->events_length;
	char sign = '+';

	out->n = 0;
	while (at < end && out->n < LIST_MEANING_MOST) {
		const struct upmu_event_row *row;
		size_t n = strcspn(at, "+-| ");

		row = upmu_core_find(core, at, n);
		if (row) {
			out->sign[out->n] = sign;
			out->rows[out->n++] = row;
		}
		sign = at[n];
		if (row && sign == '|')
			break;
		at += n + 1;
		if (sign == '|')
			sign = '+';
	}
	return out->n;
}

/* LIKWID adds the counter, and says _LD and _ST as older manuals do. */
static size_t by_likwid(const struct upmu_core *core, const char *name,
			struct list_meaning *out)
{
	struct others_name other;
	char event[64];
	size_t n = strcspn(name, ":");

	if (n >= sizeof(event))
		return 0;
	memcpy(event, name, n);
	event[n] = '\0';
	if (is_row(out, by_name(core, event)))
		return 1;
	if (others_find(others_of_likwid(upmu_core_name(core)), event, n,
			&other))
		return take_events(core, &other, out);
	if (n > 3 && !strcasecmp(event + n - 3, "_LD"))
		memcpy(event + n - 3, "_rd", 3);
	else if (n > 3 && !strcasecmp(event + n - 3, "_ST"))
		memcpy(event + n - 3, "_wr", 3);
	return is_row(out, by_name(core, event));
}

/* `r1d` and `0x1d`: digits alone, and no more of them than a code has. */
static size_t by_code(const struct upmu_core *core, const char *name,
		      struct list_meaning *out)
{
	const char *digits = NULL;
	size_t n;

	if (!strncasecmp(name, "0x", 2))
		digits = name + 2;
	else if (*name == 'r' || *name == 'R')
		digits = name + 1;
	if (!digits)
		return 0;
	n = strspn(digits, "0123456789abcdefABCDEF");
	if (!n || n > DIGITS || digits[n])
		return 0;
	return is_row(out,
		      upmu_core_find_code(
			      core, (unsigned int)strtoul(digits, NULL, 16)));
}

size_t list_called(const struct upmu_core *core, const char *name,
		   struct list_meaning *out)
{
	struct others_name other;

	out->n = 0;
	if (!strncasecmp(name, PAPI, strlen(PAPI))) {
		name += strlen(PAPI);
		if (!others_find(others_of_papi(upmu_core_name(core)), name,
				 strlen(name), &other))
			return 0;
		return take_events(core, &other, out);
	}
	return by_likwid(core, name, out) ? out->n : by_code(core, name, out);
}

static size_t append(char *out, size_t size, size_t used, const char *name)
{
	int n = used < size ? snprintf(out + used, size - used, "%s%s",
				       used ? " " : "", name)
			    : 0;

	return used + (size_t)n;
}

static void append_papi(char *out, size_t size, size_t used,
			const struct upmu_core *core,
			const struct upmu_event_row *row)
{
	const char *names = others_of_papi(upmu_core_name(core));
	struct list_meaning meaning;
	struct others_name other;
	char name[32] = PAPI;

	while (others_next(&names, &other)) {
		size_t n = strlen(PAPI);

		if (take_events(core, &other, &meaning) != 1 ||
		    meaning.rows[0] != row)
			continue;
		for (size_t i = 0; i < other.name_length; i++)
			if (n < sizeof(name) - 1)
				name[n++] = (char)toupper(other.name[i]);
		name[n] = '\0';
		used = append(out, size, used, name);
	}
}

void list_other_names(char *out, size_t size, const struct upmu_core_kind *kind,
		      const struct upmu_event_row *row)
{
	const struct upmu_generic *generic;
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; (generic = upmu_hardware_at(i)); i++)
		if (upmu_kind_perf_row(kind, generic) == row)
			used = append(out, size, used, generic->name);
	append_papi(out, size, used, kind->core, row);
}

/* How much of a name says what happened, and not how far it came. */
static size_t base_length(const char *name)
{
	static const char *const tails[] = { "_retired", "_spec", "_rd", "_wr",
					     "_rw" };
	size_t n = strlen(name), i = 0;

	while (i < COUNT_OF(tails)) {
		size_t tail = strlen(tails[i]);

		if (n > tail && !strncmp(name + n - tail, tails[i], tail)) {
			n -= tail;
			i = 0;
		} else {
			i++;
		}
	}
	return n;
}

/* 'r' or 'w' where a name says reads or writes alone, else 0. */
static char direction(const char *name)
{
	for (; (name = strchr(name, '_')); name++) {
		size_t n = 1 + strcspn(name + 1, "_");

		if (n == 3 &&
		    (!strncmp(name, "_rd", n) || !strncmp(name, "_wr", n)))
			return name[1];
	}
	return 0;
}

bool list_is_near(const struct upmu_event_row *row,
		  const struct upmu_event_row *other)
{
	const char *a = upmu_row_name(row), *b = upmu_row_name(other);
	size_t n = base_length(a);
	char one = direction(a), two = direction(b);

	return row != other && n == base_length(b) && !strncmp(a, b, n) &&
	       (!one || !two || one == two);
}

const struct upmu_event_row *list_nearer(const struct upmu_core_kind *kind,
					 const struct upmu_generic *generic)
{
	/* By what the name says: loads are reads, branches are executed. */
	static const struct {
		const char *generic, *event;
	} nearer[] = {
		{ "branch-misses", "br_mis_pred_retired" },
		{ "branch-load-misses", "br_mis_pred_retired" },
		{ "branch-instructions", "br_retired" },
		{ "L1-dcache-loads", "l1d_cache_rd" },
		{ "L1-dcache-load-misses", "l1d_cache_refill_rd" },
		{ "L1-dcache-stores", "l1d_cache_wr" },
		{ "L1-dcache-store-misses", "l1d_cache_refill_wr" },
		{ "dTLB-loads", "l1d_tlb_rd" },
		{ "dTLB-load-misses", "l1d_tlb_refill_rd" },
		{ "stalled-cycles-frontend", "stall_frontend" },
		{ "stalled-cycles-backend", "stall_backend" },
	};
	const struct upmu_event_row *counted =
		upmu_kind_perf_row(kind, generic);
	const struct upmu_event_row *row;

	for (size_t i = 0; i < COUNT_OF(nearer); i++) {
		if (upmu_generic_number(upmu_hardware_find(
			    nearer[i].generic, strlen(nearer[i].generic))) !=
		    upmu_generic_number(generic))
			continue;
		row = by_name(kind->core, nearer[i].event);
		if (row)
			return row == counted ? NULL : row;
	}
	/* Where perf counts no branches, as upmu stat does without perf. */
	if (!counted && generic->type == PERF_TYPE_HARDWARE &&
	    generic->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS)
		return upmu_core_default(kind->core, UPMU_DEFAULT_BRANCHES);
	return NULL;
}

/* What a driver of before Linux @since counts; NULL: nothing. */
static bool tried_before(const struct upmu_core_kind *kind,
			 const struct upmu_generic *generic, unsigned int since,
			 struct upmu_perf_choice *out)
{
	const struct upmu_core *by = kind->driver ? kind->driver : kind->core;

	for (size_t n = 0; upmu_core_perf_choice(by, generic, n, out); n++)
		if (out->since < since)
			return true;
	return false;
}

/* Which kernel runs another machine's core is not known: what older ones count
 * is said, where that is another event. */
static void say_older(char *out, size_t size, const struct upmu_core_kind *kind,
		      const struct upmu_generic *generic, unsigned int code)
{
	unsigned int since = UINT_MAX;
	struct upmu_perf_choice tried;
	bool any;

	*out = '\0';
	if (kind->linux)
		return;
	while ((any = tried_before(kind, generic, since, &tried)) &&
	       upmu_row_code(tried.row) == code)
		since = tried.since;
	if (any)
		snprintf(out, size, ", before Linux %u.%u 0x%02x %s",
			 since >> 8, since & 0xff, upmu_row_code(tried.row),
			 upmu_row_name(tried.row));
	else if (since)
		snprintf(out, size, ", before Linux %u.%u nothing", since >> 8,
			 since & 0xff);
}

/* "; br_retired is nearer" */
static void say_nearer(char *out, size_t size,
		       const struct upmu_event_row *nearer, const char *how)
{
	size_t used = strlen(out);

	if (nearer)
		snprintf(out + used, size - used, "; %s is %s",
			 upmu_row_name(nearer), how);
}

bool list_perf_says(char *out, size_t size, const struct upmu_core_kind *kind,
		    const struct upmu_generic *generic)
{
	const struct upmu_event_row *row = upmu_kind_perf_row(kind, generic);
	const struct upmu_event_row *nearer = list_nearer(kind, generic);
	char older[64];

	*out = '\0';
	if (row && upmu_kind_leaves_out(kind, row)) {
		snprintf(out, size, "nothing: 0x%02x %s is not in this PMU",
			 upmu_row_code(row), upmu_row_name(row));
	} else if (row) {
		say_older(older, sizeof(older), kind, generic,
			  upmu_row_code(row));
		snprintf(out, size, "0x%02x %s%s", upmu_row_code(row),
			 upmu_row_name(row), older);
		say_nearer(out, size, nearer, "nearer");
	} else if (nearer) {
		snprintf(out, size, "nothing");
		say_nearer(out, size, nearer, "nearest");
	}
	return row;
}
