// SPDX-License-Identifier: MIT
#include "trace.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* The set of registers tells what the program is, whatever upmu is. */
#define ARM_REGS_SIZE 72
#define A64_REGS_SIZE 272
#define ARM_CPSR      16 /* which word */
#define CPSR_THUMB    0x20

void trace_start(struct trace *trace, const struct child *child)
{
	long options =
		PTRACE_O_TRACECLONE | (trace->look ? PTRACE_O_TRACEEXIT : 0);

	trace->is_on = !ptrace(PTRACE_SEIZE, child->pid, NULL, (void *)options);
}

static enum instruction_set ask_set(pid_t pid)
{
	uint32_t regs[A64_REGS_SIZE / sizeof(uint32_t) + 16];
	struct iovec to = { .iov_base = regs, .iov_len = sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &to))
		return SET_UNKNOWN;
	if (to.iov_len == A64_REGS_SIZE)
		return SET_A64;
	if (to.iov_len != ARM_REGS_SIZE)
		return SET_UNKNOWN;
	return regs[ARM_CPSR] & CPSR_THUMB ? SET_THUMB : SET_ARM;
}

/* A halfword may be the last of its page. */
static bool read_code(pid_t pid, unsigned long long address,
		      enum instruction_set set, uint32_t *code)
{
	uint16_t half[2] = { 0 };
	struct iovec to = { .iov_base = half, .iov_len = sizeof(half) };
	struct iovec from = { .iov_base = (void *)(uintptr_t)address,
			      .iov_len = sizeof(half) };
	ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);

	if (got < (ssize_t)sizeof(half[0]) && set == SET_THUMB) {
		from.iov_len = to.iov_len = sizeof(half[0]);
		got = process_vm_readv(pid, &to, 1, &from, 1, 0);
	}
	if (set == SET_THUMB) {
		bool is_long = half[0] >= 0xe800; /* DDI 0406C A6.1 */

		*code = is_long ? (uint32_t)half[0] << 16 | half[1] : half[0];
		return got >= (is_long ? 4 : 2);
	}
	*code = half[0] | (uint32_t)half[1] << 16;
	return got == sizeof(half);
}

static void look_at(struct trace *trace, pid_t pid)
{
	siginfo_t info;

	trace->set = SET_UNKNOWN;
	trace->was_sent = false;
	if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &info))
		return;
	trace->was_sent = info.si_code <= 0;
	if (trace->was_sent)
		return;
	trace->address = (uintptr_t)info.si_addr;
	trace->set = ask_set(pid);
	if (!read_code(pid, trace->address, trace->set, &trace->code))
		trace->set = SET_UNKNOWN;
}

/* A stop of the program's own, ^Z, has to last. */
static bool is_group_stop(int event, int number)
{
	return event == PTRACE_EVENT_STOP &&
	       (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN ||
		number == SIGTTOU);
}

static void go_on(struct trace *trace, pid_t pid, int status)
{
	int event = status >> 16, number = WSTOPSIG(status);

	if (is_group_stop(event, number)) {
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return;
	}
	if (!event && number == SIGILL)
		look_at(trace, pid);
	if (trace->look &&
	    (event == PTRACE_EVENT_EXIT || (!event && number == SIGILL)))
		trace->look(trace->data);
	ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)(event ? 0 : number));
}

/* All that there is to be told; threads end silently. */
static void reap(struct trace *trace, struct child *child)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0) {
		if (WIFSTOPPED(status)) {
			go_on(trace, pid, status);
		} else if (pid == child->pid) {
			child->status = status;
			child->usage = usage;
			child->ended = true;
			return;
		}
	}
	if (pid < 0 && errno == ECHILD)
		child->ended = true;
}

void trace_wait(struct trace *trace, struct child *child)
{
	sigset_t mask;
	siginfo_t info;

	if (!trace->is_on) {
		child_wait(child);
		return;
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (reap(trace, child); !child->ended; reap(trace, child))
		if (sigwaitinfo(&mask, &info) > 0 && info.si_signo != SIGCHLD)
			child_pass_on(child, &info);
}
