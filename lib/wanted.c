// SPDX-License-Identifier: MIT
#include "lib/wanted.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} generic[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
};

static int resolve(struct upmu_perf_event *event, const char *name)
{
	for (size_t i = 0; i < sizeof(generic) / sizeof(*generic); i++) {
		if (strcmp(generic[i].name, name))
			continue;
		event->type = generic[i].type;
		event->config = generic[i].config;
		return 0;
	}
	if (name[0] == 'r' && isxdigit((unsigned char)name[1])) {
		event->type = PERF_TYPE_RAW;
		event->config = strtoull(name + 1, NULL, 16);
		return 0;
	}
	return upmu_explain_set(-ENOENT, "unknown event '%s'", name);
}

static int add(struct upmu_wanted *wanted, const char *text, size_t length)
{
	struct upmu_perf_event *event = &wanted->events[wanted->size];
	char *name = wanted->names[wanted->size];
	char *colon;

	if (wanted->size == UPMU_EVENTS_MAX)
		return upmu_explain_set(-EINVAL, "more than %d events in a set",
					UPMU_EVENTS_MAX);
	if (!length || length >= UPMU_NAME_SIZE)
		return upmu_explain_set(
			-EINVAL, "event %zu of the list is empty or too long",
			wanted->size + 1);
	memset(event, 0, sizeof(*event));
	memcpy(name, text, length);
	name[length] = '\0';
	event->name = name;
	colon = strchr(name, ':');
	if (colon) {
		event->exclude_kernel = !strcmp(colon, ":u");
		event->exclude_user = !strcmp(colon, ":k");
		*colon = '\0';
	}
	wanted->size++;
	return resolve(event, name);
}

int upmu_wanted_parse(struct upmu_wanted *wanted, const char *list)
{
	wanted->size = 0;
	for (;;) {
		size_t length = strcspn(list, ",");
		int ret = add(wanted, list, length);

		if (ret)
			return ret;
		if (!list[length])
			return 0;
		list += length + 1;
	}
}
