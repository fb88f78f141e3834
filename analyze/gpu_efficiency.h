/*
 * gpu_efficiency.h - how well devices were used while they worked: the table "efficiency" of tpa gpu.
 *
 *     struct gpu_efficiency *efficiency = gpu_efficiency_open(&question);
 *     gpu_efficiency_add(efficiency, &report);                          // for each device
 *     result_add_table(result, gpu_efficiency_table(efficiency));
 *     gpu_efficiency_free(efficiency);
 *
 * Utilization, SM efficiency and occupancy are those of TensorBoard's plugin for PyTorch, as docs/definitions.md tells.
 */
#ifndef TPA_ANALYZE_GPU_EFFICIENCY_H
#define TPA_ANALYZE_GPU_EFFICIENCY_H

#include "analyze/device_report.h"

/* What it asks of a trace. */
#define GPU_EFFICIENCY_WANTS (GPU_EVENTS_WANTS | WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY))

/* New; QUESTION is borrowed. */
struct gpu_efficiency *gpu_efficiency_open(const struct gpu_question *question);

/* A row for a report that is filled. */
void gpu_efficiency_add(struct gpu_efficiency *efficiency, const struct device_report *report);

/* The table, which from now on is the caller's. */
struct table *gpu_efficiency_table(struct gpu_efficiency *efficiency);

/* All but the table. */
void gpu_efficiency_free(struct gpu_efficiency *efficiency);

#endif
