"""The program: where it is, and running it. No shell is involved, and names of files may hold any bytes but NUL."""

import errno
import json
import os
import platform
import shutil
import signal
import subprocess

from ._error import Error

_HERE = os.path.dirname(os.path.abspath(__file__))


def program():
    """The path of the program: what TPA names, that of this package, or `tpa` on PATH."""
    named = os.environ.get("TPA")
    if named:
        return named
    ours = os.path.join(_HERE, "bin", "tpa")
    if os.path.exists(ours):
        return ours
    found = shutil.which("tpa")
    # The `tpa` that pip puts on PATH starts this package again.
    if found and not _is_script(found):
        return found
    raise Error("the program tpa is missing from this package: " + ours,
                hint="install a wheel for this machine (pip install --force-reinstall tpa), or let TPA name the program")


def _is_script(path):
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def cannot_start(path, error):
    """The exception for a program that could not be started because of the OSError ERROR."""
    hint = None
    if error.errno == errno.ENOEXEC or "exec format" in str(error).lower():
        reason = "it is for another sort of processor"
        hint = f"this machine is {platform.machine()}: install the wheel for it"
    elif error.errno == errno.ENOENT and os.path.exists(path):
        reason = "its loader is not there; it was linked for glibc"
        hint = "on musl (Alpine), build tpa from source: docs/install.md"
    elif error.errno == errno.ENOENT:
        reason = "there is no such file"
        hint = "install tpa again, or let TPA name the program"
    elif error.errno == errno.EACCES:
        reason = "it may not be run"
        hint = "is its file system mounted noexec, or its x bit lost? chmod +x makes it a program"
    else:
        reason = error.strerror or str(error)
    return Error(f"cannot start {path}: {reason}", hint=hint)


def _words(words):
    return [os.fsencode(word) for word in words]


def _killed(code):
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = "was memory short? the kernel kills what takes too much" if name == "SIGKILL" else None
    return Error(f"the program was ended by {name}", hint=hint, exit_code=code)


def _failed(code, stderr):
    text = stderr.decode("utf-8", "replace").strip()
    for line in reversed(text.splitlines()):
        if line.startswith('{"error": '):
            try:
                told = json.loads(line)
            except ValueError:
                continue
            return Error(told["error"], file=told["file"], offset=told["offset"], context=told["context"],
                         hint=told["hint"], exit_code=code)
    if "GLIBC_" in text:
        return Error("the program needs a newer C library than this machine has: " + text.splitlines()[-1],
                     hint="install a wheel for older systems, or build tpa from source", exit_code=code)
    return Error(text or f"the program ended with exit code {code} and said nothing", exit_code=code)


def run(words, *, capture=True, folder=None, columns=None):
    """Run the program with WORDS, in FOLDER, for a terminal of COLUMNS: (exit code, stdout, stderr), where CAPTURE is false without the
    last two. Raises Error."""
    path = program()
    pipe = subprocess.PIPE if capture else None
    environment = dict(os.environb)
    if capture:
        environment[b"TPA_ERRORS"] = b"json"
    if columns:
        environment[b"COLUMNS"] = str(columns).encode()
    try:
        done = subprocess.run(_words([path, *words]), stdin=subprocess.DEVNULL if capture else None, stdout=pipe,
                              stderr=pipe, env=environment, cwd=folder, check=False)
    except OSError as error:
        raise cannot_start(path, error) from None
    except ValueError as error:  # a NUL
        raise Error(f"no program can be given this: {error}") from None
    if done.returncode < 0:
        raise _killed(done.returncode)
    if capture and (done.returncode > 1 or (done.returncode == 1 and not done.stdout and done.stderr)):
        raise _failed(done.returncode, done.stderr)
    return done.returncode, done.stdout, done.stderr


def version():
    """The version of the program, as it says it."""
    return run(["--version"])[1].decode().split()[1]
