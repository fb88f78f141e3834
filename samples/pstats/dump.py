"""Profile the program in app/ and dump the profile. Runs with Python 2.7 and every 3.

    python dump.py cprofile|profile|yappi OUT.prof

The program is compiled as if it lay in /opt/sample, so that the dump tells nothing of this machine.
"""
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name, path):
    """Module NAME from app/PATH."""
    with open(os.path.join(HERE, "app", path)) as source:
        code = compile(source.read(), "/opt/sample/" + path, "exec")
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(code, module.__dict__)
    return module


def load_program():
    for package in "data", "model":
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].util = load(package + ".util", package + "/util.py")
    return load("train", "train.py")


def main(profiler, out):
    train = load_program()
    u"".encode("ascii")  # finds its codec at the first use, in files of this machine
    if profiler == "cprofile":
        import cProfile
        profile = cProfile.Profile()
        profile.runctx("main()", {"main": train.main}, {})
        profile.dump_stats(out)
    elif profiler == "profile":
        import profile
        profile = profile.Profile()
        profile.runctx("main()", {"main": train.main}, {})
        profile.dump_stats(out)
    elif profiler == "yappi":
        import yappi
        yappi.set_clock_type("wall")
        yappi.start(builtins=True)
        train.main()
        yappi.stop()
        stats = yappi.get_func_stats(filter_callback=lambda stat: stat.module != yappi.__file__)
        stats.save(out, type="pstat")
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
