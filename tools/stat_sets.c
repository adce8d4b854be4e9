// SPDX-License-Identifier: MIT
/*
 * Sets: which events are counted at the same time, opened on every target.
 *
 * perf tells how many events fit: it refuses a group that its PMU could
 * never hold. One set is switched on and off by its leader alone: members of
 * a group whose leader is off are off, also in inherited copies.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"
#include "stat_perf.h"

/* With fewer counters one for instructions would halve every set. */
#define COUNTERS_TO_SPARE_ONE 4

struct packing {
	struct stat_sets *sets;
	struct stat_events *events;
	const struct stat_target *target; /* the first one, to try on */
	const struct stat_sets_options *options;
	size_t room; /* events that fit beside the cycles */
};

static bool is_hardware(const struct stat_event *event)
{
	return event->state == STAT_COUNTED && !event->software;
}

static bool is_generic(const struct stat_event *event, uint64_t config)
{
	return is_hardware(event) && event->type == PERF_TYPE_HARDWARE &&
	       event->config == config;
}

static void refuse(struct stat_events *events, struct stat_event *event,
		   int error)
{
	event->state = STAT_NOT_SUPPORTED;
	if (!events->reason[0])
		snprintf(events->reason, sizeof(events->reason),
			 "%s cannot be counted here: %s", event->name,
			 strerror(-error));
}

static bool is_full(int error)
{
	return error == -EINVAL || error == -ENOSPC;
}

/*
 * Open what fits into one group, cycles first, to learn how much does.
 * Return the number of events left over.
 */
static size_t try_one_group(struct packing *p)
{
	int fd[STAT_SET_MAX], leader = -1;
	size_t n = 0, left = 0;

	p->room = 0;
	for (size_t i = 0; i < p->events->n; i++) {
		struct stat_event *event = &p->events->event[i];
		int one;

		if (!is_hardware(event))
			continue;
		if (n == STAT_SET_MAX) {
			left++;
			continue;
		}
		one = stat_perf_open(event, p->target, leader, false,
				     p->options->inherit);
		if (one < 0 && leader >= 0 && is_full(one)) {
			left++;
			continue;
		}
		if (one < 0) {
			refuse(p->events, event, one);
			continue;
		}
		if (leader < 0)
			leader = one;
		fd[n++] = one;
		p->room += !is_generic(event, PERF_COUNT_HW_CPU_CYCLES);
	}
	while (n)
		close(fd[--n]);
	return left;
}

static struct stat_set *new_set(struct packing *p, int turn)
{
	struct stat_sets *sets = p->sets;
	struct stat_set *set = &sets->set[sets->n++];

	*set = (struct stat_set){ .turn = turn };
	return set;
}

static void add_event(struct stat_set *set, size_t event)
{
	if (set->n < STAT_SET_MAX)
		set->event[set->n++] = event;
}

static size_t find_generic(const struct packing *p, uint64_t config)
{
	for (size_t i = 0; i < p->events->n; i++)
		if (is_generic(&p->events->event[i], config))
			return i;
	return SIZE_MAX;
}

static void pack_software(struct packing *p)
{
	struct stat_set *set = NULL;

	for (size_t i = 0; i < p->events->n; i++) {
		if (!p->events->event[i].software)
			continue;
		if (!set || set->n == STAT_SET_MAX)
			set = new_set(p, STAT_ALWAYS);
		add_event(set, i);
	}
}

static void pack_together(struct packing *p)
{
	struct stat_set *set = NULL;

	for (size_t i = 0; i < p->events->n; i++) {
		if (!is_hardware(&p->events->event[i]))
			continue;
		if (!set)
			set = new_set(p, STAT_ALWAYS);
		add_event(set, i);
	}
}

static size_t braces_size(const struct packing *p, size_t first)
{
	int braces = p->events->event[first].braces;
	size_t n = 1;

	while (braces >= 0 && first + n < p->events->n &&
	       p->events->event[first + n].braces == braces)
		n++;
	return n;
}

/* Cycles, and instructions where a counter can be spared, all the time. */
static void pack_in_turns(struct packing *p)
{
	size_t cycles = find_generic(p, PERF_COUNT_HW_CPU_CYCLES);
	size_t instructions = find_generic(p, PERF_COUNT_HW_INSTRUCTIONS);
	size_t room = p->room;
	struct stat_set *always, *set = NULL;

	if (room < COUNTERS_TO_SPARE_ONE)
		instructions = SIZE_MAX;
	if (cycles != SIZE_MAX || instructions != SIZE_MAX) {
		always = new_set(p, STAT_ALWAYS);
		if (cycles != SIZE_MAX)
			add_event(always, cycles);
		if (instructions != SIZE_MAX) {
			add_event(always, instructions);
			room--;
		}
	}
	for (size_t i = 0, unit; i < p->events->n; i += unit) {
		unit = braces_size(p, i);
		if (!set || set->n + unit > room)
			set = NULL;
		for (size_t k = i; k < i + unit; k++) {
			if (k == cycles || k == instructions ||
			    !is_hardware(&p->events->event[k]))
				continue;
			if (!set)
				set = new_set(p, (int)p->sets->turns++);
			add_event(set, k);
		}
	}
}

static int remember(struct stat_sets *sets, int fd)
{
	int *more = realloc(sets->fd, (sets->fds + 1) * sizeof(*more));

	if (!more) {
		close(fd);
		return -ENOMEM;
	}
	sets->fd = more;
	sets->fd[sets->fds++] = fd;
	return 0;
}

static int open_on_target(struct packing *p, struct stat_set *set,
			  const struct stat_target *target, int *leader)
{
	bool first = set->turn == STAT_ALWAYS || set->turn == 0;
	size_t kept = 0;

	*leader = -1;
	for (size_t i = 0; i < set->n; i++) {
		struct stat_event *event = &p->events->event[set->event[i]];
		int fd = stat_perf_open(event, target, *leader,
					p->options->on_exec && first,
					p->options->inherit);

		if (fd < 0) {
			refuse(p->events, event, fd);
			continue;
		}
		if (*leader < 0)
			*leader = fd;
		set->event[kept++] = set->event[i];
		if (remember(p->sets, fd))
			return -ENOMEM;
	}
	set->n = kept;
	return 0;
}

static int open_all(struct packing *p, size_t targets)
{
	struct stat_sets *sets = p->sets;

	for (size_t i = 0; i < sets->n; i++) {
		struct stat_set *set = &sets->set[i];

		set->leader = calloc(targets, sizeof(*set->leader));
		if (!set->leader)
			return -ENOMEM;
		for (size_t t = 0; t < targets; t++)
			if (open_on_target(p, set, &p->target[t],
					   &set->leader[t]))
				return -ENOMEM;
	}
	return 0;
}

int stat_sets_open(struct stat_sets *sets, struct stat_events *events,
		   const struct stat_target *target, size_t targets,
		   const struct stat_sets_options *options)
{
	struct packing p = { .sets = sets,
			     .events = events,
			     .target = target,
			     .options = options };
	int error;

	*sets = (struct stat_sets){ .targets = targets };
	/* Software events take at most one set more than there are events. */
	sets->set = calloc(events->n + 2, sizeof(*sets->set));
	if (!sets->set)
		return -ENOMEM;
	pack_software(&p);
	if (try_one_group(&p))
		pack_in_turns(&p);
	else
		pack_together(&p);
	error = open_all(&p, targets);
	if (error)
		stat_sets_close(sets);
	return error;
}

void stat_sets_close(struct stat_sets *sets)
{
	for (size_t i = 0; i < sets->fds; i++)
		close(sets->fd[i]);
	for (size_t i = 0; i < sets->n; i++)
		free(sets->set[i].leader);
	free(sets->fd);
	free(sets->set);
	*sets = (struct stat_sets){ 0 };
}

static int read_group(int fd, size_t n, struct stat_reading *sum)
{
	uint64_t raw[3 + STAT_SET_MAX];
	ssize_t size = (ssize_t)((3 + n) * sizeof(raw[0]));

	if (read(fd, raw, sizeof(raw)) != size || raw[0] != n)
		return -EIO;
	sum->enabled_ns += raw[1];
	sum->running_ns += raw[2];
	for (size_t i = 0; i < n; i++)
		sum->count[i] += raw[3 + i];
	return 0;
}

/** Return 0 or -EIO; *reading is left alone then. */
int stat_set_read(const struct stat_sets *sets, size_t set,
		  struct stat_reading *reading)
{
	const struct stat_set *s = &sets->set[set];
	struct stat_reading sum = { 0 };

	for (size_t t = 0; t < sets->targets; t++)
		if (s->leader[t] >= 0 && read_group(s->leader[t], s->n, &sum))
			return -EIO;
	*reading = sum;
	return 0;
}

void stat_set_switch(const struct stat_sets *sets, size_t set, bool on)
{
	const struct stat_set *s = &sets->set[set];
	unsigned long request =
		on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t t = 0; t < sets->targets; t++)
		if (s->leader[t] >= 0)
			ioctl(s->leader[t], request, 0);
}
