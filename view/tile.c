/* tile.c - pictures of stretches of a recording; see spans.h. */
#include "view/spans.h"

#include "base/search.h"
#include "derive/attribution.h"
#include "report/json_writer.h"
#include "report/shorten.h"

enum { LABEL_COLUMNS = 60 };

/* ---- texts ---- */

void view_add_number(struct buffer *out, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0)
        digits[--at] = '-';
    buffer_add(out, digits + at, sizeof digits - at);
}

/* TEXT as JSON, in the arena of SPANS. */
static const char *quote(struct view_spans *spans, const struct buffer *text)
{
    SCOPED struct buffer quoted = { 0 };
    struct json_writer json = { .text = &quoted, .compact = true };
    json_emit_string(&json, text->count ? text->at : "", text->count);
    return arena_strndup(&spans->drawing.texts, quoted.at, quoted.count);
}

struct view_name view_name_of(struct view_spans *spans, name_id name)
{
    const struct names *names = spans->trace->names;
    struct view_name *shown = &spans->drawing.shown[name];
    if (!shown->full) {
        SCOPED struct buffer full = { 0 }, label = { 0 };
        bool shorter = shorten_readable(&full, &label, names_text(names, name), names_length(names, name),
                                        LABEL_COLUMNS);
        *shown = (struct view_name){ quote(spans, &full), quote(spans, shorter ? &label : &full) };
    }
    return *shown;
}

static void use_name(struct view_drawing *drawing, name_id name)
{
    if (drawing->named[name] == drawing->picture)
        return;
    drawing->named[name] = drawing->picture;
    *VEC_PUSH(&drawing->names) = name;
}

/* ---- a row ---- */

/* A stretch in steps of 2^K ns. */
struct steps {
    unsigned k;
    int64_t first, count;   /* the first step, and how many */
    int64_t from_ns, to_ns; /* of all steps */
    size_t most;            /* spans of a row that are written */
};

/* OUTLINE has its own steps, whatever the pixels; NULL: it is none. */
static struct steps cut_stretch(const struct view_stretch *stretch, const struct view_outline *outline)
{
    struct steps steps = { .most = (size_t)stretch->pixels * 4 + 64 };
    int64_t pixel_ns = (stretch->to_ns - stretch->from_ns) / stretch->pixels;
    steps.k = view_class(pixel_ns);
    steps.k = outline ? outline->level : steps.k > VIEW_TOP ? VIEW_TOP : steps.k;
    steps.first = stretch->from_ns >> steps.k;
    steps.count = ((stretch->to_ns - 1) >> steps.k) - steps.first + 1;
    steps.from_ns = steps.first << steps.k;
    steps.to_ns = steps.from_ns + (steps.count << steps.k);
    return steps;
}

/* The row whose picture is made. */
struct row_picture {
    struct view_spans *spans;
    const struct view_row *row;
    const struct steps *steps;
    int8_t place[TIMELINE_MOST_KINDS]; /* by kind: its place in sums */
    bool any;
};

static bool is_many(const struct view_spans *spans, int64_t step)
{
    return spans->drawing.many.at[step / 64] >> step % 64 & 1;
}

static void add_to_step(struct row_picture *picture, unsigned kind, int64_t step, int64_t ns)
{
    picture->spans->drawing.sums.at[picture->place[kind] * picture->steps->count + step] += ns;
    picture->any = true;
}

/* Add a span to the steps whose sums are not known. EVEN_KNOWN: to all. */
static void spread_span(struct row_picture *picture, struct view_time time, unsigned kind, bool even_known)
{
    const struct steps *steps = picture->steps;
    int64_t from_ns = time.start_ns > steps->from_ns ? time.start_ns : steps->from_ns;
    int64_t end_ns = time.end_ns < steps->to_ns ? time.end_ns : steps->to_ns;
    for (int64_t step = (from_ns - steps->from_ns) >> steps->k; from_ns < end_ns; step++) {
        int64_t edge_ns = steps->from_ns + ((step + 1) << steps->k),
                until_ns = edge_ns < end_ns ? edge_ns : end_ns;
        if (even_known || !is_many(picture->spans, step))
            add_to_step(picture, kind, step, until_ns - from_ns);
        from_ns = until_ns;
    }
}

/* The sums of the row of an outline. */
static void take_outline(struct row_picture *picture, const struct view_outline *outline)
{
    const struct steps *steps = picture->steps;
    for (uint64_t left = picture->row->kinds; left; left &= left - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(left);
        const int64_t *ns = view_outline_sums(picture->spans, picture->row, kind) + steps->first;
        for (int64_t step = 0; step < steps->count && steps->first + step < (int64_t)outline->steps; step++)
            if (ns[step])
                add_to_step(picture, kind, step, ns[step]);
    }
}

/* The sums that are known. */
static void take_known(struct row_picture *picture)
{
    const struct steps *steps = picture->steps;
    const struct view_level *level = &picture->row->level[steps->k];
    size_t i = PLACE(p, level->count, view_sum_bin(level, p) < steps->first);
    for (; i < level->count; i++) {
        int64_t step = view_sum_bin(level, i) - steps->first;
        if (step >= steps->count)
            break;
        picture->spans->drawing.many.at[step / 64] |= UINT64_C(1) << step % 64;
        add_to_step(picture, view_sum_kind(level, i), step, view_sum_ns(level, i));
    }
}

/* Add up the spans of CLASS_OF, shorter than a step, where sums are not known: stretches of known sums are jumped over. */
static void take_short(struct row_picture *picture, unsigned class_of)
{
    const struct view_spans *spans = picture->spans;
    const struct view_row *row = picture->row;
    const struct steps *steps = picture->steps;
    int64_t longest_ns = INT64_C(2) << class_of;
    size_t end = row->first_of_class[class_of + 1];
    size_t i = view_row_search(spans, row, class_of, steps->from_ns - longest_ns);
    while (i < end) {
        struct view_time time = view_time_in(spans, row, view_id_at(row, i));
        if (time.start_ns >= steps->to_ns)
            return;
        int64_t step = (time.start_ns < steps->from_ns ? 0 : time.start_ns - steps->from_ns) >> steps->k,
                known = step;
        while (known < steps->count && is_many(picture->spans, known))
            known++;
        int64_t until_ns = steps->from_ns + (known << steps->k) - longest_ns;
        if (known == steps->count)
            return;
        if (known > step && time.start_ns < until_ns) {
            size_t next = PLACE_NEAR(p, i + 1, end, view_start_in(spans, row, view_id_at(row, p)) < until_ns);
            i = next;
            continue;
        }
        spread_span(picture, time, row->kind[i], false);
        i++;
    }
}

/* The call that launched the span ID: of work of devices, and of what is no event. */
static event_id call_of(const struct view_spans *spans, uint32_t id)
{
    const struct trace *trace = spans->trace;
    const struct view_piece *piece = view_piece_of(spans, id);
    if (piece)
        return piece->event;
    if (id >= trace->event_count)
        return attribution_call(attribution_of(trace), view_after_gap(spans, id));
    return event_is_launched(trace->kind[id]) ? attribution_call(attribution_of(trace), id) : EVENT_NONE;
}

static void add_reference(struct buffer *out, uint32_t id, bool known)
{
    buffer_putc(out, ',');
    view_add_number(out, known ? (int64_t)id : -1);
}

/* Start, length, kind, name, event and call. Calls are looked up only of spans that arrows can be seen at. */
static void write_span(struct row_picture *picture, size_t i, struct view_time time, struct buffer *out)
{
    struct view_spans *spans = picture->spans;
    uint32_t id = view_id_at(picture->row, i);
    bool is_event = id < spans->trace->event_count;
    bool has_arrow = time.end_ns - time.start_ns >= INT64_C(4) << picture->steps->k;
    event_id call = has_arrow || !is_event ? call_of(spans, id) : EVENT_NONE;
    view_add_number(out, time.start_ns);
    buffer_putc(out, ',');
    view_add_number(out, time.end_ns - time.start_ns);
    buffer_putc(out, ',');
    view_add_number(out, picture->row->kind[i]);
    event_id named = is_event ? id : view_piece_of(spans, id) ? call : view_after_gap(spans, id);
    if (named != EVENT_NONE)
        use_name(&spans->drawing, spans->trace->name[named]);
    add_reference(out, named == EVENT_NONE ? 0 : spans->trace->name[named], named != EVENT_NONE);
    add_reference(out, id, is_event);
    add_reference(out, call, call != EVENT_NONE);
}

/* Where one is in a class of a row. */
struct cursor {
    size_t at, end;
    struct view_time time; /* of the span there */
};

/* Move CURSOR to the next span that reaches into the stretch; false: there is none. */
static bool settle(const struct row_picture *picture, struct cursor *cursor)
{
    const struct steps *steps = picture->steps;
    for (; cursor->at < cursor->end; cursor->at++) {
        cursor->time = view_time_in(picture->spans, picture->row, view_id_at(picture->row, cursor->at));
        if (cursor->time.start_ns >= steps->to_ns)
            return false;
        if (cursor->time.end_ns > steps->from_ns || cursor->time.start_ns == steps->from_ns)
            return true;
    }
    return false;
}

/* Write the spans that are as long as a step or longer, by time; those beyond what may be written are added up. */
static void write_long(struct row_picture *picture, struct buffer *out)
{
    const struct view_row *row = picture->row;
    const struct steps *steps = picture->steps;
    struct cursor cursors[VIEW_CLASSES];
    size_t count = 0, written = 0;
    for (unsigned c = steps->k; c < VIEW_CLASSES; c++) {
        int64_t reach_ns = c >= VIEW_TOP ? INT64_MAX : INT64_C(2) << c;
        cursors[count].end = row->first_of_class[c + 1];
        if (row->first_of_class[c] == cursors[count].end)
            continue;
        cursors[count].at = view_row_search(picture->spans, row, c, steps->from_ns - reach_ns);
        count += settle(picture, &cursors[count]);
    }
    while (count) {
        size_t first = 0;
        for (size_t i = 1; i < count; i++)
            if (cursors[i].time.start_ns < cursors[first].time.start_ns)
                first = i;
        struct cursor *cursor = &cursors[first];
        if (written == steps->most) {
            spread_span(picture, cursor->time, row->kind[cursor->at], true);
        } else {
            if (written++)
                buffer_putc(out, ',');
            write_span(picture, cursor->at, cursor->time, out);
        }
        cursor->at++;
        if (!settle(picture, cursor))
            *cursor = cursors[--count];
    }
}

static void write_sums(const struct row_picture *picture, struct buffer *out)
{
    const struct steps *steps = picture->steps;
    bool first = true;
    for (uint64_t left = picture->row->kinds; left && picture->any; left &= left - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(left);
        const int64_t *ns = picture->spans->drawing.sums.at + picture->place[kind] * steps->count;
        for (int64_t step = 0; step < steps->count; step++) {
            if (ns[step] == 0)
                continue;
            if (!first)
                buffer_putc(out, ',');
            first = false;
            view_add_number(out, step);
            buffer_putc(out, ',');
            view_add_number(out, kind);
            buffer_putc(out, ',');
            view_add_number(out, ns[step]);
        }
    }
}

/* Room for the sums of a row, all 0. */
static void clear_sums(struct row_picture *picture)
{
    struct view_drawing *drawing = &picture->spans->drawing;
    size_t steps = (size_t)picture->steps->count, kinds = 0;
    for (uint64_t left = picture->row->kinds; left; left &= left - 1)
        picture->place[__builtin_ctzll(left)] = (int8_t)kinds++;
    drawing->sums.count = drawing->many.count = 0;
    VEC_RESERVE(&drawing->sums, kinds * steps + 1);
    VEC_RESERVE(&drawing->many, steps / 64 + 1);
    memset(drawing->sums.at, 0, kinds * steps * sizeof *drawing->sums.at);
    memset(drawing->many.at, 0, (steps / 64 + 1) * sizeof *drawing->many.at);
}

static void write_row(struct view_spans *spans, const struct view_row *row, const struct steps *steps,
                      struct buffer *out)
{
    struct row_picture picture = { .spans = spans, .row = row, .steps = steps };
    clear_sums(&picture);
    if (spans->outline)
        take_outline(&picture, spans->outline);
    else
        take_known(&picture);
    for (unsigned c = 0; c < steps->k && !row->level[steps->k].is_whole; c++)
        if (row->first_of_class[c] < row->first_of_class[c + 1])
            take_short(&picture, c);
    buffer_puts(out, "{\"lane\":");
    view_add_number(out, row->lane);
    buffer_puts(out, ",\"depth\":");
    view_add_number(out, row->depth);
    buffer_puts(out, ",\"spans\":[");
    write_long(&picture, out);
    buffer_puts(out, "],\"sums\":[");
    write_sums(&picture, out);
    buffer_puts(out, "]}");
}

/* Memory, counters and queues, by their changes: start and value. */
static void write_series(struct view_spans *spans, const struct steps *steps, int64_t to_ns,
                         struct buffer *out)
{
    enum { MOST_CHANGES = 4096 };
    struct timeline_changes *changes = &spans->drawing.changes;
    int64_t origin_ns = spans->timeline->start_ns;
    for (size_t i = 0; i < spans->timeline->series.count; i++) {
        changes->count = 0;
        timeline_read_series(spans->timeline, i, origin_ns + steps->from_ns, origin_ns + to_ns, MOST_CHANGES,
                             changes);
        buffer_puts(out, i ? ",[" : "[");
        for (size_t k = 0; k < changes->count; k++) {
            if (k)
                buffer_putc(out, ',');
            view_add_number(out, changes->at[k].start_ns - origin_ns);
            buffer_putc(out, ',');
            view_add_number(out, changes->at[k].value);
        }
        buffer_putc(out, ']');
    }
}

void view_tile(struct view_spans *spans, const struct view_stretch *stretch, struct buffer *out)
{
    struct view_drawing *drawing = &spans->drawing;
    struct steps steps = cut_stretch(stretch, spans->outline);
    bool first = true;
    drawing->picture++;
    drawing->names.count = 0;
    buffer_puts(out, "{\"schema\":\"tpa.view.tile/1\",\"complete\":");
    buffer_puts(out, spans->outline ? "false,\"from_ns\":" : "true,\"from_ns\":");
    view_add_number(out, steps.from_ns);
    buffer_puts(out, ",\"to_ns\":");
    int64_t to_ns = steps.to_ns < spans->length_ns ? steps.to_ns : spans->length_ns;
    view_add_number(out, to_ns);
    buffer_puts(out, ",\"step_ns\":");
    view_add_number(out, INT64_C(1) << steps.k);
    buffer_puts(out, ",\"rows\":[");
    FOR_EACH(row, &spans->rows) {
        if (stretch->lanes && !(stretch->lanes[row->lane / 64] >> row->lane % 64 & 1))
            continue;
        if (!first)
            buffer_putc(out, ',');
        first = false;
        write_row(spans, row, &steps, out);
    }
    buffer_puts(out, "],\"series\":[");
    write_series(spans, &steps, to_ns, out);
    buffer_puts(out, "],\"names\":{");
    for (size_t i = 0; i < drawing->names.count; i++) {
        buffer_puts(out, i ? ",\"" : "\"");
        view_add_number(out, drawing->names.at[i]);
        buffer_puts(out, "\":[");
        struct view_name name = view_name_of(spans, drawing->names.at[i]);
        buffer_puts(out, name.full);
        buffer_putc(out, ',');
        buffer_puts(out, name.label);
        buffer_putc(out, ']');
    }
    buffer_puts(out, "}}\n");
}
