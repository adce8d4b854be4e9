// SPDX-License-Identifier: MIT
#include "tests/model/current.h"

struct model_pmu model;
uintptr_t model_thread_pointer = 0x7f001000;
uint64_t model_last_select;

int begin(void **state)
{
	(void)state;
#if UPMU_REGS_ARCH == UPMU_REGS_ARM
	upmu_arm_registers = IS_V6 ? 6 : 7;
#endif
	model_init(&model, MODEL_KIND, N);
	return 0;
}

int end(void **state)
{
	(void)state;
	if (!model.undefined && !model.violations)
		return 0;
	print_error("%u undefined and %u forbidden accesses\n", model.undefined,
		    model.violations);
	return 1;
}

void expect_undefined(unsigned int times)
{
	assert_int_equal(model.undefined, times);
	model.undefined = 0;
}
