#!/usr/bin/env python3
"""A distributed job made by chance, run by a small simulator until nothing moves, and the dumps that its ranks write.

    random_hang.py SEED FOLDER      writes the dumps, and truth.json beside them

Each rank issues its part of one program; its device works in the order of issue, and a collective ends when all members
are in it. A fault is planted, or none. truth.json has the ranks with a fault (`guilty`), and how the dumps were spoiled.
"""
import copy
import json
import os
import pickle
import random
import sys

NEEDS_ALL = ("all_reduce", "_all_gather_base", "_reduce_scatter_base", "all_to_all", "barrier")
FAULTS = ("stays_out", "stays_out", "stays_out", "two_out", "device", "op", "size", "dtype", "swap", "swap_groups",
          "lost_send", "none", "skew")


class Op:
    def __init__(self, group, name, size=0, dtype="Float", frm=None, to=None):
        self.group, self.name, self.size, self.dtype, self.frm, self.to = group, name, size, dtype, frm, to

    def p2p(self):
        return self.frm is not None

    def same(self, other):
        return (self.name, self.size, self.dtype) == (other.name, other.size, other.dtype)


class Job:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.writer = rng.choice(("nccl", "nccl", "nccl", "gloo", "cgloo", "pygloo", "torchcomms"))
        self.world = rng.choice((2, 3, 4, 4, 6, 8, 12))
        self.fault = rng.choice(FAULTS)
        self.sync = self.writer in ("gloo", "cgloo", "pygloo") or rng.random() < 0.3
        self.depth = 1 if self.sync else rng.randint(3, 30)
        self.begin = 1790000000 * 10**9
        self.make_groups()
        self.make_programs()
        self.plant()
        self.run()

    # ---- the program ----

    def make_groups(self):
        rng, n = self.rng, self.world
        self.groups = [("0", "default_pg", list(range(n)))]
        same_name = self.writer == "nccl" and rng.random() < 0.2
        if n >= 4:
            k = rng.choice([d for d in (2, 3, 4) if n % d == 0])
            for i in range(0, n, k):
                self.groups.append(("9" if same_name else str(len(self.groups)), "TP", list(range(i, i + k))))
            if rng.random() < 0.6:
                for i in range(k):
                    self.groups.append((str(20 + len(self.groups)), "DP", list(range(i, n, k))))
        if rng.random() < 0.4:
            self.groups.append((str(40 + len(self.groups)), "twin", list(range(n))))
        if n >= 3 and rng.random() < 0.3:
            self.groups.append((str(60 + len(self.groups)), "odd", sorted(rng.sample(range(n), rng.randint(2, n - 1)))))

    def make_programs(self):
        rng = self.rng
        steps = rng.randint(4, 30)
        layout = []
        sends = self.writer in ("nccl", "cgloo") and rng.random() < 0.4
        hidden = self.writer == "gloo" and rng.random() < 0.2
        for _ in range(steps):
            desc = rng.choice(["default_pg"] + [g[1] for g in self.groups])
            kind = rng.choice(NEEDS_ALL + ("broadcast",))
            size, dtype = rng.choice((8, 64, 640)), rng.choice(("Float", "BFloat16"))
            for g, group in enumerate(self.groups):
                if group[1] == desc:
                    layout.append(Op(g, kind, size, dtype))
            if (sends or hidden) and rng.random() < 0.3 and self.world > 1:
                a = rng.randrange(self.world - 1)
                layout.append(Op(0, "send", 16, "Float", a, a + 1))
        self.hidden = hidden
        self.warm = [Op(0, "send", 16, "Float", a, a + 1) for a in range(self.world - 1)] if hidden else []
        self.warm += [Op(g, "all_reduce", 8) for g in range(len(self.groups))]
        layout = self.warm + layout
        self.program = {r: [] for r in range(self.world)}
        for op in layout:
            for r in ([op.frm, op.to] if op.p2p() else self.groups[op.group][2]):
                self.program[r].append(op)
        self.layout = layout

    def plant(self):
        rng = self.rng
        self.guilty, self.stop_at, self.device_stop, self.variant = set(), {}, {}, {}
        after = len(self.warm)
        ranks = list(range(self.world))
        rank = rng.choice(ranks)
        own = self.program[rank]
        late = [i for i, op in enumerate(own) if self.layout.index(op) >= after]
        if not late:
            self.fault = "none"
        if self.fault in ("stays_out", "two_out"):
            self.stop_at[rank] = rng.choice(late)
            self.guilty = {rank}
            if self.fault == "two_out" and self.world > 2:
                other = rng.choice([r for r in ranks if r != rank])
                self.stop_at[other] = rng.randint(min(len(self.program[other]), after), len(self.program[other]))
                self.guilty = {rank, other}
        elif self.fault == "device":
            if self.writer != "nccl":
                self.fault = "stays_out"
                self.stop_at[rank] = rng.choice(late)
            else:
                self.device_stop[rank] = rng.choice(late)
            self.guilty = {rank}
        elif self.fault in ("op", "size", "dtype"):
            places = [i for i in late if not own[i].p2p() and own[i].name != "all_to_all" and
                      not (self.fault in ("size", "dtype") and own[i].name == "barrier")
                      and len(self.groups[own[i].group][2]) > 1]
            if not places:
                self.fault = "none"
                return
            i = rng.choice(places)
            op = own[i]
            name, size, dtype = op.name, op.size, op.dtype
            if self.fault == "op":
                name = "broadcast" if op.name != "broadcast" else "all_reduce"
            elif self.fault == "size":
                size *= 2
            else:
                dtype = "Double"
            self.variant[rank, id(op)] = (name, size, dtype)
            self.guilty = {rank}
        elif self.fault in ("swap", "swap_groups"):
            places = [i for i in late if i + 1 < len(own) and not own[i].p2p() and not own[i + 1].p2p()
                      and (own[i].group == own[i + 1].group) == (self.fault == "swap")
                      and (self.fault != "swap" or own[i].name != own[i + 1].name)
                      and len(self.groups[own[i].group][2]) > 1 and len(self.groups[own[i + 1].group][2]) > 1]
            if not places:
                self.fault = "none"
                return
            i = rng.choice(places)
            own = list(own)
            own[i], own[i + 1] = own[i + 1], own[i]
            self.program[rank] = own
            self.guilty = {rank}
        elif self.fault == "lost_send":
            sends = [op for op in self.layout if op.p2p()]
            if not sends or self.writer == "gloo":
                self.fault = "none"
                return
            op = rng.choice(sends)
            rank = rng.choice((op.frm, op.to))
            self.stop_at[rank] = self.program[rank].index(op)
            self.guilty = {rank}

    # ---- the run ----

    def run(self):
        rng, n = self.rng, self.world
        self.now = self.begin
        self.issued = {r: [] for r in range(n)}     # [op, number, state, times]
        self.head = {r: 0 for r in range(n)}
        self.count = {}
        self.p2p_count = {}
        self.snap_at = {}
        if self.fault == "skew":
            self.snap_at = {r: 10 + 9 * r for r in range(n)}
            for r in range(n):
                self.program[r] = self.program[r] * 40
            self.snaps = {}
        ticks, idle = 0, 0
        while idle < 3 and ticks < 20000:
            ticks += 1
            self.now += rng.randint(1000, 2000000)
            moved = False
            for r in rng.sample(range(n), n):
                moved |= self.issue(r)
            for r in rng.sample(range(n), n):
                moved |= self.work(r)
            idle = 0 if moved else idle + 1
            if self.fault == "skew":
                done = min(len(self.issued[r]) for r in range(n))
                for r in range(n):
                    if r not in self.snaps and done >= self.snap_at[r]:
                        self.snaps[r] = [list(x) for x in self.issued[r]], dict(self.count), dict(self.p2p_count)
                if len(self.snaps) == n:
                    break

    def issue(self, r):
        k = len(self.issued[r])
        if k >= len(self.program[r]) or k >= self.stop_at.get(r, 1 << 30):
            return False
        if sum(x[2] != "completed" for x in self.issued[r]) >= self.depth:
            return False
        op = self.program[r][k]
        key = (r, op.group)
        if op.p2p():
            self.p2p_count[key] = self.p2p_count.get(key, 0) + 1
        else:
            self.count[key] = self.count.get(key, 0) + 1
        self.issued[r].append([op, self.count.get(key, 0), "scheduled", self.now, None, None,
                               self.p2p_count.get(key, 0)])
        return True

    def at_head(self, r):
        k = self.head[r]
        if k < len(self.issued[r]) and k < self.device_stop.get(r, 1 << 30):
            return self.issued[r][k]
        return None

    def view(self, r, x):
        return self.variant.get((r, id(x[0])), (x[0].name, x[0].size, x[0].dtype))

    def finish(self, r, x):
        x[2], x[5] = "completed", self.now
        self.head[r] += 1

    def work(self, r):
        x = self.at_head(r)
        if x is None or x[2] == "completed":
            return False
        if x[2] == "scheduled":
            x[2], x[4] = "started", self.now
        op = x[0]
        if op.p2p():
            other = op.to if r == op.frm else op.frm
            y = self.at_head(other)
            if y is None or y[0] is not op:
                return False
            self.finish(r, x)
            self.finish(other, y)
            return True
        group = self.groups[op.group][2]
        heads = [(q, self.at_head(q)) for q in group]
        if any(y is None or y[0].p2p() or y[0].group != op.group or y[1] != x[1] for _, y in heads):
            return False
        if len({self.view(q, y) for q, y in heads}) > 1:
            return False
        for q, y in heads:
            self.finish(q, y)
        return True

    # ---- the dumps ----

    def entries(self, r, issued, sent):
        out, record, op_ids, total = [], 0, {}, 0
        for x in issued:
            op, seq, state, created, started, completed, p2p = x
            name, size, dtype = self.view(r, x)
            group = self.groups[op.group]
            if op.p2p():
                place = group[2].index(r)
                if self.writer == "gloo":
                    op_ids[op.group] = op_ids.get(op.group, 0) + 1
                    continue
                other = group[2].index(op.to if r == op.frm else op.frm)
                name = "send %d->%d" % (place, other) if r == op.frm else "recv %d<-%d" % (place, other)
            op_ids[op.group] = op_ids.get(op.group, 0) + 1
            op_id = op_ids[op.group] - (self.writer in ("cgloo", "pygloo"))
            n = len(group[2])
            ins = [] if name == "barrier" else [[size]]
            outs = [] if name == "barrier" else [[size * n]] if name == "_all_gather_base" else [[size]]
            if name == "_reduce_scatter_base":
                ins, outs = [[size * n]], [[size]]
            done = state == "completed"
            shown = state
            if self.writer == "gloo" or self.writer == "pygloo" or (not self.timing and state == "started"):
                shown = "scheduled"
            if done and self.writer in ("nccl", "cgloo", "torchcomms"):
                shown = "completed"
            retired = done or (self.writer == "pygloo")
            if self.timed_out and not done and self.writer == "nccl":
                retired = True
            out.append({
                "record_id": record, "pg_id": self.ids[r][op.group], "process_group": (group[0], group[1]),
                "thread_name": "python3", "thread_id": "1400%08d" % r,
                "collective_seq_id": total if self.writer == "torchcomms" else seq,
                "p2p_seq_id": 0 if self.writer == "torchcomms" else p2p,
                "op_id": total if self.writer == "torchcomms" else op_id,
                "profiling_name": "%s:%s" % ("nccl" if self.writer == "torchcomms" else self.writer, name),
                "time_created_ns": created, "input_sizes": ins, "input_dtypes": [dtype] * len(ins),
                "output_sizes": outs, "output_dtypes": [dtype] * len(outs), "state": shown,
                "time_discovered_started_ns": started if self.timing else None,
                "time_discovered_completed_ns": completed if shown == "completed" else None,
                "retired": retired, "timeout_ms": 600000, "is_p2p": op.p2p(),
            })
            record += 1
            total += 1
        return out

    def dump(self, r):
        issued, sent = self.issued[r], self.p2p_count
        if self.fault == "skew":
            issued, _, sent = self.snaps.get(r, (issued, None, sent))
        entries = self.entries(r, issued, sent)
        status = {}
        for g, group in enumerate(self.groups):
            own = [e for e in entries if e["pg_id"] == self.ids[r].get(g) and r in group[2]]
            if r not in group[2] or self.writer == "torchcomms":
                continue
            done = [e for e in own if e["state"] == "completed" or (self.writer == "gloo" and e["retired"])]
            if self.writer == "nccl":
                last = own[-1] if own else None
                enqueued = -1 if not last else last["p2p_seq_id"] if last["is_p2p"] else last["collective_seq_id"]
                completed = -1 if not done else done[-1]["p2p_seq_id"] if done[-1]["is_p2p"] else \
                    done[-1]["collective_seq_id"]
            else:
                enqueued = own[-1]["op_id"] if own else -1
                completed = done[-1]["op_id"] if done else -1
            status[str(self.ids[r][g])] = {"last_enqueued_collective": enqueued, "last_started_collective": -1,
                                           "last_completed_collective": completed}
        kept = entries[-self.ring:]
        if self.active_only:
            kept = [e for e in kept if e["state"] != "completed"]
        if self.writer == "gloo":
            config = {"": {"name": "", "desc": "", "ranks": str(list(range(self.world)))}}
        else:
            config = {group[0]: {"name": group[0], "desc": group[1], "ranks": str(group[2])}
                      for group in self.groups if r in group[2]}
        return {"version": "2.10", "pg_config": config, "comm_lib_version": "2.27.3" if self.writer == "nccl" else "",
                "pg_status": status, "entries": kept}

    def spoil_tree(self, spoil, tree):
        if spoil == "silent":
            tree["entries"] = []
        elif spoil == "no_key":
            del tree["entries"]
        elif spoil == "version":
            tree["version"] = self.rng.choice(("99.9", "", "3.0"))
        elif spoil == "state" and tree["entries"]:
            for entry in self.rng.sample(tree["entries"], self.rng.randint(1, len(tree["entries"]))):
                entry["state"] = "zombie"

    def earlier_run(self):
        """The same job a day before, which came less far, or as far."""
        job = copy.copy(self)
        job.rng = random.Random(self.rng.random())
        job.begin = self.begin - 86400 * 10**9
        job.stop_at, job.device_stop, job.variant, job.guilty = {}, {}, {}, set()
        job.program = {r: list(ops) for r, ops in self.program.items()}
        rank = job.rng.randrange(self.world)
        job.stop_at[rank] = job.rng.randint(0, len(job.program[rank]))
        job.fault = "stays_out"
        job.run()
        return job

    def write(self, folder):
        rng = self.rng
        self.timing = self.writer == "nccl" and rng.random() < 0.3
        self.timed_out = self.writer == "nccl" and self.fault not in ("none", "skew") and rng.random() < 0.3
        self.active_only = self.writer in ("nccl", "cgloo") and rng.random() < 0.3
        self.ring = rng.choice((3, 6, 12, 100, 100, 100, 2000, 2000))
        self.ids = {r: {g: i for i, g in enumerate(g for g in range(len(self.groups)) if r in self.groups[g][2])}
                    for r in range(self.world)}
        form = rng.choice(("pickle", "pickle", "pickle", "json", "both"))
        spoil = rng.choice(("", "", "", "", "", "missing", "empty", "cut", "stranger", "silent", "no_key", "version", "state", "copy", "earlier"))
        victims = set(rng.sample(range(self.world), rng.randint(1, max(1, self.world // 4)))) if spoil else set()
        # a copy of a dump without operations is the same as what a rank in the same place would have written
        copied = {r for r in victims if spoil == "copy" and self.dump((r + 1) % self.world)["entries"]}
        # without completed operations most dumps hold no time at all, and nothing tells their run
        earlier = self.earlier_run() if spoil == "earlier" and self.fault != "skew" and not self.active_only else None
        if earlier:
            victims = {r for r in victims if earlier.dump(r)["entries"]}
        os.makedirs(folder, exist_ok=True)
        for r in range(self.world):
            tree = (earlier if earlier and r in victims else self).dump((r + 1) % self.world if r in copied else r)
            if r in victims:
                self.spoil_tree(spoil, tree)
            path = os.path.join(folder, "rank_%d" % r)
            data = pickle.dumps(tree, protocol=rng.choice((2, 2, 4, 5)))
            text = json.dumps(as_json(tree)).encode()
            if r in victims:
                if spoil == "missing":
                    continue
                if spoil == "empty":
                    data, text = b"", b""
                elif spoil == "cut":
                    data, text = data[: len(data) * 2 // 3], text[: len(text) * 2 // 3]
            if form in ("pickle", "both"):
                open(path, "wb").write(data)
            if form in ("json", "both"):
                open(path + ".json", "wb").write(text)
        if spoil == "stranger":
            open(os.path.join(folder, "stderr_3"), "w").write("RuntimeError: nothing\n")
            open(os.path.join(folder, "train.py"), "w").write("import torch\n")
        lost = victims if spoil in ("missing", "empty", "cut") or earlier else set()
        if spoil == "copy":
            lost = copied | {(r + 1) % self.world for r in copied}
        truth = {"fault": self.fault, "writer": self.writer, "guilty": sorted(self.guilty), "lost": sorted(lost),
                 "ring": self.ring, "active_only": self.active_only, "timed_out": self.timed_out, "spoil": spoil,
                 "form": form, "stuck": any(x[2] != "completed" for r in self.issued for x in self.issued[r])}
        json.dump(truth, open(os.path.join(folder, "truth.json"), "w"))
        return truth


def as_json(tree):
    tree = dict(tree)
    tree["pg_status"] = {k: {n: str(v) for n, v in s.items()} for k, s in tree["pg_status"].items()}
    entries = [dict(e, process_group=list(e["process_group"]),
                    time_discovered_started_ns=e["time_discovered_started_ns"] or 0,
                    time_discovered_completed_ns=e["time_discovered_completed_ns"] or 0) for e in tree.pop("entries", [])]
    if entries:
        tree["entries"] = entries
    return tree


if __name__ == "__main__":
    print(json.dumps(Job(int(sys.argv[1])).write(sys.argv[2])))
