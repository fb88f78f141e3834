/*
 * statements.h - what the figures of a line of prose are about: each as a query to the facts.
 *
 * A sentence is cut into clauses. A clause without a figure belongs to the next one ("On average, ..."); a clause without a
 * subject has that of the clause before.
 */
#ifndef TPA_CHECK_STATEMENTS_H
#define TPA_CHECK_STATEMENTS_H

#include "check/prose.h"

/* A figure, and the query that it answers. */
struct statement {
    struct figure figure;
    bool has_query; /* the query is known; else REASON says why it is not */
    enum check_reason reason;
    bool vague; /* a figure that does not fit may be of another quantity */
    struct check_query query;
    const char *subject; /* for people; NULL: unknown */
};

struct statements {
    VEC_OF(struct statement);
};

/* Append the statements of the figures in TOKENS, those of one line. Texts live as long as ARENA. */
void statements_read(const struct check_facts *facts, struct tokens *tokens, struct arena *arena,
                     struct statements *statements);

/* The same of a cell of a table: NAMES are the tokens of its row's first cell, HEADER those of its column, CELL its own. One
 * statement, or none if the cell is no figure. */
void statements_read_cell(const struct check_facts *facts, const struct tokens *names,
                          const struct tokens *header, const struct tokens *cell, struct arena *arena,
                          struct statements *statements);

#endif
