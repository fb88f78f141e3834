/*
 * demangle.c - see demangle.h.
 *
 * The demangler is looked for when the first name comes that could be mangled: few traces have any, and
 * most programs start without loading the C++ runtime for nothing.
 */
#include "base/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef char *demangler(const char *mangled, char *buffer, size_t *size, int *status);

static demangler *the_demangler;
static pthread_once_t looked_for = PTHREAD_ONCE_INIT;

static void look_for_demangler(void)
{
    static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !the_demangler; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&the_demangler, &symbol, sizeof symbol); /* C has no cast from object to function pointer */
    }
}

/* Letters a mangled name or type of more than one letter can begin with (Itanium C++ ABI). */
static bool could_be_mangled(const char *name)
{
    if (name[0] == '\0' || name[1] == '\0')
        return false;
    if (!isdigit((unsigned char)name[0]) && !strchr("_ACDFGKMNOPRSTUVZru", name[0]))
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.' && *c != '$')
            return false;
    return true;
}

char *demangle(const char *name)
{
    if (!could_be_mangled(name))
        return NULL;
    pthread_once(&looked_for, look_for_demangler);
    int status = 0;
    char *text = the_demangler ? the_demangler(name, NULL, NULL, &status) : NULL;
    return status == 0 ? text : NULL;
}
