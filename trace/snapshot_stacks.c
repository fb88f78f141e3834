/*
 * snapshot_stacks.c - what each stack of a memory snapshot stands for, and how long they are together; see snapshot.h.
 *
 * A stack may be long, and many may name the same frames, so what a name tells is found out once for each name.
 */
#include "trace/snapshot.h"

#include <inttypes.h>

/* What is known of a text as the file of a frame, and as its function. */
enum {
    CHECKED = 1,
    IS_PYTHON = 2,
    IS_LIBRARY = 4,
    TELLS_PLACE = 8,
    TELLS_FUNCTION = 16,
    IS_NODE = 32,      /* of autograd: torch::autograd::generated::MmBackward0::apply */
    IS_OPERATOR = 64,  /* at::_ops::mm::call */
    IS_ALLOCATOR = 128 /* leads from the operator to the allocator */
};

/* Words in the functions through which memory is allocated, whatever for. */
static bool is_of_allocator(const char *function)
{
    static const char *const words[] = { "CachingAllocator", "gather_with_cpp", "::allocate(",
                                         "::malloc(",        "at::detail::",    "create_out(",
                                         "set_output",       "StorageImpl",     "at::_ops::empty" };
    return ANY(i, sizeof words / sizeof *words, strstr(function, words[i]));
}

static bool ends_in(const char *text, size_t len, const char *ending)
{
    size_t end = strlen(ending);
    return len >= end && memcmp(text + len - end, ending, end) == 0;
}

/* Does PATH lie in a folder called NAME, with any slashes? */
static bool lies_in(const char *path, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = strpbrk(path, "/\\"); at; at = strpbrk(at + 1, "/\\"))
        if (strncmp(at + 1, name, len) == 0 && (at[1 + len] == '/' || at[1 + len] == '\\'))
            return true;
    return false;
}

static bool is_library(const char *file)
{
    return lies_in(file, "site-packages") || lies_in(file, "dist-packages") || lies_in(file, "torch");
}

/* The flags of the text NAME, from KNOWN or into it. */
static uint8_t flags_of_text(const struct snapshot *snapshot, uint8_t *known, name_id name)
{
    if (name == NAME_NONE)
        return TELLS_FUNCTION;
    if (known[name])
        return known[name];
    const char *text = names_text(snapshot->names, name);
    size_t len = names_length(snapshot->names, name);
    known[name] = CHECKED;
    if (ends_in(text, len, ".py"))
        known[name] |= is_library(text) ? IS_PYTHON | IS_LIBRARY : IS_PYTHON;
    if (text[0] && strcmp(text, "??") != 0 && strcmp(text, ":0") != 0 &&
        !ends_in(text, strlen(text), "memory_snapshot.cpp"))
        known[name] |= TELLS_PLACE;
    if (strncmp(text, "torch::unwind", 13) != 0 && !strstr(text, "CapturedTraceback"))
        known[name] |= TELLS_FUNCTION;
    if (is_of_allocator(text))
        known[name] |= IS_ALLOCATOR;
    else if (snapshot_node_of(text, &(size_t){ 0 }))
        known[name] |= IS_NODE;
    else if (snapshot_operator_of(text, &(size_t){ 0 }))
        known[name] |= IS_OPERATOR;
    return known[name];
}

/* See snapshot_user_frame. */
static frame_id find_user_frame(const struct snapshot *snapshot, const struct snapshot_stack *stack,
                                uint8_t *known)
{
    const frame_id *frames = snapshot->stack_frames.at + stack->first;
    frame_id python = FRAME_NONE, other = FRAME_NONE, node = FRAME_NONE, op = FRAME_NONE;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct snapshot_frame *frame = &snapshot->frames.at[frames[i]];
        uint8_t file = flags_of_text(snapshot, known, frame->file);
        if (file & IS_PYTHON && !(file & IS_LIBRARY))
            return frames[i];
        if (file & IS_PYTHON && python == FRAME_NONE)
            python = frames[i];
        uint8_t function = flags_of_text(snapshot, known, frame->function);
        if (function & IS_NODE && node == FRAME_NONE)
            node = frames[i];
        if (function & IS_OPERATOR && op == FRAME_NONE)
            op = frames[i];
        /* C++ with a place that tells something, and not of those that gather the stack or allocate */
        if (!(file & IS_PYTHON) && other == FRAME_NONE && file & TELLS_PLACE && function & TELLS_FUNCTION &&
            !(function & IS_ALLOCATOR))
            other = frames[i];
    }
    return python != FRAME_NONE  ? python
           : node != FRAME_NONE  ? node
           : op != FRAME_NONE    ? op
           : other != FRAME_NONE ? other
           : stack->count        ? frames[0]
                                 : FRAME_NONE;
}

/* ---- how long they are ---- */

struct lengths {
    const struct snapshot *snapshot;
    uint64_t *of_stack; /* bytes of its text */
    uint32_t *last;     /* by stack: the number of the device that was met last, and 1 */
    uint64_t sum;       /* devices show their stacks each for itself */
};

static uint64_t text_length(const struct snapshot *snapshot, const struct snapshot_stack *stack)
{
    enum { LINE_AND_SIGNS = 16 };
    uint64_t length = 0;
    for (uint32_t i = 0; i < stack->count; i++) {
        const struct snapshot_frame *frame =
            &snapshot->frames.at[snapshot->stack_frames.at[stack->first + i]];
        length += LINE_AND_SIGNS + names_length(snapshot->names, frame->file) +
                  names_length(snapshot->names, frame->function);
    }
    return length;
}

static void snapshot_stacks_meet(struct lengths *lengths, size_t device, stack_id stack)
{
    if (stack == STACK_NONE || lengths->last[stack] == device + 1)
        return;
    lengths->last[stack] = (uint32_t)device + 1;
    lengths->sum += lengths->of_stack[stack]; /* far from 2^64: at most so many entries times a file */
}

static void meet_device(struct lengths *lengths, size_t d)
{
    const struct snapshot *snapshot = lengths->snapshot;
    const struct snapshot_device *device = &snapshot->devices.at[d];
    for (uint64_t e = device->first; e < device->end; e++)
        snapshot_stacks_meet(lengths, d, snapshot->entries.stack[e]);
    size_t end = snapshot_end_of_segments(snapshot, device->device);
    for (size_t s = snapshot_first_segment(snapshot, device->device); s < end; s++) {
        const struct snapshot_segment *segment = &snapshot->segments.at[s];
        snapshot_stacks_meet(lengths, d, segment->stack);
        for (size_t b = segment->first_block; b < segment->first_block + segment->block_count; b++)
            snapshot_stacks_meet(lengths, d, snapshot->blocks.at[b].stack);
    }
}

bool snapshot_finish_stacks(struct snapshot *snapshot, struct tpa_error *err)
{
    enum { BYTES_PER_BYTE = 16, ALWAYS_FINE = 64 << 20 };
    size_t count = snapshot->stacks.count;
    uint8_t *known = mem_zalloc(names_count(snapshot->names) + 1, sizeof *known);
    struct lengths lengths = {
        .snapshot = snapshot,
        .of_stack = mem_alloc(mem_times(count + 1, sizeof *lengths.of_stack)),
        .last = mem_zalloc(count + 1, sizeof *lengths.last),
    };
    for (size_t s = 0; s < count; s++) {
        snapshot->stacks.at[s].user_frame = find_user_frame(snapshot, &snapshot->stacks.at[s], known);
        lengths.of_stack[s] = text_length(snapshot, &snapshot->stacks.at[s]);
    }
    for (size_t d = 0; d < snapshot->devices.count; d++)
        meet_device(&lengths, d);
    EACH(free, known, lengths.of_stack, lengths.last);
    uint64_t most = ALWAYS_FINE + BYTES_PER_BYTE * (uint64_t)snapshot->bytes;
    if (lengths.sum <= most)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "the stacks of this snapshot are far longer than its %" PRId64 " bytes can hold",
             snapshot->bytes);
    return tpa_hint(err, "PyTorch writes no such file; is it from an untrusted source?");
}
