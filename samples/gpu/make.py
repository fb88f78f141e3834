#!/usr/bin/env python3
"""Make the GPU samples: traces of invented training runs, laid out as Kineto wrote them in four periods.

    make.py OUTPUT_FOLDER [NAME...]

No GPU is needed and nothing here was measured: a small simulator of host threads and GPU streams runs
a few training steps, and a writer lays the events out as Kineto did at that time. Everything follows
from a fixed seed, so the files come out the same on every run. For every NAME it writes NAME.json.gz,
and NAME.expected.json with the rows of key_averages(), worked out by tests/tools/reference_top.py.

What is in them, on purpose: streams that overlap, copies of pageable and pinned memory, NCCL on its own
stream, a CUDA graph with many kernels for one launch, launches by the driver API (Triton), waits of
streams and of the host, GPU work launched before recording began, launches whose kernel came after it
ended, annotations on the GPU, memory records of the device, several devices with equal stream numbers.
"""

import contextlib
import gzip
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "tools"))
import reference_top  # noqa: E402

US = 1000  # nanoseconds
MS = 1000 * US


class Layout:
    """How Kineto wrote things at some time."""

    def __init__(self, base=0, whole_us=False, external="operator", flow="ac2g", widen=(0, 0), memory_category=True, amd=False):
        self.base = base  # ns taken off every time; told in the file when not 0
        self.whole_us = whole_us  # times are whole microseconds
        self.external = external  # meaning of `External id` on launches and GPU work
        self.flow = flow  # category of the arrows from call to GPU
        self.widen = widen  # ns a GPU annotation begins early and ends late
        self.memory_category = memory_category  # [memory] events have a category
        self.amd = amd


BASE = 1_727_784_000_000_000_000
LATER = BASE + 4_458_676 * 1000 * MS  # times in us have 16 digits: more than a double holds exactly
LAYOUTS = {
    # `External id` repeats the correlation: it links nothing
    "2022": Layout(whole_us=True, external="correlation", flow="async_cpu_to_gpu", memory_category=False),
    # the operator's id, or the correlation again where there is no operator
    "2024": Layout(base=BASE, external="operator or correlation", widen=(1000, 500)),
    # the operator's id, or nothing
    "2025": Layout(base=BASE, external="operator or absent", widen=(1, 1)),
    "amd": Layout(base=BASE, external="operator or absent", widen=(1, 1), amd=True),
}


class Thread:
    def __init__(self, tid, name, now):
        self.tid, self.name, self.now = tid, name, now
        self.open = []  # open regions: (event, is it an operator?)


class Run:
    """The simulated process: a clock per host thread, a queue per GPU stream, and all events so far."""

    def __init__(self, layout, seed, start, pid=4100, device=0):
        self.layout, self.pid, self.device = LAYOUTS[layout], pid, device
        self.random = random.Random(seed)
        self.start = start
        self.events = []  # dicts with ns in "start" and "end"
        self.main = Thread(pid, "python3", start + 40 * US)
        self.thread = self.main
        self.threads = [self.main]
        self.next_id, self.next_correlation, self.next_sequence, self.next_flow = 1, 9000, 1, 1
        self.stream_free = {}  # (device, stream) -> ns
        self.recorded = {}  # CUDA event -> ns at which it fires
        self.allocated = 0
        self.addresses = {}
        self.reserved = 64 << 20
        self.annotations = []  # finished annotations with the GPU work they launched
        self.shapes = self.memory = False

    # -- host

    def jitter(self, ns):
        return int(ns * self.random.uniform(0.8, 1.3))

    def work(self, us):
        self.thread.now += self.jitter(us * US)

    @contextlib.contextmanager
    def on(self, thread):
        """Run the body on another thread, the caller's thread waiting for it."""
        caller, self.thread = self.thread, thread
        if thread not in self.threads:
            self.threads.append(thread)
        thread.now = max(thread.now, caller.now + 5 * US)
        yield
        self.thread = caller
        caller.now = max(caller.now, thread.now + 5 * US)

    @contextlib.contextmanager
    def region(self, name, category, args, before=1.5, after=1.0):
        event = {"ph": "X", "cat": category, "name": name, "pid": self.pid, "tid": self.thread.tid,
                 "start": self.thread.now, "args": {"External id": self.next_id, **args}, "gpu": []}
        self.next_id += 1
        self.thread.open.append(event)
        self.work(before)
        yield event
        self.work(after)
        event["end"] = self.thread.now
        self.thread.open.pop()
        self.thread.now += 200  # nothing starts where its sibling ended
        self.events.append(event)

    def op(self, name, shapes=None, concrete=None, sequence=None, forward_thread=0, **args):
        if self.shapes and shapes is not None:
            args["Input Dims"] = shapes
            args["Input type"] = ["float" if s else "Scalar" for s in shapes]
            if concrete:
                args["Concrete Inputs"] = concrete
        if sequence is not None:
            args["Sequence number"], args["Fwd thread id"] = sequence, forward_thread
        return self.region(name, "cpu_op", args)

    @contextlib.contextmanager
    def annotation(self, name):
        with self.region(name, "user_annotation", {}) as event:
            yield event
        self.annotations.append(event)

    # -- GPU

    def current_operator(self):
        for event in reversed(self.thread.open):
            if event["cat"] == "cpu_op":
                return event["args"]["External id"]
        return 0

    def call(self, name, us, cbid, category="cuda_runtime", **args):
        """A runtime or driver call; its correlation links GPU work to it."""
        correlation = self.next_correlation
        self.next_correlation += self.random.randint(1, 3)
        event = {"ph": "X", "cat": category, "name": name, "pid": self.pid, "tid": self.thread.tid, "start": self.thread.now,
                 "operator": self.current_operator(), "correlation": correlation, "args": {"cbid": cbid, **args}}
        self.work(us)
        event["end"] = self.thread.now
        self.thread.now += 300
        self.events.append(event)
        return event

    def gpu(self, call, category, name, us, stream, device=None, after=0, **args):
        """GPU work that CALL launched: it begins when the stream is free, and AFTER at the earliest."""
        device = self.device if device is None else device
        queue = (device, stream)
        begin = max(call["end"] + self.jitter(3500), self.stream_free.get(queue, 0) + self.random.randint(1300, 1900), after)
        event = {"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "start": begin,
                 "end": begin + max(1100, self.jitter(us * US)), "operator": call["operator"], "correlation": call["correlation"],
                 "args": dict(args)}
        self.stream_free[queue] = event["end"]
        self.events.append(event)
        for region in self.thread.open:
            if region["cat"] == "user_annotation":
                region["gpu"].append(event)
        return event

    def kernel(self, name, us, grid=64, block=256, stream=None, registers=32, shared=0, device=None, launch=None, **args):
        stream = (0 if self.layout.amd else 7) if stream is None else stream
        if launch is None:
            launch = self.call(*(("hipLaunchKernel", 4.5, 211) if self.layout.amd else ("cudaLaunchKernel", 5, 211)))
        return self.gpu(launch, "kernel", name, us, stream, device, **self.kernel_args(grid, block, registers, shared), **args)

    def kernel_args(self, grid, block, registers, shared):
        if self.layout.amd:
            return {"kind": "Dispatch Kernel", "grid": [grid, 1, 1], "block": [block, 1, 1]}
        per_sm = round(grid / 108, 6)
        return {"queued": 0, "registers per thread": registers, "shared memory": shared, "blocks per SM": per_sm,
                "warps per SM": round(per_sm * block / 32, 6), "grid": [grid, 1, 1], "block": [block, 1, 1],
                "est. achieved occupancy %": min(100, int(per_sm * block / 20.48))}

    def triton(self, name, us):
        self.kernel(name, us, launch=self.call("cuLaunchKernelEx", 4, 652, "cuda_driver"), shared=2048)

    COPIES = {"HtoD pinned": ("Memcpy HtoD (Pinned -> Device)", 24.0), "HtoD": ("Memcpy HtoD (Pageable -> Device)", 6.0),
              "DtoH": ("Memcpy DtoH (Device -> Pageable)", 5.0), "DtoH pinned": ("Memcpy DtoH (Device -> Pinned)", 22.0),
              "DtoD": ("Memcpy DtoD (Device -> Device)", 600.0), "PtoP": ("Memcpy PtoP (Device -> Device)", 60.0)}

    def copy(self, kind, size, stream=None, wait=False, after=0):
        name, rate = self.COPIES[kind]  # GB/s
        if self.layout.amd:
            stream, name = 0, f"Memcpy {kind[:4]} (Host -> Device)" if kind[0] == "H" else "Memcpy DtoH (Device -> Host)"
            call = self.call("hipMemcpyWithStream", 30, 153, stream="0x0", size=str(size), kind="1")
            work = self.gpu(call, "gpu_memcpy", name, 2 + size / rate / 1000, stream, kind=kind[:4])
        else:
            call = self.call("cudaMemcpyAsync", 7 if "pinned" in kind else 14, 41)
            work = self.gpu(call, "gpu_memcpy", name, 1.2 + size / rate / 1000, 7 if stream is None else stream, after=after, bytes=size)
            work["args"]["memory bandwidth (GB/s)"] = size / (work["end"] - work["start"])
        if wait:
            self.synchronize(work["tid"])
        return work

    def memset(self, size, stream=7):
        work = self.gpu(self.call("cudaMemsetAsync", 4, 51), "gpu_memset", "Memset (Device)", 1.3, stream, bytes=size)
        work["args"]["memory bandwidth (GB/s)"] = size / (work["end"] - work["start"])

    def synchronize(self, stream=None):
        """Block the host until STREAM (None: the whole device) has run dry."""
        until = max((t for (d, s), t in self.stream_free.items() if stream in (None, s)), default=0)
        amd = self.layout.amd
        name, cbid = (("hip" if amd else "cuda") + ("DeviceSynchronize" if stream is None else "StreamSynchronize"), 165 if stream is None else 131)
        call = self.call(name, 2, cbid)
        call["end"] = self.thread.now = max(call["end"], until + self.jitter(2 * US))
        self.thread.now += 300
        if not amd:
            kind, shown = ("Context Sync", -1) if stream is None else ("Stream Sync", stream)
            self.sync_record(call, kind, shown, max(call["start"], until - 4 * US), max(until, call["start"] + 900))

    def sync_record(self, call, kind, stream, begin, end, **args):
        self.events.append({"ph": "X", "cat": "cuda_sync", "name": kind, "pid": self.device, "tid": stream, "start": begin, "end": end,
                            "operator": call["operator"], "correlation": call["correlation"],
                            "args": {"cuda_sync_kind": kind, **args, "stream": stream}})

    def record_event(self, name, stream):
        self.recorded[name] = (self.stream_free.get((self.device, stream), 0), self.call("cudaEventRecord", 1.5, 135)["correlation"], stream)

    def wait_event(self, name, stream):
        fires, correlation, other = self.recorded[name]
        call = self.call("cudaStreamWaitEvent", 1.8, 147)
        begin = max(call["end"], self.stream_free.get((self.device, stream), 0) + 1300)
        self.stream_free[(self.device, stream)] = max(begin, fires)
        self.sync_record(call, "Stream Wait Event", stream, begin, begin + 1000, wait_on_stream=other,
                         wait_on_cuda_event_record_corr_id=correlation, wait_on_cuda_event_id=len(self.recorded))

    # -- memory

    def allocate(self, size, name, device_type=1):
        if self.memory:
            self.addresses[name] = (0x7F00_0000_0000 + self.random.randrange(1 << 30) * 512, size, device_type)
            self._memory(*self.addresses[name])

    def free(self, name):
        if self.memory and name in self.addresses:
            address, size, device_type = self.addresses.pop(name)
            self._memory(address, -size, device_type)

    def _memory(self, address, size, device_type):
        on_device = device_type != 0
        self.allocated += size if on_device else 0
        self.reserved = max(self.reserved, (self.allocated + (2 << 20)) >> 21 << 21)
        event = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": self.pid, "tid": self.thread.tid,
                 "start": self.thread.now,
                 "args": {"Total Reserved": self.reserved if on_device else 0, "Total Allocated": self.allocated if on_device else 0,
                          "Bytes": size, "Addr": address, "Device Id": self.device if on_device else -1, "Device Type": device_type}}
        if not self.layout.memory_category:
            del event["cat"]
        self.thread.now += 150
        self.events.append(event)

    def forward_backward(self, forward, backward):
        """The arrow between an operator and its backward operator."""
        for phase, event in (("s", forward), ("f", backward)):
            arrow = {"ph": phase, "id": self.next_flow, "pid": event["pid"], "tid": event["tid"], "start": event["start"],
                     "cat": "fwdbwd", "name": "fwdbwd"}
            if phase == "f":
                arrow["bp"] = "e"
            self.events.append(arrow)
        self.next_flow += 1

    # -- writing

    def time(self, ns):
        ns -= self.layout.base
        return str(ns // US) if self.layout.whole_us else "%d.%03d" % divmod(ns, US)

    def external_id(self, event):
        if self.layout.external == "correlation":
            return event["correlation"]
        if event["operator"]:
            return event["operator"]
        return event["correlation"] if self.layout.external == "operator or correlation" else None

    def gpu_annotations(self):
        for region in self.annotations:
            spans = {}
            for work in region["gpu"]:
                if work["cat"] != "cuda_sync":
                    low, high = spans.get((work["pid"], work["tid"]), (work["start"], work["end"]))
                    spans[work["pid"], work["tid"]] = (min(low, work["start"]), max(high, work["end"]))
            for (device, stream), (low, high) in sorted(spans.items()):
                early, late = self.layout.widen
                yield {"ph": "X", "cat": "gpu_user_annotation", "name": region["name"], "pid": device, "tid": stream,
                       "start": low - early, "end": high + late, "args": {"External id": region["args"]["External id"]}}

    def arrows(self):
        launched = {}
        for e in self.events:
            if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"):
                launched.setdefault(e["correlation"], []).append(e)
        for e in self.events:
            if e.get("cat") in ("cuda_runtime", "cuda_driver"):
                work = launched.get(e["correlation"], [])
                yield self.arrow("s" if work else "f", e)  # a call that launched nothing ends an arrow that never began
                for w in work:
                    yield self.arrow("f", w)

    def arrow(self, phase, event):
        name = "ac2g" if self.layout.flow == "ac2g" else "async_gpu"
        arrow = {"ph": phase, "id": event["correlation"], "pid": event["pid"], "tid": event["tid"], "start": event["start"],
                 "cat": self.layout.flow, "name": name}
        if phase == "f" or name == "async_gpu":
            arrow["bp"] = "e"
        return arrow

    def metadata(self, devices):
        def about(what, pid, tid, **args):
            return {"name": what, "ph": "M", "start": self.start, "pid": pid, "tid": tid, "args": args}

        yield about("process_name", self.pid, 0, name="python3")
        yield about("process_labels", self.pid, 0, labels="CPU")
        yield about("process_sort_index", self.pid, 0, sort_index=self.pid)
        for device in range(len(devices)):
            yield about("process_name", device, 0, name="python3")
            yield about("process_labels", device, 0, labels=f"GPU {device}")
            yield about("process_sort_index", device, 0, sort_index=5000000 + device)
        for device, stream in sorted(self.stream_free):
            yield about("thread_name", device, stream, name=f"stream {stream} ")
            yield about("thread_sort_index", device, stream, sort_index=stream)
        for thread in self.threads:
            yield about("thread_name", self.pid, thread.tid, name=f"thread {thread.tid} ({thread.name})")
            yield about("thread_sort_index", self.pid, thread.tid, sort_index=thread.tid)

    def text(self, top, devices, end):
        """The file: operators and annotations as the profiler flushed them, then activities, then the rest."""
        host = [e for e in self.events if e.get("cat") in ("cpu_op", "user_annotation", "fwdbwd", "cpu_instant_event", None)]
        host.sort(key=lambda e: (e["tid"] == self.pid, e["start"]))  # other threads first, as Kineto has it
        activities = [e for e in self.events if "correlation" in e]
        if self.layout.external != "correlation":
            activities += self.gpu_annotations()  # there were none in 2022
        activities += self.arrows()
        overheads = [e for e in self.events if e.get("cat") == "overhead"]
        span = [{"ph": "X", "cat": "Trace", "start": self.start, "end": end, "pid": "Spans", "tid": "PyTorch Profiler",
                 "name": "PyTorch Profiler (0)", "args": {"Op count": 0}},
                {"name": "process_sort_index", "ph": "M", "start": self.start, "pid": "Spans", "tid": 0, "args": {"sort_index": 536870912}},
                {"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces", "tid": "Trace PyTorch Profiler",
                 "start": self.start},
                {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "start": end + 3 * MS}]
        lines = [self.line(i, e) for i, e in enumerate(host + overheads + activities + list(self.metadata(devices)) + span)]
        head = ",\n".join(f'  "{k}": {json.dumps(v)}' for k, v in top.items())
        tail = ""
        if self.layout.base:
            tail = ',\n  "traceName": "trace.json",\n  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": %d' % self.layout.base
        return '{\n  "schemaVersion": 1,\n  "deviceProperties": %s,\n%s,\n  "traceEvents": [\n%s\n  ]%s\n}\n' % (
            json.dumps(devices), head, ",\n".join(lines), tail)

    def line(self, index, event):
        shown = {k: v for k, v in event.items() if k not in ("start", "end", "args", "gpu", "operator", "correlation")}
        parts = [f'"{k}": {json.dumps(v)}' for k, v in shown.items()]
        parts.append('"ts": ' + self.time(event["start"]))
        if "end" in event:
            if self.layout.whole_us:
                parts.append('"dur": %d' % (event["end"] // US - event["start"] // US))
            else:
                parts.append('"dur": %d.%03d' % divmod(event["end"] - event["start"], US))
        args = dict(event.get("args", {}))
        if "correlation" in event and event["ph"] == "X":
            own = {}
            if self.external_id(event) is not None:
                own["External id"] = self.external_id(event)
            if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                own.update({"device": event["pid"], "stream": event["tid"]})
                if not self.layout.amd:
                    own["context"] = 1
            elif event["cat"] == "cuda_sync":
                own.update({"device": event["pid"], "context": 1})
            own["correlation"] = event["correlation"]
            args = {**own, **args}
        if event.get("cat") in ("cpu_op", "user_annotation", "cpu_instant_event"):
            args["Ev Idx"] = index
        if args:
            parts.append('"args": ' + json.dumps(args))
        return "    { " + ", ".join(parts) + " }"


# ---- what is run ---------------------------------------------------------------------------------

GEMM = "ampere_sgemm_128x64_nn"
ELEMENTWISE = ("void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, at::native::"
               "binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, at::native::BinaryFunctor<float, float, float, "
               "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul>)")
RELU = ("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
        "c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::"
        "{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
        "c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::"
        "{lambda(float)#1}, std::array<char*, 2ul>)")
REDUCE = ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, "
          "float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(at::native::ReduceOp<float, "
          "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, "
          "float)#1}>, unsigned int, float, 4>)")
MULTI_TENSOR = ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<2>, "
                "at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(at::native::(anonymous "
                "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float)")


def linear(run, layer, n, width_in, width_out, gemm=GEMM):
    """Forward of a linear layer with ReLU. Returns what its backward needs."""
    sequence = run.next_sequence
    run.next_sequence += 2
    with run.op("aten::linear", [[n, width_in], [width_out, width_in], [width_out]]) as forward:
        with run.op("aten::addmm", [[width_out], [n, width_in], [width_in, width_out], [], []], sequence=sequence) as forward:
            run.allocate(n * width_out * 4, f"activation {layer}")
            run.kernel(gemm, 18 + width_out / 64, grid=max(1, n * width_out // 8192), block=128, registers=122, shared=12544)
    with run.op("aten::relu", [[n, width_out]], sequence=sequence + 1):
        with run.op("aten::clamp_min", [[n, width_out], []]):
            run.kernel(RELU, 4, grid=max(1, n * width_out // 1024), block=128)
    return forward, sequence, layer, n, width_in, width_out


def linear_backward(run, saved, gemm=GEMM, bucket_ready=None):
    forward, sequence, layer, n, width_in, width_out = saved
    with run.op("autograd::engine::evaluate_function: ReluBackward0", sequence=sequence + 1, forward_thread=1):
        with run.op("ReluBackward0", sequence=sequence + 1, forward_thread=1):
            with run.op("aten::threshold_backward", [[n, width_out], [n, width_out], []]):
                run.kernel(ELEMENTWISE, 4, grid=max(1, n * width_out // 1024), block=128)
    with run.op("autograd::engine::evaluate_function: AddmmBackward0", sequence=sequence, forward_thread=1) as backward:
        run.forward_backward(forward, backward)
        with run.op("AddmmBackward0", sequence=sequence, forward_thread=1):
            with run.op("aten::mm", [[n, width_out], [width_out, width_in]]):
                run.kernel(gemm.replace("_nn", "_nt"), 17, grid=96, block=128, registers=122, shared=12544)
            with run.op("aten::mm", [[width_out, n], [n, width_in]]):
                run.allocate(width_in * width_out * 4, f"gradient {layer}")
                run.kernel(gemm.replace("_nn", "_tn"), 21, grid=96, block=128, registers=122, shared=12544)
        with run.op("aten::sum", [[n, width_out], [], [], []]):
            run.kernel(REDUCE, 5, grid=width_out // 32, block=512)
    run.free(f"activation {layer}")
    with run.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"):
        with run.op("torch::autograd::AccumulateGrad"):
            with run.op("aten::detach"):
                with run.op("detach"):
                    pass
        if bucket_ready:
            bucket_ready(layer)


def all_reduce(run, elements, world, group="0", name="ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", stream=40, us=60):
    facts = {"Collective name": "allreduce", "In msg nelems": elements, "Out msg nelems": elements, "Group size": world, "dtype": "Float",
             "In split size": "[]", "Out split size": "[]", "Process Group Name": group, "Process Group Description": "default_pg",
             "Process Group Ranks": str(list(range(world)))}
    with run.op("c10d::allreduce_", [[[elements]], [], [], [], [], []]):
        with run.op("record_param_comms", [[[elements]], [], [], [], [], [], [], [], []], **{"Rank": run.device, **facts}):
            run.record_event("gradients ready", 7)
            run.wait_event("gradients ready", stream)
            with run.annotation("nccl:all_reduce"):
                run.kernel(name, us, grid=8, block=544, registers=96, shared=87568, stream=stream, launch=run.call("cudaLaunchKernelExC", 6, 430), **facts)


def optimizer_step(run, name="SGD", tensors=2, us=6):
    with run.annotation(f"Optimizer.step#{name}.step"):
        with run.op("aten::_foreach_add_", [[[256, 256]] * tensors, [[256, 256]] * tensors, []]):
            run.kernel(MULTI_TENSOR, us, grid=32, block=512)
    with run.annotation(f"Optimizer.zero_grad#{name}.zero_grad"):
        with run.op("aten::zero_", [[256, 256]]):
            with run.op("aten::fill_", [[256, 256], []]):
                run.memset(1 << 18) if not run.layout.amd else run.kernel("__amd_rocclr_fillBufferAligned", 3)


def item(run):
    with run.op("aten::item", [[]]):
        with run.op("aten::_local_scalar_dense", [[]]):
            run.copy("DtoH", 4, wait=True)


def backward_thread(run):
    return Thread(run.pid + 37, "pt_autograd_0", run.main.now)


def started_before(run, names, stream=7):
    """GPU work that was launched before recording began: it has a correlation but no call in the file."""
    at = run.start + 3 * US
    for correlation, (name, us) in enumerate(names, 8000):
        end = at + us * US
        run.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": run.device, "tid": stream, "start": at, "end": end, "operator": 0,
                           "correlation": correlation, "args": run.kernel_args(64, 256, 32, 0)})
        at = end + 1500
    run.stream_free[(run.device, stream)] = at


def device(name, number, memory, major, minor, sms, shared=167936, warp=32):
    return {"id": number, "name": name, "totalGlobalMem": memory, "computeMajor": major, "computeMinor": minor, "maxThreadsPerBlock": 1024,
            "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": warp, "sharedMemPerBlock": 49152, "numSms": sms,
            "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": shared}


def v100_2022():
    """CNN-like training with copies on a stream of their own; whole microseconds; ids that link nothing."""
    run = Run("2022", 1, 1_661_000_000_000_000_000)
    run.memory = True
    started_before(run, [(GEMM.replace("ampere", "volta"), 40), (RELU, 9), (MULTI_TENSOR, 12)])
    backward = backward_thread(run)
    gemm = "volta_sgemm_128x64_nn"
    for step in range(4):
        with run.annotation(f"ProfilerStep#{step + 5}"):
            with run.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                run.work(120)
            with run.op("aten::to"), run.op("aten::_to_copy"), run.op("aten::copy_"):
                run.allocate(1 << 20, f"batch {step}")
                run.copy("HtoD pinned", 1 << 20, stream=20)
                run.record_event("batch", 20)
            with run.op("aten::to"), run.op("aten::_to_copy"), run.op("aten::copy_"):
                run.copy("HtoD", 2048, wait=True)
            run.wait_event("batch", 7)
            with run.op("aten::conv2d"), run.op("aten::convolution"), run.op("aten::_convolution"), run.op("aten::cudnn_convolution"):
                run.call("cudaStreamIsCapturing", 0.4, 317)
                run.kernel("void cudnn::winograd::generateWinogradTilesKernel<0, float, float>(cudnn::winograd::GenerateWinogradTilesParams<float, float>)", 6)
                run.kernel("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", 70, grid=160, block=256, registers=126, shared=49152)
            saved = [linear(run, n, 64, 512, 512, gemm) for n in range(2)]
            with run.on(backward):
                for layer in reversed(saved):
                    linear_backward(run, layer, gemm)
                for n in range(2):
                    run.free(f"gradient {n}")
            optimizer_step(run)
            run.free(f"batch {step}")
            if step % 2:
                item(run)
    end = run.main.now + 20 * US
    run.synchronize()
    run.call("cudaLaunchKernel", 5, 211)  # its kernel comes after recording ended
    top = {"distributedInfo": {"rank": 0}}
    return run.text(top, [device("Tesla V100-SXM2-16GB", 0, 16945512448, 7, 0, 80, 98304)], max(end, run.main.now + 5 * US))


def a100_2024(rank):
    """One of two ranks of distributed training; rank 1 is slower, so that rank 0 waits inside NCCL."""
    run = Run("2024", 10 + rank, LATER + 3_000 * MS, pid=5200 + 100 * rank, device=rank)
    run.shapes = run.memory = True
    backward = backward_thread(run)
    for step in range(4):
        with run.annotation(f"ProfilerStep#{step + 2}"):
            with run.annotation("DistributedDataParallel.forward"):
                with run.op("aten::to", [[64, 256], [], [], [], []]), run.op("aten::_to_copy", [[64, 256]]), run.op("aten::copy_", [[64, 256], [64, 256], []]):
                    run.allocate(1 << 16, f"batch {step}")
                    run.copy("HtoD pinned" if step else "HtoD", 1 << 16, wait=not step)
                saved = [linear(run, n, 64, 256, 256) for n in range(3)]
            if rank:
                run.work(180)
            with run.on(backward):
                for saved_layer in reversed(saved):
                    linear_backward(run, saved_layer, bucket_ready=lambda layer: all_reduce(run, 65792, 2, us=140 if rank == 0 else 55) if layer != 1 else None)
            run.record_event("reduced", 40)
            run.wait_event("reduced", 7)
            optimizer_step(run, tensors=6)
            for n in range(3):
                run.free(f"gradient {n}")
            run.free(f"batch {step}")
    with run.on(Thread(run.pid + 90, "pt_nccl_watchdg", run.main.now - 200 * US)):
        for _ in range(3):
            run.call("cudaEventQuery", 1, 136)
    run.synchronize()
    top = {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2, "pg_count": 1, "nccl_version": "2.19.3",
                               "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 2, "ranks": [0, 1]}]},
           "record_shapes": 1, "profile_memory": 1, "with_flops": 1}
    return run.text(top, [device("NVIDIA A100-SXM4-40GB", n, 42297524224, 8, 0, 108) for n in range(2)], run.main.now + 30 * US)


def h100_2025():
    """Compiled training: Triton, a CUDA graph, a second device fed by peer copies, waits of the host, overhead records."""
    run = Run("2025", 21, LATER + 9_000 * MS, pid=7300)
    run.shapes = run.memory = True
    started_before(run, [("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", 55), (RELU, 4)])
    backward = backward_thread(run)
    gemm = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
    run.events.append({"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "start": run.start + 60 * US, "end": run.start + 410 * US})
    for step in range(4):
        with run.annotation(f"ProfilerStep#{step + 10}"):
            with run.op("aten::to", [[32, 128]]), run.op("aten::_to_copy", [[32, 128]]), run.op("aten::copy_", [[32, 128], [32, 128], []]):
                run.copy("HtoD pinned", 16384)
            with run.op("Torch-Compiled Region: 0/0", [[32, 128]]), run.annotation("## Call CompiledFxGraph f7xq2 ##"):
                with run.op("triton_poi_fused_add_mul_0", [[32, 128]]):
                    run.triton("triton_poi_fused_add_mul_0", 3)
                with run.op("aten::addmm", [[128], [32, 128], [128, 128], [], []]):
                    run.allocate(1 << 14, f"compiled {step}")
                    run.kernel("nvjet_hsh_64x64_64x13_4x1_v_bz_TNT", 9, grid=132, block=384, registers=168, shared=213248)
                run.triton("triton_per_fused_native_layer_norm_1", 5)  # launched from no operator of its own
            saved = [linear(run, n, 32, 128, 128, gemm) for n in range(2)]
            with run.on(backward):
                for layer in reversed(saved):
                    linear_backward(run, layer, gemm)
            with run.annotation("replay"):
                call = run.call("cudaGraphLaunch", 22, 311)
                for node in range(40):
                    run.kernel(GEMM if node % 4 == 0 else ELEMENTWISE, 2.5, launch=call, grid=32, **{"graph id": 6, "graph node id": 100 + node})
            with run.op("aten::copy_", [[1 << 18], [1 << 18], []]):
                peer = run.copy("PtoP", 1 << 20)
            with run.annotation("second device"), run.op("aten::mul", [[1 << 18], [1 << 18]]):
                call = run.call("cudaLaunchKernel", 5, 211)
                run.gpu(call, "kernel", ELEMENTWISE, 6, 7, device=1, after=peer["end"], **run.kernel_args(256, 256, 24, 0))
            optimizer_step(run, "AdamW", 4, 9)
            for n in range(2):
                run.free(f"gradient {n}")
            run.free(f"compiled {step}")
            if step == 2:
                with run.op("aten::empty", [[], [], [], [], [], []]):
                    run.call("cudaMalloc", 180, 20)
                run.events.append({"ph": "X", "cat": "overhead", "name": "Lazy Function Loading", "pid": -1, "tid": 0,
                                   "start": run.main.now + 5 * US, "end": run.main.now + 90 * US})
                run.work(100)
            item(run)
    run.synchronize()
    top = {"cupti_version": 26, "cuda_runtime_version": 12080, "cuda_driver_version": 12090, "record_shapes": 1, "profile_memory": 1,
           "with_flops": 1, "trace_id": "0123456789ABCDEF0123456789ABCDEF"}
    return run.text(top, [device("NVIDIA H100 80GB HBM3", n, 85_045_280_768, 9, 0, 132, 233472) for n in range(2)], run.main.now + 50 * US)


def mi300_2025():
    """AMD: hip calls, stream 0, copies without sizes, a hip graph."""
    run = Run("amd", 31, LATER + 20_000 * MS, pid=8400)
    run.shapes = True
    backward = backward_thread(run)
    gemm = "Cijk_Ailk_Bljk_SB_MT64x64x16_nn"
    for step in range(4):
        with run.annotation(f"ProfilerStep#{step + 1}"):
            with run.op("aten::to", [[32, 128]]), run.op("aten::_to_copy", [[32, 128]]), run.op("aten::copy_", [[32, 128], [32, 128], []]):
                run.copy("HtoD", 16384, wait=True)
            saved = [linear(run, n, 32, 128, 128, gemm) for n in range(2)]
            with run.on(backward):
                for layer in reversed(saved):
                    linear_backward(run, layer, gemm)
            call = run.call("hipGraphLaunch", 18, 400)
            for _ in range(12):
                run.kernel("void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*, c10::BFloat16 const*, float, int, int)", 3, launch=call)
            optimizer_step(run)
    run.synchronize()
    top = {"roctracer_version": 4.1, "hip_runtime_version": 60443483, "hip_driver_version": 60443483, "record_shapes": 1, "with_flops": 1}
    return run.text(top, [device("AMD Instinct MI300X", 0, 206_141_652_992, 9, 4, 304, 65536, 64)], run.main.now + 40 * US)


SAMPLES = {"v100_2022": v100_2022, "a100_2024_rank0": lambda: a100_2024(0), "a100_2024_rank1": lambda: a100_2024(1), "h100_2025": h100_2025, "mi300_2025": mi300_2025}


def write_expected(document, path):
    by_name, by_shape = reference_top.key_averages(document), reference_top.key_averages(document, by_shape=True)
    with open(path, "w") as out:
        out.write('{"source": "tests/tools/reference_top.py",\n"columns": %s,\n' % json.dumps(reference_top.COLUMNS))
        out.write('"footer": %s,\n"groups": {' % json.dumps(reference_top.footers(by_name)))
        out.write(",".join('\n"%s": [\n%s\n]' % (group, ",\n".join(json.dumps(r) for r in rows))
                           for group, rows in (("key", by_name), ("input_shape", by_shape))))
        out.write("}}\n")


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(SAMPLES)
    for name in names:
        path = os.path.join(folder, name)
        with open(f"{path}.json.gz", "wb") as f:
            f.write(gzip.compress(SAMPLES[name]().encode(), 9, mtime=0))
        write_expected(reference_top.load(f"{path}.json.gz"), f"{path}.expected.json")


if __name__ == "__main__":
    main()
