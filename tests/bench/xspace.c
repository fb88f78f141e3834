/*
 * xspace.c - how long does it take to read an XSpace, in comparison with protobuf-c, which only unpacks its messages?
 *
 *     bench_xspace [MEGABYTES [RUNS]] FILE.xplane.pb...
 *
 * The events of each file are repeated, later each time, until it has MEGABYTES (100); once as they are and once without
 * their stats. Prints a line for each: seconds of this thread's processor until the trace, or the messages, are in memory,
 * the medians of RUNS (5) in turn; the ratio; and the ratio where freeing counts, too. Where protobuf-c is not installed,
 * the time of tpa alone.
 */
#include "cli/convert/parts.h"
#include "ingest/wire.h"

#if TPA_HAVE_PROTOBUF_C
#include <xspace.pb-c.h>
#endif
#include <time.h>

enum { MOST_RUNS = 99, LIMIT_PERCENT = 50 };

extern const struct format format_xplane;

static double now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- growing ---- */

struct growing {
    int64_t span_ps; /* from the first event to the end of the last */
    uint64_t copies;
    bool drops_stats;
};

static void put_field(struct buffer *out, const struct wire_field *field)
{
    switch (field->type) {
    case WIRE_VARINT: wire_append_number(out, field->number, (int64_t)field->value); break;
    case WIRE_FIXED64: wire_append_fixed64(out, field->number, field->value); break;
    case WIRE_BYTES:
        wire_append_text(out, field->number, (const char *)field->bytes, (size_t)field->value);
        break;
    default: break; /* an XSpace has no others */
    }
}

static void put_event(const struct growing *growing, struct wire in, uint64_t copy, struct buffer *out)
{
    struct wire_field field;
    size_t event = wire_open(out, 4);
    while (wire_next(&in, &field)) {
        if (wire_is(&field, 2, WIRE_VARINT))
            field.value += copy * (uint64_t)growing->span_ps;
        if (field.number != 4 || !growing->drops_stats)
            put_field(out, &field);
    }
    wire_close(out, event);
}

static void put_line(const struct growing *growing, struct wire in, struct buffer *out)
{
    struct wire_field field;
    size_t line = wire_open(out, 3);
    for (uint64_t copy = 0; copy < growing->copies; copy++) {
        struct wire again = in;
        while (wire_next(&again, &field)) {
            if (wire_is(&field, 4, WIRE_BYTES))
                put_event(growing, wire_in(&field), copy, out);
            else if (copy == 0)
                put_field(out, &field);
        }
    }
    wire_close(out, line);
}

static void put_space(const struct growing *growing, struct wire in, struct buffer *out)
{
    struct wire_field field, part;
    while (wire_next(&in, &field)) {
        if (!wire_is(&field, 1, WIRE_BYTES)) {
            put_field(out, &field);
            continue;
        }
        size_t plane = wire_open(out, 1);
        for (struct wire parts = wire_in(&field); wire_next(&parts, &part);) {
            if (wire_is(&part, 3, WIRE_BYTES))
                put_line(growing, wire_in(&part), out);
            else
                put_field(out, &part);
        }
        wire_close(out, plane);
    }
}

/* The last end of an event of the message IN at DEPTH: 0 an XSpace, 1 an XPlane, 2 an XLine, 3 an XEvent. */
static int64_t last_end_ps(struct wire in, int depth)
{
    static const uint8_t child[] = { 1, 3, 4 };
    struct wire_field field;
    int64_t last = 0, sum = 0;
    while (wire_next(&in, &field)) {
        if (depth < 3 && wire_is(&field, child[depth], WIRE_BYTES)) {
            int64_t end = last_end_ps(wire_in(&field), depth + 1);
            last = end > last ? end : last;
        } else if (depth == 3 && field.type == WIRE_VARINT && (field.number == 2 || field.number == 3)) {
            sum += (int64_t)field.value;
        }
    }
    return depth == 3 ? sum : last;
}

static struct buffer grow(const struct buffer *text, size_t size, bool drops_stats)
{
    struct growing growing = { last_end_ps(wire_over(text->at, text->count), 0), 1, drops_stats };
    struct buffer once = { 0 }, out = { 0 };
    put_space(&growing, wire_over(text->at, text->count), &once);
    growing.copies = 2;
    put_space(&growing, wire_over(text->at, text->count), &out);
    size_t more = out.count > once.count ? out.count - once.count : 1;
    growing.copies = size > once.count ? 1 + (size - once.count) / more : 1;
    buffer_release(&once);
    buffer_clear(&out);
    put_space(&growing, wire_over(text->at, text->count), &out);
    return out;
}

/* ---- reading ---- */

/* Seconds until all is in memory, and until it is freed again. */
struct times {
    double made, freed;
};

/* To read the trace and to free it. False: it failed. */
static bool time_tpa(const struct buffer *text, struct times *times)
{
    struct tpa_error err = { 0 };
    struct ingest_options options = {
        .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true }, .workers = 1
    };
    double begin = now();
    struct source *source = source_open_memory(text->at, text->count, "bench", &err);
    struct trace_builder *builder = trace_builder_open(&options.wants);
    trace_builder_file(builder, "bench", format_xplane.name);
    bool fine = source && format_xplane.read(source, builder, &options, &err);
    struct trace *trace = trace_builder_finish(builder);
    times->made = now() - begin;
    trace_free(trace);
    source_free(source);
    times->freed = now() - begin;
    return fine;
}

/* The same for all messages; 0: protobuf-c is not there. */
static bool time_protobuf_c(const struct buffer *text, struct times *times)
{
#if TPA_HAVE_PROTOBUF_C
    double begin = now();
    Bench__XSpace *space = bench__xspace__unpack(NULL, text->count, (const uint8_t *)text->at);
    times->made = now() - begin;
    if (space)
        bench__xspace__free_unpacked(space, NULL);
    times->freed = now() - begin;
    return space != NULL;
#else
    (void)text;
    *times = (struct times){ 0 };
    return true;
#endif
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static bool measure(const char *name, const struct buffer *text, int runs)
{
    enum { TPA, TPA_FREED, PEER, PEER_FREED, FIGURES };
    static double spent[FIGURES][MOST_RUNS];
    bool fine = true;
    for (int run = 0; run < runs; run++) {
        struct times ours = { 0 }, peers = { 0 };
        fine &= time_tpa(text, &ours) && time_protobuf_c(text, &peers);
        spent[TPA][run] = ours.made, spent[TPA_FREED][run] = ours.freed;
        spent[PEER][run] = peers.made, spent[PEER_FREED][run] = peers.freed;
    }
    double seconds = median(spent[TPA], runs);
    printf("%-44s %7.1f %7.3f", name, (double)text->count / 1e6, seconds);
    if (TPA_HAVE_PROTOBUF_C) {
        double peer = median(spent[PEER], runs), ratio = seconds / peer;
        printf(" %10.3f %6.2f %6.2f  %s", peer, ratio,
               median(spent[TPA_FREED], runs) / median(spent[PEER_FREED], runs),
               ratio <= LIMIT_PERCENT / 100.0 ? "holds" : "misses");
    }
    putchar('\n');
    fflush(stdout);
    return fine;
}

static bool load(const char *path, struct buffer *text)
{
    char bytes[1 << 14];
    size_t got;
    FILE *in = fopen(path, "rb");
    if (!in)
        return false;
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0)
        buffer_add(text, bytes, got);
    fclose(in);
    return text->count > 0;
}

int main(int argc, char **argv)
{
    int first = 1, figures[] = { 100, 5 }; /* megabytes, runs */
    for (int i = 0; i < 2 && first < argc && atoi(argv[first]) > 0; i++)
        figures[i] = atoi(argv[first++]);
    if (first == argc || figures[1] > MOST_RUNS) {
        fputs("usage: bench_xspace [MEGABYTES [RUNS]] FILE.xplane.pb...\n", stderr);
        return 2;
    }
    bool fine = true;
    printf("%-44s %7s %7s%s\n", "file", "MB", "tpa s",
           TPA_HAVE_PROTOBUF_C ? " protobuf-c  ratio  freed" : "");
    for (int i = first; i < argc; i++) {
        SCOPED struct buffer text = { 0 };
        const char *slash = strrchr(argv[i], '/');
        if (!load(argv[i], &text)) {
            fprintf(stderr, "bench_xspace: cannot read %s\n", argv[i]);
            return 2;
        }
        for (int drops_stats = 0; drops_stats < 2; drops_stats++) {
            char name[64];
            SCOPED struct buffer grown = grow(&text, (size_t)figures[0] * 1000000, drops_stats);
            snprintf(name, sizeof name, "%.28s%s", slash ? slash + 1 : argv[i],
                     drops_stats ? ", no stats" : "");
            fine &= measure(name, &grown, figures[1]);
        }
    }
    return fine ? 0 : 1;
}
