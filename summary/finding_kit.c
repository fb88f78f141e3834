/* finding_kit.c - see finding_kit.h. */
#include "summary/finding_kit.h"

#include <string.h>

const struct finding_rule_info finding_rules[FINDING_RULES] = {
    [FINDING_DATA_LOADING] = { "data_loading", "gaps", true },
    [FINDING_HOST_TIME] = { "host_time", "operators", false },
    [FINDING_HOST_OPERATORS] = { "host_operators", "operators", true },
    [FINDING_PAUSES] = { "pauses", "gaps", false },
    [FINDING_HOST_WAIT] = { "host_wait", "transfers", true },
    [FINDING_PAGEABLE_COPIES] = { "pageable_copies", "transfers", true },
    [FINDING_PINNED_COPIES] = { "pinned_copies", "transfers", true },
    [FINDING_COPIES_TO_HOST] = { "copies_to_host", "transfers", true },
    [FINDING_DEVICE_COPIES] = { "device_copies", "transfers", true },
    [FINDING_OTHER_COPIES] = { "other_copies", "transfers", true },
    [FINDING_FIRST_USE] = { "first_use", "gaps", true },
    [FINDING_ALLOCATION] = { "allocation", "memory", true },
    [FINDING_TENSOR_CORES] = { "tensor_cores", "kernels", false },
    [FINDING_FUSION] = { "fusion", "sequences", false },
    [FINDING_ATTENTION] = { "attention", "sequences", true },
    [FINDING_BELOW_PEAK] = { "below_peak", "roofline", false },
    [FINDING_COMMUNICATION] = { "communication", "communication", false },
    [FINDING_SLOW_RANKS] = { "slow_ranks", "communication", false },
    [FINDING_LAUNCHES] = { "launches", "launches", false },
};

void finding_offer(struct pricing *pricing, enum finding_rule rule, struct offer offer)
{
    offer.finding.rule = as_text(finding_rules[rule].name);
    offer.finding.section = finding_rules[rule].section;
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
