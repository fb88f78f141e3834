/*
 * tpalog.c - .tpa files: logs of the capture library, and converted traces.
 *
 * One thread at a time takes the next block from the source, any thread decodes it, one thread at a time joins
 * decoded blocks to the trace in the order of the file. Decoding depends on other blocks only for the arguments of
 * events: the block that defines them is joined before later blocks are taken.
 */
#include "ingest/tpalog/tpalog.h"

#include "base/parallel.h"
#include "base/sum.h"
#include "trace/tpafile_bytes.h"
#include <inttypes.h>
#include <pthread.h>

enum {
    MOST_WORKERS = 64,
    KEPT_TIMES = 3,         /* factor for memory that analyses need in addition */
    FREE_BYTES = 64 << 20,  /* allowed for any file */
    OPEN_BYTES = 256 << 20, /* limit on decoded blocks that are not yet joined, except one */
    HELD_BYTES = 32 << 20,  /* larger buffers are not kept for the next block */
    BYTES_OF_WORKER =
        128 << 10 /* bytes of the file per thread: some 20,000 events; each holds unpacked blocks */
};

/* ---- parts ---- */

void *tpalog_part_room(struct tpalog_part *part, size_t size)
{
    if (part->rooms_used == TPALOG_ROOMS)
        return NULL; /* no valid block has so many columns */
    struct tpalog_room *room = &part->rooms[part->rooms_used++];
    if (room->size < size || !room->at) {
        column_free(room->at, room->size);
        room->size = size;
        room->at = column_resize(NULL, 0, size);
    }
    return room->at;
}

static void release_rooms(struct tpalog_part *part)
{
    for (size_t i = 0; i < TPALOG_ROOMS; i++) {
        column_free(part->rooms[i].at, part->rooms[i].size);
        part->rooms[i] = (struct tpalog_room){ 0 };
    }
}

void tpalog_part_release(struct tpalog_part *part)
{
    release_rooms(part);
    free(part->payload.at);
}

static void keep_payload(struct tpalog_part *part, const unsigned char *payload, size_t size)
{
    if (part->payload.size < size || !part->payload.at) {
        free(part->payload.at);
        part->payload.at = mem_alloc(size);
        part->payload.size = size;
    }
    if (size)
        memcpy(part->payload.at, payload, size);
}

/* ---- decoding ---- */

const char tpalog_misfit[] = "its columns do not fit together";

_Static_assert(TPAFILE_LARGEST == TRACE_LATEST_NS && TPAFILE_LATEST_WALL == TRACE_LATEST_WALL_NS,
               "what JSON may hold, a .tpa file may hold, and the reverse");

/* All bounded numbers of a file are checked here: those out of bounds become unknown. */
static void check_values(struct tpalog_part *part, const struct tpafile_field_info *field, int64_t *values)
{
    const struct tpafile_bounds *bounds = &tpafile_bounds[field->type];
    uint64_t least = (uint64_t)bounds->least, span = (uint64_t)bounds->most - least, odd_values = 0;
    if (span == UINT64_MAX)
        return;
    for (size_t i = 0; i < part->head.rows; i++) {
        bool outside = (uint64_t)values[i] - least > span;
        odd_values +=
            /* files of 1.0 write -1 for an unknown size */
            outside && values[i] != TPAFILE_NONE && values[i] != -1;
        values[i] = outside ? TPAFILE_NONE : values[i];
    }
    if (odd_values && !part->odd_values)
        part->odd_field = field->name;
    part->odd_values += odd_values;
}

static bool decode_rows(struct tpalog_part *part, struct tpafile_decoder *decoder)
{
    unsigned fields = tpafile_kinds[part->head.kind].field_count;
    memset(part->fields, 0, sizeof part->fields);
    for (unsigned field = 0; field < fields; field++) {
        const struct tpafile_column *column = tpafile_find_column(decoder, field);
        if (!column)
            continue;
        if (column->count != part->head.rows)
            return false;
        part->fields[field] = tpalog_part_room(part, part->head.rows * sizeof(int64_t) + 1);
        if (!tpafile_decode_column(decoder, column, part->fields[field]))
            return false;
        check_values(part, &tpafile_kinds[part->head.kind].fields[field], part->fields[field]);
    }
    return true;
}

static bool decode_strings(struct tpalog_part *part, struct tpafile_decoder *decoder)
{
    const struct tpafile_column *first = tpafile_find_column(decoder, TPAFILE_STRINGS_FIRST);
    const struct tpafile_column *lengths = tpafile_find_column(decoder, TPAFILE_STRINGS_LENGTH);
    const struct tpafile_column *bytes = tpafile_find_column(decoder, TPAFILE_STRINGS_BYTES);
    if (!first || first->count != 1 || !tpafile_decode_column(decoder, first, &part->first_text))
        return false;
    if (!lengths || lengths->count != part->head.rows)
        return false;
    part->text_count = lengths->count;
    part->lengths = tpalog_part_room(part, (part->text_count + 1) * sizeof *part->lengths);
    if (!tpafile_decode_column(decoder, lengths, part->lengths))
        return false;
    size_t left = bytes ? bytes->count : 0;
    part->bytes = tpalog_part_room(part, left + 1);
    if (bytes && !tpafile_decode_bytes(decoder, bytes, part->bytes))
        return false;
    for (size_t i = 0; i < part->text_count; i++) {
        if (part->lengths[i] < 0 || (uint64_t)part->lengths[i] > left)
            return false;
        left -= (size_t)part->lengths[i];
    }
    return true;
}

static bool is_known(unsigned kind)
{
    return kind == TPAFILE_STRINGS || kind == TPAFILE_EVENTS ||
           (kind < TPAFILE_KIND_COUNT && tpafile_kinds[kind].id != NULL);
}

/* Memory that the records of PART need for the lifetime of the trace. */
static int64_t kept_bytes(const struct tpalog_part *part)
{
    unsigned kind = part->head.kind;
    int64_t rows = part->head.rows, unpacked = (int64_t)part->unpacked;
    if (kind == TPAFILE_STRINGS)
        return unpacked + rows * 64;
    if (kind == TPAFILE_FILE)
        return rows * (INT64_C(8) * TPAFILE_FILE_FIELDS_END + (int64_t)sizeof(struct trace_file));
    if (kind == TPAFILE_TRACK)
        return rows * (INT64_C(8) * TPAFILE_TRACK_FIELDS_END + 2 * (int64_t)sizeof(struct track));
    return unpacked + rows * 32;
}

static uint64_t count_unpacked(const struct tpalog_part *part, const struct tpafile_decoder *decoder)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < tpafile_column_count(decoder); i++) {
        const struct tpafile_column *column = tpafile_column_at(decoder, i);
        bool is_text = part->head.kind == TPAFILE_STRINGS && column->field == TPAFILE_STRINGS_BYTES;
        if (!(column->form & TPAFILE_DICTIONARY))
            bytes += is_text ? column->count : UINT64_C(8) * column->count;
    }
    return bytes;
}

/* Limit on values of all columns of a block; more is treated as damage. */
enum { MOST_VALUES = 1 << 25 };

/* Find the columns of PART, and compute their memory until the part is joined, and permanently. False if there is
 * nothing to decode. */
static bool open_part(struct tpalog_part *part, struct tpafile_decoder *decoder)
{
    part->wrong = NULL;
    part->is_refused = false;
    part->rooms_used = 0;
    part->odd_values = 0;
    part->unpacked = part->head.size;
    part->room_bytes = part->kept_bytes = 0;
    if (part->is_header || !is_known(part->head.kind))
        return false;
    part->wrong = tpafile_decode_block(decoder, &part->head, part->payload.at);
    if (part->wrong)
        return false;
    part->unpacked = count_unpacked(part, decoder);
    if (part->unpacked > UINT64_C(8) * MOST_VALUES)
        part->wrong = "it holds more numbers than a block may";
    part->room_bytes =
        (int64_t)(part->unpacked + part->unpacked / 2); /* some need half as much again for 4-byte copies */
    part->kept_bytes = kept_bytes(part);
    return !part->wrong;
}

static void decode_part(struct tpalog_part *part, struct tpafile_decoder *decoder,
                        const struct tpalog_arguments *arguments)
{
    if (part->head.kind == TPAFILE_EVENTS) {
        part->wrong = tpalog_decode_events(part, decoder, arguments);
        return;
    }
    bool fine =
        part->head.kind == TPAFILE_STRINGS ? decode_strings(part, decoder) : decode_rows(part, decoder);
    if (!fine)
        part->wrong = tpalog_misfit;
}

/* ---- memory limits ---- */

static uint64_t ratio_of(const struct tpalog_reader *reader)
{
    return reader->options->max_ratio ? reader->options->max_ratio : SOURCE_DEFAULT_MAX_RATIO;
}

/* A small file must not expand to a huge trace: as for packed sources, and with the same limit. Checked
 * before a block is decoded, over all blocks so far. Since all names precede the events, the whole file
 * counts if its size is known. */
static bool may_keep(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    uint64_t limit = ratio_of(reader);
    int64_t read = part->at + TPAFILE_BLOCK_HEAD + (int64_t)part->head.packed;
    int64_t size = source_packed_size(reader->source);
    read = size > read ? size : read;
    sum_add(&reader->kept_bytes, part->kept_bytes);
    int64_t now = reader->kept_bytes < INT64_MAX / KEPT_TIMES ? KEPT_TIMES * reader->kept_bytes : INT64_MAX;
    sum_add(&now, part->room_bytes);
    return limit == UINT64_MAX || now < FREE_BYTES || (uint64_t)now / limit <= (uint64_t)read;
}

/* ---- joining ---- */

static const char *word_of(unsigned kind)
{
    return kind == TPAFILE_STRINGS  ? "text"
           : kind == TPAFILE_EVENTS ? "event"
           : is_known(kind)         ? tpafile_kinds[kind].word
                                    : "not known to this version";
}

static void count_kind(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    const struct tpafile_head *head = &part->head;
    const char *word = word_of(head->kind);
    struct trace_container *container = reader->container;
    struct trace_container_kind *kind = FIND(known, &container->kinds, strcmp(known->word, word) == 0);
    if (!kind) {
        kind = VEC_PUSH(&container->kinds);
        *kind = (struct trace_container_kind){ .word = word };
    }
    kind->blocks++;
    kind->records += head->rows;
    kind->packed += TPAFILE_BLOCK_HEAD + (uint64_t)head->packed;
    kind->unpacked += part->unpacked;
}

static bool join_header(const struct tpalog_part *part, struct tpa_error *err)
{
    const unsigned char *header = part->payload.at;
    unsigned major = get_u16(header + 8);
    if (major > TPAFILE_MAJOR) {
        tpa_fail(err, part->at + 8, "this is version %u of the .tpa format, and this tpa reads version %d",
                 major, TPAFILE_MAJOR);
        tpa_hint(err, "read it with the tpa that wrote it, or a newer one");
        return tpa_unread(err, TPA_LEFT_OUT);
    }
    if (part->at > 0) {
        tpa_fail(err, part->at, "a second .tpa file begins inside this one");
        return tpa_hint(err, "give the files to tpa one by one: it reads several at once");
    }
    return true;
}

/* Earlier versions of tpa also wrote profiles and reports to such files. */
static bool refuse_sums(const struct tpalog_part *part, struct tpa_error *err)
{
    tpa_fail(err, part->at, "this .tpa file holds a profile or a report, which an earlier tpa wrote");
    tpa_hint(err, "give the profiler's own file, which tpa converted to this one: every command reads it");
    return tpa_unread(err, TPA_LEFT_OUT);
}

static void bad_block(struct tpalog_reader *reader, const struct tpalog_part *part, const char *reason)
{
    if (reader->bad_blocks++ == 0) {
        reader->first_bad = part->at;
        reader->bad_number = part->head.number;
        reader->bad_reason = reason;
    }
}

static void record_odd_values(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    if (part->odd_values && reader->odd_values == 0) {
        reader->first_odd = part->at;
        reader->odd_number = part->head.number;
        reader->odd_word = word_of(part->head.kind);
        reader->odd_field = part->odd_field;
    }
    reader->odd_values += part->odd_values;
}

static bool refuse_ratio(const struct tpalog_reader *reader, const struct tpalog_part *part,
                         struct tpa_error *err)
{
    tpa_fail(err, part->at, "what it holds takes more than %" PRIu64 " times the size of the file",
             ratio_of(reader));
    return tpa_hint(err, "if the file is trusted, lift the limit with --max-ratio 0");
}

static bool join_part(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    if (part->is_header)
        return join_header(part, err);
    if (part->is_refused)
        return refuse_ratio(reader, part, err);
    count_kind(reader, part);
    if (part->wrong) {
        bad_block(reader, part, part->wrong);
        return true;
    }
    unsigned kind = part->head.kind;
    if (kind >= TPAFILE_SUMS_FIRST && kind <= TPAFILE_SUMS_LAST)
        return refuse_sums(part, err);
    if (!is_known(kind)) {
        reader->unknown_blocks++;
        return true;
    }
    record_odd_values(reader, part);
    if (kind == TPAFILE_STRINGS) {
        if (!tpalog_texts_add(&reader->texts, part))
            bad_block(reader, part, "its texts are numbered out of order");
        return true;
    }
    if (kind == TPAFILE_EVENTS)
        return tpalog_join_events(reader, part, err);
    if (kind == TPAFILE_END)
        reader->ended = true;
    else if (kind < TPAFILE_FILE)
        return tpalog_join_record(reader, part, err);
    else
        tpalog_join_table(reader, part);
    return true;
}

/* ---- taking turns ---- */

enum stage { FREE, DECODING, DECODED };

struct slot {
    enum stage stage;
    struct tpalog_part part;
};

struct pipeline {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct tpalog_reader *reader;
    struct tpalog_blocks blocks;
    struct slot *ring; /* block number n of the file is in ring[n % ring_size] */
    size_t ring_size;
    uint64_t next_read, next_join;
    bool reading, joining;
    int64_t open_bytes; /* room_bytes of parts that are being decoded, or are decoded */
    uint64_t wait_for;  /* nothing is read until this many are joined */
    bool source_ended, failed;
    struct tpa_error *err;
};

static struct slot *slot_of(const struct pipeline *pipeline, uint64_t number)
{
    return &pipeline->ring[number % pipeline->ring_size];
}

static void fail(struct pipeline *pipeline, const struct tpa_error *err)
{
    if (!pipeline->failed && pipeline->err)
        *pipeline->err = *err;
    pipeline->failed = true;
}

static void join_turn(struct pipeline *pipeline)
{
    struct tpa_error err = { 0 };
    struct slot *slot = slot_of(pipeline, pipeline->next_join);
    pipeline->joining = true;
    pthread_mutex_unlock(&pipeline->lock);
    bool ok = join_part(pipeline->reader, &slot->part, &err);
    const struct ingest_options *options = pipeline->reader->options;
    if (options->progress)
        options->progress(options->progress_context, source_name(pipeline->reader->source),
                          source_packed_read(pipeline->reader->source),
                          source_packed_size(pipeline->reader->source));
    int64_t room_bytes = slot->part.room_bytes;
    if (room_bytes > HELD_BYTES)
        release_rooms(&slot->part);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->open_bytes -= room_bytes;
    if (!ok)
        fail(pipeline, &err);
    slot->stage = FREE;
    pipeline->next_join++;
    pipeline->joining = false;
    pthread_cond_broadcast(&pipeline->changed);
}

/* Read the next block into PART. False at the end or on failure. */
static bool read_block(struct pipeline *pipeline, struct tpalog_part *part, bool *failed,
                       struct tpa_error *err)
{
    struct tpalog_blocks *blocks = &pipeline->blocks;
    enum tpalog_item item = tpalog_blocks_next(blocks, err);
    *failed = item == TPALOG_FAILED;
    if (item == TPALOG_END || item == TPALOG_FAILED)
        return false;
    part->is_header = item == TPALOG_HEADER;
    part->at = blocks->at;
    part->head = blocks->head;
    keep_payload(part, blocks->payload, part->is_header ? TPAFILE_HEADER_SIZE : blocks->head.packed);
    return true;
}

static bool can_join(const struct pipeline *pipeline)
{
    return !pipeline->joining && pipeline->next_join < pipeline->next_read &&
           slot_of(pipeline, pipeline->next_join)->stage == DECODED;
}

/* Wait until there is room for PART, number NUMBER, in addition to the open ones. The next one to be joined does not
 * wait, so there is always progress. Waiting threads join parts decoded by others. */
static void wait_for_room(struct pipeline *pipeline, const struct tpalog_part *part, uint64_t number)
{
    while (!pipeline->failed && number != pipeline->next_join &&
           pipeline->open_bytes + part->room_bytes > OPEN_BYTES) {
        if (can_join(pipeline))
            join_turn(pipeline);
        else
            pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    }
    pipeline->open_bytes += part->room_bytes;
}

static void read_turn(struct pipeline *pipeline, struct tpafile_decoder *decoder)
{
    struct tpa_error err = { 0 };
    struct slot *slot = slot_of(pipeline, pipeline->next_read);
    pipeline->reading = true;
    pthread_mutex_unlock(&pipeline->lock);
    bool failed, taken = read_block(pipeline, &slot->part, &failed, &err);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->reading = false;
    if (failed)
        fail(pipeline, &err);
    pipeline->source_ended |= !taken;
    if (taken) {
        slot->stage = DECODING;
        pipeline->next_read++;
        if (!slot->part.is_header && slot->part.head.kind == TPAFILE_ARGUMENT)
            pipeline->wait_for = pipeline->next_read;
    }
    pthread_cond_broadcast(&pipeline->changed);
    if (!taken)
        return;
    uint64_t number = pipeline->next_read - 1;
    pthread_mutex_unlock(&pipeline->lock);
    bool holds_something = open_part(&slot->part, decoder);
    pthread_mutex_lock(&pipeline->lock);
    slot->part.is_refused = holds_something && !may_keep(pipeline->reader, &slot->part);
    if (slot->part.is_refused || !holds_something)
        slot->part.room_bytes = 0;
    wait_for_room(pipeline, &slot->part, number);
    pthread_mutex_unlock(&pipeline->lock);
    if (holds_something && !slot->part.is_refused)
        decode_part(&slot->part, decoder, &pipeline->reader->arguments);
    pthread_mutex_lock(&pipeline->lock);
    slot->stage = DECODED;
    pthread_cond_broadcast(&pipeline->changed);
}

static void *work(void *argument)
{
    struct pipeline *pipeline = argument;
    struct tpafile_decoder *decoder = tpafile_decoder_open();
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && !(pipeline->source_ended && pipeline->next_join == pipeline->next_read)) {
        bool can_read = !pipeline->reading && !pipeline->source_ended &&
                        pipeline->next_read - pipeline->next_join < pipeline->ring_size &&
                        pipeline->next_join >= pipeline->wait_for;
        if (can_join(pipeline))
            join_turn(pipeline);
        else if (can_read)
            read_turn(pipeline, decoder);
        else
            pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    }
    pthread_mutex_unlock(&pipeline->lock);
    tpafile_decoder_free(decoder);
    return NULL;
}

static unsigned count_workers(const struct tpalog_reader *reader)
{
    long workers = parallel_workers(reader->options->workers);
    int64_t size = source_packed_size(reader->source);
    if (size >= 0 && workers > 1 + size / BYTES_OF_WORKER) /* more do not pay off */
        workers = 1 + (long)(size / BYTES_OF_WORKER);
    return workers < 1 ? 1 : workers > MOST_WORKERS ? MOST_WORKERS : (unsigned)workers;
}

static bool read_blocks(struct pipeline *pipeline)
{
    unsigned workers = count_workers(pipeline->reader);
    pipeline->ring_size = workers == 1 ? 1 : workers + 2;
    pipeline->ring = mem_zalloc(pipeline->ring_size, sizeof *pipeline->ring);
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_cond_init(&pipeline->changed, NULL);
    pthread_t threads[MOST_WORKERS];
    unsigned started = 0;
    while (started + 1 < workers && pthread_create(&threads[started], NULL, work, pipeline) == 0)
        started++; /* fewer threads than requested only make it slower */
    work(pipeline);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < pipeline->ring_size; i++)
        tpalog_part_release(&pipeline->ring[i].part);
    free(pipeline->ring);
    pthread_cond_destroy(&pipeline->changed);
    pthread_mutex_destroy(&pipeline->lock);
    return !pipeline->failed;
}

/* ---- what was lost ---- */

/* A notice about the .tpa file itself, whose text may be made here. */
static void notice(struct tpalog_reader *reader, const char *kind, uint64_t count, int64_t offset,
                   const char *text)
{
    struct trace_builder *builder = reader->builder;
    trace_builder_notice(builder, kind, trace_builder_strndup(builder, text, strlen(text)), count, offset);
    trace_builder_find_notice(builder, kind)->of_container = true;
}

static void tpalog_lacks(struct tpalog_reader *reader, enum lack lack, uint64_t count, int64_t offset,
                         const char *text)
{
    notice(reader, lack_word(lack), count, offset, text);
}

static void describe_damage(struct tpalog_reader *reader, const struct tpalog_blocks *blocks)
{
    char text[256];
    bool header_only = blocks->header_damaged && blocks->skipped_bytes == TPAFILE_HEADER_SIZE;
    if (blocks->header_damaged)
        tpalog_lacks(reader, LACK_DAMAGED_HEADER, 1, 0,
                     "the header is damaged; the blocks behind it were read");
    if (blocks->skipped_bytes > 0 && !header_only) {
        int len = snprintf(text, sizeof text, "%" PRId64 " bytes are damaged", blocks->skipped_bytes);
        if (blocks->lost_blocks)
            len += snprintf(text + len, sizeof text - (size_t)len, ", and %" PRIu64 " block%s lost with them",
                            blocks->lost_blocks, blocks->lost_blocks == 1 ? " is" : "s are");
        snprintf(text + len, sizeof text - (size_t)len, "; every whole block was read");
        tpalog_lacks(reader, LACK_DAMAGED_FILE, blocks->lost_blocks ? blocks->lost_blocks : 1,
                     blocks->first_skipped, text);
    } else if (blocks->lost_blocks > 0) {
        snprintf(text, sizeof text, "%" PRIu64 " blocks are not there; every other one was read",
                 blocks->lost_blocks);
        tpalog_lacks(reader, LACK_DAMAGED_FILE, blocks->lost_blocks, TPA_NOWHERE, text);
    }
    if (reader->bad_blocks > 0) {
        snprintf(text, sizeof text,
                 "blocks make no sense and were left out; of the first, number %" PRIu32 ", %s",
                 reader->bad_number, reader->bad_reason);
        tpalog_lacks(reader, LACK_BAD_BLOCK, reader->bad_blocks, reader->first_bad, text);
    }
    if (reader->odd_values > 0) {
        snprintf(text, sizeof text,
                 "numbers are outside of their range and count as not known; the first is %.*s of a record "
                 "(%s) in block %" PRIu32,
                 (int)strcspn(reader->odd_field, "|"), reader->odd_field, reader->odd_word,
                 reader->odd_number);
        tpalog_lacks(reader, LACK_ODD_VALUES, reader->odd_values, reader->first_odd, text);
    }
    if (reader->odd_arguments > 0)
        notice(reader, "odd_arguments", reader->odd_arguments, reader->first_odd_argument,
               "arguments have another type than their names imply; they were left out");
    const char *damage = source_damage(reader->source);
    if (damage)
        tpalog_lacks(reader, LACK_DAMAGED_SOURCE, 1, TPA_NOWHERE, damage);
}

/* A file without an end is not damage: the file may still be written. */
static void describe_end(struct tpalog_reader *reader, const struct tpalog_blocks *blocks)
{
    char text[256];
    if (blocks->tail_bytes > 0 && blocks->tail_at == 0) {
        tpalog_lacks(reader, LACK_UNFINISHED_FILE, 1, 0,
                     "the file ends within its header: nothing was recorded yet");
    } else if (blocks->tail_bytes > 0) {
        snprintf(text, sizeof text,
                 "the file ends %" PRId64
                 " bytes into a block: it is still being written, or its writer was stopped; "
                 "every whole block was read",
                 blocks->tail_bytes);
        tpalog_lacks(reader, LACK_UNFINISHED_FILE, 1, blocks->tail_at, text);
    } else if (!reader->ended) {
        tpalog_lacks(
            reader, LACK_UNFINISHED_FILE, 1, TPA_NOWHERE,
            "the file has no end: it is still being written, or its writer was stopped; every block was read");
    }
}

bool tpalog_takes_notice(struct tpalog_reader *reader, int64_t word, int64_t text, uint64_t count,
                         size_t *number)
{
    const int64_t key[] = { word, text };
    uint64_t lost = reader->texts.lost_count;
    const struct tpalog_text *words = tpalog_text(&reader->texts, word);
    size_t word_len = words ? words->len : 0;
    const struct tpalog_text *body = tpalog_text(&reader->texts, text);
    reader->texts.lost_count = lost; /* this also counts a lookup of the same text */
    if (!body)
        return false;
    name_id id = names_find(reader->notices, (const char *)key, sizeof key);
    if (id == NAME_NONE && names_count(reader->notices) < TPALOG_MOST_NOTICES &&
        word_len <= TPALOG_LONGEST_WORD && body->len <= TPALOG_LONGEST_NOTICE)
        id = names_add(reader->notices, (const char *)key, sizeof key);
    if (id == NAME_NONE)
        *(words && lacks_of_word(words->at) ? &reader->more_lacks : &reader->more_notices) += count;
    *number = id;
    return id != NAME_NONE;
}

static void tpalog_describe_losses(struct tpalog_reader *reader, const struct tpalog_blocks *blocks)
{
    describe_damage(reader, blocks);
    if (reader->unknown_blocks > 0)
        notice(reader, "unknown_blocks", reader->unknown_blocks, TPA_NOWHERE,
               "blocks are of kinds that a later tpa knows; they were left out");
    if (reader->texts.lost_count > 0)
        tpalog_lacks(reader, LACK_LOST_TEXTS, reader->texts.lost_count, TPA_NOWHERE,
                     "names are in blocks that are lost: they are shown as (lost)");
    if (reader->more_lacks > 0)
        tpalog_lacks(reader, LACK_MORE_DAMAGE, reader->more_lacks, TPA_NOWHERE,
                     "cases of damage have more notices in the file, or longer ones, than tpa shows");
    if (reader->more_notices > 0)
        notice(reader, "more_notices", reader->more_notices, TPA_NOWHERE,
               "cases have more notices in the file, or longer ones, than tpa shows");
    describe_end(reader, blocks);
}

static void fill_container(struct tpalog_reader *reader, const struct tpalog_blocks *blocks)
{
    struct trace_container *container = reader->container;
    container->size = blocks->offset + (int64_t)blocks->count;
    container->closed = reader->ended;
    container->lost_blocks = blocks->lost_blocks + reader->bad_blocks;
    container->lost_bytes = blocks->skipped_bytes;
    container->tail_bytes = blocks->tail_bytes;
    if (!tpalog_has_trace(reader)) /* else they are those of the converted file */
        trace_builder_current_file(reader->builder)->size = container->size;
}

static bool read_trace(struct source *source, struct trace_builder *builder,
                       const struct ingest_options *options, struct tpa_error *err)
{
    struct tpalog_reader reader = { .source = source, .builder = builder, .options = options };
    struct trace_file *file = trace_builder_current_file(builder);
    file->container = reader.container = trace_builder_container(builder, source_name(source));
    tpalog_texts_init(&reader.texts);
    reader.notices = names_open();
    reader.trace = tpalog_trace_open();
    reader.log = tpalog_log_open();
    struct pipeline pipeline = { .reader = &reader,
                                 .blocks = { .source = source, .first_skipped = TPA_NOWHERE },
                                 .err = err };
    bool ok = read_blocks(&pipeline) && tpalog_log_finish(&reader, err);
    if (ok) {
        tpalog_trace_finish(&reader);
        fill_container(&reader, &pipeline.blocks);
        tpalog_describe_losses(&reader, &pipeline.blocks);
    }
    free(pipeline.blocks.bytes);
    tpalog_trace_free(reader.trace);
    tpalog_log_free(reader.log);
    names_free(reader.notices);
    tpalog_texts_release(&reader.texts);
    return ok;
}

static int sniff_tpa(const char *bytes, size_t len)
{
    if (len >= 8 && memcmp(bytes, TPAFILE_MAGIC, 8) == 0)
        return 100;
    /* A damaged header does not hide the blocks behind it. */
    size_t first = TPAFILE_HEADER_SIZE;
    return len >= first + 4 && memcmp(bytes + first, TPAFILE_BLOCK_MAGIC, 4) == 0 ? 90 : 0;
}

const struct format format_tpa = {
    .name = "tpa",
    .description = "tpa capture's log, or a trace that tpa convert wrote (.tpa)",
    .sniff = sniff_tpa,
    .read = read_trace,
};
