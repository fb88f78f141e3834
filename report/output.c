#include "report/output.h"

#include <inttypes.h>

enum { DRAIN_AT = 64 * 1024 };

static uint64_t most_bytes, bytes_written;

void output_set_most(uint64_t most)
{
    most_bytes = most;
    bytes_written = 0;
}

static bool check_most(size_t count, struct tpa_error *err)
{
    bytes_written += count;
    if (!most_bytes || bytes_written <= most_bytes)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "the result has more than %" PRIu64
             " MiB, too much for what was read: its rows repeat texts that the input holds once",
             most_bytes >> 20);
    return tpa_hint(err,
                    "is the file from an untrusted source? --limit N prints fewer rows; --max-ratio 0 all");
}

static bool write_text(struct buffer *text, FILE *out, struct tpa_error *err)
{
    if (!check_most(text->count, err))
        return false;
    if (text->count && fwrite(text->at, 1, text->count, out) != text->count)
        return tpa_fail_errno(err, "cannot write the result");
    buffer_clear(text);
    return true;
}

bool output_drain(struct buffer *text, FILE *out, struct tpa_error *err)
{
    return text->count < DRAIN_AT || write_text(text, out, err);
}

bool output_finish(bool ok, struct buffer *text, FILE *out, struct tpa_error *err)
{
    ok = ok && write_text(text, out, err);
    buffer_release(text);
    return ok;
}
