// SPDX-License-Identifier: GPL-2.0-only
/*
 * open.c - the parameter `open`: a CYCLES or RAW lease for every process
 *
 * For machines whose owner wants every process to read (or program) the
 * counters. It outlives every process and ends with `none` or unloading.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "lease.h"
#include "process.h"

static const char *const upmu_open_names[] = {
	[UPMU_OPEN_NONE] = "none",
	[UPMU_OPEN_CYCLES] = "cycles",
	[UPMU_OPEN_ALL] = "all",
};

static const u32 upmu_open_modes[] = {
	[UPMU_OPEN_NONE] = 0,
	[UPMU_OPEN_CYCLES] = UPMU_MODE_CYCLES,
	[UPMU_OPEN_ALL] = UPMU_MODE_RAW,
};

/* The next four: upmu_mutex */
static u32 upmu_open_now;
static u32 upmu_open_wanted; /* given when the module was loaded */
static bool upmu_open_ready;
static struct upmu_hold *upmu_open_hold;
static atomic_t upmu_open_told; /* that somebody wrote */
struct upmu_writer upmu_open_writer;

u32 upmu_open_choice(void)
{
	return READ_ONCE(upmu_open_now);
}

const char *upmu_open_name(void)
{
	return upmu_open_names[upmu_open_choice()];
}

void upmu_open_tell(void)
{
	pid_t pid = READ_ONCE(upmu_open_writer.pid);

	if (upmu_open_choice() != UPMU_OPEN_CYCLES || !pid ||
	    atomic_xchg(&upmu_open_told, 1))
		return;
	pr_notice("open=cycles: the process %s (pid %d) wrote the PMU's registers; put right, but counts of others may lack a part\n",
		  upmu_open_writer.comm, pid);
}

static void upmu_open_end(void)
{
	if (!upmu_open_hold)
		return;
	upmu_lease_end(upmu_open_hold);
	upmu_lease_settle_locked();
	upmu_open_tell(); /* what was to do so may come later */
	upmu_hold_put(upmu_open_hold);
	upmu_open_hold = NULL;
	WRITE_ONCE(upmu_open_now, UPMU_OPEN_NONE);
}

static int upmu_open_begin(u32 choice)
{
	u32 mode = upmu_open_modes[choice];
	struct upmu_hold *hold;
	int err;

	if (choice == UPMU_OPEN_NONE)
		return 0;
	err = upmu_mode_possible(mode);
	if (err)
		return err;
	hold = upmu_hold_new();
	if (!hold)
		return -ENOMEM;
	WRITE_ONCE(upmu_open_writer.pid, 0);
	atomic_set(&upmu_open_told, 0);
	err = upmu_lease_take_for_all(hold, mode);
	if (err) {
		upmu_hold_put(hold);
		return err;
	}
	upmu_open_hold = hold;
	WRITE_ONCE(upmu_open_now, choice);
	return 0;
}

static int upmu_open_change(u32 choice)
{
	int err;

	lockdep_assert_held(&upmu_mutex);
	if (choice == upmu_open_now)
		return 0;
	upmu_open_end();
	err = upmu_open_begin(choice);
	if (err) {
		pr_err("open=%s: error %d; open is none now\n",
		       upmu_open_names[choice], err);
		return err;
	}
	if (choice == UPMU_OPEN_NONE)
		pr_notice("open=none: the registers are closed again\n");
	else if (choice == UPMU_OPEN_CYCLES)
		pr_notice("open=cycles: every process may read the cycle counter%s\n",
			  upmu_access_bits(UPMU_MODE_CYCLES) & UPMU_USER_EN
				  ? ", and on this core write every counter"
				  : "");
	else
		pr_notice("open=all: every process may program the PMU\n");
	return 0;
}

static int upmu_open_set(const char *value, const struct kernel_param *param)
{
	int choice = sysfs_match_string(upmu_open_names, value);
	int err = 0;

	if (choice < 0)
		return -EINVAL;
	/* This file is there until all of the module has been taken down. */
	mutex_lock(&upmu_mutex);
	if (upmu_open_ready)
		err = upmu_open_change(choice);
	else
		upmu_open_wanted = choice;
	mutex_unlock(&upmu_mutex);
	return err;
}

static int upmu_open_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", upmu_open_name());
}

static const struct kernel_param_ops upmu_open_ops = {
	.set = upmu_open_set,
	.get = upmu_open_get,
};

module_param_cb(open, &upmu_open_ops, NULL, 0644);
MODULE_PARM_DESC(open, "to all processes: none (default), cycles, all");

int upmu_open_init(void)
{
	int err;

	mutex_lock(&upmu_mutex);
	err = upmu_open_change(upmu_open_wanted);
	upmu_open_ready = !err; /* else all is taken down again */
	mutex_unlock(&upmu_mutex);
	return err;
}

void upmu_open_exit(void)
{
	mutex_lock(&upmu_mutex);
	upmu_open_change(UPMU_OPEN_NONE);
	upmu_open_ready = false;
	mutex_unlock(&upmu_mutex);
}
