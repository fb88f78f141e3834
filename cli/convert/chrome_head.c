/* Top-level keys are written as they were read; data in records of a tpa capture log
 * gets PyTorch's keys, so that reading gives the same. */
#include "cli/convert/parts.h"

#include "base/escape.h"
#include "cli/timeline.h"

#include <inttypes.h>

#define PUT(out, literal) buffer_add(out, literal, sizeof(literal) - 1)

static void append_property(struct buffer *out, const struct trace_property *property)
{
    escape_json_string(out, property->key, strlen(property->key));
    buffer_putc(out, ':');
    if (property->is_string)
        escape_json_string(out, property->value, strlen(property->value));
    else
        json_value_append(out, property->value, strlen(property->value));
    PUT(out, ",\n");
}

/* Is the key about one file, and invalid for several? */
static bool is_of_one_file(const char *key)
{
    static const char *const keys[] = { "distributedInfo", "host_name", "trace_id", "traceName",
                                        "baseTimeNanoseconds" };
    return ANY(i, sizeof keys / sizeof *keys, strcmp(key, keys[i]) == 0);
}

static const struct trace_property *find_property(const struct trace_file *file, const char *key)
{
    return FIND(property, &file->properties, strcmp(property->key, key) == 0);
}

/* `"key":"text",`, as append_property. */
static void append_known(struct buffer *out, const struct trace_file *file, const char *key, const char *text)
{
    if (text && !find_property(file, key))
        append_property(out, &(struct trace_property){ key, text, true });
}

static void append_devices(struct buffer *out, const struct trace_file *file)
{
    if (file->devices.count == 0 || find_property(file, "deviceProperties"))
        return;
    PUT(out, "\"deviceProperties\":[\n");
    for (size_t i = 0; i < file->devices.count; i++) {
        const struct trace_device *device = &file->devices.at[i];
        const char *name = device->name ? device->name : "";
        buffer_printf(out, "{\"id\":%d,\"name\":", device->id);
        escape_json_string(out, name, strlen(name));
        buffer_printf(out,
                      ",\"totalGlobalMem\":%" PRId64 ",\"computeMajor\":%d,\"computeMinor\":%d,\"numSms\":%d"
                      ",\"warpSize\":%d,\"maxThreadsPerMultiprocessor\":%d,\"maxThreadsPerBlock\":%d"
                      ",\"regsPerMultiprocessor\":%d,\"sharedMemPerMultiprocessor\":%" PRId64 "}%s\n",
                      device->total_memory, device->compute_major, device->compute_minor, device->sm_count,
                      device->warp_size, device->max_threads_per_sm, device->max_threads_per_block,
                      device->regs_per_sm, (int64_t)device->shared_memory_per_sm,
                      i + 1 < file->devices.count ? "," : "");
    }
    PUT(out, "],\n");
}

/* Facts of the process in a log of tpa capture, under PyTorch's keys. */
static void chrome_head_append_process(struct buffer *out, const struct trace_file *file)
{
    if (file->rank >= 0 && !find_property(file, "distributedInfo")) {
        buffer_printf(out, "\"distributedInfo\":{\"rank\":%" PRId64, file->rank);
        if (file->world_size >= 0)
            buffer_printf(out, ",\"world_size\":%" PRId64, file->world_size);
        if (file->backend) {
            PUT(out, ",\"backend\":");
            escape_json_string(out, file->backend, strlen(file->backend));
        }
        PUT(out, "},\n");
    }
    bool is_known = file->producer >= PRODUCER_TPA; /* of others, what they wrote tells */
    append_known(out, file, "recorded by", is_known ? trace_producer_name(file->producer) : NULL);
    append_known(out, file, "host_name", file->host_name);
    append_known(out, file, "trace_id", file->trace_id);
    append_known(out, file, "traceName", file->trace_name);
    if (file->has_base && !find_property(file, "baseTimeNanoseconds"))
        buffer_printf(out, "\"baseTimeNanoseconds\":%" PRId64 ",\n", file->base_ns);
}

/* What file INDEX lacks; with the first file, also what the files as a whole lack. */
static void append_lacks(struct buffer *out, const struct trace *trace, uint32_t index)
{
    size_t count = 0;
    FOR_EACH_OF(notice, trace->notices, trace->notice_count) {
        if (!lacks_of_word(notice->kind) || notice->file != index)
            continue;
        buffer_printf(out, "%s{\"kind\":\"%s\",\"count\":%" PRIu64 ",\"text\":",
                      count++ ? "," : "\"" LACKS_KEY "\":[", notice->kind, notice->count);
        escape_json_string(out, notice->text, strlen(notice->text));
        buffer_putc(out, '}');
    }
    buffer_puts(out, count ? "],\n" : "");
}

/* Find the properties of the first file that all others have with the same value: these are written once. New; free
 * with free(). */
static bool *find_common(const struct trace *trace)
{
    const struct trace_file *first = &trace->files[0];
    bool *common = mem_zalloc(first->properties.count + 1, sizeof *common);
    for (size_t i = 0; i < first->properties.count; i++) {
        const struct trace_property *property = &first->properties.at[i];
        common[i] = !is_of_one_file(property->key);
        for (size_t f = 1; f < trace->file_count && common[i]; f++) {
            const struct trace_property *other = find_property(&trace->files[f], property->key);
            common[i] = other && strcmp(other->value, property->value) == 0;
        }
    }
    return common;
}

/* The processes of a file, as written and as recorded. */
void chrome_append_pid(struct buffer *out, const struct trace *trace, const struct track *track, bool shared)
{
    SCOPED struct buffer name = { 0 };
    if (timeline_add_pid(&name, trace, track, shared))
        escape_json_string(out, name.at ? name.at : "", name.count);
    else
        buffer_add(out, name.at, name.count);
}

/* How processes are written: by track. */
struct chrome_pids {
    const bool *is_first; /* is it the first of its process? */
    const bool *shared;
};

static void append_processes(struct buffer *out, const struct trace *trace, const struct chrome_pids *pids,
                             uint32_t file)
{
    size_t count = 0;
    PUT(out, ",\"processes\":[");
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        if (track->file != file || !pids->is_first[t])
            continue;
        buffer_puts(out, count++ ? ",[" : "[");
        chrome_append_pid(out, trace, track, pids->shared[t]);
        buffer_putc(out, ',');
        if (track->pid_text == NAME_NONE)
            buffer_printf(out, "%" PRId64, track->pid);
        else
            escape_json_string(out, names_text(trace->texts, track->pid_text),
                               names_length(trace->texts, track->pid_text));
        buffer_putc(out, ']');
    }
    buffer_putc(out, ']');
}

static void append_file_facts(struct buffer *out, const struct trace *trace, const struct chrome_pids *pids,
                              const bool *common, uint32_t index)
{
    const struct trace_file *file = &trace->files[index];
    SCOPED struct buffer name = { 0 };
    timeline_add_file(&name, trace, index);
    PUT(out, "{\"name\":");
    escape_json_string(out, name.at, name.count);
    PUT(out, ",\"path\":");
    escape_json_string(out, file->path, strlen(file->path));
    append_processes(out, trace, pids, index);
    FOR_EACH(property, &file->properties) {
        const struct trace_property *of_first = find_property(&trace->files[0], property->key);
        if (of_first && common[of_first - trace->files[0].properties.at])
            continue;
        buffer_putc(out, ',');
        append_property(out, property);
        out->count -= 2; /* the comma and the end of the line */
    }
    size_t before = out->count;
    buffer_putc(out, ',');
    chrome_head_append_process(out, file);
    append_lacks(out, trace, index);
    out->count = out->count > before + 1 ? out->count - 2 : before;
    buffer_putc(out, '}');
}

void chrome_head_append(const struct trace *trace, struct buffer *out)
{
    SCOPED bool *is_first = timeline_first_tracks(trace), *shared = timeline_shared_processes(trace);
    struct chrome_pids pids = { is_first, shared };
    const struct trace_file *first = trace->files;
    bool several = trace->file_count > 1;
    SCOPED bool *common = several ? find_common(trace) : NULL;
    PUT(out, "{\n");
    for (size_t i = 0; trace->file_count && i < first->properties.count; i++)
        if (!several || common[i])
            append_property(out, &first->properties.at[i]);
    if (trace->file_count)
        append_devices(out, first);
    if (trace->file_count && !several) {
        chrome_head_append_process(out, first);
        append_lacks(out, trace, 0);
    }
    if (several) {
        bool has_base = false, all_tpa = true;
        int64_t base_ns = INT64_MAX;
        PUT(out, "\"files\":[\n");
        for (uint32_t i = 0; i < trace->file_count; i++) {
            append_file_facts(out, trace, &pids, common, i);
            buffer_puts(out, i + 1 < trace->file_count ? ",\n" : "\n],\n");
            has_base |= trace->files[i].has_base;
            all_tpa &= trace->files[i].producer == PRODUCER_TPA;
            int64_t here = trace->files[i].has_base ? trace->files[i].base_ns : 0;
            base_ns = here < base_ns ? here : base_ns;
        }
        append_known(out, first, "recorded by", all_tpa ? "tpa capture" : NULL);
        if (has_base)
            buffer_printf(out, "\"baseTimeNanoseconds\":%" PRId64 ",\n", base_ns);
    }
    PUT(out, "\"traceEvents\":[\n");
}
