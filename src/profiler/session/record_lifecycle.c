/* SPDX-License-Identifier: MIT */
/* Init and destroy. */
#include "profiler/threads/lock_counts.h"
#include "profiler/session/prestart_locks.h"
#include "profiler/session/session.h"
#include "profiler/store/lock_registry.h"
#include "profiler/store/stacks.h"
#include "profiler/threads/stack_cache.h"

void record_created(const void *object, const struct record_as *as, uint32_t flags,
                    void *caller)
{
    struct recording *me = record_me();
    if (!me) {
        if (!record_here.inside && session_is_waiting())
            prestart_created(object, as, flags, caller);
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
    uint32_t before = registry_find((uintptr_t)object);
    if (registry_add((uintptr_t)object, &origin) != before && before) {
        lock_counts_renew(me, (uintptr_t)object);
        if (as->lock_kind == TRACE_RWLOCK)
            lock_counts_renew(me, record_key(object, TRACE_READ));
    }
    add_shared(&trace->locks_created, 1);
    record_leave(me);
}

void record_destroyed(const void *object)
{
    struct recording *me = record_me();
    if (!me) {
        if (!record_here.inside && session_is_waiting())
            prestart_destroyed(object);
        return;
    }
    record_enter(me);
    uint32_t number = registry_find((uintptr_t)object);
    if (number)
        registry_destroy(number);
    add_shared(&trace->locks_destroyed, 1);
    record_leave(me);
}
