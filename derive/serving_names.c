/* One function per engine; a name must match to its end. */
#include "derive/serving_names.h"
#include "base/quantity.h"

/* Parse a number, and skip further numbers joined by underscores. False if there is none, or it is too large. */
static bool serving_names_collect_number(const char **at, int64_t *number)
{
    const char *c = *at;
    int64_t value = 0;
    if (!quantity_is_digit(*c))
        return false;
    for (; quantity_is_digit(*c); c++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *c - '0', &value))
            return false;
    while (*c == '_' && quantity_is_digit(c[1]))
        for (c++; quantity_is_digit(*c);)
            c++;
    *number = value;
    *at = c;
    return true;
}

/* Prefill and decode requests, and the tokens of each; -1: not recorded. */
static bool fill(struct serving_step *step, int64_t prefill, int64_t decode, int64_t prefill_tokens,
                 int64_t decode_tokens)
{
    struct serving_step found = { .tokens = -1 };
    if (prefill == 0 && decode == 0)
        return false;
    found.phase = decode == 0 ? SERVING_PREFILL : prefill == 0 ? SERVING_DECODE : SERVING_MIXED;
    if (__builtin_add_overflow(prefill, decode, &found.requests))
        return false;
    if (prefill_tokens >= 0 && decode_tokens >= 0 &&
        __builtin_add_overflow(prefill_tokens, decode_tokens, &found.tokens))
        found.tokens = -1;
    *step = found;
    return true;
}

/* "C(512)" or "C(sq512sk512sqsq..sqsk..)": requests and their tokens. */
static bool collect_requests(const char **at, int64_t *requests, int64_t *tokens)
{
    if (!serving_names_collect_number(at, requests) || !text_skip(at, "("))
        return false;
    text_skip(at, "sq");
    if (!serving_names_collect_number(at, tokens))
        return false;
    const char *end = strchr(*at, ')');
    if (!end)
        return false;
    *at = end + 1;
    return true;
}

static bool is_vllm(const char *name, struct serving_step *step)
{
    int64_t all, prefill, prefill_tokens, decode, decode_tokens;
    if (!text_skip(&name, "execute_"))
        return false;
    if (serving_names_collect_number(&name, &all) && !text_skip(&name, "_"))
        return false;
    return text_skip(&name, "context_") && collect_requests(&name, &prefill, &prefill_tokens) &&
           text_skip(&name, "_generation_") && collect_requests(&name, &decode, &decode_tokens) &&
           *name == '\0' && fill(step, prefill, decode, prefill_tokens, decode_tokens);
}

/* The number after KEY, as in " bs=32/64", anywhere in TEXT; false if not found. */
static bool find_number(const char *text, const char *key, int64_t *number)
{
    const char *at = strstr(text, key);
    return at && (at += strlen(key), serving_names_collect_number(&at, number));
}

static bool is_sglang(const char *name, struct serving_step *step)
{
    static const struct {
        const char *word;
        enum serving_phase phase;
    } modes[] = { { "EXTEND ", SERVING_PREFILL },
                  { "PREFILL ", SERVING_PREFILL },
                  { "DECODE ", SERVING_DECODE },
                  { "MIXED ", SERVING_MIXED } };
    if (!text_skip(&name, "step["))
        return false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct serving_step found = { .phase = modes[i].phase, .tokens = -1 };
        if (strncmp(name, modes[i].word, strlen(modes[i].word)) != 0 ||
            !find_number(name, " bs=", &found.requests))
            continue;
        if (!find_number(name, " toks=", &found.tokens) && found.phase == SERVING_DECODE)
            found.tokens = found.requests; /* this mode generates one token per request */
        *step = found;
        return true;
    }
    return false;
}

static bool is_atom(const char *name, struct serving_step *step)
{
    struct serving_step found = { .tokens = -1 };
    if (text_skip(&name, "prefill["))
        found.phase = SERVING_PREFILL;
    else if (text_skip(&name, "decode["))
        found.phase = SERVING_DECODE;
    else
        return false;
    if (!text_skip(&name, "bs=") || !serving_names_collect_number(&name, &found.requests))
        return false;
    find_number(name, " tok=", &found.tokens);
    *step = found;
    return true;
}

static bool is_tensorrt(const char *name, struct serving_step *step)
{
    int64_t number, prefill, prefill_tokens, decode;
    return text_skip(&name, "[Executor] _forward_step ") && serving_names_collect_number(&name, &number) &&
           text_skip(&name, ": ") && serving_names_collect_number(&name, &prefill) &&
           text_skip(&name, " ctx reqs, ") && serving_names_collect_number(&name, &prefill_tokens) &&
           text_skip(&name, " ctx tokens, ") && serving_names_collect_number(&name, &decode) &&
           text_skip(&name, " gen reqs") && fill(step, prefill, decode, prefill_tokens, decode ? -1 : 0);
}

static bool is_diffusion(const char *name, struct serving_step *step)
{
    int64_t requests, width, height;
    if (!text_skip(&name, "execute_diffusion_"))
        return false;
    const char *end = name;
    while (quantity_is_digit(*end))
        end++;
    if (*end != '_' || !serving_names_collect_number(&name, &requests))
        return false;
    name = end + 1;
    if (!serving_names_collect_number(&name, &width) || !text_skip(&name, "x") ||
        !serving_names_collect_number(&name, &height))
        return false;
    *step = (struct serving_step){ .phase = SERVING_DIFFUSION, .requests = requests, .tokens = -1 };
    return true;
}

bool serving_step_of(const char *name, struct serving_step *step)
{
    return is_vllm(name, step) || is_sglang(name, step) || is_atom(name, step) || is_tensorrt(name, step) ||
           is_diffusion(name, step);
}

const char *serving_phase_name(enum serving_phase phase)
{
    static const char *const names[SERVING_PHASES] = {
        [SERVING_PREFILL] = "prefill",
        [SERVING_DECODE] = "decode",
        [SERVING_MIXED] = "mixed",
        [SERVING_DIFFUSION] = "diffusion",
    };
    return names[phase];
}
