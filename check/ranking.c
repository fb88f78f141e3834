/* ranking.c - see ranking.h. */
#include "check/ranking.h"

#include "analyze/top/top.h"
#include <ctype.h>

/* What a word says; one that is not in the list makes the sentence one that is not read. */
enum {
    SAYS_NOTHING = 0,
    SAYS_FIRST = 1 << 0, /* largest, most expensive, top: by the time that it takes in all */
    SAYS_SLOW = 1 << 1,  /* slowest, longest: by that, or of a run */
    SAYS_MOST = 1 << 2,  /* most of the time, most often */
    SAYS_MORE = 1 << 3,  /* more, longer, slower */
    SAYS_LESS = 1 << 4,  /* less, shorter, faster */
    SAYS_THAN = 1 << 5,
    SAYS_OFTEN = 1 << 6, /* often, launched, calls */
    SAYS_TIME = 1 << 7,
    SAYS_KERNEL = 1 << 8,
    SAYS_OPERATOR = 1 << 9,
    SAYS_DEVICE = 1 << 10,
    SAYS_HOST = 1 << 11,
    SAYS_SELF = 1 << 12,
    SAYS_TOTAL = 1 << 13,
    SAYS_RUNS = 1 << 14, /* slower, faster, longer: of a run, or in all */
    SAYS_FAST = 1 << 15, /* fastest, shortest */
    SAYS_STEP = 1 << 16,
    SAYS_RANK = 1 << 17,
};

struct saying {
    const char *text;
    unsigned says;
};

/* clang-format off */
static const struct saying sayings[] = {
    { "a", 0 }, { "all", 0 }, { "and", 0 }, { "are", 0 }, { "at", 0 }, { "by", 0 }, { "call", SAYS_OFTEN }, { "called", SAYS_OFTEN },
    { "calls", SAYS_OFTEN }, { "clearly", 0 }, { "costs", SAYS_TIME }, { "costly", SAYS_FIRST }, { "cpu", SAYS_HOST }, { "cuda", SAYS_DEVICE },
    { "device", SAYS_DEVICE }, { "dominant", SAYS_FIRST }, { "expensive", SAYS_FIRST }, { "far", 0 }, { "faster", SAYS_LESS | SAYS_RUNS }, { "fastest", SAYS_FAST },
    { "frequently", SAYS_OFTEN }, { "goes", 0 }, { "gpu", SAYS_DEVICE }, { "has", 0 }, { "heaviest", SAYS_FIRST }, { "host", SAYS_HOST },
    { "in", 0 }, { "is", 0 }, { "it", 0 }, { "its", 0 }, { "kernel", SAYS_KERNEL }, { "kernels", SAYS_KERNEL }, { "largest", SAYS_FIRST },
    { "launched", SAYS_OFTEN }, { "less", SAYS_LESS }, { "longer", SAYS_MORE | SAYS_RUNS }, { "longest", SAYS_SLOW }, { "more", SAYS_MORE },
    { "most", SAYS_MOST }, { "needs", SAYS_TIME }, { "of", 0 }, { "often", SAYS_OFTEN }, { "on", 0 }, { "one", 0 }, { "op", SAYS_OPERATOR },
    { "operator", SAYS_OPERATOR }, { "operators", SAYS_OPERATOR }, { "ops", SAYS_OPERATOR }, { "overall", SAYS_TOTAL }, { "profile", 0 },
    { "biggest", SAYS_FIRST }, { "rank", SAYS_RANK }, { "ranks", SAYS_RANK }, { "recording", 0 }, { "s", 0 }, { "self", SAYS_SELF }, { "shorter", SAYS_LESS | SAYS_RUNS }, { "shortest", SAYS_FAST }, { "single", 0 },
    { "slower", SAYS_MORE | SAYS_RUNS }, { "slowest", SAYS_SLOW }, { "spends", SAYS_TIME }, { "spent", SAYS_TIME }, { "step", SAYS_STEP }, { "steps", SAYS_STEP }, { "takes", SAYS_TIME },
    { "than", SAYS_THAN }, { "that", 0 }, { "the", 0 }, { "this", 0 }, { "time", SAYS_TIME }, { "to", 0 }, { "took", SAYS_TIME },
    { "top", SAYS_FIRST }, { "total", SAYS_TOTAL }, { "trace", 0 }, { "was", 0 }, { "went", 0 }, { "with", 0 },
};
/* clang-format on */

static const struct saying *find_saying(const char *text)
{
    for (size_t i = 0; text && i < sizeof sayings / sizeof *sayings; i++)
        if (strcmp(sayings[i].text, text) == 0)
            return &sayings[i];
    return NULL;
}

/* A sentence in which each word is known. Behind what it ranks may be a figure, which is another statement. */
struct sentence {
    unsigned says;
    const struct check_name *names[2];
    int64_t numbers[2]; /* of steps or ranks, instead of names */
    bool numbered;
    int64_t rank; /* that it is about; TABLE_INT_MISSING: none */
    size_t count;
    size_t than;   /* names before it */
    bool majority; /* "most of the time", which may be more than half of it; not "the most time" */
};

/* The number at I: of a step or a rank. */
static bool sentence_add_number(struct sentence *sentence, const struct tokens *tokens, size_t first,
                                size_t i)
{
    long double value = tokens->at[i].figure.value;
    const char *thing = i > first ? tokens->at[i - 1].text : NULL,
               *before = i > first + 1 ? tokens->at[i - 2].text : NULL;
    bool is_rank = thing && strcmp(thing, "rank") == 0, is_step = thing && strcmp(thing, "step") == 0;
    if (!(value >= 0 && value < 0x1p62L) || !(is_rank || is_step))
        return false;
    if (is_rank && before && strcmp(before, "on") == 0 && sentence->rank == TABLE_INT_MISSING) {
        sentence->rank = (int64_t)value;
        return true;
    }
    if (sentence->count == 2 || (sentence->count && !sentence->numbered))
        return false;
    sentence->numbered = true;
    sentence->numbers[sentence->count++] = (int64_t)value;
    return true;
}

/* Does the word at I lead to a figure: "at 12 ms", "with about 3 ms"? */
static bool is_tail(const struct tokens *tokens, size_t i, size_t end)
{
    static const char *const leads[] = { "at", "with", "about", "taking", "which", "roughly" };
    const char *text = tokens->at[i].text;
    bool leads_on = false;
    for (size_t w = 0; text && w < sizeof leads / sizeof *leads; w++)
        leads_on |= strcmp(leads[w], text) == 0;
    for (size_t on = 1; leads_on && on <= 3 && i + on < end; on++)
        if (tokens->at[i + on].kind == TOKEN_NUMBER)
            return true;
    return false;
}

static bool ranking_read_sentence(const struct tokens *tokens, size_t first, size_t end,
                                  struct sentence *sentence)
{
    static const char *const verbs[] = { "is", "was", "are", "has" }; /* then it is a query */
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (first < end && tokens->at[first].text && strcmp(tokens->at[first].text, verbs[i]) == 0)
            return false;
    bool in_tail = false;
    for (size_t i = first; i < end; i++) {
        const struct token *token = &tokens->at[i];
        const struct saying *saying = find_saying(token->text);
        if (saying && strcmp(saying->text, "one") == 0 && i + 1 < end && tokens->at[i + 1].kind == TOKEN_WORD)
            return false; /* one of the largest */
        bool is_mark = (token->kind == TOKEN_MARK || token->kind == TOKEN_CLAUSE) &&
                       !(token->text && isalpha((unsigned char)token->text[0]));
        if (token->kind == TOKEN_NUMBER && token->figure.is_label && !in_tail) {
            if (!sentence_add_number(sentence, tokens, first, i))
                return false;
        } else if (token->kind == TOKEN_NUMBER) {
            if (!sentence->count || !token->figure.has_unit)
                return false;
            in_tail = true;
        } else if (token->kind == TOKEN_NAME) {
            bool is_step = token->step >= 0;
            if (in_tail || sentence->count == 2 || (!is_step && (!token->name || token->several)) ||
                (sentence->count && sentence->numbered != is_step))
                return false;
            sentence->numbered = is_step;
            sentence->says |= is_step ? SAYS_STEP : 0;
            sentence->numbers[sentence->count] = token->step;
            sentence->names[sentence->count++] = token->name;
        } else if (token->kind == TOKEN_DIRECTION || (!saying && !is_mark && !is_tail(tokens, i, end))) {
            return false;
        } else if (in_tail && saying &&
                   saying->says & ~(unsigned)(SAYS_TIME | SAYS_TOTAL | SAYS_DEVICE | SAYS_HOST)) {
            return false;
        } else if (saying && !in_tail) {
            if (saying->says & SAYS_THAN)
                sentence->than = sentence->count;
            if (saying->says & SAYS_MOST)
                sentence->majority =
                    i == first || !tokens->at[i - 1].text || strcmp(tokens->at[i - 1].text, "the") != 0;
            sentence->says |= saying->says;
        }
    }
    return true;
}

/* ---- figures ---- */

enum measure {
    M_COUNT,
    M_KERNEL_SUM,
    M_HOST_SELF,
    M_HOST_TOTAL,
    M_DEVICE_SELF,
    M_DEVICE_TOTAL,
    M_MEAN,
    M_MAX,
    MEASURES
};
#define SET_OF(item) (1u << (item))

static const char *const quantities[MEASURES] = {
    [M_COUNT] = "count",
    [M_KERNEL_SUM] = "total_ns",
    [M_HOST_SELF] = "self_cpu_time_total_ns",
    [M_HOST_TOTAL] = "cpu_time_total_ns",
    [M_DEVICE_SELF] = "self_device_time_total_ns",
    [M_DEVICE_TOTAL] = "device_time_total_ns",
    [M_MEAN] = "average_ns",
    [M_MAX] = "max_ns",
};

enum ranked { IN_NONE, IN_OPERATORS, IN_KERNELS, IN_COPIES };

/* The events of a name. */
struct of_name {
    int64_t count, sum_ns, max_ns;
    unsigned kinds; /* set of enum event_kind */
};

struct ranks {
    const struct check_facts *facts;
    const struct top *top;
    struct of_name *of; /* by id */
    size_t names;
    uint32_t file; /* that of all rows */
};

/* Of FILE alone. */
static struct ranks sum_names(const struct check_facts *facts, uint32_t file)
{
    const struct top *top = check_facts_top(facts);
    const struct trace *trace = top->trace;
    struct ranks ranks = { facts, top, NULL, names_count(trace->names), file };
    ranks.of = mem_zalloc(ranks.names + 1, sizeof *ranks.of);
    for (event_id e = 0; e < trace->event_count; e++) {
        struct of_name *of = &ranks.of[trace->name[e]];
        if (trace_file_of(trace, e) != file)
            continue;
        int64_t ns = trace_dur_ns(trace, e);
        of->count++;
        of->sum_ns = sum_plus(of->sum_ns, ns);
        of->max_ns = ns > of->max_ns ? ns : of->max_ns;
        of->kinds |= 1u << trace->kind[e];
    }
    return ranks;
}

/* What row I of top is; IN_NONE: something that sentences do not rank, or several things. */
static enum ranked ranked_of(const struct ranks *ranks, size_t i)
{
    name_id id = check_row_name(ranks->facts, i);
    if (ranks->top->trace->file_count > 1 && ranks->top->at[i].file != ranks->file)
        return IN_NONE;
    unsigned kinds = id < ranks->names ? ranks->of[id].kinds : 0;
    return kinds == SET_OF(EVENT_OP)                                            ? IN_OPERATORS
           : kinds == SET_OF(EVENT_KERNEL)                                      ? IN_KERNELS
           : kinds && !(kinds & ~(SET_OF(EVENT_MEMCPY) | SET_OF(EVENT_MEMSET))) ? IN_COPIES
                                                                                : IN_NONE;
}

/* The figure of row I of top; below 0: it has none. */
static int64_t figure_of(const struct ranks *ranks, size_t i, enum measure measure)
{
    const struct top_row *row = &ranks->top->at[i];
    const struct of_name *of = &ranks->of[check_row_name(ranks->facts, i)];
    bool on_device = row->on_device;
    switch (measure) {
    case M_COUNT: return of->count;
    case M_KERNEL_SUM: return on_device ? of->sum_ns : -1;
    case M_HOST_SELF: return on_device ? -1 : row->self_cpu_ns;
    case M_HOST_TOTAL: return on_device ? -1 : row->cpu_ns;
    case M_DEVICE_SELF: return on_device || !ranks->top->has_device_time ? -1 : row->self_device_ns;
    case M_DEVICE_TOTAL: return on_device || !ranks->top->has_device_time ? -1 : row->device_ns;
    case M_MEAN: return of->count ? of->sum_ns / of->count : -1;
    default: return of->max_ns;
    }
}

static size_t row_of_name(const struct ranks *ranks, const struct check_name *name)
{
    size_t i = 0;
    while (i < ranks->top->count &&
           (check_row_name(ranks->facts, i) != check_name_id(name) || ranked_of(ranks, i) == IN_NONE))
        i++;
    return i;
}

/* Where a row stands by a measure. */
struct standing {
    bool above, below; /* both: too close to be said */
    size_t first;      /* the row that is first */
    double share;      /* of all */
};

static struct standing compare(int64_t figure, int64_t other, bool or_equal)
{
    bool close = figure > other - other / 32 && figure < other + other / 32 && !(or_equal && figure >= other);
    return (struct standing){ .above = close || figure > other || (or_equal && figure == other),
                              .below = close || (figure < other && !(or_equal && figure == other)) };
}

static struct standing stand_first(const struct ranks *ranks, size_t row, enum measure measure,
                                   bool kernels_only)
{
    enum ranked group = ranked_of(ranks, row);
    int64_t own = figure_of(ranks, row, measure), best = 0, all = 0;
    size_t first = row;
    for (size_t i = 0; i < ranks->top->count; i++) {
        enum ranked other = ranked_of(ranks, i);
        bool same = group == IN_OPERATORS ? other == group
                                          : other == IN_KERNELS || (other == IN_COPIES && !kernels_only);
        int64_t figure = same ? figure_of(ranks, i, measure) : -1;
        if (figure < 0)
            continue;
        all = sum_plus(all, figure);
        if (i != row && figure > best) {
            best = figure;
            first = i;
        }
    }
    struct standing standing = compare(own, best, true);
    standing.first = own >= best ? row : first;
    standing.share = all > 0 ? (double)own / (double)all : 0;
    return standing;
}

/* ---- sentences ---- */

/* The measures by which a sentence may rank: a set; none: it cannot be judged. */
static unsigned measures_of(const struct sentence *sentence)
{
    const unsigned of_host = SET_OF(M_HOST_SELF) | SET_OF(M_HOST_TOTAL),
                   of_device = SET_OF(M_DEVICE_SELF) | SET_OF(M_DEVICE_TOTAL),
                   of_runs = SET_OF(M_MEAN) | SET_OF(M_MAX);
    unsigned says = sentence->says;
    bool kernel = says & SAYS_KERNEL, host = says & SAYS_HOST, device = says & SAYS_DEVICE;
    if (says & SAYS_OFTEN) /* most often, more often: nothing about time */
        return says & (SAYS_TIME | SAYS_FIRST | SAYS_SLOW | SAYS_SELF | SAYS_TOTAL | SAYS_RUNS)
                   ? 0
                   : SET_OF(M_COUNT);
    if ((host && device) || (kernel && (host || says & (SAYS_OPERATOR | SAYS_SELF))) ||
        (says & SAYS_SELF && says & SAYS_TOTAL))
        return 0;
    unsigned sums = kernel   ? SET_OF(M_KERNEL_SUM)
                    : host   ? of_host
                    : device ? of_device | SET_OF(M_KERNEL_SUM)
                             : of_host | of_device | SET_OF(M_KERNEL_SUM);
    if (says & SAYS_SELF)
        sums &= SET_OF(M_HOST_SELF) | SET_OF(M_DEVICE_SELF);
    if (says & SAYS_TOTAL)
        return sums & (SET_OF(M_HOST_TOTAL) | SET_OF(M_DEVICE_TOTAL) | SET_OF(M_KERNEL_SUM));
    return says & (SAYS_SLOW | SAYS_RUNS) ? sums | of_runs : sums;
}

/* Is it the form of a superlative, or of a comparison, rather than another sentence of such words? */
static bool is_superlative(const struct sentence *sentence)
{
    unsigned says = sentence->says, kinds = says & (SAYS_FIRST | SAYS_SLOW | SAYS_MOST);
    bool most = says & SAYS_MOST && !(says & SAYS_FIRST);
    if (sentence->count != 1 || !kinds || says & (SAYS_MORE | SAYS_LESS | SAYS_THAN) ||
        (says & SAYS_SLOW && kinds != SAYS_SLOW))
        return false;
    return most ? (says & (SAYS_TIME | SAYS_OFTEN)) != 0 : (says & (SAYS_KERNEL | SAYS_OPERATOR)) != 0;
}

static bool is_comparison(const struct sentence *sentence)
{
    unsigned says = sentence->says, way = says & (SAYS_MORE | SAYS_LESS);
    return sentence->count == 2 && sentence->than == 1 && says & SAYS_THAN &&
           (way == SAYS_MORE || way == SAYS_LESS) && !(says & (SAYS_FIRST | SAYS_SLOW | SAYS_MOST)) &&
           says & (SAYS_TIME | SAYS_OFTEN | SAYS_RUNS);
}

/* May row I be what SENTENCE ranks? */
static bool fits(const struct ranks *ranks, const struct sentence *sentence, size_t i)
{
    enum ranked group = i < ranks->top->count ? ranked_of(ranks, i) : IN_NONE;
    return sentence->says & SAYS_KERNEL     ? group == IN_KERNELS
           : sentence->says & SAYS_OPERATOR ? group == IN_OPERATORS
                                            : group != IN_NONE;
}

/* Judge SENTENCE by all of MEASURES: if they do not agree, it is left open. */
static struct ranking judge_ranking(const struct ranks *ranks, const struct sentence *sentence,
                                    unsigned measures)
{
    struct ranking ranking = { 0 };
    bool compares = is_comparison(sentence), above = false, below = false;
    size_t row = row_of_name(ranks, sentence->names[0]);
    size_t other = compares ? row_of_name(ranks, sentence->names[1]) : row;
    if (!fits(ranks, sentence, row) || !fits(ranks, sentence, other) ||
        (ranked_of(ranks, row) == IN_OPERATORS) != (ranked_of(ranks, other) == IN_OPERATORS))
        return ranking;
    bool on_device = ranked_of(ranks, row) != IN_OPERATORS;
    for (enum measure m = 0; m < MEASURES; m++) {
        if (!(measures & SET_OF(m)) || figure_of(ranks, row, m) < 0)
            continue;
        struct standing standing = !compares ? stand_first(ranks, row, m, sentence->says & SAYS_KERNEL)
                                   : sentence->says & SAYS_LESS
                                       ? compare(figure_of(ranks, other, m), figure_of(ranks, row, m), false)
                                       : compare(figure_of(ranks, row, m), figure_of(ranks, other, m), false);
        above |= standing.above;
        below |= standing.below;
        if (!compares && sentence->majority && m != M_COUNT && standing.share <= 0.5)
            below = true;
        if (ranking.quantity)
            continue;
        size_t first = compares ? other : standing.first;
        ranking.quantity = quantities[m];
        ranking.first = ranks->top->at[first].name.at;
    }
    ranking.subject = check_name_text(sentence->names[0]);
    ranking.of = on_device ? RANKING_KERNELS : RANKING_OPERATORS;
    ranking.outcome = above == below ? RANKING_NONE : above ? RANKING_HOLDS : RANKING_FAILS;
    return ranking;
}

/* The time of step or rank NUMBER by the quantity KEY; below 0: it has none, or several. */
static int64_t figure_of_number(struct check_facts *facts, bool is_rank, int64_t number, int64_t rank,
                                const char *key)
{
    struct check_query query = { .subject = is_rank ? CHECK_STEPS : CHECK_STEP,
                                 .dimension = CHECK_TIME,
                                 .statistics = is_rank ? CHECK_MEAN : 0,
                                 .step = number,
                                 .rank = is_rank ? number : rank,
                                 .device = TABLE_INT_MISSING };
    SCOPED struct check_readings readings = { 0 };
    int64_t figure = -1;
    check_facts_answer(facts, &query, &readings);
    FOR_EACH(reading, &readings) {
        if (strcmp(reading->quantity, key) != 0 ||
            (reading->strength != CHECK_STRICT && (is_rank || strcmp(key, "step_ns") != 0)))
            continue;
        int64_t value = (int64_t)reading->value;
        figure = figure == -1 || figure == value ? value : -2;
    }
    return figure < 0 ? -1 : figure;
}

/* Steps and ranks: slowest, fastest, and one compared with another. By their time, with the work that they launched or on the host: one that
 * confirms is enough; if all contradict, and the time of a step as other commands define it, it is wrong. */
static struct ranking judge_numbers(struct check_facts *facts, const struct sentence *sentence, int64_t rank)
{
    enum { KEYS = 3 };
    static const char *const keys[2][KEYS] = { { "duration_ns", "host_duration_ns", "step_ns" },
                                               { "average_ns", "host_average_ns", "step_ns" } };
    struct ranking ranking = { 0 };
    unsigned says = sentence->says;
    bool is_rank = says & SAYS_RANK && !(says & SAYS_STEP), compares = is_comparison(sentence);
    unsigned ways = says & (SAYS_SLOW | SAYS_MOST | SAYS_FAST);
    if ((!is_rank && !(says & SAYS_STEP)) ||
        says & (SAYS_OFTEN | SAYS_KERNEL | SAYS_OPERATOR | SAYS_DEVICE | SAYS_HOST | SAYS_SELF | SAYS_FIRST |
                SAYS_TOTAL) ||
        (!compares &&
         (sentence->count != 1 || says & (SAYS_MORE | SAYS_LESS | SAYS_THAN) || (ways & (ways - 1)) ||
          !ways || (says & SAYS_MOST && (!(says & SAYS_TIME) || sentence->majority)))))
        return ranking;
    SCOPED VEC_OF(int64_t) others = { 0 };
    if (compares)
        *VEC_PUSH(&others) = sentence->numbers[1];
    int64_t other;
    for (size_t i = 0; !compares && check_number_at(facts, is_rank, i, &other); i++)
        if (other != sentence->numbers[0])
            *VEC_PUSH(&others) = other;
    bool less = compares ? (says & SAYS_LESS) != 0 : (says & SAYS_FAST) != 0, holds = false, fails = true;
    for (int k = 0; k < KEYS; k++) {
        int64_t own = figure_of_number(facts, is_rank, sentence->numbers[0], rank, keys[is_rank][k]);
        int64_t best = -1, number = 0;
        for (size_t i = 0; i < others.count; i++) {
            int64_t figure = figure_of_number(facts, is_rank, others.at[i], rank, keys[is_rank][k]);
            if (figure >= 0 && (best < 0 || (less ? figure < best : figure > best))) {
                best = figure;
                number = others.at[i];
            }
        }
        if (own < 0 || best < 0)
            continue;
        struct standing standing = less ? compare(best, own, !compares) : compare(own, best, !compares);
        holds |= standing.above && !standing.below && k < 2;
        fails &= standing.below && !standing.above;
        if (!ranking.quantity) {
            ranking.quantity = keys[is_rank][k];
            bool leads = !compares && (less ? own <= best : own >= best);
            ranking.number = sentence->numbers[0];
            ranking.first_number = leads ? sentence->numbers[0] : number;
        }
    }
    ranking.of = is_rank ? RANKING_RANKS : RANKING_STEPS;
    ranking.outcome = !ranking.quantity ? RANKING_NONE
                      : holds           ? RANKING_HOLDS
                      : fails           ? RANKING_FAILS
                                        : RANKING_NONE;
    return ranking;
}

/* Judge SENTENCE, about names, by FILE alone. */
static struct ranking rank_names(const struct check_facts *facts, const struct sentence *sentence,
                                 unsigned measures, uint32_t file)
{
    struct ranks ranks = sum_names(facts, file);
    struct ranking ranking = judge_ranking(&ranks, sentence, measures);
    free(ranks.of);
    return ranking;
}

struct ranking ranking_read(struct check_facts *facts, const struct tokens *tokens, size_t first, size_t end)
{
    struct sentence sentence = { .than = 2, .rank = TABLE_INT_MISSING };
    struct ranking ranking = { 0 };
    if (!ranking_read_sentence(tokens, first, end, &sentence))
        return ranking;
    unsigned measures = measures_of(&sentence);
    bool of_ranks = sentence.numbered && sentence.says & SAYS_RANK && !(sentence.says & SAYS_STEP);
    if (of_ranks)
        return judge_numbers(facts, &sentence, sentence.rank);
    if (!sentence.numbered && (!measures || sentence.says & (SAYS_STEP | SAYS_RANK | SAYS_FAST) ||
                               !(is_comparison(&sentence) || is_superlative(&sentence))))
        return ranking;
    const struct trace *trace = check_facts_top(facts)->trace;
    bool any = false;
    for (uint32_t file = 0; file < trace->file_count; file++) {
        if (sentence.rank != TABLE_INT_MISSING && selection_rank(trace, file) != sentence.rank)
            continue;
        struct ranking of_file = sentence.numbered
                                     ? judge_numbers(facts, &sentence, selection_rank(trace, file))
                                     : rank_names(facts, &sentence, measures, file);
        if (any && of_file.outcome != ranking.outcome)
            of_file.outcome = RANKING_NONE; /* no reading that all ranks agree on */
        ranking = of_file;
        any = true;
        if (ranking.outcome == RANKING_NONE)
            break;
    }
    return ranking;
}
