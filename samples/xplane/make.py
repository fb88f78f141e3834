#!/usr/bin/env python3
"""Make gpu.xplane.pb and tpu.xplane.pb: XSpaces as XLA writes them on GPUs and TPUs, small enough to draw. No GPU ran.

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


def main():
    for name, make in (("gpu", gpu), ("tpu", tpu)):
        with open(os.path.join(sys.argv[1], f"{name}.xplane.pb"), "wb") as f:
            f.write(make())


if __name__ == "__main__":
    main()
