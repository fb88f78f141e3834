"""What tpa diff must say of two sides (random_sides.py): slow, simple, apart from tpa.

    diff = reference_diff.Diff(paths_before, paths_after)
    diff.head()       [{"name": "step time", "before_ns": 52000, ...}, ...]
    diff.tables()     {"operators": [...], "kernels": [...]}
    diff.outliers()   diff.renamed()

Written from docs/definitions.md. Figures are fractions until they are rounded. Which steps count, and how long they took, tpa itself
is asked (tests/unit/test_account.c checks that); their windows must be of the host or of devices. Verdicts are checked by
tests/unit/test_verdict.c and tests/nightly/simulate_diff.c.
"""

import json
import math
import re
import statistics
import subprocess
from fractions import Fraction

import reference_top
from reference_tables import COMMUNICATES, COPY, KERNEL, SET, length, of, union, within, without

WORK = KERNEL | COPY | SET
STEP = re.compile(r"ProfilerStep#(\d+)")
HEAD = ("GPU busy", "computation", "exposed communication", "exposed copies", "GPU idle")
TPA = "tpa"  # the program that is asked which steps count


def rounded(value):
    """To the nearest integer, halves away from 0."""
    return None if value is None else int(math.copysign(math.floor(abs(value) + Fraction(1, 2)), value))


# ---- samples -----------------------------------------------------------------------------------------


class File:
    def __init__(self, path):
        self.path, self.complete = path, None
        self.document = reference_top.load(path)
        self.events, _ = reference_top.read_events(self.document)
        reference_top.link(self.events)
        self.work = [e for e in self.events if e.category in WORK]
        self.calls = {e.correlation: e for e in self.events if e.category in reference_top.RUNTIME}
        self.operators = {e.id: e for e in self.events if e.category in reference_top.OPERATOR and e.id}
        self.devices = sorted({int(e.args["device"]) for e in self.work})
        self.host = [e for e in reference_top.function_events(self.document) if not e.on_device]
        steps = sorted((e for e in self.events if e.category == "user_annotation" and STEP.match(e.raw["name"])), key=lambda e: (e.start, -e.end))
        self.steps = []
        for e in steps:
            if all(e.start >= s.end for s in self.steps):
                self.steps.append(e)
        self.records = sorted(((reference_top.to_ns(raw["ts"]), raw["args"]) for raw in self.document["traceEvents"] if raw.get("name") == "[memory]"),
                              key=lambda record: record[0])

    def launched_in(self, start, end):
        """Work whose call begins there."""
        return [e for e in self.work if e.correlation in self.calls and start <= self.calls[e.correlation].start < end]

    def launched_within(self, step):
        """Work of calls that lie wholly there."""
        return [e for e in self.launched_in(step.start, step.end) if self.calls[e.correlation].end <= step.end]

    def communicates(self, kernel):
        operator = self.operators.get(kernel.link)
        return "nccl" in kernel.name.lower() or operator is not None and COMMUNICATES.match(operator.name) is not None

    def samples(self, by_step):
        if not by_step:
            events = self.events
            start, end = min((e.start for e in events), default=0), max((e.end for e in events), default=0)
            return [Sample(self, None, start, end, self.host, self.work)]
        return [Sample(self, step, start, end, [e for e in self.host if step.start <= e.start < step.end], self.launched_in(step.start, step.end))
                for step, start, end in self.complete_steps()]

    def complete_steps(self):
        """Steps that count, and their windows: from the begin of a step to that of the next, or between the ends of their work."""
        if self.complete is not None:
            return self.complete
        run = subprocess.run([TPA, "diff", "--by", "step", "--format", "json", self.path, self.path], capture_output=True)
        tables = {t["key"]: t["rows"] for t in json.loads(run.stdout)["tables"]} if run.returncode == 0 else {}
        lengths = {row["name"]: row["before_ns"] for row in tables.get("rows", []) if row["verdict"]}
        self.complete, devices, before = [], [], None
        for i, step in enumerate(self.steps):
            after = self.steps[i + 1].start if i + 1 < len(self.steps) else step.end
            ended = max((e.end for e in self.launched_within(step)), default=None)
            length = lengths.pop(step.raw["name"], None)
            if length is not None:
                if length == after - step.start:
                    self.complete.append((step, step.start, after))
                if ended is not None and length in (ended - (before or 0), ended - step.start):
                    devices.append((step, ended - length, ended))
                assert devices and devices[-1][0] is step or self.complete and self.complete[-1][0] is step, (self.path, step.raw["name"], length)
            before = ended if ended is not None else before
        if len(devices) > len(self.complete):  # one of both is the limit of all steps of a file
            self.complete = devices
        return self.complete


class Sample:
    """A step, or a file: HOST events and WORK that belong to it, and the time from START to END."""

    def __init__(self, file, step, start, end, host, work):
        self.file, self.step, self.start, self.end, self.host, self.work = file, step, start, end, host, work

    def head(self):
        """Names of figures and their values."""
        file, figures = self.file, {"step time" if self.step else "window": self.end - self.start}
        parts = [self.parts(device) for device in file.devices]
        for name, values in zip(HEAD, zip(*parts)):
            figures[name] = Fraction(sum(values), len(parts))
        figures["host time"] = sum(e.self_cpu() for e in self.host if not e.is_python)
        if file.devices:
            figures["device time"] = sum(e.duration for e in self.work)
        return figures

    def parts(self, device):
        """What the device did in that time, launched by any thread."""
        work = [e for e in self.file.work if int(e.args["device"]) == device]
        inside = lambda chosen: within(union(of(chosen)), self.start, self.end)
        computes = inside(e for e in work if e.category in SET or e.category in KERNEL and not self.file.communicates(e))
        talks = inside(e for e in work if e.category in KERNEL and self.file.communicates(e))
        copies = inside(e for e in work if e.category in COPY)
        busy = length(inside(work))
        return [busy, length(computes), length(without(talks, computes)), length(without(copies, union(computes + talks))), self.end - self.start - busy]

    def peaks(self):
        """{is it of a device?: the most bytes in use}."""
        peaks = {}
        for device in {(int(args["Device Type"]), int(args["Device Id"])) for _, args in self.file.records}:
            records = [(at, args) for at, args in self.file.records if (int(args["Device Type"]), int(args["Device Id"])) == device]
            used = [int(args["Total Allocated"]) for at, args in records if not self.step or self.step.start <= at < self.step.end]
            earlier = [int(args["Total Allocated"]) for at, args in records if self.step and at < self.step.start]
            used.append(earlier[-1] if earlier else int(records[0][1]["Total Allocated"]) - int(records[0][1]["Bytes"]))
            peaks[device[0] != 0] = max([peaks.get(device[0] != 0, 0), *used])
        return peaks

    def rows(self, by):
        """{name: [time, calls]}"""
        times = {}
        host = [e for e in self.host if not e.is_python and not e.name.startswith("[")]
        if by.startswith("modules"):
            return self.modules(*by.split())
        place = {"op": lambda e: e.name, "shape": lambda e: e.name + "  " + e.shapes, "thread": lambda e: "thread " + e.thread[1], "category": lambda e: e.raw["cat"],
                 "kernel": lambda e: e.name, "device": lambda e: f"GPU {e.args['device']}", "stream": lambda e: f"GPU {e.args['device']} stream {e.args['stream']}"}.get(by)
        if place:
            found = [(place(e), e.self_cpu()) for e in host if by in ("op", "shape", "thread", "category")]
            found += [(place(e), e.duration) for e in self.work if by in ("kernel", "stream", "device", "category")]
        else:
            found = [(e.raw["name"], e.duration) for e in self.host_events() + self.work]
        for name, time in found:
            row = times.setdefault(name, [0, 0])
            row[0] += time
            row[1] += 1
        return times

    def modules(self, table, how="own"):
        """As rows: frames of modules, without those in them or ("inclusive") with them; or what was launched in them."""
        frames = sorted((e for e in self.file.events if e.category == "python_function" and e.name.startswith("nn.Module: ")), key=lambda e: (e.start, -e.end))
        for e in frames:
            e.is_async, e.parent, e.children = False, None, []
        reference_top.build_tree(frames)
        found = []
        if table == "modules":
            found = [(e, e.duration - (0 if how == "inclusive" else sum(c.duration for c in e.children)))
                     for e in frames if not self.step or self.step.start <= e.start < self.step.end]
        for e in self.work if table == "modules_on_device" else ():
            call = self.file.calls.get(e.correlation)
            frame = next((f for f in reversed(frames) if call and f.thread == call.thread and f.start <= call.start < f.end), None)
            while frame:
                found.append((frame, e.duration))
                frame = frame.parent if how == "inclusive" else None
        rows = {}
        for e, time in found:
            row = rows.setdefault(e.name.removeprefix("nn.Module: "), [0, 0])
            row[0] += time
            row[1] += 1
        return rows

    def host_events(self):
        return [e for e in self.file.events if not e.on_device and (not self.step or self.step.start <= e.start < self.step.end)]


# ---- figures -----------------------------------------------------------------------------------------


class Figure:
    """A name, and its values on both sides, by run; None where a side does not have it at all."""

    def __init__(self, name, values, present=(True, True), whole=(None, None), calls=(None, None)):
        self.name, self.values, self.present, self.calls = name, values, present, calls
        self.old_name = None
        levels = [None if v is None else [Fraction(sum(run), len(run)) for run in v] for v in values]
        self.means = [None if v is None else w if w is not None else Fraction(sum(v), len(v)) for v, w in zip(levels, whole)]

    def change(self):
        return None if None in self.means else self.means[1] - self.means[0]

    def row(self, unit):
        suffix = "_ns" if unit == "ns" else ""
        before, after = (rounded(mean) for mean in self.means)
        change = self.change()
        row = {"name": self.name, f"before{suffix}": before, f"after{suffix}": after, f"change{suffix}": None if change is None else after - before,
               "change_share": float(change / self.means[0]) if change is not None and self.means[0] else None, "old_name": self.old_name}
        for side, word in enumerate(("before", "after")):
            calls, values = self.calls[side], self.values[side]
            row[f"calls_{word}"] = float(calls) if calls else None
            row[f"call_{word}{suffix}"] = rounded(self.means[side] / calls) if calls else None
            row[f"median_{word}{suffix}"] = rounded(statistics.median([v for run in values for v in run])) if values and self.present[side] else None
        return row


# ---- tables ------------------------------------------------------------------------------------------


def alike(name, level):
    """What is left of a kernel's name: without running numbers; then without numbers and types in template arguments; or any of these."""
    if level == 0:
        return re.sub(r"_\d+$", "", name)
    if level == 1:
        return re.sub(r"<([^<>]*)>", lambda match: "<" + re.sub(r"\b(float|double|__half|int|\d+)\b", "", match[1]) + ">", name).replace(" ", "")
    return re.sub(r"<.*>", "<>", name)


DIFFER = ("hashes, addresses, line and running numbers", "numbers and types in template arguments", "template arguments")
ALONE = "all: the only one on either side, called as often"


class Diff:
    def __init__(self, before, after):
        files = [[File(path) for path in paths] for paths in (before, after)]
        self.files = files
        self.by_step = all(file.complete_steps() for side in files for file in side)
        self.runs = [[file.samples(self.by_step) for file in side] for side in files]  # each file is a run: none has a rank
        self.samples = [[sample for run in side for sample in run] for side in self.runs]
        self.renamed_rows = []

    def has_modules(self):
        """Else it is an error to ask for their rows."""
        return all(any(e.name.startswith("nn.Module: ") for e in file.events) for side in self.files for file in side)

    def head_figures(self):
        sides = [[[sample.head() for sample in run] for run in side] for side in self.runs]
        names = list(dict.fromkeys(name for name in ["step time", "window", *HEAD, "host time", "device time"] if any(name in s for side in sides for run in side for s in run)))
        return [Figure(name, [[[s[name] for s in run] for run in side] if all(name in s for run in side for s in run) else None for side in sides]) for name in names]

    def head(self):
        return [figure.row("ns") for figure in self.head_figures()]

    def memory(self):
        figures = []
        for is_device, name in ((True, "memory peak"), (False, "host memory peak")):
            peaks = [[[p[is_device] for s in run for p in [s.peaks()] if is_device in p] for run in side] for side in self.runs]
            values = [[run for run in side if run] or None for side in peaks]
            whole = [max((p[is_device] for file in side for s in file.samples(False) for p in [s.peaks()] if is_device in p), default=None) for side in self.files]
            if whole != [None, None]:
                figures.append(Figure(name, values, whole=whole))
        return [figure.row("bytes") for figure in figures]

    def figures(self, by):
        sides = [[[sample.rows(by) for sample in run] for run in side] for side in self.runs]
        flat = [[rows for run in side for rows in run] for side in sides]
        names = [list(dict.fromkeys(name for rows in side for name in rows)) for side in flat]
        calls_of = lambda side, name: Fraction(sum(rows.get(name, [0, 0])[1] for rows in flat[side]), len(flat[side]))
        self.old_names = {}
        if by in ("op", "shape", "kernel"):
            self.match(names, calls_of)
        figures = []
        for name in dict.fromkeys(names[1] + [n for n in names[0] if n not in self.old_names.values()]):
            called = [self.old_names.get(name, name), name]
            values = [[[rows.get(n, [0, 0])[0] for rows in run] for run in side] for side, n in zip(sides, called)]
            calls = [calls_of(side, n) for side, n in enumerate(called)]
            figures.append(Figure(name, values, [n in own for n, own in zip(called, names)], calls=calls))
            figures[-1].old_name = self.old_names.get(name)
        return figures

    def rows(self, by):
        """The table of these rows, and what the rows leave open."""
        figures = self.figures(by)
        first = self.head()[0]
        rows = [figure.row("ns") for figure in figures]
        left = {key: first[key] - sum(row[key] for row in rows) for key in ("before_ns", "after_ns", "change_ns")}
        rows.append({**dict.fromkeys(rows[0] if rows else ()), "name": "[in no row]", **left})
        return rows

    def match(self, names, calls_of):
        """Operations that one side alone has, under another name on the other."""
        left = lambda: [[n for n in names[0] if n not in names[1] and n not in self.old_names.values()], [n for n in names[1] if n not in names[0] and n not in self.old_names]]
        for level, words in enumerate(DIFFER):
            only = left()
            for old in only[0]:
                same = [[n for n in side if alike(n, level) == alike(old, level)] for side in only]
                if len(same[0]) == len(same[1]) == 1:
                    self.rename(old, same[1][0], words)
        only = left()
        if len(only[0]) == len(only[1]) == 1 and calls_of(0, only[0][0]) == calls_of(1, only[1][0]):
            self.rename(only[0][0], only[1][0], ALONE)

    def rename(self, old, new, words):
        self.old_names[new] = old
        self.renamed_rows.append({"before": old, "after": new, "differ": words})

    def renamed(self):
        self.renamed_rows = []
        self.rows("op")
        self.rows("kernel")
        return self.renamed_rows
