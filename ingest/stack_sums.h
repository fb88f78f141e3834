/*
 * stack_sums.h - call stacks with weights, summed up to a profile: functions and who called them.
 *
 *     struct stack_sums sums;
 *     stack_sums_open(&sums);
 *     function_id main = stack_sums_function(&sums, "main", 4, "app.py", 6, 12);
 *     stack_id stack = stack_sums_below(&sums, STACK_ROOT, main);       // one more frame, further in
 *     stack_sums_add(&sums, stack, 0.010, 1);                           // 10 ms, one sample, in main itself
 *     struct profile *profile = stack_sums_finish(&sums, PROFILE_TIME, err);
 *
 * What the readers of sampled profiles share (speedscope, collapsed stacks, V8, pprof). A function that is on a stack
 * several times has the time of that stack once, and so has a call from one function to another.
 */
#ifndef TPA_INGEST_STACK_SUMS_H
#define TPA_INGEST_STACK_SUMS_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/names.h"
#include "base/source.h"
#include "trace/profile.h"

typedef uint32_t stack_id;
enum { STACK_ROOT }; /* the stack without frames */

struct stack_node {
    stack_id parent;
    function_id function;
    double own_s;        /* weights of the stack itself */
    int64_t own, opened; /* samples of it; how often its innermost call began, where that is known */
};

struct stack_sums {
    struct profile *profile;
    struct names *frames, *keys;     /* functions by their texts; nodes by parent and function */
    VEC_OF(function_id) function_of; /* by id of `frames` */
    VEC_OF(struct stack_node) nodes; /* a parent has a lower number */
    struct buffer key;
    bool counts_calls; /* the file says when calls begin: not sampled */
};

/* Zero-initialises SUMS; free with stack_sums_finish or stack_sums_release. */
void stack_sums_open(struct stack_sums *sums);
void stack_sums_release(struct stack_sums *sums);

/* The function with this name; FILE_LEN 0: of no file, its name is shown alone. Texts are copied. */
function_id stack_sums_function(struct stack_sums *sums, const char *name, size_t name_len, const char *file,
                                size_t file_len, int64_t line);

/* PARENT and, further in, FUNCTION. */
stack_id stack_sums_below(struct stack_sums *sums, stack_id parent, function_id function);

/* Add a WEIGHT, in seconds, to the innermost call of STACK, for so many SAMPLES. Not finite or below 0: false. */
bool stack_sums_add(struct stack_sums *sums, stack_id stack, double weight, int64_t samples);

/* The innermost call of STACK begins: instead of samples, calls are counted. */
void stack_sums_open_call(struct stack_sums *sums, stack_id stack);

/* Count an entry of the file that was skipped, at OFFSET or TPA_NOWHERE. */
void stack_sums_odd(struct stack_sums *sums, int64_t offset);

/* The profile; releases SUMS. NULL and ERR when no stack has any weight. */
struct profile *stack_sums_finish(struct stack_sums *sums, enum profile_figures figures,
                                  struct tpa_error *err);

/* All of SOURCE as text, added to TEXT. */
bool stack_sums_read(struct source *source, struct buffer *text, struct tpa_error *err);

/* The same of a JSON document. False and ERR when it is cut or damaged. */
bool stack_sums_read_json(struct source *source, struct buffer *text, struct tpa_error *err);

/*
 * What a weight in UNIT ("nanoseconds", "ms", "bytes", "none" ...) is in seconds, and *FIGURES, what it counts. Of what is not
 * a time a unit stands for a nanosecond.
 */
double stack_sums_unit(const char *unit, size_t len, enum profile_figures *figures);

#endif
