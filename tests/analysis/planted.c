/*
 * planted.c - bugs that tests/analysis/run must find before it is believed that there are none elsewhere.
 *
 * Never compiled into anything. `finds: CHECK` says what is to be found in the next line.
 */
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    int value;
};

int null_is_followed(const struct node *node)
{
    if (!node)
        /* finds: clang-analyzer-core.NullDereference */
        return node->value;
    return 0;
}

int freed_memory_is_read(void)
{
    int *number = malloc(sizeof *number);
    if (!number)
        return 0;
    *number = 1;
    free(number);
    /* finds: clang-analyzer-unix.Malloc */
    return *number;
}

int memory_is_lost(const char *text)
{
    char *copy = strdup(text);
    /* finds: clang-analyzer-unix.Malloc */
    return copy ? copy[0] : 0;
}

int garbage_is_read(int which)
{
    int set;
    if (which > 0)
        set = which;
    /* finds: clang-analyzer-core.uninitialized.UndefReturn */
    return set;
}

void arguments_are_swapped(struct node *node)
{
    /* finds: bugprone-suspicious-memset-usage */
    memset(node, sizeof *node, 0);
}

int difference_is_taken_for_equality(const char *a, const char *b)
{
    /* finds: bugprone-suspicious-string-compare */
    return strcmp(a, b) == 1;
}

int number_is_not_checked(const char *text)
{
    /* finds: cert-err34-c */
    return atoi(text);
}
