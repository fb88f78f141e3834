#!/usr/bin/env python3
"""Compare tpa with Python's pstats on random profiles.

    tests/tools/random_pstats.py --tpa build/tpa --seeds 1-30 [--keep DIRECTORY]

A seed gives one or two dumps, in a random version of marshal, in which random parts are one object (so that they are
written once and referred to), and some questions. Text is compared byte for byte, JSON figure by figure.
"""
import argparse
import contextlib
import io
import json
import marshal
import math
import os
import pstats
import random
import subprocess
import sys
import tempfile

FILES = ["/opt/a/x.py", "/opt/b/x.py", "x.py", "/opt/a/y.py", "", "~", "<string>", "/opt/é/数.py", "dir/", "q" * 300]
NAMES = ["f", "g", "main", "<lambda>", "<built-in method builtins.len>", "größe", "𝓍", "", "it's", "a(b)", "z" * 260]
TIMES = [0.0, 0.0005, 0.0015, 0.0025, 0.9995, 1.0, 1e-9, 1e-300, 123456.7895, 1e16, 1e300, float("inf"), -0.25, 3]
SORTS = ("calls ncalls cumtime cumulative filename line module name nfl pcalls stdname time tottime cu l m p s to "
         "cumul fi pc").split()
PATTERNS = ["x", r"\.py:\d+", "^/opt/a", "^{", "é|数", "f|g", "[(]main[)]$", "nothing like it"]


def random_cost(rng):
    calls = rng.choice([0, 1, 1, 2, 75, 10**6, 2**31 - 1, 2**31, 2**40, -1, rng.randrange(1000)])
    primitive = rng.choice([calls, calls, max(0, calls - rng.randrange(5))])
    seconds = [rng.choice(TIMES) if rng.random() < .5 else rng.random() * 10**rng.randrange(-6, 4) for _ in "tc"]
    return calls, primitive, seconds[0], seconds[1]


def random_stats(rng, plain):
    """A dict as cProfile makes it; PLAIN: as `profile` does, with counts for callers."""
    functions = list({(rng.choice(FILES), rng.choice([0, 1, 7, 2**31 + 5]), rng.choice(NAMES)): 0
                      for _ in range(rng.choice([1, 3, 20, 60]))})
    stats, shared = {}, []
    for function in functions:
        calls, primitive, tottime, cumtime = random_cost(rng)
        callers = {}
        for caller in rng.sample(functions, rng.randrange(min(len(functions), rng.choice([6, 6, 40])) + 1)):
            if rng.random() < .3:
                caller = tuple(list(caller))  # equal, but another object
            callers[caller] = calls if plain else random_cost(rng)
        if shared and rng.random() < .15:
            callers = rng.choice(shared)
        shared.append(callers)
        stats[function] = (primitive, calls, tottime, cumtime, callers)
        if rng.random() < .1:
            stats[function] = stats[rng.choice(list(stats))]
    return stats


def random_question(rng):
    sort = [rng.choice(SORTS) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    restrictions = [rng.choice(PATTERNS)] if rng.random() < .5 else []
    restrictions += rng.choice([[], [], [1], [7], [0.1], [0.5], [0.999]])
    return (rng.random() < .4, sort, rng.random() < .3, rng.choice(["stats", "callers", "callees"]), restrictions)


def by_pstats(files, strip, sort, reverse, report, restrictions):
    out = io.StringIO()
    stats = pstats.Stats(*files, stream=out)
    with contextlib.redirect_stdout(out):
        if strip:
            stats.strip_dirs()
        if sort:
            stats.sort_stats(*sort)
        if reverse:
            stats.reverse_order()
        getattr(stats, "print_" + report)(*restrictions)
    return out.getvalue().encode("utf-8")


def arguments(files, strip, sort, reverse, report, restrictions):
    words = ["top" if report == "stats" else report, "--format", "pstats", "--sort", ",".join(sort) or "none"]
    words += ["--strip-dirs"] * strip + ["--reverse"] * reverse
    limit = "0"
    for restriction in restrictions:
        if isinstance(restriction, str):
            words += ["--filter", restriction]
        else:
            limit = "%g%%" % (100 * restriction) if isinstance(restriction, float) else str(restriction)
    return words + ["--limit", limit] + files


def check_json(tpa, path, stats):
    """What differs between the rows of `tpa top --format json` and STATS."""
    run = subprocess.run([tpa, "top", "--format", "json", "--limit", "0", "--sort", "none", path], stdout=subprocess.PIPE)
    rows = json.loads(run.stdout)["tables"][0]["rows"]
    swapped = any(primitive > calls for primitive, calls, _, _, _ in stats.values())
    wanted = []
    for (file, line, name), (primitive, calls, tottime, cumtime, _) in stats.items():
        if swapped:
            primitive, calls = calls, primitive
        row = {"file": file, "line": line, "function": name, "calls": calls, "pcalls": primitive}
        for key, seconds in ("tottime_ns", tottime), ("cumtime_ns", cumtime):
            if math.isfinite(seconds) and abs(seconds) < 9e9:
                row[key] = round(seconds * 10**9) if isinstance(seconds, int) else round(exact_ns(seconds))
        wanted.append(row)
    found = [{key: row.get(key) for key in want} for row, want in zip(rows, wanted)]
    return [] if len(rows) == len(wanted) and found == wanted else ["JSON: found %r, wanted %r" % (found, wanted)]


def exact_ns(seconds):
    import fractions
    return fractions.Fraction(seconds) * 10**9


def check_seed(tpa, seed, folder):
    rng = random.Random(seed)
    plain = rng.random() < .3
    files, all_stats = [], []
    for number in range(rng.choice([1, 1, 2, 3])):
        stats = random_stats(rng, plain)
        path = os.path.join(folder, "%d-%d.prof" % (seed, number))
        with open(path, "wb") as out:
            out.write(marshal.dumps(stats, rng.randrange(marshal.version + 1)))
        files.append(path)
        all_stats.append(stats)
    problems = check_json(tpa, files[0], all_stats[0])
    for _ in range(4):
        question = random_question(rng)
        try:
            wanted = by_pstats(files, *question)
        except (KeyError, OverflowError):
            continue  # a caller that is no entry under `profile`: pstats gives up
        words = arguments(files, *question)
        found = subprocess.run([tpa] + words, stdout=subprocess.PIPE).stdout
        if found != wanted:
            problems.append("tpa " + " ".join(words))
            for name, text in ("wanted", wanted), ("found", found):
                with open(os.path.join(folder, "%d.%s" % (seed, name)), "wb") as out:
                    out.write(text)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tpa", default="build/tpa")
    parser.add_argument("--seeds", default="1-30")
    parser.add_argument("--keep", help="leave the dumps, and what was wanted and found, in this folder")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for seed in seeds:
            problems = check_seed(args.tpa, seed, folder)
            failed += bool(problems)
            for problem in problems:
                print("seed %d: %s" % (seed, problem))
    print("pstats: %d seeds, %d failed" % (len(seeds), failed))
    sys.exit(failed > 0)


main()
