#include "base/result.h"

#include "base/rows.h"
#include <assert.h>
#include <stdarg.h>

struct result *result_open(const char *schema)
{
    struct result *result = mem_zalloc(1, sizeof *result);
    result->schema = schema;
    return result;
}

void result_free(struct result *result)
{
    if (!result)
        return;
    for (size_t i = 0; i < result->tables.count; i++)
        table_free(result->tables.at[i]);
    EACH(VEC_FREE, &result->tables, &result->notices);
    picture_free(result->picture);
    answer_free(result->answer);
    twin_tree_free(result->twins);
    arena_release(&result->arena);
    free(result);
}

void result_add_table(struct result *result, struct table *table)
{
    *VEC_PUSH(&result->tables) = table;
}

struct answer *result_answer(struct result *result)
{
    if (!result->answer)
        result->answer = mem_zalloc(1, sizeof *result->answer);
    return result->answer;
}

static const char *copy_text(struct result *result, const char *text)
{
    return text ? arena_strndup(&result->arena, text, strlen(text)) : NULL;
}

void result_cannot_answer(struct result *result, const char *reason, const char *text, const char *needs)
{
    if (!result->cannot.reason)
        result->cannot =
            (struct cannot_answer){ reason, copy_text(result, text), copy_text(result, needs), { NULL } };
}

void result_answer_instead(struct result *result, const char *line)
{
    enum { MOST = sizeof result->cannot.instead / sizeof *result->cannot.instead };
    size_t i = 0;
    while (i < MOST && result->cannot.instead[i])
        i++;
    if (result->cannot.reason && i < MOST)
        result->cannot.instead[i] = copy_text(result, line);
}

void result_add_column(struct result *result, const char *key)
{
    for (size_t t = 0; t < result->tables.count; t++) {
        int column = table_find_column(result->tables.at[t], key, strlen(key));
        if (column >= 0)
            result->tables.at[t]->columns[column].flags = 0;
    }
}

void result_make_minor(struct result *result)
{
    result->notices.at[result->notices.count - 1].minor = true;
}

void result_make_verdict(struct result *result)
{
    struct table_notice *last = &result->notices.at[result->notices.count - 1];
    last->on_top = last->is_answer = true;
}

void result_make_clause(struct result *result)
{
    result_make_verdict(result);
    result->notices.at[result->notices.count - 1].is_clause = true;
}

void result_make_answered(struct result *result)
{
    result->notices.at[result->notices.count - 1].in_answer = true;
}

/* The kinds of notices that explain how rows are counted, or what a command could do next: no answer depends on them. */
static const char *const explanations[] = {
    "async_guessed",
    "calls_without_operator",
    "captured_calls",
    "chains_left_out",
    "check",
    "contradictions",
    "counts_swapped",
    "cut_lists",
    "early_work",
    "end_of_recording",
    "five_digits",
    "graph_by_place",
    "graph_works",
    "kernels_by_number",
    "links_by_nesting",
    "lone_ends",
    "memory_timeline",
    "merged_callers",
    "names_left_out",
    "nested",
    "no_call_stacks",
    "no_streams",
    "nothing_found",
    "not_looked_at",
    "odd_flows",
    "part",
    "ranks_added_up",
    "rare",
    "recorder_remark",
    "reduced",
    "repeats",
    "sampled",
    "short_runs",
    "step_times",
    "torchscript_fork",
    "trailing_bytes",
    "untold_totals",
    "unfinished_regions",
    "unlinked_backward",
};

/* The kinds of notices about files that do not count, as they hold what others do. */
static const char *const of_input[] = { "copies", "given_twice" };

static bool is_one_of(const char *const *kinds, size_t count, const char *kind)
{
    return ANY(i, count, strcmp(kinds[i], kind) == 0);
}

void result_add_notice(struct result *result, const char *kind, int64_t count, const char *file,
                       int64_t offset, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(len >= 0);
    char *text = arena_alloc(&result->arena, (size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, args);
    va_end(args);
    const char *file_copy = file ? arena_strndup(&result->arena, file, strlen(file)) : NULL;
    const char *kind_copy = arena_strndup(&result->arena, kind, strlen(kind));
    *VEC_PUSH(&result->notices) = (struct table_notice){
        .kind = kind_copy,
        .count = count,
        .text = text,
        .file = file_copy,
        .offset = offset,
        .lacks = lacks_of_word(kind),
        .of_input = is_one_of(of_input, sizeof of_input / sizeof *of_input, kind),
        .minor = is_one_of(explanations, sizeof explanations / sizeof *explanations, kind),
    };
}

void result_order_notices(struct result *result)
{
    static const struct key by_place[] = { ASC(struct table_notice, place), KEY_END };
    for (size_t i = 0; i < result->notices.count; i++)
        result->notices.at[i].place = (uint8_t)notice_place(&result->notices.at[i]);
    SORT(&result->notices, by_place);
}

unsigned result_lacks(const struct result *result)
{
    unsigned lacks = 0;
    for (size_t i = 0; i < result->notices.count; i++)
        lacks |= result->notices.at[i].lacks;
    return lacks;
}
