// SPDX-License-Identifier: MIT
/*
 * kmod_lease - who may execute the PMU instructions, and until when
 *
 * kmod_lease        tries everything, prints TAP
 * kmod_lease take   takes a lease, exits with the errno or 0
 * kmod_lease probe  exits 10 where the cycle counter can be read, 11 where not
 */
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "tests/boards/kmod.h"

#define PROBE_READS  10
#define PROBE_SIGILL 11
#define COPY	     "/tmp/kmod_lease.setuid"

static uint32_t light; /* the mode that costs others least here */
static const char *self = "/proc/self/exe";

static int exec_probe(void *path)
{
	execl(path, "kmod_lease", "probe", (char *)NULL);
	return 99;
}

static void *thread_tries(void *data)
{
	(void)data;
	return (void *)(intptr_t)try_cycles(NULL);
}

static void holder_tests(void)
{
	uint32_t first, second;
	pthread_t thread;
	void *result;
	int fd;

	tap(!try_cycles(NULL), "a_process_without_a_lease_gets_sigill", NULL);
	fd = take(light);
	tap(fd >= 0, "root_takes_a_count_lease", "%d", fd);
	tap(try_cycles(&first), "a_holder_reads_the_register", NULL);
	pthread_create(&thread, NULL, thread_tries, NULL);
	pthread_join(thread, &result);
	tap(result != NULL, "another_thread_of_the_holder_reads", NULL);
	for (int cpu = 0; cpu < cpus_online(); cpu++) {
		pin(cpu);
		if (!try_cycles(&second))
			break;
	}
	tap(try_cycles(&second), "a_holder_reads_on_each_cpu", NULL);
	tap(in_child(child_tries, NULL) == 0,
	    "a_child_without_the_flag_gets_sigill", NULL);
	close(fd);
	tap(!try_cycles(NULL), "closing_ends_it", NULL);
	tap(no_leases_soon(), "nobody_holds_anything_then", NULL);
}

static void children_tests(void)
{
	int fd = take_flags(light, UPMU_LEASE_CHILDREN, O_CLOEXEC);

	tap(in_child(child_tries, NULL) == 1, "a_child_with_the_flag_reads",
	    NULL);
	tap(in_child(exec_probe, (void *)self) == PROBE_SIGILL,
	    "a_childs_exec_ends_it_for_the_child", NULL);
	tap(try_cycles(NULL), "and_not_for_the_holder", NULL);
	close(fd);
	tap(in_child(child_tries, NULL) == 0,
	    "after_closing_children_get_sigill", NULL);
}

/* More of them at once than the module keeps in reserve. */
#define STORM 600

static void fork_storm_test(void)
{
	int fd = take_flags(light, UPMU_LEASE_CHILDREN, O_CLOEXEC), forked = 0;
	int status, readers = 0;

	fflush(stdout);
	for (; forked < STORM; forked++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (!pid)
			_exit(try_cycles(NULL));
	}
	while (wait(&status) > 0)
		readers += WIFEXITED(status) && WEXITSTATUS(status);
	tap(forked == STORM && readers == STORM &&
		    info_of(fd).lease_state == UPMU_STATE_LIVE,
	    "each_of_many_children_forked_at_once_reads", "%d of %d", readers,
	    forked);
	close(fd);
}

/* A child that did not execute a program reads; one that did has no part, but
 * in a lease that says so. */
static void state_of_children_test(void)
{
	int fd = take_flags(light, UPMU_LEASE_CHILDREN, O_CLOEXEC), over_exec;
	bool told = false;
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	tap(file_has(UPMU_STATE, " processes 2 "),
	    "the_state_counts_a_child_that_reads", NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	over_exec = take_flags(light, UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC,
			       O_CLOEXEC);
	pid = fork();
	if (!pid) {
		execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	for (int i = 0; i < 300 && !told; i++) {
		usleep(20000);
		told = file_has(UPMU_STATE, "+children ok processes 1 ");
	}
	tap(told && file_has(UPMU_STATE, "+exec ok processes 2 ") &&
		    file_has(UPMU_STATE, "\nleases 2\n"),
	    "and_none_whose_exec_ended_it", NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(over_exec);
	close(fd);
}

/* A process names itself; the state has one line for it all the same. */
static void name_test(void)
{
	char line[160];
	int fd;

	prctl(PR_SET_NAME,
	      "a\nlease\x1b \xe9 long"); /* 15, as long as can be */
	fd = take(light);
	snprintf(line, sizeof(line), "\nlease pid %d mode %s ok processes 1 ",
		 getpid(), light == UPMU_MODE_COUNT ? "count" : "cycles");
	tap(file_has(UPMU_STATE, line) &&
		    file_has(UPMU_STATE, " comm a?lease? ? long\ncpu 0 ") &&
		    file_has(UPMU_STATE, "\nleases 1\n"),
	    "the_state_names_a_holder_in_one_line_of_plain_text", NULL);
	close(fd);
	prctl(PR_SET_NAME, "kmod_lease");
}

/* Of CPU 0 as it runs the one who asks; -1: not told. */
static long permission(void)
{
	FILE *state = fopen(UPMU_STATE, "r");
	char line[160], *found = NULL;

	while (state && !found && fgets(line, sizeof(line), state))
		if (!strncmp(line, "cpu 0 ", 6))
			found = strstr(line, " access ");
	if (state)
		fclose(state);
	return found ? strtol(found + strlen(" access "), NULL, 16) : -1;
}

static void permission_test(void)
{
	long before, held, after;
	cpu_set_t all;
	int fd;

	sched_getaffinity(0, sizeof(all), &all);
	pin(0);
	before = permission();
	fd = take(light);
	held = permission();
	close(fd);
	after = permission();
	sched_setaffinity(0, sizeof(all), &all);
	tap(held > 0, "the_state_shows_the_permission_of_each_cpu", "%lx",
	    held);
	if (light == UPMU_MODE_COUNT)
		tap(!before && !after, "and_that_nobody_else_has_it",
		    "%lx, %lx", before, after);
}

#define MOST_LEASES 64 /* upmu/uapi.h, EMFILE */

static int child_takes(void *unused)
{
	int fd = take(light);

	(void)unused;
	return fd < 0 ? -fd : 0;
}

static void many_leases_test(void)
{
	int fds[MOST_LEASES], taken = 0, more;

	while (taken < MOST_LEASES &&
	       (fds[taken] =
			take_flags(light, taken % 2 ? UPMU_LEASE_CHILDREN : 0,
				   O_CLOEXEC)) >= 0)
		taken++;
	tap(taken == MOST_LEASES, "a_process_holds_64_leases", "%d", taken);
	more = take(light);
	tap(more == -EMFILE, "one_more_is_emfile", "%d", more);
	tap(in_child(child_takes, NULL) == 0,
	    "that_takes_nothing_from_other_processes", NULL);
	while (taken)
		close(fds[--taken]);
	more = take(light);
	tap(more >= 0, "and_ends_with_them", "%d", more);
	close(more);
}

static int exec_as_user(void *path)
{
	if (setgid(1000) || setuid(1000))
		return 98;
	return exec_probe(path);
}

static int run_copy(const char *from, const char *to, mode_t mode)
{
	char buffer[4096];
	ssize_t got;
	int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_WRONLY, 0755);

	while ((got = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)got) != got)
			return -1;
	close(in);
	close(out);
	return chmod(to, mode);
}

static int grandchild_execs(void *path)
{
	return in_child(exec_probe, path);
}

static void exec_tests(void)
{
	int fd = take_flags(light, UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC,
			    O_CLOEXEC);

	tap(in_child(exec_probe, (void *)self) == PROBE_READS,
	    "with_exec_a_childs_program_reads", "fd %d", fd);
	tap(in_child(grandchild_execs, (void *)self) == PROBE_READS,
	    "and_a_grandchilds", NULL);
	tap(in_child(exec_as_user, (void *)self) == PROBE_READS,
	    "and_one_that_gave_up_root_before", NULL);
	run_copy(self, COPY, 04755);
	tap(in_child(exec_as_user, (void *)COPY) == PROBE_SIGILL,
	    "a_set_user_id_program_does_not", NULL);
	unlink(COPY);
	close(fd);
	tap(in_child(exec_probe, (void *)self) == PROBE_SIGILL,
	    "after_closing_programs_get_sigill", NULL);
}

/* The holder executes a program with its descriptor still open. */
static int holder_execs(void *unused)
{
	(void)unused;
	if (take_flags(light, UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC, 0) < 0)
		return 97;
	return exec_probe((void *)self);
}

static void end_tests(void)
{
	int pipes[2], status;
	pid_t holder;
	char byte;

	tap(in_child(holder_execs, NULL) == PROBE_SIGILL,
	    "exec_of_the_holder_ends_it", NULL);

	/* A holder with a child that keeps the descriptor, then kill -9. */
	if (pipe(pipes))
		exit(1);
	holder = fork();
	if (!holder) {
		if (take_flags(light, UPMU_LEASE_CHILDREN, 0) < 0)
			_exit(1);
		if (!fork()) {
			int could = try_cycles(NULL);

			(void)!write(pipes[1], could ? "r" : "i", 1);
			while (getppid() != 1)
				usleep(1000);
			could = try_cycles(NULL);
			(void)!write(pipes[1], could ? "r" : "i", 1);
			_exit(0); /* its descriptor holds the module */
		}
		pause();
	}
	(void)!read(pipes[0], &byte, 1);
	tap(byte == 'r', "the_childs_copy_reads_while_the_holder_lives", NULL);
	kill(holder, SIGKILL);
	waitpid(holder, &status, 0);
	tap(no_leases_soon(),
	    "kill_9_ends_it_though_a_child_has_the_descriptor", NULL);
	(void)!read(pipes[0], &byte, 1);
	tap(byte == 'i', "and_the_child_gets_sigill_then", NULL);
	close(pipes[0]);
	close(pipes[1]);
}

static int receiver_tries(void *fd)
{
	(void)fd;
	return try_cycles(NULL);
}

/* A thread that never leaves its CPU loses it as well. */
static volatile int spinning, stopped;

static void *spinner(void *data)
{
	(void)data;
	pin(cpus_online() - 1);
	while (try_cycles(NULL))
		spinning = 1;
	stopped = 1;
	return NULL;
}

static void everywhere_test(void)
{
	pthread_t thread;
	double end;
	int fd;

	pin(0);
	fd = take(light);
	spinning = stopped = 0;
	pthread_create(&thread, NULL, spinner, NULL);
	end = seconds() + 20;
	while (!spinning && !stopped && seconds() < end)
		usleep(1000);
	close(fd);
	while (!stopped && seconds() < end)
		usleep(1000);
	if (tap(spinning && stopped,
		"closing_ends_it_for_a_thread_busy_elsewhere", NULL))
		pthread_join(thread, NULL);
}

static void descriptor_tests(void)
{
	struct upmu_lease lease = { .size = sizeof(lease), .mode = light };
	struct pollfd waits;
	struct upmu_info info;
	int fd, other, copy;

	fd = take(light);
	tap(ioctl(fd, UPMU_IOC_LEASE, &lease) == -1 && errno == EALREADY,
	    "a_second_lease_on_one_descriptor_is_ealready", "%d", errno);
	tap(in_child(receiver_tries, &fd) == 0,
	    "an_inherited_descriptor_gives_nothing", NULL);
	other = take(light);
	tap(other >= 0 && info_of(fd).leases == 2,
	    "count_leases_are_many_at_a_time", "leases %u", info_of(fd).leases);
	close(other);
	tap(try_cycles(NULL), "ending_one_leaves_the_other", NULL);
	info = info_of(fd);
	tap(info.holder_pid == getpid() && info.holder_mode == light,
	    "info_names_the_holder", "pid %d comm %s", info.holder_pid,
	    info.holder_comm);
	tap(info.lease_mode == light && info.lease_state == UPMU_STATE_LIVE,
	    "info_tells_of_ones_own_lease", NULL);
	copy = dup(fd);
	close(copy);
	waits = (struct pollfd){ .fd = fd, .events = 0, .revents = 0 };
	tap(poll(&waits, 1, 0) == 1 && waits.revents & POLLHUP &&
		    info_of(fd).lease_state == UPMU_STATE_ENDED,
	    "poll_tells_that_it_has_ended", "%x", waits.revents);
	close(fd);
}

static int lease_errno(struct upmu_lease lease)
{
	int fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);
	int err = ioctl(fd, UPMU_IOC_LEASE, &lease) ? errno : 0;

	close(fd);
	return err;
}

static void bad_argument_tests(void)
{
	struct {
		struct upmu_lease lease;
		uint32_t tail[4];
	} longer = { .lease = { .size = sizeof(longer), .mode = light } };
	uint32_t size = sizeof(struct upmu_lease);
	int fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);

#define LEASE(s, m, f, r) \
	((struct upmu_lease){ .size = s, .mode = m, .flags = f, .reserved = r })
	tap(lease_errno(LEASE(size, 0, 0, 0)) == EINVAL &&
		    lease_errno(LEASE(size, 4, 0, 0)) == EINVAL,
	    "an_unknown_mode_is_einval", NULL);
	tap(lease_errno(LEASE(size, light, 4, 0)) == EINVAL &&
		    lease_errno(LEASE(size, light, 1u << 31, 0)) == EINVAL,
	    "an_unknown_flag_is_einval", NULL);
	tap(lease_errno(LEASE(size, light, UPMU_LEASE_EXEC, 0)) == EINVAL,
	    "exec_without_children_is_einval", NULL);
	tap(lease_errno(LEASE(size, light, 0, 1)) == EINVAL,
	    "a_reserved_field_set_is_einval", NULL);
	tap(lease_errno(LEASE(size - 1, light, 0, 0)) == EINVAL,
	    "a_size_too_small_is_einval", NULL);
	longer.tail[3] = 1;
	tap(ioctl(fd, UPMU_IOC_LEASE, &longer) == -1 && errno == E2BIG,
	    "an_unknown_tail_is_e2big", "%d", errno);
	longer.tail[3] = 0;
	tap(ioctl(fd, UPMU_IOC_LEASE, &longer) == 0,
	    "a_longer_structure_of_zeros_is_taken", "%d", errno);
	tap(ioctl(fd, UPMU_IOC_LEASE, (void *)8) == -1 && errno == EFAULT,
	    "a_bad_pointer_is_efault", "%d", errno);
	tap(ioctl(fd, _IO(0xE7, 0x55), &longer) == -1 && errno == ENOTTY,
	    "an_unknown_call_is_enotty", "%d", errno);
	close(fd);
}

/* Of zeros behind what is known. */
static int errno_of_size(size_t size)
{
	struct upmu_lease *lease = calloc(1, size);
	int fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC), err;

	lease->size = (uint32_t)size;
	lease->mode = light;
	err = ioctl(fd, UPMU_IOC_LEASE, lease) ? errno : 0;
	close(fd);
	free(lease);
	return err;
}

static void longest_test(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int most = errno_of_size(page), more = errno_of_size(page + 1);

	tap(most == 0 && more == E2BIG,
	    "a_structure_of_a_page_is_taken_and_a_longer_one_is_e2big",
	    "%d, %d", most, more);
}

static void exclusion_tests(void)
{
	int count = take(light), raw;

	raw = take(UPMU_MODE_RAW);
	tap(raw == -EBUSY, "raw_beside_a_count_lease_is_ebusy", "%d", raw);
	close(count);
	raw = take(UPMU_MODE_RAW);
	tap(raw >= 0, "raw_alone_is_granted", "%d", raw);
	tap(take(light) == -EBUSY && take(UPMU_MODE_RAW) == -EBUSY &&
		    take(UPMU_MODE_CYCLES) == -EBUSY,
	    "nothing_is_granted_beside_raw", NULL);
	tap(info_of(-1).holder_pid == getpid() &&
		    info_of(-1).holder_mode == UPMU_MODE_RAW,
	    "info_names_who_holds_raw", NULL);
	close(raw);
	count = take(light);
	tap(count >= 0, "after_raw_count_is_granted_again", "%d", count);
	close(count);
}

/* So many events that never leave their counters that CYCLES is refused. */
static void refused_beside_test(void)
{
	int pinned[33], n = 0, held = take(light), refused;
	int counters = (int)info_of(-1).counters;

	pin(0);
	for (; n < counters; n++)
		pinned[n] =
			event_open(PERF_TYPE_RAW, EVENT_CYCLES, 0, -1, 0, 1);
	pinned[n++] = event_open(PERF_TYPE_HARDWARE, 0, 0, -1, 0, 1);
	refused = take(UPMU_MODE_CYCLES);
	sleep(3); /* what is met at each switch would be left off by then */
	tap(refused == -EBUSY && try_cycles(NULL) &&
		    in_child(child_tries, NULL) == 0,
	    "one_that_is_refused_changes_nothing_for_who_holds_one", "%d",
	    refused);
	while (n)
		close(pinned[--n]);
	close(held);
}

static int user_takes_raw(void *unused)
{
	int fd;

	(void)unused;
	if (setgid(1000) || setuid(1000))
		return 1;
	fd = take(UPMU_MODE_RAW);
	return fd < 0 ? -fd : 0;
}

static void raw_parameter_tests(void)
{
	const char *path = "/sys/module/upmu/parameters/raw";

	chmod(UPMU_DEVICE, 0666);
	tap(in_child(user_takes_raw, NULL) == EPERM,
	    "raw_root_refuses_a_user_of_the_device", NULL);
	tap(poke(path, "group") == 0, "raw_group_can_be_set", NULL);
	tap(in_child(user_takes_raw, NULL) == 0, "raw_group_grants_it", NULL);
	tap(poke(path, "anybody") == -EINVAL, "raw_of_another_word_is_einval",
	    NULL);
	poke(path, "root");
	chmod(UPMU_DEVICE, 0660);
}

/* A mode that cannot be had is refused, and INFO says why. */
static void reason_test(void)
{
	struct upmu_info info = info_of(-1);
	int fd;

	if (light == UPMU_MODE_COUNT) {
		tap(info.reason == UPMU_REASON_NONE,
		    "where_every_mode_is_granted_no_reason_is_given", "%u",
		    info.reason);
		return;
	}
	fd = take(UPMU_MODE_COUNT);
	tap(fd == -EOPNOTSUPP &&
		    info.reason == (info.flags & UPMU_INFO_PERF
					    ? UPMU_REASON_USER_ACCESS
					    : UPMU_REASON_NO_PERF_PMU),
	    "count_is_refused_where_it_goes_another_way", "%d, reason %u", fd,
	    info.reason);
}

int main(int argc, char **argv)
{
	static char path[256];

	if (argc > 1 && !strcmp(argv[1], "probe"))
		return try_cycles(NULL) ? PROBE_READS : PROBE_SIGILL;
	if (argc > 1 && !strcmp(argv[1], "take")) {
		int fd = take(light_mode());

		return fd < 0 ? -fd : 0;
	}
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0)
		self = path;
	light = light_mode();
	reason_test();
	holder_tests();
	children_tests();
	state_of_children_test();
	fork_storm_test();
	name_test();
	permission_test();
	many_leases_test();
	exec_tests();
	end_tests();
	everywhere_test();
	descriptor_tests();
	bad_argument_tests();
	longest_test();
	exclusion_tests();
	if (light == UPMU_MODE_COUNT)
		refused_beside_test();
	raw_parameter_tests();
	return tap_done();
}
