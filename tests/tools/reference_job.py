"""What tpa comm and tpa steps must say of the ranks of a job (random_job.py): slow, simple, apart from tpa.

    job = reference_job.Job(paths)
    job.collectives()    [{"collective": "all_reduce", "count": 8, ...}, ...]

Written from docs/definitions.md, for files in which every collective tells its group, type and sizes; its number in the group may
be missing.
"""
import math
import re
import statistics

import reference_clocks
import reference_steps
import reference_top
from reference_tables import COPY, KERNEL, SET, length, of, union, within, without

WORK = KERNEL | COPY | SET
NAMES = {"allreduce": "all_reduce", "broadcast": "broadcast", "_allgather_base": "all_gather", "_reduce_scatter_base": "reduce_scatter",
         "all_to_all": "all_to_all"}
ONE_SENDS_TO_ALL = ("broadcast", "reduce")  # or the other way round
DTYPES = {"Float": ("float32", 4), "BFloat16": ("bfloat16", 2), "Half": ("float16", 2), "Long": ("int64", 8)}


def ratio(a, b):
    return a / b if b and a is not None else None


def product(*factors):
    """None where one is not known."""
    return None if None in factors else math.prod(factors)


class Rank:
    """One file."""

    def __init__(self, path):
        document = reference_top.load(path)
        self.number = document["distributedInfo"]["rank"]
        events, _ = reference_top.read_events(document)
        self.work = sorted((e for e in events if e.category in WORK), key=lambda e: e.start)
        self.calls = {e.correlation: e for e in events if e.category in reference_top.RUNTIME}
        self.all_calls = [e for e in events if e.category in reference_top.RUNTIME]
        self.operators = [e for e in events if e.category in reference_top.OPERATOR]
        self.steps = sorted((e for e in events if e.name == "ProfilerStep*"), key=lambda e: e.start)
        self.origin = min(e.start for e in events) if events else 0
        self.base, self.has_base, self.host = document.get("baseTimeNanoseconds", 0), "baseTimeNanoseconds" in document, document.get("host_name")
        self.computing = of(e for e in self.work if e.category in SET or (e.category in KERNEL and "nccl" not in e.name))
        self.collectives = [Collective(self, e) for e in self.work if "nccl" in e.name]
        self.has_work = bool(self.work)
        self.idle, self.device = "idle", self.number
        self.talks = regions = sorted((e for e in events if e.name.startswith("gloo:")), key=lambda e: e.start)  # on the host: parts of steps, too
        if regions:  # a job without devices
            alone = [e for e in self.operators if not e.name.startswith("c10d::") and not any(e is not o and e.start <= o.start < e.end and o.end <= e.end for o in self.operators)]
            self.computing = of(e for e in self.operators if self.computes(e))
            self.idle, self.device, self.work = "no operator", None, sorted(alone, key=lambda e: e.start)
            groups = document["distributedInfo"].get("pg_config", [])
            self.collectives = [Region(self, e, groups[0] if groups else None) for e in regions]

    def computes(self, event):
        """On the host: no operator in it communicates, nor itself; code around operators, whose name is no operator's, has none in it."""
        inside = [o for o in self.operators if o is not event and event.start <= o.start < event.end and o.end <= event.end]
        return not any(o.name.startswith(("c10d::", "gloo:")) for o in [event, *inside]) and not (inside and set(event.name) & set(".# "))

    def step_of(self, moment):
        return next((step for step in self.steps if step.start <= moment < step.end), None)

    def steps_as_they_ran(self):
        return reference_steps.as_they_ran(self.steps, self.work, lambda work: self.calls.get(work.correlation))

    def parts(self, start, end):
        parts, taken = {}, []
        for key, events in (("kernel_ns", [e for e in self.work if e.category in KERNEL and "nccl" not in e.name]),
                            ("memcpy_ns", [e for e in self.work if e.category in COPY]), ("memset_ns", [e for e in self.work if e.category in SET]),
                            ("communication_ns", [e for e in self.work if "nccl" in e.name] + self.talks), ("runtime_ns", self.all_calls),
                            ("cpu_ns", self.operators)):
            moments = within(union(of(events)), start, end)
            parts[key] = length(without(moments, taken))
            taken = union(taken + moments)
        return {**parts, "data_loading_ns": 0, "other_ns": end - start - length(taken), "duration_ns": end - start}


class Collective:
    """One collective on one rank."""

    def __init__(self, rank, event):
        args = event.args
        self.rank, self.event, self.duration, self.library = rank, event, event.duration, "NCCL"
        self.name, self.seq, self.ranks = NAMES[args["Collective name"]], args.get("Seq"), args["Group size"]
        self.group = f'{args["Process Group Name"]} ({args["Process Group Description"]})'
        self.dtype, element = DTYPES[args["dtype"]]
        self.size = args["Out msg nelems" if self.name == "all_gather" else "In msg nelems"] * element
        n = self.ranks
        self.factor = {"all_reduce": 2 * (n - 1) / n, "broadcast": 1}.get(self.name, (n - 1) / n)
        self.exposed = length(without([(event.start, event.end)], rank.computing))
        call = rank.calls.get(event.correlation)
        self.step = rank.step_of(call.start if call else event.start)
        self.match, self.launched = None, call is not None


class Region(Collective):
    """One of gloo's, on a thread of the host; GROUP is the only one there is, if the file lists it."""

    def __init__(self, rank, event, group):
        self.rank, self.event, self.duration, self.library = rank, event, event.duration, "gloo"
        self.name, self.seq, self.match = event.name.removeprefix("gloo:"), None, None
        self.group, self.ranks = (f'{group["pg_name"]} ({group["pg_desc"]})', group["pg_size"]) if group else (None, None)
        dims = event.args.get("Input Dims")
        self.dtype, self.size = ("float32", 4 * math.prod(dims[0])) if dims else (None, None)
        n = self.ranks
        self.factor = 1 if self.name in ONE_SENDS_TO_ALL else None if n is None or self.name == "barrier" else 2 * (n - 1) / n
        self.exposed = length(without([(event.start, event.end)], rank.computing))
        self.step = rank.step_of(event.start)
        self.launched = False


class Match:
    """The same collective on several ranks."""

    def __init__(self, members):
        self.members, self.number = members, members[0].seq
        self.shortest = min(m.duration for m in members)

    def judge(self, clocks):
        """Who came last: on one host who began last, else whose duration is the shortest."""
        self.on_host = self.is_on_host(clocks)
        if self.on_host:
            begin = {id(m): m.rank.base + m.event.start for m in self.members}
            self.arrived_last = max(self.members, key=lambda m: begin[id(m)])
            self.earliest = min(self.members, key=lambda m: begin[id(m)])
            self.waited = {id(m): min(m.duration, begin[id(self.arrived_last)] - begin[id(m)]) for m in self.members}
        else:
            self.arrived_last = min(self.members, key=lambda m: m.duration)
            self.earliest = max(self.members, key=lambda m: m.duration)
            self.waited = {id(m): m.duration - self.shortest for m in self.members}
        self.transfer = self.arrived_last.duration
        self.late = self.waited[id(self.earliest)]
        self.last = self.arrived_last if self.late else None

    def is_on_host(self, clocks):
        first = self.members[0].rank
        return all(m.rank.host and m.rank.has_base and m.rank.host == first.host
                   and (None in (clocks[m.rank.number], clocks[first.number]) or abs(clocks[m.rank.number] - clocks[first.number]) <= 10**6)
                   for m in self.members)

    def ends(self):
        """By rank, in absolute time; nothing where ranks need not wait for all others."""
        return {} if self.members[0].name in ONE_SENDS_TO_ALL else {m.rank.number: m.rank.base + m.event.end for m in self.members}

    def ended_together(self, clocks):
        if self.on_host:
            ends = list(self.ends().values())
        else:
            ends = [end - clocks[rank] if clocks[rank] is not None else None for rank, end in self.ends().items()]
        return None in ends or not ends or max(ends) - min(ends) <= self.slack(clocks) + self.shortest // 2

    def slack(self, clocks):
        """By how much ends may be apart besides: 100 us, 20 deviations, and what the correction leaves, at most 1 ms; 1 ms on hosts, or with few ends."""
        slacks = []
        for member in self.members:
            if member.library == "gloo" or clocks[member.rank.number] is None:
                return 10**6
            left = abs(clocks[member.rank.number]) if self.on_host else 0
            anchors, deviation = self.anchors[member.rank.number]
            slacks.append(10**6 if anchors < 8 else min(10**6, 10**5 + 20 * deviation + left))
        return max(slacks)


class Job:
    def __init__(self, paths):
        self.ranks = [Rank(path) for path in paths]
        self.all = [collective for rank in self.ranks for collective in rank.collectives]
        matches = [match for group in sorted({c.group for c in self.all}, key=str) for match in self.match([c for c in self.all if c.group == group])]
        kept = self.judge(matches)
        if len(kept) < len(matches):  # the clocks of those that are kept may refute more
            kept = self.judge(kept)
        self.matches = [match for match, _ in kept]
        for match in self.matches:
            for member in match.members:
                member.match = match
        self.met = self.matches
        self.found_clocks = reference_clocks.find(self)  # by all matches
        left_out = self.late_before_recording()
        self.matches = [match for match in self.matches if match not in left_out]
        self.all = [c for c in self.all if c.match not in left_out or not c.match]
        for rank in self.ranks:
            rank.counted = [c for c in rank.collectives if not c.match or c.match not in left_out]

    def judge(self, matches):
        """Those that did not contradict the clocks, which are of all."""
        self.clocks, anchors = {}, {}
        for rank in self.ranks:
            self.clocks[rank.number], anchors[rank.number] = self.clock(rank.number, matches)
        for match, _ in matches:
            match.anchors = anchors
            match.judge(self.clocks)
        return [(match, has_number) for match, has_number in matches if has_number or match.ended_together(self.clocks)]

    def late_before_recording(self):
        """Matches whose last rank was recorded for less than half of its lateness, and those at which it goes on being late."""
        left_out = set()
        for rank in self.ranks:
            late = 0
            for c in sorted((c for c in rank.collectives if c.match), key=lambda c: c.event.start):
                match, is_last = c.match, c.match.arrived_last is c
                if is_last and match.earliest.rank is not rank and c.event.start - rank.origin < match.late // 2:
                    late += match.late
                    left_out.add(match)
                elif is_last and 0 < late >= match.late:
                    late -= match.late
                    left_out.add(match)
                else:
                    late = 0
        return left_out

    def match(self, group):
        """(Match, by its number?) of the same collectives of a group, by number where all tell one; else by their order."""
        has_numbers = all(c.seq is not None for c in group)
        have_steps = all(rank.steps for rank in self.ranks if rank.collectives)
        launching = {(c.rank.number, c.event.args.get("device")) for c in self.all if c.launched}
        launched = lambda c: c.launched or (c.rank.number, c.event.args.get("device")) not in launching
        step_of = lambda c: int(re.sub(r"\D", "", c.step.raw["name"])) if c.step and have_steps and launched(c) else None
        before = set() if has_numbers else self.before_steps(group, step_of)
        alike, seen = {}, {}
        for c in sorted(group, key=lambda c: (self.ranks.index(c.rank), c.event.start)):
            key = c.seq
            if not has_numbers:
                kind_of = lambda c: (c.name, c.size if c.name in ("all_reduce", *ONE_SENDS_TO_ALL) else None, "before" if id(c) in before else step_of(c))
                kind = kind_of(c)
                those = seen.setdefault((c.rank.number, kind), [])
                those.append(c)
                key = kind, len(those)
                if kind[2] == "before":
                    key = kind, sum(o.rank is c.rank and kind_of(o) == kind for o in group) - len(those) + 1
            alike.setdefault(key, []).append(c)
        found = {} if has_numbers or group[0].group or group[0].library != "gloo" else self.find_groups(list(alike.values()))
        for key, all_members in alike.items():
            for number in sorted({found.get(c.rank.number, 0) for c in all_members}):
                members = [c for c in all_members if found.get(c.rank.number, 0) == number]
                if len(members) > 1:
                    match = Match(members)
                    if not has_numbers:
                        match.number = key[1]
                    yield match, has_numbers

    def find_groups(self, alike):
        """By rank, the group of hosts that record none: ranks of which what they do together ends together; nothing of fewer than three ranks."""
        by_rank = {}
        for number, members in enumerate(alike):
            for c in members:
                by_rank.setdefault(c.rank, {})[number] = c
        firsts, group_of = [], {}
        for rank in (rank for rank in self.ranks if rank in by_rank):
            group = next((i for i, first in enumerate(firsts) if self.end_together(by_rank[first], by_rank[rank])), len(firsts))
            firsts += [rank] if group == len(firsts) else []
            group_of[rank.number] = group
        return group_of if len(by_rank) >= 3 else {}

    def end_together(self, one, other):
        """Their ends vary by a tenth of what their durations differ by, by 25 us, or by a 500th of the time between two."""
        both = [(a, other[number]) for number, a in sorted(one.items()) if number in other and a.name not in ONE_SENDS_TO_ALL]
        apart = [b.rank.base + b.event.end - a.rank.base - a.event.end for a, b in both]
        if len(both) < 3:
            return True
        varies = sum(abs(x - statistics.median_low(apart)) for x in apart)
        ends = [a.event.end for a, _ in both]
        return (varies <= sum(abs(a.duration - b.duration) for a, b in both) / 10 or varies <= 25000 * len(both)
                or varies <= (max(ends) - min(ends)) / 500)

    def before_steps(self, group, step_of):
        """Those before the first step that all ranks have, if a rank has any before its steps."""
        ranks = {}
        for c in sorted(group, key=lambda c: c.event.start):
            ranks.setdefault(c.rank.number, []).append(c)
        firsts = {rank: next((step_of(c) for c in own if step_of(c) is not None), None) for rank, own in ranks.items()}
        if not any(firsts[rank] is not None and step_of(own[0]) is None for rank, own in ranks.items()):
            return set()
        latest = max(first for first in firsts.values() if first is not None)
        before = set()
        for own in ranks.values():
            until = next((i for i, c in enumerate(own) if step_of(c) is not None and step_of(c) >= latest), 0)
            before |= {id(c) for c in own[:until]}
        return before

    def clock(self, rank, matches):
        """How much later collectives end there than on the first rank given: the median, of two in the middle the lower; how many, and their deviation."""
        first = next((r.number for r in self.ranks if any(c.rank is r for match, _ in matches for c in match.members)), None)
        ends = [match.ends() for match, _ in matches]
        values = [end[rank] - end[first] for end in ends if rank in end and first in end]
        if not values:
            return None, (0, 0)
        return statistics.median_low(values), (len(values), reference_clocks.fit([(0, value) for value in values], 0)[1])

    def collectives(self):
        rows = {}
        for c in self.all:
            rows.setdefault((c.name, c.group, c.dtype, c.size), []).append(c)
        return [self.row_of(*key, members) for key, members in rows.items()]

    def row_of(self, name, group, dtype, size, members):
        times, matched = [m.duration for m in members], [m for m in members if m.match]
        total, whole, factor = sum(times), size and size * len(members), members[0].factor
        row = {"collective": name, "library": members[0].library, "group": group, "ranks": members[0].ranks, "dtype": dtype, "size": size,
               "count": len(members), "time_ns": total, "exposed_ns": sum(m.exposed for m in members), "bandwidth": ratio(whole, total),
               "bus_bandwidth": ratio(product(whole, factor), total), "bytes": whole,
               "best_bus_bandwidth": max(ratio(size * factor, t) for t in times) if product(size, factor) is not None else None,
               "average_ns": total / len(members), "min_ns": min(times), "max_ns": max(times),
               "overlapped": ratio(total - sum(m.exposed for m in members), total)}
        if any(c.match for c in self.all):
            row["waited_ns"] = sum(m.match.waited[id(m)] for m in matched) if matched else None
            # What waited as long as it took has no transfer, and so no bandwidth: its bytes do not count either.
            transfers = [t for t in (m.duration - m.match.waited[id(m)] for m in matched) if t > 0]
            row["transfer_bus_bandwidth"] = ratio(product(size, factor, len(transfers)), sum(transfers))
        return row

    def footer(self):
        """Unions over each device."""
        talks = [(rank, union(of(c.event for c in rank.counted))) for rank in self.ranks]
        time, exposed = sum(length(t) for _, t in talks), sum(length(without(t, rank.computing)) for rank, t in talks)
        return {"communication_ns": time, "exposed_communication_ns": exposed, "exposed_share": ratio(exposed, time)}

    def rank_rows(self):
        rows = []
        for rank in self.ranks:
            own = [c for c in rank.counted if c.match]
            last = [c for c in own if c.match.last is c]
            late = [c.match.late for c in last]
            if own:
                rows.append({"rank": rank.number, "device": rank.device, "count": len(own), "time_ns": sum(c.duration for c in own),
                             "transfer_ns": sum(c.duration - c.match.waited[id(c)] for c in own), "waited_ns": sum(c.match.waited[id(c)] for c in own),
                             "waited_union_ns": length(union([(c.event.start, c.event.start + c.match.waited[id(c)]) for c in own])),
                             "last": len(last), "last_share": len(last) / len(own), "late_ns": sum(late),
                             "late_median_ns": statistics.median(late) if late else None, "late_max_ns": max(late, default=None),
                             "meanwhile": self.meanwhile(rank, last), **self.clock_cells(rank.number)})
        return rows

    def clock_cells(self, rank):
        clock = self.found_clocks[rank]
        return {"clock_ns": clock and clock.ahead, "clock_error_ns": clock and clock.error, "drift": clock and clock.drift / 1e6, "clock_sure": clock.sure if clock else False}

    @staticmethod
    def meanwhile(rank, last):
        """Work counts from where the work before it ended; what is left is idleness."""
        times = {}
        for c in last:
            start, end = c.event.start - c.match.late, c.event.start
            taken = start
            for e in (e for e in rank.work if "nccl" not in e.name):
                here = min(e.end, end) - max(e.start, taken)
                if e.start < end and here > 0:
                    times[e.name] = times.get(e.name, 0) + here
                    times[rank.idle] = times.get(rank.idle, 0) + max(0, e.start - taken)
                    taken = min(e.end, end)
            times[rank.idle] = times.get(rank.idle, 0) + end - taken
        whole = sum(times.values())
        most = sorted(times.items(), key=lambda item: -item[1])
        return None if not whole else (most[0][1] / whole, most[0][0])

    def waits(self):
        rows = []
        for match in self.matches:
            first = match.members[0]
            steps = {int(re.sub(r"\D", "", m.step.raw["name"])) if m.step else None for m in match.members}
            rows.append({"collective": first.name, "group": first.group, "number": match.number, "step": steps.pop() if len(steps) == 1 else "any",
                         "size": None if first.size is None else max(m.size for m in match.members), "seen": len(match.members), "transfer_ns": match.transfer, "longest_wait_ns": match.late,
                         "waited_ns": sum(match.waited.values()),
                         "transfer_bus_bandwidth": ratio(product(None if first.size is None else max(m.size for m in match.members), first.factor), match.transfer),
                         "first": str(match.earliest.rank.number), "start_ns": match.arrived_last.event.start - match.arrived_last.rank.origin,
                         "last": str(match.last.rank.number) if match.last else None})
        return rows

    def way(self, match, last):
        """By member: the moments since the last collective that all were at and had left; None: there is none."""
        visits = sorted((c for c in last.rank.collectives if c.match), key=lambda c: c.event.start)
        for before in reversed(visits[: visits.index(last)][-64:]):
            came = {m.rank.number: m for m in before.match.members}
            if before.name not in ONE_SENDS_TO_ALL and all(m.rank.number in came and came[m.rank.number].event.end <= m.event.start for m in match.members):
                return {m.rank.number: (came[m.rank.number].event.end, m.event.start) for m in match.members}
        return None

    @staticmethod
    def did(rank, start, end):
        """Time of computation and copies; each counts from where the one before ended. And of all else."""
        taken, times = start, {"computation_ns": 0, "copies_ns": 0}
        for e in (e for e in rank.work if "nccl" not in e.name and e.start < end and e.end > start):
            here = min(e.end, end) - max(e.start, taken)
            if here > 0:
                times["copies_ns" if e.category in COPY else "computation_ns"] += here
                taken = min(e.end, end)
        return {**times, "rest": end - start - sum(times.values())}

    def lateness(self):
        clocks, rows = self.found_clocks, []
        for match in self.matches:
            start = {m: reference_clocks.moment(clocks[m.rank.number], m.rank.base + m.event.start) for m in match.members}
            end = {m: reference_clocks.moment(clocks[m.rank.number], m.rank.base + m.event.end) for m in match.members}
            last, first = max(match.members, key=start.get), min(match.members, key=start.get)
            late, ordered = start[last] - start[first], sorted(start.values())
            apart = None if last.name in ONE_SENDS_TO_ALL else abs(end[last] - end[first])
            both = clocks[last.rank.number], clocks[first.rank.number]
            by_duration = min(match.members, key=lambda m: m.duration)
            row = {"collective": last.name, "number": match.number, "last": last.rank.number, "late_ns": late, "ends_apart_ns": apart, "cost_ns": late and ordered[-1] - ordered[-2],
                   "last_by_duration": by_duration.rank.number, "late_by_duration_ns": max(m.duration for m in match.members) - by_duration.duration,
                   "sure": (both[0].root == both[1].root or match.on_host) and all(c.sure for c in both) and late > max(c.error for c in both) and (apart is None or late > apart)}
            ways = self.way(match, last)
            if ways:
                middle = sorted(match.members, key=lambda m: ways[m.rank.number][1] - ways[m.rank.number][0])[(len(match.members) - 1) // 2]
                own, usual = (self.did(m.rank, *ways[m.rank.number]) for m in (last, middle))
                grew = {key: own[key] - usual[key] for key in own}
                row |= {"computation_ns": grew["computation_ns"], "copies_ns": grew["copies_ns"], "rest": grew["rest"], "before_ns": late - sum(grew.values())}
            else:
                row |= {"computation_ns": None, "copies_ns": None, "rest": None, "before_ns": late}
            rows.append(row)
        return rows

    def steps(self):
        """Steps of all ranks, and the parts of each."""
        return [(rank, step, rank.parts(step.start, step.end)) for rank in self.ranks for step in rank.steps_as_they_ran()]

    def step_rows(self):
        return [{"rank": rank.number, "step": step.name, "start_ns": step.start - rank.origin, "host_duration_ns": step.host[1] - step.host[0],
                 "gpu_events": step.works, "complete": step.complete, **parts} for rank, step, parts in self.steps()]

    def titles(self):
        """Parts of steps that something in the job can be."""
        talks = any(rank.talks for rank in self.ranks)  # collectives on the host are communication: it and what follows it stand
        calls = any(rank.all_calls for rank in self.ranks)
        lacking = [] if any(rank.has_work for rank in self.ranks) else list(reference_steps.PARTS)[: 3 if talks else 4 if calls else 5]
        return {key: title for key, title in reference_steps.PARTS.items() if key not in lacking}

    def complete_steps(self):
        return [(step, parts) for _, step, parts in self.steps() if step.complete]
