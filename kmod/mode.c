// SPDX-License-Identifier: GPL-2.0-only
/* mode.c - what the first lease switches on, and the last one off */
#include <linux/cpu.h>

#include "counters.h"
#include "lease.h"

/* Leases that are not yet put back; upmu_mutex */
static unsigned int upmu_users[UPMU_MODES];

static unsigned int upmu_takers(void)
{
	return upmu_users[UPMU_MODE_CYCLES] + upmu_users[UPMU_MODE_RAW];
}

bool upmu_mode_any_users(void)
{
	return upmu_users[UPMU_MODE_COUNT] || upmu_takers();
}

/* All that only the first lease does, and only the last one puts back. */
static int upmu_mode_begin_locked(u32 mode, bool first)
{
	int err = 0;

	if (first)
		upmu_wrap();
	if (mode != UPMU_MODE_COUNT && !upmu_takers())
		err = upmu_counters_begin(mode == UPMU_MODE_RAW
						  ? UPMU_ALL_COUNTERS
						  : UPMU_MASK_CYCLES);
	if (first && err)
		upmu_unwrap();
	else if (first)
		upmu_access_steer_all(true);
	return err;
}

int upmu_mode_begin(u32 mode)
{
	bool first = !upmu_mode_any_users();
	int err = first ? upmu_watch_begin() : 0;

	if (err)
		return err;
	cpus_read_lock();
	err = upmu_mode_begin_locked(mode, first);
	cpus_read_unlock();
	if (!err)
		upmu_users[mode]++;
	else if (first)
		upmu_watch_end();
	return err;
}

void upmu_mode_end(u32 mode)
{
	bool last;

	upmu_users[mode]--;
	last = !upmu_mode_any_users();
	cpus_read_lock();
	if (last)
		upmu_access_steer_all(false);
	if (mode != UPMU_MODE_COUNT && !upmu_takers())
		upmu_counters_end();
	if (last)
		upmu_unwrap();
	cpus_read_unlock();
	if (last)
		upmu_watch_end();
}

/* RAW is alone. */
int upmu_mode_admit(u32 mode)
{
	if (upmu_users[UPMU_MODE_RAW])
		return -EBUSY;
	if (mode == UPMU_MODE_RAW && upmu_mode_any_users())
		return -EBUSY;
	return 0;
}
