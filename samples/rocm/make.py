#!/usr/bin/env python3
"""Make the samples of this folder: python3 samples/rocm/make.py

No GPU ran: rows are invented, tables and keys are those of AMD's profilers.

results.db     rocpd, schema 3.0.0: two processes, each with a set of tables; a marker around each of three steps
matmul.rpd     RPD, schema 2
results.json   rocprofv3's JSON of what results.db holds of its first process
"""
import json
import os
import sqlite3

HERE = os.path.dirname(os.path.abspath(__file__))


def create(name):
    path = os.path.join(HERE, name)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    return db


def table(db, name, columns, rows):
    db.execute(f"CREATE TABLE {name} ({', '.join(columns.split())})")
    for row in rows:
        db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)


def close(db):
    db.commit()
    db.execute("VACUUM")
    db.close()


KERNELS = {1: "gemm(float const*, float*)", 2: "reduce(float*)"}


def session(pid):
    """Records of one process: (what, fields...); `stack` is what work has in common with the call that launched it."""
    records, stack = [], 0
    for step in range(3):
        t = 5_000_000_000 + step * 1_000_000 + pid
        records.append(("marker", t, t + 900_000, f"step {step}"))
        for i, (agent, kernel) in enumerate([(1, 1), (1, 2), (2, 1)]):
            stack += 1
            begin = t + 100_000 * (i + 1)
            records.append(("call", "hipLaunchKernel", begin, begin + 5_000, stack))
            records.append(("kernel", agent, kernel, begin + 8_000, begin + 48_000 + 1_000 * kernel, stack))
        stack += 1
        records.append(("call", "hipMemcpyAsync", t + 500_000, t + 506_000, stack))
        records.append(("copy", t + 510_000, t + 530_000, 1 << 20, stack))
        stack += 1
        records.append(("call", "hipMalloc", t + 600_000, t + 604_000, stack))
        records.append(("memory", "ALLOC", t + 603_000, 0x7F0000000000 + step * 4096, 1 << 20, 1))
    stack += 1
    records.append(("call", "hipFree", t + 700_000, t + 702_000, stack))
    records.append(("memory", "FREE", t + 701_000, 0x7F0000000000, 0, None))
    return records


def rocpd():
    db = create("results.db")
    for pid in (1104, 2208):
        guid = f"_0000{pid}_565d_765d"
        strings, events, regions, dispatches, copies, memory = {}, [], [], [], [], []

        def text(value):
            return strings.setdefault(value, len(strings) + 1)

        def event(category, stack, extdata="{}"):
            events.append((len(events) + 1, text(category), stack, 0, extdata))
            return len(events)

        for what, *row in session(pid):
            if what == "marker":
                start, end, message = row
                regions.append((len(regions) + 1, 1, start, end, text("roctxThreadRangeA"), event("MARKER_CORE_RANGE_API", 0, json.dumps({"message": message}))))
            elif what == "call":
                name, start, end, stack = row
                regions.append((len(regions) + 1, 1, start, end, text(name), event("HIP_RUNTIME_API_EXT", stack)))
            elif what == "kernel":
                agent, kernel, start, end, stack = row
                dispatches.append((len(dispatches) + 1, agent, kernel, 1, 1, start, end, 1024, 256, 1, 1, 25600, 1, 1, event("KERNEL_DISPATCH", stack)))
            elif what == "copy":
                start, end, size, stack = row
                copies.append((len(copies) + 1, start, end, text("MEMORY_COPY_HOST_TO_DEVICE"), 1, 0, size, event("MEMORY_COPY", stack)))
            else:
                kind, end, address, size, agent = row
                memory.append((len(memory) + 1, 1, agent, kind, "REAL", end - 100, end, address, size))
        waves = [(i + 1, dispatch[-1], 1, 16.0 * (i + 1)) for i, dispatch in enumerate(dispatches[:2])]
        waves.append((3, regions[1][-1], 1, 99.0))  # of a call
        table(db, "rocpd_info_pmc" + guid, "id agent_id name", [(1, 1, "SQ_WAVES")])
        table(db, "rocpd_pmc_event" + guid, "id event_id pmc_id value", waves)
        table(db, "rocpd_metadata" + guid, "id tag value", [(1, "schema_version", "3"), (2, "guid", guid)])
        table(db, "rocpd_string" + guid, "id string", [(number, value) for value, number in strings.items()])
        table(db, "rocpd_info_node" + guid, "id hostname", [(1, "host1")])
        table(db, "rocpd_info_process" + guid, "id pid command", [(7, pid, "./app --steps 2")])
        table(db, "rocpd_info_thread" + guid, "id tid name", [(1, pid, "main")])
        table(db, "rocpd_info_agent" + guid, "id type type_index name product_name",
              [(0, "CPU", 0, "AMD EPYC", None), (1, "GPU", 0, "gfx942", "AMD Instinct MI300X"), (2, "GPU", 1, "gfx942", "AMD Instinct MI300X")])
        table(db, "rocpd_info_kernel_symbol" + guid, "id kernel_name display_name", [(i, f"_Z{i}.kd", name) for i, name in KERNELS.items()])
        table(db, "rocpd_event" + guid, "id category_id stack_id correlation_id extdata", events)
        table(db, "rocpd_region" + guid, "id tid start end name_id event_id", regions)
        table(db, "rocpd_kernel_dispatch" + guid, "id agent_id kernel_id queue_id stream_id start end group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z event_id", dispatches)
        table(db, "rocpd_memory_copy" + guid, "id start end name_id dst_agent_id src_agent_id size event_id", copies)
        table(db, "rocpd_memory_allocate" + guid, "id tid agent_id type level start end address size", memory)
    db.execute("CREATE VIEW rocpd_region AS SELECT * FROM rocpd_region_00001104_565d_765d")
    close(db)


def rpd():
    db = create("matmul.rpd")
    strings = ["", "hipLaunchKernel", "hipMemcpy", "KernelExecution", "CopyHostToDevice", KERNELS[1], "UserMarker", "step 0"]
    table(db, "rocpd_string", "id string", [(i + 1, value) for i, value in enumerate(strings)])
    table(db, "rocpd_api", "id pid tid start end apiName_id args_id",
          [(1, 9, 9, 1_000_000, 1_900_000, 7, 8), (2, 9, 9, 1_100_000, 1_110_000, 3, 1), (3, 9, 9, 1_200_000, 1_205_000, 2, 1)])
    table(db, "rocpd_op", "id gpuId queueId start end description_id opType_id",
          [(1, 2, 0, 1_120_000, 1_170_000, 1, 5), (2, 2, 0, 1_210_000, 1_290_000, 6, 4)])
    table(db, "rocpd_api_ops", "id api_id op_id", [(1, 2, 1), (2, 3, 2)])
    table(db, "rocpd_kernelapi", "api_ptr_id gridX gridY gridZ workgroupX workgroupY workgroupZ groupSegmentSize", [(3, 100, 1, 1, 256, 1, 1, 512)])
    table(db, "rocpd_copyapi", "api_ptr_id size", [(2, 1 << 20)])
    close(db)


def rocprofv3():
    operations = {"NONE": [], "HIP_API": ["hipLaunchKernel", "hipMemcpyAsync", "hipMalloc", "hipFree"], "MARKER": ["roctxRangePushA"],
                  "KERNEL_DISPATCH": ["NONE", "ENQUEUE", "COMPLETE"], "MEMORY_COPY": ["NONE", "MEMORY_COPY_HOST_TO_DEVICE"],
                  "MEMORY_ALLOCATION": ["NONE", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_FREE"]}
    kinds = list(operations)
    lists = {"kernel_dispatch": [], "hip_api": [], "marker_api": [], "memory_copy": [], "memory_allocation": []}
    markers = []

    def record(kind, operation, internal, start, end, **more):
        return {"kind": kinds.index(kind), "operation": operations[kind].index(operation), "thread_id": 1104,
                "correlation_id": {"internal": internal, "external": 0}, "start_timestamp": start, "end_timestamp": end, **more}

    xyz = lambda x: {"x": x, "y": 1, "z": 1}
    for what, *row in session(1104):
        if what == "marker":
            markers.append({"key": 1000 + len(markers), "value": row[2]})
            lists["marker_api"].append(record("MARKER", "roctxRangePushA", markers[-1]["key"], row[0], row[1]))
        elif what == "call":
            lists["hip_api"].append(record("HIP_API", row[0], row[3], row[1], row[2]))
        elif what == "kernel":
            agent, kernel, start, end, stack = row
            info = {"agent_id": {"handle": 900 + agent}, "queue_id": {"handle": 1}, "kernel_id": kernel, "group_segment_size": 1024,
                    "workgroup_size": xyz(256), "grid_size": xyz(25600)}
            lists["kernel_dispatch"].append(record("KERNEL_DISPATCH", "COMPLETE", stack, start, end, dispatch_info=info, stream_id={"handle": 1}))
        elif what == "copy":
            lists["memory_copy"].append(record("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", row[3], row[0], row[1], bytes=row[2],
                                               src_agent_id={"handle": 900}, dst_agent_id={"handle": 901}))
        else:
            kind, end, address, size, agent = row
            operation = "MEMORY_ALLOCATION_FREE" if kind == "FREE" else "MEMORY_ALLOCATION_ALLOCATE"
            lists["memory_allocation"].append(record("MEMORY_ALLOCATION", operation, 0, end - 100, end, allocation_size=size,
                                                     address=hex(address), agent_id={"handle": 900 + (agent or 0)}))
    process = {
        "metadata": {"node": {"id": 0, "hostname": "host1"}, "pid": 1104, "command": ["./app", "--steps", "3"]},
        "agents": [{"id": {"handle": 900 + i}, "type": 2 if i else 1, "name": "gfx942" if i else "AMD EPYC",
                    "product_name": "AMD Instinct MI300X" if i else "AMD EPYC", "logical_node_type_id": max(i - 1, 0),
                    "cu_count": 304 if i else 64, "wave_front_size": 64 if i else 0} for i in range(3)],
        "counters": [], "buffer_records": lists,
        "strings": {"buffer_records": [{"kind": kind, "operations": names} for kind, names in operations.items()], "marker_api": markers},
        "kernel_symbols": [{"kernel_id": i, "formatted_kernel_name": name} for i, name in KERNELS.items()],
        "callback_records": {"counter_collection": []},
    }
    with open(os.path.join(HERE, "results.json"), "w") as out:
        json.dump({"rocprofiler-sdk-tool": [process]}, out, indent=None, separators=(",", ":"))
        out.write("\n")


rocpd()
rpd()
rocprofv3()
