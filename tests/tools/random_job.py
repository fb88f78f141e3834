#!/usr/bin/env python3
"""A random job of several ranks: steps that the host runs ahead of, kernels, copies, and collectives that all ranks take part in.

    random_job.py SEED FOLDER      writes FOLDER/rank0.json, rank1.json ...

For differential tests of what random_trace.py cannot draw: whose steps last how long on the devices, and who waited for
whom. The ranks start and run at different speeds, their clocks differ, and a recording may lack a collective, or the numbers by
which collectives are told apart. No two durations of one collective are the same, so that there is always one rank that came last.
"""
import argparse
import json
import os
import random

# As Kineto writes them: the collective, and whether what one rank holds of the whole goes in or comes out.
COLLECTIVES = [("allreduce", "AllReduce_Sum_f32_RING_LL"), ("broadcast", "Broadcast_RING_LL"), ("_allgather_base", "AllGather_RING_LL"),
               ("_reduce_scatter_base", "ReduceScatter_Sum_f32_RING_LL"), ("all_to_all", "SendRecv")]
DTYPES = ["Float", "BFloat16", "Half", "Long"]


def draw_host(seed):
    """Documents of all ranks of a job without devices, whose collectives are regions on a thread of gloo's."""
    chance = random.Random(f"host {seed}")
    ranks = chance.choice([1, 2, 2, 3, 4])
    has_steps, tells_group = chance.random() < 0.6, chance.random() < 0.7
    schedule = [[chance.choice(["gloo:all_reduce", "gloo:broadcast", "gloo:reduce", "gloo:barrier", None, None]) for _ in range(chance.randint(0, 6))]
                for _ in range(chance.randint(1, 4))]
    sizes = [[chance.choice([[16], [3, 5], [1 << 20]]) for _ in step] for step in schedule]
    documents = []
    for rank in range(ranks):
        info = {"rank": rank, "world_size": ranks, "backend": "gloo"}
        if tells_group:
            info |= {"pg_count": 1, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo", "pg_size": ranks,
                                                   "ranks": list(range(ranks))}]}
        events = HostEvents(chance, rank, has_steps)
        for i, (doings, of_doings) in enumerate(zip(schedule, sizes)):
            events.step(i, [both for both in zip(doings, of_doings) if chance.random() < 0.97])
        chance.shuffle(events.all)
        documents.append({"schemaVersion": 1, "distributedInfo": info, "baseTimeNanoseconds": 1_700_000_000_000_000_000 + rank * 1000, "traceEvents": events.all})
    name_hosts(chance, documents)
    return documents


def name_hosts(chance, documents):
    """All on one host, or on several; mostly nothing is told."""
    if chance.random() < 0.4:
        names = chance.choice([["node7"], ["node7", "node8"]])
        for document in documents:
            document["host_name"] = chance.choice(names)


class HostEvents:
    def __init__(self, chance, rank, has_steps):
        self.chance, self.rank, self.has_steps, self.all = chance, rank, has_steps, []
        self.at = self.free = chance.randint(1, 10**6)

    def add(self, category, name, thread, start, end, args):
        self.all.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": f"{start // 1000}.{start % 1000:03}",
                         "dur": f"{(end - start) // 1000}.{(end - start) % 1000:03}", "args": args})

    def step(self, number, doings):
        chance, start = self.chance, self.at
        for name, dims in doings:
            begin, self.at = self.at, self.at + chance.randint(0, 30000)
            self.add("cpu_op", "aten::outer" if name is None else "c10d::op", 100, begin, self.at, {"External id": len(self.all) + 1})
            if name is None and chance.random() < 0.5:
                self.add("cpu_op", "aten::inner", 100, begin, begin + (self.at - begin) // 2, {"External id": len(self.all) + 1})
            if name is not None:
                self.free = max(self.free, begin + chance.randint(0, 5000))
                end = self.free + chance.randint(1, 40000) * 7 + self.rank  # never as long as on another rank
                self.add("user_annotation", name, 200, self.free, end, {"Input Dims": [dims], "Input type": ["float"]} if name != "gloo:barrier" else {})
                self.free = end
            self.at += chance.randint(0, 2000)
        self.at = max(self.at, self.free) + chance.randint(1, 2000)
        if self.has_steps:
            self.add("user_annotation", f"ProfilerStep#{number + 3}", 100, start, self.at, {})
        self.at += chance.randint(1, 2000)


def draw(seed):
    """Documents of all ranks."""
    chance = random.Random(seed)
    ranks = chance.choice([1, 2, 2, 3, 4])
    step_count = chance.randint(0, 4)
    groups = [("0", "default_pg")] + [("1", "tensor")] * chance.choice([0, 1])
    number = {name: 0 for name, _ in groups}
    schedule = []  # of each step, and what is between them: what is done there on all ranks
    for _ in range(2 * step_count + 1):
        doings = []
        for _ in range(chance.randint(0, 5)):
            if chance.random() < 0.5:
                doings.append(None)
                continue
            name, description = chance.choice(groups)
            number[name] += 1
            collective, kernel = chance.choice(COLLECTIVES)
            elements = chance.randint(1, 1 << 20)
            whole = elements * ranks
            doings.append({"Collective name": collective, "Process Group Name": name, "Process Group Description": description, "Seq": number[name],
                           "In msg nelems": whole if collective == "_reduce_scatter_base" else elements,
                           "Out msg nelems": whole if collective == "_allgather_base" else elements, "Group size": ranks,
                           "dtype": chance.choice(DTYPES), "kernel": f"ncclDevKernel_{kernel}(ncclDevKernelArgsStorage<4096ul>)"})
        schedule.append(doings)
    lacks_number = chance.choice([0, 0, 0.05, 1])
    documents = [Rank(chance, rank, ranks, schedule, lacks_number).document for rank in range(ranks)]
    if chance.random() < 0.7:
        for document in documents:
            document["baseTimeNanoseconds"] = 1_700_000_000_000_000_000 + chance.randint(0, 10**7)
        name_hosts(chance, documents)
    return documents


class Rank:
    def __init__(self, chance, rank, ranks, schedule, lacks_number):
        self.chance, self.rank, self.events, self.correlation, self.lacks_number = chance, rank, [], 0, lacks_number
        self.at = chance.randint(0, 10**6)
        self.free = {7: 0, 20: 0}
        self.step_count = len(schedule) // 2
        for i, doings in enumerate(schedule):
            start = self.at
            self.at += chance.randint(1, 2000)
            for doing in doings:
                if doing is None or chance.random() < 0.95:
                    self.do(doing)
            if i % 2:
                self.add("user_annotation", f"ProfilerStep#{i // 2 + 3}", 100, start, self.at, {})
            self.at += chance.randint(1, 2000)
        chance.shuffle(self.events)
        self.document = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": ranks, "backend": "nccl"}, "traceEvents": self.events}

    def add(self, category, name, thread, start, end, args, pid=1):
        def us(ns):
            return f"{ns // 1000}.{ns % 1000:03}"

        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": us(start), "dur": us(end - start), "args": args})

    def do(self, collective):
        """An operator that launches a kernel, a copy or a memset, and now and then a wait for all of it."""
        chance = self.chance
        self.correlation += 1
        start = self.at
        call = start + chance.randint(0, 500), start + chance.randint(500, 3000)
        self.at = call[1] + chance.randint(0, 500)
        straddles = chance.random() < 0.1  # the call begins in a step and ends after it
        self.add("cpu_op", "aten::op", 100, start, self.at, {"External id": self.correlation})
        self.add("cuda_runtime", "cudaLaunchKernel", 100, call[0], call[1], {"correlation": self.correlation, "External id": self.correlation})
        if straddles:
            self.at = call[1] - 1
        stream = 20 if collective else 7
        begin = max(self.free[stream], call[0] + chance.randint(0, 20000))
        end = begin + chance.randint(1, 40000) * 7 + self.rank  # never as long as on another rank
        self.free[stream] = end
        args = {"device": self.rank, "stream": stream, "correlation": self.correlation, "External id": self.correlation}
        if collective:
            untold = {"kernel", "Seq"} if chance.random() < self.lacks_number else {"kernel"}
            self.add("kernel", collective["kernel"], stream, begin, end,
                     {**args, **{key: value for key, value in collective.items() if key not in untold}}, pid=self.rank)
        else:
            category, name, more = chance.choice([("kernel", "gemm", {}), ("kernel", "relu", {}), ("gpu_memset", "Memset (Device)", {"bytes": 4}),
                                                  ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", {"bytes": 64})])
            self.add(category, name, stream, begin, end, {**args, **more}, pid=self.rank)
        if chance.random() < 0.2:
            self.correlation += 1
            wait_end = max(self.at, *self.free.values()) + 5
            self.add("cuda_runtime", "cudaDeviceSynchronize", 100, self.at, wait_end, {"correlation": self.correlation})
            self.at = wait_end + 1


def write(seed, folder, on_host=False):
    """The paths, in order of rank."""
    paths = []
    for rank, document in enumerate(draw_host(seed) if on_host else draw(seed)):
        paths.append(os.path.join(folder, f"rank{rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(document, file)
    return paths


def main():
    parser = argparse.ArgumentParser(description="a random job of several ranks")
    parser.add_argument("seed", type=int)
    parser.add_argument("folder")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    print("\n".join(write(args.seed, args.folder)))


if __name__ == "__main__":
    main()
