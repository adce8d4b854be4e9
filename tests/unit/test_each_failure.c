// SPDX-License-Identifier: MIT
/*
 * Whatever fails, fails well: each call of what programs do with the library
 * is done again and again, and each time another allocation, system call or
 * file is the one that fails, once or from then on.
 *
 * Then either nothing was noticed and the result is what it always is, or the
 * call returns an error with a reason, gives nothing, and leaves nothing open
 * or allocated.
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/engine/engine.h"
#include "lib/explain.h"
#include "lib/set/wanted.h"
#include "upmu.h"
#include "upmu/regions.h"
#include "upmu/uapi.h"
#include "upmu/watch.h"

#define GONE ((void *)0x5a5a)
#define MOST 400 /* calls of one kind that a scenario makes */
#define SAID 1024
#define PID  4242

/* ---- memory ---- */

static long live;

#define FAILING_MEMORY(name, parameters, arguments, was)                       \
	void *__real_##name parameters;                                        \
	void *__wrap_##name parameters;                                        \
	void *__wrap_##name parameters                                         \
	{                                                                      \
		void *got = fake_fails(FAKE_MEMORY) ? NULL                     \
						    : __real_##name arguments; \
                                                                               \
		live += got && !(was);                                         \
		errno = got ? errno : ENOMEM;                                  \
		return got;                                                    \
	}

FAILING_MEMORY(malloc, (size_t size), (size), false)
FAILING_MEMORY(calloc, (size_t n, size_t size), (n, size), false)
FAILING_MEMORY(realloc, (void *old, size_t size), (old, size), old)

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	char *got = fake_fails(FAKE_MEMORY) ? NULL : __real_strdup(text);

	live += !!got;
	return got;
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
	live -= !!memory;
	__real_free(memory);
}

/* ---- what programs do; each writes what came of it ---- */

struct scenario {
	const char *name;
	const char *board;
	int (*act)(const struct scenario *self, char *said);
	const char *events;
	struct upmu_options options;
};

static int refused(int error)
{
	assert_true(error < 0);
	assert_string_not_equal(upmu_explain(), "");
	return error;
}

static int set_up(const struct scenario *self, char *said)
{
	struct upmu_value values[UPMU_EVENTS_MAX];
	struct upmu_options options = self->options;
	struct upmu *set = GONE;
	size_t at = 0;
	int ret;

	options.size = sizeof(options);
	ret = upmu_open(&set, self->events, &options);
	if (ret) {
		assert_ptr_equal(set, GONE);
		return refused(ret);
	}
	for (size_t i = 0; i < upmu_size(set); i++)
		at += (size_t)snprintf(said + at, SAID - at, "%s in %s\n",
				       upmu_event_name(set, i),
				       upmu_unit(set, i));
	ret = upmu_read(set, values, upmu_size(set));
	for (size_t i = 0; !ret && i < upmu_size(set); i++)
		assert_true(values[i].running_ns <= values[i].enabled_ns);
	if (!ret)
		ret = upmu_stop(set);
	if (!ret)
		ret = upmu_start(set);
	upmu_close(set);
	assert_true(ret <= 0);
	return ret;
}

static int watch(const struct scenario *self, char *said)
{
	struct upmu_options options = self->options;
	struct upmu_watch *watch = GONE;
	int ret;

	options.size = sizeof(options);
	ret = upmu_watch_open(&watch, self->events, 1000, &options);
	if (ret) {
		assert_ptr_equal(watch, GONE);
		return refused(ret);
	}
	strcpy(said, "watched\n");
	upmu_watch_close(watch);
	return 0;
}

static int lease(const struct scenario *self, char *said)
{
	int lease = -77, ret = upmu_lease_take(&lease, UPMU_MODE_RAW, 0);

	(void)self;
	if (ret) {
		assert_int_equal(lease, -77);
		return refused(ret);
	}
	strcpy(said, "leased\n");
	ret = upmu_lease_check(lease);
	upmu_lease_release(lease);
	return ret;
}

static void nothing(void *arg)
{
	(void)arg;
}

static int measure(const struct scenario *self, char *said)
{
	const struct upmu_measure_options options = {
		.size = sizeof(options),
		.events = self->events,
		.warmup = 1,
		.runs = 2,
	};
	struct upmu_measurement results[2] = { { .size = sizeof(*results) } };
	int ret;

	fake.index = 0; /* no registers on a machine that is emulated */
	ret = upmu_measure(nothing, NULL, &options, results, 2);
	if (ret)
		return refused(ret);
	strcpy(said, "measured\n");
	return 0;
}

/* A verdict tells why not: its call fails at no machine. */
static int probe(const struct scenario *self, char *said)
{
	struct upmu_verdict verdict = { .size = sizeof(verdict) };
	int error = 0;

	(void)self, (void)said;
	for (size_t i = 0; !upmu_probe(i, &verdict); i++) {
		assert_true(verdict.error <= 0);
		assert_true(!verdict.error || verdict.reason[0]);
		error = error ? error : verdict.error;
	}
	return error;
}

static int run_engine(struct engine *engine, struct engine_events *events)
{
	static struct engine_target target = { .pid = PID, .cpu = -1 };
	const struct engine_targets targets = { .target = &target, .n = 1 };
	const struct engine_options how = { .inherit = true,
					    .pass = -1,
					    .slice_ms = 1 };
	struct engine_count counts[UPMU_EVENTS_MAX * 2] = { 0 };
	int ret = engine_open(engine, events, &targets, &how);

	if (!ret)
		ret = engine_start(engine, false);
	if (ret)
		return ret;
	for (int i = 0; i < 4; i++)
		engine_turn(engine, true);
	engine_pause(engine);
	engine_resume(engine);
	engine_turn(engine, false);
	engine_collect(engine, counts);
	for (size_t i = 0; i < events->n; i++) {
		if (counts[i].state == ENGINE_NOT_SUPPORTED)
			assert_string_not_equal(events->reason, "");
		if (counts[i].state != ENGINE_COUNTED)
			ret = -ENODATA;
	}
	return ret;
}

static int count_in_turns(const struct scenario *self, char *said)
{
	static struct engine_events events; /* large */
	struct engine engine = { 0 };
	struct upmu_events_error why = { 0 };
	size_t at = 0;
	int ret;

	fake.ordinary = 2;
	ret = engine_events_resolve(&events, self->events, &why);
	if (ret) {
		assert_true(ret == -ENOMEM || why.text[0]);
	} else {
		ret = run_engine(&engine, &events);
		engine_close(&engine);
	}
	for (size_t i = 0; !ret && i < events.n; i++)
		at += (size_t)snprintf(said + at, SAID - at, "%s\n",
				       events.event[i].name);
	engine_events_free(&events);
	return ret;
}

static const struct scenario scenarios[] = {
	{ "a_set", "pi2", set_up, "cycles,instructions", { 0 } },
	{ "a_set_by_calls",
	  "pi2",
	  set_up,
	  "cycles,r8,r10",
	  { .source = "read" } },
	{ "a_set_of_software_events",
	  "pi2",
	  set_up,
	  "task-clock,page-faults",
	  { 0 } },
	{ "a_set_of_user_mode",
	  "pi2",
	  set_up,
	  "cycles:u,instructions:u",
	  { .flags = UPMU_OPEN_USER_ONLY } },
	{ "a_set_that_is_stopped",
	  "pi2",
	  set_up,
	  "cycles,instructions",
	  { .flags = UPMU_OPEN_STOPPED } },
	{ "a_set_on_unlike_cores",
	  "odroid-xu4",
	  set_up,
	  "cycles,instructions,branch-misses",
	  { 0 } },
	{ "a_set_bound_to_some_cores",
	  "odroid-xu4",
	  set_up,
	  "cycles",
	  { .flags = UPMU_OPEN_BOUND } },
	{ "a_set_of_another_thread",
	  "pi2",
	  set_up,
	  "cycles,r8",
	  { .pid = PID, .flags = UPMU_OPEN_INHERIT } },
	{ "a_set_of_a_cpu",
	  "rk3399",
	  set_up,
	  "cycles",
	  { .cpu = 1, .flags = UPMU_OPEN_CPU } },
	{ "a_clock_at_least",
	  "pi1",
	  set_up,
	  "cycles",
	  { .flags = UPMU_OPEN_ANY_CLOCK } },
	{ "a_watch", "pi2", watch, "cycles", { 0 } },
	{ "a_watch_on_unlike_cores",
	  "odroid-xu4",
	  watch,
	  "instructions",
	  { 0 } },
	{ "a_lease", "pi2", lease, NULL, { 0 } },
	{ "a_measurement", "pi2", measure, "cycles,instructions", { 0 } },
	{ "a_program_in_turns",
	  "pi2",
	  count_in_turns,
	  "cycles,instructions,r3,r4,r10,r12,r13,task-clock",
	  { 0 } },
	{ "the_default_list_on_unlike_cores",
	  "odroid-xu4",
	  count_in_turns,
	  NULL,
	  { 0 } },
	{ "each_source", "pi2", probe, NULL, { 0 } },
};

/* ---- each of them with each failure ---- */

static int run(const struct scenario *one, const struct fake_failure *failure,
	       char *said)
{
	long before;
	int ret;

	fake_boot(one->board);
	fake.failure = *failure;
	upmu_explain_clear();
	memset(said, 0, SAID);
	upmu_wanted_forget_list();
	before = live;
	ret = one->act(one, said);
	upmu_wanted_forget_list();
	/* what the test itself does next may come by here too */
	fake.failure.call = FAKE_NONE;
	fake_assert_closed();
	assert_int_equal(live, before);
	return ret;
}

/* How many calls of its kind were made until none was left to fail. */
static size_t fail_each(const struct scenario *one, struct fake_failure failure,
			const char *usual)
{
	char said[SAID];

	for (failure.at = 1; failure.at < MOST; failure.at++) {
		int ret = run(one, &failure, said);

		if (!ret && one->act == set_up)
			assert_string_equal(upmu_explain(), "");
		if (!ret && strcmp(said, usual))
			fail_msg("%s: call %zu of kind %d: %s", one->name,
				 failure.at, failure.call, said);
		if (fake.failure.seen < failure.at)
			return failure.at - 1;
	}
	fail_msg("%s: ever more calls of kind %d", one->name, failure.call);
	return 0;
}

static void each_failure_is_told_or_makes_no_difference(void **state)
{
	const struct scenario *one = *state;
	const struct fake_failure none = { 0 };
	static const int errors[FAKE_CALLS] = {
		[FAKE_MEMORY] = -ENOMEM, [FAKE_PERF_OPEN] = -EMFILE,
		[FAKE_OPEN] = -EMFILE,	 [FAKE_READ] = -EIO,
		[FAKE_IOCTL] = -EIO,	 [FAKE_MAP] = -EPERM,
		[FAKE_LOCK] = -EBUSY,	 [FAKE_AFFINITY] = -ESRCH,
		[FAKE_FILE] = -EACCES,
	};
	char usual[SAID];
	size_t failed = 0;
	int ret = run(one, &none, usual);

	if (one->act != probe && ret)
		fail_msg("%s: %d: %s", one->name, ret, upmu_explain());
	for (int call = FAKE_NONE + 1; call < FAKE_CALLS; call++)
		for (int goes_on = 0; goes_on < 2; goes_on++)
			failed += fail_each(one,
					    (struct fake_failure){
						    .call = call,
						    .goes_on = goes_on,
						    .error = errors[call],
					    },
					    usual);
	assert_true(failed > 4);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(scenarios) / sizeof(scenarios[0])];
	size_t n = 0;

	for (; n < sizeof(tests) / sizeof(tests[0]); n++)
		tests[n] = (struct CMUnitTest){
			.name = scenarios[n].name,
			.test_func =
				each_failure_is_told_or_makes_no_difference,
			.initial_state = (void *)&scenarios[n],
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
