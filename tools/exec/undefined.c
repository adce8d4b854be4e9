// SPDX-License-Identifier: MIT
/*
 * The PMU's registers as instructions name them. DDI 0406C B4.1 and C12.8
 * (ARMv7), DDI 0487 G8.4 and D19.5 (ARMv8), DDI 0301H 3.2.51 (ARM1176).
 */
#include "undefined.h"

#include <stdio.h>
#include <string.h>

/* p15 with opc1 0, or op0 3: CRn, CRm, op2. */
static const struct row {
	uint8_t crn, crm, op2;
	const char *name;
	bool kernel_only;
} rows[] = {
	{ 9, 12, 0, "PMCR", false },	   { 9, 12, 1, "PMCNTENSET", false },
	{ 9, 12, 2, "PMCNTENCLR", false }, { 9, 12, 3, "PMOVSR", false },
	{ 9, 12, 4, "PMSWINC", false },	   { 9, 12, 5, "PMSELR", false },
	{ 9, 12, 6, "PMCEID0", false },	   { 9, 12, 7, "PMCEID1", false },
	{ 9, 13, 0, "PMCCNTR", false },	   { 9, 13, 1, "PMXEVTYPER", false },
	{ 9, 13, 2, "PMXEVCNTR", false },  { 9, 14, 0, "PMUSERENR", false },
	{ 9, 14, 1, "PMINTENSET", true },  { 9, 14, 2, "PMINTENCLR", true },
	{ 9, 14, 3, "PMOVSSET", false },   { 15, 12, 0, "PMNC", false },
	{ 15, 12, 1, "CCNT", false },	   { 15, 12, 2, "PMN0", false },
	{ 15, 12, 3, "PMN1", false },
};

static const struct row *find(unsigned int crn, unsigned int crm,
			      unsigned int op2)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].crn == crn && rows[i].crm == crm &&
		    rows[i].op2 == op2)
			return &rows[i];
	return NULL;
}

/* CRn 14: PMEVCNTR<n> in CRm 8 to 11, PMEVTYPER<n> in 12 to 15. */
static bool name_numbered(struct undefined *out, unsigned int crn,
			  unsigned int crm, unsigned int op2)
{
	unsigned int number = (crm & 3) << 3 | op2;

	if (crn != 14 || crm < 8)
		return false;
	if (crm >= 12 && number == 31)
		strcpy(out->name, "PMCCFILTR");
	else
		snprintf(out->name, sizeof(out->name), "PMEV%s%u",
			 crm < 12 ? "CNTR" : "TYPER", number);
	return true;
}

static bool name_register(struct undefined *out, unsigned int crn,
			  unsigned int crm, unsigned int op2)
{
	const struct row *row = find(crn, crm, op2);

	if (!row)
		return name_numbered(out, crn, crm, op2);
	snprintf(out->name, sizeof(out->name), "%s", row->name);
	out->kernel_only = row->kernel_only;
	return true;
}

/* MRC, MCR; MRRC, MCRR of the 64-bit cycle counter: alike in Thumb-2. */
static bool describe_cp15(struct undefined *out, uint32_t code)
{
	unsigned int crn = code >> 16 & 15, crm = code & 15;
	unsigned int rt = code >> 12 & 15, opc2 = code >> 5 & 7;

	out->writes = !(code >> 20 & 1);
	if ((code & 0x0fe00ff0) == 0x0c400f00 && crm == 9) {
		strcpy(out->name, "PMCCNTR");
		snprintf(out->text, sizeof(out->text),
			 "%s p15, 0, r%u, r%u, c9",
			 out->writes ? "mcrr" : "mrrc", rt, crn);
		return true;
	}
	if ((code & 0x0fe00f10) != 0x0e000f10 ||
	    !name_register(out, crn, crm, opc2))
		return false;
	snprintf(out->text, sizeof(out->text), "%s p15, 0, r%u, c%u, c%u, %u",
		 out->writes ? "mcr" : "mrc", rt, crn, crm, opc2);
	return true;
}

/* MRS and MSR (register); op1 3 is what programs may, 0 the kernel's. */
static bool describe_a64(struct undefined *out, uint32_t code)
{
	unsigned int op1 = code >> 16 & 7, rt = code & 31;
	bool kernel = !op1;
	char name[32];

	if ((code & 0xffd80000) != 0xd5180000 || (op1 && op1 != 3) ||
	    !name_register(out, code >> 12 & 15, code >> 8 & 15, code >> 5 & 7))
		return false;
	if (kernel != out->kernel_only || (code >> 12 & 15) == 15)
		return false;
	out->writes = !(code >> 21 & 1);
	snprintf(name, sizeof(name), "%s_EL%d",
		 strcmp(out->name, "PMOVSR") ? out->name : "PMOVSCLR",
		 kernel ? 1 : 0);
	if (out->writes)
		snprintf(out->text, sizeof(out->text), "msr %s, x%u", name, rt);
	else
		snprintf(out->text, sizeof(out->text), "mrs x%u, %s", rt, name);
	snprintf(out->name, sizeof(out->name), "%.23s", name);
	return true;
}

void undefined_describe(struct undefined *out, enum instruction_set set,
			uint32_t code)
{
	bool known = false;

	*out = (struct undefined){ 0 };
	if (set == SET_A64)
		known = describe_a64(out, code);
	else if (set == SET_THUMB ? code >> 28 == 14 : code >> 28 != 15)
		known = set != SET_UNKNOWN && describe_cp15(out, code);
	if (known)
		return;
	*out = (struct undefined){ 0 };
	snprintf(out->text, sizeof(out->text), "0x%0*x",
		 set == SET_THUMB && code < 0x10000 ? 4 : 8, code);
}
