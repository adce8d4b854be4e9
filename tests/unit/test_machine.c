// SPDX-License-Identifier: MIT
/* Which cores a board has: lib/events/machine.c on tests/fixtures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "on_fixture.h"

static void assert_kind(size_t n, const char *core, const char *pmu,
			uint32_t type, uint64_t cpus)
{
	const struct upmu_core_kind *kind = &machine.kinds[n];

	assert_true(n < machine.n_kinds);
	if (core)
		assert_string_equal(upmu_core_name(kind->core), core);
	else
		assert_null(kind->core);
	assert_string_equal(kind->pmu_name, pmu);
	assert_int_equal(kind->pmu_type, type);
	assert_int_equal(kind->cpus[0], cpus);
}

static void assert_one_kind(const char *fixture, const char *core,
			    const char *pmu, uint32_t type, uint64_t cpus)
{
	boot(fixture);
	assert_int_equal(machine.n_kinds, 1);
	assert_kind(0, core, pmu, type, cpus);
}

static void pi1_is_an_arm1176_though_its_kernel_says_architecture_7(void **s)
{
	(void)s;
	assert_one_kind("pi1", "arm1176", "armv6_1176", 8, 0x1);
	assert_int_equal(machine.kinds[0].cycles_config, 0xff);
	assert_int_equal(machine.kinds[0].midr, 0x410fb767);
}

static void looking_leaves_no_descriptor_open(void **s)
{
	int before = dup(STDIN_FILENO), after;

	(void)s;
	close(before);
	boot("pi2");
	boot("odroid-xu4");
	after = dup(STDIN_FILENO);
	close(after);
	assert_int_equal(after, before);
}

static void pi2_is_a_cortex_a7(void **s)
{
	(void)s;
	assert_one_kind("pi2", "cortex-a7", "armv7_cortex_a7", 8, 0xf);
	assert_int_equal(machine.kinds[0].cycles_config, 0xff);
}

static void pi3_in_32_bits_is_a_cortex_a53_under_the_v7_driver(void **s)
{
	(void)s;
	assert_one_kind("pi3-32", "cortex-a53", "armv7_cortex_a7", 8, 0xf);
	assert_int_equal(machine.kinds[0].cycles_config, 0xff);
}

static void pi3_without_a_perf_pmu_is_still_known(void **s)
{
	(void)s;
	assert_one_kind("pi3-32-bare", "cortex-a53", "", UPMU_PMU_TYPE_NONE,
			0xf);
	assert_int_equal(machine.kinds[0].cycles_config, 0x11);
}

static void pi3_in_64_bits_takes_the_cycle_counter_by_0x11(void **s)
{
	(void)s;
	assert_one_kind("pi3-64", "cortex-a53", "armv8_cortex_a53", 8, 0xf);
	assert_int_equal(machine.kinds[0].cycles_config, 0x11);
}

static void pi4_with_a_32_bit_system_has_the_pmu_of_its_64_bit_kernel(void **s)
{
	(void)s;
	assert_one_kind("pi4-32-on-64", "cortex-a72", "armv8_cortex_a72", 9,
			0xf);
	assert_int_equal(machine.kinds[0].cycles_config, 0x11);
}

static void pi5_is_a_cortex_a76(void **s)
{
	(void)s;
	assert_one_kind("pi5", "cortex-a76", "armv8_cortex_a76", 10, 0xf);
}

static void odroid_xu4_has_two_kinds_of_core(void **s)
{
	(void)s;
	boot("odroid-xu4");
	assert_int_equal(machine.n_kinds, 2);
	assert_kind(0, "cortex-a7", "armv7_cortex_a7", 8, 0x0f);
	assert_kind(1, "cortex-a15", "armv7_cortex_a15", 9, 0xf0);
}

static void rk3399_has_two_kinds_of_core(void **s)
{
	(void)s;
	boot("rk3399");
	assert_int_equal(machine.n_kinds, 2);
	assert_kind(0, "cortex-a53", "armv8_cortex_a53", 8, 0x0f);
	assert_kind(1, "cortex-a72", "armv8_cortex_a72", 9, 0x30);
}

static void each_cpu_of_big_little_has_its_kind(void **s)
{
	(void)s;
	boot("rk3399");
	assert_ptr_equal(upmu_machine_kind_of_cpu(&machine, 3),
			 &machine.kinds[0]);
	assert_ptr_equal(upmu_machine_kind_of_cpu(&machine, 4),
			 &machine.kinds[1]);
	assert_null(upmu_machine_kind_of_cpu(&machine, 6));
	assert_null(upmu_machine_kind_of_cpu(&machine, 1u << 20));
}

/* Behind the last bit of a kind there are other things of it. */
static void of_a_thousand_cpus_each_has_a_bit_and_none_behind_them(void **s)
{
	(void)s;
	boot("rk3399");
	machine.kinds[1].cpus[1] = 1;
	machine.kinds[1].cpus[UPMU_CPUS_MAX / 64 - 1] = UINT64_C(1) << 63;
	memset(&machine.kinds[1].model, 0xff, sizeof(machine.kinds[1].model));
	assert_ptr_equal(upmu_machine_kind_of_cpu(&machine, 64),
			 &machine.kinds[1]);
	assert_ptr_equal(upmu_machine_kind_of_cpu(&machine, UPMU_CPUS_MAX - 1),
			 &machine.kinds[1]);
	assert_null(upmu_machine_kind_of_cpu(&machine, UPMU_CPUS_MAX));
}

static void orin_goes_by_its_midr_and_not_by_its_pmu_name(void **s)
{
	(void)s;
	assert_one_kind("jetson-orin", "cortex-a78ae", "armv8_cortex_a78", 11,
			0x3f);
}

static void graviton_is_known_though_its_pmu_has_no_name(void **s)
{
	(void)s;
	assert_one_kind("graviton2", "neoverse-n1", "armv8_pmuv3_0", 8, 0x3);
}

static void one_pmu_over_unlike_cores_offers_the_architecture_only(void **s)
{
	(void)s;
	assert_one_kind("jetson-tx2", "common-armv8", "armv8_pmuv3", 8, 0x3f);
}

static void an_offline_cpu_belongs_to_its_pmu(void **s)
{
	(void)s;
	boot("some-offline");
	assert_int_equal(machine.n_kinds, 2);
	assert_kind(0, "cortex-a53", "armv8_cortex_a53", 8, 0x0f);
	assert_kind(1, "cortex-a72", "armv8_cortex_a72", 9, 0x30);
}

static void an_old_kernel_identifies_all_cpus_at_once(void **s)
{
	(void)s;
	assert_one_kind("old-kernel", "cortex-a9", "", UPMU_PMU_TYPE_NONE, 0x3);
}

static void an_old_64_bit_kernel_says_its_architecture_in_letters(void **s)
{
	(void)s;
	assert_one_kind("old-kernel-64", "common-armv8", "", UPMU_PMU_TYPE_NONE,
			0x3);
}

static void a_cpu_that_the_pmu_leaves_out_has_none(void **s)
{
	(void)s;
	boot("half-covered");
	assert_int_equal(machine.n_kinds, 2);
	assert_kind(0, "cortex-a53", "armv8_cortex_a53", 8, 0x1);
	assert_kind(1, "cortex-a53", "", UPMU_PMU_TYPE_NONE, 0x2);
}

static void an_unknown_core_is_offered_its_architecture(void **s)
{
	(void)s;
	assert_one_kind("unknown-v8", "common-armv8", "armv8_pmuv3", 8, 0x3);
	assert_true(upmu_core_is_common(machine.kinds[0].core));
	assert_one_kind("unknown-v7", "common-armv7", "armv7_pj4", 8, 0x3);
}

static void apples_pmu_has_codes_of_its_own(void **s)
{
	(void)s;
	boot("apple-m1");
	assert_int_equal(machine.n_kinds, 2);
	assert_kind(0, "apple-icestorm", "apple_icestorm_pmu", 10, 0x1);
	assert_kind(1, "apple-firestorm", "apple_firestorm_pmu", 11, 0x2);
	assert_int_equal(machine.kinds[0].cycles_config, 0x02);
}

/* The hypervisor makes a PMU of the architecture out of Apple's. */
static void a_guest_on_apples_cores_has_the_architectures_pmu(void **s)
{
	(void)s;
	boot("apple-guest");
	assert_int_equal(machine.n_kinds, 1);
	assert_string_equal(upmu_core_name(machine.kinds[0].core),
			    "common-armv8");
	assert_int_equal(machine.kinds[0].cycles_config, 0x11);
}

/* 6.12.0-rc3-android16 */
static void a_kernel_is_of_its_version_whatever_follows(void **s)
{
	(void)s;
	boot("orion-o6");
	assert_int_equal(machine.n_kinds, 2);
	assert_kind(0, "cortex-a520", "armv9_cortex_a520", 10, 0x1);
	assert_int_equal(machine.kinds[1].linux, UPMU_LINUX(6, 12));
	boot("pi5"); /* does not tell */
	assert_int_equal(machine.kinds[0].linux, 0);
}

static void a_pc_has_no_kind_of_core(void **s)
{
	(void)s;
	boot("pc");
	assert_int_equal(machine.n_kinds, 0);
}

static void a_root_without_files_has_no_kind_of_core(void **s)
{
	(void)s;
	boot("no-such-board");
	assert_int_equal(machine.n_kinds, 0);
	assert_false(machine.is_emulated);
}

static bool is_emulated(const char *fixture)
{
	boot(fixture);
	return machine.is_emulated;
}

static void qemu_is_recognised_on_every_board(void **s)
{
	(void)s;
	assert_true(is_emulated("qemu-virt-64"));
	assert_true(is_emulated("qemu-virt-32"));
	assert_true(is_emulated("qemu-raspi0"));
}

static void a_virtual_machine_on_silicon_is_not_emulated(void **s)
{
	(void)s;
	assert_false(is_emulated("kvm-virt-64"));
	assert_false(is_emulated("graviton2"));
}

static void no_real_board_is_taken_for_an_emulator(void **s)
{
	static const char *const boards[] = {
		"pi1",	      "pi2",	      "pi3-32",	  "pi3-32-bare",
		"pi3-64",     "pi4-32-on-64", "pi5",	  "odroid-xu4",
		"rk3399",     "jetson-orin",  "apple-m1", "pc",
		"unknown-v8", "unknown-v7",
	};

	(void)s;
	for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++)
		if (is_emulated(boards[i]))
			fail_msg("%s is taken for an emulator", boards[i]);
}

static bool counts(const struct upmu_core_kind *kind, uint64_t midr,
		   const char *name)
{
	const struct upmu_core *core = upmu_core_by_midr((uint32_t)midr);

	return upmu_emulator_counts(kind,
				    upmu_core_find(core, name, strlen(name)));
}

static void emulators_count_cycles_instructions_and_increments_only(void **s)
{
	static const struct upmu_core_kind kind;

	(void)s;
	assert_true(counts(&kind, 0x410fd034, "cpu_cycles"));
	assert_true(counts(&kind, 0x410fd034, "inst_retired"));
	assert_true(counts(&kind, 0x410fd034, "sw_incr"));
	assert_false(counts(&kind, 0x410fd034, "l1d_cache"));
	assert_false(counts(&kind, 0x410fb767, "cpu_cycles"));
}

/* Of a device tree that says: 0x03, 0x04 */
static void a_model_counts_what_it_tells_and_nothing_else(void **s)
{
	static const struct upmu_core_kind kind = {
		.model = { .codes = { 1 << 3 | 1 << 4 } },
	};

	(void)s;
	assert_true(counts(&kind, 0x410fd034, "l1d_cache"));
	assert_true(counts(&kind, 0x410fd034, "l1d_cache_refill"));
	assert_true(counts(&kind, 0x410fd034, "cpu_cycles"));
	assert_false(counts(&kind, 0x410fd034, "l1d_tlb_refill"));
	assert_false(counts(&kind, 0x410fb767, "cpu_cycles"));
}

/* The Pi Zero's: instructions by -icount, cycles by the clock. */
static void what_a_model_counts_exactly_is_not_called_modelled(void **s)
{
	static const struct upmu_core_kind kind = {
		.model = { .codes = { 1 << 6 }, .exact = { 1 << 7 } },
	};
	const struct upmu_core *core = upmu_core_by_midr(0x410fb767);

	(void)s;
	assert_true(counts(&kind, 0x410fb767, "instr_exec"));
	assert_false(upmu_event_is_modelled(
		&kind, upmu_core_find(core, "instr_exec", 10)));
	assert_true(upmu_event_is_modelled(
		&kind, upmu_core_find(core, "br_mispredict", 13)));
}

/* All are counted, no more are written than there is room for. */
static void the_cores_with_an_event_fill_the_room_and_no_more(void **state)
{
	const struct upmu_core *cores[3] = { NULL };
	size_t n = upmu_cores_with("l1d_cache", 9, cores, 2);

	(void)state;
	assert_true(n > 2);
	assert_non_null(cores[0]);
	assert_non_null(cores[1]);
	assert_null(cores[2]);
	assert_int_equal(upmu_cores_with("no_such_event", 13, cores, 2), 0);
}

/* PMUv3's drivers do, and those of cores that no table knows may. */
static void which_pmus_publish_their_events_is_told_by_name_and_core(void **s)
{
	struct upmu_core_kind kind = { .core = upmu_core_by_midr(0x410fc073) };

	(void)s;
	assert_false(upmu_kind_publishes(&kind));
	strcpy(kind.pmu_name, "armv7_cortex_a7");
	assert_false(upmu_kind_publishes(&kind));
	kind.core = upmu_core_common(UPMU_ARCH_V7);
	assert_true(upmu_kind_publishes(&kind));
	kind.core = NULL;
	assert_true(upmu_kind_publishes(&kind));
	kind.core = upmu_core_by_midr(0x410fb767);
	strcpy(kind.pmu_name, "armv6_1176");
	assert_false(upmu_kind_publishes(&kind));
	kind.core = upmu_core_by_midr(0x410fd034);
	strcpy(kind.pmu_name, "armv8_cortex_a53");
	assert_true(upmu_kind_publishes(&kind));
	kind.pmu_name[0] = '\0';
	assert_false(upmu_kind_publishes(&kind));
}

static void a_kind_is_labelled_by_core_or_pmu(void **s)
{
	struct upmu_core_kind kind = { .pmu_name = "" };

	(void)s;
	assert_string_equal(upmu_kind_label(&kind), "cpu");
	strcpy(kind.pmu_name, "armv7_x");
	assert_string_equal(upmu_kind_label(&kind), "armv7_x");
	kind.core = upmu_core_common(UPMU_ARCH_V7);
	assert_string_equal(upmu_kind_label(&kind), "armv7_x");
	kind.pmu_name[0] = '\0';
	assert_string_equal(upmu_kind_label(&kind), "common-armv7");
	kind.core = upmu_core_by_midr(0x410fc073);
	assert_string_equal(upmu_kind_label(&kind), "cortex-a7");
}

static void write_below(const char *root, const char *text, const char *path,
			...)
{
	char name[UPMU_PATH_SIZE], command[2 * UPMU_PATH_SIZE];
	va_list rest;
	FILE *file;

	va_start(rest, path);
	vsnprintf(name, sizeof(name), path, rest);
	va_end(rest);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s%s)\"", root,
		 name);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s%s", root, name);
	file = fopen(command, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

#define PMUS "/sys/bus/event_source/devices/"
#define MIDR "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1"

/* Kinds of core by turns, each with a PMU: @cpus of them, of @kinds. */
static void make_machine(char *root, unsigned int cpus, unsigned int kinds)
{
	char list[512], midr[32];

	assert_non_null(mkdtemp(root));
	for (unsigned int kind = 0; kind < kinds; kind++) {
		int n = 0;

		for (unsigned int cpu = kind; cpu < cpus; cpu += kinds)
			n += sprintf(list + n, "%s%u", n ? "," : "", cpu);
		write_below(root, list, PMUS "armv8_pmuv3_%u/cpus", kind);
		sprintf(midr, "%u", 8 + kind);
		write_below(root, midr, PMUS "armv8_pmuv3_%u/type", kind);
	}
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		sprintf(midr, "0x410fd%02x0", 3 + cpu % kinds);
		write_below(root, midr, MIDR, cpu);
	}
	upmu_sys_set_root(root);
}

static void remove_machine(const char *root)
{
	char command[UPMU_PATH_SIZE];

	upmu_sys_set_root(NULL);
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

static void every_other_cpu_of_many_has_its_pmu(void **state)
{
	char root[] = "/tmp/upmu-machine-XXXXXX";

	(void)state;
	make_machine(root, 64, 2);
	assert_int_equal(upmu_machine_read(&machine), 0);
	assert_int_equal(machine.n_kinds, 2);
	assert_kind(0, "cortex-a53", "armv8_pmuv3_0", 8, 0x5555555555555555);
	assert_kind(1, "cortex-a35", "armv8_pmuv3_1", 9, 0xaaaaaaaaaaaaaaaa);
	remove_machine(root);
}

static void more_kinds_of_core_than_there_is_room_for_are_said(void **state)
{
	char root[] = "/tmp/upmu-machine-XXXXXX";

	(void)state;
	make_machine(root, 9, 9);
	assert_int_equal(upmu_machine_read(&machine), -E2BIG);
	assert_string_equal(upmu_machine_why(-E2BIG),
			    "it has more than 8 kinds of core");
	assert_string_equal(upmu_machine_why(-ENOMEM), strerror(ENOMEM));
	remove_machine(root);
}

/* A machine with a CPU for each PMU, all of one MIDR where there is one. */
static void read_made(const char *midr, const char *const *pmus)
{
	char root[] = "/tmp/upmu-machine-XXXXXX", number[] = "0";

	assert_non_null(mkdtemp(root));
	for (unsigned int cpu = 0; pmus[cpu]; cpu++, number[0]++) {
		write_below(root, number, PMUS "%s/cpus", pmus[cpu]);
		write_below(root, number, PMUS "%s/type", pmus[cpu]);
		if (midr)
			write_below(root, midr, MIDR, cpu);
	}
	upmu_sys_set_root(root);
	assert_int_equal(upmu_machine_read(&machine), 0);
	remove_machine(root);
}

#define READ_MADE(midr, ...) \
	read_made(midr, (const char *const[]){ __VA_ARGS__, NULL })

static void where_no_cpu_has_a_midr_the_pmus_name_tells_the_core(void **state)
{
	(void)state;
	READ_MADE(NULL, "armv7_cortex_a7", "armv7_pj4", "armv8_pmuv3_0",
		  "armv9_new", "smmuv3_pmcg_0");
	assert_int_equal(machine.n_kinds, 4);
	assert_kind(0, "cortex-a7", "armv7_cortex_a7", 0, 1 << 0);
	assert_kind(1, "common-armv7", "armv7_pj4", 1, 1 << 1);
	assert_kind(2, "common-armv8", "armv8_pmuv3_0", 2, 1 << 2);
	assert_kind(3, "common-armv8", "armv9_new", 3, 1 << 3);
}

/* What the architecture says does not hold of a PMU of the maker's. */
static void an_unknown_core_with_a_pmu_of_its_own_has_no_events(void **state)
{
	(void)state;
	READ_MADE("0x410ffff0", "maker_pmu");
	assert_kind(0, NULL, "maker_pmu", 0, 1);
	assert_int_equal(machine.kinds[0].cycles_config, 0x11);
}

static void an_arm1176_without_a_pmu_takes_its_cycles_by_0xff(void **state)
{
	(void)state;
	READ_MADE("0x410fb767", "software");
	assert_kind(0, "arm1176", "", UPMU_PMU_TYPE_NONE, 1);
	assert_int_equal(machine.kinds[0].cycles_config, 0xff);
}

/* Else its CPUs would be those of a core that perf has no PMU for. */
static void a_list_of_cpus_that_is_too_long_is_said(void **state)
{
	char root[] = "/tmp/upmu-machine-XXXXXX", list[512];

	(void)state;
	make_machine(root, 2, 2);
	for (int at = 0; at < 512; at += 2)
		memcpy(&list[at], "1,", 2);
	list[511] = '\0';
	write_below(root, list, PMUS "armv8_pmuv3_%u/cpus", 1);
	assert_int_equal(upmu_machine_read(&machine), -EFBIG);
	assert_string_equal(upmu_machine_why(-EFBIG),
			    "sysfs has 512 or more characters of a PMU's CPUs");
	remove_machine(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_cores_with_an_event_fill_the_room_and_no_more),
		cmocka_unit_test(
			pi1_is_an_arm1176_though_its_kernel_says_architecture_7),
		cmocka_unit_test(pi2_is_a_cortex_a7),
		cmocka_unit_test(looking_leaves_no_descriptor_open),
		cmocka_unit_test(
			pi3_in_32_bits_is_a_cortex_a53_under_the_v7_driver),
		cmocka_unit_test(pi3_without_a_perf_pmu_is_still_known),
		cmocka_unit_test(
			pi3_in_64_bits_takes_the_cycle_counter_by_0x11),
		cmocka_unit_test(
			pi4_with_a_32_bit_system_has_the_pmu_of_its_64_bit_kernel),
		cmocka_unit_test(pi5_is_a_cortex_a76),
		cmocka_unit_test(odroid_xu4_has_two_kinds_of_core),
		cmocka_unit_test(rk3399_has_two_kinds_of_core),
		cmocka_unit_test(each_cpu_of_big_little_has_its_kind),
		cmocka_unit_test(
			of_a_thousand_cpus_each_has_a_bit_and_none_behind_them),
		cmocka_unit_test(orin_goes_by_its_midr_and_not_by_its_pmu_name),
		cmocka_unit_test(graviton_is_known_though_its_pmu_has_no_name),
		cmocka_unit_test(
			one_pmu_over_unlike_cores_offers_the_architecture_only),
		cmocka_unit_test(an_offline_cpu_belongs_to_its_pmu),
		cmocka_unit_test(an_old_kernel_identifies_all_cpus_at_once),
		cmocka_unit_test(
			an_old_64_bit_kernel_says_its_architecture_in_letters),
		cmocka_unit_test(a_cpu_that_the_pmu_leaves_out_has_none),
		cmocka_unit_test(an_unknown_core_is_offered_its_architecture),
		cmocka_unit_test(apples_pmu_has_codes_of_its_own),
		cmocka_unit_test(
			a_guest_on_apples_cores_has_the_architectures_pmu),
		cmocka_unit_test(a_kernel_is_of_its_version_whatever_follows),
		cmocka_unit_test(a_pc_has_no_kind_of_core),
		cmocka_unit_test(a_root_without_files_has_no_kind_of_core),
		cmocka_unit_test(qemu_is_recognised_on_every_board),
		cmocka_unit_test(a_virtual_machine_on_silicon_is_not_emulated),
		cmocka_unit_test(no_real_board_is_taken_for_an_emulator),
		cmocka_unit_test(
			emulators_count_cycles_instructions_and_increments_only),
		cmocka_unit_test(a_model_counts_what_it_tells_and_nothing_else),
		cmocka_unit_test(
			what_a_model_counts_exactly_is_not_called_modelled),
		cmocka_unit_test(
			which_pmus_publish_their_events_is_told_by_name_and_core),
		cmocka_unit_test(a_kind_is_labelled_by_core_or_pmu),
		cmocka_unit_test(every_other_cpu_of_many_has_its_pmu),
		cmocka_unit_test(
			more_kinds_of_core_than_there_is_room_for_are_said),
		cmocka_unit_test(
			where_no_cpu_has_a_midr_the_pmus_name_tells_the_core),
		cmocka_unit_test(
			an_unknown_core_with_a_pmu_of_its_own_has_no_events),
		cmocka_unit_test(
			an_arm1176_without_a_pmu_takes_its_cycles_by_0xff),
		cmocka_unit_test(a_list_of_cpus_that_is_too_long_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
