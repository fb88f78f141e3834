"""What tpa diff must say of two sides (random_sides.py): slow, simple, apart from tpa.

    diff = reference_diff.Diff(paths_before, paths_after, "op")
    diff.head()       [{"name": "step time", "before_ns": 52000, ..., "p": 0.0286}, ...]
    diff.tables()     {"operators": [...], "kernels": [...]}
    diff.outliers()   diff.renamed()

Written from docs/definitions.md. Figures are fractions until they are rounded; the chance of an arrangement is found by counting
all of them.
"""

import functools
import math
import re
import statistics
from fractions import Fraction

import reference_top
from reference_tables import COMMUNICATES, COPY, KERNEL, SET, length, of, union, within, without

WORK = KERNEL | COPY | SET
STEP = re.compile(r"ProfilerStep#(\d+)")
HEAD = ("GPU busy", "computation", "exposed communication", "exposed copies", "GPU idle")
EXACT_UP_TO = 60  # samples of both sides


def rounded(value):
    """To the nearest integer, halves away from 0."""
    return None if value is None else int(math.copysign(math.floor(abs(value) + Fraction(1, 2)), value))


# ---- samples -----------------------------------------------------------------------------------------


class File:
    def __init__(self, path):
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
        """Steps as they ran, without those that recording cut."""
        launched = [self.launched_within(step) for step in self.steps]
        counts = [len(work) for work in launched]
        before, found = None, []
        for i, (step, work) in enumerate(zip(self.steps, launched)):
            if before is None:
                first = min((e.start for e in work), default=None)
                before = max((e.end for e in self.work if first is not None and e.end < first and not any(e in others for others in launched)), default=step.start)
            start, end = max(step.start, before), max([step.end] + [e.end for e in work])
            before = end = max(start, end)
            behind = counts[i + 1:]
            is_cut = any(counts) and not any(behind) and (not counts[i] or i > 0 and counts[i] < 0.8 * counts[i - 1])
            if not is_cut and step.raw["name"] not in [s.raw["name"] for s, _, _ in found]:
                found.append((step, start, end))
        return found


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


# ---- statistics --------------------------------------------------------------------------------------


def tails(doubled, chosen):
    """How many choices of so many of the DOUBLED ranks have which sum: {sum: number}."""
    ways = [{0: 1}] + [{} for _ in range(chosen)]
    for rank in doubled:
        for k in range(chosen, 0, -1):
            for total, number in ways[k - 1].items():
                ways[k][total + rank] = ways[k].get(total + rank, 0) + number
    return ways[chosen]


@functools.lru_cache(maxsize=None)
def counted(doubled, chosen):
    return tails(doubled, chosen)


def choose_of_untied(n, m):
    """The number of arrangements of n and m values without ties by U."""
    sums = counted(tuple(range(2, 2 * (n + m) + 2, 2)), m)
    least = m * (m + 1)
    return {(total - least) // 2: number for total, number in sums.items()}


class Shift:
    """How the values AFTER differ from those BEFORE."""

    def __init__(self, before, after):
        n, m = len(before), len(after)
        both = sorted(before + after)
        doubled = {value: 2 * both.index(value) + both.count(value) + 1 for value in both}
        ranks, found = tuple(doubled[value] for value in both), sum(doubled[value] for value in after)
        if n + m <= EXACT_UP_TO:
            ways = counted(ranks, m)
            p = lambda total: min(Fraction(1), Fraction(2 * min(sum(w for s, w in ways.items() if s <= total), sum(w for s, w in ways.items() if s >= total)), sum(ways.values())))
        else:
            p = lambda total: self.normal(n, m, ranks, total)
        self.p, self.least_p = p(found), min(p(sum(ranks[:m])), p(sum(ranks[n:])))
        self.is_decidable = self.least_p < 0.05
        differences = sorted(b - a for a in before for b in after)
        self.estimate = statistics.median(differences)
        skipped = self.skipped(n, m)
        self.low, self.high = (differences[skipped], differences[-1 - skipped]) if skipped is not None else (None, None)

    @staticmethod
    def normal(n, m, ranks, total):
        ties = sum(ranks.count(rank) ** 3 - ranks.count(rank) for rank in set(ranks))
        count = n + m
        variance = n * m / 12 * (count + 1 - ties / (count * (count - 1)))
        distance = max(0.0, abs(total / 2 - m * (m + 1) / 2 - n * m / 2) - 0.5)
        return math.erfc(distance / math.sqrt(variance) / math.sqrt(2)) if variance > 0 else 1.0

    @staticmethod
    def skipped(n, m):
        """How many differences at either end lie outside the interval; None when there are too few."""
        if n + m > EXACT_UP_TO:
            return max(0, math.floor(n * m / 2 - 1.959963984540054 * math.sqrt(n * m * (n + m + 1) / 12)))
        ways = choose_of_untied(n, m)
        below, count = 0, 0
        for u in sorted(ways):  # R's qwilcox(0.025)
            below += ways[u]
            if below > 0.025 * sum(ways.values()):
                break
            count += 1
        return count - 1 if count else None


def family(least):
    """Of how many questions, at most, each can be answered."""
    return max((min(size, sum(p * size < 0.05 for p in least)) for size in range(1, len(least) + 1)), default=0)


def student(t, freedom):
    """How likely |Student's t| is above T: t = sqrt(freedom) * tan(a), and the density of a goes with cos(a) ** (freedom - 1)."""
    power, pieces = freedom - 1, 1000
    top = (math.pi / 2 - math.atan(t / math.sqrt(freedom))) ** 0.25  # of u, a = pi / 2 - u ** 4, which is smooth at the end
    values = [math.sin((top * i / pieces) ** 4) ** power * 4 * (top * i / pieces) ** 3 for i in range(pieces + 1)]
    tail = top / pieces / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))  # Simpson's rule
    return tail / (math.sqrt(math.pi) / 2 * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2)))


def clear_p(before, after):
    """
    p of a change far beyond any spread, which a few samples tell, too: Welch's t test where the ranges are at least three times as
    far apart as the wider one is wide. A range counts as 2 %, a standard deviation as 1 % of its level at least. None: no such.
    """
    if min(len(before), len(after)) < 2:
        return None
    levels = [statistics.fmean(map(float, side)) for side in (before, after)]
    apart = max(min(after) - max(before), min(before) - max(after))
    width = max(*(max(side) - min(side) for side in (before, after)), 0.02 * max(map(abs, levels)))
    if apart <= 0 or apart < 3 * width:
        return None
    errors = [max(statistics.variance(map(float, side)), (0.01 * level) ** 2) / len(side) for side, level in zip((before, after), levels)]
    freedom = sum(errors) ** 2 / sum(error ** 2 / (len(side) - 1) for error, side in zip(errors, (before, after)))
    return student(abs(levels[1] - levels[0]) / math.sqrt(sum(errors)), freedom)


class Figure:
    """A name, and its values on both sides; None where a side does not have it at all."""

    def __init__(self, name, values, present=(True, True), whole=(None, None), calls=(None, None)):
        self.name, self.values, self.present, self.calls = name, values, present, calls
        self.old_name = None
        self.means = [None if v is None else w if w is not None else Fraction(sum(v), len(v)) for v, w in zip(values, whole)]
        self.shift = Shift(*values) if None not in values else None
        self.p, self.by_spread = None, False

    def judge_clear(self, count):
        """One of COUNT rows of a gate, or alone: what ranks cannot judge, for want of samples, the distance of the two sides may."""
        p = clear_p(*self.values) if self.shift is not None and self.verdict("ns") == "unsure" else None
        if p is not None and p * count < 0.05:
            self.p, self.by_spread = p * count, True

    def pooled(self):
        counts = [len(v) for v in self.values]
        return sum(mean * count for mean, count in zip(self.means, counts)) / sum(counts)

    def is_question(self):
        return all(self.present) and self.shift.is_decidable

    def verdict(self, unit):
        if self.shift is None:
            return None
        if self.present[0] != self.present[1]:
            return "new" if self.present[1] else "gone"
        shift = self.shift.estimate if self.shift.is_decidable else self.means[1] - self.means[0]
        if not shift:
            return "same"
        if self.p is None:
            return "unsure"
        if self.p >= 0.05:
            return "same"
        change = self.change() if self.by_spread else self.shift.estimate
        return {"ns": ("slower", "faster")}.get(unit, ("more", "less"))[change < 0]

    def outcome(self, limit, is_share):
        """Of a gate that allows it to grow by LIMIT, as a share of what it was or, of what is a share itself, in points."""
        median = statistics.median(self.values[0])
        decidable = self.shift.is_decidable
        if not is_share:
            growth = self.shift.estimate if decidable else self.change()
        elif not all(self.present):
            growth = math.inf if self.present[1] else -1 if self.means[0] > 0 else 0
        elif decidable and median > 0 and "memory" not in self.name:
            growth = self.shift.estimate / median
        else:
            growth = self.change() / self.means[0] if self.means[0] > 0 else math.inf if self.change() > 0 else 0
        verdict = self.verdict("ns")
        if verdict == "new":  # in one step of ten, or in all?
            verdict = "same" if self.shift.estimate <= 0 else "unsure" if not decidable else "slower" if self.shift.p < 0.05 else "same"
        outcome = "within" if growth <= limit else {"slower": "exceeded", "unsure": "cannot tell"}.get(verdict, "within")
        # A gate that cannot judge is not passed, unless --unsure says so.
        return {"found": float(growth) if math.isfinite(growth) else None, "limit": float(limit), "outcome": outcome, "fails": outcome != "within"}

    def change(self):
        return None if self.shift is None else self.means[1] - self.means[0]

    def row(self, unit, whole):
        """WHOLE: the change of the first line of the head."""
        suffix = "_ns" if unit == "ns" else ""
        before, after = (rounded(mean) for mean in self.means)
        change = self.change()
        shift = self.shift
        row = {"name": self.name, f"before{suffix}": before, f"after{suffix}": after, f"change{suffix}": None if change is None else after - before,
               "change_share": float(change / self.means[0]) if change is not None and self.means[0] else None, "verdict": self.verdict(unit),
               "part": float(change / whole) if whole and change is not None else None, "p": None if self.p is None else float(self.p),
               f"low{suffix}": shift and rounded(shift.low), f"high{suffix}": shift and rounded(shift.high), f"shift{suffix}": shift and rounded(shift.estimate),
               "old_name": self.old_name}
        for side, word in enumerate(("before", "after")):
            calls, values = self.calls[side], self.values[side]
            row[f"calls_{word}"] = float(calls) if calls else None
            row[f"call_{word}{suffix}"] = rounded(self.means[side] / calls) if calls else None
            row[f"median_{word}{suffix}"] = rounded(statistics.median(values)) if values and self.present[side] else None
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


class Diff:
    def __init__(self, before, after):
        files = [[File(path) for path in paths] for paths in (before, after)]
        self.files = files
        self.by_step = all(file.complete_steps() for side in files for file in side)
        self.samples = [[sample for file in side for sample in file.samples(self.by_step)] for side in files]

    def has_modules(self):
        """Else it is an error to ask for their rows."""
        return all(any(e.name.startswith("nn.Module: ") for e in file.events) for side in self.files for file in side)

    def head_figures(self):
        sides = [[sample.head() for sample in side] for side in self.samples]
        names = list(dict.fromkeys(name for name in ["step time", "window", *HEAD, "host time", "device time"] if any(name in s for side in sides for s in side)))
        figures = []
        for name in names:
            values = [[s[name] for s in side] if all(name in s for s in side) else None for side in sides]
            figures.append(self.judged(Figure(name, values)))
        return figures

    def head(self):
        """Its rows, and the change of the first of them."""
        figures = self.head_figures()
        return [figure.row("ns", figures[0].change() if figure is not figures[0] else None) for figure in figures], figures[0].change()

    @staticmethod
    def judged(figure):
        if figure.shift is not None and figure.is_question():
            figure.p = figure.shift.p
        figure.judge_clear(1)
        return figure

    def memory(self):
        return [figure.row("bytes", None) for figure in self.memory_figures()]

    def memory_figures(self):
        figures = []
        for is_device, name in ((True, "memory peak"), (False, "host memory peak")):
            peaks = [[sample.peaks() for sample in side] for side in self.samples]
            values = [[p[is_device] for p in side if is_device in p] or None for side in peaks]
            whole = [max((p[is_device] for file in side for s in file.samples(False) for p in [s.peaks()] if is_device in p), default=None) for side in self.files]
            if whole != [None, None]:
                figures.append(self.judged(Figure(name, values, whole=whole)))
        return figures

    def figures(self, by):
        sides = [[sample.rows(by) for sample in side] for side in self.samples]
        names = [list(dict.fromkeys(name for s in side for name in s)) for side in sides]
        self.old_names = {}
        if by == "kernel":
            self.match(names)
        figures = []
        for name in dict.fromkeys(names[1] + [n for n in names[0] if n not in self.old_names.values()]):
            called = [self.old_names.get(name, name), name]
            values = [[s.get(n, [0, 0])[0] for s in side] for side, n in zip(sides, called)]
            calls = [Fraction(sum(s.get(n, [0, 0])[1] for s in side), len(side)) for side, n in zip(sides, called)]
            figures.append(Figure(name, values, [n in own for n, own in zip(called, names)], calls=calls))
            figures[-1].old_name = self.old_names.get(name)
        return figures

    def rows(self, by):
        """The table of these rows, and what the rows leave open."""
        figures = self.figures(by)
        self.judge(figures)
        (first, *_), whole = self.head()
        rows = [figure.row("ns", whole) for figure in figures]
        left = {key: first[key] - sum(row[key] for row in rows) for key in ("before_ns", "after_ns", "change_ns")}
        rows.append({**dict.fromkeys(rows[0] if rows else ()), "name": "[in no row]", **left,
                     "part": float(left["change_ns"] / whole) if whole else None})
        return rows

    @staticmethod
    def judge(figures):
        """So many that each can reach p < 0.05 after Holm's correction, the largest on both sides together."""
        questions = [f for f in figures if f.is_question()]
        count = family([f.shift.least_p for f in questions])
        able = sorted((f for f in questions if f.shift.least_p * count < 0.05), key=lambda f: -f.pooled())
        asked, largest = sorted(able[:count], key=lambda f: f.shift.p), 0
        for i, figure in enumerate(asked):
            figure.p = largest = max(largest, min(1, figure.shift.p * (len(asked) - i)))

    def gates(self):
        """(gate, what it says) of those that these sides can be asked."""
        head = {figure.name: figure for figure in self.head_figures()}
        first = next(iter(head.values()))
        gates = [("1%", first, 0.01)] if self.by_step else []
        rows = self.figures("op") + (self.figures("kernel") if "device time" in head else [])
        self.judge(rows)
        for figure in rows:
            figure.judge_clear(len(rows))
        gates += [("op=2%:.", figure, 0.02) for figure in rows]
        for gate, name in (("busy", "GPU busy"), ("host", "host time"), ("device", "device time")):
            if name in head and head[name].shift:
                gates.append((f"{gate}=0%", head[name], 0))
        memory = next((figure for figure in self.memory_figures() if figure.shift), None)
        if memory and memory.name == "memory peak":
            gates.append(("memory=0.1%", memory, 0.001))
        if "GPU idle" in head and head["GPU idle"].shift:
            shares = [[idle / time for idle, time in zip(*pair) if time] for pair in zip(head["GPU idle"].values, first.values)]
            if all(shares):
                gates.append(("idle=+1pp", self.judged(Figure("GPU idle, share of the time", shares)), 0.01))
        return [(gate, {"gate": gate, "name": figure.name, **figure.outcome(limit, "idle" not in gate)}) for gate, figure, limit in gates]

    def match(self, names):
        """Kernels that one side alone has, under another name on the other."""
        for level, words in enumerate(DIFFER):
            only = [[n for n in names[0] if n not in names[1] and n not in self.old_names.values()], [n for n in names[1] if n not in names[0] and n not in self.old_names]]
            for old in only[0]:
                same = [[n for n in side if alike(n, level) == alike(old, level)] for side in only]
                if len(same[0]) == len(same[1]) == 1:
                    self.old_names[same[1][0]] = old
                    self.renamed_rows.append({"before": old, "after": same[1][0], "differ": words})

    renamed_rows = []

    def renamed(self):
        self.renamed_rows = []
        self.rows("kernel")
        return self.renamed_rows

    def outliers(self):
        rows = []
        for side, word in zip(self.samples, ("before", "after")):
            times = [s.end - s.start for s in side]
            middle = statistics.median(times)
            deviations = [abs(t - middle) for t in times]
            spread = 1.4826 * statistics.median(deviations) or 1.2533 * sum(deviations) / len(deviations)
            for sample, time in zip(side, times):
                if len(times) >= 5 and abs(time - middle) > 3.5 * spread and abs(time - middle) > 0.01 * middle:
                    rows.append({"side": word, "time_ns": time, "median_ns": rounded(middle), "over_median_ns": rounded(time - middle),
                                 "over_share": float((time - middle) / middle)})
        return rows
