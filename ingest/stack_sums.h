/*
 * stack_sums.h - aggregates weighted call stacks to a profile: functions and their callers.
 *
 *     struct stack_sums sums;
 *     stack_sums_open(&sums);
 *     function_id main = stack_sums_function(&sums, "main", 4, "app.py", 6, 12);
 *     stack_id stack = stack_sums_below(&sums, STACK_ROOT, main);       // one more frame, further in
 *     stack_sums_add(&sums, stack, 0.010, 1);                           // 10 ms, one sample, in main itself
 *     struct profile *profile = stack_sums_finish(&sums, PROFILE_TIME, err);
 *
 * Shared by the readers of sampled profiles (speedscope, collapsed stacks, V8, pprof). A function that is on a stack
 * several times gets the time of that stack once, and so does a call from one function to another.
 */
#ifndef TPA_INGEST_STACK_SUMS_H
#define TPA_INGEST_STACK_SUMS_H

#include "base/names.h"
#include "base/source.h"
#include "trace/profile.h"

typedef uint32_t stack_id;
enum { STACK_ROOT }; /* the stack without frames */

struct stack_node {
    stack_id parent;
    function_id function;
    double own_s;        /* weights of the stack itself */
    int64_t own, opened; /* its samples; number of times its innermost call began, if known */
};

struct stack_sums {
    struct profile *profile;
    struct names *frames, *keys;     /* functions by their texts; nodes by parent and function */
    VEC_OF(function_id) function_of; /* by id of `frames` */
    VEC_OF(struct stack_node) nodes; /* a parent has a lower number */
    struct buffer key;
    bool counts_calls; /* the beginnings of calls are recorded: not sampled */
};

/* Zero-initialises SUMS; free with stack_sums_finish or stack_sums_release. */
void stack_sums_open(struct stack_sums *sums);
void stack_sums_release(struct stack_sums *sums);

/* The function with this name; FILE_LEN 0: without a file, only its name is shown. Texts are copied. */
function_id stack_sums_function(struct stack_sums *sums, const char *name, size_t name_len, const char *file,
                                size_t file_len, int64_t line);

/* The stack of PARENT with FUNCTION as the innermost frame. */
stack_id stack_sums_below(struct stack_sums *sums, stack_id parent, function_id function);

/* Add a WEIGHT, in seconds, to the innermost call of STACK, for SAMPLES samples. False if it is not finite or
 * negative. */
bool stack_sums_add(struct stack_sums *sums, stack_id stack, double weight, int64_t samples);

/* The innermost call of STACK begins: calls are counted instead of samples. */
void stack_sums_open_call(struct stack_sums *sums, stack_id stack);

/* Count an entry of the file that was skipped, at OFFSET or TPA_NOWHERE. */
void stack_sums_odd(struct stack_sums *sums, int64_t offset);

/* The profile; releases SUMS. NULL and ERR if no stack has any weight. */
struct profile *stack_sums_finish(struct stack_sums *sums, enum profile_figures figures,
                                  struct tpa_error *err);

/* Append all of SOURCE to TEXT. False and ERR on failure. */
bool stack_sums_read(struct source *source, struct buffer *text, struct tpa_error *err);

/* The same for a JSON document. False and ERR if it is cut or damaged. */
bool stack_sums_read_json(struct source *source, struct buffer *text, struct tpa_error *err);

/* The factor from UNIT ("nanoseconds", "ms", "bytes", "none" ...) to seconds, and *FIGURES, the kind of weight. Other
 * units than times count as nanoseconds. */
double stack_sums_unit(const char *unit, size_t len, enum profile_figures *figures);

#endif
