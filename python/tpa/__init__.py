"""Answers from the traces that profilers write.

    import tpa
    r = tpa.top("trace.json.gz", sort="cuda_time_total", steps="3..7")
    r.operators                      # a table: prints, and shows as HTML in a notebook
    r.operators.to_pandas()
    polars.DataFrame(r.operators)   # also pyarrow.table(...), duckdb.sql("select ... from ops")

There is a function for each command of the program `tpa`, and a keyword for each of its options: `help(tpa.top)`.
They are made from the program's own description of itself (`tpa help --format json --all`) when they are first asked for.
"""

import importlib

from ._error import Error, LimitPassed
from ._handler import trace_handler
from ._program import program, version
from ._result import Chart, Output, Result
from ._table import Column, Table

__all__ = ["Chart", "Column", "Error", "LimitPassed", "Output", "Result", "Table", "program", "trace_handler", "version"]

#: modules that need the framework that they are for
_FRAMEWORKS = ("huggingface", "lightning")


def __getattr__(name):
    if name == "__version__":
        return version()
    if name.startswith("_"):
        raise AttributeError(f"module 'tpa' has no attribute {name!r}")
    if name in _FRAMEWORKS:
        return importlib.import_module(f"{__name__}.{name}")
    from . import _commands

    function = _commands.function(name)
    if function is None:
        near = _commands.nearest(name)
        raise AttributeError(f"tpa has no command {name!r}" + (f"; did you mean {near}?" if near else ""))
    globals()[name] = function
    return function


def __dir__():
    from . import _commands

    return sorted(set(__all__) | set(_commands.names()))
