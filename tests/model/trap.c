// SPDX-License-Identifier: MIT
#include "tests/model/trap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/model/pmu.h"

sigjmp_buf trap_undefined;
bool trap_believes_pmselr;

/* What an instruction moves, and between which registers */
struct move {
	struct model_access access;
	unsigned int rt, rt2;
	bool is_wide; /* 64 bits in two registers */
	unsigned int length;
};

#ifdef __aarch64__
/* mrs, msr: 1101 0101 00L1 o0 op1 CRn CRm op2 Rt */
static bool decode(const ucontext_t *context, struct move *move)
{
	uint32_t code = *(const uint32_t *)context->uc_mcontext.pc;

	if ((code & 0xffd80000) != 0xd5180000)
		return false;
	move->access = model_decode_sys((code >> 16) & 7, (code >> 12) & 15,
					(code >> 8) & 15, (code >> 5) & 7);
	move->access.write = !(code & (1 << 21));
	move->rt = code & 31;
	move->length = 4;
	return true;
}

static uint64_t get(const ucontext_t *context, unsigned int n)
{
	return n == 31 ? 0 : context->uc_mcontext.regs[n];
}

static void put(ucontext_t *context, const struct move *move)
{
	if (move->rt != 31)
		context->uc_mcontext.regs[move->rt] = move->access.value;
}

static void skip(ucontext_t *context, unsigned int length)
{
	context->uc_mcontext.pc += length;
}
#else
/* mcr, mrc: 1110 opc1 L CRn Rt 1111 opc2 1 CRm; mcrr, mrrc: 1100 010 L Rt2 Rt
 * 1111 opc1 CRm; Thumb-2 has the same in two halves. */
static bool decode(const ucontext_t *context, struct move *move)
{
	unsigned long pc = context->uc_mcontext.arm_pc;
	const uint16_t *half = (const uint16_t *)pc;
	uint32_t code;

	if (context->uc_mcontext.arm_cpsr & 0x20)
		code = (uint32_t)half[0] << 16 | half[1];
	else
		memcpy(&code, half, 4);
	move->length = 4;
	move->rt = (code >> 12) & 15;
	if ((code & 0x0f000f10) == 0x0e000f10) {
		move->access = model_decode_cp15(&model, (code >> 21) & 7,
						 (code >> 16) & 15, code & 15,
						 (code >> 5) & 7);
	} else if ((code & 0x0fe00fff) == 0x0c400f09 &&
		   model.kind == MODEL_PMUV3) {
		move->access = model_decode_cp15(&model, 0, 9, 13, 0);
		move->is_wide = true;
		move->rt2 = (code >> 16) & 15;
	} else {
		return false;
	}
	move->access.write = !(code & (1 << 20));
	return true;
}

/* arm_r0 to arm_pc lie one behind the other in this structure. */
static unsigned long *registers(const ucontext_t *context)
{
	return (unsigned long *)&context->uc_mcontext.arm_r0;
}

static uint64_t get(const ucontext_t *context, unsigned int n)
{
	return registers(context)[n];
}

static void put(ucontext_t *context, const struct move *move)
{
	registers(context)[move->rt] = (unsigned long)move->access.value;
	if (move->is_wide)
		registers(context)[move->rt2] =
			(unsigned long)(move->access.value >> 32);
}

static void skip(ucontext_t *context, unsigned int length)
{
	context->uc_mcontext.arm_pc += length;
}
#endif

static void on_trap(int signal_number, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;
	struct move move = { .length = 4 };
	struct model_access *access = &move.access;

	(void)info;
	if (!decode(context, &move)) {
		signal(signal_number, SIG_DFL);
		return;
	}
	if (access->write)
		access->value = get(context, move.rt);
	if (access->write && move.is_wide)
		access->value |= get(context, move.rt2) << 32;
	if (!model_access(&model, access))
		siglongjmp(trap_undefined, 1);
	if (access->reg == MODEL_PMSELR && access->write)
		model_last_select = access->value;
	if (access->reg == MODEL_PMSELR && trap_believes_pmselr)
		access->value = model_last_select;
	if (!access->write)
		put(context, &move);
	skip(context, move.length);
}

void trap_start(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_trap;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	if (sigaction(SIGILL, &action, NULL))
		abort();
}
