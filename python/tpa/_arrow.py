"""Arrow's IPC streams as the program writes them, read without any library, and handed on by Arrow's C data interface.

The bytes are kept as they came; consumers of a table (pandas, polars, DuckDB, pyarrow) point into them.
https://arrow.apache.org/docs/format/Columnar.html and .../CDataInterface.html describe both.
"""

import ctypes
import os
import struct

from ._error import Error
from ._program import program

# ---- flatbuffers, as much of it as Arrow's messages take ----


class _Node:
    """A table of a flatbuffer."""

    def __init__(self, data, at):
        self.data = data
        self.at = at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.size = struct.unpack_from("<H", data, self.fields)[0]

    def _place(self, index):
        slot = 4 + 2 * index
        offset = struct.unpack_from("<H", self.data, self.fields + slot)[0] if slot < self.size else 0
        return self.at + offset if offset else None

    def number(self, index, form, default=0):
        at = self._place(index)
        return default if at is None else struct.unpack_from("<" + form, self.data, at)[0]

    def _target(self, index):
        at = self._place(index)
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def node(self, index):
        at = self._target(index)
        return None if at is None else _Node(self.data, at)

    def text(self, index):
        at = self._target(index)
        if at is None:
            return None
        length = struct.unpack_from("<I", self.data, at)[0]
        return bytes(self.data[at + 4:at + 4 + length]).decode("utf-8", "replace")

    def nodes(self, index):
        at = self._target(index)
        count = 0 if at is None else struct.unpack_from("<I", self.data, at)[0]
        places = (at + 4 + 4 * i for i in range(count))
        return [_Node(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]

    def structs(self, index, form):
        at = self._target(index)
        count = 0 if at is None else struct.unpack_from("<I", self.data, at)[0]
        size = struct.calcsize("<" + form)
        return [struct.unpack_from("<" + form, self.data, at + 4 + size * i) for i in range(count)]


def _facts(node, index):
    return {pair.text(0): pair.text(1) for pair in node.nodes(index)}


# ---- schema and batches ----

_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_INT, _FLOAT, _UTF8, _BOOL, _TIMESTAMP, _LARGE_UTF8 = 2, 3, 5, 6, 10, 20


def _format(kind, node):
    """A type in the words of the C data interface."""
    if kind == _INT:
        return {(8, True): "c", (8, False): "C", (16, True): "s", (16, False): "S", (32, True): "i",
                (32, False): "I", (64, True): "l", (64, False): "L"}[node.number(0, "i"), bool(node.number(1, "b"))]
    if kind == _FLOAT:
        return "efg"[node.number(0, "h")]
    if kind == _TIMESTAMP:
        return f"ts{'smun'[node.number(0, 'h')]}:{node.text(1) or ''}"
    if kind in (_UTF8, _LARGE_UTF8, _BOOL):
        return {_UTF8: "u", _LARGE_UTF8: "U", _BOOL: "b"}[kind]
    raise Error(f"the program answered with a type of Arrow ({kind}) that this package does not know")


class Field:
    """A column's name, type and metadata; `index` is the type of the indices where its texts are in a dictionary."""

    def __init__(self, node):
        self.name = node.text(0)
        self.nullable = bool(node.number(1, "b"))
        self.format = _format(node.number(2, "B"), node.node(3))
        self.facts = _facts(node, 6)
        coding = node.node(4)
        self.dictionary = None if coding is None else coding.number(0, "q")
        self.index = None if coding is None else _format(_INT, coding.node(1)) if coding.node(1) else "i"


class Column:
    """The values of one field in one batch: where they lie in the bytes that were read."""

    def __init__(self, count, missing, buffers, dictionary=None):
        self.count = count
        self.missing = missing
        self.buffers = buffers  # (offset, length) of each
        self.dictionary = dictionary  # a Column


class Stream:
    """One table: its fields, metadata, and batches of columns."""

    def __init__(self, data):
        self.data = data  # bytes, kept as they are
        self.fields = []
        self.facts = {}
        self.batches = []  # (rows, [Column])


def _columns(batch, body, data_fields):
    """The columns of a record batch whose body begins at BODY."""
    if batch.node(3) is not None:
        raise Error("the program answered with packed columns, which this package does not read")
    nodes = iter(batch.structs(1, "qq"))
    buffers = iter([(body + offset, length) for offset, length in batch.structs(2, "qq")])
    columns = []
    for form in data_fields:
        count, missing = next(nodes)
        columns.append(Column(count, missing, [next(buffers) for _ in range(3 if form in "uU" else 2)]))
    return columns


def read_streams(data):
    """The streams that follow one another in the bytes DATA."""
    streams, at = [], 0
    try:
        while at < len(data):
            stream, at = _read_stream(data, at)
            streams.append(stream)
    except (struct.error, IndexError, KeyError, StopIteration, UnicodeError):
        raise Error(f"the program's answer breaks off or is damaged at byte {at} of {len(data)}") from None
    return streams


def _read_stream(data, at):
    stream, dictionaries = Stream(data), {}
    while at < len(data):
        mark, size = struct.unpack_from("<iI", data, at)
        if mark != -1:
            raise Error(f"the program's answer is no Arrow stream at byte {at}")
        at += 8
        if size == 0:
            return stream, at
        message = _Node(data, at + struct.unpack_from("<I", data, at)[0])
        body = at + size
        kind, header = message.number(1, "B"), message.node(2)
        at = body + message.number(3, "q")
        if at > len(data):
            raise IndexError
        if kind == _SCHEMA:
            stream.fields = [Field(node) for node in header.nodes(1)]
            stream.facts = _facts(header, 2)
        elif kind == _DICTIONARY:
            field = next(f for f in stream.fields if f.dictionary == header.number(0, "q"))
            if header.number(2, "b"):
                raise Error("the program answered with a dictionary in parts, which this package does not read")
            dictionaries[field.dictionary] = _columns(header.node(1), body, [field.format])[0]
        elif kind == _BATCH:
            columns = _columns(header, body, [f.index or f.format for f in stream.fields])
            for field, column in zip(stream.fields, columns):
                if field.dictionary is not None:
                    column.dictionary = dictionaries[field.dictionary]
            stream.batches.append((header.number(0, "q"), columns))
    return stream, at


# ---- values, for those who want Python's ----

_CODES = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d"}


def code_of(form):
    """The letter of FORM in the struct and array modules; None where it has none."""
    return "q" if form.startswith("ts") else _CODES.get(form)


def view(data, column, form):
    """The values of a COLUMN of numbers as a memoryview; missing ones are whatever lies there."""
    offset, _ = column.buffers[1]
    code = code_of(form)
    size = struct.calcsize("<" + code) * column.count
    return memoryview(data)[offset:offset + size].cast(code)


def missing(data, column):
    """Which values are missing, as a list of bool; None when none is."""
    if column.missing == 0 or column.buffers[0][1] == 0:
        return None
    offset, _ = column.buffers[0]
    return [not data[offset + (i >> 3)] >> (i & 7) & 1 for i in range(column.count)]


def values(data, column, form):
    """The values as Python's own: int, float, bool, str; None where missing."""
    if form in ("u", "U"):
        code, size = ("i", 4) if form == "u" else ("q", 8)
        offset, texts = column.buffers[1][0], column.buffers[2][0]
        ends = memoryview(data)[offset:offset + size * (column.count + 1)].cast(code) if column.count else [0]
        found = [str(data[texts + ends[i]:texts + ends[i + 1]], "utf-8", "replace") for i in range(column.count)]
    elif form == "b":
        offset = column.buffers[1][0]
        found = [bool(data[offset + (i >> 3)] >> (i & 7) & 1) for i in range(column.count)]
    else:
        found = view(data, column, form).tolist()
    gaps = missing(data, column)
    return found if gaps is None else [None if gap else value for value, gap in zip(found, gaps)]


# ---- Arrow's C data interface ----


class _ArrowSchema(ctypes.Structure):
    pass


class _ArrowArray(ctypes.Structure):
    pass


class _ArrowArrayStream(ctypes.Structure):
    pass


_SCHEMA_P, _ARRAY_P, _STREAM_P = (ctypes.POINTER(t) for t in (_ArrowSchema, _ArrowArray, _ArrowArrayStream))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, _STREAM_P, _SCHEMA_P)
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, _STREAM_P, _ARRAY_P)
_GetError = ctypes.CFUNCTYPE(ctypes.c_void_p, _STREAM_P)

_ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(_SCHEMA_P)), ("dictionary", _SCHEMA_P),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]
_ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(_ARRAY_P)), ("dictionary", _ARRAY_P), ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p)]
_ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p), ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]

_own = None


def _c():
    """The functions of arrow_release.c, which end what is handed out."""
    global _own
    if _own is None:
        here = os.path.dirname(os.path.abspath(__file__))
        places = [os.path.join(here, "lib"), os.path.dirname(program())]
        path = next((p for p in (os.path.join(place, "libtpa_arrow.so") for place in places) if os.path.exists(p)), None)
        if path is None:
            raise Error("libtpa_arrow.so is missing from this package: tables cannot be handed to other libraries",
                        hint="install tpa again; to_dict() and to_pandas() need no such library")
        try:
            own = ctypes.PyDLL(path)
        except OSError as error:
            raise Error(f"cannot load {path}: {error}") from None
        own.tpa_new_struct.restype, own.tpa_new_struct.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        _own = own
    return _own


def _address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def _keep(*things):
    """The private_data of a struct: an object that holds THINGS, with a reference that the struct owns."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(things))
    return id(things)


def _kept(number):
    return ctypes.cast(number, ctypes.py_object).value


def _metadata(facts):
    pairs = [(k.encode(), v.encode()) for k, v in facts.items()]
    if not pairs:
        return None
    packed = struct.pack("=i", len(pairs))
    for key, value in pairs:
        packed += struct.pack("=i", len(key)) + key + struct.pack("=i", len(value)) + value
    return ctypes.create_string_buffer(packed, len(packed))


def _fill_schema(it, form, name="", facts=None, children=(), dictionary=None, nullable=True):
    form, name, metadata = form.encode(), (name or "").encode(), _metadata(facts or {})
    pointers = (_SCHEMA_P * len(children))(*[ctypes.pointer(child) for child in children])
    it.format, it.name, it.flags = form, name, 2 if nullable else 0
    it.metadata = ctypes.cast(metadata, ctypes.c_void_p) if metadata else None
    it.n_children, it.children = len(children), ctypes.cast(pointers, ctypes.POINTER(_SCHEMA_P))
    it.dictionary = ctypes.pointer(dictionary) if dictionary is not None else None
    it.release = _address(_c().tpa_release_schema)
    it.private_data = _keep(form, name, metadata, pointers, children, dictionary)


def _fill_table_schema(it, stream):
    children = []
    for field in stream.fields:
        child, dictionary = _ArrowSchema(), None
        if field.dictionary is not None:
            dictionary = _ArrowSchema()
            _fill_schema(dictionary, field.format)
        _fill_schema(child, field.index or field.format, field.name, field.facts, (), dictionary, field.nullable)
        children.append(child)
    _fill_schema(it, "+s", "", stream.facts, children, None, False)


_ZEROS = ctypes.create_string_buffer(8)


def _fill_array(it, base, data, length, missing_count, buffers, children=(), dictionary=None):
    """BUFFERS are (offset, length) in DATA, which lies at the address BASE; the first tells which values are missing."""
    no_gaps = missing_count == 0 or buffers[0][1] == 0
    places = (ctypes.c_void_p * len(buffers))(*[base + offset for offset, _ in buffers])
    if no_gaps:
        places[0] = None
    if length == 0 and len(buffers) > 1:
        places[1] = ctypes.addressof(_ZEROS)  # where texts end: one more of these than texts
    pointers = (_ARRAY_P * len(children))(*[ctypes.pointer(child) for child in children])
    it.length, it.null_count, it.offset = length, missing_count, 0
    it.n_buffers, it.buffers = len(buffers), ctypes.cast(places, ctypes.POINTER(ctypes.c_void_p))
    it.n_children, it.children = len(children), ctypes.cast(pointers, ctypes.POINTER(_ARRAY_P))
    it.dictionary = ctypes.pointer(dictionary) if dictionary is not None else None
    it.release = _address(_c().tpa_release_array)
    it.private_data = _keep(data, places, pointers, children, dictionary)


def _fill_column(base, data, column):
    it, dictionary = _ArrowArray(), None
    if column.dictionary is not None:
        dictionary = _fill_column(base, data, column.dictionary)
    _fill_array(it, base, data, column.count, column.missing, column.buffers, (), dictionary)
    return it


def _fill_batch(it, data, rows, columns):
    base = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
    children = [_fill_column(base, data, column) for column in columns]
    _fill_array(it, base, data, rows, 0, [(0, 0)], children)


_EIO = 5
_TROUBLE = ctypes.create_string_buffer(b"the table could not be handed on")


def _get_schema(stream, out):
    try:
        _fill_table_schema(out.contents, _kept(stream.contents.private_data)[0])
    except Exception:  # nothing may be raised into the caller, which is C
        return _EIO
    return 0


def _get_next(stream, out):
    try:
        source, left = _kept(stream.contents.private_data)
        batch = next(left, None)
        if batch is None:
            ctypes.memset(out, 0, ctypes.sizeof(_ArrowArray))
        else:
            _fill_batch(out.contents, source.data, *batch)
    except Exception:
        return _EIO
    return 0


def _get_error(_):
    return ctypes.addressof(_TROUBLE)


_get_schema_c, _get_next_c, _get_error_c = _GetSchema(_get_schema), _GetNext(_get_next), _GetError(_get_error)

# C code may call these as long as it has a stream, which may be longer than this module lives.
for _function in (_get_schema_c, _get_next_c, _get_error_c):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_function))

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_STREAM_NAME, _SCHEMA_NAME = b"arrow_array_stream", b"arrow_schema"  # the capsules point at these bytes


def _new_struct(kind):
    address = _c().tpa_new_struct(ctypes.sizeof(kind))
    if not address:
        raise MemoryError
    return address, kind.from_address(address)


def stream_capsule(stream):
    """STREAM as a capsule `arrow_array_stream`."""
    address, it = _new_struct(_ArrowArrayStream)
    it.get_schema, it.get_next = _address(_get_schema_c), _address(_get_next_c)
    it.get_last_error, it.release = _address(_get_error_c), _address(_c().tpa_release_stream)
    it.private_data = _keep(stream, iter(list(stream.batches)))
    return _new_capsule(address, _STREAM_NAME, _address(_c().tpa_free_stream))


def schema_capsule(stream):
    """The schema of STREAM as a capsule `arrow_schema`."""
    address, it = _new_struct(_ArrowSchema)
    _fill_table_schema(it, stream)
    return _new_capsule(address, _SCHEMA_NAME, _address(_c().tpa_free_schema))
