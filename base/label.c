#include "base/label.h"
#include "base/memory.h"

#include <ctype.h>
#include <math.h>

static bool label_is_name(const char *at, size_t len)
{
    return !ANY(i, len, !isalnum((unsigned char)at[i]) && at[i] != '_' && at[i] != '-' && at[i] != '.') &&
           len > 0;
}

bool label_next(const char **text, const char **name, size_t *name_len, double *value)
{
    size_t part = strcspn(*text, ","), equals = strcspn(*text, "=");
    char *end;
    if (equals >= part || !label_is_name(*text, equals) || !isdigit((unsigned char)(*text)[equals + 1]))
        return false;
    *name = *text;
    *name_len = equals;
    *value = strtod(*text + equals + 1, &end);
    if (end != *text + part || !(*value > 0) || !isfinite(*value))
        return false;
    *text += part + ((*text)[part] == ',' && (*text)[part + 1] ? 1 : 0);
    return true;
}

const char *label_of(const char *operand)
{
    const char *at = strrchr(operand, '@'), *name;
    size_t len;
    double value;
    if (!at || !at[1])
        return NULL;
    for (const char *text = at + 1; *text;)
        if (!label_next(&text, &name, &len, &value))
            return NULL;
    return at + 1;
}
