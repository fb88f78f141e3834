#!/usr/bin/env python3
"""What a memory snapshot holds, worked out apart from tpa, and compared with `tpa memory --format json`.

    reference_snapshot.py TPA FILE...        exit code 1 when a figure differs

Written from docs/definitions.md. It loads the file with Python's own pickle, so it is for files that were made here, gzip or not.
"""
import gzip
import json
import pickle
import re
import subprocess
import sys

LIBRARY = re.compile(r"[/\\](?:site-packages|dist-packages|torch)[/\\]")
BEFORE, NONE = "[before recording]", "[no frames]"
SIGN = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}


def line_of(frames):
    def text(f):
        return f"{f['filename']}:{f['line']}:{f['name']}"
    python = [f for f in frames if f["filename"].endswith(".py")]
    own = [f for f in python if not LIBRARY.search(f["filename"])]
    told = [f for f in frames if not f["filename"].endswith(".py") and f["filename"] not in ("", "??", ":0")
            and not f["name"].startswith("torch::unwind") and "CapturedTraceback" not in f["name"]
            and not f["filename"].endswith("memory_snapshot.cpp")]
    best = own or python or told or list(frames)
    return text(best[0]) if best else None


def blocks_of(data, device):
    for segment in data["segments"]:
        if segment["device"] == device:
            at = segment["address"]
            for block in segment["blocks"]:
                at = block.get("address", at)
                yield at, block
                at += block["size"]


class Track:
    """Allocated, or active, bytes: what leaves at LEAVES."""

    def __init__(self, trace, blocks, leaves, name=lambda entry: line_of(entry.get("frames", [])) or NONE):
        self.name = name
        known, self.start = set(), {}
        for entry in trace:
            if entry["action"] == "alloc":
                known.add(entry["addr"])
            elif entry["action"] == leaves and entry["addr"] not in known:
                known.add(entry["addr"])
                self.start[entry["addr"]] = (entry["size"], BEFORE)
        for addr, size, frames in blocks:
            if addr not in known:
                self.start[addr] = (size, line_of(frames) or BEFORE)
        self.trace, self.leaves = trace, leaves
        self.peak, self.peak_entry, self.after = self.bytes(self.start), -1, []
        for index, live in self.states():
            if live > self.peak:
                self.peak, self.peak_entry = live, index
            self.after.append(live)

    @staticmethod
    def bytes(live):
        return sum(size for size, _ in live.values())

    def states(self, until=None):
        self.live = dict(self.start)
        total = self.bytes(self.live)
        for index, entry in enumerate(self.trace if until is None else self.trace[:until + 1]):
            if entry["action"] == "alloc":
                total += entry["size"] - self.live.get(entry["addr"], (0,))[0]
                self.live[entry["addr"]] = (entry["size"], self.name(entry))
            elif entry["action"] == self.leaves:
                total -= self.live.pop(entry["addr"], (0,))[0]
            yield index, total

    def lines_at(self, index):
        for _ in self.states(index):
            pass
        rows = {}
        for size, line in (self.live if index >= 0 else self.start).values():
            bytes_, count = rows.get(line, (0, 0))
            rows[line] = (bytes_ + size, count + 1)
        return rows


def segment_figures(data, device):
    reserved = allocated = active = requested = inactive = split = largest = 0
    for segment in data["segments"]:
        if segment["device"] != device:
            continue
        reserved += segment["total_size"]
        used = sum(b["size"] for b in segment["blocks"] if b["state"] != "inactive")
        free = [b["size"] for b in segment["blocks"] if b["state"] == "inactive"]
        allocated += sum(b["size"] for b in segment["blocks"] if b["state"] == "active_allocated")
        requested += sum(b["requested_size"] for b in segment["blocks"] if b["state"] != "inactive")
        active += used
        inactive += sum(free)
        split += sum(free) if used and not segment.get("is_expandable") else 0
        largest = max([largest, *free])
    return {"reserved_bytes": reserved, "allocated_bytes": allocated, "active_bytes": active,
            "inactive_bytes": inactive, "inactive_split_bytes": split, "requested_active_bytes": requested,
            "largest_free_block_bytes": largest}


def figures(data, device):
    trace = data["device_traces"][device] if device < len(data["device_traces"]) else []
    row = {"device": device, **segment_figures(data, device), "entries": len(trace)}
    lines, categories, ooms, steps = {}, {}, [], []
    if trace:
        actions = {e["action"] for e in trace}
        leaves = "free_requested" if "free_requested" in actions else "free_completed"
        completes = "free_completed" if "free_completed" in actions else "free_requested"
        used = [(a, b["requested_size"], b["frames"] if "frames" in b else b["history"][0]["frames"], b["state"])
                for a, b in blocks_of(data, device) if b["state"] != "inactive"]
        hidden = "active_pending_free" if leaves == "free_requested" else ""
        allocated = Track(trace, [u[:3] for u in used if u[3] != hidden], leaves)
        active = Track(trace, [u[:3] for u in used], completes)
        net = sum(SIGN.get(e["action"], 0) * e["size"] for e in trace)
        reserved = peak = row["reserved_bytes"] - net
        for index, entry in enumerate(trace):
            if entry["action"] == "oom":
                ooms.append((index, entry["size"], allocated.after[index], reserved))
            reserved += SIGN.get(entry["action"], 0) * entry["size"]
            peak = max(peak, reserved)
        row.update(allocated_peak_bytes=allocated.peak, peak_entry=allocated.peak_entry,
                   active_peak_bytes=active.peak, reserved_peak_bytes=peak)
        lines = allocated.lines_at(allocated.peak_entry)
        if any("category" in e for e in trace):
            by_category = Track(trace, [u[:3] for u in used if u[3] != hidden], leaves, lambda e: e["category"])
            categories = by_category.lines_at(allocated.peak_entry)
        if "time_us" in trace[0]:
            steps = steps_of(data, device, trace, allocated)
    return row, lines, categories, ooms, steps


def steps_of(data, device, trace, track):
    def at(time):
        return sum(1 for e in trace if e["time_us"] <= time) - 1
    open_, rows = [], []
    first = track.bytes(track.start)
    heights = [first, *track.after]
    for a in data.get("external_annotations", []):
        if a["device"] != device:
            continue
        if a["stage"] == "START":
            open_.append(a)
            continue
        start = next(o for o in reversed(open_) if o["name"] == a["name"])
        open_.remove(start)
        from_, to = at(start["time_us"]) + 1, at(a["time_us"]) + 1
        rows.append((start["time_us"], -a["time_us"], (a["name"], heights[from_], heights[to], max(heights[from_:to + 1]))))
    return [row for _, _, row in sorted(rows, key=lambda r: r[:2])]


def pools_of(data, device):
    """Rows of fragmentation: by pool, kind of segment, and expandable or not."""
    rows = {}
    for s in data["segments"]:
        if s["device"] != device:
            continue
        small, expandable = s.get("segment_type") == "small", bool(s.get("is_expandable"))
        key = ("(%d, %d)" % tuple(s.get("segment_pool_id", (0, 0))), "small" if small else "large", expandable)
        row = rows.setdefault(key, dict.fromkeys(("segments", "reserved", "allocated", "active", "pending_free", "inactive",
                                                  "inactive_split", "empty_cache", "rounding_waste", "largest_free_block"), 0))
        row["segments"] += 1
        row["reserved"] += s["total_size"]
        used = any(b["state"] != "inactive" for b in s["blocks"])
        page = 2 << 20 if small or s["total_size"] % (20 << 20) else 20 << 20
        at = 0
        for b in s["blocks"]:
            size = b["size"]
            if b["state"] == "inactive":
                row["inactive"] += size
                row["largest_free_block"] = max(row["largest_free_block"], size)
                if expandable:
                    row["empty_cache"] += sum(page for p in range(0, s["total_size"], page) if at <= p and p + page <= at + size)
                else:
                    row["inactive_split" if used else "empty_cache"] += size
            else:
                row["active"] += size
                row["allocated" if b["state"] == "active_allocated" else "pending_free"] += size
                row["rounding_waste"] += size - b["requested_size"] if b["state"] == "active_allocated" else 0
            at += size
    return {key: {name if name == "segments" else name + "_bytes": n for name, n in row.items()} for key, row in rows.items()}


def lives_of(trace, leaves):
    """[entry that allocated, entry that freed or None, bytes, frames], of what the history allocated."""
    lives, live = [], {}
    for index, e in enumerate(trace):
        if e["action"] in ("alloc", leaves) and e["addr"] in live:
            live.pop(e["addr"])[1] = index
        if e["action"] == "alloc":
            live[e["addr"]] = [index, None, e["size"], e.get("frames", [])]
            lives.append(live[e["addr"]])
    return lives


def leaks_of(data, device, trace, lives):
    """Stacks that hold more at the end of each step than at the end of the one before, from the third on."""
    ends = [a for a in data.get("external_annotations", []) if a["device"] == device and a["stage"] == "END"]
    names = [a["name"] for a in ends]
    steps = [a for a in ends if a["name"].startswith("ProfilerStep#")]
    ends = steps or [a for a in ends if a["name"] == max(names, key=names.count)]
    bounds = [sum(1 for e in trace if e["time_us"] <= a["time_us"]) - 1 for a in ends]
    rows, stacks = [], {}
    for life in lives:
        if life[3]:
            stacks.setdefault(json.dumps(life[3]), []).append(life)
    for text, of in stacks.items():
        held = [[n for born, freed, n, _ in of if born <= b and (freed is None or freed > b)] for b in bounds]
        bytes_ = [sum(h) for h in held]
        if len(bounds) >= 4 and all(after > before for before, after in zip(bytes_[1:], bytes_[2:])):
            steps = len(bounds) - 2
            rows.append((line_of(json.loads(text)), (bytes_[-1] - bytes_[1]) // steps, steps, bytes_[1], bytes_[-1], len(held[-1])))
    return sorted(rows)


def churn_of(trace, lives):
    """Allocations, their lifetimes, and segments, by line."""
    rows, by_line = {}, {}
    for life in lives:
        by_line.setdefault(line_of(life[3]) or NONE, []).append(life)
    for line, of in by_line.items():
        freed = [n for _, gone, n, _ in of if gone is not None]
        times = sorted(1000 * (trace[gone]["time_us"] - trace[born]["time_us"]) for born, gone, _, _ in of
                       if gone is not None and "time_us" in trace[born])
        sizes = [n for _, _, n, _ in of]
        told = (times[(len(times) - 1) // 2], times[(len(times) - 1) * 9 // 10], times[-1]) if times else (None,) * 3
        rows[line] = (len(of), sum(sizes), len(freed), sum(freed), sum(sizes) // len(of), max(sizes), *told, 0, 0, 0)
    for e in trace:
        if e["action"] in SIGN:
            line = line_of(e.get("frames", [])) or NONE
            row = list(rows.get(line, (0, 0, 0, 0, None, 0, None, None, None, 0, 0, 0)))
            row[9 if SIGN[e["action"]] > 0 else 11] += 1
            row[10] += e["size"] if SIGN[e["action"]] > 0 else 0
            rows[line] = tuple(row)
    return rows


CHURN = ("count", "bytes", "freed_count", "freed_bytes", "average_bytes", "largest_bytes", "lifetime_median_ns",
         "lifetime_p90_ns", "lifetime_longest_ns", "segments", "segment_bytes", "segments_freed")
LEAK = ("line", "slope_bytes", "steps", "first_bytes", "last_bytes", "count")


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        head = file.read(1)
        file.seek(0)
        data = json.load(file) if head in (b"{", b"[") else pickle.load(file)
    return {"segments": data, "device_traces": []} if isinstance(data, list) else data


def ask(tpa, path, *options):
    answer = subprocess.run([tpa, "memory", "--format", "json", *options, path], capture_output=True, check=True)
    return {t["key"]: t["rows"] for t in json.loads(answer.stdout)["tables"]}


def compare(tpa, path):
    tables = ask(tpa, path)
    data, wrong = load(path), 0
    devices = {*range(len(data["device_traces"])), *(s["device"] for s in data["segments"])}

    def check(what, expected, found):
        nonlocal wrong
        if expected != found:
            wrong += 1
            print(f"{path}: {what}: expected {expected}, found {found}", file=sys.stderr)

    found = {r["device"]: r for r in tables["devices"] if r["device"] is not None}  # pinned host memory has no number
    check("devices", sorted(devices), sorted(found))
    for device in devices:
        row, lines, categories, ooms, steps = figures(data, device)
        for key, value in row.items():
            check(f"device {device}: {key}", value, found[device].get(key))
        alive = {r["line"]: (r["bytes"], r["count"]) for r in tables["alive_at_peak"] if r["device"] == device}
        if row["entries"]:
            check(f"device {device}: alive at the peak", lines, alive)
        if categories:
            rows = ask(tpa, path, "--by", "category", "--device", str(device))["alive_at_peak"]
            check(f"device {device}: categories", categories, {r["line"]: (r["bytes"], r["count"]) for r in rows})
        pools = {(r["pool"], r["segment_type"], r["expandable"]): {k: v for k, v in r.items() if k.endswith("bytes") or k == "segments"}
                 for r in tables["fragmentation"] if r["device"] == device}
        check(f"device {device}: pools", pools_of(data, device), pools)
        trace = data["device_traces"][device] if row["entries"] else []
        if trace:
            actions = {e["action"] for e in trace}
            lives = lives_of(trace, "free_requested" if "free_requested" in actions else "free_completed")
            check(f"device {device}: churn", churn_of(trace, lives),
                  {r["line"]: tuple(r[k] for k in CHURN) for r in tables["churn"] if r["device"] == device})
            leaks = leaks_of(data, device, trace, lives) if "time_us" in trace[0] else []
            check(f"device {device}: leaks", leaks,
                  sorted(tuple(r[k] for k in LEAK) for r in tables["leaks"] if r["device"] == device))
        check(f"device {device}: ooms", ooms,
              [(r["entry"], r["request_bytes"], r["allocated_bytes"], r["reserved_bytes"])
               for r in tables["ooms"] if r["device"] == device])
        check(f"device {device}: steps", steps,
              [(r["name"], r["start_bytes"], r["end_bytes"], r["peak_bytes"])
               for r in tables["steps"] if r["device"] == device])
    return wrong


def main():
    wrong = sum(compare(sys.argv[1], path) for path in sys.argv[2:])
    print(f"{len(sys.argv) - 2} snapshots, {wrong} figures differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
