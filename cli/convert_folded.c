/*
 * convert_folded.c - folded stacks, for flame graphs (flamegraph.pl, inferno, speedscope): a line per stack, its frames
 * from the outside in, separated by semicolons, a blank, and its own time in nanoseconds.
 *
 * A Python profile holds edges, not stacks (analyze/profile_stacks.h), and the lines say what is known: frames whose
 * time was apportioned end in " ~"; time that no stack could be found for stands under "[callers not known]".
 */
#include "analyze/profile_stacks.h"
#include "cli/convert.h"

#include <inttypes.h>

static const char unplaced[] = "[callers not known]";
static const char apportioned[] = " ~";

struct folded {
    const struct profile *profile;
    FILE *out;
    struct buffer line, name;
};

/* A semicolon in a name would be taken for the end of a frame, a control character for the end of the line. */
static void add_frame(struct folded *folded, function_id id)
{
    buffer_clear(&folded->name);
    profile_function_text(&folded->profile->functions[id], &folded->name);
    for (size_t i = 0; i < folded->name.count; i++) {
        unsigned char c = (unsigned char)folded->name.at[i];
        buffer_putc(&folded->line, c == ';' ? ':' : c < 0x20 || c == 0x7f ? '?' : (char)c);
    }
}

static void write_stack(void *context, const struct profile_stack *stack)
{
    struct folded *folded = context;
    buffer_clear(&folded->line);
    if (stack->kind == STACK_UNPLACED)
        buffer_printf(&folded->line, "%s;", unplaced);
    for (size_t i = 0; i < stack->depth; i++) {
        if (i > 0)
            buffer_putc(&folded->line, ';');
        add_frame(folded, stack->frames[i]);
        if (stack->kind == STACK_APPORTIONED && i >= stack->exact_depth)
            buffer_puts(&folded->line, apportioned);
    }
    buffer_printf(&folded->line, " %" PRId64 "\n", stack->time_ns);
    fwrite(folded->line.at, 1, folded->line.count, folded->out);
}

static void write_folded(const struct profile *profile, const struct convert_args *args, FILE *out,
                         struct buffer *summary)
{
    struct folded folded = { .profile = profile, .out = out };
    struct profile_stack_sums sums = profile_stacks(profile, args->stack_share, write_stack, &folded);
    buffer_release(&folded.line);
    buffer_release(&folded.name);

    double whole_ns = 0;
    for (int kind = 0; kind < STACK_KINDS; kind++)
        whole_ns += (double)sums.time_ns[kind];
    double share[STACK_KINDS];
    for (int kind = 0; kind < STACK_KINDS; kind++)
        share[kind] = whole_ns > 0 ? 100 * (double)sums.time_ns[kind] / whole_ns : 0;
    buffer_printf(summary, "%zu stacks; a profile holds calls from function to function, not stacks, so:\n",
                  sums.stacks[STACK_EXACT] + sums.stacks[STACK_APPORTIONED] + sums.stacks[STACK_UNPLACED]);
    buffer_printf(summary, "  %5.1f %% of the time is exact: on the way there each function has one caller\n",
                  share[STACK_EXACT]);
    buffer_printf(summary,
                  "  %5.1f %% is apportioned among the callers of a function: frames that end in \"%s\"\n",
                  share[STACK_APPORTIONED], apportioned);
    buffer_printf(summary, "  %5.1f %% could not be placed: under \"%s\"\n", share[STACK_UNPLACED], unplaced);
}

const struct convert_form convert_folded = {
    .name = "folded",
    .help = "stacks, for flame graphs (flamegraph.pl, speedscope)",
    .ending = ".folded",
    .write_profile = write_folded,
    .next = "flamegraph.pl --countname ns %s > flame.svg",
};
