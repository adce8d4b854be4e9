// SPDX-License-Identifier: MIT
/*
 * v6_pmu - the ARM1176's PMU on the emulated board, held against its manual
 *
 * Runs under a lease RAW and executes the registers themselves (DDI 0301H,
 * 3.2.51 to 3.2.54). Only what each instruction being a cycle makes exact is
 * counted to the last one.
 */
#include "tests/boards/kmod.h"

enum { E = 1, P = 2, C = 4, D = 8, X = 1 << 11 };
#define ENABLES (7u << 4)
#define FLAGS	(7u << 8)
#define FLAG0	(1u << 8)
#define FLAG1	(1u << 9)
#define FLAGC	(1u << 10)

#define CYCLES	     0xffu
#define INSTRUCTIONS 0x07u
#define IDLE	     0x20u /* an input that nothing drives */

static uint32_t events(uint32_t first, uint32_t second)
{
	return first << 20 | second << 12;
}

#define REGISTER(name, op2)                           \
	static inline uint32_t name(void)             \
	{                                             \
		uint32_t value;                       \
                                                      \
		UPMU_MRC(value, 0, 15, 12, op2);      \
		return value;                         \
	}                                             \
	static inline void set_##name(uint32_t value) \
	{                                             \
		UPMU_MCR(value, 0, 15, 12, op2);      \
	}

REGISTER(control, 0)
REGISTER(cycles, 1)
REGISTER(counter0, 2)
REGISTER(counter1, 3)

/* 1,000 rounds of two instructions. */
static inline void loop(void)
{
	uint32_t n = 1000;

	__asm__ volatile("1: subs %0, %0, #1\n\tbne 1b" : "+r"(n) : : "cc");
}

static bool near(uint32_t value, uint32_t wanted, uint32_t more)
{
	return value >= wanted && value - wanted <= more;
}

static void control_tests(void)
{
	uint32_t all = events(0xa5, 0x5a) | X | ENABLES | D | E;

	set_control(all | P | C | FLAGS);
	tap(control() == all, "control_keeps_what_it_is_given", "0x%08x",
	    control());
	set_control(0xffffffff & ~E);
	set_control(FLAGS);
	tap(control() == 0, "what_should_be_zero_is_zero", "0x%08x", control());
}

static void stop_tests(void)
{
	uint32_t first[3], last[3];

	set_control(events(CYCLES, INSTRUCTIONS) | E | P | C);
	loop();
	set_control(events(CYCLES, INSTRUCTIONS));
	first[0] = counter0();
	first[1] = counter1();
	first[2] = cycles();
	loop();
	last[0] = counter0();
	last[1] = counter1();
	last[2] = cycles();
	tap(near(first[0], 2000, 20) && near(first[1], 2000, 20) &&
		    near(first[2], 2000, 20),
	    "cycles_and_instructions_of_a_loop_are_counted", "%u %u %u",
	    first[0], first[1], first[2]);
	tap(!memcmp(first, last, sizeof(first)),
	    "without_E_all_three_stand_still", "%u %u %u", last[0], last[1],
	    last[2]);
	set_control(events(CYCLES, INSTRUCTIONS) | P);
	tap(!counter0() && !counter1() && cycles() == last[2],
	    "P_resets_the_event_counters_alone", NULL);
	set_control(C);
	tap(!cycles(), "C_resets_the_cycle_counter", NULL);
}

/* Two counters of one event never differ. */
static void pair_test(void)
{
	uint32_t first, second;

	set_control(events(INSTRUCTIONS, INSTRUCTIONS) | E | P | C);
	loop();
	set_control(events(INSTRUCTIONS, INSTRUCTIONS));
	first = counter0();
	second = counter1();
	tap(first == second, "two_counters_of_one_event_agree", "%u %u", first,
	    second);
}

static void divider_test(void)
{
	uint32_t whole, divided;

	set_control(events(CYCLES, IDLE) | D | E | P | C);
	for (int i = 0; i < 64; i++)
		loop();
	set_control(events(CYCLES, IDLE) | D);
	whole = counter0();
	divided = cycles();
	tap(near(divided + 1, whole / 64, 2), "D_counts_each_64th_cycle",
	    "%u of %u", divided, whole);
	tap(!counter1(), "an_event_that_nothing_drives_counts_0", NULL);
}

static void wrap_tests(void)
{
	uint32_t both = events(CYCLES, INSTRUCTIONS), flags;

	set_control(both | FLAGS);
	set_counter0(0xffffff00);
	set_counter1(0xffffff00);
	set_cycles(0xffffff00);
	flags = control() & FLAGS;
	set_control(both | E);
	loop();
	set_control(both);
	tap(!flags && (control() & FLAGS) == FLAGS,
	    "a_counter_that_goes_round_sets_its_flag", "0x%x", flags);
	tap(near(counter0(), 2000 - 0x100, 20) &&
		    near(counter1(), 2000 - 0x100, 20) &&
		    near(cycles(), 2000 - 0x100, 20),
	    "and_counts_on_from_0", "%u %u %u", counter0(), counter1(),
	    cycles());
	set_control(both | FLAG1);
	tap((control() & FLAGS) == (FLAG0 | FLAGC),
	    "writing_1_clears_that_flag_alone", NULL);
	set_control(both);
	tap((control() & FLAGS) == (FLAG0 | FLAGC), "writing_0_clears_none",
	    NULL);
	set_control(both | FLAGS);
	tap(!(control() & FLAGS), "all_can_be_cleared", NULL);
}

int main(void)
{
	int lease = take(UPMU_MODE_RAW);

	if (lease < 0) {
		tap(false, "a_lease_is_taken", "%d", lease);
		return tap_done();
	}
	control_tests();
	stop_tests();
	pair_test();
	divider_test();
	wrap_tests();
	close(lease);
	return tap_done();
}
