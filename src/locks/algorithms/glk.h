/* SPDX-License-Identifier: MIT */
/*
 * Generic lock (GLK): ticket, MCS or blocking, by what it observes. J. Antić, G.
 * Chatzopoulos, R. Guerraoui, V. Trigonakis, "Locking made easy", Middleware 2016.
 *
 * Idea: a ticket lock is best while few threads wait, MCS when many do, and neither
 * when threads outnumber CPUs. So the lock has all three, and a holder that had to wait
 * now and then looks how many waited lately and says which one counts from now on. The
 * paper asks the system how many threads are runnable; here a lock blocks when those
 * that it makes wait, and its holder, outnumber the CPUs by themselves. Until then who
 * is one too many tries now and then: in a queue each spins for a time slice.
 *
 *   state[0..2]  the ticket lock, as in tickets.h
 *   mode         which of the locks counts: 0 ticket, 1 mcs, 2 blocking
 *   state[3]     directory of one part (side_memory.h), made at the first contention
 *   mcs, blocking   in the part: a whole lock each; the latter is mutexee.h's
 *   waiting      in the part: threads that wait for any of them
 *   count, sum   in the part: of acquisitions after a wait, and of those who waited
 *                then, since the last look
 *   period       in the part: acquisitions between looks; at first 0, look at once
 *
 * I1. The lock is held by who has the lock that counts and has seen, while it had it,
 *     that it counts.
 * I2. mode is changed by a holder only, while it has both the lock that counts and the
 *     one that is going to. It releases the former only after that.
 * I3. Who has one of the three and sees that another counts waits for nothing and
 *     releases it at once.
 * I4. A holder takes the one that is going to count by a single attempt, so nobody ever
 *     waits for one of the locks while it has another.
 *
 * Proof: by I2 mode comes to name a lock, or ceases to, only while its changer has that
 * lock. So for who has it the answer cannot change under it, and each lock's own order
 * makes the answer visible to its next owner: two holders would both have the lock that
 * counts. By I3 and I4 every one of the locks is released by its owners without waiting
 * for another, so there is no deadlock, and whoever waits for a lock that no longer
 * counts gets it, and goes on to the one that does.
 *
 * Timed lock: the time-out is that of the lock that it waits for.
 *
 * Trylock: the trylock of the lock that counts; again if that changed meanwhile.
 */
#ifndef HASP_LOCKS_ALGORITHMS_GLK_H
#define HASP_LOCKS_ALGORITHMS_GLK_H

#include "locks/algorithms/lock_defaults.h"
#include "locks/algorithms/mcs.h"
#include "locks/algorithms/mutexee.h"
#include "locks/algorithms/ticket.h"
#include "locks/memory/side_memory.h"

enum { GLK_TICKET, GLK_MCS, GLK_BLOCKING };

/* More waiters than GLK_MANY on average call for MCS, GLK_FEW or fewer for a ticket
 * lock, as in the paper; it looks after so many acquisitions. */
enum { GLK_FEW = 2, GLK_MANY = 3, GLK_PERIOD = HANDOVER_LIMIT };

/* Lies over the words of a part. */
struct glk {
    struct lock mcs, blocking;
    struct atomic_u32 waiting, count, sum, period;
};

_Static_assert(sizeof(struct glk) <= sizeof(((struct side_block *)0)->words),
               "fits into a part");

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

/* Whoever has or awaits a lock that does not count is a ghost: the living ones come
 * through here first. The one that counts may be in use. */
static __attribute__((noinline, unused)) void glk_forget(struct lock *lock, bool held)
{
    uint32_t counts = load_relaxed(&lock->mode);
    if (side_memory_find(&lock->state[3], 0)) {
        for (uint32_t level = GLK_TICKET; level <= GLK_BLOCKING; level++) {
            if (level == counts)
                continue;
            glk_level_forget(lock, level, true);
            glk_level_trylock(lock, level); /* held or free: held now ... */
            glk_level_unlock(lock, level);  /* ... and free, without waiters */
        }
        store_relaxed(&glk_of(lock)->waiting, 0);
    }
    glk_level_forget(lock, counts, held);
}

DEFAULT_BEFORE_RELEASE(glk)

/* The lock that seemed to count is the caller's; false, and it is not, if it does
 * not. */
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

/* Which lock suits so many waiters on average. */
static inline uint32_t glk_choice(uint32_t level, uint32_t average)
{
    uint32_t threads = average + 1, cpus = cpu_count();
    if (threads > cpus || (level == GLK_BLOCKING && threads == cpus))
        return GLK_BLOCKING;
    if (average > GLK_MANY)
        return GLK_MCS;
    return average <= GLK_FEW || level == GLK_BLOCKING ? (uint32_t)GLK_TICKET : level;
}

/* By a new holder that has waited. */
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

/* The holder and those who wait, the caller among them, outnumber the CPUs. */
static inline bool glk_crowded(struct lock *lock)
{
    return load_relaxed(&glk_of(lock)->waiting) >= cpu_count();
}

/* `level`: the one by which it got the lock. */
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
