#include "cli/report/snapshot.h"

#include "charts/charts.h"

void report_snapshot_make(const struct snapshots *snapshots, const struct ranges *devices,
                          struct report_snapshot *report)
{
    struct snapshot_query query = { .devices = *devices };
    *report = (struct report_snapshot){ .result = result_open("tpa.report/1"),
                                        .picture = picture_open("memory", "Memory over time") };
    report->answers = snapshot_answer(snapshots, &query);
    snapshot_say(report->answers, NULL, report->result);
    snapshot_fill_first_screen(report->answers, report->result);
    snapshot_add_tables(report->answers, &(struct snapshot_tables_options){ .segments = true }, false,
                        report->result);
    snapshot_add_notices(snapshots, report->answers, report->result);
    snapshot_draw(report->answers->replays.at, report->answers->replays.count, CHART_MOST_PANELS,
                  report->picture);
    for (size_t i = 0; i < report->answers->replays.count && i < CHART_MOST_PANELS; i++) {
        struct timeline *timeline = snapshot_blocks_timeline(report->answers->replays.at[i]);
        struct flame *flame = snapshot_flame(report->answers->replays.at[i]);
        if (timeline)
            *VEC_PUSH(&report->timelines) = timeline;
        if (flame)
            *VEC_PUSH(&report->flames) = flame;
    }
}

void report_snapshot_release(struct report_snapshot *report)
{
    for (size_t i = 0; i < report->timelines.count; i++)
        timeline_free(report->timelines.at[i]);
    for (size_t i = 0; i < report->flames.count; i++)
        flame_free(report->flames.at[i]);
    EACH(VEC_FREE, &report->timelines, &report->flames);
    picture_free(report->picture);
    result_free(report->result);
    arena_free(report->answers);
}

static const struct table *find_table(const struct result *result, const char *key)
{
    for (size_t i = 0; i < result->tables.count; i++)
        if (strcmp(result->tables.at[i]->key, key) == 0)
            return result->tables.at[i];
    return NULL;
}

void report_snapshot_fill(const struct report_snapshot *report, struct page *page)
{
    page->answer = report->result->answer;
    static const struct {
        const char *key, *title, *intro, *more;
    } sections[] = {
        { "ooms", "Out of memory", "What was requested, what was in use just before, and why it did not fit.",
          "tpa memory --at oom" },
        { "devices", "Devices",
          "The peak is in requested bytes; what is allocated, active and reserved when the snapshot is taken is "
          "in the allocator's rounded bytes.",
          "tpa memory" },
        { "alive_at_peak", "In use at the peak",
          "By the innermost line of code that is neither PyTorch's nor an installed package's. Below: the same by all frames, "
          "and the largest blocks over time; what lies above each other was in use together.",
          "tpa memory --table alive_at_peak" },
        { "leaks", "Grows with every step", "Stacks whose memory in use grew in every step after the second.",
          "tpa memory --table leaks" },
        { "steps", "Steps and other annotations",
          "Allocated bytes at their begin and end, and the most between.", "tpa memory --table steps" },
        { "fragmentation", "Segments by pool",
          "What the allocator has from the device, and what of it lies idle.",
          "tpa memory --table fragmentation" },
        { "segments", "Segments at the peak", "Each segment, or mapped range of an expandable one.",
          "tpa memory --segments" },
        { "churn", "Allocations by line", "Who allocates how much, and for how long.",
          "tpa memory --table churn" },
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const struct table *table = find_table(report->result, sections[i].key);
        if (!table)
            continue;
        struct page_section *section =
            page_add_section(page, sections[i].key, sections[i].title, sections[i].intro);
        section->more = sections[i].more;
        *VEC_PUSH(&section->tables) = table;
        for (size_t n = 0; page->sections.count == 1 && n < report->result->notices.count; n++)
            if (!report->result->answer || !report->result->notices.at[n].on_top)
                *VEC_PUSH(&section->notices) = report->result->notices.at[n];
        if (strcmp(sections[i].key, "devices") == 0 && report->picture->charts.count)
            *VEC_PUSH(&section->pictures) = report->picture;
        bool peak = strcmp(sections[i].key, "alive_at_peak") == 0;
        for (size_t t = 0; peak && t < report->timelines.count; t++)
            *VEC_PUSH(&section->timelines) = report->timelines.at[t];
        for (size_t f = 0; peak && f < report->flames.count; f++)
            *VEC_PUSH(&section->flames) = report->flames.at[f];
    }
}
