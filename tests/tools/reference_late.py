"""reference_late.py - ends that cannot be: work that lasts over the whole of what follows it on its stream.

Written from docs/definitions.md, not from the program: each piece of work is held against all that follow it, one by one.
"""
import re
from decimal import Decimal

WORK = {"kernel", "concurrent_kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset"}
OVERLAP_NS, RETURN_NS = 100_000, 1_000_000
COUNT = "(late ends)"  # a key of the document that none has in a file: how many were set
MARKS = "(marks)"  # likewise: how many kinds of things are wrong with marks of steps
MUCH = "(much late)"  # likewise: they take a hundredth of the time of all work, or more


class Work:
    def __init__(self, event, place):
        self.event, self.place = event, place
        self.start = round(Decimal(str(event["ts"])) * 1000)
        self.end = self.start + round(Decimal(str(event.get("dur", 0))) * 1000)
        self.launch = event.get("args", {}).get("correlation")
        self.is_late = False

    def bounded(self):
        return round(Decimal(str(self.event.get("dur", 0))) * 1000)


def followers(stream, i):
    """What begins after the work at I and is of another launch."""
    own = stream[i]
    rest = stream[i + 1 :]
    while rest and (rest[0].start == own.start or own.launch and rest[0].launch == own.launch):
        rest = rest[1:]
    return rest


def find_late(stream):
    """Mark what is late; nothing on a stream on which work runs side by side."""
    for i in reversed(range(len(stream))):
        rest = followers(stream, i)
        stream[i].is_late = bool(rest) and stream[i].end > rest[0].start + OVERLAP_NS and any(
            stream[i].end > (other.start if other.is_late else other.end) for other in rest)
    late, before = sum(work.is_late for work in stream), None
    for work in (work for work in stream if not work.is_late):
        overlaps = before and before.end > work.start + OVERLAP_NS
        if overlaps and not (before.launch and before.launch == work.launch) or late * 3 > len(stream):
            for other in stream:
                other.is_late = False
            return
        before = work if not before or work.end > before.end else before


HOST_WORK = {"cpu_op", "operator", "cuda_runtime", "cuda_driver", "runtime", "driver"}


def settle_marks(document):
    """Of ProfilerStep#N: one that is there twice counts once, one that reaches over all of the next ends where that begins, numbers count up. What was wrong."""
    marks, work, wrong = {}, {}, set()
    for place, event in enumerate(document.get("traceEvents", [])):
        if not isinstance(event, dict) or event.get("ph") != "X" or "ts" not in event:
            continue
        category, thread = str(event.get("cat", "")).lower(), (str(event.get("pid")), str(event.get("tid")))
        start = round(Decimal(str(event["ts"])) * 1000)
        if re.fullmatch(r"ProfilerStep#\d+", str(event.get("name"))) and not category.startswith("gpu") and category not in WORK:
            end = start + round(Decimal(str(event.get("dur", 0))) * 1000)
            marks.setdefault(thread, []).append([start, end, int(event["name"][13:]), place, event])
        elif category in HOST_WORK:
            work.setdefault(thread, []).append(start)
    for thread, all_marks in marks.items():
        own = []
        for mark in sorted(all_marks, key=lambda mark: mark[:4]):
            if own and own[-1][:3] == mark[:3]:
                wrong.add("doubled")
                document["traceEvents"][mark[3]] = None
            else:
                own.append(mark)
        for mark, after in zip(own, own[1:]):
            if after[0] > mark[0] and after[1] <= mark[1] and after[2] != mark[2]:
                mark[1] = after[0]
                mark[4]["dur"] = Decimal(mark[1] - mark[0]) / 1000
                wrong.add("late")
        if any(after[2] < mark[2] or (after[2] == mark[2] and mark[1] <= after[0]) for mark, after in zip(own, own[1:])):
            wrong.add("repeated")
        lost = sum(after[2] - mark[2] - 1 for mark, after in zip(own, own[1:])
                   if 1 < after[2] - mark[2] <= len(own) and any(mark[1] <= start < after[0] for start in work.get(thread, [])))
        if 0 < lost < len(own):
            wrong.add("lost")
    document["traceEvents"] = [event for event in document["traceEvents"] if event is not None] if "doubled" in wrong else document.get("traceEvents", [])
    return wrong


def bound(document):
    """Set the durations of late work in DOCUMENT, one file of Kineto: until the next begins, or as long as its other runs at most."""
    streams, calls = {}, []
    for place, event in enumerate(document.get("traceEvents", [])):
        if not isinstance(event, dict) or event.get("ph") != "X" or "ts" not in event:
            continue
        if str(event.get("cat", "")).lower() in WORK:
            streams.setdefault((event.get("pid"), event.get("tid")), []).append(Work(event, place))
        elif "DeviceSynchronize" in str(event.get("name")) and str(event.get("cat", "")).lower() in ("cuda_runtime", "cuda_driver", "runtime"):
            calls.append(Work(event, place))
    everything = [work for stream in streams.values() for work in stream]
    for stream in streams.values():
        stream.sort(key=lambda work: (work.start, -work.end, work.place))
        if any(a.end > b.start + OVERLAP_NS for a, b in zip(stream, stream[1:])):
            find_late(stream)
    longest = {}
    for work in everything:
        if not work.is_late:
            name = work.event.get("name")
            longest[name] = max(longest.get(name, 0), work.end - work.start)
    for stream in streams.values():
        for i, work in enumerate(stream):
            if work.is_late:
                until = followers(stream, i)[0].start - work.start
                work.event["dur"] = Decimal(min(until, longest.get(work.event.get("name"), until))) / 1000
    changed = sum(work.is_late for work in everything)
    wait = max(calls, key=lambda call: call.start, default=None)
    if wait and len({device for device, _ in streams}) == 1:
        for work in everything:
            if not work.is_late and work.start < wait.start and work.end > wait.end + RETURN_NS:
                work.event["dur"] = Decimal(wait.end - work.start) / 1000
                work.is_late = True
                changed += 1
    late_ns = sum(work.bounded() for work in everything if work.is_late)
    kinds = settle_marks(document)
    document[MARKS] = len(kinds - {"late"}) + ("late" in kinds and changed > 0)
    document[COUNT] = changed or "late" in kinds
    document[MUCH] = len(everything) >= 4 and all(work.end == work.start for work in everything) or late_ns > 0 and 100 * late_ns >= sum(work.bounded() for work in everything)
    return document
