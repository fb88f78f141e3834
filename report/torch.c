/*
 * Learnt from torch 2.14's torch/autograd/profiler_util.py.
 *
 * Columns are as wide as torch makes them, two blanks after each, also after the last. One of its oddities is
 * kept: with both stacks and FLOPs the cells of the two are exchanged, under headings that are not.
 */
#include "report/torch.h"

#include "base/buffer.h"
#include <math.h>
#include <stdarg.h>

enum {
    MAX_NAME_WIDTH = 55,
    MAX_SHAPES_WIDTH = 80,
    MAX_SOURCE_WIDTH = 75,
    FIGURE_WIDTH = 12,
    MAX_COLUMNS = 24,
};

/* Where the figures are in the table; -1 where it has no such column. */
struct torch_columns {
    int name, overload, shapes, stack, device_type, annotation, is_async, top_level, count, flops;
    int cpu, self_cpu, cpu_average, device, self_device, device_average;
    int cpu_memory, self_cpu_memory, device_memory, self_device_memory;
};

struct torch_page {
    const struct table *table;
    const struct torch_options *options;
    struct torch_columns at;
    struct {
        size_t width;
        bool left;
    } columns[MAX_COLUMNS];
    size_t column_count;
    size_t name_width, shapes_width, source_width;
    bool has_device_time, has_device_memory, has_overloads, has_shapes, has_stacks, has_flops;
    double flops_scale;
    double self_cpu_us, self_device_us; /* of all rows */
    struct buffer text, line;
    size_t cell; /* of the line */
};

static int column(const struct table *table, const char *key)
{
    return table_find_column(table, key, strlen(key));
}

static bool find_columns(struct torch_page *page, struct tpa_error *err)
{
    const struct {
        int *at;
        const char *key;
        bool needed;
    } wanted[] = {
        { &page->at.name, "name", true },
        { &page->at.overload, "overload_name", false },
        { &page->at.shapes, "input_shapes", false },
        { &page->at.stack, "source_location", false },
        { &page->at.device_type, "device_type", true },
        { &page->at.annotation, "is_user_annotation", true },
        { &page->at.is_async, "is_async", true },
        { &page->at.top_level, "is_top_level", true },
        { &page->at.count, "count", true },
        { &page->at.flops, "flops", true },
        { &page->at.cpu, "torch_cpu_time_total", true },
        { &page->at.self_cpu, "torch_self_cpu_time_total", true },
        { &page->at.device, "torch_device_time_total", true },
        { &page->at.self_device, "torch_self_device_time_total", true },
        { &page->at.cpu_average, "torch_cpu_time", true },
        { &page->at.device_average, "torch_device_time", true },
        { &page->at.cpu_memory, "cpu_memory_usage", true },
        { &page->at.self_cpu_memory, "self_cpu_memory_usage", true },
        { &page->at.device_memory, "device_memory_usage", true },
        { &page->at.self_device_memory, "self_device_memory_usage", true },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].at = column(page->table, wanted[i].key);
        if (*wanted[i].at < 0 && wanted[i].needed)
            return tpa_fail(err, TPA_NOWHERE,
                            "torch's text needs the column %s, which this table does not have",
                            wanted[i].key);
    }
    return true;
}

/* ---- cells of the table ---- */

static int64_t integer(const struct torch_page *page, size_t row, int at)
{
    return table_cell(page->table, row, (size_t)at)->i;
}

static double number(const struct torch_page *page, size_t row, int at)
{
    return table_cell(page->table, row, (size_t)at)->f;
}

static const char *text(const struct torch_page *page, size_t row, int at)
{
    const char *found = at < 0 ? NULL : table_cell(page->table, row, (size_t)at)->text.at;
    return found ? found : "";
}

/* ---- Python's strings: lengths in characters ---- */

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t characters(const char *s, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += begins_character(s[i]);
    return count;
}

/* Bytes of the first COUNT characters. */
static size_t bytes_of(const char *s, size_t len, size_t count)
{
    size_t i = 0;
    for (; i < len; i++)
        if (begins_character(s[i]) && count-- == 0)
            break;
    return i;
}

/* ---- a line ---- */

static void torch_add_cell(struct torch_page *page, const char *s, size_t len)
{
    size_t width = page->columns[page->cell].width, used = characters(s, len);
    size_t blanks = used < width ? width - used : 0;
    if (!page->columns[page->cell].left)
        buffer_pad(&page->line, ' ', blanks);
    buffer_add(&page->line, s, len);
    if (page->columns[page->cell].left)
        buffer_pad(&page->line, ' ', blanks);
    buffer_pad(&page->line, ' ', 2);
    page->cell++;
}

static void torch_add_text(struct torch_page *page, const char *s)
{
    torch_add_cell(page, s, strlen(s));
}

TPA_PRINTF(2, 3) static void add_figure(struct torch_page *page, const char *fmt, ...)
{
    char figure[400]; /* %f of the largest double has 310 digits */
    va_list args;
    va_start(args, fmt);
    vsnprintf(figure, sizeof figure, fmt, args);
    va_end(args);
    torch_add_text(page, figure);
}

static void torch_end_line(struct torch_page *page)
{
    buffer_add(&page->text, page->line.at ? page->line.at : "", page->line.count);
    buffer_putc(&page->text, '\n');
    buffer_clear(&page->line);
    page->cell = 0;
}

/* ---- figures ---- */

static void format_time(const struct torch_page *page, double us, char figure[400])
{
    const char *unit = page->options->time_unit;
    if (unit ? strcmp(unit, "s") == 0 : us >= 1e6)
        snprintf(figure, 400, "%.3fs", us / 1e6);
    else if (unit ? strcmp(unit, "ms") == 0 : us >= 1e3)
        snprintf(figure, 400, "%.3fms", us / 1e3);
    else
        snprintf(figure, 400, "%.3fus", us);
}

static void add_time(struct torch_page *page, double us)
{
    char figure[400];
    format_time(page, us, figure);
    torch_add_text(page, figure);
}

static void torch_add_share(struct torch_page *page, double part, double whole)
{
    if (whole == 0)
        torch_add_text(page, "NaN");
    else
        add_figure(page, "%.2f%%", part * 100.0 / whole);
}

static void add_memory(struct torch_page *page, int64_t bytes)
{
    static const struct {
        double size;
        const char *unit;
    } units[] = { { 1024.0 * 1024 * 1024, "GB" }, { 1024.0 * 1024, "MB" }, { 1024.0, "KB" } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (fabs((double)bytes) >= units[i].size) {
            add_figure(page, "%.2f %s", (double)bytes / units[i].size, units[i].unit);
            return;
        }
    }
    add_figure(page, "%lld B", (long long)bytes);
}

/* ---- the page ---- */

static void torch_measure(struct torch_page *page)
{
    const struct table *table = page->table;
    size_t name = 0, shapes = 0, source = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        const char *s = text(page, row, page->at.name);
        size_t len = characters(s, strlen(s));
        name = len > name ? len : name;
        s = text(page, row, page->at.shapes);
        len = strlen(s);
        shapes = len > shapes ? len : shapes;
        page->has_shapes |= len > 0 && strcmp(s, "[]") != 0;
        page->has_overloads |= *text(page, row, page->at.overload) != '\0';
        for (s = text(page, row, page->at.stack); *s; s += len + (s[len] == ';')) {
            len = strcspn(s, ";");
            page->has_stacks = true;
            source = characters(s, len) > source ? characters(s, len) : source;
        }
        page->has_device_time |= number(page, row, page->at.self_device) > 0;
        page->has_device_memory |= integer(page, row, page->at.self_device_memory) > 0;
        page->self_cpu_us += number(page, row, page->at.self_cpu);
        if (strcmp(text(page, row, page->at.device_type), "CPU") != 0 &&
            integer(page, row, page->at.annotation) != 1)
            page->self_device_us += number(page, row, page->at.self_device);
    }
    page->name_width = name + 4 < MAX_NAME_WIDTH ? name + 4 : MAX_NAME_WIDTH;
    page->shapes_width = shapes + 4 < MAX_SHAPES_WIDTH ? shapes + 4 : MAX_SHAPES_WIDTH;
    page->source_width = source + 4 < MAX_SOURCE_WIDTH ? source + 4 : MAX_SOURCE_WIDTH;
    page->has_device_memory &= page->options->uses_device;
}

static void torch_add_column(struct torch_page *page, size_t width, bool left)
{
    page->columns[page->column_count].width = width;
    page->columns[page->column_count].left = left;
    page->column_count++;
}

/* The unit of FLOPs is that of the smallest figure. NULL when nothing was counted. */
static const char *flops_heading(struct torch_page *page)
{
    static const char *const headings[] = { "Total FLOPs",  "Total KFLOPs", "Total MFLOPs",
                                            "Total GFLOPs", "Total TFLOPs", "Total PFLOPs" };
    int64_t least = 0;
    for (size_t row = 0; row < page->table->row_count; row++) {
        int64_t flops = integer(page, row, page->at.flops);
        if (flops > 0 && (least == 0 || flops < least))
            least = flops;
    }
    if (least == 0)
        return NULL;
    double thousands = fmax(0, fmin(log10((double)least) / 3, 5));
    page->flops_scale = pow(10, floor(thousands) * -3.0);
    return headings[(int)thousands];
}

/* Decide the columns; their headings become the line. */
static void torch_add_headings(struct torch_page *page)
{
    const char *device = page->options->device_name;
    const char *headings[MAX_COLUMNS];
    char device_headings[6][64];
    size_t count = 0;
    headings[count++] = "Name";
    if (page->has_overloads)
        headings[count++] = "Overload Name";
    static const char *const host[] = { "Self CPU %", "Self CPU", "CPU total %", "CPU total",
                                        "CPU time avg" };
    for (size_t i = 0; i < 5; i++)
        headings[count++] = host[i];
    static const char *const on_device[] = { "Self %s",     "Self %s %%", "%s total",
                                             "%s time avg", "%s Mem",     "Self %s Mem" };
    for (size_t i = 0; i < 6; i++) {
        const char *mark = strstr(on_device[i], "%s");
        snprintf(device_headings[i], sizeof device_headings[i], "%.*s%s%s", (int)(mark - on_device[i]),
                 on_device[i], device, strcmp(mark + 2, " %%") == 0 ? " %" : mark + 2);
    }
    for (size_t i = 0; page->has_device_time && i < 4; i++)
        headings[count++] = device_headings[i];
    if (page->options->profile_memory) {
        headings[count++] = "CPU Mem";
        headings[count++] = "Self CPU Mem";
        for (size_t i = 4; page->has_device_memory && i < 6; i++)
            headings[count++] = device_headings[i];
    }
    headings[count++] = "# of Calls";
    for (size_t i = 0; i < count; i++)
        torch_add_column(page, i == 0 || (i == 1 && page->has_overloads) ? page->name_width : FIGURE_WIDTH,
                         false);
    if (page->has_shapes) {
        headings[count++] = "Input Shapes";
        torch_add_column(page, page->shapes_width, false);
    }
    if (page->has_stacks) {
        headings[count++] = "Source Location";
        torch_add_column(page, page->source_width, true);
    }
    const char *flops = page->options->with_flops ? flops_heading(page) : NULL;
    page->has_flops = flops != NULL;
    if (flops) {
        headings[count++] = flops;
        torch_add_column(page, FIGURE_WIDTH, false);
    }
    for (size_t i = 0; i < count; i++)
        torch_add_text(page, headings[i]);
}

static void add_rule(struct torch_page *page)
{
    for (size_t i = 0; i < page->column_count; i++) {
        buffer_pad(&page->line, '-', page->columns[i].width);
        buffer_pad(&page->line, ' ', 2);
    }
    torch_end_line(page);
}

/* Cut to 52 characters and "..." what is that long or longer. */
static void torch_add_name(struct torch_page *page, const char *name)
{
    size_t len = strlen(name), limit = MAX_NAME_WIDTH - 3;
    if (characters(name, len) < limit) {
        torch_add_cell(page, name, len);
        return;
    }
    struct buffer cut = { 0 };
    buffer_add(&cut, name, bytes_of(name, len, limit));
    buffer_puts(&cut, "...");
    torch_add_cell(page, cut.at, cut.count);
    buffer_release(&cut);
}

/* One frame of a stack, cut in front. */
static void add_frame(struct torch_page *page, const char *frame, size_t len)
{
    size_t count = characters(frame, len);
    struct buffer cut = { 0 };
    if (count > page->source_width) {
        size_t drop = count - page->source_width + (page->source_width > 3 ? 3 : 0);
        size_t bytes = bytes_of(frame, len, drop);
        if (page->source_width > 3)
            buffer_puts(&cut, "...");
        buffer_add(&cut, frame + bytes, len - bytes);
        torch_add_cell(page, cut.at, cut.count);
    } else {
        torch_add_cell(page, frame, len);
    }
    buffer_release(&cut);
}

static void torch_add_row(struct torch_page *page, size_t row)
{
    int64_t count = integer(page, row, page->at.count);
    double cpu = number(page, row, page->at.cpu), device = number(page, row, page->at.device);
    torch_add_name(page, text(page, row, page->at.name));
    if (page->has_overloads)
        torch_add_name(page, text(page, row, page->at.overload));
    torch_add_share(page, number(page, row, page->at.self_cpu), page->self_cpu_us);
    add_time(page, number(page, row, page->at.self_cpu));
    if (integer(page, row, page->at.is_async) == 1)
        torch_add_text(page, "0");
    else
        torch_add_share(page, cpu, page->self_cpu_us);
    add_time(page, cpu);
    add_time(page, number(page, row, page->at.cpu_average));
    if (page->has_device_time) {
        add_time(page, number(page, row, page->at.self_device));
        torch_add_share(page, number(page, row, page->at.self_device), page->self_device_us);
        add_time(page, device);
        add_time(page, number(page, row, page->at.device_average));
    }
    if (page->options->profile_memory) {
        add_memory(page, integer(page, row, page->at.cpu_memory));
        add_memory(page, integer(page, row, page->at.self_cpu_memory));
        if (page->has_device_memory) {
            add_memory(page, integer(page, row, page->at.device_memory));
            add_memory(page, integer(page, row, page->at.self_device_memory));
        }
    }
    add_figure(page, "%lld", (long long)count);
    if (page->has_shapes) {
        const char *shapes = text(page, row, page->at.shapes);
        size_t len = strlen(shapes);
        torch_add_cell(page, shapes, len < page->shapes_width ? len : page->shapes_width);
    }
    if (page->has_flops) {
        int64_t flops = integer(page, row, page->at.flops);
        if (flops > 0)
            add_figure(page, "%8.3f", (double)flops * page->flops_scale);
        else
            torch_add_text(page, "--");
    }
    if (!page->has_stacks) {
        torch_end_line(page);
        return;
    }
    const char *frame = text(page, row, page->at.stack);
    size_t len = strcspn(frame, ";");
    add_frame(page, frame, len);
    torch_end_line(page);
    for (frame += len; *frame; frame += len) {
        frame++;
        len = strcspn(frame, ";");
        while (page->cell + 1 < page->column_count)
            torch_add_text(page, "");
        add_frame(page, frame, len);
        torch_end_line(page);
    }
    while (page->cell < page->column_count)
        torch_add_text(page, "");
    torch_end_line(page);
}

static void add_notice_of_top_level(struct torch_page *page)
{
    size_t width = 0;
    for (size_t i = 0; i < page->column_count; i++)
        width += page->columns[i].width + 2;
    buffer_pad(&page->text, '=', width - 2);
    buffer_puts(&page->text, "\nThis report only display top-level ops statistics\n");
}

static void make_page(struct torch_page *page)
{
    const struct table *table = page->table;
    char figure[400];
    torch_measure(page);
    torch_add_headings(page);
    struct buffer headings = page->line;
    page->line = (struct buffer){ 0 };
    page->cell = 0;
    if (page->options->top_level_only)
        add_notice_of_top_level(page);
    add_rule(page);
    buffer_add(&page->text, headings.at, headings.count);
    buffer_putc(&page->text, '\n');
    buffer_release(&headings);
    add_rule(page);
    int64_t printed = 0;
    for (size_t row = 0; row < table->row_count && printed != page->options->row_limit; row++) {
        if (page->options->top_level_only && integer(page, row, page->at.top_level) != 1)
            continue;
        torch_add_row(page, row);
        printed++;
    }
    add_rule(page);
    format_time(page, page->self_cpu_us, figure);
    buffer_printf(&page->text, "Self CPU time total: %s\n", figure);
    if (page->has_device_time) {
        format_time(page, page->self_device_us, figure);
        buffer_printf(&page->text, "Self %s time total: %s\n", page->options->device_name, figure);
    }
}

bool torch_print(const struct table *table, const struct torch_options *options, FILE *out,
                 struct tpa_error *err)
{
    struct torch_page page = { .table = table, .options = options };
    if (table->row_count == 0)
        return true; /* torch prints nothing at all */
    if (!find_columns(&page, err))
        return false;
    make_page(&page);
    bool written = fwrite(page.text.at, 1, page.text.count, out) == page.text.count;
    EACH(buffer_release, &page.text, &page.line);
    return written || tpa_fail_errno(err, "writing the table");
}
