"""How well devices were used, as tpa gpu must say of a Kineto trace: slow, simple, apart from tpa.

    efficiency = reference_efficiency.Efficiency(reference_tables.Tables(document))
    efficiency.rows("stream")    [{"device": 0, "stream": 7, "window_ns": ..., "utilization": ..., ...}, ...]

Written from docs/definitions.md. Shares are fractions until the end; what runs at each moment is looked for anew.
"""

from fractions import Fraction

import reference_steps
from reference_kernels import TENSOR_CORES, number, percent
from reference_tables import KERNEL, length, of, union, within
from reference_top import Event, to_ns


def share(part, whole):
    return float(Fraction(part) / whole) if whole else None


class Efficiency:
    def __init__(self, tables):
        self.tables = tables
        self.steps = reference_steps.as_they_ran(reference_steps.ranges_of(tables.steps), tables.work, tables.call)

    def window(self, work):
        """The time looked at, for a device or stream that did WORK: the steps, else the operators, else its span; the first that is any."""
        windows = list(self.windows())
        windows.append((min(e.start for e in work), max(e.end for e in work)))
        return next((window for window in windows if window[0] < window[1]), windows[-1])

    def windows(self):
        spans = [e for e in self.tables.document["traceEvents"] if e.get("ph") == "X" and e.get("cat") == "Trace"]
        stop = max((to_ns(e["ts"]) + to_ns(e.get("dur", 0)) for e in spans), default=None)
        if self.steps:
            end = max(step.end for step in self.steps if step.complete)
            yield self.steps[0].start, end if stop is None else max(self.steps[0].start, min(end, stop))
        if self.tables.operators:
            ends = [max(e.start, min(e.end, stop)) if stop is not None else e.end for e in self.tables.operators]
            # Extended, as a step is, to the end of the work that was launched in it.
            whole = Event("cpu_op", "(operators)", None, min(e.start for e in self.tables.operators), max(ends))
            whole.raw = {"name": whole.name}
            if whole.start < whole.end:
                yield from ((step.start, step.end) for step in reference_steps.as_they_ran([whole], self.tables.work, self.tables.call))

    def rows(self, by="device"):
        rows = []
        for device, of_device in self.tables.by_device():
            for stream in sorted({int(e.args["stream"]) for e in of_device}) if by == "stream" else [None]:
                work = [e for e in of_device if stream is None or int(e.args["stream"]) == stream]
                span = min(e.start for e in work), max(e.end for e in work)
                row = {"device": device, **({"stream": stream} if by == "stream" else {})}
                rows.append({**row, **self.figures(work, [self.window(work)], [span], work)})
        return rows

    def step_rows(self):
        rows = []
        for device, work in self.tables.by_device():
            for number, works in self.tables.work_of_steps(work):
                span = min(e.start for e in works), max(e.end for e in works)
                rows.append({"device": device, "step": number, **self.figures(works, [span], [span], works)})
        return rows

    @staticmethod
    def figures(work, window, span, counted):
        """Of WORK within the moments of WINDOW; tensor cores of the kernels in COUNTED."""
        kernels = [e for e in work if e.category in KERNEL]
        whole = sum(b - a for a, b in window)
        pieces = [(e, a, b) for e in kernels for start, end in window for a, b in within(of([e]), start, end)]
        busy_sms = Fraction(0)
        moments = sorted({m for _, a, b in pieces for m in (a, b)})
        for start, end in zip(moments, moments[1:]):
            running = [Fraction(number(e, "blocks per SM") or 0) for e, a, b in pieces if a <= start and end <= b]
            busy_sms += min(1, sum(running)) * (end - start)
        told = [(Fraction(percent(number(e, "est. achieved occupancy %"))), b - a) for e, a, b in pieces if "est. achieved occupancy %" in e.args]
        times = {"yes": 0, "no": 0, "unknown": 0}
        for e in counted:
            if e.category in KERNEL:
                times[TENSOR_CORES.get(e.name, "unknown")] += e.duration
        return {"window_ns": whole, "utilization": share(length(union([(a, b) for _, a, b in pieces])), whole),
                "sm_efficiency": share(busy_sms, whole) if any("blocks per SM" in e.args for e, _, _ in pieces) else None,
                "occupancy": share(sum(value * time for value, time in told), sum(time for _, time in told)),
                "tensor_core_share": share(times["yes"], sum(times.values())), "tensor_core_unknown_share": share(times["unknown"], sum(times.values())),
                "busy_share": share(sum(length(within(union(of(work)), a, b)) for a, b in span), sum(b - a for a, b in span))}
