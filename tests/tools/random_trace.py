#!/usr/bin/env python3
"""A random, well-formed Kineto trace: what no profiler would write, but what the format allows.

    random_trace.py SEED [-o FILE.json]

For differential tests: whatever `tpa top` says of it must equal reference_top.py. The seed also draws
the age of the layout, the form of times, and which oddities occur: intervals that overlap or only
touch, events without length, equal names in chains, regions open at the end, threads, streams, launches
without GPU work and the other way round, graphs, ids that look alike, memory records anywhere, missing
arguments, events in any order. Left out are names that Kineto itself would change.
"""

import argparse
import json
import random
import random_models
import sys

AGES = ["2021", "2022", "2024", "2025"]
OPERATORS = ["aten::add", "aten::mul", "aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::conv2d", "aten::copy_", "aten::empty",
             "aten::linear", "c10d::allreduce_", "autograd::engine::evaluate_function: MmBackward0", "aten::_version", "aten::is_leaf",
             "profiler::_record_function_enter_new", "my op", "x", "name with, comma; <tag> & 'tick'", "n" * 80, "Ünïcödé λ"]
ANNOTATIONS = ["forward", "## backward ##", "nccl:all_reduce", "gloo:broadcast", "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3",
               "Optimizer.step#SGD.step", "aten::mm", "a", "[memory]", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"]
CALLS = ["cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaEventQuery", "cudaGraphLaunch", "hipLaunchKernel", "cudaMalloc", "cudaMemcpy",
         "cudaDeviceSynchronize", "cudaHostAlloc", "cudaFree"]
KERNELS = ["gemm_kernel", "void relu<float>(float*, int)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "triton_poi_fused_0", "k",
           "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "volta_sgemm_128x64_nn"]
COPIES = ["Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)", "Memcpy DtoD (Device -> Device)"]
FRAMES = ["train.py(10): step", "nn.Module: Linear_0", "torch/nn/modules/module.py(1501): _call_impl", "<built-in method item of Tensor object at 0x7f00>",
          "train.py(20): loss", "nn.Module: Linear_1", "nn.Module: Sequential_0", "nn.Module: MLP", "functools.py(45): wrapper"]


class Maker:
    def __init__(self, seed, deep=False):
        """DEEP: a queue becomes as deep as CUDA lets it, and there is little else."""
        self.random = random.Random(seed)
        self.loses = seed % 3 == 0  # calls without their work: how long devices idled is then not known
        self.models = random_models.Models(random.Random(seed))
        chance = self.random.random
        self.age = self.random.choice(AGES)
        self.whole_us = self.age in ("2021", "2022") or chance() < 0.1
        self.relative = self.age == "2025" or chance() < 0.3
        self.origin = self.random.choice([0, 5_000_000, 1_661_203_462_000_000_000, 4_458_676_388_068_751])
        self.scale = self.random.choice([20, 300, 5000, 200_000])  # ns between neighbouring moments
        if self.whole_us:
            self.scale = max(self.scale, 1000) * 3
            self.origin -= self.origin % 1000
        self.pid = self.random.randint(2, 5_000_000)
        self.threads = [self.pid] + [self.pid + self.random.randint(1, 50) * (n + 1) for n in range(self.random.choice([0, 0, 1, 3]))]
        if len(self.threads) > 2 and chance() < 0.5:
            self.threads[1] = -1_029_147_072  # Kineto wrote some ids of threads as negative 32-bit numbers
        self.has_gpu = chance() < 0.8
        self.shapes, self.stacks, self.memory = chance() < 0.5, chance() < 0.3, chance() < 0.5
        self.with_flops = chance() < 0.5
        self.sequences = chance() < 0.5  # do operators tell which of them is whose backward pass?
        self.odd = chance() < 0.5  # missing arguments, overlaps, all that
        self.orderly = chance() < 0.4  # do steps follow each other, and devices keep up with them?
        self.next_id = self.random.choice([1, 1, 500, (1 << 40) - 7])
        self.next_correlation = self.random.choice([1, 3, 900, 100_000, 1 << 33])  # small ones look like operators' ids
        self.next_python = 1
        self.deep = deep
        self.has_gpu |= deep
        self.events, self.operators, self.annotations = [], [], []
        self.calls = []
        self.end = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def moment(self, ns):
        return ns - ns % 1000 if self.whole_us else ns

    def add(self, cat, name, tid, start, end, args, pid=None):
        start, end = self.moment(start), self.moment(max(start, end))
        event = {"ph": "X", "cat": cat, "name": name, "pid": self.pid if pid is None else pid, "tid": tid, "start": start, "dur": end - start, "args": args}
        self.events.append(event)
        self.end = max(self.end, end)
        return event

    # -- host

    def host_thread(self, tid, count):
        """A random tree of intervals; children touch, overlap or straddle now and then."""
        at = self.random.randint(0, 10) * self.scale
        while count > 0:
            length = self.random.randint(1, 60) * self.scale
            count -= self.host_event(tid, at, at + length, 0, min(count, self.random.randint(1, 40)))
            at += length + self.pick(0, 1, self.scale)
            if self.odd and self.random.random() < 0.15:
                at -= length // 3  # the next one straddles the end of this one

    def host_event(self, tid, start, end, depth, budget, name=None):
        kind = self.random.random()
        if kind < 0.62:
            event = self.operator(tid, start, end, name)
        elif kind < 0.75:
            event = self.annotation(tid, start, end)
        elif kind < 0.85 and self.stacks:
            event = self.frame(tid, start, end)
        elif self.has_gpu:
            self.call(tid, start, end)
            return 1
        else:
            event = self.operator(tid, start, end, name)
        used = 1
        at = start + self.pick(0, 0, 1, self.scale)
        while used < budget and at <= end and depth < 40:
            room = end - at
            stop = self.pick(end, at, at + room // 2, at + self.random.randint(0, max(0, room)), at + room // 3)
            if self.odd and self.random.random() < 0.04:
                stop = end + self.scale  # a child that outlives its parent
            chain = event["name"] if self.random.random() < 0.2 and event["cat"] == "cpu_op" else None
            used += self.host_event(tid, at, stop, depth + 1, budget - used, chain)
            at = stop + self.pick(0, 0, 1, self.scale)
            if self.odd and self.random.random() < 0.05:
                at -= self.scale
        return used

    def operator(self, tid, start, end, name=None):
        drawn = name or self.pick(*OPERATORS)
        args = {}
        if not (self.odd and self.random.random() < 0.03):
            args["external id" if self.age == "2021" else "External id"] = self.next_id
            self.next_id += 1
        if self.shapes and self.random.random() < 0.9:
            args.update(self.arguments(drawn))
            if not name and self.models.random.random() < 0.5:
                drawn, modelled = self.models.call()
                args.update(modelled)
        if self.sequences and self.random.random() < 0.7:
            args.update(self.sequence(tid))
        event = self.add("Operator" if self.age == "2021" else "cpu_op", drawn, tid, start, end, args)
        event["id"] = args.get("External id", args.get("external id", 0))
        self.operators.append(event)
        return event

    def sequence(self, tid):
        """Forward passes count their operators on each thread; torch has numbers of its own for threads."""
        number = self.threads.index(tid)
        if self.random.random() < 0.6:
            return {"Fwd thread id": 0, "Sequence number": number * 7 + self.random.randint(0, 20)}
        number = self.random.randrange(len(self.threads))
        return {"Fwd thread id": number + 1, "Sequence number": number * 7 + self.random.randint(0, 25)}

    def arguments(self, name):
        n = lambda: self.pick(0, 1, 2, 3, 7, 16)
        if name in ("aten::mm", "aten::bmm"):
            batch = [n()] if name == "aten::bmm" else []
            a, b, c = n(), n(), n()
            return {"Input Dims": [batch + [a, b], batch + [b, c]], "Concrete Inputs": ["", ""]}
        if name in ("aten::addmm", "aten::baddbmm"):
            batch = [n()] if name == "aten::baddbmm" else []
            a, b, c = n(), n(), n()
            return {"Input Dims": [[c], batch + [a, b], batch + [b, c], [], []], "Concrete Inputs": ["", "", "", "1", "1"]}
        if name == "aten::conv2d":
            groups = self.pick(1, 2)
            args = {"Input Dims": [[2, 4, 9, self.pick(8, 9)], [4, 4 // groups, 3, self.pick(1, 3)], [4], [], [], [], []],
                    "Concrete Inputs": ["", "", "", self.pick("[1, 1]", "[2, 1]"), self.pick("[0, 0]", "[1, 2]"), self.pick("[1, 1]", "[2, 2]"), str(groups)]}
            if self.random.random() < 0.2:
                del args["Concrete Inputs"]
            return args
        shape = [n() for _ in range(self.random.randint(0, 3))]
        if self.random.random() < 0.1:
            return {"Input Dims": [[shape, shape], shape, []]}  # a list of tensors
        return {"Input Dims": [shape, shape, []][: self.random.randint(1, 3)]}

    def annotation(self, tid, start, end):
        args = {"External id": self.next_id}
        self.next_id += 1
        name = self.pick(*ANNOTATIONS)
        if name == "[memory]" and self.random.random() < 0.8 or self.orderly and name.startswith("ProfilerStep#"):
            name = "a"
        event = self.add("user_annotation", name, tid, start, end, args)
        self.annotations.append(event)
        return event

    def steps(self):
        """On the main thread, one after another."""
        edges = sorted(self.random.randint(0, self.end) for _ in range(self.pick(2, 4, 8)))
        for number, (start, end) in enumerate(zip(edges, edges[1:])):
            end -= self.pick(0, 0, min(end - start, self.scale))
            self.annotations.append(self.add("user_annotation", f"ProfilerStep#{number + 8}", self.pid, start, end, {"External id": self.next_id}))
            self.next_id += 1

    def frame(self, tid, start, end):
        if self.random.random() < 0.1:
            return self.add("python_function", "Python GC", tid, start, end, {"Ev Idx": 5})
        args = {"Python id": self.next_python, "Python parent id": self.pick(None, self.next_python - 1)}
        self.next_python += 1
        return self.add("python_function", self.pick(*FRAMES), tid, start, end, args)

    # -- GPU

    def call(self, tid, start, end):
        correlation = self.next_correlation
        self.next_correlation += self.random.randint(1, 3)
        driver = self.random.random() < 0.15
        category = "Runtime" if self.age == "2021" else "cuda_driver" if driver else "cuda_runtime"
        call = self.add(category, "cuLaunchKernelEx" if driver else self.pick(*CALLS), tid, start, end, {"correlation": correlation, "cbid": 211})
        call["owner"] = self.owner(call)
        self.calls.append(call)

    def owner(self, call):
        """An operator for a launch to belong to: mostly one around it, sometimes any, sometimes one that was not recorded."""
        around = [o for o in self.operators if o["tid"] == call["tid"] and o["start"] <= call["start"] <= o["start"] + o["dur"] and o["id"]]
        if self.random.random() < 0.1:
            return 0
        if self.operators and self.random.random() < 0.05:
            return self.pick(*self.operators)["id"]
        if self.odd and self.random.random() < 0.03:
            return 7_777_777
        return around[-1]["id"] if around else 0

    def external_id(self, args, owner):
        correlation = args["correlation"]
        if self.age == "2022":
            args["External id"] = correlation
        elif self.age == "2021":
            args["external id"] = owner
        elif owner:
            args["External id"] = owner
        elif self.age == "2024":
            args["External id"] = correlation

    def gpu_work(self):
        streams = [(d, s) for d in range(self.pick(1, 1, 2)) for s in self.pick([7], [7, 20], [0, 7, 40])]
        free = {}
        for call in self.calls:
            self.external_id(call["args"], call["owner"])
            graph = {"graph id": self.pick(5, 6)} if call["name"] == "cudaGraphLaunch" and self.random.random() < 0.7 else {}
            many = 12 if graph or self.random.random() < 0.1 else 1
            for _ in range(self.pick(0 if self.loses else 1, 1, 1, 1, many)):
                self.work(self.pick(*streams), call["start"] + self.random.randint(0, 20) * self.scale, call["args"]["correlation"], call["owner"], free, graph)
        for _ in range(self.pick(0, 0, 5)):  # launched before recording began
            self.work(self.pick(*streams), self.random.randint(0, 5) * self.scale, self.next_correlation, 0, free)
            self.next_correlation += 1
        if self.age in ("2024", "2025") and self.random.random() < 0.5:
            self.synchronisations(streams)
        if self.deep:
            self.deep_queue()

    def deep_queue(self):
        """Launches into one stream that is kept from working until there are about as many as it can hold."""
        count, at, tick = self.pick(1000, 1023, 1024, 1025, 1200), self.end, 1000 if self.whole_us else 1
        free = at + self.pick(count // 2, 2 * count, 2 * count) * tick
        for _ in range(count):
            args = {"device": 0, "stream": 7, "correlation": self.next_correlation, **self.launch_shape()}
            self.next_correlation += 1
            self.add("Runtime" if self.age == "2021" else "cuda_runtime", "cudaLaunchKernel", self.pid, at, at + self.pick(0, tick), {"correlation": args["correlation"]})
            at += self.pick(1, 1, 2) * tick
            end = max(free, at) + self.pick(1, 2, 3) * tick
            self.add("Kernel" if self.age == "2021" else "kernel", "k", 7, end - tick, end, args, pid=0)
            free = end + self.pick(0, 0, tick)

    def synchronisations(self, streams):
        """What the profiler records of calls that wait: on which stream; now and then on several."""
        for call in self.calls:
            for _ in range(self.pick(0, 1, 1, 2) if "Synchronize" in call["name"] else 0):
                device, stream = self.pick(*streams)
                self.add("cuda_sync", "Stream Sync", stream, call["start"], call["start"] + call["dur"],
                         {"device": device, "stream": stream, "correlation": call["args"]["correlation"], "context": 1}, pid=device)

    def work(self, queue, at, correlation, owner, free, graph={}):
        kind = self.random.random()
        if self.random.random() < 0.85:
            at = max(at, free.get(queue, 0))  # a stream does one thing after another; files do not always agree
        end = at + self.random.randint(0, 2 if self.orderly else 30) * self.scale
        free[queue] = end + self.pick(0, 1, self.scale)
        args = {"device": queue[0], "stream": queue[1], "correlation": correlation, "context": 1, **graph}
        old = self.age == "2021"
        if kind < 0.7:
            category, name = "Kernel" if old else "kernel", self.pick(*KERNELS)
            args.update(self.launch_shape())
        elif kind < 0.85:
            category, name = "Memcpy" if old else "gpu_memcpy", self.pick(*COPIES)
            if not (self.odd and self.random.random() < 0.1):
                args["bytes"] = self.random.randint(1, 1 << 40)
        elif kind < 0.93 or old:
            category, name = "Memset" if old else "gpu_memset", "Memset (Device)"
        else:
            category, name = "cuda_sync", self.pick("Stream Sync", "Context Sync", "Stream Wait Event")
        self.external_id(args, owner)
        if self.odd and self.random.random() < 0.03:
            args.pop("External id", None)
        self.add(category, name, queue[1], at, end, args, pid=queue[0])

    def launch_shape(self):
        """How a kernel was launched, and what the profiler worked out from that; odd files lack some of it."""
        args = {"grid": [self.pick(1, 64), self.pick(1, 1, 1, 65535), 1], "block": [self.pick(128, 1024), 1, self.pick(1, 1, 4)],
                "registers per thread": self.pick(32, 32, 255), "shared memory": self.pick(0, 0, 49_152),
                "blocks per SM": self.pick(2, 0.5, 0.037037, 0.296296), "est. achieved occupancy %": self.pick(0, 3, 31, 100)}
        if self.odd and self.random.random() < 0.1:
            for key in self.random.sample(list(args), self.pick(1, 1, 2, len(args))):
                del args[key]
        return args

    def gpu_annotations(self):
        """On a stream, from the start of one piece of work to the end of another, a little widened."""
        work = [e for e in self.events if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
        for annotation in self.annotations:
            if work and self.age in ("2024", "2025") and not self.whole_us and self.random.random() < 0.4:
                first, last = self.pick(*work), self.pick(*work)
                if (first["pid"], first["tid"]) != (last["pid"], last["tid"]) or last["start"] < first["start"]:
                    continue
                self.add("gpu_user_annotation", annotation["name"], first["tid"], first["start"], last["start"] + last["dur"],
                         dict(annotation["args"]), pid=first["pid"])

    # -- the rest

    def memory_records(self):
        """Of any size, anywhere; or what allocators do, with all that a recording may lack: blocks from before it, frees."""
        if self.random.random() < 0.6:
            self.allocators()
            return
        moments = [e["start"] for e in self.events] + [e["start"] + e["dur"] for e in self.events]
        for _ in range(self.random.randint(0, 80)):
            at = self.pick(*moments) + self.pick(0, 0, 1, -1, self.scale) if moments else 0
            at = max(0, self.moment(at))
            name = "[OutOfMemory]" if self.random.random() < 0.02 else "[memory]"
            args = {"Device Type": self.pick(0, 0, 1, 1, 1, 20, 9), "Device Id": self.pick(-1, 0, 1), "Addr": self.random.randint(1, 1 << 47),
                    "Bytes": self.random.randint(-100_000, 100_000) * 512, "Total Allocated": self.random.randint(0, 1 << 36), "Total Reserved": 0}
            self.memory_record(name, at, self.pick(*self.threads), args)

    def memory_record(self, name, at, tid, args):
        event = {"ph": "i", "s": "t", "name": name, "pid": self.pid, "tid": tid, "start": at, "args": args}
        if self.age != "2021":
            event["cat"] = "cpu_instant_event"
        if self.age == "2025":
            args["finished"] = False
        self.events.append(event)

    def allocators(self):
        """Blocks of three memories; no two records at one moment, whose order the file does not tell."""
        tick = 1000 if self.whole_us else 1
        moments = sorted({self.moment(self.pick(e["start"], e["start"] + e["dur"]) + self.pick(0, 0, tick, self.scale))
                          for e in self.events for _ in range(self.pick(0, 1, 1)) if "dur" in e})
        moments = moments[: self.pick(20, 80)]
        tells_totals = self.age != "2021" or self.random.random() < 0.4
        tells_addresses = tells_totals or self.random.random() < 0.4
        memories = [{"device": device, "blocks": {}, "used": self.pick(0, 40_960, 1 << 33), "reserved": 1 << 34} for device in ((0, -1), (1, 0), (1, 1))]
        for at in moments:
            memory = self.pick(*memories)
            blocks, address, draw = memory["blocks"], 4096 * self.random.randint(1, 40), self.random.random()
            if draw < 0.05:  # of a block from before recording
                size = -512 * self.random.randint(1, 9)
                size = -blocks.pop(address) if address in blocks else size
            elif draw < 0.45 and blocks:
                address = self.pick(*blocks)
                size = -blocks.pop(address)
            elif address not in blocks or draw > 0.97:  # or its free was lost
                size = blocks[address] = 512 * self.random.randint(1, 9)
            else:
                continue
            memory["used"] = max(0, memory["used"] + size)
            memory["reserved"] = max(memory["used"], memory["reserved"] + self.pick(0, 0, 4096, -4096))
            args = {"Device Type": memory["device"][0], "Device Id": memory["device"][1], "Bytes": size}
            if tells_addresses:
                args["Addr"] = address
            if tells_totals:
                args["Total Allocated"] = memory["used"]
                args["Total Reserved"] = memory["reserved"] if memory["device"][0] else 0
            self.memory_record("[memory]", at, self.pick(*self.threads), args)

    def overhead(self):
        for _ in range(self.pick(0, 0, 2)):
            at = self.random.randint(0, 50) * self.scale
            self.add("overhead", self.pick("Activity Buffer Request", "Lazy Function Loading"), 0, at, at + 3 * self.scale, {}, pid=-1)

    def others(self):
        """Events that no row is made of."""
        yield {"ph": "M", "name": "process_name", "pid": self.pid, "tid": 0, "start": 0, "args": {"name": "python3"}}
        for tid in self.threads:
            yield {"ph": "M", "name": "thread_name", "pid": self.pid, "tid": tid, "start": 0, "args": {"name": f"thread {tid}"}}
        for number, event in enumerate(self.random.sample(self.events, min(len(self.events), 6))):
            for phase in "sf":
                yield {"ph": phase, "id": number, "cat": "fwdbwd", "name": "fwdbwd", "pid": event["pid"], "tid": event["tid"], "start": event["start"],
                       **({"bp": "e"} if phase == "f" else {})}

    def times(self, event, base):
        """Where the file shows times: us, whole or with three decimals; odd files know other ways to write the same."""
        shown = {}
        for key, ns in (("ts", event["start"] + self.origin - base), ("dur", event.get("dur"))):
            if ns is None:
                continue
            text = str(ns // 1000) if self.whole_us else "%s%d.%03d" % ("-" if ns < 0 else "", *divmod(abs(ns), 1000))
            if self.odd and self.random.random() < 0.05:
                text = self.pick(f'"{text}"', f"{text}e0", f"{text}E+00", "%de-3" % ns, text + ("000" if "." in text else ".0"))
            shown[key] = text
        return shown

    def document(self):
        for tid in self.threads:
            self.host_thread(tid, self.random.choice([0, 5] if self.deep else [0, 5, 60, 250]))
        if self.orderly:
            self.steps()
        if self.has_gpu:
            self.gpu_work()
            self.gpu_annotations()
        self.overhead()
        if self.memory:
            self.memory_records()
        stop = self.end + self.scale
        if self.age in ("2024", "2025"):
            for event in self.random.sample(self.annotations, min(len(self.annotations), self.pick(0, 0, 2))):
                event["dur"] = stop + 1000 - event["start"]  # stretched to the end of the window
                if self.age == "2025":
                    event["args"]["finished"] = False
        others = list(self.others())
        others.append({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "start": 0, "dur": stop,
                       "args": {"Op count": 0}})
        others.append({"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", "tid": "Trace PyTorch Profiler", "start": 0})
        others.append({"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "start": stop + 5000})
        events = self.events + others
        if self.random.random() < 0.6:
            self.random.shuffle(events)
        base = self.origin - self.origin % 1_000_000_000 if self.relative else 0
        top = {"schemaVersion": 1, "deviceProperties": []}
        for flag, on in (("record_shapes", self.shapes), ("profile_memory", self.memory), ("with_stack", self.stacks), ("with_flops", self.with_flops)):
            if on and self.age != "2021":
                top[flag] = 1
        if self.relative:
            top["baseTimeNanoseconds"] = base
        lines = []
        for event in events:
            parts = [f'"{k}": {json.dumps(v)}' for k, v in event.items() if k in ("ph", "cat", "name", "pid", "tid", "s", "id", "bp") and not (k == "id" and event["ph"] == "X")]
            parts += [f'"{k}": {v}' for k, v in self.times(event, base).items()]
            if event.get("args") or self.random.random() < 0.5:
                parts.append('"args": ' + json.dumps(event.get("args", {})))
            if self.odd:
                self.random.shuffle(parts)
            lines.append("{" + ", ".join(parts) + "}")
        head = ", ".join(f'"{k}": {json.dumps(v)}' for k, v in top.items())
        return "{%s,\n\"traceEvents\": [\n%s\n], \"traceName\": \"random.json\"}\n" % (head, ",\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description="a random Kineto trace")
    parser.add_argument("seed", type=int)
    parser.add_argument("-o", "--output")
    args = parser.parse_args()
    with open(args.output, "w", encoding="utf-8") if args.output else sys.stdout as out:
        out.write(Maker(args.seed).document())


if __name__ == "__main__":
    main()
