// SPDX-License-Identifier: MIT
/*
 * kmod_info WORDS - whether INFO tells of this board what WORDS say
 *
 * They are the register interface, the PMU's version, event counters, width of
 * an event counter and of the cycle counter, perf's name of the PMU, and flags.
 */
#include "tests/boards/kmod.h"

static const struct {
	uint32_t flag;
	const char *name;
} flags[] = {
	{ UPMU_INFO_PERF, "perf" },
	{ UPMU_INFO_PUBLISHED, "published" },
	{ UPMU_INFO_INTERRUPT, "interrupt" },
	{ UPMU_INFO_SELECT, "select" },
	{ UPMU_INFO_READ_ONLY, "read_only" },
	{ UPMU_INFO_RAW_GROUP, "raw_group" },
	{ UPMU_INFO_ADOPTED, "adopted" },
	{ UPMU_INFO_FOLDED, "folded" },
};

#define FLAGS (sizeof(flags) / sizeof(flags[0]))

static void say(char *text, size_t size, const struct upmu_info *info)
{
	size_t used = (size_t)snprintf(text, size, "%u %u %u %u %u %s",
				       info->arch, info->pmu_version,
				       info->counters, info->counter_bits,
				       info->cycle_bits, info->pmu);

	for (size_t n = 0; n < FLAGS && used < size; n++)
		if (info->flags & flags[n].flag)
			used += (size_t)snprintf(text + used, size - used,
						 " %s", flags[n].name);
}

static void told_test(const char *expected)
{
	struct upmu_info info = info_of(-1);
	char text[256];

	say(text, sizeof(text), &info);
	tap(info.size == sizeof(info) && !strcmp(text, expected),
	    "info_tells_what_there_is", "%s", text);
}

static void counters_test(void)
{
	struct upmu_info info = info_of(-1);
	int lease = take(UPMU_MODE_RAW);
	uint32_t counters = lease < 0 ? 0 : upmu_regs_counters();

	close(lease);
	tap(counters == info.counters, "and_a_holder_of_raw_finds_as_many",
	    "%u", counters);
}

int main(int argc, char **argv)
{
	char expected[256] = "";

	for (int n = 1; n < argc; n++) {
		strcat(expected, n > 1 ? " " : "");
		strcat(expected, argv[n]);
	}
	told_test(expected);
	counters_test();
	return tap_done();
}
