// SPDX-License-Identifier: MIT
/*
 * kmod_vcpu - leases beside a virtual machine of KVM's
 *
 * While a vCPU is loaded the permission register is KVM's, which puts back what
 * was there before: after the scheduler has gone on to another process. If it
 * is written meanwhile, what the guest permits its own programs traps.
 */
#include <linux/kvm.h>
#include <stddef.h>
#include <sys/utsname.h>

#include "tests/boards/kmod.h"

#define SECONDS 2
#define ROUNDS	100

#define GUEST_ADDRESS 0x40000000
#define GUEST_SIZE    0x10000

/*
 * Permits the cycle counter to its user mode, which reads it for ever; what
 * goes wrong is told by a write to where there is nothing. x0 is 0 where it has
 * no PMU: it works then.
 */
__asm__(".pushsection .rodata\n"
	".balign 2048\n"
	".globl guest_begin, guest_end\n"
	"guest_begin:\n"
	"	cbz x0, .\n"
	"	adr x0, guest_vectors\n"
	"	msr vbar_el1, x0\n"
	"	mov x0, #1\n"
	"	msr pmuserenr_el0, x0\n"
	"	adr x0, guest_user\n"
	"	msr elr_el1, x0\n"
	"	msr spsr_el1, xzr\n"
	"	isb\n"
	"	eret\n"
	"guest_user:\n"
	"	mrs x1, pmccntr_el0\n"
	"	b guest_user\n"
	".balign 2048\n"
	"guest_vectors:\n"
	".rept 16\n"
	"	mov x2, #0x9000000\n"
	"	str xzr, [x2]\n"
	".balign 128\n"
	".endr\n"
	"guest_end:\n"
	".popsection\n");
extern const char guest_begin[], guest_end[];

/* What machine_runs() ends with beside 0 and 1: what its program may then. */
#define MACHINE_NONE   2 /* it cannot be set up */
#define MACHINE_FAILED 3 /* it did not run until it was stopped */
#define MACHINE_BLIND  4 /* guests have no PMU here */

/**
 * struct machine - a guest that works on CPU 0
 * @mode: under a lease of this, 0: none
 * @counts: it has a PMU and reads that in user mode
 */
struct machine {
	uint32_t mode;
	bool counts;
};

/*
 * A reader by kernel.perf_user_access that has a machine. Its event counts in
 * odd rounds.
 */
static struct reader {
	volatile uint32_t round, looked, lacks;
	volatile bool stop;
} * reader;

static void on_alarm(int number)
{
	(void)number;
}

/* 0, or -1. */
static int guest_memory(int machine)
{
	void *memory = mmap(NULL, GUEST_SIZE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_ADDRESS,
		.memory_size = GUEST_SIZE,
		.userspace_addr = (uintptr_t)memory,
	};

	if (memory == MAP_FAILED)
		return -1;
	memcpy(memory, guest_begin, (size_t)(guest_end - guest_begin));
	return ioctl(machine, KVM_SET_USER_MEMORY_REGION, &region);
}

static int guest_set(int vcpu, uint64_t field, uint64_t value)
{
	struct kvm_one_reg reg = {
		.id = KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |
		      field,
		.addr = (uintptr_t)&value,
	};

	return ioctl(vcpu, KVM_SET_ONE_REG, &reg);
}

/* Its descriptor, or -1. */
static int guest_vcpu(int machine, bool counts)
{
	struct kvm_device_attr pmu = { .group = KVM_ARM_VCPU_PMU_V3_CTRL,
				       .attr = KVM_ARM_VCPU_PMU_V3_INIT };
	struct kvm_vcpu_init init = { .target = 0 };
	int vcpu;

	if (machine < 0 || guest_memory(machine) ||
	    ioctl(machine, KVM_ARM_PREFERRED_TARGET, &init))
		return -1;
	if (counts)
		init.features[0] |= 1u << KVM_ARM_VCPU_PMU_V3;
	vcpu = ioctl(machine, KVM_CREATE_VCPU, 0);
	if (vcpu < 0 || ioctl(vcpu, KVM_ARM_VCPU_INIT, &init) ||
	    (counts && ioctl(vcpu, KVM_SET_DEVICE_ATTR, &pmu)) ||
	    guest_set(vcpu, KVM_REG_ARM_CORE_REG(regs.regs[0]), counts) ||
	    guest_set(vcpu, KVM_REG_ARM_CORE_REG(regs.pc), GUEST_ADDRESS))
		return -1;
	return vcpu;
}

/* It comes and goes, and executes nothing; its end is the reader's. */
static int machine_comes_and_goes(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vcpu;
	struct kvm_run *run;

	vcpu = kvm < 0 ? -1 : guest_vcpu(ioctl(kvm, KVM_CREATE_VM, 0), false);
	if (vcpu < 0)
		return MACHINE_NONE;
	run = mmap(NULL, (size_t)ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0),
		   PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		return MACHINE_NONE;
	run->immediate_exit = 1;
	while (!reader->stop) {
		uint32_t now = reader->round;

		if (ioctl(vcpu, KVM_RUN, NULL) != -1 || errno != EINTR)
			return MACHINE_FAILED;
		if (!(now & 1))
			continue;
		if (!(upmu_regs_user_access() & UPMU_USER_CR) &&
		    reader->round == now)
			reader->lacks++;
		reader->looked = now;
	}
	return 0;
}

static int machine_runs(const struct machine *machine)
{
	struct sigaction action = { .sa_handler = on_alarm };
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vcpu;

	pin(0);
	if (machine->counts &&
	    ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_ARM_PMU_V3) <= 0)
		return MACHINE_BLIND;
	vcpu = kvm < 0 ? -1
		       : guest_vcpu(ioctl(kvm, KVM_CREATE_VM, 0),
				    machine->counts);
	if (vcpu < 0 || (machine->mode && take(machine->mode) < 0))
		return MACHINE_NONE;
	sigaction(SIGALRM, &action, NULL);
	alarm(SECONDS);
	if (ioctl(vcpu, KVM_RUN, NULL) != -1 || errno != EINTR)
		return MACHINE_FAILED;
	return try_cycles(NULL);
}

static pid_t machine_starts(const struct machine *machine)
{
	pid_t pid = fork();

	if (!pid)
		_exit(machine_runs(machine));
	return pid;
}

/* Beside that, on the same CPU: what @try may, of so many tries. */
static int permitted_beside(uint32_t mode, int (*try)(void *), int *tries,
			    int *machine)
{
	pid_t pid = machine_starts(&(struct machine){ .mode = mode });
	int status, permitted = 0;

	pin(0);
	for (*tries = 0; waitpid(pid, &status, WNOHANG) != pid; ++*tries) {
		permitted += try(NULL);
		spin_loop(10000);
	}
	*machine = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return permitted;
}

static int tries_to_write(void *unused)
{
	(void)unused;
	return try_write();
}

static void neighbour_test(const char *claim, uint32_t mode, int (*try)(void *))
{
	int tries, machine, permitted;

	permitted = permitted_beside(mode, try, &tries, &machine);
	no_leases_soon();
	tap(!permitted && tries > 100 && machine == 1, claim,
	    "%d of %d permitted, the machine ended with %d", permitted, tries,
	    machine);
}

static int sees_permission(void *unused)
{
	(void)unused;
	return upmu_regs_user_access() & (UPMU_USER_EN | UPMU_USER_CR) ? 1 : 0;
}

/* KVM selects counter 0 for its guests. */
static int keeps_its_counter(void *unused)
{
	(void)unused;
	upmu_regs_select(3);
	spin_loop(10000);
	return upmu_regs_selected() == 3;
}

static void holder_test(const char *claim, uint32_t mode, int (*try)(void *))
{
	int lease = take(mode), tries, machine, permitted;

	permitted = permitted_beside(0, try, &tries, &machine);
	close(lease);
	tap(permitted == tries && tries > 100 && machine == 0, claim,
	    "%d of %d permitted, the machine ended with %d", permitted, tries,
	    machine);
}

/* Leases come and go on another CPU while a guest reads its counter. */
static void guest_test(const char *claim, bool held)
{
	int first = held ? take(UPMU_MODE_CYCLES) : -1, status, leases = 0;
	pid_t pid = machine_starts(&(struct machine){ .counts = true });

	for (pin(1); waitpid(pid, &status, WNOHANG) != pid; leases++) {
		int lease = take(UPMU_MODE_CYCLES);

		usleep(20000);
		close(lease);
		usleep(20000);
	}
	close(first);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (status == MACHINE_BLIND)
		tap_skip(claim, "guests have no PMU here");
	else
		tap(status == 0 && leases > 5, claim,
		    "%d leases, the machine ended with %d", leases, status);
}

/* A lease that begins while a guest runs, and outlives it. */
static void leftover_test(void)
{
	pid_t pid = machine_starts(&(struct machine){ .mode = 0 });
	int status = -1, lease, permitted;

	pin(1);
	usleep(SECONDS * 500000);
	lease = take(UPMU_MODE_CYCLES);
	waitpid(pid, &status, 0);
	close(lease);
	no_leases_soon();
	pin(0);
	permitted = try_cycles(NULL) + try_write();
	tap(lease >= 0 && status == 0 && !permitted,
	    "what_a_guest_had_is_left_to_nobody",
	    "lease %d, the machine's status %d, permitted %d", lease, status,
	    permitted);
}

static bool perf_heeds_machines(void)
{
	struct utsname kernel;
	unsigned int major, minor;

	return !uname(&kernel) &&
	       sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 5));
}

/* In this round; it may have ended. */
static bool reader_looked(void)
{
	double end = seconds() + 60;

	while (reader->looked != reader->round && !reader->stop &&
	       seconds() < end)
		usleep(100);
	return reader->looked == reader->round;
}

/*
 * Another opens an event for it, wherever it is with its machine. As that goes
 * the permission stays until perf's driver starts the PMU again.
 */
static int open_often(pid_t pid)
{
	uint32_t type = pmu_type_here();
	int rounds = 0;

	for (bool looked = true; looked && rounds < ROUNDS; rounds++) {
		int event = event_open(type, EVENT_CYCLES, 2, pid, -1, 0);

		reader->round++;
		looked = event >= 0 && reader_looked();
		reader->round++;
		close(event);
		close(event_open(type, EVENT_CYCLES, 0, -1, 0, 0));
	}
	return rounds;
}

static void reader_test(const char *claim)
{
	int lease = take(UPMU_MODE_CYCLES), status, rounds;
	pid_t pid;

	if (!perf_heeds_machines()) {
		close(lease);
		tap_skip(claim, "before 6.5 the kernel takes it away itself");
		return;
	}
	poke("/proc/sys/kernel/perf_user_access", "1");
	reader = mmap(NULL, sizeof(*reader), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pin(0);
	pid = fork();
	if (!pid) {
		status = machine_comes_and_goes();
		reader->stop = true;
		_exit(status);
	}
	pin(1);
	rounds = open_often(pid);
	reader->stop = true;
	waitpid(pid, &status, 0);
	close(lease);
	tap(rounds == ROUNDS && !status && !reader->lacks, claim,
	    "%d rounds, %u lacked it, status %x", rounds, reader->lacks,
	    status);
}

int main(void)
{
	if (access("/dev/kvm", R_OK | W_OK)) {
		tap_skip("leases_beside_kvm", "this kernel has no KVM");
		return tap_done();
	}
	neighbour_test("nobody_reads_beside_a_virtual_machine_under_a_lease",
		       UPMU_MODE_CYCLES, child_tries);
	neighbour_test("nor_writes_where_its_lease_is_raw", UPMU_MODE_RAW,
		       tries_to_write);
	holder_test("and_a_holder_beside_a_virtual_machine_may",
		    UPMU_MODE_CYCLES, child_tries);
	holder_test("and_sees_there_that_it_may", UPMU_MODE_CYCLES,
		    sees_permission);
	holder_test("and_one_of_raw_keeps_the_counter_that_it_selected",
		    UPMU_MODE_RAW, keeps_its_counter);
	leftover_test();
	guest_test("a_guests_programs_read_while_leases_come_and_go", false);
	guest_test("and_beside_one_that_was_there_before", true);
	reader_test("who_has_one_reads_its_own_event_beside_a_lease");
	return tap_done();
}
