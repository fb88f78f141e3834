"""What tpa memory must say of a memory timeline: slow, simple, apart from tpa.

    timeline = reference_timeline.Timeline(path)
    timeline.peaks()         [{"peak_allocated": 12800, ...}]
    timeline.categories()    what it is used for

Written from docs/definitions.md and docs/formats.md. Each figure adds up all records anew.
"""

import json

CATEGORIES = ("parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail", "unknown")
BEFORE, ALLOCATE, CHANGE, FREE = 1, 2, 3, 4


def total(sizes):
    return None if sizes is None else sum(sizes)


class Record:
    def __init__(self, at, action, size, category):
        self.at, self.action, self.size, self.category = at, action, size, category


class Timeline:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            document = json.load(f)
        self.is_raw = path.endswith(".raw.json")
        self.before, self.records = [], []
        # Moments at which records add up to what was in use: how many records were there by then.
        self.moments = []
        if self.is_raw:
            self.read_raw(document)
        else:
            self.read_curves(*document)
        self.origin = self.records[0].at if self.records else 0
        if self.before and not self.is_raw and len(document[0]) > 1:
            self.origin = document[0][0] * 1000

    def read_raw(self, document):
        records = sorted((Record(*fields) for fields in document), key=lambda r: r.at)
        self.before = [r for r in records if r.action == BEFORE]
        self.records = [r for r in records if r.action != BEFORE]
        # A change of category is two records at once.
        self.moments = [n + 1 for n, r in enumerate(self.records) if not (r.action == CHANGE and r.size <= 0 and self.pair(n))]

    def pair(self, n):
        return n + 1 < len(self.records) and self.records[n + 1].action == CHANGE and self.records[n + 1].size == -self.records[n].size

    def read_curves(self, times, sizes):
        last = [0] * len(CATEGORIES)
        for n, (at, bytes_of) in enumerate(zip(times, sizes)):
            is_before = n == 0 and (at < 0 or times[0] in times[1:2])
            for category, (now, was) in enumerate(zip(bytes_of[1:], last)):
                if now != was:
                    action = BEFORE if is_before else ALLOCATE if now > was else FREE
                    (self.before if is_before else self.records).append(Record(at * 1000, action, now - was, category))
            last = bytes_of[1:]
            if not is_before:
                self.moments.append(len(self.records))

    def in_use(self, count, category=None):
        """After the first COUNT records, of one category or of all."""
        return sum(r.size for r in self.before + self.records[:count] if category is None or r.category == category)

    def peak(self):
        """How many records it takes to the first of the highest moments; 0 when that is the begin, with what was there before."""
        return max(([0] if self.before else []) + self.moments, key=lambda count: (self.in_use(count), -count))

    def blocks(self, action, category=None):
        """Sizes of the blocks allocated or freed; None where the file tells of no blocks at all. A block of 0 bytes is none."""
        if not self.is_raw or not any(r.action in (ALLOCATE, FREE) for r in self.records):
            return None
        return [abs(r.size) for r in self.records if r.action == action and r.size and (category is None or r.category == category)]

    def peaks(self):
        if not self.before + self.records:
            return []
        count = self.peak()
        row = {"peak_allocated": self.in_use(count), "peak_time_ns": self.records[count - 1].at - self.origin if count else 0,
               "start": self.in_use(0), "end": self.in_use(len(self.records)), "records": len(self.before + self.records)}
        for action, counted, added in ((ALLOCATE, "allocations", "allocated"), (FREE, "frees", "freed")):
            sizes = self.blocks(action)
            row[counted], row[added] = None if sizes is None else len(sizes), total(sizes)
        return [row]

    def categories(self):
        if not self.before + self.records:
            return []
        rows, count = [], self.peak()
        whole = self.in_use(count)
        for number, name in enumerate(CATEGORIES):
            own = [r for r in self.before + self.records if r.category == number]
            if not own:
                continue
            at_peak = self.in_use(count, number)
            rows.append({"category": name, "bytes": at_peak, "share": at_peak / whole if whole else None,
                         "most": max(self.in_use(n, number) for n in [0, *self.moments]), "start": self.in_use(0, number),
                         "end": self.in_use(len(self.records), number),
                         "allocated": total(self.blocks(ALLOCATE, number)), "freed": total(self.blocks(FREE, number))})
        return rows
