#!/usr/bin/env python3
"""Two sides to compare, or the nights of a history: files whose steps do much the same, but not all of them as fast.

    random_sides.py SEED FOLDER     writes FOLDER/before-0.json, after-0.json ...

The seed draws what random_trace.py cannot: how much slower each operator and kernel is on the second side, and how much every step
differs by chance; rows that one side alone has, rarely or always; kernels under another name; from none to twenty steps, some of which
have one number, overlap, or are cut; several files a side, devices, streams, collectives, copies that nothing hides, memory.
"""
import argparse
import json
import os
import random

STEP = "ProfilerStep#%d"
OPERATORS = ["aten::add", "aten::mm", "aten::copy_", "aten::empty", "my op", "forward", "aten::item", "c10d::allreduce_"]
SHAPES = [[[2, 3], [2, 3]], [[7], []], [[16, 16], [16, 16]]]
# Kernels, and what of their names may differ from side to side.
KERNELS = [("gemm_kernel", None), ("relu", None), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", None),
           ("triton_poi_fused_add_%s", ("3", "5", "17")), ("void cutlass::gemm<%s>(int)", ("float, 128", "__half, 64", "double, 8")),
           ("void at::native::reduce<%s, true>(int)", ("Sum<4>", "MaxOp", "std::plus<Tail>"))]
COPIES = ["Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)"]


class Maker:
    """What is the same for all files."""

    def __init__(self, seed, fewest_steps=0):
        self.random = chance = random.Random(seed)
        self.whole_us = chance.random() < 0.3  # then values are often equal, which tests of ranks must heed
        self.noise = chance.choice([0, 0.01, 0.1, 1])
        self.has_gpu, self.has_memory, self.has_shapes = chance.random() < 0.8, chance.random() < 0.6, chance.random() < 0.5
        self.step_count = chance.choice([n for n in (0, 0, 1, 3, 4, 5, 6, 8, 12, 20) if n >= fewest_steps])
        self.devices = chance.choice([1, 1, 2])
        self.odd_steps = chance.random() < 0.3
        self.outliers = chance.choice([0, 0, 0.1])
        self.modules = chance.choice([[None], [None, "Net_0", "Linear_0", "Linear_1"]])
        self.plan = [self.operation() for _ in range(chance.randint(1, 9))]
        self.plan[0]["often"] = 1

    def operation(self):
        """One of those that make a step: its name, how long it takes, what it launches, and what it calls."""
        chance = self.random
        name = chance.choice(OPERATORS)
        works = []
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            kind = chance.random()
            name_of = ("kernel", *chance.choice(KERNELS)) if kind < 0.75 else ("gpu_memcpy", chance.choice(COPIES), None) if kind < 0.9 else ("gpu_memset", "Memset (Device)", None)
            works.append({"what": name_of, "time": chance.randint(1, 60_000), "device": chance.randrange(self.devices), "stream": chance.choice([7, 7, 20])})
        return {"name": name, "time": chance.randint(100, 40_000), "works": works, "calls": self.operation() if chance.random() < 0.3 else None,
                "thread": chance.choice([100, 100, 100, 200]), "often": chance.choice([1, 1, 1, 0.5]), "shape": chance.choice(SHAPES), "memory": chance.randint(-3, 9) * 512, "module": chance.choice(self.modules)}

    def side(self):
        return Side(self)


class Side:
    """How much slower or faster what is, which rows there are, and what kernels are called."""

    def __init__(self, maker):
        chance = maker.random
        self.maker = maker
        names = OPERATORS + [k[0] for k in KERNELS] + COPIES + ["Memset (Device)"]
        self.speed = {name: chance.choice([1, 1, 1, 1.02, 1.3, 0.5]) for name in names}
        self.lacks = {name for name in names if chance.random() < 0.08} - {maker.plan[0]["name"]}  # something is everywhere
        self.variants = {name: chance.choice(variants) for name, variants in KERNELS if variants}
        self.step_count = max(0, maker.step_count + (chance.choice([-1, 0, 0, 0, 2]) if maker.step_count > 1 else 0))

    def slower(self, factor, names):
        for name in names:
            self.speed[name] *= factor

    def file(self, rank=None):
        return File(self, rank).document


class File:
    def __init__(self, side, rank=None):
        self.side, self.maker, self.random = side, side.maker, side.maker.random
        self.events, self.correlation, self.at = [], 0, 10_000 + self.random.randint(0, 10**6)
        self.free, self.used, self.launched = {}, {}, 0
        for number in range(side.step_count):
            self.step(number + 2)
            self.at += self.length(3000)
        if not side.step_count:
            self.operations()
        self.odd()
        chance = self.random
        chance.shuffle(self.events)
        self.document = {"schemaVersion": 1, "traceEvents": self.events}
        if rank is not None:
            self.document["distributedInfo"] = {"rank": rank, "world_size": 2, "backend": "nccl"}
        for key, on in (("record_shapes", self.maker.has_shapes), ("profile_memory", self.maker.has_memory)):
            if on:
                self.document[key] = 1

    def length(self, ns, name=None):
        """Of something that takes NS, give or take the noise."""
        ns = ns * self.side.speed.get(name, 1) * (1 + self.maker.noise * self.random.random())
        return 1000 * max(1, round(ns / 1000)) if self.maker.whole_us else max(1, round(ns))

    def add(self, category, name, thread, start, end, args=None, pid=1):
        if self.maker.whole_us:
            start, end = start - start % 1000, end - end % 1000

        def us(ns):
            return f"{ns // 1000}.{ns % 1000:03}"

        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": us(start), "dur": us(end - start), "args": args or {}})

    def step(self, number):
        start = self.at
        self.at += self.length(500)
        launched = self.launched
        self.operations()
        for operation in self.maker.plan if self.maker.has_gpu else ():
            if self.launched == launched and operation["works"]:  # a step without any would be one that lost them
                self.operator(operation)
        if self.random.random() < self.maker.outliers:
            self.at += 20 * (self.at - start)
        self.add("user_annotation", STEP % number, 100, start, self.at, {"External id": self.new_id()})

    def odd(self):
        """Steps with a number that another has, and steps that overlap: the first counts."""
        steps = [e for e in self.events if e["name"].startswith("ProfilerStep#")]
        if not self.maker.odd_steps or not steps:
            return
        for _ in range(self.random.randint(0, 2)):
            twin = dict(self.random.choice(steps))
            if self.random.random() < 0.5:
                twin["name"] = STEP % self.random.randint(90, 99)  # overlaps it
                twin["ts"] = "%d.000" % (int(twin["ts"].split(".")[0]) + 1)
            else:
                twin["ts"], self.at = "%d.000" % (self.at // 1000), self.at + 10**8  # the same number again, later on
            self.events.append(twin)

    def new_id(self):
        self.correlation += 1
        return self.correlation

    def operations(self):
        for operation in self.maker.plan:
            if self.random.random() < operation["often"] and operation["name"] not in self.side.lacks:
                self.operator(operation)
                self.at += self.length(300)

    def operator(self, operation):
        start, number = self.at, self.new_id()
        thread = operation["thread"]
        self.record(thread, operation["memory"])
        self.at += self.length(operation["time"], operation["name"])
        for work in operation["works"] if self.maker.has_gpu else ():
            self.launch(work, thread, number)
        if operation["calls"]:
            self.operator({**operation["calls"], "thread": thread})
            self.at += self.length(100)
        self.record(thread, -operation["memory"])
        args = {"External id": number}
        if self.maker.has_shapes:
            args["Input Dims"] = operation["shape"]
        self.at += 1000
        self.add("cpu_op" if operation["name"] != "forward" else "user_annotation", operation["name"], thread, start, self.at, args)
        if operation["module"]:  # some of them straddle the next
            self.add("python_function", "nn.Module: " + operation["module"], thread, start, self.at + self.random.choice([0, 0, 0, 2000]), {"Python id": self.new_id()})

    def launch(self, work, thread, operator):
        category, name, variants = work["what"]
        if name in self.side.lacks:
            return
        self.launched += 1
        correlation, start = self.new_id(), self.at
        self.at += self.length(2000)
        self.add("cuda_runtime", "cudaMemcpyAsync" if category == "gpu_memcpy" else "cudaLaunchKernel", thread, start, self.at, {"correlation": correlation, "External id": operator})
        queue = work["device"], work["stream"]
        begin = max(self.free.get(queue, 0), start + self.length(1500))
        end = begin + self.length(work["time"], name)
        self.free[queue] = end
        args = {"device": queue[0], "stream": queue[1], "correlation": correlation, "External id": operator}
        if category != "kernel":
            args["bytes"] = 4096
        self.add(category, name % self.side.variants[name] if variants else name, queue[1], begin, end, args, pid=queue[0])

    def record(self, thread, size):
        """Memory allocated or freed, on the host or a device; no two records at one moment."""
        if not self.maker.has_memory or not size or self.random.random() < 0.1:
            return
        device = (0, -1) if not self.maker.has_gpu or self.random.random() < 0.2 else (1, self.random.randrange(self.maker.devices))
        self.at += 1000
        self.used[device] = max(0, self.used.get(device, 1 << 20) + size)
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": thread, "ts": f"{self.at // 1000}.{self.at % 1000:03}",
                            "args": {"Device Type": device[0], "Device Id": device[1], "Bytes": size, "Addr": 4096 * self.random.randint(1, 50),
                                     "Total Allocated": self.used[device], "Total Reserved": 1 << 30 if device[0] else 0}})
        self.at += 1000


def save(document, folder, name):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(document, f)
    return path


def write(seed, folder):
    """The paths of both sides."""
    maker = Maker(seed)
    counts = maker.random.choice([(1, 1), (1, 1), (2, 2), (3, 1), (5, 4)])
    sides = [maker.side(), maker.side()]
    return [[save(side.file(), folder, f"{word}-{n}.json") for n in range(count)] for side, count, word in zip(sides, counts, ("before", "after"))]


def write_nights(seed, folder, nights=9):
    """The paths of each night: of a history in which some operators and kernels become slower on one night, and now and then are fast again."""
    maker = Maker(seed, fewest_steps=3)
    chance = maker.random
    maker.odd_steps, maker.noise, ranks = False, min(maker.noise, 0.1), chance.choice([1, 1, 2])
    side = maker.side()
    side.step_count = max(side.step_count, 1)
    bad, good = chance.randint(3, nights), chance.choice([nights, 0, 8])
    names, factor = chance.sample(sorted(side.speed), 4), chance.choice([1.05, 1.2, 2])
    paths = []
    for night in range(nights):
        if night == bad:
            side.slower(factor, names)
        if night == good > bad:
            side.slower(1 / factor, names)
        paths.append([save(side.file(rank if ranks > 1 else None), folder, f"night-{night}-{rank}.json") for rank in range(ranks)])
    return paths


def main():
    parser = argparse.ArgumentParser(description="two random sides of a comparison")
    parser.add_argument("seed", type=int)
    parser.add_argument("folder")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    print("--base", *write(args.seed, args.folder)[0], "--new", *write(args.seed, args.folder)[1])


if __name__ == "__main__":
    main()
