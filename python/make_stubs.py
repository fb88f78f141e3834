#!/usr/bin/env python3
"""Write the type stubs of the package from the description that the program prints: make_stubs.py PROGRAM OUT.pyi"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

HEAD = '''# Made by python/make_stubs.py from `tpa help --format json --all`.
import datetime
import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

__version__: str

def program() -> str: ...
def version() -> str: ...
def trace_handler(
    directory: str | os.PathLike[str],
    worker: str | None = ...,
    *,
    format: str = ...,
    summary: bool = ...,
    report: bool = ...,
    gate: str | Sequence[str] | None = ...,
    base: str | os.PathLike[str] | None = ...,
) -> _TraceHandler: ...

class _TraceHandler(Protocol):
    paths: list[str]
    def __call__(self, prof: Any) -> None: ...

class Error(Exception):
    message: str
    file: str | None
    offset: int | None
    context: str | None
    hint: str | None
    exit_code: int | None

class LimitPassed(Error): ...

class Column(NamedTuple):
    key: str
    kind: str
    unit: str | None
    title: str | None
    help: str | None

class Table:
    key: str
    title: str | None
    columns: list[Column]
    footer: dict[str, Any]
    total_rows: int
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def __getitem__(self, which: Any) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: object = ...) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def to_dict(self) -> dict[str, list[Any]]: ...
    def to_arrow(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def to_pandas(self) -> Any: ...

class Notice(NamedTuple):
    kind: str
    count: int  # type: ignore[assignment]  # tuples have a method of that name
    text: str
    file: str | None
    offset: int | None

class Result:
    command: str
    exit_code: int
    schema: str | None
    tables: dict[str, Table]
    notices: list[Notice]
    @property
    def ok(self) -> bool: ...
    def metrics(self) -> dict[str, int | float]: ...
    def __getitem__(self, key: str) -> Table: ...
    def __getattr__(self, key: str) -> Table: ...
    def __iter__(self) -> Iterator[Table]: ...
    def __len__(self) -> int: ...

class Output:
    command: str
    exit_code: int
    data: bytes | None
    path: str | os.PathLike[str] | None
    @property
    def ok(self) -> bool: ...
    @property
    def text(self) -> str: ...
    def __fspath__(self) -> str: ...

class Chart:
    svg: str
    def save(self, path: str | os.PathLike[str]) -> None: ...
'''


def lines_of(name, command, commands):
    answer = commands.answer_of(command).__name__
    keys = list(dict.fromkeys(t["key"] for t in command["tables"]))
    if answer == "Result" and keys:
        answer = f"_{name.capitalize()}"
        yield f"\nclass {answer}(Result):\n"
        for key in keys:
            yield f"    {key}: Table\n"
    yield f"\ndef {name}(\n    *operands: str | bytes | os.PathLike[str] | Sequence[str | bytes | os.PathLike[str]],\n"
    for key, option in commands.options_of(command).items():
        kind = commands.annotation(option).replace("os.PathLike", "os.PathLike[str]")
        if option["kind"] == "choice" and option["choices"]:
            kind = "Literal[" + ", ".join(json.dumps(choice["name"]) for choice in option["choices"]) + "]"
        yield f"    {key}: {kind} | None = ...,\n"
    yield f") -> {answer}: ...\n"


def main():
    program, out = sys.argv[1:]
    os.environ["TPA"] = program
    from tpa import _commands

    with open(out, "w", encoding="utf-8") as file:
        file.write(HEAD)
        for name, command in _commands.described().items():
            file.writelines(lines_of(name, command, _commands))


main()
