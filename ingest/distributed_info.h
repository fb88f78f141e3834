/*
 * distributed_info.h - the rank of a file, and the process groups of this rank.
 *
 *     distributed_info_apply(builder, value, strlen(value));      // fills in the builder's current file
 *
 * The top-level value "distributedInfo", which PyTorch writes:
 *
 *     {"backend": "nccl", "rank": 0, "world_size": 8, "nccl_version": "2.27.5",      2022 on
 *      "pg_count": 2,                                                                2024 on
 *      "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo,cuda:nccl",
 *                     "pg_size": 8, "ranks": [0, 1, ...]}, ...]}
 *
 * pg_config lists only groups of this rank, and not necessarily all of them (pg_count).
 */
#ifndef TPA_INGEST_DISTRIBUTED_INFO_H
#define TPA_INGEST_DISTRIBUTED_INFO_H

#include "trace/builder.h"

/* Store the values of the LEN bytes of JSON at TEXT; does nothing if they are not an object. */
void distributed_info_apply(struct trace_builder *builder, const char *text, size_t len);

#endif
