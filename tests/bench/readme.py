#!/usr/bin/env python3
"""readme.py - put what the benchmark measured into docs/speed.md, and the chart of it into docs/images/speed.svg.

    tests/bench/readme.py FIGURES FILE MACHINE
    tests/bench/readme.py --names       the commands that are shown, as bench_measure has them

FIGURES is what bench_measure printed; FILE says what was read and MACHINE where and when, each in a few words. `run --readme` calls it.
"""
import html
import math
import os
import re
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# Of the commands that were measured: in this order, as the first column has them.
shown = {
    "tpa top": "`tpa top`",
    "tpa gpu": "`tpa gpu`",
    "tpa kernels": "`tpa kernels`",
    "tpa summary": "`tpa summary`",
    "tpa report": "`tpa report`",
    "tpa top .gz": "`tpa top` of the same trace as `.json.gz`",
    "tpa top .tpa": "`tpa top` of the same trace as `.tpa`",
    "wc -l": "`wc -l`: reads each byte once",
    "jq length": "`jq '.traceEvents \\| length'`",
    "json.load": "Python's `json.load` alone",
    "HTA": "HTA's kernel breakdown",
    "Perfetto": "Perfetto's trace_processor, one query",
}
charted = ["wc -l", "tpa top .tpa", "tpa top", "tpa summary", "jq length", "json.load", "HTA", "Perfetto"]


def read(path):
    """Name: wall, processor time in seconds, peak memory in bytes."""
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {row[0]: (float(row[1]), float(row[2]) + float(row[3]), float(row[6]) * 1024) for row in rows}


def seconds(value):
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def size(value):
    return f"{value / 1e6:.0f} MB" if value < 1e9 else f"{value / 1e9:.1f} GB"


def table(figures):
    lines = ["| command | processor time | memory |", "| --- | ---: | ---: |"]
    lines += [f"| {text} | {seconds(figures[name][1])} | {size(figures[name][2])} |"
              for name, text in shown.items() if name in figures]
    return "\n".join(lines)


def chart(figures, title):
    """Bars on a scale of powers of ten: processor time."""
    names = [name for name in charted if name in figures]
    left, right, step, top = 150, 90, 30, 48
    width, height = 760, top + step * len(names) + 16
    values = [max(figures[name][1], 1e-3) for name in names]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    scale = (width - left - right) / (high - low)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="13">',
             f"<title>{html.escape(title)}</title>", f'<rect width="{width}" height="{height}" fill="#fff"/>',
             f'<text x="16" y="20" font-size="14">{html.escape(title)}</text>']
    for power in range(low, high + 1):
        x = left + (power - low) * scale
        parts.append(f'<path d="M{x:.1f} {top - 6}V{height - 10}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{top - 10}" fill="#666" font-size="11" text-anchor="middle">{10.0 ** power:g} s</text>')
    for i, (name, value) in enumerate(zip(names, values)):
        y, length = top + i * step, max(2.0, (math.log10(value) - low) * scale)
        colour = "#2563ab" if name.startswith("tpa") else "#9a9a9a"
        parts.append(f'<text x="{left - 8}" y="{y + 16}" text-anchor="end">{html.escape(name)}</text>')
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{length:.1f}" height="{step - 10}" fill="{colour}"/>')
        parts.append(f'<text x="{left + length + 6:.1f}" y="{y + 16}">{seconds(value)}, {size(figures[name][2])}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def replace(path, text):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    begin, end = "<!-- tests/bench/run --readme writes from here -->", "<!-- to here -->"
    between = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not between.search(page):
        sys.exit(f"readme.py: {path} has no lines '{begin}' and '{end}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(between.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", page))


def main():
    if sys.argv[1:] == ["--names"]:
        print("\n".join(shown))
        return
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    figures, what, machine = read(sys.argv[1]), sys.argv[2], sys.argv[3]
    replace(os.path.join(root, "docs/speed.md"), f"{what[0].upper()}{what[1:]}; {machine}.\n\n{table(figures)}\n\n"
            "![Processor time and memory for the same trace, on a logarithmic scale](images/speed.svg)")
    with open(os.path.join(root, "docs/images/speed.svg"), "w", encoding="utf-8") as file:
        file.write(chart(figures, f"Processor time (log scale) and peak memory: {what}"))


if __name__ == "__main__":
    main()
