/*
 * lacks.h - what a recording lacks: a state that verdicts ask, besides the notice that people read.
 *
 * A reader that meets a cut, damage or lost records says so through one call, which sets the state of the file and adds
 * the notice:
 *
 *     trace_builder_lacks(builder, LACK_CUT_SHORT, "the file ends in the middle of an event", 1, offset);
 *
 * (trace_chunk_lacks, snapshot_lacks and sums_origin_lacks do it for chunks, snapshots, profiles and reports.) The state
 * stays with the file when files are merged, sliced, written as .tpa or .facts, or saved as a result. A verdict asks:
 *
 *     if (trace_lacks(trace))                      // whole trace; trace->files[f].lacks: one file
 *         ...                                      // the recording is not complete: no verdict
 *     if (ingested_lacks(&ingested) & LACKS_CUT)   // whatever was read: ingest/formats.h
 *     if (result_lacks(result))                    // a result, also a saved one
 *     if (facts_lacks(facts))                      // .facts; recording->cut: one rank
 *
 * 0 means that nothing is known to lack. A new lack is one row of LACKS: what it is called in a file must not change.
 */
#ifndef TPA_BASE_LACKS_H
#define TPA_BASE_LACKS_H

#include "base/buffer.h"

/* The sorts of lacks, one bit each: `unsigned lacks` is a set of them. */
enum lacks {
    LACKS_END = 1,     /* the file ends before its recording does */
    LACKS_PARTS = 2,   /* blocks, tables, records or texts of the file are damaged */
    LACKS_RECORDS = 4, /* the profiler lost records, or did not write all */
    LACKS_FILES = 8,   /* files of ranks of the job are missing, or cannot be read */
};

/* Constant, sort, and word: the kind of the notice, by which files and scripts know it. */
#define LACKS(LACK)                                                                                          \
    LACK(CUT_SHORT, END, "cut_short")                                                                        \
    LACK(NOT_CLOSED, END, "not_closed")                                                                      \
    LACK(UNFINISHED_FILE, END, "unfinished_file")                                                            \
    LACK(DAMAGED, PARTS, "damaged")                                                                          \
    LACK(DAMAGED_FILE, PARTS, "damaged_file")                                                                \
    LACK(DAMAGED_SOURCE, PARTS, "damaged_source")                                                            \
    LACK(DAMAGED_HEADER, PARTS, "damaged_header")                                                            \
    LACK(DAMAGED_TABLE, PARTS, "damaged_table")                                                              \
    LACK(BAD_BLOCK, PARTS, "bad_block")                                                                      \
    LACK(BAD_EVENT, PARTS, "bad_event")                                                                      \
    LACK(BAD_MESSAGE, PARTS, "bad_message")                                                                  \
    LACK(BAD_PACKET, PARTS, "bad_packet")                                                                    \
    LACK(BAD_COMPRESSED, PARTS, "bad_compressed")                                                            \
    LACK(BAD_ARGUMENT, PARTS, "bad_argument")                                                                \
    LACK(BAD_RECORD, PARTS, "bad_record")                                                                    \
    LACK(GARBAGE, PARTS, "garbage")                                                                          \
    LACK(NOT_EVENT, PARTS, "not_event")                                                                      \
    LACK(NOT_ARRAY, PARTS, "not_array")                                                                      \
    LACK(LONG_EVENT, PARTS, "long_event")                                                                    \
    LACK(WRONG_TYPES, PARTS, "wrong_types")                                                                  \
    LACK(ODD_VALUES, PARTS, "odd_values")                                                                    \
    LACK(ODD_VALUE, PARTS, "odd_value")                                                                      \
    LACK(ODD_ITEM, PARTS, "odd_item")                                                                        \
    LACK(DANGLING_ID, PARTS, "dangling_id")                                                                  \
    LACK(DANGLING_NAMES, PARTS, "dangling_names")                                                            \
    LACK(ODD_ENTRIES, PARTS, "odd_entries")                                                                  \
    LACK(ODD_LINES, PARTS, "odd_lines")                                                                      \
    LACK(BAD_TIME, PARTS, "bad_time")                                                                        \
    LACK(NO_DURATION, PARTS, "no_duration")                                                                  \
    LACK(NEGATIVE_DURATION, PARTS, "negative_duration")                                                      \
    LACK(BAD_FLOW, PARTS, "bad_flow")                                                                        \
    LACK(BAD_COUNTER, PARTS, "bad_counter")                                                                  \
    LACK(LOST_ARGS, PARTS, "lost_args")                                                                      \
    LACK(LOST_TABLES, PARTS, "lost_tables")                                                                  \
    LACK(LOST_TEXTS, PARTS, "lost_texts")                                                                    \
    LACK(LOST_SUMS, PARTS, "lost_sums")                                                                      \
    LACK(MORE_DAMAGE, PARTS, "more_damage")                                                                  \
    LACK(LOST_STATE, RECORDS, "lost_state")                                                                  \
    LACK(DROPPED_BY_CUPTI, RECORDS, "dropped_by_cupti")                                                      \
    LACK(DROPPED_BEHIND, RECORDS, "dropped_behind")                                                          \
    LACK(DROPPED_MEMORY, RECORDS, "dropped_memory")                                                          \
    LACK(DROPPED_DISK, RECORDS, "dropped_disk")                                                              \
    LACK(DROPPED_UNKNOWN, RECORDS, "dropped_unknown")                                                        \
    LACK(CUT_AT_LIMIT, RECORDS, "cut_at_limit")                                                              \
    LACK(LOST_WORK, RECORDS, "lost_work")                                                                    \
    LACK(UNTIMED_WORK, RECORDS, "untimed_work")                                                              \
    LACK(SEVERAL_DOCUMENTS, PARTS, "several_documents")                                                      \
    LACK(MISSING_STEPS, RECORDS, "missing_steps")                                                            \
    LACK(LATE_END, PARTS, "late_end")                                                                        \
    LACK(REPEATED_STEPS, PARTS, "repeated_steps")                                                            \
    LACK(UNKNOWN_TIME, PARTS, "unknown_time")                                                                \
    LACK(UNKNOWN_VERSION, PARTS, "unknown_version")                                                          \
    LACK(UNKNOWN_STATE, PARTS, "unknown_state")                                                              \
    LACK(RUNS_DIFFER, FILES, "runs_differ")                                                                  \
    LACK(MISSING_RANKS, FILES, "missing_ranks")                                                              \
    LACK(LEFT_OUT, FILES, "left_out")                                                                        \
    LACK(UNREADABLE, FILES, "unreadable")

enum lack {
#define LACKS_CONSTANT(id, sort, word) LACK_##id,
    LACKS(LACKS_CONSTANT)
#undef LACKS_CONSTANT
        LACK_COUNT
};

/* The key of converted files under which they hold the lacks of their sources, as [{"kind":, "count":, "text":}]. */
#define LACKS_KEY "lacks"

/* The word of LACK. */
const char *lack_word(enum lack lack);

/* The sort of LACK: one bit of enum lacks. */
unsigned lack_sort(enum lack lack);

/* The sort of the lack that has WORD; 0 if no lack has it. NULL is allowed. */
unsigned lacks_of_word(const char *word);

/* Append "end", "end, parts" ...: the sorts in LACKS. */
void lacks_append(struct buffer *out, unsigned lacks);

/* Append the meaning of LACKS: "parts are damaged, records were lost"; nothing for 0. */
void lacks_append_meaning(struct buffer *out, unsigned lacks);

#endif
