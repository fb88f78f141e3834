/*
 * python_names.h - parses the names of Python frames. Call once per name.
 *
 * Frames are "path/file.py(12): function", "<built-in method ...>", or, where a module of PyTorch was called,
 * "nn.Module: Linear_0": its class, and a number that distinguishes modules of one class.
 */
#ifndef TPA_DERIVE_PYTHON_NAMES_H
#define TPA_DERIVE_PYTHON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum python_frame {
    FRAME_NO_LINE,  /* has no line of source */
    FRAME_OF_TORCH, /* a line of PyTorch, or of parts of Python's library that many calls pass through */
    FRAME_OF_USER,
};

/* The kind of the Python frame NAME. */
enum python_frame python_frame_of(const char *name);

/* Does the thread wait, for another thread, process or file, in FUNCTION of FILE, both with a length? FILE is empty for what is
 * built in. */
bool python_waits(const char *file, size_t file_len, const char *function, size_t function_len);

/* The same of a frame of a trace. */
bool python_frame_waits(const char *name);

/* Is it a frame of torch's profiler, which starts, stops and marks what is recorded? */
bool python_frame_profiles(const char *name);

/* Is it a Python function as the tracer of JAX and TensorFlow calls it: "$compiler.py:292 backend_compile"? */
bool python_function_of_xla(const char *name);

/* "Linear_0" if the frame is a module's, a pointer into NAME; else NULL. */
const char *python_module_of(const char *name);

/* The length of the class in MODULE: 6 of "Linear_0". */
size_t python_class_length(const char *module);

#endif
