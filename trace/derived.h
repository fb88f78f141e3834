/*
 * derived.h - what several questions derive from a trace: computed once, when first requested, and kept with it.
 *
 *     static void *derive(const struct trace *trace) { return attribution_open(trace); }
 *     static void release(void *launches) { attribution_free(launches); }
 *     static const struct derivation derivation = { derive, release };
 *
 *     const struct attribution *attribution_of(const struct trace *trace)
 *     {
 *         return trace_derive(trace, &derivation);
 *     }
 *
 * So a command that asks several questions, such as `tpa summary`, pays for it once.
 */
#ifndef TPA_TRACE_DERIVED_H
#define TPA_TRACE_DERIVED_H

#include "trace/trace.h"

/* A constant; its address is what tells one derivation from another. Derivations may use others. */
struct derivation {
    void *(*derive)(const struct trace *trace);
    void (*release)(void *value);
};

/* Borrowed; lives as long as TRACE. Several threads may ask: the first works it out, the others wait for it. */
const void *trace_derive(const struct trace *trace, const struct derivation *derivation);

/* The same if it was computed before; else NULL. */
const void *trace_derived(const struct trace *trace, const struct derivation *derivation);

/* Keep VALUE, which is taken, as what DERIVATION gives: where it cannot be computed from TRACE alone. Once, before anyone asks. */
void trace_attach(const struct trace *trace, const struct derivation *derivation, void *value);

#endif
