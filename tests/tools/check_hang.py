#!/usr/bin/env python3
"""Compare tpa hang with a slow reference, and with what was planted, on jobs made by chance.

    check_hang.py TPA FIRST-LAST [FOLDER]     seeds; FOLDER keeps the dumps of those that differ
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import random_hang
import reference_hang


def ranks(text):
    return json.loads(text) if text else []


def tpa_says(tpa, folder):
    run = subprocess.run([tpa, "hang", "--format", "json", folder], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return "exit %d: %s" % (run.returncode, run.stderr[-1500:])
    tables = {t["key"]: t["rows"] for t in json.loads(run.stdout)["tables"]}
    jobs = []
    for v in tables["verdict"]:
        name = v["job"]
        own = {k: [row for row in rows if row["job"] == name] for k, rows in tables.items()}
        jobs.append({
            "job": name, "state": v["state"], "proof": sorted(p for p in (v["proof"] or "").split(", ") if p),
            "ranks": v["ranks"], "world": v["world"], "culprits": ranks(v["culprits"]),
            "suspects": ranks(v["suspects"]),
            "causes": sorted([c["class"], ranks(c["ranks"]), ranks(c["between"]), c["group"], c["desc"], c["seq"],
                              c["op"], c["direct"], c["indirect"]] for c in own["causes"]),
            "groups": sorted([g["group"], g["desc"], g["size"], g["last_common"], g["last_entered"],
                              ranks(g["behind"]), ranks(g["unknown"])] for g in own["groups"]),
            "doubts": sorted([d["kind"], ranks(d["ranks"])] for d in own["doubts"]),
            "waits": {str(r["rank"]): r["waits_for"] for r in own["ranks"] if r["waits_for"]},
            "lines": {str(r["rank"]): r["call"] for r in own["ranks"] if r["role"] != "unreadable"}})
    return jobs


def reference_says(folder):
    jobs = []
    for job in reference_hang.find_jobs([folder]):
        r = job.result()
        waits = {}
        for a, _ in r["waits"]:
            waits[str(a)] = waits.get(str(a), 0) + 1
        jobs.append({
            "job": r["job"], "state": r["state"], "proof": r["proof"], "ranks": r["ranks"], "world": r["world"],
            "culprits": r["culprits"], "suspects": r["suspects"],
            "causes": sorted([c["class"], c["ranks"], c["between"], c["group"], c["desc"], c["seq"], c["op"],
                              len(c["direct"]), len(c["indirect"])] for c in r["causes"]),
            "groups": sorted([g["group"], g["desc"], g["size"], g["last_common"], g["last_entered"], g["behind"],
                              g["unknown"]] for g in r["groups"]),
            "doubts": sorted([d["kind"], d["ranks"]] for d in r["doubts"]),
            "waits": waits, "lines": r["lines"]})
    return jobs


def judge(truth, jobs):
    """What is wrong with the verdict, by what was planted; and how the planted ranks were found."""
    job = jobs[0]
    guilty = set(truth["guilty"])
    innocents = set(job["culprits"]) - guilty
    if innocents:
        return "innocent %s named, planted %s" % (sorted(innocents), sorted(guilty)), None
    named = set(job["culprits"]) | set(job["suspects"])
    for c in job["causes"]:
        named |= set(c[1]) | set(c[2])
    for d in job["doubts"]:
        named |= set(d[1])
    vague = any(d[0] == "members_unknown" for d in job["doubts"])
    if truth["fault"] in ("none", "skew"):
        return None, "healthy"
    if not truth["stuck"]:
        return None, "harmless"
    if guilty <= set(job["culprits"]):
        return None, "named"
    held_up = guilty & named or vague
    # what is lost may be what holds it up
    emptied = ("ring_too_short", "sequence_unsure", "snapshots_differ") if truth["spoil"] in ("silent", "no_key") else ()
    lost = any(d[0] in ("no_dump", "no_entries") + emptied for d in job["doubts"])
    silent = job["state"] in ("waiting", "stuck") and job["causes"] == []  # and the verdict tells so
    unsure = any(d[0] == "sequence_unsure" for d in job["doubts"])
    held_up = held_up or lost or ((truth["fault"] in ("swap_groups", "device") or unsure) and silent)
    if not held_up and job["causes"] == [] and job["state"] == "clean":
        return "planted %s not found, and no doubt" % sorted(guilty), None
    if not held_up:
        return "planted %s not among %s" % (sorted(guilty), sorted(named)), None
    return None, "some" if guilty & set(job["culprits"]) else "in doubt"


def key(value):
    return json.dumps(value, sort_keys=True)


def main():
    tpa, span = sys.argv[1], sys.argv[2].split("-")
    keep = sys.argv[3] if len(sys.argv) > 3 else None
    wrong, found = 0, {}
    for seed in range(int(span[0]), int(span[-1]) + 1):
        folder = os.path.join(tempfile.mkdtemp(), "job")
        truth = random_hang.Job(seed).write(folder)
        if truth["lost"] and len(truth["lost"]) == len(os.listdir(folder)) - 1:
            shutil.rmtree(os.path.dirname(folder))
            continue
        ours, reference = tpa_says(tpa, folder), reference_says(folder)
        problem, how = None, None
        if isinstance(ours, str):
            problem = ours if reference else None
        elif key(ours) != key(reference):
            problem = "tpa and the reference differ"
            for a, b in zip(ours, reference):
                for k in a:
                    if key(a[k]) != key(b[k]):
                        problem += "\n    %s: tpa %s\n    %s: reference %s" % (k, key(a[k]), k, key(b[k]))
        else:
            problem, how = judge(truth, ours)
        if problem:
            wrong += 1
            print("seed %d (%s): %s" % (seed, key(truth), problem))
            if keep:
                shutil.copytree(folder, os.path.join(keep, str(seed)), dirs_exist_ok=True)
        else:
            found[how] = found.get(how, 0) + 1
        shutil.rmtree(os.path.dirname(folder))
    print("%s, %d wrong" % (", ".join("%d %s" % (n, k) for k, n in sorted(found.items(), key=str)), wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
