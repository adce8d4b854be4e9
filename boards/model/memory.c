// SPDX-License-Identifier: MIT
/* Accesses of data and of instructions, through TLBs and caches. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "settings.h"

#define DEVICE	QEMU_NO_RAM
#define INFOS	(1 << 18)
#define NO_INFO ((qemu_plugin_meminfo_t)-1) /* QEMU does not show it */
#define KNOWN	0x80
#define STORE	0x10

static struct cache l2; /* shared, as is the lock of it */
static pthread_mutex_t l2_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_l2(void)
{
	if (qemu_cpus() > 1)
		pthread_mutex_lock(&l2_lock);
}

static void unlock_l2(void)
{
	if (qemu_cpus() > 1)
		pthread_mutex_unlock(&l2_lock);
}

/* What QEMU tells of an access, once for each kind: KNOWN, STORE, log2 size */
static uint8_t kinds[INFOS];

static uint8_t kind_of(qemu_plugin_meminfo_t info)
{
	uint8_t kind;

	if (info < INFOS && kinds[info])
		return kinds[info];
	kind = (uint8_t)(KNOWN | qemu.qemu_plugin_mem_size_shift(info));
	if (qemu.qemu_plugin_mem_is_store(info))
		kind |= STORE;
	if (info < INFOS)
		kinds[info] = kind;
	return kind;
}

void memory_make(struct cpu *cpu, unsigned page_shift)
{
	const struct core_shape *shape = settings_core(cpu->id);

	cache_make(&cpu->l1i, &shape->l1i);
	cache_make(&cpu->l1d, &shape->l1d);
	cpu->quick_of_set = calloc(cpu->l1d.sets, 1);
	cpu->line_shift = cpu->l1d.shift;
	cpu->line_mask = ~((1ull << cpu->line_shift) - 1);
	cpu->page_shift = page_shift;
	micro_tlb_make(&cpu->itlb, shape->itlb, page_shift);
	micro_tlb_make(&cpu->dtlb, shape->dtlb, page_shift);
	cpu->has_tlb = shape->tlb_entries;
	if (cpu->has_tlb)
		main_tlb_make(&cpu->tlb, shape->tlb_entries, shape->tlb_ways);
	cpu->has_l2 = shape->l2.size;
	cpu->read_allocate = shape->read_allocate;
	if (cpu->has_l2 && !l2.tags)
		cache_make(&l2, &shape->l2);
	memory_flush(cpu);
}

void memory_flush(struct cpu *cpu)
{
	memset(cpu->quick, 0xff, sizeof(cpu->quick));
	cpu->fetch_page = UINT64_MAX;
	memset(cpu->quick_of_slot, 0, sizeof(cpu->quick_of_slot));
	memset(cpu->seen, 0xff, sizeof(cpu->seen));
	micro_tlb_flush(&cpu->itlb);
	micro_tlb_flush(&cpu->dtlb);
}

/* ---- the second level ------------------------------------------------------
 */

static void second_level(struct cpu *cpu, uint64_t *tally, uint64_t at,
			 bool store, bool write_back)
{
	enum cache_result result;
	uint64_t victim;

	if (!cpu->has_l2) {
		tally[write_back ? BUS_WRITES : BUS_READS]++;
		return;
	}
	tally[write_back ? L2_WRITES : L2_READS]++;
	lock_l2();
	result = cache_use(&l2, at, write_back, &victim);
	unlock_l2();
	if (result == CACHE_HIT)
		return;
	tally[store || write_back ? L2_WRITE_REFILLS : L2_READ_REFILLS]++;
	tally[BUS_READS]++;
	if (result == CACHE_WROTE_BACK) {
		tally[L2_WRITE_BACKS]++;
		tally[BUS_WRITES]++;
	}
}

void memory_write_back(struct cpu *cpu, uint64_t *tally, uint64_t at)
{
	second_level(cpu, tally, at, true, true);
}

void memory_maintain_l2(struct cpu *cpu, uint64_t *tally, uint64_t at,
			enum note note)
{
	unsigned was;

	if (!cpu->has_l2)
		return;
	lock_l2();
	was = note == CLEAN_DATA ? cache_clean(&l2, at) : cache_drop(&l2, at);
	unlock_l2();
	if (was && note != CLEAN_DATA)
		tally[L2_INVALIDATED]++;
	if (was & CACHE_DIRTY && note != FORGET_DATA) {
		tally[L2_CLEANS]++;
		tally[BUS_WRITES]++;
	}
}

/* ---- data -------------------------------------------------------------------
 */

enum how {
	LOAD,
	STORE_PART,
	STORE_ALL, /* nothing of the line has to be read */
};

/* Is the line in the cache then? */
static bool data_line(struct cpu *cpu, uint64_t *tally, uint64_t phys,
		      enum how how)
{
	bool store = how != LOAD, others;
	enum cache_result result;
	uint64_t victim;

	if (store && cpu->read_allocate && !cache_has(&cpu->l1d, phys)) {
		tally[L1D_WRITE_REFILLS]++; /* a miss, to that PMU */
		tally[BUS_WRITES]++;
		return false;
	}
	result = cache_use(&cpu->l1d, phys, store, &victim);
	if (result == CACHE_HIT)
		return true;
	others = qemu_cpus() > 1 && snoop_ask(cpu, phys, store);
	if (result == CACHE_DIRTIED)
		return true;
	if (how != STORE_ALL) {
		tally[store ? L1D_WRITE_REFILLS : L1D_READ_REFILLS]++;
		tally[SNOOPED] += others;
		second_level(cpu, tally, phys, store, false);
	}
	if (result == CACHE_WROTE_BACK) {
		tally[L1D_WRITE_BACKS]++;
		second_level(cpu, tally, victim, store, true);
	}
	return true;
}

/* The page of this slot is leaving: its lines are no longer quick. */
static void forget_page(struct cpu *cpu, int slot)
{
	uint64_t page = cpu->dtlb.virt[slot], mask = cpu->dtlb.mask[slot];
	unsigned __int128 bits = cpu->quick_of_slot[slot];

	cpu->quick_of_slot[slot] = 0;
	for (int half = 0; half < 2; half++)
		for (uint64_t left = (uint64_t)(bits >> 64 * half); left;
		     left &= left - 1) {
			int i = half * 64 + __builtin_ctzll(left);

			if ((cpu->quick[0][i] & mask) == page)
				cpu->quick[0][i] = UINT64_MAX;
			if ((cpu->quick[1][i] & mask) == page)
				cpu->quick[1][i] = UINT64_MAX;
		}
}

static struct seen *seen_of(struct cpu *cpu, uint64_t virt)
{
	return &cpu->seen[(virt >> cpu->page_shift) % SEEN];
}

static bool is_of(const struct cpu *cpu, const struct seen *seen, uint64_t virt)
{
	return seen->page == virt >> cpu->page_shift;
}

/* Notes where @virt is; of the size of what it is in the tables are asked. */
static const struct seen *note(struct cpu *cpu, uint64_t virt, uint64_t phys)
{
	struct seen *seen = seen_of(cpu, virt);
	uint64_t inside = (1ull << cpu->page_shift) - 1;
	struct mapping mapping;

	if (is_of(cpu, seen, virt))
		return seen;
	mapping = walk(cpu->id, virt);
	*seen = (struct seen){ virt >> cpu->page_shift, phys & ~inside,
			       cpu->page_shift };
	if (mapping.shift > cpu->page_shift &&
	    (mapping.phys & ~inside) == seen->phys)
		seen->shift = mapping.shift;
	return seen;
}

bool memory_address(struct cpu *cpu, uint64_t virt, uint64_t *phys)
{
	const struct seen *seen = seen_of(cpu, virt);
	uint64_t inside = (1ull << cpu->page_shift) - 1;

	*phys = is_of(cpu, seen, virt) ? seen->phys | (virt & inside)
				       : walk(cpu->id, virt).phys;
	return qemu_ram(*phys, 1);
}

/* NULL: a device. */
static const struct seen *look_up(struct cpu *cpu, qemu_plugin_meminfo_t info,
				  uint64_t virt)
{
	const struct seen *seen = seen_of(cpu, virt);
	uint64_t phys;

	if (is_of(cpu, seen, virt))
		return seen;
	if (info == NO_INFO)
		return memory_address(cpu, virt, &phys) ? note(cpu, virt, phys)
							: NULL;
	phys = qemu_access_phys(info, virt);
	return phys == DEVICE ? NULL : note(cpu, virt, phys);
}

/* Of a micro TLB's refill: has the main one the page? */
static void ask_main_tlb(struct cpu *cpu, uint64_t *tally, uint64_t virt,
			 uint64_t phys, unsigned shift)
{
	if (!cpu->has_tlb)
		return;
	tally[TLB_LOOKUPS]++;
	if (!main_tlb_has(&cpu->tlb, virt, phys, shift))
		tally[TLB_REFILLS]++;
}

/* The physical address, or DEVICE; @at: its slot in the data TLB. */
static uint64_t translate(struct cpu *cpu, uint64_t *tally,
			  qemu_plugin_meminfo_t info, uint64_t virt, bool store,
			  int *at)
{
	int slot = micro_tlb_find(&cpu->dtlb, virt);

	if (slot < 0) {
		const struct seen *seen = look_up(cpu, info, virt);
		unsigned shift = seen ? seen->shift : cpu->page_shift;
		uint64_t inside = (1ull << shift) - 1;
		uint64_t phys = seen ? (seen->phys & ~inside) : DEVICE;

		tally[store ? DTLB_WRITE_REFILLS : DTLB_READ_REFILLS]++;
		ask_main_tlb(cpu, tally, virt, phys, shift);
		forget_page(cpu, micro_tlb_next(&cpu->dtlb));
		slot = micro_tlb_fill(&cpu->dtlb, virt, phys, shift);
	}
	*at = slot;
	if (cpu->dtlb.phys[slot] == DEVICE)
		return DEVICE;
	return cpu->dtlb.phys[slot] | (virt & ~cpu->dtlb.mask[slot]);
}

/* From now on this line is the one used last in its set. */
static void make_quick(struct cpu *cpu, uint64_t virt, uint64_t phys, int slot,
		       bool store)
{
	unsigned i = (unsigned)(virt >> cpu->line_shift) % QUICK;
	uint8_t *owner = &cpu->quick_of_set[cache_set(&cpu->l1d, phys)];
	uint64_t line = virt & cpu->line_mask;

	if (*owner != i) {
		cpu->quick[0][*owner] = UINT64_MAX;
		cpu->quick[1][*owner] = UINT64_MAX;
		*owner = (uint8_t)i;
	}
	if (cpu->quick[0][i] != line)
		cpu->quick[1][i] = UINT64_MAX;
	cpu->quick[0][i] = line;
	cpu->quick_of_slot[slot] |= (unsigned __int128)1 << i;
	if (store)
		cpu->quick[1][i] = line;
}

void memory_not_quick(struct cpu *cpu, uint64_t at)
{
	unsigned i = cpu->quick_of_set[cache_set(&cpu->l1d, at)];

	cpu->quick[0][i] = cpu->quick[1][i] = UINT64_MAX;
}

static void device(struct cpu *cpu, uint64_t *tally, const struct insn *insn,
		   bool store)
{
	tally[store ? DEVICE_WRITES : DEVICE_READS]++;
	/*
	 * With -icount QEMU leaves a block at an access to a device, and does
	 * it again in a block of its own that is not announced.
	 */
	if (insn->block != cpu->block && insn->block->n == 1)
		cpu->block = insn->block;
}

static void __attribute__((noinline))
look_closely(struct cpu *cpu, uint64_t *tally, const struct insn *insn,
	     qemu_plugin_meminfo_t info, uint64_t virt, unsigned size,
	     bool store)
{
	uint64_t phys, last = virt + size - 1;
	int slot;

	if (snoop_waits(cpu))
		snoop_take(cpu, tally);
	if (insn->simple && virt & (size - 1))
		tally[UNALIGNED_READS + store]++;
	phys = translate(cpu, tally, info, virt, store, &slot);
	if (phys == DEVICE) {
		device(cpu, tally, insn, store);
		return;
	}
	if (data_line(cpu, tally, phys, store ? STORE_PART : LOAD))
		make_quick(cpu, virt, phys, slot, store);
	if (!((virt ^ last) & cpu->line_mask))
		return;
	tally[SPLIT_READS + store]++;
	phys = translate(cpu, tally, info, last, store, &slot);
	if (phys == DEVICE)
		return;
	if (data_line(cpu, tally, phys, store ? STORE_PART : LOAD))
		make_quick(cpu, last, phys, slot, store);
}

/*
 * One of an instruction that has several, or others than QEMU shows: counts
 * what is of the whole instruction.
 */
static void of_several(struct cpu *cpu, uint64_t *tally,
		       const struct insn *insn, uint64_t virt, unsigned size,
		       bool store)
{
	unsigned align = insn->align ? insn->align : size;

	if (cpu->doing[store] == insn) {
		tally[MORE_READS + store]++;
		return;
	}
	cpu->doing[store] = insn;
	if (virt & (align - 1))
		tally[UNALIGNED_READS + store]++;
	/* where several CPUs run, QEMU shows such a load and store as one */
	if (store && insn->use == BOTH && cpu->doing[0] != insn) {
		cpu->doing[0] = insn;
		tally[READS] += size > 8 ? 2 : 1;
		tally[MORE_READS] += size > 8;
	}
}

/* Always a line as a whole: DCZID_EL0.BS of all these cores is 4. */
#define ZEROED 64

void memory_zero(struct cpu *cpu, const struct insn *insn)
{
	uint64_t *tally = cpu->tally[insn->block->level], phys;
	uint64_t virt = qemu_general64(cpu->id, insn->address) &
			~(uint64_t)(ZEROED - 1);
	int slot;

	/* no tag in the top byte */
	virt = (uint64_t)((int64_t)(virt << 8) >> 8);
	tally[WRITES]++;
	phys = translate(cpu, tally, NO_INFO, virt, true, &slot);
	if (phys != DEVICE && data_line(cpu, tally, phys, STORE_ALL))
		make_quick(cpu, virt, phys, slot, true);
}

void memory_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t virt,
		   void *data)
{
	const struct insn *insn = data;
	struct cpu *cpu = &cpus[vcpu];
	uint64_t *tally = cpu->tally[insn->block->level];
	uint8_t kind = info < INFOS ? kinds[info] : 0;
	unsigned size;
	bool store;

	if (!kind)
		kind = kind_of(info);
	size = 1u << (kind & 7);
	store = kind & STORE;
	if (!insn->simple) {
		if (!store && insn->use == STORES_ONLY)
			return;
		of_several(cpu, tally, insn, virt, size, store);
		if (size > 8) { /* as two: so it is with older emulators */
			tally[READS + store]++;
			tally[MORE_READS + store]++;
			look_closely(cpu, tally, insn, info, virt, 8, store);
			virt += 8;
			size = 8;
		}
	}
	tally[READS + store]++;
	/* the same line as that which is quick there, and aligned */
	if (cpu->quick[store][(virt >> cpu->line_shift) % QUICK] !=
	    (virt & (cpu->line_mask | (size - 1))))
		look_closely(cpu, tally, insn, info, virt, size, store);
}

/* ---- instructions
 * ------------------------------------------------------------ */

static void fetch_page(struct cpu *cpu, uint64_t *tally, uint64_t virt,
		       uint64_t phys)
{
	uint64_t page = virt >> cpu->page_shift;
	const struct seen *seen;

	if (page == cpu->fetch_page)
		return;
	cpu->fetch_page = page;
	if (micro_tlb_find(&cpu->itlb, virt) >= 0)
		return;
	tally[ITLB_REFILLS]++;
	seen = note(cpu, virt, phys);
	phys = seen->phys & ~((1ull << seen->shift) - 1);
	ask_main_tlb(cpu, tally, virt, phys, seen->shift);
	micro_tlb_fill(&cpu->itlb, virt, phys, seen->shift);
}

static void fetch_line(struct cpu *cpu, uint64_t *tally, uint64_t at)
{
	uint64_t victim;

	cpu->fetched = at;
	if (cache_use(&cpu->l1i, at, false, &victim) == CACHE_HIT)
		return;
	tally[L1I_REFILLS]++;
	second_level(cpu, tally, at, false, false);
}

/* Is all of @block in the line that was fetched last? */
static bool is_fetched(const struct cpu *cpu, const struct block *block)
{
	uint64_t first = block->phys[0], last = first + block->bytes[0] - 1;

	return !block->bytes[1] &&
	       !(((first ^ cpu->fetched) | (last ^ cpu->fetched)) >>
		 cpu->l1i.shift) &&
	       block->virt >> cpu->page_shift == cpu->fetch_page;
}

void memory_fetch(struct cpu *cpu, const struct block *block, bool jumped)
{
	uint64_t *tally = cpu->tally[block->level];
	unsigned size = 1u << cpu->l1i.shift;

	if (snoop_waits(cpu))
		snoop_take(cpu, tally);
	if (is_fetched(cpu, block)) {
		tally[L1I_FETCHES] += jumped;
		return;
	}
	for (int part = 0; part < 2 && block->bytes[part]; part++) {
		uint64_t at = block->phys[part] & ~(uint64_t)(size - 1);
		uint64_t end = block->phys[part] + block->bytes[part];
		unsigned n = (unsigned)((end - 1 - at) >> cpu->l1i.shift) + 1;

		fetch_page(cpu, tally, part ? block->end - 1 : block->virt, at);
		tally[L1I_FETCHES] += n;
		if (at == cpu->fetched) { /* goes on there, or a loop */
			tally[L1I_FETCHES] -= !jumped && !part;
			at += size;
			n--;
		}
		for (; n; n--, at += size)
			fetch_line(cpu, tally, at);
	}
}
