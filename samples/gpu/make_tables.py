#!/usr/bin/env python3
"""Let torch's own aggregation answer for the GPU samples: NAME.table.txt, and a check of NAME.expected.json.

    make_tables.py FOLDER

No profile of a GPU ran here, so torch is handed the events of the file as if its profiler had just
recorded them: profile._parse_kineto_results() and EventList do the rest, which is all that torch itself
does in Python. Needs torch 2.14 or later (any build).
"""

import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pytorch"))
import reference_top  # noqa: E402
import torch  # noqa: E402
from make import TABLES, ns  # noqa: E402  the same matrix as for the recorded samples
from torch.autograd import DeviceType  # noqa: E402
from torch.autograd.profiler import profile  # noqa: E402
from torch.autograd.profiler_util import EventList  # noqa: E402


class Recorded:
    """One event, with the methods that torch's parser calls on its C++ counterpart."""

    DEFAULTS = {"is_async": False, "scope": 0, "sequence_nr": -1, "device_index": 0, "device_resource_id": 0, "fwd_thread_id": 0, "stack": [],
                "concrete_inputs": [], "kwinputs": {}, "overload_name": "", "extra_meta": {}, "typed_metadata": {}, "flow_id": 0,
                "flow_type": 0, "flow_start": False, "external_id": 1, "structured_input_shapes": [], "structured_input_strides": [],
                "dtypes": [], "python_id": -1, "python_parent_id": -1, "python_module_id": -1, "is_hidden_event": False,
                "is_python_function": False, "activity_type": "", "cuda_elapsed_us": 0, "privateuse1_elapsed_us": 0, "nbytes": 0,
                "shapes": [], "flops": 0, "linked_correlation_id": 0, "correlation_id": 0, "is_user_annotation": False}

    def __init__(self, **values):
        self.values = {**self.DEFAULTS, **values}

    def __getattr__(self, name):
        value = self.values[name]
        return lambda: value


MEMORY_DEVICES = {0: DeviceType.CPU, 1: DeviceType.CUDA}


def recorded(document):
    """The file's events as torch's C++ half hands them over, sorted by start."""
    events, memory = reference_top.read_events(document)
    stop_thread = reference_top.stopping_thread(events)
    reference_top.link(events)
    threads = {}

    def number(thread):
        return threads.setdefault(thread, len(threads) + 1)

    result = []
    for e in events:
        unlinked_call = e.category in reference_top.RUNTIME and not e.link or e.category == "overhead"
        thread = number(stop_thread if unlinked_call else e.thread)
        result.append(Recorded(
            name=e.raw["name"], start_ns=e.start, end_ns=e.end, start_thread_id=thread, end_thread_id=0 if e.is_async else thread,
            device_type=DeviceType.CUDA if e.on_device else DeviceType.CPU, correlation_id=e.correlation or e.id,
            linked_correlation_id=e.link, external_id=0 if unlinked_call else 1, shapes=json.loads(e.shapes), flops=e.flops,
            is_user_annotation=e.is_annotation))
    for time, name, thread, size, device in memory:
        result.append(Recorded(name=name, start_ns=time, end_ns=time, start_thread_id=number(thread), end_thread_id=number(thread),
                               device_type=MEMORY_DEVICES[device], nbytes=size))
    return sorted(result, key=lambda r: r.start_ns())


class Result:
    def __init__(self, document):
        self.list = recorded(document)

    def events(self):
        return self.list

    def trace_start_ns(self):
        return self.list[0].start_ns()


def averages(document, **grouping):
    flags = {"use_device": "cuda", "profile_memory": bool(document.get("profile_memory")), "with_flops": bool(document.get("with_flops"))}
    parser = profile(enabled=False)
    parser.use_device = "cuda"
    events = EventList(parser._parse_kineto_results(Result(document)), **flags)
    events._build_tree()
    return events.key_averages(**grouping)


def row(average, by_shape):
    shapes = [str(average.input_shapes)] if by_shape else []
    return [average.key, "CPU" if average.device_type == DeviceType.CPU else "CUDA", bool(average.is_user_annotation), *shapes,
            average.count, ns(average.cpu_time_total), ns(average.self_cpu_time_total), ns(average.device_time_total),
            ns(average.self_device_time_total), average.cpu_memory_usage, average.self_cpu_memory_usage, average.device_memory_usage,
            average.self_device_memory_usage, average.flops or 0]


def main():
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json.gz"))):
        document = reference_top.load(path)
        path = path[: -len(".json.gz")]
        with open(f"{path}.expected.json") as f:
            expected = json.load(f)
        for group, by_shape in (("key", False), ("input_shape", True)):
            rows = [row(a, by_shape) for a in averages(document, group_by_input_shapes=by_shape)]
            if rows != expected["groups"][group]:
                sys.exit(f"{path}: torch does not agree with {group}:\n" + "\n".join(
                    f"  torch {a}\n  file  {b}" for a, b in zip(rows, expected["groups"][group]) if a != b))
        with open(f"{path}.table.txt", "w") as out:
            for grouping, arguments in TABLES + [({}, {"sort_by": "self_cuda_time_total", "row_limit": 7})]:
                words = ", ".join(f"{k}={v!r}" for k, v in grouping.items())
                listed = averages(document, group_by_input_shapes=grouping.get("group_by_input_shape", False))
                out.write(f"##### key_averages({words}).table({arguments})\n{listed.table(**arguments)}\n")
        print(path, torch.__version__)


if __name__ == "__main__":
    main()
