#!/usr/bin/env python3
"""Write the nights of this folder: small traces of one training loop on fourteen nights.

    samples/nightly/make.py

Each has eight steps of three operators, each with one kernel. Steps differ by 1 %, nights do not. From night 11 on the
kernel of aten::addmm takes 12 % longer, and on night 14 it is as before. Night 6 has one step that waited for something.
"""
import gzip
import json
import os
import random

OPERATORS = [("aten::embedding", "indexSelectLargeIndex", 120.0), ("aten::addmm", "sm90_xmma_gemm_bf16", 900.0),
             ("aten::softmax", "softmax_warp_forward", 260.0)]
BASE_NS = 1793502000 * 10**9  # 2026-11-01 03:00:00 UTC


def night(number):
    rng = random.Random(number)
    events, at, correlation = [], 100.0, 1

    def add(category, name, start, duration, tid, **args):
        event = {"ph": "X", "cat": category, "name": name, "pid": 0 if category == "kernel" else 9, "tid": tid,
                 "ts": round(start, 3), "dur": round(duration, 3)}
        if args:
            event["args"] = args
        events.append(event)

    for step in range(8):
        begin = at
        at += 20
        for operator, kernel, duration in OPERATORS:
            duration *= rng.gauss(1, 0.01)
            if operator == "aten::addmm" and 11 <= number <= 13:
                duration *= 1.12
            host = 30 * rng.gauss(1, 0.01)
            add("cpu_op", operator, at, host, 9, **{"External id": correlation})
            add("cuda_runtime", "cudaLaunchKernel", at + 5, 8, 9, **{"External id": correlation, "correlation": correlation})
            add("kernel", kernel, at + 15, duration, 7, device=0, stream=7, correlation=correlation,
                **{"External id": correlation})
            at += duration + 15
            correlation += 1
        if number == 6 and step == 3:
            at += 2000
        add("user_annotation", f"ProfilerStep#{step}", begin, at + 10 - begin, 9)
        at += 15
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3",
                                                      "totalGlobalMem": 84942979072, "computeMajor": 9, "computeMinor": 0}],
            "pytorch_version": "2.9.0", "cuda_runtime_version": 12080, "cuda_driver_version": 12080,
            "host_name": "node1", "baseTimeNanoseconds": BASE_NS + (number - 1) * 86400 * 10**9, "traceEvents": events}


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    for number in range(1, 15):
        text = json.dumps(night(number), separators=(",", ":")).encode()
        with open(os.path.join(folder, f"night-{number:02}.json.gz"), "wb") as file:
            file.write(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
