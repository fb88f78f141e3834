/*
 * fuzz_printers.c - any bytes as texts, figures and shape of tables, through every printer in terminals of any width.
 * None may crash; no raw control character may come out; and every line of the terminal's table must fit.
 */
#include "report/printer.h"
#include "report/unicode.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static uint8_t take(const uint8_t **data, size_t *size)
{
    if (!*size)
        return 0;
    (*size)--;
    return *(*data)++;
}

static struct result *table_of(const uint8_t *data, size_t size)
{
    enum { MOST_COLUMNS = 12 };
    struct table_column columns[MOST_COLUMNS];
    size_t count = take(&data, &size) % (MOST_COLUMNS + 1);
    for (size_t i = 0; i < count; i++)
        columns[i] =
            (struct table_column){ "key",  "Title of it",          take(&data, &size) % (TABLE_BOOL + 1),
                                   "help", take(&data, &size) & 3, NULL };
    struct result *result = result_open("tpa.fuzz/1");
    struct table *table = table_open("fuzz", size & 1 ? "Title" : NULL, columns, count);
    while (size && count) {
        size_t row = table_add_row(table);
        for (size_t i = 0; i < count && size; i++) {
            size_t len = take(&data, &size) % 97;
            len = len < size ? len : size;
            uint64_t bits = 0;
            memcpy(&bits, data, len < 8 ? len : 8);
            double number;
            memcpy(&number, &bits, 8);
            if (table_is_text(columns[i].kind))
                table_set_text(table, row, i, (const char *)data, len);
            else if (table_is_number(columns[i].kind))
                table_set_number(table, row, i, number);
            else
                table_set_int(table, row, i, (int64_t)bits);
            size_t used = table_is_text(columns[i].kind) || len < 8 ? len : 8;
            if (row == 0)
                table_add_text_footer(table, "footer", "A footer", (const char *)data, len);
            data += used;
            size -= used;
        }
    }
    if (count && size % 3 == 0)
        table_sort(table, count - 1, false);
    if (table->row_count)
        result_add_notice(result, "kind", 2, NULL, 5, "%.*s", (int)table->footers.at[0].value.text.len,
                          table->footers.at[0].value.text.at);
    result_add_table(result, table);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Two columns are always kept, and no figure takes more than 20 columns. */
    size_t width = 44 + take(&data, &size);
    struct result *result = table_of(data, size);
    for (size_t i = 0; printers[i]; i++) {
        char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);
        struct tpa_error err = { 0 };
        must(out && printers[i]->print(result, &(struct print_options){ .width = width }, out, &err));
        must(fclose(out) == 0);
        size_t line = 0;
        for (size_t at = 0; at < len; at++) {
            must(text[at] == '\n' || ((unsigned char)text[at] >= ' ' && text[at] != 0x7f));
            if (text[at] != '\n')
                continue;
            must(i != 0 || unicode_text_width(text + line, at - line) <= width);
            line = at + 1;
        }
        free(text);
    }
    result_free(result);
    return 0;
}
