/*
 * tpa_file.c - how fast are the columns of a .tpa file decoded, and how fast is a trace made of it, on one core?
 *
 *     bench_tpa_file FILE.tpa [RUNS]
 *
 * Prints lines of WHAT NANOSECONDS-AN-EVENT, the medians of RUNS (7) in turn. Events are the records of blocks of
 * events, and of the kinds that become events; flow arrows and texts come on top and are not counted. Times are of this
 * thread's processor, so that other programs on the machine disturb little.
 */
#include "ingest/formats.h"
#include "trace/tpafile_decode.h"

#include <time.h>

enum { MOST_RUNS = 99 };

extern const struct format format_tpa;

struct file {
    unsigned char *bytes;
    size_t size;
    uint64_t events;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool becomes_event(unsigned kind)
{
    return kind == TPAFILE_EVENTS ||
           (kind >= TPAFILE_KERNEL && kind <= TPAFILE_OVERHEAD && kind != TPAFILE_EXTERNAL);
}

static bool wanted(bool times_only, unsigned kind, const struct tpafile_column *column)
{
    return !times_only || (kind == TPAFILE_EVENTS && column->field <= TPAFILE_EVENTS_NAME);
}

/* Decode every column, or only begins, durations and names. How many records there were. */
static uint64_t decode(const struct file *file, struct tpafile_decoder *decoder, int64_t *values, char *texts,
                       bool times_only)
{
    uint64_t events = 0;
    struct tpafile_head head;
    for (size_t at = TPAFILE_HEADER_SIZE; at + TPAFILE_BLOCK_HEAD <= file->size;) {
        if (!tpafile_decode_head(file->bytes + at, &head) ||
            file->size - at - TPAFILE_BLOCK_HEAD < head.packed)
            break;
        const unsigned char *payload = file->bytes + at + TPAFILE_BLOCK_HEAD;
        if (!tpafile_check_payload(&head, payload) || tpafile_decode_block(decoder, &head, payload))
            break;
        for (size_t i = 0; i < tpafile_column_count(decoder); i++) {
            const struct tpafile_column *column = tpafile_column_at(decoder, i);
            if (column->form & TPAFILE_DICTIONARY || !wanted(times_only, head.kind, column))
                continue;
            if (column->count > head.rows)
                tpafile_decode_bytes(decoder, column, texts);
            else
                tpafile_decode_column(decoder, column, values);
        }
        events += becomes_event(head.kind) ? head.rows : 0;
        at += TPAFILE_BLOCK_HEAD + (size_t)head.packed;
    }
    return events;
}

static bool read_trace(const struct file *file, const struct trace_wants *wants)
{
    struct tpa_error err = { 0 };
    struct ingest_options options = { .wants = *wants, .workers = 1 };
    struct source *source = source_open_memory(file->bytes, file->size, "bench", &err);
    struct trace_builder *builder = trace_builder_open(wants);
    trace_builder_file(builder, "bench", "tpa");
    bool fine = source && format_tpa.read(source, builder, &options, &err);
    trace_free(trace_builder_finish(builder));
    source_free(source);
    return fine;
}

static int compare(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static bool load(const char *path, struct file *file)
{
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        return false;
    long size = ftell(in);
    rewind(in);
    file->size = size > 0 ? (size_t)size : 0;
    file->bytes = mem_alloc(file->size);
    bool fine = fread(file->bytes, 1, file->size, in) == file->size;
    fclose(in);
    return fine;
}

int main(int argc, char **argv)
{
    struct file file = { 0 };
    int runs = argc > 2 ? atoi(argv[2]) : 7;
    if (argc < 2 || runs < 1 || runs > MOST_RUNS || !load(argv[1], &file)) {
        fputs("usage: bench_tpa_file FILE.tpa [RUNS]\n", stderr);
        return 2;
    }
    static const char *const names[] = { "columns", "times", "trace", "full_trace" };
    static int64_t spent[4][MOST_RUNS];
    struct tpafile_decoder *decoder = tpafile_decoder_open();
    SCOPED int64_t *values = mem_alloc(TPAFILE_MOST_ROWS * sizeof *values);
    SCOPED char *texts = mem_alloc(TPAFILE_LARGEST_COLUMN);
    struct trace_wants none = { 0 }, all = { .args = UINT64_MAX >> (64 - ARG_COUNT) };
    bool fine = true;
    for (int run = 0; run < runs; run++) {
        for (int what = 0; what < 4; what++) {
            int64_t begin = now_ns();
            if (what < 2)
                file.events = decode(&file, decoder, values, texts, what == 1);
            else
                fine &= read_trace(&file, what == 2 ? &none : &all);
            spent[what][run] = now_ns() - begin;
        }
    }
    printf("events %llu\nbytes_per_event %.2f\n", (unsigned long long)file.events,
           (double)file.size / (double)(file.events ? file.events : 1));
    for (int what = 0; what < 4; what++) {
        qsort(spent[what], (size_t)runs, sizeof *spent[what], compare);
        printf("%s %.2f\n", names[what],
               (double)spent[what][runs / 2] / (double)(file.events ? file.events : 1));
    }
    tpafile_decoder_free(decoder);
    free(file.bytes);
    return fine ? 0 : 1;
}
