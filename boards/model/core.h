/* SPDX-License-Identifier: MIT */
#ifndef MODEL_CORE_H
#define MODEL_CORE_H

#include "qemu.h"

/* QEMU's translation callback. */
void core_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

#endif
