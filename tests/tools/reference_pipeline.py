#!/usr/bin/env python3
"""reference_pipeline.py - a second implementation of `tpa job`, as short as Python allows.

    tests/tools/reference_pipeline.py [--steps 3,4] FILE... > figures.json

Written from the definitions in docs/definitions.md; shares no code with tpa. Reads whole files, a rank each or merged, and needs no speed.
Clocks are taken as they are.
"""
import argparse
import bisect
import collections
import gzip
import json
import math
import re
import statistics
from fractions import Fraction

COMPUTE = ("forward-compute", "backward-compute", "weight-compute")
KINDS = ("dp", "pp", "tp", "cp", "ep")
CAUSES = ("stage", "worker", "sequence", "communication", "delay", "gc")
BUBBLES = ("structural", "imbalance", "variation", "communication", "delay")
WORDS = {"dp": "dp", "data": "dp", "dp_replicate": "dp", "dp_shard": "dp", "fsdp": "dp", "pp": "pp", "pipe": "pp", "pipeline": "pp", "tp": "tp", "tensor": "tp",
         "model": "tp", "cp": "cp", "context": "cp", "sp": "cp", "sequence": "cp", "ep": "ep", "expert": "ep"}
LONG = {"tensor_model_parallel": "tp", "pipeline_model_parallel": "pp", "expert_model_parallel": "ep", "data_parallel": "dp", "context_parallel": "cp"}
TAIL = ("gc", "layernorm-grads-all-reduce", "embedding-grads-all-reduce", "grads-reduce-scatter", "optimizer-clip-main-grad", "optimizer")


def ns(value):
    return int(round(Fraction(str(value)) * 1000))


def dimension(description):
    text = re.sub(r"(_group|:\d+)$", "", re.sub(r"^mesh_", "", description.lower()))
    return LONG.get(text) or WORDS.get(text)


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(spans):
    return sum(end - start for start, end in spans)


class Op:
    """An operation of a step."""

    def __init__(self, rank, step, kind, start, end, mb=None, chunk=0, stage=None, key=None):
        self.rank, self.step, self.kind, self.start, self.end = rank, step, kind, start, end
        self.mb, self.chunk, self.stage, self.key = mb, chunk, stage, key  # stage: of the model; key: what it meets the others as
        self.serves = None
        self.before, self.group = [], None

    @property
    def direction(self):
        return self.kind.split("-")[0].replace("weight", "backward")

    @property
    def computes(self):
        return self.kind in COMPUTE

    @property
    def is_message(self):
        return self.kind.endswith(("-send", "-recv"))


class Rank:
    def __init__(self, number):
        self.number, self.at, self.ops, self.gc, self.host = number, dict.fromkeys(KINDS), [], [], False
        self.talks, self.work, self.groups, self.meets = [], [], [], []


# ---- timelines ----


def read_timeline(events):
    names, processes = {}, {}
    for e in events:
        if e["ph"] == "M" and e["name"] == "thread_name":
            names[e["pid"], e["tid"]] = e["args"]["name"]
        if e["ph"] == "M" and e["name"] == "process_name":
            processes[e["pid"]] = int(re.search(r"\[(\d+)\]", e["args"]["name"]).group(1))
    of = {}
    for (pid, tid), name in names.items():
        pp, tp = map(int, re.match(r"PP rank (\d+), TP rank (\d+)", name).groups())
        of[pid, tid] = (pp, processes[pid], tp)
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
    numbers = {}
    for place in used:
        numbers.setdefault(of[place], set()).add(place[1] // 5)
    if all(len(n) == 1 for n in numbers.values()) and len({min(n) for n in numbers.values()}) == len(numbers):
        number = {k: min(n) for k, n in numbers.items()}
    else:
        number = {k: i for i, k in enumerate(sorted(numbers))}
    ranks = {}
    for key in numbers:
        rank = ranks[number[key]] = Rank(number[key])
        rank.at.update(pp=key[0], dp=key[1], tp=key[2])
    stages = 1 + max(r.at["pp"] for r in ranks.values())
    for e in events:
        if e["ph"] == "X":
            rank, args = ranks[number[of[e["pid"], e["tid"]]]], e["args"]
            chunk = max(0, -1 if args.get("model_chunk") is None else args["model_chunk"])
            start = ns(e["ts"])
            op = Op(rank, args["step"], e["name"], start, start + ns(e["dur"]), args.get("mb_id"), chunk)
            op.seq = args["seq_id"]
            if op.computes:
                op.stage = chunk * stages + rank.at["pp"]
            rank.ops.append(op)
    for rank in ranks.values():
        name_messages_of_timeline(rank, stages, 1 + max(o.chunk for o in rank.ops))
    return [ranks[n] for n in sorted(ranks)]


def name_messages_of_timeline(rank, stages, chunks):
    """The n-th message of a type serves the n-th computation that has such a message."""
    last = stages * chunks - 1
    by = collections.defaultdict(list)
    for op in sorted(rank.ops, key=lambda o: (o.start, o.end)):
        by[op.step, op.kind].append(op)
    for (step, kind), ops in by.items():
        if ops[0].is_message:
            direction, what = kind.split("-")
            end = last if (direction == "forward") == (what == "send") else 0
            served = [o for o in by.get((step, direction + "-compute"), []) if o.stage != end]
            for op in sorted(ops, key=lambda o: o.seq):
                serve(op, served[op.seq] if op.seq < len(served) else None)


def serve(op, served):
    op.serves = served
    if served:
        op.mb, op.stage, op.chunk = served.mb, served.stage, served.chunk
        if op.direction == "forward":
            op.key = ("forward", op.stage + (op.kind.endswith("recv") and -1), op.mb)
        else:
            op.key = ("backward", op.stage + (op.kind.endswith("recv") and 1), op.mb)


# ---- Kineto ----

LABEL = re.compile(r"\[((?:(?:TP|DP|PP|EP|CP)\d+-?)+)\]")


def split(data):
    """(number, coordinates, events) of the ranks of a file."""
    events = data["traceEvents"]
    labels = {LABEL.match(str(e["pid"])).group(1) for e in events if LABEL.match(str(e.get("pid", "")))}
    if len(labels) > 1:
        at = {label: {k.lower(): int(v) for k, v in re.findall(r"(TP|DP|PP|EP|CP)(\d+)", label)} for label in labels}
        order = sorted(labels, key=lambda l: [at[l].get(k, -1) for k in ("dp", "pp", "cp", "tp", "ep")])
        only_tp = all(set(a) == {"tp"} for a in at.values())
        return [(at[l]["tp"] if only_tp else i, at[l], [e for e in events if str(e.get("pid")).startswith("[" + l + "]")]) for i, l in enumerate(order)]
    return [(data.get("distributedInfo", {}).get("rank"), {}, events)]


def read_kineto(datas, paths):
    ranks, unmarked = [], False
    for path, data in zip(paths, datas):
        parts = split(data)
        for number, at, events in parts:
            if number is None:
                number = int(re.search(r"rank(\d+)", path).group(1))
            rank = Rank(number)
            rank.at.update(at)
            rank.events = events
            rank.base = data.get("baseTimeNanoseconds", 0)
            rank.groups = data.get("distributedInfo", {}).get("pg_config", []) if len(parts) == 1 else []
            for group in rank.groups:
                kind = dimension(group.get("pg_desc", ""))
                if kind and rank.at[kind] is None and number in group["ranks"]:
                    rank.at[kind] = group["ranks"].index(number)
            ranks.append(rank)
    ranks.sort(key=lambda r: r.number)
    host = not any(e.get("cat") == "kernel" for r in ranks for e in r.events)
    first = min(r.base for r in ranks)
    for rank in ranks:
        read_rank(rank, host, first)
    marked = any(m[1] in "FBIW" and m[0] != "message" for r in ranks for m in r.marks)
    if all(r.at["pp"] is None for r in ranks) and (marked or any(t.direction for r in ranks for t in r.talks)):
        sizes = [len({r.at[k] for r in ranks if r.at[k] is not None}) or 1 for k in KINDS]
        if math.prod(sizes) == 1:
            for rank in ranks:
                rank.at["pp"] = rank.number
    for rank in ranks:
        find_operations(rank, host, marked)
    return ranks, not marked and any(o.computes for r in ranks for o in r.ops)


class Event:
    def __init__(self, raw, shift):
        self.name, self.cat, self.args = raw["name"], raw.get("cat", ""), raw.get("args", {})
        self.start = ns(raw["ts"]) + shift
        self.end = self.start + ns(raw.get("dur", 0))
        self.thread = (str(raw["pid"]), str(raw["tid"]))
        self.call = None


class Talk:
    """A message or a collective."""

    def __init__(self, event, issued, what, description, thread):
        self.event, self.issued, self.what, self.description, self.thread = event, issued, what, description, thread
        self.direction = what if what in ("send", "recv") else None
        self.kind = "pp" if self.direction else dimension(description or "") or ("world" if description == "default_pg" else "-")
        self.start, self.end = event.start, event.end


def read_rank(rank, host, first):
    rank.host = host
    events = [Event(e, rank.base - first) for e in rank.events if e["ph"] == "X"]
    rank.annotations = [e for e in events if e.cat == "user_annotation"]
    rank.steps = sorted((e.start, e.end, int(e.name[13:])) for e in rank.annotations if e.name.startswith("ProfilerStep#"))
    calls = {e.args["correlation"]: e for e in events if e.cat in ("cuda_runtime", "cuda_driver") and "correlation" in e.args}
    rank.calls = calls
    rank.host_ops = [e for e in events if e.cat == "cpu_op"]
    rank.gc = [e for e in events if e.name == "Python GC" or "gc.collect" in e.name]
    if host:
        rank.talks = [Talk(e, e.start, e.name[5:], None, e.thread) for e in rank.annotations if e.name.startswith("gloo:")]
        rank.work = [e for e in rank.host_ops if not e.name.startswith(("c10d::", "gloo:", "record_param_comms"))]
    else:
        for e in events:
            if e.cat in ("kernel", "gpu_memcpy", "gpu_memset"):
                e.call = calls.get(e.args.get("correlation"))
                name = e.args.get("Collective name", "")
                if "SendRecv" in e.name or name in ("send", "recv") or "nccl" in e.name:
                    what = name or None
                    rank.talks.append(Talk(e, e.call.start if e.call else e.start, what, e.args.get("Process Group Description"), e.call.thread if e.call else None))
                rank.work.append(e)
        if any(talk.event.call for talk in rank.talks):  # the others were issued before the recording, in no mark
            rank.talks = [talk for talk in rank.talks if talk.event.call]
    rank.marks = []
    for e in rank.annotations:
        m = re.fullmatch(r"(Forward|Backward) (\d+)", e.name)
        if m:
            rank.marks.append((None, m.group(1)[0], int(m.group(2)), e, "plain"))
        m = re.fullmatch(r"PP:(\d+)([FBIW])(\d+)", e.name)
        if m:
            rank.marks.append((int(m.group(1)), m.group(2), int(m.group(3)), e, "compute"))
        m = re.fullmatch(r"PP:(\d+)(SEND|RECV)_([FB])(\d+)", e.name)
        if m:
            rank.marks.append(("message", m.group(3), int(m.group(4)), e, m.group(2), int(m.group(1))))


def step_at(rank, moment):
    if not rank.steps:
        return 0
    i = bisect.bisect_right(rank.steps, (moment, math.inf, 0)) - 1
    return rank.steps[i][2] if i >= 0 and moment < rank.steps[i][1] else None


def kind_of(mark):
    return {"F": "forward", "B": "backward", "I": "backward", "W": "weight"}[mark] + "-compute"


def find_operations(rank, host, marked):
    stages = sorted({m[0] for m in rank.marks if isinstance(m[0], int)})
    if marked:
        for mark in rank.marks:
            if mark[0] != "message":
                add_marked(rank, mark, stages, host)
    else:
        find_unmarked(rank, host)
    computations = sorted((o for o in rank.ops if o.computes), key=lambda o: (o.start, o.end))
    add_messages(rank, computations, marked)
    rank.ops = [o for o in rank.ops if o.step is not None]
    add_tail(rank, host)


def add_marked(rank, mark, stages, host):
    event = mark[3]
    if host:
        receives = [t.event.end for t in rank.talks if t.what == "recv" and event.start <= t.event.end <= event.end]
        after = max(receives, default=event.start)
        sends = [t.event.start for t in rank.talks if t.what == "send" and after <= t.event.start <= event.end]
        until = min(sends, default=event.end)
        work = [e for e in rank.work if e.thread == event.thread and after <= e.start < until and e.end <= event.end]
    else:
        work = [e for e in rank.work if e.call and e.call.thread[0] == event.thread[0] and event.start <= e.call.start < event.end and "SendRecv" not in e.name]
    if not work:
        return
    stage = rank.at["pp"] if mark[0] is None else mark[0]
    op = Op(rank, step_at(rank, event.start), kind_of(mark[1]), min(e.start for e in work), max(e.end for e in work), mark[2],
            stages.index(mark[0]) if mark[0] is not None else 0, stage)
    op.issued = (event.start, event.end)
    rank.ops.append(op)


def find_unmarked(rank, host):
    optimizers = [(e.start, e.end) for e in rank.annotations if e.name.startswith("Optimizer.")]
    backward = union((e.start, e.end) for e in rank.host_ops if e.name.startswith("autograd::engine::evaluate_function"))
    pieces = collections.defaultdict(list)
    cuts = sorted(t.issued for t in rank.talks if t.direction)
    if host:
        work = outermost([e for e in rank.work])
    else:
        talks = {id(t.event) for t in rank.talks}
        work = [e for e in rank.work if id(e) not in talks and e.call]
    for e in sorted(work, key=lambda e: (e.call or e).start):
        at = (e.call or e).start
        if any(s <= at < t for s, t in optimizers):
            continue
        i = bisect.bisect_right(backward, [at, math.inf]) - 1
        back = i >= 0 and at < backward[i][1]
        place = (back, bisect.bisect_right(cuts, at))
        run = pieces[step_at(rank, at)]
        if not run or run[-1][0] != place:
            run.append((place, []))
        run[-1][1].append(e)
    for step, run in pieces.items():
        ops = []
        for (back, _), events in run:
            op = Op(rank, step, ("backward" if back else "forward") + "-compute", min(e.start for e in events), max(e.end for e in events), None, 0, rank.at["pp"])
            op.issued = (min((e.call or e).start for e in events), max((e.call or e).end for e in events))
            ops.append(op)
        backs = [o for o in ops if o.kind == "backward-compute"]
        forwards = [o for o in ops if o.kind == "forward-compute" and backs and o.issued[0] < backs[-1].issued[0]]
        forwards = sorted(sorted(forwards, key=lambda o: -(o.end - o.start))[: len(backs)], key=lambda o: o.issued[0])
        for group in (forwards, backs):
            for i, op in enumerate(group):
                op.mb = i
            rank.ops += group


def outermost(events):
    kept, ends = [], {}
    for e in sorted(events, key=lambda e: (e.thread, e.start, -e.end)):
        if e.start >= ends.get(e.thread, -math.inf):
            ends[e.thread] = e.end
            kept.append(e)
    return kept


def add_messages(rank, computations, marked):
    by_issue = sorted(computations, key=lambda o: o.issued[0])
    for talk in sorted(rank.talks, key=lambda t: t.issued):
        if not talk.direction:
            continue
        served = direction = None
        messages = [m for m in rank.marks if m[0] == "message" and m[3].start <= talk.issued < m[3].end]
        inside = [o for o in by_issue if o.issued[0] <= talk.issued < o.issued[1]]
        if messages:
            m = messages[0]
            served = next((o for o in computations if o.step == step_at(rank, talk.issued) and o.mb == m[2] and o.stage == m[5] and o.kind != "weight-compute"
                           and o.direction[0].upper() == m[1]), None)
        elif marked:
            served = inside[0] if inside else None
        elif talk.direction == "send":
            served = next((o for o in reversed(by_issue) if o.issued[0] < talk.issued), None)
        else:
            served = next((o for o in by_issue if o.issued[0] >= talk.issued), None)
        if served:
            op = Op(rank, served.step, f"{served.direction}-{talk.direction}", talk.event.start, talk.event.end)
            op.talk = talk
            serve(op, served)
            rank.ops.append(op)


def add_tail(rank, host):
    last = {}
    for op in rank.ops:
        if op.computes:
            last[op.step] = max(last.get(op.step, -math.inf), op.end)
    own = []
    for talk in rank.talks:
        step = step_at(rank, talk.issued)
        if not talk.direction and talk.what != "coalesced" and step in last and talk.event.start >= last[step]:
            kind = dimension(talk.description or "") or ("world" if talk.description == "default_pg" else "group")
            name = {"allreduce": "all_reduce"}.get(talk.what, (talk.what or "").lstrip("_"))
            op = Op(rank, step, f"{kind}-{name}", talk.event.start, talk.event.end)
            op.talk = talk
            own.append(op)
    for e in rank.annotations:
        step = step_at(rank, e.start)
        if e.name.startswith("Optimizer.step") and step in last:
            if host:
                own.append(Op(rank, step, "optimizer", e.start, e.end))
            else:
                talks = {id(t.event) for t in rank.talks}
                work = [w for w in rank.work if w.call and e.start <= w.call.start < e.end and id(w) not in talks]
                if work:
                    own.append(Op(rank, step, "optimizer", min(w.start for w in work), max(w.end for w in work)))
    seen = collections.Counter()
    for op in sorted(own, key=lambda o: o.start):
        if hasattr(op, "talk"):
            seen[op.step, op.kind] += 1
            op.key = (op.kind, seen[op.step, op.kind])
    rank.ops += own


# ---- who waits for whom ----


class Job:
    def __init__(self, ranks, timeline, unmarked, steps=None):
        self.ranks, self.timeline, self.unmarked = ranks, timeline, unmarked
        self.ops = [o for r in ranks for o in r.ops if steps is None or o.step in steps]
        self.steps = sorted({o.step for o in self.ops})
        self.stage_count = len({r.at["pp"] for r in ranks if r.at["pp"] is not None}) or 1
        self.by_step = {s: [o for o in self.ops if o.step == s] for s in self.steps}
        for ops in self.by_step.values():
            self.link(ops)
        self.measure()

    def pipeline(self, rank):
        return tuple(rank.at[k] for k in KINDS if k != "pp")

    def link(self, ops):
        by_rank = collections.defaultdict(list)
        for op in ops:
            by_rank[op.rank.number].append(op)
        computation = {}
        for op in ops:
            if op.computes:
                computation[self.pipeline(op.rank), op.kind, op.stage, op.mb] = op
        for own in by_rank.values():
            self.link_rank(own)
        meets = collections.defaultdict(list)
        for op in ops:
            key = self.meeting(op)
            if key:
                meets[key].append(op)
            else:
                op.group = [op]
        for group in meets.values():
            for op in group:
                op.group = group
        for op in ops:
            if op.computes and op.kind != "weight-compute":
                step = -1 if op.kind == "forward-compute" else 1
                op.producer = computation.get((self.pipeline(op.rank), op.kind, op.stage + step, op.mb)) if op.stage is not None else None
                receives = [o for o in by_rank[op.rank.number] if o.kind.endswith("recv") and o.serves is op]
                op.before += receives or ([op.producer] if op.producer else [])
            else:
                op.producer = None

    def meeting(self, op):
        if op.is_message:
            return op.key and (self.pipeline(op.rank), *op.key)
        if not self.timeline:
            if not op.key:
                return None
            kind = op.kind.split("-")[0]
            others = tuple((k, v) for k, v in op.rank.at.items() if k != kind) if kind in KINDS else ()
            return op.key, others
        if op.kind in ("params-all-gather", "grads-reduce-scatter", "separate-grads-all-reduce"):
            return op.kind, op.seq, op.rank.at["pp"], op.rank.at["tp"]
        if op.kind == "embedding-grads-all-reduce":
            return op.kind, op.seq, op.rank.at["dp"], op.rank.at["tp"]
        return (op.kind, op.seq) if op.kind == "optimizer-clip-main-grad" else None

    def link_rank(self, own):
        own.sort(key=lambda o: (o.start, o.end))
        computes = [o for o in own if o.computes]
        for a, b in zip(computes, computes[1:]):
            b.before.append(a)
        first_back = next((i for i, o in enumerate(computes) if o.direction == "backward"), None)
        for kind in ("forward-send", "forward-recv", "backward-send", "backward-recv"):
            messages = sorted((o for o in own if o.kind == kind), key=lambda o: (o.start, o.end))
            if self.timeline:
                messages.sort(key=lambda o: o.seq)
            for a, b in zip(messages, messages[1:]):
                b.before.append(a)
            if messages and kind.startswith("backward") and first_back is not None and first_back >= 2:
                messages[0].before.append(computes[first_back - 2])
            for op in messages:
                if op.serves and kind.endswith("send"):
                    op.before.append(op.serves)
                elif op.serves:
                    alike = [o for o in computes if o.kind == op.serves.kind]
                    i = alike.index(op.serves)
                    if i:
                        op.before.append(alike[i - 1])
        if self.timeline:
            self.link_tail_of_timeline(own, computes)
        elif computes:
            before = computes[-1]
            before = max(computes, key=lambda o: o.end)
            for op in own:
                if not op.computes and not op.is_message:
                    op.before.append(before)
                    before = op

    def link_tail_of_timeline(self, own, computes):
        by = collections.defaultdict(list)
        for op in own:
            by[op.kind].append(op)
        for kind in ("params-all-gather", "grads-reduce-scatter"):
            for a, b in zip(by[kind], by[kind][1:]):
                b.before.append(a)
        forward = next((o for o in computes if o.kind == "forward-compute"), None)
        if by["params-all-gather"] and forward:
            forward.before.append(by["params-all-gather"][-1])
        last = max(computes, key=lambda o: o.end) if computes else None
        chain = [o for kind in TAIL for o in by[kind]]
        separate = any(o.kind == "separate-grads-all-reduce" for r in self.ranks for o in r.ops)
        if separate:
            chain = [o for kind in TAIL if kind != "grads-reduce-scatter" for o in by["separate-grads-all-reduce"] * (kind == "optimizer-clip-main-grad") + by[kind]]
            backs = [o for o in computes if o.direction == "backward"]
            if by["grads-reduce-scatter"] and backs:
                by["grads-reduce-scatter"][0].before.append(backs[-1])
                if chain:
                    chain[0].before.append(by["grads-reduce-scatter"][-1])
        before = last
        for op in chain:
            if before:
                op.before.append(before)
            before = op

    # ---- lengths ----

    def measure(self):
        previous = {}
        by = collections.defaultdict(list)
        for op in self.ops:
            if op.computes:
                by[op.rank.number, op.step].append(op)
        for ops in by.values():
            ops.sort(key=lambda o: (o.start, o.end))
            for a, b in zip(ops, ops[1:]):
                previous[b] = a
        for op in self.ops:
            op.real = op.end - op.start
        if not self.timeline:
            host = any(r.host for r in self.ranks)
            for op in self.ops:
                if op.is_message or op.key:
                    start = max(o.start for o in op.group)
                    if host and op.kind.endswith("recv") and op.serves in previous:
                        start = max(start, previous[op.serves].end)
                    op.real = max(0, op.end - start)
            if host:
                for op in self.ops:
                    if op.kind.endswith("send"):
                        op.real = min([op.real] + [o.real for o in op.group if o.kind.endswith("recv")])
        kinds = collections.defaultdict(list)
        for op in self.ops:
            kinds[op.kind].append(op.real)
        self.ideal_of = {}
        for kind, all_ in kinds.items():
            mean = kind in COMPUTE or kind in ("gc", "optimizer")
            self.ideal_of[kind] = Fraction(sum(all_), len(all_)) if mean else Fraction(statistics.median([Fraction(x) for x in all_]))
        cells = collections.defaultdict(list)
        for op in self.ops:
            if op.computes:
                cells[op.kind, op.chunk, op.rank.at["pp"]].append(op.real)
        self.median_of = {k: Fraction(statistics.median([Fraction(x) for x in v])) for k, v in cells.items()}
        self.structural_of = {}
        for kind in COMPUTE:
            medians = [v for k, v in self.median_of.items() if k[0] == kind]
            if medians:
                self.structural_of[kind] = sum(medians) / len(medians)
        self.order = {s: self.sort(ops) for s, ops in self.by_step.items()}

    def ideal(self, op):
        return self.ideal_of[op.kind]

    def median(self, op):
        return self.median_of[op.kind, op.chunk, op.rank.at["pp"]]

    def sort(self, ops):
        """Groups so that each comes behind those that it waits for."""
        done, order = set(), []
        for first in ops:
            stack = [(first, iter([]))] if id(first.group) not in done else []
            path = set()
            if stack:
                stack = [(first, iter([b for o in first.group for b in o.before]))]
                path.add(id(first.group))
            while stack:
                op, rest = stack[-1]
                for b in rest:
                    if id(b.group) not in done and id(b.group) not in path:
                        path.add(id(b.group))
                        stack.append((b, iter([c for o in b.group for c in o.before])))
                        break
                else:
                    stack.pop()
                    path.discard(id(op.group))
                    done.add(id(op.group))
                    order.append(op.group)
        return order

    def simulate(self, step, length_of, times=None):
        begin, end, last = {}, {}, 0
        for group in self.order[step]:
            for op in group:
                begin[op] = max((end[b] for b in op.before if b in end), default=0)
            start = max(begin[op] for op in group)
            for op in group:
                end[op] = start + length_of(op)
                last = max(last, end[op])
                if times is not None:
                    times[op] = start, end[op]
        return last

    def total(self, length_of):
        return [self.simulate(s, length_of) for s in self.steps]

    # ---- figures ----

    def phases(self, step, moments):
        """By pipeline: (phase, ranks, computation)."""
        rows = {}
        for op in self.by_step[step]:
            if op.computes:
                start, end = moments(op)
                row = rows.setdefault(self.pipeline(op.rank), [start, end, collections.defaultdict(list)])
                row[0], row[1] = min(row[0], start), max(row[1], end)
                row[2][op.rank.number].append((start, end))
        return [(end - start, len(spans), sum(length(union(s)) for s in spans.values())) for start, end, spans in rows.values()]

    def bubble(self, length_of=None):
        total = phases = 0
        for step in self.steps:
            times = {}
            if length_of:
                self.simulate(step, length_of, times)
            for phase, ranks, computation in self.phases(step, times.__getitem__ if length_of else lambda o: (o.start, o.end)):
                total += phase * ranks - computation
                phases += phase * ranks
        return total, phases

    def structural(self, op):
        return self.structural_of[op.kind] if op.computes else 0

    def answer(self):
        mean = lambda x: sum(x) / Fraction(len(x))
        ideal, real = self.total(self.ideal), self.total(lambda o: o.real)
        begin = lambda o: max(x.start for x in o.group) if o.is_message and not self.timeline and not any(r.host for r in self.ranks) else o.start
        times = [max(o.end for o in self.by_step[s]) - min(map(begin, self.by_step[s])) for s in self.steps]
        only = lambda has: self.total(lambda o: o.real if has(o) else self.ideal(o))
        over = lambda a, b: mean(a) / mean(b) if mean(b) else None
        stage = {p: only(lambda o: o.rank.at["pp"] == p) for p in sorted({r.at["pp"] for r in self.ranks if r.at["pp"] is not None})}
        replica = {d: only(lambda o: o.rank.at["dp"] == d) for d in sorted({r.at["dp"] for r in self.ranks if r.at["dp"] is not None})} or {0: real}
        merge = lambda k: re.sub("-(send|recv)$", "-pp-comm", k)
        types = {t: only(lambda o: merge(o.kind) == t) for t in sorted({merge(o.kind) for o in self.ops})}
        estimate = {}
        for r in self.ranks:
            both = [over(x[y], ideal) for x, y in ((stage, r.at["pp"]), (replica, r.at["dp"] if r.at["dp"] is not None else 0)) if y in x]
            estimate[r.number] = min(both)
        count = math.ceil(0.03 * len(self.ranks) - 1e-9)
        slowest = sorted(estimate, key=lambda n: (-estimate[n], n))[:count]
        gain = lambda without: (mean(real) - mean(without)) / (mean(real) - mean(ideal)) if mean(real) != mean(ideal) else None
        without = lambda has: self.total(lambda o: self.ideal(o) if has(o) else o.real)
        last = max(stage, default=None)
        bubble, phases = self.bubble()
        result = {"ranks": len(self.ranks), "steps": len(self.steps), "step_ns": mean(times), "simulated_ns": mean(real), "ideal_ns": mean(ideal),
                  "slowdown": over(real, ideal), "delay_slowdown": over(times, real), "bubble_share": Fraction(bubble, phases), "bubble_ns": bubble,
                  "slowest_share": gain(without(lambda o: o.rank.number in slowest)), "last_stage_share": gain(without(lambda o: o.rank.at["pp"] == last)),
                  "slowest": slowest, "ideal_of": self.ideal_of}
        for k in KINDS:
            result[k] = len({r.at[k] for r in self.ranks if r.at[k] is not None}) or None
        result["coordinates"] = [{"rank": r.number, **r.at} for r in self.ranks]
        result["types"] = [{"type": t, "count": sum(merge(o.kind) == t for o in self.ops), "slowdown": over(x, ideal)} for t, x in types.items()]
        result["replicas"] = [{"dp": d, "slowdown": over(x, ideal)} for d, x in replica.items()]
        result["step_table"] = []
        for s, t, r, i in zip(self.steps, times, real, ideal):
            p = self.phases(s, lambda o: (o.start, o.end))
            whole = sum(x * n for x, n, _ in p)
            result["step_table"].append({"step": s, "time_ns": t, "simulated_ns": r, "ideal_ns": i, "slowdown": r / Fraction(i) if i else None,
                                         "bubble_share": Fraction(whole - sum(c for *_, c in p), whole)})
        self.heat = [{"step": s, "rank": r.number, "slowdown": min([x[k][i] / Fraction(ideal[i]) for x, k in ((stage, r.at["pp"]), (replica, r.at["dp"] if r.at["dp"] is not None else 0)) if k in x])}
                     for i, s in enumerate(self.steps) for r in self.ranks]
        result["heat"] = self.heat
        self.add_ranks(result, stage, estimate, only, over, ideal)
        self.add_bubbles(result, bubble, phases)
        self.add_causes(result, mean(times), mean(real), stage, ideal)
        self.add_shape(result)
        self.add_dimensions(result)
        return result

    def add_ranks(self, result, stage, estimate, only, over, ideal):
        rows = []
        for r in self.ranks:
            row = {"rank": r.number, **r.at, "slowdown": over(only(lambda o: o.rank is r), ideal), "estimate": estimate[r.number],
                   "compute_ns": 0, "warmup_ns": 0, "waiting_ns": 0, "other_ns": 0, "drain_ns": 0, "phase_ns": 0, "gc_ns": 0}
            for s in self.steps:
                self.add_parts(row, r, s)
            rows.append(row)
        result["rank_table"] = rows
        result["stages"] = []
        for p in stage:
            own = [x for x in rows if x["pp"] == p]
            row = {"pp": p, "slowdown": over(stage[p], ideal)}
            for direction in ("forward", "backward"):
                all_ = [o.end - o.start for o in self.ops if o.kind == direction + "-compute" and o.rank.at["pp"] == p]
                row[direction + "_ns"] = Fraction(sum(all_), len(all_)) if all_ else None
            for key in ("compute_ns", "warmup_ns", "waiting_ns", "other_ns", "drain_ns"):
                row[key] = sum(x[key] for x in own)
            whole = sum(x["phase_ns"] for x in own)
            row["bubble_share"] = 1 - Fraction(row["compute_ns"], whole) if whole else None
            result["stages"].append(row)

    def add_parts(self, row, rank, step):
        own = sorted((o for o in self.by_step[step] if o.rank is rank and o.computes), key=lambda o: (o.start, o.end))
        if not own:
            return
        alike = [o for o in self.by_step[step] if o.computes and self.pipeline(o.rank) == self.pipeline(rank)]
        start, end = min(o.start for o in alike), max(o.end for o in alike)
        row["phase_ns"] += end - start
        row["compute_ns"] += length(union((o.start, o.end) for o in own))
        row["warmup_ns"] += own[0].start - start
        reached = own[0].end
        for op in own[1:]:
            if op.start > reached:
                waiting = max(0, min(op.start, op.producer.end) - reached) if op.producer else 0
                row["waiting_ns"] += waiting
                row["other_ns"] += op.start - reached - waiting
            reached = max(reached, op.end)
        row["drain_ns"] += end - reached

    def add_bubbles(self, result, bubble, phases):
        median = lambda o: self.median(o) if o.computes else 0
        sums = [self.bubble(f)[0] for f in (self.structural, median, lambda o: o.real if o.computes else 0, lambda o: o.real)] + [bubble]
        before = [0] + sums
        result["bubbles"] = [{"cause": c, "time_ns": a - b, "share": Fraction(a - b) / phases} for c, a, b in zip(BUBBLES, sums, before)]

    def add_causes(self, result, time, simulated, stage, ideal):
        mean = lambda x: sum(x) / Fraction(len(x))
        base = lambda o: self.structural_of[o.kind] if o.computes else self.ideal(o)
        ref = mean(self.total(base))
        factor = {}
        for r in self.ranks:
            for s in self.steps:
                own = [Fraction(o.real) / self.median(o) for o in self.by_step[s] if o.rank is r and o.computes and self.median(o)]
                factor[r.number, s] = Fraction(statistics.median(own)) if own else Fraction(1)
        ratio = collections.defaultdict(list)
        for o in self.ops:
            if o.computes and self.median(o) and factor[o.rank.number, o.step]:
                ratio[o.step, self.pipeline(o.rank), o.mb].append((o.kind, Fraction(o.real) / self.median(o) / factor[o.rank.number, o.step]))
        q = {k: Fraction(statistics.median([x for _, x in v])) for k, v in ratio.items()}
        means = [(mean([x for k, x in v if k == "forward-compute"]), mean([x for k, x in v if k == "backward-compute"])) for v in ratio.values()
                 if {"forward-compute", "backward-compute"} <= {k for k, _ in v}]
        result["correlation"] = pearson([float(a) for a, _ in means], [float(b) for _, b in means])
        shared = {}  # what all ranks of a pipeline take longer in a step is the microbatches', if these are known to be unequal
        for pipeline in {self.pipeline(r) for r in self.ranks} if (result["correlation"] or 0) >= 0.9 else ():
            members = [r.number for r in self.ranks if self.pipeline(r) == pipeline]
            for s in self.steps:
                least, most = (choice(factor[r, s] for r in members) for choice in (min, max))
                if len(members) > 1 and least >= Fraction(11, 10) and least - 1 >= (most - 1) / 2:
                    shared[pipeline, s] = least
                    factor.update({(r, s): factor[r, s] / least for r in members})
        q = {(s, pipeline, mb): value * shared.get((pipeline, s), 1) for (s, pipeline, mb), value in q.items()}
        gains = {
            "stage": mean(self.total(lambda o: self.median(o) if o.computes else self.ideal(o))) - ref,
            "worker": mean(self.total(lambda o: base(o) * (factor[o.rank.number, o.step] if o.computes else 1))) - ref,
            "sequence": mean(self.total(lambda o: base(o) * (q.get((o.step, self.pipeline(o.rank), o.mb), 1) if o.computes else 1))) - ref,
            "communication": mean(self.total(lambda o: self.structural_of[o.kind] if o.computes else o.real)) - ref,
        }
        gc, worst = self.collections_of(result)
        gains["gc"] = min(gc, max(0, time - simulated))
        gains["delay"] = time - simulated - gains["gc"]
        lost = time - ref
        result["causes"] = sorted(({"cause": c, "time_ns": gains[c], "share": gains[c] / lost if lost else None} for c in CAUSES), key=lambda x: -x["time_ns"])
        result["ref_ns"] = ref
        cause = result["causes"][0]["cause"] if time >= Fraction(105, 100) * ref else "none"
        worker = max(factor.items(), key=lambda x: x[1], default=((None, None), 0))
        highest = max(stage, key=lambda p: mean(stage[p])) if stage else None
        result["cause"] = cause
        result["where"] = {"stage": f"stage {highest}", "worker": f"rank {worker[0][0]}", "gc": f"rank {worst}"}.get(cause)

    def collections_of(self, result):
        """Mean over steps of the longest rank's collections outside of computations; the rank with most."""
        most = collections.Counter()
        by_step = collections.defaultdict(list)
        for r in self.ranks:
            if self.timeline:
                for o in r.ops:
                    if o.kind == "gc" and o.step in self.by_step:
                        by_step[o.step].append(o.real)
                        most[r.number] += o.real
                continue
            own = collections.Counter()
            for e in r.gc:
                s = step_at(r, e.start)
                if s in self.by_step:
                    inside = union((max(o.start, e.start), min(o.end, e.end)) for o in self.by_step[s] if o.rank is r and o.computes and o.start < e.end and o.end > e.start)
                    own[s] += e.end - e.start - length(inside)
            for s, t in own.items():
                by_step[s].append(t)
                most[r.number] += t
        for row in result["rank_table"]:
            row["gc_ns"] = most[row["rank"]]
        return sum((max(x) for x in by_step.values()), Fraction(0)) / len(self.steps), max(most, key=lambda n: (most[n], -n), default=None)

    def add_dimensions(self, result):
        rows = {}
        row_of = lambda kind: rows.setdefault(kind, {"dimension": kind, "size": result.get(kind), "count": 0, "time_ns": 0, "exposed_ns": 0, "waited_ns": 0, "transfer_ns": 0})
        for rank in self.ranks:
            other = [] if rank.host else union((e.start, e.end) for e in rank.work if id(e) not in {id(t.event) for t in rank.talks})
            for talk in rank.talks:
                if step_at(rank, talk.issued) in self.by_step:
                    row, span = row_of(talk.kind), (talk.event.start, talk.event.end)
                    row["count"] += 1
                    row["time_ns"] += span[1] - span[0]
                    if not rank.host:
                        row["exposed_ns"] += span[1] - span[0] - length([(max(a, span[0]), min(b, span[1])) for a, b in other if a < span[1] and b > span[0]])
        groups = {id(o.group): o.group for o in self.ops if o.is_message}.values()
        for group in [[o for o in g] for g in groups] + list(self.met()):
            if len(group) > 1:
                last = max(o.start for o in group)
                for o in group:
                    row = row_of("pp" if isinstance(o, Op) else o.kind)
                    waited = min(last - o.start, o.end - o.start)
                    row["waited_ns"] += waited
                    row["transfer_ns"] += o.end - o.start - waited
        result["dimensions"] = [rows[k] for k in sorted(rows)]

    def met(self):
        """Collectives of groups that are known, by their order in the step."""
        found, seen = collections.defaultdict(list), collections.Counter()
        for rank in self.ranks:
            for talk in sorted(rank.talks, key=lambda t: t.event.start):
                step = step_at(rank, talk.issued)
                if not talk.direction and talk.kind != "-" and step in self.by_step:
                    place = tuple((k, v) for k, v in rank.at.items() if k != talk.kind) if talk.kind in KINDS else ()
                    key = talk.kind, talk.what, place, step
                    seen[key, rank.number] += 1
                    found[key, seen[key, rank.number]].append(talk)
        return found.values()

    def add_shape(self, result):
        computes = [o for o in self.ops if o.computes]
        counts = collections.defaultdict(set)
        for o in computes:
            counts[o.step, self.pipeline(o.rank)].add(o.mb)
        result["microbatches"] = max((len(c) for c in counts.values()), default=None)
        result["chunks"] = 1 + max((o.chunk for o in computes), default=0)
        first = self.steps[0]
        last = max((o.rank.at["pp"] for o in computes if o.rank.at["pp"] is not None), default=None)
        own = [o for o in self.by_step[first] if o.computes and o.rank.at["pp"] == last]
        result["schedule"] = None
        if own:
            one = self.pipeline(own[0].rank), own[0].rank.number
            own = [o for o in own if o.rank.number == one[1]]
            forwards, backs = [o.start for o in own if o.kind == "forward-compute"], [o.start for o in own if o.direction == "backward"]
            if forwards and backs:
                all_first = min(backs) > max(forwards)
                result["schedule"] = (("GPipe", "1F1B") if result["chunks"] == 1 else ("looped BFS", "interleaved 1F1B"))[not all_first]


def pearson(x, y):
    if len(x) < 2:
        return None
    a, b = sum(x) / len(x), sum(y) / len(y)
    xx, yy = sum((v - a) ** 2 for v in x), sum((v - b) ** 2 for v in y)
    return sum((v - a) * (w - b) for v, w in zip(x, y)) / math.sqrt(xx * yy) if xx > 0 and yy > 0 else None


def load(path):
    with (gzip.open(path) if path.endswith(".gz") else open(path, "rb")) as file:
        return json.load(file)


def figures(paths, steps=None):
    datas = [load(path) for path in paths]
    if isinstance(datas[0], list):
        return Job(read_timeline(datas[0]), True, False, steps).answer()
    return Job(*(lambda r: (r[0], False, r[1]))(read_kineto(datas, paths)), steps).answer()


def plain(value):
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    steps = {int(s) for s in args.steps.split(",")} if args.steps else None
    print(json.dumps(plain(figures(args.files, steps)), indent=1))


if __name__ == "__main__":
    main()
