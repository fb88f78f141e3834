#include "whatif/path_tables.h"

#include "analyze/account.h"
#include "base/demangle.h"
#include "derive/features.h"
#include "whatif/path_places.h"
#include "base/sum.h"

#include <inttypes.h>
#include <math.h>

/* ---- sensitivity ---- */

/* How much shorter a window gets when something on its critical path does: at first by all that is taken off the path. Then
 * something else is the last to be ready, and what is taken off further gains less, or nothing. */

struct sensitivity {
    bool known; /* false of parts that are waits: they have no time of their own that could be less */
    int64_t gone_saves_ns; /* how much shorter the window is when the item takes no time in it */
    double
        leaves_share; /* how much less it may take, as a share of its time, until less gains less; 1: to the end */
};

struct probe {
    const struct replay_graph *graph;
    const struct path_window *window;
    const struct path_item *item;
    struct changes *changes;
    moment_id start, end; /* start MOMENT_NONE: it does not move */
};

static bool path_tables_is_of_host(enum path_part part)
{
    return part == PART_OPERATOR || part == PART_CALL;
}

static bool is_of_device(enum path_part part)
{
    return part == PART_KERNEL || part == PART_COPY || part == PART_MEMSET || part == PART_COMMUNICATION;
}

static bool lies_within(const struct probe *probe, int64_t start_ns, int64_t end_ns)
{
    return end_ns > probe->window->start_ns && start_ns < probe->window->end_ns;
}

/* Is the piece that leads to M of the item? */
static bool piece_is_of(const struct probe *probe, moment_id m)
{
    const struct trace *trace = probe->graph->trace;
    event_id span = probe->graph->inner[m];
    return span != EVENT_NONE && trace->name[span] == probe->item->name &&
           event_is_call((enum event_kind)trace->kind[span]) == (probe->item->part == PART_CALL) &&
           lies_within(probe, replay_moment_ns(probe->graph, m - 1), replay_moment_ns(probe->graph, m));
}

static bool work_is_of(const struct probe *probe, size_t i)
{
    const struct replay_graph *graph = probe->graph;
    return graph->trace->name[graph->gpu->event[i]] == probe->item->name &&
           path_part_of_work(graph, i) == probe->item->part &&
           lies_within(probe, replay_moment_ns(graph, replay_work_start(graph, i)),
                       replay_moment_ns(graph, replay_work_end(graph, i)));
}

/* Did the thread of M wait for a collective of the item? */
static bool wait_is_of(const struct probe *probe, moment_id m)
{
    const struct replay_graph *graph = probe->graph;
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t k = range.first; k < range.end; k++) {
        const struct replay_edge edge = replay_edge_at(graph, k);
        if (edge.relation == RELATION_COLLECTIVE && edge.binds && edge.from != m &&
            graph->trace->name[replay_collective_of(graph, edge.from)] == probe->item->name)
            return lies_within(probe, replay_moment_ns(graph, edge.from), replay_moment_ns(graph, m));
    }
    return false;
}

/* How much shorter the window is when the item takes FACTOR of its time. */
static int64_t gain_at(const struct probe *probe, double factor)
{
    const struct replay_graph *graph = probe->graph;
    if (path_tables_is_of_host(probe->item->part)) {
        for (moment_id m = 1; m < graph->host_count; m++)
            if (piece_is_of(probe, m))
                factors_set(&probe->changes->piece, m, (float)factor);
    } else {
        for (moment_id m = 0; m < graph->host_count && probe->item->part == PART_COMMUNICATION; m++)
            if (wait_is_of(probe, m))
                factors_set(&probe->changes->piece, m, (float)factor);
        for (size_t i = 0; i < graph->gpu->count; i++)
            if (work_is_of(probe, i))
                factors_set(&probe->changes->work, i, (float)factor);
    }
    struct replay *replay = replay_open(graph, probe->changes);
    int64_t gain_ns = replay_moment_ns(graph, probe->end) - replay_time_of(replay, probe->end);
    if (probe->start != MOMENT_NONE)
        gain_ns -= replay_moment_ns(graph, probe->start) - replay_time_of(replay, probe->start);
    replay_free(replay);
    return gain_ns;
}

/* Does taking SHARE off the item still gain that share of its time on the path? One part in a hundred may be missing. */
static bool gains_all(const struct probe *probe, double share)
{
    return (double)gain_at(probe, 1 - share) >= 0.99 * share * (double)probe->item->time_ns - 1;
}

/* Of what ITEM says (part and name), within WINDOW, on its path or not. Some ten replays. */
static struct sensitivity sensitivity_of(const struct replay_graph *graph, const struct path_window *window,
                                         const struct path_item *item)
{
    enum { HALVINGS = 7 };
    struct sensitivity sensitivity = { .known =
                                           path_tables_is_of_host(item->part) || is_of_device(item->part) };
    struct probe probe = { .graph = graph, .window = window, .item = item, .start = MOMENT_NONE };
    probe.end = path_last_moment(graph, window);
    if (!sensitivity.known || probe.end == MOMENT_NONE)
        return (struct sensitivity){ .known = false };
    if (window->thread != UINT32_MAX)
        probe.start = replay_moment_from(graph, window->thread, window->start_ns);
    probe.changes = changes_open(graph);
    sensitivity.gone_saves_ns = gain_at(&probe, 0);
    double low = 0, high = 1;
    if (gains_all(&probe, 1))
        low = 1;
    for (int i = 0; i < HALVINGS && low < 1; i++) {
        double middle = (low + high) / 2;
        if (gains_all(&probe, middle))
            low = middle;
        else
            high = middle;
    }
    sensitivity.leaves_share = low;
    arena_free(probe.changes);
    return sensitivity;
}

/* ---- tables ---- */

/* What the rows of all tables begin with: which window they are of. */
struct window_key {
    struct text window; /* "step 3" */
    int64_t step;       /* its number; missing when it is not a step */
    int64_t rank;       /* of the file; missing when there is one file */
};

struct part_row {
    struct window_key key;
    struct text part, help;
    enum path_part which;
    int64_t time_ns, segments;
    double share;
};

struct item_row {
    struct window_key key;
    struct text part, name;
    int64_t time_ns, count;
    double share;
    int64_t gone_saves_ns; /* missing where it was not requested */
    double leaves_share;
};

struct place_row {
    struct window_key key;
    struct text name;
    int64_t time_ns, self_ns, count;
    double share;
};

struct segment_row {
    struct window_key key;
    struct text part, name, place;
    int64_t start_ns, time_ns, rank;
};

/* clang-format off */
#define KEY_COLUMNS(row) \
    COLUMN(row, key.window, "window", "Of", TABLE_TEXT, "the step or range whose critical path it is", .flags = TABLE_IF_ANY), \
    COLUMN(row, key.step, "step", "Step", TABLE_COUNT, "number of the step (ProfilerStep#N)", .flags = TABLE_IF_ANY | TABLE_OPTIONAL), \
    COLUMN(row, key.rank, "rank", "Rank", TABLE_COUNT, "rank of the file that the path begins in", .flags = TABLE_IF_ANY)

static const struct table_column part_columns[] = {
    KEY_COLUMNS(struct part_row),
    COLUMN(struct part_row, part, "part", "Part", TABLE_NAME, "what the path spent time on"),
    COLUMN(struct part_row, time_ns, "time", "Time", TABLE_NS, "on the path; the parts add up to its length exactly"),
    COLUMN(struct part_row, share, "share", "Share", TABLE_SHARE, "of the length"),
    COLUMN(struct part_row, segments, "segments", "Pieces", TABLE_TALLY, "pieces of the path"),
    COLUMN(struct part_row, help, "meaning", "Which is", TABLE_TEXT, "what the part is"),
};

static const struct table_column item_columns[] = {
    KEY_COLUMNS(struct item_row),
    COLUMN(struct item_row, name, "name", "Name", TABLE_NAME, "operator, call, work or collective; of gaps the line of source or the annotation that the host was in"),
    COLUMN(struct item_row, part, "part", "Part", TABLE_TEXT, "what of it: its run, or a wait before it or behind it"),
    COLUMN(struct item_row, time_ns, "time", "Time", TABLE_NS, "on the path. The path is shorter by 1 % of it when all of it takes 1 % less"),
    COLUMN(struct item_row, share, "share", "Share", TABLE_SHARE, "of the length"),
    COLUMN(struct item_row, count, "count", "Times", TABLE_TALLY, "how many of them are on the path; of gaps, how many parts of gaps"),
    COLUMN(struct item_row, gone_saves_ns, "gone_saves", "Gone, saves", TABLE_NS, "how much shorter the window is when they take no time in it (--sensitivity)", .flags = TABLE_IF_ANY),
    COLUMN(struct item_row, leaves_share, "leaves", "Leaves at", TABLE_SHARE, "how much less of their time they may take until taking less gains less (--sensitivity)", .flags = TABLE_IF_ANY),
};

static const struct table_column place_columns[] = {
    KEY_COLUMNS(struct place_row),
    COLUMN(struct place_row, name, "name", "Name", TABLE_NAME, "the module, the function in a file that is not PyTorch's own, or the annotation"),
    COLUMN(struct place_row, self_ns, "self", "Self", TABLE_NS, "on the path, in it but in none of those that it called; device work is where it was launched"),
    COLUMN(struct place_row, time_ns, "time", "Time", TABLE_NS, "on the path, in it and all that it called"),
    COLUMN(struct place_row, share, "share", "Share", TABLE_SHARE, "of the length"),
    COLUMN(struct place_row, count, "pieces", "Pieces", TABLE_TALLY, "pieces of the path"),
};

static const struct table_column segment_columns[] = {
    KEY_COLUMNS(struct segment_row),
    COLUMN(struct segment_row, start_ns, "start", "Start", TABLE_MOMENT, "from the begin of the window"),
    COLUMN(struct segment_row, time_ns, "time", "Time", TABLE_NS, "to the begin of the next piece"),
    COLUMN(struct segment_row, part, "part", "Part", TABLE_TEXT, "what the path spent it on"),
    COLUMN(struct segment_row, name, "name", "Name", TABLE_NAME, "operator, call, work or collective; of a gap where most of it was"),
    COLUMN(struct segment_row, rank, "on_rank", "On rank", TABLE_COUNT, "rank of the file that the piece is in", .flags = TABLE_IF_ANY),
};
/* clang-format on */

/* "step 12", "forward, the 3rd" or "the recording" into TEXT. */
static void path_window_describe(const struct replay_graph *graph, const struct path_window *window,
                                 struct buffer *text)
{
    if (window->event == EVENT_NONE)
        buffer_puts(text, "the recording");
    else if (window->is_step)
        buffer_printf(text, "step %" PRId64, window->number);
    else
        buffer_printf(text, "%s #%" PRId64, trace_name(graph->trace, window->event), window->number);
}

static struct text path_tables_keep(struct result *result, struct buffer *text)
{
    struct text kept = { arena_strndup(&result->arena, text->at ? text->at : "", text->count), text->count };
    buffer_release(text);
    return kept;
}

/* If there are several windows, the key names the one of the row. */
static struct window_key key_of(const struct replay_graph *graph, const struct path_windows *windows,
                                size_t w, struct result *result)
{
    const struct path_window *window = &windows->at[w];
    struct window_key key = { .step = TABLE_INT_MISSING, .rank = TABLE_INT_MISSING };
    if (windows->count > 1) {
        struct buffer text = { 0 };
        path_window_describe(graph, window, &text);
        key.window = path_tables_keep(result, &text);
    }
    if (window->is_step)
        key.step = window->number;
    if (graph->trace->file_count > 1)
        key.rank = selection_rank(graph->trace, window->file);
    return key;
}

/* Rows of the modules, or of the lines. */
struct places {
    const struct code_paths *code;
    VEC_OF(struct place_row) rows;
};

struct tables {
    const struct replay_graph *graph;
    struct result *result;
    VEC_OF(struct part_row) parts;
    VEC_OF(struct item_row) items;
    struct places places[CODE_FRAMES];
    VEC_OF(struct segment_row) segments;
    struct text *names; /* by name of the trace: as shown; missing: not yet */
};

/* The name as shown: made once, as thousands of rows may have it. */
static struct text name_of(struct tables *tables, name_id name)
{
    if (name == NAME_NONE)
        return (struct text){ NULL, 0 };
    const struct names *names = tables->graph->trace->names;
    if (!tables->names[name].at) {
        struct buffer text = { 0 };
        if (demangle_name(&text, names_text(names, name)))
            tables->names[name] = path_tables_keep(tables->result, &text);
        else
            tables->names[name] = (struct text){ names_text(names, name), names_length(names, name) };
        buffer_release(&text);
    }
    return tables->names[name];
}

static void add_parts(struct tables *tables, struct window_key key, const struct path *path,
                      int64_t length_ns)
{
    int64_t sums[PATH_PARTS] = { 0 }, counts[PATH_PARTS] = { 0 };
    for (size_t i = 0; i < path->count; i++) {
        sums[path->at[i].part] += path->at[i].end_ns - path->at[i].start_ns;
        counts[path->at[i].part]++;
    }
    for (int part = 0; part < PATH_PARTS; part++)
        if (counts[part])
            *VEC_PUSH(&tables->parts) = (struct part_row){
                .key = key,
                .part = as_text(path_part_name((enum path_part)part)),
                .which = (enum path_part)part,
                .help = as_text(path_part_help((enum path_part)part)),
                .time_ns = sums[part],
                .segments = counts[part],
                .share = sum_share(sums[part], length_ns),
            };
}

/* ---- gaps by what the host was in ---- */

/* Of a gap, or a part of it. */
struct gap_place {
    struct text name;
    int64_t time_ns;
};

struct gap_places {
    VEC_OF(struct gap_place);
};

/* The innermost line of source, else the annotation, that the thread of TRACK was in at NS, on the clock of its file. */
static struct text place_at(const struct tables *tables, track_id track, int64_t ns)
{
    static const enum code_frames frames[] = { CODE_LINES, CODE_ANNOTATIONS };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const struct code_paths *code = tables->places[frames[i]].code;
        uint32_t path = code ? code_place_at(code, track, ns).path : CODE_OUTSIDE;
        if (path != CODE_OUTSIDE)
            return as_text(code_path_name(code, path));
    }
    return as_text("(nothing recorded)");
}

/* Until when it is there, or END_NS. */
static int64_t place_until(const struct tables *tables, track_id track, int64_t ns, int64_t end_ns)
{
    for (int frames = CODE_LINES; frames <= CODE_ANNOTATIONS; frames++) {
        int64_t until_ns = tables->places[frames].code
                               ? code_place_until(tables->places[frames].code, track, ns)
                               : INT64_MAX;
        end_ns = until_ns < end_ns ? until_ns : end_ns;
    }
    return end_ns;
}

/* The parts of GAP by place, in order. A thread that goes on because another handed over to it was nowhere of its own. */
static void split_gap(const struct tables *tables, const struct path_segment *gap, struct gap_places *places)
{
    const struct replay_graph *graph = tables->graph;
    size_t first = places->count;
    bool of_host = gap->until != MOMENT_NONE && replay_moment_kind(graph, gap->until) == MOMENT_HOST;
    track_id track = of_host ? graph->threads[replay_thread_of(graph, gap->until)].track : 0;
    int64_t shift_ns = of_host ? graph->shift_ns[graph->trace->tracks[track].file] : 0;
    for (int64_t at_ns = gap->start_ns - shift_ns, end_ns = gap->end_ns - shift_ns; at_ns < end_ns;) {
        int64_t until_ns = of_host ? place_until(tables, track, at_ns, end_ns) : end_ns;
        struct text name = of_host ? place_at(tables, track, at_ns) : as_text("(nothing recorded)");
        struct gap_place *last = places->count > first ? &places->at[places->count - 1] : NULL;
        if (!last || strcmp(last->name.at, name.at) != 0)
            *(last = VEC_PUSH(places)) = (struct gap_place){ .name = name };
        last->time_ns += until_ns - at_ns;
        at_ns = until_ns;
    }
}

/* Where most of GAP was. */
static struct text gap_name(struct tables *tables, const struct path_segment *gap)
{
    struct gap_places places = { 0 };
    split_gap(tables, gap, &places);
    size_t largest = 0;
    for (size_t i = 1; i < places.count; i++)
        largest = places.at[i].time_ns > places.at[largest].time_ns ? i : largest;
    struct text name = { NULL, 0 };
    if (places.count)
        name = places.at[largest].name; /* lives as long as the trace */
    VEC_FREE(&places);
    return name;
}

static const struct key by_at[] = { ASC(struct gap_place, name.at), KEY_END };

/* A row for each place of the gaps. */
static void add_gaps(struct tables *tables, struct window_key key, const struct path *path, int64_t length_ns)
{
    struct gap_places places = { 0 };
    for (size_t i = 0; i < path->count; i++)
        if (path->at[i].part == PART_GAP)
            split_gap(tables, &path->at[i], &places);
    SORT(&places, by_at);
    FOR_GROUPS(&places, by_at, first, end) {
        const char *name = places.at[first].name.at;
        struct item_row row = { .key = key,
                                .part = as_text(path_part_name(PART_GAP)),
                                .name = { arena_strndup(&tables->result->arena, name, strlen(name)),
                                          strlen(name) },
                                .gone_saves_ns = TABLE_INT_MISSING,
                                .leaves_share = NAN };
        for (size_t i = first; i < end; i++)
            row.time_ns += places.at[i].time_ns;
        row.count = (int64_t)(end - first);
        row.share = sum_share(row.time_ns, length_ns);
        *VEC_PUSH(&tables->items) = row;
    }
    VEC_FREE(&places);
}

static const struct key by_time_[] = { DESC(struct item_row, time_ns), KEY_END };

static void add_items(struct tables *tables, struct window_key key, const struct path *path,
                      const struct path_window *window, size_t probed)
{
    struct path_items *items = path_items_open(tables->graph, path);
    size_t first = tables->items.count;
    for (size_t i = 0; i < items->count; i++) {
        if (items->at[i].part == PART_GAP)
            continue;
        struct sensitivity sensitivity = { .known = false };
        if (i < probed)
            sensitivity = sensitivity_of(tables->graph, window, &items->at[i]);
        *VEC_PUSH(&tables->items) = (struct item_row){
            .key = key,
            .part = as_text(path_part_name(items->at[i].part)),
            .name = name_of(tables, items->at[i].name),
            .time_ns = items->at[i].time_ns,
            .count = (int64_t)items->at[i].count,
            .share = sum_share(items->at[i].time_ns, window->end_ns - window->start_ns),
            .gone_saves_ns = sensitivity.known ? sensitivity.gone_saves_ns : TABLE_INT_MISSING,
            .leaves_share = sensitivity.known ? sensitivity.leaves_share : NAN,
        };
    }
    arena_free(items);
    add_gaps(tables, key, path, window->end_ns - window->start_ns);
    SORT_ARRAY(tables->items.at + first, tables->items.count - first, by_time_);
}

static void add_places(struct tables *tables, struct places *to, struct window_key key,
                       const struct path *path, int64_t length_ns)
{
    struct path_places places = path_places_of(tables->graph, path, to->code);
    for (size_t i = 0; i < places.count; i++) {
        const char *name = code_path_name(to->code, places.at[i].path);
        *VEC_PUSH(&to->rows) = (struct place_row){
            .key = key,
            .name = { arena_strndup(&tables->result->arena, name, strlen(name)), strlen(name) },
            .time_ns = places.at[i].time_ns,
            .self_ns = places.at[i].self_ns,
            .count = (int64_t)places.at[i].count,
            .share = sum_share(places.at[i].time_ns, length_ns),
        };
    }
    VEC_FREE(&places);
}

/* Where stacks were recorded. */
static void show_places(struct tables *tables, struct places *places, const char *key, const char *title)
{
    if (places->rows.count)
        result_add_table(tables->result,
                         TABLE_OF_ROWS(key, title, place_columns, places->rows.at, places->rows.count));
    VEC_FREE(&places->rows);
}

static void add_segments(struct tables *tables, struct window_key key, const struct path *path,
                         int64_t start_ns)
{
    const struct trace *trace = tables->graph->trace;
    FOR_EACH(one, path) {
        *VEC_PUSH(&tables->segments) = (struct segment_row){
            .key = key,
            .part = as_text(path_part_name(one->part)),
            .name = one->part == PART_GAP
                        ? gap_name(tables, one)
                        : name_of(tables, one->named == EVENT_NONE ? NAME_NONE : trace->name[one->named]),
            .start_ns = one->start_ns - start_ns,
            .time_ns = one->end_ns - one->start_ns,
            .rank = trace->file_count > 1 ? selection_rank(trace, one->file) : TABLE_INT_MISSING,
        };
    }
}

static const struct key by_time[] = { DESC_OF(struct part_row, time_ns), KEY_END };

/* Is the path that of a range on the host where a step is as long as its devices take, which is another time? */
static bool is_of_host_alone(const struct trace *trace, const struct path_window *window)
{
    const struct account *account = account_of(trace);
    for (size_t i = 0; window->is_step && i < account->steps.count; i++) {
        const struct account_step *step = &account->steps.at[i];
        if (step->event == window->event)
            return account_rank_of(account, step->rank)->limit == LIMIT_DEVICES &&
                   account_step_time(account, step) != step->host_ns;
    }
    return false;
}

/* "Step 3 of rank 1 took 82.000 ms. Its critical path: kernels 30.1 %, operators on the host 23.0 %": the largest of COUNT rows. */
static void path_tables_describe(struct tables *tables, const struct path_window *window, int64_t rank,
                                 const struct part_row *rows, size_t count)
{
    enum { MOST_SHOWN = 5 };
    const struct part_row *sorted[PATH_PARTS];
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    SORT_ARRAY(sorted, count, by_time);
    struct buffer text = { 0 };
    path_window_describe(tables->graph, window, &text);
    if (text.at[0] >= 'a' && text.at[0] <= 'z' && (window->is_step || window->event == EVENT_NONE))
        text.at[0] = (char)(text.at[0] - 'a' + 'A');
    if (window->is_step && rank != TABLE_INT_MISSING)
        buffer_printf(&text, " of rank %" PRId64, rank);
    buffer_puts(&text, " took ");
    quantity_append_rounded_time(&text, (double)(window->end_ns - window->start_ns));
    buffer_puts(&text, is_of_host_alone(tables->graph->trace, window) ? " on the host" : "");
    buffer_puts(&text, ". Its critical path: ");
    for (size_t i = 0; i < count && i < MOST_SHOWN; i++)
        buffer_printf(&text, "%s%s %.1f %%", i ? ", " : "", path_part_title(sorted[i]->which),
                      quantity_percent(sorted[i]->share));
    result_add_notice(tables->result, "critical_path", 1, NULL, TPA_NOWHERE, "%s", text.at);
    result_make_clause(tables->result);
    buffer_release(&text);
}

static bool has_frames(const struct trace *trace, enum code_frames frames)
{
    if (frames != CODE_ANNOTATIONS)
        return trace_features(trace) & FEATURE_STACKS;
    return ANY(e, trace->event_count, trace->kind[e] == EVENT_ANNOTATION);
}

void path_add_tables(const struct replay_graph *graph, const struct path_windows *windows, bool segments,
                     size_t probed, struct result *result)
{
    enum { MOST_SENTENCES = 3 };
    struct tables tables = { .graph = graph,
                             .result = result,
                             .names =
                                 mem_zalloc(names_count(graph->trace->names) + 1, sizeof *tables.names) };
    for (int frames = 0; frames < CODE_FRAMES; frames++)
        if (has_frames(graph->trace, (enum code_frames)frames))
            tables.places[frames].code = code_paths_of(graph->trace, (enum code_frames)frames);
    for (size_t w = 0; w < windows->count; w++) {
        const struct path_window *window = &windows->at[w];
        struct window_key key = key_of(graph, windows, w, result);
        struct path *path = path_open(graph, window);
        int64_t length_ns = window->end_ns - window->start_ns;
        size_t first = tables.parts.count;
        add_parts(&tables, key, path, length_ns);
        add_items(&tables, key, path, window, probed);
        for (int frames = 0; frames < CODE_FRAMES; frames++)
            if (tables.places[frames].code)
                add_places(&tables, &tables.places[frames], key, path, length_ns);
        if (segments)
            add_segments(&tables, key, path, window->start_ns);
        if (w < MOST_SENTENCES && tables.parts.count > first)
            path_tables_describe(&tables, window, key.rank, tables.parts.at + first,
                                 tables.parts.count - first);
        arena_free(path);
    }
    result_add_table(result, TABLE_OF_ROWS("parts", "Parts of the critical path", part_columns,
                                           tables.parts.at, tables.parts.count));
    result_add_table(result, TABLE_OF_ROWS("path", "On the critical path", item_columns, tables.items.at,
                                           tables.items.count));
    show_places(&tables, &tables.places[CODE_MODULES], "modules", "Modules on the critical path");
    show_places(&tables, &tables.places[CODE_LINES], "lines", "Lines of source on the critical path");
    show_places(&tables, &tables.places[CODE_ANNOTATIONS], "annotations", "Annotations on the critical path");
    if (segments)
        result_add_table(result, TABLE_OF_ROWS("segments", "Pieces in order", segment_columns,
                                               tables.segments.at, tables.segments.count));
    EACH(VEC_FREE, &tables.parts, &tables.items, &tables.segments);
    free(tables.names);
}

void path_add_notices(const struct replay_graph *graph, struct result *result)
{
    if (graph->early_work)
        result_add_notice(
            result, "early_work", (int64_t)graph->early_work, NULL, TPA_NOWHERE,
            "%zu pieces of device work began, by their clock, before the call that launched them; they are "
            "taken to have been launched as they began",
            graph->early_work);
    if (graph->dropped_edges)
        result_add_notice(result, "contradictions", (int64_t)graph->dropped_edges, NULL, TPA_NOWHERE,
                          "%zu dependencies contradict the times recorded and were left out",
                          graph->dropped_edges);
    if (graph->unknown_starts)
        result_add_notice(
            result, "unknown_starts", (int64_t)graph->unknown_starts, NULL, TPA_NOWHERE,
            graph->unknown_starts == 1
                ? "%zu piece of device work has neither its launch nor work before it in the file: what it waited for "
                  "is unknown"
                : "%zu pieces of device work have neither their launches nor work before them in the file: what "
                  "they waited for is unknown",
            graph->unknown_starts);
}

const struct table_shape path_tables[] = {
    TABLE_SHAPE("parts", part_columns),
    TABLE_SHAPE("path", item_columns),
    TABLE_SHAPE("modules", place_columns),
    TABLE_SHAPE("lines", place_columns),
    TABLE_SHAPE("annotations", place_columns),
    TABLE_SHAPE("segments", segment_columns),
    { 0 },
};
