#!/usr/bin/env python3
"""Hold the description that the program gives of itself to what it does: described.py TPA SAMPLES."""
import glob
import json
import re
import subprocess
import sys

tpa, samples = sys.argv[1:]

RANKS = [f"{samples}/gpu/a100_2024_rank{r}.json.gz" for r in (0, 1)]
SNAPSHOT = f"{samples}/memory/snapshot.pickle"
PROFILE = f"{samples}/pstats/cprofile-3.12.prof"
STACKS = [f"{samples}/profiles/py-spy.txt", f"{samples}/profiles/heap.pb.gz"]
STEPS = f"{samples}/pytorch/cnn_stacks.json.gz"
INPUTS = {
    "info": [RANKS, ["--formats"]],
    "diff": [[f"{samples}/diff/gpu_before.json", f"{samples}/diff/gpu_after.json", "--gate", "5%"],
             [f"{samples}/diff/before.json", f"{samples}/diff/after.json"],
             ["--tree", f"{samples}/diff/gpu_before.json", f"{samples}/diff/gpu_after.json"]],
    "callers": [[STEPS, "--filter", "aten::mm"]],
    "callees": [[STEPS, "--filter", "aten::mm"]],
    "path": [[RANKS[0], "--segments"], [STEPS]],
    "sequences": [[RANKS[0], "--op", "aten::mm"]],
    "whatif": [[RANKS[0], "--no-data-wait"], [RANKS[0], "--sweep", "kernel:gemm=0.5..1"]],
}
COMMON = [[RANKS[0]], RANKS, [STEPS]]


def run(*words):
    return subprocess.run([tpa, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def described(command):
    """The columns of each table: its key to the lists of (key, kind) there are for it."""
    tables = {}
    for table in command["tables"]:
        tables.setdefault(table["key"], []).append([(c["key"], c["kind"], c["unit"]) for c in table["columns"]])
    return tables


def is_part(shown, columns):
    """Are the columns SHOWN some of COLUMNS, in their order?"""
    rest = iter(columns)
    return all(any(c == (s["key"], s["kind"]) for c in ((k, kind) for k, kind, _ in rest)) for s in shown)


def check_tables(command, words, wrong):
    answer = run(command["name"], "--format", "json", *words)
    if answer.returncode not in (0, 1):
        return 0
    tables = described(command)
    found = json.loads(answer.stdout)["tables"]
    for table in found:
        where = f"tpa {command['name']} {' '.join(words)}: table {table['key']}"
        if table["columns"] and table["key"] not in tables:
            wrong.append(f"{where} is not described")
        elif table["columns"] and not any(is_part(table["columns"], columns) for columns in tables[table["key"]]):
            wrong.append(f"{where} has the columns {[c['key'] for c in table['columns']]}")
    return len(found)


def check_options(command, wrong):
    for option in command["options"]:
        wrong_value = run(command["name"], f"--{option['name']}=/dev/null/\x01")
        if b"unknown option" in wrong_value.stderr:
            wrong.append(f"tpa {command['name']} --{option['name']} is described, but not known")
        takes_none = b"takes no value" in wrong_value.stderr
        if takes_none != (option["kind"] == "flag"):
            wrong.append(f"tpa {command['name']} --{option['name']} is no {option['kind']}")


def check_pages(commands, pages, wrong):
    """Every option of every command that the pages for newcomers name is there."""
    known = {c["name"]: {"--" + o["name"] for o in c["options"]} for c in commands}
    count = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            spans = re.findall(r"`tpa ([^`]+)`", file.read())
        for words in (span.split() for span in spans):
            count += 1
            if words[0] not in known and "/" not in words[0] and "." not in words[0]:
                wrong.append(f"{page}: there is no command {words[0]}")
            for word in words[1:]:
                if word.startswith("--") and word != "--" and word.split("=")[0] not in known.get(words[0], ()):
                    wrong.append(f"{page}: tpa {words[0]} has no {word}")
    return count


def main():
    help_of_all = json.loads(run("help", "--format", "json", "--all").stdout)
    names = run("help", "--list").stdout.decode().split()
    wrong = [] if [c["name"] for c in help_of_all["commands"]] == names else ["the commands are not those of --list"]
    count = 0
    for command in help_of_all["commands"]:
        alone = json.loads(run("help", "--format", "json", "--all", command["name"]).stdout)["commands"]
        if alone != [command]:
            wrong.append(f"tpa help --format json --all {command['name']} says something else")
        if not command["runs_program"]:
            check_options(command, wrong)
        if not command["tables"]:
            continue
        words = list(INPUTS.get(command["name"], COMMON))
        words += [[PROFILE], *([path] for path in STACKS)] if "profiles" in command["reads"] and command["name"] != "diff" else []
        words += [[SNAPSHOT]] if "snapshots" in command["reads"] and command["name"] != "diff" else []
        count += sum(check_tables(command, w, wrong) for w in words)
    pages = glob.glob(f"{samples}/../docs/coming-from/*.md")
    named = check_pages(help_of_all["commands"], pages, wrong)
    for line in wrong:
        print(line)
    print(f"{count} tables of {len(names)} commands; {named} commands on {len(pages)} pages")
    return 1 if wrong or count < 60 or named < 60 else 0


sys.exit(main())
