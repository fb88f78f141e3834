/*
 * files.c - a document that tpa wrote of several files becomes these files again.
 *
 * `tpa convert` writes the files of several ranks into one document, for viewers, and tells in the top-level key "files"
 * what each of them records about itself, and its processes: as they are written here, and as they were.
 *
 *     "files":[{"name":"rank 0","path":"r0.json","processes":[["rank 0: 7",7]],"distributedInfo":{...}}, ...]
 *
 * With them back, steps, modules, recording windows and clocks are of their rank again. What another program wrote anew,
 * in another order or with other processes, stays one file.
 */
#include "ingest/chrome/chrome.h"

#include "ingest/json_text.h"

struct split {
    struct trace_builder *builder;
    VEC_OF(const char *) names;     /* by part */
    VEC_OF(struct json_text) facts; /* by part: its object */
    VEC_OF(struct part_process) processes;
    VEC_OF(struct trace_property) shared; /* of the whole document */
};

/* Does KEY tell something of the document as it is written here? */
static bool is_of_document(const char *key)
{
    return strcmp(key, "files") == 0 || strcmp(key, "baseTimeNanoseconds") == 0;
}

static bool read_pid(struct split *split, struct json_pull *in, int64_t *number, const char **text)
{
    struct json_text value;
    if (!json_next_element(in) || !json_read(in, &value))
        return false;
    *text = value.is_string ? json_text_keep(split->builder, &value) : NULL;
    *number = value.is_string ? 0 : json_text_integer(&value, 0);
    return true;
}

static bool read_processes(struct split *split, struct json_pull *in, uint32_t part)
{
    if (!json_enter(in, '['))
        return false;
    while (json_next_element(in)) {
        struct part_process process = { .part = part };
        if (!json_enter(in, '[') || !read_pid(split, in, &process.written_pid, &process.written_text) ||
            !read_pid(split, in, &process.own_pid, &process.own_text) || json_next_element(in))
            return false;
        *VEC_PUSH(&split->processes) = process;
    }
    return true;
}

/* One of the files; false if it is not one of them. */
static bool read_file(struct split *split, const struct json_text *facts)
{
    struct json_pull in = { facts->at, facts->at + facts->len };
    struct json_text key, value;
    const char *name = NULL;
    bool has_processes = false;
    if (!json_enter(&in, '{'))
        return false;
    while (json_next_key(&in, &key)) {
        if (json_text_is(&key, "processes"))
            has_processes = read_processes(split, &in, (uint32_t)split->names.count);
        else if (json_read(&in, &value) && json_text_is(&key, "name"))
            name = json_text_keep(split->builder, &value);
    }
    *VEC_PUSH(&split->names) = name;
    *VEC_PUSH(&split->facts) = *facts;
    return name && has_processes;
}

static bool read_files(struct split *split, const char *text)
{
    struct json_pull in = { text, text + strlen(text) };
    struct json_text facts;
    if (!json_enter(&in, '['))
        return false;
    while (json_next_element(&in))
        if (!json_read(&in, &facts) || !read_file(split, &facts))
            return false;
    return split->names.count > 1;
}

/* Does FACTS have KEY itself? */
static bool has_key(const struct json_text *facts, const char *key)
{
    struct json_pull in = { facts->at, facts->at + facts->len };
    struct json_text own;
    json_enter(&in, '{');
    while (json_next_key(&in, &own) && !json_text_is(&own, key))
        json_skip(&in);
    return in.at < in.end && json_text_is(&own, key);
}

/* Metadata of all files in the document, and of PART. */
static void apply_facts(struct split *split, size_t part, const struct trace_property *base)
{
    struct json_pull in = { split->facts.at[part].at, split->facts.at[part].at + split->facts.at[part].len };
    struct json_text key, value;
    SCOPED struct buffer name = { 0 };
    FOR_EACH(property, &split->shared)
        if (!is_of_document(property->key) && !has_key(&split->facts.at[part], property->key))
            chrome_apply_kept(split->builder, property);
    if (base)
        chrome_apply_kept(split->builder, base);
    json_enter(&in, '{');
    while (json_next_key(&in, &key) && json_read(&in, &value)) {
        json_text_decode(&key, &name);
        if (strcmp(name.at, "name") == 0 || strcmp(name.at, "path") == 0 ||
            strcmp(name.at, "processes") == 0 || is_of_document(name.at))
            continue;
        size_t quote = value.is_string;
        chrome_apply_property(split->builder, name.at, value.at - quote, value.len + 2 * quote);
    }
}

static void begin_files(struct split *split, const event_id *first_events)
{
    struct trace_builder *builder = split->builder;
    struct trace_file whole = *trace_builder_current_file(builder);
    const struct trace_property *base =
        FIND(shared, &split->shared, strcmp(shared->key, "baseTimeNanoseconds") == 0);
    for (size_t part = 0; part < split->names.count; part++) {
        if (part == 0)
            trace_builder_reset_file(builder);
        else
            trace_builder_file(builder, whole.path, whole.format);
        trace_builder_current_file(builder)->first_event = first_events[part];
        trace_builder_current_file(builder)->packing = whole.packing;
        trace_builder_current_file(builder)->lacks = whole.lacks;
        apply_facts(split, part, base);
    }
    trace_builder_current_file(builder)->size = whole.size;
}

void chrome_split_files(struct trace_builder *builder)
{
    struct trace_file *file = trace_builder_current_file(builder);
    struct split split = { .builder = builder };
    const char *files = NULL;
    for (size_t i = 0; i < file->properties.count; i++) {
        *VEC_PUSH(&split.shared) = file->properties.at[i];
        if (strcmp(file->properties.at[i].key, "files") == 0)
            files = file->properties.at[i].value;
    }
    if (files && read_files(&split, files)) {
        SCOPED event_id *first_events = mem_zalloc(split.names.count, sizeof *first_events);
        struct trace_parts parts = { split.names.at, (uint32_t)split.names.count, split.processes.at,
                                     split.processes.count };
        if (trace_builder_split(builder, &parts, first_events))
            begin_files(&split, first_events);
    }
    EACH(VEC_FREE, &split.names, &split.facts, &split.processes, &split.shared);
}
