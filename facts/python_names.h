/*
 * python_names.h - what the name of a Python frame tells. To be called once per name.
 *
 * Frames are "path/file.py(12): function", "<built-in method ...>", or, where a module of PyTorch was called,
 * "nn.Module: Linear_0": its class, and a number that tells modules of one class apart.
 */
#ifndef TPA_FACTS_PYTHON_NAMES_H
#define TPA_FACTS_PYTHON_NAMES_H

#include <stddef.h>

enum python_frame {
    FRAME_NO_LINE, /* has no line of source */
    FRAME_OF_TORCH, /* a line of PyTorch, or of the parts of Python's library that it and everybody calls through */
    FRAME_OF_USER,
};

enum python_frame python_frame_of(const char *name);

/* "Linear_0" when the frame is a module's; else NULL. Within NAME. */
const char *python_module_of(const char *name);

/* How much of MODULE is its class: 6 of "Linear_0". */
size_t python_class_length(const char *module);

#endif
