/*
 * facts.h - the figures that a statement about a trace is compared with.
 *
 * A query names a subject (an operator, the GPU, a step ...) and a quantity; its answer is every value that the
 * quantity has by an admissible reading: on each rank, with or without the work that a step launched. Values come from
 * the results of the analyses in memory and, for the durations of one name, from the events.
 *
 *     struct check_facts *facts = check_facts_open(trace);
 *     const struct check_name *name = check_name_find(facts, "aten::mm", 8, CHECK_NAME_WHOLE);
 *     struct check_readings readings = { 0 };
 *     check_facts_answer(facts, &(struct check_query){ .subject = CHECK_NAME, .name = name, ... }, &readings);
 *     arena_free(facts);
 */
#ifndef TPA_CHECK_FACTS_H
#define TPA_CHECK_FACTS_H

#include "base/table.h"
#include "derive/copy_names.h"
#include "trace/trace.h"

/* The parts of a trace that its reader must decode. */
struct trace_wants check_wants(void);

enum check_subject {
    CHECK_NOTHING,
    CHECK_NAME, /* an operator, call, kernel, annotation ... */
    CHECK_GPU,
    CHECK_COPIES,         /* of a direction */
    CHECK_NCCL,           /* kernels called nccl or rccl */
    CHECK_COMMUNICATION,  /* of any kind */
    CHECK_EXPOSED_COMM,   /* communication while nothing computes */
    CHECK_EXPOSED_COPIES, /* copies while nothing computes or communicates */
    CHECK_MEMORY,         /* peak of the bytes in use */
    CHECK_STEPS,          /* all of them: mean, longest, how many */
    CHECK_STEP,           /* one, by its number */
    CHECK_TRACE,          /* its operators, calls: nothing that is looked up */
};

enum check_dimension { CHECK_COUNT, CHECK_TIME, CHECK_SHARE, CHECK_BYTES };

/* What is requested of the durations of a name or of steps: a set, as "self" may stand beside "total". */
enum check_statistic {
    CHECK_SELF = 1,
    CHECK_TOTAL = 2, /* with what it called: the totals of tpa top */
    CHECK_SUM = 4,   /* durations added up */
    CHECK_MEAN = 8,
    CHECK_MAX = 16,
    CHECK_MIN = 32,
    CHECK_MEDIAN = 64,
};

enum check_side { CHECK_ANY_SIDE, CHECK_HOST, CHECK_DEVICE };

/* What is requested of a GPU. */
enum check_state { CHECK_IDLE, CHECK_BUSY, CHECK_SPAN, CHECK_GAP, CHECK_KERNELS };

struct check_name;
struct top;

struct check_query {
    enum check_subject subject;
    enum check_dimension dimension;
    const struct check_name *name;
    unsigned statistics;  /* enum check_statistic, or-ed; 0: not said */
    enum check_side side; /* of a name's times */
    bool side_is_vague; /* the side may be that of another word: times of the other side do not contradict */
    enum check_state state;
    struct check_copies {
        enum copy_direction direction; /* COPY_UNKNOWN: any */
        enum copy_memory memory;       /* MEMORY_NONE: any */
    } copies;
    bool reserved;        /* memory: reserved by the allocator instead of allocated */
    int64_t step;         /* number of CHECK_STEP */
    int64_t rank, device; /* TABLE_INT_MISSING: any */
    bool all;             /* all ranks and devices together are meant */
};

/* How a value counts for a statement. */
enum check_strength {
    CHECK_STRICT,   /* it confirms, and its absence contradicts */
    CHECK_MAY_FIT,  /* it confirms; a figure that does not fit may mean another quantity */
    CHECK_DOES_NOT, /* a figure that fits it alone is neither confirmed nor contradicted */
};

/* Which command prints a value. */
enum check_command {
    CHECK_BY_TOP,
    CHECK_BY_KERNELS,
    CHECK_BY_SQL,
    CHECK_BY_GPU,
    CHECK_BY_GPU_COPIES,
    CHECK_BY_MEMORY,
    CHECK_BY_STEPS,
};

struct check_reading {
    const char *quantity; /* key of the column in JSON: "self_cpu_time_total_ns" */
    long double value;    /* ns, bytes, a share or a count */
    long double slack;    /* by which other programs round it differently */
    int64_t rank;         /* TABLE_INT_MISSING: of all ranks */
    bool on_device;       /* of a name: of its events on devices */
    enum check_strength strength;
    enum check_command command;
};

struct check_readings {
    VEC_OF(struct check_reading);
};

/* Why a figure cannot be checked. */
#define CHECK_REASONS(ROW)                                                                                   \
    ROW(NO_FIGURE, "no_figure")                                                                              \
    ROW(NO_SUBJECT, "no_subject")                                                                            \
    ROW(NO_QUANTITY, "no_quantity")                                                                          \
    ROW(NOT_IN_TRACE, "not_in_trace")                                                                        \
    ROW(MODAL, "modal")                                                                                      \
    ROW(AMBIGUOUS, "ambiguous")

enum check_reason {
#define REASON_CONSTANT(id, word) CHECK_##id,
    CHECK_REASONS(REASON_CONSTANT)
#undef REASON_CONSTANT
        CHECK_REASON_COUNT
};

struct check_facts;

/* New; free with arena_free (NULL is allowed). TRACE, read with check_wants, must outlive it. */
struct check_facts *check_facts_open(const struct trace *trace);

/* Those of TRACE, made once, and freed with it. For one thread. */
struct check_facts *check_facts_of(const struct trace *trace);

/* Append the admissible values of QUESTION; none if the trace has no such thing. */
void check_facts_answer(struct check_facts *facts, const struct check_query *query,
                        struct check_readings *readings);

/* Is there a file of this rank, a device of this number? */
bool check_has_rank(const struct check_facts *facts, int64_t rank);
bool check_has_device(const struct check_facts *facts, int64_t device);
bool check_has_several_ranks(const struct check_facts *facts);

/* The number of rank I, or of step I of all ranks. False: there is none. */
bool check_number_at(const struct check_facts *facts, bool ranks, size_t i, int64_t *number);

/* The command line that prints READING of QUESTION, with FILES. Appended to OUT. */
void check_append_command(const struct check_facts *facts, const struct check_query *query,
                          const struct check_reading *reading, struct buffer *out);

/* The rows of tpa top that the figures of names come from, by rank if there are several, and the name of row I. */
const struct top *check_facts_top(const struct check_facts *facts);
name_id check_row_name(const struct check_facts *facts, size_t i);

/* ---- names ---- */

/* The text of NAME, as the trace has it or demangled; borrowed. */
const char *check_name_text(const struct check_name *name);

/* Its number in the names of the trace; one of no event has a larger one. */
name_id check_name_id(const struct check_name *name);

/* Are A and B two spellings of one name? */
bool check_name_is_same(const struct check_name *a, const struct check_name *b);

/* The name with exactly the LEN bytes at TEXT; NULL: the trace has none. */
const struct check_name *check_name_find(const struct check_facts *facts, const char *text, size_t len);

/* The longest name that the LEN bytes at TEXT begin with and for which ENDS says that it may end there. NULL: none. */
typedef bool check_name_ends(const char *text, size_t len, size_t end);
const struct check_name *check_name_longest(const struct check_facts *facts, const char *text, size_t len,
                                            check_name_ends *ends);

/* The only name that consists of the parts of the LEN bytes at TEXT around "...", in this order; NULL if none or several
 * do, and *SEVERAL says which. */
const struct check_name *check_name_shortened(const struct check_facts *facts, const char *text, size_t len,
                                              bool *several);

#endif
