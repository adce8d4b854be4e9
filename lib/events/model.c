// SPDX-License-Identifier: MIT
/*
 * An emulated board's model of its core (boards/model) tells itself in the
 * device tree: which events it counts, or why there is none.
 */
#include <string.h>

#include "lib/events/events.h"
#include "lib/sys.h"

#define NODE "/sys/firmware/devicetree/base/upmu-model"

#define CELL 4 /* bytes of a device tree's number, the highest first */

/* A list of strings, each with its NUL, as one text. */
static void read_strings(const char *path, char *text, size_t size)
{
	int fd = upmu_sys_open(path, 0);
	ssize_t n;

	text[0] = '\0';
	if (fd < 0)
		return;
	n = upmu_sys_read(fd, text, size - 1);
	upmu_sys_close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (ssize_t i = 0; i + 1 < n; i++)
		if (!text[i])
			text[i] = ';';
}

static void read_events(struct upmu_model *model)
{
	unsigned char cells[UPMU_MODEL_CODES * CELL];
	int fd = upmu_sys_open(NODE "/events", 0);
	ssize_t n;

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

void upmu_model_read(struct upmu_model *model)
{
	memset(model, 0, sizeof(*model));
	model->is_told = upmu_sys_exists(NODE);
	if (!model->is_told)
		return;
	read_strings(NODE "/cores", model->cores, sizeof(model->cores));
	read_strings(NODE "/geometry", model->geometry,
		     sizeof(model->geometry));
	read_strings(NODE "/refused", model->refused, sizeof(model->refused));
	read_events(model);
}

bool upmu_event_is_modelled(const struct upmu_machine *machine,
			    const struct upmu_event_row *row)
{
	unsigned int code = upmu_row_code(row);

	return code < UPMU_MODEL_CODES &&
	       machine->model.codes[code / 8] >> code % 8 & 1;
}
