// SPDX-License-Identifier: MIT
/*
 * A QEMU plugin: the events of a PMU that the emulator leaves at 0, counted by
 * a model of the board's core.
 *
 *     -plugin model.so,settings=FILE[,answer=FILE][,wrong=ASSUMPTION]
 *
 * settings  what is modelled, see settings.c
 * answer    look only: when the emulator ends, write there which events are
 *           counted ("events 0x01 0x03 ...", a line for each core of the
 *           settings) or why none is ("refused ...")
 * wrong     an assumption about the emulator that shall not hold, for tests
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model.h"
#include "qemu.h"
#include "settings.h"

static struct {
	const char *settings, *answer, *wrong;
} arguments;

static char reason[QEMU_REASON];

static bool prepare(void)
{
	if (!qemu_find(arguments.wrong, reason))
		return false;
	for (int cpu = 0; cpu < qemu_cpus(); cpu++)
		identity_put(cpu, settings_core(cpu));
	if (settings_core(0)->is_arm1176 ? !arm1176_add(reason)
					 : !pmu_hook(reason))
		return false;
	for (int cpu = 0; cpu < qemu_cpus(); cpu++)
		identity_tell(cpu);
	qemu_set_ram(settings_ram());
	core_make();
	for (int cpu = 0; cpu < qemu_cpus() && !settings_core(0)->is_arm1176;
	     cpu++)
		pmu_offer(cpu, settings_core(cpu)->events,
			  settings_core(cpu)->own);
	return true;
}

static bool is_counted(const struct core_shape *core, unsigned code)
{
	return core->events[code] &&
	       (core->is_arm1176 ? arm1176_counts(code)
				 : core->own[code] || event_is_modelled(code));
}

static void write_events(FILE *out, const struct core_shape *core)
{
	fprintf(out, "events");
	for (unsigned code = 0; code < MODEL_CODES; code++)
		if (is_counted(core, code))
			fprintf(out, " 0x%02x", code);
	fprintf(out, "\n");
}

static void write_answer(void)
{
	FILE *out = fopen(arguments.answer, "w");

	if (!out)
		return;
	if (reason[0] || !prepare() || !pmu_try(reason)) {
		fprintf(out, "refused %s\n", reason);
	} else {
		for (int core = 0; core < settings_cores(); core++)
			write_events(out, settings_core(core));
	}
	fclose(out);
}

/* The first CPU begins: all of them are there, none has run yet. */
static void begin(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	(void)tb;
	qemu_on_translation(NULL);
	if (prepare())
		return;
	fprintf(stderr, "model: %s\n", reason);
	_exit(1);
}

static void take(const char *argument)
{
	static const struct {
		const char *name;
		const char **value;
	} names[] = {
		{ "settings=", &arguments.settings },
		{ "answer=", &arguments.answer },
		{ "wrong=", &arguments.wrong },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(argument, names[i].name, strlen(names[i].name)))
			*names[i].value =
				strdup(argument + strlen(names[i].name));
}

QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
				    const qemu_info_t *info, int argc,
				    char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		take(argv[i]);
	if (!arguments.settings || !settings_read(arguments.settings, reason))
		return fprintf(stderr, "model: %s\n", reason), 1;
	qemu_is_plugin(id);
	if (qemu_functions(arguments.wrong, reason) && !arguments.answer)
		qemu_on_translation(begin);
	if (arguments.answer)
		return atexit(write_answer);
	return reason[0] ? fprintf(stderr, "model: %s\n", reason), 1 : 0;
}
