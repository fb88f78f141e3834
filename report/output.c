/* output.c - see output.h. */
#include "report/output.h"

enum { DRAIN_AT = 64 * 1024 };

static bool write_text(struct buffer *text, FILE *out, struct tpa_error *err)
{
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
