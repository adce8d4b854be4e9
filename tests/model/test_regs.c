// SPDX-License-Identifier: MIT
/*
 * regs/ against the model: compiled for each architecture, ARMv7's for each PMU
 * that it may meet.
 */
#if UPMU_REGS_ARCH == 67 /* UPMU_REGS_ARM, in what is only included below */
#include <sys/auxv.h>

static const char *platform;

static unsigned long tell_platform(unsigned long type)
{
	return type == AT_PLATFORM ? (unsigned long)platform : 0;
}

#define getauxval tell_platform
#endif
#include "tests/model/current.h"

static void a_cycle_count_reads_as_written(void **state)
{
	(void)state;
	upmu_regs_set_cycles(0x89abcdef);
	assert_int_equal(upmu_regs_cycles32(), 0x89abcdef);
	assert_int_equal((uint32_t)upmu_regs_cycles64(), 0x89abcdef);
}

static void a_wide_cycle_counter_reads_and_writes_64_bits(void **state)
{
	(void)state;
	if (upmu_regs_cycle_bits() != 64) {
		assert_int_equal(upmu_regs_cycle_bits(), 32);
		upmu_regs_set_cycles(0x100000001);
		assert_int_equal(upmu_regs_cycles64(), 1);
		return;
	}
	upmu_regs_set_cycles(0x123456789abcdef0);
	assert_int_equal(upmu_regs_cycles64(), 0x123456789abcdef0);
}

static void a_wide_read_takes_64_bits_where_the_pmu_has_them(void **state)
{
	(void)state;
#if UPMU_REGS_ARCH == UPMU_REGS_V6
	assert_int_equal(upmu_regs_cycle_bits(), 32);
#else
	model.cycles = 0x123456789abcdef0;
	if (model.kind == MODEL_PMUV3) {
		assert_int_equal(upmu_regs_wide_cycles(), 0x123456789abcdef0);
		return;
	}
	upmu_regs_wide_cycles();
	expect_undefined(1);
#endif
}

static void changing_control_touches_nothing_else(void **state)
{
	(void)state;
	upmu_regs_change_control(~0u, 0);
	upmu_regs_set_cycles(7);
	upmu_regs_set_counter(1, 9);
	upmu_regs_set_type(0, 0x42);
	upmu_regs_set_type(1, 0x43);
	upmu_regs_enable_interrupts(CC | 1);
	upmu_regs_change_control(0, UPMU_CONTROL_X | UPMU_CONTROL_E);
	upmu_regs_change_control(UPMU_CONTROL_E, UPMU_CONTROL_D);

	/* X is bit 11 of DDI 0301H 3.2.51, bit 4 of DDI 0406C B4.1.117 */
	assert_int_equal(UPMU_CONTROL_X, IS_V6 ? 1u << 11 : 1u << 4);
	assert_int_equal(upmu_regs_control() & (UPMU_CONTROL_X | 0xf),
			 UPMU_CONTROL_X | UPMU_CONTROL_D);
	assert_int_equal(upmu_regs_cycles32(), 7);
	assert_int_equal(upmu_regs_counter(1), 9);
	assert_int_equal(upmu_regs_type(0), 0x42);
	assert_int_equal(upmu_regs_type(1), 0x43);
	assert_int_equal(upmu_regs_interrupts(), CC | 1);
}

static void changing_control_keeps_overflow_flags(void **state)
{
	(void)state;
	model.flags = CC | 3;
	upmu_regs_change_control(0, UPMU_CONTROL_E);
	upmu_regs_change_control(UPMU_CONTROL_E, UPMU_CONTROL_P);
	upmu_regs_set_type(0, 3);
	upmu_regs_enable_interrupts(CC | 3);
	upmu_regs_disable_interrupts(CC);
	assert_int_equal(model.flags, CC | 3);
}

static void each_reset_bit_resets_its_own_counters(void **state)
{
	(void)state;
	upmu_regs_set_cycles(5);
	upmu_regs_set_counter(0, 6);
	upmu_regs_set_counter(1, 7);
	upmu_regs_change_control(0, UPMU_CONTROL_C);
	assert_int_equal(upmu_regs_cycles32(), 0);
	assert_int_equal(upmu_regs_counter(0), 6);

	upmu_regs_set_cycles(5);
	upmu_regs_change_control(0, UPMU_CONTROL_P);
	assert_int_equal(upmu_regs_cycles32(), 5);
	assert_int_equal(upmu_regs_counter(0), 0);
	assert_int_equal(upmu_regs_counter(1), 0);
}

static void reset_bits_never_read_as_set(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(upmu_regs_control() &
					 (UPMU_CONTROL_C | UPMU_CONTROL_P),
				 0);
}

static void clearing_overflow_clears_only_what_is_named(void **state)
{
	(void)state;
	model.flags = CC | 3;
	upmu_regs_clear_overflow(0);
	assert_int_equal(upmu_regs_overflow(), CC | 3);
	upmu_regs_clear_overflow(2);
	assert_int_equal(upmu_regs_overflow(), CC | 1);
	upmu_regs_clear_overflow(CC);
	assert_int_equal(upmu_regs_overflow(), 1);
}

static void a_written_back_control_word_clears_flags_on_arm1176(void **state)
{
	(void)state;
	model.flags = CC | 1;
	upmu_regs_write_control(upmu_regs_control());
	assert_int_equal(model.flags, IS_V6 ? 0 : CC | 1);
}

static void writing_0_to_a_set_register_disables_nothing(void **state)
{
	(void)state;
	if (!upmu_regs_has_enables()) {
		upmu_regs_change_control(0, UPMU_CONTROL_E);
		upmu_regs_disable(CC | 3);
		assert_int_equal(upmu_regs_enabled(), CC | 3);
		return;
	}
	upmu_regs_disable(~0u);
	upmu_regs_enable(CC | 3);
	upmu_regs_enable(0);
	assert_int_equal(upmu_regs_enabled(), CC | 3);
	upmu_regs_disable(0);
	assert_int_equal(upmu_regs_enabled(), CC | 3);
	upmu_regs_disable(1);
	assert_int_equal(upmu_regs_enabled(), CC | 2);
}

static void interrupts_are_enabled_and_disabled_one_by_one(void **state)
{
	(void)state;
	upmu_regs_enable_interrupts(CC | 2);
	upmu_regs_enable_interrupts(1);
	assert_int_equal(upmu_regs_interrupts(), CC | 3);
	upmu_regs_disable_interrupts(2);
	assert_int_equal(upmu_regs_interrupts(), CC | 1);
	upmu_regs_enable_interrupts(0);
	upmu_regs_disable_interrupts(0);
	assert_int_equal(upmu_regs_interrupts(), CC | 1);
}

static void bits_of_absent_counters_read_as_zero(void **state)
{
	uint32_t there = CC | ((1u << N) - 1);

	(void)state;
	upmu_regs_enable_interrupts(~0u);
	assert_int_equal(upmu_regs_interrupts(), there);
	upmu_regs_change_control(0, UPMU_CONTROL_E);
	upmu_regs_enable(~0u);
	assert_int_equal(upmu_regs_enabled(), there);
}

static void every_counter_has_its_own_count_and_event(void **state)
{
	(void)state;
	assert_int_equal(upmu_regs_counters(), N);
	for (unsigned int i = 0; i < N; i++) {
		upmu_regs_set_type(i, 0x10 + i);
		upmu_regs_set_counter(i, 100 + i);
	}
	for (unsigned int i = 0; i < N; i++) {
		assert_int_equal(upmu_regs_type(i), 0x10 + i);
		assert_int_equal(upmu_regs_counter(i), 100 + i);
		assert_int_equal(model.type[i], 0x10 + i);
		assert_int_equal(model.counter[i], 100 + i);
	}
}

static void thirty_one_counters_are_each_reached(void **state)
{
	(void)state;
	if (IS_V6) {
		assert_int_equal(upmu_regs_counters(), 2);
		return;
	}
	model_init(&model, model.kind, 31);
	assert_int_equal(upmu_regs_counters(), 31);
	for (unsigned int i = 0; i < 31; i++) {
		model.counter[i] = 0x1000 + i;
		upmu_regs_set_type(i, 0x20 + i);
	}
	for (unsigned int i = 0; i < 31; i++) {
		assert_int_equal(upmu_regs_counter(i), 0x1000 + i);
		assert_int_equal(model.type[i], 0x20 + i);
	}
}

static void start_all(uint32_t event)
{
	for (unsigned int i = 0; i < N; i++)
		upmu_regs_set_type(i, event);
	if (!IS_V6 && upmu_regs_has_filter())
		upmu_regs_set_type(31, 0);
	upmu_regs_enable(CC | ((1u << N) - 1));
	upmu_regs_change_control(0, UPMU_CONTROL_E | UPMU_CONTROL_P |
					    UPMU_CONTROL_C);
}

static void nothing_counts_while_the_pmu_is_off(void **state)
{
	(void)state;
	start_all(7);
	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	model_happen(&model, 7, 5, false);
	model_pass(&model, 5, false);
	assert_int_equal(upmu_regs_counter(0), 0);
	assert_int_equal(upmu_regs_cycles32(), 0);
}

static void the_divider_counts_each_64th_cycle(void **state)
{
	(void)state;
	start_all(7);
	upmu_regs_change_control(0, UPMU_CONTROL_D);
	for (int i = 0; i < 10; i++)
		model_pass(&model, 64, false);
	assert_int_equal(upmu_regs_cycles32(), 10);
	upmu_regs_change_control(UPMU_CONTROL_D, 0);
	model_pass(&model, 64, false);
	assert_int_equal(upmu_regs_cycles32(), 74);
}

static void passing_2_to_the_32_sets_the_flag_and_interrupts(void **state)
{
	(void)state;
	start_all(7);
	upmu_regs_clear_overflow(~0u);
	upmu_regs_enable_interrupts(2);
	upmu_regs_set_counter(0, 0xfffffffe);
	upmu_regs_set_counter(1, 0xffffffff);
	upmu_regs_set_cycles(0xffffffff);
	model_happen(&model, 7, 1, false);
	assert_int_equal(upmu_regs_overflow() & 3, 2);
	assert_true(model_interrupt(&model));
	assert_int_equal(upmu_regs_counter(1), 0);
	model_pass(&model, 1, false);
	assert_int_equal(upmu_regs_overflow() & CC, CC);
	upmu_regs_clear_overflow(2);
	assert_false(model_interrupt(&model));
}

static void a_flag_is_set_where_that_can_be_asked_for(void **state)
{
	(void)state;
	upmu_regs_clear_overflow(~0u);
	assert_int_equal(upmu_regs_has_overflow_set(),
			 model.kind >= MODEL_PMUV2);
	if (!upmu_regs_has_overflow_set())
		return;
	upmu_regs_set_overflow(CC | 2);
	upmu_regs_set_overflow(0);
	assert_int_equal(upmu_regs_overflow(), CC | 2);
}

static void a_software_increment_counts_on_event_0_alone(void **state)
{
	(void)state;
	if (!upmu_regs_has_software_increment()) {
		assert_true(IS_V6);
		return;
	}
	start_all(0);
	upmu_regs_set_type(1, 7);
	upmu_regs_software_increment(3);
	assert_int_equal(upmu_regs_counter(0), 1);
	assert_int_equal(upmu_regs_counter(1), 0);
}

static void a_filter_keeps_out_the_kernel(void **state)
{
	(void)state;
	if (!upmu_regs_has_filter()) {
		assert_true(model.kind < MODEL_PMUV2);
		return;
	}
	start_all(7);
#if UPMU_REGS_ARCH != UPMU_REGS_V6
	upmu_regs_set_type(0, UPMU_TYPE_P | 7);
	upmu_regs_set_type(UPMU_SELECT_CYCLES, UPMU_TYPE_U);
#endif
	model_happen(&model, 7, 3, true);
	model_happen(&model, 7, 5, false);
	model_pass(&model, 100, false);
	model_pass(&model, 7, true);
	assert_int_equal(upmu_regs_counter(0), 5);
	assert_int_equal(upmu_regs_counter(1), 8);
	assert_int_equal(upmu_regs_cycles32(), 7);
}

static void the_cycle_counters_filter_is_type_31(void **state)
{
	(void)state;
	if (IS_V6 || !upmu_regs_has_filter()) {
		assert_true(model.kind < MODEL_PMUV2);
		return;
	}
	for (unsigned int i = 0; i < N; i++)
		upmu_regs_set_type(i, 0x10 + i);
	model.type[31] = 1u << 31;
	assert_int_equal(upmu_regs_type(31), 1u << 31);
	upmu_regs_set_type(31, 1u << 30);
	assert_int_equal(model.type[31], 1u << 30);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(model.type[i], 0x10 + i);
}

static void the_pmu_tells_its_version(void **state)
{
	static const unsigned int version[] = { 0, 1, 2, 3 };

	(void)state;
	assert_int_equal(upmu_regs_pmu_version(), version[model.kind]);
	assert_int_not_equal(upmu_regs_midr(), 0);
	if (upmu_regs_pmu_version() >= 3) {
		assert_int_equal(upmu_regs_event_bits(0), MODEL_EVENTS_0);
		assert_int_equal(upmu_regs_event_bits(1), MODEL_EVENTS_1);
	}
}

/* ---- user mode --------------------------------------------------------- */

#if UPMU_REGS_ARCH == UPMU_REGS_ARM
/* What an ARM1176 has not is an undefined instruction there. */
static void code_for_any_arm_goes_by_the_kernels_name_of_it(void **state)
{
	static const char *const v6[] = { "v6l", "v6b", NULL, "" };
	static const char *const v7[] = { "v7l", "v7b", "v8l" };

	(void)state;
	for (size_t i = 0; i < sizeof(v6) / sizeof(v6[0]); i++) {
		platform = v6[i];
		upmu_arm_registers = 0;
		assert_true(upmu_arm_is_v6());
	}
	for (size_t i = 0; i < sizeof(v7) / sizeof(v7[0]); i++) {
		platform = v7[i];
		upmu_arm_registers = 0;
		assert_false(upmu_arm_is_v6());
	}
}
#endif

static void user_mode_is_shut_out_until_it_is_let_in(void **state)
{
	(void)state;
	model.is_user = true;
	upmu_regs_cycles32();
	upmu_regs_counter(0);
	upmu_regs_control();
	assert_true(model.undefined >= 3);
	model.undefined = 0;

	model.is_user = false;
	upmu_regs_set_user_access(UPMU_USER_EN);
	assert_int_equal(upmu_regs_user_access(), UPMU_USER_EN);
	model.is_user = true;
	upmu_regs_cycles32();
	upmu_regs_counter(0);
	upmu_regs_change_control(0, UPMU_CONTROL_E);
	upmu_regs_set_type(0, 3);
	upmu_regs_enable(1);
	upmu_regs_overflow();
	assert_int_equal(model.undefined, 0);
}

static void user_mode_never_grants_itself_access(void **state)
{
	(void)state;
	upmu_regs_set_user_access(UPMU_USER_EN);
	model.is_user = true;
	upmu_regs_set_user_access(0);
	expect_undefined(1);
	assert_int_equal(model.user_access, UPMU_USER_EN);
}

static void user_mode_never_enables_interrupts_from_armv7_on(void **state)
{
	(void)state;
	upmu_regs_set_user_access(UPMU_USER_EN);
	model.is_user = true;
	upmu_regs_enable_interrupts(1);
	if (IS_V6) {
		/* in PMCR with everything else: V gives them away too */
		assert_int_equal(model.interrupts, 1);
		return;
	}
	expect_undefined(1);
	assert_int_equal(model.interrupts, 0);
}

static void user_mode_can_ask_for_its_access_from_armv7_on(void **state)
{
	(void)state;
	model.is_user = true;
	if (!upmu_regs_user_readable()) {
		upmu_regs_user_access();
		expect_undefined(1);
		return;
	}
	assert_int_equal(upmu_regs_user_access(), 0);
}

static void pmuv3_lets_user_mode_read_and_not_write(void **state)
{
	(void)state;
	if (model.kind != MODEL_PMUV3) {
		assert_int_not_equal(upmu_regs_pmu_version(), 3);
		return;
	}
	upmu_regs_set_user_access(UPMU_USER_CR | UPMU_USER_ER);
	model.is_user = true;
	upmu_regs_cycles32();
	upmu_regs_counter(0);
	assert_int_equal(model.undefined, 0);
	upmu_regs_set_cycles(1);
	upmu_regs_set_counter(0, 1);
	upmu_regs_set_type(0, 1);
	upmu_regs_software_increment(1);
	upmu_regs_enable(1);
	upmu_regs_control();
	expect_undefined(6);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_cycle_count_reads_as_written),
		CASE(a_wide_cycle_counter_reads_and_writes_64_bits),
		CASE(a_wide_read_takes_64_bits_where_the_pmu_has_them),
		CASE(changing_control_touches_nothing_else),
		CASE(changing_control_keeps_overflow_flags),
		CASE(each_reset_bit_resets_its_own_counters),
		CASE(reset_bits_never_read_as_set),
		CASE(clearing_overflow_clears_only_what_is_named),
		CASE(a_written_back_control_word_clears_flags_on_arm1176),
		CASE(writing_0_to_a_set_register_disables_nothing),
		CASE(interrupts_are_enabled_and_disabled_one_by_one),
		CASE(bits_of_absent_counters_read_as_zero),
		CASE(every_counter_has_its_own_count_and_event),
		CASE(thirty_one_counters_are_each_reached),
		CASE(nothing_counts_while_the_pmu_is_off),
		CASE(the_divider_counts_each_64th_cycle),
		CASE(passing_2_to_the_32_sets_the_flag_and_interrupts),
		CASE(a_flag_is_set_where_that_can_be_asked_for),
		CASE(a_software_increment_counts_on_event_0_alone),
		CASE(a_filter_keeps_out_the_kernel),
		CASE(the_cycle_counters_filter_is_type_31),
		CASE(the_pmu_tells_its_version),
#if UPMU_REGS_ARCH == UPMU_REGS_ARM
		CASE(code_for_any_arm_goes_by_the_kernels_name_of_it),
#endif
		CASE(user_mode_is_shut_out_until_it_is_let_in),
		CASE(user_mode_never_grants_itself_access),
		CASE(user_mode_never_enables_interrupts_from_armv7_on),
		CASE(user_mode_can_ask_for_its_access_from_armv7_on),
		CASE(pmuv3_lets_user_mode_read_and_not_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
