#include "derive/op_attended.h"

/* Move AT past WORD and a number, which is stored in VALUE; false if the text differs. */
static bool op_attended_collect_number(const char **at, const char *word, int64_t *value)
{
    size_t len = strlen(word);
    if (strncmp(*at, word, len) != 0)
        return false;
    const char *c = *at + len;
    *value = 0;
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *c - '0', value))
            return false;
    *at = c;
    return true;
}

/* "context_2(sq8sk20sqsq40sqsk80)" from WORD on. */
static bool collect_sums(const char **at, const char *word, int64_t *sqsq, int64_t *sqsk)
{
    int64_t requests, sq, sk;
    return op_attended_collect_number(at, word, &requests) && op_attended_collect_number(at, "(sq", &sq) &&
           op_attended_collect_number(at, "sk", &sk) && op_attended_collect_number(at, "sqsq", sqsq) &&
           op_attended_collect_number(at, "sqsk", sqsk) && *(*at)++ == ')';
}

bool op_attended_parse(const char *annotation, struct op_attended *attended)
{
    const char *at = strncmp(annotation, "execute_", 8) == 0 ? strstr(annotation, "_context_") : NULL;
    int64_t unused;
    return at && collect_sums(&at, "_context_", &attended->context_sqsq, &attended->context_sqsk) &&
           collect_sums(&at, "_generation_", &unused, &attended->generation_sqsk);
}

int64_t op_attended_flops(const struct op_call *call, const struct op_attended *attended)
{
    if (!op_call_sized(call, 0) || !op_call_sized(call, 2) || call->in[0].sizes.count != 3 ||
        call->in[2].sizes.count < 3)
        return OP_UNKNOWN;
    const struct shape *q = &call->in[0].sizes, *v = &call->in[2].sizes;
    int64_t width = count_plus(q->size[2], v->size[v->count - 1]);
    /* 2 H (sqsk - sqsq / 2 + sqsk): each of a prompt's tokens sees those before it, and half of the rest */
    int64_t twice =
        count_plus(count_times(2, attended->context_sqsk), count_times(2, attended->generation_sqsk));
    if (twice == OP_UNKNOWN || twice < attended->context_sqsq)
        return OP_UNKNOWN;
    return count_times(count_times(q->size[1], width), twice - attended->context_sqsq);
}
