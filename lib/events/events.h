/* SPDX-License-Identifier: MIT */
/**
 * events.h - events by name: tables of cores, this machine, event lists
 *
 * Inside the project only (the library and the command). Nothing here
 * allocates memory; every call may be made from any thread; tables are
 * constant. Facts come from tables/, the format is in FORMAT.md.
 */
#ifndef UPMU_EVENTS_EVENTS_H
#define UPMU_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cores and their tables ------------------------------------------ */

enum upmu_arch {
	UPMU_ARCH_V6 = 6,
	UPMU_ARCH_V7 = 7,
	UPMU_ARCH_V8 = 8,
	UPMU_ARCH_APPLE, /* a PMU of Apple's own; the cores are ARMv8 */
};

enum upmu_filter {
	UPMU_FILTER_USER = 1 << 0,
	UPMU_FILTER_KERNEL = 1 << 1,
	UPMU_FILTER_HYP = 1 << 2,
};

/** The nine default events of `upmu stat`, in the order they are printed. */
enum upmu_default {
	UPMU_DEFAULT_CYCLES,
	UPMU_DEFAULT_INSTRUCTIONS,
	UPMU_DEFAULT_STALL,
	UPMU_DEFAULT_L1D,
	UPMU_DEFAULT_L1D_MISS,
	UPMU_DEFAULT_DTLB,
	UPMU_DEFAULT_TLB,
	UPMU_DEFAULT_BRANCHES,
	UPMU_DEFAULT_BRANCH_MISSES,
	UPMU_DEFAULTS
};

struct upmu_core;
struct upmu_event_row;

/** Cores in order of name; NULL from the end on. */
const struct upmu_core *upmu_core_at(size_t n);
/** By the name of the table, of a variant or of its PMU? */
bool upmu_core_is_called(const struct upmu_core *core, const char *name,
			 size_t length);
/** The one that is called so; NULL: none. */
const struct upmu_core *upmu_core_by_name(const char *name, size_t length);
/** By implementer and part of a MIDR value; NULL: no table. */
const struct upmu_core *upmu_core_by_midr(uint64_t midr);
/** What the architecture gives every core; NULL for ARMv6. */
const struct upmu_core *upmu_core_common(enum upmu_arch arch);

const char *upmu_core_name(const struct upmu_core *core);
const char *upmu_core_title(const struct upmu_core *core);
/** Names of variants that the table serves, a blank between two. */
const char *upmu_core_also(const struct upmu_core *core);
/** Lines about the whole core, each ended by a newline; "" for none. */
const char *upmu_core_notes(const struct upmu_core *core);
/** Manuals that the table was made from, a line each. */
const char *upmu_core_manuals(const struct upmu_core *core);
enum upmu_arch upmu_core_arch(const struct upmu_core *core);
/** Event counters besides the cycle counter, and most it may be built with. */
unsigned int upmu_core_counters(const struct upmu_core *core);
unsigned int upmu_core_counters_most(const struct upmu_core *core);
/** Of enum upmu_filter: what its PMU can leave out. */
unsigned int upmu_core_filters(const struct upmu_core *core);
/** True for the table of a core that is not known by itself. */
bool upmu_core_is_common(const struct upmu_core *core);

/** Rows by rising code; NULL from the end on. */
const struct upmu_event_row *upmu_core_row(const struct upmu_core *core,
					   size_t n);
/** By mnemonic, in any case; NULL: none. */
const struct upmu_event_row *upmu_core_find_named(const struct upmu_core *core,
						  const char *name,
						  size_t length);
/** By mnemonic or perf's generic name, in any case; NULL: none. */
const struct upmu_event_row *upmu_core_find(const struct upmu_core *core,
					    const char *name, size_t length);

/** A kernel's version as a number: UPMU_LINUX(6, 12) is Linux 6.12. */
#define UPMU_LINUX(major, minor) ((major) << 8 | (minor))

/**
 * struct upmu_perf_choice - what a driver of perf's tries for a generic name
 * @row: the core's event
 * @since: first Linux that tries it, as UPMU_LINUX(); 0: all do
 * @is_own: this core's own driver does, the one for any PMUv3 does not
 */
struct upmu_perf_choice {
	const struct upmu_event_row *row;
	unsigned int since;
	bool is_own;
};

struct upmu_generic;
/**
 * The @n-th event that drivers try for a generic name of perf (generic.h) on
 * this core, in their order: the first that the core has counts. False from
 * the end on: perf counts nothing, or nothing that the core's table lists.
 */
bool upmu_core_perf_choice(const struct upmu_core *core,
			   const struct upmu_generic *generic, size_t n,
			   struct upmu_perf_choice *out);
/** Which cores have a mnemonic: how many, the first @n of them in @out. */
size_t upmu_cores_with(const char *name, size_t length,
		       const struct upmu_core **out, size_t n);
const struct upmu_event_row *upmu_core_find_code(const struct upmu_core *core,
						 unsigned int code);
const struct upmu_event_row *upmu_core_default(const struct upmu_core *core,
					       enum upmu_default which);
/** "cycles", "branch_misses": the key of the tables' `default` lines. */
const char *upmu_default_key(enum upmu_default which);

unsigned int upmu_row_code(const struct upmu_event_row *row);
const char *upmu_row_name(const struct upmu_event_row *row);
/** One line: what one count is. */
const char *upmu_row_text(const struct upmu_event_row *row);
/** What to beware of; "" for nothing known. */
const char *upmu_row_caveat(const struct upmu_event_row *row);
/** Where the manual says it. */
const char *upmu_row_source(const struct upmu_event_row *row);
/** True for the event that the cycle counter counts. */
bool upmu_row_is_cycles(const struct upmu_event_row *row);

/* ---- this machine ---------------------------------------------------- */

#define UPMU_KINDS_MAX	   8
#define UPMU_CPUS_MAX	   1024
#define UPMU_PMU_NAME_MAX  48
#define UPMU_PMU_TYPE_NONE UINT32_MAX

#define UPMU_MODEL_CODES 0x100

/**
 * struct upmu_core_model - what counts a core's events on an emulated board
 * @title: "Cortex-A7"; empty where the device tree tells of no model of it
 * @article: what is said before it: "a" or "an"
 * @geometry: what it has, in words: "L1D 32 KiB, 4 ways, ..."
 * @codes: a bit for each event that it counts by what it models
 * @exact: the same for those that it counts by the emulator's own clock
 */
struct upmu_core_model {
	char title[40];
	const char *article;
	char geometry[200];
	unsigned char codes[UPMU_MODEL_CODES / 8];
	unsigned char exact[UPMU_MODEL_CODES / 8];
};

/**
 * struct upmu_core_kind - CPUs of one kind, and perf's PMU for them
 * @core: its table (the architecture's where it is not known by itself);
 *        NULL where the processor is no ARM
 * @driver: the core that its PMU is called by; NULL: none that a table knows
 * @linux: the kernel's version, as UPMU_LINUX(); 0: not told, or not meant:
 *         then the newest that the tables know
 * @midr: MIDR of its first CPU; 0: not told by the kernel
 * @pmu_type: perf_event_attr.type; UPMU_PMU_TYPE_NONE where perf has no PMU
 * @pmu_name: under /sys/bus/event_source/devices; "" for none
 * @cycles_config: perf's config that takes the cycle counter: 0xff with the
 *                 drivers for ARMv6 and ARMv7, 0x11 with the one for
 *                 ARMv8, 0x02 with Apple's
 * @cpus: one bit for each CPU
 * @model: what counts its events where the board is emulated
 */
struct upmu_core_kind {
	const struct upmu_core *core;
	const struct upmu_core *driver;
	unsigned int linux;
	uint64_t midr;
	uint32_t pmu_type;
	uint32_t cycles_config;
	char pmu_name[UPMU_PMU_NAME_MAX];
	uint64_t cpus[UPMU_CPUS_MAX / 64];
	struct upmu_core_model model;
};

/**
 * struct upmu_model - whether an emulated board has models of its cores
 * (boards/model)
 * @is_told: the device tree tells of them
 * @refused: why this emulator cannot have them; empty where it has them
 */
struct upmu_model {
	bool is_told;
	char refused[200];
};

/**
 * struct upmu_machine - what is asked of the kernel once
 * @kinds: in order of their first CPU; @n_kinds is 0 on other processors
 *         than ARM, and where /proc and /sys tell nothing
 * @is_emulated: see upmu_machine_is_emulated()
 * @model: whether an emulated board counts by models of its cores
 */
struct upmu_machine {
	size_t n_kinds;
	bool is_emulated;
	struct upmu_model model;
	struct upmu_core_kind kinds[UPMU_KINDS_MAX];
};

/**
 * upmu_machine_read - find out about the CPUs and PMUs of this machine
 *
 * Reads below UPMU_ROOT (lib/sys.h), so that a fixture tree stands for any
 * board. Returns 0; a machine that tells nothing has no kinds. -E2BIG: more
 * than UPMU_KINDS_MAX kinds of core. -EFBIG: a list of CPUs that is too long.
 * Costs some 20 system calls and three for each CPU: once in a program.
 */
int upmu_machine_read(struct upmu_machine *machine);

/** What that returned in words; strerror() of -E2BIG speaks of arguments. */
const char *upmu_machine_why(int error);

/**
 * upmu_machine_is_emulated - does an emulator make up the counts?
 *
 * True on QEMU's emulated ARM boards, which count cycles, software
 * increments and (with -icount) instructions; all else only where a model
 * of the core does (struct upmu_model). A virtual machine on real silicon is
 * not emulated.
 */
bool upmu_machine_is_emulated(void);

/** The same, of a machine whose @kinds are known: saves listing its PMUs. */
bool upmu_kinds_are_emulated(const struct upmu_machine *machine);

/**
 * Can an emulated board count this event on such a core, by itself or by its
 * model? By itself QEMU counts instructions only with -icount, and nothing on
 * an ARM1176, whose counters stand still there.
 */
bool upmu_emulator_counts(const struct upmu_core_kind *kind,
			  const struct upmu_event_row *row);

/** Fill @model, and that of each kind, from the device tree. */
void upmu_model_read(struct upmu_machine *machine);

/** Is this event counted by the emulated board's model of the core? */
bool upmu_event_is_modelled(const struct upmu_core_kind *kind,
			    const struct upmu_event_row *row);

/** Is it counted by the model's PMU, but exactly, by the emulator's clock? */
bool upmu_event_is_exact(const struct upmu_core_kind *kind,
			 const struct upmu_event_row *row);

/** What messages and names call a kind: its core, else its PMU. */
const char *upmu_kind_label(const struct upmu_core_kind *kind);

/**
 * Which kind goes by the name of a core or PMU; -1: none. One without a PMU
 * here goes by every name that its core's table knows.
 */
int upmu_machine_kind_named(const struct upmu_machine *machine,
			    const char *name, size_t length);

/** perf refuses a user who asks for user mode alone where a core cannot. */
bool upmu_machine_has_filters(const struct upmu_machine *machine);

/** Which kind a CPU is of; NULL: it is of none. */
const struct upmu_core_kind *
upmu_machine_kind_of_cpu(const struct upmu_machine *machine, unsigned int cpu);

/**
 * Does the kernel publish under events/ what this very core has? The driver
 * for ARMv8 asks the core (PMCEID); the one for ARMv7 publishes one list for
 * every core, so there a table knows better.
 */
bool upmu_kind_publishes(const struct upmu_core_kind *kind);

/**
 * Does this very core leave an event of its table out? A Cortex-A53 without
 * an L2 cache has no l2d_cache; perf opens it all the same and counts 0. The
 * driver for ARMv8 publishes of the codes 0x01 to 0x37 what the core says
 * that it has (PMCEID); of others nothing is known, and false is the answer.
 * Two system calls.
 */
bool upmu_kind_leaves_out(const struct upmu_core_kind *kind,
			  const struct upmu_event_row *row);

/**
 * What perf counts for a generic name on a kind of core, by its driver and the
 * kernel; NULL: nothing that the core's table has. Where the core leaves out
 * all that the driver tries, the first of it.
 */
const struct upmu_event_row *
upmu_kind_perf_row(const struct upmu_core_kind *kind,
		   const struct upmu_generic *generic);

/* ---- event lists ----------------------------------------------------- */

#define UPMU_LIST_MAX	    1024
#define UPMU_EVENT_NAME_MAX 128

enum upmu_event_class {
	UPMU_EVENT_CORE,     /* a core's own, by table or by raw code */
	UPMU_EVENT_GENERIC,  /* perf's PERF_TYPE_HARDWARE or _HW_CACHE */
	UPMU_EVENT_SOFTWARE, /* the kernel's: task-clock, page-faults */
	UPMU_EVENT_PMU,	     /* of a PMU by its name, told by sysfs */
};

enum upmu_event_modifier {
	UPMU_EVENT_USER = 1 << 0,   /* :u */
	UPMU_EVENT_KERNEL = 1 << 1, /* :k */
	UPMU_EVENT_HYP = 1 << 2,    /* :h */
};

/**
 * struct upmu_event - one event of a parsed list, for one kind of core
 * @name: as printed and as it may be typed again: canonical, with its
 *        modifiers; where a machine has several kinds of core, of the form
 *        `cortex-a53/l1d_cache/`
 * @class: of enum upmu_event_class
 * @modifiers: of enum upmu_event_modifier; 0: every level is counted
 * @is_cycles: the cycle counter serves it; it takes no event counter
 * @is_instructions: its total is what estimates are made from
 * @is_supported: false: this kind of core lacks it though another has it, or
 *                this very core leaves it out (upmu_kind_leaves_out());
 *                then there is nothing to open and no number to print
 * @is_alike: all kinds of core that support it count the same mnemonic, so
 *            their counts may be added up
 * @position: place in the list as written, from 0; on big.LITTLE one
 *            written event gives one entry for each kind, one after another
 * @group: 0, or the number of its { }, from 1
 * @kind: place in machine->kinds; -1: of no kind (software, generic, PMU)
 * @type, @config, @config1, @config2: for perf_event_attr
 * @code: the core's number for it (0x11 for cycles even where @config is
 *        0xff); UPMU_EVENT_NO_CODE where @class is not UPMU_EVENT_CORE
 * @row: row of the core's table; NULL for a code that it does not list
 */
struct upmu_event {
	char name[UPMU_EVENT_NAME_MAX];
	uint8_t class;
	uint8_t modifiers;
	bool is_cycles;
	bool is_instructions;
	bool is_supported;
	bool is_alike;
	int8_t kind;
	uint16_t position;
	uint16_t group;
	uint32_t type;
	uint32_t code;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	const struct upmu_event_row *row;
};

#define UPMU_EVENT_NO_CODE UINT32_MAX

/** A parsed list; some 190 KB: static, or one allocation of the caller's. */
struct upmu_event_list {
	size_t n;	  /* entries */
	size_t n_written; /* events as written */
	size_t n_groups;
	struct upmu_event events[UPMU_LIST_MAX];
};

/**
 * struct upmu_events_error - why a list was refused
 * @position: which event of the list, from 1; 0: the list as a whole
 * @offset: where in the text, in bytes
 * @text: the reason, with the event quoted; no newline
 * @hint: the nearest known names, or what to do; "" for nothing
 */
struct upmu_events_error {
	size_t position;
	size_t offset;
	char text[256];
	char hint[256];
};

/**
 * upmu_events_parse - turn a list of events into what the kernel wants
 * @out: on failure its sizes stay as they were, what is in @events is gone
 * @text: names parted by commas, any case: a mnemonic (`l1d_cache`), perf's
 *        generic names (`cycles`), `r1d` (raw code, hexadecimal), software
 *        events (`task-clock`), `CORE/NAME/` and `PMU/NAME/`,
 *        `PMU/event=0x3/`; `{a,b}` must be counted together; `:u` `:k` `:h`
 *        after an event or a group
 * @machine: from upmu_machine_read()
 * @error: may be NULL; written only on failure
 *
 * Returns 0. -EINVAL: the text is no list. -ENOENT: an event (or PMU) is
 * not known here. -E2BIG: more than UPMU_LIST_MAX entries. -ENOSPC: a
 * group has more events than the core has counters. -EMFILE, -ENFILE, -ENOMEM:
 * /sys could not be asked. Allocates nothing;
 * asks /sys for a name that no table has, and on ARMv8 whether this core
 * leaves an event out.
 */
int upmu_events_parse(struct upmu_event_list *out, const char *text,
		      const struct upmu_machine *machine,
		      struct upmu_events_error *error);

/**
 * upmu_events_default - the nine default events as a list
 *
 * As upmu_events_parse(); on a machine without a table -ENOENT. The events
 * stand in the order of enum upmu_default (@position); a mnemonic that
 * serves two of the nine stands twice.
 */
int upmu_events_default(struct upmu_event_list *out,
			const struct upmu_machine *machine);

/**
 * upmu_events_fit - share events out into sets that counters can hold
 * @events: entries of one kind of core
 * @counters: event counters that there are
 * @set_of: receives the set of each entry, from 0; UPMU_SET_EVERY for one
 *          that is counted all the time
 *
 * Where all fit they are one set. Otherwise sets take turns; cycles and
 * software events need no event counter and are in every set, and so are
 * instructions where at least UPMU_COUNTERS_TO_SPARE counters are there,
 * because estimates are made from what was counted all the time. Events
 * keep their order, groups stay together, an unsupported one is in no set
 * (UPMU_SET_EVERY). Returns the number of sets, at least 1 where n > 0;
 * -EMFILE: a group is larger than @counters. -E2BIG: n has no number for a set.
 */
int upmu_events_fit(const struct upmu_event *events, size_t n,
		    unsigned int counters, uint16_t *set_of);

#define UPMU_COUNTERS_TO_SPARE 4

#define UPMU_SET_EVERY UINT16_MAX

/**
 * upmu_events_nearest - known names most like a mistyped one
 * @core: NULL: generic and software names only
 *
 * Writes up to @n names into @out, best first, and returns how many; none
 * that differ by more than a third of their length.
 */
size_t upmu_events_nearest(const struct upmu_core *core, const char *name,
			   size_t length, const char **out, size_t n);

/*
 * What to do about an event that @core (NULL: no table) does not have: the
 * cores that have it, else the nearest names, else where to look.
 */
void upmu_hint_event(char *hint, size_t size, const struct upmu_core *core,
		     const char *name, size_t length);

#endif
