#include "derive/rank_turns.h"

#include <math.h>

bool ranks_take_turns(const struct rank_turn *ranks, size_t count)
{
    const double as_long = 2.0 / 3, nearly_mean = 0.7, most_of_two = 0.6;
    double first_ns = 0, second_ns = 0, caused_ns = 0, waited_ns = 0, least_ns = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double own_ns = (double)ranks[i].caused_ns;
        caused_ns += own_ns;
        waited_ns += (double)ranks[i].waited_ns;
        least_ns = fmin(least_ns, (double)ranks[i].waited_ns);
        second_ns = fmax(second_ns, fmin(first_ns, own_ns));
        first_ns = fmax(first_ns, own_ns);
    }
    return count > 1 && first_ns > 0 && second_ns >= as_long * first_ns &&
           first_ns <= fmin(most_of_two, 2 / (double)count) * caused_ns &&
           least_ns * (double)count >= nearly_mean * waited_ns;
}
