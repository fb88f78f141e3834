"""What tpa kernels must say of a Kineto trace, whatever makes a row: slow, simple, apart from tpa.

    kernels = reference_kernels.Kernels(reference_tables.Tables(document))
    kernels.rows("shape")    [{"name": "gemm", "grid": "64x1x1", ..., "count": 3, ...}, ...]

Written from docs/definitions.md. Weighted means and standard deviations are fractions until they are printed.
"""

import math
import statistics
from decimal import Decimal
from fractions import Fraction

from reference_tables import KERNEL

# What the names that random_trace.py gives to kernels tell of tensor cores, read by a person.
TENSOR_CORES = {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n": "yes", "volta_sgemm_128x64_nn": "no", "triton_poi_fused_0": "no",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "no"}


NOT_RECORDED = "(launch not recorded)"


def weighted(pairs):
    """Mean of the values that are known, by their times; where none took any each counts once. None where none is known."""
    known = [(Fraction(value), time) for value, time in pairs if value is not None]
    if not any(time for _, time in known):
        known = [(value, 1) for value, _ in known]
    return float(sum(value * time for value, time in known) / sum(time for _, time in known)) if known else None


def number(event, key):
    value = event.args.get(key)
    return None if value is None else Decimal(str(value))


def extent(event, key):
    value = event.args.get(key)
    return None if value is None else "x".join(str(n) for n in value)


def shape_of(event):
    return {"grid": extent(event, "grid"), "block": extent(event, "block"), "registers": event.args.get("registers per thread"),
            "shared_memory": event.args.get("shared memory")}


class Kernels:
    def __init__(self, tables):
        self.tables = tables
        self.all = [e for e in tables.work if e.category in KERNEL]

    def operator(self, event):
        """Who launched it: the operator it is linked to, else the call."""
        operator = self.tables.operator_of.get(event.link)
        call = self.tables.call(event)
        return operator.name if operator else call.name if call else NOT_RECORDED

    def key(self, by, event):
        if by == "shape":
            return shape_of(event)
        if by == "op":
            name = self.operator(event)  # the column is called as the word of --by; a row without it is named as in all commands
            return {"op": "(no operator)" if name == NOT_RECORDED else name}
        if by == "device":
            return {"device": int(event.args["device"])}
        if by == "stream":
            return {"device": int(event.args["device"]), "stream": int(event.args["stream"])}
        if by == "step":
            moment = (self.tables.call(event) or event).start
            return {"step": self.tables.step_number(moment), "step itself": self.tables.step_at(moment)}  # each, also where two have one number
        return {}

    def rows(self, by="name"):
        groups = {}
        for e in self.all:
            key = {"name": e.name, **self.key(by, e)}
            groups.setdefault(tuple(key.values()), ({k: v for k, v in key.items() if k != "step itself"}, []))[1].append(e)
        whole = sum(e.duration for e in self.all)
        return [{**key, **self.figures(by, events, whole)} for key, events in groups.values()]

    def figures(self, by, events, whole):
        times = [e.duration for e in events]
        shapes = [shape_of(e) for e in events]
        most = max(shapes, key=lambda shape: sum(time for time, s in zip(times, shapes) if s == shape))  # of equals the first that ran
        operators = [self.operator(e) for e in events]
        names = sorted(set(operators) - {NOT_RECORDED}, key=lambda name: (-operators.count(name), operators.index(name)))
        listed = names[:4] + [f"{len(names) - 4} more"] * (len(names) > 4) + [NOT_RECORDED] * (NOT_RECORDED in operators)
        row = {"count": len(events), "total_ns": sum(times), "share": sum(times) / whole if whole else None,
               "average_ns": round_half_up(Fraction(sum(times), len(times))), "median_ns": round_half_up(Fraction(statistics.median(times))),
               "min_ns": min(times), "max_ns": max(times), "stddev_ns": deviation(times), "tensor_core": TENSOR_CORES.get(events[0].name, "unknown"),
               "occupancy": weighted((percent(number(e, "est. achieved occupancy %")), e.duration) for e in events),
               "blocks_per_sm": weighted((number(e, "blocks per SM"), e.duration) for e in events), **most}
        if by != "shape":
            row["shapes"] = len({tuple(shape.values()) for shape in shapes})
        if by != "op":
            row["operators"] = ", ".join(listed)
        return row


def percent(value):
    return None if value is None else value / 100


def round_half_up(value):
    return math.floor(value + Fraction(1, 2))


def deviation(times):
    return round(math.sqrt(statistics.variance([Fraction(t) for t in times]))) if len(times) > 1 else 0
