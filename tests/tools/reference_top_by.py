"""Rows of tpa top that are made of anything but names and shapes: slow, simple, apart from tpa.

    rows = reference_top_by.Rows(document)
    rows.of("step")    [{"name": "ProfilerStep#3", "count": 12, ...}, ...]

Written from docs/definitions.md. What torch has no rows for follows from its function events (reference_top.py): a row has all
that happens in a place, and of what is nested in itself only the outermost counts in its totals.
"""

import reference_tables
import reference_top

WORK = reference_tables.WORK


class Rows:
    def __init__(self, document):
        self.tables = reference_tables.Tables(document)
        self.events = reference_top.function_events(document)
        self.records = next((e.get("cat", "(none)") for e in document["traceEvents"] if e.get("ph") == "i" and "Bytes" in e.get("args", {})), "")

    def step(self, e):
        """By when it begins; of work by when the call that launched it does, if that is in the file."""
        step = self.tables.step_at(((e.on_device and self.tables.call(e)) or e).start)
        return step.raw["name"] if step else "(outside steps)"

    def place(self, by, e, with_name):
        """The row of E by one dimension; None where it is in no row. WITH_NAME or category nothing counts twice in a row."""
        if by == "step":
            return self.step(e) if not e.on_device or e.category in WORK or with_name else None
        if by == "op":
            return e.name, "CUDA" if e.on_device else "CPU", e.is_annotation
        if by in ("device", "stream", "kernel"):
            if e.category not in WORK:
                return None
            device, stream = int(e.args["device"]), int(e.args["stream"])
            return {"device": f"GPU {device}", "stream": f"GPU {device} stream {stream}", "kernel": e.name}[by]
        if by == "thread":
            # The file's, not the one to which torch moves calls.
            return None if e.on_device else f"thread {reference_top.thread_of(e.raw)[1] if hasattr(e, 'raw') else e.thread[1]}"
        return e.raw["cat"] if hasattr(e, "raw") else self.records

    def of(self, by):
        dimensions = by.split(",")
        places = {}
        for e in self.events:
            place = tuple(self.place(dimension, e, {"op", "category"} & set(dimensions)) for dimension in dimensions)
            if not e.is_python and None not in place:
                places[id(e)] = place
        rows = {}
        for e in self.events:
            if id(e) in places:
                rows.setdefault(places[id(e)], []).append(e)
        return [{**self.key(dimensions, place), **self.figures(place, events, places, dimensions)} for place, events in rows.items()]

    @staticmethod
    def key(dimensions, place):
        """Without a name what makes the row is its name."""
        if dimensions[0] not in ("op", "kernel"):
            return {"name": ", ".join(place)}
        name = dict(zip(("name", "device_type", "is_user_annotation"), place[0])) if dimensions[0] == "op" else {"name": place[0]}
        return {**name, **{"step" if dimension == "step" else "place": value for dimension, value in zip(dimensions[1:], place[1:])}}

    @staticmethod
    def figures(place, events, places, dimensions):
        def is_outermost(e):
            above = e.parent
            while above is not None and places.get(id(above)) != place:
                above = above.parent
            return above is None

        # By name, what is nested in its like counts once more, as in torch.
        by_name = "op" in dimensions
        outermost = [e for e in events if by_name or is_outermost(e)]
        # Where the row has the work itself, it does not count once more for who launched it.
        of_devices = [e for e in events if e.on_device or dimensions != ["step"]]
        worked = {id(work): work.duration for e in of_devices for work in launched(e)}
        return {"count": len(events), "cpu_time_total_ns": sum(e.cpu_total() for e in outermost),
                "self_cpu_time_total_ns": sum(e.self_cpu() for e in events),
                "device_time_total_ns": sum(e.device_total() for e in of_devices) if by_name else sum(worked.values()),
                "self_device_time_total_ns": sum(e.self_device() for e in of_devices),
                "cpu_memory_usage": sum(e.cpu_bytes for e in outermost), "device_memory_usage": sum(e.device_bytes for e in outermost),
                "self_cpu_memory_usage": sum(e.self_cpu_bytes() for e in events),
                "self_device_memory_usage": sum(e.self_device_bytes() for e in events), "flops": sum(e.flops for e in events)}


def launched(e):
    """Work in the total of E; two calls can have been given the same."""
    if e.on_device:
        return [e]
    return [] if e.is_async else e.kernels + [work for child in e.children for work in launched(child)]
