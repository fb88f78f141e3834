"""A reader of Arrow IPC streams that knows nothing of tpa and needs no package: written from Arrow's format alone, for tests.

    for stream in read_arrow.streams(data): ...
        stream.metadata, stream.fields     # a field: name, type, metadata
        stream.rows                        # a list of dicts; None is missing

It insists on what readers may build on: everything aligned to 8 bytes, offsets that ascend, texts that are UTF-8, indices
that are in their dictionary, and an end.
"""

import collections
import struct

Field = collections.namedtuple("Field", "name type metadata dictionary")
Stream = collections.namedtuple("Stream", "metadata fields rows")


class Flat:
    """A table of a FlatBuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - self.number("<i", at)
        assert self.vtable % 2 == 0 and at % 4 == 0
        self.slots = (self.number("<H", self.vtable) - 4) // 2

    def number(self, form, at):
        size = struct.calcsize(form)
        assert at % size == 0 and 0 <= at and at + size <= len(self.data), "not aligned, or outside"
        return struct.unpack_from(form, self.data, at)[0]

    def place(self, slot):
        offset = self.number("<H", self.vtable + 4 + 2 * slot) if slot < self.slots else 0
        return self.at + offset if offset else None

    def get(self, slot, form, default=0):
        at = self.place(slot)
        return default if at is None else self.number(form, at)

    def follow(self, at):
        return at + self.number("<I", at)

    def table(self, slot):
        at = self.place(slot)
        return None if at is None else Flat(self.data, self.follow(at))

    def text_at(self, at):
        size = self.number("<I", at)
        assert self.data[at + 4 + size] == 0
        return bytes(self.data[at + 4:at + 4 + size]).decode()

    def text(self, slot):
        at = self.place(slot)
        return None if at is None else self.text_at(self.follow(at))

    def vector(self, slot):
        """Where its elements begin, and how many there are."""
        at = self.place(slot)
        if at is None:
            return 0, 0
        at = self.follow(at)
        return at + 4, self.number("<I", at)

    def tables(self, slot):
        at, count = self.vector(slot)
        return [Flat(self.data, self.follow(at + 4 * i)) for i in range(count)]

    def pairs(self, slot):
        """A vector of structs of two int64."""
        at, count = self.vector(slot)
        return [(self.number("<q", at + 16 * i), self.number("<q", at + 16 * i + 8)) for i in range(count)]


def metadata_of(table, slot):
    return {pair.text(0): pair.text(1) for pair in table.tables(slot)}


def type_of(kind, table):
    if kind == 2:
        assert table.get(0, "<i") == 64
        return "int64" if table.get(1, "<B") else "uint64"
    if kind == 3:
        assert table.get(0, "<h") == 2
        return "double"
    if kind == 10:
        assert table.get(0, "<h") == 3
        return f"timestamp[{table.text(1)}]"
    return {5: "text", 6: "bool", 20: "wide text"}[kind]


def field_of(table):
    encoding, dictionary = table.table(4), None
    if encoding:
        index = encoding.table(1)
        assert index.get(0, "<i") == 32 and index.get(1, "<B") == 1
        dictionary = encoding.get(0, "<q")
    assert table.tables(5) == [] and table.get(1, "<B") == 1
    return Field(table.text(0), type_of(table.get(2, "<B"), table.table(3)), metadata_of(table, 6), dictionary)


def column(kind, count, missing, parts):
    """COUNT values of type KIND from PARTS, an iterator over the parts of a body."""
    present, values = next(parts), next(parts)

    def bit(bits, i):
        return bits[i // 8] >> i % 8 & 1

    there = [not missing or bit(present, i) for i in range(count)]
    assert there.count(False) == missing and (not missing or len(present) == (count + 7) // 8)
    if kind in ("text", "wide text"):
        form, size = ("<%di", 4) if kind == "text" else ("<%dq", 8)
        texts = next(parts)
        assert len(values) == ((count + 1) * size if count else 0)
        ends = struct.unpack(form % (count + 1 if count else 0), values)
        assert list(ends) == sorted(ends) and (not ends or (ends[0] == 0 and ends[-1] == len(texts)))
        found = [texts[ends[i]:ends[i + 1]].decode() for i in range(count)]
    elif kind == "bool":
        assert len(values) == (count + 7) // 8
        found = [bool(bit(values, i)) for i in range(count)]
    else:
        form, size = {"double": ("d", 8), "uint64": ("Q", 8), "index": ("i", 4)}.get(kind, ("q", 8))
        assert len(values) == count * size
        found = struct.unpack(f"<{count}{form}", values)
    return [value if is_there else None for value, is_there in zip(found, there)]


def batch(table, body, kinds):
    """The columns of a RecordBatch, of types KINDS."""
    count = table.get(0, "<q")
    parts = []
    for offset, size in table.pairs(2):
        assert offset % 8 == 0 and offset + size <= len(body)
        parts.append(body[offset:offset + size])
    nodes = table.pairs(1)
    assert len(nodes) == len(kinds) and all(length == count for length, _ in nodes)
    parts = iter(parts)
    columns = [column(kind, count, missing, parts) for kind, (_, missing) in zip(kinds, nodes)]
    assert next(parts, None) is None
    return count, columns


def message(data, at):
    """The message at AT: its table, body, and where the next one is; None at the end of the stream."""
    mark, size = struct.unpack_from("<II", data, at)
    assert at % 8 == 0 and mark == 0xffffffff and size % 8 == 0
    at += 8
    if size == 0:
        return None, None, at
    metadata = data[at:at + size]
    table = Flat(metadata, struct.unpack_from("<I", metadata)[0])
    assert table.get(0, "<h") == 4
    at += size
    length = table.get(3, "<q")
    assert length % 8 == 0 and at + length <= len(data)
    return table, data[at:at + length], at + length


def stream(data, at):
    table, _, at = message(data, at)
    assert table.get(1, "<B") == 1
    schema = table.table(2)
    assert schema.get(0, "<h") == 0, "written where the highest byte comes first: not read here"
    fields = [field_of(field) for field in schema.tables(1)]
    kinds = ["index" if field.dictionary is not None else field.type for field in fields]
    names, rows = {}, []
    while True:
        table, body, at = message(data, at)
        if table is None:
            return Stream(metadata_of(schema, 2), fields, rows), at
        if table.get(1, "<B") == 2:
            entry = table.table(2)
            number = entry.get(0, "<q")
            kind, = [field.type for field in fields if field.dictionary == number]
            names[number] = batch(entry.table(1), body, [kind])[1][0]
            continue
        assert table.get(1, "<B") == 3
        count, columns = batch(table.table(2), body, kinds)
        for field, values in zip(fields, columns):
            if field.dictionary is not None:
                assert all(v is None or 0 <= v < len(names[field.dictionary]) for v in values)
                values[:] = [None if v is None else names[field.dictionary][v] for v in values]
        rows += [dict(zip([field.name for field in fields], row)) for row in zip(*columns)]
        assert count


def streams(data):
    """All that follow one another in DATA."""
    found, at = [], 0
    while at < len(data):
        one, at = stream(data, at)
        found.append(one)
    return found
