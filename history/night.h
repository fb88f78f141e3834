/*
 * night.h - one run as stored in a history: the samples of each figure, and their level.
 *
 *     struct night *night = night_of(measures);             // measure.h, finished
 *     for (size_t i = 0; i < night->figures.count; i++)
 *         ... night->figures.at[i].name, .level.centre, .values ...
 *     night_free(night);
 *
 * A sample is a step of the run; it is averaged over the ranks, because ranks wait for each other so they are not
 * independent. Without steps, a sample is a file. The level is the mean of whole periods of steps (base/run_level.h); if
 * the night has several runs, the mean of theirs.
 */
#ifndef TPA_HISTORY_NIGHT_H
#define TPA_HISTORY_NIGHT_H

#include "diff/measure.h"
#include "base/level.h"

/* The table of figures of whole samples. */
#define NIGHT_HEAD "head"

/* Key of the fact that says why a run cannot be judged and is no baseline: it is damaged, or before all others. */
#define NIGHT_NO_BASELINE "no_baseline"

struct night_figure {
    const char *table; /* NIGHT_HEAD, or the key of a table of rows: "operators", "kernels" */
    const char *name;  /* key of a metric, or name of a row; LENGTH bytes of any value */
    size_t length;
    const char *title; /* of a metric: "step time"; NULL for rows */
    enum table_kind kind;
    double calls; /* per sample; NAN for metrics */
    /* By sample, without missing ones: COUNT. If most of many are 0, only the LISTED others, with their PLACES; else
     * PLACES is NULL. night_values returns all. */
    double *values;
    uint32_t *places;
    size_t count, listed;
    struct level level;
};

struct night {
    const char *unit; /* unit of a sample: "step" */
    size_t sample_count;
    VEC_OF(struct night_figure) figures; /* the head first; the first is the main figure of the run */
    VEC_OF(struct measure_fact) facts;
    const char *gpu; /* "no GPU" if it used none */
    struct arena arena;
};

/* New; free with night_free (NULL is allowed). Borrows nothing. */
struct night *night_of(const struct measures *measures);
void night_free(struct night *night);

/* Mark NIGHT: it cannot be judged, because of WHY (copied), and is never a baseline. */
void night_mark(struct night *night, const char *why);
bool night_is_marked(const struct night *night);

/* The figure->count values of FIGURE: borrowed from FIGURE if it stores all, else written to SCRATCH, which has room
 * for them. */
const double *night_values(const struct night_figure *figure, double *scratch);

/* A fingerprint of recordings, independent of compression and file names. Combine each part of a run into HASH,
 * zero-initialised; the order of parts does not matter. */
struct night_hash {
    uint64_t low, high;
};
void night_hash_trace(struct night_hash *hash, const struct trace *trace);
void night_hash_profile(struct night_hash *hash, const struct profile *profile);
void night_hash_actions(struct night_hash *hash, const struct action_report *report);
void night_hash_facts(struct night_hash *hash, const struct facts *facts);
/* A recording that LACKS something (a set of enum lacks) is another than the whole one, whose events it may have. */
void night_hash_lacks(struct night_hash *hash, unsigned lacks);
void night_hash_snapshots(struct night_hash *hash, const struct snapshots *snapshots);

#endif
