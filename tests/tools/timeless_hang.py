#!/usr/bin/env python3
"""Dumps without times: an old dump cannot be told from a rank that stays out, so no rank is a culprit for what it has not entered.

    timeless_hang.py TPA FIRST LAST     jobs of random_hang.py with these seeds, without their times
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OF_MOMENT = {"never_entered", "device_stopped", "not_started"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if not key.startswith("time_")}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def strip(folder):
    """Take the times from the dumps in FOLDER. False: some cannot be read here."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                data = file.read()
            is_json = data[:1] == b"{"
            tree = without_times(json.loads(data) if is_json else pickle.loads(data))
        except (ValueError, EOFError, pickle.UnpicklingError):
            return False
        with open(path, "wb") as file:
            file.write(json.dumps(tree).encode() if is_json else pickle.dumps(tree))
    return True


def main():
    tpa, jobs, doubted, wrong = sys.argv[1], 0, 0, 0
    for seed in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", os.path.join(HERE, "random_hang.py"), str(seed), folder], check=True, stdout=subprocess.DEVNULL)
            with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
                guilty = set(json.load(file)["guilty"])
            os.remove(os.path.join(folder, "truth.json"))
            if not strip(folder):
                continue
            run = subprocess.run([tpa, "hang", "--format", "json", folder], capture_output=True, check=False)
            tables = {table["key"]: table["rows"] for table in json.loads(run.stdout)["tables"]} if run.returncode < 2 else {}
        if not tables:
            continue
        jobs += 1
        verdict = tables["verdict"][0]
        culprits = set(json.loads(verdict["culprits"]))
        of_moment = all(cause["class"] in OF_MOMENT for cause in tables["causes"])
        doubted += bool(verdict["suspects"] != "[]" and "no_times" in json.dumps(tables))
        if not culprits <= guilty or (culprits and of_moment and not verdict.get("proof")):
            wrong += 1
            print(f"seed {seed}: culprits {sorted(culprits)} of {sorted(guilty)}: {verdict}")
    print(f"{jobs} jobs without times: {doubted} in doubt for it, {wrong} wrong")
    return wrong > 0 or doubted < jobs // 5


sys.exit(main())
