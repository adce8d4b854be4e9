// SPDX-License-Identifier: MIT
/* The table of values: one row per event, one cell per command. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "lib/events/text.h"

/* "cycles", "cycles:u", "cycles CPU0"; on unlike cores "cortex-a7/cycles/". */
static bool is_time(const char *name, const char *unit)
{
	static const char *const times[] = { "cycles", "cpu-cycles",
					     "cpu_cycles", "ref-cycles",
					     "bus-cycles" };
	/* A slash behind the blank is of the place's name. */
	const char *end = strpbrk(name, "/ ");
	const char *base = end && *end == '/' && end[1] ? end + 1 : name;
	size_t length = strcspn(base, ":/ ");

	if (!strcmp(unit, "s") || !strcmp(unit, "ns"))
		return true;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (strlen(times[i]) == length &&
		    !strncmp(base, times[i], length))
			return true;
	return false;
}

struct compare_event *compare_add_event(struct compare *c, const char *name,
					const char *unit)
{
	struct compare_event *more, *event;

	more = realloc(c->event, (c->events + 1) * sizeof(*more));
	if (!more)
		return NULL;
	c->event = more;
	event = &more[c->events];
	*event = (struct compare_event){ .name = strdup(name),
					 .unit = strdup(unit),
					 .is_time = is_time(name, unit),
					 .state = "" };
	if (event->name && event->unit) {
		c->events++;
		return event;
	}
	free(event->name);
	free(event->unit);
	return NULL;
}

void compare_free(struct compare *c)
{
	for (size_t i = 0; i < c->events; i++) {
		for (size_t k = 0; k < c->commands; k++)
			free(c->event[i].cell[k].value);
		free(c->event[i].name);
		free(c->event[i].unit);
	}
	for (size_t k = 0; k < c->commands; k++) {
		for (char **w = c->command[k].argv; w && *w; w++)
			free(*w);
		free(c->command[k].argv);
		free(c->command[k].name);
		free(c->command[k].status);
		free(c->command[k].cores);
	}
	free(c->event);
	free(c->reason);
}

size_t compare_rounds(const struct compare *c)
{
	size_t rounds = c->commands ? c->command[0].runs : 0;

	for (size_t k = 1; k < c->commands; k++)
		if (c->command[k].runs < rounds)
			rounds = c->command[k].runs;
	return rounds;
}

const struct compare_event *compare_find_event(const struct compare *c,
					       const char *name)
{
	for (size_t i = 0; i < c->events; i++)
		if (upmu_name_is(name, strlen(name), c->event[i].name))
			return &c->event[i];
	return NULL;
}
