// SPDX-License-Identifier: MIT
/* What is read of processors, of perf's PMUs and of emulated boards. */
#include "own_root.h"

#include <errno.h>

#include "lib/events/cpuinfo.h"
#include "lib/events/sysfs.h"
#include "lib/perf/pmus.h"

static struct upmu_cpuinfo info;

static void read_cpuinfo(const char *text)
{
	put("proc/cpuinfo", text);
	memset(&info, 0xee, sizeof(info));
	upmu_cpuinfo_read(&info);
}

#define PARTS                                            \
	"CPU implementer\t: 0x41\nCPU architecture: 7\n" \
	"CPU variant\t: 0x2\nCPU part\t: 0xc07\n"        \
	"CPU revision\t: 3\n"
#define MIDR 0x412fc073u

static void a_midr_is_made_of_its_five_parts(void **s)
{
	static const struct {
		const char *line;
		uint32_t midr;
	} rows[] = {
		{ "CPU implementer : 0xff", 0xff000000 },
		{ "CPU variant : 0xff", 0x41f00000 },
		{ "CPU variant : 0x10", 0x41000000 },
		{ "CPU part : 0xfff", 0x410ffff0 },
		{ "CPU part : 0x1000", 0x410f0000 },
		{ "CPU revision : 15", 0x4100000f },
		{ "CPU revision : 16", 0x41000000 },
		{ "CPU revision :7", 0x41000007 },
		{ "Hardware : 7", 0x41000000 },
		{ "no colon", 0x41000000 },
	};
	char text[128];

	(void)s;
	read_cpuinfo("processor : 0\n" PARTS);
	assert_int_equal(info.midrs[0], MIDR);
	assert_int_equal(info.n, 1);
	assert_int_equal(info.arch, 7);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), "processor : 0\n%s%s\n",
			 i ? "CPU implementer : 0x41\n" : "", rows[i].line);
		read_cpuinfo(text);
		assert_true(info.midrs[0] == rows[i].midr);
	}
}

static void an_architecture_is_told_by_number_or_by_letters(void **s)
{
	static const struct {
		const char *text;
		int arch;
	} rows[] = { { "8", 8 },       { "7", 7 },     { "6TEJ", 6 },
		     { "AArch64", 8 }, { "AArch", 0 }, { "", 0 } };
	char text[128];

	(void)s;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), "CPU architecture: %s\n",
			 rows[i].text);
		read_cpuinfo(text);
		assert_int_equal(info.arch, rows[i].arch);
		assert_int_equal(info.n, 0);
	}
	remove("proc/cpuinfo");
	upmu_cpuinfo_read(&info);
	assert_int_equal(info.arch, 0);
	assert_int_equal(info.n, 0);
}

static void each_cpu_has_its_own_parts(void **s)
{
	(void)s;
	/* The last has no newline, which nobody writes: it is not read. */
	read_cpuinfo("Processor : ARMv7\nprocessor : 0\n" PARTS
		     "processor : 3\n" PARTS "CPU revision : 4\n"
		     "processor : 1\n\nprocessor : 2\n"
		     "CPU implementer : 0x51\nprocessor : 5\n"
		     "CPU implementer : 0x61");
	assert_int_equal(info.n, 4);
	assert_int_equal(info.midrs[0], MIDR);
	assert_int_equal(info.midrs[1], 0);
	assert_int_equal(info.midrs[2], 0x51000000);
	assert_int_equal(info.midrs[3], MIDR | 4);
}

/* Old kernels tell it once, behind all. */
static void parts_that_are_told_once_are_of_all_cpus(void **s)
{
	(void)s;
	read_cpuinfo("processor : 0\nprocessor : 1\nprocessor : 2\n" PARTS);
	assert_int_equal(info.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(info.midrs[i], MIDR);
	/* Of two that tell it, a third that does not is no copy. */
	read_cpuinfo("processor : 0\n" PARTS "processor : 1\n" PARTS
		     "processor : 2\n");
	assert_int_equal(info.n, 2);
	read_cpuinfo("processor : 4\n" PARTS);
	assert_int_equal(info.n, 5);
	assert_int_equal(info.midrs[0], 0);
}

static void cpus_beyond_the_last_that_there_can_be_are_left_out(void **s)
{
	(void)s;
	read_cpuinfo("processor : 1023\n" PARTS "processor : 1024\n" PARTS
		     "processor : -1\n" PARTS);
	assert_int_equal(info.n, 1024);
	assert_int_equal(info.midrs[1023], MIDR);
}

/* Features are longer than what is kept of a line, and files than a block. */
static void a_long_file_of_long_lines_is_read_whole(void **s)
{
	static char text[16384];
	char features[201];

	(void)s;
	memset(features, 'f', sizeof(features));
	features[200] = '\0';
	text[0] = '\0';
	for (unsigned int i = 0; i < 32; i++)
		sprintf(text + strlen(text),
			"processor : %u\n" PARTS "Features : %s\n", i,
			features);
	read_cpuinfo(text);
	assert_int_equal(info.n, 32);
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(info.midrs[i], MIDR);
}

#define CPU	"sys/devices/system/cpu/cpu"
#define ID_MIDR "/regs/identification/midr_el1"

static void sysfs_tells_of_cpus_and_cpuinfo_of_those_that_are_off(void **s)
{
	(void)s;
	put(CPU "0" ID_MIDR, "0x00000000410fd034\n");
	put(CPU "1" ID_MIDR, "0x00000000410fd083\n");
	put("proc/cpuinfo", "processor : 0\n" PARTS);
	upmu_cpuinfo_read(&info);
	assert_int_equal(info.arch, 8);
	assert_int_equal(info.n, 2);
	assert_true(info.midrs[0] == 0x410fd034);
	assert_true(info.midrs[1] == 0x410fd083);
	/* It is there, and off; sysfs's word goes first. */
	put(CPU "2/online", "0\n");
	put(CPU "3" ID_MIDR, "0x00000000410fd0b0\n");
	read_cpuinfo("processor : 0\n" PARTS "processor : 2\n" PARTS);
	assert_int_equal(info.n, 4);
	assert_true(info.midrs[0] == 0x410fd034);
	assert_int_equal(info.midrs[2], MIDR);
	assert_true(info.midrs[3] == 0x410fd0b0);
}

/* ---- PMUs ---------------------------------------------------------------- */

#define DEVICES "sys/bus/event_source/devices/"

static void pmus_are_listed_by_their_types(void **s)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];

	(void)s;
	assert_int_equal(upmu_pmus_list(pmus), -ENOENT);
	put(DEVICES "b/cpus", "0-3,8\n");
	put(DEVICES "b/type", "10\n");
	put(DEVICES "a/cpus", "4\n");
	put(DEVICES "a/type", "9\n");
	put(DEVICES "software/cpus", "0\n");
	put(DEVICES "software/type", "1\n");
	put(DEVICES "uncore/type", "11\n");
	put(DEVICES "cpu/type", "4\n");
	put(DEVICES "word/cpus", "0\n");
	put(DEVICES "word/type", "x\n");
	put(DEVICES "more/cpus", "0\n");
	put(DEVICES "more/type", "8 x\n");
	assert_int_equal(upmu_pmus_list(pmus), 3);
	assert_string_equal(pmus[0].name, "cpu");
	assert_string_equal(pmus[0].cpus, "");
	assert_int_equal(pmus[0].type, 4);
	assert_string_equal(pmus[1].name, "a");
	assert_string_equal(pmus[1].cpus, "4");
	assert_int_equal(pmus[1].type, 9);
	assert_string_equal(pmus[2].name, "b");
	assert_string_equal(pmus[2].cpus, "0-3,8");
	assert_int_equal(pmus[2].type, 10);
}

/* The list of a folder comes in pieces, and its room has an end. */
static void no_more_pmus_are_listed_than_there_is_room_for(void **s)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX + 1];
	char path[128], longest[sizeof(pmus->name)];

	(void)s;
	memset(&pmus[UPMU_PMUS_MAX], 0x5a, sizeof(*pmus));
	for (unsigned int i = 0; i < UPMU_PMUS_MAX + 60; i++) {
		snprintf(path, sizeof(path),
			 DEVICES "%s_with_a_long_name_%03u/type",
			 i < 60 ? "none" : "pmu", i);
		put(path, "8\n");
		if (i < 60)
			continue;
		strcpy(strrchr(path, '/'), "/cpus");
		put(path, "0\n");
	}
	assert_int_equal(upmu_pmus_list(pmus), UPMU_PMUS_MAX);
	assert_int_equal(pmus[UPMU_PMUS_MAX].name[0], 0x5a);
	assert_int_equal(system("rm -rf " DEVICES), 0);
	memset(longest, 'p', sizeof(longest));
	for (size_t length = sizeof(longest) - 1; length <= sizeof(longest);
	     length++) {
		snprintf(path, sizeof(path), DEVICES "%.*s/cpus", (int)length,
			 longest);
		put(path, "0\n");
		strcpy(strrchr(path, '/'), "/type");
		put(path, "8\n");
		assert_int_equal(upmu_pmus_list(pmus), 1);
		assert_int_equal(strlen(pmus[0].name), sizeof(longest) - 1);
	}
}

/* ---- emulators, and models of cores -------------------------------------- */

#define TREE "sys/firmware/devicetree/base/"

/* Strings, each with its NUL. */
static void put_strings(const char *path, const char *text, size_t size)
{
	FILE *file;

	put(path, "");
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

#define PUT_STRINGS(path, text) put_strings(path, text, sizeof(text) - 1)

static void a_board_is_known_by_what_its_tree_says(void **s)
{
	(void)s;
	assert_false(upmu_machine_is_emulated());
	PUT_STRINGS(TREE "compatible", "some,board\0linux,dummy-virt\0");
	assert_true(upmu_machine_is_emulated());
	PUT_STRINGS(TREE "compatible", "not-linux,dummy-virt\0");
	assert_false(upmu_machine_is_emulated());
	put(TREE "fw-cfg@9020000/name", "");
	assert_true(upmu_machine_is_emulated());
	/* A board's firmware gives it a number, and it has no fw-cfg. */
	PUT_STRINGS(TREE "compatible", "some\0raspberrypi,4-model-b\0");
	assert_true(upmu_machine_is_emulated());
	put(TREE "serial-number", "1");
	assert_false(upmu_machine_is_emulated());
	put(TREE "upmu-model/x", "");
	assert_true(upmu_machine_is_emulated());
}

/* The architecture wants either of every PMUv3; QEMU's has none. */
static void a_pmu_that_tells_its_events_goes_before_the_board(void **s)
{
	static const char *const events[] = { "cpu_cycles", "l1d_cache",
					      "l1d_cache_refill" };
	char path[128];

	(void)s;
	for (int has = 0; has < 8; has++) {
		assert_int_equal(system("rm -rf sys"), 0);
		PUT_STRINGS(TREE "compatible", "linux,dummy-virt\0");
		put(DEVICES "armv8_pmuv3/cpus", "0\n");
		put(DEVICES "armv8_pmuv3/type", "8\n");
		for (int i = 0; i < 3; i++) {
			snprintf(path, sizeof(path),
				 DEVICES "armv8_pmuv3/events/%s", events[i]);
			if (has >> i & 1)
				put(path, "event=0x4\n");
		}
		assert_int_equal(upmu_machine_is_emulated(),
				 !(has & 1) || has == 1);
		/* Of 32 bits no PMU tells. */
		assert_int_equal(
			rename(DEVICES "armv8_pmuv3", DEVICES "armv7_pmu"), 0);
		assert_true(upmu_machine_is_emulated());
	}
}

static void a_model_tells_title_geometry_and_two_lists(void **s)
{
	static struct upmu_machine machine;
	struct upmu_core_model *model = &machine.kinds[0].model;
	char longest[300];

	(void)s;
	machine.n_kinds = 2;
	machine.kinds[0].core = upmu_core_by_name("cortex-a7", 9);
	upmu_model_read(&machine);
	assert_false(machine.model.is_told);
	PUT_STRINGS(TREE "upmu-model/cortex-a7",
		    "Cortex-A7\0L1D 32 KiB\0003 1d ff 100 x 4\0007 8\0");
	put(TREE "upmu-model/refused", "no model\n");
	upmu_model_read(&machine);
	assert_true(machine.model.is_told);
	assert_string_equal(machine.model.refused, "");
	assert_string_equal(model->title, "Cortex-A7");
	assert_string_equal(model->article, "a");
	assert_string_equal(model->geometry, "L1D 32 KiB");
	for (unsigned int code = 0; code < UPMU_MODEL_CODES; code++) {
		assert_int_equal(model->codes[code / 8] >> code % 8 & 1,
				 code == 3 || code == 0x1d || code == 0xff);
		assert_int_equal(model->exact[code / 8] >> code % 8 & 1,
				 code == 7 || code == 8);
	}
	/* One string alone: the rest is empty, and why is told. */
	PUT_STRINGS(TREE "upmu-model/cortex-a7", "Cortex-A7");
	upmu_model_read(&machine);
	assert_string_equal(model->title, "Cortex-A7");
	assert_string_equal(model->geometry, "");
	assert_int_equal(model->codes[0] | model->exact[0], 0);
	assert_string_equal(machine.model.refused, "no model");
	/* What is longer than the room is cut. */
	memset(longest, 't', sizeof(longest));
	put_strings(TREE "upmu-model/cortex-a7", longest, sizeof(longest));
	upmu_model_read(&machine);
	assert_int_equal(strlen(model->title), sizeof(model->title) - 1);
	remove(TREE "upmu-model/cortex-a7");
	upmu_model_read(&machine);
	assert_string_equal(model->title, "");
}

/* ---- the terms and events of a PMU --------------------------------------- */

#define PMU DEVICES "pmu/"

static void put_formats(void)
{
	put(PMU "format/event", "config:0-7\n");
	put(PMU "format/split", "config1:4-7,60-63\n");
	put(PMU "format/top", "config2:63\n");
	put(PMU "format/long", "config1:0\n");
	put(PMU "format/all", "config:0-63\n");
	put(PMU "format/word", "config\n");
	put(PMU "format/other", "config3:0\n");
	put(PMU "format/none", "config:x\n");
	put(PMU "format/far", "config:64\n");
	put(PMU "format/back", "config:7-6\n");
	put(PMU "format/tail", "config:0;1\n");
}

static void terms_go_where_their_formats_say(void **s)
{
	static const struct {
		const char *text;
		uint64_t config, config1, config2;
	} rows[] = {
		{ "", 0, 0, 0 },
		{ "event=0xff", 0xff, 0, 0 },
		{ "event=255,long", 0xff, 1, 0 },
		{ "long=0", 0, 0, 0 },
		{ "split=0xa5", 0, UINT64_C(0xa000000000000050), 0 },
		{ "top", 0, 0, UINT64_C(1) << 63 },
		{ "all=0xffffffffffffffff", UINT64_MAX, 0, 0 },
		{ "config=0x1ff,event=2", 0x102, 0, 0 },
		{ "event=2,config=0x100", 0x100, 0, 0 },
		{ "event=2,event=4", 4, 0, 0 },
		{ "config1=7,config2=010", 0, 7, 8 },
		{ "config,CONFIG1", 1, 1, 0 },
	};
	struct upmu_terms terms;

	(void)s;
	put_formats();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(upmu_sysfs_terms("pmu", rows[i].text,
						  strlen(rows[i].text), &terms),
				 0);
		assert_true(terms.config == rows[i].config);
		assert_true(terms.config1 == rows[i].config1);
		assert_true(terms.config2 == rows[i].config2);
	}
}

static void terms_that_are_none_are_refused(void **s)
{
	static const char *const wrong[] = {
		"event=256",
		"split=0x100",
		"top=2",
		"long=2",
		"event=",
		"event=-1",
		"event=1x",
		"event=1 ",
		"=1",
		",",
		"event=1,,long",
		"nosuch",
		"nosuch=1",
		"word=1",
		"other=1",
		"none=1",
		"far=1",
		"back=1",
		"tail=1",
		"../format/event=1",
		"event/=1",
		"even t=1",
		"all=0x10000000000000000",
		/* 23 digits are read, more are none. */
		"event=000000000000000000000001",
	};
	struct upmu_terms terms = { .config = 4711 };

	(void)s;
	put_formats();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (upmu_sysfs_terms("pmu", wrong[i], strlen(wrong[i]),
				     &terms) != -EINVAL)
			fail_msg("%s", wrong[i]);
		assert_true(terms.config == 4711);
	}
	assert_int_equal(upmu_sysfs_terms("pmu",
					  "event=00000000000000000000001", 29,
					  &terms),
			 0);
	assert_true(terms.config == 1);
}

static void an_event_is_its_files_terms(void **s)
{
	struct upmu_terms terms = { .config = 4711 };
	char longest[65], path[128];

	(void)s;
	put_formats();
	put(PMU "events/l1d_cache", "event=0x04\n");
	put(PMU "events/Br-1", "event=0x10,long\n");
	put(PMU "events/bad", "nosuch=1\n");
	assert_int_equal(upmu_sysfs_event("pmu", "bad", 3, &terms), -EINVAL);
	assert_int_equal(upmu_sysfs_event("pmu", "none", 4, &terms), -ENOENT);
	assert_int_equal(upmu_sysfs_event("pmu", "", 0, &terms), -ENOENT);
	assert_int_equal(upmu_sysfs_event("pmu", "../type", 7, &terms),
			 -ENOENT);
	assert_int_equal(upmu_sysfs_event("pmu", "br-1", 4, &terms), -ENOENT);
	assert_true(terms.config == 4711);
	assert_int_equal(upmu_sysfs_event("pmu", "Br-1", 4, &terms), 0);
	assert_true(terms.config == 0x10 && terms.config1 == 1);
	assert_int_equal(upmu_sysfs_event("pmu", "L1D_CACHE_x", 9, &terms), 0);
	assert_true(terms.config == 4 && terms.config1 == 0);
	memset(longest, 'a', sizeof(longest));
	snprintf(path, sizeof(path), PMU "events/%.63s", longest);
	put(path, "event=1\n");
	assert_int_equal(upmu_sysfs_event("pmu", longest, 63, &terms), 0);
	snprintf(path, sizeof(path), PMU "events/%.64s", longest);
	put(path, "event=1\n");
	assert_int_equal(upmu_sysfs_event("pmu", longest, 64, &terms), -ENOENT);
}

/* Where the kernel tells its events, all that it surely would tell. */
static void what_a_kernel_does_not_publish_its_pmu_leaves_out(void **s)
{
	const struct upmu_core *core = upmu_core_common(UPMU_ARCH_V8);
	struct upmu_core_kind kind = { .core = core, .pmu_name = "armv8_x" };
	const struct upmu_event_row *row;
	size_t left_out = 0;

	(void)s;
	for (size_t i = 0; (row = upmu_core_row(core, i)); i++)
		assert_false(upmu_kind_leaves_out(&kind, row));
	put(DEVICES "armv8_x/events/cpu_cycles", "event=0x11\n");
	put(DEVICES "armv8_x/events/l1d_cache", "event=0x04\n");
	for (size_t i = 0; (row = upmu_core_row(core, i)); i++) {
		unsigned int code = upmu_row_code(row);

		assert_int_equal(upmu_kind_leaves_out(&kind, row),
				 code && code <= 0x37 && code != 0x11 &&
					 code != 0x04 && code != 0x1e &&
					 code != 0x2e && code != 0x30);
		left_out += upmu_kind_leaves_out(&kind, row);
	}
	assert_true(left_out > 30);
	strcpy(kind.pmu_name, "armv7_x");
	assert_int_equal(rename(DEVICES "armv8_x", DEVICES "armv7_x"), 0);
	for (size_t i = 0; (row = upmu_core_row(core, i)); i++)
		assert_false(upmu_kind_leaves_out(&kind, row));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_ROOT_TEST(a_midr_is_made_of_its_five_parts),
		OWN_ROOT_TEST(an_architecture_is_told_by_number_or_by_letters),
		OWN_ROOT_TEST(each_cpu_has_its_own_parts),
		OWN_ROOT_TEST(parts_that_are_told_once_are_of_all_cpus),
		OWN_ROOT_TEST(
			cpus_beyond_the_last_that_there_can_be_are_left_out),
		OWN_ROOT_TEST(a_long_file_of_long_lines_is_read_whole),
		OWN_ROOT_TEST(
			sysfs_tells_of_cpus_and_cpuinfo_of_those_that_are_off),
		OWN_ROOT_TEST(pmus_are_listed_by_their_types),
		OWN_ROOT_TEST(no_more_pmus_are_listed_than_there_is_room_for),
		OWN_ROOT_TEST(a_board_is_known_by_what_its_tree_says),
		OWN_ROOT_TEST(
			a_pmu_that_tells_its_events_goes_before_the_board),
		OWN_ROOT_TEST(a_model_tells_title_geometry_and_two_lists),
		OWN_ROOT_TEST(terms_go_where_their_formats_say),
		OWN_ROOT_TEST(terms_that_are_none_are_refused),
		OWN_ROOT_TEST(an_event_is_its_files_terms),
		OWN_ROOT_TEST(
			what_a_kernel_does_not_publish_its_pmu_leaves_out),
	};

	return cmocka_run_group_tests_name("cpuinfo", tests, NULL, NULL);
}
