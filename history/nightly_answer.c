/* nightly_answer.c - see nightly_answer.h. */
#include "history/nightly_answer.h"

#include "base/quantity.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *figure_text(enum table_kind kind, double value, struct arena *texts)
{
    struct buffer text = { 0 };
    if (kind == TABLE_NS)
        quantity_append_rounded_time(&text, value);
    else if (kind == TABLE_BYTES)
        quantity_append_rounded_size(&text, llround(value));
    else if (kind == TABLE_SHARE)
        buffer_printf(&text, "%.1f %%", quantity_percent(value));
    else
        buffer_printf(&text, "%.0f", value);
    const char *kept = arena_strndup(texts, text.at, text.count);
    buffer_release(&text);
    return kept;
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

/* Regressions of CHOSEN, most important first. */
static void add_findings(const struct nightly *nightly, const size_t *chosen, size_t count,
                         struct answer *answer, struct arena *texts)
{
    enum { MOST = 3 };
    static const enum history_verdict bad[] = { HISTORY_NEW, HISTORY_EXISTING, HISTORY_UNSURE };
    const char *command = arena_printf(texts, "tpa nightly show --store STORE --run %" PRId64,
                                       nightly->runs.at[nightly->judged].id);
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
        for (size_t i = 0; i < count && answer->findings.count < MOST; i++) {
            size_t series = chosen[i];
            const struct history_finding *now = &nightly->history.series.at[series].now;
            if (!is_worse(nightly, series, bad[b]))
                continue;
            const struct nightly_run *first =
                now->first_bad < nightly->runs.count ? &nightly->runs.at[now->first_bad] : NULL;
            const struct nightly_run *good =
                now->last_good < nightly->runs.count ? &nightly->runs.at[now->last_good] : NULL;
            *VEC_PUSH(&answer->findings) = (struct answer_finding){
                .title = nightly_answer_name_of(nightly, series, texts),
                .saves = arena_printf(texts, "%s: %s", history_verdict_name(bad[b]),
                                      change_text(nightly, series, texts)),
                .where = !first ? NULL
                                : arena_printf(texts, "since run %" PRId64 "%s%s", first->id,
                                               first->commit ? ", commit " : "",
                                               first->commit ? first->commit : ""),
                .advice = good && first ? compare_text(good, first, texts) : NULL,
                .section = nightly->series.at[series].table,
                .command = command,
                .named = true,
            };
        }
    answer->findings_title = "What is worse";
    answer->nothing = "Nothing is NEW, EXISTING or UNSURE.";
}

/* "2 EXISTING, 1 UNSURE"; empty if there are no others. */
static const char *count_others(const size_t *counts, struct arena *texts)
{
    static const enum history_verdict verdicts[] = { HISTORY_EXISTING, HISTORY_UNSURE, HISTORY_FIXED };
    const char *others = "";
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        if (counts[verdicts[i]])
            others = arena_printf(texts, "%s%s%zu %s", others, *others ? ", " : "", counts[verdicts[i]],
                                  history_verdict_name(verdicts[i]));
    return others;
}

static const char *verdict_of(const struct nightly *nightly, const struct answer *answer, struct arena *texts)
{
    size_t run = nightly->judged, counts[HISTORY_VERDICTS];
    for (size_t v = 0; v < HISTORY_VERDICTS; v++)
        counts[v] = nightly_count(nightly, run, (enum history_verdict)v);
    const char *others = count_others(counts, texts);
    if (counts[HISTORY_NEW] == 0)
        return run == 0 ? "This is the first run: there is nothing to compare it with yet."
                        : arena_printf(texts, "Nothing is NEW%s%s.", *others ? "; " : "", others);
    const char *first = answer->findings.count ? answer->findings.at[0].title : NULL;
    return arena_printf(
        texts, "%zu NEW%s%s%s%s.", counts[HISTORY_NEW], first ? ", above all " : "",
        first ? arena_printf(texts, "%s %s", first, strchr(answer->findings.at[0].saves, ' ') + 1) : "",
        *others ? "; besides " : "", others);
}

static void nightly_answer_add_fact(struct answer *answer, const char *label, const char *text)
{
    if (text && *text)
        *VEC_PUSH(&answer->facts) = (struct answer_fact){ label, text };
}

/* The first figure of the head over the runs that were compared. */
static void add_runs(const struct nightly *nightly, struct answer *answer, struct arena *texts)
{
    size_t head = 0;
    while (head < nightly->series.count && nightly->series.at[head].kind != TABLE_NS)
        head++;
    if (head == nightly->series.count)
        return;
    bool worse = is_worse(nightly, head, HISTORY_NEW) || is_worse(nightly, head, HISTORY_EXISTING);
    size_t first_bad = worse ? nightly->history.series.at[head].now.first_bad : SIZE_MAX;
    for (size_t run = 0; run <= nightly->judged; run++) {
        double level = nightly->history.series.at[head].level[run];
        if (level > 0 && level < 9e18)
            *VEC_PUSH(&answer->steps) =
                (struct answer_step){ .label = arena_printf(texts, "%" PRId64, nightly->runs.at[run].id),
                                      .ns = (int64_t)level,
                                      .start_ns = -1,
                                      .worse = run >= first_bad };
    }
    answer->step_word = "run";
    answer->steps_title =
        arena_printf(texts, "%s over the runs", nightly_answer_name_of(nightly, head, texts));
}

void nightly_add_answer(const struct nightly *nightly, struct result *result)
{
    struct answer *answer = result_answer(result);
    struct arena *texts = &result->arena;
    const struct nightly_run *run = &nightly->runs.at[nightly->judged];
    size_t *chosen = mem_alloc(mem_times(nightly->series.count + 1, sizeof *chosen));
    size_t count = nightly_choose(nightly, chosen);
    nightly_answer_add_fact(answer, "Run", arena_printf(texts, "%" PRId64, run->id));
    nightly_answer_add_fact(answer, "Label", run->label);
    nightly_answer_add_fact(answer, "Commit", run->commit);
    nightly_answer_add_fact(answer, "Host", run->host);
    nightly_answer_add_fact(answer, "GPU", run->gpu);
    nightly_answer_add_fact(answer, "Samples",
                            arena_printf(texts, "%" PRId64 " %s%s", run->sample_count, run->unit,
                                         run->sample_count == 1 ? "" : "s"));
    nightly_answer_add_fact(answer, "Earlier runs", arena_printf(texts, "%zu", nightly->judged));
    add_findings(nightly, chosen, count, answer, texts);
    answer->verdict = verdict_of(nightly, answer, texts);
    add_runs(nightly, answer, texts);
    free(chosen);
}
