#!/usr/bin/env python3
"""check_job.py - tpa job against a slow reference, and against what was planted, on pipelines made by chance.

    check_job.py TPA FIRST-LAST        seeds of random_pipeline.py
    check_job.py TPA parts FIRST-LAST  of these, only that a merged file and separate ones say the same
    check_job.py TPA facts FILE...     that facts of a job, whose ranks FILES are, say the same as its traces
    check_job.py TPA FIGURES FILE...   the figures of one job, as a file of JSON, against those of tpa

Figures are those of reference_pipeline.py: its keys are the columns of tpa job.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import random_pipeline  # noqa: E402
import reference_pipeline  # noqa: E402

TABLES = {"step_table": ("steps", "step"), "types": ("types", "type"), "rank_table": ("ranks", "rank"), "stages": ("stages", "pp"), "replicas": ("replicas", "dp"),
          "bubbles": ("bubbles", "cause"), "causes": ("causes", "cause"), "dimensions": ("dimensions", "dimension")}
NOT_SHOWN = ("phase_ns",)


def tables(tpa, files, command="job"):
    run = subprocess.run([tpa, command, "--format", "json", "--limit", "0", *files], capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"tpa {command} {files[0]}: exit status {run.returncode}: {run.stderr}")
    return {table["key"]: table["rows"] for table in json.loads(run.stdout)["tables"]}


def differ(what, found, wanted, tolerance):
    """Times may be apart by 2 ns."""
    if found is None or wanted is None or isinstance(wanted, str):
        return found != wanted
    return abs(found - wanted) > max(tolerance * max(abs(found), abs(wanted)), 2.01 if what.endswith("_ns") else 1e-9)


def compare(found, wanted, tolerance):
    """What differs, as texts."""
    job, wrong = found["job"][0], []

    def check(what, got, want):
        if differ(what, got, want, tolerance):
            wrong.append(f"{what}: {got}, expected {want}")

    for key in job:
        if key in ("slowest_share", "last_stage_share") and key not in wanted:
            check(key, job[key], (wanted[key[:-6]] or {}).get("share"))
        else:
            check(key, job[key], wanted[key])
    for key, (name, by) in TABLES.items():
        rows = {row[by]: row for row in found.get(name, [])}
        check(f"{name}: rows", len(rows), len(wanted[key]))
        for want in wanted[key]:
            got = rows.get(want[by], {})
            for column in want:
                if column not in NOT_SHOWN:
                    check(f"{name} {want[by]} {column}", got.get(column), want[column])
    return wrong


def judge(found, truth, known_clocks):
    """What contradicts the plan."""
    job, wrong = found["job"][0], []
    for key, want in (("ranks", truth["ranks"]), ("microbatches", truth["microbatches"]), ("chunks", truth["chunks"]), ("steps", truth["steps"]), ("pp", truth["stages"])):
        if job[key] != want:
            wrong.append(f"{key}: {job[key]}, planted {want}")
    schedule = {"interleaved": "interleaved 1F1B", "zero": "1F1B"}.get(truth["schedule"], truth["schedule"])
    if truth["microbatches"] > truth["stages"] and job["schedule"] != schedule and not (truth["chunks"] > 1):
        wrong.append(f"schedule: {job['schedule']}, planted {schedule}")
    if known_clocks and abs(job["bubble_share"] - truth["bubbles"]) > 1e-6:
        wrong.append(f"bubbles: {job['bubble_share']}, played {truth['bubbles']}")
    most_early = 0.1 if truth["ahead"] else 1e-6  # a receive that was issued ahead transfers while the rank computes; the replay lets it wait
    if known_clocks and not truth["fused"] and not -most_early <= job["delay_slowdown"] - 1 <= 1e-6:
        wrong.append(f"delay: {job['delay_slowdown']}, nothing was late")
    if truth["planted"] == "none" and job["cause"] != "none":
        wrong.append(f"cause: {job['cause']}, nothing planted")
    if truth["planted"] == "worker" and job["cause"] == "stage" and truth["replicas"] * truth["tensor"] > 1:
        wrong.append(f"cause: stage, planted rank {truth['where']}")
    if truth["planted"] == "sequence" and job["cause"] not in ("sequence", "none"):  # none: most are long, which makes them usual
        wrong.append(f"cause: {job['cause']}, planted long sequences")
    if truth["planted"] == "stage" and (job["cause"], job["where"]) not in (("stage", f"stage {truth['where']}"), ("none", None)):
        wrong.append(f"cause: {job['cause']} {job['where']}, planted stage {truth['where']}")
    return wrong


def check_parts(tpa, seed):
    """What a merged file says that is not so of separate ones. Coordinates come from labels there, from groups here."""
    plan, chance = random_pipeline.draw(seed)
    plan.form, plan.hosts, plan.apart, wrong, written = "files", 1, 0, [], []
    state = chance.getstate()
    with tempfile.TemporaryDirectory() as folder:
        for form in ("merged", "files"):
            plan.form = form
            chance.setstate(state)
            written.append(random_pipeline.write(random_pipeline.make(plan, chance)[0], os.path.join(folder, form)))
        for command, keys in (("job", ("steps", "stages", "types", "bubbles", "causes")), ("fleet", ("ranks", "steps", "heat", "waste")), ("steps", ("steps",)),
                              ("comm", ("collectives", "ranks")), ("summary", ("operators", "remarks"))):
            whole, parts = (tables(tpa, files, command) for files in written)
            for key in keys:
                rows = [[{k: v for k, v in row.items() if k not in ("file", "group", "ranks", "evidence")} for row in found.get(key, [])] for found in (whole, parts)]
                if rows[0] != rows[1]:
                    wrong.append(f"tpa {command}, {key}: merged and separate files differ")
    return wrong


def answer(tpa, files):
    return subprocess.run([tpa, "job", "--all", "--format", "json", "--limit", "0", *files], capture_output=True, check=True).stdout


def check_facts(tpa, files):
    """Facts of each rank, these merged, and with collectives put apart: the same bytes."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        wanted = answer(tpa, files)
        facts = [os.path.join(folder, f"{i}.facts") for i in range(len(files))]
        for file, out in zip(files, facts):
            subprocess.run([tpa, "facts", file, "-o", out], check=True)
        merged, apart, rest = (os.path.join(folder, name) for name in ("all", "apart", "rest"))
        subprocess.run([tpa, "facts", *facts[::-1], "-o", merged], check=True)
        subprocess.run([tpa, "facts", merged, "--apart", apart, "--slices", "3", "-o", rest], check=True)
        for name, given in (("facts of each rank", facts), ("merged facts", [merged]), ("facts and collectives apart", [rest, apart] if os.listdir(apart) else [rest])):
            if answer(tpa, given) != wanted:
                wrong.append(f"{name} say something else than the traces")
    return wrong


def check_seed(tpa, seed):
    plan, chance = random_pipeline.draw(seed)
    documents, on_true_clock, truth = random_pipeline.make(plan, chance)
    with tempfile.TemporaryDirectory() as folder:
        files = random_pipeline.write(documents, folder)
        found = tables(tpa, files)
        of = random_pipeline.write(on_true_clock, folder + "/true") if on_true_clock else files
        wanted = reference_pipeline.plain(reference_pipeline.figures(of))
        wrong = compare(found, wanted, 0.01 if on_true_clock else 1e-6) + judge(found, truth, not on_true_clock)
        wrong += check_facts(tpa, files) if seed % 4 == 0 else []
    wrong += check_parts(tpa, seed) if seed % 8 == 1 else []
    for text in wrong[:10]:
        print(f"seed {seed} ({plan.form}, {plan.schedule}, marks {plan.marks}, planted {plan.planted}): {text}")
    return not wrong


def main():
    if sys.argv[2] == "facts":
        wrong = check_facts(sys.argv[1], sys.argv[3:])
        print("\n".join(wrong) or f"{sys.argv[3]}: facts say what the traces say")
        return bool(wrong)
    if sys.argv[2] == "parts":
        first, last = map(int, sys.argv[3].split("-"))
        failed = 0
        for seed in range(first, last + 1):
            wrong = check_parts(sys.argv[1], seed)
            failed += bool(wrong)
            for text in wrong:
                print(f"seed {seed}: {text}")
        print(f"job: {last - first + 1 - failed} of {last - first + 1} merged files say what separate ones say")
        return bool(failed)
    if len(sys.argv) == 3:
        first, last = map(int, sys.argv[2].split("-"))
        failed = [seed for seed in range(first, last + 1) if not check_seed(sys.argv[1], seed)]
        print(f"job: {last - first + 1 - len(failed)} of {last - first + 1} jobs as the reference and the plan have them")
        return bool(failed)
    with open(sys.argv[2], encoding="utf-8") as file:
        wanted = json.load(file)
    wrong = compare(tables(sys.argv[1], sys.argv[3:]), wanted, 0.01 if "clocks" in sys.argv[2] else 1e-6)
    print("\n".join(wrong[:40]) or f"{sys.argv[2]}: all figures are equal")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
