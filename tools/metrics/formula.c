// SPDX-License-Identifier: MIT
/* sum: product { +- product }; product: part { * / part }; part: a number, a
 * name, or a sum in brackets. The table's own tests read each formula. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

struct reader {
	const char *at;
	metric_get_fn *get;
	void *context;
};

static double read_sum(struct reader *r);

static char next(struct reader *r)
{
	while (*r->at == ' ')
		r->at++;
	return *r->at;
}

static double read_part(struct reader *r)
{
	const char *start;
	double value;
	char *end;

	if (next(r) == '(') {
		r->at++;
		value = read_sum(r);
		if (next(r) != ')')
			return NAN;
		r->at++;
		return value;
	}
	if (isdigit((unsigned char)*r->at)) {
		value = strtod(r->at, &end);
		r->at = end;
		return value;
	}
	start = r->at;
	while (isalnum((unsigned char)*r->at) || *r->at == '_')
		r->at++;
	return r->at == start
		       ? NAN
		       : r->get(r->context, start, (size_t)(r->at - start));
}

static double read_product(struct reader *r)
{
	double value = read_part(r);

	while (next(r) == '*' || *r->at == '/') {
		bool divides = *r->at++ == '/';
		double other = read_part(r);

		if (divides && !(other > 0 || other < 0))
			other = NAN;
		value = divides ? value / other : value * other;
	}
	return value;
}

static double read_sum(struct reader *r)
{
	double value = read_product(r);

	while (next(r) == '+' || *r->at == '-')
		value = *r->at++ == '+' ? value + read_product(r)
					: value - read_product(r);
	return value;
}

double metric_value(const struct metric_row *row, metric_get_fn *get,
		    void *context)
{
	struct reader r = { .at = row->formula,
			    .get = get,
			    .context = context };
	double value = read_sum(&r);

	return next(&r) ? NAN : value;
}

const struct metric_row *metric_row_at(size_t n)
{
	if (n < metric_ratios_n)
		return &metric_ratios[n];
	n -= metric_ratios_n;
	return n < metric_topdown_n ? &metric_topdown[n] : NULL;
}

static const char *const groups[] = { "cache",	  "branch", "tlb",
				      "frontend", "memory", "topdown" };

const char *metric_group_at(size_t n)
{
	return n < sizeof(groups) / sizeof(groups[0]) ? groups[n] : NULL;
}

static bool has_word(const char *list, const char *word, size_t length)
{
	for (size_t n; *list; list += n) {
		list += strspn(list, " ");
		n = strcspn(list, " ");
		if (n == length && !strncmp(list, word, length))
			return true;
	}
	return false;
}

bool metric_is(const struct metric_row *row, const char *word, size_t length)
{
	if (length == 3 && !strncmp(word, "all", 3))
		return true;
	return has_word(row->groups, word, length) ||
	       (strlen(row->key) == length && !strncmp(row->key, word, length));
}

unsigned int metric_slots(const struct metric_row *row,
			  const struct upmu_core *core)
{
	const char *name = upmu_core_name(core);
	size_t length = strlen(name);

	if (!row->cores[0])
		return 1;
	for (const char *at = row->cores; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (!strncmp(at, name, length) && at[length] == '=')
			return (unsigned int)strtoul(at + length + 1, NULL, 10);
	}
	return 0;
}

struct asked {
	const struct upmu_core *core;
	const struct upmu_core_kind *kind;
};

/* 1 where the core has the event: any number but NAN. */
static double is_there(void *context, const char *name, size_t length)
{
	const struct asked *asked = context;
	const struct upmu_event_row *row;

	if (length == 5 && !strncmp(name, "slots", 5))
		return 1;
	row = upmu_core_find(asked->core, name, length);
	if (!row || (asked->kind && upmu_kind_leaves_out(asked->kind, row)))
		return NAN;
	/* Not 1: a difference must not make a divisor of 0. */
	return (double)upmu_row_code(row) + 1.5;
}

/* Variant and revision of MIDR; a core that does not say it is a new one. */
static bool is_old(const struct metric_row *row,
		   const struct upmu_core_kind *kind)
{
	uint64_t midr = kind ? kind->midr : 0;

	return midr && ((midr >> 16 & 0xf0) | (midr & 0xf)) < row->before;
}

bool metric_holds(const struct metric_row *row, const struct upmu_core *core,
		  const struct upmu_core_kind *kind)
{
	struct asked asked = { .core = core, .kind = kind };

	if (row->before && !is_old(row, kind))
		return false;
	return core && metric_slots(row, core) &&
	       !isnan(metric_value(row, is_there, &asked));
}

const struct metric_row *metric_for(const char *key,
				    const struct upmu_core *core,
				    const struct upmu_core_kind *kind)
{
	const struct metric_row *row;

	for (size_t i = 0; (row = metric_row_at(i)); i++)
		if (!strcmp(row->key, key) && metric_holds(row, core, kind))
			return row;
	return NULL;
}
