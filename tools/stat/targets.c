// SPDX-License-Identifier: MIT
/* Running processes, threads and CPUs that are to be counted. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys.h"
#include "stat.h"

#define ONLINE "/sys/devices/system/cpu/online"

static int add_target(struct engine_targets *targets, pid_t pid, int cpu)
{
	struct engine_target *more =
		realloc(targets->target, (targets->n + 1) * sizeof(*more));

	if (!more) {
		fputs("upmu stat: out of memory\n", stderr);
		return -1;
	}
	targets->target = more;
	targets->target[targets->n++] =
		(struct engine_target){ .pid = pid, .cpu = cpu };
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct engine_target *left = a, *right = b;

	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	return (left->pid > right->pid) - (left->pid < right->pid);
}

/* What was named twice is counted once. */
static void drop_repeated(struct engine_targets *targets)
{
	size_t kept = 0;

	if (!targets->n)
		return;
	qsort(targets->target, targets->n, sizeof(*targets->target), by_place);
	for (size_t i = 1; i < targets->n; i++)
		if (by_place(&targets->target[kept], &targets->target[i]))
			targets->target[++kept] = targets->target[i];
	targets->n = kept + 1;
}

static int no_task(const char *what, const char *word)
{
	fprintf(stderr, "upmu stat: no %s '%s'\n", what, word);
	return -1;
}

/*
 * Signals reach a process that has ended until its parent has asked how, and a
 * first thread that has ended while its process goes on by others: how many
 * threads are left, itself among them. 0: it has not ended.
 */
static int left_of_ended(pid_t pid)
{
	char path[UPMU_PATH_SIZE], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid,
		 (int)pid);
	if (upmu_sys_read_text(path, text, sizeof(text)))
		return 0;
	at = strrchr(text, ')');
	if (!at || strncmp(at, ") Z ", 4))
		return 0;
	/* From the 2nd column to the 20th, how many threads there are. */
	for (int column = 2; at && column < 20; column++)
		at = strchr(at + 1, ' ');
	return at && atoi(at) > 1 ? atoi(at) : 1;
}

/* Those that are there. 1: no such process. */
static int list_threads(struct engine_targets *targets, const char *pid)
{
	char path[UPMU_PATH_SIZE];
	const struct dirent *entry;
	int error = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	dir = opendir(path);
	if (!dir)
		return 1;
	while (!error && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			error = add_target(targets, atoi(entry->d_name), -1);
	closedir(dir);
	return error;
}

static int add_threads(struct engine_targets *targets, const char *pid)
{
	int error = list_threads(targets, pid);

	if (error > 0 || left_of_ended(atoi(pid)) == 1)
		return no_task("process", pid);
	return error;
}

static int add_more_threads(struct engine_targets *targets, const char *pid)
{
	return list_threads(targets, pid) < 0 ? -1 : 0;
}

static int add_thread(struct engine_targets *targets, const char *tid)
{
	pid_t task = atoi(tid);

	/* Signal 0 asks; EPERM says that it is there. */
	if ((kill(task, 0) && errno == ESRCH) || left_of_ended(task))
		return no_task("thread", tid);
	return add_target(targets, task, -1);
}

static int add_list(struct engine_targets *targets, const char *list,
		    int (*one)(struct engine_targets *, const char *))
{
	char *words = strdup(list), *save, *word;
	int error = words ? 0 : -1;

	/* strtok() sees no empty word: the first is looked at before. */
	if (!list[0] || strspn(list, ",") == strlen(list))
		error = no_task("process or thread", list);
	word = words ? strtok_r(words, ",", &save) : NULL;
	for (; word && !error; word = strtok_r(NULL, ",", &save)) {
		if (strspn(word, "0123456789") != strlen(word) ||
		    strlen(word) > 9 || !atoi(word))
			error = no_task("process or thread", word);
		else
			error = one(targets, word);
	}
	free(words);
	return error;
}

/* "0-3,8" */
static int add_cpus(struct engine_targets *targets, const char *list)
{
	const char *at = list;

	do {
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;

		if (end == at || !isdigit((unsigned char)*at))
			break;
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (last >= UPMU_CPUS_MAX || last < first)
			break;
		for (; first <= last; first++)
			if (add_target(targets, -1, (int)first))
				return -1;
		at = end;
	} while (*at++ == ',');
	if (targets->n && !at[-1])
		return 0;
	fprintf(stderr, "upmu stat: '%s' is no list of CPUs\nhint: -C 0-1,3\n",
		list);
	return -1;
}

/* Where /sys is not mounted the C library has other ways to know how many. */
static int add_online(struct engine_targets *targets)
{
	char list[STAT_CPU_LIST];
	int error, cpu = 0;

	if (!upmu_sys_read_text(ONLINE, list, sizeof(list)))
		return add_cpus(targets, list);
	do
		error = add_target(targets, -1, cpu);
	while (!error && ++cpu < sysconf(_SC_NPROCESSORS_ONLN));
	return error;
}

static bool has_cpu(const struct engine_targets *targets, int cpu)
{
	for (size_t i = 0; i < targets->n; i++)
		if (targets->target[i].cpu == cpu)
			return true;
	return false;
}

/* One that is not there would count nothing and say nothing. */
static int check_online(const struct engine_targets *targets)
{
	struct engine_targets online = { 0 };
	char list[STAT_CPU_LIST];
	int missing = -1;

	if (upmu_sys_read_text(ONLINE, list, sizeof(list)) ||
	    add_cpus(&online, list))
		return 0;
	for (size_t i = 0; i < targets->n && missing < 0; i++)
		if (!has_cpu(&online, targets->target[i].cpu))
			missing = targets->target[i].cpu;
	stat_targets_free(&online);
	if (missing < 0)
		return 0;
	fprintf(stderr, "upmu stat: CPU %d is not online\nhint: -C %s\n",
		missing, list);
	return -1;
}

static bool counts_all_cpus(const struct stat_options *options)
{
	return (options->all_cpus || options->cgroups) && !options->cpus;
}

/* None of its events is there: what runs on it is in no number. Tasks take
 * theirs along. */
void stat_targets_missed(const struct engine_targets *targets,
			 const struct stat_options *options, uint64_t *missed)
{
	struct engine_targets online = { 0 };
	char list[STAT_CPU_LIST];

	if (!counts_all_cpus(options))
		return;
	if (!upmu_sys_read_text(ONLINE, list, sizeof(list)) &&
	    !add_cpus(&online, list))
		for (size_t i = 0; i < online.n; i++) {
			int cpu = online.target[i].cpu;

			if (!has_cpu(targets, cpu))
				missed[cpu / 64] |= UINT64_C(1) << cpu % 64;
		}
	stat_targets_free(&online);
}

static int find_target(struct engine_targets *targets,
		       const struct stat_options *options)
{
	if (options->pids && add_list(targets, options->pids, add_threads))
		return -1;
	if (options->tids && add_list(targets, options->tids, add_thread))
		return -1;
	if (options->cpus)
		return add_cpus(targets, options->cpus) || check_online(targets)
			       ? -1
			       : 0;
	return counts_all_cpus(options) ? add_online(targets) : 0;
}

int stat_targets_find(struct engine_targets *targets,
		      const struct stat_options *options)
{
	*targets = (struct engine_targets){ 0 };
	if (find_target(targets, options))
		return -1;
	drop_repeated(targets);
	return 0;
}

int stat_targets_grow(struct engine_targets *targets,
		      const struct stat_options *options)
{
	size_t before = targets->n;

	if (!options->pids)
		return 0;
	if (add_list(targets, options->pids, add_more_threads))
		return -1;
	drop_repeated(targets);
	return targets->n > before;
}

void stat_targets_free(struct engine_targets *targets)
{
	free(targets->target);
	targets->target = NULL;
	targets->n = 0;
}

bool stat_targets_alive(const struct engine_targets *targets)
{
	for (size_t i = 0; i < targets->n; i++) {
		pid_t pid = targets->target[i].pid;

		if (pid < 0 || ((!kill(pid, 0) || errno == EPERM) &&
				left_of_ended(pid) != 1))
			return true;
	}
	return false;
}
