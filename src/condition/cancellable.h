/* SPDX-License-Identifier: MIT */
/* The sleep of a wait that pthread_cancel() can end: for native programs only. */
#ifndef HASP_CONDITION_CANCELLABLE_H
#define HASP_CONDITION_CANCELLABLE_H

#include "platform/platform.h"

#include <pthread.h>

/* Does what park() does. The caller has pushed the cleanup handler that acquires the
 * mutex again. */
static inline __attribute__((always_inline)) bool
park_cancellably(struct atomic_u32 *cell, uint32_t expected,
                 const struct deadline *deadline)
{
    int type;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    bool in_time = park(cell, expected, deadline);
    pthread_setcanceltype(type, &type);
    return in_time;
}

#endif
