/* Numbers of fields are those of HloModuleProto, HloInstructionProto and what these hold. */
#define _GNU_SOURCE /* memmem, memrchr */
#include "ingest/xplane/hlo.h"

#include "base/sum.h"

#include <inttypes.h>

enum {
    MOST_FRAMES = 64,
    MOST_FRAME_TEXT = 1024, /* bytes of a name of a file, function or scope */
    STEPS_PER_BYTE = 64,    /* of work that grows with the square of a program; then costs are estimates */
    TEXTS_PER_BYTE = 16,    /* bytes of texts for each byte of HLO; then operators have none */
    TEXTS_ALWAYS = 1 << 20,
};

bool hlo_next_field(struct wire *in, struct wire_field *field)
{
    while (wire_next(in, field)) {
        if (field->type != WIRE_GROUP)
            return true;
        if (!wire_skip_group(in, field->number))
            return false;
    }
    return false;
}

uint64_t hlo_number_in(struct wire in, uint32_t number, uint64_t otherwise)
{
    struct wire_field field;
    while (hlo_next_field(&in, &field))
        if (wire_is(&field, number, WIRE_VARINT))
            otherwise = field.value;
    return otherwise;
}

struct wire hlo_message_in(struct wire in, uint32_t number)
{
    struct wire found = wire_over(NULL, 0);
    struct wire_field field;
    while (hlo_next_field(&in, &field))
        if (wire_is(&field, number, WIRE_BYTES))
            found = wire_in(&field);
    return found;
}

struct wire_text hlo_text_in(struct wire in, uint32_t number)
{
    struct wire found = hlo_message_in(in, number);
    return (struct wire_text){ (const char *)found.at, (size_t)(found.end - found.at) };
}

/* The numbers of the repeated field NUMBER of IN, packed or not, up to MOST of them. Returns their count. */
static size_t numbers_in(struct wire in, uint32_t number, int64_t *numbers, size_t most)
{
    size_t count = 0;
    struct wire_field field;
    uint64_t value;
    while (hlo_next_field(&in, &field)) {
        if (wire_is(&field, number, WIRE_VARINT) && count < most)
            numbers[count++] = (int64_t)field.value;
        struct wire packed = wire_is(&field, number, WIRE_BYTES) ? wire_in(&field) : wire_over(NULL, 0);
        while (packed.at < packed.end && count < most && wire_varint(&packed, &value))
            numbers[count++] = (int64_t)value;
    }
    return count;
}

/* A x B, at most INT64_MAX; negative numbers count as 0. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    if (a <= 0 || b <= 0)
        return 0;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* ---- shapes ---- */

enum { TYPE_TUPLE = 13 };

/* PrimitiveType: bits of an element, torch's word, and XLA's. */
static const struct {
    uint16_t bits;
    const char *name, *word;
} types[] = {
    [1] = { 8, "bool", "pred" },
    [2] = { 8, "signed char", "s8" },
    [3] = { 16, "short int", "s16" },
    [4] = { 32, "int", "s32" },
    [5] = { 64, "long int", "s64" },
    [6] = { 8, "unsigned char", "u8" },
    [7] = { 16, "unsigned short", "u16" },
    [8] = { 32, "unsigned int", "u32" },
    [9] = { 64, "unsigned long", "u64" },
    [10] = { 16, "c10::Half", "f16" },
    [11] = { 32, "float", "f32" },
    [12] = { 64, "double", "f64" },
    [15] = { 64, "c10::complex<float>", "c64" },
    [16] = { 16, "c10::BFloat16", "bf16" },
    [18] = { 128, "c10::complex<double>", "c128" },
    [19] = { 8, "c10::Float8_e5m2", "f8e5m2" },
    [20] = { 8, "c10::Float8_e4m3fn", "f8e4m3fn" },
    [21] = { 4, "int4", "s4" },
    [22] = { 4, "uint4", "u4" },
    [23] = { 8, "c10::Float8_e4m3b11fnuz", "f8e4m3b11fnuz" },
    [24] = { 8, "c10::Float8_e5m2fnuz", "f8e5m2fnuz" },
    [25] = { 8, "c10::Float8_e4m3fnuz", "f8e4m3fnuz" },
};

static int64_t bits_of_type(uint32_t type)
{
    return type < sizeof types / sizeof *types ? types[type].bits : 0;
}

/* ShapeProto: 2 element_type, 3 dimensions, 4 tuple_shapes. */
struct hlo_shape hlo_read_shape(struct wire in, int depth)
{
    struct hlo_shape shape = { .type = (uint32_t)hlo_number_in(in, 2, 0), .elements = 1 };
    struct wire_field field;
    shape.rank = (uint32_t)numbers_in(in, 3, shape.dims, HLO_MOST_DIMS);
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.elements = times(shape.elements, shape.dims[i]);
    if (shape.type != TYPE_TUPLE) {
        int64_t bits = times(shape.elements, bits_of_type(shape.type));
        shape.bytes = bits / 8 + (bits % 8 > 0);
        return shape;
    }
    while (depth < HLO_MOST_DEPTH && hlo_next_field(&in, &field))
        if (wire_is(&field, 4, WIRE_BYTES))
            shape.bytes = sum_plus(shape.bytes, hlo_read_shape(wire_in(&field), depth + 1).bytes);
    return shape;
}

int64_t hlo_unpadded_bytes(struct wire in)
{
    enum { POINTER = 8 };
    struct hlo_shape shape = hlo_read_shape(in, HLO_MOST_DEPTH);
    struct wire_field field;
    int64_t parts = 0;
    if (shape.type != TYPE_TUPLE)
        return bits_of_type(shape.type) ? shape.bytes : HLO_UNKNOWN;
    while (hlo_next_field(&in, &field))
        parts += wire_is(&field, 4, WIRE_BYTES);
    return parts * POINTER;
}

void hlo_describe_shape(struct buffer *text, struct wire in, int depth)
{
    struct hlo_shape shape = hlo_read_shape(in, HLO_MOST_DEPTH);
    struct wire_field field;
    if (shape.type == TYPE_TUPLE && depth < HLO_MOST_DEPTH && text->count < MOST_FRAME_TEXT) {
        const char *before = "(";
        while (hlo_next_field(&in, &field) && text->count < MOST_FRAME_TEXT)
            if (wire_is(&field, 4, WIRE_BYTES)) {
                buffer_puts(text, before);
                hlo_describe_shape(text, wire_in(&field), depth + 1);
                before = ", ";
            }
        buffer_puts(text, *before == '(' ? "()" : ")");
        return;
    }
    buffer_puts(text, shape.type == TYPE_TUPLE   ? "(...)"
                      : bits_of_type(shape.type) ? types[shape.type].word
                                                 : "?");
    for (uint32_t i = 0; i < shape.rank; i++)
        buffer_printf(text, "%s%" PRId64, i ? "," : "[", shape.dims[i]);
    buffer_puts(text, shape.type == TYPE_TUPLE ? "" : shape.rank ? "]" : "[]");
}

/* The first part of the tuple that IN describes; IN itself if it is none. */
static struct wire first_part(struct wire in)
{
    struct wire_field field;
    struct wire parts = in;
    while (hlo_number_in(in, 2, 0) == TYPE_TUPLE && hlo_next_field(&parts, &field))
        if (wire_is(&field, 4, WIRE_BYTES))
            return wire_in(&field);
    return in;
}

/* ---- the module ---- */

static struct hlo_list add_ids(struct hlo_module *module, struct wire in, uint32_t number)
{
    struct hlo_list list = { (uint32_t)module->ids.count, 0 };
    struct wire_field field;
    uint64_t value;
    while (hlo_next_field(&in, &field)) {
        if (wire_is(&field, number, WIRE_VARINT))
            *VEC_PUSH(&module->ids) = field.value;
        struct wire packed = wire_is(&field, number, WIRE_BYTES) ? wire_in(&field) : wire_over(NULL, 0);
        while (packed.at < packed.end && wire_varint(&packed, &value))
            *VEC_PUSH(&module->ids) = value;
    }
    list.count = (uint32_t)(module->ids.count - list.first);
    return list;
}

static void add_instruction(struct hlo_module *module, struct wire in)
{
    struct hlo_instruction *instruction = VEC_PUSH(&module->instructions);
    struct wire shape = hlo_message_in(in, 3);
    struct wire_text opcode = hlo_text_in(in, 2), target = hlo_text_in(in, 28);
    bool is_library = wire_text_is(opcode, "custom-call") &&
                      (wire_text_begins(target, "__cublas$") || wire_text_begins(target, "__cudnn$"));
    *instruction = (struct hlo_instruction){
        .fields = in,
        .metadata = hlo_message_in(in, 7),
        .name = hlo_text_in(in, 1),
        .opcode = opcode,
        .result = hlo_read_shape(is_library ? first_part(shape) : shape, 0),
        .operands = add_ids(module, in, 36),
        .called = add_ids(module, in, 38),
        .is_library = is_library,
    };
    id_table_set(&module->instruction_of, hlo_number_in(in, 35, 0), (uint32_t)module->instructions.count - 1);
}

static void add_computation(struct hlo_module *module, struct wire in)
{
    struct hlo_computation computation = { .first = (uint32_t)module->instructions.count };
    uint64_t id = 0;
    struct wire_field field;
    while (hlo_next_field(&in, &field)) {
        if (wire_is(&field, 2, WIRE_BYTES)) {
            add_instruction(module, wire_in(&field));
        } else if (wire_is(&field, 5, WIRE_VARINT)) {
            id = field.value;
        } else if (wire_is(&field, 6, WIRE_VARINT)) {
            computation.root_id = field.value;
            computation.has_root = true;
        }
    }
    computation.count = (uint32_t)module->instructions.count - computation.first;
    if (computation.has_root)
        computation.root = id_table_find(&module->instruction_of, computation.root_id);
    computation.has_root = computation.has_root && computation.root != ID_TABLE_NONE;
    *VEC_PUSH(&module->computations) = computation;
    id_table_set(&module->computation_of, id, (uint32_t)module->computations.count - 1);
}

/* StackFrameIndexProto: 1 file_names, 2 function_names, 3 file_locations, 4 stack_frames. */
static void read_frames(struct hlo_module *module, struct wire in)
{
    struct wire_field field;
    while (hlo_next_field(&in, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        switch (field.number) {
        case 1: *VEC_PUSH(&module->files) = wire_text_of(&field); break;
        case 2: *VEC_PUSH(&module->functions) = wire_text_of(&field); break;
        case 3: *VEC_PUSH(&module->locations) = wire_in(&field); break;
        case 4: *VEC_PUSH(&module->frames) = wire_in(&field); break;
        default: break;
        }
    }
}

static void read_module(struct hlo_module *module, struct wire in)
{
    struct wire_field field;
    while (hlo_next_field(&in, &field)) {
        if (wire_is(&field, 1, WIRE_BYTES))
            module->name = wire_text_of(&field);
        else if (wire_is(&field, 3, WIRE_BYTES))
            add_computation(module, wire_in(&field));
        else if (wire_is(&field, 5, WIRE_VARINT))
            module->id = field.value;
        else if (wire_is(&field, 17, WIRE_BYTES))
            read_frames(module, wire_in(&field));
    }
}

static void release_module(struct hlo_module *module)
{
    EACH(VEC_FREE, &module->instructions, &module->computations, &module->ids);
    EACH(id_table_release, &module->instruction_of, &module->computation_of);
    EACH(VEC_FREE, &module->files, &module->functions, &module->locations, &module->frames);
}

/* Operand INDEX of INSTRUCTION; NULL: there is none. */
static const struct hlo_instruction *operand_of(const struct hlo_module *module,
                                                const struct hlo_instruction *instruction, uint32_t index)
{
    if (index >= instruction->operands.count)
        return NULL;
    uint32_t place =
        id_table_find(&module->instruction_of, module->ids.at[instruction->operands.first + index]);
    return place == ID_TABLE_NONE ? NULL : &module->instructions.at[place];
}

/* The computation number INDEX that INSTRUCTION calls; NULL: there is none. */
static struct hlo_computation *called_by(const struct hlo_module *module,
                                         const struct hlo_instruction *instruction, uint32_t index)
{
    if (index >= instruction->called.count)
        return NULL;
    uint32_t place =
        id_table_find(&module->computation_of, module->ids.at[instruction->called.first + index]);
    return place == ID_TABLE_NONE ? NULL : &module->computations.at[place];
}

/* May COUNT steps of work be taken? */
static bool take_steps(struct hlo_module *module, int64_t count)
{
    if ((uint64_t)count > module->steps)
        return false;
    module->steps -= (uint64_t)count;
    return true;
}

/* ---- operations ---- */

/* Operators that compute each element of their result from one of each operand. */
static bool is_elementwise(struct wire_text opcode)
{
    static const char *const words[] = {
        "abs",
        "add",
        "and",
        "ceil",
        "clamp",
        "clz",
        "compare",
        "complex",
        "convert",
        "count-leading-zeros",
        "divide",
        "floor",
        "imag",
        "is-finite",
        "maximum",
        "minimum",
        "multiply",
        "negate",
        "not",
        "or",
        "popcnt",
        "real",
        "reduce-precision",
        "remainder",
        "round-nearest-afz",
        "round-nearest-even",
        "select",
        "shift-left",
        "shift-right-arithmetic",
        "shift-right-logical",
        "sign",
        "subtract",
        "xor",
    };
    return ANY(i, sizeof words / sizeof *words, wire_text_is(opcode, words[i]));
}

static int64_t dim_of(const struct hlo_shape *shape, int64_t dim)
{
    return dim >= 0 && dim < (int64_t)shape->rank ? shape->dims[dim] : 0;
}

/* 2 x elements of RESULT x the contracted dimensions DIMS of LEFT. */
static int64_t product_flops(const struct hlo_shape *left, const struct hlo_shape *result,
                             const int64_t *dims, size_t count)
{
    int64_t flops = times(2, result->elements);
    for (size_t i = 0; i < count; i++)
        flops = times(flops, dim_of(left, dims[i]));
    return flops;
}

/* A dimension of a window: WindowDimension 1 size, 2 stride, 3 padding_low, 5 window_dilation, 6 base_dilation. */
struct window_dim {
    int64_t size, stride, padding, dilation, base_dilation;
};

/* How many pairs of a place in the result and one in the window meet an element of the input, of INPUT
 * elements in this dimension. For each place of the window: the places of the result whose input is there and
 * not between dilated elements. */
static int64_t count_pairs(struct hlo_module *module, const struct window_dim *dim, int64_t input,
                           int64_t result)
{
    int64_t pairs = 0;
    if (dim->size <= 0 || result <= 0)
        return 0;
    if (dim->base_dilation <= 0 || input <= 0 || !take_steps(module, times(dim->size, result)))
        return times(dim->size, result);
    for (int64_t k = 0; k < dim->size; k++)
        for (int64_t o = 0; o < result; o++) {
            int64_t at;
            if (__builtin_mul_overflow(o, dim->stride, &at) ||
                __builtin_sub_overflow(at, dim->padding, &at) ||
                __builtin_add_overflow(at, times(k, dim->dilation), &at))
                continue;
            pairs += at >= 0 && at % dim->base_dilation == 0 && at / dim->base_dilation < input;
        }
    return pairs;
}

/* ConvolutionDimensionNumbers: 3 kernel_input_feature, 4 kernel_output_feature, 7 input_batch, 8 input_feature, 9 output_batch,
 * 10 output_feature, 11 input_spatial, 12 output_spatial. Numbers that are 0 are not written. */
static int64_t convolution_flops(struct hlo_module *module, const struct hlo_instruction *instruction,
                                 const struct hlo_shape *input, const struct hlo_shape *kernel,
                                 const struct hlo_shape *output)
{
    struct wire dims = hlo_message_in(instruction->fields, 16),
                window = hlo_message_in(instruction->fields, 15);
    int64_t in_spatial[HLO_MOST_DIMS], out_spatial[HLO_MOST_DIMS];
    size_t count = numbers_in(dims, 11, in_spatial, HLO_MOST_DIMS),
           out_count = numbers_in(dims, 12, out_spatial, HLO_MOST_DIMS), at = 0;
    int64_t batch_groups = (int64_t)hlo_number_in(instruction->fields, 61, 1), pairs = 1;
    struct wire_field field;
    while (hlo_next_field(&window, &field)) {
        if (!wire_is(&field, 1, WIRE_BYTES) || at >= count || at >= out_count)
            continue;
        struct wire in = wire_in(&field);
        struct window_dim dim = { .size = (int64_t)hlo_number_in(in, 1, 1),
                                  .stride = (int64_t)hlo_number_in(in, 2, 1),
                                  .padding = (int64_t)hlo_number_in(in, 3, 0),
                                  .dilation = (int64_t)hlo_number_in(in, 5, 1),
                                  .base_dilation = (int64_t)hlo_number_in(in, 6, 1) };
        pairs = times(
            pairs, count_pairs(module, &dim, dim_of(input, in_spatial[at]), dim_of(output, out_spatial[at])));
        at++;
    }
    int64_t features = dim_of(kernel, (int64_t)hlo_number_in(dims, 3, 0)),
            batch = dim_of(output, (int64_t)hlo_number_in(dims, 9, 0)),
            out_features = dim_of(output, (int64_t)hlo_number_in(dims, 10, 0));
    if (batch_groups > 1)
        batch = dim_of(input, (int64_t)hlo_number_in(dims, 7, 0)) / batch_groups;
    return times(2, times(times(features, out_features), times(batch, pairs)));
}

/* "lhs_contracting_dimensions":["1","2"] in the JSON of a library's configuration. */
static size_t contracted_by_library(const struct hlo_instruction *instruction, int64_t *dims)
{
    static const char word[] = "\"lhs_contracting_dimensions\":";
    struct wire_text json = hlo_text_in(instruction->fields, 43);
    const char *at = json.len ? memmem(json.at, json.len, word, sizeof word - 1) : NULL;
    const char *end = at ? memchr(at, ']', (size_t)(json.at + json.len - at)) : NULL;
    size_t count = 0;
    for (at = end ? at + sizeof word - 1 : end; at && at < end && count < HLO_MOST_DIMS; at++)
        if (*at >= '0' && *at <= '9') {
            int64_t number = 0;
            for (; at < end && *at >= '0' && *at <= '9' && number < 1000; at++)
                number = 10 * number + (*at - '0');
            dims[count++] = number;
        }
    return count;
}

/* A call of a library as the product or convolution that it stands for; HLO_UNKNOWN: it is another. */
static int64_t library_flops(struct hlo_module *module, const struct hlo_instruction *instruction,
                             const struct hlo_shape *left, const struct hlo_shape *right,
                             const struct hlo_shape *result)
{
    struct wire_text target = hlo_text_in(instruction->fields, 28);
    int64_t dims[HLO_MOST_DIMS];
    size_t count = wire_text_begins(target, "__cublas$") ? contracted_by_library(instruction, dims) : 0;
    if (count)
        return product_flops(left, result, dims, count);
    if (wire_text_begins(target, "__cudnn$convBackwardInput"))
        return convolution_flops(module, instruction, result, right, left);
    if (wire_text_begins(target, "__cudnn$convBackwardFilter"))
        return convolution_flops(module, instruction, left, result, right);
    if (wire_text_begins(target, "__cudnn$conv"))
        return convolution_flops(module, instruction, left, right, result);
    return HLO_UNKNOWN;
}

static int64_t computation_flops(struct hlo_module *module, struct hlo_computation *computation, int depth);

/* Of what one element costs in the computation that INSTRUCTION calls. */
static int64_t flops_of_called(struct hlo_module *module, const struct hlo_instruction *instruction,
                               int depth)
{
    struct hlo_computation *called = called_by(module, instruction, 0);
    return called ? computation_flops(module, called, depth + 1) : 0;
}

static int64_t elements_of_window(const struct hlo_instruction *instruction)
{
    struct wire window = hlo_message_in(instruction->fields, 15);
    struct wire_field field;
    int64_t elements = 1;
    while (hlo_next_field(&window, &field))
        if (wire_is(&field, 1, WIRE_BYTES))
            elements = times(elements, (int64_t)hlo_number_in(wire_in(&field), 1, 1));
    return elements;
}

static int64_t instruction_flops(struct hlo_module *module, const struct hlo_instruction *instruction,
                                 int depth)
{
    static const struct hlo_shape nothing = { 0 };
    struct wire_text opcode = instruction->opcode;
    const struct hlo_instruction *first = operand_of(module, instruction, 0),
                                 *second = operand_of(module, instruction, 1);
    struct hlo_shape result = instruction->result, left = first ? first->result : nothing,
                     right = second ? second->result : nothing;
    int64_t dims[HLO_MOST_DIMS];
    if (is_elementwise(opcode))
        return result.elements;
    if (wire_text_is(opcode, "dot"))
        return product_flops(&left, &result, dims,
                             numbers_in(hlo_message_in(instruction->fields, 30), 1, dims, HLO_MOST_DIMS));
    if (wire_text_is(opcode, "convolution"))
        return convolution_flops(module, instruction, &left, &right, &result);
    if (instruction->is_library)
        return library_flops(module, instruction, &left, &right, &result);
    if (wire_text_is(opcode, "fusion")) {
        int64_t flops = 0;
        for (uint32_t i = 0; i < instruction->called.count; i++) {
            struct hlo_computation *called = called_by(module, instruction, i);
            flops = called ? sum_plus(flops, computation_flops(module, called, depth + 1)) : flops;
        }
        return flops;
    }
    if (wire_text_is(opcode, "map"))
        return times(result.elements, flops_of_called(module, instruction, depth));
    if (wire_text_is(opcode, "reduce")) {
        int64_t kept = result.type == TYPE_TUPLE ? 0 : result.elements;
        return left.elements > kept ? times(left.elements - kept, flops_of_called(module, instruction, depth))
                                    : 0;
    }
    if (wire_text_is(opcode, "reduce-window"))
        return times(times(result.elements, elements_of_window(instruction) - 1),
                     flops_of_called(module, instruction, depth));
    return wire_text_is(opcode, "custom-call") ? HLO_UNKNOWN : 0;
}

static int64_t computation_flops(struct hlo_module *module, struct hlo_computation *computation, int depth)
{
    if (computation->is_priced || depth > HLO_MOST_DEPTH)
        return computation->flops;
    computation->is_priced = true; /* one that calls itself counts as nothing there */
    int64_t flops = 0;
    for (uint32_t i = 0; i < computation->count; i++) {
        int64_t own = instruction_flops(module, &module->instructions.at[computation->first + i], depth);
        flops = own > 0 ? sum_plus(flops, own) : flops;
    }
    return computation->flops = flops;
}

/* ---- bytes ---- */

static bool is_slice(struct wire_text opcode)
{
    return wire_text_is(opcode, "slice") || wire_text_is(opcode, "dynamic-slice") ||
           wire_text_is(opcode, "gather");
}

/* What INSTRUCTION updates in place: the bytes of the part; HLO_UNKNOWN: it does not. */
static int64_t updated_bytes(const struct hlo_module *module, const struct hlo_instruction *instruction)
{
    const struct hlo_instruction *update =
        wire_text_is(instruction->opcode, "dynamic-update-slice") ? operand_of(module, instruction, 1) : NULL;
    return update ? update->result.bytes : HLO_UNKNOWN;
}

/* Bytes that the fusion whose inside is COMPUTATION reads of its operand NUMBER, which has BYTES of them. */
static int64_t read_of_parameter(struct hlo_module *module, const struct hlo_computation *computation,
                                 uint32_t number, int64_t bytes)
{
    uint64_t id = 0;
    bool found = false;
    int64_t sum = 0;
    if (!take_steps(module, computation->count))
        return bytes;
    for (uint32_t i = 0; i < computation->count && !found; i++) {
        const struct hlo_instruction *inside = &module->instructions.at[computation->first + i];
        if (wire_text_is(inside->opcode, "parameter") && hlo_number_in(inside->fields, 9, 0) == number) {
            id = hlo_number_in(inside->fields, 35, 0);
            found = true;
        }
    }
    for (uint32_t i = 0; found && i < computation->count; i++) {
        const struct hlo_instruction *user = &module->instructions.at[computation->first + i];
        if (!take_steps(module, user->operands.count))
            return bytes;
        for (uint32_t o = 0; o < user->operands.count; o++) {
            if (module->ids.at[user->operands.first + o] != id)
                continue;
            if (o == 0 && is_slice(user->opcode))
                sum = sum_plus(sum, user->result.bytes);
            else if (o != 0 || updated_bytes(module, user) == HLO_UNKNOWN)
                return bytes;
        }
    }
    return found && sum < bytes ? sum : bytes;
}

/* Bytes that a fusion writes: the part where it updates one in place. */
static int64_t written_by_root(struct hlo_module *module, const struct hlo_instruction *root, int depth)
{
    int64_t updated = updated_bytes(module, root), sum = 0;
    if (updated != HLO_UNKNOWN)
        return updated;
    if (!wire_text_is(root->opcode, "tuple") || depth > HLO_MOST_DEPTH)
        return root->result.bytes;
    for (uint32_t i = 0; i < root->operands.count && take_steps(module, 1); i++) {
        const struct hlo_instruction *part = operand_of(module, root, i);
        sum = part ? sum_plus(sum, written_by_root(module, part, depth + 1)) : sum;
    }
    return sum;
}

static int64_t fusion_bytes(struct hlo_module *module, const struct hlo_instruction *fusion,
                            const struct hlo_computation *inside)
{
    int64_t bytes = inside->has_root ? written_by_root(module, &module->instructions.at[inside->root], 0)
                                     : fusion->result.bytes;
    for (uint32_t i = 0; i < fusion->operands.count; i++) {
        const struct hlo_instruction *operand = operand_of(module, fusion, i);
        if (operand)
            bytes = sum_plus(bytes, read_of_parameter(module, inside, i, operand->result.bytes));
    }
    return bytes;
}

static int64_t instruction_bytes(struct hlo_module *module, const struct hlo_instruction *instruction)
{
    const struct hlo_computation *inside =
        wire_text_is(instruction->opcode, "fusion") ? called_by(module, instruction, 0) : NULL;
    if (inside)
        return fusion_bytes(module, instruction, inside);
    int64_t bytes = instruction->result.bytes, updated = updated_bytes(module, instruction);
    if (is_slice(instruction->opcode))
        return times(2, bytes);
    if (updated != HLO_UNKNOWN)
        return times(2, updated);
    for (uint32_t i = 0; i < instruction->operands.count; i++) {
        const struct hlo_instruction *operand = operand_of(module, instruction, i);
        bytes = operand ? sum_plus(bytes, operand->result.bytes) : bytes;
    }
    return bytes;
}

/* ---- operators ---- */

/* Does INSTRUCTION run as its parts do, or not at all? */
static bool is_container(struct wire_text opcode)
{
    static const char *const words[] = { "while",     "conditional", "call", "tuple", "get-tuple-element",
                                         "parameter", "constant" };
    return ANY(i, sizeof words / sizeof *words, wire_text_is(opcode, words[i]));
}

/* Append the sizes and types of the operands, of arrays, in torch's words. */
static void describe_operands(const struct hlo_module *module, const struct hlo_instruction *instruction,
                              struct buffer *dims, struct buffer *names)
{
    buffer_putc(dims, '[');
    buffer_putc(names, '[');
    for (uint32_t i = 0, count = 0; i < instruction->operands.count; i++) {
        const struct hlo_instruction *operand = operand_of(module, instruction, i);
        struct hlo_shape shape = operand ? operand->result : (struct hlo_shape){ 0 };
        if (!bits_of_type(shape.type))
            continue;
        buffer_puts(dims, count ? ",[" : "[");
        for (uint32_t d = 0; d < shape.rank; d++)
            buffer_printf(dims, "%s%" PRId64, d ? "," : "", shape.dims[d]);
        buffer_putc(dims, ']');
        buffer_printf(names, "%s\"%s\"", count ? "," : "", types[shape.type].name);
        count++;
    }
    buffer_putc(dims, ']');
    buffer_putc(names, ']');
}

/* Append TEXT without what would end a frame. */
static void add_frame_text(struct buffer *stack, struct wire_text text)
{
    for (size_t i = 0; i < text.len && i < MOST_FRAME_TEXT; i++)
        buffer_putc(stack, text.at[i] == ';' ? ',' : text.at[i]);
}

static void add_frame(struct buffer *stack, struct wire_text file, uint64_t line, struct wire_text function)
{
    if (!file.len)
        return;
    buffer_puts(stack, stack->count ? ";" : "");
    add_frame_text(stack, file);
    buffer_printf(stack, "(%" PRIu64 "): ", line);
    if (function.len)
        add_frame_text(stack, function);
    else
        buffer_puts(stack, "[function]");
}

/* The part of a scope that names a module: of "transpose(jvp(Dense_0))" "Dense_0"; empty for what JAX adds itself. */
static struct wire_text module_in(struct wire_text scope)
{
    static const char *const own[] = { "while",
                                       "body",
                                       "cond",
                                       "closed_call",
                                       "checkpoint",
                                       "rematted_computation",
                                       "custom_jvp_call",
                                       "custom_vjp_call",
                                       "pjit",
                                       "scan",
                                       "remat",
                                       "core_call",
                                       "branch_0_fun",
                                       "branch_1_fun" };
    static const char *const programs[] = { "jit(", "pjit(", "xla_call(", "pmap(", "shmap_body" };
    if (ANY(i, sizeof programs / sizeof *programs, wire_text_begins(scope, programs[i])))
        return (struct wire_text){ "", 0 };
    const char *open;
    while (scope.len && scope.at[scope.len - 1] == ')' && (open = memchr(scope.at, '(', scope.len))) {
        scope.len -= (size_t)(open + 1 - scope.at) + 1;
        scope.at = open + 1;
    }
    if (ANY(i, sizeof own / sizeof *own, wire_text_is(scope, own[i])))
        return (struct wire_text){ "", 0 };
    return scope;
}

/* "jit(step)/jit(main)/jvp(Net)/Dense_0/dot_general": frames of modules, the innermost first. The last part is the operator. */
static void add_modules(struct buffer *stack, struct wire_text name)
{
    const char *end = name.len ? memrchr(name.at, '/', name.len) : NULL;
    while (end && end > name.at) {
        const char *slash = memrchr(name.at, '/', (size_t)(end - name.at));
        const char *begin = slash ? slash + 1 : name.at;
        struct wire_text module = module_in((struct wire_text){ begin, (size_t)(end - begin) });
        if (module.len) {
            buffer_puts(stack, stack->count ? ";nn.Module: " : "nn.Module: ");
            add_frame_text(stack, module);
        }
        end = slash;
    }
}

/* Append the frames from number ID on: StackFrame 1 file_location_id, 2 parent_frame_id; FileLocation 1 file_name_id,
 * 2 function_name_id, 3 line. Ids count from 1. */
static void add_frames(const struct hlo_module *module, struct buffer *stack, uint64_t id)
{
    for (int i = 0; i < MOST_FRAMES && id > 0 && id <= module->frames.count; i++) {
        struct wire frame = module->frames.at[id - 1];
        uint64_t place = hlo_number_in(frame, 1, 0);
        id = hlo_number_in(frame, 2, 0);
        if (place == 0 || place > module->locations.count)
            continue;
        struct wire location = module->locations.at[place - 1];
        uint64_t file = hlo_number_in(location, 1, 0), function = hlo_number_in(location, 2, 0);
        if (file > 0 && file <= module->files.count)
            add_frame(stack, module->files.at[file - 1], hlo_number_in(location, 3, 0),
                      function > 0 && function <= module->functions.count ? module->functions.at[function - 1]
                                                                          : (struct wire_text){ "", 0 });
    }
}

/* OpMetadata: 2 op_name, 3 source_file, 4 source_line, 15 stack_frame_id. */
void hlo_add_lines(const struct hlo_module *module, const struct hlo_instruction *instruction,
                   struct buffer *stack)
{
    struct wire metadata = instruction->metadata;
    size_t before = stack->count;
    add_frames(module, stack, hlo_number_in(metadata, 15, 0));
    if (stack->count == before)
        add_frame(stack, hlo_text_in(metadata, 3), hlo_number_in(metadata, 4, 0),
                  (struct wire_text){ "", 0 });
}

/* TEXT, kept while PROGRAMS are; "" if there are too many of them. TEXT is empty then. */
static const char *keep_text(struct hlo_programs *programs, struct buffer *text)
{
    bool fits = text->count && text->count <= programs->texts_left;
    const char *kept = fits ? arena_strndup(&programs->arena, text->at, text->count) : "";
    programs->texts_left -= fits ? text->count : 0;
    buffer_clear(text);
    return kept;
}

/* PROGRAM and NAME as a key. */
static void spell_key(struct buffer *key, uint64_t program, const char *name, size_t len)
{
    buffer_clear(key);
    buffer_add(key, (const char *)&program, sizeof program);
    buffer_add(key, name, len);
}

static void keep_operators(struct hlo_programs *programs, struct hlo_module *module)
{
    SCOPED struct buffer dims = { 0 }, names = { 0 }, stack = { 0 };
    FOR_EACH(instruction, &module->instructions) {
        if (!instruction->name.len || is_container(instruction->opcode))
            continue;
        spell_key(&programs->key, module->id, instruction->name.at, instruction->name.len);
        name_id id = names_add(programs->keys, programs->key.at, programs->key.count);
        if (id == programs->operators.count)
            *VEC_PUSH(&programs->operators) = (struct hlo_operator){ 0 };
        describe_operands(module, instruction, &dims, &names);
        add_modules(&stack, hlo_text_in(instruction->metadata, 2));
        hlo_add_lines(module, instruction, &stack);
        programs->operators.at[id] = (struct hlo_operator){
            .flops = instruction_flops(module, instruction, 0),
            .bytes = instruction_bytes(module, instruction),
            .dims = keep_text(programs, &dims),
            .types = keep_text(programs, &names),
            .stack = keep_text(programs, &stack),
        };
    }
}

/* BUFFERS: the BufferAssignmentProto. */
static void keep_memory(struct hlo_programs *programs, const struct hlo_module *module, const char *name,
                        size_t len, struct wire buffers)
{
    SCOPED struct buffer text = { 0 };
    hlo_describe_buffers(module, buffers, &text);
    if (text.count)
        *VEC_PUSH(&programs->memory) = (struct hlo_memory){
            arena_printf(&programs->arena, TRACE_PROGRAM_MEMORY "%.*s",
                         (int)(len > MOST_FRAME_TEXT ? MOST_FRAME_TEXT : len), name),
            arena_strndup(&programs->arena, text.at, text.count),
        };
}

void hlo_programs_add(struct hlo_programs *programs, const char *name, size_t name_len, const uint8_t *bytes,
                      size_t len)
{
    struct hlo_module module = { .name = { "", 0 }, .steps = (uint64_t)len * STEPS_PER_BYTE };
    read_module(&module, hlo_message_in(wire_over(bytes, len), 1));
    if (!programs->keys) {
        programs->keys = names_open();
        programs->modules = names_open();
        programs->texts_left = TEXTS_ALWAYS;
    }
    programs->texts_left += (uint64_t)len * TEXTS_PER_BYTE;
    name_id id = names_add(programs->modules, module.name.at, module.name.len);
    if (id == programs->program_of.count)
        *VEC_PUSH(&programs->program_of) = 0;
    programs->program_of.at[id] = module.id;
    keep_operators(programs, &module);
    if (programs->wants_memory)
        keep_memory(programs, &module, name, name_len, hlo_message_in(wire_over(bytes, len), 3));
    release_module(&module);
}

struct hlo_operator *hlo_programs_find(struct hlo_programs *programs, int64_t program, const char *module,
                                       size_t module_len, const char *name, size_t len)
{
    if (!programs->keys)
        return NULL;
    if (program < 0) {
        name_id id = names_find(programs->modules, module, module_len);
        if (id == NAME_NONE)
            return NULL;
        program = (int64_t)programs->program_of.at[id];
    }
    spell_key(&programs->key, (uint64_t)program, name, len);
    name_id id = names_find(programs->keys, programs->key.at, programs->key.count);
    return id == NAME_NONE ? NULL : &programs->operators.at[id];
}

void hlo_programs_release(struct hlo_programs *programs)
{
    EACH(names_free, programs->keys, programs->modules);
    EACH(VEC_FREE, &programs->operators, &programs->program_of, &programs->memory);
    buffer_release(&programs->key);
    arena_release(&programs->arena);
}
