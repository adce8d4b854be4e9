// SPDX-License-Identifier: MIT
/*
 * kmod_shared - leases of processes that share memory, descriptors, or a tracer
 */
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tests/boards/kmod.h"

static char stack[65536] __attribute__((aligned(16)));

static bool over(int fd)
{
	struct pollfd waits = { .fd = fd, .events = 0, .revents = 0 };

	return poll(&waits, 1, 20000) == 1 && waits.revents & POLLHUP;
}

/* Descriptors that travel */

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static bool pass_on(int socket, int fd)
{
	char byte = 'x';
	struct iovec data = { &byte, 1 };
	union control control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1;
}

static int receive(int socket)
{
	char byte;
	int fd = -1;
	struct iovec data = { &byte, 1 };
	union control control;
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int takes_and_passes_on(void *socket)
{
	int fd = take(light_mode());

	return fd < 0 || !try_cycles(NULL) || !pass_on(*(int *)socket, fd);
}

static void passed_test(void)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = light_mode() };
	int sockets[2], fd, status, again;

	(void)!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	status = in_child(takes_and_passes_on, &sockets[0]);
	/* nobody has it but the socket */
	tap(status == 0 && no_leases_soon(),
	    "a_lease_ends_with_its_holder_while_its_descriptor_is_on_its_way",
	    "%d", status);
	fd = receive(sockets[1]);
	again = ioctl(fd, UPMU_IOC_LEASE, &lease) ? -errno : 0;
	tap(fd >= 0 && over(fd) && !try_cycles(NULL) && again == -EALREADY,
	    "who_receives_it_has_one_that_is_over", "%d, %d", fd, again);
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
}

static int takes_on_received(void *socket)
{
	struct upmu_lease lease = { .size = sizeof(lease),
				    .mode = light_mode() };
	int fd = receive(*(int *)socket);

	if (ioctl(fd, UPMU_IOC_LEASE, &lease) || !try_cycles(NULL))
		return 1;
	(void)!write(*(int *)socket, "x", 1);
	pause();
	return 2;
}

/* Whose it is says who took the lease, not who opened the device. */
static void given_test(void)
{
	int sockets[2], fd = open(UPMU_DEVICE, O_RDWR | O_CLOEXEC);
	bool own, kept;
	pid_t taker;
	char byte;

	(void)!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	taker = fork();
	if (!taker)
		_exit(takes_on_received(&sockets[1]));
	pass_on(sockets[0], fd);
	(void)!read(sockets[0], &byte, 1);
	own = try_cycles(NULL);
	close(dup(fd));
	kept = info_of(fd).leases == 1 && info_of(fd).holder_pid == taker;
	kill(taker, SIGKILL);
	waitpid(taker, NULL, 0);
	tap(!own && kept && over(fd),
	    "one_taken_on_a_descriptor_of_another_is_the_takers", "%d, %d", own,
	    kept);
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
}

/* Sent to each other, the sockets are reachable by nobody. */
static int loses_in_a_circle(void *unused)
{
	int sockets[2], fd = take(light_mode());

	(void)unused;
	return fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
	       !pass_on(sockets[0], fd) || !pass_on(sockets[0], sockets[1]) ||
	       !pass_on(sockets[1], sockets[0]);
}

static void circle_test(void)
{
	int status = in_child(loses_in_a_circle, NULL), none = no_leases_soon();
	double end = seconds() + 20;
	int unloaded;

	do { /* the kernel looks for such when it closes another socket */
		int others[2];

		if (!socketpair(AF_UNIX, SOCK_STREAM, 0, others)) {
			close(others[0]);
			close(others[1]);
		}
		usleep(50000);
		unloaded = !system("rmmod upmu 2>/dev/null");
	} while (!unloaded && seconds() < end);
	tap(status == 0 && none && unloaded && !system("insmod /upmu/upmu.ko"),
	    "one_in_a_circle_of_sockets_keeps_no_module", "%d, %d, %d", status,
	    none, unloaded);
}

/* Memory that is shared by processes */

struct sharer {
	volatile int turn;
	volatile int saw[4];
};

static void wait_for(volatile int *turn, int value)
{
	while (*turn < value)
		usleep(1000);
}

static int shares(void *data)
{
	struct sharer *sharer = data;

	sharer->saw[0] = try_cycles(NULL);
	sharer->turn = 1;
	wait_for(&sharer->turn, 2);
	sharer->saw[1] = try_cycles(NULL);
	sharer->turn = 3;
	wait_for(&sharer->turn, 4);
	_exit(0);
}

/* No thread, but a process of its own with this one's memory. */
static void outlives(uint32_t flags, bool exits, const char *claim)
{
	struct sharer *sharer =
		mmap(NULL, sizeof(*sharer), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t holder = fork();

	if (!holder) {
		int fd = take_flags(light_mode(), flags, O_CLOEXEC);

		clone(shares, stack + sizeof(stack), CLONE_VM | CLONE_PARENT,
		      sharer);
		wait_for(&sharer->turn, 1);
		if (exits)
			_exit(fd < 0);
		execl("/bin/true", "true", NULL);
	}
	waitpid(holder, NULL, 0);
	no_leases_soon();
	sharer->turn = 2;
	wait_for(&sharer->turn, 3);
	sharer->turn = 4;
	while (wait(NULL) > 0) /* it is this one's child */
		;
	tap(sharer->saw[0] && !sharer->saw[1] && no_leases_soon(), claim,
	    "%d %d", sharer->saw[0], sharer->saw[1]);
	munmap(sharer, sizeof(*sharer));
}

/* The sharer takes one itself; the first one's end leaves it. */
static int shares_and_takes(void *data)
{
	struct sharer *sharer = data;
	int fd = take(light_mode());

	sharer->turn = 1;
	wait_for(&sharer->turn, 2);
	sharer->saw[0] = try_cycles(NULL);
	close(fd);
	sharer->saw[1] = try_cycles(NULL);
	sharer->turn = 3;
	_exit(0);
}

static void both_test(void)
{
	struct sharer *sharer =
		mmap(NULL, sizeof(*sharer), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = take(light_mode());
	pid_t other = clone(shares_and_takes, stack + sizeof(stack),
			    CLONE_VM | SIGCHLD, sharer);

	wait_for(&sharer->turn, 1);
	close(fd);
	sharer->saw[2] = try_cycles(NULL); /* by the other's */
	sharer->turn = 2;
	waitpid(other, NULL, 0);
	tap(sharer->saw[0] && !sharer->saw[1] && sharer->saw[2] &&
		    !try_cycles(NULL) && no_leases_soon(),
	    "of_two_that_share_memory_each_has_what_either_holds", "%d %d %d",
	    sharer->saw[0], sharer->saw[1], sharer->saw[2]);
	munmap(sharer, sizeof(*sharer));
}

/* Whichever of them ends, the rest are found by the memory that they share. */
#define SHARERS 5

static volatile int taken;

static int takes_and_stays(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	taken += take(light_mode()) >= 0 ? 1 : SHARERS;
	while (pause() < 0)
		;
	return 0;
}

/* How many had ended when this one's permission did. */
static int sharers_end(void *unused)
{
	static const int order[SHARERS] = { 0, 4, 2, 1, 3 };
	static char stacks[SHARERS][16384] __attribute__((aligned(16)));
	pid_t pids[SHARERS];
	int n;

	(void)unused;
	for (n = 0; n < SHARERS; n++) {
		pids[n] = clone(takes_and_stays, (char *)&stacks[n + 1],
				CLONE_VM | SIGCHLD, NULL);
		while (taken <= n)
			sched_yield();
	}
	for (n = 0; n < SHARERS && try_cycles(NULL); n++) {
		kill(pids[order[n]], SIGKILL);
		waitpid(pids[order[n]], NULL, 0);
	}
	return try_cycles(NULL) ? 255 : n;
}

static void many_test(void)
{
	int ended = in_child(sharers_end, NULL);

	tap(ended == SHARERS && no_leases_soon(),
	    "among_many_whoever_ends_first_the_rest_keep_theirs", "%d of %d",
	    ended, SHARERS);
}

/* Programs that cannot be executed */

static int fails_to_execute(void *unused)
{
	int fd = take(light_mode()), before = try_cycles(NULL), n;
	static const char *const programs[] = { "/none", "/proc/upmu",
						"/broken" };
	int file = open("/broken", O_CREAT | O_WRONLY | O_TRUNC, 0755);

	(void)unused;
	(void)!write(file, "\177ELF\1\1\1 of no machine", 22);
	close(file);
	for (n = 0; n < 3; n++)
		execl(programs[n], "no", NULL);
	return !(fd >= 0 && before && try_cycles(NULL) &&
		 info_of(-1).leases == 1);
}

static int dies_executing(void *unused)
{
	(void)unused;
	if (take_flags(light_mode(), UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC,
		       O_CLOEXEC) < 0)
		return 1;
	execl("/fatal", "no", NULL);
	return 2;
}

/* A program whose segments lie where the kernel is: its memory is gone by then.
 */
static void make_fatal(void)
{
	static unsigned char image[4096];
	int in = open("/proc/self/exe", O_RDONLY), out, at, size, number;
	bool wide;

	if (read(in, image, sizeof(image)) < 1000)
		return;
	close(in);
	wide = image[4] == 2;
	at = wide ? 64 : 52;
	size = wide ? 56 : 32;
	number = image[wide ? 56 : 44];
	for (int n = 0; n < number; n++) {
		unsigned char *segment = image + at + n * size;

		if (segment[0] == 1) /* PT_LOAD: p_vaddr */
			memset(segment + (wide ? 16 : 8), 0xff, wide ? 8 : 4);
	}
	out = open("/fatal", O_CREAT | O_WRONLY | O_TRUNC, 0755);
	(void)!write(out, image, sizeof(image));
	close(out);
}

static void exec_test(void)
{
	int status = in_child(fails_to_execute, NULL);

	tap(status == 0 && no_leases_soon(),
	    "one_that_fails_to_execute_a_program_keeps_its_lease", "%d",
	    status);
	make_fatal();
	status = in_child(dies_executing, NULL);
	tap(status < 0 && no_leases_soon() && !try_cycles(NULL),
	    "one_that_dies_of_it_has_none", "%d", status);
}

/* A tracer */

static int is_traced(void *unused)
{
	(void)unused;
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	if (take(light_mode()) < 0)
		return 1;
	raise(SIGSTOP);
	return !try_cycles(NULL);
}

static void tracer_test(void)
{
	pid_t traced = fork();
	int status, own;

	if (!traced)
		_exit(is_traced(NULL));
	waitpid(traced, &status, 0);
	own = try_cycles(NULL);
	while (WIFSTOPPED(
		status)) { /* one instruction at a time, for a while */
		static int steps;

		if (steps++ > 2000 ||
		    ptrace(PTRACE_SINGLESTEP, traced, 0, 0)) /* not on ARM */
			ptrace(PTRACE_CONT, traced, 0, 0);
		waitpid(traced, &status, 0);
	}
	tap(!own && WIFEXITED(status) && !WEXITSTATUS(status) &&
		    no_leases_soon(),
	    "a_tracer_has_nothing_of_its_holders_and_takes_nothing_away",
	    "%d, %x", own, (unsigned int)status);
}

static int closes(void *fd)
{
	return close(*(int *)fd);
}

/* Of one table of descriptors; no close of the holder's own tells its end. */
static void table_test(void)
{
	int fd = take(light_mode()), status = -1;
	bool held = fd >= 0 && try_cycles(NULL);
	pid_t closer = clone(closes, stack + sizeof(stack),
			     CLONE_FILES | SIGCHLD, &fd);

	waitpid(closer, &status, 0);
	tap(held && !status && no_leases_soon() && !try_cycles(NULL),
	    "one_that_another_closes_in_its_holders_place_is_over", "%d, %x",
	    held, (unsigned int)status);
}

/* What goes from one process to another by a socket. */
static void socket_tests(void)
{
	int probe = socket(AF_UNIX, SOCK_STREAM, 0);

	if (probe < 0) {
		tap_skip("what_is_passed_on_by_a_socket_is_the_holders",
			 "this kernel has no AF_UNIX");
		return;
	}
	close(probe);
	passed_test();
	given_test();
	circle_test();
}

int main(void)
{
	socket_tests();
	table_test();
	outlives(0, true, "who_shares_a_holders_memory_has_it_until_it_exits");
	outlives(UPMU_LEASE_CHILDREN, true, "also_as_a_child_that_is_covered");
	outlives(UPMU_LEASE_CHILDREN, false, "or_until_it_executes_a_program");
	both_test();
	many_test();
	exec_test();
	tracer_test();
	return tap_done();
}
