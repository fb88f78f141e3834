/*
 * event_tables.c - the tables of sql_tables.h that hold events: their columns, and the orders in which they are read.
 *
 * Orders are arrays of event ids. The order by name uses a counting sort, so that "group by name" needs no sort of the
 * events.
 */
#include "sql/parts.h"

#include "base/rows.h"
#include "base/runs.h"
#include "derive/step_list.h"
#include "trace/arg_rows.h"
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>

/* ---- columns ---- */

/* The columns of all tables of events, in order; the first five are numbered in enum event_column. */
static const struct sql_column event_columns[EVENT_COLUMNS_OF_ALL] = {
    { "id", TABLE_COUNT, "number of the event" },
    { "track", TABLE_COUNT, "where it ran: tracks.id" },
    { "kind", TABLE_TEXT, "operator, kernel, runtime call ..." },
    { "name", TABLE_NAME, "as the file has it" },
    { "start_ns", TABLE_MOMENT, "when it began: from the base of the file, as convert --to csv has it" },
    { "dur_ns", TABLE_NS, "how long it took; missing for a point in time" },
    { "end_ns", TABLE_MOMENT, "when it ended" },
    { "at_ns", TABLE_MOMENT, "when it began: from the origin of the file, as analyses have it" },
    { "file", TABLE_COUNT, "files.id" },
    { "rank", TABLE_COUNT, "of its file, as --rank understands it" },
    { "process", TABLE_TEXT, "name of the process" },
    { "pid", TABLE_COUNT, "its number; a text where the file has one" },
    { "thread", TABLE_TEXT, "name of the thread or stream" },
    { "tid", TABLE_COUNT, "its number; a text where the file has one" },
    { "device", TABLE_COUNT, "the device it ran on; missing on the host" },
    { "stream", TABLE_COUNT, "the stream it ran on; missing on the host" },
    { "category", TABLE_TEXT, "as the file writes it" },
    { "unfinished", TABLE_BOOL, "was it open when recording stopped?" },
};
enum {
    DURATION = 5,
    END,
    AT,
    FILE_NUMBER,
    RANK,
    PROCESS,
    PID,
    THREAD,
    TID,
    DEVICE,
    STREAM,
    CATEGORY,
    UNFINISHED
};

/* Columns of tables with links, followed by those of tables of nesting calls. */
static const struct sql_column link_columns[] = {
    { "call", TABLE_COUNT, "the call that launched it: events.id" },
    { "call_name", TABLE_NAME, "its name" },
    { "call_start_ns", TABLE_MOMENT, "when it began" },
    { "call_dur_ns", TABLE_NS, "how long it took" },
    { "delay_ns", TABLE_NS, "from the beginning of the call to that of the work" },
    { "operator", TABLE_COUNT, "the operator that made the call: events.id" },
    { "operator_name", TABLE_NAME, "its name" },
    { "step", TABLE_COUNT, "the step in which the call began: its number" },
    { "parent", TABLE_COUNT, "the operator that called it: events.id" },
    { "parent_name", TABLE_NAME, "its name" },
    { "depth", TABLE_COUNT, "how many operators are around it" },
    { "self_ns", TABLE_NS, "dur_ns without the operators that it called" },
    { "step", TABLE_COUNT, "the step in which it began: its number" },
};
enum {
    CALL,
    CALL_NAME,
    CALL_START,
    CALL_DURATION,
    DELAY,
    OPERATOR,
    OPERATOR_NAME,
    STEP,
    LINKS,
    PARENT = LINKS,
    PARENT_NAME,
    DEPTH,
    SELF,
    OWN_STEP,
    LINKS_AND_NESTING
};

static enum table_kind kind_of_arg(enum trace_arg arg)
{
    switch (arg_rows[arg].form) {
    case FORM_DECIMAL: return TABLE_NUMBER;
    case FORM_TEXT:
    case FORM_JSON: return TABLE_TEXT;
    case FORM_BOOL: return TABLE_BOOL;
    default: return arg == ARG_BYTES ? TABLE_BYTES : TABLE_COUNT;
    }
}

/* Append the column name of an argument: "external_id". */
static void sql_add_arg_name(struct buffer *out, enum trace_arg arg)
{
    const char *keys = arg_rows[arg].keys;
    size_t len = strcspn(keys, "|"), start = out->count;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)keys[i];
        if (isalnum(c))
            buffer_putc(out, (char)tolower(c));
        else if (i + 1 < len && isalnum((unsigned char)keys[i + 1]) && out->count > start)
            buffer_putc(out, '_');
    }
    for (size_t i = 0; i < EVENT_COLUMNS_OF_ALL; i++)
        if (strcmp(event_columns[i].name, out->at + start) == 0) {
            buffer_puts(out,
                        /* the stream recorded in the kernel's argument, in addition to that of its track */
                        "_arg");
            return;
        }
}

/* The argument of argument column INDEX of TABLE; ARG_COUNT past the last. */
static enum trace_arg arg_at(const struct sql_table *table, size_t index)
{
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (table->args >> arg & 1 && index-- == 0)
            return (enum trace_arg)arg;
    return ARG_COUNT;
}

/* Identify column INDEX of TABLE: one of all events, else a link or, after these, an argument. */
static bool split_column(const struct sql_table *table, size_t index, size_t *link, enum trace_arg *arg)
{
    size_t first = table->nests ? LINKS : 0;
    size_t links = table->links ? LINKS : table->nests ? LINKS_AND_NESTING - LINKS : 0;
    *link = SIZE_MAX;
    *arg = ARG_COUNT;
    if (index < EVENT_COLUMNS_OF_ALL)
        return true;
    index -= EVENT_COLUMNS_OF_ALL;
    if (index < links)
        *link = first + index;
    else
        *arg = arg_at(table, index - links);
    return *link != SIZE_MAX || *arg != ARG_COUNT;
}

bool sql_event_column(const struct sql_table *table, size_t index, struct buffer *text,
                      struct sql_column *column)
{
    size_t link;
    enum trace_arg arg;
    if (!split_column(table, index, &link, &arg))
        return false;
    if (arg != ARG_COUNT) {
        buffer_clear(text);
        sql_add_arg_name(text, arg);
        *column = (struct sql_column){ text->at, kind_of_arg(arg), "an argument of the event" };
    } else {
        *column = link != SIZE_MAX ? link_columns[link] : event_columns[index];
    }
    return true;
}

struct trace_wants sql_event_column_wants(const struct sql_table *table, size_t index)
{
    size_t link;
    enum trace_arg arg;
    struct trace_wants wants = { 0 };
    if (split_column(table, index, &link, &arg) && link < LINKS)
        wants.args = ATTRIBUTION_WANTS;
    else if (arg != ARG_COUNT)
        wants.args = UINT64_C(1) << arg;
    return wants;
}

/* ---- cells ---- */

void sql_add_text(sqlite3_context *out, const char *text, size_t len)
{
    if (text)
        sqlite3_result_text64(out, text, len, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_null(out);
}

void sql_add_name(sqlite3_context *out, const struct names *names, name_id id)
{
    sql_add_text(out, id == NAME_NONE ? NULL : names_text(names, id), names_length(names, id));
}

static void emit_number_or_text(sqlite3_context *out, const struct trace *trace, int64_t number, name_id text)
{
    if (text == NAME_NONE)
        sqlite3_result_int64(out, number);
    else
        sql_add_name(out, trace->texts, text);
}

static void emit_word(sqlite3_context *out, const char *word)
{
    sql_add_text(out, word, strlen(word));
}

static void emit_track_cell(struct sql_source *source, size_t index, const struct track *track,
                            sqlite3_context *out)
{
    const struct trace *trace = source->trace;
    bool is_stream = track->kind == TRACK_STREAM;
    switch (index) {
    case FILE_NUMBER: sqlite3_result_int64(out, track->file); break;
    case RANK: sqlite3_result_int64(out, source->rank[track->file]); break;
    case PROCESS: sql_add_name(out, trace->texts, track->process_name); break;
    case PID: emit_number_or_text(out, trace, track->pid, track->pid_text); break;
    case THREAD: sql_add_name(out, trace->texts, track->thread_name); break;
    case TID: emit_number_or_text(out, trace, track->tid, track->tid_text); break;
    case DEVICE: is_stream ? sqlite3_result_int64(out, track->device) : sqlite3_result_null(out); break;
    default: is_stream ? sqlite3_result_int64(out, track->stream) : sqlite3_result_null(out); break;
    }
}

static void emit_own_cell(struct sql_source *source, size_t index, event_id e, sqlite3_context *out)
{
    const struct trace *trace = source->trace;
    const struct track *track = &trace->tracks[trace->track[e]];
    switch (index) {
    case EVENT_COLUMN_ID: sqlite3_result_int64(out, e); break;
    case EVENT_COLUMN_TRACK: sqlite3_result_int64(out, trace->track[e]); break;
    case EVENT_COLUMN_KIND: emit_word(out, event_kind_name((enum event_kind)trace->kind[e])); break;
    case EVENT_COLUMN_NAME: sql_add_name(out, trace->names, trace->name[e]); break;
    case EVENT_COLUMN_START: sqlite3_result_int64(out, sql_start_ns(source, e)); break;
    case DURATION:
        if (!(trace->flags[e] & EVENT_POINT))
            sqlite3_result_int64(out, trace_dur_ns(trace, e));
        break;
    case END: sqlite3_result_int64(out, sql_start_ns(source, e) + trace_dur_ns(trace, e)); break;
    case AT: sqlite3_result_int64(out, trace_start_ns(trace, e) - source->origin_ns[track->file]); break;
    case CATEGORY: sql_add_name(out, trace->texts, trace->categories[trace->category[e]].text); break;
    case UNFINISHED: sqlite3_result_int(out, (trace->flags[e] & EVENT_UNFINISHED) != 0); break;
    default: emit_track_cell(source, index, track, out); break;
    }
}

static void emit_event(sqlite3_context *out, event_id e)
{
    if (e != EVENT_NONE)
        sqlite3_result_int64(out, e);
}

static void emit_step(const struct trace *trace, event_id e, sqlite3_context *out)
{
    uint32_t file = trace->tracks[trace->track[e]].file;
    const struct step *step = step_list_at(step_list_of(trace), file, trace_start_ns(trace, e));
    if (step)
        sqlite3_result_int64(out, step->number);
}

static void emit_link_cell(struct sql_source *source, size_t link, event_id e, sqlite3_context *out)
{
    const struct trace *trace = source->trace;
    const struct attribution *launches = attribution_of(trace);
    event_id call = event_is_call((enum event_kind)trace->kind[e]) ? e : attribution_call(launches, e);
    event_id op = link == OPERATOR || link == OPERATOR_NAME ? attribution_operator(launches, e) : EVENT_NONE;
    switch (link) {
    case CALL: emit_event(out, call); break;
    case OPERATOR: emit_event(out, op); break;
    case OPERATOR_NAME:
        if (op != EVENT_NONE)
            sql_add_name(out, trace->names, trace->name[op]);
        break;
    case STEP: emit_step(trace, call != EVENT_NONE ? call : e, out); break;
    default:
        if (call == EVENT_NONE)
            break;
        if (link == CALL_NAME)
            sql_add_name(out, trace->names, trace->name[call]);
        else
            sqlite3_result_int64(out, link == CALL_START ? sql_start_ns(source, call)
                                      : link == CALL_DURATION
                                          ? trace_dur_ns(trace, call)
                                          : trace_start_ns(trace, e) - trace_start_ns(trace, call));
    }
}

static bool is_operator(const void *context, event_id e)
{
    const struct trace *trace = context;
    return trace->kind[e] == EVENT_OP && !(trace->flags[e] & EVENT_POINT);
}

/* The nested operators of the trace; computed when first needed. */
static const struct sql_nesting *nesting_of(struct sql_source *source)
{
    struct sql_nesting *nesting = &source->nesting;
    if (nesting->tree)
        return nesting;
    const struct trace *trace = source->trace;
    struct arena *arena = &source->arena;
    struct calltree *tree = nesting->tree = arena_hold(arena, calltree_open(trace, is_operator, trace));
    calltree_nest(tree);
    nesting->nodes = calltree_nodes(tree);
    ARENA_OWNS(arena, &nesting->nodes);
    nesting->depth = arena_zalloc(arena, tree->count + 1, sizeof *nesting->depth);
    nesting->self_ns = arena_alloc(arena, mem_times(tree->count + 1, sizeof *nesting->self_ns));
    for (size_t n = 0; n < tree->count; n++) {
        node_id parent = tree->parent[n];
        nesting->self_ns[n] = trace_dur_ns(trace, tree->event[n]);
        if (parent != NODE_NONE) {
            nesting->depth[n] = nesting->depth[parent] + 1;
            nesting->self_ns[parent] -= nesting->self_ns[n];
        }
    }
    return nesting;
}

static void emit_nesting_cell(struct sql_source *source, size_t link, event_id e, sqlite3_context *out)
{
    const struct trace *trace = source->trace;
    if (link == OWN_STEP) {
        emit_step(trace, e, out);
        return;
    }
    const struct sql_nesting *nesting = nesting_of(source);
    node_id node = nesting->nodes[e];
    if (node == NODE_NONE)
        return;
    node_id parent = nesting->tree->parent[node];
    if (link == DEPTH)
        sqlite3_result_int64(out, nesting->depth[node]);
    else if (link == SELF)
        sqlite3_result_int64(out, nesting->self_ns[node]);
    else if (parent != NODE_NONE && link == PARENT)
        emit_event(out, nesting->tree->event[parent]);
    else if (parent != NODE_NONE)
        sql_add_name(out, trace->names, trace->name[nesting->tree->event[parent]]);
}

static void emit_arg(const struct trace *trace, enum trace_arg arg, event_id e, sqlite3_context *out)
{
    int64_t value;
    double decimal;
    if (!trace_arg(trace, arg, e, &value))
        return;
    switch (arg_rows[arg].form) {
    case FORM_TEXT:
    case FORM_JSON: sql_add_name(out, trace->texts, (name_id)value); break;
    case FORM_DECIMAL:
        memcpy(&decimal, &value, sizeof decimal);
        sqlite3_result_double(out, decimal);
        break;
    default: sqlite3_result_int64(out, value);
    }
}

void sql_event_cell(struct sql_source *source, const struct sql_table *table, size_t index, event_id e,
                    sqlite3_context *out)
{
    size_t link;
    enum trace_arg arg;
    if (index < EVENT_COLUMNS_OF_ALL)
        emit_own_cell(source, index, e, out);
    else if (split_column(table, index, &link, &arg) && link != SIZE_MAX && link >= LINKS)
        emit_nesting_cell(source, link, e, out);
    else if (link != SIZE_MAX)
        emit_link_cell(source, link, e, out);
    else if (arg != ARG_COUNT)
        emit_arg(source->trace, arg, e, out);
}

/* ---- orders ---- */

const struct event_rows *sql_event_rows(struct sql_source *source, size_t table)
{
    const struct trace *trace = source->trace;
    struct event_rows *rows = &source->rows[table];
    if (rows->ids || !trace)
        return rows;
    uint32_t kinds = sql_tables[table].kinds;
    for (event_id e = 0; e < trace->event_count; e++)
        rows->count += kinds >> trace->kind[e] & 1;
    rows->ids = arena_alloc(&source->arena, mem_times(rows->count + 1, sizeof *rows->ids));
    size_t count = 0;
    for (event_id e = 0; e < trace->event_count; e++)
        if (kinds >> trace->kind[e] & 1)
            rows->ids[count++] = e;
    return rows;
}

const struct event_rows *sql_event_rows_by_time(struct sql_source *source, size_t table)
{
    sql_event_rows(source, table);
    struct event_rows *rows = &source->rows[table];
    if (rows->by_time || !source->trace)
        return rows;
    rows->by_time = arena_alloc(&source->arena, mem_times(rows->count + 1, sizeof *rows->by_time));
    memcpy(rows->by_time, rows->ids, rows->count * sizeof *rows->ids);
    SORT_BY(rows->by_time, rows->count, i, sql_start_ns(source, rows->by_time[i]));
    return rows;
}

/* Compare texts like SQLite: by bytes, then by length. */
static bool is_behind(const void *context, const void *a, const void *b)
{
    const struct names *names = context;
    name_id first = *(const name_id *)a, second = *(const name_id *)b;
    return text_compare(names_text(names, first), names_length(names, first), names_text(names, second),
                        names_length(names, second)) > 0;
}

static void rank_names(struct sql_source *source)
{
    const struct names *names = source->trace->names;
    size_t count = names_count(names);
    SCOPED name_id *order = mem_alloc(mem_times(count + 1, sizeof *order));
    for (name_id id = 0; id < count; id++)
        order[id] = id;
    runs_sort(order, count, sizeof *order, is_behind, names);
    source->name_rank = arena_alloc(&source->arena, mem_times(count + 1, sizeof *source->name_rank));
    for (size_t i = 0; i < count; i++)
        source->name_rank[order[i]] = (uint32_t)i;
}

const struct event_rows *sql_event_rows_by_name(struct sql_source *source, size_t table)
{
    sql_event_rows(source, table);
    struct event_rows *rows = &source->rows[table];
    const struct trace *trace = source->trace;
    if (rows->by_name || !trace)
        return rows;
    if (!source->name_rank)
        rank_names(source);
    size_t names = names_count(trace->names);
    rows->first = arena_zalloc(&source->arena, names + 2, sizeof *rows->first);
    for (size_t i = 0; i < rows->count; i++)
        rows->first[source->name_rank[trace->name[rows->ids[i]]] + 2]++;
    for (size_t rank = 2; rank < names + 2; rank++)
        rows->first[rank] += rows->first[rank - 1];
    rows->by_name = arena_alloc(&source->arena, mem_times(rows->count + 1, sizeof *rows->by_name));
    for (size_t i = 0; i < rows->count; i++)
        rows->by_name[rows->first[source->name_rank[trace->name[rows->ids[i]]] + 1]++] = rows->ids[i];
    return rows;
}
