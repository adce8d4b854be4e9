// SPDX-License-Identifier: MIT
/*
 * kmod_readers SECONDS - arm64: holders and readers by kernel.perf_user_access
 *
 * perf's driver writes the permission register as well; neither those whom it
 * permits nor those who hold a lease ever get SIGILL, whatever else goes on.
 */
#include "tests/boards/kmod_page_goes.h"

#define CYCLES_EVENT 0x11
#define MANY	     1000

static struct {
	volatile int stop;
	volatile uint64_t reads, illegal;
} * all;

static double length;

static void handle(void)
{
	struct sigaction action = { .sa_handler = kmod_on_illegal,
				    .sa_flags = SA_NODEFER };

	sigaction(SIGILL, &action, NULL);
}

/* As perf_user_access allows; @lease: beside a CYCLES lease of its own. */
static void read_pages(bool lease)
{
	struct counter counter;
	uint64_t value;

	if (lease && take(UPMU_MODE_CYCLES) < 0)
		_exit(3);
	counter = counter_open(pmu_type_here(), CYCLES_EVENT);
	if (!counter.page)
		_exit(2);
	while (!all->stop) {
		if (sigsetjmp(kmod_illegal, 0)) {
			all->illegal++;
			usleep(1000);
			continue;
		}
		all->reads += counter_page(&counter, &value);
	}
	_exit(0);
}

static void read_cycles(uint32_t mode)
{
	if (take(mode) < 0)
		_exit(3);
	while (!all->stop) {
		if (sigsetjmp(kmod_illegal, 0)) {
			all->illegal++;
			usleep(1000);
			continue;
		}
		upmu_regs_cycles32();
		all->reads++;
	}
	_exit(0);
}

enum reader { PAGES, PAGES_LEASED, CYCLES, RAW };

/* However late this machine lets the reader run. */
static void wait_for_reads(uint64_t reads)
{
	for (double end = seconds() + 60;
	     all->reads < reads && !all->illegal && seconds() < end;)
		usleep(1000);
}

static void start(enum reader reader)
{
	memset((void *)all, 0, sizeof(*all));
	pin(0);
	if (fork()) {
		wait_for_reads(1);
		return;
	}
	handle();
	pin(cpus_online() - 1);
	if (reader == PAGES || reader == PAGES_LEASED)
		read_pages(reader == PAGES_LEASED);
	read_cycles(reader == RAW ? UPMU_MODE_RAW : UPMU_MODE_CYCLES);
}

static void finish(const char *claim)
{
	int status, failed = 0;

	wait_for_reads(MANY);
	all->stop = 1;
	while (wait(&status) > 0)
		failed |= status;
	tap(!failed && all->reads >= MANY && !all->illegal, claim,
	    "%llu reads, %llu SIGILL, status %x",
	    (unsigned long long)all->reads, (unsigned long long)all->illegal,
	    failed);
}

static void others_lease(void)
{
	for (double end = seconds() + length; seconds() < end;) {
		int fd = take(UPMU_MODE_CYCLES);

		usleep(20000);
		close(fd);
		usleep(20000);
	}
}

static void others_sample(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW,
					.size = sizeof(attr),
					.config = 0x11,
					.sample_period = 2000000 };
	long fd = syscall(__NR_perf_event_open, &attr, -1, cpus_online() - 1,
			  -1, PERF_FLAG_FD_CLOEXEC);

	usleep((useconds_t)(length * 1e6));
	close((int)fd);
}

static void owner_writes(void)
{
	for (double end = seconds() + length; seconds() < end; usleep(20000))
		poke("/proc/sys/kernel/perf_user_access", "0");
	poke("/proc/sys/kernel/perf_user_access", "1");
}

/* On a kernel at EL2, too, the kernel's cycles are counted. */
static void kernel_test(void)
{
	int fd = take(UPMU_MODE_CYCLES);
	uint64_t first, second, third;
	double begun, between, end;

	begun = seconds();
	first = upmu_regs_cycles64();
	spin_loop(3000000);
	between = seconds();
	second = upmu_regs_cycles64();
	for (int n = 0; n < 100000; n++)
		syscall(__NR_getppid);
	end = seconds();
	third = upmu_regs_cycles64();
	tap((third - second) / (end - between) >
		    (second - first) / (between - begun) / 2,
	    "the_cycle_counter_counts_the_kernel_too",
	    "%.2f cycles a ns in user mode, %.2f in system calls",
	    (second - first) / (between - begun) / 1e9,
	    (third - second) / (end - between) / 1e9);
	close(fd);
}

static int reads_on(void *cpu)
{
	pin(*(int *)cpu);
	usleep(10000);
	return try_cycles(NULL);
}

/* Switched off under a lease that began while somebody was reading. */
static void off_test(uint32_t mode, const char *claim)
{
	int cpu = cpus_online() - 1, lease, during, afterwards;

	start(PAGES);
	pin(0);
	lease = take(mode);
	all->stop = 1;
	while (wait(NULL) > 0)
		;
	poke("/proc/sys/kernel/perf_user_access", "0");
	during = in_child(reads_on, &cpu);
	close(lease);
	afterwards = in_child(reads_on, &cpu);
	tap(lease >= 0 && !during && !afterwards, claim, "%d, %d, %d", lease,
	    during, afterwards);
	poke("/proc/sys/kernel/perf_user_access", "1");
}

static int late_ready[2], late_go[2];
static bool late_page_goes; /* and it reads on, in a page that is taken away */

static bool reads_on_in_a_page_that_goes(void)
{
	if (!page_goes())
		return false;
	for (int n = 0; n < PAGE_READS; n++)
		page_read(true);
	return true;
}

/* The index was looked at, the register not yet, when RAW took the counter. */
static int late_reader(void *config)
{
	struct counter counter =
		counter_open(pmu_type_here(), *(const uint64_t *)config);
	uint32_t sequence, index;
	char byte = 0;

	if (!counter.page)
		return 2;
	handle();
	sequence = counter.page->lock;
	index = counter.page->index;
	(void)!write(late_ready[1], &byte, 1);
	(void)!read(late_go[0], &byte, 1);
	if (sigsetjmp(kmod_illegal, 0))
		return 3;
	if (index == 32)
		upmu_regs_cycles32();
	else if (index)
		upmu_regs_counter(index - 1);
	if (late_page_goes && !reads_on_in_a_page_that_goes())
		return 4;
	return !index || counter.page->lock == sequence;
}

/* Another one takes RAW, whom perf's driver permits nothing. */
static void late_test(uint64_t config, const char *claim)
{
	int others, lease, status = -1;
	pid_t reader;
	char byte;

	pin(0);
	if (pipe(late_ready) || pipe(late_go))
		return;
	reader = fork();
	if (!reader)
		_exit(late_reader(&config));
	(void)!read(late_ready[0], &byte, 1);
	others = event_open(pmu_type_here(), CYCLES_EVENT, 0, 0, -1, 0);
	lease = take(UPMU_MODE_RAW);
	(void)!write(late_go[1], &byte, 1);
	waitpid(reader, &status, 0);
	tap(lease >= 0 && !status, claim, "%d, status %x", lease, status);
	close(lease);
	close(others);
	for (int end = 0; end < 2; end++) {
		close(late_ready[end]);
		close(late_go[end]);
	}
}

int main(int argc, char **argv)
{
	length = argc > 1 ? atof(argv[1]) : 2;
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	kernel_test();
	if (poke("/proc/sys/kernel/perf_user_access", "1")) {
		tap_skip("readers_by_perf_user_access", "this kernel has none");
		return tap_done();
	}
	late_test(CYCLES_EVENT,
		  "a_reader_whom_raw_meets_at_the_register_goes_on");
	late_test(0x08, "also_at_an_event_counters");
	late_page_goes = true;
	late_test(CYCLES_EVENT,
		  "and_where_the_page_of_its_code_is_taken_away_meanwhile");
	start(PAGES);
	others_lease();
	finish("a_reader_by_perf_user_access_reads_through_others_leases");
	start(PAGES_LEASED);
	others_lease();
	finish("so_does_one_that_holds_a_lease_too");
	start(CYCLES);
	others_sample();
	finish("a_cycles_holder_reads_beside_sampling");
	start(CYCLES);
	owner_writes();
	finish("and_while_perf_user_access_is_switched_off");
	start(RAW);
	others_sample();
	finish("a_raw_holder_reads_beside_sampling");
	start(RAW);
	owner_writes();
	finish("and_while_perf_user_access_is_switched_off_too");
	off_test(UPMU_MODE_RAW, "what_is_switched_off_under_raw_stays_off");
	off_test(UPMU_MODE_CYCLES, "and_what_is_under_cycles");
	return tap_done();
}
