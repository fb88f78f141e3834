#include "ingest/csv.h"

#include "ingest/bytes16.h"
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

/* Does C end what a field holds as it is written? A NUL byte is left out: it would end the text. */
static bool csv_ends_plain(char c, bool quoted)
{
    return !c || (quoted ? c == '"' : c == ',' || c == '\n' || c == '\r');
}

static const char *csv_plain_end(const char *at, const char *end, bool quoted)
{
#if HAVE_BYTES16
    const bytes16 a = bytes16_all(quoted ? '"' : ','), b = bytes16_all(quoted ? '"' : '\n'),
                  c = bytes16_all(quoted ? '"' : '\r'), nul = bytes16_all(0);
    for (; end - at >= 16; at += 16) {
        bytes16 text = bytes16_load(at);
        unsigned found =
            bytes16_mask(bytes16_or(bytes16_or(bytes16_equal(text, a), bytes16_equal(text, b)),
                                    bytes16_or(bytes16_equal(text, c), bytes16_equal(text, nul))));
        if (found)
            return at + __builtin_ctz(found);
    }
#endif
    while (at < end && !csv_ends_plain(*at, quoted))
        at++;
    return at;
}

/* Append the field at csv->at without its quotes; csv->at moves behind it. */
static void csv_read_field(struct csv *csv)
{
    struct buffer *text = &csv->text;
    bool quoted = csv->at < csv->end && *csv->at == '"';
    const char *at = csv->at + quoted, *start = at;
    for (;;) {
        at = csv_plain_end(at, csv->end, quoted);
        bool doubled = quoted && at + 1 < csv->end && *at == '"' && at[1] == '"';
        size_t len = (size_t)(at - start) + doubled;
        VEC_RESERVE(text, len + 1);
        memcpy(text->at + text->count, start, len);
        text->count += len;
        if (at >= csv->end || !(quoted || !*at))
            break;
        quoted = quoted && (doubled || !*at);
        start = at += 1 + doubled;
    }
    text->at[text->count++] = '\0';
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

/* TEXT of *LEN bytes without the blanks before it; *LEN without those behind it. */
static const char *csv_trim(const char *text, size_t *len)
{
    for (; json_is_blank(*text); text++)
        --*len;
    while (*len && json_is_blank(text[*len - 1]))
        --*len;
    return text;
}

size_t csv_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns.count; i++) {
        size_t len = strlen(csv->head.at + csv->columns.at[i]);
        const char *text = csv_trim(csv->head.at + csv->columns.at[i], &len);
        if (len == strlen(name) && strncasecmp(text, name, len) == 0)
            return i;
    }
    return CSV_NO_COLUMN;
}

size_t csv_known_column(struct csv *csv, const char *name)
{
    enum { SLOTS = sizeof csv->known / sizeof *csv->known };
    size_t slot = ((uintptr_t)name >> 2 ^ (uintptr_t)name >> 8) % SLOTS;
    for (int tries = 0; tries < 8 && csv->known[slot].name && csv->known[slot].name != name; tries++)
        slot = (slot + 1) % SLOTS;
    struct csv_known *known = &csv->known[slot];
    if (known->name != name)
        *known = (struct csv_known){ name, csv_column(csv, name) };
    return known->column;
}

static const char *csv_field_of(const struct csv *csv, size_t i, size_t *len)
{
    *len = 0;
    if (i >= csv->fields.count)
        return "";
    size_t end = i + 1 < csv->fields.count ? csv->fields.at[i + 1] : csv->text.count;
    *len = end - 1 - csv->fields.at[i];
    const char *text = csv_trim(csv->text.at + csv->fields.at[i], len);
    ((char *)csv->text.at)[(size_t)(text - csv->text.at) + *len] = '\0'; /* only blanks are cut */
    return text;
}

const char *csv_field(const struct csv *csv, size_t i)
{
    size_t len;
    return csv_field_of(csv, i, &len);
}

int64_t csv_integer(const struct csv *csv, size_t i, int64_t missing)
{
    size_t len;
    const char *text = csv_field_of(csv, i, &len);
    int64_t value;
    return len && json_integer(text, text + len, &value) ? value : missing;
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
