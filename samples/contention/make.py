#!/usr/bin/env python3
"""Make job.json.gz: a job whose computation runs 1.25 times slower beside all_reduce, and 1.15 times beside copies."""

import gzip
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "tools"))
from contention_job import Plan, make  # noqa: E402

trace = make(Plan(seed=5, steps=7, layers=5, factor=1.25, copies=1.15, jitter=0.03))[0]
text = json.dumps(trace, separators=(",", ":")).encode()
with open(HERE / "job.json.gz", "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
    packed.write(text)
