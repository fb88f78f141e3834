/*
 * profile.c - the model of a Python profile.
 *
 * Functions are found by a hash table of ids. Edges of one function lie together; a merged function gets new edges at
 * the end, and its old ones stay unused, so that nothing ever moves.
 */
#define XXH_INLINE_ALL
#include "trace/profile.h"

#include <assert.h>
#include <math.h>
#include <xxhash.h>

/* The fewest bytes of a dump that a function, or a caller, has been seen to take: for room that costs nothing until it
 * is used. Slots are written at once, so of them there are as many as a dump of usual names needs. */
enum { BYTES_OF_FUNCTION = 48, BYTES_OF_EDGE = 32, BYTES_OF_SLOT = 128 };

enum {
    FIRST_SLOTS = 256,
    FILE_HASHES = 1024,
    FEW_EDGES = 16, /* among which a caller is looked for one by one */
};

static struct profile_slot *new_slots(size_t count)
{
    struct profile_slot *slots = mem_alloc(mem_times(count, sizeof *slots));
    for (size_t i = 0; i < count; i++)
        slots[i] = (struct profile_slot){ 0, FUNCTION_NONE };
    return slots;
}

struct profile *profile_open(void)
{
    struct profile *profile = mem_zalloc(1, sizeof *profile);
    profile->slots = new_slots(FIRST_SLOTS);
    profile->slot_mask = FIRST_SLOTS - 1;
    profile->file_hashes = mem_zalloc(FILE_HASHES, sizeof *profile->file_hashes);
    profile->odd_offset = TPA_NOWHERE;
    return profile;
}

static void resize_functions(struct profile *profile, size_t capacity)
{
    size_t size = sizeof *profile->functions;
    profile->functions =
        column_resize(profile->functions, profile->function_capacity * size, capacity * size);
    profile->function_capacity = capacity;
}

static void resize_edges(struct profile *profile, size_t capacity)
{
    size_t size = sizeof *profile->edges;
    profile->edges = column_resize(profile->edges, profile->edge_capacity * size, capacity * size);
    profile->edge_capacity = capacity;
}

void profile_expect(struct profile *profile, size_t bytes)
{
    size_t functions = bytes / BYTES_OF_FUNCTION, edges = bytes / BYTES_OF_EDGE, slots = FIRST_SLOTS;
    while (slots < bytes / BYTES_OF_SLOT)
        slots *= 2;
    if (profile->function_count == 0 && slots > profile->slot_mask + 1) {
        free(profile->slots);
        profile->slots = new_slots(slots);
        profile->slot_mask = slots - 1;
    }
    if (functions > profile->function_capacity)
        resize_functions(profile, functions);
    if (edges > profile->edge_capacity)
        resize_edges(profile, edges);
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    column_free(profile->functions, profile->function_capacity * sizeof *profile->functions);
    free(profile->listed);
    column_free(profile->edges, profile->edge_capacity * sizeof *profile->edges);
    EACH(VEC_FREE, &profile->stacks, &profile->files, &profile->device_work);
    sums_origin_release(&profile->origin);
    arena_release(&profile->arena);
    EACH(free, profile->slots, profile->file_hashes, profile);
}

/* A dump names a file once and refers to that place from then on, so the hash is kept by place. To read a name that
 * lies megabytes away, once per function, is what would take most of the time. */
static uint64_t hash_file(struct profile_file_hash *known, const char *file, uint32_t length)
{
    struct profile_file_hash *place = &known[((uintptr_t)file * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
    if (place->file != file || place->length != length)
        *place = (struct profile_file_hash){ file, XXH3_64bits(file, length), length };
    return place->hash;
}
_Static_assert(FILE_HASHES == 1 << (64 - 54), "the upper bits of the product are the index");

static uint32_t hash_function(const struct profile *profile, const struct profile_function *f)
{
    uint64_t seed = (uint64_t)f->line * UINT64_C(0x9e3779b97f4a7c15) ^
                    hash_file(profile->file_hashes, f->file, f->file_length);
    return (uint32_t)XXH3_64bits_withSeed(f->name, f->name_length, seed);
}

static bool same_function(const struct profile_function *a, const struct profile_function *b)
{
    return a->line == b->line && a->name_length == b->name_length && a->file_length == b->file_length &&
           memcmp(a->name, b->name, a->name_length) == 0 && memcmp(a->file, b->file, a->file_length) == 0;
}

/* The slot that holds KEY, or the empty one where it belongs. */
static struct profile_slot *profile_find_slot(const struct profile *profile,
                                              const struct profile_function *key, uint32_t hash)
{
    for (size_t at = hash & profile->slot_mask;; at = (at + 1) & profile->slot_mask) {
        struct profile_slot *slot = &profile->slots[at];
        if (slot->id == FUNCTION_NONE ||
            (slot->hash == hash && same_function(&profile->functions[slot->id], key)))
            return slot;
    }
}

static void grow_slots(struct profile *profile)
{
    struct profile_slot *old = profile->slots;
    size_t old_count = profile->slot_mask + 1, mask = 2 * old_count - 1;
    profile->slots = new_slots(mask + 1);
    profile->slot_mask = mask;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].id == FUNCTION_NONE)
            continue;
        size_t at = old[i].hash & mask;
        while (profile->slots[at].id != FUNCTION_NONE)
            at = (at + 1) & mask;
        profile->slots[at] = old[i];
    }
    free(old);
}

function_id profile_function(struct profile *profile, const char *file, size_t file_length, int64_t line,
                             const char *name, size_t name_length)
{
    struct profile_function key = { .file = file,
                                    .file_length = (uint32_t)file_length,
                                    .line = line,
                                    .name = name,
                                    .name_length = (uint32_t)name_length };
    uint32_t hash = hash_function(profile, &key);
    struct profile_slot *slot = profile_find_slot(profile, &key, hash);
    if (slot->id != FUNCTION_NONE)
        return slot->id;
    /* Three quarters full at most. */
    if (4 * (profile->function_count + 1) > 3 * (profile->slot_mask + 1)) {
        grow_slots(profile);
        slot = profile_find_slot(profile, &key, hash);
    }
    if (profile->function_count == profile->function_capacity)
        resize_functions(profile, profile->function_capacity ? 2 * profile->function_capacity : 64);
    *slot = (struct profile_slot){ hash, (function_id)profile->function_count };
    profile->functions[profile->function_count] = key;
    return (function_id)profile->function_count++;
}

function_id profile_find(const struct profile *profile, const char *file, int64_t line, const char *name)
{
    struct profile_function key = { .file = file,
                                    .file_length = (uint32_t)strlen(file),
                                    .line = line,
                                    .name = name,
                                    .name_length = (uint32_t)strlen(name) };
    return profile_find_slot(profile, &key, hash_function(profile, &key))->id;
}

void profile_list(struct profile *profile, function_id id, const struct profile_cost *cost,
                  uint32_t first_edge, uint32_t edge_count)
{
    struct profile_function *function = &profile->functions[id];
    if (!function->listed) {
        if (profile->listed_count == profile->listed_capacity)
            profile->listed = vec_grow(profile->listed, &profile->listed_capacity, profile->listed_count + 1,
                                       sizeof *profile->listed);
        profile->listed[profile->listed_count++] = id;
        function->listed = true;
    }
    function->cost = *cost;
    function->first_edge = first_edge;
    function->edge_count = edge_count;
}

static void push_edge(struct profile *profile, const struct profile_edge *edge)
{
    if (profile->edge_count == profile->edge_capacity)
        resize_edges(profile, profile->edge_capacity ? 2 * profile->edge_capacity : 64);
    profile->edges[profile->edge_count++] = *edge;
}

/* The index of the edge from CALLER among those that began at FIRST_EDGE; that of the next edge when there is none.
 * Most functions have few callers. With many, each caller's mark says which edge was its last. */
static uint32_t find_caller(struct profile *profile, uint32_t first_edge, function_id caller)
{
    uint32_t next = (uint32_t)profile->edge_count;
    if (next - first_edge < FEW_EDGES) {
        uint32_t e = first_edge;
        while (e < next && profile->edges[e].caller != caller)
            e++;
        return e;
    }
    if (next - first_edge == FEW_EDGES)
        for (uint32_t e = first_edge; e < next; e++)
            profile->functions[profile->edges[e].caller].mark = e;
    uint32_t mark = profile->functions[caller].mark;
    bool known = mark >= first_edge && mark < next && profile->edges[mark].caller == caller;
    if (!known)
        profile->functions[caller].mark = next;
    return known ? mark : next;
}

uint32_t profile_add_edge(struct profile *profile, uint32_t first_edge, const struct profile_edge *edge)
{
    uint32_t at = find_caller(profile, first_edge, edge->caller);
    if (at < profile->edge_count)
        profile->edges[at] = *edge;
    else
        push_edge(profile, edge);
    return at;
}

static void add_cost(struct profile_cost *sum, const struct profile_cost *cost)
{
    /* Counts come from a file; wrapping round is as good as anything, and defined. */
    sum->calls = (int64_t)((uint64_t)sum->calls + (uint64_t)cost->calls);
    sum->primitive_calls = (int64_t)((uint64_t)sum->primitive_calls + (uint64_t)cost->primitive_calls);
    sum->total_s += cost->total_s;
    sum->cumulative_s += cost->cumulative_s;
}

/* As profile_add_edge, but figures of the same caller add up. */
static void sum_edge(struct profile *profile, uint32_t first_edge, const struct profile_edge *edge)
{
    uint32_t at = find_caller(profile, first_edge, edge->caller);
    if (at == profile->edge_count) {
        push_edge(profile, edge);
        return;
    }
    struct profile_edge *same = &profile->edges[at];
    same->count_only = same->count_only && edge->count_only;
    add_cost(&same->cost, &edge->cost);
}

void profile_finish(struct profile *profile)
{
    profile->total = (struct profile_cost){ 0 };
    for (size_t i = 0; i < profile->listed_count; i++)
        add_cost(&profile->total, &profile->functions[profile->listed[i]].cost);
}

void profile_settle_counts(struct profile *profile)
{
    for (size_t i = 0; i < profile->listed_count && !profile->counts_swapped && !profile->sampled; i++) {
        const struct profile_cost *cost = &profile->functions[profile->listed[i]].cost;
        profile->counts_swapped = cost->primitive_calls > cost->calls;
    }
}

bool profile_has_callers(const struct profile *profile)
{
    return !ANY(i, profile->origin.notices.count,
                strcmp(profile->origin.notices.at[i].kind, PROFILE_PRINTED) == 0);
}

/* Add a function and its callers, whose ids are PROFILE's, to what PROFILE has of it. */
static void accumulate(struct profile *profile, function_id id, const struct profile_cost *cost,
                       const struct profile_edge *edges, size_t count)
{
    struct profile_function *function = &profile->functions[id];
    uint32_t first = (uint32_t)profile->edge_count;
    struct profile_cost sum = *cost;
    if (function->listed) {
        add_cost(&sum, &function->cost);
        for (uint32_t e = 0; e < function->edge_count; e++) {
            struct profile_edge edge = profile->edges[function->first_edge + e];
            sum_edge(profile, first, &edge);
        }
    }
    for (size_t e = 0; e < count; e++)
        sum_edge(profile, first, &edges[e]);
    profile_list(profile, id, &sum, first, (uint32_t)profile->edge_count - first);
}

/* The part of a path behind the last slash, as Python's os.path.basename() has it. */
static const char *base_name(const char *path, size_t *length)
{
    const char *slash = memrchr(path, '/', *length);
    const char *base = slash ? slash + 1 : path;
    *length -= (size_t)(base - path);
    return base;
}

/* The function of PROFILE that function ID of OTHER becomes. */
static function_id translate(struct profile *profile, const struct profile *other, function_id id, bool strip)
{
    const struct profile_function *f = &other->functions[id];
    size_t length = f->file_length;
    const char *file = strip ? base_name(f->file, &length) : f->file;
    return profile_function(profile, file, length, f->line, f->name, f->name_length);
}

enum merge_rule { KEEP_DIRS, STRIP_DIRS, STRIP_DIRS_LAST_CALLER_WINS };

/* Add the stacks of OTHER, whose functions are MAP in PROFILE, which was EMPTY; where one of both has none, the sum has none. */
static void merge_stacks(struct profile *profile, bool empty, const struct profile *other,
                         const function_id *map)
{
    uint32_t first = (uint32_t)profile->stacks.count;
    if ((!empty && !first) || !other->stacks.count) {
        profile->stacks.count = 0;
        return;
    }
    for (size_t i = 0; i < other->stacks.count; i++) {
        struct profile_frame frame = other->stacks.at[i];
        frame.caller += frame.caller == UINT32_MAX ? 0 : first;
        frame.function = map[frame.function];
        *VEC_PUSH(&profile->stacks) = frame;
    }
}

/* Add all functions of OTHER to PROFILE. */
static void merge(struct profile *profile, const struct profile *other, enum merge_rule rule)
{
    SCOPED VEC_OF(struct profile_edge) edges = { 0 };
    bool empty = profile->function_count == 0;
    SCOPED function_id *map = mem_alloc(mem_times(other->function_count + 1, sizeof *map));
    for (size_t i = 0; i < other->function_count; i++)
        map[i] = FUNCTION_NONE;
    /* Per function of PROFILE: where among `edges` it stands as a caller, if it does. */
    SCOPED VEC_OF(uint32_t) place = { 0 };

    for (size_t i = 0; i < other->listed_count; i++) {
        const struct profile_function *f = &other->functions[other->listed[i]];
        function_id *id = &map[other->listed[i]];
        if (*id == FUNCTION_NONE)
            *id = translate(profile, other, other->listed[i], rule != KEEP_DIRS);
        edges.count = 0;
        for (uint32_t e = 0; e < f->edge_count; e++) {
            struct profile_edge edge = other->edges[f->first_edge + e];
            function_id *caller = &map[edge.caller];
            if (*caller == FUNCTION_NONE)
                *caller = translate(profile, other, edge.caller, rule != KEEP_DIRS);
            edge.caller = *caller;
            while (place.count <= *caller)
                *VEC_PUSH(&place) = UINT32_MAX;
            uint32_t at = place.at[*caller];
            if (at < edges.count && edges.at[at].caller == *caller) {
                profile->merged_edges++;
                if (rule == STRIP_DIRS_LAST_CALLER_WINS)
                    edges.at[at] = edge;
                else
                    add_cost(&edges.at[at].cost, &edge.cost);
                continue;
            }
            place.at[*caller] = (uint32_t)edges.count;
            *VEC_PUSH(&edges) = edge;
        }
        accumulate(profile, *id, &f->cost, edges.at, edges.count);
    }
    for (size_t i = 0; i < other->device_work.count; i++) {
        struct profile_work work = other->device_work.at[i];
        work.function = map[work.function] == FUNCTION_NONE
                            ? translate(profile, other, work.function, rule != KEEP_DIRS)
                            : map[work.function];
        *VEC_PUSH(&profile->device_work) = work;
    }
    merge_stacks(profile, empty, other, map);
}

/* Move what is not per function from OTHER to PROFILE, and free OTHER. */
static void profile_adopt(struct profile *profile, struct profile *other)
{
    for (size_t i = 0; i < other->files.count; i++)
        *VEC_PUSH(&profile->files) = other->files.at[i];
    sums_origin_adopt(&profile->origin, &other->origin);
    arena_adopt(&profile->arena, &other->arena);
    add_cost(&profile->total, &other->total);
    profile->sampled |= other->sampled;
    profile->figures = other->figures;
    profile->counts_swapped |= other->counts_swapped;
    profile->merged_edges += other->merged_edges;
    if (profile->odd_entries == 0)
        profile->odd_offset = other->odd_offset;
    profile->odd_entries += other->odd_entries;
    if (profile->trailing_bytes == 0)
        profile->trailing_offset = other->trailing_offset;
    profile->trailing_bytes += other->trailing_bytes;
    profile_free(other);
}

void profile_add(struct profile *profile, struct profile *other)
{
    merge(profile, other, KEEP_DIRS);
    profile_adopt(profile, other);
}

struct profile *profile_strip_dirs(struct profile *profile, bool last_caller_wins)
{
    struct profile *stripped = profile_open();
    free(profile->slots); /* nothing is looked for in it any more */
    profile->slots = NULL;
    merge(stripped, profile, last_caller_wins ? STRIP_DIRS_LAST_CALLER_WINS : STRIP_DIRS);
    profile_adopt(stripped, profile);
    return stripped;
}

/* ":12(", without printf, which would take longer than all the rest of a name. */
static void add_line(struct buffer *out, int64_t line)
{
    char text[24];
    size_t at = sizeof text;
    uint64_t rest = line < 0 ? 0 - (uint64_t)line : (uint64_t)line;
    text[--at] = '(';
    do
        text[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (line < 0)
        text[--at] = '-';
    text[--at] = ':';
    buffer_add(out, text + at, sizeof text - at);
}

void profile_function_text(const struct profile_function *f, struct buffer *out)
{
    bool nowhere = f->file_length == 1 && f->file[0] == '~';
    bool builtin = nowhere && f->line == 0;
    if (nowhere && f->line == PROFILE_NAME_LINE) {
        buffer_add(out, f->name, f->name_length);
    } else if (!builtin) {
        buffer_add(out, f->file, f->file_length);
        add_line(out, f->line);
        buffer_add(out, f->name, f->name_length);
        buffer_putc(out, ')');
    } else if (f->name_length > 0 && f->name[0] == '<' && f->name[f->name_length - 1] == '>') {
        buffer_putc(out, '{');
        if (f->name_length > 2)
            buffer_add(out, f->name + 1, f->name_length - 2);
        buffer_putc(out, '}');
    } else {
        buffer_add(out, f->name, f->name_length);
    }
}

int profile_function_compare(const struct profile_function *a, const struct profile_function *b)
{
    int order = text_compare(a->file, a->file_length, b->file, b->file_length);
    if (order == 0)
        order = (a->line > b->line) - (a->line < b->line);
    return order ? order : text_compare(a->name, a->name_length, b->name, b->name_length);
}

int64_t profile_ns(double seconds)
{
    /* A long double, because the product of doubles is off by more than 1 ns from 104 days on. */
    long double ns = (long double)seconds * 1e9L;
    return ns > -0x1p63L && ns < 0x1p63L ? (int64_t)llrintl(ns) : 0;
}
