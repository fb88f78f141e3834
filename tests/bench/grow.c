/*
 * grow.c - make a trace of any size from a real one.
 *
 *     bench_grow SIZE TRACE > big.json        SIZE in bytes, or as 300M, 1G
 *
 * The events are written again and again, byte for byte as they are but for their times, which move
 * on by the length of the trace, and the numbers that link events, which move on past all used
 * before: so the copies follow each other as if the run had gone on, and no event of one copy is
 * linked to one of another. What surrounds the events is written once.
 *
 * One walk over the text notes where those numbers are. A copy is then what lies between them,
 * as it is, and the numbers, printed anew.
 */
#include "base/memory.h"
#include "base/source.h"

#include <inttypes.h>

/* Numbers that tell events apart or link them. Each kind has a stride of its own. */
static const char *const link_keys[] = {
    "correlation",
    "External id",
    "external id",
    "Ev Idx",
    "Profiler Event Index",
    "Record function id",
    "Python id",
    "Python parent id",
    "Sequence number",
    "wait_on_cuda_event_record_corr_id",
    "id",
    "bind_id",
};
enum { LINKS = sizeof link_keys / sizeof *link_keys, LINK_ID = 10, TIME = LINKS };

/* Keys that are one kind, because their values refer to each other: index into link_keys. */
static const int link_kind[LINKS] = { 0, 1, 1, 3, 3, 5, 6, 6, 8, 0, 10, 10 };

/* Of these kinds 0 is a number like any other; elsewhere it says "none". */
static bool counts_from_zero(int kind)
{
    return kind == 3 || kind == 6 || kind == 8 || kind == TIME;
}

/* A number in the events' text: an integer, or the integer part of a time. */
struct patch {
    size_t at;
    uint32_t len;
    uint32_t kind; /* as in link_kind, or TIME */
    int64_t value;
};

static const char *text, *at, *end;
static VEC_OF(struct patch) patches;
static int64_t most[LINKS], first_us = INT64_MAX, last_us = INT64_MIN;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_grow: byte %zu: %s\n", (size_t)(at - text), what);
    exit(2);
}

static void skip_blanks(void)
{
    while (at < end && strchr(" \t\r\n", *at))
        at++;
}

/* Go past C, over blanks. False, and nothing consumed but blanks, when something else comes. */
static bool accept(char c)
{
    skip_blanks();
    if (at == end || *at != c)
        return false;
    at++;
    return true;
}

/* Go past a string; *LEN is its length without the quotes. */
static const char *string(size_t *len)
{
    if (!accept('"'))
        fail("expected a string");
    const char *start = at;
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    if (at >= end)
        fail("the text ends within a string");
    *len = (size_t)(at++ - start);
    return start;
}

/* Go past any value but an object with keys of interest. */
static void skip_value(void)
{
    size_t len;
    int depth = 0;
    skip_blanks();
    do {
        if (at >= end)
            fail("the text ends within a value");
        if (*at == '"') {
            string(&len);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (depth) {
            at++;
        } else {
            while (at < end && !strchr(",]} \t\r\n", *at))
                at++;
        }
    } while (depth);
}

/* Note the number ahead, when it is one that can be moved. */
static void note(int kind)
{
    skip_blanks();
    size_t len = 0;
    bool negative = at < end && *at == '-';
    int64_t value = 0;
    const char *digits = at + negative;
    while (digits + len < end && len < 18 && digits[len] >= '0' && digits[len] <= '9')
        value = value * 10 + (digits[len++] - '0');
    /* What is longer than 18 digits is no counter. -1 says "none". */
    bool is_whole = digits + len == end || strchr(",]} \t\r\n", digits[len]);
    int of = kind == TIME ? TIME : link_kind[kind];
    bool counts =
        len && len < 18 && !negative && (kind == TIME || is_whole) && (value > 0 || counts_from_zero(of));
    if (counts) {
        *VEC_PUSH(&patches) = (struct patch){ (size_t)(at - text), (uint32_t)len, (uint32_t)of, value };
        if (kind != TIME && value > most[of])
            most[of] = value;
    }
}

static int find_link(const char *key, size_t len)
{
    for (int i = 0; i < LINKS; i++)
        if (strlen(link_keys[i]) == len && memcmp(link_keys[i], key, len) == 0)
            return i;
    return -1;
}

/* Go past one event, or (IN_ARGS) past its "args". */
static void event(bool in_args)
{
    if (!accept('{'))
        fail("expected an event");
    int64_t start_us = -1, dur_us = 0;
    bool complete = false;
    while (!accept('}')) {
        size_t len;
        const char *key = string(&len);
        if (!accept(':'))
            fail("expected ':'");
        skip_blanks();
        int link = find_link(key, len);
        if (!in_args && len == 4 && memcmp(key, "args", 4) == 0 && *at == '{') {
            event(true);
        } else {
            if (!in_args && len == 2 && memcmp(key, "ts", 2) == 0) {
                start_us = strtoll(at, NULL, 10);
                note(TIME);
            } else if (!in_args && len == 3 && memcmp(key, "dur", 3) == 0) {
                dur_us = strtoll(at, NULL, 10);
            } else if (!in_args && len == 2 && memcmp(key, "ph", 2) == 0) {
                complete = at + 1 < end && at[1] == 'X';
            } else if (link >= 0 && in_args == (link < LINK_ID)) {
                note(link);
            }
            skip_value();
        }
        (void)accept(',');
    }
    if (complete && start_us >= 0) {
        if (start_us < first_us)
            first_us = start_us;
        if (start_us + dur_us > last_us)
            last_us = start_us + dur_us;
    }
}

/* Go to the events: past the '[' they stand in. */
static void find_events(void)
{
    if (accept('['))
        return;
    if (!accept('{'))
        fail("expected a trace in Chrome's JSON format");
    while (!accept('}')) {
        size_t len;
        const char *key = string(&len);
        if (!accept(':'))
            fail("expected ':'");
        if (len == 11 && memcmp(key, "traceEvents", 11) == 0 && accept('['))
            return;
        skip_value();
        (void)accept(',');
    }
    fail("there is no \"traceEvents\"");
}

static void write_all(const char *bytes, size_t len)
{
    if (fwrite(bytes, 1, len, stdout) != len) {
        perror("bench_grow: writing");
        exit(2);
    }
}

static void write_number(int64_t value)
{
    char digits[24];
    size_t i = sizeof digits;
    do
        digits[--i] = (char)('0' + value % 10);
    while (value /= 10);
    write_all(digits + i, sizeof digits - i);
}

/* The events from FROM to TO for the COPYth time, counted from 0. */
static void write_copy(size_t from, size_t to, int64_t copy)
{
    size_t written = from;
    for (size_t i = 0; i < patches.count; i++) {
        const struct patch *patch = &patches.at[i];
        int64_t stride = patch->kind == TIME ? last_us - first_us + 1 : most[patch->kind] + 1;
        write_all(text + written, patch->at - written);
        write_number(patch->value + stride * copy);
        written = patch->at + patch->len;
    }
    write_all(text + written, to - written);
}

static char *read_whole(const char *path, size_t *size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open(path, NULL, &err);
    VEC_OF(char) bytes = { 0 };
    int64_t got = 1;
    while (source && got > 0) {
        VEC_RESERVE(&bytes, (size_t)1 << 20);
        got = source_read(source, bytes.at + bytes.count, 1 << 20, &err);
        bytes.count += got > 0 ? (size_t)got : 0;
    }
    source_free(source);
    if (err.failed) {
        tpa_error_print(&err, "bench_grow", stderr);
        exit(2);
    }
    *size = bytes.count;
    return bytes.at;
}

int main(int argc, char **argv)
{
    char *unit = NULL;
    uint64_t wanted = argc == 3 ? strtoull(argv[1], &unit, 10) : 0;
    wanted <<= unit && *unit == 'G' ? 30 : unit && *unit == 'M' ? 20 : unit && *unit == 'K' ? 10 : 0;
    if (wanted == 0) {
        fputs("usage: bench_grow SIZE TRACE > big.json\n", stderr);
        return 2;
    }
    size_t size;
    SCOPED char *whole = read_whole(argv[2], &size);
    text = at = whole;
    end = text + size;

    find_events();
    skip_blanks();
    size_t from = (size_t)(at - text), to = from;
    const char *gap = NULL; /* what stands between two events: ",\n  " */
    size_t gap_len = 0;
    while (at < end && *at == '{') {
        event(false);
        to = (size_t)(at - text);
        if (!accept(','))
            break;
        skip_blanks();
        if (!gap) {
            gap = text + to;
            gap_len = (size_t)(at - gap);
        }
    }
    if (!gap)
        fail("expected at least two events");

    static char buffer[1 << 20];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    write_all(text, from);
    uint64_t written = from;
    int64_t copy = 0;
    do {
        if (copy)
            write_all(gap, gap_len);
        write_copy(from, to, copy++);
        written += to - from + gap_len;
    } while (written + (to - from) / 2 < wanted);
    write_all(text + to, size - to);
    if (fflush(stdout) != 0) {
        perror("bench_grow: writing");
        return 2;
    }
    fprintf(stderr, "bench_grow: %" PRId64 " copies\n", copy);
    VEC_FREE(&patches);
    return 0;
}
