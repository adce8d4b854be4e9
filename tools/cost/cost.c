// SPDX-License-Identifier: MIT
#include "cost.h"

#include <math.h>
#include <stddef.h>

#include "lib/sys.h"

enum { CYCLES, INSTRUCTIONS, EVENTS };

#define TRIES 5

#define EVENT_LIST "cycles,instructions" /* in the order of the enum */

/* @is_whole: counted, and on the hardware all the time */
struct sample {
	bool is_whole;
	uint64_t count[EVENTS], ns;
};

/* What is taken off: the loop of the others. */
static __attribute__((noinline)) void do_nothing(const void *arg, int times)
{
	for (int i = 0; i < times; i++)
		__asm__ volatile("" : : "r"(arg));
}

__attribute__((noinline)) void cost_counts(const void *arg, int times)
{
	for (int i = 0; i < times; i++) {
		uint64_t count = upmu_count(arg);

		__asm__ volatile("" : : "r"(count));
	}
}

/* A function call is in the cost of a pair, as it is in a user's program. */
static __attribute__((noinline)) void do_regions(const void *arg, int times)
{
	struct upmu_region *region = *(struct upmu_region *const *)arg;

	for (int i = 0; i < times; i++) {
		upmu_region_begin(region);
		upmu_region_end(region);
	}
}

struct upmu *cost_meter(const char *const *sources)
{
	struct upmu *meter;

	for (; *sources; sources++) {
		struct upmu_options options = { .size = sizeof(options),
						.source = *sources };

		if (!upmu_open(&meter, EVENT_LIST, &options))
			return meter;
	}
	return NULL;
}

static void run_once(struct upmu *meter, cost_work *work, const void *arg,
		     int times, struct sample *sample)
{
	struct upmu_value from[EVENTS], to[EVENTS];
	bool is_read = meter && !upmu_read(meter, from, EVENTS);

	sample->ns = upmu_sys_clock_ns();
	work(arg, times);
	sample->ns = upmu_sys_clock_ns() - sample->ns;
	is_read = is_read && !upmu_read(meter, to, EVENTS);
	sample->is_whole = is_read;
	for (int i = 0; is_read && i < EVENTS; i++) {
		sample->count[i] = to[i].count - from[i].count;
		if (to[i].enabled_ns - from[i].enabled_ns !=
		    to[i].running_ns - from[i].running_ns)
			sample->is_whole = false;
	}
}

/* Others may want the counters for a while: runs during which they had them
 * count for nothing. */
static struct sample least_of_runs(struct upmu *meter, cost_work *work,
				   const void *arg, int times)
{
	struct sample least = { .count = { UINT64_MAX, UINT64_MAX },
				.ns = UINT64_MAX };

	for (int run = 0; run < COST_RUNS; run++) {
		struct sample s;

		run_once(meter, work, arg, times, &s);
		if (s.ns < least.ns)
			least.ns = s.ns;
		least.is_whole |= s.is_whole;
		for (int i = 0; s.is_whole && i < EVENTS; i++)
			if (s.count[i] < least.count[i])
				least.count[i] = s.count[i];
	}
	return least;
}

/* What the outer region counted, at the least, around @work. */
static int least_of_regions(const char *name, cost_work *work, const void *arg,
			    int times, struct sample *least)
{
	struct upmu_region_stats stats = { .size = sizeof(stats) };
	struct upmu_region *outer;
	int ret = upmu_region_open(&outer, name);

	*least = (struct sample){ .ns = UINT64_MAX };
	for (int run = 0; !ret && run < COST_RUNS; run++) {
		uint64_t ns;

		ret = upmu_region_begin(outer);
		ns = upmu_sys_clock_ns();
		work(arg, times);
		ns = upmu_sys_clock_ns() - ns;
		if (!ret)
			ret = upmu_region_end(outer);
		if (ns < least->ns)
			least->ns = ns;
	}
	for (int i = 0; !ret && i < EVENTS; i++) {
		ret = upmu_region_read(outer, i, &stats);
		if (ret)
			break;
		least->count[i] = stats.min;
		least->is_whole = stats.running >= 1;
	}
	return ret;
}

/* Two measurements, of COST_REPEATS and of twice as many repetitions: what is
 * there once, such as the call, is in both. */
struct pair {
	struct sample once, twice;
};

static double one_of(uint64_t once, uint64_t twice)
{
	return twice > once ? (double)(twice - once) / COST_REPEATS : 0;
}

static bool is_undisturbed(const struct pair *pair, const struct upmu *meter)
{
	bool is = pair->twice.ns > pair->once.ns;

	if (!meter)
		return is;
	is = is && pair->once.is_whole && pair->twice.is_whole;
	for (int i = 0; i < EVENTS; i++)
		is = is && pair->twice.count[i] > pair->once.count[i];
	return is;
}

static double one_event(const struct pair *with, const struct pair *without,
			int event)
{
	double loop, one;

	if (!with->once.is_whole || !with->twice.is_whole ||
	    !without->once.is_whole || !without->twice.is_whole)
		return NAN;
	/* An empty loop is short: 0 is what disturbances can make of it. */
	loop = one_of(without->once.count[event], without->twice.count[event]);
	one = one_of(with->once.count[event], with->twice.count[event]);
	/* No reading takes 0 instructions: this PMU does not count them. */
	if (one <= 0)
		return NAN;
	return one > loop ? one - loop : 0;
}

static struct cost cost_of(const struct pair *with, const struct pair *without)
{
	double ns = one_of(with->once.ns, with->twice.ns) -
		    one_of(without->once.ns, without->twice.ns);

	return (struct cost){
		.cycles = one_event(with, without, CYCLES),
		.instructions = one_event(with, without, INSTRUCTIONS),
		.ns = ns > 0 ? ns : 0,
	};
}

/* Where all runs of the fewer were disturbed more than those of twice as many,
 * or others had the counters, once more. */
static struct pair measure(struct upmu *meter, cost_work *work, const void *arg)
{
	struct pair pair;

	for (int try = 0; try < TRIES; try++) {
		pair.once = least_of_runs(meter, work, arg, COST_REPEATS);
		pair.twice = least_of_runs(meter, work, arg, 2 * COST_REPEATS);
		if (is_undisturbed(&pair, meter))
			break;
	}
	return pair;
}

struct cost cost_measure(struct upmu *meter, cost_work *work, const void *arg)
{
	struct pair without = measure(meter, do_nothing, arg);
	struct pair with = measure(meter, work, arg);

	return cost_of(&with, &without);
}

int cost_region(struct cost *cost)
{
	const struct {
		const char *name;
		cost_work *work;
		int times;
	} plan[] = {
		{ "loop", do_nothing, COST_REPEATS },
		{ "loop twice", do_nothing, 2 * COST_REPEATS },
		{ "pairs", do_regions, COST_REPEATS },
		{ "pairs twice", do_regions, 2 * COST_REPEATS },
	};
	struct upmu_region *empty;
	struct sample s[4];
	int ret = upmu_regions_init(EVENT_LIST, NULL);

	if (!ret)
		ret = upmu_region_open(&empty, "empty");
	for (int i = 0; !ret && i < 4; i++)
		ret = least_of_regions(plan[i].name, plan[i].work, &empty,
				       plan[i].times, &s[i]);
	if (!ret)
		*cost = cost_of(&(struct pair){ s[2], s[3] },
				&(struct pair){ s[0], s[1] });
	return ret;
}
