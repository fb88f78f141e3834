#!/usr/bin/env python3
"""Write a Python profile of COUNT functions, laid out as cProfile writes it: make_dump.py COUNT OUT.prof

100 functions to a file, one to three callers each, of which one is often the function itself; figures from a fixed seed.
"""
import marshal
import random
import sys


def main(count, out):
    rng = random.Random(1)
    count = int(count)
    keys = [("/opt/project/package_%d/module_%d.py" % (i // 5000, i // 100), 7 * (i % 100) + 1, "function_%d" % i)
            for i in range(count)]
    stats = {}
    for i, key in enumerate(keys):
        calls = rng.choice([1, 1, 10, rng.randrange(1, 100000)])
        tottime = rng.expovariate(1e4)
        callers = {}
        for caller in {rng.randrange(count) for _ in range(rng.choice([1, 1, 1, 2, 3]))}:
            callers[keys[caller]] = (calls, calls, tottime / 2, tottime)
        primitive = calls
        if rng.random() < .05:
            primitive = rng.randrange(1, calls + 1)
            callers[key] = (calls, primitive, tottime / 4, tottime / 3)
        stats[key] = (primitive, calls, tottime, tottime * rng.uniform(1, 50), callers)
    with open(out, "wb") as file:
        marshal.dump(stats, file)


main(*sys.argv[1:])
