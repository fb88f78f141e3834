#include "summary/state.h"

#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"
#include "derive/collective_names.h"
#include "trace/span.h"

int64_t summary_file_time(const struct summary *summary, uint32_t file)
{
    struct interval span = trace_file_span(summary->trace, file);
    const struct selection *selection = summary->selection;
    if (selection->files && !selection->files[file])
        return 0;
    return selection->windows ? intervals_length_within(&selection->windows[file], span.start_ns, span.end_ns)
                              : span.end_ns - span.start_ns;
}

static const struct key by_ranks[] = { ASC(struct summary_rank, rank), ASC(struct summary_rank, file),
                                       KEY_END };

void summary_find_ranks(struct summary *summary)
{
    size_t count = summary->trace->file_count, kept = 0;
    struct summary_rank *ranks = mem_zalloc(count + 1, sizeof *ranks);
    for (uint32_t f = 0; f < count; f++)
        ranks[f] =
            (struct summary_rank){ selection_rank(summary->trace, f), f, summary_file_time(summary, f) };
    if (count)
        SORT_ARRAY(ranks, count, by_ranks);
    for (size_t i = 0; i < count; i++)
        if (kept && ranks[kept - 1].rank == ranks[i].rank)
            sum_add(&ranks[kept - 1].time_ns, ranks[i].time_ns);
        else
            ranks[kept++] = ranks[i];
    summary->ranks = ranks;
    summary->rank_count = kept;
}

const struct summary_rank *summary_rank_of(const struct summary *summary, int64_t rank)
{
    size_t i;
    SEARCH(i, summary->rank_count, summary->ranks[i].rank < rank);
    return i < summary->rank_count && summary->ranks[i].rank == rank ? &summary->ranks[i] : NULL;
}

const struct trace_file *summary_file_of(const struct summary *summary, int64_t rank)
{
    const struct summary_rank *of = summary_rank_of(summary, rank);
    return of ? &summary->trace->files[of->file] : NULL;
}

const struct steps *summary_steps(const struct summary *summary, bool only_durations, struct tpa_error *err)
{
    struct steps_options options = { .by_rank = summary->by != SUMMARY_BY_ALL,
                                     .only_durations = only_durations };
    return steps_analyze(summary->trace, summary->selection, &options, err);
}

bool summary_is_pipeline(const struct summary *summary)
{
    for (size_t i = 0; summary->comm && i < summary->comm->waits.count; i++) {
        const struct comm_wait *wait = &summary->comm->waits.at[i];
        if (strcmp(wait->collective.at, collective_kind_name(COLLECTIVE_SEND)) == 0 ||
            strcmp(wait->collective.at, collective_kind_name(COLLECTIVE_RECV)) == 0)
            return true;
    }
    return false;
}
