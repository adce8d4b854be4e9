// SPDX-License-Identifier: MIT
#include "lib/registry.h"

#include <pthread.h>

#include "lib/fast.h"
#include "lib/lease.h"
#include "lib/region.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct upmu *first;

/* Regions first: they open and close sets while they hold their lock. */
static void before_fork(void)
{
	upmu_regions_before_fork();
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
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
	upmu_regions_in_child();
}

/* glibc drops the handlers of a library that is dlclose()d. */
static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

void upmu_registry_add(struct upmu *set)
{
	pthread_once(&once, watch_forks);
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
