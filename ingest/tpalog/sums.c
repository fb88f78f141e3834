/*
 * sums.c - a Python profile, or a report on actions, in a .tpa file.
 *
 * Records are collected in order; calls between functions and their order are computed at the end, when all surviving
 * records are known. Function numbers ascend in the file, so that one is found at its index or, if blocks are lost, by
 * binary search.
 */
#include "ingest/tpalog/tpalog.h"

#include "trace/tpafile_seconds.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function by its number in the file. */
struct numbered {
    int64_t number;
    function_id id;
};

/* Its index among those with figures. */
struct listed {
    int64_t place;
    function_id id;
    struct profile_cost cost;
};

struct caller {
    int64_t function, caller;
    struct profile_edge edge;
};

struct tpalog_sums {
    struct profile *profile;
    struct action_report *report;
    VEC_OF(struct numbered) functions;
    VEC_OF(struct listed) listed;
    VEC_OF(struct caller) callers;
    struct profile_cost total; /* as recorded */
    int64_t recorded_functions, recorded_listed, recorded_callers, recorded_actions;
    uint64_t lost;    /* functions, callers or actions */
    const char *path; /* of the source, in the arena; NULL until requested */
};

struct tpalog_sums *tpalog_sums_open(void)
{
    struct tpalog_sums *sums = mem_zalloc(1, sizeof *sums);
    sums->recorded_functions = sums->recorded_listed = sums->recorded_callers = sums->recorded_actions =
        TPAFILE_NONE;
    return sums;
}

void tpalog_sums_free(struct tpalog_sums *sums)
{
    profile_free(sums->profile);
    action_report_free(sums->report);
    VEC_FREE(&sums->functions);
    VEC_FREE(&sums->listed);
    VEC_FREE(&sums->callers);
    free(sums);
}

static struct arena *arena_of(struct tpalog_sums *sums)
{
    return sums->profile ? &sums->profile->arena : &sums->report->arena;
}

static struct sums_origin *origin_of(struct tpalog_sums *sums)
{
    return sums->profile ? &sums->profile->origin : &sums->report->origin;
}

static int64_t sums_known(int64_t value, int64_t missing)
{
    return value == TPAFILE_NONE ? missing : value;
}

/*
 * A text that lives as long as the sums, one copy of each; never NULL. A lost one is replaced by its number, so that
 * functions with lost names stay distinct.
 */
static const char *sums_keep_text(struct tpalog_reader *reader, int64_t number, size_t *len)
{
    struct tpalog_text *text = tpalog_text(&reader->texts, number);
    *len = text ? text->len : 0;
    if (!text)
        return "";
    if (text == &reader->texts.lost) {
        const char *lost = arena_printf(arena_of(reader->sums), "(lost %" PRId64 ")", number);
        *len = strlen(lost);
        return lost;
    }
    if (!text->kept)
        text->kept = arena_strndup(arena_of(reader->sums), text->at, text->len);
    return text->kept;
}

/* ---- profiles ---- */

static void join_facts(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct tpalog_sums *sums = reader->sums;
    struct profile *profile = sums->profile;
    sums->recorded_functions = tpalog_field(part, TPAFILE_PROFILE_FUNCTIONS, 0);
    sums->recorded_listed = tpalog_field(part, TPAFILE_PROFILE_LISTED, 0);
    sums->recorded_callers = tpalog_field(part, TPAFILE_PROFILE_CALLERS, 0);
    sums->total.calls = sums_known(tpalog_field(part, TPAFILE_PROFILE_CALLS, 0), 0);
    sums->total.primitive_calls = sums_known(tpalog_field(part, TPAFILE_PROFILE_PRIMITIVE, 0), 0);
    sums->total.total_s = tpafile_double_of(sums_known(tpalog_field(part, TPAFILE_PROFILE_SELF, 0), 0));
    profile->sampled = tpalog_field(part, TPAFILE_PROFILE_SAMPLED, 0) == 1;
    int64_t figures = tpalog_field(part, TPAFILE_PROFILE_FIGURES, PROFILE_TIME);
    profile->figures = figures >= PROFILE_TIME && figures <= PROFILE_DEVICE_TIME
                           ? (enum profile_figures)figures
                           : PROFILE_TIME;
    profile->counts_swapped = tpalog_field(part, TPAFILE_PROFILE_SWAPPED, 0) == 1;
    profile->odd_entries = (uint64_t)sums_known(tpalog_field(part, TPAFILE_PROFILE_ODD_ENTRIES, 0), 0);
    profile->odd_offset = sums_known(tpalog_field(part, TPAFILE_PROFILE_ODD_OFFSET, 0), TPA_NOWHERE);
    profile->merged_edges = (uint64_t)sums_known(tpalog_field(part, TPAFILE_PROFILE_MERGED, 0), 0);
    profile->trailing_bytes = (uint64_t)sums_known(tpalog_field(part, TPAFILE_PROFILE_TRAILING, 0), 0);
    profile->trailing_offset = sums_known(tpalog_field(part, TPAFILE_PROFILE_TRAILING_OFFSET, 0), 0);
}

static void join_files(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    for (size_t i = 0; i < part->head.rows; i++) {
        size_t len;
        const char *path = sums_keep_text(reader, tpalog_field(part, TPAFILE_PROFILE_FILE_PATH, i), &len);
        *VEC_PUSH(&reader->sums->profile->files) =
            (struct profile_file){ path, tpalog_field(part, TPAFILE_PROFILE_FILE_MODIFIED, i) };
    }
}

static int64_t sum_of(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* The figures of row I, whose fields have the same places in functions and callers. */
static struct profile_cost cost_of(const struct tpalog_part *part, size_t i, const unsigned *fields)
{
    int64_t at[6];
    for (size_t f = 0; f < 6; f++)
        at[f] = sums_known(tpalog_field(part, fields[f], i), 0);
    return (struct profile_cost){
        .calls = at[0],
        .primitive_calls = sum_of(at[0], (int64_t)(0 - (uint64_t)at[1])),
        .total_s = tpafile_join_seconds(at[2], at[4]),
        .cumulative_s = tpafile_join_seconds(sum_of(at[2], at[3]), at[5]),
    };
}

static bool sums_join_functions(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    static const unsigned figures[] = {
        TPAFILE_PROFILE_FUNCTION_CALLS,     TPAFILE_PROFILE_FUNCTION_RECURSIVE,
        TPAFILE_PROFILE_FUNCTION_SELF,      TPAFILE_PROFILE_FUNCTION_BELOW,
        TPAFILE_PROFILE_FUNCTION_SELF_BITS, TPAFILE_PROFILE_FUNCTION_CUMULATIVE_BITS
    };
    struct tpalog_sums *sums = reader->sums;
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t number = tpalog_field(part, TPAFILE_PROFILE_FUNCTION_FUNCTION, i);
        int64_t last = sums->functions.count ? sums->functions.at[sums->functions.count - 1].number : -1;
        if (number <= last || sums->profile->function_count == FUNCTION_NONE)
            return false;
        size_t file_len, name_len;
        const char *file =
            sums_keep_text(reader, tpalog_field(part, TPAFILE_PROFILE_FUNCTION_FILE, i), &file_len);
        const char *name =
            sums_keep_text(reader, tpalog_field(part, TPAFILE_PROFILE_FUNCTION_NAME, i), &name_len);
        int64_t line = sums_known(tpalog_field(part, TPAFILE_PROFILE_FUNCTION_LINE, i), 0);
        function_id id = profile_function(sums->profile, file, file_len, line, name, name_len);
        *VEC_PUSH(&sums->functions) = (struct numbered){ number, id };
        int64_t place = tpalog_field(part, TPAFILE_PROFILE_FUNCTION_PLACE, i);
        if (place != TPAFILE_NONE)
            *VEC_PUSH(&sums->listed) = (struct listed){ place, id, cost_of(part, i, figures) };
    }
    return true;
}

static bool join_callers(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    static const unsigned figures[] = {
        TPAFILE_PROFILE_CALLER_CALLS, TPAFILE_PROFILE_CALLER_RECURSIVE, TPAFILE_PROFILE_CALLER_SELF,
        TPAFILE_PROFILE_CALLER_BELOW, TPAFILE_PROFILE_CALLER_SELF_BITS, TPAFILE_PROFILE_CALLER_CUMULATIVE_BITS
    };
    struct tpalog_sums *sums = reader->sums;
    if (sums->callers.count + part->head.rows > UINT32_MAX)
        return false;
    for (size_t i = 0; i < part->head.rows; i++)
        *VEC_PUSH(&sums->callers) = (struct caller){
            .function = tpalog_field(part, TPAFILE_PROFILE_CALLER_FUNCTION, i),
            .caller = tpalog_field(part, TPAFILE_PROFILE_CALLER_CALLER, i),
            .edge = { .cost = cost_of(part, i, figures),
                      .count_only = tpalog_field(part, TPAFILE_PROFILE_CALLER_COUNT_ONLY, i) == 1 },
        };
    return true;
}

/* The function of NUMBER; FUNCTION_NONE if its record is lost. */
static function_id find_function(const struct tpalog_sums *sums, int64_t number)
{
    size_t low = 0, high = sums->functions.count;
    if (number >= 0 && (uint64_t)number < high && sums->functions.at[number].number == number)
        return sums->functions.at[number].id;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sums->functions.at[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < sums->functions.count && sums->functions.at[low].number == number;
    return found ? sums->functions.at[low].id : FUNCTION_NONE;
}

static int compare_places(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    return a->place < b->place ? -1 : a->place > b->place ? 1 : a->id < b->id ? -1 : a->id > b->id;
}

/* The callers, by function: those of f are order[first[f]] to order[first[f + 1] - 1]; NULL if there is none. */
static uint32_t *order_callers(struct tpalog_sums *sums, uint32_t *first)
{
    size_t functions = sums->profile->function_count;
    uint32_t *order = mem_alloc(mem_times(sums->callers.count + 1, sizeof *order));
    for (size_t i = 0; i < sums->callers.count; i++) {
        struct caller *caller = &sums->callers.at[i];
        function_id function = find_function(sums, caller->function);
        caller->edge.caller = find_function(sums, caller->caller);
        bool lost = function == FUNCTION_NONE || caller->edge.caller == FUNCTION_NONE;
        sums->lost += lost;
        caller->function = lost ? -1 : (int64_t)function;
        if (!lost)
            first[function + 1]++;
    }
    for (size_t f = 0; f < functions; f++)
        first[f + 1] += first[f];
    for (size_t i = 0; i < sums->callers.count; i++)
        if (sums->callers.at[i].function >= 0)
            order[first[sums->callers.at[i].function]++] = (uint32_t)i;
    memmove(first + 1, first, functions * sizeof *first);
    first[0] = 0;
    return order;
}

/* The number of lost records: COUNT are present, the file claims RECORDED. */
static uint64_t lost_of(int64_t recorded, size_t count)
{
    return recorded > 0 && (uint64_t)recorded > count ? (uint64_t)recorded - count : 0;
}

static void finish_profile(struct tpalog_reader *reader)
{
    struct tpalog_sums *sums = reader->sums;
    struct profile *profile = sums->profile;
    bool whole = sums->recorded_listed == (int64_t)sums->listed.count;
    sums->lost += lost_of(sums->recorded_functions, sums->functions.count) +
                  lost_of(sums->recorded_callers, sums->callers.count);
    uint32_t *first = mem_zalloc(profile->function_count + 1, sizeof *first);
    uint32_t *order = order_callers(sums, first);
    if (sums->listed.count)
        qsort(sums->listed.at, sums->listed.count, sizeof *sums->listed.at, compare_places);
    for (size_t i = 0; i < sums->listed.count; i++) {
        const struct listed *listed = &sums->listed.at[i];
        const struct profile_function *function = &profile->functions[listed->id];
        uint32_t from = function->first_edge, count = function->edge_count;
        if (!function->listed) { /* recorded twice, it has its callers already */
            from = (uint32_t)profile->edge_count;
            for (uint32_t e = first[listed->id]; e < first[listed->id + 1]; e++)
                profile_add_edge(profile, from, &sums->callers.at[order[e]].edge);
            count = (uint32_t)profile->edge_count - from;
        }
        profile_list(profile, listed->id, &listed->cost, from, count);
    }
    free(first);
    free(order);
    if (profile->files.count == 0) {
        const char *path = source_name(reader->source);
        *VEC_PUSH(&profile->files) =
            (struct profile_file){ arena_strndup(&profile->arena, path, strlen(path)), INT64_MIN };
    }
    profile_finish(profile);
    if (whole)
        profile->total = sums->total;
}

/* ---- reports ---- */

static void join_report(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    size_t len;
    struct action_report *report = reader->sums->report;
    reader->sums->recorded_actions = tpalog_field(part, TPAFILE_REPORT_ACTIONS, 0);
    report->stage = sums_keep_text(reader, tpalog_field(part, TPAFILE_REPORT_STAGE, 0), &len);
    report->total_calls = sums_known(tpalog_field(part, TPAFILE_REPORT_CALLS, 0), -1);
    report->total_ns = sums_known(tpalog_field(part, TPAFILE_REPORT_TOTAL, 0), -1);
    report->odd_lines = (uint64_t)sums_known(tpalog_field(part, TPAFILE_REPORT_ODD_LINES, 0), 0);
    report->odd_offset = sums_known(tpalog_field(part, TPAFILE_REPORT_ODD_OFFSET, 0), TPA_NOWHERE);
}

static void join_actions(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    for (size_t i = 0; i < part->head.rows; i++) {
        size_t len;
        const char *name = sums_keep_text(reader, tpalog_field(part, TPAFILE_ACTION_NAME, i), &len);
        int64_t share = tpalog_field(part, TPAFILE_ACTION_SHARE, i);
        *VEC_PUSH(&reader->sums->report->actions) = (struct action){
            .name = name,
            .calls = sums_known(tpalog_field(part, TPAFILE_ACTION_CALLS, i), -1),
            .mean_ns = sums_known(tpalog_field(part, TPAFILE_ACTION_MEAN, i), 0),
            .total_ns = sums_known(tpalog_field(part, TPAFILE_ACTION_TOTAL, i), 0),
            .share = share == TPAFILE_NONE ? (double)NAN : tpafile_double_of(share),
        };
    }
}

/* ---- both ---- */

static bool is_of_report(unsigned kind)
{
    return kind == TPAFILE_REPORT || kind == TPAFILE_ACTION;
}

bool tpalog_join_sums(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct tpalog_sums *sums = reader->sums;
    unsigned kind = part->head.kind;
    if (is_of_report(kind) ? sums->profile != NULL : sums->report != NULL)
        return false;
    if (part->head.rows == 0)
        return true;
    if (!is_of_report(kind) && !sums->profile)
        sums->profile = profile_open();
    if (is_of_report(kind) && !sums->report) {
        sums->report = mem_zalloc(1, sizeof *sums->report);
        sums->report->stage = "";
        sums->report->total_calls = sums->report->total_ns = -1;
        sums->report->odd_offset = TPA_NOWHERE;
    }
    switch ((enum tpafile_kind)kind) {
    case TPAFILE_PROFILE: join_facts(reader, part); return true;
    case TPAFILE_PROFILE_FILE: join_files(reader, part); return true;
    case TPAFILE_PROFILE_FUNCTION: return sums_join_functions(reader, part);
    case TPAFILE_PROFILE_CALLER: return join_callers(reader, part);
    case TPAFILE_REPORT: join_report(reader, part); return true;
    default: join_actions(reader, part); return true;
    }
}

bool tpalog_has_sums(const struct tpalog_reader *reader)
{
    return reader->sums->profile || reader->sums->report;
}

/* KIND and TEXT live as long as the sums. */
static void sums_add_notice(struct tpalog_reader *reader, const char *kind, const char *text, uint64_t count,
                            int64_t offset)
{
    struct tpalog_sums *sums = reader->sums;
    const char *path = source_name(reader->source);
    if (!sums->path)
        sums->path = arena_strndup(arena_of(sums), path, strlen(path));
    sums_origin_add(origin_of(sums), &(struct sums_notice){
                                         .kind = kind,
                                         .text = text,
                                         .path = sums->path,
                                         .count = count,
                                         .offset = offset,
                                     });
}

void tpalog_sums_notice(struct tpalog_reader *reader, const char *kind, const char *text, uint64_t count,
                        int64_t offset)
{
    struct arena *arena = arena_of(reader->sums);
    sums_add_notice(reader, arena_strndup(arena, kind, strlen(kind)),
                    arena_strndup(arena, text, strlen(text)), count, offset);
}

void tpalog_sums_recorded_notice(struct tpalog_reader *reader, int64_t kind, int64_t text, uint64_t count,
                                 int64_t offset)
{
    size_t number, len;
    if (kind <= 0 || !tpalog_takes_notice(reader, kind, text, count, &number))
        return;
    struct sums_origin *origin = origin_of(reader->sums);
    if (number >= origin->notices.count) {
        sums_add_notice(reader, sums_keep_text(reader, kind, &len), sums_keep_text(reader, text, &len), count,
                        offset);
        return;
    }
    struct sums_notice *notice = &origin->notices.at[number]; /* those of the file come first */
    notice->count += count;
    if (notice->offset == TPA_NOWHERE)
        notice->offset = offset;
}

void tpalog_sums_finish(struct tpalog_reader *reader)
{
    struct tpalog_sums *sums = reader->sums;
    if (sums->profile)
        finish_profile(reader);
    else
        sums->lost += lost_of(sums->recorded_actions, sums->report->actions.count);
    if (sums->lost == 0)
        return;
    const char *text = arena_printf(arena_of(sums), "%" PRIu64 " %s in blocks that are lost", sums->lost,
                                    sums->profile ? "functions and callers were" : "actions were");
    tpalog_sums_notice(reader, lack_word(LACK_LOST_SUMS), text, sums->lost, TPA_NOWHERE);
}

void tpalog_sums_hand_over(struct tpalog_reader *reader, struct ingested *to)
{
    struct tpalog_sums *sums = reader->sums;
    struct trace_container *container = mem_zalloc(1, sizeof *container);
    *container = *reader->container;
    reader->container->kinds.at = NULL;
    reader->container->kinds.count = reader->container->kinds.capacity = 0;
    container->path = arena_strndup(arena_of(sums), container->path, strlen(container->path));
    *VEC_PUSH(&origin_of(sums)->containers) = container;
    to->profile = sums->profile;
    to->actions = sums->report;
    sums->profile = NULL;
    sums->report = NULL;
}
