# What `tpa bottleneck` brings into a Python process: PYTHONPATH leads Python to this file before the program begins. It
# records with cProfile and, once the program imports torch, with torch.profiler. When the process ends, it writes into the
# folder that TPA_BOTTLENECK names: NAME.prof, NAME.json (the trace) and NAME.txt (the environment). Nothing here may stop
# the program: what fails is written into NAME.txt.
import sys


def _begin():
    import atexit
    import os
    import threading
    import time

    folder = os.environ["TPA_BOTTLENECK"]
    seconds = float(os.environ.get("TPA_BOTTLENECK_SECONDS", "30"))
    state = {"profile": None, "trace": None, "until": None, "thread": threading.get_ident(), "troubles": [], "done": False,
             "main": str(os.getppid()) == os.environ.get("TPA_BOTTLENECK_PID"), "begin": time.time()}

    def name():
        kind = "main" if state["main"] else "rank" + os.environ["RANK"] if os.environ.get("RANK") else "child"
        return os.path.join(folder, kind if kind == "main" else "%s-%d" % (kind, os.getpid()))

    def attempt(what, step):
        try:
            return step()
        except Exception as error:
            state["troubles"].append("%s: %s: %s" % (what, type(error).__name__, error))

    # ---- cProfile ----

    def begin_profile():
        import cProfile

        if not state["done"]:
            state["profile"] = cProfile.Profile()
            state["profile"].enable()

    def end_profile():
        profile, state["profile"] = state["profile"], None
        if profile is not None:
            import marshal

            profile.disable()
            profile.create_stats()
            stats = {function: figures[:4] + ({caller: call for caller, call in figures[4].items() if caller[0] != __file__},)
                     for function, figures in profile.stats.items() if function[0] != __file__}
            with open(name() + ".prof", "wb") as file:
                marshal.dump(stats, file)

    def yield_to_the_program():
        # There can be one such profiler: the program's own comes first.
        import cProfile

        enable = cProfile.Profile.enable

        def enable_ours_off(self, *args, **kwargs):
            if state["profile"] is not None and self is not state["profile"]:
                state["troubles"].append("cProfile: the program uses it itself: recorded until then")
                attempt("cProfile", end_profile)
            return enable(self, *args, **kwargs)

        cProfile.Profile.enable = enable_ours_off

    # ---- torch ----

    def begin_trace():
        import torch
        from torch.profiler import ProfilerAction, ProfilerActivity, profile

        activities = [ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(ProfilerActivity.CUDA)
        # Only with a schedule are there steps; this one never stops recording. The first step begins when an optimizer is
        # made: a process without one, such as a launcher, has none.
        trace = profile(activities=activities, schedule=lambda step: ProfilerAction.RECORD)
        trace.record_steps = False
        trace.start()
        state["trace"], state["until"] = trace, time.time() + seconds
        mark_steps(torch)

    def end_trace():
        trace, state["trace"] = state["trace"], None
        if trace is not None:
            trace.stop()
            trace.export_chrome_trace(name() + ".json")

    def mark_steps(torch):
        # Each step of an optimizer ends a step of the recording. torch has no hook for it in all of its versions.
        step = torch.optim.Optimizer.__init__

        def begin_steps():
            trace = state["trace"]
            if trace is not None and threading.get_ident() == state["thread"] and not trace.record_steps:
                trace.record_steps = True
                trace.step()

        def with_steps(self, *args, **kwargs):
            step(self, *args, **kwargs)
            attempt("torch.profiler", begin_steps)
            own = self.step

            def stepped(*a, **k):
                result = own(*a, **k)
                if state["trace"] is not None and threading.get_ident() == state["thread"]:
                    if time.time() > state["until"]:
                        attempt("torch.profiler", end_trace)
                    else:
                        attempt("torch.profiler", state["trace"].step)
                return result

            self.step = stepped

        torch.optim.Optimizer.__init__ = with_steps

    class Finder:
        """Lets torch be found as ever, and begins to record when it has been imported."""

        @staticmethod
        def find_spec(module, path=None, target=None):
            if module != "torch":
                return None
            import importlib.util

            sys.meta_path.remove(Finder)
            spec = importlib.util.find_spec("torch")
            if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
                return spec
            run = spec.loader.exec_module

            def run_and_record(it):
                run(it)
                if threading.get_ident() == state["thread"]:
                    attempt("torch.profiler", begin_trace)

            spec.loader.exec_module = run_and_record
            return spec

    # ---- the environment ----

    def describe():
        import platform

        facts = [("Python", "%s, %s" % (platform.python_version(), sys.executable)),
                 ("Program", " ".join(getattr(sys, "orig_argv", None) or sys.argv))]
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "__version__"):
            cuda = getattr(getattr(torch, "version", None), "cuda", None)
            facts.append(("torch", "%s, %s" % (torch.__version__, "CUDA " + cuda if cuda else "built without CUDA")))
            facts.append(("torch threads", str(torch.get_num_threads())))
            if cuda and torch.cuda.is_available():
                facts += [("GPU %d" % i, torch.cuda.get_device_name(i)) for i in range(torch.cuda.device_count())]
                flags = [("cudnn.benchmark", torch.backends.cudnn.benchmark),
                         ("matmul.allow_tf32", torch.backends.cuda.matmul.allow_tf32)]
                facts.append(("flags", ", ".join("%s=%s" % f for f in flags)))
        for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING",
                    "PYTORCH_CUDA_ALLOC_CONF"):
            if key in os.environ:
                facts.append((key, os.environ[key]))
        facts.append(("Time", "%.3f s" % (time.time() - state["begin"])))
        return facts

    def end():
        if state["done"]:
            return
        state["done"] = True
        attempt("torch.profiler", end_trace)
        attempt("cProfile", end_profile)
        facts = attempt("environment", describe) or []
        with open(name() + ".txt", "w", encoding="utf-8", errors="replace") as file:
            for key, value in facts + [("not recorded", trouble) for trouble in state["troubles"]]:
                file.write("%s: %s\n" % (key, " ".join(str(value).split())))

    # ---- processes that are forked: DataLoader's workers, multiprocessing ----

    def begin_in_child():
        if state["profile"] is not None:
            state["profile"].disable()
        state["parents"] = (state["profile"], state["trace"])  # kept: to end them is not this process's business
        state.update(profile=None, trace=None, troubles=[], done=False, main=False, thread=threading.get_ident(),
                     begin=time.time())
        attempt("cProfile", begin_profile)
        util = sys.modules.get("multiprocessing.util")
        if util is not None:  # such a process ends without atexit, and forgets what was registered before it began
            util.register_after_fork(end, lambda _: util.Finalize(None, lambda: attempt("end", end), exitpriority=-100))

    os.register_at_fork(before=lambda: None, after_in_child=lambda: attempt("fork", begin_in_child))
    def end_program():
        attempt("end", end)
        # Python ends a program with an unhandled KeyboardInterrupt by the signal, unless code was compiled meanwhile, as a
        # namedtuple is by what was imported above. It is registered first, so that it runs last.
        if getattr(sys, "last_type", None) is KeyboardInterrupt:
            import signal
            for stream in (sys.stdout, sys.stderr):
                attempt("flush", stream.flush)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)

    atexit.register(end_program)
    sys.meta_path.insert(0, Finder)
    attempt("cProfile", yield_to_the_program)
    attempt("cProfile", begin_profile)


def _pass_on():
    """Run the sitecustomize that this one hides."""
    import importlib.machinery
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    rest = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = type(sys)("sitecustomize")
        module.__file__ = spec.origin
        spec.loader.exec_module(module)


try:
    _begin()
finally:
    _pass_on()
