/*
 * mutate_sqlite.c - an SQLite database into another that SQLite still opens: values of rows changed, names in the schema
 * swapped for others, pages copied over pages, cells doubled.
 *
 * A b-tree page begins with its type (10 and 13 are leaves), how many cells it has (offset 3) and, from offset 8 of a leaf
 * on, where they are. A cell of a table's leaf is the length of its record, the rowid, and the record: the length of its
 * head, a serial type per column, then the values. On page 1 all of that follows the 100 bytes of the file's header.
 */
#include "tests/fuzz/mutate.h"

#include <stdlib.h>

enum { HEADER = 100, TABLE_LEAF = 13, INDEX_LEAF = 10 };

struct page {
    size_t at, size, head; /* head: where its b-tree header is */
};

static size_t get_u16(const uint8_t *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/* Some page of INPUT; false when it is none of a database. */
static bool pick_page(const struct mutated *input, uint64_t *state, struct page *page)
{
    if (input->size < 512 || memcmp(input->at, "SQLite format 3", 16) != 0)
        return false;
    size_t size = get_u16(input->at + 16) == 1 ? 65536 : get_u16(input->at + 16);
    if (size < 512 || input->size < size)
        return false;
    size_t number = mutate_random(state, input->size / size);
    *page = (struct page){ number * size, size, number * size + (number ? 0 : HEADER) };
    return true;
}

/* Some cell of a leaf; 0 when PAGE is none. */
static size_t pick_cell(const struct mutated *input, const struct page *page, uint64_t *state)
{
    const uint8_t *head = input->at + page->head;
    size_t cells = get_u16(head + 3);
    if ((head[0] != TABLE_LEAF && head[0] != INDEX_LEAF) || cells == 0)
        return 0;
    size_t pointer = page->head + 8 + 2 * mutate_random(state, cells);
    if (pointer + 2 > page->at + page->size)
        return 0;
    size_t cell = page->at + get_u16(input->at + pointer);
    return cell + 8 < page->at + page->size ? cell : 0;
}

/* Another value or another type of value, near the beginning of a cell or somewhere in it. */
static void change_cell(struct mutated *input, uint64_t *state)
{
    static const uint8_t telling[] = {
        0, 1, 4, 6, 7, 8, 9, 12, 13, 14, 15, 0x3b, 0x45, 0x7f, 0x80, 0x81, 0xff
    };
    struct page page;
    if (!pick_page(input, state, &page))
        return;
    size_t cell = pick_cell(input, &page, state);
    if (cell == 0)
        return;
    size_t room = page.at + page.size - cell, reach = mutate_random(state, 2) ? 24 : 120;
    size_t at = cell + mutate_random(state, room < reach ? room : reach);
    input->at[at] = mutate_random(state, 3) ? telling[mutate_random(state, sizeof telling)]
                                            : (uint8_t)mutate_random(state, 256);
}

/* Point a place of the list of cells to another one. */
static void repeat_cell(struct mutated *input, uint64_t *state)
{
    struct page page;
    if (!pick_page(input, state, &page))
        return;
    uint8_t *head = input->at + page.head;
    size_t cells = get_u16(head + 3);
    if (cells < 2 || page.head + 8 + 2 * cells > page.at + page.size)
        return;
    memcpy(head + 8 + 2 * mutate_random(state, cells), head + 8 + 2 * mutate_random(state, cells), 2);
}

static void copy_page(struct mutated *input, uint64_t *state)
{
    struct page from, to;
    if (pick_page(input, state, &from) && pick_page(input, state, &to) && from.at && to.at)
        memmove(input->at + to.at, input->at + from.at, from.size);
}

/* Another name for a table or column, of the same length, so that the schema stays one. */
static void change_name(struct mutated *input, uint64_t *state)
{
    static const char *const names[][2] = {
        { "start", "START" },
        { "start", "spart" },
        { "deviceId", "streamId" },
        { "globalPid", "globalTid" },
        { "textId", "nameId" },
        { "copyKind", "memoryKi" },
        { "KIND_KERNEL", "KIND_MEMCPY" },
        { "KIND_MEMSET", "KIND_KERNEL" },
        { "eventType", "globalTid" },
        { "INTEGER", "TEXT   " },
        { "INTEGER", "BLOB   " },
        { "stack_id", "event_id" },
        { "kernel_id", "dst_agent" },
        { "rocpd_op", "rocpd_xx" },
        { "OSRT_API", "osrt_api" },
        { "CREATE TABLE", "CREATE INDEX" },
    };
    size_t which = mutate_random(state, sizeof names / sizeof *names), len = strlen(names[which][0]);
    size_t begin = mutate_random(state, input->size);
    for (size_t i = 0; i + len <= input->size; i++) {
        size_t at = (begin + i) % (input->size - len + 1);
        if (memcmp(input->at + at, names[which][0], len) == 0) {
            memcpy(input->at + at, names[which][1], len);
            return;
        }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static void (*const changes[])(struct mutated *, uint64_t *) = { change_cell, change_cell, change_cell,
                                                                     change_name, repeat_cell, copy_page };
    struct mutated input = { data, size, most };
    uint64_t state = seed * UINT64_C(2654435761) + 1;
    if (mutate_random(&state, 16) == 0)
        return LLVMFuzzerMutate(data, size, most);
    for (size_t left = 1 + mutate_random(&state, 6); left > 0 && size > 0; left--)
        changes[mutate_random(&state, sizeof changes / sizeof *changes)](&input, &state);
    return input.size;
}
