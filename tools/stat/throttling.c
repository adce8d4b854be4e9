// SPDX-License-Identifier: MIT
/*
 * What the machine did to itself while a program was counted: throttling,
 * under-voltage, another frequency governor. Looked at before and after.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/sys.h"
#include "stat.h"

#define CPU    "/sys/devices/system/cpu"
#define POLICY CPU "/cpufreq/policy%u/%s"
#define HEAT   CPU "/cpu%u/thermal_throttle/%s"
#define COOLER "/sys/class/thermal/cooling_device%u/%s"
#define HWMON  "/sys/class/hwmon/hwmon%u/%s"
/* The Raspberry Pi firmware's own word (vendor kernels). */
#define PI_FIRMWARE "/sys/devices/platform/soc/soc:firmware/get_throttled"

/* get_throttled: now in bits 0 to 3, since boot in bits 16 to 19. */
#define PI_UNDER_VOLTAGE 0x1u
#define PI_CAPPED	 0x2u
#define PI_THROTTLED	 0x4u
#define PI_HOT		 0x8u
#define PI_SINCE_BOOT	 16

/* Most of one kind that a board has; numbers have no gaps. */
#define MOST 16

/* Every file that is there makes it worth looking again at the end. */
static int text_of(struct stat_machine *machine, const char *path, char *text,
		   size_t size)
{
	int error = upmu_sys_read_text(path, text, size);

	if (!error)
		machine->tells = true;
	return error;
}

static int numbered(struct stat_machine *machine, const char *format,
		    unsigned int n, const char *leaf, char *text, size_t size)
{
	char path[UPMU_PATH_SIZE];

	snprintf(path, sizeof(path), format, n, leaf);
	return text_of(machine, path, text, size);
}

static long number_of(struct stat_machine *machine, const char *format,
		      unsigned int n, const char *leaf)
{
	char text[32];

	if (numbered(machine, format, n, leaf, text, sizeof(text)))
		return 0;
	return strtol(text, NULL, 10);
}

static unsigned int pi_bits(struct stat_machine *machine)
{
	char text[32];

	if (text_of(machine, PI_FIRMWARE, text, sizeof(text)))
		return 0;
	return (unsigned int)strtoul(text, NULL, 16);
}

/* How far frequency is held down by heat, summed over cooling devices. */
static long cooling(struct stat_machine *machine)
{
	char type[64];
	long sum = 0;

	for (unsigned int n = 0; n < MOST; n++) {
		if (numbered(machine, COOLER, n, "type", type, sizeof(type)))
			break;
		if (strstr(type, "cpufreq"))
			sum += number_of(machine, COOLER, n, "cur_state");
	}
	return sum;
}

static bool under_voltage(struct stat_machine *machine)
{
	char name[32];

	for (unsigned int n = 0; n < MOST; n++) {
		if (numbered(machine, HWMON, n, "name", name, sizeof(name)))
			break;
		if (!strcmp(name, "rpi_volt"))
			return number_of(machine, HWMON, n, "in0_lcrit_alarm");
	}
	return false;
}

void stat_machine_look(struct stat_machine *machine)
{
	memset(machine, 0, sizeof(*machine));
	machine->pi = pi_bits(machine);
	machine->cooling = cooling(machine);
	machine->heat = number_of(machine, HEAT, 0, "core_throttle_count");
	machine->under_voltage = under_voltage(machine);
	/* Policies have gaps, but the first is always that of CPU 0. */
	for (unsigned int n = 0; n < STAT_POLICIES; n++)
		if (numbered(machine, POLICY, n, "scaling_governor",
			     machine->governor[n],
			     sizeof(machine->governor[n])) &&
		    !n)
			break;
}

/* Bits that are set now, or that came up since @before. */
static unsigned int pi_during(const struct stat_machine *before,
			      const struct stat_machine *after)
{
	unsigned int since = (after->pi & ~before->pi) >> PI_SINCE_BOOT;

	return (after->pi | before->pi | since) &
	       (PI_UNDER_VOLTAGE | PI_CAPPED | PI_THROTTLED | PI_HOT);
}

static unsigned int write_governors(FILE *out,
				    const struct stat_machine *before,
				    const struct stat_machine *after)
{
	unsigned int changed = 0;

	for (unsigned int n = 0; n < STAT_POLICIES; n++) {
		if (!strcmp(before->governor[n], after->governor[n]))
			continue;
		fprintf(out,
			"the frequency governor of CPU %u changed from %s to "
			"%s\n",
			n, before->governor[n], after->governor[n]);
		changed++;
	}
	return changed;
}

struct stat_disturbed stat_machine_compare(FILE *out,
					   const struct stat_machine *before,
					   const struct stat_machine *after)
{
	unsigned int pi = pi_during(before, after);
	struct stat_disturbed told = {
		.under_voltage = (pi & PI_UNDER_VOLTAGE) ||
				 before->under_voltage || after->under_voltage,
		.throttled = (pi & (PI_CAPPED | PI_THROTTLED | PI_HOT)) ||
			     before->cooling || after->cooling ||
			     after->heat > before->heat,
	};

	if (told.under_voltage)
		fputs("the supply voltage was too low\n", out);
	if (told.throttled)
		fputs("the CPU was throttled: its frequency was held down\n",
		      out);
	told.governors = write_governors(out, before, after);
	return told;
}
