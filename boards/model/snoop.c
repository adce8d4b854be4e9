// SPDX-License-Identifier: MIT
/*
 * What one CPU's caches hear of the others, and of instructions that maintain
 * caches. A CPU's caches are touched by its own thread only: others leave it a
 * note, which it takes before its next block.
 */
#include <string.h>

#include "cpu.h"

/* Is the same written there, or what makes it needless? */
static bool is_noted(const struct notes *notes, uint64_t at, enum note note)
{
	for (unsigned i = 0; i < notes->n; i++) {
		enum note there = notes->line[i].note;

		if (notes->line[i].at == at &&
		    (there == note ||
		     (note == CLEAN_DATA && there == DROP_DATA)))
			return true;
	}
	return false;
}

static void post(struct cpu *cpu, uint64_t at, enum note note)
{
	struct notes *notes = &cpu->notes;

	pthread_mutex_lock(&notes->lock);
	if (note == FLUSH_TLBS)
		notes->flush = true;
	else if (note == DROP_CODE && at == EVERYWHERE)
		notes->drop_code = true;
	else if (is_noted(notes, at, note))
		;
	else if (notes->n < NOTES)
		notes->line[notes->n++] = (struct note_of){ at, note };
	else
		notes->lost = true;
	__atomic_store_n(&notes->waits, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&notes->lock);
}

void snoop_flush_tlbs(const struct cpu *from)
{
	for (int i = 0; i < qemu_cpus(); i++)
		if (&cpus[i] != from)
			post(&cpus[i], 0, FLUSH_TLBS);
}

/* What the CPU has of the line. One that sleeps has not obeyed its notes yet.
 */
static unsigned has(struct cpu *cpu, uint64_t at)
{
	unsigned there = cache_look(&cpu->l1d, at);

	if (!there || !snoop_waits(cpu))
		return there;
	pthread_mutex_lock(&cpu->notes.lock);
	if (is_noted(&cpu->notes, at, DROP_DATA))
		there = 0;
	else if (is_noted(&cpu->notes, at, CLEAN_DATA))
		there &= ~(unsigned)CACHE_DIRTY;
	pthread_mutex_unlock(&cpu->notes.lock);
	return there;
}

bool snoop_ask(const struct cpu *from, uint64_t at, bool store)
{
	bool any = false;

	for (int i = 0; i < qemu_cpus(); i++) {
		unsigned there;

		if (&cpus[i] == from)
			continue;
		there = has(&cpus[i], at);
		any |= there;
		if (there && store)
			post(&cpus[i], at, DROP_DATA);
		else if (there & CACHE_DIRTY)
			post(&cpus[i], at, CLEAN_DATA);
	}
	return any;
}

/* ---- what a CPU does with a note -----------------------------------------
 */

static void drop_code(struct cpu *cpu, uint64_t at)
{
	if (at == EVERYWHERE)
		cache_drop_all(&cpu->l1i);
	else
		cache_drop(&cpu->l1i, at);
	cpu->fetched = UINT64_MAX;
}

static void obey(struct cpu *cpu, uint64_t *tally, uint64_t at, enum note note)
{
	unsigned was;

	if (note == DROP_CODE) {
		drop_code(cpu, at);
		return;
	}
	memory_not_quick(cpu, at);
	was = note == CLEAN_DATA ? cache_clean(&cpu->l1d, at)
				 : cache_drop(&cpu->l1d, at);
	if (was && note != CLEAN_DATA)
		tally[L1D_INVALIDATED]++;
	if (was & CACHE_DIRTY && note != FORGET_DATA) {
		tally[L1D_CLEANS]++;
		memory_write_back(cpu, tally, at);
	}
}

void snoop_take(struct cpu *cpu, uint64_t *tally)
{
	struct notes *notes = &cpu->notes;
	bool flush, code, lost;
	struct note_of line[NOTES];
	unsigned n;

	pthread_mutex_lock(&notes->lock);
	flush = notes->flush, code = notes->drop_code, lost = notes->lost;
	n = notes->n;
	memcpy(line, notes->line, n * sizeof(line[0]));
	notes->waits = notes->flush = notes->drop_code = notes->lost = false;
	notes->n = 0;
	pthread_mutex_unlock(&notes->lock);
	if (flush)
		memory_flush(cpu);
	if (code)
		drop_code(cpu, EVERYWHERE);
	for (unsigned i = 0; i < n; i++)
		obey(cpu, tally, line[i].at, line[i].note);
	if (!lost)
		return;
	drop_code(cpu, EVERYWHERE);
	cache_drop_all(&cpu->l1d);
	memset(cpu->quick, 0xff, sizeof(cpu->quick));
}

/* ---- maintenance ------------------------------------------------------------
 */

/* What an instruction says, for one of the operations below. */
struct operation {
	enum note note;
	bool all, shared, beyond_l1;
};

/* On this CPU and, of shared memory, on all. */
static void maintain(struct cpu *cpu, const struct operation *what, uint64_t at)
{
	uint64_t *tally = cpu->tally[qemu_level(cpu->id)];

	if (what->all && what->note == DROP_CODE)
		at = EVERYWHERE;
	obey(cpu, tally, at, what->note);
	for (int i = 0; what->shared && i < qemu_cpus(); i++)
		if (&cpus[i] != cpu &&
		    (at == EVERYWHERE ||
		     cache_look(what->note == DROP_CODE ? &cpus[i].l1i
							: &cpus[i].l1d,
				at)))
			post(&cpus[i], at, what->note);
	if (what->beyond_l1)
		memory_maintain_l2(cpu, tally, at, what->note);
}

/* The ARM1176's operations on its whole data cache. */
static void maintain_all(struct cpu *cpu, enum note note)
{
	uint64_t *tally = cpu->tally[qemu_level(cpu->id)];
	const struct cache *cache = &cpu->l1d;

	for (unsigned i = cache->sets * cache->ways; i--;)
		if (cache->tags[i])
			obey(cpu, tally, cache->tags[i] >> 2 << cache->shift,
			     note);
}

static const struct place {
	/* CRm and op2 of both worlds; op1 of AArch64, or 8: AArch32 only */
	uint8_t crm, op2, op1;
	struct operation what;
} places[] = {
	{ 1, 0, 0, { DROP_CODE, true, true, false } },	  /* IC IALLUIS */
	{ 5, 0, 0, { DROP_CODE, true, false, false } },	  /* IC IALLU */
	{ 5, 1, 3, { DROP_CODE, false, true, false } },	  /* IC IVAU */
	{ 6, 1, 0, { FORGET_DATA, false, true, true } },  /* DC IVAC */
	{ 10, 1, 3, { CLEAN_DATA, false, true, true } },  /* DC CVAC */
	{ 11, 1, 3, { CLEAN_DATA, false, true, false } }, /* DC CVAU */
	{ 12, 1, 3, { CLEAN_DATA, false, true, true } },  /* DC CVAP */
	{ 14, 1, 3, { DROP_DATA, false, true, true } },	  /* DC CIVAC */
	{ 6, 0, 8, { FORGET_DATA, true, false, false } },
	{ 10, 0, 8, { CLEAN_DATA, true, false, false } },
	{ 14, 0, 8, { DROP_DATA, true, false, false } },
};

static void write(void *env, const struct qemu_register *reg, uint64_t value)
{
	const struct operation *what = &places[qemu_hook_of(reg)->what].what;
	struct cpu *cpu = &cpus[qemu_cpu_of(env)];
	uint64_t at = 0;

	if (what->all && what->note != DROP_CODE) {
		maintain_all(cpu, what->note);
		return;
	}
	if (!what->all && !memory_address(cpu, value, &at))
		return;
	maintain(cpu, what, at);
}

void snoop_start(void)
{
	for (int cpu = 0; cpu < qemu_cpus(); cpu++) {
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]);
		     i++) {
			const struct place *p = &places[i];

			qemu_hook_nop(cpu, qemu_cp(15, 7, 0, p->crm, p->op2),
				      write, (int)i);
			if (p->op1 < 8)
				qemu_hook_nop(
					cpu,
					qemu_sys(1, p->op1, 7, p->crm, p->op2),
					write, (int)i);
		}
	}
}
