// SPDX-License-Identifier: MIT
/* upmu_watch_open(): its events, and what it takes from perf's ring. */
#include "fake_kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "said.h"
#include "lib/perf/group.h"
#include "lib/set/set.h"
#include "upmu.h"
#include "upmu/watch.h"

#define EVERY 1000

static struct upmu_watch *watch;

static int boot_pi2(void **state)
{
	(void)state;
	fake_boot("pi2");
	watch = NULL;
	return 0;
}

static int boot_odroid(void **state)
{
	(void)state;
	fake_boot("odroid-xu4");
	watch = NULL;
	return 0;
}

static int nothing_is_left(void **state)
{
	(void)state;
	upmu_watch_close(watch);
	fake_assert_closed();
	return 0;
}

static struct upmu_options options_of(uint32_t flags)
{
	return (struct upmu_options){ .size = sizeof(struct upmu_options),
				      .flags = flags };
}

static void open_watch(void)
{
	if (upmu_watch_open(&watch, "cycles", EVERY, NULL))
		fail_msg("%s", upmu_explain());
}

static const struct fake_event *opened(size_t i)
{
	return &fake.events[i];
}

static void assert_refused(const char *event, uint64_t every,
			   const struct upmu_options *options, int error,
			   const char *words)
{
	assert_int_equal(upmu_watch_open(&watch, event, every, options), error);
	assert_said(words);
	assert_null(watch);
	fake_assert_closed();
}

/* ---- what is asked of perf ---- */

static void perf_is_asked_for_samples_of_the_raw_clock(void **state)
{
	const struct perf_event_attr *attr = &opened(0)->attr;

	(void)state;
	open_watch();
	assert_int_equal(attr->sample_period, EVERY);
	assert_int_equal(attr->freq, 0);
	assert_int_equal(attr->sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_TID |
						    PERF_SAMPLE_TIME |
						    PERF_SAMPLE_CPU);
	assert_int_equal(attr->wakeup_events, 1);
	assert_int_equal(attr->use_clockid, 1);
	assert_int_equal(attr->clockid, CLOCK_MONOTONIC_RAW);
	assert_int_equal(attr->exclude_kernel, 0);
	assert_int_equal(opened(0)->pid, 0);
	assert_int_equal(opened(0)->cpu, -1);
	assert_int_equal(upmu_watch_fd(watch), FAKE_FD);
}

static void a_cpu_is_watched_whoever_runs_there(void **state)
{
	struct upmu_options options = options_of(UPMU_OPEN_CPU);

	(void)state;
	options.cpu = 1;
	assert_int_equal(upmu_watch_open(&watch, "cycles", EVERY, &options), 0);
	assert_int_equal(opened(0)->pid, -1);
	assert_int_equal(opened(0)->cpu, 1);
}

static void another_thread_is_watched_on_any_cpu(void **state)
{
	struct upmu_options options = options_of(0);

	(void)state;
	options.pid = 4242;
	assert_int_equal(upmu_watch_open(&watch, "cycles", EVERY, &options), 0);
	assert_int_equal(opened(0)->pid, 4242);
	assert_int_equal(opened(0)->cpu, -1);
}

static void assert_config(int fd, uint32_t config)
{
	assert_int_equal(fake.events[fd - FAKE_FD].attr.config, config);
}

/* Perf's cycles have one counter, and who shares it takes turns. */
static void whoever_comes_second_leaves_the_cycle_counter(void **state)
{
	const uint32_t own = 0xff, any = 0x11;
	struct upmu *set;

	(void)state;
	open_watch();
	assert_config(upmu_watch_fd(watch), own);
	assert_int_equal(upmu_open(&set, "cycles", NULL), 0);
	assert_config(set->groups[0].fd[0], any);
	upmu_watch_close(watch);
	open_watch(); /* the set has not got it */
	assert_config(upmu_watch_fd(watch), own);
	upmu_watch_close(watch);
	upmu_close(set);

	assert_int_equal(upmu_open(&set, "cycles", NULL), 0);
	assert_config(set->groups[0].fd[0], own);
	open_watch();
	assert_config(upmu_watch_fd(watch), any);
	upmu_close(set);
}

static void a_watch_elsewhere_leaves_a_set_its_cycle_counter(void **state)
{
	struct upmu_options options = options_of(0);
	struct upmu *set;

	(void)state;
	options.pid = 4242;
	assert_int_equal(upmu_watch_open(&watch, "cycles", EVERY, &options), 0);
	assert_int_equal(upmu_open(&set, "cycles", NULL), 0);
	assert_config(set->groups[0].fd[0], 0xff);
	upmu_close(set);
}

static void user_mode_alone_is_watched_where_asked_for(void **state)
{
	struct upmu_options options = options_of(UPMU_OPEN_USER_ONLY);

	(void)state;
	assert_int_equal(upmu_watch_open(&watch, "cycles", EVERY, &options), 0);
	assert_int_equal(opened(0)->attr.exclude_kernel, 1);
}

static void and_where_no_more_is_allowed(void **state)
{
	(void)state;
	fake.only_user = true;
	open_watch();
	assert_int_equal(opened(0)->attr.exclude_kernel, 1);
	assert_int_equal(fake_open_fds(), 1);
	assert_string_equal(upmu_explain(), "");
}

static void but_no_event_of_the_kernel_is(void **state)
{
	(void)state;
	fake.only_user = true;
	assert_refused("cycles:k", EVERY, NULL, -EACCES, "perf refuses");
}

/* perf opens it, and would never tell. */
static void nor_what_happens_in_the_kernel_alone(void **state)
{
	const struct upmu_options user = { .size = sizeof(user),
					   .flags = UPMU_OPEN_USER_ONLY };

	(void)state;
	assert_refused("context-switches", 1, &user, -EOPNOTSUPP,
		       "they happen in the kernel");
	assert_refused("context-switches:u", 1, NULL, -EOPNOTSUPP,
		       "leave out :u");
	fake.only_user = true;
	assert_refused("context-switches", 1, NULL, -EACCES,
		       "perf_event_paranoid");
	assert_int_equal(upmu_watch_open(&watch, "page-faults", 1, NULL), 0);
}

static void what_forbids_it_is_told_of_the_first_try(void **state)
{
	(void)state;
	fake.perf_error = -EACCES;
	assert_refused("cycles", EVERY, NULL, -EACCES, "perf_event_paranoid");
}

/* More rights would not help. */
static void what_user_mode_lacks_too_is_told_instead(void **state)
{
	(void)state;
	fake.only_user = true;
	fake.map_error = -EPERM;
	assert_refused("cycles", EVERY, NULL, -EPERM, "perf_event_mlock_kb");
	fake.map_error = 0;
	fake.failure = (struct fake_failure){ .call = FAKE_PERF_OPEN,
					      .at = 2,
					      .error = -EOPNOTSUPP };
	assert_refused("cycles", EVERY, NULL, -EOPNOTSUPP, "no interrupt");
}

static void unlike_cores_write_into_one_ring(void **state)
{
	(void)state;
	assert_int_equal(upmu_watch_open(&watch, "instructions", EVERY, NULL),
			 0);
	assert_int_equal(fake_open_fds(), 2);
	assert_int_equal(fake_open_pages(), 1);
	assert_int_not_equal(opened(0)->attr.type, opened(1)->attr.type);
}

static void but_of_the_kernels_own_there_is_one(void **state)
{
	(void)state;
	assert_int_equal(upmu_watch_open(&watch, "page-faults", EVERY, NULL),
			 0);
	assert_int_equal(fake_open_fds(), 1);
}

/* ---- what is refused ---- */

static void a_period_has_bounds(void **state)
{
	(void)state;
	assert_refused("cycles", 0, NULL, -EINVAL, "1 to 2^63 - 1");
	assert_refused("cycles", 1ull << 63, NULL, -EINVAL, "1 to 2^63 - 1");
	assert_int_equal(upmu_watch_open(&watch, "cycles", 1, NULL), 0);
	upmu_watch_close(watch);
	assert_int_equal(
		upmu_watch_open(&watch, "cycles", (1ull << 63) - 1, NULL), 0);
}

static void other_options_are_refused(void **state)
{
	struct upmu_options options = options_of(UPMU_OPEN_STOPPED);

	(void)state;
	assert_refused("cycles", EVERY, &options, -EINVAL, "no source");
	options = options_of(0);
	options.source = "read";
	assert_refused("cycles", EVERY, &options, -EINVAL, "no source");
	assert_refused("cycles,instructions", EVERY, NULL, -EINVAL,
		       "one event, not 2");
	assert_refused("nonsense", EVERY, NULL, -ENOENT, "nonsense");
}

static void a_pmu_without_interrupt_is_named(void **state)
{
	(void)state;
	fake.perf_error = -EOPNOTSUPP;
	assert_refused("cycles", EVERY, NULL, -EOPNOTSUPP, "no interrupt");
}

static void what_never_comes_is_refused(void **state)
{
	(void)state;
	fake.stands_still = true;
	assert_refused("cycles", EVERY, NULL, -ENODEV, "the PMU does not");
	assert_int_equal(upmu_watch_open(&watch, "page-faults", 1, NULL), 0);
	upmu_watch_close(watch);
	watch = NULL;
	fake_boot("qemu-virt-32");
	assert_refused("l1d_cache", EVERY, NULL, -EOPNOTSUPP, "'l1d_cache'");
	fake.still_config = 8;
	assert_refused("instructions", EVERY, NULL, -EOPNOTSUPP,
		       "with -icount only");
	open_watch();
}

static void a_ring_that_cannot_be_mapped_is_told(void **state)
{
	(void)state;
	fake.map_error = -EPERM;
	assert_refused("cycles", EVERY, NULL, -EPERM, "perf_event_mlock_kb");
	fake.map_error = -ENOMEM;
	assert_refused("cycles", EVERY, NULL, -ENOMEM, "Cannot allocate");
	assert_no_hint();
}

/* ---- samples ---- */

struct written {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

static struct perf_event_mmap_page *page(void)
{
	return fake_ring();
}

/* As the kernel does, which goes round the end of the ring. */
static void put(const void *record, size_t size)
{
	char *data = (char *)fake_ring() + 4096;

	for (size_t i = 0; i < size; i++)
		data[(page()->data_head + i) % FAKE_RING] =
			((const char *)record)[i];
	page()->data_head += size;
}

static void put_sample(uint64_t number)
{
	const struct written sample = {
		.header = { .type = PERF_RECORD_SAMPLE,
			    .size = sizeof(sample) },
		.ip = 0x10000 + number,
		.pid = 7,
		.tid = 8,
		.time = 1000 + number,
		.cpu = 3,
	};

	put(&sample, sizeof(sample));
}

static void put_lost(uint64_t lost)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} record = { { .type = PERF_RECORD_LOST, .size = sizeof(record) },
		     1,
		     lost };

	put(&record, sizeof(record));
}

static void put_throttle(void)
{
	const struct {
		struct perf_event_header header;
		uint64_t time, id, stream_id;
	} record = { { .type = PERF_RECORD_THROTTLE, .size = sizeof(record) },
		     99,
		     99,
		     99 };

	put(&record, sizeof(record));
}

static struct upmu_sample sample;

static int next(void)
{
	memset(&sample, 0x5a, sizeof(sample));
	sample.size = sizeof(sample);
	return upmu_watch_next(watch, &sample);
}

static void samples_come_in_turn_and_whole(void **state)
{
	(void)state;
	open_watch();
	assert_int_equal(next(), -EAGAIN);
	put_sample(0);
	put_sample(1);
	for (uint64_t i = 0; i < 2; i++) {
		assert_int_equal(next(), 0);
		assert_int_equal(sample.size, sizeof(sample));
		assert_int_equal(sample.address, 0x10000 + i);
		assert_int_equal(sample.time_ns, 1000 + i);
		assert_int_equal(sample.pid, 7);
		assert_int_equal(sample.tid, 8);
		assert_int_equal(sample.cpu, 3);
		assert_int_equal(sample.lost, 0);
		assert_int_equal(sample.reserved, 0);
	}
	assert_int_equal(next(), -EAGAIN);
	assert_int_equal(page()->data_tail, page()->data_head);
}

static void the_next_sample_tells_how_many_were_lost_before_it(void **state)
{
	(void)state;
	open_watch();
	put_lost(5);
	put_throttle();
	put_lost(6);
	assert_int_equal(next(), -EAGAIN);
	put_sample(0);
	put_sample(1);
	assert_int_equal(next(), 0);
	assert_int_equal(sample.lost, 11);
	assert_int_equal(next(), 0);
	assert_int_equal(sample.lost, 0);
}

/* 41 bytes a time would be no size of perf's: 24 and 48 meet the end anywhere.
 */
static void records_go_round_the_end_of_the_ring(void **state)
{
	(void)state;
	open_watch();
	put_lost(1);
	for (uint64_t i = 0; i < 3 * FAKE_RING / sizeof(struct written); i++) {
		put_sample(i);
		assert_int_equal(next(), 0);
		assert_int_equal(sample.address, 0x10000 + i);
		assert_int_equal(sample.time_ns, 1000 + i);
		assert_int_equal(sample.lost, i ? 0 : 1);
	}
	assert_true(page()->data_tail > 2 * FAKE_RING);
}

/* A 32-bit kernel counts its bytes in a long. */
static void after_4_gib_of_samples_the_kernels_count_begins_anew(void **state)
{
	(void)state;
	open_watch();
	page()->data_head = page()->data_tail = (1ull << 32) - 72;
	put_sample(0);
	put_lost(1);
	put_sample(1);
	page()->data_head = (uint32_t)page()->data_head;
	alarm(10);
	for (uint64_t i = 0; i < 2; i++) {
		assert_int_equal(next(), 0);
		assert_int_equal(sample.address, 0x10000 + i);
		assert_int_equal(sample.lost, i);
	}
	assert_int_equal(next(), -EAGAIN);
	assert_int_equal((uint32_t)page()->data_tail, page()->data_head);
	alarm(0);
}

static void a_short_sample_is_refused_a_long_one_keeps_its_tail(void **state)
{
	struct {
		struct upmu_sample known;
		uint64_t more;
	} longer = { { .size = sizeof(longer) }, 77 };

	(void)state;
	open_watch();
	put_sample(0);
	sample.size = UPMU_SAMPLE_SIZE_1 - 1;
	assert_int_equal(upmu_watch_next(watch, &sample), -EINVAL);
	sample.size = UPMU_SAMPLE_SIZE_1;
	assert_int_equal(upmu_watch_next(watch, &sample), 0);
	put_sample(1);
	assert_int_equal(upmu_watch_next(watch, &longer.known), 0);
	assert_int_equal(longer.known.address, 0x10001);
}

static void a_sample_whose_size_is_by_chance_is_refused(void **state)
{
	struct upmu_sample sample = { .size = 1u << 31 };

	(void)state;
	open_watch();
	assert_int_equal(upmu_watch_next(watch, &sample), -EINVAL);
}

static void a_child_gets_none_of_the_parents(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	open_watch();
	put_sample(0);
	pid = fork();
	if (!pid) {
		bool good = next() == -ESTALE;
		size_t before = fake.unmaps;

		upmu_watch_close(watch);
		_exit(good && fake.unmaps == before ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(next(), 0);
}

static void closing_none_is_no_act(void **state)
{
	(void)state;
	upmu_watch_close(NULL);
	assert_int_equal(fake.unmaps, 0);
}

#define on_pi2(test) \
	cmocka_unit_test_setup_teardown(test, boot_pi2, nothing_is_left)
#define on_odroid(test) \
	cmocka_unit_test_setup_teardown(test, boot_odroid, nothing_is_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_pi2(perf_is_asked_for_samples_of_the_raw_clock),
		on_pi2(a_cpu_is_watched_whoever_runs_there),
		on_pi2(another_thread_is_watched_on_any_cpu),
		on_pi2(whoever_comes_second_leaves_the_cycle_counter),
		on_pi2(a_watch_elsewhere_leaves_a_set_its_cycle_counter),
		on_pi2(user_mode_alone_is_watched_where_asked_for),
		on_pi2(and_where_no_more_is_allowed),
		on_pi2(but_no_event_of_the_kernel_is),
		on_pi2(nor_what_happens_in_the_kernel_alone),
		on_pi2(what_forbids_it_is_told_of_the_first_try),
		on_pi2(what_user_mode_lacks_too_is_told_instead),
		on_odroid(unlike_cores_write_into_one_ring),
		on_odroid(but_of_the_kernels_own_there_is_one),
		on_pi2(a_period_has_bounds),
		on_pi2(other_options_are_refused),
		on_pi2(a_pmu_without_interrupt_is_named),
		on_pi2(what_never_comes_is_refused),
		on_pi2(a_ring_that_cannot_be_mapped_is_told),
		on_pi2(samples_come_in_turn_and_whole),
		on_pi2(the_next_sample_tells_how_many_were_lost_before_it),
		on_pi2(records_go_round_the_end_of_the_ring),
		on_pi2(after_4_gib_of_samples_the_kernels_count_begins_anew),
		on_pi2(a_short_sample_is_refused_a_long_one_keeps_its_tail),
		on_pi2(a_sample_whose_size_is_by_chance_is_refused),
		on_pi2(a_child_gets_none_of_the_parents),
		on_pi2(closing_none_is_no_act),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
