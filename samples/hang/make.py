#!/usr/bin/env python3
"""Dumps in forms that cannot be recorded without GPUs, made by rule: device_stopped, pipeline, torchcomms, timed_out.

    samples/hang/make.py          writes them beside itself

device_stopped  NCCL, JSON. Four ranks, tensor-parallel pairs [0, 1] and [2, 3], then the world. The device of rank 2 no
                longer ends its work: it has collectives 4 to 6 of its pair pending, which rank 3 has done. The world
                waits in #3, which rank 2 never entered: its queue is full.
pipeline        NCCL, pickle, active entries only. Stages 0 to 3; stage 1 is elsewhere, 0 cannot send, 2 and 3 wait.
torchcomms      numbers count over all groups of a process; rank 3 never enters the fourth of main_comm.
timed_out       NCCL: the watchdog gave up the sixth collective on ranks 0 to 2; the dump of rank 3 is cut.
"""
import json
import os
import pickle

HERE = os.path.dirname(os.path.abspath(__file__))
START = 1790000000 * 10**9


def entry(record, group, seq, op, state="completed", retired=None, op_id=None, p2p=0, is_p2p=False, at=0):
    pg_id, name, desc = group
    return {"record_id": record, "pg_id": pg_id, "process_group": [name, desc], "thread_name": "python3",
            "thread_id": "140000000000000", "collective_seq_id": seq, "p2p_seq_id": p2p,
            "op_id": seq if op_id is None else op_id, "profiling_name": "nccl:" + op,
            "time_created_ns": START + record * 10**6 + at, "input_sizes": [[64]], "input_dtypes": ["BFloat16"],
            "output_sizes": [[64]], "output_dtypes": ["BFloat16"], "state": state, "time_discovered_started_ns": 0,
            "time_discovered_completed_ns": START + record * 10**6 + 500000 if state == "completed" else 0,
            "retired": state == "completed" if retired is None else retired, "timeout_ms": 600000, "is_p2p": is_p2p}


def dump(entries, config, status):
    return {"version": "2.10", "comm_lib_version": "2.27.3",
            "pg_config": {name: {"name": name, "desc": desc, "ranks": str(ranks)} for name, desc, ranks in config},
            "pg_status": {str(i): {"last_enqueued_collective": e, "last_started_collective": -1,
                                   "last_completed_collective": c} for i, e, c in status},
            "entries": entries}


def write(case, rank, tree, form="pickle", cut=False):
    folder = os.path.join(HERE, case)
    os.makedirs(folder, exist_ok=True)
    if form == "json":
        tree["pg_status"] = {i: {k: str(v) for k, v in s.items()} for i, s in tree["pg_status"].items()}
        data = (json.dumps(tree) + "\n").encode()
        path = os.path.join(folder, "nccl_trace_rank_%d.json" % rank)
    else:
        data = pickle.dumps(tree, protocol=2)
        path = os.path.join(folder, "nccl_trace_rank_%d" % rank)
    with open(path, "wb") as out:
        out.write(data[: len(data) // 2] if cut else data)


def device_stopped():
    for r in range(4):
        world = (0, "0", "default_pg")
        pair = (1, "1" if r < 2 else "2", "TENSOR_MODEL_PARALLEL_GROUP")
        entries = [entry(0, world, 1, "all_reduce", at=r), entry(1, pair, 1, "_all_gather_base", at=r),
                   entry(2, pair, 2, "_reduce_scatter_base", at=r), entry(3, world, 2, "all_reduce", at=r),
                   entry(4, pair, 3, "_all_gather_base", at=r)]
        for i, op in enumerate(("_all_gather_base", "_reduce_scatter_base", "all_reduce")):
            entries.append(entry(5 + i, pair, 4 + i, op, "scheduled" if r == 2 else "completed", at=r))
        if r != 2:
            entries.append(entry(8, world, 3, "all_reduce", "scheduled", at=r))
        write("device_stopped", r, dump(
            entries, [("0", "default_pg", [0, 1, 2, 3]), (pair[1], pair[2], [0, 1] if r < 2 else [2, 3])],
            [(0, 2 if r == 2 else 3, 2), (1, 6, 3 if r == 2 else 6)]), "json")


def pipeline():
    stages = (1, "5", "PIPELINE_MODEL_PARALLEL_GROUP")
    own = {0: [entry(3, stages, 0, "send 0->1", "scheduled", p2p=4, op_id=4, is_p2p=True)], 1: [],
           2: [entry(6, stages, 0, "recv 2<-1", "scheduled", p2p=7, op_id=7, is_p2p=True)],
           3: [entry(3, stages, 0, "recv 3<-2", "scheduled", p2p=4, op_id=4, is_p2p=True)]}
    counts = {0: (4, 3), 1: (6, 6), 2: (7, 6), 3: (4, 3)}
    for r in range(4):
        config = [("0", "default_pg", [0, 1, 2, 3]), ("5", stages[2], [0, 1, 2, 3])]
        write("pipeline", r, dump(own[r], config, [(1, *counts[r])]))


def torchcomms():
    for r in range(4):
        entries = []
        for i in range(4):
            for group in [(1, "main_comm", "nccl")] + ([(2, "pair", "nccl")] if r < 2 and i < 3 else []):
                if (r, i) == (3, 3):
                    continue
                n = len(entries)
                entries.append(entry(n, group, n, "all_reduce", "scheduled" if i == 3 else "completed", at=r))
        config = [("main_comm", "nccl", [0, 1, 2, 3])] + ([("pair", "nccl", [0, 1])] if r < 2 else [])
        write("torchcomms", r, dump(entries, config, []))


def timed_out():
    world = (0, "0", "default_pg")
    for r in range(4):
        last = 5 if r == 3 else 6
        entries = [entry(i, world, i + 1, "all_reduce", "scheduled" if i == 5 else "completed", True, at=r)
                   for i in range(last)]
        write("timed_out", r, dump(entries, [("0", "default_pg", [0, 1, 2, 3])], [(0, last, 5)]), cut=r == 3)


for make in (device_stopped, pipeline, torchcomms, timed_out):
    make()
