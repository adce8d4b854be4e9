// SPDX-License-Identifier: MIT
/* A C++ program includes every public header, links and counts. */
#include <cstdio>
#include <cstring>

#include "upmu.h"

static int number, failed;

static void ok(bool passed, const char *claim)
{
	std::printf("%sok %d - %s\n", passed ? "" : "not ", ++number, claim);
	failed += !passed;
}

static void count_calls(void *calls)
{
	++*static_cast<int *>(calls);
}

int main()
{
	upmu_options options = {};
	upmu_measure_options how = {};
	upmu_measurement result = {};
	upmu *set = nullptr;
	int calls = 0;

	options.size = sizeof(options);
	result.size = sizeof(result);
	options.source = "clock";
	ok(!upmu_open(&set, "cycles", &options), "cxx_opens_a_set");
	const struct upmu_counter *cycles = upmu_counter_at(set, 0);
	const uint64_t before = upmu_count(cycles);
	ok(upmu_count(cycles) > before, "cxx_reads_inline");
	upmu_close(set);
	ok(upmu_open(&set, "nonsense", &options) < 0 &&
		   std::strstr(upmu_explain(), "nonsense"),
	   "cxx_is_told_the_reason");
	how.size = sizeof(how);
	how.open = &options;
	ok(!upmu_measure(count_calls, &calls, &how, &result, 1) &&
		   calls == 111 && result.size == sizeof(result),
	   "cxx_measures_a_function");
	std::printf("1..%d\n", number);
	return failed != 0;
}
