// SPDX-License-Identifier: MIT
/*
 * page: perf events whose hardware index is in their mmap page, read from the
 * register without a system call. arm64 since Linux 5.17 where
 * kernel.perf_user_access is 1, for 32-bit programs too; 32-bit kernels and
 * arm64 before that with upmu.ko, which publishes the index and gives this
 * process the permission.
 *
 * A page is mapped before the event first counts, and no event is ever reset:
 * Linux republishes a wrong offset after PERF_EVENT_IOC_RESET.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/set/fast.h"
#include "lib/module/lease.h"
#include "lib/perf/perf_set.h"
#include "lib/perf/perf.h"
#include "lib/registers/registers.h"
#include "lib/set/registry.h"
#include "lib/sources/source.h"
#include "lib/sys.h"

/* Who has the sysctl permits by it; other kernels by the module's lease. */
static bool is_permitted_by_sysctl(void)
{
	return upmu_sys_exists(UPMU_USER_ACCESS);
}

static int check_sysctl(void)
{
	long value;
	int ret = upmu_sys_read_long(UPMU_USER_ACCESS, &value);

	if (ret)
		return upmu_explain_set(-EOPNOTSUPP,
					"cannot read " UPMU_USER_ACCESS ": %s",
					strerror(-ret));
	if (value)
		return 0;
	upmu_explain_set(-EOPNOTSUPP,
			 "kernel.perf_user_access is 0: the kernel keeps the "
			 "counters from user mode");
	upmu_explain_hint("sudo sysctl kernel.perf_user_access=1");
	return -EOPNOTSUPP;
}

/* A user's pages may be too many. */
static int explain_map(int error)
{
	upmu_explain_set(error, "cannot map perf's page: %s", strerror(-error));
	if (error == -EPERM)
		upmu_explain_hint("sudo sysctl "
				  "kernel.perf_event_mlock_kb=4096");
	return error;
}

static int map_page(struct upmu *set, size_t position, size_t pmu)
{
	int ret = upmu_sys_map(set->groups[pmu].fd[position],
			       upmu_sys_page_size(),
			       &set->slots[position].page[pmu]);

	return ret ? explain_map(ret) : 0;
}

static int map_pages(struct upmu *set)
{
	for (size_t i = 0; i < set->size; i++)
		for (size_t pmu = 0; pmu < set->pmus; pmu++) {
			int ret = map_page(set, i, pmu);

			if (ret)
				return ret;
		}
	/* The inline read knows one page; several are added up in here. */
	for (size_t i = 0; set->pmus == 1 && i < set->size; i++) {
		const struct upmu_page *page = set->slots[i].page[0];

		/* The kernel tells the width before the event first runs. */
		set->counters[i].thread =
			upmu_thread_key(page->pmc_width == 64);
		set->counters[i].page = page;
	}
	return 0;
}

static void unmap_pages(struct upmu *set)
{
	for (size_t i = 0; i < set->size; i++)
		for (size_t pmu = 0; pmu < UPMU_PMUS_MAX; pmu++) {
			void *page = set->slots[i].page[pmu];

			if (page)
				upmu_sys_unmap(page, upmu_sys_page_size());
		}
	upmu_set_forget_pages(set);
}

static void close_page(struct upmu *set)
{
	unmap_pages(set);
	upmu_perf_set_close(set);
	if (set->has_lease)
		upmu_count_lease_put();
	set->has_lease = false;
}

/*
 * An event without an index in its page was on the hardware a moment ago. It
 * may take turns with others' (*is_taken) and be off now: only while it runs
 * all the time does the page say what the kernel does.
 */
static int look_again(int fd, const volatile struct perf_event_mmap_page *page,
		      uint32_t *index, bool *is_taken)
{
	struct upmu_value before, after;
	uint64_t ran_ns;
	int ret;

	ret = upmu_perf_read(fd, &before);
	*index = page->index;
	if (!ret)
		ret = upmu_perf_read(fd, &after);
	if (ret)
		return ret;
	ran_ns = after.running_ns - before.running_ns;
	*is_taken = !ran_ns || ran_ns < after.enabled_ns - before.enabled_ns;
	return 0;
}

static int look(int fd, const volatile struct perf_event_mmap_page *page,
		uint32_t *index, bool *is_taken)
{
	struct upmu_value value;
	int ret;

	ret = upmu_perf_enable(fd);
	*index = page->index;
	if (!ret)
		ret = upmu_perf_read(fd, &value);
	if (ret)
		return ret;
	*is_taken = !value.running_ns;
	if (*index || *is_taken)
		return 0;
	return look_again(fd, page, index, is_taken);
}

/*
 * Is the index in the page of an event that runs right now? Cycles that do not
 * run have somebody else on their counter: *is_taken.
 */
static int check_page(int fd, bool *is_taken)
{
	void *address;
	uint32_t index;
	int ret;

	ret = upmu_sys_map(fd, upmu_sys_page_size(), &address);
	if (ret)
		return explain_map(ret);
	ret = look(fd, address, &index, is_taken);
	upmu_sys_unmap(address, upmu_sys_page_size());
	if (ret)
		return upmu_explain_set(ret, "perf gives no numbers: %s",
					strerror(-ret));
	if (index || *is_taken)
		return 0;
	return upmu_explain_set(-EOPNOTSUPP,
				"perf counts, but its page does not tell the "
				"counter's number: this kernel does not "
				"support reading from user mode");
}

/*
 * Of the cycle counter. A 32-bit program reads 32 bits of any; and before 5.17
 * arm64's kernel tells no width, so that the module publishes 32 bits alone.
 */
static uint32_t long_cycles(bool has_lease)
{
	return sizeof(void *) < 8 || has_lease ? 0u : (uint32_t)UPMU_PERF_LONG;
}

static int check_cycles_on(int cpu, uint32_t flags, bool *is_taken)
{
	int fd, ret;

	fd = upmu_perf_open_cycles(flags, cpu);
	if (fd < 0)
		return fd;
	ret = check_page(fd, is_taken);
	upmu_sys_close(fd);
	return ret;
}

static int check_cycles(bool has_lease, bool *is_taken)
{
	uint32_t flags = UPMU_PERF_DISABLED | UPMU_PERF_USER_READ;
	int ret;

	/* An event that cannot run makes perf rotate all of the thread's. */
	if (!upmu_registry_takes_cycles(upmu_sys_thread(), -1))
		flags |= long_cycles(has_lease);
	ret = check_cycles_on(-1, flags, is_taken);
	/* They may be another kind of core's. */
	if (!ret && *is_taken)
		ret = check_cycles_on(sched_getcpu(), flags, is_taken);
	return ret;
}

static int check_processor(void)
{
	if (upmu_processor_registers())
		return 0;
	return upmu_explain_set(-EOPNOTSUPP,
				"counters are read by register on ARM "
				"processors only");
}

/*
 * Where it returns 0 and *has_lease, upmu_count_lease_put() is due. @is_taken:
 * does somebody else have the cycle counter? Where that is known it is not
 * asked.
 */
static int ask_page(bool *has_lease, bool *is_taken)
{
	int ret;

	*has_lease = false;
	ret = check_processor();
	if (ret)
		return ret;
	if (is_permitted_by_sysctl()) {
		ret = check_sysctl();
	} else {
		ret = upmu_count_lease_get();
		*has_lease = !ret;
	}
	if (!ret && !*is_taken)
		ret = check_cycles(*has_lease, is_taken);
	if (ret && *has_lease)
		upmu_count_lease_put();
	return ret;
}

static int page_probe(void)
{
	bool has_lease, is_taken = false;
	int ret = ask_page(&has_lease, &is_taken);

	if (ret)
		return ret;
	ret = upmu_pmu_alive();
	if (has_lease)
		upmu_count_lease_put();
	if (ret)
		return ret;
	return upmu_explain_set(0, "%s",
				has_lease ? "the module upmu publishes the "
					    "counter's number"
					  : "kernel.perf_user_access is 1");
}

static bool has_hardware(const struct upmu_wanted *wanted)
{
	for (size_t i = 0; i < wanted->size; i++)
		if (wanted->events[i].is_hardware)
			return true;
	return false;
}

/*
 * The cycle counter's 64 bits make the shortest read, but there is one of it:
 * two users that both insisted on it would take turns.
 */
static uint32_t perf_flags_for(const struct upmu *set,
			       const struct upmu_wanted *wanted, bool is_taken)
{
	if (is_taken || upmu_registry_takes_cycles(set->who, set->cpu))
		return UPMU_PERF_USER_READ | UPMU_PERF_ANY_COUNTER;
	if (wanted->pmus > 1)
		return UPMU_PERF_USER_READ;
	return UPMU_PERF_USER_READ | long_cycles(set->has_lease);
}

static int open_and_map(struct upmu *set, const struct upmu_wanted *wanted,
			bool is_taken)
{
	int ret = upmu_perf_set_open(set, wanted,
				     perf_flags_for(set, wanted, is_taken));

	return ret ? ret : map_pages(set);
}

static bool tells(const struct upmu *set, const struct upmu_slot *slot)
{
	for (size_t pmu = 0; pmu < set->pmus; pmu++) {
		const volatile struct upmu_page *page = slot->page[pmu];

		if (page->index)
			return true;
	}
	return false;
}

static bool tells_all(const struct upmu *set, const struct upmu_wanted *wanted)
{
	for (size_t i = 0; i < set->size; i++)
		if (wanted->events[i].is_hardware &&
		    !tells(set, &set->slots[i]))
			return false;
	return true;
}

/* No counter is left. One that takes cycles may have others on its counter. */
static bool waits_for_counters(struct upmu *set)
{
	struct upmu_value values[UPMU_EVENTS_MAX];

	return !set->takes_cycles && !upmu_perf_set_read(set, values) &&
	       !values[0].running_ns;
}

/*
 * Once pages have told the counters of a set, the next one is asked itself: it
 * is started at once, and where its pages do not tell although it runs, the
 * long way says why. Which way permits is the kernel's nature: asked once.
 */
enum permission { NOT_ASKED, BY_SYSCTL, BY_LEASE };
static atomic_int told_by = NOT_ASKED;

void upmu_page_forget(void)
{
	atomic_store(&told_by, NOT_ASKED);
}

static bool open_quickly(struct upmu *set, const struct upmu_wanted *wanted)
{
	int permission = atomic_load(&told_by);

	if (permission == NOT_ASKED ||
	    (set->flags & (UPMU_OPEN_STOPPED | UPMU_OPEN_ON_EXEC)))
		return false;
	if (permission == BY_LEASE) {
		set->has_lease = !upmu_count_lease_get();
		if (!set->has_lease)
			return false;
	}
	if (!open_and_map(set, wanted, false) && !upmu_perf_set_start(set) &&
	    (tells_all(set, wanted) || waits_for_counters(set)))
		return true;
	close_page(set);
	return false;
}

/* What cannot be its own trial yet, beside a set of ours on the cycle counter:
 * a trial could not run, and perf would rotate all of the thread's for it. */
static bool is_known_taken(const struct upmu *set)
{
	return (set->flags & UPMU_OPEN_STOPPED) &&
	       atomic_load(&told_by) != NOT_ASKED &&
	       upmu_registry_takes_cycles(set->who, set->cpu);
}

static int open_page(struct upmu *set, const struct upmu_wanted *wanted)
{
	bool is_taken = is_known_taken(set);
	int ret;

	if (!has_hardware(wanted))
		return upmu_explain_set(-EOPNOTSUPP,
					"software events have no register");
	if (open_quickly(set, wanted))
		return 0;
	ret = ask_page(&set->has_lease, &is_taken);
	if (ret) {
		set->has_lease = false;
		return ret;
	}
	ret = open_and_map(set, wanted, is_taken);
	if (ret)
		close_page(set);
	else
		atomic_store(&told_by, set->has_lease ? BY_LEASE : BY_SYSCTL);
	return ret;
}

/*
 * One look at the pages of an event that has one on each PMU. A thread runs on
 * one kind of core: one event may be on the hardware, and the pages of the
 * others hold what they came to. No page may change while they are added up.
 */
static int try_sum(const struct upmu *set, size_t position, uint64_t *sum)
{
	void *const *pages = set->slots[position].page;
	uint32_t locks[UPMU_PMUS_MAX];
	int running = 0;

	*sum = 0;
	for (size_t pmu = 0; pmu < set->pmus; pmu++) {
		const volatile struct upmu_page *page = pages[pmu];
		uint64_t part;
		int ret;

		locks[pmu] = page->lock;
		part = (uint64_t)page->offset;
		ret = upmu_page_try(pages[pmu], &locks[pmu], &part);
		if (ret == -EAGAIN)
			return ret;
		running += !ret;
		*sum += part;
	}
	for (size_t pmu = 0; pmu < set->pmus; pmu++)
		if (upmu_page_lock(pages[pmu]) != locks[pmu])
			return -EAGAIN;
	return running == 1 ? 0 : -ENODATA;
}

static int sum(const struct upmu *set, size_t position, uint64_t *out)
{
	int ret = -EAGAIN;

	for (int tries = 0; ret == -EAGAIN && tries < 100; tries++)
		ret = try_sum(set, position, out);
	return ret;
}

/* What changes when the thread is switched out or moved to another core. */
static void first_locks(const struct upmu *set, uint32_t *locks)
{
	for (size_t pmu = 0; pmu < set->pmus; pmu++)
		locks[pmu] = upmu_page_lock(set->slots[0].page[pmu]);
}

static int try_sums(const struct upmu *set, uint64_t *out)
{
	uint32_t before[UPMU_PMUS_MAX], after[UPMU_PMUS_MAX];
	int ret = 0;

	first_locks(set, before);
	for (size_t i = 0; !ret && i < set->size; i++)
		ret = sum(set, i, &out[i]);
	first_locks(set, after);
	if (ret)
		return ret;
	return memcmp(before, after, set->pmus * sizeof(*after)) ? -EAGAIN : 0;
}

static bool may_sum(const struct upmu *set)
{
	return set->pmus > 1 && set->slots[0].page[0] &&
	       upmu_is_opener(set->counters);
}

static int counts(const struct upmu *set, uint64_t *out)
{
	int ret = -EAGAIN;

	if (may_sum(set))
		for (int tries = 0; ret == -EAGAIN && tries < 100; tries++)
			ret = try_sums(set, out);
	return ret;
}

static int page_count(struct upmu *set, size_t position, uint64_t *out)
{
	if (may_sum(set) && !sum(set, position, out))
		return 0;
	return upmu_perf_set_count(set, position, out);
}

const struct upmu_source upmu_source_page = {
	.name = "page",
	.probe = page_probe,
	.open = open_page,
	.close = close_page,
	.start = upmu_perf_set_start,
	.stop = upmu_perf_set_stop,
	.read = upmu_perf_set_read,
	.counts = counts,
	.count = page_count,
};
