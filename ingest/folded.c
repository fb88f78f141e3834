/*
 * folded.c - collapsed stacks, one per line: frames, outermost first, separated by semicolons, a blank and the weight.
 *
 *     main;train;aten::mm 42
 *     <module> (app.py:40);work (app.py:12) 17
 *
 * What stackcollapse-*.pl, py-spy record --format raw, inferno, async-profiler, dtrace and tpa convert --to folded
 * write. The unit of weights is not recorded: they are shown as counts. py-spy's frames have file and line in
 * parentheses.
 */
#include "ingest/formats.h"

#include "base/quantity.h"
#include "ingest/stack_sums.h"

/* Where the weight of the line AT..END begins, and the frames end; NULL if it is not a stack. */
static const char *weight_of(const char *at, const char *end, int64_t *weight)
{
    const char *blank = end;
    while (blank > at && blank[-1] >= '0' && blank[-1] <= '9')
        blank--;
    if (blank == end || blank - at < 1 || blank[-1] != ' ' ||
        !quantity_parse_integer(blank, (size_t)(end - blank), weight))
        return NULL;
    return blank - 1;
}

/* Is the line AT..END a comment, of inferno or of who edited the file? */
static bool is_comment(const char *at, const char *end)
{
    int64_t weight;
    return *at == '#' || (end - at > 1 && at[0] == '/' && at[1] == '/' && !weight_of(at, end, &weight));
}

/* FRAME, which may be py-spy's "NAME (FILE:LINE)". */
static function_id folded_function_of(struct stack_sums *sums, const char *frame, const char *end)
{
    const char *colon = end, *open = NULL;
    int64_t line = 0;
    if (end - frame > 4 && end[-1] == ')') {
        while (colon > frame && *colon != ':')
            colon--;
        for (const char *at = colon; at > frame + 1 && !open; at--)
            open = at[0] == '(' && at[-1] == ' ' ? at : NULL;
    }
    if (!open || colon - open < 2 || !quantity_parse_integer(colon + 1, (size_t)(end - 1 - colon - 1), &line))
        return stack_sums_function(sums, frame, (size_t)(end - frame), "", 0, 0);
    return stack_sums_function(sums, frame, (size_t)(open - 1 - frame), open + 1, (size_t)(colon - open - 1),
                               line);
}

static void add_line(struct stack_sums *sums, const char *at, const char *end, int64_t offset)
{
    int64_t weight;
    const char *stop = weight_of(at, end, &weight);
    if (!stop) {
        stack_sums_odd(sums, offset);
        return;
    }
    stack_id stack = STACK_ROOT;
    while (at < stop) {
        const char *semicolon = memchr(at, ';', (size_t)(stop - at)),
                   *frame_end = semicolon ? semicolon : stop;
        if (frame_end > at)
            stack = stack_sums_below(sums, stack, folded_function_of(sums, at, frame_end));
        at = frame_end + 1;
    }
    if (stack == STACK_ROOT) /* how py-spy writes samples without frames */
        stack = stack_sums_below(sums, stack, stack_sums_function(sums, "(no stack)", 10, "", 0, 0));
    stack_sums_add(sums, stack, (double)weight * 1e-9, weight);
}

static struct profile *read_folded(struct source *source, struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    struct stack_sums sums;
    if (!stack_sums_read(source, &text, err))
        return NULL;
    stack_sums_open(&sums);
    const char *all_end = text.at + text.count;
    for (const char *at = text.at, *end; at < all_end; at = end + 1) {
        const char *newline = memchr(at, '\n', (size_t)(all_end - at));
        end = newline ? newline : all_end;
        const char *last = end > at && end[-1] == '\r' ? end - 1 : end;
        if (last > at && !is_comment(at, last))
            add_line(&sums, at, last, at - text.at);
    }
    return stack_sums_finish(&sums, PROFILE_COUNT, err);
}

/* Most complete lines at the beginning must be stacks, at least one with a caller; the last line may be cut. Others are counted
 * when it is read. */
static int sniff_folded(const char *bytes, size_t len)
{
    enum { ENOUGH = 20 };
    bool calls = false;
    size_t stacks = 0, others = 0;
    for (size_t at = 0, lines = 0; at < len && lines < ENOUGH; lines++) {
        const char *newline = memchr(bytes + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - bytes) : len;
        int64_t weight;
        size_t last = end > at && bytes[end - 1] == '\r' ? end - 1 : end;
        if (ANY_FROM(i, at, last, (unsigned char)bytes[i] < ' ' && bytes[i] != '\t'))
            return 0;
        if (last > at && !is_comment(bytes + at, bytes + last)) {
            const char *stop = weight_of(bytes + at, bytes + last, &weight);
            others += !stop && newline;
            stacks += stop != NULL;
            calls |= stop && memchr(bytes + at, ';', (size_t)(stop - (bytes + at)));
        }
        at = end + 1;
    }
    return !calls || 2 * others > stacks ? 0 : others ? 55 : 70;
}

extern const struct format format_folded;
const struct format format_folded = {
    .name = "collapsed stacks",
    .description = "a stack and its weight a line: stackcollapse, py-spy raw (.folded)",
    .sniff = sniff_folded,
    .read_profile = read_folded,
};
