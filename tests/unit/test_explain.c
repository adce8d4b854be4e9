// SPDX-License-Identifier: MIT
/*
 * What upmu_explain() tells where the program ends, and in programs that have
 * many keys of pthread_key_create(3). That words are each thread's own, and end
 * with it: test_threads.c.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "upmu.h"

/* Of the first 32 glibc has the values in the thread itself. */
#define KEYS_BEFORE_OURS 40

static const char *to_tell;

/* Of atexit(3), and there before the library's first call. */
static void tell_at_exit(void)
{
	if (to_tell)
		_exit(!strstr(to_tell, "no_such_event") ||
		      !strstr(upmu_explain(), "no_such_event"));
}

static void handlers_of_exit_tell_the_explanation(void **state)
{
	struct upmu *set;
	int status = -1;
	pid_t child = fork();

	(void)state;
	if (!child) {
		upmu_open(&set, "no_such_event", NULL);
		to_tell = upmu_explain();
		exit(2);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

/* Of the first key: its destructor is called before the library's, and where it
 * sets the value again once more after it. */
static pthread_key_t last_look;

struct look {
	const char *without_words; /* what a thread has that never failed */
	void (*call)(const char *with);
	const char *with;
	int n;
	bool is_kept;
};

static void look_after_all(void *argument)
{
	struct look *look = argument;

	if (!look->n++)
		pthread_setspecific(last_look, look);
	else
		look->is_kept = upmu_explain() != look->without_words;
}

/* The source page refuses what the source read then serves. */
static void open_a_set(const char *source)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .source = source };
	struct upmu *set;

	if (!upmu_open(&set, "page-faults", &options))
		upmu_close(set);
}

static void nest_too_deep(const char *name)
{
	struct upmu_region *region;
	int depth = 0;

	if (upmu_region_open(&region, name))
		return;
	while (!upmu_region_begin(region))
		depth++;
	while (depth--)
		upmu_region_end(region);
}

static void go_beyond_the_last_source(const char *unused)
{
	struct upmu_verdict verdict = { .size = sizeof(verdict) };

	(void)unused;
	upmu_probe(SIZE_MAX, &verdict);
}

static void go_beyond_the_last_event(const char *name)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };
	struct upmu_region *region;

	if (!upmu_region_open(&region, name))
		upmu_region_read(region, SIZE_MAX, &stats);
}

static void choose_again(const char *events)
{
	upmu_regions_init(events, NULL);
}

static void measure_nothing(void *unused)
{
	(void)unused;
}

static void measure_too_often(const char *events)
{
	const struct upmu_measure_options options = { .size = sizeof(options),
						      .events = events,
						      .runs = UINT32_MAX };
	struct upmu_measurement result = { .size = sizeof(result) };

	upmu_measure(measure_nothing, NULL, &options, &result, 1);
}

/* Where there is no module it says so. */
static void want_a_lease(const char *unused)
{
	int lease;

	(void)unused;
	if (!upmu_lease_take(&lease, UPMU_MODE_COUNT, 0))
		upmu_lease_release(lease);
}

static void *fail_and_do_not_ask(void *argument)
{
	const struct look *look = argument;

	look->call(look->with);
	pthread_setspecific(last_look, look);
	return NULL;
}

static void *tell_without_words(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t)upmu_explain();
}

static void assert_nothing_stays(void (*call)(const char *with),
				 const char *with)
{
	struct look look = { .call = call, .with = with };
	pthread_t thread;
	void *words;

	pthread_create(&thread, NULL, tell_without_words, NULL);
	pthread_join(thread, &words);
	look.without_words = words;
	pthread_create(&thread, NULL, fail_and_do_not_ask, &look);
	pthread_join(thread, NULL);
	assert_int_equal(look.n, 2);
	assert_false(look.is_kept);
}

static void words_that_nobody_asks_for_go_with_their_thread(void **state)
{
	const struct upmu_options by_clock = { .size = sizeof(by_clock),
					       .source = "clock" };

	(void)state;
	assert_nothing_stays(open_a_set, NULL);
	assert_nothing_stays(open_a_set, "no_such_source");
	assert_int_equal(upmu_regions_init("cycles", &by_clock), 0);
	/* The report tells of the first one: that was asked for. */
	nest_too_deep("deep");
	assert_nothing_stays(nest_too_deep, "deep");
	assert_nothing_stays(go_beyond_the_last_event, "deep");
	assert_nothing_stays(choose_again, "cycles");
	assert_nothing_stays(go_beyond_the_last_source, NULL);
	assert_nothing_stays(want_a_lease, NULL);
	assert_nothing_stays(measure_too_often, "cycles");
}

/* Sanitizers have a malloc(3) of their own, which tells nothing. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void *fail_to_read(void *set)
{
	struct upmu_value none[2]; /* of one event */
	size_t before = mallinfo2().uordblks;

	if (upmu_read(set, none, 2) != -EINVAL)
		return "it did not fail";
	return mallinfo2().uordblks == before ? NULL : "it took memory";
}

/* A signal's handler may read, and may have interrupted malloc(3). */
static void a_read_that_fails_takes_no_memory_of_malloc(void **state)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .source = "clock" };
	void *failed = NULL;
	pthread_t thread;
	struct upmu *set;

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles", &options), 0);
	pthread_create(&thread, NULL, fail_to_read, set);
	pthread_join(thread, &failed);
	assert_null(failed);
	upmu_close(set);
}
#endif

static _Thread_local struct upmu *read_by_a_handler;
static int read_as_words_went;

/* In place of libc's: a signal comes as it returns. */
int munmap(void *address, size_t size)
{
	int ret = (int)syscall(SYS_munmap, address, size);
	struct upmu_value none[2]; /* of one event */
	struct upmu *set = read_by_a_handler;

	read_by_a_handler = NULL;
	if (set)
		read_as_words_went = upmu_read(set, none, 2);
	return ret;
}

static void *fail_and_end(void *set)
{
	struct upmu *unknown;

	upmu_open(&unknown, "no_such_event", NULL);
	read_by_a_handler = set;
	return NULL;
}

static void a_signals_handler_reads_as_its_thread_ends(void **state)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .source = "clock" };
	pthread_t thread;
	struct upmu *set;

	(void)state;
	assert_int_equal(upmu_open(&set, "cycles", &options), 0);
	pthread_create(&thread, NULL, fail_and_end, set);
	pthread_join(thread, NULL);
	assert_int_equal(read_as_words_went, -EINVAL);
	upmu_close(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_of_exit_tell_the_explanation),
		cmocka_unit_test(
			words_that_nobody_asks_for_go_with_their_thread),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		cmocka_unit_test(a_read_that_fails_takes_no_memory_of_malloc),
#endif
		cmocka_unit_test(a_signals_handler_reads_as_its_thread_ends),
	};
	pthread_key_t key;

	setenv("UPMU_REPORT", "none", 1);
	atexit(tell_at_exit);
	pthread_key_create(&last_look, look_after_all);
	for (int i = 0; i < KEYS_BEFORE_OURS; i++)
		pthread_key_create(&key, NULL);
	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
