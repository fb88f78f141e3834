/* On diagonal k = x - y, reach[d][k] is the furthest x that d edits reach. The rows of all d are kept to
 * trace back. */
#include "base/lcs.h"

struct search {
    const uint32_t *a, *b;
    int64_t n, m;
    int64_t *reach; /* of the current number of edits, by diagonal + offset */
    int64_t offset;
    uint32_t **rows; /* by edits: reach of the diagonals -d, -d + 2 ... d */
};

static bool is_equal(const struct search *search, int64_t x, int64_t y)
{
    return search->a[x] == search->b[y] && search->a[x] != LCS_NOTHING;
}

static int64_t follow(const struct search *search, int64_t x, int64_t k)
{
    while (x < search->n && x - k < search->m && is_equal(search, x, x - k))
        x++;
    return x;
}

/* Is D edits' reach on diagonal K derived from K + 1 (an element of b is inserted) rather than from K - 1? */
static bool comes_down(const struct search *search, int64_t d, int64_t k)
{
    const int64_t *reach = search->reach + search->offset;
    return k == -d || (k != d && reach[k - 1] < reach[k + 1]);
}

/* Compute and keep the row of reaches for D edits. Is the end reached? */
static bool collect_step(struct search *search, int64_t d)
{
    int64_t *reach = search->reach + search->offset;
    search->rows[d] = mem_alloc(mem_times((size_t)d + 1, sizeof **search->rows));
    bool reached = false;
    for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = d == 0 ? 0 : comes_down(search, d, k) ? reach[k + 1] : reach[k - 1] + 1;
        bool outside = x > search->n || x - k > search->m || x - k < 0;
        reach[k] = outside ? x : follow(search, x, k);
        search->rows[d][(k + d) / 2] = (uint32_t)(reach[k] < 0 ? 0 : reach[k]);
        reached = reached || (reach[k] >= search->n && reach[k] - k >= search->m);
    }
    return reached;
}

/* Trace back from the end, which D edits reach; pairs are added last first. */
static void follow_back(const struct search *search, int64_t d, struct lcs_pairs *pairs)
{
    int64_t x = search->n, y = search->m;
    for (; d >= 0; d--) {
        int64_t k = x - y, from = 0;
        if (d > 0) {
            const uint32_t *row = search->rows[d - 1];
            int64_t below = k + 1 <= d - 1 ? (int64_t)row[(k + 1 + d - 1) / 2] : -1;
            int64_t left = k - 1 >= -(d - 1) ? (int64_t)row[(k - 1 + d - 1) / 2] : -1;
            bool down = k == -d || (k != d && left < below);
            from = down ? below : left + 1;
        }
        for (; x > from; x--, y--)
            *VEC_PUSH(pairs) = (struct lcs_pair){ (uint32_t)(x - 1), (uint32_t)(y - 1) };
        if (d > 0) {
            bool down = k == -d || (k != d && (int64_t)search->rows[d - 1][(k - 1 + d - 1) / 2] <
                                                  (int64_t)search->rows[d - 1][(k + 1 + d - 1) / 2]);
            x -= down ? 0 : 1;
            y -= down ? 1 : 0;
        }
    }
}

static void turn_round(struct lcs_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct lcs_pair pair = pairs[i];
        pairs[i] = pairs[count - 1 - i];
        pairs[count - 1 - i] = pair;
    }
}

bool lcs_find(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t most_edits,
              struct lcs_pairs *pairs)
{
    size_t most = n + m < most_edits ? n + m : most_edits, first = pairs->count;
    struct search search = { a, b, (int64_t)n, (int64_t)m, .offset = (int64_t)most + 1 };
    search.reach = mem_zalloc(2 * most + 3, sizeof *search.reach);
    search.rows = mem_zalloc(most + 1, sizeof *search.rows);
    size_t edits = 0;
    while (edits <= most && !collect_step(&search, (int64_t)edits))
        edits++;
    if (edits <= most) {
        follow_back(&search, (int64_t)edits, pairs);
        if (pairs->count > first)
            turn_round(pairs->at + first, pairs->count - first);
    }
    for (size_t d = 0; d <= most; d++)
        free(search.rows[d]);
    EACH(free, search.rows, search.reach);
    return edits <= most;
}
