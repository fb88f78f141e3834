/*
 * Records into a .tpa file: what reaches the sink, and what happens when it fails. That the bytes mean what was
 * put in is test_tpafile.c.
 */
#include "tests/unit/unit.h"
#include "trace/tpafile_write.h"

struct file {
    unsigned char bytes[1 << 20];
    size_t count, writes;
    size_t full_at; /* the disk is full beyond this; 0: never */
};

static bool take(void *context, const void *bytes, size_t size)
{
    struct file *file = context;
    if (file->full_at && file->count + size > file->full_at)
        return false;
    assert_true(file->count + size <= sizeof file->bytes);
    memcpy(file->bytes + file->count, bytes, size);
    file->count += size;
    file->writes++;
    return true;
}

static struct file *new_file(void)
{
    struct file *file = calloc(1, sizeof *file);
    assert_non_null(file);
    return file;
}

static struct tpafile_writer *open_writer(struct file *file)
{
    return tpafile_writer_open(&(struct tpafile_writer_options){
        .sink = take, .context = file, .rows = 16, .wall_ns = 5, .pid = 7 });
}

static void add_call(struct tpafile_writer *writer, int64_t start)
{
    int64_t call[TPAFILE_API_FIELDS_END] = { [TPAFILE_API_START] = start, [TPAFILE_API_DURATION] = 3 };
    assert_true(tpafile_writer_add(writer, TPAFILE_API, call));
}

TEST(header_comes_first)
{
    struct file *file = scratch_heap(new_file());
    struct tpafile_writer *writer = open_writer(file);
    assert_int_equal(file->count, TPAFILE_HEADER_SIZE);
    assert_memory_equal(file->bytes, "\x89TPA\r\n\x1a\n\x01\0\x01\0\x40\0\0\0\x05\0\0\0\0\0\0\0", 24);
    tpafile_writer_free(writer);
}

TEST(a_block_is_one_write_and_appears_when_full_or_flushed)
{
    struct file *file = scratch_heap(new_file());
    struct tpafile_writer *writer = open_writer(file);
    for (int i = 0; i < 15; i++)
        add_call(writer, i);
    assert_int_equal(file->writes, 1);
    add_call(writer, 15); /* the 16th */
    assert_int_equal(file->writes, 2);
    add_call(writer, 16);
    assert_true(tpafile_writer_flush(writer));
    assert_int_equal(file->writes, 3);
    assert_true(tpafile_writer_flush(writer)); /* nothing new */
    assert_int_equal(file->writes, 3);
    assert_int_equal(tpafile_writer_written(writer)->records, 17);
    assert_true(tpafile_writer_close(writer, 20, 0));
    assert_int_equal(tpafile_writer_written(writer)->blocks, 3);
    assert_int_equal(tpafile_writer_written(writer)->bytes, file->count);
    tpafile_writer_free(writer);
}

TEST(texts_are_numbered_once_and_written_before_their_records)
{
    struct file *file = scratch_heap(new_file());
    struct tpafile_writer *writer = open_writer(file);
    assert_int_equal(tpafile_writer_text(writer, "a", 1), 1);
    assert_int_equal(tpafile_writer_text(writer, "b", 1), 2);
    assert_int_equal(tpafile_writer_text(writer, "a", 1), 1);
    assert_int_equal(tpafile_writer_text(writer, "", 0), 3);
    assert_int_equal(tpafile_writer_new_text(writer, "a", 1), 4);
    add_call(writer, 1);
    assert_true(tpafile_writer_flush(writer));
    assert_int_equal(file->bytes[TPAFILE_HEADER_SIZE + 4], TPAFILE_STRINGS);
    assert_int_equal(tpafile_writer_written(writer)->texts, 4);
    tpafile_writer_free(writer);
}

/* However many texts there are, the table of them stays small; numbers go on. */
TEST(texts_without_end_need_no_memory_without_end)
{
    static char text[32];
    struct file *file = scratch_heap(calloc(1, sizeof *file + ((size_t)16 << 20)));
    assert_non_null(file);
    struct tpafile_writer *writer = open_writer(file);
    for (int i = 0; i < 200000; i++) {
        int len = snprintf(text, sizeof text, "%d", i);
        assert_int_equal(tpafile_writer_text(writer, text, (size_t)len), i + 1);
        if (i % 10000 == 0)
            file->count = 0; /* only what stays in memory is looked at */
    }
    tpafile_writer_free(writer);
}

static void check_message(const char *text, int64_t number, int64_t number_2, const char *template,
                          const char *tail)
{
    struct file *file = scratch_heap(new_file());
    struct tpafile_writer *writer = open_writer(file);
    struct tpafile_message message = tpafile_writer_message(writer, text, strlen(text));
    assert_int_equal(message.number, number);
    assert_int_equal(message.number_2, number_2);
    /* The same text has the same number. */
    assert_int_equal(message.name, 1);
    assert_int_equal(tpafile_writer_text(writer, template, strlen(template)), message.name);
    assert_int_equal(message.tail, tail ? tpafile_writer_text(writer, tail, strlen(tail)) : 0);
    tpafile_writer_free(writer);
}

TEST(messages_that_count_share_a_text)
{
    check_message("aten::mm", TPAFILE_NONE, TPAFILE_NONE, "aten::mm", NULL);
    check_message("aten::mm, seq = 12", 12, TPAFILE_NONE, "aten::mm, seq = \1", NULL);
    check_message("aten::mm, seq = 12, sizes = [[8, 3]]", 12, TPAFILE_NONE,
                  "aten::mm, seq = \1, sizes = [[8, 3]]", NULL);
    check_message("mm, seq = 0, op_id = 31, sizes = [], input_op_ids = [(30, 0)]", 0, 31,
                  "mm, seq = \1, op_id = \1, sizes = []", ", input_op_ids = [(30, 0)]");
    check_message("mm, op_id = 31", 31, TPAFILE_NONE, "mm, op_id = \1", NULL);
    /* What would not come back as it was is left as it is. */
    check_message("a\1, seq = 12", TPAFILE_NONE, TPAFILE_NONE, "a\1, seq = 12", NULL);
    check_message("mm, seq = 012", TPAFILE_NONE, TPAFILE_NONE, "mm, seq = 012", NULL);
    check_message("mm, seq = ", TPAFILE_NONE, TPAFILE_NONE, "mm, seq = ", NULL);
    check_message("mm, seq = 123456789012345678901", TPAFILE_NONE, TPAFILE_NONE,
                  "mm, seq = 123456789012345678901", NULL);
}

TEST(after_a_failed_write_nothing_more_is_tried)
{
    struct file *file = scratch_heap(new_file());
    file->full_at = TPAFILE_HEADER_SIZE + 10;
    struct tpafile_writer *writer = open_writer(file);
    add_call(writer, 1);
    assert_false(tpafile_writer_flush(writer));
    file->full_at = 0; /* there is room again: still, a file with a hole is not made */
    int64_t call[TPAFILE_API_FIELDS_END] = { 0 };
    assert_false(tpafile_writer_add(writer, TPAFILE_API, call));
    assert_false(tpafile_writer_flush(writer));
    assert_false(tpafile_writer_close(writer, 1, 0));
    assert_int_equal(tpafile_writer_text(writer, "a", 1), 0);
    assert_int_equal(file->count, TPAFILE_HEADER_SIZE);
    tpafile_writer_free(writer);

    file->count = 0;
    file->full_at = 1;
    assert_null(open_writer(file));
}
