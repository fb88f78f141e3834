#!/usr/bin/env python3
"""Hold what tpa says of traces to its own identities, parts to their wholes, and to exact figures.

    check_identities.py --tpa PROGRAM [--of GROUP,...] [--expected FOLDER] TRACES...

TRACES are traces, and folders that are searched for *.json, *.gz, *.zst and *.tpa. Of each trace every question that it
can answer is asked, whatever makes the rows: the parts of every device must add up to its span, the causes of gaps to what
is idle, the parts of steps to the steps, and so on, to the nanosecond and the byte. Where the FOLDER of --expected holds a
file of the trace's name, every figure in it must be what `tpa gpu --format json` prints. GROUPs are gpu, idle, steps, code
and memory.
"""

import argparse
import gzip
import json
import math
import pathlib
import subprocess
import sys


class Answers:
    """What tpa answers about one trace: tables by their keys."""

    def __init__(self, tpa, trace):
        self.tpa, self.trace, self.known = tpa, trace, {}
        ready = self.ask("info").get("commands", {"rows": []})["rows"]
        self.ready = {row["command"] for row in ready if row["ready"]}

    def ask(self, command, by=None):
        """No tables where the trace lacks what the command needs."""
        if command != "info" and command not in self.ready:
            return {}
        if (command, by) not in self.known:
            words = [self.tpa, command, "--format", "json", "--columns", "all", "--limit", "0"]
            words = words[:2] + (["--by", by] if by else []) + words[2:]
            if command == "info":
                words = [self.tpa, "info", "--format", "json"]
            text = subprocess.run([*words, str(self.trace)], check=True, capture_output=True).stdout
            self.known[command, by] = {table["key"]: table for table in json.loads(text)["tables"]}
        return self.known[command, by]

    def rows(self, command, table, by=None):
        return self.ask(command, by).get(table, {"rows": []})["rows"]

    def footer(self, command, table, key, by=None):
        return self.ask(command, by).get(table, {"footer": {}})["footer"].get(key)


def total(rows, key):
    return sum(row[key] or 0 for row in rows)


def of_device(rows, device):
    return [row for row in rows if (row["rank"], row["device"]) == (device["rank"], device["device"])]


# ---- devices, kernels, launches

DEVICE_PARTS = ("computation_ns", "exposed_communication_ns", "exposed_memcpy_ns", "idle_ns")


def gpu_identities(answers):
    devices = answers.rows("gpu", "devices")
    for by in (None, "stream", "step"):
        for row in answers.rows("gpu", "devices", by):
            where = f"gpu --by {by}: rank {row['rank']} device {row['device']}: "
            parts = total([{"part": row[key]} for key in DEVICE_PARTS], "part")
            if parts != row["span_ns"]:
                yield f"{where}parts are {parts}, span is {row['span_ns']}"
            if row["busy_ns"] + row["idle_ns"] != row["span_ns"]:
                yield f"{where}busy and idle are not the span"
            if row["nccl_union_ns"] > row["communication_ns"] or row["exposed_memcpy_ns"] > row["memcpy_union_ns"]:
                yield f"{where}a part is larger than its whole"
    for device in devices:
        for by, keys in (("stream", ("events", "kernels", "kernel_sum_ns", "nccl_kernels")),
                         ("step", ("events", "kernels", "kernel_sum_ns", "nccl_kernels")), ("step,stream", ("events", "kernels", "kernel_sum_ns"))):
            rows = of_device(answers.rows("gpu", "devices", by), device)
            for key in keys:
                if total(rows, key) != device[key]:
                    yield f"gpu --by {by}: {key} of device {device['device']} adds up to {total(rows, key)}, not {device[key]}"
    for by in ("stream", "step", "step,stream"):
        for key in ("count", "bytes", "sum_ns"):
            if total(answers.rows("gpu", "copies", by), key) != total(answers.rows("gpu", "copies"), key):
                yield f"gpu --by {by}: {key} of the copies is not that of all"


def kernel_identities(answers):
    devices = answers.rows("gpu", "devices")
    for by in ("name", "shape", "op", "device", "stream", "step"):
        rows = answers.rows("kernels", "kernels", by)
        for key, whole in (("total_ns", "kernel_sum_ns"), ("count", "kernels")):
            if total(rows, key) != total(devices, whole):
                yield f"kernels --by {by}: the sum of {key} is not that of gpu's {whole}"
        if total(rows, "total_ns") and not math.isclose(total(rows, "share"), 1, abs_tol=1e-9):
            yield f"kernels --by {by}: the shares are {total(rows, 'share')}"
        for row in rows:
            if not row["min_ns"] <= row["median_ns"] <= row["max_ns"] or not row["min_ns"] <= row["average_ns"] <= row["max_ns"]:
                yield f"kernels --by {by}: median or average of {row['name']} is outside its range"


def launch_identities(answers):
    tables = answers.ask("launches")
    if "launches" not in tables:
        return
    rows, footer = tables["launches"]["rows"], tables["launches"]["footer"]
    if footer["unlinked"] != answers.footer("gpu", "devices", "gpu_events_with_no_call_in_file"):
        yield "launches: another count of work without a call"
    if footer["launches"] != total(rows, "count") or footer["launch_bound"] != total(rows, "launch_bound"):
        yield "launches: the rows are not all launches"
    if any(row["total_time_ns"] < row["call_time_ns"] for row in rows):
        yield "launches: a call is longer than its launch"
    queued = sum(row["count"] for row in rows if row["kernel_time_ns"] is not None)
    graphs = sum(row["count"] for row in rows if row["kernel"] == "(graph)")  # of some the work is not in the file
    if not queued - graphs <= total(tables["queues"]["rows"], "launches") <= queued:
        yield "launches: the queues do not hold all launches"
    for by in ("call", "op", "device", "stream", "thread", "step"):
        for key in ("count", "call_time_ns", "queue_time_ns", "kernel_time_ns", "total_time_ns", "launch_bound", "queued"):
            if total(answers.rows("launches", "launches", by), key) != total(rows, key):
                yield f"launches --by {by}: {key} adds up to something else"


def sequence_identities(answers):
    tables = answers.ask("sequences")
    if "short_runs" not in tables:
        return
    runs, footer = tables["runs"]["rows"], tables["short_runs"]["footer"]
    for by in (None, "stream", "op", "step", "kernel"):
        short = answers.ask("sequences", by)["short_runs"]
        for key in ("works", "work_ns", "idle_ns"):
            if total(short["rows"], key) != short["footer"][key]:
                yield f"sequences --by {by}: {key} adds up to something else"
        for row in short["rows"]:
            if row["idle_host_ns"] + row["idle_device_ns"] + row["idle_unknown_ns"] != row["idle_ns"]:
                yield f"sequences --by {by}: the causes are not the idle time"
    if len(runs) != footer["runs"] or any(total(runs, key) != footer[key] for key in ("works", "work_ns", "idle_ns", "idle_host_ns")):
        yield "sequences: the runs are not all runs"
    if total(runs, "graph_gain_ns") != footer["graph_gain_ns"] or any((row["graph_gain_ns"] or 0) > row["idle_ns"] for row in runs):
        yield "sequences: a graph gains more than the idle time"
    for device in answers.rows("gpu", "devices"):
        if device["streams"].isdigit() and total(of_device(runs, device), "idle_ns") > device["idle_ns"]:
            yield f"sequences: the runs of device {device['device']} are idle for longer than it"
    for row in tables["fusion"]["rows"]:
        if row["gaps_host_ns"] + row["gaps_device_ns"] != row["gaps_ns"] or row["gain_ns"] > row["work_ns"] + row["gaps_ns"] or row["length"] < 2:
            yield f"sequences: fusion gains more than there is: {row}"
    for row in tables["repeats"]["rows"]:
        if row["count"] < 2 or row["every"] < row["length"] or not 2 <= row["length"] <= 16:
            yield f"sequences: no chain that repeats: {row}"


def roofline_identities(answers):
    tables = answers.ask("roofline")
    if "totals" not in tables:
        return
    rows, devices = tables["operators"]["rows"], tables["totals"]["rows"]
    modelled = total(devices, "modelled_time_ns")
    if modelled + total(tables["not_modelled"]["rows"], "time_ns") != total(devices, "device_time_ns"):
        yield "roofline: what is modelled and what is not are not the device time"
    for device in answers.rows("gpu", "devices"):
        for row in of_device(devices, device):
            copies = total(of_device(answers.rows("gpu", "copies", "device"), device), "sum_ns")
            if not device["kernel_sum_ns"] + copies <= row["device_time_ns"]:
                yield f"roofline: device {row['device']} has less time than its kernels and copies"
    for by in (None, "op", "shape", "rank", "device", "stream", "thread", "step", "module", "op,step"):
        some = answers.rows("roofline", "operators", by)
        if total(some, "time_ns") != modelled:
            yield f"roofline --by {by}: times add up to {total(some, 'time_ns')}, not to what is modelled, {modelled}"
        for key in ("count", "launching"):
            if total(some, key) != total(rows, key):
                yield f"roofline --by {by}: another {key}"
        for row in some:
            if row["share"] is not None and not math.isclose(row["share"], row["at_peak_ns"] / row["time_ns"], rel_tol=1e-9):
                yield f"roofline --by {by}: a share is not that of its times: {row}"
            if row["won_ns"] is not None and not max(0, row["time_ns"] - row["at_peak_ns"]) <= row["won_ns"] <= row["time_ns"]:
                yield f"roofline --by {by}: more or less is won than there is: {row}"
    for row in tables["steps"]["rows"]:
        if row["model_flops"] > row["flops"] or (row["mfu"] or 0) > (row["hfu"] or 0):
            yield f"roofline: a model has more operations than were executed: {row}"


def latency_identities(answers):
    parts = ("computation_ns", "communication_ns", "copies_ns", "waiting_ns", "allocation_ns", "data_loading_ns", "collectives_ns", "host_ns")
    for by in (None, "thread", "rank", "step"):
        tables = answers.ask("latency", by)
        for row in tables.get("ranges", {"rows": []})["rows"]:
            where = f"latency --by {by}: {row['name']}: "
            percentiles = [row[key] for key in ("p50_ns", "p90_ns", "p95_ns", "p99_ns")]
            if (percentiles == [None] * 4) != (row["count"] < 3):
                yield where + "percentiles of fewer than three, or none of more"
            rising = [row["min_ns"], *(percentiles if row["count"] >= 3 else []), row["max_ns"], row["total_ns"]]
            if rising != sorted(rising):
                yield where + "percentiles descend"
            if not row["min_ns"] <= row["mean_ns"] <= row["max_ns"]:
                yield where + "the mean is outside"
            if row["busy_ns"] is not None and (total([{"part": row[part]} for part in parts], "part") != row["total_ns"] or row["busy_ns"] + row["idle_ns"] != row["total_ns"]):
                yield where + "the parts are not the ranges"
        if total(tables.get("ranges", {"rows": []})["rows"], "outliers") != len(tables.get("outliers", {"rows": []})["rows"]):
            yield f"latency --by {by}: another number of outliers"
        for row in tables.get("phases", {"rows": []})["rows"]:
            if row["device_busy_ns"] is not None and row["device_busy_ns"] + row["device_idle_ns"] != row["wall_ns"]:
                yield f"latency --by {by}: busy and idle of a phase are not its wall time"
        for key in ("steps", "requests", "wall_ns"):
            if total(tables.get("phases", {"rows": []})["rows"], key) != total(tables.get("batches", {"rows": []})["rows"], key):
                yield f"latency --by {by}: the batches are not the phases"


# ---- what devices and hosts wait for

def gap_identities(answers):
    tables = answers.ask("gaps")
    if "causes" not in tables:
        return
    causes, footer = tables["causes"]["rows"], tables["gaps"]["footer"]
    for by, devices in ((None, answers.rows("gpu", "devices")), ("stream", answers.rows("gpu", "devices", "stream"))):
        for device in devices:
            rows = [row for row in of_device(answers.rows("gaps", "causes", by), device) if by is None or row["stream"] == device["stream"]]
            if total(rows, "time_ns") != device["idle_ns"]:
                yield f"gaps --by {by}: the causes of device {device['device']} are not its idle time"
            if rows and (max(row["longest_ns"] for row in rows) > device["longest_gap_ns"] or max(row["count"] for row in rows) > device["gaps"]):
                yield f"gaps --by {by}: a part of a gap of device {device['device']} is longer than the longest gap, or there are more"
    for row in tables["gaps"]["rows"]:
        phases = [row[key] for key in ("before_call_ns", "in_call_ns", "after_call_ns")]
        if row["call"] and sum(phases) != row["length_ns"] or not 0 < row["cause_share"] <= 1:
            yield f"gaps: the phases of a gap are not its length: {row}"
    if total(tables["gaps"]["rows"], "length_ns") + footer["micro_gaps_time_ns"] != tables["causes"]["footer"]["idle_total_ns"]:
        yield "gaps: those listed and those not are not the idle time"
    for by in ("op", "step", "thread", "rank", "op,rank", "kernel,step"):
        for cause in {row["cause"] for row in causes}:
            sums = [[total([row for row in some if row["cause"] == cause], key) for key in ("time_ns", "count")]
                    for some in (causes, answers.rows("gaps", "causes", by))]
            if sums[0] != sums[1]:
                yield f"gaps --by {by}: {cause} comes to {sums[1]}, not {sums[0]}"


def transfer_identities(answers):
    for by in ("kind", "rank", "stream", "step", "op"):
        rows = answers.rows("transfers", "transfers", by)
        for key, whole in (("count", "count"), ("bytes", "bytes"), ("time_ns", "sum_ns")):
            if total(rows, key) != total(answers.rows("gpu", "copies"), whole):
                yield f"transfers --by {by}: the sum of {key} is not that of gpu's copies"
        blocked = total(answers.rows("transfers", "stalls", by), "blocked_ns")
        if blocked != (answers.footer("transfers", "stalls", "blocked_total_ns", by) or 0) or total(rows, "blocked_ns") > blocked:
            yield f"transfers --by {by}: the stalls do not add up"
        if any(row["exposed_ns"] > row["union_ns"] or row["union_ns"] > row["time_ns"] for row in rows):
            yield f"transfers --by {by}: a part is larger than its whole"
        if any(row["possible_saving_ns"] > row["blocked_ns"] for row in answers.rows("transfers", "stalls", by)):
            yield f"transfers --by {by}: more could be saved than there is"


# ---- steps and the summary

STEP_PARTS = ("kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns", "data_loading_ns", "cpu_ns", "other_ns")


def step_identities(answers):
    steps = answers.rows("steps", "steps")
    for by in ("step", "rank", "name", "device", "stream", "step,device", "step,stream"):
        rows = answers.rows("steps", "steps", by)
        for row in rows:
            if sum(row[part] for part in STEP_PARTS) != row["duration_ns"] or min(row[part] for part in STEP_PARTS) < 0:
                yield f"steps --by {by}: the parts are not the step: {row}"
        if by in ("rank", "name"):
            for key in ("duration_ns", *STEP_PARTS):
                if total(rows, key) != total(steps, key):
                    yield f"steps --by {by}: {key} is not that of all steps"
    devices = {(row["rank"], row["device"]) for row in answers.rows("gpu", "devices")}
    for rank, device in devices:
        rows = of_device(answers.rows("steps", "steps", "device"), {"rank": rank, "device": device})
        if total(rows, "duration_ns") != total([row for row in steps if row["rank"] == rank], "duration_ns"):
            yield f"steps --by device: device {device} has other steps"
        if len(devices) == 1 and any(total(rows, part) != total(steps, part) for part in STEP_PARTS):
            yield "steps --by device: the only device differs from all"


def summary_identities(answers):
    """A finding has what makes it one; the figures are those of the commands that they are from."""
    overview = answers.ask("summary").get("overview", {"footer": {}})["footer"]
    devices = answers.rows("gpu", "devices")
    span = total(devices, "span_ns")
    shares = ("computing", "communicating", "copying", "idle")
    if span and not math.isclose(sum(overview[key] for key in shares), 1, abs_tol=1e-9):
        yield "summary: what devices do is not all that they do"
    account = [row for row in answers.rows("steps", "account") if row["of_rank"] is None] if "steps" in answers.ready else []
    of_steps = any(row["step_part"].startswith(("computing", "exposed", "idle")) for row in account)
    words = ("computing", "exposed communication", "exposed copies", "idle")
    for key, part, word in zip(shares, DEVICE_PARTS, words):
        own = sum(row["part_share"] for row in account if row["step_part"].startswith(word))
        if span and of_steps and not math.isclose(overview[key], own, abs_tol=1e-3):
            yield f"summary: {key} is not that of a step in tpa steps"
        if span and not of_steps and not math.isclose(overview[key], total(devices, part) / span, abs_tol=1e-12):
            yield f"summary: {key} is not gpu's {part}"
    if overview.get("host_blocked_ns") != answers.footer("transfers", "stalls", "blocked_total_ns"):
        yield "summary: threads are blocked for another time than transfers tells"
    peaks = [row["peak_allocated"] for row in answers.rows("memory", "memory")]
    if peaks and overview["peak_memory"] != max(peaks):
        yield "summary: another peak than memory's"
    for by in ("rank", "device"):
        rows = answers.rows("summary", "overview", by)
        if by == "rank" and total(rows, "devices") != len(devices) or by == "device" and devices and len(rows) != len(devices):
            yield f"summary --by {by}: not all devices"
        for row, device in zip(rows, devices if by == "device" else []):
            if device["span_ns"] and any(not math.isclose(row[key], device[part] / device["span_ns"], abs_tol=1e-12) for key, part in zip(shares, DEVICE_PARTS)):
                yield f"summary --by device: device {row['device']} is another than gpu's"
    work = sum(row["self_device_time_total_ns"] or 0 for row in answers.rows("top", "operators") if row["device_type"] == "CUDA" and not row["is_user_annotation"])
    for row in answers.rows("summary", "operators"):
        if work and row["time_ns"] > work:
            yield f"summary: {row['name']} has more than all work"
    for by in (None, "rank", "device"):
        for remark in answers.rows("summary", "remarks", by):
            if not remark["share"] > remark["threshold"] or not remark["see"] or not remark["advice"]:
                yield f"summary --by {by}: {remark['rule']} is no remark"
        # A finding has a price, which is that of a replay: a share of the step, and 0.5 % of it or more. The most comes first.
        findings = answers.rows("summary", "findings", by)
        step, together = (answers.footer("summary", "findings", key, by) for key in ("step_ns", "together_ns"))
        for finding in findings:
            share = finding["saves_ns"] / step
            if share < 0.005 or not math.isclose(share, finding["saves_share"], rel_tol=1e-9) or not all(finding[key] for key in ("events", "check", "advice")):
                yield f"summary --by {by}: {finding['rule']} is no finding"
        if findings != sorted(findings, key=lambda finding: -finding["saves_ns"]):
            yield f"summary --by {by}: what saves most is not first"
        if findings != answers.rows("summary", "findings") or findings and not 0 <= together <= step:
            yield f"summary --by {by}: findings are about other steps"


# ---- modules and collectives

def module_identities(answers):
    events = answers.footer("gpu", "devices", "gpu_events") or 0
    for by in ("tree", "module", "class", "line", "rank", "class,rank"):
        rows = answers.rows("modules", "modules", by)
        for where, footer in (("cpu", "host_time_ns"), ("device", "device_time_ns")):
            whole = answers.footer("modules", "modules", footer, by) or 0
            if total(rows, f"self_{where}_ns") != whole:
                yield f"modules --by {by}: self times of the {where} are {total(rows, f'self_{where}_ns')}, not {whole}"
            outermost = [row for row in rows if by in ("tree", "rank") and row["depth"] in (1, None)]
            if outermost and total(outermost, f"{where}_total_ns") != whole:
                yield f"modules --by {by}: the outermost rows are not all of the {where}"
            for row in rows:
                if (row[f"{where}_forward_ns"] or 0) + (row[f"{where}_backward_ns"] or 0) != (row[f"{where}_total_ns"] or 0):
                    yield f"modules --by {by}: forward and backward of {row['name']} are not its total"
        if outermost and total(outermost, "works") != events:
            yield f"modules --by {by}: {total(outermost, 'works')} works of {events}"


def collective_identities(answers):
    whole = answers.rows("comm", "collectives")
    for by in ("collective", "library", "group", "dtype", "size", "op", "kernel", "rank", "device", "stream", "step", "op,step"):
        rows = answers.rows("comm", "collectives", by)
        for key in ("count", "time_ns", "exposed_ns", "bytes"):
            if total(rows, key) != total(whole, key):
                yield f"comm --by {by}: {key} adds up to {total(rows, key)}, not {total(whole, key)}"
        if any((row["exposed_ns"] or 0) > (row["time_ns"] or 0) for row in rows):
            yield f"comm --by {by}: more is exposed than there is"
    devices = answers.rows("gpu", "devices")
    if not devices or any(row["device"] is None for row in answers.rows("comm", "collectives", "device")):
        return  # the host communicates, too
    for key, footer in (("communication_ns", "communication_ns"), ("exposed_communication_ns", "exposed_communication_ns")):
        told = answers.footer("comm", "collectives", footer)
        if whole and told != total(devices, key):
            yield f"comm: {footer} is {told}, gpu's {total(devices, key)}"


# ---- memory

def surplus(trace, device):
    """By how much the totals that records of DEVICE tell grow more than their bytes do."""
    text = (gzip.decompress(trace.read_bytes()) if trace.name.endswith(".gz") else trace.read_bytes()).decode(errors="replace")
    records = [event for event in json.loads(text)["traceEvents"] if event.get("name") == "[memory]"]
    records = [event["args"] for event in sorted(records, key=lambda event: float(event["ts"]))]
    records = [args for args in records if (args["Device Type"] == 0) == (device == "cpu")]
    growths = [b["Total Allocated"] - a["Total Allocated"] - b["Bytes"] for a, b in zip(records, records[1:])]
    return sum(growths)


MEMORY_SUMS = ("allocations", "allocated", "frees", "freed")


def memory_identities(answers):
    tables = answers.ask("memory")
    for row in tables["memory"]["rows"] if "memory" in tables else []:
        device = row["device"]
        rows = {key: of_device(table["rows"], row) for key, table in tables.items()}
        for key in ("alive", "categories"):
            if rows.get(key) and total(rows[key], "bytes") != row["peak_allocated"]:
                yield f"memory: {key} on {device} is not its peak"
        for category in rows.get("categories", []):
            if max(category[key] for key in ("bytes", "start", "end")) > category["most"]:
                yield f"memory: {category['category']} has more than its most"
        for key in ("start", "end"):
            if rows.get("categories") and total(rows["categories"], key) != row[key]:
                yield f"memory: the categories do not {key} as the device does"
        for key in MEMORY_SUMS:
            if rows.get("operators") and total(rows["operators"], "self_" + key) != row[key]:
                yield f"memory: the operators' {key} on {device} are not those of the device"
        more = 0 if row["allocated"] is None else row["end"] - row["start"] - (row["allocated"] - row["freed"])
        if more and more != surplus(answers.trace, device):  # torch's totals of the host lack frees of what it never saw allocated
            yield f"memory: {device} grew by {row['end'] - row['start']}, and was given {row['allocated'] - row['freed']}"
        for step in rows.get("steps", []):
            if step["end"] - step["start"] != step["growth"] or not max(step["start"], step["end"]) <= step["peak"] <= row["peak_allocated"]:
                yield f"memory: step {step['step']} does not add up"
        for by in ("module", "line", "step", "thread", "device"):
            apart = {key: of_device(table["rows"], row) for key, table in answers.ask("memory", by).items()}
            if rows.get("operators") and any(total(apart["allocations"], key) != row[key] for key in MEMORY_SUMS):
                yield f"memory --by {by}: what is allocated and freed on {device} is not that of the device"
            for key in ("alive", "unfreed"):
                if total(apart.get(key, []), "bytes") != total(rows.get(key, []), "bytes"):
                    yield f"memory --by {by}: {key} on {device} is not what it is by operator"


# ---- exact figures

def memory_differences(answers, expected):
    """EXPECTED is by "TYPE:NUMBER" of the device; traces that tell no totals have peaks of 0 there."""
    for row in answers.rows("memory", "memory"):
        device = row["device"]
        wanted = expected.get("0:-1" if device == "cpu" else (device or "").replace("cuda", "1"))
        if wanted and wanted["events"] != row["records"]:
            yield f"memory: {row['records']} records of {device}, expected {wanted['events']}"
        for key in ("peak_allocated", "peak_reserved"):
            if wanted and wanted["peak_allocated"] and wanted[key] != row[key]:
                yield f"memory: {key} of {device} is {row[key]}, expected {wanted[key]}"


def overview_differences(answers, overview):
    """Against the overview that TensorBoard's PyTorch plugin published: whole microseconds, percent with two digits."""
    parts = dict(zip(("Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other"), STEP_PARTS))
    rows = [row for row in answers.rows("steps", "steps") if row["complete"]]
    if [row["step"] for row in rows] != [f"ProfilerStep#{step['Step']}" for step in overview["steps"]]:
        yield "other steps"
        return
    for row, step in zip(rows, overview["steps"]):
        for name, key in [*parts.items(), ("total_us", "duration_ns")]:
            if row[key] != 1000 * step.get(name, 0):
                yield f"{row['step']}: {name} is {row[key]} ns, expected {step.get(name, 0)} us"
    if round(answers.rows("steps", "summary")[-1]["average_ns"] / 1000) != overview["performance"][0]["value"]:
        yield "other average step time"
    efficiency = answers.rows("gpu", "efficiency")[0]
    shares = (("utilization", "GPU Utilization"), ("sm_efficiency", "Est. SM Efficiency"), ("occupancy", "Est. Achieved Occupancy"))
    for key, name in shares:
        if f"{100 * efficiency[key]:.2f} %" != overview["gpu"][name]:
            yield f"{name} is {efficiency[key]}, expected {overview['gpu'][name]}"


def differences(answers, expected):
    rows = answers.rows("gpu", "devices")
    found = {str(row["device"]) for row in rows}
    if found != set(expected["devices"]):
        yield f"devices {sorted(found)}, expected {sorted(expected['devices'])}"
        return
    for device, wanted in expected["devices"].items():
        row = [row for row in rows if str(row["device"]) == device][0]
        for key, value in wanted.items():
            if key == "streams":
                got = sorted(row["streams"].split(", "))
            elif key == "copies":
                fields = ("count", "bytes", "sum_ns", "union_ns", "not_under_a_kernel_ns")
                got = {copy["name"]: {field: copy[field] for field in fields} for copy in answers.rows("gpu", "copies") if str(copy["device"]) == device}
            else:
                got = row.get(key)
            if got != value:
                yield f"device {device}: {key} is {got}, expected {value}"
    for key in ("gpu_events", "gpu_events_with_no_call_in_file", "calls") if rows else ():
        if answers.footer("gpu", "devices", key) != expected[key]:
            yield f"{key} is {answers.footer('gpu', 'devices', key)}, expected {expected[key]}"


GROUPS = {
    "gpu": (gpu_identities, kernel_identities, launch_identities, sequence_identities, latency_identities, roofline_identities),
    "idle": (gap_identities, transfer_identities),
    "steps": (step_identities, summary_identities),
    "code": (module_identities, collective_identities),
    "memory": (memory_identities,),
}


def traces_in(path):
    if path.is_file():
        return [path]
    return sorted(trace for trace in path.rglob("*") if trace.name.endswith((".json", ".gz", ".zst", ".tpa")) and ".expected." not in trace.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpa", required=True)
    parser.add_argument("--of", metavar="GROUP,...", default=",".join(GROUPS), help="only these")
    parser.add_argument("traces", type=pathlib.Path, nargs="+", metavar="TRACES")
    parser.add_argument("--expected", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--overview", type=pathlib.Path, nargs=2, metavar=("TRACE", "JSON"), help="what TensorBoard showed of TRACE")
    args = parser.parse_args()
    compared = held = wrong = 0
    for trace in [trace for path in args.traces for trace in traces_in(path)]:
        problems = []
        try:
            answers = Answers(args.tpa, trace)
            for group in args.of.split(","):
                for identities in GROUPS[group]:
                    problems += identities(answers)
            expected = args.expected / (trace.name.removesuffix(".gz").removesuffix(".json") + ".json") if args.expected else None
            if expected and expected.exists():
                figures = json.loads(expected.read_text())
                problems += [*differences(answers, figures), *memory_differences(answers, figures.get("memory", {}))]
                compared += 1
            if args.overview and trace == args.overview[0]:
                problems += overview_differences(answers, json.loads(args.overview[1].read_text()))
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").splitlines()
            is_profile = bool(said) and "a Python profile has no" in said[0]  # it holds sums: nothing to choose from
            if error.returncode == 2 and (error.cmd[1] == "info" or is_profile):  # it said that this is no trace
                print(f"skipped: {said[0] if said else trace}")
                continue
            problems.append(f"{' '.join(error.cmd[1:4])} ended with {error.returncode}: {said[:1]}")
        held += 1
        for problem in problems:
            print(f"{trace}: {problem}")
        wrong += bool(problems)
    print(f"{held} traces looked at, {compared} compared, {wrong} wrong")
    return 1 if wrong or held == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
