// SPDX-License-Identifier: MIT
/* compare [TRIES [SEED]] : how good the verdicts of "upmu compare" are */
#include <stdio.h>
#include <stdlib.h>

#include "compare_runs.h"

#define EVENTS 10

int main(int argc, char **argv)
{
	static const size_t rounds[] = { 5, 10, 20, 30 };
	size_t tries = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	size_t seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	printf("| noise | runs | mean held | change held | false verdicts | "
	       "3 %% seen |\n|---|---:|---:|---:|---:|---:|\n");
	for (size_t r = 0; r < sizeof(rounds) / sizeof(rounds[0]); r++)
		for (size_t k = 0; k < COMPARE_KINDS; k++) {
			struct compare_figures f;

			compare_try(k, rounds[r], EVENTS, tries, seed, &f);
			if (compare_kind_drifts(k))
				printf("| %s | %zu | - | %.1f | %.1f | %.0f |\n",
				       compare_kind_name(k), rounds[r],
				       f.change_held, f.false_all, f.seen);
			else
				printf("| %s | %zu | %.1f | %.1f | %.1f | %.0f "
				       "|\n",
				       compare_kind_name(k), rounds[r],
				       f.mean_held, f.change_held, f.false_all,
				       f.seen);
		}
	return 0;
}
