#!/usr/bin/env python3
"""Random traces, answered by `tpa top` and by reference_top.py: every figure must be equal.

Now and then a trace is asked together with the one before it: then the rows add up.

    differential.py [--tpa PROGRAM] [--seeds FIRST-LAST] [--keep FOLDER]

A trace on which they differ is kept in FOLDER (as seed-N.json), and said so; exit status 1 then.
"""

import argparse
import os
import shutil
import sys
import tempfile

import check_expected
import random_trace
import reference_top

FIGURES = reference_top.COLUMNS


def differences(tpa, path):
    """What differs, in words, or None."""
    document = reference_top.load(path)
    for by_shape in (False, True):
        columns = FIGURES[:3] + ["input_shapes"] * by_shape + FIGURES[3:]
        wanted = reference_top.key_averages(document, by_shape)
        options = ["--by", "shape"] if by_shape else []
        text = check_expected.top(tpa, path, "--format", "json", "--limit", "0", "--sort", "none", *options)
        wrong = check_expected.compare_rows(wanted, check_expected.json_rows(text, columns), columns)
        if wrong:
            return ("by shape: " if by_shape else "") + wrong
    return None


def summed(all_rows):
    """Rows of several files with equal names added up, in no order."""
    sums = {}
    for row in all_rows:
        figures = sums.setdefault(tuple(row[:3]), [0] * len(row[3:]))
        for i, value in enumerate(row[3:]):
            figures[i] += value
    return sorted([*name, *figures] for name, figures in sums.items())


def sum_differences(tpa, paths):
    """The same for several files together."""
    wanted = summed(row for path in paths for row in reference_top.key_averages(reference_top.load(path)))
    text = check_expected.top(tpa, *paths, "--format", "json", "--limit", "0", "--sort", "none")
    found = [[r[0], r[1], bool(r[2]), *r[3:]] for r in check_expected.json_rows(text, FIGURES)]
    wrong = check_expected.compare_rows(wanted, sorted(found), FIGURES)
    return wrong and f"with {paths[1]}: {wrong}"


def main():
    parser = argparse.ArgumentParser(description="compare tpa top with the reference on random traces")
    parser.add_argument("--tpa", default="tpa")
    parser.add_argument("--seeds", default="1-40", metavar="FIRST-LAST")
    parser.add_argument("--keep", metavar="FOLDER", help="where traces go on which the two differ")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    sys.setrecursionlimit(100000)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        before = None
        for seed in seeds:
            path = os.path.join(scratch, f"seed-{seed}.json")
            with open(path, "w", encoding="utf-8") as f:
                f.write(random_trace.Maker(seed).document())
            try:
                wrong = differences(args.tpa, path)
                if not wrong and before and seed % 4 == 0:
                    wrong = sum_differences(args.tpa, [path, before])
            except check_expected.Failed as failure:
                wrong = str(failure)
            if wrong:
                failed += 1
                print(f"FAILED  seed {seed}: {wrong}")
                if args.keep:
                    shutil.copy(path, args.keep)
            if before:
                os.remove(before)
            before = path
    print(f"differential: {len(seeds) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
