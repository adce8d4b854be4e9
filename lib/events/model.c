// SPDX-License-Identifier: MIT
/*
 * An emulated board's models of its cores (boards/model) tell themselves in
 * the device tree: which events they count, or why there are none.
 */
#include <string.h>

#include "lib/events/events.h"
#include "lib/sys.h"

#define NODE "/sys/firmware/devicetree/base/upmu-model"

#define CELL 4 /* bytes of a device tree's number, the highest first */

static void read_text(int node, const char *name, char *text, size_t size)
{
	if (upmu_sys_read_text_at(node, name, text, size))
		text[0] = '\0';
}

static void read_codes(int node, const char *name, unsigned char *codes)
{
	unsigned char cells[UPMU_MODEL_CODES * CELL];
	ssize_t n = upmu_sys_read_bytes_at(node, name, cells, sizeof(cells));

	for (ssize_t i = 0; i + CELL <= n; i += CELL) {
		unsigned int code = cells[i + 2] << 8 | cells[i + 3];

		if (code < UPMU_MODEL_CODES)
			codes[code / 8] |= 1u << code % 8;
	}
}

/* A node for each kind of core, called as the core's table. */
static void read_kind(int models, struct upmu_core_kind *kind)
{
	int node;

	if (!kind->core)
		return;
	node = upmu_sys_open_folder_at(models, upmu_core_name(kind->core));
	if (node < 0)
		return;
	read_text(node, "title", kind->model.title, sizeof(kind->model.title));
	read_text(node, "geometry", kind->model.geometry,
		  sizeof(kind->model.geometry));
	read_codes(node, "events", kind->model.codes);
	read_codes(node, "exact", kind->model.exact);
	upmu_sys_close(node);
}

void upmu_model_read(struct upmu_machine *machine)
{
	int node = upmu_sys_open_folder(NODE);

	memset(&machine->model, 0, sizeof(machine->model));
	for (size_t i = 0; i < machine->n_kinds; i++)
		memset(&machine->kinds[i].model, 0,
		       sizeof(machine->kinds[i].model));
	if (node < 0)
		return;
	machine->model.is_told = true;
	read_text(node, "refused", machine->model.refused,
		  sizeof(machine->model.refused));
	for (size_t i = 0; i < machine->n_kinds; i++)
		read_kind(node, &machine->kinds[i]);
	upmu_sys_close(node);
}

static bool has(const unsigned char *codes, const struct upmu_event_row *row)
{
	unsigned int code = upmu_row_code(row);

	return code < UPMU_MODEL_CODES && codes[code / 8] >> code % 8 & 1;
}

bool upmu_event_is_modelled(const struct upmu_core_kind *kind,
			    const struct upmu_event_row *row)
{
	return has(kind->model.codes, row);
}

bool upmu_event_is_exact(const struct upmu_core_kind *kind,
			 const struct upmu_event_row *row)
{
	return has(kind->model.exact, row);
}
