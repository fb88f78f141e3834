/* torch gives events of one kind the same key when their names are equal after demangling; steps are taken
 * together as ProfilerStep*; an operator's overload ("aten::add.Tensor") is not a part of its name. */
#include "analyze/top/top.h"

#include "base/demangle.h"
#include "derive/flops.h"
#include <ctype.h>

/* profiler_util._filter_name: left out of every table. */
static const char *const dropped_names[] = {
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
};

static uint8_t flags_of(const char *name)
{
    uint8_t flags = 0;
    int64_t number;
    for (size_t i = 0; i < sizeof dropped_names / sizeof *dropped_names; i++)
        if (strcmp(name, dropped_names[i]) == 0)
            flags |= NAME_DROPPED | (i == 0 ? NAME_MEMORY : 0) | (i == 1 ? NAME_NO_MEMORY : 0);
    if (is_async_by_name(name))
        flags |= NAME_ASYNC;
    if (attribution_is_graph_launch(name))
        flags |= NAME_GRAPH;
    if (strcmp(name, "<forked function>") == 0)
        flags |= NAME_FORKED;
    if (step_number(name, &number))
        flags |= NAME_STEP;
    return flags;
}

static bool is_word(const char *from, const char *to)
{
    for (const char *c = from; c < to; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return from < to;
}

/* Length of NAME without its overload: of "aten::add" in "aten::add.Tensor". */
static size_t length_without_overload(const char *name, size_t len)
{
    const char *colons = strstr(name, "::"), *dot = strchr(name, '.');
    if (colons && dot && is_word(name, colons) && is_word(colons + 2, dot) && is_word(dot + 1, name + len))
        return (size_t)(dot - name);
    return len;
}

/* Operators that graphs were captured from have rows of their own, or share those of operators of the trace. */
static void add_captured(struct top_names *names, const struct graph_links *links)
{
    if (!links)
        return;
    const struct names *texts = links->bodies->texts;
    names->captured_key = mem_zalloc(names_count(texts) + 1, sizeof *names->captured_key);
    for (size_t i = 0; i <= links->bodies->ops.count; i++) {
        name_id id = i ? links->bodies->ops.at[i - 1].name : links->unmatched;
        const char *name = names_text(texts, id);
        names->captured_key[id] = names_add(names->keys, name, length_without_overload(name, strlen(name)));
    }
}

void top_names_open(struct top_names *names, const struct trace *trace, const struct top_options *options)
{
    size_t count = names_count(trace->names);
    names->key_of = mem_alloc(mem_times(count + 1, sizeof *names->key_of));
    names->operator_key_of = mem_alloc(mem_times(count + 1, sizeof *names->operator_key_of));
    names->flags = mem_zalloc(count + 1, 1);
    names->keys = names_open();
    struct buffer readable = { 0 };
    for (name_id id = 0; id < count; id++) {
        const char *name = names_text(trace->names, id);
        size_t len = names_length(trace->names, id);
        names->flags[id] = flags_of(name);
        buffer_clear(&readable);
        if (demangle_as_torch(&readable, name))
            names->key_of[id] = names_add(names->keys, readable.at, readable.count);
        else if (step_name_add_all(&readable, name))
            names->key_of[id] = names_add(names->keys, readable.at, readable.count);
        else
            names->key_of[id] = names_add(names->keys, name, len);
        size_t plain_len = length_without_overload(name, len);
        names->operator_key_of[id] =
            plain_len == len ? names->key_of[id] : names_add(names->keys, name, plain_len);
        if (flops_operator_of(names_text(names->keys, names->operator_key_of[id])) != FLOPS_NONE)
            names->flags[id] |= NAME_FLOPS;
        names->any_flags |= names->flags[id];
    }
    buffer_release(&readable);
    add_captured(names, graph_links_of(trace));
    if (options->filter || options->exclude)
        names->wanted = selection_match_names(names->keys, options->filter, options->exclude, NULL);
}
