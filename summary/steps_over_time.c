#include "summary/steps_over_time.h"

#include "trace/span.h"
#include <inttypes.h>

void summary_add_steps(struct answer *answer, const struct trace *trace, const struct account *account,
                       int64_t rank, struct arena *texts)
{
    size_t others = 0;
    answer->steps.count = 0;
    for (size_t i = 0; i < account->steps.count; i++) {
        const struct account_step *step = &account->steps.at[i];
        int64_t ns = account->all.limit == LIMIT_HOST ? step->host_ns : step->device_ns;
        if (step->rank != rank) {
            others++;
            continue;
        }
        if (ns <= 0)
            continue;
        *VEC_PUSH(&answer->steps) = (struct answer_step){
            .label = arena_printf(texts, "%" PRId64, step->number),
            .ns = ns,
            .start_ns = step->start_ns - trace_file_span(trace, step->file).start_ns,
        };
    }
    const struct account_rank *of = account_rank_of(account, rank);
    answer->steps_median_ns = of && of->has_steps ? of->median_ns : 0;
    answer->steps_title =
        others ? arena_printf(texts, "Steps over time, rank %" PRId64, rank) : "Steps over time";
}
