/* A scan of a clause gathers what its words say; decide_subject and the functions behind it make a query of that. A word
 * that changes the quantity to one that the facts do not have (WORD_OTHER: per, median, faster ...) makes the figure one that
 * cannot be checked, rather than one of another quantity. */
#include "check/statements.h"

/* What the words of a clause say. */
struct scan {
    unsigned bits;
    const struct check_name *name;                  /* the first */
    bool several_names, unclear_name, name_is_bare; /* without backticks */
    const char *unknown;  /* a name in backticks that the trace does not have; NULL: none */
    int64_t step;         /* step 3; -1: none */
    int64_t rank, device; /* TABLE_INT_MISSING: none */
    struct check_copies copies;
    bool all;      /* all ranks, across GPUs */
    bool per_step; /* per step, in each step */
    bool linked;   /* by a colon or such to its figure */
    bool goes_on;  /* of a lead: the longest gap in which the GPU is idle */
    enum check_side side;
    bool side_is_vague;
};

static const struct scan no_scan = { .step = -1, .rank = TABLE_INT_MISSING, .device = TABLE_INT_MISSING };

/* The clauses before, in the sentences of the line. */
struct context {
    bool valid;
    bool unknown; /* its subject is not in the trace */
    struct check_query query;
    const char *subject;
};

struct clause_reader {
    const struct check_facts *facts;
    const struct tokens *tokens;
    struct arena *arena;
    struct statements *statements;
    struct context context;
    bool new_sentence; /* the clause is the first of a sentence after the first */
    bool modal;
    bool is_cell; /* of a table: no sentence */
    bool is_part; /* of which 3 ms ... */
    bool unclear; /* the sentence is about reasons: a share may be of one of them */
    const struct token
        *ahead; /* the name that the first clause is about, which begins the next; NULL: none */
};

static bool word_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_CLAUSE || token->kind == TOKEN_MARK) &&
           token->text && strcmp(token->text, text) == 0;
}

static bool word_is_one_of(const struct token *token, const char *const *list)
{
    for (; *list; list++)
        if (word_is(token, *list))
            return true;
    return false;
}

/* ---- counts ---- */

#define WORDS_OF_COUNT (WORD_RUN | WORD_TIMES | WORD_KERNEL | WORD_COPY | WORD_STEP)

/* What a whole number counts. */
struct counted {
    unsigned bits;            /* of the noun; 0 if the token is not a count */
    bool nccl;                /* NCCL kernels */
    bool subset;              /* of the things counted, by a word that is not known here */
    const struct token *name; /* "12 `gemm` kernels" */
    size_t first, end;        /* the words of the noun: tokens that say nothing of other figures */
    bool aside;               /* in 6 steps: whatever the sentence is about */
};

/* "12 host-to-device copies", "12 times": the noun behind the number at I. */
static struct counted counted_behind(const struct tokens *tokens, size_t i, size_t end)
{
    enum { MOST_WORDS = 4 };
    static const char *const adjectives[] = { "total",    "training", "profiled", "recorded",
                                              "complete", "whole",    "marked",   "individual",
                                              "profiler", "-",        NULL };
    struct counted counted = { .first = i + 1 };
    for (size_t j = i + 1; j < end && j <= i + MOST_WORDS; j++) {
        const struct token *token = &tokens->at[j];
        if (token->kind == TOKEN_NAME) {
            counted.name = token;
            continue;
        }
        if (token->kind == TOKEN_DIRECTION)
            continue;
        if (token->kind != TOKEN_WORD && token->kind != TOKEN_MARK)
            break;
        unsigned noun = token->bits & WORDS_OF_COUNT;
        bool goes_on =
            j + 1 < end && tokens->at[j + 1].kind == TOKEN_WORD && (noun & (WORD_KERNEL | WORD_COPY)) &&
            tokens->at[j + 1].bits & (WORD_RUN | WORD_COPY) && !word_is(&tokens->at[j + 1], "ran") &&
            !word_is(&tokens->at[j + 1], "run") && !word_is(&tokens->at[j + 1], "running");
        if (noun && !goes_on) {
            counted.bits = noun;
            counted.end = j + 1;
            return counted;
        }
        counted.nccl |= (token->bits & WORD_NCCL) != 0;
        if (!noun && !(token->bits & (WORD_NCCL | WORD_DEVICE | WORD_HOST | WORD_PINNED | WORD_PAGEABLE)) &&
            !word_is_one_of(token, adjectives))
            counted.subset = true;
        if (goes_on && token->bits & WORD_COPY && !(tokens->at[j + 1].bits & WORD_COPY))
            counted.subset = true; /* memcpy calls */
    }
    return (struct counted){ 0 };
}

/* "Number of steps: 6", "the launch count of X is 12": the noun before the number at I. */
static struct counted counted_before(const struct tokens *tokens, size_t first, size_t i)
{
    static const char *const links[] = { ":",      "=",  "is", "are", "was", "were",
                                         "equals", "of", "to", "has", NULL };
    struct counted counted = { 0 };
    if (i == first || !word_is_one_of(&tokens->at[i - 1], links))
        return counted;
    bool number = false, plural = false;
    for (size_t j = first; j < i; j++) {
        const struct token *token = &tokens->at[j];
        if (token->kind != TOKEN_WORD && token->kind != TOKEN_DIRECTION && token->kind != TOKEN_MARK)
            continue;
        number |= (token->bits & WORD_NUMBER) != 0 || word_is(token, "#");
        counted.nccl |= (token->bits & WORD_NCCL) != 0;
        unsigned noun = token->bits & (WORDS_OF_COUNT & ~(unsigned)WORD_TIMES);
        if (!noun || token->kind == TOKEN_DIRECTION)
            continue;
        size_t len = strlen(token->text);
        plural = token->text[len - 1] == 's';
        if (counted.bits & WORD_RUN && number && noun & WORD_KERNEL)
            continue; /* the number of launches of the kernel */
        counted.bits = noun;
    }
    if (!counted.bits && number)
        counted.bits = WORD_RUN;
    if (!number && !plural)
        return (struct counted){ 0 };
    counted.first = counted.end = i;
    return counted;
}

static struct counted count_of(const struct tokens *tokens, size_t first, size_t i, size_t end)
{
    const struct figure *figure = &tokens->at[i].figure;
    if (figure->has_unit || !figure->whole || figure->is_label)
        return (struct counted){ 0 };
    static const char *const asides[] = { "in", "over", "across", NULL };
    struct counted counted = counted_behind(tokens, i, end);
    counted.aside = i > first && word_is_one_of(&tokens->at[i - 1], asides);
    return counted.bits ? counted : counted_before(tokens, first, i);
}

static bool is_candidate(const struct tokens *tokens, size_t first, size_t i, size_t end)
{
    return tokens->at[i].kind == TOKEN_NUMBER &&
           (tokens->at[i].figure.has_unit || tokens->at[i].figure.in_words ||
            count_of(tokens, first, i, end).bits);
}

/* ---- what a clause says ---- */

/* Is the side at I that of a time: CPU time, CUDA total, self CPU? */
static bool side_is_of_time(const struct tokens *tokens, size_t first, size_t i, size_t end)
{
    const unsigned around = WORD_SELF | WORD_TOTAL | WORD_MEAN;
    if (i > first && tokens->at[i - 1].kind == TOKEN_WORD && tokens->at[i - 1].bits & around)
        return true;
    if (i + 1 == end)
        return true;
    const struct token *next = &tokens->at[i + 1];
    return next->kind == TOKEN_NUMBER || word_is(next, ":") || word_is(next, "time") ||
           word_is(next, "duration") || (next->kind == TOKEN_WORD && next->bits & around);
}

static void scan_name(struct scan *scan, const struct token *token)
{
    if (token->step >= 0) {
        if (scan->step >= 0 && scan->step != token->step)
            scan->bits |= WORD_OTHER;
        scan->step = token->step;
        return;
    }
    if (token->several)
        scan->unclear_name = true;
    else if (!token->name)
        scan->unknown = token->text;
    else if (scan->name && !check_name_is_same(scan->name, token->name))
        scan->several_names = true;
    else {
        scan->name = token->name;
        scan->name_is_bare = !token->quoted;
    }
}

/* A number that names something: step 3, rank 0. */
static void scan_label(struct scan *scan, const struct tokens *tokens, size_t first, size_t i)
{
    size_t before = i > first ? i - 1 : i;
    if (before > first && word_is(&tokens->at[before], "#"))
        before--;
    if (!(tokens->at[i].figure.value > -0x1p62L &&
          tokens->at[i].figure.value < 0x1p62L)) /* it names nothing */
        return;
    int64_t number = (int64_t)tokens->at[i].figure.value;
    const struct token *thing = &tokens->at[before];
    if (word_is(thing, "step")) {
        scan->step = number;
        scan->bits &= ~(unsigned)WORD_STEP; /* unless another step is named, which comes later */
    } else if (word_is(thing, "rank")) {
        scan->rank = number;
    } else if (word_is(thing, "gpu") || word_is(thing, "device")) {
        scan->device = number;
    } else if (tokens->at[i].figure.is_label) {
        scan->bits |= WORD_OTHER;
    }
}

/* The bits of the word at I, by its neighbours. */
static unsigned bits_in_place(const struct tokens *tokens, size_t first, size_t i, size_t end,
                              struct scan *scan)
{
    static const char *const single[] = { "each", "per", "one", "single", "every", "a", "an", NULL };
    static const char *const runs[] = { "call", "run", "launch", NULL };
    static const char *const negations[] = { "not", "non", "nothing", "never", NULL };
    static const char *const whole[] = { "all", "both", "across", "every", NULL };
    const struct token *token = &tokens->at[i];
    const struct token *next = i + 1 < end ? &tokens->at[i + 1] : token;
    unsigned bits = token->bits;
    if (word_is_one_of(token, single)) {
        const struct token *noun = next;
        if (i + 2 < end &&
            (word_is(next, "single") || word_is(next, "individual") || word_is(next, "kernel")))
            noun = &tokens->at[i + 2];
        if (word_is_one_of(noun, runs))
            return WORD_MEAN;
        if (noun->kind == TOKEN_WORD && noun->bits & WORD_STEP && !word_is(token, "a")) {
            scan->per_step = true;
            return 0;
        }
    }
    if (bits & WORD_EXPOSED)
        return bits;
    if (bits & WORD_RUN && word_is(next, "for") && i + 2 < end && tokens->at[i + 2].kind == TOKEN_NUMBER)
        return WORD_TAKES; /* it runs for 3 ms */
    if (word_is(token, "nothing") && i > first &&
        (word_is(&tokens->at[i - 1], "doing") || word_is(&tokens->at[i - 1], "does")))
        return WORD_IDLE;
    if (word_is(token, "hidden") || word_is(token, "overlapped")) {
        for (size_t back = 1; back <= 2 && i >= first + back; back++)
            if (word_is_one_of(&tokens->at[i - back], negations))
                return WORD_EXPOSED;
    }
    if (word_is_one_of(token, negations)) {
        for (size_t on = 1; on <= 2 && i + on < end; on++)
            if (word_is(&tokens->at[i + on], "hidden") || word_is(&tokens->at[i + on], "overlapped"))
                return 0;
    }
    if (word_is(token, "span")) { /* 12 % of its span: the whole, not the figure */
        for (size_t back = 1; back <= 4 && i >= first + back; back++)
            if (word_is(&tokens->at[i - back], "of") && i > first + back &&
                tokens->at[i - back - 1].kind == TOKEN_NUMBER)
                return 0;
    }
    bool the = i > first && word_is(&tokens->at[i - 1], "the");
    if (the && (word_is(token, "last") || word_is(token, "first")))
        return WORD_OTHER;
    if (word_is(token, "during") && next->kind == TOKEN_NUMBER)
        return 0;
    if (word_is(token, "times") && next->kind == TOKEN_WORD &&
        (next->bits & WORD_OTHER || word_is(next, "as") || word_is(next, "the")))
        return WORD_OTHER; /* 3 times slower, 3 times the step */
    if (word_is_one_of(token, whole)) {
        for (size_t on = 1; on <= 3 && i + on < end; on++) {
            const struct token *of = &tokens->at[i + on];
            if (word_is(of, "ranks") || word_is(of, "gpus") || word_is(of, "devices")) {
                scan->all = true;
                return 0;
            }
        }
    }
    return bits;
}

/* Is the share at I one of the idle or busy time: 72 % of the GPU's idle time? */
static bool is_part_of_state(const struct tokens *tokens, size_t i, size_t end)
{
    static const char *const verbs[] = { "is", "are", "was", "were", "stays", "remains", NULL };
    if (i + 1 >= end || !word_is(&tokens->at[i + 1], "of"))
        return false;
    for (size_t j = i + 2; j < end && j <= i + 6; j++) {
        if (word_is_one_of(&tokens->at[j], verbs))
            return false;
        if (tokens->at[j].kind == TOKEN_WORD && tokens->at[j].bits & (WORD_IDLE | WORD_BUSY))
            return true;
    }
    return false;
}

/* Gather what the tokens from FIRST to END say; not those of MASKED, the nouns of counts, unless they are kept. */
static struct scan scan_tokens(const struct tokens *tokens, size_t first, size_t end, const bool *covered)
{
    struct scan scan = no_scan;
    for (size_t i = first; i < end; i++) {
        const struct token *token = &tokens->at[i];
        if (covered && covered[i] && token->kind == TOKEN_WORD)
            continue;
        switch (token->kind) {
        case TOKEN_NAME: scan_name(&scan, token); break;
        case TOKEN_NUMBER:
            if (token->figure.in_words)
                scan.bits |= WORD_OTHER;
            else if (!token->figure.has_unit)
                scan_label(&scan, tokens, first, i);
            else if (token->figure.dimension == CHECK_SHARE && is_part_of_state(tokens, i, end))
                scan.bits |= WORD_OTHER;
            break;
        case TOKEN_DIRECTION:
            scan.copies.direction = token->copies.direction;
            scan.bits |= WORD_COPY;
            break;
        case TOKEN_WORD: {
            unsigned bits = bits_in_place(tokens, first, i, end, &scan);
            if (bits & (WORD_HOST | WORD_DEVICE)) {
                enum check_side side = bits & WORD_HOST ? CHECK_HOST : CHECK_DEVICE;
                bool vague = !side_is_of_time(tokens, first, i, end);
                if (scan.side == CHECK_ANY_SIDE || (scan.side_is_vague && !vague)) {
                    scan.side = side;
                    scan.side_is_vague = vague;
                } else if (scan.side != side && !vague) {
                    scan.bits |= WORD_OTHER;
                }
            }
            if (bits & WORD_PINNED)
                scan.copies.memory = MEMORY_PINNED;
            if (bits & WORD_PAGEABLE)
                scan.copies.memory = MEMORY_PAGEABLE;
            scan.bits |= bits;
            break;
        }
        case TOKEN_MARK: scan.linked |= word_is(token, ":") || word_is(token, "="); break;
        default: break;
        }
    }
    return scan;
}

/* ---- the query of a figure ---- */

/* What is requested, as far as the words of a clause say. */
struct decision {
    bool known;
    enum check_reason reason;
    enum check_subject subject;
    enum check_state state;
    bool has_state;
};

static struct decision undecided(enum check_reason reason)
{
    return (struct decision){ .reason = reason };
}

static struct decision decided(enum check_subject subject)
{
    return (struct decision){ .known = true, .subject = subject };
}

static struct decision of_state(enum check_state state)
{
    return (struct decision){ .known = true, .subject = CHECK_GPU, .state = state, .has_state = true };
}

enum {
    WORDS_OF_STATE = WORD_IDLE | WORD_BUSY | WORD_SPAN | WORD_GAP,
    WORDS_OF_SUBJECTS =
        WORDS_OF_STATE | WORD_EXPOSED | WORD_NCCL | WORD_COMMUNICATION | WORD_COPY | WORD_KERNEL,
};

static struct decision decide_state(const struct scan *scan)
{
    unsigned bits = scan->bits;
    if ((bits & WORD_IDLE && bits & WORD_BUSY) || (scan->side == CHECK_HOST && !(bits & WORD_DEVICE)))
        return undecided(CHECK_AMBIGUOUS);
    if (bits & WORD_GAP)
        return bits & WORD_MAX ? of_state(CHECK_GAP) : undecided(CHECK_NO_QUANTITY);
    if (bits & (WORD_MAX | WORD_MIN | WORD_MEAN | WORD_MEDIAN | WORD_SELF))
        return undecided(CHECK_AMBIGUOUS);
    return bits & WORD_IDLE ? of_state(CHECK_IDLE) : of_state(bits & WORD_BUSY ? CHECK_BUSY : CHECK_SPAN);
}

/* The subject that SCAN names by itself; CHECK_NO_SUBJECT: none. */
static struct decision decide_subject(const struct scan *scan)
{
    unsigned bits = scan->bits;
    if (scan->several_names || scan->unclear_name)
        return undecided(CHECK_AMBIGUOUS);
    bool in_step = bits & WORD_STEP || scan->per_step;
    if (scan->name) {
        bool listed = scan->name_is_bare && !scan->linked &&
                      !(bits & (WORDS_OF_QUANTITY | WORD_TAKES | WORD_RUN | WORD_HOST | WORD_DEVICE));
        if (listed || scan->step >= 0 || in_step ||
            bits & (WORDS_OF_STATE | WORD_EXPOSED | WORD_MEDIAN | WORD_MEMORY))
            return undecided(CHECK_AMBIGUOUS);
        return decided(CHECK_NAME);
    }
    if (scan->step >= 0) {
        if (bits &
            (WORDS_OF_SUBJECTS | WORD_MEMORY | WORD_MEAN | WORD_MEDIAN | WORD_HOST | WORD_DEVICE | WORD_RUN))
            return undecided(CHECK_AMBIGUOUS);
        return decided(CHECK_STEP);
    }
    if (bits & WORD_MEMORY) {
        if (in_step)
            return undecided(CHECK_AMBIGUOUS);
        return bits & WORD_PEAK ? decided(CHECK_MEMORY) : undecided(CHECK_NO_QUANTITY);
    }
    if (bits & (WORDS_OF_SUBJECTS & ~(unsigned)WORD_KERNEL) && in_step)
        return undecided(CHECK_AMBIGUOUS);
    if (bits & WORD_EXPOSED) {
        if (bits & (WORD_COMMUNICATION | WORD_NCCL))
            return bits & WORD_COPY ? undecided(CHECK_AMBIGUOUS) : decided(CHECK_EXPOSED_COMM);
        return bits & WORD_COPY && scan->copies.direction == COPY_UNKNOWN ? decided(CHECK_EXPOSED_COPIES)
                                                                          : undecided(CHECK_NO_SUBJECT);
    }
    if (scan->copies.direction != COPY_UNKNOWN)
        return bits & (WORDS_OF_STATE | WORD_NCCL) ? undecided(CHECK_AMBIGUOUS) : decided(CHECK_COPIES);
    if (bits & WORD_NCCL)
        return bits & (WORD_IDLE | WORD_SPAN | WORD_GAP | WORD_COPY | WORD_MEAN | WORD_MAX | WORD_MIN)
                   ? undecided(CHECK_AMBIGUOUS)
                   : decided(CHECK_NCCL);
    if (bits & WORDS_OF_STATE &&
        (bits & WORD_DEVICE || bits & WORD_GAP || scan->device != TABLE_INT_MISSING)) {
        return bits & (WORD_COMMUNICATION | WORD_COPY) ? undecided(CHECK_AMBIGUOUS) : decide_state(scan);
    }
    if (bits & WORD_COMMUNICATION)
        return bits & (WORD_MEAN | WORD_MAX | WORD_MIN) ? undecided(CHECK_AMBIGUOUS)
                                                        : decided(CHECK_COMMUNICATION);
    if (in_step)
        return bits & (WORD_KERNEL | WORD_COPY | WORD_HOST | WORD_DEVICE | WORD_SELF)
                   ? undecided(CHECK_AMBIGUOUS)
                   : decided(CHECK_STEPS);
    if (scan->unknown)
        return undecided(CHECK_NOT_IN_TRACE);
    if (bits & (WORD_DEVICE | WORD_COPY) && !(bits & (WORD_SELF | WORD_TOTAL | WORD_MEAN | WORD_TAKES)) &&
        !(bits & WORDS_OF_STATE))
        return undecided(CHECK_NO_QUANTITY);
    return undecided(CHECK_NO_SUBJECT);
}

static unsigned statistics_of(unsigned bits)
{
    return (bits & WORD_SELF ? CHECK_SELF : 0u) | (bits & WORD_TOTAL ? CHECK_TOTAL : 0u) |
           (bits & WORD_SUM ? CHECK_SUM : 0u) | (bits & WORD_MEAN ? CHECK_MEAN : 0u) |
           (bits & WORD_MAX ? CHECK_MAX : 0u) | (bits & WORD_MIN ? CHECK_MIN : 0u) |
           (bits & WORD_MEDIAN ? CHECK_MEDIAN : 0u);
}

/* For people. */
static const char *subject_text(struct arena *arena, const struct check_query *query)
{
    const char *direction = copy_direction_name(query->copies.direction);
    switch (query->subject) {
    case CHECK_NAME: return check_name_text(query->name);
    case CHECK_GPU:
        return query->device != TABLE_INT_MISSING ? arena_printf(arena, "GPU %lld", (long long)query->device)
                                                  : "GPU";
    case CHECK_COPIES: return arena_printf(arena, "%s copies", direction);
    case CHECK_NCCL: return "NCCL";
    case CHECK_COMMUNICATION: return "communication";
    case CHECK_EXPOSED_COMM: return "exposed communication";
    case CHECK_EXPOSED_COPIES: return "exposed copies";
    case CHECK_MEMORY: return query->reserved ? "reserved memory" : "memory";
    case CHECK_STEPS: return "steps";
    case CHECK_STEP: return arena_printf(arena, "step %lld", (long long)query->step);
    default: return NULL;
    }
}

/* May a count of kernels, copies or steps be of a part of them? Their number is said with a verb or a place ("ran", "on the
 * GPU", "the trace has"); any other word behind the noun restricts it. */
static bool count_is_partial(const struct tokens *tokens, size_t own, size_t end,
                             const struct counted *counted)
{
    static const char *const fillers[] = { "on",       "the",       "a",      "in",      "this",  "were",
                                           "was",      "are",       "is",     "has",     "had",   "executed",
                                           "recorded", "found",     "there",  "all",     "its",   "it",
                                           "trace",    "recording", "file",   "profile", "of",    "over",
                                           "from",     "to",        "go",     "ms",      "s",     "",
                                           "training", "measured",  "move",   "moves",   "moved", "made",
                                           "done",     "performed", "issued", NULL };
    static const char *const places[] = { "has",   "had",       "have",     "holds",   "contains", "there",
                                          "trace", "recording", "executed", "records", NULL };
    bool placed = counted->bits & (WORD_STEP | WORD_COPY) || counted->first == counted->end;
    for (size_t i = own; i < end; i++) {
        const struct token *token = &tokens->at[i];
        placed |= token->kind == TOKEN_WORD &&
                  (token->bits & (WORD_RUN | WORD_DEVICE | WORD_TOTAL) || word_is_one_of(token, places));
        bool before = counted->first == counted->end; /* number of steps: 6 */
        if (i >= counted->end && token->kind == TOKEN_NUMBER && token->figure.has_unit && !before)
            end = i;
        else if ((before ? i < counted->end : i >= counted->end) && token->kind == TOKEN_WORD &&
                 !token->bits && !word_is_one_of(token, fillers))
            return true;
    }
    return !placed;
}

static bool sets_rank(struct statement *statement, const struct clause_reader *reader,
                      const struct scan *scan)
{
    struct check_query *query = &statement->query;
    query->rank = scan->rank;
    query->device = scan->device;
    query->all = scan->all;
    bool is_known = (scan->rank == TABLE_INT_MISSING || check_has_rank(reader->facts, scan->rank)) &&
                    (scan->device == TABLE_INT_MISSING || check_has_device(reader->facts, scan->device));
    statement->reason = CHECK_NOT_IN_TRACE;
    return is_known;
}

static bool refuse(struct statement *statement, enum check_reason reason)
{
    statement->has_query = false;
    statement->reason = reason;
    return false;
}

/* The query of a count of what COUNTED says. False, and the reason, if it is none. */
static bool ask_count(struct clause_reader *reader, struct statement *statement,
                      const struct counted *counted, const struct scan *scan)
{
    struct check_query *query = &statement->query;
    *query = (struct check_query){ .dimension = CHECK_COUNT, .step = -1, .copies = scan->copies };
    if (!sets_rank(statement, reader, scan))
        return false;
    bool in_step = scan->step >= 0 || scan->per_step;
    unsigned changed = WORD_OTHER | WORD_EXPOSED;
    if (!(counted->bits & WORD_STEP)) /* over 6 steps the average step takes ... */
        changed |= WORD_MEAN | WORD_MAX | WORD_MIN | WORD_MEDIAN;
    if (counted->subset || in_step || scan->bits & changed)
        return refuse(statement, CHECK_AMBIGUOUS);
    bool has_name = scan->name || scan->unknown || scan->several_names || scan->unclear_name;
    if (counted->bits & WORD_STEP) {
        query->subject = CHECK_STEPS;
        return has_name && !counted->aside ? refuse(statement, CHECK_AMBIGUOUS) : true;
    }
    if (counted->bits & WORD_COPY) {
        query->subject = CHECK_COPIES;
        if (has_name || scan->bits & WORD_STEP)
            return refuse(statement, CHECK_AMBIGUOUS);
        if (scan->copies.direction != COPY_UNKNOWN)
            return true;
        if (reader->context.valid && reader->context.query.subject == CHECK_COPIES) {
            query->copies = reader->context.query.copies;
            return true;
        }
        return refuse(statement, CHECK_NO_QUANTITY);
    }
    if (counted->bits & WORD_KERNEL && !counted->name) {
        query->subject = counted->nccl ? CHECK_NCCL : CHECK_GPU;
        query->state = CHECK_KERNELS;
        bool of_a_name = reader->context.valid && reader->context.query.subject == CHECK_NAME &&
                         !(scan->bits & WORD_DEVICE);
        return has_name || of_a_name || scan->bits & (WORD_STEP | WORD_COPY) ||
                       (scan->bits & WORD_COMMUNICATION && !counted->nccl)
                   ? refuse(statement, CHECK_AMBIGUOUS)
                   : true;
    }
    if (counted->bits & (WORD_RUN | WORD_TIMES) && scan->bits & WORD_NCCL &&
        !has_name) { /* NCCL kernels ran 12 times */
        query->subject = CHECK_NCCL;
        return scan->bits & (WORD_STEP | WORD_COPY) ? refuse(statement, CHECK_AMBIGUOUS) : true;
    }
    /* times, calls, launches, runs of a name */
    query->subject = CHECK_NAME;
    if (scan->several_names || scan->unclear_name || scan->bits & (WORD_STEP | WORDS_OF_STATE | WORD_MEMORY))
        return refuse(statement, CHECK_AMBIGUOUS);
    query->name = scan->name;
    if (!query->name && scan->unknown)
        return refuse(statement, CHECK_NOT_IN_TRACE);
    if (query->name)
        return true;
    if (scan->bits & (WORD_NCCL | WORD_COPY | WORD_KERNEL) && !(scan->bits & WORD_RUN))
        return refuse(statement, CHECK_NO_QUANTITY);
    if (reader->context.unknown)
        return refuse(statement, CHECK_NOT_IN_TRACE);
    if (!reader->context.valid || reader->context.query.subject != CHECK_NAME)
        return refuse(statement, CHECK_NO_SUBJECT);
    query->name = reader->context.query.name;
    return true;
}

/* Does the first word of the clause at FIRST refer to the sentence before? */
static bool refers_back(const struct clause_reader *reader, size_t first, size_t end)
{
    static const char *const pronouns[] = { "it", "its", "this", "that", "they", "their", "these", NULL };
    while (first < end && reader->tokens->at[first].kind != TOKEN_WORD &&
           reader->tokens->at[first].kind != TOKEN_NUMBER)
        first++;
    return first < end && word_is_one_of(&reader->tokens->at[first], pronouns);
}

/* What the clause before was about, and this one says BITS of: NCCL runs for 3 ms, of which 2 ms are exposed. */
static struct decision inherited(const struct check_query *before, unsigned bits)
{
    enum check_subject subject = before->subject;
    if (!(bits & WORD_EXPOSED))
        return decided(subject);
    if (subject == CHECK_NCCL || subject == CHECK_COMMUNICATION || subject == CHECK_EXPOSED_COMM)
        return decided(CHECK_EXPOSED_COMM);
    if (subject == CHECK_EXPOSED_COPIES ||
        (subject == CHECK_COPIES && before->copies.direction == COPY_UNKNOWN))
        return decided(CHECK_EXPOSED_COPIES);
    return undecided(CHECK_AMBIGUOUS);
}

/* The query of a figure with a unit. */
static bool ask_figure(struct clause_reader *reader, struct statement *statement, const struct scan *scan,
                       bool may_inherit)
{
    struct check_query *query = &statement->query;
    const struct context *context = &reader->context;
    unsigned bits = scan->bits;
    *query = (struct check_query){
        .dimension = statement->figure.dimension,
        .statistics = statistics_of(bits),
        .side = scan->side,
        .side_is_vague = scan->side_is_vague,
        .copies = scan->copies,
        .reserved = bits & WORD_RESERVED,
        .name = scan->name,
        .step = scan->step,
    };
    if (!sets_rank(statement, reader, scan))
        return false;
    struct decision decision = decide_subject(scan);
    if (!decision.known && decision.reason == CHECK_NO_SUBJECT && may_inherit && context->unknown)
        return refuse(statement, CHECK_NOT_IN_TRACE);
    if (!decision.known && decision.reason == CHECK_NO_SUBJECT && may_inherit && context->valid) {
        const struct check_query *before = &context->query;
        if (before->subject == CHECK_GPU && bits & WORDS_OF_STATE) {
            decision = decide_state(scan);
        } else if (bits & WORDS_OF_STATE) {
            decision = undecided(CHECK_NO_SUBJECT);
        } else {
            decision = inherited(before, bits);
            decision.state = before->state;
            decision.has_state = before->subject == CHECK_GPU;
            query->name = before->name;
            query->step = before->step;
            query->copies = before->copies;
            if (query->rank == TABLE_INT_MISSING)
                query->rank = before->rank;
            if (query->device == TABLE_INT_MISSING)
                query->device = before->device;
            if (query->statistics == 0 && query->side == CHECK_ANY_SIDE && before->dimension == CHECK_TIME &&
                query->dimension == CHECK_TIME) {
                query->statistics = before->statistics;
                query->side = before->side;
                query->side_is_vague = before->side_is_vague;
            }
        }
    }
    if (!decision.known)
        return refuse(statement, decision.reason);
    query->subject = decision.subject;
    query->state = decision.state;
    if (decision.subject == CHECK_NAME && scan->name &&
        !(bits & (WORDS_OF_QUANTITY | WORD_TAKES | WORD_SUM | WORD_HOST | WORD_DEVICE)) && context->valid &&
        context->query.subject == CHECK_NAME && context->query.dimension == CHECK_TIME && !reader->is_cell) {
        query->statistics = context->query.statistics; /* `a` has 3 ms of self CPU time and `b` 4 ms */
        query->side = context->query.side;
        query->side_is_vague = context->query.side_is_vague;
    }
    if (bits & WORD_OTHER)
        return refuse(statement, CHECK_AMBIGUOUS);
    if (reader->is_part && !(query->statistics & CHECK_SELF) && query->subject != CHECK_EXPOSED_COMM &&
        query->subject != CHECK_EXPOSED_COPIES)
        return refuse(statement, CHECK_AMBIGUOUS);
    if (scan->per_step && decision.subject != CHECK_STEPS)
        return refuse(statement, CHECK_AMBIGUOUS);
    if (decision.subject == CHECK_GPU && query->dimension == CHECK_BYTES)
        return refuse(statement, CHECK_NO_QUANTITY);
    if (decision.subject == CHECK_MEMORY)
        query->side = bits & WORD_DEVICE ? CHECK_DEVICE : bits & WORD_HOST ? CHECK_HOST : CHECK_ANY_SIDE;
    if (decision.subject == CHECK_NAME && query->dimension == CHECK_TIME && query->statistics & CHECK_MEDIAN)
        return refuse(statement, CHECK_AMBIGUOUS);
    /* Two statistics of which neither is a total: "the longest run on average" */
    unsigned ends = query->statistics & (CHECK_MEAN | CHECK_MAX | CHECK_MIN | CHECK_MEDIAN);
    if (ends & (ends - 1) || (query->statistics & CHECK_SELF && ends))
        return refuse(statement, CHECK_AMBIGUOUS);
    return true;
}

static void remember(struct clause_reader *reader, const struct statement *statement)
{
    struct context *context = &reader->context;
    if (statement->has_query) {
        struct check_query before = context->query;
        bool had_time = context->valid && before.subject == CHECK_NAME &&
                        statement->query.subject == CHECK_NAME && statement->query.dimension == CHECK_COUNT &&
                        before.dimension == CHECK_TIME;
        context->query = statement->query;
        if (had_time) { /* a count between two times */
            context->query.dimension = CHECK_TIME;
            context->query.statistics = 0;
            context->query.side = CHECK_ANY_SIDE;
        }
        context->subject = statement->subject;
        context->valid = true;
        context->unknown = false;
    } else if (statement->reason == CHECK_NOT_IN_TRACE) {
        context->valid = false;
        context->unknown = true;
    }
}

/* What the lead says that a clause of its own does not. */
static struct scan merge(const struct scan *own, const struct scan *lead, bool joined)
{
    struct scan both = *own;
    bool own_is_whole = (own->name || own->unknown || own->step >= 0 ||
                         own->bits & (WORDS_OF_SUBJECTS | WORD_STEP | WORD_MEMORY)) &&
                        own->bits & WORDS_OF_QUANTITY;
    if (both.name && lead->name && !check_name_is_same(both.name, lead->name))
        both.several_names = true; /* `a` and `b` take ... */
    if (both.name && lead->unknown && joined)
        both.several_names = true;
    if (both.rank == TABLE_INT_MISSING)
        both.rank = lead->rank;
    if (both.device == TABLE_INT_MISSING)
        both.device = lead->device;
    both.all |= lead->all;
    if (both.step < 0)
        both.step = lead->step;
    if (own_is_whole && !lead->goes_on)
        return both;
    both.bits |= lead->bits;
    if (!both.name) {
        both.name = lead->name;
        both.name_is_bare = lead->name_is_bare;
        both.several_names |= lead->several_names;
        both.unclear_name |= lead->unclear_name;
    }
    if (!both.unknown && !both.name)
        both.unknown = lead->unknown;
    both.per_step |= lead->per_step;
    both.linked |= lead->linked || lead->name;
    if (both.copies.direction == COPY_UNKNOWN)
        both.copies.direction = lead->copies.direction;
    if (both.copies.memory == MEMORY_NONE)
        both.copies.memory = lead->copies.memory;
    if (both.side == CHECK_ANY_SIDE) {
        both.side = lead->side;
        both.side_is_vague = lead->side_is_vague;
    }
    return both;
}

/* Is the figure at I the whole of another: 3 ms of 10 ms? */
static bool is_whole_of(const struct tokens *tokens, size_t first, size_t i)
{
    static const char *const articles[] = { "the", "its", "a", "all", "total", NULL };
    size_t at = i;
    while (at > first && word_is_one_of(&tokens->at[at - 1], articles))
        at--;
    if (at == first + 1 && word_is(&tokens->at[first], "of"))
        return true; /* of the 10 ms the GPU is idle for 3 ms */
    if (at < first + 2 || !word_is(&tokens->at[at - 1], "of"))
        return false;
    size_t part = at - 2 > first && word_is(&tokens->at[at - 2], "out") ? at - 3 : at - 2;
    return tokens->at[part].kind == TOKEN_NUMBER &&
           (tokens->at[part].figure.has_unit || tokens->at[i].figure.has_unit);
}

/* Read the figures of the clause [OWN, END), led by [LEAD, OWN). */
static void read_clause(struct clause_reader *reader, size_t lead, size_t own, size_t end)
{
    const struct tokens *tokens = reader->tokens;
    static const char *const within[] = { "in", "during", "for", "over", NULL };
    bool *covered = arena_alloc(reader->arena, (tokens->count + 1) * sizeof *covered);
    memset(covered, 0, tokens->count + 1);
    size_t times = 0, shares = 0;
    for (size_t i = own; i < end; i++) {
        if (tokens->at[i].kind != TOKEN_NUMBER)
            continue;
        struct counted counted = count_of(tokens, own, i, end);
        for (size_t j = counted.first; j < counted.end; j++)
            covered[j] = true;
        if (tokens->at[i].figure.has_unit && !is_whole_of(tokens, own, i)) {
            times += tokens->at[i].figure.dimension == CHECK_TIME;
            shares += tokens->at[i].figure.dimension == CHECK_SHARE;
        }
    }
    struct scan lead_scan = scan_tokens(tokens, lead, own, NULL);
    if (reader->ahead) {
        lead_scan.name = NULL;
        lead_scan.unknown = NULL;
        lead_scan.several_names = lead_scan.unclear_name = false;
        scan_name(&lead_scan, reader->ahead);
    }
    reader->ahead = NULL;
    bool joined = own > lead && tokens->at[own - 1].kind == TOKEN_CLAUSE && tokens->at[own - 1].joins;
    struct scan own_covered = scan_tokens(tokens, own, end, covered);
    /* "of which 3 ms", "3 ms of which" */
    bool behind = own > lead + 1 && word_is(&tokens->at[own - 1], "which");
    reader->is_part = (behind && word_is(&tokens->at[own - 2], "of")) ||
                      (end < tokens->count && end > own && word_is(&tokens->at[end], "which") &&
                       word_is(&tokens->at[end - 1], "of"));
    lead_scan.goes_on = behind && word_is_one_of(&tokens->at[own - 2], within);
    bool may_inherit = !reader->new_sentence || refers_back(reader, lead, end), any_query = false;
    if (!may_inherit)
        reader->context = (struct context){ 0 };
    for (size_t i = own; i < end; i++) {
        const struct token *token = &tokens->at[i];
        if (!is_candidate(tokens, own, i, end))
            continue;
        struct statement *statement = VEC_PUSH(reader->statements);
        *statement = (struct statement){ .figure = token->figure };
        if (token->figure.in_words) {
            statement->reason = reader->modal ? CHECK_MODAL : CHECK_AMBIGUOUS;
            continue;
        }
        struct counted counted = count_of(tokens, own, i, end);
        bool whole = is_whole_of(tokens, own, i);
        struct scan scan = merge(&own_covered, &lead_scan, joined);
        bool has_query;
        if (counted.bits) { /* words behind the next figure belong to that one: 3 times, 4 ms on average */
            size_t next = counted.end;
            while (next < end && !(tokens->at[next].kind == TOKEN_NUMBER && tokens->at[next].figure.has_unit))
                next++;
            scan.bits = merge(&(struct scan){ .bits = scan_tokens(tokens, own, next, covered).bits },
                              &lead_scan, joined)
                            .bits;
            if (!counted.name && counted.bits & (WORD_KERNEL | WORD_COPY | WORD_STEP) && !reader->is_cell)
                counted.subset |= count_is_partial(tokens, own, end, &counted);
            has_query = ask_count(reader, statement, &counted, &scan);
            /* "1 call takes 3 ms" counts nothing */
            if (has_query && token->figure.value == 1 && counted.bits & WORD_RUN && times > 0)
                has_query = refuse(statement, CHECK_AMBIGUOUS);
        } else {
            has_query = ask_figure(reader, statement, &scan, may_inherit);
            bool several = token->figure.dimension == CHECK_TIME
                               ? times > 1
                               : token->figure.dimension == CHECK_SHARE && shares > 1;
            if (has_query && several && !whole)
                has_query = refuse(statement, CHECK_AMBIGUOUS);
            if (whole)
                remember(reader, &(struct statement){ .has_query = has_query,
                                                      .reason = statement->reason,
                                                      .query = statement->query });
            if (has_query && whole) { /* of an idle or a busy time the whole is the span */
                if (statement->query.subject == CHECK_GPU && statement->query.state != CHECK_GAP)
                    statement->query.state = CHECK_SPAN;
                else
                    has_query = refuse(statement, CHECK_AMBIGUOUS);
            }
        }
        if (has_query && reader->unclear && token->figure.dimension == CHECK_SHARE)
            has_query = refuse(statement, CHECK_AMBIGUOUS);
        if (has_query && token->figure.odd)
            has_query = refuse(statement, CHECK_AMBIGUOUS);
        if (has_query && reader->modal)
            has_query = refuse(statement, CHECK_MODAL);
        statement->has_query = has_query;
        any_query |= has_query;
        statement->vague = reader->is_cell && statement->query.subject == CHECK_NAME &&
                           statement->query.dimension == CHECK_TIME && statement->query.statistics == 0;
        if (reader->modal)
            statement->reason = CHECK_MODAL;
        if (has_query)
            statement->subject = subject_text(reader->arena, &statement->query);
        /* "Over 6 steps" is not what the sentence is about. */
        if (!whole && !(counted.bits & (WORD_STEP | WORD_KERNEL) && !counted.name))
            remember(reader, statement);
    }
    /* "step 5 is 13 % slower than step 10 (166 ms)": what comes is not about the first any more */
    if (!any_query && (own_covered.name || own_covered.several_names || own_covered.step >= 0))
        reader->context.valid = false;
}

/* "With 3 ms of self CPU time, `a` ...", "averaging 12 us a launch, the kernel `a` ...", "3 ms for `a`": the name behind the clause from FIRST to
 * CLAUSE, which has none and may BEGIN the sentence. */
static const struct token *name_ahead(const struct tokens *tokens, size_t first, size_t clause, size_t end,
                                      bool begins)
{
    static const char *const leads[] = { "with",     "at",        "averaging",  "taking",
                                         "totaling", "totalling", "costing",    "spending",
                                         "needing",  "using",     "accounting", NULL };
    static const char *const things[] = { "the",  "kernel",   "operator",   "op",
                                          "call", "function", "annotation", NULL };
    if (first >= clause || clause >= end)
        return NULL;
    if (!(begins && word_is_one_of(&tokens->at[first], leads)) && !word_is(&tokens->at[clause], "for"))
        return NULL;
    if (ANY_FROM(i, first, clause, tokens->at[i].kind == TOKEN_NAME || tokens->at[i].kind == TOKEN_DIRECTION))
        return NULL;
    size_t i = clause + 1;
    while (i < end && word_is_one_of(&tokens->at[i], things))
        i++;
    return i < end && tokens->at[i].kind == TOKEN_NAME && tokens->at[i].step < 0 ? &tokens->at[i] : NULL;
}

static void read_sentence(struct clause_reader *reader, size_t first, size_t end)
{
    const struct tokens *tokens = reader->tokens;
    static const char *const reasons[] = { "reason", "reasons", "due", NULL };
    reader->modal = reader->unclear = false;
    for (size_t i = first; i < end; i++)
        reader->unclear |= word_is_one_of(&tokens->at[i], reasons);
    for (size_t i = first; i < end; i++)
        reader->modal |= tokens->at[i].kind == TOKEN_WORD && tokens->at[i].bits & WORD_MODAL;
    size_t lead = first, own = first;
    for (size_t i = first; i <= end; i++) {
        if (i < end && tokens->at[i].kind != TOKEN_CLAUSE)
            continue;
        reader->ahead = name_ahead(tokens, own, i, end, own == first);
        bool has_figure = false;
        for (size_t j = own; j < i && !has_figure; j++)
            has_figure = is_candidate(tokens, own, j, i);
        if (has_figure) {
            read_clause(reader, lead, own, i);
            lead = i + 1;
            reader->new_sentence = false;
        }
        own = i + 1;
    }
}

void statements_read(const struct check_facts *facts, struct tokens *tokens, struct arena *arena,
                     struct statements *statements)
{
    struct clause_reader reader = {
        .facts = facts, .tokens = tokens, .arena = arena, .statements = statements
    };
    size_t first = 0;
    for (size_t i = 0; i <= tokens->count; i++) {
        if (i < tokens->count && tokens->at[i].kind != TOKEN_SENTENCE)
            continue;
        reader.new_sentence = first > 0;
        read_sentence(&reader, first, i);
        first = i + 1;
    }
}

/* ---- tables ---- */

/* Append those of FROM that are words, names and numbers. False if a word is not known in a table's header. */
static bool append_words(struct tokens *to, const struct tokens *from)
{
    static const char *const fillers[] = { "time", "the",   "of",     "#",      "s",    "in",
                                           "",     "value", "figure", "amount", "name", "mean",
                                           "all",  "on",    "nr",     "no",     NULL };
    bool known = true;
    FOR_EACH(token, from) {
        if (token->kind == TOKEN_CLAUSE || token->kind == TOKEN_SENTENCE)
            continue;
        if (token->kind == TOKEN_WORD && !token->bits && !word_is_one_of(token, fillers))
            known = false;
        *VEC_PUSH(to) = *token;
    }
    return known;
}

void statements_read_cell(const struct check_facts *facts, const struct tokens *names,
                          const struct tokens *header, const struct tokens *cell, struct arena *arena,
                          struct statements *statements)
{
    const struct token *number = NULL;
    for (size_t i = 0; i < cell->count; i++) {
        if (cell->at[i].kind == TOKEN_NUMBER && number)
            return; /* two */
        if (cell->at[i].kind == TOKEN_NUMBER)
            number = &cell->at[i];
        else if (cell->at[i].kind != TOKEN_MARK && cell->at[i].kind != TOKEN_WORD)
            return;
    }
    if (!number)
        return;
    SCOPED struct tokens line = { 0 }, plain_header = { 0 };
    struct figure unit = { 0 };
    append_words(&plain_header, header);
    bool has_unit = prose_header_unit(&plain_header, &unit);
    append_words(&line, names);
    bool known = append_words(&line, &plain_header);
    struct token *mark = VEC_PUSH(&line);
    *mark = (struct token){ .kind = TOKEN_MARK, .text = ":", .step = -1 };
    struct token *last = VEC_PUSH(&line);
    *last = *number;
    last->figure.is_label = false;
    if (has_unit && !last->figure.has_unit) {
        last->figure.has_unit = true;
        last->figure.whole = false;
        last->figure.dimension = unit.dimension;
        last->figure.unit = unit.unit;
        last->figure.scale = unit.scale;
        last->figure.scale2 = unit.scale2;
    }
    struct clause_reader reader = {
        .facts = facts, .tokens = &line, .arena = arena, .statements = statements, .is_cell = true
    };
    struct scan subject = scan_tokens(names, 0, names->count, NULL);
    bool has_subject = subject.name || subject.unknown || subject.unclear_name || subject.step >= 0 ||
                       subject.rank != TABLE_INT_MISSING || subject.device != TABLE_INT_MISSING ||
                       subject.bits & (WORDS_OF_SUBJECTS | WORD_STEP | WORD_MEMORY | WORD_DEVICE);
    size_t before = statements->count;
    if (is_candidate(&line, 0, line.count - 1, line.count)) {
        read_sentence(&reader, 0, line.count);
        for (size_t i = before; i < statements->count; i++)
            if (statements->at[i].has_query && !(known && has_subject))
                refuse(&statements->at[i], known ? CHECK_NO_SUBJECT : CHECK_NO_QUANTITY);
    }
}
