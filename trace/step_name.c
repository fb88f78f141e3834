#include "trace/step_name.h"

#include "base/quantity.h"
#include <ctype.h>
#include <inttypes.h>

static const char torch_mark[] = "ProfilerStep", xla_mark[] = " [step ";

/* Where the number of a step stands in NAME, of LEN bytes, and how long it is: digits, or '*' for all steps. NULL: NAME
 * is no step's. */
static const char *step_name_find_number(const char *name, size_t len, size_t *digits)
{
    size_t torch = sizeof torch_mark - 1, xla = sizeof xla_mark - 1;
    if (len > torch && memcmp(name, torch_mark, torch) == 0) {
        size_t begin = torch + (name[torch] == '#');
        *digits = len - begin;
        return name[torch] == '#' || (name[torch] == '*' && len == torch + 1) ? name + begin : NULL;
    }
    if (len < xla + 2 || name[len - 1] != ']')
        return NULL;
    size_t begin = len - 1;
    while (begin > 0 && (isdigit((unsigned char)name[begin - 1]) || name[begin - 1] == '*'))
        begin--;
    *digits = len - 1 - begin;
    return *digits && begin >= xla && memcmp(name + begin - xla, xla_mark, xla) == 0 ? name + begin : NULL;
}

bool step_number(const char *name, int64_t *number)
{
    size_t digits = 0;
    const char *at = step_name_find_number(name, strlen(name), &digits);
    return at && isdigit((unsigned char)*at) && quantity_parse_integer(at, digits, number);
}

void step_name_add(struct buffer *text, const char *name, size_t len, int64_t number)
{
    char digits[24];
    size_t written = (size_t)snprintf(digits, sizeof digits, " %" PRId64, number);
    if (len > written && memcmp(name + len - written, digits, written) == 0)
        len -= written;
    buffer_add(text, name, len);
    buffer_printf(text, "%s%" PRId64 "]", xla_mark, number);
}

bool step_name_is_of_devices(const char *name)
{
    int64_t number;
    size_t len = sizeof STEP_OF_DEVICES - 1;
    return strncmp(name, STEP_OF_DEVICES, len) == 0 &&
           strncmp(name + len, xla_mark, sizeof xla_mark - 1) == 0 && step_number(name, &number);
}

bool step_name_add_all(struct buffer *text, const char *name)
{
    size_t digits = 0;
    const char *at = step_name_find_number(name, strlen(name), &digits);
    if (!at)
        return false;
    bool torch = at[digits] == '\0';
    buffer_add(text, name, (size_t)(at - name) - (torch && at[-1] == '#'));
    buffer_puts(text, torch ? "*" : "*]");
    return true;
}

bool step_name_is_mark(const char *name, size_t len)
{
    size_t digits = 0;
    return step_name_find_number(name, len, &digits) != NULL;
}
