/*
 * distinct.h - telling names apart that look the same when shortened.
 *
 *     struct distinct *names = distinct_open();
 *     size_t number = distinct_number(names, full, full_len, shown, shown_len);   // 1; 2 for the next that looks so
 *     arena_free(names);
 */
#ifndef TPA_REPORT_DISTINCT_H
#define TPA_REPORT_DISTINCT_H

#include <stddef.h>

struct distinct;

/* New; free with arena_free (NULL is allowed). */
struct distinct *distinct_open(void);

/* The place of FULL among the different names that were shown as SHOWN so far: 1, 2 ... The same name has the same place. */
size_t distinct_number(struct distinct *names, const char *full, size_t full_len, const char *shown,
                       size_t shown_len);

#endif
