/* tpa.c - `tpa convert --to tpa`: tpa's own format, converted once and analyzed often. */
#include "cli/convert/convert.h"
#include "cli/convert/part.h"
#include "trace/tpafile_save.h"

#include <errno.h>
#include <inttypes.h>

/* The destination of the file, and its error. */
struct output {
    FILE *stream;
    int error;
};

static bool write_bytes(void *context, const void *bytes, size_t size)
{
    struct output *output = context;
    errno = 0;
    if (fwrite(bytes, 1, size, output->stream) == size)
        return true;
    output->error = errno ? errno : EIO;
    return false;
}

/* Report why it was not written. True if the reader of a pipe is gone, which the caller detects itself. */
static bool emit_failure(const struct output *output, const struct convert_args *args, struct tpa_error *err)
{
    if (output->error == EPIPE)
        return true;
    if (output->error == 0)
        return tpa_fail(err, TPA_NOWHERE, "there is not enough memory to write this file");
    errno = output->error;
    if (!args->path || strcmp(args->path, "-") == 0)
        return tpa_fail_errno(err, "cannot write to standard output");
    tpa_fail_errno(err, "cannot write this file");
    return tpa_in_file(err, args->path);
}

/* "1234 bytes: 5.6 bytes an event", and truncations. */
static void append_size(struct buffer *summary, const struct tpafile_written *written, size_t count,
                        const char *what)
{
    buffer_printf(summary, " in %" PRIu64 " bytes", written->bytes);
    if (count)
        buffer_printf(summary, ": %.1f bytes %s", (double)written->bytes / (double)count, what);
}

static void append_cuts(struct buffer *summary, const struct tpafile_written *written)
{
    buffer_puts(summary, "\n");
    if (written->cut_texts)
        buffer_printf(summary, "%" PRIu64 " %s of more than %d MiB, which were cut there\n",
                      written->cut_texts, written->cut_texts == 1 ? "text" : "texts",
                      TPAFILE_LONGEST_TEXT >> 20);
}

static bool write_tpa(const struct trace *trace, const struct convert_args *args, FILE *out,
                      struct buffer *summary, struct tpa_error *err)
{
    struct tpafile_written written = { 0 };
    struct output output = { .stream = out };
    struct tpafile_save_options options = { .sink = write_bytes, .context = &output };
    if (!tpafile_save(trace, &options, &written))
        return emit_failure(&output, args, err);
    buffer_printf(summary, "%zu events", trace->event_count);
    append_size(summary, &written, trace->event_count, "an event");
    int64_t before =
        SUM(int64_t, i, trace->file_count, trace->files[i].packed_size > 0 ? trace->files[i].packed_size : 0);
    if (before > (int64_t)written.bytes && !convert_is_cut(&args->selection))
        buffer_printf(summary, ", %.1f times smaller than the %s", (double)before / (double)written.bytes,
                      trace->file_count == 1 ? "file" : "files");
    append_cuts(summary, &written);
    return true;
}

const struct convert_form convert_tpa = {
    .name = "tpa",
    .help = "our own compact file, which every command reads as it reads the original, but sooner",
    .ending = ".tpa",
    .is_read = true,
    .check_all = true,
    .write_trace = write_tpa,
    .wants = CONVERT_WANTS_ALL,
    .next = "tpa top %s",
    .next_of_snapshot = "tpa memory %s",
};
