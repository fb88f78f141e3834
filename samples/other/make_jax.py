#!/usr/bin/env python3
"""Make jax.json.gz: a jitted training loop on the CPU as jax.profiler records it (pip install jax).

    make_jax.py OUTPUT_FOLDER
"""

import glob
import gzip
import os
import re
import sys
import tempfile

import jax
import jax.numpy as jnp


@jax.jit
def step(weights, x, y):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return [w - 0.1 * g for w, g in zip(weights, gradient)], value


def main():
    out = os.path.abspath(sys.argv[1])
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    weights = [jax.random.normal(keys[0], (32, 64)), jax.random.normal(keys[1], (64, 1))]
    x, y = jax.random.normal(keys[2], (128, 32)), jax.random.normal(keys[3], (128, 1))
    weights, _ = step(weights, x, y)  # compile
    with tempfile.TemporaryDirectory() as scratch:
        with jax.profiler.trace(scratch):
            for number in range(4):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    weights, value = step(weights, x, y)
                    value.block_until_ready()
        (path,) = glob.glob(f"{scratch}/**/*.trace.json.gz", recursive=True)
        with gzip.open(path) as f:
            text = f.read()
    # Frames of Python name their files in full: keep what follows the place of installation.
    text = re.sub(rb"/[^\" ]*/(site-packages|lib/python3[^/]*)/", rb"\1/", text)
    text = text.replace(os.path.abspath(__file__).encode(), b"make_jax.py")
    with open(os.path.join(out, "jax.json.gz"), "wb") as f:
        f.write(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
