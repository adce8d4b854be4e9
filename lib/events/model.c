// SPDX-License-Identifier: MIT
/*
 * An emulated board's models of its cores (boards/model) tell themselves in
 * the device tree: which events they count, or why there are none.
 */
#include <stdio.h>
#include <string.h>

#include "lib/events/events.h"
#include "lib/sys.h"

#define NODE "/sys/firmware/devicetree/base/upmu-model"

#define CELL 4 /* bytes of a device tree's number, the highest first */

static void read_text(const char *node, const char *name, char *text,
		      size_t size)
{
	char path[UPMU_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", node, name);
	if (upmu_sys_read_text(path, text, size))
		text[0] = '\0';
}

static void read_events(const char *node, struct upmu_core_model *model)
{
	unsigned char cells[UPMU_MODEL_CODES * CELL];
	char path[UPMU_PATH_SIZE];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/events", node);
	fd = upmu_sys_open(path, 0);
	if (fd < 0)
		return;
	n = upmu_sys_read(fd, cells, sizeof(cells));
	upmu_sys_close(fd);
	for (ssize_t i = 0; i + CELL <= n; i += CELL) {
		unsigned int code = cells[i + 2] << 8 | cells[i + 3];

		if (code < UPMU_MODEL_CODES)
			model->codes[code / 8] |= 1u << code % 8;
	}
}

/* A node for each kind of core, called as the core's table. */
static void read_kind(struct upmu_core_kind *kind)
{
	char node[UPMU_PATH_SIZE / 2];

	if (!kind->core)
		return;
	snprintf(node, sizeof(node), NODE "/%s", upmu_core_name(kind->core));
	read_text(node, "title", kind->model.title, sizeof(kind->model.title));
	read_text(node, "geometry", kind->model.geometry,
		  sizeof(kind->model.geometry));
	read_events(node, &kind->model);
}

void upmu_model_read(struct upmu_machine *machine)
{
	memset(&machine->model, 0, sizeof(machine->model));
	for (size_t i = 0; i < machine->n_kinds; i++)
		memset(&machine->kinds[i].model, 0,
		       sizeof(machine->kinds[i].model));
	machine->model.is_told = upmu_sys_exists(NODE);
	if (!machine->model.is_told)
		return;
	read_text(NODE, "refused", machine->model.refused,
		  sizeof(machine->model.refused));
	for (size_t i = 0; i < machine->n_kinds; i++)
		read_kind(&machine->kinds[i]);
}

bool upmu_event_is_modelled(const struct upmu_core_kind *kind,
			    const struct upmu_event_row *row)
{
	unsigned int code = upmu_row_code(row);

	return code < UPMU_MODEL_CODES &&
	       kind->model.codes[code / 8] >> code % 8 & 1;
}
