// SPDX-License-Identifier: MIT
/* Makes a struct block of what QEMU translates; the same one for the same. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

#define SLOTS (1u << 16)

static struct block *slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* The one that is there already, if it is the same. */
static struct block *keep(struct block *block)
{
	struct block **at = &slots[block->hash % SLOTS], *found;

	pthread_mutex_lock(&lock);
	while (*at && ((*at)->hash != block->hash || (*at)->n != block->n))
		at = &(*at)->chain;
	found = *at;
	if (!found)
		*at = block;
	pthread_mutex_unlock(&lock);
	if (!found)
		return block;
	free(block);
	return found;
}

/* An exception vector: its number; else NO_VECTOR. */
static uint8_t vector(int cpu, const struct block *block)
{
	uint64_t offset;

	if (!block->level)
		return NO_VECTOR;
	offset = block->virt - system_vectors(cpu, block->level);
	if (block->is_a64)
		return offset < 0x800 && !(offset % 0x80)
			       ? (uint8_t)(offset / 0x80)
			       : NO_VECTOR;
	return offset && offset < 0x20 && !(offset % 4) ? (uint8_t)(offset / 4)
							: NO_VECTOR;
}

/* Where it lies, on one page or two. */
static void find_bytes(struct block *block, const struct qemu_plugin_tb *tb)
{
	uint64_t page = block->virt & ~0xfffull;
	uint64_t end = block->end, begin = block->virt;
	size_t first = 0;

	for (int part = 0; part < 2 && begin < end; part++) {
		uint64_t stop = end < page + 0x1000 ? end : page + 0x1000;
		uint64_t phys =
			qemu_insn_phys(qemu.qemu_plugin_tb_get_insn(tb, first));

		if (phys == QEMU_NO_RAM)
			phys = begin; /* not of the guest's RAM: ROM */
		phys += begin - (block->virt + block->insn[first].offset);
		block->phys[part] = phys;
		block->bytes[part] = (uint16_t)(stop - begin);
		begin = page += 0x1000;
		while (first + 1 < block->n &&
		       block->virt + block->insn[first].offset < begin)
			first++;
	}
}

static struct decoded decode(const struct block *block, bool thumb, uint64_t at,
			     uint32_t word, size_t size)
{
	if (block->is_a64)
		return decode_a64(at, word);
	return thumb ? decode_t32(at, word, (unsigned)size)
		     : decode_a32(at, word);
}

static void add_class(struct block *block, enum insn_class class)
{
	unsigned i = 0;

	if (class == CLASS_OTHER)
		return; /* no event of theirs */
	while (i < block->classes && block->of_class[i].class != class)
		i++;
	if (i == block->classes)
		block->of_class[block->classes++].class = (uint8_t) class;
	block->of_class[i].n++;
}

static void add(struct block *block, size_t i, bool thumb,
		const struct qemu_plugin_insn *from)
{
	uint64_t at = qemu.qemu_plugin_insn_vaddr(from);
	size_t size = qemu.qemu_plugin_insn_size(from);
	uint32_t word = qemu_insn_word(from);
	struct decoded d = decode(block, thumb, at, word, size);

	block->insn[i] = (struct insn){
		.block = block,
		.offset = (uint16_t)(at - block->virt),
		.simple = d.simple,
		.use = (uint8_t)d.use,
		.align = d.align,
		.class = (uint8_t)d.class,
		.also = (uint8_t)d.also,
		.of_pmu = d.of_pmu,
		.zeroes = d.zeroes,
		.address = d.address,
	};
	add_class(block, d.class);
	add_class(block, d.also);
	block->hash = mix(block->hash, word);
	block->end = at + size;
	block->zeroes = d.zeroes;
	block->branch = (uint8_t)d.kind;
	block->branch_at = at;
	block->target = d.target;
	block->conditional = d.conditional;
}

struct block *translate_block(int cpu, const struct qemu_plugin_tb *tb)
{
	size_t n = qemu.qemu_plugin_tb_n_insns(tb);
	struct block *block =
		calloc(1, sizeof(*block) + n * sizeof(struct insn));
	struct qemu_state state = qemu_state(cpu);

	if (!block)
		abort();
	if (state.level)
		walk_kernel(state.is_a64);
	block->n = (uint16_t)n;
	block->level = (uint8_t)state.level;
	block->is_a64 = state.is_a64;
	block->virt = qemu.qemu_plugin_insn_vaddr(
		qemu.qemu_plugin_tb_get_insn(tb, 0));
	block->hash = mix(block->virt,
			  state.level * 4 + state.is_a64 * 2 + state.is_thumb);
	for (size_t i = 0; i < n; i++)
		add(block, i, state.is_thumb,
		    qemu.qemu_plugin_tb_get_insn(tb, i));
	block->vector = vector(cpu, block);
	find_bytes(block, tb);
	block->hash = mix(block->hash, block->phys[0]);
	block->hash = mix(block->hash, block->phys[1] ^ block->vector);
	return keep(block);
}
