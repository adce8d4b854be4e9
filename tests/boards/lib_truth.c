// SPDX-License-Identifier: MIT
/*
 * Is what upmu_count() says true while everything happens at once? Threads,
 * each with more sets than there are counters, are moved from CPU to CPU, and
 * a CPU comes and goes. Each count is held between two read(2)s of the same
 * event, and against the one before it.
 *
 *	lib_truth SECONDS
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib_tap.h"
#include "upmu.h"

#define THREADS 3
#define SETS	3
#define EVENTS	4

/* r11 is cycles on an ordinary counter: PMSELR and all. */
static const char *const lists[SETS] = {
	"cycles,r11,r11:u,r11:k",
	"r11,r11,r11,r11",
	"cycles:u,r11,r11,r11:u",
};

struct tally {
	uint64_t reads;
	uint64_t backwards;
	uint64_t outside;
	uint64_t unread;
	uint64_t off_hardware; /* the register did not serve */
};

struct worker {
	pthread_t thread;
	unsigned int seed;
	int error;
	struct tally tally;
	uint64_t last[SETS][EVENTS];
	struct upmu *sets[SETS];
};

static atomic_bool is_over;

/* Where the set is off the hardware its page carries no index. */
static bool is_on_hardware(const struct upmu_counter *counter)
{
	const struct upmu_page *page = counter->page;

	return *(const volatile uint32_t *)&page->index;
}

/* What never had a counter has no count; it may get one after the reading. */
static bool has_none_yet(const struct upmu_value *before, uint64_t count)
{
	return !before->running_ns && count == UPMU_NO_COUNT;
}

static void check_event(struct worker *worker, int n, size_t i)
{
	const struct upmu_counter *counter =
		upmu_counter_at(worker->sets[n], i);
	struct upmu_value before[EVENTS], after[EVENTS];
	uint64_t count, *last = &worker->last[n][i];
	struct tally *tally = &worker->tally;
	int ret;

	tally->off_hardware += !is_on_hardware(counter);
	ret = upmu_read(worker->sets[n], before, EVENTS);
	count = upmu_count(counter);
	if (!ret)
		ret = upmu_read(worker->sets[n], after, EVENTS);
	tally->reads++;
	if (!ret && has_none_yet(&before[i], count))
		return;
	tally->unread += ret || count == UPMU_NO_COUNT;
	if (ret)
		return;
	if (count < *last) {
		tally->backwards++;
		note("%s: %" PRIu64 " after %" PRIu64,
		     upmu_event_name(worker->sets[n], i), count, *last);
	}
	if (count < before[i].count || count > after[i].count) {
		tally->outside++;
		note("%s: %" PRIu64 " is not in %" PRIu64 " to %" PRIu64,
		     upmu_event_name(worker->sets[n], i), count,
		     before[i].count, after[i].count);
	}
	*last = count;
}

/* A view of a set: each count between those of the system calls around it. */
static void check_set(struct worker *worker, int n)
{
	struct upmu_value before[EVENTS], after[EVENTS];
	uint64_t counts[EVENTS];
	int ret;

	ret = upmu_read(worker->sets[n], before, EVENTS);
	if (!ret)
		ret = upmu_count_all(worker->sets[n], counts, EVENTS);
	if (ret == -EBUSY && !before[0].running_ns)
		return;
	if (ret || upmu_read(worker->sets[n], after, EVENTS)) {
		worker->tally.unread++;
		return;
	}
	for (size_t i = 0; i < EVENTS; i++)
		if (counts[i] < before[i].count || counts[i] > after[i].count) {
			worker->tally.outside++;
			note("set of %s: %" PRIu64 " is not in %" PRIu64
			     " to %" PRIu64,
			     upmu_event_name(worker->sets[n], i), counts[i],
			     before[i].count, after[i].count);
		}
}

static void move(struct worker *worker)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)(rand_r(&worker->seed) % 2), &cpus);
	/* The CPU may be away just now. */
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (int n = 0; n < SETS && !worker->error; n++)
		worker->error = upmu_open(&worker->sets[n], lists[n], NULL);
	if (worker->error)
		note("%s", upmu_explain());
	for (unsigned int i = 0; !worker->error && !atomic_load(&is_over);
	     i++) {
		for (int n = 0; n < SETS; n++) {
			for (size_t event = 0; event < EVENTS; event++)
				check_event(worker, n, event);
			check_set(worker, n);
		}
		if (i % 16 == 0)
			move(worker);
	}
	for (int n = 0; n < SETS; n++)
		upmu_close(worker->sets[n]);
	return NULL;
}

static bool set_online(const char *state)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, state, 1) == 1;
	close(fd);
	return done;
}

static unsigned int plug_for(unsigned int seconds)
{
	time_t end = time(NULL) + (time_t)seconds;
	unsigned int plugged = 0;

	while (time(NULL) < end) {
		usleep(200000);
		if (set_online("0"))
			plugged++;
		usleep(200000);
		set_online("1");
	}
	return plugged;
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? (unsigned int)atoi(argv[1]) : 10;
	struct worker workers[THREADS];
	struct tally sum = { 0 };
	unsigned int plugged;
	int error = 0;

	memset(workers, 0, sizeof(workers));
	for (int i = 0; i < THREADS; i++) {
		workers[i].seed = (unsigned int)i + 1;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	plugged = plug_for(seconds);
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++) {
		const struct tally *tally = &workers[i].tally;

		pthread_join(workers[i].thread, NULL);
		error = error ? error : workers[i].error;
		sum.reads += tally->reads;
		sum.backwards += tally->backwards;
		sum.outside += tally->outside;
		sum.unread += tally->unread;
		sum.off_hardware += tally->off_hardware;
	}
	note("%" PRIu64 " reads, %" PRIu64 " off the hardware, CPU 1 unplugged "
	     "%u times",
	     sum.reads, sum.off_hardware, plugged);
	ok(!error, "every_thread_opened_its_sets");
	ok(sum.reads > 1000 && sum.off_hardware > 0 &&
		   sum.off_hardware < sum.reads,
	   "sets_took_turns_on_the_hardware_while_they_were_read");
	if (sysconf(_SC_NPROCESSORS_CONF) > 1)
		ok(plugged > 0, "a_cpu_came_and_went");
	ok(!sum.unread, "each_reading_gave_a_count");
	ok(!sum.backwards, "counts_never_ran_backwards");
	ok(!sum.outside, "counts_lay_between_two_system_calls");
	return tap_done();
}
