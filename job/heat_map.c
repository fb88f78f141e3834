/* heat_map.c - slowdowns of ranks in steps as a picture: see job.h. Neighbours share a line or a sign, which shows the largest. */
#include "base/buffer.h"
#include "job/job.h"
#include <math.h>

enum { MAP_ROWS = 32, MAP_COLUMNS = 60 };

static const char *sign_of_slowdown(double slowdown)
{
    return isnan(slowdown)   ? " "
           : slowdown < 1.02 ? "\u00b7"
           : slowdown < 1.05 ? "\u2591"
           : slowdown < 1.10 ? "\u2592"
           : slowdown < 1.25 ? "\u2593"
                             : "\u2588";
}

static size_t field_of(size_t index, size_t count, size_t fields)
{
    return index * fields / count;
}

static void add_line(struct job *job, const double *most, size_t columns, size_t first, size_t last)
{
    struct buffer out = { 0 };
    double largest = NAN;
    for (size_t c = 0; c < columns; c++) {
        buffer_puts(&out, sign_of_slowdown(most[c]));
        largest = isnan(largest) || most[c] > largest ? most[c] : largest;
    }
    long long low = job->all->ranks.at[first].number, high = job->all->ranks.at[last].number;
    const char *ranks = low == high ? arena_printf(&job->texts, "%lld", low)
                                    : arena_printf(&job->texts, "%lld..%lld", low, high);
    *VEC_PUSH(&job->heat_map) = (struct job_map_row){
        as_text(ranks), { arena_strndup(&job->texts, out.at, out.count), out.count }, largest
    };
    buffer_release(&out);
}

void job_draw_heat(struct job *job)
{
    size_t ranks = job->all->ranks.count, steps = job->all->steps.count;
    size_t rows = ranks < MAP_ROWS ? ranks : MAP_ROWS, columns = steps < MAP_COLUMNS ? steps : MAP_COLUMNS;
    double *most = mem_alloc(mem_times(rows * columns + 1, sizeof *most));
    for (size_t i = 0; i < rows * columns; i++)
        most[i] = NAN;
    for (size_t i = 0; i < job->heat.count; i++) {
        double *field =
            &most[field_of(i % ranks, ranks, rows) * columns + field_of(i / ranks, steps, columns)];
        *field = isnan(*field) || job->heat.at[i].slowdown > *field ? job->heat.at[i].slowdown : *field;
    }
    for (size_t row = 0, first = 0, end; row < rows; row++, first = end) {
        for (end = first + 1; end < ranks && field_of(end, ranks, rows) == row; end++)
            ;
        add_line(job, most + row * columns, columns, first, end - 1);
    }
    free(most);
}
