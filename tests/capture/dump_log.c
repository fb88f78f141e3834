/*
 * dump_log.c - the records of a .tpa log as lines of text, to be compared with what was fed.
 *
 *     dump_log [--timeless] FILE [KIND...]
 *
 *     KERNEL START=1000 DURATION=20 NAME="k" ...
 *
 * Fields that are not known are left out. The two halves of a range (MARKER) become a RANGE again; --timeless leaves
 * out when, how long, on which thread and under which id. Exits with 1 when the file has anything but whole blocks.
 */
#include "trace/tpafile_decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **texts;
static int64_t text_count;

static struct half {
    int64_t values[TPAFILE_MOST_FIELDS];
    bool open;
} * halves;
static size_t half_count;

static bool timeless;
static char **wanted;
static int wanted_count;

static bool is_wanted(const char *kind)
{
    for (int i = 0; i < wanted_count; i++)
        if (strcmp(wanted[i], kind) == 0)
            return true;
    return wanted_count == 0;
}

static bool is_left_out(const char *name)
{
    static const char *const names[] = { "START", "DURATION", "TIME", "THREAD", "ID" };
    for (size_t i = 0; timeless && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void print_text(int64_t number)
{
    putchar('"');
    for (const char *c = number < text_count && texts[number] ? texts[number] : "(lost)"; *c; c++)
        printf((unsigned char)*c < ' ' || *c == '"' ? "\\%02x" : "%c", (unsigned char)*c);
    putchar('"');
}

static void print_row(unsigned kind, const int64_t *values)
{
    const struct tpafile_kind_info *info = &tpafile_kinds[kind];
    if (!is_wanted(info->id))
        return;
    fputs(info->id, stdout);
    for (unsigned field = 0; field < info->field_count; field++) {
        bool is_text = info->fields[field].type == TPAFILE_TEXT;
        if (values[field] == TPAFILE_NONE || (is_text && values[field] == 0) ||
            is_left_out(info->fields[field].name))
            continue;
        printf(" %s=", info->fields[field].name);
        if (is_text)
            print_text(values[field]);
        else
            printf("%" PRId64, values[field]);
    }
    putchar('\n');
}

static void print_range(const int64_t *begin, int64_t end_ns)
{
    int64_t range[TPAFILE_RANGE_FIELDS_END] = {
        [TPAFILE_RANGE_START] = begin[TPAFILE_MARKER_TIME],
        [TPAFILE_RANGE_DURATION] =
            end_ns == TPAFILE_NONE ? TPAFILE_NONE : end_ns - begin[TPAFILE_MARKER_TIME],
        [TPAFILE_RANGE_TYPE] = begin[TPAFILE_MARKER_TYPE],
        [TPAFILE_RANGE_ID] = begin[TPAFILE_MARKER_ID],
        [TPAFILE_RANGE_THREAD] = begin[TPAFILE_MARKER_THREAD],
        [TPAFILE_RANGE_DOMAIN] = begin[TPAFILE_MARKER_DOMAIN],
        [TPAFILE_RANGE_NAME] = begin[TPAFILE_MARKER_NAME],
        [TPAFILE_RANGE_NUMBER] = begin[TPAFILE_MARKER_NUMBER],
        [TPAFILE_RANGE_CATEGORY] = begin[TPAFILE_MARKER_CATEGORY],
        [TPAFILE_RANGE_COLOR] = begin[TPAFILE_MARKER_COLOR],
        [TPAFILE_RANGE_PAYLOAD_TYPE] = begin[TPAFILE_MARKER_PAYLOAD_TYPE],
        [TPAFILE_RANGE_PAYLOAD] = begin[TPAFILE_MARKER_PAYLOAD],
        [TPAFILE_RANGE_NUMBER_2] = begin[TPAFILE_MARKER_NUMBER_2],
        [TPAFILE_RANGE_TAIL] = begin[TPAFILE_MARKER_TAIL],
    };
    print_row(TPAFILE_RANGE, range);
}

static void take_marker(const int64_t *values)
{
    int64_t type = values[TPAFILE_MARKER_TYPE];
    if (type == TPAFILE_PUSH || type == TPAFILE_OPEN) {
        halves = realloc(halves, (half_count + 1) * sizeof *halves);
        halves[half_count].open = true;
        memcpy(halves[half_count++].values, values, TPAFILE_MARKER_FIELDS_END * sizeof *values);
    } else if (type == TPAFILE_POP || type == TPAFILE_CLOSE) {
        for (size_t i = 0; i < half_count; i++)
            if (halves[i].open && halves[i].values[TPAFILE_MARKER_ID] == values[TPAFILE_MARKER_ID]) {
                halves[i].open = false;
                print_range(halves[i].values, values[TPAFILE_MARKER_TIME]);
            }
    } else {
        print_row(TPAFILE_MARKER, values);
    }
}

static bool take_texts(struct tpafile_decoder *decoder, uint32_t rows)
{
    const struct tpafile_column *first_column = tpafile_find_column(decoder, TPAFILE_STRINGS_FIRST);
    const struct tpafile_column *length_column = tpafile_find_column(decoder, TPAFILE_STRINGS_LENGTH);
    const struct tpafile_column *bytes_column = tpafile_find_column(decoder, TPAFILE_STRINGS_BYTES);
    int64_t first = 0, *lengths = calloc(rows, sizeof *lengths);
    char *bytes = malloc((bytes_column ? bytes_column->count : 0) + 1);
    bool good = first_column && length_column && lengths && bytes &&
                tpafile_decode_column(decoder, first_column, &first) &&
                tpafile_decode_column(decoder, length_column, lengths) &&
                (!bytes_column || tpafile_decode_bytes(decoder, bytes_column, bytes));
    size_t at = 0;
    if (good && first + rows > text_count) {
        texts = realloc(texts, (size_t)(first + rows) * sizeof *texts);
        memset(texts + text_count, 0, (size_t)(first + rows - text_count) * sizeof *texts);
        text_count = first + rows;
    }
    for (uint32_t i = 0; good && i < rows; i++) {
        texts[first + i] = strndup(bytes + at, (size_t)lengths[i]);
        at += (size_t)lengths[i];
    }
    free(lengths);
    free(bytes);
    return good;
}

static bool take_rows(struct tpafile_decoder *decoder, const struct tpafile_head *head)
{
    if (head->kind >= TPAFILE_KIND_COUNT || !tpafile_kinds[head->kind].id)
        return true;
    unsigned fields = tpafile_kinds[head->kind].field_count;
    int64_t *columns[TPAFILE_MOST_FIELDS] = { NULL };
    for (unsigned field = 0; field < fields; field++) {
        const struct tpafile_column *column = tpafile_find_column(decoder, field);
        if (!column)
            continue;
        columns[field] = malloc(head->rows * sizeof **columns);
        if (!tpafile_decode_column(decoder, column, columns[field]))
            return false;
    }
    for (uint32_t row = 0; row < head->rows; row++) {
        int64_t values[TPAFILE_MOST_FIELDS];
        for (unsigned field = 0; field < fields; field++)
            values[field] = columns[field] ? columns[field][row] : TPAFILE_NONE;
        if (head->kind == TPAFILE_MARKER)
            take_marker(values);
        else
            print_row(head->kind, values);
    }
    for (unsigned field = 0; field < fields; field++)
        free(columns[field]);
    return true;
}

int main(int argc, char **argv)
{
    int next = 1;
    timeless = next < argc && strcmp(argv[next], "--timeless") == 0;
    next += timeless;
    FILE *file = next < argc ? fopen(argv[next], "rb") : NULL;
    if (!file) {
        perror("dump_log");
        return 2;
    }
    wanted = argv + next + 1;
    wanted_count = argc - next - 1;
    unsigned char header[TPAFILE_HEADER_SIZE], head_bytes[TPAFILE_BLOCK_HEAD];
    if (fread(header, 1, sizeof header, file) != sizeof header || !tpafile_check_header(header)) {
        fputs("dump_log: no header\n", stderr);
        return 1;
    }
    struct tpafile_decoder *decoder = tpafile_decoder_open();
    uint32_t number = 0;
    size_t got;
    bool good = true;
    while (good && (got = fread(head_bytes, 1, sizeof head_bytes, file)) > 0) {
        struct tpafile_head head;
        if (got != sizeof head_bytes || !tpafile_decode_head(head_bytes, &head)) {
            good = false;
            break;
        }
        unsigned char *payload = malloc(head.packed + 1);
        good = fread(payload, 1, head.packed, file) == head.packed && tpafile_check_payload(&head, payload) &&
               head.number == number++ && !tpafile_decode_block(decoder, &head, payload) &&
               (head.kind == TPAFILE_STRINGS ? take_texts(decoder, head.rows) : take_rows(decoder, &head));
        free(payload);
    }
    for (size_t i = 0; i < half_count; i++)
        if (halves[i].open)
            print_range(halves[i].values, TPAFILE_NONE);
    if (!good)
        fprintf(stderr, "dump_log: block %u is not whole\n", number);
    tpafile_decoder_free(decoder);
    fclose(file);
    return !good;
}
