/* SPDX-License-Identifier: MIT */
#include "profiler/threads/stack_cache.h"

#include "profiler/store/stacks.h"
#include "profiler/store/unwind.h"

#include <string.h>

enum {
    CACHED = 256,         /* of one thread */
    FREE_TICKS = 1 << 22, /* allowed to every thread, about a millisecond */
    SHARE = 32,           /* plus 1/SHARE of its time */
    MOST_TICKS = 1 << 15, /* of one stack; anything longer was interrupted */
};

struct stack_cache {
    struct known {
        uintptr_t caller, stack_pointer;
        struct stack_proof proof;
        uint32_t stack;
    } known[CACHED];
};

void stacks_begin_thread(struct recording *me)
{
    if (me->stacks)
        memset(me->stacks, 0, sizeof *me->stacks);
}

static struct known *slot_in(struct stack_cache *cache, uintptr_t caller,
                             uintptr_t stack_pointer)
{
    uint64_t hash = (caller ^ stack_pointer << 7) * 0x9e3779b97f4a7c15u;
    struct known *known = &cache->known[(uint32_t)(hash >> 40) % CACHED];
    if (known->caller != caller || known->stack_pointer != stack_pointer)
        *known = (struct known){.caller = caller, .stack_pointer = stack_pointer};
    return known;
}

static bool within_budget(const struct recording *me, uint64_t now)
{
    return me->stack_ticks < FREE_TICKS + (now - me->shared->began) / SHARE;
}

static uint32_t take(struct recording *me, void *caller, bool exactly)
{
    if (!me->stacks)
        me->stacks = map_pages(sizeof *me->stacks);
    if (!me->stacks)
        return 0;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct known *exact = slot_in(me->stacks, (uintptr_t)caller, here);
    if (exact->stack && stack_proof_holds(&exact->proof))
        return exact->stack;
    uint64_t began = ticks();
    struct known *similar = slot_in(me->stacks, (uintptr_t)caller, 0);
    if (!exactly && similar->stack && !within_budget(me, began))
        return similar->stack;
    uintptr_t frames[TRACE_FRAMES];
    struct stack_proof proof;
    uint32_t depth = stack_unwind_proven(caller, frames, TRACE_FRAMES, &proof);
    uint32_t stack = stack_intern(frames, depth);
    similar->stack = stack;
    exact = slot_in(me->stacks, (uintptr_t)caller, here); /* both may share a slot */
    exact->stack = stack;
    exact->proof = proof;
    uint64_t took = ticks() - began;
    me->stack_ticks += took;
    me->shared->overhead_ticks += took < MOST_TICKS ? took : MOST_TICKS;
    me->shared->stacks++;
    return stack;
}

uint32_t stack_take(struct recording *me, void *caller)
{
    return take(me, caller, false);
}

uint32_t stack_of_origin(struct recording *me, void *caller)
{
    return take(me, caller, true);
}
