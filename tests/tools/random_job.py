#!/usr/bin/env python3
"""A random job of several ranks: steps that the host runs ahead of, kernels, copies, and collectives that all ranks take part in.

    random_job.py SEED FOLDER              writes FOLDER/rank0.json, rank1.json ...
    random_job.py --plan SEED FOLDER       the same of a job in its steady state; prints an edit, and what a step takes before and after

For differential tests of what random_trace.py cannot draw: whose steps last how long on the devices, and who waited for
whom. The ranks start and run at different speeds, their clocks differ, and a recording may lack a collective, or the numbers by
which collectives are told apart. No two durations of one collective are the same, so that there is always one rank that came last.
"""
import argparse
import hashlib
import json
import math
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


# ---- jobs in their steady state ----

QUEUE = 1022  # launches that a device takes ahead
HOST = 4000  # the process of each rank; that of a device has its number
PAGEABLE, PINNED = 9e3, 40e3  # bytes in a microsecond
SIMULATED, SETTLED = 140, 60  # steps, and those before which the truth is not measured


class Plan:
    """What a job does. Times are in microseconds."""

    def __init__(self, seed, even):
        chance = random.Random(f"plan {seed} {even}")
        self.seed, self.even = seed, even
        self.kind = "alike" if even else chance.choice(["log", "accumulate", "evaluate", "checkpoint", "slow batch", "kinds", "rank"])
        self.every = 1 if even else chance.randint(2, 6)
        self.ranks = 2 if self.kind == "rank" or chance.random() < 0.15 else 1
        self.count = chance.randint(15, 60)  # operators of a step
        self.host = chance.uniform(8, 40)  # of an operator
        self.kernel = self.host * chance.choice([0.3, 0.7, 1.2, 2, 3])
        self.load = chance.choice([0, 0, 0.3, 0.8]) * self.count * self.host
        self.transfer = chance.uniform(0.05, 0.4) * self.count * self.kernel if self.ranks > 1 else 0
        self.item = even and chance.random() < 0.5  # in every step
        self.extra = chance.uniform(0.3, 3) * self.count * max(self.host, self.kernel)  # of the k-th step
        self.sizes = [chance.uniform(0.5, 2) for _ in range(self.every)] if self.kind == "kinds" else [1]
        self.slow_host = chance.uniform(1.3, 3) if self.kind == "rank" else 1
        self.graph = self.at_once = False
        self.jitter = chance.choice([0, 0.01, 0.03])
        self.first = chance.randint(SETTLED // 3, SETTLED // 3 + 2 * self.every)  # of the steps that are recorded
        self.recorded = self.every * chance.randint(2, 4) + chance.randint(1, self.every) if not even else chance.randint(5, 12)
        self.logged = 0  # of the others each so manieth waits
        self.draw_second(random.Random(f"second {seed} {even}"))
        self.noted = range(self.first + self.recorded + 1)  # the steps whose events are kept
        self.jitters = {}  # those drawn so far, by rank, step and what they are of: a changed plan has the same
        self.edit, self.change = self.draw_edit(chance)
        self.upload, self.pinned = 0, False
        self.draw_upload(random.Random(f"upload {seed} {even}"))

    def draw_edit(self, chance):
        half = chance.choice([0.3, 0.5, 0.8])
        edits = [(f"--scale kernel:^gemm={half}", {"kernel": self.kernel * half}), (f"--scale op:^aten::mm$={half}", {"mm_factor": half})]
        if self.load or self.kind == "slow batch":
            edits += 2 * [("--no-data-wait", {"load": 0, "extra": 0 if self.kind == "slow batch" else self.extra})]
        if self.item or self.kind in ("log", "accumulate"):
            edits.append(("--no-sync aten::item", {"at_once": True}))
        if self.kind == "evaluate":
            edits += 3 * [("--scale annotation:^eval$=0", {"extra": 0})]
        if self.kind == "checkpoint":
            edits += 3 * [("--scale annotation:^checkpoint$=0", {"extra": 0})]
        if self.kind == "rank":
            edits += 3 * [("--ranks like-median", {"slow_host": 1})]
        if self.ranks > 1:
            edits.append(("--overlap-comm", {"transfer": None}))
        return chance.choice(edits)

    def draw_second(self, chance):
        """Some jobs log, too, by a plan of its own: each is recorded twice, and the time after which both repeat at least once."""
        if self.kind in ("evaluate", "checkpoint", "slow batch") and chance.random() < 0.5:
            self.logged = chance.randint(2, 5)
            self.recorded = max(self.period(), 2 * self.every, 2 * self.logged) + chance.randint(1, self.every)

    def period(self):
        return math.lcm(self.every, self.logged or 1)

    def draw_upload(self, chance):
        """Some jobs copy each batch from pageable memory: pinned memory is then the change, and the copy stays on its stream."""
        if chance.random() < 0.15:
            self.upload = int(chance.uniform(0.05, 1) * self.count * max(self.host, self.kernel) * PAGEABLE)
            self.edit, self.change = "--pinned-copies", {"pinned": True}

    mm_factor = 1

    def changed(self):
        other = Plan(self.seed, self.even)
        for name, value in self.change.items():
            setattr(other, name, value)
        other.jitters, other.noted = self.jitters, range(0)
        return other

    def special(self, step):
        return not self.even and step % self.every == self.every - 1


class SteadyRank:
    """One process and its device."""

    def __init__(self, plan, number):
        self.plan, self.number = plan, number
        self.now, self.free, self.arrived, self.step = 0.0, 0.0, 0.0, 0
        self.correlation, self.starts, self.events = 0, [], []
        self.begins, self.ends = [], []

    def vary(self, value, *key):
        """VALUE with the jitter of KEY, which is the same in each simulation of the plan."""
        jitters, key = self.plan.jitters, (self.number, self.step, key)
        if key not in jitters:
            digest = hashlib.blake2b(f"{self.plan.seed} {self.number} {self.step} {key[2]}".encode(), digest_size=4).digest()
            jitters[key] = 1 + self.plan.jitter * (int.from_bytes(digest, "big") / (1 << 31) - 1)
        return value * jitters[key]

    def add(self, category, name, start, end, tid=1, **args):
        if self.step in self.plan.noted:
            self.events.append((start, end, {"ph": "X", "cat": category, "name": name, "pid": HOST if tid == 1 else self.number, "tid": tid,
                                             "ts": round(start, 3), "dur": round(end - start, 3), "args": args}))

    def launch(self, name, call, duration, category="kernel", **args):
        """When the call returns."""
        queued = self.starts[-QUEUE] if len(self.starts) >= QUEUE else 0
        self.correlation += 1
        done = max(call, queued) + 4
        start = max(self.free + 1, done + 2)
        self.free = start + duration
        self.starts.append(start)
        self.add("cuda_runtime", "cudaLaunchKernel" if category == "kernel" else "cudaMemcpyAsync", call, done, correlation=self.correlation)
        self.add(category, name, start, self.free, 7, device=self.number, stream=7, correlation=self.correlation, **args)
        return done

    def operator(self, index, size):
        plan, begin = self.plan, self.now
        host = self.vary(plan.host, "host", index) * (plan.slow_host if self.number else 1)
        before, after = 0.6 * (host - 4), 0.4 * (host - 4)
        done = self.launch(f"gemm_{index % 5}", begin + before * plan.mm_factor, self.vary(plan.kernel, "kernel", index) * size)
        self.now = done + after * plan.mm_factor
        self.add("cpu_op", "aten::mm", begin, self.now)
        self.now += 1.5

    def item(self):
        begin = self.now
        done = self.launch("Memcpy DtoH (Device -> Pinned)", begin + 4, 1.5, "gpu_memcpy", bytes=4)
        if not self.plan.at_once:
            self.correlation += 1
            end = max(done + 3, self.free + 5)
            self.add("cuda_runtime", "cudaStreamSynchronize", done + 1, end, correlation=self.correlation)
            done = end
        self.now = done + 3
        self.add("cpu_op", "aten::item", begin, self.now)
        self.now += 2

    def load(self, duration):
        if duration > 0:
            self.add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", self.now, self.now + duration)
            self.now += duration
        self.now += 5

    def copy_batch(self, size):
        """From pageable memory the call returns when the copy is done, and the operator waits for the stream."""
        begin = self.now
        if self.plan.pinned:
            self.now = self.launch("Memcpy HtoD (Pinned -> Device)", begin + 8, 2 + size / PINNED, "gpu_memcpy", bytes=size)
        else:
            self.correlation += 1
            start = max(self.free + 1, begin + 14)
            self.free = start + size / PAGEABLE
            self.starts.append(start)
            self.add("cuda_runtime", "cudaMemcpyAsync", begin + 8, self.free + 3, correlation=self.correlation)
            self.add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", start, self.free, 7, device=self.number, stream=7,
                     correlation=self.correlation, bytes=size)
            self.correlation += 1
            self.add("cuda_runtime", "cudaStreamSynchronize", self.free + 4, self.free + 7, correlation=self.correlation)
            self.now = self.free + 7
        self.add("cpu_op", "aten::to", begin, self.now + 2)
        self.now += 4

    def pause(self, name, duration):
        if duration > 0:
            self.add("user_annotation", name, self.now, self.now + duration)
            self.now += duration
        self.now += 3

    def begin_step(self):
        plan, step = self.plan, self.step
        self.begins.append(self.now)
        special = plan.special(step)
        self.load(self.vary(plan.load, "load") + (plan.extra if special and plan.kind == "slow batch" else 0))
        if plan.upload:
            self.copy_batch(plan.upload)
        size = plan.sizes[step % len(plan.sizes)]
        for index in range(plan.count):
            self.operator(index, size)
        if special and plan.kind == "accumulate":
            for index in range(plan.count // 3):
                self.operator(plan.count + index, 0.3)

    def end_step(self):
        plan, special = self.plan, self.plan.special(self.step)
        logs = plan.logged and self.step % plan.logged == plan.logged - 1
        if plan.item or logs or (special and plan.kind in ("log", "accumulate")):
            self.item()
        if special and plan.kind == "evaluate":
            self.pause("eval", plan.extra)
        if special and plan.kind == "checkpoint":
            self.pause("checkpoint", plan.extra)
        self.add("user_annotation", f"ProfilerStep#{self.step}", self.begins[-1], self.now)
        self.ends.append(self.free)
        self.step += 1


def simulate(plan):
    ranks = [SteadyRank(plan, number) for number in range(plan.ranks)]
    for step in range(SIMULATED):
        for rank in ranks:
            rank.begin_step()
        if plan.ranks > 1:
            reduce_all(plan, ranks, step)
        for rank in ranks:
            rank.end_step()
    return ranks


def reduce_all(plan, ranks, step):
    """A collective that all ranks wait for; hidden: it is there, and nobody waits."""
    arrived = []
    for rank in ranks:
        for name in ("cudaEventRecord", "cudaStreamWaitEvent"):
            rank.add("cuda_runtime", name, rank.now, rank.now + 2)
            rank.now += 3
        rank.correlation += 1
        rank.add("cuda_runtime", "cudaLaunchKernelExC", rank.now, rank.now + 5, correlation=rank.correlation)
        rank.launched = rank.correlation
        arrived.append(max(rank.free + 2, rank.now + 7))
        rank.now += 8
    for rank, at in zip(ranks, arrived):
        end = max(arrived) + (plan.transfer or 0)
        rank.add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", at, end, 20, device=rank.number, stream=20, correlation=rank.launched,
                 **{"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000000, "Out msg nelems": 1000000,
                    "Group size": len(ranks), "Process Group Name": "0", "Seq": step})
        for name in ("cudaEventRecord", "cudaStreamWaitEvent"):
            rank.add("cuda_runtime", name, rank.now, rank.now + 2)
            rank.now += 3
        if plan.transfer is not None:
            rank.free = max(rank.free, end + 1)


def period_of_job(plan, ranks):
    """What a step takes in the steady state: from begin to begin on the host, from end to end on devices, of the slowest; in microseconds."""
    steps = (SIMULATED - 1 - SETTLED) // plan.period() * plan.period()
    last = SIMULATED - 1
    return max(max(rank.begins[last] - rank.begins[last - steps], rank.ends[last] - rank.ends[last - steps]) / steps for rank in ranks)


def record(plan, ranks):
    """Documents of the RANKS of PLAN, once it was simulated: of its recorded steps."""
    documents = []
    for rank in ranks:
        start, end = rank.begins[plan.first], rank.begins[plan.first + plan.recorded]
        called = {event["args"]["correlation"] for begin, until, event in rank.events
                  if event["pid"] == HOST and begin >= start and until <= end + 0.001 and "correlation" in event["args"]}
        events = [event for begin, until, event in rank.events if begin >= start and
                  (until <= end + 0.001 if event["pid"] == HOST else event["args"]["correlation"] <= max(called))]
        document = {"schemaVersion": 1, "deviceProperties": [{"id": rank.number, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}
        if plan.ranks > 1:
            document["distributedInfo"] = {"backend": "nccl", "rank": rank.number, "world_size": plan.ranks}
        documents.append(document)
    return documents


def draw_plan(seed, even):
    """Documents of the ranks of a job, its plan, and what a step takes in microseconds, now and then."""
    plan = Plan(seed, even)
    ranks = simulate(plan)
    documents, changed = record(plan, ranks), plan.changed()
    return documents, plan, period_of_job(plan, ranks), period_of_job(changed, simulate(changed))


def write_plan(seed, even, folder):
    """The paths, the edit, and the times of draw_plan."""
    documents, plan, now, then = draw_plan(seed, even)
    paths = []
    for rank, document in enumerate(documents):
        paths.append(os.path.join(folder, f"rank{rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(json.dumps(document))
    return paths, plan, now, then


def write(seed, folder, on_host=False):
    """The paths, in order of rank."""
    paths = []
    for rank, document in enumerate(draw_host(seed) if on_host else draw(seed)):
        paths.append(os.path.join(folder, f"rank{rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(json.dumps(document))
    return paths


def main():
    parser = argparse.ArgumentParser(description="a random job of several ranks")
    parser.add_argument("seed", type=int)
    parser.add_argument("folder")
    parser.add_argument("--plan", action="store_true", help="a job in its steady state; of even seeds steps are alike")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    if args.plan:
        paths, plan, now, then = write_plan(args.seed, args.seed % 2 == 0, args.folder)
        print("\n".join([*paths, plan.edit, f"{plan.kind}, every {plan.every}: a step takes {now:.1f} us, then {then:.1f} us"]))
        return
    print("\n".join(write(args.seed, args.folder)))


if __name__ == "__main__":
    main()
