#include "whatif/edits.h"

#include "whatif/editing.h"

bool edit_apply(const struct edit *edit, struct changes *changes, struct edit_effect *effect,
                struct tpa_error *err)
{
    *effect = (struct edit_effect){ 0, 0 };
    const struct replay_graph *graph = changes->graph;
    struct editing editing = { edit, graph, graph->trace, changes, effect };
    switch (edit->kind) {
    case EDIT_SCALE: return edit_scale(&editing, err) && (edit->factor <= 1 || editing_fits(&editing, err));
    case EDIT_NO_SYNC: return edit_no_sync(&editing, err);
    case EDIT_NO_DATA_WAIT: edit_no_data_wait(&editing); break;
    case EDIT_NO_COMPILE: edit_no_compile(&editing); break;
    case EDIT_PINNED_COPIES: edit_pinned_copies(&editing); break;
    case EDIT_CUDA_GRAPH: edit_cuda_graph(&editing); break;
    case EDIT_NO_ALLOC: edit_no_alloc(&editing); break;
    case EDIT_NO_FIRST_USE: edit_no_first_use(&editing); break;
    case EDIT_AT_PEAK: edit_at_peak(&editing); break;
    case EDIT_FUSE: edit_fuse(&editing); break;
    case EDIT_FUSE_ATTENTION: edit_fuse_attention(&editing); break;
    case EDIT_NO_RECOMPUTE: edit_no_recompute(&editing); break;
    case EDIT_FUSE_OPTIMIZER: edit_fuse_optimizer(&editing); break;
    case EDIT_OVERLAP_COMM: edit_overlap_comm(&editing); break;
    case EDIT_NO_CONTENTION: edit_no_contention(&editing); break;
    case EDIT_COMM_BANDWIDTH: edit_comm_bandwidth(&editing); return editing_fits(&editing, err);
    case EDIT_RANKS_LIKE_MEDIAN: edit_ranks_like_median(&editing, false); break;
    case EDIT_GPUS_LIKE_MEDIAN: edit_ranks_like_median(&editing, true); break;
    case EDIT_TENSOR_CORES: edit_tensor_cores(&editing); break;
    case EDIT_BATCH: edit_batch(&editing); return editing_fits(&editing, err);
    case EDIT_AVOID: return edit_avoid(&editing, err);
    case EDIT_KINDS: break;
    }
    return true;
}
