/*
 * prose.h - written English about a trace as words, names and figures.
 *
 * A line of Markdown becomes tokens: words with what they say of a figure (enum word_bits), names that the trace has or
 * that stand in backticks, figures with their units, and the marks that end a clause or a sentence. What is a number but
 * no figure - a version, a date, the 3 of "step 3" - stays a number without unit.
 */
#ifndef TPA_CHECK_PROSE_H
#define TPA_CHECK_PROSE_H

#include "check/facts.h"

/* What a word says; a word may say several things. */
enum word_bits {
    WORD_SELF = 1 << 0,
    WORD_HOST = 1 << 1,   /* host, CPU */
    WORD_DEVICE = 1 << 2, /* GPU, CUDA, device */
    WORD_TOTAL = 1 << 3,
    WORD_SUM = 1 << 4, /* together, costs, adds up to */
    WORD_MEAN = 1 << 5,
    WORD_MAX = 1 << 6,
    WORD_MIN = 1 << 7,
    WORD_MEDIAN = 1 << 8,
    WORD_IDLE = 1 << 9,
    WORD_BUSY = 1 << 10,
    WORD_SPAN = 1 << 11,
    WORD_GAP = 1 << 12,
    WORD_EXPOSED = 1 << 13,
    WORD_NCCL = 1 << 14,
    WORD_COMMUNICATION = 1 << 15,
    WORD_COPY = 1 << 16,
    WORD_KERNEL = 1 << 17,
    WORD_STEP = 1 << 18,
    WORD_MEMORY = 1 << 19,
    WORD_PEAK = 1 << 20,
    WORD_RUN = 1 << 21,    /* call, run, launch: what is counted of a name */
    WORD_TIMES = 1 << 22,  /* 3 times */
    WORD_NUMBER = 1 << 23, /* number of, count */
    WORD_RANK = 1 << 24,
    WORD_TAKES = 1 << 25, /* takes, lasts, time: a duration without more */
    WORD_MODAL = 1 << 26, /* would, should ...: no statement about the trace */
    WORD_OTHER = 1 << 27, /* changes the quantity to one that is not known here: per, faster, not ... */
    WORD_RESERVED = 1 << 28,
    WORD_PINNED = 1 << 29,
    WORD_PAGEABLE = 1 << 30,
};

/* Words that say which figure of its subject is meant. */
#define WORDS_OF_QUANTITY                                                                                    \
    (WORD_SELF | WORD_TOTAL | WORD_SUM | WORD_MEAN | WORD_MAX | WORD_MIN | WORD_MEDIAN | WORD_IDLE |         \
     WORD_BUSY | WORD_SPAN | WORD_GAP | WORD_EXPOSED | WORD_PEAK)

enum token_kind {
    TOKEN_WORD,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_DIRECTION, /* host to device, DtoH ... */
    TOKEN_MARK,      /* a character such as : or = */
    TOKEN_CLAUSE,    /* ends a clause */
    TOKEN_SENTENCE,  /* ends a sentence */
};

enum figure_bound { BOUND_NONE, BOUND_LEAST, BOUND_MORE, BOUND_MOST, BOUND_LESS };

struct figure {
    long double value;
    long double to;   /* of a range; else equal to value */
    long double half; /* half a unit of its last digit */
    bool has_unit;
    enum check_dimension dimension;
    const char *unit;          /* as written; NULL: none */
    long double scale, scale2; /* what the unit is in ns, bytes or a share; the other reading of kB, or 0 */
    bool whole;                /* digits alone: may be a count */
    bool about;
    enum figure_bound bound;
    bool odd;      /* signed, a rate, of a form that is not read: it is not judged */
    bool in_words; /* half of ..., eight kernels: odd, its value is NaN */
    bool is_label; /* names something: step 3, rank 0 */
};

struct token {
    enum token_kind kind;
    unsigned bits;                 /* of a word */
    const char *text;              /* lower case, of a word; the name as written */
    bool joins;                    /* TOKEN_CLAUSE: "and", "or" */
    bool quoted;                   /* TOKEN_NAME: it stands in backticks */
    const struct check_name *name; /* NULL: the trace has none of this name */
    bool several;                  /* shortened, and several fit */
    int64_t step;                  /* ProfilerStep#3, rather than a name; -1: it is one */
    struct check_copies copies;    /* TOKEN_DIRECTION */
    struct figure figure;
};

struct tokens {
    VEC_OF(struct token);
};

/* Is the line one of a table made of blanks, as commands print them? Its columns have no names here. */
bool prose_is_columns(const char *text, size_t len);

/* Append the tokens of the LEN bytes at TEXT, one line of prose or one cell of a table. Texts live as long as ARENA. */
void prose_read(const struct check_facts *facts, const char *text, size_t len, struct arena *arena,
                struct tokens *tokens);

/* The unit that a cell of a table's header has, as in "Total (ms)", removed from TOKENS; false: it has none. */
bool prose_header_unit(struct tokens *tokens, struct figure *unit);

#endif
