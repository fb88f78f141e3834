/* check.c - see check.h: lines and tables of Markdown, and the verdict on each figure. */
#include "check/check.h"

#include "base/shell_word.h"
#include "check/ranking.h"

#include "check/statements.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct check_row, line, "line", "Line", TABLE_COUNT, "line of the answer, from 1"),
    COLUMN(struct check_row, verdict, "verdict", "Verdict", TABLE_TEXT, "confirmed, contradicted or not_checkable"),
    COLUMN(struct check_row, said, "said", "Said", TABLE_NUMBER, "the figure in the answer"),
    COLUMN(struct check_row, right, "right", "Right", TABLE_NUMBER, "the figure by the trace, in the unit that was said; missing if not checkable"),
    COLUMN(struct check_row, unit, "unit", "Unit", TABLE_TEXT, "of both; missing for counts"),
    COLUMN(struct check_row, subject, "subject", "Subject", TABLE_NAME, "what the figure is about"),
    COLUMN(struct check_row, quantity, "quantity", "Quantity", TABLE_TEXT, "key of the column that holds the right figure", .flags = TABLE_OPTIONAL),
    COLUMN(struct check_row, first, "first", "First", TABLE_NAME, "who is first, or of two the other, where the line ranks names without a figure", .flags = TABLE_IF_ANY),
    COLUMN(struct check_row, reason, "reason", "Reason", TABLE_TEXT, "why it is not checkable: no_figure, no_subject, no_quantity, not_in_trace, modal or ambiguous"),
    COLUMN(struct check_row, statement, "statement", "Statement", TABLE_TEXT, "the line of the answer", .flags = TABLE_LINE),
    COLUMN(struct check_row, command, "command", "Command", TABLE_TEXT, "command that prints the right figure", .flags = TABLE_LINE),
};
/* clang-format on */

const struct table_shape check_tables[] = {
    TABLE_SHAPE("statements", columns),
    { 0 },
};

static const char *const verdict_words[] = {
#define VERDICT_WORD(id, word) [CHECK_##id] = word,
    CHECK_VERDICTS(VERDICT_WORD)
#undef VERDICT_WORD
};

static const char *const reason_words[] = {
#define REASON_WORD(id, word) [CHECK_##id] = word,
    CHECK_REASONS(REASON_WORD)
#undef REASON_WORD
};

/* A run of check_answer. */
struct checking {
    struct check_facts *facts;
    const struct check_input *input;
    struct check *check;
};

/* ---- verdicts ---- */

/* The outcome of a statement. */
struct judgement {
    enum check_verdict verdict;
    enum check_reason reason;
    struct check_reading reading; /* that confirms or contradicts */
    long double scale;            /* of the unit, by the reading of kB that fits */
};

/* Does FIGURE, in units of SCALE, fit VALUE? */
static bool figure_fits(const struct figure *figure, long double scale, const struct check_reading *reading)
{
    bool exact = figure->dimension == CHECK_COUNT;
    long double low = figure->value * scale, high = figure->to * scale, value = reading->value;
    long double slack = exact ? 0 : figure->half * scale + reading->slack;
    if (figure->about)
        slack += fabsl(high) * 0.05L;
    slack += fabsl(value) * 1e-12L; /* of binary fractions */
    switch (figure->bound) {
    case BOUND_LEAST: return value >= low - slack;
    case BOUND_MORE: return exact ? value > low : value >= low - slack;
    case BOUND_MOST: return value <= high + slack;
    case BOUND_LESS: return exact ? value < high : value <= high + slack;
    case BOUND_NONE: break;
    }
    return value >= low - slack && value <= high + slack;
}

/* How far FIGURE is from VALUE, as a ratio. */
static long double distance(const struct figure *figure, long double scale, long double value)
{
    long double said = figure->value * scale;
    if (said <= 0 || value <= 0)
        return said == value ? 0 : INFINITY;
    return fabsl(logl(said / value));
}

static bool find_fitting(const struct figure *figure, const struct check_readings *readings,
                         enum check_strength strength, struct judgement *judgement)
{
    long double scales[] = { figure->has_unit ? figure->scale : 1, figure->has_unit ? figure->scale2 : 0 };
    for (size_t s = 0; s < 2 && scales[s] > 0; s++)
        for (size_t i = 0; i < readings->count; i++)
            if (readings->at[i].strength == strength && figure_fits(figure, scales[s], &readings->at[i])) {
                judgement->reading = readings->at[i];
                judgement->scale = scales[s];
                return true;
            }
    return false;
}

/* Does a bound hold of some strict readings and not of others? */
static bool bound_is_ambiguous(const struct figure *figure, const struct check_readings *readings)
{
    bool holds = false, fails = false;
    long double scale = figure->has_unit ? figure->scale : 1;
    for (size_t i = 0; i < readings->count && figure->bound != BOUND_NONE; i++) {
        if (readings->at[i].strength != CHECK_STRICT)
            continue;
        bool fits = figure_fits(figure, scale, &readings->at[i]);
        holds |= fits;
        fails |= !fits;
    }
    return holds && fails;
}

/* Is the figure between those of several ranks or devices: their mean, or the like? */
static bool is_between(const struct figure *figure, const struct check_readings *readings)
{
    long double scale = figure->has_unit ? figure->scale : 1;
    for (size_t i = 0; i < readings->count; i++)
        for (size_t j = 0; j < readings->count; j++)
            if (readings->at[i].strength == CHECK_STRICT && readings->at[j].strength == CHECK_STRICT &&
                strcmp(readings->at[i].quantity, readings->at[j].quantity) == 0 &&
                readings->at[i].command == readings->at[j].command &&
                readings->at[i].value < figure->value * scale &&
                figure->value * scale < readings->at[j].value)
                return true;
    return false;
}

/* The reading that shows what is right: the first; of several times or ranks that may be meant the nearest. */
static const struct check_reading *right_reading(const struct statement *statement,
                                                 const struct check_readings *readings)
{
    const struct check_reading *best = NULL;
    bool vague = statement->query.subject == CHECK_NAME && statement->query.statistics == 0;
    long double scale = statement->figure.has_unit ? statement->figure.scale : 1;
    FOR_EACH(reading, readings) {
        if (reading->strength != CHECK_STRICT)
            continue;
        bool nearer = best && (vague || strcmp(reading->quantity, best->quantity) == 0) &&
                      distance(&statement->figure, scale, reading->value) <
                          distance(&statement->figure, scale, best->value);
        if (!best || nearer)
            best = reading;
    }
    return best;
}

static struct judgement judge(struct check_facts *facts, const struct statement *statement)
{
    struct judgement judgement = { .verdict = CHECK_OPEN, .reason = statement->reason };
    if (!statement->has_query)
        return judgement;
    SCOPED struct check_readings readings = { 0 };
    check_facts_answer(facts, &statement->query, &readings);
    const struct figure *figure = &statement->figure;
    const struct check_reading *right = right_reading(statement, &readings);
    if (bound_is_ambiguous(figure, &readings)) {
        judgement.reason = CHECK_AMBIGUOUS;
    } else if (find_fitting(figure, &readings, CHECK_STRICT, &judgement) ||
               find_fitting(figure, &readings, CHECK_MAY_FIT, &judgement)) {
        judgement.verdict = CHECK_CONFIRMED;
    } else if (is_between(figure, &readings) || (statement->vague && right) ||
               find_fitting(figure, &readings, CHECK_DOES_NOT, &judgement) || (!right && readings.count)) {
        judgement.reason = CHECK_AMBIGUOUS;
    } else if (!right) {
        bool state = statement->query.subject == CHECK_NAME || statement->query.dimension == CHECK_BYTES;
        judgement.reason = state ? CHECK_NO_QUANTITY : CHECK_NOT_IN_TRACE;
    } else {
        judgement.verdict = CHECK_CONTRADICTED;
        judgement.reading = *right;
        judgement.scale = figure->has_unit ? figure->scale : 1;
    }
    return judgement;
}

/* ---- rows ---- */

void check_append_files(const struct check_input *input, struct buffer *out)
{
    for (size_t i = 0; i < input->file_count; i++) {
        buffer_putc(out, ' ');
        shell_word_append(out, input->files[i], strlen(input->files[i]));
    }
}

void check_add_row(struct check *check, const struct check_row *row, enum check_reason reason)
{
    struct check_row *added = VEC_PUSH(check);
    *added = *row;
    added->verdict = as_text(verdict_words[row->outcome]);
    if (row->outcome == CHECK_OPEN)
        added->reason = as_text(reason_words[reason]);
    check->outcomes[row->outcome]++;
}

static struct check_row row_of(int64_t line, struct text statement)
{
    return (struct check_row){ .line = line, .statement = statement, .said = NAN, .right = NAN };
}

static void add_judged(struct checking *checking, int64_t line, struct text text,
                       const struct statement *statement, const struct judgement *judgement)
{
    struct arena *texts = arena_of(checking->check);
    struct check_row row = row_of(line, text);
    row.said = (double)statement->figure.value;
    row.unit = as_text(statement->figure.unit);
    row.outcome = judgement->verdict;
    row.subject = as_text(statement->subject);
    if (judgement->verdict != CHECK_OPEN) {
        SCOPED struct buffer command = { 0 };
        check_append_command(checking->facts, &statement->query, &judgement->reading, &command);
        check_append_files(checking->input, &command);
        row.command = as_text(arena_strndup(texts, command.at, command.count));
        row.quantity = as_text(judgement->reading.quantity);
        row.right = (double)(judgement->reading.value / judgement->scale);
    }
    check_add_row(checking->check, &row, judgement->reason);
}

/* A row for each figure of a line; if none can be checked, one for all, also of numbers that are no figures. */
static void add_statements(struct checking *checking, int64_t line, const char *text, size_t len,
                           const struct statements *statements, bool has_number)
{
    struct text whole = as_text(arena_strndup(arena_of(checking->check), text, len));
    size_t checkable = 0;
    SCOPED struct judgement *judgements = mem_alloc((statements->count + 1) * sizeof *judgements);
    for (size_t i = 0; i < statements->count; i++) {
        judgements[i] = judge(checking->facts, &statements->at[i]);
        checkable += judgements[i].verdict != CHECK_OPEN;
    }
    if (checkable) {
        for (size_t i = 0; i < statements->count; i++)
            add_judged(checking, line, whole, &statements->at[i], &judgements[i]);
    } else if (statements->count) {
        add_judged(checking, line, whole, &statements->at[0], &judgements[0]);
    } else if (has_number) {
        struct check_row row = row_of(line, whole);
        row.outcome = CHECK_OPEN;
        check_add_row(checking->check, &row, CHECK_NO_FIGURE);
    }
}

/* A row for each sentence that ranks names without a figure. */
static void add_rankings(struct checking *checking, int64_t line, const char *text, size_t len,
                         const struct tokens *tokens)
{
    struct arena *texts = arena_of(checking->check);
    for (size_t first = 0, i = 0; i <= tokens->count; i++) {
        if (i < tokens->count && tokens->at[i].kind != TOKEN_SENTENCE)
            continue;
        struct ranking ranking = ranking_read(checking->facts, tokens, first, i);
        first = i + 1;
        if (ranking.outcome == RANKING_NONE)
            continue;
        struct check_row row = row_of(line, as_text(arena_strndup(texts, text, len)));
        struct buffer command = { 0 };
        static const char *const commands[] = { "top", "kernels", "steps --limit 0", "steps --by rank" };
        buffer_printf(&command, "tpa %s", commands[ranking.of]);
        if (ranking.subject)
            buffer_printf(&command, " --sort %s", ranking.quantity);
        check_append_files(checking->input, &command);
        row.outcome = ranking.outcome == RANKING_HOLDS ? CHECK_CONFIRMED : CHECK_CONTRADICTED;
        const char *thing = ranking.of == RANKING_RANKS ? "rank" : "step";
        row.subject = as_text(ranking.subject ? arena_strndup(texts, ranking.subject, strlen(ranking.subject))
                                              : arena_printf(texts, "%s %" PRId64, thing, ranking.number));
        row.first =
            as_text(ranking.subject ? arena_strndup(texts, ranking.first, strlen(ranking.first))
                                    : arena_printf(texts, "%s %" PRId64, thing, ranking.first_number));
        row.quantity = as_text(ranking.quantity);
        row.command = as_text(arena_strndup(texts, command.at, command.count));
        buffer_release(&command);
        check_add_row(checking->check, &row, CHECK_NO_FIGURE);
    }
}

void check_add_rankings(struct check *check, struct check_facts *facts, const struct check_input *input,
                        int64_t line, const char *text, size_t len)
{
    struct checking checking = { facts, input, check };
    SCOPED struct tokens tokens = { 0 };
    SCOPED_ARENA struct arena arena = { 0 };
    prose_read(facts, text, len, &arena, &tokens);
    add_rankings(&checking, line, text, len, &tokens);
}

static bool tokens_have_number(const struct tokens *tokens)
{
    return ANY(i, tokens->count, tokens->at[i].kind == TOKEN_NUMBER);
}

/* One that does not only name a step or a rank. */
static bool tokens_have_figure(const struct tokens *tokens)
{
    return ANY(i, tokens->count, tokens->at[i].kind == TOKEN_NUMBER && !tokens->at[i].figure.is_label);
}

/* ---- tables ---- */

enum { MOST_CELLS = 64 };

struct cells {
    struct text at[MOST_CELLS];
    size_t count;
};

/* The cells of the LEN bytes of a table's row at TEXT; "\\|" and what is in backticks do not end one. */
static struct cells split_row(const char *text, size_t len)
{
    struct cells cells = { 0 };
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    size_t from = 0;
    while (from < len && isspace((unsigned char)text[from]))
        from++;
    if (from < len && text[from] == '|')
        from++;
    bool code = false;
    for (size_t i = from; i <= len && cells.count < MOST_CELLS; i++) {
        if (i < len && text[i] == '`')
            code = !code;
        if (i < len && (text[i] != '|' || code || (i > 0 && text[i - 1] == '\\')))
            continue;
        if (i == len && from == len)
            break;
        size_t first = from, end = i;
        while (first < end && isspace((unsigned char)text[first]))
            first++;
        while (end > first && isspace((unsigned char)text[end - 1]))
            end--;
        cells.at[cells.count++] = (struct text){ text + first, end - first };
        from = i + 1;
    }
    return cells;
}

/* Is the line the one below a table's header: |---|--:|? */
static bool is_delimiter(const char *text, size_t len)
{
    bool dash = false, bar = false;
    for (size_t i = 0; i < len; i++) {
        if (!strchr("|-: \t\r", text[i]))
            return false;
        dash |= text[i] == '-';
        bar |= text[i] == '|';
    }
    return dash && bar;
}

struct markdown_table {
    struct cells header;
    struct tokens words[MOST_CELLS]; /* of the header */
    bool of_gpus;    /* it has two of the times of a GPU: then a number in front is that of a GPU */
    bool restricted; /* its rows are parts of their subjects: of a step, a shape, a stream */
};

/* FIRST: the cells of the first row. */
static void table_open_header(struct checking *checking, struct markdown_table *table, struct cells header,
                              struct cells first)
{
    /* Parts of a subject; and columns of names, which narrow down what the first cell says. */
    static const char *const parts[] = { "step",  "stream", "thread", "shape", "shapes", "line",
                                         "stack", "rank",   "device", "gpu",   "cycle",  "phase" };
    static const char *const names[] = { "module",   "category", "name", "kernel",
                                         "operator", "op",       "call", "overload" };
    table->header = header;
    table->restricted = false;
    unsigned states = 0;
    for (size_t c = 0; c < header.count; c++) {
        table->words[c] = (struct tokens){ 0 };
        prose_read(checking->facts, header.at[c].at, header.at[c].len, arena_of(table), &table->words[c]);
        const struct token *word = table->words[c].at;
        for (size_t w = 0; w < table->words[c].count; w++)
            states |= word[w].bits & (WORD_IDLE | WORD_BUSY | WORD_SPAN);
        static const char *const shapes[] = { "shape", "shapes", "stack", "line" };
        for (size_t w = 0; c > 0 && w < table->words[c].count; w++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                table->restricted |= word[w].kind == TOKEN_WORD && strcmp(word[w].text, shapes[i]) == 0;
        if (c == 0 || table->words[c].count != 1 || word->kind != TOKEN_WORD)
            continue;
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            table->restricted |= strcmp(word->text, parts[p]) == 0;
        bool has_digit = c < first.count && first.at[c].len && isdigit((unsigned char)first.at[c].at[0]);
        for (size_t n = 0; n < sizeof names / sizeof *names && !has_digit; n++)
            table->restricted |= strcmp(word->text, names[n]) == 0;
    }
    table->of_gpus = states & (states - 1);
}

/* Add the row at TEXT of TABLE. IS_REPEATED: another row has the same first cell. */
static void check_row_of_table(struct checking *checking, const struct markdown_table *table, int64_t line,
                               const char *text, size_t len, bool is_repeated)
{
    struct cells cells = split_row(text, len);
    SCOPED_ARENA struct arena arena = { 0 };
    SCOPED struct tokens names = { 0 };
    SCOPED struct statements statements = { 0 };
    bool has_number = false, is_number = false;
    if (cells.count) {
        const struct text *first = &cells.at[0];
        is_number = first->len > 0;
        for (size_t i = 0; i < first->len; i++)
            is_number = is_number && isdigit((unsigned char)first->at[i]);
        const struct text *above = &table->header.at[0];
        char *subject =
            is_number && table->header.count /* Rank | 3 */
                ? arena_printf(&arena, "%.*s %.*s", (int)above->len, above->at, (int)first->len, first->at)
                : arena_strndup(&arena, first->at, first->len);
        prose_read(checking->facts, subject, strlen(subject), &arena, &names);
    }
    for (size_t c = 1; c < cells.count && c < table->header.count; c++) {
        SCOPED struct tokens cell = { 0 };
        prose_read(checking->facts, cells.at[c].at, cells.at[c].len, &arena, &cell);
        has_number |= tokens_have_number(&cell);
        size_t before = statements.count;
        statements_read_cell(checking->facts, &names, &table->words[c], &cell, &arena, &statements);
        for (size_t i = before; i < statements.count; i++)
            if (statements.at[i].has_query &&
                (table->restricted || is_repeated ||
                 (is_number && !table->of_gpus && statements.at[i].query.subject != CHECK_STEP))) {
                statements.at[i].has_query = false;
                statements.at[i].reason = CHECK_AMBIGUOUS;
            }
    }
    for (size_t i = 0; i < statements.count; i++)
        if (statements.at[i].subject)
            statements.at[i].subject = arena_strndup(arena_of(checking->check), statements.at[i].subject,
                                                     strlen(statements.at[i].subject));
    add_statements(checking, line, text, len, &statements, has_number);
}

/* ---- lines ---- */

/* The text of a line without the marks of quotes and lists before it. */
static void skip_marks(const char **text, size_t *len)
{
    const char *at = *text, *end = at + *len;
    for (bool more = true; more;) {
        more = false;
        while (at < end && isspace((unsigned char)*at))
            at++;
        const char *mark = at;
        if (mark < end && (*mark == '>' || ((*mark == '-' || *mark == '*' || *mark == '+') &&
                                            mark + 1 < end && isspace((unsigned char)mark[1])))) {
            at = mark + 1;
            more = true;
            continue;
        }
        while (mark < end && isdigit((unsigned char)*mark))
            mark++;
        if (mark > at && mark - at <= 9 && mark + 1 < end && (*mark == '.' || *mark == ')') &&
            isspace((unsigned char)mark[1])) {
            at = mark + 1;
            more = true;
        } else if (end - at > 3 && at[0] == '[' && at[2] == ']' && isspace((unsigned char)at[3])) {
            at += 3; /* a task */
        }
    }
    *len = (size_t)(end - at);
    *text = at;
}

static void check_line(struct checking *checking, int64_t line, const char *text, size_t len)
{
    const char *whole = text;
    size_t whole_len = len;
    while (whole_len > 0 && isspace((unsigned char)whole[whole_len - 1]))
        whole_len--;
    SCOPED struct tokens tokens = { 0 };
    SCOPED struct statements statements = { 0 };
    skip_marks(&text, &len);
    SCOPED_ARENA struct arena arena = { 0 };
    prose_read(checking->facts, text, len, &arena, &tokens);
    bool has_number = tokens_have_number(&tokens) || checking->input->sentence;
    statements_read(checking->facts, &tokens, &arena, &statements);
    for (size_t i = 0; i < statements.count && prose_is_columns(text, len); i++)
        if (statements.at[i].has_query) {
            statements.at[i].has_query = false;
            statements.at[i].reason = CHECK_AMBIGUOUS;
        }
    for (size_t i = 0; i < statements.count; i++)
        if (statements.at[i].subject)
            statements.at[i].subject = arena_strndup(arena_of(checking->check), statements.at[i].subject,
                                                     strlen(statements.at[i].subject));
    size_t before = checking->check->count;
    if (!prose_is_columns(text, len))
        add_rankings(checking, line, whole, whole_len, &tokens);
    if (checking->check->count == before || tokens_have_figure(&tokens))
        add_statements(checking, line, whole, whole_len, &statements, has_number);
}

/* Lines of the answer, and where the reading of it stands. */
struct markdown {
    VEC_OF(struct text) lines;
    bool *skipped; /* code, headings, comments */
};

static bool begins_with(const struct text *line, const char *mark, size_t *indent)
{
    size_t at = 0;
    while (at < line->len && line->at[at] == ' ')
        at++;
    *indent = at;
    size_t size = strlen(mark);
    return line->len >= at + size && memcmp(line->at + at, mark, size) == 0;
}

/* Mark fenced code, headings and HTML comments. */
static void mark_skipped(struct markdown *markdown)
{
    bool in_comment = false;
    char fence = 0;
    size_t fence_size = 0;
    for (size_t i = 0; i < markdown->lines.count; i++) {
        const struct text *line = &markdown->lines.at[i];
        size_t at = 0, indent;
        while (at < line->len && (line->at[at] == ' ' || line->at[at] == '>' || line->at[at] == '\t'))
            at++;
        size_t run = 0;
        if (at < line->len && (line->at[at] == '`' || line->at[at] == '~'))
            while (at + run < line->len && line->at[at + run] == line->at[at])
                run++;
        if (fence) {
            markdown->skipped[i] = true;
            if (run >= fence_size && line->at[at] == fence)
                fence = 0;
            continue;
        }
        if (in_comment || begins_with(line, "<!--", &indent)) {
            markdown->skipped[i] = true;
            in_comment = !memmem(line->at, line->len, "-->", 3);
            continue;
        }
        if (run >= 3 && !(line->at[at] == '`' && memchr(line->at + at + run, '`', line->len - at - run))) {
            fence = line->at[at];
            fence_size = run;
            markdown->skipped[i] = true;
            continue;
        }
        size_t marks = at;
        while (marks < line->len && line->at[marks] == '#')
            marks++;
        if (marks > at && marks - at <= 6 && (marks == line->len || isspace((unsigned char)line->at[marks])))
            markdown->skipped[i] = true;
        bool underline = line->len > 2;
        for (size_t c = 0; c < line->len; c++)
            underline = underline && (line->at[c] == '=' || line->at[c] == '-') && line->at[c] == line->at[0];
        if (underline && i > 0 && markdown->lines.at[i - 1].len > 0) {
            markdown->skipped[i] = true;
            markdown->skipped[i - 1] = true;
        }
    }
}

static bool has_same_subject(const struct text *a, const struct text *b)
{
    struct cells x = split_row(a->at, a->len), y = split_row(b->at, b->len);
    return x.count && y.count && x.at[0].len == y.at[0].len &&
           memcmp(x.at[0].at, y.at[0].at, x.at[0].len) == 0;
}

/* Check the table whose header is line FIRST. Returns the line behind it. */
static size_t check_table(struct checking *checking, const struct markdown *markdown, size_t first)
{
    enum { MOST_COMPARED = 500 }; /* rows, with one another */
    SCOPED_OBJECT struct markdown_table *table = arena_open(sizeof *table);
    ARENA_OWNS_EACH(arena_of(table), table->words, sizeof table->words / sizeof *table->words, at);
    struct cells row = { 0 };
    if (first + 2 < markdown->lines.count)
        row = split_row(markdown->lines.at[first + 2].at, markdown->lines.at[first + 2].len);
    table_open_header(checking, table, split_row(markdown->lines.at[first].at, markdown->lines.at[first].len),
                      row);
    size_t end = first + 2;
    while (end < markdown->lines.count &&
           memchr(markdown->lines.at[end].at, '|', markdown->lines.at[end].len))
        end++;
    for (size_t i = first + 2; i < end; i++) {
        const struct text *line = &markdown->lines.at[i];
        bool is_repeated = end - first > MOST_COMPARED;
        for (size_t j = first + 2; j < end && !is_repeated; j++)
            is_repeated = j != i && has_same_subject(line, &markdown->lines.at[j]);
        check_row_of_table(checking, table, (int64_t)i + 1, line->at, line->len, is_repeated);
    }
    return end;
}

struct check *check_answer(struct check_facts *facts, const struct check_input *input)
{
    struct check *check = arena_open(sizeof *check);
    ARENA_OWNS(arena_of(check), &check->at);
    struct checking checking = { facts, input, check };
    struct markdown markdown = { 0 };
    for (size_t at = 0; at < input->len;) {
        const char *end = memchr(input->text + at, '\n', input->len - at);
        size_t len = end ? (size_t)(end - input->text) - at : input->len - at;
        size_t shown = len > 0 && input->text[at + len - 1] == '\r' ? len - 1 : len;
        *VEC_PUSH(&markdown.lines) = (struct text){ input->text + at, shown };
        at += len + 1;
    }
    markdown.skipped = mem_zalloc(markdown.lines.count + 1, sizeof *markdown.skipped);
    if (!input->sentence)
        mark_skipped(&markdown);
    for (size_t i = 0; i < markdown.lines.count;) {
        const struct text *line = &markdown.lines.at[i];
        bool is_header = !markdown.skipped[i] && i + 1 < markdown.lines.count &&
                         memchr(line->at, '|', line->len) &&
                         is_delimiter(markdown.lines.at[i + 1].at, markdown.lines.at[i + 1].len);
        if (is_header) {
            i = check_table(&checking, &markdown, i);
            continue;
        }
        if (!markdown.skipped[i])
            check_line(&checking, (int64_t)i + 1, line->at, line->len);
        i++;
    }
    VEC_FREE(&markdown.lines);
    free(markdown.skipped);
    return check;
}

void check_add_table(const struct check *check, struct result *result)
{
    struct table *table =
        TABLE_OF_ROWS("statements", "Figures of the answer", columns, check->at, check->count);
    table->none = "The answer holds no figure.";
    for (int v = 0; v < CHECK_VERDICT_COUNT; v++)
        table_add_footer(table, verdict_words[v],
                         (const char *const[]){ "Confirmed", "Contradicted", "Not checkable" }[v],
                         TABLE_TALLY, table_int(check->outcomes[v]));
    result_add_table(result, table);
}
