#!/usr/bin/env python3
"""Make the samples of this folder: python3 samples/nsys/make.py

No GPU ran: rows are invented, tables have the columns that Nsight Systems gave them.

train.sqlite   schema 3.24 (2025): two processes, three steps each; device 0 of both is another GPU; equal correlation ids
old.sqlite     2020: no table of versions, devices by CUDA's number, a graph recorded as a whole, copies of unified memory
"""
import os
import sqlite3

HERE = os.path.dirname(os.path.abspath(__file__))


def create(name, tables):
    path = os.path.join(HERE, name)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    for table, columns in tables.items():
        db.execute(f"CREATE TABLE {table} ({columns})")
    return db


def insert(db, table, **row):
    names = ", ".join(f'"{key}"' for key in row)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


def close(db):
    db.commit()
    db.execute("VACUUM")
    db.close()


class Strings:
    def __init__(self, db):
        self.db, self.ids = db, {}

    def __call__(self, text):
        if text not in self.ids:
            self.ids[text] = len(self.ids) + 1
            insert(self.db, "StringIds", id=self.ids[text], value=text)
        return self.ids[text]


WORK = "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, {green}streamId INTEGER, correlationId INTEGER, globalPid INTEGER"
KERNEL = WORK + ", demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, graphNodeId INTEGER"
COPY = WORK + ", bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER"
CALL = "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER"
NVTX = "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER"


def train():
    green = "greenContextId INTEGER, "
    db = create("train.sqlite", {
        "StringIds": "id INTEGER PRIMARY KEY, value TEXT NOT NULL",
        "META_DATA_EXPORT": "name TEXT, value TEXT",
        "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
        "ThreadNames": "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER",
        "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT",
        "TARGET_INFO_GPU": "vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, cuDevice INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, computeMajor INTEGER, computeMinor INTEGER",
        "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER, cudaId INTEGER, pid INTEGER",
        "CUPTI_ACTIVITY_KIND_KERNEL": KERNEL.format(green=green),
        "CUPTI_ACTIVITY_KIND_MEMCPY": COPY.format(green=green),
        "CUPTI_ACTIVITY_KIND_MEMSET": WORK.format(green=green) + ", value INTEGER, bytes INTEGER, memKind INTEGER",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": WORK.format(green=green) + ", syncType INTEGER",
        "CUPTI_ACTIVITY_KIND_RUNTIME": CALL,
        "OSRT_API": "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, nameId INTEGER",
        "NVTX_EVENTS": NVTX,
        "CUDA_GPU_MEMORY_USAGE_EVENTS": "start INTEGER NOT NULL, globalPid INTEGER, deviceId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER, correlationId INTEGER",
        "DIAGNOSTIC_EVENT": "timestamp INTEGER, severity INTEGER, text TEXT, globalPid INTEGER",
        "SCHED_EVENTS": "start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER",
    })
    text = Strings(db)
    for name, value in {"EXPORT_PRODUCT_VERSION": "2025.5.1.121", "EXPORT_SCHEMA_VERSION": "3.24.0"}.items():
        insert(db, "META_DATA_EXPORT", name=name, value=value)
    insert(db, "TARGET_INFO_SESSION_START_TIME", utcEpochNs=1760000000000000000, utcTime="", localTime="")
    for gpu in range(2):
        insert(db, "TARGET_INFO_GPU", vmId=0, id=gpu, name="Invented GPU", totalMemory=80 << 30, smCount=100,
               cuDevice=gpu, threadsPerWarp=32, maxWarpsPerSm=64, computeMajor=9, computeMinor=0)
    insert(db, "DIAGNOSTIC_EVENT", timestamp=0, severity=1, text="Profiling has started.", globalPid=0)
    insert(db, "DIAGNOSTIC_EVENT", timestamp=0, severity=2, text="Not all NVTX events might have been collected.", globalPid=0)
    insert(db, "SCHED_EVENTS", start=0, cpu=0, isSchedIn=1, globalTid=0)
    for rank, pid in enumerate((1000, 2000)):
        process = 1 << 56 | pid << 24
        main, other = process | pid, process | pid + 1
        insert(db, "PROCESSES", globalPid=process, pid=pid, name="train")
        insert(db, "TARGET_INFO_CUDA_DEVICE", gpuId=1 - rank, cudaId=0, pid=pid)
        insert(db, "ThreadNames", nameId=text("autograd"), priority=10, globalTid=other)
        insert(db, "NVTX_EVENTS", start=0, eventType=75, text="NCCL", globalTid=main, domainId=1)
        at = {"api": 0, "correlation": 100}

        def call(name, start, end, thread=main, result=0):
            at["correlation"] += 1
            insert(db, "CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=1 if name.startswith("cuM") else 0,
                   globalTid=thread, correlationId=at["correlation"], nameId=text(name), returnValue=result)
            return dict(deviceId=0, contextId=1, streamId=7, correlationId=at["correlation"], globalPid=process)

        def push(name, start, end, thread=main, **more):
            insert(db, "NVTX_EVENTS", **{**dict(start=start, end=end, eventType=59, text=name, globalTid=thread, domainId=0), **more})

        address = 0x7F0000000000
        for step in range(3):
            t = 1_000_000 * (step + 1) + 1000 * rank
            push(f"step {step}", t, t + 900_000)
            row = call("cudaMalloc_v3020", t + 5_000, t + 9_000)
            insert(db, "CUDA_GPU_MEMORY_USAGE_EVENTS", start=t + 8_000, globalPid=process, deviceId=0, address=address + step * 4096,
                   bytes=1 << 20, memKind=2, memoryOperationType=0, correlationId=row["correlationId"])
            row = call("cudaMemcpyAsync_v3020", t + 10_000, t + 20_000)
            insert(db, "CUPTI_ACTIVITY_KIND_MEMCPY", start=t + 15_000, end=t + 55_000, bytes=4 << 20, copyKind=1, srcKind=0, dstKind=2, **row)
            row = call("cudaMemsetAsync_v3020", t + 60_000, t + 62_000)
            insert(db, "CUPTI_ACTIVITY_KIND_MEMSET", start=t + 63_000, end=t + 65_000, value=0, bytes=4096, memKind=2, **row)
            for layer in range(4):
                begin = t + 100_000 + layer * 50_000
                push(f"aten::mm, seq = {layer}, op_id = {step * 10 + layer}, sizes = [[128, 64], [64, 32]]", begin, begin + 20_000)
                row = call("cudaLaunchKernel_v7000", begin + 5_000, begin + 9_000)
                insert(db, "CUPTI_ACTIVITY_KIND_KERNEL", start=begin + 12_000, end=begin + 42_000 + 1000 * step,
                       demangledName=text("void gemm<128, 64>(float const*, float*)"), shortName=text("gemm"), registersPerThread=64,
                       gridX=200, gridY=1, gridZ=1, blockX=256, blockY=1, blockZ=1, staticSharedMemory=1024, dynamicSharedMemory=2048, **row)
            begin = t + 400_000
            push("ncclAllReduce", begin, begin + 30_000, domainId=1)
            row = call("cudaLaunchKernelExC_v11060", begin + 5_000, begin + 10_000)
            insert(db, "CUPTI_ACTIVITY_KIND_KERNEL", start=begin + 20_000, end=begin + 120_000, demangledName=text("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
                   shortName=text("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), registersPerThread=96, gridX=24, gridY=1, gridZ=1,
                   blockX=512, blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0, **dict(row, streamId=13))
            row = call("cudaLaunchKernel_v7000", t + 550_000, t + 553_000, thread=other)
            insert(db, "CUPTI_ACTIVITY_KIND_KERNEL", start=t + 556_000, end=t + 606_000, demangledName=text("backward(float*)"), shortName=text("backward"),
                   registersPerThread=32, gridX=50, gridY=2, gridZ=1, blockX=128, blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0, **row)
            row = call("cudaStreamSynchronize_v3020", t + 700_000, t + 750_000)
            insert(db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=t + 701_000, end=t + 749_000, syncType=3,
                   **dict(row, deviceId=5 * rank))  # the device is that of the context, whatever a wait says
            insert(db, "OSRT_API", start=t + 800_000, end=t + 850_000, eventClass=27, globalTid=main, nameId=text("read"))
        row = call("cudaFree_v3020", 4_000_000, 4_002_000, result=rank)
        insert(db, "CUDA_GPU_MEMORY_USAGE_EVENTS", start=4_001_000, globalPid=process, deviceId=0, address=address, bytes=1 << 20,
               memKind=2, memoryOperationType=1, correlationId=row["correlationId"])
        push("request", 1_200_000, 3_500_000, eventType=60, rangeId=5, endGlobalTid=other)
        push("a mark", 1_300_000, None, eventType=34)
        push("never popped", 3_950_000, None)
    insert(db, "CUPTI_ACTIVITY_KIND_KERNEL", start=500_000, end=600_000, demangledName=text("launched_before_recording()"), deviceId=0, contextId=1,
           streamId=7, correlationId=7, globalPid=1 << 56 | 1000 << 24)
    close(db)


def old():
    db = create("old.sqlite", {
        "StringIds": "id INTEGER PRIMARY KEY, value TEXT NOT NULL",
        "TARGET_INFO_CUDA_GPU": "deviceId INTEGER, pid INTEGER, name TEXT",
        "CUPTI_ACTIVITY_KIND_KERNEL": KERNEL.format(green=""),
        "CUPTI_ACTIVITY_KIND_MEMCPY": COPY.format(green=""),
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": WORK.format(green="") + ", graphId INTEGER, graphExecId INTEGER",
        "CUPTI_ACTIVITY_KIND_RUNTIME": CALL,
        "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "start INTEGER NOT NULL, end INTEGER NOT NULL, globalPid INTEGER, deviceId INTEGER, numberOfPageFaults INTEGER",
        "CUDA_UM_CPU_PAGE_FAULT_EVENTS": "start INTEGER NOT NULL, globalPid INTEGER, address INTEGER",
    })
    text = Strings(db)
    process = 1 << 56 | 77 << 24
    insert(db, "TARGET_INFO_CUDA_GPU", deviceId=0, pid=77, name="Tesla V100")
    for i in range(3):
        t = 10_000_000 + i * 100_000
        work = dict(deviceId=0, contextId=1, streamId=7, correlationId=i + 1, globalPid=process)
        insert(db, "CUPTI_ACTIVITY_KIND_RUNTIME", start=t, end=t + 5000, eventClass=0, globalTid=process | 77, correlationId=i + 1,
               nameId=text("cudaGraphLaunch_v10000"), returnValue=0)
        insert(db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=t + 6000, end=t + 46000, graphId=4, graphExecId=5, **work)
        insert(db, "CUPTI_ACTIVITY_KIND_MEMCPY", start=t + 50_000, end=t + 60_000, bytes=65536, copyKind=11 + i % 2, srcKind=4, dstKind=4,
               **dict(work, correlationId=0))
        insert(db, "CUDA_UM_GPU_PAGE_FAULT_EVENTS", start=t + 10_000, end=t + 11_000, globalPid=process, deviceId=0, numberOfPageFaults=i + 2)
    insert(db, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=10_061_000, globalPid=process, address=4096)
    insert(db, "CUPTI_ACTIVITY_KIND_RUNTIME", start=10_400_000, end=10_402_000, eventClass=0, globalTid=process | 77, correlationId=9,
           nameId=text("cudaLaunchKernel_v7000"), returnValue=0)
    insert(db, "CUPTI_ACTIVITY_KIND_KERNEL", start=10_405_000, end=10_455_000, demangledName=text("reduce(float*)"), registersPerThread=16,
           gridX=10, gridY=1, gridZ=1, blockX=64, blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0, deviceId=0, contextId=1,
           streamId=7, correlationId=9, globalPid=process)
    close(db)


train()
old()
