/*
 * result.h - the result of a command: tables, a picture, and notices about their limits.
 *
 *     struct result *result = result_open("tpa.top/1");
 *     result_add_table(result, table);
 *     result_add_notice(result, "unlinked_gpu_work", 3, NULL, TPA_NOWHERE, "3 kernels have no recorded launch");
 *     ...
 *     result_free(result);
 */
#ifndef TPA_BASE_RESULT_H
#define TPA_BASE_RESULT_H

#include "base/answer.h"
#include "base/lacks.h"
#include "base/twin_tree.h"

/* A notice describes a limitation or peculiarity of a result, above all what it leaves out. */
struct table_notice {
    const char *kind; /* "unlinked_gpu_work": stable, for scripts */
    int64_t count;    /* how many events it is about */
    const char *text; /* one sentence for people, which names the count's unit */
    const char *file; /* NULL: all files */
    int64_t offset;   /* byte offset of the first one, or TPA_NOWHERE */
    unsigned lacks;   /* set of enum lacks, by KIND: the recording is not complete. Shown first */
    bool of_input;    /* by KIND: which files count. Shown after LACKS, before any answer */
    bool on_top;      /* shown before the tables instead of below them */
    uint8_t place;    /* enum notice_place, set by result_order_notices */
    bool in_answer;   /* the answer of the result has it: not repeated beside that */
    bool is_answer;   /* the result in a sentence: people read it without "note:" */
    bool is_clause;   /* an answer, which becomes a sentence when it is printed for people */
    bool minor; /* explains how rows are counted, or what to do next: text leaves it out, unless requested */
};

/* The order of notices. All but the last stand above the tables, the first two above the answer. */
enum notice_place { NOTICE_LACKS, NOTICE_OF_INPUT, NOTICE_ON_TOP, NOTICE_BELOW };

static inline enum notice_place notice_place(const struct table_notice *notice)
{
    return notice->lacks      ? NOTICE_LACKS
           : notice->of_input ? NOTICE_OF_INPUT
           : notice->on_top   ? NOTICE_ON_TOP
                              : NOTICE_BELOW;
}

/* Why the question of a command has no answer in this input: present if and only if it has none. A result without it answers,
 * also if its tables are empty: then nothing was found. REASON is one of no_events, no_operators, no_gpu_work, no_launches,
 * no_steps, no_memory, no_shapes, no_stacks, no_collectives, no_annotations, one_rank (derive/features.h), not_comparable,
 * too_few_steps, nothing_repeats, no_such_selection. */
struct cannot_answer {
    const char *reason;
    const char *text;       /* a sentence */
    const char *needs;      /* how to record or choose what is missing; NULL: not known */
    const char *instead[3]; /* command lines that this input does answer; NULL behind the last */
    bool of_facts;          /* the input is facts alone, which no other command reads */
};

/* The result of a command. */
struct result {
    const char *schema;            /* "tpa.top/1" */
    VEC_OF(struct table *) tables; /* owned */
    struct answer *answer;         /* head of a page; NULL: none; owned */
    struct cannot_answer cannot;   /* without a reason: it answers */
    struct picture *picture;       /* for printers that draw; others leave it out; NULL: none; owned */
    struct twin_tree *twins;       /* as picture */
    VEC_OF(struct table_notice) notices;
    struct arena arena; /* owns the notices' texts; also for titles made at run time */
};

/* New, empty; free with result_free, which frees the tables too. */
struct result *result_open(const char *schema);
void result_free(struct result *result);
FREE_AT(result)

/* Add TABLE, which is taken. */
void result_add_table(struct result *result, struct table *table);

/* Say that RESULT cannot answer, unless it says so already. REASON is a literal; TEXT and NEEDS (or NULL) are copied. */
void result_cannot_answer(struct result *result, const char *reason, const char *text, const char *needs);

/* Add a command LINE, which is copied, to what RESULT offers instead; nothing if it answers, or offers enough. */
void result_answer_instead(struct result *result, const char *line);

/* The answer of RESULT, empty at first; lives as long as RESULT. Allocate its texts in the arena of RESULT. */
struct answer *result_answer(struct result *result);

/* Show the column KEY in all tables that have it. */
void result_add_column(struct result *result, const char *key);

/* What the recordings behind RESULT lack: a set of enum lacks; 0: nothing is known to lack. */
unsigned result_lacks(const struct result *result);

/* Sort the notices by their places: what the recordings lack comes first. Printers take them in this order. */
void result_order_notices(struct result *result);

/* Mark the notice added last as minor. */
void result_make_minor(struct result *result);

/* Mark the notice added last as the result in a sentence, on top. */
void result_make_verdict(struct result *result);

/* Mark the notice added last as the result in a clause, on top: people read a sentence made of it. */
void result_make_clause(struct result *result);

/* Mark the notice added last as one that the answer of RESULT has. */
void result_make_answered(struct result *result);

/* Add a notice; KIND, FILE (or NULL) and the text are copied. */
void result_add_notice(struct result *result, const char *kind, int64_t count, const char *file,
                       int64_t offset, const char *fmt, ...) TPA_PRINTF(6, 7);

/* The same of no file. */
#define ADD_NOTICE(result, kind, count, ...)                                                                 \
    result_add_notice(result, kind, count, NULL, TPA_NOWHERE, __VA_ARGS__)

#endif
