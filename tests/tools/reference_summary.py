"""What tpa summary must say of a Kineto trace (random_trace.py): slow, simple, apart from tpa.

    summary = reference_summary.Summary(document, reference_tables.Tables(document))
    summary.overview()   summary.operators()   summary.findings()

Written from docs/definitions.md and docs/commands/summary.md, from what the other references say.
"""

import statistics
from fractions import Fraction

import reference_gaps
import reference_kernels
import reference_memory
import reference_steps
import reference_top
import reference_transfers
from reference_tables import KERNEL, length, of, union, within

IDLE = {"host": "idle_host", "launch latency": "idle_launch_latency", "synchronisation": "idle_synchronisation", "allocation": "idle_allocation",
        "data loading": "idle_data_loading", "communication": "idle_communication", "profiler overhead": "idle_profiler",
        "launch call": "idle_launch_call", "first use": "idle_first_use", "stream wait": "idle_stream_wait", "graph": "idle_graph", "queued": "idle_queued"}
LIMITS = {"utilization": 0.5, "data_loading": 0.05, "communication": 0.1, "slow_step": 0.05, "copies": 0.1, "stall": 0.05, "memory_grows": 0.0,
          **{rule: 0.1 for rule in IDLE.values()}}


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
        figures = {"host_time_ns": self.span}
        if self.complete:
            figures["steps"] = len(self.complete)
            figures["step_average_ns"] = reference_steps.rounded(statistics.mean([step.end - step.start for step, _ in self.complete]))
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
            kernels = reference_kernels.Kernels(self.tables)
            found = [(kernels.operator(e), e.duration, 1) for e in self.tables.work]
        elif not self.tables.operators:
            return []
        else:
            found = [(row[0], row[5], row[3]) for row in reference_top.key_averages(self.document) if row[1] == "CPU"]
        for name, time, count in found:
            row = times.setdefault(name, [0, 0])
            row[0] += time
            row[1] += count
        whole = sum(time for time, _ in times.values())
        return [{"name": name, "time_ns": time, "share_of_all": share(time, whole), "count": count} for name, (time, count) in times.items()]

    # -- findings

    def findings(self):
        found = [self.finding(*told) for told in [*self.of_steps(), *self.of_devices(), *self.of_host()]]
        found = [row for row in found if row["share"] is not None and row["share"] > row["threshold"]]
        if any(row["rule"] == "data_loading" for row in found):
            found = [row for row in found if row["rule"] != "idle_data_loading"]
        return found

    @staticmethod
    def finding(rule, time, whole, device=None, shown=None):
        return {"rule": rule, "threshold": LIMITS[rule], "time_ns": time if shown is None else shown, "share": share(time, whole), "device": None if device is None else str(device)}

    def of_steps(self):
        times = [step.end - step.start for step, _ in self.complete]
        for rule, part in (("data_loading", "data_loading_ns"), ("communication", "communication_ns")):
            whole = sum(parts[part] for _, parts in self.complete)
            yield rule, whole, sum(times), None, reference_steps.rounded(Fraction(whole, len(times))) * len(times) if times else 0
        if len(times) >= 3:
            yield "slow_step", max(times) - reference_steps.rounded(statistics.median(times)), sum(times)

    def of_devices(self):
        for device in self.devices:
            number = device["device"]
            kernels = union(of(e for e in self.tables.work if e.category in KERNEL and int(e.args["device"]) == number))
            if self.complete:
                window = self.complete[0][0].start, self.complete[-1][0].end
            else:
                work = dict(self.tables.by_device())[number]
                window = min(e.start for e in work), max(e.end for e in work)
            yield "utilization", window[1] - window[0] - length(within(kernels, *window)), window[1] - window[0], number
            yield "copies", device["exposed_memcpy_ns"], device["span_ns"], number
            for row in reference_gaps.Gaps(self.tables).causes():
                if row["device"] == number and row["cause"] in IDLE:
                    yield IDLE[row["cause"]], row["time_ns"], device["span_ns"], number

    def of_host(self):
        won = {}
        for row in self.stalls.stalls() or []:
            key = row["op"], row["cause"]
            won[key] = won.get(key, 0) + row["possible_saving_ns"]
        for time in won.values():
            yield "stall", time, self.span
