// SPDX-License-Identifier: MIT
/* The source timer: whom it asks before it reads the register. */
#include "fake_kernel.h"

#include <errno.h>
#include <string.h>

#include "own_root.h"

static void assert_timer(int error, const char *words)
{
	struct upmu_verdict timer = { .size = sizeof(timer) };

	assert_int_equal(upmu_probe(3, &timer), 0);
	assert_string_equal(timer.source, "timer");
	if (strstr(timer.reason, "TSC")) { /* a PC reads none of these files */
		assert_int_equal(timer.error, 0);
		return;
	}
	assert_int_equal(timer.error, error);
	assert_non_null(strstr(timer.reason, words));
}

#define CLOCKSOURCES \
	"sys/devices/system/clocksource/clocksource0/available_clocksource"

static void a_timer_serves_that_kernel_and_firmware_have_set_up(void **state)
{
	(void)state;
	fake.registers = 7;
	assert_timer(-EOPNOTSUPP, "the kernel does not use it");
	put(CLOCKSOURCES, "mct-frc\n");
	assert_timer(-EOPNOTSUPP, "the kernel does not use it");
	put(CLOCKSOURCES, "arch_sys_counter jiffies\n");
	assert_timer(0, "CNTVCT");
	fake.registers = 6;
	assert_timer(-EOPNOTSUPP, "no generic timer");
	fake.registers = 7;
	put("proc/device-tree/timer/arm,cpu-registers-not-fw-configured", "");
	assert_timer(-EOPNOTSUPP, "firmware did not set up");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_ROOT_TEST(
			a_timer_serves_that_kernel_and_firmware_have_set_up),
	};

	return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
