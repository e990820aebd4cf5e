/* SPDX-License-Identifier: MIT */
/*
 * Small locks with one seeded bug each, which the explorer must reject. It must accept
 * them with the bug NONE. `bug` is a constant in every call.
 */
#ifndef HASP_TESTS_EXPLORER_WRONG_LOCKS_H
#define HASP_TESTS_EXPLORER_WRONG_LOCKS_H

#include "explorer/clients/clients.h"
#include "explorer/execution/services.h"
#include "explorer/base/variables.h"

enum bug {
    NONE,
    /* memory orders of the queue lock */
    TAIL_RELAXED,
    LINK_RELAXED,
    LINK_READ_RELAXED,
    WAIT_RELAXED,
    LAST_RELAXED,
    GRANT_RELAXED,
    /* its logic */
    GRANT_FORGOTTEN,
    GRANT_TO_ITSELF,
    NEVER_GIVEN_BACK,
    GIVEN_BACK_TWICE,
    TIMEOUT_STAYS_QUEUED,
    ADOPT_NOT_QUEUED,
    IGNORES_OTHER_UNLOCKERS,
    LOOP_WITHOUT_RELAX,
    GRANTS_TAIL,
    WRITES_AFTER_GIVING_BACK,
    /* the futex lock */
    TAKE_RELAXED,
    RELEASE_RELAXED,
    NO_WAKE_UP,
    WAKES_BEFORE_RELEASE,
    LOSES_SLEEPER_MARK,
    NO_SLEEPER_MARK,
    NO_CHECK_AFTER_WAKE_UP,
    TIMEOUT_RETURNS_TRUE,
    TRYLOCK_ALWAYS_TRUE,
    TRYLOCK_ALWAYS_FALSE,
    TIMEOUT_KEEPS_LOCK,
    OWNER_AFTER_RELEASE,
};

/* --- a queue lock: tail, and the holder's waiter --- */

static inline struct atomic_u32 *queue_tail(struct lock *lock)
{
    return &lock->state[0];
}

static inline struct atomic_u32 *queue_holder(struct lock *lock)
{
    return &lock->state[1];
}

static inline uint32_t queue_enter(struct lock *lock, struct waiter *self, enum bug bug)
{
    uint32_t id = self->link.id;
    uint32_t before = bug == TAIL_RELAXED ? exchange_relaxed(queue_tail(lock), id)
                                          : exchange_acq_rel(queue_tail(lock), id);
    if (before && bug == LINK_RELAXED)
        store_relaxed(&waiter_at(before)->next, id);
    else if (before)
        store_release(&waiter_at(before)->next, id);
    return before;
}

static inline uint32_t queue_turn(struct waiter *self, enum bug bug)
{
    return bug == WAIT_RELAXED ? load_relaxed(&self->cell) : load_acquire(&self->cell);
}

static inline bool queue_timedlock(struct lock *lock, const struct deadline *deadline,
                                   enum bug bug)
{
    struct waiter *self = waiter_take();
    if (queue_enter(lock, self, bug))
        while (queue_turn(self, bug) != WAITER_GRANTED) {
            if (bug == LOOP_WITHOUT_RELAX) {
                fetch_add_relaxed(&lock->state[3], 1);
                continue;
            }
            relax();
            if (deadline && bug == TIMEOUT_STAYS_QUEUED && deadline_passed(deadline))
                return false;
        }
    store_relaxed(&lock->owner, current_thread());
    store_relaxed(queue_holder(lock), self->link.id);
    return true;
}

static inline bool queue_trylock(struct lock *lock, enum bug bug)
{
    struct waiter *self = waiter_take();
    uint32_t nobody = 0;
    (void)bug;
    if (!compare_exchange_acq_rel(queue_tail(lock), &nobody, self->link.id)) {
        waiter_give(self);
        return false;
    }
    store_relaxed(&lock->owner, current_thread());
    store_relaxed(queue_holder(lock), self->link.id);
    return true;
}

static inline bool queue_is_last(struct lock *lock, struct waiter *self, enum bug bug)
{
    uint32_t id = self->link.id;
    return bug == LAST_RELAXED ? compare_exchange_relaxed(queue_tail(lock), &id, 0)
                               : compare_exchange_release(queue_tail(lock), &id, 0);
}

static inline uint32_t queue_next(struct waiter *self, enum bug bug)
{
    return bug == LINK_READ_RELAXED ? load_relaxed(&self->next)
                                    : load_acquire(&self->next);
}

static inline void queue_unlock(struct lock *lock, enum bug bug)
{
    if (bug == IGNORES_OTHER_UNLOCKERS &&
        load_relaxed(&lock->owner) != current_thread())
        return;
    struct waiter *self = waiter_at(load_relaxed(queue_holder(lock)));
    if (bug == GIVEN_BACK_TWICE)
        waiter_give(self);
    uint32_t next = queue_next(self, bug);
    if (!next) {
        if (queue_is_last(lock, self, bug)) {
            if (bug != NEVER_GIVEN_BACK)
                waiter_give(self);
            return;
        }
        if (bug == GRANTS_TAIL) /* before the link becomes visible */
            next = load_relaxed(queue_tail(lock));
        else
            spin_until((next = queue_next(self, bug)) != 0);
    }
    struct atomic_u32 *cell = &(bug == GRANT_TO_ITSELF ? self : waiter_at(next))->cell;
    uint32_t was = WAITER_WAITING;
    if (bug == GRANT_RELAXED)
        was = exchange_relaxed(cell, WAITER_GRANTED);
    else if (bug != GRANT_FORGOTTEN)
        was = exchange_release(cell, WAITER_GRANTED);
    if (was == WAITER_PARKED)
        unpark(cell, 1);
    waiter_give(self);
    if (bug == WRITES_AFTER_GIVING_BACK)
        store_relaxed(&self->next, 0);
}

static inline void queue_adopt(struct lock *lock, struct waiter *waiter, enum bug bug)
{
    store_relaxed(&waiter->next, 0);
    store_relaxed(&waiter->cell, WAITER_WAITING);
    if (bug != ADOPT_NOT_QUEUED)
        queue_enter(lock, waiter, bug);
    unpark(&waiter->cell, 1);
}

static inline void queue_adopted(struct lock *lock, struct waiter *waiter, enum bug bug)
{
    (void)bug;
    store_relaxed(&lock->owner, current_thread());
    store_relaxed(queue_holder(lock), waiter->link.id);
}

/* --- a three-state futex lock --- */

static inline bool sleeping_trylock(struct lock *lock, enum bug bug)
{
    uint32_t nobody = 0;
    if (bug == TRYLOCK_ALWAYS_FALSE)
        return false;
    if (bug == TAKE_RELAXED)
        return compare_exchange_relaxed(&lock->word, &nobody, 1);
    return compare_exchange_acquire(&lock->word, &nobody, 1) ||
           bug == TRYLOCK_ALWAYS_TRUE;
}

static inline bool sleeping_timedlock(struct lock *lock,
                                      const struct deadline *deadline, enum bug bug)
{
    uint32_t mark = bug == NO_SLEEPER_MARK ? 1 : 2, nobody = 0;
    if (compare_exchange_acquire(&lock->word, &nobody, 1))
        return true;
    while (exchange_acquire(&lock->word, mark) != 0) {
        if (!park(&lock->word, mark, deadline))
            return bug == TIMEOUT_RETURNS_TRUE;
        if (bug == NO_CHECK_AFTER_WAKE_UP)
            return true;
        if (bug == LOSES_SLEEPER_MARK)
            mark = 1;
    }
    if (bug == TIMEOUT_KEEPS_LOCK && deadline && deadline_passed(deadline))
        return false;
    return true;
}

static inline void sleeping_unlock(struct lock *lock, enum bug bug)
{
    if (bug == WAKES_BEFORE_RELEASE)
        unpark(&lock->word, 1);
    uint32_t before = bug == RELEASE_RELAXED ? exchange_relaxed(&lock->word, 0)
                                             : exchange_release(&lock->word, 0);
    if (bug == OWNER_AFTER_RELEASE)
        store_relaxed(&lock->owner, current_thread());
    if (before == 2 && bug != NO_WAKE_UP && bug != WAKES_BEFORE_RELEASE)
        unpark(&lock->word, 1);
}

static void wrong_destroy(struct lock *lock)
{
    (void)lock;
}

#define WRONG_LOCK(kind, bug)                                                          \
    static int kind##_##bug##_lock(struct lock *lock)                                  \
    {                                                                                  \
        kind##_timedlock(lock, NULL, bug);                                             \
        return 0;                                                                      \
    }                                                                                  \
    static bool kind##_##bug##_trylock(struct lock *lock)                              \
    {                                                                                  \
        return kind##_trylock(lock, bug);                                              \
    }                                                                                  \
    static bool kind##_##bug##_timedlock(struct lock *lock, const struct deadline *at) \
    {                                                                                  \
        return kind##_timedlock(lock, at, bug);                                        \
    }                                                                                  \
    static int kind##_##bug##_unlock(struct lock *lock)                                \
    {                                                                                  \
        kind##_unlock(lock, bug);                                                      \
        return 0;                                                                      \
    }
#define WRONG_ADOPTION(kind, bug)                                                      \
    static void kind##_##bug##_adopt(struct lock *lock, struct waiter *waiter)         \
    {                                                                                  \
        kind##_adopt(lock, waiter, bug);                                               \
    }                                                                                  \
    static void kind##_##bug##_adopted(struct lock *lock, struct waiter *waiter)       \
    {                                                                                  \
        kind##_adopted(lock, waiter, bug);                                             \
    }

#define WRONG_OPERATIONS(kind, bug)                                                    \
    .lock = kind##_##bug##_lock, .trylock = kind##_##bug##_trylock,                    \
    .timedlock = kind##_##bug##_timedlock, .unlock = kind##_##bug##_unlock,            \
    .destroy = wrong_destroy

#endif
