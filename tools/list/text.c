// SPDX-License-Identifier: MIT
/* upmu list for people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/events/generic.h"
#include "list.h"

#define NARROWEST   60
#define USUAL	    80
#define CODE_WIDTH  9
#define WIDEST_NAME 24

static int width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return USUAL;
	return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

void list_print_wrapped(const char *text, int column)
{
	int room = width() - column, used = 0;

	while (*text) {
		int word = (int)strcspn(text, " ");

		if (used && used + 1 + word > room) {
			printf("\n%*s", column, "");
			used = 0;
		}
		used += printf("%s%.*s", used ? " " : "", word, text);
		text += word;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static bool has_cpu(const struct upmu_core_kind *kind, unsigned int cpu)
{
	return cpu < UPMU_CPUS_MAX && kind->cpus[cpu / 64] >> cpu % 64 & 1;
}

void list_cpus(char *list, const struct upmu_core_kind *kind)
{
	char *at = list, *end = list + LIST_CPUS_SIZE - sizeof(",1022-1023...");

	*list = '\0';
	for (unsigned int cpu = 0; cpu < UPMU_CPUS_MAX; cpu++) {
		unsigned int first = cpu;

		if (!has_cpu(kind, cpu))
			continue;
		while (has_cpu(kind, cpu + 1))
			cpu++;
		if (at > end) {
			strcpy(at, "...");
			return;
		}
		at += sprintf(at, first == cpu ? "%s%u" : "%s%u-%u",
			      at > list ? "," : "", first, cpu);
	}
}

static void print_lines(const char *label, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)n, lines);
		printf("  %s", label);
		list_print_wrapped(line, 2 + (int)strlen(label));
		lines += n + (lines[n] == '\n');
	}
}

static void print_filters(const struct upmu_core *core)
{
	unsigned int filters = upmu_core_filters(core);

	if (!filters) {
		puts("  cannot tell user from kernel: no :u, no :k");
		return;
	}
	printf("  can count apart:%s%s%s\n",
	       filters & UPMU_FILTER_USER ? " user (:u)" : "",
	       filters & UPMU_FILTER_KERNEL ? " kernel (:k)" : "",
	       filters & UPMU_FILTER_HYP ? " hypervisor (:h)" : "");
}

static void print_counters(const struct list_core *list)
{
	unsigned int most = upmu_core_counters_most(list->core);

	printf("%u", list->counters);
	if (!list->counters_asked && most > list->counters)
		printf(" to %u", most);
	printf(" event counters and the cycle counter%s\n",
	       list->counters_asked ? "" : " (by the manual)");
}

static void print_head(const struct list_core *list)
{
	char cpus[LIST_CPUS_SIZE];

	printf("%s (%s)", upmu_core_title(list->core),
	       upmu_core_name(list->core));
	if (list->kind) {
		list_cpus(cpus, list->kind);
		printf(", CPU %s", cpus);
		if (list->kind->pmu_name[0])
			printf(", PMU %s", list->kind->pmu_name);
	}
	printf("\n  ");
	print_counters(list);
	print_filters(list->core);
	if (list->is_searched)
		return;
	if (*upmu_core_also(list->core)) {
		printf("  serves too: ");
		list_print_wrapped(upmu_core_also(list->core), 14);
	}
	if (list->kind && upmu_core_is_common(list->core))
		print_lines("note: ",
			    "upmu has no table for this core: these are "
			    "the architecture's events, of which it "
			    "may lack some");
	print_lines("note: ", upmu_core_notes(list->core));
	print_lines("manual: ", upmu_core_manuals(list->core));
}

static size_t count_now(const struct list_core *list, enum list_now now)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->events[i].now == now;
	return n;
}

/* Before the code of an event: why it stands out. */
static char mark(enum list_now now)
{
	static const char marks[] = {
		[LIST_ELSEWHERE] = ' ',	      [LIST_YES] = ' ',
		[LIST_USER_ONLY] = 'u',	      [LIST_NO] = '-',
		[LIST_NOT_IMPLEMENTED] = 'x', [LIST_NOT_EMULATED] = 'e',
		[LIST_MODELLED] = 'm',
	};

	return marks[now];
}

static void print_mark(const struct list_core *list, enum list_now now,
		       const char *meaning)
{
	size_t n = count_now(list, now);

	if (n)
		printf("  %c %zu %s\n", mark(now), n, meaning);
}

static void print_now(const struct list_core *list)
{
	size_t yes = count_now(list, LIST_YES) +
		     count_now(list, LIST_USER_ONLY) +
		     count_now(list, LIST_MODELLED);

	if (!list->kind)
		return;
	if (!count_now(list, LIST_ELSEWHERE))
		printf("  %zu of %zu can be counted now\n", yes, list->n);
	print_mark(list, LIST_USER_ONLY, "in user mode only, as :u");
	print_mark(list, LIST_NO, "cannot be counted now");
	print_mark(list, LIST_NOT_IMPLEMENTED, "not implemented by this core");
	print_mark(list, LIST_MODELLED,
		   "modelled: by a model of this core, not by silicon");
	print_mark(list, LIST_NOT_EMULATED, "not counted by this emulator");
	if (list->reason[0])
		print_lines("  ", list->reason);
}

static int name_width(const struct list_core *list)
{
	size_t most = 0;

	for (size_t i = 0; i < list->n; i++)
		if (strlen(list->events[i].name) > most)
			most = strlen(list->events[i].name);
	return most < WIDEST_NAME ? (int)most : WIDEST_NAME;
}

/* Of what was searched for: who found one event may want its neighbour. */
static void print_near(const struct list_core *list,
		       const struct upmu_event_row *row, int column)
{
	const struct upmu_event_row *other;
	char line[256] = "nearly the same:";
	size_t used = strlen(line), empty = used;

	for (size_t i = 0; (other = upmu_core_row(list->core, i)); i++)
		if (list_is_near(row, other) && used < sizeof(line))
			used += (size_t)snprintf(
				line + used, sizeof(line) - used,
				"%s 0x%02x %s", used > empty ? "," : "",
				upmu_row_code(other), upmu_row_name(other));
	if (used == empty)
		return;
	printf("%*s~ ", column - 2, "");
	list_print_wrapped(line, column);
}

static void print_event(const struct list_core *list,
			const struct list_event *event)
{
	const char *caveat = list_event_caveat(event);
	int column = CODE_WIDTH + name_width(list) + 2;

	printf("%c 0x%0*x %-*s  ", mark(event->now), event->code > 0xff ? 4 : 2,
	       event->code, name_width(list) + (event->code > 0xff ? 0 : 2),
	       event->name);
	if ((int)strlen(event->name) > name_width(list))
		printf("\n%*s", column, "");
	list_print_wrapped(list_event_text(event), column);
	if (*caveat) {
		printf("%*s! ", column - 2, "");
		list_print_wrapped(caveat, column);
	}
	if (list->is_searched && event->row)
		print_near(list, event->row, column);
}

static void print_group(const struct list_core *list, const char *group)
{
	bool first = true;

	for (size_t i = 0; i < list->n; i++) {
		const struct list_event *event = &list->events[i];

		if (strcmp(list_group(event), group))
			continue;
		if (first)
			printf("\n%s\n", group);
		first = false;
		print_event(list, event);
	}
}

static void print_perf_names(const struct list_core *list)
{
	const struct upmu_core_kind kind = list_kind(list);
	const struct upmu_generic *generic;
	char line[256];

	puts("\nperf's names, and what perf counts for them on this core");
	for (size_t i = 0; (generic = upmu_hardware_at(i)); i++) {
		list_perf_says(line, sizeof(line), &kind, generic);
		if (!*line)
			continue;
		printf("  %-24s ", generic->name);
		list_print_wrapped(line, 27);
	}
}

static void print_software(const struct list_core *list)
{
	char line[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < list->n && used < sizeof(line); i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used,
					 "%s%s", i ? " " : "",
					 list->events[i].name);
	if (!list->n)
		return;
	printf("Of the kernel (software)\n  ");
	list_print_wrapped(line, 2);
}

void list_print_text(const struct list_core *list)
{
	const char *group;

	if (!list->core) {
		print_software(list);
		return;
	}
	print_head(list);
	print_now(list);
	for (size_t i = 0; (group = list_group_at(i)); i++)
		print_group(list, group);
	if (!list->is_searched)
		print_perf_names(list);
	putchar('\n');
}
