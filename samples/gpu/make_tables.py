#!/usr/bin/env python3
"""Let torch's own aggregation answer for the GPU samples: NAME.table.txt, and a check of NAME.expected.json.

    make_tables.py FOLDER

No profile of a GPU ran here: tests/tools/torch_replay.py hands torch the events of the file instead.
Needs torch 2.14 or later (any build).
"""

import glob
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "..", "tests", "tools"), os.path.join(here, "..", "pytorch")]
import reference_top  # noqa: E402
import torch  # noqa: E402
import torch_replay  # noqa: E402
from make import TABLES  # noqa: E402  of ../pytorch: the same matrix as for the recorded samples


def main():
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json.gz"))):
        document = reference_top.load(path)
        path = path[: -len(".json.gz")]
        with open(f"{path}.expected.json") as f:
            expected = json.load(f)
        for group, by_shape in (("key", False), ("input_shape", True)):
            for a, b in zip(torch_replay.rows(document, by_shape), expected["groups"][group], strict=True):
                if a != b:
                    sys.exit(f"{path}: torch does not agree with {group}:\n  torch {a}\n  file  {b}")
        with open(f"{path}.table.txt", "w") as out:
            for grouping, arguments in TABLES + [({}, {"sort_by": "self_cuda_time_total", "row_limit": 7})]:
                words = ", ".join(f"{k}={v!r}" for k, v in grouping.items())
                averages = torch_replay.averages(document, group_by_input_shapes=grouping.get("group_by_input_shape", False))
                out.write(f"##### key_averages({words}).table({arguments})\n{averages.table(**arguments)}\n")
        print(path, torch.__version__)


if __name__ == "__main__":
    main()
