/*
 * hlo.h - the programs in an XSpace: each operator's shapes, cost and place in the source, from the HLO that XLA's profiler adds
 * in the plane /host:metadata.
 *
 * Messages: xla/service/hlo.proto and xla/xla_data.proto of openxla/xla. Costs are defined as in XLA's HloCostAnalysis:
 *
 *   FLOPs   a product of matrices 2 x elements of the result x contracted elements; a convolution 2 x each product of an element
 *           of the input with one of the kernel, none of the padding; an elementwise operator one an element, transcendental
 *           functions none; a reduction what its computation takes for each element that it takes away; a fusion the sum of
 *           what is in it. A call of cuBLAS, hipBLAS or cuDNN counts as the product or convolution that it stands for.
 *   bytes   of the operands and of the result. Of what a fusion only slices, the slice; where it updates a part in place, that
 *           part; the workspace of a library not at all.
 */
#ifndef TPA_INGEST_XPLANE_HLO_H
#define TPA_INGEST_XPLANE_HLO_H

#include "base/id_table.h"
#include "ingest/wire.h"
#include "trace/trace.h"

enum { HLO_UNKNOWN = -1 };

struct hlo_operator {
    int64_t flops, bytes; /* HLO_UNKNOWN: it runs as its parts do, or does not say */
    const char *dims,
        *types; /* of its operands, as torch writes them: "[[8,4],[4,2]]", "[\"float\",\"float\"]" */
    const char
        *stack;      /* "model.py(12): f;train.py(3): main", modules of its name before them; "" if unknown */
    uint32_t serial; /* of who keeps the three texts as ids of a chunk; 0: nobody yet */
    uint32_t dims_id, types_id, stack_id;
};

/* What a program holds in memory, as a property of the trace: TRACE_PROGRAM_MEMORY with its name, and lines. */
struct hlo_memory {
    const char *key, *value;
};

/* Zero-initialise it. */
struct hlo_programs {
    bool wants_memory;
    struct arena arena;
    struct buffer key;                     /* one in the making */
    struct names *keys;                    /* program and operator; NULL: there are none */
    VEC_OF(struct hlo_operator) operators; /* by id of keys */
    struct names *modules;                 /* names of programs */
    VEC_OF(uint64_t) program_of;           /* by id of modules: the last one of that name */
    VEC_OF(struct hlo_memory) memory;      /* of programs of which it is known; only if wanted */
    uint64_t texts_left;                   /* bytes */
};

/* Add the program NAME, "jit_step(7)", of the HloProto of LEN bytes at BYTES. What is damaged in it is left out. */
void hlo_programs_add(struct hlo_programs *programs, const char *name, size_t name_len, const uint8_t *bytes,
                      size_t len);

/* The operator NAME (of LEN bytes) of the program with the number PROGRAM, or if that is negative of the last one called MODULE.
 * NULL: unknown. Valid until the next program is added. */
struct hlo_operator *hlo_programs_find(struct hlo_programs *programs, int64_t program, const char *module,
                                       size_t module_len, const char *name, size_t len);

void hlo_programs_release(struct hlo_programs *programs);

/* ---- a program while it is read: for hlo.c and buffers.c only ---- */

enum { HLO_MOST_DIMS = 16, HLO_MOST_DEPTH = 16 };

/* A shape; of a tuple, BYTES is the sum of its parts, and the rest is unknown. */
struct hlo_shape {
    uint32_t type; /* PrimitiveType; TYPE_TUPLE */
    uint32_t rank;
    int64_t dims[HLO_MOST_DIMS];
    int64_t elements, bytes;
};

/* Ids in hlo_module.ids. */
struct hlo_list {
    uint32_t first, count;
};

struct hlo_instruction {
    struct wire fields, metadata;
    struct wire_text name, opcode;
    struct hlo_shape result; /* of a library's call, which returns its workspace beside it, without that */
    struct hlo_list operands, called;
    bool is_library; /* a call of cuBLAS, hipBLAS or cuDNN */
};

struct hlo_computation {
    uint32_t first, count; /* instructions */
    uint32_t root;         /* index of an instruction */
    uint64_t root_id;
    bool has_root, is_priced;
    int64_t flops;
};

struct hlo_module {
    VEC_OF(struct hlo_instruction) instructions;
    VEC_OF(struct hlo_computation) computations;
    VEC_OF(uint64_t) ids;
    struct id_table instruction_of, computation_of;
    struct wire_text name;
    uint64_t id, steps; /* STEPS: that are left, see STEPS_PER_BYTE */
    /* Of the source: StackFrameIndexProto. */
    VEC_OF(struct wire_text) files;
    VEC_OF(struct wire_text) functions;
    VEC_OF(struct wire) locations;
    VEC_OF(struct wire) frames;
};

/* The next field of IN that is no group. */
bool hlo_next_field(struct wire *in, struct wire_field *field);

/* The last number of field NUMBER in IN; OTHERWISE if there is none. */
uint64_t hlo_number_in(struct wire in, uint32_t number, uint64_t otherwise);

/* The last message or text of field NUMBER in IN; empty if there is none. */
struct wire hlo_message_in(struct wire in, uint32_t number);
struct wire_text hlo_text_in(struct wire in, uint32_t number);

/* The ShapeProto at IN; DEPTH of tuples around it. */
struct hlo_shape hlo_read_shape(struct wire in, int depth);

/* Append the same in XLA's words, without its layout: "(f32[8,4], s32[])". */
void hlo_describe_shape(struct buffer *text, struct wire in, int depth);

/* Bytes of the ShapeProto at IN without padding; of a tuple, of its pointers. HLO_UNKNOWN for types without a size. */
int64_t hlo_unpadded_bytes(struct wire in);

/* Append the lines of source that INSTRUCTION comes from, the innermost first: "model.py(12): f;train.py(3): main". */
void hlo_add_lines(const struct hlo_module *module, const struct hlo_instruction *instruction,
                   struct buffer *stack);

/* Append what the BufferAssignmentProto at IN says of MODULE, in the form of trace/program_memory.h. */
void hlo_describe_buffers(const struct hlo_module *module, struct wire in, struct buffer *text);

#endif
