#!/usr/bin/env python3
"""Make a large memory snapshot: the history of a small one again and again, with later times.

    make_snapshot.py [--share] COPIES FILE

The blocks that are in use at the end of a copy are freed before the next one begins, as they would be. As in what PyTorch
writes, each allocation and each free has a list of frames of its own, whose frames are shared, and every compile_context is
written anew. With --share equal stacks are one list: more entries for the same bytes.
"""
import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import random_snapshot  # noqa: E402


def main():
    share, copies, path = sys.argv[1] == "--share", int(sys.argv[-2]), sys.argv[-1]

    class Args:
        seed, steps, devices, leak, ring, protocol, skip, limit = 1, 60, 1, 0, 0, 4, [], 0
        oom = expandable = no_times = no_stacks = json = list = False

    data = random_snapshot.run(Args)
    once, live, stacks = data["device_traces"][0], {}, {}
    for entry in once:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry
        elif entry["action"] == "free_completed":
            live.pop(entry["addr"], None)
        deep = [{"name": f"call_{i}", "filename": f"/home/u/job/deep/level_{i}.py", "line": len(stacks)} for i in range(40)]
        entry["frames"] = stacks.setdefault(id(entry["frames"]), entry["frames"] + deep)
    last = once[-1]["time_us"]
    frees = [{**e, "action": action, "time_us": last} for e in live.values() for action in ("free_requested", "free_completed")
             if not any(f["action"] == action and f["addr"] == e["addr"] and f["time_us"] >= e["time_us"] for f in once)]
    grown, freed = [], {}
    for copy in range(copies):
        shift = copy * (last - once[0]["time_us"] + 1000)
        for entry in once if copy + 1 == copies else once + frees:
            if copy > 0 and entry["action"].startswith("segment"):
                continue
            frames = entry["frames"] if share else freed.pop(entry["addr"], None) or list(entry["frames"])
            if not share and entry["action"] == "free_requested":
                freed[entry["addr"]] = frames  # free_completed of the same free has the same list
            grown.append({**entry, "frames": frames, "time_us": entry["time_us"] + shift, "compile_context": "N/A"})
    data["device_traces"][0] = grown
    data["external_annotations"] = []
    with open(path, "wb") as out:
        pickle.dump(data, out, 4)


if __name__ == "__main__":
    main()
