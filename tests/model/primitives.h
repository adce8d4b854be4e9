/* SPDX-License-Identifier: MIT */
/*
 * primitives.h - regs/ on any machine: each access goes to the model
 *
 * Given to regs/regs.h by -DUPMU_REGS_MODEL. With -DMODEL_BELIEVES_PMSELR a
 * program that asks PMSELR is told what it wrote last, whatever happened
 * since: that is regs/v7.h without its second look.
 */
#ifndef TESTS_MODEL_PRIMITIVES_H
#define TESTS_MODEL_PRIMITIVES_H

#include "tests/model/pmu.h"

static inline uint64_t model_read(struct model_access access)
{
	access.write = false;
	access.value = 0xbadbadbad;
	/* A real program would be dead: do not leave this one in its loop. */
	if (!model_access(&model, &access))
		return model_last_select;
#ifdef MODEL_BELIEVES_PMSELR
	if (access.reg == MODEL_PMSELR)
		return model_last_select;
#endif
	return access.value;
}

static inline void model_write(struct model_access access, uint64_t value)
{
	access.write = true;
	access.value = value;
	if (access.reg == MODEL_PMSELR)
		model_last_select = value;
	model_access(&model, &access);
}

static inline struct model_access model_wide(unsigned int opc1,
					     unsigned int crm)
{
	if (opc1 == 0 && crm == 9 && model.kind == MODEL_PMUV3)
		return model_decode_cp15(&model, 0, 9, 13, 0);
	return model_decode_cp15(&model, 7, 0, 0, 0);
}

#define UPMU_MRC(value, opc1, crn, crm, opc2) \
	((value) = (uint32_t)model_read(      \
		 model_decode_cp15(&model, opc1, crn, crm, opc2)))
#define UPMU_MCR(value, opc1, crn, crm, opc2) \
	model_write(model_decode_cp15(&model, opc1, crn, crm, opc2), value)
#define UPMU_MRRC(value, opc1, crm) \
	((value) = model_read(model_wide(opc1, crm)))
#define UPMU_MCRR(value, opc1, crm) model_write(model_wide(opc1, crm), value)
#define UPMU_MRS(value, name)	    ((value) = model_read(model_decode_name(#name)))
#define UPMU_MSR(name, value)	    model_write(model_decode_name(#name), value)
#define UPMU_ISB()		    ((void)0)
/* Code for any ARM: neither core has the other's, or not for ever. */
#define UPMU_V6_ISB() UPMU_MCR(0, 0, 7, 5, 4)
#define UPMU_V7_ISB() ((void)(model.undefined += model.kind == MODEL_ARM1176))

static inline uintptr_t upmu_regs_thread_pointer(void)
{
	return model_thread_pointer;
}

#endif
