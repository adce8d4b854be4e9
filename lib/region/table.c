// SPDX-License-Identifier: MIT
/*
 * All regions and threads of the process. Each thread has a set, a
 * stack of the regions it is in, and a cell for each region; only the thread
 * writes these, so that begin and end take no lock. A report adds up the cells
 * of all threads, those that ended included.
 */
#include "lib/region/live.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/set/options.h"
#include "lib/set/registry.h"
#include "lib/set/set.h"

#define DEFAULT_EVENTS	  "cycles,instructions"
#define CALIBRATION_CALLS 32

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	pthread_key_t key;
	bool has_key;
	struct upmu_region *regions[UPMU_REGIONS_MAX];
	size_t n;
	struct upmu_region_thread *threads;
	/* What threads that ended left: counts and times. */
	struct upmu_cell ended[UPMU_REGIONS_MAX];
	uint64_t ended_enabled_ns, ended_running_ns;
	/* Known once a thread has begun a region; in a child anew. */
	bool is_calibrated;
	size_t events;
	const char *source;
	char event_names[UPMU_REGION_EVENTS_MAX][UPMU_NAME_SIZE];
	const char *units[UPMU_REGION_EVENTS_MAX];
	uint64_t overhead[UPMU_REGION_EVENTS_MAX];
	/* From upmu_regions_init() or the environment, of all threads. */
	bool is_chosen;
	char *list;
	char *wanted_source;
	struct upmu_options options;
} all = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.once = PTHREAD_ONCE_INIT,
};

_Thread_local struct upmu_region_thread *upmu_region_self;

/* Whoever looks at no error is to know that the report lacks something. */
static atomic_uint missed;
static char why[160];
static atomic_bool is_told, is_there;

int upmu_region_missed(int error)
{
	upmu_explain_done(error);
	atomic_fetch_add(&missed, 1);
	if (atomic_exchange(&is_told, true))
		return error;
	snprintf(why, sizeof(why), "%.*s", (int)strcspn(upmu_explain(), "\n"),
		 upmu_explain());
	atomic_store(&is_there, true);
	return error;
}

static void forget_missed(void)
{
	atomic_store(&missed, 0);
	atomic_store(&is_there, false);
	atomic_store(&is_told, false);
}

/* Nobody is cancelled who holds it: returns what unlock_all() takes. */
static int lock_all(void)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&all.lock);
	return cancel_state;
}

static void unlock_all(int cancel_state)
{
	pthread_mutex_unlock(&all.lock);
	pthread_setcancelstate(cancel_state, NULL);
}

static void add_times(struct upmu *set, uint64_t *enabled, uint64_t *running)
{
	struct upmu_value values[UPMU_REGION_EVENTS_MAX];

	if (!set || upmu_read(set, values, upmu_size(set)))
		return;
	*enabled += values[0].enabled_ns;
	*running += values[0].running_ns;
}

static void unlink_thread(struct upmu_region_thread *thread)
{
	struct upmu_region_thread **link = &all.threads;

	while (*link && *link != thread)
		link = &(*link)->next;
	if (*link)
		*link = thread->next;
}

static void end_thread(void *argument)
{
	struct upmu_region_thread *thread = argument;

	pthread_mutex_lock(&all.lock);
	upmu_region_add_thread(all.ended, thread, all.n);
	add_times(thread->set, &all.ended_enabled_ns, &all.ended_running_ns);
	unlink_thread(thread);
	pthread_mutex_unlock(&all.lock);
	upmu_close(thread->set);
	free(thread);
	upmu_region_self = NULL;
}

/* A plugin may have the library in itself: dlclose(), too, runs what atexit(3)
 * was given there, and takes end_thread() away from threads that go on. */
static void forget_ends(void)
{
	int cancel_state = lock_all();

	if (all.has_key)
		pthread_key_delete(all.key);
	all.has_key = false;
	unlock_all(cancel_state);
}

static void start(void)
{
	atexit(forget_ends);
	atexit(upmu_regions_at_exit);
}

/* There are 1,024 keys in a process, and the one of number 0 is another's. */
static int make_key(void)
{
	int error = 0;

	if (!all.has_key)
		error = pthread_key_create(&all.key, end_thread);
	if (error)
		return upmu_explain_set(-error,
					"nothing would tell when this thread "
					"ends: pthread_key_create() fails");
	all.has_key = true;
	return 0;
}

static void clear_cells(struct upmu_region_thread *thread)
{
	memset(thread->cells, 0, sizeof(thread->cells));
	for (size_t i = 0; i < UPMU_REGIONS_MAX; i++)
		for (size_t k = 0; k < UPMU_REGION_EVENTS_MAX; k++)
			thread->cells[i].events[k].large_min = UINT64_MAX;
}

/*
 * The least that an empty pair ever counts is what each pair costs. Called as
 * a program calls them, with nothing between: an end fails, too, where its
 * begin did, and both are one call that is missed.
 */
static void calibrate(const struct upmu_region_thread *thread,
		      uint64_t *overhead)
{
	static struct upmu_region nothing = {
		.name = "calibration",
		.cell = offsetof(struct upmu_region_thread, cells[0]),
	};
	const struct live_cell *cell = &thread->cells[nothing.id];
	unsigned int failed = 0;

	for (int i = 0; i < CALIBRATION_CALLS; i++) {
		upmu_region_begin(&nothing);
		failed += upmu_region_end(&nothing) != 0;
	}
	/* These are nobody's calls. */
	if (failed && atomic_fetch_sub(&missed, failed) == failed)
		forget_missed();
	for (size_t i = 0; cell->calls && i < thread->events; i++) {
		struct upmu_tally tally;

		upmu_region_fold(&tally, &cell->events[i]);
		overhead[i] = tally.min;
	}
}

/* By system calls, where the pages that a user may map are used up, a pair
 * costs fifty times as much. */
static void calibrate_another(struct upmu_region_thread *thread)
{
	uint64_t overhead[UPMU_REGION_EVENTS_MAX];

	if (upmu_source(thread->set) == all.source)
		return;
	memcpy(overhead, all.overhead, sizeof(overhead));
	calibrate(thread, overhead);
	for (size_t i = 0; i < thread->events; i++)
		thread->dearer[i] = (int64_t)(overhead[i] - all.overhead[i]);
	clear_cells(thread);
}

static void describe(struct upmu_region_thread *thread)
{
	all.events = thread->events;
	all.source = upmu_source(thread->set);
	for (size_t i = 0; i < thread->events; i++) {
		strcpy(all.event_names[i], upmu_event_name(thread->set, i));
		all.units[i] = upmu_unit(thread->set, i);
	}
}

static void forget_choice(void)
{
	free(all.list);
	free(all.wanted_source);
	all.list = NULL;
	all.wanted_source = NULL;
	all.options = (struct upmu_options){ 0 };
}

/* Empty is as good as unset: a shell sets it so for one command. */
static const char *from_environment(const char *name, const char *otherwise)
{
	const char *value = secure_getenv(name);

	return value && value[0] ? value : otherwise;
}

/* What was not chosen is the environment's, as it is now: a program may clear
 * it later, and its next thread is to count the same. */
static int choose_rest(void)
{
	const char *source = from_environment("UPMU_SOURCE", NULL);

	if (!all.list)
		all.list =
			strdup(from_environment("UPMU_EVENTS", DEFAULT_EVENTS));
	if (!all.wanted_source && source)
		all.wanted_source = strdup(source);
	if (all.list && (all.wanted_source || !source))
		return 0;
	return upmu_explain_set(-ENOMEM, "out of memory");
}

/* A process may have lost a right since, or its perf: what is then counted of
 * user mode alone, or by a clock, is not to be added to the rest. */
static int check_alike(const struct upmu_region_thread *thread)
{
	for (size_t i = 0; all.is_calibrated && i < thread->events; i++) {
		const char *name = upmu_event_name(thread->set, i);
		const char *unit = upmu_unit(thread->set, i);

		if (!strcmp(name, all.event_names[i]) &&
		    !strcmp(unit, all.units[i]))
			continue;
		upmu_explain_set(-EXDEV,
				 "this thread can count '%s' (%s), and the "
				 "regions so far are of '%s' (%s)",
				 name, unit, all.event_names[i], all.units[i]);
		upmu_explain_hint("count the same from the start: UPMU_EVENTS= "
				  "or upmu_regions_init()");
		return -EXDEV;
	}
	return 0;
}

static int open_set(struct upmu_region_thread *thread)
{
	struct upmu_options options = all.options;
	int ret;

	options.size = sizeof(options);
	options.source = all.wanted_source;
	ret = upmu_open(&thread->set, all.list, &options);
	if (ret)
		return ret;
	thread->events = upmu_size(thread->set);
	if (thread->events > UPMU_REGION_EVENTS_MAX)
		ret = upmu_explain_set(
			-EINVAL, "regions count %d events at most, not %zu",
			UPMU_REGION_EVENTS_MAX, thread->events);
	else
		ret = check_alike(thread);
	if (ret)
		upmu_close(thread->set);
	return ret;
}

/* Opened, and closed when the thread ends. */
static int open_thread(struct upmu_region_thread *thread)
{
	int ret = make_key();

	if (!ret && !all.is_chosen)
		ret = choose_rest();
	if (!ret)
		ret = open_set(thread);
	if (ret || !pthread_setspecific(all.key, thread))
		return ret;
	upmu_close(thread->set);
	return upmu_explain_set(-ENOMEM, "out of memory");
}

/* With all.lock held. */
static int make_thread(struct upmu_region_thread **out)
{
	struct upmu_region_thread *thread = calloc(1, sizeof(*thread));
	int ret;

	if (!thread)
		return upmu_explain_set(-ENOMEM, "out of memory");
	ret = open_thread(thread);
	if (ret) {
		free(thread);
		return ret;
	}
	all.is_chosen = true;
	thread->counters = upmu_counter_at(thread->set, 0);
	thread->top = &thread->frames[1];
	clear_cells(thread);
	upmu_region_self = thread;
	if (!all.is_calibrated) {
		describe(thread);
		calibrate(thread, all.overhead);
		clear_cells(thread);
		all.is_calibrated = true;
	} else {
		calibrate_another(thread);
	}
	thread->next = all.threads;
	all.threads = thread;
	*out = thread;
	return 0;
}

int upmu_region_this_thread(struct upmu_region_thread **out)
{
	int ret, cancel_state;

	pthread_once(&all.once, start);
	cancel_state = lock_all();
	ret = make_thread(out);
	if (ret && !all.is_chosen)
		forget_choice();
	unlock_all(cancel_state);
	return ret;
}

static struct upmu_region *find(const char *name)
{
	for (size_t i = 0; i < all.n; i++)
		if (!strcmp(all.regions[i]->name, name))
			return all.regions[i];
	return NULL;
}

/* With all.lock held. */
static int find_or_make(struct upmu_region **out, const char *name)
{
	struct upmu_region *region = find(name);

	if (!region && all.n == UPMU_REGIONS_MAX)
		return upmu_explain_set(-ENOSPC,
					"no room for '%s': there are %d "
					"regions already",
					name, UPMU_REGIONS_MAX);
	if (!region) {
		region = calloc(1, sizeof(*region));
		if (!region)
			return upmu_explain_set(-ENOMEM, "out of memory");
		strcpy(region->name, name);
		region->id = all.n;
		region->cell =
			offsetof(struct upmu_region_thread, cells[all.n]);
		all.regions[all.n++] = region;
	}
	*out = region;
	return 0;
}

int upmu_region_open(struct upmu_region **out, const char *name)
{
	int ret, cancel_state;

	assert(out && name);
	if (!name[0] || strlen(name) >= UPMU_REGION_NAME_SIZE)
		return upmu_explain_set(-EINVAL,
					"a region's name has 1 to %d "
					"characters: '%.80s'",
					UPMU_REGION_NAME_SIZE - 1, name);
	cancel_state = lock_all();
	ret = find_or_make(out, name);
	unlock_all(cancel_state);
	return ret;
}

/* With all.lock held. */
static int choose(const char *events, const struct upmu_options *options)
{
	struct upmu_region_thread *thread;

	forget_choice();
	all.options = *options;
	all.options.source = NULL;
	if (events)
		all.list = strdup(events);
	if (options->source)
		all.wanted_source = strdup(options->source);
	if ((events && !all.list) || (options->source && !all.wanted_source))
		return upmu_explain_set(-ENOMEM, "out of memory");
	return make_thread(&thread);
}

int upmu_regions_init(const char *events, const struct upmu_options *options)
{
	struct upmu_options full;
	int ret, cancel_state;

	ret = upmu_options_copy(&full, options);
	if (!ret)
		ret = upmu_options_check_own(&full, "regions");
	if (ret)
		return ret;
	pthread_once(&all.once, start);
	cancel_state = lock_all();
	if (all.is_chosen)
		ret = upmu_explain_set(-EALREADY, "regions count '%s' already",
				       all.list);
	else
		ret = choose(events, &full);
	if (ret && !all.is_chosen)
		forget_choice();
	unlock_all(cancel_state);
	return upmu_explain_done(ret);
}

void upmu_regions_summarize(struct upmu_region_summary *summary)
{
	uint64_t enabled, running;
	int cancel_state;

	memset(summary, 0, sizeof(*summary));
	cancel_state = lock_all();
	enabled = all.ended_enabled_ns;
	running = all.ended_running_ns;
	summary->regions = all.n;
	summary->events = all.events;
	summary->source = all.source;
	for (size_t i = 0; i < all.events; i++) {
		strcpy(summary->event_names[i], all.event_names[i]);
		summary->units[i] = all.units[i];
		summary->overhead[i] = all.overhead[i];
	}
	for (size_t i = 0; i < all.n; i++) {
		summary->names[i] = all.regions[i]->name;
		upmu_region_add_cell(&summary->cells[i], &all.ended[i]);
	}
	for (struct upmu_region_thread *t = all.threads; t; t = t->next) {
		upmu_region_add_thread(summary->cells, t, all.n);
		add_times(t->set, &enabled, &running);
	}
	unlock_all(cancel_state);
	summary->missed = atomic_load(&missed);
	summary->why = atomic_load(&is_there) ? why : "";
	summary->running = enabled ? (double)running / (double)enabled : 1;
}

static uint64_t without(uint64_t count, uint64_t overhead)
{
	return count > overhead ? count - overhead : 0;
}

void upmu_region_stats_of(const struct upmu_region_summary *summary,
			  size_t region, size_t event,
			  struct upmu_region_stats *stats)
{
	const struct upmu_cell *cell = &summary->cells[region];
	const struct upmu_tally *tally = &cell->events[event];
	uint64_t overhead = summary->overhead[event];

	*stats = (struct upmu_region_stats){
		.size = sizeof(*stats),
		.calls = cell->calls,
		.total = without(tally->total, cell->calls * overhead),
		.min = without(tally->min, overhead),
		.max = without(tally->max, overhead),
		.overhead = overhead,
		.running = summary->running,
	};
	if (cell->calls)
		stats->mean = (double)stats->total / (double)cell->calls;
}

int upmu_region_read(struct upmu_region *region, size_t event,
		     struct upmu_region_stats *stats)
{
	struct upmu_region_summary *summary;
	struct upmu_region_stats full;
	int ret;

	assert(region && stats);
	summary = malloc(sizeof(*summary));
	if (!summary)
		return upmu_explain_set(-ENOMEM, "out of memory");
	upmu_regions_summarize(summary);
	if (event >= summary->events)
		ret = upmu_explain_set(-ENOENT, "regions count %zu events",
				       summary->events);
	else
		ret = 0;
	if (!ret)
		upmu_region_stats_of(summary, region->id, event, &full);
	free(summary);
	return ret ? upmu_explain_done(ret)
		   : upmu_result_give(stats, &full, sizeof(full),
				      UPMU_REGION_STATS_SIZE_1);
}

static void before_fork(void)
{
	pthread_mutex_lock(&all.lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&all.lock);
}

/*
 * The thread that forked is the child's only one. It is in no region there: its
 * set counts the parent, and it opens one of its own at the next begin.
 */
static void in_child(void)
{
	pthread_mutex_unlock(&all.lock);
	while (all.threads) {
		struct upmu_region_thread *thread = all.threads;

		all.threads = thread->next;
		upmu_close(thread->set);
		free(thread);
	}
	if (upmu_region_self && all.has_key)
		pthread_setspecific(all.key, NULL);
	upmu_region_self = NULL;
	all.is_calibrated = false;
	forget_missed();
	memset(all.ended, 0, sizeof(all.ended));
	all.ended_enabled_ns = all.ended_running_ns = 0;
}

/* Before anything holds the lock: a thread may, whose process forks. */
__attribute__((constructor)) static void hook_forks(void)
{
	static const struct upmu_fork_hooks hooks = { before_fork, in_parent,
						      in_child };

	upmu_registry_hook_forks(&hooks);
}
