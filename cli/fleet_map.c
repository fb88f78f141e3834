/* fleet_map.c - see fleet_map.h. A process reads one trace after another, reusing memory, and sends the facts of each,
 * or the error, through a pipe. */
#include "cli/fleet_map.h"

#include "base/progress.h"
#include "base/rows.h"
#include "cli/output_file.h"
#include "figures/facts_file.h"
#include "fleet/fleet.h"
#include "fleet/rounds.h"
#include "ingest/csv.h"
#include "job/operations.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- which files ---- */

struct path {
    char *name;
    bool found; /* in a directory, rather than named */
};

struct paths {
    VEC_OF(struct path) at;
};

enum { DEEPEST_DIRECTORY = 32 };

static const struct key by_name[] = { ASC(struct path, name), KEY_END };

static const struct key by_path[] = { ASC(struct fleet_failure, path), KEY_END };

static void add_failure(struct fleet_map *map, const char *path, const char *reason)
{
    *VEC_PUSH(&map->failures) = (struct fleet_failure){ mem_strdup(path), mem_strdup(reason) };
}

static bool is_wanted(const char *name)
{
    return name[0] != '.' && (ingest_may_be_trace(name) || text_ends_with(name, ".facts"));
}

/* Of the tables of a directory without traces, those that stand for a recording are files to read. Frees TABLES. */
static void add_tables(struct paths *tables, bool alone, struct paths *found)
{
    for (size_t i = 0; i < tables->at.count; i++)
        if (alone && rocprof_csv_is_first(tables->at.at[i].name))
            *VEC_PUSH(&found->at) = tables->at.at[i];
        else
            free(tables->at.at[i].name);
    VEC_FREE(&tables->at);
}

/* Links are followed to files but not to directories, so that a loop of links ends. */
static void list_directory(struct fleet_map *map, const char *path, int depth, struct paths *found)
{
    struct paths tables = { 0 };
    bool has_traces = false;
    DIR *directory = opendir(path);
    if (!directory) {
        add_failure(map, path, strerror(errno));
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        char *full = NULL;
        struct stat own, about;
        if (asprintf(&full, "%s%s%s", path, text_ends_with(path, "/") ? "" : "/", entry->d_name) < 0)
            mem_out_of_memory(strlen(path));
        bool there = lstat(full, &own) == 0;
        if (there && S_ISDIR(own.st_mode) && depth < DEEPEST_DIRECTORY)
            list_directory(map, full, depth + 1, found);
        else if (there && is_wanted(entry->d_name) && (stat(full, &about) != 0 || S_ISREG(about.st_mode))) {
            *VEC_PUSH(&found->at) = (struct path){ mem_strdup(full), true };
            has_traces = true;
        } else if (there && text_ends_with(entry->d_name, ".csv")) {
            *VEC_PUSH(&tables.at) = (struct path){ mem_strdup(full), true };
        }
        free(full);
    }
    closedir(directory);
    add_tables(&tables, !has_traces, found);
}

static bool list_files(struct fleet_map *map, char *const *operands, size_t count, struct paths *found,
                       struct tpa_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct stat about;
        if (stat(operands[i], &about) == 0 && S_ISDIR(about.st_mode))
            list_directory(map, operands[i], 0, found);
        else
            *VEC_PUSH(&found->at) = (struct path){ mem_strdup(operands[i]), false };
    }
    SORT(&found->at, by_name);
    if (found->at.count + map->failures.count == 0) {
        tpa_fail(err, TPA_NOWHERE, "no traces and no facts are in this directory");
        tpa_hint(
            err,
            "files that end in .json, .json.gz, .tpa, .facts and the like are looked for, and tables of rocprofv3 (.csv); dumps of PyTorch's Flight Recorder are for tpa hang");
        return tpa_in_file(err, operands[0]);
    }
    return true;
}

/* ---- one file ---- */

static bool fleet_map_may_read(const struct source_id *file, struct tpa_error *err)
{
    return output_file_spares(file->device, file->inode, err);
}

static bool gather_trace(const struct fleet_map *map, const char *path, unsigned workers, struct facts *facts,
                         struct tpa_error *err)
{
    struct ingest_options options = {
        .wants = { .args = gather_wants.args | OPERATIONS_WANTS },
        .workers = workers,
        .max_ratio = map->load.max_ratio == 0 ? UINT64_MAX : map->load.max_ratio,
        .step_range = map->load.step_range,
        .may_read = fleet_map_may_read,
    };
    SCOPED_BY(trace_free_at) struct trace *trace = ingest_read(&path, 1, &options, err);
    if (!trace)
        return false;
    bool empty = trace->event_count == 0;
    if (!empty)
        facts_gather(facts, trace,
                     &(struct gather_options){
                         .job = map->job, .operations = &job_gather, .only_operations = map->for_job });
    if (map->for_job)
        operations_trim(facts);
    return !empty || tpa_fail(err, TPA_NOWHERE, "the trace holds no events");
}

enum { NO_FACTS = -1, WHOLE_FACTS = FLEET_FILES };

/* The kind of PATH, by its first table: NO_FACTS, WHOLE_FACTS or an enum fleet_file. False and ERR if it cannot be
 * read; a pipe, which can be read only once, is never facts. */
static bool find_kind(const struct fleet_map *map, const char *path, int *kind, struct tpa_error *err)
{
    struct source_limits limits = { .max_ratio = map->load.max_ratio };
    struct stat about;
    *kind = NO_FACTS;
    if (strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode)))
        return true;
    SCOPED_BY(source_free_at) struct source *source = source_open(path, &limits, err);
    const char *bytes = NULL;
    size_t len = source ? source_peek(source, &bytes, err) : 0;
    if (len && facts_look_like(bytes, len))
        *kind = rounds_kind(source);
    return !err->failed;
}

/* Is PATH a file of facts? If so, reads them into FACTS, or records it if it holds only collectives. Also false, with
 * ERR, on failure. */
static bool read_facts(struct fleet_map *map, const char *path, struct tpa_error *err)
{
    struct source_limits limits = { .max_ratio = map->load.max_ratio };
    int kind;
    if (!find_kind(map, path, &kind, err) || kind == NO_FACTS)
        return false;
    if (kind != WHOLE_FACTS) {
        *VEC_PUSH(&map->apart_files.of[kind]) = mem_strdup(path);
        return true;
    }
    struct source *source = source_open(path, &limits, err);
    SCOPED_OBJECT struct facts *facts = facts_open();
    bool good = source && facts_read(facts, source, err);
    source_free(source);
    if (good && map->for_job)
        operations_trim(facts);
    if (good)
        facts_collect(map->facts, facts);
    map->facts_read += good;
    return good;
}

bool fleet_map_wanted(char *const *operands, size_t count)
{
    enum { MANY = 64 };
    SCOPED_BY(fleet_map_release) struct fleet_map map = { 0 };
    struct paths files = { 0 };
    struct tpa_error err = { 0 };
    bool listed = list_files(&map, operands, count, &files, &err), facts = false;
    for (size_t i = 0; i < files.at.count; i++) {
        int kind = NO_FACTS;
        facts = facts || (listed && find_kind(&map, files.at.at[i].name, &kind, &err) && kind != NO_FACTS);
        err = (struct tpa_error){ 0 };
        free(files.at.at[i].name);
    }
    bool many = files.at.count > MANY;
    VEC_FREE(&files.at);
    return facts || many;
}

/* ---- collectives in files apart ---- */

static bool merge_slice(struct fleet_map *map, const char *path, struct tpa_error *err)
{
    SCOPED_BY(source_free_at)
    struct source *source =
        source_open(path, &(struct source_limits){ .max_ratio = map->load.max_ratio }, err);
    bool good = source && slice_merge(map->facts, source, err);
    return good || tpa_in_file(err, path);
}

/* Reject rows of a missing recording, and duplicate rows. */
static bool check_collectives(const struct fleet_map *map, struct tpa_error *err)
{
    struct fleet_job all;
    int64_t counted = 0;
    facts_finish(map->facts);
    SCOPED_ARENA struct arena scratch = { 0 };
    fleet_job_of_all(&all, map->facts, &scratch);
    for (size_t m = 0; m < all.members.count; m++) {
        int64_t here = (int64_t)all.members.at[m].count[FACTS_COLLECTIVES];
        int64_t wanted = slice_collectives_of(&all, &all.members.at[m]);
        counted += here <= wanted ? here : 0;
    }
    return counted == (int64_t)map->facts->tables[FACTS_COLLECTIVES].count ||
           tpa_fail(
               err, TPA_NOWHERE,
               "the separate files hold collectives of recordings whose facts are not given, or one is given twice");
}

static const char *any_apart(const struct fleet_map *map)
{
    for (int kind = 0; kind < FLEET_FILES; kind++)
        if (map->apart_files.of[kind].count)
            return map->apart_files.of[kind].at[0];
    return NULL;
}

/* Add collectives in separate files to the facts, unless they stay separate. */
static bool settle_apart(struct fleet_map *map, struct tpa_error *err)
{
    const char *apart = any_apart(map);
    if (apart && map->facts->tables[FACTS_RECORDINGS].count == 0) {
        tpa_fail(err, TPA_NOWHERE, "this file holds collectives alone");
        tpa_hint(err, "give the facts that they are of, too: what tpa facts --apart wrote with -o");
        return tpa_in_file(err, apart);
    }
    if (!apart || map->apart)
        return true;
    for (int kind = FILE_SLICE + 1; kind < FLEET_FILES; kind++)
        if (map->apart_files.of[kind].count) {
            tpa_fail(err, TPA_NOWHERE, "this file is for tpa fleet, and for tpa facts --round");
            return tpa_in_file(err, map->apart_files.of[kind].at[0]);
        }
    bool good = ALL(i, map->apart_files.of[FILE_SLICE].count,
                    merge_slice(map, map->apart_files.of[FILE_SLICE].at[i], err));
    return good && check_collectives(map, err);
}

const struct fleet_files *fleet_map_apart(struct fleet_map *map)
{
    map->apart_files.facts = map->facts;
    return any_apart(map) ? &map->apart_files : NULL;
}

/* ---- processes ---- */

/* A message about a trace, followed by its bytes. */
enum news { NEWS_BEGUN, NEWS_FACTS, NEWS_ERROR };

struct message {
    enum news news;
    size_t trace; /* among those to be read */
    size_t size;  /* of the following bytes: facts, or a struct tpa_error */
};

enum { PIECE_BYTES = 1 << 16 };
#define NO_TRACE SIZE_MAX

struct worker {
    pid_t pid;     /* 0: none */
    int pipe;      /* its end to read from */
    size_t at;     /* its current trace; NO_TRACE */
    bool reported; /* it has sent a message */
    struct buffer received;
};

struct mapping {
    struct fleet_map *map;
    VEC_OF(const struct path *) traces;
    bool *done;           /* by trace: its facts were received, or its failure was reported */
    _Atomic size_t *next; /* shared by all processes: the first trace that none has taken */
    VEC_OF(struct worker) workers;
    size_t done_count;
    struct progress progress;
};

/* If the result cannot be sent, the parent is gone. */
static void send(int out, const void *bytes, size_t len)
{
    for (const char *at = bytes; len;) {
        ssize_t sent = write(out, at, len);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            _exit(EXIT_FAILURE);
        at += sent;
        len -= (size_t)sent;
    }
}

static void map_trace(const struct mapping *mapping, size_t trace, int out)
{
    SCOPED_OBJECT struct facts *facts = facts_open();
    SCOPED struct buffer bytes = { 0 };
    struct tpa_error err = { 0 };
    const char *path = mapping->traces.at[trace]->name;
    struct message message = { .news = NEWS_BEGUN, .trace = trace };
    send(out, &message, sizeof message);
    if (gather_trace(mapping->map, path, 1, facts, &err)) {
        facts_finish(facts);
        facts_write(facts, &bytes);
        message.news = NEWS_FACTS;
    } else {
        tpa_in_file(&err, path);
        buffer_add(&bytes, (const char *)&err, sizeof err);
        message.news = NEWS_ERROR;
    }
    message.size = bytes.count;
    send(out, &message, sizeof message);
    send(out, bytes.at, bytes.count);
}

static void run_worker(const struct mapping *mapping, int out)
{
    mem_keep_blocks();
    for (size_t trace; (trace = atomic_fetch_add(mapping->next, 1)) < mapping->traces.count;)
        map_trace(mapping, trace, out);
    _exit(EXIT_SUCCESS);
}

static bool start(const struct mapping *mapping, struct worker *worker, struct tpa_error *err)
{
    int ends[2];
    if (pipe(ends) != 0)
        return tpa_fail_errno(err, "cannot make a pipe");
    *worker = (struct worker){ .pipe = ends[0], .at = NO_TRACE, .pid = fork() };
    if (worker->pid == 0) {
        close(ends[0]);
        run_worker(mapping, ends[1]);
    }
    int number = errno;
    close(ends[1]);
    if (worker->pid > 0)
        return true;
    close(ends[0]);
    worker->pid = 0;
    errno = number;
    return tpa_fail_errno(err, "cannot start a process");
}

/* Add the facts in the LEN bytes at BYTES. */
static bool read_bytes(struct facts *facts, const char *bytes, size_t len, struct tpa_error *err)
{
    SCOPED_BY(source_free_at) struct source *source = source_open_memory(bytes, len, "facts", err);
    return source && facts_read(facts, source, err);
}

static void fleet_map_print_error(struct fleet_map *map, const char *path, const struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    buffer_puts(&text, err->message);
    if (err->offset != TPA_NOWHERE)
        buffer_printf(&text, " (at byte %" PRId64 ")", err->offset);
    add_failure(map, path, text.at);
}

static void finish(struct mapping *mapping, size_t trace, const struct tpa_error *err)
{
    const struct path *path = mapping->traces.at[trace];
    if (err->failed && path->found && err->unread == TPA_PASSED_OVER)
        mapping->map->files--; /* a list of settings, say, which was never meant for us */
    else if (err->failed)
        fleet_map_print_error(mapping->map, path->name, err);
    mapping->done[trace] = true;
    mapping->done_count++;
    if (mapping->progress.out)
        progress_print(&mapping->progress, "traces", (int64_t)mapping->done_count,
                       (int64_t)mapping->traces.count);
}

static void fleet_map_collect(struct mapping *mapping, struct worker *worker, const struct message *message,
                              const char *bytes)
{
    struct tpa_error err = { .offset = TPA_NOWHERE };
    worker->reported = true;
    if (message->news == NEWS_BEGUN) {
        worker->at = message->trace;
        return;
    }
    if (message->news == NEWS_FACTS)
        read_bytes(mapping->map->facts, bytes, message->size, &err);
    else
        memcpy(&err, bytes, sizeof err);
    finish(mapping, message->trace, &err);
    worker->at = NO_TRACE;
}

/* Process the complete messages. */
static void collect_whole(struct mapping *mapping, struct worker *worker)
{
    struct buffer *received = &worker->received;
    size_t at = 0;
    struct message message;
    while (received->count - at >= sizeof message) {
        memcpy(&message, received->at + at, sizeof message);
        if (received->count - at - sizeof message < message.size)
            break;
        fleet_map_collect(mapping, worker, &message, received->at + at + sizeof message);
        at += sizeof message + message.size;
    }
    memmove(received->at, received->at + at, received->count - at);
    received->count -= at;
}

/* A process has ended. If a trace crashed it, that is reported, and another one continues with the rest. */
static void replace(struct mapping *mapping, struct worker *worker, struct tpa_error *err)
{
    int status;
    pid_t pid;
    do
        pid = waitpid(worker->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    close(worker->pipe);
    buffer_release(&worker->received);
    worker->pid = 0;
    struct tpa_error why = { .offset = TPA_NOWHERE };
    if (WIFSIGNALED(status))
        tpa_fail(&why, TPA_NOWHERE, "the process that read it was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != EXIT_SUCCESS)
        tpa_fail(&why, TPA_NOWHERE, "the process that read it ended with status %d", WEXITSTATUS(status));
    if (!why.failed)
        return;
    if (worker->at != NO_TRACE)
        finish(mapping, worker->at, &why);
    if (worker->reported && *mapping->next < mapping->traces.count)
        start(mapping, worker, err);
}

/* Wait for a message, and process it. */
static void listen(struct mapping *mapping, struct pollfd *polled, struct tpa_error *err)
{
    static char piece[PIECE_BYTES];
    size_t count = mapping->workers.count;
    for (size_t w = 0; w < count; w++)
        polled[w] = (struct pollfd){ .fd = mapping->workers.at[w].pid ? mapping->workers.at[w].pipe : -1,
                                     .events = POLLIN };
    if (poll(polled, count, -1) <= 0)
        return;
    for (size_t w = 0; w < count; w++) {
        struct worker *worker = &mapping->workers.at[w];
        ssize_t got = polled[w].revents ? read(worker->pipe, piece, sizeof piece) : -1;
        if (got > 0) {
            buffer_add(&worker->received, piece, (size_t)got);
            collect_whole(mapping, worker);
        } else if (got == 0) {
            replace(mapping, worker, err);
        }
    }
}

static size_t count_running(const struct mapping *mapping)
{
    return SUM(size_t, w, mapping->workers.count, mapping->workers.at[w].pid != 0);
}

static void run_workers(struct mapping *mapping, size_t jobs, struct tpa_error *err)
{
    SCOPED struct pollfd *polled = mem_zalloc(jobs, sizeof *polled);
    for (size_t w = 0; w < jobs && w < mapping->traces.count && !err->failed; w++) {
        struct worker worker;
        if (start(mapping, &worker, err))
            *VEC_PUSH(&mapping->workers) = worker;
    }
    while (count_running(mapping))
        listen(mapping, polled, err);
}

/* Facts are read directly, without a process. True if PATH is finished. */
static bool collect_facts(struct fleet_map *map, const struct path *path)
{
    struct tpa_error err = { 0 };
    bool good = read_facts(map, path->name, &err);
    if (err.failed)
        fleet_map_print_error(map, path->name, &err);
    return good || err.failed;
}

static bool map_by_processes(struct fleet_map *map, const struct paths *files, size_t jobs,
                             struct tpa_error *err)
{
    struct mapping mapping = { .map = map };
    for (size_t i = 0; i < files->at.count; i++)
        if (!collect_facts(map, &files->at.at[i]))
            *VEC_PUSH(&mapping.traces) = &files->at.at[i];
    if (mapping.traces.count == 0)
        return true;
    mapping.next =
        mmap(NULL, sizeof *mapping.next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = mapping.next != MAP_FAILED || tpa_fail_errno(err, "cannot share memory with processes");
    if (good) {
        mapping.done = mem_zalloc(mapping.traces.count, sizeof *mapping.done);
        mapping.progress = map->load.progress ? progress_begin(stderr) : (struct progress){ 0 };
        run_workers(&mapping, jobs, err);
        progress_end(&mapping.progress);
        good = !err->failed;
        struct tpa_error why = { .offset = TPA_NOWHERE };
        tpa_fail(&why, TPA_NOWHERE, "the process that read it was stopped");
        for (size_t i = 0; i < mapping.traces.count && good; i++)
            if (!mapping.done[i])
                finish(&mapping, i, &why);
        munmap(mapping.next, sizeof *mapping.next);
    }
    free(mapping.done);
    EACH(VEC_FREE, &mapping.workers, &mapping.traces);
    return good;
}

/* With one file, parallelism is within the file only. */
static bool map_one(struct fleet_map *map, const char *path, struct tpa_error *err)
{
    if (read_facts(map, path, err))
        return true;
    SCOPED_OBJECT struct facts *facts = facts_open();
    SCOPED struct buffer bytes = { 0 };
    bool good = !err->failed && gather_trace(map, path, (unsigned)map->load.jobs, facts, err);
    /* through the same encoding as with processes, so that invalid UTF-8 in names gives the same result */
    if (good) {
        facts_finish(facts);
        facts_write(facts, &bytes);
        good = read_bytes(map->facts, bytes.at, bytes.count, err);
    }
    return good || tpa_in_file(err, path);
}

static size_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}

/* With --strict: can all files be read, and are they complete? */
static bool fleet_map_check_complete(const struct fleet_map *map, struct tpa_error *err)
{
    const struct facts *facts = map->facts;
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    if (!map->load.strict)
        return true;
    if (map->failures.count) {
        tpa_fail(err, TPA_NOWHERE, "%s", map->failures.at[0].reason);
        return tpa_in_file(err, map->failures.at[0].path);
    }
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count; i++) {
        if (recordings[i].cut != 1)
            continue;
        tpa_fail(err, TPA_NOWHERE, "the trace is cut short or damaged, or its profiler lost records");
        tpa_hint(err, "without --strict all that can be read counts; tpa info FILE shows what is missing");
        return recordings[i].file == NAME_NONE
                   ? false
                   : tpa_in_file(err, names_text(facts->texts, recordings[i].file));
    }
    return true;
}

bool fleet_map(char *const *operands, size_t count, struct fleet_map *map, struct tpa_error *err)
{
    struct paths files = { 0 };
    map->facts = facts_open();
    bool good = list_files(map, operands, count, &files, err);
    map->files = files.at.count;
    size_t jobs = map->load.jobs ? (size_t)map->load.jobs : processors();
    if (jobs > files.at.count)
        jobs = files.at.count;
    if (good && files.at.count == 1 && map->failures.count == 0)
        good = map_one(map, files.at.at[0].name, err);
    else if (good && files.at.count)
        good = map_by_processes(map, &files, jobs, err);
    SORT(&map->failures, by_path);
    bool nothing = map->facts->tables[FACTS_RECORDINGS].count == 0 && !any_apart(map);
    if (good && nothing && map->failures.count == 0) {
        tpa_fail(err, TPA_NOWHERE, "no traces and no facts are in this directory");
        good = tpa_in_file(err, operands[0]);
    } else if (good && nothing) {
        good = tpa_fail(err, TPA_NOWHERE, "%s", map->failures.at[0].reason);
        if (map->failures.count > 1)
            tpa_hint(err, "none of the %zu files could be read; this is the first", map->failures.count);
        tpa_in_file(err, map->failures.at[0].path);
    }
    good = good && settle_apart(map, err);
    facts_finish(map->facts);
    good = good && fleet_map_check_complete(map, err);
    for (size_t i = 0; i < files.at.count; i++)
        free(files.at.at[i].name);
    VEC_FREE(&files.at);
    return good;
}

void fleet_map_release(struct fleet_map *map)
{
    for (size_t i = 0; i < map->failures.count; i++)
        EACH(free, map->failures.at[i].path, map->failures.at[i].reason);
    VEC_FREE(&map->failures);
    for (int kind = 0; kind < FLEET_FILES; kind++) {
        for (size_t i = 0; i < map->apart_files.of[kind].count; i++)
            free(map->apart_files.of[kind].at[i]);
        VEC_FREE(&map->apart_files.of[kind]);
    }
    arena_free(map->facts);
    map->facts = NULL;
}

void fleet_map_add_notices(const struct fleet_map *map, struct result *result)
{
    enum { MOST_SHOWN = 20 };
    for (size_t i = 0; i < map->failures.count && i < MOST_SHOWN; i++)
        result_add_notice(result, lack_word(LACK_UNREADABLE), 1, map->failures.at[i].path, TPA_NOWHERE,
                          "left out: %s", map->failures.at[i].reason);
    if (map->failures.count > MOST_SHOWN)
        ADD_NOTICE(result, lack_word(LACK_UNREADABLE), (int64_t)(map->failures.count - MOST_SHOWN),
                   "more files cannot be read and are left out");
}

void fleet_map_notice_job(const struct fleet_map *map, const struct fleet_job *job, struct result *result)
{
    fleet_map_add_notices(map, result);
    fleet_notice_lacks(job, result);
    if (job->others.count)
        ADD_NOTICE(result, "other_recordings", (int64_t)job->others.count,
                   "recordings are left out: tpa fleet names them");
}
