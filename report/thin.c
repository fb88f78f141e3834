#include "report/thin.h"

#include "base/memory.h"
#include <math.h>
#include <stdbool.h>

/* Which of PARTS equal parts of [LEAST, MOST] VALUE lies in; what is outside counts for the nearest. */
static size_t part_of(double value, double least, double most, size_t parts)
{
    if (!(value > least) || !(most > least))
        return 0;
    double place = (value - least) / (most - least) * (double)parts;
    return place >= (double)parts ? parts - 1 : (size_t)place;
}

static size_t keep_column(const double *y, size_t first, size_t end, size_t *kept)
{
    size_t low = first, high = first, last = end - 1, count = 0;
    for (size_t i = first + 1; i < end; i++) {
        low = y[i] < y[low] ? i : low;
        high = y[i] > y[high] ? i : high;
    }
    size_t extremes[2] = { low < high ? low : high, low < high ? high : low };
    kept[count++] = first;
    for (int i = 0; i < 2; i++)
        if (extremes[i] != kept[count - 1])
            kept[count++] = extremes[i];
    if (last != kept[count - 1])
        kept[count++] = last;
    return count;
}

size_t thin_line(const double *x, const double *y, size_t count, double least, double most, size_t columns,
                 size_t *kept)
{
    size_t kept_count = 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        if (isnan(x[first]) || isnan(y[first])) {
            kept[kept_count++] = first;
            continue;
        }
        size_t column = part_of(x[first], least, most, columns);
        while (end < count && !isnan(x[end]) && !isnan(y[end]) &&
               part_of(x[end], least, most, columns) == column)
            end++;
        kept_count += keep_column(y, first, end, kept + kept_count);
    }
    return kept_count;
}

size_t thin_dots(const double *x, const double *y, size_t count, const double least[2], const double most[2],
                 size_t columns, size_t rows, size_t *kept)
{
    bool *taken = mem_zalloc(columns * rows, sizeof *taken);
    size_t kept_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i]) || isnan(y[i]))
            continue;
        size_t cell =
            part_of(y[i], least[1], most[1], rows) * columns + part_of(x[i], least[0], most[0], columns);
        if (!taken[cell])
            kept[kept_count++] = i;
        taken[cell] = true;
    }
    free(taken);
    return kept_count;
}
