/* Bars are SVG without text, stretched to the room there is; what they stand for is text
 * beside them, so that it wraps, can be read aloud and copied. The page's policy forbids style attributes. */
#include "report/page_parts.h"

#include "base/rows.h"
#include "base/escape.h"
#include "base/quantity.h"
#include "base/unicode.h"
#include "report/apart.h"
#include "report/figures.h"
#include "report/shorten.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A figure and its "%" stay in one line. */
static void append_prose(struct buffer *out, const char *text, size_t len)
{
    size_t from = 0;
    for (size_t i = 1; i + 1 < len; i++)
        if (text[i] == ' ' && text[i + 1] == '%' && text[i - 1] >= '0' && text[i - 1] <= '9') {
            escape_html(out, text + from, i - from);
            buffer_puts(out, "\xc2\xa0");
            from = i + 1;
        }
    escape_html(out, text + from, len - from);
}

static void append_text(struct buffer *out, const char *text)
{
    escape_html(out, text, strlen(text));
}

/* <TAG class="CLASS">TEXT</TAG>; nothing when there is no text. */
static void append_element(struct buffer *out, const char *tag, const char *class, const char *text)
{
    if (!text)
        return;
    buffer_printf(out, "<%s class=\"%s\">", tag, class);
    append_prose(out, text, strlen(text));
    buffer_printf(out, "</%s>\n", tag);
}

static void append_share(struct buffer *out, double share)
{
    figure_add_value(out, TABLE_SHARE, share);
}

static void append_time(struct buffer *out, int64_t ns)
{
    figure_add_value(out, TABLE_NS, (double)ns);
}

void page_add_facts(struct buffer *out, const struct answer *answer, const char *missing)
{
    if (answer->facts.count == 0)
        return;
    buffer_puts(out, "<dl class=\"ran\">\n");
    for (size_t i = 0; i < answer->facts.count; i++) {
        buffer_puts(out, "<div><dt>");
        append_text(out, answer->facts.at[i].label);
        const char *ranks = missing && strcmp(answer->facts.at[i].label, PAGE_FACT_RANKS) == 0
                                ? strstr(missing, "missing: ")
                                : NULL;
        buffer_puts(out, "</dt><dd>");
        append_text(out, answer->facts.at[i].text);
        if (ranks) {
            buffer_puts(out, "; <span class=\"worse\">");
            struct buffer numbers = { 0 };
            const char *end = strstr(ranks, ". "); /* "0..3, 5" has points, too */
            buffer_add(&numbers, ranks, end ? (size_t)(end - ranks) : strlen(ranks));
            append_text(out, numbers.at);
            buffer_puts(out, "</span>");
            buffer_release(&numbers);
        }
        buffer_puts(out, "</dd></div>\n");
    }
    buffer_puts(out, "</dl>\n");
}

/* ---- bars ---- */

static const struct page_section *find_section(const struct page *page, const char *key)
{
    for (size_t i = 0; key && i < page->sections.count; i++)
        if (strcmp(page->sections.at[i].key, key) == 0)
            return &page->sections.at[i];
    return NULL;
}

/* " idle" behind the class of what is hatched: time in which nothing ran. */
static const char *answer_part_class(const struct answer_part *part)
{
    return strncmp(part->title, "idle", 4) == 0 || strcmp(part->title, "waiting") == 0 ? " idle" : "";
}

/* "computing 7.9 %, idle: host 81.3 %" */
static void append_bar_text(struct buffer *out, const struct answer_bar *bar)
{
    if (bar->title) {
        append_text(out, bar->title);
        buffer_puts(out, ": ");
    }
    for (size_t i = 0; i < bar->parts.count; i++) {
        buffer_puts(out, i ? ", " : "");
        append_text(out, bar->parts.at[i].title);
        buffer_putc(out, ' ');
        append_share(out, bar->parts.at[i].share);
    }
}

static void append_bar(struct buffer *out, const struct answer_bar *bar)
{
    double at = 0;
    const double width = 1000;
    append_element(out, "span", "of", bar->title);
    buffer_puts(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
    append_bar_text(out, bar);
    buffer_puts(out, "\">");
    for (size_t i = 0; i < bar->parts.count; i++) {
        const struct answer_part *part = &bar->parts.at[i];
        double wide = part->share * bar->length * width;
        buffer_printf(out,
                      "<rect class=\"fill c%d%s\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"10\"><title>",
                      (int)part->color, answer_part_class(part), at, wide);
        append_text(out, part->title);
        buffer_puts(out, ": ");
        append_share(out, part->share);
        buffer_puts(out, ", ");
        append_text(out, part->figure);
        buffer_puts(out, "</title></rect>");
        at += wide;
    }
    buffer_puts(out, "</svg>\n");
}

/* What a colour is, and its figures; OF the bar that has it, NULL: the one that the legend is of. */
static void append_part(struct buffer *out, const struct answer_part *part, const char *of,
                        const struct page *page)
{
    bool links = find_section(page, part->section) != NULL;
    buffer_printf(out, "<li><span class=\"swatch c%d%s\"></span>", (int)part->color, answer_part_class(part));
    if (links)
        buffer_printf(out, "<a href=\"#%s\">", part->section);
    buffer_puts(out, "<span class=\"what\" title=\"");
    append_text(out, part->title); /* which the page may cut */
    buffer_puts(out, "\">");
    append_text(out, part->title);
    buffer_puts(out, links ? "</span></a> <b>" : "</span> <b>");
    append_share(out, part->share);
    buffer_puts(out, "</b> <span class=\"faint\">");
    append_text(out, part->figure);
    if (of) {
        buffer_puts(out, ", ");
        append_text(out, of);
    }
    buffer_puts(out, "</span></li>\n");
}

/* The part of BAR that is called TITLE; NULL when there is none. */
static const struct answer_part *find_part(const struct answer_bar *bar, const char *title)
{
    for (size_t i = 0; i < bar->parts.count; i++)
        if (strcmp(bar->parts.at[i].title, title) == 0)
            return &bar->parts.at[i];
    return NULL;
}

/* Of the parts that are called as PART, of bar B, is it the largest (of equals, the first)? */
static bool is_largest(const struct answer *answer, size_t b, const struct answer_part *part)
{
    for (size_t i = 0; i < answer->bars.count; i++) {
        const struct answer_part *other = find_part(&answer->bars.at[i], part->title);
        if (other && (i < b ? other->share >= part->share : other->share > part->share))
            return false;
    }
    return true;
}

/* What the colours are: of the bar that the legend is of, then what only others have, where it is largest. */
static void append_parts(struct buffer *out, const struct answer *answer, const struct page *page)
{
    const struct answer_bar *legend = &answer->bars.at[answer->legend];
    buffer_puts(out, "<ul class=\"parts\">\n");
    for (size_t i = 0; i < legend->parts.count; i++)
        append_part(out, &legend->parts.at[i], NULL, page);
    for (size_t b = 0; b < answer->bars.count; b++) {
        const struct answer_bar *bar = &answer->bars.at[b];
        for (size_t i = 0; i < bar->parts.count; i++)
            if (!find_part(legend, bar->parts.at[i].title) && is_largest(answer, b, &bar->parts.at[i]))
                append_part(out, &bar->parts.at[i], bar->title, page);
    }
    buffer_puts(out, "</ul>\n");
}

/* ---- what findings would save ---- */

enum { GAIN_WIDTH = 1000, GAIN_HEIGHT = 26 };

void page_add_label(struct buffer *out, double x, int baseline, double width, const char *text, size_t len)
{
    enum { ABOVE = 12, HEIGHT = 16, BESIDE = 3 };
    buffer_printf(out,
                  "<rect class=\"plate\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/><text "
                  "class=\"over\" x=\"%.1f\" y=\"%d\">",
                  x - BESIDE, baseline - ABOVE, width + 2 * BESIDE, HEIGHT, x, baseline);
    escape_html(out, text, len);
    buffer_puts(out, "</text>");
}

static bool has_gains(const struct answer *answer)
{
    return answer->from_ns > 0 && answer->together_ns > 0 && answer->together_ns < answer->from_ns;
}

/* How much of the bar WORDS take in bold letters. */
static double words_width(const struct buffer *words)
{
    const double letter = 8.4;
    return (double)unicode_text_width(words->at, words->count) * letter;
}

static bool fits_bar(const struct buffer *words, double wide)
{
    const double margins = 14;
    return words_width(words) + margins <= wide;
}

/* A part of the bar from X on, WIDE, that the change or changes called NAME save; TOGETHER: beyond what is drawn before it. */
static void append_gain(struct buffer *out, double x, double wide, const char *name, bool together,
                        int64_t ns)
{
    const double margins = 8;
    struct buffer words = { 0 }, number = { 0 };
    buffer_puts(&number, name);
    buffer_printf(&words, "%s: %s\xe2\x88\x92", name, together ? "together more, " : "");
    append_time(&words, ns);
    buffer_printf(out, "<g class=\"gain%s\"><title>", together ? " together" : "");
    if (together)
        buffer_puts(out, "all changes together save, beyond that, up to ");
    else
        buffer_printf(out, "change %s saves up to ", name);
    append_time(out, ns);
    buffer_printf(out,
                  "</title><rect class=\"back\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\"/><rect "
                  "class=\"hatched\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\"/>",
                  x, wide, GAIN_HEIGHT, x, wide, GAIN_HEIGHT);
    if (fits_bar(&words, wide))
        page_add_label(out, x + 8, 17, words_width(&words), words.at, words.count);
    else if (words_width(&number) + margins <= wide)
        page_add_label(out, x + (wide - words_width(&number)) / 2, 17, words_width(&number), name,
                       strlen(name));
    buffer_puts(out, "</g>");
    EACH(buffer_release, &words, &number);
}

/* The changes of which a part of the bar is what they save beyond the parts before it, of which DRAWN is a set: those that have none,
 * "4-7"; where all have one, "1+2". */
static void name_together(const struct answer *answer, unsigned drawn, struct buffer *name)
{
    size_t first = 0, last = answer->last_change;
    for (size_t i = answer_first_findings(answer); i-- > 0;)
        if (answer->findings.at[i].saves_ns > 0 && !(drawn >> i & 1))
            first = i + 1;
    if (!first && last > answer_first_findings(answer))
        first = answer_first_findings(answer) + 1;
    if (first)
        buffer_printf(name, first + 1 < last ? "%zu-%zu" : first < last ? "%zu+%zu" : "%zu", first, last);
    for (size_t i = 0; !first && i < answer_first_findings(answer); i++)
        if (drawn >> i & 1)
            buffer_printf(name, "%s%zu", name->count ? "+" : "", i + 1);
}

static bool has_several_changes(const struct answer *answer)
{
    size_t count = 0;
    for (size_t i = 0; i < answer->findings.count; i++)
        count += answer->findings.at[i].saves_ns > 0;
    return count > 1;
}

/* The step as a bar: what remains with all findings is solid; of what they save each finding has its own saving, as long as it
 * fits into what all save together, and the rest is the last part. */
static void append_gains(struct buffer *out, const struct answer *answer)
{
    double scale = (double)GAIN_WIDTH / (double)answer->from_ns, x = (double)answer->together_ns * scale;
    int64_t left_ns = answer->from_ns - answer->together_ns;
    buffer_printf(out, "<svg class=\"gains\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", GAIN_WIDTH,
                  GAIN_HEIGHT);
    append_time(out, answer->together_ns);
    buffer_puts(out, " of ");
    append_time(out, answer->from_ns);
    buffer_printf(
        out,
        " remain with all changes\"><defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect class=\"stripe\" "
        "width=\"2\" height=\"6\"/></pattern></defs><rect class=\"rest\" x=\"0\" y=\"0\" width=\"%.2f\" "
        "height=\"%d\"/>",
        x, GAIN_HEIGHT);
    struct buffer words = { 0 };
    quantity_append_time_of(&words, (double)answer->together_ns, (double)answer->from_ns);
    buffer_puts(&words, has_several_changes(answer) ? " left with all changes" : " left");
    if (fits_bar(&words, x))
        buffer_printf(out, "<text class=\"on\" x=\"8\" y=\"17\">%s</text>", words.at);
    buffer_release(&words);
    unsigned drawn = 0;
    for (size_t i = 0; i < answer_first_findings(answer); i++) {
        int64_t ns = answer->findings.at[i].saves_ns;
        char number[] = { (char)('1' + i), '\0' };
        if (ns <= 0 || ns > left_ns)
            continue;
        append_gain(out, x, (double)ns * scale, number, false, ns);
        x += (double)ns * scale;
        left_ns -= ns;
        drawn |= 1U << i;
    }
    struct buffer name = { 0 };
    name_together(answer, drawn, &name);
    if (left_ns > 0)
        append_gain(out, x, (double)left_ns * scale, name.at ? name.at : "", true, left_ns);
    buffer_release(&name);
    buffer_puts(out, "</svg>\n");
}

/* Is the bar of gains of another whole than the bars above it? */
static bool is_other_whole(const struct answer *answer)
{
    const double alike = 0.1;
    double differs_ns = (double)answer->from_ns - (double)answer->bars_ns;
    return answer->bars_ns && fabs(differs_ns) > alike * (double)answer->from_ns;
}

static void append_bars(struct buffer *out, const struct answer *answer, const struct page *page)
{
    if (answer->bars.count == 0)
        return;
    buffer_puts(out, "<figure class=\"whole\"><figcaption>");
    append_text(out, answer->bars_title);
    buffer_printf(out, "</figcaption>\n<div class=\"%s%s\">\n",
                  answer->bars.count > 1 ? "bars titled" : "bars", has_gains(answer) ? " thin" : "");
    for (size_t i = 0; i < answer->bars.count; i++)
        append_bar(out, &answer->bars.at[i]);
    buffer_puts(out, "</div>\n");
    bool other = has_gains(answer) &&
                 is_other_whole(answer); /* then what the colours are stands below the bar that has them */
    if (other) {
        append_parts(out, answer, page);
        buffer_puts(out, "<p class=\"faint\">And what changes save of ");
        append_time(out, answer->from_ns);
        buffer_puts(out, "</p>\n");
    }
    if (has_gains(answer))
        append_gains(out, answer);
    if (!other)
        append_parts(out, answer, page);
    append_element(out, "p", "faint phases", answer->phases);
    append_element(out, "p", "faint phases", answer->pattern);
    buffer_puts(out, "</figure>\n");
}

/* ---- now and then ---- */

static void append_change(struct buffer *out, const struct answer *answer)
{
    if (answer->from_ns <= 0 || answer->to_ns <= 0)
        return;
    buffer_puts(out, "<div class=\"change\"><p class=\"arrow\"><span class=\"from\">");
    append_time(out, answer->from_ns);
    buffer_puts(out, "</span> \xe2\x86\x92 <b>");
    quantity_append_time_of(out, (double)answer->to_ns, (double)answer->from_ns);
    buffer_puts(out, "</b></p>\n");
    append_element(out, "p", "faint", answer->change_note);
    buffer_puts(out, "</div>\n");
}

/* A sentence begins with a capital letter, unless it begins with a name of code. */
static void append_because(struct buffer *out, const char *text)
{
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    struct buffer sentence = { 0 };
    buffer_puts(&sentence, text);
    if (word > 0 && (text[word] == ' ' || strncmp(text + word, ": ", 2) == 0))
        sentence.at[0] = (char)(*text - 'a' + 'A');
    append_element(out, "p", "faint because", sentence.at);
    buffer_release(&sentence);
}

/* What happened, in large letters: the verdict up to its first semicolon if there is no headline; below it the rest. */
static void append_verdict(struct buffer *out, const struct answer *answer)
{
    enum { FITS = 80 }; /* columns of two lines of large letters, roughly */
    const char *headline = answer->headline, *verdict = answer->verdict,
               *because = answer->because ? answer->because : verdict;
    if (headline && verdict && !answer->because && strncmp(headline, verdict, strlen(headline)) == 0)
        headline = NULL; /* a verdict that goes on */
    const char *text = headline  ? headline
                       : verdict ? verdict
                                 : "",
               *rest = headline ? NULL : strstr(text, "; ");
    size_t len = rest ? (size_t)(rest - text) : strlen(text);
    buffer_printf(out, "<p class=\"verdict%s\">", unicode_text_width(text, len) > FITS ? " long" : "");
    append_prose(out, text, len);
    buffer_puts(out, rest ? ".</p>\n" : "</p>\n");
    if (rest || (headline && because && *because))
        append_because(out, rest ? rest + 2 : because);
}

static void append_hero(struct buffer *out, const struct answer *answer)
{
    buffer_puts(out, "<div class=\"hero\"><div>\n");
    append_verdict(out, answer);
    buffer_puts(out, "</div>\n");
    append_change(out, answer);
    buffer_puts(out, "</div>\n");
}

/* ---- steps over time ---- */

static const char *step_word(const struct answer *answer)
{
    return answer->step_word ? answer->step_word : "step";
}

static int64_t median_of(const struct answer *answer)
{
    if (answer->steps_median_ns > 0)
        return answer->steps_median_ns;
    size_t count = answer->steps.count;
    int64_t *times = mem_alloc(mem_times(count, sizeof *times));
    for (size_t i = 0; i < count; i++)
        times[i] = answer->steps.at[i].ns;
    SORT_NUMBERS(times, count);
    int64_t median = count % 2 ? times[count / 2] : times[count / 2 - 1] / 2 + times[count / 2] / 2;
    free(times);
    return median;
}

/* A column for each step; where they are more than fit, for the slowest of a few that follow one another. */
static void append_columns(struct buffer *out, const struct answer *answer, const struct answer_step *slowest,
                           bool stands_out)
{
    enum { MOST = 150 };
    size_t count = answer->steps.count, columns = count < MOST ? count : MOST;
    const double height = 100;
    double wide = 1000.0 / (double)columns;
    for (size_t c = 0; c < columns; c++) {
        size_t first = c * count / columns, end = (c + 1) * count / columns;
        const struct answer_step *step = &answer->steps.at[first];
        for (size_t i = first + 1; i < end; i++)
            step = answer->steps.at[i].ns > step->ns ? &answer->steps.at[i] : step;
        double tall = height * (double)step->ns / (double)slowest->ns;
        buffer_printf(out, "<rect class=\"fill c%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"",
                      step->worse || (stands_out && step == slowest) ? (int)CHART_COLOR_OF_OTHER
                                                                     : (int)CHART_PALE,
                      (double)c * wide + wide * 0.1, height - tall, wide * 0.8, tall);
        if (step->start_ns >= 0)
            buffer_printf(out, " data-at=\"%" PRId64 ",%" PRId64 "\"", step->start_ns, step->ns);
        buffer_printf(out, "><title>%s ", step_word(answer));
        append_text(out, step->label);
        buffer_puts(out, ": ");
        append_time(out, step->ns);
        buffer_puts(out, "</title></rect>");
    }
}

/* Are there steps of which one is longer than others by what can be seen in a chart? */
static bool are_steps_uneven(const struct answer *answer)
{
    const double seen = 0.05; /* of the height */
    int64_t slowest_ns = 0, fastest_ns = INT64_MAX;
    for (size_t i = 0; i < answer->steps.count; i++) {
        int64_t ns = answer->steps.at[i].ns;
        slowest_ns = ns > slowest_ns ? ns : slowest_ns;
        fastest_ns = ns < fastest_ns ? ns : fastest_ns;
    }
    return answer->steps.count > 1 && slowest_ns > 0 &&
           (double)(slowest_ns - fastest_ns) >= seen * (double)slowest_ns;
}

static void append_steps(struct buffer *out, const struct answer *answer, const struct page *page)
{
    size_t count = answer->steps.count;
    const struct answer_step *slowest = answer->steps.at, *fastest = slowest;
    bool any_worse = false;
    for (size_t i = 0; i < count; i++) {
        any_worse |= answer->steps.at[i].worse;
        slowest = answer->steps.at[i].ns > slowest->ns ? &answer->steps.at[i] : slowest;
        fastest = answer->steps.at[i].ns < fastest->ns ? &answer->steps.at[i] : fastest;
    }
    int64_t median = median_of(answer);
    bool links = find_section(page, "steps") != NULL,
         stands_out = slowest->worse || (!any_worse && slowest->ns - median > median / 10);
    buffer_printf(out, "<figure class=\"over-time\"><figcaption>%s", links ? "<a href=\"#steps\">" : "");
    append_text(out, answer->steps_title);
    buffer_printf(out,
                  "%s</figcaption>\n<svg class=\"columns\" viewBox=\"0 0 1000 100\" "
                  "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"the time of each step\">",
                  links ? "</a>" : "");
    append_columns(out, answer, slowest, stands_out);
    buffer_puts(out, "</svg>\n<p class=\"faint\">"); /* a fact says how many they are */
    if (count > 2) {
        buffer_puts(out, "median ");
        append_time(out, median);
        buffer_puts(out, ", ");
    }
    buffer_puts(out, "from ");
    append_time(out, fastest->ns);
    buffer_printf(out, " to <span%s>", stands_out ? " class=\"worse\"" : "");
    append_time(out, slowest->ns);
    buffer_printf(out, " (%s ", step_word(answer));
    append_text(out, slowest->label);
    buffer_puts(out, ")</span></p></figure>\n");
}

/* ---- what to do ---- */

enum { WHERE_COLUMNS = 104, ADVICE_COLUMNS = 108 }; /* two lines, roughly */

/* TEXT with the places at which a long name may be broken: after what joins its words, and before a bracket that opens. */
static void append_breakable(struct buffer *out, const char *text, size_t len)
{
    for (size_t from = 0, i = 0; i < len; i++) {
        char next = i + 1 < len ? text[i + 1] : '\0';
        char second = i + 2 < len ? text[i + 2] : '\0';
        bool figure = strchr(".:", text[i]) && next >= '0' && next <= '9', /* "1.2", "train.py:20" */
            line = next == '(' && second >= '0' && second <= '9',          /* "train.py(20)" */
            opens = (next == '(' || next == '<') && !line, scope = text[i] == ':' && next == ':',
             python = text[i] == '.' && next == 'p' && second == 'y',
             rest = text[i] == '.' && (next == '.' || next == ')'); /* "gemm(...)" */
        if (next && (figure || scope || python || rest || (!opens && !strchr("_,:./", text[i]))))
            continue;
        append_prose(out, text + from, i + 1 - from);
        buffer_puts(out, i + 1 < len ? "<wbr/>" : "");
        from = i + 1;
    }
}

/* How much of TEXT, LEN bytes, is its first clauses that take at most COLUMNS: up to a semicolon or the end of a sentence, else up to a
 * comma or bracket, outside of brackets. All of it where it fits, or has no such place. */
static size_t first_clauses(const char *text, size_t len, size_t columns)
{
    size_t part = 0, whole = 0;
    int depth = 0;
    if (unicode_text_width(text, len) <= columns)
        return len;
    for (size_t i = 1; i + 1 < len && unicode_text_width(text, i) <= columns; i++) {
        depth += text[i] == '(';
        depth -= text[i] == ')' && depth > 0;
        bool spaced = text[i + 1] == ' ', opens = text[i] == ' ' && text[i + 1] == '(';
        if (depth == 0 && spaced && strchr(";.", text[i]))
            whole = i;
        if (depth == 0 && ((spaced && text[i] == ',') || opens))
            part = i;
    }
    return whole ? whole : part ? part : len;
}

/* Does TEXT begin with a word that CODE has? */
static bool begins_with_code(const char *text, const char *code)
{
    enum { LEAST = 6 }; /* of letters that tell */
    char word[64];
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    if (len < LEAST || len >= sizeof word)
        return false;
    memcpy(word, text, len);
    word[len] = '\0';
    return strstr(code, word) != NULL;
}

/* TEXT, LEN bytes of an advice, without what CODE, the line above, repeats: brackets, and a last clause behind a colon, that begin with a
 * word of it. CODE: NULL, there is none. */
static void append_unrepeated(struct buffer *out, const char *text, size_t len, const char *code)
{
    struct buffer kept = { 0 }, all = { 0 };
    buffer_add(&all, text, len);
    enum { SHORT = 60 }; /* a longer clause says more than the line */
    for (const char *at = all.at; at && *at; at++) {
        const char *end = at + 2;
        bool repeats = code && at[1] && begins_with_code(end, code);
        if (repeats && strncmp(at, " (", 2) == 0) {
            for (int depth = 1; *end && depth > 0; end++)
                depth += (*end == '(') - (*end == ')');
            at = end - 1;
        } else if (repeats && strncmp(at, ": ", 2) == 0 && strlen(end) < SHORT && !strstr(end, "; ") &&
                   !strstr(end, ". ")) {
            break;
        } else {
            buffer_putc(&kept, *at);
        }
    }
    append_prose(out, kept.at ? kept.at : "", kept.count);
    EACH(buffer_release, &all, &kept);
}

/* TEXT as a paragraph: its first clauses, of COLUMNS at most; what follows is shown when the row is clicked on. It is an advice beside
 * CODE, NULL where there is none, or, if IS_PLACE, has names that may be broken. */
static void append_clauses(struct buffer *out, const char *text, size_t columns, bool is_place,
                           const char *code)
{
    if (!text)
        return;
    size_t len = strlen(text), first = first_clauses(text, len, columns);
    buffer_printf(out, "<p class=\"%s\">", is_place ? "where" : "advice");
    for (size_t from = 0, to = first; from < len; from = to, to = len) {
        buffer_puts(out, from ? "<span class=\"more\">" : "");
        if (is_place)
            append_breakable(out, text + from, to - from);
        else
            append_unrepeated(out, text + from, to - from, code);
        buffer_puts(out, from ? "</span>" : "");
    }
    buffer_puts(out, "</p>\n");
}

/* The title of a finding: a name of the trace shortened, with all of it as title. */
static void append_title(struct buffer *out, const struct answer_finding *finding, struct apart *names)
{
    const char *title = finding->action ? finding->action : finding->title;
    struct text full = as_text(title), shown = { 0 };
    bool shorter =
        finding->named && !finding->action && apart_fill_names(names, &full, &shown, title, strlen(title));
    buffer_puts(out, "<h3 class=\"title\"");
    if (shorter) {
        buffer_puts(out, " title=\"");
        escape_html(out, full.at, full.len);
        buffer_putc(out, '"');
    }
    buffer_putc(out, '>');
    append_breakable(out, shorter ? shown.at : full.at, shorter ? shown.len : full.len);
    buffer_puts(out, "</h3>\n");
    if (finding->action)
        append_element(out, "p", "cause", finding->title);
}

static bool is_between_words(char c)
{
    return strchr(" (),;", c) != NULL;
}

/* How much of the beginning of A and B, whole words, is the same. */
static size_t same_beginning(const char *a, const char *b)
{
    size_t same = 0, whole = 0;
    while (a[same] && a[same] == b[same])
        if (is_between_words(a[same++]))
            whole = same;
    return a[same] || b[same] ? whole : same;
}

/* And of their ends, within the last A_LEN and B_LEN bytes. */
static size_t same_end(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t same = 0, whole = 0;
    while (same < a_len && same < b_len && a[a_len - same - 1] == b[b_len - same - 1])
        if (is_between_words(a[a_len - ++same]))
            whole = same;
    return whole;
}

/* Is each bracket of TEXT, LEN bytes, closed in it? */
static bool is_balanced(const char *text, size_t len)
{
    int depth = 0;
    for (size_t i = 0; i < len && depth >= 0; i++)
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    return depth == 0;
}

/* TEXT, LEN bytes of code; what is quoted stays in one line, unless it has blanks. */
static void append_code(struct buffer *out, const char *text, size_t len)
{
    for (size_t from = 0, i = 0; i <= len; from = i) {
        const char *quote = memchr(text + i, '"', len - i);
        const char *end = quote ? memchr(quote + 1, '"', len - (size_t)(quote + 1 - text)) : NULL;
        if (!end || memchr(quote, ' ', (size_t)(end - quote))) {
            escape_html(out, text + from, len - from);
            return;
        }
        escape_html(out, text + from, (size_t)(quote - text) - from);
        buffer_puts(out, "<span class=\"quoted\">");
        escape_html(out, quote, (size_t)(end + 1 - quote));
        buffer_puts(out, "</span>");
        i = (size_t)(end + 1 - text);
    }
}

static void append_marked(struct buffer *out, const char *tag, const char *text, size_t len)
{
    if (!len)
        return;
    buffer_printf(out, "<%s>", tag);
    append_code(out, text, len);
    buffer_printf(out, "</%s>", tag);
}

/* A changed line of code: what was is crossed out, and what is new is marked: all of it where a part would be torn out of its
 * brackets. WAS is empty for a new line. */
static void append_diff(struct buffer *out, const char *was, const char *code)
{
    enum { LINE = 48 }; /* letters that fit in one */
    size_t begin = same_beginning(was, code), was_len = strlen(was) - begin, code_len = strlen(code) - begin,
           end = same_end(was + begin, was_len, code + begin, code_len);
    if (!is_balanced(was + begin, was_len - end) || !is_balanced(code + begin, code_len - end)) {
        begin = end = 0;
        was_len = strlen(was);
        code_len = strlen(code);
    }
    buffer_puts(out, "<p class=\"diff\"><code>");
    append_code(out, code, begin);
    append_marked(out, "del", was + begin, was_len - end);
    if (begin + end == 0 && was_len && was_len + code_len > LINE)
        buffer_puts(out, "<br/>");
    append_marked(out, "ins", code + begin, code_len - end);
    append_code(out, code + begin + code_len - end, end);
    buffer_puts(out, "</code></p>\n");
}

/* The saving on the scale of the step. */
static void append_saving(struct buffer *out, const struct answer_finding *finding,
                          const struct answer *answer)
{
    append_element(out, "p", "saves", finding->saves);
    if (finding->saves_ns > 0 && answer->from_ns > 0)
        buffer_printf(out,
                      "<svg class=\"saving\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" role=\"img\" "
                      "aria-label=\"of the whole\"><rect class=\"whole\" width=\"100\" height=\"6\"/><rect "
                      "class=\"part\" width=\"%.2f\" height=\"6\"/></svg>\n",
                      100 * (double)finding->saves_ns / (double)answer->from_ns);
}

/* The link to SECTION, or to the row of it. */
static void append_link(struct buffer *out, const struct answer_finding *finding,
                        const struct page_section *section)
{
    buffer_printf(out, "<a href=\"#%s", section->key);
    if (finding->row && finding->row <= PAGE_MOST_ROWS && section->tables.count &&
        strcmp(section->tables.at[0]->key, section->key) == 0 &&
        finding->row <= section->tables.at[0]->row_count)
        buffer_printf(out, "-%zu", finding->row);
    buffer_puts(out, "\">");
    append_text(out, section->title);
    buffer_puts(out, "</a>");
}

/* The blank before the next option in TEXT, outside of quotes; its end where there is none. */
static const char *find_option(const char *text)
{
    bool quoted = false;
    while (*text && (quoted || strncmp(text, " -", 2) != 0))
        quoted ^= *text++ == '\'';
    return text;
}

/* COMMAND; each option with its value stays in one line where it fits. */
static void append_command(struct buffer *out, const char *command)
{
    const char *end = find_option(command);
    buffer_puts(out, "<code class=\"command\">");
    escape_html(out, command, (size_t)(end - command));
    while (*end) {
        const char *option = end + 1;
        end = find_option(option);
        buffer_puts(out, " <span>");
        escape_html(out, option, (size_t)(end - option));
        buffer_puts(out, "</span>");
    }
    buffer_puts(out, "</code>\n");
}

static void append_links(struct buffer *out, const struct answer_finding *finding, const struct page *page)
{
    const struct page_section *section = find_section(page, finding->section);
    if (!section && !finding->command)
        return;
    buffer_puts(out, "<p class=\"faint links\">");
    if (section) {
        append_link(out, finding, section);
        buffer_puts(out, finding->command ? "; " : "");
    }
    if (finding->command)
        append_command(out, finding->command);
    buffer_puts(out, "</p>");
}

/* Put the place of FINDING, where WHERE has its long name in the middle, shortened into OUT; FULL gets all of it. False: there is none. */
static bool shorten_place(struct buffer *out, const struct answer_finding *finding, struct buffer *full)
{
    enum { NAME_COLUMNS = 48 };
    struct buffer shown = { 0 };
    const char *at = NULL;
    if (finding->where && finding->place &&
        shorten_readable(full, &shown, finding->place, strlen(finding->place), NAME_COLUMNS))
        at = strstr(finding->where, full->at);
    if (at) {
        buffer_add(out, finding->where, (size_t)(at - finding->where));
        buffer_add(out, shown.at, shown.count);
        buffer_puts(out, at + full->count);
    }
    buffer_release(&shown);
    return at != NULL;
}

/* Where FINDING is; the name of the trace that is in it is shortened, and the script finds its events by all of it. */
static void append_where(struct buffer *out, const struct answer_finding *finding, struct apart *names)
{
    struct text full, shown;
    struct buffer where = { 0 }, place = { 0 };
    size_t len = finding->where ? apart_find_begin(names, finding->where) : 0;
    bool short_name = len && apart_fill_names(names, &full, &shown, finding->where, len);
    if (short_name) {
        buffer_add(&where, shown.at, shown.len);
        buffer_puts(&where, finding->where + len);
    } else if (shorten_place(&where, finding, &place)) {
        full = (struct text){ place.at, place.count };
        short_name = true;
    }
    if (short_name) {
        buffer_puts(out, "<div data-where=\"");
        append_text(out, finding->where);
        buffer_puts(out, "\" title=\"");
        escape_html(out, full.at, full.len);
        buffer_puts(out, "\">");
        append_clauses(out, where.at, WHERE_COLUMNS, true, NULL);
        buffer_puts(out, "</div>");
    } else {
        append_clauses(out, finding->where, WHERE_COLUMNS, true, NULL);
    }
    EACH(buffer_release, &where, &place);
}

/* A row, "finding-1"; the script adds a link to its place in the timeline. */
static void append_finding(struct buffer *out, const struct answer *answer, size_t number,
                           const struct page *page, struct apart *names)
{
    const struct answer_finding *finding = &answer->findings.at[number - 1];
    buffer_printf(out, "<li id=\"finding-%zu\"%s", number, finding->good ? " class=\"good\"" : "");
    if (finding->place) {
        buffer_puts(out, " data-place=\"");
        append_text(out, finding->place);
        buffer_putc(out, '"');
    }
    buffer_printf(out, "><span class=\"number\">%zu</span><div class=\"what-to-do\">", number);
    append_title(out, finding, names);
    append_where(out, finding, names);
    buffer_puts(out, "</div><div class=\"how\">");
    if (finding->code)
        append_diff(out, finding->was ? finding->was : "", finding->code);
    append_clauses(out, finding->advice, ADVICE_COLUMNS, false, finding->code);
    buffer_puts(out, "</div><div class=\"gained\">");
    append_saving(out, finding, answer);
    append_links(out, finding, page);
    buffer_puts(out, "</div></li>\n");
}

/* "more under Findings; savings overlap: alone they add up to 140.112ms, together 80.571ms"; where together is more, why. */
static void append_overlap(struct buffer *out, const struct answer *answer, const struct page *page)
{
    int64_t together_ns = answer->from_ns - answer->together_ns;
    const struct page_section *all = find_section(page, "summary");
    bool overlap = has_gains(answer) && answer->alone_ns != 0 && answer->alone_ns != together_ns,
         more = answer->last_change > answer_first_findings(answer);
    if (!overlap && !more)
        return;
    buffer_puts(out, " <small>");
    if (more)
        buffer_printf(out, all ? "more under <a href=\"#summary\">Findings</a>%s" : "more by tpa summary%s",
                      overlap ? "; " : "");
    if (overlap) {
        buffer_puts(out, answer->alone_ns > together_ns ? "savings overlap: alone they add up to "
                                                        : "alone they add up to ");
        append_time(out, answer->alone_ns);
        buffer_puts(out, ", together ");
        append_time(out, together_ns);
        buffer_puts(out,
                    answer->alone_ns > together_ns ? "" : ", as each alone leaves the others as the limit");
    }
    buffer_puts(out, "</small>");
}

static void append_findings(struct buffer *out, const struct answer *answer, const struct page *page,
                            struct apart *names)
{
    if (answer->findings.count == 0 && !answer->nothing)
        return;
    buffer_puts(out, "<h2>");
    append_text(out, answer->findings_title ? answer->findings_title : "What to do first");
    append_overlap(out, answer, page);
    buffer_puts(out, "</h2>\n");
    if (answer->findings.count == 0) {
        append_element(out, "p", "nothing", answer->nothing);
        return;
    }
    buffer_puts(out, "<ol class=\"findings\">\n");
    for (size_t i = 0; i < answer_first_findings(answer); i++)
        append_finding(out, answer, i + 1, page, names);
    buffer_puts(out, "</ol>\n");
}

/* ---- who holds the job up ---- */

enum { CULPRIT_HOST, CULPRIT_GREW, CULPRIT_WHEN, CULPRIT_EACH, CULPRIT_COLUMNS };

/* A bit for each column in which a culprit has something. */
static unsigned culprit_columns(const struct answer *answer)
{
    unsigned filled = 0;
    for (size_t i = 0; i < answer->culprits.count; i++) {
        const struct answer_culprit *culprit = &answer->culprits.at[i];
        const bool has[CULPRIT_COLUMNS] = { culprit->host && *culprit->host, culprit->grew && *culprit->grew,
                                            culprit->habit && *culprit->habit, culprit->each_ns != 0 };
        for (unsigned c = 0; c < CULPRIT_COLUMNS; c++)
            filled |= has[c] ? 1U << c : 0;
    }
    return filled;
}

static void append_culprits(struct buffer *out, const struct answer *answer, const struct page *page)
{
    static const char *const heads[] = { "<th class=\"less\">Host</th>", "<th>What grew</th>",
                                         "<th class=\"less\">When</th>" };
    if (answer->culprits.count == 0)
        return;
    const char *key = find_section(page, "fleet") ? "fleet" : find_section(page, "ranks") ? "ranks" : NULL;
    unsigned filled = culprit_columns(answer);
    buffer_puts(out, "<table class=\"rows culprits\"><thead><tr><th class=\"who\">");
    if (key)
        buffer_printf(out, "<a href=\"#%s\">Who holds the job up</a>", key);
    else
        buffer_puts(out, "Who holds the job up");
    buffer_puts(out, "</th>");
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
        buffer_puts(out, filled & 1U << k ? heads[k] : "");
    bool each = filled >> CULPRIT_EACH & 1; /* the figure of the headline */
    buffer_printf(out, "<th class=\"n\">%s</th><th class=\"n\">Share</th></tr></thead>\n<tbody>\n",
                  each ? "Each other rank waits, per step" : "Others waited in all");
    for (size_t i = 0; i < answer->culprits.count; i++) {
        const struct answer_culprit *culprit = &answer->culprits.at[i];
        const char *texts[] = { culprit->host, culprit->grew, culprit->habit };
        if (i > 0 && culprit->waited_ns == 0) /* the others, for which none waits */
            continue;
        buffer_puts(out, "<tr><td class=\"who\">");
        append_text(out, culprit->who);
        buffer_puts(out, "</td>");
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (filled & 1U << k) {
                buffer_puts(out, k == CULPRIT_GREW ? "<td>" : "<td class=\"less\">");
                append_text(out, texts[k] ? texts[k] : "");
                buffer_puts(out, "</td>");
            }
        buffer_puts(out, "<td class=\"n\">");
        append_time(out, each ? culprit->each_ns : culprit->waited_ns);
        double share = culprit->share >= 0 && culprit->share <= 1 ? culprit->share : 0;
        buffer_printf(out, "</td><td class=\"n cell-bar w%d\">", (int)(50 * share + 0.5) * 2);
        append_share(out, culprit->share);
        buffer_puts(out, "</td></tr>\n");
    }
    buffer_puts(out, "</tbody></table>\n");
}

/* ---- what takes longest ---- */

static void answer_append_rows(struct buffer *out, const struct answer *answer, const struct page *page,
                               struct apart *names)
{
    bool links = find_section(page, answer->rows_section) != NULL;
    buffer_puts(out, "<div class=\"longest\"><h2>");
    if (links)
        buffer_printf(out, "<a href=\"#%s\">", answer->rows_section);
    append_text(out, answer->rows_title);
    buffer_puts(out, links ? "</a></h2>\n<table class=\"rows\">\n" : "</h2>\n<table class=\"rows\">\n");
    for (size_t i = 0; i < answer->rows.count; i++) {
        const struct answer_row *row = &answer->rows.at[i];
        struct text full = as_text(row->name), shown = { 0 };
        bool shorter = apart_fill_names(names, &full, &shown, row->name, strlen(row->name));
        buffer_printf(out, "<tr><td class=\"cell-bar w%d\" title=\"",
                      (int)(50 * row->share / answer->rows.at[0].share + 0.5) * 2);
        escape_html(out, full.at, full.len);
        buffer_puts(out, "\">");
        escape_html(out, shorter ? shown.at : full.at, shorter ? shown.len : full.len);
        buffer_puts(out, "</td><td class=\"n\">");
        append_time(out, row->ns);
        buffer_puts(out, "</td><td class=\"n\">");
        append_share(out, row->share);
        buffer_puts(out, "</td></tr>\n");
    }
    buffer_puts(out, "</table></div>\n");
}

/* Beside each other: what takes longest, and the steps over time. */
static void append_below(struct buffer *out, const struct answer *answer, const struct page *page,
                         struct apart *names)
{
    bool rows = answer->rows_word && answer->rows.count, /* else the legend of the bar has them */
        steps = are_steps_uneven(answer);
    if (!rows && !steps)
        return;
    buffer_puts(out, "<div class=\"halves\">\n");
    if (rows)
        answer_append_rows(out, answer, page, names);
    if (steps)
        append_steps(out, answer, page);
    buffer_puts(out, "</div>\n");
}

/* What the timelines of the page show, drawn small: a step; of a snapshot the memory of the device that the answer is about. */
static void append_timelines(struct buffer *out, const struct answer *answer, const struct page *page)
{
    size_t number = 0;
    for (size_t i = 0; i < page->sections.count; i++) {
        const struct page_section *section = &page->sections.at[i];
        for (size_t t = 0; t < section->timelines.count; t++) {
            page_add_curve(out, section->timelines.at[t], ++number, answer);
            if (section->timelines.count == 1)
                page_add_step(out, section->timelines.at[t], answer);
        }
    }
}

static void append_trends(struct buffer *out, const struct answer *answer)
{
    if (answer->trends.count == 0)
        return;
    buffer_puts(out, "<div class=\"halves\">\n");
    for (size_t i = 0; i < answer->trends.count; i++)
        page_add_trend(out, &answer->trends.at[i]);
    buffer_puts(out, "</div>\n");
}

/* Below who holds the job up, if anyone does, what that cannot say: MISSING behind its numbers of ranks, which a fact has. */
static void append_missing(struct buffer *out, const struct answer *answer, const char *missing)
{
    const char *rest = missing && answer->culprits.count ? strstr(missing, ". ") : NULL;
    if (!rest)
        return;
    buffer_puts(out, "<p class=\"faint because\">");
    append_prose(out, rest + 2, strlen(rest + 2));
    buffer_puts(out, ".</p>\n");
}

void page_begin_answer(struct buffer *out, const struct answer *answer, const struct page *page,
                       const char *missing)
{
    buffer_puts(out, "<section id=\"answer\" aria-label=\"The answer\">\n");
    append_hero(out, answer);
    append_culprits(out, answer, page);
    append_missing(out, answer, missing);
    append_bars(out, answer, page);
    append_timelines(out, answer, page);
    append_trends(out, answer);
}

void page_end_answer(struct buffer *out, const struct answer *answer, const struct page *page,
                     struct apart *names)
{
    append_findings(out, answer, page, names);
    append_below(out, answer, page, names);
    buffer_puts(out, "</section>\n");
}
