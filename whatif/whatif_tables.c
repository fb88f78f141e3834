#include "whatif/whatif.h"

#include "analyze/batch_size.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "base/sum.h"
#include <inttypes.h>
#include <math.h>

struct result_row {
    int64_t now_ns, then_ns, gain_ns;
    double gain_share;
    int64_t median_now_ns, median_then_ns;
    int64_t then_low_ns, then_high_ns;
    double samples_now, samples_low, samples_high, samples_gain_low, samples_gain_high;
};

struct step_row {
    int64_t step, rank, now_ns, then_ns, gain_ns;
};

struct edit_row {
    struct text edit;
    int64_t count, time_ns, then_ns, gain_ns;
    double gain_share;
};

struct path_row {
    struct text part, help;
    int64_t now_ns, then_ns;
    double now_share, then_share;
};

struct sweep_row {
    double factor, gain_share;
    int64_t then_ns, gain_ns;
};

/* clang-format off */
static const struct table_column result_columns[] = {
    COLUMN(struct result_row, now_ns, "now", "Now", TABLE_NS, "a step as recorded: the throughput of the steps that count, as in tpa steps"),
    COLUMN(struct result_row, then_ns, "then", "Then", TABLE_NS, "the same with all edits made, in the steady state"),
    COLUMN(struct result_row, gain_ns, "gain", "Gain", TABLE_NS, "now - then"),
    COLUMN(struct result_row, gain_share, "gain_share", "Gain, share", TABLE_SHARE, "of the step time now"),
    COLUMN(struct result_row, median_now_ns, "median_now", "Median now", TABLE_NS, "median of the recorded periods: differs from the step where steps are uneven"),
    COLUMN(struct result_row, median_then_ns, "median_then", "Median then", TABLE_NS, "the same of these periods with all edits made, without what settles later"),
    COLUMN(struct result_row, then_low_ns, "then_low", "Then, low", TABLE_NS, "then at the least that contention may cost, if communication is hidden, or that a larger batch takes", .flags = TABLE_IF_ANY),
    COLUMN(struct result_row, then_high_ns, "then_high", "Then, high", TABLE_NS, "then at the most that it may cost", .flags = TABLE_IF_ANY),
    COLUMN(struct result_row, samples_now, "samples_now", "Samples/s", TABLE_NUMBER, "with --batch: samples a second as recorded, of all ranks; missing: shapes do not tell the batch", .flags = TABLE_IF_ANY),
    COLUMN(struct result_row, samples_low, "samples_low", "Samples/s, low", TABLE_NUMBER, "the same with the larger batch, if all grows that can", .flags = TABLE_IF_ANY),
    COLUMN(struct result_row, samples_high, "samples_high", "Samples/s, high", TABLE_NUMBER, "the same if only that grows which must", .flags = TABLE_IF_ANY),
    COLUMN(struct result_row, samples_gain_low, "samples_gain_low", "More, low", TABLE_SHARE, "how many more samples a second, at least", .flags = TABLE_IF_ANY),
    COLUMN(struct result_row, samples_gain_high, "samples_gain_high", "More, high", TABLE_SHARE, "how many more, at most", .flags = TABLE_IF_ANY),
};

static const struct table_column step_columns[] = {
    COLUMN(struct step_row, step, "step", "Step", TABLE_COUNT, "number of the step; missing: all that was recorded"),
    COLUMN(struct step_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file", .flags = TABLE_IF_ANY),
    COLUMN(struct step_row, now_ns, "now", "Now", TABLE_NS, "from its begin on the host to that of the next step, the last to its own end; as recorded"),
    COLUMN(struct step_row, then_ns, "then", "Then", TABLE_NS, "the same with all edits made"),
    COLUMN(struct step_row, gain_ns, "gain", "Gain", TABLE_NS, "now - then"),
};

static const struct table_column edit_columns[] = {
    COLUMN(struct edit_row, edit, "edit", "Edit", TABLE_NAME, "what is changed"),
    COLUMN(struct edit_row, count, "count", "Touches", TABLE_TALLY, "events or ranges that it changes, in all that was recorded"),
    COLUMN(struct edit_row, time_ns, "time", "Their time", TABLE_NS, "of these as recorded, on host and devices, added up"),
    COLUMN(struct edit_row, then_ns, "then", "Then", TABLE_NS, "the step time with this edit alone"),
    COLUMN(struct edit_row, gain_ns, "gain", "Gain alone", TABLE_NS, "what this edit alone gains of the step time; gains do not add up"),
    COLUMN(struct edit_row, gain_share, "gain_share", "Share", TABLE_SHARE, "of the step time now"),
};

static const struct table_column path_columns[] = {
    COLUMN(struct path_row, part, "part", "Part", TABLE_NAME, "what the path spent time on, as in tpa path"),
    COLUMN(struct path_row, now_ns, "now", "Now", TABLE_NS, "on the critical path of the step nearest to the median, as recorded"),
    COLUMN(struct path_row, now_share, "now_share", "Share now", TABLE_SHARE, "of the path now"),
    COLUMN(struct path_row, then_ns, "then", "Then", TABLE_NS, "on the critical path of the same step with all edits made"),
    COLUMN(struct path_row, then_share, "then_share", "Share then", TABLE_SHARE, "of the path then"),
    COLUMN(struct path_row, help, "meaning", "Which is", TABLE_TEXT, "what the part is", .flags = TABLE_OPTIONAL),
};

static const struct table_column sweep_columns[] = {
    COLUMN(struct sweep_row, factor, "factor", "Takes", TABLE_SHARE, "the part of the recorded time that what is swept takes"),
    COLUMN(struct sweep_row, then_ns, "then", "Then", TABLE_NS, "the step time"),
    COLUMN(struct sweep_row, gain_ns, "gain", "Gain", TABLE_NS, "the step time now - then"),
    COLUMN(struct sweep_row, gain_share, "gain_share", "Gain, share", TABLE_SHARE, "of the step time now"),
};
/* clang-format on */

static struct text whatif_tables_keep(struct result *result, struct buffer *text)
{
    struct text kept = { arena_strndup(&result->arena, text->at, text->count), text->count };
    buffer_release(text);
    return kept;
}

static bool has_steps(const struct whatif *whatif)
{
    return whatif->steps->count > 0 && whatif->steps->at[0].number != INT64_MIN;
}

/* A path with a larger share that the recording has no reason for is not a ground for a promise. */
static const double most_unexplained = 0.5;

/* A gain that is 0.0 % when it is written. */
static const double least_shown = 0.0005;

/* ", and then the device is the limit, with 14.2 ms of work"; nothing where the step is not shorter. */
static void append_bound(const struct whatif *whatif, struct buffer *text)
{
    const struct step_times *steps = whatif->steps;
    const struct step_bound *bound = &steps->bound;
    const double much = 0.9;
    if (bound->kind == BOUND_UNKNOWN || steps->then_ns >= steps->now_ns)
        return;
    buffer_printf(text, "; then the %s", bound->kind == BOUND_HOST ? "host" : "device");
    if (whatif->graph->trace->file_count > 1)
        buffer_printf(text, " of rank %" PRId64, bound->rank);
    buffer_puts(text, " is the limit");
    if (bound->kind != BOUND_HOST && (double)bound->work_ns >= much * (double)steps->then_ns) {
        buffer_puts(text, ": ");
        quantity_append_rounded_time(text, (double)bound->work_ns);
        buffer_puts(text, " of work");
    }
}

/* Samples a second now, and by how much more with a larger batch at least and at most. */
struct samples {
    double now, gain_low, gain_high; /* NAN: not known */
};

static struct samples samples_of(const struct whatif *whatif)
{
    const struct trace *trace = whatif->graph->trace;
    const struct step_times *steps = whatif->steps;
    struct samples samples = { NAN, NAN, NAN };
    if (whatif->batch == 1 || whatif->then_low_ns <= 0 || whatif->then_high_ns <= 0)
        return samples;
    struct selection *all = selection_open(trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    int64_t batch = batch_size_of(trace, all);
    arena_free(all);
    if (batch != TABLE_INT_MISSING && steps->now_ns > 0 && has_steps(whatif))
        samples.now = (double)batch * file_set_of(trace)->ranks * 1e9 / (double)steps->now_ns;
    samples.gain_low = whatif->batch * (double)steps->now_ns / (double)whatif->then_high_ns - 1;
    samples.gain_high = whatif->batch * (double)steps->now_ns / (double)whatif->then_low_ns - 1;
    return samples;
}

/* "with 2 times the batch a step would take 0.5 to 0.9 ms instead of 0.5 ms: 11 % to 90 % more samples a second" */
static void notice_batch(const struct whatif *whatif, struct result *result)
{
    struct samples samples = samples_of(whatif);
    struct buffer now = { 0 }, low = { 0 }, high = { 0 }, rate = { 0 };
    quantity_append_rounded_time(&now, (double)whatif->steps->now_ns);
    quantity_append_rounded_time(&low, (double)whatif->then_low_ns);
    quantity_append_rounded_time(&high, (double)whatif->then_high_ns);
    if (!isnan(samples.now)) {
        buffer_puts(&rate, " (");
        quantity_append_tally(&rate, llround(samples.now));
        buffer_puts(&rate, " -> ");
        quantity_append_tally(&rate, llround(samples.now * (1 + samples.gain_low)));
        buffer_puts(&rate, " to ");
        quantity_append_tally(&rate, llround(samples.now * (1 + samples.gain_high)));
        buffer_puts(&rate, ")");
    }
    result_add_notice(
        result, "prediction", 1, NULL, TPA_NOWHERE,
        "with %.6g times the batch %s would take %s to %s instead of %s: %+.1f %% to %+.1f %% samples a "
        "second%s",
        whatif->batch, has_steps(whatif) ? "a step" : "the recording", low.at, high.at, now.at,
        quantity_percent(samples.gain_low), quantity_percent(samples.gain_high), rate.at ? rate.at : "");
    buffer_release(&now);
    buffer_release(&low);
    buffer_release(&high);
    buffer_release(&rate);
    result_make_clause(result);
}

/* "A step would take 116.000ms instead of 176.000ms (-34.1 %)." */
static void notice_gain(const struct whatif *whatif, struct result *result)
{
    int64_t now_ns = whatif->steps->now_ns, then_ns = whatif->steps->then_ns;
    const char *what = has_steps(whatif) ? "a step" : "the recording";
    size_t touched = 0;
    struct buffer now = { 0 }, then = { 0 };
    quantity_append_rounded_time(&now, (double)now_ns);
    quantity_append_rounded_time(&then, (double)then_ns);
    for (size_t i = 0; i < whatif->edit_count; i++)
        touched += whatif->gains[i].effect.count;
    if (touched == 0) {
        result_add_notice(result, "prediction", 0, NULL, TPA_NOWHERE,
                          "there is nothing to change in the trace: %s takes %s, as it did", what, now.at);
    } else if (now_ns == then_ns) {
        result_add_notice(result, "prediction", 1, NULL, TPA_NOWHERE,
                          "%s would take as long as it did, %s: nothing waits for what is changed", what,
                          now.at);
    } else if (fabs(sum_share(now_ns - then_ns, now_ns)) < least_shown) {
        result_add_notice(result, "prediction", 1, NULL, TPA_NOWHERE,
                          "%s would take about as long as it did, %s: less than 0.05 %% more or less", what,
                          now.at);
    } else {
        struct buffer rest = { 0 };
        append_bound(whatif, &rest);
        if (now_ns > then_ns && whatif->unexplained_share > most_unexplained)
            buffer_printf(&rest, "; at best, as the recording has no reason for %.1f %% of its path",
                          quantity_percent(whatif->unexplained_share));
        result_add_notice(result, "prediction", 1, NULL, TPA_NOWHERE,
                          "%s would take %s instead of %s (%+.1f %%)%s", what, then.at, now.at,
                          quantity_percent(-sum_share(now_ns - then_ns, now_ns)), rest.at ? rest.at : "");
        buffer_release(&rest);
    }
    buffer_release(&now);
    buffer_release(&then);
    result_make_clause(result);
}

static void add_result(const struct whatif *whatif, struct result *result)
{
    int64_t now_ns = whatif->steps->now_ns, then_ns = whatif->steps->then_ns;
    struct samples samples = samples_of(whatif);
    struct result_row row = { now_ns,
                              then_ns,
                              now_ns - then_ns,
                              sum_share(now_ns - then_ns, now_ns),
                              whatif->steps->median_now_ns,
                              whatif->steps->median_then_ns,
                              whatif->then_low_ns,
                              whatif->then_high_ns,
                              samples.now,
                              samples.now * (1 + samples.gain_low),
                              samples.now * (1 + samples.gain_high),
                              samples.gain_low,
                              samples.gain_high };
    struct table *table = TABLE_OF_ROWS("result", has_steps(whatif) ? "Step time" : "All that was recorded",
                                        result_columns, &row, 1);
    if (whatif->batch != 1) { /* a longer step is no loss */
        TABLE_FLAG(table, struct result_row, gain_ns, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct result_row, gain_share, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct result_row, median_now_ns, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct result_row, median_then_ns, TABLE_OPTIONAL);
    }
    table_add_footer(table, "unexplained_share", "Unexplained share of the path", TABLE_SHARE,
                     table_number(whatif->unexplained_share));
    result_add_table(result, table);
}

static void whatif_tables_add_steps(const struct whatif *whatif, struct result *result)
{
    const struct replay_graph *graph = whatif->graph;
    const struct step_times *steps = whatif->steps;
    struct step_row *rows = mem_zalloc(steps->count + 1, sizeof *rows);
    for (size_t i = 0; i < steps->count; i++) {
        const struct step_time *one = &steps->at[i];
        rows[i] = (struct step_row){
            .step = one->number == INT64_MIN ? TABLE_INT_MISSING : one->number,
            .rank =
                graph->trace->file_count > 1 ? selection_rank(graph->trace, one->file) : TABLE_INT_MISSING,
            .now_ns = one->now_ns,
            .then_ns = one->then_ns,
            .gain_ns = one->now_ns - one->then_ns,
        };
    }
    result_add_table(result, TABLE_OF_ROWS("steps", "Steps", step_columns, rows, steps->count));
    free(rows);
}

static void add_edits(const struct whatif *whatif, const struct edit *edits, struct result *result)
{
    struct edit_row *rows = mem_zalloc(whatif->edit_count + 1, sizeof *rows);
    int64_t now_ns = whatif->steps->now_ns;
    for (size_t i = 0; i < whatif->edit_count; i++) {
        const struct edit_gain *gain = &whatif->gains[i];
        struct buffer text = { 0 };
        edit_describe(&edits[i], trace_device_type(whatif->graph->trace), &text);
        rows[i] = (struct edit_row){
            .edit = whatif_tables_keep(result, &text),
            .count = (int64_t)gain->effect.count,
            .time_ns = gain->effect.time_ns,
            .then_ns = gain->then_ns,
            .gain_ns = now_ns - gain->then_ns,
            .gain_share = sum_share(now_ns - gain->then_ns, now_ns),
        };
    }
    result_add_table(result, TABLE_OF_ROWS("edits", "Edits", edit_columns, rows, whatif->edit_count));
    free(rows);
}

static void add_paths(const struct whatif *whatif, struct result *result)
{
    struct path_row rows[PATH_PARTS];
    int64_t now_ns = 0, then_ns = 0;
    size_t count = 0;
    for (int part = 0; part < PATH_PARTS; part++) {
        now_ns += whatif->now_parts_ns[part];
        then_ns += whatif->then_parts_ns[part];
    }
    for (int part = 0; part < PATH_PARTS; part++)
        if (whatif->now_parts_ns[part] || whatif->then_parts_ns[part])
            rows[count++] = (struct path_row){
                .part = as_text(path_part_name((enum path_part)part)),
                .help = as_text(path_part_help((enum path_part)part)),
                .now_ns = whatif->now_parts_ns[part],
                .then_ns = whatif->then_parts_ns[part],
                .now_share = sum_share(whatif->now_parts_ns[part], now_ns),
                .then_share = sum_share(whatif->then_parts_ns[part], then_ns),
            };
    result_add_table(
        result, TABLE_OF_ROWS("path", "Critical path of a step, now and then", path_columns, rows, count));
}

static bool has_host_communication(const struct trace *trace)
{
    return ANY(id, names_count(trace->names), collective_runs_on_host(names_text(trace->names, id)));
}

/* Operators are scaled on the host, and what people mean is mostly what they do on the device. */
static void notice_kept(const char *edit, int64_t kept_ns, struct result *result)
{
    struct buffer kept = { 0 };
    quantity_append_rounded_time(&kept, (double)kept_ns);
    result_add_notice(
        result, "kept_work", 1, NULL, TPA_NOWHERE,
        "%s leaves the work that these operators launched, %s on devices, as it was: --scale kernel:REGEX=F is "
        "about that (tpa top --by op,kernel shows which)",
        edit, kept.at);
    buffer_release(&kept);
}

/* What it costs computation that communication runs beside it. */
static void notice_contention(const struct trace *trace, const struct edit *edit, struct result *result)
{
    const struct contention_sum *sum = contention_communication(edit_contention(edit, trace));
    if (edit->factor > 0)
        result_add_notice(result, "contention", 1, NULL, TPA_NOWHERE,
                          "computation beside communication takes %.6g times as long, as given",
                          edit->factor);
    else if (sum && sum->judged_pairs)
        result_add_notice(
            result, "contention", 1, NULL, TPA_NOWHERE,
            "computation beside communication takes %.3f times as long (%.3f to %.3f), as in %s (tpa kernels "
            "--contention)",
            sum->factor, sum->factor_low, sum->factor_high,
            edit->measured ? edit->measured_path : "the recording");
    else
        result_add_notice(
            result, "contention", 0, NULL, TPA_NOWHERE,
            "what overlap costs computation is not known from this recording, so the gain is at most this; "
            "--contention 1.2 assumes a factor, --contention-from FILE takes another recording's");
}

static void add_assumptions(const struct whatif *whatif, const struct edit *edits, struct result *result)
{
    for (size_t i = 0; i < whatif->edit_count; i++) {
        const char *assumption = edit_assumption(&edits[i]);
        bool said = ANY(k, i, edit_assumption(&edits[k]) == assumption);
        struct buffer text = { 0 };
        edit_describe(&edits[i], trace_device_type(whatif->graph->trace), &text);
        if (whatif->gains[i].effect.count == 0)
            result_add_notice(
                result, "nothing_changed", 0, NULL, TPA_NOWHERE, "%s finds nothing to change in the trace%s",
                text.at,
                edits[i].kind == EDIT_OVERLAP_COMM && has_host_communication(whatif->graph->trace)
                    ? ": what waits for communication on the host is known with the traces of several ranks"
                    : "");
        else if (assumption && !said)
            result_add_notice(result, "assumption", (int64_t)whatif->gains[i].effect.count, NULL, TPA_NOWHERE,
                              "%s assumes: %s", text.at, assumption);
        if (edits[i].kind == EDIT_OVERLAP_COMM && whatif->gains[i].effect.count && whatif->graph->gpu->count)
            notice_contention(whatif->graph->trace, &edits[i], result);
        if (whatif->gains[i].effect.kept_ns > 0)
            notice_kept(text.at, whatif->gains[i].effect.kept_ns, result);
        buffer_release(&text);
    }
}

/* Is EDIT about what the host does, which a profiler slows down? */
static bool edit_is_of_host(const struct edit *edit)
{
    return edit->kind == EDIT_CUDA_GRAPH || edit->kind == EDIT_NO_DATA_WAIT ||
           edit->kind == EDIT_NO_COMPILE || edit->kind == EDIT_FUSE_OPTIMIZER ||
           edit->kind == EDIT_NO_ALLOC ||
           (edit->kind == EDIT_SCALE &&
            (edit->target == TARGET_OP || edit->target == TARGET_CALL || edit->target == TARGET_ANNOTATION));
}

/* What the host does takes longer while it is recorded. */
static void notice_profiled(const struct whatif *whatif, const struct edit *edits, struct result *result)
{
    bool of_host =
        ANY(i, whatif->edit_count, edit_is_of_host(&edits[i]) && whatif->gains[i].effect.count > 0);
    if (!of_host || whatif->steps->now_ns <= whatif->steps->then_ns ||
        trace_framework(whatif->graph->trace) != FRAMEWORK_TORCH)
        return;
    result_add_notice(
        result, "profiled", 0, NULL, TPA_NOWHERE,
        "a profiler slows the host down, %s: without it, what the host does takes less, and so does this saving",
        trace_features(whatif->graph->trace) & FEATURE_STACKS ? "about 2 times with Python functions, as here"
                                                              : "about 1.4 times");
    result_make_minor(result);
}

void whatif_add_tables(const struct whatif *whatif, const struct edit *edits, struct result *result)
{
    if (whatif->batch != 1 && whatif->then_low_ns > 0)
        notice_batch(whatif, result);
    else
        notice_gain(whatif, result);
    add_result(whatif, result);
    add_edits(whatif, edits, result);
    whatif_tables_add_steps(whatif, result);
    add_paths(whatif, result);
    add_assumptions(whatif, edits, result);
    notice_profiled(whatif, edits, result);
    if (whatif->steps->overlapping)
        result_add_notice(result, "overlapping_steps", (int64_t)whatif->steps->overlapping, NULL, TPA_NOWHERE,
                          "%zu steps overlap others and do not count", whatif->steps->overlapping);
}

/* ---- sweeps ---- */

static void draw_sweep(const struct sweep_row *rows, size_t count, const char *what, struct result *result)
{
    struct picture *picture = picture_open("sweep", what);
    struct chart *chart = picture_add_chart(picture, "sweep", "Predicted step time");
    chart->x = (struct chart_axis){ .title = "Of the recorded time", .kind = TABLE_SHARE };
    chart->y = (struct chart_axis){ .title = "Step time", .kind = TABLE_NS, .has_least = true };
    struct table *table = chart_add_table(chart, TABLE_OF_ROWS("sweep", NULL, sweep_columns, rows, count));
    chart_add_series(chart, (struct chart_series){ .mark = CHART_LINE,
                                                   .color = CHART_COLOR_OF_COMPUTATION,
                                                   .table = table,
                                                   .x = 0,
                                                   .y = 1,
                                                   .low = TABLE_NO_COLUMN });
    result->picture = picture;
}

void whatif_add_sweep(const struct sweep_point *points, size_t count, const char *what, struct result *result)
{
    struct sweep_row *rows = mem_zalloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct sweep_row){
            .factor = points[i].factor,
            .then_ns = points[i].then_ns,
            .gain_ns = points[i].now_ns - points[i].then_ns,
            .gain_share = sum_share(points[i].now_ns - points[i].then_ns, points[i].now_ns),
        };
    result_add_table(result, TABLE_OF_ROWS("sweep", "Sweep", sweep_columns, rows, count));
    draw_sweep(rows, count, what, result);
    free(rows);
}

const struct table_shape whatif_tables[] = {
    TABLE_SHAPE("result", result_columns), TABLE_SHAPE("steps", step_columns),
    TABLE_SHAPE("edits", edit_columns),    TABLE_SHAPE("path", path_columns),
    TABLE_SHAPE("sweep", sweep_columns),   { 0 },
};
