/* SPDX-License-Identifier: MIT */
/*
 * Waiting on a condition variable, and ending a wait: the part that does not depend on
 * pthreads. The interposer and the model checker use the same code. Functions are
 * always inlined, so that those passed to them are called directly.
 *
 *   waiter      condition_begin, unlock the mutex, condition_sleep, condition_reacquire
 *   signaller   condition_wake
 */
#ifndef HASP_CONDITION_WAIT_H
#define HASP_CONDITION_WAIT_H

#include "condition/queue.h"

#include "locks/list/descriptor.h"
#include "locks/waiting/policies.h"

#define CONDITION_INLINE static inline __attribute__((always_inline, unused))

struct condition_wait {
    const void *condition;
    struct lock *lock;
    struct waiter *waiter;
    bool withdrawn; /* timed out or cancelled before it was signalled */
};

/* The operations of the waiter's lock if the caller holds it, else NULL. */
typedef const struct lock_operations *condition_holder(struct lock *lock);

/* Calls condition_wake(). */
typedef void condition_signal(const void *condition, bool all);

/* Does what park() does; native programs can be cancelled there (cancellable.h). */
typedef bool condition_park(struct atomic_u32 *cell, uint32_t expected,
                            const struct deadline *deadline);

CONDITION_INLINE uint32_t condition_waiting_cell(const struct waiter *waiter)
{
    return WAITER_IN_CONDITION | waiter->epoch;
}

/* The caller holds the mutex. */
CONDITION_INLINE struct condition_wait condition_begin(const void *condition,
                                                       struct lock *lock)
{
    struct waiter *waiter = waiter_take();
    waiter->lock = lock;
    waiter->epoch += 1u << 8;
    store_relaxed(&waiter->cell, condition_waiting_cell(waiter));
    condition_enqueue(condition, waiter);
    return (struct condition_wait){condition, lock, waiter, false};
}

/* Whether the waiter is to wait for a while after its signal, and is awake. */
CONDITION_INLINE bool condition_stays_away(struct waiter *waiter)
{
    return waiter->condition_patient && !load_relaxed(&waiter->asleep);
}

/* Ends the sleep of a waiter that has been taken out of its queue. If the caller holds
 * the mutex, the waiter could not get it now, so it moves to the lock's own queue,
 * unless it is patient. */
CONDITION_INLINE void condition_hand_over(struct waiter *waiter,
                                          condition_holder *holder)
{
    const struct lock_operations *held = holder(waiter->lock);
    if (held && held->adopt && !condition_stays_away(waiter))
        held->adopt(waiter->lock, waiter);
    else if (end_condition_stay(waiter, WAITER_WOKEN))
        unpark(&waiter->cell, 1);
}

CONDITION_INLINE void condition_wake(const void *condition, bool all,
                                     condition_holder *holder)
{
    struct waiter *waiter = condition_take(condition, all), *next;
    for (; waiter; waiter = next) {
        next = waiter->condition_next; /* the waiter may be reused after hand-over */
        condition_hand_over(waiter, holder);
    }
}

/* Two threads that signal each other in turn and both sleep would sleep for ever: the
 * answer takes as long as the other one needs to wake up, which is longer than a short
 * spin. So a waiter that keeps failing spins for twice the cost of parking now and
 * then. If the other one answers at once, that succeeds, and neither sleeps again. */
enum { CONDITION_FAILURES = 8, CONDITION_FAILURES_MOST = 128 };

CONDITION_INLINE bool condition_is_due_to_probe(struct waiter *waiter)
{
    uint32_t failures = waiter->condition_failures;
    return failures >= CONDITION_FAILURES && (failures & (failures - 1)) == 0;
}

CONDITION_INLINE void condition_count_failure(struct waiter *waiter)
{
    uint32_t failures = waiter->condition_failures + 1u;
    if (failures > CONDITION_FAILURES_MOST)
        failures = CONDITION_FAILURES_MOST / 2 + 1;
    waiter->condition_failures = (uint8_t)failures;
}

/* Spins for a signal as long as that has paid off: a success doubles the next attempt,
 * up to the cost of parking, and a failure halves it. Returns true if signalled. */
CONDITION_INLINE bool condition_spin(struct waiter *waiter, uint32_t cell)
{
    const uint32_t most = spin_limit(), least = most / 16;
    uint32_t spins = waiter->condition_spins, next = spins / 2;
    if (spins < least)
        spins = least;
    if (condition_is_due_to_probe(waiter))
        spins = 2 * most;
    for (uint32_t done = 0; done < spins; done += relax_at_most(spins - done)) {
        if (load_acquire(&waiter->cell) != cell) {
            waiter->condition_spins = (uint16_t)(2 * spins < most ? 2 * spins : most);
            waiter->condition_failures = 0;
            return true;
        }
    }
    waiter->condition_spins = (uint16_t)next;
    condition_count_failure(waiter);
    return false;
}

/* The waiter has been signalled while it was awake. A patient one comes as late as if
 * it had slept, but without the cost of that (locks/waiting/patience.h). */
CONDITION_INLINE void condition_leave_lock_to_others(struct waiter *waiter)
{
    if (waiter->condition_patient &&
        (load_relaxed(&waiter->cell) & 0xff) == WAITER_WOKEN)
        pause_for(spin_limit());
}

/* Waits until signalled, or until the deadline has passed. Returns false if it did not
 * park. */
CONDITION_INLINE bool condition_sleep(struct condition_wait *wait,
                                      const struct deadline *deadline,
                                      condition_park *sleep)
{
    struct waiter *waiter = wait->waiter;
    const uint32_t cell = condition_waiting_cell(waiter);
    if (condition_spin(waiter, cell)) {
        condition_leave_lock_to_others(waiter);
        return false;
    }
    store_relaxed(&waiter->asleep, 1);
    do {
        if (!sleep(&waiter->cell, cell, deadline)) {
            wait->withdrawn = condition_withdraw(wait->condition, waiter);
            break;
        }
    } while (load_acquire(&waiter->cell) == cell);
    return true;
}

/* A signaller has taken the waiter out of its queue: waits until it is done with it. */
CONDITION_INLINE uint32_t condition_outcome(struct waiter *waiter)
{
    uint32_t state;
    spin_until((state = load_acquire(&waiter->cell)) != condition_waiting_cell(waiter));
    return state & 0xff;
}

/* Acquires the mutex again, however the wait ended, and gives the waiter back. Without
 * `operations` it returns false, and the caller has to lock the mutex. */
CONDITION_INLINE bool condition_reacquire(struct condition_wait *wait,
                                          const struct lock_operations *operations)
{
    struct waiter *waiter = wait->waiter;
    uint32_t state = wait->withdrawn ? WAITER_WOKEN : condition_outcome(waiter);
    if (state != WAITER_WOKEN && state != WAITER_REQUEUED) {
        wait_for_grant(&waiter->cell, &waiter->asleep, SPIN_THEN_PARK, false, NULL);
        operations->adopted(wait->lock, waiter);
        return true;
    }
    waiter_give(waiter);
    if (!operations)
        return false;
    if (state == WAITER_REQUEUED)
        operations->relock(wait->lock);
    else
        operations->lock(wait->lock);
    return true;
}

/* The wait ended by cancellation. If it had consumed a signal, another waiter gets it.
 */
CONDITION_INLINE void condition_pass_on(const struct condition_wait *wait,
                                        condition_signal *signal)
{
    if (!wait->withdrawn)
        signal(wait->condition, false);
}

/* Ends a wait whose mutex could not be unlocked: the mutex stays as it is. */
CONDITION_INLINE void condition_call_off(struct condition_wait *wait,
                                         condition_signal *signal)
{
    wait->withdrawn = condition_withdraw(wait->condition, wait->waiter);
    if (!wait->withdrawn)
        condition_outcome(wait->waiter);
    waiter_give(wait->waiter);
    condition_pass_on(wait, signal);
}

/* A signal or broadcast has nothing to do otherwise, and is only counted. */
CONDITION_INLINE bool condition_has_waiter(const void *condition)
{
    if (load_relaxed(condition_flags(condition)) >= CONDITION_WAITER)
        return true;
    condition_count_signal(condition);
    return false;
}

#endif
