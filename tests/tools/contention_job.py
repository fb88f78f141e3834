"""A training job with known contention, as Chrome JSON of torch.profiler.

    from contention_job import Plan, make
    trace, truth = make(Plan(seed=1, factor=1.2))       # truth: the time lost per kernel, in ns

One rank. Each step runs a forward and a backward pass on the compute stream; after most layers of the backward pass an
all_reduce runs on a stream of its own. While it does, a kernel advances at 1/factor of its speed. Durations vary by `jitter`
(log-normal); `drift` is the share by which the clock falls over the job; `copies` adds host-to-device copies on a third stream, in
the forward pass, with a factor of their own. `hidden` starts all work without waiting for communication.
"""

import dataclasses
import math
import random

FORWARD = (("layer_norm_kernel", "aten::native_layer_norm", 30_000), ("gemm_nn", "aten::addmm", 120_000),
           ("vectorized_elementwise_kernel", "aten::gelu", 20_000), ("gemm_nn", "aten::mm", 90_000))
BACKWARD = (("gemm_nn", "aten::mm", 110_000), ("gemm_nt", "aten::mm", 140_000),
            ("vectorized_elementwise_kernel", "aten::gelu_backward", 25_000), ("layer_norm_kernel", "aten::native_layer_norm", 35_000))


@dataclasses.dataclass
class Plan:
    seed: int = 1
    steps: int = 8
    layers: int = 6
    factor: float = 1.2
    factors: dict = dataclasses.field(default_factory=dict)  # by name of kernel, instead of factor
    jitter: float = 0.05
    drift: float = 0.0
    transfer_ns: int = 260_000
    copies: float = 0.0  # factor beside copies; 0: there are none
    hidden: bool = False
    exposed: float = 0.0  # share of the collectives for which the compute stream waits at once
    shapes: bool = True
    tick_ns: int = 1


class Job:
    def __init__(self, plan):
        self.plan, self.random = plan, random.Random(plan.seed)
        self.events, self.lost, self.correlation = [], {}, 0
        self.beside = []  # (start, end, factor by kernel), in order of starts
        self.compute = self.transfers = 1_000_000
        self.host = 900_000

    def write(self, category, name, start, duration, track, **args):
        tick = self.plan.tick_ns
        start, end = round(start / tick) * tick, round((start + duration) / tick) * tick
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if "stream" in args else 100,
                            "tid": track, "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def launch(self, op, dims, call="cudaLaunchKernel"):
        self.correlation += 1
        args = {"External id": self.correlation}
        if self.plan.shapes and dims:
            args |= {"Input Dims": dims, "Input type": ["float"] * len(dims)}
        self.write("cpu_op", op, self.host, 4000, 100, **args)
        self.write("cuda_runtime", call, self.host + 1000, 2000, 100,
                   **{"External id": self.correlation, "correlation": self.correlation})
        self.host += 5000
        return self.correlation

    def wait(self):
        """One stream waits for another."""
        for call in ("cudaEventRecordWithFlags", "cudaStreamWaitEvent"):
            self.correlation += 1
            self.write("cuda_runtime", call, self.host, 400, 100, correlation=self.correlation)
            self.host += 500

    def device(self, category, name, start, duration, stream, id, **args):
        self.write(category, name, start, duration, stream,
                   **{"External id": id, "correlation": id, "device": 0, "context": 1, "stream": stream, **args})

    def run(self, name, op, usual, pace):
        """A kernel on the compute stream that takes USUAL * PACE alone."""
        id = self.launch(op, [[64, len(op)], [len(op), usual // 1000]])
        time, left, start = self.compute, usual * pace, self.compute
        lost = 0
        while left > 1e-6:
            now = [f for s, e, f in self.beside if s <= time < e]
            later = [t for s, e, f in self.beside for t in (s, e) if t > time]
            rate = 1 / math.prod(f(name) for f in now) if now else 1.0
            span = min(left / rate, min(later) - time if later else math.inf)
            left -= span * rate
            lost += span * (1 - rate)
            time += span
        self.compute = time + 800
        self.lost[name] = self.lost.get(name, 0) + lost
        self.device("kernel", name, start, time - start, 7, id, grid=[usual // 1000, 1, 1], block=[128, 1, 1],
                    **{"registers per thread": 64, "shared memory": 0})

    def step(self, number):
        plan = self.plan
        begin = self.host
        self.beside = [b for b in self.beside if b[1] > self.compute]
        slow = 1 + plan.drift * number / max(1, plan.steps - 1)
        jitter = lambda: slow * math.exp(self.random.gauss(0, plan.jitter))
        factor = lambda name: plan.factors.get(name, plan.factor)
        if plan.copies:
            id = self.launch("aten::copy_", [], "cudaMemcpyAsync")
            duration = 300_000 * jitter()
            self.beside.append((self.compute, self.compute + duration, lambda name: plan.copies))
            self.device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", self.compute, duration, 28, id, bytes=8_000_000)
        for _ in range(plan.layers):
            for name, op, work in FORWARD:
                self.run(name, op, work, jitter())
        for _ in range(plan.layers):
            for name, op, work in BACKWARD:
                self.run(name, op, work, jitter())
            if self.random.random() < 0.4:
                continue  # the gradients wait for those of the next layer
            self.wait()
            id = self.launch("c10d::allreduce_", [])
            start = max(self.transfers, self.compute)
            duration = plan.transfer_ns * self.random.uniform(0.6, 1.4)
            self.transfers = start + duration
            self.beside.append((start, self.transfers, factor))
            waits = plan.exposed and self.random.random() < plan.exposed
            if waits and not plan.hidden:
                self.wait()
                self.compute = max(self.compute, self.transfers + 1000)
            self.device("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", start, duration, 20, id,
                        grid=[24, 1, 1], block=[512, 1, 1],
                        **{"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 4_000_000, "Out msg nelems": 4_000_000,
                           "Group size": 2, "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]"})
        if not plan.hidden:
            self.wait()
            self.compute = max(self.compute, self.transfers + 1000)
        self.run("adamw_kernel", "aten::_fused_adamw_", 100_000, jitter())
        if number == plan.steps - 1:
            self.correlation += 1
            self.write("cuda_runtime", "cudaDeviceSynchronize", self.host, self.compute + 5000 - self.host, 100, correlation=self.correlation)
            self.host = self.compute + 10_000
        self.write("user_annotation", f"ProfilerStep#{number}", begin - 1000, self.host - begin + 900, 100)


def make(plan):
    """The trace as a dict, and the time that each kernel lost, in ns."""
    job = Job(plan)
    for number in range(plan.steps):
        job.step(number)
    trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}],
             "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, "traceName": "contention",
             "traceEvents": job.events}
    return trace, job.lost
