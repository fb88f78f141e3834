"""What commands answer: tables, a picture, or something written."""

import html
import json
import os
import re
import shutil
from collections import namedtuple

from . import _program
from ._error import Error
from ._table import Table

Notice = namedtuple("Notice", "kind count text file offset")
Notice.__doc__ = "What is special about an answer, above all what it leaves out."


#: commands whose answer is one screen; they write nothing, so that they can be run again for it
_SCREENS = {"summary", "diff", "info"}


class Result:
    """The tables of an answer, as attributes and items by their keys; `notices` tells what they leave out.

    `exit_code` is 1 where a gate was exceeded or a difference found (`ok` is false then). The answers of summary, diff and info print as
    the screen that the terminal shows, for which the program reads the files again, once.
    """

    def __init__(self, command, streams, exit_code, words=None):
        self._words = words if command in _SCREENS else None
        self._folder = os.getcwd() if self._words else None
        self._shown = None
        facts = [stream.facts for stream in streams]
        self.command = command
        self.exit_code = exit_code
        self.schema = facts[0].get("schema") if facts else None
        self.tables = {}
        for stream in streams:
            table = Table(stream)
            if table.key is not None:
                self.tables.setdefault(table.key, table)
        told = next((f["notices"] for f in facts if f.get("notices")), "[]")
        self.notices = [Notice(n["kind"], n["count"], n["text"], n["file"], n["offset"]) for n in json.loads(told)]

    @property
    def ok(self):
        return self.exit_code == 0

    def metrics(self):
        """The numbers that stand below the tables, as a flat dict: {"overview/step_ns": 487338, "overview/idle": 0.674, ...}.
        It is what `wandb.log` and `mlflow.log_metrics` take."""
        return {f"{table.key}/{key}": value for table in self for key, value in table.footer.items()
                if isinstance(value, (int, float)) and not isinstance(value, bool)}

    def __getattr__(self, key):
        tables = self.__dict__.get("tables", {})
        if key in tables:
            return tables[key]
        if key.startswith("__"):
            raise AttributeError(key)
        raise AttributeError(f"this answer of tpa {self.__dict__.get('command')} has no table {key!r}; it has "
                             + (", ".join(tables) or "none") + self._why_none())

    def _why_none(self):
        return "".join(f"\nnote: {n.text}" for n in self.__dict__.get("notices", [])[:3])

    def __getitem__(self, key):
        if key in self.tables:
            return self.tables[key]
        raise KeyError(f"{key}; the tables are {', '.join(self.tables) or 'none'}")

    def __iter__(self):
        return iter(self.tables.values())

    def __len__(self):
        return len(self.tables)

    def __dir__(self):
        return sorted(set(super().__dir__()) | {key for key in self.tables if key.isidentifier()})

    def _screen(self):
        """What the terminal shows; None where that is the tables, or the files are not there any more."""
        if self._words and self._shown is None:
            words = [self._words[0], "--format=table", "--color=never", *self._words[1:]]
            try:
                shown = _program.run(words, folder=self._folder, columns=shutil.get_terminal_size((100, 24)).columns)[1]
            except (Error, OSError):
                shown = b""
            self._shown = shown.decode("utf-8", "replace").rstrip("\n")
        return self._shown or None

    def __repr__(self):
        notes = [f"note: {n.text}" for n in self.notices]
        return self._screen() or "\n\n".join([repr(t) for t in self.tables.values()] + ["\n".join(notes)] * bool(notes))

    def _repr_html_(self):
        screen = self._screen()
        tables = "".join(t._repr_html_() for t in self.tables.values())
        if screen:
            return (f'<pre style="line-height:1.25">{html.escape(screen)}</pre>'
                    f"<details><summary>{len(self.tables)} tables</summary>{tables}</details>")
        return tables + "".join(f"<div>note: {html.escape(n.text)}</div>" for n in self.notices)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


class Output:
    """What a command wrote: `data` (bytes) and `text`, or the file `path`."""

    def __init__(self, command, data, path, exit_code):
        self.command = command
        self.data = data
        self.path = path
        self.exit_code = exit_code

    @property
    def ok(self):
        return self.exit_code == 0

    @property
    def text(self):
        if self.data is None:
            with open(self.path, "rb") as file:
                return file.read().decode("utf-8", "replace")
        return self.data.decode("utf-8", "replace")

    def __fspath__(self):
        if self.path is None:
            raise Error(f"tpa.{self.command} wrote no file; output= names one")
        return os.fspath(self.path)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<{self.command} in {self.path!r}>" if self.data is None else self.text


class Chart:
    """A picture as SVG, which a notebook shows; `save` writes it."""

    def __init__(self, svg):
        self.svg = svg

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self):
        return self.svg

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self):
        size = re.search(r'width="([\d.]+)[^"]*"\s+height="([\d.]+)', self.svg)
        return "<chart" + (f" of {size.group(1)} x {size.group(2)}>" if size else ">")
