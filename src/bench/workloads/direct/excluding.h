/* SPDX-License-Identifier: MIT */
/*
 * The mutexes and conditions of workloads: the lock that the run names, and an event.
 * For programs that contain the locks (hasp-workloads,
 * hasp-simulate); pthread/excluding.h is the same for hasp-shapes. The include path
 * picks one of the two, as it picks the platform.
 *
 * A mutex is created in zeroed memory, which is zeroed again once it is destroyed. A
 * wait on a condition begins with condition_seen() before the mutex is acquired; later
 * signals end it. condition_wait() releases the mutex while it waits, and returns the
 * time at which it began to reacquire it, or 0 if that is unknown.
 */
#ifndef HASP_BENCH_WORKLOADS_EXCLUDING_H
#define HASP_BENCH_WORKLOADS_EXCLUDING_H

#include "bench/workloads/event.h"
#include "bench/workloads/workloads.h"

/* The default of --lock, and a hint after a wrong one. */
#define DEFAULT_LOCK "futex"
#define OTHER_LOCKS "`hasp list` prints them"

/* Without --cpus, worker i runs on CPU i modulo the number of CPUs. */
enum { PINNED_BY_DEFAULT = true };

struct mutex {
    struct lock lock;
};

struct condition {
    struct event event;
};

static inline void mutex_create(struct mutex *mutex)
{
    (void)mutex; /* zeroed memory is a lock */
}

static inline void mutex_destroy(struct run *run, struct mutex *mutex)
{
    struct lock *lock = &mutex->lock;
    if (!run->lock->destroy)
        return;
    run->lock->destroy(lock);
    store_relaxed(&lock->word, 0);
    store_relaxed(&lock->owner, 0);
    store_relaxed(&lock->mode, 0);
    store_relaxed(&lock->generation, 0);
    for (unsigned i = 0; i < sizeof lock->state / sizeof lock->state[0]; i++)
        store_relaxed(&lock->state[i], 0);
}

static inline void mutex_lock(struct run *run, struct mutex *mutex)
{
    run->lock->lock(&mutex->lock);
}

static inline bool mutex_trylock(struct run *run, struct mutex *mutex)
{
    return run->lock->trylock(&mutex->lock);
}

static inline void mutex_unlock(struct run *run, struct mutex *mutex)
{
    run->lock->unlock(&mutex->lock);
}

static inline void condition_create(struct condition *condition)
{
    (void)condition;
}

static inline uint32_t condition_seen(struct condition *condition)
{
    return event_seen(&condition->event);
}

static inline uint64_t condition_wait(struct run *run, struct condition *condition,
                                      struct mutex *mutex, uint32_t *seen)
{
    mutex_unlock(run, mutex);
    event_wait(&condition->event, *seen);
    *seen = condition_seen(condition);
    uint64_t wanted = ticks();
    mutex_lock(run, mutex);
    return wanted;
}

/* An event always wakes all waiters. */
static inline void condition_signal(struct condition *condition)
{
    event_post(&condition->event);
}

static inline void condition_broadcast(struct condition *condition)
{
    event_post(&condition->event);
}

#endif
