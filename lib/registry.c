// SPDX-License-Identifier: MIT
#include "lib/registry.h"

#include <pthread.h>

#include "lib/fast.h"
#include "lib/lease.h"
#include "lib/region.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct upmu *first;

/*
 * Held for reading by each thread that is in the middle of opening or closing a
 * set, for writing by a fork: else the child had descriptors and memory of a
 * half-made set that nobody there knows, and perf's events would outlive the
 * parent's set. No thread holds it twice, so a fork need not wait for others
 * that come after it.
 */
static pthread_rwlock_t making =
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

/* Regions first: they open and close sets while they hold their lock. */
static void before_fork(void)
{
	upmu_regions_before_fork();
	pthread_rwlock_wrlock(&making);
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
	pthread_rwlock_unlock(&making);
	upmu_regions_in_parent();
}

static void in_child(void)
{
	for (struct upmu *set = first; set; set = set->next) {
		upmu_set_forget_pages(set);
		set->has_lease = false;
		set->is_child = true;
	}
	upmu_count_lease_forked();
	pthread_mutex_init(&lock, NULL);
	making = (pthread_rwlock_t)
		PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
	upmu_regions_in_child();
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
	pthread_rwlock_rdlock(&making);
	return cancel_state;
}

void upmu_registry_let_forks(int cancel_state)
{
	pthread_rwlock_unlock(&making);
	pthread_setcancelstate(cancel_state, NULL);
}

void upmu_registry_add(struct upmu *set)
{
	pthread_mutex_lock(&lock);
	set->next = first;
	first = set;
	pthread_mutex_unlock(&lock);
}

void upmu_registry_remove(struct upmu *set)
{
	struct upmu **link;

	pthread_mutex_lock(&lock);
	for (link = &first; *link; link = &(*link)->next) {
		if (*link != set)
			continue;
		*link = set->next;
		break;
	}
	pthread_mutex_unlock(&lock);
}

bool upmu_registry_has_wide(void)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (struct upmu *set = first; set && !found; set = set->next)
		found = set->is_wide && upmu_is_opener(set->counters);
	pthread_mutex_unlock(&lock);
	return found;
}
