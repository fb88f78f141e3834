/* test_whole.c - ingest/whole.c: a file on disk of which only a few blocks are in memory. */
#define _GNU_SOURCE
#include "tests/unit/unit.h"
#include "ingest/whole.h"

#include <unistd.h>

/* Larger than what stays in memory, and no whole number of blocks. */
enum { SIZE = (20 << 20) + 12345 };

static const struct ingest_options options;

/* What the file holds at OFFSET; what is near in it differs, and what is a block or a page away, too. */
static uint8_t byte_at(size_t offset)
{
    return (uint8_t)(offset * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

struct file {
    char path[64];
    struct source *source;
    struct whole whole;
};

static void open_file(struct file *file)
{
    uint8_t *bytes = scratch_heap(malloc(SIZE));
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = byte_at(i);
    *file = (struct file){ .path = "/tmp/test_whole.XXXXXX" };
    int fd = mkstemp(file->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, SIZE), SIZE);
    close(fd);
    file->source = source_open(file->path, NULL, NULL);
    assert_non_null(file->source);
    assert_true(whole_open(&file->whole, file->source, &options, NULL));
    assert_int_equal(file->whole.size, SIZE);
}

static void close_file(struct file *file)
{
    whole_free(&file->whole);
    source_free(file->source);
    unlink(file->path);
}

static bool is_there(struct file *file, size_t offset, size_t len)
{
    const uint8_t *at = file->whole.at + offset;
    for (size_t i = 0; i < len; i++)
        if (at[i] != byte_at(offset + i))
            return false;
    return true;
}

TEST(bytes_are_there_once_they_are_needed)
{
    struct file file;
    open_file(&file);
    size_t offset = 0;
    for (int i = 0; i < 200; i++) { /* forth and back */
        size_t len = 1 + offset % 5000;
        len = len < SIZE - offset ? len : SIZE - offset;
        whole_need(&file.whole, file.whole.at + offset, len);
        assert_true(is_there(&file, offset, len));
        offset = (offset + 7654321) % SIZE;
    }
    whole_need(&file.whole, file.whole.at + 1, SIZE - 1); /* more than stays there */
    assert_true(is_there(&file, 1, SIZE - 1));
    close_file(&file);
}

TEST(what_is_kept_stays_while_others_come_and_go)
{
    struct file file;
    open_file(&file);
    const size_t kept[] = { 100, (8 << 20) - 50, SIZE - 100 }; /* the second lies in two blocks */
    for (size_t i = 0; i < 3; i++)
        whole_keep(&file.whole, file.whole.at + kept[i], 100);
    for (size_t offset = 0; offset < SIZE; offset += 1 << 20)
        whole_need(&file.whole, file.whole.at + offset, 1);
    for (size_t i = 0; i < 3; i++)
        assert_true(is_there(&file, kept[i], 100));
    whole_let_go(&file.whole);
    for (size_t offset = 0; offset < SIZE; offset += 1 << 20) {
        whole_need(&file.whole, file.whole.at + offset, 1);
        assert_true(is_there(&file, offset, 1));
    }
    close_file(&file);
}

/* What is gone reads as 0, and a notice tells it. */
TEST(a_file_that_shrinks_meanwhile_is_reported)
{
    struct file file;
    open_file(&file);
    whole_need(&file.whole, file.whole.at, 10);
    assert_int_equal(truncate(file.path, 15 << 20), 0);
    whole_need(&file.whole, file.whole.at + SIZE - 10, 10);
    assert_int_equal(file.whole.at[SIZE - 1], 0);
    struct trace_builder *builder = trace_builder_open(&(struct trace_wants){ 0 });
    trace_builder_file(builder, file.path, "test");
    assert_true(whole_close(&file.whole, builder, NULL));
    struct trace *trace = trace_builder_finish(builder);
    assert_int_equal(trace->notice_count, 1);
    char said[100];
    snprintf(said, sizeof said, "shrank while it was read: expected %d bytes, found %d;", SIZE, 15 << 20);
    assert_non_null(strstr(trace->notices[0].text, said));
    trace_free(trace);
    close_file(&file);
}
