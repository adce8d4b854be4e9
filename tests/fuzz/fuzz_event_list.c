// SPDX-License-Identifier: MIT
/* Event lists: any text is either a list or refused with a reason. */
#include <string.h>

#include "fuzz.h"
#include "lib/events/events.h"
#include "lib/sys.h"

#define LONGEST 1000

const char fuzz_claim[] = "any_text_is_a_list_or_refused_with_a_reason";
const char fuzz_joint[] = ",";
const unsigned long fuzz_default_runs = 20000;

const char *const fuzz_words[] = {
	"cycles",
	"cpu_cycles",
	"instructions",
	"l1d_cache",
	"ld_retired",
	"br_mis_pred",
	"dcache_miss",
	"branches",
	"node-loads",
	"task-clock",
	"cs",
	"r1",
	"r11",
	"rff",
	"cycles:u",
	"{cycles,r1}:k",
	"{instructions,r1,r2}",
	"r3:uk",
	"CYCLES",
	"r1234",
	"r123456789abcdef0",
	"R",
	",",
	",",
	",",
	",",
	"{",
	"}",
	"{",
	"}",
	":u",
	":k",
	":uk",
	":",
	":x",
	"/",
	" ",
	"cortex-a7/",
	"armv7_cortex_a15/",
	"cortex-a53/l1d_cache/",
	"cpu/",
	"event=0x3c",
	"umask=1",
	"config=0x1",
	"mem-loads/u",
	"msr/tsc/",
	"software/",
	"=",
	"..",
	"../",
	"%s%n",
	"new_event",
	"\n",
	"\t",
	"armv8_pmuv3/event=0x11,long/",
	"apple_icestorm_pmu/cycles/",
};
const size_t fuzz_words_count = sizeof(fuzz_words) / sizeof(fuzz_words[0]);

static const char *const boards[] = { "pi1", "odroid-xu4", "unknown-v8",
				      "pc",  "apple-m1",   "pi3-32-bare" };

static struct upmu_machine machines[sizeof(boards) / sizeof(boards[0])];

static void enter(size_t board)
{
	static char root[UPMU_PATH_SIZE];

	snprintf(root, sizeof(root), "%s/%s", FIXTURES, boards[board]);
	upmu_sys_set_root(root);
}

static void read_machines(void)
{
	static bool done;

	for (size_t i = 0; !done && i < sizeof(boards) / sizeof(boards[0]);
	     i++) {
		enter(i);
		if (upmu_machine_read(&machines[i]))
			abort();
	}
	done = true;
}

static void check_refusal(const struct upmu_events_error *error,
			  const char *text, size_t size)
{
	FUZZ_ASSERT(error->position >= 1, text, size);
	FUZZ_ASSERT(error->position <= UPMU_LIST_MAX + 1, text, size);
	FUZZ_ASSERT(error->offset <= strlen(text), text, size);
	FUZZ_ASSERT(error->text[0], text, size);
	FUZZ_ASSERT(memchr(error->text, '\0', sizeof(error->text)), text, size);
	FUZZ_ASSERT(memchr(error->hint, '\0', sizeof(error->hint)), text, size);
}

static void check_event(const struct upmu_event *event,
			const struct upmu_machine *machine, const char *text,
			size_t size)
{
	FUZZ_ASSERT(memchr(event->name, '\0', sizeof(event->name)), text, size);
	FUZZ_ASSERT(event->name[0], text, size);
	FUZZ_ASSERT(event->kind >= -1, text, size);
	FUZZ_ASSERT(event->kind < (int)machine->n_kinds, text, size);
	FUZZ_ASSERT(event->class <= UPMU_EVENT_PMU, text, size);
	FUZZ_ASSERT(!event->is_supported || event->type != UPMU_PMU_TYPE_NONE,
		    text, size);
}

/* What is printed can be typed again and means the same. */
static void check_again(const struct upmu_event *event,
			const struct upmu_machine *machine, const char *text,
			size_t size)
{
	static struct upmu_event_list again;

	if (!event->is_supported)
		return;
	FUZZ_ASSERT(!upmu_events_parse(&again, event->name, machine, NULL),
		    text, size);
	FUZZ_ASSERT(again.n == 1, text, size);
	FUZZ_ASSERT(again.events[0].type == event->type, text, size);
	FUZZ_ASSERT(again.events[0].config == event->config, text, size);
	FUZZ_ASSERT(again.events[0].config1 == event->config1, text, size);
	FUZZ_ASSERT(again.events[0].modifiers == event->modifiers, text, size);
}

static void check_list(const struct upmu_event_list *list,
		       const struct upmu_machine *machine, const char *text,
		       size_t size)
{
	size_t position = 0;

	FUZZ_ASSERT(list->n && list->n <= UPMU_LIST_MAX, text, size);
	FUZZ_ASSERT(list->n_written <= list->n, text, size);
	for (size_t i = 0; i < list->n; i++) {
		const struct upmu_event *event = &list->events[i];

		check_event(event, machine, text, size);
		check_again(event, machine, text, size);
		FUZZ_ASSERT(event->position == position ||
				    event->position == position + 1,
			    text, size);
		FUZZ_ASSERT(event->group <= list->n_groups, text, size);
		position = event->position;
	}
	FUZZ_ASSERT(position + 1 == list->n_written, text, size);
}

void fuzz_input(const uint8_t *data, size_t size)
{
	static struct upmu_event_list list;
	struct upmu_events_error error;
	char text[LONGEST];

	if (size >= sizeof(text))
		return;
	memcpy(text, data, size);
	text[size] = '\0';
	read_machines();
	for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
		enter(i);
		memset(&error, 0xee, sizeof(error));
		if (upmu_events_parse(&list, text, &machines[i], &error))
			check_refusal(&error, text, size);
		else
			check_list(&list, &machines[i], text, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_input(data, size);
	return 0;
}
