/* regex.c - PCRE2 with limits. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/regex.h"

#include "base/memory.h"
#include <pcre2.h>
#include <time.h>

enum {
    EASY_LIMIT = 5000,     /* steps of backtracking that suffice for nearly every name: some 50 us */
    MATCH_LIMIT = 2000000, /* for one name: some 20 ms */
    MOST_HARD = 250,       /* names that may need more than EASY_LIMIT: bounds the total to seconds */
    DEPTH_LIMIT = 20000,
    HEAP_LIMIT_KIB = 64 * 1024,
    SHORT_NAME = 256,       /* bytes; shorter names take too little time to measure */
    LONGEST_NAME = 1 << 16, /* bytes of a name that are matched */
};

/* PCRE2 does not count scans that start at each character of a name as steps; a pattern such as (?<=a)a*b takes
 * quadratic time. So the total time for long names is limited. */
#define MOST_TIME_NS INT64_C(2000000000) /* CPU time for all of them */

struct regex {
    char *pattern;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *easy, *context;
    unsigned *hard;   /* names so far that needed more than EASY_LIMIT */
    int64_t *time_ns; /* CPU time of long names so far */
};

/* PCRE2 (10.42) can run out of its own memory while it compiles, report nothing, and match wrongly. */
static void *collect_memory(size_t size, void *context)
{
    (void)context;
    return mem_alloc(size);
}

static void regex_restore(void *block, void *context)
{
    (void)context;
    free(block);
}

static pcre2_match_context *make_context(uint32_t match_limit)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    if (context == NULL)
        mem_out_of_memory(match_limit);
    pcre2_set_match_limit(context, match_limit);
    pcre2_set_depth_limit(context, DEPTH_LIMIT);
    pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
    return context;
}

struct regex *regex_open(const char *pattern, struct tpa_error *err)
{
    int error;
    PCRE2_SIZE at;
    /* MATCH_INVALID_UTF: names come from anywhere. The size is limited because nested counted repeats expand a short
     * pattern to a huge program. */
    pcre2_general_context *memory = pcre2_general_context_create(collect_memory, regex_restore, NULL);
    pcre2_compile_context *limits = pcre2_compile_context_create(memory);
    pcre2_set_parens_nest_limit(limits, 100);
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &error, &at, limits);
    pcre2_compile_context_free(limits);
    pcre2_general_context_free(memory);
    if (code == NULL) {
        PCRE2_UCHAR message[160];
        pcre2_get_error_message(error, message, sizeof message);
        tpa_fail(err, TPA_NOWHERE, "regular expression '%s' is wrong at character %zu: %s", pattern,
                 (size_t)at + 1, (const char *)message);
        return NULL;
    }
    /* Without JIT, where it is not available, results are the same but slower. */
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);

    struct regex *regex = mem_zalloc(1, sizeof *regex);
    regex->pattern = mem_strdup(pattern);
    regex->code = code;
    regex->match = pcre2_match_data_create(1, NULL);
    regex->easy = make_context(EASY_LIMIT);
    regex->context = make_context(MATCH_LIMIT);
    regex->hard = mem_zalloc(1, sizeof *regex->hard);
    regex->time_ns = mem_zalloc(1, sizeof *regex->time_ns);
    if (regex->match == NULL)
        mem_out_of_memory(sizeof *regex);
    return regex;
}

void regex_free(struct regex *regex)
{
    if (regex == NULL)
        return;
    EACH(pcre2_match_context_free, regex->easy, regex->context);
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    EACH(free, regex->hard, regex->time_ns, regex->pattern, regex);
}

static int match_within(const struct regex *regex, const char *text, size_t len, pcre2_match_context *limits)
{
    int found = pcre2_match(regex->code, (PCRE2_SPTR)text, len, 0, 0, regex->match, limits);
    /* The JIT has a small stack of its own; the interpreter uses the heap. */
    return found == PCRE2_ERROR_JIT_STACKLIMIT
               ? pcre2_match(regex->code, (PCRE2_SPTR)text, len, 0, PCRE2_NO_JIT, regex->match, limits)
               : found;
}

static int64_t regex_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool match_in_steps(const struct regex *regex, const char *text, size_t len, bool *matched,
                           struct tpa_error *err)
{
    int found = match_within(regex, text, len, regex->easy);
    if (found == PCRE2_ERROR_MATCHLIMIT && ++*regex->hard > MOST_HARD) {
        tpa_fail(err, TPA_NOWHERE,
                 "regular expression '%s' needs more than %d steps of backtracking for %d names",
                 regex->pattern, EASY_LIMIT, MOST_HARD);
        return tpa_hint(err,
                        "nested repeats such as (a+)+ try every split of a name; write a simpler pattern");
    }
    if (found == PCRE2_ERROR_MATCHLIMIT)
        found = match_within(regex, text, len, regex->context);
    if (found >= 0 || found == PCRE2_ERROR_NOMATCH) {
        *matched = found >= 0;
        return true;
    }
    PCRE2_UCHAR message[160];
    pcre2_get_error_message(found, message, sizeof message);
    tpa_fail(err, TPA_NOWHERE, "regular expression '%s' cannot be matched with '%.*s': %s", regex->pattern,
             len > 60 ? 60 : (int)len, text, (const char *)message);
    return tpa_hint(err, "nested repeats such as (a+)+ try every split of a name; write a simpler pattern");
}

bool regex_match(const struct regex *regex, const char *text, size_t len, bool *matched,
                 struct tpa_error *err)
{
    if (len <= SHORT_NAME)
        return match_in_steps(regex, text, len, matched, err);
    int64_t begin_ns = regex_now_ns();
    bool ok = match_in_steps(regex, text, len < LONGEST_NAME ? len : LONGEST_NAME, matched, err);
    *regex->time_ns += regex_now_ns() - begin_ns;
    if (!ok || *regex->time_ns <= MOST_TIME_NS)
        return ok;
    tpa_fail(err, TPA_NOWHERE, "regular expression '%s' takes too long for all names together",
             regex->pattern);
    return tpa_hint(err, "begin it with text that is rare in names, or anchor it with ^");
}
