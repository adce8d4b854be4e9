// SPDX-License-Identifier: MIT
/* Zeros of an emulator's hardware events: not emulated, or nothing happened? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/engine/clock.h"
#include "lib/engine/engine.h"
#include "lib/engine/sets.h"
#include "readings.h"

/* The second is no base of estimates: instructions:u after instructions. */
static void no_instructions_of_an_emulator_are_not_emulated(void **state)
{
	static const struct upmu_event instructions = {
		.class = UPMU_EVENT_CORE,
		.is_instructions = true,
	};

	(void)state;
	begin_run(2);
	event[0].parsed = event[1].parsed = &instructions;
	event[0].base = ENGINE_BASE_INSTRUCTIONS;
	events.lanes = 1;
	set[1].lane = 0;
	events.emulated = true;
	tell(0, 10 * MS, 10 * MS);
	tell(1, 10 * MS, 10 * MS);
	told[0].count[0] = told[1].count[0] = 0;
	engine_collect(&engine, count);
	assert_int_equal(count[0].state, ENGINE_NOT_EMULATED);
	assert_int_equal(count[1].state, ENGINE_NOT_EMULATED);
	/* What has counted may well count nothing in an interval. */
	told[1].count[0] = 5;
	for (uint64_t interval = 2; interval < 4; interval++) {
		told[0].enabled_ns = told[0].running_ns = interval * 10 * MS;
		told[1].enabled_ns = told[1].running_ns = interval * 10 * MS;
		engine_collect(&engine, count);
		assert_int_equal(count[0].state, ENGINE_NOT_EMULATED);
		assert_int_equal(count[1].state, ENGINE_COUNTED);
		assert_int_equal(count[1].raw, interval == 2 ? 5 : 0);
	}
}

/* perf says 0 of what QEMU does not count; of the kernel's events it is so. */
static void a_zero_is_believed_but_of_an_emulators_hardware(void **state)
{
	static const struct upmu_event kinds[] = {
		{ .class = UPMU_EVENT_CORE, .is_cycles = true },
		{ .class = UPMU_EVENT_CORE, .is_instructions = true },
		{ .class = UPMU_EVENT_GENERIC },
		{ .class = UPMU_EVENT_CORE },
		{ .class = UPMU_EVENT_SOFTWARE },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(kinds) / sizeof(*kinds); i++) {
		for (uint64_t seen = 0; seen < 2; seen++) {
			begin_run(1);
			event[0].parsed = &kinds[i / 2];
			events.emulated = i % 2;
			tell(0, 10 * MS, 10 * MS);
			told[0].count[0] = seen;
			engine_collect(&engine, count);
			assert_int_equal(count[0].state,
					 i % 2 && i / 2 < 3 && !seen
						 ? ENGINE_NOT_EMULATED
						 : ENGINE_COUNTED);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			no_instructions_of_an_emulator_are_not_emulated),
		cmocka_unit_test(
			a_zero_is_believed_but_of_an_emulators_hardware),
	};

	return cmocka_run_group_tests_name("not_emulated", tests, NULL, NULL);
}
