"""What tpa nightly must keep and say of a history of runs (random_sides.py): slow, simple, apart from tpa.

    run = reference_nightly.Run([path of a rank, ...])
    run.figures()          [{"sort": "head", "name": "step_time", "level": 52000.0, "error": 310.5, ...}, ...]
    wrong(history, shown)  what cannot be so in the verdicts on a run

Written from docs/definitions.md. Of the verdicts those figures are worked out that do not depend on what other series say of the noise of
a night: before, now, change, the runs that are named, counts, exit status.
"""

import math
import statistics
from fractions import Fraction

import reference_diff

ODD_AFTER = 6
WINDOW = 14
DEVIATION = 1.4826


def without_odd(values, fewest, least_deviation=0):
    """Without what is further than six standard deviations from the median: one value, or one in ten, each time the furthest."""
    kept = sorted(values)
    for _ in range(max(1, len(values) // 10) if len(values) >= fewest else 0):
        middle = statistics.median(kept)
        spread = max(least_deviation, DEVIATION * float(statistics.median([abs(v - middle) for v in kept])))
        furthest = max(reversed(kept), key=lambda v: abs(v - middle))
        if float(abs(furthest - middle)) <= ODD_AFTER * spread:
            break
        kept.remove(furthest)
    return kept


class Run:
    """One night: a file for each rank."""

    def __init__(self, paths):
        files = [reference_diff.File(path) for path in paths]
        self.by_step = all(file.complete_steps() for file in files)
        groups = {}
        for n, file in enumerate(files):
            for sample in file.samples(self.by_step):
                groups.setdefault(int(sample.step.raw["name"].split("#")[1]) if sample.step else n, []).append(sample)
        self.samples = [groups[key] for key in sorted(groups)]
        self.errors = {}  # of the levels, as tpa keeps them: (sort, name)
        self.whole_files = [sample for file in files for sample in file.samples(False)]

    @staticmethod
    def mean(values):
        return Fraction(sum(values)) / len(values)

    def series(self):
        """{(sort, name): (samples, calls per sample)}"""
        heads = [[sample.head() for sample in group] for group in self.samples]
        found = {}
        for name in heads[0][0]:
            found["head", name.replace(" ", "_").lower()] = [self.mean([head[name] for head in group]) for group in heads], None
        for sort, by in (("operators", "op"), ("kernels", "kernel")):
            tables = [[sample.rows(by) for sample in group] for group in self.samples]
            for name in {name for group in tables for rows in group for name in rows}:
                values = [self.mean([rows.get(name, [0, 0])[0] for rows in group]) for group in tables]
                found[sort, name] = values, float(self.mean([rows.get(name, [0, 0])[1] for group in tables for rows in group]))
        return found

    def figures(self):
        rows = []
        for (sort, name), (samples, calls) in self.series().items():
            rows.append({"sort": sort, "name": name, "calls": calls, "level": float(self.mean(samples)), "samples": len(samples)})
        for is_device, name in ((True, "memory_peak"), (False, "host_memory_peak")):
            peaks = [p[is_device] for sample in self.whole_files for p in [sample.peaks()] if is_device in p]
            if peaks:
                rows.append({"sort": "head", "name": name, "calls": None, "level": float(max(peaks)), "samples": 1})
        return rows


# ---- verdicts ----------------------------------------------------------------------------------------


def reference_of(runs):
    """What runs of one level, pairs of a level and its error, are as a whole; None where it hangs on the last digit of a double."""
    window = runs[-WINDOW:]
    squares = [error * error for _, error in window if error is not None]
    if squares:
        limit = 4 * statistics.median(squares)
        if any(limit and abs(s - limit) < 1e-9 * limit for s in squares):
            return None
        calm = [(level, error) for level, error in window if error is None or error * error <= limit]
        if (len(window) - len(calm)) * 4 <= len(window):
            window = calm
    squares = [error * error for _, error in window if error is not None]
    kept = without_odd([level for level, _ in window], 5, math.sqrt(sum(squares) / len(squares)) if squares else 0)
    return sum(kept) / len(kept)


class Series:
    """A figure over the nights, one call of told() each."""

    def __init__(self):
        self.runs, self.verdicts = [], []

    def told(self, level, error, row):
        """What is wrong in ROW, in words, or None."""
        self.runs.append((level, error))
        verdict, suffix = row["verdict"], "_ns" if "before_ns" in row else ""
        was_simple = set(self.verdicts) <= {"first", "same", "cannot tell", "UNSURE", "NEW", "EXISTING"} and self.verdicts.count("NEW") <= 1
        self.verdicts.append(verdict)
        before, now = row[f"before{suffix}"], row[f"now{suffix}"]
        wanted = None, level
        if verdict in ("NEW", "EXISTING"):
            wanted = reference_of(self.runs[:row["first_bad"] - 1]), reference_of(self.runs[row["first_bad"] - 1:])
            if self.verdicts.count("NEW") <= 1 and row["last_good"] != row["first_bad"] - 1:
                return f"last good is {row['last_good']}, first bad {row['first_bad']}"
        elif verdict in ("same", "cannot tell") and self.verdicts.count("NEW") == 0:
            wanted = reference_of(self.runs[:-1]), level
        elif verdict == "UNSURE":  # of which runs it tells is not known here
            wanted = None, None
        if was_simple and self.verdicts.count("NEW") <= 1:
            for what, value, found in (("before", wanted[0], before), ("now", wanted[1], now)):
                if value is not None and (found is None or abs(value - found) > 1):
                    return f"{what} is {found}, expected {value}"
        if before is not None and row[f"change{suffix}"] != now - before:
            return f"change is {row[f'change{suffix}']}"
        if verdict == "EXISTING" and "EXISTING" not in self.verdicts[:-1] and "NEW" not in self.verdicts[:-1]:
            return "EXISTING, and it never was NEW"
        if verdict == "FIXED" and "NEW" not in self.verdicts[:-1]:
            return "FIXED, and it never was NEW"
        is_worse = now > before if before is not None else None
        if verdict == "NEW" and not is_worse or verdict == "better" and is_worse:
            return f"{verdict}, from {before} to {now}"
        return None


class History:
    """The nights of a store, in order."""

    def __init__(self):
        self.series = {}
        self.nights = 0

    def told(self, run, tables, status):
        """What is wrong in the TABLES that are shown of RUN, the last one; STATUS is that of the process."""
        self.nights += 1
        levels = {(row["sort"], row["name"]): row for row in run.figures()}
        verdicts, unjudged = [], self.nights <= 4
        for key, table in tables.items():
            for row in table["rows"] if key in ("head", "memory", "operators", "kernels") else ():
                rows = key in ("operators", "kernels")
                name = (key, row["name"]) if rows else ("head", row["name"].replace(" ", "_").lower())
                verdicts.append(row["verdict"])
                unjudged |= row["verdict"] == "UNSURE" or row["verdict"] == "cannot tell" and not rows
                series = self.series.setdefault(name, Series())
                if len(series.runs) < self.nights - 1 or name not in levels:
                    series.verdicts.append("gone")  # now and then it is not there
                    continue
                wrong = series.told(levels[name]["level"], run.errors.get(name), row)
                if wrong:
                    return f"night {self.nights}: {name}: {row['verdict']}: {wrong}"
        told = tables["verdict"]["footer"] if "verdict" in tables else next(iter(tables.values()))["footer"]
        for word in ("NEW", "UNSURE", "EXISTING", "FIXED"):
            if told[word.lower()] != verdicts.count(word):
                return f"night {self.nights}: {told[word.lower()]} are {word}, expected {verdicts.count(word)}"
        return None if status == ("NEW" in verdicts or unjudged) else f"night {self.nights}: exit status {status}"
