#include "summary/finding_kit.h"

const struct finding_rule_info finding_rules[FINDING_RULES] = {
    [FINDING_DATA_LOADING] = { "data_loading", "gaps", "Load batches beside the loop", true },
    [FINDING_COMPILATION] = { "compilation", "operators", "Compile before what is recorded", false },
    [FINDING_HOST_TIME] = { "host_time", "operators", "Do less on the host in each step", false },
    [FINDING_HOST_OPERATORS] = { "host_operators", "operators", "Compute on the device, not on the host",
                                 true },
    [FINDING_PAUSES] = { "pauses", "gaps", "Find out why the host pauses", false },
    [FINDING_HOST_WAIT] = { "host_wait", "transfers", "Wait for the device less often", true },
    [FINDING_PAGEABLE_COPIES] = { "pageable_copies", "transfers", "Pin the batches", true },
    [FINDING_PINNED_COPIES] = { "pinned_copies", "transfers", "Copy ahead of the computation", true },
    [FINDING_COPIES_TO_HOST] = { "copies_to_host", "transfers", "Copy less to the host", true },
    [FINDING_DEVICE_COPIES] = { "device_copies", "transfers", "Copy less on the device", true },
    [FINDING_OTHER_COPIES] = { "other_copies", "transfers", "Copy less, or earlier", true },
    [FINDING_FIRST_USE] = { "first_use", "gaps", "Load code before the loop", true },
    [FINDING_ALLOCATION] = { "allocation", "memory", "Allocate before the loop", true },
    [FINDING_TENSOR_CORES] = { "tensor_cores", "kernels", "Multiply matrices on tensor cores", false },
    [FINDING_FUSION] = { "fusion", "sequences", "Fuse operations on the device", false },
    [FINDING_ATTENTION] = { "attention", "sequences", "Compute attention in one kernel", true },
    [FINDING_RECOMPUTATION] = { "recomputation", "operators", "Keep more activations, if memory allows",
                                false },
    [FINDING_OPTIMIZER] = { "optimizer", "operators", "Update all parameters in one call", false },
    [FINDING_FIRST_CALLS] = { "first_calls", "operators", "Record later calls, after a warm-up", false },
    [FINDING_THREADS] = { "threads", "operators", "Compute with fewer threads", false },
    [FINDING_HOST_COPIES] = { "host_copies", "operators", "Copy tensors less often", true },
    [FINDING_FLOAT64] = { "float64", "operators", "Compute in float32", false },
    [FINDING_DENSE_GRADIENT] = { "dense_gradient", "operators", "Make the gradient of the embedding sparse",
                                 false },
    [FINDING_INDEX_GRADIENT] = { "index_gradient", "operators",
                                 "Compute for all parts at once, not in a loop", false },
    [FINDING_BELOW_PEAK] = { "below_peak", "roofline", "Bring the work nearer to the peak", false },
    [FINDING_COMMUNICATION] = { "communication", "communication", "Hide communication behind computation",
                                false },
    [FINDING_SLOW_RANKS] = { "slow_ranks", "communication", "Even out the ranks", false },
    [FINDING_CONTENTION] = { "contention", "communication", "Let communication take less from computation",
                             false },
    [FINDING_LAUNCHES] = { "launches", "launches", "Launch work in fewer calls", false },
};

void finding_offer(struct pricing *pricing, enum finding_rule rule, struct offer offer)
{
    offer.finding.rule = as_text(finding_rules[rule].name);
    offer.finding.section = finding_rules[rule].section;
    if (!offer.finding.action.at)
        offer.finding.action = as_text(finding_rules[rule].action);
    offer.of_host = rule == FINDING_PAUSES || rule == FINDING_LAUNCHES;
    pricing_offer(pricing, offer);
}

void finding_add(struct pricing *pricing, enum finding_rule rule, struct priced_finding finding,
                 const char *subject)
{
    finding_offer(pricing, rule, (struct offer){ .finding = finding, .subject = subject });
}

void finding_add_blind(struct pricing *pricing, const char *subject, const char *because)
{
    pricing_offer(pricing, (struct offer){ .subject = subject, .because = because });
}

void finding_set_code(struct priced_finding *finding, struct code_change code)
{
    finding->was = as_text(code.now ? code.was : NULL);
    finding->code = as_text(code.now);
}

/* How much of the long NAME tells it from all other names of TRACE; all of it where a part does not, or little shorter. */
static size_t telling_length(const struct trace *trace, struct text name)
{
    enum { LONG = 60, LEAST = 24 };
    size_t len = LEAST;
    if (name.len <= LONG)
        return name.len;
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *other = names_text(trace->names, id);
        size_t alike = 0;
        while (alike < name.len && other[alike] == name.at[alike])
            alike++;
        if (alike >= len && !(alike == name.len && names_length(trace->names, id) == name.len))
            len = alike + 1;
    }
    while (len < name.len && ((unsigned char)name.at[len] & 0xc0) == 0x80) /* within a character */
        len++;
    return len + LEAST < name.len ? len : name.len;
}

const char *finding_pattern(struct pricing *pricing, struct text name)
{
    struct buffer pattern = { 0 };
    size_t len = telling_length(pricing->trace, name);
    buffer_putc(&pattern, '^');
    for (size_t i = 0; i < len; i++) {
        if (strchr("\\^$.|?*+()[]{}", name.at[i]))
            buffer_putc(&pattern, '\\');
        buffer_putc(&pattern, name.at[i]);
    }
    if (len == name.len)
        buffer_putc(&pattern, '$');
    return pricing_keep(pricing, &pattern).at;
}

void finding_append_name(struct buffer *text, const char *name)
{
    const char *address = strstr(name, " at 0x");
    if (!address) {
        buffer_puts(text, name);
        return;
    }
    buffer_add(text, name, (size_t)(address - name));
    buffer_puts(text, address + 6 + strspn(address + 6, "0123456789abcdef"));
}
