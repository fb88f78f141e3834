#include "ingest/step_guess.h"
#include "base/rows.h"

#include <strings.h>

enum { FEWEST_STEPS = 3, LONGEST_NAME = 80, MOST_CANDIDATES = 1 << 20 };

struct candidate {
    name_id pattern;
    int64_t thread, start_ns, end_ns;
};

struct step_guess {
    VEC_OF(struct candidate) candidates;
    struct names *texts;         /* names as they are */
    VEC_OF(name_id) pattern_ids; /* by text */
    struct names *patterns;      /* names without their numbers */
    struct buffer pattern;
};

struct step_guess *step_guess_open(void)
{
    struct step_guess *guess = mem_zalloc(1, sizeof *guess);
    guess->texts = names_open();
    guess->patterns = names_open();
    return guess;
}

void step_guess_free(struct step_guess *guess)
{
    if (!guess)
        return;
    EACH(VEC_FREE, &guess->candidates, &guess->pattern_ids);
    EACH(names_free, guess->texts, guess->patterns);
    buffer_release(&guess->pattern);
    free(guess);
}

/* Is TEXT called after a part of a model, "layer 3"? Its numbers count parts, which run one after the other in each step. */
static bool is_part_of_model(const char *text, size_t len)
{
    static const char *const parts[] = { "layer", "block", "expert" };
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        size_t part = strlen(parts[p]);
        for (size_t i = 0; i + part <= len; i++)
            if (strncasecmp(text + i, parts[p], part) == 0)
                return true;
    }
    return false;
}

/* The name as a regular expression in which numbers are replaced by a pattern: "step 12" is "^step [0-9]+$". */
static name_id step_pattern(struct step_guess *guess, const char *text, size_t len)
{
    name_id id = names_add(guess->texts, text, len);
    if (id < guess->pattern_ids.count)
        return guess->pattern_ids.at[id];
    struct buffer *pattern = &guess->pattern;
    buffer_clear(pattern);
    buffer_putc(pattern, '^');
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool digit = c >= '0' && c <= '9';
        if (digit && i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9')
            continue;
        if (digit)
            buffer_puts(pattern, "[0-9]+");
        else if (strchr("\\^$.|?*+()[]{}", c) && c)
            buffer_printf(pattern, "\\%c", c);
        else
            buffer_putc(pattern, c);
    }
    buffer_putc(pattern, '$');
    return *VEC_PUSH(&guess->pattern_ids) = names_add(guess->patterns, pattern->at, pattern->count);
}

void step_guess_record(struct step_guess *guess, const char *text, size_t len, int64_t thread,
                       int64_t start_ns, int64_t end_ns)
{
    if (len == 0 || len > LONGEST_NAME || guess->candidates.count >= MOST_CANDIDATES || end_ns < start_ns ||
        trace_moment_or_zero(start_ns) != start_ns || trace_moment_or_zero(end_ns) != end_ns ||
        is_part_of_model(text, len))
        return; /* unfinished ranges and invalid times are ignored */
    *VEC_PUSH(&guess->candidates) =
        (struct candidate){ step_pattern(guess, text, len), thread, start_ns, end_ns };
}

static const struct key by_candidates[] = { ASC(struct candidate, pattern), ASC(struct candidate, thread),
                                            ASC(struct candidate, start_ns), KEY_END };

static const char *guess_steps(struct step_guess *guess, size_t *steps)
{
    const struct candidate *at = guess->candidates.at;
    size_t count = guess->candidates.count;
    name_id best = NAME_NONE;
    double longest = 0;
    rows_sort(guess->candidates.at, count, sizeof *at, by_candidates);
    for (size_t first = 0, next; first < count; first = next) {
        double inside = 0, span = 0;
        bool apart = true;
        for (next = first;
             next < count && at[next].pattern == at[first].pattern && at[next].thread == at[first].thread;
             next++) {
            inside += (double)at[next].end_ns - (double)at[next].start_ns;
            span = (double)at[next].end_ns - (double)at[first].start_ns;
            apart = apart && (next == first || at[next].start_ns >= at[next - 1].end_ns);
        }
        if (!apart || next - first < FEWEST_STEPS || inside < span / 2 || inside <= longest)
            continue;
        longest = inside;
        best = at[first].pattern;
        *steps = next - first;
    }
    return best == NAME_NONE ? NULL : names_text(guess->patterns, best);
}

const char *step_guess_notice(struct step_guess *guess, struct trace_builder *builder)
{
    size_t steps = 0;
    const char *pattern = guess_steps(guess, &steps);
    if (!pattern)
        return NULL;
    const char *kept = trace_builder_strndup(builder, pattern, strlen(pattern));
    trace_builder_add_property(builder, TRACE_STEP_RANGE, kept);
    SCOPED struct buffer line = { 0 };
    buffer_printf(&line,
                  "no step is marked: the ranges that match %s are used as steps (--step-range "
                  "REGEX names others, --step-range '' none)",
                  pattern);
    trace_builder_notice(builder, "guessed_steps", trace_builder_strndup(builder, line.at, line.count), steps,
                         TPA_NOWHERE);
    return kept;
}
