// SPDX-License-Identifier: MIT
/*
 * --regions: the program counts its own regions by libupmu. The environment
 * tells it which events and where its report goes; it runs once for each set of
 * events that the counters can hold.
 */
#include "regions.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which events in which pass ----------------------------------------- */

struct passes {
	struct stat_regions *regions;
	struct engine_events *events;
	size_t in_last; /* events of the last pass */
	bool *is_there; /* by place in the user's list: in one of the passes */
};

static void add_event(struct passes *p, const char *name)
{
	struct stat_regions *regions = p->regions;
	char *list;

	if (!regions->passes || p->in_last == STAT_REGION_EVENTS) {
		regions->passes++;
		p->in_last = 0;
	}
	list = regions->list[regions->passes - 1];
	if (p->in_last++)
		strcat(list, ",");
	strcat(list, name);
}

/* "cortex-a53/l1d_cache/:u" is l1d_cache:u to a program on any of the cores. */
static void add_named(struct passes *p, const struct engine_event *event)
{
	char name[sizeof(event->name)];
	const char *start = strchr(event->name, '/');
	const char *end = start ? strchr(start + 1, '/') : NULL;

	if (event->hidden)
		return;
	p->is_there[event->parsed->position] = true;
	if (p->events->lanes < 2 || event->lane < 0 || !end)
		snprintf(name, sizeof(name), "%s", event->name);
	else
		snprintf(name, sizeof(name), "%.*s%s%s", (int)(end - start - 1),
			 start + 1, end[1] ? ":" : "",
			 end + 1 + (end[1] == ':'));
	add_event(p, name);
}

/* Of unlike cores the one with the fewest counters: the others hold it too. */
static int smallest_lane(const struct engine_events *events)
{
	int lane = 0;

	for (int i = 1; i < (int)events->lanes; i++)
		if (events->room[i].counters < events->room[lane].counters)
			lane = i;
	return lane;
}

static bool has(const struct engine_sets *sets, int turn, size_t event)
{
	for (size_t i = 0; i < sets->n; i++)
		for (size_t k = 0; k < sets->set[i].n; k++)
			if (sets->set[i].turn == turn &&
			    sets->set[i].event[k] == event)
				return true;
	return false;
}

static void add_turn(struct passes *p, const struct engine_sets *sets, int turn)
{
	int lane = smallest_lane(p->events);

	for (size_t i = 0; i < p->events->n; i++) {
		const struct engine_event *event = &p->events->event[i];

		if (has(sets, turn, i) &&
		    (event->lane == lane || event->lane < 0))
			add_named(p, event);
	}
}

/*
 * What upmu list calls <not supported>, and an event of one kind of core alone:
 * the program may run on the others. Each once, and the first has a reason.
 */
static int note_missing(struct passes *p)
{
	struct stat_regions *regions = p->regions;
	struct engine_events *none = &regions->none;

	regions->missing = calloc(p->events->n + 1, sizeof(*regions->missing));
	if (!regions->missing)
		return -ENOMEM;
	for (size_t i = 0; i < p->events->n; i++) {
		const struct engine_event *event = &p->events->event[i];

		if (event->hidden || p->is_there[event->parsed->position])
			continue;
		p->is_there[event->parsed->position] = true;
		regions->missing[regions->n_missing++] = event;
		if (event->state == ENGINE_COUNTED && !none->reason[0])
			snprintf(none->reason, sizeof(none->reason),
				 "'%s' is no event of each kind of core, and a "
				 "region may be on any",
				 event->name);
	}
	if (regions->n_missing && !none->reason[0])
		strcpy(none->reason, p->events->reason);
	return 0;
}

/* What is always on fits beside any turn: it is in the first one's pass. */
static int share_out(struct passes *p)
{
	struct engine_target self = { .cpu = -1 };
	const struct engine_targets targets = { .target = &self, .n = 1 };
	const struct engine_options options = { .own_child = true };
	const struct engine_events *events = p->events;
	struct engine engine;
	int error = engine_open(&engine, p->events, &targets, &options);

	if (!error)
		add_turn(p, &engine.sets, ENGINE_ALWAYS);
	for (int turn = 0; !error && turn < (int)engine.sets.turns; turn++) {
		if (turn)
			p->in_last = STAT_REGION_EVENTS;
		add_turn(p, &engine.sets, turn);
	}
	engine_close(&engine);
	/* None that perf counts here: the program may have another source. */
	for (size_t i = 0; !p->regions->passes && i < events->n; i++)
		if (!events->event[i].hidden && p->in_last < STAT_REGION_EVENTS)
			add_named(p, &events->event[i]);
	return error ? error : note_missing(p);
}

int stat_regions_open(struct stat_regions *regions,
		      struct engine_events *events)
{
	struct passes p = { .regions = regions, .events = events };
	int error;

	*regions = (struct stat_regions){ .running = 1 };
	regions->none.machine = events->machine;
	regions->none.emulated = events->emulated;
	regions->list = calloc(events->n + 1, sizeof(*regions->list));
	p.is_there = calloc(events->n + 1, sizeof(*p.is_there));
	error = regions->list && p.is_there ? share_out(&p) : -ENOMEM;
	free(p.is_there);
	return error;
}

void stat_regions_close(struct stat_regions *regions)
{
	free(regions->list);
	free(regions->missing);
	free(regions->row);
}

/* ---- what the processes wrote ------------------------------------------- */

static struct stat_region_row *find_row(const struct stat_regions *regions,
					const char *region, const char *event)
{
	for (size_t i = 0; i < regions->n; i++)
		if (!strcmp(regions->row[i].region, region) &&
		    !strcmp(regions->row[i].event, event))
			return &regions->row[i];
	return NULL;
}

static struct stat_region_row *new_row(struct stat_regions *regions,
				       const char *region, const char *event,
				       const char *unit)
{
	struct stat_region_row *row =
		realloc(regions->row, (regions->n + 1) * sizeof(*row));

	if (!row)
		return NULL;
	regions->row = row;
	row += regions->n++;
	*row = (struct stat_region_row){ .min = UINT64_MAX };
	snprintf(row->region, sizeof(row->region), "%s", region);
	snprintf(row->event, sizeof(row->event), "%s", event);
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
	return row;
}

/* An event that is in two passes stays as the first one had it. */
static int add_event_of(struct stat_regions *regions, size_t pass,
			const char *region, uint64_t calls, json_t *told)
{
	const char *event, *unit;
	json_int_t total, min, max, overhead;
	struct stat_region_row *row;

	if (json_unpack(told, "{s:s, s:s, s:I, s:I, s:I, s:I}", "event", &event,
			"unit", &unit, "total", &total, "min", &min, "max",
			&max, "overhead", &overhead))
		return -EINVAL;
	row = find_row(regions, region, event);
	if (row && row->pass != pass)
		return 0;
	if (!row)
		row = new_row(regions, region, event, unit);
	if (!row)
		return -ENOMEM;
	row->pass = pass;
	row->calls += calls;
	row->total += (uint64_t)total;
	row->overhead = (uint64_t)overhead;
	if ((uint64_t)min < row->min)
		row->min = (uint64_t)min;
	if ((uint64_t)max > row->max)
		row->max = (uint64_t)max;
	return 0;
}

static int add_region(struct stat_regions *regions, size_t pass, json_t *told)
{
	const char *name;
	json_t *events, *event;
	json_int_t calls;
	size_t i;
	int error = 0;

	if (json_unpack(told, "{s:s, s:I, s:o}", "region", &name, "calls",
			&calls, "events", &events))
		return -EINVAL;
	json_array_foreach(events, i, event)
	{
		if (!error)
			error = add_event_of(regions, pass, name,
					     (uint64_t)calls, event);
	}
	return error;
}

static void add_missed(struct stat_regions *regions, json_t *root)
{
	const char *why;
	json_int_t calls;

	if (json_unpack(root, "{s:I, s:s}", "missed_calls", &calls,
			"missed_why", &why))
		return;
	if (!regions->missed)
		snprintf(regions->why, sizeof(regions->why), "%s", why);
	regions->missed += (uint64_t)calls;
}

static int add_report(struct stat_regions *regions, size_t pass,
		      const char *path)
{
	json_t *root = json_load_file(path, 0, NULL), *list, *region;
	double running;
	size_t i;
	int error = 0;

	if (!root || json_unpack(root, "{s:F, s:o}", "running", &running,
				 "regions", &list)) {
		json_decref(root);
		return -EINVAL;
	}
	if (running < regions->running)
		regions->running = running;
	add_missed(regions, root);
	json_array_foreach(list, i, region)
	{
		if (!error)
			error = add_region(regions, pass, region);
	}
	json_decref(root);
	return error;
}

/* All files of the folder, which is empty then. */
static int take_reports(struct stat_regions *regions, size_t pass)
{
	DIR *folder = opendir(regions->folder);
	const struct dirent *entry;
	char path[sizeof(regions->folder) + 300];
	int error = folder ? 0 : -errno;

	while (folder && (entry = readdir(folder))) {
		int ret;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", regions->folder,
			 entry->d_name);
		ret = add_report(regions, pass, path);
		/* Of a process that was killed while it wrote. */
		if (ret == -EINVAL)
			regions->unread++;
		else
			error = error ? error : ret;
		unlink(path);
	}
	if (folder)
		closedir(folder);
	return error;
}

/* ---- running ------------------------------------------------------------ */

/* By its whole name: the program may go into another folder. */
static int make_folder(struct stat_regions *regions)
{
	const char *temporary = getenv("TMPDIR");
	size_t size = sizeof(regions->folder);
	char *whole =
		realpath(temporary && temporary[0] ? temporary : "/tmp", NULL);
	int error = whole ? 0 : -errno;

	if (!error && (size_t)snprintf(regions->folder, size,
				       "%s/upmu-regions-XXXXXX", whole) >= size)
		error = -ENAMETOOLONG;
	free(whole);
	if (!error && !mkdtemp(regions->folder))
		error = -errno;
	return error;
}

/* What --pre, --post and a signal that ends one of them do not find. */
struct told {
	char *events, *report; /* of the user's own */
};

static char *copy_of(const char *name)
{
	const char *value = getenv(name);

	return value ? strdup(value) : NULL;
}

static int tell_program(struct told *before, const struct stat_regions *regions,
			size_t pass)
{
	char path[sizeof(regions->folder) + 16];

	before->events = copy_of("UPMU_EVENTS");
	before->report = copy_of("UPMU_REPORT");
	snprintf(path, sizeof(path), "%s/%%p.json", regions->folder);
	return setenv("UPMU_EVENTS", regions->list[pass], 1) ||
			       setenv("UPMU_REPORT", path, 1)
		       ? -errno
		       : 0;
}

static void put_back(const char *name, char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
	free(value);
}

static int no_folder(int error)
{
	fprintf(stderr,
		"upmu stat: cannot make a place for what the program "
		"will write: %s\n"
		"hint: TMPDIR=/tmp upmu stat --regions ...\n",
		strerror(-error));
	return -ECANCELED;
}

int stat_regions_run(struct stat_report *report, struct engine_targets *targets,
		     int *exit_status)
{
	struct stat_regions *regions = report->regions;
	size_t pass = report->passes;
	struct told before;
	sigset_t all, mask;
	int error = make_folder(regions);

	if (error)
		return no_folder(error);
	error = tell_program(&before, regions, pass);
	if (!error)
		error = stat_run_once(report, &regions->none, targets, -1, NULL,
				      exit_status);
	/* A signal that ends upmu waits until the folder is gone. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	if (!error)
		error = take_reports(regions, pass);
	put_back("UPMU_EVENTS", before.events);
	put_back("UPMU_REPORT", before.report);
	rmdir(regions->folder);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return error;
}
