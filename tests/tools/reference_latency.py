"""What tpa latency must say of a Kineto trace: slow, simple, apart from tpa.

    latency = reference_latency.Latency(reference_tables.Tables(document))
    latency.rows(), latency.outliers(), latency.bars()      latency.phases(), latency.phases(batches=True)

Written from docs/definitions.md. Sets of moments are worked out anew for each range.
"""

import re
import statistics

import reference_gaps
from reference_tables import ALLOCATES, COMMUNICATES, LOADS_DATA, length, of, union, within, without

DEVICE = ("computation", "communication", "copies")
HOST = ("waiting", "allocation", "data loading", "collectives")
SERVING = [
    (re.compile(r"execute_(?:\d+(?:_\d+)*_)?context_(\d+)(?:_\d+)*\((?:sq)?(\d+)[^)]*\)_generation_(\d+)(?:_\d+)*\((?:sq)?(\d+)[^)]*\)"), lambda c, tc, g, tg: (int(c), int(g), int(tc) + int(tg))),
    (re.compile(r"step\[(?:EXTEND|PREFILL) (?:.* )?bs=(\d+)(?: toks=(\d+))?.*"), lambda n, t: (int(n), 0, t and int(t))),
    (re.compile(r"step\[DECODE (?:.* )?bs=(\d+)(?: toks=(\d+))?.*"), lambda n, t: (0, int(n), int(t or n))),
    (re.compile(r"step\[MIXED (?:.* )?bs=(\d+)(?: toks=(\d+))?.*"), lambda n, t: (None, int(n), t and int(t))),
    (re.compile(r"prefill\[bs=(\d+).*? tok=(\d+).*"), lambda n, t: (int(n), 0, int(t))),
    (re.compile(r"decode\[bs=(\d+).*? tok=(\d+).*"), lambda n, t: (0, int(n), int(t))),
    (re.compile(r"\[Executor\] _forward_step \d+: (\d+) ctx reqs, (\d+) ctx tokens, (\d+) gen reqs"), lambda c, t, g: (int(c), int(g), None if int(g) else int(t))),
]


def serving_step(name):
    """(phase, requests, tokens), or None."""
    for pattern, meaning in SERVING:
        found = pattern.fullmatch(name)
        if found:
            prefill, decode, tokens = meaning(*found.groups())
            if prefill is None:
                return "mixed", decode, tokens
            return ("prefill" if not decode else "decode" if not prefill else "mixed", prefill + decode, tokens) if prefill + decode else None
    return None


def fold(name):
    step = serving_step(name)
    return re.sub(r"\d+", "*", name) + f" ({step[0]})" if step else re.sub(r"(?<![A-Za-z\d])\d+", "*", name)


def percentile(durations, percent):
    """The smallest that PERCENT of 100 do not exceed."""
    return next(d for i, d in enumerate(durations) if (i + 1) * 100 >= percent * len(durations))


class Latency:
    def __init__(self, tables, by=None):
        self.tables, self.by = tables, by
        self.waits = reference_gaps.Gaps(tables)
        self.busy = union(of(tables.work))
        computes, communicates, copies, sets = tables.parts(tables.work)
        computing = of(computes + sets)
        self.device = (union(computing), without(of(communicates), computing), without(of(copies), computing + of(communicates)))
        self.ranges = [e for e in tables.annotations if not e.is_open and "dur" in e.raw]
        self.groups = {}
        for e in self.ranges:
            self.groups.setdefault((fold(e.raw["name"]), *self.key(e).values()), []).append(e)
        self.groups = {key: sorted(events, key=lambda e: e.duration) for key, events in self.groups.items() if len(events) > 1}

    def key(self, e):
        return {"thread": f"thread {e.thread[1]}"} if self.by == "thread" else {}

    def launched(self, e):
        calls = [c for c in self.tables.calls if c.thread == e.thread and e.start <= c.start < e.end]
        return [w for w in self.tables.work if any(self.tables.call(w) is c for c in calls)]

    def parts(self, e):
        """The range split by what went on; the parts add up."""
        parts = {name: length(within(moments, e.start, e.end)) for name, moments in zip(DEVICE, self.device)}
        overhead = of(o for o in self.tables.events if o.category == "overhead")
        left = without(without([[e.start, e.end]], overhead), [tuple(piece) for piece in self.busy])
        here = [o for o in self.tables.operators + self.tables.annotations if o.thread == e.thread]
        allocates = [c for c in self.tables.calls if c.thread == e.thread and c.name in ALLOCATES]
        for name, events in zip(HOST, (self.waits.waiting(e.thread), allocates, [o for o in here if LOADS_DATA.match(o.name)],
                                       [o for o in here if COMMUNICATES.match(o.name)])):
            parts[name] = sum(length(within(union(of(events)), a, b)) for a, b in left)
            left = without(left, of(events))
        parts["host"] = e.duration - sum(parts.values())
        return parts

    def is_outlier(self, events, e):
        durations = [x.duration for x in events]
        lower, middle, upper = (percentile(durations, p) for p in (25, 50, 75))
        return len(events) >= 4 and e.duration > max(upper + 3 * (upper - lower), middle + middle // 10)

    def rows(self):
        rows = []
        for (name, *_), events in self.groups.items():
            durations = [e.duration for e in events]
            parts = [self.parts(e) for e in events]
            row = {"name": name, **self.key(events[0]), "count": len(events), "mean_ns": round(sum(durations) / len(events)), "min_ns": durations[0], "max_ns": durations[-1],
                   **{f"p{p}_ns": percentile(durations, p) if len(durations) >= 3 else None for p in (50, 90, 95, 99)}, "total_ns": sum(durations),
                   "stddev_ns": round(statistics.stdev(durations)), "outliers": sum(self.is_outlier(events, e) for e in events)}
            known = bool(self.tables.work)
            works = [w for e in events for w in self.launched(e)]
            sums = {f"{part.replace(' ', '_')}_ns": sum(p[part] for p in parts) if known else None for part in (*DEVICE, *HOST, "host")}
            busy = sum(sums[f"{part}_ns"] for part in DEVICE) if known else None
            rows.append({**row, **sums, "busy_ns": busy, "idle_ns": row["total_ns"] - busy if known else None, "works": len(works) if known else None,
                         "work_ns": sum(w.duration for w in works) if known else None})
        return rows

    def outliers(self):
        rows = []
        for events in self.groups.values():
            parts = [self.parts(e) for e in events]
            medians = {part: sorted(p[part] for p in parts)[(len(events) - 1) // 2] for part in parts[0]}
            middle = percentile([e.duration for e in events], 50)
            for e, own in zip(events, parts):
                if self.is_outlier(events, e):
                    grew = max(own[part] - medians[part] for part in own)
                    rows.append({"name": e.raw["name"], "start_ns": e.start - self.tables.origin, "duration_ns": e.duration, "median_ns": middle,
                                 "longer_ns": e.duration - middle, "part": next(part for part in own if own[part] - medians[part] == grew) if grew > 0 else None,
                                 "grew_ns": grew if grew > 0 else None})
        return rows

    def bars(self):
        edges = [0] + [digit * 10 ** power for power in range(18) for digit in (1, 2, 5)]
        return [{"name": name, "from_ns": a, "to_ns": b, "count": sum(a <= e.duration < b for e in events)} for (name, *_), events in self.groups.items()
                for a, b in zip(edges, edges[1:]) if any(a <= e.duration < b for e in events)]

    # ---- phases

    def steps(self):
        """(phase, requests, tokens, wall, busy) of the outermost annotations that tell of steps."""
        for thread in {e.thread for e in self.ranges}:
            outer = []
            for e in sorted((e for e in self.ranges if e.thread == thread and serving_step(e.raw["name"])), key=lambda e: (e.start, -e.duration)):
                if outer and e.start < outer[-1][0].end:
                    outer[-1][1].append(e)
                else:
                    outer.append((e, [e]))
            ended = None
            for e, told in outer:
                phase, requests, _ = serving_step(e.raw["name"])
                tokens = next((t for t in (serving_step(x.raw["name"])[2] for x in told) if t is not None), None)
                work = self.launched(e)
                end = max([e.end] + [w.end for w in work])
                start = min(max(e.start, ended), end) if ended is not None else e.start
                yield phase, requests, tokens, end - start, length(within(union(of(work)), start, end))
                ended = end

    def phases(self, batches=False):
        groups = {}
        for step in self.steps():
            groups.setdefault((step[0], step[1] if batches else None), []).append(step)
        rows = []
        for (phase, batch), steps in groups.items():
            wall, busy = sum(s[3] for s in steps), sum(s[4] for s in steps)
            tokens = None if any(s[2] is None for s in steps) else sum(s[2] for s in steps)
            row = {"phase": phase, "batch": batch, "steps": len(steps), "requests": sum(s[1] for s in steps), "tokens": tokens, "wall_ns": wall,
                   "device_busy_ns": busy if self.tables.work else None, "device_idle_ns": wall - busy if self.tables.work else None,
                   "tokens_per_second": tokens / wall * 1e9 if tokens is not None and wall else None,
                   "step_ns": round(wall / len(steps)), "token_ns": round(wall / tokens) if tokens else None}
            if not batches:
                del row["batch"]
                row.update(min_batch=min(s[1] for s in steps), max_batch=max(s[1] for s in steps), mean_batch=row["requests"] / len(steps))
            rows.append(row)
        return rows
