/* SPDX-License-Identifier: MIT */
/* Inits and destroys. */
#include "profiler/counts.h"
#include "profiler/early.h"
#include "profiler/process.h"
#include "profiler/registry.h"
#include "profiler/stacks.h"

uint32_t record_lock_number(const void *object)
{
    return registry_locks ? registry_find((uintptr_t)object) : 0;
}

/* The counted path looks at no more than the address of the thread's own entry, which
 * may be that of the lock that was there before. */
static void renew(struct recording *me, const void *object, const struct record_as *as,
                  void *caller)
{
    uintptr_t key = record_key(object, as->operation);
    const struct trace_count *count =
        (void *)(me->counts + record_place(me, key));
    if (count->address == key && !registry_still(count->lock, (uintptr_t)object))
        counts_find(me, key, as, caller);
}

void record_created(const void *object, const struct record_as *as, uint32_t flags,
                    void *caller)
{
    struct recording *me = record_me();
    if (!me) {
        if (!record_here.inside && process_is_waiting())
            early_created(object, as, flags, caller);
        return;
    }
    record_enter(me);
    struct registry_origin origin = {
        .as = as,
        .flags = flags,
        .stack = stack_of_origin(me, caller),
        .thread = me->thread,
        .born = ticks(),
        .created = true,
    };
    origin.site = stack_site(origin.stack);
    registry_add((uintptr_t)object, &origin);
    renew(me, object, as, caller);
    if (as->lock_kind == TRACE_RWLOCK) {
        const struct record_as reader = {as->lock_kind, TRACE_READ, as->bytes, 0};
        renew(me, object, &reader, caller);
    }
    add_shared(&trace->locks_created, 1);
    record_leave(me);
}

void record_destroyed(const void *object)
{
    struct recording *me = record_me();
    if (!me) {
        if (!record_here.inside && process_is_waiting())
            early_destroyed(object);
        return;
    }
    record_enter(me);
    uint32_t number = registry_find((uintptr_t)object);
    if (number)
        registry_destroy(number);
    add_shared(&trace->locks_destroyed, 1);
    record_leave(me);
}
