"""A profile of pprof, drawn: main calls load and train, which calls fib, which calls itself. Bytes and objects in use."""

import gzip
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from wire import message, message_in, number, text, varint  # noqa: E402

strings = ["", "objects", "count", "space", "bytes", "main", "load", "train", "fib", "/opt/sample/main.go"]
functions = {1: ("main", 10), 2: ("load", 20), 3: ("train", 30), 4: ("fib", 40)}
# innermost first; train is inlined into main at location 3
locations = {1: [(1, 12)], 2: [(2, 22)], 3: [(3, 31), (1, 14)], 4: [(4, 41)], 5: []}
samples = [([2, 1], [3, 3000]), ([4, 3], [1, 500]), ([4, 4, 3], [2, 700]), ([5, 1], [1, 64])]


def packed(field, values):
    return text(field, b"".join(varint(value) for value in values))


parts = [message_in(1, number(1, 1), number(2, 2)), message_in(1, number(1, 3), number(2, 4))]
parts += [message_in(2, packed(1, ids), packed(2, values)) for ids, values in samples]
for location, lines in locations.items():
    parts.append(message_in(4, number(1, location), number(3, 0x401000 + location),
                            *[message_in(4, number(1, function), number(2, line)) for function, line in lines]))
for function, (name, line) in functions.items():
    parts.append(message_in(5, number(1, function), number(2, strings.index(name)), number(4, 9), number(5, line)))
parts += [text(6, string) for string in strings]
sys.stdout.buffer.write(gzip.compress(message(*parts), mtime=0))
