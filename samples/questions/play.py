#!/usr/bin/env python3
"""Answer the questions of the benchmark with fixed commands of tpa, reading only what they print within a budget.

    samples/questions/play.py TPA FOLDER [BUDGET] [--chosen] > answers.jsonl      FOLDER holds questions.jsonl and traces/

It reads whole results; with --chosen it names the tables and columns that it wants.

Each question goes to the commands that docs/benchmark.md lists for its words: no model is involved, so the figures measure what
a reader finds in so many tokens. Tokens are 2.5 bytes of output each.
"""
import json, pathlib, statistics, subprocess, sys


class Abstain(Exception):
    pass


class Player:
    def __init__(self, tpa, folder, budget, chosen):
        self.tpa, self.folder, self.budget, self.chosen = pathlib.Path(tpa).resolve(), folder, budget, chosen

    def call(self, *words):
        """The tables of a command: key -> (rows as dicts, footer)."""
        if not self.chosen:
            choices = ("--table", "--columns", "--limit")
            words = [word for i, word in enumerate(words) if word not in choices and (i == 0 or words[i - 1] not in choices)]
        command = [str(self.tpa), *words, "--format", "json", *(["--budget", str(self.budget)] if self.budget else [])]
        out = subprocess.run(command, cwd=self.folder, capture_output=True, check=False).stdout
        self.calls += 1
        self.tokens += len(out) / 2.5
        answer = json.loads(out)
        if "cannot_answer" in answer or "error" in answer:
            raise Abstain
        self.cut = answer.get("truncated", {}).get("rows", {})
        tables = {}
        for table in answer["tables"]:
            keys = [column["key"] if isinstance(column, dict) else column for column in table["columns"]]
            tables[table["key"]] = ([row if isinstance(row, dict) else dict(zip(keys, row)) for row in table["rows"]], table.get("footer", {}))
        return tables

    def need_all(self, table, rows):
        """ROWS, of which a sum, a median or what is missing is wanted: of a part of them it would be another."""
        if table in self.cut:
            raise Abstain
        return rows

    def account(self, traces):
        """The parts of a step."""
        tables = self.call("steps", "--table", "account", "--columns", "step_part,part_time,part_share", *traces)
        return {row["step_part"]: (row["part_time_ns"], row["part_share"]) for row in self.need_all("account", tables["account"][0])}

    def steps(self, traces):
        return self.call("steps", "--table", "summary", "--limit", "1", "--columns", "part", *traces)["summary"][1]["steps"]

    def idle_cause(self, traces, least=0.0):
        groups = {"data loading": "data loading", "synchronisation": "synchronization", "host": "slow launches", "launch call": "slow launches",
                  "launch latency": "slow launches", "queued": "slow launches"}
        shares = {}
        for part, (_, share) in self.account(traces).items():
            if part.startswith("idle") and share:
                cause = part.removeprefix("idle:").strip().split(",")[0]
                shares[groups.get(cause, cause)] = shares.get(groups.get(cause, cause), 0) + share
        if sum(shares.values()) <= least:
            return "none"
        return max(shares, key=shares.get)

    def limit(self, traces):
        names = {"exposed communication": "communication", "exposed copies": "copies"}
        parts = {names.get(part, "idle"): share for part, (_, share) in self.account(traces).items() if part != "computing" and share}
        worst = max(parts, key=parts.get)
        return worst if worst != "idle" else self.idle_cause(traces)

    def device(self, traces, columns):
        return self.call("gpu", "--table", "devices", "--columns", columns, *traces)["devices"][0][0]

    def copies(self, traces, direction, columns):
        rows = self.call("transfers", "--table", "transfers", "--columns", "direction," + columns, *traces)["transfers"][0]
        return [row for row in self.need_all("transfers", rows) if row["direction"] == direction]

    def slowest(self, traces):
        rows = self.call("steps", "--table", "steps", "--columns", "step,duration", *traces)["steps"][0]
        self.need_all("steps", rows)
        worst = max(rows, key=lambda row: row["duration_ns"])
        return int(worst["step"].split("#")[1]), worst["duration_ns"] - statistics.median(row["duration_ns"] for row in rows)

    def ranks(self, traces):
        rows = self.call("comm", "--table", "ranks", "--columns", "rank,count,waited,last", *traces).get("ranks", ([], {}))[0]
        if len(rows) < 2:
            raise Abstain
        return self.need_all("ranks", rows)

    def slower_operator(self, traces):
        times = [{row["name"]: row["self_device_time_total_ns"] for row in
                  self.call("top", "--columns", "name,self_device_time_total", "--filter", "::", trace)["operators"][0]} for trace in traces]
        both = {name: times[1][name] - times[0][name] for name in times[0] if name in times[1] and not name.startswith("void ")}
        return max(both, key=both.get)

    def answer(self, question):
        traces, words = question["traces"], question["question"]
        if "main cause" in words:
            return self.idle_cause(traces)
        if "keeps the GPU idle" in words:
            return self.idle_cause(traces, 0.1)
        if "limits the step" in words:
            return self.limit(traces)
        if "next batch" in words:
            row = self.call("top", "--filter", "DataLoader", "--columns", "cpu_time_total,count", *traces)["operators"][0][0]
            return row["cpu_time_total_ns"] / row["count"] / 1e6
        if "first and the last work" in words or "time is the GPU idle" in words:
            row = self.device(traces, "idle,span")
            return 100 * row["idle_ns"] / row["span_ns"]
        if "again and again" in words:
            return self.call("transfers", "--table", "stalls", "--columns", "op,count,blocked", "--limit", "3", *traces)["stalls"][0][0]["op"]
        if "device to the host" in words:
            return sum(row["count"] for row in self.copies(traces, "DtoH", "count")) / self.steps(traces)
        if "Which kernel" in words or "all kernel time" in words:
            row = self.call("kernels", "--columns", "name,share", "--limit", "1", *traces)["kernels"][0][0]
            return row["name"] if "Which" in words else 100 * row["share"]
        if "became slower" in words:
            return self.slower_operator(traces)
        if "GPU time per step" in words:
            rows = self.call("diff", "--table", "head", "--columns", "name,change", *traces)["head"][0]
            return next(row["change_ns"] for row in rows if row["name"] == "device time") / 1e6
        if "other rank wait" in words:
            return statistics.mean(row["waited_ns"] / row["count"] for row in self.ranks(traces) if row["waited_ns"]) / 1e6
        if "Which rank do" in words:
            return max(self.ranks(traces), key=lambda row: row["last"] or 0)["rank"]
        if "no trace here" in words:
            rows = self.call("info", "--table", "files", "--columns", "rank", *traces)["files"][0]
            self.need_all("files", rows)
            return next(rank for rank in range(4) if rank not in {row["rank"] for row in rows})
        if "not hidden" in words:
            return self.account(traces)["exposed communication"][0] / 1e6
        if "How many kernels" in words:
            return self.device(traces, "kernels")["kernels"] / self.steps(traces)
        if "megabytes" in words:
            return sum(row["bytes"] for row in self.copies(traces, "HtoD", "bytes")) / self.steps(traces) / 1e6
        if "GB/s" in words:
            return self.copies(traces, "HtoD", "bandwidth")[0]["bandwidth"]
        if "pinned or" in words:
            return self.copies(traces, "HtoD", "memory")[0]["memory"]
        if "slowest" in words:
            return self.slowest(traces)[0]
        if "median step" in words:
            return self.slowest(traces)[1] / 1e6
        if "peak of allocated" in words:
            rows = self.call("memory", "--table", "memory", "--columns", "device,peak_allocated", *traces)["memory"][0]
            return max(row["peak_allocated"] for row in rows if row["device"] != "cpu") / 2**20
        raise Abstain

    def play(self, question):
        self.tokens, self.calls = 0, 0
        try:
            value = self.answer(question)
        except (Abstain, KeyError, IndexError, StopIteration, ValueError, TypeError):
            value = None  # what is not there, or was cut, is no answer
        return {"id": question["id"], "value": value, "abstain": value is None, "tokens": round(self.tokens), "calls": self.calls}


def main():
    words = [word for word in sys.argv[1:] if word != "--chosen"]
    folder = pathlib.Path(words[1])
    player = Player(words[0], folder, int(words[2]) if len(words) > 2 else 0, "--chosen" in sys.argv)
    with open(folder / "questions.jsonl", encoding="utf-8") as file:
        for line in file:
            print(json.dumps(player.play(json.loads(line))))


if __name__ == "__main__":
    main()
