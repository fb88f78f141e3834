/*
 * flight.c - one dump of the Flight Recorder: see flight.h.
 *
 * Keys, of versions 2.4 to 2.10 (torch/csrc/distributed/c10d/FlightRecorder*.hpp):
 *
 *     version, comm_lib_version (2.9: nccl_version), rank
 *     pg_config   name -> { name, desc, ranks: "[0, 1]" }
 *     pg_status   pg_id -> { last_enqueued_collective, last_started_collective, last_completed_collective }
 *     entries     [ { record_id, pg_id, process_group: (name, desc), collective_seq_id, p2p_seq_id, op_id, profiling_name,
 *                     time_created_ns, input_sizes, output_sizes, input_dtypes, output_dtypes, state,
 *                     time_discovered_started_ns, time_discovered_completed_ns, retired, timeout_ms, is_p2p, frames } ]
 *
 * JSON has the same keys; absent times are 0, numbers of pg_status are texts, and `entries` is absent if there are none.
 * An entry that lacks what its place in the order depends on makes the whole dump unreadable: to leave it out could
 * blame a rank for an operation that it entered.
 */
#include "ingest/flight.h"

#include "base/bits.h"
#include "base/rows.h"
#include "ingest/json_text.h"
#include "ingest/object_readers.h"
#include <ctype.h>

enum word {
    W_ENTRIES,
    W_PG_CONFIG,
    W_PG_STATUS,
    W_VERSION,
    W_RANK,
    W_LIB_VERSION,
    W_NCCL_VERSION,
    W_NCCL_COMM_STATE,
    W_HCCL_COMM_STATE,
    W_HEALTH_CHECK,
    W_NAME,
    W_DESC,
    W_RANKS,
    W_ENQUEUED,
    W_STARTED,
    W_COMPLETED,
    W_RECORD_ID,
    W_PG_ID,
    W_PROCESS_GROUP,
    W_SEQ,
    W_P2P_SEQ,
    W_OP_ID,
    W_PROFILING_NAME,
    W_THREAD,
    W_CREATED,
    W_INPUT_SIZES,
    W_OUTPUT_SIZES,
    W_INPUT_DTYPES,
    W_OUTPUT_DTYPES,
    W_STATE,
    W_STARTED_NS,
    W_COMPLETED_NS,
    W_DURATION,
    W_RETIRED,
    W_TIMEOUT,
    W_IS_P2P,
    W_FRAMES,
    W_FILENAME,
    W_LINE,
    WORDS,
};

static const char *const words[WORDS] = {
    [W_ENTRIES] = "entries",
    [W_PG_CONFIG] = "pg_config",
    [W_PG_STATUS] = "pg_status",
    [W_VERSION] = "version",
    [W_RANK] = "rank",
    [W_LIB_VERSION] = "comm_lib_version",
    [W_NCCL_VERSION] = "nccl_version",
    [W_NCCL_COMM_STATE] = "nccl_comm_state",
    [W_HCCL_COMM_STATE] = "hccl_comm_state",
    [W_HEALTH_CHECK] = "health_check_results",
    [W_NAME] = "name",
    [W_DESC] = "desc",
    [W_RANKS] = "ranks",
    [W_ENQUEUED] = "last_enqueued_collective",
    [W_STARTED] = "last_started_collective",
    [W_COMPLETED] = "last_completed_collective",
    [W_RECORD_ID] = "record_id",
    [W_PG_ID] = "pg_id",
    [W_PROCESS_GROUP] = "process_group",
    [W_SEQ] = "collective_seq_id",
    [W_P2P_SEQ] = "p2p_seq_id",
    [W_OP_ID] = "op_id",
    [W_PROFILING_NAME] = "profiling_name",
    [W_THREAD] = "thread_id",
    [W_CREATED] = "time_created_ns",
    [W_INPUT_SIZES] = "input_sizes",
    [W_OUTPUT_SIZES] = "output_sizes",
    [W_INPUT_DTYPES] = "input_dtypes",
    [W_OUTPUT_DTYPES] = "output_dtypes",
    [W_STATE] = "state",
    [W_STARTED_NS] = "time_discovered_started_ns",
    [W_COMPLETED_NS] = "time_discovered_completed_ns",
    [W_DURATION] = "duration_ms",
    [W_RETIRED] = "retired",
    [W_TIMEOUT] = "timeout_ms",
    [W_IS_P2P] = "is_p2p",
    [W_FRAMES] = "frames",
    [W_FILENAME] = "filename",
    [W_LINE] = "line",
};

struct flight_reader {
    struct flight *flight;
    struct python_tree tree;
    struct pickle pickle;
    struct buffer text; /* of JSON */
    struct buffer key;
    /* Values that may still be visited: a list that a short file refers to often must not take forever. */
    int64_t budget;
};

/* Does JSON at AT begin with a key of a dump? Traces of Kineto have some of the keys, too, but further inside. */
static bool begins_as_dump(const char *at, const char *end)
{
    struct json_pull in = { at, end };
    struct json_text key;
    if (!json_enter(&in, '{') || !json_next_key(&in, &key))
        return false;
    for (enum word word = W_ENTRIES; word <= W_HEALTH_CHECK; word++)
        if (json_text_is(&key, words[word]))
            return true;
    return false;
}

int flight_sniff(const char *bytes, size_t len)
{
    static const enum word telling[] = { W_PG_CONFIG,       W_PG_STATUS,       W_SEQ,         W_LIB_VERSION,
                                         W_NCCL_COMM_STATE, W_HCCL_COMM_STATE, W_NCCL_VERSION };
    if (!pickle_sniff(bytes, len) && !begins_as_dump(bytes, bytes + len))
        return 0;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (memmem(bytes, len, words[telling[i]], strlen(words[telling[i]])))
            return 98;
    return 0;
}

struct flight_reader *flight_reader_open(struct flight *flight)
{
    struct flight_reader *reader = mem_zalloc(1, sizeof *reader);
    reader->flight = flight;
    reader->tree.words = words;
    reader->tree.word_count = WORDS;
    return reader;
}

void flight_reader_free(struct flight_reader *reader)
{
    if (!reader)
        return;
    python_tree_release(&reader->tree);
    pickle_release(&reader->pickle);
    EACH(buffer_release, &reader->text, &reader->key);
    free(reader);
}

/* ---- values ---- */

/* The integer in VALUE, also of a text of digits; MISSING if it holds none. */
static int64_t integer_of(const struct python_value *value, int64_t missing)
{
    if (!value)
        return missing;
    if (value->kind == PYTHON_INT || value->kind == PYTHON_BOOL)
        return value->integer;
    if (value->kind == PYTHON_TEXT && value->len > 0 && value->len < 20) {
        char *end;
        int64_t number = strtoll(value->text, &end, 10);
        return *end ? missing : number;
    }
    return missing;
}

static bool flight_is_true(const struct python_value *value)
{
    return value && value->kind == PYTHON_BOOL && value->integer;
}

static name_id text_of(struct flight_reader *reader, const struct python_value *value)
{
    if (!value || value->kind != PYTHON_TEXT)
        return names_add(reader->flight->texts, "", 0);
    return names_add(reader->flight->texts, value->text, value->len);
}

/* The items of VALUE if it is a list, which are counted as visited. */
static const struct python_list *items_of(struct flight_reader *reader, const struct python_value *value)
{
    static const struct python_list none = { 0 };
    if (!value || value->kind != PYTHON_LIST)
        return &none;
    reader->budget -= (int64_t)value->list->count;
    return value->list;
}

/* ---- lists of ranks ---- */

/* "[0, 1]" and "[0,1]". False if it is none, or has a number that is no rank. */
static bool parse_ranks(struct flight *flight, const char *text, struct flight_list *list)
{
    SCOPED VEC_OF(uint32_t) ranks = { 0 };
    const char *at = text;
    bool good = *at++ == '[';
    while (good && *at && *at != ']') {
        uint32_t rank = 0;
        while (*at == ' ')
            at++;
        good = isdigit((unsigned char)*at);
        for (; good && isdigit((unsigned char)*at); at++)
            good = (rank = rank * 10 + (uint32_t)(*at - '0')) < FLIGHT_MOST_RANKS;
        *VEC_PUSH(&ranks) = rank;
        at += *at == ',';
    }
    good = good && *at == ']';
    if (good) {
        uint32_t *copy = arena_alloc(&flight->arena, mem_times(ranks.count + 1, sizeof *copy));
        if (ranks.count)
            memcpy(copy, ranks.at, ranks.count * sizeof *copy);
        *list = (struct flight_list){ copy, ranks.count };
    }
    return good;
}

/* The number of the list; FLIGHT_NO_LIST if VALUE holds none. Each text is parsed once, and equal lists have one number. */
static uint32_t flight_list_of(struct flight *flight, const struct python_value *value)
{
    if (!value || value->kind != PYTHON_TEXT)
        return FLIGHT_NO_LIST;
    name_id text = names_add(flight->list_texts, value->text, value->len);
    if (text < flight->list_by_text.count)
        return flight->list_by_text.at[text];
    struct flight_list list;
    uint32_t number = FLIGHT_NO_LIST;
    if (parse_ranks(flight, value->text, &list)) {
        number = names_add(flight->list_keys, (const char *)list.ranks, list.count * sizeof *list.ranks);
        if (number == flight->lists.count)
            *VEC_PUSH(&flight->lists) = list;
    }
    *VEC_PUSH(&flight->list_by_text) = number;
    return number;
}

/* ---- sizes and types ---- */

enum { MOST_DIMENSIONS = 64 };

/* Add the shapes of the tensors in SIZES to the key: the number of tensors, then of each its dimensions. */
static void add_sizes(struct flight_reader *reader, const struct python_value *sizes)
{
    const struct python_list *tensors = items_of(reader, sizes);
    int64_t count = (int64_t)tensors->count;
    buffer_add(&reader->key, (const char *)&count, sizeof count);
    for (size_t t = 0; t < tensors->count && reader->budget > 0; t++) {
        const struct python_list *dims = items_of(reader, &tensors->items[t]);
        int64_t dim_count = dims->count < MOST_DIMENSIONS ? (int64_t)dims->count : MOST_DIMENSIONS;
        buffer_add(&reader->key, (const char *)&dim_count, sizeof dim_count);
        for (int64_t d = 0; d < dim_count; d++) {
            int64_t dim = integer_of(&dims->items[d], 0);
            buffer_add(&reader->key, (const char *)&dim, sizeof dim);
        }
    }
}

static void add_types(struct flight_reader *reader, const struct python_value *types)
{
    const struct python_list *names = items_of(reader, types);
    for (size_t i = 0; i < names->count && reader->budget > 0; i++)
        if (names->items[i].kind == PYTHON_TEXT && names->items[i].len < 64)
            buffer_add(&reader->key, names->items[i].text, names->items[i].len + 1);
}

static int64_t next_number(const char **at)
{
    int64_t number;
    memcpy(&number, *at, sizeof number);
    *at += sizeof number;
    return number;
}

/* Read the counts of elements that add_sizes wrote at *AT, and describe them in TEXT. */
static const int64_t *read_counts(struct flight *flight, const char **at, uint32_t *tensors, int64_t *first,
                                  struct buffer *text)
{
    enum { SHOWN = 4 };
    int64_t count = next_number(at);
    int64_t *counts = arena_alloc(&flight->arena, mem_times((size_t)count + 1, sizeof *counts));
    *tensors = (uint32_t)count;
    *first = 0;
    for (int64_t t = 0; t < count; t++) {
        int64_t dims = next_number(at), product = 1;
        if (t < SHOWN)
            buffer_puts(text, t ? ", [" : "[");
        for (int64_t d = 0; d < dims; d++) {
            int64_t dim = next_number(at);
            if (t == 0 && d == 0)
                *first = dim;
            if (__builtin_mul_overflow(product, dim, &product))
                product = INT64_MAX;
            if (t < SHOWN)
                buffer_printf(text, d ? ", %lld" : "%lld", (long long)dim);
        }
        if (t < SHOWN)
            buffer_putc(text, ']');
        else if (t == SHOWN)
            buffer_puts(text, ", ...");
        counts[t] = product;
    }
    return counts;
}

/* The distinct texts of AT up to END, sorted, as one text. */
static name_id read_types(struct flight *flight, const char *at, const char *end)
{
    VEC_OF(const char *) types = { 0 };
    for (; at < end; at += strlen(at) + 1)
        *VEC_PUSH(&types) = at;
    if (types.count == 0)
        return NAME_NONE;
    SORT_TEXTS(types.at, types.count);
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < types.count; i++)
        if (i == 0 || strcmp(types.at[i], types.at[i - 1]) != 0)
            buffer_printf(&text, text.count ? ", %s" : "%s", types.at[i]);
    name_id id = names_add(flight->texts, text.at ? text.at : "", text.count);
    VEC_FREE(&types);
    return id;
}

static uint32_t shape_of(struct flight_reader *reader, const struct python_value *const *field)
{
    struct flight *flight = reader->flight;
    buffer_clear(&reader->key);
    add_sizes(reader, field[W_INPUT_SIZES]);
    add_sizes(reader, field[W_OUTPUT_SIZES]);
    add_types(reader, field[W_INPUT_DTYPES]);
    add_types(reader, field[W_OUTPUT_DTYPES]);
    if (reader->budget < 0)
        return 0; /* the key may be cut; the dump is refused */
    name_id id = names_add(flight->shape_keys, reader->key.at, reader->key.count);
    if (id < flight->shapes.count)
        return id;
    struct flight_shape shape = { 0 };
    SCOPED struct buffer text = { 0 };
    const char *at = reader->key.at, *end = at + reader->key.count;
    int64_t first_in;
    shape.in = read_counts(flight, &at, &shape.in_count, &first_in, &text);
    if (shape.in_count)
        buffer_putc(&text, ' ');
    buffer_puts(&text, "-> ");
    shape.out = read_counts(flight, &at, &shape.out_count, &shape.first_out, &text);
    shape.types = read_types(flight, at, end);
    shape.sizes = names_add(flight->texts, text.at, text.count);
    *VEC_PUSH(&flight->shapes) = shape;
    return id;
}

/* ---- frames ---- */

static bool is_of_user(const char *file)
{
    return *file != '<' && !strstr(file, "/torch/") && !strstr(file, "/torchcomms/") &&
           !strstr(file, "runpy");
}

/* "train.py:88" of the innermost frame outside of PyTorch. */
static name_id call_of(struct flight_reader *reader, const struct python_value *frames)
{
    if (!frames || frames->kind != PYTHON_LIST)
        return NAME_NONE;
    for (size_t i = 0; i < frames->list->count && reader->budget > 0; i++) {
        const struct python_value *frame = &frames->list->items[i];
        const struct python_value *file = python_get(frame, W_FILENAME);
        reader->budget -= 1 + (frame->kind == PYTHON_DICT ? (int64_t)frame->list->count : 0);
        if (!file || file->kind != PYTHON_TEXT || !is_of_user(file->text))
            continue;
        char text[4200];
        int len = snprintf(text, sizeof text, "%.4096s:%lld", file->text,
                           (long long)integer_of(python_get(frame, W_LINE), 0));
        return names_add(reader->flight->texts, text, (size_t)len);
    }
    return NAME_NONE;
}

/* ---- entries ---- */

/* The group of the dump with NAME, added if it is new. */
static uint32_t group_of(struct flight_reader *reader, struct flight_dump *dump, name_id name, name_id desc)
{
    struct flight *flight = reader->flight;
    for (size_t g = 0; g < dump->group_count; g++)
        if (flight->groups.at[dump->first_group + g].name == name) {
            reader->budget -= (int64_t)(g >> 4);
            return (uint32_t)g;
        }
    reader->budget -= (int64_t)(dump->group_count >> 4);
    *VEC_PUSH(&flight->groups) = (struct flight_group){ .name = name, .desc = desc, .list = FLIGHT_NO_LIST };
    return (uint32_t)dump->group_count++;
}

static bool is_flight_text(const struct python_value *value, const char *text)
{
    return value->len == strlen(text) && memcmp(value->text, text, value->len) == 0;
}

/* The status by state, `retired` and writer; FLIGHT_ISSUED for a state that no version is known to write. */
static enum flight_status status_of(struct flight_reader *reader, struct flight_dump *dump,
                                    const struct python_value *const *field, const struct flight_op *op)
{
    const struct python_value *state = field[W_STATE], *duration = field[W_DURATION];
    if (is_flight_text(state, "completed"))
        return FLIGHT_DONE;
    if (!is_flight_text(state, "scheduled") && !is_flight_text(state, "started")) {
        if (dump->unknown_states++ == 0)
            dump->unknown_state = text_of(reader, state);
        return FLIGHT_ISSUED;
    }
    if (!flight_is_true(field[W_RETIRED]))
        return FLIGHT_PENDING;
    if (duration && duration->kind != PYTHON_NONE) /* torchcomms on a CPU */
        return FLIGHT_DONE;
    static const enum flight_status by_writer[] = {
        [FLIGHT_DEVICE] = FLIGHT_FAILED,
        [FLIGHT_GLOO] = FLIGHT_ENDED,
        [FLIGHT_HOOK] = FLIGHT_ISSUED,
    };
    return by_writer[op->writer];
}

/* The first key that an entry needs and does not have; NULL: it has all. */
static const char *find_lack(const struct python_value *const *field)
{
    static const struct {
        enum word word;
        enum python_kind kind;
    } needed[] = {
        { W_RECORD_ID, PYTHON_INT },       { W_SEQ, PYTHON_INT },    { W_PROCESS_GROUP, PYTHON_LIST },
        { W_PROFILING_NAME, PYTHON_TEXT }, { W_STATE, PYTHON_TEXT }, { W_RETIRED, PYTHON_BOOL },
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const struct python_value *value = field[needed[i].word];
        if (!value || value->kind != needed[i].kind ||
            (needed[i].kind == PYTHON_INT && (value->integer < 0 || value->integer >= FLIGHT_MOST_SEQ)) ||
            (needed[i].kind == PYTHON_LIST &&
             (value->list->count < 2 || value->list->items[0].kind != PYTHON_TEXT)))
            return words[needed[i].word];
    }
    return NULL;
}

static void set_id(struct flight_group *group, int64_t id)
{
    if (id < 0)
        return;
    group->ids_differ = group->ids_differ || (group->has_id && group->id != id);
    group->has_id = true;
    group->id = id;
}

static bool read_flight_entry(struct flight_reader *reader, struct flight_dump *dump,
                              const struct python_value *value, struct tpa_error *err)
{
    struct flight *flight = reader->flight;
    const struct python_value *field[WORDS] = { 0 };
    if (value->kind != PYTHON_DICT)
        return tpa_fail(err, TPA_NOWHERE, "an entry of the dump is no dict");
    for (size_t i = 0; i + 1 < value->list->count; i += 2)
        if (value->list->items[i].kind == PYTHON_TEXT && value->list->items[i].word != PYTHON_NO_WORD)
            field[value->list->items[i].word] = &value->list->items[i + 1];
    reader->budget -= (int64_t)value->list->count;
    const char *lack = find_lack(field);
    if (lack)
        return tpa_fail(err, TPA_NOWHERE, "an entry of the dump has no valid '%s'", lack);
    const struct python_value *group = field[W_PROCESS_GROUP]->list->items;
    struct flight_entry entry = {
        .record = field[W_RECORD_ID]->integer,
        .seq = field[W_SEQ]->integer,
        .op_id = integer_of(field[W_OP_ID], INT64_MIN),
        .created_ns = integer_of(field[W_CREATED], 0),
        .group = group_of(reader, dump, text_of(reader, &group[0]), text_of(reader, &group[1])),
        .op = flight_op_of(flight, field[W_PROFILING_NAME]->text, field[W_PROFILING_NAME]->len),
        .shape = shape_of(reader, field),
        .call = call_of(reader, field[W_FRAMES]),
        .started = is_flight_text(field[W_STATE], "started"),
        .after_p2p = integer_of(field[W_P2P_SEQ], 0) > 0,
    };
    int64_t timeout_ms = integer_of(field[W_TIMEOUT], 0);
    entry.timeout_ms = timeout_ms < 0 ? 0 : timeout_ms < UINT32_MAX ? (uint32_t)timeout_ms : UINT32_MAX;
    const struct flight_op *op = &flight->ops.at[entry.op];
    entry.status = (uint8_t)status_of(reader, dump, field, op);
    entry.p2p = flight_is_true(field[W_IS_P2P]) || op->p2p;
    int64_t stamps[] = { entry.created_ns, integer_of(field[W_STARTED_NS], 0),
                         integer_of(field[W_COMPLETED_NS], 0) };
    for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++)
        if (stamps[i] > dump->latest_ns)
            dump->latest_ns = stamps[i];
    const struct python_value *thread = field[W_THREAD];
    bool has_thread = thread && thread->kind == PYTHON_TEXT && thread->len > 0;
    dump->has_stamps = dump->has_stamps || (entry.created_ns > 0 && (has_thread || entry.created_ns % 1000));
    uint64_t telling[] = { (uint64_t)entry.record,
                           (uint64_t)entry.seq,
                           (uint64_t)entry.op_id,
                           entry.op,
                           (uint64_t)entry.created_ns,
                           entry.status,
                           has_thread ? names_add(flight->texts, thread->text, thread->len) : NAME_NONE };
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        dump->hash = bits_mix(dump->hash, telling[i]);
    set_id(&flight->groups.at[dump->first_group + entry.group], integer_of(field[W_PG_ID], -1));
    *VEC_PUSH(&flight->entries) = entry;
    dump->count++;
    return true;
}

static bool is_in_order(const struct flight_entry *entries, size_t count)
{
    return !ANY_FROM(i, 1, count, entries[i].record < entries[i - 1].record);
}

static const struct key by_records[] = { ASC(struct flight_entry, record), KEY_END };

static bool read_entries(struct flight_reader *reader, struct flight_dump *dump,
                         const struct python_value *root, struct tpa_error *err)
{
    const struct python_value *entries = python_get(root, W_ENTRIES);
    if (entries && entries->kind != PYTHON_LIST && entries->kind != PYTHON_NONE)
        return tpa_fail(err, TPA_NOWHERE, "'entries' of the dump is no list");
    const struct python_list *list = items_of(reader, entries);
    VEC_RESERVE(&reader->flight->entries, list->count);
    for (size_t i = 0; i < list->count; i++)
        if (!read_flight_entry(reader, dump, &list->items[i], err))
            return false;
        else if (reader->budget < 0)
            return tpa_fail(err, TPA_NOWHERE, "the dump refers to the same values too often");
    if (dump->count == 0)
        return true;
    struct flight_entry *first = reader->flight->entries.at + dump->first;
    if (!is_in_order(first, dump->count))
        SORT_ARRAY(first, dump->count, by_records);
    for (size_t i = 1; i < dump->count; i++)
        if (first[i].record == first[i - 1].record)
            return tpa_fail(err, TPA_NOWHERE, "two entries of the dump have the record_id %lld",
                            (long long)first[i].record);
    return true;
}

/* ---- the whole dump ---- */

static void read_flight_groups(struct flight_reader *reader, struct flight_dump *dump,
                               const struct python_value *config)
{
    struct flight *flight = reader->flight;
    if (!config || config->kind != PYTHON_DICT)
        return;
    for (size_t i = 0; i + 1 < config->list->count; i += 2) {
        const struct python_value *about = &config->list->items[i + 1];
        if (config->list->items[i].kind != PYTHON_TEXT || about->kind != PYTHON_DICT)
            continue;
        name_id name = text_of(reader, &config->list->items[i]);
        uint32_t list = flight_list_of(flight, python_get(about, W_RANKS));
        if (names_length(flight->texts, name) == 0) {
            dump->empty_name_list = list;
            continue;
        }
        uint32_t g = group_of(reader, dump, name, text_of(reader, python_get(about, W_DESC)));
        flight->groups.at[dump->first_group + g].list = list;
        flight->groups.at[dump->first_group + g].configured = true;
    }
}

static void read_standings(struct flight_reader *reader, struct flight_dump *dump,
                           const struct python_value *status)
{
    if (!status || status->kind != PYTHON_DICT)
        return;
    for (size_t i = 0; i + 1 < status->list->count; i += 2) {
        const struct python_value *about = &status->list->items[i + 1];
        struct flight_standing standing = {
            .id = integer_of(&status->list->items[i], -1),
            .enqueued = integer_of(python_get(about, W_ENQUEUED), INT64_MIN),
            .started = integer_of(python_get(about, W_STARTED), -1),
            .completed = integer_of(python_get(about, W_COMPLETED), INT64_MIN),
        };
        if (standing.id < 0 || standing.enqueued < -1 || standing.completed < -1 ||
            standing.enqueued >= FLIGHT_MOST_SEQ || standing.completed >= FLIGHT_MOST_SEQ)
            continue;
        *VEC_PUSH(&reader->flight->standings) = standing;
        dump->standing_count++;
        dump->hash += bits_mix(bits_mix(bits_mix(0, (uint64_t)standing.id), (uint64_t)standing.enqueued),
                               (uint64_t)standing.completed); /* in any order */
    }
}

static bool has_text(const struct python_value *value)
{
    return value && value->kind == PYTHON_TEXT && value->len > 0;
}

static bool read_flight_dump(struct flight_reader *reader, const struct python_value *root,
                             struct flight_dump *dump, uint32_t *rank, struct tpa_error *err)
{
    const struct python_value *config = python_get(root, W_PG_CONFIG),
                              *status = python_get(root, W_PG_STATUS);
    if (!config && !status && !python_get(root, W_ENTRIES))
        return tpa_fail(err, TPA_NOWHERE,
                        "this is no dump of the Flight Recorder: it has no 'entries', 'pg_config' "
                        "or 'pg_status'");
    int64_t number = integer_of(python_get(root, W_RANK), -1);
    *rank = number >= 0 && number < FLIGHT_MOST_RANKS ? (uint32_t)number : FLIGHT_NO_RANK;
    dump->version = text_of(reader, python_get(root, W_VERSION));
    dump->is_known_version = strncmp(names_text(reader->flight->texts, dump->version), "2.", 2) == 0;
    dump->has_no_list = !dump->is_json && !python_get(root, W_ENTRIES);
    dump->names_library =
        has_text(python_get(root, W_LIB_VERSION)) || has_text(python_get(root, W_NCCL_VERSION));
    read_flight_groups(reader, dump, config);
    read_standings(reader, dump, status);
    return read_entries(reader, dump, root, err);
}

/* All of SOURCE in the buffer of READER. */
static bool read_flight_text(struct flight_reader *reader, struct source *source, struct tpa_error *err)
{
    enum { AT_A_TIME = 65536 };
    int64_t got = AT_A_TIME;
    buffer_clear(&reader->text);
    while (got == AT_A_TIME) {
        VEC_RESERVE(&reader->text, AT_A_TIME + 1);
        got = source_read(source, reader->text.at + reader->text.count, AT_A_TIME, err);
        if (got < 0)
            return false;
        reader->text.count += (size_t)got;
    }
    reader->text.at[reader->text.count] = '\0';
    return true;
}

/* May the text that begins with these bytes be the JSON of a dump, which has to be read to its end to know? */
static bool may_be_json(const char *bytes, size_t len)
{
    size_t i = json_behind_blanks(bytes, len, 0);
    return i < len && bytes[i] == '{';
}

bool flight_reader_add(struct flight_reader *reader, struct source *source, uint32_t *rank,
                       struct tpa_error *err)
{
    struct flight *flight = reader->flight;
    struct flight_dump dump = {
        .rank = FLIGHT_NO_RANK,
        .first = flight->entries.count,
        .first_group = flight->groups.count,
        .first_standing = flight->standings.count,
        .empty_name_list = FLIGHT_NO_LIST,
    };
    const char *bytes;
    struct tpa_error failed = { 0 };
    size_t len = source_peek(source, &bytes, &failed);
    if (failed.failed) {
        *err = failed;
        return false;
    }
    struct python_value root;
    bool good;
    if (pickle_sniff(bytes, len)) {
        good = python_read_pickle(&reader->tree, &reader->pickle, source, "a dump of the Flight Recorder",
                                  &root, err);
        reader->budget = pickle_offset(&reader->pickle);
    } else if (!may_be_json(bytes, len)) {
        return tpa_fail(err, TPA_NOWHERE, "the file is neither a pickle nor a JSON object");
    } else {
        dump.is_json = true;
        good = read_flight_text(reader, source, err) &&
               python_read_json(&reader->tree, reader->text.at, reader->text.count, &root, err);
        reader->budget = (int64_t)reader->text.count;
    }
    reader->budget = 16 * reader->budget + 10000;
    good = good && read_flight_dump(reader, &root, &dump, rank, err);
    if (!good) {
        flight->entries.count = dump.first;
        flight->groups.count = dump.first_group;
        flight->standings.count = dump.first_standing;
        return false;
    }
    *VEC_PUSH(&flight->dumps) = dump;
    return true;
}
