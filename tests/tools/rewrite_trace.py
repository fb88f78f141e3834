"""Chrome JSON changed in ways that change no answer, or change it as one can tell. For tests/metamorphic.

    document = rewrite_trace.load(path)            numbers are kept as they are written
    text = rewrite_trace.emit(document)            and written as they were kept

Each function takes a document and gives a new one; the events that it does not touch are shared.
"""

import gzip
import json
import struct
from decimal import Decimal


class Number(str):
    """A number as the file writes it."""


def load(path):
    opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    with opener(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
        document = json.load(f, parse_float=Number, parse_int=Number, strict=False)
    return document if isinstance(document, dict) else {"traceEvents": document}


# ---- writing -------------------------------------------------------------------------------------


class Style:
    """How a document is written. The default is the plainest."""

    def string(self, text):
        return json.dumps(text, ensure_ascii=False)

    def number(self, text, key):
        return str(text)

    def pairs(self, pairs):
        return pairs

    def gap(self):
        return ""


class OddStyle(Style):
    """Keys in any order, blanks anywhere, letters as escapes, times in all spellings JSON has."""

    def __init__(self, draw):
        self.draw = draw

    def string(self, text):
        if self.draw.random() < 0.8:
            return json.dumps(text, ensure_ascii=self.draw.random() < 0.5)
        escaped = "".join(f"\\u{ord(c):04x}" if self.draw.random() < 0.5 and ord(c) < 0x10000 else json.dumps(c)[1:-1] for c in text)
        return f'"{escaped}"'

    def number(self, text, key):
        if key not in ("ts", "dur") or "e" in text.lower() or self.draw.random() < 0.5:
            return str(text)
        value = Decimal(text)
        mantissa, places = str(text), len(text.partition(".")[2])
        shifted = str(int(value.scaleb(places)))
        return self.draw.choice([
            f'"{text}"', mantissa + ("000" if places else ".0"), mantissa + "e0", mantissa + "E+00", f"{shifted}e-{places}", f"{shifted}0E-{places + 1}",
        ])

    def pairs(self, pairs):
        pairs = list(pairs)
        self.draw.shuffle(pairs)
        return pairs

    def gap(self):
        return self.draw.choice(["", "", "", " ", "\n", "\t", "\r\n  "])


def emit(value, style=None, key=None, in_events=False):
    """
    VALUE as JSON. Keys of the file's head are written as they are, because a file is known by them; so are texts in lists,
    which tpa keeps as JSON, and times in quotes, whose digits nobody writes as escapes.
    """
    style = style or Style()
    if isinstance(value, Number):
        return style.number(value, key)
    if isinstance(value, str):
        return json.dumps(value) if key in ("ts", "dur") else style.string(value)
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    gap = style.gap
    parts = []
    if isinstance(value, dict):
        for k, v in style.pairs(value.items()):
            name = style.string(k) if in_events else json.dumps(k)
            parts.append(f"{gap()}{name}{gap()}:{gap()}{emit(v, style, k, in_events or k == 'traceEvents')}{gap()}")
        return "{" + ",".join(parts) + "}"
    for v in value:
        plain = isinstance(v, str) and not isinstance(v, Number)
        parts.append(f"{gap()}{json.dumps(v) if plain else emit(v, style, None, in_events)}{gap()}")
    return "[" + ",".join(parts) + "]"


# ---- forms and packings --------------------------------------------------------------------------


def forms(document):
    """The same events as an object, an array, an array that is never closed, and lines; nothing of the file's head."""
    events = [emit(e) for e in document["traceEvents"]]
    return {
        "object": '{"traceEvents":[' + ",\n".join(events) + "]}",
        "array": "[\n" + ",\n".join(events) + "\n]\n",
        "lines": "\n".join(events) + "\n",
        "late": '{"displayTimeUnit":"ms","otherData":{},"x":[1,{"y":"]"}],"traceEvents":[' + ",".join(events) + '],"z":null}',
    }


def cut(data, draw, count):
    """DATA in up to COUNT parts, some of them empty."""
    edges = sorted([0, len(data), *(draw.randint(0, len(data)) for _ in range(count - 1))])
    return [data[a:b] for a, b in zip(edges, edges[1:])]


def gzip_members(data, draw):
    return b"".join(gzip.compress(part, draw.choice([0, 1, 6, 9])) for part in cut(data, draw, 9))


def zstd_frames(data, draw):
    """Frames of stored blocks, and frames to be skipped between them (RFC 8878)."""
    out = b""
    for part in cut(data, draw, 7):
        if draw.random() < 0.4:
            skipped = b"skip me" * draw.randint(0, 9)
            out += struct.pack("<II", 0x184D2A50 + draw.randint(0, 15), len(skipped)) + skipped
        out += struct.pack("<IBI", 0xFD2FB528, 0xA0, len(part))  # one segment; its size in four bytes
        blocks = [part[i:i + 65536] for i in range(0, len(part), 65536)] or [b""]
        for number, block in enumerate(blocks):
            header = (number + 1 == len(blocks)) | len(block) << 3
            out += struct.pack("<I", header)[:3] + block
    return out


# ---- events --------------------------------------------------------------------------------------


def with_events(document, events):
    return {**document, "traceEvents": events}


def map_events(document, change):
    return with_events(document, [change(e) if isinstance(e, dict) else e for e in document["traceEvents"]])


def as_decimal(value):
    return Decimal(str(value))


def map_times(document, of_moment, of_duration):
    """Both functions take and give microseconds as Decimal."""

    def change(event):
        event = dict(event)
        for key, function in (("ts", of_moment), ("dur", of_duration)):
            if key in event and event.get("ph") != "M":
                event[key] = Number(format(function(as_decimal(event[key])), "f"))
        return event

    return map_events(document, change)


def shift(document, us):
    return map_times(document, lambda at: at + us, lambda dur: dur)


def scale(document, factor):
    """Away from the first event, because moments since 1970 have no room to grow."""
    first = min(as_decimal(e["ts"]) for e in document["traceEvents"] if isinstance(e, dict) and "ts" in e)
    return map_times(document, lambda at: first + (at - first) * factor, lambda dur: dur * factor)


def shuffle(document, draw):
    """
    Complete events in any order. Those that begin at one moment keep theirs among themselves, since the order decides which
    of two equals holds the other; so do begins and ends, samples, arrows and metadata, of which the last may count.
    """
    events = document["traceEvents"]
    groups = {}
    for event in events:
        key = as_decimal(event["ts"]) if isinstance(event, dict) and event.get("ph") in ("X", "i", "I") and "ts" in event else None
        groups.setdefault(key, []).append(event)
    order = [key for key, group in groups.items() for _ in group]
    draw.shuffle(order)
    queues = {key: iter(group) for key, group in groups.items()}
    return with_events(document, [next(queues[key]) for key in order])


def rename_ids(document, threads=0, streams=lambda s: s, correlations=0, python=0):
    """
    Other numbers for processes and threads of the host (THREADS more), streams, correlations and the ids of operators
    (CORRELATIONS more, both, because their being equal tells something), Python functions (PYTHON more).
    """

    def more(value, by):
        return Number(int(value) + by) if isinstance(value, Number) and value.lstrip("-").isdigit() else value

    def change(event):
        event = dict(event)
        args = event["args"] = dict(event.get("args") or {})
        on_device = "stream" in args or str(event.get("cat", "")).lower() in ("gpu_user_annotation", "cuda_sync")
        devices = isinstance(event.get("pid"), Number) and int(event["pid"]) < 64  # a device's number, as long as it has no more
        if event.get("ph") == "M" and devices:
            if event.get("name") in ("thread_name", "thread_sort_index") and "tid" in event:
                event["tid"] = Number(streams(int(event["tid"]))) if isinstance(event["tid"], Number) else event["tid"]
        elif on_device or devices:
            if isinstance(event.get("tid"), Number) and devices:
                event["tid"] = Number(streams(int(event["tid"])))
            for key in ("stream", "wait_on_stream"):  # the latter: of a record of a wait, the stream that it waited for
                if isinstance(args.get(key), Number):
                    args[key] = Number(streams(int(args[key])))
        else:
            for key in ("pid", "tid"):
                if key in event and int_of(event[key]) > 0:
                    event[key] = more(event[key], threads)
        # The last is the correlation of the call that recorded the event: by it a replay knows what a wait waited for.
        for key in ("correlation", "External id", "external id", "wait_on_cuda_event_record_corr_id"):
            if key in args and int_of(args[key]) > 0:
                args[key] = more(args[key], correlations)
        if event.get("cat") == "ac2g" and int_of(event.get("id")) > 0:
            event["id"] = more(event["id"], correlations)
        for key in ("Python id", "Python parent id"):
            if key in args:
                args[key] = more(args[key], python)
        return event

    return map_events(document, change)


def int_of(value):
    return int(value) if isinstance(value, Number) and value.lstrip("-").isdigit() else 0
