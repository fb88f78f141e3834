#include "diff/diff.h"

#include "base/demangle.h"
#include "base/rows.h"
#include "trace/step_name.h"
#include <inttypes.h>
#include <math.h>

/* "1.203ms" or "1203 bytes" as a figure of KIND; a time unless KIND is TABLE_BYTES. */
static const char *figure_text(enum table_kind kind, double value, struct arena *texts)
{
    /* rounded as in the tables */
    return arena_printf(texts, "%s",
                        kind == TABLE_BYTES ? SIZE_TEXT(llround(value)) : TIME_TEXT(round(value)));
}

/* "-1.2 % to +0.9 %": the interval of the change. */
static const char *interval_text(const struct finding *finding, struct arena *texts)
{
    return arena_printf(texts, "%+.1f %% to %+.1f %%", quantity_percent(finding->low / finding->before),
                        quantity_percent(finding->high / finding->before));
}

/* "slower between these two recordings": the verdict and its certainty. */
static const char *judgement(const struct diff *diff, const struct diff_metric *metric, struct arena *texts)
{
    const struct finding *finding = &metric->finding;
    const char *between = diff_is_exact(diff) || metric->kind == TABLE_BYTES ? "" : diff_between(finding);
    SCOPED struct buffer lacks = { 0 };
    lacks_append_meaning(&lacks, diff->sides[0]->lacks | diff->sides[1]->lacks);
    const char *text;
    if (lacks.count)
        text = arena_printf(texts, "cannot tell, as a recording is not complete (%s)", lacks.at);
    else if (finding->verdict == VERDICT_UNSURE)
        text = "unsure, as there are too few runs and steps";
    else if (finding->verdict == VERDICT_SAME && finding->p < 0.05)
        text = "less than --min-change";
    else if (finding->verdict == VERDICT_SAME && finding->basis == FINDING_BY_STEPS &&
             finding->low <= -finding->before)
        text =
            arena_printf(texts, "too few steps to tell a change (95 %%: %s)", interval_text(finding, texts));
    else if (finding->verdict == VERDICT_SAME && isfinite(finding->low))
        text = arena_printf(texts, "no significant change%s%s (95 %%: %s)", *between ? " " : "", between,
                            interval_text(finding, texts));
    else if (finding->verdict == VERDICT_SAME)
        text = "no significant change";
    else
        text = arena_printf(texts, "%s%s%s", verdict_name(finding->verdict, metric->kind),
                            *between ? " " : "", between);
    return text;
}

/* ---- the bars of both sides ---- */

static const struct {
    const char *key, *title;
    enum chart_color color;
} parts[] = {
    { "computation", "computing", CHART_COLOR_OF_COMPUTATION },
    { "exposed_communication", "exposed communication", CHART_COLOR_OF_COMMUNICATION },
    { "exposed_copies", "exposed copies", CHART_COLOR_OF_COPIES },
    { "gpu_idle", "idle", CHART_COLOR_OF_IDLE },
};
enum { PARTS = sizeof parts / sizeof *parts };

/* Total of what devices did on SIDE, in ns; 0 if unknown. */
static double diff_answer_whole_of(const struct diff *diff, int side)
{
    double whole = 0;
    for (size_t i = 0; i < PARTS; i++) {
        const struct diff_metric *metric = diff_metric(diff, parts[i].key);
        double value = metric ? side ? metric->finding.after : metric->finding.before : 0;
        whole += value > 0 ? value : 0;
    }
    return whole;
}

static void add_bars(const struct diff *diff, struct answer *answer, struct arena *texts)
{
    double whole[2] = { diff_answer_whole_of(diff, 0), diff_answer_whole_of(diff, 1) },
           longest = fmax(whole[0], whole[1]);
    if (!(whole[0] > 0) || !(whole[1] > 0) || !isfinite(longest))
        return;
    for (int side = 0; side < 2; side++) {
        struct answer_bar bar = { .title = side ? "after" : "before", .length = whole[side] / longest };
        for (size_t i = 0; i < PARTS; i++) {
            const struct diff_metric *metric = diff_metric(diff, parts[i].key);
            double value = metric ? side ? metric->finding.after : metric->finding.before : 0;
            double other = metric ? side ? metric->finding.before : metric->finding.after : 0;
            if (value > 0 || other > 0)
                *VEC_PUSH(&bar.parts) = (struct answer_part){
                    .title = parts[i].title,
                    .figure = side ? arena_printf(texts, "%s, was %s", figure_text(TABLE_NS, value, texts),
                                                  figure_text(TABLE_NS, other, texts))
                                   : figure_text(TABLE_NS, value, texts),
                    .share = value / whole[side],
                    .color = parts[i].color,
                    .section = "head",
                };
        }
        *VEC_PUSH(&answer->bars) = bar;
    }
    answer->legend = 1;
    answer->bars_title = arena_printf(texts, "What the GPU did in a %s", diff->unit);
}

/* ---- what changed most ---- */

static bool is_real(const struct finding *finding)
{
    return finding->verdict != VERDICT_SAME && finding->verdict != VERDICT_UNSURE;
}

/* Is ROW a step itself, which does not explain a longer step? */
static bool is_step(const struct diff_row *row)
{
    return step_name_is_mark(row->name, row->name_length);
}

/* Shorten a name for a sentence: a long name of C++ loses its brackets, then its end. */
static const char *brief_name(const struct diff_row *row, struct arena *texts)
{
    enum { LONGEST = 60 };
    const char *name = arena_strndup(texts, row->name, row->name_length);
    struct buffer full = { 0 };
    bool of_c = demangle_name(&full, name) || strncmp(name, "void ", 5) == 0 || strstr(name, "::");
    if (full.count)
        name = arena_strndup(texts, full.at, full.count);
    buffer_release(&full);
    if (strlen(name) <= LONGEST)
        return name;
    name += strncmp(name, "void ", 5) == 0 ? 5 : 0;
    size_t len = of_c ? strcspn(name, "<(") : 0;
    if (len == 0)
        len = strlen(name);
    if (len <= LONGEST)
        return arena_strndup(texts, name, len);
    size_t kept = LONGEST - strlen("...");
    while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) /* within a character of UTF-8 */
        kept--;
    return arena_printf(texts, "%.*s...", (int)kept, name);
}

struct change {
    const struct diff_rows *table;
    const struct diff_row *row;
    size_t place;      /* of its table, from 1 */
    const char *cause; /* the operator that launches the kernel, else its own name */
    double weight;
    size_t number; /* in the order of the tables */
};

struct changes {
    VEC_OF(struct change);
};

/* A change that is shown, and what changed by the same cause. */
struct change_card {
    const struct change *change, *with;
    size_t others; /* besides WITH */
};

static const char *change_cause_of(const struct diff *diff, const struct diff_rows *table,
                                   const struct diff_row *row, struct arena *texts)
{
    const char *name = arena_strndup(texts, row->name, row->name_length), *op = NULL;
    if (strcmp(table->key, "kernels") == 0) {
        op = measures_launcher(diff->sides[1], name);
        op = op ? op : measures_launcher(diff->sides[0], name);
    }
    return op ? op : name;
}

/* What changed significantly, the most important first. */
static struct changes changes_by_weight(const struct diff *diff, struct arena *texts)
{
    static const struct key by_weight[] = { DESC(struct change, weight), ASC(struct change, number),
                                            KEY_END };
    struct changes changes = { 0 };
    for (size_t t = 0; t < diff->tables.count; t++)
        for (size_t i = 0; i < diff->tables.at[t].rows.count; i++) {
            const struct diff_row *row = &diff->tables.at[t].rows.at[i];
            if (!is_real(&row->finding) || is_step(row))
                continue;
            *VEC_PUSH(&changes) =
                (struct change){ .table = &diff->tables.at[t],
                                 .row = row,
                                 .place = i + 1,
                                 .cause = change_cause_of(diff, &diff->tables.at[t], row, texts),
                                 .weight = row->weight,
                                 .number = changes.count };
        }
    SORT(&changes, by_weight);
    return changes;
}

static bool is_replaced(const struct change *change)
{
    return change->row->finding.verdict == VERDICT_GONE || change->row->finding.verdict == VERDICT_NEW;
}

/* Do they change by one cause? One row in two tables does, such as a line of code at the peak and at the end; so do an operator and
 * its kernels that change alike, and kernels of one operator of which some replace the others. */
static bool changes_have_one_cause(const struct change *one, const struct change *other)
{
    bool alike = one->row->finding.change * other->row->finding.change > 0;
    if (strcmp(one->cause, other->cause) != 0)
        return false;
    return one->table == other->table ? is_replaced(one) && is_replaced(other) : alike;
}

/* "from 2.00 MB to 10.00 MB; with it attn_fwd (+85.736us) and 2 others". */
static const char *diff_answer_where_text(const struct change_card *card, struct arena *texts)
{
    enum table_kind kind = card->change->table->kind;
    const struct finding *finding = &card->change->row->finding;
    const char *levels = arena_printf(texts, "from %s to %s", figure_text(kind, finding->before, texts),
                                      figure_text(kind, finding->after, texts));
    if (!card->with)
        return levels;
    const struct finding *with = &card->with->row->finding;
    bool again = card->with->row->name_length == card->change->row->name_length &&
                 memcmp(card->with->row->name, card->change->row->name, card->with->row->name_length) == 0;
    return arena_printf(texts, "%s; with it %s (%s%s)%s", levels,
                        again ? card->with->table->title : brief_name(card->with->row, texts),
                        with->change > 0 ? "+" : "",
                        figure_text(card->with->table->kind, with->change, texts),
                        card->others == 0   ? ""
                        : card->others == 1 ? " and 1 other"
                                            : arena_printf(texts, " and %zu others", card->others));
}

static bool is_good(const struct finding *finding)
{
    return finding->verdict == VERDICT_LESS || finding->verdict == VERDICT_GONE;
}

/* The GPU of each side; false: neither is known. */
static bool find_gpus(const struct diff *diff, const char *gpu[2])
{
    for (size_t side = 0; side < 2; side++)
        gpu[side] = measures_fact(diff->sides[side], "gpu");
    return gpu[0] && gpu[1] &&
           (strcmp(gpu[0], MEASURE_UNKNOWN_GPU) != 0 || strcmp(gpu[1], MEASURE_UNKNOWN_GPU) != 0);
}

/* "launched by aten::mm; look at what changed there: undoing it would save as much". */
static const char *advice_text(const struct diff *diff, const struct change_card *card, bool first,
                               struct arena *texts)
{
    const char *gpu[2];
    bool same_gpu = !find_gpus(diff, gpu) || strcmp(gpu[0], gpu[1]) == 0;
    const struct diff_row *row = card->change->row;
    bool launched = strlen(card->change->cause) != row->name_length ||
                    memcmp(card->change->cause, row->name, row->name_length) != 0;
    const char *by = launched ? arena_printf(texts, "launched by %s", card->change->cause) : "",
               *next = first && !same_gpu
                           ? "the GPU is another one, which changes every kernel: compare on one GPU first"
                       : first && !is_good(&row->finding)
                           ? "look at what changed there: undoing it would save as much"
                       : row->finding.verdict == VERDICT_NEW
                           ? "it was not there before: without it as much is saved"
                           : "";
    return *by || *next ? arena_printf(texts, "%s%s%s", by, *by && *next ? "; " : "", next) : NULL;
}

static void add_card(const struct diff *diff, const struct change_card *card, struct answer *answer,
                     struct arena *texts)
{
    const struct diff_row *row = card->change->row;
    const struct diff_rows *table = card->change->table;
    const struct finding *finding = &row->finding;
    const char *advice = advice_text(diff, card, answer->findings.count == 0, texts);
    *VEC_PUSH(&answer->findings) = (struct answer_finding){
        .title = arena_strndup(texts, row->name, row->name_length),
        .saves = arena_printf(texts, "%s%s per %s: %s", finding->change > 0 ? "+" : "",
                              figure_text(table->kind, finding->change, texts), diff->unit,
                              verdict_name(finding->verdict, table->kind)),
        .where = diff_answer_where_text(card, texts),
        .advice = advice,
        .section = table->key,
        .command = arena_printf(texts, "tpa diff --table %s", table->key),
        .row = card->change->place,
        .named = true,
        .good = is_good(finding),
    };
}

/* The most important changes, one card for each cause. */
static void add_changes(const struct diff *diff, struct answer *answer, struct arena *texts)
{
    enum { MOST = 3 };
    struct change_card cards[MOST] = { 0 };
    size_t count = 0;
    struct changes changes = changes_by_weight(diff, texts);
    FOR_EACH(change, &changes) {
        size_t own = 0;
        while (own < count && !changes_have_one_cause(cards[own].change, change))
            own++;
        if (own == count && count < MOST)
            cards[count++].change = change;
        else if (own < count && !cards[own].with)
            cards[own].with = change;
        else if (own < count)
            cards[own].others++;
    }
    for (size_t i = 0; i < count; i++)
        add_card(diff, &cards[i], answer, texts);
    VEC_FREE(&changes);
    answer->findings_title = "What changed most";
    if (count == 0)
        answer->nothing = "No row changed significantly.";
}

/* ---- the verdict ---- */

/* "+44.588ms computing, +12.705ms exposed copies": changes of what devices did, largest first; those below a tenth of
 * the total change are left out. */
static void add_parts(const struct diff *diff, double whole, struct buffer *out, struct arena *texts)
{
    bool said[PARTS] = { false };
    for (size_t n = 0; n < PARTS; n++) {
        size_t most = PARTS;
        double most_change = fabs(whole) / 10;
        for (size_t i = 0; i < PARTS; i++) {
            const struct diff_metric *metric = diff_metric(diff, parts[i].key);
            if (metric && !said[i] && is_real(&metric->finding) &&
                fabs(metric->finding.change) > most_change) {
                most_change = fabs(metric->finding.change);
                most = i;
            }
        }
        if (most == PARTS)
            return;
        said[most] = true;
        double change = diff_metric(diff, parts[most].key)->finding.change;
        buffer_printf(out, "%s%s%s %s", n ? ", " : "; of it ", change > 0 ? "+" : "",
                      figure_text(TABLE_NS, change, texts), parts[most].title);
    }
}

/* "; above all gemm (+14.982ms)": the row to name as the cause, of those with a significant change in the direction of
 * the total. */
static void add_cause(const struct diff *diff, const struct finding *whole, struct buffer *out,
                      struct arena *texts)
{
    const struct diff_row *most = NULL, *late = NULL;
    const struct diff_rows *table = NULL; /* of MOST */
    /* The total of snapshots is their peak, which the first table explains; the other is of their end. */
    bool snapshots = diff->sides[0]->source == MEASURE_SNAPSHOTS;
    size_t tables = snapshots && diff->tables.count > 1 ? 1 : diff->tables.count;
    for (size_t t = 0; t < tables; t++)
        FOR_EACH(row, &diff->tables.at[t].rows) {
            if (!is_real(&row->finding) || row->finding.change * whole->change <= 0)
                continue;
            if (row->weight > (most ? most->weight : 0)) {
                most = row;
                table = &diff->tables.at[t];
            }
            if (row->waits_for >= 0 &&
                fabs(row->finding.change) > (late ? late->finding.change : fabs(whole->change) / 10))
                late = row;
        }
    if (most) {
        const char *op =
            strcmp(table->key, "kernels") == 0
                ? measures_launcher(diff->sides[1], arena_strndup(texts, most->name, most->name_length))
                : NULL;
        buffer_printf(out, "; above all %s%s%s (%s%s)", brief_name(most, texts), op ? " of " : "",
                      op ? op : "", most->finding.change > 0 ? "+" : "",
                      figure_text(table->kind, most->finding.change, texts));
    }
    if (late)
        buffer_printf(out, "; the other ranks wait for rank %" PRId64, late->waits_for);
}

/* "+60.1 %", "x 34" from tenfold growth on. */
static const char *growth_text(double share, struct arena *texts)
{
    return share >= 9 ? arena_printf(texts, "x %.0f", 1 + share)
                      : arena_printf(texts, "%+.1f %%", quantity_percent(share));
}

static const char *capitalized(char *sentence)
{
    if (*sentence >= 'a' && *sentence <= 'z')
        *sentence = (char)(*sentence - 'a' + 'A');
    return sentence;
}

/* "Step time went from 77.502ms to 124.086ms (+60.1 %): slower; of it +44.588ms computing; most by gemm
 * (+30.112ms)." */
static const char *diff_answer_verdict_of(const struct diff *diff, struct arena *texts)
{
    const struct diff_metric *metric = &diff->metrics.at[0];
    const struct finding *finding = &metric->finding;
    double share = finding->before > 0 ? finding->change / finding->before : NAN;
    struct buffer out = { 0 };
    if (finding->present[0] != finding->present[1]) {
        return capitalized(arena_printf(
            texts, "%s is %s on the %s side and not recorded on the other: its change is unknown.",
            metric->title,
            figure_text(metric->kind, finding->present[0] ? finding->before : finding->after, texts),
            finding->present[0] ? "first" : "second"));
    }
    if (!isfinite(share))
        return NULL;
    if (finding->change == 0) /* exactly equal */
        buffer_printf(&out, "%s did not change: %s", metric->title,
                      figure_text(metric->kind, finding->after, texts));
    else
        buffer_printf(&out, "%s went from %s to %s (%s): %s", metric->title,
                      figure_text(metric->kind, finding->before, texts),
                      figure_text(metric->kind, finding->after, texts), growth_text(share, texts),
                      judgement(diff, metric, texts));
    if (is_real(finding)) {
        add_parts(diff, finding->change, &out, texts);
        add_cause(diff, finding, &out, texts);
    }
    buffer_putc(&out, '.');
    char *sentence = arena_strndup(texts, out.at, out.count);
    buffer_release(&out);
    return capitalized(sentence);
}

void diff_add_verdict(const struct diff *diff, struct result *result)
{
    const char *verdict = diff->metrics.count ? diff_answer_verdict_of(diff, &result->arena) : NULL;
    if (!verdict)
        return;
    ADD_NOTICE(result, "verdict", 1, "%s", verdict);
    result_make_verdict(result);
}

static void add_facts(const struct diff *diff, struct answer *answer, struct arena *texts)
{
    const char *gpu[2];
    if (find_gpus(diff, gpu))
        *VEC_PUSH(&answer->facts) =
            (struct answer_fact){ "GPU", strcmp(gpu[0], gpu[1]) == 0
                                             ? arena_strndup(texts, gpu[0], strlen(gpu[0]))
                                             : arena_printf(texts, "%s, was %s", gpu[1], gpu[0]) };
    *VEC_PUSH(&answer->facts) = (struct answer_fact){ "Program", "not known (only figures are compared)" };
    const char *producer = measures_fact(diff->sides[1], "producer");
    if (producer)
        *VEC_PUSH(&answer->facts) =
            (struct answer_fact){ "Written by", arena_strndup(texts, producer, strlen(producer)) };
    *VEC_PUSH(&answer->facts) =
        (struct answer_fact){ "Compared",
                              arena_printf(texts, "%zu %s%s against %zu", diff->samplings[1]->samples.count,
                                           diff->unit, diff->samplings[1]->samples.count == 1 ? "" : "s",
                                           diff->samplings[0]->samples.count) };
}

void diff_add_answer(const struct diff *diff, struct result *result)
{
    struct answer *answer = result_answer(result);
    add_facts(diff, answer, &result->arena);
    if (diff->metrics.count == 0)
        return;
    answer->verdict = diff_answer_verdict_of(diff, &result->arena);
    add_bars(diff, answer, &result->arena);
    add_changes(diff, answer, &result->arena);
}
