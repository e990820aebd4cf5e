/* SPDX-License-Identifier: MIT */
#include "profiler/record/misuse.h"

#include "profiler/record/record.h"
#include "profiler/store/events.h"
#include "profiler/threads/sampling_rate.h"
#include "profiler/store/lock_registry.h"
#include "profiler/threads/stack_cache.h"
#include "profiler/record/condition_waiters.h"

enum { KIND_TYPE = 3, KIND_ROBUST = 16 };

static bool is_taken(const pthread_mutex_t *mutex)
{
    return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 0;
}

static bool is_mine(const pthread_mutex_t *mutex)
{
    return is_taken(mutex) && (uint32_t)mutex->__data.__owner == current_thread();
}

/* After a handover some algorithms do not show which thread holds the lock (lock.h). */
static bool is_anyones(const pthread_mutex_t *mutex)
{
    enum { OWNER_IN_NODE = 0x3fffffff };
    return is_taken(mutex) && mutex->__data.__owner == OWNER_IN_NODE;
}

static void record_event(struct recording *me, enum trace_event_kind kind,
                         uint32_t lock, uint32_t other, void *caller)
{
    event_add(me->thread, kind, lock, other, stack_take(me, caller));
}

/* Returns the number of the thread with this id, or 0. */
static uint32_t thread_called(uint32_t tid)
{
    for (const struct recording *one = recordings_first(); tid && one; one = one->next)
        if (!one->ended && one->shared->tid == tid)
            return one->thread;
    return 0;
}

/* Returns the number of a thread that publishes the lock as held, or 0. */
static uint32_t publishing_holder(uint32_t lock)
{
    for (const struct recording *one = recordings_first(); one; one = one->next) {
        uint32_t depth = one->ended ? 0 : one->shared->depth;
        for (uint32_t i = 0; i < depth && i < TRACE_HELD; i++)
            if (one->shared->held[i] == lock)
                return one->thread;
    }
    return 0;
}

static bool is_published_waited(uint32_t lock)
{
    for (const struct recording *one = recordings_first(); one; one = one->next)
        if (!one->ended && one->shared->waiting_for == lock)
            return true;
    return false;
}

static bool holds(const struct recording *me, uintptr_t key)
{
    for (uint32_t i = 0; i < me->depth; i++)
        if (me->hold[i].key == key)
            return true;
    return false;
}

/* Returns whether the caller would wait for itself. A read hold blocks only writing
 * (record_key). */
static bool stands_in_own_way(const struct recording *me, const void *object,
                              const struct record_as *as)
{
    uintptr_t address = (uintptr_t)object;
    switch (as->lock_kind) {
    case TRACE_MUTEX: {
        const pthread_mutex_t *mutex = object;
        return is_mine(mutex) &&
               (mutex->__data.__kind & KIND_TYPE) != PTHREAD_MUTEX_RECURSIVE;
    }
    case TRACE_RWLOCK: /* a writer is refused with EDEADLK instead */
        return as->operation == TRACE_WRITE &&
               holds(me, record_key(object, TRACE_READ));
    default:
        return holds(me, address);
    }
}

void misuse_before_wait(struct recording *me, uint32_t lock, const void *object,
                        const struct record_as *as, void *caller)
{
    if (stands_in_own_way(me, object, as))
        record_event(me, TRACE_SELF_DEADLOCK, lock, me->thread, caller);
}

struct atomic_u32 misuse_handed_over;

void misuse_forget_handed_over(struct recording *me)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < me->depth; i++) {
        const struct record_hold *hold = &me->hold[i];
        if (hold->lock && registry_locks[hold->lock].handed_over)
            continue;
        if (depth < TRACE_HELD)
            me->shared->held[depth] = hold->lock;
        me->hold[depth++] = *hold;
    }
    me->shared->depth = me->depth = depth;
}

/* Marks a lock as unlocked by another thread than its holder. The holder does not see
 * the end of such a hold, so holds of these locks are no longer tracked. */
static void hand_over(uint32_t lock)
{
    if (!lock)
        return;
    registry_locks[lock].handed_over = 1;
    store_relaxed(&misuse_handed_over, 1);
}

void misuse_unlocking(const pthread_mutex_t *mutex, void *caller)
{
    if (likely(is_mine(mutex)) || is_anyones(mutex))
        return;
    struct recording *me = record_me();
    if (!me)
        return;
    int kind = mutex->__data.__kind;
    bool checked = (kind & KIND_ROBUST) ||
                   (kind & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE ||
                   (kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK;
    uint32_t lock = record_lock_number(mutex);
    record_enter(me);
    if (!checked)
        hand_over(lock);
    record_event(me, checked ? TRACE_UNLOCK_REFUSED : TRACE_FOREIGN_UNLOCK, lock,
                 is_taken(mutex) ? thread_called((uint32_t)mutex->__data.__owner) : 0,
                 caller);
    record_leave(me);
}

static void unlocked_by_other(struct recording *me, uint32_t lock, uint32_t holder,
                              void *caller)
{
    record_enter(me);
    hand_over(lock);
    record_event(me, TRACE_FOREIGN_UNLOCK, lock, holder, caller);
    record_leave(me);
}

/* The holder is known from published holds: not in sampled mode, where most are not
 * published, and not when the caller holds more locks than are tracked. */
static void unlocking_unseen(const void *object, bool free, void *caller)
{
    struct recording *me = record_here.me;
    if (!me || sampling.sampled_mode || me->depth == RECORD_HOLDS)
        return;
    uint32_t lock = record_lock_number(object);
    uint32_t holder = lock && !free ? publishing_holder(lock) : 0;
    if (holder || free)
        unlocked_by_other(me, lock, holder, caller);
}

void misuse_unlocking_rwlock(const pthread_rwlock_t *lock, bool free, void *caller)
{
    uint32_t writer =
        (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
    if (writer == current_thread())
        return;
    struct recording *me = writer ? record_me() : NULL;
    if (me)
        unlocked_by_other(me, record_lock_number(lock), thread_called(writer), caller);
    else if (!writer)
        unlocking_unseen(lock, free, caller);
}

void misuse_unlocking_spinlock(const void *lock, bool free, void *caller)
{
    unlocking_unseen(lock, free, caller);
}

void misuse_relocking(const void *object, void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return;
    record_enter(me);
    record_event(me, TRACE_RELOCK_REFUSED, record_lock_number(object), me->thread,
                 caller);
    record_leave(me);
}

void misuse_initialising(const void *object, bool held, void *caller)
{
    uint32_t lock = held ? record_lock_number(object) : 0;
    if (likely(!lock) || registry_locks[lock].dead)
        return;
    struct recording *me = record_me();
    uint32_t holder =
        publishing_holder(lock); /* otherwise it was uninitialised memory */
    if (!me || !holder)
        return;
    record_enter(me);
    record_event(me, TRACE_INITIALISED_HELD, lock, holder, caller);
    record_leave(me);
}

void misuse_destroying(const void *object, bool held, void *caller)
{
    uint32_t lock = held ? record_lock_number(object) : 0;
    if (likely(!lock) || registry_locks[lock].dead)
        return;
    struct recording *me = record_me();
    if (!me)
        return;
    record_enter(me);
    record_event(me, TRACE_DESTROYED_HELD, lock, publishing_holder(lock), caller);
    if (is_published_waited(lock))
        record_event(me, TRACE_DESTROYED_WAITED, lock, 0, caller);
    record_leave(me);
}

static void destroyed_waited(uint32_t lock, void *caller)
{
    struct recording *me = record_me();
    if (!me)
        return;
    record_enter(me);
    record_event(me, TRACE_DESTROYED_WAITED, lock, 0, caller);
    record_leave(me);
}

void misuse_destroying_condition(const void *condition, void *caller)
{
    uint32_t lock = record_lock_number(condition);
    if (lock && condition_waiters_left(lock))
        destroyed_waited(lock, caller);
}

void misuse_destroying_barrier(const void *barrier, bool waited, void *caller)
{
    uint32_t lock = waited ? record_lock_number(barrier) : 0;
    if (lock && !registry_locks[lock].dead)
        destroyed_waited(lock, caller);
}

static void report_holds(struct recording *me, enum trace_event_kind kind)
{
    if (load_relaxed(&misuse_handed_over))
        misuse_forget_handed_over(me);
    for (uint32_t i = 0; i < me->depth; i++) {
        const struct record_hold *hold = &me->hold[i];
        bool robust = hold->lock && registry_record(hold->lock)->flags & TRACE_ROBUST;
        if (!robust) /* robust mutexes are meant for this */
            event_add(me->thread, kind, hold->lock, me->thread, hold->stack);
    }
}

void misuse_thread_ends(struct recording *me)
{
    report_holds(me, TRACE_EXITED_HOLDING);
}

void misuse_process_ends(struct recording *me)
{
    report_holds(me, TRACE_HELD_AT_EXIT);
}

void misuse_forget(void)
{
    events_forget();
    condition_waiters_forget();
    store_relaxed(&misuse_handed_over, 0);
}
