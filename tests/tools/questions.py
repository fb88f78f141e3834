"""What the tests ask of a trace when they ask for everything: commands and options, and asking them.

    for name, words in questions.of_traces(): ...
        answer = questions.ask(tpa, words, files)

Of most commands there is one question in the page that `tpa report` writes as JSON, so the short list asks for that.
"""

import collections
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(ROOT, "samples")

JSON = ["--format", "json", "--limit", "0"]

# Commands, options, and how a table of them is told: as JSON, with all rows.
TABLES = [
    ["info"], ["summary"], ["summary", "--by", "rank"], ["summary", "--by", "device"], ["top", "--sort", "none"], ["top", "--by", "shape"], ["top", "--by", "stack"], ["top", "--by", "kernel"],
    ["top", "--by", "category,thread"], ["top", "--by", "stream"], ["top", "--by", "step"], ["top", "--by", "op,rank"],
    ["callers"], ["callees"], ["modules"], ["modules", "--by", "line"], ["modules", "--by", "rank"],
    ["gpu"], ["gpu", "--by", "stream"], ["gpu", "--by", "step"], ["kernels"], ["kernels", "--by", "shape"],
    ["gaps", "--min", "0"], ["gaps", "--by", "stream", "--min", "0"], ["steps"], ["steps", "--by", "step,stream"], ["transfers"], ["transfers", "--by", "op"], ["transfers", "--by", "rank"],
    ["comm"], ["comm", "--by", "size"], ["memory"], ["memory", "--by", "step"], ["memory", "--by", "module"], ["launches"], ["launches", "--by", "thread"],
    ["path", "--whole", "--segments"], ["whatif", "--cuda-graph"],
    ["sequences"], ["sequences", "--all", "--by", "op"],
    ["roofline"], ["roofline", "--by", "module"],
    ["latency", "--histogram"], ["latency", "--by", "thread", "--exact"],
]
# Other texts, and files of other formats.
TEXTS = [
    ["top", "--format", "torch", "--limit", "0"], ["top", "--format", "csv"], ["gaps", "--format", "md"], ["summary", "--color", "always"],
    ["chart", "--type", "utilization", "--script"], ["chart", "--type", "kernels", "--script"],
    ["convert", "--to", "chrome", "--output", "-"], ["convert", "--to", "csv", "--output", "-"], ["convert", "--to", "folded", "--output", "-"],
    ["convert", "--to", "speedscope", "--output", "-"], ["convert", "--to", "chrome", "--range", "1ms..", "--output", "-"],
]
SHORT = [["report", "--format", "json"], ["top", "--by", "stack", *JSON], ["callers", *JSON], ["info", *JSON]]
PROFILES = [["top", *JSON], ["callers", *JSON], ["callees", *JSON], ["top", "--format", "pstats"],
            ["convert", "--to", "folded", "--output", "-"]]

Answer = collections.namedtuple("Answer", "status out err")


def of_traces(every):
    """The questions for traces, each a list of words; all of them or the few that ask for most."""
    return [[*words, *JSON] for words in TABLES] + TEXTS if every else SHORT


def environment(**more):
    """One in which nothing but what is asked matters; sanitizers keep their options."""
    kept = {name: value for name, value in os.environ.items() if name == "PATH" or name.endswith("SAN_OPTIONS")}
    return {**kept, "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "120", **more}


def ask(tpa, words, files, options=(), folder=None, **variables):
    """The answer to WORDS about FILES, asked in FOLDER."""
    run = subprocess.run([tpa, *words, *options, *files], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         cwd=folder, env=environment(**variables))
    return Answer(run.returncode, run.stdout, run.stderr)


def difference(wanted, found):
    """Where two answers part, in words; None when they do not."""
    for what, a, b in zip(Answer._fields, wanted, found):
        if a == b:
            continue
        if what == "status":
            return f"exit status {b} instead of {a}: {found.err.decode(errors='replace').strip()}"
        for number, (x, y) in enumerate(zip(a.split(b"\n") + [b"(end)"], b.split(b"\n") + [b"(end)"]), 1):
            if x != y:
                return f"std{what}, line {number}\n    {y[:400].decode(errors='replace')}\n  instead of\n    {x[:400].decode(errors='replace')}"
    return None
