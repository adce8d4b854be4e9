// SPDX-License-Identifier: MIT
#include "lib/set/registry.h"

#include <pthread.h>

#include "lib/set/fast.h"
#include "lib/module/lease.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* By who is counted: of a thousand threads' sets only those of one are looked
 * through when it opens or closes another. */
#define BUCKETS 256u
static struct upmu *buckets[BUCKETS];

/*
 * How many threads are in the middle of opening or closing a set, and how many
 * wait to fork. A child forked in the middle had descriptors and memory of a
 * half-made set that nobody there knows, and perf's events would outlive the
 * parent's set. No thread is in the middle of two, so that whoever begins one
 * can let the forks go first.
 */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned int in_the_middle, forks;

/* Of those, this thread, whose signal handlers may fork. */
static _Thread_local unsigned int is_in_the_middle;

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

static void in_child(void)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct upmu *set = buckets[i]; set; set = set->next)
			make_childs(set);
	upmu_count_lease_forked();
	forks = 0;
	in_the_middle = is_in_the_middle;
	/* Those who waited are not here. */
	pthread_cond_init(&changed, NULL);
	pthread_mutex_unlock(&lock);
	outer->in_child();
}

/* glibc drops the handlers of a library that is dlclose()d. */
static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

int upmu_registry_hold_forks(void)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	while (forks)
		pthread_cond_wait(&changed, &lock);
	in_the_middle++;
	is_in_the_middle = 1;
	pthread_mutex_unlock(&lock);
	return cancel_state;
}

void upmu_registry_let_forks(int cancel_state)
{
	pthread_mutex_lock(&lock);
	in_the_middle--;
	is_in_the_middle = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel_state, NULL);
}

/* A thread, by its number or, the caller, by its pointer; or a CPU. */
static size_t bucket_of(const struct upmu *set)
{
	uintptr_t who = upmu_regs_thread_pointer() >> 6;

	if (set && set->pid)
		who = (uintptr_t)set->pid + (uintptr_t)set->cpu;
	return (who ^ who >> 6 ^ who >> 14) % BUCKETS;
}

void upmu_registry_add(struct upmu *set)
{
	set->bucket = bucket_of(set);
	pthread_mutex_lock(&lock);
	set->next = buckets[set->bucket];
	buckets[set->bucket] = set;
	pthread_mutex_unlock(&lock);
}

void upmu_registry_remove(struct upmu *set)
{
	struct upmu **link;

	pthread_mutex_lock(&lock);
	for (link = &buckets[set->bucket]; *link; link = &(*link)->next) {
		if (*link != set)
			continue;
		*link = set->next;
		break;
	}
	pthread_mutex_unlock(&lock);
}

static bool counts_same(const struct upmu *a, const struct upmu *b)
{
	if (a->pid || (b && b->pid))
		return b && a->pid == b->pid && a->cpu == b->cpu;
	return upmu_is_opener(a->counters);
}

bool upmu_registry_takes_cycles(const struct upmu *set)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (struct upmu *s = buckets[bucket_of(set)]; s && !found; s = s->next)
		found = s->takes_cycles && counts_same(s, set);
	pthread_mutex_unlock(&lock);
	return found;
}
