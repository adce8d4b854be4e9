/* SPDX-License-Identifier: MIT */
/*
 * kmod_agents.h - processes that do what they are told, one thing at a time
 *
 * Each has a number and two pipes at fixed descriptors, which all of them
 * inherit: one may become another's parent, or execute itself anew.
 */
#ifndef UPMU_TESTS_KMOD_AGENTS_H
#define UPMU_TESTS_KMOD_AGENTS_H

#include <poll.h>
#include <sys/prctl.h>

#include "tests/boards/kmod.h"

#define AGENTS		  14
#define AGENT_PIPES	  100 /* the first of four descriptors for each */
#define AGENT_STACK	  65536
#define AGENT_PATIENCE_MS 60000
#define AGENT_THREAD                                                        \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
	 CLONE_SYSVSEM)

enum agent_act {
	AGENT_READS,  /* 1: permitted */
	AGENT_WRITES, /* the same */
	AGENT_TAKES,  /* mode, flags: a descriptor or -errno */
	AGENT_CLOSES, /* a descriptor */
	AGENT_CLOSES_A_COPY,
	AGENT_FORKS, /* number of the new one, flags of clone(): its ID */
	AGENT_EXECUTES,
	AGENT_EXECUTES_IN_A_THREAD,
	AGENT_GOES_ON_IN_A_THREAD, /* and its first thread ends */
	AGENT_ENDS,
};

struct agent_order {
	enum agent_act act;
	int a, b;
};

enum agent_end { AGENT_HEARS, AGENT_TELLS, AGENT_SAYS, AGENT_ANSWERS };

static int agent_pipe(int number, enum agent_end end)
{
	return AGENT_PIPES + 4 * number + (int)end;
}

static void agent_pipes(void)
{
	for (int number = 0; number < AGENTS; number++)
		for (int way = 0; way < 2; way++) {
			int ends[2];

			if (pipe(ends))
				exit(1);
			for (int end = 0; end < 2; end++) {
				dup2(ends[end],
				     agent_pipe(number, 2 * way + end));
				close(ends[end]);
			}
		}
}

static void agent_order(int number, enum agent_act act, int a, int b)
{
	struct agent_order order = { act, a, b };

	(void)!write(agent_pipe(number, AGENT_TELLS), &order, sizeof(order));
}

/*
 * What it answers; INT32_MIN: nothing in all that time. Who is new, or another
 * program, says its ID first.
 */
static int agent_heard(int number)
{
	struct pollfd said = { .fd = agent_pipe(number, AGENT_SAYS),
			       .events = POLLIN };
	int answer = INT32_MIN;

	if (poll(&said, 1, AGENT_PATIENCE_MS) == 1)
		(void)!read(agent_pipe(number, AGENT_SAYS), &answer,
			    sizeof(answer));
	return answer;
}

static int agent_asked(int number, enum agent_act act, int a, int b)
{
	agent_order(number, act, a, b);
	return agent_heard(number);
}

/* What an agent itself does */

static int agent(int number);

static int agent_cloned(void *number)
{
	return agent((int)(intptr_t)number);
}

static int agent_executes(void *number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)(intptr_t)number);
	/* "self" would be its first thread, which may have ended */
	execl("/proc/thread-self/exe", "kmod_random", "agent", text, NULL);
	_exit(1);
}

static int agent_clone(int (*run)(void *), int number, int flags)
{
	char *stack = mmap(NULL, AGENT_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return -errno;
	return clone(run, stack + AGENT_STACK, flags, (void *)(intptr_t)number);
}

static int agent_forks(int number, int flags)
{
	pid_t pid;

	if (flags)
		return agent_clone(agent_cloned, number, flags | SIGCHLD);
	pid = fork();
	if (!pid)
		_exit(agent(number));
	return pid;
}

static int agent_acts(int number, const struct agent_order *order)
{
	switch (order->act) {
	case AGENT_READS:
		return try_cycles(NULL);
	case AGENT_WRITES:
		return try_write();
	case AGENT_TAKES:
		return take_flags((uint32_t)order->a, (uint32_t)order->b,
				  O_CLOEXEC);
	case AGENT_CLOSES:
		return close(order->a);
	case AGENT_CLOSES_A_COPY:
		return close(dup(order->a));
	case AGENT_FORKS:
		return agent_forks(order->a, order->b);
	case AGENT_EXECUTES:
		return agent_executes((void *)(intptr_t)number);
	case AGENT_EXECUTES_IN_A_THREAD:
		agent_clone(agent_executes, number, AGENT_THREAD);
		for (;;)
			pause();
	case AGENT_GOES_ON_IN_A_THREAD:
		agent_clone(agent_cloned, number, AGENT_THREAD);
		syscall(SYS_exit, 0);
		_exit(1);
	default:
		_exit(0);
	}
}

static int agent(int number)
{
	struct agent_order order;
	int answer = getpid();

	do {
		(void)!write(agent_pipe(number, AGENT_ANSWERS), &answer,
			     sizeof(answer));
		if (read(agent_pipe(number, AGENT_HEARS), &order,
			 sizeof(order)) != sizeof(order))
			return 0;
		answer = agent_acts(number, &order);
	} while (true);
}

#endif
