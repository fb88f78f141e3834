"""How far the clocks of the ranks of a job (reference_job.py) are apart, and what tpa convert makes of that: slow, simple, apart from tpa.

    clocks = reference_clocks.find(job)          by rank: a Clock, or None where it meets nobody
    for wrong in reference_clocks.merge_differences(tpa, paths, job): ...

Written from docs/definitions.md.
"""
import collections
import json
import os
import statistics
import subprocess

Clock = collections.namedtuple("Clock", "ahead applied drift middle error anchors root sure")
TRILLION = 10**12


def toward_zero(part, of):
    return -(-part // of) if (part < 0) != (of < 0) else part // of


def fit(anchors, drift):
    middle = anchors[len(anchors) // 2][0]
    ahead = [a - toward_zero(drift * (end - middle), TRILLION) for end, a in anchors]
    median = statistics.median_low(ahead)
    apart = sorted(abs(a - median) for a in ahead)
    low, high = apart[(len(apart) - 1) // 2], apart[len(apart) // 2]
    return median, low + (high - low) // 2, middle


def slope(anchors):
    count = len(anchors)
    used = [anchors[i * (count - 1) // (min(count, 96) - 1)] for i in range(min(count, 96))]
    slopes = [max(-TRILLION, min(TRILLION, toward_zero((b[1] - a[1]) * TRILLION, b[0] - a[0]))) for i, a in enumerate(used) for b in used[i + 1:] if b[0] > a[0]]
    return statistics.median_low(slopes) if slopes else 0


def clock_of(anchors, origin, one_host):
    """From ANCHORS, (end on its clock, that less the end on the first rank's), found by way of ORIGIN."""
    anchors = sorted(anchors)
    ahead, error, middle = fit(anchors, 0)
    drift, span = 0, anchors[-1][0] - anchors[0][0]
    if len(anchors) >= 20 and span >= 10**9:
        gains = slope(anchors)
        drifting = fit(anchors, gains)
        if abs(toward_zero(gains * span, TRILLION)) // 3 > drifting[1]:
            drift, (ahead, error, middle) = gains, drifting
    noise = drift == 0 and one_host and abs(ahead - origin.applied) <= max(error, 10**6)
    return Clock(ahead, origin.applied if noise else ahead, drift, middle, error + origin.error, len(anchors), origin.root,
                 len(anchors) >= 3 and error + origin.error <= 10**6 and origin.sure)


def moment(clock, ns):
    return ns if clock is None else ns - clock.applied - toward_zero(clock.drift * (ns - clock.middle), TRILLION)


def find(job):
    meets = {m.rank.number for match in job.met for m in match.members}
    hosts = {rank.number: rank.host if rank.has_base else None for rank in job.ranks}
    ends = [match.ends() for match in job.met]
    clocks, looked_at = {}, set()
    for first in job.ranks:
        if first.number in clocks:
            continue
        clocks[first.number] = Clock(0, 0, 0, 0, 0, 0, first.number, True) if first.number in meets else None
        queue = [first.number]
        for at in queue:
            anchors = collections.defaultdict(list)
            for i, end in enumerate(ends):
                if at in end and i not in looked_at:
                    looked_at.add(i)
                    for rank in end:
                        if rank not in clocks:
                            anchors[rank].append((end[rank], end[rank] - moment(clocks[at], end[at])))
            for rank in (r.number for r in job.ranks if r.number in anchors):
                clocks[rank] = clock_of(anchors[rank], clocks[at], hosts[rank] and hosts[rank] == hosts[at])
                queue.append(rank)
    return clocks


# ---- tpa convert of several ranks ----


def way(job, clocks, rank):
    """What a moment of RANK, counted from its base, becomes in the merged file, counted from the base that stands there."""
    clock, by_number = clocks[rank.number], {r.number: r for r in job.ranks}
    root = by_number[clock.root] if clock else rank
    if clock and rank is not root:
        one_host = rank.has_base and root.has_base and rank.host and rank.host == root.host and abs(clock.applied) <= 10**6
        if one_host or not (clock.sure or abs(clock.applied) > clock.error):
            clock = None
    return lambda ns: moment(clock, ns + rank.base)


def nanoseconds(text):
    whole, _, rest = str(text).partition(".")
    return int(whole) * 1000 + (-1 if whole.startswith("-") else 1) * int((rest + "000")[:3])


def merge_differences(tpa, paths, job):
    """Each event at its moment by the clocks, each arrow from the last to another; and a part of it as asked for."""
    made = os.path.join(os.path.dirname(paths[0]), "merged.json")
    subprocess.run([tpa, "convert", *paths, "-o", made], check=True, capture_output=True)
    with open(made, encoding="utf-8") as file:
        document = json.load(file, parse_float=str)
    clocks, base = find(job), document.get("baseTimeNanoseconds", 0)
    started = collections.Counter()
    for rank in job.ranks:
        moved = way(job, clocks, rank)
        for c in rank.collectives:
            start, end = moved(c.event.start), moved(c.event.end)
            started[c.event.name, start, end - start] += 1
            c.moved = start, end
    events = [e for e in document["traceEvents"] if e["ph"] == "X" and ("nccl" in e["name"] and e.get("cat") == "kernel" or e["name"].startswith("gloo:"))]
    found = collections.Counter((e["name"], nanoseconds(e["ts"]) + base, nanoseconds(e["dur"])) for e in events)
    if found != started:
        yield f"merged: {sorted((found - started).items())[:2]} instead of {sorted((started - found).items())[:2]}"
    arrows = sum(1 for e in document["traceEvents"] if e["ph"] == "s" and e.get("cat") == "collective")
    wanted = 0
    for match in job.met:
        last = max(m.moved[0] for m in match.members)
        begins = next(m for m in match.members if m.moved[0] == last)
        wanted += sum(1 for m in match.members if m is not begins and m.moved[1] >= last)
    if arrows != wanted:
        yield f"merged: {arrows} arrows, not {wanted}"
    yield from shift_differences(tpa, paths, document["traceEvents"], job, clocks)


def shift_differences(tpa, paths, merged, job, clocks):
    """A rank whose clock is 3.7 ms ahead gives the same merged events."""
    rank = job.ranks[-1]
    clock = clocks[rank.number]
    if not clock or not clock.sure or clock.root == rank.number or rank.host or not rank.has_base or any(c.event.name.startswith("gloo:") for c in job.all):
        return
    folder = os.path.dirname(paths[0])
    shifted, made = os.path.join(folder, "shifted.json"), os.path.join(folder, "merged.json")
    with open(paths[-1], encoding="utf-8") as file:
        document = json.load(file, parse_float=str)
    document["baseTimeNanoseconds"] += 3_700_000
    with open(shifted, "w", encoding="utf-8") as file:
        json.dump(document, file)
    subprocess.run([tpa, "convert", *paths[:-1], shifted, "-o", made], check=True, capture_output=True)
    with open(made, encoding="utf-8") as file:
        if json.load(file, parse_float=str)["traceEvents"] != merged:
            yield "merged: a rank whose clock is shifted gives other events"
