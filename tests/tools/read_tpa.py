#!/usr/bin/env python3
"""Read a .tpa file as docs/tpa-file.md describes it, and print its records as lines of JSON.

    tests/tools/read_tpa.py FILE                   all records, texts in place of their numbers
    tests/tools/read_tpa.py --check FILE CHROME    its events are those of a Chrome JSON file

It was written from that page and shares no code with tpa: kinds and fields are read from the page's tables, and packed
bytes are unpacked by the program zstd. Checksums it does not look at.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tpa-file.md"


def read_page():
    """Kind -> (name, [(field name, type)]), from the tables."""
    kinds = {}
    name = None
    for line in PAGE.read_text().splitlines():
        heading = re.match(r"#### (\w+): kind (\d+)", line)
        row = re.match(r"\| (\d+) \| (\w+) \| (\w+) \|", line)
        if heading:
            name = int(heading[2])
            kinds[name] = (heading[1], [])
        elif line.startswith("#"):
            name = None
        elif row and name is not None:
            assert int(row[1]) == len(kinds[name][1]), line
            kinds[name][1].append((row[2], row[3]))
    return kinds


class Unpacker:
    """Frames are collected and unpacked by one run of zstd: it joins what frames hold."""

    def __init__(self):
        self.known = {}

    def add(self, frames):
        frames = [(frame, size) for frame, size in frames if frame not in self.known]
        if not frames:
            return
        out = subprocess.run(["zstd", "-dcq"], input=b"".join(frame for frame, _ in frames), stdout=subprocess.PIPE,
                             check=True).stdout
        at = 0
        for frame, size in frames:
            self.known[frame] = out[at:at + size]
            at += size
        assert at == len(out)

    def __getitem__(self, frame):
        return self.known[frame]


def signed(value):
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class Column:
    def __init__(self, payload, at):
        self.field, self.form, planes, self.count, self.base, self.first = struct.unpack_from("<HBBIqq", payload, at)
        sizes = struct.unpack_from(f"<{planes}I", payload, at + 24)
        at += 24 + 4 * planes
        self.planes = []
        for size in sizes:
            self.planes.append(payload[at:at + size])
            at += size
        self.end = at

    def frames(self):
        return [(plane, self.count) for plane in self.planes if 0 < len(plane) < self.count]

    def raw(self, unpacker):
        planes = []
        for plane in self.planes:
            if len(plane) == 0:
                plane = bytes(self.count)
            elif len(plane) < self.count:
                plane = unpacker[plane]
            planes.append(plane)
        return [sum(plane[i] << 8 * p for p, plane in enumerate(planes)) for i in range(self.count)]

    def values(self, unpacker, dictionary):
        raw = self.raw(unpacker)
        form = self.form & 127
        if form == 0:
            return [signed(self.base + r) for r in raw]
        if form == 2:
            return [dictionary[r] for r in raw]
        values, value = [], self.first
        for i, r in enumerate(raw):
            value = value if i == 0 else signed(value + self.base + r)
            values.append(value)
        return values


def read_blocks(data):
    """(kind, records, columns by field) of each block."""
    assert data[:8] == b"\x89TPA\r\n\x1a\n", "no .tpa file"
    major, _minor, at = struct.unpack_from("<HHI", data, 8)
    assert major == 1, "another version"
    blocks = []
    while at + 40 <= len(data):
        magic, kind, codec, _, rows, packed, size, number = struct.unpack_from("<4sHBBIIII", data, at)
        assert magic == b"\xb7TPB" and number == len(blocks), "damaged"
        if at + 40 + packed > len(data):
            break
        blocks.append((kind, rows, codec, size, data[at + 40:at + 40 + packed]))
        at += 40 + packed

    unpacker = Unpacker()
    unpacker.add([(payload, size) for _, _, codec, size, payload in blocks if codec == 1])
    parsed = []
    for kind, rows, codec, size, payload in blocks:
        if codec == 1:
            payload = unpacker[payload]
        assert len(payload) == size
        columns, at = [], 0
        while at < len(payload):
            columns.append(Column(payload, at))
            at = columns[-1].end
        parsed.append((kind, rows, columns))
    unpacker.add([frame for _, _, columns in parsed for column in columns for frame in column.frames()])

    for kind, rows, columns in parsed:
        fields, dictionary = {}, None
        for column in columns:
            values = column.values(unpacker, dictionary)
            if column.form & 128:
                dictionary = values
            else:
                fields[column.field] = values
        yield kind, rows, fields


class Reader:
    def __init__(self, path):
        self.kinds = read_page()
        self.texts = {}
        self.tables = {}
        self.records = []
        self.events = []
        with open(path, "rb") as file:
            data = file.read()
        for kind, rows, fields in read_blocks(data):
            if kind == 1:
                self.take_texts(fields)
            elif kind == 73:
                self.take_events(rows, fields)
            elif kind in self.kinds:
                self.take_records(kind, rows, fields)

    def take_texts(self, fields):
        number, at = fields[0][0], 0
        text = bytes(fields.get(2, []))
        for length in fields[1]:
            self.texts[number] = text[at:at + length].decode("utf-8", "surrogateescape")
            number += 1
            at += length

    def text(self, number):
        return self.texts[number] if number > 0 else None

    def take_records(self, kind, rows, fields):
        name, names = self.kinds[kind]
        for i in range(rows):
            record = {}
            for field, (field_name, field_type) in enumerate(names):
                value = fields[field][i] if field in fields else -1 << 63
                if value == -1 << 63:
                    continue
                record[field_name] = self.text(value) if field_type == "TEXT" else value
            self.tables.setdefault(name, []).append(record)
            self.records.append((name, record))

    def take_events(self, rows, fields):
        arguments = self.tables.get("ARGUMENT", [])
        taken = [0] * len(arguments)
        for i in range(rows):
            shape = fields[4][i]
            event = {
                "start": fields[0][i], "duration": fields[1][i], "name": self.texts[fields[2][i]],
                "track": self.tables["TRACK"][fields[3][i]], "flags": fields[6][shape],
                "category": self.tables["CATEGORY"][fields[5][shape]]["NAME"], "args": {},
            }
            for a, argument in enumerate(arguments):
                if not fields[7][shape] >> a & 1:
                    continue
                value = fields[256 + a][taken[a]]
                taken[a] += 1
                if argument["TYPE"] == 1:
                    value = struct.unpack("<d", struct.pack("<q", value))[0]
                elif argument["TYPE"] == 2:
                    value = self.text(value)
                event["args"][argument["KEY"]] = value
            self.events.append(event)


def nanoseconds(text):
    """A decimal of microseconds as an integer of nanoseconds, exactly."""
    sign = -1 if text.startswith("-") else 1
    whole, _, part = text.lstrip("-").partition(".")
    return sign * (int(whole) * 1000 + int((part + "000")[:3]))


def check(reader, path):
    with open(path) as file:
        chrome = json.load(file, parse_float=lambda text: text, parse_int=lambda text: text)["traceEvents"]
    expected = [event for event in chrome if event["ph"] in "XiBb" and "ts" in event]
    starts = sorted((nanoseconds(event["ts"]), event["name"]) for event in expected)
    found = sorted((event["start"], event["name"]) for event in reader.events)
    assert starts == found, "begins or names differ"
    lengths = sorted((nanoseconds(event["ts"]), event["name"], nanoseconds(event["dur"]))
                     for event in expected if "dur" in event)
    found = sorted((event["start"], event["name"], event["duration"])
                   for event in reader.events if not event["flags"] & (1 | 4 | 8))
    assert set(lengths) <= set(found), "durations differ"
    for key in ("correlation", "External id", "bytes", "stream"):
        wanted = sorted(int(event["args"][key]) for event in expected if key in event.get("args", {}))
        had = sorted(event["args"][key] for event in reader.events if key in event["args"])
        assert wanted == had, f"values of {key} differ"
    ends = reader.tables["END"]
    assert len(ends) == 1, "there is one end"
    print(f"{len(reader.events)} events are the same")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--check":
        check(Reader(sys.argv[2]), sys.argv[3])
    elif len(sys.argv) == 2:
        reader = Reader(sys.argv[1])
        for name, record in reader.records:
            print(json.dumps({"kind": name, **record}))
        for event in reader.events:
            print(json.dumps({"kind": "EVENT", **event}))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
