#!/usr/bin/env python3
"""Hold speedscope files to speedscope's file format: check_speedscope.py FILE...

What the published schema asks (keys and their types), and what it cannot say: frames exist, times never go back,
what is opened last is closed first and everything is closed, samples and weights are as many.
"""
import json
import sys

UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def check(condition, text):
    if not condition:
        raise ValueError(text)


def check_evented(profile, frames):
    open_frames, now = [], profile["startValue"]
    for event in profile["events"]:
        check(set(event) == {"type", "frame", "at"}, "event %r" % event)
        check(0 <= event["frame"] < frames, "frame %r" % event["frame"])
        check(event["at"] >= now, "time goes back at %r" % event)
        now = event["at"]
        if event["type"] == "O":
            open_frames.append(event["frame"])
        else:
            check(event["type"] == "C", "type %r" % event["type"])
            check(open_frames and open_frames.pop() == event["frame"], "%r closes what is not open" % event)
    check(not open_frames, "frames left open")
    check(now <= profile["endValue"], "events behind the end")
    return len(profile["events"])


def check_sampled(profile, frames):
    check(len(profile["samples"]) == len(profile["weights"]), "as many samples as weights")
    check(all(0 <= f < frames for stack in profile["samples"] for f in stack), "frames exist")
    check(sum(profile["weights"]) == profile["endValue"] - profile["startValue"], "weights add up")
    return len(profile["samples"])


def check_file(path):
    with open(path) as file:
        top = json.load(file)
    check(top["$schema"] == "https://www.speedscope.app/file-format-schema.json", "$schema")
    check(set(top) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}, "keys")
    for frame in top["shared"]["frames"]:
        check(isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}, "frame %r" % frame)
        check(isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 1), int), "frame %r" % frame)
    frames, seen = len(top["shared"]["frames"]), 0
    for profile in top["profiles"]:
        check(isinstance(profile["name"], str) and profile["unit"] in UNITS, "profile %r" % profile["name"])
        kind = profile["type"]
        check(kind in ("evented", "sampled"), "type %r" % kind)
        seen += (check_evented if kind == "evented" else check_sampled)(profile, frames)
    return seen


def main(paths):
    failed = 0
    for path in paths:
        try:
            check_file(path)
        except (ValueError, KeyError, TypeError) as problem:
            print("%s: %s: %s" % (path, type(problem).__name__, problem))
            failed += 1
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
