#!/usr/bin/env python3
"""Let torch itself aggregate the events of a trace file, and compare reference_top.py with it.

    torch_replay.py TRACE.json[.gz]...     compare on these traces
    torch_replay.py --seeds 1-300          compare on random traces
    torch_replay.py --tpa PROGRAM ...      compare the text of torch's table with `tpa top --format torch` too

torch is handed the events as if its profiler had just recorded them: profile._parse_kineto_results()
and EventList do the rest, which is all that torch does in Python. What its C++ half would have told
(links, threads, async regions) comes from reference_top.py. Needs torch 2.14 or later, any build; no test
needs it.
"""

import argparse
import json
import sys
import tempfile

import check_expected
import random_trace
import reference_top
from torch.autograd import DeviceType
from torch.autograd.profiler import profile
from torch.autograd.profiler_util import EventList

MEMORY_DEVICES = {0: DeviceType.CPU, 1: DeviceType.CUDA, 9: DeviceType.XLA, 20: DeviceType.PrivateUse1}


class Recorded:
    """One event, with the methods that torch's parser calls on its C++ counterpart."""

    DEFAULTS = {"is_async": False, "scope": 0, "sequence_nr": -1, "device_index": 0, "device_resource_id": 0, "fwd_thread_id": 0, "stack": [],
                "concrete_inputs": [], "kwinputs": {}, "overload_name": "", "extra_meta": {}, "typed_metadata": {}, "flow_id": 0,
                "flow_type": 0, "flow_start": False, "structured_input_shapes": [], "structured_input_strides": [], "dtypes": [],
                "python_id": -1, "python_parent_id": -1, "python_module_id": -1, "is_hidden_event": False, "is_python_function": False,
                "activity_type": "", "cuda_elapsed_us": 0, "privateuse1_elapsed_us": 0, "nbytes": 0, "shapes": [], "flops": 0,
                "linked_correlation_id": 0, "correlation_id": 0, "is_user_annotation": False,
                # 2.15 looks up no kernels by the ids of unlinked calls; 2.14, whose rules hold here, does
                "external_id": 1}

    def __init__(self, **values):
        self.values = {**self.DEFAULTS, **values}

    def __getattr__(self, name):
        value = self.values[name]
        return lambda: value


class Result:
    """The file's events as torch's C++ half hands them over, sorted by start."""

    def __init__(self, document):
        events, memory = reference_top.read_events(document)
        stop_thread = reference_top.stopping_thread(events, memory)
        reference_top.link(events)
        threads = {}

        def number(thread):
            return threads.setdefault(thread, len(threads) + 1)

        self.list = []
        for e in events:
            overhead = e.category == "overhead"
            thread = number(stop_thread if overhead or e.category in reference_top.RUNTIME and not e.link else e.thread)
            self.list.append(Recorded(
                name=e.raw["name"], start_ns=e.start, end_ns=e.end, start_thread_id=thread, end_thread_id=0 if e.is_async else thread,
                device_type=DeviceType.CUDA if e.on_device else DeviceType.CPU, correlation_id=e.correlation or e.id,
                linked_correlation_id=e.link, external_id=0 if overhead else 1, shapes=json.loads(e.shapes), flops=e.flops,
                is_user_annotation=e.is_annotation, is_python_function=e.is_python))
        for time, name, thread, size, device in memory:
            self.list.append(Recorded(name=name, start_ns=time, end_ns=time, start_thread_id=number(thread), end_thread_id=number(thread),
                                      device_type=MEMORY_DEVICES[device], nbytes=size))
        self.list.sort(key=lambda r: r.start_ns())
        spans = [e for e in document["traceEvents"] if e.get("cat") == "Trace" and e.get("ph") == "X"]
        self.start_ns = reference_top.to_ns(spans[0]["ts"]) if spans else 0

    def events(self):
        return self.list

    def trace_start_ns(self):
        return self.start_ns


def averages(document, **grouping):
    """What prof.key_averages(**GROUPING) would have answered."""
    result = Result(document)
    use_device = "cuda" if any(e.device_type() == DeviceType.CUDA and not e.name().startswith("[") for e in result.events()) else None
    with_memory = any(e.name() == "[memory]" for e in result.events())
    parser = profile(enabled=False)
    parser.use_device = use_device
    events = EventList(parser._parse_kineto_results(result), use_device=use_device, profile_memory=with_memory,
                       with_flops=bool(document.get("with_flops")))
    events._build_tree()
    return events.key_averages(**grouping)


def rows(document, by_shape=False):
    """The same as rows, laid out like reference_top.key_averages()."""
    def ns(us):
        return round(us * 1000)

    return [[a.key, "CPU" if a.device_type == DeviceType.CPU else "CUDA", bool(a.is_user_annotation), *([str(a.input_shapes)] if by_shape else []),
             a.count, ns(a.cpu_time_total), ns(a.self_cpu_time_total), ns(a.device_time_total), ns(a.self_device_time_total),
             a.cpu_memory_usage, a.self_cpu_memory_usage, a.device_memory_usage, a.self_device_memory_usage, a.flops or 0]
            for a in averages(document, group_by_input_shapes=by_shape)]


def differences(document):
    """The first row on which torch and the reference differ, in words, or None."""
    for by_shape in (False, True):
        ours, torchs = reference_top.key_averages(document, by_shape), rows(document, by_shape)
        for a, b in zip(torchs, ours):
            if a != b:
                return f"torch {a}\n    reference {b}"
        if len(ours) != len(torchs):
            return f"torch has {len(torchs)} rows, the reference {len(ours)}"
    return None


TABLES = [({}, {"row_limit": -1}), ({}, {"sort_by": "cuda_time_total", "row_limit": 5}), ({}, {"sort_by": "flops", "time_unit": "s"}),
          ({}, {"sort_by": "self_cpu_memory_usage", "top_level_events_only": True}), ({}, {"sort_by": "key"}),
          ({"group_by_input_shape": True}, {"sort_by": "cpu_time", "row_limit": 20, "time_unit": "ms"})]


def text_differences(document, tpa, path):
    """The first line on which torch's table and tpa's differ, in words, or None."""
    for grouping, arguments in TABLES:
        wanted = averages(document, group_by_input_shapes=bool(grouping)).table(**arguments).rstrip("\n").split("\n")
        call = f"key_averages({', '.join(f'{k}={v}' for k, v in grouping.items())}).table({arguments})"
        found = check_expected.top(tpa, path, *check_expected.table_options(call)).rstrip("\n").split("\n")
        for a, b in zip(wanted, found):
            if a != b:
                return f"{call}\n    torch {a}\n    tpa   {b}"
        if len(wanted) != len(found):
            return f"{call}: torch has {len(wanted)} lines, tpa {len(found)}"
    return None


def main():
    parser = argparse.ArgumentParser(description="compare reference_top.py with torch's own aggregation")
    parser.add_argument("--seeds", metavar="FIRST-LAST")
    parser.add_argument("--tpa", metavar="PROGRAM")
    parser.add_argument("traces", nargs="*", metavar="TRACE")
    args = parser.parse_args()
    failed = 0
    first, _, last = (args.seeds or "1-0").partition("-")
    names = [f"seed {n}" for n in range(int(first), int(last or first) + 1)] + args.traces
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as scratch:
        for name in names:
            path = name
            if name.startswith("seed "):
                path = scratch.name
                scratch.seek(0)
                scratch.truncate()
                scratch.write(random_trace.Maker(int(name[5:])).document())
                scratch.flush()
            document = reference_top.load(path)
            wrong = differences(document) or args.tpa and text_differences(document, args.tpa, path)
            if wrong:
                failed += 1
                print(f"FAILED  {name}: {wrong}")
    print(f"torch: {len(names) - failed} agree, {failed} do not")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
