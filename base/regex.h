/*
 * regex.h - regular expressions that users type, matched against names that strangers wrote.
 *
 * Perl's syntax (PCRE2). The time of a match is limited: a pattern such as (a+)+b against a long name is an error, not
 * a hang. Invalid UTF-8 matches nothing and is not an error. Match once per distinct name, not once per event.
 *
 *     struct regex *regex = regex_open("^aten::(mm|bmm)$", &err);
 *     bool matched;
 *     if (!regex_match(regex, name, len, &matched, &err))
 *         ...
 *     regex_free(regex);
 */
#ifndef TPA_BASE_REGEX_H
#define TPA_BASE_REGEX_H

#include "base/error.h"
#include <stddef.h>

struct regex;

/* New; free with regex_free (NULL is allowed). NULL and ERR, which shows the position of the mistake in PATTERN, if it
 * is invalid. */
struct regex *regex_open(const char *pattern, struct tpa_error *err);
void regex_free(struct regex *regex);

/* Does the pattern match somewhere in the LEN bytes at TEXT? False and ERR when matching takes too long. */
bool regex_match(const struct regex *regex, const char *text, size_t len, bool *matched,
                 struct tpa_error *err);

#endif
