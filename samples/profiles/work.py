"""What py-spy's samples were recorded of: see make."""

import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def load(n):
    return sorted(str(i) for i in range(n))


def step():
    load(20000)
    fib(18)


def main():
    end = time.time() + 0.8
    while time.time() < end:
        step()


main()
