#!/usr/bin/env python3
"""Hold the tables of programs of `tpa memory` to a reader of its own, and to xprof's Memory Viewer where that is installed.

    check_programs.py --tpa PROGRAM FILE.xplane.pb...

Figures of a program: peak, parameters, outputs, total; of its buffers: bytes, kind and instruction, and by xprof also shape, operator, line
and bytes without padding. xprof leaves out temporary allocations without a trace of the simulator; there it must have less, and is not held
against tpa. Prints what differs and how many figures were compared; exit status 0 when nothing differs.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from xprof.convert import raw_to_tool_data as xprof
except ImportError:
    xprof = None

KINDS = ((5, "parameter"), (7, "output"), (3, "thread-local"), (12, "constant"))


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value

    while at < len(data):
        tag = varint()
        value = varint() if tag & 7 != 1 and tag & 7 != 5 else 8 if tag & 7 == 1 else 4
        if tag & 7:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def every(data, number):
    return [value for found, value in fields(data) if found == number]


def last(data, number, otherwise=0):
    return (every(data, number) or [otherwise])[-1]


def programs(path):
    for plane in every(path.read_bytes(), 1):
        for entry in every(plane, 4) if last(plane, 2, b"") == b"/host:metadata" else ():
            name = last(entry, 2, b"")
            for stat in every(name, 5):
                if len(last(stat, 6, b"")) >= 16:
                    yield last(name, 2, b"").decode(), last(stat, 6)


def peak_of(trace, size, temporary):
    """Buffers at the peak of a trace of the simulator: {who has the memory: (who uses it, bytes)}."""
    users, owner, held, best, most = collections.Counter(), {}, {}, {}, 0
    for event in every(trace, 1):
        kind, buffer = last(event, 1), last(event, 2)
        if buffer not in temporary:
            continue
        if kind == 2:
            owner[buffer] = last(event, 5)
        while buffer in owner:
            buffer = owner[buffer]
        if kind == 1:
            users[buffer] -= 1
            if not users[buffer]:
                del held[buffer]
        else:
            users[buffer] += 1
            held.setdefault(buffer, (last(event, 2), size[buffer]))
        if sum(bytes_ for _, bytes_ in held.values()) > most:
            best, most = dict(held), sum(bytes_ for _, bytes_ in held.values())
    return best


def plan(proto):
    """What a program holds: {space: {figure: bytes, "buffers": multiset of (instruction, kind, bytes), "untraced": bytes}}."""
    name = {last(one, 35): last(one, 1, b"").decode() for part in every(last(proto, 1, b""), 3) for one in every(part, 2)}
    assigned = last(proto, 3, b"")
    size, of, spaces, where, temporary = {}, {None: None}, {}, {}, {}
    for buffer in every(assigned, 1):
        size[last(buffer, 1)] = last(buffer, 2)
        of[last(buffer, 1)] = name.get(last(last(buffer, 3, b""), 4))
    for index, one in enumerate(every(assigned, 3)):
        kind = next((word for flag, word in KINDS if last(one, flag)), "temporary")
        held = [last(part, 1) for part in every(one, 9)]
        if kind == "temporary":
            temporary.update((buffer, index) for buffer in held)
        where[index] = (last(one, 8), kind, last(one, 2), max(held, key=lambda buffer: size[buffer], default=None), last(one, 7))
    traced = {}
    for trace in every(assigned, 4):
        first = next((last(event, 2) for event in every(trace, 1) if last(event, 2) in temporary), None)
        if first is not None:
            traced[temporary[first]] = peak_of(trace, size, temporary)
    for index, (space, kind, bytes_, largest, is_output) in where.items():
        found = spaces.setdefault(space, dict(peak=0, parameters=0, live=0, total=0, untraced=0, buffers=collections.Counter()))
        if kind == "thread-local":
            continue
        rows = traced[index].values() if index in traced else [(largest, bytes_)]
        found["untraced"] += bytes_ if kind == "temporary" and index not in traced else 0
        found["buffers"].update((of[buffer], kind, size_) for buffer, size_ in rows if size_)
        for key, value in (("peak", sum(size_ for _, size_ in rows)), ("total", bytes_), ("live", bytes_ if is_output else 0),
                           ("parameters", bytes_ if kind == "parameter" else 0)):
            found[key] += value
    return {space: found for space, found in spaces.items() if found["total"]}


def by_xprof(name, proto, spaces):
    """The same by xprof, whose buffers have more: (instruction, kind, bytes, shape, operator, place, unpadded)."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / f"{name}.hlo_proto.pb").write_bytes(proto)
        for space in spaces:
            data, _ = xprof.xspace_to_tool_data([f"{folder}/x.xplane.pb"], "memory_viewer", {
                "module_name": name, "program_id": re.search(r"\((\d+)\)$", name)[1], "memory_space": str(space)})
            told = collections.defaultdict(float, json.loads(data))
            bytes_of = lambda key, of=told: round(of.get(key, 0) * 2 ** 20)
            found[space] = dict(
                peak=bytes_of("peakHeapMib"), parameters=bytes_of("entryComputationParametersMib"), live=bytes_of("maybeLiveOutMib"),
                total=bytes_of("totalBufferAllocationMib"), buffers=[(
                    one["instructionName"].split("{")[0], one["groupName"].lower(), bytes_of("logicalBufferSizeMib", one),
                    one["shapeString"], one.get("tfOpName", ""), one.get("sourceInfo", {}), bytes_of("unpaddedShapeMib", one))
                    for one in told.get("maxHeap") or [] if one.get("logicalBufferId") != -1])
    return found


def check(tpa, path):
    done = subprocess.run([tpa, "memory", "--format", "json", "--columns", "all", "--limit", "0", path], capture_output=True, text=True, check=True)
    tables = {table["key"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    wrong, compared, seen = [], 0, set()

    def same(what, wanted, found):
        nonlocal compared
        compared += 1
        if wanted != found:
            wrong.append(f"{path}: {what}: expected {wanted}, tpa says {found}")

    for name, proto in programs(pathlib.Path(path)):
        expected = plan(proto)
        viewer = by_xprof(name, proto, expected) if xprof else {}
        for space, wanted in expected.items():
            row = next((one for one in tables["programs"] if (one["program"], one["space"]) == (name, space)), {})
            buffers = [one for one in tables["program_buffers"] if (one["program"], one["space"]) == (name, space)]
            seen.add((name, space))
            told = {"live": row.get("output", 0) + row.get("aliased", 0), **row}
            for key in ("peak", "parameters", "live", "total"):
                same(f"{name} {space} {key}", wanted[key], told.get(key))
                if space in viewer and (key != "peak" or not wanted["untraced"]):
                    same(f"{name} {space} {key} of xprof", viewer[space][key], told.get(key))
            same(f"{name} {space} sum of buffers", row.get("peak"), sum(one["bytes"] for one in buffers))
            same(f"{name} {space} buffers", wanted["buffers"],
                 collections.Counter((one["instruction"], one["kind"], one["bytes"]) for one in buffers))
            for instruction, kind, bytes_, shape, op, place, unpadded in viewer.get(space, {}).get("buffers", ()):
                one = next((b for b in buffers if (b["instruction"], b["kind"], b["bytes"]) == (instruction, kind, bytes_)), None)
                same(f"{name} {space} {instruction}: {kind} of {bytes_}", True, one is not None)
                if one is None:
                    continue
                same(f"{name} {instruction} shape", re.sub(r"\{[^}]*\}", "", shape), one["shape"])
                same(f"{name} {instruction} operator", op, one["operator"] or "")
                same(f"{name} {instruction} unpadded", unpadded, one["unpadded"])
                if place:
                    same(f"{name} {instruction} line", f"{place['fileName']}({place['lineNumber']})", (one["line"] or "").rpartition(": ")[0])
    same("programs", seen, {(one["program"], one["space"]) for one in tables["programs"] if one["total"]})
    return wrong, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tpa", required=True)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    results = [check(args.tpa, path) for path in args.files]
    for line in (line for wrong, _ in results for line in wrong):
        print(line)
    print(f"{sum(compared for _, compared in results)} figures compared, {sum(len(wrong) for wrong, _ in results)} differ")
    return 1 if any(wrong for wrong, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
