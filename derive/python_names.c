#define _GNU_SOURCE /* memmem */
#include "derive/python_names.h"

#include "base/memory.h"
#include <ctype.h>

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
    if (ANY(i, sizeof libraries / sizeof *libraries, strncmp(name, libraries[i], strlen(libraries[i])) == 0))
        return FRAME_OF_TORCH;
    return strstr(name, "/torch/") ? FRAME_OF_TORCH : FRAME_OF_USER;
}

static bool text_ends_in(const char *text, size_t len, const char *ending)
{
    size_t end = strlen(ending);
    return len >= end && memcmp(text + len - end, ending, end) == 0 &&
           (len == end || text[len - end - 1] == '/' || text[len - end - 1] == '\\');
}

bool python_waits(const char *file, size_t file_len, const char *function, size_t function_len)
{
    static const struct {
        const char *file, *function;
    } waits[] = {
        { "threading.py", "wait" },
        { "threading.py", "join" },
        { "threading.py", "acquire" },
        { "threading.py", "_wait_for_tstate_lock" },
        { "multiprocessing/pool.py", "_handle_tasks" },
        { "multiprocessing/pool.py", "_handle_results" },
        { "multiprocessing/pool.py", "_handle_workers" },
        { "multiprocessing/pool.py", "_wait_for_updates" },
        { "multiprocessing/connection.py", "_recv" },
        { "multiprocessing/connection.py", "_recv_bytes" },
        { "multiprocessing/connection.py", "recv" },
        { "multiprocessing/connection.py", "poll" },
        { "multiprocessing/connection.py", "_poll" },
        { "multiprocessing/connection.py", "wait" },
        { "multiprocessing/popen_fork.py", "poll" },
        { "multiprocessing/popen_fork.py", "wait" },
        { "multiprocessing/synchronize.py", "acquire" },
        { "multiprocessing/synchronize.py", "wait" },
        { "multiprocessing/queues.py", "get" },
        { "queue.py", "get" },
        { "selectors.py", "select" },
        { "subprocess.py", "wait" },
        { "subprocess.py", "_try_wait" },
        { "concurrent/futures/_base.py", "result" },
        { "concurrent/futures/_base.py", "wait" },
    };
    static const char *const built_in[] = { "'_thread.lock'", "'_thread.RLock'", "select.select",
                                            "select.poll",    "select.epoll",    "select.kqueue",
                                            "time.sleep",     "posix.waitpid",   "posix.wait",
                                            "SemLock" };
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (strlen(waits[i].function) == function_len &&
            memcmp(function, waits[i].function, function_len) == 0 &&
            text_ends_in(file, file_len, waits[i].file))
            return true;
    bool is_built_in = function_len > 0 && *function == '<';
    return is_built_in && ANY(i, sizeof built_in / sizeof *built_in,
                              memmem(function, function_len, built_in[i], strlen(built_in[i])));
}

bool python_frame_waits(const char *name)
{
    const char *line = strstr(name, ".py("), *function = line ? strstr(line, "): ") : NULL;
    if (!function)
        return python_waits("", 0, name, strlen(name));
    return python_waits(name, (size_t)(line - name) + 3, function + 3, strlen(function + 3));
}

bool python_frame_profiles(const char *name)
{
    return strstr(name, "torch/profiler/") || strstr(name, "torch/autograd/profiler");
}

bool python_function_of_xla(const char *name)
{
    return name[0] == '$' && name[1] != '\0';
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
