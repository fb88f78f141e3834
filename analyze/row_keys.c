/* row_keys.c - see row_keys.h. A key is the number of a file, track, step or name; -1 stands for none. */
#include "analyze/row_keys.h"

#include "analyze/selection.h"
#include "facts/step_list.h"
#include <stdlib.h>
#include <string.h>

#define NO_KEY INT64_C(-1)

struct row_keys {
    const struct trace *trace;
    enum rows_by by;
    struct step_list *steps; /* by step */
};

struct row_keys *row_keys_open(const struct trace *trace, enum rows_by by)
{
    struct row_keys *keys = mem_zalloc(1, sizeof *keys);
    *keys = (struct row_keys){ trace, by, by == ROWS_BY_STEP ? step_list_open(trace) : NULL };
    return keys;
}

void row_keys_free(struct row_keys *keys)
{
    step_list_free(keys->steps);
    free(keys);
}

/* Device numbers are below 2^31, so that file and device fit. */
static int64_t key_of_device(const struct trace *trace, event_id work)
{
    const struct track *track = &trace->tracks[trace->track[work]];
    return (int64_t)track->file << 32 | (uint32_t)track->device;
}

static int64_t key_of_step(const struct row_keys *keys, event_id e)
{
    const struct trace *trace = keys->trace;
    const struct step *step =
        step_list_at(keys->steps, trace->tracks[trace->track[e]].file, trace->start_ns[e]);
    return step ? step - keys->steps->at : NO_KEY;
}

int64_t row_key_of(const struct row_keys *keys, event_id work, event_id call, event_id op)
{
    const struct trace *trace = keys->trace;
    event_id any = call != EVENT_NONE ? call : work;
    event_id launcher = op != EVENT_NONE ? op : call;
    switch (keys->by) {
    case ROWS_BY_RANK: return any == EVENT_NONE ? NO_KEY : trace->tracks[trace->track[any]].file;
    case ROWS_BY_DEVICE: return work == EVENT_NONE ? NO_KEY : key_of_device(trace, work);
    case ROWS_BY_STREAM: return work == EVENT_NONE ? NO_KEY : (int64_t)trace->track[work];
    case ROWS_BY_THREAD: return call == EVENT_NONE ? NO_KEY : (int64_t)trace->track[call];
    case ROWS_BY_STEP: return any == EVENT_NONE ? NO_KEY : key_of_step(keys, any);
    case ROWS_BY_OPERATOR: return launcher == EVENT_NONE ? NO_KEY : (int64_t)trace->name[launcher];
    default: return 0;
    }
}

void row_keys_show(const struct row_keys *keys, struct table *table)
{
    static const int columns[] = {
        [ROWS_BY_DEFAULT] = ROW_KEYS,          [ROWS_BY_RANK] = ROW_KEY_RANK,
        [ROWS_BY_DEVICE] = ROW_KEY_DEVICE,     [ROWS_BY_STREAM] = ROW_KEY_STREAM,
        [ROWS_BY_THREAD] = ROW_KEY_THREAD,     [ROWS_BY_STEP] = ROW_KEY_STEP,
        [ROWS_BY_OPERATOR] = ROW_KEY_OPERATOR,
    };
    if (keys->by == ROWS_BY_DEFAULT)
        return;
    table->columns[columns[keys->by]].flags = 0;
    if (keys->by == ROWS_BY_STREAM)
        table->columns[ROW_KEY_DEVICE].flags = 0;
    if (keys->by != ROWS_BY_OPERATOR && keys->by != ROWS_BY_RANK) /* people see it where there are several */
        table->columns[ROW_KEY_RANK].flags = keys->trace->file_count > 1 ? 0 : TABLE_OPTIONAL;
}

void row_keys_show_thread(const struct trace *trace, track_id thread, struct buffer *out)
{
    const struct track *track = &trace->tracks[thread];
    const char *name = names_text(trace->texts, track->thread_name);
    struct buffer number = { 0 };
    if (track->tid_text == NAME_NONE)
        buffer_printf(&number, "%lld", (long long)track->tid);
    else
        buffer_puts(&number, names_text(trace->texts, track->tid_text));
    if (!strstr(name, number.at)) /* "thread 4711 (pt_autograd_0)" */
        buffer_printf(out, "%s%s", number.at, *name ? " " : "");
    buffer_puts(out, name);
    buffer_release(&number);
}

static void set_thread(struct table *table, size_t row, const struct trace *trace, track_id thread)
{
    struct buffer text = { 0 };
    row_keys_show_thread(trace, thread, &text);
    table_set_text(table, row, ROW_KEY_THREAD, text.at, text.count);
    buffer_release(&text);
}

void row_key_set(const struct row_keys *keys, struct table *table, size_t row, int64_t key)
{
    const struct trace *trace = keys->trace;
    uint32_t file = 0;
    if (keys->by == ROWS_BY_OPERATOR) {
        const char *name = key == NO_KEY ? "(launch not recorded)" : names_text(trace->names, (name_id)key);
        table_set_text(table, row, ROW_KEY_OPERATOR, name, strlen(name));
        return;
    }
    if (keys->by == ROWS_BY_DEFAULT || key == NO_KEY)
        return;
    switch (keys->by) {
    case ROWS_BY_RANK: file = (uint32_t)key; break;
    case ROWS_BY_DEVICE:
        file = (uint32_t)(key >> 32);
        table_set_int(table, row, ROW_KEY_DEVICE, (int32_t)(uint32_t)key);
        break;
    case ROWS_BY_STREAM:
        file = trace->tracks[key].file;
        table_set_int(table, row, ROW_KEY_DEVICE, trace->tracks[key].device);
        table_set_int(table, row, ROW_KEY_STREAM, trace->tracks[key].stream);
        break;
    case ROWS_BY_THREAD:
        file = trace->tracks[key].file;
        set_thread(table, row, trace, (track_id)key);
        break;
    default:
        file = keys->steps->at[key].file;
        table_set_int(table, row, ROW_KEY_STEP, keys->steps->at[key].number);
        break;
    }
    table_set_int(table, row, ROW_KEY_RANK, selection_rank(trace, file));
}
