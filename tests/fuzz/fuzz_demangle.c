/*
 * fuzz_demangle.c - any bytes as a mangled name of C++: demangled as people read it and as torch does, and what tpa makes
 * of names that it meets: kernels, copies, collectives, Python functions.
 */
#include "base/demangle.h"

#include "tests/fuzz/fuzz.h"
#include "trace/call_names.h"
#include "derive/collective_names.h"
#include "derive/copy_names.h"
#include "derive/gpu_names.h"
#include "derive/python_names.h"
#include "report/shorten.h"

static void look_at(const char *name, size_t len)
{
    SCOPED struct buffer text = { 0 };
    kernel_tensor_use(name);
    annotation_is_data_loading(name);
    call_sort_of(name);
    collective_kind_of(name);
    collective_library_of(name);
    collective_runs_on_host(name);
    element_type_of(name, len);
    element_type_of_kernel(name);
    python_frame_of(name);
    const char *module = python_module_of(name);
    if (module && python_class_length(module) > strlen(module))
        abort();
    copy_kind_of(name);
    for (size_t most = 1; most < 60; most += 7) {
        shorten_name(&text, name, len, most);
        shorten_middle(&text, name, len, most);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCOPED char *name = malloc(size + 3);
    if (!name)
        abort();
    memcpy(name, "_Z", 2); /* without these, hardly an input gets past the first look */
    memcpy(name + 2, data, size);
    name[size + 2] = '\0';
    for (int skipped = 0; skipped <= 2; skipped += 2) {
        struct buffer text = { 0 };
        bool changed = demangle_name(&text, name + skipped);
        if (!changed && text.count)
            abort(); /* nothing is appended then */
        buffer_clear(&text);
        changed = demangle_as_torch(&text, name + skipped);
        if (!changed && text.count)
            abort();
        buffer_release(&text);
        look_at(name + skipped, strlen(name + skipped));
    }
    return 0;
}
