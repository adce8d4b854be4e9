// SPDX-License-Identifier: MIT
/*
 * How many stores does a[i] = i make, a hundred times? Two each, says the
 * disassembly of unoptimised code: one into the array, one for i. The article
 * "ARM PMU test" expected 200 and read 206.
 *
 *	cc -marm stores.c $(pkg-config --cflags --libs libupmu)
 *	upmu exec --raw -- ./a.out
 *
 * Build it without optimisation. trace_stores runs the same binary without any
 * counter and says, function by function, where the other stores come from.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

#include <upmu/raw.h>

#define SIZE 100

#define INST_RETIRED 0x08 /* DDI 0406C C12.8.2 */
#define ST_RETIRED   0x07 /* the same */

/* Event counters 0 and 1 run; user mode only, so that no interrupt counts. */
#define INSTRUCTIONS 0
#define STORES	     1
#define BOTH	     0x3

struct reading {
	unsigned int instructions, stores;
};

static volatile sig_atomic_t closed;

/* In a trace the registers are closed: step over the instruction. */
static void skip_instruction(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	closed = 1;
	((ucontext_t *)context)->uc_mcontext.arm_pc += 4;
}

static void start_counters(void)
{
	upmu_raw_start(BOTH);
}

static void stop_counters(void)
{
	upmu_raw_stop(BOTH);
}

static struct reading read_counters(void)
{
	struct reading reading = { (unsigned int)upmu_raw_counter(INSTRUCTIONS),
				   (unsigned int)upmu_raw_counter(STORES) };

	upmu_raw_reset_counters();
	return reading;
}

static struct reading count_nothing(void)
{
	start_counters();
	stop_counters();
	return read_counters();
}

static struct reading count_loop(void)
{
	int a[SIZE], i = 0;

	start_counters();
	for (; i < SIZE; i++)
		a[i] = i;
	stop_counters();
	(void)a;
	return read_counters();
}

static void configure(void)
{
	upmu_raw_stop(BOTH);
	upmu_raw_set_event(INSTRUCTIONS, INST_RETIRED | UPMU_TYPE_P);
	upmu_raw_set_event(STORES, ST_RETIRED | UPMU_TYPE_P);
	upmu_raw_reset_counters();
	upmu_raw_enable();
}

static void report(struct reading empty, struct reading loop)
{
	printf("%-24s %12s %12s\n", "", "instructions", "stores");
	printf("%-24s %12s %12d\n", "the loop, by its listing", "", 2 * SIZE);
	if (loop.stores)
		printf("%-24s %12u %12u\n%-24s %12u %12u\n", "read",
		       loop.instructions, loop.stores, "read, empty taken off",
		       loop.instructions - empty.instructions,
		       loop.stores - empty.stores);
	else
		printf("%-24s %12u %12s\n%-24s %12u %12s\n", "read",
		       loop.instructions, "<not counted>",
		       "read, empty taken off",
		       loop.instructions - empty.instructions, "<not counted>");
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = skip_instruction,
				    .sa_flags = SA_SIGINFO };
	struct reading empty, loop;

	sigaction(SIGILL, &action, NULL);
	configure();
	empty = count_nothing();
	loop = count_loop();
	if (closed) {
		puts("the registers are closed: nothing was counted");
		return 1;
	}
	report(empty, loop);
	return 0;
}
