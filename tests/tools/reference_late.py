"""reference_late.py - records that the rest of their file contradicts: ends that cannot be, work and marks of steps that are there twice.

Written from docs/formats.md, not from the program: each piece of work is held against all others, one by one.
"""
import re
from decimal import Decimal

WORK = {"kernel", "concurrent_kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset"}
OVERLAP_NS, RETURN_NS = 100_000, 1_000_000
COUNT = "(late ends)"  # a key of the document that none has in a file: how many were set
DOUBLED = "(doubled)"  # likewise: how much work is there twice
DROPPED = "(dropped)"  # likewise: does it lack what the profiler lost?
MARKS = "(marks)"  # likewise: how many kinds of things are wrong with marks of steps
MUCH = "(much late)"  # likewise: they take a hundredth of the time of all work, or more


class Work:
    def __init__(self, event, place):
        self.event, self.place = event, place
        self.start = to_ns(event["ts"])
        self.end = self.start + to_ns(event.get("dur", 0))
        self.launch = event.get("args", {}).get("correlation")
        self.is_late = False  # on its stream
        self.bound = None  # when it ends at the latest, where its end cannot be

    @property
    def order(self):
        return self.start, -self.end, self.place


def to_ns(text):
    return round(Decimal(str(text)) * 1000)


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


CALLS = {"cuda_runtime", "cuda_driver", "runtime", "driver"}
HOST_WORK = CALLS | {"cpu_op", "operator"}


def lost_steps(own, work):
    """Numbers that the marks OWN of a thread leave out: of steps in which the thread WORKed, by its starts, and of steps of which nothing is there."""
    unmarked = unrecorded = 0
    for mark, after in zip(own, own[1:]):
        between = after[2] - mark[2] - 1
        if not 0 < between < len(own):
            continue
        if any(mark[1] <= start < after[0] for start in work):
            unmarked += between
        elif after[0] - mark[1] > (mark[1] - mark[0]) // 2:
            unrecorded += between
    if any(after[2] <= mark[2] for mark, after in zip(own, own[1:])):
        unrecorded = 0
    return (unmarked, unrecorded) if unmarked + unrecorded < len(own) else (0, 0)


def has_hollow_steps(own, moments):
    """Does a step of the marks OWN, between others that do, hold none of the MOMENTS at which calls and work of devices begin?"""
    holds = [False] * len(own)
    for moment in moments:
        begun = [i for i, mark in enumerate(own) if mark[0] <= moment]
        if begun and moment < own[begun[-1]][1]:
            holds[begun[-1]] = True
    full = [i for i, held in enumerate(holds) if held]
    hollow = [i for i in range(full[0], full[-1]) if not holds[i]] if full else []
    apart = {after - before for before, after in zip(hollow, hollow[1:])}
    by_plan = len(apart) == 1 and apart != {1}
    return len(own) >= 4 and 0 < 2 * len(hollow) <= len(full) and not by_plan


def launches_are_gone(streams, calls):
    """Is the call of a tenth of the work not in the file, though that of earlier work of its stream is?"""
    numbers = {call.launch for call in calls if call.launch}
    gone = 0
    for stream in streams:
        since = min((work.start for work in stream if work.launch in numbers), default=None)
        gone += sum(bool(work.launch) and work.launch not in numbers and since is not None and work.start >= since for work in stream)
    return gone >= 2 and 10 * gone >= sum(map(len, streams))


def settle_marks(document, moments):
    """Of ProfilerStep#N: one that is there twice counts once, one that reaches over all of the next ends where that begins, numbers count up. What was wrong."""
    marks, work, wrong = {}, {}, set()
    for place, event in enumerate(document.get("traceEvents", [])):
        if not isinstance(event, dict) or event.get("ph") != "X" or "ts" not in event:
            continue
        category, thread = str(event.get("cat", "")).lower(), (str(event.get("pid")), str(event.get("tid")))
        start = to_ns(event["ts"])
        if re.fullmatch(r"ProfilerStep#\d+", str(event.get("name"))) and not category.startswith("gpu") and category not in WORK:
            end = start + to_ns(event.get("dur", 0))
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
            if mark[0] < after[0] < mark[1] and after[1] <= mark[1] and after[2] != mark[2]:
                mark[1] = after[0]
                mark[4]["dur"] = Decimal(mark[1] - mark[0]) / 1000
                wrong.add("late")
        if any(after[2] < mark[2] or (after[2] == mark[2] and mark[1] <= after[0]) for mark, after in zip(own, own[1:])):
            wrong.add("repeated")
        wrong.update(kind for kind, count in zip(("lost", "unrecorded"), lost_steps(own, work.get(thread, []))) if count)
        if has_hollow_steps(own, moments):
            wrong.add("dropped")
    return wrong


def is_one(a, b):
    """Were A and B, of one stream, written twice? Whole microseconds are no evidence of short work."""
    length = a.end - a.start
    has_own_time = length > 1000 or length > 0 and (a.start % 1000 or length % 1000)
    return has_own_time and (a.start, a.end, a.launch, a.event.get("name")) == (b.start, b.end, b.launch, b.event.get("name"))


def without_doubles(document, streams):
    """The streams without work that is there twice, which DOCUMENT loses, too."""
    doubles = {b.place for stream in streams for b in stream if any(is_one(a, b) for a in stream if a.place < b.place)}
    for place in doubles:
        document["traceEvents"][place] = None
    return [[work for work in stream if work.place not in doubles] for stream in streams], len(doubles)


def bound_behind_waits(everything, calls, wait, window_end):
    """Work of the last WAIT for the one device ends when that returned; all work ends with the recording."""
    for work in everything:
        begun = [call for call in calls if work.launch and call.launch == work.launch and call.start < wait.start] if wait else []
        waited_for = wait and work.start < wait.end and (work.start < wait.start or begun)
        ends = [end for end in (wait.end if waited_for else None, window_end) if end is not None]
        if ends and work.end > min(ends) + RETURN_NS and work.start <= min(ends):
            work.bound = work.end = min(ends)


def bound(document):
    """
    Settle what cannot be in DOCUMENT, one file of Kineto: work that is there twice counts once; late work ends where it is bounded,
    or as the longest other run of its name, if that is sooner.
    """
    streams, calls, devices, window_end = {}, [], set(), None
    for place, event in enumerate(document.get("traceEvents", [])):
        if not isinstance(event, dict) or event.get("ph") != "X" or "ts" not in event:
            continue
        category = str(event.get("cat", "")).lower()
        if category in WORK:
            streams.setdefault((event.get("pid"), event.get("tid")), []).append(Work(event, place))
        elif category in CALLS:
            calls.append(Work(event, place))
        elif category == "trace":
            window_end = max(Work(event, place).end, window_end or 0)
        if category in WORK | {"cuda_sync", "gpu_user_annotation"}:
            devices.add(event.get("pid"))
    streams, doubled = without_doubles(document, [sorted(stream, key=lambda work: work.order) for stream in streams.values()])
    everything = [work for stream in streams for work in stream]
    overlapping = [stream for stream in streams if any(a.end > b.start + OVERLAP_NS for a, b in zip(stream, stream[1:]))]
    waits = [call for call in calls if "DeviceSynchronize" in str(call.event.get("name"))] if len(devices) == 1 else []
    bound_behind_waits(everything, calls, max(waits, key=lambda call: call.start, default=None), window_end)
    for stream in overlapping:
        stream.sort(key=lambda work: work.order)
        find_late(stream)
        for i, work in enumerate(stream):
            work.bound = followers(stream, i)[0].start if work.is_late else work.bound
    late = [work for work in everything if work.bound is not None]
    for work in late:
        usual = [to_ns(other.event.get("dur", 0)) for other in everything if other.bound is None and other.event.get("name") == work.event.get("name")]
        work.event["dur"] = Decimal(min(work.bound - work.start, max(usual, default=work.bound))) / 1000
    late_ns = sum(to_ns(work.event["dur"]) for work in late)
    kinds = settle_marks(document, [one.start for one in calls + everything])
    if launches_are_gone(streams, calls):
        kinds.add("dropped")
    document[DROPPED] = "dropped" in kinds
    document["traceEvents"] = [event for event in document.get("traceEvents", []) if event is not None]
    document[DOUBLED] = doubled
    document[MARKS] = len(kinds - {"late"}) + ("late" in kinds and len(late) > 0)
    document[COUNT] = len(late) or "late" in kinds
    document[MUCH] = len(everything) >= 4 and all(work.end == work.start for work in everything) or late_ns > 0 and 100 * late_ns >= sum(to_ns(work.event.get("dur", 0)) for work in everything)
    return document
