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

/* Append the field at csv->at without its quotes; csv->at moves behind it. */
static void csv_read_field(struct csv *csv)
{
    struct buffer *text = &csv->text;
    bool quoted = csv->at < csv->end && *csv->at == '"';
    size_t first = text->count;
    const char *at = csv->at + quoted, *start = at;
    for (;;) {
        while (at < csv->end && !csv_ends_plain(*at, quoted))
            at++;
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
    *VEC_PUSH(&csv->fields) = (struct csv_cell){ first, text->count - first };
    text->at[text->count++] = '\0';
    csv->at = at;
}

/* Leave one of each two quotes in TEXT of LEN bytes. Returns its length. */
static size_t csv_undouble(char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        text[count++] = text[i];
        i += text[i] == '"';
    }
    return count;
}

/* Read the row at csv->at the short way: copied as it is, its fields are places in the copy. False, and csv->at not
 * moved, for what nobody writes, or seldom: text behind a closing quote, a NUL byte, a row near the end of the text. */
static bool csv_read_quickly(struct csv *csv)
{
#if HAVE_BYTES16
    enum { BLOCK = 4 * sizeof(bytes16) };
    const bytes16 comma = bytes16_all(','), quote = bytes16_all('"'), nul = bytes16_all(0),
                  line = bytes16_all('\n'), back = bytes16_all('\r');
    struct buffer *text = &csv->text;
    const char *row = csv->at;
    bool quoted = *row == '"', doubled = false;
    size_t start = quoted, next = quoted; /* where the field begins, and what of it is not yet looked at */
    for (size_t offset = 0; (size_t)(csv->end - row) > offset + BLOCK + 1; offset += BLOCK) {
        bytes16 quotes_of[4], ends_of[4], nuls = nul;
        text->count = offset;
        VEC_RESERVE(text, BLOCK);
        memcpy(text->at + offset, row + offset, BLOCK);
        for (size_t i = 0; i < 4; i++) {
            bytes16 block = bytes16_load(row + offset + i * sizeof block);
            quotes_of[i] = bytes16_equal(block, quote);
            ends_of[i] = bytes16_or(bytes16_equal(block, comma),
                                    bytes16_or(bytes16_equal(block, line), bytes16_equal(block, back)));
            nuls = bytes16_or(nuls, bytes16_equal(block, nul));
        }
        if (bytes16_mask(nuls))
            return false;
        const uint64_t quotes = bytes16_mask_of_4(quotes_of), ends = bytes16_mask_of_4(ends_of);
        while (next < offset + BLOCK) {
            uint64_t marks = (quoted ? quotes : ends) & (~UINT64_C(0) << (next > offset ? next - offset : 0));
            if (!marks)
                break;
            size_t end = offset + (size_t)__builtin_ctzll(marks), len = end - start;
            if (quoted && row[++end] == '"') {
                doubled = true;
                next = end + 1;
                continue;
            }
            if (row[end] != ',' && row[end] != '\n' && row[end] != '\r')
                return false;
            *VEC_PUSH(&csv->fields) =
                (struct csv_cell){ start, doubled ? csv_undouble(text->at + start, len) : len };
            if (row[end] != ',') {
                csv->at = row + end;
                return true;
            }
            quoted = row[end + 1] == '"';
            doubled = false;
            next = start = end + 1 + quoted;
        }
    }
#endif
    return false;
}

bool csv_next(struct csv *csv)
{
    while (csv->at < csv->end && (*csv->at == '\n' || *csv->at == '\r'))
        csv->at++;
    csv->fields.count = csv->text.count = 0;
    if (csv->at >= csv->end)
        return false;
    if (csv_read_quickly(csv))
        return true;
    csv->fields.count = csv->text.count = 0;
    for (;;) {
        csv_read_field(csv);
        if (csv->at >= csv->end || *csv->at != ',')
            return true;
        csv->at++;
    }
}

const char *csv_text(const struct csv *csv, size_t i, size_t *len)
{
    *len = 0;
    if (i >= csv->fields.count)
        return "";
    char *text = csv->text.at + csv->fields.at[i].start;
    *len = csv->fields.at[i].len;
    for (; *len && json_is_blank(*text); text++)
        --*len;
    while (*len && json_is_blank(text[*len - 1]))
        --*len;
    text[*len] = '\0'; /* over a blank, a quote, or what parts fields */
    return text;
}

const char *csv_field(const struct csv *csv, size_t i)
{
    size_t len;
    return csv_text(csv, i, &len);
}

int64_t csv_integer(const struct csv *csv, size_t i, int64_t missing)
{
    size_t len;
    const char *text = csv_text(csv, i, &len);
    int64_t value;
    return len && json_integer(text, text + len, &value) ? value : missing;
}

bool csv_header(struct csv *csv)
{
    if (!csv_next(csv))
        return false;
    buffer_clear(&csv->head);
    csv->columns.count = 0;
    for (size_t i = 0; i < csv->fields.count; i++) {
        size_t len;
        const char *name = csv_text(csv, i, &len);
        *VEC_PUSH(&csv->columns) = csv->head.count;
        buffer_add(&csv->head, name, len + 1);
    }
    return true;
}

size_t csv_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->columns.count; i++)
        if (strcasecmp(csv->head.at + csv->columns.at[i], name) == 0)
            return i;
    return CSV_NO_COLUMN;
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
