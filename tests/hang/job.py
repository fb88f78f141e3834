#!/usr/bin/env python3
"""A job of four processes over gloo that hangs as it is told, and writes the dumps of its Flight Recorder.

    job.py CASE FOLDER      exit 77 if torch is not installed, or too old to dump gloo's operations

Cases: stays_out, other_operation, other_order, subgroup, idle.
"""
import datetime
import multiprocessing
import os
import sys
import threading
import time

RANKS = 4


def dump_later(rank, folder, seconds):
    from torch._C._distributed_c10d import _dump_fr_trace

    def dump():
        time.sleep(seconds)
        path = os.path.join(folder, "rank_%d" % rank)
        with open(path + ".part", "wb") as out:
            out.write(_dump_fr_trace(True, True, False))
        os.rename(path + ".part", path)
        for _ in range(300):  # who leaves first breaks the connections of those that still write
            if all(os.path.exists(os.path.join(folder, "rank_%d" % r)) for r in range(RANKS)):
                break
            time.sleep(0.1)
        time.sleep(1)
        os._exit(0)

    threading.Thread(target=dump, daemon=True).start()


def load_batch():
    time.sleep(3600)


def train(rank, case, folder, port):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:%d" % port, rank=rank, world_size=RANKS,
                            timeout=datetime.timedelta(seconds=600))
    halves = [dist.new_group([0, 1], group_desc="left"), dist.new_group([2, 3], group_desc="right")]
    both = [dist.new_group(list(range(RANKS)), group_desc=d) for d in ("weights", "metrics")]
    gradient = torch.ones(256)
    for _ in range(4):
        dist.all_reduce(gradient)
        dist.all_reduce(gradient, group=halves[rank // 2])
        for group in both:
            dist.all_reduce(gradient, group=group)
    dist.barrier()
    dump_later(rank, folder, 4)
    if case == "stays_out":
        if rank == 2:
            load_batch()
        dist.all_reduce(gradient)
    elif case == "subgroup":
        if rank == 3:
            load_batch()
        dist.all_reduce(gradient, group=halves[rank // 2])
        dist.all_reduce(gradient)
    elif case == "other_operation":
        if rank == 1:
            dist.broadcast(gradient, 0)
        else:
            dist.all_reduce(gradient)
    elif case == "other_order":
        for group in reversed(both) if rank == 3 else both:
            dist.all_reduce(gradient, group=group)
    time.sleep(3600)


def main():
    try:
        from torch._C._distributed_c10d import _dump_fr_trace  # noqa: F401
    except ImportError:
        print("torch is not installed, or has no _dump_fr_trace")
        return 77
    case, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    port = 29500 + os.getpid() % 20000
    ranks = [multiprocessing.get_context("spawn").Process(target=train, args=(r, case, folder, port))
             for r in range(RANKS)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(120)
        rank.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
