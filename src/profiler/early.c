/* SPDX-License-Identifier: MIT */
#include "profiler/early.h"

#include "profiler/registry.h"
#include "profiler/stacks.h"

#include <string.h>

enum { FRAMES = 8, MOST = 1 << 17 };

struct early {
    uintptr_t address; /* 0: destroyed */
    const struct record_as *as;
    uint32_t flags;
    uint32_t depth;
    uintptr_t stack_pointer; /* the same call again need not be unwound again */
    uint64_t born;
    uintptr_t frames[FRAMES];
};

static struct early *list;
static struct atomic_u32 count; /* may go beyond MOST */

static void unwind(struct early *early, const struct early *before, void *caller)
{
    early->stack_pointer = (uintptr_t)__builtin_frame_address(0);
    if (before && before->depth && before->frames[0] == (uintptr_t)caller &&
        before->stack_pointer == early->stack_pointer) {
        early->depth = before->depth;
        memcpy(early->frames, before->frames, sizeof early->frames);
        return;
    }
    early->depth = stack_unwind(caller, early->frames, FRAMES);
}

void early_created(const void *object, const struct record_as *as, uint32_t flags,
                   void *caller)
{
    if (!list)
        list = map_pages(sizeof *list * MOST);
    if (!list)
        return;
    uint32_t index = fetch_add_relaxed(&count, 1);
    if (index >= MOST) {
        store_relaxed(&count, MOST);
        return;
    }
    struct early *early = &list[index];
    early->as = as;
    early->flags = flags;
    early->born = ticks();
    unwind(early, index ? early - 1 : NULL, caller);
    early->address = (uintptr_t)object;
}

void early_destroyed(const void *object)
{
    uint32_t known = load_relaxed(&count), looked = 0;
    if (known > MOST)
        known = MOST;
    /* Most that are destroyed so early were made just before. */
    for (uint32_t i = known; i > 0 && looked < 64; i--, looked++) {
        if (list[i - 1].address != (uintptr_t)object)
            continue;
        list[i - 1].address = 0;
        if (i == known)
            store_relaxed(&count, i - 1);
        return;
    }
}

void early_replay(void)
{
    uint32_t known = load_relaxed(&count);
    for (uint32_t i = 0; i < known && i < MOST; i++) {
        const struct early *early = &list[i];
        if (!early->address)
            continue;
        struct registry_origin origin = {
            .as = early->as,
            .flags = early->flags,
            .stack = stack_intern(early->frames, early->depth),
            .born = early->born,
            .created = true,
        };
        origin.site = stack_site(origin.stack);
        registry_add(early->address, &origin);
        trace->locks_created++;
    }
}
