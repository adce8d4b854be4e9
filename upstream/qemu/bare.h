/* SPDX-License-Identifier: MIT */
/**
 * bare.h - programs that are all that runs on QEMU's machine virt, ARMv7
 *
 * begin() runs in user mode, which may use the PMU; the machine is switched off
 * when it returns.
 */
#ifndef UPMU_UPSTREAM_BARE_H
#define UPMU_UPSTREAM_BARE_H

#define WRITE(name, value) \
	__asm__ volatile("mcr p15, 0, %0, " name ::"r"(value) : "memory")
#define READ(name, value) \
	__asm__ volatile("mrc p15, 0, %0, " name : "=r"(value)::"memory")
#define PMCR	   "c9, c12, 0"
#define PMCNTENSET "c9, c12, 1"
#define PMCNTENCLR "c9, c12, 2"
#define PMOVSR	   "c9, c12, 3"
#define PMSELR	   "c9, c12, 5"
#define PMCCNTR	   "c9, c13, 0"
#define PMXEVTYPER "c9, c13, 1"
#define PMXEVCNTR  "c9, c13, 2"

#define CYCLE_COUNTER 31

void begin(void);

static void print(const char *text)
{
	while (*text)
		*(volatile unsigned int *)0x09000000 = (unsigned char)*text++;
}

static void print_number(unsigned int n)
{
	char text[11], *at = text + sizeof(text);

	*--at = 0;
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	print(at);
}

/* A system call that does nothing. */
static inline void call(void)
{
	__asm__ volatile("mov r7, #0\n\tsvc #0" ::: "r7", "memory");
}

/* Stacks, vectors, PMUSERENR; then user mode. r7 != 0 in svc: power off. */
__attribute__((naked, noreturn, used)) void _start(void)
{
	__asm__ volatile("	ldr r0, =vectors\n"
			 "	mcr p15, 0, r0, c12, c0, 0\n"
			 "	mov r0, #1\n"
			 "	mcr p15, 0, r0, c9, c14, 0\n"
			 "	cps #0x1f\n"
			 "	ldr sp, =0x40200000\n"
			 "	cps #0x13\n"
			 "	mov r0, #0x10\n"
			 "	msr spsr_cxsf, r0\n"
			 "	ldr lr, =user\n"
			 "	movs pc, lr\n"
			 "user:	bl begin\n"
			 "	mov r7, #1\n"
			 "	svc #0\n"
			 "	.ltorg\n"
			 "	.balign 32\n"
			 "vectors:\n"
			 "	b .\n"
			 "	b .\n"
			 "	b called\n"
			 "	b .\n"
			 "	b .\n"
			 "	b .\n"
			 "	b .\n"
			 "	b .\n"
			 "called: cmp r7, #0\n"
			 "	moveqs pc, lr\n"
			 "	ldr r0, =0x84000008\n" /* PSCI: off */
			 "	.arch_extension virt\n"
			 "	hvc #0\n"
			 "	b .\n"
			 "	.ltorg\n");
}

#endif
