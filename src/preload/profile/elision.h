/* SPDX-License-Identifier: MIT */
/*
 * Hooks of mutexes and rwlocks that libhasp.so elides. Nothing is recorded inside an
 * elided section: the recorder's writes would belong to the transaction, and a thread
 * that reads them would abort it. The outcome is recorded when libhasp.so reports it,
 * after the commit, or before and after the acquisition (elision/watch.h). Of other
 * mutexes and rwlocks that are locked inside, the acquisition is counted after the
 * commit.
 *
 *     RECORD_ELIDED(elision_covers(mutex), mutex, &as_mutex, elided_end,
 *                   next.pthread_mutex_lock(mutex), caller);
 */
#ifndef HASP_PRELOAD_PROFILE_ELISION_H
#define HASP_PRELOAD_PROFILE_ELISION_H

#include "elision/watch.h"
#include "preload/profile/mutex.h"

/* A lock function that the thread has called, while it is outside transactions. */
struct elided_call {
    struct record_acquisition acquisition;
    const void *object;
    const struct record_as *as;
    void *caller;
    bool recorded; /* `acquisition` has begun */
    struct elided_call *outer; /* of a function that a signal interrupted */
};

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

/* Returns whether the rwlock may be elided. */
static inline bool elision_covers_rwlock(const pthread_rwlock_t *lock)
{
    return unlikely(elision_library != NULL) &&
           elision_library->covers_rwlock((const struct lock *)lock);
}

/* Returns whether the caller is inside an elided section. */
static inline bool elision_is_open(void)
{
    return unlikely(elision_library != NULL) && elision_library->open();
}

/* Returns whether the caller is inside an elided section of this lock. */
static inline bool elision_is_open_of(const void *object)
{
    return elision_is_open() && elision_library->elides(object);
}

/* Around a lock function. _begin returns false when the call is not recorded; do not
 * call the others then. _end is for functions that wait, _tried for the others. Both
 * return `result`, of pthread_mutex_lock() and the like. */
bool elided_begin(struct elided_call *, const void *object, const struct record_as *as,
                  void *caller) RECORD_HIDDEN;
int elided_end(struct elided_call *, int result) RECORD_HIDDEN;
int elided_tried(struct elided_call *, int result) RECORD_HIDDEN;

/* A lock that is not elided was locked inside an elided section, if `result` is 0.
 * Returns `result`. */
int elision_note(const void *object, const struct record_as *as,
                 int result) RECORD_HIDDEN;

/* Returns from the hook if the lock is `covered`, or is locked inside an elided
 * section. `end` is elided_end or elided_tried. */
#define RECORD_ELIDED(covered, object, as, end, locked, caller)                        \
    if (unlikely(elision_watched())) {                                                 \
        struct elided_call elided;                                                     \
        if (covered)                                                                   \
            return elided_begin(&elided, object, as, caller) ? end(&elided, locked)    \
                                                             : (locked);               \
        if (elision_is_open())                                                         \
            return elision_note(object, as, locked);                                   \
    }                                                                                  \
    (void)0

/* How rwlocks without an init are recorded, for readers and for writers. */
extern const struct record_as as_reader RECORD_HIDDEN, as_writer RECORD_HIDDEN;

#endif
