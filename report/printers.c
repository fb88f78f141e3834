/* printers.c - all the ways to show a result; see printer.h. */
#include "report/printer.h"

extern const struct printer printer_text, printer_csv, printer_json, printer_markdown, printer_arrow;

const struct printer *const printers[] = { &printer_text,     &printer_csv,   &printer_json,
                                           &printer_markdown, &printer_arrow, NULL };

const struct printer *printer_find(const char *name)
{
    for (size_t i = 0; printers[i]; i++)
        if (!strcmp(printers[i]->name, name))
            return printers[i];
    return NULL;
}
