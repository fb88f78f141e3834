/*
 * test_hang.c - dumps of the Flight Recorder: reading them, and judging jobs small enough to draw.
 *
 * A dump is written as one letter per collective of the world, in order: d done, p pending, f failed, z in a state that no
 * version writes; the numbers count from 1. Verdicts of more are in tests/golden/hang; every class is compared with a second implementation by
 * tests/hang/run.
 */
#include "tests/unit/unit.h"
#include "hang/hang.h"
#include "ingest/flight.h"

struct job {
    struct flight *flight;
    struct flight_reader *reader;
    struct hang *hang;
};

static bool add_bytes(struct job *job, uint32_t rank, const char *folder, const void *bytes, size_t len,
                      struct tpa_error *err)
{
    if (!job->flight) {
        job->flight = flight_open();
        job->reader = flight_reader_open(job->flight);
    }
    struct source *source = source_open_memory(bytes, len, "test", err);
    uint32_t key;
    bool good = flight_reader_add(job->reader, source, &key, err);
    source_free(source);
    if (good) {
        struct flight_dump *dump = &job->flight->dumps.at[job->flight->dumps.count - 1];
        dump->rank = rank;
        dump->path = "";
        dump->folder = folder;
        dump->prefix = "rank_";
    }
    return good;
}

/* Of the dumps that are added next: how far the clock of their host is ahead, and how long after one another operations begin. */
static long long clock_ahead_ns, apart_ns = 1;

/* Of the dumps that are added next: their version and, unless it is 0, the collective that pg_status has as the last. */
static const char *version = "2.10";
static int last_collective;

/* Add the dump of RANK in a job of RANKS with the collectives in LETTERS; the operation SWAPPED, from 1, is another. */
static void add_rank(struct job *job, const char *folder, uint32_t rank, unsigned ranks, const char *letters,
                     size_t swapped)
{
    SCRATCH_BUFFER(text);
    buffer_printf(&text, "{\"version\": \"%s\", ", version);
    if (last_collective)
        buffer_printf(
            &text,
            "\"pg_status\": {\"0\": {\"last_enqueued_collective\": %d, \"last_started_collective\": -1, "
            "\"last_completed_collective\": %d}}, ",
            last_collective, last_collective);
    buffer_puts(&text, "\"comm_lib_version\": \"2.27\", \"pg_config\": {\"0\": {\"name\": \"0\", "
                       "\"desc\": \"default_pg\", \"ranks\": \"[");
    for (unsigned r = 0; r < ranks; r++)
        buffer_printf(&text, r ? ", %u" : "%u", r);
    buffer_puts(&text, "]\"}}, \"entries\": [");
    for (size_t i = 0; letters[i]; i++)
        buffer_printf(
            &text,
            "%s{\"record_id\": %zu, \"pg_id\": 0, \"process_group\": [\"0\", \"default_pg\"], "
            "\"collective_seq_id\": %zu, \"p2p_seq_id\": 0, \"op_id\": %zu, \"profiling_name\": \"nccl:%s\", "
            "\"time_created_ns\": %lld, \"input_sizes\": [[8]], \"output_sizes\": [[8]], "
            "\"input_dtypes\": [\"Float\"], \"output_dtypes\": [\"Float\"], \"state\": \"%s\", \"retired\": %s, "
            "\"timeout_ms\": 1000, \"is_p2p\": false}",
            i ? ", " : "", i, i + 1, i + 1, i + 1 == swapped ? "broadcast" : "all_reduce",
            1000 + clock_ahead_ns + (long long)i * apart_ns,
            letters[i] == 'd'   ? "completed"
            : letters[i] == 'z' ? "zombie"
                                : "scheduled",
            letters[i] == 'p' ? "false" : "true");
    buffer_puts(&text, "]}");
    assert_true(add_bytes(job, rank, folder, text.at, text.count, NULL));
}

static const struct hang_job *judge(struct job *job)
{
    flight_reader_free(job->reader);
    job->reader = NULL;
    job->hang = hang_open(job->flight);
    return job->hang->jobs.at[0];
}

static void end(struct job *job)
{
    flight_reader_free(job->reader);
    arena_free(job->hang);
    flight_free(job->flight);
}

/* A job that is freed where its scope ends. */
#define SCOPED_JOB __attribute__((cleanup(end)))

/* Judge JOB with the dumps of its ranks, "ddp - dd" for three of which the second has none. */
static const struct hang_job *judge_dumps(struct job *job, const char *dumps)
{
    char letters[16];
    unsigned ranks = 1, rank = 0;
    for (const char *at = dumps; *at; at++)
        ranks += *at == ' ';
    for (int used; sscanf(dumps, "%15s%n", letters, &used) == 1; dumps += used, rank++)
        if (letters[0] != '-')
            add_rank(job, "", rank, ranks, letters, 0);
    return judge(job);
}

static void assert_ranks(struct hang_ranks ranks, size_t count, const uint32_t *expected)
{
    assert_int_equal(ranks.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ranks.at[i], expected[i]);
}
#define ASSERT_RANKS(ranks, ...)                                                                             \
    assert_ranks(ranks, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ })

/*
 *  rank 0  d d p     waits in #3
 *  rank 1  d d       is missing in #3
 *  rank 2  d d p
 */
TEST(a_rank_that_stays_out_is_the_culprit)
{
    SCOPED_JOB struct job of = { 0 };
    const struct hang_job *job = judge_dumps(&of, "ddp dd ddp");
    assert_int_equal(job->state, HANG_WAITING);
    assert_int_equal(job->causes.count, 1);
    assert_int_equal(job->causes.at[0].class, HANG_NEVER_ENTERED);
    assert_int_equal(job->causes.at[0].seq, 3);
    ASSERT_RANKS(job->culprits, 1);
    ASSERT_RANKS(job->causes.at[0].direct, 0, 2);
}

/* The same without the dump of rank 1: a suspect only. */
TEST(a_rank_without_dump_is_a_suspect)
{
    SCOPED_JOB struct job of = { 0 };
    const struct hang_job *job = judge_dumps(&of, "ddp - ddp");
    assert_int_equal(job->culprits.count, 0);
    ASSERT_RANKS(job->suspects, 1);
    assert_true(job->has_doubt[DOUBT_NO_DUMP]);
    assert_int_equal(job->causes.at[0].class, HANG_NO_DUMP);
}

/* Rank 2 has done #4, which needs all: the dump of rank 1, which ends at #2, is older, and nothing is said against it. */
TEST(a_dump_that_is_older_than_others_is_no_culprit)
{
    SCOPED_JOB struct job of = { 0 };
    const struct hang_job *job = judge_dumps(&of, "ddddp dd ddddp");
    assert_int_equal(job->state, HANG_MOVING);
    assert_null(hang_picture(of.hang)); /* nobody waits for anybody */
    assert_int_equal(job->culprits.count + job->suspects.count + job->causes.count, 0);
    assert_int_equal(job->doubts[DOUBT_SNAPSHOTS_DIFFER][1], 1);
}

/* #3 is a broadcast on rank 2 alone, of four; of two ranks that differ nobody is named. */
TEST(a_majority_names_who_issued_another_operation)
{
    SCOPED_JOB struct job of = { 0 }, tie = { 0 };
    for (uint32_t r = 0; r < 4; r++)
        add_rank(&of, "", r, 4, "ddp", r == 2 ? 3 : 0);
    for (uint32_t r = 0; r < 2; r++)
        add_rank(&tie, "", r, 2, "ddp", r == 1 ? 3 : 0);
    const struct hang_job *job = judge(&of), *tied = judge(&tie);
    assert_int_equal(job->state, HANG_STUCK);
    assert_int_equal(job->proof, PROOF_MISMATCH);
    assert_int_equal(job->causes.at[0].class, HANG_MISMATCH_OP);
    ASSERT_RANKS(job->culprits, 2);
    assert_int_equal(tied->culprits.count, 0);
    ASSERT_RANKS(tied->causes.at[0].between, 0, 1);
}

/* Rank 1 has #2 and #3 pending, which rank 0 has done: lag 2. With one it is only late. */
TEST(a_device_that_does_not_see_what_others_have_done_stopped)
{
    SCOPED_JOB struct job of = { 0 }, late = { 0 };
    const struct hang_job *job = judge_dumps(&of, "dddp dppp"), *other = judge_dumps(&late, "ddp dpp");
    assert_int_equal(job->causes.at[0].class, HANG_DEVICE_STOPPED);
    assert_int_equal(job->causes.at[0].lag, 2);
    ASSERT_RANKS(job->culprits, 1);
    assert_int_equal(other->culprits.count, 0);
}

/* The watchdog gave up #3 on ranks 0 and 1. */
TEST(an_operation_that_failed_proves_a_hang)
{
    SCOPED_JOB struct job of = { 0 };
    const struct hang_job *job = judge_dumps(&of, "ddf ddf dd");
    assert_int_equal(job->state, HANG_STUCK);
    assert_int_equal(job->proof, PROOF_TIMED_OUT);
    ASSERT_RANKS(job->culprits, 2);
}

/* The major number says what the keys mean; the minor one only that there are more. */
TEST(a_dump_of_an_unknown_version_makes_a_suspect_at_most)
{
    static const char *const versions[] = { "2.10", "2.11", "99.9", "1.4", "" };
    for (size_t i = 0; i < 5; i++) {
        SCOPED_JOB struct job of = { 0 };
        add_rank(&of, "", 0, 3, "ddp", 0);
        add_rank(&of, "", 2, 3, "ddp", 0);
        version = versions[i];
        add_rank(&of, "", 1, 3, "dd", 0);
        version = "2.10";
        const struct hang_job *job = judge(&of);
        assert_int_equal(job->has_doubt[DOUBT_VERSION_UNKNOWN], i > 1);
        assert_int_equal(job->culprits.count, i <= 1);
        assert_int_equal(job->suspects.count, i > 1);
        assert_int_equal(hang_is_in_doubt(job, &job->causes.at[0]), i > 1);
        assert_int_equal(strstr(job->verdict, "a version that is not known") != NULL, i > 1);
    }
}

/*
 *  rank 0  d d z     whether #3 is over is not known: it waits only if that is its newest operation
 *  rank 1  d d
 */
TEST(a_state_that_is_not_known_is_no_wait_for_sure)
{
    static const char *const last[] = { "ddz", "ddzp", "dddz" }; /* of rank 0 */
    for (size_t i = 0; i < 3; i++) {
        SCOPED_JOB struct job of = { 0 };
        add_rank(&of, "", 0, 2, last[i], 0);
        add_rank(&of, "", 1, 2, i == 2 ? "ddd" : "dd", 0);
        const struct hang_job *job = judge(&of);
        ASSERT_RANKS(hang_ranks_of(of.hang->jobs.at[0], job->doubts[DOUBT_STATE_UNKNOWN]), 0);
        assert_false(job->has_doubt[DOUBT_COMPLETION_NOT_RECORDED]);
        assert_int_equal(job->proof, 0); /* a state that is unknown proves no failure */
        assert_int_equal(job->waits.count, 1);
        assert_int_equal(job->waits.at[0].kind, i == 1 ? WAIT_PENDING : WAIT_ISSUED);
    }
}

/*
 *  rank 0  d d p     waits in #3
 *  rank 1            pg_status has #2, and others hold operations that are over: where it is, is not known
 *  rank 2  d d p
 */
TEST(a_dump_without_operations_makes_a_suspect_at_most)
{
    for (int active_only = 0; active_only < 2; active_only++) {
        SCOPED_JOB struct job of = { 0 };
        last_collective = 2;
        add_rank(&of, "", 1, 3, "", 0);
        last_collective = 0;
        add_rank(&of, "", 0, 3, active_only ? "p" : "ddp", 0);
        add_rank(&of, "", 2, 3, active_only ? "p" : "ddp", 0);
        for (size_t e = 0; e < of.flight->entries.count && active_only; e++)
            of.flight->entries.at[e].record = 2, of.flight->entries.at[e].seq = 3;
        const struct hang_job *job = judge(&of);
        assert_int_equal(job->causes.at[0].class, HANG_NEVER_ENTERED);
        assert_int_equal(job->has_doubt[DOUBT_NO_ENTRIES], !active_only);
        if (active_only)
            ASSERT_RANKS(job->culprits, 1);
        else
            ASSERT_RANKS(job->suspects, 1);
    }
}

/*
 *  rank 0  d d d p
 *  rank 1  d d p           stopped in #3 a day before, in a run of which its dump is left
 *  rank 2  d d d p
 *  rank 3  d d d p
 *
 * With a collective in common at the same time it has done nothing since. Of two dumps nothing tells which is of this run.
 */
TEST(a_dump_of_another_run_is_no_dump_of_this)
{
    for (int joined = 0; joined < 2; joined++) {
        SCOPED_JOB struct job of = { 0 };
        clock_ahead_ns = 90000000000000;
        for (unsigned rank = 0; rank < 4; rank++)
            if (rank != 1)
                add_rank(&of, "", rank, 4, "dddp", 0);
        clock_ahead_ns = 0;
        add_rank(&of, "", 1, 4, "ddp", 0);
        if (joined)
            of.flight->entries.at[of.flight->entries.count - 3].created_ns = 90000000001000;
        const struct hang_job *job = judge(&of);
        assert_int_equal(job->dumps.count, joined ? 4 : 3);
        assert_int_equal(job->unreadable.count, !joined);
        assert_int_equal(job->culprits.count, 0);
        assert_null(job->runs_apart);
    }
    SCOPED_JOB struct job of = { 0 };
    add_rank(&of, "", 0, 2, "ddp", 0);
    clock_ahead_ns = 90000000000000;
    add_rank(&of, "", 1, 2, "dd", 0);
    clock_ahead_ns = 0;
    const struct hang_job *job = judge(&of);
    assert_string_equal(job->runs_apart, "24 h");
    assert_int_equal(job->dumps.count, 2);
    assert_int_equal(job->culprits.count, 0);
    assert_int_equal(job->proof, 0);
    ASSERT_RANKS(job->suspects, 1);
}

TEST(a_rank_that_appears_twice_makes_a_job_of_each_folder)
{
    SCOPED_JOB struct job of = { 0 };
    add_rank(&of, "a/x", 0, 2, "dd", 0);
    add_rank(&of, "a/x", 1, 2, "d", 0);
    add_rank(&of, "a/y", 0, 2, "d", 0);
    add_rank(&of, "a/y", 1, 2, "d", 0);
    judge(&of);
    assert_int_equal(of.hang->jobs.count, 2);
    assert_string_equal(of.hang->jobs.at[0]->name, "x");
    assert_string_equal(of.hang->jobs.at[1]->name, "y");
}

TEST(a_pickle_that_names_a_class_is_refused)
{
    static const char pickle[] = "\x80\x02}X\x07\x00\x00\x00"
                                 "entriescposix\nsystem\ns.";
    SCOPED_JOB struct job of = { 0 };
    struct tpa_error err = { 0 };
    assert_false(add_bytes(&of, 0, "", pickle, sizeof pickle - 1, &err));
    assert_non_null(
        strstr(err.message, "asks to run code (GLOBAL posix.system), which a dump of the Flight Recorder"));
    assert_int_equal(of.flight->dumps.count, 0);
}

/* An entry without its number cannot be left out: the rank would pass for one that never entered. */
TEST(an_entry_without_a_number_makes_the_dump_unreadable)
{
    static const char text[] =
        "{\"entries\": [{\"record_id\": 0, \"process_group\": [\"0\", \"\"], \"profiling_name\": "
        "\"nccl:barrier\", \"state\": \"scheduled\", \"retired\": false}]}";
    SCOPED_JOB struct job of = { 0 };
    struct tpa_error err = { 0 };
    assert_false(add_bytes(&of, 0, "", text, sizeof text - 1, &err));
    assert_non_null(strstr(err.message, "no valid 'collective_seq_id'"));
}

/* A text of 12 bytes that begins with a key and a NUL is no key. */
TEST(a_text_that_continues_after_a_nul_is_no_key)
{
    static const char pickle[] = "\x80\x02}X\x0c\x00\x00\x00"
                                 "entries\0more]s.";
    SCOPED_JOB struct job of = { 0 };
    struct tpa_error err = { 0 };
    assert_false(add_bytes(&of, 0, "", pickle, sizeof pickle - 1, &err));
    assert_non_null(strstr(err.message, "this is no dump"));
}

TEST(names_of_operations_are_taken_apart)
{
    static const struct {
        const char *name, *text;
        enum flight_writer writer;
        enum flight_kind kind;
        bool needs_all, p2p;
        uint32_t peer;
    } cases[] = {
        { "nccl:_reduce_scatter_base", "_reduce_scatter_base", FLIGHT_DEVICE, FLIGHT_REDUCE_SCATTER, true,
          false, FLIGHT_NO_RANK },
        { "gloo:gather", "gather", FLIGHT_GLOO, FLIGHT_GATHER, false, false, FLIGHT_NO_RANK },
        { "mine:allreduce_coalesced", "allreduce_coalesced", FLIGHT_HOOK, FLIGHT_ALL_REDUCE, true, false,
          FLIGHT_NO_RANK },
        { "nccl:send 0->3", "send 0->3", FLIGHT_DEVICE, FLIGHT_OTHER, false, true, 3 },
        { "nccl:recv 12<-7", "recv 12<-7", FLIGHT_DEVICE, FLIGHT_OTHER, false, true, 7 },
        { "nccl:recv 3<-?", "recv 3<-?", FLIGHT_DEVICE, FLIGHT_OTHER, false, true, FLIGHT_NO_RANK },
        { "nccl:send", "send", FLIGHT_DEVICE, FLIGHT_OTHER, false, true, FLIGHT_NO_RANK },
    };
    struct flight *flight = flight_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t id = flight_op_of(flight, cases[i].name, strlen(cases[i].name));
        const struct flight_op *op = &flight->ops.at[id];
        assert_string_equal(flight_text(flight, op->text), cases[i].text);
        assert_int_equal(op->writer, cases[i].writer);
        assert_int_equal(op->kind, cases[i].kind);
        assert_int_equal(op->needs_all, cases[i].needs_all);
        assert_int_equal(op->p2p, cases[i].p2p);
        assert_int_equal(op->peer, cases[i].peer);
    }
    flight_free(flight);
}

/*
 *  rank 0  d d d p     waits in #4 for less than its time-out of a second, or for two, as rank 1 has begun #5 then
 *  rank 1  d d d p (p)
 *  rank 2  d d d       its host's clock is right, or an hour ahead or behind
 */
TEST(a_clock_that_is_wrong_proves_no_timeout)
{
    static const long long clocks[] = { 0, 3600000000000, -3600000000000 };
    for (size_t i = 0; i < 9; i++) {
        bool over = i / 3 == 1, waits = i / 3 == 2; /* then it is a waiting rank whose clock is wrong */
        SCOPED_JOB struct job of = { 0 };
        apart_ns = over ? 2000000000 : 1;
        clock_ahead_ns = 3600000000001;
        add_rank(&of, "", 0, 3, "dddp", 0);
        clock_ahead_ns += waits ? clocks[i % 3] : 0;
        add_rank(&of, "", 1, 3, over ? "dddpp" : "dddp", 0);
        clock_ahead_ns = 3600000000001 + (waits ? 0 : clocks[i % 3]);
        add_rank(&of, "", 2, 3, "ddd", 0);
        const struct hang_job *job = judge(&of);
        assert_int_equal(job->proof, over ? PROOF_OVER_TIMEOUT : 0);
        assert_int_equal(job->state, over ? HANG_STUCK : HANG_WAITING);
    }
    clock_ahead_ns = 0;
    apart_ns = 1;
}
