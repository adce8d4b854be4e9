// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - the scheduler's tracepoints
 *
 * They are not exported by name but can be found. Attaching one waits for RCU
 * and SRCU when one was detached shortly before, so they stay for a while
 * after the last use: thousands of short leases would take minutes otherwise.
 */
#include <linux/kernel.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include "lease.h"
#include "process.h"

#define UPMU_WATCH_LINGER (2 * HZ)

/**
 * struct upmu_watch - one tracepoint
 * @name: its name
 * @probe: what it is to call
 * @point: it; set when the module is loaded
 */
struct upmu_watch {
	const char *name;
	void *probe;
	struct tracepoint *point;
};

/* Of kernels before and since 6.16. */
static void upmu_on_exit(UPMU_EXIT_ARGS)
{
	upmu_process_exited(task);
}

static struct upmu_watch upmu_watches[] = {
	{ "sched_switch", upmu_access_on_switch },
	{ "sched_process_fork", upmu_process_forked },
	{ "sched_process_exec", upmu_process_executed },
	{ "sched_process_exit", upmu_on_exit },
};

static bool upmu_watch_wanted; /* upmu_mutex, as the next */
static bool upmu_watch_attached;

static void upmu_watch_detach_first(size_t n)
{
	while (n--)
		tracepoint_probe_unregister(upmu_watches[n].point,
					    upmu_watches[n].probe, NULL);
	/* No probe runs any more. */
	tracepoint_synchronize_unregister();
}

static int upmu_watch_attach(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(upmu_watches); i++) {
		err = tracepoint_probe_register(upmu_watches[i].point,
						upmu_watches[i].probe, NULL);
		if (err)
			goto err_detach;
	}
	upmu_watch_attached = true;
	return 0;

err_detach:
	upmu_watch_detach_first(i);
	return err;
}

static void upmu_watch_detach(void)
{
	if (!upmu_watch_attached)
		return;
	upmu_watch_detach_first(ARRAY_SIZE(upmu_watches));
	upmu_watch_attached = false;
}

static void upmu_watch_expire(struct work_struct *work)
{
	mutex_lock(&upmu_mutex);
	if (!upmu_watch_wanted)
		upmu_watch_detach();
	mutex_unlock(&upmu_mutex);
}

static DECLARE_DELAYED_WORK(upmu_watch_expiry, upmu_watch_expire);

int upmu_watch_begin(void)
{
	int err = upmu_watch_attached ? 0 : upmu_watch_attach();

	lockdep_assert_held(&upmu_mutex);
	upmu_watch_wanted = !err;
	return err;
}

void upmu_watch_end(void)
{
	lockdep_assert_held(&upmu_mutex);
	upmu_watch_wanted = false;
	mod_delayed_work(upmu_queue, &upmu_watch_expiry, UPMU_WATCH_LINGER);
}

static void upmu_watch_find(struct tracepoint *point, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(upmu_watches); i++)
		if (!strcmp(point->name, upmu_watches[i].name))
			upmu_watches[i].point = point;
}

/* The compiler compares our prototypes with this kernel's. */
static void __always_unused upmu_watch_check_types(void)
{
	check_trace_callback_type_sched_switch(upmu_access_on_switch);
	check_trace_callback_type_sched_process_fork(upmu_process_forked);
	check_trace_callback_type_sched_process_exec(upmu_process_executed);
	check_trace_callback_type_sched_process_exit(upmu_on_exit);
}

int upmu_watch_init(void)
{
	size_t i;

	for_each_kernel_tracepoint(upmu_watch_find, NULL);
	for (i = 0; i < ARRAY_SIZE(upmu_watches); i++)
		if (!upmu_watches[i].point) {
			pr_err("this kernel has no tracepoint '%s'\n",
			       upmu_watches[i].name);
			return -ENOENT;
		}
	return 0;
}

void upmu_watch_exit(void)
{
	cancel_delayed_work_sync(&upmu_watch_expiry);
	mutex_lock(&upmu_mutex);
	upmu_watch_detach();
	mutex_unlock(&upmu_mutex);
}
