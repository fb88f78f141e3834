#include "memory/snapshot_analysis.h"

#include <inttypes.h>
#include <math.h>

/* The state of filling the answer. */
struct screen {
    const struct snapshot_answers *answers;
    const struct device_row *device;
    const struct oom_row *oom; /* the first on the device; NULL: none */
    struct answer *answer;
    struct arena *arena;
};

static const char *bytes_text(const struct screen *screen, int64_t bytes)
{
    return arena_printf(screen->arena, "%s", SIZE_TEXT(bytes));
}

static const char *tally_text(const struct screen *screen, int64_t count)
{
    return arena_printf(screen->arena, "%s", TALLY_TEXT(count));
}

static const char *device_text(const struct screen *screen)
{
    return screen->device->device == TABLE_INT_MISSING
               ? "pinned host memory"
               : arena_printf(screen->arena, "device %s", screen->device->name.at);
}

static bool is_of_device(const struct screen *screen, const char *file, int64_t device)
{
    return file == screen->device->file.at && device == screen->device->device;
}

static bool has_peak(const struct device_row *row)
{
    return row->allocated_peak != TABLE_INT_MISSING;
}

static int64_t most_of(const struct device_row *row)
{
    return has_peak(row) ? row->allocated_peak : row->sums.allocated;
}

/* The device of the first OOM, else the one with the highest peak; NULL if there is none. */
static void choose_device(struct screen *screen)
{
    const struct snapshot_answers *answers = screen->answers;
    screen->oom = answers->ooms.rows.count ? &answers->ooms.rows.at[0] : NULL;
    FOR_EACH(row, &answers->devices.rows) {
        if (screen->oom && (row->device != screen->oom->device || row->file.at != screen->oom->file.at))
            continue;
        if (!screen->device || most_of(row) > most_of(screen->device))
            screen->device = row;
    }
}

/* Less than this share of the peak is not worth naming. */
static const double worth_it = 0.2;

/* "optimizer.py:78:step" of "/home/u/job/optimizer.py:78:step". */
static const char *without_folders(const char *line)
{
    const char *name = line;
    for (const char *at = line; *at && *line != '['; at++)
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    return name;
}

/* ---- verdict and facts ---- */

static const char *oom_sentence(const struct screen *screen)
{
    const struct oom_row *oom = screen->oom;
    const char *in_use = arena_printf(
        screen->arena, "Out of memory on %s: %s were requested when %s were in use", device_text(screen),
        bytes_text(screen, oom->request), bytes_text(screen, oom->allocated));
    return oom->missing > 0
               ? arena_printf(screen->arena, "%s; %s are missing.", in_use, bytes_text(screen, oom->missing))
               : arena_printf(screen->arena, "%s: %s.", in_use, oom->verdict.at);
}

/* The line of code with the most memory at the peak; NULL: no line holds much of it. */
static const struct in_use_row *holder_of(const struct screen *screen)
{
    FOR_EACH(row, &screen->answers->in_use)
        if (is_of_device(screen, row->file.at, row->device) && row->share >= worth_it && *row->name.at != '[')
            return row;
    return NULL;
}

/* What was there before recording began, which has no line; NULL: it is not much of the peak. */
static const struct in_use_row *old_of(const struct screen *screen)
{
    FOR_EACH(row, &screen->answers->in_use) {
        if (is_of_device(screen, row->file.at, row->device) && row->share >= worth_it &&
            strcmp(row->name.at, alive_before_recording) == 0)
            return row;
    }
    return NULL;
}

/* Of the device; NULL: nothing grows with every step. */
static const struct leak_row *leak_of(const struct screen *screen)
{
    return FIND(leak, &screen->answers->leaks.rows, is_of_device(screen, leak->file.at, leak->device));
}

static const char *verdict_of(const struct screen *screen)
{
    const struct device_row *row = screen->device;
    if (screen->oom)
        return oom_sentence(screen);
    if (!has_peak(row) && row->sums.reserved == 0)
        return arena_printf(
            screen->arena,
            "Nothing was allocated on %s when the snapshot was taken; no history was recorded.",
            device_text(screen));
    if (!has_peak(row))
        return arena_printf(
            screen->arena,
            "%s of %s were allocated on %s when the snapshot was taken; no history was recorded.",
            bytes_text(screen, row->sums.allocated), bytes_text(screen, row->sums.reserved),
            device_text(screen));
    const char *when = row->peak_scope.len ? arena_printf(screen->arena, "in %s", row->peak_scope.at)
                       : row->peak_entry < 0
                           ? "before the first entry"
                           : arena_printf(screen->arena, "after entry %" PRId64, row->peak_entry);
    const struct in_use_row *holder = holder_of(screen), *old = old_of(screen);
    const struct leak_row *leak = leak_of(screen);
    if (leak)
        return arena_printf(screen->arena,
                            "Memory in use grows by %s with every step; the peak of %s is %s, %s.",
                            bytes_text(screen, leak->slope), device_text(screen),
                            bytes_text(screen, row->allocated_peak), when);
    if (!holder && old)
        return arena_printf(
            screen->arena,
            "%.1f %% of the peak of %s was there before recording began; the peak of %s is %s.",
            quantity_percent(old->share), bytes_text(screen, row->allocated_peak), device_text(screen), when);
    if (!holder)
        return arena_printf(screen->arena, "The peak of %s is %s, %s.", device_text(screen),
                            bytes_text(screen, row->allocated_peak), when);
    return arena_printf(screen->arena, "%s holds %.1f %% of the peak of %s; the peak of %s is %s.",
                        without_folders(holder->name.at), quantity_percent(holder->share),
                        bytes_text(screen, row->allocated_peak), device_text(screen), when);
}

static void add_fact(const struct screen *screen, const char *label, const char *text)
{
    *VEC_PUSH(&screen->answer->facts) = (struct answer_fact){ label, text };
}

/* The file of the outermost frame of a script in STACK; NAME_NONE: it has none. */
static name_id script_of(const struct snapshot *snapshot, const struct snapshot_stack *stack)
{
    for (uint32_t i = stack->count; i-- > 0;) {
        const struct snapshot_frame *frame =
            &snapshot->frames.at[snapshot->stack_frames.at[stack->first + i]];
        if (frame->file != NAME_NONE && frame->function != NAME_NONE &&
            strcmp(names_text(snapshot->names, frame->function), "<module>") == 0 &&
            !strstr(names_text(snapshot->names, frame->file), "runpy"))
            return frame->file;
    }
    return NAME_NONE;
}

/* The script that most stacks of the first snapshot began in, without its folders. */
static const char *program_text(const struct screen *screen)
{
    const struct snapshot *snapshot = screen->answers->replays.at[0]->snapshot;
    SCOPED size_t *stacks = mem_zalloc(names_count(snapshot->names) + 1, sizeof *stacks);
    name_id most = NAME_NONE;
    for (size_t i = 0; i < snapshot->stacks.count; i++) {
        name_id file = script_of(snapshot, &snapshot->stacks.at[i]);
        if (file != NAME_NONE && (++stacks[file], most == NAME_NONE || stacks[file] > stacks[most]))
            most = file;
    }
    return most == NAME_NONE ? "not recorded" : without_folders(names_text(snapshot->names, most));
}

static void add_facts(const struct screen *screen)
{
    const struct device_row *row = screen->device;
    add_fact(screen, "Program", program_text(screen));
    add_fact(screen, "Written by", "PyTorch memory snapshot");
    if (screen->answers->devices.rows.count > 1) /* the figures are for this one */
        add_fact(screen, "Device", row->device == TABLE_INT_MISSING ? "host" : row->name.at);
    if (has_peak(row)) {
        add_fact(screen, "Allocated peak", bytes_text(screen, row->allocated_peak));
        add_fact(screen, "Reserved peak", bytes_text(screen, row->reserved_peak));
        add_fact(screen, "Entries", tally_text(screen, row->entries));
    }
    add_fact(screen, "Allocated at the end", bytes_text(screen, row->sums.allocated));
    add_fact(screen, "Reserved at the end", bytes_text(screen, row->sums.reserved));
}

static void add_bar(const struct screen *screen)
{
    enum { LINES = 5 };
    static const enum chart_color colors[LINES] = { CHART_BLUE, CHART_ORANGE, CHART_GREEN, CHART_PURPLE,
                                                    CHART_SKY };
    struct answer_bar bar = { .length = 1 };
    int64_t all = 0, rest = 0;
    for (size_t i = 0; i < screen->answers->in_use.count; i++)
        if (is_of_device(screen, screen->answers->in_use.at[i].file.at, screen->answers->in_use.at[i].device))
            all += screen->answers->in_use.at[i].bytes;
    for (size_t i = 0; i < screen->answers->in_use.count && all > 0; i++) {
        const struct in_use_row *row = &screen->answers->in_use.at[i];
        if (!is_of_device(screen, row->file.at, row->device))
            continue;
        if (bar.parts.count == LINES || row->share < 0.005) {
            rest += row->bytes;
            continue;
        }
        enum chart_color color = colors[bar.parts.count];
        *VEC_PUSH(&bar.parts) = (struct answer_part){ .title = without_folders(row->name.at),
                                                      .figure = bytes_text(screen, row->bytes),
                                                      .share = (double)row->bytes / (double)all,
                                                      .color = color,
                                                      .section = "alive_at_peak",
                                                      .name = row->name.at };
    }
    if (rest > 0)
        *VEC_PUSH(&bar.parts) = (struct answer_part){ .title = "other lines",
                                                      .figure = bytes_text(screen, rest),
                                                      .share = (double)rest / (double)all,
                                                      .color = CHART_COLOR_OF_OTHER,
                                                      .section = "alive_at_peak" };
    screen->answer->bars_title = arena_printf(screen->arena, "What held %s at the peak of %s",
                                              bytes_text(screen, all), device_text(screen));
    screen->answer->curve_of = device_text(screen);
    if (bar.parts.count)
        *VEC_PUSH(&screen->answer->bars) = bar;
}

/* ---- findings ---- */

/* Is what is missing more than all that is in use, so that no freeing of it would help? */
static bool oom_is_of_request(const struct oom_row *oom)
{
    return oom->kind == OOM_OUT_OF_MEMORY && oom->missing > oom->allocated;
}

/* How what is missing at SCREEN's oom could be there: how many blocks of the line that holds most, where the peak is about as high as what was
 * in use then, and how much smaller a batch. */
static const char *advise_less(const struct screen *screen)
{
    const double about = 0.9;
    const struct oom_row *oom = screen->oom;
    const struct in_use_row *holder = holder_of(screen);
    bool at_peak = (double)oom->allocated >= about * (double)most_of(screen->device);
    double smaller = ceil(100 * (double)oom->missing / (double)(oom->allocated + oom->request));
    if (!holder || !at_peak || holder->bytes < oom->missing)
        return arena_printf(
            screen->arena,
            "%s of what is in use must be free by then: make the batch %.0f %% smaller, if all "
            "that is in use grows with it.",
            bytes_text(screen, oom->missing), smaller);
    int64_t blocks = (int64_t)ceil((double)oom->missing / ((double)holder->bytes / (double)holder->count));
    return arena_printf(
        screen->arena,
        "Free %s%s by then, or make the batch %.0f %% smaller; torch.utils.checkpoint computes again what a "
        "backward pass needs, and so much smaller a batch is enough if all that is in use grows with it.",
        holder->count == 1
            ? "the block of "
            : arena_printf(screen->arena, "%" PRId64 " of the %" PRId64 " blocks of ", blocks, holder->count),
        without_folders(holder->name.at), smaller);
}

static const char *oom_advice(const struct screen *screen)
{
    const struct oom_row *oom = screen->oom;
    if (oom_is_of_request(oom))
        return arena_printf(screen->arena,
                            "One request of %s: to free all %s in use would not make room for it. Check its "
                            "sizes, or make it in parts.",
                            bytes_text(screen, oom->request), bytes_text(screen, oom->allocated));
    switch (oom->kind) {
    case OOM_FRAGMENTATION:
    case OOM_SPREAD:
        return "There is room, but not in one piece: set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
    case OOM_OTHER_POOL:
        return "The free block is of another pool or stream, and cannot be used for this one.";
    case OOM_OUT_OF_MEMORY: return oom->missing > 0 ? advise_less(screen) : NULL;
    case OOM_UNKNOWN: break;
    }
    return NULL;
}

/* Is there enough memory, but in pieces that are too small? */
static bool oom_is_of_pieces(const struct oom_row *oom)
{
    return oom->kind == OOM_FRAGMENTATION || oom->kind == OOM_SPREAD;
}

static const char *oom_action(const struct screen *screen)
{
    const char *line = screen->oom->line.len ? without_folders(screen->oom->line.at) : "that moment";
    if (oom_is_of_pieces(screen->oom))
        return "Let the allocator join segments";
    if (oom_is_of_request(screen->oom))
        return arena_printf(screen->arena, "Request less at once at %s", line);
    return arena_printf(screen->arena, "Free %s before %s",
                        screen->oom->missing > 0 ? bytes_text(screen, screen->oom->missing) : "memory", line);
}

static void add_oom(const struct screen *screen)
{
    const struct oom_row *oom = screen->oom;
    size_t count = screen->answers->ooms.rows.count;
    *VEC_PUSH(&screen->answer->findings) = (struct answer_finding){
        .title = arena_printf(screen->arena, "out of memory: %s", oom->verdict.at),
        .saves = oom->missing > 0
                     ? arena_printf(screen->arena, "%s are missing%s", bytes_text(screen, oom->missing),
                                    count > 1 ? " at the first time" : "")
                     : arena_printf(screen->arena, "%s free in segments, the largest piece %s",
                                    bytes_text(screen, oom->inactive), bytes_text(screen, oom->largest_free)),
        .action = oom_action(screen),
        .code = oom_is_of_pieces(oom) ? "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" : NULL,
        .where = oom->line.at,
        .advice = oom_advice(screen),
        .section = "ooms",
        .command = "tpa memory --at oom",
    };
}

static void add_leak(const struct screen *screen)
{
    const struct leak_row *leak = leak_of(screen);
    if (!leak)
        return;
    *VEC_PUSH(&screen->answer->findings) = (struct answer_finding){
        .title = "memory in use grows with every step",
        .action = "Let go of what each step keeps",
        .saves = arena_printf(screen->arena, "%s a step, on average of %" PRId64,
                              bytes_text(screen, leak->slope), leak->steps),
        .where = leak->line.at,
        .advice =
            "Something keeps what each step makes: a list of losses with their graphs is the usual one.",
        .section = "leaks",
        .command = "tpa memory --table leaks",
    };
}

/* The line with the most memory at the peak; memory from before recording has no line, and is mentioned as well. */
static void add_holders(const struct screen *screen)
{
    bool line = false, before = false;
    FOR_EACH(row, &screen->answers->in_use) {
        bool old = strcmp(row->name.at, alive_before_recording) == 0;
        if (!is_of_device(screen, row->file.at, row->device) ||
            row->share < (before ? worth_it / 2 : worth_it) || (old ? before : line))
            continue; /* beside what has no line, a smaller one is worth naming */
        bool named = *row->name.at != '[';
        *(old ? &before : &line) = true;
        *VEC_PUSH(&screen->answer->findings) = (struct answer_finding){
            .title = old     ? "much of the peak was there before recording began"
                     : named ? "one line of code holds much of the peak"
                             : "much of the peak was recorded without a stack",
            .action = old     ? "Record from the beginning"
                      : named ? arena_printf(screen->arena, "Hold less in %s", without_folders(row->name.at))
                              : "Record stacks",
            .code = old     ? "torch.cuda.memory._record_memory_history()"
                    : named ? NULL
                            : "torch.cuda.memory._record_memory_history(stacks=\"all\")",
            .saves = old || !named
                         ? arena_printf(screen->arena, "gain not known: %s, %.1f %% of the peak",
                                        bytes_text(screen, row->bytes), quantity_percent(row->share))
                         : arena_printf(screen->arena,
                                        "frees up to %s, %.1f %% of the peak, in %" PRId64 " block%s",
                                        bytes_text(screen, row->bytes), quantity_percent(row->share),
                                        row->count, row->count == 1 ? "" : "s"),
            .where = named ? row->name.at : NULL,
            .advice =
                old ? "Call torch.cuda.memory._record_memory_history() before the model is made to see by what."
                : named ? "Make it smaller, free it earlier, or compute it again when it is needed "
                          "(torch.utils.checkpoint)."
                        : NULL,
            .section = "alive_at_peak",
            .command = "tpa memory --table alive_at_peak",
        };
    }
}

static void add_idle(const struct screen *screen)
{
    const struct segment_sums *sums = &screen->device->sums;
    const int64_t least = INT64_C(64) << 20;
    int64_t returned = sums->inactive_whole + sums->free_pages;
    if (sums->inactive < least || sums->inactive < sums->reserved / 5 ||
        (screen->oom && !oom_is_of_pieces(screen->oom))) /* which came for want of memory, not of pieces */
        return;
    *VEC_PUSH(&screen->answer->findings) = (struct answer_finding){
        .title = "at the end the allocator keeps memory that nothing uses",
        .action = "Return memory that nothing uses",
        .code = "torch.cuda.empty_cache()",
        .saves = arena_printf(screen->arena, "returns %s at the end, not at the peak",
                              bytes_text(screen, returned)),
        .where = arena_printf(screen->arena, "the largest free block has %s",
                              bytes_text(screen, sums->largest_free)),
        .advice = arena_printf(
            screen->arena,
            "Nothing uses %s of the %s reserved; torch.cuda.empty_cache() returns whole segments.",
            bytes_text(screen, sums->inactive), bytes_text(screen, sums->reserved)),
        .section = "fragmentation",
        .command = "tpa memory --table fragmentation",
    };
}

void snapshot_fill_first_screen(const struct snapshot_answers *answers, struct result *result)
{
    struct screen screen = { .answers = answers, .arena = &result->arena };
    choose_device(&screen);
    if (!screen.device)
        return;
    screen.answer = result_answer(result);
    screen.answer->verdict = verdict_of(&screen);
    screen.answer->findings_title = "What stands out";
    screen.answer->nothing = "Nothing stands out: no line holds much of the peak, and no memory lies idle.";
    add_facts(&screen);
    if (has_peak(screen.device))
        add_bar(&screen);
    if (screen.oom)
        add_oom(&screen);
    add_leak(&screen);
    if (has_peak(screen.device))
        add_holders(&screen);
    add_idle(&screen);
}
