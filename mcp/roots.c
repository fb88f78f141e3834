#include "mcp/roots.h"

#include "base/buffer.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

bool roots_add(struct roots *roots, const char *path, struct tpa_error *err)
{
    struct stat status;
    SCOPED char *real = realpath(path, NULL);
    if (!real || stat(real, &status) != 0 || !S_ISDIR(status.st_mode)) {
        tpa_fail(err, TPA_NOWHERE, "--root takes a folder, and this is none");
        tpa_hint(err, "name a folder that exists; traces below it can be read");
        return tpa_in_file(err, path);
    }
    *VEC_PUSH(roots) = arena_strndup(&roots->arena, real, strlen(real));
    return true;
}

static bool is_below(const char *path, const char *root)
{
    size_t len = strlen(root);
    return strncmp(path, root, len) == 0 &&
           (path[len] == '/' || path[len] == '\0' || (len == 1 && root[0] == '/'));
}

static void drop_last(struct buffer *path)
{
    while (path->count > 0 && path->at[path->count - 1] != '/')
        path->count--;
    path->count -= path->count > 0;
    path->at[path->count] = '\0';
}

/* Where PATH leads, all links followed, also those to what is missing; false for too many links. OUT is absolute. */
static bool follow(const char *path, struct buffer *out)
{
    enum { MOST_LINKS = 40 };
    char *left = mem_strdup(path), *here = NULL, target[PATH_MAX];
    int links = 0;
    if (path[0] != '/')
        here = getcwd(NULL, 0);
    buffer_clear(out);
    buffer_puts(out, here ? here : "");
    buffer_putc(out, '\0');
    out->count--;
    free(here);
    for (char *at = left; *at && links <= MOST_LINKS;) {
        size_t len = strcspn(at, "/");
        char *next = at + len + (at[len] == '/');
        if (len == 2 && at[0] == '.' && at[1] == '.') {
            drop_last(out);
        } else if (len > 0 && !(len == 1 && at[0] == '.')) {
            size_t before = out->count;
            buffer_printf(out, "/%.*s", (int)len, at);
            ssize_t size = readlink(out->at, target, sizeof target - 1);
            if (size >= 0) {
                SCOPED struct buffer rest = { 0 };
                target[size] = '\0';
                buffer_printf(&rest, "%s/%s", target, next);
                out->count = target[0] == '/' ? 0 : before;
                out->at[out->count] = '\0';
                free(left);
                left = at = mem_strdup(rest.at);
                links++;
                continue;
            }
        }
        at = next;
    }
    free(left);
    if (out->count == 0)
        buffer_putc(out, '/');
    return links <= MOST_LINKS;
}

bool roots_hold(const struct roots *roots, const char *path)
{
    SCOPED struct buffer real = { 0 };
    bool below = false;
    if (follow(path, &real))
        for (size_t i = 0; i < roots->count; i++)
            below |= is_below(real.at, roots->at[i]);
    return below;
}

static bool has_parent(const char *path)
{
    for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/')
        if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

static bool has_scheme(const char *path)
{
    size_t len = 0;
    while (isalnum((unsigned char)path[len]) || (len && strchr("+.-", path[len]) && path[len]))
        len++;
    return len > 0 && isalpha((unsigned char)path[0]) && path[len] == ':' && path[len + 1] == '/';
}

enum roots_place roots_check(const struct roots *roots, const char *path)
{
    struct stat status;
    if (!path[0] || path[0] == '~' || strcmp(path, "-") == 0 || has_parent(path) || has_scheme(path) ||
        strlen(path) >= PATH_MAX || !roots_hold(roots, path))
        return ROOTS_OUTSIDE;
    if (stat(path, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) ||
        access(path, R_OK) != 0)
        return ROOTS_UNREADABLE;
    return ROOTS_INSIDE;
}
