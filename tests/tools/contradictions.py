#!/usr/bin/env python3
"""Contradict sound traces at random, and check that nothing false is said of them.

    contradictions.py PROGRAM SEEDS MADE TRACE...

MADE sound traces are made besides those given. For each seed of the range SEEDS (1-100) one of the traces, which are JSON of PyTorch, loses, zeroes, shifts, lengthens,
duplicates or unlinks records of one class. `tpa summary` of the mutant is compared with that of the sound trace: the first
sentence, findings and gates must not state what the sound trace refutes, and what is missing must be said. One line per
falsehood; exit status 1 if there is any.
"""

import copy
import gzip
import json
import random
import re
import subprocess
import sys
import tempfile

CLASSES = {
    "kernels": lambda e: e.get("cat") in ("kernel", "Kernel"),
    "copies": lambda e: e.get("cat") in ("gpu_memcpy", "gpu_memset", "Memcpy", "Memset"),
    "launches": lambda e: is_call(e) and "Launch" in e["name"] and "Graph" not in e["name"],
    "graphs": lambda e: is_call(e) and "GraphLaunch" in e["name"],
    "work of graphs": None,  # depends on the other records
    "waits": lambda e: is_call(e) and "Synchronize" in e["name"],
    "operators": lambda e: e.get("cat") in ("cpu_op", "Operator"),
}
DEVICE = ("kernels", "copies", "work of graphs")
MARGIN = 0.05  # shares may differ by so much
LACKS = {"lost_work", "lost_few", "untimed_work", "late_end", "doubled_work", "untimed"}


def is_call(event):
    return event.get("ph") == "X" and str(event.get("cat", "")).lower() in ("cuda_runtime", "cuda_driver", "runtime", "hip_runtime")


def load(path):
    data = open(path, "rb").read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def members(document, name):
    events = [e for e in document["traceEvents"] if isinstance(e, dict) and e.get("ph") == "X" and "dur" in e]
    if name != "work of graphs":
        return [e for e in events if CLASSES[name](e)]
    graphs = {e["args"].get("correlation") for e in events if CLASSES["graphs"](e) and e.get("args")}
    return [e for e in events if e.get("cat") == "kernel" and e.get("args", {}).get("correlation") in graphs]


def mutate(document, rng):
    """A mutant, and what was done: class, action, share; None if the class is empty."""
    document = copy.deepcopy(document)
    name = rng.choice(list(CLASSES))
    action = rng.choice(["drop", "zero", "shift", "lengthen", "duplicate", "unlink"])
    if action in ("zero", "lengthen") and name not in DEVICE:
        action = "drop"
    all_of = members(document, name)
    share = rng.choice([0.1, 0.3, 0.6, 1.0])
    chosen = [e for e in all_of if rng.random() < share]
    if not chosen:
        return None
    by_id = {id(e) for e in chosen}
    if action == "drop":
        document["traceEvents"] = [e for e in document["traceEvents"] if id(e) not in by_id]
    elif action == "zero":
        for event in chosen:
            event["ts"] = 0
    elif action == "shift":
        far = rng.choice([-1, 1]) * rng.choice([200e6, 86400e6 * 365])
        for event in chosen:
            event["ts"] = float(event["ts"]) + far
    elif action == "lengthen":
        for event in chosen[: max(1, len(all_of) // 10)]:
            event["dur"] = float(event["dur"]) + rng.choice([1e5, 1.6e6, 1e9])
    elif action == "duplicate":
        document["traceEvents"] += copy.deepcopy(chosen)
    else:
        how = rng.choice(["absent", "zero"])
        for event in chosen:
            args = event.get("args", {})
            args.pop("External id", None)
            args.pop("correlation", None)
            if how == "zero":
                args["correlation"] = 0
    return document, (name, action, share, len(chosen) / len(all_of))


def made(seed):
    """A sound trace of a loop: operators that launch kernels and copies, or replay a graph, and a wait at the end of each step."""
    rng = random.Random(f"sound {seed}")
    events, number, at, free = [], 1, 1000.0, 0.0
    graphs, pause = rng.random() < 0.4, rng.choice([0, 20, 200, 1500])

    def host(cat, name, start, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 500, "tid": 500, "ts": start, "dur": dur, "args": args})

    def device(cat, name, dur, launch, stream=7, **args):
        nonlocal free
        start = max(free, launch + 5)
        free = start + dur
        args = {"device": 0, "stream": stream, "correlation": number, **args}
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": start, "dur": dur, "args": args})

    for step in range(rng.randint(4, 8)):
        begin = at
        for _ in range(rng.randint(3, 10)):
            host("cpu_op", rng.choice(["aten::mm", "aten::relu", "aten::add"]), at, 30, **{"External id": number})
            number += 1
            if graphs:
                host("cuda_runtime", "cudaGraphLaunch", at + 5, 10, correlation=number)
                for node in range(rng.randint(2, 6)):
                    device("kernel", f"node_{node}", rng.randint(10, 80), at + 5)
            elif rng.random() < 0.2:
                host("cuda_runtime", "cudaMemcpyAsync", at + 5, 5, correlation=number)
                device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 20, at + 5, bytes=4096)
            else:
                host("cuda_runtime", "cudaLaunchKernel", at + 5, 5, correlation=number)
                device("kernel", rng.choice(["gemm", "relu", "add"]), rng.randint(20, 200), at + 5)
            number += 1
            at += 40 + rng.choice([0, 0, pause])
        wait = max(free - at, 5)
        host("cuda_runtime", "cudaStreamSynchronize", at, wait, correlation=number)
        number += 1
        at += wait + 10
        host("user_annotation", f"ProfilerStep#{step}", begin, at - begin - 5)
    host("cuda_runtime", "cudaDeviceSynchronize", at, 5, correlation=number)
    device_properties = [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "numSms": 132}]
    span = {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 900, "dur": at}
    return {"schemaVersion": 1, "deviceProperties": device_properties, "traceEvents": [span, *events]}


def summary(program, path):
    done = subprocess.run([program, "summary", "--format", "json", path], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()[:300]
    return json.loads(done.stdout), None


def write(file, document):
    file.seek(0)
    file.truncate()
    file.write(json.dumps(document).encode())
    file.flush()


class Answer:
    """What a summary states."""

    def __init__(self, result):
        self.notices = {}
        for notice in result["notices"]:
            self.notices.setdefault(notice["kind"], notice["text"])
        self.counts = {n["kind"]: n["count"] for n in result["notices"]}
        self.verdict = self.notices.get("verdict", "")
        self.first = self.notices.get("answer", "")
        tables = {t["key"]: t for t in result["tables"]}
        footer = tables["overview"]["footer"]
        self.idle = footer.get("idle")
        self.recorded = footer.get("host_time_ns") or 0
        self.findings = {r["rule"]: r["saves_share"] for r in tables.get("findings", {}).get("rows", [])}
        self.text = " ".join(n["text"] for n in result["notices"])

    def says_idle(self):
        found = re.search(r"([\d.]+) % of the (?:GPU|TPU)s?'s? time is idle", self.verdict)
        return float(found.group(1)) / 100 if found and "Of the rest" not in self.verdict else None


def falsehoods(sound, mutant, done):
    name, action, _, hit = done
    lacks = LACKS & set(mutant.notices)
    idle = mutant.says_idle()
    if idle is not None and sound.idle is not None and idle > sound.idle + MARGIN and not mutant.counts.get("late_end"):
        yield f"says that {idle:.1%} is idle, where {sound.idle:.1%} is"
    for rule, share in mutant.findings.items():
        if share > sound.findings.get(rule, 0) + MARGIN and name in DEVICE:
            yield f"prices {rule} at {share:.1%}, where {sound.findings.get(rule, 0):.1%} is right"
    if "nothing was left to wait for" in mutant.text and "nothing was left to wait for" not in sound.text:
        yield "a wait is called empty"
    if "ProfilerActivity.CUDA" in mutant.text and "ProfilerActivity.CUDA" not in sound.text and not lacks:
        yield "devices are said not to have been recorded"
    if sound.recorded and mutant.recorded > 10 * sound.recorded + 1e9:
        yield f"says that {mutant.recorded / 1e9:.0f} s were recorded, where {sound.recorded / 1e9:.3f} s were"
    if name in DEVICE and action in ("drop", "zero", "shift") and hit >= 0.25 and not lacks:
        yield "does not say that work is missing"


def main():
    program, seeds, to_make, paths = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    first, last = (int(n) for n in seeds.split("-"))
    documents, sound = {}, {}
    count = bad = 0
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        for n in range(to_make):
            paths.append(f"made {n}")
            documents[paths[-1]] = made(n)
        for path in paths:
            documents[path] = documents.get(path) or load(path)
            write(file, documents[path])
            result, error = summary(program, file.name)
            if error:
                sys.exit(f"{path}: {error}")
            sound[path] = Answer(result)
        for seed in range(first, last + 1):
            rng = random.Random(seed)
            path = rng.choice(paths)
            mutant = mutate(documents[path], rng)
            if not mutant:
                continue
            document, done = mutant
            write(file, document)
            count += 1
            result, error = summary(program, file.name)
            found = [error] if error else list(falsehoods(sound[path], Answer(result), done))
            for text in found:
                bad += 1
                print(f"seed {seed}: {path}: {done[1]} {done[3]:.0%} of the {done[0]}: {text}", flush=True)
    print(f"{count} mutants of {len(paths)} traces, {bad} falsehoods")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
