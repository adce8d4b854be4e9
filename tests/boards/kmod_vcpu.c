// SPDX-License-Identifier: MIT
/*
 * kmod_vcpu - leases beside a virtual machine of KVM's
 *
 * While a vCPU is loaded the permission register is KVM's, which puts back what
 * was there before: after the scheduler has gone on to another process.
 */
#include <linux/kvm.h>
#include <stddef.h>

#include "tests/boards/kmod.h"

#define SECONDS 2

#define GUEST_ADDRESS 0x40000000
#define GUEST_SIZE    0x10000
#define GUEST_CODE    0x14000000 /* b . */

static void on_alarm(int number)
{
	(void)number;
}

/* Memory whose every word is a branch to itself; 0, or -1. */
static int guest_memory(int machine)
{
	uint32_t *memory = mmap(NULL, GUEST_SIZE, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_ADDRESS,
		.memory_size = GUEST_SIZE,
		.userspace_addr = (uintptr_t)memory,
	};

	if (memory == MAP_FAILED)
		return -1;
	for (size_t n = 0; n < GUEST_SIZE / sizeof(*memory); n++)
		memory[n] = GUEST_CODE;
	return ioctl(machine, KVM_SET_USER_MEMORY_REGION, &region);
}

/* Its descriptor, or -1. */
static int guest_vcpu(int machine)
{
	uint64_t start = GUEST_ADDRESS;
	struct kvm_one_reg pc = {
		.id = KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |
		      KVM_REG_ARM_CORE_REG(regs.pc),
		.addr = (uintptr_t)&start,
	};
	struct kvm_vcpu_init init = { .target = 0 };
	int vcpu;

	if (machine < 0 || guest_memory(machine) ||
	    ioctl(machine, KVM_ARM_PREFERRED_TARGET, &init))
		return -1;
	vcpu = ioctl(machine, KVM_CREATE_VCPU, 0);
	if (vcpu < 0 || ioctl(vcpu, KVM_ARM_VCPU_INIT, &init) ||
	    ioctl(vcpu, KVM_SET_ONE_REG, &pc))
		return -1;
	return vcpu;
}

/* A guest that works on CPU 0 under a lease of @mode, 0: none. */
static int machine_runs(void *mode)
{
	struct sigaction action = { .sa_handler = on_alarm };
	uint32_t wanted = *(uint32_t *)mode;
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vcpu;

	pin(0);
	vcpu = kvm < 0 ? -1 : guest_vcpu(ioctl(kvm, KVM_CREATE_VM, 0));
	if (vcpu < 0 || (wanted && take(wanted) < 0))
		return 2;
	sigaction(SIGALRM, &action, NULL);
	alarm(SECONDS);
	if (ioctl(vcpu, KVM_RUN, NULL) != -1 || errno != EINTR)
		return 3;
	return try_cycles(NULL);
}

/* Beside that, on the same CPU: what @try may, of so many tries. */
static int permitted_beside(uint32_t mode, int (*try)(void *), int *tries,
			    int *machine)
{
	pid_t pid = fork();
	int status, permitted = 0;

	if (!pid)
		_exit(machine_runs(&mode));
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

static void holder_test(void)
{
	int lease = take(UPMU_MODE_CYCLES), tries, machine, permitted;

	permitted = permitted_beside(0, child_tries, &tries, &machine);
	close(lease);
	tap(permitted == tries && tries > 100 && machine == 0,
	    "and_a_holder_beside_a_virtual_machine_may",
	    "%d of %d permitted, the machine ended with %d", permitted, tries,
	    machine);
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
	holder_test();
	return tap_done();
}
