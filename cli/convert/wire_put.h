/*
 * wire_put.h - fields of protocol buffers, appended to a buffer. See ingest/wire.h for reading.
 *
 *     size_t packet = wire_open(out, 1);
 *     wire_append_number(out, 8, ts_ns);
 *     wire_append_text(out, 2, name, len);
 *     wire_close(out, packet);
 */
#ifndef TPA_CLI_WIRE_PUT_H
#define TPA_CLI_WIRE_PUT_H

#include "base/buffer.h"
#include <stdint.h>

/* Field NUMBER: an integer; negative ones take 10 bytes. */
void wire_append_number(struct buffer *out, uint32_t number, int64_t value);
void wire_append_fixed64(struct buffer *out, uint32_t number, uint64_t value);
void wire_append_double(struct buffer *out, uint32_t number, double value);
void wire_append_text(struct buffer *out, uint32_t number, const char *text, size_t len);

/* Begin field NUMBER, a message; to be ended by wire_close with what this returns. Messages nest. */
size_t wire_open(struct buffer *out, uint32_t number);
void wire_close(struct buffer *out, size_t start);

#endif
