#!/usr/bin/env python3
"""Hold `tpa top` to what is known to be right: every row of NAME.expected.json, every table of NAME.table.txt.

    check_expected.py [--tpa PROGRAM] FOLDER...            traces and expectations side by side
    check_expected.py [--tpa PROGRAM] --traces DIR FOLDER  traces elsewhere, below DIR

Expectations are NAME.expected.json or NAME.json (see samples/README.md), and NAME.table.txt. Prints one
line per trace and what differs; exit status 0 when nothing does.
"""

import argparse
import ast
import glob
import json
import os
import re
import subprocess
import sys

GROUPS = {"key": [], "input_shape": ["--by", "shape"], "with_python": ["--python"]}


class Failed(Exception):
    pass


def top(tpa, trace, *options, command="top"):
    run = subprocess.run([tpa, command, *options, trace], capture_output=True)
    if run.returncode != 0:
        raise Failed(f"exit status {run.returncode}: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout.decode("utf-8", errors="surrogateescape")


def json_rows(text, columns):
    """Rows of a `--format json` answer as lists in the order of COLUMNS. A column that is not there is 0 everywhere."""
    (table,) = json.loads(text)["tables"]
    names = {"key": "name"}
    return [[r.get(names.get(c, c), 0) or ([] if c == "input_shapes" else 0) for c in columns] for r in table["rows"]]


def holds_rows(path):
    with open(path) as f:
        return '"columns"' in f.read(1000)


def expected_groups(document):
    """(group, columns, rows) of any of the layouts expectations come in."""
    columns = [c for c in document["columns"] if not c.startswith("(")]
    groups = document.get("groups") or {"key": document["rows"]}
    for group, rows in groups.items():
        shown = list(columns)
        if group == "input_shape":
            shown.insert(columns.index("is_user_annotation") + 1, "input_shapes")
        yield group, shown, rows


def compare_rows(wanted, found, columns):
    """None, or what differs first, in words."""
    plain = lambda row: [0 if v is False else 1 if v is True else v for v in row]
    for number, (w, f) in enumerate(zip(wanted, found)):
        for column, a, b in zip(columns, plain(w), plain(f)):
            if a is not None and a != b:
                return f"row {number} {w[0]!r}: {column} is {b!r}, expected {a!r}"
    if len(wanted) != len(found):
        return f"{len(found)} rows, expected {len(wanted)}"
    return None


def check_rows(tpa, trace, expectation):
    with open(expectation) as f:
        document = json.load(f)
    for group, columns, rows in expected_groups(document):
        options = ["--by", "stack", "--stack-depth", group[5:]] if group.startswith("stack") else GROUPS[group]
        found = json_rows(top(tpa, trace, "--format", "json", "--limit", "0", "--sort", "none", *options), columns)
        wrong = compare_rows(rows, found, columns)
        if wrong:
            raise Failed(f"{group}: {wrong}")


def table_options(call):
    """The options of `tpa top` for the text of one call: key_averages(GROUPING).table(ARGUMENTS)."""
    grouping, arguments = re.fullmatch(r"key_averages\((.*)\)\.table\((.*)\)", call).groups()
    grouping = dict(part.split("=") for part in grouping.split(", ") if part)
    arguments = ast.literal_eval(arguments)
    options = ["--format", "torch", "--sort", arguments.pop("sort_by", "none")]
    limit = arguments.pop("row_limit", 100)
    options += ["--limit", str(max(limit, 0))]
    if arguments.pop("top_level_events_only", False):
        options.append("--top-level")
    if "time_unit" in arguments:
        options += ["--time-unit", arguments.pop("time_unit")]
    if grouping.pop("group_by_input_shape", None):
        options += ["--by", "shape"]
    if "group_by_stack_n" in grouping:
        options += ["--by", "stack", "--stack-depth", grouping.pop("group_by_stack_n")]
    if arguments or grouping:
        raise Failed(f"no option of tpa top stands for {arguments or grouping}")
    return options


def check_tables(tpa, trace, expectation):
    with open(expectation, encoding="utf-8") as f:
        texts = re.split(r"^##### (.*)\n", f.read(), flags=re.M)[1:]
    for call, wanted in zip(texts[::2], texts[1::2]):
        found = top(tpa, trace, *table_options(call))
        if found.rstrip("\n") != wanted.rstrip("\n"):
            for number, (a, b) in enumerate(zip(wanted.split("\n"), found.split("\n")), 1):
                if a != b:
                    raise Failed(f"{call}: line {number}\n    expected {a}\n    found    {b}")
            raise Failed(f"{call}: one text ends before the other")


def find_trace(name, folder):
    for ending in (".json.gz", ".json", ".gz", ""):
        for path in sorted(glob.glob(os.path.join(folder, "**", name + ending), recursive=True)):
            if os.path.isfile(path) and not path.endswith(".expected.json"):
                return path
    raise Failed("there is no such trace")


def main():
    parser = argparse.ArgumentParser(description="compare tpa top with what is known to be right")
    parser.add_argument("--tpa", default="tpa")
    parser.add_argument("--traces", metavar="DIR", help="where the traces are, if not beside the expectations")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    args = parser.parse_args()
    passed = failed = 0
    for folder in args.folders:
        own = glob.glob(os.path.join(folder, "*.expected.json"))
        jsons = own or [p for p in glob.glob(os.path.join(folder, "*.json")) if holds_rows(p)]
        for path in sorted(jsons + glob.glob(os.path.join(folder, "*.table.txt"))):
            name = re.sub(r"(\.expected)?\.json$|\.table\.txt$", "", os.path.basename(path))
            check = check_tables if path.endswith(".txt") else check_rows
            try:
                check(args.tpa, find_trace(name, args.traces or folder), path)
                passed += 1
                print(f"ok      {path}")
            except Failed as failure:
                failed += 1
                print(f"FAILED  {path}: {failure}")
    print(f"expected: {passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)


if __name__ == "__main__":
    main()
