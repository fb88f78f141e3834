/*
 * categories.c - categories of memory, from a memory timeline.
 *
 * The size of a category is the sum of its records: blocks that were allocated, freed, or changed their category.
 */
#include "memory/memory.h"
#include "base/sum.h"

#include <math.h>

struct category {
    name_id text;
    bool used; /* it has a selected record, or is not empty */
    int64_t bytes, at_peak, most, start, end, allocated, freed;
};

struct categories {
    VEC_OF(struct category);
};

struct extent {
    uint32_t first, last;
};

/* Its index among those found; there are few. */
static struct category *category_called(struct categories *categories, name_id text)
{
    struct category *known = FIND(one, categories, one->text == text);
    if (known)
        return known;
    struct category *added = VEC_PUSH(categories);
    *added = (struct category){ .text = text };
    return added;
}

static void add_record(struct category *category, const struct memory_record *record)
{
    category->used = true;
    if (record->change == MEMORY_EXISTING)
        sum_add(&category->start, record->bytes);
    if (record->change == MEMORY_BLOCK && record->bytes > 0)
        sum_add(&category->allocated, record->bytes);
    if (record->change == MEMORY_BLOCK && record->bytes < 0)
        sum_add(&category->freed, -record->bytes);
    category->most = category->bytes > category->most ? category->bytes : category->most;
}

/* The first and last selected record of DEVICE, which exist. */
static struct extent find_extent(const struct memory_query *query, const struct memory_device *device)
{
    const struct memory_record *at = query->records->at;
    struct extent extent = { device->first, device->first + device->count - 1 };
    while (extent.first < extent.last && !memory_is_selected(query, &at[extent.first]))
        extent.first++;
    while (extent.last > extent.first && !memory_is_selected(query, &at[extent.last]))
        extent.last--;
    return extent;
}

static struct memory_category row_of(const struct memory_query *query, const struct memory_device *device,
                                     const struct category *category, int64_t whole, bool tells_blocks)
{
    const struct names *texts = query->trace->texts;
    return (struct memory_category){
        .place = memory_place_of(query, device),
        .category = { names_text(texts, category->text), names_length(texts, category->text) },
        .peak_bytes = category->at_peak,
        .share = whole ? (double)category->at_peak / (double)whole : NAN,
        .most_bytes = category->most,
        .start_bytes = category->start,
        .end_bytes = category->end,
        .allocated_bytes = tells_blocks ? category->allocated : TABLE_INT_MISSING,
        .freed_bytes = tells_blocks ? category->freed : TABLE_INT_MISSING,
    };
}

void memory_add_categories(const struct memory_query *query, const struct memory_device *device,
                           uint32_t peak)
{
    const struct memory_record *at = query->records->at;
    SCOPED struct categories categories = { 0 };
    struct extent extent = find_extent(query, device);
    bool tells_blocks = false; /* the aggregated form does not */
    for (uint32_t i = device->first; i <= extent.last; i++) {
        if (i == extent.first)
            for (size_t c = 0; c < categories.count; c++)
                categories.at[c].start = categories.at[c].most = categories.at[c].bytes;
        struct category *category = category_called(&categories, at[i].category);
        sum_add(&category->bytes, at[i].bytes);
        if (memory_is_selected(query, &at[i]))
            add_record(category, &at[i]);
        tells_blocks |= memory_is_selected(query, &at[i]) && at[i].change == MEMORY_BLOCK;
        for (size_t c = 0; i == peak && c < categories.count; c++)
            categories.at[c].at_peak = categories.at[c].bytes;
        for (size_t c = 0; i == extent.last && c < categories.count; c++)
            categories.at[c].end = categories.at[c].bytes;
    }
    for (size_t c = 0; c < categories.count; c++)
        if (categories.at[c].used || categories.at[c].start != 0 || categories.at[c].end != 0)
            *VEC_PUSH(&query->memory->categories) =
                row_of(query, device, &categories.at[c], at[peak].allocated, tells_blocks);
}
