/* First the line is cut into tokens, from left to right: a code span, a name of the trace, a number with its unit, a word, a
 * mark. Then neighbouring tokens are joined: "host to device" is a direction, "between 3 and 4 ms" one figure, "at least"
 * belongs to the figure behind it. */
#include "check/prose.h"

#include "base/search.h"
#include <ctype.h>
#include <math.h>

struct word {
    const char *text;
    unsigned bits;
};

/* In order of the alphabet. */
/* clang-format off */
static const struct word words[] = {
    { "above", WORD_OTHER }, { "active", WORD_BUSY }, { "add", WORD_SUM }, { "adds", WORD_SUM }, { "after", WORD_OTHER },
    { "again", WORD_OTHER }, { "allreduce", WORD_COMMUNICATION }, { "altogether", WORD_SUM },
    { "assume", WORD_MODAL }, { "assuming", WORD_MODAL }, { "average", WORD_MEAN }, { "averaged", WORD_MEAN },
    { "averages", WORD_MEAN }, { "averaging", WORD_MEAN }, { "avg", WORD_MEAN },
    { "backward", WORD_OTHER }, { "bandwidth", WORD_OTHER }, { "baseline", WORD_OTHER }, { "because", WORD_OTHER },
    { "before", WORD_OTHER }, { "below", WORD_OTHER }, { "between", WORD_OTHER }, { "biggest", WORD_MAX },
    { "blocked", WORD_OTHER }, { "busy", WORD_BUSY }, { "by", 0 },
    { "call", WORD_RUN }, { "called", WORD_RUN }, { "callees", WORD_OTHER }, { "callers", WORD_OTHER }, { "calls", WORD_RUN },
    { "can", WORD_MODAL }, { "cannot", WORD_MODAL }, { "cause", WORD_OTHER }, { "caused", WORD_OTHER },
    { "causes", WORD_OTHER }, { "children", WORD_OTHER }, { "collective", WORD_COMMUNICATION },
    { "collectives", WORD_COMMUNICATION }, { "communicate", WORD_COMMUNICATION }, { "communicates", WORD_COMMUNICATION },
    { "communicating", WORD_COMMUNICATION }, { "communication", WORD_COMMUNICATION },
    { "communications", WORD_COMMUNICATION }, { "compared", WORD_OTHER }, { "compute", WORD_OTHER },
    { "computing", WORD_OTHER }, { "copied", WORD_COPY }, { "copies", WORD_COPY }, { "copy", WORD_COPY },
    { "copying", WORD_COPY }, { "cost", WORD_SUM }, { "costs", WORD_SUM }, { "could", WORD_MODAL },
    { "count", WORD_NUMBER }, { "counts", WORD_NUMBER }, { "cpu", WORD_HOST }, { "cuda", WORD_DEVICE },
    { "cumulative", WORD_SUM }, { "cumulatively", WORD_SUM },
    { "data", WORD_OTHER }, { "dataloader", WORD_OTHER }, { "decrease", WORD_OTHER }, { "decreased", WORD_OTHER },
    { "decode", WORD_OTHER }, { "delay", WORD_OTHER }, { "deviation", WORD_OTHER }, { "device", WORD_DEVICE }, { "devices", WORD_DEVICE },
    { "difference", WORD_OTHER }, { "differs", WORD_OTHER }, { "double", WORD_OTHER }, { "drop", WORD_OTHER },
    { "dropped", WORD_OTHER }, { "due", WORD_OTHER }, { "duration", WORD_TAKES }, { "durations", WORD_TAKES },
    { "during", WORD_OTHER },
    { "each", WORD_OTHER }, { "efficiency", WORD_OTHER }, { "elapsed", WORD_TAKES }, { "estimate", WORD_MODAL },
    { "estimated", WORD_MODAL }, { "estimates", WORD_MODAL }, { "every", WORD_OTHER }, { "except", WORD_OTHER },
    { "excluding", WORD_OTHER }, { "expect", WORD_MODAL }, { "expected", WORD_MODAL }, { "expects", WORD_MODAL },
    { "explains", WORD_OTHER }, { "exposed", WORD_EXPOSED },
    { "faster", WORD_OTHER }, { "fastest", WORD_MIN }, { "fell", WORD_OTHER }, { "fewer", WORD_OTHER },
    { "forward", WORD_OTHER },
    { "gain", WORD_OTHER }, { "gap", WORD_GAP }, { "gaps", WORD_GAP }, { "goal", WORD_MODAL }, { "gpu", WORD_DEVICE },
    { "gpus", WORD_DEVICE }, { "grew", WORD_OTHER },
    { "half", WORD_OTHER }, { "hidden", WORD_OTHER }, { "higher", WORD_OTHER }, { "hip", WORD_DEVICE },
    { "host", WORD_HOST },
    { "ideal", WORD_MODAL }, { "ideally", WORD_MODAL }, { "idle", WORD_IDLE }, { "idles", WORD_IDLE },
    { "idling", WORD_IDLE }, { "if", WORD_MODAL }, { "improve", WORD_OTHER }, { "improved", WORD_OTHER },
    { "improvement", WORD_OTHER }, { "improves", WORD_OTHER }, { "inclusive", WORD_TOTAL }, { "increase", WORD_OTHER },
    { "increased", WORD_OTHER }, { "inside", WORD_OTHER }, { "instead", WORD_OTHER }, { "iteration", WORD_STEP },
    { "iterations", WORD_STEP },
    { "kernel", WORD_KERNEL }, { "kernels", WORD_KERNEL },
    { "largest", WORD_MAX }, { "last", WORD_TAKES }, { "lasted", WORD_TAKES }, { "lasting", WORD_TAKES },
    { "lasts", WORD_TAKES }, { "latency", WORD_OTHER }, { "launch", WORD_RUN }, { "launched", WORD_RUN },
    { "launches", WORD_RUN }, { "less", WORD_OTHER }, { "longer", WORD_OTHER }, { "longest", WORD_MAX },
    { "lower", WORD_OTHER },
    { "max", WORD_MAX }, { "maximal", WORD_MAX }, { "maximum", WORD_MAX | WORD_PEAK }, { "may", WORD_MODAL },
    { "mean", WORD_MEAN }, { "median", WORD_MEDIAN }, { "memcpy", WORD_COPY }, { "memcpys", WORD_COPY },
    { "memory", WORD_MEMORY }, { "memset", WORD_OTHER }, { "memsets", WORD_OTHER }, { "might", WORD_MODAL },
    { "min", WORD_MIN }, { "minimal", WORD_MIN }, { "minimum", WORD_MIN }, { "minus", WORD_OTHER }, { "more", WORD_OTHER }, { "most", WORD_OTHER }, { "mostly", WORD_OTHER }, { "part", WORD_OTHER }, 
    { "must", WORD_MODAL },
    { "nccl", WORD_NCCL }, { "needs", WORD_TAKES }, { "neither", WORD_OTHER }, { "never", WORD_OTHER }, { "next", WORD_OTHER },
    { "no", WORD_OTHER }, { "nor", WORD_OTHER }, { "not", WORD_OTHER }, { "number", WORD_NUMBER },
    { "occupancy", WORD_OTHER }, { "occupied", WORD_BUSY }, { "once", WORD_OTHER }, { "others", WORD_OTHER },
    { "other", WORD_OTHER }, { "overall", WORD_SUM }, { "overhead", WORD_OTHER }, { "overlap", WORD_OTHER },
    { "overlapped", WORD_OTHER }, { "overlaps", WORD_OTHER },
    { "pageable", WORD_PAGEABLE }, { "peak", WORD_PEAK | WORD_MAX }, { "peaked", WORD_PEAK | WORD_MAX },
    { "peaks", WORD_PEAK | WORD_MAX }, { "per", WORD_OTHER }, { "percentile", WORD_OTHER }, { "pinned", WORD_PINNED },
    { "plus", WORD_OTHER }, { "points", WORD_OTHER }, { "potential", WORD_MODAL }, { "potentially", WORD_MODAL },
    { "predicted", WORD_MODAL }, { "prefill", WORD_OTHER }, { "previous", WORD_OTHER }, { "previously", WORD_OTHER },
    { "quickest", WORD_MIN },
    { "rank", WORD_RANK }, { "ranks", WORD_RANK }, { "ran", WORD_RUN }, { "rccl", WORD_NCCL }, { "reduce", WORD_OTHER },
    { "reduced", WORD_OTHER }, { "reduces", WORD_OTHER }, { "remaining", WORD_OTHER }, { "reserved", WORD_RESERVED },
    { "respectively", WORD_OTHER }, { "rest", WORD_OTHER }, { "rose", WORD_OTHER }, { "run", WORD_RUN },
    { "running", WORD_RUN }, { "runs", WORD_RUN },
    { "save", WORD_MODAL }, { "saved", WORD_MODAL }, { "saves", WORD_MODAL }, { "saving", WORD_MODAL },
    { "savings", WORD_MODAL }, { "second", WORD_OTHER }, { "self", WORD_SELF }, { "shorter", WORD_OTHER },
    { "shortest", WORD_MIN }, { "should", WORD_MODAL }, { "since", WORD_OTHER }, { "slower", WORD_OTHER },
    { "slowest", WORD_MAX }, { "smaller", WORD_OTHER }, { "smallest", WORD_MIN }, { "span", WORD_SPAN },
    { "spans", WORD_SPAN }, { "spend", WORD_SUM }, { "spends", WORD_SUM }, { "spent", WORD_SUM },
    { "speedup", WORD_OTHER }, { "stall", WORD_OTHER }, { "stalls", WORD_OTHER }, { "std", WORD_OTHER },
    { "stddev", WORD_OTHER }, { "step", WORD_STEP }, { "steps", WORD_STEP }, { "stream", WORD_OTHER },
    { "streams", WORD_OTHER }, { "sum", WORD_SUM }, { "sums", WORD_SUM }, { "summed", WORD_SUM },
    { "suppose", WORD_MODAL },
    { "take", WORD_TAKES }, { "taken", WORD_TAKES }, { "takes", WORD_TAKES }, { "taking", WORD_TAKES },
    { "target", WORD_MODAL }, { "than", WORD_OTHER }, { "third", WORD_OTHER }, { "thread", WORD_OTHER },
    { "throughput", WORD_OTHER }, { "time", WORD_TAKES }, { "times", WORD_TIMES }, { "together", WORD_SUM },
    { "took", WORD_TAKES }, { "total", WORD_TOTAL }, { "totalling", WORD_SUM }, { "totals", WORD_SUM },
    { "transfer", WORD_COPY }, { "transferred", WORD_COPY }, { "transfers", WORD_COPY }, { "twice", WORD_OTHER },
    { "typical", WORD_MEDIAN }, { "typically", WORD_MEDIAN },
    { "unhidden", WORD_EXPOSED }, { "until", WORD_OTHER }, { "unless", WORD_MODAL }, { "unused", WORD_OTHER },
    { "utilisation", WORD_OTHER }, { "utilization", WORD_OTHER },
    { "variance", WORD_OTHER }, { "versus", WORD_OTHER }, { "vs", WORD_OTHER },
    { "wait", WORD_OTHER }, { "waited", WORD_OTHER }, { "waiting", WORD_OTHER }, { "waits", WORD_OTHER },
    { "warmup", WORD_OTHER }, { "were", 0 }, { "will", WORD_MODAL }, { "within", WORD_OTHER }, { "without", WORD_OTHER },
    { "working", WORD_BUSY }, { "worst", WORD_MAX }, { "would", WORD_MODAL },
};
/* clang-format on */

static unsigned word_bits(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].text) == len && memcmp(words[i].text, text, len) == 0)
            return words[i].bits;
    return len > 3 && memcmp(text + len - 3, "n't", 3) == 0 ? WORD_OTHER : 0;
}

/* ---- figures ---- */

struct unit {
    const char *text;
    enum check_dimension dimension;
    long double scale, scale2;
};

/* The longer of two that begin alike first. */
static const struct unit units[] = {
    { "nanoseconds", CHECK_TIME, 1, 0 },
    { "nanosecond", CHECK_TIME, 1, 0 },
    { "ns", CHECK_TIME, 1, 0 },
    { "microseconds", CHECK_TIME, 1e3L, 0 },
    { "microsecond", CHECK_TIME, 1e3L, 0 },
    { "us", CHECK_TIME, 1e3L, 0 },
    { "\xc2\xb5s", CHECK_TIME, 1e3L, 0 }, /* micro sign, then the Greek letter */
    { "\xce\xbcs", CHECK_TIME, 1e3L, 0 },
    { "milliseconds", CHECK_TIME, 1e6L, 0 },
    { "millisecond", CHECK_TIME, 1e6L, 0 },
    { "msec", CHECK_TIME, 1e6L, 0 },
    { "ms", CHECK_TIME, 1e6L, 0 },
    { "seconds", CHECK_TIME, 1e9L, 0 },
    { "second", CHECK_TIME, 1e9L, 0 },
    { "secs", CHECK_TIME, 1e9L, 0 },
    { "sec", CHECK_TIME, 1e9L, 0 },
    { "s", CHECK_TIME, 1e9L, 0 },
    { "%", CHECK_SHARE, 0.01L, 0 },
    { "percent", CHECK_SHARE, 0.01L, 0 },
    { "bytes", CHECK_BYTES, 1, 0 },
    { "byte", CHECK_BYTES, 1, 0 },
    { "B", CHECK_BYTES, 1, 0 },
    { "kB", CHECK_BYTES, 1e3L, 1024.0L },
    { "KB", CHECK_BYTES, 1e3L, 1024.0L },
    { "MB", CHECK_BYTES, 1e6L, 1048576.0L },
    { "GB", CHECK_BYTES, 1e9L, 1073741824.0L },
    { "TB", CHECK_BYTES, 1e12L, 1099511627776.0L },
    { "KiB", CHECK_BYTES, 1024.0L, 0 },
    { "MiB", CHECK_BYTES, 1048576.0L, 0 },
    { "GiB", CHECK_BYTES, 1073741824.0L, 0 },
    { "TiB", CHECK_BYTES, 1099511627776.0L, 0 },
};

/* Is C part of a word, a name or a number? Of UTF-8 the first byte of a letter is; dashes, quotes and signs begin with
 * 0xe2 or 0xc2. */
static bool is_letter(char c)
{
    unsigned char byte = (unsigned char)c;
    return isalnum(byte) || byte == '_' || (byte >= 0xc3 && byte != 0xe2);
}

/* The unit that TEXT begins with, as a whole word; NULL: none. */
static const struct unit *find_unit(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t size = strlen(units[i].text);
        if (size <= len && memcmp(units[i].text, text, size) == 0 &&
            (units[i].text[0] == '%' || size == len || !is_letter(text[size])))
            return &units[i];
    }
    return NULL;
}

static void figure_take_unit(struct figure *figure, const struct unit *unit)
{
    figure->has_unit = true;
    figure->whole = false;
    figure->dimension = unit->dimension;
    figure->unit = unit->text;
    figure->scale = unit->scale;
    figure->scale2 = unit->scale2;
}

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
    while (at < len && (text[at] == ' ' || text[at] == '\t' || text[at] == '*' ||
                        (at + 1 < len && memcmp(text + at, "\xc2\xa0", 2) == 0)))
        at += text[at] == '\xc2' ? 2 : 1;
    return at;
}

/* The length of what separates groups of digits, if TEXT begins with that and three digits; else 0. Two figures that a plain blank
 * separates may be two: see join_groups. */
static size_t group_separator(const char *text, size_t len)
{
    static const char *const separators[] = {
        ",", "'", "_", "\xe2\x80\x99", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"
    };
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        size_t size = strlen(separators[i]);
        if (size + 3 > len || memcmp(text, separators[i], size) != 0)
            continue;
        size_t digits = 0;
        while (size + digits < len && isdigit((unsigned char)text[size + digits]))
            digits++;
        return digits == 3 ? size : 0;
    }
    return 0;
}

/* The length of an exponent of ten that TEXT begins with, e-3; else 0. */
static size_t read_exponent(const char *text, size_t len, int *exponent)
{
    size_t at = 1;
    if (len < 2 || (text[0] != 'e' && text[0] != 'E'))
        return 0;
    bool minus = text[at] == '-';
    at += minus || text[at] == '+';
    size_t first = at;
    *exponent = 0;
    for (; at < len && at < first + 2 && isdigit((unsigned char)text[at]); at++)
        *exponent = *exponent * 10 + (text[at] - '0');
    *exponent = minus ? -*exponent : *exponent;
    return at > first && (at == len || !is_letter(text[at])) ? at : 0;
}

/* The length of the number that TEXT begins with, as FIGURE without unit: digits, in groups of three or not, a fraction, and an
 * exponent. */
static size_t read_digits(const char *text, size_t len, struct figure *figure)
{
    enum { MOST_DIGITS = 18 };
    size_t at = 0, digits = 0, decimals = 0, group;
    long double value = 0;
    while (at < len) {
        if (isdigit((unsigned char)text[at])) {
            value = value * 10 + (text[at++] - '0');
            digits++;
        } else if (digits > 0 && (group = group_separator(text + at, len - at)) > 0)
            at += group;
        else
            break;
    }
    if (at + 1 < len && text[at] == '.' && isdigit((unsigned char)text[at + 1])) {
        for (at++; at < len && isdigit((unsigned char)text[at]); at++, decimals++, digits++)
            value = value * 10 + (text[at] - '0');
    }
    int exponent = 0;
    size_t size = read_exponent(text + at, len - at, &exponent);
    figure->whole = decimals == 0 && size == 0;
    long double unit = powl(10, (long double)exponent * (size > 0) - (long double)decimals);
    figure->value = figure->to = value * unit;
    figure->half = unit / 2;
    figure->odd |= size > 0 && exponent > 0; /* 1e2: how exact it is meant is not known */
    at += size;
    if (at + 1 < len && strchr(",'", text[at]) &&
        isdigit((unsigned char)text[at + 1])) { /* 5,9: a comma of decimals, or a list */
        figure->odd = true;
        figure->value = figure->to = NAN;
        while (at + 1 < len && (isdigit((unsigned char)text[at]) ||
                                (strchr(",'.", text[at]) && isdigit((unsigned char)text[at + 1]))))
            at++;
        at += at < len && isdigit((unsigned char)text[at]);
    }
    figure->odd |= digits > MOST_DIGITS;
    return at;
}

/* The length of the figure at AT, or 0 if it is none: part of a name or version. BEFORE it no letter
 * stands. */
static size_t read_figure(const char *text, size_t len, size_t at, struct figure *figure)
{
    *figure = (struct figure){ .whole = true };
    size_t end = at + read_digits(text + at, len - at, figure);
    if (end == at + 1 && text[at] == '0' && end < len && tolower((unsigned char)text[end]) == 'x') {
        figure->odd = true; /* 0x1f */
        figure->value = figure->to = NAN;
        while (end < len && is_letter(text[end]))
            end++;
    }
    bool dotted = end + 1 < len && text[end] == '.' && isdigit((unsigned char)text[end + 1]); /* 1.2.3 */
    size_t unit_at = skip_blanks(text, len, end);
    if (unit_at == end && end + 1 < len && text[end] == '-')
        unit_at++; /* a 12-ms gap */
    const struct unit *unit = dotted || unit_at == len ? NULL : find_unit(text + unit_at, len - unit_at);
    if (!unit) {
        if (dotted || (end < len && is_letter(text[end])))
            return 0;
        if (end + 1 < len && (text[end] == ':' || text[end] == '/') && isdigit((unsigned char)text[end + 1]))
            figure->odd = true; /* a time of day, a fraction */
        return end - at;
    }
    figure_take_unit(figure, unit);
    end = unit_at + strlen(unit->text);
    if (end + 1 < len && text[end] == '/' && is_letter(text[end + 1]))
        figure->odd = true; /* GB/s */
    return end - at;
}

/* ---- tokens ---- */

struct reader {
    const struct check_facts *facts;
    const char *text;
    size_t len, at;
    struct arena *arena;
    struct tokens *tokens;
};

static struct token *add_token(struct reader *reader, enum token_kind kind)
{
    struct token *token = VEC_PUSH(reader->tokens);
    *token = (struct token){ .kind = kind, .step = -1 };
    return token;
}

/* May a name end before END? */
static bool ends_name(const char *text, size_t len, size_t end)
{
    if (end == len)
        return true;
    char last = text[end - 1], next = text[end];
    if (next == ':' && end + 1 < len && text[end + 1] == ':')
        return false;
    if ((next == '.' || next == '-' || next == '#' || next == '/') && end + 1 < len &&
        is_letter(text[end + 1]) && is_letter(last))
        return false;
    if (next == '<' || next == '(') /* a template, a function: the name goes on */
        return !is_letter(last);
    return !(is_letter(last) && is_letter(next));
}

/* Is NAME a plain word? Such a name must not be one of the words that say what a figure is. */
static bool is_plain_word(const char *name)
{
    char lower[32] = { 0 };
    size_t len = strlen(name);
    if (len >= sizeof lower)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!isalpha((unsigned char)name[i]) && name[i] != ' ')
            return false;
        lower[i] = (char)tolower((unsigned char)name[i]);
    }
    static const char *const plain[] = { "the", "in",  "it", "is",  "of", "on",  "at",    "a",    "an",
                                         "and", "for", "or", "but", "us", "run", "trace", "model" };
    return ANY(i, sizeof plain / sizeof *plain, strcmp(plain[i], lower) == 0) || len < 3 ||
           word_bits(lower, len) != 0;
}

/* N of "ProfilerStep#N", all of the LEN bytes at TEXT; -1: it is not. */
static int64_t profiler_step(const char *text, size_t len)
{
    static const char prefix[] = "ProfilerStep#";
    size_t size = sizeof prefix - 1;
    if (len <= size || len > size + 9 || memcmp(text, prefix, size) != 0)
        return -1;
    int64_t number = 0;
    for (size_t i = size; i < len; i++) {
        if (!isdigit((unsigned char)text[i]))
            return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

static void read_words(struct reader *reader);

/* A code span: a name, or words or a figure that are only set so. */
static void read_span(struct reader *reader, const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char)text[0]))
        text++, len--;
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    if (len == 0)
        return;
    int64_t step = profiler_step(text, len);
    const struct check_name *name = check_name_find(reader->facts, text, len);
    if (!name && len > 2 && memcmp(text + len - 2, "()", 2) == 0)
        name = check_name_find(reader->facts, text, len - 2);
    bool several = false;
    if (!name)
        name = check_name_shortened(reader->facts, text, len, &several);
    char lower[16];
    bool is_word = len < sizeof lower;
    for (size_t i = 0; i < len && is_word; i++) {
        is_word = isalpha((unsigned char)text[i]) || text[i] == ' ' || text[i] == '-';
        lower[i] = (char)tolower((unsigned char)text[i]);
    }
    bool is_known = is_word && word_bits(lower, len) != 0;
    if (!name && step < 0 && !several && (is_known || isdigit((unsigned char)text[0]) || text[0] == '~')) {
        struct reader inner = *reader;
        inner.text = text;
        inner.len = len;
        inner.at = 0;
        read_words(&inner);
        return;
    }
    struct token *token = add_token(reader, TOKEN_NAME);
    token->quoted = true;
    token->text = arena_strndup(reader->arena, text, len);
    token->name = step >= 0 ? NULL : name;
    token->several = several;
    token->step = step;
}

static bool read_code(struct reader *reader)
{
    size_t ticks = 0, from = reader->at;
    while (from < reader->len && reader->text[from] == '`')
        ticks++, from++;
    for (size_t end = from; end < reader->len;) {
        size_t run = 0;
        while (end + run < reader->len && reader->text[end + run] == '`')
            run++;
        if (run == ticks) {
            reader->at = end + run;
            read_span(reader, reader->text + from, end - from);
            return true;
        }
        end += run ? run : 1;
    }
    return false;
}

/* A name of the trace that begins here, without backticks. */
static bool read_name(struct reader *reader)
{
    const char *text = reader->text + reader->at;
    size_t len = reader->len - reader->at;
    size_t word = 0;
    while (word < len && (is_letter(text[word]) || text[word] == '#'))
        word++;
    int64_t step = profiler_step(text, word);
    const struct check_name *name = check_name_longest(reader->facts, text, len, ends_name);
    if (step < 0 && (!name || is_plain_word(check_name_text(name))))
        return false;
    if (step < 0 && isdigit((unsigned char)text[0])) /* "12" may be a name, but here it is a number */
        return false;
    struct token *token = add_token(reader, TOKEN_NAME);
    size_t size = step >= 0 ? word : strlen(check_name_text(name));
    token->text = arena_strndup(reader->arena, text, size);
    token->name = step >= 0 ? NULL : name;
    token->step = step;
    reader->at += size;
    return true;
}

/* A number with what stands directly before it. False: it is part of something else, which is skipped. */
static void read_number(struct reader *reader)
{
    const char *text = reader->text;
    struct figure figure;
    size_t size = read_figure(text, reader->len, reader->at, &figure);
    if (size == 0) {
        size_t end = reader->at + read_digits(text + reader->at, reader->len - reader->at, &figure);
        bool factor =
            end < reader->len && text[end] == 'x' && (end + 1 == reader->len || !is_letter(text[end + 1]));
        while (reader->at < reader->len &&
               (is_letter(text[reader->at]) ||
                (text[reader->at] == '.' && reader->at + 1 < reader->len && is_letter(text[reader->at + 1]))))
            reader->at++;
        struct token *skipped = add_token(reader, factor ? TOKEN_NUMBER : TOKEN_WORD); /* 2x slower, or 2nd */
        skipped->text = "";
        skipped->figure.odd = factor;
        return;
    }
    if (reader->at > 0) {
        char before = text[reader->at - 1];
        char earlier = reader->at > 1 ? text[reader->at - 2] : ' ';
        if (before == '#')
            figure.is_label = true;
        if ((before == ':' || before == '.' || before == '/' || before == '=') && is_letter(earlier))
            figure.odd = before != '='; /* train.py:12 */
        bool sign = reader->at > 2 && memcmp(text + reader->at - 3, "\xe2\x88\x92", 3) == 0;
        if (before == '-' || before == '+' || sign)
            figure.odd = true;
        char ahead = sign && reader->at > 3 ? text[reader->at - 4] : sign ? ' ' : earlier;
        if ((before == '-' || sign) && !is_letter(ahead) && ahead != '%' && ahead != '-') /* no range */
            figure.value = figure.to = -figure.value;
    }
    struct token *token = add_token(reader, TOKEN_NUMBER);
    token->text = arena_strndup(reader->arena, text + reader->at, size);
    token->figure = figure;
    reader->at += size;
}

/* The length of the path or dotted identifier at TEXT: logs/gpu/a.json, Optimizer.step#SGD.step; 0: it is a plain word. */
static size_t identifier_length(const char *text, size_t len)
{
    size_t end = 0, joints = 0, slashes = 0;
    for (;; end++) {
        bool joins = end > 0 && end + 1 < len && (text[end] == '.' || text[end] == '#') &&
                     is_letter(text[end - 1]) && is_letter(text[end + 1]);
        bool slash = end + 1 < len && text[end] == '/' && is_letter(text[end + 1]);
        if (end == len || !(is_letter(text[end]) || joins || slash))
            break;
        joints += joins;
        slashes += slash;
    }
    return joints && (slashes || !isdigit((unsigned char)text[0])) ? end : 0;
}

static void read_word(struct reader *reader)
{
    size_t from = reader->at;
    size_t identifier = identifier_length(reader->text + from, reader->len - from);
    if (identifier) {
        add_token(reader, TOKEN_WORD)->text = arena_strndup(reader->arena, reader->text + from, identifier);
        reader->at += identifier;
        return;
    }
    while (reader->at < reader->len &&
           (is_letter(reader->text[reader->at]) ||
            (reader->text[reader->at] == '\'' && reader->at > from && reader->at + 1 < reader->len &&
             is_letter(reader->text[reader->at + 1]))))
        reader->at++;
    char *text = arena_strndup(reader->arena, reader->text + from, reader->at - from);
    for (char *c = text; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    size_t len = strlen(text);
    if (len > 2 && strcmp(text + len - 2, "'s") == 0)
        text[len -= 2] = '\0';
    struct token *token = add_token(reader, TOKEN_WORD);
    token->text = text;
    token->bits = word_bits(text, len);
    static const char *const joints[] = { "and",     "but",   "against", "or",   "for",
                                          "because", "while", "whereas", "which" };
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        if (strcmp(text, joints[i]) == 0) {
            token->kind = TOKEN_CLAUSE;
            token->joins = i == 0 || strcmp(text, "or") == 0;
        }
    }
}

/* Is the full stop at AT the end of a sentence? */
static bool ends_sentence(const struct reader *reader, size_t at)
{
    const char *text = reader->text;
    size_t next = at + 1;
    while (next < reader->len && (text[next] == ')' || text[next] == '"' || text[next] == '*'))
        next++;
    if (next < reader->len && !isspace((unsigned char)text[next]))
        return false;
    next = skip_blanks(text, reader->len, next);
    if (next == reader->len || text[at] != '.')
        return true;
    return !islower((unsigned char)text[next]) &&
           !isdigit((unsigned char)text[next]); /* "approx. 3", "e.g. the" */
}

static void read_mark(struct reader *reader)
{
    const char *text = reader->text + reader->at;
    size_t left = reader->len - reader->at;
    bool blank_behind = left == 1 || isspace((unsigned char)text[1]);
    bool blank_before = reader->at == 0 || isspace((unsigned char)text[-1]);
    static const struct {
        const char *text, *as;
    } signs[] = {
        { "\xe2\x89\x88", "~" },
        { "\xe2\x89\xa5", ">=" },
        { "\xe2\x89\xa4", "<=" },
        { ">=", ">=" },
        { "<=", "<=" },
        { ">", ">" },
        { "<", "<" },
        { "~", "~" },
        { "\xc2\xb1", "+-" },
        { "+/-", "+-" },
        { "\xe2\x80\x93", "-" },
        { "..", "-" },
        { "\xe2\x80\x94", "--" },
        { "\xc3\x97", "times" },
        { "\xe2\x86\x92", "->" },
        { "->", "->" },
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t size = strlen(signs[i].text);
        if (size > left || memcmp(signs[i].text, text, size) != 0 ||
            (text[0] == '.' && (left == size || !isdigit((unsigned char)text[size]))))
            continue;
        reader->at += size;
        bool dash = strcmp(signs[i].as, "--") == 0 || (strcmp(signs[i].as, "-") == 0 && blank_before);
        add_token(reader, dash ? TOKEN_CLAUSE : TOKEN_MARK)->text = signs[i].as;
        return;
    }
    reader->at++;
    if ((text[0] == '.' || text[0] == '!' || text[0] == '?') && ends_sentence(reader, reader->at - 1))
        add_token(reader, TOKEN_SENTENCE);
    else if (text[0] == ';' || text[0] == '(' || text[0] == ')' || (text[0] == ',' && blank_behind) ||
             ((text[0] == '/' || text[0] == '-') && blank_before && blank_behind))
        add_token(reader, TOKEN_CLAUSE)->text = text[0] == '(' ? "(" : text[0] == ')' ? ")" : ",";
    else if ((unsigned char)text[0] >= 0x80)
        return; /* a quote, a bullet, a blank that does not break */
    else if (!isspace((unsigned char)text[0]) && text[0] != '*' && text[0] != '"' && text[0] != '\'')
        add_token(reader, TOKEN_MARK)->text = arena_strndup(reader->arena, text, 1);
}

/* Skip "(address)" behind "[text]". */
static bool skip_address(struct reader *reader)
{
    if (reader->text[reader->at] != ']' || reader->at + 1 >= reader->len ||
        reader->text[reader->at + 1] != '(')
        return false;
    const char *end = memchr(reader->text + reader->at, ')', reader->len - reader->at);
    if (!end)
        return false;
    reader->at = (size_t)(end - reader->text) + 1;
    return true;
}

static void read_words(struct reader *reader)
{
    while (reader->at < reader->len) {
        char c = reader->text[reader->at];
        char before = reader->at > 0 ? reader->text[reader->at - 1] : ' ';
        if (c == '`' && read_code(reader))
            continue;
        if (skip_address(reader))
            continue;
        if (!isspace((unsigned char)c) && !is_letter(before) && before != ':' && read_name(reader))
            continue;
        const struct unit *unit = find_unit(reader->text + reader->at, reader->len - reader->at);
        if (isdigit((unsigned char)c)) {
            read_number(reader);
        } else if (unit && (unit->text[0] == '%' || (unsigned char)unit->text[0] >= 0x80)) {
            add_token(reader, TOKEN_WORD)->text = unit->text;
            reader->at += strlen(unit->text);
        } else if (is_letter(c) ||
                   (c == '/' && identifier_length(reader->text + reader->at, reader->len - reader->at))) {
            read_word(reader);
        } else {
            read_mark(reader);
        }
    }
}

/* ---- joining tokens ---- */

static bool is_word(const struct tokens *tokens, size_t i, const char *text)
{
    return i < tokens->count && (tokens->at[i].kind == TOKEN_WORD || tokens->at[i].kind == TOKEN_CLAUSE) &&
           tokens->at[i].text && strcmp(tokens->at[i].text, text) == 0;
}

static bool is_mark(const struct tokens *tokens, size_t i, const char *text)
{
    return i < tokens->count && tokens->at[i].kind == TOKEN_MARK && strcmp(tokens->at[i].text, text) == 0;
}

static bool is_number(const struct tokens *tokens, size_t i)
{
    return i < tokens->count && tokens->at[i].kind == TOKEN_NUMBER;
}

static void remove_tokens(struct tokens *tokens, size_t first, size_t count)
{
    memmove(tokens->at + first, tokens->at + first + count,
            (tokens->count - first - count) * sizeof *tokens->at);
    tokens->count -= count;
}

/* One end of "host to device" at I, and how many tokens it has. */
static enum { END_NONE, END_HOST, END_DEVICE } copy_end(const struct tokens *tokens, size_t i, size_t *size)
{
    *size = 1;
    if (is_word(tokens, i, "the"))
        i++, *size = 2;
    if (i >= tokens->count || tokens->at[i].kind != TOKEN_WORD)
        return END_NONE;
    return tokens->at[i].bits & WORD_HOST     ? END_HOST
           : tokens->at[i].bits & WORD_DEVICE ? END_DEVICE
                                              : END_NONE;
}

static enum copy_direction direction_of(int from, int to)
{
    if (from == END_HOST)
        return to == END_DEVICE ? COPY_HTOD : COPY_HTOH;
    return to == END_HOST ? COPY_DTOH : COPY_DTOD;
}

static void join_directions(struct tokens *tokens)
{
    static const struct {
        const char *text;
        enum copy_direction direction;
    } short_ones[] = {
        { "htod", COPY_HTOD }, { "h2d", COPY_HTOD },  { "dtoh", COPY_DTOH },
        { "d2h", COPY_DTOH },  { "dtod", COPY_DTOD }, { "d2d", COPY_DTOD },
    };
    for (size_t i = 0; i < tokens->count; i++) {
        enum copy_direction direction = COPY_UNKNOWN;
        size_t from_size, between = 0, to_size = 0;
        int from = copy_end(tokens, i, &from_size);
        if (from) {
            size_t at = i + from_size;
            if (is_mark(tokens, at, "-"))
                at++;
            if (is_word(tokens, at, "to")) {
                at++;
                if (is_mark(tokens, at, "-"))
                    at++;
                int to = copy_end(tokens, at, &to_size);
                if (to)
                    direction = direction_of(from, to);
                between = at - i - from_size;
            }
        }
        size_t size = from_size + between + to_size;
        for (size_t s = 0; s < sizeof short_ones / sizeof *short_ones && !direction; s++)
            if (is_word(tokens, i, short_ones[s].text)) {
                direction = short_ones[s].direction;
                size = 1;
            }
        if (!direction)
            continue;
        tokens->at[i] = (struct token){
            .kind = TOKEN_DIRECTION, .bits = WORD_COPY, .step = -1, .copies.direction = direction
        };
        remove_tokens(tokens, i + 1, size - 1);
    }
}

/* "3-4 ms", "3 to 4 ms", "between 3 and 4 ms": one figure. */
static void join_ranges(struct tokens *tokens)
{
    for (size_t i = 0; i + 2 < tokens->count; i++) {
        bool between = i > 0 && is_word(tokens, i - 1, "between") && is_word(tokens, i + 1, "and");
        bool dash = is_mark(tokens, i + 1, "-") || is_word(tokens, i + 1, "to");
        bool spread = is_mark(tokens, i + 1, "+-"), change = is_mark(tokens, i + 1, "->");
        if (!is_number(tokens, i) || !is_number(tokens, i + 2) || !(between || dash || spread || change))
            continue;
        struct figure *low = &tokens->at[i].figure, *high = &tokens->at[i + 2].figure;
        bool from = i > 0 && is_word(tokens, i - 1, "from");
        bool same_unit = low->has_unit && high->has_unit && low->scale == high->scale;
        if (spread || change || from || low->is_label || (low->has_unit && !same_unit)) {
            low->odd = high->odd = true;
            if (spread && !low->has_unit && high->has_unit) { /* 5 +- 0.1 ms: the figure is 5 ms */
                high->value = high->to = low->value;
                remove_tokens(tokens, i, 2);
            }
            continue;
        }
        bool odd = low->odd || high->is_label || low->half > high->half * 1.01L || low->value > high->value;
        struct figure joined = *high;
        joined.value = low->value;
        joined.to = high->value;
        joined.odd = odd;
        joined.whole = joined.whole && low->whole;
        *low = joined;
        remove_tokens(tokens, i + 1, 2);
        if (between)
            tokens->at[i - 1].bits = 0;
    }
}

/* Is it the number of a thing: step 3, step #3? */
static bool is_label(const struct tokens *tokens, size_t i);

/* "4 999 us": one figure, or the label of something and a figure, so it is not judged. Neither are others that nothing separates. */
static void join_groups(struct tokens *tokens)
{
    for (size_t i = 0; i + 1 < tokens->count; i++) {
        struct token *first = &tokens->at[i], *next = first + 1;
        if (!is_number(tokens, i) || !is_number(tokens, i + 1) || first->figure.has_unit ||
            is_label(tokens, i))
            continue;
        bool group = first->figure.whole && strspn(next->text, "0123456789") == 3;
        next->figure.value += group ? first->figure.value * 1000 : 0;
        next->figure.to = next->figure.value;
        first->figure.odd = next->figure.odd = true;
        if (group)
            remove_tokens(tokens, i--, 1);
    }
}

/* "at least", "about", "<" ... before a figure belong to it. */
static void join_bounds(struct tokens *tokens)
{
    static const struct {
        const char *first, *second;
        enum figure_bound bound;
    } phrases[] = {
        { "no", "more", BOUND_MOST },   { "not", "more", BOUND_MOST },   { "no", "less", BOUND_LEAST },
        { "at", "least", BOUND_LEAST }, { "at", "most", BOUND_MOST },    { "more", "than", BOUND_MORE },
        { "less", "than", BOUND_LESS }, { "fewer", "than", BOUND_LESS }, { "up", "to", BOUND_MOST },
        { NULL, "over", BOUND_MORE },   { NULL, "above", BOUND_MORE },   { NULL, "exceeds", BOUND_MORE },
        { NULL, "under", BOUND_LESS },  { NULL, "below", BOUND_LESS },   { NULL, "within", BOUND_MOST },
        { NULL, ">", BOUND_MORE },      { NULL, "<", BOUND_LESS },       { NULL, ">=", BOUND_LEAST },
        { NULL, "<=", BOUND_MOST },
    };
    static const char *const abouts[] = { "about", "roughly", "around", "approximately", "approx", "circa",
                                          "ca",    "nearly",  "almost", "some",          "~" };
    for (size_t i = 1; i < tokens->count; i++) {
        if (!is_number(tokens, i))
            continue;
        struct figure *figure = &tokens->at[i].figure;
        size_t before = i - 1;
        for (size_t a = 0; a < sizeof abouts / sizeof *abouts; a++)
            if (is_word(tokens, before, abouts[a]) || is_mark(tokens, before, abouts[a])) {
                figure->about = true;
                before = before ? before - 1 : 0;
                break;
            }
        for (size_t p = 0; p < sizeof phrases / sizeof *phrases; p++) {
            if (!is_word(tokens, before, phrases[p].second) && !is_mark(tokens, before, phrases[p].second))
                continue;
            if (phrases[p].first && (before == 0 || !is_word(tokens, before - 1, phrases[p].first)))
                continue;
            if (strcmp(phrases[p].second, "over") == 0 && !figure->has_unit)
                continue; /* over 6 steps */
            static const char *const sums[] = { "add", "adds", "sum", "sums", "summed" };
            bool adds_up = false;
            for (size_t w = 0; w < sizeof sums / sizeof *sums && before > 1; w++)
                adds_up |= is_word(tokens, before - 1, "up") && is_word(tokens, before - 2, sums[w]);
            if (adds_up)
                continue;
            bool negated = phrases[p].first && strcmp(phrases[p].second, "than") == 0 && before > 1 &&
                           (is_word(tokens, before - 2, "not") || is_word(tokens, before - 2, "no"));
            figure->bound = !negated                         ? phrases[p].bound
                            : phrases[p].bound == BOUND_MORE ? BOUND_MOST
                                                             : BOUND_LEAST;
            for (size_t w = negated ? before - 2 : phrases[p].first ? before - 1 : before; w <= before; w++)
                tokens->at[w].bits = 0;
            break;
        }
    }
}

/* Numbers that name a thing: step 3, rank 0, GPU 1, line 12. */
static bool is_label(const struct tokens *tokens, size_t i)
{
    static const char *const things[] = { "step",    "steps", "rank",   "ranks", "gpu",     "device",
                                          "stream",  "line",  "layer",  "epoch", "batch",   "iteration",
                                          "version", "issue", "python", "cuda",  "page",    "thread",
                                          "node",    "host",  "figure", "table", "section", "chapter" };
    bool any = false;
    if (i == 0 || !is_number(tokens, i) || tokens->at[i].figure.has_unit)
        return false;
    size_t before = i - 1;
    if (is_mark(tokens, before, "#") && before > 0)
        before--;
    for (size_t t = 0; t < sizeof things / sizeof *things; t++)
        any |= is_word(tokens, before, things[t]);
    return any;
}

static void mark_labels(struct tokens *tokens)
{
    for (size_t i = 1; i < tokens->count; i++)
        if (is_label(tokens, i))
            tokens->at[i].figure.is_label = true;
}

/* ---- figures in words ---- */

static bool is_word_of(const struct tokens *tokens, size_t i, const char *const *list)
{
    while (*list && !is_word(tokens, i, *list))
        list++;
    return *list != NULL;
}

/* The unit that the word at I is; NULL: none. */
static const struct unit *unit_at(const struct tokens *tokens, size_t i)
{
    return FIND_OF(one, units, sizeof units / sizeof *units, is_word(tokens, i, one->text));
}

/* "Eight kernels", "five milliseconds", "sixty percent", "half of the time", "two thirds of": figures of a kind that is not read. They are
 * named, and not judged. "The two kernels" and "one kernel" count nothing. */
static void mark_words(struct tokens *tokens)
{
    static const char *const numbers[] = {
        "one",     "two",       "three",    "four",     "five",    "six",      "seven",    "eight",
        "nine",    "ten",       "eleven",   "twelve",   "dozen",   "thirteen", "fourteen", "fifteen",
        "sixteen", "seventeen", "eighteen", "nineteen", "twenty",  "thirty",   "forty",    "fifty",
        "sixty",   "seventy",   "eighty",   "ninety",   "hundred", "thousand", "million",  NULL
    };
    static const char *const fractions[] = { "half",  "third",  "thirds", "quarter", "quarters",
                                             "fifth", "fifths", "tenth",  "tenths",  NULL };
    static const char *const wholes[] = { "of", "the", "its", "all", NULL };
    static const char *const known[] = { "the", "these", "those", "both", "of", "first", "last", NULL };
    for (size_t i = 0; i < tokens->count; i++) {
        size_t end = i;
        while (is_word_of(tokens, end, numbers) || (end > i && is_mark(tokens, end, "-")))
            end++;
        bool several = end > i + 1 || (end > i && !is_word(tokens, i, "one"));
        bool fraction = is_word_of(tokens, end, fractions) && is_word_of(tokens, end + 1, wholes);
        const struct unit *unit = end > i ? unit_at(tokens, end) : NULL;
        bool count = several && end < tokens->count && tokens->at[end].kind == TOKEN_WORD &&
                     tokens->at[end].bits & (WORD_KERNEL | WORD_COPY | WORD_STEP | WORD_TIMES | WORD_RUN) &&
                     !(i > 0 && is_word_of(tokens, i - 1, known));
        if (fraction || unit || count) {
            struct token *token = &tokens->at[i];
            *token = (struct token){ .kind = TOKEN_NUMBER, .text = token->text, .step = -1 };
            if (unit)
                figure_take_unit(&token->figure, unit);
            token->figure.value = token->figure.to = NAN;
            token->figure.odd = token->figure.in_words = true;
            remove_tokens(tokens, i + 1, end + (fraction || unit) - i - 1);
        } else if (end > i)
            i = end - 1;
    }
}

/* TEXT without Markdown's escapes and the entities of HTML, except in code, where only a bar is escaped. */
static char *unescape(const char *text, size_t *len, struct arena *arena)
{
    static const struct {
        const char *entity;
        char character;
    } entities[] = {
        { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&#39;", '\'' }
    };
    char *out = arena_strndup(arena, text, *len);
    size_t count = 0;
    bool code = false;
    for (size_t i = 0; i < *len; i++) {
        if (text[i] == '`')
            code = !code;
        bool escaped = text[i] == '\\' && i + 1 < *len &&
                       (code ? text[i + 1] == '|' : ispunct((unsigned char)text[i + 1]));
        size_t e = 0, left = *len - i;
        while (e < sizeof entities / sizeof *entities &&
               (code || strlen(entities[e].entity) > left ||
                memcmp(entities[e].entity, text + i, strlen(entities[e].entity)) != 0))
            e++;
        if (escaped)
            out[count++] = text[++i];
        else if (e < sizeof entities / sizeof *entities) {
            out[count++] = entities[e].character;
            i += strlen(entities[e].entity) - 1;
        } else
            out[count++] = text[i];
    }
    *len = count;
    return out;
}

void prose_read(const struct check_facts *facts, const char *text, size_t len, struct arena *arena,
                struct tokens *tokens)
{
    char *plain = unescape(text, &len, arena);
    struct reader reader = { facts, plain, len, 0, arena, tokens };
    read_words(&reader);
    join_directions(tokens);
    mark_words(tokens);
    join_ranges(tokens);
    join_groups(tokens);
    join_bounds(tokens);
    mark_labels(tokens);
}

bool prose_is_columns(const char *text, size_t len)
{
    for (size_t i = 1; i + 2 < len; i++)
        if (text[i] == ' ' && text[i + 1] == ' ' && text[i - 1] != ' ' && !strchr(".!?:", text[i - 1]))
            if (ANY_FROM(j, i + 1, len, text[j] != ' '))
                return true;
    return false;
}

bool prose_header_unit(struct tokens *tokens, struct figure *unit)
{
    for (size_t i = 0; i < tokens->count; i++) {
        const struct token *token = &tokens->at[i];
        if ((token->kind != TOKEN_WORD && token->kind != TOKEN_MARK) || !token->text)
            continue;
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            size_t at = 0; /* words are in lower case; MB and GB are not ambiguous in a header */
            while (units[u].text[at] && tolower((unsigned char)units[u].text[at]) == token->text[at])
                at++;
            if (units[u].text[at] || token->text[at])
                continue;
            *unit = (struct figure){ 0 };
            figure_take_unit(unit, &units[u]);
            remove_tokens(tokens, i, 1);
            return true;
        }
    }
    return false;
}
