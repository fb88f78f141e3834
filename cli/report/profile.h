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

/* Fill the report of ACTIONS. */
void report_actions_make(const struct action_report *actions, struct report_profile *report);

/* Fill the report. False and ERR if the profile cannot be sorted. Release in either case. */
bool report_profile_make(const struct profile *profile, struct report_profile *report, struct tpa_error *err);
void report_profile_release(struct report_profile *report);

/* Add the sections; PAGE borrows them. */
void report_profile_fill(const struct report_profile *report, struct page *page);

#endif
