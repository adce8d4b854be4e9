// SPDX-License-Identifier: MIT
/*
 * What a lookup costs: instructions in user mode for each, counted by this
 * library itself. On board a7 (-icount) the numbers are exact; without a
 * counter of instructions it says nanoseconds instead.
 */
#include <stdio.h>
#include <string.h>

#include "lib/events/events.h"
#include "upmu.h"

static const struct upmu_counter *counter;
static struct upmu_machine machine;

static uint64_t now(void)
{
	return upmu_inline_fallback(counter);
}

struct cost {
	const char *what;
	uint64_t n, sum, most;
};

static void add(struct cost *cost, uint64_t spent)
{
	cost->n++;
	cost->sum += spent;
	if (spent > cost->most)
		cost->most = spent;
}

/* What two readings with nothing between them are apart. */
static uint64_t overhead(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 100; i++) {
		uint64_t before = now(), spent = now() - before;

		if (spent < least)
			least = spent;
	}
	return least;
}

static void print(const struct cost *cost, uint64_t reading, const char *unit)
{
	printf("%-44s %8llu mean %8llu most  %s (%llu times)\n", cost->what,
	       (unsigned long long)(cost->sum / cost->n - reading),
	       (unsigned long long)(cost->most - reading), unit,
	       (unsigned long long)cost->n);
}

static const struct upmu_event_row *volatile found;

static void look_up_own(struct cost *cost)
{
	const struct upmu_event_row *row;
	const struct upmu_core *core;

	for (size_t c = 0; (core = upmu_core_at(c)); c++)
		for (size_t i = 0; (row = upmu_core_row(core, i)); i++) {
			const char *name = upmu_row_name(row);
			size_t length = strlen(name);
			uint64_t before = now();

			found = upmu_core_find(core, name, length);
			add(cost, now() - before);
		}
}

static volatile size_t cores_with;

static void look_up_everywhere(struct cost *cost)
{
	const struct upmu_core *core, *some[3];
	const struct upmu_event_row *row;

	for (size_t c = 0; (core = upmu_core_at(c)); c++)
		for (size_t i = 0; (row = upmu_core_row(core, i)); i++) {
			const char *name = upmu_row_name(row);
			size_t length = strlen(name);
			uint64_t before = now();

			cores_with = upmu_cores_with(name, length, some, 3);
			add(cost, now() - before);
		}
}

static const struct upmu_core *volatile known;

static void look_up_midr(struct cost *cost)
{
	for (unsigned int part = 0; part < 0x1000; part++) {
		uint64_t before = now();

		known = upmu_core_by_midr(UINT64_C(0x41) << 24 | part << 4);
		add(cost, now() - before);
	}
}

static void parse(struct cost *cost, const char *text)
{
	static struct upmu_event_list list;

	for (int i = 0; i < 100; i++) {
		uint64_t before = now();

		if (upmu_events_parse(&list, text, &machine, NULL) &&
		    strcmp(text, "l1d_cach"))
			return;
		add(cost, now() - before);
	}
}

static void find_out(struct cost *cost)
{
	for (int i = 0; i < 10; i++) {
		uint64_t before = now();

		if (upmu_machine_read(&machine))
			return;
		add(cost, now() - before);
	}
}

int main(void)
{
	struct cost costs[] = {
		{ .what = "an event's name, in its core's table" },
		{ .what = "an event's name, in all tables" },
		{ .what = "a core by MIDR" },
		{ .what = "parse `cycles`" },
		{ .what = "parse four events and a group" },
		{ .what = "refuse `l1d_cach`, with its neighbours" },
		{ .what = "find out about this machine" },
	};
	const char *unit = "instructions";
	struct upmu *set;
	uint64_t reading;

	if (upmu_machine_read(&machine))
		return 1;
	if (upmu_open(&set, "instructions:u", NULL)) {
		const struct upmu_options clock = { .size = sizeof(clock),
						    .source = "clock" };

		unit = "ns";
		if (upmu_open(&set, "cycles", &clock)) {
			fprintf(stderr, "lookup: %s\n", upmu_explain());
			return 1;
		}
	}
	counter = upmu_counter_at(set, 0);
	reading = overhead();
	look_up_own(&costs[0]);
	look_up_everywhere(&costs[1]);
	look_up_midr(&costs[2]);
	parse(&costs[3], "cycles");
	parse(&costs[4], "cycles,{l1d_cache,l1d_cache_refill}:u,br_pred,cs");
	parse(&costs[5], "l1d_cach");
	find_out(&costs[6]);
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
		if (costs[i].n)
			print(&costs[i], reading, unit);
	upmu_close(set);
	return 0;
}
