"""As much of torch as tpa bottleneck touches; its trace is a file that FAKE_TRACE names."""

import types

__version__ = "9.9.9"
version = types.SimpleNamespace(cuda=None)
cuda = types.SimpleNamespace(is_available=lambda: False)


def get_num_threads():
    return 4


from . import optim  # noqa: E402,F401
