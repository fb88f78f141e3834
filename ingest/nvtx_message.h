/*
 * nvtx_message.h - parses the range messages of PyTorch's emit_nvtx(): "aten::mm, seq = 12, op_id = 30, sizes = [[8,
 * 3], [3, 4]]".
 *
 * (torch/csrc/profiler/util.cpp, getNvtxStr; any part may be missing.)
 */
#ifndef TPA_INGEST_NVTX_MESSAGE_H
#define TPA_INGEST_NVTX_MESSAGE_H

#include "base/buffer.h"

/* The length of the name in TEXT, LEN bytes: all of it if nothing is added. */
size_t nvtx_message_name(const char *text, size_t len);

/* Is it an operator of PyTorch? */
bool nvtx_message_is_operator(const char *text, size_t len);

/* The sequence number; false if there is none. */
bool nvtx_message_sequence(const char *text, size_t len, int64_t *sequence);

/* The shapes without blanks, "[[8,3],[3,4]]", as PyTorch's profiler writes them, appended to OUT; false if there are
 * none. */
bool nvtx_message_dims(const char *text, size_t len, struct buffer *out);

#endif
