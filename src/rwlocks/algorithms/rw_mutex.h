/* SPDX-License-Identifier: MIT */
/*
 * Reader-writer lock made of any mutex of the list: readers exclude each other. H.
 * Guiroux, R. Lachaize, V. Quéma, "Multicore locks: the case is not closed yet", USENIX
 * ATC 2016, compared mutexes in programs with reader-writer locks in this way.
 *
 * Idea: both sides take the mutex. It shows what sharing among readers is worth, and
 * serves where read sections are so short that counting readers costs more.
 *
 *   state[0]  the lock until its first contention (thin_form.h): a reader is a writer
 *   side      from then on, id of the side block with the mutex
 *
 * I1. A thread that reads already does not take the mutex again: its further holds are
 *     in its record (read_holds.h).
 * I2. A release touches the side block only, which outlives the lock (inner_mutex.h).
 * I3. The first holder of the mutex waits until the thread that is inside by the thin
 *     form has left. In a forked child, nobody waits for that, so the mutex is new.
 *
 * Overtaking, timed lock and fork: as in the mutex. Threads wait as in the mutex, too:
 * those of mutex:mcs spin, so a program with far more threads than CPUs takes seconds
 * where it takes milliseconds with mutex:mcs-park or mutex:futex, whose waiters sleep.
 */
#ifndef HASP_RWLOCKS_ALGORITHMS_RW_MUTEX_H
#define HASP_RWLOCKS_ALGORITHMS_RW_MUTEX_H

#include "rwlocks/algorithms/inner_mutex.h"
#include "rwlocks/algorithms/thin_form.h"

static inline struct lock *rw_mutex_inner(struct rwlock *lock)
{
    return inner_mutex_in(side_block_of(&lock->side));
}

static inline enum rwlock_use rw_mutex_use(const struct rwlock *lock, unsigned index)
{
    (void)index;
    uint32_t side = load_acquire(&lock->side);
    bool thinly = (load_relaxed(&lock->state[0]) & THIN_WRITER) != 0;
    if (!thinly && (!side || !load_relaxed(&inner_mutex_in(side_block_at(side))->word)))
        return RWLOCK_FREE;
    return load_relaxed(&lock->writer) ? RWLOCK_WRITTEN : RWLOCK_READ;
}

static inline bool rw_mutex_write_trylock(struct rwlock *lock, unsigned index)
{
    enum thin_result result = thin_write(lock);
    return result == THIN_USELESS
               ? inner_mutex_operations(index)->trylock(rw_mutex_inner(lock))
               : result == THIN_ENTERED;
}

static inline bool rw_mutex_write_fast(struct rwlock *lock, unsigned index)
{
    return rw_mutex_write_trylock(lock, index);
}

static inline bool rw_mutex_write_wait(struct rwlock *lock, unsigned index,
                                       const struct deadline *deadline)
{
    if (thin_inflate_unless_entered(lock, thin_write(lock)))
        return true;
    struct lock *inner = rw_mutex_inner(lock);
    if (!inner_mutex_lock(inner, inner_mutex_operations(index), deadline))
        return false;
    if (thin_await_writer(lock, deadline))
        return true;
    inner_mutex_operations(index)->unlock(inner);
    return false;
}

static inline bool rw_mutex_read_trylock(struct rwlock *lock, unsigned index)
{
    return rw_mutex_write_trylock(lock, index);
}

static inline bool rw_mutex_read_fast(struct rwlock *lock, unsigned index)
{
    return rw_mutex_write_trylock(lock, index);
}

static inline bool rw_mutex_read_wait(struct rwlock *lock, unsigned index,
                                      const struct deadline *deadline)
{
    return rw_mutex_write_wait(lock, index, deadline);
}

/* A program may unlock a lock that it has destroyed while it held it. */
static inline void rw_mutex_write_unlock(struct rwlock *lock, unsigned index)
{
    if (thin_write_unlock(lock) || unlikely(!load_relaxed(&lock->side)))
        return;
    inner_mutex_operations(index)->unlock(rw_mutex_inner(lock));
}

static inline void rw_mutex_read_unlock(struct rwlock *lock, unsigned index)
{
    rw_mutex_write_unlock(lock, index);
}

static inline void rw_mutex_forget(struct rwlock *lock)
{
    if (load_relaxed(thin_word(lock)) & THIN_WRITER) /* I3 */
        store_relaxed(&lock->side, 0);
    /* Otherwise, the mutex repairs itself. */
}

static inline void rw_mutex_destroy(struct rwlock *lock, unsigned index)
{
    uint32_t side = load_relaxed(&lock->side);
    thin_destroy(lock);
    if (!side)
        return;
    struct side_block *block = side_block_at(side);
    const struct lock_operations *operations = inner_mutex_operations(index);
    store_relaxed(&lock->side, 0);
    if (!operations->trylock(inner_mutex_in(block))) /* N1 */
        return;
    operations->unlock(inner_mutex_in(block)); /* a holder may keep its node */
    operations->destroy(inner_mutex_in(block));
    side_block_give(block);
}

#endif
