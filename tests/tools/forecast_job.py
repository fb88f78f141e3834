"""A training job that allocates memory, at a batch size and a length of sequences, as Chrome JSON of torch.profiler.

    from forecast_job import make
    trace, peak = make(batch=4, seq=64)       # peak: the most bytes in use

Parameters and the states of the optimizer are constant, activations linear in the batch, scores of attention quadratic in the sequence,
a mask has a constant part. The peak is in the optimizer at small sizes and in the backward pass at large ones. `experts`: tokens are split
at random between two experts, of which all tokens are linear. `vary`: each step has a length of its own. `chunk`: the loss is
computed for so many samples at a time, so that the number of allocations depends on the batch. `device`: 0 for a GPU, else the host.
"""

import random

HIDDEN, LAYERS, HEADS, VOCABULARY = 64, 3, 4, 1000


class Job:
    def __init__(self, device):
        self.events, self.time, self.address = [], 1000.0, 0x1000
        self.in_use = self.peak = self.reserved = 0
        self.device = device

    def memory(self, bytes, address):
        self.in_use += bytes
        self.peak = max(self.peak, self.in_use)
        self.reserved = max(self.reserved, (self.in_use + 0x1FFFFF) // 0x200000 * 0x200000)
        gpu = self.device is not None
        args = {"Total Allocated": self.in_use, "Bytes": bytes, "Addr": address, "Device Id": self.device if gpu else -1, "Device Type": 1 if gpu else 0}
        if gpu:
            args["Total Reserved"] = self.reserved
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": self.time, "args": args})
        self.time += 0.25

    def op(self, name, bytes):
        """An operator that allocates BYTES; the block."""
        start = self.time
        self.time += 0.25
        self.address += 0x100000
        self.memory(bytes, self.address)
        self.events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": self.time - start, "args": {"External id": len(self.events)}})
        self.time += 0.25
        return self.address, bytes

    def free(self, block):
        self.memory(-block[1], block[0])


def make(batch, seq=64, experts=False, vary=False, chunk=0, device=None, steps=3, seed=1):
    job, chance = Job(device), random.Random(seed * 1000 + batch)
    parameters = [job.op("aten::empty", HIDDEN * HIDDEN * 48) for _ in range(LAYERS)]
    states = []
    for step in range(steps):
        begin = job.time
        length = chance.randint(seq // 3, seq) if vary else seq
        tokens = batch * length
        kept = []
        for _ in range(LAYERS):
            kept.append(job.op("aten::addmm", tokens * HIDDEN * 4))
            kept.append(job.op("aten::softmax", batch * HEADS * length * length * 4))
            kept.append(job.op("aten::cat", 40_000 + tokens * 8))
            if experts:
                first = chance.randint(tokens // 3, 2 * tokens // 3)
                kept.append(job.op("aten::index", first * HIDDEN * 4))
                kept.append(job.op("aten::index", (tokens - first) * HIDDEN * 4))
        for part in range(-(-batch // chunk) if chunk else 1):
            samples = min(chunk, batch - part * chunk) if chunk else batch
            loss = job.op("aten::log_softmax", samples * length * VOCABULARY * 4)
            job.free(loss)
        gradients = []
        for layer in range(LAYERS):
            gradient = job.op("aten::mm", tokens * HIDDEN * 4)
            gradients.append(job.op("aten::mm_backward", HIDDEN * HIDDEN * 48))
            for _ in range(5 if experts else 3):
                job.free(kept.pop())
            job.free(gradient)
        if not states:
            states = [job.op("aten::zeros_like", HIDDEN * HIDDEN * 96) for _ in parameters]
        workspace = [job.op("aten::_foreach_sqrt", HIDDEN * HIDDEN * 96) for _ in parameters]
        for block in workspace + gradients:
            job.free(block)
        job.events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin, "dur": job.time - begin, "args": {}})
        job.time += 1
    return {"schemaVersion": 1, "profile_memory": 1, "traceName": "forecast", "traceEvents": job.events}, job.peak
