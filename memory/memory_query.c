/* memory_query.c - see memory.h: keys of rows, and the texts and moments that rows hold. */
#include "memory/memory.h"

#include "analyze/group.h"
#include "derive/file_set.h"
#include "trace/span.h"
#include <assert.h>
#include <inttypes.h>

/* ---- texts and moments ---- */

struct text memory_keep_text(const struct memory_query *query, const char *text, size_t len)
{
    struct names *texts = query->memory->texts;
    return (struct text){ names_text(texts, names_add(texts, text, len)), len };
}

struct text memory_owner_text(const struct memory_query *query, name_id name)
{
    const struct names *names = query->trace->names;
    if (name == query->no_operator)
        return as_text("[no operator]");
    return (struct text){ names_text(names, name), names_length(names, name) };
}

static struct text thread_text(const struct memory_query *query, track_id thread)
{
    SCOPED struct buffer text = { 0 };
    group_append_thread(query->trace, thread, &text);
    return memory_keep_text(query, text.at ? text.at : "", text.count);
}

static struct text cycle_text(const struct memory_query *query, uint32_t cycle)
{
    char text[16];
    int len = snprintf(text, sizeof text, "%" PRIu32, cycle + 1);
    return memory_keep_text(query, text, (size_t)len);
}

struct text memory_key_text(const struct memory_query *query, uint32_t key)
{
    bool none = key == query->key_count;
    switch (query->options->by) {
    case MEMORY_BY_OPERATOR: return memory_owner_text(query, key);
    case MEMORY_BY_MODULE:
        return as_text(none ? "(outside any module)" : names_text(query->memory->paths->labels, key));
    case MEMORY_BY_LINE:
        return as_text(none ? "(outside any line)" : names_text(query->memory->paths->labels, key));
    case MEMORY_BY_STEP:
        return as_text(none ? "(outside steps)" : trace_name(query->trace, query->steps->at[key].event));
    case MEMORY_BY_THREAD: return thread_text(query, key);
    case MEMORY_BY_CYCLE: return cycle_text(query, key);
    case MEMORY_BY_DEVICE: break;
    }
    return (struct text){ 0 };
}

struct memory_place memory_place_of(const struct memory_query *query, const struct memory_device *device)
{
    struct memory_place place = { .rank = selection_rank(query->trace, device->file),
                                  .number = device->id >= 0 ? device->id : TABLE_INT_MISSING,
                                  .is_host = memory_is_host(device),
                                  .cycle = file_set_of(query->trace)->files[device->file].cycle };
    if (device->type == MEMORY_TYPE_UNKNOWN) {
        place.number = TABLE_INT_MISSING;
        return place;
    }
    const char *type = memory_device_type_name(device->type);
    SCOPED struct buffer text = { 0 };
    if (type)
        buffer_puts(&text, type);
    else
        buffer_printf(&text, "type %lld", (long long)device->type);
    if (device->id >= 0)
        buffer_printf(&text, ":%lld", (long long)device->id);
    place.device = memory_keep_text(query, text.at, text.count);
    return place;
}

static uint32_t file_of(const struct memory_query *query, event_id e)
{
    return query->trace->tracks[query->trace->track[e]].file;
}

int64_t memory_moment(const struct memory_query *query, event_id e)
{
    return trace_start_ns(query->trace, e) - query->origins[file_of(query, e)];
}

static const struct step *step_around(const struct memory_query *query, event_id e)
{
    return step_list_at(query->steps, file_of(query, e), trace_start_ns(query->trace, e));
}

int64_t memory_step_number(const struct memory_query *query, event_id e)
{
    const struct step *step = step_around(query, e);
    return step ? step->number : TABLE_INT_MISSING;
}

bool memory_owner_is_selected(const struct memory_query *query, const struct memory_record *record)
{
    if (record->owner == EVENT_NONE)
        return !query->options->filtered;
    return selection_holds_name(query->selection, query->trace->name[record->owner]);
}

/* ---- keys ---- */

static uint32_t label_of(const struct memory_query *query, event_id e)
{
    const struct code_paths *paths = query->memory->paths;
    assert(paths); /* rows are code places */
    uint32_t path = code_place_of(paths, e).path;
    return path == CODE_OUTSIDE ? query->key_count : paths->at[path].label;
}

static uint32_t key_of(const struct memory_query *query, event_id e)
{
    if (query->options->by == MEMORY_BY_THREAD)
        return query->trace->track[e];
    if (query->options->by == MEMORY_BY_CYCLE)
        return file_set_of(query->trace)->files[file_of(query, e)].cycle;
    if (query->options->by != MEMORY_BY_STEP)
        return label_of(query, e);
    const struct step *step = step_around(query, e);
    return step ? (uint32_t)(step - query->steps->at) : query->key_count;
}

/* Compute the key of the row of each record. */
static void find_keys(struct memory_query *query)
{
    const struct trace *trace = query->trace;
    switch (query->options->by) {
    case MEMORY_BY_OPERATOR: query->key_count = query->no_operator; return;
    case MEMORY_BY_DEVICE: query->key_count = 1; return;
    case MEMORY_BY_STEP: query->key_count = (uint32_t)query->steps->count; break;
    case MEMORY_BY_THREAD: query->key_count = (uint32_t)trace->track_count; break;
    case MEMORY_BY_CYCLE: query->key_count = file_set_of(trace)->most_cycles; break;
    case MEMORY_BY_MODULE:
    case MEMORY_BY_LINE:
        query->memory->paths =
            code_paths_of(trace, query->options->by == MEMORY_BY_LINE ? CODE_LINES : CODE_MODULES);
        query->key_count = (uint32_t)names_count(query->memory->paths->labels);
        break;
    }
    query->keys = mem_zalloc(query->records->count + 1, sizeof *query->keys);
    for (uint32_t i = 0; i < query->records->count; i++)
        query->keys[i] = key_of(query, query->records->at[i].event);
}

void memory_query_open(struct memory_query *query, const struct trace *trace,
                       const struct selection *selection, const struct memory_options *options,
                       const struct memory_records *records, struct memory *memory)
{
    size_t name_count = names_count(trace->names);
    int64_t number;
    *query = (struct memory_query){ .trace = trace,
                                    .selection = selection,
                                    .options = options,
                                    .records = records,
                                    .steps = step_list_of(trace),
                                    .no_operator = (name_id)name_count,
                                    .memory = memory };
    query->origins = mem_zalloc(trace->file_count + 1, sizeof *query->origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        query->origins[f] = trace_file_span(trace, f).start_ns;
    query->is_step = mem_zalloc(name_count + 1, sizeof *query->is_step);
    for (name_id id = 0; id < name_count; id++)
        query->is_step[id] = step_number(names_text(trace->names, id), &number);
    find_keys(query);
}
