/* features.c - see features.h. */
#include "trace/features.h"

#include "trace/memory_change.h"
#include "trace/steps.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *recipe;
} features[FEATURE_COUNT] = {
#define FEATURE_ROW(id, name, how) { name, how },
    TRACE_FEATURES(FEATURE_ROW)
#undef FEATURE_ROW
};

static unsigned index_of(enum trace_feature feature)
{
    unsigned index = 0;
    while (index + 1 < FEATURE_COUNT && !(feature >> index & 1))
        index++;
    return index;
}

const char *trace_feature_name(enum trace_feature feature)
{
    return features[index_of(feature)].name;
}

const char *trace_feature_recipe(enum trace_feature feature)
{
    return features[index_of(feature)].recipe;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* What a name tells by itself. */
static unsigned features_of_name(const char *name)
{
    int64_t step;
    if (step_number(name, &step))
        return FEATURE_STEPS;
    for (int change = 0; change < MEMORY_CHANGES; change++)
        if (strcmp(name, memory_change_names[change]) == 0)
            return FEATURE_MEMORY;
    if (has_prefix(name, "nccl") || strcmp(name, "record_param_comms") == 0)
        return FEATURE_COLLECTIVES;
    return 0;
}

/* What an event of this kind shows; NAME is what its name would tell. */
static unsigned features_of_event(enum event_kind kind, unsigned name)
{
    switch (kind) {
    case EVENT_OP: return FEATURE_OPS | (name & (FEATURE_STEPS | FEATURE_COLLECTIVES));
    case EVENT_ANNOTATION: return name & (FEATURE_STEPS | FEATURE_COLLECTIVES);
    case EVENT_PYTHON: return FEATURE_STACKS;
    case EVENT_RUNTIME:
    case EVENT_DRIVER: return FEATURE_LAUNCHES;
    case EVENT_INSTANT: return name & FEATURE_MEMORY;
    case EVENT_KERNEL: return FEATURE_GPU | (name & FEATURE_COLLECTIVES);
    case EVENT_MEMCPY:
    case EVENT_MEMSET: return FEATURE_GPU;
    default: return 0;
    }
}

unsigned trace_features(const struct trace *trace)
{
    size_t name_count = names_count(trace->names);
    unsigned short *of_name = mem_zalloc(name_count + 1, sizeof *of_name);
    for (name_id id = 0; id < name_count; id++)
        of_name[id] = (unsigned short)features_of_name(names_text(trace->names, id));

    unsigned found = trace->event_count > 0 ? FEATURE_EVENTS : 0;
    for (event_id e = 0; e < trace->event_count; e++)
        found |= features_of_event(trace->kind[e], of_name[trace->name[e]]);
    free(of_name);
    if (trace->args[ARG_INPUT_DIMS].count > 0)
        found |= FEATURE_SHAPES;
    if (trace->args[ARG_COLLECTIVE].count > 0)
        found |= FEATURE_COLLECTIVES;
    if (trace->file_count > 1)
        found |= FEATURE_RANKS;
    return found;
}
