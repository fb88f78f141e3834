/*
 * ranges.c - NVTX ranges and marks of an export of Nsight Systems.
 *
 * The kinds of NVTX_EVENTS.eventType: 33 name of a category, 34 mark, 39 name of a thread, 59 push/pop, 60 start/end,
 * 70 and 71 the same two imported, 75 domain, 76 its end. Domain numbers are per process. The names of domains and
 * categories may follow the ranges that use them, and the end of an unfinished range (the last record of NVTX, as in
 * `nsys stats`) is known only at the end: such rows wait.
 */
#include "ingest/nsys/nsys.h"

#include "ingest/nvtx_message.h"
#include "ingest/step_guess.h"
#include <inttypes.h>

enum {
    CATEGORY = 33,
    MARK = 34,
    THREAD_NAME = 39,
    PUSH_POP = 59,
    START_END = 60,
    IMPORTED = 11,
    DOMAIN_CREATE = 75
};

struct range {
    int64_t start_ns, end_ns; /* end RECORDER_NONE: it never ended */
    int64_t type, thread, end_thread, domain, category;
    const char *text;
    size_t len;
};

/* The name of a domain or category: of a process, and of categories in a domain. */
struct named_number {
    int64_t process, domain, number; /* number -1: the domain itself */
    const char *name;
};

struct ranges {
    struct nsys *nsys;
    VEC_OF(struct named_number) names;
    VEC_OF(struct range) waiting;
    int64_t last_ns; /* the latest time of any record */
    struct buffer key, dims;
    struct step_guess *guess; /* of push/pop ranges that are not operators */
    /* The meanings of messages, by process and text. */
    struct names *keys;
    VEC_OF(struct nsys_message) messages;
};

static const char *name_of(const struct ranges *ranges, int64_t process, int64_t domain, int64_t number)
{
    FOR_EACH(named, &ranges->names)
        if (named->process == process && named->domain == domain && named->number == number)
            return named->name;
    return NULL;
}

static name_id ranges_join(struct recorder *recorder, struct buffer *text, const char *domain,
                           const char *between, const char *name, size_t len, bool is_name)
{
    buffer_clear(text);
    buffer_puts(text, domain);
    buffer_puts(text, between);
    buffer_add(text, name, len);
    return is_name ? recorder_name(recorder, text->at, text->count)
                   : trace_chunk_text(recorder_chunk(recorder), text->at, text->count);
}

/* The meaning of RANGE's message; borrowed until the next call. DOMAIN is its name or NULL. */
static const struct nsys_message *message_of(struct ranges *ranges, struct nsys_process *process,
                                             const struct range *range, const char *domain)
{
    struct recorder *recorder = process->recorder;
    buffer_clear(&ranges->key);
    buffer_add(&ranges->key, (const char *)&process->global, sizeof process->global);
    if (domain)
        buffer_puts(&ranges->key, domain);
    buffer_putc(&ranges->key, '\n');
    buffer_add(&ranges->key, range->text, range->len);
    name_id known = names_add(ranges->keys, ranges->key.at, ranges->key.count);
    if (known < ranges->messages.count)
        return &ranges->messages.at[known];
    struct nsys_message message = { NAME_NONE, NAME_NONE, NAME_NONE, false, RECORDER_NONE };
    bool in_domain = domain && *domain;
    message.is_operator = !in_domain && nvtx_message_is_operator(range->text, range->len);
    size_t len = message.is_operator ? nvtx_message_name(range->text, range->len) : range->len;
    message.name = in_domain ? ranges_join(recorder, &ranges->dims, domain, ": ", range->text, len, true)
                             : recorder_name(recorder, range->text, len);
    if (message.is_operator) {
        nvtx_message_sequence(range->text, range->len, &message.sequence);
        if (recorder_wants(recorder, ARG_INPUT_DIMS) &&
            nvtx_message_dims(range->text, range->len, &ranges->dims))
            message.dims = trace_chunk_text(recorder_chunk(recorder), ranges->dims.at, ranges->dims.count);
    }
    if (recorder_wants(recorder, ARG_LONG_NAME) && (in_domain || len < range->len))
        message.whole = ranges_join(recorder, &ranges->dims, in_domain ? domain : "", in_domain ? ":" : "",
                                    range->text, range->len, false);
    *VEC_PUSH(&ranges->messages) = message;
    return &ranges->messages.at[known];
}

static void set_category(const struct ranges *ranges, struct recorder *recorder, const struct range *range,
                         int64_t process)
{
    if (range->category <= 0 || !recorder_wants(recorder, ARG_NVTX_CATEGORY))
        return;
    const char *name = name_of(ranges, process, range->domain, range->category);
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, range->category);
    recorder_arg(recorder, ARG_NVTX_CATEGORY, recorder_text(recorder, name ? name : number));
}

/* ---- steps ---- */

static void settle_steps(struct ranges *ranges)
{
    struct nsys *nsys = ranges->nsys;
    const char *pattern = step_guess_notice(ranges->guess, nsys->builder);
    if (pattern) /* also for files that begin later */
        *VEC_PUSH(&nsys->head.properties) = (struct trace_property){ TRACE_STEP_RANGE, pattern, true };
}

static void add_range(struct ranges *ranges, const struct range *range)
{
    struct nsys *nsys = ranges->nsys;
    struct nsys_process *process;
    track_id track = nsys_thread_of(nsys, range->thread, false, &process);
    int64_t pid = range->thread & ~INT64_C(0xFFFFFF);
    const char *domain = range->domain ? name_of(ranges, pid, range->domain, -1) : NULL;
    struct nsys_message message = *message_of(ranges, process, range, domain);
    bool is_mark = range->type == MARK, is_async = range->type == START_END;
    bool across = range->end_thread != RECORDER_NONE && range->end_thread != range->thread;
    bool open = range->end_ns == RECORDER_NONE && !is_mark;
    enum recorder_kind kind = across                             ? RECORDER_ANNOTATION_ACROSS
                              : message.is_operator && !is_async ? RECORDER_OPERATOR
                                                                 : RECORDER_ANNOTATION;
    unsigned flags =
        (is_mark ? EVENT_POINT : 0) | (is_async || across ? EVENT_ASYNC : 0) | (open ? EVENT_UNFINISHED : 0);
    int64_t end_ns = open ? ranges->last_ns : range->end_ns;
    if (!recorder_event(process->recorder, kind, track, message.name, range->start_ns, end_ns, flags))
        return;
    if (kind == RECORDER_ANNOTATION && !is_async && !is_mark && !open && !domain)
        step_guess_record(ranges->guess, range->text, range->len, range->thread, range->start_ns,
                          range->end_ns);
    recorder_arg(process->recorder, ARG_SEQUENCE, message.sequence);
    if (message.dims != NAME_NONE)
        recorder_arg(process->recorder, ARG_INPUT_DIMS, message.dims);
    if (message.whole != NAME_NONE)
        recorder_arg(process->recorder, ARG_LONG_NAME, message.whole);
    set_category(ranges, process->recorder, range, pid);
}

/* Must the row wait until all names and times are known? */
static bool has_to_wait(const struct ranges *ranges, const struct range *range)
{
    int64_t pid = range->thread & ~INT64_C(0xFFFFFF);
    if (range->end_ns == RECORDER_NONE && range->type != MARK)
        return true;
    if (range->category > 0 && !name_of(ranges, pid, range->domain, range->category))
        return true;
    return range->domain != 0 && !name_of(ranges, pid, range->domain, -1);
}

static void read_row(struct ranges *ranges, const struct range *row)
{
    struct nsys *nsys = ranges->nsys;
    struct range range = *row;
    int64_t pid = range.thread & ~INT64_C(0xFFFFFF);
    enum { MOST_NAMES = 4096 };
    const char *name;
    switch (range.type) {
    case DOMAIN_CREATE:
    case CATEGORY:
        name = arena_strndup(&nsys->arena, range.text, range.len);
        if (ranges->names.count < MOST_NAMES)
            *VEC_PUSH(&ranges->names) =
                (struct named_number){ pid, range.domain, range.type == CATEGORY ? range.category : -1,
                                       name };
        break;
    case THREAD_NAME: {
        struct nsys_process *process;
        track_id track = nsys_thread_of(nsys, range.thread, false, &process);
        name = arena_strndup(&nsys->arena, range.text, range.len);
        recorder_name_thread(process->recorder, track, name);
        break;
    }
    case PUSH_POP + IMPORTED:
    case START_END + IMPORTED:
    case PUSH_POP:
    case START_END:
    case MARK:
        range.type = range.type > START_END ? range.type - IMPORTED : range.type;
        if (!has_to_wait(ranges, &range)) {
            add_range(ranges, &range);
            break;
        }
        range.text = arena_strndup(&nsys->arena, range.text, range.len);
        *VEC_PUSH(&ranges->waiting) = range;
        break;
    default: break;
    }
}

bool nsys_read_ranges(struct nsys *nsys, struct tpa_error *err)
{
    enum { START, END, TYPE, CATEGORY_NUMBER, TEXT, TID, END_TID, TEXT_ID, DOMAIN_NUMBER, COLUMNS };
    static const char *const columns[COLUMNS] = { "start",        "end",    "eventType",
                                                  "category",     "text",   "globalTid",
                                                  "endGlobalTid", "textId", "domainId" };
    struct ranges ranges = {
        .nsys = nsys, .last_ns = INT64_MIN, .keys = names_open(), .guess = step_guess_open()
    };
    bool ok = true;
    FOR_ROWS(scan, table_scan_begin(nsys->db, &scan, "NVTX_EVENTS", columns, COLUMNS), ok) {
        struct range range = {
            .start_ns = table_scan_int_or(&scan, START, RECORDER_NONE),
            .end_ns = table_scan_int_or(&scan, END, RECORDER_NONE),
            .type = table_scan_int_or(&scan, TYPE, PUSH_POP),
            .thread = table_scan_int_or(&scan, TID, 0),
            .end_thread = table_scan_int_or(&scan, END_TID, RECORDER_NONE),
            .domain = table_scan_int_or(&scan, DOMAIN_NUMBER, 0),
            .category = table_scan_int_or(&scan, CATEGORY_NUMBER, 0),
        };
        int64_t id;
        range.text = table_scan_text(&scan, TEXT, &range.len);
        if (!range.text && table_scan_int(&scan, TEXT_ID, &id)) {
            const struct nsys_string *string = nsys_string(nsys, id);
            nsys->dangling += !string;
            range.text = string ? string->text : NULL;
            range.len = string ? string->len : 0;
        }
        if (!range.text)
            range.text = "", range.len = 0;
        int64_t last = range.end_ns != RECORDER_NONE ? range.end_ns : range.start_ns;
        ranges.last_ns = last > ranges.last_ns && last <= TRACE_LATEST_NS ? last : ranges.last_ns;
        read_row(&ranges, &range);
        ok = nsys_flush(nsys, err);
    }
    for (size_t i = 0; i < ranges.waiting.count && ok; i++) {
        add_range(&ranges, &ranges.waiting.at[i]);
        ok = nsys_flush(nsys, err);
    }
    if (ok)
        settle_steps(&ranges);
    step_guess_free(ranges.guess);
    EACH(VEC_FREE, &ranges.names, &ranges.waiting, &ranges.messages);
    names_free(ranges.keys);
    EACH(buffer_release, &ranges.key, &ranges.dims);
    return ok;
}
