"""The package alone: calls, tables, errors, hostile names. Needs nothing but Python."""

import datetime
import gzip
import html
import inspect
import io
import json
import os
import pickle
import shutil
import stat
import subprocess
import sys
import tempfile
import types
import unittest
from contextlib import redirect_stdout
from unittest import mock

import tpa

SAMPLES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
TRACE = os.path.join(SAMPLES, "gpu", "a100_2024_rank0.json.gz")
STEPS = os.path.join(SAMPLES, "pytorch", "cnn_stacks.json.gz")
BEFORE, AFTER = (os.path.join(SAMPLES, "diff", name) for name in ("before.json", "after.json"))


def answer(*words):
    done = subprocess.run([tpa.program(), *words], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


def program_of(folder, text, mode=0o755):
    path = os.path.join(folder, "program")
    with open(path, "wb") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


class Functions(unittest.TestCase):
    def test_there_is_one_for_each_command_with_a_keyword_for_each_option(self):
        commands = answer("help", "--format", "json", "--all")["commands"]
        for command in commands:
            function = getattr(tpa, command["name"].replace("-", "_"))
            options = {o["name"].replace("-", "_") for o in command["options"]} - {"color", "wide", "progress"}
            keywords = {p.name for p in inspect.signature(function).parameters.values()
                        if p.kind is inspect.Parameter.KEYWORD_ONLY}
            self.assertEqual({k.rstrip("_") for k in keywords}, options, command["name"])
            self.assertIn(command["summary"][1:], function.__doc__)
            self.assertIn(command["name"], dir(tpa))

    def test_what_is_no_command_or_option_is_told_with_a_suggestion(self):
        with self.assertRaisesRegex(AttributeError, "did you mean top"):
            tpa.topp(TRACE)
        with self.assertRaisesRegex(TypeError, "did you mean sort"):
            tpa.top(TRACE, sotr="name")
        with self.assertRaisesRegex(TypeError, "True or False"):
            tpa.top(TRACE, reverse="yes")
        with self.assertRaisesRegex(TypeError, "names of files"):
            tpa.top(3)

    def test_options_are_the_programs(self):
        names = tpa.top(TRACE, sort="name", limit=3).operators["name"]
        wanted = answer("top", "--sort", "name", "--limit", "3", "--format", "json", TRACE)["tables"][0]["rows"]
        self.assertEqual(names, [row["name"] for row in wanted])
        both = tpa.top([TRACE], by=["op", "rank"]).operators
        self.assertEqual(len(both), len(tpa.top(TRACE, by="op,rank").operators))
        for moment in (datetime.timedelta(microseconds=10), "10us"):
            self.assertEqual(len(tpa.gaps(TRACE, min=moment).gaps), 1)
        self.assertEqual(len(tpa.steps(TRACE, steps=[1, 2]).steps), len(tpa.steps(TRACE, steps="1,2").steps))

    def test_the_exit_code_of_a_gate_is_told_not_raised(self):
        self.assertTrue(tpa.diff(BEFORE, BEFORE, gate="5%").ok)
        worse = tpa.diff(BEFORE, AFTER, gate=["1%", "5%"])
        self.assertEqual((worse.exit_code, worse.ok), (1, False))
        self.assertIn("exceeded", worse.gates["outcome"])

    def test_a_format_gives_text_and_an_output_a_file(self):
        self.assertIn("| :--- |", tpa.top(TRACE, format="md", limit=2).text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            page = tpa.report(TRACE, output=path)
            self.assertEqual(os.fspath(page), path)
            self.assertIn("<html", page.text)
            packed = tpa.convert(TRACE, output=os.path.join(folder, "x.tpa"))
            self.assertEqual(tpa.top(packed).operators["name"], tpa.top(TRACE).operators["name"])
        with self.assertRaises(tpa.Error):
            tpa.report(TRACE)

    def test_a_program_runs_with_its_own_output(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "x.tpa")
            self.assertEqual(tpa.capture(sys.executable, "-c", "import sys; sys.exit(7)", output=out), 7)


class Tables(unittest.TestCase):
    def test_values_are_those_of_json(self):
        for command in ("info", "top", "gpu", "steps", "gaps", "transfers", "comm", "launches", "kernels", "modules"):
            result = getattr(tpa, command)(TRACE)
            wanted = answer(command, "--format", "json", TRACE)
            self.assertEqual(list(result.tables), [t["key"] for t in wanted["tables"]])
            self.assertEqual([n.text for n in result.notices], [n["text"] for n in wanted["notices"]])
            for table in wanted["tables"]:
                ours = result[table["key"]]
                self.assertEqual(list(ours), table["rows"], (command, table["key"]))
                self.assertEqual([(c.key, c.kind) for c in ours.columns],
                                 [(c["key"], c["kind"]) for c in table["columns"]])
                self.assertEqual((ours.footer, ours.total_rows), (table["footer"], table["total_rows"]))

    def test_rows_and_columns(self):
        ops = tpa.top(TRACE).operators
        self.assertEqual(ops[0]["name"], ops["name"][0])
        self.assertEqual(ops[-1], ops[len(ops) - 1])
        self.assertEqual(ops[1:3], [ops[1], ops[2]])
        self.assertEqual(ops.to_dict()["count"], ops["count"])
        with self.assertRaisesRegex(KeyError, "the columns are name"):
            ops["nam"]
        with self.assertRaises(IndexError):
            ops[len(ops)]

    def test_a_table_that_is_not_there_is_told_with_those_that_are(self):
        result = tpa.top(TRACE)
        with self.assertRaisesRegex(AttributeError, "no table 'kernels'; it has operators"):
            result.kernels
        self.assertFalse(hasattr(result, "__deepcopy__"))

    def test_they_show_as_text_and_html(self):
        ops = tpa.top(TRACE).operators
        self.assertIn("aten::addmm", repr(ops))
        self.assertIn("25 of 56 rows", repr(ops))
        self.assertTrue(all(len(line) <= 400 for line in repr(ops).splitlines()))
        page = ops._repr_html_()
        self.assertIn("<td", page)
        self.assertNotIn("<float>", page)  # of the names of kernels
        self.assertEqual(set(ops._repr_mimebundle_()), {"text/plain", "text/html"})
        self.assertIn("<caption>", tpa.gaps(TRACE)._repr_html_())

    def test_an_answer_of_one_screen_shows_as_in_the_terminal(self):
        before, after = (os.path.join(SAMPLES, "diff", f"gpu_{which}.json") for which in ("before", "after"))
        for words in (["summary", TRACE], ["summary", "--all", TRACE], ["info", TRACE], ["diff", "--gate", "5%", before, after]):
            files = [word for word in words[1:] if os.path.exists(word)]
            options = {"all": True} if "--all" in words else {"gate": "5%"} if "--gate" in words else {}
            with mock.patch.dict(os.environ, COLUMNS="90"):
                screen = subprocess.run([tpa.program(), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode()
                answer = getattr(tpa, words[0])(*files, **options)
                self.assertEqual(str(answer), screen.rstrip("\n"))
            self.assertIn(html.escape(screen.splitlines()[0]), answer._repr_html_())
            self.assertIn("<table>", answer._repr_html_())

    def test_an_answer_whose_file_is_gone_shows_as_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json.gz")
            shutil.copy(TRACE, path)
            answer = tpa.summary(path)
        self.assertIn("What to change, what saves most first", str(answer))
        self.assertIn("<table>", answer._repr_html_())

    def test_hostile_names_stay_text(self):
        name = "</td><script>alert(1)</script>\x1b[31m\u202e"
        event = {"ph": "X", "cat": "cpu_op", "name": name, "ts": 1, "dur": 2, "pid": 1, "tid": 1}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": [event]}, file)
            ops = tpa.top(path).operators
        self.assertEqual(ops["name"], [name])
        self.assertNotIn("<script", ops._repr_html_())
        self.assertNotIn("\x1b", repr(ops) + ops._repr_html_())

    def test_an_answer_without_rows(self):
        ops = tpa.top(TRACE, filter="nothing is called so").operators
        self.assertEqual((len(ops), list(ops), ops["name"]), (0, [], []))
        self.assertIn("Name", repr(ops))
        self.assertIn("<table>", ops._repr_html_())


class Remote(unittest.TestCase):
    """With a stand-in for fsspec, whose files are those of this machine."""

    def test_addresses_are_fetched(self):
        class System:
            isdir = staticmethod(os.path.isdir)
            open = staticmethod(open)

            @staticmethod
            def get(path, copy, recursive):
                shutil.copytree(path, copy)

        fsspec = types.ModuleType("fsspec")
        fsspec.core = types.SimpleNamespace(url_to_fs=lambda address: (System, address.partition("://")[2]))
        with mock.patch.dict(sys.modules, {"fsspec": fsspec}):
            self.assertEqual(tpa.top("s3://" + TRACE).operators.to_dict(), tpa.top(TRACE).operators.to_dict())
            self.assertEqual(len(tpa.diff("gs://" + BEFORE, "https://" + AFTER)), len(tpa.diff(BEFORE, AFTER)))
            ranks = os.path.join(SAMPLES, "job", "stages")
            ranks = ranks if os.path.isdir(ranks) else os.path.join(SAMPLES, "fleet", "ranks")
            self.assertEqual(tpa.steps("s3://" + ranks).metrics(), tpa.steps(ranks).metrics())
            with self.assertRaises(tpa.Error) as caught:
                tpa.top("s3:///nowhere/trace.json")
            self.assertIn("s3:///nowhere/trace.json", str(caught.exception))

    def test_without_fsspec_the_error_names_it(self):
        with mock.patch.dict(sys.modules, {"fsspec": None}), self.assertRaises(tpa.Error) as caught:
            tpa.top("s3://bucket/trace.json")
        self.assertIn("pip install fsspec", caught.exception.hint)


class Metrics(unittest.TestCase):
    def test_what_stands_below_the_tables_is_a_flat_dict_of_numbers(self):
        answer = tpa.summary(os.path.join(SAMPLES, "gpu", "h100_2025.json.gz"))
        metrics = answer.metrics()
        self.assertEqual(metrics["overview/step_ns"], answer.overview.footer["step_ns"])
        self.assertEqual(metrics["overview/step_ns"], tpa.steps(os.path.join(SAMPLES, "gpu", "h100_2025.json.gz")).metrics()["account/step_ns"])
        self.assertEqual({type(value) for value in metrics.values()} - {int, float}, set())


class Findings(unittest.TestCase):
    def test_a_finding_has_a_title_a_place_a_gain_and_code(self):
        findings = tpa.summary(os.path.join(SAMPLES, "gpu", "v100_2022.json.gz")).findings
        first = findings[0]
        self.assertEqual((first.title, first.gain, first.code),
                         ("Load more samples at once", 117250, "for i in torch.randperm(n).split(batch_size): x, y = X[i], Y[i]"))
        self.assertIn("_SingleProcessDataLoaderIter", first.place)
        self.assertEqual([f.title for f in findings], findings["action"])
        self.assertEqual(str(first).splitlines(), [
            "Load more samples at once  up to 117.250us, 26.1 %  enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            "   for i in torch.randperm(n).split(batch_size): x, y = X[i], Y[i]"])
        self.assertEqual(str(findings[2]).splitlines()[1], "   x.item() -> values.append(x.detach())")
        self.assertEqual(first["saves_ns"], first.gain)  # a dict, as rows of all tables
        self.assertIn("step_ns: 449.000us", repr(findings))


class Errors(unittest.TestCase):
    def trouble(self, function, *operands, **options):
        with self.assertRaises(tpa.Error) as caught:
            function(*operands, **options)
        return caught.exception

    def test_file_offset_and_hint(self):
        path = os.path.join(SAMPLES, "broken", "words.txt")
        error = self.trouble(tpa.top, path)
        self.assertEqual((error.file, error.offset, error.exit_code), (path, 0, 2))
        self.assertIn("not a trace", error.message)
        self.assertIn("tpa info --formats", error.hint)
        self.assertIn(f"{path}:0: ", str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.offset), (str(error), 0))

    def test_options(self):
        error = self.trouble(tpa.top, TRACE, sort="cuda_time_totl")
        self.assertIn("did you mean", error.message)
        self.assertIsNone(error.file)

    def test_names_of_files_may_hold_any_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in (b"-x.json.gz", b"a b;$(touch x)'\".json.gz", b"\xff\xfe.json.gz", b"new\nline.json.gz"):
                path = os.path.join(os.fsencode(folder), name)
                with open(TRACE, "rb") as source, open(path, "wb") as copy:
                    copy.write(source.read())
                self.assertEqual(len(tpa.top(path).operators), 56)
                self.assertEqual(len(tpa.top(os.fsdecode(path)).operators), 56)
            there = os.getcwd()
            try:
                os.chdir(folder)
                self.assertEqual(len(tpa.top("-x.json.gz").operators), 56)
            finally:
                os.chdir(there)
        self.assertIn("null", self.trouble(tpa.top, "a\0b").message)

    def test_a_program_that_is_missing_killed_or_foreign(self):
        tpa.top(TRACE)  # described before
        with tempfile.TemporaryDirectory() as folder:
            cases = [
                (os.path.join(folder, "none"), "no such file"),
                (program_of(folder, b"\x7fELF\x02\x01\x01" + bytes(57)), "another sort of processor"),
            ]
            for path, words in cases:
                with mock.patch.dict(os.environ, TPA=path):
                    self.assertIn(words, str(self.trouble(tpa.top, TRACE)))
            for text, words in ((b"#!/bin/sh\nkill -9 $$\n", "ended by SIGKILL"),
                                (b"#!/no/such/loader\n", "its loader is not there"),
                                (b"#!/bin/sh\nprintf 'half an answer'\n", "no Arrow stream"),
                                (b"#!/bin/sh\necho \"tpa: version GLIBC_2.99 not found\" >&2; exit 1\n", "newer C library"),
                                (b"#!/bin/sh\nexit 3\n", "exit code 3")):
                with mock.patch.dict(os.environ, TPA=program_of(folder, text)):
                    self.assertIn(words, str(self.trouble(tpa.top, TRACE)))
            if os.geteuid() != 0:
                path = program_of(folder, b"#!/bin/sh\n", stat.S_IRUSR)
                with mock.patch.dict(os.environ, TPA=path):
                    self.assertIn("may not be run", str(self.trouble(tpa.top, TRACE)))

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        error = self.trouble(tpa.top, TRACE, format="csv", output="/dev/full")
        self.assertIn("No space left", error.message)

    def test_an_answer_that_is_cut_or_damaged_is_an_error(self):
        from tpa import _arrow

        whole = subprocess.run([tpa.program(), "top", "--format", "arrow", TRACE], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(len(_arrow.read_streams(whole)), 1)
        for cut in range(1, len(whole) - 8, 97):
            try:
                streams = _arrow.read_streams(whole[:cut])
            except tpa.Error:
                continue
            self.assertEqual(len(streams), 1)  # only what follows the last whole message is missing


class Profiler:
    """As torch.profiler hands to on_trace_ready."""

    def __init__(self, recorded=TRACE):
        self.recorded = recorded

    def export_chrome_trace(self, path):
        with open(self.recorded, "rb") as source, open(path, "wb") as copy:
            data = source.read()
            if self.recorded.endswith(".gz") != path.endswith(".gz"):
                data = gzip.compress(data) if path.endswith(".gz") else gzip.decompress(data)
            copy.write(data)


class Handler(unittest.TestCase):
    def handle(self, folder, recorded=TRACE, **options):
        handler = tpa.trace_handler(folder, **options)
        shown = io.StringIO()
        with redirect_stdout(shown):
            handler(Profiler(recorded))
        return handler.paths[0], shown.getvalue()

    def test_it_writes_a_trace_and_what_was_asked_for(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, RANK="1", WORLD_SIZE="2"):
            runs = os.path.join(folder, "runs", "today")
            path, shown = self.handle(runs, worker="w", report=True, summary=True)
            self.assertRegex(os.path.basename(path), r"^w\.rank1\.\d+\.pt\.trace\.json\.gz$")
            self.assertEqual(sorted(name.rpartition(".")[2] for name in os.listdir(runs)), ["gz", "html"])
            self.assertEqual(shown, "")  # of the first rank only
            self.assertEqual(len(tpa.top(path).operators), 56)

    def test_a_batch_script_of_slurm_is_no_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, SLURM_PROCID="0", SLURM_NTASKS="8"):
                self.assertRegex(os.path.basename(self.handle(folder, worker="w")[0]), r"^w\.\d+\.pt\.trace\.json\.gz$")
            with mock.patch.dict(os.environ, SLURM_PROCID="1", SLURM_STEP_ID="0", SLURM_STEP_NUM_TASKS="2"):
                self.assertIn("w.rank1.", self.handle(folder, worker="w")[0])

    def test_it_writes_tpa_and_prints_the_summary(self):
        with tempfile.TemporaryDirectory() as folder:
            path, shown = self.handle(folder, format="tpa", summary=True)
            self.assertEqual(os.listdir(folder), [os.path.basename(path)])
            self.assertTrue(path.endswith(".tpa"))
            self.assertIn("--all: tables with all figures", shown)

    def test_it_applies_gates(self):
        with tempfile.TemporaryDirectory() as folder:
            self.handle(folder, AFTER, gate="5%", base=AFTER)
            with self.assertRaises(tpa.LimitPassed):
                self.handle(folder, AFTER, gate="0.1%", base=BEFORE)
            with self.assertRaisesRegex(tpa.Error, "ran on the CPU alone .* cannot be compared"):
                self.handle(folder, TRACE, gate="5%", base=BEFORE)
        with self.assertRaises(ValueError):
            tpa.trace_handler("x", gate="5%")
        with self.assertRaises(ValueError):
            tpa.trace_handler("x", format="zip")


class StandIn(Profiler):
    """torch.profiler.profile, as far as the callbacks use it: each step is recorded at its end."""

    def __init__(self, schedule=None, on_trace_ready=None, **options):
        super().__init__()
        self.schedule, self.on_trace_ready, self.options, self.steps = schedule, on_trace_ready, options, 0

    def start(self):
        self.steps = 0

    def step(self):
        self.steps += 1

    def stop(self):
        self.on_trace_ready(self)


class Callbacks(unittest.TestCase):
    """With stand-ins for torch, Lightning and transformers; test_libraries.py has the real ones, where they are installed."""

    def setUp(self):
        torch, profiler = types.ModuleType("torch"), types.ModuleType("torch.profiler")
        profiler.schedule = lambda **steps: steps
        profiler.profile = StandIn
        torch.profiler = profiler
        transformers, profilers = types.ModuleType("transformers"), types.ModuleType("lightning.pytorch.profilers")
        transformers.TrainerCallback = type("TrainerCallback", (), {})

        class PyTorchProfiler:
            def __init__(self, dirpath=None, **options):
                self.dirpath, self.options = dirpath, options

        profilers.PyTorchProfiler = PyTorchProfiler
        modules = {"torch": torch, "torch.profiler": profiler, "transformers": transformers, "lightning": types.ModuleType("lightning"),
                   "lightning.pytorch": types.ModuleType("lightning.pytorch"), "lightning.pytorch.profilers": profilers}
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)
        for name in "lightning", "huggingface":
            sys.modules.pop(f"tpa.{name}", None)
            vars(tpa).pop(name, None)

    def test_the_callback_of_transformers_records_from_begin_to_end_of_training(self):
        with tempfile.TemporaryDirectory() as folder:
            callback = tpa.huggingface.TpaCallback(folder, active=2, report=True, record_shapes=True)
            shown = io.StringIO()
            with redirect_stdout(shown):
                callback.on_train_begin(None, None, None)
                profiler = callback._profiler
                for _ in range(4):
                    callback.on_step_end(None, None, None)
                callback.on_train_end(None, None, None)
                callback.on_train_end(None, None, None)  # a second end writes nothing
            self.assertEqual(profiler.steps, 4)
            self.assertEqual(profiler.schedule, {"wait": 1, "warmup": 1, "active": 2, "repeat": 1})
            self.assertEqual(profiler.options, {"record_shapes": True})
            self.assertEqual(len(callback.paths), 1)
            self.assertTrue(os.path.exists(callback.paths[0].replace(".pt.trace.json.gz", ".html")))
            self.assertIn("A step takes", shown.getvalue())

    def test_the_profiler_of_lightning_hands_its_schedule_and_handler_on(self):
        with tempfile.TemporaryDirectory() as folder:
            profiler = tpa.lightning.TpaProfiler(folder, repeat=0, with_stack=True)
            self.assertEqual(profiler.options["schedule"]["repeat"], 0)
            self.assertTrue(profiler.options["with_stack"])
            shown = io.StringIO()
            with redirect_stdout(shown):
                profiler.options["on_trace_ready"](Profiler())
            self.assertEqual(len(profiler.paths), 1)
            self.assertIn("A step takes", shown.getvalue())


class Module(unittest.TestCase):
    def test_python_m_tpa_is_the_program(self):
        ours = subprocess.run([sys.executable, "-m", "tpa", "--version"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(ours, subprocess.run([tpa.program(), "--version"], stdout=subprocess.PIPE, check=True).stdout)
        code = subprocess.run([sys.executable, "-m", "tpa", "top", "/none"], stderr=subprocess.PIPE, check=False).returncode
        self.assertEqual(code, 2)
        none = subprocess.run([sys.executable, "-m", "tpa"], env={**os.environ, "TPA": "/none"}, stderr=subprocess.PIPE,
                              check=False)
        self.assertEqual((none.returncode, b"Traceback" in none.stderr), (2, False))

    def test_nothing_runs_before_it_is_asked(self):
        done = subprocess.run([sys.executable, "-c", "import tpa"], env={**os.environ, "TPA": "/none"}, check=False)
        self.assertEqual(done.returncode, 0)

    def test_stubs_are_python(self):
        import ast

        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "x.pyi")
            subprocess.run([sys.executable, "-B", os.path.join(root, "make_stubs.py"), tpa.program(), out], check=True)
            with open(out, encoding="utf-8") as file:
                names = {n.name for n in ast.parse(file.read()).body if isinstance(n, ast.FunctionDef)}
        self.assertLessEqual({"top", "gaps", "diff", "trace_handler"}, names)


if __name__ == "__main__":
    unittest.main()
