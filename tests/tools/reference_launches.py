"""What tpa launches must say of a Kineto trace, whatever makes a row: slow, simple, apart from tpa.

    launches = reference_launches.Launches(reference_tables.Tables(document))
    launches.rows("op")    [{"op": "aten::mm", "count": 3, ...}, ...]
    launches.queues()      launches.graphs()

Written from docs/definitions.md. Depths are counted anew at every moment at which one can change.
"""

from reference_tables import KERNEL, LAUNCHES_GRAPHS, LAUNCHES_KERNELS


def mean(values):
    values = list(values)
    return round_half_up(sum(values), len(values)) if values else None


def round_half_up(a, b):
    """To the nearest nanosecond."""
    return (2 * a + b) // (2 * b)


class Launch:
    """A call and what it launched."""

    def __init__(self, tables, call, work):
        self.call, self.work = call, sorted(work, key=lambda e: e.start)
        self.first = self.work[0] if work else None
        self.is_graph = len(work) > 1 or call.name in LAUNCHES_GRAPHS  # a graph of one operation is one, too
        operator = tables.operator_of.get(call.link) or next((tables.operator_of[e.link] for e in self.work if e.link in tables.operator_of), None)
        self.operator = operator.name if operator else call.name
        self.begin = self.first.start if work else None
        self.queued = bool(work) and self.begin > call.end
        self.time = sum(e.duration for e in work)
        self.has_kernel = any(e.category in KERNEL for e in work)

    def place(self):
        return (int(self.first.args["device"]), int(self.first.args["stream"])) if self.work else (None, None)

    def span(self):
        return max(e.end for e in self.work) - self.begin


class Launches:
    def __init__(self, tables):
        self.tables = tables
        self.all = []
        for call in tables.calls:
            work = [e for e in tables.work if tables.call(e) is call]
            if work or tables.work and call.name in LAUNCHES_KERNELS:
                self.all.append(Launch(tables, call, work))

    def key(self, by, launch):
        if by == "kernel":
            name = "(graph)" if launch.is_graph else launch.first.name if launch.work else "(no work in the file)"
            return {"call": launch.call.name, "kernel": name}
        if by == "call":
            return {"call": launch.call.name}
        if by == "op":
            return {"op": launch.operator}
        if by == "thread":
            return {"thread": f"thread {launch.call.thread[1]}"}  # as the file names it
        if by == "step":
            return {"step": self.tables.step_number(launch.call.start)}
        device, stream = launch.place()
        return {"device": device} if by == "device" else {"device": device, "stream": stream}

    def rows(self, by):
        groups = {}
        for launch in self.all:
            key = self.key(by, launch)
            step = id(self.tables.step_at(launch.call.start)) if by == "step" else None  # each run of a step is a row
            groups.setdefault((*key.values(), step), (key, []))[1].append(launch)
        return [{**key, **self.figures(launches)} for key, launches in groups.values()]

    @staticmethod
    def figures(launches):
        worked = [launch for launch in launches if launch.work]
        waits = [launch.begin - launch.call.end for launch in worked if launch.queued]
        known = bool(worked)  # of nothing nothing is known
        return {
            "count": len(launches), "call_time_ns": sum(launch.call.duration for launch in launches),
            "call_average_ns": mean(launch.call.duration for launch in launches), "queue_average_ns": mean(waits),
            "kernel_average_ns": mean(launch.time for launch in worked),
            "launch_bound": sum(launch.has_kernel and launch.time < launch.call.duration for launch in worked) if known else None,
            "queued": len(waits) if known else None, "queue_time_ns": sum(waits) if known else None,
            "kernel_time_ns": sum(launch.time for launch in worked) if known else None,
            "total_time_ns": sum(max([launch.call.end] + [e.end for e in launch.work]) - launch.call.start for launch in launches),
        }

    def footer(self):
        return {"launches": len(self.all), "launch_bound": sum(launch.has_kernel and launch.time < launch.call.duration for launch in self.all),
                "unlinked": sum(self.tables.call(e) is None for e in self.tables.work)}

    def queues(self):
        rows = []
        for place in {launch.place() for launch in self.all if launch.work}:
            here = [launch for launch in self.all if launch.place() == place]
            start, end = min(launch.call.start for launch in here), max(launch.begin for launch in here)
            moments = sorted({start, end} | {m for launch in here for m in (launch.call.start, launch.begin) if start <= m <= end})
            depth_time, empty, full, deepest = 0, 0, 0, 0
            for a, b in zip(moments, moments[1:]):
                depth = sum(launch.call.start <= a < launch.begin for launch in here)
                depth_time += depth * (b - a)
                empty += (b - a) * (depth == 0)
                full += (b - a) * (depth >= 1024)
                deepest = max(deepest, depth)
            span = max(0, end - start)
            rows.append({"device": place[0], "stream": place[1], "launches": len(here), "mean_depth": depth_time / span if span else None,
                         "max_depth": deepest, "empty": empty / span if span else None, "full": full / span if span else None, "span_ns": span})
        return rows

    def graphs(self):
        groups = {}
        for launch in self.all:
            if launch.is_graph:
                graph = next((int(e.args["graph id"]) for e in launch.work if e.args.get("graph id")), None)
                groups.setdefault((launch.call.name, graph), []).append(launch)
        return [self.graph(call, graph, launches, [launch for launch in launches if launch.work])
                for (call, graph), launches in groups.items()]

    @staticmethod
    def graph(call, graph, launches, worked):
        return {"call": call, "graph": graph, "launches": len(launches), "call_average_ns": mean(launch.call.duration for launch in launches),
                "min_operations": min((len(launch.work) for launch in worked), default=None),
                "max_operations": max((len(launch.work) for launch in worked), default=None),
                "queue_average_ns": mean(launch.begin - launch.call.end for launch in worked if launch.queued),
                "work_average_ns": mean(launch.time for launch in worked), "span_average_ns": mean(launch.span() for launch in worked)}
