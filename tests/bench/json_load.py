"""json_load.py - what reading a trace costs in Python before anything is computed."""
import json
import sys

with open(sys.argv[1], "rb") as f:
    print(len(json.load(f)["traceEvents"]))
