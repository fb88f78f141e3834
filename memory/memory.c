/* Everything is computed device by device; memory.h lists the parts. */
#include "memory/memory.h"

#include "analyze/many_rows.h"
#include "memory/program_memory.h"
#include "derive/callers.h"
#include "derive/features.h"
#include "derive/file_set.h"

const struct trace_wants memory_wants = { .args = MEMORY_RECORDS_WANTS | CALLERS_WANTS, .programs = true };
const struct trace_wants memory_code_wants = { .args =
                                                   MEMORY_RECORDS_WANTS | CALLERS_WANTS | CODE_PATHS_WANTS,
                                               .programs = true };

/* Missing data of the files, and failed allocations. */
static void count_notices(const struct memory_query *query)
{
    struct memory *memory = query->memory;
    const struct trace *trace = query->trace;
    FOR_EACH_OF(device, query->records->devices, query->records->device_count) {
        bool timeline = device->has_categories && !device->has_totals && !device->has_addresses;
        memory->timelines += timeline;
        memory->without_totals += device->has_totals || timeline ? 0 : device->count;
        memory->without_addresses += device->has_addresses || timeline ? 0 : device->count;
        memory->lost_frees += device->lost_frees;
    }
    name_id out_of_memory = names_find(trace->names, "[OutOfMemory]", strlen("[OutOfMemory]"));
    for (event_id e = 0; e < trace->event_count && out_of_memory != NAME_NONE; e++)
        memory->failures += trace->name[e] == out_of_memory && selection_holds_place(query->selection, e);
    memory->lacks_stacks = memory->paths && !(trace_features(trace) & FEATURE_STACKS);
    memory->lacks_steps = memory->by == MEMORY_BY_STEP && query->steps->count == 0;
}

/* Is this memory selected? Memory of the host, or of an unknown device, always is. */
static bool is_wanted(const struct memory_options *options, const struct memory_device *device)
{
    return memory_is_host(device) || device->type == MEMORY_TYPE_UNKNOWN ||
           ranges_hold(&options->devices, device->id);
}

static void memory_own_add_device(const struct memory_query *query, struct memory_board *board,
                                  const struct memory_device *device)
{
    struct memory *memory = query->memory;
    if (!is_wanted(query->options, device) || !memory_add_peak(query, device))
        return;
    uint32_t peak = memory->peaks.at[memory->peaks.count - 1].record;
    bool full = memory->operators.count >= MANY_ROWS;
    memory->left_out += memory->steps.count >= MANY_ROWS || full;
    if (memory->steps.count < MANY_ROWS)
        memory_add_steps(query, device);
    if (query->options->brief)
        return;
    if (device->has_categories)
        memory_add_categories(query, device, peak);
    if ((device->has_owners || !device->has_categories) && !full)
        memory_add_operators(query, board, device);
    if (device->has_addresses) {
        memory_add_alive(query, device, peak);
        memory_add_unfreed(query, device);
    }
}

struct memory *memory_analyze(const struct trace *trace, const struct selection *selection,
                              const struct memory_options *options)
{
    struct memory *memory = arena_open(sizeof *memory);
    ARENA_OWNS(arena_of(memory), &memory->peaks, &memory->categories, &memory->alive, &memory->operators,
               &memory->steps, &memory->unfreed);
    memory->by = options->by;
    memory->several_files = file_set_of(trace)->ranks > 1;
    memory->texts = arena_hold(arena_of(memory), names_open());
    const struct memory_records *records =
        options->brief ? memory_records_kept(trace) : memory_records_of(trace, MEMORY_OWNERS);
    SCOPED_OBJECT struct memory_records *own = records ? NULL : memory_records_open(trace, MEMORY_LEVELS);
    records = records ? records : own;
    struct memory_query query;
    memory_query_open(&query, trace, selection, options, records, memory);
    SCOPED_OBJECT struct memory_board *board = options->brief ? NULL : memory_board_open(&query);
    for (size_t d = 0; d < records->device_count; d++)
        memory_own_add_device(&query, board, &records->devices[d]);
    if (file_set_has_cycles(file_set_of(trace)))
        memory_add_up_cycles(memory);
    if (!options->brief)
        memory_add_lines(&query);
    count_notices(&query);
    EACH(free, query.is_step, query.origins, query.keys);
    return memory;
}

/* ---- notices ---- */

void memory_add_failures(const struct memory *memory, struct result *result)
{
    if (memory->failures)
        ADD_NOTICE(result, "out_of_memory", memory->failures,
                   "a device ran out of memory: allocations that failed");
}

static void add_notices(const struct trace *trace, const struct memory *memory, struct result *result)
{
    memory_add_failures(memory, result);
    if (memory->without_totals)
        ADD_NOTICE(result, "untold_totals", memory->without_totals,
                   "the bytes in use are not recorded, and are therefore counted: memory allocated before "
                   "recording counts only if it was freed during it");
    if (memory->timelines)
        ADD_NOTICE(result, "memory_timeline", memory->timelines,
                   "a memory timeline records neither the device nor operators, blocks and reserved bytes; a "
                   "trace recorded with profile_memory=True does");
    if (memory->without_addresses)
        ADD_NOTICE(result, "untold_addresses", memory->without_addresses,
                   "addresses are not recorded, so what was alive at the peak, and what was never freed, is "
                   "not known");
    if (memory->lacks_stacks)
        ADD_NOTICE(result, "no_stacks", 0,
                   "the trace holds no %s, so no block is on a line or in a module; to record them, %s",
                   trace_feature_name(FEATURE_STACKS), trace_feature_recipe(trace, FEATURE_STACKS));
    if (memory->lacks_steps)
        ADD_NOTICE(result, "no_steps", 0, "the trace marks no steps; to record them, %s",
                   trace_feature_recipe(trace, FEATURE_STEPS));
    if (memory->lost_frees)
        ADD_NOTICE(
            result, "lost_frees", memory->lost_frees,
            "blocks were allocated at the address of another block in use, whose free is not in the file "
            "and is assumed to be just before");
    many_rows_notice(result, memory->left_out);
}

void memory_add_tables(const struct trace *trace, const struct selection *selection,
                       const struct memory_options *options, struct result *result)
{
    SCOPED_OBJECT struct memory *memory = memory_analyze(trace, selection, options);
    memory_show(memory, result);
    program_memory_add_tables(trace, selection, memory->several_files, result);
    if (!(trace_features(trace) & FEATURE_MEMORY))
        ADD_NOTICE(result, "no_memory", 0,
                   "this is what the compiler assigned; the trace holds no %s of the run: to record them, %s",
                   trace_feature_name(FEATURE_MEMORY), trace_feature_recipe(trace, FEATURE_MEMORY));
    add_notices(trace, memory, result);
}
