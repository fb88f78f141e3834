/* Names are masked and sorted; equal masks are adjacent. Names paired with one kind of mask are not considered with the
 * next, coarser one. */
#define _GNU_SOURCE
#include "diff/renames.h"

#include <ctype.h>

const char *rename_kind_text(enum rename_kind kind)
{
    static const char *const texts[RENAME_KINDS + 1] = {
        [RENAME_VENDOR] = "the prefix of the vendor",
        [RENAME_NUMBERS] = "hashes, addresses, line and running numbers",
        [RENAME_TYPES] = "numbers and types in template arguments",
        [RENAME_TEMPLATE] = "template arguments",
        [RENAME_ALONE] = "all: the only one on either side, called as often",
    };
    return texts[kind];
}

/* ---- masks ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Digits and letters a to f at S, lower case, with at least one of each; a hash has at least 8 of them. */
static size_t hash_length(const char *s, size_t len)
{
    size_t n = 0;
    bool digit = false, letter = false;
    while (n < len && (isdigit((unsigned char)s[n]) || (s[n] >= 'a' && s[n] <= 'f'))) {
        *(isdigit((unsigned char)s[n]) ? &digit : &letter) = true;
        n++;
    }
    bool whole = n == len || !is_word(s[n]) || s[n] == '_';
    return whole && n >= 8 && digit && letter ? n : 0;
}

/* "0x7f3a..." at S. */
static size_t address_length(const char *s, size_t len)
{
    size_t n = 2;
    if (len < 3 || s[0] != '0' || s[1] != 'x')
        return 0;
    while (n < len && isxdigit((unsigned char)s[n]))
        n++;
    return n > 2 ? n : 0;
}

static size_t digits_length(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && isdigit((unsigned char)s[n]))
        n++;
    return n;
}

/* Is this a number without meaning for the kernel's function? After ':' or '#' (lines, lambdas), or after '_' at the
 * end of a word that is not a library's tile or architecture: fused_add_3, but not sgemm_128x64 or sm80. */
static size_t running_number_length(const char *name, size_t len, size_t at)
{
    size_t n = digits_length(name + at, len - at);
    if (n == 0 || at == 0)
        return 0;
    char before = name[at - 1], behind = at + n < len ? name[at + n] : '\0';
    if (before == ':' || before == '#')
        return n;
    if (before == ' ' && !is_word(behind)) /* of a thread or a device */
        return (at == 7 && memcmp(name, "thread ", 7) == 0) || (at == 4 && memcmp(name, "GPU ", 4) == 0) ? n
                                                                                                         : 0;
    return before == '_' && !is_word(behind) ? n : 0;
}

/* The end of the parameters that begin at the '(' at AT, after the ')'. They are implied by the template arguments. */
static size_t parameters_end(const char *name, size_t len, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i < len; i++) {
        if (name[i] == '(')
            depth++;
        else if (name[i] == ')' && --depth == 0)
            return i + 1;
    }
    return at;
}

/* The end of the template arguments that begin at the '<' at AT, after the '>'. AT if it is another kind of '<'. */
static size_t template_end(const char *name, size_t len, size_t at)
{
    if (at == 0 || !is_word(name[at - 1]) || (at >= 8 && memcmp(name + at - 8, "operator", 8) == 0))
        return at;
    size_t depth = 0;
    for (size_t i = at; i < len; i++) {
        if (name[i] == '<')
            depth++;
        else if (name[i] == '>' && name[i - 1] != '-' && --depth == 0)
            return i + 1;
    }
    return at; /* never closed */
}

static bool is_scalar_type(const char *word, size_t len)
{
    static const char *const types[] = {
        "float",   "double",   "half",          "Half",          "BFloat16", "bfloat16",   "__half",
        "__half2", "int",      "unsigned",      "signed",        "long",     "short",      "char",
        "bool",    "int8_t",   "uint8_t",       "int16_t",       "int32_t",  "int64_t",    "uint16_t",
        "size_t",  "uint32_t", "uint64_t",      "__nv_bfloat16", "half_t",   "bfloat16_t", "tfloat32_t",
        "true",    "false",    "Float8_e4m3fn", "Float8_e5m2"
    };
    return ANY(i, sizeof types / sizeof *types, strlen(types[i]) == len && memcmp(types[i], word, len) == 0);
}

/* One word of template arguments. If it is a type, its namespace is removed from OUT. */
static void mask_word(struct buffer *out, const char *word, size_t len, size_t start)
{
    bool number = isdigit((unsigned char)word[0]);
    if (!number && !is_scalar_type(word, len)) {
        buffer_add(out, word, len);
        return;
    }
    while (out->count >= start + 2 && memcmp(out->at + out->count - 2, "::", 2) == 0) {
        size_t at = out->count - 2;
        while (at > start && is_word(out->at[at - 1]))
            at--;
        out->count = at;
    }
    bool repeated =
        out->count > start &&
        (out->at[out->count - 1] == '#' ||
         (out->count > start + 1 && out->at[out->count - 1] == ' ' && out->at[out->count - 2] == '#'));
    if (repeated && out->at[out->count - 1] == ' ')
        out->count--; /* "unsigned int" is one type */
    if (!repeated)
        buffer_putc(out, '#');
}

/* Template arguments with numbers and scalar types masked. */
static void mask_types(struct buffer *out, const char *at, size_t len)
{
    size_t start = out->count;
    for (size_t i = 0; i < len;) {
        size_t n = 0;
        while (i + n < len && is_word(at[i + n]))
            n++;
        if (n)
            mask_word(out, at + i, n, start);
        else
            buffer_putc(out, at[i]);
        i += n ? n : 1;
    }
}

/* The length of the vendor's prefix of a call, before a capital: "cuda", "hipModule"; 0: none. */
static size_t vendor_prefix(const char *name, size_t len)
{
    static const char *const prefixes[] = { "hipExtModule", "hipModule", "hipExt", "hip", "cuda", "cu" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (len > length && memcmp(name, prefixes[i], length) == 0 && isupper((unsigned char)name[length]))
            return length;
    }
    return 0;
}

void rename_mask(struct buffer *out, const char *name, size_t len, enum rename_kind kind)
{
    if (kind == RENAME_VENDOR) {
        size_t prefix = vendor_prefix(name, len);
        buffer_puts(out, prefix ? "#" : "");
        buffer_add(out, name + prefix, len - prefix);
        return;
    }
    for (size_t i = 0; i < len;) {
        size_t end = i;
        if (kind != RENAME_NUMBERS && name[i] == '<')
            end = template_end(name, len, i);
        else if (kind != RENAME_NUMBERS && name[i] == '(' && i > 0)
            end = parameters_end(name, len, i);
        if (end > i) {
            if (kind == RENAME_TYPES)
                mask_types(out, name + i, end - i);
            else
                buffer_puts(out, name[i] == '<' ? "<#>" : "(#)");
            i = end;
            continue;
        }
        bool begins = i == 0 || !isalnum((unsigned char)name[i - 1]);
        size_t n = begins ? address_length(name + i, len - i) : 0;
        n = n || !begins ? n : hash_length(name + i, len - i);
        n = n ? n : running_number_length(name, len, i);
        if (n)
            buffer_putc(out, '#');
        else
            buffer_putc(out, name[i]);
        i += n ? n : 1;
    }
}

/* ---- pairs ---- */

struct masked {
    char *mask;
    const struct rename_name *name;
    size_t index;
    bool is_come;
};

static int compare_masked(const void *left, const void *right)
{
    const struct masked *a = left, *b = right;
    int order = strcmp(a->mask, b->mask);
    if (order)
        return order;
    if (a->is_come != b->is_come)
        return a->is_come ? 1 : -1;
    order = strverscmp(a->name->text, b->name->text); /* ..._3 before ..._12 */
    return order ? order : strcmp(a->name->text, b->name->text);
}

/* Mask names that are not paired yet. */
static size_t mask_all(const struct rename_name *names, size_t count, const bool *paired, bool is_come,
                       enum rename_kind kind, struct masked *out)
{
    size_t made = 0;
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (paired[i])
            continue;
        buffer_clear(&text);
        rename_mask(&text, names[i].text, names[i].len, kind);
        out[made++] =
            (struct masked){ mem_strndup(text.at ? text.at : "", text.count), &names[i], i, is_come };
    }
    return made;
}

size_t renames_pair(const struct rename_name *gone, size_t gone_count, const struct rename_name *come,
                    size_t come_count, struct rename *pairs)
{
    size_t found = 0;
    SCOPED bool *gone_paired = mem_zalloc(gone_count + 1, sizeof *gone_paired);
    SCOPED bool *come_paired = mem_zalloc(come_count + 1, sizeof *come_paired);
    SCOPED struct masked *all = mem_alloc(mem_times(gone_count + come_count + 1, sizeof *all));
    for (int kind = 0; kind < RENAME_KINDS; kind++) {
        size_t count = mask_all(gone, gone_count, gone_paired, false, (enum rename_kind)kind, all);
        count += mask_all(come, come_count, come_paired, true, (enum rename_kind)kind, all + count);
        if (count)
            qsort(all, count, sizeof *all, compare_masked);
        for (size_t first = 0, end; first < count; first = end) {
            size_t middle = first; /* first of the new names */
            while (middle < count && !all[middle].is_come && strcmp(all[middle].mask, all[first].mask) == 0)
                middle++;
            for (end = middle; end < count && strcmp(all[end].mask, all[first].mask) == 0;)
                end++;
            size_t left = middle - first, right = end - middle;
            bool sure = kind != RENAME_TEMPLATE || (left == 1 && right == 1);
            for (size_t i = 0; sure && i < left && i < right; i++) {
                pairs[found++] =
                    (struct rename){ all[first + i].index, all[middle + i].index, (enum rename_kind)kind };
                gone_paired[all[first + i].index] = come_paired[all[middle + i].index] = true;
            }
        }
        for (size_t i = 0; i < count; i++)
            free(all[i].mask);
    }
    return found;
}
