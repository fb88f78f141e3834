/*
 * flight_files.c - the dumps among files and folders: see flight.h.
 *
 * A folder may hold logs, scripts and traces beside the dumps. A file is a dump by its first bytes. One that is not, or
 * cannot be read, still counts as the dump of a rank if its name has a rank and begins like those of dumps beside it: an
 * empty file is a dump that was begun and never finished, and its rank must not pass for one that was not there.
 */
#include "base/order.h"
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
    SCOPED_BY(source_free_at) struct source *source = source_open(path, &search->limits, &failed);
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

/* List DUMP as a file that is not judged, for a reason; RANK: whose dump it would have been; FLIGHT_NO_RANK. */
static struct flight_unreadable left_out(struct flight *flight, const struct flight_dump *dump, uint32_t rank,
                                         const char *before, const char *name, const char *behind)
{
    return (struct flight_unreadable){ dump->path, dump->folder, dump->prefix, rank,
                                       arena_printf(&flight->arena, "%s%s%s", before, name, behind) };
}

/* Keep one dump of each folder, prefix and rank: the pickle where both forms are there, else the newest. */
static void drop_twins(struct flight *flight)
{
    size_t kept = 0;
    for (size_t i = 0; i < flight->dumps.count; i++) {
        struct flight_dump dump = flight->dumps.at[i], *last = kept ? &flight->dumps.at[kept - 1] : NULL;
        bool same = last && last->rank == dump.rank &&
                    compare_places(last->folder, dump.folder, last->prefix, dump.prefix) == 0;
        bool copied = same && last->hash == dump.hash && last->count == dump.count;
        if (!same) {
            flight->dumps.at[kept++] = dump;
        } else if (copied) {
            flight->copies += last->is_json == dump.is_json;
        } else {
            if (last->is_json == dump.is_json && dump.latest_ns > last->latest_ns) {
                struct flight_dump newer = dump;
                dump = *last;
                *last = newer;
            }
            *VEC_PUSH(&flight->older) =
                left_out(flight, &dump, FLIGHT_NO_RANK,
                         last->is_json != dump.is_json ? "it differs from " : "it is not newer than ",
                         last->path, ", of the same rank, which is judged");
        }
    }
    flight->dumps.count = kept;
}

static int compare_content(const void *a, const void *b, void *context)
{
    const struct flight *flight = context;
    const struct flight_dump *left = &flight->dumps.at[*(const uint32_t *)a],
                             *right = &flight->dumps.at[*(const uint32_t *)b];
    if (left->hash != right->hash)
        return left->hash < right->hash ? -1 : 1;
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* Take out the dumps for which LEFT has a reason: their ranks have no dump. */
static void take_out(struct flight *flight, struct flight_unreadable *left)
{
    size_t kept = 0;
    for (size_t d = 0; d < flight->dumps.count; d++) {
        if (left[d].reason)
            *VEC_PUSH(&flight->unreadable) = left[d];
        else
            flight->dumps.at[kept++] = flight->dumps.at[d];
    }
    flight->dumps.count = kept;
}

/* Does GROUP, in which RANK issued an operation, tell its members without RANK? */
static bool excludes(const struct flight *flight, const struct flight_group *group, uint32_t rank)
{
    const struct flight_list *list = &flight->lists.at[group->list];
    bool found = ANY(i, list->count, list->ranks[i] == rank);
    return !found;
}

/*
 * Dumps that are not of the ranks that their names tell. Two processes never issue all their operations at the same nanoseconds, so of equal
 * dumps of several ranks all but one are copies, and which one is none of the files tell. A rank is a member of the groups that it uses.
 */
static void drop_strangers(struct flight *flight)
{
    size_t count = flight->dumps.count;
    SCOPED struct flight_unreadable *left = mem_zalloc(count + 1, sizeof *left);
    SCOPED uint32_t *order = order_open(count);
    qsort_r(order, count, sizeof *order, compare_content, flight);
    for (size_t i = 0, next; i < count; i = next) {
        const struct flight_dump *first = &flight->dumps.at[order[i]], *last = first;
        for (next = i + 1; next < count && flight->dumps.at[order[next]].hash == first->hash; next++)
            last = &flight->dumps.at[order[next]];
        for (size_t k = i; k < next && first->rank != last->rank && first->has_stamps; k++) {
            const struct flight_dump *dump = &flight->dumps.at[order[k]];
            left[order[k]] = left_out(flight, dump, dump->rank, "it is the same as ",
                                      dump->rank == first->rank ? last->path : first->path,
                                      ", of another rank: one is a copy of the other");
        }
    }
    for (size_t d = 0; d < count; d++) {
        const struct flight_dump *dump = &flight->dumps.at[d];
        for (size_t g = dump->first_group; g < dump->first_group + dump->group_count && !left[d].reason;
             g++) {
            const struct flight_group *group = &flight->groups.at[g];
            if ((group->has_id || dump->count == 0) && group->list != FLIGHT_NO_LIST &&
                excludes(flight, group, dump->rank))
                left[d] = left_out(
                    flight, dump, dump->rank, "it has operations of group '",
                    flight_text(flight, group->name),
                    "', of which the rank in its name is no member: the number at the end of its name "
                    "must be its rank in the whole job");
        }
    }
    take_out(flight, left);
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
    FOR_EACH(file, &search->doubtful) {
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
    drop_strangers(search.flight);
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
    FOR_EACH(dump, &flight->dumps) {
        if (dump->is_known_version && !dump->unknown_states)
            continue;
        tpa_fail(err, TPA_NOWHERE, "this dump is not understood: its %s '%s' is not known",
                 dump->is_known_version ? "state" : "version",
                 flight_text(flight, dump->is_known_version ? dump->unknown_state : dump->version));
        tpa_hint(err, "without --strict it is read as version 2.10, and a doubt tells what is not known");
        return tpa_in_file(err, dump->path);
    }
    if (!flight->unreadable.count)
        return true;
    tpa_fail(err, TPA_NOWHERE, "this dump cannot be used: %s", flight->unreadable.at[0].reason);
    tpa_hint(err, "without --strict its rank is a suspect, and the other dumps are judged");
    return tpa_in_file(err, flight->unreadable.at[0].path);
}
