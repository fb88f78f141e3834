"""Steps and ranges from Python by ctypes: runs with and without `tpa capture`.

    tpa capture -o steps.tpa -- python3 samples/capture/steps.py
"""
import ctypes
import os
import time

path = os.environ.get("TPA_CAPTURE_LIBRARY")  # set by `tpa capture`
tpa = ctypes.CDLL(path) if path else None


class Range:
    """with Range("load"): ..."""

    def __init__(self, name):
        self.name = name.encode()

    def __enter__(self):
        if tpa:
            tpa.tpa_capture_range_push(self.name)

    def __exit__(self, *_):
        if tpa:
            tpa.tpa_capture_range_pop()


for step in range(5):
    if tpa:
        tpa.tpa_capture_step()
    with Range("load"):
        time.sleep(0.002)
    with Range("train"):
        time.sleep(0.005)  # launch kernels here
