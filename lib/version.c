// SPDX-License-Identifier: MIT
#include "upmu.h"

const char *upmu_version(void)
{
	return UPMU_VERSION;
}
