#!/usr/bin/env python3
"""Make the profiles in this folder and the golden tests that compare tpa with Python's pstats.

    samples/pstats/make.py PYTHON...                     e.g. ~/.pyenv/versions/*/bin/python
    YAPPI=DIR samples/pstats/make.py PYTHON...           with yappi for the last of them unpacked in DIR

Each PYTHON dumps a profile by cProfile and by profile, and its own pstats then answers a matrix of questions: that
becomes tests/golden/pstats/NAME/stdout, and the same questions put to tpa become cmd. The last PYTHON also writes
special.py's dumps and answers what is asked about several files. All dumps get one time of last change, because pstats
prints it.
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(ROOT, "tests", "golden", "pstats")
CHANGED = 1700000000

SORTS = [[word] for word in "stdname calls ncalls time tottime cumtime cumulative filename module line name nfl "
         "pcalls cumu filen std ti".split()] + [["cumulative", "name"], ["calls", "line", "stdname"], ["1"]]


def some_questions(files, old=False):
    """(files, strip, sort, reverse, report, restrictions). OLD: Python 2, whose dicts have no order."""
    for report in "stats", "callers", "callees":
        yield files, False, ["nfl"] if old else ["time"], False, report, []
        yield files, True, ["stdname"], False, report, ["util", 0.8]


def all_questions(files, old=False):
    for sort in [["stdname"], ["name", "stdname"], ["nfl"]] if old else SORTS:
        yield files, False, sort, False, "stats", []
    for report in "stats", "callers", "callees":
        for restrictions in [], [5], [0.1], ["util"], ["util", 2], [r"\.py:\d+\((is_|fib)", 0.5], ["nothing"]:
            yield files, False, ["stdname"], False, report, restrictions
        yield files, True, ["stdname"], False, report, []
        yield files, True, ["name", "stdname"], True, report, ["util"]
        if not old:
            yield files, False, [], False, report, []
            yield files, True, ["cumulative", "name"], False, report, [12]


def command(question):
    """The line that puts QUESTION to tpa."""
    files, strip, sort, reverse, report, restrictions = question
    words = ["tpa", "top" if report == "stats" else report, "--format", "pstats"]
    words += ["--sort", ",".join(sort)] if sort else []
    words += ["--strip-dirs"] if strip else []
    words += ["--reverse"] if reverse else []
    limit = "0"
    for restriction in restrictions:
        if isinstance(restriction, str):
            words += ["--filter", restriction]
        else:
            limit = "%g%%" % (100 * restriction) if isinstance(restriction, float) else str(restriction)
    return shlex.join(words + ["--limit", limit] + files)


def write_golden(python, name, files, asked, old=False):
    asked = list(asked)
    folder = os.path.join(GOLDEN, name)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            shutil.copy(os.path.join(HERE, file), scratch)
            os.utime(os.path.join(scratch, file), (CHANGED, CHANGED))
        # "1" is a word for tpa and a number for pstats.
        lines = [repr(q[:2] + ([1] if q[2] == ["1"] else q[2],) + q[3:]) for q in asked]
        env = dict(os.environ, TZ="UTC", PYTHONIOENCODING="utf-8")
        text = subprocess.run([python, os.path.join(HERE, "answers.py")], input="\n".join(lines).encode(), cwd=scratch,
                              env=env, stdout=subprocess.PIPE, check=True).stdout
    if old:
        # What later versions print otherwise: no "CPU", and a blank behind an arrow that points to nothing.
        text = text.replace(b" CPU seconds\n", b" seconds\n").replace(b" <-\n", b" <- \n").replace(b" ->\n", b" -> \n")
    with open(os.path.join(folder, "stdout"), "wb") as out:
        out.write(text)
    with open(os.path.join(folder, "cmd"), "w") as out:
        out.write("# Made by samples/pstats/make.py: stdout is what Python's pstats printed.\n")
        out.write("for name in %s; do cp samples/pstats/$name \"$TMP\"; done\n" % " ".join(files))
        out.write("cd \"$TMP\" && touch -d @%d -- *\n" % CHANGED)
        out.writelines(command(q) + "\n" for q in asked)


def main(pythons):
    for python in pythons:
        version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                                 stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        old = version.startswith("2")
        for profiler in "cprofile", "profile":
            name = "%s-%s" % (profiler, version)
            file = name + ".prof"
            subprocess.run([python, os.path.join(HERE, "dump.py"), profiler, os.path.join(HERE, file)], check=True)
            questions = all_questions if old or python in pythons[-2:] else some_questions
            write_golden(python, name, [file], questions([file], old), old)
    if "YAPPI" in os.environ:
        env = dict(os.environ, PYTHONPATH=os.environ["YAPPI"])
        yappi = os.path.join(HERE, "yappi.prof")
        subprocess.run([python, os.path.join(HERE, "dump.py"), "yappi", yappi], env=env, check=True)
        write_golden(python, "yappi", ["yappi.prof"], some_questions(["yappi.prof"]))
    subprocess.run([python, os.path.join(HERE, "special.py"), HERE], check=True)
    for number in range(5):
        file = "special-v%d.prof" % number
        write_golden(python, "special-v%d" % number, [file], (all_questions if number == 4 else some_questions)([file]))
    files = ["cprofile-%s.prof" % version, "cprofile-3.6.prof", "special-v4.prof", "cprofile-3.6.prof"]
    write_golden(python, "several", sorted(set(files)), list(all_questions(files))[-30:])


main(sys.argv[1:])
