#include "base/answer.h"

void answer_free(struct answer *answer)
{
    if (!answer)
        return;
    for (size_t i = 0; i < answer->bars.count; i++)
        VEC_FREE(&answer->bars.at[i].parts);
    for (size_t i = 0; i < answer->trends.count; i++)
        VEC_FREE(&answer->trends.at[i].runs);
    EACH(VEC_FREE, &answer->trends, &answer->facts, &answer->bars, &answer->steps, &answer->findings,
         &answer->figures, &answer->rows, &answer->culprits);
    free(answer);
}
