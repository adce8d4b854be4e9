// SPDX-License-Identifier: MIT
/*
 * The architecture's event numbers as sums of what the model counts
 * (ARM DDI 0487, D13.10 and K3.1; below 0x40 the same in ARM DDI 0406C,
 * C12.8). Which of them a core has is asked elsewhere.
 */
#include "model.h"

#define MOST 6

struct sum {
	unsigned short code;
	/* TALLIES ends the list; a negative one, ~TALLY, is taken off */
	signed char part[MOST];
};

#define END TALLIES

static const struct sum sums[] = {
	{ 0x04, { READS, WRITES, END } },
	{ 0x06, { READS, ~MORE_READS, END } },
	{ 0x07, { WRITES, ~MORE_WRITES, END } },
	{ 0x13, { READS, WRITES, END } },
};

#define SUMS (sizeof(sums) / sizeof(sums[0]))

static const struct sum *find(unsigned code)
{
	static const struct sum *by_code[MODEL_CODES];

	if (!by_code[sums[0].code])
		for (size_t i = 0; i < SUMS; i++)
			by_code[sums[i].code] = &sums[i];
	return code < MODEL_CODES ? by_code[code] : NULL;
}

bool event_is_modelled(unsigned code)
{
	return find(code);
}

uint64_t event_total(const uint64_t (*tally)[TALLIES], unsigned code,
		     unsigned levels)
{
	const struct sum *sum = find(code);
	uint64_t total = 0;

	for (int level = 0; level < MODEL_LEVELS; level++) {
		if (!(levels >> level & 1))
			continue;
		for (int i = 0; i < MOST && sum->part[i] != END; i++)
			if (sum->part[i] < 0)
				total -= tally[level][~sum->part[i]];
			else
				total += tally[level][sum->part[i]];
	}
	return total;
}
