/* Tables have a row a block (operator_memory.csv) and a row a moment (memory_record.csv):
 * microseconds with a tab behind them, sizes in KB and MB with all their decimals. */
#define _GNU_SOURCE /* asprintf */
#include "ingest/ascend/ascend.h"

#include "ingest/csv.h"
#include "ingest/json_text.h"
#include <dirent.h>
#include <math.h>
#include <unistd.h>

/* The folder of PATH, LEVELS higher; "." for a name alone. New; free(). */
static char *folder_of(const char *path, int levels)
{
    char *folder = NULL;
    const char *slash = strrchr(path, '/');
    if (asprintf(&folder, "%.*s%s", slash ? (int)(slash - path) : 1, slash ? path : ".",
                 levels ? "/.." : "") < 0)
        mem_out_of_memory(strlen(path));
    return folder;
}

static char *beside(const char *path, const char *name)
{
    char *folder = folder_of(path, 0), *full = NULL;
    if (asprintf(&full, "%s/%s", folder, name) < 0)
        mem_out_of_memory(strlen(path));
    free(folder);
    return full;
}

/* The first name in the folder at PATH that begins with PREFIX and ends with ENDING; new, free(); NULL. */
static char *find_name(const char *path, const char *prefix, const char *ending)
{
    DIR *directory = opendir(path);
    char *found = NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t len = strlen(entry->d_name), end = strlen(ending);
        bool fits = strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && len >= end &&
                    strcmp(entry->d_name + len - end, ending) == 0;
        if (fits && (!found || strcmp(entry->d_name, found) < 0)) {
            free(found);
            found = mem_strdup(entry->d_name);
        }
    }
    if (directory)
        closedir(directory);
    return found;
}

/* The text of a small file; empty if it cannot be read. */
static struct buffer read_small(const char *path)
{
    struct buffer text = { 0 };
    struct source_limits limits = { .max_ratio = SOURCE_DEFAULT_MAX_RATIO };
    struct tpa_error err = { 0 };
    SCOPED_BY(source_free_at)
    struct source *source = access(path, R_OK) == 0 ? source_open(path, &limits, &err) : NULL;
    if (!source || !csv_read_all(source, &text, &err))
        buffer_clear(&text);
    return text;
}

static int64_t rank_in(const char *folder)
{
    int64_t rank = -1;
    char *name = find_name(folder, "profiler_info", ".json"), *path = NULL;
    if (!name || asprintf(&path, "%s/%s", folder, name) < 0) {
        free(name);
        return -1;
    }
    SCOPED struct buffer text = read_small(path);
    struct json_pull in = { text.at, text.at + text.count };
    struct json_text key, value;
    bool more = text.count && json_enter(&in, '{');
    while (more && json_next_key(&in, &key)) {
        if (json_text_is(&key, "rank_id") && json_read(&in, &value))
            rank = json_text_integer(&value, -1);
        else
            more = json_skip(&in);
    }
    EACH(free, path, name);
    return rank;
}

int64_t ascend_folder_rank(const char *path)
{
    int64_t rank = -1;
    for (int level = 0; level < 2 && rank < 0 && strcmp(path, "-") != 0; level++) {
        SCOPED char *folder = folder_of(path, level);
        rank = rank_in(folder);
    }
    return rank;
}

/* ---- memory ---- */

static int64_t time_of(const struct csv *csv, size_t column)
{
    const char *text = csv_field(csv, column);
    int64_t ns;
    return *text && json_microseconds(text, text + strlen(text), &ns) ? ns : RECORDER_NONE;
}

/* A size in UNIT bytes, in bytes. */
static int64_t bytes_of(const struct csv *csv, size_t column, double unit)
{
    const char *text = csv_field(csv, column);
    double value;
    if (!*text || !json_decimal(text, text + strlen(text), &value) || fabs(value) > 0x1p62 / unit)
        return RECORDER_NONE;
    return llround(value * unit);
}

static int64_t device_of(const struct csv *csv, size_t column)
{
    const char *number = strchr(csv_field(csv, column), ':');
    return number ? strtoll(number + 1, NULL, 10) : 0;
}

enum { KB = 1024, MB = 1024 * 1024 };

/* Rows without a stream are of the graph engine's pool of workspaces, which is not the framework's. */
static void folder_read_blocks(struct ascend *ascend, struct csv *csv)
{
    size_t name = csv_column(csv, "Name"), size = csv_column(csv, "Size(KB)"),
           allocated = csv_column(csv, "Allocation Time(us)"), released = csv_column(csv, "Release Time(us)"),
           stream = csv_column(csv, "Stream Ptr"), device = csv_column(csv, "Device Type");
    const size_t totals[] = { csv_column(csv, "Allocation Total Allocated(MB)"),
                              csv_column(csv, "Allocation Total Reserved(MB)"),
                              csv_column(csv, "Release Total Allocated(MB)"),
                              csv_column(csv, "Release Total Reserved(MB)") };
    while (csv_next(csv)) {
        if (!*csv_field(csv, stream))
            continue;
        const char *text = csv_field(csv, name);
        ascend_add_block(ascend, &(struct ascend_block){
                                     .allocated_ns = time_of(csv, allocated),
                                     .released_ns = time_of(csv, released),
                                     .bytes = bytes_of(csv, size, KB),
                                     .device = device_of(csv, device),
                                     .allocated_total = bytes_of(csv, totals[0], MB),
                                     .allocated_reserved = bytes_of(csv, totals[1], MB),
                                     .released_total = bytes_of(csv, totals[2], MB),
                                     .released_reserved = bytes_of(csv, totals[3], MB),
                                     .name = recorder_name(ascend_recorder(ascend), text, strlen(text)),
                                 });
    }
}

static void folder_read_levels(struct ascend *ascend, struct csv *csv)
{
    size_t component = csv_column(csv, "Component"), moment = csv_column(csv, "Timestamp(us)"),
           allocated = csv_column(csv, "Total Allocated(MB)"),
           reserved = csv_column(csv, "Total Reserved(MB)"), device = csv_column(csv, "Device Type");
    while (csv_next(csv))
        if (strcmp(csv_field(csv, component), "PTA") == 0)
            ascend_add_level(ascend, &(struct ascend_level){
                                         .time_ns = time_of(csv, moment),
                                         .device = device_of(csv, device),
                                         .allocated = bytes_of(csv, allocated, MB),
                                         .reserved = bytes_of(csv, reserved, MB),
                                     });
}

void ascend_folder_memory(struct ascend *ascend, struct trace_builder *builder, const char *path, bool given)
{
    static const struct {
        const char *name;
        void (*read)(struct ascend *ascend, struct csv *csv);
    } tables[] = { { "operator_memory.csv", folder_read_blocks },
                   { "memory_record.csv", folder_read_levels } };
    bool any = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && strcmp(path, "-") != 0; i++) {
        SCOPED char *full = beside(path, tables[i].name);
        bool there = access(full, R_OK) == 0;
        any |= there;
        if (there && given) {
            SCOPED struct buffer text = read_small(full);
            struct csv csv = csv_open(text.at, text.count);
            if (text.count && csv_header(&csv))
                tables[i].read(ascend, &csv);
            csv_release(&csv);
        }
    }
    if (!any || given)
        return;
    char *folder = folder_of(path, 0), *text = NULL;
    if (asprintf(&text, "memory is recorded in tables beside the file: give the folder %s to have it",
                 folder) > 0)
        trace_builder_notice(builder, "memory_beside", trace_builder_strndup(builder, text, strlen(text)), 1,
                             TPA_NOWHERE);
    EACH(free, text, folder);
}

/* ---- directories ---- */

static bool is_like(const char *name, const char *prefix, const char *ending)
{
    size_t len = strlen(name), end = strlen(ending);
    return strncmp(name, prefix, strlen(prefix)) == 0 && len >= end && strcmp(name + len - end, ending) == 0;
}

/* Is there a file beside PATH whose name begins with PREFIX and ends with ENDING? */
static bool has_beside(const char *path, const char *prefix, const char *ending)
{
    SCOPED char *folder = folder_of(path, 0), *found = find_name(folder, prefix, ending);
    return found != NULL;
}

enum ascend_file ascend_folder_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool is_info = is_like(name, "profiler_info", ".json") || is_like(name, "profiler_metadata", ".json");
    bool is_result = is_like(name, "communication", ".json") || strcmp(name, "analysis.db") == 0;
    if (is_info || is_result) {
        bool has_recording = has_beside(path, "trace_view", ".json") ||
                             has_beside(path, "msprof_", ".json") ||
                             has_beside(path, "ascend_pytorch_profiler", ".db") ||
                             (is_info && has_beside(path, "ASCEND_PROFILER_OUTPUT", ""));
        return has_recording ? ASCEND_FILE_RESULT : ASCEND_FILE_NONE;
    }
    if (strcmp(name, "trace_view.json") == 0 && has_beside(path, "ascend_pytorch_profiler", ".db"))
        return ASCEND_FILE_TWIN;
    if (is_like(name, "msprof_", ".json") && has_beside(path, "msprof_", ".db"))
        return ASCEND_FILE_TWIN;
    return ASCEND_FILE_NONE;
}
