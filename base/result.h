/*
 * result.h - what a command answers: tables, a picture, and notices of what is special about them.
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
#include "base/chart.h"
#include "base/table.h"
#include "base/twin_tree.h"

/* A notice tells what is special about a result, above all what it leaves out. */
struct table_notice {
    const char *kind; /* "unlinked_gpu_work": stable, for scripts */
    int64_t count;    /* how many events it is about */
    const char *text; /* one sentence for people, without the count's unit in doubt */
    const char *file; /* NULL when about all files */
    int64_t offset;   /* byte offset of the first one, or TPA_NOWHERE */
    bool on_top;      /* people read it before the tables, not below them */
    bool minor;       /* the first to go where there are too many: what was looked at, how to go on */
};

/* What a command answers: its tables and notices. */
struct result {
    const char *schema;            /* "tpa.top/1" */
    VEC_OF(struct table *) tables; /* owned */
    struct answer *answer;         /* what a page begins with; NULL: none; owned */
    struct picture *picture;       /* for printers that draw; others leave it out; NULL: none; owned */
    struct twin_tree *twins;       /* as picture */
    VEC_OF(struct table_notice) notices;
    struct arena arena; /* owns the notices' texts; also a place for titles made at run time */
};

/* New, empty; free with result_free, which frees the tables too. */
struct result *result_open(const char *schema);
void result_free(struct result *result);

/* Add TABLE, which is taken. */
void result_add_table(struct result *result, struct table *table);

/* The answer of RESULT, empty at first; lives as long as it. Its texts are best kept in the arena of RESULT. */
struct answer *result_answer(struct result *result);

/* Show the columns called KEY, of all tables that have one. */
void result_show_column(struct result *result, const char *key);

/* The notice added last is minor. */
void result_make_minor(struct result *result);

/* Add a notice; KIND, FILE (or NULL) and the text are copied. */
void result_add_notice(struct result *result, const char *kind, int64_t count, const char *file,
                       int64_t offset, const char *fmt, ...) TPA_PRINTF(6, 7);

#endif
