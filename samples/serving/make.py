#!/usr/bin/env python3
"""Draw vllm.json: 24 steps of a serving engine as vLLM annotates them, on one GPU; nothing was recorded.

    make.py > vllm.json

Two prefills, decode steps of 4 and of 8 requests as one graph each, one step that does both. Decode step 14 is late: before its launch
the host waits for a copy that takes 2 ms.
"""

import json

events, now, correlation = [], 1000, 0


def add(cat, name, pid, tid, ts, dur, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})


def work(at, durations, call, name):
    """CALL at AT launches kernels of these DURATIONS, in a row on stream 7; when the last ends."""
    global correlation
    correlation += 1
    add("cuda_runtime", call, 100, 100, at, 10, correlation=correlation)
    start = max([at + 15] + [e["ts"] + e["dur"] for e in events if e["pid"] == 0])
    for number, duration in enumerate(durations):
        cat = "gpu_memcpy" if call == "cudaMemcpyAsync" else "kernel"
        add(cat, name if cat == "gpu_memcpy" else f"{name}_{number}", 0, 7, start, duration, device=0, stream=7, correlation=correlation)
        start += duration + 1
    return start - 1


for step in range(24):
    if step in (0, 9):
        name, kernels, call = f"execute_context_1({512 + 100 * step})_generation_0(0)", [900 + 100 * step, 400], "cudaLaunchKernelExC"
    elif step == 10:
        name, kernels, call = "execute_context_1(256)_generation_4(4)", [700, 300], "cudaLaunchKernelExC"
    else:
        requests = 4 if step < 12 else 8
        name, kernels, call = f"execute_context_0(0)_generation_{requests}({requests})", [100 + 20 * requests + step, 60, 40], "cudaGraphLaunch"
    begin = now
    now += 30
    if step == 14:
        end = work(now, [2000], "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)")
        add("cuda_runtime", "cudaStreamSynchronize", 100, 100, now + 12, end - now - 10, correlation=0)
        now = end + 5
    end = work(now, kernels, call, "attention" if call == "cudaGraphLaunch" else "flash_fwd_kernel")
    now = end + 20
    add("user_annotation", name, 100, 100, begin, now - begin)
    now += 7

print('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [\n' + ",\n".join(json.dumps(e) for e in events) + "]}")
