/*
 * page_timeline.c - see page_timeline.h.
 *
 * A span is eight numbers of 7 bits a byte, the lowest first, 128 added to all but the last (LEB128). Spans are
 * ordered by lane, depth and start; "rows" has lane, depth and how many follow.
 *
 *     start     since the start of the span before in its row, the first since that of the timeline
 *     duration
 *     kind      twice its number, and 1 where it is folded at first
 *     inner     how many folded spans are above it
 *     name      its place in "names"
 *     detail    its place in "details"
 *     call      1 + the place of the span that launched it; 0: none is here
 *     correlation   less that of the span before: twice it, of negative numbers less 1 than twice their amount
 */
#include "report/page_timeline.h"

#include "base/escape.h"
#include "report/json_writer.h"
#include <stdlib.h>
#include <string.h>

struct bytes {
    VEC_OF(uint8_t);
};

static void add_number(struct bytes *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *VEC_PUSH(out) = (uint8_t)(value | 128);
    *VEC_PUSH(out) = (uint8_t)value;
}

static void add_signed(struct bytes *out, int64_t value)
{
    add_number(out, value < 0 ? ((uint64_t) - (value + 1)) * 2 + 1 : (uint64_t)value * 2);
}

static void put_base64(struct json_writer *json, const struct bytes *bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct buffer text = { 0 };
    for (size_t i = 0; i < bytes->count; i += 3) {
        size_t left = bytes->count - i;
        uint32_t group = (uint32_t)bytes->at[i] << 16 | (left > 1 ? (uint32_t)bytes->at[i + 1] << 8 : 0) |
                         (left > 2 ? bytes->at[i + 2] : 0);
        char quad[4] = { letters[group >> 18], letters[group >> 12 & 63],
                         left > 1 ? letters[group >> 6 & 63] : '=', left > 2 ? letters[group & 63] : '=' };
        buffer_add(&text, quad, sizeof quad);
    }
    json_put_string(json, text.count ? text.at : "", text.count);
    buffer_release(&text);
}

/* ---- spans ---- */

static int compare_places(const void *left, const void *right)
{
    const struct timeline_span *a = left, *b = right;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->dur_ns < b->dur_ns ? -1 : a->dur_ns > b->dur_ns;
}

/* Where the span of an event lies among those on the page. */
struct event_place {
    uint32_t event, place;
};

static int compare_events(const void *left, const void *right)
{
    const struct event_place *a = left, *b = right;
    return a->event < b->event ? -1 : a->event > b->event;
}

static struct event_place *find_places(const struct timeline_span *spans, size_t count, size_t *found)
{
    struct event_place *places = mem_alloc(mem_times(count + 1, sizeof *places));
    *found = 0;
    for (size_t i = 0; i < count; i++)
        if (spans[i].event != TIMELINE_NO_EVENT)
            places[(*found)++] = (struct event_place){ spans[i].event, (uint32_t)i };
    qsort(places, *found, sizeof *places, compare_events);
    return places;
}

/* Only the texts that the page has; their numbers there. */
struct kept_names {
    const struct names *names;
    uint32_t *number; /* by name; UINT32_MAX: none yet */
    VEC_OF(name_id) ids;
};

static struct kept_names keep_names(const struct names *names)
{
    struct kept_names kept = { .names = names };
    kept.number = mem_alloc(mem_times(names_count(names) + 1, sizeof *kept.number));
    memset(kept.number, 0xff, (names_count(names) + 1) * sizeof *kept.number);
    return kept;
}

static uint32_t keep_name(struct kept_names *kept, name_id id)
{
    if (kept->number[id] == UINT32_MAX) {
        kept->number[id] = (uint32_t)kept->ids.count;
        *VEC_PUSH(&kept->ids) = id;
    }
    return kept->number[id];
}

static void put_kept(struct json_writer *json, const char *key, struct kept_names *kept)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < kept->ids.count; i++)
        json_put_string(json, names_text(kept->names, kept->ids.at[i]),
                        names_length(kept->names, kept->ids.at[i]));
    json_end_array(json);
    free(kept->number);
    VEC_FREE(&kept->ids);
}

static void put_rows(struct json_writer *json, const struct timeline_span *spans, size_t count)
{
    json_key(json, "rows");
    json_begin_array(json);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first;
             end < count && spans[end].lane == spans[first].lane && spans[end].depth == spans[first].depth;
             end++)
            ;
        json_put_integer(json, spans[first].lane);
        json_put_integer(json, spans[first].depth);
        json_put_integer(json, (int64_t)(end - first));
    }
    json_end_array(json);
}

static void put_spans(struct json_writer *json, const struct timeline *timeline, size_t count)
{
    struct timeline_span *spans = mem_alloc(mem_times(count + 1, sizeof *spans));
    if (count)
        memcpy(spans, timeline->spans.at, count * sizeof *spans);
    qsort(spans, count, sizeof *spans, compare_places);
    size_t place_count;
    struct event_place *places = find_places(spans, count, &place_count);
    struct kept_names names = keep_names(timeline->names), details = keep_names(timeline->details);
    keep_name(&details, 0); /* none */
    struct bytes bytes = { 0 };
    int64_t start_ns = 0, correlation = 0;
    for (size_t i = 0; i < count; i++) {
        const struct timeline_span *span = &spans[i];
        bool first = i == 0 || spans[i - 1].lane != span->lane || spans[i - 1].depth != span->depth;
        const struct event_place wanted = { span->call, 0 },
                                 *call = span->call == TIMELINE_NO_EVENT
                                             ? NULL
                                             : bsearch(&wanted, places, place_count, sizeof *places,
                                                       compare_events);
        add_number(&bytes, (uint64_t)(span->start_ns - (first ? timeline->start_ns : start_ns)));
        add_number(&bytes, (uint64_t)span->dur_ns);
        add_number(&bytes, span->kind * 2 + span->folded);
        add_number(&bytes, span->inner);
        add_number(&bytes, keep_name(&names, span->name));
        add_number(&bytes, keep_name(&details, span->detail));
        add_number(&bytes, call ? call->place + 1 : 0);
        add_signed(&bytes, (int64_t)((uint64_t)span->correlation - (uint64_t)correlation));
        start_ns = span->start_ns;
        correlation = span->correlation;
    }
    put_rows(json, spans, count);
    json_key(json, "spans");
    put_base64(json, &bytes);
    put_kept(json, "names", &names);
    put_kept(json, "details", &details);
    VEC_FREE(&bytes);
    free(places);
    free(spans);
}

/* ---- the rest ---- */

static void put_kinds(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "kinds");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->kinds.count; i++) {
        json_put_text(json, timeline->kinds.at[i].title);
        json_put_text(json, timeline->kinds.at[i].group);
        json_put_integer(json, timeline->kinds.at[i].color);
    }
    json_end_array(json);
}

static void put_lanes(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "lanes");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->lanes.count; i++) {
        json_put_text(json, timeline->lanes.at[i].title);
        json_put_text(json, timeline->lanes.at[i].group);
        json_put_integer(json, timeline->lanes.at[i].place);
        json_put_integer(json, timeline->lanes.at[i].strip);
        json_put_integer(json, timeline->lanes.at[i].closed);
    }
    json_end_array(json);
}

static void put_steps(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "steps");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->steps.count; i++) {
        const struct timeline_step *step = &timeline->steps.at[i];
        json_put_integer(json, step->number);
        json_put_integer(json, step->start_ns - timeline->start_ns);
        json_put_integer(json, step->dur_ns);
        json_put_integer(json, step->host_ns - timeline->start_ns);
        json_put_integer(json, step->file);
    }
    json_end_array(json);
    json_key(json, "files");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->files.count; i++) {
        const struct timeline_file *file = &timeline->files.at[i];
        json_put_integer(json, file->rank);
        json_put_integer(json, file->origin_ns - timeline->start_ns);
        json_put_text(json, file->name);
    }
    json_end_array(json);
}

static bool has_kind(const struct timeline *timeline, const struct timeline_strip *strip, size_t kind)
{
    for (size_t bin = 0; bin < timeline->bins; bin++)
        if (strip->ns[bin * TIMELINE_MOST_KINDS + kind] > 0)
            return true;
    return false;
}

/* Title, kinds, and for each of these a byte per bin: 255 where all of its time went there. */
static void put_strip(struct json_writer *json, const struct timeline *timeline,
                      const struct timeline_strip *strip)
{
    struct bytes bytes = { 0 };
    double bin_ns = (double)timeline->dur_ns / (double)timeline->bins;
    json_put_text(json, strip->title);
    json_begin_array(json);
    for (size_t kind = 0; kind < timeline->kinds.count; kind++) {
        if (!has_kind(timeline, strip, kind))
            continue;
        json_put_integer(json, (int64_t)kind);
        for (size_t bin = 0; bin < timeline->bins; bin++) {
            double share = (double)strip->ns[bin * TIMELINE_MOST_KINDS + kind] / bin_ns * 255 + 0.5;
            *VEC_PUSH(&bytes) = (uint8_t)(share > 255 ? 255 : share);
        }
    }
    json_end_array(json);
    put_base64(json, &bytes);
    VEC_FREE(&bytes);
}

static void put_strips(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "bins");
    json_put_integer(json, (int64_t)timeline->bins);
    json_key(json, "strips");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->strips.count; i++)
        put_strip(json, timeline, &timeline->strips.at[i]);
    json_end_array(json);
    json_key(json, "series");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->series.count; i++) {
        json_put_text(json, timeline->series.at[i].title);
        json_begin_array(json);
        for (size_t bin = 0; bin < timeline->bins; bin++)
            if (timeline->series.at[i].most[bin] == INT64_MIN)
                json_put_integer(json, -1);
            else
                json_put_integer(json, timeline->series.at[i].most[bin]);
        json_end_array(json);
    }
    json_end_array(json);
}

static void put_timeline(struct buffer *out, const struct timeline *timeline, size_t count)
{
    struct json_writer json = { .text = out };
    json_begin_object(&json);
    json_key(&json, "length");
    json_put_integer(&json, timeline->dur_ns);
    json_key(&json, "alive");
    json_put_integer(&json, timeline->alive);
    json_key(&json, "left_out");
    json_put_integer(&json, (int64_t)(timeline->left_out + timeline->spans.count - count));
    json_key(&json, "command");
    json_put_text(&json, timeline->command ? timeline->command : "");
    put_kinds(&json, timeline);
    put_lanes(&json, timeline);
    put_steps(&json, timeline);
    put_strips(&json, timeline);
    put_spans(&json, timeline, count);
    json_end_object(&json);
}

/* ---- the element ---- */

/* JSON between the tags of a script element: nothing in it may end the element or begin a comment. */
static void add_escaped(struct buffer *out, const struct buffer *json)
{
    for (size_t i = 0; i < json->count; i++)
        if (json->at[i] == '<' || json->at[i] == '>' || json->at[i] == '&')
            buffer_printf(out, "\\u%04x", (unsigned)json->at[i]);
        else
            buffer_putc(out, json->at[i]);
}

/* The data in OUT, no more than ROOM if possible; how many spans are in it. */
static size_t add_data(struct buffer *out, const struct timeline *timeline, size_t room)
{
    size_t count = timeline->spans.count, most = room / 8 + 1;
    struct buffer json = { 0 };
    count = count < most ? count : most;
    for (;;) { /* a little less than what would fit, until it does */
        buffer_clear(&json);
        buffer_clear(out);
        put_timeline(&json, timeline, count);
        add_escaped(out, &json);
        if (out->count <= room || count == 0)
            break;
        count = (size_t)((double)count * (double)room / (double)out->count * 0.97);
    }
    buffer_release(&json);
    return count;
}

static void add_tools(struct buffer *out, size_t number, bool steps)
{
    buffer_printf(
        out,
        "<div class=\"tools\"><label>Find <input type=\"search\" id=\"find-%zu\" placeholder=\"part of a "
        "name\" autocomplete=\"off\"/></label><span class=\"matches faint\" role=\"status\"></span>"
        "<button type=\"button\" data-do=\"previous\" aria-label=\"previous match\">&#8593;</button>"
        "<button type=\"button\" data-do=\"next\" aria-label=\"next match\">&#8595;</button>"
        "<span class=\"grow\"></span>",
        number);
    if (steps)
        buffer_printf(
            out,
            "<button type=\"button\" data-do=\"earlier\" aria-label=\"step before\">&#8249;</button>"
            "<label>Step <select id=\"step-%zu\"></select></label>"
            "<button type=\"button\" data-do=\"later\" aria-label=\"next step\">&#8250;</button>",
            number);
    buffer_puts(
        out, "<button type=\"button\" data-do=\"frames\" aria-pressed=\"false\" hidden=\"hidden\">Python of "
             "PyTorch</button>"
             "<button type=\"button\" data-do=\"in\" aria-label=\"zoom in\">+</button>"
             "<button type=\"button\" data-do=\"out\" aria-label=\"zoom out\">&#8722;</button>"
             "<button type=\"button\" data-do=\"all\">All</button></div>\n");
}

/* How much of the recording is here, and which command writes the rest. */
static void add_left_out(struct buffer *out, const struct timeline *timeline, size_t count)
{
    uint64_t left_out = timeline->left_out + timeline->spans.count - count;
    if (left_out == 0)
        return;
    buffer_printf(
        out,
        "<p class=\"faint left-out\">%zu of %llu events are on this page, the longest, and more of the "
        "devices than of the host; the bars above the timeline count all of them%s",
        count, (unsigned long long)left_out + count, timeline->devices_left_out ? "" : ".");
    if (timeline->devices_left_out)
        buffer_printf(out, ", but those of %zu further devices, which are left out.",
                      timeline->devices_left_out);
    if (timeline->command) {
        buffer_puts(out, " All events of a part of it, for Perfetto: <code>");
        escape_html(out, timeline->command, strlen(timeline->command));
        buffer_puts(out, " <span class=\"slice\">1ms..2ms</span> -o slice.json.gz</code>");
    }
    buffer_puts(out, "</p>\n");
}

void page_add_timeline(struct buffer *out, const struct timeline *timeline, size_t number, size_t room)
{
    struct buffer data = { 0 };
    size_t count = add_data(&data, timeline, room);
    buffer_printf(out, "<div class=\"timeline\" id=\"timeline-%zu\" data-timeline=\"data-%zu\">\n<h3>",
                  number, number);
    escape_html(out, timeline->title, strlen(timeline->title));
    buffer_puts(out, "</h3>\n");
    add_tools(out, number, timeline->steps.count > 0);
    buffer_puts(
        out,
        "<div class=\"halves\"><div class=\"drawn\"><canvas class=\"overview\" role=\"img\" aria-label=\"What the "
        "devices did over the whole recording, and why they were idle. Drag to choose a part of it.\"></canvas>"
        "<div class=\"window\"><canvas class=\"lanes\" tabindex=\"0\" role=\"application\" aria-label=\"Timeline. Arrow "
        "keys move and zoom, 0 shows all, n and p choose the next and the previous event of a row, brackets go to the "
        "next and the previous step, Enter zooms to what is chosen, o opens and closes its lane.\"></canvas>"
        "<div class=\"spacer\"></div></div><div class=\"tip\" hidden=\"hidden\"></div></div>"
        "<aside class=\"panel\" role=\"status\" aria-live=\"polite\"><span class=\"no-script\">This picture needs "
        "scripts.</span></aside></div>\n<ul class=\"legend\"></ul>\n");
    add_left_out(out, timeline, count);
    buffer_printf(out, "<script type=\"application/json\" id=\"data-%zu\">", number);
    buffer_add(out, data.at, data.count);
    buffer_puts(out, "</script>\n</div>\n");
    buffer_release(&data);
}
