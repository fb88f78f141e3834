"""What tpa memory must say of a Kineto trace: slow, simple, apart from tpa.

    memory = reference_memory.Memory(document, reference_tables.Tables(document))
    memory.peaks()           [{"device": "cuda:0", "peak_allocated": 12288, ...}, ...]
    memory.alive("op")       what was in use at the peak
    memory.operators()       what calls allocated and freed; memory.places("step"): the same of steps, threads, modules
    memory.steps()           memory.unfreed("op")

Written from docs/definitions.md. Blocks are followed from the first record on, anew for each question.
"""

import reference_modules
import reference_top

TYPES = {0: "cpu", 1: "cuda", 9: "xla", 20: "privateuseone"}
HOST = 0


class Record:
    def __init__(self, raw):
        args = raw["args"]
        self.at, self.thread = reference_top.to_ns(raw["ts"]), reference_top.thread_of(raw)
        self.device = (int(args["Device Type"]), int(args["Device Id"]))
        self.size, self.address = int(args["Bytes"]), args.get("Addr")
        self.told, self.reserved = args.get("Total Allocated"), args.get("Total Reserved")
        self.used = None  # bytes in use from now on
        self.around = []  # operators and annotations, from the innermost out
        self.end = None  # of the block: the record that freed it, or that shows that its free was lost


class Device:
    """The records of one memory, by time."""

    def __init__(self, key, records):
        self.name = TYPES[key[0]] + (f":{key[1]}" if key[1] >= 0 else "")
        self.records = records
        self.has_addresses = all(r.address is not None for r in records)
        before = 0  # bytes of blocks that must have been there
        in_use = {}
        deltas = []
        for r in records:
            delta = r.size
            if self.has_addresses:
                block = in_use.pop(r.address, None)
                if block is not None:
                    block.end = r
                if r.size > 0:
                    in_use[r.address] = r
                    delta -= block.size if block is not None else 0
                elif block is None:
                    before -= r.size
            deltas.append(delta)
        if all(r.told is not None for r in records):
            self.start = records[0].told - records[0].size
            for r in records:
                r.used = r.told
        else:
            if not self.has_addresses:
                before = max(0, -min(sum(deltas[:n + 1]) for n in range(len(deltas))))
            self.start = before
            for n, r in enumerate(records):
                r.used = before + sum(deltas[:n + 1])
        self.peak = next(r for r in records if r.used == max(q.used for q in records))

    def blocks_at_peak(self):
        upto = self.records[:self.records.index(self.peak) + 1]
        return [r for r in upto if r.size > 0 and (r.end is None or r.end not in upto)]

    def used_at(self, moment):
        """Before the records of that moment."""
        earlier = [r.used for r in self.records if r.at < moment]
        return earlier[-1] if earlier else self.start


class StepName(str):
    """Equal only to that of the same step."""

    def __new__(cls, step):
        name = super().__new__(cls, step.raw["name"])
        name.step = step
        return name

    def __eq__(self, other):
        return isinstance(other, StepName) and self.step is other.step

    def __hash__(self):
        return id(self.step)


class Memory:
    def __init__(self, document, tables):
        self.tables = tables
        self.modules = reference_modules.Modules(tables)
        records = [Record(raw) for raw in document["traceEvents"]
                   if raw.get("ph") == "i" and raw.get("name") == "[memory]" and "Bytes" in raw.get("args", {})]
        records.sort(key=lambda r: r.at)
        self.origin = tables.origin if tables.events or not records else records[0].at
        for r in records:
            r.around = self.calls_around(r)
            r.module = {by: self.place(by, r) for by in ("module", "line")}
        self.devices = [Device(key, [r for r in records if r.device == key]) for key in sorted({r.device for r in records})]

    # -- where a record lies

    def tree(self, record, events):
        """What is around RECORD of EVENTS, as they nest in tpa top, from the innermost out."""
        events = [e for e in self.tables.events if e in events and e.thread == record.thread]
        for e in events:
            e.is_async, e.parent, e.children = False, None, []
        at = reference_top.Event("record", "", record.thread, record.at, record.at)
        reference_top.build_tree([*events, at])
        around = []
        while at.parent is not None:
            at = at.parent
            around.append(at)
        return around

    def calls_around(self, record):
        return self.tree(record, self.tables.operators + self.tables.annotations)

    def place(self, by, record):
        """The innermost module or line around it; in the backward pass that of the forward one."""
        around = self.tree(record, self.modules.nested)
        self.modules.nest()  # as they were
        path = self.modules.place(by, around[0] if around else None)[0]
        return path[-1] if path else f"(outside any {by})"

    def operator(self, record):
        chosen = [e for e in record.around if e in self.tables.operators] + [e for e in record.around if e.name != "ProfilerStep*"]
        return chosen[0].name if chosen else "[no operator]"

    def line(self, record):
        """The innermost Python function that is not PyTorch's own, else the innermost one that has a line."""
        frames = [e for e in self.tables.events if e.category == "python_function" and e.thread == record.thread and ".py(" in e.name
                  and e.start <= record.at < e.end]
        frames.sort(key=lambda e: (e.start, -e.end))
        users = [e for e in frames if not e.name.startswith(("torch/", "functools.py"))]
        return (users or frames)[-1].name if frames else None

    def key(self, by, record):
        if by == "op":
            return self.operator(record)
        if by == "step":  # each, also where two have one number
            step = self.tables.step_at(record.at)
            return StepName(step) if step else "(outside steps)"
        if by == "device":
            return None
        if by == "thread":
            return f"thread {record.thread[1]}"
        return record.module[by]

    # -- tables

    def peaks(self):
        rows = []
        for d in self.devices:
            peak, sizes = d.peak, [r.size for r in d.records]
            row = {"device": d.name, "peak_allocated": peak.used, "peak_time_ns": peak.at - self.origin, "peak_step": self.tables.step_number(peak.at),
                   "peak_operator": self.operator(peak), "peak_line": self.line(peak),
                   "peak_stack": " > ".join(e.raw["name"] for e in reversed(peak.around)) or None, "records": len(d.records), "start": d.start, "end": d.records[-1].used,
                   "allocations": sum(s > 0 for s in sizes), "allocated": sum(s for s in sizes if s > 0),
                   "frees": sum(s < 0 for s in sizes), "freed": -sum(s for s in sizes if s < 0)}
            holding = [r for r in d.records if r.reserved is not None]
            most = next((r for r in holding if r.reserved == max(q.reserved for q in holding)), None)
            row["peak_reserved"] = most and most.reserved
            row["peak_reserved_time_ns"] = most and most.at - self.origin
            row["reserved_at_peak"] = peak.reserved
            holding = [r for r in holding if r.reserved and r.reserved >= r.used]  # but on the host, of which torch tells 0
            row["unused_at_peak"] = (peak.reserved - peak.used) / peak.reserved if peak in holding else None
            unused = next((r for r in holding if r.reserved - r.used == max(q.reserved - q.used for q in holding)), None)
            row["most_unused"] = unused and unused.reserved - unused.used
            row["most_unused_time_ns"] = unused and unused.at - self.origin
            rows.append(row)
        return rows

    def alive(self, by):
        column = "operator" if by == "op" else by
        rows = []
        for d in self.devices:
            if not d.has_addresses:
                continue
            blocks, groups = d.blocks_at_peak(), {}
            for r in blocks:
                groups.setdefault(self.key(by, r), []).append(r.size)
            left = d.peak.used - sum(r.size for r in blocks)
            if by == "device":  # with what was there before recording
                if blocks or left:
                    rows.append({"device": d.name, "bytes": d.peak.used, "share": 1.0 if d.peak.used else None, "count": len(blocks) or None,
                                 "largest": max((r.size for r in blocks), default=None)})
                continue
            found = [(key, sum(sizes), len(sizes), max(sizes)) for key, sizes in groups.items()]
            if left:
                found.append(("[before recording]", left, None, None))
            for key, size, count, largest in found:
                rows.append({"device": d.name, column: str(key), "bytes": size, "share": size / d.peak.used if d.peak.used else None, "count": count, "largest": largest})
        return rows

    @staticmethod
    def sums(records, prefix=""):
        sizes = [r.size for r in records]
        return {f"{prefix}allocated": sum(s for s in sizes if s > 0), f"{prefix}freed": -sum(s for s in sizes if s < 0), f"{prefix}net": sum(sizes),
                f"{prefix}allocations": sum(s > 0 for s in sizes), f"{prefix}frees": sum(s < 0 for s in sizes)}

    def operators(self):
        rows = []
        for d in self.devices:
            names = {self.operator(r): None for r in d.records}
            for r in d.records:
                names.update((e.name, None) for e in r.around if e.name != "ProfilerStep*")
            for name in names:
                own = [r for r in d.records if self.operator(r) == name]
                whole = [r for r in d.records if self.operator(r) == name or name in [e.name for e in r.around]]
                rows.append({"device": d.name, "operator": name, **self.sums(own, "self_"), **self.sums(whole)})
        return rows

    def places(self, by):
        rows = []
        for d in self.devices:
            for key in {self.key(by, r) for r in d.records}:
                rows.append({"device": d.name, **({} if by == "device" else {by: str(key)}), **self.sums([r for r in d.records if self.key(by, r) == key])})
        return rows

    def steps(self):
        rows = []
        steps = self.tables.steps
        for d in self.devices:
            for step, after in zip(steps, [*steps[1:], None]):
                end = min(step.end, after.start) if after else step.end
                inside = [r for r in d.records if step.start <= r.at < end]
                start, last = d.used_at(step.start), d.used_at(end)
                reserved = [r.reserved for r in d.records if r.at < end]
                rows.append({"device": d.name, "step": int(step.raw["name"].removeprefix("ProfilerStep#")), "start": start,
                             "peak": max([start] + [r.used for r in inside]), "end": last, "growth": last - start, "reserved": reserved[-1] if reserved else None})
        return rows

    def unfreed(self, by):
        column = "operator" if by == "op" else by
        groups = {}
        for d in self.devices:
            for r in d.records if d.has_addresses else ():
                if r.size > 0 and r.end is None:
                    groups.setdefault((d.name, self.key(by, r), r.size), []).append(r)
        return [{"device": device, **({} if by == "device" else {column: str(key)}), "size": size, "bytes": size * len(blocks), "count": len(blocks),
                 "first_ns": blocks[0].at - self.origin, "first_step": self.tables.step_number(blocks[0].at)}
                for (device, key, size), blocks in groups.items()]
