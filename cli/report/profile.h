/* profile.h - `tpa report` of a Python profile. */
#ifndef TPA_CLI_REPORT_PROFILE_H
#define TPA_CLI_REPORT_PROFILE_H

#include "report/page.h"
#include "trace/actions.h"
#include "trace/profile.h"

struct flame;

/* The contents of the report; zero-initialise. */
struct report_profile {
    struct result *result; /* tables, notices, and the answer */
    struct flame *flame;   /* the call tree; NULL: none */
    bool has_stacks;       /* the call tree is that of the file, not estimated */
};

/* Fill the report, whose members are freed by the caller. False and ERR if the profile cannot be sorted. */
bool report_profile_make(const struct profile *profile, struct report_profile *report, struct tpa_error *err);

/* Add the sections; PAGE borrows them. */
void report_profile_fill(const struct report_profile *report, struct page *page);

#endif
