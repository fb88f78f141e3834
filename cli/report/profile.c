#include "cli/report/profile.h"

#include "profile/view.h"

bool report_profile_make(const struct profile *profile, struct report_profile *report, struct tpa_error *err)
{
    if (!profile_add_overview(report->result, profile, PAGE_MOST_ROWS, err))
        return false;
    report->has_stacks = profile->stacks.count > 0;
    report->flame = profile_has_callers(profile) ? profile_flame(profile) : NULL;
    if (report->flame && report->flame->frames.count <
                             2) { /* callers have no times: the module profile, a sampling profiler */
        flame_free(report->flame);
        report->flame = NULL;
    }
    return true;
}

void report_profile_fill(const struct report_profile *report, struct page *page)
{
    static const struct {
        const char *key, *intro, *more;
    } sections[] = {
        { "own", "The time in a function itself, without what it called.", "tpa top" },
        { "cumulative", "The time in a function and all that it called; recursive calls count once.",
          "tpa top --sort cumulative" },
        { "callers", "Of the functions with the most time of their own.", "tpa callers" },
        { "callees", "Of the same functions.", "tpa callees" },
        { "actions", "The time of each action; actions run inside one another.", "tpa top" },
    };
    const struct result *result = report->result;
    page->answer = result->answer;
    for (size_t s = 0, i = 0; s < sizeof sections / sizeof *sections && i < result->tables.count; s++) {
        const struct table *table = result->tables.at[i];
        if (strcmp(table->key, sections[s].key) != 0)
            continue;
        struct page_section *section =
            page_add_section(page, sections[s].key, table->title, sections[s].intro);
        section->more = sections[s].more;
        *VEC_PUSH(&section->tables) = table;
        if (i++ > 0)
            continue;
        for (size_t n = 0; n < result->notices.count; n++)
            if (!result->notices.at[n].on_top)
                *VEC_PUSH(&section->notices) = result->notices.at[n];
        if (report->flame) {
            section = page_add_section(
                page, "calls", "Call tree",
                report->has_stacks
                    ? "All stacks of the file, added up. Click, or use the keys: arrows move and zoom, 0 shows all."
                    : "The file has no stacks: what a function takes is split among its callers by what each of them "
                      "takes in all. Click, or use the keys: arrows move and zoom, 0 shows all.");
            *VEC_PUSH(&section->flames) = report->flame;
        }
    }
}
