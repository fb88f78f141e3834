/*
 * tpafile_save_sums.c - Python profiles and reports on actions into .tpa files; see tpafile_save.h.
 *
 * Functions keep the numbers that they have in the profile, and their callers follow in the same order, so that most
 * columns are runs of small differences.
 */
#include "trace/tpafile_save.h"

#include "base/error.h"
#include "trace/tpafile_seconds.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 32768, SAVE_LEVEL = 6 };

/* Profiles of fewer functions are read in no time, so that being small is what counts. */
enum { SMALL_PROFILE = 16384, SMALL_LEVEL = 19 };

static struct tpafile_writer *open_writer(const struct tpafile_save_options *options, bool small)
{
    return tpafile_writer_open(&(struct tpafile_writer_options){
        .sink = options->sink,
        .context = options->context,
        .level = small ? SMALL_LEVEL : SAVE_LEVEL,
        .rows = options->block_events ? (uint32_t)options->block_events : BLOCK_ROWS,
    });
}

static bool close_writer(struct tpafile_writer *writer, struct tpafile_written *written)
{
    bool ok = tpafile_writer_close(writer, TPAFILE_NONE, 0);
    if (written)
        *written = *tpafile_writer_written(writer);
    tpafile_writer_free(writer);
    return ok;
}

static int64_t tpafile_save_sums_text_of(struct tpafile_writer *writer, const char *text)
{
    return text ? tpafile_writer_text(writer, text, strlen(text)) : 0;
}

static void tpafile_save_sums_save_notices(struct tpafile_writer *writer, const struct sums_origin *origin)
{
    for (size_t i = 0; i < origin->notices.count; i++) {
        const struct sums_notice *notice = &origin->notices.at[i];
        int64_t row[TPAFILE_NOTICE_FIELDS_END] = {
            [TPAFILE_NOTICE_FILE] = 0,
            [TPAFILE_NOTICE_WORD] = tpafile_save_sums_text_of(writer, notice->kind),
            [TPAFILE_NOTICE_TEXT] = tpafile_save_sums_text_of(writer, notice->text),
            [TPAFILE_NOTICE_COUNT] = (int64_t)notice->count,
            [TPAFILE_NOTICE_OFFSET] = TPA_NOWHERE,
        };
        tpafile_writer_add(writer, TPAFILE_NOTICE, row);
    }
}

/* ---- profiles ---- */

static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The two times of COST. */
struct times {
    int64_t self, below, self_bits, cumulative_bits;
};

static struct times split_times(const struct profile_cost *cost)
{
    struct times times;
    int64_t cumulative;
    tpafile_split_seconds(cost->total_s, &times.self, &times.self_bits);
    tpafile_split_seconds(cost->cumulative_s, &cumulative, &times.cumulative_bits);
    times.below = difference(cumulative, times.self);
    return times;
}

static void save_function(struct tpafile_writer *writer, const struct profile_function *function,
                          function_id id, int64_t place)
{
    struct times times = split_times(&function->cost);
    int64_t row[TPAFILE_PROFILE_FUNCTION_FIELDS_END] = {
        [TPAFILE_PROFILE_FUNCTION_FUNCTION] = id,
        [TPAFILE_PROFILE_FUNCTION_FILE] = tpafile_writer_text(writer, function->file, function->file_length),
        [TPAFILE_PROFILE_FUNCTION_LINE] = function->line,
        [TPAFILE_PROFILE_FUNCTION_NAME] = tpafile_writer_text(writer, function->name, function->name_length),
        [TPAFILE_PROFILE_FUNCTION_PLACE] = place,
        [TPAFILE_PROFILE_FUNCTION_CALLS] = function->cost.calls,
        [TPAFILE_PROFILE_FUNCTION_RECURSIVE] =
            difference(function->cost.calls, function->cost.primitive_calls),
        [TPAFILE_PROFILE_FUNCTION_SELF] = times.self,
        [TPAFILE_PROFILE_FUNCTION_BELOW] = times.below,
        [TPAFILE_PROFILE_FUNCTION_SELF_BITS] = times.self_bits,
        [TPAFILE_PROFILE_FUNCTION_CUMULATIVE_BITS] = times.cumulative_bits,
    };
    tpafile_writer_add(writer, TPAFILE_PROFILE_FUNCTION, row);
}

static void save_caller(struct tpafile_writer *writer, function_id function, const struct profile_edge *edge)
{
    struct times times = split_times(&edge->cost);
    int64_t row[TPAFILE_PROFILE_CALLER_FIELDS_END] = {
        [TPAFILE_PROFILE_CALLER_FUNCTION] = function,
        [TPAFILE_PROFILE_CALLER_CALLER] = edge->caller,
        [TPAFILE_PROFILE_CALLER_CALLS] = edge->cost.calls,
        [TPAFILE_PROFILE_CALLER_RECURSIVE] = difference(edge->cost.calls, edge->cost.primitive_calls),
        [TPAFILE_PROFILE_CALLER_SELF] = times.self,
        [TPAFILE_PROFILE_CALLER_BELOW] = times.below,
        [TPAFILE_PROFILE_CALLER_SELF_BITS] = times.self_bits,
        [TPAFILE_PROFILE_CALLER_CUMULATIVE_BITS] = times.cumulative_bits,
        [TPAFILE_PROFILE_CALLER_COUNT_ONLY] = edge->count_only,
    };
    tpafile_writer_add(writer, TPAFILE_PROFILE_CALLER, row);
}

static void save_facts(struct tpafile_writer *writer, const struct profile *profile)
{
    int64_t row[TPAFILE_PROFILE_FIELDS_END] = {
        [TPAFILE_PROFILE_FUNCTIONS] = (int64_t)profile->function_count,
        [TPAFILE_PROFILE_LISTED] = (int64_t)profile->listed_count,
        [TPAFILE_PROFILE_CALLERS] = (int64_t)profile_count_callers(profile),
        [TPAFILE_PROFILE_CALLS] = profile->total.calls,
        [TPAFILE_PROFILE_PRIMITIVE] = profile->total.primitive_calls,
        [TPAFILE_PROFILE_SELF] = tpafile_bits_of(profile->total.total_s),
        [TPAFILE_PROFILE_SAMPLED] = profile->sampled,
        [TPAFILE_PROFILE_FIGURES] = profile->figures,
        [TPAFILE_PROFILE_SWAPPED] = profile->counts_swapped,
        [TPAFILE_PROFILE_ODD_ENTRIES] = (int64_t)profile->odd_entries,
        [TPAFILE_PROFILE_ODD_OFFSET] = profile->odd_offset,
        [TPAFILE_PROFILE_MERGED] = (int64_t)profile->merged_edges,
        [TPAFILE_PROFILE_TRAILING] = (int64_t)profile->trailing_bytes,
        [TPAFILE_PROFILE_TRAILING_OFFSET] = profile->trailing_offset,
    };
    tpafile_writer_add(writer, TPAFILE_PROFILE, row);
    for (size_t i = 0; i < profile->files.count; i++) {
        const struct profile_file *file = &profile->files.at[i];
        int64_t about[TPAFILE_PROFILE_FILE_FIELDS_END] = {
            [TPAFILE_PROFILE_FILE_PATH] = tpafile_save_sums_text_of(writer, file->path),
            [TPAFILE_PROFILE_FILE_MODIFIED] = file->modified_s, /* INT64_MIN is TPAFILE_NONE */
        };
        tpafile_writer_add(writer, TPAFILE_PROFILE_FILE, about);
    }
    tpafile_save_sums_save_notices(writer, &profile->origin);
}

bool tpafile_save_profile(const struct profile *profile, const struct tpafile_save_options *options,
                          struct tpafile_written *written)
{
    struct tpafile_writer *writer = open_writer(options, profile->function_count < SMALL_PROFILE);
    if (!writer)
        return false;
    save_facts(writer, profile);
    int64_t *places = mem_alloc(mem_times(profile->function_count + 1, sizeof *places));
    for (size_t i = 0; i < profile->function_count; i++)
        places[i] = TPAFILE_NONE;
    for (size_t i = 0; i < profile->listed_count; i++)
        places[profile->listed[i]] = (int64_t)i;
    for (function_id id = 0; id < profile->function_count; id++)
        save_function(writer, &profile->functions[id], id, places[id]);
    tpafile_writer_flush(writer);
    for (function_id id = 0; id < profile->function_count; id++) {
        const struct profile_function *function = &profile->functions[id];
        for (uint32_t e = 0; function->listed && e < function->edge_count; e++)
            save_caller(writer, id, &profile->edges[function->first_edge + e]);
    }
    free(places);
    return close_writer(writer, written);
}

/* ---- reports ---- */

bool tpafile_save_actions(const struct action_report *report, const struct tpafile_save_options *options,
                          struct tpafile_written *written)
{
    struct tpafile_writer *writer = open_writer(options, true);
    if (!writer)
        return false;
    int64_t facts[TPAFILE_REPORT_FIELDS_END] = {
        [TPAFILE_REPORT_STAGE] = tpafile_save_sums_text_of(writer, report->stage),
        [TPAFILE_REPORT_ACTIONS] = (int64_t)report->actions.count,
        [TPAFILE_REPORT_CALLS] = report->total_calls < 0 ? TPAFILE_NONE : report->total_calls,
        [TPAFILE_REPORT_TOTAL] = report->total_ns < 0 ? TPAFILE_NONE : report->total_ns,
        [TPAFILE_REPORT_ODD_LINES] = (int64_t)report->odd_lines,
        [TPAFILE_REPORT_ODD_OFFSET] = report->odd_offset,
    };
    tpafile_writer_add(writer, TPAFILE_REPORT, facts);
    tpafile_save_sums_save_notices(writer, &report->origin);
    for (size_t i = 0; i < report->actions.count; i++) {
        const struct action *action = &report->actions.at[i];
        int64_t row[TPAFILE_ACTION_FIELDS_END] = {
            [TPAFILE_ACTION_NAME] = tpafile_save_sums_text_of(writer, action->name),
            [TPAFILE_ACTION_CALLS] = action->calls < 0 ? TPAFILE_NONE : action->calls,
            [TPAFILE_ACTION_MEAN] = action->mean_ns,
            [TPAFILE_ACTION_TOTAL] = action->total_ns,
            [TPAFILE_ACTION_SHARE] = isnan(action->share) ? TPAFILE_NONE : tpafile_bits_of(action->share),
        };
        tpafile_writer_add(writer, TPAFILE_ACTION, row);
    }
    return close_writer(writer, written);
}
