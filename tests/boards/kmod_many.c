// SPDX-License-Identifier: MIT
/*
 * kmod_many - many leases, at once and one after another
 *
 * kmod_many HOLDERS COMMAND...  that many processes hold one each; runs
 *                               COMMAND beside them, then reads the state and
 *                               prints how many microseconds that took
 * kmod_many limit               what one user may hold
 * kmod_many pairs N             N are taken and closed, one after another; then
 *                               the state is read as often
 */
#include <glob.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "tests/boards/kmod.h"

#define PER_USER    4096 /* uapi.h, EMFILE */
#define PER_PROCESS 64

static int user_takes(int pipe_out, int most)
{
	int taken = 0, fd = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (taken < most && (fd = take(UPMU_MODE_COUNT)) >= 0)
		taken++;
	(void)!write(pipe_out, &taken, sizeof(taken));
	(void)!write(pipe_out, &fd, sizeof(fd));
	pause();
	return 0;
}

/* Leases that cover its parent's children are among those that cover it. */
static int child_takes(void *unused)
{
	int taken = 0, fd;

	(void)unused;
	while ((fd = take(UPMU_MODE_COUNT)) >= 0)
		taken++;
	return fd == -EMFILE ? taken : 255;
}

static int process_takes(void *unused)
{
	int taken = 0, error;

	(void)unused;
	while (taken < PER_PROCESS - 4 &&
	       take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC) >= 0)
		taken++;
	if (in_child(child_takes, NULL) != 4)
		return 254;
	while ((error = take(UPMU_MODE_COUNT)) >= 0)
		taken++;
	return error == -EMFILE ? taken : 255;
}

static int limit(void)
{
	int pipes[2], sum = 0, taken = PER_PROCESS, error = 0;

	error = in_child(process_takes, NULL);
	tap(error == PER_PROCESS,
	    "a_process_holds_64_leases_those_of_its_parents_included", "%d",
	    error);
	error = 0;
	chmod(UPMU_DEVICE, 0666);
	if (pipe(pipes))
		return 1;
	while (taken == PER_PROCESS) {
		if (!fork())
			_exit(setgid(1000) || setuid(1000) ||
			      user_takes(pipes[1], PER_PROCESS));
		if (read(pipes[0], &taken, sizeof(taken)) != sizeof(taken) ||
		    read(pipes[0], &error, sizeof(error)) != sizeof(error))
			return 1;
		sum += taken;
	}
	tap(sum == PER_USER && error == -EMFILE,
	    "a_user_holds_4096_leases_and_no_more", "%d, %d", sum, error);
	error = take(UPMU_MODE_COUNT);
	tap(error >= 0, "that_takes_nothing_from_root", "%d", error);
	return tap_done();
}

static unsigned long figure(const char *path, const char *key)
{
	unsigned long sum = 0, value;
	char line[512], name[128];
	FILE *file = fopen(path, "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%127s %lu", name, &value) == 2 &&
		    !strncmp(name, key, strlen(key)))
			sum += value;
	if (file)
		fclose(file);
	return sum;
}

/*
 * What each CPU keeps of a slab counts as in use: kmalloc-8 has 512 objects
 * in one. Shrinking gives it back, so that the figure is what is really held.
 */
static unsigned long slab_objects(void)
{
	glob_t caches;
	size_t i;

	if (!glob("/sys/kernel/slab/kmalloc-*/shrink", 0, NULL, &caches)) {
		for (i = 0; i < caches.gl_pathc; i++)
			poke(caches.gl_pathv[i], "1");
		globfree(&caches);
	}
	return figure("/proc/slabinfo", "kmalloc-");
}

static unsigned long open_files(void)
{
	unsigned long files = 0;
	FILE *file = fopen("/proc/sys/fs/file-nr", "r");

	if (!file || fscanf(file, "%lu", &files) != 1)
		files = 0;
	if (file)
		fclose(file);
	return files;
}

static int pairs(int count)
{
	uint32_t light = light_mode();
	int done = 0, fd;

	while (done < count &&
	       (fd = take(done & 1 ? light : UPMU_MODE_CYCLES)) >= 0) {
		close(fd);
		done++;
	}
	return done;
}

/* What one CPU has others do at once. */
static unsigned long calls_of_cpus(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long sum = 0, calls;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		char *word = strchr(line, ':');

		if (!word || !strstr(line, "Function call interrupts"))
			continue;
		for (char *end = ++word;; word = end) {
			calls = strtoul(word, &end, 10);
			if (end == word)
				break;
			sum += calls;
		}
	}
	if (file)
		fclose(file);
	return sum;
}

static unsigned long calls_of_reads(int count, int *read)
{
	unsigned long calls = calls_of_cpus();

	*read = 0;
	for (int n = 0; n < count; n++)
		*read += file_has(UPMU_STATE, "\nleases 1\n");
	return calls_of_cpus() - calls;
}

static void state_test(int count)
{
	static const char claim[] = "reading_the_state_interrupts_no_cpu";
	int lease = take(UPMU_MODE_CYCLES), read = 0;
	unsigned long calls = ULONG_MAX;

	if (cpus_online() < 2) {
		tap_skip(claim, "there is no other CPU");
		close(lease);
		return;
	}
	/* The kernel's own calls come by time: more where the host is slow. */
	for (int n = 0; n < 5 && calls >= (unsigned long)count / 2; n++)
		calls = calls_of_reads(count, &read);
	tap(lease >= 0 && read == count && calls < (unsigned long)count / 2,
	    claim, "%d reads, %lu calls", read, calls);
	close(lease);
}

static int pair_tests(int count)
{
	unsigned long objects, files, more_objects, more_files, leaked;
	double start, end;
	int done;

	leaked = count / 2; /* of one object in each lease, at least */
	pairs(count / 5);
	sleep(1);
	objects = slab_objects();
	files = open_files();
	start = seconds();
	done = pairs(count);
	start = seconds() - start;
	end = seconds() + 20; /* freed by works, after RCU */
	do {
		usleep(200000);
		more_objects = slab_objects();
		more_files = open_files();
	} while (more_objects >= objects + leaked && seconds() < end);
	tap(done == count, "many_leases_are_taken_and_closed", "%d in %.2f s",
	    done, start);
	if (!access("/sys/kernel/debug/kmemleak", F_OK) || !objects)
		tap_skip(
			"many_leases_leave_no_slab_objects",
			"KASAN keeps what is freed, KCSAN's kernel tells none");
	else
		tap(more_objects < objects + leaked,
		    "many_leases_leave_no_slab_objects", "%lu -> %lu", objects,
		    more_objects);
	tap(more_files <= files + 64, "many_leases_leave_no_files",
	    "%lu -> %lu", files, more_files);
	state_test(count);
	return tap_done();
}

static void hold(int count)
{
	for (int n = 0; n < count; n++) {
		int pipes[2], figures[2];

		if (pipe(pipes))
			exit(1);
		if (!fork())
			_exit(user_takes(pipes[1], 1));
		if (read(pipes[0], &figures[0], sizeof(int)) != sizeof(int) ||
		    read(pipes[0], &figures[1], sizeof(int)) != sizeof(int) ||
		    figures[0] != 1)
			exit(1);
		close(pipes[0]);
		close(pipes[1]);
	}
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	char command[200] = "";
	double begun;
	int fd;

	if (argc > 1 && !strcmp(argv[1], "limit"))
		return limit();
	if (argc > 2 && !strcmp(argv[1], "pairs"))
		return pair_tests(atoi(argv[2]));
	hold(atoi(argv[1]));
	for (int n = 2; n < argc; n++) {
		strcat(command, argv[n]);
		strcat(command, " ");
	}
	if (system(command))
		return 1;
	begun = seconds();
	fd = open(UPMU_STATE, O_RDONLY);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	printf("%.0f\n", (seconds() - begun) * 1e6);
	return 0;
}
