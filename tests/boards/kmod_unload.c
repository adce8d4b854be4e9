// SPDX-License-Identifier: MIT
/*
 * kmod_unload ROUNDS - unloading with everybody at work
 *
 * Beside the rounds each parameter is written, the state is read, and the
 * device is opened, asked, polled and leased, by processes that last: starting
 * programs would take most of a round's time.
 */
#include <poll.h>

#include "tests/boards/kmod.h"

#define PAUSE_US    4000
#define MORE_ROUNDS 2000
#define MODULE	    "/upmu/upmu.ko"
#define PARAMETERS  "/sys/module/upmu/parameters/"

static bool insert(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && !syscall(__NR_finit_module, fd, "", 0);

	if (!done)
		printf("# %s: %s\n", MODULE, strerror(errno));
	close(fd);
	return done;
}

static bool removed(void)
{
	return !syscall(__NR_delete_module, "upmu", O_NONBLOCK);
}

static bool write_open(unsigned int n)
{
	static const char *const words[] = { "none", "cycles", "none", "all" };

	return !poke(PARAMETERS "open", words[n % 4]);
}

static bool write_raw(unsigned int n)
{
	return !poke(PARAMETERS "raw", n % 2 ? "group" : "root");
}

static bool read_state(unsigned int n)
{
	(void)n;
	return file_has(UPMU_STATE, "open ");
}

static bool ask_and_poll(unsigned int n)
{
	struct pollfd waits = { .fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC) };
	bool asked = waits.fd >= 0 && info_of(waits.fd).size;

	(void)n;
	if (asked)
		poll(&waits, 1, 1);
	close(waits.fd);
	return asked;
}

static bool take_each_mode(unsigned int n)
{
	int fd = take(n % 3 + 1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const struct worker {
	const char *does;
	bool (*turn)(unsigned int n);
} workers[] = {
	{ "writes of open", write_open }, { "of raw", write_raw },
	{ "looks", read_state },	  { "polls", ask_and_poll },
	{ "leases", take_each_mode },
};

#define WORKERS (sizeof(workers) / sizeof(workers[0]))

static pid_t pids[WORKERS];
static volatile unsigned int *turns; /* that did what they are for */

static void start(void)
{
	turns = mmap(NULL, sizeof(*turns) * WORKERS, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < WORKERS; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		for (unsigned int n = 0;; n++) {
			turns[i] += workers[i].turn(n);
			usleep(n % 5 * PAUSE_US); /* nobody has it open */
		}
	}
}

static bool all_were_at_work(void)
{
	for (size_t i = 0; i < WORKERS; i++)
		if (!turns[i])
			return false;
	return true;
}

static void stop(void)
{
	for (size_t i = 0; i < WORKERS; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	for (size_t i = 0; i < WORKERS; i++)
		printf("# %u %s\n", turns[i], workers[i].does);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 15, done = 0;
	unsigned int tries = 0;
	bool there = insert();
	int fd;

	start();
	/* a few rounds of a fast host can end before a worker's first turn */
	while (there && (done < rounds || !all_were_at_work()) &&
	       done < rounds + MORE_ROUNDS) {
		tries++;
		if (!removed())
			continue;
		there = insert();
		if (++done % 100 == 0) {
			printf("# %d of %u tries\n", done, tries);
			fflush(stdout);
		}
	}
	stop();
	tap(there && done >= rounds && all_were_at_work(),
	    "unloading_with_everybody_at_work_survives", "%d of %u tries", done,
	    tries);
	poke(PARAMETERS "open", "none");
	fd = take(light_mode());
	tap(fd >= 0, "and_the_module_works_afterwards", "%d", fd);
	close(fd);
	tap(removed(), "and_unloads", NULL);
	tap(insert() && !system("kmod_handover unload"),
	    "perf_counts_cycles_on_a_cpu_that_was_off_when_all_ended", NULL);
	return tap_done();
}
