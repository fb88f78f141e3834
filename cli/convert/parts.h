/* parts.h - what the writers share. */
#ifndef TPA_CLI_CONVERT_PARTS_H
#define TPA_CLI_CONVERT_PARTS_H

#include "whatif/path.h"
#include "cli/convert/convert.h"

/* chrome_head.c - the part before the events of the Chrome JSON that `tpa convert` writes. */

/* Append the pid of TRACK as JSON; if SHARED with processes of other files, prefixed by the file. */
void chrome_append_pid(struct buffer *out, const struct trace *trace, const struct track *track, bool shared);

/* Append to OUT everything from the first brace to the bracket of the events. Times of several files begin at the
 * earliest base. */
void chrome_head_append(const struct trace *trace, struct buffer *out);

/* columns.c - the names of the columns of events, in every form with one row per event. */

/* Columns of every event; with several files, preceded by "file". */
#define CONVERT_EVENT_COLUMNS                                                                                \
    "rank,process,pid,thread,tid,device,stream,category,kind,name,start_ns,dur_ns,unfinished"

/* Append the name of the column of ARG, as spelled in files. If it equals a column above, such as the stream in a
 * kernel's arguments, "args.stream". */
void convert_add_arg_column(struct buffer *out, enum trace_arg arg);

/* json_value.c - writing values that were read as JSON text. */

/* Can TEXT be written as it is: is it a JSON value, all of printable ASCII? */
bool json_value_is_plain(const char *text, size_t len);

/* Add the JSON value TEXT to OUT: its strings are escaped as in base/escape.h, the rest is unchanged. Invalid JSON is
 * written as a string: readers of traces may be lenient, but the output of `tpa` is always valid. */
void json_value_append(struct buffer *out, const char *text, size_t len);

/*
 * marks.c - the critical path of the whole recording, as marks on a timeline.
 *
 * convert_each_mark() gives the pieces; convert_append_marks() writes them as Chrome's JSON: a track "critical path" holds
 * the pieces, of category critical_path, named by part and by what ran. Arrows of the same category lead from the last
 * event of the path on one track to the next on another. Readers of tpa ignore both.
 */

/* What each piece is given to. LAST: the piece before on another track, whose event ran; NULL: this is not a change of
 * tracks. */
typedef void convert_mark_fn(void *context, const struct replay_graph *graph,
                             const struct path_segment *piece, const struct path_segment *last);

/* Call VISIT for each piece of the critical path of TRACE (read for REPLAY_WANTS at least), in order of time. */
void convert_each_mark(const struct trace *trace, convert_mark_fn *visit, void *context);

/* Append the name of PIECE to OUT: "kernel: gemm". */
void convert_mark_name(const struct trace *trace, const struct path_segment *piece, struct buffer *out);

/* Data of the writer: how it writes a moment of a file, and a track. */
struct convert_marks {
    const struct trace *trace; /* read for REPLAY_WANTS at least */
    const void *context;
    void (*put_time)(const void *context, struct buffer *out, uint32_t file, int64_t ns);
    void (*put_place)(const void *context, struct buffer *out, track_id track);
};

/* Append the events for the whole recording to OUT, each after a comma. Returns how many. */
size_t convert_append_marks(const struct convert_marks *marks, struct buffer *out);

/*
 * size.c - forms that repeat the texts of each event: estimates their size
 *
 * A reader keeps each text once, like .tpa files, profiles and databases. In a file of a few megabytes a million events
 * may share a text of megabytes.
 */

/* False and ERR if names, places and arguments of the events of TRACE, repeated for each, exceed what any program
 * records: more than 1 GiB, and than 8 KiB an event; or than 256 MiB in some 8,192 events, which are in memory at once.
 * --max-ratio 0 lifts both. */
bool convert_check_size(const struct trace *trace, const struct convert_args *args, struct tpa_error *err);

/* snapshot.c - memory snapshots in the forms that `tpa convert` writes. */

/* Stacks with the bytes that they had in use at the peak of each device. */
bool convert_snapshot_folded(const struct snapshots *snapshots, const struct convert_args *args, FILE *out,
                             struct buffer *summary, struct tpa_error *err);

/* The entries as rows. */
bool convert_snapshot_csv(const struct snapshots *snapshots, const struct convert_args *args, FILE *out,
                          struct buffer *summary, struct tpa_error *err);

/*
 * wire_put.c - fields of protocol buffers, appended to a buffer. See ingest/wire.h for reading.
 *
 *     size_t packet = wire_open(out, 1);
 *     wire_append_number(out, 8, ts_ns);
 *     wire_append_text(out, 2, name, len);
 *     wire_close(out, packet);
 */

/* Field NUMBER: an integer; negative ones take 10 bytes. */
void wire_append_number(struct buffer *out, uint32_t number, int64_t value);
void wire_append_fixed64(struct buffer *out, uint32_t number, uint64_t value);
void wire_append_double(struct buffer *out, uint32_t number, double value);
void wire_append_text(struct buffer *out, uint32_t number, const char *text, size_t len);

/* Begin field NUMBER, a message; to be ended by wire_close with what this returns. Messages nest. */
size_t wire_open(struct buffer *out, uint32_t number);
void wire_close(struct buffer *out, size_t start);

#endif
