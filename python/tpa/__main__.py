"""`python -m tpa`, and the `tpa` that pip puts on PATH: the program itself takes over this process."""

import os
import sys


def main():
    from ._error import Error
    from ._program import cannot_start, program

    try:
        path = program()
        try:
            os.execv(path, [path, *sys.argv[1:]])
        except OSError as error:
            raise cannot_start(path, error) from None
    except Error as error:
        sys.stderr.write(f"tpa: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
