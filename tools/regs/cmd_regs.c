// SPDX-License-Identifier: MIT
/* upmu regs: the PMU's registers, or a value of one, field by field. */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/command.h"
#include "lib/registers/registers.h"
#include "lib/sys.h"
#include "fields.h"
#include "upmu.h"
#include "upmu/uapi.h"

#define CYCLES_BIT 31
#define NO_COUNTER (-1)

#define DECODE_HINT "hint: upmu regs PMCR=0x41072011 decodes a value"

/* What is shown of an ARM register on a machine that has none. */
#define DEFAULT_ARCHITECTURE "v7"

/* Other manuals' names of the same registers. */
static const char *usual_name(const char *name)
{
	static const struct {
		const char *other, *usual;
	} names[] = {
		{ "PMNC", "PMCR" }, /* ARM11's, and Linux's for it */
		{ "PMOVSCLR", "PMOVSR" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcasecmp(names[i].other, name))
			return names[i].usual;
	return name;
}

/* AArch64's own name of a register stands where others have the access. */
static const struct regs_register *
find_register(const struct regs_register *registers, const char *name)
{
	name = usual_name(name);
	for (const struct regs_register *r = registers; r->name; r++)
		if (!strcasecmp(r->name, name) || !strcasecmp(r->access, name))
			return r;
	return NULL;
}

static void print_mask(uint32_t value)
{
	if (!value)
		printf("  no counter");
	for (int bit = 0; bit < CYCLES_BIT; bit++)
		if (value & (UINT32_C(1) << bit))
			printf("  event counter %d", bit);
	if (value & (UINT32_C(1) << CYCLES_BIT))
		printf("  cycle counter");
	putchar('\n');
}

static void print_field(const struct regs_field *field, uint32_t value)
{
	unsigned int width = field->high - field->low + 1u;
	uint32_t part = (value >> field->low) & ((UINT64_C(1) << width) - 1);
	char bits[8];

	if (width == 1)
		snprintf(bits, sizeof(bits), "%u", field->low);
	else
		snprintf(bits, sizeof(bits), "%u:%u", field->high, field->low);
	printf("  %5s  %-9s ", bits, field->name);
	printf(width > 5 ? "0x%02x" : "%4u", part);
	printf("  %s\n", field->meaning);
}

static void print_register(const struct regs_register *r, uint32_t value,
			   int counter)
{
	if (counter == NO_COUNTER)
		printf("%s = 0x%08x", r->name, value);
	else
		printf("%s of counter %d = 0x%08x", r->name, counter, value);
	printf("  %s  (%s)\n", r->purpose, r->access);
	if (!r->field) {
		print_mask(value);
		return;
	}
	for (const struct regs_field *f = r->field; f->name; f++)
		print_field(f, value);
}

/* Nothing where the architecture has no such register. */
static void print_named(const struct regs_register *registers, const char *name,
			uint32_t value, int counter)
{
	const struct regs_register *r = find_register(registers, name);

	if (r)
		print_register(r, value, counter);
}

static void print_all(const struct regs_register *registers,
		      const struct upmu_registers *now)
{
	/* Readable it has a bit set, or nothing here could be read. */
	if (now->user_access)
		print_named(registers, "PMUSERENR", now->user_access,
			    NO_COUNTER);
	else
		puts("PMUSERENR: user mode may never read it");
	print_named(registers, "PMCR", now->control, NO_COUNTER);
	print_named(registers, "PMCNTENSET", now->enabled, NO_COUNTER);
	print_named(registers, "PMOVSR", now->overflow, NO_COUNTER);
	print_named(registers, "PMSELR", now->selected, NO_COUNTER);
	for (unsigned int n = 0; n < now->counters; n++)
		print_named(registers, "PMXEVTYPER", now->type[n], n);
	if (now->has_enables)
		puts("PMINTENSET, PMINTENCLR: user mode may never read them");
	printf("%-24s %20llu\n", "cycle counter",
	       (unsigned long long)now->cycles);
	for (unsigned int n = 0; n < now->counters; n++)
		printf("event counter %-10u %20llu\n", n,
		       (unsigned long long)now->counter[n]);
}

/* All of them of one CPU. */
static int stay_here(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : cpu;
}

static int refuse(const char *why)
{
	fprintf(stderr, "upmu regs: cannot read the registers: %s\n", why);
	return 1;
}

static int show_registers(void)
{
	const char *architecture = upmu_registers_architecture();
	const struct regs_register *registers = regs_of(architecture);
	struct upmu_registers now = { 0 };
	int cpu = stay_here(), lease = -1, error;

	if (!registers) {
		fputs("upmu regs: this processor has no such registers\n" DECODE_HINT
		      "\n",
		      stderr);
		return 1;
	}
	error = upmu_lease_take(&lease, UPMU_MODE_COUNT, 0);
	/* A kernel that opens counters by itself opens nothing else. */
	if (error && !upmu_sys_exists(UPMU_USER_ACCESS))
		return refuse(upmu_explain());
	if (!error)
		error = upmu_registers_read(&now);
	if (error) {
		refuse("this kernel lets user mode read counters "
		       "only\n" DECODE_HINT);
	} else {
		printf("CPU %d, names of %s; PMUSERENR is as the lease of this "
		       "command has it\n",
		       cpu, architecture);
		print_all(registers, &now);
	}
	upmu_lease_release(lease);
	return error ? 1 : 0;
}

static int decode(const char *architecture, const char *argument)
{
	const struct regs_register *registers = regs_of(architecture), *r;
	const char *sign = strchr(argument, '=');
	char name[24], *end;
	unsigned long value;

	if (!sign || sign == argument ||
	    (size_t)(sign - argument) >= sizeof(name)) {
		fprintf(stderr, "upmu regs: '%s' is not NAME=VALUE\n",
			argument);
		return 2;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(sign - argument), argument);
	r = find_register(registers, name);
	if (!r) {
		fprintf(stderr, "upmu regs: no register '%s' on %s; there are",
			name, architecture);
		for (r = registers; r->name; r++)
			fprintf(stderr, " %s", r->name);
		fputc('\n', stderr);
		return 2;
	}
	errno = 0;
	value = strtoul(sign + 1, &end, 0);
	if (!sign[1] || *end || errno || value > UINT32_MAX) {
		fprintf(stderr, "upmu regs: '%s' is not a 32-bit number\n",
			sign + 1);
		return 2;
	}
	print_register(r, value, NO_COUNTER);
	return 0;
}

static void print_help(void)
{
	puts("usage: upmu regs [--arch NAME] [REGISTER=VALUE...]\n"
	     "Show the PMU's registers of this CPU as they are now, field by\n"
	     "field, or take a value apart that is given.\n\n"
	     "  --arch NAME  decode for v6, v7, v8-32 or v8-64\n"
	     "  --help       this text");
}

int cmd_regs(int argc, char **argv)
{
	static const struct option options[] = {
		{ "arch", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *architecture = upmu_registers_architecture();
	int letter, status = 0;

	if (!regs_of(architecture))
		architecture = DEFAULT_ARCHITECTURE;
	while ((letter = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (letter) {
		case 'a':
			architecture = optarg;
			break;
		case 'h':
			print_help();
			return 0;
		default:
			fputs("hint: upmu regs --help\n", stderr);
			return 2;
		}
	}
	if (!regs_of(architecture)) {
		fprintf(stderr,
			"upmu regs: no architecture '%s'; there are v6 v7 "
			"v8-32 v8-64\n",
			architecture);
		return 2;
	}
	if (optind == argc)
		return show_registers();
	for (int i = optind; i < argc && !status; i++)
		status = decode(architecture, argv[i]);
	return status;
}
