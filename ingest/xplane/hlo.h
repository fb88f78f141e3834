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

#include "base/arena.h"
#include "base/buffer.h"
#include "base/names.h"
#include "ingest/id_table.h"
#include "ingest/wire.h"

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

/* Zero-initialise it. */
struct hlo_programs {
    struct arena arena;
    struct buffer key;                     /* one in the making */
    struct names *keys;                    /* program and operator; NULL: there are none */
    VEC_OF(struct hlo_operator) operators; /* by id of keys */
    struct names *modules;                 /* names of programs */
    VEC_OF(uint64_t) program_of;           /* by id of modules: the last one of that name */
    uint64_t texts_left;                   /* bytes */
};

/* Add the operators of the program in the HloProto of LEN bytes at BYTES. What is damaged in it is left out. */
void hlo_programs_add(struct hlo_programs *programs, const uint8_t *bytes, size_t len);

/*
 * The operator NAME (of LEN bytes) of the program with the number PROGRAM, or if that is negative of the last one called MODULE.
 * NULL: unknown. Valid until the next program is added.
 */
struct hlo_operator *hlo_programs_find(struct hlo_programs *programs, int64_t program, const char *module,
                                       size_t module_len, const char *name, size_t len);

void hlo_programs_release(struct hlo_programs *programs);

#endif
