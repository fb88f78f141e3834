#!/usr/bin/env python3
"""Hold what tpa says of several ranks against figures worked out apart from it.

    tests/tools/check_ranks.py --tpa build/release/tpa EXPECTED.json TRACE TRACE...

EXPECTED.json has clocks, steps and collectives of the traces: end_differences_ns, clock_ns, steps (start, duration, end late),
collectives (start, ends apart, the last by start and by duration), and counts of the merged file. Every figure is compared.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def ask(tpa, *words):
    done = subprocess.run([tpa, *words], check=True, capture_output=True)
    return {table["key"]: table["rows"] for table in json.loads(done.stdout)["tables"]}


def merged_of(tpa, traces, scratch):
    path = os.path.join(scratch, "merged.json")
    subprocess.run([tpa, "convert", *traces, "-o", path], check=True, capture_output=True)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def steps_of(document):
    """By step and rank: start and duration in ns, on the merged clock."""
    steps = {}
    for event in document["traceEvents"]:
        if event["ph"] == "X" and event["name"].startswith("ProfilerStep#") and event.get("cat") == "user_annotation":
            rank = next(i for i, file in enumerate(document["files"]) if event["pid"] in [p[0] for p in file["processes"]])
            steps.setdefault(int(event["name"][13:]), {})[rank] = (round(event["ts"] * 1000), round(event["dur"] * 1000))
    return steps


def differences(tpa, expected, traces, scratch):
    comm, document = ask(tpa, "comm", "--format", "json", "--limit", "0", *traces), merged_of(tpa, traces, scratch)
    clocks = [row["clock_ns"] for row in sorted(comm["ranks"], key=lambda row: row["rank"])]
    yield "clocks", clocks, expected["clock_ns"]
    for wanted, (step, found) in zip(expected["steps"], sorted(steps_of(document).items())):
        starts, ends = [found[r][0] for r in sorted(found)], [sum(found[r]) for r in sorted(found)]
        yield "step", step, wanted["step"]
        yield f"starts of step {step}", [start - starts[0] for start in starts], wanted["start_ns"]
        yield f"durations of step {step}", [found[r][1] for r in sorted(found)], wanted["duration_ns"]
        yield f"late ends of step {step}", [end - ends[0] for end in ends], wanted["end_late_ns"]
        yield f"last of step {step}", ends.index(max(ends)), wanted["last"]
    late = sorted((row["late_ns"], row["ends_apart_ns"], row["last"], row["last_by_duration"], row["late_by_duration_ns"]) for row in comm["lateness"])
    yield "collectives", late, sorted((w["late_ns"], abs(w["end_apart_ns"]), w["last_to_start"], w["last_by_duration"], w["late_by_duration_ns"]) for w in expected["collectives"])
    for row in comm["lateness"]:
        parts = [row[key] or 0 for key in ("computation_ns", "copies_ns", "communication_ns", "operators_ns", "host_ns", "queued_ns", "before_ns")]
        yield f"parts of {row['late_ns']} ns", sum(parts), row["late_ns"]
        disagree = row["last"] != row["last_by_duration"]
        yield f"sure, of {row['late_ns']} ns", row["sure"] and disagree, False
    events = document["traceEvents"]
    yield "complete events", sum(1 for e in events if e["ph"] == "X"), expected["merged"]["complete_events"]
    launched = {e["args"]["correlation"] for e in events if e["ph"] == "X" and e.get("cat") == "cuda_runtime" and "correlation" in e.get("args", {})}
    kernels = [e for e in events if e["ph"] == "X" and e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset")]
    yield "works", len(kernels), expected["merged"]["works"]
    yield "works with a launch", sum(e["args"].get("correlation") in launched for e in kernels), expected["merged"]["works_with_launch"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tpa", required=True)
    parser.add_argument("expected")
    parser.add_argument("traces", nargs="+")
    args = parser.parse_args()
    with open(args.expected, encoding="utf-8") as file:
        expected = json.load(file)
    failed = compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        for what, found, wanted in differences(args.tpa, expected, args.traces, scratch):
            compared += 1
            if found != wanted:
                failed += 1
                print(f"{what}: {found} instead of {wanted}")
    print(f"{compared} figures compared, {failed} differ")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
