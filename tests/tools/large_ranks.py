#!/usr/bin/env python3
"""The traces of the ranks of a large job with a pipeline, for the test of speed and memory of tpa job.

    large_ranks.py FOLDER [RANKS [STEPS [MICROBATCHES]]]      1,000 ranks, 40 steps of 16 microbatches: 2.6 GB

As large_job.py, which plays it: 1F1B of 8 stages, lengths vary by 1 %; rank 3 of replica 5 takes half as much again.
"""
import multiprocessing
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from large_job import SLOW, STAGES, BACKWARD, FORWARD, TRANSFER, order, play  # noqa: E402

HEAD = ('{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"NVIDIA H100 80GB HBM3"}}],"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":{ranks},"pg_config":['
        '{{"pg_name":"0","pg_desc":"default_pg","pg_size":{ranks},"ranks":{all}}},{{"pg_name":"1","pg_desc":"mesh_pp","pg_size":8,"ranks":{pipeline}}},'
        '{{"pg_name":"2","pg_desc":"mesh_dp","pg_size":{replicas},"ranks":{equals}}}]}},"host_name":"node{host}","baseTimeNanoseconds":1790000000000000000,"traceEvents":[\n')


class Writer:
    """Events of a rank: calls one after the other on the host, and what they start."""

    def __init__(self, file, shift):
        self.file, self.shift, self.host, self.calls = file, shift, 0.0, 0

    def event(self, category, name, pid, tid, start, end, args):
        self.file.write(f'{{"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{tid},"ts":{start + self.shift:.3f},"dur":{end - start:.3f},"args":{{{args}}}}},\n')

    def launch(self, name, stream, start, end, args=""):
        self.calls += 1
        self.event("cuda_runtime", "cudaLaunchKernel", 1, 1, self.host, self.host + 2, f'"correlation":{self.calls}')
        self.event("kernel", name, 0, stream, start, end, f'"device":0,"stream":{stream},"correlation":{self.calls}{args}')
        self.host += 3

    def mark(self, name, begin):
        self.event("user_annotation", name, 1, 1, begin, self.host, "")
        self.host += 1


def write(task):
    folder, ranks, steps, microbatches, dp = task
    chance = random.Random(dp)
    orders = [order(stage, microbatches) for stage in range(STAGES)]
    files = [open(os.path.join(folder, f"rank{dp * STAGES + stage:04}.json"), "w", encoding="ascii") for stage in range(STAGES)]
    writers = [Writer(file, dp // 8 * 3000.0) for file in files]  # hosts of 64 ranks, whose clocks are 3 ms apart
    for stage, file in enumerate(files):
        rank = dp * STAGES + stage
        file.write(HEAD.format(rank=rank, ranks=ranks, replicas=ranks // STAGES, host=dp // 8, all="[0]", pipeline=list(range(dp * STAGES, dp * STAGES + STAGES)),
                               equals=list(range(stage, ranks, STAGES))))
    message = ',"Collective name":"{}","In msg nelems":64,"Out msg nelems":64,"dtype":"Float","Group size":8,"Process Group Description":"mesh_pp"'
    reduce = ',"Collective name":"allreduce","In msg nelems":64,"Out msg nelems":64,"dtype":"Float","Group size":' + str(ranks) + ',"Process Group Name":"0","Process Group Description":"default_pg","Seq":{}'
    base = 100.0
    for step in range(steps):
        def length(stage, backward):
            return (BACKWARD if backward else FORWARD) * chance.uniform(0.99, 1.01) * (1.5 if (dp, stage) == SLOW else 1)
        played = play(orders, microbatches, length)
        last = base + 1.6 * (STAGES + microbatches) * (FORWARD + BACKWARD)
        for stage, computed in enumerate(played):
            writer = writers[stage]
            writer.host = max(writer.host, base - 90)
            begun = writer.host
            writer.host += 1
            for backward, m, start, end in computed:
                start, end, letter = start + base, end + base, "B" if backward else "F"
                parts = [("RECV_", start - TRANSFER, start, stage != (STAGES - 1 if backward else 0)), ("", start, end, True), ("SEND_", end, end + TRANSFER, stage != (0 if backward else STAGES - 1))]
                for word, first, until, there in parts:
                    if there:
                        at = writer.host
                        writer.host += 1
                        kernel = ("ncclDevKernel_SendRecv", 31 + 2 * backward + (word == "SEND_")) if word else ("gemm_bwd" if backward else "gemm_fwd", 7)
                        writer.launch(*kernel, first, until, message.format(word[:4].lower()) if word else "")
                        writer.mark(f"PP:{stage}{word}{letter}{m}", at)
            writer.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 37, computed[-1][3] + base, last, reduce.format(step))
            at = writer.host
            writer.launch("multi_tensor_apply_kernel", 7, last, last + 100)
            writer.mark("Optimizer.step#AdamW.step", at)
            writer.event("user_annotation", f"ProfilerStep#{step}", 1, 1, begun, writer.host, "")
            writer.host += 1
        base = last + 1000
    for file in files:
        file.write('{"ph":"M","name":"process_name","pid":1,"args":{"name":"python"}}]}\n')
        file.close()


def main():
    ranks, steps, microbatches = (int(v) for v in (sys.argv[2:] + ["1000", "40", "16"][len(sys.argv) - 2:])[:3])
    os.makedirs(sys.argv[1], exist_ok=True)
    with multiprocessing.Pool() as pool:
        pool.map(write, [(sys.argv[1], ranks, steps, microbatches, dp) for dp in range(ranks // STAGES)])


if __name__ == "__main__":
    main()
