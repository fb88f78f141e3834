/*
 * texts.c - the texts of a .tpa file by their numbers; see tpalog.h.
 *
 * Numbers count up, block by block, so the blocks' runs are in order; a lost block leaves a gap. Allocations never
 * depend on a number.
 */
#include "ingest/tpalog/tpalog.h"

enum { FREE_NUMBERS = 1024 };

static const char lost_text[] = "(lost)";

void tpalog_texts_init(struct tpalog_texts *texts)
{
    *texts = (struct tpalog_texts){ .lost = { lost_text, sizeof lost_text - 1, NAME_NONE, NAME_NONE, 0 } };
}

void tpalog_texts_release(struct tpalog_texts *texts)
{
    for (size_t i = 0; i < texts->runs.count; i++)
        EACH(free, texts->runs.at[i].at, texts->runs.at[i].bytes);
    VEC_FREE(&texts->runs);
    EACH(free, texts->name_ids, texts->text_ids);
}

/* Build the table of ids by number up to END, unless more than half of those are in lost blocks. */
static void extend_ids(struct tpalog_texts *texts, int64_t end, size_t there)
{
    if ((uint64_t)end > 2 * (uint64_t)there + FREE_NUMBERS)
        return;
    if (texts->id_capacity < (size_t)end) {
        texts->id_capacity = 2 * (size_t)end;
        texts->name_ids =
            mem_realloc(texts->name_ids, mem_times(texts->id_capacity, sizeof *texts->name_ids));
        texts->text_ids =
            mem_realloc(texts->text_ids, mem_times(texts->id_capacity, sizeof *texts->text_ids));
    }
    for (; texts->id_count < (size_t)end; texts->id_count++)
        texts->name_ids[texts->id_count] = texts->text_ids[texts->id_count] = NAME_NONE;
}

bool tpalog_texts_add(struct tpalog_texts *texts, const struct tpalog_part *part)
{
    int64_t least = 1;
    if (texts->runs.count) {
        const struct tpalog_texts_run *last = &texts->runs.at[texts->runs.count - 1];
        least = last->first + (int64_t)last->count;
    }
    if (part->first_text < least || part->first_text > INT64_MAX - TPAFILE_MOST_ROWS)
        return false;
    size_t bytes = SUM(size_t, i, part->text_count, (size_t)part->lengths[i] + 1);
    struct tpalog_texts_run run = {
        .first = part->first_text,
        .count = part->text_count,
        .at = mem_alloc(mem_times(part->text_count, sizeof *run.at)),
        .bytes = mem_alloc(bytes),
    };
    char *to = run.bytes;
    const char *from = part->bytes;
    for (size_t i = 0; i < run.count; i++) {
        size_t len = (size_t)part->lengths[i];
        run.at[i] = (struct tpalog_text){ to, len, NAME_NONE, NAME_NONE, 0 };
        memcpy(to, from, len);
        to[len] = '\0';
        to += len + 1;
        from += len;
    }
    *VEC_PUSH(&texts->runs) = run;
    texts->there += run.count;
    extend_ids(texts, run.first + (int64_t)run.count, texts->there);
    return true;
}

static bool is_in(const struct tpalog_texts_run *run, int64_t number)
{
    return number >= run->first && (uint64_t)(number - run->first) < run->count;
}

struct tpalog_text *tpalog_text(struct tpalog_texts *texts, int64_t number)
{
    if (number <= 0)
        return NULL;
    if (texts->last < texts->runs.count && is_in(&texts->runs.at[texts->last], number))
        return &texts->runs.at[texts->last].at[number - texts->runs.at[texts->last].first];
    size_t low = 0, high = texts->runs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tpalog_texts_run *run = &texts->runs.at[middle];
        if (is_in(run, number)) {
            texts->last = middle;
            return &run->at[number - run->first];
        }
        if (number < run->first)
            high = middle;
        else
            low = middle + 1;
    }
    texts->lost_count++;
    return &texts->lost;
}

const char *tpalog_keep_text(struct tpalog_texts *texts, struct trace_builder *builder, int64_t number)
{
    struct tpalog_text *text = tpalog_text(texts, number);
    if (!text || text == &texts->lost)
        return NULL;
    if (!text->kept)
        text->kept = trace_builder_strndup(builder, text->at, text->len);
    return text->kept;
}

name_id tpalog_text_id(struct tpalog_texts *texts, struct trace_builder *builder, int64_t number)
{
    struct tpalog_text *text = tpalog_text(texts, number);
    if (!text)
        return NAME_NONE;
    if (text->text == NAME_NONE)
        text->text = trace_builder_text(builder, text->at, text->len);
    if ((uint64_t)number < texts->id_count && text != &texts->lost)
        texts->text_ids[number] = text->text;
    return text->text;
}

name_id tpalog_name_id(struct tpalog_texts *texts, struct trace_builder *builder, int64_t number)
{
    struct tpalog_text *text = tpalog_text(texts, number);
    if (!text)
        return trace_builder_name(builder, "", 0);
    if (text->name == NAME_NONE)
        text->name = trace_builder_name(builder, text->at, text->len);
    if ((uint64_t)number < texts->id_count && text != &texts->lost)
        texts->name_ids[number] = text->name;
    return text->name;
}
