// SPDX-License-Identifier: MIT
/*
 * The architecture's event numbers as sums of what the model counts
 * (ARM DDI 0487, D13.10 and K3.1; below 0x40 the same in ARM DDI 0406C,
 * C12.8). Which of them a core has is asked elsewhere. There is no wrong path
 * here: what is "speculatively executed" is what was executed.
 */
#include <string.h>

#include "decode.h"
#include "model.h"

#define MOST 8

struct sum {
	unsigned short code;
	/* TALLIES ends the list; a negative one, ~TALLY, is taken off */
	signed char part[MOST];
};

#define END TALLIES

static const struct sum sums[] = {
	{ 0x01, { L1I_REFILLS, END } },
	{ 0x02, { ITLB_REFILLS, END } },
	{ 0x03, { L1D_READ_REFILLS, L1D_WRITE_REFILLS, END } },
	{ 0x04,
	  { READS, WRITES, ~DEVICE_READS, ~DEVICE_WRITES, SPLIT_READS,
	    SPLIT_WRITES, END } },
	{ 0x05, { DTLB_READ_REFILLS, DTLB_WRITE_REFILLS, END } },
	{ 0x06, { READS, ~MORE_READS, END } },
	{ 0x07, { WRITES, ~MORE_WRITES, END } },
	{ 0x08, { INSTRUCTIONS, END } },
	{ 0x09,
	  { UNDEFINED, SUPERVISOR_CALLS, PREFETCH_ABORTS, DATA_ABORTS,
	    INTERRUPTS, FAST_INTERRUPTS, OTHER_EXCEPTIONS, END } },
	{ 0x0a, { EXCEPTION_RETURNS, END } },
	{ 0x0b, { CONTEXT_WRITES, END } },
	{ 0x0c, { TAKEN_BRANCHES, END } },
	{ 0x0d, { IMMEDIATE_BRANCHES, END } },
	{ 0x0e, { RETURNS, END } },
	{ 0x0f, { UNALIGNED_READS, UNALIGNED_WRITES, END } },
	{ 0x10, { MISPREDICTED, END } },
	{ 0x12, { BRANCHES, END } },
	{ 0x13, { READS, WRITES, END } },
	{ 0x14, { L1I_FETCHES, END } },
	{ 0x15, { L1D_WRITE_BACKS, L1D_CLEANS, END } },
	{ 0x16, { L2_READS, L2_WRITES, END } },
	{ 0x17, { L2_READ_REFILLS, L2_WRITE_REFILLS, END } },
	{ 0x18, { L2_WRITE_BACKS, L2_CLEANS, END } },
	{ 0x19, { BUS_READS, BUS_WRITES, END } },
	{ 0x1b, { INSTRUCTIONS, END } },
	{ 0x1c, { TABLE_WRITES, END } },
	{ 0x21, { BRANCHES, END } },
	{ 0x22, { MISPREDICTED, END } },
	{ 0x25, { READS, WRITES, END } },
	{ 0x26, { L1I_FETCHES, END } },
	{ 0x2d, { TLB_REFILLS, END } },
	{ 0x2f, { TLB_LOOKUPS, END } },
	{ 0x40, { READS, ~DEVICE_READS, SPLIT_READS, END } },
	{ 0x41, { WRITES, ~DEVICE_WRITES, SPLIT_WRITES, END } },
	{ 0x42, { L1D_READ_REFILLS, END } },
	{ 0x43, { L1D_WRITE_REFILLS, END } },
	{ 0x46, { L1D_WRITE_BACKS, END } },
	{ 0x47, { L1D_CLEANS, END } },
	{ 0x48, { L1D_INVALIDATED, END } },
	{ 0x4c, { DTLB_READ_REFILLS, END } },
	{ 0x4d, { DTLB_WRITE_REFILLS, END } },
	{ 0x4e, { READS, END } },
	{ 0x4f, { WRITES, END } },
	{ 0x50, { L2_READS, END } },
	{ 0x51, { L2_WRITES, END } },
	{ 0x52, { L2_READ_REFILLS, END } },
	{ 0x53, { L2_WRITE_REFILLS, END } },
	{ 0x56, { L2_WRITE_BACKS, END } },
	{ 0x57, { L2_CLEANS, END } },
	{ 0x58, { L2_INVALIDATED, END } },
	{ 0x60, { BUS_READS, END } },
	{ 0x61, { BUS_WRITES, END } },
	{ 0x66, { READS, END } },
	{ 0x67, { WRITES, END } },
	{ 0x68, { UNALIGNED_READS, END } },
	{ 0x69, { UNALIGNED_WRITES, END } },
	{ 0x6a, { UNALIGNED_READS, UNALIGNED_WRITES, END } },
	{ 0x6c, { CLASS_TALLIES + CLASS_EXCLUSIVE_LOAD, END } },
	{ 0x70, { READS, ~MORE_READS, END } },
	{ 0x71, { WRITES, ~MORE_WRITES, END } },
	{ 0x72, { READS, ~MORE_READS, WRITES, ~MORE_WRITES, END } },
	{ 0x73, { CLASS_TALLIES + CLASS_DATA, END } },
	{ 0x74, { CLASS_TALLIES + CLASS_SIMD, END } },
	{ 0x75, { CLASS_TALLIES + CLASS_FLOAT, END } },
	{ 0x76, { TAKEN_BRANCHES, END } },
	{ 0x77, { CLASS_TALLIES + CLASS_CRYPTO, END } },
	{ 0x78, { IMMEDIATE_BRANCHES, END } },
	{ 0x79, { RETURNS, END } },
	{ 0x7a, { INDIRECT_BRANCHES, RETURNS, END } },
	{ 0x7c, { CLASS_TALLIES + CLASS_ISB, END } },
	{ 0x7d, { CLASS_TALLIES + CLASS_DSB, END } },
	{ 0x7e, { CLASS_TALLIES + CLASS_DMB, END } },
	{ 0x81, { UNDEFINED, END } },
	{ 0x82, { SUPERVISOR_CALLS, END } },
	{ 0x83, { PREFETCH_ABORTS, END } },
	{ 0x84, { DATA_ABORTS, END } },
	{ 0x86, { INTERRUPTS, END } },
	{ 0x87, { FAST_INTERRUPTS, END } },
	{ 0x90, { CLASS_TALLIES + CLASS_ACQUIRE, END } },
	{ 0x91, { CLASS_TALLIES + CLASS_RELEASE, END } },
	{ MODEL_CODES, { CONDITIONAL_BRANCHES, END } },
	{ MODEL_CODES + 1, { CONDITIONAL_MISPREDICTED, END } },
	{ MODEL_CODES + 2, { INDIRECT_MISPREDICTED, END } },
	{ MODEL_CODES + 3, { INDIRECT_WRONG, END } },
	{ MODEL_CODES + 4, { SNOOPED, END } },
};

/* The last of them, in this order, as cores.ini says them. */
static const char *const own[] = {
	"conditional",
	"conditional-mispredicted",
	"indirect-mispredicted",
	"indirect-wrong",
	"snooped",
};

unsigned event_own(const char *name)
{
	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(own[i], name))
			return MODEL_CODES + i;
	return 0;
}

#define SUMS (sizeof(sums) / sizeof(sums[0]))

static const struct sum *find(unsigned code)
{
	static const struct sum *by_code[MODEL_SUMS];

	if (!by_code[sums[0].code])
		for (size_t i = 0; i < SUMS; i++)
			by_code[sums[i].code] = &sums[i];
	return code < MODEL_SUMS ? by_code[code] : NULL;
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
