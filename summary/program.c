/* program.c - the program whose run a trace is of, as far as the trace tells: see headline.h. */
#include "summary/headline.h"

#include "base/memory.h"
#include "base/sum.h"
#include "derive/python_names.h"
#include "derive/workload.h"
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_LENGTH = 48 };

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* LEN bytes at NAME, shortened in the middle. */
static const char *shortened(const char *name, size_t len, struct arena *texts)
{
    if (len <= PROGRAM_LENGTH)
        return arena_strndup(texts, name, len);
    size_t head = PROGRAM_LENGTH / 2 - 2, tail = len - PROGRAM_LENGTH / 2 + 1;
    while (is_inside_character(name[head]))
        head--;
    while (tail < len && is_inside_character(name[tail]))
        tail++;
    return arena_printf(texts, "%.*s...%.*s", (int)head, name, (int)(len - tail), name + tail);
}

static const char *without_folders(const char *path, size_t *len)
{
    size_t at = *len;
    while (at > 0 && path[at - 1] != '/' && path[at - 1] != '\\')
        at--;
    *len -= at;
    return path + at;
}

/* A command line without the folders of its first word and of scripts. */
static const char *command_of(const struct trace *trace, struct arena *texts)
{
    const char *command = NULL;
    for (size_t i = 0; i < trace->file_count && !command; i++)
        command = trace_file_property(&trace->files[i], "command");
    if (!command || !*command)
        return NULL;
    struct buffer text = { 0 };
    for (const char *word = command; *word; word += strspn(word, " ")) {
        size_t len = strcspn(word, " "), kept = len;
        bool is_path = word == command || (len > 3 && memcmp(word + len - 3, ".py", 3) == 0);
        const char *name = is_path ? without_folders(word, &kept) : word;
        buffer_printf(&text, "%s%.*s", text.count ? " " : "", (int)kept, name);
        word += len;
    }
    const char *program = text.count ? shortened(text.at, text.count, texts) : NULL;
    buffer_release(&text);
    return program;
}

/* Is the Python frame NAME that of a script, rather than of what runs it or of a library? */
static bool is_of_script(const char *name)
{
    static const char *const runners[] = { "runpy.py(", "multiprocessing/", "concurrent/",   "asyncio/",
                                           "queue.py(", "site-packages/",   "dist-packages/" };
    if (python_frame_of(name) != FRAME_OF_USER)
        return false;
    for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
        if (strstr(name, runners[i]))
            return false;
    return true;
}

/* The file of FRAME, which is that of a script. */
static const char *script_name(const char *frame, struct arena *texts)
{
    size_t len = (size_t)(strstr(frame, ".py(") - frame) + 3;
    if (frame[0] == '/' || memchr(frame, '\\', len)) /* a path from the root tells less than its file */
        frame = without_folders(frame, &len);
    return shortened(frame, len, texts);
}

/* The track with most Python frames; the number of tracks: none. */
static size_t python_track(const struct trace *trace)
{
    size_t *frames = mem_zalloc(trace->track_count + 1, sizeof *frames), most = trace->track_count;
    for (event_id e = 0; e < trace->event_count; e++)
        frames[trace->track[e]] += trace->kind[e] == EVENT_PYTHON;
    for (size_t t = 0; t < trace->track_count; t++)
        most = frames[t] > frames[most] ? t : most;
    free(frames);
    return most;
}

/* The file of the outermost Python frame of a script: one that lasts at least half of what the frames of its thread span. */
static const char *script_of(const struct trace *trace, struct arena *texts)
{
    size_t track = python_track(trace);
    event_id longest = 0;
    int64_t longest_ns = -1, first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_PYTHON || trace->track[e] != track)
            continue;
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        first_ns = start_ns < first_ns ? start_ns : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
        if (end_ns - start_ns > longest_ns && is_of_script(names_text(trace->names, trace->name[e]))) {
            longest = e;
            longest_ns = end_ns - start_ns;
        }
    }
    if (longest_ns < 0 || (double)longest_ns < 0.5 * ((double)last_ns - (double)first_ns))
        return NULL;
    return script_name(names_text(trace->names, trace->name[longest]), texts);
}

/* The file of the outermost frame, if it is that of a script, of most of the stacks that operators carry. */
static const char *stacks_of(const struct trace *trace, struct arena *texts)
{
    const struct names *stacks = trace->texts;
    size_t *uses = mem_zalloc(names_count(stacks) + 1, sizeof *uses), all = 0, most = 0;
    int64_t text;
    for (event_id e = 0; trace->args[ARG_CALL_STACK].count && e < trace->event_count; e++)
        if (trace_arg(trace, ARG_CALL_STACK, e, &text) && names_length(stacks, (name_id)text) > 0) {
            uses[text]++;
            all++;
        }
    struct names *scripts = names_open();
    size_t *uses_of = mem_zalloc(names_count(stacks) + 1, sizeof *uses_of);
    name_id script = NAME_NONE;
    for (name_id id = 0; id < names_count(stacks) && all; id++) {
        const char *stack = uses[id] ? names_text(stacks, id) : "", *last = strrchr(stack, ';');
        last = last ? last + 1 : stack;
        if (!is_of_script(last))
            continue;
        name_id of = names_add(scripts, last, (size_t)(strstr(last, ".py(") - last) + 4);
        uses_of[of] += uses[id];
        if (uses_of[of] > most) {
            most = uses_of[of];
            script = of;
        }
    }
    const char *name = most > all / 2 ? script_name(names_text(scripts, script), texts) : NULL;
    names_free(scripts);
    EACH(free, uses, uses_of);
    return name;
}

/* Do processes of such files have the names of their programs? */
static bool names_programs(enum trace_producer producer)
{
    return producer == PRODUCER_KINETO || producer == PRODUCER_NSYS || producer == PRODUCER_ROCPROF ||
           producer == PRODUCER_TPA || producer == PRODUCER_TORCH_NPU;
}

/* The name of the process with most events, without its folder, where that is more than "python". */
static const char *process_of(const struct trace *trace, struct arena *texts)
{
    const struct track *most = NULL;
    for (const struct track *track = trace->tracks; track < trace->tracks + trace->track_count; track++)
        if (track->kind == TRACK_THREAD && track->process_name != NAME_NONE &&
            names_programs(trace->files[track->file].producer) &&
            (!most || track->event_count > most->event_count))
            most = track;
    if (!most)
        return NULL;
    size_t len = names_length(trace->texts, most->process_name);
    const char *name = without_folders(names_text(trace->texts, most->process_name), &len);
    static const char *const interpreters[] = { "python", "Python", "pt_main_thread", "bash", "sh" };
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
        size_t head = strlen(interpreters[i]);
        if (len >= head && memcmp(name, interpreters[i], head) == 0 &&
            strspn(name + head, "0123456789. ") == len - head)
            return NULL;
    }
    return len && strspn(name, "0123456789 ") < len ? shortened(name, len, texts) : NULL;
}

/* The module of XLA whose work took devices longest. */
static const char *module_of(const struct trace *trace, struct arena *texts)
{
    int64_t *used_ns = mem_zalloc(names_count(trace->texts) + 1, sizeof *used_ns), module, most = -1;
    for (event_id e = 0; trace->args[ARG_MODULE].count && e < trace->event_count; e++)
        if (event_is_gpu_work(trace->kind[e]) && trace_arg(trace, ARG_MODULE, e, &module)) {
            sum_add(&used_ns[module], trace_dur_ns(trace, e));
            most = most < 0 || used_ns[module] > used_ns[most] ? module : most;
        }
    free(used_ns);
    return most < 0 ? NULL
                    : shortened(names_text(trace->texts, (name_id)most),
                                names_length(trace->texts, (name_id)most), texts);
}

const char *summary_program(const struct trace *trace, struct arena *texts)
{
    static const char *(*const sources[])(
        const struct trace *, struct arena *) = { command_of, script_of, stacks_of, process_of, module_of };
    static const char *const kinds[WORKLOADS] = {
        [WORKLOAD_UNKNOWN] = PROGRAM_NOT_RECORDED,
        [WORKLOAD_TRAINING] = PROGRAM_NOT_RECORDED " (training)",
        [WORKLOAD_VLLM] = PROGRAM_NOT_RECORDED " (vLLM)",
        [WORKLOAD_SGLANG] = PROGRAM_NOT_RECORDED " (SGLang)",
        [WORKLOAD_INFERENCE] = PROGRAM_NOT_RECORDED, /* or it trains, and does not say so */
    };
    const char *program = NULL;
    for (size_t i = 0; i < sizeof sources / sizeof *sources && !program; i++)
        program = sources[i](trace, texts);
    return program ? program : kinds[workload_of(trace)];
}
