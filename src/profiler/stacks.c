/* SPDX-License-Identifier: MIT */
#include "profiler/stacks.h"

#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

enum {
    STACKS_MOST = 1 << 15,
    PLACES = 2 * STACKS_MOST,
    CACHED = 256,         /* of one thread */
    FREE_TICKS = 1 << 22, /* that every thread may spend, about a millisecond */
    SHARE = 32,           /* and one part in so many of its time */
    MOST_TICKS = 1 << 15, /* of one stack; what takes longer was interrupted */
};

struct stacks_cache {
    struct known {
        uintptr_t caller, stack_pointer;
        struct stack_proof proof;
        uint32_t stack;
    } known[CACHED];
};

static struct atomic_u32 *places; /* numbers of stacks, by their hash */
static struct atomic_u32 *sites;  /* by stack */
static struct atomic_u32 adding;

SERIES(stack_records, TRACE_STACKS, struct trace_stack, STACKS_MOST);

static const size_t places_bytes = sizeof(struct atomic_u32) * PLACES;
static const size_t sites_bytes = sizeof(struct atomic_u32) * (STACKS_MOST + 1);

bool stacks_map(void)
{
    places = map_pages(places_bytes);
    sites = map_pages(sites_bytes);
    return places && sites;
}

void stacks_forget(void)
{
    if (places)
        munmap(places, places_bytes);
    if (sites)
        munmap(sites, sites_bytes);
    places = sites = NULL;
    store_relaxed(&adding, 0);
    series_forget(&stack_records);
}

struct walk {
    uintptr_t from; /* frames inside of this one are the recorder's */
    uintptr_t *frames;
    uint32_t depth, most, skipped;
    bool begun;
    uintptr_t inner; /* the stack pointer in the frame before */
    struct stack_proof *proof;
};

/* A frame's return address lies at the end of the frame that returns to it, or, on some
 * processors, a few words further in. */
static void prove(struct walk *walk, uintptr_t outer, uintptr_t address)
{
    enum { WORDS = 32, LARGEST_FRAME = 1 << 20 };
    struct stack_proof *proof = walk->proof;
    if (!proof || proof->count == STACKS_PROVEN || proof->count + 1 != walk->depth)
        return;
    /* Below a signal's handler another stack may begin, which may be gone next time. */
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
    return walk->depth == walk->most ? _URC_END_OF_STACK : _URC_NO_REASON;
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
        proof->count = 0; /* it would prove too little */
    if (walk.depth)
        return walk.depth;
    frames[0] = (uintptr_t)caller; /* no unwind information, as in generated code */
    return 1;
}

__attribute__((noinline)) void stacks_warm_up(void)
{
    uintptr_t frames[TRACE_FRAMES];
    stack_unwind(__builtin_return_address(0), frames, TRACE_FRAMES);
}

static uint32_t hash_of(const uintptr_t *frames, uint32_t depth)
{
    uint64_t hash = depth;
    for (uint32_t i = 0; i < depth; i++)
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
    return (uint32_t)(hash >> 32);
}

/* The place of the stack, or the empty one where it would be. */
static struct atomic_u32 *place_of(const uintptr_t *frames, uint32_t depth,
                                   uint32_t hash, uint32_t *number)
{
    for (uint32_t at = hash % PLACES;; at = (at + 1) % PLACES) {
        *number = load_acquire(&places[at]);
        if (!*number)
            return &places[at];
        const struct trace_stack *stack = series_at(&stack_records, *number);
        if (stack->hash == hash && stack->depth == depth &&
            memcmp(stack->frame, frames, depth * sizeof *frames) == 0)
            return &places[at];
    }
}

uint32_t stack_intern(const uintptr_t *frames, uint32_t depth)
{
    uint32_t hash = hash_of(frames, depth), number;
    place_of(frames, depth, hash, &number);
    if (number)
        return number;
    brief_lock(&adding);
    struct atomic_u32 *place = place_of(frames, depth, hash, &number);
    if (!number) {
        struct trace_stack stack = {.depth = depth, .hash = hash};
        memcpy(stack.frame, frames, depth * sizeof *frames);
        if (series_append(&stack_records, &stack, &number))
            store_release(place, number);
        else
            trace->lost_stacks++;
    }
    brief_unlock(&adding);
    return number;
}

uint32_t stack_site(uint32_t stack)
{
    if (!stack)
        return 0;
    uint32_t site = load_relaxed(&sites[stack]);
    if (site)
        return site;
    const struct trace_stack *record = series_at(&stack_records, stack);
    uintptr_t frames[STACKS_SITE_FRAMES];
    uint32_t depth =
        record->depth < STACKS_SITE_FRAMES ? record->depth : STACKS_SITE_FRAMES;
    memcpy(frames, record->frame, depth * sizeof *frames);
    site = depth == record->depth ? stack : stack_intern(frames, depth);
    store_relaxed(&sites[stack], site);
    return site;
}

void stacks_begin_thread(struct recording *me)
{
    if (me->stacks)
        memset(me->stacks, 0, sizeof *me->stacks);
}

static struct known *place_in(struct stacks_cache *cache, uintptr_t caller,
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
    struct known *exact = place_in(me->stacks, (uintptr_t)caller, here);
    if (exact->stack && stack_proof_holds(&exact->proof))
        return exact->stack;
    uint64_t began = ticks();
    struct known *similar = place_in(me->stacks, (uintptr_t)caller, 0);
    if (!exactly && similar->stack && !within_budget(me, began))
        return similar->stack;
    uintptr_t frames[TRACE_FRAMES];
    struct stack_proof proof;
    uint32_t depth = stack_unwind_proven(caller, frames, TRACE_FRAMES, &proof);
    uint32_t stack = stack_intern(frames, depth);
    similar->stack = stack;
    exact = place_in(me->stacks, (uintptr_t)caller, here); /* both may share a place */
    exact->stack = stack;
    exact->proof = proof;
    uint64_t took = ticks() - began;
    me->stack_ticks += took;
    me->shared->own_ticks += took < MOST_TICKS ? took : MOST_TICKS;
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
