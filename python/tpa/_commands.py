"""A function for each command, made of the program's own description (`tpa help --format json --all`)."""

import datetime
import difflib
import inspect
import json
import keyword
import os
import tempfile

from . import _arrow, _program, _remote
from ._error import Error
from ._result import Chart, Output, Result

#: options that say how an answer is printed: an answer here is tables
_PRINTED = {"color", "wide", "progress"}
_KINDS = {
    "flag": "bool", "text": "str", "file": "str | os.PathLike", "directory": "str | os.PathLike", "integer": "int",
    "count": "int", "time": "str | datetime.timedelta", "size": "int | str", "budget": "int | str", "share": "float | str",
    "limit": "int | str", "ranges": "int | str | Sequence[int | str]", "choice": "str",
    "choices": "str | Sequence[str]", "texts": "str | Sequence[str]",
    "files": "str | os.PathLike | Sequence[str | os.PathLike]",
}
_described = None


def described():
    """The commands by their names in Python: what `tpa help --format json --all` says of each."""
    global _described
    if _described is None:
        commands = json.loads(_program.run(["help", "--format", "json", "--all"])[1])["commands"]
        _described = {python_name(c["name"]): c for c in commands}
    return _described


def python_name(name):
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def names():
    return list(described())


def nearest(name):
    near = difflib.get_close_matches(name, names(), 1)
    return near[0] if near else None


def options_of(command):
    """The options of a command that a function takes, by their names in Python."""
    return {python_name(o["name"]): o for o in command["options"] if o["name"] not in _PRINTED}


def annotation(option):
    return _KINDS.get(option["kind"], "str")


def answer_of(command):
    """The class of what the function returns."""
    if command["runs_program"]:
        return int
    forms = [c["name"] for o in command["options"] if o["name"] == "format" for c in o["choices"] or []]
    return Result if "arrow" in forms else Chart if command["name"] == "chart" else Output


def _one(value):
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)}us"
    if isinstance(value, (bytes, os.PathLike)):
        return os.fsencode(value)
    return str(value)


def _is_several(value):
    return isinstance(value, (list, tuple, set, frozenset, range))


def _option_words(command, key, option, value):
    """The words of the command line that set OPTION to VALUE."""
    flag = "--" + option["name"]
    if option["kind"] == "flag":
        if not isinstance(value, bool):
            raise TypeError(f"tpa.{command}: {key} is True or False, not {value!r}")
        return [flag if value else "--no-" + option["name"]]
    if isinstance(value, bool):
        raise TypeError(f"tpa.{command}: {key} takes {option['expects']}, not {value!r}")
    if option["kind"] in ("texts", "files"):
        return [_joined(flag, _one(v)) for v in (value if _is_several(value) else [value])]
    if _is_several(value):
        return [_joined(flag, ",".join(str(_one(v)) for v in value))]
    return [_joined(flag, _one(value))]


def _joined(flag, value):
    return os.fsencode(flag) + b"=" + os.fsencode(value)


def _words(command, operands, options):
    name, known = command["name"], options_of(command)
    words = [name]
    for key, value in options.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise TypeError(f"tpa.{name} has no option {key!r}" + (f"; did you mean {near[0]}?" if near else ""))
        if value is not None:
            words += _option_words(name, key, known[key], value)
    flat = []
    for operand in operands:
        flat += operand if _is_several(operand) else [operand]
    for operand in flat:
        if not isinstance(operand, (str, bytes, os.PathLike)):
            raise TypeError(f"tpa.{name} takes names of files, not {operand!r}")
    return [*words, "--", *flat] if flat else words


def _call(command, operands, options):
    flat = [one for operand in operands for one in (operand if _is_several(operand) else [operand])]
    if not any(map(_remote.is_remote, flat)):
        return _call_here(command, operands, options)
    with tempfile.TemporaryDirectory(prefix="tpa-") as folder:
        here = []
        for i, operand in enumerate(flat):
            if _remote.is_remote(operand):
                place = os.path.join(folder, str(i))  # two addresses may end in the same name
                os.mkdir(place)
                operand = _remote.fetch(operand, place)
            here.append(operand)
        return _call_here(command, here, options)


def _call_here(command, operands, options):
    answer = answer_of(command)
    words = _words(command, operands, options)
    name, output = command["name"], options.get("output")
    if answer is int:
        return _program.run(words, capture=False)[0]
    forms = [o for o in command["options"] if o["name"] == "format"]
    asked = options.get("format") or output or options.get("script")
    if answer is Result and not asked:
        code, data, _ = _program.run([name, "--format=arrow", *words[1:]])
        return Result(name, _arrow.read_streams(data), code, words)
    if answer is Chart and not asked:
        return Chart(_program.run([name, "--format=svg", *words[1:]])[1].decode())
    code, data, _ = _program.run(words)
    if output is None and options.get("format") is None and forms and name == "report":
        raise Error("tpa.report writes a page: output= names its file")
    return Output(name, None if output is not None else data, output, code)


def signature(command):
    """The parameters of the function, with the program's defaults left to the program."""
    kind = inspect.Parameter
    operands = kind("operands", kind.VAR_POSITIONAL, annotation="str | os.PathLike")
    rest = [kind(key, kind.KEYWORD_ONLY, default=None, annotation=annotation(option))
            for key, option in options_of(command).items()]
    return inspect.Signature([operands, *rest], return_annotation=answer_of(command))


def docstring(command):
    """What `tpa COMMAND --help` says, for Python."""
    lines = [command["summary"][:1].upper() + command["summary"][1:] + ".", ""]
    if command["description"]:
        lines += [command["description"], ""]
    lines += [f"Operands: {command['operands']}" if command["operands"] else "No operands.", ""]
    group = None
    for key, option in options_of(command).items():
        if option["group"] != group:
            group = option["group"]
            lines.append(f"{group}:")
        words = " | ".join(c["name"] for c in option["choices"] or [])
        default = option["default"] if option["kind"] != "flag" else option["default"] or None
        notes = "; ".join(([words] if words else []) + ([f"default: {default}"] if default is not None else []))
        lines.append(f"    {key} ({annotation(option)}): {option['help']}" + (f" ({notes})" if notes else ""))
    if command["tables"]:
        lines += ["", "Tables, each where the input has it:"]
    for table in command["tables"]:
        of = f" (of {table['of']})" if table["of"] else ""
        lines.append(f"    {table['key']}{of}: " + ", ".join(c["key"] for c in table["columns"]))
    return "\n".join(lines).rstrip() + "\n"


def function(name):
    """The function for the command NAME; None when there is none."""
    command = described().get(name)
    if command is None:
        return None

    def call(*operands, **options):
        return _call(command, operands, options)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "tpa"
    call.__doc__ = docstring(command)
    call.__signature__ = signature(command)
    return call
