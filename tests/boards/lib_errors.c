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

static void bind_to_cpu(unsigned int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		note("CPU %u: %s", cpu, strerror(errno));
}

static void bind_to_cpu_0(void)
{
	bind_to_cpu(0);
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
	limit.rlim_cur = limit.rlim_max = 4;
	setrlimit(RLIMIT_NOFILE, &limit);
	check(open_by(NULL, "cycles,instructions"), -EMFILE, "the limit is 4",
	      "for_want_of_descriptors_nobody_takes_all_registers");
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
	      "and not to upmu", "a_lease_without_permission_is_eperm");
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

/* perf opens the set, and has no counter for it. */
static void count_beside_raw(void)
{
	struct upmu *set = NULL;
	uint64_t counts[2];
	int ret;

	if (upmu_open(&set, "cycles,r11", NULL)) {
		ok(false, upmu_explain());
		return;
	}
	ret = upmu_count_all(set, counts, 2);
	check(ret, -EBUSY, "(lib_errors) holds a RAW lease",
	      "what_raw_keeps_from_counting_is_no_count_of_0");
	ok(upmu_count(upmu_counter_at(set, 0)) == UPMU_NO_COUNT,
	   "nor_in_a_count_of_one");
	upmu_close(set);
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
	count_beside_raw();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	check(open_by("raw", "cycles"), 0, "",
	      "it_is_free_when_the_holder_is_killed");
}

static struct upmu *open_raw(void)
{
	const struct upmu_options options = {
		.size = sizeof(options),
		.source = "raw",
	};
	struct upmu *set = NULL;

	if (upmu_open(&set, "cycles,r11", &options))
		ok(false, upmu_explain());
	return set;
}

/* Each use of a running set of two events, twice as long after as is trusted
 * without asking. */
static void check_all_uses(struct upmu *set, int error, const char *words,
			   const char *claim)
{
	struct upmu_value values[2] = { { 7, 7, 7 }, { 7, 7, 7 } };
	uint64_t counts[2] = { 7, 7 };
	bool untouched;

	usleep(2000);
	check(upmu_read(set, values, 2), error, words, claim);
	check(upmu_count_all(set, counts, 2), error, words,
	      "and_of_its_counts");
	check(upmu_stop(set), error, words, "and_of_stopping_it");
	check(upmu_start(set), error, words, "and_of_starting_it");
	untouched = values[0].count == 7 && counts[0] == 7 && counts[1] == 7;
	ok(untouched && upmu_count(upmu_counter_at(set, 0)) == UPMU_NO_COUNT,
	   "and_there_is_no_number");
}

/*
 * Does a set count that is used again after what went wrong has passed? A
 * machine that is busy may keep it from reading for too long, again and again.
 */
static void check_goes_on(struct upmu *set, const char *claim)
{
	const struct upmu_counter *counter = upmu_counter_at(set, 0);
	uint64_t before, after;
	int tries = 50;

	do {
		upmu_stop(set);
		upmu_start(set);
		before = upmu_count(counter);
		after = upmu_count(counter);
	} while (after == UPMU_NO_COUNT && --tries);
	if (after == UPMU_NO_COUNT)
		note("%s", upmu_explain());
	ok(before < after && after != UPMU_NO_COUNT, claim);
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
	check_goes_on(set, "raw_reads_at_once");
	usleep(400000);
	check(upmu_read(set, &value, 1), -EOVERFLOW, "may have gone round",
	      "raw_says_when_it_looked_away_too_long");
	upmu_close(set);
}

static void raw_elsewhere(void)
{
	struct upmu *set;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		skip("raw_on_another_cpu_is_exdev", "this board has one CPU");
		return;
	}
	bind_to_cpu_0();
	set = open_raw();
	if (!set)
		return;
	bind_to_cpu(1);
	check_all_uses(set, -EXDEV, "those of CPU 0, this thread runs on CPU 1",
		       "raw_on_another_cpu_is_exdev");
	bind_to_cpu_0();
	check_goes_on(set, "back_on_its_cpu_it_counts_on");
	upmu_close(set);
}

/* The kernel moves a thread from a CPU that is unplugged. */
static void raw_unplugged(void)
{
	struct upmu *set;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		skip("raw_of_an_unplugged_cpu_is_exdev",
		     "this board has one CPU");
		return;
	}
	bind_to_cpu(1);
	set = open_raw();
	if (!set)
		return;
	write_text("/sys/devices/system/cpu/cpu1/online", "0");
	check_all_uses(set, -EXDEV, "those of CPU 1",
		       "raw_of_an_unplugged_cpu_is_exdev");
	write_text("/sys/devices/system/cpu/cpu1/online", "1");
	upmu_close(set);
	bind_to_cpu_0();
	check(open_by("raw", "cycles"), 0, "",
	      "after_it_another_cpu_s_registers_are_free");
}

static void raw_closed_again(void)
{
	struct upmu *set;

	bind_to_cpu_0();
	write_text("/sys/module/upmu/parameters/open", "all");
	set = open_raw();
	check(open_by("raw", "cycles"), -EBUSY,
	      "another set counts by the registers of CPU 0",
	      "a_second_raw_set_is_refused_where_all_may_read");
	if (set) {
		check_goes_on(set, "registers_open_to_all_are_read");
		write_text("/sys/module/upmu/parameters/open", "none");
		check_all_uses(set, -ESTALE, "hint: echo all | sudo tee",
			       "raw_after_open_was_set_to_none_is_estale");
	}
	write_text("/sys/module/upmu/parameters/open", "none");
	upmu_close(set);
}

static void raw_in_a_child(void)
{
	struct upmu *set;
	pid_t child;
	int status = -1;

	bind_to_cpu_0();
	set = open_raw();
	if (!set)
		return;
	fflush(NULL);
	child = fork();
	if (!child) {
		check_all_uses(set, -ESTALE, "a child opens a set of its own",
			       "raw_of_the_parent_is_estale_in_a_child");
		upmu_close(set);
		_exit(tap_failed);
	}
	waitpid(child, &status, 0);
	/* Its five lines were printed there. */
	tap_number += 5;
	ok(!status, "a_child_may_close_the_parents_raw_set");
	check_goes_on(set, "which_counts_on");
	upmu_close(set);
}

/* Of one source by registers, and of one by calls. */
static void wrong_room(void)
{
	static const char *const sources[] = { "page", "read" };
	struct upmu_options options = { .size = sizeof(options) };
	uint64_t counts[3];
	struct upmu *set;

	for (size_t i = 0; i < 2; i++) {
		options.source = sources[i];
		if (upmu_open(&set, "cycles,r11", &options)) {
			ok(false, upmu_explain());
			continue;
		}
		for (size_t n = 1; n <= 3; n += 2) {
			counts[0] = counts[1] = counts[2] = 7;
			check(upmu_count_all(set, counts, n), -EINVAL,
			      "but the set has 2 events",
			      n < 2 ? "too_little_room_for_counts_is_einval"
				    : "too_much_room_for_counts_is_einval");
			ok(counts[0] == 7 && counts[1] == 7 && counts[2] == 7,
			   "and_nothing_is_put_there");
		}
		upmu_close(set);
	}
}

static void foreign_descriptor(void)
{
	check(upmu_lease_check(0), -EBADF, "descriptor 0 is no lease",
	      "a_descriptor_that_is_no_lease_is_ebadf");
}

static int open_on_cpu(uint32_t cpu)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .flags = UPMU_OPEN_CPU,
					      .cpu = cpu };
	struct upmu *set = NULL;
	int ret = upmu_open(&set, "cycles", &options);

	upmu_close(set);
	return ret;
}

static void no_cpu(void)
{
	check(open_on_cpu(99), -EINVAL, "CPU 99 is not there",
	      "a_cpu_that_is_not_there_is_named");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		skip("a_cpu_that_is_off_is_named", "this board has one CPU");
		return;
	}
	write_text("/sys/devices/system/cpu/cpu1/online", "0");
	check(open_on_cpu(1), -ENODEV, "CPU 1 is not there or not online",
	      "a_cpu_that_is_off_is_named");
	write_text("/sys/devices/system/cpu/cpu1/online", "1");
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
	{ "no_cpu", no_cpu },
	{ "raw_limits", raw_limits },
	{ "raw_elsewhere", raw_elsewhere },
	{ "raw_unplugged", raw_unplugged },
	{ "raw_closed_again", raw_closed_again },
	{ "raw_in_a_child", raw_in_a_child },
	{ "wrong_room", wrong_room },
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
