#!/usr/bin/env python3
"""Hold what tpa says of recordings of Ascend, and of other devices, to exact figures that were computed without it.

    check_ascend.py --tpa PROGRAM --traces DIR EXPECTED.json...

DIR holds the folder `traces`, below which the files lie that the figures are of. There are three kinds of EXPECTED.json:

    {"trace": FILE, "form": "json" or "db", "gpu": [...], "kernels": [...], "comm", "steps", "operators", ...}
    {"traces": FOLDER of ranks, "matched": [collectives of two ranks]}
    [{"input": FILE, "args": [command ...], "table": KEY, "where": {...}, "want": {...}, "sum": {...}, "rows": N,
      "no": {...}, "match": {...}, "exit": N, "says": TEXT}, ...]

Prints what differs and how many figures were compared; exit status 0 when nothing differs.
"""

import argparse
import json
import pathlib
import subprocess
import sys


class Check:
    def __init__(self, tpa, path):
        self.tpa, self.path, self.compared, self.wrong = tpa, path, 0, []

    def run(self, *words):
        return subprocess.run([self.tpa, *words], capture_output=True, text=True)

    def tables(self, command, path=None, *words):
        done = self.run(command, "--format", "json", "--columns", "all", "--limit", "0", *words, str(path or self.path))
        if done.returncode:
            self.wrong.append(f"tpa {command}: exit {done.returncode}: {done.stderr.strip()[:300]}")
            return {}
        return {table["key"]: table["rows"] for table in json.loads(done.stdout)["tables"]}

    def same(self, what, wanted, found):
        self.compared += 1
        if wanted != found:
            self.wrong.append(f"{what}: expected {wanted}, tpa says {found}")


def total(rows, key):
    return sum(row.get(key) or 0 for row in rows)


def check_devices(check, want, folder):
    rows = {row["device"]: row for row in check.tables("gpu").get("devices", [])}
    names = {row["device"]: row["name"] for row in check.tables("info").get("devices", [])}
    check.same("gpu: devices", sorted(row["device"] for row in want["gpu"]), sorted(rows))
    for row in want["gpu"]:
        found = rows.get(row["device"], {})
        for key in ("span_ns", "busy_ns", "idle_ns", "computation_ns", "communication_ns", "exposed_communication_ns",
                    "memcpy_union_ns", "exposed_memcpy_ns", "events", "kernels", "kernel_sum_ns", "kernel_union_ns", "gaps",
                    "longest_gap_ns"):
            check.same(f"gpu {row['device']}: {key}", row[key], found.get(key))
        check.same(f"gpu {row['device']}: streams", ", ".join(map(str, row["streams"])), found.get("streams"))
        if row["name"]:
            check.same("info: name of the device", row["name"], names.get(row["device"]))
    causes = check.tables("gaps").get("causes", [])
    check.same("gaps: causes add up to idle", total(want["gpu"], "idle_ns"), total(causes, "time_ns"))


def kind_of_collective(name):
    return name.split("__")[0]


def check_kernels(check, want):
    rows = {row["name"]: row for row in check.tables("kernels").get("kernels", [])}
    kernels = {}
    for row in want["kernels"]:
        kernels[row["name"]] = row
    for operation in want["comm"]["operations"]:
        name, took = kind_of_collective(operation["name"]), operation["duration_ns"]
        row = kernels.setdefault(name, {"name": name, "count": 0, "total_ns": 0, "min_ns": took, "max_ns": took})
        row["count"] += 1
        row["total_ns"] += took
        row["min_ns"], row["max_ns"] = min(row["min_ns"], took), max(row["max_ns"], took)
    check.same("kernels: names", sorted(kernels), sorted(rows))
    for name, row in kernels.items():
        for key in ("count", "total_ns", "min_ns", "max_ns"):
            check.same(f"kernels: {name}: {key}", row[key], rows.get(name, {}).get(key))


def check_communication(check, want):
    rows = check.tables("comm").get("collectives", [])
    comm = want["comm"]
    for key in ("count", "time_ns", "exposed_ns"):
        check.same(f"comm: {key}", comm[key], total(rows, key))
    for operation in comm["operations"]:
        found = [row for row in rows if row["collective"] == operation["kind"] and row["size"] == operation["bytes"] and
                 row["min_ns"] <= operation["duration_ns"] <= row["max_ns"] and row["library"] == "HCCL"]
        check.same(f"comm: {operation['name']}", 1, len(found))
    copies = check.tables("transfers").get("transfers", [])
    for key in ("count", "time_ns", "bytes"):
        check.same(f"transfers: {key}", want["copies"][key], total(copies, key))


def check_steps(check, want):
    rows = {f"ProfilerStep#{row['step']}" if isinstance(row["step"], int) else row["step"]: row
            for row in check.tables("steps").get("steps", [])}
    check.same("steps: names", sorted(step["step"] for step in want["steps"]), sorted(rows))
    for step in want["steps"]:
        for key in ("duration_ns", "host_duration_ns", "gpu_events", "kernel_ns", "memcpy_ns", "communication_ns"):
            check.same(f"{step['step']}: {key}", step[key], rows.get(step["step"], {}).get(key))


def check_operators(check, want):
    rows = check.tables("top").get("operators", [])
    hosts = {row["name"]: row for row in rows if row["device_type"] == "CPU"}
    check.same("top: type of device", {"CPU", "NPU"}, {row["device_type"] for row in rows})
    for row in want["operators"]:
        # torch calls all steps by one name
        name = "ProfilerStep*" if row["name"].startswith("ProfilerStep#") else row["name"]
        found = hosts.get(name, {})
        for key in ("count", "cpu_time_total_ns", "self_device_time_total_ns", "device_time_total_ns"):
            if key.endswith("_time_total_ns") and "self" not in key and row.get("recursive"):
                continue  # an operator within itself counts twice there, and once here
            check.same(f"top: {row['name']}: {key}", row[key], found.get(key))
    check.same("top: device time of operators", want["totals"]["self_device_of_operators_ns"],
               total(hosts.values(), "self_device_time_total_ns"))


def check_launches(check, want):
    rows = check.tables("launches").get("launches", [])
    check.same("launches: calls", want["launches"]["calls"], total(rows, "count"))
    check.same("launches: time of calls", want["launches"]["call_time_ns"], total(rows, "call_time_ns"))


def check_memory(check, want, folder):
    rows = [row for row in check.tables("memory", folder).get("memory", []) if row["device"].startswith("npu")]
    check.same("memory: devices", 1, len(rows))
    for key in ("allocations", "allocated", "frees", "freed", "peak_allocated", "peak_reserved"):
        check.same(f"memory: {key}", want["memory"][key], rows[0].get(key) if rows else None)


def check_info(check, want):
    (row,) = check.tables("info").get("files", [{}])
    check.same("info: rank", want["rank"], row.get("rank"))
    check.same("info: producer", "torch_npu (Ascend)", row.get("producer"))
    check.same("info: steps", len(want["steps"]), row.get("steps"))


def check_recording(check, want):
    check_info(check, want)
    check_devices(check, want, None)
    check_kernels(check, want)
    check_communication(check, want)
    check_steps(check, want)
    check_operators(check, want)
    check_launches(check, want)
    check_memory(check, want, check.path.parent)
    for key, notice in (("derived", "derived"), ("parts_of_collectives", "parts_of_collectives"), ("containers", "containers")):
        done = check.run("gpu", "--format", "json", str(check.path))
        notices = json.loads(done.stdout)["notices"] if done.returncode == 0 else []
        counts = {row["kind"]: row["count"] for row in notices}
        check.same(f"left out: {key}", want["left_out"][key], counts.get(notice, 0))


def check_ranks(check, want):
    tables = check.tables("comm")
    seen = {row["number"]: row["seen"] for row in tables.get("waits", [])}
    late = {row["number"]: row for row in tables.get("lateness", [])}
    check.same("comm of ranks: collectives matched", len(want["matched"]), len([n for n in seen.values() if n == 2]))
    for match in want["matched"]:
        number = int(match["name"].split("_")[-2])
        for key in ("last_by_duration", "late_by_duration_ns"):
            check.same(f"comm of ranks: {match['name']}: {key}", match[key], late.get(number, {}).get(key))


def fits(row, wanted):
    return all(row.get(key) in value if isinstance(value, list) else row.get(key) == value for key, value in wanted.items())


def check_row(check, case):
    command, *words = case["args"]
    where = f"{case['input']}: {command}"
    if "exit" in case:
        done = check.run(command, *words, str(check.path))
        check.same(f"{where}: exit status", case["exit"], done.returncode)
        check.same(f"{where}: says {case['says']}", True, case["says"] in done.stderr)
        return
    rows = check.tables(command, None, *words).get(case["table"], [])
    chosen = [row for row in rows if fits(row, case.get("where", {}))]
    if "rows" in case:
        check.same(f"{where}: rows", case["rows"], len(rows))
    if "want" in case:
        check.same(f"{where}: rows that fit {case.get('where')}", 1, len(chosen))
        for key, value in case["want"].items():
            check.same(f"{where}: {case.get('where')}: {key}", value, chosen[0].get(key) if chosen else None)
    for key, value in case.get("sum", {}).items():
        check.same(f"{where}: sum of {key}", value, total(chosen, key))
    if "no" in case:
        wanted = {key: value for key, value in case["no"].items() if key != "and"} | case["no"].get("and", {})
        check.same(f"{where}: no {wanted}", [], [row["name"] for row in rows if fits(row, wanted)])
    for key, value in case.get("match", {}).items():
        check.same(f"{where}: {key} has {value}", True, any(value in str(row.get(key)) for row in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tpa", required=True)
    parser.add_argument("--traces", required=True, type=pathlib.Path)
    parser.add_argument("expected", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    compared = wrong = 0
    for path in args.expected:
        want = json.loads(path.read_text())
        if isinstance(want, list):
            checks = []
            for case in want:
                checks.append(Check(args.tpa, args.traces / case["input"]))
                check_row(checks[-1], case)
        elif "matched" in want:
            checks = [Check(args.tpa, args.traces / "traces/ascend" / want["traces"])]
            check_ranks(checks[0], want)
        else:
            checks = [Check(args.tpa, args.traces / want["trace"])]
            check_recording(checks[0], want)
        for check in checks:
            compared += check.compared
            wrong += len(check.wrong)
            for line in check.wrong:
                print(f"{path.name}: {line}")
    print(f"{compared} figures compared, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
