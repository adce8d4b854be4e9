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

static long number_of(const char *format, unsigned int n, const char *leaf)
{
	char path[UPMU_PATH_SIZE];
	long value;

	snprintf(path, sizeof(path), format, n, leaf);
	return upmu_sys_read_long(path, &value) ? 0 : value;
}

static int text_of(const char *format, unsigned int n, const char *leaf,
		   char *text, size_t size)
{
	char path[UPMU_PATH_SIZE];

	snprintf(path, sizeof(path), format, n, leaf);
	return upmu_sys_read_text(path, text, size);
}

static unsigned int pi_bits(void)
{
	char text[32];

	if (upmu_sys_read_text(PI_FIRMWARE, text, sizeof(text)))
		return 0;
	return (unsigned int)strtoul(text, NULL, 16);
}

/* How far frequency is held down by heat, summed over cooling devices. */
static long cooling(void)
{
	char type[64];
	long sum = 0;

	for (unsigned int n = 0; n < MOST; n++) {
		if (text_of(COOLER, n, "type", type, sizeof(type)))
			break;
		if (strstr(type, "cpufreq"))
			sum += number_of(COOLER, n, "cur_state");
	}
	return sum;
}

static bool under_voltage(void)
{
	char name[32];

	for (unsigned int n = 0; n < MOST; n++) {
		if (text_of(HWMON, n, "name", name, sizeof(name)))
			break;
		if (!strcmp(name, "rpi_volt"))
			return number_of(HWMON, n, "in0_lcrit_alarm");
	}
	return false;
}

void stat_machine_look(struct stat_machine *machine)
{
	memset(machine, 0, sizeof(*machine));
	machine->pi = pi_bits();
	machine->cooling = cooling();
	machine->heat = number_of(HEAT, 0, "core_throttle_count");
	machine->under_voltage = under_voltage();
	/* Policies have gaps, but the first is always that of CPU 0. */
	for (unsigned int n = 0; n < STAT_POLICIES; n++)
		if (text_of(POLICY, n, "scaling_governor", machine->governor[n],
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

static void write_governors(FILE *out, const struct stat_machine *before,
			    const struct stat_machine *after)
{
	for (unsigned int n = 0; n < STAT_POLICIES; n++)
		if (strcmp(before->governor[n], after->governor[n]))
			fprintf(out,
				"the frequency governor of CPU %u changed from "
				"%s to %s\n",
				n, before->governor[n], after->governor[n]);
}

void stat_machine_compare(FILE *out, const struct stat_machine *before,
			  const struct stat_machine *after)
{
	unsigned int pi = pi_during(before, after);

	if ((pi & PI_UNDER_VOLTAGE) || before->under_voltage ||
	    after->under_voltage)
		fputs("the supply voltage was too low\n", out);
	if ((pi & (PI_CAPPED | PI_THROTTLED | PI_HOT)) || before->cooling ||
	    after->cooling || after->heat > before->heat)
		fputs("the CPU was throttled: its frequency was held down\n",
		      out);
	write_governors(out, before, after);
}
