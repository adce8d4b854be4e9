// SPDX-License-Identifier: MIT
/*
 * Regions: a program measures named parts of itself. Each thread has a set, a
 * stack of the regions it is in, and a cell for each region; only the thread
 * writes these, so that begin and end take no lock. A report adds up the cells
 * of all threads, those that ended included.
 */
#include "lib/region.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/fast.h"
#include "lib/options.h"
#include "lib/set.h"

#define DEFAULT_EVENTS	  "cycles,instructions"
#define CALIBRATION_CALLS 32

struct upmu_region {
	size_t id;
	char name[UPMU_REGION_NAME_SIZE];
};

struct frame {
	const struct upmu_region *region;
	uint64_t counts[UPMU_REGION_EVENTS_MAX];
};

/* @version: odd while the thread writes to its cells. */
struct thread {
	struct upmu *set;
	size_t events;
	size_t depth;
	atomic_uint version;
	struct thread *next;
	struct frame frames[UPMU_REGION_DEPTH_MAX];
	struct upmu_cell cells[UPMU_REGIONS_MAX];
};

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	pthread_key_t key;
	struct upmu_region *regions[UPMU_REGIONS_MAX];
	size_t n;
	struct thread *threads;
	/* What threads that ended left: counts and times. */
	struct upmu_cell ended[UPMU_REGIONS_MAX];
	uint64_t ended_enabled_ns, ended_running_ns;
	/* Known once a thread has begun a region. */
	bool is_calibrated;
	size_t events;
	const char *source;
	char event_names[UPMU_REGION_EVENTS_MAX][UPMU_NAME_SIZE];
	const char *units[UPMU_REGION_EVENTS_MAX];
	uint64_t overhead[UPMU_REGION_EVENTS_MAX];
	/* From upmu_regions_init(). */
	char *list;
	char *wanted_source;
	struct upmu_options options;
} all = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.once = PTHREAD_ONCE_INIT,
};

/* The model that needs no call: the library cannot be unloaded, and it takes
 * one word of the room that libc keeps for such. */
static _Thread_local struct thread *self
	__attribute__((tls_model("initial-exec")));

static void merge_event(struct upmu_tally *sum, const struct upmu_tally *part,
			bool is_first)
{
	sum->total += part->total;
	if (is_first || part->min < sum->min)
		sum->min = part->min;
	if (is_first || part->max > sum->max)
		sum->max = part->max;
}

static void merge_cell(struct upmu_cell *sum, const struct upmu_cell *part)
{
	if (!part->calls)
		return;
	for (size_t i = 0; i < UPMU_REGION_EVENTS_MAX; i++)
		merge_event(&sum->events[i], &part->events[i], !sum->calls);
	sum->calls += part->calls;
}

/* The thread goes on: read again where it wrote meanwhile. */
static void copy_cells(struct upmu_cell *out, struct thread *thread)
{
	unsigned int version;

	do {
		do
			version = atomic_load_explicit(&thread->version,
						       memory_order_acquire);
		while (version & 1);
		memcpy(out, thread->cells, sizeof(thread->cells));
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&thread->version, memory_order_relaxed) !=
		 version);
}

static void add_times(struct upmu *set, uint64_t *enabled, uint64_t *running)
{
	struct upmu_value values[UPMU_REGION_EVENTS_MAX];

	if (!set || upmu_read(set, values, upmu_size(set)))
		return;
	*enabled += values[0].enabled_ns;
	*running += values[0].running_ns;
}

static void unlink_thread(struct thread *thread)
{
	struct thread **link = &all.threads;

	while (*link && *link != thread)
		link = &(*link)->next;
	if (*link)
		*link = thread->next;
}

static void end_thread(void *argument)
{
	struct thread *thread = argument;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; i < all.n; i++)
		merge_cell(&all.ended[i], &thread->cells[i]);
	add_times(thread->set, &all.ended_enabled_ns, &all.ended_running_ns);
	unlink_thread(thread);
	pthread_mutex_unlock(&all.lock);
	upmu_close(thread->set);
	free(thread);
	self = NULL;
}

static void start(void)
{
	pthread_key_create(&all.key, end_thread);
	atexit(upmu_regions_at_exit);
}

static int take(const struct thread *thread, uint64_t *counts)
{
	if (!upmu_fast_counts(thread->set->counters, counts, thread->events))
		return 0;
	return upmu_counts(thread->set, counts, thread->events);
}

static void add_call(struct upmu_cell *cell, const uint64_t *from,
		     const uint64_t *to, size_t events)
{
	for (size_t i = 0; i < events; i++) {
		struct upmu_tally *tally = &cell->events[i];
		uint64_t count = to[i] - from[i];

		tally->total += count;
		if (count < tally->min || !cell->calls)
			tally->min = count;
		if (count > tally->max)
			tally->max = count;
	}
	cell->calls++;
}

static int begin(struct thread *thread, const struct upmu_region *region)
{
	struct frame *frame = &thread->frames[thread->depth];
	int ret;

	if (thread->depth == UPMU_REGION_DEPTH_MAX)
		return upmu_explain_set(-ENOSPC, "regions nest %d deep already",
					UPMU_REGION_DEPTH_MAX);
	frame->region = region;
	thread->depth++;
	ret = take(thread, frame->counts);
	if (ret)
		thread->depth--;
	return ret;
}

static int end(struct thread *thread, const struct upmu_region *region)
{
	uint64_t counts[UPMU_REGION_EVENTS_MAX];
	int ret = take(thread, counts);
	struct frame *frame;
	unsigned int version;

	if (!thread->depth ||
	    thread->frames[thread->depth - 1].region != region)
		return upmu_explain_set(-EINVAL,
					"this thread is not in the region "
					"'%s', or in another one inside it",
					region->name);
	frame = &thread->frames[--thread->depth];
	if (ret)
		return ret;
	version = atomic_load_explicit(&thread->version, memory_order_relaxed);
	atomic_store_explicit(&thread->version, version + 1,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	add_call(&thread->cells[region->id], frame->counts, counts,
		 thread->events);
	atomic_store_explicit(&thread->version, version + 2,
			      memory_order_release);
	return 0;
}

/* The least that an empty pair ever counts is what each pair costs. */
static void calibrate(struct thread *thread)
{
	static const struct upmu_region nothing = { .name = "calibration" };
	struct upmu_cell *cell = &thread->cells[nothing.id];

	memset(cell, 0, sizeof(*cell));
	for (int i = 0; i < CALIBRATION_CALLS; i++)
		if (!begin(thread, &nothing))
			end(thread, &nothing);
	for (size_t i = 0; i < thread->events; i++)
		all.overhead[i] = cell->events[i].min;
	memset(cell, 0, sizeof(*cell));
}

static void describe(struct thread *thread)
{
	all.events = thread->events;
	all.source = upmu_source(thread->set);
	for (size_t i = 0; i < thread->events; i++) {
		strcpy(all.event_names[i], upmu_event_name(thread->set, i));
		all.units[i] = upmu_unit(thread->set, i);
	}
	calibrate(thread);
	all.is_calibrated = true;
}

static const char *wanted_events(void)
{
	const char *events = all.list;

	if (!events)
		events = secure_getenv("UPMU_EVENTS");
	return events ? events : DEFAULT_EVENTS;
}

static int open_set(struct thread *thread)
{
	struct upmu_options options = all.options;
	int ret;

	options.size = sizeof(options);
	options.source = all.wanted_source;
	ret = upmu_open(&thread->set, wanted_events(), &options);
	if (ret)
		return ret;
	thread->events = upmu_size(thread->set);
	if (thread->events <= UPMU_REGION_EVENTS_MAX)
		return 0;
	upmu_close(thread->set);
	return upmu_explain_set(-EINVAL,
				"regions count %d events at most, not %zu",
				UPMU_REGION_EVENTS_MAX, thread->events);
}

/* With all.lock held. */
static int make_thread(struct thread **out)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	int ret;

	if (!thread)
		return upmu_explain_set(-ENOMEM, "out of memory");
	ret = open_set(thread);
	if (ret) {
		free(thread);
		return ret;
	}
	if (!all.is_calibrated)
		describe(thread);
	thread->next = all.threads;
	all.threads = thread;
	pthread_setspecific(all.key, thread);
	self = thread;
	*out = thread;
	return 0;
}

static __attribute__((noinline)) int this_thread(struct thread **out)
{
	int ret;

	pthread_once(&all.once, start);
	pthread_mutex_lock(&all.lock);
	ret = make_thread(out);
	pthread_mutex_unlock(&all.lock);
	return ret;
}

int upmu_region_begin(struct upmu_region *region)
{
	struct thread *thread = self;

	assert(region);
	if (__builtin_expect(!thread, 0)) {
		int ret = this_thread(&thread);

		if (ret)
			return ret;
	}
	return begin(thread, region);
}

int upmu_region_end(struct upmu_region *region)
{
	struct thread *thread = self;

	assert(region);
	if (!thread)
		return upmu_explain_set(-EINVAL,
					"this thread is not in the region '%s'",
					region->name);
	return end(thread, region);
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
		all.regions[all.n++] = region;
	}
	*out = region;
	return 0;
}

int upmu_region_open(struct upmu_region **out, const char *name)
{
	int ret;

	assert(out && name);
	if (!name[0] || strlen(name) >= UPMU_REGION_NAME_SIZE)
		return upmu_explain_set(-EINVAL,
					"a region's name has 1 to %d "
					"characters: '%.80s'",
					UPMU_REGION_NAME_SIZE - 1, name);
	pthread_mutex_lock(&all.lock);
	ret = find_or_make(out, name);
	pthread_mutex_unlock(&all.lock);
	return ret;
}

static void forget_choice(void)
{
	free(all.list);
	free(all.wanted_source);
	all.list = NULL;
	all.wanted_source = NULL;
}

/* With all.lock held. */
static int choose(const char *events, const struct upmu_options *options)
{
	struct thread *thread;

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
	int ret;

	ret = upmu_options_copy(&full, options);
	if (ret)
		return ret;
	pthread_once(&all.once, start);
	pthread_mutex_lock(&all.lock);
	if (all.is_calibrated)
		ret = upmu_explain_set(-EALREADY, "regions count '%s' already",
				       wanted_events());
	else
		ret = choose(events, &full);
	if (ret && !all.is_calibrated)
		forget_choice();
	pthread_mutex_unlock(&all.lock);
	return ret;
}

void upmu_regions_summarize(struct upmu_region_summary *summary)
{
	uint64_t enabled, running;

	memset(summary, 0, sizeof(*summary));
	pthread_mutex_lock(&all.lock);
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
		merge_cell(&summary->cells[i], &all.ended[i]);
	}
	for (struct thread *t = all.threads; t; t = t->next) {
		copy_cells(summary->scratch, t);
		for (size_t i = 0; i < all.n; i++)
			merge_cell(&summary->cells[i], &summary->scratch[i]);
		add_times(t->set, &enabled, &running);
	}
	pthread_mutex_unlock(&all.lock);
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
	int ret = 0;

	assert(region && stats);
	summary = malloc(sizeof(*summary));
	if (!summary)
		return upmu_explain_set(-ENOMEM, "out of memory");
	upmu_regions_summarize(summary);
	if (event >= summary->events)
		ret = upmu_explain_set(-ENOENT, "regions count %zu events",
				       summary->events);
	else
		upmu_region_stats_of(summary, region->id, event, stats);
	free(summary);
	return ret;
}

void upmu_regions_before_fork(void)
{
	pthread_mutex_lock(&all.lock);
}

void upmu_regions_in_parent(void)
{
	pthread_mutex_unlock(&all.lock);
}

/*
 * The thread that forked is the child's only one. It is in no region there: its
 * set counts the parent, and it opens one of its own at the next begin.
 */
void upmu_regions_in_child(void)
{
	pthread_mutex_init(&all.lock, NULL);
	while (all.threads) {
		struct thread *thread = all.threads;

		all.threads = thread->next;
		upmu_close(thread->set);
		free(thread);
	}
	if (self)
		pthread_setspecific(all.key, NULL);
	self = NULL;
	memset(all.ended, 0, sizeof(all.ended));
	all.ended_enabled_ns = all.ended_running_ns = 0;
}
