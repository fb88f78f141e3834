/*
 * formats.c - the formats, and how a command's files become one trace.
 *
 * A directory stands for the traces in it: TensorBoard's log directories, one file per rank. Files in
 * it that are no traces are passed over; a file named by the user must be one.
 */
#define _GNU_SOURCE
#include "ingest/formats.h"

#include "base/memory.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern const struct format format_chrome;

const struct format *const formats[] = {
    &format_chrome,
    NULL,
};

/* How deep directories are searched: log directories nest run/plugin/profile/time. */
enum { DEEPEST_DIRECTORY = 8 };

struct paths {
    char **at;
    size_t count, capacity;
};

static void free_paths(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->at[i]);
    VEC_FREE(paths);
}

/* By name, with numbers in them compared as numbers: rank2 before rank10. */
static int compare_paths(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    int order = strverscmp(left, right);
    return order ? order : strcmp(left, right);
}

static bool has_ending(const char *name, const char *ending)
{
    size_t len = strlen(name), end = strlen(ending);
    return len > end && strcmp(name + len - end, ending) == 0;
}

/* Names in a directory that may be traces; what they really are is sniffed later. */
static bool may_be_trace(const char *name)
{
    static const char *const endings[] = { ".json", ".json.gz", ".json.zst", ".tpa", ".trace", ".pt.trace" };
    if (name[0] == '.')
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (has_ending(name, endings[i]))
            return true;
    return false;
}

static bool list_directory(const char *path, int depth, struct paths *found, struct tpa_error *err)
{
    DIR *directory = opendir(path);
    if (!directory) {
        tpa_fail_errno(err, "can not open the directory");
        return tpa_in_file(err, path);
    }
    struct paths here = { 0 };
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        char *full = NULL;
        if (asprintf(&full, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", entry->d_name) < 0)
            mem_out_of_memory(strlen(path));
        *VEC_PUSH(&here) = full;
    }
    closedir(directory);
    if (here.count)
        qsort(here.at, here.count, sizeof *here.at, compare_paths);
    bool ok = true;
    for (size_t i = 0; i < here.count && ok; i++) {
        struct stat about;
        /* Links are followed to files but not to directories, so that a loop of links ends. */
        if (lstat(here.at[i], &about) == 0 && S_ISDIR(about.st_mode)) {
            if (depth < DEEPEST_DIRECTORY)
                ok = list_directory(here.at[i], depth + 1, found, err);
        } else if (may_be_trace(strrchr(here.at[i], '/') + 1) && stat(here.at[i], &about) == 0 &&
                   S_ISREG(about.st_mode)) {
            *VEC_PUSH(found) = mem_strdup(here.at[i]);
        }
    }
    free_paths(&here);
    return ok;
}

/* ---- sniffing ---- */

static const struct format *find_format(const char *bytes, size_t len)
{
    const struct format *best = NULL;
    int best_score = 0;
    for (size_t i = 0; formats[i]; i++) {
        int score = formats[i]->sniff(bytes, len);
        if (score > best_score) {
            best = formats[i];
            best_score = score;
        }
    }
    return best;
}

/* What a file that is no trace seems to be, for the message. */
static const char *describe(const char *bytes, size_t len)
{
    static const struct {
        const char *magic;
        size_t len;
        const char *what;
    } known[] = {
        { "\x89PNG", 4, "a PNG picture" },
        { "\xff\xd8\xff", 3, "a JPEG picture" },
        { "PK\x03\x04", 4, "a zip archive" },
        { "\x7f"
          "ELF",
          4, "a program" },
        { "%PDF", 4, "a PDF document" },
        { "SQLite format 3", 15, "an SQLite database" },
        { "BZh", 3, "bzip2 data" },
        { "\xfd"
          "7zXZ",
          5, "xz data" },
        { "\xff\xfe", 2, "UTF-16 text" },
        { "\xfe\xff", 2, "UTF-16 text" },
        { "<!DOCTYPE", 9, "an HTML page" },
        { "<!doctype", 9, "an HTML page" },
        { "<html", 5, "an HTML page" },
        { "<HTML", 5, "an HTML page" },
        { "<?xml", 5, "an XML document" },
    };
    size_t at = 0;
    while (at < len && strchr(" \t\r\n", bytes[at]) && bytes[at])
        at++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (len - at >= known[i].len && memcmp(bytes + at, known[i].magic, known[i].len) == 0)
            return known[i].what;
    for (size_t i = 0; i < len && i < 512; i++)
        if ((unsigned char)bytes[i] < 0x20 && !strchr("\t\r\n\f", bytes[i]))
            return "binary data";
    return "other text";
}

static bool not_a_trace(const char *bytes, size_t len, struct tpa_error *err)
{
    if (len == 0) {
        tpa_fail(err, 0, "the file is empty");
        return tpa_hint(err, "was the program stopped before it had written its trace?");
    }
    const char *what = describe(bytes, len);
    tpa_fail(err, 0, "not a trace: this is %s, and a trace was expected (JSON that begins with '{' or '[')",
             what);
    if (strstr(what, "HTML"))
        tpa_hint(err, "the download may have failed: look at the page in a browser");
    else if (strstr(what, "zip"))
        tpa_hint(err, "unpack it first");
    else if (strstr(what, "UTF-16"))
        tpa_hint(err, "convert it first: iconv -f UTF-16 -t UTF-8 FILE > trace.json");
    else if (strstr(what, "bzip2") || strstr(what, "xz"))
        tpa_hint(err, "unpack it first; gzip and zstd are read as they are");
    else
        tpa_hint(err, "'tpa info --formats' lists what can be read");
    return false;
}

/* ---- reading ---- */

static bool read_file(const char *path, struct trace_builder *builder, const struct ingest_options *options,
                      bool must_be_trace, bool *was_trace, struct tpa_error *err)
{
    struct source_limits limits = { .max_ratio =
                                        options->max_ratio ? options->max_ratio : SOURCE_DEFAULT_MAX_RATIO };
    if (options->max_ratio == UINT64_MAX)
        limits.max_ratio = 0;
    struct source *source = source_open(path, &limits, err);
    if (!source)
        return tpa_in_file(err, path);
    const char *bytes;
    size_t len = source_peek(source, &bytes, err);
    const struct format *format = err->failed ? NULL : find_format(bytes, len);
    bool ok = true;
    if (format) {
        trace_builder_file(builder, source_name(source), format->name);
        struct trace_file *file = trace_builder_current_file(builder);
        file->packing = source_packing(source);
        ok = format->read(source, builder, options, err);
        trace_builder_current_file(builder)->packed_size = source_packed_size(source);
        *was_trace = true;
    } else if (err->failed) {
        ok = false;
    } else if (must_be_trace) {
        ok = not_a_trace(bytes, len, err);
    }
    if (!ok)
        tpa_in_file(err, source_name(source));
    source_free(source);
    return ok;
}

static bool read_directory(const char *path, struct trace_builder *builder,
                           const struct ingest_options *options, struct tpa_error *err)
{
    struct paths found = { 0 };
    bool ok = list_directory(path, 0, &found, err), any = false;
    for (size_t i = 0; i < found.count && ok; i++)
        ok = read_file(found.at[i], builder, options, false, &any, err);
    if (ok && !any) {
        ok = tpa_fail(err, TPA_NOWHERE, "no trace in this directory (%zu files looked at)", found.count);
        tpa_in_file(err, path);
        tpa_hint(err, "traces are looked for in files that end in .json, .json.gz, .json.zst or .tpa");
    }
    free_paths(&found);
    return ok;
}

struct trace *ingest_read(const char *const *paths, size_t count, const struct ingest_options *options,
                          struct tpa_error *err)
{
    struct tpa_error ignored = { 0 };
    if (!err)
        err = &ignored;
    struct trace_builder *builder = trace_builder_open(&options->wants);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        struct stat about;
        bool any = false;
        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode))
            ok = read_directory(paths[i], builder, options, err);
        else
            ok = read_file(paths[i], builder, options, true, &any, err);
    }
    if (!ok) {
        trace_builder_free(builder);
        return NULL;
    }
    return trace_builder_finish(builder);
}
