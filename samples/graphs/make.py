#!/usr/bin/env python3
"""Write capture.json, eager.json, capture_without_names.json and replay.json: a small model that is captured as a graph and replayed.

    Model > Linear_0: aten::addmm[gemm], aten::relu[elementwise]; Linear_1: aten::addmm[gemm], aten::relu[elementwise]
    then aten::copy_[copy] and aten::fill_[memset]

capture.json is what the profiler saw while the graph was captured: calls, whose kernels are named by the calls alone, as on
ROCm. In capture_without_names.json they are not, as on CUDA. eager.json is the same model in a run without graphs, with one step and a
launch more. replay.json launches the graph twice; in the second the copy runs on a stream of its own. One of its kernels was not captured.
"""
import json
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
LINEAR = [[32], [16, 8], [8, 32]]
BODY = [("Linear_0", "aten::addmm", LINEAR, "gemm", 20), ("Linear_0", "aten::relu", [[16, 32]], "elementwise", 5), ("Linear_1", "aten::addmm", LINEAR, "gemm", 21),
        ("Linear_1", "aten::relu", [[16, 32]], "elementwise", 6), (None, "aten::copy_", [[16, 32], [16, 32]], "copy", 3), (None, "aten::fill_", [[16]], "memset", 2)]
CALLS = {"copy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync"}
WORKS = {"copy": ("gpu_memcpy", "Memcpy DtoD (Device -> Device)"), "memset": ("gpu_memset", "Memset (Device)")}


class Writer:
    def __init__(self):
        self.events, self.now, self.correlation = [], 0, 0

    def add(self, category, name, start, dur, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur, "args": args})

    def work(self, name, start, dur, correlation, stream=7, **args):
        category, text = WORKS.get(name, ("kernel", name))
        self.add(category, text, start, dur, 0, stream, correlation=correlation, device=0, stream=stream, **args)

    def call(self, name, dur=3, **args):
        self.correlation += 1
        self.add("cuda_runtime", name, self.now, dur, correlation=self.correlation, **args)
        self.now += dur + 1

    def model(self, names, works):
        start, at_module = self.now, None
        module_start = 0
        self.now += 1
        for module, operator, dims, launched, dur in BODY + [(None, "aten::sum", [[16]], "reduce", 4)] * works:
            if module != at_module:
                if at_module:
                    self.add("python_function", f"nn.Module: {at_module}", module_start, self.now - module_start)
                self.now += 1
                at_module, module_start = module, self.now
                self.now += 1
            begin = self.now
            self.now += 2
            name = {"kernel": launched} if names and launched not in CALLS else {}
            if launched not in CALLS:
                self.call("cudaPointerGetAttributes", 1)
            self.call(CALLS.get(launched, "cudaLaunchKernel"), **name)
            if works:
                self.work(launched, 1000 + self.now, dur, self.correlation)
            self.add("cpu_op", operator, begin, self.now - begin, **{"Input Dims": dims, "Input type": ["float"] * len(dims)})
            self.now += 1
        self.now += 1
        self.add("python_function", "nn.Module: Model_0", start, self.now - start)

    def write(self, name):
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
            lines = ",\n".join(json.dumps(e) for e in self.events)
            file.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [\n' + lines + "\n]}\n")


for name, names in (("capture.json", True), ("capture_without_names.json", False)):
    capture = Writer()
    capture.call("cudaStreamBeginCapture")
    capture.model(names, False)
    capture.call("cudaStreamEndCapture")
    capture.write(name)

eager = Writer()
eager.model(False, True)
eager.add("user_annotation", "ProfilerStep#1", 0, eager.now + 1)
eager.write("eager.json")

replay = Writer()
for second in (False, True):
    begin, start = replay.now, replay.now + 100
    replay.now += 10
    replay.call("cudaGraphLaunch")
    for _, _, _, launched, dur in BODY[:2] + ([] if second else [(None, None, None, "not_captured", 9)]) + BODY[2:]:
        replay.work(launched, start, dur + second, replay.correlation, 20 if second and launched == "copy" else 7, **{"graph id": 3 + second})
        start += dur + second + 1
    replay.now = start + 10
    replay.add("user_annotation", f"ProfilerStep#{int(second)}", begin, replay.now - begin - 1)
replay.write("replay.json")
