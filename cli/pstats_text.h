/*
 * pstats_text.h - print a profile byte for byte as Python's pstats does, for --format pstats.
 *
 * The text is that of CPython 3.6 to 3.14: print_stats(), print_callers() and print_callees() of
 * pstats.Stats(FILE, ...).sort_stats(KEY, ...), restricted in the order of struct profile_restriction.
 */
#ifndef TPA_CLI_PSTATS_TEXT_H
#define TPA_CLI_PSTATS_TEXT_H

#include "profile/view.h"
#include <stdio.h>

enum pstats_report { PSTATS_STATS, PSTATS_CALLERS, PSTATS_CALLEES };

/* Write the report on the functions of VIEW, which was sorted by SORT. False and ERR on failure. */
bool pstats_text_print(enum pstats_report report, const struct profile *profile,
                       const struct profile_view *view, const struct profile_sort *sort, FILE *out,
                       struct tpa_error *err);

#endif
