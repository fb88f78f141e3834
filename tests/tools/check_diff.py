#!/usr/bin/env python3
"""Check `tpa diff` against HTA's comparison of traces, and its own sums.

    tests/tools/check_diff.py --tpa build/release/tpa BEFORE.json.gz AFTER.json.gz
    tests/tools/check_diff.py --tpa build/release/tpa --expected figures.json BEFORE.json.gz AFTER.json.gz

HTA's compare_traces looks, by default, at the first (lowest) iteration of a trace: at all host events that begin in it, and
at the GPU events that have the correlation of one of them; by name, it counts them and adds up their whole durations. That is
worked out here from the files, and compared row by row with `tpa diff --by name --first-step`. FIGURES, when given, are what
HTA itself printed: {"names", "calls": [2], "duration_us": [2], "ops": {"added", "deleted", "increased", "decreased",
"unchanged"}}.

Whatever the rows, they add up to the first line of the head.
"""
import argparse
import collections
import gzip
import json
import subprocess
import sys
from decimal import Decimal


def read_events(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        document = json.load(file, parse_float=Decimal, parse_int=Decimal)
    events = document["traceEvents"] if isinstance(document, dict) else document
    return [e for e in events if e.get("ph") == "X" and "dur" in e and e.get("cat") != "Trace"]


def on_device(event):
    """HTA asks whether the event has a stream. ROCm's calls have one, too, and annotations' shadows may have none."""
    return event.get("cat", "").lower() in ("kernel", "memcpy", "memset", "gpu_memcpy", "gpu_memset", "gpu_user_annotation",
                                            "cuda_sync", "gpu_other")


def first_iteration(path):
    """Counts and durations (ns) by name, as HTA has them; None when there is no step."""
    events = read_events(path)
    steps = [e for e in events if e["name"].startswith("ProfilerStep#") and not on_device(e)]
    if not steps:
        return None
    step = min(steps, key=lambda e: int(e["name"].split("#")[1]))
    begin, end = step["ts"], step["ts"] + step["dur"]
    chosen = [e for e in events if not on_device(e) and begin <= e["ts"] < end]
    correlations = {e["args"]["correlation"] for e in chosen if e.get("args", {}).get("correlation", 0) > 0}
    # The correlation of an annotation's shadow on a stream is none of a call, though it may be an equal number.
    chosen += [e for e in events if on_device(e) and e.get("cat") != "gpu_user_annotation"
               and e["args"].get("correlation") in correlations]
    counts, durations = collections.Counter(), collections.Counter()
    for event in chosen:
        counts[event["name"]] += 1
        durations[event["name"]] += int((event["dur"] * 1000).to_integral_value())
    return counts, durations


def run(tpa, *args):
    """The result; None when a side holds nothing of the sort that is asked for."""
    done = subprocess.run([tpa, "diff", "--format", "json", *args], check=False, capture_output=True)
    if done.returncode == 2 and b"nothing to compare" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    return json.loads(done.stdout)


def table_called(result, key):
    return next(t for t in result["tables"] if t["key"] == key)


class Checker:
    def __init__(self):
        self.wrong = 0

    def equal(self, what, found, expected):
        if found != expected:
            self.wrong += 1
            print(f"{what}: {found}, not {expected}", file=sys.stderr)


def check_names(checker, tpa, paths, expected):
    sides = [first_iteration(path) for path in paths]
    if None in sides:
        return
    rows = {r["name"]: r for r in table_called(run(tpa, "--by", "name", "--first-step", *paths), "rows")["rows"]
            if r["verdict"]}
    names = set(sides[0][0]) | set(sides[1][0])
    checker.equal("names", set(rows), names)
    for name in sorted(names & set(rows)):
        for side, word in enumerate(("before", "after")):
            checker.equal(f"calls {word} of {name}", rows[name][f"calls_{word}"] or 0, sides[side][0][name])
            checker.equal(f"time {word} of {name}", rows[name][f"{word}_ns"], sides[side][1][name])
    if not expected:
        return
    calls = [(r["calls_before"] or 0, r["calls_after"] or 0) for r in rows.values()]
    checker.equal("number of names", len(rows), expected["names"])
    for side, word in enumerate(("before", "after")):
        checker.equal(f"calls {word}", sum(c[side] for c in calls), expected["calls"][side])
        time_us = sum(r[f"{word}_ns"] for r in rows.values()) / 1000
        checker.equal(f"duration {word}", time_us, expected["duration_us"][side])
    ops = {
        "added": sum(b == 0 < a for b, a in calls),
        "deleted": sum(a == 0 < b for b, a in calls),
        "increased": sum(0 < b < a for b, a in calls),
        "decreased": sum(0 < a < b for b, a in calls),
        "unchanged": sum(a == b for b, a in calls),
    }
    checker.equal("ops", ops, expected["ops"])


def check_sums(checker, tpa, paths):
    """All rows of a table add up to the first line of the head."""
    for by in ("op", "kernel", "shape", "name", "category", "step", "thread", "stream", "device"):
        result = run(tpa, "--by", by, *paths)
        if result is None:
            continue
        whole = table_called(result, "head")["rows"][0]
        for table in result["tables"]:
            if table["key"] not in ("operators", "kernels", "rows") or not table["rows"]:
                continue
            for key in ("before_ns", "after_ns", "change_ns"):
                checker.equal(f"sum of {key} by {by} in {table['key']}", sum(r[key] for r in table["rows"]), whole[key])


def check_itself(checker, tpa, path):
    """A trace against itself: no differences."""
    result = run(tpa, path, path)
    for table in result["tables"]:
        for row in table["rows"] if table["key"] in ("head", "operators", "kernels") else ():
            if "verdict" in row and row["verdict"] not in (None, "same"):
                checker.equal(f"verdict of {row['name']} in {path}", row["verdict"], "same")
            checker.equal(f"change of {row['name']} in {path}", row["change_ns"] or 0, 0)
    checker.equal("notice", "no_differences" in [n["kind"] for n in result["notices"]], True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpa", required=True)
    parser.add_argument("--expected", help="what HTA printed, as JSON")
    parser.add_argument("paths", nargs=2)
    args = parser.parse_args()
    expected = None
    if args.expected:
        with open(args.expected, encoding="utf-8") as file:
            expected = json.load(file)
    checker = Checker()
    check_names(checker, args.tpa, args.paths, expected)
    check_sums(checker, args.tpa, args.paths)
    for path in args.paths:
        check_itself(checker, args.tpa, path)
    print(f"{' against '.join(args.paths)}: {'wrong' if checker.wrong else 'right'}")
    sys.exit(checker.wrong > 0)


main()
