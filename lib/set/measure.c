// SPDX-License-Identifier: MIT
/*
 * upmu_measure: what one call of a function costs.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/module/lease.h"
#include "lib/set/fast.h"
#include "lib/set/options.h"
#include "lib/set/set.h"

#define EVENTS_MAX     8
#define DEFAULT_WARMUP 10
#define DEFAULT_RUNS   101
#define MOST	       1000000u

struct run {
	struct upmu *set;
	size_t n;
	size_t runs;
	uint64_t *counts;  /* n rows of runs columns */
	struct run *outer; /* whose function measures */
};

/* Not inline, so that the empty function is called by the same instructions
 * as the other. */
static __attribute__((noinline)) int run_once(const struct run *run,
					      void (*fn)(void *), void *arg,
					      uint64_t *before, uint64_t *after)
{
	const struct upmu_counter *counters = run->set->counters;
	int ret;

	ret = upmu_fast_counts(counters, before, run->n);
	if (!ret) {
		fn(arg);
		ret = upmu_fast_counts(counters, after, run->n);
		if (!ret)
			return 0;
		return upmu_set_counts(run->set, after, run->n);
	}
	ret = upmu_set_counts(run->set, before, run->n);
	if (ret)
		return ret;
	fn(arg);
	return upmu_set_counts(run->set, after, run->n);
}

static int run_all(const struct run *run, void (*fn)(void *), void *arg,
		   size_t warmup)
{
	uint64_t before[EVENTS_MAX], after[EVENTS_MAX];

	for (size_t i = 0; i < warmup + run->runs; i++) {
		int ret = run_once(run, fn, arg, before, after);

		if (ret)
			return ret;
		if (i < warmup)
			continue;
		for (size_t k = 0; k < run->n; k++)
			run->counts[k * run->runs + i - warmup] =
				after[k] - before[k];
	}
	return 0;
}

static void empty(void *arg)
{
	(void)arg;
}

static int by_count(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Quartiles by nearest rank, so that each is a count that was seen. */
static uint64_t quantile(const uint64_t *sorted, size_t n, unsigned int percent)
{
	return sorted[(n * percent + 99) / 100 - 1];
}

static void sort_counts(const struct run *run)
{
	for (size_t k = 0; k < run->n; k++)
		qsort(&run->counts[k * run->runs], run->runs,
		      sizeof(*run->counts), by_count);
}

static uint64_t without(uint64_t count, uint64_t overhead)
{
	return count > overhead ? count - overhead : 0;
}

/* @results: as far apart as the caller's struct is large. */
static void tell(const struct run *run, struct upmu_measurement *results,
		 const uint64_t *overhead)
{
	size_t size = results->size;

	for (size_t k = 0; k < run->n; k++) {
		char *result = (char *)results + k * size;
		struct upmu_measurement full;
		const uint64_t *sorted = &run->counts[k * run->runs];
		size_t n = run->runs;

		full = (struct upmu_measurement){
			.min = without(sorted[0], overhead[k]),
			.q1 = without(quantile(sorted, n, 25), overhead[k]),
			.median = without(quantile(sorted, n, 50), overhead[k]),
			.q3 = without(quantile(sorted, n, 75), overhead[k]),
			.max = without(sorted[n - 1], overhead[k]),
			.overhead = overhead[k],
		};
		memcpy(result, &size, sizeof(size));
		upmu_result_give(result, &full, sizeof(full), size);
	}
}

/* Counts that were not on the hardware all the time lack something. */
static int check_whole(struct upmu *set, size_t n)
{
	struct upmu_value values[EVENTS_MAX];
	int ret = upmu_read(set, values, n);

	if (ret)
		return ret;
	if (values[0].running_ns == values[0].enabled_ns)
		return 0;
	if (!values[0].running_ns)
		return upmu_explain_no_counter();
	upmu_explain_set(-EAGAIN,
			 "the events were on the hardware in %llu of %llu us "
			 "only: others use the counters too",
			 (unsigned long long)values[0].running_ns / 1000,
			 (unsigned long long)values[0].enabled_ns / 1000);
	upmu_explain_hint("measure fewer events at a time, or end other users "
			  "of perf");
	return -EAGAIN;
}

static int measure(const struct run *run, void (*fn)(void *), void *arg,
		   size_t warmup, struct upmu_measurement *results)
{
	uint64_t overhead[EVENTS_MAX] = { 0 };
	int ret;

	ret = run_all(run, empty, NULL, warmup);
	if (ret)
		return ret;
	sort_counts(run);
	for (size_t k = 0; k < run->n; k++)
		overhead[k] =
			quantile(&run->counts[k * run->runs], run->runs, 50);
	ret = run_all(run, fn, arg, warmup);
	if (!ret)
		ret = check_whole(run->set, run->n);
	if (ret)
		return ret;
	sort_counts(run);
	tell(run, results, overhead);
	return 0;
}

static int check_options(struct upmu_measure_options *full,
			 const struct upmu_measure_options *options)
{
	int ret = upmu_options_fit(full, sizeof(*full), options,
				   UPMU_MEASURE_OPTIONS_SIZE_1);

	if (ret)
		return ret;
	if (full->open && full->open->size >= UPMU_OPTIONS_SIZE_1)
		ret = upmu_options_check_own(full->open, "measured functions");
	if (ret)
		return ret;
	if (full->warmup > MOST || full->runs > MOST)
		return upmu_explain_set(-EINVAL,
					"%u warm-up runs and %u runs: each may "
					"be %u at most",
					full->warmup, full->runs, MOST);
	if (!full->events)
		full->events = "cycles";
	if (!full->warmup)
		full->warmup = DEFAULT_WARMUP;
	if (!full->runs)
		full->runs = DEFAULT_RUNS;
	return 0;
}

static int measure_set(struct run *run, void (*fn)(void *), void *arg,
		       size_t warmup, struct upmu_measurement *results)
{
	size_t n = run->n;

	if (n != run->set->size || n > EVENTS_MAX)
		return upmu_explain_set(-EINVAL,
					"room for %zu results, but %zu events "
					"(at most %d)",
					n, run->set->size, EVENTS_MAX);
	run->counts = calloc(n, run->runs * sizeof(*run->counts));
	if (!run->counts)
		return upmu_explain_set(-ENOMEM, "out of memory");
	return measure(run, fn, arg, warmup, results);
}

/*
 * The function may end the thread, or jump out of it all: the end of the thread
 * then closes what is left. pthread_cleanup_push(3) would not do: who jumps out
 * leaves its buffer on a stack that others use, and the thread's end goes
 * there.
 */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static atomic_bool has_key; /* others may measure while the process exits */

static void close_run(struct run *run)
{
	upmu_close(run->set);
	free(run->counts);
	free(run);
}

static void close_runs(void *innermost)
{
	struct run *run = innermost;

	while (run) {
		struct run *outer = run->outer;

		close_run(run);
		run = outer;
	}
}

/* A plugin may have the library in itself, and is unloaded with it; also then
 * what atexit(3) was given there runs. */
static void forget_ends(void)
{
	if (has_key)
		pthread_key_delete(key);
	has_key = false;
}

static void make_key(void)
{
	has_key = !pthread_key_create(&key, close_runs) && !atexit(forget_ends);
}

/* Where there is no key, nothing but such an end goes by unseen. */
static void remember(struct run *run)
{
	pthread_once(&once, make_key);
	if (!has_key)
		return;
	run->outer = pthread_getspecific(key);
	pthread_setspecific(key, run);
}

/* Those inside it were jumped out of, and stay. */
static void forget(const struct run *run)
{
	struct run *inner = has_key ? pthread_getspecific(key) : NULL;

	if (inner == run)
		pthread_setspecific(key, run->outer);
	while (inner && inner->outer != run)
		inner = inner->outer;
	if (inner)
		inner->outer = run->outer;
}

static int open_and_measure(struct run *run, void (*fn)(void *), void *arg,
			    const struct upmu_measure_options *options,
			    struct upmu_measurement *results)
{
	int ret =
		upmu_set_open(&run->set, options->events, options->open, true);

	if (ret)
		return ret;
	remember(run);
	ret = measure_set(run, fn, arg, options->warmup, results);
	forget(run);
	return ret;
}

int upmu_measure(void (*fn)(void *arg), void *arg,
		 const struct upmu_measure_options *options,
		 struct upmu_measurement *results, size_t n)
{
	struct upmu_measure_options full;
	struct run *run;
	int ret;

	assert(fn && results);
	ret = check_options(&full, options);
	if (!ret && upmu_is_no_size(results->size, UPMU_MEASUREMENT_SIZE_1))
		ret = upmu_explain_set(-EINVAL,
				       "results->size is %zu; set it to sizeof "
				       "of the struct (%zu)",
				       results->size, sizeof(*results));
	if (ret)
		return upmu_explain_done(ret);
	run = calloc(1, sizeof(*run));
	if (!run)
		return upmu_explain_set(-ENOMEM, "out of memory");
	run->n = n;
	run->runs = full.runs;
	ret = open_and_measure(run, fn, arg, &full, results);
	close_run(run);
	/* Words of what the function itself called stay. */
	return ret ? upmu_explain_done(ret) : 0;
}
