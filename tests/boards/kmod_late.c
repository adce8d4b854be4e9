// SPDX-License-Identifier: MIT
/*
 * kmod_late HOLDERS - how long interrupts are off, whatever leases do
 *
 * That many processes hold a lease each; upmu_peek.ko tells how late a timer
 * was at worst, and whose doing that was. Prints TAP.
 */
#include <sys/prctl.h>
#include <sys/resource.h>

#include "tests/boards/kmod.h"

#define LATE	 "/proc/upmu_late"
#define MOST_NS	 50000
#define MADE_NS	 90000 /* of 100 us, less a period of the timer */
#define CHILDREN 200
#define EVENTS	 20000

static int holders;
static pid_t *pids;
static uint32_t mode;

/* The worst of all CPUs; the page allocator's, which is not ours to judge. */
struct late {
	long long ns, pages_ns;
	char where[150];
};

/* False: the kernel module tells nothing. */
static bool worst(struct late *late)
{
	FILE *file = fopen(LATE, "r");
	char line[200], where[150];
	bool told = false;
	long long ns;

	memset(late, 0, sizeof(*late));
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "pages_ns %lld", &ns) == 1 &&
		    ns > late->pages_ns)
			late->pages_ns = ns;
		if (sscanf(line, "late_ns %lld at %149[^\n]", &ns, where) != 2)
			continue;
		told = true;
		if (ns > late->ns) {
			late->ns = ns;
			strcpy(late->where, where);
		}
	}
	if (file)
		fclose(file);
	return told;
}

static void act(const char *claim, void (*run)(void))
{
	struct late late;
	bool told;

	poke(LATE, "1");
	run();
	usleep(1000);
	told = worst(&late);
	tap(told && late.ns > 0 && late.ns <= MOST_NS, claim,
	    "%lld ns at %s; giving pages back %lld", late.ns, late.where,
	    late.pages_ns);
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0)
		;
}

/* Forked and told when it is ready; ends with its parent. */
static pid_t start(void (*prepare)(void))
{
	int pipes[2];
	char byte;
	pid_t pid;

	if (pipe(pipes))
		exit(1);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prepare();
		(void)!write(pipes[1], "x", 1);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		exit(1);
	close(pipes[0]);
	return pid;
}

static void nothing(void)
{
}

static void take_one(void)
{
	if (take(mode) < 0)
		_exit(1);
}

static void take_64(void)
{
	for (int n = 0; n < 64; n++)
		take_one();
}

/*
 * Each is of a family of its own. Children that outlive it would be told of its
 * end one by one, by the kernel.
 */
static void take_64_apart(void)
{
	static const uint32_t flags = UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC;

	for (int n = 0; n < 64; n++) {
		if (take_flags(mode, flags, O_CLOEXEC) < 0)
			_exit(1);
		if (!fork())
			_exit(0);
		wait(NULL);
	}
	start(nothing);
}

static void end_64_apart(void)
{
	for (int n = 0; n < 4; n++) {
		pid_t pid = start(take_64_apart);

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	no_leases_soon();
}

/* Their 64 leases end while children are in all of the families. */
static void close_64_apart(void)
{
	pid_t children[40], pid = fork();

	if (!pid) {
		take_64_apart();
		for (int n = 0; n < 40; n++)
			children[n] = start(nothing);
		for (int fd = 3; fd < 200; fd++)
			close(fd);
		for (int n = 0; n < 40; n++) {
			kill(children[n], SIGKILL);
			waitpid(children[n], NULL, 0);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Under a light lease. */
static bool may_write(void)
{
	int lease = take(mode), written = try_write();

	close(lease);
	return written;
}

/* One writes that no lease covers. */
static volatile int sharers;

static int shares(void *takes)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (takes)
		take_one();
	__atomic_add_fetch(&sharers, 1, __ATOMIC_SEQ_CST);
	while (pause() < 0)
		;
	return 0;
}

static int writes(void *unused)
{
	(void)unused;
	upmu_regs_enable(1);
	upmu_regs_isb();
	return 0;
}

static void share_and_write(void)
{
	char *stacks = calloc((size_t)holders + 2, 4096);
	pid_t pid;

	for (int n = 1; n <= holders; n++)
		pids[n - 1] = clone(shares, stacks + n * 4096,
				    CLONE_VM | SIGCHLD, stacks);
	while (sharers < holders)
		usleep(1000);
	for (int n = 0; n < 20; n++) {
		pid = clone(writes, stacks + (holders + 1) * 4096,
			    CLONE_VM | SIGCHLD, NULL);
		waitpid(pid, NULL, 0);
	}
}

static void hold(void)
{
	for (int n = 0; n < holders; n++)
		pids[n] = start(take_one);
}

static void let_go(void)
{
	for (int n = 0; n < holders; n++)
		kill(pids[n], SIGKILL);
	wait_for_all();
	no_leases_soon();
}

static void end_64(void)
{
	for (int n = 0; n < 4; n++) {
		pid_t pid = start(take_64);

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* Of one that sleeps: perf itself looks at them all when it runs. */
static void open_many(void)
{
	struct rlimit limit = { 2 * EVENTS, 2 * EVENTS };
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.disabled = 1 };

	setrlimit(RLIMIT_NOFILE, &limit);
	for (int n = 0; n < EVENTS; n++)
		if (syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0) < 0)
			_exit(1);
}

static void take_and_close(void)
{
	for (int n = 0; n < 40; n++) {
		close(take(UPMU_MODE_CYCLES));
		usleep(100);
	}
}

/* One lease, many processes. */
static void family(uint32_t of)
{
	pid_t children[CHILDREN];
	int fd = take_flags(of, UPMU_LEASE_CHILDREN, O_CLOEXEC);

	for (int n = 0; n < CHILDREN; n++)
		children[n] = start(nothing);
	close(fd);
	usleep(20000);
	for (int n = 0; n < CHILDREN; n++) {
		kill(children[n], SIGKILL);
		waitpid(children[n], NULL, 0);
	}
	tap(fd >= 0, "a_lease_that_covers_200_children", "%d", fd);
}

static void light_family(void)
{
	family(mode);
}

static void raw_family(void)
{
	family(UPMU_MODE_RAW);
}

static void others_come_and_go(void)
{
	for (int n = 0; n < 100; n++) {
		pid_t pid = fork();

		if (!pid)
			_exit(execl("/bin/true", "true", NULL));
		waitpid(pid, NULL, 0);
	}
}

static void read_state(void)
{
	static char text[1 << 16];

	for (int n = 0; n < 5; n++) {
		int fd = open(UPMU_STATE, O_RDONLY | O_CLOEXEC);

		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
}

static void open_for_all(void)
{
	for (int n = 0; n < 5; n++) {
		poke("/sys/module/upmu/parameters/open", "cycles");
		poke("/sys/module/upmu/parameters/open", "none");
	}
}

static void use_perf(void)
{
	for (int n = 0; n < 50; n++)
		close(event_open(PERF_TYPE_HARDWARE, 0, 0, 0, -1, 0));
}

static void raw_and_back(void)
{
	for (int n = 0; n < 20; n++)
		close(take(UPMU_MODE_RAW));
}

static void instrument_test(void)
{
	struct late late;

	poke(LATE, "1");
	poke(LATE, "x");
	usleep(1000);
	tap(worst(&late) && late.ns > MADE_NS,
	    "interrupts_off_for_100_us_are_seen", "%lld ns at %s", late.ns,
	    late.where);
}

int main(int argc, char **argv)
{
	holders = argc > 1 ? atoi(argv[1]) : 1000;
	pids = calloc((size_t)holders + 1, sizeof(*pids));
	mode = light_mode();
	instrument_test();
	act("taking_leases_keeps_interrupts_on", hold);
	act("so_do_cycles_leases_that_come_and_go", take_and_close);
	act("and_a_process_that_ends_with_64", end_64);
	act("and_one_whose_64_are_of_as_many_families", end_64_apart);
	act("and_64_that_end_over_children_in_all_of_them", close_64_apart);
	act("and_a_lease_that_covers_many", light_family);
	act("and_processes_without_one", others_come_and_go);
	act("and_reading_the_state", read_state);
	act("and_open_for_everybody", open_for_all);
	act("and_events_of_perf", use_perf);
	act("and_holders_that_are_killed_all_at_once", let_go);
	/* PMUv3's light leases let nobody write: who tries dies, and whoever
	 * shares its memory.
	 */
	if (may_write())
		act("and_one_that_writes_and_shares_memory_with_holders",
		    share_and_write);
	else
		tap_skip("and_one_that_writes_and_shares_memory_with_holders",
			 "no lease permits writing here beside others");
	let_go();
	act("and_raw", raw_and_back);
	act("and_raw_for_many", raw_family);
	start(open_many);
	usleep(20000); /* it sleeps by then */
	act("and_cycles_beside_a_process_with_thousands_of_events",
	    take_and_close);
	poke(LATE, "0");
	return tap_done();
}
