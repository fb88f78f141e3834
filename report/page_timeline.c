/*
 * page_timeline.c - see page_parts.h.
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
#include "report/page_parts.h"

#include "base/rows.h"
#include "base/escape.h"
#include "base/order.h"
#include "report/json_writer.h"
#include "report/page_uses.h"

struct bytes {
    VEC_OF(uint8_t);
};

static void page_timeline_add_number(struct bytes *out, uint64_t value)
{
    VEC_RESERVE(out, 10);
    uint8_t *at = out->at + out->count;
    for (; value >= 128; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    out->count = (size_t)(at - out->at);
}

static void add_signed(struct bytes *out, int64_t value)
{
    page_timeline_add_number(out, value < 0 ? ((uint64_t) - (value + 1)) * 2 + 1 : (uint64_t)value * 2);
}

/* Two letters for each 12 bits. */
struct letter_pairs {
    char of[1 << 12][2];
};

static void letter_pairs_fill(struct letter_pairs *pairs)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < sizeof pairs->of / sizeof *pairs->of; i++) {
        pairs->of[i][0] = letters[i >> 6];
        pairs->of[i][1] = letters[i & 63];
    }
}

/* Its letters need no escape in JSON. */
static void emit_base64(struct json_writer *json, const struct bytes *bytes)
{
    struct letter_pairs pairs;
    char text[1024];
    size_t filled = 0;
    letter_pairs_fill(&pairs);
    json_emit_string(json, "", 0);
    json->text->count--; /* the quote behind it */
    for (size_t i = 0; i < bytes->count; i += 3) {
        size_t left = bytes->count - i;
        uint32_t group = (uint32_t)bytes->at[i] << 16 | (left > 1 ? (uint32_t)bytes->at[i + 1] << 8 : 0) |
                         (left > 2 ? bytes->at[i + 2] : 0);
        const char *high = pairs.of[group >> 12], *low = pairs.of[group & 4095];
        text[filled++] = high[0];
        text[filled++] = high[1];
        text[filled++] = low[0];
        text[filled++] = low[1];
        if (left <= 3)
            memset(text + filled - (3 - left), '=', 3 - left);
        if (filled == sizeof text || left <= 3) {
            buffer_add(json->text, text, filled);
            filled = 0;
        }
    }
    buffer_putc(json->text, '"');
}

/* ---- spans ---- */

/* The spans in the order of rows. */
struct places {
    uint32_t *order; /* of timeline->spans */
    uint32_t *rank;  /* by place: that of its span, which lies far from the one before */
    uint32_t *call;  /* by place: that of what launched it; UINT32_MAX: it is not there */
};

static bool same_row(const struct timeline_span *a, const struct timeline_span *b)
{
    return a->lane == b->lane && a->depth == b->depth;
}

/* The spans of a ROW by start, then duration and rank. Mostly they lie in this order already. */
static void sort_row(uint32_t *row, size_t count, const struct timeline_span *spans)
{
    SORT_BY(row, count, i, spans[row[i]].start_ns);
    FOR_RUNS(first, end, count, spans[row[first]].start_ns == spans[row[end]].start_ns) {
        if (end - first == 1)
            continue;
        SORT_BY(row + first, end - first, i, spans[row[first + i]].rank);
        SORT_BY(row + first, end - first, i, spans[row[first + i]].dur_ns);
    }
}

/* New, free(): the spans by lane, depth, start and duration. */
static uint32_t *order_by_place(const struct timeline_span *spans, size_t count)
{
    uint32_t *order = order_open(count);
    uint64_t *keys = mem_alloc(mem_times(count + 1, sizeof *keys));
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t)spans[i].lane << 16 | spans[i].depth;
    order_by(order, count, keys);
    FOR_RUNS(first, end, count, keys[order[first]] == keys[order[end]])
        sort_row(order + first, end - first, spans);
    free(keys);
    return order;
}

/* By event: the place of its span, up to the last event that has one; UINT32_MAX: none. New, free(). */
static uint32_t *places_of_events(const struct timeline *timeline, const uint32_t *order, uint32_t *events)
{
    size_t count = timeline->spans.count;
    const struct timeline_span *spans = timeline->spans.at;
    *events = 0;
    for (size_t i = 0; i < count; i++)
        if (spans[i].event != TIMELINE_NO_EVENT && spans[i].event >= *events)
            *events = spans[i].event + 1;
    uint32_t *places = mem_alloc(mem_times((size_t)*events + 1, sizeof *places));
    memset(places, 0xff, ((size_t)*events + 1) * sizeof *places);
    for (size_t i = 0; i < count; i++)
        if (spans[order[i]].event != TIMELINE_NO_EVENT)
            places[spans[order[i]].event] = (uint32_t)i;
    return places;
}

static struct places places_open(const struct timeline *timeline)
{
    size_t count = timeline->spans.count;
    struct places places = { order_by_place(timeline->spans.at, count),
                             mem_alloc(mem_times(count + 1, sizeof *places.rank)),
                             mem_alloc(mem_times(count + 1, sizeof *places.call)) };
    uint32_t events, *of_event = places_of_events(timeline, places.order, &events);
    for (size_t i = 0; i < count; i++) {
        const struct timeline_span *span = &timeline->spans.at[places.order[i]];
        places.rank[i] = span->rank;
        places.call[i] = span->call < events ? of_event[span->call] : UINT32_MAX;
    }
    free(of_event);
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

static void emit_kept(struct json_writer *json, const char *key, struct kept_names *kept)
{
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = 0; i < kept->ids.count; i++)
        json_emit_string(json, names_text(kept->names, kept->ids.at[i]),
                         names_length(kept->names, kept->ids.at[i]));
    json_end_array(json);
    free(kept->number);
    VEC_FREE(&kept->ids);
}

/* Beside NAMES: those of work of devices in the short form that the page has for them; "" where the name is no longer than that.
 * IS_WORK is by their number. */
static void emit_short(struct json_writer *json, const struct timeline *timeline, struct apart *short_names,
                       const struct kept_names *names, const uint8_t *is_work)
{
    json_key(json, "short");
    json_begin_array(json);
    for (size_t i = 0; i < names->ids.count; i++) {
        const char *name = names_text(timeline->names, names->ids.at[i]);
        struct text full, shown = { 0 };
        bool shorter = is_work[i] && apart_fill_names(short_names, &full, &shown, name,
                                                      names_length(timeline->names, names->ids.at[i]));
        json_emit_string(json, shorter ? shown.at : "", shorter ? shown.len : 0);
    }
    json_end_array(json);
}

/* Lane, depth and how many spans, of each row. */
static void page_timeline_emit_row(struct json_writer *json, const struct timeline_span *last, int64_t count)
{
    if (!last)
        return;
    json_emit_integer(json, last->lane);
    json_emit_integer(json, last->depth);
    json_emit_integer(json, count);
}

static void emit_spans(struct json_writer *json, const struct timeline *timeline, struct apart *short_names,
                       const struct places *places, size_t kept)
{
    struct kept_names names = keep_names(timeline->names), details = keep_names(timeline->details);
    uint8_t *is_work = mem_zalloc(names_count(timeline->names) + 1, 1);
    uint32_t *number = mem_alloc(mem_times(timeline->spans.count + 1, sizeof *number)), next = 0;
    const struct timeline_span *last = NULL;
    int64_t in_row = 0;
    struct bytes bytes = { 0 };
    uint8_t is_work_kind[TIMELINE_MOST_KINDS] = { 0 };
    for (uint32_t kind = 0; kind < timeline->kinds.count; kind++)
        is_work_kind[kind] = page_names_has_kind(timeline, kind);
    for (size_t i = 0; i < timeline->spans.count; i++)
        number[i] = places->rank[i] < kept ? next++ : UINT32_MAX;
    keep_name(&details, 0); /* none */
    json_key(json, "rows");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->spans.count; i++) {
        if (places->rank[i] >= kept)
            continue;
        const struct timeline_span *span = &timeline->spans.at[places->order[i]];
        bool first = !last || !same_row(last, span);
        if (first) {
            page_timeline_emit_row(json, last, in_row);
            in_row = 0;
        }
        uint32_t call = places->call[i] == UINT32_MAX ? UINT32_MAX : number[places->call[i]];
        page_timeline_add_number(&bytes,
                                 (uint64_t)(span->start_ns - (first ? timeline->start_ns : last->start_ns)));
        page_timeline_add_number(&bytes, (uint64_t)span->dur_ns);
        page_timeline_add_number(&bytes, span->kind * 2 + span->folded);
        page_timeline_add_number(&bytes, span->inner);
        uint32_t name = keep_name(&names, span->name);
        is_work[name] |= is_work_kind[span->kind];
        page_timeline_add_number(&bytes, name);
        page_timeline_add_number(&bytes, keep_name(&details, span->detail));
        page_timeline_add_number(&bytes, call == UINT32_MAX ? 0 : (uint64_t)call + 1);
        add_signed(&bytes, (int64_t)((uint64_t)span->correlation - (uint64_t)(last ? last->correlation : 0)));
        in_row++;
        last = span;
    }
    page_timeline_emit_row(json, last, in_row);
    json_end_array(json);
    json_key(json, "spans");
    emit_base64(json, &bytes);
    emit_short(json, timeline, short_names, &names, is_work);
    emit_kept(json, "names", &names);
    emit_kept(json, "details", &details);
    VEC_FREE(&bytes);
    EACH(free, number, is_work);
}

/* ---- the rest ---- */

enum {
    USE_ROOM = 64
}; /* bytes of the room for each change of uses, which has some 8: they take an eighth of it */

static void emit_kinds(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "kinds");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->kinds.count; i++) {
        json_emit_text(json, timeline->kinds.at[i].title);
        json_emit_text(json, timeline->kinds.at[i].group);
        json_emit_integer(json, timeline->kinds.at[i].color);
    }
    json_end_array(json);
}

static void emit_lanes(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "lanes");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->lanes.count; i++) {
        json_emit_text(json, timeline->lanes.at[i].title);
        json_emit_text(json, timeline->lanes.at[i].group);
        json_emit_integer(json, timeline->lanes.at[i].place);
        json_emit_integer(json, timeline->lanes.at[i].strip);
        json_emit_integer(json, timeline->lanes.at[i].closed);
    }
    json_end_array(json);
}

static void emit_steps(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "steps");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->steps.count; i++) {
        const struct timeline_step *step = &timeline->steps.at[i];
        json_emit_integer(json, step->number);
        json_emit_integer(json, step->start_ns - timeline->start_ns);
        json_emit_integer(json, step->dur_ns);
        json_emit_integer(json, step->host_ns - timeline->start_ns);
        json_emit_integer(json, step->host_end_ns - timeline->start_ns);
        json_emit_integer(json, step->file);
    }
    json_end_array(json);
    json_key(json, "files");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->files.count; i++) {
        const struct timeline_file *file = &timeline->files.at[i];
        json_emit_integer(json, file->rank);
        json_emit_integer(json, file->origin_ns - timeline->start_ns);
        json_emit_text(json, file->name);
        json_emit_text(json, file->group);
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
static void emit_strip(struct json_writer *json, const struct timeline *timeline,
                       const struct timeline_strip *strip)
{
    struct bytes bytes = { 0 };
    double bin_ns = (double)timeline->dur_ns / (double)timeline->bins;
    json_emit_text(json, strip->title);
    json_begin_array(json);
    for (size_t kind = 0; kind < timeline->kinds.count; kind++) {
        if (!has_kind(timeline, strip, kind))
            continue;
        json_emit_integer(json, (int64_t)kind);
        for (size_t bin = 0; bin < timeline->bins; bin++) {
            double share = (double)strip->ns[bin * TIMELINE_MOST_KINDS + kind] / bin_ns * 255 + 0.5;
            *VEC_PUSH(&bytes) = (uint8_t)(share > 255 ? 255 : share);
        }
    }
    json_end_array(json);
    emit_base64(json, &bytes);
    VEC_FREE(&bytes);
}

static void emit_strips(struct json_writer *json, const struct timeline *timeline)
{
    json_add_integer(json, "bins", (int64_t)timeline->bins);
    json_key(json, "strips");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->strips.count; i++)
        emit_strip(json, timeline, &timeline->strips.at[i]);
    json_end_array(json);
    json_key(json, "series");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->series.count; i++) {
        json_emit_text(json, timeline->series.at[i].title);
        json_emit_integer(json, (int32_t)timeline->series.at[i].strip);
        json_begin_array(json);
        int64_t last = 0;
        for (size_t bin = 0; bin < timeline->bins; bin++) {
            int64_t most =
                timeline_series_most(timeline, i, bin * timeline->finer, (bin + 1) * timeline->finer);
            if (most == INT64_MIN || most == last)
                continue;
            json_emit_integer(json, (int64_t)bin);
            json_emit_integer(json, most);
            last = most;
        }
        json_end_array(json);
    }
    json_end_array(json);
}

/* A use is four numbers: how long after the one before in units of "every", its place in "lines", bytes and blocks, both
 * of which can be negative. */
static void emit_uses(struct json_writer *json, const struct timeline *timeline, const struct page_uses *uses)
{
    struct kept_names lines = keep_names(timeline->names);
    struct bytes bytes = { 0 };
    int64_t last = 0;
    for (size_t i = 0; i < uses->count; i++) {
        const struct timeline_use *use = &uses->at[i];
        page_timeline_add_number(&bytes, (uint64_t)(use->at_ns / uses->every_ns - last));
        page_timeline_add_number(&bytes, keep_name(&lines, use->name));
        add_signed(&bytes, use->bytes);
        add_signed(&bytes, use->blocks);
        last = use->at_ns / uses->every_ns;
    }
    json_add_integer(json, "every", uses->every_ns);
    json_key(json, "uses");
    emit_base64(json, &bytes);
    emit_kept(json, "lines", &lines);
    VEC_FREE(&bytes);
}

static void append_timeline(struct buffer *out, const struct timeline *timeline, struct apart *names,
                            const struct page_uses *uses, const struct places *places, size_t count)
{
    struct json_writer json = { .text = out };
    json_begin_object(&json);
    json_add_integer(&json, "length", timeline->dur_ns);
    json_add_integer(&json, "alive", timeline->alive);
    if (timeline->side) {
        json_add_text(&json, "side", timeline->side);
    }
    json_add_integer(&json, "left_out", (int64_t)(timeline->left_out + timeline->spans.count - count));
    json_add_text(&json, "command", timeline->command ? timeline->command : "");
    emit_kinds(&json, timeline);
    emit_lanes(&json, timeline);
    emit_steps(&json, timeline);
    emit_strips(&json, timeline);
    emit_spans(&json, timeline, names, places, count);
    if (timeline->alive)
        emit_uses(&json, timeline, uses);
    json_end_object(&json);
}

/* ---- the element ---- */

void page_add_script_data(struct buffer *out, const struct buffer *json)
{
    for (const char *at = json->at, *end = json->at + json->count; at < end;) {
        size_t plain = strcspn(at, "<>&"); /* it holds no 0 but the one at its end */
        buffer_add(out, at, plain);
        at += plain;
        if (at < end)
            buffer_printf(out, "\\u%04x", (unsigned)*at++);
    }
}

/* The data in OUT, no more than ROOM if possible; how many spans are in it. */
static size_t add_data(struct buffer *out, const struct timeline *timeline, struct apart *names, size_t room)
{
    size_t count = timeline->spans.count, most = room / 8 + 1;
    struct places places = places_open(timeline);
    struct page_uses uses = page_uses_of(timeline, room / USE_ROOM + 1);
    struct buffer json = { 0 };
    count = count < most ? count : most;
    for (;;) { /* a little less than what would fit, until it does */
        buffer_clear(&json);
        buffer_clear(out);
        append_timeline(&json, timeline, names, &uses, &places, count);
        page_add_script_data(out, &json);
        if (out->count <= room || count == 0)
            break;
        count = (size_t)((double)count * (double)room / (double)out->count * 0.97);
    }
    buffer_release(&json);
    VEC_FREE(&uses);
    EACH(free, places.order, places.rank, places.call);
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
        out,
        "<button type=\"button\" data-do=\"frames\" aria-pressed=\"false\" hidden=\"hidden\">Python of "
        "PyTorch</button>"
        "<button type=\"button\" data-do=\"flows\" aria-pressed=\"true\" title=\"arrows from calls to what they "
        "launched (l)\">Arrows</button>"
        "<button type=\"button\" data-do=\"in\" aria-label=\"zoom in\">+</button>"
        "<button type=\"button\" data-do=\"out\" aria-label=\"zoom out\">&#8722;</button>"
        "<button type=\"button\" data-do=\"all\">All</button>"
        "<button type=\"button\" data-do=\"shrink\" hidden=\"hidden\">Back to the picture</button>"
        "<button type=\"button\" data-do=\"full\" aria-pressed=\"false\" title=\"f\">Full window</button></div>\n");
}

/* How much of the recording is here, and which command writes the rest. */
static void page_timeline_add_left_out(struct buffer *out, const struct timeline *timeline, size_t count)
{
    uint64_t left_out = timeline->left_out + timeline->spans.count - count;
    if (left_out == 0)
        return;
    if (timeline->alive) {
        buffer_printf(out,
                      "<p class=\"faint left-out\">%zu of %llu blocks are drawn, the largest. A click, or m, "
                      "lists all that was in use at that moment by line of code, drawn or not.</p>\n",
                      count, (unsigned long long)left_out + count);
        return;
    }
    buffer_printf(
        out,
        "<p class=\"faint left-out\">%zu of %llu events are on this page, the longest, and more of the "
        "devices than of the host; the bars above the timeline count all of them%s",
        count, (unsigned long long)left_out + count, timeline->devices_left_out ? "" : ".");
    if (timeline->devices_left_out)
        buffer_printf(out, ", but those of %zu further devices, which are left out.",
                      timeline->devices_left_out);
    if (timeline->viewer) {
        buffer_puts(out, " To see all events: <code>");
        escape_html(out, timeline->viewer, strlen(timeline->viewer));
        buffer_puts(out, "</code>.");
    }
    if (timeline->command) {
        buffer_puts(out, " All events of a part of it, for Perfetto: <code>");
        escape_html(out, timeline->command, strlen(timeline->command));
        buffer_puts(out, " <span class=\"slice\">1ms..2ms</span> -o slice.json.gz</code>");
    }
    buffer_puts(out, "</p>\n");
}

void page_add_timeline(struct buffer *out, const struct timeline *timeline, struct apart *names,
                       size_t number, size_t room)
{
    struct buffer data = { 0 };
    size_t count = add_data(&data, timeline, names, room);
    buffer_printf(out, "<div class=\"timeline%s\" id=\"timeline-%zu\" data-timeline=\"data-%zu\">\n<h3>",
                  timeline->side ? " side" : "", number, number);
    escape_html(out, timeline->title, strlen(timeline->title));
    buffer_puts(out, "</h3>\n");
    add_tools(out, number, timeline->steps.count > 0);
    buffer_printf(
        out,
        "<div class=\"halves\"><div class=\"drawn\"><canvas class=\"overview\" role=\"img\" aria-label=\"%s Drag to choose a part of it.\"></canvas>"
        "<div class=\"window\"><canvas class=\"lanes\" tabindex=\"0\" role=\"application\" aria-label=\"Timeline. Arrow "
        "keys move and zoom, 0 shows all, n and p choose the next and the previous event of a row, brackets go to the "
        "next and the previous step, Enter zooms to what is chosen, o opens and closes its lane%s, a question mark lists all keys.\"></canvas>"
        "<div class=\"spacer\"></div></div><div class=\"tip\" hidden=\"hidden\"></div></div>"
        "<div class=\"panel\" role=\"region\" tabindex=\"0\" aria-label=\"What is selected\" aria-live=\"polite\"><span class=\"no-script\">This picture needs "
        "scripts.</span></div></div>\n<ul class=\"legend\"></ul>\n",
        timeline->alive ? "What was in use over the whole recording."
                        : "What the devices did over the whole recording, and why they were idle.",
        timeline->alive ? ", m lists what was in use in the middle" : ", m sets a mark");
    page_timeline_add_left_out(out, timeline, count);
    buffer_printf(out, "<script type=\"application/json\" id=\"data-%zu\">", number);
    buffer_add(out, data.at, data.count);
    buffer_puts(out, "</script>\n</div>\n");
    buffer_release(&data);
}
