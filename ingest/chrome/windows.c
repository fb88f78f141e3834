/*
 * windows.c - one source, many threads, one answer.
 *
 * Threads take turns: one that finds no window to join reads the next stretch of the source, cuts it
 * where an event seems to begin, keeps the rest for the next window, and parses its own. A thread
 * that finds the next window in file order parsed hands it to the builder. At most one thread reads and one joins
 * at a time; all others parse. So gzip, which can only be inflated from front to back, is inflated by
 * one thread while the others parse, and no thread is idle when the work is uneven.
 *
 * A window is parsed before its forerunners, so the state it begins in is a guess: among events. When
 * it is joined the true state is known. If the guess was wrong, or the window before did not end with a
 * whole event (a name held the bytes of a boundary; an event is longer than a window), what was parsed
 * is thrown away and the bytes are parsed again behind what was left over. The trace is therefore the
 * same for any number of threads and any size of window.
 *
 * Memory: a ring of windows that are used again and again, a few hundred KiB each, so that the text
 * stays in the processor's cache and its pages are touched once.
 */
#define _GNU_SOURCE /* memmem */
#include "ingest/chrome/chrome.h"
#include "ingest/unread.h"

#include "base/parallel.h"
#include "ingest/json_text.h"
#include <inttypes.h>
#include <pthread.h>

enum {
    DEFAULT_WINDOW = 256 << 10,
    MOST_WORKERS = 64,
    LONGEST_EVENT = 256 << 20, /* an event that does not end in so many bytes is given up */
};

enum stage { FREE, PARSING, PARSED };

struct window {
    enum stage stage;
    char *bytes;
    size_t len, capacity; /* capacity without the padding */
    int64_t offset;
    bool final;
    struct chrome_reader reader;
    struct chrome_state begin, end;
    size_t consumed;
};

struct pipeline {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct source *source;
    struct trace_builder *builder;
    const struct ingest_options *options;
    struct chrome_arg_table arg_table;
    size_t window_size;

    struct window *ring; /* window number n is ring[n % ring_size] */
    size_t ring_size;
    uint64_t next_read, next_join;
    bool reading, joining;
    bool source_ended; /* the last window was read */
    bool failed;
    bool found_any; /* events, or what is counted instead */
    struct tpa_error *err;

    /* The reading thread's: what the last cut left over, and where it stands in the file. */
    struct buffer rest;
    int64_t read_offset; /* of the first byte of REST */
    int64_t run[2];      /* of zeros, of 0xff: how many bytes were read last of each without another */
    int64_t hole_offset, hole_end; /* of the first run that is in no text; hole_end is 0 if there is none */
    struct chrome_state guess;

    /* The joining thread's: the true state, and bytes of something that is not whole yet. */
    struct chrome_state state;
    struct buffer carry;
    int64_t carry_offset;
    size_t carry_tried; /* size of CARRY when it was last parsed in vain */
    struct chrome_reader slow_reader;
};

static void set_padding(char *bytes, size_t len)
{
    memset(bytes + len, 0, JSON_PADDING);
}

/* ---- reading ---- */

/* What windows most likely begin with, known from the first bytes of the file. */
static struct chrome_state guess_state(const char *text, size_t len)
{
    struct chrome_state state = { .where = CHROME_ARRAY, .has_events = true, .documents = 1 };
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3, len -= 3;
    const char *end = text + len;
    while (text < end && json_is_blank(*text))
        text++;
    if (text < end && *text == '{') {
        const char *ignored;
        /* Is there an array before the second event? Else it stands on a line of its own. */
        const char *second = chrome_next_event(text + 1, end, &ignored);
        state.in_object = memchr(text, '[', (size_t)((second ? second : end) - text)) != NULL &&
                          memmem(text, (size_t)(end - text), "\"traceEvents\"", 13) != NULL;
        state.lines = !state.in_object;
    }
    return state;
}

/* Find the first run of zeros or of 0xff in LEN BYTES, at OFFSET, that is as long as no text has it: a disk lost or overwrote
 * a part there. Within a string it would otherwise pass as a name; a few such bytes in a string are odd but do. */
static void find_hole(struct pipeline *pipeline, const char *bytes, size_t len, int64_t offset)
{
    enum { TOO_MANY = 16 };
    for (int i = 0; i < 2; i++) {
        char value = i ? '\xff' : 0;
        int64_t *run = &pipeline->run[i];
        for (const char *at = bytes, *end = bytes + len; at < end;) {
            for (; at < end && *at == value; at++)
                ++*run;
            int64_t run_end = offset + (at - bytes), begin = run_end - *run;
            if (*run >= TOO_MANY && (pipeline->hole_end == 0 || begin <= pipeline->hole_offset)) {
                pipeline->hole_offset = begin;
                pipeline->hole_end = run_end;
            }
            if (at == end)
                break;
            *run = 0;
            const char *next = memchr(at, value, (size_t)(end - at));
            at = next ? next : end;
        }
    }
}

/* Fill WINDOW with what was left over and the next bytes of the source. Only the reading thread is here. */
static bool read_window(struct pipeline *pipeline, struct window *window, struct tpa_error *err)
{
    size_t wanted = pipeline->rest.count + pipeline->window_size;
    if (wanted + JSON_PADDING > window->capacity) {
        window->capacity = wanted + JSON_PADDING;
        free(window->bytes);
        window->bytes = mem_alloc(window->capacity);
    }
    if (pipeline->rest.count)
        memcpy(window->bytes, pipeline->rest.at, pipeline->rest.count);
    window->len = pipeline->rest.count;
    window->offset = pipeline->read_offset;
    int64_t got = source_read(pipeline->source, window->bytes + window->len, pipeline->window_size, err);
    if (got < 0)
        return false;
    find_hole(pipeline, window->bytes + window->len, (size_t)got, window->offset + (int64_t)window->len);
    window->len += (size_t)got;
    window->final = (size_t)got < pipeline->window_size;
    buffer_clear(&pipeline->rest);
    if (!window->final) {
        const char *cut = chrome_last_event(window->bytes, window->bytes + window->len);
        if (cut) {
            size_t keep = (size_t)(cut - window->bytes);
            buffer_add(&pipeline->rest, cut, window->len - keep);
            window->len = keep;
        }
    }
    pipeline->read_offset = window->offset + (int64_t)window->len;
    set_padding(window->bytes, window->len);
    if (window->offset == 0) {
        window->begin = (struct chrome_state){ .where = CHROME_START };
        pipeline->guess = guess_state(window->bytes, window->len);
    } else {
        window->begin = pipeline->guess;
    }
    return true;
}

static void parse_window(struct pipeline *pipeline, struct window *window)
{
    if (!window->reader.chunk)
        chrome_reader_init(&window->reader, &pipeline->arg_table, pipeline->builder, pipeline->options);
    window->end = window->begin;
    window->consumed = chrome_parse(&window->reader, &window->end, window->bytes, window->len, window->offset,
                                    window->final);
}

/* ---- joining ---- */

static bool same_state(const struct chrome_state *a, const struct chrome_state *b)
{
    if (a->where != b->where || a->where == CHROME_SKIP || a->in_garbage != b->in_garbage ||
        a->in_gap != b->in_gap)
        return false;
    return a->where != CHROME_ARRAY || (a->in_object == b->in_object && a->lines == b->lines);
}

static void drop_properties(struct chrome_reader *reader)
{
    for (size_t i = 0; i < reader->properties.count; i++)
        EACH(free, reader->properties.at[i].key, reader->properties.at[i].value);
    reader->properties.count = 0;
}

static bool hand_over(struct pipeline *pipeline, struct chrome_reader *reader, struct tpa_error *err)
{
    trace_builder_progress(pipeline->builder, source_packed_read(pipeline->source),
                           source_packed_size(pipeline->source));
    for (size_t i = 0; i < reader->properties.count; i++)
        chrome_apply_property(pipeline->builder, reader->properties.at[i].key, reader->properties.at[i].value,
                              reader->properties.at[i].value_len);
    drop_properties(reader);
    pipeline->found_any = pipeline->found_any || !trace_chunk_is_empty(reader->chunk);
    return trace_builder_append(pipeline->builder, reader->chunk, err);
}

/* Parse the carried bytes once more, now that there are more of them. */
static bool parse_carry(struct pipeline *pipeline, bool final, struct tpa_error *err)
{
    struct buffer *carry = &pipeline->carry;
    bool give_up = carry->count > LONGEST_EVENT;
    /* Only when they have doubled since the last try: an event of n windows costs 2n, not n squared. */
    if (!final && !give_up && carry->count < 2 * pipeline->carry_tried)
        return true;
    pipeline->slow_reader.gives_up = give_up && !final;
    size_t len = carry->count;
    buffer_pad(carry, '\0', JSON_PADDING);
    size_t consumed = chrome_parse(&pipeline->slow_reader, &pipeline->state, carry->at, len,
                                   pipeline->carry_offset, final || give_up);
    memmove(carry->at, carry->at + consumed, len - consumed);
    carry->count = len - consumed;
    pipeline->carry_offset += (int64_t)consumed;
    pipeline->carry_tried = carry->count;
    return hand_over(pipeline, &pipeline->slow_reader, err);
}

/* The next window in file order goes to the builder. Only the joining thread is here. */
static bool join_window(struct pipeline *pipeline, struct window *window, struct tpa_error *err)
{
    bool ok;
    if (pipeline->carry.count == 0 && same_state(&pipeline->state, &window->begin)) {
        uint32_t documents = pipeline->state.documents + window->end.documents - window->begin.documents;
        ok = hand_over(pipeline, &window->reader, err);
        pipeline->state = window->end;
        pipeline->state.documents = documents;
        pipeline->carry_offset = window->offset + (int64_t)window->consumed;
        buffer_add(&pipeline->carry, window->bytes + window->consumed, window->len - window->consumed);
        pipeline->carry_tried = pipeline->carry.count;
    } else {
        trace_chunk_clear(window->reader.chunk);
        drop_properties(&window->reader);
        if (pipeline->carry.count == 0)
            pipeline->carry_offset = window->offset;
        buffer_add(&pipeline->carry, window->bytes, window->len);
        ok = parse_carry(pipeline, window->final, err);
    }
    const struct ingest_options *options = pipeline->options;
    if (options->progress)
        options->progress(options->progress_context, source_name(pipeline->source),
                          source_packed_read(pipeline->source), source_packed_size(pipeline->source));
    return ok;
}

/* ---- taking turns ---- */

static struct window *window_of(const struct pipeline *pipeline, uint64_t number)
{
    return &pipeline->ring[number % pipeline->ring_size];
}

static void fail(struct pipeline *pipeline, const struct tpa_error *err)
{
    if (!pipeline->failed && pipeline->err)
        *pipeline->err = *err;
    pipeline->failed = true;
}

static void join_turn(struct pipeline *pipeline)
{
    struct tpa_error err = { 0 };
    struct window *window = window_of(pipeline, pipeline->next_join);
    pipeline->joining = true;
    pthread_mutex_unlock(&pipeline->lock);
    bool ok = join_window(pipeline, window, &err);
    pthread_mutex_lock(&pipeline->lock);
    if (!ok)
        fail(pipeline, &err);
    window->stage = FREE;
    pipeline->next_join++;
    pipeline->joining = false;
    pthread_cond_broadcast(&pipeline->changed);
}

static void read_turn(struct pipeline *pipeline)
{
    struct tpa_error err = { 0 };
    struct window *window = window_of(pipeline, pipeline->next_read++);
    window->stage = PARSING;
    pipeline->reading = true;
    pthread_mutex_unlock(&pipeline->lock);
    bool ok = read_window(pipeline, window, &err);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->reading = false;
    if (ok)
        pipeline->source_ended |= window->final;
    else
        fail(pipeline, &err);
    pthread_cond_broadcast(&pipeline->changed);
    if (!ok)
        return;
    pthread_mutex_unlock(&pipeline->lock);
    parse_window(pipeline, window);
    pthread_mutex_lock(&pipeline->lock);
    window->stage = PARSED;
    pthread_cond_broadcast(&pipeline->changed);
}

static void *work(void *argument)
{
    struct pipeline *pipeline = argument;
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && !(pipeline->source_ended && pipeline->next_join == pipeline->next_read)) {
        bool can_join = !pipeline->joining && pipeline->next_join < pipeline->next_read &&
                        window_of(pipeline, pipeline->next_join)->stage == PARSED;
        bool can_read = !pipeline->reading && !pipeline->source_ended &&
                        pipeline->next_read - pipeline->next_join < pipeline->ring_size;
        if (can_join)
            join_turn(pipeline);
        else if (can_read)
            read_turn(pipeline);
        else
            pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

static unsigned count_workers(const struct ingest_options *options, const struct source *source,
                              size_t window_size)
{
    long workers = parallel_workers(options->workers);
    int64_t size = source_packed_size(source);
    if (size >= 0 && source_packing(source) == SOURCE_PLAIN && size / (int64_t)window_size + 1 < workers)
        workers = (long)(size / (int64_t)window_size) + 1;
    return workers < 1 ? 1 : workers > MOST_WORKERS ? MOST_WORKERS : (unsigned)workers;
}

/* What is left when the source has ended: an unclosed document. */
static void check_end(struct pipeline *pipeline)
{
    const struct chrome_state *state = &pipeline->state;
    bool open = state->where == CHROME_TOP || state->where == CHROME_SKIP ||
                (state->where == CHROME_ARRAY && state->in_object);
    struct trace_notice *cut = trace_builder_find_notice(pipeline->builder, lack_word(LACK_CUT_SHORT));
    if (cut) {
        /* One sentence is enough, and this one tells how much was there of the event. */
        char text[160];
        int64_t there = pipeline->read_offset - cut->offset;
        int len = snprintf(text, sizeof text,
                           "the file breaks off %" PRId64 " byte%s into an event, which was left out; "
                           "was the program stopped before it had written all?",
                           there, there == 1 ? "" : "s");
        cut->text = trace_builder_strndup(pipeline->builder, text, (size_t)len);
    } else if (open) {
        trace_builder_lacks(pipeline->builder, LACK_NOT_CLOSED,
                            "the file ends before its JSON does; every whole event in it was read", 1,
                            pipeline->read_offset);
    }
    bool padding =
        !open && !cut && pipeline->hole_end == pipeline->read_offset; /* behind the end of the document */
    if (pipeline->hole_end > 0 && !padding)
        trace_builder_lacks(
            pipeline->builder, LACK_GARBAGE,
            "the file holds bytes that no text has (0 or 0xff), as where a part of it was lost", 1,
            pipeline->hole_offset);
    const char *damage = source_damage(pipeline->source);
    if (damage)
        trace_builder_lacks(pipeline->builder, LACK_DAMAGED_FILE,
                            trace_builder_strndup(pipeline->builder, damage, strlen(damage)), 1, TPA_NOWHERE);
}

/* Was there nothing of a trace in it: neither an event nor a place for events? A list of nothing is an empty trace. */
static bool is_no_trace(const struct pipeline *pipeline)
{
    const struct chrome_state *state = &pipeline->state;
    static const enum lack odd[] = { LACK_BAD_EVENT, LACK_NOT_EVENT, LACK_GARBAGE, LACK_NOT_ARRAY };
    bool list_of_nothing = state->has_events;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        list_of_nothing = list_of_nothing && !trace_builder_find_notice(pipeline->builder, lack_word(odd[i]));
    return !pipeline->found_any && !list_of_nothing;
}

bool chrome_read_windows(struct source *source, struct trace_builder *builder,
                         const struct ingest_options *options, const struct chrome_key *keys,
                         struct tpa_error *err)
{
    struct pipeline pipeline = {
        .source = source,
        .builder = builder,
        .options = options,
        .err = err,
        .window_size = options->window_size ? options->window_size : DEFAULT_WINDOW,
        .state = { .where = CHROME_START },
    };
    char head[4096]; /* for the message, when it is not a trace */
    const char *bytes;
    size_t head_len = source_peek(source, &bytes, err);
    head_len = head_len < sizeof head ? head_len : sizeof head;
    memcpy(head, bytes, head_len);
    pthread_mutex_init(&pipeline.lock, NULL);
    pthread_cond_init(&pipeline.changed, NULL);
    chrome_arg_table_init(&pipeline.arg_table, &options->wants);
    chrome_arg_table_add(&pipeline.arg_table, keys);
    chrome_reader_init(&pipeline.slow_reader, &pipeline.arg_table, builder, options);
    unsigned workers = count_workers(options, source, pipeline.window_size);
    pipeline.ring_size = workers == 1 ? 1 : workers + 2;
    pipeline.ring = mem_zalloc(pipeline.ring_size, sizeof *pipeline.ring);

    pthread_t threads[MOST_WORKERS];
    unsigned started = 0;
    while (started + 1 < workers && pthread_create(&threads[started], NULL, work, &pipeline) == 0)
        started++; /* too few threads only make it slower */
    work(&pipeline);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);

    if (!pipeline.failed && is_no_trace(&pipeline))
        pipeline.failed = !unread_fail_json(head, head_len, err);
    if (!pipeline.failed)
        check_end(&pipeline);
    struct trace_file *file = trace_builder_current_file(builder);
    file->size = pipeline.read_offset;
    for (size_t i = 0; i < pipeline.ring_size; i++) {
        free(pipeline.ring[i].bytes);
        if (pipeline.ring[i].reader.chunk)
            chrome_reader_release(&pipeline.ring[i].reader);
    }
    free(pipeline.ring);
    chrome_reader_release(&pipeline.slow_reader);
    EACH(buffer_release, &pipeline.rest, &pipeline.carry);
    pthread_cond_destroy(&pipeline.changed);
    pthread_mutex_destroy(&pipeline.lock);
    return !pipeline.failed;
}
