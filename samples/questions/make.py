#!/usr/bin/env python3
"""Traces with planted causes, questions about them, and their truth.

    samples/questions/make.py FOLDER [SEED]

Writes traces/, questions.jsonl and truth.jsonl. A host and a GPU are simulated; all truths are computed from the simulation and
none with tpa. docs/benchmark.md describes the files.
"""
import gzip, json, pathlib, random, statistics, sys

SYNC_US, LATENCY_US, FIRST_STEP = 2, 3, 38
GEMM, NORM, ADD = "ampere_sgemm_128x64_tn", "void batch_norm_kernel<float, 512>(float const*, float*)", "void add_kernel<4>(int)"
HEAVY = "void my_ext::gather_kernel<float, 256>(float const*, float*, int)"
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
CHOICES = ["data loading", "synchronization", "slow launches", "communication", "copies", "none"]


class Run:
    """One rank: a thread of the host and a stream of the GPU, in microseconds."""

    def __init__(self, rng, rank=0, ranks=1):
        self.rng, self.rank, self.ranks = rng, rank, ranks
        self.events, self.work, self.steps = [], [], []
        self.now, self.gpu_free, self.correlation, self.allocated, self.peak = 1000.0, 0.0, 1, 0, 0

    def host(self, category, name, start, end, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": round(start, 3), "dur": round(end - start, 3), "args": args})

    def device(self, category, name, start, us, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": round(start, 3), "dur": round(us, 3),
                            "args": {"device": 0, "stream": 7, "correlation": self.correlation, "External id": self.correlation, **args}})
        self.work.append((start, start + us))
        self.gpu_free = start + us

    def begin(self):
        self.step_start = self.now

    def end(self):
        self.host("user_annotation", f"ProfilerStep#{FIRST_STEP + len(self.steps)}", self.step_start, self.now)
        self.steps.append(self.now - self.step_start)
        self.now += 1

    def launch(self, op, kernel, us, op_us=6, call="cudaLaunchKernel", category="kernel", not_before=0.0, **args):
        us = round(us * self.rng.uniform(0.97, 1.03), 3)
        call_start = self.now + op_us - 5
        self.host("cpu_op", op, self.now, self.now + op_us, **{"External id": self.correlation})
        self.host("cuda_runtime", call, call_start, call_start + 4, correlation=self.correlation, **{"External id": self.correlation})
        self.device(category, kernel, max(self.gpu_free, call_start + LATENCY_US, not_before), us, **args)
        self.correlation += 1
        self.now += op_us
        return us

    def wait(self, call="cudaDeviceSynchronize", op=None):
        start = self.now
        self.now = max(self.now + SYNC_US, self.gpu_free + SYNC_US)
        if op:
            self.host("cpu_op", op, start - 1, self.now + 1)
        self.host("cuda_runtime", call, start, self.now, correlation=self.correlation)
        self.correlation += 1
        self.now += 1

    def model(self, layers=8, us=(220, 70, 30), **more):
        for _ in range(layers):
            for op, kernel, length in zip(("aten::mm", "aten::batch_norm", "aten::add"), (GEMM, NORM, ADD), us):
                self.launch(op, kernel, length, **more)

    def load(self, us):
        us *= self.rng.uniform(0.98, 1.02)
        self.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", self.now, self.now + us)
        self.now += us
        return us

    def item(self):
        """A copy of 4 bytes to pageable memory, for which the host waits."""
        begin = self.now
        self.host("cuda_runtime", "cudaMemcpyAsync", begin + 2, begin + 6, correlation=self.correlation, **{"External id": self.correlation})
        self.device("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", max(self.gpu_free, begin + 5), 2, bytes=4)
        self.correlation += 1
        end = self.gpu_free + 2
        self.host("cuda_runtime", "cudaStreamSynchronize", begin + 7, max(end, begin + 8), correlation=self.correlation)
        self.correlation += 1
        self.now = max(end, begin + 8) + 2
        for op in ("aten::item", "aten::_local_scalar_dense"):
            self.host("cpu_op", op, begin, self.now)
            begin += 1
        self.now += 1

    def copy_in(self, size, rate):
        """SIZE bytes from pageable memory at RATE bytes a microsecond, for which the host waits."""
        begin, us = self.now, size / rate
        self.host("cpu_op", "aten::to", begin, begin + us + 12, **{"External id": self.correlation})
        self.host("cuda_runtime", "cudaMemcpyAsync", begin + 2, begin + us + 10, correlation=self.correlation, **{"External id": self.correlation})
        self.device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", max(self.gpu_free, begin + 6), us, bytes=size)
        self.correlation += 1
        self.now = max(self.gpu_free + 4, begin + us + 12)
        return round(us, 3)

    def allocate(self, size):
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": round(self.now, 3),
                            "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096 + abs(size), "Bytes": size, "Total Allocated": self.allocated, "Total Reserved": self.peak}})

    def idle_share(self):
        span = self.work[-1][1] - self.work[0][0]
        return 1 - sum(end - start for start, end in self.work) / span

    def write(self, path):
        document = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
                    "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": self.ranks}, "traceEvents": self.events}
        if self.ranks == 1:
            del document["distributedInfo"]
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.GzipFile(path, "wb", mtime=0) as file:
            file.write(json.dumps(document).encode())


def steps(run, count, body):
    for index in range(count):
        run.begin()
        body(index)
        run.end()
    return run


def benchmark(rng, folder):
    """The traces, and (id, traces, question, answer, value, tolerance) of each question."""
    rows = []

    def write(name, *runs):
        paths = [f"traces/{name}{'/rank%d' % run.rank if len(runs) > 1 else ''}.json.gz" for run in runs]
        for run, path in zip(runs, paths):
            run.write(folder / path)
        return paths

    def ask(id, traces, question, kind, value, accept=(), unit=None, rel=0.02, abs=0, choices=None):
        answer = {"kind": kind, **({"unit": unit} if unit else {}), **({"choices": choices} if choices else {})}
        rows.append(({"id": id, "traces": traces, "question": question, "answer": answer},
                     {"id": id, "truth": {"kind": kind, "value": value, **({"unit": unit} if unit else {}), "rel": rel, "abs": abs, "accept": list(accept)}}))

    cause = "What is the main cause of the GPU being idle?"
    run, waits = Run(rng), []
    steps(run, 5, lambda _: (waits.append(run.load(rng.uniform(34e3, 40e3))), run.model(), run.wait()))
    loader = write("loader", run)
    ask("loader.cause", loader, cause, "choice", "data loading", choices=CHOICES)
    ask("loader.wait", loader, "How many milliseconds per step, on average, does the loop wait for the next batch?", "duration", statistics.mean(waits) / 1e3, unit="ms")
    ask("loader.idle", loader, "What percentage of the time between the first and the last work on the GPU is it idle?", "share", 100 * run.idle_share(), unit="%", rel=0, abs=0.6)

    run, items = Run(rng), rng.randint(3, 6)
    steps(run, 5, lambda _: ([(run.model(2), run.item()) for _ in range(items)], run.wait()))
    item = write("item", run)
    ask("item.op", item, "Which operator makes the host wait for the GPU again and again?", "name", "aten::item", ["item", "aten::_local_scalar_dense", ".item()"])
    ask("item.count", item, "How many copies from the device to the host happen per step?", "count", items, rel=0)

    run, heavy, others = Run(rng), [], []
    steps(run, 5, lambda _: (run.model(4), heavy.append(run.launch("my_ext::gather", HEAVY, rng.uniform(4000, 5000))), run.wait()))
    total = sum(end - start for start, end in run.work)
    kernel = write("kernel", run)
    ask("kernel.name", kernel, "Which kernel takes the most GPU time?", "name", HEAVY, ["gather_kernel", HEAVY.split("(")[0]])
    ask("kernel.share", kernel, "What percentage of all kernel time is that?", "share", 100 * sum(heavy) / total, unit="%", rel=0, abs=0.6)

    sides, times, slower = [], [], rng.uniform(60, 90)
    for more in (0, slower):
        run = Run(rng)
        steps(run, 8, lambda _: (run.model(us=(400, 140, 60 + more)), run.wait()))
        sides.append(write("after" if more else "before", run)[0])
        times.append(sum(end - start for start, end in run.work) / len(run.steps))
    ask("diff.op", sides, "Which operator became slower from the first to the second recording?", "name", "aten::add", ["add"])
    ask("diff.ms", sides, "By how many milliseconds of GPU time per step?", "duration", (times[1] - times[0]) / 1e3, unit="ms")

    late, runs = rng.randrange(1, 4), [Run(rng, rank, 4) for rank in range(4)]
    waited = []
    for _ in range(5):
        for run in runs:
            run.begin()
            run.model(4)
            if run.rank == late:
                run.launch("aten::mm", GEMM, rng.uniform(900, 1100))
        ready = [max(run.gpu_free, run.now + 4) for run in runs]
        waited.append(max(ready) - statistics.mean(ready[rank] for rank in range(4) if rank != late))
        for run in runs:
            start = max(run.gpu_free, run.now + 4)
            run.host("cuda_runtime", "cudaLaunchKernel", run.now, run.now + 4, correlation=run.correlation)
            run.device("kernel", NCCL, start, max(ready) + 400 - start, **{"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20,
                       "Group size": 4, "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1, 2, 3]"})
            run.correlation += 1
            run.now += 5
            run.wait()
            run.end()
        latest = max(run.now for run in runs)
        for run in runs:
            run.now = latest
    ranks = write("ranks", *runs)
    ask("rank.who", ranks, "Which rank do the others wait for? Give its number.", "count", late, rel=0)
    ask("rank.wait", ranks, "How many milliseconds does each other rank wait for it per step, on average?", "duration", statistics.mean(waited) / 1e3, unit="ms", rel=0.03)
    missing = rng.choice([rank for rank in range(4)])
    ask("missing.rank", [path for rank, path in enumerate(ranks) if rank != missing], "The job has four ranks. Which rank has no trace here? Give its number.", "count", missing, rel=0)

    run, exposed = Run(rng), []
    steps(run, 5, lambda _: (run.model(), exposed.append(run.launch("nccl:all_reduce", NCCL, rng.uniform(2800, 3900))), run.wait()))
    comm = write("comm", run)
    ask("comm.exposed", comm, "How many milliseconds of communication per step are not hidden by computation?", "duration", statistics.mean(exposed) / 1e3, unit="ms")
    ask("comm.cause", comm, "What limits the step most, beside computing?", "choice", "communication", choices=CHOICES)

    run, layers = Run(rng), rng.randint(50, 70)
    steps(run, 5, lambda _: (run.model(layers, us=(3, 2, 2), op_us=20), run.wait()))
    short = write("short", run)
    ask("short.cause", short, cause, "choice", "slow launches", choices=CHOICES)
    ask("short.count", short, "How many kernels run per step?", "count", 3 * layers, rel=0)

    run, megabytes, rate = Run(rng), rng.randint(24, 40), rng.uniform(4000, 6000)
    steps(run, 5, lambda _: (run.copy_in(megabytes * 10**6, rate), run.model(4), run.wait()))
    copies = write("copies", run)
    ask("copies.bytes", copies, "How many megabytes (10^6 bytes) are copied to the device per step?", "bytes", megabytes, unit="MB", rel=0.005)
    ask("copies.speed", copies, "At how many GB/s (10^9 bytes) do these copies run?", "number", rate / 1e3, unit="GB/s")
    ask("copies.kind", copies, "Are these copies made from pinned or from pageable memory?", "choice", "pageable", choices=["pinned", "pageable"])

    run, slow, extra = Run(rng), rng.randrange(2, 7), rng.uniform(12e3, 18e3)

    def slow_step(index):
        run.model(10)
        run.wait()
        run.now += extra if index == slow else 0

    steps(run, 8, slow_step)
    slowstep = write("slowstep", run)
    ask("slow.step", slowstep, "Which step is the slowest? Give its number.", "count", FIRST_STEP + slow, rel=0)
    ask("slow.ms", slowstep, "How many milliseconds longer than the median step is it?", "duration", (run.steps[slow] - statistics.median(run.steps)) / 1e3, unit="ms", rel=0.03)

    run = Run(rng)

    def allocating(_):
        sizes = [rng.randint(8, 60) << 20 for _ in range(8)]
        for size in sizes:
            run.allocate(size)
            run.model(1)
        for size in sizes:
            run.allocate(-size)
        run.wait()

    steps(run, 5, allocating)
    memory = write("memory", run)
    peak = "What is the peak of allocated GPU memory in MiB?"
    ask("memory.peak", memory, peak, "bytes", run.peak / 2**20, unit="MiB", rel=0.005)

    run = Run(rng)

    def on_host(_):
        for _ in range(20):
            run.host("cpu_op", "aten::mm", run.now, run.now + 300)
            run.now += 305

    host = write("host", steps(run, 5, on_host))
    ask("none.gpu", host, "What percentage of the time is the GPU idle?", "cannot_answer", None)
    ask("none.memory", copies, peak, "cannot_answer", None)
    ask("none.rank", comm, "Which rank do the others wait for?", "cannot_answer", None)

    run = Run(rng)
    steps(run, 5, lambda _: (run.model(20, us=(300, 100, 60)), run.wait()))
    ask("healthy.cause", write("healthy", run), "What keeps the GPU idle for more than 10 % of the time?", "choice", "none", choices=CHOICES)
    return rows


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rows = benchmark(random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1), folder)
    for name, column in (("questions.jsonl", 0), ("truth.jsonl", 1)):
        (folder / name).write_text("".join(json.dumps(row[column]) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
