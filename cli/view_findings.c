/* view_findings.c - the findings of a summary, and where on the axis of tpa view each is; see parts.h. */
#include "cli/parts.h"

#include "base/memory_room.h"
#include "report/json_writer.h"
#include "summary/summary.h"
#include "trace/derived.h"
#include <ctype.h>
#include <inttypes.h>

/* A finding, and the longest event of the name that it gives. */
struct found {
    const struct answer_finding *finding;
    const char *text; /* where it is, behind the rank */
    name_id name;     /* NAME_NONE: it names no event */
    size_t length;    /* of the name */
    int64_t rank;     /* -1: any */
    event_id event;
};

/* "mostly rank 3: longest: aten::item": the rank, and what is behind it. */
static void read_place(struct found *found, const char *where)
{
    static const char rank[] = "mostly rank ", longest[] = "longest: ";
    found->rank = -1;
    if (strncmp(where, rank, sizeof rank - 1) == 0) {
        char *end;
        long long number = strtoll(where + sizeof rank - 1, &end, 10);
        if (end[0] == ':' && end[1] == ' ') {
            found->rank = number;
            where = end + 2;
        }
    }
    found->text = where + (strncmp(where, longest, sizeof longest - 1) == 0 ? sizeof longest - 1 : 0);
}

/* Is NAME the whole place of FOUND, or a longer beginning of its text, up to the end of a word, than what it has? */
static bool is_name_of(const struct found *found, const char *name, size_t len)
{
    const char *place = found->finding->place;
    if (place && strncmp(place, "idle: ", 6) != 0)
        return strcmp(place, name) == 0;
    return len > found->length && strncmp(found->text, name, len) == 0 &&
           !isalnum((unsigned char)found->text[len]) && found->text[len] != '_';
}

static void find_names(struct found *all, size_t count, const struct trace *trace)
{
    for (name_id id = 0; id < names_count(trace->names); id++)
        for (size_t i = 0; i < count; i++) {
            size_t len = names_length(trace->names, id);
            if (len == 0 || !is_name_of(&all[i], names_text(trace->names, id), len))
                continue;
            all[i].name = id;
            all[i].length = len;
        }
}

static void find_longest(struct found *all, size_t count, const struct trace *trace,
                         const struct selection *selection)
{
    for (event_id e = 0; e < trace->event_count; e++)
        for (size_t i = 0; i < count; i++)
            if (all[i].name == trace->name[e] && selection_holds(selection, e) &&
                (all[i].rank < 0 ||
                 all[i].rank == selection_rank(trace, trace->tracks[trace->track[e]].file)) &&
                (all[i].event == EVENT_NONE || trace_dur_ns(trace, e) > trace_dur_ns(trace, all[i].event)))
                all[i].event = e;
}

static void emit_found(struct json_writer *json, const struct view_spans *spans, const struct found *found)
{
    const struct answer_finding *finding = found->finding;
    const char *texts[][2] = {
        { "finding", finding->title }, { "action", finding->action ? finding->action : finding->title },
        { "saves", finding->saves },   { "where", finding->where },
        { "advice", finding->advice }, { "command", finding->command },
        { "place", finding->place },
    };
    json_begin_object(json);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_key(json, texts[i][0]);
        json_emit_text(json, texts[i][1]);
    }
    json_key(json, "rank");
    json_emit_integer(json, found->rank);
    if (found->event != EVENT_NONE) {
        struct view_time time = view_span_time(spans, found->event);
        json_key(json, "event");
        json_emit_integer(json, found->event);
        json_key(json, "start_ns");
        json_emit_integer(json, time.start_ns);
        json_key(json, "dur_ns");
        json_emit_integer(json, time.end_ns - time.start_ns);
    }
    json_end_object(json);
}

/* Is there memory for the findings of TRACE? */
static bool has_room(const struct trace *trace, struct tpa_error *err)
{
    struct memory_room room;
    uint64_t need = (uint64_t)trace->event_count * summary_wants.work_bytes;
    if (!memory_room(&room) || need <= room.bytes)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "findings need another %" PRIu64 " MiB of memory, but only %" PRIu64 " are left (limit: %s)",
             need >> 20, (uint64_t)room.bytes >> 20, room.of);
    return tpa_hint(err, "raise the limit, or run tpa summary with fewer files or steps");
}

bool view_add_findings(const struct view_spans *spans, const char *range, struct buffer *out,
                       struct tpa_error *err)
{
    const struct trace *trace = spans->trace;
    attribution_of(trace); /* pictures use it, and may be drawn meanwhile */
    size_t derived = trace_count_derived(trace);
    struct result *result = result_open("tpa.summary/1");
    struct selection *selection = selection_open(trace, &(struct selection_query){ .range = range }, err);
    bool good = selection && has_room(trace, err) &&
                summary_add_tables(trace, selection, SUMMARY_BY_ALL, result, err);
    if (good) {
        const struct answer *answer = result_answer(result);
        size_t count = answer->findings.count;
        SCOPED struct found *found = mem_zalloc(count + 1, sizeof *found);
        struct json_writer json = { .text = out, .compact = true };
        for (size_t i = 0; i < count; i++) {
            const struct answer_finding *finding = &answer->findings.at[i];
            found[i] = (struct found){ .finding = finding, .name = NAME_NONE, .event = EVENT_NONE };
            read_place(&found[i], finding->where ? finding->where : "");
        }
        find_names(found, count, trace);
        find_longest(found, count, trace, selection);
        json_begin_array(&json);
        for (size_t i = 0; i < count; i++)
            emit_found(&json, spans, &found[i]);
        json_end_array(&json);
    }
    arena_free(selection);
    result_free(result);
    trace_drop_derived(trace, derived);
    mem_return_free_memory();
    return good;
}
