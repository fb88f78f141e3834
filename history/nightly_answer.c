#include "history/nightly_answer.h"

#include "diff/diff.h"
#include <inttypes.h>
#include <math.h>

static const char *figure_text(enum table_kind kind, double value, struct arena *texts)
{
    if (kind == TABLE_NS || kind == TABLE_BYTES)
        return arena_printf(texts, "%s", kind == TABLE_NS ? TIME_TEXT(value) : SIZE_TEXT(llround(value)));
    return kind == TABLE_SHARE ? arena_printf(texts, "%.1f %%", quantity_percent(value))
                               : arena_printf(texts, "%.0f", value);
}

static const char *nightly_answer_name_of(const struct nightly *nightly, size_t series, struct arena *texts)
{
    size_t length = 0;
    const char *name = nightly_name(nightly, series, &length);
    return arena_strndup(texts, name, length);
}

/* "from 272.000us to 507.000us (+86.4 %)"; only the level if there is no reference. */
static const char *change_text(const struct nightly *nightly, size_t series, struct arena *texts)
{
    const struct history_finding *now = &nightly->history.series.at[series].now;
    enum table_kind kind = nightly->series.at[series].kind;
    if (!(now->reference > 0))
        return figure_text(kind, now->level, texts);
    return arena_printf(texts, "from %s to %s (%+.1f %%)", figure_text(kind, now->reference, texts),
                        figure_text(kind, now->level, texts),
                        quantity_percent((now->level - now->reference) / now->reference));
}

static bool is_worse(const struct nightly *nightly, size_t series, enum history_verdict verdict)
{
    return nightly->history.series.at[series].now.verdict == verdict;
}

/* "good until run 10, commit c10; tpa report RUN-10 RUN-11 -o compare.html compares the recordings": the store has none. */
static const char *compare_text(const struct nightly_run *good, const struct nightly_run *first,
                                struct arena *texts)
{
    return arena_printf(texts,
                        "good until run %" PRId64 "%s%s; to compare their recordings: tpa report RUN-%" PRId64
                        " RUN-%" PRId64 " -o compare.html",
                        good->id, good->commit ? ", commit " : "", good->commit ? good->commit : "", good->id,
                        first->id);
}

static size_t guilty_row(const struct nightly *nightly, enum history_verdict verdict);

static double nightly_change_of(const struct nightly *nightly, size_t series)
{
    const struct history_finding *now = &nightly->history.series.at[series].now;
    return now->level - now->reference;
}

/* Times that became worse in the same run by the same, such as a step's and that of the kernel that fills it. */
static bool have_one_cause(const struct nightly *nightly, size_t a, size_t b)
{
    const struct history_finding *one = &nightly->history.series.at[a].now,
                                 *other = &nightly->history.series.at[b].now;
    double change = nightly_change_of(nightly, a);
    return nightly->series.at[a].kind == TABLE_NS && nightly->series.at[b].kind == TABLE_NS &&
           one->verdict == other->verdict && one->first_bad == other->first_bad &&
           fabs(change - nightly_change_of(nightly, b)) <= 0.05 * fabs(change);
}

/* "sm90_xmma_gemm_bf16 and 3 others": the series of CHOSEN that have one cause with SERIES; NULL: none has. */
static const char *others_of_cause(const struct nightly *nightly, size_t series, const size_t *chosen,
                                   size_t count, struct arena *texts)
{
    size_t row = guilty_row(nightly, nightly->history.series.at[series].now.verdict), named = SIZE_MAX,
           others = 0;
    for (size_t i = 0; i < count; i++) {
        if (chosen[i] == series || !have_one_cause(nightly, series, chosen[i]))
            continue;
        named = named == SIZE_MAX || chosen[i] == row ? chosen[i] : named;
        others++;
    }
    if (others == 0)
        return NULL;
    const char *name = nightly_answer_name_of(nightly, named, texts);
    return others == 1 ? name
                       : arena_printf(texts, "%s and %zu other%s", name, others - 1, others == 2 ? "" : "s");
}

/* "since run 11, commit c11, and with it sm90_xmma_gemm_bf16". */
static const char *nightly_where_text(const struct nightly_run *first, const char *others,
                                      struct arena *texts)
{
    if (!first)
        return others ? arena_printf(texts, "and with it %s", others) : NULL;
    return arena_printf(texts, "since run %" PRId64 "%s%s%s%s", first->id, first->commit ? ", commit " : "",
                        first->commit ? first->commit : "", others ? ", and with it " : "",
                        others ? others : "");
}

/* Is CHOSEN[I] the first of its cause? */
static bool is_first_of_cause(const struct nightly *nightly, const size_t *chosen, size_t i)
{
    return !ANY(k, i, have_one_cause(nightly, chosen[k], chosen[i]));
}

/* Regressions of CHOSEN, most important first, one of each cause. */
static void add_findings(const struct nightly *nightly, const size_t *chosen, size_t count, const char *store,
                         struct answer *answer, struct arena *texts)
{
    enum { MOST = 3 };
    static const enum history_verdict bad[] = { HISTORY_NEW, HISTORY_EXISTING, HISTORY_UNSURE };
    const char *command =
        arena_printf(texts, "tpa nightly show --store %s --run %" PRId64, nightly_store_word(store, texts),
                     nightly->runs.at[nightly->judged].id);
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
        for (size_t i = 0; i < count && answer->findings.count < MOST; i++) {
            size_t series = chosen[i];
            const struct history_finding *now = &nightly->history.series.at[series].now;
            if (!is_worse(nightly, series, bad[b]) || !is_first_of_cause(nightly, chosen, i))
                continue;
            const struct nightly_run *first =
                now->first_bad < nightly->runs.count ? &nightly->runs.at[now->first_bad] : NULL;
            const struct nightly_run *good =
                now->last_good < nightly->runs.count ? &nightly->runs.at[now->last_good] : NULL;
            *VEC_PUSH(&answer->findings) = (struct answer_finding){
                .title = nightly_answer_name_of(nightly, series, texts),
                .saves = arena_printf(texts, "%s: %s", history_verdict_name(bad[b]),
                                      change_text(nightly, series, texts)),
                .where =
                    nightly_where_text(first, others_of_cause(nightly, series, chosen, count, texts), texts),
                .advice = good && first ? compare_text(good, first, texts) : NULL,
                .section = nightly->series.at[series].table,
                .command = command,
                .named = true,
            };
        }
    answer->findings_title = "What is worse";
    answer->nothing = "Nothing is NEW, EXISTING or UNSURE.";
}

/* ---- the headline ---- */

const char *nightly_store_word(const char *store, struct arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+:@%=,";
    if (*store && store[strspn(store, plain)] == '\0' && *store != '-')
        return arena_strndup(arena, store, strlen(store));
    SCOPED struct buffer word = { 0 };
    buffer_putc(&word, '\'');
    for (const char *at = store; *at; at++)
        if (*at == '\'')
            buffer_puts(&word, "'\\''");
        else
            buffer_putc(&word, *at);
    buffer_putc(&word, '\'');
    return arena_strndup(arena, word.at, word.count);
}

/* The series to report first: the main figure if it has VERDICT, else any with it that is largest; HISTORY_NO_RUN. */
static size_t first_with(const struct nightly *nightly, enum history_verdict verdict)
{
    size_t found = HISTORY_NO_RUN;
    for (size_t i = 0; i < nightly->series.count; i++) {
        const struct history_finding *now = &nightly->history.series.at[i].now;
        if (now->verdict != verdict || nightly->series.at[i].kind == TABLE_SHARE)
            continue;
        if (nightly->history.series.at[i].group == HISTORY_STEP)
            return i;
        const struct history_finding *best =
            found == HISTORY_NO_RUN ? NULL : &nightly->history.series.at[found].now;
        if (!best || fabs(now->level - now->reference) > fabs(best->level - best->reference))
            found = i;
    }
    return found;
}

/* The row to blame: of the rows with VERDICT that became worse, the first by diff/diff.h. HISTORY_NO_RUN if none did. */
static size_t guilty_row(const struct nightly *nightly, enum history_verdict verdict)
{
    size_t found = HISTORY_NO_RUN;
    double most = 0;
    for (size_t i = 0; i < nightly->series.count; i++) {
        const struct nightly_series *series = &nightly->series.at[i];
        const struct history_finding *now = &nightly->history.series.at[i].now;
        if (strcmp(series->table, NIGHTLY_HEAD) == 0 || series->kind != TABLE_NS || now->verdict != verdict)
            continue;
        double weight =
            (now->level - now->reference) * cause_weight(cause_class_of(series->name, series->length));
        if (weight > most) {
            found = i;
            most = weight;
        }
    }
    return found;
}

/* " (2026-11-11, commit c11)": when RUN was, and of which commit. */
static const char *when_text(const struct nightly_run *run, struct arena *texts)
{
    return arena_printf(texts, "run %" PRId64 " (%.10s%s%s)", run->id, nightly_time_text(texts, run->time_ns),
                        run->commit ? ", commit " : "", run->commit ? run->commit : "");
}

/* "step time from 1.353ms to 1.464ms (+8.1 %, nights vary by 0.2 %)". */
static void nightly_answer_append_change(struct buffer *out, const struct nightly *nightly, size_t series,
                                         struct arena *texts)
{
    const struct history_finding *now = &nightly->history.series.at[series].now;
    enum table_kind kind = nightly->series.at[series].kind;
    buffer_printf(out, "%s ", nightly_answer_name_of(nightly, series, texts));
    if (!(now->reference > 0)) {
        buffer_puts(out, figure_text(kind, now->level, texts));
        return;
    }
    buffer_printf(out, "from %s to %s (%+.1f %%", figure_text(kind, now->reference, texts),
                  figure_text(kind, now->level, texts),
                  quantity_percent((now->level - now->reference) / now->reference));
    if (isfinite(now->noise))
        buffer_printf(out, ", nights vary by %.1f %%", quantity_percent(now->noise));
    buffer_putc(out, ')');
}

/* Nights that are worse, or perhaps worse. */
static void append_worse(struct buffer *out, const struct nightly *nightly, size_t series,
                         struct arena *texts)
{
    const struct history_finding *now = &nightly->history.series.at[series].now;
    if (now->verdict == HISTORY_UNSURE)
        buffer_puts(out, "Cannot tell: UNSURE, ");
    else
        buffer_printf(out, "%s: ", history_verdict_name(now->verdict));
    nightly_answer_append_change(out, nightly, series, texts);
    if (now->first_bad != HISTORY_NO_RUN)
        buffer_printf(out, " since %s", when_text(&nightly->runs.at[now->first_bad], texts));
    size_t row = guilty_row(nightly, now->verdict);
    if (row != HISTORY_NO_RUN && row != series) {
        buffer_puts(out, "; above all ");
        nightly_answer_append_change(out, nightly, row, texts);
    }
}

static void append_quiet(struct buffer *out, const struct nightly *nightly, size_t earlier,
                         struct arena *texts)
{
    size_t main = HISTORY_NO_RUN;
    for (size_t i = 0; i < nightly->series.count && main == HISTORY_NO_RUN; i++)
        if (nightly->history.series.at[i].group == HISTORY_STEP)
            main = i;
    const struct history_finding *now = main == HISTORY_NO_RUN ? NULL : &nightly->history.series.at[main].now;
    if (now && now->verdict == HISTORY_UNKNOWN) {
        buffer_puts(out, "Cannot tell: ");
        nightly_answer_append_change(out, nightly, main, texts);
        buffer_printf(out, "; %zu earlier run%s too few, it takes %d", earlier,
                      earlier == 1 ? " is" : "s are", HISTORY_LEAST_RUNS);
        return;
    }
    buffer_puts(out, "Nothing is NEW");
    if (now && isfinite(now->reference)) {
        buffer_puts(out, ": ");
        nightly_answer_append_change(out, nightly, main, texts);
        buffer_printf(out, ", with %zu earlier runs", earlier);
    }
}

const char *nightly_headline(const struct nightly *nightly, const char *store, struct arena *arena)
{
    static const enum history_verdict bad[] = { HISTORY_NEW, HISTORY_UNSURE, HISTORY_EXISTING };
    const struct nightly_run *run = &nightly->runs.at[nightly->judged];
    size_t earlier = nightly_earlier(nightly), series = HISTORY_NO_RUN;
    SCOPED struct buffer out = { 0 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad && series == HISTORY_NO_RUN; i++)
        series = first_with(nightly, bad[i]);
    if (run->no_baseline)
        buffer_printf(&out, "Cannot tell, and no baseline: %s", run->no_baseline);
    else if (earlier == 0)
        buffer_printf(&out, "Cannot tell: this is the first run of %s on %s", run->label, run->gpu);
    else if (series != HISTORY_NO_RUN)
        append_worse(&out, nightly, series, arena);
    else
        append_quiet(&out, nightly, earlier, arena);
    buffer_putc(&out, '.');
    if (series != HISTORY_NO_RUN && !run->no_baseline)
        buffer_printf(&out, " More: tpa nightly --store %s show --run %" PRId64,
                      nightly_store_word(store, arena), run->id);
    return arena_strndup(arena, out.at, out.count);
}

static void nightly_answer_add_fact(struct answer *answer, const char *label, const char *text)
{
    if (text && *text)
        *VEC_PUSH(&answer->facts) = (struct answer_fact){ label, text };
}

static void answer_add_trend(const struct nightly *nightly, size_t series, struct answer *answer,
                             struct arena *texts)
{
    const struct history_series *of = &nightly->history.series.at[series];
    struct answer_trend trend = { .title = nightly_answer_name_of(nightly, series, texts),
                                  .kind = nightly->series.at[series].kind };
    for (size_t run = 0; run <= nightly->judged; run++) {
        enum history_verdict verdict = of->verdicts ? (enum history_verdict)of->verdicts[run] : HISTORY_SAME;
        struct answer_run one = { .label = nightly_describe_run(texts, nightly, run, verdict),
                                  .tick = nightly_run_tick(texts, &nightly->runs.at[run]),
                                  .level = of->level[run],
                                  .low = NAN,
                                  .high = NAN,
                                  .worse = verdict == HISTORY_NEW || verdict == HISTORY_EXISTING };
        nightly_band(nightly, series, run, &one.low, &one.high);
        if (!isnan(one.level))
            *VEC_PUSH(&trend.runs) = one;
    }
    *VEC_PUSH(&answer->trends) = trend;
}

/* The first figure of the head over the runs, and the row that is to blame. */
static void add_trends(const struct nightly *nightly, struct answer *answer, struct arena *texts)
{
    size_t head = 0, row;
    while (head < nightly->series.count && nightly->series.at[head].kind != TABLE_NS)
        head++;
    if (head == nightly->series.count)
        return;
    answer_add_trend(nightly, head, answer, texts);
    row = guilty_row(nightly, nightly->history.series.at[head].now.verdict);
    if (row != HISTORY_NO_RUN && row != head)
        answer_add_trend(nightly, row, answer, texts);
}

void nightly_add_answer(const struct nightly *nightly, const char *store, struct result *result)
{
    struct answer *answer = result_answer(result);
    struct arena *texts = &result->arena;
    const struct nightly_run *run = &nightly->runs.at[nightly->judged];
    SCOPED size_t *chosen = mem_alloc(mem_times(nightly->series.count + 1, sizeof *chosen));
    size_t count = nightly_choose(nightly, chosen);
    nightly_answer_add_fact(answer, "Run", arena_printf(texts, "%" PRId64, run->id));
    nightly_answer_add_fact(answer, "Label", run->label);
    nightly_answer_add_fact(answer, "Commit", run->commit);
    nightly_answer_add_fact(answer, "Host", run->host);
    nightly_answer_add_fact(answer, "GPU", run->gpu);
    nightly_answer_add_fact(answer, "Samples",
                            arena_printf(texts, "%" PRId64 " %s%s", run->sample_count, run->unit,
                                         run->sample_count == 1 ? "" : "s"));
    nightly_answer_add_fact(answer, "Earlier runs", arena_printf(texts, "%zu", nightly_earlier(nightly)));
    add_findings(nightly, chosen, count, store, answer, texts);
    answer->verdict = nightly_headline(nightly, store, texts);
    const char *more = strstr(answer->verdict, " More: tpa ");
    if (more) { /* which the card says, too */
        const char *rest = strstr(answer->verdict, "; ");
        size_t first = rest && rest < more ? (size_t)(rest - answer->verdict) : 0;
        answer->headline = first ? arena_printf(texts, "%.*s.", (int)first, answer->verdict)
                                 : arena_strndup(texts, answer->verdict, (size_t)(more - answer->verdict));
        answer->because = first ? arena_strndup(texts, rest + 2, (size_t)(more - rest - 2)) : "";
    }
    add_trends(nightly, answer, texts);
}
