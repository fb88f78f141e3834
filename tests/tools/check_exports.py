#!/usr/bin/env python3
"""Hold what tpa says of XSpaces, and of exports of Nsight Systems and rocprof, to exact figures that were computed without it.

    check_exports.py --tpa PROGRAM --traces DIR EXPECTED.json...

EXPECTED.json names its trace, a file below DIR, and holds figures of it. Of an XSpace: events, times and names of each line;
steps; work, kernels, copies and operators; memory; links, all in picoseconds. Of an export: kernels, calls, copies, and what
else was measured, with counts, sums, extremes, averages, medians and deviations; devices and their gaps; launches; ranges and
their work; memory. tpa's times are whole nanoseconds, where each begin and each end is rounded down: a sum of N durations may
differ by less than N. Prints what differs and how many figures were compared; exit status 0 when nothing differs.
"""

import argparse
import csv
import io
import json
import pathlib
import re
import subprocess
import sys


class Trace:
    def __init__(self, tpa, path):
        self.tpa, self.path, self.compared, self.wrong = tpa, path, 0, []

    def run(self, *words):
        return subprocess.run([self.tpa, *words, str(self.path)], check=True, capture_output=True, text=True).stdout

    def tables(self, command, *words):
        text = self.run(command, "--format", "json", "--columns", "all", "--limit", "0", *words)
        return {table["key"]: table["rows"] for table in json.loads(text)["tables"]}

    def sql(self, query):
        """Rows as dicts of numbers and texts."""
        (table,) = json.loads(self.run("sql", "--format", "json", "--limit", "0", "-c", query))["tables"]
        return table["rows"]

    def same(self, what, wanted, found, within=0):
        """Differences of WITHIN or more are wrong; 0: all are."""
        self.compared += 1
        fine = wanted == found
        if not fine and None not in (wanted, found) and not isinstance(wanted, str):
            fine = abs(wanted - found) < within
        if not fine:
            self.wrong.append(f"{what}: expected {wanted}, tpa says {found}")

    def same_time(self, what, wanted_ps, found_ns, count=1):
        """Of sums over COUNT spans, with a second of rounding for the sums of either side."""
        self.same(what, wanted_ps / 1000, found_ns, count + 1)


# ---- XSpaces

def is_left_out(name):
    return name.startswith("end: ")


ALLOCATIONS = ("MemoryAllocation", "MemoryDeallocation")


def check_line(trace, plane, line, names, marks_kernels):
    where = f"{plane['name']} line {line['id']}"
    twins = sum(name["count"] for name in line["names"] if is_left_out(name["name"]))
    found = names.get((plane["name"], str(line["id"])), {})
    added = sum(row["n"] for row in found.values() if row["category"] == "cpu_op") if marks_kernels else 0
    trace.same(f"{where}: events", line["events"] - line["aggregated_events"] - twins,
               sum(row["n"] for row in found.values()) - added)
    if twins == 0 and line["events"]:
        trace.same(f"{where}: first start", line["first_start_ps"] // 1000, min(row["first"] for row in found.values()))
        trace.same(f"{where}: last end", line["last_end_ps"] // 1000, max(row["last"] for row in found.values()))
    shown = {}
    for row in found.values():
        if not (marks_kernels and row["category"] == "cpu_op"):
            n, ns = shown.get(row["name"], (0, 0))
            shown[row["name"]] = (n + row["n"], ns + (row["ns"] or 0))
    for name in line["names"]:
        text = name["name"]
        if text in shown and not is_left_out(text) and text not in ALLOCATIONS:
            trace.same(f"{where}: {text[:60]}: count", name["count"], shown[text][0])
            trace.same_time(f"{where}: {text[:60]}: total", name["total_ps"], shown[text][1], name["count"])
        elif not is_left_out(text) and text not in ALLOCATIONS and "TPU" not in plane["name"]:
            steps = [value for key, value in shown.items() if re.fullmatch(re.escape(text) + r" \[step \d+\]", key)]
            trace.same(f"{where}: {text[:60]}: count", name["count"], sum(n for n, _ in steps))
            trace.same_time(f"{where}: {text[:60]}: total", name["total_ps"], sum(ns for _, ns in steps), name["count"])


def check_lines(trace, oracle):
    rows = trace.sql("select coalesce(process, '') as process, cast(tid as text) as tid, name, category, count(*) as n, "
                     "sum(dur_ns) as ns, min(start_ns) as first, max(start_ns + coalesce(dur_ns, 0)) as last from events "
                     "group by 1, 2, 3, 4")
    names = {}
    for row in rows:
        names.setdefault((row["process"], row["tid"]), {})[row["name"], row["category"]] = row
    marks_kernels = any(plane["name"].startswith("/device:GPU") and plane["events"] for plane in oracle["planes"])
    for plane in oracle["planes"]:
        for line in plane["line_figures"]:
            check_line(trace, plane, line, names, marks_kernels)


def check_steps(trace, steps):
    rows = {row["step"]: row for row in trace.sql("select step, start_ns, end_ns from steps")}
    for step in steps:
        number = step.get("step_num", int(step["name"]) if step["name"].isdigit() else step.get("group_id"))
        row = rows.get(number)
        trace.same(f"step {number}", True, row is not None)
        if row and len(steps) == len(rows):
            trace.same_time(f"step {number}: length", step["duration_ps"], row["end_ns"] - row["start_ns"])
    trace.same("steps", len(steps), len(rows))


def check_gpus(trace, devices):
    rows = {row["device"]: row for row in trace.tables("gpu").get("devices", [])}
    for device in devices:
        number = int(device["plane"].rsplit(":", 1)[1])
        row, where = rows.get(number), device["plane"]
        works = device["kernels"] + device["copies"] + device["others"]
        if not row:
            trace.same(f"{where}: work", works, 0)
            continue
        trace.same(f"{where}: kernels", device["kernels"], row["kernels"])
        trace.same(f"{where}: work", works, row["events"])
        trace.same_time(f"{where}: kernel union", device["kernel_union_ps"], row["kernel_union_ns"], works)
        trace.same_time(f"{where}: copy union", device["copy_union_ps"], row["memcpy_union_ns"], works)
        trace.same_time(f"{where}: busy", device["busy_union_ps"], row["busy_ns"], works)
        trace.same("%s: span" % where, device["last_ps"] // 1000 - device["first_ps"] // 1000, row["span_ns"])


def check_kernel_names(trace, kernels, unit):
    rows = {row["name"]: row for row in trace.sql(
        "select name, count(*) as n, sum(dur_ns) as ns, min(dur_ns) as least, max(dur_ns) as most from kernels group by 1")}
    for kernel in kernels:
        row = rows.get(kernel["name"], {"n": 0, "ns": 0, "least": 0, "most": 0})
        where, scale = f"kernel {kernel['name'][:60]}", 1000 // unit
        trace.same(f"{where}: count", kernel["count"], row["n"])
        for key, found in (("total", row["ns"]), ("min", row["least"]), ("max", row["most"])):
            wanted = kernel.get(key + "_ps", kernel.get(key))
            trace.same(f"{where}: {key}", wanted / scale, found,
                       (kernel["count"] + 1 if key == "total" else 2) if unit == 1 else 0)
    trace.same("kernels", len(kernels), len(rows))


def check_copies(trace, copies):
    rows = trace.sql("select device, name, count(*) as n, sum(dur_ns) as ns, sum(bytes) as bytes from copies group by 1, 2")
    for copy in copies:
        plane, name = copy["what"].split(" ", 1)
        found = [row for row in rows if row["device"] == int(plane.rsplit(":", 1)[1]) and row["name"] == name]
        where = f"copies {copy['what']}"
        trace.same(f"{where}: count", copy["count"], sum(row["n"] for row in found))
        trace.same_time(f"{where}: total", copy["total_ps"], sum(row["ns"] for row in found), copy["count"])
        trace.same(f"{where}: bytes", copy["bytes"], sum(row["bytes"] or 0 for row in found))


def check_operators(trace, operators):
    """Operators of HLO: on the host by their own name, on devices by the operator that launched the work."""
    host = {(row["name"], row["module"]): row for row in trace.sql(
        "select name, coalesce(hlo_module, '') as module, count(*) as n, sum(dur_ns) as ns from events where kind = 'operator' "
        "group by 1, 2")}
    work = {row["name"]: row for row in trace.sql(
        "select coalesce(operator_name, '') as name, count(*) as n, sum(dur_ns) as ns from launches group by 1")}
    sums = {}  # programs of one module are one
    for operator in operators:
        key = (operator["plane"].startswith("/device"), operator["module"], operator["hlo_op"])
        count, ps = sums.get(key, (0, 0))
        sums[key] = (count + operator["count"], ps + operator["total_ps"])
    for (on_device, module, name), (count, ps) in sums.items():
        found = work.get(f"{module}/{name}") if on_device else host.get((name, module))
        found = found or {"n": 0, "ns": 0}
        trace.same(f"operator {module}/{name}: count", count, found["n"])
        trace.same_time(f"operator {module}/{name}: total", ps, found["ns"], count)


def check_memory(trace, memory):
    devices = trace.sql("select device_type, device, count(*) as n, sum(bytes > 0) as allocations, sum(bytes < 0) as frees, "
                        "sum(max(bytes, 0)) as allocated, max(allocated_bytes) as peak from memory group by 1, 2")
    for name, figures in memory.items():
        wanted = (figures["events"], figures["peak_in_window_bytes"], figures["allocated_bytes_sum"])
        found = [(row["n"], row["peak"], row["allocated"]) for row in devices]
        trace.same(f"allocator {name}: records, peak, bytes allocated", str(wanted),
                   str(wanted) if wanted in found else str(sorted(found)))
    trace.same("allocators", len(memory), len(devices))


def check_links(trace, links):
    (row,) = trace.sql("select count(*) as n, count(call) as linked, sum(delay_ns) as delay, min(delay_ns) as least, "
                       "max(delay_ns) as most, sum(delay_ns < 0) as early from launches")
    count, latency = links["device_events_linked"], links["launch_to_start_ps"]
    trace.same("links: work", links["device_events_with_correlation_id"] + links["device_events_without"], row["n"])
    trace.same("links: linked", count, row["linked"])
    trace.same("links: work before its launch", links["starts_before_its_launch"], row["early"])
    trace.same_time("links: sum of delays", latency["sum"], row["delay"], count)
    trace.same_time("links: shortest delay", latency["min"], row["least"])
    trace.same_time("links: longest delay", latency["max"], row["most"])


def check_xspace(trace, figures):
    derived = figures["derived"]
    check_lines(trace, figures["oracle"])
    check_steps(trace, derived["steps"])
    check_gpus(trace, derived["gpu"])
    if derived["gpu"]:
        check_kernel_names(trace, derived["kernels"], 1)
        check_copies(trace, derived["copies"])
    check_operators(trace, derived["hlo_ops"])
    check_memory(trace, derived["memory"])
    if "links" in figures:
        check_links(trace, figures["links"])


# ---- exports

def reports(trace):
    """The reports of `tpa top --format nsys` by name, each a list of dicts of texts."""
    found = {}
    for part in re.split(r"\n? \*\* .*\((\w+)\):\n\n", trace.run("top", "--format", "nsys"))[1:]:
        if re.fullmatch(r"\w+", part):
            name = part
        else:
            found[name] = list(csv.DictReader(io.StringIO(part.strip("\n") + "\n")))
    return found


def number(text):
    return float(text) if text not in ("", None) else None


def check_sums(trace, what, wanted, rows, name_of, unit="ns"):
    """Rows of a report against figures with the same names; medians and deviations have one decimal."""
    left = list(rows)
    nameless = [figures for figures in wanted if not figures["name"]]
    if len(nameless) > 1:  # to tpa a missing name and an empty one are the same
        wanted = [figures for figures in wanted if figures["name"]]
        (row,) = [row for row in left if name_of(row) == ""]
        left.remove(row)
        rows = left[:]
        for key, column in (("count", "Instances"), ("total", "Total Time (ns)")):
            trace.same(f"{what}: without a name: {key}", sum(figures[key] for figures in nameless), int(row[column]))
    for figures in wanted:
        name = figures["nsys_name"] if "nsys_name" in figures else figures["name"] or ""
        match = [row for row in left if name_of(row) == name and row.get("Style", figures.get("style")) == figures.get("style")]
        if len(match) > 1:  # of equal names, the one with the same total
            match = [row for row in match if number(row.get(f"Total Time ({unit})")) == figures["total"]] or match
        if not match:
            trace.same(f"{what}: {name[:60]}", "a row", "none")
            continue
        row = match[0]
        left.remove(row)
        count = row.get("Instances", row.get("Num Calls", row.get("Count")))
        trace.same(f"{what}: {name[:60]}: count", figures["count"], int(count))
        if unit == "MB":
            for key, column, scale in (("total", "Total (MB)", 1e6), ("min", "Min (MB)", 1e6), ("max", "Max (MB)", 1e6)):
                trace.same(f"{what}: {name[:60]}: {key}", figures[key] / scale, number(row[column]), 0.0006)
            continue
        for key, column, within in (("total", "Total Time (ns)", 0), ("min", "Min (ns)", 0), ("max", "Max (ns)", 0),
                                    ("avg", "Avg (ns)", 0.11), ("med", "Med (ns)", 0.11), ("stddev", "StdDev (ns)", 0.11),
                                    ("percent", "Time (%)", 0.11)):
            if key in figures:
                trace.same(f"{what}: {name[:60]}: {key}", figures[key] or 0, number(row[column]), within)
    if len(wanted) != 200:  # figures of more are cut there
        trace.same(f"{what}: rows", len(wanted), len(rows))


def check_devices(trace, devices, by_process):
    """Busy, idle and gaps of each device; those of several processes are devices of several files."""
    rows = trace.tables("gpu").get("devices", [])
    for name, figures in devices.items():
        match = [row for row in rows if row["events"] == figures["ops"] and row["busy_ns"] == figures["busy"]]
        trace.same(f"device {name}: work and busy time", f"{figures['ops']} {figures['busy']}",
                   f"{match[0]['events']} {match[0]['busy_ns']}" if match else
                   ", ".join(f"{row['events']} {row['busy_ns']}" for row in rows))
        if match:
            trace.same(f"device {name}: span", figures["span"], match[0]["span_ns"])
            trace.same(f"device {name}: idle", figures["idle"], match[0]["idle_ns"])
            # Work of no length divides a gap in two for tpa.
            (row,) = trace.sql("select count(*) as n from launches where dur_ns = 0")
            trace.same(f"device {name}: gaps", figures["gaps"]["count"], match[0]["gaps"], row["n"] + 1)
    if by_process:
        trace.same("devices", len([1 for figures in devices.values() if figures["ops"]]), len(rows))


def check_latency(trace, wanted):
    (row,) = trace.sql("select count(call) as linked, count(*) - count(call) as alone, sum(delay_ns) as total, "
                       "min(delay_ns) as least, max(delay_ns) as most from launches where kind = 'kernel' "
                       "and name not like 'CUDA graph %'")
    if wanted["linked"] > row["linked"] + row["alone"]:
        return  # a driver call in a runtime call with the same number: the figures are of both
    trace.same("launches: linked", wanted["linked"], row["linked"])
    if "kernels_without_call" in wanted:
        trace.same("launches: kernels without call", wanted["kernels_without_call"], row["alone"])
    delays = wanted.get("from_call_start")
    if delays:
        for key, found in (("total", row["total"]), ("min", row["least"]), ("max", row["most"])):
            trace.same(f"launches: delay: {key}", delays[key], found)


def check_launch_times(trace, wanted, rows):
    """Of each thread, device, call and kernel: the call, the queue, the kernel, and all of it."""
    found = {(row["PID"], row["TID"], row["DevId"], row["API Name"], row["Kernel Name"]): row for row in rows}
    for figures in wanted:
        row = found.get(tuple(str(figures[key]) for key in ("pid", "tid", "device", "api", "kernel")))
        where = f"launches of {figures['kernel'][:50]} on {figures['tid']}"
        if not row:
            trace.same(where, "a row", "none")
            continue
        trace.same(f"{where}: count", figures["count"], int(row["Count"]))
        trace.same(f"{where}: queued", figures["qcount"], int(row["QCount"]))
        for key, letter in (("total", "T"), ("api_time", "A"), ("queue", "Q"), ("kernel_time", "K")):
            for figure, column, within in (("avg", "Avg", 0.11), ("med", "Med", 0.11), ("min", "Min", 0), ("max", "Max", 0)):
                if figures[key] and figures[key]["count"]:
                    trace.same(f"{where}: {key} {figure}", figures[key][figure], number(row[f"{letter}{column} (ns)"]), within)
    trace.same("launches: rows", len(wanted), len(rows))


def check_projection(trace, wanted, rows):
    """The time of ranges on the device, of all threads together."""
    sums = {}
    for figures in wanted:
        key = ((figures["domain"] or "") + ":" if figures["domain"] else "") + (figures["name"] or ""), figures["style"]
        instances, total, operations = sums.get(key, (0, 0, 0))
        sums[key] = (instances + figures["projected"]["count"], total + figures["projected"]["total"], operations + figures["gpu_ops"])
    found = {(row["Range"].lstrip(":"), row["Style"]): row for row in rows}
    for (name, style), (instances, total, operations) in sums.items():
        row = found.get((name, style), {"Range Instances": 0, "Total Proj Time (ns)": 0, "Total GPU Ops": 0})
        trace.same(f"projected {name[:50]}: ranges", instances, int(row["Range Instances"]))
        trace.same(f"projected {name[:50]}: time", total, int(row["Total Proj Time (ns)"]))
        trace.same(f"projected {name[:50]}: work", operations, int(row["Total GPU Ops"]))


def check_device_memory(trace, wanted):
    """Pinned memory (kind 1) is the host's. A peak is the same if nothing was freed that was not seen to be allocated."""
    rows = {(row["device_type"], row["device"]): row for row in trace.sql(
        "select device_type, device, sum(bytes > 0) as allocations, sum(max(bytes, 0)) as allocated, "
        "max(allocated_bytes) as peak from memory group by 1, 2")}
    devices = {}
    for key, figures in wanted.items():
        _, device, kind = (int(part) for part in key.split("/"))
        devices.setdefault(("cpu", None) if kind == 1 else ("cuda", device), []).append(figures)
    for device, kinds in devices.items():
        row, where = rows[device], f"memory of {device[0]} {device[1]}"
        for key in ("allocations", "allocated"):
            trace.same(f"{where}: {key}", sum(figures[key] for figures in kinds), row[key])
        if len(kinds) == 1 and not kinds[0]["unmatched_frees"]:
            trace.same(f"{where}: peak", kinds[0]["peak"], row["peak"])
    trace.same("memory: devices", len(devices), len(rows))


def check_nsys(trace, figures):
    rows = reports(trace)
    check_sums(trace, "kernels", figures.get("kernels", []), rows.get("cuda_gpu_kern_sum", []), lambda row: row["Name"])
    if all("nsys_name" in call for call in figures.get("api", [])):
        check_sums(trace, "api", figures.get("api", []), rows.get("cuda_api_sum", []), lambda row: row["Name"])
    check_sums(trace, "mem_time", figures.get("mem_time", []), rows.get("cuda_gpu_mem_time_sum", []), lambda row: row["Operation"])
    check_sums(trace, "mem_size", figures.get("mem_size", []), rows.get("cuda_gpu_mem_size_sum", []),
               lambda row: row["Operation"], "MB")
    if "osrt" in figures:
        check_sums(trace, "osrt", figures["osrt"], rows.get("osrt_sum", []), lambda row: row["Name"])
    if "nvtx" in figures:
        check_sums(trace, "nvtx", figures["nvtx"], rows.get("nvtx_sum", []), lambda row: row["Range"].split(":", 1)[-1]
                   if any(range["domain"] for range in figures["nvtx"]) else row["Range"])
    if figures.get("gpu_memory_by_pid_device_kind"):
        check_device_memory(trace, figures["gpu_memory_by_pid_device_kind"])
    if "kern_exec" in figures:
        check_launch_times(trace, figures["kern_exec"], rows.get("cuda_kern_exec_sum", []))
    if "nvtx_gpu_projection" in figures:
        check_projection(trace, figures["nvtx_gpu_projection"], rows.get("nvtx_gpu_proj_sum", []))
    if "nvtx_all" in figures:
        totals = [int(row["Total Time (ns)"]) for row in rows["nvtx_sum"]]
        trace.same("nvtx: all rows", figures["nvtx_all"]["rows"], len(totals))
        trace.same("nvtx: all time", figures["nvtx_all"]["total"], sum(totals))
    devices = figures.get("devices_by_gpuId") or figures.get("devices_by_pid_and_deviceId", {})
    check_devices(trace, {name: device for name, device in devices.items() if device["ops"]}, False)
    if "launch_latency" in figures:
        check_latency(trace, figures["launch_latency"])


def check_rocm(trace, figures):
    check_kernel_names(trace, figures["kernels"], 1000)
    check_devices(trace, figures["devices"], True)
    check_latency(trace, figures["launch"])
    for name, copies in (("memory_copies", "ns"), ("memory_copy_bytes", "bytes")):
        (row,) = trace.sql(f"select count(*) as n, coalesce(sum({'dur_ns' if copies == 'ns' else copies}), 0) as total "
                           "from copies where kind = 'memcpy'")
        trace.same(f"{name}: total", sum(copy["total"] for copy in figures[name]), row["total"])
        trace.same(f"{name}: count", sum(copy["count"] for copy in figures[name]), row["n"])
    for name, value in figures.get("counters", {}).items():
        (row,) = trace.sql(f"select count(*) as n, sum(value) as total from counters where name like '{name}%'")
        trace.same(f"counter {name}: samples", value["count"], row["n"])
        trace.same(f"counter {name}: total", value["total"], row["total"])
    for category, regions in figures.get("regions", {}).items():
        if category.startswith("MARKER"):
            continue  # by their texts, below
        for region in regions:
            name = region["name"].replace("'", "''")
            (row,) = trace.sql(f"select count(*) as n, sum(dur_ns) as ns from events where name = '{name}'")
            trace.same(f"region {name}: count", region["count"], row["n"])
            trace.same(f"region {name}: total", region["total"], row["ns"])
    for marker in figures.get("markers", []):
        name = marker["name"].replace("'", "''")
        (row,) = trace.sql(f"select count(*) as n, sum(dur_ns) as ns from annotations where name = '{name}'")
        trace.same(f"marker {name}: count", marker["count"], row["n"])
        trace.same(f"marker {name}: total", marker["total"], row["ns"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tpa", required=True)
    parser.add_argument("--traces", required=True, type=pathlib.Path)
    parser.add_argument("expected", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    good = True
    for path in args.expected:
        figures = json.loads(path.read_text())
        trace = Trace(args.tpa, args.traces / figures["file"])
        if "oracle" in figures:
            check_xspace(trace, figures)
        elif figures["kind"] == "nsys-sqlite":
            check_nsys(trace, figures)
        else:
            check_rocm(trace, figures)
        print(f"{path.name}: {trace.compared} figures, {len(trace.wrong)} differ")
        for line in trace.wrong:
            print(f"    {line}")
        good &= not trace.wrong
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
