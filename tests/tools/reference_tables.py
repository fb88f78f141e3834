"""What the commands on GPU work, steps, launches, memory and modules must say of a Kineto trace: slow, simple, apart from tpa.

    tables = reference_tables.Tables(reference_top.load(path))
    tables.devices()   [{"device": 0, "span_ns": ..., ...}]

Written from docs/definitions.md. Sets of moments are lists of intervals that are merged anew for each question; nothing is
kept and nothing is fast. Links between work, calls and operators are those of reference_top.py.
"""

import re

import reference_top

KERNEL, COPY, SET = {"kernel", "concurrent_kernel"}, {"gpu_memcpy", "memcpy"}, {"gpu_memset", "memset"}
WORK = KERNEL | COPY | SET
COMMUNICATES = re.compile(r"(nccl:|gloo:|c10d::)")
LOADS_DATA = re.compile(r"enumerate\(Data(Loader|Pipe)\)#")
SYNCHRONISES = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize"}
BLOCKING_COPIES = {"cudaMemcpy", "hipMemcpyWithStream"}
ASYNCHRONOUS_COPIES = {"cudaMemcpyAsync"}
ALLOCATES = {"cudaMalloc", "cudaFree", "cudaHostAlloc"}
PINS = {"cudaHostAlloc"}
LAUNCHES_GRAPHS = {"cudaGraphLaunch"}
LAUNCHES_KERNELS = {"cudaLaunchKernel", "hipLaunchKernel", "cuLaunchKernelEx"} | LAUNCHES_GRAPHS


# ---- sets of moments: sorted lists of [start, end) that do not touch ----


def union(intervals):
    merged = []
    for start, end in sorted(i for i in intervals if i[0] < i[1]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def within(intervals, start, end):
    return [[max(a, start), min(b, end)] for a, b in intervals if max(a, start) < min(b, end)]


def without(intervals, others):
    left = union(intervals)
    for start, end in union(others):
        left = [piece for a, b in left for piece in ([a, min(b, start)], [max(a, end), b]) if piece[0] < piece[1]]
    return left


def contains(intervals, moment):
    return any(a <= moment < b for a, b in intervals)


def of(events):
    return [(e.start, e.end) for e in events]


class Tables:
    def __init__(self, document):
        self.document = document
        self.events, self.records = reference_top.read_events(document)
        for e in self.events:  # only tpa top and callers cut regions that were still open at the end
            e.torch_end = e.end
            e.end = e.start + max(0, reference_top.to_ns(e.raw.get("dur", 0)))
        reference_top.link(self.events)
        self.work = [e for e in self.events if e.category in WORK]
        self.calls = [e for e in self.events if e.category in reference_top.RUNTIME]
        self.syncs = [e for e in self.events if e.category == "cuda_sync"]
        self.call_of = {e.correlation: e for e in self.calls if e.correlation}
        self.operators = [e for e in self.events if e.category in reference_top.OPERATOR]
        self.operator_of = {e.id: e for e in self.operators if e.id}
        self.annotations = [e for e in self.events if e.category == "user_annotation"]
        self.steps = [e for e in self.annotations if e.name == "ProfilerStep*"]
        raw = [e for e in document["traceEvents"] if e.get("ph") == "X" and str(e.get("cat")).lower() != "trace"]
        self.origin = min((reference_top.to_ns(e["ts"]) for e in raw), default=0)
        self.has_memory_region = any(e["name"] in ("[memory]", "[OutOfMemory]") for e in raw)

    def call(self, work):
        return self.call_of.get(work.correlation)

    def step_at(self, moment):
        """The step that a moment of the host lies in: where several overlap, one ends as the next begins."""
        begun = [e for e in self.steps if e.start <= moment]
        return begun[-1] if begun and moment < begun[-1].end else None

    def step_number(self, moment):
        step = self.step_at(moment)
        return int(step.raw["name"].removeprefix("ProfilerStep#")) if step else None

    def communicates(self, kernel):
        operator = self.operator_of.get(kernel.link)
        return "nccl" in kernel.name.lower() or (operator is not None and COMMUNICATES.match(operator.name) is not None)

    def by_device(self):
        devices = {}
        for e in self.work:
            devices.setdefault(int(e.args["device"]), []).append(e)
        return sorted(devices.items())

    def parts(self, work):
        """Kernels that compute, kernels that communicate, copies, memsets."""
        kernels = [e for e in work if e.category in KERNEL]
        return ([e for e in kernels if not self.communicates(e)], [e for e in kernels if self.communicates(e)],
                [e for e in work if e.category in COPY], [e for e in work if e.category in SET])

    # -- tpa gpu

    def devices(self, by="device"):
        """BY device, or each of its streams."""
        rows = []
        streams = [((device, stream), [e for e in work if int(e.args["stream"]) == stream]) for device, work in self.by_device()
                   for stream in sorted({int(e.args["stream"]) for e in work})]
        for place, work in streams if by == "stream" else [((device,), work) for device, work in self.by_device()]:
            computes, communicates, copies, sets = self.parts(work)
            computing = of(computes + sets)
            start, end = min(e.start for e in work), max(e.end for e in work)
            gaps = self.gaps_of(work)
            nccl = [e for e in computes + communicates if "nccl" in e.name.lower()]
            others = [e for e in computes + communicates + sets if e not in nccl]
            rows.append({
                **dict(zip(("device", "stream"), place)), "span_ns": end - start, "busy_ns": length(union(of(work))), "computation_ns": length(union(computing)),
                "exposed_communication_ns": length(without(of(communicates), computing)),
                "exposed_memcpy_ns": length(without(of(copies), computing + of(communicates))),
                "idle_ns": end - start - length(union(of(work))), "communication_ns": length(union(of(communicates))),
                "memcpy_union_ns": length(union(of(copies))), "memset_union_ns": length(union(of(sets))), "gaps": len(gaps),
                "longest_gap_ns": max((b - a for a, b, _ in gaps), default=0), "events": len(work), "kernels": len(computes + communicates),
                "kernel_sum_ns": sum(e.duration for e in computes + communicates), "kernel_union_ns": length(union(of(computes + communicates))),
                "compute_and_memset_union_ns": length(union(of(others))),
                **({} if by == "stream" else {"streams": ", ".join(str(s) for s in sorted({int(e.args["stream"]) for e in work}))}),
                "nccl_kernels": len(nccl), "nccl_union_ns": length(union(of(nccl))), "exposed_nccl_ns": length(without(of(nccl), of(others))),
            })
        return rows

    def work_of_steps(self, work):
        """(number of the step or None, its part of WORK): by the launch, also where two steps have one number."""
        launched = {}
        for e in work:
            step = self.step_at((self.call(e) or e).start)
            launched.setdefault(id(step) if step else None, (step, []))[1].append(e)
        return [(int(step.raw["name"].removeprefix("ProfilerStep#")) if step else None, works) for step, works in launched.values()]

    def device_steps(self):
        """The work of a device that each step launched, and that none did."""
        rows = []
        for device, work in self.by_device():
            for number, works in self.work_of_steps(work):
                computes, communicates, copies, sets = self.parts(works)
                row = {"device": device, "step": number, "span_ns": max(e.end for e in works) - min(e.start for e in works), "events": len(works)}
                taken = []
                for key, events in (("computation_ns", computes + sets), ("exposed_communication_ns", communicates), ("exposed_memcpy_ns", copies)):
                    row[key] = length(without(of(events), taken))
                    taken = union([tuple(piece) for piece in taken] + of(events))
                row["busy_ns"], row["idle_ns"] = length(taken), row["span_ns"] - length(taken)
                rows.append(row)
        return rows

    def copies(self):
        rows = []
        for device, work in self.by_device():
            kernels = of(e for e in work if e.category in KERNEL)
            for name in {e.name for e in work if e.category in COPY}:
                alike = [e for e in work if e.category in COPY and e.name == name]
                rows.append({"device": device, "name": name, "count": len(alike), "bytes": sum(int(e.args.get("bytes", 0)) for e in alike),
                             "sum_ns": sum(e.duration for e in alike), "union_ns": length(union(of(alike))),
                             "not_under_a_kernel_ns": length(without(of(alike), kernels))})
        return rows

    # -- tpa gaps

    def gaps_of(self, work):
        """(start, end, the work after it); of works that begin together the first"""
        gaps, until = [], None
        for e in sorted(work, key=lambda e: e.start):
            if until is not None and e.start > until:
                gaps.append((until, e.start, e))
            until = e.end if until is None else max(until, e.end)
        return gaps

    def waiting(self, thread):
        """Synchronisations, and calls whose copies are in the file and block."""
        copies = set()
        for e in self.work:
            call = self.call(e)
            if e.category in COPY and call and (call.name in BLOCKING_COPIES or call.name in ASYNCHRONOUS_COPIES and "Pageable" in e.name):
                copies.add(id(call))
        return [e for e in self.calls if e.thread == thread and (e.name in SYNCHRONISES or id(e) in copies)]

    def waiting_calls(self):
        """All calls in which a host thread sits and waits; memory that is pinned among them."""
        threads = {e.thread for e in self.calls}
        calls = {id(e): e for thread in threads for e in self.waiting(thread)}
        calls.update((id(e), e) for e in self.calls if e.name in PINS)
        return [e for e in self.calls if id(e) in calls]

    # -- tpa callers

    def callers(self):
        """
        Rows of callee and caller; None where a region is called [memory], which reference_top.py takes for a record.
        """
        if self.has_memory_region:
            return None
        events = [e for e in self.events if not e.on_device]
        for e in events:
            e.end = e.torch_end
        reference_top.build_tree(sorted(events, key=lambda e: (e.start, -e.end)))
        rows, whole = {}, {}
        for e in reference_top.lift_only_children(sorted(events, key=lambda e: (e.start, -e.end))):
            above, in_itself, again = e, False, False
            while above.parent is not None:
                above = above.parent
                in_itself |= above.name == e.name
                again |= above.parent is not None and (above.name, above.parent.name) == (e.name, e.parent.name)  # in another call of the same by the same
            whole[e.name] = whole.get(e.name, 0) + (0 if in_itself else e.duration)
            if e.parent is None:
                continue
            row = rows.setdefault((e.name, e.parent.name), {"name": e.name, "caller": e.parent.name, "calls": 0, "pcalls": 0, "tottime_ns": 0, "cumtime_ns": 0})
            row["calls"] += 1
            row["pcalls"] += not again
            row["tottime_ns"] += e.duration - sum(c.duration for c in e.children)
            row["cumtime_ns"] += 0 if again else e.duration
        for row in rows.values():
            row["share"] = row["cumtime_ns"] / whole[row["name"]] if whole[row["name"]] else None
            row["share_of_caller"] = row["cumtime_ns"] / whole[row["caller"]] if whole[row["caller"]] else None
        return list(rows.values())

    def callees(self):
        """The same pairs, asked for by the caller."""
        return [{**row, "name": row["caller"], "callee": row["name"], "share": row["share_of_caller"]} for row in self.callers()]
