#!/usr/bin/env python3
"""Training loops to measure a recorder with: prints the median time of a step in nanoseconds.

    loops.py transformer|cnn|graph [--profile none|cuda|both] [--steps N] [--trace FILE] [--averages FILE]

transformer is launch-bound: small layers, eager. cnn is compute-bound. graph is what PyTorch measures its own recorder with
(benchmarks/profiler_benchmark/cupti_monitor_bench.py): a CUDA graph of 256 groups, each of four to eight pairs of add and relu
on 2,048 floats and a sleep of 180,000 clocks, on two streams; samples of 20 replays, each synchronised once. A step is
one replay there, and its time a sample's by 20. --profile runs torch.profiler over the measured steps, as a user would; its
export is not measured. Exactly these steps are in the NVTX range "measured".
"""
import argparse
import statistics
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("loop", choices=["transformer", "cnn", "graph"])
parser.add_argument("--profile", choices=["none", "cuda", "both"], default="none")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--warmup", type=int, default=30)
parser.add_argument("--trace")
parser.add_argument("--averages")
args = parser.parse_args()
torch.manual_seed(0)
device = torch.device("cuda")

GROUPS, REPLAYS = 256, 20


def make_training():
    """A step: forward, backward, update, and wait."""
    if args.loop == "cnn":
        layers = []
        for i in range(8):
            layers += [nn.Conv2d(64 if i else 3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
        model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).to(device)
        data = torch.randn(64, 3, 224, 224, device=device)
        target = torch.randint(10, (64,), device=device)
    else:
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0)
        model = nn.Sequential(nn.TransformerEncoder(layer, 6), nn.Flatten(), nn.Linear(128 * 32, 10)).to(device)
        data = torch.randn(8, 32, 128, device=device)
        target = torch.randint(10, (8,), device=device)
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss_of(model(data), target).backward()
        optimizer.step()
        torch.cuda.synchronize()

    return step


def make_replays():
    """20 replays of a graph, and wait."""
    values = [torch.randn(2048, device=device) for _ in range(2)]
    side = torch.cuda.Stream()

    def groups():
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        for group in range(GROUPS):
            with torch.cuda.stream(side if group % 2 else main):
                for _ in range(4 + group % 5):
                    values[group % 2].add_(1.0).relu_()
                torch.cuda._sleep(180000)
        main.wait_stream(side)

    first = torch.cuda.Stream()
    with torch.cuda.stream(first):
        groups()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        groups()

    def step():
        for _ in range(REPLAYS):
            graph.replay()
        torch.cuda.synchronize()

    return step


replays = REPLAYS if args.loop == "graph" else 1  # steps that are measured together
step = make_replays() if args.loop == "graph" else make_training()
rounds = max(1, args.steps // replays)
for _ in range(args.warmup // replays + (args.warmup % replays > 0)):
    step()
torch.cuda.synchronize()
times = []


def measured():
    for _ in range(rounds):
        start = time.perf_counter_ns()
        step()
        times.append((time.perf_counter_ns() - start) / replays)


def recorded():
    """What torch.profiler covers; its first step pays for starting it, so it is not measured."""
    torch.cuda.nvtx.range_push("measured")
    step()
    measured()
    torch.cuda.nvtx.range_pop()


if args.profile == "none":
    recorded()
else:
    activities = [torch.profiler.ProfilerActivity.CUDA]
    if args.profile == "both":
        activities.append(torch.profiler.ProfilerActivity.CPU)
    with torch.profiler.profile(activities=activities) as profiler:
        recorded()
    if args.trace:
        profiler.export_chrome_trace(args.trace)
    if args.averages:
        averages = profiler.key_averages()
        key = "device_time_total" if hasattr(averages[0], "device_time_total") else "cuda_time_total"  # since PyTorch 2.6
        with open(args.averages, "w") as out:
            out.write(averages.table(sort_by=key, row_limit=-1))
print(round(statistics.median(times)))
