// SPDX-License-Identifier: MIT
/* Told each N events: how often, by whom, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_tap.h"
#include "upmu.h"
#include "worker.h"

#define TURNS 1000000u
#define EVERY 50000u

/* Where an instruction is a cycle. Elsewhere cycles are the time of day, also
 * while a CPU waits for its turn on the host, and samples come late. */
static bool is_exact = true;

static void spin(unsigned int n)
{
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}

static struct upmu_watch *open_watch(int32_t tid, uint64_t every)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .pid = tid };
	struct upmu_watch *watch = NULL;

	if (upmu_watch_open(&watch, "cycles:u", every, &options))
		note("%s", upmu_explain());
	return watch;
}

/*
 * How many samples there are, all of @tid; 0 where one is of another, or was
 * lost. That is allowed where time goes on while the board waits for the host:
 * many come at once.
 */
static unsigned int take_all(struct upmu_watch *watch, pid_t tid)
{
	struct upmu_sample sample = { .size = sizeof(sample) };
	unsigned int n = 0;
	uint64_t last = 0;
	bool good = true;

	while (watch && !upmu_watch_next(watch, &sample)) {
		good = good && sample.tid == (uint32_t)tid &&
		       sample.time_ns > last && !(sample.lost && is_exact);
		last = sample.time_ns;
		n++;
	}
	note("%u samples", n);
	return good ? n : 0;
}

static struct upmu *open_count(int32_t tid)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .pid = tid };
	struct upmu *set = NULL;

	/* The cycle counter's samples are those that an emulator gives. */
	if (!is_exact && upmu_open(&set, "r11:u", &options))
		note("%s", upmu_explain());
	return set;
}

/* Two to four cycles a turn, and the thread's start; or as a set counted. */
static bool fits(unsigned int n, unsigned int turns, struct upmu *set)
{
	struct upmu_value counted = { 0 };

	if (is_exact)
		return n >= turns / EVERY * 2 - 1 && n <= turns / EVERY * 5;
	if (!set || upmu_read(set, &counted, 1))
		return false;
	upmu_close(set);
	note("%" PRIu64 " were due", counted.count / EVERY);
	return n >= 1 && n <= counted.count / EVERY + 1;
}

static bool is_told(struct upmu_watch *watch)
{
	struct pollfd told = { .fd = upmu_watch_fd(watch), .events = POLLIN };

	return poll(&told, 1, 0) == 1 && (told.revents & POLLIN);
}

static void watch_self(void)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	struct upmu *set = open_count(0);
	struct upmu_watch *watch = open_watch(0, EVERY);
	struct upmu_sample sample = { .size = sizeof(sample) };
	bool before = is_told(watch);
	int status = -1;

	spin(TURNS);
	ok(!(before && is_exact) && is_told(watch),
	   "poll_tells_once_there_are_samples");
	if (is_exact)
		ok(!is_told(watch), "and_of_the_same_samples_no_second_time");
	if (!fork())
		_exit(upmu_watch_next(watch, &sample) == -ESTALE ? 0 : 1);
	wait(&status);
	ok(!status, "a_child_has_none_of_its_parents_samples");
	ok(fits(take_all(watch, self), TURNS, set),
	   "each_so_many_cycles_give_a_sample");
	if (is_exact)
		ok(upmu_watch_next(watch, &sample) == -EAGAIN,
		   "then_there_is_none_and_nobody_waits");
	sample.size = 8;
	ok(upmu_watch_next(watch, &sample) == -EINVAL,
	   "a_sample_without_its_size_is_einval");
	upmu_watch_close(watch);
}

/* Far more than the ring has room for, then one that tells. */
static void lose_some(void)
{
	struct upmu_watch *watch = open_watch(0, 2000);
	struct upmu_sample sample = { .size = sizeof(sample) };
	uint64_t lost = 0;
	unsigned int n = 0;

	for (int round = 0; round < 2; round++) {
		spin(3 * TURNS);
		while (!upmu_watch_next(watch, &sample)) {
			lost += sample.lost;
			n++;
		}
	}
	note("%u taken, %" PRIu64 " lost", n, lost);
	ok(n > 100 && lost > 100, "samples_that_found_no_room_are_told");
	upmu_watch_close(watch);
}

/* ---- two other threads -------------------------------------------------- */

static void watch_others(void)
{
	struct upmu_watch *watches[2];
	struct upmu *sets[2];
	bool passed = true;

	for (int i = 0; i < 2; i++) {
		start_worker(i, spin, TURNS);
		sets[i] = open_count(workers[i].tid);
		watches[i] = open_watch(workers[i].tid, EVERY);
	}
	for (int i = 0; i < 2; i++)
		sem_post(&workers[i].go);
	for (unsigned int i = 0; i < 2; i++) {
		sem_wait(&workers[i].is_done);
		passed = fits(take_all(watches[i], workers[i].tid),
			      TURNS * (i + 1), sets[i]) &&
			 passed;
		upmu_watch_close(watches[i]);
		sem_post(&workers[i].over);
		pthread_join(workers[i].thread, NULL);
	}
	ok(passed, "two_other_threads_are_told_of_each_by_itself");
}

/* ---- beside a set of cycles, which was opened later ---------------------- */

static void run_beside(void)
{
	struct upmu_watch *watch = open_watch(0, EVERY);
	struct upmu_value value = { 0 };
	struct upmu *set = NULL;
	unsigned int n;

	if (upmu_open(&set, "cycles", NULL))
		note("%s", upmu_explain());
	spin(20 * TURNS);
	if (set && upmu_read(set, &value, 1))
		note("%s", upmu_explain());
	n = take_all(watch, (pid_t)syscall(SYS_gettid));
	note("%" PRIu64 " of %" PRIu64 " ns", value.running_ns,
	     value.enabled_ns);
	ok(value.running_ns && value.running_ns == value.enabled_ns && n,
	   "a_set_of_cycles_behind_a_watch_of_cycles_runs_all_the_time");
	upmu_close(set);
	upmu_watch_close(watch);
}

static volatile sig_atomic_t signals;

static void take_signal(int number)
{
	(void)number;
	signals++;
}

static void bind_to(int cpu)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	sched_setaffinity(0, sizeof(only), &only);
}

/* Of unlike cores: each, where the thread is bound to it. */
static bool is_signalled_on(int cpu)
{
	const struct f_owner_ex self = { F_OWNER_TID,
					 (pid_t)syscall(SYS_gettid) };
	struct upmu_watch *watch;
	unsigned int n;
	int fd;

	bind_to(cpu);
	watch = open_watch(0, EVERY);
	if (!watch)
		return false;
	signals = 0;
	signal(SIGRTMIN, take_signal);
	fd = upmu_watch_fd(watch);
	fcntl(fd, F_SETOWN_EX, &self);
	fcntl(fd, F_SETSIG, SIGRTMIN);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
	for (int i = 0; !signals && i < 100; i++)
		spin(TURNS);
	n = take_all(watch, self.pid);
	note("%d signals", (int)signals);
	upmu_watch_close(watch);
	return signals && n;
}

/* ---- what is refused ---------------------------------------------------- */

static bool refuses(const char *event, uint64_t every, uint32_t flags,
		    int error)
{
	const struct upmu_options options = { .size = sizeof(options),
					      .flags = flags };
	struct upmu_watch *watch = NULL;
	int ret = upmu_watch_open(&watch, event, every, &options);

	note("%d: %s", ret, upmu_explain());
	return ret == error && !watch && upmu_explain()[0];
}

int main(int argc, char **argv)
{
	is_exact = argc < 2 || strcmp(argv[1], "late") != 0;
	watch_self();
	if (is_exact)
		lose_some();
	watch_others();
	run_beside();
	ok(is_signalled_on(0), "a_signal_comes_in_a_thread_of_the_first_cpu");
	ok(is_signalled_on((int)sysconf(_SC_NPROCESSORS_ONLN) - 1),
	   "and_in_one_of_the_last_cpu");
	ok(refuses("cycles", 0, 0, -EINVAL), "each_0_counts_is_einval");
	ok(refuses("cycles,instructions", 1000, 0, -EINVAL),
	   "two_events_are_einval");
	ok(refuses("cycles", 1000, UPMU_OPEN_INHERIT, -EINVAL),
	   "children_are_einval");
	ok(refuses("nosuch", 1000, 0, -ENOENT), "an_unknown_event_is_enoent");
	upmu_watch_close(NULL);
	return tap_done();
}
