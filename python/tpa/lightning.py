"""`TpaProfiler`, a profiler for PyTorch Lightning: `Trainer(profiler=tpa.lightning.TpaProfiler("runs/"))`.

It is Lightning's own PyTorchProfiler with a schedule, so that steps are marked, and with `tpa.trace_handler`: a trace for each rank in the
directory, and at the end of each recording the summary in the log and, if asked for, the page beside the trace.
"""

import torch

from ._handler import trace_handler

try:
    from lightning.pytorch.profilers import PyTorchProfiler
except ImportError:
    from pytorch_lightning.profilers import PyTorchProfiler

__all__ = ["TpaProfiler"]


class TpaProfiler(PyTorchProfiler):
    """Record ACTIVE steps after WAIT and WARMUP, REPEAT times (0: to the end), into DIRECTORY.

    format, summary, report, gate, base: as in tpa.trace_handler. Other options are those of PyTorchProfiler: record_shapes=True,
    profile_memory=True, with_stack=True ... `paths` lists the traces written so far.
    """

    def __init__(self, directory="tpa-profile", wait=1, warmup=1, active=3, repeat=1, *, format="json.gz", summary=True,
                 report=False, gate=None, base=None, **options):
        handler = trace_handler(directory, format=format, summary=summary, report=report, gate=gate, base=base)
        options.setdefault("schedule", torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat))
        super().__init__(dirpath=directory, on_trace_ready=handler, **options)
        self.paths = handler.paths
