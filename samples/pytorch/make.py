#!/usr/bin/env python3
"""Make the PyTorch samples: real traces beside what the same process answered.

    make.py OUTPUT_FOLDER [NAME...]

Needs torch 2.14 or later (any build: only the CPU is used), and for `integer_microseconds` and `no_kineto`, which are
made only when named, torch 1.12, and 1.13 of Debian 12. For every NAME it writes

    NAME.json.gz         the trace as torch.profiler exported it
    NAME.expected.json   rows of key_averages(), exact in integer nanoseconds
    NAME.table.txt       the text of key_averages().table() for a matrix of arguments (not by torch 1)

See ../README.md for their layout. Each sample is made in a process of its own, so that none sees the
threads, ids or caches of another. The only thing changed in a trace is the name of the host.
"""

import gc
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import warnings

SAMPLES = {}  # name -> function that runs it


def sample(function):
    SAMPLES[function.__name__] = function
    return function


# ---- what is profiled ----------------------------------------------------------------------------


def cnn():
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


def train_cnn(profiler, steps):
    import torch
    from torch.profiler import record_function

    model = cnn()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss_function = torch.nn.CrossEntropyLoss()
    for _ in range(steps):
        images, labels = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))
        with record_function("forward"):
            loss = loss_function(model(images), labels)
        with record_function("backward"):
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        profiler.step()


@sample
def cnn_steps():
    """Three recorded steps of CNN training; shapes, memory and FLOPs."""
    run("cnn_steps", lambda p: train_cnn(p, 5), steps=(1, 1, 3), record_shapes=True, profile_memory=True, with_flops=True)


@sample
def cnn_stacks():
    """One step with Python stacks and module names."""
    run("cnn_stacks", lambda p: train_cnn(p, 3), steps=(1, 1, 1), record_shapes=True, profile_memory=True,
        with_flops=True, with_stack=True, with_modules=True)


@sample
def cnn_stacks_verbose():
    """One step whose operators carry their call stack as text."""
    from torch._C._profiler import _ExperimentalConfig

    run("cnn_stacks_verbose", lambda p: train_cnn(p, 3), steps=(1, 1, 1), stack=5, record_shapes=True, with_stack=True,
        experimental_config=_ExperimentalConfig(verbose=True))


@sample
def transformer():
    """Two steps of a one-layer transformer: attention by batched matrix products, Adam, gradient clipping."""
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(100, 32)
            self.q, self.k, self.v, self.out = (nn.Linear(32, 32) for _ in range(4))
            self.norm = nn.LayerNorm(32)
            self.head = nn.Linear(32, 100)

        def forward(self, tokens):
            x = self.embedding(tokens)
            n, length, width = x.shape
            q, k, v = (f(x).view(n, length, 4, 8).transpose(1, 2).reshape(n * 4, length, 8) for f in (self.q, self.k, self.v))
            weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) * 8**-0.5, -1)
            y = torch.bmm(weights, v).view(n, 4, length, 8).transpose(1, 2).reshape(n, length, width)
            return self.head(self.norm(x + self.out(y)))

    def train(profiler):
        model = Model()
        optimizer = torch.optim.Adam(model.parameters(), foreach=True)
        for _ in range(4):
            tokens = torch.randint(0, 100, (2, 16))
            logits = model(tokens)
            nn.functional.cross_entropy(logits[:, :-1].reshape(-1, 100), tokens[:, 1:].reshape(-1)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()

    run("transformer", train, steps=(1, 1, 2), record_shapes=True, with_flops=True)


@sample
def dataloader():
    """Three steps fed by two DataLoader worker processes; memory recorded."""
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    def train(profiler):
        data = TensorDataset(torch.randn(64, 20), torch.randn(64, 1))
        model = torch.nn.Sequential(torch.nn.Linear(20, 40), torch.nn.Tanh(), torch.nn.Linear(40, 1))
        optimizer = torch.optim.AdamW(model.parameters())
        for step, (x, y) in enumerate(DataLoader(data, batch_size=8, num_workers=2, shuffle=True)):
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
            if step == 4:
                break

    run("dataloader", train, steps=(1, 1, 3), profile_memory=True)


def rank_main(rank, port):
    """One of two ranks of distributed data-parallel training over gloo."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    name = f"two_ranks_{rank}"

    def train(profiler):
        model = DistributedDataParallel(cnn())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            model(torch.randn(2 + 2 * rank, 3, 16, 16)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            counts = torch.ones(8)
            dist.all_reduce(counts)
            dist.barrier()
            profiler.step()

    run(name, train, steps=(1, 1, 2), record_shapes=True)
    dist.destroy_process_group()


@sample
def two_ranks():
    """Two files: gloo's collectives are asynchronous regions."""
    import socket
    import torch.multiprocessing as mp

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(rank_main, args=(port,), nprocs=2)


@sample
def nested_names():
    """Same-name children, ranges within ranges, custom autograd functions, odd names, FLOP corner cases."""
    import torch
    from torch.profiler import record_function

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(context, gradient):
            (x,) = context.saved_tensors
            return 2 * x * gradient

    def recurse(depth):
        with record_function("recurse"):
            if depth:
                recurse(depth - 1)
            return torch.ones(3) + depth

    def work(_):
        recurse(4)
        with record_function("twice"):
            with record_function("twice"):
                torch.zeros(2)
            with record_function("twice"):
                torch.zeros(2)
        x = torch.randn(8, 8, requires_grad=True)
        for _ in range(3):
            (Square.apply(x) @ x).sum().backward()
        torch.utils.checkpoint.checkpoint(lambda t: torch.relu(t @ t).sin(), x, use_reentrant=False).sum().backward()
        with record_function("aten::add"):
            torch.add(torch.ones(4), 1)
        for name in ("comma, semicolon; <tag> & 'tick'", "n" * 52, "n" * 120, "ProfilerStep#later", "x"):
            with record_function(name):
                torch.empty(1)
        image = torch.randn(1, 4, 9, 9)
        torch.conv2d(image, torch.randn(4, 2, 3, 3), stride=2, dilation=2, groups=2)
        torch.conv2d(image, torch.randn(4, 4, 3, 3), padding="same")
        torch.baddbmm(torch.zeros(2, 3, 5), torch.ones(2, 3, 4), torch.ones(2, 4, 5))
        torch.empty(0, 4) @ torch.ones(4, 2)
        torch.mul(torch.tensor(2.0), torch.tensor(3.0))

    import torch.utils.checkpoint

    run("nested_names", work, record_shapes=True, profile_memory=True, with_flops=True)


@sample
def unfinished():
    """Regions that are still open when the profiler stops, and one that outlives its parent."""
    import torch
    from torch.profiler import record_function

    open_regions = []

    def work(_):
        outer, inner = record_function("outer"), record_function("inner")
        outer.__enter__()
        inner.__enter__()
        outer.__exit__(None, None, None)  # inner straddles the end of outer
        torch.ones(5).add(1)
        inner.__exit__(None, None, None)
        for name in ("never_closed", "never_closed_inner"):
            open_regions.append(record_function(name))
            open_regions[-1].__enter__()
        torch.ones(5).add(1)

    run("unfinished", work, profile_memory=True)


@sample
def memory():
    """Memory allocated and freed within operators, within annotations, and outside both."""
    import torch

    def work(_):
        torch.empty(10)
        kept = [torch.empty(1000 * n) for n in range(1, 4)]
        with torch.profiler.record_function("keep"):
            kept.append(torch.randn(50, 50) @ torch.randn(50, 50))
        x = torch.randn(30, 30, requires_grad=True)
        (x.exp() @ x).sum().backward()
        kept.clear()

    run("memory", work, profile_memory=True, record_shapes=True)


@sample
def threads():
    """Operators on three threads at once."""
    import torch
    from torch._C._profiler import _ExperimentalConfig

    def work(_):
        turn = threading.Barrier(3)

        def busy(n):
            with torch.profiler.record_function(f"thread {n}"):
                for _ in range(3):
                    turn.wait()
                    torch.randn(20 * n, 20 * n).mm(torch.ones(20 * n, 5)).relu_()

        others = [threading.Thread(target=busy, args=(n,), name=f"busy {n}") for n in (2, 3)]
        for t in others:
            t.start()
        busy(1)
        for t in others:
            t.join()

    run("threads", work, record_shapes=True, experimental_config=_ExperimentalConfig(profile_all_threads=True))


@sample
def python_gc():
    """Python's garbage collections as events, and keyword arguments of operators."""
    import torch
    from torch._C._profiler import _ExperimentalConfig

    def work(_):
        for size in (3, 4):
            torch.randn(size, size).sum(dim=0, keepdim=True)
            gc.collect()

    run("python_gc", work, python=True, record_shapes=True, with_stack=True,
        experimental_config=_ExperimentalConfig(record_python_gc_info=True))


@sample
def empty():
    """A profile in which nothing happened."""
    run("empty", lambda _: None)


@sample
def integer_microseconds():
    """Made with torch 1.12, which wrote absolute, whole microseconds: zero-length events and ties."""
    run("integer_microseconds", lambda p: train_cnn(p, 4), steps=(1, 1, 2), profile_memory=True)


@sample
def no_kineto():
    """Made with Debian's torch 1.13, which is built without Kineto: operators have no category and one process."""
    import torch

    def train(profiler):
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(24, 8)), batch_size=8)
        layer = torch.nn.Linear(8, 2)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for batch, in loader:
            layer(batch).sum().backward()
            optimizer.step()
            profiler.step()

    run("no_kineto", train, steps=(0, 1, 2))


# ---- profiling and writing -----------------------------------------------------------------------

COLUMNS = ["key", "device_type", "is_user_annotation", "count", "cpu_time_total_ns", "self_cpu_time_total_ns",
           "device_time_total_ns", "self_device_time_total_ns", "cpu_memory_usage", "self_cpu_memory_usage",
           "device_memory_usage", "self_device_memory_usage", "flops"]

TABLES = [
    ({}, {}),
    ({}, {"row_limit": -1}),
    ({}, {"sort_by": "cpu_time_total"}),
    ({}, {"sort_by": "self_cpu_time_total", "row_limit": 7}),
    ({}, {"sort_by": "cuda_time_total", "row_limit": 7}),
    ({}, {"sort_by": "cpu_time", "row_limit": 7}),
    ({}, {"sort_by": "self_cpu_memory_usage", "row_limit": 7}),
    ({}, {"sort_by": "count", "row_limit": 7}),
    ({}, {"sort_by": "flops", "row_limit": 7}),
    ({}, {"sort_by": "cpu_time_total", "top_level_events_only": True}),
    ({}, {"sort_by": "cpu_time_total", "time_unit": "s", "row_limit": 7}),
    ({}, {"time_unit": "ms", "row_limit": 7}),
    ({}, {"time_unit": "us", "row_limit": 7}),
    ({"group_by_input_shape": True}, {"sort_by": "self_cpu_time_total", "row_limit": 12}),
]


def ns(us):
    """torch keeps times as doubles of microseconds that were whole nanoseconds: the nearest integer is exact."""
    return round(us * 1000)


def row(average, shape):
    device = "CPU" if str(average.device_type).endswith("CPU") else "CUDA"
    annotation = getattr(average, "is_user_annotation", None)  # older torch does not tell
    shapes = [str(average.input_shapes)] if shape else []
    return [average.key, device, annotation if annotation is None else bool(annotation)] + shapes + [
        average.count, ns(average.cpu_time_total), ns(average.self_cpu_time_total), 0, 0,
        average.cpu_memory_usage, average.self_cpu_memory_usage, 0, 0, average.flops or 0]


def write_answers(name, profiler, options, stack, python):
    import torch

    groups = {"key": [row(a, False) for a in profiler.key_averages()],
              "input_shape": [row(a, True) for a in profiler.key_averages(group_by_input_shape=True)]}
    tables = list(TABLES)
    if stack:
        groups[f"stack{stack}"] = [row(a, False) for a in profiler.key_averages(group_by_stack_n=stack)]
        tables.append(({"group_by_stack_n": stack}, {"sort_by": "self_cpu_time_total", "row_limit": 12}))
    if python:
        groups["with_python"] = [row(a, False) for a in profiler.events().key_averages(include_python_functions=True)]
    with open(f"{name}.expected.json", "w") as out:
        told = {k: v for k, v in options.items() if k != "experimental_config"}
        out.write('{"source": "torch %s", "profile": %s,\n' % (torch.__version__.split("+")[0], json.dumps(told)))
        out.write('"columns": %s,\n' % json.dumps(COLUMNS))
        total = sum(r[5] for r in groups["key"])
        out.write('"footer": {"self_cpu_time_total_ns": %d, "self_device_time_total_ns": 0},\n"groups": {' % total)
        out.write(",".join('\n"%s": [\n%s\n]' % (group, ",\n".join(json.dumps(r) for r in rows))
                           for group, rows in groups.items()))
        out.write("}}\n")
    if torch.__version__.startswith("1."):
        return  # its table looks different
    with open(f"{name}.table.txt", "w") as out:
        for grouping, arguments in tables:
            averages = profiler.key_averages(**grouping)
            words = ", ".join(f"{k}={v!r}" for k, v in grouping.items())
            out.write(f"##### key_averages({words}).table({arguments})\n")
            out.write(averages.table(**arguments) + "\n")


def run(name, work, steps=None, stack=0, python=False, **options):
    """Profile WORK and write the trace and torch's answers. STEPS is (wait, warmup, active)."""
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule

    def ready(profiler):
        profiler.export_chrome_trace(f"{name}.json")
        write_answers(name, profiler, options, stack, python)

    torch.manual_seed(1)
    plan = {"schedule": schedule(wait=steps[0], warmup=steps[1], active=steps[2], repeat=1)} if steps else {}
    with profile(activities=[ProfilerActivity.CPU], on_trace_ready=ready, **plan, **options) as profiler:
        work(profiler)
    with open(f"{name}.json", "rb") as f:
        text = re.sub(rb'("host_name": )"[^"]*"', rb'\1"host"', f.read())
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as f:
        f.write(text)
    with open(f"{name}.json.gz", "wb") as f:
        f.write(packed.getvalue())
    os.remove(f"{name}.json")


def main():
    if sys.argv[1] == "--here":
        warnings.simplefilter("ignore")
        SAMPLES[sys.argv[2]]()
        return
    out, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or [n for n in SAMPLES if n not in ("integer_microseconds", "no_kineto")]
    script = os.path.abspath(__file__)
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            print(name, flush=True)
            subprocess.run([sys.executable, script, "--here", name], cwd=scratch, check=True)
            for made in os.listdir(scratch):
                os.replace(os.path.join(scratch, made), os.path.join(out, made))


if __name__ == "__main__":
    main()
