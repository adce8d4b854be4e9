/* SPDX-License-Identifier: MIT */
/*
 * page.h - a perf page of a test's own, and the library's slow way marked
 */
#ifndef TESTS_MODEL_PAGE_H
#define TESTS_MODEL_PAGE_H

#include "lib/set/fast.h"
#include "tests/model/current.h"

#define SLOW_COUNT UINT64_C(0x510a510a510a)

static struct upmu_page page;
static struct upmu_counter counter;
static unsigned int slow_calls;
static unsigned int changes; /* how often an interrupt is still to come */
static enum model_register reading; /* before which access it comes */

/* Which of the model's registers each architecture reads */
static const enum model_register register_of_event =
	IS_V6 ? MODEL_PMN0 : (IS_V7 ? MODEL_PMXEVCNTR : MODEL_PMEVCNTR);
static const enum model_register register_of_cycles =
	IS_V6 ? MODEL_CCNT : MODEL_PMCCNTR;

uint64_t upmu_inline_fallback(const struct upmu_counter *asked)
{
	assert_ptr_equal(asked, &counter);
	slow_calls++;
	return SLOW_COUNT;
}

static inline void page_at(uint32_t index, int64_t offset)
{
	page.lock += 2;
	page.index = index;
	page.offset = offset;
	page.pmc_width = 32;
	counter.page = &page;
	counter.thread = upmu_thread_key(0);
	model.accesses = 0;
	slow_calls = 0;
}

static inline int begin_page(void **state)
{
	changes = 0;
	reading = MODEL_NO_REGISTER;
	return begin(state);
}

#endif
