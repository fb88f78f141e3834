/*
 * store.h - the history of many runs in one SQLite file.
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
#ifndef TPA_HISTORY_STORE_H
#define TPA_HISTORY_STORE_H

#include "history/night.h"
#include "history/nightly.h"
#include "base/error.h"

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

/*
 * Record that from RUN on a new level of the figure NAME of TABLE (NULL: all figures) is accepted, for REASON. *FOUND
 * is false, and nothing recorded, if there is no such figure in the run's history.
 */
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

#endif
