/*
 * The meaning of several files. Each file is a row of (path, rank, world size, pid, steps, start in us); it has one operator of
 * 10 us per step, and steps of 10 us each.
 */

#include "tests/unit/drawn.h"
#include "derive/file_set.h"
#include <stdio.h>

#define US INT64_C(1000)

struct file {
    const char *path;
    int64_t rank, world_size, pid;
    int first_step, steps; /* 0: an operator and no steps */
    int64_t start_us;
    const char *host, *backend;
};

static void draw(const struct file *file)
{
    draw_file(file->path);
    drawn_file()->rank = file->rank;
    drawn_file()->world_size = file->world_size;
    drawn_file()->host_name = file->host;
    drawn_file()->backend = file->backend;
    for (int i = 0; i < (file->steps ? file->steps : 1); i++) {
        char name[32];
        snprintf(name, sizeof name, file->steps ? "ProfilerStep#%d" : "aten::mm", file->first_step + i);
        draw_event("cpu_op", name, file->pid, 1, (file->start_us + 10 * i) * US, 10 * US);
    }
}

static struct trace *make(const struct file *files, size_t count, enum trace_files_are files_are)
{
    for (size_t i = 0; i < count; i++)
        draw(&files[i]);
    drawn()->files_are = files_are;
    return drawn();
}

#define MAKE(files) make(files, sizeof(files) / sizeof *(files), TRACE_FILES_AS_FOUND)

/* Check the sentence, and by file job, rank, cycle and round as digits, and the number of the rank. Frees TRACE. */
static void expect(struct trace *trace, const char *sentence, const char *places[], const int64_t *numbers)
{
    const struct file_set *set = file_set_of(trace);
    SCRATCH_BUFFER(text);
    file_set_describe(set, &text);
    assert_string_equal(text.at, sentence);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const struct set_file *file = &set->files[f];
        char found[80];
        snprintf(found, sizeof found, "%u%u%u%u", file->job, file->rank, file->cycle, file->round);
        assert_string_equal(found, places[f]);
        assert_int_equal(file->number, numbers[f]);
    }
}

TEST(ranks_and_cycles_by_distributed_info)
{
    struct file files[] = {
        { "c2/b", 1, 2, 8, 7, 3, 1000, "vm" },
        { "c1/a", 0, 2, 7, 2, 3, 0, "vm" },
        { "c1/b", 1, 2, 8, 2, 3, 5, "vm" },
        { "c2/a", 0, 2, 7, 7, 3, 1010, "vm" },
    };
    expect(MAKE(files), "one job of 2 ranks, 2 cycles each; by distributedInfo",
           (const char *[]){ "0011", "0100", "0000", "0111" }, (int64_t[]){ 1, 0, 1, 0 });
}

TEST(other_backends_are_other_jobs)
{
    struct file files[] = { { "a", 0, 2, 7, 2, 3, 0, "vm", "nccl" },
                            { "b", 1, 2, 8, 2, 3, 5, "vm", "gloo" } };
    expect(MAKE(files), "2 separate runs; neither ranks of one job nor cycles of one process",
           (const char *[]){ "0000", "1100" }, (int64_t[]){ 0, 1 });
    files[1].backend = NULL; /* unknown */
    expect(MAKE(files), "one job of 2 ranks; by distributedInfo", (const char *[]){ "0000", "0100" },
           (int64_t[]){ 0, 1 });
}

TEST(a_missing_first_cycle_keeps_the_rounds_apart)
{
    struct file files[] = {
        { "c1/a", 0, 2, 7, 2, 3, 0, "vm" },
        { "c2/a", 0, 2, 7, 7, 3, 1000, "vm" },
        { "c2/b", 1, 2, 8, 7, 3, 1005, "vm" },
    };
    expect(MAKE(files), "one job of 2 ranks, 1 to 2 cycles each; by distributedInfo",
           (const char *[]){ "0000", "0011", "0101" }, (int64_t[]){ 0, 0, 1 });
}

TEST(steps_that_go_on_are_cycles_of_a_process)
{
    struct file files[] = { { "a", -1, 0, 7, 2, 3, 0, NULL }, { "b", -1, 0, 7, 7, 3, 1000, NULL } };
    expect(MAKE(files), "one process of 2 cycles; by process number and steps that go on",
           (const char *[]){ "0000", "0011" }, (int64_t[]){ 0, 0 });
}

TEST(steps_that_begin_again_are_separate_runs)
{
    struct file files[] = { { "a", -1, 0, 7, 2, 3, 0, NULL }, { "b", -1, 0, 7, 2, 3, 1000, NULL } };
    const char *says = "2 separate runs; neither ranks of one job nor cycles of one process";
    expect(MAKE(files), says, (const char *[]){ "0000", "1100" }, (int64_t[]){ 0, 1 });
    files[0].rank = files[1].rank = 0;
    files[0].world_size = files[1].world_size = 2;
    expect(MAKE(files), says, (const char *[]){ "0000", "1100" }, (int64_t[]){ 0, 1 });
}

TEST(unmarked_files_need_the_name_of_a_worker)
{
    struct file files[] = { { "log/vm_7.1700000000000.pt.trace.json", -1, 0, 7, 0, 0, 0, NULL },
                            { "log/vm_7.1700000001000.pt.trace.json.gz", -1, 0, 7, 0, 0, 1000, NULL } };
    expect(MAKE(files), "one process of 2 cycles; by the process in the names of the files",
           (const char *[]){ "0000", "0011" }, (int64_t[]){ 0, 0 });
    files[1].path = "bs64/vm_7.1700000001000.pt.trace.json.gz";
    expect(MAKE(files), "2 separate runs; neither ranks of one job nor cycles of one process",
           (const char *[]){ "0000", "1100" }, (int64_t[]){ 0, 1 });
}

TEST(processes_of_the_same_time_are_ranks)
{
    struct file files[] = { { "b", -1, 0, 7, 2, 3, 0, NULL }, { "a", -1, 0, 7, 2, 3, 10, NULL } };
    expect(MAKE(files), "one job of 2 ranks; by the time at which they ran",
           (const char *[]){ "0000", "0100" }, (int64_t[]){ 0, 1 });
}

TEST(names_of_files_tell_ranks_that_nothing_else_does)
{
    struct file files[] = { { "run/rank3.json", -1, 0, 7, 2, 3, 0, NULL },
                            { "run/rank_1.json", -1, 0, 8, 2, 3, 9000, NULL } };
    expect(MAKE(files), "one job of 2 ranks; by the names of the files", (const char *[]){ "0000", "0100" },
           (int64_t[]){ 3, 1 });
    files[0].path = "run/rank-3/trace.json";
    files[1].path = "run/rank-12/trace.json";
    expect(MAKE(files), "one job of 2 ranks; by the names of the files", (const char *[]){ "0000", "0100" },
           (int64_t[]){ 3, 12 });
}

TEST(jobs_of_the_same_ranks_are_kept_apart)
{
    struct file files[] = {
        { "base/a", 0, 2, 7, 2, 3, 0, "vm" },
        { "base/b", 1, 2, 8, 2, 3, 5, "vm" },
        { "new/a", 0, 2, 17, 2, 3, 7000, "vm" },
        { "new/b", 1, 2, 18, 2, 3, 7005, "vm" },
    };
    expect(MAKE(files), "2 separate runs; neither ranks of one job nor cycles of one process",
           (const char *[]){ "0000", "0100", "1200", "1300" }, (int64_t[]){ 0, 1, 2, 3 });
}

TEST(world_sizes_that_differ_are_separate_runs)
{
    struct file files[] = { { "a", 0, 2, 7, 2, 3, 0, "vm" }, { "b", 1, 4, 8, 2, 3, 5, "vm" } };
    expect(MAKE(files), "2 separate runs; neither ranks of one job nor cycles of one process",
           (const char *[]){ "0000", "1100" }, (int64_t[]){ 0, 1 });
}

TEST(a_file_given_twice_is_no_other_run)
{
    struct file files[] = { { "a", 0, 2, 7, 2, 3, 0, "vm" }, { "a.gz", 0, 2, 7, 2, 3, 0, "vm" } };
    expect(MAKE(files), "one process; by distributedInfo", (const char *[]){ "0000", "0000" },
           (int64_t[]){ 0, 0 });
}

TEST(copies_are_dropped_unless_ranks_or_hosts_differ)
{
    struct file files[] = {
        { "a", 0, 2, 7, 2, 3, 0, "vm" },           { "a.gz", 0, 2, 7, 2, 3, 0, "vm" },
        { "b", 1, 2, 7, 2, 3, 0, "vm" },           { "unknown", -1, 0, 7, 2, 3, 0, NULL },
        { "other host", 0, 2, 7, 2, 3, 0, "vm2" }, { "later", 0, 2, 7, 2, 3, 1, "vm" },
    };
    const char *const kept[] = { "a", "b", "other host", "later" };
    struct trace *trace = MAKE(files);
    file_set_settle(trace);
    assert_int_equal(trace->file_count, 4);
    for (size_t f = 0; f < 4; f++)
        assert_string_equal(trace->files[f].path, kept[f]);
    assert_int_equal(trace->notice_count, 1);
    assert_string_equal(trace->notices[0].kind, FILE_SET_COPIES);
    assert_int_equal(trace->notices[0].count, 2);
    assert_int_equal(trace_lacks(trace), 0);
    trace = make(files, 2, TRACE_FILES_ARE_APART);
    file_set_settle(trace);
    assert_int_equal(trace->file_count, 2);
}

/* What rank 1 lacks where it has STEPS from FIRST on, and ranks 0 and 2 have 8 from 0 on. */
static unsigned lacks_of(int first, int steps)
{
    struct file files[] = { { "a", 0, 3, 7, 0, 8, 0, "vm" },
                            { "b", 1, 3, 8, first, steps, 5, "vm" },
                            { "c", 2, 3, 9, 0, 8, 7, "vm" } };
    struct trace *trace = MAKE(files);
    file_set_settle(trace);
    assert_int_equal(trace->files[0].lacks | trace->files[2].lacks, 0);
    unsigned lacks = trace->files[1].lacks;
    return lacks;
}

TEST(a_rank_without_the_steps_of_the_others_lacks_records)
{
    assert_int_equal(lacks_of(0, 8), 0);
    assert_int_equal(lacks_of(1, 7), 0); /* profilers begin and stop apart */
    assert_int_equal(lacks_of(0, 7), 0);
    assert_int_equal(lacks_of(1, 9), 0);
    assert_int_equal(lacks_of(2, 6), LACKS_RECORDS);
    assert_int_equal(lacks_of(0, 6), LACKS_RECORDS);
    assert_int_equal(lacks_of(20, 8), LACKS_RECORDS);
}

TEST(the_user_overrules_it)
{
    struct file files[] = { { "a", -1, 0, 7, 2, 3, 0, NULL }, { "b", -1, 0, 9, 2, 3, 1000, NULL } };
    expect(make(files, 2, TRACE_FILES_ARE_JOB), "one job of 2 ranks; by --as",
           (const char *[]){ "0000", "0100" }, (int64_t[]){ 0, 1 });
    files[1].start_us = 10;
    expect(make(files, 2, TRACE_FILES_ARE_APART), "2 separate runs; by --as",
           (const char *[]){ "0000", "1100" }, (int64_t[]){ 0, 1 });
}
