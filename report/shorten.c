/* C++ names are not parsed, only their brackets are matched. Where they do not match (operator<, a name that was cut
 * already) or are too many, the middle goes instead, which is right for anything. */
#include "report/shorten.h"

#include "base/demangle.h"
#include "base/escape.h"
#include "base/unicode.h"
#include "base/quantity.h"

#define ELLIPSIS "..."
enum { ELLIPSIS_WIDTH = 3, MAX_GROUPS = 256 };

/* How many bytes of the LEN at S fit into COLUMNS, marks that combine with the last character included. */
static size_t head_that_fits(const char *s, size_t len, size_t columns)
{
    size_t at = 0, used = 0;
    while (at < len) {
        uint32_t character;
        size_t size = utf8_decode(s + at, len - at, &character);
        size_t width = unicode_text_width(s + at, size);
        if (used + width > columns)
            break;
        used += width;
        at += size;
    }
    return at;
}

/* Where the last characters of S begin that fit into COLUMNS; never a combining mark. */
static size_t tail_that_fits(const char *s, size_t len, size_t columns)
{
    size_t at = len, end = len, used = 0;
    while (end > 0) {
        size_t start = end - 1;
        while (start > 0 && ((unsigned char)s[start] & 0xc0) == 0x80)
            start--;
        size_t width = unicode_text_width(s + start, end - start);
        if (used + width > columns)
            break;
        used += width;
        end = start;
        if (width)
            at = start;
    }
    return at;
}

/* ---- paths ---- */

/* Is S a path, perhaps with a line and a function: "/a/b.py(12): f"? Where its last component begins. */
static bool find_file(const char *s, size_t len, size_t *file)
{
    size_t slash = len;
    for (size_t i = 0; i < len && s[i] != ' ' && s[i] != '(' && s[i] != '<' && s[i] != ','; i++)
        if (s[i] == '/')
            slash = i;
    *file = slash + 1;
    return slash + 1 < len && (slash == 0 || s[slash - 1] != '/');
}

/* In S from FILE on, "file.py(276): f" or "file.py:276:f": where the line's number begins and ends; false: it has none. */
static bool find_line(const char *s, size_t len, size_t file, size_t *begin, size_t *end)
{
    for (size_t i = file; i + 1 < len; i++) {
        if ((s[i] != '(' && s[i] != ':') || s[i + 1] < '0' || s[i + 1] > '9')
            continue;
        *begin = i;
        for (i++; i < len && s[i] >= '0' && s[i] <= '9'; i++)
            ;
        *end = i + (i < len && s[i] == ')');
        return true;
    }
    return false;
}

/* Append the path of LEN bytes, whose last component begins at FILE, in MAX columns: directories go from the
 * left, then what follows "file.py(276)", then the front of the file's name. False, with nothing appended,
 * when that does not fit. */
static bool add_path(struct buffer *out, const char *s, size_t len, size_t file, size_t max)
{
    size_t begin, end;
    for (size_t at = 0; at < file; at++)
        if (s[at] == '/' && ELLIPSIS_WIDTH + unicode_text_width(s + at, len - at) <= max) {
            buffer_puts(out, ELLIPSIS);
            buffer_add(out, s + at, len - at);
            return true;
        }
    if (unicode_text_width(s + file, len - file) <= max) {
        buffer_add(out, s + file, len - file);
        return true;
    }
    if (!find_line(s, len, file, &begin, &end))
        return false;
    if (unicode_text_width(s + file, end - file) + ELLIPSIS_WIDTH <= max) {
        buffer_add(out, s + file, head_that_fits(s + file, len - file, max - ELLIPSIS_WIDTH));
        buffer_puts(out, ELLIPSIS);
        return true;
    }
    if (ELLIPSIS_WIDTH + unicode_text_width(s + begin, len - begin) > max)
        return false;
    begin = tail_that_fits(s, len, max - ELLIPSIS_WIDTH);
    buffer_puts(out, ELLIPSIS);
    buffer_add(out, s + begin, len - begin);
    return true;
}

size_t shorten_from(struct buffer *out, const char *s, size_t len, size_t begin, size_t end, size_t max)
{
    size_t start = out->count, room = max;
    if (unicode_text_width(s, end) + ELLIPSIS_WIDTH <= max || max <= (size_t)2 * ELLIPSIS_WIDTH)
        begin = 0;
    size_t tail = tail_that_fits(s, len, begin > 0 ? max - ELLIPSIS_WIDTH : max);
    if (begin > tail) /* more of the end has room */
        begin = tail;
    if (begin > 0) {
        buffer_puts(out, ELLIPSIS);
        room -= ELLIPSIS_WIDTH;
    }
    if (unicode_text_width(s + begin, len - begin) <= room) {
        buffer_add(out, s + begin, len - begin);
    } else if (room <= ELLIPSIS_WIDTH) {
        buffer_pad(out, '.', room);
    } else {
        buffer_add(out, s + begin, head_that_fits(s + begin, len - begin, room - ELLIPSIS_WIDTH));
        buffer_puts(out, ELLIPSIS);
    }
    return unicode_text_width(out->at + start, out->count - start);
}

size_t shorten_middle(struct buffer *out, const char *s, size_t len, size_t max)
{
    size_t width = unicode_text_width(s, len);
    if (width <= max) {
        buffer_add(out, s, len);
        return width;
    }
    size_t file, begin = out->count;
    if (find_file(s, len, &file) && add_path(out, s, len, file, max))
        return unicode_text_width(out->at + begin, out->count - begin);
    if (max <= ELLIPSIS_WIDTH) {
        buffer_pad(out, '.', max);
        return max;
    }
    /* The front tells more than the back: three fifths for it. */
    size_t room = max - ELLIPSIS_WIDTH, tail_room = room * 2 / 5;
    size_t head = head_that_fits(s, len, room - tail_room);
    size_t tail = tail_that_fits(s, len, tail_room);
    buffer_add(out, s, head);
    buffer_add(out, ELLIPSIS, ELLIPSIS_WIDTH);
    buffer_add(out, s + tail, len - tail);
    return unicode_text_width(s, head) + ELLIPSIS_WIDTH + unicode_text_width(s + tail, len - tail);
}

/* A copy of S without the return type "void", anonymous namespaces, and blanks between closing brackets. */
static void add_without_noise(struct buffer *out, const char *s, size_t len)
{
    static const char anonymous[] = "(anonymous namespace)::", other_anonymous[] = "<unnamed>::";
    size_t i = len > 5 && !memcmp(s, "void ", 5) ? 5 : 0;
    while (i < len) {
        if (len - i >= sizeof anonymous - 1 && !memcmp(s + i, anonymous, sizeof anonymous - 1))
            i += sizeof anonymous - 1;
        else if (len - i >= sizeof other_anonymous - 1 &&
                 !memcmp(s + i, other_anonymous, sizeof other_anonymous - 1))
            i += sizeof other_anonymous - 1;
        else if (s[i] == ' ' && i > 0 && i + 1 < len && s[i - 1] == '>' && s[i + 1] == '>')
            i++;
        else
            buffer_putc(out, s[i++]);
    }
}

/* What stands between two brackets that match. */
struct group {
    size_t start, end; /* without the brackets */
    size_t length;     /* what is left of it, now that inner ones are dropped */
    int parent, depth; /* -1, 0: in no other */
    bool dropped;
};

struct groups {
    struct group at[MAX_GROUPS];
    int count, deepest;
};

/* Match the angle brackets of S; false when they do not match, or are too many. */
static bool find_groups(struct groups *groups, const char *s, size_t len)
{
    int open = -1;
    groups->count = groups->deepest = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '<') {
            if (groups->count == MAX_GROUPS)
                return false;
            int depth = open < 0 ? 0 : groups->at[open].depth + 1;
            groups->at[groups->count] = (struct group){ .start = i + 1, .parent = open, .depth = depth };
            open = groups->count++;
            if (depth > groups->deepest)
                groups->deepest = depth;
        } else if (s[i] == '>' && !(i > 0 && s[i - 1] == '-')) { /* not of an arrow */
            if (open < 0)
                return false;
            struct group *group = &groups->at[open];
            group->end = i;
            group->length = i - group->start;
            open = group->parent;
        }
    }
    return open < 0;
}

/* Drop groups, innermost and rightmost first, until TOTAL is at most MAX. Returns the last one, or NULL when there was
 * none to drop. */
static struct group *drop_groups(struct groups *groups, size_t total, size_t max)
{
    struct group *last = NULL;
    for (int depth = groups->deepest; depth >= 0; depth--) {
        for (int i = groups->count - 1; i >= 0 && total > max; i--) {
            struct group *group = &groups->at[i];
            if (group->depth != depth || group->length <= ELLIPSIS_WIDTH)
                continue;
            size_t saved = group->length - ELLIPSIS_WIDTH;
            for (int outer = group->parent; outer >= 0; outer = groups->at[outer].parent)
                groups->at[outer].length -= saved;
            total -= saved;
            group->dropped = true;
            last = group;
        }
    }
    return last;
}

/* Append S without what was dropped; returns where in OUT the end of the group MARKED is, which was not. */
static size_t add_remaining(struct buffer *out, const struct groups *groups, const char *s, size_t len,
                            const struct group *marked)
{
    size_t at = 0, mark = 0;
    for (int i = 0; i <= groups->count;
         i++) { /* in the order of their starts, outer before inner; then the rest */
        const struct group *group = i < groups->count ? &groups->at[i] : NULL;
        if (group && (!group->dropped || group->start < at))
            continue;
        size_t stop = group ? group->start : len;
        if (marked && marked->end >= at && marked->end <= stop)
            mark = out->count + (marked->end - at);
        buffer_add(out, s + at, stop - at);
        if (group) {
            buffer_add(out, ELLIPSIS, ELLIPSIS_WIDTH);
            at = group->end;
        }
    }
    return mark;
}

/* The parentheses around the parameters, when NAME ends in them: *OPEN and *CLOSE are their places. */
static bool find_parameters(const char *s, size_t len, size_t *open, size_t *close)
{
    size_t depth = 0, i = len;
    while (i > 0 && s[i - 1] != ')')
        if (s[--i] == '>' || s[i] == ':') /* what follows the last ')' is part of the name: no parameters */
            return false;
    if (!i)
        return false;
    *close = i - 1;
    while (i-- > 0) {
        if (s[i] == ')')
            depth++;
        else if (s[i] == '(' && --depth == 0) {
            *open = i;
            return i > 0;
        }
    }
    return false;
}

static bool is_identifier(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* A copy of S without the namespaces (and classes) in front of names. */
static void add_without_qualifiers(struct buffer *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = 0;
        while (i + n < len && is_identifier(s[i + n]))
            n++;
        bool qualifier = n && i + n + 2 < len && s[i + n] == ':' && s[i + n + 1] == ':';
        if (qualifier) {
            i += n + 2;
            continue;
        }
        n += !n;
        buffer_add(out, s + i, n);
        i += n;
    }
}

/* TEXT's bytes from FROM up to TO give way to the ellipsis. */
static void replace(struct buffer *text, size_t from, size_t to)
{
    struct buffer shorter = { 0 };
    buffer_add(&shorter, text->at, from);
    buffer_add(&shorter, ELLIPSIS, ELLIPSIS_WIDTH);
    buffer_add(&shorter, text->at + to, text->count - to);
    buffer_release(text);
    *text = shorter;
}

/* TO, or where the outermost bracket that is still open there begins, or a number that would be halved: what is kept from
 * FROM on has none. */
static size_t before_what_is_cut(const char *s, size_t from, size_t to)
{
    size_t depth = 0, bracket = to;
    for (size_t i = from; i < to; i++) {
        if ((s[i] == '<' || s[i] == '(') && depth++ == 0)
            bracket = i;
        else if ((s[i] == '>' || s[i] == ')') && depth > 0 && --depth == 0)
            bracket = to;
    }
    while (bracket > from && quantity_is_digit(s[bracket - 1]) && quantity_is_digit(s[bracket]))
        bracket--;
    return bracket;
}

/* Drop template arguments from TEXT until it fits; of the last ones to go, as many are kept as there is room for. */
static void drop_arguments(struct buffer *text, struct groups *groups, size_t max)
{
    struct group *last = drop_groups(groups, text->count, max);
    if (!last)
        return;
    last->dropped = false;
    struct buffer shorter = { 0 };
    size_t end = add_remaining(&shorter, groups, text->at, text->count, last);
    size_t excess = shorter.count > max ? shorter.count - max + ELLIPSIS_WIDTH : 0;
    if (excess > last->length)
        excess = last->length;
    replace(&shorter, before_what_is_cut(shorter.at, end - last->length, end - excess), end);
    buffer_release(text);
    *text = shorter;
}

/* Append the C++ name of LEN bytes, shortened at its brackets until it fits into MAX columns, or can go no further. */
static void add_cplusplus(struct buffer *out, const char *name, size_t len, size_t max)
{
    struct buffer text = { 0 };
    add_without_noise(&text, name, len);
    size_t open, close;
    if (text.count > max && find_parameters(text.at, text.count, &open, &close) &&
        close - open - 1 > ELLIPSIS_WIDTH)
        replace(&text, open + 1, close);
    if (text.count > max) {
        struct buffer bare = { 0 };
        add_without_qualifiers(&bare, text.at, text.count);
        buffer_release(&text);
        text = bare;
    }
    struct groups groups;
    if (text.count > max && find_groups(&groups, text.at, text.count))
        drop_arguments(&text, &groups, max);
    if (text.count > max && find_parameters(text.at, text.count, &open, &close) && close + 1 == text.count)
        text.count = open;
    static const char arguments[] = "<" ELLIPSIS ">";
    size_t n = sizeof arguments - 1;
    if (text.count > max && text.count > n && !memcmp(text.at + text.count - n, arguments, n))
        text.count -= n;
    buffer_add(out, text.at, text.count);
    buffer_release(&text);
}

static bool is_cplusplus(const char *s, size_t len)
{
    bool scope = false, bracket = false;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)s[i] >= 0x80)
            return false; /* so that a byte is a column */
        scope |= s[i] == ':' && i > 0 && s[i - 1] == ':';
        bracket |= s[i] == '<' || s[i] == '(';
    }
    size_t name = 0; /* "ncclDevKernel_AllReduce(ncclDevKernelArgs<4096ul>)" */
    while (name < len && is_identifier(s[name]))
        name++;
    return bracket && (scope || (len > 5 && !memcmp(s, "void ", 5)) ||
                       (name > 0 && name < len && s[name] == '(' && s[len - 1] == ')'));
}

size_t shorten_name(struct buffer *out, const char *name, size_t len, size_t max)
{
    if (unicode_text_width(name, len) <= max || !is_cplusplus(name, len))
        return shorten_middle(out, name, len, max);
    struct buffer shorter = { 0 };
    add_cplusplus(&shorter, name, len, max);
    size_t width = shorten_middle(out, shorter.at, shorter.count, max);
    buffer_release(&shorter);
    return width;
}

bool shorten_readable(struct buffer *full, struct buffer *shown, const char *name, size_t len, size_t max)
{
    struct buffer safe = { 0 };
    size_t begin = shown->count;
    if (!demangle_name(full, name))
        buffer_add(full, name, len);
    escape_terminal(&safe, full->at ? full->at : "", full->count);
    shorten_name(shown, safe.at ? safe.at : "", safe.count, max);
    bool shorter = shown->count - begin < safe.count;
    if (!shorter)
        shown->count = begin;
    buffer_release(&safe);
    return shorter;
}

/* ---- lists ---- */

/* Where the name that begins at FROM ends: before ", " that is in no brackets. */
static size_t end_of_item(const char *s, size_t len, size_t from)
{
    int depth = 0;
    for (size_t i = from; i < len; i++) {
        depth += s[i] == '<' || s[i] == '(' || s[i] == '[';
        depth -= s[i] == '>' || s[i] == ')' || s[i] == ']';
        if (depth <= 0 && s[i] == ',' && i + 1 < len && s[i + 1] == ' ')
            return i;
    }
    return len;
}

size_t shorten_list(struct buffer *out, const char *s, size_t len, size_t max)
{
    static const char more[] = ", ...";
    size_t first = end_of_item(s, len, 0), kept = 0, room = max > strlen(more) ? max - strlen(more) : 0;
    if (first == len || unicode_text_width(s, len) <= max)
        return shorten_name(out, s, len, max);
    for (size_t end = first; end < len && unicode_text_width(s, end) <= room;
         end = end_of_item(s, len, end + 2))
        kept = end;
    if (room < 2 * strlen(more))
        return shorten_name(out, s, first, max);
    size_t width = shorten_name(out, s, kept ? kept : first, room);
    buffer_puts(out, more);
    return width + strlen(more);
}
