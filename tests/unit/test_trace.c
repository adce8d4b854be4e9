// SPDX-License-Identifier: MIT
/* Where a program died of an instruction, on a machine that is made up: its
 * registers and its memory are told by the test. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/exec/trace.h"

#define ADDRESS	 0x10400ull
#define ARM_REGS 72
#define A64_REGS 272
#define CPSR	 16
#define THUMB	 0x20

/* What there is of the program: @regs_size bytes of registers, its code. */
static struct {
	size_t regs_size;
	uint32_t cpsr;
	const void *code;
	size_t code_size;
	bool was_sent, has_no_regs;
	unsigned int looked_at;
} machine;

static void count_look(void *looks)
{
	++*(unsigned int *)looks;
}

static long tell_regs(struct iovec *to)
{
	uint32_t *regs = to->iov_base;

	if (machine.has_no_regs)
		return -1;
	memset(regs, 0, machine.regs_size);
	to->iov_len = machine.regs_size;
	if (machine.regs_size == ARM_REGS)
		regs[CPSR] = machine.cpsr;
	return 0;
}

long __real_ptrace(int request, pid_t pid, void *address, void *data);
long __wrap_ptrace(int request, pid_t pid, void *address, void *data);
long __wrap_ptrace(int request, pid_t pid, void *address, void *data)
{
	siginfo_t *info = data;

	if (request == PTRACE_GETREGSET)
		return tell_regs(data);
	if (request != PTRACE_GETSIGINFO)
		return __real_ptrace(request, pid, address, data);
	machine.looked_at++;
	*info = (siginfo_t){ .si_signo = SIGILL,
			     .si_code =
				     machine.was_sent ? SI_USER : ILL_ILLOPC };
	info->si_addr = (void *)(uintptr_t)ADDRESS;
	return 0;
}

/* Behind the code there is no memory: all that was asked for, or nothing. */
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to,
				unsigned long n_to, const struct iovec *from,
				unsigned long n_from, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to,
				unsigned long n_to, const struct iovec *from,
				unsigned long n_from, unsigned long flags)
{
	(void)pid, (void)flags;
	assert_int_equal(n_to, 1);
	assert_int_equal(n_from, 1);
	assert_int_equal((uintptr_t)from->iov_base, ADDRESS);
	assert_int_equal(to->iov_len, from->iov_len);
	if (from->iov_len > machine.code_size)
		return -1;
	memcpy(to->iov_base, machine.code, from->iov_len);
	return (ssize_t)from->iov_len;
}

/* Its status, and how often it was to be looked at. */
static int run_to_end(char *script, struct trace *trace, unsigned int *looks)
{
	char *command[] = { "sh", "-c", script, NULL };
	struct child child;

	machine.looked_at = *looks = 0;
	*trace = (struct trace){ .look = count_look, .data = looks };
	assert_int_equal(child_fork(&child, command), 0);
	trace_start(trace, &child);
	if (!trace->is_on) {
		child_kill(&child);
		child_done(&child);
		puts("# no process may be traced here");
		skip();
	}
	assert_int_equal(child_go(&child), 0);
	trace_wait(trace, &child);
	child_done(&child);
	return child.status;
}

static struct trace run(char *script)
{
	struct trace trace;
	unsigned int looks;
	int status = run_to_end(script, &trace, &looks);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGILL);
	return trace;
}

static char dies[] = "kill -ILL $$";

static void expect(enum instruction_set set, uint32_t code)
{
	struct trace trace = run(dies);

	assert_int_equal(machine.looked_at, 1);
	assert_int_equal(trace.set, set);
	if (set == SET_UNKNOWN)
		return;
	assert_int_equal(trace.address, ADDRESS);
	assert_int_equal(trace.code, code);
}

static void set_code(size_t regs_size, uint32_t cpsr, const void *code,
		     size_t size)
{
	memset(&machine, 0, sizeof(machine));
	machine.regs_size = regs_size;
	machine.cpsr = cpsr;
	machine.code = code;
	machine.code_size = size;
}

static void the_registers_tell_which_instructions_a_program_has(void **state)
{
	static const uint32_t mrc = 0xee190f1d;

	(void)state;
	set_code(ARM_REGS, 0x10, &mrc, 4);
	expect(SET_ARM, mrc);
	set_code(A64_REGS, 0, &mrc, 4);
	expect(SET_A64, mrc);
	set_code(ARM_REGS - 4, 0x10, &mrc, 4);
	expect(SET_UNKNOWN, 0);
	set_code(ARM_REGS, 0x10, &mrc, 4);
	machine.has_no_regs = true;
	expect(SET_UNKNOWN, 0);
}

static void thumbs_first_halfword_is_the_upper_one(void **state)
{
	static const uint16_t mrc[] = { 0xee19, 0x0f1d };
	static const uint16_t first_long[] = { 0xe800, 0x1234 };

	(void)state;
	set_code(ARM_REGS, 0x10 | THUMB, mrc, 4);
	expect(SET_THUMB, 0xee190f1d);
	set_code(ARM_REGS, THUMB, first_long, 4);
	expect(SET_THUMB, 0xe8001234);
}

static void a_short_instruction_is_one_halfword(void **state)
{
	static const uint16_t udf[] = { 0xde00, 0xee19 };
	static const uint16_t last_short[] = { 0xe7ff, 0x1234 };

	(void)state;
	set_code(ARM_REGS, THUMB, udf, 4);
	expect(SET_THUMB, 0xde00);
	set_code(ARM_REGS, THUMB, last_short, 4);
	expect(SET_THUMB, 0xe7ff);
}

static void it_may_be_the_last_one_of_its_page(void **state)
{
	static const uint16_t udf = 0xde00, half_of_mrc = 0xee19;

	(void)state;
	set_code(ARM_REGS, THUMB, &udf, 2);
	expect(SET_THUMB, 0xde00);
	set_code(ARM_REGS, THUMB, &half_of_mrc, 2);
	expect(SET_UNKNOWN, 0);
	set_code(ARM_REGS, 0, &udf, 2);
	expect(SET_UNKNOWN, 0);
	set_code(ARM_REGS, THUMB, &udf, 0);
	expect(SET_UNKNOWN, 0);
}

static void a_signal_that_somebody_sent_is_no_instruction(void **state)
{
	static const uint32_t mrc = 0xee190f1d;

	(void)state;
	set_code(ARM_REGS, 0, &mrc, 4);
	machine.was_sent = true;
	expect(SET_UNKNOWN, 0);
}

static void other_signals_reach_the_program_and_are_not_looked_at(void **state)
{
	static const uint32_t mrc = 0xee190f1d;
	static char handles[] = "trap 'kill -ILL $$' USR1; kill -USR1 $$; "
				"exit 1";

	(void)state;
	set_code(ARM_REGS, 0, &mrc, 4);
	run(handles);
	assert_int_equal(machine.looked_at, 1);
}

static void each_is_looked_at_and_the_last_one_told(void **state)
{
	static const uint32_t mrc = 0xee190f1d;
	static char twice[] = "trap : ILL; kill -ILL $$; trap - ILL; "
			      "kill -ILL $$";

	(void)state;
	set_code(ARM_REGS, 0, &mrc, 4);
	assert_int_equal(run(twice).code, mrc);
	assert_int_equal(machine.looked_at, 2);
}

static void what_the_program_starts_is_none_of_its_threads(void **state)
{
	static const uint32_t mrc = 0xee190f1d;
	static char starts[] = "exec 2>/dev/null; sh -c 'kill -ILL $$'; "
			       "kill -ILL $$";

	(void)state;
	set_code(ARM_REGS, 0, &mrc, 4);
	run(starts);
	assert_int_equal(machine.looked_at, 1);
}

static void
its_events_are_looked_at_before_the_kernel_forgets_them(void **state)
{
	static const uint32_t mrc = 0xee190f1d;
	static char ends[] = "kill -CONT $$; exit 3";
	struct trace trace;
	unsigned int looks;
	int status;

	(void)state;
	set_code(ARM_REGS, 0, &mrc, 4);
	status = run_to_end(ends, &trace, &looks);
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_int_equal(looks, 1);
	run_to_end(dies, &trace, &looks);
	assert_int_equal(looks, 2);
}

/* As ^Z and fg do; what it is told meanwhile it hears afterwards. */
static void a_program_that_stops_stays_so_until_it_is_continued(void **state)
{
	static const uint32_t mrc = 0xee190f1d;
	static char stops[] = "n=1; trap n=7 USR1; (sleep 0.2; "
			      "kill -USR1 $$; kill -CONT $$) & "
			      "kill -STOP $$; exit $n";
	struct trace trace;
	unsigned int looks;
	int status;

	(void)state;
	set_code(ARM_REGS, 0, &mrc, 4);
	status = run_to_end(stops, &trace, &looks);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_registers_tell_which_instructions_a_program_has),
		cmocka_unit_test(thumbs_first_halfword_is_the_upper_one),
		cmocka_unit_test(a_short_instruction_is_one_halfword),
		cmocka_unit_test(it_may_be_the_last_one_of_its_page),
		cmocka_unit_test(a_signal_that_somebody_sent_is_no_instruction),
		cmocka_unit_test(
			other_signals_reach_the_program_and_are_not_looked_at),
		cmocka_unit_test(each_is_looked_at_and_the_last_one_told),
		cmocka_unit_test(
			what_the_program_starts_is_none_of_its_threads),
		cmocka_unit_test(
			its_events_are_looked_at_before_the_kernel_forgets_them),
		cmocka_unit_test(
			a_program_that_stops_stays_so_until_it_is_continued),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
