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
rocprof_csv/        rocprofv3: process 12 with 3 kernels (1000, 2000, 2000 ns) on agents 4 and 8, of names with commas and
                    quotes, a copy of 500 ns, calls, a range, memory, two counters of two dispatches; process 13 with the
                    columns of another version; statistics, which are no trace
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


def rocprof_csv():
    import csv
    folder = os.path.join(HERE, "rocprof_csv")
    os.makedirs(folder, exist_ok=True)

    def table(name, columns, *rows):
        with open(os.path.join(folder, name), "w", newline="") as out:
            writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
            writer.writerow(columns.split())
            writer.writerows(rows)

    gemm = 'gemm<"f16", 128>(float*, int)'
    table("12_agent_info.csv", "Node_Id Logical_Node_Id Agent_Type Cu_Count Product_Name", (0, 0, "CPU", 0, "EPYC"),
          (4, 1, "GPU", 304, "AMD Instinct MI300X"), (8, 2, "GPU", 304, "AMD Instinct MI300X"))
    table("12_kernel_trace.csv", "Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id Start_Timestamp "
          "End_Timestamp LDS_Block_Size VGPR_Count Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z",
          ("KERNEL_DISPATCH", "Agent 4", 1, 5, 12, 1, 7, "add", 1, 10000, 11000, 0, 16, 256, 1, 1, 1000, 1, 1),
          ("KERNEL_DISPATCH", "Agent 4", 1, 5, 12, 2, 8, gemm, 2, 12000, 14000, 1024, 128, 64, 4, 1, 512, 8, 1),
          ("KERNEL_DISPATCH", "Agent 8", 1, 6, 12, 3, 8, gemm, 3, 12500, 14500, 1024, 128, 64, 4, 1, 512, 8, 1))
    table("12_memory_copy_trace.csv", "Kind Direction Stream_Id Source_Agent_Id Destination_Agent_Id Correlation_Id Start_Timestamp End_Timestamp",
          ("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", 5, "Agent 0", "Agent 4", 4, 9000, 9500))
    calls = [("HIP_RUNTIME_API", "hipLaunchKernel", 12, 12, n, 7000 + 100 * n, 7050 + 100 * n) for n in (1, 2, 3)]
    columns = "Domain Function Process_Id Thread_Id Correlation_Id Start_Timestamp End_Timestamp"
    table("12_hip_api_trace.csv", columns, *calls, ("HIP_RUNTIME_API", "hipMemcpyAsync", 12, 12, 4, 6000, 6200))
    table("12_marker_api_trace.csv", columns, ("MARKER_CORE_RANGE_API", "forward", 12, 12, 9, 5900, 8000))
    table("12_memory_allocation_trace.csv", "Kind Operation Agent_Id Allocation_Size Address Correlation_Id Start_Timestamp End_Timestamp",
          ("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE", "Agent 4", 4096, "0x1000", 20, 5000, 5100),
          ("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_FREE", "", 0, "0x1000", 21, 15000, 15100))
    table("12_counter_collection.csv", "Correlation_Id Dispatch_Id Agent_Id Queue_Id Process_Id Thread_Id Grid_Size Kernel_Id Kernel_Name "
          "Counter_Name Counter_Value Start_Timestamp End_Timestamp",
          *[(n, n, "Agent 4", 1, 12, 12, 512, 7, "add", counter, value * n, 10000 + 2000 * n, 11000 + 2000 * n)
            for n in (1, 2) for counter, value in (("SQ_WAVES", 8.0), ("GRBM_COUNT", 100.5))])
    table("12_kernel_stats.csv", "Name Calls TotalDurationNs AverageNs Percentage MinNs MaxNs StdDev", ("add", 1, 1000, 1000.0, 20.0, 1000, 1000, 0.0))
    table("13_kernel_trace.csv", "Guid Kind Agent_Id Queue_Id Dispatch_Id Kernel_Name Correlation_Id Start_Timestamp End_Timestamp",
          ("00-11", "KERNEL_DISPATCH", 4, 1, 1, "add", 1, 20000, 20700))


rocprof_csv()
unitrace()
rocprof()
onnx()
proton()
hatchet()
