/*
 * names.h - one copy of each distinct string, identified by a small integer.
 *
 * Ids count up from 0 in order of first sight and never change, so they can be stored in columns,
 * compared with ==, and used to index side tables. A property of the name alone (a filter, demangling, "is this NCCL?")
 * is computed once per id and looked up per event.
 */
#ifndef TPA_BASE_NAMES_H
#define TPA_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t name_id;
#define NAME_NONE UINT32_MAX

struct names;

/* New; free with names_free (NULL is allowed). */
struct names *names_open(void);
void names_free(struct names *names);

/* Number of distinct names: ids are 0 .. count-1. */
size_t names_count(const struct names *names);

/* Total bytes of all texts. */
size_t names_bytes(const struct names *names);

/* Id of the LEN bytes at S (any bytes, NUL included), which are copied the first time. */
name_id names_add(struct names *names, const char *s, size_t len);

/* Id of the LEN bytes at S, or NAME_NONE when they were never added. */
name_id names_find(const struct names *names, const char *s, size_t len);

/* The text of ID, NUL-terminated; borrowed, lives as long as NAMES. "" for NAME_NONE. */
const char *names_text(const struct names *names, name_id id);

/* Length of the text of ID in bytes. 0 for NAME_NONE. */
size_t names_length(const struct names *names, name_id id);

#endif
