/* sentences.c - see sentences.h. */
#include "snapshot/sentences.h"

#include "base/buffer.h"
#include <inttypes.h>
#include <string.h>

enum { OOMS_SAID = 3, DEVICES_SAID = 8 };

void say_bytes(struct buffer *out, int64_t bytes)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    double value = (double)bytes;
    size_t unit = 0;
    while ((value >= 1024 || value <= -1024) && unit < 4) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        buffer_printf(out, "%" PRId64 " B", bytes);
    else
        buffer_printf(out, "%.2f %s", value, units[unit]);
}

static void say_oom(const struct oom_row *row, struct buffer *out)
{
    buffer_puts(out, "out of memory");
    if (row->device != TABLE_INT_MISSING)
        buffer_printf(out, " on device %" PRId64, row->device);
    buffer_printf(out, " at entry %" PRId64 ": ", row->entry);
    say_bytes(out, row->request);
    buffer_printf(out, " asked for by %s; %s: ", row->line.at, row->verdict.at);
    say_bytes(out, row->allocated);
    buffer_puts(out, " in use, ");
    say_bytes(out, row->inactive);
    buffer_puts(out, " free in segments (largest piece ");
    say_bytes(out, row->largest_free);
    buffer_puts(out, "), ");
    say_bytes(out, row->device_free);
    buffer_puts(out, " free on the device");
    if (row->missing > 0) {
        buffer_puts(out, "; ");
        say_bytes(out, row->missing);
        buffer_puts(out, " are missing");
    }
}

static void say_device(const struct device_row *row, struct buffer *out)
{
    buffer_printf(out, row->device == TABLE_INT_MISSING ? "host memory: " : "device %s: ", row->name.at);
    if (row->allocated_peak == TABLE_INT_MISSING) {
        say_bytes(out, row->sums.allocated);
        buffer_puts(out, " allocated of ");
        say_bytes(out, row->sums.reserved);
        buffer_puts(out, " reserved when the snapshot was taken; no history");
        return;
    }
    say_bytes(out, row->allocated_peak);
    buffer_puts(out, " allocated at the peak (requested bytes), ");
    if (row->peak_entry < 0)
        buffer_puts(out, "before the first entry");
    else
        buffer_printf(out, "after entry %" PRId64, row->peak_entry);
    if (row->peak_scope.len)
        buffer_printf(out, " in %s", row->peak_scope.at);
    if (row->before_at_peak > 0) {
        buffer_puts(out, "; ");
        say_bytes(out, row->before_at_peak);
        buffer_puts(out, " of it from before recording");
    }
}

static bool is_empty(const struct device_row *row)
{
    return row->entries == 0 && row->sums.segments == 0;
}

void snapshot_say(const struct snapshot_answers *answers, struct result *result)
{
    struct buffer text = { 0 };
    for (size_t i = 0; i < answers->ooms.rows.count && i < OOMS_SAID; i++) {
        buffer_clear(&text);
        say_oom(&answers->ooms.rows.at[i], &text);
        result_add_notice(result, "out_of_memory", 1, NULL, TPA_NOWHERE, "%s", text.at);
        result->notices.at[result->notices.count - 1].on_top = true;
    }
    size_t said = 0;
    for (size_t i = 0; i < answers->devices.rows.count && said < DEVICES_SAID; i++) {
        if (is_empty(&answers->devices.rows.at[i]))
            continue;
        buffer_clear(&text);
        say_device(&answers->devices.rows.at[i], &text);
        result_add_notice(result, "peak", 1, NULL, TPA_NOWHERE, "%s", text.at);
        result->notices.at[result->notices.count - 1].on_top = true;
        said++;
    }
    buffer_release(&text);
}
