#include "ingest/csv.h"

#include "ingest/json_text.h"
#include <strings.h>

struct csv csv_open(const char *text, size_t len)
{
    bool mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; /* byte order mark */
    return (struct csv){ .at = text + (mark ? 3 : 0), .end = text + len };
}

void csv_release(struct csv *csv)
{
    EACH(buffer_release, &csv->text, &csv->head);
    EACH(VEC_FREE, &csv->fields, &csv->columns);
}

/* Append the field at csv->at without its quotes; csv->at moves behind it. */
static void csv_read_field(struct csv *csv)
{
    bool quoted = csv->at < csv->end && *csv->at == '"';
    const char *at = csv->at + quoted;
    while (at < csv->end) {
        if (quoted && *at == '"') {
            bool doubled = at + 1 < csv->end && at[1] == '"';
            at += 1 + doubled;
            if (!doubled) {
                quoted = false;
                continue;
            }
            buffer_putc(&csv->text, '"');
            continue;
        }
        if (!quoted && (*at == ',' || *at == '\n' || *at == '\r'))
            break;
        if (*at) /* a NUL byte would end the text early */
            buffer_putc(&csv->text, *at);
        at++;
    }
    buffer_putc(&csv->text, '\0');
    csv->at = at;
}

bool csv_next(struct csv *csv)
{
    while (csv->at < csv->end && (*csv->at == '\n' || *csv->at == '\r'))
        csv->at++;
    buffer_clear(&csv->text);
    csv->fields.count = 0;
    if (csv->at >= csv->end)
        return false;
    for (;;) {
        *VEC_PUSH(&csv->fields) = csv->text.count;
        csv_read_field(csv);
        if (csv->at >= csv->end || *csv->at != ',')
            return true;
        csv->at++;
    }
}

bool csv_header(struct csv *csv)
{
    if (!csv_next(csv))
        return false;
    buffer_clear(&csv->head);
    buffer_add(&csv->head, csv->text.at, csv->text.count);
    csv->columns.count = 0;
    memset(csv->known, 0, sizeof csv->known);
    for (size_t i = 0; i < csv->fields.count; i++)
        *VEC_PUSH(&csv->columns) = csv->fields.at[i];
    return true;
}

/* TEXT without the blanks before it; *LEN without those behind it. */
static const char *csv_trim(const char *text, size_t *len)
{
    while (json_is_blank(*text))
        text++;
    *len = strlen(text);
    while (*len && json_is_blank(text[*len - 1]))
        --*len;
    return text;
}

size_t csv_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns.count; i++) {
        size_t len;
        const char *text = csv_trim(csv->head.at + csv->columns.at[i], &len);
        if (len == strlen(name) && strncasecmp(text, name, len) == 0)
            return i;
    }
    return CSV_NO_COLUMN;
}

size_t csv_known_column(struct csv *csv, const char *name)
{
    struct csv_known *known = &csv->known[((uintptr_t)name >> 2 ^ (uintptr_t)name >> 8) % 64];
    if (known->name != name)
        *known = (struct csv_known){ name, csv_column(csv, name) };
    return known->column;
}

const char *csv_field(const struct csv *csv, size_t i)
{
    if (i >= csv->fields.count)
        return "";
    size_t len;
    const char *text = csv_trim(csv->text.at + csv->fields.at[i], &len);
    ((char *)csv->text.at)[(size_t)(text - csv->text.at) + len] = '\0'; /* only blanks are cut */
    return text;
}

int64_t csv_integer(const struct csv *csv, size_t i, int64_t missing)
{
    const char *text = csv_field(csv, i);
    int64_t value;
    return *text && json_integer(text, text + strlen(text), &value) ? value : missing;
}

bool csv_read_all(struct source *source, struct buffer *text, struct tpa_error *err)
{
    enum { STEP = 1 << 20 };
    int64_t got;
    do {
        VEC_RESERVE(text, STEP + 1);
        got = source_read(source, text->at + text->count, STEP, err);
        text->count += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    text->at[text->count] = '\0';
    return got == 0;
}
