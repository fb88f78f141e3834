/*
 * gpu_efficiency.h - how well a device was used while it worked.
 *
 * Utilization, SM efficiency and occupancy are defined as in TensorBoard's plugin for PyTorch, see docs/definitions.md.
 */
#ifndef TPA_ANALYZE_GPU_EFFICIENCY_H
#define TPA_ANALYZE_GPU_EFFICIENCY_H

#include "derive/gpu_events.h"

#define GPU_EFFICIENCY_WANTS (GPU_EVENTS_WANTS | WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY))

/* The window that the plugin uses, by file: the complete steps as they ran; without any the range of the operators,
 * extended to the end of the work that was launched in it; empty without operators. New; free with free(). */
struct interval *gpu_efficiency_windows(const struct gpu_events *gpu);

struct kernel_averages {
    double sm_efficiency, occupancy; /* NaN if no kernel in the window records them */
};

/* The efficiency of the COUNT operations at POSITIONS of gpu->event (NULL: from FIRST on), in order of start, within WINDOW. */
struct kernel_averages gpu_efficiency_average(const struct gpu_events *gpu, const uint32_t *positions,
                                              size_t first, size_t count, struct interval window);

#endif
