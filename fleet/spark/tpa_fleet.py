#!/usr/bin/env python3
"""tpa fleet on Spark: a task maps each trace to its facts; collectives are shuffled, so that all ranks of one come to one place; the driver answers.

    spark-submit fleet/spark/tpa_fleet.py --tpa build/release/tpa --output fleet/ traces/*.json.gz
    spark-submit fleet/spark/tpa_fleet.py --tpa build/release/tpa --output fleet/ --list paths.txt

A path is one that all executors see, or a URL that Spark reads (s3a://, hdfs://), of which each trace may have up to 2 GB. The program is
sent to the executors. A task that is lost is run again by Spark; facts of one trace are the same however often they are made. A
trace that cannot be read fails its own row.

What all ranks say of themselves is merged by tasks and goes to the driver. Their collectives are shuffled by (group, sequence) to --slices partitions,
of which tpa fleet has one at a time in memory; those of other jobs are left out there.

The folder gets fleet.json, as `tpa fleet --format json` writes it, each of its tables as TABLE.parquet, the facts as facts/, which tpa fleet
and tpa facts take as they are, and failed.json: the traces that could not be read, and why.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet
from pyspark import SparkFiles
from pyspark.sql import SparkSession

ROWS = "path string, slice int, facts binary, error string"
SCHEMA = pa.schema([("path", pa.string()), ("slice", pa.int32()), ("facts", pa.binary()), ("error", pa.string())])


def program(name):
    """The tpa that was sent here."""
    path = SparkFiles.get(name)
    if not os.access(path, os.X_OK):
        os.chmod(path, 0o755)
    return path


def row_of(path, slice_number, facts, error):
    return pa.RecordBatch.from_pydict({"path": [path], "slice": [slice_number], "facts": [facts], "error": [error]}, schema=SCHEMA)


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def run_facts(tpa, words):
    """Why tpa does not make the facts that are wanted; None: it does."""
    done = subprocess.run([tpa, "facts", "--jobs", "1", *words], capture_output=True)
    if done.returncode < 0:
        return f"tpa was ended by signal {-done.returncode}"
    return done.stderr.decode(errors="replace").strip() if done.returncode else None


def map_trace(name, words, path, local):
    """The facts of a trace without its collectives, and these, by slice; or one row that says why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        out, apart = os.path.join(folder, "facts"), os.path.join(folder, "apart")
        error = run_facts(program(name), [*words, local, "-o", out, "--apart", apart])
        if error:
            yield row_of(path, None, None, error.replace(local, path))
            return
        yield row_of(path, None, content_of(out), None)
        for file in sorted(os.listdir(apart)):
            yield row_of(path, int(file[len("slice"):-len(".facts")]), content_of(os.path.join(apart, file)), None)


def mapper(name, job, slices):
    words = ["--slices", str(slices), *(["--job", job] if job else [])]

    def map_traces(batches):
        for batch in batches:
            contents = batch.column("content") if "content" in batch.schema.names else None
            for index, path in enumerate(batch.column("path").to_pylist()):
                if contents is None:
                    yield from map_trace(name, words, path, path)
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    local = os.path.join(folder, os.path.basename(path))  # its name is part of the facts
                    with open(local, "wb") as file:
                        file.write(contents[index].as_py())
                    yield from map_trace(name, words, path, local)

    return map_traces


def merger(name):
    def merge(batches):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for batch in batches:
                for facts in batch.column("facts"):
                    files.append(os.path.join(folder, f"{len(files)}.facts"))
                    with open(files[-1], "wb") as file:
                        file.write(facts.as_py())
            if files:
                out = os.path.join(folder, "merged")
                error = run_facts(program(name), [*files, "-o", out])
                if error:
                    raise RuntimeError(error)  # facts that were just made must merge: try again
                yield row_of("", None, content_of(out), None)

    return merge


def read_traces(spark, paths):
    """A row for each trace; with its content where executors cannot open it by its path."""
    if any("://" in path for path in paths):
        return spark.read.format("binaryFile").load(paths).select("path", "content")
    return spark.createDataFrame([(os.path.abspath(path),) for path in paths], "path string").repartition(len(paths))


def write_facts(rows, count, args, name, folder):
    """What ranks say of themselves, merged to a few files, and a file for each slice. False when there is nothing."""
    facts = rows.where("facts is not null and slice is null").select("facts")
    while count > max(2, args.merge):
        count = (count + args.merge - 1) // args.merge
        facts = facts.repartition(count).mapInArrow(merger(name), ROWS).select("facts")
    parts = 0
    for row in facts.toLocalIterator():
        with open(os.path.join(folder, f"part{parts}.facts"), "wb") as out:
            out.write(row.facts)
        parts += 1
    slices = rows.where("slice is not null").select("slice", "path", "facts")
    slices = slices.repartition(args.slices, "slice").sortWithinPartitions("slice", "path")
    for row in slices.toLocalIterator():  # slices of several ranks put one behind the other are one
        with open(os.path.join(folder, f"slice{row.slice:05d}.facts"), "ab") as out:
            out.write(row.facts)
    return parts > 0


def write_tables(tpa, facts, folder):
    subprocess.run([tpa, "fleet", "--format", "json", "-o", os.path.join(folder, "fleet.json"), facts], check=True)
    with tempfile.TemporaryDirectory() as tables:
        subprocess.run([tpa, "fleet", "--format", "arrow", "-o", tables + "/", facts], check=True, stderr=subprocess.DEVNULL)
        for file in glob.glob(os.path.join(tables, "*")):
            with pa.ipc.open_stream(file) as stream:
                table = stream.read_all()
            name = os.path.basename(file).split(".")[0]
            pyarrow.parquet.write_table(table, os.path.join(folder, name + ".parquet"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpa", required=True, help="the program, on this machine")
    parser.add_argument("--output", required=True, help="folder for the answers, on this machine")
    parser.add_argument("--job", help="name of the job")
    parser.add_argument("--merge", type=int, default=64, metavar="N", help="files of facts that a task merges")
    parser.add_argument("--slices", type=int, default=64, metavar="N", help="partitions of the job's collectives, of which the driver has one in memory")
    parser.add_argument("--list", help="a file with a path on each line")
    parser.add_argument("paths", nargs="*")
    args = parser.parse_args()
    paths = list(args.paths)
    if args.list:
        with open(args.list) as lines:
            paths += [line.strip() for line in lines if line.strip()]
    if not paths:
        parser.error("there are no traces")
    spark = SparkSession.builder.appName("tpa fleet").getOrCreate()
    name = os.path.basename(args.tpa)
    spark.sparkContext.addFile(os.path.abspath(args.tpa))
    facts = os.path.join(args.output, "facts")
    shutil.rmtree(facts, ignore_errors=True)
    os.makedirs(facts)
    rows = read_traces(spark, paths).mapInArrow(mapper(name, args.job, args.slices), ROWS).persist()
    failed = [row.asDict() for row in rows.where("error is not null").select("path", "error").orderBy("path").collect()]
    with open(os.path.join(args.output, "failed.json"), "w") as out:
        json.dump(failed, out, indent=1)
    if not write_facts(rows, len(paths), args, name, facts):
        print(f"none of {len(paths)} traces can be read: {failed[0]['error']}", file=sys.stderr)
        return 2
    write_tables(args.tpa, facts, args.output)
    for row in failed:
        print(f"{row['path']}: {row['error']}", file=sys.stderr)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
