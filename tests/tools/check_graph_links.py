#!/usr/bin/env python3
"""What the works of graphs are, by a capture: slow, simple, apart from tpa, written from docs/definitions.md.

    tests/tools/check_graph_links.py --tpa build/release/tpa TRACE CAPTURE        compare two recorded files
    tests/tools/check_graph_links.py --tpa build/release/tpa --random 1-40        made-up ones

Made-up captures have launches dropped and put in. At most these, and neighbours of equal names, may be lost: a work that
gets an operator gets that of a launch of its own name, in order, and as many do as the plain table of the longest common subsequence says.
"""
import argparse
import collections
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal

CALLS = ("cuda_runtime", "cuda_driver", "hip_runtime")
WORKS = ("kernel", "gpu_memcpy", "gpu_memset")


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        document = json.load(file, parse_float=Decimal)
    events = [e for e in document["traceEvents"] if e.get("ph") == "X" and "dur" in e]
    for e in events:
        e["start"] = int((Decimal(e["ts"]) * 1000).to_integral_value())
        e["end"] = e["start"] + int((Decimal(e["dur"]) * 1000).to_integral_value())
        e.setdefault("args", {})
    return events


def name_of(category, name):
    return ("copy" if category == "gpu_memcpy" or "copyBuffer" in name else "memset" if category == "gpu_memset" or "fillBuffer" in name else name)


def bodies(events):
    """Lists of (name, operator, dims) between the begin and the end of a capture; else of a step; else of the file."""
    calls = sorted((e for e in events if e.get("cat") in CALLS), key=lambda e: e["start"])
    works = {}
    for e in events:
        if e.get("cat") in WORKS and "correlation" in e["args"]:
            works.setdefault(e["args"]["correlation"], e)
    spans = []
    for e in calls:
        if "StreamBeginCapture" in e["name"]:
            end = next(c for c in calls if "StreamEndCapture" in c["name"] and c["start"] > e["start"] and c["tid"] == e["tid"])
            spans.append((e["tid"], e["start"], end["start"]))
    steps = sorted((e for e in events if e["name"].startswith("ProfilerStep#")), key=lambda e: e["start"])
    spans = spans or [(None, e["start"], e["end"]) for e in steps] or [(None, -1 << 62, 1 << 62)]
    operators = sorted((e for e in events if e.get("cat") == "cpu_op"), key=lambda e: (e["start"], -e["end"]))
    for tid, start, end in spans:
        body = []
        for e in calls:
            is_launch = ("Launch" in e["name"] and "Kernel" in e["name"]) or "Memcpy" in e["name"] or "Memset" in e["name"]
            if not is_launch or not start <= e["start"] < end or tid not in (None, e["tid"]):
                continue
            work = works.get(e["args"].get("correlation"))
            name = (name_of(work["cat"], work["name"]) if work else "copy" if "Memcpy" in e["name"] else "memset" if "Memset" in e["name"] else name_of("", e["args"].get("kernel", "")) or None)
            around = [o for o in operators if o["tid"] == e["tid"] and o["start"] <= e["start"] < o["end"]]
            op = around[-1] if around else e
            body.append((name, op["name"], json.dumps(op["args"].get("Input Dims", [])).replace(" ", "")))
        if body:
            yield body


def common(a, b):
    """Pairs of places of a longest common subsequence."""
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            best[i][j] = best[i + 1][j + 1] + 1 if a[i] == b[j] is not None else max(best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j] is not None:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def expected(trace, capture):
    """Works and device time by operator and shapes, and how many works matched. Of one-stream graphs only."""
    events, captured = read(trace), list(bodies(read(capture)))
    launches = {e["args"]["correlation"]: e for e in events if e.get("cat") in CALLS and "GraphLaunch" in e["name"]}
    replays = collections.defaultdict(list)
    for e in events:
        if e.get("cat") in WORKS and e["args"].get("correlation") in launches:
            replays[e["args"]["correlation"]].append(e)
    rows, matched, last = collections.defaultdict(lambda: [0, 0]), 0, -1
    for correlation in sorted(replays, key=lambda c: launches[c]["start"]):
        works = sorted(replays[correlation], key=lambda e: e["start"])
        names = [name_of(e["cat"], e["name"]) for e in works]
        pairs = [common(names, [launch[0] for launch in body]) for body in captured]
        best = max(len(p) for p in pairs)
        near = min(abs(len(b) - len(works)) for b, p in zip(captured, pairs) if len(p) == best)
        good = [i for i, (b, p) in enumerate(zip(captured, pairs)) if len(p) == best and abs(len(b) - len(works)) == near]
        if 2 * best < len(works):
            continue
        last = min(good, key=lambda i: (i <= last, i))
        matched += best
        for i, j in pairs[last]:
            row = rows[captured[last][j][1:]]
            row[0] += 1
            row[1] += works[i]["end"] - works[i]["start"]
    return dict(rows), matched


def ask(tpa, *args):
    done = subprocess.run([tpa, *args], check=False, capture_output=True)
    if done.returncode:
        raise SystemExit(f"tpa {' '.join(args)}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def told(tpa, trace, capture):
    document = ask(tpa, "top", "--by", "op,shape", "--format", "json", trace, "--capture", capture)
    rows = {(r["name"], r["input_shapes"].replace(" ", "")): [r["graph_works"], r["self_device_time_total_ns"]] for r in document["tables"][0]["rows"]
            if r.get("graph_works") and r["name"] != "(graph)"}
    return rows, next((n["count"] for n in document["notices"] if n["kind"] == "graph_works"), 0)


def differences(tpa, trace, capture, ambiguous=False):
    rows, matched = expected(trace, capture)
    found, found_matched = told(tpa, trace, capture)
    if matched != found_matched:
        yield f"{found_matched} works matched, not {matched}"
    if not ambiguous and rows != found:
        yield f"rows are {found}, not {rows}"
    roofline = {t["key"]: t["rows"] for t in ask(tpa, "roofline", "--format", "json", "--limit", "0", trace, "--capture", capture)["tables"]} if not ambiguous else {}
    for operator in {name for name, _ in rows} if roofline else ():
        wanted = sum(row[1] for (name, _), row in rows.items() if name == operator)
        time = sum(r.get("time_ns") or 0 for table in ("operators", "not_modelled") for r in roofline[table] if r["name"] == operator)
        if time < wanted:
            yield f"roofline gives {operator} {time} ns, not {wanted}"


# ---- made-up graphs ------------------------------------------------------------------------------


def write(path, events):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)


def write_capture(path, captures, with_names):
    events, now = [], 0

    def add(category, name, start, dur, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur, "args": args})

    for launches in captures:
        add("cuda_runtime", "cudaStreamBeginCapture", now, 1)
        now += 2
        for name, operator in launches:
            add("cpu_op", operator, now, 6, **{"Input Dims": [[len(operator)]]})
            add("cuda_runtime", "cudaLaunchKernel", now + 2, 2, **({"kernel": name} if with_names else {}))
            now += 7
        add("cuda_runtime", "cudaStreamEndCapture", now, 1)
        now += 2
    write(path, events)


def write_replays(path, replays):
    events, now = [], 0
    for correlation, names in enumerate(replays, 1):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": now, "dur": 2, "args": {"correlation": correlation}})
        now += 5
        for i, name in enumerate(names):
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": now, "dur": 1 + i % 5, "args": {"correlation": correlation, "device": 0, "stream": 7}})
            now += 7
    write(path, events)


def random_differences(tpa, seed, folder):
    chance = random.Random(seed)
    trace, capture = os.path.join(folder, "replay.json"), os.path.join(folder, "capture.json")
    pieces = [[(f"kernel_{chance.randrange(6)}", f"piece_{p}_op_{i}") for i in range(chance.randrange(20, 80))] for p in range(chance.choice([1, 1, 2, 3]))]
    if chance.random() < 0.3:
        pieces = [[(name, f"copy_{p}_{operator}") for name, operator in pieces[0]] for p in range(3)]  # captured one after the other, all alike
    rounds = chance.choice([1, 2])
    replays = [[name for name, _ in piece] for _ in range(rounds) for piece in pieces]
    write_replays(trace, replays)
    write_capture(capture, pieces, True)
    yield from differences(tpa, trace, capture)
    rows, matched = told(tpa, trace, capture)
    if matched != sum(map(len, replays)) or sum(r[0] for r in rows.values()) != matched:
        yield f"{matched} of {sum(map(len, replays))} works matched though all were captured"
    changed = [list(piece) for piece in pieces]
    edits = chance.randrange(1, 6)
    for _ in range(edits):
        piece = chance.choice(changed)
        at = chance.randrange(len(piece))
        if chance.random() < 0.5:
            del piece[at]
        else:
            piece.insert(at, (f"kernel_{chance.randrange(7)}", "put_in"))
    write_capture(capture, changed, True)
    yield from differences(tpa, trace, capture, ambiguous=True)
    if told(tpa, trace, capture)[1] < sum(map(len, replays)) - edits * rounds:
        yield f"{edits} launches changed, and more are lost"
    write_capture(capture, pieces, False)
    rows, matched = told(tpa, trace, capture)
    if len({len(piece) for piece in pieces}) == 1 and matched != sum(map(len, replays)):
        yield f"by place {matched} of {sum(map(len, replays))} matched"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tpa", required=True)
    parser.add_argument("--random", metavar="FIRST-LAST")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    failed = 0
    if args.random:
        first, last = map(int, args.random.split("-"))
        for seed in range(first, last + 1):
            with tempfile.TemporaryDirectory() as folder:
                for line in random_differences(args.tpa, seed, folder):
                    print(f"seed {seed}: {line}")
                    failed += 1
    for line in differences(args.tpa, *args.files) if args.files else []:
        print(line)
        failed += 1
    print(f"{failed} differences")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
