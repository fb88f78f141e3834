/*
 * tpafile_write.h - records into a .tpa file.
 *
 *     struct tpafile_writer *writer = tpafile_writer_open(&(struct tpafile_writer_options){
 *         .sink = write_all, .context = &fd, .wall_ns = ..., .monotonic_ns = ..., .pid = getpid() });
 *     int64_t call[TPAFILE_API_FIELDS_END] = { [TPAFILE_API_START] = ..., ... };
 *     tpafile_writer_add(writer, TPAFILE_API, call);        // kept until its block is full
 *     tpafile_writer_flush(writer);                         // now and then: what was added is in the file
 *     tpafile_writer_close(writer, now, tpafile_writer_text(writer, "exit", 4));
 *     tpafile_writer_free(writer);
 *
 * It is used inside other people's processes: memory is bounded however long it runs, nothing is printed, nothing ends
 * the program. A writer belongs to one thread at a time. Once the sink or an allocation has failed, every
 * call returns false and does nothing more; what was written before is a file that can be read.
 */
#ifndef TPA_TRACE_TPAFILE_WRITE_H
#define TPA_TRACE_TPAFILE_WRITE_H

#include "trace/tpafile_encode.h"

/* Take SIZE bytes, which are whole blocks, at the end of the file. False: it cannot be written. */
typedef bool tpafile_sink(void *context, const void *bytes, size_t size);

struct tpafile_writer_options {
    tpafile_sink *sink;
    void *context;
    int level;            /* of zstd; 0: the default */
    uint32_t rows;        /* records of a block; 0: the default. Memory is at most 256 bytes a row and kind */
    int64_t wall_ns;      /* CLOCK_REALTIME now; 0: unknown */
    int64_t monotonic_ns; /* CLOCK_MONOTONIC now; 0: unknown */
    int64_t pid;          /* 0: none, the file is converted */
};

/* Kept by the writer; borrowed. */
struct tpafile_written {
    uint64_t bytes, blocks, records, texts;
    uint64_t cut_texts; /* that were longer than TPAFILE_LONGEST_TEXT */
};

struct tpafile_writer;

/* New, with the header written; free with tpafile_writer_free. NULL when there is no memory or the sink failed. */
struct tpafile_writer *tpafile_writer_open(const struct tpafile_writer_options *options);

/* Forget it. What was not flushed is lost: tpafile_writer_close comes before. NULL is allowed. */
void tpafile_writer_free(struct tpafile_writer *writer);

/* The number of a text, for fields of type TEXT; 0 when it could not be kept. Copied the first time. */
int64_t tpafile_writer_text(struct tpafile_writer *writer, const char *text, size_t len);

/* A new number even when there is one: for who knows the text to be new, which saves looking for it. */
int64_t tpafile_writer_new_text(struct tpafile_writer *writer, const char *text, size_t len);

/* An NVTX message in the parts that MARKER and RANGE keep. PyTorch counts in its messages, so that no two are alike:
 * "aten::mm, seq = 12, op_id = 31, sizes = [[8, 3]], input_op_ids = [(30, 0)]". NAME is the message up to
 * the input_op_ids, with a byte 1 in place of the numbers of seq and op_id; TAIL is the rest. */
struct tpafile_message {
    int64_t name, number, number_2, tail; /* numbers of texts, and the two numbers or TPAFILE_NONE */
};
struct tpafile_message tpafile_writer_message(struct tpafile_writer *writer, const char *text, size_t len);

/* Add a record: VALUES has a number for each field of KIND, TPAFILE_NONE where it is unknown. */
bool tpafile_writer_add(struct tpafile_writer *writer, enum tpafile_kind kind, const int64_t *values);

/* Write what was added. Blocks pack better when this is not done too often: once a second is right. */
bool tpafile_writer_flush(struct tpafile_writer *writer);

/* Add the END record, flush. TIME is the log's, WHY a text's number. */
bool tpafile_writer_close(struct tpafile_writer *writer, int64_t time, int64_t why);

/* What reached the sink. */
const struct tpafile_written *tpafile_writer_written(const struct tpafile_writer *writer);

/* Blocks that are not rows: flush the texts that it names, fill the encoder (begin, columns), then put. RECORDS counts
 * for the sum in END. */
struct tpafile_encoder *tpafile_writer_encoder(struct tpafile_writer *writer);
bool tpafile_writer_emit(struct tpafile_writer *writer, uint64_t records);

/* Put a block that was filled elsewhere, perhaps by another thread. It gets its number here. */
bool tpafile_writer_emit_from(struct tpafile_writer *writer, struct tpafile_encoder *encoder,
                              uint64_t records);

#endif
