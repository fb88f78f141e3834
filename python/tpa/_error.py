"""The one exception of this package."""


class Error(Exception):
    """What the program could not do: the message, and where it is known `file`, `offset` (bytes), `context` and `hint`."""

    def __init__(self, message, *, file=None, offset=None, context=None, hint=None, exit_code=None):
        super().__init__(message)
        self.message = message
        self.file = file
        self.offset = offset
        self.context = context
        self.hint = hint
        self.exit_code = exit_code

    def __reduce__(self):
        return _again, (type(self), self.message, self.__dict__)

    def __str__(self):
        place = "" if self.file is None else f"{self.file}: " if self.offset is None else f"{self.file}:{self.offset}: "
        lines = [place + self.message]
        lines += [f"while {line}" for line in (self.context or "").splitlines()]
        lines += [f"hint: {self.hint}"] if self.hint else []
        return "\n     ".join(lines)


def _again(kind, message, state):
    error = kind(message)
    error.__dict__.update(state)
    return error


class LimitPassed(Error):
    """A gate was exceeded, where an exception was asked for (`trace_handler(gate=...)`)."""
