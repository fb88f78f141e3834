/* kept.c - see kept.h. */
#include "cli/kept.h"

#include "base/names.h"
#include "cli/command_line.h"
#include <inttypes.h>

/* Options that say how a result is printed, or how fast it is made, but not what is in it. */
static const char of_printing[] =
    "budget columns format jobs limit max-ratio no-pager notes output progress table wide";

struct kept {
    struct buffer key;
    struct result *result;
    int64_t bytes;
    uint64_t number, used;
};

static struct {
    int64_t most, bytes; /* 0: nothing is kept */
    bool evicts;
    int (*branch)(void);
    void (*passing)(uint64_t used);
    VEC_OF(struct kept) results;
    uint64_t count; /* of uses, and of numbers given */
    bool changed;   /* since the last branch */
} keep;

void kept_begin(int64_t most, bool evicts, int (*branch)(void), void (*passing)(uint64_t used))
{
    keep.most = most;
    keep.evicts = evicts;
    keep.branch = branch;
    keep.passing = passing;
    keep.changed = false;
}

bool kept_is_on(void)
{
    return keep.most > 0;
}

static void describe(const struct kept_query *query, struct buffer *key)
{
    SCOPED struct buffer without = { 0 };
    buffer_printf(&without, " %s %s ", of_printing, query->without ? query->without : "");
    char *limit = query->is_cut ? strstr(without.at, " limit ") : NULL;
    if (limit)
        memset(limit, ' ', sizeof " limit" - 1);
    buffer_printf(key, "%s %" PRIu64, query->call->command->name, query->variant);
    command_line_add_options(key, query->call, without.at);
    for (size_t i = 0; i < query->call->operand_count; i++) {
        buffer_putc(key, '\0');
        buffer_puts(key, query->call->operands[i]);
    }
}

static struct kept *find(const struct buffer *key)
{
    FOR_EACH(kept, &keep.results)
        if (kept->key.count == key->count && memcmp(kept->key.at, key->at, key->count) == 0)
            return kept;
    return NULL;
}

struct result *kept_find(const struct kept_query *query)
{
    struct buffer key = { 0 };
    if (!kept_is_on())
        return NULL;
    describe(query, &key);
    struct kept *kept = find(&key);
    buffer_release(&key);
    if (!kept)
        return NULL;
    keep.passing(kept->number);
    return kept->result;
}

static int64_t bytes_of(const struct result *result)
{
    size_t bytes = sizeof *result + arena_bytes(&result->arena);
    for (size_t i = 0; i < result->tables.count; i++) {
        const struct table *table = result->tables.at[i];
        bytes += table->row_capacity * table->column_count * sizeof *table->cells +
                 arena_bytes(&table->arena) + (table->long_texts ? names_bytes(table->long_texts) : 0);
    }
    return (int64_t)bytes;
}

static void drop(size_t i)
{
    struct kept *kept = &keep.results.at[i];
    keep.bytes -= kept->bytes;
    buffer_release(&kept->key);
    result_free(kept->result);
    *kept = keep.results.at[--keep.results.count];
}

static void make_room(int64_t bytes)
{
    while (keep.results.count && keep.bytes + bytes > keep.most) {
        size_t oldest = 0;
        for (size_t i = 1; i < keep.results.count; i++)
            if (keep.results.at[i].used < keep.results.at[oldest].used)
                oldest = i;
        drop(oldest);
    }
}

bool kept_put(const struct kept_query *query, struct result *result)
{
    int64_t bytes = bytes_of(result);
    struct buffer key = { 0 };
    if (bytes > (keep.evicts ? keep.most : keep.most - keep.bytes))
        return false;
    describe(query, &key);
    make_room(bytes);
    keep.count++;
    *VEC_PUSH(&keep.results) = (struct kept){ key, result, bytes, keep.count, keep.count };
    keep.bytes += bytes;
    keep.changed = true;
    return true;
}

bool kept_branch(void)
{
    if (!keep.changed)
        return true;
    keep.changed = false;
    int here = keep.branch();
    if (here < 0) /* the kept results are about to be changed */
        keep.most = 0;
    return here != 0;
}

bool kept_output(const struct kept_query *query, struct result *result, const struct output_args *output,
                 struct tpa_error *err)
{
    bool kept = kept_put(query, result);
    bool good = !kept_branch() || output_result(result, output, err);
    if (!kept)
        result_free(result);
    return good;
}

void kept_use(uint64_t number)
{
    for (size_t i = 0; i < keep.results.count; i++)
        if (keep.results.at[i].number == number)
            keep.results.at[i].used = ++keep.count;
}

/* The word at *AT of the LEN bytes of WORDS, or behind it, that says more than how to print; NULL: none. */
static const char *next_word(const char *words, size_t len, size_t *at)
{
    while (*at < len) {
        const char *word = words + *at;
        size_t name_len = strcspn(word, "=");
        *at += strlen(word) + 1;
        char name[32];
        snprintf(name, sizeof name, " %.*s ", (int)(name_len > 2 ? name_len - 2 : 0),
                 word + (name_len > 2 ? 2 : 0));
        if (word[0] != '-' || word[1] != '-' || !word[name_len] || !strstr(of_printing, name))
            return word;
    }
    return NULL;
}

bool kept_serves(const struct buffer *ahead, const char *asked, size_t len)
{
    size_t i = 0, j = 0;
    for (;;) {
        const char *a = next_word(ahead->at, ahead->count, &i), *b = next_word(asked, len, &j);
        if (!a || !b || strcmp(a, b) != 0)
            return !a && !b;
    }
}
