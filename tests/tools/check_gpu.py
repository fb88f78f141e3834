#!/usr/bin/env python3
"""Hold what tpa says of GPUs to exact figures, and to its own identities.

    check_gpu.py --tpa PROGRAM TRACES [EXPECTED]

TRACES is searched for *.json.gz and *.json. For each trace the parts of every device must add up to its span, and the
rows of the other commands to the totals of `tpa gpu`. Where EXPECTED holds a file of the trace's name, every figure in
it must be what `tpa gpu --format json` prints.
"""

import argparse
import json
import pathlib
import subprocess
import sys


def run(tpa, command, trace):
    arguments = [tpa, command, "--format", "json", "--columns", "all", "--limit", "0", str(trace)]
    text = subprocess.run(arguments, check=True, capture_output=True).stdout
    return {table["key"]: table for table in json.loads(text)["tables"]}


def column_of(rows, device):
    return [row for row in rows if str(row["device"]) == device]


def identities(tables):
    """Sentences about what does not add up."""
    for row in tables["devices"]["rows"] if "devices" in tables else []:
        where = f"rank {row['rank']} device {row['device']}: "
        parts = sum(row[key] for key in ("computation_ns", "exposed_communication_ns", "exposed_memcpy_ns", "idle_ns"))
        if parts != row["span_ns"]:
            yield f"{where}parts are {parts}, span is {row['span_ns']}"
        if row["busy_ns"] + row["idle_ns"] != row["span_ns"]:
            yield f"{where}busy and idle are not the span"
        if row["nccl_union_ns"] > row["communication_ns"] or row["exposed_memcpy_ns"] > row["memcpy_union_ns"]:
            yield f"{where}a part is larger than its whole"


def kernel_identities(tpa, trace, gpu):
    tables = run(tpa, "kernels", trace)
    rows = tables["kernels"]["rows"] if "kernels" in tables else []
    devices = gpu["devices"]["rows"] if "devices" in gpu else []
    for key, whole in (("total_ns", "kernel_sum_ns"), ("count", "kernels")):
        if sum(row[key] for row in rows) != sum(row[whole] for row in devices):
            yield f"kernels: the sum of {key} is not that of gpu's {whole}"
    for row in rows:
        if not row["min_ns"] <= row["median_ns"] <= row["max_ns"] or not row["min_ns"] <= row["average_ns"] <= row["max_ns"]:
            yield f"kernels: median or average of {row['name']} is outside its range"


def transfer_identities(tpa, trace, gpu):
    tables = run(tpa, "transfers", trace)
    if "transfers" not in tables:
        return
    rows, stalls = tables["transfers"]["rows"], tables["stalls"]
    for key, whole in (("count", "count"), ("bytes", "bytes"), ("time_ns", "sum_ns")):
        if sum(row[key] for row in rows) != sum(row[whole] for row in gpu["copies"]["rows"]):
            yield f"transfers: the sum of {key} is not that of gpu's copies"
    blocked = sum(row["blocked_ns"] for row in stalls["rows"])
    if blocked != stalls["footer"]["blocked_total_ns"] or sum(row["blocked_ns"] for row in rows) > blocked:
        yield "transfers: the stalls do not add up"
    if any(row["exposed_ns"] > row["union_ns"] or row["union_ns"] > row["time_ns"] for row in rows):
        yield "transfers: a part is larger than its whole"


def gap_identities(tpa, trace, gpu):
    tables = run(tpa, "gaps", trace)
    if "causes" not in tables:
        return
    for device in gpu["devices"]["rows"]:
        rows = [row for row in tables["causes"]["rows"] if (row["rank"], row["device"]) == (device["rank"], device["device"])]
        if sum(row["time_ns"] for row in rows) != device["idle_ns"] or sum(row["count"] for row in rows) != device["gaps"]:
            yield f"gaps: the causes of device {device['device']} are not its idle time"
        if rows and max(row["longest_ns"] for row in rows) != device["longest_gap_ns"]:
            yield f"gaps: another longest gap of device {device['device']}"
    footer = tables["gaps"]["footer"]
    listed = sum(row["length_ns"] for row in tables["gaps"]["rows"])
    if listed + footer["micro_gaps_time_ns"] != tables["causes"]["footer"]["idle_total_ns"]:
        yield "gaps: those listed and those not are not the idle time"


def launch_identities(tpa, trace, gpu):
    tables = run(tpa, "launches", trace)
    if "launches" not in tables:
        return
    rows, footer = tables["launches"]["rows"], tables["launches"]["footer"]
    if footer["unlinked"] != gpu["devices"]["footer"]["gpu_events_with_no_call_in_file"]:
        yield "launches: another count of work without a call"
    if footer["launches"] != sum(row["count"] for row in rows):
        yield "launches: the rows are not all launches"
    if any(row["total_time_ns"] < row["call_time_ns"] for row in rows):
        yield "launches: a call is longer than its launch"
    if sum(row["launches"] for row in tables["queues"]["rows"]) != sum(row["count"] for row in rows if row["kernel_time_ns"] is not None):
        yield "launches: the queues do not hold all launches"


def memory_identities(tpa, trace, expected):
    """EXPECTED is by "TYPE:NUMBER" of the device; traces that tell no totals have peaks of 0 there."""
    tables = run(tpa, "memory", trace)
    for row in tables["memory"]["rows"] if "memory" in tables else []:
        device = row["device"]
        rows = {key: [other for other in table["rows"] if (other["rank"], other["device"]) == (row["rank"], device)] for key, table in tables.items()}
        for key in ("alive", "categories"):
            if rows.get(key) and sum(part["bytes"] for part in rows[key]) != row["peak_allocated"]:
                yield f"memory: {key} on {device} is not its peak"
        for category in rows.get("categories", []):
            if max(category[key] for key in ("bytes", "start", "end")) > category["most"]:
                yield f"memory: {category['category']} has more than its most"
        for key in ("start", "end"):
            if rows.get("categories") and sum(category[key] for category in rows["categories"]) != row[key]:
                yield f"memory: the categories do not {key} as the device does"
        for key in ("allocations", "allocated", "frees", "freed"):
            if rows.get("operators") and sum(operator["self_" + key] for operator in rows["operators"]) != row[key]:
                yield f"memory: the operators' {key} on {device} are not those of the device"
        for step in rows.get("steps", []):
            if step["end"] - step["start"] != step["growth"] or not max(step["start"], step["end"]) <= step["peak"] <= row["peak_allocated"]:
                yield f"memory: step {step['step']} does not add up"
        wanted = expected.get("0:-1" if device == "cpu" else (device or "").replace("cuda", "1"))
        if wanted and wanted["events"] != row["records"]:
            yield f"memory: {row['records']} records of {device}, expected {wanted['events']}"
        for key in ("peak_allocated", "peak_reserved"):
            if wanted and wanted["peak_allocated"] and wanted[key] != row[key]:
                yield f"memory: {key} of {device} is {row[key]}, expected {wanted[key]}"


def summary_identities(tpa, trace):
    """A finding has what makes it one; the operators' shares are of all the work that there is."""
    tables = run(tpa, "summary", trace)
    gpu = run(tpa, "top", trace) if "operators" in tables else {}
    by_kernel = sum(row["self_device_time_total_ns"] or 0 for row in gpu.get("operators", {"rows": []})["rows"] if row["device_type"] == "CUDA" and not row["is_user_annotation"])
    for row in tables.get("operators", {"rows": []})["rows"]:
        if by_kernel and row["time_ns"] > by_kernel:
            yield f"summary: {row['name']} has more than all work"
    for finding in tables.get("findings", {"rows": []})["rows"]:
        if not finding["share"] > finding["threshold"] or not finding["see"] or not finding["advice"]:
            yield f"summary: {finding['rule']} is no finding"


STEP_PARTS = ("kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns", "data_loading_ns", "cpu_ns", "other_ns")


def step_identities(tpa, trace):
    for row in run(tpa, "steps", trace).get("steps", {"rows": []})["rows"]:
        if sum(row[part] for part in STEP_PARTS) != row["duration_ns"] or min(row[part] for part in STEP_PARTS) < 0:
            yield f"steps: the parts of {row['step']} are not the step"


def overview_differences(tpa, trace, overview):
    """Against the overview that TensorBoard's PyTorch plugin published: whole microseconds, percent with two digits."""
    parts = dict(zip(("Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other"), STEP_PARTS))
    tables = run(tpa, "steps", trace)
    rows = [row for row in tables["steps"]["rows"] if row["complete"]]
    if [row["step"] for row in rows] != [f"ProfilerStep#{step['Step']}" for step in overview["steps"]]:
        yield "other steps"
        return
    for row, step in zip(rows, overview["steps"]):
        for name, key in [*parts.items(), ("total_us", "duration_ns")]:
            if row[key] != 1000 * step.get(name, 0):
                yield f"{row['step']}: {name} is {row[key]} ns, expected {step.get(name, 0)} us"
    if round(tables["summary"]["rows"][-1]["average_ns"] / 1000) != overview["performance"][0]["value"]:
        yield "other average step time"
    efficiency = run(tpa, "gpu", trace)["efficiency"]["rows"][0]
    shares = (("utilization", "GPU Utilization"), ("sm_efficiency", "Est. SM Efficiency"), ("occupancy", "Est. Achieved Occupancy"))
    for key, name in shares:
        if f"{100 * efficiency[key]:.2f} %" != overview["gpu"][name]:
            yield f"{name} is {efficiency[key]}, expected {overview['gpu'][name]}"


def differences(tables, expected):
    rows = tables["devices"]["rows"] if "devices" in tables else []
    found = {str(row["device"]) for row in rows}
    if found != set(expected["devices"]):
        yield f"devices {sorted(found)}, expected {sorted(expected['devices'])}"
        return
    for device, wanted in expected["devices"].items():
        row = column_of(rows, device)[0]
        for key, value in wanted.items():
            if key == "streams":
                got = sorted(row["streams"].split(", "))
            elif key == "copies":
                fields = ("count", "bytes", "sum_ns", "union_ns", "not_under_a_kernel_ns")
                got = {copy["name"]: {field: copy[field] for field in fields} for copy in column_of(tables["copies"]["rows"], device)}
            else:
                got = row.get(key)
            if got != value:
                yield f"device {device}: {key} is {got}, expected {value}"
    for key in ("gpu_events", "gpu_events_with_no_call_in_file", "calls") if rows else ():
        if tables["devices"]["footer"].get(key) != expected[key]:
            yield f"{key} is {tables['devices']['footer'].get(key)}, expected {expected[key]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpa", required=True)
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("expected", type=pathlib.Path, nargs="?")
    parser.add_argument("--overview", type=pathlib.Path, nargs=2, metavar=("TRACE", "JSON"), help="what TensorBoard showed of TRACE")
    args = parser.parse_args()
    compared = held = wrong = 0
    traces = sorted(path for path in args.traces.rglob("*") if path.name.endswith((".json", ".json.gz")) and ".expected." not in path.name)
    for trace in traces:
        try:
            tables = run(args.tpa, "gpu", trace)
        except subprocess.CalledProcessError as error:
            if error.returncode == 2:  # it said that this is no trace
                print(f"skipped: {error.stderr.decode().splitlines()[0]}")
            else:
                print(f"{trace}: tpa ended with {error.returncode}")
                wrong += 1
            continue
        problems = list(identities(tables))
        problems += kernel_identities(args.tpa, trace, tables)
        problems += transfer_identities(args.tpa, trace, tables)
        problems += gap_identities(args.tpa, trace, tables)
        problems += launch_identities(args.tpa, trace, tables)
        problems += step_identities(args.tpa, trace)
        problems += summary_identities(args.tpa, trace)
        name = trace.name.removesuffix(".gz").removesuffix(".json") + ".json"
        expected = json.loads((args.expected / name).read_text()) if args.expected and (args.expected / name).exists() else None
        problems += memory_identities(args.tpa, trace, (expected or {}).get("memory", {}))
        if args.overview and trace == args.overview[0]:
            problems += overview_differences(args.tpa, trace, json.loads(args.overview[1].read_text()))
        held += 1
        if expected:
            problems += differences(tables, expected)
            compared += 1
        for problem in problems:
            print(f"{trace}: {problem}")
        wrong += bool(problems)
    print(f"{held} traces add up, {compared} compared, {wrong} wrong")
    return 1 if wrong or held == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
