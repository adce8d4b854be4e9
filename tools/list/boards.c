// SPDX-License-Identifier: MIT
/* Which emulated board counts an event of a core, and how. */
#include <string.h>

#include "list.h"

const struct list_boards *list_boards_of(const char *core)
{
	for (size_t i = 0; list_boards[i].core; i++)
		if (!strcmp(list_boards[i].core, core))
			return &list_boards[i];
	return NULL;
}

const char *list_board_counts(const struct list_boards *boards,
			      const struct upmu_core *core,
			      const struct upmu_event_row *row, bool is_exact)
{
	unsigned int code = upmu_row_code(row);

	if (upmu_row_is_cycles(row))
		return is_exact ? "exact" : "clock";
	if (is_exact &&
	    row == upmu_core_default(core, UPMU_DEFAULT_INSTRUCTIONS))
		return "exact";
	if (!strcmp(upmu_row_name(row), "sw_incr"))
		return "emulated";
	if (code < UPMU_MODEL_CODES && boards->codes[code / 8] >> code % 8 & 1)
		return "modelled";
	return "no";
}
