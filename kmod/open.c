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

#include "upmu.h"

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

static u32 upmu_open_now; /* upmu_mutex, as the next */
static bool upmu_open_ready;
static u32 upmu_open_wanted; /* given when the module was loaded */

u32 upmu_open_mode(void)
{
	return READ_ONCE(upmu_open_now);
}

const char *upmu_open_name(void)
{
	return upmu_open_names[upmu_open_mode()];
}

int upmu_open_admit(u32 mode)
{
	lockdep_assert_held(&upmu_mutex);
	if (upmu_open_now == UPMU_OPEN_ALL)
		return -EBUSY;
	if (upmu_open_now == UPMU_OPEN_CYCLES && mode == UPMU_MODE_RAW)
		return -EBUSY;
	return 0;
}

static void upmu_open_end(void)
{
	if (upmu_open_now == UPMU_OPEN_NONE)
		return;
	upmu_access_default(0);
	upmu_access_refresh();
	upmu_access_put();
	upmu_take_put(upmu_open_modes[upmu_open_now]);
	WRITE_ONCE(upmu_open_now, UPMU_OPEN_NONE);
}

static int upmu_open_begin(u32 open)
{
	u32 mode = upmu_open_modes[open], reason;
	int err;

	if (open == UPMU_OPEN_NONE)
		return 0;
	if (!(upmu_modes(&reason) & BIT(mode)))
		return -EOPNOTSUPP;
	err = upmu_lockdown(mode);
	if (err)
		return err;
	/* All the registers for everybody leaves nothing to lease. */
	if (upmu_lease_any(open != UPMU_OPEN_ALL))
		return -EBUSY;
	err = upmu_take_get(mode);
	if (err)
		return err;
	err = upmu_access_get();
	if (err) {
		upmu_take_put(mode);
		return err;
	}
	upmu_access_default(upmu_access_bits(mode));
	upmu_access_refresh();
	WRITE_ONCE(upmu_open_now, open);
	return 0;
}

static int upmu_open_change(u32 open)
{
	int err;

	lockdep_assert_held(&upmu_mutex);
	if (open == upmu_open_now)
		return 0;
	upmu_open_end();
	err = upmu_open_begin(open);
	if (err) {
		pr_err("open=%s: error %d; open is none now\n",
		       upmu_open_names[open], err);
		return err;
	}
	if (open == UPMU_OPEN_NONE)
		pr_notice("open=none: the registers are closed again\n");
	else if (open == UPMU_OPEN_CYCLES)
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
	upmu_lease_flush();
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
	upmu_open_ready = true;
	err = upmu_open_change(upmu_open_wanted);
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
