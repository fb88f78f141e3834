"""Why devices and streams were idle, as tpa gaps must say of a Kineto trace: slow, simple, apart from tpa.

    gaps = reference_gaps.Gaps(reference_tables.Tables(document))
    gaps.rows("stream")      [{"device": 0, "stream": 7, "start_ns": ..., "length_ns": ..., "cause": "host", ...}, ...]
    gaps.causes("op")        what they add up to

Written from docs/definitions.md.
"""

import reference_top
from reference_tables import ALLOCATES, ASYNCHRONOUS_COPIES, BLOCKING_COPIES, COMMUNICATES, LOADS_DATA, contains, length, of, union, within

NOT_RECORDED = "(launch not recorded)"


class Gap:
    def __init__(self, gaps, place, start, end, works):
        """WORKS of the place; of those that begin as the gap ends the first, of those that end as it begins the last to begin."""
        tables = gaps.tables
        self.place, self.start, self.end = place, start, end
        self.after = next(e for e in works if e.start == end)
        self.before = [e for e in works if e.end == start and e.start < end][-1]
        self.call = tables.call(self.after)
        self.operator = tables.operator_of.get(self.after.link)
        self.cause = gaps.cause(start, end, self.call)

    @property
    def length(self):
        return self.end - self.start


class Gaps:
    def __init__(self, tables, latency_ns=30000):
        self.tables, self.latency_ns = tables, latency_ns
        # Nested as in tpa top. Steps are left out, because they hold everything.
        self.activities = [e for e in tables.events if (e in tables.operators or e in tables.annotations) and e not in tables.steps]
        self.activities.sort(key=lambda e: (e.start, -e.end))
        for e in self.activities:
            e.is_async, e.parent, e.children = False, None, []
        reference_top.build_tree(self.activities)

    def of_places(self, by):
        for device, of_device in self.tables.by_device():
            for stream in sorted({int(e.args["stream"]) for e in of_device}) if by == "stream" else [None]:
                works = [e for e in of_device if stream is None or int(e.args["stream"]) == stream]
                place = {"device": device, **({} if stream is None else {"stream": stream})}
                for start, end, _ in self.tables.gaps_of(works):
                    yield Gap(self, place, start, end, works)

    def cause(self, start, end, call):
        def half(intervals, until):
            return until > start and 2 * length(within(union(intervals), start, until)) >= until - start

        tables = self.tables
        if half(of(e for e in tables.events if e.category == "overhead"), end):
            return "profiler overhead"
        if call is None:
            return "unknown"
        if call.start <= start:
            return "launch latency" if end - start < self.latency_ns else "unknown"
        until = min(call.start, end)
        here = self.of_thread(call)
        if half(of(e for e in tables.calls if e.thread == call.thread and e.name in ALLOCATES), until):
            return "allocation"
        if half(of(e for e in here if LOADS_DATA.match(e.name)), until):
            return "data loading"
        talks = of(e for e in here if COMMUNICATES.match(e.name))
        if half(talks, until) and not contains(talks, call.start):
            return "communication wait"
        return "synchronisation" if contains(of(tables.waiting(call.thread)), start) else "host"

    def of_thread(self, call):
        return [e for e in self.tables.operators + self.tables.annotations if e.thread == call.thread]

    def meanwhile(self, gap):
        """What took the thread longest, but for what went on all the time; the innermost of that, if nothing else took half of it."""
        if gap.call is None:
            return None
        here = [e for e in self.activities if e.thread == gap.call.thread]
        chosen = [e for e in here if gap.start <= e.start < gap.end]
        open_one, around = next((e for e in reversed(here) if e.start < gap.start), None), None
        while open_one is not None:
            if open_one.end >= gap.end:
                around = around or open_one
            elif open_one.end > gap.start:
                chosen.insert(0, open_one)
            open_one = open_one.parent
        longest = max(chosen, key=lambda e: min(e.end, gap.end) - max(e.start, gap.start), default=None)  # of equals the first
        took = min(longest.end, gap.end) - max(longest.start, gap.start) if longest else 0
        shown = around if around and 2 * took < gap.length else longest if took else None
        return shown.name if shown else None

    def rows(self, by=""):
        return [{**gap.place, "start_ns": gap.start, "length_ns": gap.length, "cause": gap.cause, "call": gap.call.name if gap.call else None,
                 "operator": gap.operator.name if gap.operator else None, "after": gap.after.name, "before": gap.before.name,
                 "meanwhile": self.meanwhile(gap)} for gap in self.of_places(by)]

    def key(self, by, gap):
        if by == "op":
            return {"op": (gap.operator or gap.call).name if gap.operator or gap.call else NOT_RECORDED}
        if by == "step":
            moment = (gap.call or gap.after).start
            return {"step": self.tables.step_number(moment), "step itself": self.tables.step_at(moment)}  # each, also where two have one number
        if by == "thread":
            return {"thread": f"thread {gap.call.thread[1]}" if gap.call else None}
        return {} if by == "rank" else gap.place

    def causes(self, by="device"):
        groups = {}
        for gap in self.of_places(by):
            key = self.key(by, gap)
            groups.setdefault(tuple(key.values()), (key, {}))[1].setdefault(gap.cause, []).append(gap.length)
        rows = []
        for key, causes in groups.values():
            key = {name: value for name, value in key.items() if name != "step itself"}
            whole = sum(sum(lengths) for lengths in causes.values())
            rows += [{**key, "cause": cause, "time_ns": sum(lengths), "share": sum(lengths) / whole, "count": len(lengths), "longest_ns": max(lengths)}
                     for cause, lengths in causes.items()]
        return rows
