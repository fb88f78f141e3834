#!/usr/bin/env python3
"""Traces of a small job: RANKS ranks, each recorded in CYCLES cycles of three steps, written as files under FOLDER.

    tests/tools/make_set.py FOLDER RANKS CYCLES     FOLDER/cycle1/vm_4000.1700000000000000000.pt.trace.json ...

Each step takes 10 ms on all ranks, in ms:

    host     [ ProfilerStep#N                                                             0-10 ]
             [aten::mm 0-0.5] [c10d::allreduce_ 0.6-1] [Optimizer.step 1.2-1.8] [aten::copy_ 2-2.4] [cudaStreamSynchronize 8-8.2]
    stream 7      [mm 0.4 - 3+R+C/10] [all-reduce until 7] [update 7.2-7.7]
    stream 20     [copy of 1 MB 2.1-2.5]

Each aten::mm is of 64 x 64 matrices, lies in nn.Module: Linear_0, and allocates 1000 * (C + 1) bytes that are not freed. R is the number of the rank, so the last one is late; C is the number of the cycle, from 0, so cycles differ. Ids of launches begin
again in each cycle, as the process groups' numbers of collectives do not. Between cycles lies a second.
"""
import json
import os
import sys

STEPS = 3
STEP_US = 10000
BASE_NS = 1700000000000000000


def record(rank, ranks, cycle):
    pid = 4000 + rank
    events = []
    ids = [0]

    def host(name, category, start, end, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": pid, "ts": start,
                       "dur": round(end - start, 3), "args": args})

    def launch(operator, start, end, kernel, kernel_start, kernel_end, call="cudaLaunchKernel", category="kernel", stream=7,
               shapes=None, **args):
        ids[0] += 1
        host(operator, "cpu_op", start, end, **{"External id": ids[0]}, **(shapes or {}))
        host(call, "cuda_runtime", start + 20, start + 40, **{"External id": ids[0], "correlation": ids[0]})
        events.append({"ph": "X", "cat": category, "name": kernel, "pid": 0, "tid": stream, "ts": kernel_start,
                       "dur": round(kernel_end - kernel_start, 3),
                       "args": {"External id": ids[0], "correlation": ids[0], "device": 0, "stream": stream, **args}})

    origin = 1000 + cycle * 1000000
    for i in range(STEPS):
        at = origin + i * STEP_US
        number = 2 + cycle * 5 + i
        host(f"ProfilerStep#{number}", "user_annotation", at, at + STEP_US)
        late = 3000 + 1000 * rank + 100 * cycle
        events.append({"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": pid, "tid": pid, "ts": at,
                       "dur": 500, "args": {"Python id": number, "Python parent id": None, "Python module id": 0}})
        launch("aten::mm", at, at + 500, "gemm", at + 400, at + late,
               shapes={"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]})
        if ranks > 1:
            launch("c10d::allreduce_", at + 600, at + 1000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + late, at + 7000,
                   **{"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float",
                      "Group size": ranks, "Process Group Name": "0", "Process Group Description": "default_pg",
                      "Process Group Ranks": str(list(range(ranks)))})
        events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": pid, "tid": pid, "ts": at + 100,
                       "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096 * (number + 1), "Bytes": 1000 * (cycle + 1),
                                "Total Allocated": 1000 * (cycle + 1) * (i + 1), "Total Reserved": 100000}})
        launch("Optimizer.step#SGD.step", at + 1200, at + 1800, "update", at + 7200, at + 7700)
        launch("aten::copy_", at + 2000, at + 2400, "Memcpy HtoD (Pinned -> Device)", at + 2100, at + 2500,
               call="cudaMemcpyAsync", category="gpu_memcpy", stream=20, bytes=1048576)
        ids[0] += 1
        host("cudaStreamSynchronize", "cuda_runtime", at + 8000, at + 8200, **{"correlation": ids[0]})
    events.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": "python"}})
    events.append({"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}})
    document = {"schemaVersion": 1, "host_name": "vm", "baseTimeNanoseconds": BASE_NS,
                "deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85899345920, "computeMajor": 9,
                                      "computeMinor": 0, "numSms": 132, "warpSize": 32}],
                "traceEvents": events}
    if ranks > 1:
        document["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": ranks, "pg_count": 1,
                                       "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl",
                                                      "ranks": list(range(ranks)), "pg_size": ranks}]}
    return document


def write(folder, ranks, cycles):
    for cycle in range(cycles):
        below = os.path.join(folder, f"cycle{cycle + 1}")
        os.makedirs(below, exist_ok=True)
        for rank in range(ranks):
            name = f"vm_{4000 + rank}.{BASE_NS + cycle * 1000000000 + rank}.pt.trace.json"
            with open(os.path.join(below, name), "w", encoding="utf-8") as out:
                json.dump(record(rank, ranks, cycle), out)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
