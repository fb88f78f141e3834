/* python_names.c - see python_names.h. */
#include "derive/python_names.h"

#include <ctype.h>
#include <string.h>

enum python_frame python_frame_of(const char *name)
{
    if (!strstr(name, ".py("))
        return FRAME_NO_LINE;
    /* The profiler omits the folder in sys.path from file names. */
    static const char *const libraries[] = { "torch/",     "contextlib.py", "threading.py", "functools.py",
                                             "typing.py",  "enum.py",       "abc.py",       "copy.py",
                                             "weakref.py", "logging/",      "importlib/" };
    const char *library = strstr(name, "/lib/python"); /* "/usr/lib/python3.11/contextlib.py(81): inner" */
    if (library && (library = strchr(library + strlen("/lib/python"), '/')))
        name = library + 1;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return FRAME_OF_TORCH;
    return strstr(name, "/torch/") ? FRAME_OF_TORCH : FRAME_OF_USER;
}

const char *python_module_of(const char *name)
{
    static const char prefix[] = "nn.Module: ";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : NULL;
}

size_t python_class_length(const char *module)
{
    size_t len = strlen(module), digits = len;
    while (digits > 0 && isdigit((unsigned char)module[digits - 1]))
        digits--;
    return digits < len && digits > 1 && module[digits - 1] == '_' ? digits - 1 : len;
}
