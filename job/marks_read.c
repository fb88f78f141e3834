/* marks_read.c - the computations that marks name: see recording.h. */
#include "base/rows.h"
#include "base/search.h"
#include "job/recording.h"

static void widen(struct interval *span, int64_t start_ns, int64_t end_ns)
{
    span->start_ns = start_ns < span->start_ns ? start_ns : span->start_ns;
    span->end_ns = end_ns > span->end_ns ? end_ns : span->end_ns;
}

/* The work launched within MARK, by any thread: autograd has its own. */
static struct interval find_launched(const struct recording *of, const struct mark *mark)
{
    struct interval span = { INT64_MAX, INT64_MIN };
    size_t first = PLACE(k, of->work.count, of->work.at[k].issued_ns < mark->start_ns);
    for (size_t i = first; i < of->work.count && of->work.at[i].issued_ns < mark->end_ns; i++)
        widen(&span, of->work.at[i].start_ns, of->work.at[i].end_ns);
    return span;
}

/* The end of the last message that arrived within MARK: from here on the rank computes. */
static int64_t find_arrival(const struct recording *of, const struct mark *mark)
{
    size_t after = PLACE(i, of->arrivals.count, of->arrivals.at[i] <= mark->end_ns);
    return after > 0 && of->arrivals.at[after - 1] > mark->start_ns ? of->arrivals.at[after - 1]
                                                                    : mark->start_ns;
}

/* Operators on the thread of MARK between the last message that arrived within it and the first that left. */
static struct interval find_operators(const struct recording *of, const struct mark *mark)
{
    struct interval span = { INT64_MAX, INT64_MIN };
    int64_t from_ns = find_arrival(of, mark), to_ns = mark->end_ns;
    size_t first = PLACE(k, of->messages.count, of->messages.at[k].issued_ns < from_ns);
    for (size_t i = first; i < of->messages.count && of->messages.at[i].issued_ns <= mark->end_ns; i++)
        if (of->messages.at[i].kind == COLLECTIVE_SEND) {
            to_ns = of->messages.at[i].issued_ns;
            break;
        }
    SEARCH(first, of->work.count,
           of->work.at[first].track < mark->track ||
               (of->work.at[first].track == mark->track && of->work.at[first].start_ns < from_ns));
    for (size_t i = first;
         i < of->work.count && of->work.at[i].track == mark->track && of->work.at[i].start_ns < to_ns; i++)
        if (of->work.at[i].end_ns <= mark->end_ns)
            widen(&span, of->work.at[i].start_ns, of->work.at[i].end_ns);
    return span;
}

/* New, ascending: the stages of the model on the rank. */
struct stages {
    VEC_OF(int64_t);
};

static void list_stages(const struct recording *of, struct stages *stages)
{
    for (size_t i = 0; i < of->marks.count; i++)
        if (of->marks.at[i].name.stage >= 0)
            *VEC_PUSH(stages) = of->marks.at[i].name.stage;
    SORT(stages, rows_ascending_i64);
    stages->count = rows_unique(stages->at, stages->count, sizeof *stages->at, rows_ascending_i64);
}

static uint32_t chunk_of(const struct stages *stages, int64_t stage)
{
    return PLACE(chunk, (uint32_t)stages->count, stages->at[chunk] < stage);
}

void recording_add_marked(struct recording *of)
{
    SCOPED struct stages stages = { 0 };
    list_stages(of, &stages);
    FOR_EACH(mark, &of->marks) {
        struct interval ran = of->form == JOB_OF_HOSTS ? find_operators(of, mark) : find_launched(of, mark);
        if (ran.start_ns > ran.end_ns)
            continue;
        uint32_t place = recording_add_computation(of, mark->name.type, recording_step(of, mark->start_ns),
                                                   (struct interval){ mark->start_ns, mark->end_ns }, ran);
        struct facts_operation *row = &of->found.at[place].row;
        row->microbatch = mark->name.microbatch;
        row->stage = mark->name.stage >= 0 ? mark->name.stage : FACTS_MISSING;
        row->chunk = mark->name.stage >= 0 ? chunk_of(&stages, mark->name.stage) : 0;
    }
}
