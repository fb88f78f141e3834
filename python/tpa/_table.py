"""A table of an answer: typed columns and rows."""

import html
import json
from collections import namedtuple

from . import _arrow
from ._error import Error

Column = namedtuple("Column", "key kind unit title help")
Column.__doc__ = """A column of a table: its key, kind ("name", "ns", "bytes", "share" ...), unit ("ns", "bytes" ...), title and help."""

_ROWS_SHOWN = 25
_WIDTH_SHOWN = 120


class Finding(dict):
    """A row of `tpa.summary(...).findings`: what to change, and what that saves at best. `print` shows it as the terminal does."""

    KEYS = {"action", "where", "saves_ns", "saves_share", "code", "code_before", "advice"}

    @property
    def title(self):
        """What to do: "Load batches beside the loop"."""
        return self["action"]

    @property
    def place(self):
        """Operator, line of source, ranks; None: not known."""
        return self["where"]

    @property
    def gain(self):
        """What it saves at best, in nanoseconds of a step."""
        return self["saves_ns"]

    @property
    def code(self):
        """The line of code after the change; None: none is known, see the key `advice`."""
        return self["code"]

    def __str__(self):
        gain = f"up to {shown('ns', self.gain)}, {shown('share', self['saves_share'])}"
        first = "  ".join(_printable(part) for part in (self.title, gain, self.place) if part)
        change = " -> ".join(part for part in (self["code_before"], self.code) if part) or self["advice"]
        return first + (f"\n   {_printable(change)}" if change else "")


class Table:
    """Rows with typed columns; `columns` describes them.

    A table goes to others as it is, by Arrow's protocol: `pyarrow.table(t)`, `polars.DataFrame(t)`,
    `duckdb.sql("select * from t")`, `pandas.DataFrame.from_arrow(t)`. Times are integer nanoseconds, sizes bytes.
    """

    def __init__(self, stream):
        facts = stream.facts
        self._stream = stream
        self._values = {}
        self.key = facts.get("table")
        self.title = facts.get("title")
        self.columns = [Column(f.name, f.facts.get("kind"), f.facts.get("unit"), f.facts.get("title"),
                               f.facts.get("help")) for f in stream.fields]
        self.footer = json.loads(facts.get("footer") or "{}")
        self._row_count = sum(rows for rows, _ in stream.batches)
        #: rows before `limit`, at least len(table)
        self.total_rows = int(facts.get("total_rows") or self._row_count)

    def __len__(self):
        return self._row_count

    def __iter__(self):
        keys = [c.key for c in self.columns]
        for row in zip(*[self[key] for key in keys]):
            yield self._row(dict(zip(keys, row)))

    def _row(self, values):
        return Finding(values) if self.key == "findings" and Finding.KEYS <= values.keys() else values

    def __getitem__(self, which):
        """A column by its key, as a list; a row by its number, as a dict; rows by a slice."""
        if isinstance(which, str):
            return self._column(which)
        keys = [c.key for c in self.columns]
        if isinstance(which, slice):
            return [self._row({key: self[key][i] for key in keys}) for i in range(*which.indices(len(self)))]
        if not -len(self) <= which < len(self):
            raise IndexError(f"row {which} of a table of {len(self)}")
        return self._row({key: self[key][which] for key in keys})

    def _column(self, key):
        if key in self._values:
            return self._values[key]
        place = next((i for i, f in enumerate(self._stream.fields) if f.name == key), None)
        if place is None:
            raise KeyError(f"{key}; the columns are " + ", ".join(c.key for c in self.columns))
        field, data, values = self._stream.fields[place], self._stream.data, []
        for _, columns in self._stream.batches:
            part = columns[place]
            found = _arrow.values(data, part, field.index or field.format)
            if part.dictionary is not None:
                texts = _arrow.values(data, part.dictionary, field.format)
                found = [None if i is None else texts[i] for i in found]
            values += found
        self._values[key] = values
        return values

    def to_dict(self):
        """The columns as lists, by their keys."""
        return {c.key: list(self[c.key]) for c in self.columns}

    # ---- to others ----

    def __arrow_c_stream__(self, requested_schema=None):
        return _arrow.stream_capsule(self._stream)

    def __arrow_c_schema__(self):
        return _arrow.schema_capsule(self._stream)

    def to_arrow(self):
        """A pyarrow.Table, which points into this one."""
        return _needed("pyarrow").table(self)

    def to_polars(self):
        """A polars.DataFrame."""
        return _needed("polars").DataFrame(self)

    def to_pandas(self):
        """A pandas.DataFrame. Integers stay exact: columns with missing ones are of type Int64, not float."""
        pandas = _needed("pandas")
        frame = pandas.DataFrame({c.key: self._pandas_column(pandas, i) for i, c in enumerate(self.columns)},
                                 index=pandas.RangeIndex(len(self)))
        frame.attrs.update(table=self.key, units={c.key: c.unit for c in self.columns if c.unit})
        return frame

    def _pandas_column(self, pandas, place):
        field, key = self._stream.fields[place], self.columns[place].key
        code = _arrow.code_of(field.format) if field.dictionary is None else None
        values = self[key]
        if code in ("f", "d"):
            return pandas.array([float("nan") if v is None else v for v in values], dtype="float64")
        gaps = any(v is None for v in values)
        if code is not None:
            return pandas.array(values, dtype="Int64" if gaps else "int64")
        if field.format == "b":
            return pandas.array(values, dtype="boolean" if gaps else "bool")
        return pandas.Series(values, dtype="object" if not values else None)

    # ---- to people ----

    def _shown(self):
        """Titles, and rows of texts, of the first rows; without columns that say nothing there."""
        rows = min(len(self), _ROWS_SHOWN)
        columns = [(c, self[c.key][:rows]) for c in self.columns]
        columns = [(c, v) for c, v in columns if any(x not in (None, "") for x in v) or not rows]
        return [(c, [shown(c.kind, x) for x in v]) for c, v in columns]

    def _tail(self):
        lines = []
        if self.total_rows > min(len(self), _ROWS_SHOWN) and self.columns:
            lines.append(f"{min(len(self), _ROWS_SHOWN)} of {self.total_rows} rows")
        lines += [f"{key}: {shown('ns', value) if key.endswith('_ns') else value}" for key, value in self.footer.items()]
        return lines

    def __repr__(self):
        columns = self._shown()
        titles = [_printable(c.title or c.key) for c, _ in columns]
        cells = [[_printable(_cut(x, 48)) for x in v] for _, v in columns]
        widths = [max(map(len, [t] + v)) for t, v in zip(titles, cells)]
        fit = next((i for i in range(len(widths)) if i and sum(widths[:i + 1]) + 2 * i > _WIDTH_SHOWN), len(widths))
        text = [c.kind in ("name", "text") for c, _ in columns]
        lines = [_printable(self.title or self.key or "")]
        for row in [titles, ["-" * w for w in widths], *zip(*cells)]:
            lines.append("  ".join(x.ljust(w) if t else x.rjust(w)
                                   for x, w, t in list(zip(row, widths, text))[:fit]).rstrip())
        if fit < len(widths):
            lines.append("and " + ", ".join(c.key for c, _ in columns[fit:]))
        return "\n".join(line for line in lines + [_printable(t) for t in self._tail()] if line)

    def _repr_html_(self):
        columns = self._shown()
        head = "".join(f'<th style="text-align:{_side(c)}" title="{_html(c.help)}">{_html(c.title or c.key)}</th>'
                       for c, _ in columns)
        body = "".join("<tr>" + "".join(f'<td style="text-align:{_side(c)}" title="{_html(t)}">{_html(_cut(t, 80))}</td>'
                                        for (c, _), t in zip(columns, row)) + "</tr>"
                       for row in zip(*[v for _, v in columns]))
        caption = f"<caption>{_html(self.title or self.key)}</caption>"
        tail = "".join(f"<div>{_html(line)}</div>" for line in self._tail())
        return f"<div><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{tail}</div>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _needed(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise Error(f"{name} is not installed: {error}", hint=f"pip install {name}") from None


def _side(column):
    return "left" if column.kind in ("name", "text") else "right"


def _html(text):
    return html.escape(_printable(text or ""))


def _cut(text, most):
    return text if len(text) <= most else text[:most - 21] + "..." + text[-18:]


def _printable(text):
    """What cannot be seen, or would act on a terminal, as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_SCALES = {
    "ns": [(1e9, "s"), (1e6, "ms"), (1e3, "us")],
    "bytes": [(1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")],
    "flops": [(1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1e3, "KFLOP")],
}


def shown(kind, value):
    """VALUE of a column of KIND as people read it, rounded, with its unit."""
    if value is None:
        return "-"
    if kind == "moment":
        return f"{value / 1e9:.6f}s"
    if kind in _SCALES:
        for size, unit in _SCALES[kind]:
            if abs(value) >= size:
                return f"{value / size:.3f}{'' if kind == 'ns' else ' '}{unit}"
        return f"{value}{'ns' if kind == 'ns' else ' B' if kind == 'bytes' else ' FLOP'}"
    if kind == "share":
        return f"{100 * value:.1f} %"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
