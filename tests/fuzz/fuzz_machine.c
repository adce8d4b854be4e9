// SPDX-License-Identifier: MIT
/*
 * What the kernel says of CPUs and PMUs: /proc/cpuinfo, sysfs, the device
 * tree. Whatever stands there, a machine is read or refused, and what was read
 * is within its bounds. The first byte of an input chooses the file.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "lib/events/events.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"

const char fuzz_claim[] = "any_machine_is_read_or_refused";
const char fuzz_joint[] = "\n";
const unsigned long fuzz_default_runs = 3000;

#define PMU   "/sys/bus/event_source/devices/armv7_cortex_a7"
#define TREE  "/sys/firmware/devicetree/base"
#define MODEL TREE "/upmu-model/cortex-a7"

static const char *const files[] = {
	"/proc/cpuinfo",
	PMU "/type",
	PMU "/cpus",
	PMU "/events/some",
	PMU "/format/event",
	"/sys/devices/system/cpu/possible",
	"/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
	TREE "/compatible",
	"/proc/sys/kernel/perf_event_paranoid",
	"/proc/sys/kernel/arch",
	"/proc/sys/kernel/osrelease",
	TREE "/upmu-model/refused",
	MODEL,
};
#define FILES  (sizeof(files) / sizeof(files[0]))
#define MODELS (FILES - 1)

const char *const fuzz_words[] = {
	"a",
	"b",
	"c",
	"d",
	"e",
	"f",
	"g",
	"h",
	"i",
	"j",
	"k",
	"l",
	"m", /* choose files */
	"processor\t: 0",
	"processor\t: 7",
	"processor\t: 1023",
	"processor\t: 4294967296",
	"CPU implementer\t: 0x41",
	"CPU implementer\t: 0x51",
	"CPU variant\t: 0x2",
	"CPU part\t: 0xc07",
	"CPU part\t: 0xd03",
	"CPU part\t: 0xb76",
	"CPU part\t: 0xffffffffff",
	"CPU revision\t: 5",
	"CPU architecture: 7",
	"CPU architecture: 8",
	"Hardware\t: BCM2835",
	"model name\t: ARMv7 Processor rev 5 (v7l)",
	":",
	"0x",
	"-1",
	"0",
	"8",
	"0-3",
	"0,2-3",
	"63",
	"64",
	"0-1023",
	"3-0",
	"4294967295",
	"99999999999999999999",
	"event=0x11",
	"event=0x11,inv",
	"config:0-7",
	"config:0-7,20-31",
	"config1:0",
	"config2:60-63",
	"config:63-64",
	"config:",
	"config3:0",
	"umask=0x",
	"0x00000000410fc075",
	"armv7l",
	"aarch64",
	"6.1.0-rc3",
	"Cortex-A7",
	"L1D 32 KiB, 4 ways",
	"3 1d c0",
	"linux,dummy-virt",
	"raspberrypi,2-model-b",
	"\t",
};
const size_t fuzz_words_count = sizeof(fuzz_words) / sizeof(fuzz_words[0]);

static char root[32];

static void leave(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	if (system(command))
		perror(root);
}

static void put(const char *path, const void *data, size_t size)
{
	char real[256];
	FILE *file;

	snprintf(real, sizeof(real), "%s%s", root, path);
	for (char *slash = real + strlen(root) + 1;
	     (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(real, 0755);
		*slash = '/';
	}
	file = fopen(real, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
}

static const char *const right[FILES] = {
	"processor\t: 0\nCPU implementer\t: 0x41\n"
	"CPU architecture: 7\nCPU variant\t: 0x0\n"
	"CPU part\t: 0xc07\nCPU revision\t: 5\n",
	"8\n",
	"0-3\n",
	"event=0x11\n",
	"config:0-7\n",
	"0-3\n",
	"0x00000000410fc075\n",
	"brcm,bcm2836",
	"2\n",
	"armv7l\n",
	"6.1.0\n",
	"",
	"Cortex-A7", /* no list of codes */
};

static void put_right(size_t n)
{
	put(files[n], right[n], strlen(right[n]));
}

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size);
}

static void check_models(const struct upmu_machine *machine,
			 const uint8_t *data, size_t size)
{
	static const unsigned char none[UPMU_MODEL_CODES / 8];
	const struct upmu_model *all = &machine->model;

	FUZZ_ASSERT(all->is_told, data, size);
	FUZZ_ASSERT(ends(all->refused, sizeof(all->refused)), data, size);
	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_model *one = &machine->kinds[i].model;

		FUZZ_ASSERT(ends(one->title, sizeof(one->title)), data, size);
		FUZZ_ASSERT(ends(one->geometry, sizeof(one->geometry)), data,
			    size);
		/* Without its property no code is, whatever others say. */
		FUZZ_ASSERT(data[0] % FILES == MODELS ||
				    !memcmp(one->exact, none, sizeof(none)),
			    data, size);
	}
}

static void check(const struct upmu_machine *machine, const uint8_t *data,
		  size_t size)
{
	uint64_t seen[UPMU_CPUS_MAX / 64] = { 0 };

	FUZZ_ASSERT(machine->n_kinds <= UPMU_KINDS_MAX, data, size);
	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core_kind *kind = &machine->kinds[i];

		FUZZ_ASSERT(ends(kind->pmu_name, sizeof(kind->pmu_name)), data,
			    size);
		/* A CPU is of one kind. */
		for (size_t word = 0; word < UPMU_CPUS_MAX / 64; word++) {
			FUZZ_ASSERT(!(seen[word] & kind->cpus[word]), data,
				    size);
			seen[word] |= kind->cpus[word];
		}
	}
}

void fuzz_input(const uint8_t *data, size_t size)
{
	static struct upmu_machine machine;
	static struct upmu_event_list list;
	static bool done;
	struct upmu_pmu pmus[UPMU_PMUS_MAX];
	size_t file;
	int ret;

	if (!size)
		return;
	if (!done) {
		done = true;
		fuzz_temporary(root, sizeof(root));
		if (!mkdtemp(root))
			abort();
		atexit(leave);
		for (size_t i = 0; i < FILES; i++)
			put_right(i);
	}
	upmu_sys_set_root(root);
	file = data[0] % FILES;
	put(files[file], data + 1, size - 1);
	ret = upmu_machine_read(&machine);
	FUZZ_ASSERT(ret <= 0, data, size);
	if (!ret) {
		check(&machine, data, size);
		check_models(&machine, data, size);
		upmu_events_parse(&list, "armv7_cortex_a7/some/,cycles",
				  &machine, NULL);
	}
	ret = upmu_pmus_list(pmus);
	FUZZ_ASSERT(ret <= UPMU_PMUS_MAX, data, size);
	put_right(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_input(data, size);
	return 0;
}
