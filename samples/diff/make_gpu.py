#!/usr/bin/env python3
"""Write gpu_before.json and gpu_after.json: a training loop of six steps on a GPU, before and after a change.

What differs, so that every part of `tpa diff` has something to say:
- another GPU (an A100 after an H100) and another NCCL;
- the GEMM takes 60 us more in each step, and its template arguments are others; the Triton kernel got another number;
- a copy from the host that no kernel hides, 20 us, in each step of the second;
- the peak of memory is 4 MiB (3 %) higher;
- step 4 of the second side takes 900 us more: one bad step;
- an operator whose name holds all that a terminal, a page or a log could take amiss.
"""
import json
import sys

HOSTILE = "evil\u001b[31m</td>]]>&\"'`|\n::error title=x::y %0A,\u202e@#$"
MIB = 1 << 20


def side(after):
    events, correlation = [], 0

    def host(cat, name, ts, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 100, "tid": 100, "ts": ts, "dur": dur, "args": args})

    def work(cat, name, ts, dur, call_ts):
        nonlocal correlation
        correlation += 1
        host("cuda_runtime", "cudaLaunchKernel", call_ts, 2, correlation=correlation)
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
                       "args": {"device": 0, "stream": 7, "correlation": correlation}})

    def memory(ts, address, size, total):
        events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 100, "ts": ts,
                       "args": {"Total Allocated": total, "Total Reserved": 256 * MIB, "Bytes": size, "Addr": address,
                                "Device Type": 1, "Device Id": 0}})

    now, level = 1000, 64 * MIB
    for step in range(1, 7):
        begin, noise = now, step % 3
        gemm = 200 + noise + (60 if after else 0)
        host("cpu_op", "aten::mm", begin + 5, 20 + noise)
        work("kernel", "void gemm<__half, 64>(__half*)" if after else "void gemm<float, 128>(float*)",
             begin + 40, gemm, begin + 10)
        memory(begin + 12, 4096, 64 * MIB, level + 64 * MIB)
        host("cpu_op", HOSTILE, begin + 30, 10 + noise + (6 if after else 0))
        work("kernel", "triton_poi_fused_add_5" if after else "triton_poi_fused_add_3", begin + 40 + gemm, 30 + noise, begin + 32)
        end = begin + 40 + gemm + 30 + noise
        if after:
            work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", end + 5, 20, begin + 50)
            end += 25
        memory(begin + 60, 8192, (4 + 4 * after) * MIB, level + (68 + 4 * after) * MIB)
        memory(begin + 70, 8192, -(4 + 4 * after) * MIB, level + 64 * MIB)
        memory(begin + 80, 4096, -64 * MIB, level)
        if after and step == 4:
            host("cpu_op", "aten::item", begin + 90, 900)
            end += 900
        host("user_annotation", "ProfilerStep#%d" % step, begin, end - begin)
        now = end
    return {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB" if after else "NVIDIA H100 80GB HBM3",
                              "totalGlobalMem": 80 << 30}],
        "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8, "nccl_version": "2.21.5" if after else "2.20.5"},
        "profile_memory": 1,
        "traceEvents": sorted(events, key=lambda e: e["ts"]),
    }


def main():
    for name, after in (("gpu_before", False), ("gpu_after", True)):
        with open("%s/%s.json" % (sys.path[0], name), "w", encoding="utf-8") as out:
            document = side(after)
            events = document.pop("traceEvents")
            head = json.dumps(document)[:-1]
            out.write(head + ', "traceEvents": [\n' + ",\n".join(json.dumps(e) for e in events) + "\n]}\n")


main()
