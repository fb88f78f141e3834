#!/usr/bin/env python3
"""Dumps of a large job that hangs, for the test of speed and memory.

    large_hang.py FOLDER [RANKS [ENTRIES]]      10,000 ranks with 200 entries each: 0.95 GB

Groups as of Megatron: the world, tensor-parallel groups of 8, data-parallel groups, and a group of every second rank. Two
ranks stay out of a collective of their tensor-parallel groups; the others wait, directly and indirectly.
"""
import os
import pickle
import sys


def main():
    folder = sys.argv[1]
    ranks = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    os.makedirs(folder, exist_ok=True)
    world = str(list(range(ranks)))
    tp = [str(list(range(i, min(i + 8, ranks)))) for i in range(0, ranks, 8)]
    dp = [str(list(range(i, ranks, 8))) for i in range(8)]
    guilty = {min(17, ranks - 1), ranks // 2 + 3}
    first = 5000
    for r in range(ranks):
        names = [("0", "default_pg", world), (str(1 + r // 8), "TENSOR_MODEL_PARALLEL_GROUP", tp[r // 8]),
                 (str(10000 + r % 8), "DATA_PARALLEL_GROUP", dp[r % 8])]
        entries = []
        state = [first, 40 * first, first]
        stuck = any(g // 8 == r // 8 for g in guilty)
        total = count - 3 if stuck else count
        if r in guilty:
            total -= 1
        for i in range(total):
            last = i == total - 1 and r not in guilty
            g = 0 if i % 20 == 0 else 2 if i % 20 == 10 else 1
            if last:
                g = 1 if stuck else 0
            state[g] += 1
            done = not last
            size = 4096 * 5120 if g == 1 else 1024
            entries.append({
                "record_id": 200000 + i, "pg_id": g, "process_group": names[g][:2], "thread_name": "python3",
                "thread_id": "23456244340032", "collective_seq_id": state[g], "p2p_seq_id": 0, "op_id": state[g],
                "profiling_name": "nccl:_all_gather_base" if g == 1 else "nccl:all_reduce",
                "time_created_ns": 1790000000000000000 + i * 1000000 + r, "input_sizes": [[size]],
                "input_dtypes": ["BFloat16"], "output_sizes": [[size * 8 if g == 1 else size]],
                "output_dtypes": ["BFloat16"], "state": "completed" if done else "scheduled",
                "time_discovered_started_ns": None,
                "time_discovered_completed_ns": 1790000000000500000 + i * 1000000 if done else None,
                "retired": done, "timeout_ms": 600000, "is_p2p": False})
        config = {n: {"name": n, "desc": d, "ranks": "".join(t)} for n, d, t in names}
        status = {str(g): {"last_enqueued_collective": state[g], "last_started_collective": -1,
                           "last_completed_collective": state[g] - (entries[-1]["pg_id"] == g and not
                                                                    entries[-1]["retired"])} for g in range(3)}
        tree = {"version": "2.10", "pg_config": config, "comm_lib_version": "2.27.3", "pg_status": status,
                "entries": entries}
        with open(os.path.join(folder, "rank_%d" % r), "wb") as out:
            pickle.dump(tree, out, protocol=2)


if __name__ == "__main__":
    main()
