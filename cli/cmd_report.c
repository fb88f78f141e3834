/*
 * cmd_report.c - `tpa report`: all analyses on one page.
 *
 * The content is computed once, section by section, and then shown in the format given by the output's name: a page
 * (report/page.h), or all tables one after the other by the printers of every command.
 */
#include "base/parallel.h"
#include "treediff/tree_diff.h"
#include "charts/charts.h"
#include "cli/command_line.h"
#include "cli/parts.h"
#include "cli/sides.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/report/profile.h"
#include "cli/report/sections.h"
#include "memory/program_memory.h"
#include "profile/view.h"
#include "cli/report/snapshot.h"
#include "derive/features.h"
#include "job/job.h"
#include "summary/steps_over_time.h"
#include <sys/stat.h>

struct report_args {
    struct load_args load;
    struct selection_query selection;
    struct opt_list base, other;
    const char *sections, *path;
    int format;
    FILE *into; /* not an option: the page is written here instead of to PATH */
    int64_t min_change_ns, page_size, budget_bytes;
    const char *budget;
    struct opt_list forecasts;
    int64_t capacity;
};

static const struct report_args report_defaults = { .load = LOAD_DEFAULTS, .page_size = PAGE_BUDGET };

enum report_format { FORMAT_AUTO, FORMAT_HTML, FORMAT_MD, FORMAT_JSON };

static const struct opt_choice report_formats[] = {
    [FORMAT_AUTO] = { "auto", "what the name of the output ends in; html without a name", NULL },
    [FORMAT_HTML] = { "html", "one page that needs nothing else", NULL },
    [FORMAT_MD] = { "md", NULL, NULL },
    [FORMAT_JSON] = { "json", NULL, NULL },
    { 0 },
};

/* clang-format off */
static const struct opt report_opts[] = {
    OPT_GROUP("Report"),
    OPT_TEXT(0, "sections", struct report_args, sections, "NAMES",
             "only these, separated by commas: summary, steps, operators, modules, kernels, devices, gaps, transfers, "
             "launches, memory, communication, pipeline, fleet, timeline"),
    OPT_FILES(0, "base", struct report_args, base, "FILE", "comparison: files of the first side, up to the next option"),
    OPT_FILES(0, "new", struct report_args, other, "FILE", "comparison: files of the second side"),
    OPT_TIME(0, "min-change", struct report_args, min_change_ns, "TIME",
             "comparison: a smaller change of a time is no change"),
    OPT_SIZE(0, "page-size", struct report_args, page_size, "SIZE",
             "html: how large the page may be; what does not fit of the timeline is left out, the shortest events first"),
    OPT_TEXT(0, "budget", struct report_args, budget, "N",
             "json: print at most N tokens (2.5 bytes each), or a size such as 8kB; html: as --page-size"),
    OPT_LIST(0, "forecast", struct report_args, forecasts, "SIZE",
             "recordings at several sizes, FILE@batch=16: the peak of memory at this size; without it at twice and four times the largest"),
    OPT_SIZE(0, "capacity", struct report_args, capacity, "BYTES", "the same: does it fit, and which size does: 80GiB"),
    CAPTURE_OPTION(struct report_args, load),
    OPT_GROUP("Selection"),
    OPT_RANGES(0, "steps", struct report_args, selection.steps, "A..B", SELECTION_STEPS_HELP),
    OPT_TEXT(0, "range", struct report_args, selection.range, "A..B", SELECTION_RANGE_HELP),
    OPT_RANGES(0, "device", struct report_args, selection.devices, "N", "only these devices; what runs on the host stays"),
    OPT_RANGES(0, "rank", struct report_args, selection.ranks, "N", "only the files of these ranks"),
    OPT_GROUP("Output"),
    OPT_FILE('o', "output", struct report_args, path, "FILE",
             "write to FILE, which appears whole or not at all: .html, .md or .json"),
    OPT_CHOICE('f', "format", struct report_args, format, report_formats, "FORMAT", "what to write"),
    LOAD_OPTIONS(struct report_args, load),
    OPT_END,
};
/* clang-format on */

/* ---- words of options ---- */

static bool report_find_format(const struct report_args *args, enum report_format *format,
                               struct tpa_error *err)
{
    static const struct {
        const char *ending;
        enum report_format format;
    } endings[] = {
        { ".html", FORMAT_HTML },
        { ".htm", FORMAT_HTML },
        { ".md", FORMAT_MD },
        { ".json", FORMAT_JSON },
    };
    *format = (enum report_format)args->format;
    if (*format != FORMAT_AUTO)
        return true;
    *format = FORMAT_HTML;
    if (args->path == NULL || strcmp(args->path, "-") == 0)
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (text_ends_with(args->path, endings[i].ending)) {
            *format = endings[i].format;
            return true;
        }
    tpa_fail(err, TPA_NOWHERE, "cannot derive the form of the report from the name '%s'", args->path);
    return tpa_hint(err, "name an output that ends in .html, .md or .json, or say --format");
}

/* The set of sections, one bit each. False and ERR if one is unknown. */
static bool choose_sections(const char *list, uint64_t *chosen, struct tpa_error *err)
{
    *chosen = list ? 0 : UINT64_MAX;
    for (size_t len; list; list = list[len] ? list + len + 1 : NULL) {
        len = strcspn(list, ",");
        struct suggest near = suggest_for(list, len);
        uint64_t found = 0;
        for (size_t i = 0; report_sections()[i].key; i++) {
            suggest_consider(&near, report_sections()[i].key);
            if (strlen(report_sections()[i].key) == len && memcmp(report_sections()[i].key, list, len) == 0)
                found = UINT64_C(1) << i;
        }
        if (!found)
            return tpa_fail(err, TPA_NOWHERE, "there is no section '%.*s'%s%s%s", (int)len, list,
                            near.best ? "; did you mean " : "", near.best ? near.best : "",
                            near.best ? "?" : "");
        *chosen |= found;
    }
    return true;
}

/* ---- output ---- */

static bool write_page(const struct page *page, const struct report_args *args, struct tpa_error *err)
{
    struct output_file file;
    if (args->into)
        return page_write(page, args->into, err);
    if (!output_file_open(&file, args->path, err))
        return false;
    if (page_write(page, file.stream, err))
        return output_file_commit(&file, err);
    bool gone = file.path == NULL && output_reader_is_gone();
    output_file_discard(&file);
    if (gone)
        *err = (struct tpa_error){ 0 };
    return gone;
}

static bool report_print_all(struct result *result, enum report_format format, const struct report_args *args,
                             struct tpa_error *err)
{
    struct output_args output = { .path = args->path, .budget = args->budget_bytes };
    return output_result_with(printer_find(format == FORMAT_MD ? "md" : "json"), result, &output, err);
}

/* ---- a trace ---- */

/* The tables of all sections as one result: "gaps.causes" is the table "causes" of the section "gaps". */
static void move_tables(struct result *from, const char *section, bool shorten, struct result *to)
{
    enum { SHORT = 15 }; /* rows of a table in a text that is read from its begin to its end */
    for (size_t i = 0; i < from->tables.count; i++) {
        struct table *table = from->tables.at[i];
        table->key = arena_printf(&to->arena, "%s.%s", section, table->key);
        if (shorten && table->row_count > SHORT)
            table_truncate(table, SHORT);
        result_add_table(to, table);
    }
    from->tables.count = 0;
    FOR_EACH(notice, &from->notices)
        result_add_notice(to, notice->kind, notice->count, notice->file, notice->offset, "%s", notice->text);
}

/* Tables of the summary whose figures are also on the first screen or in other sections. */
static bool is_on_first_screen(const char *table)
{
    return strcmp(table, "overview") == 0 || strcmp(table, "operators") == 0;
}

static void add_section(struct page *page, const struct report_section *section,
                        const struct report_content *content)
{
    struct page_section *on_page = page_add_section(page, section->key, section->title, section->intro);
    const struct result *result = content->result;
    on_page->more = section->more;
    for (size_t i = 0; i < result->tables.count; i++)
        if (!result->answer || !is_on_first_screen(result->tables.at[i]->key))
            *VEC_PUSH(&on_page->tables) = result->tables.at[i];
    for (size_t i = 0; i < result->notices.count; i++)
        if (!result->answer || !result->notices.at[i].on_top)
            *VEC_PUSH(&on_page->notices) = result->notices.at[i];
    page->answer = result->answer ? result->answer : page->answer;
    if (content->picture->charts.count)
        *VEC_PUSH(&on_page->pictures) = content->picture;
    if (content->timeline)
        *VEC_PUSH(&on_page->timelines) = content->timeline;
}

/* The call trees of CONTENT as the last section but the notes. */
static void add_views(struct page *page, const struct report_content *content)
{
    if (!content->views || content->views->count == 0)
        return;
    struct page_section *section = page_add_section(
        page, "calls", "Call trees",
        "What called what. Click on a call for its time; double-click to zoom, n and p choose the next "
        "and the previous, 0 shows all.");
    for (size_t i = 0; i < content->views->count; i++)
        *VEC_PUSH(&section->flames) = content->views->at[i];
}

/* Let RESULT begin with the ranks that hold the job of FLEET up; steps are those of the first of them, of which one is drawn. */
static void add_fleet(struct result *result, const struct fleet *fleet, const struct trace *trace,
                      const struct selection *selection)
{
    fleet_add_answer(fleet, result->answer, &result->arena);
    if (result->answer->culprits.count == 0 || result->answer->steps.count == 0)
        return;
    SCOPED_OBJECT const struct account *account = account_open(trace, selection);
    if (account && account->has_steps)
        summary_add_steps(result->answer, trace, account, fleet->ranks.at[0].rank, &result->arena);
}

/* The page of a job begins with the ranks that hold it up. */
static void add_culprits(const struct page *page, const struct report_content *contents,
                         const struct trace *trace, const struct selection *selection)
{
    for (size_t i = 0; i < REPORT_MOST_SECTIONS; i++)
        for (size_t k = 0; contents[i].fleet && k < REPORT_MOST_SECTIONS; k++)
            if (contents[k].result && contents[k].result->answer &&
                contents[k].result->answer == page->answer)
                add_fleet(contents[k].result, contents[i].fleet, trace, selection);
}

/* Give each section the figure that the answer has for it. */
static void add_figures(struct page *page)
{
    for (size_t i = 0; page->answer && i < page->answer->figures.count; i++)
        for (size_t s = 0; s < page->sections.count; s++)
            if (strcmp(page->sections.at[s].key, page->answer->figures.at[i].section) == 0)
                page->sections.at[s].figure = page->answer->figures.at[i].text;
}

/* Drop empty parts, such as a timeline without events. */
static bool holds_anything(const struct report_content *content)
{
    return content->result &&
           (content->result->tables.count || content->result->notices.count ||
            content->picture->charts.count || content->timeline || (content->views && content->views->count));
}

/* Append a word of a shell's command line. */
static void add_word(struct buffer *out, const char *word)
{
    bool plain =
        *word != '\0' && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                           "-+_./,:@%=")] == '\0';
    if (plain) {
        buffer_puts(out, word);
        return;
    }
    buffer_putc(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buffer_puts(out, "'\\''");
        else
            buffer_putc(out, *word);
    buffer_putc(out, '\'');
}

/* "tpa WORD FILE... MORE". */
static const char *command_of_files(const char *word, const struct invocation *call, const char *more,
                                    struct arena *arena)
{
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "tpa %s", word);
    for (size_t i = 0; i < call->operand_count; i++) {
        buffer_putc(&text, ' ');
        add_word(&text, command_line_base_name(call->operands[i]));
    }
    buffer_puts(&text, more);
    return arena_strndup(arena, text.at, text.count);
}

/* Commands for what a page leaves out of TIMELINE: one that shows all of it, and one that writes a range of it, which is
 * appended, for Perfetto. */
static void set_commands(struct timeline *timeline, const struct invocation *call, struct arena *arena)
{
    timeline->viewer = command_of_files("view", call, "", arena);
    timeline->command = command_of_files("convert", call, " --range", arena);
}

/* "2 files, 1.2 s, NVIDIA H100 80GB HBM3". */
static char *report_own_describe(const struct trace *trace, struct arena *arena)
{
    SCOPED struct buffer text = { 0 };
    const struct trace_file *first = &trace->files[0];
    if (trace->file_count > 1)
        buffer_printf(&text, "%zu files, ", trace->file_count);
    buffer_printf(&text, "%s, %zu events", first->format, trace->event_count);
    if (first->devices.count)
        buffer_printf(&text, ", %s", first->devices.at[0].name);
    if (first->host_name)
        buffer_printf(&text, ", host %s", first->host_name);
    return arena_strndup(arena, text.at, text.count);
}

struct filling {
    const struct trace *trace;
    const struct selection *selection;
    uint64_t chosen;
    size_t count;
    struct report_content *contents;
    bool failed[REPORT_MOST_SECTIONS];
    struct tpa_error errors[REPORT_MOST_SECTIONS];
};

/* What takes longest begins first: the timeline and the summary, which are the first sections. */
static void fill_section(void *context, size_t i)
{
    struct filling *filling = context;
    const struct report_section *section = &report_sections()[i];
    if (!(filling->chosen >> i & 1) || section->needs & ~program_memory_features(filling->trace))
        return;
    filling->contents[i] = (struct report_content){ result_open("tpa.report/1"),
                                                    picture_open(section->key, section->title), NULL, NULL };
    filling->failed[i] =
        !report_fill(section, filling->trace, filling->selection, &filling->contents[i], &filling->errors[i]);
    load_gather_notices(filling->contents[i].result);
}

/* Sections share data derived from the trace, and are filled by several threads; the first failure is reported. */
static bool fill_sections(const struct trace *trace, const struct selection *selection, uint64_t chosen,
                          struct report_content *contents, struct tpa_error *err)
{
    struct filling filling = {
        .trace = trace, .selection = selection, .chosen = chosen, .contents = contents
    };
    while (report_sections()[filling.count].key)
        filling.count++;
    calltree_keep_order(trace);
    parallel_run(parallel_parts(trace->workers, trace->event_count), filling.count, fill_section, &filling);
    for (size_t i = 0; i < filling.count; i++) {
        if (!filling.failed[i])
            continue;
        *err = filling.errors[i];
        return false;
    }
    return true;
}

/* Add notices on missing data and sections, and about the trace. */
static void add_notes(const struct trace *trace, uint64_t chosen, struct result *notes)
{
    unsigned has = program_memory_features(trace);
    for (unsigned feature = 1; feature < 1u << FEATURE_COUNT; feature <<= 1) {
        SCOPED struct buffer names = { 0 };
        for (size_t i = 0; report_sections()[i].key; i++) {
            unsigned lacks = report_sections()[i].needs & ~has;
            if (chosen >> i & 1 && (lacks & (~lacks + 1)) == feature)
                buffer_printf(&names, "%s%s", names.count ? ", " : "", report_sections()[i].title);
        }
        if (names.count)
            ADD_NOTICE(notes, "missing", 0,
                       "the trace holds no %s, so there is nothing about %s; to record it, %s",
                       trace_feature_name((enum trace_feature)feature), names.at,
                       trace_feature_recipe(trace, (enum trace_feature)feature));
    }
    load_add_notices(trace, notes);
}

static void release_contents(struct report_content *contents)
{
    for (size_t i = 0; i < REPORT_MOST_SECTIONS; i++) {
        result_free(contents[i].result);
        picture_free(contents[i].picture);
        timeline_free(contents[i].timeline);
        views_free(contents[i].views);
        arena_free(contents[i].fleet);
        arena_free(contents[i].job);
        arena_free(contents[i].facts);
    }
}

static bool add_trace(const struct invocation *call, const struct trace *trace,
                      const struct selection *selection, uint64_t chosen, enum report_format format,
                      struct report_content *contents, struct tpa_error *err)
{
    const struct report_args *args = call->args;
    SCOPED_BY(result_free_at) struct result *notes = result_open("tpa.report/1");
    bool good;
    add_notes(trace, chosen, notes);
    if (format == FORMAT_HTML) {
        SCOPED_BY(page_release)
        struct page page = {
            .maker = "tpa report",
            .title = command_line_name_files(&notes->arena, (const char *const *)call->operands,
                                             call->operand_count),
            .budget = (size_t)args->page_size,
        };
        for (size_t i = 0; report_sections()[i].key; i++)
            if (contents[i].timeline)
                set_commands(contents[i].timeline, call, &notes->arena);
        for (size_t i = 0; report_sections()[i].key; i++)
            if (holds_anything(&contents[i]))
                add_section(&page, &report_sections()[i], &contents[i]);
        for (size_t i = 0; report_sections()[i].key; i++)
            add_views(&page, &contents[i]);
        add_figures(&page);
        add_culprits(&page, contents, trace, selection);
        if (!page.answer)
            page.subtitle = report_own_describe(trace, &notes->arena);
        if (notes->notices.count) {
            struct page_section *section =
                page_add_section(&page, "notes", "Notes", "What the trace lacks, and what was odd about it.");
            for (size_t i = 0; i < notes->notices.count; i++)
                *VEC_PUSH(&section->notices) = notes->notices.at[i];
        }
        good = write_page(&page, args, err);
    } else {
        SCOPED_BY(result_free_at) struct result *all = result_open("tpa.report/1");
        for (size_t i = 0; report_sections()[i].key; i++)
            if (contents[i].result)
                move_tables(contents[i].result, report_sections()[i].key, format == FORMAT_MD, all);
        move_tables(notes, "notes", false, all);
        good = report_print_all(all, format, args, err);
    }
    return good;
}

/* Reject options for traces if the file is WHAT; includes --device if DEVICE_TOO. */
static bool check_trace_options(const struct report_args *args, bool device_too, const char *what,
                                struct tpa_error *err)
{
    const struct selection_query *query = &args->selection;
    const char *option = args->sections                       ? "--sections"
                         : query->steps.count                 ? "--steps"
                         : query->range                       ? "--range"
                         : device_too && query->devices.count ? "--device"
                         : query->ranks.count                 ? "--rank"
                                                              : NULL;
    return !option || tpa_fail(err, TPA_NOWHERE, "%s is for traces; this is %s", option, what);
}

static bool report_snapshots(const struct invocation *call, const struct snapshots *snapshots,
                             enum report_format format, struct tpa_error *err)
{
    const struct report_args *args = call->args;
    if (!check_trace_options(args, false, "a snapshot of the allocator", err))
        return false;
    struct report_snapshot report;
    report_snapshot_make(snapshots, &args->selection.devices, &report);
    bool good;
    if (format == FORMAT_HTML) {
        SCOPED_BY(page_release)
        struct page page = {
            .maker = "tpa report",
            .title = command_line_base_name(call->operands[0]),
            .budget = (size_t)args->page_size,
        };
        report_snapshot_fill(&report, &page);
        good = write_page(&page, args, err);
    } else {
        good = report_print_all(report.result, format, args, err);
    }
    report_snapshot_release(&report);
    return good;
}

/* Of a Python profile, or of a report of actions. */
static bool report_sums(const struct invocation *call, const struct ingested *sums, enum report_format format,
                        struct tpa_error *err)
{
    const struct report_args *args = call->args;
    if (!check_trace_options(args, true, sums->profile ? "a Python profile" : "a report of actions", err))
        return false;
    struct report_profile report = { .result = result_open("tpa.report/1") };
    bool good = true;
    if (sums->profile)
        good = report_profile_make(sums->profile, &report, err);
    else
        actions_add_overview(report.result, sums->actions);
    if (good && format == FORMAT_HTML) {
        SCOPED_BY(page_release)
        struct page page = { .maker = "tpa report", .title = command_line_base_name(call->operands[0]) };
        report_profile_fill(&report, &page);
        good = write_page(&page, args, err);
    } else if (good) {
        good = report_print_all(report.result, format, args, err);
    }
    flame_free(report.flame);
    result_free(report.result);
    return good;
}

static bool report_trace(const struct invocation *call, enum report_format format, struct tpa_error *err)
{
    const struct report_args *args = call->args;
    uint64_t chosen;
    if (!choose_sections(args->sections, &chosen, err))
        return false;
    struct trace_wants wants = report_wants(chosen);
    struct ingested ingested;
    mem_keep_blocks(); /* saves half of the page faults, for 6 % more memory */
    if (!load_any(call, &args->load, &wants, &ingested, err))
        return false;
    if (ingested.snapshots.of.count) {
        bool shown = report_snapshots(call, &ingested.snapshots, format, err);
        ingested_free(&ingested);
        return shown;
    }
    if (ingested.profile || ingested.actions) {
        bool shown = report_sums(call, &ingested, format, err);
        ingested_free(&ingested);
        return shown;
    }
    SCOPED_BY(trace_free_at) struct trace *trace = ingested_trace(&ingested, call->operands[0], err);
    if (!trace)
        return false;
    SCOPED_OBJECT struct selection *selection =
        file_set_check_job(trace, err) ? selection_open(trace, &args->selection, err) : NULL;
    struct report_content contents[REPORT_MOST_SECTIONS] = { 0 };
    bool good = selection && fill_sections(trace, selection, chosen, contents, err) &&
                add_trace(call, trace, selection, chosen, format, contents, err);
    release_contents(contents);
    return good;
}

/* ---- two sides ---- */

static const char *name_side(const struct sides_found *found, int side, struct arena *arena)
{
    return command_line_name_files(arena, found->paths[side], found->counts[side]);
}

/* The timelines of both sides as a section of PAGE: each of the first file, with the command that writes a range of it. */
static void add_timelines(struct page *page, struct timeline *const timelines[2],
                          const struct sides_found *found, struct arena *arena)
{
    if (!timelines[0] && !timelines[1])
        return;
    struct page_section *section = page_add_section(
        page, "timeline", "Timelines of both sides",
        "What ran when, before and after. Rows of tables lead to the longest of their events on each "
        "side. Click on anything for its details; drag to move, Ctrl and the wheel to zoom.");
    for (int side = 0; side < 2; side++) {
        struct timeline *timeline = timelines[side];
        if (!timeline)
            continue;
        char *path = (char *)(uintptr_t)found->paths[side][0];
        timeline->title =
            arena_printf(arena, "%s: %s%s", side ? "After" : "Before", command_line_base_name(path),
                         found->counts[side] > 1 ? ", the first of its side" : "");
        set_commands(timeline, &(struct invocation){ .operands = &path, .operand_count = 1 }, arena);
        *VEC_PUSH(&section->timelines) = timeline;
    }
}

/* Print the page, or the tables, of a comparison. */
static bool add_diff(const struct diff *diff, struct result *result, const struct sides_found *found,
                     struct timeline *const timelines[2], const struct report_args *args,
                     enum report_format format, struct tpa_error *err)
{
    if (format != FORMAT_HTML)
        diff_add_verdict(diff, result);
    diff_add_tables(diff, result);
    if (format != FORMAT_HTML)
        return report_print_all(result, format, args, err);
    struct picture *picture = picture_open("diff", "Comparison");
    chart_diff(picture, diff, 15);
    const char *names[2] = { name_side(found, 0, &result->arena), name_side(found, 1, &result->arena) };
    diff_add_answer(diff, result);
    SCOPED_BY(page_release)
    struct page page = {
        .maker = "tpa report",
        .title = arena_printf(&result->arena, "%s against %s", names[1], names[0]),
        .budget = (size_t)args->page_size,
    };
    page_add_result(&page, result);
    struct page_section *head = &page.sections.at[0]; /* a comparison has a table, or it failed */
    head->intro =
        "All figures are means per sample, as a step is. The verdict comes from the spread over the "
        "samples: slower and faster are real changes, same is no significant change, "
        "unsure means too few samples.";
    head->more = "tpa diff";
    if (picture->charts.count)
        *VEC_PUSH(&head->pictures) = picture;
    add_timelines(&page, timelines, found, &result->arena);
    bool good = write_page(&page, args, err);
    picture_free(picture);
    return good;
}

/* The call trees of traces side by side; nothing if a side has no operators. */
static void add_trees(struct work_tree *const trees[2], int64_t min_change_ns, struct result *result)
{
    work_tree_finish(trees[0]);
    work_tree_finish(trees[1]);
    if (!trees[0]->operators || !trees[1]->operators)
        return;
    SCOPED_OBJECT struct tree_diff *diff = tree_diff_open(trees[0], trees[1], min_change_ns);
    result->twins = tree_twins(diff, TWIN_ROWS_OF_PAGE);
}

static bool report_sides(const struct invocation *call, enum report_format format, struct tpa_error *err)
{
    const struct report_args *args = call->args;
    struct sides_found found;
    if (!sides_find(call, &args->base, &args->other, &found, err))
        return false;
    SCOPED_OBJECT struct names *names = names_open();
    struct work_tree *trees[2] = { work_tree_open(names), work_tree_open(names) };
    struct timeline *timelines[2] = { NULL, NULL };
    struct sides_options options = { .measure = { .by = MEASURE_BY_OPERATOR },
                                     .trees = format == FORMAT_HTML ? trees : NULL,
                                     .timelines = format == FORMAT_HTML ? timelines : NULL };
    struct measures *sides[2] = { NULL, NULL };
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.report/1");
    struct diff *diff = NULL;
    if (sides_measure(call, &args->load, &found, &options, sides, result, err))
        diff = diff_open(sides[0], sides[1], &(struct diff_options){ .min_change_ns = args->min_change_ns },
                         err);
    if (diff)
        add_trees(trees, args->min_change_ns, result);
    bool good = diff && add_diff(diff, result, &found, timelines, args, format, err);
    EACH(timeline_free, timelines[0], timelines[1]);
    arena_free(diff);
    EACH(arena_free, trees[0], trees[1]);
    EACH(arena_free, sides[0], sides[1]);
    return good;
}

/* ---- recordings at several sizes ---- */

/* Are the operands recordings with their sizes? A file of such a name is a file. */
static bool report_forecasts(const struct invocation *call)
{
    struct stat about;
    return forecast_files_are_sized(call) && stat(call->operands[0], &about) != 0;
}

static bool add_forecast(const struct invocation *call, struct forecast_query *query, struct result *result,
                         struct picture *picture, struct tpa_error *err)
{
    const struct report_args *args = call->args;
    const char *larger[2] = { NULL, NULL };
    const char *const *targets = args->forecasts.at;
    size_t count = args->forecasts.count;
    if (!forecast_files_read(call, &args->load, query, err) || !forecast_prepare(query, err))
        return false;
    for (size_t i = 0; i < 2 && args->forecasts.count == 0; i++) {
        larger[i] = forecast_larger(query, i ? 4 : 2);
        targets = larger;
        count += larger[i] != NULL;
    }
    return forecast_answer(query, targets, count, args->capacity, result, err) &&
           forecast_draw(query, targets, count, args->capacity, picture, err);
}

/* The peak at other sizes: the tables of tpa memory --forecast and the chart. */
static bool report_forecast(const struct invocation *call, enum report_format format, struct tpa_error *err)
{
    const struct report_args *args = call->args;
    SCOPED_BY(forecast_query_release) struct forecast_query query = { .texts = forecast_texts_open() };
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.report/1");
    struct picture *picture = picture_open("forecast", "Forecast");
    bool good = check_trace_options(args, true, "a forecast of recordings at several sizes", err) &&
                add_forecast(call, &query, result, picture, err);
    if (good && format == FORMAT_HTML) {
        SCOPED_BY(page_release)
        struct page page = { .maker = "tpa report",
                             .title = command_line_name_files(
                                 &result->arena, (const char *const *)call->operands, call->operand_count),
                             .budget = (size_t)args->page_size,
                             .subtitle = result->notices.count ? result->notices.at[0].text : NULL };
        page_add_result(&page, result);
        struct page_section *head = &page.sections.at[0]; /* it has the table of forecasts */
        head->intro =
            "Allocations of the recordings are matched, the growth of each is found, and their order is "
            "replayed at the other size.";
        head->more = "tpa memory --forecast";
        *VEC_PUSH(&head->pictures) = picture;
        good = write_page(&page, args, err);
    } else if (good) {
        good = report_print_all(result, format, args, err);
    }
    picture_free(picture);
    return good;
}

/* Reject options without effect: those for a comparison, or for one trace. */
static bool report_check_options(const struct report_args *args, bool compare, struct tpa_error *err)
{
    const struct selection_query *query = &args->selection;
    const char *option = !compare                    ? args->min_change_ns ? "--min-change" : NULL
                         : args->sections            ? "--sections"
                         : query->steps.count        ? "--steps"
                         : query->range              ? "--range"
                         : query->devices.count      ? "--device"
                         : query->ranks.count        ? "--rank"
                         : args->load.captures.count ? "--capture"
                                                     : NULL;
    if (!option)
        return true;
    if (compare)
        return tpa_fail(err, TPA_NOWHERE, "%s is for one trace; a comparison is of all that its sides hold",
                        option);
    tpa_fail(err, TPA_NOWHERE, "%s is for a comparison of two sides", option);
    return tpa_hint(err, "tpa report BASE NEW -o compare.html");
}

/* Is PATH a file or a folder, so that it can be read twice? */
static bool can_be_read_twice(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

/* Are the two operands one job, by evidence in their files? Reads them without arguments of events. False if they are no traces,
 * are one recording twice, or cannot be read, which is reported when they are compared. */
static bool are_one_job(const struct invocation *call, const struct report_args *args)
{
    struct load_args load = args->load;
    struct ingested ingested = { 0 };
    struct tpa_error ignored = { 0 };
    load.results = true;
    load.captures = (struct opt_list){ 0 };
    if (ANY(i, call->operand_count, !can_be_read_twice(call->operands[i])))
        return false;
    if (!load_any(call, &load, &(struct trace_wants){ 0 }, &ingested, &ignored))
        return false;
    const struct file_set *set = ingested.trace ? file_set_of(ingested.trace) : NULL;
    bool one = set && file_set_is_sure(set) && !file_set_has_copies(set);
    ingested_free(&ingested);
    return one;
}

/* Are two sides compared, rather than one job described? */
static bool report_compares(const struct invocation *call, const struct report_args *args)
{
    if (args->base.count || args->other.count)
        return true;
    if (call->operand_count != 2 || args->load.files_are == TRACE_FILES_ARE_JOB)
        return false;
    return args->load.files_are != TRACE_FILES_AS_FOUND || !are_one_job(call, args);
}

/* --budget: of JSON that of every command, and of HTML the older word for --page-size. */
static bool read_budget(struct report_args *args, enum report_format format, struct tpa_error *err)
{
    if (!args->budget)
        return true;
    size_t len = strlen(args->budget);
    if (format == FORMAT_HTML && quantity_parse_size(args->budget, len, &args->page_size))
        return true;
    if (format != FORMAT_HTML && opt_budget.parse(NULL, args->budget, &args->budget_bytes))
        return true;
    tpa_fail(err, TPA_NOWHERE, "--budget takes %s, not '%s'",
             format == FORMAT_HTML ? "a size such as 8MB" : opt_budget.expects, args->budget);
    return tpa_in_option(err, "budget");
}

static int report_main(const struct invocation *typed, struct tpa_error *err)
{
    struct report_args read = *(const struct report_args *)typed->args, *args = &read;
    struct invocation own = *typed, *call = &own;
    enum report_format format;
    own.args = args;
    if (!report_find_format(args, &format, err) ||
        !read_budget(args, format, err)) /* before the work, not after it */
        return EXIT_TROUBLE;
    bool forecast = report_forecasts(call), compare = !forecast && report_compares(call, args);
    if (!forecast && (args->forecasts.count || args->capacity)) {
        tpa_fail(err, TPA_NOWHERE, "--%s is for recordings with their sizes",
                 args->capacity ? "capacity" : "forecast");
        tpa_hint(err, "tpa report a.pickle@batch=16 b.pickle@batch=32 -o fits.html");
        return EXIT_TROUBLE;
    }
    if (!compare && call->operand_count == 0) {
        tpa_fail(err, TPA_NOWHERE, "one trace, the ranks of a job, or two sides to compare are needed");
        tpa_hint(err, "tpa report TRACE -o report.html; tpa report BASE NEW -o compare.html");
        return EXIT_TROUBLE;
    }
    if (!report_check_options(args, compare, err))
        return EXIT_TROUBLE;
    bool good = forecast  ? report_forecast(call, format, err)
                : compare ? report_sides(call, format, err)
                          : report_trace(call, format, err);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

bool report_page(char **traces, size_t count, const struct load_args *load, FILE *into, struct tpa_error *err)
{
    struct report_args args = report_defaults;
    args.load = *load;
    args.into = into;
    struct invocation call = {
        .command = &cmd_report, .args = &args, .operands = traces, .operand_count = count
    };
    bool compare = report_compares(&call, &args);
    return compare ? report_sides(&call, FORMAT_HTML, err) : report_trace(&call, FORMAT_HTML, err);
}

const struct command cmd_report = {
    .name = "report",
    .summary = "all of it on one page that can be forwarded: HTML, Markdown or JSON",
    .operands = "[TRACE...]",
    .description =
        "One HTML file that needs no network and no other file. It has the summary with its findings, then steps, "
        "operators, kernels, devices, gaps, transfers, memory and communication, each with charts and a table that sorts, "
        "filters and copies. A timeline and a call tree show the slowest and the median step, to zoom into with mouse "
        "and keyboard. What the trace does not hold is left out, and the notes say how to record it.\n\n"
        "Two runs make a comparison: what changed from the first to the second, and whether it is real. The "
        "ranks of a job and the cycles of its profiler, however many files they are, make one page (tpa info tells what the "
        "files are, and --as overrules it); a section of its own says which rank holds the job up and why. The output's name decides what is written: .html, .md or .json.",
    .options = report_opts,
    COMMAND_ARGS(report_defaults),
    .main = report_main,
    .examples = {
        "tpa report trace.json -o report.html",
        "tpa report baseline.json optimized.json -o compare.html",
        "tpa report --sections summary,gaps,timeline -o gaps.html trace.json",
        "tpa report --steps 3..7 runs/today/ -o report.html  # a directory of ranks",
        "tpa report trace.json -o report.md  # for an issue",
        "tpa report --capacity 80GiB -o fits.html a.pickle@batch=16 b.pickle@batch=32",
    },
    .section = SECTION_SHOW,
    .reads_profiles = true,
    .reads_actions = true,
    .reads_snapshots = true,
    .reads_traces = true,
};
