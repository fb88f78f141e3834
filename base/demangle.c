/*
 * demangle.c - see demangle.h.
 *
 * The demangler is the C++ run-time library's, which we call from C and need no C++ compiler for. A mangled name can
 * refer back to parts of itself, so two hundred bytes can stand for gigabytes: each part may name the part before it
 * several times, and the library expands all of it. So references are counted first: R of them in a name of L bytes
 * make at most some L * 3^(R/3) bytes, three references to each part before being the worst. A name that could grow
 * beyond reason (more than 30 to 36 references) stays mangled: longer, but unmistakable.
 */
#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

#if TPA_HAVE_DEMANGLE

/* From the Itanium C++ ABI; the result is malloc'ed, NULL when NAME is no mangled name. */
char *__cxa_demangle(const char *name, char *output, size_t *length, int *status);

enum { LONGEST_NAME = 16 * 1024, LARGEST_RESULT = 64 * 1024 * 1024 };

bool demangle_works(void)
{
    return true;
}

/* The end of a reference (S_, S1A_, T_, T0_) at AT, or NULL when there is none. */
static const char *reference_end(const char *at)
{
    if (*at != 'S' && *at != 'T')
        return NULL;
    for (at++; (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z'); at++)
        ;
    return *at == '_' ? at + 1 : NULL;
}

/* Can what comes out be no larger than LARGEST_RESULT? */
static bool is_bounded(const char *name, size_t len)
{
    double worst = (double)len;
    for (const char *at = name; *at;) {
        const char *end = reference_end(at);
        if (end)
            worst *= 1.4422495703; /* the cube root of 3 */
        at = end ? end : at + 1;
    }
    return len <= LONGEST_NAME && worst <= LARGEST_RESULT;
}

static bool add_demangled(struct buffer *out, const char *name)
{
    if (!is_bounded(name, strlen(name)))
        return false;
    char *text = __cxa_demangle(name, NULL, NULL, NULL);
    if (!text)
        return false;
    buffer_puts(out, text);
    free(text);
    return true;
}

bool demangle_name(struct buffer *out, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(name, "_Z", 2) != 0)
        return false;
    if (len < 3 || strcmp(name + len - 3, ".kd") != 0)
        return add_demangled(out, name);
    struct buffer copy = { 0 };
    buffer_add(&copy, name, len - 3);
    bool ok = add_demangled(out, copy.at);
    buffer_release(&copy);
    return ok;
}

bool demangle_as_torch(struct buffer *out, const char *name)
{
    return name[0] && name[1] && add_demangled(out, name);
}

#else

bool demangle_works(void)
{
    return false;
}

bool demangle_name(struct buffer *out, const char *name)
{
    (void)out, (void)name;
    return false;
}

bool demangle_as_torch(struct buffer *out, const char *name)
{
    (void)out, (void)name;
    return false;
}

#endif
