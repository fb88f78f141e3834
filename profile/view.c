/*
 * view.c - sorting and restricting as Python's pstats does.
 *
 * Sorting is stable, because pstats' is: items equal in all keys stay in the order of the file. Numbers go from large
 * to small, except line numbers; texts from A to Z. A million functions are sorted by an array of 16 bytes each that
 * holds the first key as an integer, byte by byte; the functions themselves are compared only on ties.
 */
#include "profile/view.h"

#include "base/regex.h"
#include "base/rows.h"

#include <inttypes.h>
#include <math.h>

struct sort_word {
    const char *word;
    enum profile_key keys[3];
    unsigned count;
    const char *description; /* as pstats prints after "Ordered by:" */
    bool of_pstats;          /* may be shortened */
};

/* clang-format off */
static const struct sort_word sort_words[] = {
    { "calls",      { PROFILE_BY_CALLS }, 1, "call count", true },
    { "ncalls",     { PROFILE_BY_CALLS }, 1, "call count", true },
    { "cumtime",    { PROFILE_BY_CUMTIME }, 1, "cumulative time", true },
    { "cumulative", { PROFILE_BY_CUMTIME }, 1, "cumulative time", true },
    { "filename",   { PROFILE_BY_FILE }, 1, "file name", true },
    { "line",       { PROFILE_BY_LINE }, 1, "line number", true },
    { "module",     { PROFILE_BY_FILE }, 1, "file name", true },
    { "name",       { PROFILE_BY_NAME }, 1, "function name", true },
    { "nfl",        { PROFILE_BY_NAME, PROFILE_BY_FILE, PROFILE_BY_LINE }, 3, "name/file/line", true },
    { "pcalls",     { PROFILE_BY_PRIMITIVE_CALLS }, 1, "primitive call count", true },
    { "stdname",    { PROFILE_BY_STDNAME }, 1, "standard name", true },
    { "time",       { PROFILE_BY_TOTTIME }, 1, "internal time", true },
    { "tottime",    { PROFILE_BY_TOTTIME }, 1, "internal time", true },
    { "-1",         { PROFILE_BY_STDNAME }, 1, "standard name", false },
    { "0",          { PROFILE_BY_CALLS }, 1, "call count", false },
    { "1",          { PROFILE_BY_TOTTIME }, 1, "internal time", false },
    { "2",          { PROFILE_BY_CUMTIME }, 1, "cumulative time", false },
    { "tottime_percall",     { PROFILE_BY_TOTTIME_PER_CALL }, 1, "internal time per call", false },
    { "cumtime_percall",     { PROFILE_BY_CUMTIME_PER_CALL }, 1, "cumulative time per call", false },
    { "count",               { PROFILE_BY_CALLS }, 1, "call count", false },
    { "self_cpu_time_total", { PROFILE_BY_TOTTIME }, 1, "internal time", false },
    { "self_cpu_time",       { PROFILE_BY_TOTTIME_PER_CALL }, 1, "internal time per call", false },
    { "cpu_time_total",      { PROFILE_BY_CUMTIME }, 1, "cumulative time", false },
    { "cpu_time",            { PROFILE_BY_CUMTIME_PER_CALL }, 1, "cumulative time per call", false },
};
/* clang-format on */

enum { SORT_WORDS = sizeof sort_words / sizeof sort_words[0] };

bool profile_sort_word(size_t index, struct opt_choice *choice)
{
    if (index >= SORT_WORDS)
        return false;
    *choice = (struct opt_choice){ .name = sort_words[index].word, .help = sort_words[index].description };
    return true;
}

static bool same_meaning(const struct sort_word *a, const struct sort_word *b)
{
    return a->count == b->count && memcmp(a->keys, b->keys, a->count * sizeof a->keys[0]) == 0;
}

/* The row for the LEN bytes at WORD; NULL and ERR if there is none, or several match. */
static const struct sort_word *find_sort_word(const char *word, size_t len, struct tpa_error *err)
{
    struct suggest near = suggest_for(word, len);
    const struct sort_word *found = NULL;
    FOR_EACH_OF(row, sort_words, SORT_WORDS) {
        bool begins = strncmp(row->word, word, len) == 0;
        if (begins && row->word[len] == '\0')
            return row;
        suggest_consider(&near, row->word);
        if (!begins || !row->of_pstats)
            continue;
        if (found && !same_meaning(found, row)) {
            tpa_fail(err, TPA_NOWHERE, "the sort word '%.*s' could be '%s' or '%s'", (int)len, word,
                     found->word, row->word);
            return NULL;
        }
        found = row;
    }
    if (found)
        return found;
    tpa_fail(err, TPA_NOWHERE, "a Python profile cannot be sorted by '%.*s'", (int)len, word);
    if (near.best)
        tpa_hint(err, "did you mean %s?", near.best);
    else
        tpa_hint(err, "the words are calls, pcalls, tottime, cumtime, filename, line, name, nfl and stdname");
    return NULL;
}

bool profile_sort_parse(struct profile_sort *sort, const char *words, struct tpa_error *err)
{
    for (;;) {
        words += strspn(words, ", \t");
        size_t len = strcspn(words, ", \t");
        if (len == 0)
            return true;
        if (len == 4 && memcmp(words, "none", 4) == 0) {
            words += len;
            continue;
        }
        const struct sort_word *row = find_sort_word(words, len, err);
        if (!row)
            return false;
        if (sort->count + row->count > PROFILE_SORT_KEYS)
            return tpa_fail(err, TPA_NOWHERE, "more than %d keys to sort by", PROFILE_SORT_KEYS);
        for (unsigned k = 0; k < row->count; k++)
            sort->keys[sort->count++] = row->keys[k];
        if (sort->description.count > 0)
            buffer_puts(&sort->description, ", ");
        buffer_puts(&sort->description, row->description);
        words += len;
    }
}

/* A function's text "file:line(name)" in pieces, so that it can be compared without concatenation. */
struct pieces {
    struct piece {
        const char *at;
        size_t len;
    } at[5];
    size_t count;
    char line[24];
};

static void cut_to_pieces(const struct profile_function *f, struct pieces *pieces)
{
    bool nowhere = f->file_length == 1 && f->file[0] == '~';
    bool builtin = nowhere && (f->line == 0 || f->line == PROFILE_NAME_LINE);
    bool angle =
        f->line == 0 && f->name_length > 1 && f->name[0] == '<' && f->name[f->name_length - 1] == '>';
    if (builtin && angle) {
        pieces->at[0] = (struct piece){ "{", 1 };
        pieces->at[1] = (struct piece){ f->name + 1, f->name_length - 2u };
        pieces->at[2] = (struct piece){ "}", 1 };
        pieces->count = 3;
    } else if (builtin) {
        pieces->at[0] = (struct piece){ f->name, f->name_length };
        pieces->count = 1;
    } else {
        int len = snprintf(pieces->line, sizeof pieces->line, ":%" PRId64 "(", f->line);
        pieces->at[0] = (struct piece){ f->file, f->file_length };
        pieces->at[1] = (struct piece){ pieces->line, (size_t)len };
        pieces->at[2] = (struct piece){ f->name, f->name_length };
        pieces->at[3] = (struct piece){ ")", 1 };
        pieces->count = 4;
    }
}

static int compare_stdname(const struct profile_function *a, const struct profile_function *b)
{
    struct pieces pieces_a, pieces_b;
    cut_to_pieces(a, &pieces_a);
    cut_to_pieces(b, &pieces_b);
    size_t i = 0, j = 0;
    while (i < pieces_a.count && j < pieces_b.count) {
        struct piece *p = &pieces_a.at[i], *q = &pieces_b.at[j];
        size_t len = p->len < q->len ? p->len : q->len;
        int order = memcmp(p->at, q->at, len);
        if (order)
            return order;
        p->at += len, p->len -= len, i += p->len == 0;
        q->at += len, q->len -= len, j += q->len == 0;
    }
    /* The remaining pieces may be empty. */
    while (i < pieces_a.count && pieces_a.at[i].len == 0)
        i++;
    while (j < pieces_b.count && pieces_b.at[j].len == 0)
        j++;
    return (i < pieces_a.count) - (j < pieces_b.count);
}

static double per_call(double seconds, int64_t calls)
{
    return calls ? seconds / (double)calls : -INFINITY;
}

/* Integers that order as the doubles do; equal doubles give equal integers; NaN is below all. */
static uint64_t rank_double(double value)
{
    if (isnan(value))
        return 0;
    value += 0.0; /* -0 becomes 0 */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t rank_integer(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

/* The sort value of KEY as an ascending integer; 0 for texts. */
static uint64_t rank_of(const struct profile_function *f, enum profile_key key)
{
    const struct profile_cost *cost = &f->cost;
    switch (key) {
    case PROFILE_BY_CALLS: return ~rank_integer(cost->calls);
    case PROFILE_BY_PRIMITIVE_CALLS: return ~rank_integer(cost->primitive_calls);
    case PROFILE_BY_TOTTIME: return ~rank_double(cost->total_s);
    case PROFILE_BY_CUMTIME: return ~rank_double(cost->cumulative_s);
    case PROFILE_BY_TOTTIME_PER_CALL: return ~rank_double(per_call(cost->total_s, cost->calls));
    case PROFILE_BY_CUMTIME_PER_CALL:
        return ~rank_double(per_call(cost->cumulative_s, cost->primitive_calls));
    case PROFILE_BY_LINE: return rank_integer(f->line);
    case PROFILE_BY_FILE:
    case PROFILE_BY_NAME:
    case PROFILE_BY_STDNAME: break;
    }
    return 0;
}

static int compare_by(const struct profile_function *a, const struct profile_function *b,
                      enum profile_key key)
{
    switch (key) {
    case PROFILE_BY_FILE: return text_compare(a->file, a->file_length, b->file, b->file_length);
    case PROFILE_BY_NAME: return text_compare(a->name, a->name_length, b->name, b->name_length);
    case PROFILE_BY_STDNAME: return compare_stdname(a, b);
    default: break;
    }
    uint64_t rank_a = rank_of(a, key), rank_b = rank_of(b, key);
    return (rank_a > rank_b) - (rank_a < rank_b);
}

struct sort_entry {
    uint64_t rank;  /* by the first key */
    uint32_t place; /* in the file's order: makes any sort stable */
};

struct sort_context {
    const struct profile *profile;
    const struct profile_sort *sort;
};

static int compare_entries(const void *left, const void *right, void *data)
{
    const struct sort_entry *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank > b->rank ? 1 : -1;
    const struct sort_context *context = data;
    const struct profile *profile = context->profile;
    const struct profile_function *f = &profile->functions[profile->listed[a->place]];
    const struct profile_function *g = &profile->functions[profile->listed[b->place]];
    for (unsigned k = 0; k < context->sort->count; k++) {
        int order = compare_by(f, g, context->sort->keys[k]);
        if (order)
            return order;
    }
    return (a->place > b->place) - (a->place < b->place);
}

/* Sort by rank, stably: by its lowest byte, then by the next one. Bytes that are equal in all are skipped. Returns AT
 * or SPARE, whichever holds the result; the other is scratch. */
static struct sort_entry *sort_ranks(struct sort_entry *at, struct sort_entry *spare, size_t count)
{
    enum { BYTES = sizeof at->rank };
    size_t(*counts)[256] = mem_zalloc(BYTES, sizeof *counts);
    for (size_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < BYTES; byte++)
            counts[byte][at[i].rank >> (8 * byte) & 0xff]++;
    for (unsigned byte = 0; byte < BYTES && count > 0; byte++) {
        size_t *place = counts[byte];
        if (place[at[0].rank >> (8 * byte) & 0xff] == count)
            continue;
        for (size_t value = 0, sum = 0; value < 256; value++) {
            size_t here = place[value];
            place[value] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            spare[place[at[i].rank >> (8 * byte) & 0xff]++] = at[i];
        struct sort_entry *sorted = spare;
        spare = at;
        at = sorted;
    }
    free(counts);
    return at;
}

/* Sift down the entry at I in a heap of COUNT entries, with the last in order at 0. */
static void sink(struct sort_entry *heap, size_t count, size_t i, struct sort_context *context)
{
    struct sort_entry sinking = heap[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && compare_entries(&heap[child], &heap[child + 1], context) < 0)
            child++;
        if (compare_entries(&heap[child], &sinking, context) <= 0)
            break;
        heap[i] = heap[child];
    }
    heap[i] = sinking;
}

/* Sort only the first COUNT, with a heap: most functions are skipped after one comparison. */
static void select_functions(struct profile_view *view, const struct profile *profile,
                             const struct profile_sort *sort, size_t count)
{
    struct sort_context context = { profile, sort };
    SCOPED struct sort_entry *heap = mem_alloc(mem_times(count, sizeof *heap));
    for (size_t i = 0; i < profile->listed_count; i++) {
        struct sort_entry entry = { rank_of(&profile->functions[profile->listed[i]], sort->keys[0]),
                                    (uint32_t)i };
        if (i < count) {
            heap[i] = entry;
            if (i + 1 == count)
                for (size_t k = count / 2; k-- > 0;)
                    sink(heap, count, k, &context);
        } else if (compare_entries(&entry, &heap[0], &context) < 0) {
            heap[0] = entry;
            sink(heap, count, 0, &context);
        }
    }
    qsort_r(heap, count, sizeof *heap, compare_entries, &context);
    view->at = mem_alloc(mem_times(count + 1, sizeof *view->at));
    for (size_t i = 0; i < count; i++)
        view->at[i] = profile->listed[heap[i].place];
    view->count = count;
}

static void sort_functions(struct profile_view *view, const struct profile *profile,
                           const struct profile_sort *sort)
{
    size_t count = view->count = profile->listed_count;
    view->at = mem_alloc(mem_times(count + 1, sizeof *view->at));
    if (sort->count == 0) {
        if (count > 0)
            memcpy(view->at, profile->listed, count * sizeof *view->at);
        return; /* like pstats, reverse only a sorted list */
    }
    struct sort_entry *both = mem_alloc(mem_times(2 * count + 1, sizeof *both)), *entries = both;
    for (size_t i = 0; i < count; i++) {
        entries[i].rank = rank_of(&profile->functions[profile->listed[i]], sort->keys[0]);
        entries[i].place = (uint32_t)i;
    }
    entries = sort_ranks(entries, entries + count, count);
    struct sort_context context = { profile, sort };
    FOR_RUNS(first, end, count, entries[end].rank == entries[first].rank) {
        if (end - first > 1)
            qsort_r(entries + first, end - first, sizeof *entries, compare_entries, &context);
    }
    for (size_t i = 0; i < count; i++)
        view->at[sort->reverse ? count - 1 - i : i] = profile->listed[entries[i].place];
    free(both);
}

/* TEXT as Python's repr() writes it, which chooses quotes and escapes invisible characters. */
static void add_python_text(struct buffer *out, const char *text)
{
    char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';
    buffer_putc(out, quote);
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == (unsigned char)quote || c == '\\')
            buffer_printf(out, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            buffer_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (c < 0x20 || c == 0x7f)
            buffer_printf(out, "\\x%02x", c);
        else
            buffer_putc(out, (char)c);
    }
    buffer_putc(out, quote);
}

/* VALUE, which is in [0, 1), as Python's repr() writes it: the fewest digits that round-trip. */
static void add_python_share(struct buffer *out, double value)
{
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && digits++ < 17);
    buffer_puts(out, text);
    if (!strpbrk(text, ".e"))
        buffer_puts(out, ".0");
}

static void append_reduction(struct profile_view *view, size_t before, struct buffer *restriction,
                             bool by_limit)
{
    if (view->count < before) {
        *VEC_PUSH(&view->reductions) =
            (struct profile_reduction){ before, view->count, restriction->at, by_limit };
        *restriction = (struct buffer){ 0 };
    }
    buffer_release(restriction);
}

/* Keep the functions whose text matches PATTERN, or, with EXCLUDE, the others. */
static bool restrict_to_pattern(struct profile_view *view, const struct profile *profile, const char *pattern,
                                bool exclude, struct tpa_error *err)
{
    struct regex *regex = regex_open(pattern, err);
    if (!regex)
        return false;
    /* Functions are matched in memory order, not in the order of the list. */
    bool *keep = mem_zalloc(profile->function_count + 1, sizeof *keep);
    for (size_t i = 0; i < view->count; i++)
        keep[view->at[i]] = true;
    struct buffer text = { 0 };
    bool fine = true;
    for (function_id id = 0; id < profile->function_count && fine; id++) {
        if (!keep[id])
            continue;
        bool matched = false;
        buffer_clear(&text);
        profile_function_text(&profile->functions[id], &text);
        fine = regex_match(regex, text.at, text.count, &matched, err);
        keep[id] = matched != exclude;
    }
    size_t before = view->count, kept = 0;
    for (size_t i = 0; i < before; i++)
        if (keep[view->at[i]])
            view->at[kept++] = view->at[i];
    view->count = kept;
    free(keep);
    regex_free(regex);
    buffer_release(&text);
    if (!fine)
        return false;
    struct buffer restriction = { 0 };
    if (exclude)
        buffer_puts(&restriction, "not ");
    add_python_text(&restriction, pattern);
    append_reduction(view, before, &restriction, false);
    return true;
}

/* Functions that LIMIT leaves of COUNT. */
static size_t count_within(const struct limit *limit, size_t count)
{
    if (limit->is_share)
        return limit->share < 1 ? (size_t)((double)count * limit->share + .5) : count;
    return limit->count > 0 && limit->count < count ? (size_t)limit->count : count;
}

/* Record that LIMIT reduced BEFORE functions. */
static void restrict_to_limit(struct profile_view *view, size_t before, const struct limit *limit)
{
    struct buffer restriction = { 0 };
    view->count = count_within(limit, before);
    if (limit->is_share)
        add_python_share(&restriction, limit->share);
    else
        buffer_printf(&restriction, "%" PRIu64, limit->count);
    append_reduction(view, before, &restriction, true);
}

bool profile_view_make(struct profile_view *view, const struct profile *profile,
                       const struct profile_sort *sort, const struct profile_restriction *restriction,
                       struct tpa_error *err)
{
    enum { FEW = 1000 }; /* up to here a heap is faster than sorting all */
    size_t all = profile->listed_count, wanted = count_within(&restriction->limit, all);
    bool all_match = !restriction->filter && !restriction->exclude;
    if (all_match && sort->count > 0 && !sort->reverse && wanted > 0 && wanted <= FEW && wanted < all) {
        select_functions(view, profile, sort, wanted);
        restrict_to_limit(view, all, &restriction->limit);
        return true;
    }
    sort_functions(view, profile, sort);
    if (restriction->filter && !restrict_to_pattern(view, profile, restriction->filter, false, err))
        return false;
    if (restriction->exclude && !restrict_to_pattern(view, profile, restriction->exclude, true, err))
        return false;
    restrict_to_limit(view, view->count, &restriction->limit);
    return true;
}

void profile_view_release(struct profile_view *view)
{
    free(view->at);
    for (size_t i = 0; i < view->reductions.count; i++)
        free(view->reductions.at[i].restriction);
    VEC_FREE(&view->reductions);
    *view = (struct profile_view){ 0 };
}

void profile_callees_make(struct profile_callees *callees, const struct profile *profile, struct arena *arena)
{
    /* Counting sort: count, compute positions, place. */
    uint32_t *first = arena_zalloc(arena, profile->function_count + 2, sizeof *first);
    size_t total = 0;
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *f = &profile->functions[profile->listed[i]];
        for (uint32_t e = 0; e < f->edge_count; e++)
            first[profile->edges[f->first_edge + e].caller + 2]++;
        total += f->edge_count;
    }
    for (size_t i = 2; i < profile->function_count + 2; i++)
        first[i] += first[i - 1];
    callees->at = arena_alloc(arena, mem_times(total + 1, sizeof *callees->at));
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *f = &profile->functions[profile->listed[i]];
        for (uint32_t e = f->first_edge; e < f->first_edge + f->edge_count; e++)
            callees->at[first[profile->edges[e].caller + 1]++] =
                (struct profile_call){ profile->listed[i], e };
    }
    callees->first = first;
}

static int view_compare_calls(const void *left, const void *right, void *data)
{
    const struct profile *profile = data;
    const struct profile_call *a = left, *b = right;
    return profile_function_compare(&profile->functions[a->callee], &profile->functions[b->callee]);
}

void profile_calls_of(struct profile_calls *calls, const struct profile *profile, function_id id,
                      const struct profile_callees *callees)
{
    calls->count = 0;
    if (callees) {
        for (uint32_t i = callees->first[id]; i < callees->first[id + 1]; i++)
            *VEC_PUSH(calls) = callees->at[i];
    } else {
        const struct profile_function *f = &profile->functions[id];
        for (uint32_t e = f->first_edge; e < f->first_edge + f->edge_count; e++)
            *VEC_PUSH(calls) = (struct profile_call){ profile->edges[e].caller, e };
    }
    if (calls->count > 1)
        qsort_r(calls->at, calls->count, sizeof *calls->at, view_compare_calls, (void *)(uintptr_t)profile);
}
