/* html.c - a result as a page that needs nothing else (page.h): a section for each table, and one for its picture. */
#include "report/page.h"

/* "tpa nightly" of the schema "tpa.nightly/1". */
static void command_of(struct buffer *out, const char *schema)
{
    buffer_add(out, schema, strcspn(schema, "/"));
    for (size_t i = 0; i < out->count; i++)
        if (out->at[i] == '.')
            out->at[i] = ' ';
}

static bool print_html(const struct result *result, const struct print_options *options, FILE *out,
                       struct tpa_error *err)
{
    (void)options;
    struct buffer maker = { 0 };
    command_of(&maker, result->schema);
    const char *source = result->picture ? result->picture->source : NULL;
    struct page page = { .maker = maker.at, .title = source ? source : maker.at };
    page_add_result(&page, result);
    bool good = page_write(&page, out, err);
    page_release(&page);
    buffer_release(&maker);
    return good;
}

const struct printer printer_html = { "html",
                                      "one page with tables and charts, which needs nothing beside it",
                                      print_html };
