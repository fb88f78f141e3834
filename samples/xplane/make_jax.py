#!/usr/bin/env python3
"""Make jax_cpu.xplane.pb and jax_cpu.trace.json.gz: one recording of a jitted training loop on the CPU, in both forms that
jax.profiler writes (pip install jax).

    make_jax.py OUTPUT_FOLDER

Both must give the same answers. What is left out of the first is the programs (plane /host:metadata), which tpa does not read.
"""

import glob
import gzip
import os
import sys
import tempfile

import jax
import jax.numpy as jnp

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from wire import text  # noqa: E402


@jax.jit
def step(weights, x, y):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return [w - 0.1 * g for w, g in zip(weights, gradient)], value


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def without_programs(data):
    """The XSpace DATA without the plane that holds programs; all its fields are messages or texts."""
    at, kept = 0, []
    while at < len(data):
        tag, at = read_varint(data, at)
        length, at = read_varint(data, at)
        body = data[at:at + length]
        at += length
        if b"/host:metadata" not in body[:40]:
            kept.append(text(tag >> 3, body))
    return b"".join(kept)


def main():
    out = os.path.abspath(sys.argv[1])
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    weights = [jax.random.normal(keys[0], (32, 64)), jax.random.normal(keys[1], (64, 1))]
    x, y = jax.random.normal(keys[2], (128, 32)), jax.random.normal(keys[3], (128, 1))
    weights, _ = step(weights, x, y)  # compile
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with tempfile.TemporaryDirectory() as scratch:
        with jax.profiler.trace(scratch, profiler_options=options):
            for number in range(4):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    weights, value = step(weights, x, y)
                    value.block_until_ready()
        (path,) = glob.glob(f"{scratch}/**/*.xplane.pb", recursive=True)
        with open(path, "rb") as f:
            space = without_programs(f.read())
        (path,) = glob.glob(f"{scratch}/**/*.trace.json.gz", recursive=True)
        with gzip.open(path) as f:
            json_text = f.read()
    with open(os.path.join(out, "jax_cpu.xplane.pb"), "wb") as f:
        f.write(space)
    with open(os.path.join(out, "jax_cpu.trace.json.gz"), "wb") as f:
        f.write(gzip.compress(json_text, 9, mtime=0))


if __name__ == "__main__":
    main()
