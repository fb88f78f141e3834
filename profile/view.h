/*
 * view.h - which functions of a profile are shown, and in which order: the sort words and restrictions that
 * users know from Python's pstats.
 *
 *     struct profile_sort sort = { 0 };
 *     if (!profile_sort_parse(&sort, "cumulative,name", err))
 *         ...
 *     struct profile_view view = { 0 };
 *     if (profile_view_make(&view, profile, &sort, &(struct profile_restriction){ .limit = limit }, err))
 *         for (size_t i = 0; i < view.count; i++)
 *             ... profile->functions[view.at[i]] ...
 *     profile_view_release(&view);
 */
#ifndef TPA_PROFILE_VIEW_H
#define TPA_PROFILE_VIEW_H

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/quantity.h"
#include "trace/profile.h"

enum profile_key {
    PROFILE_BY_CALLS,
    PROFILE_BY_PRIMITIVE_CALLS,
    PROFILE_BY_TOTTIME,
    PROFILE_BY_CUMTIME,
    PROFILE_BY_TOTTIME_PER_CALL,
    PROFILE_BY_CUMTIME_PER_CALL,
    PROFILE_BY_FILE,
    PROFILE_BY_LINE,
    PROFILE_BY_NAME,
    PROFILE_BY_STDNAME, /* by the text "file:line(name)" */
};

enum { PROFILE_SORT_KEYS = 16 };

/* Sort by the first key, then by the second ...; ties stay in the file's order. */
struct profile_sort {
    enum profile_key keys[PROFILE_SORT_KEYS];
    unsigned count;            /* 0: the file's order */
    bool reverse;              /* reverse the finished list, as pstats' reverse_order() does */
    struct buffer description; /* "cumulative time, function name" */
};

/*
 * Add the keys for WORDS, separated by commas or blanks: pstats' words or unambiguous prefixes of them, its old numbers
 * -1 .. 2, the words of PyTorch's tables, or "none". False and ERR for other words.
 */
bool profile_sort_parse(struct profile_sort *sort, const char *words, struct tpa_error *err);
void profile_sort_release(struct profile_sort *sort);

/* The I-th word for --sort, for help and completion; an opt_choice_at. */
bool profile_sort_word(size_t index, struct opt_choice *choice);

/* Applied one after the other, in this order. */
struct profile_restriction {
    const char *filter;  /* a regular expression that must match; NULL: none */
    const char *exclude; /* one that must not match; NULL: none */
    struct limit limit;
};

/* One restriction that left functions out. */
struct profile_reduction {
    size_t before, after;
    char *restriction; /* as Python would write the value: 10, 0.1 or 'train\\.py' */
    bool by_limit;
};

struct profile_view {
    function_id *at;
    size_t count;
    VEC_OF(struct profile_reduction) reductions;
};

/* Zero-initialise VIEW. False and ERR if a pattern is invalid. */
bool profile_view_make(struct profile_view *view, const struct profile *profile,
                       const struct profile_sort *sort, const struct profile_restriction *restriction,
                       struct tpa_error *err);
void profile_view_release(struct profile_view *view);

/* The calls that one function makes: its callees, each with its edge. */
struct profile_call {
    function_id callee;
    uint32_t edge;
};

/* All edges by caller: the calls of function F are at[first[F]] .. at[first[F + 1] - 1]. */
struct profile_callees {
    struct profile_call *at;
    uint32_t *first;
};

/* Compute the callees of all functions of PROFILE, which is not borrowed. Release with profile_callees_release. */
void profile_callees_make(struct profile_callees *callees, const struct profile *profile);
void profile_callees_release(struct profile_callees *callees);

/*
 * The callers of function ID (or, with CALLEES, its callees), sorted by file, line and name. *AT is grown to hold them;
 * returns the count. In each, `callee` is the function to show.
 */
struct profile_calls {
    VEC_OF(struct profile_call);
};
void profile_calls_of(struct profile_calls *calls, const struct profile *profile, function_id id,
                      const struct profile_callees *callees);

#endif
