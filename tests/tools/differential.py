#!/usr/bin/env python3
"""Random traces, answered by tpa and by reference_top.py and reference_tables.py: every figure must be equal.

Now and then a trace is asked together with the one before it: then the rows add up. Random jobs of several ranks are answered by
tpa and by reference_job.py.

    differential.py [--tpa PROGRAM] [--seeds FIRST-LAST] [--only top|tables|COMMAND|jobs|diff|nightly|timelines] [--every N] [--keep FOLDER]

A trace on which they differ is kept in FOLDER (as seed-N.json), and said so; exit status 1 then.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import check_expected
import random_job
import random_sides
import random_timeline
import random_trace
import reference_chart
import reference_diff
import reference_efficiency
import reference_gaps
import reference_info
import reference_clocks
import reference_job
import reference_kernels
import reference_late
import reference_latency
import reference_launches
import reference_memory
import reference_modules
import reference_nightly
import reference_roofline
import reference_sequences
import reference_steps
import reference_summary
import reference_tables
import reference_timeline
import reference_top
import reference_top_by
import reference_transfers

FIGURES = reference_top.COLUMNS


def differences(tpa, path):
    """What differs, in words, or None."""
    document = reference_top.load(path)
    for by_shape in (False, True):
        columns = FIGURES[:3] + ["input_shapes"] * by_shape + FIGURES[3:]
        wanted = reference_top.key_averages(document, by_shape)
        options = ["--by", "shape"] if by_shape else []
        text = check_expected.top(tpa, path, "--format", "json", "--limit", "0", "--sort", "none", *options)
        wrong = check_expected.compare_rows(wanted, check_expected.json_rows(text, columns), columns)
        if wrong:
            return ("by shape: " if by_shape else "") + wrong
    return None


KEYS = ("device", "name", "operator", "caller", "callee", "cause", "start_ns", "length_ns", "direction", "memory", "call", "kernel",
        "rank", "step", "collective", "group", "number", "dtype", "size", "thread", "stream", "graph", "transfer",
        "line", "path", "module", "op", "names", "phase", "batch", "from_ns", "device_type", "is_user_annotation", "category", "shapes", "types")
ROUNDED = ("average_ns", "median_ns", "stddev_ns", "late_median_ns", "call_before_ns", "call_after_ns")


def order_of(row, columns):
    return [str(row.get(column)) for column in columns]


# What is not known where the work of calls is missing; WITHHELD may be None then, and lost[0] tells whether it may.
WITHHELD = {"idle_ns", "gaps", "longest_gap_ns", "idle_share", "gap_ns", "average_gap_ns", "possible_saving_ns", "sm_efficiency", "occupancy", "busy_share", "utilization", "computing", "communicating", "copying", "idle"}
lost = [False]


def compare_tables(what, wanted, found, also_rounded=()):
    """None, or where rows of the reference and of tpa differ, in words. Rows come in any order; columns are the reference's."""
    columns = list(wanted[0] if wanted else ())
    exact = [c for c in columns if c in KEYS] + [c for c in columns if c not in KEYS and c not in ROUNDED and not isinstance(wanted[0][c], float)]
    wanted, found = (sorted(rows, key=lambda row: order_of(row, exact)) for rows in (wanted, found))
    if len(wanted) != len(found):
        extra = [order_of(r, exact) for r in found if order_of(r, exact) not in [order_of(w, exact) for w in wanted]]
        missing = [order_of(w, exact) for w in wanted if order_of(w, exact) not in [order_of(r, exact) for r in found]]
        return f"{what}: {len(found)} rows instead of {len(wanted)}; too many {extra[:3]}, too few {missing[:3]}"
    for w, f in zip(wanted, found):
        for column in columns:
            a, b = w[column], f.get(column)
            near = a is not None and b is not None and (isinstance(a, float) and abs(a - b) <= 1e-9 * max(1, abs(a)) or
                                                        column in (*ROUNDED, *also_rounded) and abs(a - b) <= 1)
            if b is None and column in WITHHELD and lost[0]:
                continue
            if a != b and not near:
                return f"{what}: {column} is {b!r}, expected {a!r}, in {w}"
    return None


def ask(tpa, command, path, *words):
    tables = json.loads(check_expected.top(tpa, path, "--format", "json", "--limit", "0", *words, command=command))["tables"]
    return {table["key"]: table for table in tables}


def rows_of(tables, key, **same):
    return [row for row in tables.get(key, {"rows": []})["rows"] if all(row.get(k) == v for k, v in same.items())]


def top_differences(tpa, path, document):
    made = reference_top_by.Rows(document)
    for by in ("kernel", "category", "thread", "stream", "device", "step", "op,step", "op,thread", "op,category", "kernel,stream", "kernel,step",
               "thread,step", "category,step", "device,step", "module", "line"):
        rows = made.of(by)
        if by in ("module", "line") and made.modules.is_open:  # which thread a forward pass ran on
            continue
        if "category" in by and made.tables.has_memory_region:  # whose records have no category
            continue
        yield compare_tables(f"top by {by}", rows, rows_of(ask(tpa, "top", path, "--by", by), "operators"))
    tables = made.tables
    starts = sorted(e.start - tables.origin for e in tables.events)
    if starts and starts[len(starts) // 4] < starts[3 * len(starts) // 4]:
        first, end = starts[len(starts) // 4], starts[3 * len(starts) // 4]
        rows = made.of("op", moments=(tables.origin + first, tables.origin + end))
        yield compare_tables("top of a time", rows, rows_of(ask(tpa, "top", path, "--range", f"{first}ns..{end}ns"), "operators"))
    numbers = sorted({int(e.raw["name"].removeprefix("ProfilerStep#")) for e in tables.steps})[:2]
    if numbers:
        rows = made.of("op", steps=numbers)
        yield compare_tables("top of steps", rows, rows_of(ask(tpa, "top", path, "--steps", ",".join(map(str, numbers))), "operators"))


def gpu_differences(tpa, path, document):
    tables = reference_tables.Tables(document)
    gpu = ask(tpa, "gpu", path)
    yield compare_tables("gpu", tables.devices(), rows_of(gpu, "devices"))
    yield compare_tables("copies", tables.copies(), rows_of(gpu, "copies"))
    by_stream = ask(tpa, "gpu", path, "--by", "stream")
    yield compare_tables("gpu by stream", tables.devices("stream"), rows_of(by_stream, "devices"))
    efficiency = reference_efficiency.Efficiency(tables)
    yield compare_tables("efficiency", efficiency.rows(), rows_of(gpu, "efficiency"))
    yield compare_tables("efficiency by stream", efficiency.rows("stream"), rows_of(by_stream, "efficiency"))
    if tables.steps:
        by_step = ask(tpa, "gpu", path, "--by", "step")
        yield compare_tables("gpu by step", tables.device_steps(), rows_of(by_step, "devices"))
        yield compare_tables("efficiency by step", efficiency.step_rows(), rows_of(by_step, "efficiency"))


def kernel_differences(tpa, path, document):
    kernels = reference_kernels.Kernels(reference_tables.Tables(document))
    for by in ("name", "shape", "op", "device", "stream", "step"):
        yield compare_tables(f"kernels by {by}", kernels.rows(by), rows_of(ask(tpa, "kernels", path, "--by", by), "kernels"))


def gap_differences(tpa, path, document):
    tables = reference_tables.Tables(document)
    gaps = reference_gaps.Gaps(tables)
    for by in ("device", "stream", "op", "step", "thread", "rank"):
        found = ask(tpa, "gaps", path, "--min", "0", "--by", by)
        wanted = [{**gap, "start_ns": gap["start_ns"] - tables.origin} for gap in gaps.rows(by)]
        if tables.has_memory_region:  # which reference_top.py takes for a record
            wanted = [{key: value for key, value in gap.items() if key != "meanwhile"} for gap in wanted]
        if lost[0] and wanted and {row["cause"] for row in rows_of(found, "gaps")} <= {"unknown", "profiler overhead"}:
            places = [{key: gap[key] for key in ("start_ns", "length_ns")} for gap in wanted]
            yield compare_tables(f"gaps of unknown cause by {by}", places, rows_of(found, "gaps"))
            continue
        yield compare_tables(f"gaps by {by}", wanted, rows_of(found, "gaps"))
        yield compare_tables(f"causes by {by}", gaps.causes(by), rows_of(found, "causes"))
        idle = sum(gap["length_ns"] for gap in wanted)
        if wanted and found["causes"]["footer"]["idle_total_ns"] != idle:
            yield f"idle for {found['causes']['footer']['idle_total_ns']}, expected {idle}"


def transfer_differences(tpa, path, document):
    transfers = reference_transfers.Transfers(reference_tables.Tables(document))
    for by in ("device", "stream", "step,device", "op,device"):
        found = ask(tpa, "transfers", path, "--by", by)
        yield compare_tables(f"transfers by {by}", transfers.rows(by), rows_of(found, "transfers"))
    if transfers.tables.work:
        blocked = found.get("stalls", {"footer": {}})["footer"].get("blocked_total_ns", 0)
        yield None if blocked == transfers.blocked() else f"transfers: blocked {blocked}, expected {transfers.blocked()}"
        stalls = transfers.stalls()
        if stalls is not None:
            told = rows_of(found, "stalls")
            if lost[0]:  # what looks like a wait for nothing may have been one for work that the file lacks
                told = [{**row, "cause": "empty wait" if row["cause"] == "wait for unknown work" else row["cause"]} for row in told]
            yield compare_tables("stalls", stalls, told)


def roofline_differences(tpa, path, document):
    tables = reference_tables.Tables(document)
    found = ask(tpa, "roofline", path)
    if not found:  # no operator tells sizes
        return
    roofline = reference_roofline.Roofline(tables)
    yield compare_tables("roofline", roofline.rows(), rows_of(found, "operators"))
    yield compare_tables("roofline by op", roofline.rows(False), rows_of(ask(tpa, "roofline", path, "--by", "op"), "operators"))
    if tables.work:
        yield compare_tables("totals of roofline", roofline.totals(), rows_of(found, "totals"))
        yield compare_tables("not modelled by roofline", roofline.rest(), rows_of(found, "not_modelled"))


def launch_differences(tpa, path, document):
    launches = reference_launches.Launches(reference_tables.Tables(document))
    for by in ("kernel", "call", "op", "device", "stream", "thread", "step"):
        found = ask(tpa, "launches", path, "--by", "call,kernel" if by == "kernel" else by)
        yield compare_tables(f"launches by {by}", launches.rows(by), rows_of(found, "launches"))
    if launches.all:
        yield compare_tables("below the launches", [launches.footer()], [found["launches"]["footer"]])
    yield compare_tables("queues", launches.queues(), rows_of(found, "queues"))
    yield compare_tables("graphs", launches.graphs(), rows_of(found, "graphs"))


def sequence_differences(tpa, path, document):
    tables = reference_tables.Tables(document)
    sequences = reference_sequences.Sequences(tables)
    for by in ("device", "stream", "op", "kernel"):
        found = ask(tpa, "sequences", path, "--by", by)
        yield compare_tables(f"short works by {by}", sequences.shorts(by), rows_of(found, "short_runs"))
    yield compare_tables("runs of short works", sequences.runs(), rows_of(found, "runs"))
    if tables.work:
        yield compare_tables("below the short works", [sequences.footer()], [found["short_runs"]["footer"]])
    if not any(e.is_python or "Input type" in e.args for e in tables.events):  # modules join works, too, and tensors of one size and type
        yield compare_tables("fusion", sequences.fusions(), rows_of(found, "fusion"))
    found = ask(tpa, "sequences", path, "--all", "--short", "5us", "--least", "2")
    repeats = sequences.repeats()
    yield compare_tables("chains that repeat", repeats, rows_of(found, "repeats"))
    if [row["names"] for row in repeats] != [row["names"] for row in rows_of(found, "repeats")]:
        yield "chains that repeat: in another order"
    yield compare_tables("pairs of short works", reference_sequences.Sequences(tables, short=5000, least=2).runs(), rows_of(found, "runs"))
    stepwise = reference_sequences.Sequences(tables, by_steps=True)
    found = ask(tpa, "sequences", path, "--by", "step", "--all")
    yield compare_tables("short works by step", stepwise.shorts("step"), rows_of(found, "short_runs"))
    yield compare_tables("chains within steps", stepwise.repeats(), rows_of(found, "repeats"))
    for name in sorted({e.name for e in tables.operators})[:3] if tables.work else ():
        found = ask(tpa, "sequences", path, "--op", name)
        yield compare_tables(f"what {name} launched", sequences.patterns(name), rows_of(found, "patterns"))


SERVING_NAMES = ("execute_context_1(888_788544)_generation_0(0)", "execute_4_context_1(sq64sk64sqsq4096sqsk4096)_generation_3(sq3sk99sqsq3sqsk99)", "step[DECODE bs=32]",
                 "step[EXTEND bs=2 toks=70]", "prefill[bs=3 tok=40 ctx=9]", "decode[bs=3/4 tok=3 d=0]", "[Executor] _forward_step 7: 1 ctx reqs, 20 ctx tokens, 0 gen reqs",
                 "step[IDLE bs=0]", "execute_context_0(0)_generation_32(32)", "step[MIXED bs=5]")


def latency_differences(tpa, path, document):
    def rows(found, key):  # reference_top.py takes regions of these names for records
        return [row for row in rows_of(found, key) if row["name"] not in ("[memory]", "[OutOfMemory]")]

    latency, found = reference_latency.Latency(reference_tables.Tables(document)), ask(tpa, "latency", path, "--histogram")
    yield compare_tables("latency", latency.rows(), rows(found, "ranges"), ("mean_ns",))
    yield compare_tables("outliers", latency.outliers(), rows(found, "outliers"))
    yield compare_tables("histogram", latency.bars(), rows(found, "histogram"))
    threads = reference_latency.Latency(reference_tables.Tables(document), by="thread")
    yield compare_tables("latency by thread", threads.rows(), rows(ask(tpa, "latency", path, "--by", "thread"), "ranges"), ("mean_ns",))
    serving = os.path.join(tempfile.gettempdir(), f"serving-{os.getpid()}.json")
    document = reference_top.load(path)
    with open(path, "rb") as f:  # as text: times keep their digits
        text = f.read().decode("utf-8", "surrogateescape")
    for number, name in enumerate(("record_step", "a", "ProfilerStep#1", "forward", "ProfilerStep#2", "train")):
        text = text.replace(json.dumps(name), json.dumps(SERVING_NAMES[(number + len(text)) % len(SERVING_NAMES)]))
    with open(serving, "wb") as f:
        f.write(text.encode("utf-8", "surrogateescape"))
    try:
        latency, found = reference_latency.Latency(reference_tables.Tables(reference_top.load(serving))), ask(tpa, "latency", serving)
        yield compare_tables("phases", latency.phases(), rows_of(found, "phases"), ("step_ns", "token_ns"))
        yield compare_tables("batches", latency.phases(batches=True), rows_of(found, "batches"), ("step_ns", "token_ns"))
    finally:
        os.remove(serving)


def step_differences(tpa, path, document):
    steps = reference_steps.Steps(reference_tables.Tables(document))
    for by in ("step", "name", "rank", "device", "stream", "step,device", "name,stream"):
        if steps.tables.has_memory_region:  # which reference_top.py takes for a record
            break
        found = ask(tpa, "steps", path, "--by", by)
        yield compare_tables(f"steps by {by}", steps.rows(by), rows_of(found, "steps"))
        if steps.all:
            yield from step_summary_differences(found, steps.complete(), steps.titles())


def step_summary_differences(found, complete, titles):
    yield compare_tables("summary of steps", reference_steps.summary(complete, titles), rows_of(found, "summary"))
    yield compare_tables("below the summary of steps", [reference_steps.footer(complete, titles)], [found["summary"]["footer"]])


def memory_differences(tpa, path, document):
    memory = reference_memory.Memory(document, reference_tables.Tables(document))
    if memory.tables.has_memory_region:  # which reference_top.py takes for a record
        return
    for by in ("op", "step", "thread", "module", "line", "device"):
        found = ask(tpa, "memory", path, "--by", by)
        yield compare_tables(f"in use at the peak by {by}", memory.alive(by), rows_of(found, "alive"))
        yield compare_tables(f"not freed by {by}", memory.unfreed(by), rows_of(found, "unfreed"))
        if by != "op":
            yield compare_tables(f"memory by {by}", memory.places(by), rows_of(found, "allocations"))
            continue
        yield compare_tables("memory", memory.peaks(), rows_of(found, "memory"))
        yield compare_tables("memory by operator", memory.operators(), rows_of(found, "operators"))
        yield compare_tables("from step to step", memory.steps(), rows_of(found, "steps"))


def timeline_differences(tpa, paths):
    """What differs in tpa memory of a memory timeline in both its forms."""
    for path in paths:
        form = "the raw timeline: " if ".raw." in path else "the timeline: "
        timeline, found = reference_timeline.Timeline(path), ask(tpa, "memory", path)
        yield compare_tables(form + "memory", timeline.peaks(), rows_of(found, "memory"))
        yield compare_tables(form + "categories", timeline.categories(), rows_of(found, "categories"))


def caller_differences(tpa, path, document):
    callers = reference_tables.Tables(document).callers()
    if callers is not None:
        callers = [{key: value for key, value in row.items() if key != "share_of_caller"} for row in callers]
        yield compare_tables("callers", callers, [row for row in rows_of(ask(tpa, "callers", path), "callers") if row["caller"]])
        callees = [{key: value for key, value in row.items() if key not in ("caller", "share_of_caller")} for row in reference_tables.Tables(document).callees()]
        yield compare_tables("callees", callees, [row for row in rows_of(ask(tpa, "callees", path), "callees") if row["callee"]])


def module_differences(tpa, path, document):
    modules = reference_modules.Modules(reference_tables.Tables(document))
    for by in ("tree", "module", "class", "line"):
        rows = modules.rows(by) if modules.has_frames(by) else None
        if rows is not None:
            yield compare_tables(f"modules by {by}", rows, rows_of(ask(tpa, "modules", path, "--by", by), "modules"))


def info_differences(tpa, paths):
    """What differs in tpa info of one trace, or of several together."""
    info, found = reference_info.Info(paths), ask(tpa, "info", paths[-1], *paths[:-1])
    wanted = info.files()
    for file, row, told in zip(info.all, wanted, sorted(rows_of(found, "files"), key=lambda told: paths.index(told["file"]))):
        may_lack = file.may_tell_lost_work() + (len(paths) > 1)  # work of calls; steps that the other file has
        row["notices"] += min(max(told["notices"] - row["notices"], 0), may_lack)
    yield compare_tables("files", wanted, rows_of(found, "files"))
    yield compare_tables("facts", info.facts(), rows_of(found, "facts"))
    yield compare_tables("devices", info.devices(), rows_of(found, "devices"))
    yield compare_tables("categories", info.categories(), rows_of(found, "categories"))
    yield compare_tables("below the categories", [info.footer()], [found["categories"]["footer"]])
    yield compare_tables("tracks", info.tracks(), rows_of(found, "tracks"))
    wanted = info.commands()
    yield compare_tables("what can be asked", wanted, [row for row in rows_of(found, "commands") if row["command"] in [w["command"] for w in wanted]])


PARTS_OF_HOSTS = {"operators", "data loading", "runtime calls", "outside of operators"}


def account_figures(account, told):
    """
    What the summary repeats of ACCOUNT, the table of tpa steps: the step, and with devices its parts. There they are whole
    nanoseconds, and so is the step: a share may be off by what rounding takes of each of its rows and of the step.
    """
    if not account:
        return {}
    figures, whole = {"step_ns": account["footer"]["step_ns"]}, account["footer"]["step_ns"]
    words = {row["step_part"] for row in account["rows"]}
    if words & PARTS_OF_HOSTS or not words:
        return figures  # no device worked in a step: shares are of spans
    parts = {"computing": "computing", "communicating": "exposed communication", "copying": "exposed copies", "idle": "idle"}
    for key, word in parts.items():
        rows = [row["part_share"] for row in account["rows"] if row["step_part"].startswith(word)]
        if key in told:
            near = told[key] is not None and whole and abs(told[key] - sum(rows)) <= (len(rows) + 1) / whole
            figures[key] = told[key] if near else sum(rows)
    return figures


def summary_differences(tpa, path, document):
    summary = reference_summary.Summary(document, reference_tables.Tables(document))
    found = ask(tpa, "summary", path)
    told = found["overview"]["footer"]
    wanted = summary.overview() | account_figures(ask(tpa, "steps", path).get("account"), told)
    yield compare_tables("in short", [wanted], [told])
    missing = {key for key, value in wanted.items() if value is not None} ^ set(told)
    yield None if summary.memory is None or not missing else f"in short: {missing}"
    operators, few = summary.operators(), rows_of(found, "operators")
    yield compare_tables("operators of the summary", [row for row in operators if row["name"] in [r["name"] for r in few]], few)
    most = sorted((row["time_ns"] for row in operators if row["time_ns"] > 0 or summary.tables.work), reverse=True)[:5]
    yield None if most == [row["time_ns"] for row in few] else f"operators of the summary: {most} take most"
    remarks, wanted = rows_of(found, "remarks"), summary.remarks()
    of_memory = [row for row in remarks if row["bytes"] is not None]
    if summary.memory is None:
        remarks = [row for row in remarks if row not in of_memory]
    yield compare_tables("remarks", wanted, remarks)
    yield None if [row["rule"] for row in wanted] == [row["rule"] for row in remarks] else f"remarks: in another order than {wanted}"
    yield from finding_differences(tpa, path, found)


def finding_differences(tpa, path, summary):
    """
    A finding saves what tpa whatif says of its change, which is 0.5 % of a step or more; the first saves most. A graph saves
    what it does alone, or what it adds to the others, whichever is less, and no more than the devices idle for launches.
    """
    def most():
        idle = sum(row["time_ns"] for row in rows_of(ask(tpa, "gaps", path), "causes") if row["cause"] in ("host", "launch latency", "launch call"))
        return int(idle / sum(row["span_ns"] for row in rows_of(ask(tpa, "gpu", path), "devices")) * footer["step_ns"])

    def gains(*options):
        told = subprocess.run([tpa, "whatif", *options, "--format", "json", path], capture_output=True, check=True).stdout
        (effect,) = rows_of({table["key"]: table for table in json.loads(told)["tables"]}, "result")
        return effect["gain_ns"] if effect["now_ns"] == footer["step_ns"] else None

    findings, footer = rows_of(summary, "findings"), summary.get("findings", {"footer": {}})["footer"]
    for row in findings:
        share = row["saves_ns"] / footer["step_ns"]
        yield None if share >= 0.005 and abs(share - row["saves_share"]) <= 1e-9 else f"findings: {row} is none of a step of {footer['step_ns']}"
        if row["check"].startswith("tpa whatif"):
            *others, last = options = shlex.split(row["check"])[2:]
            gain = min(gains(last), gains(*options) - gains(*others)) if others and row["rule"] == "launches" else gains(*options)
            fits = gain == row["saves_ns"] or (row["rule"] == "launches" and row["saves_ns"] < gain and abs(row["saves_ns"] - most()) <= 1)
            yield None if fits else f"findings: {row} gains {gain}"
    saves = [row["saves_ns"] for row in findings]
    yield None if saves == sorted(saves, reverse=True) else f"findings: not from what saves most to the least: {saves}"


def chart_differences(tpa, path, document):
    """What differs in the figures of the charts that are areas, and of memory in use."""
    tables = reference_tables.Tables(document)

    def charts(kind):
        return reference_chart.read_script(check_expected.top(tpa, path, "--type", kind, "--script", command="chart"))

    if any(e.duration for e in tables.work):
        for kind, wanted in (("utilization", reference_chart.utilization(tables)), ("overlap", reference_chart.overlap(tables))):
            if kind == "utilization" or any(e.duration for _, work in tables.by_device() for e in tables.parts(work)[1]):
                wrong = reference_chart.wrong_areas(wanted, charts(kind))
                yield wrong and f"chart of {kind}: {wrong}"
    memory = None if tables.has_memory_region else reference_memory.Memory(document, tables)
    if memory and memory.devices:
        wrong = reference_chart.wrong_lines(reference_chart.memory(memory), charts("memory"))
        yield wrong and f"chart of memory: {wrong}"


# Sections of a report, and the commands that say the same.
SECTIONS = {"summary": "summary", "steps": "steps", "operators": "top", "modules": "modules", "kernels": "kernels", "devices": "gpu", "gaps": "gaps",
            "transfers": "transfers", "launches": "launches", "sequences": "sequences", "latency": "latency", "roofline": "roofline",
            "memory": "memory", "communication": "comm"}


def report_differences(tpa, path, document):
    """What differs between the tables of a report and those of the commands, row by row, without any reference."""
    if not any(raw.get("ph") == "X" and str(raw.get("cat")).lower() != "trace" for raw in document["traceEvents"]):
        return
    answers = {}
    for table in json.loads(check_expected.top(tpa, path, "--format", "json", command="report"))["tables"]:
        section, _, key = table["key"].partition(".")
        command = SECTIONS[section]
        if command not in answers:
            answers[command] = ask(tpa, command, path)
        told = answers[command].get(key)
        if told is None:
            yield f"report: {command} has no table {key}"
            continue
        of_report = sorted(json.dumps({**row, "name": row.get("name") and row["name"].lstrip(" ")}) for row in table["rows"])  # modules are indented
        columns = table["rows"][0] if table["rows"] else ()
        of_command = sorted(json.dumps({**{column: row.get(column, "no such column") for column in columns}, "name": row.get("name")}) for row in told["rows"])
        yield None if of_report == of_command else f"report: {table['key']}: {next((pair for pair in zip(of_report, of_command) if pair[0] != pair[1]), 'rows are missing')}"
        yield None if table["footer"] == told["footer"] else f"report: below {table['key']} is {table['footer']}, tpa {command} says {told['footer']}"


# Commands but top, and what differs in their tables: texts, or None for each that does not.
COMMANDS = {"rows": top_differences, "chart": chart_differences, "report": report_differences, "summary": summary_differences, "info": lambda tpa, path, document: info_differences(tpa, [path]),
            "gpu": gpu_differences, "kernels": kernel_differences, "gaps": gap_differences, "transfers": transfer_differences,
            "launches": launch_differences, "sequences": sequence_differences, "latency": latency_differences, "roofline": roofline_differences,
            "steps": step_differences, "memory": memory_differences, "callers": caller_differences,
            "modules": module_differences}


def table_differences(tpa, path, only):
    """The first difference in the tables of other commands than top, or of ONLY this one, in words; None when there is none."""
    document = reference_top.load(path)
    lost[0] = bool(reference_info.lost_work(document)) or document[reference_late.DROPPED]
    try:
        for command, differs in COMMANDS.items():
            if only in ("", "tables", command):
                for wrong in differs(tpa, path, reference_top.load(path)):
                    if wrong:
                        return wrong
    finally:
        lost[0] = False
    return None


def job_differences(tpa, paths):
    """What differs in tpa comm and tpa steps of a job of several ranks, in words, or None."""
    job, comm = reference_job.Job(paths), ask(tpa, "comm", paths[-1], *paths[:-1])
    ranks, found = job.rank_rows(), rows_of(comm, "ranks")
    for row in ranks:
        row["meanwhile"] = row["meanwhile"] and "%.0f %% %s" % (100 * row["meanwhile"][0], row["meanwhile"][1])
    yield compare_tables("collectives", job.collectives(), rows_of(comm, "collectives"))
    yield compare_tables("ranks", ranks, found)
    yield compare_tables("waits", job.waits(), rows_of(comm, "waits"))
    if "lateness" in comm:
        found = rows_of(comm, "lateness")
        for row in found:
            parts = [row["communication_ns"], row["operators_ns"], row["host_ns"], row["queued_ns"]]
            row["rest"] = None if None in parts else sum(parts)
        yield compare_tables("lateness", job.lateness(), found)
    if len(paths) > 1 and job.all:
        yield from reference_clocks.merge_differences(tpa, paths, job)
    if job.all:
        yield compare_tables("below the collectives", [job.footer()], [comm["collectives"]["footer"]])
    if any(rank.steps for rank in job.ranks):
        found = ask(tpa, "steps", *paths)
        yield compare_tables("steps", job.step_rows(), rows_of(found, "steps"))
        yield from step_summary_differences(found, job.complete_steps(), job.titles())


def compare_sides(tpa, sides, *words):
    return ask(tpa, "diff", sides[1][-1], *words, "--base", *sides[0], "--new", *sides[1][:-1])


def diff_differences(tpa, sides):
    """What differs in tpa diff of two sides of files. Sides of which one has no work of a device, and the other has, are refused."""
    reference_diff.TPA = tpa
    worked = [any(reference_tables.Tables(reference_top.load(path)).work for path in paths) for paths in sides]
    if worked[0] != worked[1]:
        refused = subprocess.run([tpa, "diff", "--base", *sides[0], "--new", *sides[1]], capture_output=True, text=True)
        yield None if refused.returncode == 2 and "cannot be compared" in refused.stderr else "a side without work of devices is compared with one that has some"
        return
    diff = reference_diff.Diff(*sides)
    has_gpu = any(row["name"] == "GPU busy" and row["change_ns"] is not None for row in diff.head())
    for by, keys in (("op", {"operators": "op", "kernels": "kernel"}), ("shape", {"operators": "shape"}), *((by, {"rows": by}) for by in ("name", "category", "thread", "stream", "device"))):
        if by in ("stream", "device") and not has_gpu:
            continue
        found = compare_sides(tpa, sides, "--by", by)
        for key, rows in keys.items():
            wanted, table = diff.rows(rows), rows_of(found, key)
            yield compare_tables(f"diff by {rows}", wanted, table) if len(wanted) > 1 or table else None
            changes = [abs(row["change_ns"]) for row in table[:-1]]  # of rounded means: less than 1 from what rows are sorted by
            yield None if all(later <= earlier + 1 for earlier, later in zip(changes, changes[1:])) else f"diff by {rows}: not from the largest change to the smallest"
    for how in ("", " inclusive") if diff.has_modules() else ():
        found = compare_sides(tpa, sides, "--by", "module", *(f"--{word}" for word in how.split()))
        for key in ("modules", "modules_on_device"):
            wanted, table = diff.rows(key + how), rows_of(found, key)
            yield compare_tables(f"diff by {key}{how}", wanted, table) if len(wanted) > 1 or table else None
    found = compare_sides(tpa, sides)
    yield compare_tables("head of diff", diff.head(), rows_of(found, "head"))
    yield compare_tables("memory of diff", diff.memory(), rows_of(found, "memory"))
    yield compare_tables("renamed", diff.renamed(), rows_of(found, "renamed"))


def queue_differences(tpa, seed, folder):
    """What differs in tpa launches of a trace with more launches in a stream than CUDA lets wait."""
    path = os.path.join(folder, "deep.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write(random_trace.Maker(seed, deep=True).document())
    yield from launch_differences(tpa, path, reference_top.load(path))


def nightly(tpa, *words):
    """Tables, and the exit status."""
    run = subprocess.run([tpa, "nightly", *words, "--format", "json"], capture_output=True)
    if run.returncode > 1:
        raise check_expected.Failed(f"nightly: exit status {run.returncode}: {run.stderr.decode(errors='replace').strip()}")
    return {table["key"]: table for table in json.loads(run.stdout)["tables"]}, run.returncode


def nightly_differences(tpa, nights, folder):
    """What differs in what tpa nightly keeps of each night, and says of the history up to it."""
    reference_diff.TPA = tpa
    store, history = ("--store", os.path.join(folder, "nights.db")), reference_nightly.History()
    for number, paths in enumerate(nights, 1):
        tables, status = nightly(tpa, *store, "--label", "random", "--time", f"2026-01-{number:02}", "--all", "--limit", "0", *paths)
        run = reference_nightly.Run(paths)
        kept = rows_of(nightly(tpa, *store, "export", "--run", str(number))[0], "figures")
        kept = [{**row, "samples": len(row["samples"].split())} for row in kept if row["name"] != "idle_share"]
        run.errors = {(row["sort"], row["name"]): row["error"] for row in kept}
        yield compare_tables(f"night {number}", run.figures(), kept)
        yield history.told(run, tables, status)


# What is asked of other things than one trace: a seed makes them in a folder.
OTHERS = {"queues": queue_differences,
          "jobs": lambda tpa, seed, folder: job_differences(tpa, random_job.write(seed, folder)[:: seed % 2 or -1]),
          "host jobs": lambda tpa, seed, folder: job_differences(tpa, random_job.write(seed, folder, on_host=True)[:: seed % 2 or -1]),
          "diff": lambda tpa, seed, folder: diff_differences(tpa, random_sides.write(seed, folder)),
          "nightly": lambda tpa, seed, folder: nightly_differences(tpa, random_sides.write_nights(seed, folder), folder),
          "timelines": lambda tpa, seed, folder: timeline_differences(tpa, random_timeline.write(seed, folder))}


def other_differences(tpa, seed, only, every, folder):
    """The first difference in what is no trace, or in ONLY this, in words; None when there is none."""
    passed_over = "" if every == 1 else ("diff", "nightly")[seed // every % 2]  # they ask most: now the one, now the other
    for what, differs in OTHERS.items():
        if only == what or not only and (what != "queues" or seed % 20 == 0) and what != passed_over:
            own = os.path.join(folder, what)
            os.makedirs(own, exist_ok=True)
            wrong = next(filter(None, differs(tpa, seed, own)), None)
            shutil.rmtree(own)
            if wrong:
                return f"{what}: {wrong}"
    return None


def summed(all_rows):
    """Rows of several files with equal names added up, in no order."""
    sums = {}
    for row in all_rows:
        figures = sums.setdefault(tuple(row[:3]), [0] * len(row[3:]))
        for i, value in enumerate(row[3:]):
            figures[i] += value
    return sorted([*name, *figures] for name, figures in sums.items())


def sum_differences(tpa, paths):
    """The same for several files together."""
    wanted = summed(row for path in paths for row in reference_top.key_averages(reference_top.load(path)))
    text = check_expected.top(tpa, *paths, "--format", "json", "--limit", "0", "--sort", "none")
    found = [[r[0], r[1], bool(r[2]), *r[3:]] for r in check_expected.json_rows(text, FIGURES)]
    wrong = check_expected.compare_rows(wanted, sorted(found), FIGURES)
    columns = ["name", *FIGURES[1:]]
    by_rank = [{"rank": rank, **dict(zip(columns, row))} for rank, path in enumerate(paths) for row in reference_top.key_averages(reference_top.load(path))]
    wrong = wrong or compare_tables("by rank", by_rank, rows_of(ask(tpa, "top", paths[-1], *paths[:-1], "--by", "rank"), "operators"))
    return wrong and f"with {paths[1]}: {wrong}"


def main():
    parser = argparse.ArgumentParser(description="compare tpa top with the reference on random traces")
    parser.add_argument("--tpa", default="tpa")
    parser.add_argument("--seeds", default="1-40", metavar="FIRST-LAST")
    parser.add_argument("--keep", metavar="FOLDER", help="where traces go on which the two differ")
    parser.add_argument("--only", default="", metavar="WHAT", choices=["", "top", "tables", *COMMANDS, *OTHERS],
                        help="top; rows: of top, made of anything but names and shapes; tables: these and the other commands, or one of them; jobs: of several ranks; diff: of two sides; nightly: histories; timelines: of memory")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask for the other tables of every N-th trace only")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    sys.setrecursionlimit(100000)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        before = None
        for seed in seeds:
            path = os.path.join(scratch, f"seed-{seed}.json")
            with open(path, "w", encoding="utf-8") as f:
                f.write(random_trace.Maker(seed).document())
            try:
                wrong = differences(args.tpa, path) if args.only in ("", "top") else None
                if args.only in ("", "tables", *COMMANDS) and seed % args.every == 0:
                    wrong = wrong or table_differences(args.tpa, path, args.only)
                if args.only in ("", *OTHERS) and seed % args.every == 0:
                    wrong = wrong or other_differences(args.tpa, seed, args.only, args.every, os.path.join(scratch, "others"))
                if not wrong and before and args.only in ("", "top") and seed % 4 == 0:
                    wrong = sum_differences(args.tpa, [path, before]) or next(filter(None, info_differences(args.tpa, [before, path])), None)
            except check_expected.Failed as failure:
                wrong = str(failure)
            if wrong:
                failed += 1
                print(f"FAILED  seed {seed}: {wrong}")
                if args.keep:
                    shutil.copy(path, args.keep)
            if before:
                os.remove(before)
            before = path
    print(f"differential: {len(seeds) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
