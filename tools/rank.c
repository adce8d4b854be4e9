// SPDX-License-Identifier: MIT
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "rank.h"

/*
 * Slurm's come last: an mpirun inside a job of Slurm hands the job's own
 * number, 0, on to all of its processes. Names: Open MPI 4.1 FAQ "environment
 * variables", MPICH's Hydra (PMI), PMIx standard, srun(1).
 */
static const struct {
	const char *rank, *count;
	const char *job[2]; /* of this very run; the same for all its ranks */
} launchers[] = {
	/* torchrun's, and who sets it himself */
	{ "RANK", "WORLD_SIZE", { NULL } },
	{ "OMPI_COMM_WORLD_RANK",
	  "OMPI_COMM_WORLD_SIZE",
	  { "PMIX_NAMESPACE" } },
	{ "PMI_RANK", "PMI_SIZE", { NULL } },
	{ "PMIX_RANK", NULL, { "PMIX_NAMESPACE" } },
	{ "SLURM_PROCID", "SLURM_NTASKS", { "SLURM_JOB_ID", "SLURM_STEP_ID" } },
};

#define LAUNCHERS (sizeof(launchers) / sizeof(launchers[0]))

static int number_of(const char *text, int least, int otherwise)
{
	char *end;
	long number;

	if (!text || !text[0])
		return otherwise;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || *end || number < least || number > INT_MAX)
		return otherwise;
	return (int)number;
}

static size_t find_launcher(void)
{
	for (size_t i = 0; i < LAUNCHERS; i++)
		if (number_of(getenv(launchers[i].rank), 0, -1) >= 0)
			return i;
	return LAUNCHERS;
}

const char *rank_text(void)
{
	size_t found = find_launcher();

	return found < LAUNCHERS ? getenv(launchers[found].rank) : NULL;
}

int rank_number(void)
{
	return number_of(rank_text(), 0, -1);
}

int rank_count(void)
{
	size_t found = find_launcher();
	const char *name = found < LAUNCHERS ? launchers[found].count : NULL;

	return name ? number_of(getenv(name), 1, 0) : 0;
}

bool rank_job(char *out, size_t size)
{
	size_t found = find_launcher(), length = 0;

	for (size_t i = 0; found < LAUNCHERS && i < 2; i++) {
		const char *name = launchers[found].job[i];
		const char *part = name ? getenv(name) : NULL;

		if (part && part[0] && length < size)
			length += (size_t)snprintf(out + length, size - length,
						   "%s%s", length ? "." : "",
						   part);
	}
	return length > 0 && length < size;
}
