/*
 * categories.c - the table "categories": what memory is used for, where a memory timeline tells it.
 *
 * A category holds what its records add up to: records of blocks that came, went, or changed into another category.
 */
#include "analyze/memory/tables.h"

#include <stdlib.h>

enum column {
    COLUMN_CATEGORY = MEMORY_DEVICE + 1,
    COLUMN_AT_PEAK = MEMORY_CATEGORY_AT_PEAK,
    COLUMN_SHARE,
    COLUMN_MOST,
    COLUMN_START,
    COLUMN_END,
    COLUMN_ALLOCATED,
    COLUMN_FREED,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    MEMORY_DEVICE_COLUMNS,
    { "category", "Category", TABLE_NAME, "what the memory is used for, as the profiler found out", 0, NULL },
    { "bytes", "At peak", TABLE_BYTES, "bytes of this category in use at the peak of the device", 0, "at_peak" },
    { "share", "Share", TABLE_SHARE, "share of the peak", 0, NULL },
    { "most", "Most", TABLE_BYTES, "most bytes of this category at any time", 0, NULL },
    { "start", "At start", TABLE_BYTES, "bytes before the first record", 0, NULL },
    { "end", "At end", TABLE_BYTES, "bytes after the last record", 0, NULL },
    { "allocated", "Allocated", TABLE_BYTES, "bytes of the blocks that were allocated as this", TABLE_OPTIONAL, NULL },
    { "freed", "Freed", TABLE_BYTES, "bytes of the blocks that were freed as this", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

struct table *memory_open_categories(const struct memory_question *question)
{
    return memory_open_table(question, "categories", "What it is used for", columns, COLUMNS);
}

struct category {
    name_id text;
    bool used; /* a record that was asked for is of it, or it holds something */
    int64_t bytes, at_peak, most, start, end, allocated, freed;
};

struct categories {
    struct category *at;
    size_t count, capacity;
};

struct extent {
    uint32_t first, last;
};

/* Its place among those met; there are a handful. */
static struct category *category_called(struct categories *categories, name_id text)
{
    for (size_t i = 0; i < categories->count; i++)
        if (categories->at[i].text == text)
            return &categories->at[i];
    struct category *added = VEC_PUSH(categories);
    *added = (struct category){ .text = text };
    return added;
}

static void add_record(struct category *category, const struct memory_record *record)
{
    category->used = true;
    if (record->change == MEMORY_EXISTING)
        category->start = memory_plus(category->start, record->bytes);
    if (record->change == MEMORY_BLOCK && record->bytes > 0)
        category->allocated = memory_plus(category->allocated, record->bytes);
    if (record->change == MEMORY_BLOCK && record->bytes < 0)
        category->freed = memory_plus(category->freed, -record->bytes);
    category->most = category->bytes > category->most ? category->bytes : category->most;
}

/* The first and last record of DEVICE that were asked for; there are such. */
static struct extent find_extent(const struct memory_question *question, const struct memory_device *device)
{
    const struct memory_record *at = question->records->at;
    struct extent extent = { device->first, device->first + device->count - 1 };
    while (extent.first < extent.last && !memory_is_selected(question, &at[extent.first]))
        extent.first++;
    while (extent.last > extent.first && !memory_is_selected(question, &at[extent.last]))
        extent.last--;
    return extent;
}

static void add_row(struct table *table, const struct memory_question *question,
                    const struct memory_device *device, const struct category *category, int64_t whole,
                    bool tells_blocks)
{
    const struct names *texts = question->trace->texts;
    size_t row = memory_add_row(table, question, device);
    table_set_text(table, row, COLUMN_CATEGORY, names_text(texts, category->text),
                   names_length(texts, category->text));
    table_set_int(table, row, COLUMN_AT_PEAK, category->at_peak);
    if (whole)
        table_set_number(table, row, COLUMN_SHARE, (double)category->at_peak / (double)whole);
    table_set_int(table, row, COLUMN_MOST, category->most);
    table_set_int(table, row, COLUMN_START, category->start);
    table_set_int(table, row, COLUMN_END, category->end);
    if (!tells_blocks)
        return;
    table_set_int(table, row, COLUMN_ALLOCATED, category->allocated);
    table_set_int(table, row, COLUMN_FREED, category->freed);
}

void memory_add_categories(struct table *table, const struct memory_question *question,
                           const struct memory_device *device, uint32_t peak)
{
    const struct memory_record *at = question->records->at;
    struct categories categories = { 0 };
    struct extent extent = find_extent(question, device);
    bool tells_blocks = false; /* the form of sums does not */
    for (uint32_t i = device->first; i <= extent.last; i++) {
        if (i == extent.first)
            for (size_t c = 0; c < categories.count; c++)
                categories.at[c].start = categories.at[c].most = categories.at[c].bytes;
        struct category *category = category_called(&categories, at[i].category);
        category->bytes = memory_plus(category->bytes, at[i].bytes);
        if (memory_is_selected(question, &at[i]))
            add_record(category, &at[i]);
        tells_blocks |= memory_is_selected(question, &at[i]) && at[i].change == MEMORY_BLOCK;
        for (size_t c = 0; i == peak && c < categories.count; c++)
            categories.at[c].at_peak = categories.at[c].bytes;
        for (size_t c = 0; i == extent.last && c < categories.count; c++)
            categories.at[c].end = categories.at[c].bytes;
    }
    for (size_t c = 0; c < categories.count; c++)
        if (categories.at[c].used || categories.at[c].start != 0 || categories.at[c].end != 0)
            add_row(table, question, device, &categories.at[c], at[peak].allocated, tells_blocks);
    VEC_FREE(&categories);
}
