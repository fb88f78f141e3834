#!/usr/bin/env python3
"""Score answers to the questions of the benchmark.

    samples/questions/score.py TRUTH ANSWERS...

Prints {file: {questions, right, wrong, abstained, score, stable, tokens_per_right, calls_per_right}}. A right answer is 1, a wrong
one -1, none 0, averaged over the runs of a question; score = 100 * sum / questions. docs/benchmark.md has the rules.
"""
import collections, json, sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def plain(text):
    return str(text).strip().strip("`'\"").strip().casefold()


def judge(truth, answer):
    """1: right, -1: wrong, 0: abstained."""
    silent = answer is None or answer.get("abstain") or answer.get("value") is None
    if truth["kind"] == "cannot_answer":
        return 1 if silent else -1
    if silent:
        return 0
    said = answer["value"]
    if truth["kind"] in ("name", "choice"):
        return 1 if plain(said) in {plain(word) for word in [truth["value"], *truth["accept"]]} else -1
    try:
        off = abs(float(said) - truth["value"])
    except (TypeError, ValueError):
        return -1
    return 1 if off <= max(truth["abs"], truth["rel"] * abs(truth["value"])) else -1


def score(truths, answers):
    runs = collections.defaultdict(list)
    for answer in answers:
        runs[answer["id"]].append(answer)
    points, right, wrong, abstained, stable, tokens, calls = 0, 0, 0, 0, 0, 0, 0
    for id, truth in truths.items():
        marks = [judge(truth, answer) for answer in runs[id] or [None]]
        points += sum(marks) / len(marks)
        right += marks.count(1) / len(marks)
        wrong += marks.count(-1) / len(marks)
        abstained += marks.count(0) / len(marks)
        stable += len(set(marks)) == 1
        tokens += sum(answer.get("tokens", 0) for answer in runs[id]) / len(marks)
        calls += sum(answer.get("calls", 0) for answer in runs[id]) / len(marks)
    return {"questions": len(truths), "right": round(right, 2), "wrong": round(wrong, 2), "abstained": round(abstained, 2),
            "score": round(100 * points / len(truths), 1) if truths else 0, "stable": stable,
            "tokens_per_right": round(tokens / right) if right else None, "calls_per_right": round(calls / right, 2) if right else None}


def main():
    truths = {row["id"]: row["truth"] for row in read(sys.argv[1])}
    print(json.dumps({path: score(truths, read(path)) for path in sys.argv[2:]}, indent=1))


if __name__ == "__main__":
    main()
