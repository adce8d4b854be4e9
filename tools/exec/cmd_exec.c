// SPDX-License-Identifier: MIT
/*
 * upmu exec: run a program that reads the PMU's registers itself, with the
 * registers open to it and to its children.
 *
 * Where the kernel opens them (arm64 since 5.17, kernel.perf_user_access=1), by
 * an inherited perf event that user mode may read, one for each kind of core;
 * elsewhere by a lease of upmu.ko, which upmu holds for the program, and by
 * nothing where open=all has opened them to everybody.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/command.h"
#include "tools/kernel.h"
#include "lib/module/lease.h"
#include "lib/perf/perf.h"
#include "lib/perf/pmus.h"
#include "lib/sys.h"
#include "upmu.h"
#include "upmu/uapi.h"
#include "trace.h"

#define EVENT_CPU_CYCLES 0x11 /* DDI 0487 D13.12: architectural */
#define TAKEN_TRIES	 50
#define TAKEN_PAUSE_US	 10000
#define LOST_LEAST_NS	 10000000
#define DEATH_LEAST_NS	 100000 /* of one that died since */
#define CONFIG1_LONG	 0x1	/* arm64: the whole 64-bit register */

/* What keeps the registers open while the program runs. */
struct opening {
	int lease;
	int event[UPMU_PMUS_MAX];
	int events;
	int clock; /* of the same tasks, which nobody can take; -1: none */
	bool was_lost;
};

static void close_opening(struct opening *opening)
{
	upmu_lease_release(opening->lease);
	while (opening->events > 0)
		close(opening->event[--opening->events]);
	if (opening->clock >= 0)
		close(opening->clock);
}

/* 1: it does, 0: it could, -1: it cannot */
static int kernel_opens(void)
{
	long value;

	if (upmu_sys_read_long(UPMU_USER_ACCESS, &value))
		return -1;
	return value != 0;
}

static int fail(const char *act)
{
	fprintf(stderr, "upmu exec: cannot %s: %s\n", act, upmu_explain());
	return -1;
}

/*
 * The permission goes with the event: it is there on a CPU whose PMU has one
 * of the program's events, and the program's children inherit the events.
 * Pinned, because an event that others' events push out takes the permission
 * along, and the program gets SIGILL.
 */
static int open_on_pmu(const struct upmu_pmu *pmu, pid_t pid, uint32_t flags)
{
	const struct upmu_perf_target target = {
		.pid = pid,
		.cpu = -1,
		.group_fd = -1,
		.flags = flags | UPMU_PERF_INHERIT | UPMU_PERF_USER_READ |
			 UPMU_PERF_PINNED,
	};
	const struct upmu_perf_event event = {
		.name = "cycles",
		.type = pmu->type,
		.config = EVENT_CPU_CYCLES,
		.config1 = CONFIG1_LONG,
		.is_cpu = true,
	};

	return upmu_perf_open(&event, &target);
}

/* A pinned event that did not get its counter reads as the end. */
static bool has_lost_counter(int fd)
{
	struct upmu_value value;

	return upmu_perf_read(fd, &value) == -EIO;
}

/* The kernel forgets it when the program ends. */
static void look_whether_lost(void *data)
{
	struct opening *opening = data;

	for (int i = 0; i < opening->events; i++)
		opening->was_lost |= has_lost_counter(opening->event[i]);
}

static int open_clock(pid_t pid, uint32_t flags)
{
	const struct upmu_perf_target target = {
		.pid = pid,
		.cpu = -1,
		.group_fd = -1,
		.flags = flags | UPMU_PERF_INHERIT,
	};
	const struct upmu_perf_event event = {
		.name = "task-clock",
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};

	return upmu_perf_open(&event, &target);
}

/*
 * An inherited event that lost its counter cannot be asked, but its time stands
 * still: of its task the clock has more. Else it has less, up to 13 % of a task
 * that hardly runs: the kernel starts it later and ends it sooner. On unlike
 * cores each has but the time on its own kind. A host that takes the CPU away
 * between the two gives the clock more: 6.4 ms on an emulated board.
 */
static void look_whether_a_child_lost(struct opening *opening, int status)
{
	struct upmu_value clock, cycles;
	uint64_t on_ns = 0, least_ns = LOST_LEAST_NS;

	if (status == 128 + SIGILL)
		least_ns = DEATH_LEAST_NS;
	if (opening->clock < 0 || upmu_perf_read(opening->clock, &clock))
		return;
	for (int i = 0; i < opening->events; i++) {
		if (upmu_perf_read(opening->event[i], &cycles))
			return;
		on_ns += cycles.running_ns;
	}
	if (clock.enabled_ns > on_ns + least_ns &&
	    clock.enabled_ns / 100 * 99 > on_ns)
		opening->was_lost = true;
}

/* False: it is not there, or not for this user. */
static bool module_tells(struct upmu_info *info)
{
	int fd = upmu_device_open(info);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* @flags: what perf wants of this user is added. */
static bool is_taken(const struct upmu_pmu *pmu, uint32_t *flags)
{
	int fd = open_on_pmu(pmu, 0, *flags);
	bool taken;

	if (fd == -EACCES && !*flags) {
		*flags = UPMU_PERF_EXCLUDE_KERNEL;
		fd = open_on_pmu(pmu, 0, *flags);
	}
	taken = fd >= 0 && has_lost_counter(fd);
	if (fd >= 0)
		close(fd);
	return taken;
}

/*
 * Who has the cycle counter in a pinned event of a CPU keeps it: the program
 * would read that one's count, and die of SIGILL when that one goes. The module
 * gives it back some time after its last lease has ended.
 */
static int refuse_if_taken(const struct upmu_pmu *pmu, uint32_t *flags)
{
	bool taken = is_taken(pmu, flags);
	struct upmu_info info;

	for (int n = 0; taken && n < TAKEN_TRIES; n++) {
		usleep(TAKEN_PAUSE_US);
		taken = is_taken(pmu, flags);
	}
	if (!taken)
		return 0;
	if (upmu_sys_exists(UPMU_STATE) && !module_tells(&info)) {
		fputs("upmu exec: another user of perf has the cycle counter "
		      "for good (pinned), or upmu.ko has it, which may not be "
		      "asked\n"
		      "hint: cat " UPMU_STATE "\n",
		      stderr);
		return -1;
	}
	fputs("upmu exec: another user of perf has the cycle counter for good "
	      "(pinned)\n"
	      "hint: end it ('pgrep -a perf' may show it), or the upmu exec "
	      "around this one\n",
	      stderr);
	return -1;
}

static int open_by_perf(struct opening *opening, pid_t pid)
{
	struct upmu_pmu pmus[UPMU_PMUS_MAX];
	int n = upmu_pmus_list(pmus);
	uint32_t flags = 0;

	for (int i = 0; i < n; i++) {
		int fd;

		/* First: the program's event, once without it, stays so. */
		if (refuse_if_taken(&pmus[i], &flags))
			return -1;
		fd = open_on_pmu(&pmus[i], pid, flags);
		if (fd < 0)
			return fail("open the cycle counter to the program");
		opening->event[opening->events++] = fd;
	}
	opening->clock = open_clock(pid, flags);
	if (n > 0 && flags)
		fputs("upmu exec: the counter runs in user mode only: "
		      "kernel.perf_event_paranoid is 2\n"
		      "hint: sudo sysctl kernel.perf_event_paranoid=1\n",
		      stderr);
	if (n <= 0)
		fputs("upmu exec: perf has no PMU on this machine\n"
		      "hint: upmu check\n",
		      stderr);
	return n > 0 ? 0 : -1;
}

static bool is_open_to_all(void)
{
	struct upmu_info info;

	return module_tells(&info) && info.open == UPMU_OPEN_ALL;
}

/* Beside arm64's own way all that the module grants has the cycle counter. */
static bool module_has_cycles(void)
{
	struct upmu_info info;

	return module_tells(&info) && (info.open || info.leases);
}

static int open_by_lease(struct opening *opening, bool raw)
{
	int error = upmu_lease_take(&opening->lease,
				    raw ? UPMU_MODE_RAW : UPMU_MODE_CYCLES,
				    UPMU_LEASE_CHILDREN | UPMU_LEASE_EXEC);
	struct kernel kernel;

	if (!error)
		return 0;
	if (!raw && error == -ENXIO && kernel_opens() == 0) {
		fputs("upmu exec: this kernel opens the registers by itself, "
		      "but is told not to: kernel.perf_user_access is 0\n"
		      "hint: sudo sysctl kernel.perf_user_access=1\n",
		      stderr);
		return -1;
	}
	if (error == -EBUSY && is_open_to_all())
		return 0;
	kernel_read(&kernel);
	if (error == -ENXIO && !kernel.is_arm) {
		fputs("upmu exec: this processor has no such registers\n"
		      "hint: upmu stat -- COMMAND\n",
		      stderr);
		return -1;
	}
	return fail("lease the registers");
}

/* A lease must be there before the fork, an event needs the child's pid. */
static int start(struct child *child, struct opening *opening, bool raw,
		 char **command)
{
	bool by_lease = raw || kernel_opens() != 1 || module_has_cycles();
	int error;

	if (by_lease && open_by_lease(opening, raw))
		return -1;
	error = child_fork(child, command);
	if (error) {
		fprintf(stderr, "upmu exec: cannot start a process: %s\n",
			strerror(-error));
		return -1;
	}
	if (!by_lease && open_by_perf(opening, child->pid)) {
		child_kill(child);
		child_done(child);
		return -1;
	}
	return 0;
}

static void warn_if_broken(const struct opening *opening)
{
	if (opening->lease >= 0 && upmu_lease_check(opening->lease))
		fprintf(stderr,
			"upmu exec: do not trust the program's counts: %s\n",
			upmu_explain());
	if (opening->was_lost)
		fputs("upmu exec: do not trust the program's counts: another "
		      "user of perf took the cycle counter while it ran\n",
		      stderr);
}

/* On ARMv6 and ARMv7 a lease of the cycle counter permits writing, too. */
static void tell_what_was_written(const struct opening *opening)
{
	static const char *const what[] = {
		"stopped, divided or exported counters",
		"switched counters on or off",
		"changed what counters count",
		"set counters",
	};
	struct upmu_info info;
	const char *comma = "";

	if (opening->lease < 0 || upmu_device_info(opening->lease, &info) ||
	    !info.lease_written)
		return;
	fputs("upmu exec: the program ", stderr);
	for (int bit = 0; bit < 4; bit++)
		if (info.lease_written & 1u << bit) {
			fprintf(stderr, "%s%s", comma, what[bit]);
			comma = ", ";
		}
	fputs(" that are not its own and were put right; its counts, and those "
	      "of others, may lack a part\nhint: upmu exec --raw\n",
	      stderr);
}

static bool reads_cycles(const struct undefined *what)
{
	return !what->writes && (!strncmp(what->name, "PMCCNTR", 7) ||
				 !strcmp(what->name, "CCNT"));
}

static const char *serves(const struct undefined *what, bool raw, bool was_lost)
{
	if (!what->name[0])
		return "it is none of the PMU's registers\n";
	if (what->kernel_only)
		return "no setting opens that to programs\n";
	if (reads_cycles(what) && was_lost)
		return "which was opened to it until another user of perf took "
		       "the cycle counter\n";
	if (reads_cycles(what))
		return "which was opened to it: a program that changes its "
		       "privileges when it is executed (set-user-ID) loses "
		       "that\n";
	if (raw)
		return "which this kernel keeps closed\nhint: upmu check\n";
	return "which is open to programs that have all counters\n"
	       "hint: upmu exec --raw\n";
}

static void tell_of_unseen(const char *who, bool raw, bool was_lost)
{
	if (was_lost) {
		fprintf(stderr,
			"upmu exec: %s executed an instruction that it may not "
			"since another user of perf took the cycle counter\n",
			who);
		return;
	}
	fprintf(stderr,
		"upmu exec: %s executed an instruction that it may not%s", who,
		raw ? "\n"
		    : "; one that sets counters up itself wants all of them\n"
		      "hint: upmu exec --raw\n");
}

/* Without a trace nobody knows what it was. */
static void tell_of_sigill(const struct trace *trace, bool raw, bool was_lost)
{
	struct undefined what;

	if (trace->was_sent)
		return;
	if (trace->set == SET_UNKNOWN) {
		tell_of_unseen("the program", raw, was_lost);
		return;
	}
	undefined_describe(&what, trace->set, trace->code);
	fprintf(stderr,
		"upmu exec: the program died of '%s' at 0x%llx: ", what.text,
		trace->address);
	if (what.name[0])
		fprintf(stderr, "it %s %s, ", what.writes ? "writes" : "reads",
			what.name);
	fputs(serves(&what, raw, was_lost), stderr);
}

/* What is not traced, a shell tells by the same status. */
static void tell_of_end(const struct trace *trace, const struct child *child,
			bool raw, bool was_lost)
{
	if (WIFSIGNALED(child->status))
		tell_of_sigill(trace, raw, was_lost);
	else
		tell_of_unseen("what the program started", raw, was_lost);
}

static int run(bool raw, char **command)
{
	struct opening opening = { .lease = -1, .clock = -1 };
	struct trace trace = { .data = &opening };
	struct child child;
	int error, status;

	if (start(&child, &opening, raw, command)) {
		close_opening(&opening);
		return EXIT_FAILED;
	}
	trace.look = opening.events ? look_whether_lost : NULL;
	trace_start(&trace, &child);
	error = child_go(&child);
	if (error) {
		fprintf(stderr, "upmu exec: cannot execute '%s': %s\n",
			command[0], strerror(-error));
		status = child_exec_status(error);
	} else {
		trace_wait(&trace, &child);
		status = child_exit_status(&child);
		look_whether_a_child_lost(&opening, status);
		warn_if_broken(&opening);
		tell_what_was_written(&opening);
	}
	child_done(&child);
	close_opening(&opening);
	if (error)
		return status;
	if (status == 128 + SIGILL)
		tell_of_end(&trace, &child, raw, opening.was_lost);
	if (WIFSIGNALED(child.status))
		return child_end_like(WTERMSIG(child.status));
	return status;
}

static void print_help(void)
{
	puts("usage: upmu exec [--raw] [--] COMMAND [ARGUMENT...]\n"
	     "Run a program that reads the PMU's registers itself (mrc, mrs),\n"
	     "with the registers open to it and to its children.\n\n"
	     "  --raw    all counters, for a program that also sets them up;\n"
	     "           without it the cycle counter, running freely\n"
	     "  --help   this text\n\n"
	     "The exit status is the program's; 125: the registers could not\n"
	     "be opened, 126: COMMAND cannot be executed, 127: not found.");
}

int cmd_exec(int argc, char **argv)
{
	static const struct option options[] = {
		{ "raw", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool raw = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "+h", options, NULL)) >= 0) {
		switch (letter) {
		case 'r':
			raw = true;
			break;
		case 'h':
			print_help();
			return 0;
		default:
			fputs("hint: upmu exec --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc) {
		fputs("upmu exec: no command to run\n"
		      "hint: upmu exec -- ./old-benchmark\n",
		      stderr);
		return EXIT_USAGE;
	}
	return run(raw, argv + optind);
}
