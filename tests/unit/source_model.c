// SPDX-License-Identifier: MIT
/*
 * model: a PMU made of software whose counts are known beforehand: each event
 * goes on by its position times 1000 at each reading. A source of tests alone;
 * only ever by name.
 */
#include "tests/unit/source_model.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/explain.h"
#include "lib/sources/source.h"

#define STEP	1000u
#define STEP_NS 1000u

struct upmu_model upmu_model = { .running = 100 };

struct state {
	atomic_uint_fast64_t readings;
	atomic_bool is_stopped;
};

static uint64_t step_of(size_t position)
{
	uint64_t step = upmu_model.step[position];

	if (step == UPMU_MODEL_STILL)
		return 0;
	return step ? step : STEP * (position + 1);
}

static int next_reading(const struct upmu *set, uint64_t *n)
{
	struct state *state = set->state;

	if (upmu_model.error)
		return upmu_explain_set(upmu_model.error,
					"the model was told to fail");
	*n = atomic_load(&state->is_stopped)
		     ? atomic_load(&state->readings)
		     : atomic_fetch_add(&state->readings, 1) + 1;
	return 0;
}

static int probe(void)
{
	return upmu_explain_set(0, "counts made up by software, for tests");
}

static int open_model(struct upmu *set, const struct upmu_wanted *wanted)
{
	(void)wanted;
	set->state = calloc(1, sizeof(struct state));
	if (!set->state)
		return upmu_explain_set(-ENOMEM, "out of memory");
	atomic_fetch_add(&upmu_model.open, 1);
	return 0;
}

static void close_model(struct upmu *set)
{
	free(set->state);
	set->state = NULL;
	atomic_fetch_sub(&upmu_model.open, 1);
}

static int set_stopped(struct upmu *set, bool is_stopped)
{
	struct state *state = set->state;

	atomic_store(&state->is_stopped, is_stopped);
	return 0;
}

static int start(struct upmu *set)
{
	return set_stopped(set, false);
}

static int stop(struct upmu *set)
{
	return set_stopped(set, true);
}

static int read_model(struct upmu *set, struct upmu_value *values)
{
	uint64_t n = 0;
	int ret = next_reading(set, &n);

	for (size_t i = 0; !ret && i < set->size; i++)
		values[i] = (struct upmu_value){
			.count = n * step_of(i),
			.enabled_ns = n * STEP_NS,
			.running_ns = n * STEP_NS * upmu_model.running / 100,
		};
	return ret;
}

static int counts(const struct upmu *set, uint64_t *out)
{
	uint64_t n = 0;
	int ret = next_reading(set, &n);

	for (size_t i = 0; !ret && i < set->size; i++)
		out[i] = n * step_of(i);
	return ret;
}

static int count(struct upmu *set, size_t position, uint64_t *out)
{
	uint64_t n = 0;
	int ret = next_reading(set, &n);

	if (!ret)
		*out = n * step_of(position);
	return ret;
}

static const struct upmu_source source_model = {
	.name = "model",
	.by_name_only = true,
	.probe = probe,
	.open = open_model,
	.close = close_model,
	.start = start,
	.stop = stop,
	.read = read_model,
	.counts = counts,
	.count = count,
};

/* Whoever is linked with this file has the source. */
static __attribute__((constructor)) void offer_model(void)
{
	upmu_source_add(&source_model);
}
