/*
 * classify.c - what events and tracks are, known from the words that producers use.
 *
 * Learnt from libkineto (2020 to 2026), the removed TensorBoard plugin, TensorFlow and JAX traces.
 * Everything here depends on a category or on a track; but TensorFlow and JAX have no categories, and there names
 * distinguish copies from kernels and calls of CUDA and HIP from the rest of the host.
 */
#include "trace/storage.h"
#include "base/rows.h"

#include <ctype.h>
#include <strings.h>

struct category_row {
    const char *text;
    enum event_kind kind;
};

/* Compared without regard to case: "Kernel" and "kernel" both occur. */
static const struct category_row known_categories[] = {
    { "cpu_op", EVENT_OP },
    { "operator", EVENT_OP },
    { "user_annotation", EVENT_ANNOTATION },
    { "user_annotation_across_threads", EVENT_ANNOTATION },
    { "nvtx", EVENT_ANNOTATION },
    { "python_function", EVENT_PYTHON },
    { "cuda_runtime", EVENT_RUNTIME },
    { "hip_runtime", EVENT_RUNTIME },
    { "runtime", EVENT_RUNTIME },
    { "cuda_driver", EVENT_DRIVER },
    { "overhead", EVENT_OVERHEAD },
    { "cpu_instant_event", EVENT_INSTANT },
    { "kernel", EVENT_KERNEL },
    { "concurrent_kernel", EVENT_KERNEL },
    { "mtia_ccp_events", EVENT_KERNEL },
    { "mtia_insight", EVENT_GPU_OTHER },
    { "mtia_counters", EVENT_GPU_OTHER },
    { "mtia_workloadd", EVENT_GPU_OTHER },
    { "hpu_op", EVENT_KERNEL },
    { "cuda_profiler_range", EVENT_GPU_OTHER },
    { "gpu_other", EVENT_GPU_OTHER },
    { "kernel_dispatch", EVENT_KERNEL }, /* this and the next: rocprofv3 */
    { "memory_copy", EVENT_MEMCPY },
    { "hip_api", EVENT_RUNTIME },
    { "gpu_memcpy", EVENT_MEMCPY },
    { "memcpy", EVENT_MEMCPY },
    { "gpu_memset", EVENT_MEMSET },
    { "memset", EVENT_MEMSET },
    { "cuda_sync", EVENT_SYNC },
    { "xpu_sync", EVENT_SYNC },
    { "gpu_user_annotation", EVENT_GPU_ANNOTATION },
    { "trace", EVENT_SPAN },
};

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcasecmp(text + len - end_len, end) == 0;
}

enum event_kind category_kind(const char *text)
{
    for (size_t i = 0; i < sizeof known_categories / sizeof *known_categories; i++)
        if (strcasecmp(text, known_categories[i].text) == 0)
            return known_categories[i].kind;
    if (ends_with(text, "_runtime")) /* xpu_runtime, mtia_runtime, glow_runtime, privateuse1_runtime */
        return EVENT_RUNTIME;
    return ends_with(text, "_driver") ? EVENT_DRIVER : EVENT_OTHER;
}

static bool is_one_of_words(const char *text, const char *const *words, size_t count)
{
    return ANY(i, count, strcmp(text, words[i]) == 0);
}

static const char *classify_text_of(const struct trace_storage *storage, name_id id)
{
    return names_text(storage->texts, id);
}

/* The last number in TEXT, or MISSING: "/device:GPU:3" -> 3, "stream 7" -> 7. */
static int64_t last_number(const char *text, int64_t missing)
{
    const char *end = text + strlen(text);
    while (end > text && !isdigit((unsigned char)end[-1]))
        end--;
    if (end == text)
        return missing;
    const char *digits = end;
    while (digits > text && isdigit((unsigned char)digits[-1]) && end - digits < 18)
        digits--;
    return strtoll(digits, NULL, 10);
}

/* The first number in TEXT, or MISSING: "/device:GPU:3 Compute (pid 7)" -> 3. */
static int64_t first_number(const char *text, int64_t missing)
{
    const char *digits = text + strcspn(text, "0123456789");
    return *digits && strspn(digits, "0123456789") <= 18 ? strtoll(digits, NULL, 10) : missing;
}

static bool has_property(const struct trace_file *file, const char *key)
{
    return trace_file_property(file, key) != NULL;
}

/* Names of processes identify files of TensorFlow and JAX, which have no keys of their own. */
static enum trace_producer producer_by_processes(const struct trace_storage *storage, uint32_t file)
{
    enum trace_producer found = PRODUCER_UNKNOWN;
    FOR_EACH(track, &storage->tracks) {
        if (track->file != file)
            continue;
        const char *process = classify_text_of(storage, track->process_name);
        if (strstr(process, "/job:"))
            return PRODUCER_TENSORFLOW;
        if (strncmp(process, "/host:", 6) == 0 || strncmp(process, "/device:", 8) == 0)
            found = PRODUCER_JAX;
        if (found == PRODUCER_UNKNOWN &&
            (strcmp(process, "Browser") == 0 || strcmp(process, "Renderer") == 0))
            found = PRODUCER_CHROME;
    }
    return found;
}

/* TensorFlow and JAX name processes alike. What only TensorFlow writes: its executor and tf.data; what only JAX does: its jit. */
static bool names_are_of_tensorflow(const struct trace_storage *storage, const struct trace_file *file)
{
    enum { ENOUGH = 100000 };
    static const char *const tensorflow[] = {
        "ExecutorState::Process", "IteratorGetNext",   "Iterator::",         "EagerExecute", "FunctionRun",
        "TFE_Py_Execute",         "EagerLocalExecute", "KernelAndDeviceFunc"
    };
    static const char *const jax[] = { "PjitFunction", "jit_", "JitFunction", "PjRt", "jax" };
    bool found = false;
    size_t end = file->first_event + file->event_count;
    name_id last = NAME_NONE;
    for (size_t e = file->first_event; e < end && e < (size_t)file->first_event + ENOUGH; e++) {
        if (storage->name[e] == last)
            continue;
        last = storage->name[e];
        const char *name = names_text(storage->names, last);
        if (ANY(i, sizeof jax / sizeof *jax, strncmp(name, jax[i], strlen(jax[i])) == 0))
            return false;
        for (size_t i = 0; i < sizeof tensorflow / sizeof *tensorflow && !found; i++)
            found = strncmp(name, tensorflow[i], strlen(tensorflow[i])) == 0;
    }
    return found;
}

/* Categories that only Kineto writes; "cpu_op" and "kernel" others write, too. */
static bool is_category_of_kineto(const char *category)
{
    static const char *const categories[] = {
        "user_annotation",     "python_function",   "cuda_runtime", "cuda_driver", "gpu_memcpy", "gpu_memset",
        "gpu_user_annotation", "cpu_instant_event", "cuda_sync",    "Runtime",     "Operator",   "hip_runtime"
    };
    return is_one_of_words(category, categories, sizeof categories / sizeof *categories) ||
           ends_with(category, "_runtime") || ends_with(category, "_driver");
}

/* Do the first events have what only Kineto writes: its categories, operators of PyTorch, steps of its profiler? */
static bool events_are_of_kineto(const struct trace_storage *storage, const struct trace_file *file)
{
    enum { ENOUGH = 10000 };
    size_t end = file->first_event + file->event_count;
    for (size_t e = file->first_event; e < end && e < (size_t)file->first_event + ENOUGH; e++) {
        const char *name = names_text(storage->names, storage->name[e]);
        if (storage->kind[e] != EVENT_OTHER &&
            (strncmp(name, "aten::", 6) == 0 || strncmp(name, "ProfilerStep#", 13) == 0 ||
             is_category_of_kineto(
                 classify_text_of(storage, storage->categories.at[storage->category[e]].text))))
            return true;
    }
    return false;
}

static enum trace_producer find_producer(const struct trace_storage *storage, uint32_t index)
{
    const struct trace_file *file = &storage->files.at[index];
    if (file->producer != PRODUCER_UNKNOWN)
        return file->producer;
    static const enum trace_producer recorders[] = {
        PRODUCER_TPA,    PRODUCER_NSYS,     PRODUCER_ROCPROF, PRODUCER_TORCH_NPU,
        PRODUCER_MSPROF, PRODUCER_UNITRACE, PRODUCER_ONNX,    PRODUCER_PROTON,
    };
    const char *recorder = trace_file_property(file, "recorded by"); /* of what was converted */
    for (size_t i = 0; recorder && i < sizeof recorders / sizeof *recorders; i++)
        if (strncmp(recorder, trace_producer_name(recorders[i]), strlen(trace_producer_name(recorders[i]))) ==
            0)
            return recorders[i];
    if (has_property(file, "viztracer_metadata"))
        return PRODUCER_VIZTRACER;
    enum trace_producer by_processes = producer_by_processes(storage, index);
    if (by_processes == PRODUCER_JAX && names_are_of_tensorflow(storage, file))
        return PRODUCER_TENSORFLOW;
    if (by_processes == PRODUCER_TENSORFLOW || by_processes == PRODUCER_JAX)
        return by_processes;
    if (has_property(file, "deviceProperties") || has_property(file, "schemaVersion") || file->has_window)
        return PRODUCER_KINETO;
    return events_are_of_kineto(storage, file) ? PRODUCER_KINETO : by_processes;
}

/* ---- devices known only by the names of processes and threads (TensorFlow, JAX) ---- */

static bool is_device_process(const char *process)
{
    return strstr(process, "/device:GPU") || strstr(process, "/device:TPU") || strstr(process, "/gpu:") ||
           strstr(process, "/device:XLA_GPU");
}

/* "Stream #13(Kernel)", "stream 13(Compute)", ".../stream:13 Compute". */
static bool is_stream(const char *process, const char *thread)
{
    if (strncasecmp(thread, "stream", 6) == 0)
        return true;
    const char *stream = strstr(process, "/stream:");
    return stream && isdigit((unsigned char)stream[8]);
}

/* How a file shows its devices. What comes later in the list repeats or groups what comes before. */
enum device_form {
    DEVICES_BY_OPERATOR, /* "/job:localhost/replica:0/task:0/device:GPU:0 Compute" or "/device:TPU:0" */
    DEVICES_IN_ALL,      /* "/device:GPU:0/stream:all Compute" */
    DEVICES_BY_STREAM,
};

static enum device_form form_of_track(const char *process, const char *thread)
{
    return is_stream(process, thread)       ? DEVICES_BY_STREAM
           : strstr(process, "/stream:all") ? DEVICES_IN_ALL
                                            : DEVICES_BY_OPERATOR;
}

/* The most exact form that FILE shows anything in, for each file; heap. */
static uint8_t *find_device_forms(const struct trace_storage *storage)
{
    uint8_t *forms = mem_zalloc(storage->files.count + 1, 1);
    FOR_EACH(track, &storage->tracks) {
        const char *process = classify_text_of(storage, track->process_name);
        if (!track->event_count || !is_device_process(process))
            continue;
        enum device_form form = form_of_track(process, classify_text_of(storage, track->thread_name));
        if (form > forms[track->file])
            forms[track->file] = (uint8_t)form;
    }
    return forms;
}

/* Threads of a device that group the work of others, or record what it waited for (barriers, copies). */
static const char *const grouping_threads[] = {
    "Steps",
    "XLA Modules",
    "Framework Name Scope",
    "Framework Ops",
    "Source code",
    "TensorFlow Ops",
    "Overlay",
    "Launch Stats",
    "TensorFlow Name Scope",
    "Sparse Core Steps",
    "Sparse Core Modules",
    NULL,
};
static const char *const waits[] = { "XLA TraceMe", NULL };

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

/* Kind of the events of TRACK when its names say that it is a device's; EVENT_OTHER when they do not. */
static enum event_kind kind_by_names(const struct trace_storage *storage, const struct track *track,
                                     enum device_form form_of_file)
{
    const char *process = classify_text_of(storage, track->process_name),
               *thread = classify_text_of(storage, track->thread_name);
    if (!is_device_process(process))
        return EVENT_OTHER;
    enum device_form form = form_of_track(process, thread);
    if (form < form_of_file) {
        /* With streams beside them, TensorFlow 1's operators "on" a device show the host that ran them. */
        bool is_host =
            strstr(process, "/job:") && !strstr(process, "/stream:") && !strstr(process, "/memcpy");
        return is_host ? EVENT_OTHER : EVENT_GPU_ANNOTATION;
    }
    return form != DEVICES_BY_OPERATOR           ? EVENT_KERNEL
           : is_one_of(thread, waits)            ? EVENT_SYNC
           : is_one_of(thread, grouping_threads) ? EVENT_GPU_ANNOTATION
                                                 : EVENT_KERNEL;
}

/* An asynchronous copy of XLA, as TPUs show it: "async-copy" of the line beside the operators, and the operators "copy-start.2" and
 * "copy-done.2", of which the second waits for it. Slices that are copied are called so, too. (hlo_opcode.h of XLA)
 * In JSON of xprof the copies between host and device have rows of their own, "Host Offload Ops row 0", and are called
 * "offload-copy.2". */
static bool is_copy_of_xla(const char *name)
{
    static const char *const what[] = { "copy", "slice", "dynamic-slice", "dynamic-update-slice" };
    static const char *const ends[] = { "-start", "-done" };
    static const char offload[] = "offload-copy.";
    if (strncmp(name, offload, sizeof offload - 1) == 0)
        return true;
    bool is_async = strncmp(name, "async-", 6) == 0;
    const char *rest = is_async ? name + 6 : name;
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        size_t len = strlen(what[i]);
        if (strncmp(rest, what[i], len) != 0)
            continue;
        const char *end = rest + len;
        bool is_part = false;
        for (size_t k = 0; k < sizeof ends / sizeof *ends && !is_part; k++)
            if (strncmp(end, ends[k], strlen(ends[k])) == 0) {
                end += strlen(ends[k]);
                is_part = true;
            }
        if ((is_async || is_part) && (*end == '\0' || *end == '.'))
            return true;
    }
    return false;
}

/* "CopyHostToDevice" and the like, as AMD's runtime calls copies; and XLA's. */
static bool is_copy(const char *name)
{
    return strncasecmp(name, "memcpy", 6) == 0 ||
           (strncmp(name, "Copy", 4) == 0 && isupper((unsigned char)name[4]) && strstr(name + 4, "To")) ||
           is_copy_of_xla(name);
}

/* "model/dense/MatMul:MatMul", an operator of TensorFlow with its type; names of Python begin with '$', others have "::". */
static bool is_typed_operator(const char *name)
{
    size_t len = isalnum((unsigned char)*name) || *name == '.' ? 1 : 0;
    while (len && (isalnum((unsigned char)name[len]) || (name[len] && strchr("_./>-", name[len]))))
        len++;
    const char *type = name + len + 1;
    if (!len || name[len] != ':' || !(isupper((unsigned char)*type) || *type == '_'))
        return false;
    while (isalnum((unsigned char)*type) || *type == '_')
        type++;
    return *type == '\0';
}

/* The kind of an event of TensorFlow or JAX by its name; EVENT_OTHER if the name is unknown. */
static enum event_kind kind_by_name(const char *name, enum event_kind kind_of_track)
{
    static const struct {
        const char *prefix;
        enum event_kind kind;
    } calls[] = { { "cuda", EVENT_RUNTIME }, { "hip", EVENT_RUNTIME }, { "cu", EVENT_DRIVER } };
    if (kind_of_track == EVENT_KERNEL)
        return is_copy(name)                         ? EVENT_MEMCPY
               : strncasecmp(name, "memset", 6) == 0 ? EVENT_MEMSET
                                                     : EVENT_KERNEL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && kind_of_track == EVENT_OTHER; i++) {
        size_t len = strlen(calls[i].prefix);
        if (strncmp(name, calls[i].prefix, len) == 0 && isupper((unsigned char)name[len]) &&
            islower((unsigned char)name[len + 1])) /* but "cuDNN ..." is not a call */
            return calls[i].kind;
    }
    bool is_op =
        is_typed_operator(name) || strncmp(name, "IteratorGetNext", 15) == 0; /* tf.data's, by its function */
    return kind_of_track == EVENT_OTHER && is_op ? EVENT_OP : kind_of_track;
}

/* What kind_by_name said of each name on hosts and among kernels, 1 more; 0: not determined yet. */
struct known_kinds {
    uint8_t *on_host, *of_kernels;
};

static enum event_kind known_kind(struct known_kinds *known, const struct names *names, name_id id,
                                  enum event_kind kind_of_track)
{
    uint8_t *kind = kind_of_track == EVENT_OTHER    ? &known->on_host[id]
                    : kind_of_track == EVENT_KERNEL ? &known->of_kernels[id]
                                                    : NULL;
    if (!kind)
        return kind_of_track;
    if (*kind == 0)
        *kind = (uint8_t)(1 + kind_by_name(names_text(names, id), kind_of_track));
    return (enum event_kind)(*kind - 1);
}

/* A track by its process. */
struct process_track {
    uint32_t file;
    name_id pid_text;
    int64_t pid;
    track_id track;
};

static bool same_process(const struct process_track *a, const struct process_track *b)
{
    return a->file == b->file && a->pid_text == b->pid_text && a->pid == b->pid;
}

static const struct key by_process_tracks[] = { ASC(struct process_track, file),
                                                ASC(struct process_track, pid_text),
                                                ASC(struct process_track, pid),
                                                ASC(struct process_track, track), KEY_END };

/* Names of a process are given once, often under another thread: spread them over its tracks. */
static void spread_process_names(struct trace_storage *storage)
{
    size_t count = storage->tracks.count;
    SCOPED struct process_track *order = mem_alloc(mem_times(count + 1, sizeof *order));
    for (track_id i = 0; i < count; i++) {
        const struct track *track = &storage->tracks.at[i];
        order[i] = (struct process_track){ track->file, track->pid_text, track->pid, i };
    }
    SORT_ARRAY(order, count, by_process_tracks);
    for (size_t first = 0, end; first < count; first = end) {
        struct track facts = storage->tracks.at[order[first].track];
        for (end = first; end < count && same_process(&order[first], &order[end]); end++) {
            const struct track *track = &storage->tracks.at[order[end].track];
            if (track->process_name != NAME_NONE)
                facts.process_name = track->process_name;
            if (track->process_labels != NAME_NONE)
                facts.process_labels = track->process_labels;
            if (track->process_sort_index)
                facts.process_sort_index = track->process_sort_index;
        }
        for (size_t i = first; i < end; i++) {
            struct track *track = &storage->tracks.at[order[i].track];
            track->process_name = facts.process_name;
            track->process_labels = facts.process_labels;
            track->process_sort_index = facts.process_sort_index;
        }
    }
}

static void name_stream(const struct trace_storage *storage, struct track *track, bool by_names)
{
    track->kind = TRACK_STREAM;
    const char *process = classify_text_of(storage, track->process_name),
               *thread = classify_text_of(storage, track->thread_name);
    if (by_names) {
        const char *device = strstr(process, "/device:"), *stream = strstr(process, "/stream:");
        int64_t number = first_number(device ? device : process, 0);
        track->device = number <= INT32_MAX ? (int32_t)number : -1;
        track->stream = stream                                  ? first_number(stream, -1)
                        : strncasecmp(thread, "stream", 6) == 0 ? first_number(thread, track->tid)
                                                                : track->tid;
        return;
    }
    int64_t device = track->pid_text == NAME_NONE
                         ? track->pid
                         : last_number(classify_text_of(storage, track->pid_text), -1);
    track->device = device >= 0 && device <= INT32_MAX ? (int32_t)device : -1;
    track->stream = track->tid_text == NAME_NONE
                        ? track->tid
                        : last_number(classify_text_of(storage, track->tid_text), -1);
}

/* Process ids are larger; numbers of devices are not. */
enum { LEAST_PROCESS = 1024 };

static bool is_numbered_as_process(const struct track *track)
{
    return track->kind == TRACK_STREAM && track->pid_text == NAME_NONE && track->pid >= LEAST_PROCESS;
}

/* Writers that know no devices put kernels into the process of the host, whose number is no device's: the device is unknown, and
 * counts as 0. KINDS, by track, has a bit for each kind of event. */
static void forget_devices_of_processes(struct trace_storage *storage, const uint32_t *kinds)
{
    const uint32_t of_host = UINT32_C(1) << EVENT_OP | UINT32_C(1) << EVENT_ANNOTATION |
                             UINT32_C(1) << EVENT_PYTHON | UINT32_C(1) << EVENT_RUNTIME |
                             UINT32_C(1) << EVENT_DRIVER | UINT32_C(1) << EVENT_OTHER;
    size_t count = 0;
    SCOPED struct process_track *order = mem_alloc(mem_times(storage->tracks.count + 1, sizeof *order));
    for (track_id i = 0; i < storage->tracks.count; i++) {
        const struct track *track = &storage->tracks.at[i];
        if (track->pid_text == NAME_NONE && track->pid >= LEAST_PROCESS)
            order[count++] = (struct process_track){ track->file, track->pid_text, track->pid, i };
    }
    SORT_ARRAY(order, count, by_process_tracks);
    for (size_t first = 0, end; first < count; first = end) {
        uint32_t found = 0;
        for (end = first; end < count && same_process(&order[first], &order[end]); end++)
            found |= kinds[order[end].track];
        for (size_t i = first; i < end && found & of_host; i++)
            if (is_numbered_as_process(&storage->tracks.at[order[i].track]))
                storage->tracks.at[order[i].track].device = 0;
    }
}

/* XLA writes at most a million events as JSON, and nothing in the file says that there were more. */
static void look_for_limit(struct trace_builder *builder, uint32_t index)
{
    enum { MOST_EVENTS = 1000000 };
    const struct trace_file *file = &builder->storage->files.at[index];
    bool is_json = file->format && strcmp(file->format, "Chrome JSON") == 0;
    if ((file->producer != PRODUCER_JAX && file->producer != PRODUCER_TENSORFLOW) || !is_json ||
        file->event_count < MOST_EVENTS / 2 || file->event_count > MOST_EVENTS + MOST_EVENTS / 2)
        return;
    const struct trace_storage *storage = builder->storage;
    uint64_t written =
        file->event_count; /* operators around calls are ours, ends of operators were left out */
    for (size_t i = 0; i < storage->notices.count; i++)
        if (storage->notices.at[i].file == index && strcmp(storage->notices.at[i].kind, "operator_ends") == 0)
            written += storage->notices.at[i].count;
    for (event_id e = file->first_event; e < (size_t)file->first_event + file->event_count; e++) {
        const char *name = names_text(storage->names, storage->name[e]);
        written -= storage->kind[e] == EVENT_OP && e + 1 < (size_t)file->first_event + file->event_count &&
                   storage_start_ns(storage, e) == storage_start_ns(storage, e + 1) && strchr(name, '/') &&
                   storage_end_ns(storage, e) == storage_end_ns(storage, e + 1) &&
                   storage->track[e] == storage->track[e + 1];
    }
    if (written == MOST_EVENTS)
        builder_notice(
            builder, index, lack_word(LACK_CUT_AT_LIMIT),
            "the file holds exactly 1,000,000 events, at which JAX and TensorFlow stop writing JSON: more may have "
            "been recorded; the *.xplane.pb beside it has all",
            1, TPA_NOWHERE);
}

/* E is on a device: readers, who do not know that, called it an operator of XLA, which has no category. */
static void read_category(struct trace_builder *builder, size_t e)
{
    struct trace_storage *storage = builder->storage;
    name_id none = builder_category(builder, "", 0);
    storage->categories.at[storage->category[e]].event_count--;
    storage->category[e] = (uint16_t)none;
    storage->categories.at[none].event_count++;
}

/* The kind of E, on a track whose categories do not tell it, or which is of KIND_OF_TRACK by its names. */
static void settle_kind(struct trace_builder *builder, struct known_kinds *known, size_t e,
                        enum event_kind kind_of_track)
{
    struct trace_storage *storage = builder->storage;
    enum event_kind kind = storage->kind[e];
    if (kind == EVENT_OP && kind_of_track != EVENT_OTHER)
        read_category(builder, e);
    if (kind == EVENT_INSTANT && kind_of_track != EVENT_OTHER) { /* xprof writes work of no length so */
        storage->flags[e] &= (uint8_t)~EVENT_POINT;
        kind = EVENT_OTHER;
    }
    if (kind == EVENT_OTHER || (kind == EVENT_OP && kind_of_track != EVENT_OTHER))
        storage->kind[e] = (uint8_t)known_kind(known, storage->names, storage->name[e], kind_of_track);
}

void builder_classify(struct trace_builder *builder)
{
    struct trace_storage *storage = builder->storage;
    spread_process_names(storage);
    if (builder->trace->wants.as_written)
        return;
    for (uint32_t i = 0; i < storage->files.count; i++)
        storage->files.at[i].producer = find_producer(storage, i);

    for (uint32_t i = 0; i < storage->files.count; i++)
        look_for_limit(builder, i);

    /* Kinds known only by names, in files without categories. */
    size_t count = storage->tracks.count;
    SCOPED uint8_t *kind_of = mem_zalloc(count + 1, 1);
    SCOPED bool *has_kinds = mem_zalloc(count + 1, sizeof *has_kinds); /* by track: known by its categories */
    uint8_t *forms = find_device_forms(storage);
    for (size_t i = 0; i < count; i++) {
        const struct track *track = &storage->tracks.at[i];
        enum trace_producer producer = storage->files.at[track->file].producer;
        has_kinds[i] = producer != PRODUCER_TENSORFLOW && producer != PRODUCER_JAX;
        kind_of[i] = (uint8_t)(producer == PRODUCER_KINETO
                                   ? EVENT_OTHER
                                   : kind_by_names(storage, track, (enum device_form)forms[track->file]));
    }
    free(forms);
    size_t name_count = names_count(storage->names);
    struct known_kinds known = { mem_zalloc(name_count + 1, 1), mem_zalloc(name_count + 1, 1) };
    SCOPED uint32_t *kinds =
        mem_zalloc(count + 1, sizeof *kinds); /* by track: a bit for each kind of event it has */
    for (size_t e = 0, next; e < storage->count; e = next) {
        track_id track = storage->track[e];
        bool by_name = kind_of[track] != EVENT_OTHER || !has_kinds[track];
        uint32_t found = 0; /* in all events in a row that are on the track */
        for (next = e; next < storage->count && storage->track[next] == track; next++) {
            if (by_name)
                settle_kind(builder, &known, next, (enum event_kind)kind_of[track]);
            found |= UINT32_C(1) << storage->kind[next];
        }
        kinds[track] |= found;
    }
    for (size_t i = 0; i < count; i++) {
        struct track *track = &storage->tracks.at[i];
        bool on_device =
            ANY(kind, EVENT_KINDS, event_on_device((enum event_kind)kind) && kinds[i] >> kind & 1);
        if (on_device)
            name_stream(storage, track, kind_of[i] != EVENT_OTHER);
        else if (kinds[i] >> EVENT_SPAN & 1 || (track->pid_text != NAME_NONE && track->tid_text != NAME_NONE))
            track->kind = TRACK_OTHER;
    }
    forget_devices_of_processes(storage, kinds);
    EACH(free, known.on_host, known.of_kernels);
}
