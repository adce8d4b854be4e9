// SPDX-License-Identifier: MIT
/*
 * An emulated board's models of its cores (boards/model) tell themselves in
 * the device tree: which events they count, or why there are none.
 */
#include <string.h>

#include "lib/events/events.h"
#include "lib/sys.h"

#define NODE "/sys/firmware/devicetree/base/upmu-model"

/* Of one core: its title, its geometry, its two lists of codes. */
#define TEXT_SIZE 2048

/* The next of the strings up to @end, each with its NUL; "" behind the last. */
static const char *next(const char *text, const char *end)
{
	while (text < end && *text)
		text++;
	return text < end ? text + 1 : end;
}

static void copy(char *out, size_t size, const char *text)
{
	size_t length = strlen(text);

	length = length < size ? length : size - 1;
	memcpy(out, text, length);
	out[length] = '\0';
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "3 1d c0"; strtoul() would execute 4,000 instructions more. */
static void read_codes(const char *text, unsigned char *codes)
{
	while (digit(*text) >= 0) {
		unsigned int code = 0;

		for (; digit(*text) >= 0; text++)
			if (code < UPMU_MODEL_CODES)
				code = code << 4 | (unsigned int)digit(*text);
		if (code < UPMU_MODEL_CODES)
			codes[code / 8] |= 1u << code % 8;
		text += *text == ' ';
	}
}

/*
 * One property for each kind of core, called as the core's table. Each file of
 * sysfs costs some 10,000 instructions, each time that something is counted.
 */
static void read_kind(int models, struct upmu_core_kind *kind)
{
	struct upmu_core_model *model = &kind->model;
	char text[TEXT_SIZE];
	const char *at = text, *end;
	ssize_t n;

	if (!kind->core)
		return;
	n = upmu_sys_read_bytes_at(models, upmu_core_name(kind->core), text,
				   sizeof(text) - 1);
	if (n <= 0)
		return;
	end = text + n;
	text[n] = '\0';
	copy(model->title, sizeof(model->title), at);
	model->article = strchr("AEIO", *at) ? "an" : "a"; /* an ARM1176 */
	at = next(at, end);
	copy(model->geometry, sizeof(model->geometry), at);
	at = next(at, end);
	read_codes(at, model->codes);
	read_codes(next(at, end), model->exact);
}

static bool counts_any(const struct upmu_machine *machine)
{
	for (size_t i = 0; i < machine->n_kinds; i++)
		if (machine->kinds[i].model.geometry[0])
			return true;
	return false;
}

void upmu_model_read(struct upmu_machine *machine)
{
	int node = upmu_sys_open_folder(NODE);
	char *refused = machine->model.refused;

	memset(&machine->model, 0, sizeof(machine->model));
	for (size_t i = 0; i < machine->n_kinds; i++)
		memset(&machine->kinds[i].model, 0,
		       sizeof(machine->kinds[i].model));
	if (node < 0)
		return;
	machine->model.is_told = true;
	for (size_t i = 0; i < machine->n_kinds; i++)
		read_kind(node, &machine->kinds[i]);
	if (!counts_any(machine) &&
	    upmu_sys_read_text_at(node, "refused", refused,
				  sizeof(machine->model.refused)))
		refused[0] = '\0';
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
