#!/usr/bin/env python3
"""Make tensorflow.json.gz: a training step on the CPU as tf.profiler writes it beside its protobuf.

    make_tensorflow.py OUTPUT_FOLDER

Needs a TensorFlow that still writes trace.json.gz itself: pip install tensorflow-cpu==2.4.4 (Python 3.8).
"""

import glob
import gzip
import os
import re
import socket
import sys
import tempfile

import tensorflow as tf


def main():
    out = os.path.abspath(sys.argv[1])
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.01)
    x, y = tf.random.normal((32, 8)), tf.random.normal((32, 1))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    step()
    with tempfile.TemporaryDirectory() as scratch:
        tf.profiler.experimental.start(scratch)
        for number in range(3):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                step()
        tf.profiler.experimental.stop()
        (path,) = glob.glob(f"{scratch}/**/*.trace.json.gz", recursive=True)
        with gzip.open(path) as f:
            text = f.read()
    text = text.replace(socket.gethostname().encode() + b":", b"host:")
    text = re.sub(rb"/[^\" ]*/(site-packages|lib/python3[^/]*)/", rb"\1/", text)
    with open(os.path.join(out, "tensorflow.json.gz"), "wb") as f:
        f.write(gzip.compress(text, 9, mtime=0) if sys.version_info >= (3, 8) else gzip.compress(text))


if __name__ == "__main__":
    main()
