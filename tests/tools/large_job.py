#!/usr/bin/env python3
"""A timeline of a large job with a pipeline, for the test of speed and memory of tpa job.

    large_job.py FILE [RANKS [STEPS [MICROBATCHES]]]      1,000 ranks, 40 steps of 16 microbatches: 3.7 million operations

1F1B of 8 stages; the other ranks are replicas. Lengths vary by 1 %; rank 3 of replica 5 takes half as much again.
"""
import random
import sys

STAGES = 8
FORWARD, BACKWARD, TRANSFER, SLOW = 1000.0, 2000.0, 20.0, (5, 3)


def order(stage, microbatches):
    """The computations of a stage: (is backward, microbatch)."""
    ahead = min(STAGES - 1 - stage, microbatches)
    actions = [(False, m) for m in range(ahead)]
    for m in range(microbatches - ahead):
        actions += [(False, m + ahead), (True, m)]
    return actions + [(True, m) for m in range(microbatches - ahead, microbatches)]


def play(orders, microbatches, length):
    """Start and end of each computation of a pipeline, by stage in order."""
    done, at, free, out = {}, [0] * STAGES, [0.0] * STAGES, [[] for _ in range(STAGES)]
    moved = True
    while moved:
        moved = False
        for stage in range(STAGES):
            while at[stage] < 2 * microbatches:
                backward, m = orders[stage][at[stage]]
                source = stage + (1 if backward else -1)
                if 0 <= source < STAGES:
                    if (backward, m, source) not in done:
                        break
                    ready = done[backward, m, source] + TRANSFER
                else:
                    ready = done[False, m, stage] if backward else 0.0
                start = max(ready, free[stage])
                free[stage] = done[backward, m, stage] = start + length(stage, backward)
                out[stage].append((backward, m, start, free[stage]))
                at[stage] += 1
                moved = True
    return out


def main():
    ranks, steps, microbatches = (int(v) for v in (sys.argv[2:] + ["1000", "40", "16"][len(sys.argv) - 2:])[:3])
    chance = random.Random(1)
    orders = [order(stage, microbatches) for stage in range(STAGES)]
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("[")
        for rank in range(ranks):
            dp, pp = divmod(rank, STAGES)
            for i, kind in enumerate(("compute", "pp-comm", "tp-comm", "dp-comm", "misc")):
                file.write(f'{{"name":"thread_name","pid":{dp},"tid":{5 * rank + i},"ph":"M","args":{{"name":"PP rank {pp}, TP rank 0, {kind}"}}}},\n')
            file.write(f'{{"name":"process_name","pid":{dp},"ph":"M","args":{{"name":"DP rank [{dp}]"}}}},\n')

        def add(rank, track, name, start, end, step, number, microbatch):
            file.write(f'{{"name":"{name}","cat":"{name}","ph":"X","pid":{rank // STAGES},"tid":{5 * rank + track},"ts":{start:.3f},"dur":{end - start:.3f},'
                       f'"args":{{"step":{step},"seq_id":{number},"mb_id":{microbatch},"model_chunk":null}}}},\n')

        begin = 0.0
        for step in range(steps):
            latest = begin
            for dp in range(ranks // STAGES):
                def length(stage, backward):
                    return (BACKWARD if backward else FORWARD) * chance.uniform(0.99, 1.01) * (1.5 if (dp, stage) == SLOW else 1)
                for stage, computed in enumerate(play(orders, microbatches, length)):
                    rank, count = dp * STAGES + stage, {}
                    for backward, m, start, end in computed:
                        start, end, way = start + begin, end + begin, "backward" if backward else "forward"
                        add(rank, 0, way + "-compute", start, end, step, count.setdefault(way, 0), m)
                        count[way] += 1
                        source, target = (STAGES - 1, 0) if backward else (0, STAGES - 1)
                        if stage != target:
                            number = count[way + "s"] = count.get(way + "s", -1) + 1
                            add(rank, 1, way + "-send", end, end + TRANSFER, step, number, m)
                        if stage != source:
                            number = count[way + "r"] = count.get(way + "r", -1) + 1
                            add(rank, 1, way + "-recv", start - TRANSFER, start, step, number, m)
                        latest = max(latest, end)
            for rank in range(ranks // STAGES * STAGES):
                add(rank, 3, "grads-reduce-scatter", latest, latest + 500, step, 0, -1)
                add(rank, 4, "optimizer", latest + 500, latest + 700, step, 0, -1)
            begin = (latest + 700) * 1.1
        file.write('{"name":"process_name","pid":0,"ph":"M","args":{"name":"DP rank [0]"}}]\n')


if __name__ == "__main__":
    main()
