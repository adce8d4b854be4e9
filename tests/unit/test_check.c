// SPDX-License-Identifier: MIT
/* What upmu check finds of perf's PMU, its users and the module's device. */
#include "fake_kernel.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/events/events.h"
#include "tools/check/check.h"
#include "tools/list/list.h"

/* ---- the report, as text: a line each ---- */

static char found[16384];

static void add(const char *format, va_list words)
{
	size_t n = strlen(found);

	vsnprintf(found + n, sizeof(found) - n, format, words);
	strncat(found, "\n", sizeof(found) - strlen(found) - 1);
}

void check_add(struct check_report *report, const char *subject,
	       enum check_verdict verdict, const char *format, ...)
{
	static const char *const words[] = { "ok", "note", "bad" };
	va_list list;

	(void)report;
	sprintf(found + strlen(found), "%s %s: ", words[verdict], subject);
	va_start(list, format);
	add(format, list);
	va_end(list);
}

void check_hint(struct check_report *report, const char *format, ...)
{
	va_list list;

	(void)report;
	strcat(found, "hint ");
	va_start(list, format);
	add(format, list);
	va_end(list);
}

void list_cpus(char *list, const struct upmu_core_kind *kind)
{
	(void)kind;
	strcpy(list, "0-3");
}

/* The machine's /sys is a fixture that others read, too. */
static bool has_module;

bool __real_upmu_sys_exists(const char *path);
bool __wrap_upmu_sys_exists(const char *path);
bool __wrap_upmu_sys_exists(const char *path)
{
	if (!strcmp(path, "/sys/module/upmu"))
		return has_module;
	return __real_upmu_sys_exists(path);
}

static void check(void)
{
	found[0] = '\0';
	check_pmu(NULL);
}

static void assert_found(const char *line)
{
	char text[512];

	snprintf(text, sizeof(text), "%s\n", line);
	if (!strstr(found, text))
		fail_msg("'%s' is not in:\n%s", line, found);
}

static void assert_no(const char *words)
{
	if (strstr(found, words))
		fail_msg("'%s' is in:\n%s", words, found);
}

static int on_pi2(void **state)
{
	(void)state;
	fake_boot("pi2");
	fake_write("/proc/sys/kernel/arch", "armv7l\n");
	has_module = false;
	return 0;
}

/* ---- claims ---- */

static void perfs_pmu_is_told_with_its_cpus(void **state)
{
	(void)state;
	check();
	assert_found("ok perf PMU: armv7_cortex_a7 for CPU 0-3");
	assert_no("perf has none");
	fake_boot("pc");
	check();
	assert_found("ok perf PMU: cpu");
}

static void without_a_pmu_the_cure_depends_on_the_machine(void **state)
{
	(void)state;
	fake_boot("pi3-32-bare");
	fake_write("/proc/sys/kernel/arch", "armv7l\n");
	check();
	assert_found("bad perf PMU: perf has none on this machine: the device "
		     "tree forgot it, or the kernel has no driver for this "
		     "core");
	assert_found("hint sudo modprobe -r upmu; sudo modprobe upmu "
		     "adopt=auto");
	fake_write("/proc/sys/kernel/arch", "x86_64\n");
	check();
	assert_found("bad perf PMU: perf has none on this machine (a virtual "
		     "machine may hide it)");
	assert_no("adopt=auto");
}

static void each_paranoid_is_told_in_what_it_allows(void **state)
{
	static const struct {
		const char *value, *line;
	} each[] = {
		{ "-1", "ok paranoid: kernel.perf_event_paranoid is -1: users "
			"may count everything of their own and all CPUs" },
		{ "0", "ok paranoid: kernel.perf_event_paranoid is 0: users "
		       "may count everything of their own and all CPUs" },
		{ "1", "ok paranoid: kernel.perf_event_paranoid is 1: users "
		       "may count their own programs, the kernel included" },
		{ "2", "ok paranoid: kernel.perf_event_paranoid is 2: users "
		       "may count their own programs, in user mode only" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		fake_write("/proc/sys/kernel/perf_event_paranoid",
			   each[i].value);
		check();
		assert_found(each[i].line);
		assert_no("sysctl");
	}
}

static void assert_only_root(const char *rest)
{
	char line[256];

	snprintf(line, sizeof(line), "%s paranoid: %s",
		 geteuid() ? "bad" : "note", rest);
	assert_found(line);
}

static void a_paranoid_that_leaves_it_to_root_has_a_hint(void **state)
{
	(void)state;
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	check();
	assert_only_root("kernel.perf_event_paranoid is 3: only root may "
			 "count");
	assert_found("hint sudo sysctl kernel.perf_event_paranoid=2");
	/* An ARM1176 counts user mode and kernel together. */
	fake_boot("pi1");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "2\n");
	check();
	assert_only_root("kernel.perf_event_paranoid is 2: only root may count "
			 "(this core cannot leave the kernel out, as 2 demands "
			 "of users)");
	assert_found("hint sudo sysctl kernel.perf_event_paranoid=1");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "1\n");
	check();
	assert_found("ok paranoid: kernel.perf_event_paranoid is 1: users may "
		     "count their own programs, the kernel included");
}

static void without_a_pmu_paranoid_is_about_software_events(void **state)
{
	(void)state;
	fake_boot("pi3-32-bare");
	fake_write("/proc/sys/kernel/perf_event_paranoid", "3\n");
	check();
	assert_found("note paranoid: kernel.perf_event_paranoid is 3: without "
		     "a PMU that is about software events only");
	fake_remove("/proc/sys/kernel/perf_event_paranoid");
	check();
	assert_found("bad paranoid: no kernel.perf_event_paranoid: this kernel "
		     "was built without perf");
}

static void user_access_is_told_where_the_kernel_has_it(void **state)
{
	(void)state;
	check();
	assert_no("perf_user_access");
	fake_write("/proc/sys/kernel/perf_user_access", "0\n");
	check();
	assert_found("bad access: kernel.perf_user_access is 0: user mode may "
		     "not read counters without a system call");
	assert_found("hint sudo sysctl kernel.perf_user_access=1");
	fake_write("/proc/sys/kernel/perf_user_access", "1\n");
	check();
	assert_found("ok access: kernel.perf_user_access is 1: user mode may "
		     "read the counters of its events");
	assert_no("hint sudo sysctl");
}

static void hold(unsigned int leases, unsigned int mode)
{
	fake.info.leases = leases;
	fake.info.holder_mode = mode;
	fake.info.holder_pid = 42;
	strcpy(fake.info.holder_comm, "naive");
	check();
}

static void who_holds_the_registers_is_named(void **state)
{
	(void)state;
	check();
	assert_no("device:");
	has_module = true;
	check();
	assert_found("ok device: /dev/upmu may be opened by this user; ABI 1");
	assert_no("holder");
	assert_no("open:");
	hold(1, UPMU_MODE_CYCLES);
	assert_found("note holder: 1 lease; the oldest is naive's (pid 42), "
		     "mode CYCLES");
	hold(2, UPMU_MODE_RAW);
	assert_found("note holder: 2 leases; the oldest is naive's (pid 42), "
		     "mode RAW");
	hold(1, UPMU_MODE_COUNT);
	assert_found("note holder: 1 lease; the oldest is naive's (pid 42), "
		     "mode COUNT");
	hold(1, 4);
	assert_found("note holder: 1 lease; the oldest is naive's (pid 42), "
		     "mode ?");
	assert_int_equal(fake_open_fds(), 0);
}

static void open_registers_are_told(void **state)
{
	(void)state;
	has_module = true;
	fake.info.open = UPMU_OPEN_CYCLES;
	check();
	assert_found("note open: the module is loaded with open=cycles: every "
		     "process may use the registers");
	fake.info.open = UPMU_OPEN_ALL;
	check();
	assert_found("note open: the module is loaded with open=all: every "
		     "process may use the registers");
}

static void a_device_that_cannot_be_opened_has_its_reason(void **state)
{
	(void)state;
	has_module = true;
	fake.device_error = -EACCES;
	check();
	assert_non_null(strstr(found, "\nbad device: "));
	assert_no("may be opened");
	assert_no("hint upmu check");
}

static void each_source_says_what_it_is(void **state)
{
	(void)state;
	check();
	assert_non_null(strstr(found, "\nok source: read  yes (events): "));
	fake.perf_error = -EACCES;
	check();
	assert_non_null(strstr(found, "\nbad source: read  no (events): "));
	assert_non_null(strstr(found, "\nnote source: page  no (events): "));
}

int main(void)
{
#define ON_PI2(name) cmocka_unit_test_setup(name, on_pi2)
	const struct CMUnitTest tests[] = {
		ON_PI2(perfs_pmu_is_told_with_its_cpus),
		ON_PI2(without_a_pmu_the_cure_depends_on_the_machine),
		ON_PI2(each_paranoid_is_told_in_what_it_allows),
		ON_PI2(a_paranoid_that_leaves_it_to_root_has_a_hint),
		ON_PI2(without_a_pmu_paranoid_is_about_software_events),
		ON_PI2(user_access_is_told_where_the_kernel_has_it),
		ON_PI2(who_holds_the_registers_is_named),
		ON_PI2(open_registers_are_told),
		ON_PI2(a_device_that_cannot_be_opened_has_its_reason),
		ON_PI2(each_source_says_what_it_is),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
