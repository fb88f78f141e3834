/* program_memory.c - see program_memory.h; the lines are described at TRACE_PROGRAM_MEMORY. */
#include "memory/program_memory.h"

#include "analyze/many_rows.h"
#include "derive/features.h"

#include <math.h>

enum { MOST_FIELDS = 11 };

struct reading {
    VEC_OF(struct program_memory) programs;
    VEC_OF(struct program_buffer) buffers;
    int64_t left_out;
};

/* clang-format off */
static const struct table_column program_columns[] = {
    COLUMN(struct program_memory, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct program_memory, program, "program", "Program", TABLE_NAME, "compiled program, with its number"),
    COLUMN(struct program_memory, space, "space", "Space", TABLE_COUNT, "memory space: 0 is the device's own, 5 the host's"),
    COLUMN(struct program_memory, peak, "peak", "Peak", TABLE_BYTES, "most bytes in use at once while it runs"),
    COLUMN(struct program_memory, parameters, "parameters", "Parameters", TABLE_BYTES, "of its parameters"),
    COLUMN(struct program_memory, output, "output", "Output", TABLE_BYTES, "of its results that are no parameters"),
    COLUMN(struct program_memory, constants, "constants", "Constants", TABLE_BYTES, "of constants"),
    COLUMN(struct program_memory, temporary, "temporary", "Temporary", TABLE_BYTES, "of temporary allocations, as large as they are"),
    COLUMN(struct program_memory, thread_local_bytes, "thread_local", "Thread-local", TABLE_BYTES, "of computations that are called for each element", .flags = TABLE_OPTIONAL),
    COLUMN(struct program_memory, aliased, "aliased", "Aliased", TABLE_BYTES, "of parameters that hold results, too (donated)", .flags = TABLE_OPTIONAL),
    COLUMN(struct program_memory, total, "total", "Total", TABLE_BYTES, "of all its allocations"),
};

static const struct table_column buffer_columns[] = {
    COLUMN(struct program_buffer, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct program_buffer, program, "program", "Program", TABLE_NAME, "compiled program, with its number"),
    COLUMN(struct program_buffer, space, "space", "Space", TABLE_COUNT, "memory space: 0 is the device's own, 5 the host's", .flags = TABLE_OPTIONAL),
    COLUMN(struct program_buffer, instruction, "instruction", "Instruction", TABLE_NAME, "whose result it is; [small buffers]: those that the file lists no more"),
    COLUMN(struct program_buffer, op, "operator", "Operator", TABLE_NAME, "the framework's name of the operation, with its scopes", .aliases = "op"),
    COLUMN(struct program_buffer, bytes, "bytes", "Bytes", TABLE_BYTES, "that it takes, with padding", .aliases = "size"),
    COLUMN(struct program_buffer, share, "share", "Share", TABLE_SHARE, "share of the program's peak in this space"),
    COLUMN(struct program_buffer, kind, "kind", "Kind", TABLE_TEXT, "parameter, output, constant, temporary or thread-local"),
    COLUMN(struct program_buffer, shape, "shape", "Shape", TABLE_TEXT, "type of its elements, and dimensions"),
    COLUMN(struct program_buffer, line, "line", "Line", TABLE_NAME, "line of source that it comes from"),
    COLUMN(struct program_buffer, opcode, "opcode", "Opcode", TABLE_TEXT, "operation of the instruction", .flags = TABLE_OPTIONAL),
    COLUMN(struct program_buffer, unpadded, "unpadded", "Unpadded", TABLE_BYTES, "that its elements take without padding", .flags = TABLE_OPTIONAL),
    COLUMN(struct program_buffer, count, "count", "Buffers", TABLE_TALLY, "how many buffers", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

const struct table_shape program_memory_tables[] = {
    TABLE_SHAPE("programs", program_columns),
    TABLE_SHAPE("program_buffers", buffer_columns),
    { 0 },
};

/* The name of the program that PROPERTY is about; NULL: it is about something else. */
static const char *program_of(const struct trace_property *property)
{
    size_t len = strlen(TRACE_PROGRAM_MEMORY);
    return property->is_string && strncmp(property->key, TRACE_PROGRAM_MEMORY, len) == 0 ? property->key + len
                                                                                         : NULL;
}

unsigned program_memory_features(const struct trace *trace)
{
    for (size_t f = 0; f < trace->file_count; f++)
        if (ANY(i, trace->files[f].properties.count, program_of(&trace->files[f].properties.at[i])))
            return trace_features(trace) | FEATURE_MEMORY;
    return trace_features(trace);
}

/* Split the line at *AT, which moves to the next. Returns the number of its fields; 0: there is no line. */
static size_t split_line(const char **at, struct text fields[MOST_FIELDS])
{
    const char *end = strchr(*at, '\n'), *from = *at;
    size_t count = 0;
    end = end ? end : from + strlen(from);
    while (from < end && count < MOST_FIELDS) {
        const char *tab = memchr(from, '\t', (size_t)(end - from));
        tab = tab ? tab : end;
        fields[count++] = (struct text){ tab > from ? from : NULL, (size_t)(tab - from) };
        from = tab + 1;
    }
    if (from == end && end > *at && end[-1] == '\t' && count < MOST_FIELDS)
        fields[count++] = (struct text){ 0 };
    *at = *end ? end + 1 : end;
    return count;
}

static bool text_is(struct text text, const char *word)
{
    return text.at && text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

/* The COUNT sizes in FIELDS; false if one is none. */
static bool read_sizes(const struct text *fields, size_t count, int64_t *sizes)
{
    return ALL(i, count, fields[i].at && quantity_parse_integer(fields[i].at, fields[i].len, &sizes[i]));
}

static void read_space(struct reading *reading, const struct text *fields, struct text program, int64_t rank)
{
    int64_t n[9];
    if (read_sizes(fields + 1, 9, n))
        *VEC_PUSH(&reading->programs) = (struct program_memory){ .rank = rank,
                                                                 .space = n[0],
                                                                 .program = program,
                                                                 .peak = n[1],
                                                                 .parameters = n[2],
                                                                 .output = n[3],
                                                                 .thread_local_bytes = n[4],
                                                                 .constants = n[5],
                                                                 .temporary = n[6],
                                                                 .aliased = n[7],
                                                                 .total = n[8] };
}

static void read_buffer(struct reading *reading, const struct text *fields, struct text program, int64_t rank,
                        size_t first_space)
{
    int64_t space, n[3];
    double peak = NAN;
    if (!read_sizes(fields + 1, 1, &space) || !read_sizes(fields + 3, 3, n))
        return;
    for (size_t i = first_space; i < reading->programs.count; i++)
        if (reading->programs.at[i].space == space && reading->programs.at[i].peak > 0)
            peak = (double)reading->programs.at[i].peak;
    if (reading->buffers.count >= MANY_ROWS) {
        reading->left_out++;
        return;
    }
    *VEC_PUSH(&reading->buffers) =
        (struct program_buffer){ .rank = rank,
                                 .space = space,
                                 .program = program,
                                 .kind = fields[2],
                                 .instruction = n[2] > 1 ? as_text("[small buffers]") : fields[6],
                                 .opcode = fields[7],
                                 .shape = fields[8],
                                 .op = fields[9],
                                 .line = fields[10],
                                 .bytes = n[0],
                                 .share = (double)n[0] / peak,
                                 .unpadded = n[1] >= 0 ? n[1] : TABLE_INT_MISSING,
                                 .count = n[2] };
}

static void read_program(struct reading *reading, const struct trace_property *property, int64_t rank)
{
    struct text fields[MOST_FIELDS], program = as_text(program_of(property));
    size_t first_space = reading->programs.count, count;
    for (const char *at = property->value; *at;) {
        count = split_line(&at, fields);
        if (count == 10 && text_is(fields[0], "space"))
            read_space(reading, fields, program, rank);
        else if (count == 11 && text_is(fields[0], "buffer"))
            read_buffer(reading, fields, program, rank, first_space);
    }
}

void program_memory_add_tables(const struct trace *trace, const struct selection *selection, bool ranks,
                               struct result *result)
{
    struct reading reading = { 0 };
    for (uint32_t f = 0; f < trace->file_count; f++)
        for (size_t i = 0; i < trace->files[f].properties.count; i++)
            if (program_of(&trace->files[f].properties.at[i]) &&
                (!selection || !selection->files || selection->files[f]))
                read_program(&reading, &trace->files[f].properties.at[i], selection_rank(trace, f));
    struct table *programs = TABLE_OF_ROWS("programs", "Memory of compiled programs", program_columns,
                                           reading.programs.at, reading.programs.count),
                 *buffers = TABLE_OF_ROWS("program_buffers", "In use at the peaks of programs",
                                          buffer_columns, reading.buffers.at, reading.buffers.count);
    TABLE_SORT(programs, struct program_memory, peak);
    TABLE_SORT(buffers, struct program_buffer, bytes);
    for (size_t i = 0; i < reading.buffers.count; i++)
        if (reading.buffers.at[i].space)
            TABLE_FLAG(buffers, struct program_buffer, space, 0);
    struct table *tables[] = { programs, buffers };
    for (size_t i = 0; i < 2; i++) {
        if (ranks)
            tables[i]->columns[0].flags = 0;
        if (tables[i]->row_count)
            result_add_table(result, tables[i]);
        else
            table_free(tables[i]);
    }
    if (reading.left_out)
        ADD_NOTICE(result, "buffers_left_out", reading.left_out,
                   "buffers of programs are not shown: there are too many");
    EACH(VEC_FREE, &reading.programs, &reading.buffers);
}
