"""What tpa modules must say of a Kineto trace: slow, simple, apart from tpa.

    modules = reference_modules.Modules(reference_tables.Tables(document))
    modules.rows("class")    [{"name": "Linear", "count": 3, "cpu_total_ns": ...}, ...]; None where the file leaves them open

Written from docs/definitions.md. The time of a thread is cut at each edge of an event, and each piece asked whose it is.
"""

import re

import reference_top

OUTSIDE = ()


class Modules:
    def __init__(self, tables):
        self.tables = tables
        self.is_open = False  # does the file leave open which thread a forward pass ran on?
        self.nested = [e for e in tables.events if e.category == "python_function" or e in tables.operators or e in tables.calls]
        self.nested.sort(key=lambda e: (e.start, -e.end))
        self.nest()
        self.operators = [e for e in self.nested if e in tables.operators]
        self.forward = [e for e in self.operators if self.sequence(e) is not None and not self.is_in_backward(e)]
        self.threads = {}  # of torch's number, the file's

    def nest(self):
        for e in self.nested:
            e.is_async, e.parent, e.children = False, None, []
        reference_top.build_tree(self.nested)

    # -- frames

    def label(self, by, e):
        """What row a frame is of; None if it is no frame."""
        if e.category != "python_function":
            return None
        if by == "line":
            return e.name if ".py(" in e.name and not e.name.startswith(("torch/", "functools.py")) else None
        if not e.name.startswith("nn.Module: "):
            return None
        name = e.name.removeprefix("nn.Module: ")
        return re.sub(r"_\d+$", "", name) if by == "class" else name

    def has_frames(self, by):
        return any(self.label(by, e) for e in self.nested)

    # -- the backward pass

    @staticmethod
    def sequence(e):
        return e.args.get("Sequence number")

    def is_backward(self, e):
        return e in self.operators and (e.args.get("Fwd thread id", 0) != 0 or e.name.startswith("autograd::engine::evaluate_function: "))

    def is_in_backward(self, e):
        return e is not None and (self.is_backward(e) or self.is_in_backward(e.parent))

    def forward_thread(self, number):
        """That on which most of the operators of the backward pass find their numbers, if no other thread has these."""
        threads = {e.thread for e in self.forward}
        if len(threads) < 2:
            return next(iter(threads), None)
        votes = {}
        for e in self.operators:
            if self.is_backward(e) and e.args.get("Fwd thread id", 0) == number:
                on = {f.thread for f in self.forward if self.sequence(f) == self.sequence(e)}
                if len(on) == 1:
                    thread = on.pop()
                    votes[thread] = votes.get(thread, 0) + 1
        best = [thread for thread, count in votes.items() if count == max(votes.values())]
        self.is_open |= len(best) != 1
        return best[0] if best else None

    def forward_of(self, e):
        """The operator whose backward pass E is; None if it is not known."""
        if not self.is_backward(e) or self.sequence(e) is None:
            return None
        number = e.args.get("Fwd thread id", 0)
        if number not in self.threads:
            self.threads[number] = self.forward_thread(number)
        made = [f for f in self.forward if f.thread == self.threads[number] and self.sequence(f) == self.sequence(e) and f.start <= e.start]
        return made[-1] if made else None

    # -- places

    def place(self, by, e):
        """(labels of the frames from the outermost in, is it of the backward pass?)"""
        if e is None:
            return OUTSIDE, False
        path, backward = self.place(by, e.parent)
        if self.is_backward(e):
            backward = True
            forward = self.forward_of(e)
            if forward is not None:
                path = self.place(by, forward)[0]
        label = self.label(by, e)
        return path + (label,) if label else path, backward

    def host_times(self, by):
        """(path, backward, ns) of each piece of time of each thread."""
        for thread in {e.thread for e in self.nested}:
            here = [e for e in self.nested if e.thread == thread]
            places = {id(e): self.place(by, e) for e in here}
            edges = sorted({edge for e in here for edge in (e.start, e.end)})
            here.sort(key=lambda e: (e.start, -e.end))
            for start, end in zip(edges, edges[1:]):
                running = [e for e in here if e.start <= start and end <= e.end]
                if running:
                    yield (*places[id(running[-1])], end - start)

    def work_place(self, by, work):
        call = self.tables.call(work)
        return self.place(by, call if call is not None else self.tables.operator_of.get(work.link))

    # -- rows

    def rows(self, by):
        """BY tree, module, class or line."""
        cells = [(path, backward, "cpu", ns) for path, backward, ns in self.host_times(by)]
        for work in self.tables.work:
            cells.append((*self.work_place(by, work), "device", work.duration))
        calls = [self.place(by, e)[0] for e in self.nested if self.label(by, e)]
        if self.is_open:
            return None
        whole = {what: sum(ns for _, _, kind, ns in cells if kind == what) for what in ("cpu", "device")}
        rows = {}
        for path in {path[:depth] for path in [*calls, *(cell[0] for cell in cells)] for depth in range(len(path) + 1)}:
            key = path if by == "tree" else path[-1:]
            outside = "(outside any line)" if by == "line" else "(outside any module)"
            rows.setdefault(key, {"path": "/".join(key) or None if by == "tree" else None, "name": key[-1] if key else outside})
        for key, row in rows.items():
            def in_row(path, key=key):
                """In the row or, of the whole figures, in any frame of it?"""
                if not key:
                    return not path
                return path[:len(key)] == key if by == "tree" else key[0] in path

            def is_own(path, key=key):
                return path == key if by == "tree" else path[-1:] == key

            row["count"] = sum(is_own(path) for path in calls) if key else None
            for what in ("cpu", "device"):
                here = [(backward, ns) for path, backward, kind, ns in cells if kind == what and in_row(path)]
                row[f"{what}_total_ns"] = sum(ns for _, ns in here)
                row[f"{what}_forward_ns"] = sum(ns for backward, ns in here if not backward)
                row[f"{what}_backward_ns"] = sum(ns for backward, ns in here if backward)
                row[f"self_{what}_ns"] = sum(ns for path, _, kind, ns in cells if kind == what and is_own(path))
                row[f"{what}_share"] = row[f"{what}_total_ns"] / whole[what] if whole[what] else None
            row["works"] = sum(kind == "device" and in_row(path) for path, _, kind, _ in cells)
            if not self.tables.work:
                row.update((column, None) for column in row if "device" in column or column == "works")
        return list(rows.values())
