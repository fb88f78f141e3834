/* facts.c - see facts.h. All operations on rows use the lists of columns below. */
#include "figures/facts.h"

#include "base/runs.h"
#include <inttypes.h>

/* clang-format off */
#define INTEGER(row, field, bounds_, help_) { #field, FACTS_INT64, offsetof(struct row, field), help_, FACTS_##bounds_ }
#define TEXT(row, field, help_) { #field, FACTS_TEXT, offsetof(struct row, field), help_, FACTS_ANY }
#define PART(key_, index, help_) \
    { key_, FACTS_INT64, offsetof(struct facts_step, part_ns) + (index) * sizeof(int64_t), help_, FACTS_MAYBE_PART }
#define CAUSE(id, owner, word, column, ...) PART("idle_" column "_ns", PART_IDLE + GAP_##id, "idle: cause of tpa gaps"),

static const struct facts_column recording_columns[] = {
    INTEGER(facts_recording, recording, ANY, "number of the recording, made of all that it says"),
    INTEGER(facts_recording, rank, MAYBE, "rank of the process"),
    INTEGER(facts_recording, world_size, MAYBE, "ranks of the job"),
    TEXT(facts_recording, job, "name of the job, as given to tpa facts"),
    TEXT(facts_recording, backend, "what its processes communicate with"),
    TEXT(facts_recording, file, "name of the trace, without its folder"),
    TEXT(facts_recording, host, "name of the host"),
    TEXT(facts_recording, process, "number of the process on its host"),
    TEXT(facts_recording, producer, "what wrote the trace"),
    TEXT(facts_recording, device, "model of the first device"),
    TEXT(facts_recording, version, "version of tpa that made the facts"),
    INTEGER(facts_recording, has_clock, AMOUNT, "1: moments count from one origin for all processes of the host"),
    INTEGER(facts_recording, start_ns, NUMBER, "start of the first event, by the clock of the host"),
    INTEGER(facts_recording, end_ns, NUMBER, "end of the last event"),
    INTEGER(facts_recording, events, AMOUNT, "events of the trace"),
    INTEGER(facts_recording, bytes, NUMBER, "size of the trace as text"),
    INTEGER(facts_recording, devices, AMOUNT, "devices with work"),
    INTEGER(facts_recording, cut, AMOUNT, "1: the trace was cut short or damaged"),
    INTEGER(facts_recording, input, ANY, "equal for the recordings of one merged file; missing: it was alone in its file"),
    TEXT(facts_recording, form, "where its operations ran: devices, hosts; timeline: slices are operations; missing: not known"),
    INTEGER(facts_recording, marked, MAYBE, "1: marks name its microbatches"),
    INTEGER(facts_recording, dp, MAYBE, "coordinate of the rank: replica"),
    INTEGER(facts_recording, pp, MAYBE, "stage"),
    INTEGER(facts_recording, tp, MAYBE, "among tensor ranks"),
    INTEGER(facts_recording, cp, MAYBE, "among context ranks"),
    INTEGER(facts_recording, ep, MAYBE, "among expert ranks"),
};

static const struct facts_column device_columns[] = {
    INTEGER(facts_device, recording, ANY, "the recording"),
    INTEGER(facts_device, device, NUMBER, "number of the device"),
    TEXT(facts_device, name, "model"),
    INTEGER(facts_device, total_memory, MAYBE, "bytes"),
    INTEGER(facts_device, multiprocessors, MAYBE, "multiprocessors, compute units"),
    INTEGER(facts_device, span_ns, AMOUNT, "from the first to the last work"),
    INTEGER(facts_device, busy_ns, AMOUNT, "union of all work"),
    { "works", FACTS_INT64, offsetof(struct facts_device, operations), "kernels, copies and memsets", FACTS_AMOUNT },
    INTEGER(facts_device, unlinked, AMOUNT, "those whose call is not in the trace"),
    INTEGER(facts_device, queued, AMOUNT, "those that began after their call had returned"),
    INTEGER(facts_device, queue_ns, AMOUNT, "from the end of the call to the start of these, added up"),
    INTEGER(facts_device, peak_allocated, MAYBE, "most bytes in use by the allocator"),
    INTEGER(facts_device, peak_reserved, MAYBE, "most bytes held by the allocator"),
};

static const struct facts_column group_columns[] = {
    INTEGER(facts_group, recording, ANY, "the recording"),
    INTEGER(facts_group, group, NUMBER, "number of the process group within the recording"),
    TEXT(facts_group, name, "its name"),
    TEXT(facts_group, description, "its description"),
    TEXT(facts_group, ranks, "its ranks, as the trace lists them; of a long list the beginning and a hash of all"),
    INTEGER(facts_group, size, NUMBER, "how many ranks it has"),
    INTEGER(facts_group, collectives, NUMBER, "collectives of the recording in it"),
    INTEGER(facts_group, unnumbered, NUMBER, "those of them without a number"),
};

static const struct facts_column step_columns[] = {
    INTEGER(facts_step, recording, ANY, "the recording"),
    INTEGER(facts_step, device, MAYBE, "number of the device"),
    INTEGER(facts_step, number, MAYBE, "N of ProfilerStep#N; missing: no steps are marked, and this is the whole recording"),
    INTEGER(facts_step, start_ns, NUMBER, "when it began as it ran, by the clock of the host"),
    INTEGER(facts_step, duration_ns, AMOUNT, "what the next add up to, all_communication_ns, loading_ns and blocked_ns aside"),
    INTEGER(facts_step, complete, AMOUNT, "1: recorded to its end"),
    PART("computation_ns", PART_COMPUTATION, "kernels that do not communicate, and memsets"),
    PART("exposed_communication_ns", PART_EXPOSED, "communication while nothing computed"),
    PART("exposed_copies_ns", PART_COPIES, "copies while nothing computed or communicated"),
    GAP_CAUSE_ROWS(CAUSE)
    PART("idle_edge_ns", PART_EDGE, "idle: before the first work of the device, or after the last"),
    INTEGER(facts_step, all_communication_ns, MAYBE_PART, "communication, whether exposed or not"),
    INTEGER(facts_step, loading_ns, AMOUNT, "a host thread was in a data loader"),
    INTEGER(facts_step, blocked_ns, AMOUNT, "a host thread was held up by a synchronization, a copy or pinning"),
};

static const struct facts_column name_columns[] = {
    INTEGER(facts_name, recording, ANY, "the recording"),
    INTEGER(facts_name, device, MAYBE, "number of the device; missing on the host"),
    TEXT(facts_name, kind, "kernel, copy, operator, call, annotation"),
    TEXT(facts_name, name, "the name"),
    INTEGER(facts_name, count, AMOUNT, "how often it ran"),
    INTEGER(facts_name, sum_ns, AMOUNT, "durations added up"),
    INTEGER(facts_name, min_ns, AMOUNT, "the shortest"),
    INTEGER(facts_name, max_ns, AMOUNT, "the longest"),
    INTEGER(facts_name, squares_high, ANY, "squares of the durations added up, in ns^2: the upper 64 of 128 bits"),
    INTEGER(facts_name, squares_low, ANY, "the lower 64 bits"),
    { "sketch", FACTS_BYTES, offsetof(struct facts_name, sketch), "the durations, from 1,000 on within 0.8 %", FACTS_ANY },
};

static const struct facts_column collective_columns[] = {
    INTEGER(facts_collective, recording, ANY, "the recording"),
    INTEGER(facts_collective, device, NUMBER, "number of the device; -1: it ran on the host"),
    INTEGER(facts_collective, start_ns, NUMBER, "by the clock of the host"),
    INTEGER(facts_collective, duration_ns, AMOUNT, "waiting for others included"),
    INTEGER(facts_collective, group, NUMBER, "of the table groups"),
    TEXT(facts_collective, kind, "all_reduce ..."),
    TEXT(facts_collective, type, "of the elements"),
    INTEGER(facts_collective, sequence, MAYBE, "number within the group, the same on every rank"),
    INTEGER(facts_collective, step, MAYBE, "the step it was issued in"),
    INTEGER(facts_collective, bytes, MAYBE, "its size as NCCL's tests count it"),
    INTEGER(facts_collective, source, MAYBE, "of a send or receive: who sends, by number in the group"),
    INTEGER(facts_collective, target, MAYBE, "who receives"),
    INTEGER(facts_collective, waited_rank, MAYBE, "the rank of the job that arrived last, if the recorder says so"),
    INTEGER(facts_collective, waited_ns, MAYBE, "how long that was waited for, from the start"),
    INTEGER(facts_collective, exposed_ns, MAYBE, "the part in which nothing computed on the device"),
    INTEGER(facts_collective, computed_before_ns, MAYBE_PART, "computation from the first work to the start"),
    INTEGER(facts_collective, communicated_before_ns, MAYBE_PART, "exposed communication until then"),
    INTEGER(facts_collective, copied_before_ns, MAYBE_PART, "exposed copies until then"),
    INTEGER(facts_collective, loading_before_ns, MAYBE_PART, "idle for data loading until then"),
    INTEGER(facts_collective, host_before_ns, MAYBE_PART, "idle until then for any other cause"),
    INTEGER(facts_collective, computed_until_ns, MAYBE_PART, "the same until the end"),
    INTEGER(facts_collective, communicated_until_ns, MAYBE_PART, "exposed communication until the end"),
    INTEGER(facts_collective, copied_until_ns, MAYBE_PART, "exposed copies until the end"),
    INTEGER(facts_collective, loading_until_ns, MAYBE_PART, "idle for data loading until the end"),
    INTEGER(facts_collective, host_until_ns, MAYBE_PART, "idle until the end for any other cause"),
};

static const struct facts_column notice_columns[] = {
    INTEGER(facts_notice, recording, ANY, "the recording"),
    TEXT(facts_notice, kind, "a word for scripts"),
    TEXT(facts_notice, text, "what was odd or left out"),
    INTEGER(facts_notice, count, AMOUNT, "how often"),
};

static const struct facts_column operation_columns[] = {
    INTEGER(facts_operation, recording, ANY, "the recording"),
    INTEGER(facts_operation, number, AMOUNT, "number within the recording"),
    TEXT(facts_operation, type, "forward-compute ...; missing: only communication, or garbage"),
    INTEGER(facts_operation, step, MAYBE, "N of ProfilerStep#N; missing: no steps are marked"),
    INTEGER(facts_operation, start_ns, NUMBER, "from the start of the recording"),
    INTEGER(facts_operation, duration_ns, AMOUNT, "from the first to the last of its work"),
    INTEGER(facts_operation, stage, MAYBE, "stage of the model; missing: that of the rank"),
    INTEGER(facts_operation, chunk, MAYBE, "place of the stage among those of the rank"),
    INTEGER(facts_operation, microbatch, MAYBE, "number of the microbatch"),
    INTEGER(facts_operation, serves, MAYBE, "of a message: number of the computation that it leaves or reaches"),
    INTEGER(facts_operation, sequence, MAYBE, "of timelines: number among equal ones of the step"),
    TEXT(facts_operation, kind, "of communication: send, recv, all_reduce ...; gc: a collection of garbage"),
    TEXT(facts_operation, dimension, "of communication: dp, pp, tp, cp, ep; world: all ranks; -: not known"),
    INTEGER(facts_operation, issued_step, MAYBE, "of communication and garbage: the step in which it was issued"),
    INTEGER(facts_operation, exposed_ns, MAYBE, "of communication: the part in which the device did nothing else"),
};

#define SCHEMA(key, row, columns) { key, sizeof(struct row), columns, sizeof(columns) / sizeof *(columns) }
const struct facts_schema facts_tables[FACTS_TABLES] = {
    [FACTS_RECORDINGS] = SCHEMA("recordings", facts_recording, recording_columns),
    [FACTS_DEVICES] = SCHEMA("devices", facts_device, device_columns),
    [FACTS_GROUPS] = SCHEMA("groups", facts_group, group_columns),
    [FACTS_STEPS] = SCHEMA("steps", facts_step, step_columns),
    [FACTS_NAMES] = SCHEMA("names", facts_name, name_columns),
    [FACTS_COLLECTIVES] = SCHEMA("collectives", facts_collective, collective_columns),
    [FACTS_NOTICES] = SCHEMA("notices", facts_notice, notice_columns),
    [FACTS_OPERATIONS] = SCHEMA("operations", facts_operation, operation_columns),
};
/* clang-format on */

/* ---- rows ---- */

/* Of OF, a struct facts: what takes another place when facts are collected or finished. */
static void facts_release(void *of)
{
    struct facts *facts = of;
    EACH(arena_free, facts->texts, facts->known);
    arena_release(&facts->arena);
}

struct facts *facts_open(void)
{
    struct facts *facts = arena_open(sizeof *facts);
    ARENA_OWNS_EACH(arena_of(facts), facts->tables, FACTS_TABLES, at);
    arena_defer(arena_of(facts), facts_release, facts);
    facts->texts = names_open();
    facts->known = names_open();
    return facts;
}

static char *row_at(const struct facts *facts, enum facts_table table, size_t index)
{
    return (char *)facts->tables[table].at + index * facts_tables[table].row_size;
}

void facts_add(struct facts *facts, enum facts_table table, const void *row)
{
    struct facts_rows *rows = &facts->tables[table];
    size_t size = facts_tables[table].row_size;
    if (rows->count == rows->capacity)
        rows->at = vec_grow(rows->at, &rows->capacity, rows->count + 1, size);
    memcpy((char *)rows->at + rows->count++ * size, row, size);
}

unsigned facts_lacks(const struct facts *facts)
{
    unsigned lacks = 0;
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    const struct facts_notice *notices = facts_rows(facts, FACTS_NOTICES);
    for (size_t i = 0; i < facts->tables[FACTS_NOTICES].count; i++)
        if (notices[i].kind != NAME_NONE)
            lacks |= lacks_of_word(names_text(facts->texts, notices[i].kind));
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count && !lacks; i++)
        if (recordings[i].cut > 0)
            lacks = LACKS_PARTS;
    return lacks;
}

name_id facts_text(struct facts *facts, const char *text)
{
    return text ? names_add(facts->texts, text, strlen(text)) : NAME_NONE;
}

static int64_t integer_of(const char *row, const struct facts_column *column)
{
    int64_t value;
    memcpy(&value, row + column->offset, sizeof value);
    return value;
}

/* The text or the bytes of a row; AT is NULL if missing. */
static struct facts_bytes bytes_of(const struct facts *facts, const char *row,
                                   const struct facts_column *column)
{
    struct facts_bytes bytes;
    if (column->type == FACTS_BYTES) {
        memcpy(&bytes, row + column->offset, sizeof bytes);
        return bytes;
    }
    name_id id;
    memcpy(&id, row + column->offset, sizeof id);
    return id == NAME_NONE
               ? (struct facts_bytes){ 0 }
               : (struct facts_bytes){ names_text(facts->texts, id), names_length(facts->texts, id) };
}

/* ---- bounds ---- */

static bool is_within(enum facts_bounds bounds, int64_t number)
{
    bool is_amount = bounds == FACTS_AMOUNT || bounds == FACTS_MAYBE_PART;
    return bounds == FACTS_ANY || (number <= FACTS_MOST && number >= (is_amount ? 0 : -FACTS_MOST)) ||
           (number == FACTS_MISSING && (bounds == FACTS_MAYBE || bounds == FACTS_MAYBE_PART));
}

/* Clamp the numbers of ROW to their bounds. Returns how many were outside. */
static int64_t check_row(const struct facts_schema *schema, char *row)
{
    int64_t odd = 0;
    bool lacks_part = false;
    FOR_EACH_OF(column, schema->columns, schema->column_count) {
        if (column->type != FACTS_INT64)
            continue;
        int64_t number = integer_of(row, column);
        if (!is_within(column->bounds, number)) {
            odd++;
            number = column->bounds == FACTS_MAYBE || column->bounds == FACTS_MAYBE_PART ? FACTS_MISSING : 0;
            memcpy(row + column->offset, &number, sizeof number);
        }
        lacks_part |= column->bounds == FACTS_MAYBE_PART && number == FACTS_MISSING;
    }
    for (size_t c = 0; c < schema->column_count && lacks_part; c++) {
        const struct facts_column *column = &schema->columns[c];
        int64_t missing = FACTS_MISSING;
        if (column->type != FACTS_INT64 || column->bounds != FACTS_MAYBE_PART ||
            integer_of(row, column) == FACTS_MISSING)
            continue;
        odd++;
        memcpy(row + column->offset, &missing, sizeof missing);
    }
    return odd;
}

void facts_check(struct facts *facts)
{
    struct {
        VEC_OF(struct facts_notice);
    } notices = { 0 };
    SCOPED_OBJECT struct names *recordings = names_open(); /* those with a notice */
    for (size_t t = 0; t < FACTS_TABLES; t++)
        for (size_t i = 0; i < facts->tables[t].count; i++) {
            char *row = row_at(facts, (enum facts_table)t, i);
            int64_t odd = check_row(&facts_tables[t], row), recording;
            if (!odd)
                continue;
            memcpy(&recording, row, sizeof recording);
            name_id place = names_add(recordings, row, sizeof recording);
            while (notices.count <= place)
                *VEC_PUSH(&notices) = (struct facts_notice){
                    recording, facts_text(facts, FACTS_ODD_NUMBERS),
                    facts_text(facts,
                               "numbers of these facts are outside of their range and count as not known"),
                    0
                };
            notices.at[place].count += odd;
        }
    for (size_t i = 0; i < notices.count; i++)
        facts_add(facts, FACTS_NOTICES, &notices.at[i]);
    VEC_FREE(&notices);
}

/* ---- the number of a recording ---- */

/* Mix every bit of VALUE over the whole sum (the finalizer of splitmix64). */
static uint64_t mixed(uint64_t sum, uint64_t value)
{
    uint64_t x = sum * UINT64_C(0x9e3779b97f4a7c15) + value + UINT64_C(0x632be59bd9b4e019);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t mixed_bytes(uint64_t sum, struct facts_bytes bytes)
{
    sum = mixed(sum, bytes.at ? bytes.len : UINT64_MAX);
    for (size_t i = 0; bytes.at && i < bytes.len; i += 8) {
        uint64_t word = 0;
        for (size_t b = 0; b < 8 && i + b < bytes.len; b++)
            word |= (uint64_t)(unsigned char)bytes.at[i + b] << (8 * b);
        sum = mixed(sum, word);
    }
    return sum;
}

static uint64_t sum_of_row(const struct facts *facts, enum facts_table table, const char *row)
{
    const struct facts_schema *schema = &facts_tables[table];
    uint64_t sum = (uint64_t)table + 1;
    for (size_t c = 1; c < schema->column_count; c++)
        sum = schema->columns[c].type == FACTS_INT64
                  ? mixed(sum, (uint64_t)integer_of(row, &schema->columns[c]))
                  : mixed_bytes(sum, bytes_of(facts, row, &schema->columns[c]));
    return sum;
}

static bool is_known(const struct names *numbers, int64_t number)
{
    return names_find(numbers, (const char *)&number, sizeof number) != NAME_NONE;
}

static void remember(struct names *numbers, int64_t number)
{
    names_add(numbers, (const char *)&number, sizeof number);
}

name_id facts_list(struct facts *facts, const char *list)
{
    enum { LONGEST = 256, BEGINNING = 160 };
    size_t len = list ? strlen(list) : 0, shown = BEGINNING;
    if (len <= LONGEST)
        return facts_text(facts, list);
    while (shown > 0 && list[shown] != ',')
        shown--;
    char text[LONGEST];
    uint64_t number = mixed_bytes(0, (struct facts_bytes){ list, len });
    snprintf(text, sizeof text, "%.*s%s... #%016" PRIx64, (int)shown, list, shown ? ", " : "", number);
    return facts_text(facts, text);
}

int64_t facts_number(const void *bytes, size_t len)
{
    return (int64_t)(mixed_bytes(0, (struct facts_bytes){ bytes, len }) & INT64_MAX);
}

void facts_seal(struct facts *facts)
{
    uint64_t sum = 0; /* of all rows, independent of order */
    for (size_t t = 0; t < FACTS_TABLES; t++)
        for (size_t i = 0; i < facts->tables[t].count; i++)
            sum += sum_of_row(facts, (enum facts_table)t, row_at(facts, (enum facts_table)t, i));
    int64_t number =
        (int64_t)(mixed(FACTS_VERSION, sum) & INT64_MAX); /* some readers do not support unsigned numbers */
    for (size_t t = 0; t < FACTS_TABLES; t++)
        for (size_t i = 0; i < facts->tables[t].count; i++)
            memcpy(row_at(facts, (enum facts_table)t, i), &number, sizeof number);
    remember(facts->known, number);
}

/* ---- merging ---- */

/* Copy ROW of OTHER with its texts and bytes. IDS: the ids of the texts of OTHER here. */
static void add_foreign(struct facts *facts, enum facts_table table, const char *row, const name_id *ids)
{
    const struct facts_schema *schema = &facts_tables[table];
    facts_add(facts, table, row);
    char *own = row_at(facts, table, facts->tables[table].count - 1);
    FOR_EACH_OF(column, schema->columns, schema->column_count) {
        if (column->type == FACTS_TEXT) {
            name_id id;
            memcpy(&id, own + column->offset, sizeof id);
            id = id == NAME_NONE ? id : ids[id];
            memcpy(own + column->offset, &id, sizeof id);
        } else if (column->type == FACTS_BYTES) {
            struct facts_bytes bytes;
            memcpy(&bytes, own + column->offset, sizeof bytes);
            bytes.at = bytes.at ? arena_strndup(&facts->arena, bytes.at, bytes.len) : NULL;
            memcpy(own + column->offset, &bytes, sizeof bytes);
        }
    }
}

/* Add the rows of OTHER whose recording is one of NUMBERS. */
static void merge_table(struct facts *facts, const struct facts *other, enum facts_table table,
                        const name_id *ids, const struct names *numbers)
{
    int64_t last = 0;
    bool wanted = false;
    for (size_t i = 0; i < other->tables[table].count; i++) {
        const char *row = row_at(other, table, i);
        int64_t number;
        memcpy(&number, row, sizeof number);
        if (i == 0 || number != last)
            wanted = is_known(numbers, number);
        last = number;
        if (wanted)
            add_foreign(facts, table, row, ids);
    }
}

/* New, free with names_free: the recordings of OTHER that are new here; marks them as known. */
static struct names *collect_numbers(struct facts *facts, const struct facts *other)
{
    struct names *numbers = names_open();
    const struct facts_recording *recordings = facts_rows(other, FACTS_RECORDINGS);
    for (size_t i = 0; i < other->tables[FACTS_RECORDINGS].count; i++) {
        if (is_known(facts->known, recordings[i].recording)) {
            facts->repeats++;
            continue;
        }
        remember(facts->known, recordings[i].recording);
        remember(numbers, recordings[i].recording);
    }
    return numbers;
}

bool facts_know(const struct facts *facts, int64_t number)
{
    return is_known(facts->known, number);
}

void facts_merge(struct facts *facts, const struct facts *other)
{
    size_t text_count = names_count(other->texts);
    SCOPED name_id *ids = mem_alloc(mem_times(text_count + 1, sizeof *ids));
    for (name_id id = 0; id < text_count; id++)
        ids[id] = names_add(facts->texts, names_text(other->texts, id), names_length(other->texts, id));
    SCOPED_OBJECT struct names *numbers = collect_numbers(facts, other);
    for (size_t t = 0; t < FACTS_TABLES; t++)
        merge_table(facts, other, (enum facts_table)t, ids, numbers);
    facts->repeats += other->repeats;
}

void facts_collect(struct facts *facts, struct facts *other)
{
    if (facts->tables[FACTS_RECORDINGS].count > 0) {
        facts_merge(facts, other);
        return;
    }
    struct facts taken = *other;
    *other = *facts;
    *facts = taken;
    facts->repeats += other->repeats;
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count; i++)
        remember(facts->known, recordings[i].recording);
}

/* ---- order ---- */

struct order {
    const struct facts *facts;
    const struct facts_schema *schema;
};

static int compare_bytes(struct facts_bytes a, struct facts_bytes b)
{
    if (!a.at || !b.at)
        return (a.at != NULL) - (b.at != NULL);
    size_t both = a.len < b.len ? a.len : b.len;
    int order = both ? memcmp(a.at, b.at, both) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool belongs_behind(const void *context, const void *a, const void *b)
{
    const struct order *order = context;
    FOR_EACH_OF(column, order->schema->columns, order->schema->column_count) {
        int64_t left, right;
        if (column->type == FACTS_INT64) {
            left = integer_of(a, column);
            right = integer_of(b, column);
        } else {
            left = compare_bytes(bytes_of(order->facts, a, column), bytes_of(order->facts, b, column));
            right = 0;
        }
        if (left != right)
            return left > right;
    }
    return false;
}

/* Number the texts in the order of rows, so that the numbers depend only on the rows. */
static void number_texts(struct facts *facts)
{
    struct names *texts = names_open();
    for (size_t t = 0; t < FACTS_TABLES; t++)
        FOR_EACH_OF(column, facts_tables[t].columns, facts_tables[t].column_count) {
            for (size_t i = 0; column->type == FACTS_TEXT && i < facts->tables[t].count; i++) {
                char *row = row_at(facts, (enum facts_table)t, i);
                struct facts_bytes text = bytes_of(facts, row, column);
                name_id id = text.at ? names_add(texts, text.at, text.len) : NAME_NONE;
                memcpy(row + column->offset, &id, sizeof id);
            }
        }
    names_free(facts->texts);
    facts->texts = texts;
}

void facts_finish(struct facts *facts)
{
    for (size_t t = 0; t < FACTS_TABLES; t++) {
        struct order order = { facts, &facts_tables[t] };
        runs_sort(facts->tables[t].at, facts->tables[t].count, facts_tables[t].row_size, belongs_behind,
                  &order);
    }
    number_texts(facts);
}
