#!/usr/bin/env python3
"""Make torch_cupti.pftrace and sdk.pftrace: Perfetto's protobuf as two kinds of producers write it. Nothing ran.

    make.py OUTPUT_FOLDER

torch_cupti.pftrace, as PyTorch's CUPTI backend lays it out: gzip; BEGINs of a group, then their ENDs in the same order, which
may cross; kernels as render stages. Times in us from the base:

    thread 100  train 0..100   aten::mm 10..40   aten::add 30..60 (crosses)   cudaLaunchKernel 15..20 (7)
    GPU 0       stream 7: gemm 25..55 (7)        Memcpy 60..70
    counter     Power (W): 250 at 0, 300 at 50

sdk.pftrace, as Perfetto's SDK does: a clock of its own that counts on, texts interned where they first occur, a flow, a
counter, packets of another kind, and a sequence whose beginning was lost.
"""

import gzip
import os
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from wire import double, fixed64, message, message_in, number, text  # noqa: E402

BASE = 1751410836000000000
US = 1000


def packet(*parts):
    return message_in(1, *parts)


def begin(track, at, name, category, *annotations):
    event = message_in(11, number(9, 1), number(11, track), number(10, name), number(3, category), *annotations)
    return packet(number(8, BASE + at * US), number(10, 1), number(13, 2), event)


def end(track, at):
    return packet(number(8, BASE + at * US), number(10, 1), message_in(11, number(9, 2), number(11, track)))


def annotation(name, value):
    return message_in(4, text(10, name), number(4, value))


def stage(identity, at, length, kind, name, *parts):
    event = message_in(53, number(1, identity), number(2, length * US), number(11, 0), number(13, 100), number(14, kind),
                       *([number(20, name)] if name else []), *parts)
    return packet(number(8, BASE + at * US), number(10, 1), number(13, 2), event)


def extra(name, value):
    return message_in(6, text(1, name), text(2, value))


def torch():
    names = ["train", "aten::mm", "aten::add", "cudaLaunchKernel", "gemm"]
    categories = ["user_annotation", "cpu_op", "cuda_runtime"]
    counters = message_in(47, number(1, 1), number(3, 0), message_in(2, message_in(1, number(1, 0), text(2, "Power (W)"))))
    interned = message_in(12, counters, *(message_in(2, number(1, i + 1), text(2, n)) for i, n in enumerate(names)),
                          *(message_in(1, number(1, i + 1), text(2, c)) for i, c in enumerate(categories)),
                          message_in(24, number(1, 1), text(2, "Kernel"), number(4, 2)),
                          message_in(24, number(1, 2), text(2, "Memcpy")),
                          message_in(24, number(1, 100), text(2, "[007] stream 7")),
                          message_in(1001, number(1, 1), text(2, "registers_per_thread")))
    grid = message_in(21, message_in(1, number(1, 64), number(2, 2), number(3, 1)), message_in(2, number(1, 128)),
                      message_in(3, number(1, 1), number(4, 40)))
    shapes = message_in(4, text(10, "Input Dims"), *(message_in(12, message_in(12, number(4, 8)), message_in(12, number(4, 3)))
                                                     for _ in range(2)))
    return message(
        packet(number(8, BASE), number(10, 1), message_in(6, message_in(1, number(1, 6), number(2, BASE)),
                                                          message_in(1, number(1, 1), number(2, BASE)))),
        packet(message_in(60, number(1, 1), message_in(3, number(1, 100), text(6, "python")))),
        packet(message_in(60, number(1, 2), number(5, 1),
                          message_in(4, number(1, 100), number(2, 100), text(5, "thread 100 (python)")))),
        packet(number(10, 1), number(13, 1), interned),
        begin(2, 0, 1, 1, annotation("External id", 1)),
        begin(2, 10, 2, 2, annotation("External id", 2), shapes),
        begin(2, 30, 3, 2, annotation("External id", 3)),
        end(2, 100), end(2, 40), end(2, 60),
        begin(2, 15, 4, 3, annotation("cbid", 211), annotation("correlation", 7), message_in(3000, number(1, 1))),
        end(2, 20),
        stage(1, 25, 30, 1, 5, grid, extra("correlation", "7"), extra("stream id", "7"), extra("process_name", "python")),
        stage(2, 60, 10, 2, 0, extra("bytes", "4096"), extra("correlation", "8")),
        *(packet(number(8, BASE + at * US), number(10, 1), number(13, 2),
                 message_in(52, number(4, 1), message_in(2, number(1, 0), double(3, watts))))
          for at, watts in ((0, 250), (50, 300))))


def sdk():
    def descriptor(uuid, *parts):
        return packet(number(10, 3), message_in(60, number(1, uuid), *parts))

    def event(delta, *parts, interned=()):
        return packet(number(8, delta), number(10, 3), number(13, 2), message_in(11, *parts),
                      *([message_in(12, *interned)] if interned else []))

    snapshot = message_in(6, message_in(1, number(1, 64), number(2, 1000), number(3, 1), number(4, 1000)),
                          message_in(1, number(1, 6), number(2, 1000000)),
                          message_in(1, number(1, 1), number(2, BASE)), number(2, 6))
    packed = zlib.compress(event(10, number(9, 2)) + event(5, number(9, 2)))
    return message(
        packet(number(10, 3), snapshot),
        packet(number(10, 3), number(13, 1), message_in(59, number(58, 64), message_in(11, number(11, 10)))),
        descriptor(9, message_in(3, number(1, 50), text(6, "app"))),
        descriptor(10, number(5, 9), message_in(4, number(1, 50), number(2, 51), text(5, "main"))),
        descriptor(11, number(5, 9), text(2, "queue"), message_in(8, number(3, 2))),
        event(5, number(9, 1), number(10, 1), number(3, 1), fixed64(47, 42),
              interned=(message_in(2, number(1, 1), text(2, "outer")), message_in(1, number(1, 1), text(2, "app")))),
        event(5, number(9, 1), text(23, "inner"), fixed64(48, 42),
              message_in(4, text(10, "bytes"), number(3, 512))),
        packet(text(50, packed)),
        event(1, number(9, 4), number(11, 11), number(30, 3)),
        event(1, number(9, 3), text(23, "mark")),
        packet(number(10, 7), number(8, 1), number(13, 2), message_in(11, number(9, 1), number(10, 1))),
        packet(number(10, 3), text(1, b"\x08\x00")))


def main():
    with open(os.path.join(sys.argv[1], "torch_cupti.pftrace"), "wb") as f:
        f.write(gzip.compress(torch(), 9, mtime=0))
    with open(os.path.join(sys.argv[1], "sdk.pftrace"), "wb") as f:
        f.write(sdk())


if __name__ == "__main__":
    main()
