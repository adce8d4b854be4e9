/* SPDX-License-Identifier: MIT */
/**
 * boards.h - the emulated boards, and what they count
 *
 * Taken from boards/table.ini and boards/model when the command is built: on a
 * board itself its device tree has the last word.
 */
#ifndef UPMU_TOOLS_LIST_BOARDS_H
#define UPMU_TOOLS_LIST_BOARDS_H

#include "lib/events/events.h"

/**
 * struct list_boards - the boards that have a core
 * @core: as its table is called; NULL ends the list
 * @exact: boards that execute one instruction per cycle, a blank between two
 * @others: the others
 * @codes: a bit for each code that the model can count, of any core
 */
struct list_boards {
	const char *core, *exact, *others;
	unsigned char codes[UPMU_MODEL_CODES / 8];
};

extern const struct list_boards list_boards[];

/** Of this core; NULL: no board has it. */
const struct list_boards *list_boards_of(const char *core);

/**
 * "modelled", "exact" (one instruction, one cycle), "clock" (cycles by the
 * emulator's clock), "emulated" (QEMU itself counts it) or "no".
 * @is_exact: on those of @exact.
 */
const char *list_board_counts(const struct list_boards *boards,
			      const struct upmu_core *core,
			      const struct upmu_event_row *row, bool is_exact);

#endif
