// SPDX-License-Identifier: MIT
// Threads that end in a call of the library: does the destructor above it run?
#include <cstdio>

#include <pthread.h>
#include <unistd.h>

#include <upmu.h>

static int destroyed;

struct object {
	~object()
	{
		destroyed++;
	}
};

static void end_the_thread(void *)
{
	pthread_exit(nullptr);
}

static void *measure(void *)
{
	object above;
	upmu_options open = {};
	upmu_measure_options options = {};
	upmu_measurement result = {};

	open.size = sizeof(open);
	open.source = "clock";
	options.size = sizeof(options);
	options.open = &open;
	result.size = sizeof(result);
	upmu_measure(end_the_thread, nullptr, &options, &result, 1);
	return nullptr;
}

static void *report(void *)
{
	object above;

	pthread_cancel(pthread_self());
	upmu_regions_report(STDERR_FILENO, UPMU_REGION_TEXT);
	return nullptr;
}

static void run(void *(*start)(void *))
{
	pthread_t thread;
	void *result = nullptr;

	pthread_create(&thread, nullptr, start, nullptr);
	pthread_join(thread, &result);
}

int main()
{
	run(measure);
	run(report);
	std::printf("%d\n", destroyed);
	return 0;
}
