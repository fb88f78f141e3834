#!/usr/bin/env python3
"""What tpa diff --tree must say of two sides: slow, simple, apart from tpa, written from docs/definitions.md.

    tests/tools/check_tree_diff.py --tpa build/release/tpa BEFORE.json.gz AFTER.json.gz     compare two traces
    tests/tools/check_tree_diff.py --tpa build/release/tpa --first-step BEFORE AFTER
    tests/tools/check_tree_diff.py --tpa build/release/tpa --random 1-40                    made-up pairs of sides

The alignment is that of the plain table over all pairs of children, every weight worked out anew by recursion with a memo on nodes;
tpa has a band, numbers of subtrees and an iterative walk. Made-up sides are also compared with themselves, and with one launch
dropped, which may cost no more than itself and equal neighbours.
"""
import argparse
import collections
import functools
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal

sys.setrecursionlimit(100000)
WORKS = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")


class Node:
    def __init__(self, kind, name, called, start, end, parent):
        self.kind, self.name, self.called, self.start, self.end, self.parent, self.children = kind, name, called, start, end, parent, []
        if parent:
            parent.children.append(self)

    def all(self):
        yield self
        for child in self.children:
            yield from child.all()

    @property
    def device_ns(self):
        return sum(n.end - n.start for n in self.all() if n.kind == "work")

    @property
    def path(self):
        return (self.parent.path if self.parent else ()) + ((self.name,) if self.name else ())


def in_ns(value):
    return int((Decimal(value) * 1000).to_integral_value())


def read(path, first_step):
    """The threads of a trace, each with its operators, nested, and their works."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        document = json.load(file, parse_float=Decimal)
    events = [e for e in document["traceEvents"] if e.get("ph") == "X" and "dur" in e]
    for e in events:
        e["start"] = in_ns(e["ts"])
        e["end"] = e["start"] + in_ns(e["dur"])
    steps = [e for e in events if e["name"].startswith("ProfilerStep#") and not e["cat"].startswith("gpu")]
    window = min(steps, key=lambda e: int(e["name"].split("#")[1])) if first_step else None

    def is_in(e):
        return window is None or window["start"] <= e["start"] < window["end"]

    operators, works = collections.defaultdict(list), collections.defaultdict(list)
    for e in events:
        if e["cat"] == "cpu_op" and e not in steps and is_in(e):
            operators[e["pid"], e["tid"]].append(e)
    calls = {e["args"]["correlation"]: e for e in events if e["cat"] in CALLS and "correlation" in e.get("args", {})}
    for e in events:
        call = calls.get(e.get("args", {}).get("correlation")) if e["cat"] in WORKS else None
        if call and is_in(call):
            works[call["pid"], call["tid"]].append((call["start"], e["start"], e))
    threads = []
    for thread in sorted(operators, key=lambda t: min(e["start"] for e in operators[t])):
        root = Node("thread", None, 0, 0, 0, None)
        stack, nodes = [], []
        for e in sorted(operators[thread], key=lambda e: (e["start"], -e["end"])):
            while stack and (stack[-1].end <= e["start"] or e["end"] > stack[-1].end):
                stack.pop()
            stack.append(Node("operator", e["name"], e["start"], e["start"], e["end"], stack[-1] if stack else root))
            nodes.append(stack[-1])
        for called, _, e in sorted(works[thread], key=lambda w: w[:2]):
            around = [n for n in nodes if n.start <= called < n.end]
            around = [n for n in around if n is around[-1] or n in ancestors(around[-1])]
            Node("work", e["name"], called, e["start"], e["end"], around[-1] if around else root)
        for node in root.all():
            node.children.sort(key=lambda n: (n.called, n.kind == "work"))
        threads.append(root)
    return threads


def ancestors(node):
    while node.parent:
        node = node.parent
        yield node


# ---- the definition ------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def content(node):
    return node.kind, node.name, tuple(content(child) for child in node.children)


@functools.lru_cache(maxsize=None)
def weight(a, b):
    return 1 + align(a, b)[0]


@functools.lru_cache(maxsize=None)
def align(a, b):
    """How many nodes below A and B can be aligned, and the pairs of their children."""
    left, right = list(a.children), list(b.children)
    head, tail = [], []
    while left and right and content(left[0]) == content(right[0]):
        head.append((left.pop(0), right.pop(0)))
    while left and right and content(left[-1]) == content(right[-1]):
        tail.insert(0, (left.pop(), right.pop()))
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]

    def pair(i, j):
        is_one = (left[i].kind, left[i].name) == (right[j].kind, right[j].name)
        return weight(left[i], right[j]) + best[i + 1][j + 1] if is_one else -1

    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], pair(i, j))
    pairs, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if pair(i, j) == best[i][j]:
            pairs.append((left[i], right[j]))
            i, j = i + 1, j + 1
        elif best[i + 1][j] == best[i][j]:
            i += 1
        else:
            j += 1
    return best[0][0] + sum(sum(1 for _ in x.all()) for x, _ in head + tail), head + pairs + tail


def text(path):
    return " > ".join(path) or "(thread)"


def expected(before, after):
    """Counts, rows of paths, and the subtrees that are not aligned."""
    counts, paths = collections.Counter(), {}
    rest = [collections.Counter(), collections.Counter()]
    waiting = list(zip(before, after))
    for side, threads in enumerate((before[len(after):], after[len(before):])):
        rest[side].update((text(()), child.kind, child.name) for thread in threads for child in thread.children)
    for side, threads in enumerate((before, after)):
        for node in (n for thread in threads for n in thread.all() if n.kind != "thread"):
            counts[f"{('removed', 'added')[side]}_{node.kind}s"] += 1
            counts[f"device_{('before', 'after')[side]}_ns"] += node.end - node.start if node.kind == "work" else 0
    while waiting:
        a, b = waiting.pop()
        pairs = align(a, b)[1]
        for side, (children, node) in enumerate(((a.children, a), (b.children, a))):
            aligned = {id(pair[side]) for pair in pairs}
            rest[side].update((text(node.path), n.kind, n.name) for n in children if id(n) not in aligned)
        for x, y in pairs:
            counts[f"aligned_{x.kind}s"] += 1
            counts[f"removed_{x.kind}s"] -= 1
            counts[f"added_{x.kind}s"] -= 1
            if x.kind == "operator":
                row = paths.setdefault(text(x.path), [0] * 5)
                for i, value in enumerate((1, x.end - x.start, y.end - y.start, x.device_ns, y.device_ns)):
                    row[i] += value
        waiting += pairs
    return counts, paths, rest


# ---- tpa -----------------------------------------------------------------------------------------


def ask(tpa, *args):
    done = subprocess.run([tpa, "diff", "--tree", "--format", "json", *args], check=False, capture_output=True)
    if done.returncode:
        raise SystemExit(f"tpa diff --tree {' '.join(args)}: {done.stderr.decode()}")
    return {t["key"]: t["rows"] for t in json.loads(done.stdout)["tables"]}


def differences(tpa, before, after, first_step=False):
    """What tpa says that is not expected."""
    for cached in (content, weight, align):
        cached.cache_clear()
    counts, paths, rest = expected(read(before, first_step), read(after, first_step))
    tables = ask(tpa, *(["--first-step"] if first_step else []), before, after)
    told = tables["tree"][0]
    for key in sorted(counts):
        if told[key] != counts[key]:
            yield f"{key} is {told[key]}, not {counts[key]}"
    columns = ("aligned", "host_before_ns", "host_after_ns", "device_before_ns", "device_after_ns")
    found = {r["path"]: [r[c] for c in columns] for r in tables["paths"] if r["depth"] < 24}
    for path in found.keys() | paths.keys():
        if path.count(" > ") < 24 and found.get(path) != paths.get(path):
            yield f"{path}: {found.get(path)}, not {paths.get(path)}"
    for side, name in enumerate(("before", "after")):
        rows = collections.Counter()
        for r in tables.get("unaligned", []):
            if r["side"] == name:
                rows[r["below"], r["kind"], r["name"]] += r["count"]
        if rows != rest[side]:
            yield f"unaligned {name}: {rows - rest[side]} too much, {rest[side] - rows} missing"
    labels = tables["labels"]
    for side in ("before", "after"):
        if sum(r[f"device_{side}_ns"] for r in labels) != told[f"device_{side}_ns"]:
            yield f"device time {side} does not add up by label"
        which = "removed" if side == "before" else "added"
        for kind in ("operators", "works"):
            if sum(r[f"{kind}_{side}"] for r in labels if r["label"] != "aligned") != told[f"{which}_{kind}"]:
                yield f"{kind} {side} do not add up by label"


# ---- made-up sides -------------------------------------------------------------------------------


def make_tree(chance, depth=0):
    """[name, works or trees]"""
    children = []
    for _ in range(chance.choice([0, 1, 1, 2, 3, 5]) if depth < 4 else 0):
        children.append(f"kernel_{chance.randrange(4)}" if chance.random() < 0.4 else make_tree(chance, depth + 1))
    return [f"op_{chance.randrange(3)}", children]


def edit(chance, trees):
    """Some of TREES dropped, doubled, wrapped, unwrapped, renamed."""
    edited = []
    for tree in trees:
        what = chance.random()
        if isinstance(tree, str):
            edited += [] if what < 0.05 else [tree, tree] if what < 0.1 else [f"{tree}<{chance.randrange(9)}>"] if what < 0.15 else [tree]
            continue
        tree = [tree[0], edit(chance, tree[1])]
        edited += ([] if what < 0.06 else [tree, tree] if what < 0.1 else [["wrapper", [tree]]] if what < 0.14 else tree[1] if what < 0.18
                   else [[f"{tree[0]}_{chance.randrange(9)}", tree[1]]] if what < 0.22 else [tree])
    return edited


def write(path, trees, chance):
    events, state = [], {"now": 0, "device": 10, "correlation": 0}

    def add(tree):
        start = state["now"]
        state["now"] += 1
        if isinstance(tree, str):
            state["correlation"] += 1
            state["device"] = max(state["device"], start + 1) + 1
            args = {"correlation": state["correlation"]}
            length = chance.randrange(1, 50)
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": start, "dur": 1, "args": args})
            events.append({"ph": "X", "cat": "kernel", "name": tree, "pid": 0, "tid": 7, "ts": state["device"], "dur": length, "args": {**args, "device": 0, "stream": 7}})
            state["device"] += length
            state["now"] += 1
            return
        for child in tree[1]:
            add(child)
        state["now"] += 1
        events.append({"ph": "X", "cat": "cpu_op", "name": tree[0], "pid": 1, "tid": 1, "ts": start, "dur": state["now"] - start, "args": {}})

    add(["outermost", trees])
    chance.shuffle(events)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)


def launches(tree):
    return [tree] if isinstance(tree, str) else [work for child in tree[1] for work in launches(child)]


def drop_launch(trees, index):
    """TREES without one launch; the index of those that follow."""
    kept = []
    for tree in trees:
        if isinstance(tree, str):
            kept += [] if index == 0 else [tree]
            index -= 1
        else:
            inner, index = drop_launch(tree[1], index)
            kept.append([tree[0], inner])
    return kept, index


def random_differences(tpa, seed, folder):
    chance = random.Random(seed)
    trees = [make_tree(chance) for _ in range(chance.choice([1, 3, 10, 40]))]
    before, after, dropped = (os.path.join(folder, name) for name in ("before.json", "after.json", "dropped.json"))
    write(before, trees, chance)
    write(after, edit(chance, trees), chance)
    yield from differences(tpa, before, after)
    same = ask(tpa, before, before)["tree"][0]
    if any(same[f"{which}_{kind}"] for which in ("removed", "added") for kind in ("operators", "works")) or same["device_change_ns"]:
        yield f"a trace differs from itself: {same}"
    works = len(launches(["", trees]))
    if works:
        write(dropped, drop_launch(trees, chance.randrange(works))[0], chance)
        told = ask(tpa, before, dropped)["tree"][0]
        if (told["removed_works"], told["added_works"], told["removed_operators"], told["added_operators"]) != (1, 0, 0, 0):
            yield f"one launch dropped: {told}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tpa", required=True)
    parser.add_argument("--first-step", action="store_true")
    parser.add_argument("--random", metavar="FIRST-LAST")
    parser.add_argument("sides", nargs="*")
    args = parser.parse_args()
    failed = 0
    if args.random:
        first, last = map(int, args.random.split("-"))
        for seed in range(first, last + 1):
            with tempfile.TemporaryDirectory() as folder:
                for line in random_differences(args.tpa, seed, folder):
                    print(f"seed {seed}: {line}")
                    failed += 1
    if args.sides:
        for line in differences(args.tpa, *args.sides, args.first_step):
            print(line)
            failed += 1
    print(f"{failed} differences")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
