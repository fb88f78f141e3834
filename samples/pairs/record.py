#!/usr/bin/env python3
"""Record pairs of traces, before and after one change, with PyTorch on the CPU.

    samples/pairs/record.py [--out samples/pairs] [NAME...]

Each pair is a job in two or more settings that differ in one thing, recorded with torch.profiler. `tpa whatif` predicts
one from the other; tests/bench/accuracy compares the prediction with what was measured. What is made slow sleeps, so that
its duration is known and does not depend on the machine:

    loader      a dataset that takes 8 ms a sample, with 0, 2 and 4 DataLoader workers (batches of 4)
    host_sleep  15 ms of sleep between the steps of the loop, and none
    operator    an operator of 12 ms, then of 6 ms, between matrix products
    module      a module that calls an operator of 5 ms four times, and one of 1 ms four times
    backward    a backward function of 20 ms, and of 5 ms
    ranks       two ranks with gloo, the second 20 ms slower than the first before each all_reduce, and as fast
"""

import argparse
import gzip
import json
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile, record_function, schedule

STEPS = 8
HERE = os.path.dirname(os.path.abspath(__file__))


@torch.library.custom_op("pairs::slow", mutates_args=())
def slow(x: torch.Tensor, milliseconds: int) -> torch.Tensor:
    time.sleep(milliseconds / 1000)
    return x.clone()


class SlowBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, milliseconds):
        ctx.milliseconds = milliseconds
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return slow(grad, ctx.milliseconds), None


class SlowData(torch.utils.data.Dataset):
    def __len__(self):
        return 4 * (STEPS + 4)

    def __getitem__(self, index):
        time.sleep(0.008)
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


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))


def run(steps, step, prepare=lambda: None, with_stack=False):
    """The trace of STEPS calls of STEP, each preceded by PREPARE, after two that warm up."""
    found = []

    def ready(profiler):
        name = os.path.join(tempfile.gettempdir(), f"pairs.{os.getpid()}.json")
        profiler.export_chrome_trace(name)
        with open(name) as file:
            found.append(json.load(file))
        os.unlink(name)

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=1, active=steps),
        on_trace_ready=ready,
        with_stack=with_stack,
    ) as profiler:
        for _ in range(steps + 2):
            prepare()
            step()
            profiler.step()
    return found[0]


def train_step(net, optimizer, batch, middle=lambda x: x):
    optimizer.zero_grad()
    loss = net(middle(batch)).square().mean()
    loss.backward()
    optimizer.step()


def loader(workers):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    batches = iter(torch.utils.data.DataLoader(SlowData(), batch_size=4, num_workers=workers))

    def step():
        batch = next(batches)
        with record_function("compute"):
            time.sleep(0.010)
        train_step(net, optimizer, batch)

    return run(STEPS, step)


def host_sleep(milliseconds):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    batch = torch.ones(16, 64)

    def step():
        if milliseconds:
            with record_function("pause"):
                time.sleep(milliseconds / 1000)
        with record_function("compute"):
            time.sleep(0.010)
        train_step(net, optimizer, batch)

    return run(STEPS, step)


def operator(milliseconds):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    batch = torch.ones(16, 64)
    return run(STEPS, lambda: train_step(net, optimizer, batch, lambda x: slow(slow(x, milliseconds), 3)))


def module(milliseconds):
    net = torch.nn.Sequential(Block(milliseconds), model())
    batch = torch.ones(16, 64)

    def step():
        with torch.no_grad():
            net(batch)

    return run(STEPS, step, with_stack=True)


def backward(milliseconds):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    batch = torch.ones(16, 64, requires_grad=True)

    def step():
        train_step(net, optimizer, batch, lambda x: SlowBackward.apply(x, milliseconds))

    return run(STEPS, step)


def rank_main(rank, milliseconds, port, out):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo")
    net = model()
    grads = torch.ones(1000)

    def step():
        slow(torch.ones(4), 5 + (milliseconds if rank == 1 else 0))
        with torch.no_grad():
            net(torch.ones(16, 64))
        dist.all_reduce(grads)
        with record_function("compute"):
            time.sleep(0.005)

    trace = run(STEPS, step)
    with open(out % rank, "w") as file:
        json.dump(trace, file)
    dist.destroy_process_group()


def ranks(milliseconds, port=29517):
    out = os.path.join(tempfile.gettempdir(), f"pairs.{os.getpid()}.rank%d.json")
    mp.spawn(rank_main, (milliseconds, port + milliseconds, out), nprocs=2)
    traces = []
    for rank in range(2):
        with open(out % rank) as file:
            traces.append(json.load(file))
        os.unlink(out % rank)
    return traces


PAIRS = {
    "loader": (loader, [0, 2, 4]),
    "host_sleep": (host_sleep, [15, 0]),
    "operator": (operator, [12, 6]),
    "module": (module, [5, 1]),
    "backward": (backward, [20, 5]),
    "ranks": (ranks, [20, 0]),
}


def save(trace, path):
    trace.pop("traceName", None)
    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=HERE)
    parser.add_argument("names", nargs="*", default=list(PAIRS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    for name in args.names:
        job, settings = PAIRS[name]
        for setting in settings:
            traces = job(setting)
            if isinstance(traces, dict):
                save(traces, os.path.join(args.out, f"{name}_{setting}.json.gz"))
            else:
                for rank, trace in enumerate(traces):
                    save(trace, os.path.join(args.out, f"{name}_{setting}_rank{rank}.json.gz"))


if __name__ == "__main__":
    main()
