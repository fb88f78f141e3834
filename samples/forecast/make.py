#!/usr/bin/env python3
"""Make batch2.json.gz and batch4.json.gz: a job on a GPU at two batch sizes, for tpa memory --forecast."""

import gzip
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "tools"))
from forecast_job import make  # noqa: E402

for batch in (2, 4):
    text = json.dumps(make(batch, device=0)[0], separators=(",", ":")).encode()
    with open(HERE / f"batch{batch}.json.gz", "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        packed.write(text)
