/*
 * check.h - compares the figures of a written answer with a trace.
 *
 *     struct check_facts *facts = check_facts_open(trace);
 *     struct check_input input = { .text = text, .len = len, .files = files, .file_count = count };
 *     struct check *check = check_answer(facts, &input);
 *     check->contradicted ...
 *     check_add_table(check, result);
 *     arena_free(check);
 *     arena_free(facts);
 *
 * Each figure of the answer is confirmed, contradicted or not checkable. docs/commands/check.md has the rules of reading.
 */
#ifndef TPA_CHECK_CHECK_H
#define TPA_CHECK_CHECK_H

#include "base/result.h"
#include "check/facts.h"

#define CHECK_VERDICTS(ROW)                                                                                  \
    ROW(CONFIRMED, "confirmed")                                                                              \
    ROW(CONTRADICTED, "contradicted")                                                                        \
    ROW(OPEN, "not_checkable")

enum check_verdict {
#define VERDICT_CONSTANT(id, word) CHECK_##id,
    CHECK_VERDICTS(VERDICT_CONSTANT)
#undef VERDICT_CONSTANT
        CHECK_VERDICT_COUNT
};

/* A figure of the answer. */
struct check_row {
    int64_t line;          /* of the answer, from 1 */
    struct text statement; /* that line */
    struct text
        quantity; /* key of the column that has the right figure; missing if not checkable, as the next */
    struct text subject;        /* the name, or what else the figure is about */
    double said;                /* in UNIT; NaN if the line has no figure */
    struct text unit;           /* as written; missing for counts */
    struct text verdict;        /* a word of CHECK_VERDICTS */
    double right;               /* in UNIT */
    struct text command;        /* that prints it */
    struct text first;          /* who is first, or the other of two, where the line ranks */
    struct text reason;         /* a word of CHECK_REASONS (facts.h); missing if checkable */
    enum check_verdict outcome; /* the verdict */
};

struct check {
    VEC_OF(struct check_row);
    int64_t outcomes[CHECK_VERDICT_COUNT];
};

struct check_input {
    const char *text; /* Markdown */
    size_t len;
    bool sentence; /* it is one sentence: it has a row even without a figure */
    char **files;  /* the traces, for commands */
    size_t file_count;
};

/* New; free with arena_free (NULL is allowed). */
struct check *check_answer(struct check_facts *facts, const struct check_input *input);

/* Append the traces of INPUT as words of a shell. */
void check_append_files(const struct check_input *input, struct buffer *out);

/* Add ROW with the words of its outcome, and of REASON if it is open. */
void check_add_row(struct check *check, const struct check_row *row, enum check_reason reason);

/* Add a row for each ranking in the LEN bytes at TEXT, a line of an answer (ranking.h). */
void check_add_rankings(struct check *check, struct check_facts *facts, const struct check_input *input,
                        int64_t line, const char *text, size_t len);

/* Add the table "statements" to RESULT. */
void check_add_table(const struct check *check, struct result *result);

/* The table, for `tpa help`; ends in { 0 }. */
extern const struct table_shape check_tables[];

#endif
