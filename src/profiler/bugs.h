/* SPDX-License-Identifier: MIT */
/*
 * What is a bug whatever the program does next, seen at the moment.
 *
 * A mutex says itself who holds it, with glibc and with all locks of Hasp's alike, so
 * these are found in sampled mode as well; what is said about other kinds, and about
 * threads' ends, rests on the holds that were recorded.
 */
#ifndef HASP_PROFILER_BUGS_H
#define HASP_PROFILER_BUGS_H

#include "profiler/file.h"

#include <pthread.h>

/* The lock is taken and the caller will wait for it. */
void bugs_before_wait(struct recording *me, uint32_t lock, const void *object,
                      const struct record_as *as, void *caller);

/* An unlock of a mutex that the recorder did not see the thread lock. */
void bugs_unlocking(const pthread_mutex_t *mutex, void *caller);

/* The same of a rwlock. */
void bugs_unlocking_rwlock(const pthread_rwlock_t *lock, void *caller);

/* Before the object's init and destroy; `held`: its state says that it is taken. */
void bugs_initialising(const void *object, bool held, void *caller);
void bugs_destroying(const void *object, bool held, void *caller);

/* A condition variable is about to be destroyed. */
void bugs_destroying_condition(const void *condition, void *caller);

/* Forgets the holds of locks that another thread unlocked at some time. */
extern struct atomic_u32 bugs_handed_over RECORD_HIDDEN; /* are there any? */
void bugs_forget_handed_over(struct recording *me);

/* The end of a thread, and of the process by this thread. */
void bugs_thread_ends(struct recording *me);
void bugs_process_ends(struct recording *me);

void bugs_forget(void);

#endif
