/* SPDX-License-Identifier: MIT */
/* The recorded operations, shared with the C11 functions. */
#ifndef HASP_PRELOAD_PROFILE_MUTEX_H
#define HASP_PRELOAD_PROFILE_MUTEX_H

#include "preload/profile/next.h"

int mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *,
               void *caller) RECORD_HIDDEN;
int mutex_destroy(pthread_mutex_t *, void *caller) RECORD_HIDDEN;
int mutex_lock(pthread_mutex_t *, void *caller) RECORD_HIDDEN;
int mutex_trylock(pthread_mutex_t *, void *caller) RECORD_HIDDEN;
int mutex_timedlock(pthread_mutex_t *, const struct timespec *,
                    void *caller) RECORD_HIDDEN;
/* How mutexes are recorded. */
extern const struct record_as as_mutex RECORD_HIDDEN;

/* Returns the outcome of a lock function that has returned `result`. */
enum record_result mutex_outcome(int result) RECORD_HIDDEN;

int mutex_unlock(pthread_mutex_t *, void *caller) RECORD_HIDDEN;

#endif
