/*
 * A mangled name can refer back to parts of itself, so two hundred bytes can expand to gigabytes. There are two
 * demanglers, which agree on the names both know:
 *
 * - binutils' libiberty returns the text piece by piece, so it can be stopped when there is too much of it.
 * - The C++ run-time library, which we call from C and need no C++ compiler for, expands the whole name. So references
 *   are counted first: R of them in a name of L bytes make at most some L * 3^(R/3) bytes, three references to each
 *   part before being the worst. A name that could grow beyond reason (more than 30 to 36 references) stays mangled.
 */
#include "base/demangle.h"

#include <setjmp.h>
#include <sys/resource.h>

enum { LONGEST_NAME = 16 * 1024, LARGEST_RESULT = 64 * 1024 * 1024, LONGEST_TEXT = 256 * 1024 };

/* Both demanglers work on the stack: they use up to some 190 bytes for each byte of a name such as _Z1fPPPP...i. */
enum { STACK_PER_BYTE = 512 };

/* Names of this length always fit: no process runs with less stack than they take. Nearly all names are so short, and a
 * system call for each would take longer than the demangling. */
enum { ALWAYS_FITS = 64 };

/* Is a name of LEN bytes short enough to demangle? With a small stack (ulimit -s) the limit is lower. */
static inline bool is_short_enough(size_t len)
{
    struct rlimit stack;
    if (len <= ALWAYS_FITS)
        return true;
    bool small = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    return len <= LONGEST_NAME && (!small || len <= stack.rlim_cur / STACK_PER_BYTE);
}

#if TPA_HAVE_DEMANGLE

/* From the Itanium C++ ABI; the result is malloc'ed, NULL when NAME is not a mangled name. */
char *__cxa_demangle(const char *name, char *output, size_t *length, int *status);

/* The end of a reference (S_, S1A_, T_, T0_) at AT, or NULL when there is none. */
static const char *reference_end(const char *at)
{
    if (*at != 'S' && *at != 'T')
        return NULL;
    for (at++; (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z'); at++)
        ;
    return *at == '_' ? at + 1 : NULL;
}

/* Is the demangled name no larger than LARGEST_RESULT? */
static bool is_bounded(const char *name, size_t len)
{
    double worst = (double)len;
    for (const char *at = name; *at;) {
        const char *end = reference_end(at);
        if (end)
            worst *= 1.4422495703; /* the cube root of 3 */
        at = end ? end : at + 1;
    }
    return worst <= LARGEST_RESULT && is_short_enough(len);
}

static bool add_by_library(struct buffer *out, const char *name)
{
    if (!is_bounded(name, strlen(name)))
        return false;
    SCOPED char *text = __cxa_demangle(name, NULL, NULL, NULL);
    if (!text)
        return false;
    buffer_puts(out, text);
    return true;
}

#else

static bool add_by_library(struct buffer *out, const char *name)
{
    (void)out, (void)name;
    return false;
}

#endif

#if TPA_HAVE_LIBIBERTY

#include <libiberty/demangle.h>

struct demangling {
    struct buffer text;
    jmp_buf too_long;
};

static void collect_piece(const char *piece, size_t len, void *context)
{
    struct demangling *demangling = context;
    if (demangling->text.count + len > LONGEST_TEXT)
        longjmp(demangling->too_long, 1); /* libiberty works on the stack only: longjmp leaks nothing */
    buffer_add(&demangling->text, piece, len);
}

static bool add_by_pieces(struct buffer *out, const char *name)
{
    /* Static: what is changed between setjmp and longjmp must not be kept in a register. */
    static _Thread_local struct demangling demangling;
    if (!is_short_enough(strlen(name)))
        return false;
    buffer_clear(&demangling.text);
    bool ok = false;
    if (setjmp(demangling.too_long) == 0 &&
        cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, collect_piece,
                                   &demangling)) {
        buffer_add(out, demangling.text.at, demangling.text.count);
        ok = true;
    }
    buffer_release(&demangling.text);
    return ok;
}

#else

static bool add_by_pieces(struct buffer *out, const char *name)
{
    return add_by_library(out, name);
}

#endif

bool demangle_works(void)
{
    return TPA_HAVE_DEMANGLE || TPA_HAVE_LIBIBERTY;
}

bool demangle_name(struct buffer *out, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(name, "_Z", 2) != 0)
        return false;
    if (len < 3 || strcmp(name + len - 3, ".kd") != 0)
        return add_by_pieces(out, name);
    SCOPED struct buffer copy = { 0 };
    buffer_add(&copy, name, len - 3);
    return add_by_pieces(out, copy.at);
}

bool demangle_as_torch(struct buffer *out, const char *name)
{
    return name[0] && name[1] && add_by_library(out, name);
}
