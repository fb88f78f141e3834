#!/usr/bin/env python3
"""Hold `tpa roofline` to figures that are known to be right: every row, and how much of the device time is modelled.

    check_roofline.py [--tpa PROGRAM] --traces DIR EXPECTED.json...   "trace" in a file is a path below DIR
    check_roofline.py [--tpa PROGRAM] NAME.expected.json...           NAME.json beside it is the trace

A file has rows with name, dims, types, calls, time_ns, and the flops and bytes of one call (null: missing); rows that differ in
strides or values alone are added up. It may tell device_time_ns and modelled_time_ns. Prints one line per file and what
differs; exit status 1 when anything does.
"""

import argparse
import json
import os
import sys

import check_expected


def wanted_rows(document):
    rows = {}
    for row in document["rows"]:
        sums = rows.setdefault((row["name"], json.dumps(row["dims"]), json.dumps(row["types"])), {"count": 0, "flops": 0, "bytes": 0, "time_ns": 0})
        sums["count"] += row["calls"]
        sums["time_ns"] += row["time_ns"]
        for key in ("flops", "bytes"):
            sums[key] = None if row[key] is None or sums[key] is None else sums[key] + row["calls"] * row[key]
    return rows


def differences(tpa, trace, document):
    text = check_expected.top(tpa, trace, "--format", "json", "--limit", "0", command="roofline")
    tables = {table["key"]: table["rows"] for table in json.loads(text)["tables"]}
    wanted = wanted_rows(document)
    found = {(row["name"], json.dumps(json.loads(row["shapes"])), json.dumps(json.loads(row["types"]))): row for row in tables["operators"]}
    for key in sorted(wanted.keys() | found.keys()):
        row = found.get(key)
        figures = row and {figure: row[figure] for figure in ("count", "flops", "bytes", "time_ns")}
        if figures != wanted.get(key):
            yield f"{' '.join(key)}: {figures}, expected {wanted.get(key)}"
    for figure in ("device_time_ns", "modelled_time_ns"):
        told = sum(row[figure] for row in tables["totals"])
        if document.get(figure, told) != told:
            yield f"{figure} is {told}, expected {document[figure]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tpa", default="build/release/tpa")
    parser.add_argument("--traces")
    parser.add_argument("files", nargs="+", metavar="EXPECTED")
    args = parser.parse_args()
    failed = 0
    for path in args.files:
        with open(path) as f:
            document = json.load(f)
        trace = os.path.join(args.traces, document["trace"]) if args.traces and "trace" in document else path.replace(".expected.json", ".json")
        wrong = list(differences(args.tpa, trace, document))
        failed += bool(wrong)
        print(f"{'FAILED' if wrong else 'ok    '}  {path}: {len(document['rows'])} rows")
        for line in wrong[:10]:
            print(f"    {line}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
