/*
 * derived.h - what several questions derive from a trace: computed once, when first requested, and kept with it.
 *
 *     DERIVED(attribution, attribution_of, attribution_open);
 *
 * defines const struct attribution *attribution_of(const struct trace *trace).
 *
 * So a command that asks several questions, such as `tpa summary`, pays for it once.
 */
#ifndef TPA_TRACE_DERIVED_H
#define TPA_TRACE_DERIVED_H

#include "trace/trace.h"

/* A constant; its address is what tells one derivation from another. Derivations may use others. */
struct derivation {
    void *(*derive)(
        const struct trace *trace); /* returns what arena_open opened; arena_free has no effect on it then */
};

/* clang-format off */
/* Define FUNCTION: the struct TYPE of a trace, opened by DERIVE(trace) and freed with the trace. FUNCTION_derivation is for
 * trace_derived. A prototype before it that is static makes FUNCTION so. */
#define DERIVED(type, function, derive) \
    static void *function##_derive(const struct trace *trace) { return derive(trace); } \
    static const struct derivation function##_derivation = { function##_derive }; \
    const struct type *function(const struct trace *trace) \
    { \
        return trace_derive(trace, &function##_derivation); \
    } \
    const struct type *function(const struct trace *trace)
/* clang-format on */

/* Borrowed; lives as long as TRACE. Several threads may ask: the first works it out, the others wait for it. */
const void *trace_derive(const struct trace *trace, const struct derivation *derivation);

/* The same if it was computed before; else NULL. */
const void *trace_derived(const struct trace *trace, const struct derivation *derivation);

/* Keep VALUE, opened by arena_open and taken, as what DERIVATION gives: where it cannot be computed from TRACE alone. Once, before anyone asks. */
void trace_attach(const struct trace *trace, const struct derivation *derivation, void *value);

/* The same for what came along with something else: VALUE is freed if somebody asked for it meanwhile, or asks now. */
void trace_offer(const struct trace *trace, const struct derivation *derivation, void *value);

/* How many values are kept with TRACE. */
size_t trace_count_derived(const struct trace *trace);

/* Free all but the COUNT values that were computed first: of the others nobody holds one, or asks for one meanwhile. */
void trace_drop_derived(const struct trace *trace, size_t count);

#endif
