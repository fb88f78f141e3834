#!/usr/bin/env python3
"""random_pipeline.py - jobs with a pipeline, played action by action: which ranks compute what when, and what was planted.

    random_pipeline.py SEED FOLDER     writes FOLDER/rank0.json ... (or merged.json, timeline.json) and prints the truth as JSON

Schedules are played as programs run them, without any replay: a rank computes as soon as it is free and its message is there. Then the job is
written as profilers record it. See Plan for what differs from job to job.
"""
import dataclasses
import json
import os
import random
import sys

US = 1000
MESSAGE = {"In msg nelems": 64, "Out msg nelems": 64, "dtype": "Float", "Group size": 2}


@dataclasses.dataclass
class Plan:
    schedule: str = "1F1B"  # GPipe, 1F1B, interleaved; zero: gradients of weights apart; V: the same, chunks go down the ranks and up again
    stages: int = 2
    chunks: int = 1
    microbatches: int = 4
    replicas: int = 1
    tensor: int = 1
    steps: int = 2
    forward: int = 1000 * US
    backward: int = 2000 * US
    transfer: int = 20 * US
    noise: float = 0.01
    form: str = "files"  # files, merged, timeline
    marks: str = "PP"  # PP, plain, none
    names: str = "mesh"  # mesh, Megatron
    planted: str = "none"  # none, stage, worker, sequence
    where: int = 0  # the stage, the rank
    by: float = 1.0
    often: float = 0.3  # how many sequences are long
    hosts: int = 1
    apart: int = 0  # ns between the clocks of the hosts
    ahead: bool = False  # hosts run ahead: receives begin when the one before on their stream is over, and a message from before the recording runs in it
    fused: bool = False  # sends and receives are kernels that do not say what they are, as those of batch_isend_irecv


def draw(seed):
    """A plan by chance."""
    chance = random.Random(f"pipeline {seed}")
    plan = Plan(schedule=chance.choice(["GPipe", "1F1B", "1F1B", "interleaved"]), stages=chance.randint(2, 4), replicas=chance.choice([1, 1, 2]),
                tensor=chance.choice([1, 1, 2]), steps=chance.randint(1, 3), forward=chance.randint(300, 1500) * US, transfer=chance.choice([0, 1, 20, 50]) * US,
                noise=chance.choice([0, 0.005, 0.02]), form=chance.choice(["files", "files", "merged", "timeline"]), names=chance.choice(["mesh", "Megatron"]),
                planted=chance.choice(["none", "stage", "worker", "sequence"]), by=chance.uniform(1.4, 2.5))
    plan.backward = int(plan.forward * chance.uniform(1.5, 2.5))
    plan.chunks = 2 if plan.schedule == "interleaved" else 1
    plan.microbatches = plan.stages * chance.randint(1, 3) if plan.chunks > 1 else chance.randint(3, 8)
    plan.marks = "PP" if plan.chunks > 1 else chance.choice(["PP", "plain", "none"])
    plan.where = chance.randrange(plan.stages if plan.planted == "stage" else plan.stages * plan.replicas * plan.tensor)
    if plan.form == "files" and plan.replicas == 2 and chance.random() < 0.5:
        plan.hosts, plan.apart = 2, chance.randint(1, 5) * 1000 * US
    if plan.form != "timeline" and chance.random() < 0.3:
        plan.schedule, plan.marks = chance.choice(["zero", "V"]), "PP"
        plan.chunks = 2 if plan.schedule == "V" else 1
        plan.transfer = max(plan.transfer, US)  # messages without length have no order
    plan.fused = plan.form == "files" and plan.marks == "PP" and not plan.apart and chance.random() < 0.15
    plan.often = chance.choice([0.2, 0.3, 0.5])
    plan.ahead = plan.form != "timeline" and plan.marks == "PP" and not plan.fused and chance.random() < 0.4
    return plan, chance


def stage_of(plan, pp, chunk):
    """The stage of the model that is a chunk of a rank."""
    return (chunk + 1) * plan.stages - 1 - pp if plan.schedule == "V" and chunk % 2 else chunk * plan.stages + pp


def chunk_of(plan, stage):
    return stage // plan.stages


def order_without_bubbles(plan):
    """By stage of ranks: gradients of inputs first, then forward, and gradients of weights (None) where there is nothing else."""
    last, done, free = plan.stages * plan.chunks - 1, {}, [0] * plan.stages
    todo = [{(way, c, m) for way in (True, False, None) for c in range(plan.chunks) for m in range(plan.microbatches)} for _ in free]
    orders = [[] for _ in free]

    def ready(pp, way, chunk, m):
        stage = stage_of(plan, pp, chunk)
        need = (False, stage, m) if way is None else (way, stage + (-1 if way else 1), m) if stage != (0 if way else last) else None if way else (True, stage, m)
        if way and sum(1 for w, *_ in orders[pp] if w) - sum(1 for w, *_ in orders[pp] if w is False) >= 2 * plan.stages * plan.chunks:
            return None  # no memory for more
        return 0 if need is None else done.get(need)

    while any(todo):
        choices = [(max(free[pp], ready(pp, *a)), [False, True, None].index(a[0]), a[2], -a[1] if a[0] else a[1], pp, a) for pp in range(plan.stages) for a in todo[pp]
                   if ready(pp, *a) is not None]
        start, *_, pp, action = min(choices, key=lambda c: c[:5])
        todo[pp].remove(action)
        orders[pp].append(action)
        free[pp] = done[action[0], stage_of(plan, pp, action[1]), action[2]] = start + 1
    return orders


class Rank:
    def __init__(self, plan, number):
        self.number = number
        self.tp = number % plan.tensor
        self.pp = number // plan.tensor % plan.stages
        self.dp = number // plan.tensor // plan.stages


def order(plan, stage):
    """The computations of a rank of STAGE: (is forward, chunk, microbatch)."""
    m, p, v = plan.microbatches, plan.stages, plan.chunks
    total = m * v
    if plan.schedule in ("zero", "V"):
        return list(order_without_bubbles(plan)[stage])
    if v == 1:
        forward, backward = [(True, 0, i) for i in range(m)], [(False, 0, i) for i in range(m)]
        ahead = m if plan.schedule == "GPipe" else min(m, p - 1 - stage)
    else:
        place = lambda k: ((k // p) % v, k // (p * v) * p + k % p)
        forward = [(True, *place(k)) for k in range(total)]
        backward = [(False, v - 1 - place(k)[0], place(k)[1]) for k in range(total)]
        ahead = min(total, (p - stage - 1) * 2 + (v - 1) * p)
    actions = forward[:ahead]
    for i in range(total - ahead):
        actions += [forward[ahead + i], backward[i]]
    return actions + backward[total - ahead:]


class Step:
    """What a step of the job did: computations and messages with their times."""

    def __init__(self, plan, ranks, chance, number):
        self.plan, self.ranks, self.number = plan, ranks, number
        self.chance = chance
        self.computations = {r.number: [] for r in ranks}  # (forward, chunk, microbatch, start, end)
        self.messages = {r.number: [] for r in ranks}  # (kind, chunk, microbatch, start, end, peer)
        self.long = {(d, i): plan.by if plan.planted == "sequence" and chance.random() < plan.often else 1 for d in range(plan.replicas) for i in range(plan.microbatches)}
        if plan.planted == "sequence":
            self.long[0, number % plan.microbatches] = plan.by
        self.play()

    def length(self, rank, forward, microbatch):
        plan = self.plan
        length = (plan.forward if forward else plan.backward // (2 if plan.schedule in ("zero", "V") else 1)) * self.long[rank.dp, microbatch]
        slow = plan.planted == "stage" and rank.pp == plan.where or plan.planted == "worker" and rank.number == plan.where
        return int(length * (plan.by if slow else 1) * (1 + plan.noise * self.chance.uniform(-1, 1)))

    def play(self):
        plan = self.plan
        last = plan.stages * plan.chunks - 1
        todo = {r.number: order(plan, r.pp) for r in self.ranks}
        free = {r.number: 0 for r in self.ranks}
        sent = {}  # (dp, tp, forward, stage, microbatch): when the message is there
        streams = {}  # (rank, kind): when its last message ended
        while any(todo.values()):
            for rank in self.ranks:
                while todo[rank.number]:
                    forward, chunk, microbatch = todo[rank.number][0]
                    stage = stage_of(plan, rank.pp, chunk)
                    first = forward is None or stage == (0 if forward else last)
                    key = rank.dp, rank.tp, forward, stage, microbatch
                    if not first and key not in sent:
                        break
                    todo[rank.number].pop(0)
                    start = free[rank.number]
                    if not first:
                        ready, sender = sent[key]
                        start = max(start, ready)
                    if not first and sender is not rank:
                        kind = ("forward" if forward else "backward") + "-recv"
                        posted = max(streams.get((rank.number, kind), 0), self.posted(rank, forward))
                        begin = max(streams.get((sender.number, kind.replace("recv", "send")), 0), ready)
                        end = max(begin, posted) + plan.transfer
                        self.messages[rank.number].append((kind, chunk, microbatch, posted, end, sender.number))
                        self.messages[sender.number].append((kind.replace("recv", "send"), chunk_of(plan, stage + (-1 if forward else 1)), microbatch, begin, end, rank.number))
                        streams[rank.number, kind] = streams[sender.number, kind.replace("recv", "send")] = end
                        start = max(start, end)
                    end = start + self.length(rank, forward, microbatch)
                    self.computations[rank.number].append((forward, chunk, microbatch, start, end))
                    free[rank.number] = end
                    if forward is not None and stage != (last if forward else 0):
                        sent[(rank.dp, rank.tp, forward, stage + (1 if forward else -1), microbatch)] = (end, rank)

    def posted(self, rank, forward):
        """When the receive of the next computation is issued: behind the last computation of its direction, or long ago."""
        return 0 if self.plan.ahead else max([c[4] for c in self.computations[rank.number] if c[0] == forward], default=0)

    def end(self, number):
        return self.computations[number][-1][4]


# ---- as recorded ----


def groups(plan, ranks, rank):
    """pg_config: dimensions of one rank have no group, and neither has one that is the whole job."""
    names = {"mesh": {"dp": "mesh_dp", "pp": "mesh_pp", "tp": "mesh_tp"},
             "Megatron": {"dp": "DATA_PARALLEL_GROUP", "pp": "PIPELINE_MODEL_PARALLEL_GROUP", "tp": "TENSOR_MODEL_PARALLEL_GROUP"}}[plan.names]
    found = [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": len(ranks), "ranks": [r.number for r in ranks]}]
    for i, (key, name) in enumerate(names.items()):
        own = [r.number for r in ranks if all(getattr(r, k) == getattr(rank, k) for k in names if k != key)]
        if 1 < len(own) < len(ranks):
            found.append({"pg_name": str(i + 1), "pg_desc": name, "backend_config": "cuda:nccl", "pg_size": len(own), "ranks": own})
    return found


class Recorder:
    """The trace of a rank: launches on the host, one after the other, and what they started."""

    def __init__(self, plan, rank, base):
        self.plan, self.rank, self.base = plan, rank, base
        self.events, self.correlation, self.host, self.free = [], 100, 0, {}
        if plan.ahead:
            self.add("kernel", "ncclDevKernel_SendRecv", 31, 10 * US, 100 * US, {"device": 0, "stream": 31, "correlation": 99, **MESSAGE, "Collective name": "recv"}, True)

    def add(self, cat, name, thread, start, end, args=None, device=False):
        pid = 0 if device else 4000 + self.rank.number
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": thread, "ts": start / US, "dur": (end - start) / US, "args": args or {}})

    def launch(self, name, stream, start, end, args=None, thread=1):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", thread, self.host, self.host + 2 * US, {"correlation": self.correlation})
        self.add("kernel", name, stream, self.base + start, self.base + end, {"device": 0, "stream": stream, "correlation": self.correlation, **(args or {})}, True)
        self.host += 3 * US

    def message(self, kind, start, end):
        word = kind.split("-")[1]
        stream = {"forward-recv": 31, "backward-recv": 32, "forward-send": 34, "backward-send": 35}[kind]
        if self.plan.fused:
            word = "coalesced"
        if self.plan.ahead and word == "recv":
            start = self.free.get(stream, 200 * US) - self.base
        self.free[stream] = self.base + end
        self.launch("ncclDevKernel_SendRecv", stream, start, end, {**MESSAGE, "Collective name": word})

    def marked(self, name, inside):
        start = self.host
        self.host += US
        inside()
        self.host += US
        if name:
            self.add("user_annotation", name, 1, start, self.host)
        self.host += US

    def compute(self, forward, start, end):
        middle = (start + end) // 2
        begin = self.host
        self.host += US
        for a, b in ((start, middle), (middle, end)):
            self.launch("gemm_fwd" if forward else "gemm_bwd", 7, a, b, thread=1 if forward else 2)
        self.add("cpu_op", "aten::mm" if forward else "autograd::engine::evaluate_function: MmBackward0", 1 if forward else 2, begin, self.host)
        self.host += US

    def step(self, step, ranks):
        start, plan, rank = self.host, self.plan, self.rank
        self.host += 5 * US
        messages = {(m[0], m[1], m[2]): m for m in step.messages[rank.number]}
        for forward, chunk, microbatch, begin, end in step.computations[rank.number]:
            way, letter = {True: ("forward", "F"), False: ("backward", "I" if plan.schedule in ("zero", "V") else "B"), None: ("weight", "W")}[forward]
            stage = stage_of(plan, rank.pp, chunk)
            receive, send = (messages.get((f"{way}-{word}", chunk, microbatch)) for word in ("recv", "send"))
            parts = [(f"PP:{stage}RECV_{letter.replace('I', 'B')}{microbatch}", lambda: self.message(*receive[:1], *receive[3:5])) if receive else None,
                     (f"PP:{stage}{letter}{microbatch}", lambda: self.compute(forward, begin, end)),
                     (f"PP:{stage}SEND_{letter.replace('I', 'B')}{microbatch}", lambda: self.message(*send[:1], *send[3:5])) if send else None]
            parts = [part for part in parts if part]
            if plan.marks == "PP":
                for name, inside in parts:
                    self.marked(name, inside)
            else:
                self.marked(f"{way.capitalize()} {microbatch}" if plan.marks == "plain" else None, lambda: [inside() for _, inside in parts])
        self.after(step, ranks)
        self.add("user_annotation", f"ProfilerStep#{step.number}", 1, start, self.host)
        self.host += US

    def after(self, step, ranks):
        """All ranks reduce together, then each updates its weights."""
        own, last = step.end(self.rank.number), max(step.end(r.number) for r in ranks)
        self.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 37, own, last + 30 * US,
                    {"Collective name": "allreduce", "In msg nelems": 64, "Out msg nelems": 64, "dtype": "Float", "Group size": len(ranks),
                     "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": str([r.number for r in ranks])})
        self.marked("Optimizer.step#AdamW.step", lambda: self.launch("multi_tensor_apply_kernel", 7, last + 30 * US, last + 130 * US))
        self.base += last + 200 * US


def record(plan, ranks, steps, true_clock=False):
    documents = []
    for rank in ranks:
        recorder = Recorder(plan, rank, 1000 * US)
        for step in steps:
            recorder.step(step, ranks)
        host = rank.dp % plan.hosts
        shift = 0 if true_clock else host * plan.apart
        for event in recorder.events:
            event["ts"] = round(event["ts"] + shift / US, 3)
        documents.append({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                          "distributedInfo": {"backend": "nccl", "rank": rank.number, "world_size": len(ranks), "pg_config": groups(plan, ranks, rank)},
                          "host_name": "node0" if true_clock else f"node{host}", "baseTimeNanoseconds": 1790000000000000000, "traceEvents": recorder.events})
    return documents


def merge(plan, ranks, documents):
    """As SGLang's profile merger does it."""
    merged = dict(documents[-1], traceEvents=[])
    for rank, document in zip(ranks, documents):
        label = f"TP{rank.tp:02}-DP{rank.dp:02}-PP{rank.pp:02}"
        merged["traceEvents"] += [dict(e, pid=f"[{label}] {e['pid']}") for e in document["traceEvents"]]
    return merged


def timeline(plan, ranks, steps):
    """As StragglerAnalysis writes it: of communication only the transfers."""
    events, base = [], 0
    kinds = ("compute", "pp-comm", "tp-comm", "dp-comm", "misc")
    for rank in ranks:
        for i, kind in enumerate(kinds):
            events.append({"name": "thread_name", "pid": rank.dp, "tid": 5 * rank.number + i, "ph": "M", "args": {"name": f"PP rank {rank.pp}, TP rank {rank.tp}, {kind}"}})
        events.append({"name": "process_name", "pid": rank.dp, "ph": "M", "args": {"name": f"DP rank [{rank.dp}]"}})
    for step in steps:
        last = max(step.end(r.number) for r in ranks)
        for rank in ranks:
            slices = [("forward-compute" if c[0] else "backward-compute", c[3], c[4], c[1], c[2], 0) for c in step.computations[rank.number]]
            slices += [(m[0], m[4] - plan.transfer, m[4], -1, -1, 1) for m in step.messages[rank.number]]
            slices += [("optimizer-clip-main-grad", last, last + 10 * US, -1, -1, 3), ("optimizer", last + 10 * US, last + 60 * US, -1, -1, 0),
                       ("gc", step.end(rank.number), step.end(rank.number), -1, -1, 0)]
            seen = {}
            for name, start, end, chunk, microbatch, thread in sorted(slices, key=lambda s: (s[1], s[2])):
                events.append({"name": name, "cat": name, "pid": rank.dp, "tid": 5 * rank.number + thread, "ts": (base + start) / US, "dur": (end - start) / US, "ph": "X",
                               "args": {"step": step.number, "model_chunk": chunk, "mb_id": microbatch, "seq_id": seen.setdefault(name, 0)}})
                seen[name] += 1
        base += int((last + 100 * US) * 1.1)
    return events


def make(plan, chance):
    """The documents by name of file, those on the true clock, and the truth."""
    ranks = [Rank(plan, n) for n in range(plan.stages * plan.replicas * plan.tensor)]
    steps = [Step(plan, ranks, chance, n + 1) for n in range(plan.steps)]
    truth = dataclasses.asdict(plan) | {"ranks": len(ranks), "bubbles": bubbles(plan, ranks, steps)}
    if plan.form == "timeline":
        return {"timeline.json": timeline(plan, ranks, steps)}, None, truth
    documents = record(plan, ranks, steps)
    if plan.form == "merged":
        return {"merged.json": merge(plan, ranks, documents)}, None, truth
    name = lambda all_: {f"rank{r.number}.json": d for r, d in zip(ranks, all_)}
    return name(documents), name(record(plan, ranks, steps, True)) if plan.apart else None, truth


def bubbles(plan, ranks, steps):
    """The share of the pipelines' time in which ranks do not compute."""
    whole = computed = 0
    for step in steps:
        for rank in ranks:
            alike = [c for r in ranks if (r.dp, r.tp) == (rank.dp, rank.tp) for c in step.computations[r.number]]
            whole += max(c[4] for c in alike) - min(c[3] for c in alike)
            computed += sum(c[4] - c[3] for c in step.computations[rank.number])
    return 1 - computed / whole


def write(documents, folder):
    os.makedirs(folder, exist_ok=True)
    paths = []
    for name, document in documents.items():
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(document, file)
    return paths


def main():
    plan, chance = draw(sys.argv[1])
    documents, _, truth = make(plan, chance)
    write(documents, sys.argv[2])
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
