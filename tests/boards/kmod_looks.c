// SPDX-License-Identifier: MIT
/*
 * kmod_looks - a program that looks whether the counters are on before it reads
 *
 * As libx264 does on 32-bit ARM: where PMUSERENR is not 0 it reads PMCR, writes
 * PMCNTENSET and only then reads the cycle counter.
 */
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "tests/boards/kmod_page_goes.h"

#define OPEN "/sys/module/upmu/parameters/open"

enum { RUNS, STANDS_STILL, CLOSED, OFF, SKIPS_TOO_MUCH, STAYS };

static int looks(void *unused)
{
	uint32_t first;

	(void)unused;
	if (!upmu_regs_user_access())
		return CLOSED;
	if (!(upmu_regs_control() & UPMU_CONTROL_E))
		return OFF;
	upmu_regs_enable(UPMU_MASK_CYCLES);
	first = upmu_regs_cycles32();
	spin_loop(1000);
	return upmu_regs_cycles32() == first ? STANDS_STILL : RUNS;
}

/* As compilers write it: the instruction is the first of an IT block. */
static int looks_if(void *unused)
{
	int after = 0;

	(void)unused;
#ifdef __arm__
	uint32_t control = 0, equal = 1;

	__asm__ volatile(".syntax unified\n"
			 "cmp	%2, #1\n"
			 "itee	eq\n"
			 "mrceq	p15, 0, %0, c9, c12, 0\n"
			 "addne	%1, #1\n"
			 "addne	%1, #2\n"
			 "add	%1, #4\n"
			 : "+r"(control), "+r"(after)
			 : "r"(equal)
			 : "cc");
	if (!(control & UPMU_CONTROL_E))
		return OFF;
#else
	after = 4;
#endif
	return after == 4 ? RUNS : SKIPS_TOO_MUCH;
}

static int looks_in_a_page_that_goes(void *unused)
{
	(void)unused;
	if (!page_goes())
		return STAYS;
	for (int n = 0; n < PAGE_READS; n++)
		if (!(page_read(false) & UPMU_CONTROL_E))
			return OFF;
	return RUNS;
}

static void page_test(void)
{
	const char *claim = "also_where_its_page_is_taken_away_meanwhile";
	int status;

	if (cpus_online() < 2) {
		tap_skip(claim, "one CPU");
		return;
	}
	status = in_child(looks_in_a_page_that_goes, NULL);
	tap(status == RUNS, claim, "%d", status);
}

/* Reads PMCR and returns: two instructions. */
void looks_and_returns(void);
#ifdef __aarch64__
__asm__(".text\n"
	"looks_and_returns: mrs x0, pmcr_el0\n"
	"	ret\n");
#define PC_AT 32 /* of user_pt_regs, in registers */
#else
__asm__(".text\n"
	".syntax unified\n"
	".arm\n"
	".type looks_and_returns, %function\n"
	"looks_and_returns: mrc p15, 0, r0, c9, c12, 0\n"
	"	bx	lr\n");
#define PC_AT 15
#endif

static int is_stepped(void *unused)
{
	(void)unused;
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	looks_and_returns();
	return RUNS;
}

static uintptr_t traced_pc(pid_t traced)
{
	uintptr_t registers[64] = { 0 };
	struct iovec set = { registers, sizeof(registers) };

	ptrace(PTRACE_GETREGSET, traced, (void *)NT_PRSTATUS, &set);
	return registers[PC_AT];
}

/* How far the step goes that begins at the reading of PMCR; 0: none did. */
static uintptr_t one_step(pid_t traced)
{
	uintptr_t from = (uintptr_t)looks_and_returns, pc = 0;
	int status;

	for (int n = 0; n < 20000; n++) {
		if (ptrace(PTRACE_SINGLESTEP, traced, 0, 0) ||
		    waitpid(traced, &status, 0) != traced ||
		    !WIFSTOPPED(status))
			return 0;
		if (pc == from)
			return traced_pc(traced) - from;
		pc = traced_pc(traced);
	}
	return 0;
}

static void step_test(void)
{
	const char *claim = "a_debuggers_step_over_it_is_one_instruction";
	pid_t traced = fork();
	uintptr_t step;
	int status;

	if (!traced)
		_exit(is_stepped(NULL));
	waitpid(traced, &status, 0);
	if (ptrace(PTRACE_SINGLESTEP, traced, 0, 0)) {
		tap_skip(claim, "a kernel of 32 bits steps nothing");
	} else {
		waitpid(traced, &status, 0);
		step = one_step(traced);
		tap(step == 4, claim, "%ld bytes", (long)step);
	}
	kill(traced, SIGKILL);
	waitpid(traced, &status, 0);
}

#ifdef __arm__
static int calls_what_is_no_call(void *unused)
{
	register long number __asm__("r7") = 0x0f0801; /* past ARM's own */
	register long value __asm__("r0") = 5;

	(void)unused;
	__asm__ volatile("svc	#0" : "+r"(value) : "r"(number) : "memory");
	return (int)value;
}

static void call_test(void)
{
	int status = in_child(calls_what_is_no_call, NULL);

	tap(status == -SIGILL, "what_is_no_system_call_is_sigill_as_ever", "%d",
	    status);
}
#else
static void call_test(void)
{
}
#endif

static int is_undefined(void *unused)
{
	(void)unused;
	pin(0);
	__asm__ volatile("udf	#0");
	return RUNS;
}

static long look_ns(void)
{
	double begun = seconds();

	for (int n = 0; n < 100; n++)
		(void)upmu_regs_control();
	return (long)((seconds() - begun) * 1e7);
}

/*
 * Before another one on this CPU has had all its 64 tries, which take as long
 * as looks do: 65 us on the board of one CPU, where that is exact. Longer on a
 * slow kernel, where shorter pauses left no time for anybody else.
 */
static void looks_again_and_again(void)
{
	struct timespec pause = { 0, 14000 + 16 * look_ns() };
	struct sched_param priority = { .sched_priority = 1 };

	pin(0);
	sched_setscheduler(0, SCHED_FIFO, &priority);
	for (;;) {
		(void)upmu_regs_control();
		nanosleep(&pause, NULL);
	}
}

/* 0: it had to be killed. */
static int status_until(double end, pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0 && seconds() < end)
		usleep(10000);
	kill(pid, SIGKILL);
	return status;
}

static void undefined_test(void)
{
	const char *claim = "undefined_is_sigill_also_beside_one_that_looks";
	pid_t looker, other;
	int status;

	looker = fork();
	if (!looker)
		looks_again_and_again();
	usleep(50000); /* until it does */
	other = fork();
	if (!other)
		_exit(is_undefined(NULL));
	status = status_until(seconds() + 20, other);
	tap(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL, claim, "%x",
	    (unsigned int)status);
	kill(looker, SIGKILL);
	while (wait(NULL) > 0)
		;
}

#ifdef __arm__
/* T32's of 16 bits are the last in memory: 32 cannot be read there. */
static void last_in_memory_is_undefined(void)
{
	size_t page = (size_t)getpagesize();
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *last = memory + page - 2;

	munmap(memory + page, page);
	memcpy(last, "\x00\xde", 2); /* UDF */
	__builtin___clear_cache(last, memory + page);
	pin(0);
	((void (*)(void))(last + 1))();
}

/* At once: each is tried while the other one waits. */
static void two_undefined_test(void)
{
	const char *claim = "two_that_are_undefined_and_not_read_are_sigill";
	double end = seconds() + 20;
	pid_t pids[2];
	int first, second;

	for (int n = 0; n < 2; n++) {
		pids[n] = fork();
		if (!pids[n]) {
			last_in_memory_is_undefined();
			_exit(RUNS);
		}
	}
	first = status_until(end, pids[0]);
	second = status_until(end, pids[1]);
	tap(WIFSIGNALED(first) && WTERMSIG(first) == SIGILL &&
		    WIFSIGNALED(second) && WTERMSIG(second) == SIGILL,
	    claim, "%x, %x", (unsigned int)first, (unsigned int)second);
	while (wait(NULL) > 0)
		;
}
#else
static void two_undefined_test(void)
{
}
#endif

static int resets(void *unused)
{
	(void)unused;
	upmu_regs_change_control(0, UPMU_CONTROL_C);
	return 0;
}

static int stops(void *unused)
{
	(void)unused;
	upmu_regs_change_control(UPMU_CONTROL_E, 0);
	return 0;
}

static int divides(void *unused)
{
	(void)unused;
	upmu_regs_change_control(0, UPMU_CONTROL_D);
	return 0;
}

static int starts_another(void *unused)
{
	(void)unused;
	upmu_regs_enable(1);
	return 0;
}

static int switches_off(void *unused)
{
	(void)unused;
	upmu_regs_disable(UPMU_MASK_CYCLES);
	return 0;
}

static void changes_tests(void)
{
	static const struct {
		int (*run)(void *unused);
		const char *claim;
	} changes[] = {
		{ resets, "setting_the_cycle_counter_to_0_is_sigill" },
		{ stops, "stopping_all_is_sigill" },
		{ divides, "dividing_by_64_is_sigill" },
		{ starts_another, "starting_an_event_counter_is_sigill" },
		{ switches_off, "switching_the_cycle_counter_off_is_sigill" },
	};

	for (size_t n = 0; n < sizeof(changes) / sizeof(*changes); n++) {
		int status = in_child(changes[n].run, NULL);

		tap(status == -SIGILL, changes[n].claim, "%d", status);
	}
}

int main(void)
{
	int fd = take_flags(UPMU_MODE_CYCLES, UPMU_LEASE_CHILDREN, O_CLOEXEC);
	int status = in_child(looks, NULL);

	tap(fd >= 0 && status == RUNS,
	    "under_a_cycles_lease_a_program_may_look_first", "%d, %d", fd,
	    status);
	status = in_child(looks_if, NULL);
	tap(status == RUNS, "and_goes_on_at_the_next_instruction", "%d",
	    status);
	page_test();
	step_test();
	call_test();
	undefined_test();
	two_undefined_test();
	changes_tests();
	sleep(1); /* Linux makes a probe faster some time after it was set */
	for (int n = 0; n < 50 && status == RUNS; n++)
		status = in_child(looks, NULL);
	tap(status == RUNS, "also_later_and_often", "%d", status);
	close(fd);
	status = in_child(looks, NULL);
	tap(status == CLOSED || status == -SIGILL, "without_a_lease_it_may_not",
	    "%d", status);
	poke(OPEN, "cycles");
	status = in_child(looks, NULL);
	tap(status == RUNS, "under_open_cycles_every_program_may", "%d",
	    status);
	changes_tests();
	poke(OPEN, "none");
	status = in_child(looks, NULL);
	tap(status == CLOSED || status == -SIGILL, "and_none_after_it", "%d",
	    status);
	return tap_done();
}
