"""What tpa summary must say of a Kineto trace (random_trace.py): slow, simple, apart from tpa.

    summary = reference_summary.Summary(document, reference_tables.Tables(document))
    summary.overview()   summary.operators()   summary.remarks()

Written from docs/definitions.md and docs/commands/summary.md, from what the other references say.
"""

import statistics

import reference_memory
import reference_steps
import reference_top
import reference_transfers

LIMITS = {"slow_step": 0.05, "memory_grows": 0.0}


def share(part, whole):
    return part / whole if whole else None


class Summary:
    def __init__(self, document, tables):
        self.document, self.tables = document, tables
        steps = reference_steps.Steps(tables)
        self.whole = steps.whole_file()
        self.complete = steps.complete() if tables.steps else []
        self.devices = tables.devices()
        self.stalls = reference_transfers.Transfers(tables)
        self.memory = None if tables.has_memory_region else reference_memory.Memory(document, tables)  # which reference_top.py takes for a record
        self.span = self.whole[0].end - self.whole[0].start if self.whole else 0

    def overview(self):
        """Without the step; shares of devices are of their spans, where none worked in a step."""
        figures = {"host_time_ns": self.span}
        if self.complete:
            figures["steps"] = len(self.complete)
        if self.devices:
            span = sum(d["span_ns"] for d in self.devices)
            figures["devices"] = len(self.devices)
            for key, part in (("computing", "computation_ns"), ("communicating", "exposed_communication_ns"), ("copying", "exposed_memcpy_ns"), ("idle", "idle_ns")):
                figures[key] = share(sum(d[part] for d in self.devices), span)
            figures["host_blocked_ns"] = self.stalls.blocked()
        peaks = {d.name: d.peak.used for d in self.memory.devices} if self.memory else {}
        on_devices = [peak for name, peak in peaks.items() if not name.startswith("cpu")]
        if peaks:
            figures["peak_memory"] = max(on_devices or peaks.values())
        return figures

    def operators(self):
        times = {}
        if self.tables.work:
            found = [(self.worker(e), e.duration, 1) for e in self.tables.work]
        elif not self.tables.operators:
            return []
        else:
            found = [(row[0], row[5], row[3]) for row in reference_top.key_averages(self.document, python_functions=True) if row[1] == "CPU"]
        for name, time, count in found:
            row = times.setdefault(name, [0, 0])
            row[0] += time
            row[1] += count
        whole = sum(time for time, _ in times.values())
        return [{"name": name, "time_ns": time, "share_of_all": share(time, whole), "count": count} for name, (time, count) in times.items()]

    def worker(self, event):
        """The operator that launched it; where none is known the work itself."""
        operator = self.tables.operator_of.get(event.link)
        return operator.name if operator else event.name

    def remarks(self):
        """
        What has no price. What the other rules are about (DataParallel, backends, several ranks, properties of devices) no random
        trace holds. Findings have prices, which the replay tells: none of them is worked out here.
        """
        found = [row for row in (*self.of_steps(), *self.of_memory()) if row["share"] is not None and row["share"] > row["threshold"]]
        return sorted(found, key=lambda row: (row["bytes"] is not None, -row["share"]))  # in the order of tpa: those of memory last

    @staticmethod
    def remark(rule, part, whole, device=None, time=None, size=None):
        return {"rule": rule, "threshold": LIMITS[rule], "time_ns": time, "bytes": size, "share": share(part, whole), "device": device}

    def of_steps(self):
        times = [step.end - step.start for step, _ in self.complete]
        if len(times) >= 3:
            over = max(times) - reference_steps.rounded(statistics.median(times))
            yield self.remark("slow_step", over, sum(times), time=over)

    def of_memory(self):
        steps = self.memory.steps() if self.memory else []
        for device in {row["device"]: None for row in steps}:
            own = [row for row in steps if row["device"] == device]
            if len(own) >= 4:
                least = min(row["growth"] for row in own[1:])
                yield self.remark("memory_grows", least, max(row["peak"] for row in own), device, size=least)
