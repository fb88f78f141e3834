/*
 * flight_files.c - the dumps among files and folders: see flight.h.
 *
 * A folder may hold logs, scripts and traces beside the dumps. A file is a dump by its first bytes. One that is not, or
 * cannot be read, still counts as the dump of a rank if its name has a rank and begins like those of dumps beside it: an
 * empty file is a dump that was begun and never finished, and its rank must not pass for one that was not there.
 */
#include "ingest/flight.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

enum { DEEPEST = 16 };

struct flight_search {
    struct flight *flight;
    struct flight_reader *reader;
    struct source_limits limits;
    VEC_OF(struct flight_unreadable) doubtful; /* no dumps by their first bytes; their names may tell */
};

/* ---- names ---- */

/* Set folder, prefix and rank by PATH: "dumps/rank_3.json" has folder "dumps", prefix "rank_" and rank 3. */
static void split_name(struct arena *arena, const char *path, const char **folder, const char **prefix,
                       uint32_t *rank)
{
    static const char *const endings[] = { ".gz", ".zst", ".json", ".pkl", ".pickle", ".bin" };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) { /* packing first, then one other */
        size_t end = strlen(endings[i]);
        if (len > end && memcmp(name + len - end, endings[i], end) == 0) {
            len -= end;
            if (i > 1)
                break;
        }
    }
    size_t digits = len;
    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    uint64_t number = 0;
    for (size_t i = digits; i < len && number < FLIGHT_MOST_RANKS; i++)
        number = number * 10 + (uint64_t)(name[i] - '0');
    *folder = slash ? arena_strndup(arena, path, (size_t)(slash - path)) : "";
    *prefix = arena_strndup(arena, name, digits);
    *rank = digits < len && number < FLIGHT_MOST_RANKS ? (uint32_t)number : FLIGHT_NO_RANK;
}

static struct flight_unreadable unreadable_of(struct flight *flight, const char *path, const char *reason)
{
    struct flight_unreadable file = { .path = arena_strndup(&flight->arena, path, strlen(path)) };
    split_name(&flight->arena, file.path, &file.folder, &file.prefix, &file.rank);
    file.reason = arena_strndup(&flight->arena, reason, strlen(reason));
    return file;
}

/* ---- files ---- */

static void add_dump(struct flight_search *search, const char *path, uint32_t key_rank)
{
    struct flight *flight = search->flight;
    struct flight_dump *dump = &flight->dumps.at[flight->dumps.count - 1];
    dump->path = arena_strndup(&flight->arena, path, strlen(path));
    split_name(&flight->arena, dump->path, &dump->folder, &dump->prefix, &dump->rank);
    if (key_rank != FLIGHT_NO_RANK)
        dump->rank = key_rank;
    if (dump->rank == FLIGHT_NO_RANK) {
        flight->dumps.count--; /* its entries stay, unused */
        *VEC_PUSH(&flight->unreadable) = unreadable_of(
            flight, path, "neither its name ends in the number of a rank, nor does the dump hold one");
    }
}

/* Look at the file PATH; NAMED: the user named it. */
static void read_flight_file(struct flight_search *search, const char *path, bool named)
{
    struct flight *flight = search->flight;
    struct tpa_error failed = { 0 };
    const char *bytes = "";
    struct source *source = source_open(path, &search->limits, &failed);
    size_t len = source ? source_peek(source, &bytes, &failed) : 0;
    uint32_t rank;
    if (failed.failed) {
        *VEC_PUSH(&search->doubtful) = unreadable_of(flight, path, failed.message);
    } else if (flight_sniff(bytes, len) || (named && len > 0)) {
        if (flight_reader_add(search->reader, source, &rank, &failed))
            add_dump(search, path, rank);
        else
            *VEC_PUSH(&flight->unreadable) = unreadable_of(flight, path, failed.message);
    } else {
        *VEC_PUSH(&search->doubtful) =
            unreadable_of(flight, path,
                          len == 0 ? "it is empty: the dump was begun and never finished"
                                   : "it does not begin as a dump does");
    }
    source_free(source);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_folder(struct flight_search *search, const char *path, int depth)
{
    struct dirent **entries;
    int count = depth < DEEPEST ? scandir(path, &entries, is_shown, alphasort) : -1;
    if (count < 0) {
        *VEC_PUSH(&search->flight->unreadable) = unreadable_of(
            search->flight, path, depth < DEEPEST ? strerror(errno) : "folders are nested too deep");
        return;
    }
    for (int i = 0; i < count; i++) {
        char *child = NULL;
        struct stat about;
        if (asprintf(&child, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", entries[i]->d_name) <
            0)
            mem_out_of_memory(strlen(path));
        bool known = lstat(child, &about) == 0;
        if (known && S_ISDIR(about.st_mode))
            read_folder(search, child, depth + 1);
        else if (known && stat(child, &about) == 0 &&
                 S_ISREG(about.st_mode)) /* links to folders could be a loop */
            read_flight_file(search, child, false);
        EACH(free, child, entries[i]);
    }
    free(entries);
}

/* ---- what belongs together ---- */

static int compare_places(const char *folder, const char *other_folder, const char *prefix,
                          const char *other_prefix)
{
    int order = strcmp(folder, other_folder);
    return order ? order : strcmp(prefix, other_prefix);
}

/* By folder, prefix and rank; of one rank pickles first, then by path. */
static int compare_dumps(const void *a, const void *b)
{
    const struct flight_dump *left = a, *right = b;
    int order = compare_places(left->folder, right->folder, left->prefix, right->prefix);
    if (order == 0 && left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (order == 0 && left->is_json != right->is_json)
        return left->is_json ? 1 : -1;
    return order ? order : strcmp(left->path, right->path);
}

/* Keep one dump of each folder, prefix and rank: both forms of a dump have the same content. */
static void drop_twins(struct flight *flight)
{
    size_t kept = 0;
    for (size_t i = 0; i < flight->dumps.count; i++) {
        struct flight_dump *dump = &flight->dumps.at[i], *last = kept ? &flight->dumps.at[kept - 1] : NULL;
        bool same = last && last->rank == dump->rank &&
                    compare_places(last->folder, dump->folder, last->prefix, dump->prefix) == 0;
        if (!same)
            flight->dumps.at[kept++] = *dump;
        else if (last->is_json == dump->is_json)
            *VEC_PUSH(&flight->unreadable) =
                (struct flight_unreadable){ dump->path, dump->folder, dump->prefix, FLIGHT_NO_RANK,
                                            "another dump of the same rank is beside it" };
    }
    flight->dumps.count = kept;
}

/* Is there a dump beside FILE whose name begins like its name? */
static bool has_neighbour(const struct flight *flight, const struct flight_unreadable *file)
{
    size_t low = 0, high = flight->dumps.count;
    while (low < high) {
        size_t i = low + (high - low) / 2;
        const struct flight_dump *dump = &flight->dumps.at[i];
        if (compare_places(dump->folder, file->folder, dump->prefix, file->prefix) < 0)
            low = i + 1;
        else
            high = i;
    }
    return low < flight->dumps.count && compare_places(flight->dumps.at[low].folder, file->folder,
                                                       flight->dumps.at[low].prefix, file->prefix) == 0;
}

static void judge_doubtful(struct flight_search *search)
{
    for (size_t i = 0; i < search->doubtful.count; i++) {
        const struct flight_unreadable *file = &search->doubtful.at[i];
        if (file->rank != FLIGHT_NO_RANK && has_neighbour(search->flight, file))
            *VEC_PUSH(&search->flight->unreadable) = *file;
        else
            search->flight->passed_over++;
    }
}

static bool fail_without_dumps(const struct flight *flight, const char *path, struct tpa_error *err)
{
    if (flight->unreadable.count) {
        const struct flight_unreadable *first = &flight->unreadable.at[0];
        tpa_fail(err, TPA_NOWHERE, "no dump of the Flight Recorder can be read; of the first file: %s",
                 first->reason);
        tpa_in_file(err, first->path);
    } else {
        tpa_fail(err, TPA_NOWHERE, "there is no dump of the Flight Recorder here");
        tpa_in_file(err, path);
    }
    return tpa_hint(
        err, "dumps are written on a time-out with TORCH_FR_BUFFER_SIZE=2000 TORCH_FR_DUMP_ON_TIMEOUT=1, to "
             "the path that TORCH_FR_DUMP_TEMP_FILE begins with");
}

struct flight *flight_read(char *const *paths, size_t count, uint64_t max_ratio, struct tpa_error *err)
{
    struct flight_search search = { .flight = flight_open(), .limits = { max_ratio } };
    search.reader = flight_reader_open(search.flight);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct stat about = { 0 };
        if (strcmp(paths[i], "-") == 0 || stat(paths[i], &about) == 0) {
            if (strcmp(paths[i], "-") != 0 && S_ISDIR(about.st_mode))
                read_folder(&search, paths[i], 0);
            else
                read_flight_file(&search, paths[i], true);
        } else {
            good = tpa_fail_errno(err, "cannot open the file") || tpa_in_file(err, paths[i]);
        }
    }
    if (search.flight->dumps.count)
        qsort(search.flight->dumps.at, search.flight->dumps.count, sizeof *search.flight->dumps.at,
              compare_dumps);
    drop_twins(search.flight);
    judge_doubtful(&search);
    good = good && (search.flight->dumps.count || fail_without_dumps(search.flight, paths[0], err));
    VEC_FREE(&search.doubtful);
    flight_reader_free(search.reader);
    if (good)
        return search.flight;
    flight_free(search.flight);
    return NULL;
}

bool flight_check_complete(const struct flight *flight, struct tpa_error *err)
{
    if (!flight->unreadable.count)
        return true;
    tpa_fail(err, TPA_NOWHERE, "this dump cannot be read: %s", flight->unreadable.at[0].reason);
    tpa_hint(err, "without --strict its rank is a suspect, and the other dumps are judged");
    return tpa_in_file(err, flight->unreadable.at[0].path);
}
