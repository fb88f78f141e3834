/* Files are first chained into processes, in order of time; processes are then added to jobs, in order of
 * time as well. So the result does not depend on the order in which the files were given, except for the
 * numbers of ranks that no file records. */
#include "derive/file_set.h"

#include "base/quantity.h"
#include "base/rows.h"
#include "base/sum.h"
#include "derive/step_list.h"
#include "trace/derived.h"
#include "trace/span.h"
#include <inttypes.h>

enum { NO_RANK = -1 };

/* A process: recordings one after the other. */
struct process {
    size_t first, last; /* of the chain of its recordings */
    struct interval span;
    uint32_t first_file; /* the lowest index of its files */
    uint32_t count, job;
    enum set_evidence by;
};

struct job {
    struct interval span;
    int64_t world_size;
    const char *backend; /* NULL: unknown */
    uint32_t first_file, processes;
};

struct finding {
    enum trace_files_are files_are;
    const struct set_record *records; /* by time */
    size_t *next;                     /* by record: the next one of its process; SIZE_MAX: none */
    uint32_t *cycle;                  /* by record */
    VEC_OF(struct process) processes; /* in order of their first recordings */
    VEC_OF(struct job) jobs;
    struct names *ranks; /* keys: job and rank */
};

/* ---- evidence ---- */

/* The number behind the last WORD in TEXT of LEN bytes, with one of "-_=" between them or nothing; NO_RANK: none. */
static int64_t number_behind(const char *text, size_t len, const char *word)
{
    size_t word_len = strlen(word);
    int64_t found = NO_RANK;
    for (size_t i = 0; i + word_len < len; i++) {
        if (strncasecmp(text + i, word, word_len) != 0)
            continue;
        const char *at = text + i + word_len;
        at += *at && strchr("-_=", *at) ? 1 : 0;
        int64_t number = quantity_read_number(&at);
        found = number >= 0 ? number : found;
    }
    return found;
}

/* The rank in the name of the file, else in that of its folder. */
static int64_t rank_in_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int64_t rank = number_behind(name, strlen(name), "rank");
    if (rank == NO_RANK)
        rank = number_behind(name, strlen(name), "_dump");
    if (rank == NO_RANK && slash && slash > path) {
        const char *folder = slash - 1;
        while (folder > path && *folder != '/')
            folder--;
        folder += *folder == '/';
        rank = number_behind(folder, (size_t)(slash - folder), "rank");
    }
    return rank;
}

int64_t file_set_rank_of(const struct trace_file *file)
{
    return file->rank >= 0 ? file->rank : rank_in_path(file->path);
}

/* The length of PATH up to the time in TensorBoard's HOST_PID.TIME.pt.trace.json; 0: it has another name. */
static size_t worker_length(const char *path)
{
    const char *end = strstr(path, ".pt.trace.json"), *dot = end;
    while (dot && dot > path && dot[-1] >= '0' && dot[-1] <= '9')
        dot--;
    return dot && end - dot >= 10 && dot > path && dot[-1] == '.' ? (size_t)(dot - path) : 0;
}

/* By file: the track of its process with most events on threads. New; free with free(). */
static const struct track **main_tracks(const struct trace *trace)
{
    const struct track **main = mem_zalloc(trace->file_count + 1, sizeof *main);
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t], **most = &main[track->file];
        if (track->kind == TRACK_THREAD && track->event_count &&
            (!*most || track->event_count > (*most)->event_count))
            *most = track;
    }
    return main;
}

const struct track *file_set_process(const struct trace *trace, uint32_t file)
{
    const struct track **main = main_tracks(trace), *track = main[file];
    free(main);
    return track;
}

static void read_steps(const struct trace *trace, struct set_record *by_file)
{
    const struct step_list *steps = step_list_of(trace);
    FOR_EACH(step, steps) {
        struct set_record *record = &by_file[step->file];
        int64_t marked;
        if (!step_number(trace_name(trace, step->event), &marked))
            continue;
        if (!record->has_steps || step->number < record->first_step)
            record->first_step = step->number;
        if (!record->has_steps || step->number > record->last_step)
            record->last_step = step->number;
        record->has_steps = true;
    }
}

static enum set_evidence recorded_by(const struct trace_file *file)
{
    const char *by = trace_file_property(file, TRACE_RANK_BY);
    return !by                                     ? SET_BY_DISTRIBUTED_INFO
           : strcmp(by, TRACE_RANK_BY_LABELS) == 0 ? SET_BY_LABELS
                                                   : SET_BY_PROCESSES;
}

static const struct key by_start_file[] = { ASC(struct set_record, span.start_ns),
                                            ASC(struct set_record, file), KEY_END };

struct set_record *file_set_records(const struct trace *trace)
{
    struct set_record *records = mem_zalloc(trace->file_count + 1, sizeof *records);
    const struct track **main = main_tracks(trace);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const struct trace_file *file = &trace->files[f];
        struct interval span = trace_file_span(trace, f);
        int64_t base_ns = file->has_base ? file->base_ns : 0;
        const struct track *track = main[f];
        records[f] = (struct set_record){
            .file = f,
            .rank = file_set_rank_of(file),
            .rank_by = file->rank >= 0 ? recorded_by(file) : SET_BY_FILE_NAMES,
            .world_size = file->world_size > 0 ? file->world_size : 0,
            .host = file->host_name && *file->host_name ? file->host_name : NULL,
            .path = file->path,
            .backend = file->backend && *file->backend ? file->backend : NULL,
            .pid_text =
                track && track->pid_text != NAME_NONE ? names_text(trace->texts, track->pid_text) : NULL,
            .pid = track ? track->pid : 0,
            .has_process = track != NULL,
            .span = { sum_plus(span.start_ns, base_ns), sum_plus(span.end_ns, base_ns) },
            .events = file->event_count,
        };
    }
    read_steps(trace, records);
    free(main);
    return records;
}

/* May recordings with these world sizes (0: unknown) and backends (NULL) be of one job? */
static bool may_be_one_job(int64_t a_size, const char *a_backend, int64_t b_size, const char *b_backend)
{
    return (!a_size || !b_size || a_size == b_size) &&
           (!a_backend || !b_backend || strcmp(a_backend, b_backend) == 0);
}

/* ---- processes ---- */

static bool are_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool have_one_process(const struct set_record *a, const struct set_record *b)
{
    return a->has_process && b->has_process && a->pid == b->pid && are_equal(a->pid_text, b->pid_text) &&
           (!a->host || !b->host || strcmp(a->host, b->host) == 0);
}

static bool have_one_worker(const struct set_record *a, const struct set_record *b)
{
    size_t len = worker_length(a->path);
    return len && len == worker_length(b->path) && memcmp(a->path, b->path, len) == 0;
}

/* Was the same file given twice, perhaps packed in another way? */
static bool is_again(const struct set_record *a, const struct set_record *b)
{
    return have_one_process(a, b) && a->rank == b->rank && a->events == b->events && a->events &&
           a->span.start_ns == b->span.start_ns && a->span.end_ns == b->span.end_ns;
}

/* Is B a later recording of the process of A? The evidence in *BY. */
static bool goes_on(const struct finding *finding, const struct set_record *a, const struct set_record *b,
                    enum set_evidence *by)
{
    if (a->rank != b->rank || !have_one_process(a, b) || b->span.start_ns < a->span.end_ns ||
        !may_be_one_job(a->world_size, a->backend, b->world_size, b->backend))
        return false;
    bool rank_is_recorded = a->rank != NO_RANK && a->rank_by != SET_BY_FILE_NAMES;
    *by = rank_is_recorded ? a->rank_by : a->has_steps && b->has_steps ? SET_BY_STEPS : SET_BY_WORKER;
    if (finding->files_are == TRACE_FILES_ARE_JOB)
        return true;
    if (a->has_steps && b->has_steps)
        return b->first_step > a->last_step;
    return rank_is_recorded || have_one_worker(a, b);
}

static void begin_process(struct finding *finding, size_t r)
{
    const struct set_record *record = &finding->records[r];
    *VEC_PUSH(&finding->processes) =
        (struct process){ r, r, record->span, record->file, 1, 0, record->rank_by };
}

static void add_recording(struct finding *finding, struct process *process, size_t r, bool again,
                          enum set_evidence by)
{
    const struct set_record *record = &finding->records[r];
    finding->next[process->last] = r;
    finding->cycle[r] = again ? finding->cycle[process->last] : finding->cycle[process->last] + 1;
    process->last = r;
    process->count += !again;
    process->by = by;
    if (record->span.end_ns > process->span.end_ns)
        process->span.end_ns = record->span.end_ns;
    if (record->file < process->first_file)
        process->first_file = record->file;
}

/* Add record R to the process that it continues, or begin another. */
static void place_record(struct finding *finding, size_t r)
{
    enum set_evidence by = SET_BY_ONE_FILE;
    for (size_t p = finding->processes.count; p-- > 0 && finding->files_are != TRACE_FILES_ARE_APART;) {
        struct process *process = &finding->processes.at[p];
        const struct set_record *last = &finding->records[process->last];
        bool again = is_again(last, &finding->records[r]);
        if (!again && !goes_on(finding, last, &finding->records[r], &by))
            continue;
        add_recording(finding, process, r, again, again ? process->by : by);
        return;
    }
    begin_process(finding, r);
}

/* ---- jobs ---- */

struct rank_of_job {
    int64_t job, rank;
};

static name_id find_rank(const struct finding *finding, size_t job, int64_t rank)
{
    struct rank_of_job key = { (int64_t)job, rank };
    return names_find(finding->ranks, (const char *)&key, sizeof key);
}

/* How long both took place in ns; -1: never. */
static int64_t overlap_of(const struct interval *a, const struct interval *b)
{
    int64_t start_ns = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
    int64_t end_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
    return end_ns >= start_ns ? end_ns - start_ns : -1;
}

/* Can PROCESS be one of JOB? OVERLAP gets how long both ran. */
static bool may_be_of(const struct finding *finding, const struct process *process, size_t job,
                      int64_t *overlap_ns)
{
    const struct set_record *record = &finding->records[process->first];
    const struct job *of = &finding->jobs.at[job];
    *overlap_ns = record->events ? overlap_of(&process->span, &of->span) : 0;
    if (finding->files_are != TRACE_FILES_AS_FOUND)
        return finding->files_are == TRACE_FILES_ARE_JOB;
    if (!may_be_one_job(of->world_size, of->backend, record->world_size, record->backend))
        return false;
    if (record->rank != NO_RANK && find_rank(finding, job, record->rank) != NAME_NONE)
        return false;
    bool ranked = record->rank != NO_RANK && names_count(finding->ranks) > 0;
    return ranked || *overlap_ns >= 0;
}

/* Add process P to the job with which it ran longest, else to the first possible one, else begin one. */
static void place_process(struct finding *finding, size_t p)
{
    struct process *process = &finding->processes.at[p];
    const struct set_record *record = &finding->records[process->first];
    size_t best = finding->jobs.count;
    int64_t longest_ns = INT64_MIN, overlap_ns;
    for (size_t j = 0; j < finding->jobs.count; j++)
        if (may_be_of(finding, process, j, &overlap_ns) && overlap_ns > longest_ns) {
            best = j;
            longest_ns = overlap_ns;
        }
    if (best == finding->jobs.count)
        *VEC_PUSH(&finding->jobs) =
            (struct job){ process->span, record->world_size, record->backend, process->first_file, 0 };
    struct job *job = &finding->jobs.at[best];
    process->job = (uint32_t)best;
    job->processes++;
    if (record->events && process->span.start_ns < job->span.start_ns)
        job->span.start_ns = process->span.start_ns;
    if (record->events && process->span.end_ns > job->span.end_ns)
        job->span.end_ns = process->span.end_ns;
    job->world_size = record->world_size ? record->world_size : job->world_size;
    job->backend = record->backend ? record->backend : job->backend;
    if (process->first_file < job->first_file)
        job->first_file = process->first_file;
    if (record->rank != NO_RANK) {
        struct rank_of_job key = { (int64_t)best, record->rank };
        names_add(finding->ranks, (const char *)&key, sizeof key);
    }
}

/* ---- the set ---- */

/* The number of a rank that no file records: its place among all, or the next one that its job has not. */
static int64_t number_of(const struct finding *finding, const struct process *process, int64_t place)
{
    while (find_rank(finding, process->job, place) != NAME_NONE)
        place++;
    struct rank_of_job key = { (int64_t)process->job, place };
    names_add(finding->ranks, (const char *)&key, sizeof key);
    return place;
}

static void add_process(const struct finding *finding, struct file_set *set, const struct process *process)
{
    uint32_t rank = set->ranks;
    int64_t number = finding->records[process->first].rank;
    for (uint32_t q = 0; number != NO_RANK && q < set->ranks;
         q++) /* another process of the rank, if the user says so */
        if (finding->files_are == TRACE_FILES_ARE_JOB && set->files[set->first[q]].number == number)
            rank = q;
    if (number == NO_RANK)
        number = number_of(finding, process, set->ranks);
    if (rank == set->ranks)
        set->first[set->ranks++] = finding->records[process->first].file;
    for (size_t r = process->first; r != SIZE_MAX; r = finding->next[r])
        set->files[finding->records[r].file] =
            (struct set_file){ 0, rank, set->processes, finding->cycle[r], finding->cycle[r], number };
    set->processes++;
    if (process->count < set->fewest_cycles)
        set->fewest_cycles = process->count;
    if (process->count > set->most_cycles)
        set->most_cycles = process->count;
}

static enum set_evidence find_evidence(const struct finding *finding, const struct file_set *set)
{
    if (set->count < 2)
        return SET_BY_ONE_FILE;
    if (finding->files_are != TRACE_FILES_AS_FOUND)
        return SET_BY_USER;
    if (set->jobs > 1)
        return SET_BY_DIFFERENCE;
    if (set->ranks == 1)
        return finding->processes.at[0].by;
    enum set_evidence by = SET_BY_TIME;
    for (size_t p = 0; p < finding->processes.count; p++) {
        const struct set_record *record = &finding->records[finding->processes.at[p].first];
        if (record->rank != NO_RANK && (by == SET_BY_TIME || record->rank_by < by))
            by = record->rank_by;
    }
    return by;
}

/* Number the recordings of JOB by the times at which they ran: those that overlap another have its number. Not if a process would
 * have two in one round, as with clocks that differ. */
static void number_rounds(const struct finding *finding, struct file_set *set, uint32_t job)
{
    uint32_t *round = mem_alloc(mem_times(set->count, sizeof *round)), rounds = 0;
    SCOPED uint32_t *last = mem_zalloc(set->processes + 1, sizeof *last); /* by process: its last round + 1 */
    int64_t end_ns = INT64_MIN;
    bool fine = true;
    for (size_t r = 0; r < set->count; r++) { /* by time */
        const struct set_record *record = &finding->records[r];
        const struct set_file *file = &set->files[record->file];
        if (file->job != job)
            continue;
        rounds += rounds == 0 || record->span.start_ns >= end_ns;
        end_ns = record->span.end_ns > end_ns ? record->span.end_ns : end_ns;
        round[record->file] = rounds - 1;
        fine = fine && (last[file->process] != rounds || file->cycle == 0);
        last[file->process] = rounds;
    }
    for (size_t f = 0; f < set->count && fine; f++)
        if (set->files[f].job == job)
            set->files[f].round = round[f];
    free(round);
}

/* Does no rank have the number of another, of another job? */
static bool have_own_numbers(const struct file_set *set)
{
    SCOPED_OBJECT struct names *seen = names_open();
    for (uint32_t rank = 0; rank < set->ranks; rank++) {
        int64_t number = set->files[set->first[rank]].number;
        names_add(seen, (const char *)&number, sizeof number);
    }
    return names_count(seen) == set->ranks;
}

static void fill_set(struct finding *finding, struct file_set *set)
{
    struct process *processes = finding->processes.at;
    SORT_BY(processes, finding->processes.count, i, processes[i].first_file);
    SORT_BY(processes, finding->processes.count, i, finding->jobs.at[processes[i].job].first_file);
    set->fewest_cycles = UINT32_MAX;
    uint32_t job = 0;
    for (size_t p = 0; p < finding->processes.count; p++) {
        const struct process *process = &finding->processes.at[p];
        job += p && process->job != finding->processes.at[p - 1].job;
        add_process(finding, set, process);
        for (size_t r = process->first; r != SIZE_MAX; r = finding->next[r])
            set->files[finding->records[r].file].job = job;
    }
    set->jobs = job + 1;
    for (job = 0; job < set->jobs && set->most_cycles > 1; job++)
        number_rounds(finding, set, job);
    if (set->jobs > 1 && !have_own_numbers(set))
        for (size_t f = 0; f < set->count; f++)
            set->files[f].number = set->files[f].rank;
    set->by = find_evidence(finding, set);
}

struct file_set *file_set_find(struct set_record *records, size_t count, enum trace_files_are files_are)
{
    struct file_set *set = arena_open(sizeof *set);
    ARENA_OWNS(arena_of(set), &set->files, &set->first);
    set->count = count;
    set->files = mem_zalloc(count + 1, sizeof *set->files);
    set->first = mem_zalloc(count + 1, sizeof *set->first);
    if (count < 2) {
        set->jobs = set->ranks = set->processes = set->fewest_cycles = set->most_cycles = (uint32_t)count;
        set->files[0].number = count && records[0].rank != NO_RANK ? records[0].rank : 0;
        return set;
    }
    SORT_ARRAY(records, count, by_start_file);
    struct finding finding = { .files_are = files_are,
                               .records = records,
                               .next = mem_alloc(mem_times(count, sizeof *finding.next)),
                               .cycle = mem_zalloc(count, sizeof *finding.cycle),
                               .ranks = names_open() };
    for (size_t r = 0; r < count; r++) {
        finding.next[r] = SIZE_MAX;
        place_record(&finding, r);
    }
    for (size_t p = 0; p < finding.processes.count; p++)
        place_process(&finding, p);
    fill_set(&finding, set);
    EACH(VEC_FREE, &finding.processes, &finding.jobs);
    names_free(finding.ranks);
    EACH(free, finding.next, finding.cycle);
    return set;
}

/* A single file needs no evidence. */
static void *derive(const struct trace *trace)
{
    struct set_record alone = { .rank = trace->file_count ? trace->files[0].rank : NO_RANK };
    if (trace->file_count < 2)
        return file_set_find(&alone, trace->file_count, trace->files_are);
    SCOPED struct set_record *records = file_set_records(trace);
    return file_set_find(records, trace->file_count, trace->files_are);
}

DERIVED(file_set, file_set_of, derive);

bool file_set_has_cycles(const struct file_set *set)
{
    return set->most_cycles > 1 || set->processes > set->ranks;
}

bool file_set_has_copies(const struct file_set *set)
{
    for (size_t a = 0; a < set->count; a++)
        for (size_t b = a + 1; b < set->count; b++)
            if (set->files[a].process == set->files[b].process && set->files[a].cycle == set->files[b].cycle)
                return true;
    return false;
}

bool file_set_is_sure(const struct file_set *set)
{
    return set->count > 1 && set->jobs == 1 && set->by != SET_BY_TIME;
}

/* ---- words ---- */

static const char *const evidence_words[] = {
    [SET_BY_ONE_FILE] = "there is one file",
    [SET_BY_DISTRIBUTED_INFO] = "by distributedInfo",
    [SET_BY_LABELS] = "by the labels of the processes in the file",
    [SET_BY_PROCESSES] = "by the processes in the file that mark steps",
    [SET_BY_FILE_NAMES] = "by the names of the files",
    [SET_BY_TIME] = "by the time at which they ran",
    [SET_BY_STEPS] = "by process number and steps that go on",
    [SET_BY_WORKER] = "by the process in the names of the files",
    [SET_BY_DIFFERENCE] = "neither ranks of one job nor cycles of one process",
    [SET_BY_USER] = "by --as",
};

static void append_cycles(const struct file_set *set, struct buffer *out)
{
    if (set->most_cycles < 2)
        return;
    if (set->fewest_cycles == set->most_cycles)
        buffer_printf(out, "%s %" PRIu32 " cycles%s", set->ranks > 1 ? "," : " of", set->most_cycles,
                      set->ranks > 1 ? " each" : "");
    else
        buffer_printf(out, ", %" PRIu32 " to %" PRIu32 " cycles each", set->fewest_cycles, set->most_cycles);
}

void file_set_describe(const struct file_set *set, struct buffer *out)
{
    if (set->jobs > 1)
        buffer_printf(out, "%" PRIu32 " separate runs", set->jobs);
    else if (set->ranks > 1)
        buffer_printf(out, "one job of %" PRIu32 " ranks", set->ranks);
    else
        buffer_puts(out, "one process");
    if (set->jobs == 1)
        append_cycles(set, out);
    buffer_printf(out, "; %s", evidence_words[set->by]);
}

bool file_set_check_job(const struct trace *trace, struct tpa_error *err)
{
    const struct file_set *set = file_set_of(trace);
    if (set->jobs < 2 || set->by == SET_BY_USER)
        return true;
    tpa_fail(err, TPA_NOWHERE, "the files are %" PRIu32 " separate runs, and this answers for one job",
             set->jobs);
    return tpa_hint(
        err, "tpa summary has a row for each run, tpa diff compares two; --as job says that they are one");
}
