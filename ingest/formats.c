/*
 * formats.c - the formats, and combining a command's files into one trace.
 *
 * A directory means the traces in it: TensorBoard's log directories, one file per rank. Files in it that are not traces
 * are skipped; a file named by the user must be one. A directory without
 * traces means the profiles in it. Inaccessible files in a directory (most often owned by another user) are left out
 * and reported: the other ranks are still useful.
 */
#define _GNU_SOURCE
#include "ingest/formats.h"

#include "base/parallel.h"
#include "ingest/rank_parts.h"
#include "ingest/ascend/ascend.h"
#include "ingest/csv.h"
#include "ingest/unread.h"
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

extern const struct format format_chrome, format_pstats, format_printed_stats, format_lightning,
    format_memory_timeline, format_tpa, format_saved, format_snapshot, format_xplane, format_perfetto,
    format_nsys, format_rocpd, format_rpd, format_rocprof_json, format_speedscope, format_folded,
    format_cpuprofile, format_pprof, format_ascend, format_rocprof_csv, format_hatchet;

const struct format *const formats[] = {
    &format_chrome,
    &format_pstats,
    &format_printed_stats,
    &format_lightning,
    &format_memory_timeline,
    &format_tpa,
    &format_saved,
    &format_snapshot,
    &format_xplane,
    &format_perfetto,
    &format_nsys,
    &format_rocpd,
    &format_rpd,
    &format_rocprof_json,
    &format_speedscope,
    &format_folded,
    &format_cpuprofile,
    &format_pprof,
    &format_ascend,
    &format_rocprof_csv,
    &format_hatchet,
    NULL,
};

/* How deep directories are searched: log directories nest run/plugin/profile/time. */
enum { DEEPEST_DIRECTORY = 8 };

struct paths {
    VEC_OF(char *);
};

static void free_paths(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->at[i]);
    VEC_FREE(paths);
}

/* Compare names, with embedded numbers compared as numbers: rank2 before rank10. */
static int compare_paths(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    int order = strverscmp(left, right);
    return order ? order : strcmp(left, right);
}

/* Names in a directory that may be traces, or profiles; their format is determined later. */
static const char *const trace_endings[] = {
    ".json",           ".json.gz",    ".json.zst", ".tpa", ".trace", ".pt.trace", ".xplane.pb", ".pftrace",
    ".perfetto-trace", ".pftrace.gz", ".sqlite",   ".db",  ".rpd",   ".proto",    NULL
};
static const char *const table_endings[] = { ".csv", NULL };
static const char *const profile_endings[] = { ".prof",   ".pstats",          ".pstat",
                                               ".stats",  ".speedscope.json", ".cpuprofile",
                                               ".folded", ".collapsed",       ".pprof",
                                               ".pb.gz",  ".hatchet",         NULL };
static const char *const snapshot_endings[] = { ".pickle",     ".pkl",     ".pickle.gz", ".pkl.gz",
                                                ".pickle.zst", ".pkl.zst", NULL };

static bool has_one_of(const char *name, const char *const *endings)
{
    if (name[0] == '.')
        return false;
    for (size_t i = 0; endings && endings[i]; i++)
        if (text_ends_with(name, endings[i]))
            return true;
    return !endings;
}

bool ingest_may_be_trace(const char *name)
{
    return has_one_of(name, trace_endings);
}

static bool fail_at_path(const char *path, const char *what, struct tpa_error *err)
{
    tpa_fail_errno(err, "%s", what);
    return tpa_in_file(err, path);
}

/* Get *ABOUT of PATH, following links. st_mode is 0 if it has been deleted, or is a dangling link. */
static bool formats_inspect(const char *path, bool follow, struct stat *about, struct tpa_error *err)
{
    if ((follow ? stat : lstat)(path, about) == 0)
        return true;
    about->st_mode = 0;
    return errno == ENOENT || errno == ELOOP || fail_at_path(path, "cannot look at this file", err);
}

/* The sorted names in the directory PATH, without those that begin with a dot. */
static bool list_names(const char *path, struct paths *names, struct tpa_error *err)
{
    DIR *directory = opendir(path);
    if (!directory)
        return fail_at_path(path, "cannot open the directory", err);
    errno = 0;
    for (struct dirent *entry; (entry = readdir(directory)); errno = 0) {
        if (entry->d_name[0] == '.')
            continue;
        char *full = NULL;
        if (asprintf(&full, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", entry->d_name) < 0)
            mem_out_of_memory(strlen(path));
        *VEC_PUSH(names) = full;
    }
    bool ok = errno == 0 || fail_at_path(path, "cannot read the directory", err);
    closedir(directory);
    if (names->count)
        qsort(names->at, names->count, sizeof *names->at, compare_paths);
    return ok;
}

/* Files in directories that are inaccessible or unreadable, and why. */
struct left_out {
    struct names *paths;
    VEC_OF(char *) reasons; /* of each path */
};

/* Does ERR only say that PATH, found in a directory, is inaccessible or no trace? Then it is recorded, and not an
 * error. */
static bool leave_out(struct left_out *left_out, const char *path, struct tpa_error *err)
{
    bool out_of_reach = err->code == EACCES || err->code == EPERM || err->code == ENOENT;
    if (!out_of_reach && err->unread != TPA_LEFT_OUT)
        return false;
    size_t known = names_count(left_out->paths);
    if (names_add(left_out->paths, path, strlen(path)) == known)
        *VEC_PUSH(&left_out->reasons) = mem_strdup(out_of_reach ? strerror(err->code) : err->message);
    *err = (struct tpa_error){ 0 };
    return true;
}

static bool list_directory(const char *path, int depth, const char *const *endings, struct paths *found,
                           struct left_out *left_out, struct tpa_error *err)
{
    struct paths here = { 0 };
    bool ok = list_names(path, &here, err);
    for (size_t i = 0; i < here.count && ok; i++) {
        struct stat about;
        /* Links are followed to files but not to directories, so that a loop of links ends. */
        ok = formats_inspect(here.at[i], false, &about, err);
        if (ok && S_ISDIR(about.st_mode)) {
            if (depth < DEEPEST_DIRECTORY)
                ok = list_directory(here.at[i], depth + 1, endings, found, left_out, err) ||
                     leave_out(left_out, here.at[i], err);
        } else if (ok && has_one_of(strrchr(here.at[i], '/') + 1, endings)) {
            ok = formats_inspect(here.at[i], true, &about, err) || leave_out(left_out, here.at[i], err);
            if (S_ISREG(about.st_mode))
                *VEC_PUSH(found) = mem_strdup(here.at[i]);
        }
    }
    free_paths(&here);
    return ok;
}

/* The certainty that a file in a directory needs if its name says nothing. */
enum { BY_CONTENT_ALONE = 70 };

/* The format whose sniff returns the highest certainty, at least AT_LEAST. */
static const struct format *find_format(const char *bytes, size_t len, int at_least)
{
    const struct format *best = NULL;
    int best_score = at_least - 1;
    for (size_t i = 0; formats[i]; i++) {
        int score = formats[i]->sniff(bytes, len);
        if (score > best_score) {
            best = formats[i];
            best_score = score;
        }
    }
    return best;
}

/* ---- reading ---- */

/* What has been read so far. */
struct reading {
    const struct ingest_options *options;
    struct trace_builder *builder;
    size_t traces;       /* files that were added to it */
    struct names *files; /* all regular files, keyed by file identity */
    VEC_OF(struct profile *) profiles;
    struct action_report *actions;
    struct snapshots snapshots;
    struct result *result;
    struct left_out left_out; /* of all directories */
    struct names *no_traces;  /* files in directories with the extension of a trace that are none */
    const char *no_trace_is;  /* what the first of them contains */
    struct arena words;       /* owns no_trace_is */
    bool in_directory;        /* the current file was found in a directory, not named */
    struct tpa_error other;   /* the first file there that is no trace and of which there is advice */
};

static bool read_trace(struct reading *reading, const struct format *format, struct source *source,
                       struct tpa_error *err)
{
    struct trace_builder *builder = reading->builder;
    struct ingest_options options = *reading->options;
    options.in_directory = reading->in_directory;
    reading->traces++;
    trace_builder_file(builder, source_name(source), format->name);
    trace_builder_current_file(builder)->packing = source_packing(source);
    bool ok = format->read(source, builder, &options, err);
    struct trace_file *file = trace_builder_current_file(builder);
    /* A trace converted to .tpa keeps the sizes of the original. */
    if (!file->container || file->container->is_log)
        file->packed_size = source_packed_size(source);
    return ok;
}

/* A description of what was read so far; NULL if nothing. */
static const char *what_was_read(const struct reading *reading)
{
    return reading->traces               ? "a trace"
           : reading->profiles.count     ? "a profile"
           : reading->actions            ? "a report"
           : reading->snapshots.of.count ? "a memory snapshot"
           : reading->result             ? "a result"
                                         : NULL;
}

static bool can_not_join(const char *what, const struct reading *reading, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE, "this is %s, which cannot be combined with %s", what, what_was_read(reading));
    return tpa_hint(err, "run one command for each");
}

/* Keep PROFILE, which is taken, and record that it came from the file NAME unless it lists files itself. False and ERR
 * if its unit differs from earlier profiles. */
static bool keep_profile(struct reading *reading, const char *name, struct profile *profile,
                         struct tpa_error *err)
{
    struct stat about;
    bool known = stat(name, &about) == 0;
    if (reading->profiles.count && reading->profiles.at[0]->figures != profile->figures) {
        profile_free(profile);
        tpa_fail(err, TPA_NOWHERE,
                 "this profile is in another unit than the one before, so they do not add up");
        return tpa_hint(err, "run one command for each");
    }
    if (profile->files.count == 0)
        *VEC_PUSH(&profile->files) =
            (struct profile_file){ arena_strndup(&profile->arena, name, strlen(name)),
                                   known ? (int64_t)about.st_mtime : INT64_MIN };
    *VEC_PUSH(&reading->profiles) = profile;
    return true;
}

static bool read_as(struct reading *reading, const struct format *format, struct source *source,
                    struct tpa_error *err)
{
    if (format->read_result && !reading->options->results) {
        tpa_fail(err, TPA_NOWHERE, "this is a result that tpa saved, not a trace");
        return tpa_hint(err,
                        "tpa diff compares saved results; the other commands read what they were made of");
    }
    bool same = !what_was_read(reading) || (format->read && reading->traces) ||
                (format->read_profile && reading->profiles.count) ||
                (format->read_snapshot && reading->snapshots.of.count);
    if (!same)
        return can_not_join(format->name, reading, err);
    if (format->read)
        return read_trace(reading, format, source, err);
    if (format->read_profile) {
        struct profile *profile = format->read_profile(source, err);
        return profile && keep_profile(reading, source_name(source), profile, err);
    }
    if (format->read_result) {
        reading->result = format->read_result(source, err);
        return reading->result != NULL;
    }
    if (format->read_snapshot) {
        struct snapshot *snapshot = format->read_snapshot(source, err);
        if (snapshot)
            *VEC_PUSH(&reading->snapshots.of) = snapshot;
        return snapshot != NULL;
    }
    reading->actions = format->read_actions(source, err);
    return reading->actions != NULL;
}

/* Was this regular file read before? Records it. */
static bool read_before(struct reading *reading, const struct source *source)
{
    struct source_id id;
    if (!source_id(source, &id))
        return false;
    uint64_t key[] = { id.device, id.inode };
    size_t known = names_count(reading->files);
    names_add(reading->files, (const char *)key, sizeof key);
    return names_count(reading->files) == known;
}

static void tell_twice(struct reading *reading, const char *path)
{
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "%s was given more than once and counts once", path);
    trace_builder_tell(reading->builder, "given_twice", text.at, 1);
}

static bool may_read(const struct reading *reading, const struct source *source, struct tpa_error *err)
{
    struct source_id id;
    return !reading->options->may_read || !source_id(source, &id) || reading->options->may_read(&id, err);
}

/* Record that a file in a directory is not a trace, for a notice with the description in ERR. */
static void remember_no_trace(struct reading *reading, const char *path, const struct tpa_error *err)
{
    if (names_count(reading->no_traces) == 0)
        reading->no_trace_is = arena_strndup(&reading->words, err->message, strlen(err->message));
    names_add(reading->no_traces, path, strlen(path));
}

/* Skip the file at PATH, found in a directory, which cannot be read as ERR says. TRACES is the number of traces before
 * it. False if part of it was read already. */
static bool leave_unread(struct reading *reading, size_t traces, const char *path, struct tpa_error *err)
{
    if (reading->traces > traces && !trace_builder_drop_file(reading->builder))
        return false;
    reading->traces = traces;
    if (err->unread == TPA_LEFT_OUT)
        return leave_out(&reading->left_out, path, err);
    remember_no_trace(reading, path, err);
    *err = (struct tpa_error){ 0 };
    return true;
}

static struct trace *finish_trace(struct reading *reading)
{
    trace_builder_set_workers(reading->builder, parallel_workers(reading->options->workers));
    struct trace *trace = trace_builder_finish(reading->builder);
    rank_parts_find(trace);
    trace->files_are = reading->options->files_are;
    trace->no_inferred_steps = reading->options->no_inferred_steps;
    mem_return_free_memory(); /* 3.6 MB of buffers and tables of reading 1 GB of JSON */
    return trace;
}

/* Pass on what was read so far as a trace; the next file begins another. */
static bool formats_hand_over(struct reading *reading, struct tpa_error *err)
{
    const struct ingest_options *options = reading->options;
    if (options->step_range)
        trace_builder_add_property(reading->builder, TRACE_STEP_RANGE, options->step_range);
    struct trace *trace = finish_trace(reading);
    reading->builder = trace_builder_open(&options->wants);
    bool fine = options->visit(options->visit_context, trace, err);
    trace_free(trace);
    return fine;
}

/* Read a file; false in *KNOWN when its format is unknown, which is an error only if MUST_BE. */
static bool read_file(const char *path, struct reading *reading, bool must_be, bool *known,
                      struct tpa_error *err)
{
    const struct ingest_options *options = reading->options;
    struct source_limits limits = { .max_ratio =
                                        options->max_ratio ? options->max_ratio : SOURCE_DEFAULT_MAX_RATIO };
    if (options->max_ratio == UINT64_MAX)
        limits.max_ratio = 0;
    struct source *source = source_open(path, &limits, err);
    *known = false;
    if (!source)
        return (!must_be && leave_out(&reading->left_out, path, err)) || tpa_in_file(err, path);
    const char *bytes;
    size_t len = source_peek(source, &bytes, err);
    /* A file named by the user may have any format; one found in a directory must look like a trace. */
    const struct format *format = err->failed ? NULL : find_format(bytes, len, must_be ? 1 : 50);
    bool ok = !err->failed;
    bool is_result = format && format->read_result;
    if (is_result && !must_be)
        format = NULL; /* saved beside the traces it was made of */
    *known = format != NULL;
    size_t traces = reading->traces;
    if (format && format->read && read_before(reading, source))
        tell_twice(reading, path);
    else if (format)
        ok = may_read(reading, source, err) && read_as(reading, format, source, err);
    if (!format && ok && must_be)
        ok = unread_fail(source_name(source), bytes, len, source_damage(source), err);
    else if (!format && ok && !is_result) {
        struct tpa_error what = { 0 };
        if (len > 0 && (bytes[0] == '{' || bytes[0] == '['))
            tpa_fail(&what, TPA_NOWHERE, "JSON without trace events");
        else
            unread_fail(source_name(source), bytes, len, source_damage(source), &what);
        if (!leave_out(&reading->left_out, path, &what))
            remember_no_trace(reading, path, &what);
    }
    if (!ok && !must_be && err->unread != TPA_READABLE && leave_unread(reading, traces, path, err)) {
        *known = false;
        ok = true;
    }
    if (!ok)
        tpa_in_file(err, source_name(source));
    source_free(source);
    return ok && (!options->visit || reading->traces == traces || formats_hand_over(reading, err));
}

/* JAX and TensorFlow also write the content of an *.xplane.pb as JSON beside it, cut at 1,000,000 events. Is PATH such
 * a file, with an *.xplane.pb in its directory among FOUND, of which USED, by index, are used? */
static bool is_repeated(const char *path, const struct paths *found, const bool *used)
{
    if (!text_ends_with(path, "trace.json.gz"))
        return false;
    size_t folder = (size_t)(strrchr(path, '/') - path) + 1;
    return ANY(i, found->count,
               used[i] && strncmp(found->at[i], path, folder) == 0 && !strchr(found->at[i] + folder, '/') &&
                   text_ends_with(found->at[i], ".xplane.pb"));
}

/* Does the file at PATH, whose name says nothing, begin like a trace? If not, WHAT says what it is, as far as that is known. */
static bool begins_like_trace(const char *path, struct tpa_error *what)
{
    struct tpa_error ignored = { 0 };
    struct source *source =
        source_open(path, &(struct source_limits){ .max_ratio = SOURCE_DEFAULT_MAX_RATIO }, &ignored);
    const char *bytes = NULL;
    size_t len = source ? source_peek(source, &bytes, &ignored) : 0;
    const struct format *format = ignored.failed ? NULL : find_format(bytes, len, BY_CONTENT_ALONE);
    bool is_trace = format && format->read;
    if (bytes && !format)
        unread_fail(source_name(source), bytes, len, source_damage(source), what);
    source_free(source);
    return is_trace;
}

/* Read the file at PATH, found in a directory. Without ENDINGS it must begin like a trace. *USED: it was read. */
static bool read_found(const char *path, struct reading *reading, const char *const *endings, bool *used,
                       size_t *read, struct tpa_error *err)
{
    struct tpa_error what = { 0 };
    if (!endings && !begins_like_trace(path, &what)) {
        if (!*reading->other.hint && *what.hint && strcmp(what.hint, UNREAD_ANY_HINT) != 0) {
            reading->other = what;
            tpa_in_file(&reading->other, path);
        }
        return true;
    }
    bool ok = read_file(path, reading, false, used, err);
    *read += *used;
    return ok;
}

/* Take out of FOUND what is read with another file of its folder. How many of these repeat what another has. */
static uint64_t leave_out_parts(struct paths *found)
{
    size_t kept = 0;
    uint64_t twins = 0;
    for (size_t i = 0; i < found->count; i++) {
        enum ascend_file part = ascend_folder_file(found->at[i]);
        twins += part == ASCEND_FILE_TWIN;
        if (part == ASCEND_FILE_NONE && !rocprof_csv_is_further(found->at[i]))
            found->at[kept++] = found->at[i];
        else
            free(found->at[i]);
    }
    found->count = kept;
    return twins;
}

/* Read the files in the directory PATH that end in one of ENDINGS; NULL: all that begin like a trace. *READ counts those that
 * were used. */
static bool read_files_in(const char *path, const char *const *endings, struct reading *reading,
                          size_t *looked_at, size_t *read, struct tpa_error *err)
{
    struct paths found = { 0 };
    bool ok = list_directory(path, 0, endings, &found, &reading->left_out, err);
    uint64_t twins = leave_out_parts(&found);
    SCOPED bool *all = mem_alloc(found.count + 1), *used = mem_zalloc(found.count + 1, sizeof *used);
    memset(all, true, found.count + 1);
    *looked_at += found.count;
    for (size_t i = 0; i < found.count && ok; i++)
        if (!is_repeated(found.at[i], &found, all))
            ok = read_found(found.at[i], reading, endings, &used[i], read, err);
    for (size_t i = 0; i < found.count && ok; i++) {
        if (!is_repeated(found.at[i], &found, all))
            continue;
        if (is_repeated(found.at[i], &found, used)) {
            trace_builder_tell(
                reading->builder, "repeated_file",
                "files of JSON lie beside an *.xplane.pb, which holds the same and more, and were not read",
                1);
            continue;
        }
        ok = read_found(found.at[i], reading, endings, &used[i], read, err);
        if (used[i])
            trace_builder_tell(
                reading->builder, "instead_of_xplane",
                "files of JSON were read instead of the *.xplane.pb beside them, of which nothing can be read; they hold less",
                1);
    }
    if (ok && twins)
        trace_builder_tell(reading->builder, "repeated_file",
                           "files of JSON lie beside a database of the same recording, and were not read",
                           twins);
    free_paths(&found);
    return ok;
}

/* Fail because no file in the directory PATH was read; LOOKED_AT were looked into; FIRST is the index of the first in
 * left_out. */
static bool nothing_in(const char *path, const struct reading *reading, size_t looked_at, size_t first,
                       struct tpa_error *err)
{
    const struct left_out *left_out = &reading->left_out;
    size_t count = left_out->reasons.count - first;
    if (count == 0) {
        if (looked_at == 0)
            tpa_fail(err, TPA_NOWHERE, "no trace in this directory: it holds no files");
        else
            tpa_fail(err, TPA_NOWHERE, "no trace in this directory (%zu file%s looked into)", looked_at,
                     looked_at == 1 ? "" : "s");
        if (*reading->other.hint)
            tpa_hint(err, "%s: %s; %s", reading->other.file, reading->other.message, reading->other.hint);
        else
            tpa_hint(err,
                     looked_at > 0
                         ? "files of every name were looked into; tpa info FILE tells what one of them is"
                         : "profilers write into the directory that their handler names: is it another one?");
    } else {
        tpa_fail(err, TPA_NOWHERE, "no trace in this directory can be read: %s: %s",
                 names_text(left_out->paths, (name_id)first), left_out->reasons.at[first]);
        if (count > 1)
            tpa_hint(err, "the same goes for others in it: %zu in all", count);
    }
    return tpa_in_file(err, path);
}

static bool read_directory(const char *path, struct reading *reading, struct tpa_error *err)
{
    size_t looked_at = 0, read = 0, left_out = reading->left_out.reasons.count;
    reading->in_directory = true;
    reading->other = (struct tpa_error){ 0 };
    bool ok = read_files_in(path, trace_endings, reading, &looked_at, &read, err);
    if (ok && read == 0)
        ok = read_files_in(path, table_endings, reading, &looked_at, &read, err);
    if (ok && read == 0)
        ok = read_files_in(path, profile_endings, reading, &looked_at, &read, err);
    if (ok && read == 0)
        ok = read_files_in(path, snapshot_endings, reading, &looked_at, &read, err);
    if (ok && read == 0 && reading->left_out.reasons.count == left_out)
        ok = read_files_in(path, NULL, reading, &looked_at, &read, err);
    if (ok && read == 0)
        ok = nothing_in(path, reading, looked_at, left_out, err);
    reading->in_directory = false;
    return ok;
}

static void describe_of_sums(struct sums_origin *origin, struct arena *arena, const struct buffer *text,
                             size_t count)
{
    sums_origin_lacks(origin, LACK_LEFT_OUT, arena_strndup(arena, text->at, text->count), NULL, count,
                      TPA_NOWHERE);
}

/* Report files that were left out in a notice of what was read. */
static void describe_left_out(struct reading *reading, const struct ingested *sums)
{
    const struct left_out *left_out = &reading->left_out;
    size_t count = left_out->reasons.count;
    if (count == 0)
        return;
    SCOPED struct buffer text = { 0 };
    if (count > 1)
        buffer_printf(&text, "%zu files or directories were left out, the first one: ", count);
    else
        buffer_puts(&text, "left out: ");
    buffer_printf(&text, "%s: %s", names_text(left_out->paths, 0), left_out->reasons.at[0]);
    struct profile *profile = sums->profile;
    struct action_report *actions = sums->actions;
    if (sums->snapshots.of.count) {
        struct snapshot *first = sums->snapshots.of.at[0];
        snapshot_lacks(first, LACK_LEFT_OUT, arena_strndup(&first->arena, text.at, text.count), count,
                       TPA_NOWHERE);
    } else if (profile)
        describe_of_sums(&profile->origin, &profile->arena, &text, count);
    else if (actions)
        describe_of_sums(&actions->origin, &actions->arena, &text, count);
    else
        trace_builder_lacks_files(reading->builder, LACK_LEFT_OUT, text.at, count);
}

/* Report which files among the traces are not traces: an empty one may be the remains of a rank. */
static void describe_no_traces(struct reading *reading)
{
    size_t count = names_count(reading->no_traces);
    if (count == 0)
        return;
    SCOPED struct buffer text = { 0 };
    if (count > 1)
        buffer_printf(&text,
                      "%zu files among the traces are not traces and were left out, the first one: ", count);
    else
        buffer_puts(&text, "a file among the traces is not a trace and was left out: ");
    buffer_printf(&text, "%s: %s", names_text(reading->no_traces, 0), reading->no_trace_is);
    trace_builder_tell(reading->builder, "no_trace", text.at, count);
}

/* Add up the profiles in the order in which pstats.Stats(first, second, ... last) does: first, last, ... second. */
static struct profile *join_profiles(struct reading *reading)
{
    if (reading->profiles.count == 0)
        return NULL;
    struct profile *sum = reading->profiles.at[0];
    for (size_t i = reading->profiles.count; i-- > 1;)
        profile_add(sum, reading->profiles.at[i]);
    reading->profiles.count = 0;
    return sum;
}

static void free_snapshots(struct snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->of.count; i++)
        snapshot_free(snapshots->of.at[i]);
    VEC_FREE(&snapshots->of);
}

bool ingest_read_any(const char *const *paths, size_t count, const struct ingest_options *options,
                     struct ingested *ingested, struct tpa_error *err)
{
    struct tpa_error ignored = { 0 };
    if (!err)
        err = &ignored;
    *ingested = (struct ingested){ 0 };
    struct reading reading = {
        .options = options,
        .builder = trace_builder_open(&options->wants),
        .files = names_open(),
        .left_out.paths = names_open(),
        .no_traces = names_open(),
    };
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        struct stat about;
        bool known = false;
        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode))
            ok = read_directory(paths[i], &reading, err);
        else
            ok = read_file(paths[i], &reading, true, &known, err);
    }
    if (ok) {
        ingested->profile = join_profiles(&reading);
        ingested->actions = reading.actions;
        ingested->result = reading.result;
        ingested->snapshots = reading.snapshots;
        reading.snapshots = (struct snapshots){ 0 };
        reading.actions = NULL;
        reading.result = NULL;
        describe_left_out(&reading, ingested);
        if (reading.traces)
            describe_no_traces(&reading);
        if (options->step_range)
            trace_builder_add_property(reading.builder, TRACE_STEP_RANGE, options->step_range);
    }
    if (ok && !ingested->profile && !ingested->actions && !ingested->result && !ingested->snapshots.of.count)
        ingested->trace = finish_trace(&reading);
    else
        trace_builder_free(reading.builder);
    for (size_t i = 0; i < reading.profiles.count; i++)
        profile_free(reading.profiles.at[i]);
    VEC_FREE(&reading.profiles);
    EACH(names_free, reading.files, reading.left_out.paths, reading.no_traces);
    arena_release(&reading.words);
    for (size_t i = 0; i < reading.left_out.reasons.count; i++)
        free(reading.left_out.reasons.at[i]);
    VEC_FREE(&reading.left_out.reasons);
    action_report_free(reading.actions);
    result_free(reading.result);
    free_snapshots(&reading.snapshots);
    return ok;
}

unsigned ingested_lacks(const struct ingested *ingested)
{
    unsigned lacks = 0;
    if (ingested->trace)
        lacks |= trace_lacks(ingested->trace);
    if (ingested->profile)
        lacks |= ingested->profile->origin.lacks |
                 (ingested->profile->odd_entries ? lack_sort(LACK_ODD_ENTRIES) : 0);
    if (ingested->actions)
        lacks |=
            ingested->actions->origin.lacks | (ingested->actions->odd_lines ? lack_sort(LACK_ODD_LINES) : 0);
    for (size_t i = 0; i < ingested->snapshots.of.count; i++)
        lacks |= ingested->snapshots.of.at[i]->lacks;
    if (ingested->result)
        lacks |= result_lacks(ingested->result);
    return lacks;
}

void ingested_free(struct ingested *ingested)
{
    trace_free(ingested->trace);
    profile_free(ingested->profile);
    action_report_free(ingested->actions);
    free_snapshots(&ingested->snapshots);
    result_free(ingested->result);
    *ingested = (struct ingested){ 0 };
}

struct trace *ingested_trace(struct ingested *ingested, const char *path, struct tpa_error *err)
{
    struct trace *trace = ingested->trace;
    if (trace) {
        ingested->trace = NULL;
        return trace;
    }
    if (ingested->snapshots.of.count) {
        tpa_fail(err, TPA_NOWHERE, "this is a snapshot of the memory allocator, but a trace is needed here");
        tpa_hint(err, "tpa summary, memory, diff, chart, report, convert and info read memory snapshots");
    } else {
        tpa_fail(err, TPA_NOWHERE, "this holds sums per %s and no events, which are needed here",
                 !ingested->profile                                  ? "action"
                 : ingested->profile->figures == PROFILE_DEVICE_TIME ? "kernel and scope"
                                                                     : "Python function");
        tpa_hint(
            err,
            ingested->profile && ingested->profile->figures == PROFILE_DEVICE_TIME
                ? "tpa top has FLOPs, bytes and what kernels reach per second: Proton names no device whose peak that is held to; "
                  "tpa summary, diff, report, chart, convert, info and nightly read the file, too"
            : ingested->profile
                ? "tpa summary, top (also with --callers), diff, report, chart, convert, info and nightly read Python profiles"
                : "tpa top shows the report");
    }
    tpa_in_file(err, path);
    ingested_free(ingested);
    return NULL;
}

struct trace *ingest_read(const char *const *paths, size_t count, const struct ingest_options *options,
                          struct tpa_error *err)
{
    struct ingested ingested;
    if (!ingest_read_any(paths, count, options, &ingested, err))
        return NULL;
    return ingested_trace(&ingested, paths[0], err);
}
