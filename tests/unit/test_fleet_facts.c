/* test_fleet_facts.c - figures/facts.h, figures/facts_file.h: facts merge in any order to the same bytes, and damage
 * is found. */

#include "tests/unit/scratch.h"
#include "figures/sketch.h"
#include "tests/unit/facts_bytes.h"

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 8;
}

/* A recording of RANK with some steps and names, which differ from rank to rank. */
static struct facts *make_rank(int64_t rank)
{
    struct facts *facts = facts_open();
    char file[64];
    snprintf(file, sizeof file, "rank%d.json", (int)rank);
    struct facts_recording recording = { .rank = rank,
                                         .world_size = 8,
                                         .job = NAME_NONE,
                                         .file = facts_text(facts, file),
                                         .host = facts_text(facts, rank % 2 ? "odd" : "even"),
                                         .producer = NAME_NONE,
                                         .device = NAME_NONE,
                                         .version = NAME_NONE };
    facts_add(facts, FACTS_RECORDINGS, &recording);
    for (int64_t step = 0; step < 3 + rank % 2; step++)
        facts_add(
            facts, FACTS_STEPS,
            &(struct facts_step){ .device = FACTS_MISSING, .number = step, .duration_ns = 1000 + rank });
    for (int name = 0; name < 5; name++) {
        struct sketch sketch = { 0 };
        SCRATCH_BUFFER(text);
        for (int i = 0; i < 3; i++)
            sketch_add(&sketch, 100 * name + rank);
        sketch_encode(&sketch, &text);
        snprintf(file, sizeof file, "kernel %d", (name * 7 + (int)rank) % 11);
        facts_add(facts, FACTS_NAMES,
                  &(struct facts_name){
                      .kind = facts_text(facts, "kernel"),
                      .name = facts_text(facts, file),
                      .count = 3,
                      .sketch = { arena_strndup(&facts->arena, text.at, text.count), text.count } });
        sketch_release(&sketch);
    }
    facts_seal(facts);
    return facts;
}

/* A list of 100 ranks is cut, and still differs from another that begins alike; a short one stays as it is. */
TEST(a_long_list_of_ranks_is_cut)
{
    struct facts *facts = scratch(facts_open());
    SCRATCH_BUFFER(list);
    for (int rank = 0; rank < 100; rank++)
        buffer_printf(&list, "%s%d", rank ? ", " : "[", rank);
    size_t len = list.count;
    buffer_puts(&list, "]");
    name_id hundred = facts_list(facts, list.at);
    assert_memory_equal(names_text(facts->texts, hundred), "[0, 1, 2, ", strlen("[0, 1, 2, "));
    assert_in_range(names_length(facts->texts, hundred), 100, 200);
    assert_int_equal(facts_list(facts, list.at), hundred);
    list.count = len;
    buffer_puts(&list, ", 100]");
    assert_int_not_equal(facts_list(facts, list.at), hundred);
    assert_string_equal(names_text(facts->texts, facts_list(facts, "[0, 1]")), "[0, 1]");
    assert_int_equal(facts_list(facts, NULL), NAME_NONE);
    buffer_clear(&list);
    buffer_pad(&list, 'x', 1000); /* no list at all */
    assert_in_range(names_length(facts->texts, facts_list(facts, list.at)), 1, 200);
}

static void write_bytes(struct facts *facts, struct buffer *bytes)
{
    facts_finish(facts);
    buffer_clear(bytes);
    facts_write(facts, bytes);
}

static bool read_bytes(struct facts *facts, const char *bytes, size_t len, struct tpa_error *err)
{
    struct source *source = source_open_memory(bytes, len, "facts", err);
    bool good = source && facts_read(facts, source, err);
    source_free(source);
    return good;
}

TEST(any_tree_gives_the_same_bytes)
{
    enum { RANKS = 9 };
    SCOPED struct buffer wanted = { 0 }, bytes = { 0 };
    unsigned seed = 3;
    for (int tree = 0; tree < 50; tree++) {
        struct facts *parts[RANKS];
        for (int i = 0; i < RANKS; i++)
            parts[i] = make_rank(i);
        for (int left = RANKS; left > 1; left--) {
            int into = (int)(next_random(&seed) % (unsigned)left), from = (into + 1) % left;
            if (next_random(&seed) % 2) { /* by way of a file */
                write_bytes(parts[from], &bytes);
                assert_true(read_bytes(parts[into], bytes.at, bytes.count, &(struct tpa_error){ 0 }));
            } else {
                facts_merge(parts[into], parts[from]);
            }
            arena_free(parts[from]);
            parts[from] = parts[left - 1];
        }
        SCOPED_OBJECT struct facts *again = make_rank(tree % RANKS); /* what comes twice counts once */
        facts_merge(parts[0], again);
        assert_int_equal(parts[0]->repeats, 1);
        write_bytes(parts[0], tree ? &bytes : &wanted);
        if (tree) {
            assert_int_equal(bytes.count, wanted.count);
            assert_memory_equal(bytes.at, wanted.at, wanted.count);
        }
        arena_free(parts[0]);
    }
}

/* Every cut leaves an error and no rows; the whole is read. */
TEST(a_cut_file_is_refused_wherever_it_is_cut)
{
    struct facts *facts = scratch(make_rank(1));
    SCRATCH_BUFFER(bytes);
    write_bytes(facts, &bytes);
    for (size_t len = 0; len <= bytes.count; len++) {
        struct facts *read = scratch(facts_open());
        struct tpa_error err = { 0 };
        SCOPED char *copy = malloc(len ? len : 1); /* so that reading too far is found */
        memcpy(copy, bytes.at, len);
        assert_true(read_bytes(read, copy, len, &err) == (len == bytes.count));
        assert_true(err.failed == (len < bytes.count));
        assert_int_equal(read->tables[FACTS_RECORDINGS].count, len == bytes.count);
    }
}

/* Whatever is changed, with the checksum made right again or not: an error or facts, and never a fault. What is not made right
 * gives an error, or what was written. */
TEST(damage_does_no_harm)
{
    struct facts *facts = scratch(make_rank(1));
    SCOPED struct buffer bytes = { 0 }, again = { 0 };
    unsigned seed = 11;
    write_bytes(facts, &bytes);
    for (int round = 0; round < 20000; round++) {
        struct facts *read = scratch(facts_open());
        struct tpa_error err = { 0 };
        char *copy = scratch_heap(malloc(bytes.count));
        memcpy(copy, bytes.at, bytes.count);
        for (unsigned changes = 1 + next_random(&seed) % 3; changes > 0; changes--) {
            static const unsigned char odd[] = { 0, 1, 0x7f, 0x80, 0xff };
            size_t at = next_random(&seed) % bytes.count;
            copy[at] = (char)(next_random(&seed) % 2 ? odd[next_random(&seed) % 5] : next_random(&seed));
        }
        bool seen = round % 2;
        if (!seen)
            facts_fix_checks(copy, bytes.count);
        assert_true(read_bytes(read, copy, bytes.count, &err) == !err.failed);
        facts_finish(read);
        if (seen && !err.failed) {
            facts_write(read, &again);
            assert_int_equal(again.count, bytes.count);
            assert_memory_equal(again.at, bytes.at, bytes.count);
            buffer_clear(&again);
        }
    }
}

static void check_columns(const struct arrow_reader *reader, const struct facts_schema *schema)
{
    struct text key = arrow_fact(reader, "tpa.table"), version = arrow_fact(reader, "tpa.facts");
    assert_int_equal(key.len, strlen(schema->key));
    assert_memory_equal(key.at, schema->key, key.len);
    assert_int_equal(strtol(version.at, NULL, 10), FACTS_VERSION);
    assert_int_equal(reader->fields.count, schema->column_count);
    for (size_t c = 0; c < schema->column_count; c++) {
        const struct arrow_read_field *field = &reader->fields.at[c];
        assert_int_equal(field->name.len, strlen(schema->columns[c].key));
        assert_memory_equal(field->name.at, schema->columns[c].key, field->name.len);
        assert_int_equal(field->type == ARROW_READ_INT64, schema->columns[c].type == FACTS_INT64);
    }
}

/* The tables and columns of a version stay as they are in its file. Who changes one raises FACTS_VERSION, leaves the files of older versions
 * alone, which golden/facts/version* must go on to read, and puts samples/fleet/versionN.facts.gz of the new one beside them. */
TEST(a_version_keeps_its_columns)
{
    char path[64];
    snprintf(path, sizeof path, "samples/fleet/version%d.facts.gz", FACTS_VERSION);
    struct tpa_error err = { 0 };
    struct source *source = source_open(path, &(struct source_limits){ .max_ratio = 0 }, &err);
    assert_non_null(source);
    struct arrow_reader reader;
    arrow_reader_init(&reader, source);
    size_t tables = 0;
    for (; arrow_read_schema(&reader, &err); tables++) {
        struct arrow_batch batch = { 0 };
        if (tables < FACTS_TABLES)
            check_columns(&reader, &facts_tables[tables]);
        else
            assert_memory_equal(arrow_fact(&reader, "tpa.table").at, "check", 5);
        while (arrow_read_batch(&reader, &batch, &err))
            ;
        VEC_FREE(&batch.columns);
    }
    assert_false(err.failed);
    assert_int_equal(tables, FACTS_TABLES + 1);
    arrow_reader_release(&reader);
    source_free(source);
}
