"""What tpa transfers must say of a Kineto trace: slow, simple, apart from tpa.

    transfers = reference_transfers.Transfers(reference_tables.Tables(document))
    transfers.rows("op,device")    [{"device": 0, "op": "aten::to", "direction": "HtoD", ...}, ...]
    transfers.stalls()      None where the file leaves open what a call waited for

Written from docs/definitions.md.
"""

import re
import statistics

import reference_gaps
import reference_top
from reference_tables import BLOCKING_COPIES, COPY, KERNEL, LAUNCHES_GRAPHS, LAUNCHES_KERNELS, PINS, SYNCHRONISES, length, of, union, within, without


def kind_of(copy):
    memory = "pageable" if "Pageable" in copy.name else "pinned" if "Pinned" in copy.name else None
    return re.search(r"\w+to\w+", copy.name)[0], memory


class Stall:
    """A call in which a host thread sat and waited, why, and for which work."""

    def __init__(self, call, cause, work):
        self.call, self.cause, self.work = call, cause, work
        self.copy = work if work is not None and work.category in COPY else None


class Transfers:
    def __init__(self, tables):
        self.tables = tables
        self.is_open = False  # does the file leave open what a call waited for?
        self.waits = [self.stall(call) for call in self.outermost(tables.waiting_calls())]
        self.idle = {}  # by device: when it was idle although work was queued, in parts of 1 ms and more
        for gap in reference_gaps.Gaps(tables).of_places(""):
            waits = gap.stretches.get("stream wait", []) + gap.stretches.get("queued", [])
            if length(waits) >= 1000000:
                self.idle.setdefault(gap.place["device"], []).extend(waits)
        self.nest()

    @staticmethod
    def outermost(calls):
        """Without those that lie within another of their thread; of equals the first stays."""
        return [call for n, call in enumerate(calls)
                if not any(other.thread == call.thread and other.start <= call.start and call.end <= other.end
                           and ((other.start, other.end) != (call.start, call.end) or m < n) for m, other in enumerate(calls) if m != n)]

    # -- who called

    def nest(self):
        """As in tpa top, but that annotations take no part."""
        tables = self.tables
        nested = [e for e in tables.events if e.category == "python_function" or e in tables.operators or e in tables.calls]
        for e in nested:
            e.is_async, e.parent, e.children = False, None, []
        reference_top.build_tree(nested)

    @staticmethod
    def around(call):
        """From the innermost out."""
        above = call.parent
        while above is not None:
            yield above
            above = above.parent

    def operator(self, call):
        """The innermost one, or the aten operator that called it through aten operators only; None if there is none."""
        chosen = None
        for e in self.around(call):
            if e in self.tables.operators and (chosen is None or chosen.name.startswith("aten::") and e.name.startswith("aten::")):
                chosen = e
            elif chosen is not None:
                break
        return chosen

    def line(self, call):
        """The innermost Python function outside PyTorch and functools, else the innermost one of these; one that is built in has no line."""
        frames = [e.name for e in self.around(call) if e.category == "python_function" and ".py(" in e.name]
        return next((name for name in frames if not name.startswith(("torch/", "functools.py"))), frames[0] if frames else None)

    # -- stalls

    def stall(self, call):
        if call.name in PINS:
            return Stall(call, "pinning", None)
        if call.name in SYNCHRONISES:
            work = self.waited_for(call)
            return Stall(call, "empty wait" if work is None else "wait for a copy" if work.category in COPY else "wait for kernels", work)
        copies = [e for e in self.tables.work if e.category in COPY and self.tables.call(e) is call]
        blocking = copies if call.name in BLOCKING_COPIES else [e for e in copies if "Pageable" in e.name]
        return Stall(call, "synchronous copy" if call.name in BLOCKING_COPIES else "pageable copy", self.only([e for e in blocking if e.start == blocking[0].start]))

    def waited_for(self, call):
        """The work that ended last; of those that end together, that which began last."""
        tables = self.tables
        synced = {(int(e.args["device"]), int(e.args["stream"])) for e in tables.syncs if e.correlation == call.correlation}
        ended = [e for e in tables.work if call.start < e.end <= call.end and (tables.call(e) is None or tables.call(e).start < call.start)
                 and (not synced or (int(e.args["device"]), int(e.args["stream"])) in synced)]
        last = max(((e.end, e.start) for e in ended), default=None)
        return self.only([e for e in ended if (e.end, e.start) == last])

    def only(self, works):
        """Of works at one moment the file does not tell which; it matters only if they differ."""
        self.is_open |= len({(e.category in COPY, e.name, e.args.get("bytes"), e.args["device"], e.args["stream"], e.correlation) for e in works}) > 1
        return works[0] if works else None

    def stalls(self):
        if self.is_open:
            return None
        launches = [e.duration for e in self.tables.calls if e.name in LAUNCHES_KERNELS - LAUNCHES_GRAPHS]
        cost = int(statistics.median(launches) + 0.5) if launches else 0
        rows, counted = {}, {}
        for wait in self.waits:
            operator = self.operator(wait.call)
            direction, memory = kind_of(wait.copy) if wait.copy else (None, None)
            key = {"op": (operator or wait.call).name, "cause": wait.cause, "transfer": wait.copy and " ".join(filter(None, (direction, memory))),
                   "line": self.line(wait.call)}
            row = rows.setdefault(tuple(key.values()), {**key, "count": 0, "blocked_ns": 0, "possible_saving_ns": 0, "longest_ns": 0,
                                                        "bytes": 0 if wait.copy else None})
            row["count"] += 1
            row["blocked_ns"] += wait.call.duration
            place = self.place(wait)
            counted.setdefault(tuple(key.values()), []).append((place, max(0, wait.call.duration - self.device_waits(wait) - cost)))
            row["longest_ns"] = max(row["longest_ns"], wait.call.duration)
            if wait.copy:
                row["bytes"] += int(wait.copy.args.get("bytes", 0))
        for key, savings in counted.items():  # before the first launch there is nothing to hide; what waits at the end, and only there, ends the job
            repeats = any(place is None for place, _ in savings)
            rows[key]["possible_saving_ns"] = sum(saving for place, saving in savings if place is None or place == "end" and repeats)
        return list(rows.values())

    def device_waits(self, wait):
        """How much of WAIT the device of the work that it waited for was idle although work was queued."""
        if wait.work is None:
            return 0
        return length(within(union(self.idle.get(int(wait.work.args["device"]), [])), wait.call.start, wait.call.end))

    def place(self, wait):
        """None, or whether WAIT is before all launches of work, or for earlier work ("begin"), or after the last kernel's ("end")."""
        calls = [(call, work) for work in self.tables.work if (call := self.tables.call(work))]
        if not calls or wait.call.name not in SYNCHRONISES:
            return None
        if wait.call.start < min(call.start for call, _ in calls) or wait.work and self.tables.call(wait.work) is None:
            return "begin"
        kernels = [call.start for call, work in calls if work.category not in COPY and work.category not in ("gpu_memset", "memset")]
        return "end" if wait.call.start > max(kernels, default=-(2**63)) else None

    def blocked(self):
        """Time of all calls in which a host thread sat and waited; each counts once."""
        return sum(wait.call.duration for wait in self.waits)

    # -- copies

    def key(self, by, copy):
        call = self.tables.call(copy)
        if by == "stream":
            return {"stream": int(copy.args["stream"])}
        if by == "step,device":
            return {"step": self.tables.step_number((call or copy).start)}
        if by == "op,device":
            operator = self.operator(call) if call else None
            operator = operator or self.tables.operator_of.get(copy.link)
            return {"op": operator.name if operator else call.name if call else "(no operator)"}
        return {}

    def rows(self, by="device"):
        groups = {}
        for device, work in self.tables.by_device():
            kernels = of(e for e in work if e.category in KERNEL)
            for copy in (e for e in work if e.category in COPY):
                direction, memory = kind_of(copy)
                key = {"device": device, **self.key(by, copy), "direction": direction, "memory": memory}
                moment = (self.tables.call(copy) or copy).start
                step = id(self.tables.step_at(moment)) if "step" in by else None  # each run of a step is a row
                groups.setdefault((*key.values(), step), (key, kernels, []))[2].append(copy)
        return [{**key, **self.figures(copies, kernels)} for key, kernels, copies in groups.values()]

    def figures(self, copies, kernels):
        sized = [(int(e.args["bytes"]), e.duration) for e in copies if "bytes" in e.args and e.duration]
        single = [size / duration for size, duration in sized]
        time = sum(duration for _, duration in sized)
        row = {"count": len(copies), "bytes": sum(int(e.args.get("bytes", 0)) for e in copies), "time_ns": sum(e.duration for e in copies), "union_ns": length(union(of(copies))),
               "exposed_ns": length(without(of(copies), kernels)), "bandwidth": sum(size for size, _ in sized) / time if time else None,
               "median_bandwidth": statistics.median(single) if single else None, "best_bandwidth": max(single, default=None)}
        if not self.is_open:
            row["blocked_ns"] = sum(wait.call.duration for wait in self.waits if wait.copy is not None and wait.copy in copies)
        return row
