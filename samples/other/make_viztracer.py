#!/usr/bin/env python3
"""Make viztracer.json.gz: a small Python program as VizTracer records it (pip install viztracer).

    make_viztracer.py OUTPUT_FOLDER
"""

import asyncio
import gzip
import os
import sys
import tempfile
import threading

from viztracer import VizTracer
from viztracer.vizcounter import VizCounter


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


async def fetch(n):
    await asyncio.sleep(0.001)
    return fibonacci(n)


async def fetch_all():
    return await asyncio.gather(*(fetch(n) for n in range(3, 6)))


def main():
    out = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        tracer = VizTracer(output_file="viztracer.json", verbose=0, log_async=True, file_info=False, pid_suffix=False)
        counter = VizCounter(tracer, "queue")
        tracer.start()
        with tracer.log_event("warm up"):
            fibonacci(6)
        worker = threading.Thread(target=fibonacci, args=(7,), name="worker")
        worker.start()
        for length in (3, 2, 0):
            counter.length = length
            sorted(range(length))
        worker.join()
        tracer.log_instant("half way", args={"note": "an instant"})
        asyncio.run(fetch_all())
        tracer.stop()
        tracer.save()
        with open("viztracer.json", "rb") as f:
            text = f.read()
    script = os.path.abspath(__file__).encode()
    for real, shown in ((script, b"make_viztracer.py"), (os.path.dirname(os.__file__).encode(), b"/usr/lib/python3")):
        text = text.replace(real, shown)
    with open(os.path.join(out, "viztracer.json.gz"), "wb") as f:
        f.write(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
