/* SPDX-License-Identifier: MIT */
/* Hooks of pthread_barrier_*. */
#include "preload/profile/next.h"

#include "barriers/barrier.h"

#include "profiler/record/misuse.h"

#include <string.h>

static const struct record_as as_barrier = {TRACE_BARRIER_OBJECT, TRACE_BARRIER,
                                            sizeof(pthread_barrier_t), 0};

/* Since glibc 2.25, the first word of its barriers counts the threads that have
 * arrived, and the second those that have been released. */
static bool is_waited_at(const pthread_barrier_t *barrier)
{
    const struct barrier *ours = (const struct barrier *)barrier;
    if (barrier_is_ours(ours))
        return barrier_is_waited_at(ours);
    uint32_t words[2];
    memcpy(words, barrier, sizeof words);
    return words[0] > words[1];
}

EXPORT int pthread_barrier_init(pthread_barrier_t *barrier,
                                const pthread_barrierattr_t *attributes, unsigned count)
{
    int result = next.pthread_barrier_init(barrier, attributes, count);
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes)
        pthread_barrierattr_getpshared(attributes, &shared);
    if (result == 0)
        record_created(barrier, &as_barrier,
                       shared == PTHREAD_PROCESS_SHARED ? TRACE_SHARED : 0,
                       RECORD_CALLER);
    return result;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    misuse_destroying_barrier(barrier, is_waited_at(barrier), RECORD_CALLER);
    int result = next.pthread_barrier_destroy(barrier);
    if (result == 0)
        record_destroyed(barrier);
    return result;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct record_wait w;
    if (!record_wait_begin(&w, barrier, &as_barrier, NULL, RECORD_CALLER))
        return next.pthread_barrier_wait(barrier);
    int result = next.pthread_barrier_wait(barrier);
    record_wait_end(&w, false);
    return result;
}
