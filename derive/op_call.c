#include "derive/op_cost.h"

/* The characters between the quotes of a JSON string; empty if it is not a string. */
static struct text unquoted(struct text element)
{
    if (element.len < 2 || element.at[0] != '"' || element.at[element.len - 1] != '"')
        return (struct text){ "", 0 };
    return (struct text){ element.at + 1, element.len - 2 };
}

static bool is_word(struct text text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

static void read_dims(struct op_input *input, struct text element)
{
    input->sized = shape_read(element, &input->sizes) && input->sizes.count > 0;
    input->elements = input->sized ? 1 : 0;
    for (size_t d = 0; input->sized && d < input->sizes.count; d++)
        input->elements = count_times(input->elements, input->sizes.size[d]);
    input->stored = input->elements;
}

static void read_strides(struct op_input *input, struct text element)
{
    struct shape strides;
    if (!input->sized || !shape_read(element, &strides) || strides.count != input->sizes.count)
        return;
    input->stored = 1;
    for (size_t d = 0; d < strides.count; d++)
        if (strides.size[d] != 0 || input->sizes.size[d] == 0)
            input->stored = count_times(input->stored, input->sizes.size[d]);
}

bool op_call_read(struct op_call *call, const char *dims, const char *types, const char *strides,
                  const char *concrete)
{
    struct text element;
    call->count = call->output.count = 0;
    for (const char *at = dims; list_next(&at, &element); call->count++) {
        if (call->count == OP_MAX_INPUTS)
            return false;
        struct op_input *input = &call->in[call->count];
        input->type = NULL;
        input->listed = false;
        input->concrete = (struct text){ "", 0 };
        read_dims(input, element);
    }
    const char *at = types ? types : "";
    for (size_t i = 0; i < call->count && list_next(&at, &element); i++) {
        struct text type = unquoted(element);
        call->in[i].type = tensor_type_named(type.at, type.len);
        call->in[i].listed = is_word(type, "ScalarList");
    }
    at = strides ? strides : "";
    for (size_t i = 0; i < call->count && list_next(&at, &element); i++)
        read_strides(&call->in[i], element);
    at = concrete ? concrete : "";
    for (size_t i = 0; i < call->count && list_next(&at, &element); i++)
        call->in[i].concrete = unquoted(element);
    return call->count > 0;
}

static struct text concrete_of(const struct op_call *call, size_t index)
{
    return index < call->count ? call->in[index].concrete : (struct text){ "", 0 };
}

bool op_call_numbers(const struct op_call *call, size_t index, struct shape *numbers)
{
    return shape_read(concrete_of(call, index), numbers);
}

/* Copy TEXT to OUT of SIZE bytes; false if it does not fit, or is empty. */
static bool copied(struct text text, char *out, size_t size)
{
    if (text.len == 0 || text.len >= size)
        return false;
    memcpy(out, text.at, text.len);
    out[text.len] = '\0';
    return true;
}

int64_t op_call_integer(const struct op_call *call, size_t index, int64_t missing)
{
    char text[24], *end;
    if (!copied(concrete_of(call, index), text, sizeof text))
        return missing;
    long long value = strtoll(text, &end, 10);
    return *end == '\0' ? value : missing;
}

bool op_call_is_zero(const struct op_call *call, size_t index)
{
    char text[48], *end;
    return copied(concrete_of(call, index), text, sizeof text) && strtod(text, &end) == 0 && *end == '\0';
}

static enum op_flag flag_of(struct text text)
{
    return is_word(text, "True") ? OP_TRUE : is_word(text, "False") ? OP_FALSE : OP_FLAG_UNKNOWN;
}

enum op_flag op_call_flag(const struct op_call *call, size_t index)
{
    return flag_of(concrete_of(call, index));
}

enum op_flag op_call_flag_at(const struct op_call *call, size_t index, size_t element)
{
    struct text list = concrete_of(call, index);
    struct text word;
    const char *at = list.at;
    for (size_t i = 0; list.len && list_next(&at, &word); i++)
        if (i == element)
            return flag_of(word);
    return OP_FLAG_UNKNOWN;
}
