"""Write dumps of what profilers seldom or never write, in every version of marshal this Python knows.

    python3 special.py DIRECTORY

special-v0.prof ... differ in the encoding alone. sampled.prof has the form that the sampling profiler of CPython 3.15
writes (profiling.sampling --pstats): figures are samples, callers are counts, and one key says so.
"""
import marshal
import os
import sys

STEP = ("/opt/sample/train.py", 41, "step")
LOAD = ("/opt/sample/data/übung.py", 7, "größe_laden")
CJK = ("/opt/sample/データ.py", 3, "読む")
ASTRAL = ("/opt/sample/rocket.py", 1, "launch_🚀")
LAMBDA = ("/opt/sample/train.py", 41, "<lambda>")
SAME = ("/opt/other/train.py", 41, "step")
LEN = ("~", 0, "<built-in method builtins.len>")
JOIN = ("~", 0, "<method 'join' of 'str' objects>")
BARE = ("~", 0, "bare")
EMPTY = ("", 0, "")
TOP = ("jprofile", 0, "profiler")

STATS = {
    STEP: (2, 7, 0.0005, 12345678.9, {TOP: (2, 2, 0.0001, 12345678.0), STEP: (5, 0, 0.0004, 0.9)}),
    LOAD: (10**15, 10**15, 1e-9, 2.5e-4, {STEP: (10**15, 10**15, 1e-9, 2.5e-4)}),
    CJK: (3, 3, 0.0015, 0.0025, {LOAD: (3, 3, 0.0015, 0.0025)}),
    ASTRAL: (1, 1, 0.0025, 0.0035, {CJK: (1, 1, 0.0025, 0.0035), LOAD: (0, 0, 0.0, 0.0)}),
    LAMBDA: (0, 0, 0.0, 0.0, {}),
    SAME: (1, 2, 3, 4, {STEP: (1, 1, 1.5, 2), LAMBDA: (1, 0, 1.5, 2)}),
    LEN: (99, 99, 0.125, 0.125, {STEP: (33, 33, 0.0625, 0.0625), SAME: (66, 66, 0.0625, 0.0625)}),
    JOIN: (-1, -1, -0.25, 1e300, {LEN: (-1, -1, -0.25, 1e300)}),
    BARE: (1, 1, float("inf"), float("inf"), {}),
    EMPTY: (2**40, 2**40, 2.0**-11, 1023.9995, {LEN: (2**40, 2**40, 2.0**-11, 1023.9995)}),
}


def sampled(interval=0.0001):
    stats = {}
    callers = {STEP: {}, LOAD: {STEP: 300}, CJK: {LOAD: 120, STEP: 2}, LAMBDA: {CJK: 1}}
    for function, direct, cumulative in (STEP, 78, 500), (LOAD, 178, 300), (CJK, 121, 122), (LAMBDA, 1, 1):
        stats[function] = (direct, cumulative, direct * interval, cumulative * interval, callers[function])
    stats[("__sampled__",)] = True
    return stats


def main(directory):
    for version in range(marshal.version + 1):
        with open(os.path.join(directory, "special-v%d.prof" % version), "wb") as out:
            out.write(marshal.dumps(STATS, version))
    with open(os.path.join(directory, "sampled.prof"), "wb") as out:
        marshal.dump(sampled(), out)


main(*sys.argv[1:])
