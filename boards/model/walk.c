// SPDX-License-Identifier: MIT
/*
 * What the kernel's page tables say of an address: in QEMU all pages are of
 * 4 KiB. ARM DDI 0487, D8.3 (AArch64), G5.4 and G5.5 (AArch32, short and long
 * descriptors). Of a hypervisor's second stage nothing is known: no board has
 * guests.
 */
#include "cpu.h"

enum { VALID = 1, TABLE = 2 }; /* of a long descriptor */

static struct {
	struct qemu_register *base[2], *base64[2], *control; /* AArch32 */
	struct qemu_register *base_el1[2], *control_el1;
	struct qemu_register *base_el2[2], *control_el2, *hyp;
} registers[QEMU_CPUS];

static bool kernel_is_a64;

void walk_kernel(bool is_a64)
{
	kernel_is_a64 = is_a64;
}

void walk_find(int cpu)
{
	registers[cpu].control = qemu_register(cpu, qemu_cp(15, 2, 0, 0, 2));
	registers[cpu].control_el1 =
		qemu_register(cpu, qemu_sys(3, 0, 2, 0, 2));
	registers[cpu].control_el2 =
		qemu_register(cpu, qemu_sys(3, 4, 2, 0, 2));
	registers[cpu].hyp = qemu_register(cpu, qemu_sys(3, 4, 1, 1, 0));
	for (unsigned n = 0; n < 2; n++) {
		registers[cpu].base[n] =
			qemu_register(cpu, qemu_cp(15, 2, 0, 0, n));
		registers[cpu].base64[n] =
			qemu_register(cpu, qemu_cp64(15, n, 2));
		registers[cpu].base_el1[n] =
			qemu_register(cpu, qemu_sys(3, 0, 2, 0, n));
		registers[cpu].base_el2[n] =
			qemu_register(cpu, qemu_sys(3, 4, 2, 0, n));
	}
}

static uint64_t field(int cpu, const struct qemu_register *reg)
{
	return reg && qemu_has_field(reg) ? qemu_field(qemu_env(cpu), reg) : 0;
}

static uint64_t entry64(uint64_t at)
{
	const uint64_t *entry = qemu_ram(at, sizeof(*entry));

	return entry ? __atomic_load_n(entry, __ATOMIC_RELAXED) : 0;
}

static uint32_t entry32(uint64_t at)
{
	const uint32_t *entry = qemu_ram(at, sizeof(*entry));

	return entry ? __atomic_load_n(entry, __ATOMIC_RELAXED) : 0;
}

static struct mapping mapping(uint64_t virt, uint64_t phys, unsigned shift)
{
	uint64_t inside = (1ull << shift) - 1;

	return (struct mapping){ (phys & ~inside) | (virt & inside), shift };
}

/* @bits: of the address; @page: log2 of the page and of a table. */
static struct mapping walk_long(uint64_t table, uint64_t virt, unsigned bits,
				unsigned page)
{
	unsigned stride = page - 3;
	unsigned levels = (bits - page + stride - 1) / stride;
	uint64_t at = virt & ((1ull << bits) - 1);

	table &= 0xffffffffffe0ull; /* no ASID, no CnP */
	while (levels--) {
		unsigned shift = page + stride * levels;
		uint64_t entry = entry64(table + (at >> shift) * 8);

		if (!(entry & VALID) || (!levels && !(entry & TABLE)))
			return NO_MAPPING;
		entry &= 0xffffffffffffull;
		if (!levels || !(entry & TABLE))
			return mapping(virt, entry, shift);
		table = entry & ~((1ull << page) - 1);
		at &= (1ull << shift) - 1;
	}
	return NO_MAPPING;
}

static struct mapping walk_a64(int cpu, uint64_t virt)
{
	/* TG0, TG1 */
	static const uint8_t pages[2][4] = { { 12, 16, 14, 0 },
					     { 0, 14, 12, 16 } };
	bool host = field(cpu, registers[cpu].hyp) >> 34 & 1; /* E2H */
	bool top = virt >> 55 & 1;
	uint64_t control = field(cpu, host ? registers[cpu].control_el2
					   : registers[cpu].control_el1);
	uint64_t table = field(cpu, host ? registers[cpu].base_el2[top]
					 : registers[cpu].base_el1[top]);
	unsigned bits = 64 - (control >> (top ? 16 : 0) & 63);
	unsigned page = pages[top][control >> (top ? 30 : 14) & 3];

	if (!page || bits <= page || bits > 48)
		return NO_MAPPING;
	return walk_long(table, virt, bits, page);
}

static struct mapping walk_a32_long(int cpu, uint64_t virt, uint32_t control)
{
	unsigned size0 = control & 7, size1 = control >> 16 & 7;
	bool top = size1 ? (uint32_t)~virt >> (32 - size1) == 0
			 : size0 && virt >> (32 - size0);

	return walk_long(field(cpu, registers[cpu].base64[top]), virt,
			 32 - (top ? size1 : size0), 12);
}

static struct mapping walk_a32_short(int cpu, uint64_t virt, uint32_t control)
{
	unsigned n = control & 7;
	bool top = n && virt >> (32 - n);
	uint32_t base = (uint32_t)field(cpu, registers[cpu].base[top]);
	uint32_t at = (uint32_t)virt, entry;

	if (!top)
		at = at << n >> n;
	base &= ~0u << (top ? 14 : 14 - n);
	entry = entry32(base + (at >> 20) * 4);
	if (entry & 2)
		return mapping(virt, entry, entry >> 18 & 1 ? 24 : 20);
	if (!(entry & 1))
		return NO_MAPPING;
	entry = entry32((entry & ~0x3ffu) + (at >> 12 & 0xff) * 4);
	if (!(entry & 3))
		return NO_MAPPING;
	return mapping(virt, entry, entry & 2 ? 12 : 16);
}

struct mapping walk(int cpu, uint64_t virt)
{
	uint32_t control = (uint32_t)field(cpu, registers[cpu].control);

	if (kernel_is_a64)
		return walk_a64(cpu, virt);
	return control >> 31 ? walk_a32_long(cpu, virt, control)
			     : walk_a32_short(cpu, virt, control);
}
