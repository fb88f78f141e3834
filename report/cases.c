#include "report/cases.h"

static bool find(const struct table *table, const char *key, enum table_kind kind, size_t *at)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].key, key) == 0 && table->columns[i].kind == kind) {
            *at = i;
            return true;
        }
    return false;
}

bool cases_find(const struct table *table, struct case_columns *at)
{
    return find(table, CASE_NUMBER, TABLE_COUNT, &at->number) &&
           find(table, CASE_GATE, TABLE_TEXT, &at->gate) && find(table, CASE_NAME, TABLE_NAME, &at->name) &&
           find(table, CASE_OUTCOME, TABLE_TEXT, &at->outcome) &&
           find(table, CASE_FAILS, TABLE_BOOL, &at->fails) &&
           find(table, CASE_MESSAGE, TABLE_TEXT, &at->message);
}

size_t cases_end(const struct table *table, const struct case_columns *at, size_t first)
{
    size_t end = first;
    while (end < table->row_count &&
           table_cell(table, end, at->number)->i == table_cell(table, first, at->number)->i)
        end++;
    return end;
}
