"""Print what this Python's pstats answers. Runs with Python 2.7 and every 3.

    python answers.py < QUESTIONS

Each line of QUESTIONS is a Python expression: (files, strip, sort, reverse, report, restrictions).
"""
import ast
import pstats
import sys


def answer(files, strip, sort, reverse, report, restrictions):
    stats = pstats.Stats(*files)
    if strip:
        stats.strip_dirs()
    if sort:
        stats.sort_stats(*sort)
    if reverse:
        stats.reverse_order()
    getattr(stats, "print_" + report)(*restrictions)


for line in sys.stdin:
    answer(*ast.literal_eval(line))
