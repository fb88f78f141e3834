/*
 * ascend.h - a recording of an Ascend NPU, put together from the rows of either of its forms (json.c, database.c).
 *
 *     struct ascend *ascend = ascend_open(builder, pid, PRODUCER_TORCH_NPU);
 *     ascend_add_host(ascend, &(struct ascend_host){ .kind = ASCEND_OPERATOR, .name = recorder_name(...), ... });
 *     ascend_add_task(ascend, &(struct ascend_task){ ... });
 *     bool ok = ascend_write(ascend, set_args, context, err);
 *     ascend_free(ascend);
 *
 * Rows may come in any order. What a task is depends on others: the pieces of a collective have its connection. Work is
 * linked to the operator that issued it through four events on up to three threads:
 *
 *     operator  |----- aten::copy_ --------|                thread of Python, or of its backward pass
 *     Enqueue        |-|                                    by time in the operator
 *     Dequeue               |-----------|                   thread of the task queue; by correlation
 *     call                    |-------|                     by time in the Dequeue
 *     task                                 |------|         by connection
 *
 * Without a task queue the operator is the innermost one around the call. Sources: Ascend/pytorch (torch_npu), Ascend/
 * msprof-analyze, and recordings of torch_npu of January 2025 with the tables of the vendor's own tools.
 */
#ifndef TPA_INGEST_ASCEND_ASCEND_H
#define TPA_INGEST_ASCEND_ASCEND_H

#include "base/buffer.h"
#include "ingest/ascend/rows.h"

struct ascend;

/* New; free with ascend_free (NULL is allowed). Sets the producer of the builder's current file. */
struct ascend *ascend_open(struct trace_builder *builder, int64_t pid, enum trace_producer producer);
void ascend_free(struct ascend *ascend);

/* It writes the events; for names. Borrowed. */
struct recorder *ascend_recorder(struct ascend *ascend);

void ascend_add_host(struct ascend *ascend, const struct ascend_host *host);
void ascend_add_task(struct ascend *ascend, const struct ascend_task *task);
void ascend_add_block(struct ascend *ascend, const struct ascend_block *block);
void ascend_add_level(struct ascend *ascend, const struct ascend_level *level);

/* An arrow says that the task of device DEVICE and STREAM (RECORDER_NONE: a collective) that starts at START_NS was
 * launched at CALL_NS on thread TID of process PID. Needed where calls are not recorded. */
void ascend_add_arrow(struct ascend *ascend, int32_t device, int64_t stream, int64_t start_ns, int64_t pid,
                      int64_t tid, int64_t call_ns);

/* A copy's direction by the words of the profiler ("host to device"), or by a name ("acl_memcpy_host_to_device"). */
enum ascend_copy ascend_copy_of(const char *words);

/* Called after the event of a host row was added, to give it its other arguments. */
typedef void ascend_set_args(void *context, struct recorder *recorder, const struct ascend_host *host);

/* Write all to the builder's current file, with notices of what was left out. Once. False and ERR if there is no room. */
bool ascend_write(struct ascend *ascend, ascend_set_args *set_args, void *context, struct tpa_error *err);

/*
 * The lists of torch_npu in JSON: its shapes "32,3;64" as "[[32,3],[64]]", its types "Scalar;None" as
 * ["Scalar","None"], and its stacks, which have line breaks between frames, as PyTorch writes them. OUT is replaced.
 */
void ascend_shapes(const char *text, struct buffer *out);
void ascend_types(const char *text, struct buffer *out);
void ascend_stack(const char *text, struct buffer *out);

#endif
