#include "memory/snapshot_analysis.h"

#include <inttypes.h>

enum { OOMS_SAID = 3, DEVICES_SAID = 8, LINES_SAID = 3 };

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
        buffer_printf(out, " %s (%s)", line_in_folder(lines[i]->name.at), SIZE_TEXT(lines[i]->bytes));
    }
}

static void append_oom(const struct oom_row *row, struct buffer *out)
{
    buffer_puts(out, "out of memory");
    if (row->device != TABLE_INT_MISSING)
        buffer_printf(out, " on device %" PRId64, row->device);
    buffer_printf(
        out,
        " at entry %" PRId64
        ": %s requested by %s; %s: %s in use, %s free in segments (largest piece %s), %s free on the device",
        row->entry, SIZE_TEXT(row->request), row->line.at, row->verdict.at, SIZE_TEXT(row->allocated),
        SIZE_TEXT(row->inactive), SIZE_TEXT(row->largest_free), SIZE_TEXT(row->device_free));
    if (row->missing > 0) {
        buffer_printf(out, "; %s are missing", SIZE_TEXT(row->missing));
    }
}

static void append_device(const struct device_row *row, struct buffer *out)
{
    buffer_printf(out, row->device == TABLE_INT_MISSING ? "host memory: " : "device %s: ", row->name.at);
    if (row->allocated_peak == TABLE_INT_MISSING) {
        buffer_printf(out, "%s allocated of %s reserved when the snapshot was taken; no history",
                      SIZE_TEXT(row->sums.allocated), SIZE_TEXT(row->sums.reserved));
        return;
    }
    buffer_printf(out, "%s allocated at the peak (requested bytes), ", SIZE_TEXT(row->allocated_peak));
    if (row->peak_entry < 0)
        buffer_puts(out, "before the first entry");
    else
        buffer_printf(out, "after entry %" PRId64, row->peak_entry);
    if (row->peak_scope.len)
        buffer_printf(out, " in %s", row->peak_scope.at);
    if (row->before_at_peak > 0) {
        buffer_printf(out, "; %s of it from before recording", SIZE_TEXT(row->before_at_peak));
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
        quantity_append_rounded_size(&text, leak->slope);
        result_add_notice(result, "leak", answers->leaks.rows.count, several ? leak->file.at : NULL,
                          TPA_NOWHERE,
                          "memory grows by %s in every step at %s, on average of %" PRId64 " steps", text.at,
                          leak->line.at, leak->steps);
        result_make_verdict(result);
    }
}
