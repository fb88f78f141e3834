/*
 * words.c - a chain of operations as readable text.
 *
 * Names of kernels are declarations in C++: "void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)". What tells
 * them apart in few words is the name of the function; where that is only "Kernel", its first template argument.
 */
#include "analyze/sequences/parts.h"

#include "base/demangle.h"
#include "base/rows.h"

enum {
    LONGEST_WORD = 60,     /* bytes of one name in few words */
    MOST_BYTES = 64 << 20, /* of texts with whole names */
};

/* Of LEN bytes at TEXT: up to the first '<' or '(' that opens arguments; "(anonymous namespace)" does not. */
static size_t without_arguments(const char *text, size_t len)
{
    static const char anonymous[] = "(anonymous namespace)";
    for (size_t i = 0; i < len; i++) {
        if (len - i >= sizeof anonymous - 1 && memcmp(text + i, anonymous, sizeof anonymous - 1) == 0)
            i += sizeof anonymous - 2;
        else if (i > 0 && (text[i] == '<' || text[i] == '('))
            return i;
    }
    return len;
}

/* Where the last part of a name begins: behind "void " and namespaces. */
static size_t last_part(const char *text, size_t len)
{
    for (size_t i = len; i > 0; i--)
        if (text[i - 1] == ' ' || text[i - 1] == ':')
            return i;
    return 0;
}

static bool says_nothing(const char *word, size_t len)
{
    static const char *const words[] = { "Kernel", "Kernel2", "device_kernel", "kentry", "kernel" };
    return ANY(i, sizeof words / sizeof *words, strlen(words[i]) == len && memcmp(words[i], word, len) == 0);
}

static void add_word(struct buffer *out, const char *name, size_t len)
{
    if (len > 6 && memcmp(name, "Memcpy", 6) == 0) { /* "Memcpy DtoD (Device -> Device)" */
        const char *open = memchr(name, '(', len);
        size_t end = open ? (size_t)(open - name) : len;
        while (end > 0 && name[end - 1] == ' ')
            end--;
        buffer_add(out, name, end);
        return;
    }
    size_t end = without_arguments(name, len), begin = last_part(name, end);
    if (end < len && name[end] == '<' && says_nothing(name + begin, end - begin)) {
        begin = end + 1;
        for (end = begin; end < len && !strchr("<>(,", name[end]);)
            end++;
        begin += last_part(name + begin, end - begin);
    }
    if (begin >= end) {
        begin = 0;
        end = len;
    }
    buffer_add(out, name + begin, end - begin < LONGEST_WORD ? end - begin : LONGEST_WORD);
}

/* ---- each name once ---- */

struct work_words *work_words_open(const struct trace *trace, struct arena *texts)
{
    size_t count = names_count(trace->names);
    struct work_words *words = arena_open(sizeof *words);
    words->trace = trace;
    words->texts = texts;
    words->full = arena_zalloc(arena_of(words), count + 1, sizeof *words->full);
    words->word = arena_zalloc(arena_of(words), count + 1, sizeof *words->word);
    return words;
}

static struct text keep(struct work_words *words, struct buffer *text)
{
    struct text kept = { arena_strndup(words->texts, text->at ? text->at : "", text->count), text->count };
    words->bytes += text->count;
    buffer_release(text);
    return kept;
}

static struct text full_name(struct work_words *words, name_id name)
{
    const struct names *names = words->trace->names;
    struct buffer text = { 0 };
    if (!words->full[name].at)
        words->full[name] = demangle_name(&text, names_text(names, name))
                                ? keep(words, &text)
                                : (struct text){ names_text(names, name), names_length(names, name) };
    return words->full[name];
}

static struct text word_of(struct work_words *words, name_id name)
{
    if (!words->word[name].at) {
        struct text full = full_name(words, name);
        struct buffer text = { 0 };
        add_word(&text, full.at, full.len);
        words->word[name] = keep(words, &text);
    }
    return words->word[name];
}

/* ---- a chain ---- */

struct text operations_in_few_words(struct work_words *words, const name_id *names, size_t count)
{
    struct buffer text = { 0 };
    FOR_RUNS(first, end, count, names[end] == names[first]) {
        if (first >= SEQUENCE_MOST) {
            buffer_printf(&text, " and %zu more", count - first);
            break;
        }
        struct text word = word_of(words, names[first]);
        buffer_puts(&text, first ? ", " : "");
        buffer_add(&text, word.at, word.len);
        if (end - first > 1)
            buffer_printf(&text, " x%zu", end - first);
    }
    return keep(words, &text);
}

struct text operations_in_full(struct work_words *words, const name_id *names, size_t count)
{
    struct buffer text = { 0 };
    if (words->bytes > MOST_BYTES) {
        words->left_out++;
        return (struct text){ 0 };
    }
    for (size_t i = 0; i < count; i++) {
        if (i >= SEQUENCE_MOST) {
            buffer_printf(&text, " and %zu more", count - i);
            break;
        }
        struct text name = full_name(words, names[i]);
        buffer_puts(&text, i ? " | " : "");
        buffer_add(&text, name.at, name.len);
    }
    return keep(words, &text);
}
