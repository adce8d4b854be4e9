// SPDX-License-Identifier: MIT
/*
 * Each refusal of a real kernel and module: its errno, its words, its command.
 *
 *	lib_errors SITUATION
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_tap.h"
#include "upmu.h"

#define NOBODY 65534

static void check(int ret, int error, const char *words, const char *claim)
{
	bool passed = ret == error && strstr(upmu_explain(), words);

	if (!passed)
		note("%d, not %d: %s", ret, error, upmu_explain());
	ok(passed, claim);
}

static int open_by(const char *source, const char *events)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = source,
	};
	struct upmu *set = NULL;
	int ret = upmu_open(&set, events, &options);

	upmu_close(set);
	return ret;
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		note("%s: %s", path, strerror(errno));
	close(fd);
}

static void become_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		note("setuid: %s", strerror(errno));
}

static void bind_to_cpu_0(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void without_module(void)
{
	int lease = -1;

	check(open_by("page", "cycles"), -ENXIO, "hint: sudo modprobe upmu",
	      "a_page_without_the_module_is_enxio");
	check(upmu_lease_take(&lease, UPMU_MODE_CYCLES, 0), -ENXIO,
	      "the module upmu is not loaded",
	      "a_lease_without_the_module_is_enxio");
	check(open_by(NULL, "cycles"), 0, "", "a_set_opens_by_read_instead");
}

static void out_of_things(void)
{
	struct rlimit limit = { 8, 8 };

	check(open_by("read", "r11,r11,r11,r11,r11,r11,r11,r11,r11"), -ENOSPC,
	      "hint: ask for fewer events", "nine_counters_are_enospc");
	check(open_by("read", "cycles,l3d_cache"), -ENOENT, "l3d_cache",
	      "an_event_that_no_core_has_is_enoent");
	setrlimit(RLIMIT_NOFILE, &limit);
	check(open_by("read", "r11,r11,r11,task-clock,task-clock,task-clock"),
	      -EMFILE, "the limit is 8", "no_descriptor_left_is_emfile");
}

static void as_nobody(void)
{
	int lease = -1;

	write_text("/proc/sys/kernel/perf_event_paranoid", "3");
	become_nobody();
	check(open_by(NULL, "cycles"), -EACCES, "perf_event_paranoid is 3",
	      "paranoid_3_is_eacces");
	check(open_by("page", "cycles"), -EPERM, "hint: sudo upmu setup",
	      "no_permission_on_the_device_is_eperm");
	check(upmu_lease_take(&lease, UPMU_MODE_COUNT, 0), -EPERM,
	      "it belongs to the group 0 (mode 0660)",
	      "a_lease_without_permission_is_eperm");
}

static void paranoid_2(void)
{
	struct upmu *set = NULL;

	write_text("/proc/sys/kernel/perf_event_paranoid", "2");
	become_nobody();
	check(upmu_open(&set, "cycles", NULL), 0, "",
	      "paranoid_2_permits_user_mode");
	ok(set && !strcmp(upmu_event_name(set, 0), "cycles:u"),
	   "and_the_name_says_so");
	upmu_close(set);
}

static void raw_as_group(void)
{
	int lease = -1;

	if (chmod("/dev/upmu", 0666))
		note("chmod: %s", strerror(errno));
	become_nobody();
	check(upmu_lease_take(&lease, UPMU_MODE_RAW, 0), -EPERM,
	      "echo group | sudo tee", "raw_for_root_only_is_eperm");
}

static void held_by_another(void)
{
	int lease = -1, go[2];
	pid_t child;
	char byte;

	if (pipe(go))
		return;
	child = fork();
	if (!child) {
		if (upmu_lease_take(&lease, UPMU_MODE_RAW, 0))
			note("%s", upmu_explain());
		if (write(go[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	if (read(go[0], &byte, 1) != 1)
		note("no word of the child");
	check(upmu_lease_take(&lease, UPMU_MODE_RAW, 0), -EBUSY,
	      "(lib_errors) holds a RAW lease", "a_held_pmu_names_its_holder");
	bind_to_cpu_0();
	check(open_by("raw", "cycles"), -EBUSY, "holds a RAW lease",
	      "the_source_raw_is_then_ebusy");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	check(open_by("raw", "cycles"), 0, "",
	      "it_is_free_when_the_holder_is_killed");
}

static void raw_limits(void)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = "raw",
	};
	struct upmu_value value;
	struct upmu *set;

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		check(open_by("raw", "cycles"), -EXDEV, "hint: taskset",
		      "raw_without_a_cpu_of_its_own_is_exdev");
	bind_to_cpu_0();
	check(open_by("raw", "cycles,r8,r9,ra,rb,rc,rd,re"), -ENOSPC,
	      "does not fit", "more_than_the_raw_counters_is_enospc");
	check(open_by("raw", "task-clock"), -EOPNOTSUPP, "task-clock",
	      "a_software_event_has_no_raw_counter");
	if (upmu_open(&set, "cycles", &options)) {
		ok(false, upmu_explain());
		return;
	}
	check(upmu_read(set, &value, 1), 0, "", "raw_reads_at_once");
	usleep(400000);
	check(upmu_read(set, &value, 1), -EOVERFLOW, "may have gone round",
	      "raw_says_when_it_looked_away_too_long");
	upmu_close(set);
}

static void foreign_descriptor(void)
{
	check(upmu_lease_check(0), -EBADF, "descriptor 0 is no lease",
	      "a_descriptor_that_is_no_lease_is_ebadf");
}

static const struct {
	const char *name;
	void (*run)(void);
} situations[] = {
	{ "without_module", without_module },
	{ "out_of_things", out_of_things },
	{ "as_nobody", as_nobody },
	{ "paranoid_2", paranoid_2 },
	{ "raw_as_group", raw_as_group },
	{ "held_by_another", held_by_another },
	{ "raw_limits", raw_limits },
	{ "foreign_descriptor", foreign_descriptor },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(situations) / sizeof(*situations); i++)
		if (argc > 1 && !strcmp(argv[1], situations[i].name)) {
			situations[i].run();
			return tap_done();
		}
	ok(false, "no such situation");
	return tap_done();
}
