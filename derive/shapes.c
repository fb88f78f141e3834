/* The JSON comes without blanks between its parts. */
#include "derive/shapes.h"

static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

/* The end of the JSON value at AT; NULL if it has none. */
static const char *skip_value(const char *at)
{
    int depth = 0;
    bool in_string = false;
    for (; *at; at++) {
        if (in_string) {
            if (*at == '\\' && at[1])
                at++;
            else if (*at == '"')
                in_string = false;
        } else if (*at == '"') {
            in_string = true;
        } else if (*at == '[' || *at == '{') {
            depth++;
        } else if (*at == ']' || *at == '}') {
            if (depth == 0)
                return at;
            depth--;
        } else if (*at == ',' && depth == 0) {
            return at;
        }
    }
    return NULL;
}

/* The start of element INDEX of the list at LIST, or NULL. */
static const char *element(const char *list, size_t index)
{
    const char *at = skip_blanks(list);
    if (*at != '[')
        return NULL;
    at = skip_blanks(at + 1);
    if (*at == ']')
        return NULL;
    for (; index > 0; index--) {
        at = skip_value(at);
        if (!at || *at != ',')
            return NULL;
        at = skip_blanks(at + 1);
    }
    return *at ? at : NULL;
}

/* A list of whole numbers at AT; returns its end, or NULL if it is something else. */
static const char *parse_sizes(const char *at, struct shape *shape)
{
    shape->count = 0;
    if (*at != '[')
        return NULL;
    at = skip_blanks(at + 1);
    if (*at == ']')
        return at + 1;
    for (;;) {
        bool negative = *at == '-';
        at += negative;
        if (*at < '0' || *at > '9' || shape->count == SHAPE_MAX_SIZES)
            return NULL;
        int64_t value = 0;
        for (; *at >= '0' && *at <= '9'; at++) {
            if (value > (INT64_MAX - 9) / 10)
                return NULL;
            value = value * 10 + (*at - '0');
        }
        shape->size[shape->count++] = negative ? -value : value;
        at = skip_blanks(at);
        if (*at == ']')
            return at + 1;
        if (*at != ',')
            return NULL;
        at = skip_blanks(at + 1);
    }
}

bool list_next(const char **at, struct text *element)
{
    const char *from = skip_blanks(*at);
    if (*from != '[' && *from != ',')
        return false;
    from = skip_blanks(from + 1);
    const char *end = *from == ']' ? NULL : skip_value(from);
    if (!end)
        return false;
    *element = (struct text){ from, (size_t)(end - from) };
    *at = end;
    return true;
}

bool shape_read(struct text element, struct shape *shape)
{
    const char *end = element.len ? parse_sizes(element.at, shape) : NULL;
    return end == element.at + element.len;
}

bool shape_of_input(const char *input_dims, size_t index, struct shape *shape)
{
    const char *at = element(input_dims, index);
    return at && parse_sizes(at, shape);
}

/* Number of elements, or -1 on overflow. */
static int64_t product_of(const struct shape *shape)
{
    int64_t product = 1;
    if (ANY(i, shape->count, shape->size[i] < 0 || __builtin_mul_overflow(product, shape->size[i], &product)))
        return -1;
    return product;
}

int64_t shape_elements(const char *input_dims, size_t index)
{
    const char *at = element(input_dims, index);
    struct shape shape;
    if (!at)
        return -1;
    if (parse_sizes(at, &shape))
        return shape.count ? product_of(&shape) : -1;
    int64_t sum = 0;
    for (at = element(at, 0); at; at = at && *at == ',' ? skip_blanks(at + 1) : NULL) {
        int64_t elements = parse_sizes(at, &shape) && shape.count ? product_of(&shape) : -1;
        if (elements < 0 || __builtin_add_overflow(sum, elements, &sum))
            return -1;
        at = skip_value(at);
    }
    return sum > 0 ? sum : -1;
}

bool shape_parse(const char *text, struct shape *shape)
{
    const char *end = parse_sizes(skip_blanks(text), shape);
    return end && *skip_blanks(end) == '\0';
}

bool concrete_input(const char *list, size_t index, const char **text, size_t *len)
{
    const char *at = element(list, index);
    if (!at || *at != '"')
        return false;
    const char *end = strchr(at + 1, '"');
    if (!end)
        return false;
    *text = at + 1;
    *len = (size_t)(end - *text);
    return memchr(*text, '\\', *len) == NULL;
}

void shapes_append(struct buffer *out, const char *input_dims)
{
    buffer_putc(out, '[');
    const char *at = element(input_dims, 0);
    for (bool first = true; at; first = false) {
        if (!first)
            buffer_puts(out, ", ");
        struct shape sizes;
        const char *end = skip_value(at);
        if (parse_sizes(at, &sizes)) {
            buffer_putc(out, '[');
            for (size_t i = 0; i < sizes.count; i++)
                buffer_printf(out, i ? ", %lld" : "%lld", (long long)sizes.size[i]);
            buffer_putc(out, ']');
        } else if (*at == '[') { /* a list of tensors */
            buffer_puts(out, "[]");
        } else {
            buffer_add(out, at, end ? (size_t)(end - at) : strlen(at));
        }
        at = end && *end == ',' ? skip_blanks(end + 1) : NULL;
    }
    buffer_putc(out, ']');
}
