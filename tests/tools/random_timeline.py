#!/usr/bin/env python3
"""A random memory timeline in the two forms that PyTorch's export_memory_timeline() writes.

    random_timeline.py SEED FOLDER    writes FOLDER/timeline.raw.json and FOLDER/timeline.json, of one run

The seed also draws what a run may lack (blocks from before recording, frees, any event at all), whether several things happen in one
microsecond or in one nanosecond, and how often memory turns out to be of another category.
"""

import json
import os
import random
import sys

BEFORE, ALLOCATE, CHANGE, FREE = 1, 2, 3, 4
CATEGORIES = 8


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.blocks = []  # [bytes, category] of those in use
        self.raw = []  # [time, action, bytes, category]
        self.at = self.random.choice([0, 1, 999, 1_700_000_000_000_000_000])
        self.tick = self.random.choice([0, 1, 300, 2_000, 5_000_000])  # ns between changes, at most

    def pick(self, *choices):
        return self.random.choice(choices)

    def size(self):
        return self.pick(0, 1, 512, self.random.randint(1, 40) * 512, self.random.randint(1, 1 << 33))

    def events(self):
        """What the profiler saw, by time."""
        for _ in range(self.pick(0, 0, 1, 12)):
            self.blocks.append([self.size(), self.pick(0, 1, 2, 5)])
            self.raw.append([-1, BEFORE, *self.blocks[-1]])
        for _ in range(self.pick(0, 1, 8, 60, 300)):
            self.at += self.random.randint(0, self.tick)
            draw = self.random.random()
            if draw < 0.5 or not self.blocks:
                self.blocks.append([self.size(), self.random.randrange(CATEGORIES)])
                self.raw.append([self.at, ALLOCATE, *self.blocks[-1]])
            elif draw < 0.65:  # it turns out to be of another category, which is a change of each
                block = self.pick(*self.blocks)
                self.raw.append([self.at, CHANGE, -block[0], block[1]])
                block[1] = self.random.randrange(CATEGORIES)
                self.raw.append([self.at, CHANGE, *block])
            else:
                size, category = self.blocks.pop(self.random.randrange(len(self.blocks)))
                self.raw.append([self.at, FREE, -size, category])
        return self.raw

    def curves(self):
        """The same as bytes in use of each category from each microsecond on; what was there before is at the first one."""
        known = [e[0] // 1000 for e in self.raw if e[0] >= 0]
        times, sizes = [], []
        for at, _, size, category in self.raw:
            at = -1 if at < 0 else at // 1000
            if not times or at != times[-1]:
                times.append(at)
                sizes.append(list(sizes[-1]) if sizes else [0] * (CATEGORIES + 1))
            sizes[-1][category + 1] += size
        return [[min(known, default=-1) if at < 0 else at for at in times], sizes]


def write(seed, folder):
    """The paths of both forms."""
    maker = Maker(seed)
    paths = [os.path.join(folder, name) for name in ("timeline.raw.json", "timeline.json")]
    for path, document in zip(paths, (maker.events(), maker.curves())):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(document, f)
    return paths


if __name__ == "__main__":
    print(*write(int(sys.argv[1]), sys.argv[2]), sep="\n")
