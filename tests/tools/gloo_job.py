"""Jobs of ranks on CPUs, which communicate by gloo, in their steady state: what one of them loads slowly, all wait for.

    documents, step = gloo_job.simulate(plan)                  # of one rank each, as torch.profiler writes them
    _, then = gloo_job.simulate(plan, even=True)               # microseconds of a step if no rank loads slowly

Each rank loads a batch, runs its operators, issues a few all_reduces while it runs those of the backward pass, and goes on when the
thread of gloo, which does one after the other, is done with all of them. Nothing is recorded while it waits.
"""
import random

STEPS, RECORDED = 12, range(3, 11)


class Plan:
    """Times are in microseconds."""

    def __init__(self, seed):
        chance = random.Random(f"gloo {seed}")
        self.seed = seed
        self.ranks = chance.choice([2, 2, 3, 4])
        self.slow = chance.randrange(self.ranks)
        self.count, self.operator = chance.randint(5, 30), chance.uniform(100, 800)  # of each pass
        self.load = chance.uniform(0.02, 0.3) * self.count * self.operator
        self.slower = chance.uniform(2, 8)
        self.buckets = chance.randint(1, 4)
        self.transfer = chance.uniform(0.02, 0.3) * self.count * self.operator / self.buckets
        self.jitter = chance.choice([0, 0.02, 0.1])
        self.loader = chance.choice(["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                     "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "load_batch"])
        self.one_host = chance.random() < 0.5

    def vary(self, value, *of):
        """The same in each simulation of the plan."""
        return value * (1 + self.jitter * random.Random(f"{self.seed} {of}").uniform(-1, 1))


class Rank:
    def __init__(self, plan, number):
        self.plan, self.number, self.now, self.free = plan, number, 1000.0 * number, 0.0
        self.step, self.begins, self.events = 0, [], []

    def add(self, category, name, start, end, tid=1):
        if self.step in RECORDED:
            self.events.append({"ph": "X", "cat": category, "name": name, "pid": 100 + self.number, "tid": tid, "ts": round(start, 3),
                                "dur": round(end - start, 3), "args": {}})

    def run(self, category, name, duration, pause=3.0):
        self.add(category, name, self.now, self.now + duration)
        self.now += duration + pause

    def passes(self, even):
        """The moments at which it issued its all_reduces."""
        plan, issued = self.plan, []
        self.begins.append(self.now)
        slower = plan.slower if self.number == plan.slow and not even else 1
        self.run("user_annotation", plan.loader, plan.vary(plan.load * slower, "load", self.step, self.number), 5)
        for index in range(plan.count):
            self.run("cpu_op", "aten::mm", plan.vary(plan.operator, "forward", self.step, self.number, index))
        for bucket in range(plan.buckets):
            for index in range(plan.count // plan.buckets):
                self.run("cpu_op", "aten::mm", plan.vary(plan.operator, "backward", self.step, self.number, bucket, index))
            self.run("cpu_op", "c10d::allreduce_", 20, 2)
            issued.append(self.now - 4)
        return issued

    def finish(self):
        self.now = max(self.now, self.free + 3)
        begin = self.now
        self.now += 5
        self.run("cpu_op", "aten::add_", 45, 10)
        self.add("user_annotation", "Optimizer.step#SGD.step", begin, self.now)
        self.now += 10
        self.add("user_annotation", f"ProfilerStep#{self.step}", self.begins[-1], self.now)
        self.now += 6


def simulate(plan, even=False):
    ranks = [Rank(plan, number) for number in range(plan.ranks)]
    for step in range(STEPS):
        for rank in ranks:
            rank.step = step
        issued = [rank.passes(even) for rank in ranks]
        for bucket in range(plan.buckets):
            starts = [max(moments[bucket] + 10, rank.free) for rank, moments in zip(ranks, issued)]
            end = max(starts) + plan.vary(plan.transfer, "transfer", step, bucket)
            for rank, start in zip(ranks, starts):
                rank.free = end + 2 * rank.number + 5
                rank.add("user_annotation", "gloo:all_reduce", start, rank.free - 5, 50)
        for rank in ranks:
            rank.finish()
    info = {"backend": "gloo", "world_size": plan.ranks, "pg_count": 1, "pg_config": [
        {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo", "pg_size": plan.ranks, "ranks": list(range(plan.ranks))}]}
    host = {"host_name": "node7", "baseTimeNanoseconds": 1_700_000_000_000_000_000} if plan.one_host else {}
    documents = [{"schemaVersion": 1, "distributedInfo": {**info, "rank": rank.number}, "traceEvents": rank.events, **host} for rank in ranks]
    begins = ranks[0].begins
    return documents, (begins[RECORDED.stop - 1] - begins[RECORDED.start]) / (len(RECORDED) - 1)
