// SPDX-License-Identifier: MIT
/*
 * The event counters of a PMU (PMUv2 of ARMv7, PMUv3) as far as they count
 * modelled events; QEMU's own functions serve all else. To QEMU such a
 * counter has an event that never happens: it stands still, and the value
 * lives here.
 */
#include <stdio.h>

#include "model.h"
#include "qemu.h"

#define COUNTERS 31
#define CHAIN	 0x1e

enum { PMCR_E = 1, PMCR_P = 2, PMCR_LP = 1 << 7, PMCR_N_SHIFT = 11 };
/* PMEVTYPER: what is left out, or, NSH, let in. */
enum {
	TYPE_P = 1u << 31,
	TYPE_U = 1 << 30,
	TYPE_NSK = 1 << 29,
	TYPE_NSU = 1 << 28,
	TYPE_NSH = 1 << 27
};
enum { HPME = 1 << 7, HPMD = 1 << 17, HLP = 1 << 26 }; /* of MDCR_EL2 */

enum what { CONTROL, ENABLE, OVERFLOWED, TYPE, COUNT, OTHER };
#define SELECTED (-1) /* the counter that PMSELR names */

struct counter {
	uint32_t type;
	uint64_t value;
	uint64_t base; /* the event's total when value was right */
};

static struct pmu {
	/* fields of QEMU's; @hyp is NULL without EL2 */
	struct qemu_register *control, *enable, *overflowed, *select, *hyp;
	struct qemu_register *interrupts, *count[COUNTERS];
	struct counter counter[COUNTERS];
	int counters;
	bool is_v3p5, has_el3;
	uint16_t sum[MODEL_CODES]; /* for event_total(); 0: not modelled */
	uint32_t known[2];	   /* of them, as in PMCEID0 and 1 */
} pmus[QEMU_CPUS];

/* ---- what a counter counts ----------------------------------------------- */

static bool is_ours(const struct pmu *pmu, int n)
{
	uint32_t event = pmu->counter[n].type & 0xffff;

	return event < MODEL_CODES && pmu->sum[event];
}

static bool is_chain(const struct pmu *pmu, int n)
{
	return n % 2 && (pmu->counter[n].type & 0xffff) == CHAIN;
}

static uint64_t hyp(const struct pmu *pmu, void *env)
{
	return pmu->hyp ? qemu_field(env, pmu->hyp) : 0;
}

/* Is the counter one of those that EL2 keeps for itself? */
static bool is_for_hyp(const struct pmu *pmu, void *env, int n)
{
	int split = hyp(pmu, env) & 0x1f;

	return pmu->hyp && split && n >= split;
}

static bool runs(const struct pmu *pmu, void *env, int n)
{
	bool on = is_for_hyp(pmu, env, n)
			  ? hyp(pmu, env) & HPME
			  : qemu_field(env, pmu->control) & PMCR_E;

	return on && qemu_field(env, pmu->enable) >> n & 1;
}

/* The exception levels at which it counts, a bit each. */
static unsigned levels(const struct pmu *pmu, void *env, int n)
{
	uint32_t type = pmu->counter[n].type;
	bool not_user = type & TYPE_U, not_kernel = type & TYPE_P;
	bool in_hyp = type & TYPE_NSH;

	if (pmu->has_el3) {
		not_user ^= !!(type & TYPE_NSU);
		not_kernel ^= !!(type & TYPE_NSK);
	}
	if (hyp(pmu, env) & HPMD && !is_for_hyp(pmu, env, n))
		in_hyp = false;
	return (not_user ? 0 : 1 << 0) | (not_kernel ? 0 : 1 << 1) |
	       (pmu->hyp && in_hyp ? 1 << 2 : 0);
}

static bool is_long(const struct pmu *pmu, void *env, int n)
{
	if (!pmu->is_v3p5)
		return false;
	return is_for_hyp(pmu, env, n)
		       ? hyp(pmu, env) & HLP
		       : qemu_field(env, pmu->control) & PMCR_LP;
}

/*
 * What has happened since the beginning, as far as this counter is concerned.
 * One that counts its neighbour's overflows looks at the neighbour's value.
 */
static uint64_t source(int cpu, int n)
{
	struct pmu *pmu = &pmus[cpu];
	void *env = qemu_env(cpu);

	if (is_ours(pmu, n))
		return event_total(core_tally(cpu),
				   pmu->sum[pmu->counter[n].type & 0xffff],
				   levels(pmu, env, n));
	if (is_chain(pmu, n) && !is_ours(pmu, n - 1) && pmu->count[n - 1])
		return qemu_read_before(env, qemu_hook_of(pmu->count[n - 1]));
	return 0;
}

/* ---- bringing the values up to date ---------------------------------------
 */

/* Adds what happened since; returns how often the counter ran over. */
static unsigned advance(int cpu, int n, unsigned carry)
{
	struct counter *counter = &pmus[cpu].counter[n];
	void *env = qemu_env(cpu);
	uint64_t now = source(cpu, n), before = counter->value, step;

	if (is_chain(&pmus[cpu], n)) /* a native neighbour ran over */
		step = carry + ((uint32_t)now < (uint32_t)counter->base);
	else
		step = now - counter->base;
	counter->base = now;
	if (!runs(&pmus[cpu], env, n))
		return 0;
	counter->value += step;
	if (is_long(&pmus[cpu], env, n))
		return counter->value < before;
	step = (counter->value >> 32) - (before >> 32);
	if (!pmus[cpu].is_v3p5)
		counter->value = (uint32_t)counter->value;
	return step;
}

/* All counters; the bits of those that ran over. */
static uint32_t update(int cpu)
{
	struct pmu *pmu = &pmus[cpu];
	uint32_t over = 0;
	unsigned carry = 0;

	for (int n = 0; n < pmu->counters; n++) {
		if (!is_ours(pmu, n) && !is_chain(pmu, n)) {
			carry = 0;
			continue;
		}
		carry = advance(cpu, n, carry);
		over |= (uint32_t) !!carry << n;
	}
	return over;
}

static void rebase(int cpu)
{
	for (int n = 0; n < pmus[cpu].counters; n++)
		pmus[cpu].counter[n].base = source(cpu, n);
}

/* Sets overflow flags; QEMU's big lock has to be held. */
static void raise_over(int cpu, uint32_t over)
{
	struct pmu *pmu = &pmus[cpu];
	void *env = qemu_env(cpu);

	if (!over)
		return;
	qemu_set_field(env, pmu->overflowed,
		       qemu_field(env, pmu->overflowed) | over);
	/* sets no bit, but makes QEMU look at the interrupt line */
	qemu_write_before(env, qemu_hook_of(pmu->interrupts), 0);
}

/* ---- overflow while nobody looks ------------------------------------------
 */

/* How many events are missing until counter @n runs over; below 1: it did. */
static int64_t left(int cpu, int n)
{
	const struct counter *counter = &pmus[cpu].counter[n];
	uint64_t most = is_long(&pmus[cpu], qemu_env(cpu), n)
				? -counter->value
				: (1ull << 32) - (uint32_t)counter->value;

	if (most > INT64_MAX)
		most = INT64_MAX;
	return (int64_t)(most - (source(cpu, n) - counter->base));
}

/* A native neighbour's overflows are found by looking often enough. */
static bool looks_at_native(const struct pmu *pmu, int n)
{
	return is_chain(pmu, n) && !is_ours(pmu, n - 1);
}

/* Of all counters that run; INT64_MAX: none of them is ours. */
static int64_t least_left(int cpu)
{
	const struct pmu *pmu = &pmus[cpu];
	int64_t least = INT64_MAX;

	for (int n = 0; n < pmu->counters; n++) {
		int64_t here = INT64_MAX;

		if (!runs(pmu, qemu_env(cpu), n))
			continue;
		if (is_ours(pmu, n))
			here = left(cpu, n);
		else if (looks_at_native(pmu, n))
			here = 1u << 31;
		if (here < least)
			least = here;
	}
	return least;
}

static void plan(int cpu)
{
	int64_t blocks = least_left(cpu) / CORE_BLOCK_MOST;

	core_watch_after(cpu, blocks < 0 ? 0 : blocks);
}

static void late(void *object, union qemu_work cpu)
{
	(void)object;
	raise_over(cpu.number, update(cpu.number));
	plan(cpu.number);
}

void pmu_watch(int cpu)
{
	const struct pmu *pmu = &pmus[cpu];
	bool is_due = least_left(cpu) <= 0;

	for (int n = 1; n < pmu->counters; n += 2)
		is_due |=
			looks_at_native(pmu, n) && runs(pmu, qemu_env(cpu), n);
	if (!is_due) {
		plan(cpu);
		return;
	}
	core_watch_after(cpu, INT64_MAX);
	qemu_soon(cpu, late, cpu);
}

/* ---- the registers ---------------------------------------------------------
 */

static int number(const struct qemu_hook *hook, void *env)
{
	return hook->number == SELECTED
		       ? (int)(qemu_field(env, pmus[qemu_cpu_of(env)].select) &
			       31)
		       : hook->number;
}

static uint64_t read_count(void *env, const struct qemu_register *reg)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);
	struct pmu *pmu = &pmus[qemu_cpu_of(env)];
	int n = number(hook, env);

	if (n >= pmu->counters || !(is_ours(pmu, n) || is_chain(pmu, n)))
		return qemu_read_before(env, hook);
	raise_over(qemu_cpu_of(env), update(qemu_cpu_of(env)));
	return pmu->counter[n].value;
}

static uint64_t read_overflowed(void *env, const struct qemu_register *reg)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);

	raise_over(qemu_cpu_of(env), update(qemu_cpu_of(env)));
	return qemu_read_before(env, hook);
}

/* The value moves between QEMU's counter and ours with the kind of event. */
static void write_type(int cpu, int n, const struct qemu_hook *hook,
		       uint64_t value)
{
	struct pmu *pmu = &pmus[cpu];
	void *env = qemu_env(cpu);
	const struct qemu_hook *count = qemu_hook_of(pmu->count[n]);
	bool before = is_ours(pmu, n) || is_chain(pmu, n), after;

	if (!before)
		pmu->counter[n].value = qemu_read_before(env, count);
	qemu_write_before(env, hook, value);
	pmu->counter[n].type = (uint32_t)value;
	after = is_ours(pmu, n) || is_chain(pmu, n);
	if (before && !after)
		qemu_write_before(env, count, pmu->counter[n].value);
	if (after)
		core_start();
}

static void write_count(int cpu, int n, const struct qemu_hook *hook,
			uint64_t value)
{
	struct pmu *pmu = &pmus[cpu];

	qemu_write_before(qemu_env(cpu), hook, value);
	pmu->counter[n].value = pmu->is_v3p5 ? value : (uint32_t)value;
}

static void write_any(void *env, const struct qemu_register *reg,
		      uint64_t value)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);
	int cpu = qemu_cpu_of(env), n = number(hook, env);
	struct pmu *pmu = &pmus[cpu];

	raise_over(cpu, update(cpu));
	if (hook->what == TYPE && n < pmu->counters)
		write_type(cpu, n, hook, value);
	else if (hook->what == COUNT && n < pmu->counters)
		write_count(cpu, n, hook, value);
	else
		qemu_write_before(env, hook, value);
	if (hook->what == CONTROL && value & PMCR_P)
		for (int i = 0; i < pmu->counters; i++)
			pmu->counter[i].value = 0;
	rebase(cpu); /* filters and enables count from here on */
	plan(cpu);
}

/* crn, crm, op2 are the same in both worlds; op1 is 0 in the older one. */
static const struct place {
	unsigned crn, crm, op2, op1; /* op1 of AArch64 */
	enum what what;
	int number;
	qemu_read read;
	qemu_write write;
} places[] = {
	{ 9, 12, 0, 3, CONTROL, 0, NULL, write_any }, /* PMCR */
	{ 9, 12, 1, 3, ENABLE, 0, NULL, write_any },  /* PMCNTENSET */
	{ 9, 12, 2, 3, ENABLE, 0, NULL, write_any },  /* PMCNTENCLR */
	{ 9, 12, 3, 3, OVERFLOWED, 0, read_overflowed, write_any },
	{ 9, 12, 5, 3, OTHER, 0, NULL, NULL }, /* PMSELR */
	{ 9, 13, 1, 3, TYPE, SELECTED, NULL, write_any },
	{ 9, 13, 2, 3, COUNT, SELECTED, read_count, write_any },
	{ 9, 14, 1, 0, OTHER, 0, NULL, NULL }, /* PMINTENSET */
	{ 9, 14, 3, 3, OVERFLOWED, 0, read_overflowed, write_any },
};

static void hook_both(int cpu, const struct place *p)
{
	qemu_hook(cpu, qemu_cp(15, p->crn, 0, p->crm, p->op2), p->read,
		  p->write, p->what, p->number);
	qemu_hook(cpu, qemu_sys(3, p->op1, p->crn, p->crm, p->op2), p->read,
		  p->write, p->what, p->number);
}

static struct qemu_register *pmu_register(int cpu, unsigned crm, unsigned op2,
					  unsigned op1)
{
	struct qemu_register *reg =
		qemu_register(cpu, qemu_cp(15, 9, 0, crm, op2));

	return reg ? reg : qemu_register(cpu, qemu_sys(3, op1, 9, crm, op2));
}

static struct qemu_register *count_register(int cpu, int n)
{
	struct qemu_register *reg =
		qemu_register(cpu, qemu_cp(15, 14, 0, 8 | n >> 3, n & 7));

	return reg ? reg
		   : qemu_register(cpu, qemu_sys(3, 3, 14, 8 | n >> 3, n & 7));
}

/* ID_AA64DFR0.PMUVer: from 6 on event counters have 64 bits; 15: not ours. */
static bool is_v3p5(int cpu)
{
	const struct qemu_register *id =
		qemu_register(cpu, qemu_sys(3, 0, 0, 5, 0));
	unsigned version = id ? qemu_constant(id) >> 8 & 15 : 0;

	return version >= 6 && version < 15;
}

static bool find_registers(int cpu)
{
	struct pmu *pmu = &pmus[cpu];

	pmu->is_v3p5 = is_v3p5(cpu);
	pmu->control = pmu_register(cpu, 12, 0, 3);
	pmu->enable = pmu_register(cpu, 12, 1, 3);
	pmu->overflowed = pmu_register(cpu, 12, 3, 3);
	pmu->select = pmu_register(cpu, 12, 5, 3);
	pmu->interrupts = pmu_register(cpu, 14, 1, 0);
	pmu->hyp = qemu_register(cpu, qemu_sys(3, 4, 1, 1, 1));
	if (!pmu->hyp)
		pmu->hyp = qemu_register(cpu, qemu_cp(15, 1, 4, 1, 1));
	pmu->has_el3 = qemu_register(cpu, qemu_cp(15, 1, 0, 1, 0)) ||
		       qemu_register(cpu, qemu_sys(3, 6, 1, 1, 0));
	return pmu->control && pmu->enable && pmu->overflowed && pmu->select &&
	       pmu->interrupts && qemu_has_field(pmu->control) &&
	       qemu_has_field(pmu->enable) && qemu_has_field(pmu->overflowed) &&
	       qemu_has_field(pmu->select) &&
	       (!pmu->hyp || qemu_has_field(pmu->hyp));
}

static void hook_cpu(int cpu)
{
	struct pmu *pmu = &pmus[cpu];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		hook_both(cpu, &places[i]);
	for (int n = 0; n < pmu->counters; n++) {
		hook_both(cpu, &(struct place){ 14, 12 | n >> 3, n & 7, 3, TYPE,
						n, NULL, write_any });
		hook_both(cpu, &(struct place){ 14, 8 | n >> 3, n & 7, 3, COUNT,
						n, read_count, write_any });
		pmu->count[n] = count_register(cpu, n);
	}
	/* MDCR_EL2, HDCR */
	qemu_hook(cpu, qemu_sys(3, 4, 1, 1, 1), NULL, write_any, OTHER, 0);
	qemu_hook(cpu, qemu_cp(15, 1, 4, 1, 1), NULL, write_any, OTHER, 0);
}

bool pmu_hook(char *reason)
{
	for (int cpu = 0; cpu < qemu_cpus(); cpu++) {
		struct pmu *pmu = &pmus[cpu];

		if (!find_registers(cpu)) {
			snprintf(reason, QEMU_REASON,
				 "the emulator's PMU has not the registers "
				 "that are expected");
			return false;
		}
		pmu->counters = qemu_field(qemu_env(cpu), pmu->control) >>
					PMCR_N_SHIFT &
				31;
		hook_cpu(cpu);
	}
	return true;
}

/* PMCEID0 and 1: they differ between unlike cores. */
static uint64_t read_known(void *env, const struct qemu_register *reg)
{
	const struct qemu_hook *hook = qemu_hook_of(reg);

	return qemu_read_before(env, hook) |
	       pmus[qemu_cpu_of(env)].known[hook->number];
}

/* A core without them is not asked. */
static void tell(int cpu)
{
	for (int i = 0; i < 2; i++) {
		qemu_hook(cpu, qemu_cp(15, 9, 0, 12, 6 + i), read_known, NULL,
			  OTHER, i);
		qemu_hook(cpu, qemu_sys(3, 3, 9, 12, 6 + i), read_known, NULL,
			  OTHER, i);
	}
}

void pmu_offer(int cpu, const bool *wanted, const uint16_t *own)
{
	for (unsigned code = 0; code < MODEL_CODES; code++) {
		unsigned sum = own[code] ? own[code] : code;

		if (!wanted[code] || !event_is_modelled(sum))
			continue;
		pmus[cpu].sum[code] = (uint16_t)sum;
		if (code < 0x40)
			pmus[cpu].known[code >> 5] |= 1u << (code & 31);
	}
	tell(cpu);
}

#define SOME_COUNT 0x12345

bool pmu_try(char *reason)
{
	for (int cpu = 0; cpu < qemu_cpus(); cpu++) {
		const struct qemu_hook *hook;
		void *env = qemu_env(cpu);

		if (!pmus[cpu].counters)
			continue;
		hook = qemu_hook_of(pmus[cpu].count[0]);
		qemu_write_before(env, hook, SOME_COUNT);
		if (qemu_read_before(env, hook) == SOME_COUNT)
			continue;
		snprintf(reason, QEMU_REASON,
			 "the emulator's event counters do not keep a value");
		return false;
	}
	return true;
}
