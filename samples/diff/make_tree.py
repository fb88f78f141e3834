#!/usr/bin/env python3
"""Write tree_before.json and tree_after.json: six steps of a model whose calls were changed.

    before  forward[linear[addmm[gemm]] mm[gemm_a] mul[mul_k] add[add_k] sum[reduce_k]]
    after   forward[dropout[dropout_k] linear[addmm[gemm]] proj[mm[gemm_a]] triton_poi_fused_add_mul_0[triton_poi_fused_add_mul_0]
                    sum[reduce_v2_k]]

New is dropout; gemm takes 36 us instead of 20; mm is called by proj; mul and add became one kernel; sum has another one.
"""
import json
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
BEFORE = ("forward", [("aten::linear", [("aten::addmm", [("gemm", 20)])]), ("aten::mm", [("gemm_a", 40)]), ("aten::mul", [("mul_k", 8)]),
                      ("aten::add", [("add_k", 8)]), ("aten::sum", [("reduce_k", 6)])])
AFTER = ("forward", [("aten::dropout", [("dropout_k", 3)]), ("aten::linear", [("aten::addmm", [("gemm", 36)])]), ("proj", [("aten::mm", [("gemm_a", 40)])]),
                     ("triton_poi_fused_add_mul_0", [("triton_poi_fused_add_mul_0", 9)]), ("aten::sum", [("reduce_v2_k", 4)])])


class Writer:
    def __init__(self):
        self.events, self.now, self.device, self.correlation = [], 0, 0, 0

    def event(self, category, name, start, dur, tid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if "stream" in args else 1, "tid": tid, "ts": start, "dur": dur, "args": args})

    def call(self, name, inner):
        start = self.now
        self.now += 2
        if isinstance(inner, int):
            self.correlation += 1
            self.device = max(self.device, self.now)
            self.event("cuda_runtime", "cudaLaunchKernel", start, 3, correlation=self.correlation)
            self.event("kernel", name, self.device, inner, 7, correlation=self.correlation, device=0, stream=7)
            self.device += inner
            self.now = start + 4
            return
        for child in inner:
            self.call(*child)
        self.now += 2
        self.event("cpu_op", name, start, self.now - start)

    def step(self, number, tree):
        start = self.now
        self.call(*tree)
        self.now = max(self.now, self.device) + 2
        self.event("user_annotation", f"ProfilerStep#{number}", start, self.now - start)


for side, tree in (("before", BEFORE), ("after", AFTER)):
    writer = Writer()
    for number in range(6):
        writer.step(number, tree)
    with open(os.path.join(FOLDER, f"tree_{side}.json"), "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(e) for e in writer.events)
        file.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [\n' + lines + "\n]}\n")
