#!/usr/bin/env python3
"""Make the samples of this folder: python3 samples/ascend/make.py

No NPU ran: rows are invented, files have the keys, tables and columns that torch_npu and msprof give them. Times of the
drawing are microseconds from the start of step 7; those of rank 1 are 10 us later, but for its first all-reduce.

    step                 |7: 0 .. 1000                                        |8: 1000 .. 2000
    main thread 4242     |copy_ 20..60 mm 100..160 sum 200..250 allreduce 300..380  mm 930..990
      Enqueue               30..40       110..120    210..220         320..330         960..970
    queue thread 4300       50..80       130..180    230..280         340..400         1010..1060
      call                  55..75       140..160    240..260         350..370         1020..1040
    stream 2                 100..150     200..400    420..470                            1100..1300
    stream 4 (all-reduce)                                              500..800
    stream 3 wait                                                       480..500

The matrix product that is issued in step 7 at 960 us is launched at 1020 us, and belongs to step 7.

rank0_ascend_pt, rank1_ascend_pt   JSON of level 1, with tables of memory in rank 0
level0.json                        JSON of level 0 of rank 0: no calls, only their arrows
db/rank0_ascend_pt                 the same recording as a database; its kernel of several cores has a row that contains it
msprof_20260102030405.json         the same without the framework
"""
import json
import os
import sqlite3

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = 1767322800000000123  # ns since 1970, with odd nanoseconds: no double holds it
MAIN, QUEUE, NONE = 4242, 4300, 4294967295
HARDWARE, CANN, HCCL, OVERLAP, FREQUENCY, MEMORY = 13, 7, 15, 23, 14, 19

# name, start, end on the main thread; shapes and types of inputs; frames
OPERATORS = [
    ("ProfilerStep#7", 0, 1000, "", "", ()), ("ProfilerStep#8", 1000, 2000, "", "", ()),
    ("aten::copy_", 20, 60, "64,32;64,32", "float;float", ("train.py(9): step",)),
    ("aten::mm", 100, 160, "64,32;32,16", "float;float", ("model.py(3): forward", "train.py(9): step")),
    ("aten::sum", 200, 250, "64,16", "float", ()),
    ("c10d::allreduce_", 300, 380, "1024", "float", ()), ("HcclAllreduce", 310, 350, "1024", "float", ()),
    ("aten::mm", 930, 990, "64,32;32,16", "float;float", ()),
]
# correlation, Enqueue, Dequeue and its name, call, its name, connection
LAUNCHES = [
    (11, 30, 40, 50, 80, "acl_memcpy_host_to_device", 55, 75, "acl", "aclrtMemcpyAsync", 101),
    (12, 110, 120, 130, 180, "aclnnMm", 140, 160, "node", "launch", 102),
    (13, 210, 220, 230, 280, "aclnnReduceSum", 240, 260, "node", "launch", 103),
    (14, 320, 330, 340, 400, "HcclAllreduce", 350, 370, "node", "launch", 104),
    (15, 960, 970, 1010, 1060, "aclnnMm", 1020, 1040, "node", "launch", 105),
]
# name, type, stream, start, end, connection, task, context. Of the database: the type of the row, and of its kernel.
TASKS = [
    ("MEMCPY_ASYNC", "PCIE_DMA_SQE", 2, 100, 150, 101, 1, NONE, "MEMCPY_ASYNC", None),
    ("aclnnMm_MatMul_MatMulV2", "AI_CORE", 2, 200, 400, 102, 2, NONE, "KERNEL_AICORE", "AI_CORE"),
    ("ReduceSum1", "MIX_AIV", 2, 420, 470, 103, 3, 0, "MIX_AIV", "MIX_AIV"),
    ("EVENT_WAIT", "EVENT_WAIT_SQE", 3, 480, 500, 104, 4, NONE, "EVENT_WAIT", None),
    ("Notify Wait", "Notify Wait", 4, 500, 510, 104, 5, NONE, "Notify Wait", None),
    ("SDMA", "SDMA", 4, 510, 790, 104, 6, NONE, "SDMA", None),
    ("EVENT_RECORD", "EVENT_RECORD_SQE", 4, 801, 802, 106, 7, NONE, "EVENT_RECORD", None),
    ("aclnnMm_MatMul_MatMulV2", "AI_CORE", 2, 1100, 1300, 105, 8, NONE, "KERNEL_AICORE", "AI_CORE"),
]
CONTAINER = ("KERNEL_AICORE", 2, 419, 472, 103, 3)  # around ReduceSum1, in the database only
COLLECTIVE = ("hcom_allReduce__77_0_1", 500, 800, 104, "FP32", 1024)
# name, bytes, allocated, released, totals of allocated and reserved bytes at either; None: not in the recording
BLOCKS = [
    ("aten::copy_", 1 << 20, 25, None, 3 << 20, 8 << 20, None, None, 7),
    ("aten::mm", 1 << 19, 105, 240, 7 << 19, 8 << 20, 3 << 20, 8 << 20, 7),
    ("cann::workspace", 1 << 18, 110, 150, 1 << 18, 1 << 20, 0, 1 << 20, None),
]
LEVELS = [("PTA", 10, 2 << 20, 8 << 20), ("PTA", 245, 4 << 20, 10 << 20), ("GE", 20, 1 << 30, 1 << 30),
          ("PTA+GE", 20, 2 << 30, 2 << 30)]


class Rank:
    def __init__(self, rank):
        self.rank, self.pid = rank, MAIN + 100 * rank
        self.shift = 10000 * rank

    def ns(self, us):
        return BASE + self.shift + round(us * 1000)

    def text(self, us):
        return f"{self.ns(us) // 1000}.{self.ns(us) % 1000:03d}"

    def process(self, index):
        return self.pid << 10 | index << 5 | self.rank

    def tid(self, thread):
        return thread - MAIN + self.pid if thread == MAIN else thread

    def end(self, name, end):
        return end - 2 if self.rank == 1 and name.startswith("hcom") else end


def metadata(rank, index, name, label, threads, named=True):
    pid = rank.process(index) if index else rank.pid
    events = [{"name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}, "ph": "M"}] if named else []
    events += [{"name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": label}, "ph": "M"}]
    events += [{"name": "thread_name", "pid": pid, "tid": tid, "args": {"name": text}, "ph": "M"} for tid, text in threads]
    return events


def span(rank, index, tid, name, start, end, args=None, cat=None):
    event = {"name": name, "pid": rank.process(index) if index else rank.pid, "tid": tid, "ts": rank.text(start),
             "dur": end - start, "ph": "X"}
    if cat:
        event["cat"] = cat
    if args is not None:
        event["args"] = args
    return event


def arrow(rank, index, tid, name, cat, key, at, phase):
    return {"ph": phase, "bp": "e", "name": name, "id": key, "pid": rank.process(index) if index else rank.pid, "tid": tid,
            "ts": rank.text(at), "cat": cat}


def framework(rank):
    main = rank.tid(MAIN)
    events = []
    for number, (name, start, end, shapes, types, frames) in enumerate(OPERATORS):
        args = {"Sequence number": number if "::" in name else -1, "Fwd thread id": 0}
        if shapes:
            args |= {"Input Dims": shapes.replace(";", ";\r\n"), "Input type": types.replace(";", ";\r\n")}
        if frames:
            args["Call stack"] = ";\r\n".join(frames)
        events.append(span(rank, 0, main, name, start, end, args, "cpu_op"))
    for key, enqueue, enqueued, dequeue, dequeued, what, *_ in LAUNCHES:
        events.append(span(rank, 0, main, "Enqueue", enqueue, enqueued, {"correlation_id": key}, "enqueue"))
        events.append(arrow(rank, 0, main, "enqueue_to_dequeue", "async_task_queue", key, enqueue, "s"))
        events.append(span(rank, 0, QUEUE, f"Dequeue@{what}", dequeue, dequeued, {"correlation_id": key}, "dequeue"))
        events.append(arrow(rank, 0, QUEUE, "enqueue_to_dequeue", "async_task_queue", key, dequeue, "f"))
    events.append(span(rank, 0, main, "train.py(9): step", 5, 995, {"Python id": 2, "Python parent id": 1}, "python_function"))
    events += metadata(rank, 0, "Python", "CPU", [(main, f"Thread {main}"), (QUEUE, f"Thread {QUEUE}")])
    return events


def device(rank, level):
    events = metadata(rank, HARDWARE, "Ascend Hardware", "NPU", [(2, "Stream 2"), (3, "Stream 3"), (4, "Stream 4")])
    lanes = [(0, "Group 0 Communication")] + ([(1, "Plane 0")] if level else [])
    events += metadata(rank, HCCL, "HCCL", "NPU", lanes)
    events += metadata(rank, CANN, "CANN", "CPU", [(QUEUE, f"Thread {QUEUE}")], named=level > 0)
    events += metadata(rank, OVERLAP, "Overlap Analysis", "NPU", [(0, "Computing"), (3, "Free")])
    events += metadata(rank, FREQUENCY, "AI Core Freq", "NPU", [])
    for at, mhz in ((0, 800), (90, 1800)):
        events.append({"name": "AI Core Freq", "ts": rank.text(at), "pid": rank.process(FREQUENCY), "tid": 0,
                       "args": {"MHz": mhz}, "ph": "C"})
    prefixes = {"acl": "AscendCL@", "node": "Node@"}
    for *_, start, end, kind, name, connection in LAUNCHES:
        key = str((1 << 64) + connection)  # more than 64 bits hold
        if level:
            events.append(span(rank, CANN, QUEUE, prefixes[kind] + name, start, end,
                               {"Thread Id": QUEUE, "Mode": kind, "level": kind, "connection_id": connection}))
        events.append(arrow(rank, CANN, QUEUE, f"HostToDevice{key}", "HostToDevice", key, start, "s"))
    for name, kind, stream, start, end, connection, task, *_ in TASKS:
        events.append(span(rank, HARDWARE, stream, name, start, end,
                           {"Model Id": NONE, "Task Type": kind, "Physic Stream Id": stream, "Task Id": task,
                            "Subtask Id": NONE, "connection_id": connection}))
        if connection not in (104, 106):
            key = str((1 << 64) + connection)
            events.append(arrow(rank, HARDWARE, stream, f"HostToDevice{key}", "HostToDevice", key, start, "f"))
    name, start, end, connection, element, count = COLLECTIVE
    end = rank.end(name, end)
    events.append(span(rank, HCCL, 0, name, start, end,
                       {"connection_id": connection, "model id": NONE, "data_type": element, "alg_type": "RING", "count": count}))
    key = str((1 << 64) + connection)
    events.append(arrow(rank, HCCL, 0, f"HostToDevice{key}", "HostToDevice", key, start, "f"))
    if level:
        events.append(span(rank, HCCL, 1, "Notify_Wait", start, start + 10, {"stream id": 4, "task type": "Notify_Wait"}))
    events.append(span(rank, OVERLAP, 0, "Computing", 200, 400))
    events.append(span(rank, OVERLAP, 3, "Free", 470, 500))
    return events


def write_json(path, events):
    path = os.path.join(HERE, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write("[" + ",\n".join(json.dumps(event) for event in events) + "]\n")


def write_info(folder, rank):
    path = os.path.join(HERE, folder, f"profiler_info_{rank}.json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        json.dump({"config": {"experimental_config": {"_profiler_level": "Level1"}}, "rank_id": rank}, out)
        out.write("\n")


def write_memory(folder, rank):
    def mega(size):
        return "" if size is None else repr(size / (1 << 20))

    def moment(us):
        return "" if us is None else rank.text(us) + "\t"

    rows = ["Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
            "Release Total Allocated(MB),Release Total Reserved(MB),Stream Ptr,Device Type"]
    for name, size, start, end, *totals, stream in BLOCKS:
        rows.append(",".join([name, repr(size / 1024), moment(start), moment(end), *map(mega, totals),
                              str(stream or ""), f"NPU:{rank.rank}"]))
    with open(os.path.join(HERE, folder, "operator_memory.csv"), "w", newline="") as out:
        out.write("\r\n".join(rows) + "\r\n")
    rows = ["Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type"]
    for component, at, allocated, reserved in LEVELS:
        rows.append(",".join([component, moment(at), mega(allocated), mega(reserved), mega(allocated), "7", f"NPU:{rank.rank}"]))
    with open(os.path.join(HERE, folder, "memory_record.csv"), "w", newline="") as out:
        out.write("\r\n".join(rows) + "\r\n")
    with open(os.path.join(HERE, folder, "communication.json"), "w") as out:
        out.write('{"step7": {"collective": {}}}\n')


def write_database(path, rank):
    path = os.path.join(HERE, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 1024")
    tables = {
        "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
        "ENUM_API_TYPE": "id INTEGER PRIMARY KEY, name TEXT", "ENUM_HCCL_DATA_TYPE": "id INTEGER PRIMARY KEY, name TEXT",
        "TASK": "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, globalPid INTEGER, "
                "taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER",
        "COMPUTE_TASK_INFO": "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, taskType INTEGER, opType INTEGER",
        "COMMUNICATION_OP": "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
                            "opId INTEGER PRIMARY KEY, dataType INTEGER, algType INTEGER, count NUMERIC, opType INTEGER",
        "COMMUNICATION_TASK_INFO": "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, opId INTEGER",
        "CANN_API": "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER PRIMARY KEY, name INTEGER",
        "PYTORCH_API": "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER, "
                       "fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER",
        "PYTORCH_CALLCHAINS": "id INTEGER, stack INTEGER, stackDepth INTEGER", "CONNECTION_IDS": "id INTEGER, connectionId INTEGER",
        "OP_MEMORY": "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, allocationTotalAllocated INTEGER, "
                     "allocationTotalReserved INTEGER, releaseTotalAllocated INTEGER, releaseTotalReserved INTEGER, "
                     "streamPtr INTEGER, deviceId INTEGER",
        "MEMORY_RECORD": "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, deviceId INTEGER",
        "NPU_INFO": "id INTEGER, name TEXT", "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
        "HOST_INFO": "hostUid TEXT, hostName TEXT", "AICORE_FREQ": "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER",
        "OVERLAP_ANALYSIS": "id INTEGER PRIMARY KEY, deviceId INTEGER, startNs INTEGER, endNs INTEGER, type INTEGER",
    }
    for table, columns in tables.items():
        db.execute(f"CREATE TABLE {table} ({columns})")
    ids = {}

    def text(value):
        if value not in ids:
            ids[value] = len(ids)
            db.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (ids[value], value))
        return ids[value]

    def insert(table, *row):
        db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)

    def tid(thread):
        return rank.pid << 32 | rank.tid(thread)

    for key, name in ((20000, "acl"), (10000, "node"), (50001, "op"), (50002, "queue"), (50003, "trace")):
        insert("ENUM_API_TYPE", key, name)
    insert("ENUM_HCCL_DATA_TYPE", 4, "FP32")
    for number, (name, start, end, shapes, types, frames) in enumerate(OPERATORS):
        for depth, frame in enumerate(frames):
            insert("PYTORCH_CALLCHAINS", number, text(frame), depth)
        insert("PYTORCH_API", str(rank.ns(start)), str(rank.ns(end)), tid(MAIN), None, text(name), number if "::" in name else -1, 0,
               text(types.replace(";", ";\r\n")) if types else None, text(shapes.replace(";", ";\r\n")) if shapes else None,
               number if frames else None, 50001)
    insert("PYTORCH_API", str(rank.ns(5)), str(rank.ns(995)), tid(MAIN), None, text("train.py(9): step"), None, None, None, None, None, 50003)
    for number, (key, enqueue, enqueued, dequeue, dequeued, what, start, end, kind, name, connection) in enumerate(LAUNCHES):
        insert("CONNECTION_IDS", number, key)
        insert("PYTORCH_API", str(rank.ns(enqueue)), str(rank.ns(enqueued)), tid(MAIN), number, text("Enqueue"), None, None, None, None, None, 50002)
        insert("PYTORCH_API", str(rank.ns(dequeue)), str(rank.ns(dequeued)), tid(QUEUE), number, text(f"Dequeue@{what}"), None, None, None, None, None, 50002)
        insert("CANN_API", rank.ns(start), rank.ns(end), 20000 if kind == "acl" else 10000, tid(QUEUE), connection, text(name))
    for number, (name, _, stream, start, end, connection, task, context, row, core) in enumerate(TASKS):
        insert("TASK", rank.ns(start), rank.ns(end), rank.rank, connection, number, rank.pid, text(row), context, stream, task, NONE)
        if core:
            insert("COMPUTE_TASK_INFO", text(name), number, 8, text(core), text("op"))
        if name in ("Notify Wait", "SDMA"):
            insert("COMMUNICATION_TASK_INFO", text(COLLECTIVE[0]), number, text(name), 0, 1)
    row, stream, start, end, connection, task = CONTAINER
    insert("TASK", rank.ns(start), rank.ns(end), rank.rank, connection, 99, rank.pid, text(row), NONE, stream, task, NONE)
    name, start, end, connection, element, count = COLLECTIVE
    insert("COMMUNICATION_OP", text(name), rank.ns(start), rank.ns(rank.end(name, end)), connection, text("192.0.2.1%eth0_60000_0_1"), 1, 4,
           text("RING"), count, text("hcom_allReduce_"))
    for name, size, start, end, *totals, stream in BLOCKS:
        insert("OP_MEMORY", text(name), size, rank.ns(start), rank.ns(end) if end else None, *totals, stream, rank.rank)
    for component, at, allocated, reserved in LEVELS:
        insert("MEMORY_RECORD", text(component), rank.ns(at), allocated, reserved, rank.rank)
    insert("NPU_INFO", rank.rank, "Ascend910B")
    insert("RANK_DEVICE_MAP", rank.rank, rank.rank)
    insert("HOST_INFO", "1", "node7")
    for at, mhz in ((0, 800), (90, 1800)):
        insert("AICORE_FREQ", rank.rank, rank.ns(at), mhz)
    insert("OVERLAP_ANALYSIS", 1, rank.rank, rank.ns(200), rank.ns(400), 0)
    db.commit()
    db.execute("VACUUM")
    db.close()


def write_analysis(path):
    path = os.path.join(HERE, path)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    db.execute("CREATE TABLE StepTraceTime (deviceId INTEGER, step TEXT, computing REAL)")
    db.commit()
    db.execute("VACUUM")
    db.close()


def main():
    for number in (0, 1):
        rank = Rank(number)
        folder = f"rank{number}_ascend_pt"
        write_json(f"{folder}/ASCEND_PROFILER_OUTPUT/trace_view.json", framework(rank) + device(rank, 1))
        write_info(folder, number)
    write_memory("rank0_ascend_pt/ASCEND_PROFILER_OUTPUT", Rank(0))
    write_json("level0.json", framework(Rank(0)) + device(Rank(0), 0))
    write_json("msprof_20260102030405.json", device(Rank(0), 1))
    write_database("db/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db", Rank(0))
    write_info("db/rank0_ascend_pt", 0)
    write_analysis("db/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/analysis.db")


main()
