/* SPDX-License-Identifier: MIT */
/* The tables of rows, in the order in which they are asked. */
#ifndef UPMU_TOOLS_METRICS_ROWS_H
#define UPMU_TOOLS_METRICS_ROWS_H

#include "metrics.h"

/* Arm's telemetry-solution, tools/topdown_tool: facts of its metric files. */
#define TELEMETRY "Arm telemetry-solution, topdown_tool metrics"

extern const struct metric_row metric_ratios[], metric_topdown[];
extern const size_t metric_ratios_n, metric_topdown_n;

#endif
