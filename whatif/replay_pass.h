/* replay_pass.h - the pass of a replay, moment by moment: what replay.h and rounds.h share. */
#ifndef TPA_WHATIF_REPLAY_PASS_H
#define TPA_WHATIF_REPLAY_PASS_H

#include "whatif/replay.h"

struct replay_pass {
    const struct replay_graph *graph;
    const struct changes *changes; /* NULL: none */
    struct replay *replay;         /* the shifts so far */
    uint64_t *first;               /* a bit for each moment of a thread: the thread's first */
    /* The shift of FROM, on which M depends, INT64_MIN: it does not matter; NULL: that of the replay. */
    int64_t (*shift_from)(const struct replay_pass *pass, moment_id from, moment_id m);
};

/* What a moment follows: the moment before it, by how much that is shifted, and how long after it the moment was recorded. */
struct replay_before {
    int64_t shift_ns, own_ns;
};

/* The factor of the piece that leads to M, or of the work that ends at M; 1 for others. */
float replay_factor_of(const struct replay_pass *pass, moment_id m);

/* The shift of M, with edges RANGE, which follows BEFORE; NULL: nothing. */
int64_t replay_shift_of(const struct replay_pass *pass, moment_id m, const struct replay_before *before,
                        struct edge_range range, float factor);

/* The shift of a moment that depends on nothing but the one OWN_NS before it, shifted by BEFORE_NS. */
int64_t replay_shift_behind(int64_t before_ns, int64_t own_ns, float factor);

#endif
