#!/bin/sh
# Install what is missing, build tpa, show what it does on a real trace, and say what cannot be had here.
set -eu
cd "$(dirname "$0")"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly()
{
    "$@" > "$log" 2>&1 || {
        cat "$log"
        echo "setup: '$*' failed, see above" >&2
        exit 1
    }
}

cmake/install-packages
echo "Building build/release/tpa (a minute or two)"
quietly cmake --preset release
configured=$(cat "$log")
quietly cmake --build --preset release --target tpa pages
case $configured in *"libtpa_capture.so is left out"*) capture= ;; *)
    capture=build/release/libtpa_capture.so
    quietly cmake --build --preset release --target tpa_capture ;;
esac

echo
trace=samples/pytorch/transformer.json.gz
echo "\$ build/release/tpa top --limit 5 $trace"
build/release/tpa top --limit 5 "$trace"

echo
echo "tpa is built: build/release/tpa; to install it, run: cmake --install build/release"

# What it can do without, and how to get it.
[ -n "$capture" ] ||
    echo "left out: tpa capture, as CUPTI's headers were not found; with a CUDA toolkit 11.8 to 13 or libcupti-dev, run ./setup.sh again"
command -v gnuplot > /dev/null ||
    echo "missing: gnuplot, with which tpa chart draws PNG, PDF and text; SVG goes without; apt-get install gnuplot-nox"
case $(build/release/tpa --version) in *ISA-L*) ;; *)
    echo "left out: ISA-L, with which gzip is read several times as fast; apt-get install libisal-dev, where it is packaged, and run ./setup.sh again" ;;
esac
python3 -c 'import ensurepip, venv' 2> /dev/null ||
    echo "missing: python3-venv, with which pip install . makes the Python package; apt-get install python3-venv"
