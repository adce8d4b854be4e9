// SPDX-License-Identifier: MIT
/*
 * Memory that runs out: each allocation of a call fails once, by itself. The
 * call is then -ENOMEM with words, nothing of it is left, and the next one
 * succeeds; or the call did not need it and is whole.
 */
#include "tests/unit/fake_kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/set/wanted.h"
#include "tests/model/current.h"
#include "tests/model/own_time.h"
#include "tests/unit/said.h"

#define NEVER	   -1
#define PMU_OF_PI2 8u /* its number, in the fixture */

static int left = NEVER; /* allocations before the one that fails */
static bool has_failed;
static int live;

static bool fails(void)
{
	if (left != 0) {
		left -= left > 0;
		return false;
	}
	left = NEVER;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

static void *tell(void *memory)
{
	live += memory != NULL;
	return memory;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : tell(__real_malloc(size));
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : tell(__real_calloc(n, size));
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : tell(__real_strdup(text));
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory)
{
	live -= memory != NULL;
	__real_free(memory);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
	return fails() ? NULL : __real_opendir(path);
}

/* What it makes is freed by free(). */
FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
	if (fails())
		return NULL;
	live++;
	return __real_open_memstream(text, size);
}

/* ---- what is tried ------------------------------------------------------- */

static const char *source;

/* The machine was not remembered as one that has no PMU. */
static bool is_counted_by_the_pmu(void)
{
	for (size_t i = 0; i < FAKE_FDS; i++)
		if (fake.events[i].is_open && !fake.events[i].is_device &&
		    fake.events[i].attr.type != PMU_OF_PI2)
			return false;
	return true;
}

/* 0, or -ENOMEM with nothing changed; anything else is a failure. */
static int open_and_close(void)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = source,
	};
	struct upmu *const untouched = (struct upmu *)0x5a5a;
	struct upmu *set = untouched;
	int ret = upmu_open(&set, "cycles,r8", &options);

	if (ret)
		return set == untouched ? ret : -EPROTO;
	ret = is_counted_by_the_pmu() ? 0 : -EPROTO;
	upmu_close(set);
	return ret;
}

static void work(void *unused)
{
	(void)unused;
}

static int measure(void)
{
	const struct upmu_options open = { .size = sizeof(open),
					   .source = "model" };
	const struct upmu_measure_options options = {
		.size = sizeof(options),
		.events = "r1,r2",
		.open = &open,
	};
	struct upmu_measurement results[2] = {
		{ .size = sizeof(results[0]), .max = 7 }, { .max = 7 }
	};
	int ret = upmu_measure(work, NULL, &options, results, 2);

	if (ret && (results[0].max != 7 || results[1].max != 7))
		return -EPROTO;
	return ret;
}

static const struct upmu_options model_only = {
	.size = sizeof(struct upmu_options),
	.source = "model",
};

static int choose(void)
{
	return upmu_regions_init("r1,r2", &model_only);
}

static struct upmu_region *region;

static int open_region(void)
{
	struct upmu_region *out = NULL;
	int ret = upmu_region_open(&out, "work");

	return (ret != 0) == (out == NULL) ? ret : -EPROTO;
}

static void have_region(void)
{
	setenv("UPMU_SOURCE", "model", 1);
	if (upmu_region_open(&region, "work"))
		abort();
}

static int begin_and_end(void)
{
	int ret = upmu_region_begin(region);

	return ret ? ret : upmu_region_end(region);
}

static void have_calls(void)
{
	have_region();
	if (begin_and_end())
		abort();
}

static int read_region(void)
{
	struct upmu_region_stats stats = { .size = sizeof(stats), .calls = 77 };
	int ret = upmu_region_read(region, 0, &stats);

	if (stats.calls != (ret ? 77 : 1))
		return -EPROTO;
	return ret;
}

static int report_as(enum upmu_region_format format)
{
	FILE *file = tmpfile();
	long size;
	int ret = upmu_regions_report(fileno(file), format);

	fseek(file, 0, SEEK_END);
	size = ftell(file);
	fclose(file);
	/* A report is whole, or there is none of it. */
	return (ret != 0) == (size == 0) ? ret : -EPROTO;
}

static int report_text(void)
{
	return report_as(UPMU_REGION_TEXT);
}

static int report_json(void)
{
	return report_as(UPMU_REGION_JSON);
}

/* ---- trying -------------------------------------------------------------- */

enum result {
	PASSED,
	PASSED_TO_THE_END,
	WRONG_ERROR,
	NO_WORDS,
	LEFT,
	NOT_AGAIN
};

static enum result try_nth(int n, void (*prepare)(void), int (*act)(void),
			   bool keeps)
{
	int before, ret;

	if (prepare)
		prepare();
	upmu_wanted_forget_list();
	before = live;
	left = n;
	ret = act();
	left = NEVER;
	upmu_wanted_forget_list();
	if (!has_failed)
		return ret ? WRONG_ERROR : PASSED_TO_THE_END;
	if (ret && ret != -ENOMEM)
		return WRONG_ERROR;
	if (ret && !strstr(upmu_explain(), "memory"))
		return NO_WORDS;
	if ((ret || !keeps) && live != before)
		return LEFT;
	if (fake_open_fds() || fake_open_pages() || fake.live_leases)
		return LEFT;
	/* What is kept was chosen for good. */
	if (!ret && keeps)
		return PASSED;
	return act() ? NOT_AGAIN : PASSED;
}

/* In a child each: what regions and the machine are is remembered. */
static enum result in_child(int n, void (*prepare)(void), int (*act)(void),
			    bool keeps)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		setenv("UPMU_REPORT", "none", 1);
		_exit(try_nth(n, prepare, act, keeps));
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status))
		fail_msg("allocation %d: killed by signal %d", n,
			 WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* @keeps: what succeeded stays until the end of the process. */
static void try_all(void (*prepare)(void), int (*act)(void), bool keeps,
		    int at_least)
{
	static const char *const words[] = {
		[WRONG_ERROR] = "another result than 0 or -ENOMEM",
		[NO_WORDS] = "no words of memory",
		[LEFT] = "something of it is left",
		[NOT_AGAIN] = "the next call fails too",
	};
	enum result result = PASSED;
	int n;

	for (n = 0; n < 1000; n++) {
		result = in_child(n, prepare, act, keeps);
		if (result == PASSED_TO_THE_END)
			break;
		if (result != PASSED)
			fail_msg("allocation %d: %s", n, words[result]);
	}
	assert_int_equal(result, PASSED_TO_THE_END);
	assert_in_range(n, at_least, 999);
}

static int boot(void **state)
{
	(void)state;
	model_init(&model, MODEL_KIND, 4);
	model.user_access = UPMU_USER_EN;
	model.is_user = true;
	fake_boot("pi2");
	fake.cpus = 1;
	this_cpu = 0;
	return 0;
}

static void no_memory_for_a_set_is_enomem(void **state)
{
	/* Options, list, set; the source's own. */
	static const struct {
		const char *name;
		int allocations;
	} sources[] = {
		{ NULL, 4 },  { "page", 4 },  { "read", 4 },
		{ "raw", 4 }, { "model", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		source = sources[i].name;
		try_all(NULL, open_and_close, false, sources[i].allocations);
	}
}

static void no_memory_to_measure_is_enomem(void **state)
{
	(void)state;
	try_all(NULL, measure, false, 5);
}

static void no_memory_for_regions_is_enomem(void **state)
{
	(void)state;
	try_all(NULL, open_region, true, 1);
	try_all(NULL, choose, true, 5);
	try_all(have_region, begin_and_end, true, 4);
	try_all(have_calls, read_region, false, 1);
}

static void no_memory_for_a_report_is_enomem_and_writes_nothing(void **state)
{
	(void)state;
	try_all(have_calls, report_text, false, 2);
	try_all(have_calls, report_json, false, 2);
}

static void assert_enomem_of(const char *name)
{
	int before;

	upmu_wanted_forget_list();
	before = live;
	source = name;
	assert_int_equal(open_and_close(), -ENOMEM);
	upmu_wanted_forget_list();
	assert_int_equal(live, before);
	fake_assert_closed();
}

static void a_kernel_without_memory_is_enomem(void **state)
{
	int lease = -77;

	(void)state;
	fake.perf_error = -ENOMEM;
	assert_enomem_of("read");
	fake.perf_error = 0;
	fake.map_error = -ENOMEM;
	assert_enomem_of("page");
	fake.map_error = 0;
	fake.lease_error = -ENOMEM;
	assert_enomem_of("page");
	assert_enomem_of("raw");
	assert_int_equal(upmu_lease_take(&lease, UPMU_MODE_CYCLES, 0), -ENOMEM);
	assert_said("no CYCLES lease: ");
	assert_int_equal(lease, -77);
}

#define CASE(name) cmocka_unit_test_setup(name, boot)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(no_memory_for_a_set_is_enomem),
		CASE(no_memory_to_measure_is_enomem),
		CASE(no_memory_for_regions_is_enomem),
		CASE(no_memory_for_a_report_is_enomem_and_writes_nothing),
		CASE(a_kernel_without_memory_is_enomem),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
