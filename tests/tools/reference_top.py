#!/usr/bin/env python3
"""key_averages() from a Kineto trace: slow, simple, and written apart from tpa.

    reference_top.py TRACE.json[.gz] [--by-shape] [--python] [-o OUT.json]

Answers what torch.profiler's `key_averages()` answers in the profiled process (torch 2.14's rules),
from the file alone, in integer nanoseconds. It exists to be compared with `tpa top`, so it shares no
code with it, builds plain Python objects, and prefers the obvious loop to the fast one.

The output is one JSON object: "columns", "rows" (in torch's order: first appearance in the list of
events sorted by start and falling end) and the two footers of torch's table.

What the file does not tell is decided here as follows; tpa must decide alike:
  async regions       annotations and operators named `nccl:*`, `gloo:*` and the like, and what was still open at the end
  the stopping thread the thread of the first ProfilerStep#, else the one whose tid is its pid, else one
                      of which nothing else is known
  launch -> operator  `External id` when the file's ids link at all, else the innermost operator around the call's
                      start, both ends included
  FLOPs               when the file says with_flops, and from shapes in any trace of a GPU
Not done here: demangling (names that begin with _Z), stacks as keys, files that are not valid JSON.
"""

import argparse
import gzip
import json
import sys
from bisect import bisect_left, bisect_right
from decimal import Decimal

import reference_late

COLUMNS = ["key", "device_type", "is_user_annotation", "count", "cpu_time_total_ns", "self_cpu_time_total_ns",
           "device_time_total_ns", "self_device_time_total_ns", "cpu_memory_usage", "self_cpu_memory_usage",
           "device_memory_usage", "self_device_memory_usage", "flops"]

# Categories, folded to lower case; the short spellings are those of 2021.
OPERATOR = {"cpu_op", "operator"}
RUNTIME = {"cuda_runtime", "cuda_driver", "runtime", "privateuse1_runtime", "privateuse1_driver", "mtia_runtime"}
GPU_WORK = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "memcpy", "memset", "mtia_ccp_events", "concurrent_kernel",
            "cuda_profiler_range", "mtia_workloadd"}
DEVICE = GPU_WORK | {"gpu_user_annotation"}
NOT_EVENTS = {"trace"}

ASYNC_NAMES = ("nccl:", "gloo:", "ucc:", "mpi:", "xccl:", "hccl:", "rccl:")
DROPPED_NAMES = {"[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
                 "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"}

CPU_MEMORY = {0, 2, 5}  # c10::DeviceType: CPU, MKLDNN, IDEEP
DEVICE_MEMORY = {1, 6, 12, 20}  # CUDA, HIP, XPU, PrivateUse1


def to_ns(text):
    """Microseconds, as the file writes them, to integer nanoseconds; never through a double."""
    return int((Decimal(str(text)) * 1000).to_integral_value(rounding="ROUND_HALF_EVEN"))


def load(path):
    opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    with opener(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
        document = json.load(f, parse_float=Decimal, strict=False)
    return reference_late.bound(document if isinstance(document, dict) else {"traceEvents": document})


class Event:
    """One event of the list torch aggregates."""

    def __init__(self, category, name, thread, start, end):
        self.category, self.name, self.thread, self.start, self.end = category, name, thread, start, end
        self.on_device = category in DEVICE
        self.is_annotation = category in ("user_annotation", "gpu_user_annotation")
        self.is_python = False
        self.is_async = self.is_open = False
        self.id = 0  # what kernels link to
        self.link = 0  # the operator this launch or kernel belongs to, 0: none
        self.kernels = []  # events that it launched itself
        self.shapes = "[]"
        self.flops = 0
        self.cpu_bytes = self.device_bytes = 0
        self.parent, self.children = None, []

    @property
    def duration(self):
        return self.end - self.start

    # The values of one event; an async event has a total on the host and nothing else.
    def cpu_total(self):
        return 0 if self.on_device else self.duration

    def self_cpu(self):
        if self.is_async or self.on_device:
            return 0
        return self.duration - sum(c.duration for c in self.children)

    def device_total(self):
        if self.is_async:
            return 0
        if self.on_device:
            return self.duration
        if self._device_total is None:
            self._device_total = sum(k.duration for k in self.kernels) + sum(c.device_total() for c in self.children)
        return self._device_total

    _device_total = None

    def self_device(self):
        if self.is_async:
            return 0
        return self.duration if self.on_device else sum(k.duration for k in self.kernels)

    def self_cpu_bytes(self):
        if self.is_async or self.on_device:
            return 0
        return self.cpu_bytes - sum(c.cpu_bytes for c in self.children)

    def self_device_bytes(self):
        if self.is_async or self.on_device:
            return 0
        return self.device_bytes - sum(c.device_bytes for c in self.children)


# ---- reading -------------------------------------------------------------------------------------


def thread_of(raw):
    return (str(raw.get("pid")), str(raw.get("tid")))


def read_events(document):
    """The file's events as torch lists them (stable by start), memory records and facts about the file."""
    raw_events = [e for e in document["traceEvents"] if isinstance(e, dict)]
    spans = [e for e in raw_events if e.get("ph") == "X" and e.get("cat") == "Trace"]
    span_end = max((to_ns(e["ts"]) + to_ns(e.get("dur", 0)) for e in spans), default=None)

    with_flops = document.get("with_flops") or any(e.get("ph") == "X" and str(e.get("cat", "")).lower() in DEVICE for e in raw_events)

    events, memory = [], []
    for raw in raw_events:
        name, args = raw.get("name", ""), raw.get("args") or {}
        category = str(raw.get("cat", "")).lower()
        if raw.get("ph") == "i" and name in ("[memory]", "[OutOfMemory]") and "Bytes" in args:
            memory.append((to_ns(raw["ts"]), name, thread_of(raw), int(args["Bytes"]), int(args.get("Device Type", 0))))
            continue
        if raw.get("ph") != "X" or category in NOT_EVENTS or "ts" not in raw:
            continue
        start = to_ns(raw["ts"])
        if name in ("[memory]", "[OutOfMemory]"):  # a region somebody gave this name
            memory.append((start, name, thread_of(raw), 0, 0))
            continue
        event = Event(category, name, thread_of(raw), start, start + to_ns(raw.get("dur", 0)))
        event.raw, event.args = raw, args
        if event.name.startswith("ProfilerStep#"):
            event.name = "ProfilerStep*"
        if category == "python_function" and "Python id" in args:
            event.is_python = True
        external = args.get("External id", args.get("external id"))
        event.external = int(external) if external is not None else None
        event.correlation = int(args["correlation"]) if "correlation" in args else None
        if category in OPERATOR or category == "user_annotation":
            event.id = event.external or 0
            open_at_end = args.get("finished") in (False, "false") or (span_end is not None and event.end > span_end)
            if open_at_end:
                event.is_async = event.is_open = True
            if name.startswith(ASYNC_NAMES):
                event.is_async = True
        if "Input Dims" in args or "Input dims" in args:
            dims = args.get("Input Dims", args.get("Input dims"))
            event.shapes = str([[] if any(isinstance(d, list) for d in one) else one for one in dims])
        if with_flops:
            event.flops = flops(name, args)
        events.append(event)
    end_open_regions(events, span_end)
    narrow_gpu_annotations(events)
    events.sort(key=lambda e: e.start)
    memory.sort(key=lambda m: m[0])
    return events, memory


def end_open_regions(events, span_end):
    """A region that was open at the end ends with the innermost one around its start that did end; else with the window."""
    threads = {}
    for e in events:
        if e.category in OPERATOR or e.category in ("user_annotation", "python_function"):
            threads.setdefault(e.thread, []).append(e)
    for thread in threads.values():
        around = []
        for e in sorted(thread, key=lambda e: (e.start, -e.end)):
            gone = next((i for i, frame in enumerate(around) if frame.end < e.start), len(around))
            del around[gone:]  # what ended goes, and all that began in it
            if not e.is_open:
                around += [e] if e.end > e.start else []
            elif around:
                e.end = around[-1].end
            elif span_end is not None and e.end > span_end:
                e.end = max(span_end, e.start)


def stopping_thread(events, memory):
    """The thread that stopped the profiler, to which torch gives runtime calls without an operator."""
    steps = [e for e in events if e.category not in DEVICE and e.name == "ProfilerStep*"]
    if steps:
        return steps[0].thread
    for thread in [e.thread for e in events if not e.on_device] + [m[2] for m in memory]:
        if thread[0] == thread[1]:
            return thread
    return ("nowhere", "nowhere")  # it did nothing else that was recorded


# ---- which operator launched what ----------------------------------------------------------------


def link(events):
    """Set .link of runtime calls and GPU work: the id of the operator that launched it, or 0."""
    launched = [e for e in events if e.category in RUNTIME or e.category in GPU_WORK]
    leaves_out = any(e.external is None for e in launched if e.category in RUNTIME)
    of_mtia = any(e.category.startswith("mtia_") for e in launched)
    none_linked = of_mtia and all(e.external is None for e in launched) and any(e.external is not None for e in events)
    if none_linked or any(e.external is not None and e.external != e.correlation for e in launched):
        # The ids link. None at all says "no operator"; so does one that only repeats the correlation, unless calls of the
        # file lack theirs: then the key is left out where there is no operator, and equal numbers are chance.
        every_id = leaves_out or any("external id" in e.args for e in launched)
        for e in launched:
            if e.external is not None and (every_id or e.external != e.correlation):
                e.link = e.external
        return

    # 2021-11 to 2024-02: `External id` repeats the correlation and tells nothing (or nothing has one), so a call belongs
    # to the innermost operator around its start on its thread, and GPU work to its call's operator.
    link_of_correlation = {}
    for number, e in enumerate(events):
        if e.category in OPERATOR and not e.id:
            e.id = (1 << 60) + number  # an operator without id can be the innermost one too
    for thread in {e.thread for e in launched if e.category in RUNTIME}:
        here = [e for e in events if e.thread == thread and (e.category in OPERATOR or e.category in RUNTIME)]
        around = []  # operators that may still be open, outermost first
        for e in sorted(here, key=lambda e: (e.start, e.category in RUNTIME, -e.end)):
            around = [op for op in around if op.end >= e.start]
            if e.category in OPERATOR:
                around.append(e)
            elif around:
                e.link = link_of_correlation[e.correlation] = around[-1].id
    for e in launched:
        if e.category in GPU_WORK:
            e.link = link_of_correlation.get(e.correlation, 0)


def give_kernels(events, stop_thread):
    """torch's loop over "frontend" events: hand out kernels, and move calls to their operator's thread."""
    by_link = {}
    for e in events:
        if e.category in RUNTIME and not e.link or e.category == "overhead":
            e.thread = stop_thread
            e.id = e.correlation or 0
        if e.link:
            by_link.setdefault(e.link, []).append(e)
    for e in events:
        if e.on_device or e.is_async or e.link or e.category == "overhead" or e.id not in by_link:
            continue
        for other in by_link[e.id]:
            if other.on_device:
                e.kernels.append(other)
            else:
                other.thread = e.thread


# ---- FLOPs ---------------------------------------------------------------------------------------


def product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


def flops(name, args):
    """torch counts seven operators when it records, from shapes and concrete arguments; all others are 0."""
    dims, concrete = args.get("Input Dims"), args.get("Concrete Inputs")
    if not dims or any(isinstance(n, list) for one in dims[:2] for n in one):
        return 0  # nothing is known, or it is a list of tensors
    if name == "aten::conv2d":
        if not concrete or len(dims) < 2 or len(dims[0]) != 4 or len(dims[1]) != 4 or len(concrete) < 7:
            return 0
        try:
            stride, padding, dilation = (json.loads(concrete[i]) for i in (3, 4, 5))
            groups = int(concrete[6])
        except (ValueError, TypeError):
            return 0
        if not all(isinstance(v, list) and len(v) == 2 for v in (stride, padding, dilation)) or not groups:
            return 0
        n, c_in, h, w = dims[0]
        c_out, _, kh, kw = dims[1]
        if 0 in dims[0] + dims[1] or 0 in stride:
            return 0
        out_h = (h + 2 * padding[0] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
        out_w = (w + 2 * padding[1] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
        return 2 * n * out_h * out_w * kh * kw * c_in * c_out // groups
    if name in ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"):
        first = 1 if name in ("aten::addmm", "aten::baddbmm") else 0
        if len(dims) < first + 2:
            return 0
        a, b = dims[first], dims[first + 1]
        if not a or not b or 0 in a or 0 in b:
            return 0
        result = 2 * product(a) // a[-1] * product(b)
        return result // a[0] if name in ("aten::bmm", "aten::baddbmm") else result
    if name in ("aten::mul", "aten::mul.Tensor", "aten::add", "aten::add.Tensor"):
        return product(dims[0])
    return 0


# ---- tree, memory, rows --------------------------------------------------------------------------


def build_tree(events):
    threads = {}
    for e in events:
        if not e.on_device and not e.is_async:
            threads.setdefault(e.thread, []).append(e)
    for thread_events in threads.values():
        stack = []
        for e in sorted(thread_events, key=lambda e: (e.start, -e.end)):
            while stack:
                top = stack[-1]
                if e.start >= top.end or e.end > top.end:
                    stack.pop()
                else:
                    top.children.append(e)
                    e.parent = top
                    break
            stack.append(e)


def lift_only_children(events):
    """An only child of its parent's name is merged into it, again and again until none is left."""
    while True:
        gone = set()
        for e in events:
            p = e.parent
            if p is not None and p.name == e.name and len(p.children) == 1:
                p.children, p.kernels = e.children, e.kernels
                for child in e.children:
                    child.parent = p
                gone.add(id(e))
        if not gone:
            return events
        events = [e for e in events if id(e) not in gone]


def attribute_memory(events, memory):
    """Bytes of all records within each host event (any thread, both ends included); the rest become rows."""
    times = [m[0] for m in memory]
    caught = [name != "[memory]" for _, name, _, _, _ in memory]
    for e in events:
        if e.on_device:
            continue
        for i in range(bisect_left(times, e.start), bisect_right(times, e.end)):
            _, name, _, size, device = memory[i]
            if name != "[memory]":
                continue
            e.cpu_bytes += size if device in CPU_MEMORY else 0
            e.device_bytes += size if device in DEVICE_MEMORY else 0
            caught[i] = True
    alone = [m for m, c in zip(memory, caught) if not c] + [m for m in memory if m[1] == "[OutOfMemory]"]
    for time, name, thread, size, device in alone:
        e = Event("cpu_instant_event", name, thread, time, time)
        e.cpu_bytes = size if device in CPU_MEMORY else 0
        e.device_bytes = size if device in DEVICE_MEMORY else 0
        events.append(e)


def narrow_gpu_annotations(events):
    """Kineto widens GPU annotations by up to a microsecond at each end: put them back on the kernels and copies they span."""
    starts, ends = {}, {}
    for e in events:
        if e.category in GPU_WORK and e.category != "cuda_sync":
            starts.setdefault(e.thread, []).append(e.start)
            ends.setdefault(e.thread, []).append(e.end)
    for e in events:
        if e.category == "gpu_user_annotation":
            for edge, edges in (("start", starts), ("end", ends)):
                near = min(edges.get(e.thread, []), key=lambda t: (abs(t - getattr(e, edge)), t), default=None)
                if near is not None and abs(near - getattr(e, edge)) <= 1000:
                    setattr(e, edge, near)
            e.end = max(e.start, e.end)


def function_events(document):
    """torch's function events, tree built, in the order its aggregation meets them."""
    events, memory = read_events(document)
    stop_thread = stopping_thread(events, memory)
    link(events)
    events = [e for e in events if e.name not in DROPPED_NAMES]
    give_kernels(events, stop_thread)
    attribute_memory(events, memory)
    events.sort(key=lambda e: (e.start, -e.end))
    build_tree(events)
    return lift_only_children(events)


def key_averages(document, by_shape=False, python_functions=False):
    rows = {}
    for e in function_events(document):
        if e.is_python and not python_functions:
            continue
        key = (e.name, "CUDA" if e.on_device else "CPU", e.is_annotation) + ((e.shapes,) if by_shape else ())
        row = rows.setdefault(key, [0] * 10)
        for i, value in enumerate((1, e.cpu_total(), e.self_cpu(), e.device_total(), e.self_device(), e.cpu_bytes,
                                   e.self_cpu_bytes(), e.device_bytes, e.self_device_bytes(), e.flops)):
            row[i] += value
    return [list(key) + values for key, values in rows.items()]


def footers(rows):
    """The two totals below torch's table: rows as made by key_averages(), grouped in any way."""
    return {"self_cpu_time_total_ns": sum(r[-8] for r in rows),
            "self_device_time_total_ns": sum(r[-6] for r in rows if r[1] == "CUDA" and not r[2])}


def dump(rows, out, by_shape=False):
    columns = COLUMNS[:3] + ["input_shapes"] * by_shape + COLUMNS[3:]
    out.write('{"columns": %s,\n"footer": %s,\n"rows": [\n' % (json.dumps(columns), json.dumps(footers(rows))))
    out.write(",\n".join(json.dumps(r, ensure_ascii=False) for r in rows))
    out.write("\n]}\n")


def main():
    parser = argparse.ArgumentParser(description="key_averages() of a Kineto trace, slowly and simply")
    parser.add_argument("trace")
    parser.add_argument("--by-shape", action="store_true", help="group by input shapes too")
    parser.add_argument("--python", action="store_true", help="rows for Python functions too")
    parser.add_argument("-o", "--output")
    args = parser.parse_args()
    sys.setrecursionlimit(100000)
    rows = key_averages(load(args.trace), args.by_shape, args.python)
    with open(args.output, "w", encoding="utf-8", errors="surrogateescape") if args.output else sys.stdout as out:
        dump(rows, out, args.by_shape)


if __name__ == "__main__":
    main()
