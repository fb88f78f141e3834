#include "report/page_parts.h"

enum { LONGEST_NAME = 64 };

static void page_names_add(struct apart *names, const struct text *name)
{
    if (name->at)
        apart_add(names, name->at, name->len);
}

static void names_add_table(struct apart *names, const struct table *table)
{
    size_t rows = table->row_count < PAGE_MOST_ROWS ? table->row_count : PAGE_MOST_ROWS;
    for (size_t c = 0; c < table->column_count; c++)
        for (size_t row = 0; table->columns[c].kind == TABLE_NAME && row < rows; row++)
            page_names_add(names, &table_cell(table, row, c)->text);
}

bool page_names_has_kind(const struct timeline *timeline, uint32_t kind)
{
    return timeline->kinds.count && strcmp(timeline->kinds.at[kind].group, "device") == 0;
}

static void add_timeline(struct apart *names, const struct timeline *timeline)
{
    uint8_t *known = mem_zalloc(names_count(timeline->names) + 1, 1);
    for (size_t i = 0; i < timeline->spans.count; i++) {
        const struct timeline_span *span = &timeline->spans.at[i];
        if (known[span->name] || !page_names_has_kind(timeline, span->kind))
            continue;
        known[span->name] = 1;
        apart_add(names, names_text(timeline->names, span->name), names_length(timeline->names, span->name));
    }
    free(known);
}

static void add_answer(struct apart *names, const struct answer *answer)
{
    for (size_t i = 0; i < answer->rows.count; i++)
        apart_add(names, answer->rows.at[i].name, strlen(answer->rows.at[i].name));
    for (size_t i = 0; i < answer_first_findings(answer); i++)
        if (answer->findings.at[i].named)
            apart_add(names, answer->findings.at[i].title, strlen(answer->findings.at[i].title));
}

static void add_section(struct apart *names, const struct page_section *section)
{
    for (size_t i = 0; i < section->tables.count; i++)
        names_add_table(names, section->tables.at[i]);
    for (size_t i = 0; i < section->timelines.count; i++)
        add_timeline(names, section->timelines.at[i]);
    for (size_t i = 0; section->twins && i < section->twins->rows.count; i++)
        for (int side = 0; side < 2; side++)
            page_names_add(names, &section->twins->rows.at[i].sides[side].name);
}

struct apart *page_names_of(const struct page *page)
{
    struct apart *names = apart_open(LONGEST_NAME);
    if (page->answer)
        add_answer(names, page->answer);
    for (size_t i = 0; i < page->sections.count; i++)
        add_section(names, &page->sections.at[i]);
    return names;
}
