"""The package with the libraries that people use: pandas, polars, pyarrow, DuckDB, and a notebook. Each is skipped where it
is not installed."""

import gc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import tpa

SAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "samples")
TRACE = os.path.join(SAMPLES, "gpu", "a100_2024_rank0.json.gz")


def needs(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"{name} is not installed")


def rows_of_json(command, *words, table):
    text = subprocess.run([tpa.program(), command, "--format", "json", *words], check=True, stdout=subprocess.PIPE).stdout
    return next(t for t in json.loads(text)["tables"] if t["key"] == table)


class Libraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ops = tpa.top(TRACE).operators
        cls.json = rows_of_json("top", TRACE, table="operators")

    def same(self, rows):
        self.assertEqual(rows, self.json["rows"])

    @needs("pyarrow")
    def test_pyarrow_gets_every_value_type_and_unit(self):
        import pyarrow

        table = pyarrow.table(self.ops)
        table.validate(full=True)
        rows = [{k: v for k, v in row.items()} for row in table.to_pylist()]
        self.same(rows)
        field = table.schema.field("cpu_time_total_ns")
        self.assertEqual((str(field.type), field.metadata[b"unit"]), ("int64", b"ns"))
        self.assertTrue(pyarrow.types.is_dictionary(table.schema.field("name").type))
        self.assertEqual(pyarrow.schema(self.ops), table.schema)

    @needs("pyarrow")
    def test_pyarrow_may_keep_columns_when_the_table_is_gone(self):
        import pyarrow

        column = pyarrow.table(tpa.top(TRACE).operators).column("name")
        gc.collect()
        self.assertEqual(column.to_pylist(), [row["name"] for row in self.json["rows"]])

    @needs("pyarrow")
    def test_pyarrow_reads_all_tables_of_all_commands(self):
        import pyarrow

        for command in ("info", "summary", "gpu", "steps", "gaps", "transfers", "comm", "launches", "kernels", "path"):
            for table in getattr(tpa, command)(TRACE):
                if table.columns:
                    pyarrow.table(table).validate(full=True)
                    wanted = rows_of_json(command, TRACE, table=table.key)
                    rows = wanted["rows"] if wanted["columns"] else [wanted["footer"]]
                    self.assertEqual(pyarrow.table(table).to_pylist(), rows, f"{command} {table.key}")

    @needs("pyarrow")
    def test_a_stream_that_nobody_reads_is_released(self):
        before = sys.getrefcount(self.ops._stream)
        for _ in range(100):
            self.ops.__arrow_c_stream__()
            self.ops.__arrow_c_schema__()
        gc.collect()
        self.assertEqual(sys.getrefcount(self.ops._stream), before)

    @needs("pandas")
    def test_pandas_keeps_integers(self):
        frame = self.ops.to_pandas()
        self.assertEqual(str(frame["cpu_time_total_ns"].dtype), "int64")
        self.same(frame.to_dict("records"))
        gaps = tpa.gaps(TRACE, micro="1us").gaps if "micro" in tpa.gaps.__doc__ else tpa.gaps(TRACE).gaps
        self.assertEqual(str(gaps.to_pandas()["start_ns"].dtype), "int64")

    @needs("pandas")
    def test_pandas_has_missing_integers_as_missing(self):
        table = tpa.kernels(TRACE).kernels
        frame = table.to_pandas()
        for column in table.columns:
            missing = [v is None for v in table[column.key]]
            self.assertEqual(list(frame[column.key].isna()), missing, column.key)
            if any(missing) and column.kind in ("ns", "bytes", "count"):
                self.assertEqual(str(frame[column.key].dtype), "Int64")

    @needs("polars")
    def test_polars(self):
        import polars

        frame = polars.DataFrame(self.ops)
        self.same(frame.with_columns(polars.col("name").cast(polars.String)).to_dicts())
        self.assertEqual(frame["cpu_time_total_ns"].dtype, polars.Int64)
        self.assertEqual(self.ops.to_polars().shape, frame.shape)
        self.assertEqual(len(polars.from_arrow(self.ops)), len(frame))

    @needs("duckdb")
    def test_duckdb(self):
        import duckdb

        ops = self.ops  # found by its name
        total = duckdb.sql("select sum(self_cpu_time_total_ns)::bigint, count(*) from ops").fetchall()
        self.assertEqual(total, [(sum(ops["self_cpu_time_total_ns"]), len(ops))])

    @needs("nbclient")
    def test_a_notebook_shows_tables_and_charts(self):
        import nbclient
        import nbformat

        with tempfile.TemporaryDirectory() as folder:
            book = nbformat.v4.new_notebook()
            book.cells = [nbformat.v4.new_code_cell(code) for code in (
                f"import tpa; r = tpa.top({TRACE!r}); r.operators", "r", f"tpa.chart({TRACE!r}, type='steps')",
                "try:\n    tpa.top('/nothing/here')\nexcept tpa.Error as e:\n    print(e)")]
            nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": folder}}).execute()
        shown = [c.outputs[0] for c in book.cells]
        self.assertIn("<table>", shown[0]["data"]["text/html"])
        self.assertIn("aten::mm", shown[0]["data"]["text/html"])
        self.assertIn("<table>", shown[1]["data"]["text/html"])
        self.assertIn("<svg", shown[2]["data"]["image/svg+xml"])
        self.assertIn("/nothing/here", shown[3]["text"])


class Frameworks(unittest.TestCase):
    """The callbacks with the real frameworks, on a CPU."""

    def check(self, paths):
        self.assertEqual(len(paths), 1)
        phases = tpa.steps(paths[0], by="phase").phases
        step = phases.footer["step_ns"]
        self.assertEqual(sum(t for rank, t in zip(phases["phase_of_rank"], phases["phase_time_ns"]) if rank is None), step)
        self.assertGreater(dict(zip(phases["phase"], phases["phase_time_ns"]))["backward"], 0)

    @needs("torch")
    @needs("lightning")
    def test_lightning_writes_a_trace_with_marked_steps(self):
        import lightning.pytorch as pl
        import torch

        class Net(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(8, 1)

            def training_step(self, batch, number):
                return self.layer(batch[0]).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.01)

        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 8)), batch_size=4)
        with tempfile.TemporaryDirectory() as folder:
            profiler = tpa.lightning.TpaProfiler(folder)
            pl.Trainer(max_epochs=1, profiler=profiler, accelerator="cpu", logger=False, enable_checkpointing=False,
                       enable_progress_bar=False, default_root_dir=folder).fit(Net(), data)
            self.check(profiler.paths)

    @needs("torch")
    @needs("accelerate")
    @needs("transformers")
    def test_transformers_writes_a_trace_with_marked_steps(self):
        import torch
        import transformers

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(8, 1)

            def forward(self, x, labels=None):
                return {"loss": self.layer(x).square().mean()}

        data = [{"x": torch.randn(8), "labels": torch.zeros(1)} for _ in range(64)]
        with tempfile.TemporaryDirectory() as folder:
            callback = tpa.huggingface.TpaCallback(folder)
            args = transformers.TrainingArguments(folder, max_steps=8, per_device_train_batch_size=4, report_to=[], use_cpu=True,
                                                  save_strategy="no", disable_tqdm=True)
            transformers.Trainer(model=Net(), args=args, train_dataset=data, callbacks=[callback]).train()
            self.check(callback.paths)


if __name__ == "__main__":
    unittest.main()
