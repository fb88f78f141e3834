"""The commands that the tests of faults put through their paces, and how one run of them is watched.

A command works in a folder of its own, which holds nothing but what it may write: OUTPUT, a file that is there before,
and a store of some nights where it has to do with one. The samples it reads are elsewhere, and never change.
"""
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES = os.path.join(ROOT, "samples")
OUTPUT = "result"  # what a command is told to write
OLD = b"old\n"     # what is in it before
STORE = "perf.db"
TIMEOUT_S = 60


class Command:
    def __init__(self, name, arguments, store=False, new_store=False, starts=False, often=True):
        self.name, self.arguments = name, arguments
        self.writes = OUTPUT in arguments  # a file, not standard output
        self.store = store or new_store    # works on a store,
        self.new_store = new_store         # which is not there before
        self.starts = starts               # starts another program
        self.often = often                 # in every run of the test, not only of --all and --only
        self.of_folder = arguments[0] == "fleet" or any(os.path.isdir(word) for word in arguments)
        self.of_database = any(word.endswith(".sqlite") for word in arguments)


def commands():
    cnn = f"{SAMPLES}/pytorch/cnn_steps.json.gz"
    stacks = f"{SAMPLES}/pytorch/nested_names.json.gz"
    gpu = f"{SAMPLES}/gpu/h100_2025.json.gz"
    ranks = [f"{SAMPLES}/gpu/a100_2024_rank{rank}.json.gz" for rank in (0, 1)]
    night = f"{SAMPLES}/nightly/night-01.json.gz"
    memory = f"{SAMPLES}/pytorch/memory.json.gz"
    profile = f"{SAMPLES}/pstats/cprofile-3.12.prof"
    packed = f"{SAMPLES}/tpa/h100_2025.tpa"
    to_file = ["-o", OUTPUT]

    yield Command("info", ["info", gpu])
    yield Command("info of a .tpa file", ["info", packed])
    yield Command("top", ["top", cnn])
    yield Command("top to a file", ["top", "--format", "csv", *to_file, gpu])
    yield Command("top torch", ["top", "--format", "torch", cnn])
    yield Command("top of a folder", ["top", "--by", "op,rank", f"{SAMPLES}/diff"])
    yield Command("top filtered", ["top", "--filter", "conv|gemm", "--by", "shape", cnn])
    yield Command("top of a profile", ["top", profile])
    yield Command("top of a report", ["top", f"{SAMPLES}/lightning/fit-simple-profiler.txt"])
    for name in ("gpu", "kernels", "gaps", "steps", "transfers", "launches", "summary"):
        yield Command(name, [name, gpu], often=name in ("kernels", "summary"))
    yield Command("comm", ["comm", *ranks])
    yield Command("modules", ["modules", stacks])
    yield Command("memory", ["memory", memory])
    yield Command("memory of a timeline", ["memory", f"{SAMPLES}/memory/timeline.raw.json"])
    yield Command("callers", ["callers", profile])
    yield Command("callees", ["callees", profile])
    yield Command("diff", ["diff", f"{SAMPLES}/diff/before.json", f"{SAMPLES}/diff/after.json"])
    yield Command("diff to a file",
                  ["diff", "--format", "json", *to_file, f"{SAMPLES}/diff/gpu_before.json", f"{SAMPLES}/diff/gpu_after.json"])
    for form in ("chrome", "tpa", "csv", "speedscope", "folded", "perfetto", "sqlite", "arrow"):
        yield Command(f"convert to {form}", ["convert", night, "--to", form, *to_file], often=form not in ("speedscope", "arrow"))
    yield Command("convert to standard output", ["convert", night, "--to", "chrome"])
    yield Command("convert packed", ["convert", night, "--to", "chrome", "-o", f"./{OUTPUT}.json.gz"])
    yield Command("convert a profile to folded", ["convert", profile, "--to", "folded", *to_file])
    yield Command("report", ["report", "--format", "html", *to_file, night])
    yield Command("report of a comparison", ["report", "--format", "md", *to_file,
                                             f"{SAMPLES}/diff/gpu_before.json", f"{SAMPLES}/diff/gpu_after.json"])
    yield Command("chart script", ["chart", "--type", "steps", "--script", *to_file, gpu])
    if shutil.which("gnuplot"):
        yield Command("chart", ["chart", "--type", "steps", night], starts=True)
        yield Command("chart to a file", ["chart", "--type", "kernels", "--format", "svg", *to_file, night], starts=True)
    yield Command("nightly", ["nightly", "--unsure", "pass", "--store", STORE, "--label", "net", "--time", "2026-01-01", night], new_store=True)
    yield Command("nightly again", ["nightly", "--unsure", "pass", "--store", STORE, "--label", "net", "--time", "2026-01-09",
                                    f"{SAMPLES}/nightly/night-04.json.gz", *to_file], store=True)
    yield Command("nightly list", ["nightly", "--store", STORE, "list"], store=True)
    yield Command("nightly show", ["nightly", "--store", STORE, "show", "--format", "html", *to_file], store=True)
    yield Command("nightly accept", ["nightly", "--store", STORE, "accept", "--metric", "step_time", "--run", "3",
                                     "--reason", "more to do"], store=True)
    yield Command("nightly prune", ["nightly", "--store", STORE, "prune", "--keep", "1"], store=True)
    yield Command("nightly export", ["nightly", "--store", STORE, "export", "--format", "json", *to_file], store=True)
    yield Command("capture", ["capture", "-o", f"./{OUTPUT}-%p.tpa", "--", "echo", "done"], starts=True)
    # Answers of commands and readers that came later.
    for name in ("path", "roofline", "sequences", "latency"):
        yield Command(name, [name, night], often=False)
    yield Command("whatif", ["whatif", "--fuse", night], often=False)
    yield Command("sql", ["sql", "-c", "select name, sum(dur_ns) from kernels group by 1 order by 2", night])
    yield Command("sql of a command", ["sql", "-c", "select * from gaps('--by op')", night], often=False)
    yield Command("diff of trees", ["diff", "--tree", f"{SAMPLES}/diff/tree_before.json", f"{SAMPLES}/diff/tree_after.json"],
                  often=False)
    yield Command("facts", ["facts", *to_file, *ranks])
    yield Command("fleet", ["fleet", "--jobs", "2", "--format", "csv", *ranks], starts=True)
    yield Command("memory of a snapshot", ["memory", f"{SAMPLES}/memory/snapshot_ring.pickle"])
    yield Command("info of an XSpace", ["info", f"{SAMPLES}/xplane/tpu.xplane.pb"])
    yield Command("info of Perfetto's", ["info", f"{SAMPLES}/perfetto/torch_cupti.pftrace"], often=False)
    yield Command("kernels of a database", ["kernels", "--notes", f"{SAMPLES}/nsys/train.sqlite"])
    yield Command("kernels of rocprofv3's JSON", ["kernels", f"{SAMPLES}/rocm/results.json"])
    yield Command("top of a heap profile", ["top", f"{SAMPLES}/profiles/heap.pb.gz"], often=False)
    yield Command("help", ["help", "top"])
    yield Command("completion", ["completion", "bash"])


def make_store(tpa, path):
    """Three nights, for the commands that need a store."""
    for i in (1, 2, 3):
        subprocess.run([tpa, "nightly", "--unsure", "pass", "--store", path, "--label", "net", "--time", f"2026-01-0{i}",
                        f"{SAMPLES}/nightly/night-0{i}.json.gz"], check=True, stdout=subprocess.DEVNULL)


# A moment is another one in each run.
HELD = ["SELECT * FROM name", "SELECT id, label, gpu, hash, time_ns, commit_id, host, unit, sample_count FROM run",
        "SELECT * FROM fact", "SELECT * FROM series", "SELECT * FROM measurement",
        "SELECT id, run, sort, name, reason FROM acceptance"]


def store_content(path):
    """All that the store at PATH holds; () when it is not there or holds nothing yet, a text when it is not whole."""
    if not os.path.exists(path):
        return ()
    store = sqlite3.connect(path)
    try:
        whole = store.execute("PRAGMA integrity_check").fetchall()
        if whole != [("ok",)]:
            return f"damaged: {whole[:3]}"
        if not store.execute("SELECT 1 FROM sqlite_master").fetchall():
            return ()  # made, and still empty
        held = tuple(tuple(sorted(store.execute(query), key=repr)) for query in HELD)
        return held if any(held) else ()
    except sqlite3.Error as error:
        return f"not readable: {error}"
    finally:
        store.close()


class Run:
    """One run of a command, in a folder of its own, and what it left there."""

    def __init__(self, tpa, command, prefix=(), environment=None, limits=(), kill_after_s=None, kill=signal.SIGTERM,
                 store=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, folder=None, before=None):
        own = folder is None
        folder = folder or tempfile.mkdtemp(prefix="tpa-faults-")
        with open(os.path.join(folder, OUTPUT), "wb") as old:
            old.write(OLD)
        if command.store and not command.new_store:
            shutil.copyfile(store, os.path.join(folder, STORE))
        if before:
            before(folder)

        def limit():
            for what, most in limits:
                resource.setrlimit(what, (most, most))

        process = subprocess.Popen([*prefix, tpa, *command.arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout,
                                   stderr=stderr, preexec_fn=limit if limits else None,  # without one Python has no need to fork itself
                                   env={**os.environ, "COLUMNS": "100", "LC_ALL": "C", "TMPDIR": folder,
                                        **(environment or {})})
        self.killed = False
        try:
            self.stdout, self.stderr = process.communicate(timeout=kill_after_s or TIMEOUT_S)
            self.code = process.returncode
        except subprocess.TimeoutExpired:
            self.killed = kill_after_s is not None
            process.send_signal(kill if self.killed else signal.SIGKILL)
            self.stdout, self.stderr = process.communicate()
            self.code = process.returncode if self.killed else "a hang"
        self.stdout, self.stderr = self.stdout or b"", self.stderr or b""
        self.store = store_content(os.path.join(folder, STORE)) if command.store else ()
        if command.store and own:  # SQLite's journal of a change that was cut short belongs to the store
            for name in (STORE, STORE + "-journal"):
                if os.path.exists(os.path.join(folder, name)):
                    os.remove(os.path.join(folder, name))
        self.names = sorted(os.listdir(folder))
        with open(os.path.join(folder, OUTPUT), "rb") as now:
            self.written = now.read()
        self.others = {name: read(os.path.join(folder, name)) for name in self.names if name != OUTPUT}
        if own:
            shutil.rmtree(folder)


def read(path):
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as content:
        return content.read()


def trouble(command, good, run, before, taken="any"):
    """
    What is wrong with RUN of COMMAND, whose undisturbed run is GOOD and whose store was BEFORE; None when nothing is.
    TAKEN "same": it must get over what happened.
    """
    if run.code == "a hang":
        return f"it did not end within {TIMEOUT_S} s"
    if isinstance(run.store, str):
        return f"its store is {run.store}"
    if run.store not in (before, good.store):
        return "its store is neither as before nor as it should be"
    if run.killed and run.code < 0:
        run.code = "killed"
    if run.code == "killed":
        return None if run.names in (good.names, [OUTPUT]) and run.written in (OLD, good.written) else \
            f"it left half a file: {run.names}"
    if run.code < 0 or run.code > 127:
        return f"a signal ended it ({run.code})"
    if run.names not in (good.names, [OUTPUT]):
        return f"it left files behind: {run.names}"
    same = (run.stdout, run.written, run.store, run.others) == (good.stdout, good.written, good.store, good.others)
    if run.code == good.code and same:
        return None
    # What is out of reach in a folder, or of a fleet, is left out, and told.
    if run.code == good.code and command.of_folder and b"left out: " in run.stdout + run.stderr:
        return None
    # SQLite calls it damage when the disk fails.
    if run.code == good.code and command.of_database and b"is damaged" in run.stdout + run.stderr:
        return None
    if run.code == good.code:
        return "its output is another, and its exit status tells nothing"
    if run.code == 127:
        return None  # the loader gave up: the program never began
    if taken == "same":
        return f"it gave up, with {run.code}: {run.stderr.decode(errors='replace').strip()}"
    if run.code != 2:
        return f"its exit status is {run.code}"
    if run.written not in (OLD, good.written):
        return "it left a file that is neither the old one nor the new"
    if b": Success" in run.stderr:
        return f"its message names no reason: {run.stderr.decode(errors='replace').strip()}"
    if not run.stderr.strip():
        return "not a word on stderr"
    return None
