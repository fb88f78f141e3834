/* A file on disk gets as many addresses as it has bytes, and memory for a few blocks of them. When another
 * block is needed, the memory of the oldest one is moved to its address: touching fresh memory would take
 * longer than reading into it. */
#define _GNU_SOURCE
#include "ingest/whole.h"

#include <assert.h>
#include <sys/mman.h>

enum { FIRST_ROOM = 1 << 16, MOST_AT_ONCE = 4 << 20, GIVE_BACK = 8 << 20, PAGE = 4096 };

/* Of a size that the kernel moves at once, and so few that they stay in the processor's cache. */
enum { BLOCK = 2 << 20, MOST_BLOCKS = 3 };

enum part_state { PART_ABSENT, PART_THERE, PART_KEPT };

struct whole_file {
    struct source *source;
    const struct ingest_options *options;
    struct tpa_error err;
    bool failed;
    void *mapping;
    size_t mapped;
    uint8_t *base;              /* whole.at */
    uint8_t *states;            /* enum part_state, by block */
    VEC_OF(size_t) there, kept; /* blocks in the order in which they came */
};

static void describe_progress(const struct source *source, const struct ingest_options *options)
{
    if (options->progress)
        options->progress(options->progress_context, source_name(source), source_packed_read(source),
                          source_packed_size(source));
}

static void all_is_there(struct whole *whole)
{
    whole->ready = whole->at;
    whole->ready_end = whole->size ? whole->at + whole->size : whole->at;
}

static bool borrow(struct whole *whole, const struct source *source)
{
    size_t size;
    const void *memory = source_memory(source, &size);
    if (!memory)
        return false;
    whole->at = memory;
    whole->size = size;
    all_is_there(whole);
    return true;
}

bool whole_read(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err)
{
    int64_t count = 0;
    if (borrow(whole, source))
        return true;
    do {
        if (whole->room == whole->size) {
            size_t room = whole->room ? whole->room * 2 : (size_t)FIRST_ROOM;
            whole->own = column_resize(whole->own, whole->room, room);
            whole->room = room;
        }
        size_t some = whole->room - whole->size < MOST_AT_ONCE ? whole->room - whole->size : MOST_AT_ONCE;
        count = source_read(source, whole->own + whole->size, some, err);
        whole->size += count > 0 ? (size_t)count : 0;
        describe_progress(source, options);
    } while (count > 0);
    whole->at = whole->own;
    all_is_there(whole);
    return count == 0;
}

/* ---- a file on disk ---- */

#ifdef MREMAP_DONTUNMAP

bool whole_open(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err)
{
    int64_t size = source_packed_size(source);
    if (!source_has_places(source) || size <= (int64_t)MOST_BLOCKS * BLOCK)
        return whole_read(whole, source, options, err);
    size_t mapped = (size_t)size + 2 * (size_t)BLOCK;
    void *mapping =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) /* addresses are limited */
        return whole_read(whole, source, options, err);
    struct whole_file *file = mem_zalloc(1, sizeof *file);
    *file = (struct whole_file){ .source = source, .options = options, .mapping = mapping, .mapped = mapped };
    file->states = mem_zalloc((size_t)size / BLOCK + 1, 1);
    whole->file = file;
    whole->size = (size_t)size;
    whole->at = file->base = (uint8_t *)mapping + (BLOCK - (uintptr_t)mapping % BLOCK) % BLOCK;
    whole->ready = whole->ready_end = whole->at;
    return true;
}

static void forget_block(struct whole_file *file, size_t place)
{
    file->states[file->there.at[place]] = PART_ABSENT;
    file->there.count--;
    memmove(file->there.at + place, file->there.at + place + 1,
            (file->there.count - place) * sizeof *file->there.at);
}

/* Where there are enough blocks, give block NUMBER the memory of one that is neither kept nor of those from FIRST to LAST. */
static void move_memory(struct whole_file *file, size_t number, size_t first, size_t last)
{
    for (size_t i = 0; i < file->there.count && file->there.count >= MOST_BLOCKS; i++) {
        size_t old = file->there.at[i];
        if (old >= first && old <= last)
            continue;
        forget_block(file, i);
        void *from = file->base + old * BLOCK, *to = file->base + number * BLOCK;
        if (mremap(from, BLOCK, BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != to)
            (void)madvise(from, BLOCK, MADV_DONTNEED);
        return;
    }
}

static void load_block(struct whole *whole, size_t number, size_t first, size_t last)
{
    struct whole_file *file = whole->file;
    size_t offset = number * BLOCK;
    size_t size = whole->size - offset < BLOCK ? whole->size - offset : BLOCK;
    uint8_t *to = file->base + offset;
    move_memory(file, number, first, last);
    int64_t got = file->failed ? 0 : source_read_at(file->source, to, size, (int64_t)offset, &file->err);
    file->failed |= got < 0;
    size_t there = got > 0 ? (size_t)got : 0;
    memset(to + there, 0, size - there);
    file->states[number] = PART_THERE;
    *VEC_PUSH(&file->there) = number;
    describe_progress(file->source, file->options);
}

void whole_load(struct whole *whole, const uint8_t *at, size_t len)
{
    struct whole_file *file = whole->file;
    if (!file || len == 0)
        return;
    size_t offset = (size_t)(at - whole->at);
    assert(offset < whole->size && len <= whole->size - offset);
    size_t first = offset / BLOCK, last = (offset + len - 1) / BLOCK;
    for (size_t number = first; number <= last; number++)
        if (file->states[number] == PART_ABSENT)
            load_block(whole, number, first, last);
    whole->ready = whole->at + first * BLOCK;
    whole->ready_end =
        (last + 1) * BLOCK < whole->size ? whole->at + (last + 1) * BLOCK : whole->at + whole->size;
}

void whole_keep(struct whole *whole, const uint8_t *at, size_t len)
{
    struct whole_file *file = whole->file;
    whole_need(whole, at, len);
    if (!file || len == 0)
        return;
    size_t first = (size_t)(at - whole->at) / BLOCK, last = ((size_t)(at - whole->at) + len - 1) / BLOCK;
    size_t left = 0;
    for (size_t i = 0; i < file->there.count; i++) {
        size_t number = file->there.at[i];
        if (number < first || number > last) {
            file->there.at[left++] = number;
            continue;
        }
        file->states[number] = PART_KEPT;
        *VEC_PUSH(&file->kept) = number;
    }
    file->there.count = left;
}

void whole_let_go(struct whole *whole)
{
    struct whole_file *file = whole->file;
    if (!file || !file->kept.count)
        return;
    for (size_t i = 0; i < file->kept.count; i++) {
        file->states[file->kept.at[i]] = PART_THERE;
        *VEC_PUSH(&file->there) = file->kept.at[i];
    }
    file->kept.count = 0;
    while (file->there.count > MOST_BLOCKS) {
        (void)madvise(file->base + file->there.at[0] * BLOCK, BLOCK, MADV_DONTNEED);
        forget_block(file, 0);
    }
    whole->ready = whole->ready_end = whole->at;
}

#else /* blocks cannot be moved */

bool whole_open(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err)
{
    return whole_read(whole, source, options, err);
}

void whole_load(struct whole *whole, const uint8_t *at, size_t len)
{
    (void)whole, (void)at, (void)len;
}

void whole_keep(struct whole *whole, const uint8_t *at, size_t len)
{
    (void)whole, (void)at, (void)len;
}

void whole_let_go(struct whole *whole)
{
    (void)whole;
}

#endif

bool whole_skip_group(struct whole *whole, struct wire *in, uint32_t number)
{
    whole_need(whole, in->at, (size_t)(in->end - in->at));
    return wire_skip_group(in, number);
}

/* ---- the end ---- */

static void notice_damage(const struct source *source, struct trace_builder *builder)
{
    const char *damage = source_damage(source);
    if (damage)
        trace_builder_lacks(builder, LACK_DAMAGED_FILE,
                            trace_builder_strndup(builder, damage, strlen(damage)), 1, TPA_NOWHERE);
}

void whole_notice(const struct whole *whole, const struct source *source, struct trace_builder *builder)
{
    trace_builder_current_file(builder)->size = (int64_t)whole->size;
    notice_damage(source, builder);
}

void whole_done(struct whole *whole, size_t offset)
{
    size_t first = whole->done, end = offset & ~(size_t)(PAGE - 1);
    bool is_mapping = whole->own && (uintptr_t)whole->own % PAGE == 0 && whole->room >= 2 * (size_t)GIVE_BACK;
    if (!is_mapping || end < first + GIVE_BACK)
        return;
    madvise(whole->own + first, end - first, MADV_DONTNEED);
    whole->done = end;
}

bool whole_close(struct whole *whole, struct trace_builder *builder, struct tpa_error *err)
{
    struct whole_file *file = whole->file;
    char more;
    if (!file)
        return true;
    if (!file->failed && source_read_at(file->source, &more, 1, (int64_t)whole->size, &file->err) < 0)
        file->failed = true;
    if (file->failed) {
        *err = file->err;
        return false;
    }
    notice_damage(file->source, builder);
    return true;
}

void whole_free(struct whole *whole)
{
    struct whole_file *file = whole->file;
    if (file) {
        munmap(file->mapping, file->mapped);
        EACH(VEC_FREE, &file->there, &file->kept);
        EACH(free, file->states, file);
    }
    column_free(whole->own, whole->room);
    *whole = (struct whole){ 0 };
}
