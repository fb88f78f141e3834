"""A client of tpa view for tests: it starts the server, asks, and ends it."""
import contextlib
import glob
import http.client
import json
import signal
import subprocess
import time
import urllib.parse


def peak_mb(pid):
    """The most memory that process PID has had, in MB."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


def cpu_ms(*pids):
    """The processor time, in milliseconds, that the threads of processes PIDS that live have taken."""
    total = 0
    for pid in pids:
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            with contextlib.suppress(OSError), open(path) as file:
                total += int(file.read().split()[0])
    return total / 1e6


def family_of(pid):
    """PID and all processes below it."""
    below = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path) as file:
            text = file.read()
            below.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(text.split()[0]))
    found = [pid]
    for of in found:
        found += below.get(of, [])
    return found


class Server:
    """tpa view of FILES, until the end of the with statement; WHOLE: from when all spans are in order."""

    def __init__(self, tpa, files, *options, whole=True):
        self.whole = whole
        self.command = [tpa, "view", "--no-browser", *options, *files]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.address)
        if not parts.port:
            raise RuntimeError(f"{' '.join(self.command)}: {self.process.stderr.read()}")
        self.port, self.token = parts.port, urllib.parse.parse_qs(parts.query)["token"][0]
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        while self.whole and not self.ask("info")["complete"]:
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.connection.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.errors = self.process.stderr.read()
        self.process.wait(timeout=60)

    def get(self, question, **arguments):
        """The status and the bytes of the answer."""
        query = urllib.parse.urlencode({**arguments, "token": self.token})
        for again in (True, False):  # a connection that was silent for long is closed
            try:
                self.connection.request("GET", f"/api/1/{question}?{query}")
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection.close()
                if not again:
                    raise
        raise AssertionError

    def ask(self, question, **arguments):
        """The answer, which is to be good, as an object."""
        status, body = self.get(question, **arguments)
        if status != 200:
            raise AssertionError(f"{question} {arguments}: {status} {body[:300]!r}")
        return json.loads(body)

    def once(self, question):
        """The status of a question on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", f"/api/1/{question}?token={self.token}")
        status = connection.getresponse().status
        connection.close()
        return status
