/*
 * call_stack.h - the calls that are open on a thread while its calls are looked at by start, the longer first.
 *
 *     struct call_stack stack = { 0 };
 *     for (uint32_t n = first; n < end; n++) {
 *         call_stack_leave(&stack, start_ns(n), end_ns(n));          // stack.count: how deep N lies
 *         call_stack_enter(&stack, end_ns(n), n);
 *     }
 *     VEC_FREE(&stack);
 *
 * It nests as calltree.h describes; calltree_nest keeps the result of all threads as parents.
 */
#ifndef TPA_TRACE_CALL_STACK_H
#define TPA_TRACE_CALL_STACK_H

#include "base/memory.h"
#include <stdint.h>

struct open_call {
    int64_t end_ns;
    uint32_t node;
};

struct call_stack {
    VEC_OF(struct open_call); /* outermost first */
    size_t overlaps;          /* calls that began within another and ended after it */
};

/* Close the calls that one from START_NS to END_NS does not lie in. */
static inline void call_stack_leave(struct call_stack *stack, int64_t start_ns, int64_t end_ns)
{
    while (stack->count) {
        int64_t top_end_ns = stack->at[stack->count - 1].end_ns;
        if (start_ns < top_end_ns && end_ns <= top_end_ns)
            break;
        stack->overlaps += start_ns < top_end_ns;
        stack->count--;
    }
}

/* Open NODE, which lies in the calls that are open. */
static inline void call_stack_enter(struct call_stack *stack, int64_t end_ns, uint32_t node)
{
    *VEC_PUSH(stack) = (struct open_call){ end_ns, node };
}

#endif
