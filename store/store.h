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
 * Every change is one transaction that waits for others and, when it fails, was not begun: nothing is ever half there,
 * whether the program is killed, the disk is full or the machine loses power. A file that is damaged, of a newer version
 * or no store at all is left as it is. docs/commands/nightly.md has the tables.
 */
#ifndef TPA_STORE_STORE_H
#define TPA_STORE_STORE_H

#include "compare/night.h"
#include "compare/nightly.h"
#include "base/error.h"

struct store;

enum store_mode {
    STORE_READ,   /* must be there */
    STORE_CHANGE, /* must be there; is checked from end to end first */
    STORE_CREATE, /* as STORE_CHANGE, but is made when it is not there */
};

/* New; free with store_close (NULL is allowed). Others who write are waited for up to WAIT_MS. */
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
        was_there; /* the same recording was added to this label before: RUN is that run, and nothing was changed */
};

bool store_add(struct store *store, const struct night *night, const struct store_about *about,
               struct store_added *added, struct tpa_error *err);

/* ---- looking ---- */

/* Append all runs of LABEL (NULL: of all) to NIGHTLY, oldest first within a label and GPU, and nothing of their figures. */
bool store_list(struct store *store, const char *label, struct nightly *nightly, struct tpa_error *err);

/* Fill NIGHTLY, empty, with the runs of LABEL on GPU and all their figures, ready to be judged. False and ERR when there
 * are none. */
bool store_load(struct store *store, const char *label, const char *gpu, struct nightly *nightly,
                struct tpa_error *err);

/* The label and GPU that RUN has; texts in ARENA. False and ERR when there is no such run. */
bool store_find(struct store *store, int64_t run, struct arena *arena, const char **label, const char **gpu,
                struct tpa_error *err);

/* What the run says about itself: "torch", "PyTorch", "2.9.0". */
typedef void store_fact(void *context, const char *key, const char *title, const char *value);
bool store_facts(struct store *store, int64_t run, store_fact *fact, void *context, struct tpa_error *err);

/* Every figure of RUN with its samples. VALUES are borrowed until TAKE returns. */
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
 * Note that from RUN on a new level of the figure NAME of TABLE (NULL: of all figures) is wanted, for REASON. *FOUND is
 * false, and nothing noted, when there is no such figure in the run's history.
 */
bool store_accept(struct store *store, int64_t run, const char *table, const char *name, size_t length,
                  const char *reason, int64_t time_ns, struct tpa_error *err);

/* Which runs to forget: of LABEL (NULL: all), all but the newest KEEP of each GPU (0: any number), those that ran before
 * BEFORE_NS, or RUN alone (0: none). *COUNT tells how many went. The file shrinks. */
struct store_prune {
    const char *label;
    uint64_t keep;
    bool has_before;
    int64_t before_ns;
    int64_t run;
};
bool store_prune(struct store *store, const struct store_prune *what, int64_t *count, struct tpa_error *err);

#endif
