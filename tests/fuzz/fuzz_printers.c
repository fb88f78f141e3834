/*
 * fuzz_printers.c - any bytes as texts, figures and shape of tables, through every printer, in terminals of any width,
 * and onto the page of a report.
 *
 * None may crash; no raw control character may come out; every line of the terminal's table must fit; a page must have no
 * script but its own; and JSON can be read again.
 */
#include "base/unicode.h"
#include "ingest/saved.h"
#include "report/page.h"
#include "tests/fuzz/fuzz.h"

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

/* How often does WORD occur in TEXT, which may hold anything? */
static size_t count_of(const char *word, const char *text, size_t len)
{
    size_t count = 0;
    for (const char *at = text; (at = memmem(at, len - (size_t)(at - text), word, strlen(word))) != NULL;
         at++)
        count++;
    return count;
}

/* No output may control the terminal that shows it. */
static void check(const char *format, const char *text, size_t len, size_t width)
{
    size_t line = 0;
    for (size_t at = 0; at < len; at++) {
        must(text[at] == '\n' || (text[at] == '\t' && strcmp(format, "tsv") == 0) ||
             ((unsigned char)text[at] >= ' ' && text[at] != 0x7f));
        if (text[at] != '\n')
            continue;
        must(strcmp(format, "table") != 0 || width == 0 ||
             unicode_text_width(text + line, at - line) <= width);
        line = at + 1;
    }
    if (strcmp(format, "html") == 0 || strcmp(format, "page") == 0)
        must(count_of("<script", text, len) <= 1 && count_of("</script", text, len) <= 1);
    if (strcmp(format, "json") == 0) { /* and it comes back as it was */
        struct tpa_error err = { 0 };
        struct source *source = source_open_memory(text, len, "printed", &err);
        struct result *again = source ? saved_read(source, &err) : NULL;
        must(again != NULL);
        result_free(again);
        source_free(source);
    }
}

static void print(const struct printer *printer, const struct result *result,
                  const struct print_options *options)
{
    SCOPED char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct tpa_error err = { 0 };
    must(out && printer->print(result, options, out, &err) && fclose(out) == 0);
    if (printer->binary)
        must(len >= 16 && len % 8 == 0 && memcmp(text + len - 8, "\xff\xff\xff\xff\0\0\0\0", 8) == 0);
    else
        check(printer->name, text, len, options->width);
}

/* The result as a section of a report. */
static void print_page(const struct result *result)
{
    struct page page = { .maker = "tpa", .title = "trace.json" };
    struct page_section *section = page_add_section(&page, "fuzz", "Title", NULL);
    for (size_t i = 0; i < result->tables.count; i++)
        *VEC_PUSH(&section->tables) = result->tables.at[i];
    for (size_t i = 0; i < result->notices.count; i++) {
        *VEC_PUSH(&section->notices) = result->notices.at[i];
        page.maker = page.title = page.subtitle = section->intro = result->notices.at[i].text;
    }
    SCOPED char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct tpa_error err = { 0 };
    must(out && page_write(&page, out, &err) && fclose(out) == 0);
    check("page", text, len, 0);
    page_release(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    extern const struct printer printer_junit, printer_github;
    const struct printer *const others[] = { &printer_junit, &printer_github, &printer_html };
    /* Two columns are always kept, and no figure takes more than 20 columns. */
    size_t width = 44 + take(&data, &size);
    uint8_t how = take(&data, &size);
    struct print_options options = {
        .width = how & 1 ? 0 : width,
        .wide = how & 1,
        .time_unit = (enum time_unit)(how / 2 % (TIME_NS + 1)),
    };
    struct result *result = table_of(data, size);
    for (size_t i = 0; printers[i]; i++)
        print(printers[i], result, &options);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        print(others[i], result, &options);
    print_page(result);
    result_free(result);
    return 0;
}
