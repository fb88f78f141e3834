/* answer.c - see answer.h. */
#include "base/answer.h"

#include <stdlib.h>

void answer_free(struct answer *answer)
{
    if (!answer)
        return;
    for (size_t i = 0; i < answer->bars.count; i++)
        VEC_FREE(&answer->bars.at[i].parts);
    for (size_t i = 0; i < answer->trends.count; i++)
        VEC_FREE(&answer->trends.at[i].runs);
    VEC_FREE(&answer->trends);
    VEC_FREE(&answer->facts);
    VEC_FREE(&answer->bars);
    VEC_FREE(&answer->steps);
    VEC_FREE(&answer->findings);
    VEC_FREE(&answer->figures);
    VEC_FREE(&answer->rows);
    VEC_FREE(&answer->culprits);
    free(answer);
}
