#!/usr/bin/env python3
"""Record pairs of traces, before and after one change, with PyTorch on the CPU.

    samples/pairs/record.py [--out samples/pairs] [--tries 5] [NAME...]

Needs torch 2.14 or later (any build: only the CPU is used). Each pair is a job in two or more settings that differ in one
thing. `tpa whatif` predicts one from the other; tests/bench/accuracy compares that with what was measured. What takes long
sleeps, so that its duration is known and does not depend on the machine:

    loader       a dataset that takes 5 ms a sample, with 0, 2 and 4 DataLoader workers; batches of 4, 30 ms of computing
    host_sleep   30 ms, 10 ms and no sleep in the loop, beside 25 ms of computing
    operator     an operator of 30 ms, and of 10 ms, beside another of 20 ms
    module       a module that calls an operator of 15 ms four times, and one of 5 ms
    backward     an operator of 40 ms, and of 10 ms, in the backward pass; 15 ms in the forward pass
    threads      a thread that takes 40 ms, and 10 ms, while the loop computes for 20 ms and then waits for it
    two_ranks    gloo; the second of two ranks runs an operator of 40 ms more before each all_reduce, and does not
    three_ranks  gloo; one of three ranks takes 60 ms before each all_reduce where the others take 20 ms, and 20 ms too

Of jobs whose steps differ by plan, with settings that change what every k-th of them does:

    log          25 ms, and nothing, in every 5th step, for a log line; 20 ms of computing
    accumulation an operator of 30 ms, and of 10 ms, in every 4th micro-step, with the optimizer; 15 ms of computing
    evaluation   an operator of 30 ms, and none, in every 3rd step
    batches      batches that take 8 ms, and every 4th 24 ms, loaded in the loop, and all at hand
    checkpoint   40 ms, and 10 ms, in every 4th step

A recording in which steps differ much was disturbed by whatever else the machine does: it is made again, up to --tries times,
and the calmest is kept. On a machine that has other work, run this under `chrt --fifo 1`. The name of the host is replaced.
"""

import argparse
import gzip
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, record_function, schedule

STEPS = 7
CALM = 0.08  # of the median step: how far apart the fastest and the slowest may be
HERE = os.path.dirname(os.path.abspath(__file__))


def pause(milliseconds):
    time.sleep(milliseconds / 1000)


@torch.library.custom_op("pairs::slow", mutates_args=())
def slow(x: torch.Tensor, milliseconds: int) -> torch.Tensor:
    """What differs between the settings."""
    pause(milliseconds)
    return x.clone()


@torch.library.custom_op("pairs::other", mutates_args=())
def other(x: torch.Tensor, milliseconds: int) -> torch.Tensor:
    """What does not."""
    pause(milliseconds)
    return x.clone()


@torch.library.custom_op("pairs::late", mutates_args=())
def late(x: torch.Tensor, milliseconds: int) -> torch.Tensor:
    """What one rank does and others do not."""
    pause(milliseconds)
    return x.clone()


class SlowBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, milliseconds):
        ctx.milliseconds = milliseconds
        return other(x, 15)

    @staticmethod
    def backward(ctx, grad):
        return slow(grad, ctx.milliseconds), None


class SlowData(torch.utils.data.Dataset):
    def __len__(self):
        return 4 * (STEPS + 4)

    def __getitem__(self, index):
        pause(5)
        return torch.full((64,), float(index))


class UnevenData(torch.utils.data.Dataset):
    """Every 4th batch of 4 takes three times as long."""

    def __len__(self):
        return 4 * 20

    def __getitem__(self, index):
        pause(6 if index // 4 % 4 == 3 else 2)
        return torch.full((64,), float(index))


class Block(torch.nn.Module):
    def __init__(self, milliseconds):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)
        self.milliseconds = milliseconds

    def forward(self, x):
        for _ in range(4):
            x = slow(self.linear(x), self.milliseconds)
        return x


class Head(torch.nn.Module):
    def forward(self, x):
        return other(x, 10)


def record(step, wait=0, steps=STEPS, **options):
    """The trace of STEPS calls of STEP, after two that warm up; written WAIT milliseconds after the last."""
    found = []

    def ready(profiler):
        pause(wait)
        name = os.path.join(tempfile.gettempdir(), f"pairs.{os.getpid()}.json")
        profiler.export_chrome_trace(name)
        with open(name, encoding="utf-8") as file:
            found.append(json.load(file))
        os.unlink(name)

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=1, active=steps, repeat=1),
        on_trace_ready=ready,
        **options,
    ) as profiler:
        for _ in range(steps + 2):
            step()
            profiler.step()
    return found[0]


def trainer():
    """A function that trains a small model with one batch; MIDDLE sees the batch first."""
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def train(batch, middle=lambda x: x):
        optimizer.zero_grad()
        net(middle(batch)).square().mean().backward()
        optimizer.step()

    return train


def loader(workers):
    train = trainer()
    batches = iter(torch.utils.data.DataLoader(SlowData(), batch_size=4, num_workers=workers))
    return [record(lambda: train(next(batches), lambda x: other(x, 30)))]


def host_sleep(milliseconds):
    train = trainer()
    batch = torch.ones(16, 64)

    def step():
        if milliseconds:
            with record_function("pause"):
                pause(milliseconds)
        with record_function("compute"):
            pause(25)
        train(batch)

    return [record(step)]


def operator(milliseconds):
    train = trainer()
    batch = torch.ones(16, 64)
    return [record(lambda: train(batch, lambda x: other(slow(x, milliseconds), 20)))]


def module(milliseconds):
    net = torch.nn.Sequential(Block(milliseconds), Head())
    batch = torch.ones(16, 64)

    def step():
        with torch.no_grad():
            net(batch)

    return [record(step, with_stack=True)]


def backward(milliseconds):
    train = trainer()
    batch = torch.ones(16, 64, requires_grad=True)
    return [record(lambda: train(batch, lambda x: SlowBackward.apply(x, milliseconds)))]


def threads(milliseconds):
    train = trainer()
    batch = torch.ones(16, 64)

    def step():
        thread = threading.Thread(target=slow, args=(batch, milliseconds))
        thread.start()
        train(batch, lambda x: other(x, 20))
        thread.join()
        other(batch, 5)

    return [record(step, experimental_config=_ExperimentalConfig(profile_all_threads=True))]


def every(period, job):
    """Trains with 20 ms of computing; JOB is called in every PERIOD-th step. Four periods are recorded."""
    train = trainer()
    batch = torch.ones(16, 64)
    steps = iter(range(1000))

    def step():
        train(batch, lambda x: other(x, 20))
        if next(steps) % period == period - 1:
            job()

    return [record(step, steps=4 * period)]


def ranged(name, milliseconds):
    """What a log line or a checkpoint does, in a range of that name."""
    def job():
        if milliseconds:
            with record_function(name):
                pause(milliseconds)

    return job


def evaluate(milliseconds):
    def job():
        if milliseconds:
            with record_function("eval"), torch.no_grad():
                slow(torch.ones(16, 64), milliseconds)

    return job


def accumulation(milliseconds):
    """Micro-steps, of which every 4th has the optimizer and an operator."""
    net = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    batch = torch.ones(16, 64)
    steps = iter(range(1000))

    def step():
        net(other(batch, 15)).square().mean().backward()
        if next(steps) % 4 == 3:
            slow(batch, milliseconds)
            optimizer.step()
            optimizer.zero_grad()

    return [record(step, steps=16)]


def batches(where):
    train = trainer()
    data = torch.utils.data.DataLoader(UnevenData(), batch_size=4)
    found = iter(data if where == "loader" else list(data))
    return [record(lambda: train(next(found), lambda x: other(x, 20)), steps=16)]


def rank_main(rank, slows, lates, port, out):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=len(slows))
    gradients = torch.ones(1000)

    def step():
        slow(gradients, slows[rank])
        if lates[rank]:
            late(gradients, lates[rank])
        dist.all_reduce(gradients)
        other(gradients, 15)

    trace = record(step, wait=500)  # the other ranks are not to be slowed down in their last step
    with open(out % rank, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    dist.destroy_process_group()


def ranks(slows, lates):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    out = os.path.join(tempfile.gettempdir(), f"pairs.{os.getpid()}.rank%d.json")
    mp.spawn(rank_main, (slows, lates, port, out), nprocs=len(slows))
    traces = []
    for rank in range(len(slows)):
        with open(out % rank, encoding="utf-8") as file:
            traces.append(json.load(file))
        os.unlink(out % rank)
    return traces


PAIRS = {
    "loader": (loader, [0, 2, 4]),
    "host_sleep": (host_sleep, [30, 10, 0]),
    "operator": (operator, [30, 10]),
    "module": (module, [15, 5]),
    "backward": (backward, [40, 10]),
    "threads": (threads, [40, 10]),
    "two_ranks": (lambda milliseconds: ranks([20, 20], [0, milliseconds]), [40, 0]),
    "log": (lambda milliseconds: every(5, ranged("log", milliseconds)), [25, 0]),
    "accumulation": (accumulation, [30, 10]),
    "evaluation": (lambda milliseconds: every(3, evaluate(milliseconds)), [30, 0]),
    "batches": (batches, ["loader", "memory"]),
    "checkpoint": (lambda milliseconds: every(4, ranged("checkpoint", milliseconds)), [40, 10]),
    "three_ranks": (lambda milliseconds: ranks([20, milliseconds, 20], [0, 0, 0]), [60, 20]),
}


# Every how many steps the plan repeats.
PERIODS = {"log": 5, "accumulation": 4, "evaluation": 3, "batches": 4, "checkpoint": 4}


def unevenness(traces, period):
    """How far apart the fastest and the slowest step of one place in the period are, of the median; the worst of TRACES."""
    worst = 0
    for trace in traces:
        steps = [e["dur"] for e in trace["traceEvents"] if e["name"].startswith("ProfilerStep#")]
        alike = [steps[place::period] for place in range(period)]
        worst = max([worst] + [(max(some) - min(some)) / statistics.median(steps) for some in alike])
    return worst


def calmest(job, setting, tries, period):
    best = None
    for _ in range(tries):
        traces = job(setting)
        if best is None or unevenness(traces, period) < unevenness(best, period):
            best = traces
        if unevenness(best, period) <= CALM:
            break
    return best


def save(trace, path):
    trace.pop("traceName", None)
    trace["host_name"] = "host"
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=HERE)
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for name in args.names or PAIRS:
        job, settings = PAIRS[name]
        for setting in settings:
            period = PERIODS.get(name, 1)
            traces = calmest(job, setting, args.tries, period)
            disturbed = unevenness(traces, period)
            print(f"{name}_{setting}: steps {disturbed:.1%} apart{' (uneven)' if disturbed > CALM else ''}",
                  file=sys.stderr)
            for rank, trace in enumerate(traces):
                suffix = f"_rank{rank}" if len(traces) > 1 else ""
                save(trace, os.path.join(args.out, f"{name}_{setting}{suffix}.json.gz"))


if __name__ == "__main__":
    main()
