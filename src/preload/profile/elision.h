/* SPDX-License-Identifier: MIT */
/*
 * Hooks of mutexes that libhasp.so elides. Nothing is recorded inside an elided
 * section: the recorder's writes would belong to the transaction, and a thread that
 * reads them would abort it. The outcome is recorded when libhasp.so reports it, after
 * the commit, or before and after the acquisition (elision/watch.h).
 */
#ifndef HASP_PRELOAD_PROFILE_ELISION_H
#define HASP_PRELOAD_PROFILE_ELISION_H

#include "elision/watch.h"
#include "preload/profile/mutex.h"

/* NULL: libhasp.so elides nothing in this process. */
extern const struct elision_watched *elision_library RECORD_HIDDEN;

/* Finds libhasp.so and begins to watch it. Called while there is one thread. */
void elision_watch(void) RECORD_HIDDEN;

static inline bool elision_watched(void)
{
    return elision_library != NULL;
}

/* Returns whether the mutex may be elided. */
static inline bool elision_covers(const pthread_mutex_t *mutex)
{
    return elision_library && elision_library->covers((const struct lock *)mutex);
}

/* Returns whether the caller is inside an elided section. */
static inline bool elision_is_open(void)
{
    return unlikely(elision_library != NULL) && elision_library->open();
}

int elided_lock(pthread_mutex_t *, void *caller) RECORD_HIDDEN;
int elided_trylock(pthread_mutex_t *, void *caller) RECORD_HIDDEN;
int elided_clocklock(pthread_mutex_t *, clockid_t, const struct timespec *,
                     void *caller) RECORD_HIDDEN;

#endif
