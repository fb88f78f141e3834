#!/usr/bin/env python3
"""A pipeline of four processes over gloo, recorded by torch.profiler; stages mostly sleep.

    pipeline.py CASE FOLDER      exit 77 if torch and numpy are not installed, or torch has no torch.distributed.pipelining

Cases: gpipe, where stage 2 takes 1.6 times as long; 1f1b, where all stages are equal.
"""
import multiprocessing
import os
import socket
import sys
import time

RANKS, MICROBATCHES, STEPS, WIDTH = 4, 6, 3, 16
FORWARD_S = 0.03


def make_stage(rank, slow):
    import torch

    seconds = FORWARD_S * (1.6 if rank == slow else 1)

    class Work(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            time.sleep(seconds)
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            time.sleep(2 * seconds)
            return gradient.clone()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            return self.last(Work.apply(self.first(x)))

    return Layer()


def train(rank, case, folder, port):
    import torch
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=RANKS)
    module = make_stage(rank, 2 if case == "gpipe" else None)
    stage = PipelineStage(module, rank, RANKS, torch.device("cpu"))
    schedule = (ScheduleGPipe if case == "gpipe" else Schedule1F1B)(stage, MICROBATCHES, loss_fn=torch.nn.functional.mse_loss)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    batch, target = torch.ones(MICROBATCHES * 2, WIDTH), torch.zeros(MICROBATCHES * 2, WIDTH)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=torch.profiler.schedule(wait=1, warmup=1, active=STEPS),
                                on_trace_ready=lambda profile: profile.export_chrome_trace(os.path.join(folder, f"rank{rank}.json"))) as profile:
        for _ in range(2 + STEPS):
            if rank == 0:
                schedule.step(batch)
            elif rank == RANKS - 1:
                schedule.step(target=target, losses=[])
            else:
                schedule.step()
            optimizer.step()
            optimizer.zero_grad()
            profile.step()
    dist.barrier()
    dist.destroy_process_group()


def main():
    try:
        import numpy  # noqa: F401
        from torch.distributed.pipelining import PipelineStage  # noqa: F401
        from torch.distributed import is_gloo_available
    except ImportError:
        print("torch or numpy, which it needs here, is not installed, or torch has no torch.distributed.pipelining")
        return 77
    if not is_gloo_available():
        print("this torch has no gloo")
        return 77
    os.makedirs(sys.argv[2], exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [multiprocessing.get_context("spawn").Process(target=train, args=(rank, sys.argv[1], sys.argv[2], port)) for rank in range(RANKS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(300)
        process.kill()
    return 0 if all(process.exitcode == 0 for process in processes) else 1


if __name__ == "__main__":
    sys.exit(main())
