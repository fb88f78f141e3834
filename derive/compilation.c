/* compilation.c - see compilation.h. */
#include "derive/compilation.h"

#include "trace/span.h"

/* Of torch's records, and of XLA's. */
static const char *const records[] = {
    "dynamo",           "entire_frame_compile", "backend_compile",     "compile_fx_inner",
    "inductor_compile", "XlaCompile",           "JitCompiler::Compile"
};

/* The file and the function of a Python frame: "torch/_dynamo/convert_frame.py(1124): _compile", "$pxla.py:1209 compile". */
static const struct {
    const char *file, *function;
} frames[] = {
    { "torch/_dynamo/convert_frame.py(", "_compile" },
    { "torch/_dynamo/convert_frame.py(", "compile_inner" },
    { "torch/_inductor/compile_fx.py(", "compile_fx" },
    { "torch/_inductor/compile_fx.py(", "compile_fx_inner" },
    { "torch/_functorch/aot_autograd.py(", "create_aot_dispatcher_function" },
    { "triton/compiler/compiler.py(", "compile" },
    { "triton/runtime/jit.py(", "_do_compile" },
    { "pxla.py:", "compile" },
    { "pxla.py:", "_cached_compilation" },
    { "compiler.py:", "compile_or_get_cached" },
    { "compiler.py:", "backend_compile" },
    { "compiler.py:", "backend_compile_and_load" },
};

static bool ends_with_word(const char *name, const char *word)
{
    size_t len = strlen(name), word_len = strlen(word);
    return len > word_len && name[len - word_len - 1] == ' ' && strcmp(name + len - word_len, word) == 0;
}

bool name_is_compilation(const char *name)
{
    if (ANY(i, sizeof records / sizeof *records, strcmp(name, records[i]) == 0))
        return true;
    return ANY(i, sizeof frames / sizeof *frames,
               ends_with_word(name, frames[i].function) && strstr(name, frames[i].file)) ||
           ends_with_word(name, "(dynamo_timed)") || strstr(name, "Client::Compile") != NULL;
}

struct intervals compilation_find(const struct trace *trace, uint32_t file)
{
    enum { UNKNOWN, NO, YES };
    struct intervals found = { 0 };
    const struct trace_file *of = &trace->files[file];
    uint8_t *known = mem_zalloc(names_count(trace->names) + 1, 1);
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        uint8_t *is = &known[trace->name[e]];
        if (*is == UNKNOWN)
            *is = name_is_compilation(trace_name(trace, e)) ? YES : NO;
        if (*is == YES && !event_on_device((enum event_kind)trace->kind[e]) &&
            !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)))
            intervals_add(&found, trace_start_ns(trace, e), trace_end_ns(trace, e));
    }
    free(known);
    intervals_merge(&found);
    return found;
}
