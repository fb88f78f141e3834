#include "memory/snapshot_analysis.h"

#include <inttypes.h>

enum { OOMS_SAID = 3, DEVICES_SAID = 8, LINES_SAID = 3 };

void append_bytes_text(struct buffer *out, int64_t bytes)
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

/* LINE, "/home/u/job/train.py:88:main", with the last folder alone: "job/train.py:88:main". */
static const char *line_in_folder(const char *line)
{
    const char *folder = line, *file = line;
    for (const char *at = line; *at; at++)
        if (*at == '/' || *at == '\\') {
            folder = file;
            file = at + 1;
        }
    return folder;
}

/* The lines with the most memory on the device, by FILE (as in answers), which hold most of it or are only the largest; nothing if no row
 * of IN_USE belongs to it. OLD_BYTES that were there before recording and have no line are said already. */
static void append_lines(const struct snapshot_answers *answers, const char *file, int64_t device,
                         int64_t old_bytes, struct buffer *out)
{
    const struct in_use_row *lines[LINES_SAID];
    size_t count = 0;
    double held = 0, rest = 1; /* shares of what is in use */
    for (size_t i = 0; i < answers->in_use.count && count < LINES_SAID; i++) {
        const struct in_use_row *row = &answers->in_use.at[i];
        if (row->device != device || row->file.at != file)
            continue;
        if (row->bytes == old_bytes && strcmp(row->name.at, alive_before_recording) == 0) {
            rest -= row->share;
            continue;
        }
        held += row->share;
        lines[count++] = row;
    }
    bool is_most = 2 * held >= rest;
    const char *of = rest < 1 ? " of the rest" : "";
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_putc(out, ',');
        else if (is_most)
            buffer_printf(out, "; most%s is held by", of);
        else
            buffer_printf(out, "; the largest holder%s%s %s", count > 1 ? "s" : "", of,
                          count > 1 ? "are" : "is");
        buffer_printf(out, " %s (", line_in_folder(lines[i]->name.at));
        append_bytes_text(out, lines[i]->bytes);
        buffer_puts(out, ")");
    }
}

static void append_oom(const struct oom_row *row, struct buffer *out)
{
    buffer_puts(out, "out of memory");
    if (row->device != TABLE_INT_MISSING)
        buffer_printf(out, " on device %" PRId64, row->device);
    buffer_printf(out, " at entry %" PRId64 ": ", row->entry);
    append_bytes_text(out, row->request);
    buffer_printf(out, " requested by %s; %s: ", row->line.at, row->verdict.at);
    append_bytes_text(out, row->allocated);
    buffer_puts(out, " in use, ");
    append_bytes_text(out, row->inactive);
    buffer_puts(out, " free in segments (largest piece ");
    append_bytes_text(out, row->largest_free);
    buffer_puts(out, "), ");
    append_bytes_text(out, row->device_free);
    buffer_puts(out, " free on the device");
    if (row->missing > 0) {
        buffer_puts(out, "; ");
        append_bytes_text(out, row->missing);
        buffer_puts(out, " are missing");
    }
}

static void append_device(const struct device_row *row, struct buffer *out)
{
    buffer_printf(out, row->device == TABLE_INT_MISSING ? "host memory: " : "device %s: ", row->name.at);
    if (row->allocated_peak == TABLE_INT_MISSING) {
        append_bytes_text(out, row->sums.allocated);
        buffer_puts(out, " allocated of ");
        append_bytes_text(out, row->sums.reserved);
        buffer_puts(out, " reserved when the snapshot was taken; no history");
        return;
    }
    append_bytes_text(out, row->allocated_peak);
    buffer_puts(out, " allocated at the peak (requested bytes), ");
    if (row->peak_entry < 0)
        buffer_puts(out, "before the first entry");
    else
        buffer_printf(out, "after entry %" PRId64, row->peak_entry);
    if (row->peak_scope.len)
        buffer_printf(out, " in %s", row->peak_scope.at);
    if (row->before_at_peak > 0) {
        buffer_puts(out, "; ");
        append_bytes_text(out, row->before_at_peak);
        buffer_puts(out, " of it from before recording");
    }
}

static bool is_empty(const struct device_row *row)
{
    return row->entries == 0 && row->sums.segments == 0;
}

/* --at oom selects the first one of a device. */
static bool is_first_of_device(const struct ooms *ooms, size_t i)
{
    return !ANY(k, i,
                ooms->rows.at[k].device == ooms->rows.at[i].device &&
                    ooms->rows.at[k].file.at == ooms->rows.at[i].file.at);
}

static bool has_several_files(const struct snapshot_answers *answers)
{
    return ANY_FROM(i, 1, answers->devices.rows.count,
                    answers->devices.rows.at[i].file.at != answers->devices.rows.at[0].file.at);
}

void snapshot_say(const struct snapshot_answers *answers, const struct snapshot_moment *lines,
                  struct result *result)
{
    SCOPED struct buffer text = { 0 };
    bool several = has_several_files(answers);
    for (size_t i = 0; i < answers->ooms.rows.count && i < OOMS_SAID; i++) {
        const char *file = several ? answers->ooms.rows.at[i].file.at : NULL;
        buffer_clear(&text);
        append_oom(&answers->ooms.rows.at[i], &text);
        if (lines && lines->kind == MOMENT_OOM && is_first_of_device(&answers->ooms, i))
            append_lines(answers, answers->ooms.rows.at[i].file.at, answers->ooms.rows.at[i].device, 0,
                         &text);
        result_add_notice(result, "out_of_memory", 1, file, TPA_NOWHERE, "%s", text.at);
        result_make_verdict(result);
    }
    size_t said = 0;
    for (size_t i = 0; i < answers->devices.rows.count && said < DEVICES_SAID; i++) {
        if (is_empty(&answers->devices.rows.at[i]))
            continue;
        buffer_clear(&text);
        const struct device_row *device = &answers->devices.rows.at[i];
        append_device(device, &text);
        if (lines && lines->kind == MOMENT_PEAK)
            append_lines(answers, device->file.at, device->device, device->before_at_peak, &text);
        result_add_notice(result, "peak", 1, several ? device->file.at : NULL, TPA_NOWHERE, "%s", text.at);
        result_make_verdict(result);
        said++;
    }
    if (lines && answers->leaks.rows.count) {
        const struct leak_row *leak = &answers->leaks.rows.at[0];
        buffer_clear(&text);
        append_bytes_text(&text, leak->slope);
        result_add_notice(result, "leak", answers->leaks.rows.count, several ? leak->file.at : NULL,
                          TPA_NOWHERE,
                          "memory grows by %s in every step at %s, on average of %" PRId64 " steps", text.at,
                          leak->line.at, leak->steps);
        result_make_verdict(result);
    }
}
