/*
 * cpuprofile.c - CPU profiles of V8: what node --cpu-prof, Chrome's DevTools and Deno write (.cpuprofile).
 *
 *     { "nodes": [ { "id", "callFrame": { "functionName", "url", "lineNumber" from 0 }, "hitCount", "children": [id] } ],
 *       "startTime", "endTime" in us, "samples": [id], "timeDeltas": [us since the sample before] }
 *
 * Some writers have "parent" in place of "children". A sample covers the time until the next one, the last one until
 * the end; without times a hit counts as one. A node whose callers form a cycle is left out, and counted.
 */
#define _GNU_SOURCE /* memmem */
#include "ingest/formats.h"
#include "base/search.h"
#include "base/rows.h"

#include "ingest/json_text.h"
#include "ingest/stack_sums.h"
#include <math.h>

enum { NODE_NEW, NODE_OPEN, NODE_KNOWN, NODE_BAD, NO_PARENT = -1 };

struct v8_node {
    int64_t id, parent, hits;
    function_id function; /* FUNCTION_NONE: the root */
    stack_id stack;
    int state;
};

struct v8_edge {
    int64_t child, parent;
};

typedef VEC_OF(int64_t) v8_numbers;

struct v8 {
    struct stack_sums sums;
    const char *text;
    VEC_OF(struct v8_node) nodes; /* sorted by id once all are read */
    VEC_OF(struct v8_edge) edges;
    v8_numbers samples, deltas;
    int64_t start_us, end_us;
};

static int64_t cpuprofile_read_integer(struct json_pull *in, int64_t missing)
{
    struct json_text value;
    return json_read(in, &value) && !value.is_string ? json_text_integer(&value, missing) : missing;
}

static function_id read_call_frame(struct v8 *reader, struct json_pull *in)
{
    struct json_text key, value;
    SCOPED struct buffer name = { 0 }, url = { 0 };
    int64_t line = -1;
    if (json_enter_or_skip(in, '{'))
        while (json_next_key(in, &key) && json_read(in, &value)) {
            if (json_text_is(&key, "functionName"))
                json_text_decode(&value, &name);
            else if (json_text_is(&key, "url"))
                json_text_decode(&value, &url);
            else if (json_text_is(&key, "lineNumber"))
                line = json_text_integer(&value, -1);
        }
    if (name.count == 0)
        buffer_puts(&name, "(anonymous)");
    bool root = strcmp(name.at, "(root)") == 0;
    return root ? FUNCTION_NONE
                : stack_sums_function(&reader->sums, name.at, name.count, url.at ? url.at : "", url.count,
                                      line < INT32_MAX ? line + 1 : 0);
}

static void cpuprofile_read_node(struct v8 *reader, struct json_pull *in)
{
    struct v8_node node = { .id = -1, .parent = NO_PARENT, .function = FUNCTION_NONE };
    struct json_text key;
    int64_t offset = in->at - reader->text;
    size_t first = reader->edges.count;
    if (json_enter_or_skip(in, '{'))
        while (json_next_key(in, &key)) {
            if (json_text_is(&key, "id"))
                node.id = cpuprofile_read_integer(in, -1);
            else if (json_text_is(&key, "parent"))
                node.parent = cpuprofile_read_integer(in, NO_PARENT);
            else if (json_text_is(&key, "hitCount"))
                node.hits = cpuprofile_read_integer(in, 0);
            else if (json_text_is(&key, "callFrame"))
                node.function = read_call_frame(reader, in);
            else if (json_text_is(&key, "children") && json_enter(in, '['))
                while (json_next_element(in))
                    *VEC_PUSH(&reader->edges) = (struct v8_edge){ cpuprofile_read_integer(in, -1), 0 };
            else if (!json_skip(in))
                break;
        }
    for (size_t i = first; i < reader->edges.count; i++)
        reader->edges.at[i].parent = node.id;
    if (node.id < 0)
        stack_sums_odd(&reader->sums, offset);
    else
        *VEC_PUSH(&reader->nodes) = node;
}

static const struct key cpuprofile_by_id[] = { ASC(struct v8_node, id), KEY_END };

static struct v8_node *find_node(const struct v8 *reader, int64_t id)
{
    size_t i = PLACE(k, reader->nodes.count, reader->nodes.at[k].id < id);
    return i < reader->nodes.count && reader->nodes.at[i].id == id ? &reader->nodes.at[i] : NULL;
}

/* The stack of NODE: first up to a caller with a known stack, then down again. */
static void find_stack(struct v8 *reader, struct v8_node *node)
{
    SCOPED VEC_OF(struct v8_node *) path = { 0 };
    struct v8_node *at = node;
    while (at && at->state == NODE_NEW) {
        at->state = NODE_OPEN;
        *VEC_PUSH(&path) = at;
        at = at->parent == NO_PARENT ? NULL : find_node(reader, at->parent);
    }
    bool bad = at && at->state != NODE_KNOWN; /* a cycle, or a node below one */
    stack_id stack = at && !bad ? at->stack : STACK_ROOT;
    for (size_t i = path.count; i-- > 0;) {
        path.at[i]->state = bad ? NODE_BAD : NODE_KNOWN;
        if (!bad && path.at[i]->function != FUNCTION_NONE)
            stack = stack_sums_below(&reader->sums, stack, path.at[i]->function);
        path.at[i]->stack = stack;
        if (bad)
            stack_sums_odd(&reader->sums, TPA_NOWHERE);
    }
}

static void join_nodes(struct v8 *reader)
{
    SORT(&reader->nodes, cpuprofile_by_id);
    for (size_t i = 0; i < reader->edges.count; i++) {
        struct v8_node *child = find_node(reader, reader->edges.at[i].child);
        if (child && child->parent == NO_PARENT)
            child->parent = reader->edges.at[i].parent;
        else
            stack_sums_odd(&reader->sums, TPA_NOWHERE); /* a child without a parent, or with two */
    }
    for (size_t i = 0; i < reader->nodes.count; i++)
        find_stack(reader, &reader->nodes.at[i]);
}

/* Each sample until the next; V8's clock may step back a little. */
static void cpuprofile_add_samples(struct v8 *reader)
{
    double at = (double)reader->start_us;
    for (size_t i = 0; i < reader->samples.count; i++) {
        at += i < reader->deltas.count ? (double)reader->deltas.at[i] : 0;
        double until = i + 1 < reader->deltas.count     ? (double)reader->deltas.at[i + 1]
                       : i + 1 == reader->samples.count ? (double)reader->end_us - at
                                                        : 0;
        const struct v8_node *node = find_node(reader, reader->samples.at[i]);
        if (!node || node->state != NODE_KNOWN)
            stack_sums_odd(&reader->sums, TPA_NOWHERE);
        else if (node->stack != STACK_ROOT)
            stack_sums_add(&reader->sums, node->stack, fmax(until, 0) * 1e-6, 1);
    }
}

static void read_integers(struct json_pull *in, v8_numbers *numbers)
{
    if (json_enter_or_skip(in, '['))
        while (json_next_element(in))
            *VEC_PUSH(numbers) = cpuprofile_read_integer(in, 0);
}

static void cpuprofile_read_document(struct v8 *reader, struct json_pull *in)
{
    struct json_text key;
    if (json_enter(in, '{'))
        while (json_next_key(in, &key)) {
            if (json_text_is(&key, "nodes") && json_enter(in, '['))
                while (json_next_element(in))
                    cpuprofile_read_node(reader, in);
            else if (json_text_is(&key, "samples"))
                read_integers(in, &reader->samples);
            else if (json_text_is(&key, "timeDeltas"))
                read_integers(in, &reader->deltas);
            else if (json_text_is(&key, "startTime"))
                reader->start_us = cpuprofile_read_integer(in, 0);
            else if (json_text_is(&key, "endTime"))
                reader->end_us = cpuprofile_read_integer(in, 0);
            else if (!json_skip(in))
                break;
        }
}

static struct profile *read_cpuprofile(struct source *source, struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    struct v8 reader = { 0 };
    struct profile *profile = NULL;
    stack_sums_open(&reader.sums);
    if (stack_sums_read_json(source, &text, err)) {
        struct json_pull in = { text.at, text.at + text.count };
        reader.text = text.at;
        cpuprofile_read_document(&reader, &in);
        join_nodes(&reader);
        bool timed = reader.samples.count > 0 && reader.deltas.count > 0;
        if (timed)
            cpuprofile_add_samples(&reader);
        for (size_t i = 0; i < reader.nodes.count && !timed; i++)
            if (reader.nodes.at[i].state == NODE_KNOWN && reader.nodes.at[i].stack != STACK_ROOT)
                stack_sums_add(&reader.sums, reader.nodes.at[i].stack, (double)reader.nodes.at[i].hits * 1e-9,
                               reader.nodes.at[i].hits);
        profile = stack_sums_finish(&reader.sums, timed ? PROFILE_TIME : PROFILE_COUNT, err);
    }
    stack_sums_release(&reader.sums);
    EACH(VEC_FREE, &reader.nodes, &reader.edges, &reader.samples, &reader.deltas);
    return profile;
}

static int sniff_cpuprofile(const char *bytes, size_t len)
{
    static const char *const words[] = { "\"nodes\"", "\"callFrame\"", "\"functionName\"" };
    static const char trace[] = "\"traceEvents\"";
    size_t at = json_behind_blanks(bytes, len, 0);
    if (at == len || bytes[at] != '{' || memmem(bytes, len, trace, sizeof trace - 1))
        return 0;
    return ANY(i, sizeof words / sizeof *words, !memmem(bytes, len, words[i], strlen(words[i]))) ? 0 : 92;
}

extern const struct format format_cpuprofile;
const struct format format_cpuprofile = {
    .name = "V8 CPU profile",
    .description = "profile of V8: node --cpu-prof, Chrome's DevTools (.cpuprofile)",
    .sniff = sniff_cpuprofile,
    .read_profile = read_cpuprofile,
};
