/*
 * fuzz_facts.c - facts of ranks (figures/facts_file.h): well-formed ones whose fields may hold anything, some of them damaged.
 *
 * The last byte chooses the question, the one before it the format; the first how many bytes of the file are changed, three
 * bytes for each: where, and to what. The rest chooses the facts. What can be read is written and read again: the same bytes
 * must come out.
 */
#include "fleet/parts.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/make_tpa.h"
#include "tests/fuzz/program.h"
#include "tests/unit/facts_bytes.h"

static const char *const command_lines[] = {
    "fleet t",
    "fleet --columns all --limit 0 t u",
    "diff t u",
    "diff --by kernel --columns all u t",
    "diff --gate step_time=5% --unsure fail t u",
    "facts t u",
    "top t",
};

static const char *const output_formats[] = { "", "csv", "json", "md", "arrow", "html", "svg", "junit" };

enum {
    FORMATS = sizeof output_formats / sizeof *output_formats,
    COMMAND_LINE_COUNT = sizeof command_lines / sizeof *command_lines
};

/* Take the collectives of FACTS, which are finished, out and add them again. */
static void put_apart(struct facts *facts, struct slicing *slicing)
{
    enum { FILES = 3 };
    char *at[FILES];
    size_t len[FILES];
    struct tpa_error err = { 0 };
    for (size_t i = 0; i < FILES; i++) {
        FILE *file = open_memstream(&at[i], &len[i]);
        if (!file || !slicing_save(slicing, i, file) || fclose(file) != 0)
            abort();
    }
    facts->tables[FACTS_COLLECTIVES].count = 0;
    for (size_t i = 0; i < FILES; i++) {
        struct source *source = source_open_memory(at[i], len[i], "fuzz", &err);
        if (!source || !slice_merge(facts, source, &err))
            abort();
        source_free(source);
        free(at[i]);
    }
    facts_finish(facts);
}

/*
 * Facts that were read are written as bytes that, read again, and their collectives put apart and joined, are written as
 * the same.
 */
static void write_again(const void *bytes, size_t len)
{
    struct buffer written[2] = { 0 };
    struct tpa_error err = { 0 };
    for (int i = 0; i < 2; i++) {
        struct facts *facts = facts_open();
        const char *at = i == 0 ? bytes : written[0].at;
        struct source *source = source_open_memory(at, i == 0 ? len : written[0].count, "fuzz", &err);
        bool good = source && facts_read(facts, source, &err);
        source_free(source);
        if (good) {
            facts_finish(facts);
            SCOPED_OBJECT struct slicing *slicing =
                slicing_open(facts, 3); /* which counts collectives where facts do not tell */
            if (i == 1)
                put_apart(facts, slicing);
            facts_write(facts, &written[i]);
        }
        arena_free(facts);
        if (!good && i == 0)
            return;
        if (!good)
            abort();
    }
    if (written[0].count != written[1].count || memcmp(written[0].at, written[1].at, written[0].count) != 0)
        abort();
    buffer_release(&written[0]);
    buffer_release(&written[1]);
}

/* Change bytes of the file, as many as the first of DATA says; the checksum follows, mostly. */
static void damage(struct buffer *bytes, const uint8_t *data, size_t size)
{
    size_t used = 1, changes = size && data[0] % 4 == 0 ? data[0] / 4 : 0;
    for (; changes > 0 && used + 3 <= size && bytes->count; changes--, used += 3)
        bytes->at[(data[used] << 8 | data[used + 1]) % bytes->count] = (char)data[used + 2];
    if (size && data[0] != 4)
        facts_fix_checks(bytes->at, bytes->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const char *command = command_lines[data[size - 1] % COMMAND_LINE_COUNT];
    const char *format = strchr("fd", *command) && strncmp(command, "facts", 5) != 0
                             ? output_formats[data[size - 2] % FORMATS]
                             : "";
    size -= 2;
    struct buffer bytes[2] = { 0 };
    make_facts(data, size, &bytes[0]);
    damage(&bytes[0], data, size);
    make_facts(data, size / 2, &bytes[1]);
    write_again(bytes[0].at, bytes[0].count);
    struct program_files files = { .paths = {
                                       program_file(0, (const uint8_t *)bytes[0].at, bytes[0].count),
                                       program_file(1, (const uint8_t *)bytes[1].at, bytes[1].count),
                                   } };
    program_run_line(command, format, &files);
    buffer_release(&bytes[0]);
    buffer_release(&bytes[1]);
    return 0;
}
