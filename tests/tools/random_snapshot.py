#!/usr/bin/env python3
"""Write a memory snapshot as torch.cuda.memory._dump_snapshot() does, of a program that allocates by chance.

    random_snapshot.py SEED FILE [--steps N] [--leak BYTES] [--oom] [--ring N] [--skip ACTION] [--protocol N]
                                 [--expandable] [--devices N] [--no-times] [--no-stacks] [--json] [--list]
                                 [--like 2.0|2.15|xpu]

The allocator follows PyTorch's rules: requests are rounded up to 512 bytes, those up to 1 MiB come from segments of
2 MiB, larger ones from segments of 20 MiB or their own size in steps of 2 MiB; the smallest free block that fits is
split, and neighbours that are free are joined. The same seed gives the same bytes.
"""
import argparse
import json
import pickle
import random

MIB = 1 << 20


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


LIBRARY = frame("forward", "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", 125)
MAIN = [frame("main", "/home/u/job/train.py", 88), frame("<module>", "/home/u/job/train.py", 120)]
CPP = [frame("torch::unwind::unwind()", "??", 0),
       frame("torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0)]


class Block:
    def __init__(self, segment, address, size):
        self.segment, self.address, self.size = segment, address, size
        self.state, self.requested, self.frames = "inactive", 0, []


class Allocator:
    """One device."""

    def __init__(self, device, args, clock):
        self.device, self.args, self.clock = device, args, clock
        self.segments, self.trace = [], []
        self.next = 0x7F0000000000 + (device << 36)
        self.expanding = None

    def log(self, action, address, size, frames):
        if action in self.args.skip:
            return
        entry = {"action": action, "addr": address, "size": size, "stream": 0}
        if action == "oom":
            entry = {"action": action, "device_free": address, "size": size, "stream": 0}
        if not self.args.no_times:
            entry["time_us"] = self.clock.now()
        entry["frames"] = frames
        self.trace.append(entry)

    def blocks(self, small):
        return [b for s in self.segments if s["small"] == small for b in s["blocks"]]

    def grow(self, size, small, frames):
        if self.args.expandable:
            page = 2 * MIB if small else 20 * MIB
            size = (size + page - 1) // page * page
            mine = [s for s in self.segments if s["small"] == small]
            if mine:
                segment = mine[0]
                address = segment["address"] + segment["total"]
                segment["total"] += size
            else:
                address = self.next
                self.next += 1 << 34
                segment = {"address": address, "total": size, "small": small, "blocks": [], "frames": frames}
                self.segments.append(segment)
            self.log("segment_map", address, size, frames)
        else:
            size = 2 * MIB if small else 20 * MIB if size < 10 * MIB else (size + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
            address = self.next
            self.next += size + 2 * MIB
            segment = {"address": address, "total": size, "small": small, "blocks": [], "frames": frames}
            self.segments.append(segment)
            self.log("segment_alloc", address, size, frames)
        block = Block(segment, address, size)
        segment["blocks"].append(block)
        self.join(block)
        return segment

    def join(self, block):
        blocks = block.segment["blocks"]
        at = blocks.index(block)
        while at + 1 < len(blocks) and blocks[at + 1].state == "inactive":
            block.size += blocks.pop(at + 1).size
        while at > 0 and blocks[at - 1].state == "inactive":
            blocks[at - 1].size += block.size
            blocks.pop(at)
            at -= 1
            block = blocks[at]

    def alloc(self, requested, frames):
        size = max(512, (requested + 511) // 512 * 512)
        small = size <= MIB
        free = [b for b in self.blocks(small) if b.state == "inactive" and b.size >= size]
        if not free:
            if self.args.limit and sum(s["total"] for s in self.segments) + size > self.args.limit:
                self.log("oom", 3 * MIB, size, frames)
                return None
            self.grow(size, small, frames)
            free = [b for b in self.blocks(small) if b.state == "inactive" and b.size >= size]
        block = min(free, key=lambda b: (b.size, b.address))
        rest = block.size - size
        if rest >= 512 if small or self.args.expandable else rest > MIB:
            behind = Block(block.segment, block.address + size, rest)
            blocks = block.segment["blocks"]
            blocks.insert(blocks.index(block) + 1, behind)
            block.size = size
        block.state, block.requested, block.frames = "active_allocated", requested, frames
        self.log("alloc", block.address, requested, frames)
        return block

    def free(self, block, complete=True):
        self.log("free_requested", block.address, block.requested, block.frames)
        block.state = "active_pending_free"
        if complete:
            self.complete(block)

    def complete(self, block):
        self.log("free_completed", block.address, block.requested, block.frames)
        block.state = "inactive"
        self.join(block)

    def snapshot(self):
        for s in self.segments:
            active = [b for b in s["blocks"] if b.state != "inactive"]
            yield {
                "device": self.device, "address": s["address"], "total_size": s["total"],
                "allocated_size": sum(b.size for b in active if b.state == "active_allocated"),
                "active_size": sum(b.size for b in active),
                "requested_size": sum(b.requested for b in active),
                "stream": 0, "segment_type": "small" if s["small"] else "large", "segment_pool_id": (0, 0),
                "is_expandable": self.args.expandable, "frames": s["frames"],
                "blocks": [{"address": b.address, "size": b.size, "requested_size": b.requested, "state": b.state,
                            "frames": b.frames} for b in s["blocks"]]}


class Clock:
    def __init__(self, rng):
        self.us, self.rng = 1790000000000000, rng

    def now(self):
        self.us += self.rng.randrange(0, 40)
        return self.us


def run(args):
    rng = random.Random(args.seed)
    clock = Clock(rng)
    allocators = [Allocator(d, args, clock) for d in range(args.devices)]
    annotations = []
    stacks = [[frame("forward", "/home/u/job/model.py", 20 + i), *MAIN] for i in range(6)]
    stacks += [[LIBRARY, frame("step", "/home/u/job/model.py", 60), *MAIN], [*CPP, LIBRARY, *MAIN]]
    leak = [frame("log", "/home/u/job/metrics.py", 33), *MAIN]
    if args.no_stacks:
        stacks, leak = [[]], []
    kept = []
    for a in allocators:
        kept += [(a, a.alloc(rng.randrange(1, 3 * MIB), rng.choice(stacks))) for _ in range(4)]
    for step in range(args.steps):
        for a in allocators:
            annotations.append({"name": f"ProfilerStep#{step}", "stage": "START", "device": a.device, "time_us": clock.now()})
        pending, live = [], []
        for _ in range(rng.randrange(6, 14)):
            a = rng.choice(allocators)
            block = a.alloc(rng.randrange(1, rng.choice([4096, MIB, 8 * MIB])), rng.choice(stacks))
            if block:
                live.append((a, block))
            if live and rng.random() < 0.4:
                a, block = live.pop(rng.randrange(len(live)))
                late = rng.random() < 0.2
                a.free(block, not late)
                if late:
                    pending.append((a, block))
        for a, block in pending:
            a.complete(block)
        for a, block in live:
            a.free(block)
        if args.leak:
            allocators[0].alloc(args.leak, leak)
        for a in allocators:
            annotations.append({"name": f"ProfilerStep#{step}", "stage": "END", "device": a.device, "time_us": clock.now()})
    if args.oom:
        args.limit = 1
        allocators[0].alloc(4096 * MIB, stacks[0])
    # A block whose free another stream holds up when the snapshot is taken.
    last = allocators[-1].alloc(700, stacks[-1])
    if last:
        allocators[-1].free(last, False)
    traces = [a.trace[-args.ring:] if args.ring else a.trace for a in allocators]
    segments = sorted((s for a in allocators for s in a.snapshot()), key=lambda s: (s["device"], s["address"]))
    if args.list:
        return segments
    return {"segments": segments, "device_traces": traces,
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                   "garbage_collection_threshold": 0.0, "expandable_segments": args.expandable,
                                   "roundup_power2_divisions": {"1": 0, "2": 0}},
            "external_annotations": annotations}


def like(data, writer):
    """Change DATA to what another version of PyTorch, or another kind of device, writes."""
    entries = [e for trace in data["device_traces"] for e in trace]
    if writer == "2.0":  # stacks of blocks in their history, which has their addresses; no times, pools and annotations
        for entry in entries:
            entry.pop("time_us", None)
        for segment in data["segments"]:
            for key in ("segment_pool_id", "is_expandable", "frames"):
                del segment[key]
            for block in segment["blocks"]:
                address, frames = block.pop("address"), block.pop("frames")
                if block["state"] != "inactive":
                    block["history"] = [{"addr": address, "real_size": block["requested_size"], "frames": frames}]
        del data["allocator_settings"], data["external_annotations"]
    elif writer == "2.15":  # more about each entry, and actions that change no bytes
        for number, entry in enumerate(entries):
            entry.update(compile_context="N/A", user_metadata=f"layer {number % 3}", pool_id=(0, number % 2), internal_metadata="")
        trace = data["device_traces"][0]
        for action in ("annotate", "not_known_yet"):
            trace.insert(5, {**trace[4], "action": action, "size": 0})
        data.update(host_segments=[], host_traces=[])
    elif writer == "xpu":  # addresses and handles of streams from 2^63 on
        for part in entries + data["segments"] + [b for s in data["segments"] for b in s["blocks"]]:
            for key in {"addr", "address", "stream"} & part.keys():
                part[key] += 0xFF00000000000000
    return data


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--leak", type=int, default=0)
    parser.add_argument("--ring", type=int, default=0)
    parser.add_argument("--protocol", type=int, default=4)
    parser.add_argument("--skip", action="append", default=[])
    parser.add_argument("--like", choices=("2.0", "2.15", "xpu"))
    for flag in ("oom", "expandable", "no-times", "no-stacks", "json", "list"):
        parser.add_argument("--" + flag, action="store_true")
    args = parser.parse_args()
    args.limit = 0
    data = like(run(args), args.like) if args.like else run(args)
    with open(args.file, "wb") as out:
        if args.json:
            out.write(json.dumps(data).encode())
        else:
            pickle.dump(data, out, args.protocol)


if __name__ == "__main__":
    main()
