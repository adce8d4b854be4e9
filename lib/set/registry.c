// SPDX-License-Identifier: MIT
#include "lib/set/registry.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/module/lease.h"
#include "lib/set/fast.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* By who is counted: of a thousand threads' sets only those of one are looked
 * through when it opens or closes another. */
#define BUCKETS 256u
static struct upmu *buckets[BUCKETS];

/* Of these sets how many want a cycle counter to themselves: of all on a CPU,
 * and of a thread. Each thread may come upon each CPU. */
static unsigned int cpu_takers, thread_takers;

/*
 * How many threads are in the middle of opening or closing a set, and how many
 * wait to fork. A child forked in the middle had descriptors and memory of a
 * half-made set that nobody there knows, and perf's events would outlive the
 * parent's set. No thread is in the middle of two, so that whoever begins one
 * can let the forks go first.
 */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned int in_the_middle, forks;

/* How many want to be there alone, or are: who names a thread or a CPU. */
static unsigned int alone;

/* Of those, this thread, whose signal handlers may fork. */
static _Thread_local unsigned int is_in_the_middle, is_alone;

static void nothing(void)
{
}

static const struct upmu_fork_hooks no_hooks = { nothing, nothing, nothing };
static const struct upmu_fork_hooks *outer = &no_hooks;

void upmu_registry_hook_forks(const struct upmu_fork_hooks *hooks)
{
	outer = hooks;
}

static void before_fork(void)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	outer->before();
	pthread_mutex_lock(&lock);
	forks++;
	while (in_the_middle > is_in_the_middle)
		pthread_cond_wait(&changed, &lock);
	pthread_setcancelstate(cancel_state, NULL);
}

static void in_parent(void)
{
	forks--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	outer->in_parent();
}

static void make_childs(struct upmu *set)
{
	upmu_set_forget_pages(set);
	set->has_lease = false;
	set->is_child = true;
}

/* What another thread measures nobody here would close, and for as long as the
 * child lived it had counters of that thread. */
static void close_anothers(struct upmu *set)
{
	if (!set->is_measured || !set->groups || upmu_is_opener(set->counters))
		return;
	for (size_t pmu = 0; pmu < set->pmus; pmu++)
		upmu_group_close(&set->groups[pmu]);
}

static void in_child(void)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct upmu *set = buckets[i]; set; set = set->next) {
			make_childs(set);
			close_anothers(set);
		}
	upmu_count_lease_forked();
	forks = 0;
	in_the_middle = is_in_the_middle;
	alone = is_alone;
	/* Those who waited are not here. */
	pthread_cond_init(&changed, NULL);
	pthread_mutex_unlock(&lock);
	outer->in_child();
}

/*
 * Before any thread is in the middle, or in a region's lock; and before what
 * the program has for its own locks, so that it lets go of these first: a
 * thread may hold one as it opens a set. A static program's constructors would
 * come before the library's but for the number. glibc drops the handlers of a
 * library that is dlclose()d.
 */
__attribute__((constructor(101))) static void watch_forks(void)
{
	/*
	 * But behind those of jemalloc and its like, which come with the first
	 * call: they lock what a thread in the middle allocates from.
	 */
	void *volatile first = malloc(1);

	free(first);
	pthread_atfork(before_fork, in_parent, in_child);
}

static int enter(unsigned int wants_alone)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&lock);
	alone += wants_alone;
	while (forks || (wants_alone ? in_the_middle : alone))
		pthread_cond_wait(&changed, &lock);
	in_the_middle++;
	is_in_the_middle = 1;
	is_alone = wants_alone;
	pthread_mutex_unlock(&lock);
	return cancel_state;
}

int upmu_registry_hold_forks(void)
{
	return enter(0);
}

int upmu_registry_hold_all(void)
{
	return enter(1);
}

void upmu_registry_let_forks(int cancel_state)
{
	pthread_mutex_lock(&lock);
	in_the_middle--;
	alone -= is_alone;
	is_in_the_middle = is_alone = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel_state, NULL);
}

static size_t bucket_of(pid_t who, int cpu)
{
	return (unsigned int)(who < 0 ? cpu : who) % BUCKETS;
}

static unsigned int *takers_like(const struct upmu *set)
{
	return set->who < 0 ? &cpu_takers : &thread_takers;
}

void upmu_registry_add(struct upmu *set)
{
	struct upmu **bucket = &buckets[bucket_of(set->who, set->cpu)];

	pthread_mutex_lock(&lock);
	set->next = *bucket;
	*bucket = set;
	*takers_like(set) += set->takes_cycles;
	pthread_mutex_unlock(&lock);
}

void upmu_registry_remove(struct upmu *set)
{
	struct upmu **link = &buckets[bucket_of(set->who, set->cpu)];

	pthread_mutex_lock(&lock);
	while (*link && *link != set)
		link = &(*link)->next;
	if (*link) {
		*link = set->next;
		*takers_like(set) -= set->takes_cycles;
	}
	pthread_mutex_unlock(&lock);
}

/* perf has what counts a CPU on the counters before what counts a thread. */
bool upmu_registry_takes_cycles(pid_t who, int cpu)
{
	const struct upmu *set;
	bool found;

	pthread_mutex_lock(&lock);
	found = who < 0 ? thread_takers : cpu_takers;
	for (set = buckets[bucket_of(who, cpu)]; set && !found; set = set->next)
		found = set->takes_cycles && set->who == who && set->cpu == cpu;
	pthread_mutex_unlock(&lock);
	return found;
}
