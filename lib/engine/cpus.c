// SPDX-License-Identifier: MIT
#include "lib/engine/sets.h"

#include <errno.h>
#include <stdlib.h>

/* By so much the clocks of perf and of upmu may differ. */
#define CLOCKS_NS   1e6
#define CLOCKS_PART 0.01

int engine_cpus_init(struct engine_sets *sets,
		     const struct engine_targets *targets)
{
	if (!targets->n || targets->target[0].cpu < 0)
		return 0;
	sets->cpu = calloc(targets->n, sizeof(*sets->cpu));
	if (!sets->cpu)
		return -ENOMEM;
	for (size_t t = 0; t < targets->n; t++)
		sets->cpu[t].number = targets->target[t].cpu;
	return 0;
}

bool engine_cpu_is_lost(const struct engine_sets *sets, size_t target)
{
	return sets->cpu && sets->cpu[target].lost;
}

/* Of a set that is on all the time; SIZE_MAX: none. */
static size_t base_on(const struct engine_sets *sets, size_t target)
{
	for (size_t i = 0; i < sets->n; i++) {
		const struct engine_set *set = &sets->set[i];

		/* A cgroup's clock stands while none of its tasks runs. */
		if (set->turn == ENGINE_ALWAYS && set->group &&
		    set->group[target].n && set->group[target].pid < 0)
			return i;
	}
	return SIZE_MAX;
}

static int read_group(const struct engine_sets *sets, size_t set, size_t target,
		      struct upmu_value *value)
{
	const struct upmu_group *group = &sets->set[set].group[target];

	return sets->cpu ? upmu_group_read_cpu(group, value,
					       &sets->cpu[target].lost)
			 : upmu_group_read(group, value);
}

int engine_cpu_read(const struct engine_sets *sets, size_t set, size_t target,
		    struct upmu_value *value)
{
	int error = read_group(sets, set, target, value);

	if (error || !sets->cpu || base_on(sets, target) != set)
		return error;
	sets->cpu[target].seen_ns = value[0].enabled_ns;
	sets->cpu[target].is_seen = true;
	return 0;
}

void engine_cpus_look(const struct engine_sets *sets, double elapsed_ns)
{
	double most = elapsed_ns * (1 - CLOCKS_PART) - CLOCKS_NS;

	for (size_t t = 0; sets->cpu && t < sets->targets; t++) {
		struct engine_cpu *cpu = &sets->cpu[t];

		if (!cpu->is_seen)
			continue;
		if ((double)(cpu->seen_ns - cpu->enabled_ns) < most)
			cpu->lost = true;
		cpu->enabled_ns = cpu->seen_ns;
		cpu->is_seen = false;
	}
}
