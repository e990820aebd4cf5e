/* SPDX-License-Identifier: MIT */
#include "profiler/session/prestart_locks.h"

#include "profiler/store/lock_registry.h"
#include "profiler/store/stacks.h"
#include "profiler/store/unwind.h"

enum { FRAMES = 8, MOST = 1 << 20, STACKS_MOST = 4096, STACKS_COMPARED = 8 };

struct prestart_lock {
    uintptr_t address; /* 0: destroyed */
    uint64_t born;
    const struct record_as *as;
    uint32_t flags;
    uint32_t stack;
};

/* A known stack, so that repeated calls need not be unwound. */
struct prestart_stack {
    uintptr_t stack_pointer;
    uint64_t depth;
    struct stack_proof proof;
    uintptr_t frames[FRAMES];
};

static struct prestart_lock *list;
static struct prestart_stack *stacks;
static struct atomic_u32 count; /* may exceed MOST */
static uint32_t stack_count;

/* Returns the index of the stack, or of the last one when there are too many. */
static uint32_t stack_of(void *caller)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    for (uint32_t back = 1; back <= stack_count && back <= STACKS_COMPARED; back++) {
        const struct prestart_stack *known = &stacks[stack_count - back];
        if (known->frames[0] == (uintptr_t)caller && known->stack_pointer == here &&
            stack_proof_holds(&known->proof))
            return stack_count - back;
    }
    if (stack_count == STACKS_MOST)
        return stack_count - 1;
    struct prestart_stack *stack = &stacks[stack_count];
    stack->stack_pointer = here;
    stack->depth = stack_unwind_proven(caller, stack->frames, FRAMES, &stack->proof);
    return stack_count++;
}

void prestart_created(const void *object, const struct record_as *as, uint32_t flags,
                      void *caller)
{
    if (!list) {
        list = map_pages(sizeof *list * MOST);
        stacks = map_pages(sizeof *stacks * STACKS_MOST);
    }
    if (!list || !stacks)
        return;
    uint32_t index = fetch_add_relaxed(&count, 1);
    if (index >= MOST) {
        store_relaxed(&count, MOST);
        return;
    }
    struct prestart_lock *early = &list[index];
    early->as = as;
    early->flags = flags;
    early->born = ticks();
    early->stack = stack_of(caller);
    early->address = (uintptr_t)object;
}

void prestart_destroyed(const void *object)
{
    uint32_t known = load_relaxed(&count), inspected = 0;
    if (known > MOST)
        known = MOST;
    /* Most locks destroyed this early were created just before. */
    for (uint32_t i = known; i > 0 && inspected < 64; i--, inspected++) {
        if (list[i - 1].address != (uintptr_t)object)
            continue;
        list[i - 1].address = 0;
        if (i == known)
            store_relaxed(&count, i - 1);
        return;
    }
}

void prestart_replay(void)
{
    uint32_t known = load_relaxed(&count);
    for (uint32_t i = 0; i < known && i < MOST; i++) {
        const struct prestart_lock *early = &list[i];
        if (!early->address)
            continue;
        const struct prestart_stack *stack = &stacks[early->stack];
        struct registry_origin origin = {
            .as = early->as,
            .flags = early->flags,
            .stack = stack_intern(stack->frames, (uint32_t)stack->depth),
            .born = early->born,
            .created = true,
        };
        origin.site = stack_site(origin.stack);
        registry_add(early->address, &origin);
        trace->locks_created++;
    }
}
