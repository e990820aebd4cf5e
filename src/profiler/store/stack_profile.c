/* SPDX-License-Identifier: MIT */
#include "profiler/store/stack_profile.h"

#include <sys/mman.h>

enum {
    WEIGHTS_MOST = 1 << 16,
    SLOTS = 2 * WEIGHTS_MOST,
    OPERATIONS = 64, /* of a pair, summed up before a write */
};

static struct atomic_u32 *slots; /* numbers of records by lock and stack */
static struct atomic_u32 adding;

SERIES(weight_records, TRACE_STACK_PROFILE, struct trace_stack_weight, WEIGHTS_MOST);

bool stack_profile_map(void)
{
    slots = map_pages(sizeof *slots * SLOTS);
    return slots != NULL;
}

void stack_profile_forget(void)
{
    if (slots)
        munmap(slots, sizeof *slots * SLOTS);
    slots = NULL;
    store_relaxed(&adding, 0);
    series_forget(&weight_records);
}

static uint32_t hash_of(uint32_t lock, uint32_t stack)
{
    uint64_t both = (uint64_t)lock << 32 | stack;
    return (uint32_t)(both * 0x9e3779b97f4a7c15u >> 40);
}

/* Returns the slot of the pair, or the empty slot for it, with *found NULL. */
static struct atomic_u32 *slot_of(uint32_t lock, uint32_t stack,
                                  struct trace_stack_weight **found)
{
    for (uint32_t at = hash_of(lock, stack) % SLOTS;; at = (at + 1) % SLOTS) {
        uint32_t number = load_acquire(&slots[at]);
        *found = number ? series_at(&weight_records, number) : NULL;
        if (!number || ((*found)->lock == lock && (*found)->stack == stack))
            return &slots[at];
    }
}

static struct trace_stack_weight *find(uint32_t lock, uint32_t stack)
{
    struct trace_stack_weight *weight;
    uint32_t number;
    slot_of(lock, stack, &weight);
    if (weight)
        return weight;
    if (!brief_lock(&adding)) {
        add_shared(&trace->lost_others, 1);
        return NULL;
    }
    struct atomic_u32 *slot = slot_of(lock, stack, &weight);
    if (!weight) {
        const struct trace_stack_weight new = {.lock = lock, .stack = stack};
        weight = series_append(&weight_records, &new, &number);
        if (weight)
            store_release(slot, number);
        else
            add_shared(&trace->lost_others, 1);
    }
    brief_unlock(&adding);
    return weight;
}

static void flush(struct trace_stack_weight *own)
{
    if (!own->waits && !own->holds)
        return;
    struct trace_stack_weight *weight = find(own->lock, own->stack);
    if (weight) {
        add_shared(&weight->waits, own->waits);
        add_shared(&weight->wait_ticks, own->wait_ticks);
        add_shared(&weight->holds, own->holds);
        add_shared(&weight->hold_ticks, own->hold_ticks);
    }
    own->waits = own->wait_ticks = own->holds = own->hold_ticks = 0;
}

void stack_profile_flush(struct trace_stack_weight own[STACK_PROFILE_OWN])
{
    for (uint32_t i = 0; i < STACK_PROFILE_OWN; i++)
        flush(&own[i]);
}

static struct trace_stack_weight *
entry_of(struct trace_stack_weight own[STACK_PROFILE_OWN], uint32_t lock,
         uint32_t stack)
{
    struct trace_stack_weight *weight = &own[hash_of(lock, stack) % STACK_PROFILE_OWN];
    if (weight->lock != lock || weight->stack != stack ||
        weight->waits + weight->holds > OPERATIONS) {
        flush(weight);
        weight->lock = lock;
        weight->stack = stack;
    }
    return weight;
}

void stack_profile_add_wait(struct trace_stack_weight own[STACK_PROFILE_OWN],
                            uint32_t lock, uint32_t stack, uint64_t waited)
{
    struct trace_stack_weight *weight = entry_of(own, lock, stack);
    weight->waits++;
    weight->wait_ticks += waited;
}

void stack_profile_add_hold(struct trace_stack_weight own[STACK_PROFILE_OWN],
                            uint32_t lock, uint32_t stack, uint64_t weight,
                            uint64_t held)
{
    struct trace_stack_weight *sum = entry_of(own, lock, stack);
    sum->holds += weight;
    sum->hold_ticks += held;
}
