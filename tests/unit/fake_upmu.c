// SPDX-License-Identifier: MIT
/*
 * The command over fake_kernel.h, for tests/cli/counted.bats: a machine of
 * tests/fixtures that counts, on any host.
 *
 *	UPMU_FAKE="pi2 counters=4 /proc/sys/kernel/perf_user_access=1"
 *	fake_upmu stat -- true
 */
#include "fake_kernel.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"
#include "lib/registers/raw_cpu.h"
#include "lib/registers/registers.h"
#include "lib/sys.h"

/* The root of the made-up machine is this one's: it is no fixture to look at.
 */
int __real_upmu_sys_path(char *out, const char *path);
int __wrap_upmu_sys_path(char *out, const char *path);
int __wrap_upmu_sys_path(char *out, const char *path)
{
	if (strcmp(path, "/"))
		return __real_upmu_sys_path(out, path);
	strcpy(out, path);
	return 0;
}

/* ---- the registers themselves, of each CPU ---- */

/* This processor has some: an ARM1176's (6), or ARMv7's. */
static long registers;
static bool closed; /* and the kernel lets nobody read them */

static struct counter {
	uint32_t code, count;
	bool is_on, was_on; /* was: since it was read last */
} counters[CPU_SETSIZE][32];

static struct counter *counter_of(unsigned int n)
{
	return &counters[sched_getcpu()][n];
}

int __real_upmu_raw_cpu_check(void);
int __wrap_upmu_raw_cpu_check(void);
int __wrap_upmu_raw_cpu_check(void)
{
	return registers ? 0 : __real_upmu_raw_cpu_check();
}

int __wrap_upmu_raw_cpu_check_event(const struct upmu_perf_event *event,
				    uint32_t code, uint32_t pmu_version);
int __wrap_upmu_raw_cpu_check_event(const struct upmu_perf_event *event,
				    uint32_t code, uint32_t pmu_version)
{
	(void)event, (void)pmu_version;
	return code == UINT32_MAX ? upmu_explain_set(-EOPNOTSUPP, "no code")
				  : 0;
}

void __wrap_upmu_raw_cpu_set(unsigned int n,
			     const struct upmu_perf_event *event, uint32_t code,
			     uint32_t pmu_version);
void __wrap_upmu_raw_cpu_set(unsigned int n,
			     const struct upmu_perf_event *event, uint32_t code,
			     uint32_t pmu_version)
{
	(void)event, (void)pmu_version;
	*counter_of(n) = (struct counter){ .code = code };
}

void __wrap_upmu_raw_cpu_start(uint32_t mask);
void __wrap_upmu_raw_cpu_start(uint32_t mask)
{
	for (unsigned int n = 0; n < 32; n++)
		if (mask >> n & 1)
			counter_of(n)->is_on = counter_of(n)->was_on = true;
}

void __wrap_upmu_raw_cpu_stop(uint32_t mask);
void __wrap_upmu_raw_cpu_stop(uint32_t mask)
{
	for (unsigned int n = 0; n < 32; n++)
		if (mask >> n & 1)
			counter_of(n)->is_on = false;
}

uint32_t __wrap_upmu_raw_cpu_read(unsigned int n);
uint32_t __wrap_upmu_raw_cpu_read(unsigned int n)
{
	struct counter *counter = counter_of(n);

	if (counter->was_on)
		counter->count += FAKE_STEP + counter->code;
	counter->was_on = counter->is_on;
	return counter->count;
}

const char *__real_upmu_registers_architecture(void);
const char *__wrap_upmu_registers_architecture(void);
const char *__wrap_upmu_registers_architecture(void)
{
	if (!registers)
		return __real_upmu_registers_architecture();
	return registers == 6 ? "v6" : "v7";
}

int __wrap_upmu_registers_read(struct upmu_registers *out);
int __wrap_upmu_registers_read(struct upmu_registers *out)
{
	*out = (struct upmu_registers){
		.has_enables = true,
		.user_access = 1,
		.control = 0x41072011,
		.enabled = UINT32_C(1) << 31 | 2,
		.overflow = 1,
		.selected = 1,
		.counters = 2,
		.cycles = UINT64_C(12345678901),
		.type = { 0x08, 0x11 },
		.counter = { 4294967295, 7 },
	};
	if (registers == 6)
		*out = (struct upmu_registers){
			.control = 0x00700001,
			.counters = 2,
			.counter = { 1176, 7 },
		};
	return closed ? -EACCES : 0;
}

static char told[256]; /* where the last lease is told, at the end */

static void tell_lease(void)
{
	FILE *out = fopen(told, "w");

	if (!out)
		return;
	fprintf(out, "mode %u flags %u\n", fake.last_lease.mode,
		fake.last_lease.flags);
	fclose(out);
}

static void tell_at_end(const char *path)
{
	snprintf(told, sizeof(told), "%s", path);
	atexit(tell_lease);
}

/* Others have the counters for so many perf_event_open(). */
static long turns_until;

static void end_turns(void)
{
	if (turns_until && !--turns_until)
		fake.takes_turns = false;
}

static void set(const char *name, long value)
{
	const struct {
		const char *name;
		void *field;
		size_t size;
	} known[] = {
#define FIELD(name) { #name, &fake.name, sizeof(fake.name) }
		FIELD(perf_error),
		FIELD(perf_error_from),
		FIELD(counters),
		FIELD(ordinary),
		FIELD(has_no_filter),
		FIELD(only_user),
		FIELD(stands_still),
		FIELD(still_config),
		FIELD(never_runs),
		FIELD(device_error),
		FIELD(by_code),
		FIELD(by_time),
		FIELD(lease_error),
		FIELD(info.open),
		FIELD(info.lease_state),
		FIELD(info.lease_written),
		FIELD(takes_turns),
#undef FIELD
		{ "registers", &registers, sizeof(registers) },
		{ "closed", &closed, sizeof(closed) },
		{ "turns_until", &turns_until, sizeof(turns_until) },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name)) {
			memcpy(known[i].field, &value, known[i].size);
			return;
		}
	fprintf(stderr, "UPMU_FAKE: there is no '%s'\n", name);
	exit(99);
}

__attribute__((constructor)) static void boot(void)
{
	const char *told = getenv("UPMU_FAKE");
	char *words = strdup(told ? told : "pi2"), *at = words;

	fake_boot(strsep(&at, " "));
	fake.in_perf_open = end_turns;
	for (char *word; (word = strsep(&at, " "));) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (*word == '/')
			fake_write(word, value);
		else if (!strcmp(word, "UPMU_SOURCE"))
			setenv(word, value, 1);
		else if (!strcmp(word, "tell_lease"))
			tell_at_end(value);
		else
			set(word, strtol(value, NULL, 0));
	}
	free(words);
}
