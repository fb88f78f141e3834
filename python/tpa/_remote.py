"""Files behind addresses: s3://, gs://, https:// ... They are fetched through fsspec, which each scheme may need a package for."""

import os
import re
import shutil

from ._error import Error

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(operand):
    return isinstance(operand, str) and _ADDRESS.match(operand) is not None


def fetch(address, folder):
    """Copy what ADDRESS names, a file or a folder, into FOLDER; returns its path there."""
    try:
        import fsspec
    except ImportError:
        raise Error(f"{address}: fsspec is needed to read an address", hint="pip install fsspec, and what it needs for "
                    f"{address.partition(':')[0]}://, such as s3fs, gcsfs or aiohttp") from None
    try:
        system, path = fsspec.core.url_to_fs(address)
        name = os.path.basename(path.rstrip("/").partition("?")[0]) or "trace"
        if system.isdir(path):
            copy = os.path.join(folder, name)
            system.get(path.rstrip("/") + "/", copy + "/", recursive=True)
            return copy
        copy = os.path.join(folder, name)
        with system.open(path, "rb") as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target)
        return copy
    except (OSError, ImportError, ValueError) as error:
        raise Error(f"{address}: {error}") from error
