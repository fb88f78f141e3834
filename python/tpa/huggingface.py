"""`TpaCallback`, a callback for the Trainer of transformers: `Trainer(..., callbacks=[tpa.huggingface.TpaCallback("runs/")])`.

It records with a schedule, so that steps are marked, and writes with `tpa.trace_handler`: a trace for each rank in the directory, and at
the end of each recording the summary in the log and, if asked for, the page beside the trace.
"""

import torch
from transformers import TrainerCallback

from ._handler import trace_handler

__all__ = ["TpaCallback"]


class TpaCallback(TrainerCallback):
    """Record ACTIVE steps after WAIT and WARMUP, REPEAT times (0: to the end), into DIRECTORY.

    format, summary, report, gate, base: as in tpa.trace_handler. Other options are those of torch.profiler.profile: record_shapes=True,
    profile_memory=True, with_stack=True ... `paths` lists the traces written so far. Steps are those of the optimizer.
    """

    def __init__(self, directory="tpa-profile", wait=1, warmup=1, active=3, repeat=1, *, format="json.gz", summary=True,
                 report=False, gate=None, base=None, **options):
        handler = trace_handler(directory, format=format, summary=summary, report=report, gate=gate, base=base)
        options.setdefault("schedule", torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat))
        self._options = {"on_trace_ready": handler, **options}
        self._profiler = None
        self.paths = handler.paths

    def on_train_begin(self, args, state, control, **kwargs):
        self._profiler = torch.profiler.profile(**self._options)
        self._profiler.start()

    def on_step_end(self, args, state, control, **kwargs):
        if self._profiler is not None:
            self._profiler.step()

    def on_train_end(self, args, state, control, **kwargs):
        if self._profiler is not None:
            profiler, self._profiler = self._profiler, None
            profiler.stop()
