/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Barriers with any algorithm of `hasp list --kind barrier`, chosen at run time.
 *
 * What the threads did before a phase ends is visible to all of them after it. A
 * barrier has 32 bytes. It is not for memory that several processes share. As soon as
 * all threads of the last phase have arrived, it may be destroyed and unmapped.
 */
#ifndef HASP_BARRIER_H
#define HASP_BARRIER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "library/barrier.h"
#include "platform/native/sanitizer.h"

/** A barrier. There is no static initialiser: each needs hasp_barrier_init(). */
struct hasp_barrier {
    struct barrier barrier; /**< private */
};

/** Makes the memory a barrier for `count` threads, with the algorithm of this name, as
 * in `hasp list --kind barrier`. NULL selects the default, central.
 * @return 0, or EINVAL if there is no such algorithm ("glibc" is none), or if the count
 * is 0 or more than INT_MAX */
static inline int hasp_barrier_init(struct hasp_barrier *barrier, const char *name,
                                    unsigned count)
{
    return barrier_prepare(&barrier->barrier, name, count);
}

/** Waits until `count` threads have called it.
 * @return true in one of these threads, false in the others */
static inline bool hasp_barrier_wait(struct hasp_barrier *barrier)
{
    note_release(barrier);
    bool last = barrier_meet(&barrier->barrier);
    note_acquired(barrier);
    return last;
}

/** Destroys the barrier. All threads must have arrived in its last phase. Does nothing
 * for a barrier that has been destroyed.
 * @return 0 */
static inline int hasp_barrier_destroy(struct hasp_barrier *barrier)
{
    return barrier_give_up(&barrier->barrier);
}

#endif
