"""What tpa chart must draw of a Kineto trace (random_trace.py): slow, simple, apart from tpa.

    charts = read_script(text)                        what `tpa chart --script` writes: a list of series for each chart, {x in ns: values}
    utilization(tables)    overlap(tables)            for each device the shares of time in each of about 400 parts of its span
    memory(memory)                                    for each memory (moment, bytes in use) after the records

Written from docs/definitions.md.
"""

import re

from reference_tables import length, of, union, within, without

PARTS = 400
MOST_CHARTS = 16
HOSTS = ("cpu", "mkldnn", "ideep")
UNITS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def read_script(text):
    """The charts in order, also those without a series: (units of both axes, series, where the axis of values ends), a series being rows of numbers."""
    texts = re.search(r"^\$text << EOD\n(.*?)^EOD\n", text, flags=re.S | re.M)[1]
    axes = re.findall(r"^:.*\((\w+|%)\)$", "\n".join(line for line in texts.split("\n") if re.match(r":(Time from|Memory \(|Share of)", line)), flags=re.M)
    charts = {}
    for chart, _, block in re.findall(r"^\$c(\d+)_(\d+) << EOD\n(.*?)^EOD\n", text, flags=re.S | re.M):
        charts.setdefault(int(chart), []).append([[float(n) for n in line.split()] for line in block.strip().split("\n") if line])
    ends = [float(end) for end in re.findall(r"^set yrange \[[^:\]]*:(.+)\]$", text, flags=re.M)]
    return [(axes[2 * n:2 * n + 2], charts.get(n + 1, []), end) for n, end in enumerate(ends)]


def edges(start, end, begins):
    """Of the parts, in whole nanoseconds. Steps, which begin at BEGINS, begin with a part; of many, several share one."""
    inside = sorted(at for at in begins if start < at < end)
    each = len(inside) // PARTS + 1
    marks = [start, *sorted(set(inside[::each])), end]
    cuts = []
    for number, (low, high) in enumerate(zip(marks, marks[1:]) if end > start else ()):
        whole = each > 1 and number < len(marks) - 2  # several steps are one part
        count = 1 if whole else max(1, int((high - low) / (end - start) * PARTS + 0.5))
        cuts += [low + (high - low) * n // count for n in range(count)]
    return [*cuts, end]


def shares(tables, kinds_of):
    """By device: [(middle of the part, shares)]."""
    found = []
    for _, work in tables.by_device():
        start, end = min(e.start for e in work), max(e.end for e in work)
        kinds = kinds_of(*tables.parts(work))
        cuts = edges(start, end, [step.start for step in tables.steps])
        found.append([((a + b - 2 * tables.origin) / 2, [100 * length(within(kind, a, b)) / (b - a) for kind in kinds]) for a, b in zip(cuts, cuts[1:]) if b > a])
    return found


def utilization(tables):
    def kinds(computes, communicates, copies, sets):
        computing, talking = union(of(computes + sets)), union(of(communicates))
        return [computing, without(talking, computing), without(of(copies), union(computing + talking))]

    return shares(tables, kinds)


def overlap(tables):
    def kinds(computes, communicates, _, sets):
        computing, talking = union(of(computes + sets)), union(of(communicates))
        alone, apart = without(computing, talking), without(talking, computing)
        return [alone, without(computing, alone), apart]

    return [parts for parts in shares(tables, kinds) if any(values[1] or values[2] for _, values in parts)]


def wrong_areas(wanted, charts):
    """What differs of areas that are stacked on each other, in words, or None. A device that took no time is not drawn."""
    wanted = [parts for parts in wanted if parts]
    if len(wanted) != len(charts):
        return f"{len(charts)} charts instead of {len(wanted)}"
    for parts, ((unit, _), series, _) in zip(wanted, charts):
        drawn = [number for number in range(3) if any(values[number] for _, values in parts)]
        if len(drawn) != len(series):
            return f"{len(series)} series instead of {len(drawn)}"
        for at, values in ((at, [values[number] for number in drawn]) for at, values in parts):
            for number, value in enumerate(values):
                x = at / UNITS[unit]
                low, high = next((row[1:3] for row, after in zip(series[number], series[number][1:]) if row[0] <= x <= after[0] and after[0] > row[0]), (0, 0))
                if abs(high - low - value) > 1e-6:
                    return f"series {number + 1} at {at} ns is {high - low}, expected {value}"
    return None


def memory(memory):
    """By memory, devices before hosts: (whether it is a host's, (moment, bytes) of all records)."""
    found = [(device.name.split(":")[0] in HOSTS, [(r.at - memory.origin, r.used) for r in device.records]) for device in memory.devices]
    return sorted(found, key=lambda each: each[0])[:MOST_CHARTS]


def wrong_lines(wanted, charts):
    """The last series of a chart is what was in use; of records that share a pixel it has the first, the lowest, the highest and the last.
    The devices have one axis of bytes."""
    if len(wanted) != len(charts):
        return f"{len(charts)} charts instead of {len(wanted)}"
    ends = {end * UNITS[units[1]] for (is_host, _), (units, _, end) in zip(wanted, charts) if not is_host}
    if len(ends) > 1:
        return f"the axes of devices end at {sorted(ends)} bytes"
    for (_, records), ((unit, bytes_unit), series, end) in zip(wanted, charts):
        if max(point[1] for line in series for point in line) > end:
            return f"the axis of bytes ends at {end} {bytes_unit}, below what is drawn"

        def is_at(point, record):
            return abs(point[0] * UNITS[unit] - record[0]) <= 0.5 and abs(point[1] * UNITS[bytes_unit] - record[1]) <= max(1, 1e-9 * record[1])

        for point in series[-1]:
            if not any(is_at(point, record) for record in records):
                return f"at {point[0]} {unit} are {point[1]} {bytes_unit} in use, which no record tells"
        highest, lowest = max(records, key=lambda r: r[1]), min(records, key=lambda r: r[1])
        for record in (records[0], highest, lowest, records[-1]):
            if not any(is_at(point, record) for point in series[-1]):
                return f"in use at {record[0]} ns are {record[1]}, which is not drawn"
    return None
