#!/usr/bin/env python3
"""Make gpu.xplane.pb, tpu.xplane.pb and hlo.xplane.pb: XSpaces as XLA writes them, small enough to draw. No GPU ran.

    make.py OUTPUT_FOLDER

gpu.xplane.pb, times in us from the start of the session; step 0 is [0, 100), step 1 [100, 200):

    host   python     train(0) 0..100              train(1) 100..200
                      cuLaunchKernel 10..12 (1)    cuLaunchKernel 110..112 (3)
                      cuMemcpyHtoDAsync 20..24 (2)
    GPU 0  stream 13  fusion_1 20..50 (1)          fusion_1 120..150 (3)
           stream 14  MemcpyH2D 30..40 (2)
    memory GPU_0_bfc  +1000 at 5, +500 at 105, -1000 at 160

tpu.xplane.pb: two programs, the second one's while loop with an all-reduce and a product inside; times in ns, with
picoseconds left over. fusion.1 takes twice as long as the memory needs for its bytes, dot.2 twice as long as its operations need.

hlo.xplane.pb: two runs of one program, with its HLO. A convolution of cuDNN in two kernels (padding: the corners of 4 x 4 elements
have fewer products), a product of cuBLAS, and a fusion that adds and reduces, of modules Net and Net/Dense_0:

    host   python     train(0) 0..100                                              train(1) 100..200
                      conv 10..12 (1), 12..14 (2)  gemm 20..22 (3)  fusion 30..32 (4)       the same 100 us later
    GPU 0  stream 7   im2col 20..24 (1)  conv 24..40 (2)  gemm 40..60 (3)  fusion 60..70 (4)

Its memory: parameters of 5808 bytes, a result of 64, and a temporary allocation with the workspace of 1 MiB, which convolution and
product share, beside the result of the one (512 bytes) and then the other (2048): a peak of 1 MiB + 7920 bytes.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from wire import message_in, number, text  # noqa: E402


class Plane:
    """A plane, whose names and stats get ids in order of first use; both tables come after the lines, as in C++."""

    def __init__(self, identity, name):
        self.head = number(1, identity) + text(2, name)
        self.lines, self.names, self.stats, self.own = [], {}, {}, []

    def stat(self, field, key, value):
        identity = self.stats.setdefault(key, len(self.stats) + 1)
        if isinstance(value, str):  # a reference to a text, as most are
            return message_in(field, number(1, identity), number(7, self.stats.setdefault(value, len(self.stats) + 1)))
        return message_in(field, number(1, identity), number(3 if value >= 0 else 4, value))

    def event(self, name, start_ps, duration_ps, display="", **stats):
        identity = self.names.setdefault((name, display), len(self.names) + 1)
        return message_in(4, number(1, identity), number(2, start_ps), number(3, duration_ps),
                          *(self.stat(4, key, value) for key, value in stats.items()))

    def line(self, identity, name, timestamp_ns, *events):
        self.lines.append(message_in(3, number(1, identity), text(2, name), number(3, timestamp_ns), *events))

    def tell(self, key, value):
        self.own.append(self.stat(6, key, value))

    def bytes(self):
        names = (message_in(4, number(1, i), message_in(2, number(1, i), text(2, name), text(4, display)))
                 for (name, display), i in self.names.items())
        stats = (message_in(5, number(1, i), message_in(2, number(1, i), text(2, key))) for key, i in self.stats.items())
        return message_in(1, self.head, *self.lines, *names, *stats, *self.own)


US = 1000000  # picoseconds


def environment():
    plane = Plane(0, "Task Environment")
    plane.tell("profile_start_time", 1795230000000000000)
    return plane


def gpu():
    device = Plane(0, "/device:GPU:0")
    details = "regs:32 static_shared:0 dynamic_shared:1024 grid:8,1,1 block:128,1,1 occ_pct:50"
    device.line(13, "Stream #13(Compute)", 0,
                device.event("fusion_1", 20 * US, 30 * US, correlation_id=1, kernel_details=details, hlo_op="fusion.1",
                             hlo_module="jit_step"),
                device.event("fusion_1", 120 * US, 30 * US, correlation_id=3, kernel_details=details, hlo_op="fusion.1",
                             hlo_module="jit_step"))
    device.line(14, "Stream #14(MemcpyH2D)", 0,
                device.event("MemcpyH2D", 30 * US, 10 * US, correlation_id=2,
                             memcpy_details="kind_src:pinned kind_dst:device size:4096 dest:0 async:1"))
    device.line(-559038737, "Steps", 0, device.event("0", 20 * US, 30 * US), device.event("1", 120 * US, 30 * US))
    for key, value in (("device_vendor", "Nvidia"), ("core_count", 80), ("memory_size", 16 << 30),
                       ("compute_cap_major", 7), ("compute_cap_minor", 0)):
        device.tell(key, value)
    host = Plane(1, "/host:CPU")

    def memory(name, at, change, used):
        return host.event(name, at * US, 0, allocator_name="GPU_0_bfc", allocation_bytes=change, bytes_allocated=used,
                          bytes_reserved=0, bytes_available=100000 - used, addr=4096 if change == 1000 else 8192)

    def launch(name, at, length, correlation, **stats):
        return host.event(name, at * US, length * US, correlation_id=correlation, **stats)

    host.line(701, "python", 0,
              host.event("train", 0, 100 * US, step_num=0),
              memory("MemoryAllocation", 5, 1000, 1000),
              launch("cuLaunchKernel", 10, 2, 1, hlo_op="fusion.1", hlo_module="jit_step"),
              launch("cuMemcpyHtoDAsync_v2", 20, 4, 2),
              host.event("train", 100 * US, 100 * US, step_num=1),
              memory("MemoryAllocation", 105, 500, 1500),
              launch("cuLaunchKernel", 110, 2, 3, hlo_op="fusion.1", hlo_module="jit_step"),
              memory("MemoryDeallocation", 160, 1000, 500))
    host.line(702, "tf_XLAPjRtClient/702", 0,
              host.event("dot.1", 40 * US, 5 * US, hlo_op="dot.1", hlo_module="jit_host"),
              host.event("end: dot.1", 45 * US, 0),
              host.event("PjitFunction(step)", 60 * US, 3 * US, _p=7, _pt=9))
    return device.bytes() + host.bytes() + environment().bytes() + text(4, "host-a")


def tpu():
    device = Plane(2, "/device:TPU:0")
    device.line(2, "XLA Modules", 0,
                device.event("jit_f(11)", 1000500, 4000000, run_id=1),
                device.event("jit_g(12)", 6000500, 6000000, run_id=2))
    device.line(3, "XLA Ops", 0,
                device.event("%fusion.1 = f32[8] fusion(...)", 1000999, 3000001, display="fusion.1", flops=918000000,
                             bytes_accessed=2457000),
                device.event("%while = (s32[]) while(...)", 6001000, 5000000, display="while", flops=459000000),
                device.event("%all-reduce.3 = f32[8] all-reduce(...)", 7001500, 2000000, display="all-reduce.3", flops=8,
                             bytes_accessed=64),
                device.event("%dot.2 = f32[8] dot(...)", 9501500, 1000000, display="dot.2", flops=459000000, bytes_accessed=819000))
    device.line(4, "XLA TraceMe", 0, device.event("barrier-cores", 6100000, 800000))
    device.tell("device_type_string", "TPU v6 Lite")
    host = Plane(1, "/host:CPU")
    host.line(900, "main/900", 0,
              host.event("DoEnqueueProgram", 500000, 200000, run_id=1, device_ordinal=0, queue_id=0),
              host.event("DoEnqueueProgram", 5500000, 200000, run_id=2, device_ordinal=0, queue_id=0))
    return device.bytes() + host.bytes()


BF16, F32, U8, TUPLE = 16, 11, 6, 13


def shape(kind, *dims):
    return number(2, kind) + b"".join(number(3, dim) for dim in dims)


def instruction(identity, name, opcode, result, operands=(), place="", frame=0, parts=b""):
    metadata = text(2, place) + (number(15, frame) if frame else b"")
    return message_in(2, text(1, name), text(2, opcode), message_in(3, result), message_in(7, metadata), number(35, identity),
                      *(number(36, operand) for operand in operands), parts)


def computation(identity, name, root, *instructions):
    return message_in(3, text(1, name), *instructions, number(5, identity), number(6, root))


def program():
    """x: a picture of 2 x 4 x 4 with 3 features; y: bf16[64,32]; the mean of y x w + b over its rows."""
    window = b"".join(message_in(1, number(1, 3), number(2, 1), number(3, 1), number(4, 1), number(5, 1), number(6, 1))
                      for _ in range(2))
    dims = (number(3, 1) + number(8, 1) + number(10, 1) + number(11, 2) + number(11, 3) + number(6, 2) + number(6, 3) +
            number(12, 2) + number(12, 3))
    gemm = '{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}'
    workspace = message_in(4, shape(U8, 1 << 20))
    add = computation(1, "add", 3, instruction(1, "a", "parameter", shape(F32)), instruction(2, "b", "parameter", shape(F32), parts=number(9, 1)),
                      instruction(3, "sum", "add", shape(F32), (1, 2)))
    fused = computation(
        2, "fused", 14,
        instruction(10, "p", "parameter", shape(BF16, 64, 16)), instruction(11, "q", "parameter", shape(F32, 16), parts=number(9, 1)),
        instruction(12, "wide", "broadcast", shape(F32, 64, 16), (11,)), instruction(13, "plus", "add", shape(F32, 64, 16), (10, 12)),
        instruction(14, "total", "reduce", shape(F32, 16), (13,), parts=number(38, 1)))
    net, dense = "jit(step)/jit(main)/jvp(Net)/conv_general_dilated", "jit(step)/jit(main)/jvp(Net)/Dense_0/dot_general"
    main = computation(
        3, "main", 27,
        instruction(20, "x", "parameter", shape(BF16, 2, 3, 4, 4)), instruction(21, "k", "parameter", shape(BF16, 8, 3, 3, 3), parts=number(9, 1)),
        instruction(22, "y", "parameter", shape(BF16, 64, 32), parts=number(9, 2)), instruction(23, "w", "parameter", shape(BF16, 32, 16), parts=number(9, 3)),
        instruction(24, "cudnn-conv.1", "custom-call", number(2, TUPLE) + message_in(4, shape(BF16, 2, 8, 4, 4)) + workspace, (20, 21), net, 2,
                    message_in(15, window) + message_in(16, dims) + text(28, "__cudnn$convForward")),
        instruction(25, "cublas-gemm.1", "custom-call", number(2, TUPLE) + message_in(4, shape(BF16, 64, 16)) + workspace, (22, 23), dense, 3,
                    text(28, "__cublas$gemm") + text(43, gemm)),
        instruction(26, "b", "parameter", shape(F32, 16), parts=number(9, 4)),
        instruction(27, "add_reduce_fusion", "fusion", shape(F32, 16), (25, 26), dense.replace("dot_general", "add"), 3, number(38, 2)))
    frames = (text(1, "/job/model.py") + text(1, "/job/train.py") + text(2, "main") + text(2, "conv") + text(2, "dense") +
              message_in(3, number(1, 2), number(2, 1), number(3, 40)) + message_in(3, number(1, 1), number(2, 2), number(3, 12)) +
              message_in(3, number(1, 1), number(2, 3), number(3, 20)) +
              message_in(4, number(1, 1)) + message_in(4, number(1, 2), number(2, 1)) + message_in(4, number(1, 3), number(2, 1)))
    return message_in(1, text(1, "jit_step"), text(2, "main"), add, fused, main, number(5, 77), number(6, 3), message_in(17, frames))


def buffers():
    """Of the program: (size, instruction, part of its tuple or None) by number, and where they are."""
    mib = 1 << 20
    logical = [(192, 20, None), (432, 21, None), (4096, 22, None), (1024, 23, None), (64, 26, None), (64, 27, None),
               (512, 24, 0), (mib, 24, 1), (2048, 25, 0), (mib, 25, 1), (4, 1, None)]
    parts = [message_in(1, number(1, 1 + i), number(2, size),
                        message_in(3, number(4, place), b"" if part is None else text(3, bytes([part]))))
             for i, (size, place, part) in enumerate(logical)]

    def allocation(index, size, flags, *held):
        return message_in(3, number(1, index), number(2, size), *(number(flag, 1) for flag in flags), *(message_in(9, number(1, one)) for one in held))

    parts += [allocation(i, logical[i][0], (5,), 1 + i) for i in range(5)]
    parts += [allocation(5, 64, (7,), 6), allocation(6, 4, (3,), 11), allocation(7, mib + 4096, (), 7, 8, 9, 10)]
    parts.append(message_in(4, *(message_in(1, number(1, kind), number(2, one), number(5, with_one)) for kind, one, with_one in (
        (0, 8, 0), (0, 7, 0), (1, 7, 0), (2, 10, 8), (1, 8, 0), (0, 9, 0), (1, 10, 0), (1, 9, 0)))))
    return message_in(3, *parts)


def hlo():
    kernels = (("im2col", "cudnn-conv.1", 20, 4, 10), ("implicit_convolve", "cudnn-conv.1", 24, 16, 12),
               ("gemm_bf16", "cublas-gemm.1", 40, 20, 20), ("add_reduce_fusion", "add_reduce_fusion", 60, 10, 30))
    metadata = Plane(2, "/host:metadata")
    metadata.names[("jit_step(77)", "")] = 1
    metadata.stats["Hlo Proto"] = 1
    proto = message_in(4, number(1, 1), message_in(2, number(1, 1), text(2, "jit_step(77)"), message_in(5, number(1, 1), message_in(6, program() + buffers()))))
    device, host = Plane(0, "/device:GPU:0"), Plane(1, "/host:CPU")
    details = "regs:32 static_shared:0 dynamic_shared:1024 grid:8,1,1 block:128,1,1 occ_pct:50"
    work, calls = [], []
    for step in range(2):
        calls.append(host.event("train", step * 100 * US, 100 * US, step_num=step))
        for i, (kernel, operator, at, length, called) in enumerate(kernels):
            tells = dict(correlation_id=1 + step * 4 + i, hlo_op=operator, hlo_module="jit_step", program_id=77)
            work.append(device.event(kernel, (step * 100 + at) * US, length * US, kernel_details=details, **tells))
            calls.append(host.event("cuLaunchKernel", (step * 100 + called) * US, 2 * US, **tells))
    device.line(7, "Stream #7(Compute)", 0, *work)
    for key, value in (("device_vendor", "Nvidia"), ("core_count", 80), ("memory_size", 16 << 30),
                       ("compute_cap_major", 7), ("compute_cap_minor", 0)):
        device.tell(key, value)
    host.line(701, "python", 0, *calls)
    tables = message_in(1, metadata.head, proto, message_in(5, number(1, 1), message_in(2, number(1, 1), text(2, "Hlo Proto"))))
    return device.bytes() + host.bytes() + tables + environment().bytes() + text(4, "host-a")


def main():
    for name, make in (("gpu", gpu), ("tpu", tpu), ("hlo", hlo)):
        with open(os.path.join(sys.argv[1], f"{name}.xplane.pb"), "wb") as f:
            f.write(make())


if __name__ == "__main__":
    main()
