// SPDX-License-Identifier: MIT
/* One event of a list: from its name to what the kernel wants. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "lib/events/generic.h"
#include "lib/events/events.h"
#include "lib/events/resolve.h"
#include "lib/events/sysfs.h"
#include "lib/events/text.h"
#include "lib/perf/pmus.h"

/* A piece of the list. */
struct piece {
	const char *text;
	size_t length;
};

/* What one word is looked up with: every part of the answer. */
struct question {
	const struct upmu_word *word;
	const struct upmu_machine *machine;
	struct upmu_events_error *error;
	struct piece name; /* without PMU/ and modifiers */
	int only_kind;	   /* CORE/NAME/ names one; -1: all */
	int want;	   /* why sysfs could not be asked, or 0 */
	struct upmu_resolved *out;
};

static int asked(struct question *q, int error)
{
	if (upmu_pmus_is_want(error))
		q->want = error;
	return error;
}

static void write_modifiers(char *out, uint8_t modifiers)
{
	if (modifiers & UPMU_EVENT_USER)
		*out++ = 'u';
	if (modifiers & UPMU_EVENT_KERNEL)
		*out++ = 'k';
	if (modifiers & UPMU_EVENT_HYP)
		*out++ = 'h';
	*out = '\0';
}

static char *put(char *out, char *end, const char *text, size_t length)
{
	size_t room = (size_t)(end - out);

	length = length < room ? length : room;
	memcpy(out, text, length);
	return out + length;
}

/* `name`, `name:u`, `label/name/`, `label/name/u`. */
static void write_name(struct upmu_event *event, const char *label,
		       struct piece name)
{
	char *out = event->name, *end = out + sizeof(event->name) - 4;

	/* By pieces: a list of events has a name for each. */
	if (label) {
		out = put(out, end, label, upmu_span(label, '\0'));
		out = put(out, end, "/", 1);
	}
	out = put(out, end, name.text, name.length);
	if (label || event->modifiers)
		out = put(out, end, label ? "/" : ":", 1);
	write_modifiers(out, event->modifiers);
}

static struct upmu_event *add_entry(struct question *q,
				    enum upmu_event_class class, int kind)
{
	struct upmu_event *event = &q->out->events[q->out->n++];

	memset(event, 0, sizeof(*event));
	event->class = (uint8_t) class;
	event->modifiers = q->word->modifiers;
	event->kind = (int8_t)kind;
	event->is_supported = true;
	event->is_alike = true;
	event->code = UPMU_EVENT_NO_CODE;
	event->type = UPMU_PMU_TYPE_NONE;
	return event;
}

/* With one kind of core a name says enough without it. */
static const char *label_of(const struct question *q, int kind)
{
	if (kind < 0 || q->machine->n_kinds < 2)
		return NULL;
	return upmu_kind_label(&q->machine->kinds[kind]);
}

static void set_row(struct upmu_event *event, const struct upmu_core *core)
{
	if (!core)
		return;
	event->row = upmu_core_find_code(core, event->code);
	event->is_instructions =
		event->row &&
		event->row ==
			upmu_core_default(core, UPMU_DEFAULT_INSTRUCTIONS);
}

static void set_code(struct upmu_event *event,
		     const struct upmu_core_kind *kind, unsigned int code,
		     bool is_cycles)
{
	event->code = code;
	event->config = is_cycles ? kind->cycles_config : code;
	event->is_cycles = event->config == kind->cycles_config;
	set_row(event, kind->core);
	event->type = kind->pmu_type == UPMU_PMU_TYPE_NONE ? PERF_TYPE_RAW
							   : kind->pmu_type;
}

static struct upmu_event *add_row(struct question *q, int n,
				  const struct upmu_event_row *row,
				  struct piece name)
{
	const struct upmu_core_kind *kind = &q->machine->kinds[n];
	struct upmu_event *event = add_entry(q, UPMU_EVENT_CORE, n);

	/* An emulator leaves out nearly all: there `code` says what is not. */
	event->is_supported = row && (q->machine->is_emulated ||
				      !upmu_kind_leaves_out(kind, row));
	if (event->is_supported)
		set_code(event, kind, upmu_row_code(row),
			 upmu_row_is_cycles(row));
	write_name(event, label_of(q, n), name);
	return event;
}

static bool wants_kind(const struct question *q, int n)
{
	return q->only_kind < 0 || q->only_kind == n;
}

static struct piece whole(const char *name)
{
	struct piece piece = { name, upmu_span(name, '\0') };

	return piece;
}

/*
 * A generic name stays, for it is what other machines call it; else the
 * mnemonic, in the table's case.
 */
static struct piece printed_name(const struct upmu_event_row *row,
				 const struct upmu_generic *generic)
{
	return whole(generic ? generic->name : upmu_row_name(row));
}

/* The same word may name unlike events on unlike cores (aliases). */
static void mark_unlike(struct upmu_resolved *out)
{
	const struct upmu_event_row *first = NULL;
	bool alike = true;

	for (size_t i = 0; i < out->n; i++) {
		const struct upmu_event *event = &out->events[i];

		if (!event->is_supported)
			continue;
		if (!first)
			first = event->row;
		alike = alike && first && event->row &&
			!strcmp(upmu_row_name(first),
				upmu_row_name(event->row));
	}
	for (size_t i = 0; out->n > 1 && i < out->n; i++)
		out->events[i].is_alike = alike;
}

/* A mnemonic of the core; or what the kernel takes for a generic name. */
static const struct upmu_event_row *row_of(const struct question *q,
					   const struct upmu_core_kind *kind,
					   const struct upmu_generic *generic)
{
	if (generic)
		return upmu_kind_perf_row(kind, generic);
	return upmu_core_find_named(kind->core, q->name.text, q->name.length);
}

/*
 * The kernel's number for a generic name counts what perf counts, whatever
 * this kernel takes for it; cycles and instructions are the same in all. Of
 * several kinds of core only Linux 5.13 and newer know which one such a
 * number means: there it is the core's code.
 */
static void ask_as_perf_does(struct question *q, struct upmu_event *event,
			     const struct upmu_generic *generic)
{
	if (!generic || !event->is_supported || event->is_cycles ||
	    event->is_instructions || q->machine->n_kinds > 1 ||
	    q->machine->kinds[event->kind].pmu_type == UPMU_PMU_TYPE_NONE)
		return;
	event->type = generic->type;
	event->config = generic->config;
}

static bool resolve_by_table(struct question *q)
{
	const struct upmu_event_row *rows[UPMU_KINDS_MAX] = { NULL };
	const struct upmu_event_row *any = NULL;
	const struct upmu_generic *generic =
		upmu_hardware_find(q->name.text, q->name.length);

	for (size_t i = 0; i < q->machine->n_kinds; i++) {
		const struct upmu_core_kind *kind = &q->machine->kinds[i];

		if (!kind->core || !wants_kind(q, (int)i))
			continue;
		rows[i] = row_of(q, kind, generic);
		any = any ? any : rows[i];
	}
	for (size_t i = 0; any && i < q->machine->n_kinds; i++)
		if (wants_kind(q, (int)i))
			ask_as_perf_does(q,
					 add_row(q, (int)i, rows[i],
						 printed_name(any, generic)),
					 generic);
	if (any)
		mark_unlike(q->out);
	return any;
}

void upmu_default_resolve(struct upmu_resolved *out, enum upmu_default which,
			  const struct upmu_machine *machine)
{
	struct upmu_word word = { 0 };
	struct question q = {
		.word = &word, .machine = machine, .only_kind = -1, .out = out
	};

	out->n = 0;
	for (size_t i = 0; i < machine->n_kinds; i++) {
		const struct upmu_core *core = machine->kinds[i].core;
		const struct upmu_event_row *row;

		if (!core)
			continue;
		row = upmu_core_default(core, which);
		add_row(&q, (int)i, row, whole(upmu_row_name(row)));
	}
	mark_unlike(out);
}

static bool resolve_software(struct question *q)
{
	const struct upmu_generic *found;
	struct upmu_event *event;

	if (q->only_kind >= 0)
		return false;
	found = upmu_software_find(q->name.text, q->name.length);
	if (!found)
		return false;
	event = add_entry(q, UPMU_EVENT_SOFTWARE, -1);
	event->type = found->type;
	event->config = found->config;
	write_name(event, NULL, whole(found->name));
	return true;
}

static void add_generic(struct question *q, const struct upmu_generic *found,
			int n)
{
	struct upmu_event *event = add_entry(q, UPMU_EVENT_GENERIC, n);

	event->type = found->type;
	event->config = found->config;
	event->is_cycles = found->type == PERF_TYPE_HARDWARE &&
			   found->config == PERF_COUNT_HW_CPU_CYCLES;
	event->is_instructions = found->type == PERF_TYPE_HARDWARE &&
				 found->config == PERF_COUNT_HW_INSTRUCTIONS;
	if (n >= 0) {
		uint32_t type = q->machine->kinds[n].pmu_type;

		event->is_supported = type != UPMU_PMU_TYPE_NONE;
		/* Since 5.13 the upper half says which PMU is meant. */
		if (q->machine->n_kinds > 1)
			event->config |= (uint64_t)type << 32;
	}
	write_name(event, label_of(q, n), whole(found->name));
}

/* The kernel's own mapping, where no table of ours has one. */
static bool resolve_generic(struct question *q)
{
	const struct upmu_generic *found;
	bool any = false;

	found = upmu_hardware_find(q->name.text, q->name.length);
	if (!found)
		return false;
	if (!q->machine->n_kinds) {
		add_generic(q, found, -1);
		return true;
	}
	for (size_t i = 0; i < q->machine->n_kinds; i++)
		any = any ||
		      (wants_kind(q, (int)i) &&
		       q->machine->kinds[i].pmu_type != UPMU_PMU_TYPE_NONE);
	for (size_t i = 0; any && i < q->machine->n_kinds; i++)
		if (wants_kind(q, (int)i))
			add_generic(q, found, (int)i);
	return any;
}

static void add_raw(struct question *q, int n, unsigned int code,
		    const char *label)
{
	const struct upmu_core_kind *kind = &q->machine->kinds[n];
	struct upmu_event *event = add_entry(q, UPMU_EVENT_CORE, n);

	set_code(event, kind, code, false);
	write_name(event, label, q->name);
}

static unsigned int most_code(const struct upmu_core_kind *kind)
{
	if (kind->core && upmu_core_arch(kind->core) != UPMU_ARCH_V8)
		return 0xff;
	return 0xffff;
}

static int refuse_word(struct question *q, int error, const char *what)
{
	snprintf(q->error->text, sizeof(q->error->text),
		 "event %zu of the list, '%.*s': %s", q->error->position,
		 (int)(q->word->length < 64 ? q->word->length : 64),
		 q->word->text, what);
	q->error->hint[0] = '\0';
	return error;
}

/* 0: resolved; 1: no raw code; else refused. */
static int resolve_raw(struct question *q)
{
	struct upmu_event *event;
	uint64_t code;

	if (upmu_lower(q->name.text[0]) != 'r' ||
	    !upmu_parse_hex(q->name.text + 1, q->name.length - 1, &code))
		return 1;
	if (!q->machine->n_kinds) {
		event = add_entry(q, UPMU_EVENT_PMU, -1);
		event->type = PERF_TYPE_RAW;
		event->config = code;
		write_name(event, NULL, q->name);
		return 0;
	}
	for (size_t i = 0; i < q->machine->n_kinds; i++) {
		char what[64];

		if (!wants_kind(q, (int)i))
			continue;
		if (code > most_code(&q->machine->kinds[i])) {
			snprintf(what, sizeof(what), "codes of %.30s end at %x",
				 upmu_kind_label(&q->machine->kinds[i]),
				 most_code(&q->machine->kinds[i]));
			return refuse_word(q, -EINVAL, what);
		}
		add_raw(q, (int)i, (unsigned int)code, label_of(q, (int)i));
	}
	mark_unlike(q->out);
	return 0;
}

static void add_sysfs(struct question *q, int n, const struct upmu_terms *terms,
		      uint32_t type, const char *label)
{
	struct upmu_event *event =
		add_entry(q, n < 0 ? UPMU_EVENT_PMU : UPMU_EVENT_CORE, n);

	event->type = type;
	event->config = terms->config;
	event->config1 = terms->config1;
	event->config2 = terms->config2;
	if (n >= 0) {
		const struct upmu_core_kind *kind = &q->machine->kinds[n];

		event->code = (uint32_t)terms->config & 0xffff;
		event->is_cycles = terms->config == kind->cycles_config;
		set_row(event, kind->core);
	}
	write_name(event, label, q->name);
}

/* A name that no table has: does the kernel publish it for a CPU's PMU? */
static bool resolve_published(struct question *q)
{
	struct upmu_terms terms;
	bool any = false;

	for (size_t i = 0; i < q->machine->n_kinds; i++) {
		const struct upmu_core_kind *kind = &q->machine->kinds[i];

		if (!wants_kind(q, (int)i) || !upmu_kind_publishes(kind))
			continue;
		if (asked(q, upmu_sysfs_event(kind->pmu_name, q->name.text,
					      q->name.length, &terms)))
			continue;
		add_sysfs(q, (int)i, &terms, kind->pmu_type,
			  label_of(q, (int)i));
		any = true;
	}
	if (any)
		mark_unlike(q->out);
	return any;
}

/* A processor that is no ARM: its PMU is called "cpu". */
static bool resolve_published_elsewhere(struct question *q)
{
	struct upmu_terms terms;
	uint32_t type;

	if (q->machine->n_kinds || asked(q, upmu_sysfs_type("cpu", &type)) ||
	    asked(q, upmu_sysfs_event("cpu", q->name.text, q->name.length,
				      &terms)))
		return false;
	add_sysfs(q, -1, &terms, type, NULL);
	return true;
}

/* Of perf stat itself: the times that a report ends with. */
static bool is_time_of_report(const struct piece *name)
{
	return upmu_name_is(name->text, name->length, "duration_time") ||
	       upmu_name_is(name->text, name->length, "user_time") ||
	       upmu_name_is(name->text, name->length, "system_time");
}

static int refuse_unknown(struct question *q)
{
	const struct upmu_core_kind *kind = NULL;
	char what[96] = "unknown event";
	bool more = q->only_kind < 0 && q->machine->n_kinds > 1;

	if (q->machine->n_kinds)
		kind = &q->machine->kinds[q->only_kind < 0 ? 0 : q->only_kind];
	if (kind)
		snprintf(what, sizeof(what), "no event of %s%s",
			 upmu_kind_label(kind), more ? " or the others" : "");
	refuse_word(q, -ENOENT, what);
	if (is_time_of_report(&q->name)) {
		snprintf(q->error->hint, sizeof(q->error->hint),
			 "leave it out: upmu stat tells a program's times "
			 "by itself");
		return -ENOENT;
	}
	upmu_hint_event(q->error->hint, sizeof(q->error->hint),
			kind ? kind->core : NULL, q->name.text, q->name.length);
	return -ENOENT;
}

static int resolve_name(struct question *q)
{
	int ret;

	/* No core has an event that is called as one of the kernel's own. */
	if (resolve_software(q) || resolve_by_table(q) || resolve_generic(q))
		return 0;
	ret = resolve_raw(q);
	if (ret <= 0)
		return ret;
	if (resolve_published(q) || resolve_published_elsewhere(q))
		return 0;
	return refuse_unknown(q);
}

/* `event=0x3,...` of a PMU that may or may not be a core's. */
static int resolve_terms(struct question *q, const char *pmu, uint32_t type)
{
	struct upmu_terms terms;
	char what[96];

	if (asked(q, upmu_sysfs_terms(pmu, q->name.text, q->name.length,
				      &terms))) {
		snprintf(what, sizeof(what), "PMU %.40s has no such term", pmu);
		return refuse_word(q, -EINVAL, what);
	}
	add_sysfs(q, q->only_kind, &terms, type, pmu);
	return 0;
}

/* `event=0x3` where no PMU tells its format: all of ARM's have it so. */
static bool resolve_event_term(struct question *q, const char *pmu)
{
	static const char term[] = "event=0x";
	size_t length = strlen(term);
	uint64_t code;

	if (q->name.length <= length ||
	    !upmu_text_is(q->name.text, length, term, length) ||
	    !upmu_parse_hex(q->name.text + length, q->name.length - length,
			    &code) ||
	    code > most_code(&q->machine->kinds[q->only_kind]))
		return false;
	add_raw(q, q->only_kind, (unsigned int)code, pmu);
	return true;
}

static int resolve_elsewhere(struct question *q, const char *pmu)
{
	struct upmu_terms terms;
	uint32_t type;
	char what[96];

	if (asked(q, upmu_sysfs_type(pmu, &type))) {
		snprintf(what, sizeof(what), "no PMU or core '%.40s' here",
			 pmu);
		refuse_word(q, -ENOENT, what);
		snprintf(q->error->hint, sizeof(q->error->hint),
			 "ls /sys/bus/event_source/devices");
		return -ENOENT;
	}
	if (memchr(q->name.text, '=', q->name.length))
		return resolve_terms(q, pmu, type);
	if (asked(q, upmu_sysfs_event(pmu, q->name.text, q->name.length,
				      &terms))) {
		snprintf(what, sizeof(what), "PMU %.40s has no such event",
			 pmu);
		refuse_word(q, -ENOENT, what);
		snprintf(q->error->hint, sizeof(q->error->hint),
			 "ls /sys/bus/event_source/devices/%.40s/events", pmu);
		return -ENOENT;
	}
	add_sysfs(q, -1, &terms, type, pmu);
	return 0;
}

/* `CORE/NAME/` and `PMU/NAME/`. */
static int resolve_qualified(struct question *q, size_t slash)
{
	char pmu[UPMU_PMU_NAME_MAX];

	if (!slash || slash >= sizeof(pmu))
		return refuse_word(q, -EINVAL, "no name of a PMU before '/'");
	memcpy(pmu, q->word->text, slash);
	pmu[slash] = '\0';
	q->name.text = q->word->text + slash + 1;
	q->name.length = q->word->length - slash - 2;
	if (!q->name.length)
		return refuse_word(q, -EINVAL, "nothing between the '/'");
	q->only_kind = upmu_machine_kind_named(q->machine, pmu, slash);
	if (q->only_kind < 0)
		return resolve_elsewhere(q, pmu);
	if (memchr(q->name.text, '=', q->name.length)) {
		const struct upmu_core_kind *kind =
			&q->machine->kinds[q->only_kind];

		if (!kind->pmu_name[0] && resolve_event_term(q, pmu))
			return 0;
		return resolve_terms(q, kind->pmu_name, kind->pmu_type);
	}
	return resolve_name(q);
}

int upmu_word_resolve(struct upmu_resolved *out, const struct upmu_word *word,
		      const struct upmu_machine *machine,
		      struct upmu_events_error *error)
{
	struct question q = { .word = word,
			      .machine = machine,
			      .error = error,
			      .name = { word->text, word->length },
			      .only_kind = -1,
			      .out = out };
	const char *slash = memchr(word->text, '/', word->length);
	int ret;

	out->n = 0;
	if (word->length >= 96)
		return refuse_word(&q, -EINVAL, "longer than any event");
	ret = slash ? resolve_qualified(&q, (size_t)(slash - word->text))
		    : resolve_name(&q);
	return q.want ? refuse_word(&q, q.want, strerror(-q.want)) : ret;
}
