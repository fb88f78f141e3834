#!/usr/bin/env python3
"""The post-mortem of Flight Recorder dumps, slowly: for the differential test of `tpa hang`.

    reference_hang.py FOLDER...      prints the jobs of the folders as JSON

Works on sets of ranks and on pairs, one definition of docs/commands/hang.md after the other, and shares no code with tpa.
"""
import io
import json
import os
import pickle
import re
import sys
from collections import defaultdict

DEVICES = {"nccl", "ncclx", "rccl", "xccl", "hccl", "mccl"}
TELLING = (b"pg_config", b"pg_status", b"collective_seq_id", b"comm_lib_version", b"nccl_version")
CULPRIT_CLASSES = ("never_entered", "device_stopped", "failed_before", "not_started", "deadlock_order",
                   "mismatch_op", "mismatch_dtype", "mismatch_size", "mismatch_order")


class Safe(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("a class")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("a persistent id")


def content(path):
    data = open(path, "rb").read()
    if data.lstrip()[:1] == b"{":
        tree = json.loads(data)
    else:
        tree = Safe(io.BytesIO(data)).load()
    if not isinstance(tree, dict) or not ("entries" in tree or "pg_status" in tree or "pg_config" in tree):
        raise ValueError("no dump")
    return tree


def name_parts(path):
    stem = os.path.basename(path)
    for ending in (".json", ".pkl", ".pickle", ".bin"):
        if stem.endswith(ending):
            stem = stem[: -len(ending)]
            break
    digits = re.search(r"[0-9]+$", stem)
    return (stem[: digits.start()], int(digits.group())) if digits else (stem, None)


class Dump:
    def __init__(self, path, tree):
        self.path, self.folder = path, os.path.dirname(path)
        self.prefix, self.rank = name_parts(path)
        if tree.get("rank") is not None:
            self.rank = int(tree["rank"])
        self.entries = sorted(tree.get("entries") or [], key=lambda e: e["record_id"])
        self.config = {n: (c["desc"], tuple(json.loads(c["ranks"] or "[]"))) for n, c in
                       (tree.get("pg_config") or {}).items()}
        self.status = {int(i): tuple(int(s["last_%s_collective" % w]) for w in ("enqueued", "started", "completed"))
                       for i, s in (tree.get("pg_status") or {}).items()}
        self.has_version = bool(tree.get("comm_lib_version") or tree.get("nccl_version"))
        ids = [e["record_id"] for e in self.entries]
        gaps = any(b != a + 1 for a, b in zip(ids, ids[1:]))
        used = any(s[0] != -1 for s in self.status.values())
        self.active_only = gaps or (not ids and used)
        listed = path.endswith(".json") or "entries" in tree
        self.whole = not self.active_only and listed and (not ids or ids[0] == 0)
        self.silent, self.listed = not ids and used, listed
        self.version = tree.get("version") or ""
        self.odd_state = any(e["state"] not in ("scheduled", "started", "completed") for e in self.entries)
        self.told = tuple((e["record_id"], e["time_created_ns"], e["collective_seq_id"], e["profiling_name"], e["state"],
                           e["retired"], e.get("thread_id")) for e in self.entries)
        for place, e in enumerate(self.entries):
            backend, _, e["op"] = e["profiling_name"].rpartition(":")
            e["backend"], e["rank"] = backend.lower(), self.rank
            word = e["op"].split(" ")[0]
            e["p2p"] = bool(e["is_p2p"]) or word in ("send", "recv")
            e["place"] = place
            e["status"] = entry_status(e)


def entry_status(e):
    if e["state"] == "completed":
        return "done"
    if e["state"] not in ("scheduled", "started"):
        return "issued"
    if not e["retired"]:
        return "pending"
    if e.get("duration_ms") is not None:
        return "done"
    if e["backend"] in DEVICES:
        return "failed"
    return "ended" if e["backend"] == "gloo" else "issued"


def op_kind(op):
    kind = op.strip("_").replace("allreduce", "all_reduce").replace("allgather", "all_gather") \
        .replace("alltoall", "all_to_all")
    for word in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "barrier", "broadcast", "reduce",
                 "gather", "scatter"):
        if word in kind:
            return word
    return kind


def needs_all(op):
    return op_kind(op) in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")


def counts_of(sizes):
    out = []
    for shape in sizes or []:
        n = 1
        for dim in shape:
            n *= dim
        out.append(n)
    return tuple(out)


def compared(e):
    """Name, types and counts of an operation; None fits any."""
    kind = op_kind(e["op"])
    types = tuple(sorted(set(e.get("input_dtypes") or []) | set(e.get("output_dtypes") or [])))
    base = "_base" in e["op"]
    use_in = kind in ("all_reduce", "broadcast", "reduce", "all_gather", "gather") or base
    use_out = kind in ("all_reduce", "all_gather", "reduce_scatter", "scatter")
    if kind == "all_to_all":
        use_in = use_out = False
    ins = counts_of(e.get("input_sizes")) if use_in else ()
    outs = counts_of(e.get("output_sizes")) if use_out else ()
    return (e["op"], None if kind in ("gather", "scatter") or not types else types, ins or None, outs or None)


def fits(a, b, parts):
    return all(len(a) == len(b) and all(x[p] is None or y[p] is None or x[p] == y[p] for x, y in zip(a, b))
               for p in parts)


def is_default(name, desc):
    return desc == "default_pg" or (name == "0" and desc in ("", "undefined"))


class Job:
    def __init__(self, name, dumps, unreadable, several_runs):
        self.name, self.unreadable, self.several_runs = name, sorted(unreadable), several_runs
        self.dump = {d.rank: d for d in dumps}
        self.ranks = sorted(self.dump)
        self.build_groups()
        self.renumber()
        self.read_status()
        self.find_entered()
        self.find_stale()
        self.find_waiting()
        self.find_edges()
        self.find_mismatches()
        self.find_causes()
        self.judge()

    # ---- groups: (name, list of ranks or None) ----

    def build_groups(self):
        self.of = {}          # (rank, name) -> group
        self.desc, self.members, self.known = {}, {}, {}
        world = max([r + 1 for r in self.ranks + self.unreadable], default=0)
        gathered = defaultdict(set)
        gloo = set()
        for d in self.dump.values():
            open_lists = not any(d.config) and (any(e["backend"] == "gloo" for e in d.entries) or
                                                (not d.entries and "" in d.config))
            if open_lists:
                gloo.add(d.rank)
                for n, (_, ranks) in d.config.items():
                    world = max(world, len(ranks))
            else:
                for n, (desc, ranks) in d.config.items():
                    self.of[d.rank, n] = (n, ranks)
                    self.desc[n, ranks] = desc
                    self.members[n, ranks], self.known[n, ranks] = set(ranks), True
                    world = max([world] + [r + 1 for r in ranks])
        for d in self.dump.values():
            for e in d.entries:
                n, desc = e["process_group"]
                if (d.rank, n) in self.of:
                    continue
                lists = {g for g in self.members if g[0] == n and g[1] is not None and d.rank in g[1]}
                group = lists.pop() if len(lists) == 1 else (n, None)
                self.of[d.rank, n] = group
                self.desc.setdefault(group, desc)
                if group[1] is None:
                    self.members.setdefault(group, set()).add(d.rank)
                    self.known.setdefault(group, False)
                    sizes = e.get("output_sizes") or []
                    if e["op"] == "all_gather" and sizes and sizes[0]:
                        if sum(counts_of(sizes)) == sum(counts_of(e.get("input_sizes"))) * sizes[0][0]:
                            gathered[group].add(sizes[0][0])
        for group in list(self.members):
            if group[1] is None and is_default(group[0], self.desc[group]):
                world = max([world] + list(gathered[group]))
        self.world = world
        for group in self.members:
            if group[1] is None:
                if is_default(group[0], self.desc[group]):
                    self.members[group], self.known[group] = set(range(world)), True
                    for r in gloo:
                        self.of.setdefault((r, group[0]), group)
                elif gathered[group] and max(gathered[group]) == len(self.members[group]):
                    self.known[group] = True
        self.gloo = gloo

    def group_of(self, d, e):
        return self.of[d.rank, e["process_group"][0]]

    # ---- torchcomms numbers the collectives of the process ----

    def renumber(self):
        self.unsure = set()
        ours = False
        for d in self.dump.values():
            if not d.status:
                for a, b in zip(d.entries, d.entries[1:]):
                    if a["process_group"][0] != b["process_group"][0] and \
                            b["collective_seq_id"] == a["collective_seq_id"] + 1:
                        ours = True
                if d.entries and d.entries[0]["record_id"] == 0 and d.entries[0]["collective_seq_id"] == 0 \
                        and not d.entries[0]["p2p"]:
                    ours = True
        for d in self.dump.values():
            count = defaultdict(int)
            for e in d.entries:
                e["seq"] = e["collective_seq_id"]
                if ours:
                    group = self.group_of(d, e)
                    count[group] += not e["p2p"]
                    e["seq"] = count[group]
            if ours and not d.whole:
                self.unsure.add(d.rank)

    # ---- status of groups ----

    def read_status(self):
        sends = set()         # groups with sends or receives
        backends = defaultdict(set)
        shift = {}            # (rank, group) -> op_id - seq of the newest collective
        ids = defaultdict(set)
        for d in self.dump.values():
            for e in d.entries:
                group = self.group_of(d, e)
                ids[d.rank, e["pg_id"]].add(group)
                backends[group].add(e["backend"])
                backends[None].add(e["backend"])
                if e["p2p"] or e["p2p_seq_id"] > 0:
                    sends.add(group)
                if not e["p2p"]:
                    shift[d.rank, group] = e.get("op_id", 0) - e["collective_seq_id"]
        default_ids = {i for (r, i), groups in ids.items() for g in groups if is_default(g[0], self.desc[g])}
        self.status = {}      # (rank, group) -> enqueued, completed, both as numbers of collectives
        for d in self.dump.values():
            group_at = {i: next(iter(ids[d.rank, i])) for i in d.status if len(ids[d.rank, i]) == 1}
            names = list(d.config)
            if d.rank not in self.gloo and names and all(re.fullmatch("[0-9]+", n) for n in names) and \
                    len(names) == len(d.status):
                pairs = {i: self.of[d.rank, n] for i, n in zip(sorted(d.status), sorted(names, key=int))}
                if all(pairs[i] == g for i, g in group_at.items()):
                    group_at = pairs
            if len(default_ids) == 1:
                i = next(iter(default_ids))
                own = [g for (r, n), g in self.of.items() if r == d.rank and is_default(n, self.desc[g])]
                if i in d.status and i not in group_at and len(own) == 1 and own[0] not in group_at.values():
                    group_at[i] = own[0]
            for i, group in group_at.items():
                enqueued, _, completed = d.status[i]
                kinds = backends[group] or backends[None]
                if not kinds:
                    kinds = {"nccl"} if d.has_version else {"gloo"} if d.rank in self.gloo else {"hook"}
                if kinds <= DEVICES:
                    if group in sends:
                        continue
                    offset = 0
                else:
                    if kinds != {"gloo"} and group in sends:
                        continue
                    offset = shift.get((d.rank, group))
                    if offset is None:
                        others = {s for (r, g), s in shift.items() if g == group}
                        offset = others.pop() if len(others) == 1 else None
                    if offset is None and enqueued != -1:
                        continue
                self.status[d.rank, group] = (0 if enqueued == -1 else enqueued - offset,
                                              0 if completed == -1 else completed - (offset or 0),
                                              kinds == {"gloo"})

    # ---- how far each rank is ----

    def find_entered(self):
        self.at = defaultdict(lambda: defaultdict(list))   # (group, seq) -> rank -> entries
        self.entered = {}
        for d in self.dump.values():
            for e in d.entries:
                group = self.group_of(d, e)
                if not e["p2p"] and d.rank not in self.unsure:
                    self.at[group, e["seq"]][d.rank].append(e)
        for group, members in self.members.items():
            for q in members:
                if q not in self.dump:
                    continue
                d, best = self.dump[q], None
                for e in d.entries:
                    if self.group_of(d, e) == group and not (e["p2p"] and d.active_only):
                        best = max(best or 0, e["seq"])
                status = self.status.get((q, group))
                if status:
                    best = max(best or 0, status[0])
                if best is None and d.whole:
                    best = 0
                if q in self.unsure:
                    best = None
                self.entered[q, group] = best

    def known_op(self, group, seq):
        at = self.at.get((group, seq))
        return next(iter(at.values()))[0]["op"] if at else None

    def find_stale(self):
        self.stale = set()
        for group, members in self.members.items():
            for p in members & set(self.dump):
                done, ended = set(), set()
                for (g, s), at in self.at.items():
                    if g == group and p in at and all(needs_all(e["op"]) for e in at[p]):
                        if all(e["status"] == "done" for e in at[p]):
                            done.add(s)
                        elif all(e["status"] in ("ended", "done") for e in at[p]):
                            ended.add(s)
                lost = set()
                status = self.status.get((p, group))
                if status:
                    low = min([self.entered[q, group] for q in members
                               if q in self.dump and self.entered[q, group] is not None], default=0)
                    for s in range(low + 1, status[1] + 1):
                        op = self.known_op(group, s)
                        if p not in self.at.get((group, s), {}) and (op is None or needs_all(op)):
                            lost.add(s)
                    if status[2]:
                        ended |= lost
                    else:
                        done |= lost
                        for s in range(low + 1, status[1] + 1):
                            at = self.at.get((group, s), {})
                            if p in at and needs_all(at[p][0]["op"]):
                                done.add(s)
                for q in members & set(self.dump):
                    e = self.entered[q, group]
                    if q != p and e is not None:
                        if any(s > e for s in done) or sum(s > e for s in ended) >= 2:
                            self.stale.add(q)

    # ---- waiting operations ----

    def missing(self, r, group, seq, ended=False):
        absent = {q for q in self.members[group] if q not in self.dump}
        behind = {q for q in self.members[group] if q in self.dump and q != r and q not in self.stale
                  and self.entered[q, group] is not None and self.entered[q, group] < seq}
        return behind | absent if behind or not ended else set()

    def peer(self, d, e):
        """The rank that a send or receive is with, and whether it sends."""
        found = re.fullmatch(r"send (\d+)->(\d+)|recv (\d+)<-(\d+)", e["op"])
        if not found:
            return None, None
        sends = found.group(1) is not None
        place = int(found.group(2) or found.group(4))
        group = self.group_of(d, e)
        ranks = group[1] if group[1] is not None else sorted(self.members[group])
        if group[1] is None and not self.known[group]:
            return None, sends
        return (ranks[place] if place < len(ranks) else None), sends

    def find_waiting(self):
        self.waits = defaultdict(list)  # rank -> [(place, group, seq or None, entry or None, set of missing)]
        self.no_peer, self.used_issued, self.lost, self.older_lost = set(), set(), set(), set()
        self.proof = set()
        for d in self.dump.values():
            for e in d.entries:
                group = self.group_of(d, e)
                if d.rank in self.unsure and not e["p2p"]:
                    if e["status"] in ("pending", "failed"):
                        self.waits[d.rank].append((e["place"], group, None, e, set()))
                elif e["p2p"]:
                    if e["status"] in ("pending", "failed"):
                        self.add_p2p(d, e, group)
                elif e["status"] in ("pending", "failed"):
                    self.waits[d.rank].append((e["place"], group, e["seq"], e, self.missing(d.rank, group, e["seq"])))
                elif e["status"] == "ended" and needs_all(e["op"]):
                    gone = self.missing(d.rank, group, e["seq"], True)
                    if gone:
                        self.waits[d.rank].append((e["place"], group, e["seq"], e, gone))
                        self.proof.add("ended_without_all")
                elif e["status"] == "issued" and e is d.entries[-1]:
                    gone = self.missing(d.rank, group, e["seq"])
                    if gone:
                        self.waits[d.rank].append((e["place"], group, e["seq"], e, gone))
                        if e["backend"] not in DEVICES | {"gloo"}:
                            self.used_issued.add(d.rank)
                if e["status"] == "failed":
                    self.proof.add("timed_out")
            for (rank, group), (enqueued, completed, is_gloo) in self.status.items():
                if rank != d.rank or not self.records_completion(group):
                    continue
                if not is_gloo and completed < enqueued and rank not in self.at.get((group, completed + 1), {}):
                    self.older_lost.add(rank)
                for s in range(completed + 1, enqueued + 1):
                    gone = self.missing(rank, group, s)
                    if gone and rank not in self.at.get((group, s), {}):
                        self.waits[rank].append((-1, group, s, None, gone))
                        self.lost.add(rank)
                        break

    def records_completion(self, group):
        hook = any(e["backend"] not in DEVICES and e["backend"] != "gloo" for d in self.dump.values()
                   for e in d.entries if self.group_of(d, e) == group)
        return not hook or any(s[1] > 0 for (r, g), s in self.status.items() if g == group)

    def add_p2p(self, d, e, group):
        q, sends = self.peer(d, e)
        if q is None:
            self.no_peer.add(d.rank)
            self.waits[d.rank].append((e["place"], group, None, e, set()))
            return
        gone = set()
        if q not in self.dump:
            gone = {q}
        else:
            other = self.dump[q]
            mine = [x for x in d.entries if self.group_of(d, x) == group and x["p2p"]
                    and self.peer(d, x) == (q, sends)]
            theirs = [x for x in other.entries if self.group_of(other, x) == group and x["p2p"]
                      and self.peer(other, x) == (d.rank, not sends)]
            if not (d.whole and other.whole):
                mine = [x for x in mine if x["status"] in ("pending", "failed")]
                theirs = [x for x in theirs if x["status"] in ("pending", "failed")]
            k = next(i for i, x in enumerate(mine) if x is e)
            if k >= len(theirs):
                gone = {q} - self.stale
            else:
                e["partner"] = (q, theirs[k])
        self.waits[d.rank].append((e["place"], group, None, e, gone))

    # ---- the graph ----

    def find_edges(self):
        self.edges = defaultdict(set)
        for r, ops in self.waits.items():
            for _, _, _, _, gone in ops:
                self.edges[r] |= gone
        self.find_stopped()
        waits_at = {}      # rank -> least place of an operation that waits for someone
        for r, ops in self.waits.items():
            for place, _, _, _, gone in ops:
                if gone:
                    waits_at[r] = min(waits_at.get(r, place), place)
        self.all_edges = {r: set(q) for r, q in self.edges.items()}
        for r, ops in self.waits.items():
            if r in self.stopped:
                continue
            for _, group, seq, e, gone in ops:
                if gone:
                    continue
                if seq is not None:
                    held = [(q, x[0]) for q, x in self.at.get((group, seq), {}).items()]
                else:
                    held = [e["partner"]] if "partner" in e else []
                for q, x in held:
                    if q != r and x["backend"] in DEVICES and x["status"] in ("pending", "failed"):
                        if q in self.stopped or waits_at.get(q, 1 << 60) < x["place"]:
                            self.all_edges.setdefault(r, set()).add(q)

    def has_done(self, p, group, seq):
        at = self.at.get((group, seq), {})
        status = self.status.get((p, group))
        return (p in at and all(e["status"] == "done" for e in at[p])) or \
            (status is not None and not status[2] and status[1] >= seq)

    def find_stopped(self):
        self.stopped = {}    # rank -> (first entry, lag)
        for d in self.dump.values():
            if d.rank in self.stale or d.rank in self.unsure:
                continue
            late = [e for e in d.entries if not e["p2p"] and e["status"] == "pending" and needs_all(e["op"])
                    and any(self.has_done(p, self.group_of(d, e), e["seq"]) for p in
                            self.members[self.group_of(d, e)] if p != d.rank and p in self.dump)]
            if len(late) >= 2:
                self.stopped[d.rank] = (late[0], len(late))

    def reach(self, targets):
        """Ranks with an edge into TARGETS, and the others that reach it."""
        targets = set(targets)
        direct = {r for r, q in self.all_edges.items() if q & targets} - targets
        return direct, self.reach_all(direct | targets) - direct - targets

    def reach_all(self, targets):
        seen, grown = set(targets), True
        while grown:
            more = {r for r, q in self.all_edges.items() if q & seen} - seen
            grown = bool(more)
            seen |= more
        return seen

    # ---- mismatches ----

    def find_mismatches(self):
        self.mismatch = {}    # group -> (seq, class, minority, between, entered)
        for group, seq in sorted(self.at, key=lambda k: (str(k[0]), k[1])):
            if group in self.mismatch:
                continue
            at = self.at[group, seq]
            shape = {r: [compared(e) for e in es] for r, es in at.items()}
            for kind, parts in (("op", (0,)), ("dtype", (1,)), ("size", (2, 3))):
                ranks = sorted(shape)
                if all(fits(shape[a], shape[b], parts) for a in ranks for b in ranks):
                    continue
                if all(e["status"] == "done" for es in at.values() for e in es):
                    break
                if all(self.entered.get((r, group)) is not None and self.entered[r, group] > seq for r in ranks) and \
                        not any(e["status"] in ("pending", "failed") for es in at.values() for e in es):
                    break
                entered = {r for r in self.members[group] if r in at or
                           (self.entered.get((r, group)) or 0) >= seq}
                best = max(ranks, key=lambda r: (sum(shape_key(shape[q], parts) == shape_key(shape[r], parts)
                                                     for q in ranks), -r))
                major = {r for r in ranks if shape_key(shape[r], parts) == shape_key(shape[best], parts)}
                minority = {r for r in ranks if not fits(shape[r], shape[best], parts)}
                if 2 * len(major) <= len(entered):
                    minority = set()
                if kind == "op" and minority and all(self.swapped(group, seq, r, major) for r in minority):
                    kind = "order"
                self.mismatch[group] = (seq, "mismatch_" + kind, minority, set() if minority else entered, entered)
                break

    def swapped(self, group, seq, r, major):
        mine, theirs = self.at[group, seq][r][0]["op"], self.at[group, seq][min(major)][0]["op"]
        for k in range(1, 5):
            at = self.at.get((group, seq + k), {})
            ops = {at[m][0]["op"] for m in major if m in at}
            if ops == {mine} and r in at and at[r][0]["op"] == theirs:
                return True
        return False

    # ---- causes ----

    def name_operation(self, q):
        """The operation that is named for Q, which others wait for."""
        ops = {}      # key -> [missing, earliest time, places by rank]
        for r, waits in self.waits.items():
            for place, group, seq, e, gone in waits:
                if q not in gone:
                    continue
                key = (group, seq) if seq is not None else (group, None, r, e["place"])
                op = ops.setdefault(key, [set(gone), None, {}])
                if e and (op[1] is None or e["time_created_ns"] < op[1]):
                    op[1] = e["time_created_ns"]
                op[2][r] = min(place, op[2].get(r, place))
        if any(k[1] is not None for k in ops):
            ops = {k: v for k, v in ops.items() if k[1] is not None}
        first = {k: v for k, v in ops.items()
                 if not any(r in o[2] and o[2][r] < p for o in ops.values() for r, p in v[2].items())}
        pick = first or ops
        return min(pick, key=lambda k: (len(pick[k][0]), pick[k][1] is None, pick[k][1] or 0, k[0][0],
                                        k[1] or 0, k[2:])) if pick else None

    def find_causes(self):
        self.causes = []
        self.doubt = defaultdict(set)
        waited = set().union(*self.all_edges.values()) if self.all_edges else set()
        sinks = {q for q in waited if not self.all_edges.get(q)}
        in_mismatch = {r for g, (s, _, _, _, entered) in self.mismatch.items() for r in entered}
        for group, (seq, kind, minority, between, entered) in self.mismatch.items():
            direct = entered - minority
            self.add(kind, minority, between, group, seq, None, direct,
                     self.reach_all(direct | minority) - direct - minority)
            self.proof.add("mismatch")
        by_op = defaultdict(set)
        for q in sinks:
            if q not in self.dump:
                by_op["no_dump", self.name_operation(q)].add(q)
            elif q in self.stopped or q in in_mismatch:
                pass
            elif not self.waits.get(q):
                by_op["never_entered", self.name_operation(q)].add(q)
            else:
                failed = [e for e in self.dump[q].entries if e["status"] == "failed" and not e["p2p"] and any(
                    self.has_done(p, self.group_of(self.dump[q], e), e["seq"])
                    for p in self.members[self.group_of(self.dump[q], e)] if p != q and p in self.dump)]
                if failed:
                    by_op["failed_before", (self.group_of(self.dump[q], failed[0]), failed[0]["seq"])].add(q)
                else:
                    self.doubt["entered_by_all_and_pending"].add(q)
        for q, (e, lag) in self.stopped.items():
            by_op["device_stopped", (self.group_of(self.dump[q], e), e["seq"])].add(q)
            if self.edges.get(q):
                self.doubt["waits_itself"].add(q)
        for (kind, key), ranks in by_op.items():
            direct, indirect = self.reach(ranks)
            if len(key) > 2:
                op = self.dump[key[2]].entries[key[3]]["op"]
            else:
                op = self.known_op(*key)
            self.add(kind, ranks, set(), key[0], key[1], op, direct, indirect)
        self.find_in_flight()
        self.find_deadlocks()
        self.find_short_rings()

    def add(self, kind, ranks, between, group, seq, op, direct, indirect):
        self.causes.append({"class": kind, "ranks": sorted(ranks), "between": sorted(between),
                            "group": group[0] if group else None, "desc": self.desc[group] if group else None,
                            "seq": seq, "op": op, "direct": sorted(direct), "indirect": sorted(indirect)})

    def find_in_flight(self):
        for (group, seq), at in sorted(self.at.items(), key=lambda k: (str(k[0][0]), k[0][1])):
            members = self.members[group]
            pending = {r for r, es in at.items() if any(e["status"] == "pending" for e in es)}
            if not pending or not members <= set(self.dump):
                continue
            if any(self.entered[q, group] is None or self.entered[q, group] < seq for q in members):
                continue
            if not self.known[group]:
                self.doubt["members_unknown"] |= set()
            if members & self.stale or members & set(self.stopped):
                continue
            if group in self.mismatch and self.mismatch[group][0] <= seq:
                continue
            first = {r: min(e["place"] for e in at[r]) for r in pending}
            if any(place < first[r] for r in pending for place, _, _, _, _ in self.waits[r]) or \
                    pending & self.older_lost:
                continue
            idle = {r for r in pending if not any(e["state"] == "started" for e in at[r])}
            op = self.known_op(group, seq)
            if pending - idle and idle and 2 * len(idle) < len(pending):
                direct = pending - idle
                self.add("not_started", idle, set(), group, seq, op, direct,
                         self.reach_all(direct | idle) - direct - idle)
            else:
                self.add("in_flight", set(), pending, group, seq, op, pending, self.reach(pending)[1])

    def find_deadlocks(self):
        reach = {}
        for r in self.edges:
            seen, todo = set(), [r]
            while todo:
                for q in self.edges.get(todo.pop(), ()):
                    if q not in seen:
                        seen.add(q)
                        todo.append(q)
            reach[r] = seen
        found = set()
        for r in sorted(reach):
            ring = frozenset(q for q in reach[r] if r in reach.get(q, ())) if r in reach[r] else frozenset()
            if len(ring) < 2 or ring in found or reach[r] - ring:
                continue
            found.add(ring)
            ops = defaultdict(set)
            for q in ring:
                own = min((w for w in self.waits[q] if w[4] & ring), key=lambda w: w[0])
                ops[own[1], own[2] if own[2] is not None else "p2p %d %d" % (q, own[0])].add(q)
            kind, ranks = "deadlock", set()
            big = max(ops.values(), key=len)
            if all(isinstance(k[1], int) for k in ops) and len({frozenset(self.members[k[0]]) for k in ops}) == 1 \
                    and 2 * len(big) > len(ring):
                kind, ranks = "deadlock_order", ring - big
            direct = set(ring) - ranks
            self.add(kind, ranks, ring, None, None, None, direct, self.reach_all(ring) - ring)
            self.proof.add("deadlock")

    def find_short_rings(self):
        named = set().union(*[set(c["ranks"]) | set(c["between"]) for c in self.causes]) if self.causes else set()
        for r, waits in self.waits.items():
            for _, group, seq, _, _ in waits:
                if seq is not None:
                    self.doubt["ring_too_short"] |= {q for q in self.members[group] if q in self.dump
                                                     and self.entered[q, group] is None and q not in self.unsure}
        by_op = defaultdict(set)
        for q in self.ranks:
            if self.all_edges.get(q) or self.waits.get(q) or q in named:
                continue
            ops = {(group, seq) for r, waits in self.waits.items() if not self.all_edges.get(r)
                   for _, group, seq, _, _ in waits
                   if seq is not None and q in self.members[group] and self.entered[q, group] is None}
            if ops:
                by_op[min(ops, key=lambda k: (self.first_time(k), str(k[0]), k[1]))].add(q)
        for key, ranks in by_op.items():
            direct = {r for r, waits in self.waits.items() if any((g, s) == key for _, g, s, _, _ in waits)} - ranks
            self.add("ring_too_short", ranks, set(), key[0], key[1], self.known_op(*key), direct,
                     self.reach_all(direct | ranks) - direct - ranks)
        self.doubt["ring_too_short"] |= self.lost | self.older_lost

    def first_time(self, key):
        times = [e["time_created_ns"] for es in self.at.get(key, {}).values() for e in es]
        return min(times, default=1 << 62)

    STAMPS = "time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"

    def clock_errors(self):
        """By rank, how much its clock is ahead: the smallest of its differences to the lower median of a collective, if all have one sign."""
        apart = defaultdict(list)
        for (group, _), ranks in self.at.items():
            begins = {rank: entries[0]["time_created_ns"] for rank, entries in ranks.items() if entries[0].get("time_created_ns")}
            if len(begins) >= min(3, self.world) and self.members[group] & self.dump.keys() <= begins.keys():
                middle = sorted(begins.values())[(len(begins) - 1) // 2]
                for rank, begin in begins.items():
                    apart[rank].append(begin - middle)
        return {rank: min(all_of, key=abs) for rank, all_of in apart.items()
                if len(all_of) >= 3 and (min(all_of) > 0 or max(all_of) < 0)}

    def is_over_timeout(self, errors):
        latest = max((e[k] - errors.get(rank, 0) for rank, d in self.dump.items() for e in d.entries for k in self.STAMPS if e.get(k)), default=0)
        return any(e.get("timeout_ms") and latest - e["time_created_ns"] + errors.get(rank, 0) >= e["timeout_ms"] * 1000000
                   for rank, d in self.dump.items() if rank not in self.stale for e in d.entries if e["status"] == "pending")

    # ---- the verdict ----

    def judge(self):
        if self.is_over_timeout({}) and self.is_over_timeout(self.clock_errors()):
            self.proof.add("over_timeout")
        no_dump = set(range(self.world)) - set(self.dump)
        doubt, self.spared = self.doubt, set()
        doubt["no_dump"] = no_dump
        doubt["snapshots_differ"] = set(self.stale)
        doubt["peer_unknown"] = self.no_peer
        doubt["completion_not_recorded"] = self.used_issued
        doubt["sequence_unsure"] = self.unsure
        over = any(e["status"] in ("done", "ended", "issued") for d in self.dump.values() if not d.odd_state for e in d.entries)
        doubt["no_entries"] = {q for q, d in self.dump.items() if d.silent and (over or not d.listed)}
        doubt["version_unknown"] = {q for q, d in self.dump.items() if not d.version.startswith("2.")}
        doubt["several_runs"] = set(self.dump) if self.several_runs else set()
        if self.several_runs:
            self.proof &= {"timed_out"}
        doubt["state_unknown"] = {q for q, d in self.dump.items() if d.odd_state}
        for c in self.causes:
            if c["class"] == "never_entered":
                for q in c["ranks"]:
                    entries = self.dump[q].entries
                    if any(e["backend"] == "gloo" and e["op_id"] > e["collective_seq_id"] for e in entries):
                        doubt["p2p_not_recorded"].add(q)
                    if c["seq"] is not None and self.usually_last(q, c):
                        doubt["usually_last"].add(q)
                    if c["seq"] is not None and self.only_issued(q, c):
                        self.spared.add(q)
        if self.spared:     # no picture of one moment
            self.spared |= {q for c in self.causes if c["class"] == "never_entered" and c["seq"] is not None
                            for q in c["ranks"] if self.only_issued(q, c, 0)}
        named = {r for c in self.causes if c["class"] in CULPRIT_CLASSES for r in c["ranks"]}
        spared = self.spared | doubt["p2p_not_recorded"] | doubt["no_entries"] | doubt["several_runs"] | doubt["version_unknown"] | (set() if self.proof else doubt["usually_last"])
        self.culprits = named - spared
        self.suspects = (named & spared) | {r for c in self.causes if c["class"] in ("no_dump", "ring_too_short")
                                            for r in c["ranks"]}
        self.suspects -= self.culprits
        if self.proof:
            self.state = "stuck"
        elif self.causes:
            self.state = "waiting"
        elif self.stale:
            self.state = "moving"
        elif any(self.waits.values()):
            self.state = "waiting"
        else:
            self.state = "clean"
        self.members_unknown = any(
            not self.known[g] and self.members[g] <= set(self.dump)
            and any(e["status"] == "pending" for es in at.values() for e in es)
            and all((self.entered[q, g] or 0) >= s for q in self.members[g])
            for (g, s), at in self.at.items())

    def only_issued(self, q, cause, apart=1):
        """Others are several operations further, of which it is not known that they are over: is Q's dump older?"""
        group = next(g for g in self.members if g[0] == cause["group"] and q in self.members[g])
        waits = [w for ws in self.waits.values() for w in ws if w[1] == group and w[2] == cause["seq"]]
        return cause["seq"] > self.entered[q, group] + apart and all(w[3] and w[3]["status"] == "issued" for w in waits)

    def usually_last(self, q, cause):
        group = next(g for g in self.members if g[0] == cause["group"] and q in self.members[g])
        gaps = []
        for s in range(cause["seq"] - 1, -1, -1):
            at = self.at.get((group, s), {})
            if s < min([k[1] for k in self.at if k[0] == group], default=0) or len(gaps) == 3:
                break
            if set(at) != self.members[group] or len(at) < 2:
                continue
            time = {r: es[0]["time_created_ns"] for r, es in at.items()}
            rest = max(t for r, t in time.items() if r != q)
            if time[q] <= rest:
                return False
            gaps.append(time[q] - rest)
        return len(gaps) == 3 and sorted(gaps)[1] >= 50000000

    def line(self, q):
        if q not in self.dump or not self.dump[q].entries:
            return None
        for f in self.dump[q].entries[-1].get("frames") or []:
            file = f["filename"]
            if not ("/torch/" in file or "/torchcomms/" in file or "runpy" in file or file.startswith("<")):
                return "%s:%d" % (file, f["line"])
        return None

    def groups(self):
        out = []
        for group, members in self.members.items():
            known = {q: self.entered[q, group] for q in members if q in self.dump and
                     self.entered[q, group] is not None}
            if not known or max(known.values()) == 0:
                continue
            common = min(known.values())
            out.append({"group": group[0], "desc": self.desc[group], "size": len(members), "last_common": common,
                        "last_entered": max(known.values()),
                        "behind": sorted(q for q in known if known[q] < max(known.values())),
                        "unknown": sorted(q for q in members if q in self.dump and q not in known)})
        return out

    def result(self):
        doubts = [{"kind": k, "ranks": sorted(v)} for k, v in sorted(self.doubt.items()) if v]
        if self.members_unknown:
            doubts.append({"kind": "members_unknown", "ranks": []})
        return {"job": self.name, "state": self.state, "proof": sorted(self.proof), "ranks": len(self.ranks),
                "world": self.world, "culprits": sorted(self.culprits), "suspects": sorted(self.suspects),
                "causes": self.causes, "groups": self.groups(), "doubts": sorted(doubts, key=lambda d: d["kind"]),
                "waits": sorted([r, q] for r, qs in self.all_edges.items() for q in qs),
                "lines": {str(r): self.line(r) for r in self.ranks}}


def shape_key(shape, parts):
    return [tuple(x[p] for p in parts) for x in shape]


def one_run(dumps):
    """The dumps of the run that most are of, those of others, and whether none has most."""
    apart = 600 * 10**9
    newest = {d: max(e["time_created_ns"] for e in d.entries) for d in dumps if d.entries}
    if not newest:
        return dumps, [], False
    middle = sorted(newest.values())[(len(newest) - 1) // 2]
    far = {d for d, t in newest.items() if abs(t - middle) >= apart}
    times = defaultdict(list)
    for d in dumps if far else []:
        for e in d.entries:
            if not e["p2p"]:
                name = e["process_group"][0]
                times[name, d.config.get(name, ("", ()))[1], e["collective_seq_id"]].append((e["time_created_ns"], d))
    joined = set()
    for same in times.values():
        near = sorted(t for t, d in same if d not in far)
        if near:
            joined |= {d for t, d in same if abs(t - near[(len(near) - 1) // 2]) < apart}
    far -= joined
    near = len(newest) - len(far)
    if far and 2 * near > len(newest):
        return [d for d in dumps if d not in far], sorted(far, key=lambda d: d.rank), False
    return dumps, [], bool(far)


def find_jobs(folders):
    files = []
    for folder in folders:
        for root, _, names in os.walk(folder):
            files += [os.path.join(root, n) for n in sorted(names)]
    dumps, broken = [], []
    for path in files:
        try:
            dump = Dump(path, content(path))
        except Exception:
            prefix, rank = name_parts(path)
            start = open(path, "rb").read(4096)
            sure = start[:1] in (b"\x80", b"{") and any(w in start for w in TELLING)
            if rank is not None:
                broken.append((os.path.dirname(path), prefix, rank, sure))
            continue
        if dump.rank is not None:
            dumps.append(dump)
    both = {(d.folder, d.prefix, d.rank) for d in dumps if not d.path.endswith(".json")}
    dumps = [d for d in dumps if not d.path.endswith(".json") or (d.folder, d.prefix, d.rank) not in both]
    copies = [d for d in dumps if d.told and any(d.told == o.told and d.rank != o.rank for o in dumps)]
    strangers = [d for d in dumps if any(n and ranks and d.rank not in ranks and
                                         (not d.entries or any(e["process_group"][0] == n for e in d.entries))
                                         for n, (_, ranks) in d.config.items())]
    broken += [(d.folder, d.prefix, d.rank, True) for d in copies + strangers]
    dumps = [d for d in dumps if d not in copies and d not in strangers]
    have = {(d.folder, d.prefix, d.rank) for d in dumps}
    beside = {h[:2] for h in have}
    broken = [b[:3] for b in broken if b[:3] not in have and (b[3] or b[:2] in beside)]

    def split(part, key, name):
        ranks = [d.rank for d in part]
        if len(ranks) == len(set(ranks)) or key == 2:
            part, others, several = one_run(part)
            broken.extend((d.folder, d.prefix, d.rank) for d in others)
            lost = {r for f, p, r in broken if key == 0 or any(d.folder == f and (key == 1 or d.prefix == p)
                                                               for d in part)} - {d.rank for d in part}
            return [Job(name, part, lost, several)]
        jobs, sets = [], defaultdict(list)
        for d in part:
            sets[d.folder if key == 0 else d.prefix].append(d)
        for k in sorted(sets):
            jobs += split(sets[k], key + 1, os.path.relpath(k, os.path.commonpath(folders)) if key == 0 else
                          os.path.join(name, k) if name not in ("", ".") else k)
        return jobs
    return split(dumps, 0, "") if dumps else []


if __name__ == "__main__":
    print(json.dumps([job.result() for job in find_jobs(sys.argv[1:])], indent=1))
