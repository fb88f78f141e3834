/*
 * messages.c - the messages of a recording, and what follows the last computation of its steps: see recording.h.
 *
 * A message serves the computation that its mark names ("PP:1SEND_F3"), else that in whose mark it was issued; in a job without
 * marks a send serves the computation begun before it, a receive the next one.
 */
#include "base/rows.h"
#include "base/search.h"
#include "job/recording.h"

/* A computation of the recording. */
struct served {
    int64_t issued_ns, issued_end_ns;
    int64_t step, stage, microbatch;
    uint32_t type, place;
};

static const struct key by_issue[] = { ASC(struct served, issued_ns), ASC(struct served, place), KEY_END };
static const struct key by_name[] = { ASC(struct served, step), ASC(struct served, stage),
                                      ASC(struct served, microbatch), ASC(struct served, type), KEY_END };

struct served_list {
    VEC_OF(struct served);
};

struct serving {
    struct recording *of;
    struct served_list by_issue, by_name;
};

static void list_served(struct serving *serving)
{
    for (uint32_t i = 0; i < serving->of->computations; i++) {
        const struct found *op = &serving->of->found.at[i];
        struct served one = {
            op->issued_ns, op->issued_end_ns, op->row.step, op->row.stage, op->row.microbatch, op->type, i
        };
        *VEC_PUSH(&serving->by_issue) = one;
        *VEC_PUSH(&serving->by_name) = one;
    }
    SORT(&serving->by_issue, by_issue);
    SORT(&serving->by_name, by_name);
}

/* The mark of a message in which MOMENT lies; NULL: none. */
static const struct mark *message_mark_at(const struct recording *of, int64_t moment_ns)
{
    size_t after = PLACE(i, of->message_marks.count, of->message_marks.at[i].start_ns <= moment_ns);
    return after > 0 && moment_ns < of->message_marks.at[after - 1].end_ns ? &of->message_marks.at[after - 1]
                                                                           : NULL;
}

static uint32_t find_named(const struct serving *serving, const struct mark *mark, int64_t step)
{
    struct served wanted = {
        .step = step, .stage = mark->name.stage, .microbatch = mark->name.microbatch, .type = mark->name.type
    };
    const struct served *found =
        rows_find(serving->by_name.at, serving->by_name.count, sizeof *serving->by_name.at, by_name, &wanted);
    return found ? found->place : OPERATION_NONE;
}

/* The place of the computation that ONE serves; OPERATION_NONE: none is known. */
static uint32_t message_find_served(const struct serving *serving, const struct message *one)
{
    const struct served_list *list = &serving->by_issue;
    const struct mark *mark = message_mark_at(serving->of, one->issued_ns);
    if (mark)
        return find_named(serving, mark, recording_step(serving->of, one->issued_ns));
    size_t next; /* the first computation issued at the message or after it */
    SEARCH(next, list->count, list->at[next].issued_ns < one->issued_ns);
    if (serving->of->marks.count) {
        size_t after = PLACE(i, list->count, list->at[i].issued_ns <= one->issued_ns);
        return after > 0 && one->issued_ns < list->at[after - 1].issued_end_ns ? list->at[after - 1].place
                                                                               : OPERATION_NONE;
    }
    if (one->kind == COLLECTIVE_SEND)
        return next > 0 ? list->at[next - 1].place : OPERATION_NONE;
    return next < list->count ? list->at[next].place : OPERATION_NONE;
}

static void messages_add_one(struct serving *serving, struct message *one)
{
    struct recording *of = serving->of;
    uint32_t served = message_find_served(serving, one);
    if (served == OPERATION_NONE)
        return;
    bool backward = of->found.at[served].type != FORWARD_COMPUTE, sends = one->kind == COLLECTIVE_SEND;
    uint32_t type =
        backward ? (sends ? BACKWARD_SEND : BACKWARD_RECV) : (sends ? FORWARD_SEND : FORWARD_RECV);
    one->found = recording_add(of, operation_type_word(type), of->found.at[served].row.step,
                               (struct interval){ one->start_ns, one->end_ns });
    of->found.at[one->found].row.serves = served;
}

/* ---- after the last computation ---- */

struct step_end {
    int64_t step, end_ns; /* END from the start of the recording */
};

struct step_ends {
    VEC_OF(struct step_end);
};

static const struct key by_step[] = { ASC(struct step_end, step), DESC(struct step_end, end_ns), KEY_END };
static const struct key of_step[] = { ASC(struct step_end, step), KEY_END };

static void find_ends(const struct serving *serving, struct step_ends *ends)
{
    for (size_t i = 0; i < serving->of->computations; i++) {
        const struct facts_operation *row = &serving->of->found.at[i].row;
        *VEC_PUSH(ends) = (struct step_end){ row->step, row->start_ns + row->duration_ns };
    }
    SORT(ends, by_step);
    ends->count = rows_unique(ends->at, ends->count, sizeof *ends->at, of_step);
}

static const struct step_end *end_of(const struct step_ends *ends, int64_t step)
{
    struct step_end wanted = { .step = step };
    return rows_find(ends->at, ends->count, sizeof *ends->at, of_step, &wanted);
}

static bool is_collective(const struct message *one)
{
    return one->kind != COLLECTIVE_SEND && one->kind != COLLECTIVE_RECV && one->kind != COLLECTIVE_SEND_RECV;
}

static void messages_add_collectives(struct serving *serving, const struct step_ends *ends)
{
    struct recording *of = serving->of;
    FOR_EACH(one, &of->messages) {
        int64_t step = recording_step(of, one->issued_ns);
        const struct step_end *end = step == FACTS_MISSING ? NULL : end_of(ends, step);
        if (!is_collective(one) || !end || one->start_ns - of->origin_ns < end->end_ns)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s-%s",
                 one->dimension == JOB_NO_DIMENSION ? "group" : job_dimension_name(one->dimension),
                 collective_kind_name(one->kind));
        one->found = recording_add(of, name, step, (struct interval){ one->start_ns, one->end_ns });
    }
}

/* What ran on the devices for an optimizer's STEP; false: nothing did. */
static bool find_optimizer_work(const struct recording *of, struct interval *step)
{
    struct interval ran = { INT64_MAX, INT64_MIN };
    size_t first = PLACE(k, of->work.count, of->work.at[k].issued_ns < step->start_ns);
    for (size_t i = first; i < of->work.count && of->work.at[i].issued_ns < step->end_ns; i++) {
        const struct work *work = &of->work.at[i];
        if (work->communicates)
            continue;
        ran.start_ns = work->start_ns < ran.start_ns ? work->start_ns : ran.start_ns;
        ran.end_ns = work->end_ns > ran.end_ns ? work->end_ns : ran.end_ns;
    }
    *step = ran;
    return ran.start_ns <= ran.end_ns;
}

static void add_optimizers(struct serving *serving, const struct step_ends *ends)
{
    struct recording *of = serving->of;
    for (size_t i = 0; i < of->optimizer_steps.count; i++) {
        struct interval span = of->optimizer_steps.at[i];
        int64_t step = recording_step(of, span.start_ns);
        if (step == FACTS_MISSING || !end_of(ends, step) ||
            (of->form == JOB_OF_DEVICES && !find_optimizer_work(of, &span)))
            continue;
        recording_add(of, "optimizer", step, span);
    }
}

void recording_add_messages(struct recording *of)
{
    struct serving serving = { .of = of };
    SCOPED struct step_ends ends = { 0 };
    list_served(&serving);
    for (size_t i = 0; i < of->messages.count; i++)
        if (of->messages.at[i].kind == COLLECTIVE_SEND || of->messages.at[i].kind == COLLECTIVE_RECV)
            messages_add_one(&serving, &of->messages.at[i]);
    find_ends(&serving, &ends);
    messages_add_collectives(&serving, &ends);
    add_optimizers(&serving, &ends);
    VEC_FREE(&serving.by_issue);
    VEC_FREE(&serving.by_name);
}
