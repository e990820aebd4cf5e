/* SPDX-License-Identifier: MIT */
/*
 * A call under a lock of the list, for comparison: lock:NAME. The caller executes its
 * section itself.
 *
 *   lock, operations  the lock
 */
#ifndef HASP_DELEGATION_ALGORITHMS_UNDER_LOCK_H
#define HASP_DELEGATION_ALGORITHMS_UNDER_LOCK_H

#include "delegation/call.h"
#include "delegation/delegate.h"
#include "locks/list/descriptor.h"

/* `operations` has been set. */
static inline bool under_lock_init(struct delegate *delegate)
{
    return delegate->operations != NULL;
}

static inline void *under_lock_run(struct delegate *delegate, void *(*section)(void *),
                                   void *context, enum waiting waiting)
{
    (void)waiting;
    delegate->operations->lock(&delegate->lock);
    void *result = section(context);
    delegate_count(delegate, 1);
    delegate->operations->unlock(&delegate->lock);
    return result;
}

static inline void under_lock_destroy(struct delegate *delegate)
{
    delegate->operations->destroy(&delegate->lock);
}

#endif
