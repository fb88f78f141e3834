/*
 * events.c - a converted trace in a .tpa file: the tables, and the events that refer to them.
 *
 * Tables precede the events in the file. They are kept as rows and become files and tracks of the trace at the first
 * event of each file, because the builder needs files one after the other.
 */
#include "ingest/tpalog/tpalog.h"

#include "base/bits.h"
#include "base/rows.h"
#include "ingest/distributed_info.h"
#include "trace/flow_columns.h"

/* ---- decoding: any thread ---- */

/* Decode COLUMN into new memory of PART; NULL if it is missing, damaged or not COUNT long. */
static int64_t *decode(struct tpalog_part *part, struct tpafile_decoder *decoder, unsigned field,
                       size_t count)
{
    const struct tpafile_column *column = tpafile_find_column(decoder, field);
    if (!column || column->count != count)
        return NULL;
    int64_t *values = tpalog_part_room(part, (count + 1) * sizeof *values);
    return tpafile_decode_column(decoder, column, values) ? values : NULL;
}

/* Is each of COUNT numbers at least LEAST and at most MOST? */
static bool all_are_within(const int64_t *values, size_t count, int64_t least, int64_t most)
{
    uint64_t span = (uint64_t)most - (uint64_t)least;
    bool outside = false;
    for (size_t i = 0; i < count; i++)
        outside |= (uint64_t)values[i] - (uint64_t)least > span;
    return !outside;
}

struct shapes {
    size_t count;
    const int64_t *category, *flags, *args; /* by shape */
    int64_t *of;                            /* by event */
};

static bool decode_shapes(struct tpalog_part *part, struct tpafile_decoder *decoder, size_t events,
                          struct shapes *shapes)
{
    const struct tpafile_column *column = tpafile_find_column(decoder, TPAFILE_EVENTS_SHAPE_CATEGORY);
    if (!column || column->count == 0)
        return false;
    shapes->count = column->count;
    shapes->category = decode(part, decoder, TPAFILE_EVENTS_SHAPE_CATEGORY, shapes->count);
    shapes->flags = decode(part, decoder, TPAFILE_EVENTS_SHAPE_FLAGS, shapes->count);
    shapes->args = decode(part, decoder, TPAFILE_EVENTS_SHAPE_ARGS, shapes->count);
    shapes->of = decode(part, decoder, TPAFILE_EVENTS_SHAPE, events);
    if (!shapes->category || !shapes->flags || !shapes->args || !shapes->of)
        return false;
    uint64_t most = 0;
    for (size_t i = 0; i < events; i++)
        most = (uint64_t)shapes->of[i] > most ? (uint64_t)shapes->of[i] : most;
    return most < shapes->count;
}

/* Bit B of each of 8 bytes, of the first the lowest. */
static inline uint64_t bits_of_bytes(uint64_t bytes, unsigned b)
{
    return (bytes >> b & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
}

/* For each of the arguments at up to 8 PLACES, the events that have it: bits in PRESENT, by argument index. COUNTS gets the
 * number of events per argument. HAS: room for a byte of each shape. */
static void find_events(const struct shapes *shapes, size_t events, const unsigned *places, unsigned count,
                        uint8_t *has, uint64_t *const present[64], size_t counts[64])
{
    for (size_t shape = 0; shape < shapes->count; shape++) {
        has[shape] = 0;
        for (unsigned b = 0; b < count; b++)
            has[shape] |= (uint8_t)(((uint64_t)shapes->args[shape] >> places[b] & 1) << b);
    }
    for (size_t i = 0; i < events; i += 64) {
        uint64_t bits[8] = { 0 };
        size_t left = events - i < 64 ? events - i : 64;
        for (size_t part = 0; part < left; part += 8) {
            uint64_t bytes = 0;
            for (size_t e = part; e < part + 8 && e < left; e++)
                bytes |= (uint64_t)has[shapes->of[i + e]] << 8 * (e - part);
            for (unsigned b = 0; b < count; b++)
                bits[b] |= bits_of_bytes(bytes, b) << part;
        }
        for (unsigned b = 0; b < count; b++) {
            present[places[b]][i / 64] = bits[b];
            counts[places[b]] += bits_count(bits[b]);
        }
    }
}

/* Store VALUES as 4 bytes in NARROW. False if they do not fit. */
static bool make_narrow(const int64_t *values, size_t count, int32_t *narrow)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < count; i++) {
        outside |= ((uint64_t)values[i] + (UINT64_C(1) << 31)) >> 32;
        narrow[i] = (int32_t)values[i];
    }
    return outside == 0;
}

/* The type of the values of an argument. */
static const uint8_t argument_types[ARG_COUNT] = {
#define TYPE_OF_INT TPAFILE_ARGUMENT_INT
#define TYPE_OF_BOOL TPAFILE_ARGUMENT_INT
#define TYPE_OF_DECIMAL TPAFILE_ARGUMENT_DECIMAL
#define TYPE_OF_TEXT TPAFILE_ARGUMENT_TEXT
#define TYPE_OF_JSON TPAFILE_ARGUMENT_TEXT
#define ARGUMENT_TYPE(id, kind, keys) TYPE_OF_##kind,
    TRACE_ARGS(ARGUMENT_TYPE)
#undef ARGUMENT_TYPE
};

/* As files spell them, one or more separated by '|'. */
static const char *const argument_keys[ARG_COUNT] = {
#define ARGUMENT_KEYS(id, kind, keys) keys,
    TRACE_ARGS(ARGUMENT_KEYS)
#undef ARGUMENT_KEYS
};

/* The argument at PLACE. False if its column is damaged, or its values are not valid text numbers. */
static bool decode_arg(struct tpalog_part *part, struct tpafile_decoder *decoder, unsigned place,
                       enum trace_arg arg, const uint64_t *present, size_t count)
{
    int64_t *values = decode(part, decoder, TPAFILE_EVENTS_ARG + place, count);
    int32_t *narrow = tpalog_part_room(part, (count + 1) * sizeof *narrow);
    bool is_text = argument_types[arg] == TPAFILE_ARGUMENT_TEXT;
    if (!values || (is_text && !all_are_within(values, count, 0, TPAFILE_LARGEST)))
        return false;
    part->columns.args[arg] = (struct trace_columns_arg){ present, values, NULL, count };
    if (!is_text && make_narrow(values, count, narrow))
        part->columns.args[arg].narrow = narrow;
    part->arg_values[arg] = values;
    part->arg_narrow[arg] = narrow;
    part->arg_is_text[arg] = is_text;
    return true;
}

/* If the column of an argument is damaged, only the argument is lost, not the events, which other analyses need. */
static void decode_args(struct tpalog_part *part, struct tpafile_decoder *decoder,
                        const struct tpalog_arguments *arguments, const struct shapes *shapes, size_t events)
{
    uint64_t any = 0, needed = 0, *present[64];
    size_t counts[64] = { 0 };
    bool taken[ARG_COUNT] = { false };
    for (size_t i = 0; i < shapes->count; i++)
        any |= (uint64_t)shapes->args[i];
    for (unsigned place = 0; place < arguments->count; place++) {
        enum trace_arg arg = arguments->at[place];
        if (arg == ARG_COUNT || !(any >> place & 1) || taken[arg])
            continue;
        taken[arg] = true;
        needed |= UINT64_C(1) << place;
        present[place] = tpalog_part_room(part, (events + 63) / 64 * sizeof **present);
    }
    uint8_t *has = tpalog_part_room(part, shapes->count);
    for (uint64_t rest = needed; rest;) {
        unsigned places[8], count = 0;
        for (; rest && count < 8; rest &= rest - 1)
            places[count++] = (unsigned)__builtin_ctzll(rest);
        find_events(shapes, events, places, count, has, present, counts);
    }
    for (uint64_t rest = needed; rest; rest &= rest - 1) {
        unsigned place = (unsigned)__builtin_ctzll(rest);
        enum trace_arg arg = arguments->at[place];
        if (decode_arg(part, decoder, place, arg, present[place], counts[place]))
            continue;
        if (!part->odd_values)
            part->odd_field = argument_keys[arg];
        part->odd_values += counts[place];
    }
}

static bool fill_narrow(struct tpalog_part *part, const int64_t *tracks, const struct shapes *shapes,
                        size_t events)
{
    part->names = tpalog_part_room(part, events * sizeof *part->names);
    part->tracks = tpalog_part_room(part, events * sizeof *part->tracks);
    part->categories = tpalog_part_room(part, events * sizeof *part->categories);
    uint8_t *flags = tpalog_part_room(part, events);
    uint64_t outside = 0;
    for (size_t i = 0; i < events; i++) {
        outside |= (uint64_t)tracks[i] >> 32;
        part->tracks[i] = (track_id)tracks[i];
    }
    for (size_t i = 0; i < shapes->count; i++)
        outside |= (uint64_t)shapes->category[i] >> 16 | (uint64_t)shapes->flags[i] >> 8;
    for (size_t i = 0; i < events; i++) {
        part->categories[i] = (uint16_t)shapes->category[shapes->of[i]];
        flags[i] = (uint8_t)shapes->flags[shapes->of[i]];
    }
    part->columns.flags = flags;
    return outside == 0;
}

const char *tpalog_decode_events(struct tpalog_part *part, struct tpafile_decoder *decoder,
                                 const struct tpalog_arguments *arguments)
{
    size_t events = part->head.rows;
    part->columns = (struct trace_columns){ .count = events };
    const int64_t *file = decode(part, decoder, TPAFILE_EVENTS_FILE, 1);
    if (events == 0 || !file)
        return tpalog_misfit;
    const int64_t *start_ns = decode(part, decoder, TPAFILE_EVENTS_START, events);
    const int64_t *dur_ns = decode(part, decoder, TPAFILE_EVENTS_DURATION, events);
    part->name_numbers = decode(part, decoder, TPAFILE_EVENTS_NAME, events);
    const int64_t *tracks = decode(part, decoder, TPAFILE_EVENTS_TRACK, events);
    struct shapes shapes;
    if (!start_ns || !dur_ns || !part->name_numbers || !tracks ||
        !decode_shapes(part, decoder, events, &shapes))
        return tpalog_misfit;
    if (!all_are_within(start_ns, events, -TPAFILE_LARGEST, TPAFILE_LARGEST))
        return "an event begins more than 73 years from 0";
    if (!all_are_within(dur_ns, events, 0, TPAFILE_LARGEST))
        return "a duration is negative or longer than 73 years";
    if (!all_are_within(part->name_numbers, events, 0, TPAFILE_LARGEST))
        return "the name of an event is not the number of a text";
    if (!all_are_within(file, 1, 0, UINT32_MAX) || !fill_narrow(part, tracks, &shapes, events))
        return "a file, track, category or flag has a number that none can have";
    part->file = (size_t)*file;
    part->columns.start_ns = start_ns;
    part->columns.dur_ns = dur_ns;
    decode_args(part, decoder, arguments, &shapes, events);
    return NULL;
}

/* ---- tables: in the order of the file ---- */

/* Rows of a table as read: FIELDS numbers each. */
struct rows {
    unsigned fields;
    size_t count;
    VEC_OF(int64_t) numbers;
};

static const int64_t *row_at(const struct rows *rows, size_t index)
{
    return rows->numbers.at + index * rows->fields;
}

/* A row of the table of tracks. Files that one file was split into have their tracks in any order. */
struct track_row {
    int64_t file;
    uint32_t number;
};

struct tpalog_trace {
    struct rows files, devices, properties, tracks, notices, samples;
    struct flow_columns flows; /* with the file's numbers of texts and tracks, see number_of_text */
    uint64_t odd_flows;
    VEC_OF(uint16_t) categories;          /* the trace's, by the file's */
    VEC_OF(track_id) track_ids;           /* the trace's, by the file's; TRACK_NONE: not yet */
    VEC_OF(size_t) track_files;           /* by the file's: 1 + index of the file for which it was added */
    VEC_OF(struct track_row) track_order; /* by file */
    size_t begun;                         /* files begun in the builder */
    size_t next_device, next_property, next_notice, next_track; /* rows already processed */
    uint64_t lost_tracks, lost_categories;
};

struct tpalog_trace *tpalog_trace_open(void)
{
    return mem_zalloc(1, sizeof(struct tpalog_trace));
}

void tpalog_trace_free(struct tpalog_trace *trace)
{
    EACH(VEC_FREE, &trace->files.numbers, &trace->devices.numbers, &trace->properties.numbers,
         &trace->tracks.numbers, &trace->notices.numbers, &trace->samples.numbers, &trace->categories,
         &trace->track_ids, &trace->track_files, &trace->track_order);
    flow_columns_release(&trace->flows);
    free(trace);
}

bool tpalog_has_trace(const struct tpalog_reader *reader)
{
    return reader->trace->files.count > 0 || reader->trace->begun > 0;
}

static void keep_rows(struct rows *rows, const struct tpalog_part *part)
{
    rows->fields = tpafile_kinds[part->head.kind].field_count;
    for (size_t i = 0; i < part->head.rows; i++)
        for (unsigned f = 0; f < rows->fields; f++)
            *VEC_PUSH(&rows->numbers) = tpalog_field(part, f, i);
    rows->count += part->head.rows;
}

/* The number of a text in 32 bits, which finish_flows replaces by an id of the trace. */
static name_id number_of_text(int64_t number)
{
    if (number == TPAFILE_NONE)
        return NAME_NONE;
    return number >= 0 && number < NAME_NONE - 1 ? (name_id)number : NAME_NONE - 1; /* which no file has */
}

/* There can be as many as events, and their texts and tracks may follow them: kept as small as the trace keeps them. */
static void keep_flows(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct tpalog_trace *trace = reader->trace;
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t phase = tpalog_field(part, TPAFILE_FLOW_PHASE, i),
                track = tpalog_field(part, TPAFILE_FLOW_TRACK, i);
        if (phase != 's' && phase != 't' && phase != 'f') {
            trace->odd_flows++;
            continue;
        }
        struct trace_flow flow = {
            .id = tpalog_field(part, TPAFILE_FLOW_ID, i),
            .ts_ns = trace_moment_or_zero(tpalog_field(part, TPAFILE_FLOW_TIME, i)),
            .category = number_of_text(tpalog_field(part, TPAFILE_FLOW_CATEGORY, i)),
            .name = number_of_text(tpalog_field(part, TPAFILE_FLOW_NAME, i)),
            .track = track == TPAFILE_NONE ? TRACK_NONE : (track_id)track,
            .phase = (char)phase,
            .bind_enclosing = tpalog_field(part, TPAFILE_FLOW_BIND_ENCLOSING, i) == 1,
        };
        if (reader->options->wants.only_count)
            trace_builder_add_flow(reader->builder, &flow);
        else
            flow_columns_add(&trace->flows, &flow, 1);
    }
}

static void join_categories(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    for (size_t i = 0; i < part->head.rows; i++) {
        const struct tpalog_text *text =
            tpalog_text(&reader->texts, tpalog_field(part, TPAFILE_CATEGORY_NAME, i));
        *VEC_PUSH(&reader->trace->categories) =
            trace_builder_category(reader->builder, text ? text->at : "", text ? text->len : 0);
    }
}

/* The argument with the key of LEN bytes at KEY; ARG_COUNT if there is none. */
static enum trace_arg find_argument(const char *key, size_t len)
{
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        for (const char *at = argument_keys[arg]; *at; at += strspn(at, "|")) {
            size_t count = strcspn(at, "|");
            if (count == len && memcmp(at, key, len) == 0)
                return (enum trace_arg)arg;
            at += count;
        }
    }
    return ARG_COUNT;
}

static void join_arguments(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct tpalog_arguments *arguments = &reader->arguments;
    for (size_t i = 0; i < part->head.rows && arguments->count < 64; i++) {
        const struct tpalog_text *key =
            tpalog_text(&reader->texts, tpalog_field(part, TPAFILE_ARGUMENT_KEY, i));
        enum trace_arg arg = key ? find_argument(key->at, key->len) : ARG_COUNT;
        if (arg != ARG_COUNT && tpalog_field(part, TPAFILE_ARGUMENT_TYPE, i) != argument_types[arg]) {
            if (reader->odd_arguments++ == 0)
                reader->first_odd_argument = part->at;
            arg = ARG_COUNT;
        }
        if (arg != ARG_COUNT && !trace_builder_wants(reader->builder, arg))
            arg = ARG_COUNT;
        arguments->at[arguments->count++] = arg;
    }
}

void tpalog_join_table(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct tpalog_trace *trace = reader->trace;
    switch ((enum tpafile_kind)part->head.kind) {
    case TPAFILE_FILE: keep_rows(&trace->files, part); break;
    case TPAFILE_FILE_DEVICE: keep_rows(&trace->devices, part); break;
    case TPAFILE_PROPERTY: keep_rows(&trace->properties, part); break;
    case TPAFILE_TRACK: keep_rows(&trace->tracks, part); break;
    case TPAFILE_NOTICE: keep_rows(&trace->notices, part); break;
    case TPAFILE_CATEGORY: join_categories(reader, part); break;
    case TPAFILE_ARGUMENT: join_arguments(reader, part); break;
    case TPAFILE_FLOW:
        if (reader->options->wants.flows)
            keep_flows(reader, part);
        break;
    case TPAFILE_SAMPLE:
        if (reader->options->wants.counters)
            keep_rows(&trace->samples, part);
        break;
    default: break;
    }
}

/* ---- files and tracks ---- */

static const char *events_keep_text(struct tpalog_reader *reader, int64_t number)
{
    return tpalog_keep_text(&reader->texts, reader->builder, number);
}

static int flag_of(int64_t value)
{
    return value == 0 || value == 1 ? (int)value : -1;
}

static int small_number(int64_t value)
{
    return value >= 0 && value <= INT32_MAX ? (int)value : 0;
}

static int64_t events_known(int64_t value, int64_t missing)
{
    return value == TPAFILE_NONE ? missing : value;
}

static void fill_file(struct tpalog_reader *reader, struct trace_file *file, const int64_t *row)
{
    const char *path = events_keep_text(reader, row[TPAFILE_FILE_PATH]);
    const char *format = events_keep_text(reader, row[TPAFILE_FILE_FORMAT]);
    if (path)
        file->path = path;
    if (format)
        file->format = format;
    file->packing = small_number(row[TPAFILE_FILE_PACKING]);
    file->packed_size = events_known(row[TPAFILE_FILE_PACKED_SIZE], -1);
    file->size = events_known(row[TPAFILE_FILE_SIZE], 0);
    int64_t producer = row[TPAFILE_FILE_PRODUCER];
    file->producer = producer >= 0 && producer < PRODUCERS ? (enum trace_producer)producer : PRODUCER_UNKNOWN;
    file->has_base = row[TPAFILE_FILE_BASE] != TPAFILE_NONE;
    file->base_ns = events_known(row[TPAFILE_FILE_BASE], 0);
    file->has_window =
        row[TPAFILE_FILE_WINDOW_START] != TPAFILE_NONE && row[TPAFILE_FILE_WINDOW_END] != TPAFILE_NONE;
    file->window_start_ns = trace_moment_or_zero(row[TPAFILE_FILE_WINDOW_START]);
    file->window_end_ns = trace_moment_or_zero(row[TPAFILE_FILE_WINDOW_END]);
    file->host_name = events_keep_text(reader, row[TPAFILE_FILE_HOST]);
    file->trace_name = events_keep_text(reader, row[TPAFILE_FILE_TRACE_NAME]);
    file->trace_id = events_keep_text(reader, row[TPAFILE_FILE_TRACE_ID]);
    file->rank = events_known(row[TPAFILE_FILE_RANK], -1);
    file->world_size = events_known(row[TPAFILE_FILE_WORLD_SIZE], -1);
    file->backend = events_keep_text(reader, row[TPAFILE_FILE_BACKEND]);
    file->nccl_version = events_keep_text(reader, row[TPAFILE_FILE_NCCL_VERSION]);
    file->record_shapes = flag_of(row[TPAFILE_FILE_RECORD_SHAPES]);
    file->profile_memory = flag_of(row[TPAFILE_FILE_PROFILE_MEMORY]);
    file->with_stack = flag_of(row[TPAFILE_FILE_WITH_STACK]);
    file->with_flops = flag_of(row[TPAFILE_FILE_WITH_FLOPS]);
    file->with_modules = flag_of(row[TPAFILE_FILE_WITH_MODULES]);
    trace_builder_count_seen(reader->builder, (uint64_t)events_known(row[TPAFILE_FILE_FLOWS_SEEN], 0),
                             (uint64_t)events_known(row[TPAFILE_FILE_SAMPLES_SEEN], 0),
                             (uint64_t)events_known(row[TPAFILE_FILE_METADATA_SEEN], 0));
}

/* Number the names as in the converted file. Only existing ones: COUNT is untrusted. */
static void add_names(struct tpalog_reader *reader, int64_t count)
{
    FOR_EACH(run, &reader->texts.runs) {
        for (size_t i = 0; i < run->count && run->first + (int64_t)i <= count; i++)
            tpalog_name_id(&reader->texts, reader->builder, run->first + (int64_t)i);
    }
}

/* The next row of file INDEX in a table sorted by file; NULL if there is none. Rows of earlier files are
 * skipped. */
static const int64_t *next_row(const struct rows *rows, size_t *next, unsigned file_field, int64_t index)
{
    while (*next < rows->count) {
        const int64_t *row = row_at(rows, *next);
        if (row[file_field] > index)
            return NULL;
        ++*next;
        if (row[file_field] == index)
            return row;
    }
    return NULL;
}

static void fill_devices(struct tpalog_reader *reader, struct trace_file *file, size_t index)
{
    struct tpalog_trace *trace = reader->trace;
    const int64_t *row;
    while ((row = next_row(&trace->devices, &trace->next_device, TPAFILE_FILE_DEVICE_FILE, (int64_t)index)))
        *VEC_PUSH(&file->devices) = (struct trace_device){
            .id = (int32_t)row[TPAFILE_FILE_DEVICE_DEVICE],
            .name = events_keep_text(reader, row[TPAFILE_FILE_DEVICE_NAME]),
            .total_memory = events_known(row[TPAFILE_FILE_DEVICE_TOTAL_MEMORY], 0),
            .compute_major = small_number(row[TPAFILE_FILE_DEVICE_COMPUTE_MAJOR]),
            .compute_minor = small_number(row[TPAFILE_FILE_DEVICE_COMPUTE_MINOR]),
            .sm_count = small_number(row[TPAFILE_FILE_DEVICE_SM_COUNT]),
            .warp_size = small_number(row[TPAFILE_FILE_DEVICE_WARP_SIZE]),
            .max_threads_per_sm = small_number(row[TPAFILE_FILE_DEVICE_MAX_THREADS_PER_SM]),
            .max_threads_per_block = small_number(row[TPAFILE_FILE_DEVICE_MAX_THREADS_PER_BLOCK]),
            .regs_per_sm = small_number(row[TPAFILE_FILE_DEVICE_REGISTERS_PER_SM]),
            .shared_memory_per_sm = events_known(row[TPAFILE_FILE_DEVICE_SHARED_PER_SM], 0),
        };
    const char *distributed_info = NULL;
    while (
        (row = next_row(&trace->properties, &trace->next_property, TPAFILE_PROPERTY_FILE, (int64_t)index))) {
        const char *key = events_keep_text(reader, row[TPAFILE_PROPERTY_KEY]);
        const char *value = events_keep_text(reader, row[TPAFILE_PROPERTY_VALUE]);
        if (!key || !value)
            continue;
        if (strcmp(key, "distributedInfo") == 0)
            distributed_info = value;
        *VEC_PUSH(&file->properties) =
            (struct trace_property){ key, value, row[TPAFILE_PROPERTY_IS_STRING] == 1 };
    }
    /* Of a file that several ranks were merged into it is that of one of them. */
    if (distributed_info && !trace_file_property(file, TRACE_RANK_BY))
        distributed_info_apply(reader->builder, distributed_info, strlen(distributed_info));
}

/* Notices about arrows or counters are omitted if those are not wanted, as for JSON. */
static bool is_of_interest(const struct tpalog_reader *reader, const char *word)
{
    const struct trace_wants *wants = &reader->options->wants;
    if (strcmp(word, "bad_flow") == 0 || strcmp(word, "odd_flows") == 0)
        return wants->flows;
    return strcmp(word, "bad_counter") != 0 || wants->counters;
}

static void events_add_notice(struct tpalog_reader *reader, const int64_t *row)
{
    size_t number;
    uint64_t count = (uint64_t)events_known(row[TPAFILE_NOTICE_COUNT], 1);
    if (!tpalog_takes_notice(reader, row[TPAFILE_NOTICE_WORD], row[TPAFILE_NOTICE_TEXT], count, &number))
        return;
    const char *word = events_keep_text(reader, row[TPAFILE_NOTICE_WORD]);
    const char *text = events_keep_text(reader, row[TPAFILE_NOTICE_TEXT]);
    if (!word || !text || !is_of_interest(reader, word))
        return;
    if (row[TPAFILE_NOTICE_FILE] == TPAFILE_NO_FILE)
        trace_builder_tell(reader->builder, word, text, count);
    else
        trace_builder_notice(reader->builder, word, text, count,
                             events_known(row[TPAFILE_NOTICE_OFFSET], TPA_NOWHERE));
}

/* Add the notices of file INDEX, which was just begun; for the first file also those without a file. */
static void add_notices(struct tpalog_reader *reader, int64_t index)
{
    struct tpalog_trace *trace = reader->trace;
    const int64_t *row;
    while ((row = next_row(&trace->notices, &trace->next_notice, TPAFILE_NOTICE_FILE, index)))
        events_add_notice(reader, row);
}

/* Order the tracks of files that were not begun, by file; there may be more of them now. */
static void order_tracks(struct tpalog_trace *trace)
{
    static const struct key by_file[] = { ASC(struct track_row, file), ASC(struct track_row, number),
                                          KEY_END };
    size_t known = trace->track_order.count;
    for (size_t i = known; i < trace->tracks.count; i++) {
        *VEC_PUSH(&trace->track_ids) = TRACK_NONE;
        *VEC_PUSH(&trace->track_files) = 0;
        *VEC_PUSH(&trace->track_order) =
            (struct track_row){ row_at(&trace->tracks, i)[TPAFILE_TRACK_FILE], (uint32_t)i };
    }
    if (trace->track_order.count > known)
        SORT_ARRAY(trace->track_order.at + trace->next_track, trace->track_order.count - trace->next_track,
                   by_file);
}

/* Add the tracks of the file that was just begun. */
static void add_tracks(struct tpalog_reader *reader, size_t index)
{
    struct tpalog_trace *trace = reader->trace;
    order_tracks(trace);
    for (; trace->next_track < trace->track_order.count; trace->next_track++) {
        const struct track_row *place = &trace->track_order.at[trace->next_track];
        if (place->file > (int64_t)index)
            return;
        const int64_t *row = row_at(&trace->tracks, place->number);
        const struct tpalog_text *pid = tpalog_text(&reader->texts, row[TPAFILE_TRACK_PID_TEXT]);
        const struct tpalog_text *tid = tpalog_text(&reader->texts, row[TPAFILE_TRACK_TID_TEXT]);
        struct track_key key = {
            .pid = events_known(row[TPAFILE_TRACK_PID], 0),
            .tid = events_known(row[TPAFILE_TRACK_TID], 0),
            .pid_text = pid ? pid->at : NULL,
            .tid_text = tid ? tid->at : NULL,
            .pid_len = pid ? pid->len : 0,
            .tid_len = tid ? tid->len : 0,
        };
        track_id id = trace_builder_track(reader->builder, &key);
        struct track facts = {
            .process_name = tpalog_text_id(&reader->texts, reader->builder, row[TPAFILE_TRACK_PROCESS_NAME]),
            .process_labels =
                tpalog_text_id(&reader->texts, reader->builder, row[TPAFILE_TRACK_PROCESS_LABELS]),
            .thread_name = tpalog_text_id(&reader->texts, reader->builder, row[TPAFILE_TRACK_THREAD_NAME]),
        };
        struct track *track = trace_builder_track_at(reader->builder, id);
        track->process_name = facts.process_name;
        track->process_labels = facts.process_labels;
        track->thread_name = facts.thread_name;
        track->process_sort_index = events_known(row[TPAFILE_TRACK_PROCESS_SORT_INDEX], 0);
        track->thread_sort_index = events_known(row[TPAFILE_TRACK_THREAD_SORT_INDEX], 0);
        trace->track_ids.at[place->number] = id;
        trace->track_files.at[place->number] = index + 1;
    }
}

/* Begin files of the table up to INDEX in the builder. The first one was begun by the caller that opened the source. */
static void begin_files(struct tpalog_reader *reader, size_t index)
{
    struct tpalog_trace *trace = reader->trace;
    while (trace->begun <= index) {
        size_t f = trace->begun++;
        if (f > 0)
            trace_builder_file(reader->builder, source_name(reader->source), "tpa");
        struct trace_file *file = trace_builder_current_file(reader->builder);
        file->container = reader->container;
        if (f == 0 && trace->files.count)
            add_names(reader, row_at(&trace->files, 0)[TPAFILE_FILE_NAMES]);
        if (f < trace->files.count)
            fill_file(reader, file, row_at(&trace->files, f));
        fill_devices(reader, file, f);
        if (f == 0)
            add_notices(reader, TPAFILE_NO_FILE);
        add_notices(reader, (int64_t)f);
        add_tracks(reader, f);
    }
}

/* Create a track to replace one whose row is lost, or belongs to another file. */
static track_id lost_track(struct tpalog_reader *reader, track_id number)
{
    reader->trace->lost_tracks++;
    return trace_builder_track(reader->builder, &(struct track_key){ .pid = 0, .tid = number });
}

/* The trace's track for the number in a record, which may be invalid. */
static track_id find_recorded_track(struct tpalog_reader *reader, int64_t number)
{
    const struct tpalog_trace *trace = reader->trace;
    track_id row = number == TPAFILE_NONE ? TRACK_NONE : (track_id)number;
    return row < trace->track_ids.count && trace->track_ids.at[row] != TRACK_NONE ? trace->track_ids.at[row]
                                                                                  : lost_track(reader, row);
}

/* ---- events: in the order of the file ---- */

/* Convert COUNT text numbers to the ids in IDS, in 4 bytes. False if some ids are not known yet, or are too
 * large. */
static bool map_texts(const name_id *ids, size_t id_count, const int64_t *numbers, size_t count, int32_t *to)
{
    uint32_t unfit = 0;
    for (size_t i = 0; i < count; i++) {
        name_id id = (uint64_t)numbers[i] < id_count ? ids[numbers[i]] : NAME_NONE;
        unfit |= id; /* NAME_NONE has the highest bit set */
        to[i] = (int32_t)id;
    }
    return unfit >> 31 == 0;
}
_Static_assert(NAME_NONE >> 31, "no id that is known has the upper bit of NAME_NONE");

/* Assign ids to texts in the order of their first occurrence in the file, which is that of the converted file: so the
 * order of equal items stays the same. Each text has a bit, by its number; only in badly damaged files are there
 * numbers without one. */
static void meet_texts(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct tpalog_texts *texts = &reader->texts;
    size_t least = texts->id_count, most = 0;
    SCOPED uint64_t *fresh = mem_zalloc(texts->id_count / 64 + 1, sizeof *fresh);
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        if (!part->columns.args[arg].count || !part->arg_is_text[arg])
            continue;
        for (size_t i = 0; i < part->columns.args[arg].count; i++) {
            uint64_t number = (uint64_t)part->arg_values[arg][i];
            if (number >= texts->id_count || texts->text_ids[number] != NAME_NONE)
                continue;
            fresh[number / 64] |= UINT64_C(1) << number % 64;
            least = number < least ? number : least;
            most = number > most ? number : most;
        }
    }
    for (size_t word = least / 64; word <= most / 64; word++)
        for (uint64_t bits = fresh[word]; bits; bits &= bits - 1)
            tpalog_text_id(texts, reader->builder, 64 * (int64_t)word + __builtin_ctzll(bits));
}

/* The text of NUMBER; an empty one if the file has none, for columns where every text must exist. */
static name_id recorded_text(struct tpalog_reader *reader, int64_t number)
{
    name_id id = tpalog_text_id(&reader->texts, reader->builder, number);
    return id == NAME_NONE ? trace_builder_text(reader->builder, "", 0) : id;
}

/* Texts of arguments by the trace's ids. */
static void map_arguments(struct tpalog_reader *reader, struct tpalog_part *part)
{
    const struct tpalog_texts *texts = &reader->texts;
    bool met = false;
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        struct trace_columns_arg *column = &part->columns.args[arg];
        if (!column->count || !part->arg_is_text[arg])
            continue;
        int64_t *values = part->arg_values[arg];
        column->narrow = part->arg_narrow[arg];
        if (map_texts(texts->text_ids, texts->id_count, values, column->count, part->arg_narrow[arg]))
            continue;
        if (!met)
            meet_texts(reader, part);
        met = true;
        if (map_texts(texts->text_ids, texts->id_count, values, column->count, part->arg_narrow[arg]))
            continue;
        column->narrow = NULL;
        for (size_t i = 0; i < column->count; i++)
            values[i] = recorded_text(reader, values[i]);
    }
}

/* Replace the file's numbers by the trace's ids, in place. */
static void map_events(struct tpalog_reader *reader, struct tpalog_part *part)
{
    struct tpalog_trace *trace = reader->trace;
    const struct tpalog_texts *texts = &reader->texts;
    size_t count = part->columns.count;
    for (size_t i = 0; i < count; i++) {
        int64_t number = part->name_numbers[i];
        name_id name = (uint64_t)number < texts->id_count ? texts->name_ids[number] : NAME_NONE;
        part->names[i] = name != NAME_NONE ? name : tpalog_name_id(&reader->texts, reader->builder, number);
    }
    for (size_t i = 0; i < count; i++) {
        track_id number = part->tracks[i];
        part->tracks[i] = number < trace->track_files.count && trace->track_files.at[number] == trace->begun
                              ? trace->track_ids.at[number]
                              : lost_track(reader, number);
    }
    for (size_t i = 0; i < count; i++) {
        if (part->categories[i] < trace->categories.count) {
            part->categories[i] = trace->categories.at[part->categories[i]];
        } else {
            trace->lost_categories++;
            part->categories[i] = trace_builder_category(reader->builder, "", 0);
        }
    }
    part->columns.name = part->names;
    part->columns.track = part->tracks;
    part->columns.category = part->categories;
    map_arguments(reader, part);
}

bool tpalog_join_events(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    struct tpalog_trace *trace = reader->trace;
    bool known_file = part->file < trace->files.count || part->file == 0;
    if (!known_file || part->file + 1 < trace->begun)
        part->file = trace->begun ? trace->begun - 1 : 0;
    begin_files(reader, part->file);
    map_events(reader, part);
    trace_builder_progress(reader->builder, source_packed_read(reader->source),
                           source_packed_size(reader->source));
    return trace_builder_add_columns(reader->builder, &part->columns, err);
}

static name_id recorded_flow_text(struct tpalog_reader *reader, name_id number)
{
    return recorded_text(reader, number == NAME_NONE ? TPAFILE_NONE : (int64_t)number);
}

static void finish_flows(struct tpalog_reader *reader)
{
    struct tpalog_trace *trace = reader->trace;
    for (size_t i = 0; i < flow_columns_count(&trace->flows); i++) {
        struct trace_flow flow = flow_columns_at(&trace->flows, i);
        flow.category = recorded_flow_text(reader, flow.category);
        flow.name = recorded_flow_text(reader, flow.name);
        flow.track =
            find_recorded_track(reader, flow.track == TRACK_NONE ? TPAFILE_NONE : (int64_t)flow.track);
        trace_builder_add_flow(reader->builder, &flow);
    }
    flow_columns_release(&trace->flows);
    if (trace->odd_flows && reader->options->wants.flows)
        trace_builder_notice(reader->builder, "odd_flows",
                             "flow arrows are neither begin, step nor end; they were left out",
                             trace->odd_flows, TPA_NOWHERE);
}

static void add_samples(struct tpalog_reader *reader)
{
    const struct tpalog_trace *trace = reader->trace;
    for (size_t i = 0; i < trace->samples.count; i++) {
        const int64_t *row = row_at(&trace->samples, i);
        struct trace_sample sample = {
            .ts_ns = trace_moment_or_zero(row[TPAFILE_SAMPLE_TIME]),
            .counter = recorded_text(reader, row[TPAFILE_SAMPLE_COUNTER]),
            .track = find_recorded_track(reader, row[TPAFILE_SAMPLE_TRACK]),
        };
        memcpy(&sample.value, &row[TPAFILE_SAMPLE_VALUE], sizeof sample.value);
        trace_builder_add_sample(reader->builder, &sample);
    }
}

void tpalog_trace_finish(struct tpalog_reader *reader)
{
    struct tpalog_trace *trace = reader->trace;
    if (trace->files.count)
        begin_files(reader, trace->files.count - 1);
    if (trace->begun) {
        finish_flows(reader);
        add_samples(reader);
    }
    if (trace->lost_tracks || trace->lost_categories)
        trace_builder_lacks(reader->builder, LACK_LOST_TABLES,
                            "events name tracks or categories whose block is lost",
                            trace->lost_tracks + trace->lost_categories, TPA_NOWHERE);
}
