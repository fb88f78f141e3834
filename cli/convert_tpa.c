/*
 * convert_tpa.c - `tpa convert --to tpa`: our own file, converted once and asked often.
 */
#include "cli/convert.h"
#include "trace/tpafile_save.h"

#include <inttypes.h>

static bool write_bytes(void *context, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size;
}

static bool write_tpa(const struct trace *trace, const struct convert_args *args, FILE *out,
                      struct buffer *summary, struct tpa_error *err)
{
    (void)args;
    struct tpafile_written written = { 0 };
    struct tpafile_save_options options = { .sink = write_bytes, .context = out };
    /* Failed writes are looked for by the caller, who knows the file's name. */
    if (!tpafile_save(trace, &options, &written) && !ferror(out))
        return tpa_fail(err, TPA_NOWHERE, "there is not enough memory to write the trace");
    buffer_printf(summary, "%zu events in %" PRIu64 " bytes", trace->event_count, written.bytes);
    if (trace->event_count)
        buffer_printf(summary, ": %.1f bytes an event", (double)written.bytes / (double)trace->event_count);
    int64_t before = 0;
    for (size_t i = 0; i < trace->file_count; i++)
        before += trace->files[i].packed_size > 0 ? trace->files[i].packed_size : 0;
    if (before > (int64_t)written.bytes)
        buffer_printf(summary, ", %.1f times smaller than the %s", (double)before / (double)written.bytes,
                      trace->file_count == 1 ? "file" : "files");
    buffer_puts(summary, "\n");
    return true;
}

const struct convert_form convert_tpa = {
    .name = "tpa",
    .help = "our own compact file, which every command reads as it reads the original, but sooner",
    .ending = ".tpa",
    .write_trace = write_tpa,
    .wants = CONVERT_WANTS_ALL,
    .next = "tpa top %s",
};
