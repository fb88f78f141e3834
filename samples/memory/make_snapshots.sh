#!/bin/sh
# Make the memory snapshots beside this script again: the same bytes each time.
set -e
cd "$(dirname "$0")"
make=../../tests/tools/random_snapshot.py
python3 $make 11 snapshot.pickle --devices 2 --steps 6 --oom
python3 $make 12 snapshot_before.pickle --steps 4
python3 $make 12 snapshot_after.pickle --steps 8 --leak 1048576
python3 $make 13 snapshot_expandable.pickle --expandable --steps 3 --protocol 5
python3 $make 14 snapshot_ring.pickle --ring 40 --steps 8 --no-times
