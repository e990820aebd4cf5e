/* SPDX-License-Identifier: MIT */
#include "profiler/store/stacks.h"

#include "profiler/store/unwind.h"

#include <string.h>
#include <sys/mman.h>

enum { STACKS_MOST = 1 << 15, SLOTS = 2 * STACKS_MOST };

static struct atomic_u32 *slots; /* numbers of stacks by hash */
static struct atomic_u32 *sites; /* by stack */
static struct atomic_u32 adding;

SERIES(stack_records, TRACE_STACKS, struct trace_stack, STACKS_MOST);

static const size_t slots_bytes = sizeof(struct atomic_u32) * SLOTS;
static const size_t sites_bytes = sizeof(struct atomic_u32) * (STACKS_MOST + 1);

bool stacks_map(void)
{
    slots = map_pages(slots_bytes);
    sites = map_pages(sites_bytes);
    return slots && sites;
}

void stacks_forget(void)
{
    if (slots)
        munmap(slots, slots_bytes);
    if (sites)
        munmap(sites, sites_bytes);
    slots = sites = NULL;
    store_relaxed(&adding, 0);
    series_forget(&stack_records);
}

static uint32_t hash_of(const uintptr_t *frames, uint32_t depth)
{
    uint64_t hash = depth;
    for (uint32_t i = 0; i < depth; i++)
        hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
    return (uint32_t)(hash >> 32);
}

/* Returns the slot of the stack, or the empty slot for it, with *number 0. */
static struct atomic_u32 *slot_of(const uintptr_t *frames, uint32_t depth,
                                  uint32_t hash, uint32_t *number)
{
    for (uint32_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
        *number = load_acquire(&slots[at]);
        if (!*number)
            return &slots[at];
        const struct trace_stack *stack = series_at(&stack_records, *number);
        if (stack->hash == hash && stack->depth == depth &&
            memcmp(stack->frame, frames, depth * sizeof *frames) == 0)
            return &slots[at];
    }
}

uint32_t stack_intern(const uintptr_t *frames, uint32_t depth)
{
    uint32_t hash = hash_of(frames, depth), number;
    slot_of(frames, depth, hash, &number);
    if (number)
        return number;
    if (!brief_lock(&adding)) {
        add_shared(&trace->lost_stacks, 1);
        return 0;
    }
    struct atomic_u32 *slot = slot_of(frames, depth, hash, &number);
    if (!number) {
        struct trace_stack stack = {.depth = depth, .hash = hash};
        memcpy(stack.frame, frames, depth * sizeof *frames);
        if (series_append(&stack_records, &stack, &number))
            store_release(slot, number); /* pairs with slot_of() */
        else
            add_shared(&trace->lost_stacks, 1);
    }
    brief_unlock(&adding);
    return number;
}

uint32_t stack_find(const uintptr_t *frames, uint32_t depth)
{
    uint32_t number;
    slot_of(frames, depth, hash_of(frames, depth), &number);
    return number;
}

const struct trace_stack *stack_record(uint32_t stack)
{
    return series_at(&stack_records, stack);
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
