/* SPDX-License-Identifier: MIT */
/*
 * What is a bug whatever the program does next, seen at the moment.
 *
 * A mutex says itself who holds it, with glibc and with all locks of Hasp's alike, so
 * that one who waits for itself is found in sampled mode as well. What is said about
 * other kinds, and about threads' ends, rests on the holds that were recorded; and most
 * unlocks pass unseen in sampled mode.
 */
#ifndef HASP_PROFILER_RECORD_MISUSE_H
#define HASP_PROFILER_RECORD_MISUSE_H

#include "profiler/record/record.h"

#include <pthread.h>

/* The lock is taken and the caller will wait for it. */
void misuse_before_wait(struct recording *me, uint32_t lock, const void *object,
                        const struct record_as *as, void *caller);

/* Holds of the caller that are recorded: a release that leaves as many was of none. */
static inline uint32_t misuse_depth(void)
{
    return record_here.me ? record_here.me->depth : 0;
}

/* An unlock of a mutex that the recorder did not see the thread lock. */
void misuse_unlocking(const pthread_mutex_t *mutex, void *caller);

/* The same of a rwlock, and of a spinlock; `free`: it says that nobody has it. */
void misuse_unlocking_rwlock(const pthread_rwlock_t *lock, bool free, void *caller);
void misuse_unlocking_spinlock(const void *lock, bool free, void *caller);

/* The lock was refused to the caller, who has it (EDEADLK). */
void misuse_relocking(const void *object, void *caller);

/* Before the object's init and destroy; `held`: its state says that it is taken. */
void misuse_initialising(const void *object, bool held, void *caller);
void misuse_destroying(const void *object, bool held, void *caller);

/* A condition variable or barrier is about to be destroyed; `waited`: somebody is in
 * the middle of a barrier's round. */
void misuse_destroying_condition(const void *condition, void *caller);
void misuse_destroying_barrier(const void *barrier, bool waited, void *caller);

/* Forgets the holds of locks that another thread unlocked at some time. */
extern struct atomic_u32 misuse_handed_over RECORD_HIDDEN; /* are there any? */
void misuse_forget_handed_over(struct recording *me);

/* The end of a thread, and of the process by this thread. */
void misuse_thread_ends(struct recording *me);
void misuse_process_ends(struct recording *me);

void misuse_forget(void);

#endif
