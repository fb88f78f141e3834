/* tables.c - the tables and notices of a post-mortem: see hang.h. */
#include "base/search.h"
#include "hang/hang.h"

#include <inttypes.h>

struct verdict_row {
    struct text job, state, proof;
    int64_t ranks, world;
    struct text culprits, suspects, verdict;
};

static const struct table_column verdict_columns[] = {
    COLUMN(struct verdict_row, job, "job", "Job", TABLE_NAME,
           "folder and prefix of its files; empty if there is one job"),
    COLUMN(struct verdict_row, state, "state", "State", TABLE_TEXT, "stuck, waiting, moving or clean"),
    COLUMN(struct verdict_row, proof, "proof", "Proof", TABLE_TEXT,
           "why it is stuck: timed_out, ended_without_all, over_timeout, mismatch, deadlock"),
    COLUMN(struct verdict_row, ranks, "ranks", "Dumps", TABLE_TALLY, "ranks whose dump was read"),
    COLUMN(struct verdict_row, world, "world", "World", TABLE_TALLY, "ranks of the job"),
    COLUMN(struct verdict_row, culprits, "culprits", "Culprits", TABLE_TEXT, "ranks that hold the job up"),
    COLUMN(struct verdict_row, suspects, "suspects", "Suspects", TABLE_TEXT,
           "ranks that may hold it up: a doubt tells why it is not certain"),
    COLUMN(struct verdict_row, verdict, "verdict", "Verdict", TABLE_TEXT, "the verdict in words"),
};

struct cause_row {
    struct text job, class, ranks, between, group, desc;
    int64_t seq;
    struct text op;
    int64_t direct, indirect, lag;
    struct text text;
};

static const struct table_column cause_columns[] = {
    COLUMN(struct cause_row, job, "job", "Job", TABLE_NAME, "as in verdict"),
    COLUMN(struct cause_row, class, "class", "Class", TABLE_TEXT, "what kind of cause it is"),
    COLUMN(struct cause_row, ranks, "ranks", "Ranks", TABLE_TEXT, "ranks that it names"),
    COLUMN(struct cause_row, between, "between", "Between", TABLE_TEXT,
           "ranks among which it is, if none of them can be named"),
    COLUMN(struct cause_row, group, "group", "Group", TABLE_TEXT, "name of the process group"),
    COLUMN(struct cause_row, desc, "desc", "Description", TABLE_TEXT, "description of the process group"),
    COLUMN(struct cause_row, seq, "seq", "Number", TABLE_COUNT, "number of the collective in its group"),
    COLUMN(struct cause_row, op, "op", "Operation", TABLE_TEXT, "the operation"),
    COLUMN(struct cause_row, direct, "direct", "Wait", TABLE_TALLY,
           "ranks that wait for its ranks themselves"),
    COLUMN(struct cause_row, indirect, "indirect", "Behind", TABLE_TALLY, "ranks that wait for those"),
    COLUMN(struct cause_row, lag, "lag", "Lag", TABLE_TALLY,
           "device_stopped: operations pending on the first rank that others have done",
           .flags = TABLE_OPTIONAL),
    COLUMN(struct cause_row, text, "text", "Cause", TABLE_TEXT, "the cause in words",
           .flags = TABLE_OPTIONAL),
};

struct wait_row {
    struct text job, group, desc;
    int64_t seq;
    struct text op;
    int64_t count;
    struct text waiting, missing;
};

static const struct table_column wait_columns[] = {
    COLUMN(struct wait_row, job, "job", "Job", TABLE_NAME, "as in verdict"),
    COLUMN(struct wait_row, group, "group", "Group", TABLE_TEXT, "name of the process group",
           .flags = TABLE_OPTIONAL),
    COLUMN(struct wait_row, desc, "desc", "Description", TABLE_TEXT, "description of the process group"),
    COLUMN(struct wait_row, seq, "seq", "Number", TABLE_COUNT, "number of the collective in its group"),
    COLUMN(struct wait_row, op, "op", "Operation", TABLE_TEXT, "the operation"),
    COLUMN(struct wait_row, count, "count", "Waiting", TABLE_TALLY, "ranks that wait in it"),
    COLUMN(struct wait_row, waiting, "waiting", "These ranks", TABLE_TEXT, "the ranks that wait in it"),
    COLUMN(struct wait_row, missing, "missing", "Wait for", TABLE_TEXT,
           "members that have not entered it; none: it waits behind another, or is in flight"),
};

struct group_row {
    struct text job, group, desc;
    int64_t size, last_common, last_entered;
    struct text behind, unknown;
};

static const struct table_column group_columns[] = {
    COLUMN(struct group_row, job, "job", "Job", TABLE_NAME, "as in verdict"),
    COLUMN(struct group_row, group, "group", "Group", TABLE_NAME, "name of the process group"),
    COLUMN(struct group_row, desc, "desc", "Description", TABLE_TEXT, "description of the process group"),
    COLUMN(struct group_row, size, "size", "Ranks", TABLE_TALLY, "its members"),
    COLUMN(struct group_row, last_common, "last_common", "Common", TABLE_COUNT,
           "last collective that every member entered of whom it is known"),
    COLUMN(struct group_row, last_entered, "last_entered", "Entered", TABLE_COUNT,
           "last collective that any member entered"),
    COLUMN(struct group_row, behind, "behind", "Behind", TABLE_TEXT,
           "members that have not entered that one"),
    COLUMN(struct group_row, unknown, "unknown", "Unknown", TABLE_TEXT,
           "members whose dump does not tell how far they are"),
};

struct rank_row {
    struct text job;
    int64_t rank;
    struct text role, file;
    int64_t entries, waits_for;
    struct text waits_in, call;
};

static const struct table_column rank_columns[] = {
    COLUMN(struct rank_row, job, "job", "Job", TABLE_NAME, "as in verdict"),
    COLUMN(struct rank_row, rank, "rank", "Rank", TABLE_COUNT, "the rank"),
    COLUMN(struct rank_row, role, "role", "Role", TABLE_TEXT,
           "culprit, suspect, waits, or nothing; unreadable"),
    COLUMN(struct rank_row, file, "file", "File", TABLE_TEXT, "its dump", .flags = TABLE_OPTIONAL),
    COLUMN(struct rank_row, entries, "entries", "Entries", TABLE_TALLY, "operations in the dump"),
    COLUMN(struct rank_row, waits_for, "waits_for", "Waits for", TABLE_TALLY, "ranks that it waits for"),
    COLUMN(struct rank_row, waits_in, "waits_in", "Waits in", TABLE_TEXT,
           "the first operation in which it waits"),
    COLUMN(struct rank_row, call, "call", "Last call", TABLE_TEXT, "file and line of its newest operation"),
};

struct doubt_row {
    struct text job, kind, ranks, text;
};

static const struct table_column doubt_columns[] = {
    COLUMN(struct doubt_row, job, "job", "Job", TABLE_NAME, "as in verdict"),
    COLUMN(struct doubt_row, kind, "kind", "Doubt", TABLE_TEXT, "what kind of doubt it is"),
    COLUMN(struct doubt_row, ranks, "ranks", "Ranks", TABLE_TEXT, "the ranks that it is about"),
    COLUMN(struct doubt_row, text, "text", "Meaning", TABLE_TEXT, "the doubt in words", .flags = TABLE_LINE),
};

const struct table_shape hang_tables[] = {
    TABLE_SHAPE("verdict", verdict_columns),
    TABLE_SHAPE("causes", cause_columns),
    TABLE_SHAPE("waits", wait_columns),
    TABLE_SHAPE("groups", group_columns),
    TABLE_SHAPE("ranks", rank_columns),
    TABLE_SHAPE("doubts", doubt_columns),
    { 0 },
};

struct writing {
    struct hang *hang;
    struct result *result;
    bool for_people;
    struct buffer text;
    struct table *verdict, *causes, *waits, *groups, *ranks, *doubts;
};

/* ---- texts ---- */

/* A copy of the text of WRITING, in the arena of the result. */
static struct text keep_text(struct writing *writing)
{
    const char *text = writing->text.at ? writing->text.at : "";
    return as_text(arena_strndup(&writing->result->arena, text, writing->text.count));
}

static struct text ranks_text(struct writing *writing, struct hang_ranks ranks)
{
    buffer_clear(&writing->text);
    hang_add_ranks(&writing->text, ranks, writing->for_people);
    return keep_text(writing);
}

static struct text name_text(const struct hang_job *job, name_id id)
{
    return id == NAME_NONE
               ? (struct text){ NULL, 0 }
               : (struct text){ flight_text(job->flight, id), names_length(job->flight->texts, id) };
}

/* ---- rows ---- */

static void add_verdict(struct writing *writing, struct hang_job *job)
{
    buffer_clear(&writing->text);
    hang_add_proofs(&writing->text, job->proof);
    struct text proof = keep_text(writing);
    struct verdict_row row = { .job = as_text(job->name),
                               .state = as_text(hang_state_word(job->state)),
                               .proof = proof,
                               .ranks = (int64_t)job->dumps.count,
                               .world = job->world,
                               .culprits = ranks_text(writing, job->culprits),
                               .suspects = ranks_text(writing, job->suspects),
                               .verdict = as_text(job->verdict) };
    table_add_rows(writing->verdict, &row, 1, sizeof row);
}

static void add_cause_rows(struct writing *writing, struct hang_job *job)
{
    FOR_EACH(cause, &job->causes) {
        const struct hang_group *group = cause->group == HANG_NONE ? NULL : &job->groups.at[cause->group];
        buffer_clear(&writing->text);
        hang_add_cause(&writing->text, job, cause, true, hang_is_in_doubt(job, cause));
        struct text text = keep_text(writing);
        struct cause_row row = { .job = as_text(job->name),
                                 .class = as_text(hang_class_word(cause->class)),
                                 .text = text,
                                 .ranks = ranks_text(writing, cause->ranks),
                                 .between = ranks_text(writing, cause->between),
                                 .group = name_text(job, group ? group->name : NAME_NONE),
                                 .desc = name_text(job, group ? group->desc : NAME_NONE),
                                 .seq = cause->seq == HANG_UNKNOWN ? TABLE_INT_MISSING : cause->seq,
                                 .op = name_text(job, cause->op),
                                 .direct = (int64_t)cause->direct.count,
                                 .indirect = (int64_t)cause->indirect.count,
                                 .lag =
                                     cause->class == HANG_DEVICE_STOPPED ? cause->lag : TABLE_INT_MISSING };
        table_add_rows(writing->causes, &row, 1, sizeof row);
    }
}

/* Is it the first operation in which one of its waiters waits? */
static bool is_in_front(const struct hang_job *job, const struct hang_wait_op *op)
{
    return ANY_FROM(i, op->first, op->first + op->count,
                    job->first_wait[job->waits.at[job->by_op[i]].rank] == job->by_op[i]);
}

static name_id op_of_wait(const struct hang_job *job, const struct hang_wait *wait)
{
    return wait->entry != HANG_NONE ? flight_op(job->flight, wait->entry)->text : hang_op_text(job, wait->op);
}

static void add_waits(struct writing *writing, struct hang_job *job)
{
    SCOPED VEC_OF(uint32_t) ranks = { 0 };
    FOR_EACH(op, &job->wait_ops) {
        if (!is_in_front(job, op))
            continue;
        const struct hang_wait *first = &job->waits.at[job->by_op[op->first]];
        const struct hang_group *group = &job->groups.at[op->group];
        struct wait_row row = { .job = as_text(job->name),
                                .group = name_text(job, group->name),
                                .desc = name_text(job, group->desc),
                                .seq = op->seq == HANG_UNKNOWN ? TABLE_INT_MISSING : op->seq };
        ranks.count = 0;
        for (size_t i = op->first; i < op->first + op->count; i++) {
            const struct hang_wait *wait = &job->waits.at[job->by_op[i]];
            if (ranks.count == 0 || ranks.at[ranks.count - 1] != wait->rank)
                *VEC_PUSH(&ranks) = wait->rank;
            if (!row.op.at)
                row.op = name_text(job, op_of_wait(job, wait));
        }
        row.count = (int64_t)ranks.count;
        row.waiting = ranks_text(writing, (struct hang_ranks){ ranks.at, ranks.count });
        SCOPED uint8_t *marks = mem_zalloc((size_t)job->world + 1, 1);
        if (op->seq == HANG_UNKNOWN && op->missing)
            marks[first->peer] = 1;
        for (size_t i = 0; op->seq != HANG_UNKNOWN && i < op->missing; i++)
            marks[group->members[group->order[i]].rank] = 1;
        row.missing = ranks_text(writing, hang_ranks_of(job, marks));
        table_add_rows(writing->waits, &row, 1, sizeof row);
    }
}

static void add_group_row(struct writing *writing, struct hang_job *job, const struct hang_group *group)
{
    int64_t common = INT64_MAX, most = -1;
    SCOPED VEC_OF(uint32_t) behind = { 0 }, unknown = { 0 };
    FOR_EACH_OF(member, group->members, group->count) {
        if (job->dump_of[member->rank] == HANG_NONE || member->entered == HANG_UNKNOWN)
            continue;
        common = member->entered < common ? member->entered : common;
        most = member->entered > most ? member->entered : most;
    }
    FOR_EACH_OF(member, group->members, group->count) {
        if (job->dump_of[member->rank] == HANG_NONE)
            continue;
        if (member->entered == HANG_UNKNOWN)
            *VEC_PUSH(&unknown) = member->rank;
        else if (member->entered < most)
            *VEC_PUSH(&behind) = member->rank;
    }
    if (most > 0) {
        struct group_row row = { .job = as_text(job->name),
                                 .group = name_text(job, group->name),
                                 .desc = name_text(job, group->desc),
                                 .size = (int64_t)group->count,
                                 .last_common = common,
                                 .last_entered = most,
                                 .behind =
                                     ranks_text(writing, (struct hang_ranks){ behind.at, behind.count }),
                                 .unknown =
                                     ranks_text(writing, (struct hang_ranks){ unknown.at, unknown.count }) };
        table_add_rows(writing->groups, &row, 1, sizeof row);
    }
}

static bool has_waits(const struct hang_job *job, uint32_t rank)
{
    return job->first_wait[rank + 1] > job->first_wait[rank];
}

/* Groups with members behind come first for people, who see the first few rows. */
static void add_groups(struct writing *writing, struct hang_job *job)
{
    for (int turn = 0; turn < (writing->for_people ? 2 : 1); turn++)
        FOR_EACH(group, &job->groups) {
            int64_t least = INT64_MAX, most = -1;
            for (size_t m = 0; m < group->count; m++) {
                int64_t entered = group->members[m].entered;
                if (entered == HANG_UNKNOWN)
                    continue;
                least = entered < least ? entered : least;
                most = entered > most ? entered : most;
            }
            if (!writing->for_people || (turn == 0) == (least < most))
                add_group_row(writing, job, group);
        }
}

static bool holds(struct hang_ranks ranks, uint32_t rank)
{
    size_t low = PLACE(i, ranks.count, ranks.at[i] < rank);
    return low < ranks.count && ranks.at[low] == rank;
}

static int64_t count_targets(const struct hang_job *job, uint32_t rank, uint8_t *marks)
{
    int64_t count = 0;
    if (!job->waits_for_any[rank])
        return 0;
    memset(marks, 0, job->world);
    hang_graph_targets(job, rank, marks);
    for (uint32_t r = 0; r < job->world; r++)
        count += marks[r];
    return count;
}

static const char *role_of(const struct hang_job *job, uint32_t rank)
{
    return holds(job->culprits, rank)   ? "culprit"
           : holds(job->suspects, rank) ? "suspect"
           : has_waits(job, rank)       ? "waits"
                                        : "";
}

static void add_rank_row(struct writing *writing, struct hang_job *job, const struct flight_dump *dump,
                         uint8_t *marks)
{
    buffer_clear(&writing->text);
    if (has_waits(job, dump->rank)) {
        const struct hang_wait *wait = &job->waits.at[job->first_wait[dump->rank]];
        hang_add_operation(&writing->text, job, wait->group, wait->seq, op_of_wait(job, wait));
    }
    struct rank_row row = { .job = as_text(job->name),
                            .rank = dump->rank,
                            .role = as_text(role_of(job, dump->rank)),
                            .file = as_text(dump->path),
                            .entries = (int64_t)dump->count,
                            .waits_for = count_targets(job, dump->rank, marks),
                            .waits_in = writing->text.count ? keep_text(writing) : (struct text){ NULL, 0 },
                            .call = as_text(hang_last_call(job, dump->rank)) };
    table_add_rows(writing->ranks, &row, 1, sizeof row);
}

static void add_ranks(struct writing *writing, struct hang_job *job)
{
    SCOPED uint8_t *marks = mem_zalloc((size_t)job->world + 1, 1);
    for (int turn = 0; turn < (writing->for_people ? 3 : 1); turn++)
        for (size_t i = 0; i < job->dumps.count; i++) {
            const struct flight_dump *dump = &job->flight->dumps.at[job->dumps.at[i]];
            int own = holds(job->culprits, dump->rank) ? 0 : holds(job->suspects, dump->rank) ? 1 : 2;
            if (!writing->for_people || own == turn)
                add_rank_row(writing, job, dump, marks);
        }
    for (size_t u = 0; u < job->unreadable.count; u++) {
        const struct flight_unreadable *file = &job->flight->unreadable.at[job->unreadable.at[u]];
        struct rank_row row = { .job = as_text(job->name),
                                .rank = file->rank,
                                .role = as_text("unreadable"),
                                .file = as_text(file->path),
                                .entries = TABLE_INT_MISSING,
                                .waits_for = TABLE_INT_MISSING };
        table_add_rows(writing->ranks, &row, 1, sizeof row);
    }
}

static void add_doubts(struct writing *writing, struct hang_job *job)
{
    for (enum hang_doubt d = 0; d < HANG_DOUBTS; d++) {
        if (!job->has_doubt[d])
            continue;
        buffer_clear(&writing->text);
        hang_add_doubt(&writing->text, job, d);
        struct doubt_row row = { .job = as_text(job->name),
                                 .kind = as_text(hang_doubt_word(d)),
                                 .text = keep_text(writing) };
        row.ranks = ranks_text(writing, hang_ranks_of(job, job->doubts[d]));
        table_add_rows(writing->doubts, &row, 1, sizeof row);
    }
}

/* ---- notices ---- */

static void add_answer(struct writing *writing, const struct hang_job *job)
{
    struct result *result = writing->result;
    ADD_NOTICE(result, "verdict", 1, "%s%s%s", job->name, *job->name ? ": " : "", job->verdict);
    result_make_verdict(result);
    result_make_answered(result);
}

enum { SHOWN = 4 }; /* files of a kind */

static void add_files(struct writing *writing, const char *kind, const struct flight_unreadable *files,
                      size_t count, const char *what)
{
    for (size_t u = 0; u < count && u < SHOWN; u++)
        result_add_notice(writing->result, kind, 1, files[u].path, TPA_NOWHERE, "this dump %s: %s", what,
                          files[u].reason);
    if (count > SHOWN)
        ADD_NOTICE(writing->result, kind, (int64_t)(count - SHOWN), "%zu more dumps are not used",
                   count - SHOWN);
}

/* Dumps that are read as what they may not be, and what that changes. */
static void add_unknown(struct writing *writing)
{
    const struct flight *flight = writing->hang->flight;
    size_t versions = 0, states = 0;
    FOR_EACH(dump, &flight->dumps) {
        const char *version = flight_text(flight, dump->version);
        if (!dump->is_known_version && versions++ < SHOWN)
            result_add_notice(
                writing->result, lack_word(LACK_UNKNOWN_VERSION), 1, dump->path, TPA_NOWHERE,
                "this dump is of version '%s', which is not known: it is read as 2.10, and its rank is "
                "a suspect at most",
                version);
        if (dump->unknown_states && states++ < SHOWN)
            result_add_notice(
                writing->result, lack_word(LACK_UNKNOWN_STATE), (int64_t)dump->unknown_states, dump->path,
                TPA_NOWHERE,
                "%zu operation%s in a state that is not known, '%s': whether %s over is not known, and "
                "its rank counts as waiting only in its newest one",
                dump->unknown_states, dump->unknown_states == 1 ? " is" : "s are",
                flight_text(flight, dump->unknown_state), dump->unknown_states == 1 ? "it is" : "they are");
    }
    for (size_t j = 0; j < writing->hang->jobs.count; j++) {
        const struct hang_job *job = writing->hang->jobs.at[j];
        if (job->runs_apart)
            ADD_NOTICE(
                writing->result, lack_word(LACK_RUNS_DIFFER), 1,
                "%s%sthe operations of these dumps are %s apart: they are of several runs, or the clocks of their "
                "hosts are wrong. Give those of one run",
                job->name, *job->name ? ": " : "", job->runs_apart);
    }
    if (versions > SHOWN)
        ADD_NOTICE(writing->result, lack_word(LACK_UNKNOWN_VERSION), (int64_t)(versions - SHOWN),
                   "%zu more dumps are of a version that is not known", versions - SHOWN);
    if (states > SHOWN)
        ADD_NOTICE(writing->result, lack_word(LACK_UNKNOWN_STATE), (int64_t)(states - SHOWN),
                   "%zu more dumps have operations in a state that is not known", states - SHOWN);
}

static void add_unreadable(struct writing *writing)
{
    const struct flight *flight = writing->hang->flight;
    add_files(writing, "unreadable", flight->unreadable.at, flight->unreadable.count, "cannot be used");
    add_files(writing, "older", flight->older.at, flight->older.count, "is not used");
    add_unknown(writing);
    if (flight->copies) {
        ADD_NOTICE(writing->result, "copies", (int64_t)flight->copies,
                   "%zu file%s of a dump of the same rank, and count%s once", flight->copies,
                   flight->copies == 1 ? " is a copy" : "s are copies", flight->copies == 1 ? "s" : "");
        result_make_minor(writing->result);
    }
    if (flight->passed_over) {
        ADD_NOTICE(writing->result, "no_dumps", (int64_t)flight->passed_over,
                   "%zu other file%s no dump%s, and %s skipped", flight->passed_over,
                   flight->passed_over == 1 ? " is" : "s are", flight->passed_over == 1 ? "" : "s",
                   flight->passed_over == 1 ? "is" : "are");
        result_make_minor(writing->result);
    }
}

static void add_step(struct writing *writing, const struct hang_job *job, struct hang_ranks ranks,
                     const char *before, const char *behind)
{
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "%s%s%s", job->name, *job->name ? ": " : "", before);
    if (ranks.count)
        hang_add_rank_words(&text, ranks, false);
    buffer_puts(&text, behind);
    ADD_NOTICE(writing->result, "next_step", 1, "%s", text.at);
    result_make_answered(writing->result);
}

/* The ranks of all causes of CLASS. */
static struct hang_ranks ranks_of_class(struct hang_job *job, enum hang_class class)
{
    SCOPED uint8_t *marks = mem_zalloc((size_t)job->world + 1, 1);
    for (size_t c = 0; c < job->causes.count; c++)
        for (size_t i = 0; i < job->causes.at[c].ranks.count && job->causes.at[c].class == class; i++)
            marks[job->causes.at[c].ranks.at[i]] = 1;
    return hang_ranks_of(job, marks);
}

/* What to do next, by class: the text before and behind the ranks. */
static void add_next_steps(struct writing *writing, struct hang_job *job)
{
    static const struct {
        const char *before, *behind;
        bool names_ranks;
    } steps[HANG_CLASSES] = {
        /* others: their sentence tells what to change */
        [HANG_NEVER_ENTERED] = { "next: py-spy dump --pid PID, for ",
                                 ", shows which line of Python is running; it is in none of the recorded operations",
                                 true },
        [HANG_DEVICE_STOPPED] = { "next: look for errors of the device on the hosts of ",
                                  ": dmesg | grep -i xid, nvidia-smi -q", true },
        [HANG_NOT_STARTED] = { "next: look at what else runs on the device of ",
                               ", and for its errors: dmesg | grep -i xid, nvidia-smi -q", true },
        [HANG_NO_DUMP] = { "next: read the output of ",
                           ", and look for dmesg | grep -i oom on the hosts: the processes may be dead or stopped",
                           true },
        [HANG_IN_FLIGHT] = { "next: look at the network with NCCL_DEBUG=INFO or ncclras, and at the watchdog's lines in "
                             "the logs",
                             "", false },
        [HANG_FAILED_BEFORE] = { "next: read the watchdog's lines in the log of ", "", true },
        [HANG_RING_TOO_SHORT] = { "next: record with a larger TORCH_FR_BUFFER_SIZE, e.g. 20000", "", false },
    };
    bool told[HANG_CLASSES] = { false };
    for (size_t c = 0; c < job->causes.count; c++) {
        enum hang_class class = job->causes.at[c].class;
        if (told[class] || !steps[class].before)
            continue;
        told[class] = true;
        struct hang_ranks ranks = { NULL, 0 };
        if (steps[class].names_ranks)
            ranks = ranks_of_class(job, class);
        add_step(writing, job, ranks, steps[class].before, steps[class].behind);
    }
    if (job->state == HANG_WAITING)
        add_step(
            writing, job, (struct hang_ranks){ NULL, 0 },
            "in these dumps a long wait looks the same as a hang. Take a second set a minute later: with the same "
            "operations pending it is a hang. The watchdog's lines in the logs tell it, too",
            "");
}

static struct table *open_table(const struct writing *writing, const struct table_shape *shape,
                                const char *title)
{
    struct table *table = table_open(shape->key, title, shape->columns, shape->column_count);
    if (writing->for_people && writing->hang->jobs.count == 1)
        table->columns[0].flags = TABLE_HIDDEN;
    return table;
}

/* Is there a cause among ranks of which none is named? */
static bool has_between(const struct hang *hang)
{
    for (size_t j = 0; j < hang->jobs.count; j++)
        if (ANY(c, hang->jobs.at[j]->causes.count, hang->jobs.at[j]->causes.at[c].between.count))
            return true;
    return false;
}

/* Is there a cause in a group whose description does not tell which it is? */
static bool names_groups(const struct hang *hang)
{
    for (size_t j = 0; j < hang->jobs.count; j++) {
        const struct hang_job *job = hang->jobs.at[j];
        for (size_t c = 0; c < job->causes.count; c++) {
            uint32_t group = job->causes.at[c].group;
            if (group != HANG_NONE && strcmp(hang_group_title(job, group),
                                             flight_text(job->flight, job->groups.at[group].desc)) != 0)
                return true;
        }
    }
    return false;
}

void hang_add_tables(struct hang *hang, bool for_people, struct result *result)
{
    struct writing writing = { .hang = hang, .result = result, .for_people = for_people };
    writing.verdict = open_table(&writing, &hang_tables[0], "Verdict");
    writing.causes = open_table(&writing, &hang_tables[1], "Causes");
    writing.waits = open_table(&writing, &hang_tables[2], "Who waits for whom");
    writing.groups = open_table(&writing, &hang_tables[3], "Groups");
    writing.ranks = open_table(&writing, &hang_tables[4], "Ranks");
    writing.doubts = open_table(&writing, &hang_tables[5], "Doubts");
    writing.causes->none = "Nothing holds the job up that the dumps tell of.";
    writing.waits->none = "No rank waits in an operation.";
    writing.groups->none = "No group was used.";
    writing.doubts->none = "There are no doubts.";
    if (for_people) {
        TABLE_FLAG(writing.verdict, struct verdict_row, verdict, TABLE_OPTIONAL); /* the first line has it */
        TABLE_FLAG(writing.causes, struct cause_row, between, has_between(hang) ? 0 : TABLE_OPTIONAL);
        TABLE_FLAG(writing.causes, struct cause_row, group, names_groups(hang) ? 0 : TABLE_OPTIONAL);
    }
    for (size_t j = 0; j < hang->jobs.count; j++) {
        struct hang_job *job = hang->jobs.at[j];
        add_answer(&writing, job);
        add_verdict(&writing, job);
        add_cause_rows(&writing, job);
        add_waits(&writing, job);
        add_groups(&writing, job);
        add_ranks(&writing, job);
        add_doubts(&writing, job);
    }
    add_unreadable(&writing);
    for (size_t j = 0; j < hang->jobs.count; j++)
        add_next_steps(&writing, hang->jobs.at[j]);
    struct table *tables[] = { writing.verdict, writing.causes, writing.waits,
                               writing.groups,  writing.ranks,  writing.doubts };
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        result_add_table(result, tables[t]);
    buffer_release(&writing.text);
}
