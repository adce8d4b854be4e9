// SPDX-License-Identifier: MIT
/* The grammar of event lists. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/events/events.h"
#include "lib/events/resolve.h"
#include "lib/events/text.h"

#define QUOTED_MOST 40

struct parser {
	const char *text;
	size_t at;
	size_t item; /* where the present one begins, and its number */
	size_t n_item;
	const struct upmu_machine *machine;
	struct upmu_events_error *error;
	struct upmu_event_list *out;
	size_t n, n_written, n_groups;
	bool in_group;
	uint8_t group_modifiers;
	unsigned int group_counters[UPMU_KINDS_MAX];
};

/* What the user sees of the item that is wrong: up to the next comma. */
static size_t quoted_length(const struct parser *p)
{
	size_t n = upmu_span(p->text + p->item, ',');

	return n < QUOTED_MOST ? n : QUOTED_MOST;
}

static int refuse_list(struct parser *p, int error, const char *what)
{
	int n = (int)quoted_length(p);

	p->error->position = p->n_item + 1;
	p->error->offset = p->at;
	snprintf(p->error->text, sizeof(p->error->text),
		 n ? "event %zu of the list, '%.*s': %s"
		   : "event %zu of the list:%.*s %s",
		 p->n_item + 1, n, p->text + p->item, what);
	p->error->hint[0] = '\0';
	return error;
}

static void skip_blanks(struct parser *p)
{
	while (p->text[p->at] == ' ' || p->text[p->at] == '\t' ||
	       p->text[p->at] == '\n')
		p->at++;
}

static bool is_delimiter(char c)
{
	return !c || c == ',' || c == '{' || c == '}' || c == ':' || c == ' ' ||
	       c == '\t' || c == '\n';
}

static int modifier(char c)
{
	switch (c) {
	case 'u':
		return UPMU_EVENT_USER;
	case 'k':
		return UPMU_EVENT_KERNEL;
	case 'h':
		return UPMU_EVENT_HYP;
	default:
		return 0;
	}
}

/* More letters behind a ':' are a name: cycles:ppp is perf's longest. */
#define MODIFIERS_OF_PERF 3

static int refuse_tracepoint(struct parser *p)
{
	refuse_list(p, -EINVAL, "tracepoints are not counted");
	snprintf(p->error->hint, sizeof(p->error->hint),
		 "perf stat counts them; upmu list has this machine's events");
	return -EINVAL;
}

/* Letters at p->at up to a delimiter; @out: of enum upmu_event_modifier. */
static int read_modifiers(struct parser *p, uint8_t *out)
{
	size_t start = p->at;
	uint8_t modifiers = 0;
	char what[48];

	for (; !is_delimiter(p->text[p->at]); p->at++) {
		int one = modifier(p->text[p->at]);

		if (one) {
			modifiers |= (uint8_t)one;
			continue;
		}
		/* sched:sched_switch */
		if (p->at == start && isalpha((unsigned char)p->text[p->at]) &&
		    strcspn(p->text + p->at, ",}") > MODIFIERS_OF_PERF)
			return refuse_tracepoint(p);
		snprintf(what, sizeof(what), "unknown modifier '%c'",
			 p->text[p->at]);
		refuse_list(p, -EINVAL, what);
		snprintf(p->error->hint, sizeof(p->error->hint),
			 "modifiers are u (user), k (kernel), h (hypervisor)");
		return -EINVAL;
	}
	*out = modifiers;
	return 0;
}

static int read_colon_modifiers(struct parser *p, uint8_t *out)
{
	uint8_t modifiers;
	int ret;

	*out = 0;
	if (p->text[p->at] != ':')
		return 0;
	p->at++;
	if (is_delimiter(p->text[p->at]))
		return refuse_list(p, -EINVAL, "no modifier after ':'");
	ret = read_modifiers(p, &modifiers);
	if (!ret)
		*out = modifiers;
	return ret;
}

/* `name` or `pmu/name/`, where commas and colons are part of the name. */
static int read_word(struct parser *p, struct upmu_word *word)
{
	size_t start = p->at;
	int ret;

	word->text = p->text + start;
	word->modifiers = 0;
	while (!is_delimiter(p->text[p->at]) && p->text[p->at] != '/')
		p->at++;
	if (p->text[p->at] != '/') {
		word->length = p->at - start;
		return 0;
	}
	p->at++;
	p->at += upmu_span(p->text + p->at, '/');
	if (!p->text[p->at]) {
		p->at = start;
		return refuse_list(p, -EINVAL,
				   "no second '/' after a PMU's name");
	}
	p->at++;
	word->length = p->at - start;
	ret = read_modifiers(p, &word->modifiers);
	return ret;
}

static bool takes_counter(const struct upmu_event *event)
{
	return event->kind >= 0 && event->is_supported && !event->is_cycles &&
	       event->class != UPMU_EVENT_SOFTWARE;
}

/* What can never run together is refused before the kernel is asked. */
static int count_group(struct parser *p, const struct upmu_event *event)
{
	const struct upmu_core *core;
	char what[128];

	if (!p->in_group || !takes_counter(event))
		return 0;
	core = p->machine->kinds[event->kind].core;
	if (!core ||
	    ++p->group_counters[event->kind] <= upmu_core_counters_most(core))
		return 0;
	snprintf(what, sizeof(what),
		 "%s has %u event counters, group %zu "
		 "wants more",
		 upmu_core_name(core), upmu_core_counters_most(core),
		 p->n_groups);
	return refuse_list(p, -ENOSPC, what);
}

static int emit(struct parser *p, struct upmu_event *event)
{
	int ret = count_group(p, event);

	if (ret)
		return ret;
	if (p->n == UPMU_LIST_MAX)
		return refuse_list(p, -E2BIG, "the list is too long");
	event->position = (uint16_t)p->n_written;
	event->group = p->in_group ? (uint16_t)p->n_groups : 0;
	p->out->events[p->n++] = *event;
	return 0;
}

static int read_event(struct parser *p)
{
	struct upmu_resolved resolved;
	size_t start = p->at;
	struct upmu_word word;
	uint8_t modifiers;
	int ret;

	ret = read_word(p, &word);
	if (ret)
		return ret;
	if (!word.length)
		return refuse_list(p, -EINVAL, "no name");
	ret = read_colon_modifiers(p, &modifiers);
	if (ret)
		return ret;
	word.modifiers |= modifiers;
	if (p->in_group)
		word.modifiers |= p->group_modifiers;
	p->error->position = p->n_written + 1;
	p->error->offset = start;
	ret = upmu_word_resolve(&resolved, &word, p->machine, p->error);
	for (size_t i = 0; !ret && i < resolved.n; i++)
		ret = emit(p, &resolved.events[i]);
	if (!ret)
		p->n_written++;
	return ret;
}

/* The modifiers of a group stand behind it, but its events need them. */
static int open_group(struct parser *p)
{
	size_t start = p->at++;
	size_t inside = p->at;
	int ret;

	p->at += upmu_span(p->text + p->at, '}');
	if (!p->text[p->at]) {
		p->at = start;
		return refuse_list(p, -EINVAL, "'{' without '}'");
	}
	p->at++;
	ret = read_colon_modifiers(p, &p->group_modifiers);
	if (ret)
		return ret;
	p->at = inside;
	p->n_groups++;
	p->in_group = true;
	memset(p->group_counters, 0, sizeof(p->group_counters));
	return 0;
}

static int close_group(struct parser *p)
{
	uint8_t modifiers;

	p->at++;
	p->in_group = false;
	return read_colon_modifiers(p, &modifiers);
}

static int read_item(struct parser *p)
{
	int ret;

	skip_blanks(p);
	p->item = p->at;
	p->n_item = p->n_written;
	if (p->text[p->at] == '{') {
		if (p->in_group)
			return refuse_list(p, -EINVAL, "'{' within '{ }'");
		ret = open_group(p);
		if (ret)
			return ret;
		skip_blanks(p);
	}
	ret = read_event(p);
	if (ret)
		return ret;
	skip_blanks(p);
	if (p->text[p->at] != '}')
		return 0;
	if (!p->in_group)
		return refuse_list(p, -EINVAL, "'}' without '{'");
	ret = close_group(p);
	skip_blanks(p);
	return ret;
}

static int read_list(struct parser *p)
{
	int ret;

	for (;;) {
		ret = read_item(p);
		if (ret)
			return ret;
		if (!p->text[p->at])
			break;
		if (p->text[p->at] != ',')
			return refuse_list(p, -EINVAL,
					   "no ',' before the next");
		p->at++;
	}
	return p->in_group ? refuse_list(p, -EINVAL, "'{' without '}'") : 0;
}

static void finish(struct parser *p)
{
	p->out->n = p->n;
	p->out->n_written = p->n_written;
	p->out->n_groups = p->n_groups;
}

int upmu_events_parse(struct upmu_event_list *out, const char *text,
		      const struct upmu_machine *machine,
		      struct upmu_events_error *error)
{
	struct upmu_events_error why = { 0 };
	struct parser p = {
		.text = text, .machine = machine, .error = &why, .out = out
	};
	int ret;

	ret = read_list(&p);
	if (!ret)
		finish(&p);
	else if (error)
		*error = why;
	return ret;
}

int upmu_events_default(struct upmu_event_list *out,
			const struct upmu_machine *machine)
{
	struct upmu_events_error why;
	struct parser write = { .machine = machine, .error = &why, .out = out };
	struct upmu_resolved resolved;

	if (!machine->n_kinds || !machine->kinds[0].core)
		return -ENOENT;
	for (int i = 0; i < UPMU_DEFAULTS; i++) {
		upmu_default_resolve(&resolved, (enum upmu_default)i, machine);
		for (size_t n = 0; n < resolved.n; n++)
			emit(&write, &resolved.events[n]);
		write.n_written++;
	}
	finish(&write);
	return 0;
}
