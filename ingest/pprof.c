/*
 * pprof.c - profiles of pprof (profile.proto): written by Go, gperftools, JAX's device memory profile and
 * perf_to_profile.
 *
 *     Profile   1 sample_type[] ValueType 2 sample[] 4 location[] 5 function[] 6 string_table[] 14 default_sample_type
 *     ValueType 1 type   2 unit                  numbers of strings
 *     Sample    1 location_id[], innermost first 2 value[], one for each sample_type
 *     Location  1 id   3 address   4 line[] { 1 function_id   2 line }, innermost inlined call first
 *     Function  1 id   2 name   4 filename
 *
 * Definition: github.com/google/pprof/blob/main/proto/profile.proto. The value shown is the same as in pprof: that of
 * default_sample_type, else the last. Tables follow the messages that refer to them, so the whole file is held in
 * memory.
 */
#include "ingest/formats.h"
#include "base/search.h"
#include "base/rows.h"

#include "ingest/stack_sums.h"
#include "ingest/wire.h"
#include <inttypes.h>

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DEFAULT_TYPE = 14
};

/* A file may refer to a location of very many calls in very many samples, so that a few megabytes expand to gigabytes
 * of stacks. The total size of stacks is bounded by the size of the file; real files are far below the bound: most
 * calls take a byte or two each time, and few have more than one inlined call. */
enum { FRAMES_PER_BYTE = 4, NODES_PER_BYTE = 1, ALWAYS_FINE = 1 << 20 };

/* A message of one of the tables, by its id. */
struct pprof_entry {
    uint64_t id;
    const uint8_t *bytes;
    size_t len;
    size_t first, count; /* of a location: its calls in reader->calls, once determined; else count is 0 */
};

struct pprof_table {
    VEC_OF(struct pprof_entry);
};

struct pprof {
    struct stack_sums sums;
    struct pprof_table strings, locations, functions; /* strings in order, the others by id */
    VEC_OF(struct pprof_entry) types;                 /* ids: numbers of their names */
    VEC_OF(function_id) calls;                        /* of all locations used so far */
    VEC_OF(function_id) frames;                       /* of the current sample */
    uint64_t default_type;
    int64_t work_left; /* calls of stacks, bytes of texts; below 0: too much */
    size_t most_nodes;
};

static struct wire wire_of(const struct pprof_entry *entry)
{
    return wire_over(entry->bytes, entry->len);
}

/* The varint in field NUMBER of ENTRY; 0 if it has none. */
static uint64_t number_in(const struct pprof_entry *entry, uint32_t number)
{
    struct wire in = wire_of(entry);
    struct wire_field field;
    uint64_t value = 0;
    while (wire_next(&in, &field))
        if (wire_is(&field, number, WIRE_VARINT))
            value = field.value;
    return value;
}

static struct pprof_entry string_at(const struct pprof *reader, uint64_t number)
{
    return number < reader->strings.count ? reader->strings.at[number]
                                          : (struct pprof_entry){ 0, (const uint8_t *)"", 0 };
}

static const struct key pprof_by_id[] = { ASC(struct pprof_entry, id), KEY_END };

static void sort_table(struct pprof_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        table->at[i].id = number_in(&table->at[i], 1);
    SORT(table, pprof_by_id);
}

static struct pprof_entry *pprof_find(const struct pprof_table *table, uint64_t id)
{
    size_t i = PLACE(k, table->count, table->at[k].id < id);
    return i < table->count && table->at[i].id == id ? &table->at[i] : NULL;
}

/* A line of a location: its function, FUNCTION_NONE if the file has no such function. */
static function_id pprof_function_of(struct pprof *reader, struct wire in)
{
    struct wire_field field;
    uint64_t id = 0, line = 0;
    while (wire_next(&in, &field))
        if (wire_is(&field, 1, WIRE_VARINT))
            id = field.value;
        else if (wire_is(&field, 2, WIRE_VARINT))
            line = field.value;
    const struct pprof_entry *function = pprof_find(&reader->functions, id);
    if (!function)
        return FUNCTION_NONE;
    uint64_t start = number_in(function, 5);
    struct pprof_entry name = string_at(reader, number_in(function, 2)),
                       file = string_at(reader, number_in(function, 4));
    reader->work_left -= (int64_t)(name.len + file.len + function->len);
    return stack_sums_function(&reader->sums, (const char *)name.bytes, name.len, (const char *)file.bytes,
                               file.len, (int64_t)(start ? start : line));
}

/* Find the calls of LOCATION, the innermost first; without symbols there is one, its address or its number ID. */
static void find_calls(struct pprof *reader, uint64_t id, struct pprof_entry *location)
{
    struct wire in = location->bytes ? wire_of(location) : wire_over("", 0);
    struct wire_field field;
    location->first = reader->calls.count;
    while (reader->work_left >= 0 && wire_next(&in, &field))
        if (wire_is(&field, 4, WIRE_BYTES)) {
            function_id function = pprof_function_of(reader, wire_in(&field));
            if (function != FUNCTION_NONE)
                *VEC_PUSH(&reader->calls) = function;
        }
    if (reader->calls.count == location->first) {
        char text[32];
        int len = snprintf(text, sizeof text, "0x%" PRIx64, location->bytes ? number_in(location, 3) : id);
        *VEC_PUSH(&reader->calls) = stack_sums_function(&reader->sums, text, (size_t)len, "", 0, 0);
    }
    location->count = reader->calls.count - location->first;
}

/* Add the frames of the location ID, the innermost first. */
static void add_location(struct pprof *reader, uint64_t id)
{
    struct pprof_entry unknown = { 0 }, *location = pprof_find(&reader->locations, id);
    if (!location) {
        location = &unknown;
        stack_sums_odd(&reader->sums, TPA_NOWHERE);
    }
    if (!location->count)
        find_calls(reader, id, location);
    reader->work_left -= (int64_t)location->count;
    for (size_t i = 0; i < location->count && reader->work_left >= 0; i++)
        *VEC_PUSH(&reader->frames) = reader->calls.at[location->first + i];
}

/* Value number WANTED of a sample, and its frames. */
static void read_sample(struct pprof *reader, struct wire in, size_t wanted, double seconds,
                        enum profile_figures figures)
{
    struct wire_field field;
    size_t values = 0;
    int64_t value = 0;
    reader->frames.count = 0;
    while (wire_next(&in, &field)) {
        struct wire packed = field.type == WIRE_BYTES ? wire_in(&field) : wire_over("", 0);
        if (field.number != 1 && field.number != 2)
            continue;
        bool single = field.type == WIRE_VARINT;
        for (uint64_t number = field.value;
             single || (packed.at < packed.end && wire_varint(&packed, &number));) {
            if (field.number == 1)
                add_location(reader, number);
            else if (values++ == wanted)
                value = (int64_t)number;
            if (single)
                break;
        }
    }
    stack_id stack = STACK_ROOT;
    for (size_t i = reader->frames.count; i-- > 0 && reader->sums.nodes.count <= reader->most_nodes;)
        stack = stack_sums_below(&reader->sums, stack, reader->frames.at[i]);
    int64_t samples = figures == PROFILE_COUNT ? value : 1;
    if (stack == STACK_ROOT || in.damaged ||
        !stack_sums_add(&reader->sums, stack, (double)value * seconds, samples))
        stack_sums_odd(&reader->sums, TPA_NOWHERE);
}

/* Read the tables; false and ERR if damaged. */
static bool pprof_read_tables(struct pprof *reader, struct wire in, const uint8_t *begin,
                              struct tpa_error *err)
{
    struct wire_field field;
    while (wire_next(&in, &field)) {
        struct pprof_entry entry = { 0, field.bytes, (size_t)field.value };
        if (wire_is(&field, PROFILE_DEFAULT_TYPE, WIRE_VARINT))
            reader->default_type = field.value;
        if (field.type != WIRE_BYTES)
            continue;
        switch (field.number) {
        case PROFILE_SAMPLE_TYPE: *VEC_PUSH(&reader->types) = entry; break;
        case PROFILE_LOCATION: *VEC_PUSH(&reader->locations) = entry; break;
        case PROFILE_FUNCTION: *VEC_PUSH(&reader->functions) = entry; break;
        case PROFILE_STRING: *VEC_PUSH(&reader->strings) = entry; break;
        default: break;
        }
    }
    sort_table(&reader->locations);
    sort_table(&reader->functions);
    if (!in.damaged)
        return true;
    tpa_fail(err, in.at - begin, "the profile is cut short or damaged: no field of a message of pprof");
    return tpa_hint(err, "was the program stopped before it had written its profile?");
}

static struct profile *pprof_read_samples(struct pprof *reader, struct wire in, struct tpa_error *err)
{
    size_t wanted = reader->types.count ? reader->types.count - 1 : 0;
    for (size_t i = 0; i < reader->types.count && reader->default_type; i++)
        if (number_in(&reader->types.at[i], 1) == reader->default_type)
            wanted = i;
    struct pprof_entry unit = { 0, (const uint8_t *)"", 0 };
    if (reader->types.count)
        unit = string_at(reader, number_in(&reader->types.at[wanted], 2));
    enum profile_figures figures;
    double seconds = stack_sums_unit((const char *)unit.bytes, unit.len, &figures);
    struct wire_field field;
    size_t bytes = (size_t)(in.end - in.at);
    reader->work_left = (int64_t)bytes * FRAMES_PER_BYTE + ALWAYS_FINE;
    reader->most_nodes = bytes * NODES_PER_BYTE + ALWAYS_FINE;
    while (wire_next(&in, &field)) {
        if (wire_is(&field, PROFILE_SAMPLE, WIRE_BYTES))
            read_sample(reader, wire_in(&field), wanted, seconds, figures);
        if (reader->work_left >= 0 && reader->sums.nodes.count <= reader->most_nodes)
            continue;
        tpa_fail(err, TPA_NOWHERE, "the stacks of this profile are far longer than its %zu bytes can hold",
                 bytes);
        tpa_hint(err, "no profiler writes such a file; is it from an untrusted source?");
        return NULL;
    }
    return stack_sums_finish(&reader->sums, figures, err);
}

static struct profile *read_pprof(struct source *source, struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    struct pprof reader = { 0 };
    struct profile *profile = NULL;
    stack_sums_open(&reader.sums);
    if (stack_sums_read(source, &text, err)) {
        struct wire in = wire_over(text.at, text.count);
        if (pprof_read_tables(&reader, in, in.at, err))
            profile = pprof_read_samples(&reader, in, err);
    }
    stack_sums_release(&reader.sums);
    EACH(VEC_FREE, &reader.strings, &reader.locations, &reader.functions, &reader.types, &reader.calls,
         &reader.frames);
    return profile;
}

/* A profile begins with a ValueType: two varints only, unlike the first message of an XSpace or a Perfetto trace. */
static int sniff_pprof(const char *bytes, size_t len)
{
    struct wire in = wire_over(bytes, len), type;
    struct wire_field field;
    size_t types = 0;
    while (in.at < in.end && *in.at == (PROFILE_SAMPLE_TYPE << 3 | WIRE_BYTES)) {
        if (!wire_next(&in, &field) || field.value < 4)
            return 0;
        type = wire_in(&field);
        for (uint32_t number = 1; number <= 2; number++)
            if (!wire_next(&type, &field) || !wire_is(&field, number, WIRE_VARINT) || field.value > 1 << 20)
                return 0;
        if (type.at != type.end)
            return 0;
        types++;
    }
    return types == 0 ? 0 : in.at == in.end || *in.at == (PROFILE_SAMPLE << 3 | WIRE_BYTES) ? 94 : 70;
}

extern const struct format format_pprof;
const struct format format_pprof = {
    .name = "pprof",
    .description = "profile of pprof: Go, gperftools, JAX's memory profile (.pb.gz, .pprof)",
    .sniff = sniff_pprof,
    .read_profile = read_pprof,
};
