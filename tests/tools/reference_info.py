"""What tpa info must say of Kineto traces (random_trace.py): slow, simple, apart from tpa.

    info = reference_info.Info([path, ...])
    info.files()   info.facts()   info.devices()   info.categories()   info.footer()   info.tracks()   info.commands()

Written from docs/definitions.md.
"""

import datetime
import os
import re
from fractions import Fraction

import reference_late
import reference_top

# What tpa takes the categories of any age for.
KINDS = {"cpu_op": "operator", "operator": "operator", "user_annotation": "annotation", "python_function": "python", "cuda_runtime": "runtime call",
         "runtime": "runtime call", "cuda_driver": "driver call", "kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset",
         "memset": "memset", "cuda_sync": "synchronization", "gpu_user_annotation": "GPU annotation", "overhead": "overhead", "trace": "recording window"}
ON_DEVICE = {"kernel", "memcpy", "memset", "synchronization", "GPU annotation"}
FLAGS = ("record_shapes", "profile_memory", "with_stack", "with_flops")
COMMUNICATES = re.compile(r"nccl:|gloo:|c10d::|ncclDevKernel")
SINCE_1970 = 1_000_000_000_000_000_000  # times from 2001 on are dates


class Event:
    def __init__(self, raw, window_end):
        self.name, self.category = raw["name"], raw.get("cat")
        self.start = reference_top.to_ns(raw["ts"])
        self.is_instant = raw["ph"] == "i"
        self.end = self.told_end = self.start + (0 if self.is_instant else max(0, reference_top.to_ns(raw.get("dur", 0))))
        self.args = raw.get("args") or {}
        self.kind = "instant" if self.is_instant else KINDS[self.category.lower()]
        is_open = self.args.get("finished") is False or window_end is not None and self.end > window_end
        if self.kind in ("operator", "annotation") and is_open and window_end is not None:
            self.end = max(self.start, min(self.end, window_end))
        self.track = (str(raw.get("pid")), str(raw.get("tid")))
        self.queue = tuple(int(self.args.get(key, raw[place])) for key, place in (("device", "pid"), ("stream", "tid"))) if self.kind in ON_DEVICE else None
        self.on_device = self.kind in ON_DEVICE


class File:
    def __init__(self, path):
        self.path, self.document = path, reference_top.load(path)
        raws = self.document["traceEvents"]
        self.phases = [raw.get("ph") for raw in raws]
        ends = [reference_top.to_ns(raw["ts"]) + reference_top.to_ns(raw["dur"]) for raw in raws if raw.get("cat") == "Trace"]
        self.events = [Event(raw, max(ends, default=None)) for raw in raws if raw.get("ph") in ("X", "i")]
        self.spanning = [e for e in self.events if not e.is_instant and e.kind != "recording window"] or [e for e in self.events if e.name == "[memory]"]

    def begin(self):
        """The date of the first event; None when times tell none."""
        if not self.spanning:
            return None
        at = min(e.start for e in self.spanning) + self.document.get("baseTimeNanoseconds", 0)
        if at < SINCE_1970:
            return None
        seconds = at // 10**9
        return str(datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).replace(tzinfo=None))

    def may_tell_lost_work(self):
        """Are there such calls? Those that may have run after the recording are not lost."""
        return bool(lost_work(self.document))

    def row(self):
        steps = [(int(e.name.split("#")[1]), e.told_end - e.start) for e in self.spanning if re.fullmatch(r"ProfilerStep#\d+", e.name) and not e.on_device]
        windows = [e for e in self.events if e.kind == "recording window"]
        return {"file": self.path, "format": "Chrome JSON", "packing": "plain", "packed_size": os.path.getsize(self.path), "size": os.path.getsize(self.path),
                "producer": "PyTorch (Kineto)", "rank": None, "begin": self.begin(), "span_ns": max((e.end for e in self.spanning), default=0) - min((e.start for e in self.spanning), default=0),
                "window_ns": windows[0].end - windows[0].start, "steps": len(steps), "first_step": min((n for n, _ in steps), default=None),
                "last_step": max((n for n, _ in steps), default=None), "step_annotation_avg_ns": rounded(Fraction(sum(t for _, t in steps), len(steps))) if steps else None,
                "events": len(self.events), "notices": (self.document.get(reference_late.DOUBLED, 0) > 0) + (self.document.get(reference_late.COUNT, 0) > 0) + self.document.get(reference_late.MARKS, 0) + self.document.get(reference_late.MUCH, False)}


def lost_work(document):
    """Calls that launch or copy, and of whose work the file has none."""
    events = [e for e in document["traceEvents"] if isinstance(e, dict) and e.get("ph") == "X"]
    here = {e.get("args", {}).get("correlation") for e in events if str(e.get("cat", "")).lower() in reference_late.WORK}
    return [e for e in events if str(e.get("cat", "")).lower() in reference_top.RUNTIME and re.search("Launch|Memcpy|Memset", str(e.get("name")))
            and e.get("args", {}).get("correlation") not in here]


def rounded(value):
    return int(value + Fraction(1, 2))


def grouped(things, key):
    groups = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


class Info:
    def __init__(self, paths):
        self.all = [File(path) for path in paths]
        self.events = [e for file in self.all for e in file.events]

    def files(self):
        return [file.row() for file in self.all]

    def facts(self):
        told = [(flag, "yes") for file in self.all for flag in FLAGS if file.document.get(flag)]
        told += [("schemaVersion", str(file.document["schemaVersion"])) for file in self.all]
        return [{"fact": fact, "value": value, "files": told.count((fact, value))} for fact, value in dict.fromkeys(told)]

    def devices(self):
        by_device = grouped([(i, e) for i, file in enumerate(self.all) for e in file.events if e.queue], lambda pair: pair[1].queue[0])
        return [{"device": device, "streams": len({(i, e.queue[1]) for i, e in pairs}), "events": len(pairs)} for device, pairs in by_device.items()]

    def categories(self):
        return [{"category": category, "kind": kind, "events": len(events)} for (category, kind), events in grouped(self.events, lambda e: (e.category, e.kind)).items()]

    def footer(self):
        phases = [phase for file in self.all for phase in file.phases]
        return {"names": len({e.name for e in self.events}), "flows": sum(phases.count(p) for p in "stf"), "samples": phases.count("C"), "metadata": phases.count("M")}

    def tracks(self):
        rows = []
        for rank, file in enumerate(self.all):
            for (_, queue), events in grouped(file.events, lambda e: (None, e.queue) if e.queue else (e.track, None)).items():
                rows.append({"device": queue and queue[0], "stream": queue and queue[1], "events": len(events),
                             "span_ns": max(e.end for e in events) - min(e.start for e in events), "rank": rank, "file": file.path})
        return rows

    def commands(self):
        """Which of them the files can be asked."""
        kinds = {e.kind for e in self.events}
        work = kinds & {"kernel", "memcpy", "memset"}
        has = {"modules": any(e.kind == "python" for e in self.events), "gpu": work, "gaps": work, "kernels": work, "launches": work and kinds & {"runtime call", "driver call"}, "transfers": work,
               "roofline": "operator" in kinds and any("Input Dims" in e.args for e in self.events),
               "steps": self.events, "summary": self.events,
               "comm": any(COMMUNICATES.match(e.name) and e.kind in ("operator", "annotation", "kernel") for e in self.events),
               "memory": any(e.is_instant and e.name == "[memory]" for e in self.events)}
        return [{"command": command, "ready": bool(ready)} for command, ready in has.items()]
