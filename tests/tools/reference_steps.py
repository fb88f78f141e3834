"""What tpa steps must say of a Kineto trace, whatever makes a row: slow, simple, apart from tpa.

    steps = reference_steps.Steps(reference_tables.Tables(document))
    steps.rows("device")    [{"device": 0, "count": 3, "duration_ns": ..., "kernel_ns": ...}, ...]
    summary(steps.complete(), steps.titles())    footer(...)

Written from docs/definitions.md. as_they_ran() is also what tpa gpu looks at.
"""

import math
import re
import statistics
from fractions import Fraction

from reference_top import Event, to_ns
from reference_tables import LOADS_DATA, length, of, union, within, without

PARTS = {"kernel_ns": "Kernel", "memcpy_ns": "Memcpy", "memset_ns": "Memset", "communication_ns": "Comm.", "runtime_ns": "Runtime",
         "data_loading_ns": "Data loading", "cpu_ns": "CPU", "other_ns": "Other", "duration_ns": "Step as it ran"}


ON_HOST = re.compile(r"(gloo|mpi|ucc):")  # libraries whose collectives run on the host


class Step:
    """A range on the host, and when it ran there and on devices."""

    def __init__(self, name, host, start, end, works, complete):
        self.name, self.host, self.start, self.end, self.works, self.complete = name, host, start, end, works, complete


def ranges_of(steps):
    """Of ranges that overlap the first counts, of those that begin together the longer."""
    kept = []
    for step in sorted(steps, key=lambda e: (e.start, -e.end)):
        if not kept or step.start >= kept[-1].end:
            kept.append(step)
    return kept


def as_they_ran(ranges, works, call_of):
    """Steps; CALL_OF gives the call that launched a piece of work, or None."""
    def is_within(work, step):
        call = call_of(work)
        return call is not None and step.start <= call.start < step.end and call.end <= step.end

    launched = [[e for e in works if is_within(e, step)] for step in ranges]
    counts = [len(own) for own in launched]
    steps, before = [], None
    for i, (step, own) in enumerate(zip(ranges, launched)):
        if before is None:
            first = min((e.start for e in own), default=None)
            nobodys = [e.end for e in works if first is not None and e.end < first and not any(e in of_step for of_step in launched)]
            before = max(nobodys, default=step.start)
        start = max(step.start, before)
        before = max([start, step.end] + [e.end for e in own])
        behind = counts[i + 1:]
        is_cut = any(counts) and not any(behind) and (counts[i] == 0 or i > 0 and counts[i] < 0.8 * counts[i - 1])
        steps.append(Step(step.raw["name"], (step.start, step.end), start, before, counts[i], not is_cut))
    return steps


class Steps:
    def __init__(self, tables):
        self.tables = tables
        self.all = as_they_ran(ranges_of(tables.steps or self.whole_file()), tables.work, tables.call)

    def whole_file(self):
        """One range, without what regions that were still open have beyond the end of recording."""
        spans = [e for e in self.tables.document["traceEvents"] if e.get("ph") == "X" and e.get("cat") == "Trace"]
        stop = max((to_ns(e["ts"]) + to_ns(e.get("dur", 0)) for e in spans), default=None)
        regions = self.tables.operators + self.tables.annotations
        ends = [max(stop, e.start) if e in regions and e.end > stop else e.end for e in self.tables.events] + self.ends_of_regions_named_as_records(stop)
        if max(ends, default=0) > self.tables.origin:
            whole = Event("user_annotation", "(all)", None, self.tables.origin, max(ends))
            whole.raw = {"name": "(all)"}
            return [whole]
        return []

    def ends_of_regions_named_as_records(self, stop):
        """Of regions that reference_top.py takes for records of memory."""
        raw = [e for e in self.tables.document["traceEvents"] if e.get("ph") == "X" and e["name"] in ("[memory]", "[OutOfMemory]")]
        return [max(to_ns(e["ts"]), min(to_ns(e["ts"]) + to_ns(e.get("dur", 0)), stop)) for e in raw]

    def parts(self, step, works=None):
        """What went on when, of all devices or only of WORKS."""
        tables = self.tables
        computes, communicates, copies, sets = tables.parts(tables.work if works is None else works)
        loads = [e for e in tables.operators + tables.annotations if LOADS_DATA.match(e.name)]
        parts, taken = {"duration_ns": step.end - step.start}, []
        regions = [e for e in tables.operators + tables.annotations if e not in tables.steps]
        talks = [e for e in regions if ON_HOST.match(e.name)]
        for key, events in zip(PARTS, (computes, copies, sets, communicates + talks, tables.calls, loads, regions)):
            moments = within(union(of(events)), step.start, step.end)
            parts[key] = length(without(moments, taken))
            taken = union(taken + moments)
        parts["other_ns"] = step.end - step.start - length(taken)
        return parts

    def places(self, by):
        """What the rows are of: nothing, a device, a stream; and the work there."""
        for device, works in self.tables.by_device():
            for stream in sorted({int(e.args["stream"]) for e in works}) if by == "stream" else [None]:
                yield ({"device": device} if by == "device" else {"device": device, "stream": stream},
                       [e for e in works if stream is None or int(e.args["stream"]) == stream])

    def rows(self, by=""):
        """BY is of step, name, rank, device, stream; several with commas between them."""
        place = "stream" if "stream" in by else "device" if "device" in by else None
        is_each = "step" in by.split(",") or not by
        groups = {}
        for key, works in self.places(place) if place else [({}, None)]:
            for number, step in enumerate(self.all):
                name = {"step": step.name} if is_each or "name" in by else {}
                groups.setdefault((*key.values(), *name.values(), number if is_each else 0), ({**key, **name}, works, []))[2].append(step)
        return [{**key, **self.figures(steps, works, is_each)} for key, works, steps in groups.values()]

    def figures(self, steps, works, is_each):
        parts = [self.parts(step, works) for step in steps]
        row = {key: sum(part[key] for part in parts) for key in PARTS}
        row["host_duration_ns"] = sum(step.host[1] - step.host[0] for step in steps)
        if works is None:
            row["gpu_events"] = sum(step.works for step in steps)
        if is_each:
            return {**row, "start_ns": steps[0].start - self.tables.origin, "complete": steps[0].complete}
        return {**row, "count": len(steps), "average_ns": rounded(Fraction(row["duration_ns"], len(steps)))}

    def complete(self):
        return [(step, self.parts(step)) for step in self.all if step.complete]

    def titles(self):
        """Parts that nothing in the file can be are left out."""
        talks = any(ON_HOST.match(e.name) for e in self.tables.events)
        lacking = [] if self.tables.work else list(PARTS)[:3] + ["communication_ns"] * (not talks) + ["runtime_ns"] * (not talks and not self.tables.calls)
        return {key: title for key, title in PARTS.items() if key not in lacking}


def slowest(complete):
    """Of equals the first. COMPLETE are steps and their parts."""
    return max(complete, key=lambda pair: pair[1]["duration_ns"])


def summary(complete, titles):
    whole = sum(parts["duration_ns"] for _, parts in complete)
    rows = []
    for key, title in titles.items():
        times = [parts[key] for _, parts in complete]
        median, most = rounded(Fraction(statistics.median(times))), slowest(complete)[1][key]
        rows.append({"part": title, "average_ns": rounded(Fraction(sum(times), len(times))), "share": sum(times) / whole if whole else None,
                     "median_ns": median, "stddev_ns": rounded(Fraction(math.sqrt(statistics.variance(times)))) if len(times) > 1 else 0,
                     "slowest_ns": most, "difference_ns": most - median, "min_ns": min(times), "max_ns": max(times)})
    return rows


def footer(complete, titles):
    most, part = max(((row["difference_ns"], row["part"]) for row in summary(complete, titles)[:-1]), key=lambda difference: difference[0])
    return {"steps": len(complete), "slowest_step": slowest(complete)[0].name, "slowest_because": part if most > 0 and len(complete) > 1 else None}


def rounded(value):
    return math.floor(value + Fraction(1, 2))
