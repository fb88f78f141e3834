#!/usr/bin/env python3
"""Training loops to measure a recorder with: prints the median time of a step in nanoseconds.

    loops.py transformer|cnn|graph [--profile none|cuda|both] [--steps N] [--trace FILE] [--averages FILE]

transformer is launch-bound: small layers, eager. cnn is compute-bound. graph is the transformer's forward and backward in one
CUDA graph. --profile runs torch.profiler over the measured steps, as a user would; its export is not measured.
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


def eager():
    optimizer.zero_grad(set_to_none=False)
    loss = loss_of(model(data), target)
    loss.backward()
    return loss


for _ in range(3):
    eager()
    optimizer.step()
if args.loop == "graph":
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            eager()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        eager()
    forward_backward = graph.replay
else:
    forward_backward = eager


def step():
    forward_backward()
    optimizer.step()
    torch.cuda.synchronize()


for _ in range(args.warmup):
    step()
times = []


def measured():
    for _ in range(args.steps):
        start = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - start)


if args.profile == "none":
    measured()
else:
    activities = [torch.profiler.ProfilerActivity.CUDA]
    if args.profile == "both":
        activities.append(torch.profiler.ProfilerActivity.CPU)
    with torch.profiler.profile(activities=activities) as profiler:
        step()  # the first step pays for starting the profiler
        measured()
    if args.trace:
        profiler.export_chrome_trace(args.trace)
    if args.averages:
        averages = profiler.key_averages()
        key = "device_time_total" if hasattr(averages[0], "device_time_total") else "cuda_time_total"  # since PyTorch 2.6
        with open(args.averages, "w") as out:
            out.write(averages.table(sort_by=key, row_limit=-1))
print(round(statistics.median(times)))
