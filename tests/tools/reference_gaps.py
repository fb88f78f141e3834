"""Why devices and streams were idle, as tpa gaps must say of a Kineto trace: slow, simple, apart from tpa.

    gaps = reference_gaps.Gaps(reference_tables.Tables(document))
    gaps.rows("stream")      [{"device": 0, "stream": 7, "start_ns": ..., "length_ns": ..., "cause": "host", ...}, ...]
    gaps.causes("op")        what their parts add up to

Written from docs/definitions.md.
"""

import reference_top
from reference_tables import ALLOCATES, ASYNCHRONOUS_COPIES, BLOCKING_COPIES, COMMUNICATES, KERNEL, LOADS_DATA, PINS, contains, length, of, union, within, without

CAUSES = ("host", "data loading", "synchronisation", "allocation", "communication", "launch call", "first use", "launch latency", "stream wait", "graph",
          "queued", "profiler overhead", "unknown")  # of equal parts the first is the largest


class Gap:
    def __init__(self, gaps, place, start, end, works):
        """WORKS of the place; of those that begin as the gap ends the first, of those that end as it begins the last to begin."""
        tables = gaps.tables
        self.place, self.start, self.end = place, start, end
        self.after = next(e for e in works if e.start == end)
        self.before = [e for e in works if e.end == start and e.start < end][-1]
        self.call = tables.call(self.after)
        self.operator = tables.operator_of.get(self.after.link)
        self.stretches = gaps.parts(self)  # cause: the moments of the gap that are due to it
        self.parts = {cause: length(moments) for cause, moments in self.stretches.items() if length(moments)}
        self.cause = max(CAUSES, key=lambda cause: self.parts.get(cause, 0))
        if sum(self.parts.values()) != self.length:
            raise AssertionError(f"the parts of a gap of {self.length} are {self.parts}")

    @property
    def length(self):
        return self.end - self.start


class Gaps:
    def __init__(self, tables, latency_ns=30000):
        self.tables, self.latency_ns = tables, latency_ns
        # Nested as in tpa top. Steps are left out, because they hold everything.
        self.activities = [e for e in tables.events if e not in tables.steps and
                           (e in tables.operators or e in tables.annotations or e in tables.calls or e.category == "python_function")]
        self.activities.sort(key=lambda e: (e.start, -e.end))
        for e in self.activities:
            e.is_async, e.parent, e.children = False, None, []
        reference_top.build_tree(self.activities)
        self.first_use = {}
        for _, works in tables.by_device():
            for e in sorted((e for e in works if e.category in KERNEL), key=lambda e: e.start):
                call = tables.call(e)
                if call and (e.name not in self.first_use or call.start < self.first_use[e.name].start):
                    self.first_use[e.name] = call

    def of_places(self, by):
        for device, of_device in self.tables.by_device():
            for stream in sorted({int(e.args["stream"]) for e in of_device}) if by == "stream" else [None]:
                works = [e for e in of_device if stream is None or int(e.args["stream"]) == stream]
                place = {"device": device, **({} if stream is None else {"stream": stream})}
                for start, end, _ in self.tables.gaps_of(works):
                    yield Gap(self, place, start, end, works)

    def parts(self, gap):
        overhead = [e for e in self.tables.events if e.category == "overhead"]
        whole = [[gap.start, gap.end]]
        parts = {"profiler overhead": within(union(of(overhead)), gap.start, gap.end)}
        call = gap.call
        if call is None:
            return {**parts, "unknown": without(whole, of(overhead))}
        begun, returned = (min(max(moment, gap.start), gap.end) for moment in (call.start, max(call.start, call.end)))
        left = without([[gap.start, begun]], of(overhead))
        for cause, events in self.activities_of(call):
            parts[cause] = [piece for a, b in left for piece in within(union(of(events)), a, b)]
            left = without(left, of(events))
        parts["host"] = left
        for cause, moments in ((self.cause_in(gap), [[begun, returned]]), (self.cause_after(gap, gap.end - returned), [[returned, gap.end]])):
            parts[cause] = union(parts.get(cause, []) + without(moments, of(overhead)))
        return parts

    def activities_of(self, call):
        """What holds the thread up; a moment counts for the first."""
        here = self.of_thread(call)
        return (("synchronisation", self.waiting(call.thread)),
                ("allocation", [e for e in self.tables.calls if e.thread == call.thread and e.name in ALLOCATES]),
                ("data loading", [e for e in here if LOADS_DATA.match(e.name)]),
                ("communication", [e for e in here if COMMUNICATES.match(e.name)]))

    def waiting(self, thread):
        """Waits, but for those within a call that pins memory, which are a part of it; of equal times the first call is the outer one."""
        place = {id(e): n for n, e in enumerate(self.tables.calls)}
        pins = [e for e in self.tables.calls if e.thread == thread and e.name in PINS]
        return [e for e in self.tables.waiting(thread)
                if not any(pin.start <= e.start and e.end <= pin.end and ((pin.start, pin.end) != (e.start, e.end) or place[id(pin)] < place[id(e)])
                           for pin in pins)]

    def calls_before(self, gap):
        """Of the work before that after the gap: on its stream, whatever it is; in its place."""
        same = [e for e in self.tables.work if (e.args["device"], e.args["stream"]) == (gap.after.args["device"], gap.after.args["stream"])]
        same = sorted(same, key=lambda e: e.start)
        place = next(i for i, e in enumerate(same) if e is gap.after)
        return (self.tables.call(same[place - 1]) if place else None), self.tables.call(gap.before)

    def cause_in(self, gap):
        call = gap.call
        if contains(of(self.waiting(call.thread)), call.start):
            return "synchronisation"
        first = self.first_use.get(gap.after.name) is call and call not in self.calls_before(gap)
        return "first use" if first and call.end - call.start >= self.latency_ns else "launch call"

    def cause_after(self, gap, long):
        on_stream, in_place = self.calls_before(gap)
        if gap.call in (on_stream, in_place):
            return "graph"
        if long < self.latency_ns:
            return "launch latency"
        waits = [e for e in self.tables.calls if e.thread == gap.call.thread and "StreamWaitEvent" in e.name and e.start < gap.call.start and
                 (on_stream is None or e.start > on_stream.start)]
        for wait in waits:
            streams = [e.args["stream"] for e in self.tables.syncs if self.tables.call(e) is wait and int(e.args.get("stream", -1)) >= 0]
            if not streams or gap.after.args["stream"] in streams:
                return "stream wait"
        return "queued"

    def of_thread(self, call):
        return [e for e in self.tables.operators + self.tables.annotations if e.thread == call.thread]

    def meanwhile(self, gap):
        """The innermost that took half of the longest stretch of the largest part, on the thread of the call."""
        if gap.call is None or gap.cause not in CAUSES[:7]:
            return None
        begun, returned = (min(max(moment, gap.start), gap.end) for moment in (gap.call.start, gap.call.end))
        pieces = gap.stretches[gap.cause]
        if gap.cause in ("launch call", "first use"):
            pieces = [[begun, returned]]
        elif gap.cause == "synchronisation":
            pieces = [piece for piece in within(pieces, gap.start, begun)]
            if self.cause_in(gap) == "synchronisation":
                pieces += [[begun, returned]]
        start, end = max(pieces, key=lambda piece: piece[1] - piece[0])
        middle = start + (end - start) // 2
        e = next((e for e in reversed(self.activities) if e.thread == gap.call.thread and e.start <= middle), None)
        while e is not None and (e.end <= middle or 2 * (min(e.end, end) - max(e.start, start)) < end - start):
            e = e.parent
        return e.name if e else None

    def rows(self, by=""):
        return [{**gap.place, "start_ns": gap.start, "length_ns": gap.length, "cause": gap.cause, "cause_share": gap.parts[gap.cause] / gap.length, "call": gap.call.name if gap.call else None,
                 "operator": gap.operator.name if gap.operator else None, "after": gap.after.name, "before": gap.before.name,
                 "meanwhile": self.meanwhile(gap)} for gap in self.of_places(by)]

    def key(self, by, gap):
        if by == "op":
            return {"op": (gap.operator or gap.call).name if gap.operator or gap.call else "(no operator)"}
        if by == "step":
            moment = (gap.call or gap.after).start
            return {"step": self.tables.step_number(moment), "step itself": self.tables.step_at(moment)}  # each, also where two have one number
        if by == "thread":
            return {"thread": f"thread {gap.call.thread[1]}" if gap.call else "(no thread)"}
        return {} if by == "rank" else gap.place

    def causes(self, by="device"):
        groups = {}
        for gap in self.of_places(by):
            key = self.key(by, gap)
            sums = groups.setdefault(tuple(key.values()), (key, {}))[1]
            for cause, part in gap.parts.items():
                sums.setdefault(cause, []).append(part)
        rows = []
        for key, causes in groups.values():
            key = {name: value for name, value in key.items() if name != "step itself"}
            whole = sum(sum(parts) for parts in causes.values())
            rows += [{**key, "cause": cause, "time_ns": sum(parts), "share": sum(parts) / whole, "count": len(parts), "longest_ns": max(parts)}
                     for cause, parts in causes.items()]
        return rows
