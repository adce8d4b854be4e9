// SPDX-License-Identifier: MIT
/* What has rows of its own: CPUs, cores, clusters, threads, cgroups. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/sys.h"
#include "stat.h"
#include "tools/print.h"

#define CPU "/sys/devices/system/cpu/cpu%d/"

static int out_of_memory(void)
{
	fputs("upmu stat: out of memory\n", stderr);
	return -1;
}

static struct stat_place *find_place(struct stat_report *report,
				     const char *name)
{
	for (size_t i = 0; i < report->places; i++)
		if (!strcmp(report->place[i].name, name))
			return &report->place[i];
	return NULL;
}

static struct stat_place *add_place(struct stat_report *report,
				    const char *name)
{
	size_t size = (report->places + 1) * sizeof(*report->place);
	struct stat_place *more = realloc(report->place, size);
	char *own = more ? strdup(name) : NULL;

	if (more)
		report->place = more;
	if (!own)
		return NULL;
	more += report->places++;
	*more = (struct stat_place){ .name = own };
	return more;
}

/* A place's name comes with its first target. */
static int put(struct stat_report *report, const char *name,
	       const struct engine_target *target)
{
	struct stat_place *place = find_place(report, name);
	struct engine_target *more;

	if (!place)
		place = add_place(report, name);
	if (!place)
		return out_of_memory();
	more = realloc(place->own.target, (place->own.n + 1) * sizeof(*more));
	if (!more)
		return out_of_memory();
	place->own.target = more;
	more[place->own.n++] = *target;
	return 0;
}

/*
 * Which CPUs belong together, as the kernel lists them: new name, old name.
 * Without a word of clusters a package is one, as on 32-bit kernels.
 */
static const struct level {
	const char *word;
	const char *file[3];
} levels[] = {
	[STAT_PER_CORE] = { "core",
			    { "topology/core_cpus_list",
			      "topology/thread_siblings_list" } },
	[STAT_PER_CLUSTER] = { "cluster",
			       { "topology/cluster_cpus_list",
				 "topology/package_cpus_list",
				 "topology/core_siblings_list" } },
	[STAT_PER_DIE] = { "die",
			   { "topology/die_cpus_list",
			     "topology/package_cpus_list",
			     "topology/core_siblings_list" } },
	[STAT_PER_SOCKET] = { "socket",
			      { "topology/package_cpus_list",
				"topology/core_siblings_list" } },
};

static void name_cpu(char *name, size_t size, enum stat_per per, int cpu)
{
	char path[UPMU_PATH_SIZE], list[STAT_CPU_LIST] = "";

	for (size_t i = 0; per != STAT_PER_CPU && i < 3 && !list[0]; i++) {
		if (!levels[per].file[i])
			break;
		snprintf(path, sizeof(path), CPU "%s", cpu,
			 levels[per].file[i]);
		if (upmu_sys_read_text(path, list, sizeof(list)))
			list[0] = 0;
	}
	if (list[0])
		snprintf(name, size, "%s %s", levels[per].word, list);
	else
		snprintf(name, size, "CPU%d", cpu);
}

/* A thread calls itself as it likes: no table is to be taken apart by that. */
static void name_thread(char *name, size_t size, pid_t tid)
{
	char path[UPMU_PATH_SIZE], comm[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	if (upmu_sys_read_text(path, comm, sizeof(comm)))
		snprintf(name, size, "%d", (int)tid);
	else
		snprintf(name, size, "%s-%d", plain(comm), (int)tid);
}

static int put_each(struct stat_report *report, enum stat_per per,
		    const struct engine_targets *targets)
{
	char name[STAT_CPU_LIST + sizeof("cluster ")];
	int error = 0;

	for (size_t i = 0; i < targets->n && !error; i++) {
		const struct engine_target *target = &targets->target[i];

		if (per == STAT_PER_THREAD)
			name_thread(name, sizeof(name), target->pid);
		else
			name_cpu(name, sizeof(name), per, target->cpu);
		error = put(report, name, target);
	}
	return error;
}

/* Of any other folder perf says no more than that it cannot count. */
static bool is_cgroup(int fd)
{
	struct statfs info;

	return !fstatfs(fd, &info) && (info.f_type == CGROUP2_SUPER_MAGIC ||
				       info.f_type == CGROUP_SUPER_MAGIC);
}

/* Perf's own hierarchy where each controller has one; the one of version 2
 * beside such; the only one. */
static int open_cgroup(const char *name, const char **why)
{
	static const char *const tops[] = { "/sys/fs/cgroup/perf_event",
					    "/sys/fs/cgroup/unified",
					    "/sys/fs/cgroup" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", tops[i], name);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && is_cgroup(fd))
			return fd;
		*why = fd < 0 ? strerror(errno) : "a folder of another kind";
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int no_cgroup(const char *name, const char *why)
{
	fprintf(stderr,
		"upmu stat: no cgroup '%s': %s\n"
		"hint: ls /sys/fs/cgroup\n",
		name, why);
	return -1;
}

static int put_cgroup(struct stat_report *report, const char *name,
		      const struct engine_targets *cpus)
{
	const char *why;
	int error = 0, fd;

	/* Named twice it is counted once, as a CPU is. */
	if (find_place(report, name))
		return 0;
	fd = open_cgroup(name, &why);
	if (fd < 0)
		return no_cgroup(name, why);
	for (size_t i = 0; i < cpus->n && !error; i++) {
		struct engine_target target = cpus->target[i];

		target.pid = fd;
		error = put(report, name, &target);
	}
	return error;
}

static int put_cgroups(struct stat_report *report, const char *list,
		       const struct engine_targets *cpus)
{
	char *words = strdup(list), *save, *word;
	int error = words ? 0 : out_of_memory();

	word = words ? strtok_r(words, ",", &save) : NULL;
	if (words && !word)
		error = no_cgroup(list, "it has no name");
	for (; word && !error; word = strtok_r(NULL, ",", &save))
		error = put_cgroup(report, word, cpus);
	free(words);
	return error;
}

static int make_counts(struct stat_report *report,
		       const struct engine_events *events,
		       const struct engine_targets *targets)
{
	for (size_t i = 0; i < report->places; i++) {
		struct stat_place *place = &report->place[i];

		place->targets = &place->own;
		place->count = calloc(events->n + 1, sizeof(*place->count));
		if (report->options->summary)
			place->sum = calloc(events->n + 1, sizeof(*place->sum));
		/* Its lists are large, and stay untouched. */
		place->events = calloc(1, sizeof(*place->events));
		if (!place->count || !place->events ||
		    (report->options->summary && !place->sum) ||
		    engine_events_copy(place->events, events))
			return out_of_memory();
		engine_events_keep(place->events, &place->own, targets);
	}
	return 0;
}

int stat_places_make(struct stat_report *report,
		     const struct engine_events *events,
		     const struct engine_targets *targets)
{
	const struct stat_options *options = report->options;
	int error = 0;

	for (int per = 0; per < STAT_PERS; per++)
		if (options->per[per])
			error = put_each(report, (enum stat_per)per, targets);
	if (options->cgroups)
		error = put_cgroups(report, options->cgroups, targets);
	return error || make_counts(report, events, targets) ? -1 : 0;
}

void stat_places_free(struct stat_report *report)
{
	for (size_t i = 0; i < report->places; i++) {
		struct stat_place *place = &report->place[i];

		if (report->options->cgroups && place->own.n)
			close(place->own.target[0].pid);
		if (place->events)
			engine_events_free(place->events);
		free(place->events);
		free((void *)place->name);
		free(place->own.target);
		free(place->count);
		free(place->sum);
	}
	free(report->place);
	report->place = NULL;
	report->places = 0;
}

size_t stat_parts(const struct stat_report *report)
{
	return report->places ? report->places : 1;
}

struct stat_report stat_part(const struct stat_report *report, size_t part)
{
	struct stat_report out = *report;

	if (!report->places)
		return out;
	out.events = report->place[part].events;
	out.count = report->place[part].count;
	out.place_name = report->place[part].name;
	out.spread = NULL;
	return out;
}

const char *stat_reason(const struct stat_report *report)
{
	const char *reason = "";

	for (size_t i = 0; !reason[0] && i < stat_parts(report); i++)
		reason = stat_part(report, i).events->reason;
	return reason;
}

bool stat_is_user_only(const struct stat_report *report)
{
	for (size_t i = 0; i < stat_parts(report); i++)
		if (stat_part(report, i).events->user_only)
			return true;
	return false;
}

/*
 * Intervals are estimated each by itself, so that their errors are
 * independent: the squares add up. Until they are finished low and high hold
 * them.
 */
static void add_estimate(struct estimate *to, const struct engine_count *count)
{
	const struct estimate *e = &count->estimate;

	if (!count->estimated) {
		to->total += (double)count->raw;
		return;
	}
	to->total += e->total;
	to->low += (e->total - e->low) * (e->total - e->low);
	to->high += (e->high - e->total) * (e->high - e->total);
	to->slices += e->slices;
}

void stat_sum_add(struct stat_sum *sum, const struct engine_count *count,
		  size_t events)
{
	for (size_t i = 0; i < events; i++) {
		struct engine_count *to = &sum[i].count;

		sum[i].was_wanted |= !count[i].is_idle;
		if (count[i].state != ENGINE_COUNTED) {
			if (!to->enabled_ns)
				to->state = count[i].state;
			if (count[i].state == ENGINE_NOT_COUNTED)
				sum[i].missed_ns += count[i].enabled_ns;
			continue;
		}
		to->state = ENGINE_COUNTED;
		to->raw += count[i].raw;
		to->enabled_ns += count[i].enabled_ns;
		to->running_ns += count[i].running_ns;
		to->estimated = to->estimated || count[i].estimated;
		add_estimate(&to->estimate, &count[i]);
	}
}

/*
 * An interval in which an event had no counter is missing in the sum: that is
 * extended by the time, and nobody knows how far off it is.
 */
static void add_missed(struct engine_count *count, uint64_t missed_ns)
{
	uint64_t counted_ns = count->enabled_ns;

	if (!missed_ns || !counted_ns || count->state != ENGINE_COUNTED)
		return;
	count->estimated = true;
	count->enabled_ns += missed_ns;
	count->estimate.total *= (double)count->enabled_ns / (double)counted_ns;
	count->estimate.low = (double)count->raw;
	count->estimate.high = INFINITY;
}

void stat_sum_finish(const struct stat_sum *sum, struct engine_count *count,
		     size_t events)
{
	for (size_t i = 0; i < events; i++) {
		struct estimate *e = &count[i].estimate;

		count[i] = sum[i].count;
		count[i].is_idle = !sum[i].was_wanted;
		e->low = fmax(e->total - sqrt(e->low), (double)count[i].raw);
		e->high = e->total + sqrt(e->high);
		add_missed(&count[i], sum[i].missed_ns);
	}
}

void stat_sum_up(struct stat_report *report)
{
	report->interval_s = 0;
	report->length_s = report->whole_s;
	report->others = report->others_most;
	if (!report->places)
		stat_sum_finish(report->sum, report->count, report->events->n);
	for (size_t i = 0; i < report->places; i++) {
		struct stat_place *place = &report->place[i];

		stat_sum_finish(place->sum, place->count, place->events->n);
	}
}
