// SPDX-License-Identifier: MIT
/*
 * kmod_writers - whose doing it was that registers were written
 *
 * kmod_writers        has others write under leases, looks who is named
 * kmod_writers turns  two write, by_open without a lease and by_lease
 * kmod_writers open   at_once: opens, writes, closes, and no other runs
 * kmod_writers writes
 */
#include <sys/prctl.h>
#include <sys/timerfd.h>

#include "tests/boards/kmod.h"

#define PEEK "/proc/upmu_peek"

/* What only permission to write allows, and the module notices. */
static int writes(void *unused)
{
	(void)unused;
	upmu_regs_enable(1);
	upmu_regs_isb();
	return 0;
}

/* Runs here as soon as @timer says. */
static void cuts_in(int timer)
{
	struct sched_param param = { .sched_priority = 1 };
	uint64_t times;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sched_setscheduler(0, SCHED_FIFO, &param);
	while (read(timer, &times, sizeof(times)) == sizeof(times))
		;
	_exit(1);
}

static void writes_and_executes(int timer, int us)
{
	struct itimerspec when = { .it_value.tv_nsec = us * 1000 };

	timerfd_settime(timer, 0, &when, NULL);
	writes(NULL);
	execl("/bin/true", "true", NULL);
	_exit(1);
}

/* A switch after @us: 1 where what was written before is told of the lease. */
static int told_after(int timer, int us)
{
	int lease =
		take_flags(UPMU_MODE_COUNT,
			   UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC, O_CLOEXEC);
	int status = -1, told;
	pid_t writer = fork();

	if (!writer)
		writes_and_executes(timer, us);
	waitpid(writer, &status, 0);
	told = lease >= 0 && !status && info_of(lease).lease_written;
	close(lease);
	return told;
}

#define EXEC_US	     3000
#define EXEC_STEP_US 20

/* While it executes a program it has that one's memory already, for a while. */
static void exec_test(void)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), missed = 0;
	pid_t beside = fork();

	if (!beside)
		cuts_in(timer);
	for (int us = EXEC_STEP_US; us < EXEC_US; us += EXEC_STEP_US)
		missed += !told_after(timer, us);
	tap(!missed,
	    "what_a_process_wrote_before_it_executed_a_program_is_told",
	    "%d missed", missed);
	kill(beside, SIGKILL);
	waitpid(beside, NULL, 0);
	close(timer);
}

/* Permitted as its memory is the holder's, but another process. */
static void shares_memory_test(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int lease = take(UPMU_MODE_COUNT);
	pid_t writer =
		clone(writes, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	waitpid(writer, NULL, 0);
	tap(info_of(lease).lease_written & UPMU_WRITTEN_ENABLES,
	    "and_what_one_wrote_that_shares_its_memory", "%x",
	    info_of(lease).lease_written);
	close(lease);
}

static volatile int its_turn;

static int writes_in_turn(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!its_turn)
		usleep(1000);
	return writes(unused);
}

static volatile int other_holds;

static int holds_and_is_told(void *unused)
{
	int lease = take(UPMU_MODE_COUNT);

	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	other_holds = 1;
	while (!its_turn)
		usleep(1000);
	return !(info_of(lease).lease_written & UPMU_WRITTEN_ENABLES);
}

/* Neither covers it; both permit it. */
static void two_hold_test(void)
{
	static char stacks[2][65536] __attribute__((aligned(16)));
	int lease = take(UPMU_MODE_COUNT), untold = -1;
	pid_t other = clone(holds_and_is_told, (char *)&stacks[1],
			    CLONE_VM | SIGCHLD, NULL);
	pid_t writer;

	while (!other_holds)
		usleep(1000);
	writer = clone(writes, (char *)&stacks[2], CLONE_VM | SIGCHLD, NULL);
	waitpid(writer, NULL, 0);
	its_turn = 1;
	waitpid(other, &untold, 0);
	tap(!untold && info_of(lease).lease_written,
	    "to_each_that_holds_one_in_it", "%d, %x", untold,
	    info_of(lease).lease_written);
	close(lease);
}

enum who { ANOTHER_BESIDE_LATER, ANOTHER_BESIDE_EARLIER, ITSELF };

/* Of two or three that share memory one was covered, by a lease that ended. */
static bool told_beside_once_covered(enum who who)
{
	static char stacks[2][65536] __attribute__((aligned(16)));
	int lease = who == ANOTHER_BESIDE_LATER ? take(UPMU_MODE_COUNT) : -1;
	int ended = take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	pid_t once, writer;
	bool told;

	its_turn = 0;
	once = clone(writes_in_turn, (char *)&stacks[1], CLONE_VM | SIGCHLD,
		     NULL);
	close(ended);
	if (who != ANOTHER_BESIDE_LATER)
		lease = take(UPMU_MODE_COUNT);
	its_turn = who == ITSELF;
	writer = its_turn ? once
			  : clone(writes, (char *)&stacks[2],
				  CLONE_VM | SIGCHLD, NULL);
	waitpid(writer, NULL, 0);
	told = info_of(lease).lease_written & UPMU_WRITTEN_ENABLES;
	close(lease);
	kill(once, SIGKILL);
	waitpid(once, NULL, 0);
	return told;
}

static void once_covered_test(void)
{
	pid_t other = fork(); /* while it holds one, none is forgotten */
	bool told[3];

	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		take(UPMU_MODE_COUNT);
		while (pause() < 0)
			;
	}
	for (int n = 0; n < 20000 && !info_of(-1).leases; n++)
		usleep(1000);
	for (int who = 0; who < 3; who++)
		told[who] = told_beside_once_covered(who);
	tap(told[0] && told[1] && told[2],
	    "also_where_one_of_them_was_covered_by_one_that_ended",
	    "%d, %d, %d", told[0], told[1], told[2]);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* Before all that works in the background. */
static int go_first(void)
{
	struct sched_param param = { .sched_priority = 1 };

	return sched_setscheduler(0, SCHED_FIFO, &param);
}

static int executes_at_once(void *unused)
{
	writes(unused);
	execl("/bin/true", "true", NULL);
	_exit(1);
}

/* Its memory is another one when it is looked at, and nobody ran meanwhile. */
static int vfork_and_execute(void *unused)
{
	static char stack[65536] __attribute__((aligned(16)));
	int lease, status = -1;
	pid_t writer;

	(void)unused;
	prctl(PR_SET_NAME, "vforks");
	lease = take(UPMU_MODE_COUNT);
	if (lease < 0 || go_first())
		return 1;
	writer = clone(executes_at_once, stack + sizeof(stack),
		       CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	waitpid(writer, &status, 0);
	return status ? 2 : 16 + (int)info_of(lease).lease_written;
}

static void vfork_test(void)
{
	int written = in_child(vfork_and_execute, NULL);

	tap(written == 16 + UPMU_WRITTEN_ENABLES,
	    "also_before_it_executes_a_program_at_once", "%d", written);
	tap(!system("dmesg | grep 'lease of vforks' >/tmp/said && "
		    "! grep 'the process vforks' /tmp/said"),
	    "the_log_does_not_say_that_the_holder_did_it_itself", NULL);
}

/* Somebody else took the registers, and the holder wrote, too. */
static void broken_test(void)
{
	int lease = take(UPMU_MODE_CYCLES), copy = dup(lease);
	struct upmu_info info;
	uint32_t was;

	poke(PEEK, "0 wrap 1");
	was = info_of(copy).lease_state;
	writes(NULL);
	close(lease);
	poke(PEEK, "0 wrap 0");
	info = info_of(copy);
	tap(was == UPMU_STATE_BROKEN && info.lease_written,
	    "and_what_a_holder_wrote_whose_lease_is_broken", "%u, %x", was,
	    info.lease_written);
	close(copy);
}

static struct {
	int ready, turn;
} * shared;

static int turn(void)
{
	return __atomic_load_n(&shared->turn, __ATOMIC_SEQ_CST);
}

/* Writes when it is its turn, and ends when both have. */
static void takes_turn(int mine, const char *name, bool has_lease)
{
	int failed;

	prctl(PR_SET_NAME, name);
	failed = has_lease && take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN,
					 O_CLOEXEC) < 0;
	failed |= go_first();
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) < 2)
		usleep(1000);
	while (turn() < mine)
		sched_yield();
	writes(NULL);
	__atomic_store_n(&shared->turn, mine + 1, __ATOMIC_SEQ_CST);
	while (turn() < 2)
		sched_yield();
	_exit(failed);
}

/* 0, or that one failed */
static int take_turns(const char *first, bool has_lease, const char *second)
{
	int status, failed = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	if (!fork())
		takes_turn(0, first, has_lease);
	if (!fork())
		takes_turn(1, second, true);
	while (wait(&status) > 0)
		failed |= status;
	return failed;
}

/* Both are told after the second wrote. */
static void named_test(void)
{
	int failed = take_turns("first", true, "second");

	tap(!failed &&
		    !system("[ $(dmesg | grep -c 'lease of \\(first\\|second\\)"
			    " (pid \\([0-9]*\\)) the process \\1 (pid \\2) "
			    "wrote') = 2 ]"),
	    "of_two_that_write_each_is_named_for_its_own_lease", "%d", failed);
}

static int child_writes(void *unused)
{
	prctl(PR_SET_NAME, "the_child");
	return writes(unused);
}

static void child_named_test(void)
{
	int lease = take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	int failed = in_child(child_writes, NULL);

	close(lease);
	tap(!failed &&
		    !system("dmesg | grep 'lease of kmod_writers (pid ' |"
			    " grep -q 'the process the_child (pid .* wrote'"),
	    "and_a_child_that_writes_beside_whose_lease_it_is", "%d", failed);
}

/* Many leases in a moment, of one that calls itself what it should not. */
static int writes_often(void *rounds)
{
	double end = seconds() + 2;
	bool named = true;

	prctl(PR_SET_NAME, "be\nfore\033[2J");
	for (int n = 0; n < *(int *)rounds && seconds() < end; n++) {
		int lease = take(UPMU_MODE_COUNT);

		named &= !strcmp(info_of(lease).holder_comm, "be?fore?[2J");
		writes(NULL);
		close(lease);
	}
	return !named;
}

static void log_test(void)
{
	int rounds = 300, failed = in_child(writes_often, &rounds);

	tap(!failed &&
		    !system("dmesg | grep -q 'lease of be?fore?\\[2J (pid'") &&
		    system("dmesg | grep -q '^fore'"),
	    "names_are_one_line_of_plain_text_in_the_log_and_info", "%d",
	    failed);
	tap(!system("[ $(dmesg | grep -c 'wrote the PMU') -le 100 ]"),
	    "and_the_log_is_not_flooded", NULL);
}

static int reads_only(void *unused)
{
	int lease;

	(void)unused;
	prctl(PR_SET_NAME, "innocent");
	lease = take(UPMU_MODE_COUNT);
	upmu_regs_cycles32();
	leave_the_cpu();
	close(lease);
	return lease < 0;
}

static void innocent_test(void)
{
	int failed = in_child(reads_only, NULL);

	tap(!failed && system("dmesg | grep -q 'lease of innocent'"),
	    "and_nobody_who_wrote_nothing", "%d", failed);
}

/* A holder in another's family. */
static int child_holds(void *unused)
{
	int lease = take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	int failed = in_child(writes, unused);

	return lease < 0 || failed || !info_of(lease).lease_written;
}

static void nested_test(void)
{
	int lease = take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	int failed = in_child(child_holds, NULL);

	tap(!failed && info_of(lease).lease_written,
	    "what_a_grandchild_wrote_is_told_to_both_that_cover_it", "%d, %x",
	    failed, info_of(lease).lease_written);
	close(lease);
}

/* Two leases of one family, of which one covers what it executes. */
static int child_executes(void *unused)
{
	static const uint32_t flags = UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC;
	int plain = take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	int lease = take_flags(UPMU_MODE_COUNT, flags, O_CLOEXEC);
	pid_t writer = fork();

	(void)unused;
	if (!writer) {
		execl("/proc/self/exe", "kmod_writers", "writes", NULL);
		_exit(1);
	}
	waitpid(writer, NULL, 0);
	return (lease < 0) | !info_of(lease).lease_written << 1 |
	       (plain < 0) << 2 | !!info_of(plain).lease_written << 3;
}

static void not_covered_test(void)
{
	int outer = take_flags(UPMU_MODE_COUNT, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	int failed = in_child(child_executes, NULL);

	tap(!failed && outer >= 0 && !info_of(outer).lease_written,
	    "but_not_to_those_that_do_not_cover_who_executed_a_program",
	    "%x, %x", (unsigned int)failed, info_of(outer).lease_written);
	close(outer);
}

static int open_and_close(void)
{
	static const char open_file[] = "/sys/module/upmu/parameters/open";

	prctl(PR_SET_NAME, "at_once");
	if (go_first() || poke(open_file, "cycles"))
		return 1;
	writes(NULL);
	return poke(open_file, "none") != 0;
}

int main(int argc, char **argv)
{
	pin(0);
	if (argc > 1 && !strcmp(argv[1], "turns"))
		return take_turns("by_open", false, "by_lease");
	if (argc > 1 && !strcmp(argv[1], "writes"))
		return writes(NULL);
	if (argc > 1)
		return open_and_close();
	log_test();
	exec_test();
	sleep(2); /* the log tells of so many a second */
	shares_memory_test();
	two_hold_test();
	once_covered_test();
	vfork_test();
	broken_test();
	named_test();
	child_named_test();
	innocent_test();
	nested_test();
	not_covered_test();
	return tap_done();
}
