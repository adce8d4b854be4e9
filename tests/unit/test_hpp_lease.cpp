// SPDX-License-Identifier: MIT
/* pmu::lease: when a lease is given back. Leases are numbers here. */
#include <cstdio>
#include <utility>
#include <vector>

#include <upmu.hpp>

static int number, failed, taken, live;

static void ok(bool passed, const char *claim)
{
	std::printf("%sok %d - %s\n", passed ? "" : "not ", ++number, claim);
	failed += !passed;
}

/* In the place of the library's. */
extern "C" int upmu_lease_take(int *lease, uint32_t, uint32_t)
{
	*lease = ++taken;
	live |= 1 << taken;
	return 0;
}

extern "C" void upmu_lease_release(int lease)
{
	if (lease >= 0)
		live &= ~(1 << lease);
}

static pmu::lease take()
{
	return *pmu::lease::take(UPMU_MODE_RAW);
}

static void moving()
{
	pmu::lease first = take(), second = take();
	pmu::lease *same = &first;

	first = std::move(second);
	ok(live == 1 << 2 && first.descriptor() == 2,
	   "a_lease_is_given_back_where_another_takes_its_place");
	*same = std::move(first);
	ok(live == 1 << 2 && first.descriptor() == 2,
	   "a_lease_that_is_moved_to_itself_stays");
	second = take();
	ok(live == (1 << 2 | 1 << 3) && second.descriptor() == 3,
	   "one_that_was_moved_from_holds_another");
}

static void many()
{
	std::vector<pmu::lease> all;

	for (int i = 0; i < 9; i++)
		all.push_back(take());
	all.erase(all.begin());
	ok(live == 0xff << 5 && all[0].descriptor() == 5,
	   "a_vector_holds_those_that_are_in_it");
}

int main()
{
	moving();
	ok(live == 0, "leases_end_with_their_blocks");
	many();
	ok(live == 0, "leases_end_with_their_vector");
	std::printf("1..%d\n", number);
	return failed != 0;
}
