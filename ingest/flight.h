/*
 * flight.h - reading dumps of PyTorch's Flight Recorder: trace/flight.h describes their content.
 *
 * Pickle (protocol 2, without classes) and JSON, versions 2.4 to 2.10, of NCCL, gloo, c10d's hook, HCCL and torchcomms.
 * Nothing is executed; a pickle that names a class is refused.
 */
#ifndef TPA_INGEST_FLIGHT_H
#define TPA_INGEST_FLIGHT_H

#include "base/source.h"
#include "trace/flight.h"

/* The certainty that a file that begins with these bytes is a dump: 0 no, 100 certain. */
int flight_sniff(const char *bytes, size_t len);

struct flight_reader;

/* New; fills FLIGHT, which is borrowed. Free with flight_reader_free. */
struct flight_reader *flight_reader_open(struct flight *flight);
void flight_reader_free(struct flight_reader *reader);

/* Read SOURCE and add it to the dumps; the caller sets its path, folder and prefix. *RANK: the key `rank`, else
 * FLIGHT_NO_RANK. False and ERR if it is no dump, cut, damaged, or would run code; FLIGHT is unchanged then, except for
 * texts. */
bool flight_reader_add(struct flight_reader *reader, struct source *source, uint32_t *rank,
                       struct tpa_error *err);

/* Read the dumps in PATHS: files, and all folders in them. New; free with flight_free. Files that should be
 * dumps and cannot be read are listed as unreadable. NULL and ERR if a path does not exist, or if no dump can
 * be read. */
struct flight *flight_read(char *const *paths, size_t count, uint64_t max_ratio, struct tpa_error *err);

/* For --strict: false and ERR if a file that should be a dump could not be read. */
bool flight_check_complete(const struct flight *flight, struct tpa_error *err);

#endif
