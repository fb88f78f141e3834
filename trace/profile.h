/*
 * profile.h - a Python profile in memory: which function was called how often, by whom, and for how long.
 *
 * What cProfile and its relatives write is not a trace: there are no events and no moments, only sums per function
 * and per pair of caller and callee. So it has a model of its own, and its own analyses.
 *
 *     for (size_t i = 0; i < profile->listed_count; i++) {
 *         const struct profile_function *f = &profile->functions[profile->listed[i]];
 *         for (uint32_t e = 0; e < f->edge_count; e++)
 *             ... profile->edges[f->first_edge + e] says who called f ...
 *     }
 *
 * Times are doubles of seconds, against the rule of the rest of tpa, because the file holds doubles and adding up
 * profiles must give the sums that pstats gives, to the last bit. profile_ns() makes integer nanoseconds of one at the
 * moment when it goes into a table.
 *
 * A function is listed when the file says its figures. One that occurs as a caller only has none: cProfile was
 * switched on inside it, so its call was not seen.
 */
#ifndef TPA_TRACE_PROFILE_H
#define TPA_TRACE_PROFILE_H

#include "base/arena.h"
#include "trace/container.h"

typedef uint32_t function_id;
#define FUNCTION_NONE UINT32_MAX

/* How often and how long: of a function, or of its calls from one caller. */
struct profile_cost {
    int64_t calls;           /* all, those from within itself too: pstats' nc */
    int64_t primitive_calls; /* those not from within itself: cc */
    double total_s;          /* in the function, without what it called: tt */
    double cumulative_s;     /* with what it called; a recursive call counts once: ct */
};

struct profile_function {
    const char *file, *name; /* not NUL-terminated; borrowed from the profile */
    uint32_t file_length, name_length;
    int64_t
        line; /* 0 in the file "~": built in; PROFILE_NAME_LINE there: a name of a trace, shown as it is */
    struct profile_cost cost;
    uint32_t first_edge, edge_count; /* the callers, in the file's order */
    uint32_t mark;                   /* scratch of profile_add_edge */
    bool listed;
};

/* The calls of a function by CALLER. */
struct profile_edge {
    struct profile_cost cost;
    function_id caller;
    bool count_only; /* the module `profile` and sampling write the number of calls alone: cost.calls */
};

/* Work of a function on a device, and of what it called there. Of one function and device there may be several. */
struct profile_work {
    function_id function;
    int64_t device;           /* its number; INT64_MIN: not recorded */
    const char *device_type;  /* "CUDA", "HIP"; NULL: not recorded */
    struct profile_cost cost; /* calls, total_s, cumulative_s */
    double flops, bytes;      /* of its own calls; 0: not recorded */
    double flops_s, bytes_s;  /* the time of those of its own calls of which they are recorded */
};

/* A frame of the call stacks that a file holds, below that of its caller, in all samples or calls of that stack. */
struct profile_frame {
    uint32_t caller; /* of profile->stacks, lower than its own number; UINT32_MAX: none */
    function_id function;
    double cumulative_s; /* with all frames below */
    int64_t calls;       /* as of a function */
};

/* A file that was added in. */
struct profile_file {
    const char *path;
    int64_t modified_s; /* when the file was last written, seconds since 1970; INT64_MIN when unknown */
};

/* What times stand for. What is not a time is kept as if a unit of it were a nanosecond. PROFILE_DEVICE_TIME: times on
 * devices, of kernels and, added up, of the scopes that launched them. */
enum profile_figures { PROFILE_TIME, PROFILE_COUNT, PROFILE_BYTES, PROFILE_DEVICE_TIME };

struct profile {
    struct profile_function *functions; /* indexed by function_id */
    size_t function_count, function_capacity;
    function_id *listed; /* those with figures of their own, in the file's order */
    size_t listed_count, listed_capacity;
    struct profile_edge *edges;
    size_t edge_count, edge_capacity;
    VEC_OF(struct profile_frame) stacks; /* none where a file that was added in has no stacks */
    VEC_OF(struct profile_file) files;
    struct sums_origin origin;

    struct profile_cost
        total;    /* calls, primitive_calls and total_s over all functions; summed file by file */
    bool sampled; /* CPython's sampling profiler: calls are samples on the stack, primitive calls on top */
    enum profile_figures figures;
    VEC_OF(struct profile_work) device_work; /* of PROFILE_DEVICE_TIME */
    bool counts_swapped;                     /* yappi: calls and primitive calls of functions are swapped */
    uint64_t odd_entries;    /* entries of the file that are not functions, and were skipped */
    int64_t odd_offset;      /* of the first one */
    uint64_t merged_edges;   /* callers that became one when directories were stripped */
    uint64_t trailing_bytes; /* behind the end of the profile, not looked at */
    int64_t trailing_offset; /* of the first one */

    struct profile_slot {
        uint32_t hash;
        function_id id; /* FUNCTION_NONE: empty */
    } * slots;          /* hash table over functions */
    size_t slot_mask;
    struct profile_file_hash {
        const char *file;
        uint64_t hash;
        uint32_t length;
    } * file_hashes;    /* of file names seen lately, by where they lie */
    struct arena arena; /* owns the texts */
};

/* Are the figures times, of whatever clock? */
static inline bool profile_is_timed(const struct profile *profile)
{
    return profile->figures == PROFILE_TIME || profile->figures == PROFILE_DEVICE_TIME;
}

/* New and empty; free with profile_free (NULL is allowed). */
struct profile *profile_open(void);
void profile_free(struct profile *profile);

/* About BYTES of a dump will be added: set room aside, which costs nothing until it is used. */
void profile_expect(struct profile *profile, size_t bytes);

/* The function with this file, line and name; added, not listed, when it is new. The texts are borrowed
 * and must live as long: in profile->arena, for one. */
function_id profile_function(struct profile *profile, const char *file, size_t file_length, int64_t line,
                             const char *name, size_t name_length);

/* As profile_function, but FUNCTION_NONE when there is none. */
function_id profile_find(const struct profile *profile, const char *file, int64_t line, const char *name);

/* Say the figures of a function. Listed again, the last figures count, but its place stays: as in a Python dict. */
void profile_list(struct profile *profile, function_id id, const struct profile_cost *cost,
                  uint32_t first_edge, uint32_t edge_count);

/* Add a caller to the edges that began at FIRST_EDGE, the count of edges at that time. One caller given twice counts
 * once, with the last figures. Returns the index of the edge. */
uint32_t profile_add_edge(struct profile *profile, uint32_t first_edge, const struct profile_edge *edge);

/* Find out whether calls and primitive calls are swapped, as yappi writes them: there are never fewer calls. */
void profile_settle_counts(struct profile *profile);

/* The kind of the notice in `origin` of a profile that was printed as text, which has no callers. */
#define PROFILE_PRINTED "printed_profile"

/* Does the profile record callers? False if it was read from text: `origin` then has the notice PROFILE_PRINTED. */
bool profile_has_callers(const struct profile *profile);

/* Sum up `total` once all functions are listed. */
void profile_finish(struct profile *profile);

/* Add OTHER, which is taken, to PROFILE: figures of the same function and of the same caller add up. */
void profile_add(struct profile *profile, struct profile *other);

/* The same profile with files named without their directories; what is the same then adds up. PROFILE is taken. New.
 * Two callers of one function may become one: their figures add up, or, with LAST_CALLER_WINS, only those of the
 * last count, which is what pstats does. */
struct profile *profile_strip_dirs(struct profile *profile, bool last_caller_wins);

/* The line, in the file "~", of what is a name and no function of Python: "<forward op>" is not a built-in one. */
#define PROFILE_NAME_LINE INT64_C(-1)

/* Add FUNCTION as pstats writes it: "train.py:12(step)", "{built-in method len}", "<...>" without line for "~". */
void profile_function_text(const struct profile_function *function, struct buffer *out);

/* As pstats sorts keys: by file, line, name. Below, at or above 0. */
int profile_function_compare(const struct profile_function *a, const struct profile_function *b);

/* SECONDS in nanoseconds, to the nearest. 0 for what is not a number, infinite or beyond 292 years: no file means that. */
int64_t profile_ns(double seconds);

#endif
