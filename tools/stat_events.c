// SPDX-License-Identifier: MIT
/* The user's event list, as "upmu stat" wants it. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static const struct known {
	const char *name;
	uint32_t type;
	uint64_t config;
} known[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
};

static int find_event(struct stat_event *event, const char *word)
{
	char *end;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, word))
			continue;
		event->type = known[i].type;
		event->config = known[i].config;
		event->software = known[i].type == PERF_TYPE_SOFTWARE;
		event->emulated = event->software || known[i].config < 2;
		return 0;
	}
	if (word[0] != 'r' || !word[1])
		return -ENOENT;
	event->type = PERF_TYPE_RAW;
	event->config = strtoull(word + 1, &end, 16);
	event->emulated = event->config == 0x08 || event->config == 0x11;
	return *end ? -ENOENT : 0;
}

static bool machine_is_emulated(void)
{
	char text[64] = "";
	FILE *file = fopen("/proc/device-tree/compatible", "re");

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = 0;
	fclose(file);
	return !strcmp(text, "linux,dummy-virt");
}

int stat_events_parse(struct stat_events *events, const char *list)
{
	char *words = strdup(list), *save, *word;
	bool emulator = machine_is_emulated();
	int error = 0;

	*events = (struct stat_events){ 0 };
	events->event = calloc(64, sizeof(*events->event));
	for (word = strtok_r(words, ",", &save); word && events->n < 64;
	     word = strtok_r(NULL, ",", &save)) {
		struct stat_event *event = &events->event[events->n++];

		*event = (struct stat_event){ .braces = -1, .unit = "" };
		event->name = strdup(word);
		error = find_event(event, word);
		if (error) {
			fprintf(stderr,
				"upmu stat: unknown event '%s' (number %zu)\n",
				word, events->n);
			break;
		}
		if (emulator && !event->emulated)
			event->state = STAT_NOT_EMULATED;
	}
	free(words);
	return error;
}

void stat_events_free(struct stat_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		free(events->event[i].name);
	free(events->event);
	*events = (struct stat_events){ 0 };
}

const char *stat_state_text(enum stat_state state)
{
	static const char *const text[] = {
		[STAT_COUNTED] = "",
		[STAT_NOT_SUPPORTED] = "<not supported>",
		[STAT_NOT_COUNTED] = "<not counted>",
		[STAT_NOT_EMULATED] = "<not emulated>",
	};

	return text[state];
}
