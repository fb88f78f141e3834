"""Rows of tpa top that are made of anything but names and shapes: slow, simple, apart from tpa.

    rows = reference_top_by.Rows(document)
    rows.of("step")    [{"name": "ProfilerStep#3", "count": 12, ...}, ...]
    rows.of("op", steps=(3, 4))    rows.of("op", moments=(start, end))

Written from docs/definitions.md. What torch has no rows for follows from its function events (reference_top.py): a row has all
that happens in a place, and of what is nested in itself only the outermost counts in its totals.
"""

import reference_modules
import reference_tables
import reference_top

WORK = reference_tables.WORK


class Place(str):
    """The text of a place, and what its column holds; of several of one text (steps of one number) which it is."""

    def __new__(cls, text, column, which=None):
        place = super().__new__(cls, text)
        place.column, place.which = column, which
        return place

    def __eq__(self, other):
        return str(self) == str(other) and self.which == other.which

    def __hash__(self):
        return hash((str(self), self.which))


class Rows:
    def __init__(self, document):
        self.tables = reference_tables.Tables(document)
        self.events = reference_top.function_events(document)
        self.modules = reference_modules.Modules(self.tables)
        self.nested = {id(e.raw): e for e in self.modules.nested}
        self.named = {reference_top.thread_of(e) for e in document["traceEvents"] if e.get("ph") == "M" and e["name"] == "thread_name"}
        self.records = next((e.get("cat", "(no category)") for e in document["traceEvents"] if e.get("ph") == "i" and "Bytes" in e.get("args", {})), "")

    def moment(self, e):
        """When it begins; of work when the call that launched it does, if that is in the file."""
        return ((e.on_device and self.tables.call(e)) or e).start

    def is_chosen(self, e, steps, moments):
        ranges = [moments] if moments else []
        for step in self.tables.steps if steps else []:  # all of each, also where another overlaps it
            if int(step.raw["name"].removeprefix("ProfilerStep#")) in steps:
                ranges.append((step.start, step.end))
        return not ranges or any(start <= self.moment(e) < end for start, end in ranges)

    def step(self, e):
        step = self.tables.step_at(self.moment(e))
        if not step:
            return Place("(outside steps)", None)
        return Place(step.raw["name"], int(step.raw["name"].removeprefix("ProfilerStep#")), id(step))

    def frame(self, by, e):
        """The innermost module, or line; of what nests in none that in which its thread was when it began."""
        if e.on_device:
            path, _ = self.modules.work_place(by, e)
        else:
            raw = getattr(e, "raw", None)
            thread = e.thread if raw is None else reference_top.thread_of(raw)
            around = [n for n in self.modules.nested if n.thread == thread and n.start <= e.start < n.end]
            path, _ = self.modules.place(by, self.nested.get(id(raw)) or (around[-1] if around else None))
        return path[-1] if path else f"(no {by})"

    def place(self, by, e, with_name):
        """The row of E by one dimension; None where it is in no row. WITH_NAME or category nothing counts twice in a row."""
        if by == "step":
            return self.step(e) if not e.on_device or e.category in WORK or with_name else None
        if by == "op":
            return e.name, "CUDA" if e.on_device else "CPU", e.is_annotation
        if by in ("module", "line"):
            return self.frame(by, e) if not e.on_device or e.category in WORK or with_name else None
        if by in ("device", "stream", "kernel"):
            if e.category not in WORK:
                return None
            device, stream = int(e.args["device"]), int(e.args["stream"])
            return {"device": Place(f"GPU {device}", device), "stream": Place(f"GPU {device} stream {stream}", stream), "kernel": e.name}[by]
        if by == "thread":
            # The file's, not the one to which torch moves calls.
            if e.on_device:
                return None
            thread = reference_top.thread_of(e.raw) if hasattr(e, "raw") else e.thread
            return Place(f"thread {thread[1]}", f"thread {thread[1]}" if thread in self.named else thread[1])
        return e.raw["cat"] if hasattr(e, "raw") else self.records

    def of(self, by, steps=None, moments=None):
        """Rows of all; or of what begins, or was launched, in STEPS, which are numbers, or between two moments."""
        dimensions = by.split(",")
        places = {}
        for e in self.events:
            place = tuple(self.place(dimension, e, {"op", "category"} & set(dimensions)) for dimension in dimensions)
            if not e.is_python and None not in place and self.is_chosen(e, steps, moments):
                places[id(e)] = place
        rows = {}
        for e in self.events:
            if id(e) in places:
                rows.setdefault(places[id(e)], []).append(e)
        return [{**self.key(dimensions, place), **self.figures(place, events, places, dimensions, lambda work: self.is_chosen(work, steps, moments))} for place, events in rows.items()]

    @staticmethod
    def key(dimensions, place):
        """Without a name what makes the row is its name."""
        if dimensions[0] not in ("op", "kernel"):
            return {"name": ", ".join(place)}
        name = dict(zip(("name", "device_type", "is_user_annotation"), place[0])) if dimensions[0] == "op" else {"name": place[0]}
        columns = {dimension: getattr(value, "column", value) for dimension, value in zip(dimensions[1:], place[1:])}
        return {**name, **columns}

    @staticmethod
    def figures(place, events, places, dimensions, is_chosen):
        def is_outermost(e):
            above = e.parent
            while above is not None and places.get(id(above)) != place:
                above = above.parent
            return above is None

        # By name, what is nested in its like counts once more, as in torch.
        by_name = "op" in dimensions
        outermost = [e for e in events if by_name or is_outermost(e)]
        # Where the row has the work itself, it does not count once more for who launched it.
        of_devices = [e for e in events if e.on_device or dimensions not in (["step"], ["module"], ["line"])]
        worked = [work for e in of_devices for work in launched(e) if is_chosen(work)]
        if not by_name:
            worked = {id(work): work for work in worked}.values()
        own = [work for e in of_devices if not e.is_async for work in ([e] if e.on_device else e.kernels) if is_chosen(work)]
        return {"count": len(events), "cpu_time_total_ns": sum(e.cpu_total() for e in outermost),
                "self_cpu_time_total_ns": sum(e.self_cpu() for e in events),
                "device_time_total_ns": sum(work.duration for work in worked), "self_device_time_total_ns": sum(work.duration for work in own),
                "cpu_memory_usage": sum(e.cpu_bytes for e in outermost), "device_memory_usage": sum(e.device_bytes for e in outermost),
                "self_cpu_memory_usage": sum(e.self_cpu_bytes() for e in events),
                "self_device_memory_usage": sum(e.self_device_bytes() for e in events), "flops": sum(e.flops for e in events)}


def launched(e):
    """Work in the total of E; two calls can have been given the same."""
    if e.on_device:
        return [e]
    return [] if e.is_async else e.kernels + [work for child in e.children for work in launched(child)]
