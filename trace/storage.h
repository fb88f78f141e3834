/*
 * storage.h - the memory behind a trace; for the files of this folder only.
 *
 * While it is built, a trace's columns are these growing ones; when it is finished they are
 * lent to struct trace as const pointers, and trace_free gives them back.
 */
#ifndef TPA_TRACE_STORAGE_H
#define TPA_TRACE_STORAGE_H

#include "trace/flow_columns.h"

struct derivation;
struct track_key;

/* An event that is not complete in itself: how it began or what it ends. */
struct chunk_mark {
    uint32_t event; /* begins: index of the event */
    char phase;
    int64_t async_id;
};

/* E, e, F: the end of an event that began elsewhere, perhaps in another chunk. */
struct chunk_end {
    int64_t ts_ns;
    name_id name; /* NAME_NONE: the file gives none */
    track_id track;
    uint16_t category;
    char phase;
    int64_t async_id;
    uint32_t after; /* events of the chunk that come before it in the file */
};

/* An argument of the end appended ENDS-th; joined to the event it ends unless that has its own. */
struct chunk_end_arg {
    uint32_t end;
    enum trace_arg arg;
    int64_t value;
};

struct arg_storage {
    uint64_t *present;
    size_t present_bytes; /* as given to column_resize */
    struct packing values;
    uint32_t *rank; /* once it is frozen */
};

/* Has event E the argument? */
static inline bool arg_storage_has(const struct arg_storage *arg, size_t e)
{
    return e / 64 * sizeof(uint64_t) < arg->present_bytes && (arg->present[e / 64] >> (e % 64) & 1);
}

struct trace_derived {
    const struct derivation *derivation;
    void *value;
};

struct trace_storage {
    size_t count, capacity; /* events; for how many the plain columns have room */
    struct packing start_ns, dur_ns;
    name_id *name;
    track_id *track;
    uint16_t *category;
    uint8_t *kind, *flags;
    struct arg_storage args[ARG_COUNT];
    struct names *names, *texts;
    struct names *track_keys, *category_keys;
    VEC_OF(struct track) tracks;
    VEC_OF(struct trace_category) categories;
    VEC_OF(struct trace_file) files;
    VEC_OF(struct trace_container *) containers; /* each allocated */
    VEC_OF(struct trace_notice) notices;
    struct flow_columns flows;
    VEC_OF(struct trace_sample) samples;
    VEC_OF(struct trace_derived) derived;       /* see derived.h */
    VEC_OF(const struct derivation *) deriving; /* by some thread; not in the list yet */
};

/* Free what was derived. derived.c */
void trace_release_derived(struct trace_storage *storage);

/* The builder: the trace in the making, and what is needed only until it is finished. */
struct trace_builder {
    struct trace *trace;
    struct trace_storage *storage; /* == trace->storage */
    struct names *notice_keys;     /* of the trace's notices, with the same indices: file and kind */
    struct buffer notice_key;      /* for the next look */
    int64_t read, read_of;         /* bytes on disk of the current file; 0: not known */
    size_t next_room_check;        /* at so many events */
    /* Open ends, with the trace's ids; `event` and `after` count from the trace's first event. */
    VEC_OF(struct chunk_mark) marks;
    VEC_OF(struct chunk_end) ends;
    VEC_OF(struct chunk_end_arg) end_args;
};

/* Append VALUE for EVENT, which must be larger than any event the column has. */
void arg_storage_add(struct arg_storage *arg, event_id event, int64_t value);

/* The same of COUNT events, numbered from BASE on, and their VALUES. */
void arg_storage_add_all(struct arg_storage *arg, event_id base, const uint32_t *events,
                         const int64_t *values, size_t count);

/* For who sets the present bits of many events at once, and adds their values in order: room for those of EVENTS events. */
void arg_storage_reserve_present(struct arg_storage *arg, size_t events);

/* Finish a column of EVENTS events: nothing is added from then on. What is returned borrows from ARG. */
struct trace_arg_column arg_storage_freeze(struct arg_storage *arg, size_t events);
void arg_storage_release(struct arg_storage *arg);

/* False and ERR when the trace has more than it may of anything, with EVENTS and ENDS still to come. builder.c */
bool builder_check_ceiling(const struct trace_builder *builder, size_t events, size_t ends,
                           struct tpa_error *err);

/* False and ERR when what comes of the trace, and of the analysis behind it, takes more memory than there is. Looked at now
 * and then. room.c */
bool builder_check_room(struct trace_builder *builder, struct tpa_error *err);

/* Room for MORE events in every column. builder.c */
void builder_reserve_events(struct trace_storage *storage, size_t more);

/* Ids of a category, and of a track of the current file whose key, as track_key_bytes makes it, is KEY. builder.c */
name_id builder_category(struct trace_builder *builder, const char *text, size_t len);
track_id builder_track(struct trace_storage *storage, const char *key_bytes, size_t len,
                       const struct track_key *written);

/* Count COUNT cases in FILE. builder.c */
void builder_notice(struct trace_builder *builder, uint32_t file, const char *kind, const char *text,
                    uint64_t count, int64_t offset);

/* Give events that were begun (B, b, S) the end that the file tells elsewhere (E, e, F). joins.c */
void builder_join_ends(struct trace_builder *builder);

/* Start and end of event E, of the trace in the making. */
static inline int64_t storage_start_ns(const struct trace_storage *storage, size_t e)
{
    return packing_value(&storage->start_ns, e);
}

static inline int64_t storage_end_ns(const struct trace_storage *storage, size_t e)
{
    return packing_value(&storage->start_ns, e) + packing_value(&storage->dur_ns, e);
}

/* Let TRACE show what its storage holds. builder.c */
void storage_lend(struct trace *trace);

/* What kind of event a category is. classify.c */
enum event_kind category_kind(const char *text);

/* Decide each file's producer, each track's kind, and kinds that depend on the track. classify.c */
void builder_classify(struct trace_builder *builder);

/* Add a notice about FILE once notices are settled: TEXT lives as long as the trace. Sets what the file lacks. settle_times.c */
void builder_add_last_notice(struct trace_builder *builder, uint32_t file, const char *kind, const char *text,
                             uint64_t count);

/* "3 records ...": COUNT and ONE or MANY; lives as long as the trace. settle_times.c */
const char *builder_counted(struct trace_builder *builder, uint64_t count, const char *one, const char *many);

/* Decide which numbers link work to calls. While columns of arguments grow; files and kinds are settled. settle_links.c */
void builder_settle_links(struct trace_builder *builder);

/* Count launches without work, in files, and in notices. Last of all. lost_work.c */
void builder_settle_losses(struct trace_builder *builder);

/* Leave out records whose time cannot be, and settle ends. When columns are frozen; lends them. settle_times.c */
void builder_settle_times(struct trace_builder *builder);

/* How many cases of LACK FILE has in a notice: of a file that was converted, it was told before. lost_work.c */
uint64_t builder_noticed(const struct trace_builder *builder, uint32_t file, enum lack lack);

/* Settle marks of steps that are there twice, reach over others or are lost. Behind the times. settle_steps.c */
void builder_settle_steps(struct trace_builder *builder);

/* Leave out records that were written twice, and bound ends that cannot be. settle_ends.c */
void builder_settle_ends(struct trace_builder *builder);

#endif
