/* patterns.c - what the outermost calls of an operator launched, by the names of the operations. */
#include "analyze/sequences/parts.h"

#include "base/rows.h"
#include <assert.h>

struct launched {
    uint32_t outer; /* index of outer_operators.at */
    event_id work;
};

/* Which names are OP, or match it as a regular expression from end to end? New, free with free(); NULL and ERR when none is. */
static bool *match_operators(const struct trace *trace, const char *op, struct tpa_error *err)
{
    size_t count = names_count(trace->names);
    bool *exact = mem_zalloc(count + 1, sizeof *exact), *seen = mem_zalloc(count + 1, sizeof *seen);
    bool any = false;
    struct suggest near = suggest_for(op, strlen(op));
    for (event_id e = 0; e < trace->event_count; e++)
        seen[trace->name[e]] = seen[trace->name[e]] || trace->kind[e] == EVENT_OP;
    for (name_id id = 0; id < count; id++)
        if (seen[id]) {
            exact[id] = strcmp(names_text(trace->names, id), op) == 0;
            any = any || exact[id];
            suggest_consider(&near, names_text(trace->names, id));
        }
    if (!any) {
        struct buffer whole = { 0 };
        buffer_printf(&whole, "^(?:%s)$", op);
        SCOPED bool *matched = selection_match_names(trace->names, whole.at, NULL, err);
        buffer_release(&whole);
        for (name_id id = 0; matched && id < count; id++) {
            exact[id] = matched[id] && seen[id];
            any = any || exact[id];
        }
        if (matched && !any) {
            tpa_fail(err, TPA_NOWHERE, "no operator is called '%s'", op);
            if (near.best)
                tpa_hint(err, "did you mean %s?", near.best);
        }
    }
    free(seen);
    if (any)
        return exact;
    free(exact);
    return NULL;
}

/* ---- the operations of each call ---- */

/* The calls of an operator that launched operations of these names. */
struct pattern {
    size_t first, length; /* of the first such call: of the names */
    name_id op;
    int64_t count, device_ns, host_ns;
};

static void patterns_add_rows(struct sequences *sequences, struct work_words *words,
                              const struct trace *trace, const struct pattern *patterns, size_t count,
                              const name_id *names)
{
    FOR_EACH_OF(pattern, patterns, count) {
        struct pattern_row row = { .op = { names_text(trace->names, pattern->op),
                                           names_length(trace->names, pattern->op) },
                                   .count = pattern->count,
                                   .length = (int64_t)pattern->length,
                                   .device_ns = pattern->device_ns,
                                   .host_ns = pattern->host_ns };
        row.operations = operations_in_few_words(words, &names[pattern->first], pattern->length);
        row.names = operations_in_full(words, &names[pattern->first], pattern->length);
        *VEC_PUSH(&sequences->patterns) = row;
    }
}

static const struct key by_count_time[] = { DESC(struct pattern, count), DESC(struct pattern, device_ns),
                                            KEY_END };

static void add_patterns(struct sequences *sequences, const struct stream_operations *operations,
                         struct work_words *words, const struct outer_operators *outer,
                         const struct launched *all, size_t count)
{
    const struct trace *trace = operations->trace;
    SCOPED name_id *names =
        mem_alloc(mem_times(2 * count + 1, sizeof *names)); /* before each pattern: its operator */
    SCOPED_OBJECT struct names *keys = names_open();
    SCOPED VEC_OF(struct pattern) patterns = { 0 };
    size_t used = 0;
    FOR_RUNS(first, end, count, all[end].outer == all[first].outer) {
        event_id op = outer->at[all[first].outer];
        size_t begin = used;
        int64_t device_ns = 0;
        names[used++] = trace->name[op];
        for (size_t i = first; i < end; i++) {
            names[used++] = trace->name[all[i].work];
            device_ns += trace_dur_ns(trace, all[i].work);
        }
        uint32_t id = names_add(keys, (const char *)&names[begin], (used - begin) * sizeof *names);
        if (id == patterns.count)
            *VEC_PUSH(&patterns) =
                (struct pattern){ .first = begin + 1, .length = used - begin - 1, .op = trace->name[op] };
        else
            used = begin;
        assert(patterns.at);
        patterns.at[id].count++;
        patterns.at[id].device_ns += device_ns;
        patterns.at[id].host_ns += trace_dur_ns(trace, op);
    }
    SORT(&patterns, by_count_time);
    SORT_BY_TEXT(patterns.at, patterns.count, i, names_text(trace->names, patterns.at[i].op));
    patterns_add_rows(sequences, words, trace, patterns.at, patterns.count, names);
}

bool sequences_add_patterns(struct sequences *sequences, const struct stream_operations *operations,
                            struct work_words *words, const char *op, struct tpa_error *err)
{
    const struct trace *trace = operations->trace;
    SCOPED bool *names = match_operators(trace, op, err);
    if (!names)
        return false;
    SCOPED_ARENA struct arena scratch = { 0 };
    struct outer_operators outer = outer_operators_open(trace, names, &scratch);
    SCOPED VEC_OF(struct launched) all = { 0 };
    for (size_t i = 0; i < operations->count; i++) {
        size_t of = outer_operator_of(&outer, trace, work_call(operations, &operations->at[i]));
        if (of != SIZE_MAX)
            *VEC_PUSH(&all) = (struct launched){ (uint32_t)of, work_event(operations, &operations->at[i]) };
    }
    SORT_BY(all.at, all.count, i, all.at[i].work);
    SORT_BY(all.at, all.count, i, trace_start_ns(trace, all.at[i].work));
    SORT_BY(all.at, all.count, i, all.at[i].outer);
    add_patterns(sequences, operations, words, &outer, all.at, all.count);
    return true;
}
