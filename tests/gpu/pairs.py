#!/usr/bin/env python3
"""Record a job on a GPU before or after one change, with torch.profiler, for `tpa whatif` to predict one from the other.

    pairs.py PAIR SETTING --trace FILE [--steps 7] [--device cuda]

    copies     pageable, pinned    a batch is copied to the device in each step; the copy of pinned memory does not block
    item       each, none          three values are read by .item() in each step of a launch-bound loop
    graph      eager, replayed     the same step, launch-bound, as a CUDA graph
    autocast   fp32, bf16          large matrix products, under torch.autocast or not
    peaks      all                 matrix products of each type and a copy, in annotations called as `tpa roofline --peak` has
                                   them: what tests/gpu/peaks holds against cuBLAS

Prints the median time of a step without the profiler, in nanoseconds.
"""
import argparse
import statistics
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

SETTINGS = {"copies": ["pageable", "pinned"], "item": ["each", "none"], "graph": ["eager", "replayed"],
            "autocast": ["fp32", "bf16"], "peaks": ["all"]}

parser = argparse.ArgumentParser()
parser.add_argument("pair", choices=SETTINGS)
parser.add_argument("setting", choices=sum(SETTINGS.values(), []))
parser.add_argument("--trace", required=True)
parser.add_argument("--steps", type=int, default=7)
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
if args.setting not in SETTINGS[args.pair]:
    parser.error(f"{args.pair} has the settings {', '.join(SETTINGS[args.pair])}")
device = torch.device(args.device)
torch.manual_seed(0)
small = device.type == "cpu"  # only to try the program


def wait():
    if device.type == "cuda":
        torch.cuda.synchronize()


def layers(width, depth):
    return nn.Sequential(*[part for _ in range(depth) for part in (nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU())]).to(device)


def make_copies():
    batch = torch.randn(1 << (18 if small else 24))  # 64 MiB
    if args.setting == "pinned":
        batch = batch.pin_memory()
    model = layers(256, 8)

    def step():
        on_device = batch.to(device, non_blocking=True)
        for part in on_device[:256 * 64 * 12].view(12, 64, 256):
            model(part).sum().backward()
        wait()

    return step


def make_item():
    model, data = layers(256, 12), torch.randn(64, 256, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)

    def step():
        for _ in range(3):
            optimizer.zero_grad(set_to_none=False)
            loss = model(data).square().mean()
            loss.backward()
            optimizer.step()
            if args.setting == "each":
                loss.item()

    return step


def make_graph():
    model, data = layers(256, 12), torch.randn(64, 256, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)

    def train():
        optimizer.zero_grad(set_to_none=False)
        model(data).square().mean().backward()
        optimizer.step()

    if args.setting == "eager":
        run = train
    else:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                train()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            train()
        run = graph.replay

    def step():
        run()
        wait()

    return step


def make_autocast():
    width = 64 if small else 4096
    model, data = layers(width, 6), torch.randn(width, width, device=device)

    def step():
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=args.setting == "bf16"):
            loss = model(data).square().mean()
        loss.backward()
        wait()

    return step


def make_peaks():
    n, copied = (64, 1 << 10) if small else (8192, 1 << 28)
    types = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32, "fp64_matrix": torch.float64}
    if small:
        del types["fp16"]  # which a CPU does not multiply
    source = torch.randn(copied, device=device)
    target = torch.empty_like(source)

    def step():
        for rate, kind in types.items():
            torch.backends.cuda.matmul.allow_tf32 = rate == "tf32"
            x = torch.randn(n, n, device=device).to(kind)
            out = torch.empty_like(x)
            wait()
            with record_function(rate):
                for _ in range(5):
                    torch.mm(x, x, out=out)
                wait()
        with record_function("hbm"):
            for _ in range(5):
                target.copy_(source)
            wait()

    return step


step = globals()["make_" + args.pair]()
for _ in range(5):
    step()
wait()
times = []
for _ in range(args.steps):
    start = time.perf_counter_ns()
    step()
    wait()
    times.append(time.perf_counter_ns() - start)
activities = [ProfilerActivity.CPU] + ([] if small else [ProfilerActivity.CUDA])
with profile(activities=activities, record_shapes=True, schedule=schedule(wait=0, warmup=2, active=args.steps),
             on_trace_ready=lambda profiler: profiler.export_chrome_trace(args.trace)) as profiler:
    for _ in range(2 + args.steps):
        step()
        profiler.step()
print(round(statistics.median(times)))
