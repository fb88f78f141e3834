#include "ingest/json_text.h"

enum { DEEPEST = 1024 };

struct check {
    const char *at, *end;
    char closers[DEEPEST]; /* closing bracket of each open list and object */
    size_t depth;
};

/* The next byte, 0 at the end. */
static char json_check_peek(const struct check *check)
{
    return check->at < check->end ? *check->at : '\0';
}

static bool pass(struct check *check, char c)
{
    if (c == '\0' || json_check_peek(check) != c)
        return false;
    check->at++;
    return true;
}

static void pass_blanks(struct check *check)
{
    while (json_is_blank(json_check_peek(check)))
        check->at++;
}

static bool pass_digits(struct check *check)
{
    const char *first = check->at;
    while (json_check_peek(check) >= '0' && json_check_peek(check) <= '9')
        check->at++;
    return check->at > first;
}

static bool pass_number(struct check *check)
{
    pass(check, '-');
    if ((!pass(check, '0') && !pass_digits(check)) || (pass(check, '.') && !pass_digits(check)))
        return false;
    if (!pass(check, 'e') && !pass(check, 'E'))
        return true;
    if (!pass(check, '+'))
        pass(check, '-');
    return pass_digits(check);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Check the text after a backslash. */
static bool pass_escape(struct check *check)
{
    char c = json_check_peek(check);
    if (c == '\0' || !strchr("\"\\/bfnrtu", c))
        return false;
    check->at++;
    for (int i = 0; c == 'u' && i < 4; i++, check->at++)
        if (!is_hex(json_check_peek(check)))
            return false;
    return true;
}

static bool pass_string(struct check *check)
{
    if (!pass(check, '"'))
        return false;
    while (!pass(check, '"')) {
        if ((unsigned char)json_check_peek(check) < 0x20) /* includes the end */
            return false;
        if (*check->at++ == '\\' && !pass_escape(check))
            return false;
    }
    return true;
}

static bool pass_word(struct check *check, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(check->end - check->at) < len || memcmp(check->at, word, len) != 0)
        return false;
    check->at += len;
    return true;
}

static bool pass_scalar(struct check *check)
{
    switch (json_check_peek(check)) {
    case '"': return pass_string(check);
    case 't': return pass_word(check, "true");
    case 'f': return pass_word(check, "false");
    case 'n': return pass_word(check, "null");
    default: return pass_number(check);
    }
}

/* Check a key and its colon, in an open object. */
static bool pass_key(struct check *check)
{
    if (check->closers[check->depth - 1] != '}')
        return true;
    pass_blanks(check);
    if (!pass_string(check))
        return false;
    pass_blanks(check);
    return pass(check, ':');
}

/* Check the beginning of a value: all opening brackets, up to and including the first value that is not a list or
 * object, or the end of an empty one. */
static bool pass_begin(struct check *check)
{
    for (;;) {
        pass_blanks(check);
        bool list = pass(check, '[');
        if (!list && !pass(check, '{'))
            return pass_scalar(check);
        if (check->depth == DEEPEST)
            return false;
        check->closers[check->depth++] = list ? ']' : '}';
        pass_blanks(check);
        if (json_check_peek(check) == check->closers[check->depth - 1])
            return true;
        if (!pass_key(check))
            return false;
    }
}

/* Check the closing brackets after a value, and the comma before the next one. */
static bool pass_ends(struct check *check)
{
    while (check->depth > 0) {
        pass_blanks(check);
        if (pass(check, ','))
            return pass_key(check);
        if (!pass(check, check->closers[check->depth - 1]))
            return false;
        check->depth--;
    }
    return true;
}

bool json_is_value(const char *text, size_t len)
{
    struct check check;
    check.at = text;
    check.end = text + len;
    check.depth = 0;
    do
        if (!pass_begin(&check) || !pass_ends(&check))
            return false;
    while (check.depth > 0);
    pass_blanks(&check);
    return check.at == check.end;
}
