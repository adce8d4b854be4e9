// SPDX-License-Identifier: MIT
/*
 * kill_at N COMMAND... - kill -9 a program just before its Nth system call of
 * those that change something or wait for another process
 *
 * The status is COMMAND's, 137 where it was killed. What COMMAND had started
 * is waited for.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_act(long number)
{
	static const long acts[] = {
		SYS_write,    SYS_fsync,     SYS_fchmod, SYS_unlinkat,
		SYS_renameat, SYS_renameat2, SYS_clone,	 SYS_wait4,
#ifdef SYS_unlink
		SYS_unlink,
#endif
#ifdef SYS_rename
		SYS_rename,
#endif
		SYS_openat,
	};

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (acts[i] == number)
			return true;
	return false;
}

static bool enters_act(pid_t pid)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0) {
		perror("kill_at: cannot ask for the system call");
		exit(99);
	}
	return info.op == PTRACE_SYSCALL_INFO_ENTRY && is_act(info.entry.nr);
}

/* Runs @pid to its end, or to that of the @left-th act; the status. */
static int follow(pid_t pid, long left)
{
	int status, signal = 0;

	while (!ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal) &&
	       waitpid(pid, &status, 0) == pid) {
		if (WIFEXITED(status) || WIFSIGNALED(status))
			return status;
		signal = WSTOPSIG(status);
		if (signal == (SIGTRAP | 0x80)) {
			signal = 0;
			if (enters_act(pid) && --left == 0)
				kill(pid, SIGKILL);
		} else if (signal == SIGTRAP) {
			signal = 0; /* exec */
		}
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1L);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[2], argv + 2);
		perror("kill_at: cannot run the command");
		_exit(99);
	}
	waitpid(pid, &status, 0);
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))) {
		perror("kill_at: cannot trace");
		kill(pid, SIGKILL);
		return 99;
	}
	status = follow(pid, atol(argv[1]));
	while (wait(NULL) > 0)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
