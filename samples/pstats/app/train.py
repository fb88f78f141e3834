"""A training loop in miniature: what a Python profile of it must show is known by looking."""
import data.util
import model.util


class Batch(object):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)


def batches(rows, size):
    for start in range(0, len(rows), size):
        yield Batch(rows[start:start + size])


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def fail(n):
    if n == 0:
        raise ValueError(n)
    fail(n - 1)


def step(batch):
    total = sum(map(lambda row: model.util.scale(row), batch.rows))
    try:
        fail(3)
    except ValueError:
        pass
    return total + len(batch)


def main():
    rows = data.util.load(400)
    losses = [step(batch) for batch in batches(rows, 40)]
    losses.sort(key=abs)
    return fib(13), is_even(20), losses[-1]
