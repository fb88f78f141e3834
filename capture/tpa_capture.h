/*
 * tpa_capture.h - steer a recording from inside the program that is recorded.
 *
 * The functions are in libtpa_capture.so, which `tpa capture` loads into the program. A program that should also run
 * without the library looks them up at run time:
 *
 *     tpa_capture_step_function *step = (tpa_capture_step_function *)dlsym(RTLD_DEFAULT, "tpa_capture_step");
 *     for (...) {
 *         if (step)
 *             step();
 *         train();
 *     }
 *
 * from Python:
 *
 *     import ctypes, os
 *     tpa = ctypes.CDLL(os.environ["TPA_CAPTURE_LIBRARY"])         # set by `tpa capture`
 *     tpa.tpa_capture_range_push(b"validation")
 *
 * or links with -ltpa_capture and runs with or without `tpa capture`. Without it nothing is recorded unless the
 * environment requests it (docs/commands/capture.md); the functions then return TPA_CAPTURE_OFF and do nothing else.
 *
 * Threads: every function may be called from any thread at any time, also before CUDA is initialised. Ranges belong to
 * the thread that pushed them, as in NVTX: they are the NVTX ranges of the default domain.
 * Time: moments are taken from CLOCK_MONOTONIC, in nanoseconds, inside the call.
 * Cost: a range costs about 0.1 us; start and stop switch CUPTI and may take milliseconds.
 * Errors: 0 or a positive number is success, a negative one an enum tpa_capture_error. Nothing is printed, nothing is
 * thrown, errno is preserved. Forks: in a child made by fork a new recording begins, in a file of its own, with the
 * first range or when the child initialises CUDA.
 */
#ifndef TPA_CAPTURE_H
#define TPA_CAPTURE_H

#ifdef __cplusplus
extern "C" {
#endif

enum tpa_capture_error {
    TPA_CAPTURE_OK = 0,
    TPA_CAPTURE_OFF =
        -1, /* this process is not being recorded: it was not requested, has failed, or is over */
    TPA_CAPTURE_INVALID = -2, /* NULL instead of a name; a pop without a push */
};

/* Start recording, or resume it after tpa_capture_stop. Only needed after a stop or with `tpa capture --paused`. Calls
 * do not nest: one stop ends what any number of starts began. */
int tpa_capture_start(void);

/* Stop recording until tpa_capture_start. Work in progress on a device is still recorded when it ends. */
int tpa_capture_stop(void);

/* A step of the training loop begins here, and the one before it ends. Call it at the top of the loop, from one
 * thread. Returns the number of the step, from 0. The steps become `ProfilerStep#N` in the trace, which
 * `tpa steps` and --steps of the other commands know; `tpa capture --steps 10..20` counts them. */
int tpa_capture_step(void);

/* Begin a range NAME (UTF-8; copied) on this thread. Returns its depth, 0 for the outermost range. */
int tpa_capture_range_push(const char *name);

/* End the innermost range of this thread. Returns its depth. */
int tpa_capture_range_pop(void);

/* For dlsym. */
typedef int tpa_capture_step_function(void);
typedef int tpa_capture_range_push_function(const char *name);

#ifdef __cplusplus
}
#endif

#endif
