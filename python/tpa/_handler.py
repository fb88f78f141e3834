"""`trace_handler`: what torch.profiler's `on_trace_ready` calls."""

import os
import socket
import sys
import time

from ._error import Error, LimitPassed

_FORMS = {"json.gz": ".pt.trace.json.gz", "json": ".pt.trace.json", "tpa": ".tpa"}


def trace_handler(directory, worker=None, *, format="json.gz", summary=False, report=False, gate=None, base=None):
    """A function for `on_trace_ready` of torch.profiler.profile that writes each trace into DIRECTORY.

        with profile(..., on_trace_ready=tpa.trace_handler("runs/", report=True)) as prof:

    It takes the place of torch.profiler.tensorboard_trace_handler and names files alike: WORKER (without it the host and
    the process), the rank where there are several, and the time. FORMAT is "json.gz", "json" or "tpa" (a tenth of the size).

    summary: print what `tpa summary` says of the trace.
    report:  write the page of `tpa report` beside it.
    gate:    one or several gates of `tpa diff`, such as "5%", against the trace BASE; LimitPassed is raised when one is
             exceeded or cannot be judged.

    Of several ranks, only the first prints. Trouble with the summary or the report is told on stderr, and the job goes on.
    """
    if format not in _FORMS:
        raise ValueError(f"format is one of {', '.join(_FORMS)}, not {format!r}")
    if gate is not None and base is None:
        raise ValueError("gate= needs base=, the trace to compare with")
    directory = os.fspath(directory)

    def handle(prof):
        rank, ranks = _rank()
        path = os.path.join(directory, _name(worker, rank, ranks) + _FORMS[format])
        os.makedirs(directory, exist_ok=True)
        _write(prof, path, format)
        if summary and rank in (None, 0):
            _go_on(lambda: print(_tpa().summary(path, format="table").text, flush=True))
        if report:
            page = path[:-len(_FORMS[format])] + ".html"
            _go_on(lambda: _tpa().report(path, output=page))
        if gate is not None:
            _apply(path, base, gate)
        handle.paths.append(path)

    handle.paths = []  # of the traces written so far
    return handle


def _tpa():
    import tpa

    return tpa


def _go_on(step):
    try:
        step()
    except Error as error:
        print(f"tpa: {error}", file=sys.stderr)


def _rank():
    """The rank of this process and how many there are; (None, 1) where nobody says."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    launchers = [("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")]
    if "SLURM_STEP_ID" in os.environ:  # a batch script has SLURM_PROCID, too, and is no rank
        launchers.append(("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))
    for rank, size in launchers:
        if os.environ.get(rank, "").isdigit():
            return int(os.environ[rank]), int(os.environ.get(size) or 1)
    return None, 1


def _name(worker, rank, ranks):
    worker = worker or f"{socket.gethostname()}_{os.getpid()}"
    place = f".rank{rank}" if rank is not None and ranks > 1 else ""
    return f"{worker}{place}.{time.time_ns()}"


def _write(prof, path, format):
    if format != "tpa":
        prof.export_chrome_trace(path)
        return
    whole = path[:-len(".tpa")] + ".pt.trace.json"
    prof.export_chrome_trace(whole)
    try:
        _tpa().convert(whole, output=path, to="tpa")
    except Error as error:  # what was recorded is worth more than its form
        print(f"tpa: {error}\ntpa: the trace is kept as {whole}", file=sys.stderr)
    else:
        os.remove(whole)


def _apply(path, base, gate):
    verdict = _tpa().diff(base, path, gate=gate, format="table")
    if not verdict.ok:
        raise LimitPassed(f"a gate was exceeded, or cannot be judged\n{verdict.text}", file=path, exit_code=1)
