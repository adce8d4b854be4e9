// SPDX-License-Identifier: MIT
#include "lib/engine/plan.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/events/counting.h"
#include "lib/explain.h"

/* Where no table knows the core (an x86-64 development machine): perf's. */
static const char generic_nine[] =
	"cycles,instructions,stalled-cycles-frontend,"
	"L1-dcache-loads,L1-dcache-load-misses,dTLB-load-misses,"
	"iTLB-load-misses,branches,branch-misses";

static int role_of_generic(const struct upmu_event *event)
{
	if (event->type != PERF_TYPE_HARDWARE)
		return -1;
	switch (event->config) {
	case PERF_COUNT_HW_CPU_CYCLES:
		return UPMU_DEFAULT_CYCLES;
	case PERF_COUNT_HW_INSTRUCTIONS:
		return UPMU_DEFAULT_INSTRUCTIONS;
	case PERF_COUNT_HW_STALLED_CYCLES_FRONTEND:
		return UPMU_DEFAULT_STALL;
	case PERF_COUNT_HW_BRANCH_INSTRUCTIONS:
		return UPMU_DEFAULT_BRANCHES;
	case PERF_COUNT_HW_BRANCH_MISSES:
		return UPMU_DEFAULT_BRANCH_MISSES;
	}
	return -1;
}

/* Which of the nine it is, whatever it was called; modifiers make it none. */
static int find_role(const struct engine_events *events,
		     const struct upmu_event *event)
{
	const struct upmu_core *core;

	if (event->modifiers)
		return -1;
	if (event->is_cycles)
		return UPMU_DEFAULT_CYCLES;
	/* The default list stands in the order of the roles. */
	if (events->nine)
		return event->position;
	if (event->kind < 0)
		return role_of_generic(event);
	core = events->machine.kinds[event->kind].core;
	for (int i = 0; core && event->row && i < UPMU_DEFAULTS; i++)
		if (upmu_core_default(core, i) == event->row)
			return i;
	return -1;
}

static int find_lane(const struct upmu_event *event)
{
	if (event->class == UPMU_EVENT_SOFTWARE ||
	    event->class == UPMU_EVENT_PMU)
		return ENGINE_NO_LANE;
	return event->kind < 0 ? 0 : event->kind;
}

/* What estimates are made from, be it of user mode alone (cycles:u). */
static enum engine_base find_base(const struct upmu_event *event)
{
	if (event->is_cycles)
		return ENGINE_BASE_CYCLES;
	return event->is_instructions ? ENGINE_BASE_INSTRUCTIONS
				      : ENGINE_BASE_NONE;
}

static bool has_base(const struct engine_events *events, int lane,
		     enum engine_base base)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].lane == lane &&
		    events->event[i].base == base)
			return true;
	return false;
}

/* As perf prints it: what is counted by ones has no unit. */
static const char *printed_unit(const struct upmu_event *event)
{
	const char *unit = upmu_event_unit(event);

	return strcmp(unit, "ns") ? "" : unit;
}

_Static_assert(sizeof(((struct engine_event *)0)->name) >=
		       sizeof(((struct upmu_event *)0)->name),
	       "a name is copied whole");

static void take(struct engine_events *events, const struct upmu_event *parsed,
		 bool hidden)
{
	struct engine_event *event = &events->event[events->n];
	bool again;

	*event = (struct engine_event){
		.unit = printed_unit(parsed),
		.parsed = parsed,
		.role = find_role(events, parsed),
		.lane = find_lane(parsed),
		.base = find_base(parsed),
		.hidden = hidden,
	};
	strcpy(event->name, parsed->name);
	event->modelled =
		parsed->class == UPMU_EVENT_CORE && parsed->row &&
		upmu_event_is_modelled(&events->machine.kinds[parsed->kind],
				       parsed->row);
	again = event->base && has_base(events, event->lane, event->base);
	events->n++;
	upmu_event_to_perf(&event->perf, parsed, event->name);
	if (again) {
		event->perf.config = upmu_event_config_anywhere(parsed);
		event->base = ENGINE_BASE_NONE;
	}
	if (event->lane >= (int)events->lanes)
		events->lanes = event->lane + 1;
	if (!parsed->is_supported)
		event->state = ENGINE_NOT_SUPPORTED;
	else if (upmu_event_stays_0(&events->machine, parsed))
		event->state = ENGINE_NOT_EMULATED;
}

static bool has_all_bases(const struct engine_events *events)
{
	for (int lane = 0; lane < (int)events->lanes; lane++)
		if (!has_base(events, lane, ENGINE_BASE_CYCLES) ||
		    !has_base(events, lane, ENGINE_BASE_INSTRUCTIONS))
			return false;
	return true;
}

/* Estimates want cycles and instructions, which the user may not have. */
static void add_hidden(struct engine_events *events)
{
	struct upmu_events_error ignored;
	size_t lanes = events->lanes;

	if (has_all_bases(events) ||
	    upmu_events_parse(&events->extra, "cycles,instructions",
			      &events->machine, &ignored))
		return;
	for (size_t i = 0; i < events->extra.n; i++) {
		const struct upmu_event *event = &events->extra.events[i];
		int lane = find_lane(event);

		if (event->is_supported && lane >= 0 && lane < (int)lanes &&
		    !has_base(events, lane, find_base(event)))
			take(events, event, true);
	}
}

static int resolve(struct engine_events *events, const char *list,
		   struct upmu_events_error *error)
{
	int ret = upmu_machine_read(&events->machine);

	if (ret) {
		events->failed = true;
		snprintf(error->text, sizeof(error->text),
			 "cannot tell this machine's cores: %s",
			 upmu_machine_why(ret));
		return ret;
	}
	if (!list && !upmu_events_default(&events->list, &events->machine))
		return 0;
	return upmu_events_parse(&events->list, list ? list : generic_nine,
				 &events->machine, error);
}

/* Of @n entries, and what estimates want of each kind of core. */
static struct engine_event *new_events(const struct engine_events *events,
				       size_t n)
{
	size_t kinds = events->machine.n_kinds;

	return calloc(n + 2 * (kinds ? kinds : 1), sizeof(*events->event));
}

int engine_events_resolve(struct engine_events *events, const char *list,
			  struct upmu_events_error *error)
{
	int ret;

	/* Not the rest: a page that nothing is written to costs nothing. */
	memset(events, 0, offsetof(struct engine_events, machine));
	memset(error, 0, sizeof(*error));
	ret = resolve(events, list, error);
	if (ret) {
		events->failed = events->failed || ret == -ENOMEM;
		return ret;
	}
	events->emulated = events->machine.is_emulated;
	events->event = new_events(events, events->list.n);
	if (!events->event) {
		events->failed = true;
		strcpy(error->text, "out of memory");
		return -ENOMEM;
	}
	events->nine = !list;
	for (size_t i = 0; i < events->list.n; i++)
		take(events, &events->list.events[i], false);
	events->nine = false;
	add_hidden(events);
	return 0;
}

/* Among the first @n? */
static bool is_there(const struct engine_events *events, size_t n,
		     const struct upmu_event *parsed)
{
	for (size_t i = 0; i < n; i++) {
		const struct upmu_event *other = events->event[i].parsed;

		if (!events->event[i].hidden && other->type == parsed->type &&
		    other->kind == parsed->kind &&
		    other->modifiers == parsed->modifiers &&
		    other->config == parsed->config &&
		    other->config1 == parsed->config1)
			return true;
	}
	return false;
}

/* Messages name an event by a pointer into its own row, which has moved. */
static void name_anew(struct engine_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		events->event[i].perf.name = events->event[i].name;
}

/* Hidden ones stand last and are made anew; the kernel's own come first. */
int engine_events_add(struct engine_events *events, const char *list,
		      struct upmu_events_error *error)
{
	struct engine_event *old = events->event;
	size_t n = events->n, first;
	int ret =
		upmu_events_parse(&events->more, list, &events->machine, error);

	if (ret) {
		events->failed = ret == -ENOMEM;
		return ret;
	}
	events->event = new_events(events, n + events->more.n);
	if (!events->event) {
		events->event = old;
		events->failed = true;
		strcpy(error->text, "out of memory");
		return -ENOMEM;
	}
	events->n = 0;
	for (size_t i = 0; i < events->more.n; i++)
		if (events->more.events[i].class == UPMU_EVENT_SOFTWARE)
			take(events, &events->more.events[i], false);
	first = events->n;
	for (size_t i = 0; i < n; i++)
		if (!old[i].hidden && !is_there(events, first, old[i].parsed))
			events->event[events->n++] = old[i];
	name_anew(events);
	for (size_t i = 0; i < events->more.n; i++)
		if (!is_there(events, events->n, &events->more.events[i]))
			take(events, &events->more.events[i], false);
	free(old);
	add_hidden(events);
	return 0;
}

int engine_events_copy(struct engine_events *to,
		       const struct engine_events *from)
{
	memcpy(to, from, offsetof(struct engine_events, list));
	to->event = calloc(from->n + 1, sizeof(*to->event));
	if (!to->event)
		return -ENOMEM;
	memcpy(to->event, from->event, from->n * sizeof(*to->event));
	name_anew(to);
	return 0;
}

void engine_events_free(struct engine_events *events)
{
	free(events->event);
	events->event = NULL;
	events->n = 0;
}

static bool serves_any(const struct engine_events *events, int lane,
		       const struct engine_targets *targets)
{
	for (size_t i = 0; i < targets->n; i++)
		if (engine_serves(events, lane, &targets->target[i]))
			return true;
	return false;
}

/* Then all stay, and are refused with the reason: no row would tell nothing. */
static bool serves_none(const struct engine_events *events,
			const struct engine_targets *here)
{
	for (size_t i = 0; i < events->n; i++)
		if (!events->event[i].hidden &&
		    serves_any(events, events->event[i].lane, here))
			return false;
	return true;
}

void engine_events_keep(struct engine_events *events,
			const struct engine_targets *here,
			const struct engine_targets *all)
{
	size_t kept = 0;

	if (serves_none(events, here))
		return;
	for (size_t i = 0; i < events->n; i++) {
		int lane = events->event[i].lane;

		if (serves_any(events, lane, here) ||
		    !serves_any(events, lane, all))
			events->event[kept++] = events->event[i];
	}
	events->n = kept;
	name_anew(events);
}

/* What helps one helps the other, whatever their names. */
static bool says_as_much(const char *reason, const char *more)
{
	const char *hint = strchr(reason, '\n'), *other = strchr(more, '\n');

	return hint && other ? !strcmp(hint, other) : !strcmp(reason, more);
}

/* Where a core has no PMU what the kernel counts may lack something else. */
void engine_refuse(struct engine_events *events, struct engine_event *event)
{
	unsigned int whose = event->lane == ENGINE_NO_LANE ? 1 : 2;
	size_t used = strlen(events->reason);
	const char *why = upmu_explain();

	event->state = ENGINE_NOT_SUPPORTED;
	if (event->hidden || events->reasons & whose)
		return;
	events->reasons |= whose;
	if (!used || !says_as_much(events->reason, why))
		snprintf(events->reason + used, sizeof(events->reason) - used,
			 "%s%s", used ? "\n" : "", why);
}

bool engine_serves(const struct engine_events *events, int lane,
		   const struct engine_target *target)
{
	const struct upmu_machine *machine = &events->machine;
	int cpu = target->cpu;

	if (cpu < 0 || lane < 0 || lane >= (int)machine->n_kinds)
		return true;
	return machine->kinds[lane].cpus[cpu / 64] >> cpu % 64 & 1;
}
