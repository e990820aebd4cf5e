/* SPDX-License-Identifier: MIT */
/*
 * Detects misuse of locks when it happens: operations that are bugs whatever the
 * program does next.
 *
 * A mutex contains its owner, with glibc and with every algorithm of Hasp, so a
 * self-deadlock is also found in sampled mode. Checks of other kinds and of ending
 * threads rely on recorded holds; sampled mode does not record most unlocks.
 */
#ifndef HASP_PROFILER_RECORD_MISUSE_H
#define HASP_PROFILER_RECORD_MISUSE_H

#include "profiler/record/record.h"

#include <pthread.h>

/* Called before the caller waits for a taken lock. */
void misuse_before_wait(struct recording *me, uint32_t lock, const void *object,
                        const struct record_as *as, void *caller);

/* The number of recorded holds of the caller. A release that does not change it was of
 * an unrecorded hold. */
static inline uint32_t misuse_depth(void)
{
    return record_here.me ? record_here.me->depth : 0;
}

/* Called before an unlock of a mutex without a recorded hold. */
void misuse_unlocking(const pthread_mutex_t *mutex, void *caller);

/* Does the same for a rwlock and a spinlock. `free`: its state shows it as free. */
void misuse_unlocking_rwlock(const pthread_rwlock_t *lock, bool free, void *caller);
void misuse_unlocking_spinlock(const void *lock, bool free, void *caller);

/* Called when the holder was refused a second lock (EDEADLK). */
void misuse_relocking(const void *object, void *caller);

/* Called before init and destroy. `held`: the state of the object shows it as
 * held. */
void misuse_initialising(const void *object, bool held, void *caller);
void misuse_destroying(const void *object, bool held, void *caller);

/* Called before a condition variable or barrier is destroyed. `waited`: threads wait at
 * the barrier. */
void misuse_destroying_condition(const void *condition, void *caller);
void misuse_destroying_barrier(const void *barrier, bool waited, void *caller);

/* Nonzero once a thread has unlocked a lock that another thread holds. */
extern struct atomic_u32 misuse_handed_over RECORD_HIDDEN;

/* Drops the recorded holds of such locks. */
void misuse_forget_handed_over(struct recording *me);

/* Reports the holds of a thread that ends, and of the thread that ends the process. */
void misuse_thread_ends(struct recording *me);
void misuse_process_ends(struct recording *me);

void misuse_forget(void);

#endif
