"""What tpa sequences must say of a Kineto trace: slow, simple, apart from tpa.

    sequences = reference_sequences.Sequences(reference_tables.Tables(document))
    sequences.shorts("op")     [{"op": "aten::mm", "runs": 1, "works": 3, ...}, ...]
    sequences.runs()           sequences.repeats()         sequences.patterns("aten::mm")       sequences.fusions()

Written from docs/definitions.md. Chains are compared by their names, length by length, and nothing is numbered or hashed.
"""

import re

from reference_tables import COPY, KERNEL, length, of, union, within

PAUSE, GRAPH = 1_000_000, 1000
PRODUCT_KERNELS = re.compile(r"gemm|cijk_|nvjet|xmma|flash_|attention|conv2d", re.I)
PRODUCT_OPERATORS = re.compile(r".*::(mm|addmm|bmm|baddbmm|linear|matmul|conv.*|_scaled_mm|_int_mm|_scaled_dot_product.*)$")


class Work:
    def __init__(self, tables, event):
        self.event, self.name, self.start, self.end = event, event.name, event.start, event.end
        self.call = tables.call(event)
        self.operator = tables.operator_of.get(event.link)
        self.place = (int(event.args["device"]), int(event.args["stream"]))
        step = tables.step_at((self.call or event).start)
        self.step = id(step) if step else None

    @property
    def duration(self):
        return self.end - self.start


class Sequences:
    def __init__(self, tables, by_steps=False, short=10_000, least=3):
        self.tables, self.short, self.least = tables, short, least
        works = [Work(tables, e) for e in tables.work]
        self.streams = []
        for place in sorted({w.place for w in works}):
            stream = sorted((w for w in works if w.place == place), key=lambda w: w.start)
            empty = None
            for before, work in zip([None] + stream, stream):
                work.follows = before is not None and not (by_steps and before.step != work.step)
                work.gap = max(0, work.start - before.end) if work.follows else 0
                work.paused = not work.follows or work.gap > PAUSE
                if work.call is None:
                    work.because = "unknown"
                elif before is not None and before.call is work.call:
                    work.because = "device"
                else:
                    work.because = "host" if before is None or work.call.start > empty else "device"
                empty = work.end if empty is None else max(empty, work.end)
            self.streams.append((place, stream))
        self.busy = {device: union(of(work)) for device, work in tables.by_device()}

    def idle(self, device, start, end):
        return end - start - length(within(self.busy[device], start, end)) if start < end else 0

    # ---- runs of short works

    def short_runs(self):
        """(place, works with the idle time before each within the run)"""
        for place, stream in self.streams:
            run = []
            for work in stream + [None]:
                if run and (work is None or work.duration >= self.short or not work.follows):
                    if len(run) >= self.least:
                        yield place, [(w, self.idle(place[0], max(x.end for x in run[:i]), w.start) if i else 0) for i, w in enumerate(run)]
                    run = []
                if work is not None and work.duration < self.short:
                    run.append(work)

    @staticmethod
    def figures(pairs):
        return {"works": len(pairs), "work_ns": sum(w.duration for w, _ in pairs), "idle_ns": sum(idle for _, idle in pairs),
                **{f"idle_{cause}_ns": sum(idle for w, idle in pairs if w.because == cause) for cause in ("host", "device", "unknown")}}

    def runs(self):
        rows = []
        for (device, stream), pairs in self.short_runs():
            row = {"start_ns": pairs[0][0].start - self.tables.origin, "device": device, "stream": stream, **self.figures(pairs)}
            row["not_queued"] = sum(w.because == "host" for w, _ in pairs)
            row["graph_gain_ns"] = max(0, row["idle_ns"] - GRAPH * row["works"]) if 2 * row["not_queued"] >= row["works"] else None
            rows.append(row)
        return rows

    def key(self, by, work):
        if by == "kernel":
            return {"kernel": work.name}
        if by == "op":
            return {"op": work.operator.name if work.operator else work.call.name if work.call else "(no operator)"}
        if by == "step":
            return {"step": self.tables.step_number((work.call or work.event).start)}
        device, stream = work.place
        return {"device": device} if by == "device" else {"device": device, "stream": stream}

    def shorts(self, by):
        groups = {}
        for number, (_, pairs) in enumerate(self.short_runs()):
            for pair in pairs:
                key = self.key(by, pair[0])
                step = pair[0].step if by == "step" else None
                group = groups.setdefault((*key.values(), step), (key, [], set()))
                group[1].append(pair)
                group[2].add(number)
        return [{**key, "runs": len(numbers), **self.figures(pairs)} for key, pairs, numbers in groups.values()]

    def footer(self):
        runs = list(self.short_runs())
        whole = self.figures([pair for _, pairs in runs for pair in pairs])
        gains = [row["graph_gain_ns"] for row in self.runs() if row["graph_gain_ns"] is not None]
        return {"runs": len(runs), "works": whole["works"], "work_ns": whole["work_ns"], "idle_ns": whole["idle_ns"], "idle_host_ns": whole["idle_host_ns"],
                "graphs": len(gains), "graph_gain_ns": sum(gains)}

    # ---- chains that repeat

    def counted(self, stream, size):
        """By names: (first, count, work, gaps) of the chains of SIZE works; occurrences of one do not overlap."""
        chains, free = {}, {}
        for i in range(len(stream) - size + 1):
            chain = stream[i : i + size]
            names = tuple(w.name for w in chain)
            if any(w.paused for w in chain[1:]) or free.get(names, 0) > i:
                continue
            free[names] = i + size
            first, count, work, gaps = chains.get(names, (i, 0, 0, 0))
            chains[names] = (first, count + 1, work + sum(w.duration for w in chain), gaps + sum(w.gap for w in chain[1:]))
        return {names: chain for names, chain in chains.items() if chain[1] >= 2}

    def repeats(self):
        rows = []
        for (device, stream), works in self.streams:
            chains = {size: self.counted(works, size) for size in range(2, 17)}
            for size in range(2, 17):
                longer = chains.get(size + 1, {})
                for names, (first, count, work, gaps) in chains[size].items():
                    if not any(names in (other[1:], other[:-1]) and more >= count for other, (_, more, _, _) in longer.items()):
                        rows.append({"device": device, "stream": stream, "count": count, "length": size, "work_ns": work, "gaps_inside_ns": gaps,
                                     "start_ns": works[first].start - self.tables.origin, "names": " | ".join(names)})
        return sorted(rows, key=lambda row: (-row["gaps_inside_ns"], -row["count"], -row["length"], row["names"].split(" | ")))

    # ---- by operator

    def outermost(self, name=None):
        """Operators of NAME, or all, that lie in no other of them, by thread."""
        threads = {}
        for e in sorted((e for e in self.tables.operators if name in (None, e.name)), key=lambda e: (e.start, -e.duration)):
            found = threads.setdefault(e.thread, [])
            if not found or e.start >= found[-1].end:
                found.append(e)
        return threads

    @staticmethod
    def around(threads, call):
        return next((e for e in threads.get(call.thread, []) if e.start <= call.start < e.end), None) if call else None

    def patterns(self, name):
        threads, calls, patterns = self.outermost(name), {}, {}
        for _, stream in self.streams:
            for work in stream:
                operator = self.around(threads, work.call)
                if operator:
                    calls.setdefault(id(operator), (operator, []))[1].append(work)
        for operator, works in calls.values():
            works.sort(key=lambda w: (w.start, self.tables.work.index(w.event)))
            names = tuple(w.name for w in works)
            row = patterns.setdefault(names, {"op": name, "count": 0, "length": len(works), "device_time_ns": 0, "host_time_ns": 0})
            row["count"] += 1
            row["device_time_ns"] += sum(w.duration for w in works)
            row["host_time_ns"] += operator.duration
        return list(patterns.values())

    # ---- works that could be one: of traces without types of inputs, modules and known devices

    def fusable(self, work):
        if work.event.category in COPY and "DtoD" not in work.name:
            return False
        if work.event.category in KERNEL and (self.tables.communicates(work.event) or PRODUCT_KERNELS.search(work.name)):
            return False
        return work.operator is None or not PRODUCT_OPERATORS.match(work.operator.name)

    def fusions(self):
        threads, rows = self.outermost(), {}
        for _, stream in self.streams:
            chain = []
            for work in stream + [None]:
                same = chain and work and not work.paused and self.fusable(work) and self.around(threads, chain[-1].call) is not None and \
                    self.around(threads, chain[-1].call) is self.around(threads, work.call)
                if chain and not same:
                    if len(chain) > 1:
                        self.add_fusion(rows, self.around(threads, chain[0].call).name, chain)
                    chain = []
                if work is not None and self.fusable(work):
                    chain.append(work)
        return list(rows.values())

    @staticmethod
    def add_fusion(rows, operator, chain):
        key = (operator, tuple(w.name for w in chain))
        row = rows.setdefault(key, {"op": operator, "count": 0, "length": len(chain), "work_ns": 0, "gaps_ns": 0, "gaps_host_ns": 0, "gain_ns": 0})
        work, gaps = sum(w.duration for w in chain), sum(w.gap for w in chain[1:])
        saved = gaps + sum(min(a.duration, b.duration) for a, b in zip(chain, chain[1:]))
        row["count"] += 1
        row["work_ns"] += work
        row["gaps_ns"] += gaps
        row["gaps_host_ns"] += sum(w.gap for w in chain[1:] if w.because == "host")
        row["gain_ns"] += min(saved, work + gaps - max(w.duration for w in chain))
