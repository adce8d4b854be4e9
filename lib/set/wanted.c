// SPDX-License-Identifier: MIT
#include "lib/set/wanted.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/events/counting.h"
#include "lib/explain.h"
#include "lib/perf/perf.h"
#include "lib/sys.h"

static struct upmu_machine machine;
static pthread_mutex_t machine_lock = PTHREAD_MUTEX_INITIALIZER;
static bool machine_known;

static int know_machine(void)
{
	int ret = 0;

	pthread_mutex_lock(&machine_lock);
	if (!machine_known)
		ret = upmu_machine_read(&machine);
	machine_known = machine_known || !ret;
	pthread_mutex_unlock(&machine_lock);
	if (ret == -EMFILE || ret == -ENFILE)
		return upmu_explain_descriptors(ret, "the list of PMUs");
	if (ret)
		return upmu_explain_set(ret,
					"cannot tell the kinds of core "
					"of this machine: %s",
					upmu_machine_why(ret));
	return 0;
}

void upmu_wanted_forget_machine(void)
{
	pthread_mutex_lock(&machine_lock);
	machine_known = false;
	pthread_mutex_unlock(&machine_lock);
}

/*
 * Which kinds of core this thread may meet: -1 for "no kind known". First those
 * that it may run on now, then those that it may be sent to later.
 */
struct kinds {
	size_t n;
	size_t now;
	int kind[UPMU_PMUS_MAX];
};

/* What may be counted: one CPU, or those that the thread may run on. */
static void find_cpus(cpu_set_t *cpus, const struct upmu_options *options)
{
	CPU_ZERO(cpus);
	if (options->flags & UPMU_OPEN_CPU) {
		CPU_SET(options->cpu, cpus);
		return;
	}
	if (!upmu_sys_affinity(options->pid, cpus))
		return;
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, cpus);
}

static bool has_one_of(const struct upmu_core_kind *kind, const cpu_set_t *cpus)
{
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) &&
		    upmu_machine_kind_of_cpu(&machine, cpu) == kind)
			return true;
	return false;
}

/* Has this kind each event of the list, and counts the same by it? */
static bool serves(int kind, const struct upmu_event_list *list)
{
	size_t served = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct upmu_event *event = &list->events[i];

		served += event->kind < 0 ||
			  (event->kind == kind && event->is_supported &&
			   event->is_alike);
	}
	return served == list->n_written;
}

static bool is_of_cores(const struct upmu_event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->events[i].kind >= 0)
			return true;
	return false;
}

static void find_kinds(struct kinds *kinds, const struct upmu_event_list *list,
		       const struct upmu_options *options)
{
	bool is_bound = options->flags & (UPMU_OPEN_BOUND | UPMU_OPEN_CPU);
	cpu_set_t cpus;
	int later[UPMU_PMUS_MAX];
	size_t n_later = 0;

	kinds->n = 0;
	find_cpus(&cpus, options);
	for (size_t i = 0; i < machine.n_kinds; i++) {
		const struct upmu_core_kind *kind = &machine.kinds[i];
		bool has_pmu = kind->pmu_type != UPMU_PMU_TYPE_NONE;

		if (machine.n_kinds == 1 ||
		    (has_pmu && has_one_of(kind, &cpus)))
			kinds->kind[kinds->n++] = (int)i;
		else if (has_pmu && !is_bound && serves((int)i, list))
			later[n_later++] = (int)i;
	}
	kinds->now = kinds->n;
	if (!kinds->n)
		kinds->kind[kinds->n++] = -1;
	for (size_t i = 0; kinds->now && i < n_later; i++)
		kinds->kind[kinds->n++] = later[i];
	/* What no core counts counts wherever the thread is, each time that it
	 * is opened. */
	if (!is_of_cores(list)) {
		kinds->n = 1;
		kinds->now = kinds->now > 0;
	}
}

/* A CPU of no kind may be one that there is none of: the better reason. */
static int find_counted(struct kinds *kinds, const struct upmu_event_list *list,
			const struct upmu_options *options)
{
	find_kinds(kinds, list, options);
	if (kinds->now || !(options->flags & UPMU_OPEN_CPU))
		return 0;
	return upmu_perf_check_cpu((int)options->cpu);
}

/* "cortex-a53/l1d_cache/" is l1d_cache once all kinds are added up. */
static void copy_name(char *out, const char *name, bool added_up)
{
	const char *start = added_up ? strchr(name, '/') : NULL;
	const char *end;

	strcpy(out, name);
	if (!start || !(end = strchr(++start, '/')))
		return;
	memcpy(out, start, (size_t)(end - start));
	out += end - start;
	*out = '\0';
	if (end[1]) {
		*out++ = ':';
		strcpy(out, end + 1);
	}
}

static int explain_lack(const struct upmu_event *event)
{
	const struct upmu_core_kind *kind = &machine.kinds[event->kind];

	upmu_explain_set(-EXDEV,
			 "'%s' is no event of every CPU that this thread may "
			 "run on: %s lacks it",
			 event->name, upmu_core_name(kind->core));
	upmu_explain_hint("bind the thread to the CPUs that have it with "
			  "taskset -c LIST; upmu list shows them");
	return -EXDEV;
}

static int explain_unlike(const struct upmu_event *event)
{
	upmu_explain_set(-EXDEV,
			 "'%s' is not the same event on the kinds of CPU of "
			 "this machine: the counts cannot be added up",
			 event->name);
	upmu_explain_hint("bind the thread to CPUs of one kind with "
			  "taskset -c LIST");
	return -EXDEV;
}

/* @column: which of the set's PMUs; -1: an event of no kind, for all. */
static int place(struct upmu_wanted *wanted, const struct upmu_event *event,
		 int column)
{
	struct upmu_wanted_event *out = &wanted->events[event->position];

	if (!event->is_supported)
		return explain_lack(event);
	if (event->kind >= 0 && wanted->pmus > 1 && !event->is_alike)
		return explain_unlike(event);
	copy_name(out->name, event->name,
		  event->kind >= 0 && machine.n_kinds > 1);
	out->unit = upmu_event_unit(event);
	out->is_cycles = event->is_cycles;
	out->is_instructions = event->is_instructions;
	out->is_hardware = event->class != UPMU_EVENT_SOFTWARE;
	out->stays_0 |= upmu_event_stays_0(&machine, event);
	for (size_t pmu = 0; pmu < wanted->pmus; pmu++) {
		if (column >= 0 && pmu != (size_t)column)
			continue;
		upmu_event_to_perf(&out->perf[pmu], event, out->name);
		out->anywhere[pmu] = upmu_event_config_anywhere(event);
		out->code[pmu] = event->code;
	}
	out->n_pmus += column < 0 ? (unsigned int)wanted->pmus : 1;
	return 0;
}

static int column_of(const struct kinds *kinds, int kind)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (kinds->kind[i] == kind)
			return (int)i;
	return -1;
}

/* CORE/NAME/ asks for one kind of core, but the thread may meet others. */
static int check_complete(const struct upmu_wanted *wanted,
			  const struct upmu_event_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		size_t position = list->events[i].position;

		if (wanted->events[position].n_pmus == wanted->pmus)
			continue;
		upmu_explain_set(-EXDEV,
				 "'%s' is of one kind of CPU, and this thread "
				 "may run on others, or cannot run there",
				 list->events[i].name);
		upmu_explain_hint("bind the thread to the CPUs of that kind "
				  "with taskset -c LIST");
		return -EXDEV;
	}
	return 0;
}

/* UPMU_OPEN_USER_ONLY, for those who program registers or take a clock too. */
static int leave_kernel_out(struct upmu_wanted *wanted)
{
	for (size_t i = 0; i < wanted->size; i++)
		for (size_t pmu = 0; pmu < wanted->pmus; pmu++) {
			struct upmu_perf_event *event =
				&wanted->events[i].perf[pmu];

			if (event->exclude_user)
				return upmu_explain_set(
					-EINVAL,
					"'%s' counts the kernel, which "
					"UPMU_OPEN_USER_ONLY leaves out",
					event->name);
			event->exclude_kernel = event->exclude_hv = true;
		}
	return 0;
}

static int place_all(struct upmu_wanted *wanted,
		     const struct upmu_event_list *list,
		     const struct upmu_options *options)
{
	struct kinds kinds;
	int ret = find_counted(&kinds, list, options);

	if (ret)
		return ret;
	/* Of a large struct only what will be read. */
	memset(wanted, 0,
	       offsetof(struct upmu_wanted, events) +
		       list->n_written * sizeof(wanted->events[0]));
	wanted->size = list->n_written;
	wanted->pmus = kinds.n;
	wanted->pmus_now = kinds.now ? kinds.now : kinds.n;
	wanted->is_emulated = machine.is_emulated;
	wanted->has_filters = upmu_machine_has_filters(&machine);
	for (size_t i = 0; i < list->n; i++) {
		const struct upmu_event *event = &list->events[i];
		int column = column_of(&kinds, event->kind);

		if (event->kind >= 0 && column < 0)
			continue;
		ret = place(wanted, event, event->kind < 0 ? -1 : column);
		if (ret)
			return ret;
	}
	ret = check_complete(wanted, list);
	if (!ret && (options->flags & UPMU_OPEN_USER_ONLY))
		ret = leave_kernel_out(wanted);
	return ret;
}

static int explain_parse(int error, const struct upmu_events_error *why)
{
	upmu_explain_set(error, "%s", why->text);
	if (why->hint[0])
		upmu_explain_hint("%s", why->hint);
	return error;
}

/*
 * A list has room for a thousand events, and is wanted for each opening: one is
 * kept, as giving it back to the system each time costs more than parsing.
 */
static _Atomic(struct upmu_event_list *) spare;

static struct upmu_event_list *take_list(void)
{
	struct upmu_event_list *list = atomic_exchange(&spare, NULL);

	return list ? list : malloc(sizeof(*list));
}

static void give_back(struct upmu_event_list *list)
{
	free(atomic_exchange(&spare, list));
}

void upmu_wanted_forget_list(void)
{
	give_back(NULL);
}

int upmu_wanted_parse(struct upmu_wanted *wanted, const char *text,
		      const struct upmu_options *options)
{
	struct upmu_events_error why = { 0 };
	struct upmu_event_list *list;
	int ret;

	ret = know_machine();
	if (ret)
		return ret;
	list = take_list();
	if (!list)
		return upmu_explain_set(-ENOMEM, "out of memory");
	ret = upmu_events_parse(list, text, &machine, &why);
	if (ret == -EMFILE || ret == -ENFILE)
		ret = upmu_explain_descriptors(ret, "the PMU's events");
	else if (ret == -E2BIG)
		ret = explain_parse(-EINVAL, &why);
	else if (ret)
		ret = explain_parse(ret, &why);
	else if (list->n_written > UPMU_EVENTS_MAX)
		ret = upmu_explain_set(-EINVAL,
				       "%zu events are more than a set has "
				       "room for (%d)",
				       list->n_written, UPMU_EVENTS_MAX);
	else
		ret = place_all(wanted, list, options);
	give_back(list);
	return ret;
}

int upmu_wanted_check_emulated(const struct upmu_wanted *wanted)
{
	for (size_t i = 0; i < wanted->size; i++)
		if (wanted->is_emulated && wanted->events[i].stays_0)
			return upmu_explain_set(
				-EOPNOTSUPP,
				"'%s' would stay 0: this board is emulated, "
				"and QEMU counts cycles, instructions (with "
				"-icount) and software increments only",
				wanted->events[i].name);
	return 0;
}
