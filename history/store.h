/* store.h - the nights of a store. */
#ifndef TPA_HISTORY_STORE_H
#define TPA_HISTORY_STORE_H

#include "diff/measure.h"
#include "base/level.h"
#include "history/nightly.h"

/*
 * night.c - one run as stored in a history: the samples of each figure, and their level.
 *
 *     struct night *night = night_of(measures);             // measure.h, finished
 *     for (size_t i = 0; i < night->figures.count; i++)
 *         ... night->figures.at[i].name, .level.centre, .values ...
 *     arena_free(night);
 *
 * A sample is a step of the run; it is averaged over the ranks, because ranks wait for each other so they are not
 * independent. Without steps, a sample is a file. The level is the mean of whole periods of steps (base/run_level.h); if
 * the night has several runs, the mean of theirs.
 */

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
};

/* New; free with arena_free (NULL is allowed). Borrows nothing. */
struct night *night_of(const struct measures *measures);

/* Mark NIGHT: it cannot be judged, because of WHY (copied), and is never a baseline. */
void night_mark(struct night *night, const char *why);

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
void night_hash_snapshots(struct night_hash *hash, const struct snapshots *snapshots);

/* store.c - the file of nights. */

/*
 * store.c - the history of many runs in one SQLite file.
 *
 *     struct store *store = store_open("perf.db", STORE_CREATE, 60000, &err);
 *     struct store_added added;
 *     if (!store_add(store, night, &(struct store_about){ .label = "resnet50", .hash = hash, ... }, &added, &err))
 *         ...
 *     struct nightly nightly = { 0 };
 *     store_load(store, "resnet50", night->gpu, &nightly, &err);
 *     store_close(store);
 *
 * Every change is one transaction that waits for others and has no effect if it fails: nothing is ever partly written,
 * even if the program is killed, the disk is full or the machine loses power. A file that is damaged, of a newer
 * version or no store is not changed. docs/commands/nightly.md describes the tables.
 */

struct store;

enum store_mode {
    STORE_READ,   /* must exist */
    STORE_CHANGE, /* must exist; is checked completely first */
    STORE_CREATE, /* as STORE_CHANGE, but created if missing */
};

/* New; free with store_close (NULL is allowed). Other writers are waited for up to WAIT_MS. NULL and ERR on failure. */
struct store *store_open(const char *path, enum store_mode mode, int wait_ms, struct tpa_error *err);
void store_close(struct store *store);

/* ---- adding ---- */

struct store_about {
    const char *label, *gpu;
    const char *commit, *host; /* NULL: unknown */
    struct night_hash hash;
    int64_t time_ns, added_ns;
};

struct store_added {
    int64_t run;
    bool
        /* the same recording was already in this label: RUN is that run, and nothing was changed */
        was_there;
};

/* Add NIGHT to STORE, described by ABOUT. False and ERR on failure, with the store unchanged. */
bool store_add(struct store *store, const struct night *night, const struct store_about *about,
               struct store_added *added, struct tpa_error *err);

/* ---- reading ---- */

/* Append all runs of LABEL (NULL: of all labels) to NIGHTLY, without their figures, oldest first within a label and
 * GPU. */
bool store_list(struct store *store, const char *label, struct nightly *nightly, struct tpa_error *err);

/* Fill NIGHTLY, empty, with the runs of LABEL on GPU and all their figures, ready to be judged. False and ERR if there
 * are none. */
bool store_load(struct store *store, const char *label, const char *gpu, struct nightly *nightly,
                struct tpa_error *err);

/* The label and GPU of RUN; texts in ARENA. False and ERR if there is no such run. */
bool store_find(struct store *store, int64_t run, struct arena *arena, const char **label, const char **gpu,
                struct tpa_error *err);

/* The recorded facts of a run: "torch", "PyTorch", "2.9.0". */
typedef void store_fact(void *context, const char *key, const char *title, const char *value);
bool store_facts(struct store *store, int64_t run, store_fact *fact, void *context, struct tpa_error *err);

/* Pass every figure of RUN with its samples to TAKE. VALUES are borrowed until TAKE returns. */
struct store_figure {
    const char *table, *name, *title;
    size_t length;
    enum table_kind kind;
    double level, error, calls;
    const double *values;
    size_t count;
};
typedef void store_take(void *context, const struct store_figure *figure);
bool store_figures(struct store *store, int64_t run, store_take *take, void *context, struct tpa_error *err);

/* ---- changing ---- */

/* Record that from RUN on a new level of the figure NAME of TABLE (NULL: all figures) is accepted, for REASON. *FOUND
 * is false, and nothing recorded, if there is no such figure in the run's history. */
bool store_accept(struct store *store, int64_t run, const char *table, const char *name, size_t length,
                  const char *reason, int64_t time_ns, struct tpa_error *err);

/* Delete runs: of LABEL (NULL: all), all but the newest KEEP of each GPU (0: no limit), those that ran before
 * BEFORE_NS, or only RUN (0: none). *COUNT is the number deleted. The file shrinks. */
struct store_prune {
    const char *label;
    uint64_t keep;
    bool has_before;
    int64_t before_ns;
    int64_t run;
};
bool store_prune(struct store *store, const struct store_prune *what, int64_t *count, struct tpa_error *err);

/*
 * sql.c - a wrapper of SQLite with this program's errors: the file, the problem, and what to do.
 *
 *     struct sql *sql = sql_open("perf.db", SQL_CHANGE, wait_ms, &err);
 *     struct statement *runs = sql_prepare(sql, "SELECT id, host FROM run WHERE label = ?", &err);
 *     statement_bind_int(runs, 1, label);
 *     while (statement_step(runs, &err))
 *         ... statement_int(runs, 0), statement_text(runs, 1)
 *     if (!statement_free(runs, &err))      // also reports whether stepping failed
 *         ...
 */

struct sql;
struct statement;

enum sql_mode {
    SQL_READ,   /* the file must exist; opened for reading, unless a killed run left a journal */
    SQL_CHANGE, /* the file must exist */
    SQL_CREATE, /* the file is created if missing */
};

/* New; free with sql_close. The file is untrusted: its schema cannot run code, statements other than ours are
 * refused, values and the work of a statement are limited, and a journal that would delete other files is an
 * error. So is a name that SQLite would not treat as a file. Other writers are waited for up to WAIT_MS. NULL
 * and ERR on failure. */
struct sql *sql_open(const char *path, enum sql_mode mode, int wait_ms, struct tpa_error *err);
void sql_close(struct sql *sql);

/* Does the file have exactly the tables and indexes of SCHEMA? False and ERR if that cannot be determined. */
bool sql_has_schema(struct sql *sql, const char *schema, bool *same, struct tpa_error *err);

/* The path of the file; borrowed. */
const char *sql_path(const struct sql *sql);

/* Run statements without result rows. */
bool sql_exec(struct sql *sql, const char *text, struct tpa_error *err);

/* The integer result of a statement with one row and column. */
bool sql_integer(struct sql *sql, const char *text, int64_t *value, struct tpa_error *err);

/* Begin a change that no other can interrupt; end it, or undo it. A failed commit is undone. */
bool sql_begin(struct sql *sql, struct tpa_error *err);
bool sql_commit(struct sql *sql, struct tpa_error *err);
void sql_rollback(struct sql *sql);

/* The row id of the last insertion. */
int64_t sql_last_id(struct sql *sql);

/* New; free with statement_free. NULL and ERR if that fails. */
struct statement *sql_prepare(struct sql *sql, const char *text, struct tpa_error *err);

/* Parameters count from 1. Texts and bytes are borrowed until the next step ends; NULL is NULL. NAN is NULL. */
void statement_bind_int(struct statement *statement, int index, int64_t value);
void statement_bind_double(struct statement *statement, int index, double value);
void statement_bind_text(struct statement *statement, int index, const char *text);
void statement_bind_bytes(struct statement *statement, int index, const void *bytes, size_t size);
void statement_bind_null(struct statement *statement, int index);

/* Is there another row? False at the end, and on failure with ERR set. */
bool statement_step(struct statement *statement, struct tpa_error *err);

/* Run a statement without result rows, and reset it for other parameters. */
bool statement_run(struct statement *statement, struct tpa_error *err);

/* Reset it, keeping the parameters. */
void statement_reset(struct statement *statement);

/* Columns count from 0. Texts are borrowed until the next step; NULL if missing. A missing double is NAN. */
int64_t statement_int(struct statement *statement, int column);
double statement_double(struct statement *statement, int column);
const char *statement_text(struct statement *statement, int column);
const void *statement_bytes(struct statement *statement, int column, size_t *size);
bool statement_is_null(struct statement *statement, int column);

/* Free it; false if its last step failed. NULL is allowed, and returns false. */
bool statement_free(struct statement *statement);

/* declarations shared by the files of the store. */

struct store {
    struct sql *sql;
};

/* The columns of a run; and a run read from such a row, with texts in ARENA. */
#define STORE_RUN_COLUMNS                                                                                    \
    "run.id, label.text, gpu.text, run.commit_id, run.host, run.unit, run.time_ns, run.sample_count, "       \
    "(SELECT why.text FROM fact JOIN name AS key ON key.id = fact.key JOIN name AS why ON why.id = "         \
    "fact.value WHERE fact.run = run.id AND key.text = CAST('" NIGHT_NO_BASELINE "' AS BLOB))"
#define STORE_RUN_TABLES "run JOIN name AS label ON label.id = run.label JOIN name AS gpu ON gpu.id = run.gpu"

/*
 * samples.c - the samples of one figure as a few bytes.
 *
 *     offset  size  meaning
 *     0       1     version and form: 1 whole numbers, 2 doubles, 3 whole numbers in runs of equal ones
 *     1       var   how many
 *     then    var   form 1: the first, then each minus the one before, as zigzag: 0 -1 1 -2 are 0 1 2 3
 *             8     form 2: each, little-endian
 *             var   form 3: for each run its number less that of the run before, as in form 1, and its length
 *
 * A variable-length number has seven bits per byte, the lowest first; the eighth bit is set if more bytes follow. Ten
 * step times that differ by a few percent take about 35 bytes. Form 3 holds at most SAMPLES_PER_BYTE samples per byte.
 */

enum { SAMPLES_PER_BYTE = 4096 };

struct samples {
    VEC_OF(double);
};

/* Append COUNT values to OUT: as rounded whole numbers if WHOLE, else as doubles. */
void samples_pack(struct buffer *out, const double *values, size_t count, bool whole);

/* Append the samples in BYTES to SAMPLES; false if they are damaged, or of an unknown version. */
bool samples_unpack(const void *bytes, size_t size, struct samples *samples);

#endif
