// SPDX-License-Identifier: MIT
/*
 * Told each N events: a sampling event of perf on each kind of core, all into
 * the ring of the first.
 */
#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/explain.h"
#include "lib/perf/perf.h"
#include "lib/set/options.h"
#include "lib/set/registry.h"
#include "lib/set/wanted.h"
#include "lib/sys.h"

/* Of data: a power of two; a page holds some 80 samples. */
#define PAGES	    8
#define KNOWN_FLAGS (UPMU_OPEN_USER_ONLY | UPMU_OPEN_BOUND | UPMU_OPEN_CPU)

struct upmu_watch {
	int fd[UPMU_PMUS_MAX];
	size_t n;
	pid_t opener;
	struct perf_event_mmap_page *page; /* then the ring */
	size_t page_size;
	uint64_t lost;
	/* What the registry knows of it: whose cycle counter it has. */
	struct upmu *taker;
};

/* What PERF_SAMPLE_IP, _TID, _TIME and _CPU give, in perf's order. */
struct record {
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct lost_record {
	uint64_t id, lost;
};

static void set_sampling(struct perf_event_attr *attr, uint64_t every)
{
	attr->sample_period = every;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->wakeup_events = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
}

static int explain_open(int error, const struct upmu_perf_event *event,
			const struct upmu_perf_target *target,
			const struct perf_event_attr *attr)
{
	if (error != -EOPNOTSUPP)
		return upmu_perf_explain(error, event, target, attr);
	return upmu_explain_set(error,
				"'%s' cannot tell each so many of its counts: "
				"this PMU has no interrupt, or perf has not "
				"been told of it",
				event->name);
}

static int open_one(const struct upmu_perf_event *event,
		    const struct upmu_options *options, uint64_t every,
		    uint32_t flags)
{
	bool is_cpu = options->flags & UPMU_OPEN_CPU;
	const struct upmu_perf_target target = {
		.pid = is_cpu ? -1 : options->pid,
		.cpu = is_cpu ? (int)options->cpu : -1,
		.group_fd = -1,
	};
	struct perf_event_attr attr;
	int fd, ret;

	upmu_perf_attr(&attr, event, flags);
	set_sampling(&attr, every);
	fd = upmu_sys_perf_event_open(&attr, target.pid, target.cpu, -1,
				      PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return explain_open(fd, event, &target, &attr);
	ret = upmu_perf_check_modes(event, &attr);
	if (!ret)
		return fd;
	upmu_sys_close(fd);
	return ret;
}

static int map_ring(struct upmu_watch *watch)
{
	void *address;
	int ret;

	watch->page_size = upmu_sys_page_size();
	ret = upmu_sys_map_writable(watch->fd[0],
				    (1 + PAGES) * watch->page_size, &address);
	if (ret)
		return upmu_explain_set(ret,
					"perf's ring of samples cannot be "
					"mapped: %s; perf_event_mlock_kb may "
					"be used up",
					strerror(-ret));
	watch->page = address;
	return 0;
}

/* Samples of one kind of core go where those of the first do. */
static int join_ring(const struct upmu_watch *watch, int fd)
{
	int ret = upmu_sys_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
				 (void *)(intptr_t)watch->fd[0]);

	if (ret)
		upmu_explain_set(ret,
				 "perf cannot write the samples of all kinds "
				 "of core into one ring: %s",
				 strerror(-ret));
	return ret;
}

static void close_all(struct upmu_watch *watch)
{
	if (watch->page)
		upmu_sys_unmap(watch->page, (1 + PAGES) * watch->page_size);
	watch->page = NULL;
	while (watch->n)
		upmu_sys_close(watch->fd[--watch->n]);
}

static int open_all(struct upmu_watch *watch, const struct upmu_wanted *wanted,
		    const struct upmu_options *options, uint64_t every,
		    uint32_t flags)
{
	bool is_taken = upmu_registry_takes_cycles(watch->taker->who,
						   watch->taker->cpu);
	int ret = 0;

	for (size_t pmu = 0; !ret && pmu < wanted->pmus; pmu++) {
		struct upmu_perf_event event = wanted->events[0].perf[pmu];
		int fd;

		/* Both on the cycle counter would take turns with it. */
		if (is_taken)
			event.config = wanted->events[0].anywhere[pmu];
		watch->taker->takes_cycles |=
			wanted->events[0].is_cycles && !is_taken;
		fd = open_one(&event, options, every, flags);
		if (fd < 0 && pmu >= wanted->pmus_now)
			break;
		if (fd < 0) {
			ret = fd;
			break;
		}
		watch->fd[watch->n++] = fd;
		ret = pmu ? join_ring(watch, fd) : map_ring(watch);
	}
	if (ret)
		close_all(watch);
	return ret;
}

/* It would never come. */
static int check_comes(const struct upmu_wanted *wanted)
{
	const struct upmu_wanted_event *event = &wanted->events[0];
	int ret = 0;

	if (event->stays_0)
		return upmu_explain_set(
			-EOPNOTSUPP,
			"'%s' would never come: this board is emulated and "
			"leaves it at 0",
			event->name);
	if (wanted->is_emulated && event->is_instructions)
		ret = upmu_emulator_alive(&event->perf[0]);
	return ret || !event->is_hardware ? ret : upmu_pmu_alive();
}

static int check(const struct upmu_wanted *wanted,
		 const struct upmu_options *options, uint64_t every)
{
	if (wanted->size != 1)
		return upmu_explain_set(-EINVAL,
					"a watch has one event, not %zu",
					wanted->size);
	/* The highest bit means something else to perf. */
	if (!every || every >> 63)
		return upmu_explain_set(-EINVAL,
					"a watch tells each 1 to 2^63 - 1 "
					"counts");
	if ((options->flags & ~(uint32_t)KNOWN_FLAGS) || options->source)
		return upmu_explain_set(-EINVAL,
					"a watch has no source, and no flags "
					"but UPMU_OPEN_USER_ONLY, _BOUND and "
					"_CPU");
	return check_comes(wanted);
}

static int open_wanted(struct upmu_watch *watch,
		       const struct upmu_wanted *wanted,
		       const struct upmu_options *options, uint64_t every)
{
	const struct upmu_perf_event *event = &wanted->events[0].perf[0];
	uint32_t user = UPMU_PERF_EXCLUDE_KERNEL;
	char reason[UPMU_EXPLAIN_SIZE];
	int ret = check(wanted, options, every);

	if (ret)
		return ret;
	if (options->flags & UPMU_OPEN_USER_ONLY)
		return open_all(watch, wanted, options, every, user);
	ret = open_all(watch, wanted, options, every, 0);
	if (ret != -EACCES)
		return ret;
	strcpy(reason, upmu_explain());
	ret = open_all(watch, wanted, options, every, user);
	if (!ret || (ret == -EOPNOTSUPP && !upmu_perf_is_of_the_kernel(event)))
		return ret;
	return upmu_perf_explain_both(ret, reason, wanted->has_filters);
}

/* Sets that are opened later leave the cycle counter to it, as to a set. */
static struct upmu *make_taker(const struct upmu_options *options)
{
	struct upmu *taker = calloc(1, sizeof(*taker));
	bool is_cpu = options->flags & UPMU_OPEN_CPU;

	if (!taker)
		return NULL;
	taker->cpu = is_cpu ? (int)options->cpu : -1;
	taker->who = is_cpu ? -1 : options->pid;
	if (!taker->who)
		taker->who = upmu_sys_thread();
	return taker;
}

static int open_event(struct upmu_watch *watch, const char *event,
		      uint64_t every, const struct upmu_options *options)
{
	struct upmu_wanted *wanted = malloc(sizeof(*wanted));
	int ret = -ENOMEM;

	watch->taker = make_taker(options);
	if (!wanted || !watch->taker)
		upmu_explain_set(ret, "out of memory");
	else
		ret = upmu_wanted_parse(wanted, event, options);
	if (!ret)
		ret = open_wanted(watch, wanted, options, every);
	if (!ret)
		upmu_registry_add(watch->taker);
	else
		free(watch->taker);
	free(wanted);
	return ret;
}

int upmu_watch_open(struct upmu_watch **out, const char *event, uint64_t every,
		    const struct upmu_options *options)
{
	struct upmu_watch *watch = calloc(1, sizeof(*watch));
	struct upmu_options full;
	int ret, cancel_state;

	assert(out && event);
	upmu_explain_clear();
	cancel_state = upmu_registry_hold_all();
	ret = watch ? upmu_options_copy(&full, options)
		    : upmu_explain_set(-ENOMEM, "out of memory");
	if (!ret)
		ret = open_event(watch, event, every, &full);
	upmu_registry_let_forks(cancel_state);
	if (ret) {
		free(watch);
		return upmu_explain_done(ret);
	}
	watch->opener = getpid();
	*out = watch;
	return upmu_explain_done(0);
}

int upmu_watch_fd(const struct upmu_watch *watch)
{
	assert(watch);
	return watch->fd[0];
}

/* A record may go round the end of the ring. */
static void copy_out(const struct upmu_watch *watch, uint64_t at, void *to,
		     size_t size)
{
	const char *ring = (const char *)watch->page + watch->page_size;
	size_t most = PAGES * watch->page_size;
	size_t start = (size_t)(at & (most - 1));
	size_t first = size < most - start ? size : most - start;

	memcpy(to, ring + start, first);
	memcpy((char *)to + first, ring, size - first);
}

static void fill(struct upmu_watch *watch, const struct record *record,
		 struct upmu_sample *sample)
{
	const struct upmu_sample full = {
		.size = sizeof(full),
		.address = record->ip,
		.time_ns = record->time,
		.lost = watch->lost,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
	};

	watch->lost = 0;
	upmu_result_give(sample, &full, sizeof(full), UPMU_SAMPLE_SIZE_1);
}

/* One record; was it a sample? Others tell of losses and of throttling. */
static bool take_record(struct upmu_watch *watch, uint64_t *tail,
			struct upmu_sample *sample)
{
	struct perf_event_header header;
	struct lost_record lost;
	struct record record;
	uint64_t body = *tail + sizeof(header);

	copy_out(watch, *tail, &header, sizeof(header));
	*tail += header.size;
	if (header.type == PERF_RECORD_LOST) {
		copy_out(watch, body, &lost, sizeof(lost));
		watch->lost += lost.lost;
	}
	if (header.type != PERF_RECORD_SAMPLE)
		return false;
	copy_out(watch, body, &record, sizeof(record));
	fill(watch, &record, sample);
	return true;
}

int upmu_watch_next(struct upmu_watch *watch, struct upmu_sample *sample)
{
	uint64_t head, tail;
	bool is_sample = false;

	assert(watch && sample);
	if (upmu_is_no_size(sample->size, UPMU_SAMPLE_SIZE_1))
		return -EINVAL;
	if (getpid() != watch->opener)
		return -ESTALE;
	head = __atomic_load_n(&watch->page->data_head, __ATOMIC_ACQUIRE);
	tail = watch->page->data_tail;
	/* The head of a 32-bit kernel begins anew after 4 GiB. */
	while (!is_sample && (uint32_t)tail != (uint32_t)head)
		is_sample = take_record(watch, &tail, sample);
	__atomic_store_n(&watch->page->data_tail, tail, __ATOMIC_RELEASE);
	return is_sample ? 0 : -EAGAIN;
}

void upmu_watch_close(struct upmu_watch *watch)
{
	int cancel_state;

	if (!watch)
		return;
	cancel_state = upmu_registry_hold_forks();
	/* In a child there is no ring: perf's pages are not inherited. */
	if (getpid() != watch->opener)
		watch->page = NULL;
	close_all(watch);
	upmu_registry_remove(watch->taker);
	free(watch->taker);
	free(watch);
	upmu_registry_let_forks(cancel_state);
}
