#!/usr/bin/env python3
"""Make the samples of other devices in this folder: python3 samples/other/make_devices.py

Nothing was recorded: events are invented, and have the keys that each profiler gives them. Times are microseconds.

unitrace.json       2 kernels of one name in two shapes (40, 60), a copy of 4096 bytes to the device (20), a barrier (5),
                    a memset of 256 bytes (10); calls zeCommandListAppend* of 8 each; an ITT range around all
rocprof_v2.json     GPU1: 2 kernels of 50.5 (by ns), a barrier packet; a copy DtoH of 30; calls of 8; a roctx range
onnxruntime.json    2 runs of a model; node Conv launches a kernel of 150 each, and a copy
proton.json         scopes layer0 and layer1; a graph of two kernels of 30 each, of which the first has an arrow
proton_lines.json   the older form: a line a stream
proton.hatchet      a tree: two scopes with a matmul each, on two devices; one branch of the profiler itself
"""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, document, separators=None):
    with open(os.path.join(HERE, name), "w") as out:
        out.write(document if isinstance(document, str) else json.dumps(document, indent=0).replace("\n", " ").replace("}, {", "},\n{"))
        out.write("\n")


def name_of(pid, name, tid=None, what="process_name"):
    return {"ph": "M", "name": what, "pid": pid, "tid": tid or 0, "args": {"name": name}}


def unitrace():
    host, device, queue, copies = 900, 4294967295, 4294967290, 4294967289
    events = [name_of(device, "RANK 3 DEVICE<node7>[Intel(R) Data Center GPU Max 1550] 0:18:0:0 #1"),
              name_of(device, "Thread 900 L0 Compute Engine<0,0>", queue, "thread_name"),
              name_of(device, "Thread 900 L0 Copy Engine<1,0>", copies, "thread_name"),
              name_of(host, "RANK 3 HOST<node7>")]
    work = [("zeCommandListAppendMemoryCopy", "zeCommandListAppendMemoryCopy(MD)[4096]", copies, 20),
            ("zeCommandListAppendLaunchKernel", "gemm_kernel[SIMD32 {98; 1; 1} {512; 1; 1}]", queue, 40),
            ("zeCommandListAppendLaunchKernel", "gemm_kernel[SIMD32 {196; 2; 1} {256; 1; 1}]", queue, 60),
            ("zeCommandListAppendBarrier", "zeCommandListAppendBarrier", queue, 5),
            ("zeCommandListAppendMemoryFill", "zeCommandListAppendMemoryFill(D)[256]", queue, 10)]
    events.append({"ph": "X", "pid": host, "tid": 900, "name": "train", "cat": "cpu_op", "ts": 1000, "dur": 600})
    for number, (call, name, tid, took) in enumerate(work):
        at, key = 1000 + 100 * number, 70 + number
        events.append({"ph": "X", "pid": host, "tid": 900, "name": call, "cat": "cpu_op", "ts": at, "dur": 8, "args": {"id": str(key)}})
        events.append({"ph": "s", "pid": host, "tid": 900, "name": "dep", "cat": f"Flow_H2D_{key}_3", "ts": at, "id": key})
        events.append({"ph": "X", "pid": device, "tid": tid, "name": name, "cat": "gpu_op", "ts": at + 20, "dur": took, "args": {"id": str(key)}})
        events.append({"ph": "t", "pid": device, "tid": tid, "name": "dep", "cat": f"Flow_H2D_{key}_3", "ts": at + 20, "id": key})
    write("unitrace.json", "{ \"traceEvents\":[\n" + ",\n".join(map(json.dumps, events)))  # the program was stopped: not closed


def rocprof():
    def span(process, tid, name, ts, dur, begin=None, **args):
        if begin is not None:
            args |= {"BeginNs": str(begin), "EndNs": str(begin + round(dur * 1000))}
        return {"ph": "X", "pid": process, "tid": tid, "name": name, "ts": str(ts), "dur": str(max(1, int(dur))), "args": args}

    base = 5000000  # ns: BeginNs less 1000 ts
    events = [{}] + [name_of(pid, name) for pid, name in ((0, "Markers and Ranges"), (1, "COPY"), (2, "CPU HIP API"),
                                                          (7, "GPU1"), (519, "GPU Barriers1"))]
    events.append(span(0, 900, "epoch", 90, 700, base + 90000, pid="900"))
    for number in range(2):
        at = 100 + 200 * number
        events.append(span(2, 900, "hipLaunchKernel", at, 8, base + at * 1000, pid="900"))
        events.append(span(7, 2, "axpy(float*, int)", at + 20, 50.5, base + (at + 20) * 1000 + 250, **{"dev-id": "1"}))
        events += [{"ph": "s", "cat": "DataFlow", "id": number, "pid": 2, "tid": 900, "ts": str(at + 10), "name": "dep"},
                   {"ph": "t", "cat": "DataFlow", "id": number, "pid": 7, "tid": 2, "ts": str(at + 20), "name": "dep"}]
    events.append(span(519, 2, "<barrier packet>", 380, 2))
    events.append(span(2, 900, "hipMemcpy", 500, 60, base + 500000, pid="900"))
    events.append(span(1, 0, "CopyDeviceToHost", 520, 30, base + 520000, **{"dev-id": "1", "queue-id": "0"}))
    write("rocprof_v2.json", "{ \"traceEvents\":[" + ",\n".join(map(json.dumps, events)) + "]}")


def onnx():
    def span(cat, name, ts, dur, **args):
        return {"cat": cat, "pid": 4242, "tid": 4242, "dur": dur, "ts": ts, "ph": "X", "name": name, "args": args}

    shape = {"stream": "7", "grid_x": "2", "grid_y": "1", "grid_z": "1", "block_x": "32", "block_y": "4", "block_z": "1"}
    events = [span("Session", "model_loading_from_saved_file", 3, 500)]
    for at in (1000, 1400, 1800):
        events += [span("Session", "model_run", at, 300), span("Session", "SequentialExecutor::Execute", at + 4, 290),
                   span("Node", "Conv_0_kernel_time", at + 10, 40, op_name="Conv", provider="CUDAExecutionProvider"),
                   span("Kernel", "Memcpy HtoD", at + 30, 10, stream="7", op_name="MemcpyFromHost"),
                   span("Kernel", "conv2d_grouped", at + 60, 150, op_name="Conv", parent_name="Conv_0", **shape)]
    write("onnxruntime.json", "[" + ",\n".join(map(json.dumps, events)) + "]")


def proton():
    events = [name_of(0, "Trace"), name_of(0, "CPU Thread 900", 11, "thread_name"),
              name_of(0, "GPU Stream 7", 1000007, "thread_name"), name_of(0, "Graph: Stream 7", 500007, "thread_name")]
    for number in range(3):
        at, scope = 100.0 * number, f"layer{number % 2}"
        events += [{"ph": "X", "cat": "scope", "name": scope, "pid": 0, "tid": 11, "ts": at, "dur": 50.0,
                    "args": {"call_stack": ["ROOT", scope]}},
                   {"ph": "X", "cat": "scope", "name": "graph", "pid": 0, "tid": 500007, "ts": at + 20, "dur": 70.0},
                   {"ph": "s", "cat": "flow", "name": "launch->kernel", "pid": 0, "tid": 11, "ts": at, "id": number, "bp": "e"},
                   {"ph": "f", "cat": "flow", "name": "launch->kernel", "pid": 0, "tid": 1000007, "ts": at + 20, "id": number, "bp": "e"}]
        for part in range(2):
            events.append({"ph": "X", "cat": "kernel", "name": "matmul_kernel", "pid": 0, "tid": 1000007, "ts": at + 20 + 35 * part,
                           "dur": 30.0, "args": {"call_stack": ["ROOT", scope, "matmul_kernel"], "metrics": {"flops16": 6000000.0, "bytes": 1000.0}}})
    events.append({"ph": "X", "cat": "kernel", "name": "__proton_launch_metadata", "pid": 0, "tid": 1000007, "ts": 400.0, "dur": 1.0})
    write("proton.json", "{\"displayTimeUnit\": \"us\", \"traceEvents\": [" + ",\n".join(map(json.dumps, events)) + "]}")
    lines = [{"displayTimeUnit": "us", "traceEvents": [{"ph": "X", "cat": "kernel", "name": "matmul_kernel", "tid": stream, "ts": at, "dur": 30.0}
                                                       for at in (0.0, 50.0)]} for stream in (7, 13)]
    write("proton_lines.json", "\n".join(map(json.dumps, lines)))


def hatchet():
    def node(name, children=(), **metrics):
        return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}

    def kernel(name, device, count, took, **metrics):
        return node(name, **({"count": count, "time (ns)": took, "device_id": device, "device_type": "CUDA"} | metrics))

    tree = node("ROOT", [
        node("encoder", [kernel("matmul", "0", 4, 120000, flops16=8e9, bytes=4e6), kernel("softmax", "0", 2, 20000)]),
        node("decoder", [kernel("matmul", "0", 2, 60000, flops16=4e9, bytes=2e6), kernel("matmul", "1", 1, 40000)]),
        node("__proton_launch_metadata", [kernel("metadata_kernel", "0", 6, 6000)]),
    ], **{"count": 0, "time (ns)": 0})
    write("proton.hatchet", json.dumps([tree, {"CUDA": {"0": {"arch": "90", "num_sms": 132}, "1": {"arch": "90", "num_sms": 132}}}]))


unitrace()
rocprof()
onnx()
proton()
hatchet()
