/* SPDX-License-Identifier: MIT */
/*
 * pthread_barrier_*. The algorithm of a barrier is chosen by its initialisation, which
 * every barrier needs. Process-shared ones are glibc's; without an algorithm, all are,
 * and pthread_barrier_wait is a jump to glibc's.
 */
#include "preload/barrier.h"

#include "preload/borrowing/borrowing.h"
#include "preload/dispatch.h"
#include "preload/plan.h"
#include "preload/real.h"

#include "barriers/list/descriptor.h"

#include <errno.h>
#include <limits.h>

_Static_assert(sizeof(struct barrier) == sizeof(pthread_barrier_t), "");

static unsigned chosen; /* index in the list; 0: glibc's */

static struct barrier *barrier_of(pthread_barrier_t *barrier)
{
    return (struct barrier *)barrier;
}

static const struct barrier_operations *operations_for(const struct barrier *barrier)
{
    return &barrier_list[barrier->kind & BARRIER_INDEX].operations;
}

static int wait_by_kind(pthread_barrier_t *barrier)
{
    if (unlikely(!barrier_is_ours(barrier_of(barrier))))
        return real_pthread_barrier_wait()(barrier);
    return operations_for(barrier_of(barrier))->wait(barrier_of(barrier))
               ? PTHREAD_BARRIER_SERIAL_THREAD
               : 0;
}

/* A barrier is always initialised before, so startup() has run. */
static int (*wait_used)(pthread_barrier_t *) = wait_by_kind;

void barrier_use(unsigned index)
{
    chosen = index;
    if (!chosen && !plan_concerns(PLAN_BARRIER))
        wait_used = real_pthread_barrier_wait();
}

static unsigned index_for(const pthread_barrier_t *barrier, const void *caller)
{
    unsigned slot =
        plan_concerns(PLAN_BARRIER) ? plan_slot(PLAN_BARRIER, barrier, caller) : 0;
    return slot ? slot - 1 : chosen;
}

EXPORT int pthread_barrier_init(pthread_barrier_t *barrier,
                                const pthread_barrierattr_t *attributes, unsigned count)
{
    startup();
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes)
        pthread_barrierattr_getpshared(attributes, &shared);
    unsigned index = index_for(barrier, __builtin_return_address(0));
    if (shared != PTHREAD_PROCESS_PRIVATE || !index)
        return real_pthread_barrier_init()(barrier, attributes, count);
    if (count == 0 || count >= UINT_MAX / 2) /* glibc's limit */
        return EINVAL;
    barrier_init(barrier_of(barrier), index, count);
    return 0;
}

EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    if (!barrier_is_ours(barrier_of(barrier)))
        return real_pthread_barrier_destroy()(barrier);
    barrier_destroy(barrier_of(barrier));
    return 0;
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    before_kernel();
    return wait_used(barrier);
}
