/*
 * rank_parts.h - several ranks in one file, merged by other tools, become a file each.
 *
 *     rank_parts_find(trace);          // after it was read
 *
 * Tried in this order, for each file:
 *
 * - Timelines of jobs (an array of events; processes "DP rank [0]", threads "PP rank 0, TP rank 1, dp-comm"): a rank for each
 *   (pp, dp, tp); the number is the thread's divided by 5 if that holds for all threads.
 * - Labels: processes "[TP01] 4001", "[TP01-DP00-PP02-EP00] 4001" (SGLang), or with names as "rank 3: python" or "Rank 3 training
 *   loop process". A rank for each label, numbered by (dp, pp, cp, tp, ep); if there is nothing but TP, or a rank, by it.
 * - Several processes of the host that mark steps (ProfilerStep#N): each is a rank, in ascending order. Processes of devices
 *   belong to them in ascending order, if they are as many or a multiple; else the file stays one. Other processes of the host
 *   belong to the rank with the highest number below theirs.
 *
 * The distributedInfo of the file is that of one of its ranks: its rank and groups hold for none.
 */
#ifndef TPA_INGEST_RANK_PARTS_H
#define TPA_INGEST_RANK_PARTS_H

#include "trace/trace.h"

void rank_parts_find(struct trace *trace);

#endif
