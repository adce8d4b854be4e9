/* SPDX-License-Identifier: MIT */
/* Tests of one set on a Raspberry Pi 2: all that it opened is closed again. */
#ifndef ONE_SET_H
#define ONE_SET_H

#include "fake_kernel.h"

static struct upmu *set;

static int boot_pi2(void **state)
{
	(void)state;
	fake_boot("pi2");
	set = NULL;
	return 0;
}

static int nothing_is_left(void **state)
{
	(void)state;
	upmu_close(set);
	fake_assert_closed();
	return 0;
}

#endif
