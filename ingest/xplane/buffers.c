/*
 * buffers.c - what a program holds in memory: the buffers that XLA assigned it, and those in use at its peak.
 *
 * BufferAssignmentProto: 1 logical_buffers, 3 buffer_allocations, 4 heap_simulator_traces. An allocation is a stretch of memory
 * that holds logical buffers, each the result of an instruction or a part of it. Parameters, outputs and constants
 * hold theirs all the time; thread-local memory is on the stacks of the host and no part of the peak; what a temporary allocation holds when is told by the trace of the
 * simulator that packed it, in the order of the schedule. Several temporary allocations of a program count at the peak of each.
 */
#include "ingest/xplane/hlo.h"

#include "base/rows.h"
#include "base/sum.h"
#include <inttypes.h>

enum {
    MOST_TEXT = 200,       /* bytes of a name, a shape or a place */
    MOST_TEXTS = 2 << 20,  /* bytes of a program; then buffers are added up */
    MOST_LOOKED = 1 << 28, /* bytes of instructions that are looked at; then names are all that is told */
    SHARE_HOPS = 64,
};

#define NO_BUFFER UINT32_MAX

enum kind { PARAMETER, OUTPUT, THREAD_LOCAL, CONSTANT, TEMPORARY, KINDS };
static const char *const kind_names[] = { "parameter", "output", "thread-local", "constant", "temporary" };

struct logical {
    uint64_t id;
    int64_t bytes;
    struct wire place;   /* LogicalBufferProto.Location */
    uint32_t allocation; /* NO_BUFFER: none */
    uint32_t owner;      /* the buffer whose memory it shares; itself; NO_BUFFER: in no trace yet */
    /* While the simulator's trace is replayed: of an owner, its users, and the first of those now. */
    int64_t uses;
    uint32_t user;
};

struct allocation {
    int64_t space, bytes, peak_bytes;
    uint32_t largest; /* logical buffer; NO_BUFFER: none */
    enum kind kind;
    bool is_output, has_trace;
    struct wire trace; /* of the simulator */
    size_t peak_event;
};

/* A buffer at the peak. */
struct row {
    int64_t space, kind, bytes;
    uint32_t buffer; /* NO_BUFFER: of no instruction */
    uint64_t id;     /* of the buffer */
};

struct assignment {
    const struct hlo_module *module;
    VEC_OF(struct logical) buffers;
    VEC_OF(struct allocation) allocations;
    VEC_OF(struct row) rows;
    struct id_table buffer_of; /* by id */
    size_t looked;             /* see MOST_LOOKED */
};

static int64_t size_in(struct wire in, uint32_t number)
{
    int64_t size = (int64_t)hlo_number_in(in, number, 0);
    return size > 0 ? size : 0;
}

/* ---- what there is ---- */

/* LogicalBufferProto: 1 id, 2 size, 3 defined_at. */
static void add_buffer(struct assignment *assignment, struct wire in)
{
    struct logical *buffer = VEC_PUSH(&assignment->buffers);
    *buffer = (struct logical){ .id = hlo_number_in(in, 1, 0),
                                .bytes = size_in(in, 2),
                                .place = hlo_message_in(in, 3),
                                .allocation = NO_BUFFER,
                                .owner = NO_BUFFER };
    id_table_set(&assignment->buffer_of, buffer->id, (uint32_t)assignment->buffers.count - 1);
}

/* Assigned: 1 logical_buffer_id. */
static void assign_buffer(struct assignment *assignment, struct wire in, uint32_t to)
{
    struct allocation *allocation = &assignment->allocations.at[to];
    uint32_t index = id_table_find(&assignment->buffer_of, hlo_number_in(in, 1, 0));
    if (index == ID_TABLE_NONE)
        return;
    assignment->buffers.at[index].allocation = to;
    if (allocation->largest == NO_BUFFER ||
        assignment->buffers.at[index].bytes > assignment->buffers.at[allocation->largest].bytes)
        allocation->largest = index;
}

/* BufferAllocationProto: 2 size, 3 is_thread_local, 5 is_entry_computation_parameter, 7 maybe_live_out, 8 color, 9 assigned,
 * 12 is_constant. */
static void add_allocation(struct assignment *assignment, struct wire in)
{
    uint32_t index = (uint32_t)assignment->allocations.count;
    bool is_output = hlo_number_in(in, 7, 0);
    struct wire_field field;
    *VEC_PUSH(&assignment->allocations) = (struct allocation){
        .space = (int64_t)hlo_number_in(in, 8, 0),
        .bytes = size_in(in, 2),
        .largest = NO_BUFFER,
        .kind = hlo_number_in(in, 5, 0)    ? PARAMETER
                : is_output                ? OUTPUT
                : hlo_number_in(in, 3, 0)  ? THREAD_LOCAL
                : hlo_number_in(in, 12, 0) ? CONSTANT
                                           : TEMPORARY,
        .is_output = is_output,
    };
    while (hlo_next_field(&in, &field))
        if (wire_is(&field, 9, WIRE_BYTES))
            assign_buffer(assignment, wire_in(&field), index);
}

/* ---- the simulator's traces ---- */

/* HeapSimulatorTrace.Event: 1 kind, 2 buffer_id, 5 share_with_canonical_id. */
enum { ALLOC, FREE, SHARE_WITH };

struct heap_event {
    uint64_t kind;
    uint32_t buffer; /* in a temporary allocation, else NO_BUFFER */
    uint64_t shared; /* id */
};

static struct heap_event read_event(const struct assignment *assignment, struct wire in)
{
    struct heap_event event = { hlo_number_in(in, 1, ALLOC),
                                id_table_find(&assignment->buffer_of, hlo_number_in(in, 2, 0)),
                                hlo_number_in(in, 5, 0) };
    uint32_t allocation =
        event.buffer == ID_TABLE_NONE ? NO_BUFFER : assignment->buffers.at[event.buffer].allocation;
    if (allocation == NO_BUFFER || assignment->allocations.at[allocation].kind != TEMPORARY)
        event.buffer = NO_BUFFER;
    return event;
}

/* The next event of TRACE that is about a temporary buffer. */
static bool next_event(const struct assignment *assignment, struct wire *trace, struct heap_event *event)
{
    struct wire_field field;
    while (hlo_next_field(trace, &field)) {
        if (!wire_is(&field, 1, WIRE_BYTES))
            continue;
        *event = read_event(assignment, wire_in(&field));
        if (event->buffer != NO_BUFFER)
            return true;
    }
    return false;
}

/* The buffer whose memory BUFFER shares at last. */
static uint32_t owner_of(const struct assignment *assignment, uint32_t buffer)
{
    for (int i = 0; i < SHARE_HOPS && assignment->buffers.at[buffer].owner != buffer; i++)
        buffer = assignment->buffers.at[buffer].owner;
    return buffer;
}

/* Replay the first COUNT events of TRACE. Returns the most bytes in use, first so after event *PEAK. */
static int64_t replay(struct assignment *assignment, struct wire trace, size_t count, size_t *peak)
{
    int64_t bytes = 0, most = 0;
    struct heap_event event;
    struct wire again = trace;
    *peak = 0;
    while (next_event(assignment, &again, &event)) {
        assignment->buffers.at[event.buffer].owner = event.buffer;
        assignment->buffers.at[event.buffer].uses = 0;
    }
    for (size_t i = 1; i <= count && next_event(assignment, &trace, &event); i++) {
        uint32_t owner = owner_of(assignment, event.buffer);
        if (event.kind == SHARE_WITH) {
            uint32_t other = id_table_find(&assignment->buffer_of, event.shared);
            if (other == ID_TABLE_NONE || assignment->buffers.at[other].owner == NO_BUFFER)
                continue;
            owner = owner_of(assignment, other);
            assignment->buffers.at[event.buffer].owner = owner;
        }
        struct logical *own = &assignment->buffers.at[owner];
        if (event.kind == FREE && own->uses > 0 && --own->uses == 0)
            bytes -= own->bytes;
        if (event.kind != FREE && own->uses++ == 0) {
            bytes = sum_plus(bytes, own->bytes);
            own->user = event.buffer;
        }
        if (bytes > most) {
            most = bytes;
            *peak = i;
        }
    }
    return most;
}

static void add_trace(struct assignment *assignment, struct wire trace)
{
    struct heap_event first;
    struct wire events = trace;
    size_t at;
    if (!next_event(assignment, &events, &first))
        return;
    int64_t peak = replay(assignment, trace, SIZE_MAX, &at);
    struct allocation *allocation =
        &assignment->allocations.at[assignment->buffers.at[first.buffer].allocation];
    if (allocation->has_trace && peak <= allocation->peak_bytes)
        return;
    allocation->has_trace = true;
    allocation->peak_bytes = peak;
    allocation->peak_event = at;
    allocation->trace = trace;
}

/* ---- the peak ---- */

static void add_row(struct assignment *assignment, struct allocation *allocation, uint32_t buffer,
                    int64_t bytes)
{
    allocation->peak_bytes = sum_plus(allocation->peak_bytes, bytes);
    if (bytes > 0)
        *VEC_PUSH(&assignment->rows) =
            (struct row){ allocation->space, allocation->kind, bytes, buffer,
                          buffer == NO_BUFFER ? 0 : assignment->buffers.at[buffer].id };
}

static void add_rows(struct assignment *assignment, struct allocation *allocation)
{
    struct heap_event event;
    size_t at;
    allocation->peak_bytes = 0;
    if (allocation->kind == THREAD_LOCAL)
        return;
    if (!allocation->has_trace) {
        add_row(assignment, allocation, allocation->largest, allocation->bytes);
        return;
    }
    replay(assignment, allocation->trace, allocation->peak_event, &at);
    struct wire trace = allocation->trace;
    while (next_event(assignment, &trace, &event)) {
        struct logical *buffer = &assignment->buffers.at[event.buffer];
        if (buffer->owner == event.buffer && buffer->uses > 0)
            add_row(assignment, allocation, buffer->user, buffer->bytes);
        buffer->uses = 0;
    }
}

/* ---- words ---- */

/* Append a tab and TEXT, cut, without what would end a field. */
static void add_field(struct buffer *text, const char *at, size_t len)
{
    buffer_putc(text, '\t');
    for (size_t i = 0; i < len && i < MOST_TEXT; i++)
        buffer_putc(text, (unsigned char)at[i] < ' ' ? ' ' : at[i]);
}

static void add_spaces(struct assignment *assignment, struct buffer *text)
{
    static const struct key by_space[] = { ASC(struct allocation, space), KEY_END };
    SORT(&assignment->allocations, by_space);
    FOR_GROUPS(&assignment->allocations, by_space, first, end) {
        int64_t sums[KINDS] = { 0 }, peak = 0, aliased = 0, total = 0;
        for (size_t i = first; i < end; i++) {
            const struct allocation *allocation = &assignment->allocations.at[i];
            sums[allocation->kind] = sum_plus(sums[allocation->kind], allocation->bytes);
            total = sum_plus(total, allocation->kind == THREAD_LOCAL ? 0 : allocation->bytes);
            peak = sum_plus(peak, allocation->peak_bytes);
            if (allocation->kind == PARAMETER && allocation->is_output)
                aliased = sum_plus(aliased, allocation->bytes);
        }
        if (!total && !sums[THREAD_LOCAL])
            continue;
        buffer_printf(text, "space\t%" PRId64 "\t%" PRId64, assignment->allocations.at[first].space, peak);
        for (int kind = 0; kind < KINDS; kind++)
            buffer_printf(text, "\t%" PRId64, sums[kind]);
        buffer_printf(text, "\t%" PRId64 "\t%" PRId64 "\n", aliased, total);
    }
}

/* The shape at INDEX of tuples in the ShapeProto at IN, as Location.shape_index has it: 3, packed or not. */
static struct wire part_of_shape(struct wire in, struct wire place)
{
    struct wire_field field;
    uint64_t value;
    while (hlo_next_field(&place, &field)) {
        bool is_packed = wire_is(&field, 3, WIRE_BYTES);
        if (!is_packed && !wire_is(&field, 3, WIRE_VARINT))
            continue;
        struct wire packed = is_packed ? wire_in(&field) : wire_over(NULL, 0);
        for (bool more = true;
             more && (is_packed ? wire_varint(&packed, &value) : (value = field.value, true));
             more = is_packed) {
            struct wire parts = in;
            struct wire_field part;
            in = wire_over(NULL, 0);
            while (hlo_next_field(&parts, &part))
                if (wire_is(&part, 4, WIRE_BYTES) && value-- == 0)
                    in = wire_in(&part);
        }
    }
    return in;
}

/* Location: 2 instruction_name, in old files; 4 instruction_id. */
static void append_place(struct assignment *assignment, const struct row *row, struct buffer *text)
{
    const struct hlo_module *module = assignment->module;
    struct wire place =
        row->buffer == NO_BUFFER ? wire_over(NULL, 0) : assignment->buffers.at[row->buffer].place;
    struct wire_text name = hlo_text_in(place, 2), op = { "", 0 }, opcode = { "", 0 };
    SCOPED struct buffer shape = { 0 }, lines = { 0 };
    int64_t unpadded = HLO_UNKNOWN;
    uint32_t index =
        row->buffer == NO_BUFFER
            ? ID_TABLE_NONE
            : id_table_find(&module->instruction_of, hlo_number_in(place, 4, name.len ? UINT64_MAX : 0));
    const struct hlo_instruction *instruction =
        index == ID_TABLE_NONE ? NULL : &module->instructions.at[index];
    if (instruction) {
        name = instruction->name;
        opcode = instruction->opcode;
        assignment->looked += (size_t)(instruction->fields.end - instruction->fields.at);
    }
    if (instruction && assignment->looked <= MOST_LOOKED) {
        struct wire part = part_of_shape(hlo_message_in(instruction->fields, 3), place);
        unpadded = hlo_unpadded_bytes(part);
        op = hlo_text_in(instruction->metadata, 2);
        hlo_describe_shape(&shape, part, 0);
        hlo_add_lines(module, instruction, &lines);
    }
    const char *end = lines.count ? memchr(lines.at, ';', lines.count) : NULL;
    buffer_printf(text, "\t%" PRId64 "\t1", unpadded);
    add_field(text, name.at, name.len);
    add_field(text, opcode.at, opcode.len);
    add_field(text, shape.at, shape.count);
    add_field(text, op.at, op.len);
    add_field(text, lines.at, end ? (size_t)(end - lines.at) : lines.count);
}

static void add_rows_of_text(struct assignment *assignment, struct buffer *text)
{
    static const struct key by_bytes[] = { DESC(struct row, bytes), ASC(struct row, id), KEY_END },
                            by_kind[] = { ASC(struct row, space), ASC(struct row, kind), KEY_END };
    size_t i = 0;
    SORT(&assignment->rows, by_bytes);
    for (; i < assignment->rows.count && text->count < MOST_TEXTS; i++) {
        const struct row *row = &assignment->rows.at[i];
        buffer_printf(text, "buffer\t%" PRId64 "\t%s\t%" PRId64, row->space, kind_names[row->kind],
                      row->bytes);
        append_place(assignment, row, text);
        buffer_putc(text, '\n');
    }
    size_t count = assignment->rows.count - i;
    if (!count)
        return;
    struct row *rest = &assignment->rows.at[i];
    SORT_ARRAY(rest, count, by_kind);
    FOR_GROUPS_OF(rest, count, by_kind, first, end) {
        int64_t bytes = 0;
        for (size_t k = first; k < end; k++)
            bytes = sum_plus(bytes, rest[k].bytes);
        buffer_printf(text, "buffer\t%" PRId64 "\t%s\t%" PRId64 "\t-1\t%zu\t\t\t\t\t\n", rest[first].space,
                      kind_names[rest[first].kind], bytes, end - first);
    }
}

void hlo_describe_buffers(const struct hlo_module *module, struct wire in, struct buffer *text)
{
    static void (*const readers[])(struct assignment * assignment, struct wire part) = {
        [1] = add_buffer, [3] = add_allocation, [4] = add_trace
    };
    struct assignment assignment = { .module = module };
    for (uint32_t number = 1; number < sizeof readers / sizeof *readers; number++) {
        struct wire parts = in;
        struct wire_field field;
        while (readers[number] && hlo_next_field(&parts, &field))
            if (wire_is(&field, number, WIRE_BYTES))
                readers[number](&assignment, wire_in(&field));
    }
    for (size_t i = 0; i < assignment.allocations.count; i++)
        add_rows(&assignment, &assignment.allocations.at[i]);
    add_spaces(&assignment, text);
    add_rows_of_text(&assignment, text);
    EACH(VEC_FREE, &assignment.buffers, &assignment.allocations, &assignment.rows);
    id_table_release(&assignment.buffer_of);
}
