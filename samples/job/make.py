#!/usr/bin/env python3
"""Small jobs with a pipeline, played by tests/tools/random_pipeline.py: stage, sequence, worker.json, even.json.

    samples/job/make.py          writes them beside itself

stage       1F1B, 4 stages, 6 microbatches, no marks; stage 2 takes 1.5 times as long.
sequence    interleaved 1F1B, 2 stages of 2 chunks, 2 replicas on two hosts whose clocks are 3 ms apart; some microbatches are twice as long.
worker      1F1B, 2 stages, 2 replicas, as a timeline; rank 3 takes twice as long.
even        GPipe, 3 stages, 4 microbatches, "Forward 0" as marks, merged into one file; all ranks are equal.
"""
import gzip
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tests/tools"))
sys.dont_write_bytecode = True
from random_pipeline import Plan, make  # noqa: E402

US = 1000
JOBS = {
    "stage": Plan(stages=4, microbatches=6, marks="none", names="Megatron", planted="stage", where=2, by=1.5),
    "sequence": Plan(schedule="interleaved", chunks=2, microbatches=8, replicas=2, steps=3, planted="sequence", by=2, often=0.1, hosts=2, apart=3000 * US),
    "worker": Plan(replicas=2, form="timeline", planted="worker", where=3, by=2),
    "even": Plan(schedule="GPipe", stages=3, form="merged", marks="plain", noise=0),
}


def main():
    for name, plan in JOBS.items():
        documents, _, _ = make(plan, random.Random(name))
        for file, document in documents.items():
            path = os.path.join(HERE, name, file) if len(documents) > 1 else os.path.join(HERE, name + ".json")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".gz", "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as out:
                out.write(json.dumps(document).encode())


if __name__ == "__main__":
    main()
