/* SPDX-License-Identifier: MIT */
/* out.h - what the report writers share */
#ifndef UPMU_TOOLS_OUT_H
#define UPMU_TOOLS_OUT_H

#include "stat.h"

/* With fewer slices for each set an estimate rests on luck. */
#define OUT_SLICES_FEW 20

/* A list of CPUs that is longer ends early. */
#define OUT_CPUS_SIZE 256

/** "1,4-7": CPUs that went off; OUT_CPUS_SIZE bytes. Returns how many. */
size_t out_lost_cpus(char *list, const struct stat_report *report);
/** "CPU 1 went off" behind @before; nothing, and false, where none did. */
bool out_name_lost(FILE *out, const struct stat_report *report,
		   const char *before);
/** The same as a note of its own: each interval since lacks them. */
void out_write_lost(FILE *out, const struct stat_report *report);

#endif
