/* batch_size.c - see batch_size.h. */
#include "analyze/batch_size.h"

#include "derive/shapes.h"
#include "derive/step_list.h"

/* The first size of the input of E, if that is a layer; -1. */
static int64_t samples_of(const struct trace *trace, event_id e, const uint8_t *layer_input)
{
    struct shape shape;
    const char *dims = layer_input[trace->name[e]] ? trace_arg_text(trace, ARG_INPUT_DIMS, e) : NULL;
    return dims && shape_of_input(dims, layer_input[trace->name[e]] - 1u, &shape) && shape.count > 1
               ? shape.size[0]
               : -1;
}

/* New, by name: 1 + the input that holds the samples; 0: no layer. */
static uint8_t *find_layers(const struct trace *trace)
{
    static const struct {
        const char *name;
        uint8_t input;
    } layers[] = { { "aten::conv1d", 0 },
                   { "aten::conv2d", 0 },
                   { "aten::conv3d", 0 },
                   { "aten::linear", 0 },
                   { "aten::embedding", 1 } };
    uint8_t *input = mem_zalloc(names_count(trace->names) + 1, 1);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        name_id id = names_find(trace->names, layers[i].name, strlen(layers[i].name));
        if (id != NAME_NONE)
            input[id] = (uint8_t)(layers[i].input + 1);
    }
    return input;
}

int64_t batch_size_of(const struct trace *trace, const struct selection *selection)
{
    struct first {
        int64_t start_ns, samples;
    };
    SCOPED uint8_t *layers = find_layers(trace);
    const struct step_list *steps = step_list_of(trace);
    SCOPED struct first *of_step = mem_alloc(mem_times(steps->count + 1, sizeof *of_step));
    for (size_t i = 0; i < steps->count; i++)
        of_step[i] = (struct first){ INT64_MAX, -1 };
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t file = trace->tracks[trace->track[e]].file;
        if (!layers[trace->name[e]] || (selection->files && !selection->files[file]))
            continue;
        int64_t samples = samples_of(trace, e, layers), start_ns = trace_start_ns(trace, e);
        const struct step *step = step_list_at(steps, file, start_ns);
        if (samples > 0 && step && start_ns < of_step[step - steps->at].start_ns)
            of_step[step - steps->at] = (struct first){ start_ns, samples };
    }
    int64_t batch = TABLE_INT_MISSING;
    bool same = true;
    for (size_t i = 0; i < steps->count; i++) {
        if (of_step[i].samples < 0)
            continue;
        same = same && (batch == TABLE_INT_MISSING || batch == of_step[i].samples);
        batch = of_step[i].samples;
    }
    return same ? batch : TABLE_INT_MISSING;
}
