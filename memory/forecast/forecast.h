/* forecast.h - the memory that a job will need. */
#ifndef TPA_MEMORY_FORECAST_FORECAST_H
#define TPA_MEMORY_FORECAST_FORECAST_H

#include "memory/memory_records.h"
#include "trace/snapshot.h"
#include "base/result.h"

/*
 * recording.c - what a job allocated and freed, in order, at one size: the input of a forecast.
 *
 *     struct forecast_texts texts = forecast_texts_open();
 *     struct forecast_recording recording = { .path = "a.pickle", .size = { 16 } };
 *     if (!forecast_read_snapshot(snapshot, device, &texts, &recording, err)) ...
 *     forecast_recording_release(&recording);
 *
 * Blocks are identified by what allocated them: the chain of open operators and annotations of a trace, without steps; the stack of a
 * snapshot. Equal keys of several recordings are equal numbers.
 */

enum { FORECAST_SIZES = 4 }; /* sizes that a recording may have: batch, seq ... */

struct forecast_block {
    int64_t bytes;
    uint32_t key, name; /* of forecast_texts; NAME: the line, or the innermost operator */
    uint32_t stream;
    int32_t step; /* -1: in none */
    bool initial; /* it was there before the first event */
};

struct forecast_event {
    uint32_t block;
    bool frees;
};

/* Zero-initialise it, and set path and size. */
struct forecast_recording {
    const char *path;            /* borrowed */
    double size[FORECAST_SIZES]; /* by number of the name */
    VEC_OF(struct forecast_block) blocks;
    VEC_OF(struct forecast_event) events; /* in order of time */
    int64_t reserved_bytes;               /* the most that the allocator held; -1: not recorded */
    int64_t peak_bytes;                   /* the most in use, of these blocks */
    double steps_vary;                    /* how much the bytes of the last two steps differ, as a share */
};

struct forecast_texts {
    struct names *keys, *names;
};

struct forecast_texts forecast_texts_open(void);

/* Fill RECORDING. False and ERR if the blocks of DEVICE have no addresses. */
bool forecast_read_trace(const struct trace *trace, const struct memory_device *device,
                         const struct forecast_texts *texts, struct forecast_recording *recording,
                         struct tpa_error *err);

/* The same of a snapshot. False and ERR if it has no history. */
bool forecast_read_snapshot(const struct snapshot *snapshot, const struct snapshot_device *device,
                            const struct forecast_texts *texts, struct forecast_recording *recording,
                            struct tpa_error *err);

void forecast_recording_release(struct forecast_recording *recording);

/*
 * growth.c - how bytes grow with the sizes of a job.
 *
 *     struct growth growth = growth_of(bytes, sizes, count, base, varying);
 *     double then = growth_at(&growth, sizes[base], target);
 *
 * A tensor is a product of dimensions: bytes are constant, a monomial of the sizes (powers up to 2), or a constant plus one monomial.
 * Of those that fit all points, within 512 bytes or 0.4 %, the one of lowest degree is taken.
 */

enum growth_kind {
    GROWTH_CONSTANT,
    GROWTH_LINEAR,
    GROWTH_QUADRATIC,
    GROWTH_PRODUCT,
    GROWTH_AFFINE,    /* a constant plus a monomial, which more points than unknowns confirm */
    GROWTH_MIXED,     /* the same, with two points only */
    GROWTH_IRREGULAR, /* none of these */
    GROWTH_KINDS
};

/* "constant", "linear" ... */
const char *growth_kind_name(enum growth_kind kind);

struct growth {
    enum growth_kind kind;
    uint8_t power[FORECAST_SIZES]; /* of the monomial, by size */
    double constant, at_base;      /* CONSTANT + AT_BASE is the value at the base */
    double low, high; /* at the target: other monomials of the same degree fit, too, or none does */
    double then;      /* at the target */
};

/* Is it predicted block by block? Sums of others are predicted. */
static inline bool growth_is_regular(const struct growth *growth)
{
    return growth->kind < GROWTH_MIXED;
}

/* The growth of COUNT values at SIZES; BASE is the index of the base; only sizes of the set VARYING (bits) are considered. */
struct growth growth_of(const double *values, const double (*sizes)[FORECAST_SIZES], size_t count,
                        size_t base, unsigned varying, const double target[FORECAST_SIZES]);

/*
 * allocator.c - what PyTorch's caching allocator reserves for a sequence of allocations and frees.
 *
 *     struct allocator *allocator = allocator_open();
 *     uint32_t piece = allocator_take(allocator, bytes, stream);
 *     allocator_give(allocator, piece);
 *     int64_t reserved = allocator_reserved(allocator);
 *     allocator_free(allocator);
 *
 * Requests are rounded to 512 bytes. Those up to 1 MiB are cut from segments of 2 MiB, those below 10 MiB from segments of 20 MiB,
 * larger ones get segments rounded to 2 MiB: from the smallest free piece of the pool and stream that is large enough, at the lowest address. What
 * is left of a piece is split off if it has 512 bytes (small) or more than 1 MiB. Free neighbours are joined. Segments are kept.
 * (c10/cuda/CUDACachingAllocator.cpp of torch 2, without expandable segments and settings.)
 */

#define PIECE_NONE UINT32_MAX

struct allocator;

/* New; free with allocator_free. */
struct allocator *allocator_open(void);
void allocator_free(struct allocator *allocator);

/* A piece for BYTES on STREAM; PIECE_NONE for 0 bytes. */
uint32_t allocator_take(struct allocator *allocator, int64_t bytes, uint32_t stream);

/* Give PIECE back; PIECE_NONE: nothing. */
void allocator_give(struct allocator *allocator, uint32_t piece);

/* The bytes of all segments, which never fall. */
int64_t allocator_reserved(const struct allocator *allocator);

/*
 * forecast.c - the peak of memory at a size that was not run.
 *
 *     struct forecast *forecast = forecast_at(recordings, count, target);
 *     printf("%" PRId64 " bytes\n", forecast->peak_bytes);
 *     arena_free(forecast);
 *
 * The peak is a maximum over moments, and the moment moves with the size. So the blocks of a recording, the base, are matched with those of
 * the others by sequence, the growth of each is found (growth.c), and the order of allocations and frees is replayed with the
 * sizes predicted. docs/definitions.md has the rule.
 */

struct forecast_grown {
    uint32_t name;               /* of forecast_texts */
    int64_t bytes, growth_bytes; /* at the predicted peak; against the same blocks in the base */
    double share;                /* of all growth */
    enum growth_kind kind;       /* of most of its bytes */
    int64_t by_kind[GROWTH_KINDS];
};

struct forecast {
    size_t base; /* of the recordings */
    int64_t peak_bytes, low_bytes, high_bytes;
    int64_t reserved_bytes, reserved_low_bytes,
        reserved_high_bytes; /* TABLE_INT_MISSING without a caching allocator */
    bool sure;
    const char *why;                     /* why not; a literal */
    VEC_OF(struct forecast_grown) grown; /* most growth first */
};

/* The forecast of COUNT recordings, two or more, at TARGET. New; free with arena_free. */
struct forecast *forecast_at(const struct forecast_recording *recordings, size_t count,
                             const double target[FORECAST_SIZES]);

/*
 * query.c - `tpa memory --forecast`: recordings with their sizes as written on the command line, and the tables of the answer.
 *
 *     struct forecast_query query = { .texts = forecast_texts_open() };
 *     forecast_operand(&query, "a.pickle@batch=16", &path, err), then read PATH into query.devices ...
 *     forecast_answer(&query, targets, target_count, capacity, result, err);
 *     forecast_query_release(&query);
 */

/* The recordings of a device. */
struct forecast_device {
    int64_t type, id; /* as memory_device has them */
    bool is_host;
    VEC_OF(struct forecast_recording) recordings;
};

struct forecast_query {
    struct forecast_texts texts;
    const char *size_names[FORECAST_SIZES];
    size_t size_count;
    double size[FORECAST_SIZES]; /* of the operand read last; 0: not named */
    size_t operands;
    VEC_OF(struct forecast_device) devices;
    struct arena arena; /* owns names and paths */
};

/* Split OPERAND, "PATH@NAME=NUMBER,...", into its *PATH, which lives as long as QUERY, and the sizes of QUERY. False and ERR without
 * sizes, or with others than the operands before. */
bool forecast_operand(struct forecast_query *query, const char *operand, const char **path,
                      struct tpa_error *err);

/* Add what TRACE, or a SNAPSHOT, recorded of each of its devices at the sizes of the last operand. Texts are copied. */
bool forecast_add_trace(struct forecast_query *query, const struct trace *trace, const char *path,
                        struct tpa_error *err);
bool forecast_add_snapshot(struct forecast_query *query, const struct snapshot *snapshot, const char *path,
                           struct tpa_error *err);

/* Add the tables for TARGETS ("batch=48"), and what fits in CAPACITY bytes (0: not given), to RESULT. */
bool forecast_answer(struct forecast_query *query, const char *const *targets, size_t target_count,
                     int64_t capacity, struct result *result, struct tpa_error *err);

/* What forecast_answer and forecast_draw do first: keep the devices that all recordings have. False and ERR if there are fewer than
 * two recordings, or no such device. */
bool forecast_prepare(struct forecast_query *query, struct tpa_error *err);

/* The sizes of TEXT, "batch=48". False and ERR if the recordings do not tell how memory grows with one of them. */
bool forecast_read_target(struct forecast_query *query, const char *text, double target[FORECAST_SIZES],
                          struct tpa_error *err);

/* The sizes, as of --forecast, of FACTOR times the largest recording in the first size that varies, the others as there; NULL if none varies. After
 * forecast_prepare; lives as long as QUERY. */
const char *forecast_larger(struct forecast_query *query, double factor);

/* Do the recordings of DEVICE differ in size NUMBER? */
bool forecast_size_varies(const struct forecast_device *device, size_t number);

/* The largest whole value of size NUMBER for which reserved (without an allocator, the peak) is at most CAPACITY, the others as in SIZES; 0:
 * none. */
int64_t forecast_largest(const struct forecast_device *device, const double *sizes, size_t number,
                         int64_t capacity);

void forecast_query_release(struct forecast_query *query);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape forecast_tables[];

/* picture.c - the predicted peak of memory by size: its parts by growth, and what the allocator reserves. */

/* Add to PICTURE a chart of each device and each size in which the recordings of QUERY differ: whole sizes from the smallest recorded
 * to the largest of those recorded, the COUNT TARGETS, and what fits in CAPACITY bytes (0: not given). The other sizes are those of the
 * first target, else of the recording with the largest peak. False and ERR as forecast_answer. */
bool forecast_draw(struct forecast_query *query, const char *const *targets, size_t count, int64_t capacity,
                   struct picture *picture, struct tpa_error *err);

#endif
