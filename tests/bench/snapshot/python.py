#!/usr/bin/env python3
"""What a user would write in Python: load a snapshot, replay it, and print the peak and what was in use then by line.

With --load it stops when the file is loaded."""
import pickle
import sys

with open(sys.argv[-1], "rb") as file:
    data = pickle.load(file)
if sys.argv[1] == "--load":
    sys.exit()
for device, trace in enumerate(data["device_traces"]):
    freed, live, lines = {}, {}, {}
    for entry in trace:
        if entry["action"] == "free_requested" and entry["addr"] not in live and entry["addr"] not in freed:
            freed[entry["addr"]] = entry["size"]
        elif entry["action"] == "alloc":
            live[entry["addr"]] = True
    total = peak = sum(freed.values())
    live, at = dict.fromkeys(freed, None), -1
    for index, entry in enumerate(trace):
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry
            total += entry["size"]
            if total > peak:
                peak, at = total, index
        elif entry["action"] == "free_requested":
            total -= entry["size"]
            live.pop(entry["addr"], None)
    live = {}
    for entry in trace[:at + 1]:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry
        elif entry["action"] == "free_requested":
            live.pop(entry["addr"], None)
    for entry in live.values():
        own = [f for f in entry["frames"] if f["filename"].endswith(".py") and "/site-packages/" not in f["filename"]]
        key = (own[0]["filename"], own[0]["line"]) if own else None
        lines[key] = lines.get(key, 0) + entry["size"]
    print(device, peak, at, sorted(lines.items(), key=lambda row: -row[1])[:25])
