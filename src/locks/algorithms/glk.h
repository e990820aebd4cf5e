/* SPDX-License-Identifier: MIT */
/*
 * Generic lock (GLK): switches between ticket, MCS and blocking. J. Antić, G.
 * Chatzopoulos, R. Guerraoui, V. Trigonakis, "Locking made easy", Middleware 2016.
 *
 * Idea: a ticket lock is best while few threads wait, MCS when many do, and neither
 * when threads outnumber CPUs. So the lock contains all three, and a holder that had to
 * wait periodically checks how many threads waited and selects the active one. The
 * paper asks the system how many threads are runnable; here a lock blocks when its own
 * waiters and its holder outnumber the CPUs. Until then, surplus threads retry with
 * trylock, because in a queue each would spin for a whole time slice.
 *
 *   state[0..2]  the ticket lock, as in tickets.h
 *   mode         the active lock: 0 ticket, 1 mcs, 2 blocking
 *   state[3]     directory of the side block (side_memory.h), made at first contention
 *   mcs, blocking   in the block: a whole lock each; the latter is that of mutexee.h
 *   waiting      in the block: threads that wait for any of them
 *   count, sum   in the block: acquisitions after a wait since the last check, and the
 *                sum of the waiting threads counted then
 *   period       in the block: acquisitions between checks; initially 0, check at once
 *
 * I1. A thread holds the lock if it holds the active one, and has seen while holding it
 *     that it is active.
 * I2. Only a holder changes mode, and only while it has both the active lock and the
 *     one about to become active. It releases the former after the change.
 * I3. A thread that has one of the three and sees that another is active waits for
 *     nothing and releases it at once.
 * I4. A holder takes the lock about to become active by a single attempt, so no thread
 *     waits for one of the locks while it has another.
 *
 * Proof: by I2 a lock becomes active, or stops being active, only while the thread that
 * changes mode has it. So mode cannot change for the thread that has the lock, and each
 * lock's own order makes mode visible to its next owner: two holders would both have
 * the active lock. By I3 and I4 each lock is released by its owner without waiting for
 * another, so there is no deadlock, and a thread that waits for a lock that is no
 * longer active acquires it, and moves on to the active one.
 *
 * Timed lock: it uses the time-out of the lock that it waits for.
 *
 * Trylock: it tries the active lock, again if another one has become active meanwhile.
 */
#ifndef HASP_LOCKS_ALGORITHMS_GLK_H
#define HASP_LOCKS_ALGORITHMS_GLK_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs.h"
#include "locks/algorithms/mutexee.h"
#include "locks/algorithms/ticket.h"
#include "locks/memory/side_memory.h"

enum { GLK_TICKET, GLK_MCS, GLK_BLOCKING };
/* As in the paper: above an average of GLK_MANY waiters MCS, GLK_FEW or fewer ticket,
 * after every GLK_PERIOD acquisitions. The model checker has only few threads. */
enum { GLK_FEW = MODEL_CHECKED ? 0 : 2, GLK_MANY = GLK_FEW ? 3 : 0 };
enum { GLK_PERIOD = HANDOVER_LIMIT };

/* Overlays the words of a side block. */
struct glk {
    struct lock mcs, blocking;
    struct atomic_u32 waiting, count, sum, period;
};

_Static_assert(sizeof(struct glk) <= sizeof(((struct side_block *)0)->words),
               "fits into a side block");

static inline struct glk *glk_of(struct lock *lock)
{
    return (struct glk *)(void *)side_memory_get(&lock->state[3], 0)->words;
}

static inline bool glk_level_trylock(struct lock *lock, uint32_t level)
{
    return level == GLK_TICKET ? ticket_trylock(lock)
           : level == GLK_MCS
               ? mcs_trylock(&glk_of(lock)->mcs, SPIN)
               : mutexee_trylock(&glk_of(lock)->blocking, MUTEXEE_SPINNERS);
}

static inline bool glk_level_timedlock(struct lock *lock, uint32_t level,
                                       const struct deadline *deadline)
{
    return level == GLK_TICKET ? ticket_timedlock(lock, deadline)
           : level == GLK_MCS
               ? mcs_timedlock(&glk_of(lock)->mcs, SPIN, deadline)
               : mutexee_timedlock(&glk_of(lock)->blocking, MUTEXEE_SPINNERS, deadline);
}

static inline void glk_level_unlock(struct lock *lock, uint32_t level)
{
    if (level == GLK_TICKET)
        ticket_unlock(lock);
    else if (level == GLK_MCS)
        mcs_unlock(&glk_of(lock)->mcs, SPIN);
    else
        mutexee_unlock(&glk_of(lock)->blocking, MUTEXEE_SPINNERS);
}

static inline void glk_level_forget(struct lock *lock, uint32_t level, bool held)
{
    if (level == GLK_TICKET)
        ticket_forget(lock, held);
    else if (level == GLK_MCS)
        mcs_forget(&glk_of(lock)->mcs, held);
    else
        mutexee_forget(&glk_of(lock)->blocking, held);
}

/* Every thread that has or awaits an inactive lock belongs to the parent: live threads
 * pass through here first. The active lock may be in use. */
static __attribute__((noinline, unused)) void glk_forget(struct lock *lock, bool held)
{
    uint32_t counts = load_relaxed(&lock->mode);
    if (side_memory_find(&lock->state[3], 0)) {
        for (uint32_t level = GLK_TICKET; level <= GLK_BLOCKING; level++) {
            if (level == counts)
                continue;
            glk_level_forget(lock, level, true);
            glk_level_trylock(lock, level); /* it was held or free: held now ... */
            glk_level_unlock(lock, level);  /* ... and now free, without waiters */
        }
        store_relaxed(&glk_of(lock)->waiting, 0);
    }
    glk_level_forget(lock, counts, held);
}

DEFAULT_BEFORE_RELEASE(glk)

/* Returns true if the lock that the caller has acquired is the active one; otherwise
 * releases it. */
static inline bool glk_confirm(struct lock *lock, uint32_t level)
{
    if (likely(load_relaxed(&lock->mode) == level))
        return true;
    glk_level_unlock(lock, level);
    return false;
}

static inline bool glk_fast(struct lock *lock)
{
    if (unlikely(load_relaxed(&lock->mode) != GLK_TICKET) || !ticket_fast(lock))
        return false;
    return glk_confirm(lock, GLK_TICKET);
}

static inline bool glk_trylock(struct lock *lock)
{
    uint32_t level;
    do {
        level = load_relaxed(&lock->mode);
        if (!glk_level_trylock(lock, level))
            return false;
    } while (!glk_confirm(lock, level));
    return true;
}

/* Returns the lock that suits this average number of waiters. */
static inline uint32_t glk_choice(uint32_t level, uint32_t average)
{
    uint32_t threads = average + 1, cpus = cpu_count();
    if (threads > cpus || (level == GLK_BLOCKING && threads == cpus))
        return GLK_BLOCKING;
    if (average > GLK_MANY)
        return GLK_MCS;
    return average <= GLK_FEW || level == GLK_BLOCKING ? (uint32_t)GLK_TICKET : level;
}

/* Called by a new holder that has waited. */
static inline void glk_adapt(struct lock *lock, uint32_t level)
{
    struct glk *glk = glk_of(lock);
    uint32_t sum = load_relaxed(&glk->sum) + load_relaxed(&glk->waiting);
    uint32_t count = load_relaxed(&glk->count) + 1;
    if (count >= load_relaxed(&glk->period)) {
        uint32_t choice = glk_choice(level, (sum + count / 2) / count);
        if (choice != level && glk_level_trylock(lock, choice)) {
            store_relaxed(&lock->mode, (uint8_t)choice);
            glk_level_unlock(lock, level);
        }
        sum = count = 0;
        store_relaxed(&glk->period, GLK_PERIOD);
    }
    store_relaxed(&glk->sum, sum);
    store_relaxed(&glk->count, count);
}

/* The holder and the waiters, including the caller, outnumber the CPUs. */
static inline bool glk_crowded(struct lock *lock)
{
    return load_relaxed(&glk_of(lock)->waiting) >= cpu_count();
}

/* `*level` receives the lock that was acquired. */
static inline bool glk_acquire(struct lock *lock, uint32_t *level,
                               const struct deadline *deadline)
{
    while (true) {
        *level = load_relaxed(&lock->mode);
        bool tries = *level != GLK_BLOCKING && glk_crowded(lock);
        bool has = tries ? glk_level_trylock(lock, *level)
                         : glk_level_timedlock(lock, *level, deadline);
        if (has) {
            if (glk_confirm(lock, *level))
                return true;
        } else if (!tries || (deadline && deadline_passed(deadline))) {
            return false;
        } else {
            relax();
            yield();
        }
    }
}

static __attribute__((noinline, unused)) bool glk_wait(struct lock *lock,
                                                       const struct deadline *deadline)
{
    if (glk_trylock(lock))
        return true; /* only waits are counted */
    fork_repair_if_due(lock, glk_forget);
    struct atomic_u32 *waiting = &glk_of(lock)->waiting;
    fetch_add_relaxed(waiting, 1);
    uint32_t level;
    bool acquired = glk_acquire(lock, &level, deadline);
    fetch_add_relaxed(waiting, UINT32_MAX);
    if (acquired)
        glk_adapt(lock, level);
    return acquired;
}

DEFAULT_LOCK(glk)

static __attribute__((noinline, unused)) void glk_unlock_other(struct lock *lock)
{
    glk_level_unlock(lock, load_relaxed(&lock->mode));
}

static inline void glk_unlock(struct lock *lock)
{
    if (likely(load_relaxed(&lock->mode) == GLK_TICKET))
        ticket_unlock(lock);
    else
        glk_unlock_other(lock);
}

static inline void glk_destroy(struct lock *lock)
{
    ticket_destroy(lock);
    side_memory_free(&lock->state[3]);
}

#endif
