// SPDX-License-Identifier: MIT
#include "tests/model/own_time.h"

#include <stddef.h>

uint64_t now_ns = 1000000000;
int this_cpu;
void (*after_getcpu)(void);

uint64_t __wrap_upmu_sys_clock_ns(void);
uint64_t __wrap_upmu_sys_clock_ns(void)
{
	return now_ns;
}

int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void)
{
	void (*then)(void) = after_getcpu;
	int cpu = this_cpu;

	after_getcpu = NULL;
	if (then)
		then();
	return cpu;
}
