#!/usr/bin/env python3
"""tpa fleet on Spark: tasks map each trace to its facts; collectives are shuffled, so that all ranks of one come to one task, which judges it.

    spark-submit fleet/spark/tpa_fleet.py --tpa build/release/tpa --output fleet/ traces/*.json.gz
    spark-submit fleet/spark/tpa_fleet.py --tpa build/release/tpa --output fleet/ --list paths.txt

A path is one that all executors see, or a URL that Spark reads (s3a://, hdfs://), of which each trace may have up to 2 GB. The program is
sent to the executors. A task that is lost is run again by Spark; facts of one trace are the same however often they are made. A
trace that cannot be read fails its own row.

What all ranks say of themselves is merged by tasks and goes to the driver, which tells what the job is. Its collectives are shuffled by (group,
sequence) to --slices partitions; those of other jobs are not. Tasks then find when those of a slice ended, the driver finds the clocks by that, and tasks judge who was last
and who waited. The driver answers from that: collectives as such do not come to it.

The folder gets fleet.json, as `tpa fleet --format json` writes it, each of its tables as TABLE.parquet, what the driver answered from as facts/, which
tpa fleet takes as it is, and failed.json: the traces that could not be read, and why. With --keep it gets the collectives, too, as collectives/: tpa facts,
tpa diff and tpa nightly take it beside facts/part*.facts.
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

ROWS = "path string, recordings array<bigint>, slice int, facts binary, error string"
SCHEMA = pa.schema([("path", pa.string()), ("recordings", pa.list_(pa.int64())), ("slice", pa.int32()), ("facts", pa.binary()), ("error", pa.string())])
JOB, CLOCKS = "tpa_job.facts", "tpa_clocks.facts"  # as executors know them


def program(name):
    """The tpa that was sent here."""
    path = SparkFiles.get(name)
    if not os.access(path, os.X_OK):
        os.chmod(path, 0o755)
    return path


def row_of(path, recordings=None, slice_number=None, facts=None, error=None):
    values = {"path": [path], "recordings": [recordings], "slice": [slice_number], "facts": [facts], "error": [error]}
    return pa.RecordBatch.from_pydict(values, schema=SCHEMA)


def recordings_of(facts, name):
    """The recordings that the table NAME of facts has rows of."""
    with pa.BufferReader(facts) as file:
        while file.tell() < file.size():
            with pa.ipc.open_stream(file) as stream:
                table = stream.read_all()
                if stream.schema.metadata[b"tpa.table"].decode() == name:
                    return sorted(set(table["recording"].to_pylist()))
    return []


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
            yield row_of(path, error=error.replace(local, path))
            return
        facts = content_of(out)
        recordings = recordings_of(facts, "recordings")
        yield row_of(path, recordings, facts=facts)
        for file in sorted(os.listdir(apart)):
            yield row_of(path, recordings, int(file[len("slice"):-len(".facts")]), content_of(os.path.join(apart, file)))


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
                yield row_of("", facts=content_of(out))

    return merge


def member_filter(members):
    """Rows of recordings whose collectives are looked at."""
    def keep(batches):
        for batch in batches:
            yield batch.filter(pa.array([not members.value.isdisjoint(of) for of in batch.column("recordings").to_pylist()], pa.bool_()))

    return keep


def slice_rounds(name, words, inputs):
    """What a round makes of each slice: the rows of one follow one another."""
    def run(slice_number, folder):
        out = os.path.join(folder, "out")
        given = [SparkFiles.get(one) for one in inputs]
        error = run_facts(program(name), [*words, *given, os.path.join(folder, "slice"), "-o", out])
        if error:
            raise RuntimeError(error)  # files that were just made must be read: try again
        return row_of("", slice_number=slice_number, facts=content_of(out))

    def rounds(batches):
        number = None
        with tempfile.TemporaryDirectory() as folder:
            for batch in batches:
                for of, facts in zip(batch.column("slice").to_pylist(), batch.column("facts")):
                    if number is not None and of != number:
                        yield run(number, folder)
                    with open(os.path.join(folder, "slice"), "ab" if of == number else "wb") as out:
                        out.write(facts.as_py())
                    number = of
            if number is not None:
                yield run(number, folder)

    return rounds


def read_traces(spark, paths):
    """A row for each trace; with its content where executors cannot open it by its path."""
    if any("://" in path for path in paths):
        return spark.read.format("binaryFile").load(paths).select("path", "content")
    return spark.createDataFrame([(os.path.abspath(path),) for path in paths], "path string").repartition(len(paths))


def write_rows(rows, folder, name):
    """A file for each row, or one for all rows of a slice, which follow one another."""
    count = 0
    for row in rows.toLocalIterator():
        number = count if row.slice is None else row.slice
        with open(os.path.join(folder, f"{name}{number:05d}.facts"), "ab") as out:
            out.write(row.facts)
        count += 1
    return count


def write_ranks(rows, count, args, name, folder):
    """What ranks say of themselves, merged to a few files. False when there is nothing."""
    facts = rows.where("facts is not null and slice is null").select("facts")
    while count > max(2, args.merge):
        count = (count + args.merge - 1) // args.merge
        facts = facts.repartition(count).mapInArrow(merger(name), ROWS).select("facts")
    return write_rows(facts.selectExpr("null as slice", "facts"), folder, "part") > 0


def write_judged(spark, slices, args, name, folder):
    """Who was last in each collective and who waited, judged by tasks. False where one slice is not enough by itself."""
    with tempfile.TemporaryDirectory() as scratch:
        job, clocks = os.path.join(scratch, JOB), os.path.join(scratch, CLOCKS)
        if run_facts(args.tpa, [folder, "--round", "job", "-o", job]):
            return False
        spark.sparkContext.addFile(job)
        members = spark.sparkContext.broadcast(frozenset(recordings_of(content_of(job), "groups")))
        slices = slices.mapInArrow(member_filter(members), ROWS).select("slice", "path", "facts")
        slices = slices.repartition(args.slices, "slice").sortWithinPartitions("slice", "path").persist()
        ends = os.path.join(scratch, "ends")
        os.mkdir(ends)
        if write_rows(slices.mapInArrow(slice_rounds(name, ["--round", "ends"], [JOB]), ROWS), ends, "ends") == 0:
            return True  # there are no collectives
        error = run_facts(args.tpa, [job, ends, "--round", "clocks", "-o", clocks])
        if error:
            raise RuntimeError(error)
        spark.sparkContext.addFile(clocks)
        shutil.copy(clocks, os.path.join(folder, "clocks.facts"))
        write_rows(slices.mapInArrow(slice_rounds(name, ["--round", "judge"], [JOB, CLOCKS]), ROWS), folder, "judged")
        slices.unpersist()
        return True


def write_slices(slices, args, folder):
    """The collectives themselves."""
    slices = slices.select("slice", "path", "facts").repartition(args.slices, "slice").sortWithinPartitions("slice", "path")
    write_rows(slices, folder, "slice")


def write_tables(tpa, facts, folder):
    subprocess.run([tpa, "fleet", "--format", "json", "-o", os.path.join(folder, "fleet.json"), facts], check=True)
    with tempfile.TemporaryDirectory() as tables:
        subprocess.run([tpa, "fleet", "--format", "arrow", "-o", tables + "/", facts], check=True, stderr=subprocess.DEVNULL)
        for file in glob.glob(os.path.join(tables, "*")):
            with pa.ipc.open_stream(file) as stream:
                table = stream.read_all()
            name = os.path.basename(file).split(".")[0]
            pyarrow.parquet.write_table(table, os.path.join(folder, name + ".parquet"))


def remove_answers(folder, folders):
    """Nothing of an earlier job stays, whose answers would be taken for those of this one."""
    for one in folders:
        shutil.rmtree(one, ignore_errors=True)
    tables = ("ranks", "steps", "heat", "waste", "groups", "hosts", "links", "collectives", "left_out")
    for name in ("fleet.json", "failed.json", *(table + ".parquet" for table in tables)):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tpa", required=True, help="the program, on this machine")
    parser.add_argument("--output", required=True, help="folder for the answers, on this machine")
    parser.add_argument("--job", help="name of the job")
    parser.add_argument("--merge", type=int, default=64, metavar="N", help="files of facts that a task merges")
    parser.add_argument("--slices", type=int, default=64, metavar="N", help="partitions of the job's collectives, of which a task has one in memory")
    parser.add_argument("--keep", action="store_true", help="write the collectives, too")
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
    facts, collectives = os.path.join(args.output, "facts"), os.path.join(args.output, "collectives")
    remove_answers(args.output, (facts, collectives))
    os.makedirs(facts)
    rows = read_traces(spark, paths).mapInArrow(mapper(name, args.job, args.slices), ROWS).persist()
    failed = [row.asDict() for row in rows.where("error is not null").select("path", "error").orderBy("path").collect()]
    with open(os.path.join(args.output, "failed.json"), "w") as out:
        json.dump(failed, out, indent=1)
    if not write_ranks(rows, len(paths), args, name, facts):
        print(f"none of {len(paths)} traces can be read: {failed[0]['error']}", file=sys.stderr)
        return 2
    slices = rows.where("slice is not null")
    if not write_judged(spark, slices, args, name, facts):
        write_slices(slices, args, facts)
    if args.keep:
        os.makedirs(collectives)
        write_slices(slices, args, collectives)
    write_tables(args.tpa, facts, args.output)
    for row in failed:
        print(f"{row['path']}: {row['error']}", file=sys.stderr)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
