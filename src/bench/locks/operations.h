/* SPDX-License-Identifier: MIT */
/*
 * The operations in measured loops: pthread calls, or the floor. Loops are inlined
 * functions of a constant `struct operations`, so both have the same code around direct
 * calls (pthread) or inlined instructions (the floor).
 */
#ifndef HASP_BENCH_LOCKS_OPERATIONS_H
#define HASP_BENCH_LOCKS_OPERATIONS_H

#include <pthread.h>
#include <stdbool.h>

#include "platform/platform.h"

#define always_inline inline __attribute__((always_inline))

/* A mutex that shares its cache lines with nothing else. */
union subject {
    pthread_mutex_t mutex;
    struct atomic_u8 floor;
    char alone[CACHE_LINE];
} __attribute__((aligned(CACHE_LINE)));

struct operations {
    void (*create)(union subject *subject);
    void (*acquire)(union subject *subject);
    bool (*try_acquire)(union subject *subject);
    void (*release)(union subject *subject);
    void (*destroy)(union subject *subject);
};

static always_inline void pthread_create_subject(union subject *subject)
{
    pthread_mutex_init(&subject->mutex, NULL);
}

static always_inline void pthread_acquire(union subject *subject)
{
    pthread_mutex_lock(&subject->mutex);
}

static always_inline bool pthread_try_acquire(union subject *subject)
{
    return pthread_mutex_trylock(&subject->mutex) == 0;
}

static always_inline void pthread_release(union subject *subject)
{
    pthread_mutex_unlock(&subject->mutex);
}

static always_inline void pthread_destroy_subject(union subject *subject)
{
    pthread_mutex_destroy(&subject->mutex);
}

static always_inline void floor_create(union subject *subject)
{
    store_relaxed(&subject->floor, 0);
}

static always_inline bool floor_try_acquire(union subject *subject)
{
    return load_relaxed(&subject->floor) == 0 &&
           exchange_acquire(&subject->floor, 1) == 0;
}

static always_inline void floor_acquire(union subject *subject)
{
    while (exchange_acquire(&subject->floor, 1) != 0)
        spin_until(load_relaxed(&subject->floor) == 0);
}

static always_inline void floor_release(union subject *subject)
{
    store_release(&subject->floor, 0);
}

static always_inline void floor_destroy(union subject *subject)
{
    (void)subject;
}

static const struct operations pthread_operations = {
    .create = pthread_create_subject,
    .acquire = pthread_acquire,
    .try_acquire = pthread_try_acquire,
    .release = pthread_release,
    .destroy = pthread_destroy_subject,
};

static const struct operations floor_operations = {
    .create = floor_create,
    .acquire = floor_acquire,
    .try_acquire = floor_try_acquire,
    .release = floor_release,
    .destroy = floor_destroy,
};

#endif
