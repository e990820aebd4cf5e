/* SPDX-License-Identifier: MIT */
#include "profiler/store/unwind.h"

#include "platform/native/exit_frame.h"
#include "profiler/trace.h"

#include <stddef.h>
#include <unwind.h>

struct walk {
    uintptr_t from; /* inner frames belong to the recorder */
    uintptr_t *frames;
    uint32_t depth, most, skipped;
    bool begun;
    uintptr_t inner; /* the stack pointer of the previous frame */
    struct stack_proof *proof;
};

/* Finds the return address on the stack: at the end of the called function's frame or,
 * on some processors, a few words before it. */
static void prove(struct walk *walk, uintptr_t outer, uintptr_t address)
{
    enum { WORDS = 32, LARGEST_FRAME = 1 << 20 };
    struct stack_proof *proof = walk->proof;
    if (!proof || proof->count == STACKS_PROVEN || proof->count + 1 != walk->depth)
        return;
    /* A signal handler may run on another stack, which may not exist next time. */
    if (outer - walk->inner > LARGEST_FRAME)
        return;
    const uintptr_t *slot = (const uintptr_t *)outer - 1;
    for (unsigned i = 0; i < WORDS && (uintptr_t)slot >= walk->inner; i++, slot--) {
        if (*slot != address)
            continue;
        proof->slot[proof->count] = slot;
        proof->value[proof->count++] = address;
        return;
    }
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    uintptr_t address = _Unwind_GetIP(context);
    if (!address)
        return _URC_END_OF_STACK;
    uintptr_t outer = _Unwind_GetCFA(context);
    if (!walk->begun) {
        walk->begun = address == walk->from;
        if (!walk->begun) {
            walk->inner = outer;
            return walk->skipped++ < 16 ? _URC_NO_REASON : _URC_END_OF_STACK;
        }
    }
    walk->frames[walk->depth++] = address;
    prove(walk, outer, address);
    walk->inner = outer;
    bool last = walk->depth == walk->most || is_exit_frame(address);
    return last ? _URC_END_OF_STACK : _URC_NO_REASON;
}

uint32_t stack_unwind(void *caller, uintptr_t *frames, uint32_t most)
{
    return stack_unwind_proven(caller, frames, most, NULL);
}

uint32_t stack_unwind_proven(void *caller, uintptr_t *frames, uint32_t most,
                             struct stack_proof *proof)
{
    struct walk walk = {.from = (uintptr_t)caller, .frames = frames, .most = most};
    walk.proof = proof;
    if (proof)
        proof->count = 0;
    _Unwind_Backtrace(visit, &walk);
    if (proof && proof->count < walk.depth && proof->count < STACKS_SITE_FRAMES)
        proof->count = 0; /* not enough to identify the site */
    if (walk.depth)
        return walk.depth;
    frames[0] = (uintptr_t)caller; /* no unwind information, as in JIT-compiled code */
    return 1;
}

__attribute__((noinline)) void stacks_warm_up(void)
{
    uintptr_t frames[TRACE_FRAMES];
    stack_unwind(__builtin_return_address(0), frames, TRACE_FRAMES);
}
