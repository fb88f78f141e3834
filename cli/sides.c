/* sides.c - see sides.h. */
#include "cli/sides.h"

#include <sys/stat.h>

static bool measure_part(struct measures *side, struct ingested *part, const struct measure_options *options,
                         bool strip_dirs, struct tpa_error *err)
{
    if (part->trace)
        return measure_trace(side, part->trace, options, err);
    if (part->actions)
        return measure_actions(side, part->actions, err);
    if (strip_dirs)
        part->profile = profile_strip_dirs(part->profile, false);
    return measure_profile(side, part->profile, options, err);
}

/* Is the last of COUNT paths a file that is among those before it? */
static bool is_given_twice(const char *const *paths, size_t count)
{
    struct stat last, other;
    if (stat(paths[count - 1], &last) != 0 || !S_ISREG(last.st_mode))
        return false;
    for (size_t i = 0; i + 1 < count; i++)
        if (stat(paths[i], &other) == 0 && other.st_dev == last.st_dev && other.st_ino == last.st_ino)
            return true;
    return false;
}

struct measures *sides_measure(const struct invocation *call, const struct load_args *load,
                               const struct sides_found *found, int of, const struct measure_options *options,
                               bool strip_dirs, struct result *result, struct tpa_error *err)
{
    const char *const *paths = found->paths[of];
    size_t count = found->counts[of];
    struct measures *side = measures_open();
    struct trace_wants wants = measure_wants(options);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct invocation of_part = *call;
        struct ingested part;
        of_part.operands = (char **)(uintptr_t)&paths[i];
        of_part.operand_count = 1;
        good = load_any(&of_part, load, &wants, &part, err);
        if (!good)
            break;
        good = measure_part(side, &part, options, strip_dirs, err);
        if (!good)
            tpa_in_file(err, paths[i]);
        else if (part.trace)
            load_add_notices(part.trace, result);
        if (good && is_given_twice(paths, i + 1))
            result_add_notice(
                result, "given_twice", 1, paths[i], TPA_NOWHERE,
                "this file was given more than once on one side, and all that is in it counts as "
                "often");
        ingested_free(&part);
    }
    if (good) {
        measures_finish(side);
        return side;
    }
    measures_free(side);
    return NULL;
}

bool sides_find(const struct invocation *call, const struct opt_list *base, const struct opt_list *other,
                struct sides_found *found, struct tpa_error *err)
{
    bool by_options = base->count || other->count;
    if (by_options && (call->operand_count || !base->count || !other->count)) {
        tpa_fail(err, TPA_NOWHERE, "--base and --new go together, and without other files");
        return tpa_hint(err, "tpa %s --base a1.json a2.json --new b1.json b2.json", call->command->name);
    }
    if (!by_options && call->operand_count != 2) {
        tpa_fail(err, TPA_NOWHERE, "two sides are needed, and %zu were given", call->operand_count);
        return tpa_hint(err, "tpa %s BASE NEW, or several files a side with --base and --new",
                        call->command->name);
    }
    const char *const *operands = (const char *const *)call->operands;
    found->paths[0] = by_options ? base->at : operands;
    found->paths[1] = by_options ? other->at : operands + 1;
    found->counts[0] = by_options ? base->count : 1;
    found->counts[1] = by_options ? other->count : 1;
    return true;
}
