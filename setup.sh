#!/bin/sh
# Install what is missing, build tpa, and show what it does on a real trace.
set -eu
cd "$(dirname "$0")"

cmake/install-packages
cmake --preset release > /dev/null
cmake --build --preset release --target tpa pages

echo
trace=samples/pytorch/transformer.json.gz
echo "\$ build/release/tpa top $trace"
build/release/tpa top "$trace"
