/* question.c - see question.h: keys of rows, and the texts and moments that rows hold. */
#include "analyze/memory/question.h"

#include "analyze/group.h"
#include "trace/span.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts and moments ---- */

struct text memory_keep_text(const struct memory_question *question, const char *text, size_t len)
{
    struct names *texts = question->memory->texts;
    return (struct text){ names_text(texts, names_add(texts, text, len)), len };
}

struct text memory_owner_text(const struct memory_question *question, name_id name)
{
    const struct names *names = question->trace->names;
    if (name == question->no_operator)
        return as_text("[no operator]");
    return (struct text){ names_text(names, name), names_length(names, name) };
}

static struct text thread_text(const struct memory_question *question, track_id thread)
{
    struct buffer text = { 0 };
    group_show_thread(question->trace, thread, &text);
    struct text kept = memory_keep_text(question, text.at ? text.at : "", text.count);
    buffer_release(&text);
    return kept;
}

struct text memory_key_text(const struct memory_question *question, uint32_t key)
{
    bool none = key == question->key_count;
    switch (question->options->by) {
    case MEMORY_BY_OPERATOR: return memory_owner_text(question, key);
    case MEMORY_BY_MODULE:
        return as_text(none ? "(outside any module)" : names_text(question->memory->paths->labels, key));
    case MEMORY_BY_LINE:
        return as_text(none ? "(outside any line)" : names_text(question->memory->paths->labels, key));
    case MEMORY_BY_STEP:
        return as_text(none ? "(outside steps)"
                            : trace_name(question->trace, question->steps->at[key].event));
    case MEMORY_BY_THREAD: return thread_text(question, key);
    case MEMORY_BY_DEVICE: break;
    }
    return (struct text){ 0 };
}

struct memory_place memory_place_of(const struct memory_question *question,
                                    const struct memory_device *device)
{
    struct memory_place place = { .rank = selection_rank(question->trace, device->file),
                                  .number = device->id >= 0 ? device->id : TABLE_INT_MISSING,
                                  .is_host = memory_is_host(device) };
    if (device->type == MEMORY_TYPE_UNTOLD) {
        place.number = TABLE_INT_MISSING;
        return place;
    }
    const char *type = memory_device_type_name(device->type);
    struct buffer text = { 0 };
    if (type)
        buffer_puts(&text, type);
    else
        buffer_printf(&text, "type %lld", (long long)device->type);
    if (device->id >= 0)
        buffer_printf(&text, ":%lld", (long long)device->id);
    place.device = memory_keep_text(question, text.at, text.count);
    buffer_release(&text);
    return place;
}

static uint32_t file_of(const struct memory_question *question, event_id e)
{
    return question->trace->tracks[question->trace->track[e]].file;
}

int64_t memory_moment(const struct memory_question *question, event_id e)
{
    return trace_start_ns(question->trace, e) - question->origins[file_of(question, e)];
}

static const struct step *step_around(const struct memory_question *question, event_id e)
{
    return step_list_at(question->steps, file_of(question, e), trace_start_ns(question->trace, e));
}

int64_t memory_step_number(const struct memory_question *question, event_id e)
{
    const struct step *step = step_around(question, e);
    return step ? step->number : TABLE_INT_MISSING;
}

bool memory_owner_is_selected(const struct memory_question *question, const struct memory_record *record)
{
    if (record->owner == EVENT_NONE)
        return !question->options->filtered;
    return selection_holds_name(question->selection, question->trace->name[record->owner]);
}

/* ---- keys ---- */

static uint32_t label_of(const struct memory_question *question, event_id e)
{
    const struct code_paths *paths = question->memory->paths;
    assert(paths); /* rows are code places */
    uint32_t path = code_place_of(paths, e).path;
    return path == CODE_OUTSIDE ? question->key_count : paths->at[path].label;
}

static uint32_t key_of(const struct memory_question *question, event_id e)
{
    if (question->options->by == MEMORY_BY_THREAD)
        return question->trace->track[e];
    if (question->options->by != MEMORY_BY_STEP)
        return label_of(question, e);
    const struct step *step = step_around(question, e);
    return step ? (uint32_t)(step - question->steps->at) : question->key_count;
}

/* Compute the key of the row of each record. */
static void find_keys(struct memory_question *question)
{
    const struct trace *trace = question->trace;
    switch (question->options->by) {
    case MEMORY_BY_OPERATOR: question->key_count = question->no_operator; return;
    case MEMORY_BY_DEVICE: question->key_count = 1; return;
    case MEMORY_BY_STEP: question->key_count = (uint32_t)question->steps->count; break;
    case MEMORY_BY_THREAD: question->key_count = (uint32_t)trace->track_count; break;
    case MEMORY_BY_MODULE:
    case MEMORY_BY_LINE:
        question->memory->paths =
            code_paths_of(trace, question->options->by == MEMORY_BY_LINE ? CODE_LINES : CODE_MODULES);
        question->key_count = (uint32_t)names_count(question->memory->paths->labels);
        break;
    }
    question->keys = mem_zalloc(question->records->count + 1, sizeof *question->keys);
    for (uint32_t i = 0; i < question->records->count; i++)
        question->keys[i] = key_of(question, question->records->at[i].event);
}

void memory_question_open(struct memory_question *question, const struct trace *trace,
                          const struct selection *selection, const struct memory_options *options,
                          const struct memory_records *records, struct memory *memory)
{
    size_t name_count = names_count(trace->names);
    int64_t number;
    *question = (struct memory_question){ .trace = trace,
                                          .selection = selection,
                                          .options = options,
                                          .records = records,
                                          .steps = step_list_of(trace),
                                          .no_operator = (name_id)name_count,
                                          .memory = memory };
    question->origins = mem_zalloc(trace->file_count + 1, sizeof *question->origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        question->origins[f] = trace_file_span(trace, f).start_ns;
    question->is_step = mem_zalloc(name_count + 1, sizeof *question->is_step);
    for (name_id id = 0; id < name_count; id++)
        question->is_step[id] = step_number(names_text(trace->names, id), &number);
    find_keys(question);
}

void memory_question_release(struct memory_question *question)
{
    free(question->is_step);
    free(question->origins);
    free(question->keys);
}
