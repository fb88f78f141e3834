"""A pseudo-terminal for tests: what a program shows on it."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


class Terminal:
    """A pseudo-terminal of so many columns; `master` is our end."""

    def __init__(self, columns=80):
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        self.shown = b""

    def release_slave(self):
        """To be called when the program has it: the last one to close it ends the terminal."""
        os.close(self.slave)

    def read(self):
        """Take what is there; False at the end, which Linux tells as an error."""
        try:
            some = os.read(self.master, 65536)
        except OSError:
            some = b""
        self.shown += some
        return some != b""

    def read_all(self):
        while self.read():
            pass
        os.close(self.master)
        return self.shown.replace(b"\r\n", b"\n")


def available():
    """None, or why no pseudo-terminal can be had."""
    try:
        probe = Terminal()
    except OSError as error:
        return str(error)
    probe.release_slave()
    os.close(probe.master)
    return None


def environment(**more):
    """One in which nothing tells the width or forbids colour."""
    taken = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "TPA_GNUPLOT")}
    return {**taken, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **more}


def at_terminal(command, columns=80, folder=None, **more):
    """What COMMAND shows, with stdout and stderr on one terminal."""
    terminal = Terminal(columns)
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal.slave, stderr=terminal.slave, cwd=folder,
                               env=environment(**more))
    terminal.release_slave()
    shown = terminal.read_all()
    program.wait()
    return shown
