/* registry.c - see registry.h. */
#include "analyze/registry.h"

#include <string.h>

#define ANALYSIS_ROW(name) &analysis_##name,
const struct analysis *const analyses[] = { ANALYSES(ANALYSIS_ROW) NULL };
#undef ANALYSIS_ROW

const struct analysis *analysis_find(const char *name)
{
    for (size_t i = 0; analyses[i]; i++)
        if (strcmp(analyses[i]->name, name) == 0)
            return analyses[i];
    return NULL;
}
