/* csv.h - rows of CSV, and the files of rocprof. */
#ifndef TPA_INGEST_CSV_H
#define TPA_INGEST_CSV_H

#include "base/buffer.h"
#include "base/source.h"

/*
 * csv.c - rows of comma-separated values as of RFC 4180: fields in quotes may hold commas, line breaks and doubled quotes.
 *
 *     struct csv csv = csv_open(text, len);
 *     while (csv_next(&csv))
 *         puts(csv_field(&csv, column));
 *     csv_release(&csv);
 *
 * The first row of a table names its columns: csv_header() reads it, csv_column() finds one by name, without regard to
 * case. A row may be shorter or longer than the header: missing fields are empty.
 */

#define CSV_NO_COLUMN SIZE_MAX

struct csv_cell {
    size_t start, len;
};

struct csv {
    const char *at, *end;
    struct buffer text;             /* the row */
    VEC_OF(struct csv_cell) fields; /* in TEXT, without quotes */
    struct buffer head;             /* names of columns, each NUL-terminated */
    VEC_OF(size_t) columns;         /* where each begins in HEAD */
};

/* Rows of the LEN bytes at TEXT, which are borrowed and end in a NUL byte; csv_release frees what CSV owns. */
struct csv csv_open(const char *text, size_t len);
void csv_release(struct csv *csv);

/* Read the next row that is not blank; false at the end. */
bool csv_next(struct csv *csv);

/* Read the next row as the header. */
bool csv_header(struct csv *csv);

/* The column called NAME, blanks around it aside; CSV_NO_COLUMN if there is none. */
size_t csv_column(const struct csv *csv, const char *name);

/* Field I of the row, blanks around it (a tab behind numbers, for spreadsheets) cut; "" if missing. Borrowed until the
 * next row. */
const char *csv_field(const struct csv *csv, size_t i);

/* The same, and its length. */
const char *csv_text(const struct csv *csv, size_t i, size_t *len);

/* A whole number; MISSING if the field is none. */
int64_t csv_integer(const struct csv *csv, size_t i, int64_t missing);

/* All bytes of SOURCE, with a NUL byte behind them. False and ERR if it cannot be read. */
bool csv_read_all(struct source *source, struct buffer *text, struct tpa_error *err);

/*
 * rocprof_csv_files.c - which table of rocprofv3 a CSV is, and which tables are one recording.
 *
 * Tables of one folder whose names differ by their kinds only ("12_kernel_trace.csv", "12_hip_api_trace.csv") are one.
 */

enum csv_kind {
    KIND_NONE,
    KIND_COUNTER,
    KIND_KERNEL,
    KIND_COPY,
    KIND_ALLOCATION,
    KIND_SCRATCH,
    KIND_API,
    KIND_AGENT,
    KIND_STATS,
    KIND_SAMPLES,
    KINDS
};

/* The kind of a table that begins with the LEN bytes at BYTES, by its header. */
enum csv_kind rocprof_csv_kind(const char *bytes, size_t len);

/* Does a table of KIND hold events? */
bool rocprof_csv_is_trace(enum csv_kind kind);

struct rocprof_csv_files {
    VEC_OF(char *); /* paths, sorted */
};

/* The tables of the recording that the one at PATH is of; release with rocprof_csv_files_free. */
struct rocprof_csv_files rocprof_csv_files_of(const char *path);
void rocprof_csv_files_free(struct rocprof_csv_files *files);

/* Is the table at PATH read with another one of its recording, which comes first? */
bool rocprof_csv_is_further(const char *path);

/* Is the file at PATH the table of a recording with which the others are read? */
bool rocprof_csv_is_first(const char *path);

#endif
