/* answers.c - see answers.h. */
#include "view/answers.h"

#include "base/regex.h"
#include "derive/gpu_events.h"
#include "report/json_writer.h"
#include "trace/arg_rows.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <time.h>

/* SPANS is OUTLINE until all are in order. */
struct view_answers {
    const struct trace *trace;
    const struct view_sides *sides;
    const struct view_commands *commands;
    struct view_spans *outline;
    _Atomic(struct view_spans *) spans;
    pthread_mutex_t drawing; /* also of what the outline has */
    pthread_cond_t changed;
    bool ordered, has_thread;
    pthread_t thread;
};

enum {
    USUAL_PIXELS = 1000,
    USUAL_PLACES = 100,
    MOST_PLACES = 1000,
    USUAL_ROWS = 1000,
    MOST_ROWS = 10000,
    MOST_LAUNCHED = 200,
};

/* ---- the spans ---- */

static void *put_in_order(void *context)
{
    struct view_answers *answers = context;
    bool more = true;
    while (more) {
        pthread_mutex_lock(&answers->drawing);
        more = view_outline_more(answers->outline);
        pthread_mutex_unlock(&answers->drawing);
    }
    struct view_spans *spans = view_spans_open(answers->trace, answers->sides);
    pthread_mutex_lock(&answers->drawing);
    if (spans) {
        answers->spans = spans;
        view_outline_end(answers->outline);
    }
    answers->ordered = true;
    pthread_cond_broadcast(&answers->changed);
    pthread_mutex_unlock(&answers->drawing);
    mem_return_free_memory();
    return NULL;
}

struct view_answers *view_answers_open(const struct trace *trace, const struct view_sides *sides,
                                       const struct view_commands *commands)
{
    struct view_spans *outline = view_outline_open(trace, sides);
    if (!outline)
        return NULL;
    struct view_answers *answers = mem_zalloc(1, sizeof *answers);
    answers->trace = trace;
    answers->sides = sides;
    answers->commands = commands;
    answers->outline = outline;
    answers->spans = outline;
    pthread_mutex_init(&answers->drawing, NULL);
    pthread_cond_init(&answers->changed, NULL);
    answers->has_thread = pthread_create(&answers->thread, NULL, put_in_order, answers) == 0;
    if (!answers->has_thread)
        put_in_order(answers);
    return answers;
}

void view_answers_end(struct view_answers *answers)
{
    if (!answers)
        return;
    if (answers->has_thread)
        pthread_join(answers->thread, NULL);
    if (answers->spans != answers->outline)
        view_spans_free(answers->spans);
    view_spans_free(answers->outline);
    pthread_cond_destroy(&answers->changed);
    pthread_mutex_destroy(&answers->drawing);
    free(answers);
}

bool view_answers_wait(struct view_answers *answers, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000 + (until.tv_nsec / 1000000 + ms % 1000) / 1000;
    until.tv_nsec = (until.tv_nsec + ms % 1000 * 1000000) % 1000000000;
    pthread_mutex_lock(&answers->drawing);
    while (!answers->ordered && pthread_cond_timedwait(&answers->changed, &answers->drawing, &until) == 0)
        ;
    bool ordered = answers->ordered;
    pthread_mutex_unlock(&answers->drawing);
    return ordered;
}

const struct timeline *view_answers_timeline(struct view_answers *answers)
{
    return answers->outline->timeline;
}

/* Where events lie, and of several files how they lie to each other, is known once the spans are in order: wait for them. */
static void wait_for_order(struct view_answers *answers, enum view_question question)
{
    if (question != VIEW_FIND && question != VIEW_EVENT && question != VIEW_FINDINGS &&
        (question != VIEW_SUM || answers->trace->file_count == 1))
        return;
    pthread_mutex_lock(&answers->drawing);
    while (!answers->ordered)
        pthread_cond_wait(&answers->changed, &answers->drawing);
    pthread_mutex_unlock(&answers->drawing);
}

bool view_is_slow(enum view_question question)
{
    return question == VIEW_SUM || question == VIEW_FIND || question == VIEW_EVENT || question == VIEW_SQL ||
           question == VIEW_FINDINGS;
}

void view_add_error(struct buffer *out, const char *why, const char *hint)
{
    struct json_writer json = { .text = out, .compact = true };
    json_begin_object(&json);
    json_add_text(&json, "schema", "tpa.error/1");
    json_key(&json, "error");
    json_begin_object(&json);
    json_add_text(&json, "message", why);
    json_add_text(&json, "hint", hint && *hint ? hint : NULL);
    json_end_object(&json);
    json_end_object(&json);
    buffer_putc(out, '\n');
}

static unsigned wrong(struct buffer *out, const char *why)
{
    view_add_error(out, why, NULL);
    return 400;
}

/* ---- info ---- */

static void emit_files(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "files");
    json_begin_array(json);
    FOR_EACH(file, &timeline->files) {
        json_begin_object(json);
        json_add_text(json, "name", file->name);
        json_add_integer(json, "rank", file->rank);
        json_add_integer(json, "origin_ns", file->origin_ns - timeline->start_ns);
        json_end_object(json);
    }
    json_end_array(json);
}

static void emit_lanes(struct json_writer *json, const struct view_spans *spans)
{
    static const char *const places[] = {
        [TIMELINE_DEVICE] = "device", [TIMELINE_MARKS] = "marks", [TIMELINE_HOST] = "host"
    };
    json_key(json, "lanes");
    json_begin_array(json);
    for (size_t lane = 0, row = 0; lane < spans->timeline->lanes.count; lane++) {
        const struct timeline_lane *of = &spans->timeline->lanes.at[lane];
        int64_t depth = 0, count = 0;
        for (; row < spans->rows.count && spans->rows.at[row].lane == lane; row++) {
            depth = spans->rows.at[row].depth + 1;
            count += (int64_t)spans->rows.at[row].first_of_class[VIEW_CLASSES];
        }
        json_begin_object(json);
        json_add_integer(json, "lane", (int64_t)lane);
        json_add_text(json, "title", of->title);
        json_add_text(json, "group", of->group);
        json_add_text(json, "place", places[of->place]);
        json_add_integer(json, "depth", depth);
        json_add_integer(json, "spans", count);
        json_end_object(json);
    }
    json_end_array(json);
}

static void emit_kinds(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "kinds");
    json_begin_array(json);
    for (size_t i = 0; i < timeline->kinds.count; i++) {
        json_begin_object(json);
        json_add_integer(json, "kind", (int64_t)i);
        json_add_text(json, "title", timeline->kinds.at[i].title);
        json_add_text(json, "group", timeline->kinds.at[i].group);
        json_end_object(json);
    }
    json_end_array(json);
}

static void emit_steps(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "steps");
    json_begin_array(json);
    FOR_EACH(step, &timeline->steps) {
        json_begin_object(json);
        json_add_integer(json, "number", step->number);
        json_add_integer(json, "file", step->file);
        json_add_integer(json, "start_ns", step->start_ns - timeline->start_ns);
        json_add_integer(json, "dur_ns", step->dur_ns);
        json_add_integer(json, "host_start_ns", step->host_ns - timeline->start_ns);
        json_add_integer(json, "host_end_ns", step->host_end_ns - timeline->start_ns);
        json_end_object(json);
    }
    json_end_array(json);
}

/* Append what SPANS are. DRAWING is held. */
static void add_info(const struct view_answers *answers, const struct view_spans *spans, struct buffer *out)
{
    struct json_writer json = { .text = out, .compact = true };
    json_begin_object(&json);
    json_add_text(&json, "schema", "tpa.view.info/1");
    json_add_integer(&json, "length_ns", spans->length_ns);
    json_add_integer(&json, "events", (int64_t)answers->trace->event_count);
    json_add_bool(&json, "complete", !spans->outline);
    json_add_integer(&json, "events_in_sight",
                     (int64_t)(spans->outline ? spans->outline->next : answers->trace->event_count));
    json_add_bool(&json, "critical_path", spans->has_path);
    emit_files(&json, spans->timeline);
    emit_lanes(&json, spans);
    emit_kinds(&json, spans->timeline);
    emit_steps(&json, spans->timeline);
    buffer_putc(out, ',');
    answers->commands->describe(answers->commands->context, out);
    buffer_puts(out, "}\n");
}

static unsigned answer_info(struct view_answers *answers, struct buffer *out)
{
    pthread_mutex_lock(&answers->drawing);
    add_info(answers, answers->spans, out);
    pthread_mutex_unlock(&answers->drawing);
    return 200;
}

/* ---- stretches ---- */

/* The stretch of REQUEST within the recording; what is not given is its beginning and its end. False: there is none. */
static bool read_stretch(const struct view_answers *answers, const struct view_request *request,
                         int64_t *from_ns, int64_t *to_ns)
{
    int64_t length_ns = ((const struct view_spans *)answers->spans)->length_ns;
    *from_ns = request->from_ns == VIEW_NOT_GIVEN ? 0 : request->from_ns;
    *to_ns = request->to_ns == VIEW_NOT_GIVEN || request->to_ns > length_ns ? length_ns : request->to_ns;
    return *from_ns < *to_ns;
}

static const char no_stretch[] =
    "the stretch is empty: from is to be less than to, and less than the length of the recording";

static unsigned answer_tile(struct view_answers *answers, const struct view_request *request,
                            struct buffer *out)
{
    struct view_stretch stretch = { .pixels =
                                        request->pixels == VIEW_NOT_GIVEN ? USUAL_PIXELS : request->pixels };
    uint64_t *lanes = NULL;
    pthread_mutex_lock(&answers->drawing);
    struct view_spans *spans = answers->spans;
    bool good = read_stretch(answers, request, &stretch.from_ns, &stretch.to_ns);
    const char *why = no_stretch;
    if (good && (stretch.pixels < 1 || stretch.pixels > VIEW_MOST_PIXELS)) {
        good = false;
        why = "px is to be 1 to 16384";
    }
    if (good && request->lanes) {
        stretch.lanes = lanes = view_read_lanes(request->lanes, spans->timeline->lanes.count);
        good = lanes != NULL;
        why = "lanes is to be a list of numbers such as 0,2,7";
    }
    if (good)
        view_tile(spans, &stretch, out);
    pthread_mutex_unlock(&answers->drawing);
    free(lanes);
    return good ? 200 : wrong(out, why);
}

static unsigned fail_with(const struct tpa_error *err, struct buffer *out)
{
    buffer_clear(out);
    view_add_error(out, err->message, err->hint);
    return 400;
}

static unsigned answer_sum(const struct view_answers *answers, const struct view_request *request,
                           struct buffer *out)
{
    int64_t from_ns, to_ns;
    struct tpa_error err = { 0 };
    if (!read_stretch(answers, request, &from_ns, &to_ns))
        return wrong(out, no_stretch);
    buffer_printf(out, "{\"schema\":\"tpa.view.sum/1\",\"from_ns\":%" PRId64 ",\"to_ns\":%" PRId64 ",",
                  from_ns, to_ns);
    if (!answers->commands->sum(answers->commands->context, answers->trace, from_ns, to_ns, out, &err))
        return fail_with(&err, out);
    buffer_puts(out, "}\n");
    return 200;
}

/* ---- events ---- */

static int64_t start_of(const struct view_answers *answers, event_id e)
{
    return view_span_time(answers->spans, e).start_ns;
}

/* {"id":7,"name":...,"start_ns":...,"dur_ns":...,"lane":...,"depth":...,"kind":...; the object stays open. */
static void begin_event(struct view_answers *answers, event_id e, struct buffer *out)
{
    size_t place = 0;
    const struct view_row *row = view_row_of(answers->spans, e, &place);
    struct view_time time = view_span_time(answers->spans, e);
    buffer_puts(out, "{\"id\":");
    view_add_number(out, e);
    pthread_mutex_lock(&answers->drawing);
    struct view_name name = view_name_of(answers->spans, answers->trace->name[e]);
    pthread_mutex_unlock(&answers->drawing);
    buffer_printf(out, ",\"name\":%s,\"short\":%s", name.full, name.label);
    buffer_printf(out, ",\"type\":\"%s\",\"start_ns\":%" PRId64 ",\"dur_ns\":%" PRId64,
                  event_kind_name(answers->trace->kind[e]), time.start_ns, time.end_ns - time.start_ns);
    if (row)
        buffer_printf(out, ",\"lane\":%u,\"depth\":%u,\"kind\":%u", row->lane, row->depth, row->kind[place]);
}

/* ---- find ---- */

/* The first places after a moment, or the last before one, the best first. */
struct places {
    event_id *at;
    size_t count, most;
    bool backwards;
};

static bool is_better(const struct view_answers *answers, const struct places *places, event_id a, event_id b)
{
    int64_t a_ns = start_of(answers, a), b_ns = start_of(answers, b);
    if (a_ns != b_ns)
        return places->backwards ? a_ns > b_ns : a_ns < b_ns;
    return places->backwards ? a > b : a < b;
}

static void add_place(const struct view_answers *answers, struct places *places, event_id e)
{
    if (places->count == places->most && !is_better(answers, places, e, places->at[places->count - 1]))
        return;
    size_t i = places->count < places->most ? places->count++ : places->count - 1;
    for (; i > 0 && is_better(answers, places, e, places->at[i - 1]); i--)
        places->at[i] = places->at[i - 1];
    places->at[i] = e;
}

/* Does E, which starts at START_NS, come before (negative) or after the moment NS, and of what starts then, the event ID, if given? */
static int compare_place(int64_t start_ns, event_id e, int64_t ns, int64_t id)
{
    if (start_ns != ns)
        return start_ns < ns ? -1 : 1;
    return id == VIEW_NOT_GIVEN || id == (int64_t)e ? 0 : (int64_t)e < id ? -1 : 1;
}

static bool match_names(const struct trace *trace, const char *pattern, bool *fits, struct tpa_error *err)
{
    struct regex *regex = regex_open(pattern, err);
    bool good = regex != NULL;
    for (name_id id = 0; good && id < names_count(trace->names); id++)
        good =
            regex_match(regex, names_text(trace->names, id), names_length(trace->names, id), &fits[id], err);
    regex_free(regex);
    return good;
}

static unsigned answer_find(struct view_answers *answers, const struct view_request *request,
                            struct buffer *out)
{
    const struct trace *trace = answers->trace;
    int64_t most = request->most == VIEW_NOT_GIVEN ? USUAL_PLACES : request->most, count = 0, before = 0;
    struct places places = { .backwards = request->before_ns != VIEW_NOT_GIVEN };
    struct tpa_error err = { 0 };
    if (places.backwards && request->after_ns != VIEW_NOT_GIVEN)
        return wrong(out, "after and before exclude each other");
    places.most = (size_t)(most < 1 ? 1 : most > MOST_PLACES ? MOST_PLACES : most);
    bool *fits = mem_zalloc(names_count(trace->names) + 1, sizeof *fits);
    if (!match_names(trace, request->pattern, fits, &err)) {
        free(fits);
        return fail_with(&err, out);
    }
    places.at = mem_alloc(places.most * sizeof *places.at);
    int64_t from_ns = places.backwards ? request->before_ns : request->after_ns;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!fits[trace->name[e]])
            continue;
        count++;
        int sign = compare_place(start_of(answers, e), e, from_ns, request->event);
        if (places.backwards ? sign < 0 : sign > 0)
            add_place(answers, &places, e);
        before += places.backwards ? sign < 0 : sign <= 0;
    }
    free(fits);
    buffer_printf(out,
                  "{\"schema\":\"tpa.view.find/1\",\"count\":%" PRId64 ",\"before\":%" PRId64 ",\"places\":[",
                  count, before);
    for (size_t i = 0; i < places.count; i++) {
        if (i)
            buffer_putc(out, ',');
        begin_event(answers, places.at[i], out);
        buffer_putc(out, '}');
    }
    buffer_puts(out, "]}\n");
    free(places.at);
    return 200;
}

/* ---- event ---- */

static void add_args(const struct view_answers *answers, event_id e, struct buffer *out)
{
    const struct trace *trace = answers->trace;
    struct json_writer json = { .text = out, .compact = true };
    json_begin_object(&json);
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        int64_t value;
        if (!trace_arg(trace, (enum trace_arg)arg, e, &value))
            continue;
        const char *keys = arg_rows[arg].keys;
        char key[64] = { 0 };
        size_t len = strcspn(keys, "|");
        memcpy(key, keys, len < sizeof key ? len : sizeof key - 1);
        json_key(&json, key);
        switch (arg_rows[arg].form) {
        case FORM_INT: json_emit_integer(&json, value); break;
        case FORM_BOOL: json_emit_bool(&json, value != 0); break;
        case FORM_DECIMAL: json_emit_double(&json, trace_arg_decimal(trace, (enum trace_arg)arg, e)); break;
        case FORM_TEXT:
        case FORM_JSON: json_emit_text(&json, trace_arg_text(trace, (enum trace_arg)arg, e)); break;
        }
    }
    json_end_object(&json);
}

static void add_other(struct view_answers *answers, const char *key, event_id e, struct buffer *out)
{
    buffer_printf(out, ",\"%s\":", key);
    if (e == EVENT_NONE) {
        buffer_puts(out, "null");
        return;
    }
    begin_event(answers, e, out);
    buffer_putc(out, '}');
}

/* What CALL, or a call within the operator, launched: the first of them. */
static void add_launched(struct view_answers *answers, event_id by, struct buffer *out)
{
    const struct gpu_events *gpu = gpu_events_of(answers->trace);
    size_t count = 0;
    buffer_puts(out, ",\"launched\":[");
    for (size_t i = 0; i < gpu->count && count < MOST_LAUNCHED; i++) {
        if (gpu->call[i] != by && gpu->op[i] != by)
            continue;
        if (count++)
            buffer_putc(out, ',');
        begin_event(answers, gpu->event[i], out);
        buffer_putc(out, '}');
    }
    buffer_putc(out, ']');
}

static unsigned answer_event(struct view_answers *answers, const struct view_request *request,
                             struct buffer *out)
{
    const struct trace *trace = answers->trace;
    if (request->event >= (int64_t)trace->event_count)
        return wrong(out, "there is no event of this number");
    event_id e = (event_id)request->event;
    const struct track *track = &trace->tracks[trace->track[e]];
    bool launched = event_is_launched(trace->kind[e]);
    const struct attribution *launches = attribution_of(trace);
    begin_event(answers, e, out);
    buffer_puts(out, ",\"schema\":\"tpa.view.event/1\",\"category\":");
    struct json_writer category = { .text = out, .compact = true };
    json_emit_text(&category, names_text(trace->texts, trace->categories[trace->category[e]].text));
    buffer_printf(out, ",\"file\":%u,\"args\":", track->file);
    add_args(answers, e, out);
    add_other(answers, "call", launched ? attribution_call(launches, e) : EVENT_NONE, out);
    add_other(answers, "operator",
              launched || event_is_call(trace->kind[e]) ? attribution_operator(launches, e) : EVENT_NONE,
              out);
    if (event_on_device(trace->kind[e]))
        buffer_puts(out, ",\"launched\":[]");
    else
        add_launched(answers, e, out);
    buffer_puts(out, "}\n");
    return 200;
}

static unsigned answer_sql(const struct view_answers *answers, const struct view_request *request,
                           struct buffer *out)
{
    struct tpa_error err = { 0 };
    int64_t most = request->most == VIEW_NOT_GIVEN ? USUAL_ROWS : request->most;
    if (most < 1 || most > MOST_ROWS)
        return wrong(out, "n is to be 1 to 10000");
    return answers->commands->sql(answers->commands->context, answers->trace, request->query, (size_t)most,
                                  out, &err)
               ? 200
               : fail_with(&err, out);
}

static unsigned answer_findings(const struct view_answers *answers, const struct view_request *request,
                                struct buffer *out)
{
    struct tpa_error err = { 0 };
    int64_t from_ns = VIEW_NOT_GIVEN, to_ns = VIEW_NOT_GIVEN;
    bool has_stretch = request->from_ns != VIEW_NOT_GIVEN || request->to_ns != VIEW_NOT_GIVEN;
    if (has_stretch && !read_stretch(answers, request, &from_ns, &to_ns))
        return wrong(out, no_stretch);
    buffer_puts(out, "{\"schema\":\"tpa.view.findings/1\",\"findings\":");
    if (!answers->commands->findings(answers->commands->context, answers->spans, from_ns, to_ns, out, &err))
        return fail_with(&err, out);
    buffer_puts(out, "}\n");
    return 200;
}

/* The page, with what it would ask for first: what there is, and a picture of all of it, fine enough for most screens. */
static unsigned answer_page(struct view_answers *answers, struct buffer *out)
{
    enum { PIXELS = 1800, MOST_ROWS_IN_PAGE = 200 };
    struct tpa_error err = { 0 };
    SCOPED struct buffer first = { 0 };
    pthread_mutex_lock(&answers->drawing);
    struct view_spans *spans = answers->spans;
    buffer_puts(&first, "{\"info\":");
    add_info(answers, spans, &first);
    buffer_puts(&first, ",\"tile\":");
    if (spans->rows.count <= MOST_ROWS_IN_PAGE)
        view_tile(spans, &(struct view_stretch){ .to_ns = spans->length_ns, .pixels = PIXELS }, &first);
    else
        buffer_puts(&first, "null");
    pthread_mutex_unlock(&answers->drawing);
    buffer_putc(&first, '}');
    bool good = answers->commands->page(answers->commands->context, spans, &first, out, &err);
    return good ? 200 : fail_with(&err, out);
}

unsigned view_answer(struct view_answers *answers, const struct view_request *request, struct buffer *out)
{
    wait_for_order(answers, request->question);
    switch (request->question) {
    case VIEW_PAGE: return answer_page(answers, out);
    case VIEW_INFO: return answer_info(answers, out);
    case VIEW_TILE: return answer_tile(answers, request, out);
    case VIEW_SUM: return answer_sum(answers, request, out);
    case VIEW_FIND: return answer_find(answers, request, out);
    case VIEW_EVENT: return answer_event(answers, request, out);
    case VIEW_SQL: return answer_sql(answers, request, out);
    case VIEW_FINDINGS: return answer_findings(answers, request, out);
    case VIEW_STOP:
        answers->commands->stop(answers->commands->context);
        buffer_puts(out, "{\"schema\":\"tpa.view.stop/1\"}\n");
        return 200;
    case VIEW_QUESTIONS: break;
    }
    return wrong(out, "there is nothing of this name");
}
