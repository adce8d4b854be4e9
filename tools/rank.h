/* SPDX-License-Identifier: MIT */
/**
 * rank.h - which process of a parallel program this is, and of how many
 *
 * Open MPI, MPICH and Slurm tell it by environment variables of their own.
 */
#ifndef UPMU_TOOLS_RANK_H
#define UPMU_TOOLS_RANK_H

#include <stdbool.h>
#include <stddef.h>

/** The text of the number: RANK, or the launcher's own; NULL: none. */
const char *rank_text(void);
/** From 0; -1: none. */
int rank_number(void);
/** How many there are; 0: not told. */
int rank_count(void);
/**
 * What the launcher calls this run, which tells its files from those that a
 * former one left behind; false: not told, or longer than @size.
 */
bool rank_job(char *out, size_t size);

/** The names that are asked, for messages: "RANK, OMPI_...". */
#define RANK_NAMES \
	"RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, PMIX_RANK, SLURM_PROCID"

#endif
