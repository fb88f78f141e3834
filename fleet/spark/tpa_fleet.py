#!/usr/bin/env python3
"""tpa fleet on Spark: a task maps each trace to its facts, tasks merge facts, and the driver answers from what is left.

    spark-submit fleet/spark/tpa_fleet.py --tpa build/release/tpa --output fleet/ traces/*.json.gz
    spark-submit fleet/spark/tpa_fleet.py --tpa build/release/tpa --output fleet/ --list paths.txt

A path is one that all executors see, or a URL that Spark reads (s3a://, hdfs://), of which each trace may have up to 2 GB. The program is
sent to the executors. A task that is lost is run again by Spark; facts of one trace are the same however often they are made. A
trace that cannot be read fails its own row.

The folder gets fleet.json, as `tpa fleet --format json` writes it, each of its tables as TABLE.parquet, the merged facts as job.facts, and
failed.json: the traces that could not be read, and why.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet
from pyspark import SparkFiles
from pyspark.sql import SparkSession

ROWS = "path string, facts binary, error string"


def program(name):
    """The tpa that was sent here."""
    path = SparkFiles.get(name)
    if not os.access(path, os.X_OK):
        os.chmod(path, 0o755)
    return path


def row_of(path, facts, error):
    return pa.RecordBatch.from_pydict({"path": [path], "facts": [facts], "error": [error]},
                                      schema=pa.schema([("path", pa.string()), ("facts", pa.binary()), ("error", pa.string())]))


def make_facts(tpa, words):
    """The facts that tpa makes of files, or why it does not."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "facts")
        done = subprocess.run([tpa, "facts", "--jobs", "1", *words, "-o", out], capture_output=True)
        if done.returncode < 0:
            return None, f"tpa was ended by signal {-done.returncode}"
        if done.returncode:
            return None, done.stderr.decode(errors="replace").strip()
        with open(out, "rb") as file:
            return file.read(), None


def mapper(name, job):
    words = ["--job", job] if job else []

    def map_traces(batches):
        for batch in batches:
            contents = batch.column("content") if "content" in batch.schema.names else None
            for index, path in enumerate(batch.column("path").to_pylist()):
                if contents is None:
                    yield row_of(path, *make_facts(program(name), [*words, path]))
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    local = os.path.join(folder, os.path.basename(path))  # its name is part of the facts
                    with open(local, "wb") as file:
                        file.write(contents[index].as_py())
                    facts, error = make_facts(program(name), [*words, local])
                yield row_of(path, facts, error and error.replace(local, path))

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
                facts, error = make_facts(program(name), files)
                if error:
                    raise RuntimeError(error)  # facts that were just made must merge: try again
                yield row_of("", facts, None)

    return merge


def read_traces(spark, paths):
    """A row for each trace; with its content where executors cannot open it by its path."""
    if any("://" in path for path in paths):
        return spark.read.format("binaryFile").load(paths).select("path", "content")
    return spark.createDataFrame([(os.path.abspath(path),) for path in paths], "path string").repartition(len(paths))


def write_tables(tpa, facts, folder):
    subprocess.run([tpa, "fleet", "--format", "json", "-o", os.path.join(folder, "fleet.json"), *facts], check=True)
    with tempfile.TemporaryDirectory() as tables:
        subprocess.run([tpa, "fleet", "--format", "arrow", "-o", tables + "/", *facts], check=True, stderr=subprocess.DEVNULL)
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
    os.makedirs(args.output, exist_ok=True)
    rows = read_traces(spark, paths).mapInArrow(mapper(name, args.job), ROWS).persist()
    failed = [row.asDict() for row in rows.where("error is not null").select("path", "error").orderBy("path").collect()]
    with open(os.path.join(args.output, "failed.json"), "w") as out:
        json.dump(failed, out, indent=1)
    facts = rows.where("facts is not null").select("facts")
    count = len(paths)
    while count > max(2, args.merge):
        count = (count + args.merge - 1) // args.merge
        facts = facts.repartition(count).mapInArrow(merger(name), ROWS).select("facts")
    files = []
    for row in facts.toLocalIterator():
        files.append(os.path.join(args.output, f"part{len(files)}.facts"))
        with open(files[-1], "wb") as out:
            out.write(row.facts)
    if not files:
        print(f"none of {len(paths)} traces can be read: {failed[0]['error']}", file=sys.stderr)
        return 2
    write_tables(args.tpa, files, args.output)  # of several files one at a time is in memory as it stands
    subprocess.run([args.tpa, "facts", *files, "-o", os.path.join(args.output, "job.facts")], check=True)
    for file in files:
        os.unlink(file)
    for row in failed:
        print(f"{row['path']}: {row['error']}", file=sys.stderr)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
