// SPDX-License-Identifier: MIT
/*
 * kmod_faults      - memory that is not there, a kick that fails
 * kmod_faults late - none as CPU 1, which is off and of another kind, comes
 * kmod_faults forks
 *
 * On a kernel with failslab: each allocation of a LEASE fails in its turn,
 * those that perf makes for the module too. A lease that fails changes nothing.
 */
#include <sys/prctl.h>
#include <sys/stat.h>

#include "tests/boards/kmod.h"

#define KNOBS	    "/sys/kernel/debug/fail"
#define MOST_POINTS 400
#define PEEK	    "/proc/upmu_peek"

static void knob(const char *name, const char *value)
{
	char path[120];

	snprintf(path, sizeof(path), KNOBS "slab/%s", name);
	poke(path, value);
	snprintf(path, sizeof(path), KNOBS "_page_alloc/%s", name);
	poke(path, value);
}

/* What a failed lease is to leave alone, as text: all but what runs. */
static void look(char *text, size_t size)
{
	char line[2000];
	size_t used = 0;

	for (int part = 0; part < 2; part++) {
		FILE *file = fopen(part ? PEEK : UPMU_STATE, "r");

		while (file && fgets(line, sizeof(line), file)) {
			char *runs = strstr(line, " cycles ");

			if (!strncmp(line, "refused ", 8))
				continue;
			if (runs)
				*runs = '\0';
			used += (size_t)snprintf(text + used, size - used, "%s",
						 line);
			if (used >= size)
				exit(1);
		}
		if (file)
			fclose(file);
	}
}

/* Open all the time: to open it is to allocate. */
static int nth_fd;

static void set_nth(int n)
{
	char text[12];
	int length = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(nth_fd, text, (size_t)length, 0) != length)
		exit(1);
}

static bool was_hit(void)
{
	char text[12] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		exit(1);
	return atoi(text) == 0;
}

struct outcome {
	int points;  /* allocations that failed */
	int refused; /* and the lease with them */
	int wrong;   /* with another errno, or something changed */
};

/* 0: the lease was had without meeting the fault. */
static int one_point(struct upmu_lease lease, int n, struct outcome *outcome)
{
	static char before[16000], after[16000];
	int fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC), err;
	bool hit;

	look(before, sizeof(before));
	set_nth(n);
	err = ioctl(fd, UPMU_IOC_LEASE, &lease) ? errno : 0;
	hit = was_hit();
	set_nth(0);
	outcome->points += hit;
	outcome->refused += err != 0;
	if (err) {
		look(after, sizeof(after));
		if (err != ENOMEM || strcmp(before, after)) {
			outcome->wrong++;
			printf("# point %d: errno %d\n# before %s# after %s", n,
			       err, before, after);
		}
	}
	close(fd);
	if (!no_leases_soon())
		outcome->wrong++;
	return hit;
}

static void points_test(const char *claim, uint32_t mode, uint32_t flags)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = mode,
				    .flags = flags };
	struct outcome outcome = { 0, 0, 0 };
	int n = 1;

	while (n < MOST_POINTS && one_point(lease, n, &outcome))
		n++;
	tap(n < MOST_POINTS && outcome.points && !outcome.wrong, claim,
	    "%d allocations failed, %d leases refused, %d wrong",
	    outcome.points, outcome.refused, outcome.wrong);
}

/* Only what is called from there finds no memory. */
static void only_from(unsigned long long start, unsigned long long end)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%llx", start);
	knob("require-start", text);
	snprintf(text, sizeof(text), "0x%llx", end);
	knob("require-end", text);
}

static bool only_in(const char *name)
{
	unsigned long long start = 0, end = 0, at;
	char line[300], symbol[200];
	FILE *file = fopen("/proc/kallsyms", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (!strstr(line, "[upmu]") ||
		    sscanf(line, "%llx %*c %199s", &at, symbol) != 2)
			continue;
		if (!strcmp(symbol, name))
			start = at;
		else if (start && at > start && (!end || at < end))
			end = at;
	}
	if (file)
		fclose(file);
	if (start)
		only_from(start, end ? end : start + 0x400);
	return start;
}

static bool only_in_module(void)
{
	unsigned long long start, size;
	char line[300];
	FILE *file = fopen("/proc/modules", "r");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "upmu %llu %*s %*s %*s %llx", &size,
			       &start) == 2;
	if (file)
		fclose(file);
	if (found)
		only_from(start, start + size);
	return found;
}

static void fail(int times)
{
	char text[12];

	snprintf(text, sizeof(text), "%d", times);
	knob("times", text);
	knob("probability", times ? "100" : "0");
}

static bool perf_counts(void)
{
	for (int cpu = 0; cpu < cpus_online(); cpu++)
		if (!counts_on(cpu, 5))
			return false;
	return true;
}

static void kick_test(uint32_t mode, const char *claim, const char *returned)
{
	static char before[16000], after[16000];
	/* perf is kicked only where it stands on what is taken. */
	int event = event_open(PERF_TYPE_HARDWARE, 0, 0, -1, 0, 0);
	int refused, end;

	look(before, sizeof(before));
	fail(-1);
	refused = take(mode);
	fail(0);
	look(after, sizeof(after));
	tap(refused == -ENOMEM && !strcmp(before, after) && perf_counts(),
	    claim, "%d", refused);
	close(refused);
	end = take(mode);
	fail(-1);
	close(end);
	no_leases_soon();
	fail(0);
	tap(end >= 0 && perf_counts(), returned, "%d", end);
	close(event);
}

static void storm_process(int seed)
{
	static const uint32_t flags[] = {
		0, UPMU_LEASE_CHILDREN, UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC
	};

	srand((unsigned int)seed);
	for (int n = 0; n < 150; n++) {
		int fd = take_flags(1 + (uint32_t)rand() % 3, flags[rand() % 3],
				    O_CLOEXEC);

		if (fd >= 0 && rand() % 2 && !fork())
			_exit(0);
		if (fd < 0 && fd != -ENOMEM && fd != -EBUSY)
			_exit(2);
		close(fd);
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static void storm_test(void)
{
	static char before[16000], after[16000];
	int status, failed = 0;

	if (!only_in_module())
		exit(1);
	look(before, sizeof(before));
	knob("times", "-1");
	knob("probability", "20");
	for (int n = 0; n < 3; n++)
		if (!fork())
			storm_process(n);
	while (wait(&status) > 0)
		failed |= status;
	fail(0);
	no_leases_soon();
	look(after, sizeof(after));
	tap(!failed && !strcmp(before, after) && perf_counts(),
	    "leases_of_many_without_memory_leave_nothing_behind",
	    "%x\n# %s# %s", failed, before, after);
}

/* More than the module keeps objects for. */
#define FORKS 300

static int ends(void *unused)
{
	(void)unused;
	return 0;
}

/* It executed a program: the lease without EXEC does not cover it. */
static int forks_without_memory(void)
{
	fail(-1);
	for (int n = 0; n < FORKS; n++)
		in_child(ends, NULL);
	fail(0);
	return 0;
}

static bool is_broken(int fd)
{
	double end = seconds() + 5;

	while (info_of(fd).lease_state == UPMU_STATE_LIVE && seconds() < end)
		usleep(10000);
	return info_of(fd).lease_state == UPMU_STATE_BROKEN;
}

static void uncovered_test(void)
{
	int plain = take_flags(light_mode(), UPMU_LEASE_CHILDREN, O_CLOEXEC);
	int lease = take_flags(
		light_mode(), UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC, O_CLOEXEC);
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "kmod_faults", "forks", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	tap(is_broken(lease), "a_child_not_covered_for_want_of_memory_is_told",
	    NULL);
	tap(info_of(plain).lease_state == UPMU_STATE_LIVE,
	    "but_not_to_a_lease_that_does_not_cover_who_executes", NULL);
	close(lease);
	close(plain);
}

/* Stops before and after; what it leaves is no memory. */
static void uses_all_up(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take_flags(light_mode(), UPMU_LEASE_CHILDREN, O_CLOEXEC);
	raise(SIGSTOP);
	fail(-1);
	for (int n = 0; n < FORKS; n++)
		in_child(ends, NULL);
	raise(SIGSTOP);
}

/* All that were told are told again when anything is. */
static void later_lease_test(void)
{
	int first, later;
	pid_t other = fork();

	if (!other)
		uses_all_up();
	waitpid(other, NULL, WUNTRACED);
	first = take_flags(light_mode(), UPMU_LEASE_CHILDREN, O_CLOEXEC);
	kill(other, SIGCONT);
	waitpid(other, NULL, WUNTRACED);
	in_child(ends, NULL);
	fail(0);
	later = take_flags(light_mode(), UPMU_LEASE_CHILDREN, O_CLOEXEC);
	upmu_regs_enable(1);
	leave_the_cpu();
	tap(is_broken(first) && info_of(later).lease_written &&
		    info_of(later).lease_state == UPMU_STATE_LIVE,
	    "nor_to_one_that_was_taken_after_that", "%u, %u, %x",
	    info_of(first).lease_state, info_of(later).lease_state,
	    info_of(later).lease_written);
	close(first);
	close(later);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

#define ONLINE "/sys/devices/system/cpu/cpu1/online"

/* Its PMU cannot be looked after then, but at the next time. */
static void late_test(void)
{
	int without, with;
	bool unknown;

	if (!only_in_module())
		exit(1);
	fail(-1);
	poke(ONLINE, "1");
	fail(0);
	unknown = file_has(UPMU_STATE, "\ncpu 1 pmu none\n");
	without = take(UPMU_MODE_CYCLES);
	tap(unknown && without == -EOPNOTSUPP,
	    "no_lease_is_granted_where_there_was_no_memory_for_a_cpus_pmu",
	    "%d, %d", unknown, without);
	poke(ONLINE, "0");
	poke(ONLINE, "1");
	with = take(UPMU_MODE_RAW);
	tap(with >= 0 && file_has(UPMU_STATE, "\ncpu 1 pmu armv7_cortex_a7"),
	    "until_that_cpu_comes_again", "%d", with);
	close(with);
	tap(no_leases_soon() && perf_counts(), "and_perf_counts_then", NULL);
}

int main(int argc, char **argv)
{
	uint32_t some = light_mode();

	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0 || access(KNOBS "slab/probability", W_OK)) {
		tap_skip("leases_without_memory", "this kernel fails nothing");
		return tap_done();
	}
	knob("ignore-gfp-wait", "0");
	knob("ignore-gfp-highmem", "0");
	knob("min-order", "0");
	knob("verbose", "0");
	knob("stacktrace-depth", "32");
	if (argc > 1 && !strcmp(argv[1], "late")) {
		late_test();
		return tap_done();
	}
	if (argc > 1)
		return forks_without_memory();
	/* Once with memory: what is made once is made. */
	close(take_flags(some, UPMU_LEASE_CHILDREN, O_CLOEXEC));
	close(take(UPMU_MODE_RAW));
	no_leases_soon();
	points_test("no_allocation_of_a_light_lease_is_taken_for_granted", some,
		    0);
	points_test("nor_of_one_for_children", some,
		    UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC);
	points_test("nor_of_cycles", UPMU_MODE_CYCLES, 0);
	points_test("nor_of_raw", UPMU_MODE_RAW, UPMU_LEASE_CHILDREN);
	if (!only_in("upmu_wrap_kick_here")) {
		tap_skip("a_kick_that_fails", "its function is in line here");
		return tap_done();
	}
	kick_test(UPMU_MODE_CYCLES,
		  "a_kick_that_fails_refuses_cycles_and_changes_nothing",
		  "perf_has_its_counter_back_though_the_last_kick_failed");
	kick_test(UPMU_MODE_RAW,
		  "a_kick_that_fails_refuses_raw_and_changes_nothing",
		  "perf_has_all_counters_back_though_the_last_kick_failed");
	storm_test();
	uncovered_test();
	later_lease_test();
	return tap_done();
}
