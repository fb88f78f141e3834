/*
 * metadata.c - the top-level keys of a trace.
 *
 *     deviceProperties      [{id, name, totalGlobalMem, computeMajor, numSms ...}]     Kineto 2021 on
 *     distributedInfo       see distributed_info.h                                     2022 on
 *     baseTimeNanoseconds   what `ts` counts from                                      2024-05 on
 *     record_shapes, profile_memory, with_stack, with_flops, with_modules   1          2024 on
 *     host_name, trace_id, traceName                                        strings
 *
 * All other keys are kept as text (struct trace_property), and so are these, so that nothing is lost.
 */
#include "ingest/chrome/chrome.h"

#include "base/escape.h"
#include "ingest/distributed_info.h"
#include "ingest/json_text.h"
#include <limits.h>

static int small(const struct json_text *text)
{
    int64_t value = json_text_integer(text, 0);
    return value < 0 || value > INT_MAX ? 0 : (int)value;
}

static void read_device(struct trace_builder *builder, struct json_pull *in)
{
    struct trace_device device = { .id = -1 };
    struct json_text key, value;
    while (json_next_key(in, &key) && json_read(in, &value)) {
        if (json_text_is(&key, "id"))
            device.id = small(&value);
        else if (json_text_is(&key, "name"))
            device.name = json_text_keep(builder, &value);
        else if (json_text_is(&key, "totalGlobalMem"))
            device.total_memory = json_text_integer(&value, 0);
        else if (json_text_is(&key, "computeMajor"))
            device.compute_major = small(&value);
        else if (json_text_is(&key, "computeMinor"))
            device.compute_minor = small(&value);
        else if (json_text_is(&key, "numSms"))
            device.sm_count = small(&value);
        else if (json_text_is(&key, "warpSize"))
            device.warp_size = small(&value);
        else if (json_text_is(&key, "maxThreadsPerMultiprocessor"))
            device.max_threads_per_sm = small(&value);
        else if (json_text_is(&key, "maxThreadsPerBlock"))
            device.max_threads_per_block = small(&value);
        else if (json_text_is(&key, "regsPerMultiprocessor"))
            device.regs_per_sm = small(&value);
        else if (json_text_is(&key, "sharedMemPerMultiprocessor"))
            device.shared_memory_per_sm = json_text_integer(&value, 0);
    }
    if (!device.name)
        device.name = "";
    *VEC_PUSH(&trace_builder_current_file(builder)->devices) = device;
}

static void read_devices(struct trace_builder *builder, struct json_pull *in)
{
    if (!json_enter(in, '['))
        return;
    while (json_next_element(in)) {
        if (json_enter(in, '{'))
            read_device(builder, in);
        else if (!json_skip(in))
            return;
    }
}

static bool read_flag(struct trace_file *file, const struct json_text *key, const struct json_text *value)
{
    static const struct {
        const char *key;
        size_t offset;
    } flags[] = {
        { "record_shapes", offsetof(struct trace_file, record_shapes) },
        { "profile_memory", offsetof(struct trace_file, profile_memory) },
        { "with_stack", offsetof(struct trace_file, with_stack) },
        { "with_flops", offsetof(struct trace_file, with_flops) },
        { "with_modules", offsetof(struct trace_file, with_modules) },
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!json_text_is(key, flags[i].key))
            continue;
        int on = json_text_is(value, "true") || json_text_integer(value, 0) != 0;
        memcpy((char *)file + flags[i].offset, &on, sizeof on);
        return true;
    }
    return false;
}

/* What `ts` counts from. Clocks of a century from now are none. */
static void read_base(struct trace_builder *builder, struct trace_file *file, const struct json_text *text)
{
    int64_t base_ns;
    if (!json_integer(text->at, text->at + text->len, &base_ns))
        return;
    file->has_base = base_ns >= -TRACE_LATEST_WALL_NS && base_ns <= TRACE_LATEST_WALL_NS;
    file->base_ns = file->has_base ? base_ns : 0;
    if (!file->has_base)
        trace_builder_notice(
            builder, "absurd_base",
            "the base of all times is more than 146 years from 1970; it is taken as not known", 1,
            TPA_NOWHERE);
}

/* A string is kept without its quotes and escapes. */
void chrome_apply_kept(struct trace_builder *builder, const struct trace_property *property)
{
    SCOPED struct buffer text = { 0 };
    if (property->is_string)
        escape_json_string(&text, property->value, strlen(property->value));
    else
        buffer_puts(&text, property->value);
    chrome_apply_property(builder, property->key, text.at, text.count);
}

/* What the file lacked that this one was converted from. */
static void read_lacks(struct trace_builder *builder, struct json_pull *in)
{
    struct json_text key, value;
    if (!json_enter(in, '['))
        return;
    while (json_next_element(in) && json_enter(in, '{')) {
        const char *kind = NULL, *text = "";
        int64_t count = 1;
        while (json_next_key(in, &key) && json_read(in, &value))
            if (json_text_is(&key, "kind"))
                kind = json_text_keep(builder, &value);
            else if (json_text_is(&key, "text"))
                text = json_text_keep(builder, &value);
            else if (json_text_is(&key, "count"))
                count = json_text_integer(&value, 1);
        if (lacks_of_word(kind))
            trace_builder_notice(builder, kind, text, count > 0 ? (uint64_t)count : 1, TPA_NOWHERE);
    }
}

void chrome_apply_property(struct trace_builder *builder, const char *key, const char *value, size_t len)
{
    struct trace_file *file = trace_builder_current_file(builder);
    struct json_pull in = { value, value + len };
    struct json_text name = { key, strlen(key), true }, text;
    if (json_text_is(&name, LACKS_KEY)) {
        read_lacks(builder, &in);
        return;
    }
    if (json_text_is(&name, "deviceProperties"))
        read_devices(builder, &in);
    else if (json_text_is(&name, "distributedInfo"))
        distributed_info_apply(builder, value, len);
    in = (struct json_pull){ value, value + len };
    if (!json_read(&in, &text))
        return;
    if (json_text_is(&name, "systemTraceEvents") && text.len > 0)
        trace_builder_notice(builder, "system_trace",
                             "the file carries the system's own trace (ftrace, ETW) as text; it is not read",
                             1, TPA_NOWHERE);
    if (json_text_is(&name, "baseTimeNanoseconds"))
        read_base(builder, file, &text);
    else if (json_text_is(&name, "host_name"))
        file->host_name = json_text_keep(builder, &text);
    else if (json_text_is(&name, "traceName"))
        file->trace_name = json_text_keep(builder, &text);
    else if (json_text_is(&name, "trace_id"))
        file->trace_id = json_text_keep(builder, &text);
    else
        read_flag(file, &name, &text);
    *VEC_PUSH(&file->properties) = (struct trace_property){
        trace_builder_strndup(builder, key, strlen(key)),
        json_text_keep(builder, &text),
        text.is_string,
    };
}
